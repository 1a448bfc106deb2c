"""Small models, one or more for each construct of the language, with their known answers."""

from __future__ import annotations

import random
from collections.abc import Callable

import schedlab as sl

INFEASIBLE = "infeasible"
CASES: dict[str, tuple[Callable[[sl.Model], None], object]] = {}


def case(answer: object) -> Callable[[Callable[[sl.Model], None]], Callable[[sl.Model], None]]:
    """Register a small model under its function's name, with its optimum, None for no objective, or INFEASIBLE."""

    def register(build: Callable[[sl.Model], None]) -> Callable[[sl.Model], None]:
        CASES[build.__name__.replace("_", " ")] = (build, answer)
        return build

    return register


def absent(m: sl.Model, v: object) -> None:
    m.add(v.presence == 0)


@case(7)
def two_jobs_on_one_machine(m):
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]))


@case(6)
def alternative_of_two_nodes_out_of_three(m):
    a = m.interval("a", size=3, start=(0, 5))
    on = [m.interval(f"a on {n}", size=3, start=(n, 9), optional=True) for n in range(3)]
    m.add(sl.alternative(a, on, count=2))
    m.minimize(a.start + sl.sum([o.presence for o in on], weights=[2, 3, 7]))


@case(0)
def an_absent_interval_has_no_option(m):
    a = m.interval("a", size=3, optional=True)
    on = [m.interval(f"a on {n}", size=3, optional=True) for n in range(2)]
    m.add(sl.alternative(a, on))
    absent(m, a)
    m.maximize(sl.sum([o.presence for o in on]))


@case(INFEASIBLE)
def alternative_with_a_count_above_its_options(m):
    m.add(sl.alternative(m.interval("a", size=3), [m.interval("a on 0", size=3, optional=True)], count=2))


@case(8)
def cumulative_of_constant_demands(m):
    jobs = [m.interval(f"j{k}", size=4) for k in range(4)]
    m.add(sl.cumulative(jobs, [2, 2, 1, 1], capacity=3))
    m.minimize(sl.max([j.end for j in jobs]))


@case(10)
def capacity_that_falls_and_rises_again(m):
    a = m.interval("a", size=3, start=(4, 30))
    m.add(sl.cumulative([a], [2], capacity=[(0, 2), (5, 1), (10, 3)]))
    m.minimize(a.start)


@case(-9)
def the_first_capacity_holds_before_its_time(m):
    a = m.interval("a", size=2, start=(-9, 9))
    m.add(sl.cumulative([a], [1], capacity=[(0, 1), (3, 0)]))
    m.minimize(a.start)


@case(4)
def variable_demand_fills_what_is_left(m):
    a, b = m.interval("a", size=3, start=(0, 2)), m.interval("b", size=9, start=0)
    units = m.integer("units", 0, 9)
    m.add(sl.cumulative([a, b], [units, 2], capacity=6))
    m.maximize(units)


@case(5)
def demand_that_is_a_sum_of_variables(m):
    a = m.interval("a", size=3)
    x, y = m.integer("x", 0, 4), m.integer("y", 0, 4)
    m.add(sl.cumulative([a], [2 * x + y + 1], capacity=4))
    m.maximize(2 * x + y + a.size - a.start - 1)


@case(9)
def the_demand_of_an_absent_interval_is_free(m):
    a = m.interval("a", size=3, optional=True)
    units = m.integer("units", 3, 9)
    m.add(sl.cumulative([a], [units], capacity=2))
    m.maximize(units)


@case(9)
def the_demand_of_an_interval_of_size_0_is_free(m):
    a = m.interval("a", size=(0, 4))
    units = m.integer("units", 3, 9)
    m.add(sl.cumulative([a], [units], capacity=2))
    m.maximize(units + a.size)


@case(5)
def size_0_takes_no_part_in_a_no_overlap(m):
    a, b = m.interval("a", size=10, start=0), m.interval("b", size=0, start=(5, 9))
    c = m.interval("c", size=(0, 2), start=(5, 5))
    m.add(sl.no_overlap([a, b, c]))
    m.minimize(b.start + 9 * c.size)


@case(0)
def size_0_takes_no_part_in_a_cumulative(m):
    a, b = m.interval("a", size=4, start=(-2, 1)), m.interval("b", size=(0, 2), start=(-2, 2))
    m.add(sl.cumulative([b, a], [3, 3], capacity=4))
    m.add(sl.end_before_start(a, b, delay=-3))
    m.minimize(b.size + 2 * sl.max([2 * a.start - b.size - 3, 3 * b.end, 0]))


