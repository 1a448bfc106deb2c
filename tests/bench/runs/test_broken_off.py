"""Runs that are broken off: killed, crashed, out of memory. The best schedule is kept; exit code and --retry follow."""

import sys

import pytest
from schedlab.bench import Recording, Run, View, supervise
from schedlab.bench.records import Store, failed
from schedlab.bench.records.record import answered
from schedlab.bench.runs import process
from schedlab.bench.tables import group_by_view, status
from schedlab.heuristics import multi_search, warm_up_for
from schedlab.instances import load

# The real worker, with a method that finds schedules by multi-search and then ends as its argument says.
BREAKING = """
import os, signal, sys, time
from dataclasses import dataclass, field
from types import SimpleNamespace
from schedlab.backends import Incumbent
from schedlab.heuristics import HEURISTICS, multi_search
from schedlab.heuristics import ARGUMENT, Heuristic
def planted(problem, ask):
    found = multi_search(problem, on_incumbent=None if ask.argument == "nothing" else ask.on_incumbent).schedule
    if ask.argument == "wrong":
        wrong = type(found)(dict.fromkeys(found.start, 0), found.nodes)
        ask.on_incumbent(Incumbent(0.0, 0.0, None).giving(lambda: wrong))
    time.sleep(1.2)
    if ask.argument in ("hang", "nothing", "wrong"): time.sleep(60)
    if ask.argument == "stop": os.kill(os.getpid(), signal.SIGSTOP)
    if ask.argument == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if ask.argument == "memory": raise MemoryError
    raise ValueError("planted")
ends = ("hang", "nothing", "wrong", "stop", "kill", "memory", "crash")
@dataclass(frozen=True)
class Planted(Heuristic):
    argument: str = field(metadata={**ARGUMENT, "values": ends})
    def run(self, problem, limits, start, on_incumbent):
        return planted(problem, SimpleNamespace(argument=self.argument, on_incumbent=on_incumbent))
HEURISTICS.register("planted", Planted)
from schedlab.bench.runs.worker import main
main()
"""
FIRST = View(first=12)


class NoObserver:
    def begun(self, run): ...

    def compiling(self, run): ...
    def log(self, run, event): ...
    def incumbent(self, run, event): ...

    def ended(self, run, record, kept): ...


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory):
    """Return records of runs that found schedules and were then broken off, by the way they ended; and their folder."""
    warm_up_for(FIRST.of(load("eurora_99")))  # four workers at once would each compile the kernels
    folder = tmp_path_factory.mktemp("broken")
    (folder / "worker.py").write_text(BREAKING)
    ends = ("hang", "nothing", "wrong", "stop", "kill", "memory", "crash")
    fields = {"path": "eurora_99", "time_limit": 3.0, "view": FIRST, "kind": "dispatch"}
    runs = [Run("eurora_99", content="c", method=f"planted:{end}", **fields) for end in ends]
    with pytest.MonkeyPatch.context() as patch, Store(folder / "out") as store:
        patch.setattr(process, "KILL_AFTER", 0.5)
        found = supervise(runs, store, NoObserver(), jobs=4, command=(sys.executable, str(folder / "worker.py")))
    return dict(zip(ends, found, strict=True)), folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "cause", "word"),
    [
        ("hang", "timeout", "killed"),
        ("stop", "timeout", "suspended"),
        ("kill", "crash", "SIGKILL"),
        ("memory", "out of memory", "out of memory"),
        ("crash", "crash", "ValueError: planted"),
    ],
)
def test_a_run_that_is_broken_off_keeps_its_best_schedule_and_the_cause(broken_off, end, cause, word):
    record = broken_off[0][end]
    problem = FIRST.of(load("eurora_99"))
    best = problem.value(multi_search(problem).schedule)
    assert (record["status"], record["cause"], record["verified"]) == ("feasible", cause, True)
    assert record["objective"] == pytest.approx(best, rel=1e-9) == record["incumbents"][-1]["objective"]
    assert problem.verify(problem.read(record["schedule"])) == []
    assert word in record["message"] and "its best schedule is kept" in record["message"]
    ((_, results),) = group_by_view([record])
    assert str(status(results.rows[0])) == cause and results.best is not None
    assert failed(record) is (cause == "crash")


@pytest.mark.slow
def test_a_schedule_that_was_handed_over_and_does_not_hold_is_not_used(broken_off):
    record = broken_off[0]["wrong"]
    assert (record["status"], record["cause"]) == ("unknown", "timeout")
    assert record["objective"] is record["schedule"] is record["verified"] is None
    assert "saved schedule is not valid" in record["message"] and failed(record)


@pytest.mark.slow
def test_a_run_that_was_killed_without_an_answer_has_failed(broken_off):
    record = broken_off[0]["nothing"]
    assert (record["cause"], record["schedule"]) == ("timeout", None) and failed(record)


@pytest.mark.slow
def test_what_was_handed_over_leaves_no_file(broken_off):
    records, out = broken_off
    names = {p.name for p in out.iterdir()} - {".lock"}
    assert names == {f"planted_{end}.1.{record['key']}.json" for end, record in records.items()}


def test_what_ended_by_itself_has_answered_and_what_was_broken_off_with_nothing_has_not():
    def of(**fields):
        return {"status": "unknown", "cause": None, "objective": None, "bound": None, "verified": None, **fields}

    kept = [of(), of(cause="unavailable"), of(status="infeasible"), of(cause="timeout", bound=3.0)]
    kept += [of(cause="timeout", objective=7.0), of(cause="out of memory", objective=7.0)]
    kept.append(of(cause="timeout", jobs_csv="half.jobs.csv"))
    assert all(map(answered, kept)) and not any(map(failed, kept))
    lost = [of(cause="timeout"), of(cause="out of memory", status="error"), of(status="error")]
    assert not any(map(answered, lost)) and all(map(failed, lost))


def test_retry_covers_what_was_broken_off():
    for cause, again in (("timeout", True), ("crash", True), ("out of memory", True), ("unavailable", False)):
        record = {"status": "feasible", "cause": cause, "objective": 7.0, "bound": None, "verified": True}
        assert Recording(retry=True).keeps(record) is not again
        assert Recording().keeps(record)
