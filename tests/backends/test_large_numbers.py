"""Piecewise-linear functions with values of 1e9 and more: the true optimum or a refusal, never a false proof."""

import random

import pytest
import schedlab as sl
from schedlab.backends import Limits
from schedlab.backends.conformance import Contender, brute_force

LIMITS = Limits(time=30, threads=1)
LABELS = ("highs", "highs:pairwise", "pyomo")


def solved(label, model):
    here = sl.backends.available()[label.partition(":")[0]]
    if not here.ok:
        pytest.skip(f"{label} cannot be used: {here.reason}")
    return Contender(label).solve(model, LIMITS)


def proves_the_truth(model, result):
    """Return whether a result is a true proof or claims none."""
    truth = brute_force(model)
    if result.status == "infeasible":
        return not truth.feasible
    if result.status == "optimal":
        return truth.feasible and result.objective == pytest.approx(truth.objectives[0], rel=1e-6)
    return True


def within_a_limit():
    m = sl.Model("within a limit")
    x = m.integer("x", 0, 5)
    f = sl.piecewise(2 * x, [(0, -2), (5, -3), (10, 6_000_000_000_000)])
    m.add(f + 2 * x <= 2_000_000_000_000)
    m.maximize(2 * f)
    return m


def late_infeasibility():
    m = sl.Model("a limit beside a large term")
    a = m.interval("a", size=2, start=(2, 6))
    f = sl.piecewise(2 * a.end, [(8, 4 * 10**9), (9, -2), (11, 5), (13, -2 * 10**9), (16, -3)])
    m.add(-f + 10**9 * a.end <= 3)
    m.maximize(f + a.end)
    return m


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("make", [within_a_limit, late_infeasibility])
def test_numbers_that_differ_too_much_are_refused(label, make):
    m = make()
    r = solved(label, m)
    assert proves_the_truth(m, r)
    if r.status == "unavailable":
        assert "beyond the limit" in r.message and "smaller coefficients" in r.message


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("unit", [10**10, 10**12])
def test_values_that_are_all_large_are_solved(label, unit):
    m = sl.Model("large values")
    x = m.integer("x", 0, 2)
    a = m.interval("a", size=2, start=(0, 1))
    m.maximize(2 * sl.piecewise(x + a.end, [(2, 3 * unit), (5, 4 * unit)]) + x)
    r = solved(label, m)
    assert (r.status, r.objective) == ("optimal", pytest.approx(8 * unit + 2))


def random_model(seed):
    """Return a random model of one or two piecewise-linear functions with values of 1e9 to 2e12 beside small ones."""
    rng = random.Random(seed)
    m = sl.Model(f"large {seed}")
    some = [m.integer("x", 0, rng.randint(2, 6)).linear()]
    v = m.interval("v", rng.randint(1, 3), (rng.randint(0, 3), rng.randint(4, 6)), optional=rng.random() < 0.3)
    some.append(v.end.linear())
    unit = rng.choice([10**9, 10**10, 10**12, 2 * 10**12])

    def function():
        points = [(0, rng.randint(-3, 5))]
        while points[-1][0] < 18:
            points.append((points[-1][0] + rng.choice([2, 3, 5]), rng.randint(-3, 5) * rng.choice([1, unit])))
        return sl.piecewise(rng.choice(some) + rng.choice([0, 1]) * some[1], points)

    made = [function() for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.5:
        m.add(rng.choice([1, 2, -1]) * made[0] + rng.choice([1, 2]) * some[0] <= rng.choice([3, unit, 2 * unit]))
    goal = sl.sum(made, [rng.choice([1, -1, 2]) for _ in made]) + rng.choice([0, 1]) * some[0]
    (m.minimize if rng.random() < 0.5 else m.maximize)(goal)
    return m


@pytest.mark.parametrize("label", LABELS)
def test_random_models_are_right_or_refused(label):
    wrong = []
    for seed in range(60):
        m = random_model(seed)
        r = solved(label, m)
        if not proves_the_truth(m, r):
            wrong.append((seed, r.status, r.objective))
    assert wrong == []
