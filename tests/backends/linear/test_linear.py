"""The lowerings to linear form: known optimum of each construct, agreement of lowerings, grids, hints, sizes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab.backends.linear import Affine, FormBuilder, Grid, lower, ranges

LOWERINGS = ("pairwise", "time-indexed")
Declared = tuple[sl.Model, float]


def alternative_of_two() -> Declared:
    m = sl.Model("two of three nodes", horizon=6)
    a = m.interval("a", size=2, start=(1, 5))
    on = [m.interval(f"a on {n}", size=2, optional=True) for n in range(3)]
    m.add(sl.alternative(a, on, count=2))
    m.minimize(a.start + sl.sum([o.presence for o in on], weights=[5, 1, 2]) + 0.5 * on[2].end)
    return m, 1 + 3 + 1.5


def alternative_of_unequal_sizes() -> Declared:
    m = sl.Model("a fast and a slow machine", horizon=9)
    a = m.interval("a", size=(2, 5), start=(0, 4))
    fast, slow = m.interval("fast", size=2, optional=True, start=(3, 4)), m.interval("slow", size=5, optional=True)
    m.add(sl.alternative(a, [fast, slow]))
    m.minimize(a.end + 2 * fast.presence)
    return m, 5


def calendar() -> Declared:
    m = sl.Model("nights only")
    a, b = (m.interval(n, size=3, start=[(0, 1), (8, 12)]) for n in "ab")
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.start, b.start]))
    return m, 8


def stepwise_capacity() -> Declared:
    m = sl.Model("maintenance", horizon=12)
    a, b = m.interval("a", size=4), m.interval("b", size=3)
    m.add(sl.cumulative([a, b], [2, 1], [(0, 2), (2, 0), (5, 3)]))
    m.minimize(a.end + b.end)
    return m, 9 + 8


def variable_demands() -> Declared:
    m = sl.Model("units on two nodes", horizon=9)
    jobs = [m.interval(f"j{j}", size=s) for j, s in enumerate((3, 2))]
    units = [[m.integer(f"units of {j} on {n}", 0, 3) for n in range(2)] for j in range(2)]
    for j in range(2):
        m.add(sl.sum(units[j]) == 3)
    for n in range(2):
        m.add(sl.cumulative(jobs, [units[j][n] for j in range(2)], 2))
        m.add(sl.cumulative(jobs, [3 * units[j][n] + 1 for j in range(2)], 8))
    m.minimize(sl.max([j.end for j in jobs]))
    return m, 5


def variable_size_with_variable_demand() -> Declared:
    m = sl.Model("work of ten", horizon=8)
    a, b = m.interval("a", size=(1, 4)), m.interval("b", size=3)
    n = m.integer("n", 1, 4)
    m.add(sl.cumulative([a, b], [n, 2], 4))
    m.add(a.size + n >= 6)
    m.minimize(sl.max([a.end, b.end]))
    return m, 4 + 0


def zero_sizes() -> Declared:
    m = sl.Model("a milestone inside a job")
    a, b = m.interval("a", size=4, start=0), m.interval("milestone", size=0, start=(2, 2))
    c = m.interval("c", size=(0, 2), start=(1, 9))
    m.add(sl.no_overlap([a, b, c]))
    m.add(sl.cumulative([a, b, c], [1, 5, 1], 1))
    m.minimize(c.start + 10 * (2 - c.size))
    return m, 4


def synchronized() -> Declared:
    m = sl.Model("together if at all", horizon=8)
    a, b = m.interval("a", size=(2, 3), start=(1, 5)), m.interval("b", size=3, optional=True, start=(3, 6))
    m.add(sl.synchronize(a, [b]))
    m.minimize(a.end + 4 * (1 - b.presence))
    return m, 6


def precedences() -> Declared:
    m = sl.Model("four precedences", horizon=20)
    a, b, c, d = (m.interval(n, size=s) for n, s in zip("abcd", (3, 2, 4, 1), strict=True))
    e = m.interval("e", size=9, optional=True)
    m.add(sl.end_before_start(a, b, 1))
    m.add(sl.start_before_start(b, c, 2))
    m.add(sl.end_before_end(c, d, 1))
    m.add(sl.start_before_end(d, a, -7))
    m.add(sl.end_before_start(e, a))
    m.minimize(d.end - 0.1 * e.presence)
    return m, 11


def extremes() -> Declared:
    m = sl.Model("max and min on both sides")
    x, y = m.integer("x", -3, 7), m.integer("y", 0, 9)
    m.add(sl.max([x, y]) >= 6)
    m.add(sl.min([x + 1, y, 5]) <= 0)
    m.add(sl.max([x, sl.min([y, 3])]) == 3)
    m.minimize(x + y + sl.positive_part(x - y))
    return m, -3 + 6


def comparisons_held() -> Declared:
    m = sl.Model("held against 0 and 1", horizon=9)
    a = m.interval("a", size=2)
    x = m.integer("x", 0, 4)
    m.add(sl.implies(a.start >= 3, x >= 2))
    m.add(sl.holds(a.start == 2) == 0)
    m.add(sl.holds(x <= 3) + sl.holds(a.start <= 1) == 1)
    m.maximize(a.start - 3 * x)
    return m, 9 - 6


def overlaps() -> Declared:
    m = sl.Model("peak hours", horizon=9)
    a, b = m.interval("a", size=4), m.interval("b", size=(1, 6), optional=True)
    m.add(sl.overlap(b, 2, 6) >= 3)
    m.add(sl.overlap(a, 0, 3) + sl.overlap(a, 5, 30) == 3)
    m.minimize(a.start + 2 * sl.overlap(a, 1, 4) + b.end)
    return m, 4 + 0 + 5


def lookups() -> Declared:
    m = sl.Model("prices by the hour", horizon=9)
    a = m.interval("a", size=1)
    i = m.integer("i", -2, 9)
    m.add(sl.element([4, 2, 7], i) <= 6)
    m.minimize(sl.element([9, 8, 3, 5, 3, 9], a.start) + 2.5 * sl.element([3, 1, 0], i) + 0.01 * a.start)
    return m, 3 + 2.5 + 0.02


def piecewise_cost() -> Declared:
    m = sl.Model("tariff", horizon=20)
    a = m.interval("a", size=(1, 6))
    m.add(sl.piecewise(a.start + a.size, [(4, 3), (6, 1), (9, 7)]) <= 2.0)
    m.maximize(a.end + sl.piecewise(a.start, [(0, 0), (2, 1.5), (20, 0)]))
    return m, 6 + 1.5


CONSTRUCTS: list[Callable[[], Declared]] = [
    alternative_of_two,
    alternative_of_unequal_sizes,
    calendar,
    stepwise_capacity,
    variable_demands,
    variable_size_with_variable_demand,
    zero_sizes,
    synchronized,
    precedences,
    extremes,
    comparisons_held,
    overlaps,
    lookups,
    piecewise_cost,
]


@pytest.mark.parametrize("lowering", LOWERINGS)
@pytest.mark.parametrize("declare", CONSTRUCTS, ids=lambda c: c.__name__)
def test_each_construct_has_its_known_optimum_and_a_complete_hint(declare: Any, lowering: str) -> None:
    m, expected = declare()
    r = sl.solve(m, backend="highs", threads=1, lowering=lowering)
    assert (r.status, r.objective) == ("optimal", pytest.approx(expected))
    compiled = sl.compile(m, "highs", lowering=lowering)
    compiled.fix(r.assignment)
    compiled.native.run()
    assert compiled.native.getInfo().primal_solution_status == 2
    assert compiled.native.getInfo().objective_function_value == pytest.approx(expected)
    assert compiled.form.violation(compiled.hint(r.assignment))[0] < 1e-9


def dispatch_like(seed: int, size: int = 6) -> sl.Model:
    """Return a model of jobs on two nodes with start windows and release times; it minimizes weighted tardiness."""
    rng = random.Random(seed)
    m = sl.Model(f"day {seed}", horizon=40)
    late = []
    rows: list[list[Any]] = [[], []]
    for j in range(size):
        release, length = rng.randint(0, 9), rng.randint(1, 9)
        windows = [(release, 12), (18, 40)] if rng.random() < 0.3 else (release, 40)
        a = m.interval(f"job {j}", size=length, start=windows)
        on = [m.interval(f"job {j} on {n}", size=length, start=windows, optional=True) for n in range(2)]
        m.add(sl.alternative(a, on))
        for n in range(2):
            rows[n].append((on[n], rng.randint(1, 3)))
        late.append(sl.positive_part(a.end - rng.randint(3, 15)) * rng.randint(1, 4) + 0.01 * a.start)
    for n in range(2):
        m.add(sl.cumulative([v for v, _ in rows[n]], [d for _, d in rows[n]], [(0, 3), (10 + n, 2 + n)]))
    m.minimize(sl.sum(late))
    return m


@pytest.mark.parametrize("seed", range(3))
def test_a_restriction_lies_above_the_optimum_and_a_relaxation_below(seed: int) -> None:
    m = dispatch_like(seed, size=4)

    def solve(**options: Any) -> sl.Result:
        return sl.solve(m, backend="highs", threads=1, time_limit=30, **options)

    exact = solve(lowering="time-indexed", grid=1)
    assert exact.status == "optimal"
    assert solve(lowering="pairwise").objective == pytest.approx(exact.objective)
    for grid in (3, (1, 6)):
        above, below = solve(grid=grid), solve(grid=grid, side="relax")
        assert above.status == "feasible" and above.bound is None and above.objective >= exact.objective - 1e-6
        assert below.bound <= exact.objective + 1e-6
        assert solve(grid=grid, side="relax", integral=False).bound <= below.bound + 1e-6
        assert (above.exactness.kind, below.exactness.kind) == ("restriction", "relaxation")


def test_an_empty_restriction_proves_nothing() -> None:
    m = sl.Model("fits only between grid points", horizon=9)
    a, b = m.interval("a", size=3, start=(0, 1)), m.interval("b", size=3, start=(3, 4))
    m.add(sl.no_overlap([a, b]))
    m.add(b.end <= 6)
    assert sl.solve(m, backend="highs").status == "optimal"
    r = sl.solve(m, backend="highs", grid=5)
    assert (r.status, r.exactness.kind) == ("unknown", "restriction")


def test_a_start_is_rebuilt_on_the_grid_in_its_order() -> None:
    m = dispatch_like(5)
    given = sl.solve(m, backend="highs", lowering="pairwise", time_limit=20, gap_limit=0.5, threads=1).assignment
    compiled = sl.compile(m, "highs", grid=2)
    rebuilt = compiled.rebuilt(given)
    assert m.check(rebuilt) == []
    assert all(new >= old for new, old in zip(rebuilt.start, given.start, strict=True))
    compiled.fix(given)
    compiled.native.run()
    assert compiled.native.getInfo().objective_function_value == pytest.approx(m.value(m.objectives[0], rebuilt))


def test_a_start_between_grid_points_is_hinted_on_the_relaxing_side() -> None:
    m = dispatch_like(2)
    given = sl.solve(m, backend="highs", lowering="pairwise", time_limit=20, gap_limit=0.5, threads=1).assignment
    compiled = sl.compile(m, "highs", grid=7, side="relax")
    x = compiled.hint(given)
    assert compiled.form.violation(x)[0] < 1e-9
    assert compiled.form.cost @ x + compiled.form.offset == pytest.approx(m.value(m.objectives[0], given))


def test_running_intervals_off_the_grid_keep_their_times() -> None:
    m = sl.Model("two run since before now", horizon=100)
    running = [m.interval("since -7", size=20, start=-7), m.interval("before it", size=5, start=-12)]
    a = m.interval("a", size=10, start=(0, 100))
    m.add(sl.no_overlap([*running, a]))
    m.minimize(a.start)
    r = sl.solve(m, backend="highs", grid=10)
    assert (r.objective, r[running[0]].start) == (20, -7)


def test_the_predicted_size_is_said_before_anything_is_built() -> None:
    m = sl.Model("a hundred weeks")
    jobs = [m.interval(f"j{j}", size=3600, start=(0, 100 * 604_800)) for j in range(50)]
    m.add(sl.cumulative(jobs, [1] * 50, 7))
    for options in ({"grid": 1}, {"grid": 60}, {"lowering": "pairwise", "max_nonzeros": 1000}):
        with pytest.raises(sl.LoweringTooLarge, match="non-zeros allowed") as caught:
            lower(m, **options)
        assert caught.value.nonzeros > caught.value.limit
    assert lower(m).scheme.exactness.notes == ("lowering pairwise",)


def test_contradictory_options_are_refused() -> None:
    m, _ = calendar()
    with pytest.raises(ValueError, match="a grid belongs to lowering='time-indexed'"):
        lower(m, lowering="pairwise", grid=3)
    with pytest.raises(ValueError, match="sides 'restrict' and 'relax'"):
        lower(m, grid=3, side="both")
    with pytest.raises(ValueError, match="side='relax' belongs to lowering='time-indexed'"):
        lower(m, lowering="energy", grid=3, side="relax")
    with pytest.raises(ValueError, match="a restriction has none"):
        lower(m, grid=3, integral=False)
    with pytest.raises(sl.ModelError, match="1 <= fine <= coarse"):
        lower(m, grid=(5, 2))


def test_a_graded_grid_grows_from_fine_to_coarse_and_covers_the_horizon() -> None:
    m = sl.Model("long", horizon=10_000)
    m.interval("a", size=500, start=(100, 10_000))
    steps = np.diff(Grid.cover(m, (10, 300), 10**6).points)
    assert steps[0] == 10 and np.all(np.diff(steps) >= 0) and 250 <= steps[-1] <= 300
    assert Grid.cover(m, (10, 300), 10**6).points[-1] > 10_500


def test_the_arrays_are_assembled_by_rows() -> None:
    b = FormBuilder()
    x = b.columns(3, 0, [1, 2, 3], integral=True, name="x", recipe=lambda p: [1, 2, 3])
    b.name_rows("later rows")
    first = b.rows(-np.inf, [5, 6], 2)
    b.entries([first + 1, first], [x, x + 2], [7, 8])
    b.row(Affine({x: 1.0, x + 1: -2.0}, 4.0), 0, 9)
    form = b.build(Affine({x + 1: 2.0}, 1.5), maximize=True)
    assert form.start.tolist() == [0, 1, 2, 4]
    assert (form.index.tolist(), form.value.tolist()) == ([2, 0, 0, 1], [8, 7, 1, -2])
    assert (form.row_lo[2], form.row_hi[2], form.row_blocks.name(2)) == (-4, 5, "later rows")
    assert form.violation(np.array([1.0, 2.0, 3.0])) == (19.0, "later rows")


def test_many_rows_are_sorted_as_few_are() -> None:
    b, rng = FormBuilder(), np.random.default_rng(3)
    n = 70_000
    x = b.columns(1, 0, 1, integral=False, name="x", recipe=lambda p: 0)
    b.rows(0, 1, n)
    rows = rng.permutation(n)
    b.entries(rows, np.full(n, x), rows + 1)
    assert b.build(Affine({}), maximize=False).value.tolist() == list(range(1, n + 1))


def test_ranges_follow_one_another() -> None:
    owner, element = ranges(np.array([3, 5, 7]), np.array([5, 4, 8]))
    assert (owner.tolist(), element.tolist()) == ([0, 0, 2], [3, 4, 7])


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
@pytest.mark.parametrize("far", [10**6, 10**9])
@pytest.mark.parametrize("low", [0, 4])
def test_points_that_no_value_reaches_change_no_optimum(backend, far, low):
    m = sl.Model("far points", horizon=6)
    a, b, c = (m.interval(n, 1) for n in "abc")
    x = m.integer("x", low, 4)
    m.add(sl.no_overlap([a, b]))
    points = [(-far, -2 * far // 5), (2, -2), (3, 1), (5, -7), (far, 3)]
    cost = sl.piecewise(a.start + b.start - c.start + x - 4, points) + sl.piecewise(x, [(-far, 9), (4, 2), (far, far)])
    m.minimize(cost + 0.1 * c.start - 0.2 * b.start)
    best = min(
        m.value(m.objectives[0], sl.Assignment(m, {a: s, b: t, c: u, x: v}))
        for s, t, u, v in itertools.product(range(7), range(7), range(7), range(low, 5))
        if s != t
    )
    for options in [{"lowering": "pairwise"}, {"lowering": "time-indexed"}] if backend == "highs" else [{}]:
        r = sl.solve(m, backend=backend, threads=1, **options)
        assert r.status == "optimal" and r.objective == pytest.approx(best)
