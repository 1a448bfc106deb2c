"""Runs in job arrays of a one-node SLURM cluster, with a node that fails, a killed client and killed jobs (``make cluster``)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from cluster.one_node import NODE, OneNode, missing
from schedlab.bench import FolderPlan, Run, WrongUse, supervise_all
from schedlab.bench.records import Store, read
from schedlab.bench.runs import slurm_executor as commands
from schedlab.bench.runs import slurm_executor as executor
from schedlab.bench.runs.executors import Setting
from schedlab.bench.runs.slurm_executor import SlurmExecutor

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {', '.join(missing())}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="slurmd needs root"),
]

PLANTED = """
import json, os, pathlib, sys, time
spec = json.loads(sys.argv[1])
(pathlib.Path(sys.argv[0]).parent / f"pid.{os.getpid()}.{spec['method']}").touch()
def tell(**event):
    sys.stdout.write(json.dumps(event) + chr(10)); sys.stdout.flush()
tell(event="begin", sense="minimize")
kind, _, seconds = spec["method"].partition(":")
time.sleep(float(seconds))
while kind == "hold" and not (pathlib.Path(sys.argv[0]).parent / "released").exists():
    time.sleep(0.01)
tell(event="end", status="feasible", objective=7.0, bound=3.0, verified=True, sense="minimize", incumbents=[],
     message=os.environ["SLURM_ARRAY_JOB_ID"])
"""
CLIENT = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from cluster.slurm import perform, runs_of
perform(Path({folder!r}), runs_of(*{methods!r}), **{options!r})
"""


class Heard:
    """An observer that counts what it hears."""

    def __init__(self):
        self.events = Counter()
        self.on_ended = lambda count: None

    def begun(self, run):
        self.events["begun"] += 1

    def compiling(self, run): ...
    def log(self, run, event): ...
    def incumbent(self, run, event): ...
    def progress(self, run, event): ...
    def refused(self, run, reason): ...

    def ended(self, run, record, kept):
        self.events["kept" if kept else "ended"] += 1
        self.on_ended(self.events["ended"])


def runs_of(*methods, **fields):
    return [Run("day", "day", "c0ffee", m, **{"time_limit": 30.0, "kind": "dispatch", **fields}) for m in methods]


def perform(folder, runs, observer=None, jobs=None, said=None, **options):
    """Perform runs by planted workers in job arrays; return the records."""
    script = folder / "worker.py"
    script.write_text(PLANTED)
    say = said.append if said is not None else lambda line: None
    setting = Setting(jobs, (sys.executable, "-S", "-E", str(script)), options, say)
    with Store(folder / "out") as store:
        return supervise_all([FolderPlan(store, runs)], observer or Heard(), SlurmExecutor(setting))


def marks(folder):
    """Return how often each method was begun."""
    return Counter(path.name.rpartition(":")[2] for path in folder.glob("pid.*"))


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def states():
    """Return the states of the jobs of the cluster."""
    return subprocess.run(["squeue", "-h", "-r", "-o", "%T"], check=True, capture_output=True, text=True).stdout.split()


def complete(folder, runs):
    """Check that each run has exactly one record, and that nothing else is left."""
    found = [read(path) for path in (folder / "out").glob("*.json")]
    assert sorted(r["key"] for r in found) == sorted(r.key for r in runs)
    assert {r["status"] for r in found} == {"feasible"}
    assert not (folder / "out" / ".slurm").exists()
    with Store(folder / "out"):  # removes what processes have left that were killed while they wrote
        assert not list((folder / "out").glob(".*.tmp"))
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with OneNode(tmp_path_factory.mktemp("slurm")) as found:
        yield found


def test_short_runs_are_packed_and_equal_resources_share_an_array(tmp_path, cluster):
    runs = [*runs_of(*(f"work:{k / 1000}" for k in range(40))), *runs_of("work:0.5", threads=2, memory_gb=1.0)]
    heard = Heard()
    found = perform(tmp_path, runs, heard, pack="400")  # 30 s and 8 s of overhead: 10 runs in a pack
    complete(tmp_path, runs)
    assert [r["key"] for r in found] == [r.key for r in runs] and heard.events == {"begun": 41, "ended": 41}
    assert len({r["message"] for r in found[:40]}) == 1 and found[40]["message"] != found[0]["message"]
    heard = Heard()
    assert perform(tmp_path, runs, heard) == found and heard.events == {"kept": 41}


def test_a_node_that_fails_in_mid_array_loses_no_run(tmp_path, cluster):
    """The ninth run and those after it run until the node fails."""
    heard, runs = Heard(), runs_of(*(f"{'work' if k < 8 else 'hold'}:{0.4 + k / 1000}" for k in range(24)))

    def fail(count):
        if count == 8:  # in mid-pack
            assert wait_for(lambda: len(marks(tmp_path)) > 8)
            cluster.kill_node()
            (tmp_path / "released").touch()
            assert wait_for(lambda: cluster.state() == "down")
            cluster.start_node()
            cluster.start_requeued()

    heard.on_ended = fail
    perform(tmp_path, runs, heard, pack="228")  # 6 runs in a pack
    complete(tmp_path, runs)
    begun = marks(tmp_path)
    assert len(begun) == 24 and sum(begun.values()) > 24  # the one or two that ran then began twice


