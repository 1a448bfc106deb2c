"""Job arrays without SLURM: the commands are replaced by scripts that perform the elements on this machine.

``make cluster`` tests a real SLURM.
"""

import json
import os
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from bench.executors.test_dask import PLANTED, Heard, marks, runs_of
from schedlab.bench import FolderPlan, WrongUse, supervise_all
from schedlab.bench.records import Store, read
from schedlab.bench.runs import slurm_executor as executor
from schedlab.bench.runs.executors import Setting, Task, needed
from schedlab.bench.runs.slurm_executor import SlurmExecutor, groups, packed, script_of, write_batch

# Each command is this script under the name of a command of SLURM; the elements of arrays are files NAME|JOB|INDEX.PID.
FAKE = """#!{python}
import os, pathlib, subprocess, sys, time
here = pathlib.Path(__file__).parent
name, words = pathlib.Path(__file__).name, dict(w.lstrip("-").partition("=")[::2] for w in sys.argv[1:])
def alive():
    for path in (here / "elements").iterdir():
        stem, _, pid = path.name.rpartition(".")
        state = pathlib.Path(f"/proc/{{pid}}/stat")
        if state.exists() and " Z " not in state.read_text():
            yield stem, int(pid)
if name == "sbatch":
    (here / "submitted").open("a").write(" ".join(sys.argv[1:]) + chr(10))
    job = str(len((here / "submitted").read_text().splitlines()))
    script = here / f"script{{job}}.sh"
    script.write_text(sys.stdin.read())
    first, last = words["array"].partition("%")[0].split("-")
    for k in range(int(first), int(last) + 1):
        started = subprocess.Popen(["/bin/sh", str(script)], env={{**os.environ, "SLURM_ARRAY_TASK_ID": str(k)}},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        (here / "elements" / f"{{words['job-name']}}|{{job}}|{{k}}.{{started.pid}}").touch()
    print(job)
elif name == "squeue":
    print("\\n".join(stem for stem, _ in alive()))
elif name == "scontrol" and sys.argv[1:] == ["show", "config"]:
    print("MaxArraySize            = 3")
elif name == "scontrol":
    print(f"JobId=1 {{os.environ.get('FAKE_ENDING', 'JobState=CANCELLED ExitCode=0:15')}} NodeList=n1")
elif name == "scancel":
    (here / "cancelled").touch()
    for stem, pid in alive():
        if stem.split("|")[1] in sys.argv[1:]:
            os.killpg(pid, 9)
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Put the scripts into the path; return their folder."""
    here = tmp_path / "slurm"
    (here / "elements").mkdir(parents=True)
    for name in ("sbatch", "squeue", "scontrol", "scancel"):
        script = here / name
        script.write_text(FAKE.format(python=f"{sys.executable} -SE"))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{here}:{os.environ['PATH']}")
    monkeypatch.setattr(executor, "READ", 0.1)
    monkeypatch.setattr(executor, "CHECK", 0.3)
    return here


def made(folder, jobs=None, said=None, **options):
    script = folder / "worker.py"
    script.write_text(PLANTED)
    say = said.append if said is not None else lambda line: None
    return SlurmExecutor(Setting(jobs, (sys.executable, "-S", "-E", str(script)), options, say))


def perform(folder, runs, observer=None, **options):
    with Store(folder / "out") as store:
        return supervise_all([FolderPlan(store, runs)], observer or Heard(), made(folder, **options))


def test_packs_have_neighbouring_runs_up_to_their_seconds():
    tasks = [Task(run, Path("out")) for run in runs_of(*"abcde", time_limit=2.0)]  # 10 s each
    assert [len(pack) for pack in packed(tasks, 20.0)] == [2, 2, 1]
    assert [task for pack in packed(tasks, 25.0) for task in pack] == tasks
    assert [len(pack) for pack in packed(tasks, 1.0)] == [1] * 5
    wide = [Task(run, Path("out")) for run in runs_of("f", "g", threads=4)]
    assert list(groups([tasks[0], *wide, tasks[1]])) == [[tasks[0], tasks[1]], wide]


def test_arrays_are_submitted_read_and_removed(tmp_path, slurm):
    runs, heard = runs_of(*(f"work:{k / 1000}" for k in range(4)), memory_gb=1.0), Heard()
    found = perform(tmp_path, runs, heard, jobs=2, pack="1", partition="short")
    assert [r["key"] for r in found] == [r.key for r in runs] and heard.events["ended"] == heard.events["begun"] == 4
    assert found == [read(next((tmp_path / "out").glob(f"*{r.key}.json"))) for r in runs]
    submitted = (slurm / "submitted").read_text().splitlines()
    assert len(submitted) == 2 and "--array=0-2%2" in submitted[0] and "--array=0-0%2" in submitted[1]  # MaxArraySize
    for option in ("--cpus-per-task=1", "--mem=1536M", "--partition=short", "--requeue", "--time=16"):
        assert option in submitted[0].split()
    assert not (tmp_path / "out" / ".slurm").exists() and not (slurm / "cancelled").exists()


