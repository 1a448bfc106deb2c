"""The Lagrangian bound against enumeration: rows, sets, prices in whole numbers, and the bound of random problems."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics.lagrangian import (
    DualStopped,
    base_rows,
    candidates,
    chosen_rows,
    exact_bound,
    items_of,
    maximal_sets,
    no_sets,
    rounded_down,
    roundings,
    uniform,
    whole_prices,
)
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue

from .small import OBJECTIVES, fits, optimum, random_problem, second_by_second


def bounded(problem):
    return sl.solve(problem, "lagrangian")


def fitting_sets(problem):
    jobs = range(len(problem.jobs))
    every = chain.from_iterable(combinations(jobs, k) for k in range(1, len(problem.jobs) + 1))
    return [chosen for chosen in every if fits(problem, chosen)]


@pytest.mark.parametrize("seed", some_now(range(12), 4))
def test_rows_hold_for_all_jobs_that_fit_together(seed):
    problem = random_problem(seed)
    items = items_of(problem)
    base = base_rows(problem.platform, items.demands)
    rows = [row for a, b in zip(base.a, base.b.tolist(), strict=True) for row in ((a, b), *roundings(a, b))]
    for chosen in fitting_sets(problem):
        assert all(a[items.kind[list(chosen)]].sum() <= b for a, b in rows)


@pytest.mark.parametrize("seed", some_now(range(12), 4))
def test_sets_are_the_maximal_ones(seed):
    problem = random_problem(seed)
    items = items_of(problem)
    found = maximal_sets(
        problem.platform, items, base_rows(problem.platform, items.demands), np.arange(items.jobs), lambda: False
    )
    sets = {frozenset(found.items[m].tolist()) for m in np.split(found.member, found.first[1:-1])}
    every = [frozenset(s) for s in fitting_sets(problem)]
    assert sets == {s for s in every if not any(s < other for other in every)}


def test_too_many_sets_leave_the_last_jobs_out():
    problem = random_problem(3)
    items = items_of(problem)
    base = base_rows(problem.platform, items.demands)
    found = maximal_sets(problem.platform, items, base, np.arange(items.jobs), lambda: False, most=3)
    assert 0 < found.items.size < items.jobs


@pytest.mark.parametrize("seed", range(6))
def test_exact_bound_is_the_sum_of_least_costs_minus_the_dearest_capacity(seed):
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    items = items_of(problem)
    points = np.array([0, 3, 4, 9, 15, 30])
    rows = chosen_rows(problem.platform, items.demands, np.ones(len(items.demands)))
    price = rng.integers(0, 3, (rows.b.size, 5)) * rng.integers(0, 2, (rows.b.size, 5))
    found = exact_bound(items, whole_prices(items, points, rows, no_sets(), price / 1.0, np.zeros((0, 5))))
    per_job = rows.a.T @ price
    least = sum(second_by_second(problem, points, per_job[items.kind[j]], j) for j in range(items.jobs))
    true = least - int((rows.b @ price) @ np.diff(points))
    assert abs(found - true) <= Fraction(1, 10**6) and found <= true
    assert rounded_down(found) <= found


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_bound_is_not_above_the_optimum(objective):
    for seed in range(4):
        problem = random_problem(seed, objective, running=seed % 2 == 0)
        best, found = optimum(problem), sl.solve(problem, "lagrangian")
        assert found.bound is not None and found.bound <= best + 1e-9
        assert found.objective >= best - 1e-9


@pytest.mark.slow
def test_most_of_the_gap_of_the_pooled_bound_is_closed():
    shares = []
    for seed in (3, 4, 6):
        problem = random_problem(seed)
        best, found = optimum(problem), sl.solve(problem, "lagrangian")
        pooled = sl.solve(problem, "highs:pool@1s-energy", time_limit=20).bound
        assert found.bound <= best + 1e-9
        if best != pytest.approx(pooled, rel=1e-6):
            shares.append((found.bound - pooled) / (best - pooled))
    assert len(shares) > 1 and np.mean(shares) > 0.8


def test_jobs_that_exclude_each_other_are_proven_optimal():
    machine = Platform([NodeGroup("n", 4, {"cores": 4})])
    jobs = [Job(f"j{k}", 0, 10, 3, {"cores": 3}, "q") for k in range(4)]
    found = bounded(Dispatch(machine, jobs, [Queue("q", 10)]))
    assert found.status == "optimal" and found.objective == 6.0
    assert sl.solve(Dispatch(machine, jobs, [Queue("q", 10)]), "highs:pool@1s-energy", time_limit=20).bound < 5.0


def test_a_calendar_delays_in_the_bound_too():
    machine = Platform([NodeGroup("n", 1, {"cores": 4})])
    night = Queue("night", 3600, daily=((72000, 80000),))
    found = bounded(Dispatch(machine, [Job(n, 0, 3600, 1, {"cores": 4}, "night") for n in "ab"], [night]))
    assert found.status == "optimal" and found.objective == pytest.approx(20 + 21)


def test_without_time_there_is_a_bound_and_a_schedule():
    found = sl.solve(sl.load("eurora_99").problem, "lagrangian", time_limit=0.2)
    assert found.status == "feasible" and 0 <= found.bound < found.objective


def test_the_makespan_is_no_sum_over_jobs():
    with pytest.raises(sl.SchedlabError, match="lagrangian"):
        sl.solve(random_problem(0, "makespan"), "lagrangian", time_limit=1)


def test_the_first_prices_and_the_starts_of_a_grid_do_not_outlast_the_time_limit():
    """On 20,000 jobs the exact bound of prices of zero and the starts of a grid took seconds after the limit."""
    problem = random_problem(3)
    items = items_of(problem)
    with pytest.raises(DualStopped):
        candidates(items, uniform(0, 100, 5), lambda: True)
    rows, points = chosen_rows(problem.platform, items.demands, np.ones(len(items.demands))), uniform(0, 30, 5)
    cells = points.size - 1
    free = whole_prices(items, points, rows, no_sets(), np.zeros((rows.b.size, cells)), np.zeros((0, cells)))
    zero = np.zeros(cells, np.int64)
    least = sum(second_by_second(problem, points, zero, j) for j in range(items.jobs))
    assert float(exact_bound(items, free)) == pytest.approx(least, rel=1e-6)
