"""The best schedule is saved during a run: every kind of answer, the newest one last, and broken files."""

import threading
import time

import pytest
import schedlab as sl
from schedlab.backends import Incumbent
from schedlab.bench import Run, View
from schedlab.bench.runs import executors as handover
from schedlab.bench.runs.executors import HandOver, handed_over, path_of, remove, with_best
from schedlab.heuristics import multi_search
from schedlab.instances import load

DAY = View(first=12)
BROKEN_OFF = {"status": "unknown", "cause": "timeout", "message": "killed", "incumbents": [], "bound": None}


@pytest.fixture
def path(tmp_path):
    return path_of(tmp_path, "method.1.key")


def schedules(problem):
    """Return the incumbents of multi-search, each with a copy of its schedule."""
    found = []
    multi_search(problem, on_incumbent=lambda news: found.append((news.objective, news.placement.kept())))
    return found


def written(path, problem, within=5.0):
    """Wait for the saved schedule and return its objective."""
    deadline = time.monotonic() + within
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return problem.value(handed_over(path, problem))


@pytest.mark.parametrize("name", ["eurora_99", "profit_small"])
def test_the_arrays_of_a_search_come_back_as_its_schedule(path, name):
    problem = View(first=12).of(load(name))
    (value, placement), *_ = schedules(problem)
    HandOver(path)(Incumbent(0.0, value, None).giving(placement.schedule, placement=placement))
    assert handed_over(path, problem) == placement.schedule()


def test_what_waits_is_a_copy_and_the_newest_is_written_last(path, monkeypatch):
    monkeypatch.setattr(handover, "SHARE", 1e-9)  # the second one waits for as long as any may
    monkeypatch.setattr(handover, "LATEST", 0.2)
    problem = View(at=43200, first=30).of(load("eurora_700"))
    found = schedules(problem)
    hand = HandOver(path)
    for value, placement in found:
        hand(Incumbent(0.0, value, None).giving(placement.schedule, placement=placement))
        placement.starts[:] = 0  # the search goes on with its arrays
    deadline = time.monotonic() + 5
    while written(path, problem) != pytest.approx(found[-1][0]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(found) > 2 and written(path, problem) == pytest.approx(found[-1][0])


def test_it_is_written_while_a_solver_runs_and_a_better_bound_alone_writes_nothing(path):
    problem = DAY.of(load("eurora_99"))
    hand, made = HandOver(path), []
    schedule = multi_search(problem).schedule

    def make():
        made.append(threading.current_thread() is threading.main_thread())
        return schedule

    for bound in (None, 1.0, 2.0):
        hand(Incumbent(0.0, 7.0, bound).giving(make))
        hand(Incumbent(0.0, None, bound))
    assert written(path, problem) == problem.value(schedule) and made == [False]


def test_a_folder_that_cannot_be_written_does_not_end_the_run(path):
    hand = HandOver(path.parent / "nowhere" / path.name)
    (value, placement), *_ = schedules(DAY.of(load("eurora_99")))
    hand(Incumbent(0.0, value, None).giving(placement.schedule, placement=placement))
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]\n", b'{"jobs": 1, "units": 1}\n12345678', b'{"schedule": {"j": 3}}\n']
)
def test_a_broken_file_is_said_and_the_record_is_written_all_the_same(path, data):
    path.write_bytes(data)
    found = with_best(Run("eurora_99", "eurora_99", "c", "m", view=DAY, kind="dispatch"), BROKEN_OFF, path)
    assert found["message"].startswith("killed; its saved schedule is not valid: ")
    assert {**found, "message": "killed"} == BROKEN_OFF


@pytest.mark.parametrize(
    ("name", "view", "method", "field"),
    [
        ("eurora_99", DAY, "multi-search", "schedule"),
        ("eurora_99", DAY, "lns", "schedule"),
        ("eurora_99", DAY, "delay-search", "schedule"),
        ("eurora_99", DAY, "relaxation-search", "schedule"),
        ("eurora_99", DAY, "cpsat:pool", "schedule"),
        ("eurora_99", DAY, "cpsat:counts+warm", "schedule"),
        ("eurora_99", DAY, "first-solution:est", "schedule"),
        ("profit_small", View(first=12), "lns", "account"),
        ("theta_12", View(), "cpsat:serial", "deadlines"),
        ("theta_12", View(), "backtracking", "deadlines"),
        ("project_small", View(), "multi-sgs", "tasks"),
        ("project_small", View(), "cpsat:modes+warm", "tasks"),
    ],
)
def test_every_kind_of_method_hands_over_and_the_bench_checks_it(path, name, view, method, field):
    problem = view.of(load(name))
    hand = HandOver(path)
    rounds = {"rounds": 20} if method == "lns" else {}  # else it searches until its limit
    result = sl.solve(problem, method=method, time_limit=2, threads=1, on_incumbent=hand, **rounds)
    hand.flush()
    found = with_best(Run(name, name, "c", method, view=view, kind=problem.kind), BROKEN_OFF, path)
    assert (found["status"], found["cause"], found["verified"]) == ("feasible", "timeout", True)
    sign = 1 if problem.sense == "minimize" else -1
    first = (lambda value: value[0]) if isinstance(result.objective, tuple) else (lambda value: value)
    # what a solver's relaxation makes of its answers at the very end is not handed over
    assert sign * first(found["objective"]) >= sign * first(result.objective) - 1e-9 * abs(first(result.objective))
    assert found[field]
    remove(path)
    assert list(path.parent.iterdir()) == []


def test_an_incumbent_gives_its_answer_and_stays_a_tuple_of_three():
    m = sl.Model("one")
    a = m.interval("a", size=3, start=(2, 9))
    m.minimize(a.end)
    seen = []
    result = sl.solve(m, on_incumbent=lambda news: seen.append((news, news.assignment())))
    news, assignment = seen[-1]
    assert (
        assignment[a].start == 2
        and news.schedule() is None
        and len(news) == 3
        and set(news._asdict()) == {"seconds", "objective", "bound"}
    )
    assert all(i.assignment() is i.schedule() is None for i in result.incumbents)
