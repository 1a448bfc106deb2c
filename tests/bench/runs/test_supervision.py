"""The supervision of worker processes: limits, causes of death, the pipe that ends them, and resuming after a kill."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from schedlab.bench import Run, supervise
from schedlab.bench.records import Store, read
from schedlab.bench.runs import process
from schedlab.bench.runs.process import Child
from schedlab.bench.runs.supervision import CHECKING, Unchecked

# A worker that behaves as its method says; it leaves its process id, and that of a "solver" it starts, in its folder.
PLANTED = """
import json, os, pathlib, subprocess, sys, time
spec = json.loads(sys.argv[1])
folder = pathlib.Path(sys.argv[0]).parent
(folder / f"pid.{os.getpid()}").touch()
def tell(**event):
    sys.stdout.write(json.dumps(event) + chr(10)); sys.stdout.flush()
method, _, argument = spec["method"].partition(":")
if method == "silent":
    time.sleep(60)
tell(event="begin", sense="minimize")
if method == "engine":
    engine = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL)
    (folder / f"pid.{engine.pid}").touch()
    engine.wait()
tell(event="incumbent", seconds=0.01, objective=7.0, bound=3.0)
if method == "overrun":
    time.sleep(60)
if method == "exit":
    print("a last word", file=sys.stderr); sys.exit(int(argument))
if method == "signal":
    os.kill(os.getpid(), int(argument))
if method == "short":
    raise MemoryError
if method == "hog":
    held = bytearray(300_000_000); held[::4096] = b"x" * len(held[::4096]); time.sleep(60)
if method == "check":
    tell(event="solved")
if method in ("work", "check"):
    time.sleep(float(argument))
seconds = {"build": 0.0, "lower": 0.0, "solve": 0.01, "total": 0.01}
tell(event="end", status="feasible", objective=7.0, bound=3.0, verified=True, sense="minimize", seconds=seconds,
     incumbents=[{"seconds": 0.01, "objective": 7.0, "bound": 3.0}], schedule={"j": {"start": 7, "nodes": {"n-1": 1}}})
if method == "linger":
    time.sleep(60)
    (folder / "slept").touch()