@case(24)
def a_size_is_stretched_up_to_the_next_job(m):
    a, b = m.interval("a", size=(0, 30), start=0), m.interval("b", size=3, start=(0, 24))
    m.add(sl.no_overlap([a, b]))
    m.maximize(a.size)


@case(11)
def synchronized_jobs_start_and_end_together(m):
    a, b = m.interval("a", size=(2, 9), start=(3, 9)), m.interval("b", size=(5, 7), start=(0, 9))
    c = m.interval("c", size=1, optional=True)
    m.add(sl.synchronize(a, [b, c]))
    m.minimize(a.end + b.start)


@case(0)
def an_absent_interval_synchronizes_nothing(m):
    a = m.interval("a", size=3, start=(5, 9), optional=True)
    b = m.interval("b", size=3)
    m.add(sl.synchronize(a, [b]))
    m.minimize(b.start)


@case(5 + 2 + 1 + 0)
def the_four_precedences_with_delays(m):
    a = m.interval("a", size=3, start=0)
    b, c, d, e = (m.interval(n, size=2, start=(-9, 20)) for n in "bcde")
    m.add(sl.end_before_start(a, b, delay=2))
    m.add(sl.start_before_start(a, c, delay=2))
    m.add(sl.end_before_end(a, d))
    m.add(sl.start_before_end(a, e, delay=2))
    m.minimize(b.start + c.start + d.start + e.start)


@case(0)
def a_precedence_with_an_absent_side_holds(m):
    a, b = m.interval("a", size=3, optional=True), m.interval("b", size=2)
    m.add(sl.end_before_start(a, b))
    absent(m, a)
    m.minimize(b.start)


@case(4 + 9)
def a_maximum_lag_holds_back_what_comes_before(m):
    """b starts at 9 and at most 3 s after the end of a, so a ends at 6 or later and starts 2 s later than it could."""
    a, b = m.interval("a", size=2, start=(0, 20)), m.interval("b", size=2, start=(9, 20))
    m.add(sl.end_before_start(a, b, at_most=3))
    m.minimize(a.start + b.start)


@case(3 + 5 + 2 + 4)
def the_four_kinds_of_maximum_lags(m):
    a = m.interval("a", size=3, start=0)
    b, c, d, e = (m.interval(n, size=2, start=(-9, 20)) for n in "bcde")
    m.add(sl.end_before_start(a, b, delay=-2, at_most=0))
    m.add(sl.start_before_start(a, c, at_most=5))
    m.add(sl.end_before_end(a, d, at_most=1))
    m.add(sl.start_before_end(a, e, delay=2, at_most=6))
    m.maximize(b.start + c.start + d.start + e.start)


@case(4)
def a_cycle_of_lags_that_can_hold(m):
    """Each job starts at least 2 s after the one before it, the last one 4 s after the first one."""
    a, b, c = (m.interval(n, size=1) for n in "abc")
    for v, w in ((a, b), (b, c)):
        m.add(sl.start_before_start(v, w, delay=2))
    m.add(sl.start_before_start(c, a, delay=-4))
    m.maximize(c.start - a.start)


@case(INFEASIBLE)
def a_cycle_of_lags_that_cannot_hold(m):
    a, b, c = (m.interval(n, size=1) for n in "abc")
    for v, w in ((a, b), (b, c)):
        m.add(sl.start_before_start(v, w, delay=2))
    m.add(sl.start_before_start(c, a, delay=-3))


@case(9)
def a_maximum_lag_with_an_absent_side_holds(m):
    a, b = m.interval("a", size=3, start=0, optional=True), m.interval("b", size=2, start=(9, 12))
    m.add(sl.end_before_start(a, b, at_most=1))
    absent(m, a)
    m.minimize(b.start)


@case(1 + 3 + 2 + 4 + 2)
def transition_times_between_all_jobs(m):
    """The best order is b, a, c; the transition from b to c is no longer than the detour over a."""
    a, b, c = m.interval("a", size=3), m.interval("b", size=1), m.interval("c", size=2)
    m.add(sl.no_overlap([a, b, c], transitions=[[0, 9, 4], [2, 0, 5], [9, 9, 0]]))
    m.minimize(sl.max([v.end for v in (a, b, c)]))


