"""The energy lowering and the bound from inexact duals: bounds are valid on each grid, no solution is cut off."""

import random

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends.conformance import random_model
from schedlab.backends.linear import safe_bound


def machine(seed):
    """Return a model of five intervals with variable demands, an optional one, windows and a stepwise capacity."""
    rng = random.Random(seed)
    m = sl.Model(f"machine {seed}", horizon=30)
    jobs = [m.interval(f"j{k}", size=rng.randint(1, 6), start=(rng.randint(0, 4), 30)) for k in range(3)]
    jobs.append(m.interval("night", size=3, start=[(0, 1), (9, 30)]))
    spare = m.interval("spare", size=(0, 4), start=(0, 20), optional=True)
    left, right = m.integer("left", 0, 3), m.integer("right", 0, 3)
    m.add(left + right == 3, "units of j0")
    demands = [rng.randint(1, 3) for _ in jobs[1:]]
    m.add(sl.cumulative([*jobs, spare], [left, *demands, 1], [(0, 3), (8, 4)]))
    m.add(sl.cumulative([jobs[0], jobs[1]], [right, 1], 3))
    m.add(sl.no_overlap([jobs[2], jobs[3]]))
    m.add(spare.presence + sl.holds(jobs[1].start >= 5) >= 1)
    weights = [rng.randint(1, 5) for _ in jobs]
    m.minimize(sl.sum([j.start for j in jobs], weights=weights) + 0.5 * spare.end)
    return m


@pytest.mark.parametrize("seed", some_now(range(8), 3))
@pytest.mark.parametrize("grid", [1, 3, (1, 9), 40])
def test_the_bound_is_true_and_no_solution_is_cut_off(seed, grid):
    m = machine(seed)
    best = sl.solve(m, backend="cpsat", threads=1)
    assert best.status == "optimal"
    relaxed = sl.solve(m, backend="highs", lowering="energy", grid=grid, integral=False)
    assert relaxed.bound <= best.objective + 1e-6
    compiled = sl.compile(m, "highs", lowering="energy", grid=grid)
    amount, where = compiled.form.violation(compiled.hint(best.assignment))
    assert amount < 1e-6, where


def test_starts_are_late_enough_even_on_one_cell():
    """For n jobs of size 1 on one machine the sum of the starts is n (n - 1) / 2; a grid of one cell gives this bound."""
    m = sl.Model("unit jobs", horizon=100)
    jobs = [m.interval(f"j{k}", size=1) for k in range(10)]
    m.add(sl.no_overlap(jobs))
    m.minimize(sl.sum([j.start for j in jobs]))
    coarse = sl.solve(m, backend="highs", lowering="energy", grid=10, integral=False)
    assert coarse.bound == pytest.approx(45, abs=1e-6)


def test_energy_alone_proves_an_overfull_machine_infeasible():
    m = sl.Model("too much")
    jobs = [m.interval(f"j{k}", size=5, start=(0, 5)) for k in range(3)]
    m.add(sl.no_overlap(jobs), "the machine")
    result = sl.solve(m, backend="highs", lowering="energy", grid=2, integral=False)
    assert result.status == "infeasible"


def test_any_dual_gives_a_bound_and_the_optimal_one_gives_the_optimum():
    m = machine(3)
    compiled = sl.compile(m, "highs", lowering="energy", grid=4, integral=False)
    optimum = sl.solve(m, backend="highs", lowering="energy", grid=4, integral=False).bound
    rng = np.random.default_rng(1)
    for scale in (0.0, 0.1, 1.0):
        dual = scale * rng.standard_normal(len(compiled.form.row_lo))
        assert safe_bound(compiled.form, dual) <= optimum + 1e-6


def test_a_demand_variable_of_two_intervals_gives_a_true_bound():
    """Each of the intervals has its own product of the variable and its work."""
    m = sl.Model("one demand of three intervals", horizon=20)
    a, b = m.interval("a", size=4, start=0), m.interval("b", size=4, start=8)
    c, n = m.interval("c", size=4, start=(0, 9)), m.integer("n", 1, 2)
    m.add(sl.cumulative([a], [n], 5))
    m.add(sl.cumulative([b, c], [n, 2], 2))
    m.add(sl.cumulative([b, c], [n, n], 4))
    m.minimize(c.start + 0)
    assert sl.solve(m, backend="cpsat").objective == 0
    for grid in (1, 2, 5):
        bound = sl.solve(m, backend="highs", lowering="energy", grid=grid, integral=False).bound
        assert bound <= 1e-6


@pytest.mark.parametrize("lowering", [("energy", 1), ("energy", 3), ("time-indexed", 2)])
def test_no_answer_of_a_random_model_is_better_than_the_bound(lowering: tuple[str, int]) -> None:
    name, grid = lowering
    side = {"side": "relax"} if name == "time-indexed" else {}
    compared = 0
    for seed in range(60):
        m = random_model(seed).model
        exact = sl.solve(m, backend="cpsat", threads=1, time_limit=20) if len(m.objectives) == 1 else None
        if exact is None or exact.status != "optimal":
            continue
        relaxed = sl.solve(m, backend="highs", lowering=name, grid=grid, integral=False, threads=1, **side)
        assert relaxed.status != "infeasible", seed
        if relaxed.bound is not None:
            beyond = (relaxed.bound - exact.objective) * (1 if m.sense == "minimize" else -1)
            assert beyond <= 1e-6 * max(1, abs(exact.objective)), seed
            compared += 1
    assert compared > 20
