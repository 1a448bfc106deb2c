"""Overlaps with windows in each lowering, convex functions without binaries, pairs that share several resources."""

import random
from itertools import pairwise

import numpy as np
import pytest
import schedlab as sl
from draws import some_now

LOWERINGS = [{"lowering": "pairwise"}, {"lowering": "time-indexed"}]
RELAXATIONS = [
    {"grid": 3, "side": "relax"},
    {"grid": (1, 6), "side": "relax", "integral": False},
    {"grid": 4, "lowering": "energy", "integral": False},
    {"grid": 5, "lowering": "energy", "integral": False},
]


def shop(seed: int) -> sl.Model:
    """Return a model with intervals of several types on two machines; its objective is made of overlaps with windows."""
    rng = random.Random(seed)
    m = sl.Model(f"shop {seed}", horizon=14)
    jobs = [m.interval(f"j{k}", rng.randint(1, 6), (rng.randint(0, 3), 14), rng.random() < 0.6) for k in range(3)]
    jobs.append(m.interval("gap", 3, [(0, 2), (7, 12)], optional=True))
    jobs.append(m.interval("long", (2, 5), (0, 9)))
    m.add(sl.cumulative(jobs, [rng.randint(1, 3) for _ in jobs], 4))
    m.add(sl.cumulative(jobs[:4], [1, 1, 2, 1], 2))
    m.add(sl.no_overlap(jobs[2:]))
    edges = [0, rng.randint(3, 6), rng.randint(7, 10), 16]
    terms: list[sl.Linear] = []
    for lo, hi in pairwise(edges):
        ran = [sl.overlap(j, lo, hi) for j in jobs]
        load = sl.sum(ran, weights=[rng.randint(1, 4) for _ in ran])
        terms += [rng.randint(1, 5) * r for r in ran]
        terms.append(-1 * sl.piecewise(load, [(0, 0), (8, 4), (20, rng.choice([20, 50])), (200, 900)]))
    terms += [rng.choice([-3, 2]) * sl.overlap(jobs[0], 2, 5), 0.5 * sl.overlap(jobs[3], 6, 6)]
    m.maximize(sl.sum(terms))
    return m


@pytest.mark.parametrize("seed", some_now(range(12), 5))
def test_linear_lowerings_and_cpsat_agree_on_overlaps(seed: int) -> None:
    m = shop(seed)
    best = sl.solve(m, backend="cpsat", threads=1)
    assert best.status == "optimal"
    for options in LOWERINGS:
        found = sl.solve(m, backend="highs", threads=1, **options)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(best.objective, rel=1e-6)
        compiled = sl.compile(m, "highs", **options)
        assert compiled.form.violation(compiled.hint(best.assignment))[0] < 1e-6
        x = compiled.hint(best.assignment)
        assert compiled.form.cost @ x + compiled.form.offset == pytest.approx(best.objective)


@pytest.mark.parametrize("options", RELAXATIONS)
@pytest.mark.parametrize("seed", some_now(range(8), 3))
def test_relaxed_grids_cut_nothing_off(seed: int, options: dict[str, object]) -> None:
    m = shop(seed)
    best = sl.solve(m, backend="cpsat", threads=1)
    relaxed = sl.solve(m, backend="highs", threads=1, **options)
    assert relaxed.bound >= best.objective - 1e-6
    compiled = sl.compile(m, "highs", **{k: v for k, v in options.items() if k != "integral"})
    amount, where = compiled.form.violation(compiled.hint(best.assignment))
    assert amount < 1e-6, where


def bend(points: list[tuple[int, int]], sign: int) -> sl.Model:
    m = sl.Model("bend")
    x = m.integer("x", 0, 9)
    m.minimize(sign * sl.piecewise(x, points) - sign * 2 * x)
    return m


CONVEX = [(0, 0), (4, 4), (6, 10), (9, 25)]


def test_a_convex_cost_needs_no_binaries_and_a_convex_gain_does() -> None:
    cost, gain = bend(CONVEX, 1), bend(CONVEX, -1)
    for m, binaries, optimum in ((cost, 0, -4), (gain, 3, -7)):
        compiled = sl.compile(m, "highs", lowering="pairwise")
        assert int(compiled.form.integral.sum()) == len(m.integers) + binaries
        for backend in ("highs", "cpsat"):
            assert sl.solve(m, backend=backend).objective == optimum


def test_an_overlap_beyond_its_interval_is_its_size_or_nothing() -> None:
    m = sl.Model("one")
    a = m.interval("a", size=3, start=(5, 9), optional=True)
    m.maximize(sl.overlap(a, 0, 50) + 2 * sl.overlap(a, 20, 30) - 10 * sl.overlap(a, 0, 4))
    for options in ({"backend": "cpsat"}, *({"backend": "highs", **o} for o in LOWERINGS)):
        assert sl.solve(m, **options).objective == 3


def test_pairs_have_their_states_once_whatever_the_resources_they_share() -> None:
    def columns(resources: int) -> int:
        m = sl.Model("shared")
        jobs = [m.interval(f"j{k}", size=4, start=(0, 30)) for k in range(5)]
        for _ in range(resources):
            m.add(sl.cumulative(jobs, [1, 1, 2, 1, 1], 3))
        return sl.compile(m, "highs", lowering="pairwise").size["variables"]

    assert columns(1) == columns(4)


def test_a_pair_that_one_resource_keeps_apart_stays_apart_in_all() -> None:
    for order in ((3, 1), (1, 3)):
        m = sl.Model("apart")
        jobs = [m.interval(f"j{k}", size=4, start=(0, 30)) for k in range(2)]
        for capacity in order:
            m.add(sl.cumulative(jobs, [1, 1], capacity))
            m.add(sl.cumulative([*jobs, m.interval(f"extra {capacity}", 1, (0, 30))], [1, 1, 2], 3))
        m.minimize(sl.max([j.end for j in jobs]))
        assert sl.solve(m, backend="highs", lowering="pairwise").objective == 8


def test_costs_and_rows_are_scaled_for_highs_alone() -> None:
    """HiGHS solves a scaled model; results and the native model afterwards are in the units of the original."""
    m = sl.Model("small costs")
    a, b = (m.interval(n, size=3600, start=(0, 86400)) for n in "ab")
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.sum([a.end, b.end], weights=[1e-6, 3e-6]))
    compiled = sl.compile(m, "highs", lowering="pairwise")
    before = compiled.native.getLp().col_cost_
    result = sl.solve(m, backend="highs", lowering="pairwise")
    assert (result.objective, result.bound) == pytest.approx((0.018, 0.018), rel=1e-9)
    watch = _Quiet()
    outcome = compiled.run(watch, sl.backends.Limits(time=10))
    assert outcome.bound == pytest.approx(result.objective, rel=1e-6)
    assert np.allclose(compiled.native.getLp().col_cost_, before, rtol=0, atol=0)


class _Quiet:
    def solution(self, assignment: sl.Assignment, bound: float | None = None) -> bool:
        return True

    def bound(self, value: float) -> bool:
        return True