"""


class NoObserver:
    def begun(self, run): ...

    def compiling(self, run): ...
    def log(self, run, event): ...
    def incumbent(self, run, event): ...

    def ended(self, run, record, kept): ...

    def refused(self, run, reason): ...


def runs_of(*methods, **fields):
    return [Run("day", "day", "c0ffee", m, **{"time_limit": 30.0, "kind": "dispatch", **fields}) for m in methods]


@pytest.fixture
def bench(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(PLANTED)
    command = (sys.executable, "-S", "-E", str(script))

    def run(runs, observer=None, **options):
        with Store(tmp_path / "out") as store:
            return supervise(runs, store, observer or NoObserver(), command=command, **options)

    return SimpleNamespace(run=run, folder=tmp_path, out=tmp_path / "out", command=command)


def alive(folder):
    """Return the processes of the planted workers that still run."""
    found = []
    for mark in folder.glob("pid.*"):
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{mark.suffix[1:]}/stat").read_text().rpartition(")")[2].split()[0]
            found += [mark.suffix] if state != "Z" else []
    return found


def gone(folder, within=10.0):
    deadline = time.monotonic() + within
    while alive(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(folder)


def test_a_run_that_ends_well_leaves_one_record_with_all_its_fields(bench):
    (record,) = bench.run(runs_of("work:0"))
    (path,) = bench.out.glob("*.json")
    assert read(path) == record
    fields = [
        "instance",
        "method",
        "seed",
        "status",
        "objective",
        "bound",
        "gap",
        "verified",
        "violations",
        "warm_start",
        "first_solution_s",
        "best_s",
        "seconds",
        "solver",
        "version",
        "threads",
        "time_limit",
        "cause",
        "incumbents",
        "schedule",
    ]
    assert set(fields) <= set(record)
    assert (record["objective"], record["bound"], record["gap"]) == (7.0, 3.0, pytest.approx(4 / 7))
    assert record["first_solution_s"] == record["best_s"] == 0.01
    assert record["warm_start"] is None and record["cause"] is None


def test_a_method_that_overruns_is_killed_with_its_solver_and_keeps_its_trace(bench, monkeypatch):
    monkeypatch.setattr(process, "KILL_AFTER", 0.3)
    overrun, engine = bench.run(runs_of("overrun", "engine", time_limit=0.2), jobs=2)
    assert overrun["cause"] == engine["cause"] == "timeout"
    assert overrun["status"] == "unknown" and overrun["objective"] is None and overrun["schedule"] is None
    assert [i["objective"] for i in overrun["incumbents"]] == [7.0] and overrun["bound"] == 3.0
    assert overrun["first_solution_s"] == 0.01
    assert gone(bench.folder)


def test_the_check_of_an_answer_is_no_part_of_the_methods_time(bench, monkeypatch):
    monkeypatch.setattr(process, "KILL_AFTER", 0.1)
    (record,) = bench.run(runs_of("check:1.5", time_limit=0.1))
    assert (record["cause"], record["objective"]) == (None, 7.0)
    monkeypatch.setattr(process, "CHECK_LIMIT", 0.3)
    (record,) = bench.run(runs_of("check:30", time_limit=0.1))
    assert record["cause"] == "timeout" and "not checked within" in record["message"]
    assert gone(bench.folder)


def test_a_worker_that_never_begins_is_killed(bench, monkeypatch):
    monkeypatch.setattr(process, "START_LIMIT", 0.5)
    (record,) = bench.run(runs_of("silent"))
    assert record["cause"] == "timeout" and "begun" in record["message"]
    assert gone(bench.folder)


def test_a_worker_that_has_reported_its_result_is_not_waited_for(bench):
    """It sleeps for 60 s, and would then leave a mark."""
    (record,) = bench.run(runs_of("linger"))
    assert record["status"] == "feasible"
    assert gone(bench.folder) and not (bench.folder / "slept").exists()


@pytest.mark.parametrize(
    ("method", "cause", "word"),
    [
        ("exit:3", "crash", "exit code 3"),
        ("exit:0", "crash", "a last word"),
        (f"signal:{signal.SIGSEGV.value}", "crash", "SIGSEGV"),
        (f"signal:{signal.SIGABRT.value}", "crash", "SIGABRT"),
        ("short", "out of memory", "MemoryError"),
    ],
)
def test_causes_of_death_are_distinguished(bench, method, cause, word):
    (record,) = bench.run(runs_of(method))
    assert (record["status"], record["cause"]) == ("error", cause)
    assert word in record["message"]


def test_a_run_above_its_memory_limit_is_killed(bench):
    (record,) = bench.run(runs_of("hog", memory_gb=0.15))
    assert record["cause"] == "out of memory" and "0.15 GB" in record["message"]
    assert gone(bench.folder)


def test_records_that_are_there_are_kept_and_a_broken_file_is_not(bench):
    runs = runs_of("work:0", "exit:1")
    first = bench.run(runs)
    heard = []
    observer = NoObserver()
    observer.ended = lambda run, record, kept: heard.append(kept)
    assert bench.run(runs, observer) == first and heard == [True, True]
    heard.clear()
    again = bench.run(runs, observer, keep=lambda record: record["cause"] != "crash")
    assert sorted(heard) == [False, True] and again[1]["cause"] == "crash"
    broken = next(bench.out.glob("work*.json"))
    broken.write_text(broken.read_text()[:100])
    assert bench.run(runs)[0]["objective"] == 7.0
    assert len(list(bench.out.glob("*.json"))) == 2 and read(broken)["objective"] == 7.0


def test_a_run_without_a_record_begins_before_the_records_of_earlier_runs_are_checked(bench):
    runs = runs_of(*(f"work:{k / 1000}" for k in range(5)), "work:0.3")
    earlier = bench.run(runs[:-1])
    order = []
    observer = NoObserver()
    observer.begun = lambda run: order.append(("begun", run.method))
    observer.ended = lambda run, record, kept: order.append(("kept" if kept else "ended", run.method))
    found = bench.run(runs, observer)
    assert order[0] == ("begun", "work:0.3") and [what for what, _ in order].count("kept") == 5
    assert found[:-1] == earlier and [r["method"] for r in found] == [r.method for r in runs]


def test_checks_of_records_take_a_small_share_of_the_time_beside_active_runs(monkeypatch):
    now, checked = [0.0], []

    def kept(run):
        now[0] += 0.01
        checked.append(now[0])
        return run.method != "bad"

    monkeypatch.setattr("schedlab.bench.runs.supervision.time.monotonic", lambda: now[0])
    unchecked = Unchecked(runs_of(*["good"] * 200, "bad", "good"), kept)
    for _ in range(10_000):  # a run that reports something each millisecond
        assert unchecked.refused(idle=False) == []
        now[0] += 0.001
        if now[0] > 10:
            break
    assert 0.01 * len(checked) == pytest.approx(CHECKING * 10, rel=0.1)
    found = []
    while unchecked.left:
        found += unchecked.refused(idle=True)
    assert [run.method for run in found] == ["bad"] and len(checked) == 202


BENCH = """
import sys
sys.path[:0] = {path!r}
from schedlab.bench.runs.process import Child
from schedlab.bench.runs.supervision import supervise
from schedlab.bench.runs.selection import Run
from schedlab.bench.records.store import Store
class NoObserver:
    def begun(self, run): pass
    def compiling(self, run): pass
    def log(self, run, event): pass
    def incumbent(self, run, event): pass
    def ended(self, run, record, kept): pass
    def refused(self, run, reason): pass
