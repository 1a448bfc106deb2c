"""Ordered objectives whose values reach 1e7 and more: the first one is optimal to the unit, as the second depends on it."""

import itertools
import random

import pytest
import schedlab as sl


def model(seed):
    """Return a random model with two ordered objectives; the second one may have no value."""
    rng = random.Random(seed)
    m = sl.Model(f"ordered {seed}")
    xs = [m.integer(f"x{k}", 0, rng.choice([1, 1, 2])) for k in range(rng.randint(4, 8))]
    m.add(sl.sum(xs, [rng.randint(1, 4) for _ in xs]) >= rng.randint(5, 9))
    m.add(sl.sum(xs, [rng.randint(-3, 4) for _ in xs]) <= rng.randint(2, 6))
    costs = [10**7 + rng.randint(-9, 9) for _ in xs]
    second = sl.element([rng.randint(0, 9) for _ in xs], sl.sum(xs))
    if rng.random() < 0.5:
        second = sl.sum(xs, [rng.randint(0, 9) for _ in xs])
    m.minimize([sl.sum(xs, costs), second])
    return m


def best_of(m):
    found = None
    for values in itertools.product(*(range(x.hi + 1) for x in m.integers)):
        a = sl.Assignment(m, dict(zip(m.integers, values, strict=True)))
        if not m.check(a):
            value = tuple(m.value(e, a) for e in m.objectives)
            found = value if found is None else min(found, value)
    return found


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
@pytest.mark.parametrize("seed", [6, 10, 13, 17, 22, 48, 59])  # some were wrong, some were errors
def test_large_coefficients(seed, backend):
    m = model(seed)
    r = sl.solve(m, backend=backend, threads=1)
    assert (r.status, r.objective) == ("optimal", best_of(m))


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
def test_the_second_objective_has_a_value(backend):
    m = sl.Model("m")
    i = m.integer("i", 0, 9)
    m.maximize([10**7 * i, sl.element([3, 2, 1], i)])
    assert sl.solve(m, backend=backend).objective == (2 * 10**7, 1)


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
@pytest.mark.parametrize("weight", [10**5, 10**6, 10**7])
def test_a_weighted_makespan_before_another_objective(backend, weight):
    m = sl.Model("weighted", horizon=20)
    jobs = [m.interval(f"j{k}", size) for k, size in enumerate((3, 5, 2, 4))]
    m.add(sl.cumulative(jobs, [1] * 4, 2))
    ends = [v.end for v in jobs]
    m.minimize([weight * sl.max(ends) + sl.sum(ends), -1 * jobs[2].start])
    r = sl.solve(m, backend=backend, threads=1)
    assert (r.status, r.objective) == ("optimal", (7 * weight + 19, 0))


def test_an_objective_that_the_solver_does_not_take_has_no_bound():
    late = 1_700_000_000
    m = sl.Model("late")
    a, b = m.interval("a", 2, (late, late + 9)), m.interval("b", 3, (late, late + 9), optional=True)
    m.maximize([a.end, sl.max([b.end, a.size])])  # the big-M constant of an absent b is too large for HiGHS
    r = sl.solve(m, backend="highs")
    assert (r.status, r.objective[0], r.bound) == ("feasible", late + 11, (late + 11, None))
    assert "no proof for objective 2" in r.message