@case(1 + 8 + 1)
def a_transition_time_holds_also_over_a_job_between(m):
    """The transition from a to c takes 8 s, also if b runs between them; the reverse order takes longer."""
    a, b, c = (m.interval(n, size=1) for n in "abc")
    m.add(sl.no_overlap([a, b, c], transitions=[[0, 0, 8], [9, 0, 0], [9, 9, 0]]))
    m.minimize(sl.max([v.end for v in (a, b, c)]))


@case(5 + 10)
def jobs_of_size_0_keep_their_setups_and_absent_jobs_have_none(m):
    a, b = m.interval("a", size=2, start=(1, 30)), m.interval("b", size=(0, 2), start=(2, 30))
    c, d = m.interval("c", size=3, start=2, optional=True), m.interval("d", size=0, start=2)
    m.add(sl.no_overlap([a, b, c, d], transitions=[[3] * 4] * 4))
    absent(m, c)
    m.minimize(a.end + b.end)


@case(20 + 4)
def a_setup_longer_than_the_windows_leaves_one_order(m):
    a, b = m.interval("a", size=4, start=(0, 90)), m.interval("b", size=2, start=(3, 13))
    m.add(sl.no_overlap([a, b], transitions=[[0, 10**9], [15, 0]]))
    m.minimize(a.end)


@case(10 + 20)
def a_job_keeps_clear_of_forbidden_windows(m):
    a, b = m.interval("a", size=3), m.interval("b", size=(2, 4), start=(6, 40))
    m.add(sl.forbid_extent(a, [(4, 10), (2, 3), (-5, 1)]))
    m.add(sl.forbid_extent(b, [(7, 12), (13, 20)]))
    m.minimize(a.start + b.start)


@case(5 + 2)
def a_job_of_size_0_and_an_absent_one_may_lie_in_a_forbidden_window(m):
    a, b = m.interval("a", size=0, start=5), m.interval("b", size=(0, 3), start=(2, 4))
    c = m.interval("c", size=3, start=5, optional=True)
    for v in (a, b, c):
        m.add(sl.forbid_extent(v, (0, 10)))
    m.minimize(a.start + b.end + 9 * c.presence)


@case(INFEASIBLE)
def a_job_with_no_gap_that_is_long_enough(m):
    m.add(sl.forbid_extent(m.interval("a", size=3, start=(0, 9)), [(2, 5), (7, 14)]))


@case(2)
def all_or_none_of_three(m):
    a, b, c = (m.interval(n, size=3, start=(k, 9), optional=True) for k, n in enumerate("abc"))
    m.add(sl.all_or_none([a, b, c]))
    m.add(a.presence + b.presence >= 1)
    m.minimize(c.end - 3 * a.presence)


@case(0)
def none_if_one_cannot_be(m):
    a, b = (m.interval(n, size=3, optional=True) for n in "ab")
    m.add(sl.all_or_none([a, b]))
    absent(m, b)
    m.maximize(a.presence + b.presence)


@case(9)
def a_calendar_of_start_windows(m):
    a = m.interval("a", size=3, start=[(0, 5), (9, 12), (14, 20)])
    m.add(a.start >= 6)
    m.minimize(a.start)


@case(INFEASIBLE)
def a_start_in_no_window(m):
    a = m.interval("a", size=3, start=[(-4, -2), (9, 12)])
    m.add(a.start >= -1)
    m.add(a.start <= 8)


@case(1)
def an_absent_interval_counts_as_0(m):
    a = m.interval("a", size=3, start=(5, 9), optional=True)
    absent(m, a)
    m.minimize(a.start + a.end + a.size + sl.overlap(a, 0, 99) + 1)


@case(-7)
def times_may_be_negative(m):
    a = m.interval("a", size=3, start=(-10, 5))
    m.minimize(a.end)


@case(4)
def implications_on_presences(m):
    a, b = (m.interval(n, size=3, optional=True) for n in "ab")
    m.add(sl.implies(a.presence, b.presence))
    m.add(sl.implies(b.presence, b.start >= 4))
    m.add(a.presence == 1)
    m.minimize(b.start)


@case(5)
def holds_is_1_if_and_only_if(m):
    x = m.integer("x", 0, 9)
    m.maximize(3 * sl.holds(x <= 4) + 2 * sl.holds(x >= 2) - 2 * sl.holds(x == 3) - sl.holds(x == 2))


