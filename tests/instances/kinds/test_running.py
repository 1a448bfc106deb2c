"""Instances with running jobs (``running.csv``), and the batches of Eurora that need them."""

import pytest
import schedlab as sl
from schedlab.instances import Instance, InstanceError, load, write
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from shared_data import DATA

LOG = DATA / "eurora_2014" / "eurora_jobs_unique.csv"


def busy(**changes):
    machine = Platform([NodeGroup("n", 2, {"cores": 8})])
    waiting = Job("w", 90, 60, 2, {"cores": 8}, "q", runtime=50)
    running = Running(Job("r", 10, 200, 3, {"cores": 4}, "q", runtime=150), 20, {"n-1": 2, "n-2": 1}, 220)
    values = {"queues": [Queue("q", 60)], "objective": "waiting", "now": 100, "running": [running]} | changes
    return Instance("busy", "dispatch", Dispatch(machine, [waiting], **values))


def test_running_jobs_and_the_begin_are_written_and_read_again(tmp_path):
    write(busy(), tmp_path)
    assert load(tmp_path).problem == busy().problem
    run = sl.simulate(load(tmp_path), dispatcher="easy")
    assert run.violations == [] and run.start.tolist() == [170], "the running job ends at 20 + 150"


def test_running_jobs_without_nodes_are_not_written(tmp_path):
    running = [Running(Job("r", 10, 200, 3, {"cores": 4}, "q"), 20, {}, 220)]
    with pytest.raises(ValueError, match="running jobs without nodes"):
        write(busy(running=running), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("n-1:2", "n-1:3", "running.csv, line 2, nodes: expected running jobs within the cores of n-1"),
        ("n-2:1", "n-3:1", "running.csv, line 2, nodes: expected nodes of the platform with numbers of units"),
        ("n-2:1", "", "running.csv, line 2, nodes: expected the 3 units of the job, found '2'"),
        ("r,q", "w,q", "running.csv, line 2, id: expected a unique id, found 'w'"),
        ("20,220", "101,220", "running.csv, line 2, start: expected at most the begin, begin_s = 100, found '101'"),
    ],
)
def test_faults_of_running_jobs_have_line_and_field(tmp_path, old, new, said):
    write(busy(), tmp_path)
    file = tmp_path / "running.csv"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(InstanceError) as e:
        load(tmp_path)
    assert said.replace("'", "") in str(e.value).replace("'", "")


@pytest.mark.skipif(not LOG.exists(), reason="the log of Eurora is not part of the project")
@pytest.mark.parametrize(
    ("number", "jobs", "running", "row"),
    [
        (1, 360, 77, ["437", "437"]),
        (2, 415, 121, ["415", "434"]),
        (3, 528, 77, ["605", "619"]),
    ],
)
def test_batches_of_eurora(tmp_path, number, jobs, running, row):
    """Sizes as in the specification of the windows; the column of the thesis stands beside ours."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "schedlab.bench.cli.app", "import", "eurora", LOG, "--batch", number]
    done = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "b")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert row in [line.split()[1:] for line in done.stdout.splitlines() if line.split()[:1] == ["all"]]
    assert "not equal" in done.stdout and f"{running} are on their recorded nodes, 0 on others" in done.stdout
    batch = load(tmp_path / "b").dispatch
    assert (len(batch.jobs), len(batch.running)) == (jobs, running)
    assert min(j.submit for j in batch.jobs) == batch.now, "jobs that wait at the begin are submitted then"
    assert all(r.start < batch.now < r.true_end for r in batch.running)


def test_batches_are_of_eurora_only(tmp_path):
    from schedlab.bench.cli.app import main

    with pytest.raises(SystemExit) as e:
        main(["import", "swf", "x.swf", "--batch", "1", "--out", str(tmp_path / "b")])
    assert e.value.code == 2
