"""Branch and bound against enumeration, on windows, running jobs and equal jobs; what it refuses; its limits."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from heuristics.lagrangian.small import OBJECTIVES, optimum, random_problem
from schedlab.heuristics.branch_and_bound import JOBS, branch_and_bound, can_branch, tables_of
from schedlab.heuristics.lagrangian import chosen_rows, items_of, no_sets, whole_prices
from schedlab.instances import generators
from schedlab.models import Chunk, Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.profiles import flat


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_proves_the_enumerated_optimum(objective: str) -> None:
    for seed in range(20, 24):
        problem = random_problem(seed, objective, running=seed % 2 == 0)
        found = branch_and_bound(problem)
        assert found.status == "optimal" and found.objective == pytest.approx(optimum(problem))
        assert found.bound == pytest.approx(found.objective)


def test_windows_calendars_and_deadlines_lead_to_the_optimum_of_cp_sat() -> None:
    """The least cost of a start is that of the next window, also behind the last price."""
    night = Queue("night", 3600, daily=((64800, 115200),))
    jobs = [
        Job("a", 0, 7200, 2, {"cores": 8}, "q", windows=((30_000, 40_000), (90_000, 90_000))),
        Job("b", 100, 40_000, 1, {"cores": 16}, "night"),
        Job("c", 200, 20_000, 2, {"cores": 9}, "q"),
        Job("d", 300, 9_000, 1, {"cores": 4}, "q", deadline=60_000),
        Job("e", 400, 5_000, 3, {"cores": 3}, "night"),
    ]
    problem = Dispatch(Platform([NodeGroup("n", 2, {"cores": 16})]), jobs, [Queue("q", 600), night], "weighted-wait")
    found = branch_and_bound(problem)
    exact = sl.solve(problem, "cpsat:counts", time_limit=60, threads=2)
    assert found.status == exact.status == "optimal"
    assert found.objective == pytest.approx(exact.objective)


def test_equal_jobs_are_not_exchanged() -> None:
    """Twelve equal jobs on two nodes: 12! orders, of which one is looked at."""
    jobs = [Job(f"j{k:02}", k, 100, 1, {"cores": 4}, "q") for k in range(12)]
    problem = Dispatch(Platform([NodeGroup("n", 2, {"cores": 4})]), jobs, [Queue("q", 10)], "waiting", now=20)
    found = branch_and_bound(problem)
    waits = [20 + 100 * (k // 2) - k for k in range(12)]
    assert (found.status, found.objective) == ("optimal", sum(waits))
    assert found.details.get("decisions", 0) < 2_000


@pytest.mark.slow
def test_the_first_jobs_of_a_crowded_day_are_proven() -> None:
    """The bound of the relaxation alone leaves a gap."""
    problem = generators["eurora"](99, seed=5, nodes=4).problem
    problem = problem.replace(jobs=problem.jobs[:22])
    found = branch_and_bound(problem)
    assert found.status == "optimal" and found.objective == pytest.approx(28.2678888889)
    assert found.details["decisions"] > 100


def test_an_entry_of_a_coarse_table_bounds_all_times_up_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, rng = random_problem(3, running=True), np.random.default_rng(3)
    items = items_of(problem)
    rows = chosen_rows(problem.platform, items.demands, np.ones(len(items.demands)))
    price = rng.integers(0, 3, (rows.b.size, 5)) / 4
    prices = whole_prices(items, np.array([0, 3, 4, 9, 15, 31]), rows, no_sets(), price, np.zeros((0, 5)))
    fine = tables_of(items, prices)
    monkeypatch.setattr("schedlab.heuristics.branch_and_bound.MOST", fine.least.size)
    coarse = tables_of(items, prices)
    assert coarse.step > 1 == fine.step
    index = np.arange(fine.rest.size) // coarse.step
    assert (coarse.least[:, index] <= fine.least).all() and (coarse.least[:, index] < fine.least).any()
    assert (coarse.rest[index] >= fine.rest).all()
    assert (coarse.paid == fine.paid[:, :: coarse.step]).all()


@pytest.mark.parametrize("late", [(0,), range(6), (5,)], ids=["first", "all", "last"])
def test_the_tables_do_not_grow_with_the_times_between_jobs(late) -> None:
    """Jobs 1.7e9 s after now, or one of them, need no more entries than the work after each release."""
    shift = [1_700_000_000 if k in late else 0 for k in range(6)]
    jobs = [Job(f"j{k}", shift[k] + 7 * k, 60 * (1 + k % 5), 1, {"cores": 1 + k % 4}, "q") for k in range(6)]
    problem = Dispatch(Platform([NodeGroup("n", 2, {"cores": 4})]), jobs, [Queue("q", 600)], "weighted-wait")
    items = items_of(problem)
    points = np.array([0, 100, 1000, 1_700_000_000, 1_700_000_500, 1_700_009_000])
    rows = chosen_rows(problem.platform, items.demands, np.ones(len(items.demands)))
    prices = whole_prices(items, points, rows, no_sets(), np.ones((rows.b.size, 5)) / 4, np.zeros((0, 5)))
    made = tables_of(items, prices)
    assert made.time.size <= 7 * (int(items.duration.sum()) + 2)
    assert (np.diff(made.least) >= 0).all() and (np.diff(made.rest) <= 0).all()
    found = branch_and_bound(problem)
    assert found.status == "optimal" and problem.verify(found.schedule) == []
    other = sl.solve(problem, "lns", rounds=20, seed=1).objective
    assert found.objective <= other + 1e-9
    if len(late) == 6:  # all jobs later by the same time: the same waits
        early = [replace(j, submit=j.submit - 1_700_000_000) for j in jobs]
        assert found.objective == pytest.approx(branch_and_bound(problem.replace(jobs=early)).objective)


@pytest.mark.slow
def test_the_time_limit_leaves_the_bound_of_the_relaxation() -> None:
    problem = generators["eurora"](99, seed=10, nodes=4).problem
    problem = problem.replace(jobs=problem.jobs[:60])
    found = branch_and_bound(problem, time_limit=1)
    assert found.status == "feasible" and 0 < found.bound < found.objective


def test_a_start_is_improved() -> None:
    problem = random_problem(1)
    start = sl.solve(problem, "first-solution:est").schedule
    found = sl.solve(problem, "branch-and-bound", warm_start=start)
    assert found.status == "optimal" and found.warm_start.fate == "accepted"


def test_what_it_does_not_support_is_said() -> None:
    problem = random_problem(0)
    crowd = generators["eurora"](99, seed=1, nodes=4).problem
    others = [crowd, problem.replace(objective="makespan"), problem.replace(limits={"makespan": 1000.0})]
    others.append(problem.replace(desired=flat(problem.platform, 1.0)))
    two = Job.of_chunks("two", 0, 5, [Chunk(1, {"cores": 1}), Chunk(1, {"cores": 2})], "q")
    others.append(problem.replace(jobs=[*problem.jobs, two]))
    others.append(problem.replace(jobs=[dataclasses.replace(problem.jobs[0], runtime=0)], durations="runtime"))
    assert can_branch(problem) and not any(can_branch(p) for p in others)
    assert f"at most {JOBS} jobs" in sl.methods.BranchAndBound.condition
    with pytest.raises(sl.UnknownName, match="supports only dispatching problems with at most 64 jobs"):
        sl.solve(crowd, "branch-and-bound", time_limit=1)


def test_its_bound_is_never_below_that_of_the_relaxation() -> None:
    problem = random_problem(4, "slowdown")
    assert branch_and_bound(problem).bound >= sl.solve(problem, "lagrangian").bound - 1e-9
    assert items_of(problem).jobs == len(problem.jobs)