def test_killed_jobs_are_run_again(tmp_path, cluster):
    heard, said, runs = Heard(), [], runs_of(*(f"work:{0.3 + k / 1000}" for k in range(12)))

    def kill(count):
        if count == 2:
            for name in {e.job for e in commands.listed()}:
                subprocess.run(["scancel", name], check=True)

    heard.on_ended = kill
    perform(tmp_path, runs, heard, said=said, pack="228")
    complete(tmp_path, runs)
    assert any("run again" in line for line in said)


def test_a_requeued_array_goes_on_where_it_was(tmp_path, cluster):
    """A preempted job is requeued by SLURM in the same way as by scontrol requeue."""
    heard, said, runs = Heard(), [], runs_of(*(f"work:{0.3 + k / 1000}" for k in range(8)))

    def requeue(count):
        if count == 3:
            for element in commands.listed():
                subprocess.run(["scontrol", "requeue", f"{element.job}_{element.element}"], check=False)
            assert wait_for(lambda: "PENDING" in states())
            cluster.start_requeued()

    heard.on_ended = requeue
    perform(tmp_path, runs, heard, said=said, pack="10000")
    complete(tmp_path, runs)
    begun = marks(tmp_path)
    assert sum(begun.values()) in (8, 9), (begun, said)  # none again of those with a record


def test_after_the_client_is_killed_the_same_command_waits_for_its_array(tmp_path, cluster):
    methods = [f"work:{0.5 + k / 1000}" for k in range(16)]
    text = CLIENT.format(
        path=[str(Path(__file__).parents[1])], folder=str(tmp_path), methods=methods, options={"pack": "152"}
    )
    client = subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.DEVNULL)
    assert wait_for(lambda: len(marks(tmp_path)) >= 3)
    client.send_signal(signal.SIGKILL)
    client.wait()
    said, runs = [], runs_of(*methods)
    perform(tmp_path, runs, said=said, pack="152")
    found = complete(tmp_path, runs)
    assert "that an earlier bench has submitted" in said[0]
    assert set(marks(tmp_path).values()) == {1} and len({r["message"] for r in found}) == 1  # nothing began twice


def test_ctrl_c_ends_the_jobs(tmp_path, cluster):
    text = CLIENT.format(path=[str(Path(__file__).parents[1])], folder=str(tmp_path), methods=["work:50"], options={})
    client = subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.DEVNULL)
    assert wait_for(lambda: marks(tmp_path))
    client.send_signal(signal.SIGINT)
    client.wait()
    pids = [int(path.name.split(".")[1]) for path in tmp_path.glob("pid.*")]
    assert wait_for(lambda: not commands.listed()) and wait_for(lambda: not any(map(psutil.pid_exists, pids)))
    assert not list((tmp_path / "out").glob("*.json")) and not (tmp_path / "out" / ".slurm").exists()


def test_a_run_that_ends_its_job_every_time_is_given_up_and_the_others_are_not(tmp_path, cluster):
    runs = runs_of("work:0.1", "work:40", "work:0.2")
    watcher = subprocess.Popen([sys.executable, str(Path(__file__).parent / "killing.py"), str(tmp_path), "work:40"])
    try:
        found = perform(tmp_path, runs)
    finally:
        watcher.kill()
        watcher.wait()
    assert [r["status"] for r in found] == ["feasible", "error", "feasible"]
    assert found[1]["cause"] == "crash" and "lost 3 times" in found[1]["message"]
    assert marks(tmp_path)["40"] == 3 and marks(tmp_path)["0.1"] == 1


def test_wrong_use_is_refused_before_anything_runs(tmp_path, cluster, monkeypatch):
    with pytest.raises(WrongUse, match=r"sbatch refuses the runs: .*invalid partition"):
        perform(tmp_path, runs_of("work:0"), partition="nowhere")
    with pytest.raises(WrongUse, match="--slurm pack=soon: expected at least 1 second"):
        perform(tmp_path, runs_of("work:0"), pack="soon")
    hidden = executor.script_of
    monkeypatch.setattr(executor, "script_of", lambda batch, cwd: hidden(Path("/elsewhere") / batch.name, cwd))
    with pytest.raises(WrongUse, match=rf"the SLURM node {NODE} cannot see the folder {tmp_path}/out"):
        perform(tmp_path, runs_of("work:0"))
    monkeypatch.undo()
    monkeypatch.setenv("SLURM_CONF", "/nowhere/slurm.conf")
    with pytest.raises(WrongUse, match="SLURM does not answer"):
        perform(tmp_path, runs_of("work:0"))
    assert not marks(tmp_path) and not list((tmp_path / "out").glob("*.json"))


def test_the_bench_runs_on_slurm(tmp_path, cluster):
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "run", "eurora_99", "--at", "12:00", "--first", "12",
               "--methods", "multi-search,first-solution:est", "--time-limit", "2", "--threads", "1",
               "--slurm", "pack=60", "--out", "r"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert [json.loads(p.read_text())["verified"] for p in (tmp_path / "r").glob("*.json")] == [True, True]