@case(3)
def a_truth_alone_as_an_expression(m):
    x, on = m.integer("x", 0, 3), m.boolean("on")
    m.add(sl.holds(x >= 3) == 1)
    m.add(on <= sl.holds(x >= 2))
    m.maximize(2 * sl.holds(x >= 1) + on)


@case(4.5)
def overlap_with_a_window(m):
    a = m.interval("a", size=6, start=(0, 8))
    m.maximize(1.5 * sl.overlap(a, 7, 10) - 0.5 * sl.overlap(a, -5, 2))


@case(5)
def overlap_of_an_optional_interval_below_a_minimum(m):
    a = m.interval("a", size=3, start=2, optional=True)
    m.add(sl.min([1 - 6 * a.end, sl.overlap(a, 1, 4), a.presence]) <= -26)
    m.minimize(a.end)


@case(5.5)
def element_of_real_numbers(m):
    x = m.integer("x", -3, 9)
    m.maximize(sl.element([1.5, 5.5, 3], x))


@case(2)
def an_index_outside_is_infeasible_wherever_it_stands(m):
    x = m.integer("x", -3, 9)
    m.add(sl.holds(sl.element([1, 5, 3], x) >= 9) == 0)
    m.maximize(x)


@case(INFEASIBLE)
def a_fixed_index_outside_the_array(m):
    m.integer("x", 0, 1)
    m.minimize(sl.element([1, 5], 2))


@case(-0.8)
def a_concave_piecewise_function(m):
    x = m.integer("x", 1, 4)
    m.maximize(sl.piecewise(x + 4, [(-2, 1), (3, 0), (8, -2)]))


@case(1.25)
def a_piecewise_function_that_is_neither_convex_nor_concave(m):
    x = m.integer("x", 0, 20)
    m.minimize(sl.piecewise(0.5 * x, [(1, 9), (3, 2), (4, 5), (6, 1), (8, 2)]) + 0.125 * sl.holds(x >= 12) * 2)


@case(INFEASIBLE)
def a_piecewise_function_outside_its_points(m):
    x = m.integer("x", 0, 3)
    m.minimize(sl.piecewise(x, [(4, 0), (9, 2)]))


@case(-2)
def a_piecewise_function_at_the_end_of_another(m):
    a, x = m.interval("a", size=1, start=(2, 3), optional=True), m.integer("x", -2, 0)
    inner = sl.piecewise(-x - 2 * a.start, [(-7, -1), (-2, 0), (0, -3)])
    m.add(2 * sl.piecewise(2 * inner, [(-7, 0), (-6, 3), (-1, -2), (0, -3)]) <= -6)
    m.add(a.presence == 1)
    m.minimize(x)


@case(3)
def real_coefficients_in_a_constraint(m):
    x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    m.add(0.1 * x + 0.2 * y == 0.3)
    m.maximize(x + y)


@case(8)
def nested_extremes(m):
    a, b = m.interval("a", size=3, start=(0, 9)), m.interval("b", size=5, start=(2, 9))
    m.minimize(sl.max([sl.min(a.end, b.end), 4]) + sl.positive_part(b.end - 3) + sl.max(a.start - 2, -7, 0))


@case(7)
def a_constant_objective(m):
    m.interval("a", size=3)
    m.minimize(sl.sum([7]))


@case(None)
def no_objective(m):
    a, b = m.interval("a", size=3, start=(0, 3)), m.interval("b", size=3, start=(0, 3))
    m.add(sl.no_overlap([a, b]))


@case((3, -5))
def two_objectives_in_order(m):
    a, b = m.interval("a", size=3), m.interval("b", size=3, start=(0, 5))
    m.minimize([a.end, -b.start])


def built(name: str) -> sl.Model:
    m = sl.Model(name)
    CASES[name][0](m)
    return m


def weighted_tardiness(jobs: int) -> sl.Model:
    r = random.Random(2)
    m = sl.Model(f"weighted tardiness of {jobs} jobs")
    all_jobs = [m.interval(f"j{k}", size=r.randint(1, 30)) for k in range(jobs)]
    m.add(sl.no_overlap(all_jobs), "one machine")
    late = [sl.positive_part(j.end - r.randint(10, 14 * jobs)) for j in all_jobs]
    m.minimize(sl.sum(late, weights=[r.randint(1, 9) for _ in late]))
    return m
