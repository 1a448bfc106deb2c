"""Searches on problems with limits on objectives: an answer keeps all limits, or there is none and the reason is given."""

import itertools

import numpy as np
import pytest
import schedlab as sl
from schedlab.heuristics import HEURISTICS, ListScheduler, first_solution
from schedlab.heuristics.kernels import objective
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.dispatch.objectives import excess_of

MACHINE = Platform([NodeGroup("n", 2, {"cores": 4})])
QUEUES = [Queue("fast", 5), Queue("slow", 20)]
METHODS = [
    "multi-search", "first-solution:est", "rule:est", "delay-search", "lns:rounds=40", "lns@cpsat:rounds=12",
    "relaxation-search@cpsat",
]  # fmt: skip


def crowd(seed, jobs=9):
    rng = np.random.default_rng(seed)
    made = [
        Job(
            f"j{k}", int(rng.integers(0, 10)), int(rng.integers(2, 20)), int(rng.integers(1, 3)),
            {"cores": int(rng.integers(1, 5))}, str(rng.choice(["fast", "slow"])),
        )
        for k in range(jobs)
    ]  # fmt: skip
    return Dispatch(MACHINE, made, QUEUES, "makespan")


def optimum(problem):
    found = sl.solve(problem, "cpsat:counts", threads=2, time_limit=20)
    assert found.status == "optimal"
    return found.objective


@pytest.fixture(scope="module")
def tight():
    """A problem whose limits hold in the best schedules of two other objectives only."""
    problem = crowd(4)
    names = ("weighted-tardiness", "late-jobs")
    limits = {name: 1.05 * optimum(problem.replace(objective=name)) + 1e-9 for name in names}
    return problem.replace(limits=limits)


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_keeps_the_limits_or_there_is_none(tight, method):
    reported = []

    def seen(news):
        if news.objective is not None:
            reported.append(tight.verify(news.schedule()))

    found = sl.solve(tight, method, time_limit=1.5, on_incumbent=seen)
    assert all(broken == [] for broken in reported)
    if found.schedule is None:
        assert found.status == "unknown" and found.objective is None
        assert "breaks a limit" in found.message and "the limit is at most" in found.message
    else:
        assert found.status in ("feasible", "optimal") and tight.verify(found.schedule) == []


def test_the_searches_reach_limits_that_no_simple_order_reaches(tight):
    """Exact search proves that the limits can be kept; a single rule does not keep them, large neighbourhoods do."""
    assert sl.solve(tight, "cpsat:counts", time_limit=20).status == "optimal"
    assert sl.solve(tight, "rule:est", time_limit=5).schedule is None
    for method in ("lns:rounds=60", "lns@cpsat:rounds=60", "relaxation-search@cpsat"):
        assert sl.solve(tight, method).status == "feasible", method


def test_a_start_that_keeps_the_limits_is_never_lost(tight):
    start = sl.solve(tight, "cpsat:counts", time_limit=20)
    for name in ("multi-search", "delay-search", "lns", "relaxation-search"):
        found = sl.solve(tight, name, warm_start=start.schedule, time_limit=0.7)
        assert found.warm_start.fate == "accepted" and tight.verify(found.schedule) == []
        assert found.objective <= start.objective
    broken = first_solution(tight.replace(limits=None), "est")
    found = sl.solve(tight, "lns:rounds=5", warm_start=broken)
    assert found.warm_start.fate == "rejected" and "the limit is at most" in found.warm_start.reason


def test_impossible_limits_end_without_a_schedule_and_with_the_reason():
    problem = crowd(1).replace(limits={"makespan": 5, "late-jobs": 0})
    for method in METHODS:
        found = sl.solve(problem, method, time_limit=0.7)
        assert found.status == "unknown" and found.schedule is None, method
        assert "makespan is" in found.message and "the limit is at most 5" in found.message
    with pytest.raises(sl.SchedlabError, match="makespan is"):
        first_solution(problem)
    assert sl.solve(problem, "cpsat:counts").status == "infeasible"


def test_relaxations_do_not_return_allocations_that_break_a_limit():
    for seed in range(4):
        problem = crowd(seed)
        least = optimum(problem.replace(objective="late-jobs"))
        problem = problem.replace(limits={"late-jobs": least})
        for method in ("cpsat:pool", "cpsat:classes"):
            found = sl.solve(problem, method, time_limit=1, threads=1)
            assert found.status in ("optimal", "feasible", "unknown")
            assert found.schedule is None or problem.verify(found.schedule) == []


@pytest.mark.parametrize("aim", ["makespan", "weighted-tardiness", "late-jobs"])
def test_a_schedule_that_keeps_the_limits_is_always_better_and_then_the_smallest_excess(aim):
    free = crowd(7).replace(objective=aim)
    some = ListScheduler(free)
    limits = {"weighted-wait": 14, "late-jobs": 4, "makespan": 66}
    problem = free.replace(limits=limits)
    a = ListScheduler(problem).arrays
    found = []
    for order in np.random.default_rng(1).permuted(np.tile(np.arange(9), (200, 1)), axis=1):
        starts, _ = some.place(order)
        value = objective(a.costs, a.jobs, starts)
        found.append((value, excess_of(problem, starts), some.objective(starts), a.keeps_limits(value)))
    assert {kept for *_, kept in found} == {True, False}
    for value, excess, plain, kept in found:
        assert kept is (excess == 0) and (value == plain if kept else value > plain)
    by_value = [(excess, plain) for _, excess, plain, _ in sorted(found)]
    assert all(one[0] <= two[0] + 1e-6 for one, two in itertools.pairwise(by_value))


def test_all_heuristics_for_dispatching_problems_are_tested_here():
    ours = {name for name, h in HEURISTICS.usable() if h.takes(crowd(0))}
    assert ours <= {method.partition(":")[0].partition("@")[0] for method in METHODS}
