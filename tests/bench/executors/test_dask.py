"""Runs on Dask clusters of two processes: the same records as local ones, also after workers or the client were killed."""

import contextlib
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
from schedlab.bench import FolderPlan, Run, WrongUse, supervise_all
from schedlab.bench.records import Store, read
from schedlab.bench.runs import dask_executor as module
from schedlab.bench.runs.dask_executor import DaskExecutor
from schedlab.bench.runs.executors import Setting

# A worker process that leaves a mark with its parents, works as long as its method says, and reports its threads.
PLANTED = """
import json, os, pathlib, sys, time
spec = json.loads(sys.argv[1])
(pathlib.Path(sys.argv[0]).parent / f"pid.{os.getpid()}.{spec['method']}").touch()
def tell(**event):
    sys.stdout.write(json.dumps(event) + chr(10)); sys.stdout.flush()
tell(event="begin", sense="minimize")
tell(event="incumbent", seconds=0.01, objective=7.0, bound=3.0)
time.sleep(float(spec["method"].partition(":")[2]))
tell(event="end", status="feasible", objective=7.0, bound=3.0, verified=True, sense="minimize", incumbents=[],
     message=os.environ.get("OMP_NUM_THREADS", "free") + " " + os.getcwd())
"""
CLIENT = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_dask import perform, runs_of
if __name__ == "__main__":
    perform(Path({folder!r}), runs_of(*{methods!r}), address={address!r})
"""


class Heard:
    """An observer that notes what it hears."""

    def __init__(self):
        self.events = Counter()
        self.on_begun = self.on_incumbent = lambda run: None

    def begun(self, run):
        self.events["begun"] += 1
        self.on_begun(run)

    def compiling(self, run): ...
    def log(self, run, event): ...

    def incumbent(self, run, event):
        self.events["incumbent"] += 1
        self.on_incumbent(run)

    def progress(self, run, event): ...

    def ended(self, run, record, kept):
        self.events["kept" if kept else "ended"] += 1

    def refused(self, run, reason): ...


def runs_of(*methods, **fields):
    return [Run("day", "day", "c0ffee", m, **{"time_limit": 30.0, "kind": "dispatch", **fields}) for m in methods]


def perform(folder, runs, observer=None, jobs=2, address=None):
    """Perform runs by planted workers on Dask; return the records."""
    script = folder / "worker.py"
    script.write_text(PLANTED)
    options = {} if address is None else {"address": address}
    setting = Setting(jobs, (sys.executable, "-S", "-E", str(script)), options, lambda line: None)
    with Store(folder / "out") as store:
        return supervise_all([FolderPlan(store, runs)], observer or Heard(), DaskExecutor(setting))


def marks(folder):
    """Return the processes of planted workers by id, also those that have ended."""
    return {int(path.name.split(".")[1]): path.name.partition("work:")[2] for path in folder.glob("pid.*")}


def wait_for(condition, seconds=600.0):  # it takes seconds, and minutes on a machine that others use
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.fixture(autouse=True)
def workers_that_may_be_slow_to_come_back(monkeypatch):
    """A worker that was killed is replaced by its nanny, which takes more than a minute on a machine that others use."""
    monkeypatch.setattr(module, "NO_WORKER", 600.0)


def dask_worker_of(pid):
    """Return the Dask worker above a planted worker: its parent."""
    return psutil.Process(pid).parent()


@pytest.fixture(scope="module")
def cluster():
    """Return the address of a scheduler with two workers of one thread each, in processes of their own."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as found:
        yield found.scheduler_address


@pytest.mark.slow
def test_runs_are_performed_with_events_and_without_the_limits_of_threads_that_dask_sets(tmp_path, cluster):
    heard, runs = Heard(), runs_of(*(f"work:{k / 100}" for k in range(6)))
    found = perform(tmp_path, runs, heard, None, cluster)
    assert [r["method"] for r in found] == [r.method for r in runs]
    assert [r["key"] for r in found] == [r.key for r in runs]
    assert {r["message"] for r in found} == {f"free {os.getcwd()}"} and {r["host"]["cores"] for r in found} != {0}
    assert heard.events["begun"] == heard.events["ended"] == 6 and heard.events["incumbent"] >= 1
    assert sorted(read(p)["key"] for p in (tmp_path / "out").glob("*.json")) == sorted(r.key for r in runs)
    heard = Heard()
    assert perform(tmp_path, runs, heard, None, cluster) == found and heard.events == {"kept": 6}