def test_killed_elements_are_submitted_again_and_one_that_is_always_killed_is_given_up(tmp_path, slurm, monkeypatch):
    monkeypatch.setattr(executor, "MOST_LOST", 2)
    heard, said, seen = Heard(), [], set()

    def killed(seconds, events=SlurmExecutor.events):
        def wrapped(self, seconds):
            for pid in {p for p, text in marks(tmp_path).items() if text == "30"} - seen:
                seen.add(pid)
                psutil.Process(pid).parent().kill()
            yield from events(self, seconds)

        return wrapped

    monkeypatch.setattr(SlurmExecutor, "events", killed(None))
    found = perform(tmp_path, runs_of("work:0.01", "work:30", "work:0.02"), heard, said=said)
    assert [r["status"] for r in found] == ["feasible", "error", "feasible"]
    assert found[1]["cause"] == "crash" and "lost 2 times" in found[1]["message"] and len(seen) == 2
    assert Counter(marks(tmp_path).values()) == {"0.01": 1, "30": 2, "0.02": 1} and "run again" in said[0]


def test_an_element_that_begins_again_goes_on_where_its_log_ends(tmp_path):
    done, lost, new = (Task(run, tmp_path / "out") for run in runs_of("work:0.01", "work:0.02", "work:0.03"))
    (tmp_path / "out").mkdir()
    with needed([done]) as need:
        batch = write_batch(tmp_path / "out", [[done, lost, new]], made(tmp_path).setting.command, need)
    names = [("ended", done), *[("begun", lost)] * 3]  # three jobs were lost while it was running
    events = [{"event": what, "folder": str(task.folder), "key": task.run.key} for what, task in names]
    (batch / "0.log").write_text("".join(f"{json.dumps(event)}\n" for event in events) + '{"event": "beg')
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "0"}
    ran = subprocess.run(["/bin/sh"], input=script_of(batch, "/"), text=True, env=environment, check=False)
    assert ran.returncode == 0, (batch / "0.err").read_text()
    later = [json.loads(line)["event"] for line in (batch / "0.log").read_text().splitlines()[5:] if line]
    assert later == ["ended", "begun", "ended"]
    records = {r["method"]: r for r in map(read, (tmp_path / "out").glob("*.json"))}
    assert list(marks(tmp_path).values()) == ["0.03"] and set(records) == {"work:0.02", "work:0.03"}
    assert records["work:0.03"]["status"] == "feasible" and "lost 3 times" in records["work:0.02"]["message"]


def test_an_array_of_an_earlier_bench_is_waited_for(tmp_path, slurm):
    runs, said = runs_of("work:0.7", "work:0.1"), []
    first = made(tmp_path)
    with Store(tmp_path / "out") as store:
        first.open([Task(run, store.folder.resolve()) for run in runs])
        for run in runs:
            first.submit(Task(run, store.folder.resolve()))
        list(first.events(0.05))  # submits; this bench is killed then: it does not close
    time.sleep(0.2)
    found = perform(tmp_path, runs, said=said)
    assert [r["status"] for r in found] == ["feasible"] * 2 and "2 runs are waited for" in said[0]
    assert Counter(marks(tmp_path).values()) == {"0.7": 1, "0.1": 1}
    assert len((slurm / "submitted").read_text().splitlines()) == 1


def test_a_node_that_cannot_perform_the_runs_ends_the_command(tmp_path, slurm, monkeypatch):
    monkeypatch.setenv("FAKE_ENDING", "JobState=FAILED ExitCode=3:0")
    monkeypatch.setattr(executor, "script_of", lambda batch, cwd: "exit 3")
    with pytest.raises(
        WrongUse, match=r"the SLURM node n1 cannot see the folder \S+ or the current folder: choose --out"
    ):
        perform(tmp_path, runs_of("work:0"))
    monkeypatch.undo()
    assert not (tmp_path / "out" / ".slurm").exists() and not marks(tmp_path)


def test_a_node_with_another_version_says_so(tmp_path, slurm, monkeypatch):
    monkeypatch.setattr("schedlab.bench.runs.executors.__version__", "0.0.1")  # of the bench, not of the element
    with pytest.raises(WrongUse, match=r"the SLURM node \S+ has schedlab \S+, expected 0.0.1"):
        perform(tmp_path, runs_of("work:0"))
    assert not marks(tmp_path)