runs = [Run("day", "day", "c0ffee", m, time_limit=30.0, kind="dispatch") for m in {methods!r}]
print("ready", flush=True)
with Store({out!r}) as store:
    supervise(runs, store, NoObserver(), jobs=2, command={command!r})
"""


def start_bench(bench, methods):
    text = textwrap.dedent(BENCH).replace("{out!r}", "__import__('pathlib').Path({out!r})")
    text = text.format(path=[], methods=methods, out=str(bench.out), command=bench.command)
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    return child


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again_gives_the_same_records_and_no_orphan(bench):
    methods = [f"work:{0.05 + i / 1000}" for i in range(8)]
    for moment in (0.0, 0.02, 0.07, 0.11, 0.16, 0.23):
        child = start_bench(bench, methods)
        time.sleep(moment)
        child.kill()
        child.wait()
        for path in bench.out.glob("*.json"):
            assert json.loads(path.read_text())["status"] == "feasible"
        assert gone(bench.folder)
    child = start_bench(bench, methods)
    assert child.wait() == 0
    found = [read(p) for p in bench.out.glob("*.json")]
    assert sorted(r["method"] for r in found) == sorted(methods)
    assert not list(bench.out.glob(".*.tmp"))


@pytest.mark.slow
def test_a_killed_bench_takes_the_solvers_own_processes_with_it(bench):
    child = start_bench(bench, ["engine"])
    deadline = time.monotonic() + 10
    while len(alive(bench.folder)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(alive(bench.folder)) == 2
    child.kill()
    child.wait()
    assert gone(bench.folder)


def test_a_temporary_file_of_a_dead_run_is_removed_at_the_start(bench):
    bench.out.mkdir()
    (bench.out / f".work.1.key.json.{os.getpid()}.tmp").write_text('{"half": ')
    bench.run(runs_of("work:0"))
    assert [p.name for p in bench.out.iterdir() if p.suffix == ".tmp"] == []


def test_a_worker_gets_time_to_end_after_the_bench_itself_was_suspended(bench, monkeypatch):
    monkeypatch.setattr(process, "KILL_AFTER", 1.0)
    spec = json.dumps({"method": "work:0.3"})
    child = Child(bench.command, spec, 0.1, None)
    try:
        while child.began is None:
            child.step()
        child.began -= 60  # as if it had begun a minute ago, without a check since then
        child.checked -= 60
        while not child.over:
            child.step()
            time.sleep(0.01)
        assert child.cause is None and child.result["objective"] == 7.0
    finally:
        child.end()