@pytest.mark.slow
def test_the_runs_of_a_worker_that_is_killed_are_run_again(tmp_path, cluster):
    heard, killed = Heard(), []

    def kill(run):
        if not killed and run.method == "work:0.02":  # the third run: two others are done or under way
            assert wait_for(lambda: "0.02" in marks(tmp_path).values())
            (pid,) = (pid for pid, text in marks(tmp_path).items() if text == "0.02")
            with contextlib.suppress(psutil.NoSuchProcess):
                worker = dask_worker_of(pid)
                killed.append(worker.pid)
                worker.kill()

    heard.on_begun = kill
    methods = ["work:0.01", "work:0.011", "work:0.02", *(f"work:{0.2 + k / 100}" for k in range(4))]
    found = perform(tmp_path, runs_of(*methods), heard, None, cluster)
    assert [r["status"] for r in found] == ["feasible"] * 7
    assert [r["method"] for r in found] == methods and len(list((tmp_path / "out").glob("*.json"))) == 7


@pytest.mark.slow
def test_a_run_whose_workers_are_killed_again_and_again_is_given_up(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(module, "MOST_LOST", 2)
    heard, seen = Heard(), set()

    def kill(run):
        if run.method == "work:30":
            (pid,) = {p for p, t in marks(tmp_path).items() if t == "30"} - seen
            seen.add(pid)
            dask_worker_of(pid).kill()

    heard.on_incumbent = kill
    lost, other = perform(tmp_path, runs_of("work:30", "work:0.1"), heard, None, cluster)
    assert (lost["status"], lost["cause"]) == ("error", "crash") and "lost 2 times" in lost["message"]
    assert other["status"] == "feasible" and len(seen) == 2
    assert wait_for(lambda: not any(map(psutil.pid_exists, seen)))


@pytest.mark.slow
def test_after_the_client_is_killed_its_runs_end_and_the_same_command_gives_the_same_records(tmp_path, cluster):
    methods = [f"work:{k / 100}" for k in range(4)] + ["work:20"]
    here = [str(Path(__file__).parent)]
    text = CLIENT.format(path=here, folder=str(tmp_path), methods=methods, address=cluster)
    script = tmp_path / "client.py"
    script.write_text(text)
    client = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    assert wait_for(lambda: "20" in marks(tmp_path).values())
    client.send_signal(signal.SIGKILL)
    client.wait()
    assert wait_for(lambda: not any(map(psutil.pid_exists, marks(tmp_path))))
    for path in (tmp_path / "out").glob("*.json"):
        assert json.loads(path.read_text())["status"] == "feasible"
    methods[-1] = "work:0.5"
    found = perform(tmp_path, runs_of(*methods), None, None, cluster)
    assert sorted(r["method"] for r in found) == sorted(methods)
    assert len(list((tmp_path / "out").glob("*.json"))) == 5 and not list((tmp_path / "out").glob(".*.tmp"))


@pytest.mark.slow
def test_wrong_use_is_refused_before_anything_runs(tmp_path, cluster, monkeypatch):
    with pytest.raises(WrongUse, match=r"cannot be reached within 5 s"):
        perform(tmp_path, runs_of("work:0"), None, None, "tcp://127.0.0.1:9")
    with pytest.raises(WrongUse, match="expected the address of a scheduler, such as tcp://host:8786"):
        perform(tmp_path, runs_of("work:0"), None, None, "nonsense")
    with pytest.raises(
        WrongUse, match=r"a run has 3 threads, the largest Dask worker 1: start workers with --nthreads 3"
    ):
        perform(tmp_path, runs_of("work:0", threads=3), None, None, cluster)
    monkeypatch.setattr("schedlab.bench.runs.executors.write_whole", lambda path, text: None)
    with pytest.raises(
        WrongUse, match=r"the Dask worker tcp://\S+ cannot see the folder \S+out: choose --out on a file"
    ):
        perform(tmp_path, runs_of("work:0"), None, None, cluster)
    assert not marks(tmp_path) and not list((tmp_path / "out").glob("*.json"))
