"""CP-SAT: each construct against known answers, complete hints, real coefficients, numbers beyond 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import pytest
import schedlab as sl
from notebook import Notebook
from schedlab.backends import Limits
from schedlab.backends.cpsat import Form, NativeModel
from schedlab.models import rational

THREADS = 1


def solve(m: sl.Model, **options: object) -> sl.Result:
    r = sl.solve(m, backend="cpsat", **{"threads": THREADS, "time_limit": 60, **options})  # type: ignore[arg-type]
    assert not r.violations
    return r


# One model per construct, with the optimum that follows from the definition.


def two_jobs_on_one_machine(m: sl.Model) -> float:
    a, b = m.interval("a", 3), m.interval("b", 4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]))
    return 7


def zero_size_inside_another(m: sl.Model) -> float:
    a, mark = m.interval("a", 5, start=0), m.interval("mark", 0, start=(2, 9))
    other = m.interval("other", (0, 3), start=(1, 9))
    m.add(sl.no_overlap([a, mark, other]))
    m.add(sl.cumulative([a, mark, other], [1, 1, 1], 1))
    m.minimize(mark.start + other.start)
    return 3  # both within a: the mark has size 0, and so can the other


def machine_with_a_choice(m: sl.Model) -> float:
    jobs = [m.interval(f"j{k}", 3) for k in range(4)]
    on = [[m.interval(f"{j} on {n}", 3, optional=True) for n in range(2)] for j in jobs]
    for j, options in zip(jobs, on, strict=True):
        m.add(sl.alternative(j, options))
    for n in range(2):
        m.add(sl.no_overlap([options[n] for options in on]))
    m.minimize(sl.max([j.end for j in jobs]))
    return 6


def options_with_own_windows_and_sizes(m: sl.Model) -> float:
    a = m.interval("a", (2, 6), start=(0, 20))
    slow = m.interval("slow", 6, start=(3, 20), optional=True)
    quick = m.interval("quick", 2, start=[(8, 9), (15, 20)], optional=True)
    m.add(sl.alternative(a, [slow, quick]))
    m.minimize(a.end)
    return 9


def same_size_options_share_a_start(m: sl.Model) -> float:
    a = m.interval("a", 2, start=(0, 20))
    early = m.interval("early", 2, start=(5, 7), optional=True)
    late = m.interval("late", 2, start=[(12, 13), (18, 18)], optional=True)
    nested = m.interval("nested", 2, start=(13, 20), optional=True)
    m.add(sl.alternative(a, [early, late]))
    m.add(sl.alternative(late, [nested]))
    m.add(early.presence <= 0)
    m.minimize(a.start + nested.start + early.start)
    return 26


def two_of_three_options(m: sl.Model) -> float:
    a = m.interval("a", 2, optional=True)
    on = [m.interval(f"a on {n}", 2, start=(n, 9), optional=True) for n in range(3)]
    m.add(sl.alternative(a, on, count=2))
    m.add(a.presence >= 1)
    m.minimize(a.start + 10 * on[0].presence)
    return 2  # nodes 1 and 2, from 2 on


def absent_master_absent_options(m: sl.Model) -> float:
    a = m.interval("a", 2, start=(5, 9), optional=True)
    on = [m.interval(f"a on {n}", 2, start=(5, 9), optional=True) for n in range(2)]
    m.add(sl.alternative(a, on))
    m.minimize(a.end + on[0].presence + on[1].presence)
    return 0


def stepwise_capacity(m: sl.Model) -> float:
    jobs = [m.interval(f"j{k}", 4, start=(0, 30)) for k in range(2)]
    m.add(sl.cumulative(jobs, [2, 1], [(0, 2), (6, 1), (10, 3)]))
    m.minimize(sl.max([j.end for j in jobs]))
    return 8  # 2 units in [0, 4), 1 unit in [4, 8)


def variable_demands(m: sl.Model) -> float:
    a, b, c = m.interval("a", 4, start=0), m.interval("b", 4, start=(0, 9)), m.interval("c", 0, start=0)
    absent = m.interval("absent", 4, start=0, optional=True)
    x, y = m.integer("units of a", 1, 5), m.integer("other units", 0, 9)
    m.add(sl.cumulative([a, b, absent, c], [x, 2, 3 * y + 1, y], 4))
    m.add(absent.presence <= 0)
    m.maximize(10 * x + y - b.end)
    return 10 * 4 + 9 - 8  # the demand of an absent or zero-size interval is not constrained


def index_outside_of_array_in_a_demand(m: sl.Model) -> float:
    a = m.interval("a", 3, start=0, optional=True)
    i = m.integer("i", 0, 9)
    m.add(sl.cumulative([a], [sl.element([1, 2, 3], i - 1)], 2))
    m.add(a.presence <= 0)
    m.maximize(i + 0)
    return 3


def index_outside_of_array_inside_holds(m: sl.Model) -> float:
    i, b = m.integer("i", -5, 9), m.boolean("b")
    m.add(b <= sl.holds(sl.element([4, 0, 7], i) >= 5))
    m.minimize(i - 3 * b)
    return -1


def synchronized(m: sl.Model) -> float:
    a = m.interval("a", 4, start=(3, 9), optional=True)
    b, c = m.interval("b", (1, 5), start=(0, 9)), m.interval("c", 4, start=(0, 9), optional=True)
    m.add(sl.synchronize(a, [b, c]))
    m.minimize(b.end + 5 * (1 - a.presence))
    return 6  # b alone ends at 1, but then a is absent


def all_precedences(m: sl.Model) -> float:
    a, b, c, d = (m.interval(n, 3, start=(0, 40)) for n in "abcd")
    gone = m.interval("gone", 3, start=0, optional=True)
    m.add(sl.end_before_start(a, b, delay=2))
    m.add(sl.start_before_start(b, c, delay=1))
    m.add(sl.end_before_end(c, d, delay=4))
    m.add(sl.start_before_end(d, gone))
    m.minimize(d.end + c.start + b.start + gone.presence)
    return 13 + 6 + 5


def sums_with_a_variable_size(m: sl.Model) -> float:
    a, x = m.interval("a", (1, 4), start=(0, 9)), m.integer("x", -5, 5)
    m.add(2 * a.size + x >= 3)
    m.add(a.end - 2 * x == 1)
    m.maximize(a.start + x)
    return 9 + 5  # from 9 to 11


def greatest_and_least(m: sl.Model) -> float:
    x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    m.add(x + y == 7)
    m.maximize(3 * sl.min([x, y, 5]) - sl.max([x - 2, y]) + sl.positive_part(x - 100))
    return 9 - 3


def counted_truths(m: sl.Model) -> float:
    x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    m.add(sl.holds(x >= 4) + sl.holds(y == 2) + sl.holds(x + y <= 5) == 2)
    m.minimize(x + 2 * y)
    return 4 + 0  # x = 4, y = 0: the first and the third


def overlap_with_a_tariff(m: sl.Model) -> float:
    a, b = m.interval("a", 6, start=(0, 12)), m.interval("b", (2, 5), start=(4, 8), optional=True)
    m.add(b.presence >= 1)
    m.minimize(5 * sl.overlap(a, 5, 20) + sl.overlap(b, 0, 7) + a.start)
    return 5


def overlap_of_an_absent_interval(m: sl.Model) -> float:
    b = m.interval("b", 5, start=(4, 8), optional=True)
    m.minimize(sl.overlap(b, 0, 7) - 2 * b.presence + sl.overlap(b, -5, 0))
    return -2  # starts at 8, after the window


def piecewise_tariff(m: sl.Model) -> float:
    x = m.integer("x", -5, 20)
    m.minimize(sl.piecewise(x, [(0, 9), (4, 1), (10, 3)]) - 0.5 * x)
    return 3 - 5


def piecewise_with_fractions(m: sl.Model) -> float:
    x = m.integer("x", 0, 20)
    m.maximize(sl.piecewise(0.5 * x, [(0.25, 0), (1.75, 3), (4.25, 0.5)]))
    return 3 - (2.0 - 1.75)  # at x = 4; at x = 3 it is 2.5


def real_weights(m: sl.Model) -> float:
    jobs = [m.interval(f"j{k}", 600 * (k + 1), start=(0, 10**5)) for k in range(3)]
    m.add(sl.no_overlap(jobs))
    m.minimize(sl.sum([j.start for j in jobs], weights=[1 / 3600, 1 / 18000, 1 / 86400]))
    return 600 / 18000 + 1800 / 86400


def real_array(m: sl.Model) -> float:
    i = m.integer("i", 0, 3)
    m.minimize(sl.element([2.5, 0.1, 1 / 3, 7], i) * 3 + sl.max([0.5 * i, 0.25]))
    return 0.3 + 0.5


def nothing_to_decide(m: sl.Model) -> float:
    a = m.interval("a", 3, start=4)
    m.minimize(0.5 * a.end + 1)
    return 4.5


CONSTRUCTS: list[Callable[[sl.Model], float]] = [
    two_jobs_on_one_machine,
    zero_size_inside_another,
    machine_with_a_choice,
    options_with_own_windows_and_sizes,
    same_size_options_share_a_start,
    two_of_three_options,
    absent_master_absent_options,
    stepwise_capacity,
    variable_demands,
    index_outside_of_array_in_a_demand,
    index_outside_of_array_inside_holds,
    synchronized,
    all_precedences,
    sums_with_a_variable_size,
    greatest_and_least,
    counted_truths,
    overlap_with_a_tariff,
    overlap_of_an_absent_interval,
    piecewise_tariff,
    piecewise_with_fractions,
    real_weights,
    real_array,
    nothing_to_decide,
]


@pytest.mark.parametrize("declare", CONSTRUCTS)
def test_each_construct_has_its_known_optimum(declare: Callable[[sl.Model], float]) -> None:
    m = sl.Model(declare.__name__)
    optimum = declare(m)
    r = solve(m)
    assert (r.status, r.objective) == ("optimal", pytest.approx(optimum, rel=1e-9))
    assert r.bound == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("declare", CONSTRUCTS)
def test_every_native_variable_is_hinted_and_fixing_them_keeps_the_objective(
    declare: Callable[[sl.Model], float],
) -> None:
    m = sl.Model(declare.__name__)
    optimum = declare(m)
    free = sl.compile(m, "cpsat")
    first = Notebook(stop_after=1)
    free.run(first, Limits(threads=THREADS, seed=3))
    for start in (first.answers[-1], solve(m).assignment):
        assert start is not None
        compiled = sl.compile(m, "cpsat")
        assert len(compiled.hint(start)) == compiled.size["variables"] == len(compiled.native.proto.variables)
        compiled.fix(start)
        found = Notebook()
        outcome = compiled.run(found, Limits(threads=THREADS))
        assert outcome.status == "optimal"
        assert m.value(m.objectives[0], found.answers[-1]) == pytest.approx(m.value(m.objectives[0], start), rel=1e-12)
    assert m.value(m.objectives[0], found.answers[-1]) == pytest.approx(optimum)


def test_the_start_of_an_absent_interval_counts_as_zero() -> None:
    m = sl.Model("absent")
    a = m.interval("a", (2, 4), start=(5, 9), optional=True)
    b = m.interval("b", 1, start=(0, 20))
    m.add(a.presence <= 0)
    m.add(b.start <= a.start + a.end + a.size)
    m.maximize(b.start + 0)
    assert solve(m).objective == 0


def test_real_coefficients_in_a_constraint_are_reported() -> None:
    m = sl.Model("energy")
    a = m.interval("a", (1, 100), start=0)
    m.add(0.1 * a.size <= 2.5, "energy")
    m.maximize(a.size + 0)
    r = solve(m)
    assert r.objective == 25
    assert "energy" in r.exactness.notes[0]


def test_a_bound_is_true_where_the_weights_have_no_common_denominator() -> None:
    weights = [2**0.5, 3**0.5, 0.7071067811865476, 1.618033988749895]
    m = sl.Model("irrational weights")
    jobs = [m.interval(f"j{k}", 3 + k, start=(0, 10**5)) for k in range(4)]
    m.add(sl.no_overlap(jobs))
    m.minimize(sl.sum([j.end for j in jobs], weights=weights))
    r = solve(m)
    best = min(sum(w * e for w, e in zip(weights, ends, strict=True)) for ends in _end_times([3, 4, 5, 6]))
    assert r.status == "optimal"
    assert r.objective == pytest.approx(best, rel=1e-9)
    assert r.bound <= best
    assert "taken off its bound" in r.exactness.notes[0]


def _end_times(sizes: list[int]) -> list[list[int]]:
    found = []
    for order in permutations(range(len(sizes))):
        now, ends = 0, [0] * len(sizes)
        for j in order:
            now += sizes[j]
            ends[j] = now
        found.append(ends)
    return found


def test_floats_are_read_as_the_simple_fractions_they_stand_for() -> None:
    assert rational(1 / 18000) == Fraction(1, 18000)
    assert rational(0.1) == Fraction(1, 10)
    assert rational(2**0.5) == Fraction(2**0.5)


def test_scaling_beyond_the_room_rounds_and_reports_the_error() -> None:
    native = NativeModel("scaling")
    x = native.variable(((0, 1000),), "x")
    f = Form({x: rational(2**0.5)})
    scale = native.scale([f], 1 << 30, 1 << 30)
    w = native.whole(f, scale)
    assert w.terms[x] * 1000 <= 1 << 30
    assert 0 < abs(Fraction(w.terms[x], scale) - rational(2**0.5)) * 1000 <= w.error


def test_numbers_beyond_64_bits_are_refused_with_the_constraint_named() -> None:
    m = sl.Model("huge")
    a = m.interval("a", 3, start=(0, 10**6))
    m.add(10**15 * a.start <= 10**20, "too large")
    r = solve(m)
    assert r.status == "unavailable"
    assert r.message.startswith("too large: ")
    window = sl.Model("huge window")
    window.interval("a", 3, start=(0, 10**19))
    assert solve(window).status == "unavailable"


def test_a_maximum_is_bounded_from_above() -> None:
    m = sl.Model("maximum")
    x = m.integer("x", 0, 50)
    m.add(3 * x <= 100)
    m.maximize(2 * x + 0.5)
    compiled, notebook = sl.compile(m, "cpsat"), Notebook()
    outcome = compiled.run(notebook, Limits(threads=THREADS))
    assert outcome.bound == 66.5
    assert all(b >= 66.5 for b in notebook.bounds)


def test_several_objectives_are_lexicographic() -> None:
    m = sl.Model("lexicographic")
    a, b = m.interval("a", 3, start=(0, 20)), m.interval("b", 4, start=(0, 20))
    m.add(sl.no_overlap([a, b]))
    m.minimize([sl.max([a.end, b.end]), a.start / 7, -b.end])
    r = solve(m)
    assert r.status == "optimal"
    assert r.objective == (7, 0, -7)


def test_an_interval_of_demand_zero_may_run_beside_a_full_capacity() -> None:
    """Without our literal, CP-SAT 9.15 calls this infeasible: [2, 4) with demand 0 to 2, [0, 6) with 2, capacity 2."""
    m = sl.Model("demand zero")
    guest, host = m.interval("guest", size=2, start=(2, 2)), m.interval("host", size=6, start=(0, 0))
    n = m.integer("n", 0, 2)
    m.add(sl.cumulative([guest, host], [n, 2], 2))
    r = sl.solve(m, backend="cpsat", threads=1)
    assert r.status == "optimal"
    assert r[n] == 0


def shop(sizes: list[int], capacity: int, demands: list[int], sense: str = "minimize") -> tuple[sl.Model, list]:
    m = sl.Model("late jobs", horizon=50)
    tasks = [m.interval(f"t{k}", size) for k, size in enumerate(sizes)]
    m.add(sl.cumulative(tasks, demands, capacity) if capacity > 1 else sl.no_overlap(tasks))
    aim = sl.sum([sl.positive_part(t.end - 3) for t in tasks])
    m.minimize(aim) if sense == "minimize" else m.maximize(aim)
    return m, tasks


def least_work_row(native) -> tuple[dict[int, int], int] | None:
    """Return the coefficients and the least value of the row with all starts, if there is one."""
    rows = [c.linear for c in native.proto.constraints if c.has_linear() and len(c.linear.vars) > 2]
    return (dict(zip(rows[0].vars, rows[0].coeffs, strict=True)), rows[0].domain[0]) if rows else None


@pytest.mark.parametrize(("capacity", "demands"), [(1, [1, 1, 1]), (3, [2, 1, 3])])
def test_a_sum_of_times_has_a_row_of_the_work_on_a_resource(capacity: int, demands: list[int]) -> None:
    sizes = [4, 2, 3]
    m, _ = shop(sizes, capacity, demands)
    coefficients, least = least_work_row(sl.compile(m, "cpsat").native)
    work = [d * s for d, s in zip(demands, sizes, strict=True)]
    assert sorted(coefficients.values()) == sorted(work)
    # the least weighted sum of starts over all feasible schedules is not below the row's bound, and near it
    free = m.copy()
    free.objectives = []
    free.minimize(sl.sum([v.start for v in free.intervals], work))
    best = sl.solve(free, backend="highs", time_limit=60, threads=1).objective
    assert least <= best <= least + max(work)


def test_a_makespan_or_a_maximum_has_no_row_of_the_work() -> None:
    m, tasks = shop([4, 2, 3], 1, [1, 1, 1])
    m.objectives = []
    m.minimize(sl.max([t.end for t in tasks]))
    assert least_work_row(sl.compile(m, "cpsat").native) is None
    m, _ = shop([4, 2, 3], 1, [1, 1, 1], "maximize")
    assert least_work_row(sl.compile(m, "cpsat").native) is None
