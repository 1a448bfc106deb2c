"""The independent check of each construct on cases made by hand; resource use compared with a count of every second."""

from fractions import Fraction

import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.models.language import UndefinedValue


@pytest.fixture
def m():
    return sl.Model("m", horizon=100)


def amounts(m, values):
    """Return the amount by which each constraint or domain is violated."""
    return {v.constraint: v.amount for v in m.check(sl.Assignment(m, values))}


class TestDomains:
    def test_size_and_window(self, m):
        a = m.interval("a", size=(2, 4), start=[(0, 5), (9, 12)])
        assert amounts(m, {a: (5, 9)}) == {}
        assert amounts(m, {a: (7, 10)}) == {"a": 2}
        assert amounts(m, {a: (13, 16)}) == {"a": 1}
        assert amounts(m, {a: (0, 7)}) == {"a": 3}
        assert amounts(m, {a: (4, 3)}) == {"a": 3}

    def test_absent_only_if_optional(self, m):
        a = m.interval("a", size=2)
        found = m.check(sl.Assignment(m))
        assert [(v.constraint, v.message) for v in found] == [("a", "a is absent but not optional")]
        m2 = sl.Model("m2")
        m2.interval("b", size=2, optional=True)
        assert m2.check(sl.Assignment(m2)) == []
        assert a.optional is False

    def test_integers(self, m):
        x = m.integer("x", -1, 3)
        assert amounts(m, {x: 3}) == {}
        assert amounts(m, {x: 5}) == {"x": 2}
        assert amounts(m, {x: -4}) == {"x": 3}


class TestAbsentIntervals:
    def test_their_times_are_zero(self, m):
        a = m.interval("a", size=3, start=(5, 9), optional=True)
        absent, present = sl.Assignment(m, {}), sl.Assignment(m, {a: 6})
        for e, at_6 in ((a.start, 6), (a.end, 9), (a.size, 3), (a.presence, 1), (sl.overlap(a, 0, 8), 2)):
            assert m.value(e, absent) == 0
            assert m.value(e, present) == at_6

    def test_comparisons_see_the_zero(self, m):
        a = m.interval("a", size=3, start=(5, 9), optional=True)
        m.add(a.start <= 4, "early")
        assert amounts(m, {}) == {}
        assert amounts(m, {a: 5}) == {"early": 1}

    def test_precedences_hold(self, m):
        a, b = m.interval("a", size=3, optional=True), m.interval("b", size=3)
        m.add(sl.end_before_start(b, a, delay=50), "after")
        assert amounts(m, {b: 90}) == {}
        assert amounts(m, {b: 90, a: 93}) == {"after": 50}


@pytest.mark.parametrize(
    ("kind", "distance"),
    [
        (sl.end_before_start, 13 - 20),
        (sl.start_before_start, 10 - 20),
        (sl.end_before_end, 13 - 25),
        (sl.start_before_end, 10 - 25),
    ],
)
@pytest.mark.parametrize("delay", [-3, 0, 4, 12])
def test_precedences_with_delay(m, kind, distance, delay):
    a, b = m.interval("a", size=3), m.interval("b", size=5)
    m.add(kind(a, b, delay), "p")
    late = distance + delay
    assert amounts(m, {a: 10, b: 20}) == ({"p": late} if late > 0 else {})


class TestAlternative:
    @pytest.fixture
    def job(self, m):
        job = m.interval("job", size=(1, 9), optional=True)
        nodes = [m.interval(f"n{k}", size=(1, 9), optional=True) for k in range(3)]
        m.add(sl.alternative(job, nodes, count=2), "nodes")
        return job, nodes

    def test_exactly_count_of_them_coincide(self, m, job):
        a, (n0, n1, n2) = job
        assert amounts(m, {a: (3, 5), n0: (3, 5), n2: (3, 5)}) == {}
        assert amounts(m, {a: (3, 5), n0: (3, 5)}) == {"nodes": 1}
        assert amounts(m, {a: (3, 5), n0: (3, 5), n1: (3, 5), n2: (3, 5)}) == {"nodes": 1}
        assert amounts(m, {a: (3, 5), n0: (3, 5), n2: (3, 9)}) == {"nodes": 4}

    def test_absent_means_all_absent(self, m, job):
        a, (n0, n1, _) = job
        assert amounts(m, {}) == {}
        assert amounts(m, {n0: (3, 5), n1: (3, 5)}) == {"nodes": 2}
        assert amounts(m, {a: (3, 5)}) == {"nodes": 2}

    def test_more_than_there_are_options(self, m):
        a, o = m.interval("a", size=1), m.interval("o", size=1, optional=True)
        m.add(sl.alternative(a, [o], count=2), "two of one")
        assert amounts(m, {a: 0, o: 0}) == {"two of one": 1}


class TestSynchronize:
    def test_only_present_ones(self, m):
        a = m.interval("a", size=(1, 9), optional=True)
        b, c = (m.interval(n, size=(1, 9), optional=True) for n in "bc")
        m.add(sl.synchronize(a, [b, c]), "together")
        assert amounts(m, {a: (3, 6), b: (3, 6)}) == {}
        assert amounts(m, {a: (3, 6), b: (3, 6), c: (4, 6)}) == {"together": 1}
        assert amounts(m, {a: (3, 6), c: (3, 9)}) == {"together": 3}
        assert amounts(m, {b: (3, 6), c: (7, 9)}) == {}


class TestNoOverlap:
    def test_touching_is_no_overlap(self, m):
        a, b = m.interval("a", size=3), m.interval("b", size=4)
        m.add(sl.no_overlap([a, b]), "node")
        assert amounts(m, {a: 0, b: 3}) == {}
        assert amounts(m, {a: 0, b: 1}) == {"node": 2}
        assert amounts(m, {a: 2, b: 2}) == {"node": 3}

    def test_hidden_under_a_long_one(self, m):
        a, b, c = (m.interval(n, size=s) for n, s in (("a", 10), ("b", 0), ("c", 1)))
        m.add(sl.no_overlap([a, b, c]), "node")
        assert amounts(m, {a: 0, b: 4, c: 9}) == {"node": 1}

    def test_zero_size_and_absent_take_no_part(self, m):
        a, b = m.interval("a", size=10), m.interval("b", size=(0, 2))
        c = m.interval("c", size=5, optional=True)
        m.add(sl.no_overlap([a, b, c]), "node")
        assert amounts(m, {a: 0, b: (5, 5)}) == {}
        assert amounts(m, {a: 0, b: (5, 6)}) == {"node": 5}


class TestCumulative:
    def test_amount_is_the_worst_excess(self, m):
        jobs = [m.interval(f"j{k}", size=4) for k in range(3)]
        m.add(sl.cumulative(jobs, [2, 3, 4], 5), "cores")
        a, b, c = jobs
        assert amounts(m, {a: 0, b: 0, c: 4}) == {}
        assert amounts(m, {a: 0, b: 3, c: 3}) == {"cores": 4}

    def test_capacity_of_each_instant(self, m):
        a = m.interval("a", size=4)
        m.add(sl.cumulative([a], [3], [(0, 3), (10, 1), (12, 3)]), "power")
        assert amounts(m, {a: 6}) == {}
        assert amounts(m, {a: 7}) == {"power": 2}
        assert amounts(m, {a: 11}) == {"power": 2}
        assert amounts(m, {a: 12}) == {}

    def test_the_first_step_also_holds_before_it(self):
        m = sl.Model("m")
        a = m.interval("a", size=2, start=(-9, 9))
        m.add(sl.cumulative([a], [3], [(0, 2), (5, 3)]), "power")
        assert amounts(m, {a: -9}) == {"power": 1}
        assert amounts(m, {a: 5}) == {}

    def test_variable_demand_counts_only_where_it_runs(self, m):
        a = m.interval("a", size=(0, 4), optional=True)
        x = m.integer("x", 0, 9)
        m.add(sl.cumulative([a], [x], 3), "units")
        assert amounts(m, {a: (0, 4), x: 3}) == {}
        assert amounts(m, {a: (0, 4), x: 9}) == {"units": 6}
        assert amounts(m, {a: (2, 2), x: 9}) == {}
        assert amounts(m, {x: 9}) == {}

    def test_a_demand_without_a_value_is_infeasible_even_where_nothing_runs(self, m):
        a, x = m.interval("a", size=4, optional=True), m.integer("x", 0, 9)
        m.add(sl.cumulative([a], [sl.element([1, 2], x)], 3), "units")
        assert amounts(m, {x: 1}) == {}
        assert amounts(m, {x: 2}) == {"units": 1}

    def test_nothing_runs_within_capacity_zero(self, m):
        a, b = m.interval("a", size=4), m.interval("b", size=0)
        m.add(sl.cumulative([a, b], [0, 5], 0), "closed")
        assert amounts(m, {a: 0, b: 2}) == {}


class TestComparisons:
    def test_amounts(self, m):
        x = m.integer("x", 0, 9)
        m.add(2 * x <= 8, "at most")
        m.add(x >= 2, "at least")
        m.add(x == 4, "exactly")
        assert amounts(m, {x: 4}) == {}
        assert amounts(m, {x: 7}) == {"at most": 6, "exactly": 3}
        assert amounts(m, {x: 0}) == {"at least": 2, "exactly": 4}

    def test_whole_numbers_are_exact(self, m):
        x = m.integer("x", 0, 10**15)
        m.add(x <= 10**15 - 1, "all but one")
        assert amounts(m, {x: 10**15}) == {"all but one": 1}

    def test_real_numbers_are_equal_within_a_millionth(self, m):
        x = m.integer("x", 0, 9)
        m.add(0.1 * x <= 0.3, "share")
        assert amounts(m, {x: 3}) == {}  # 0.1 * 3 is 0.30000000000000004
        assert amounts(m, {x: 4})["share"] == pytest.approx(0.1)

    def test_a_bound_that_is_real_by_arithmetic(self, m):
        x = m.integer("x", 0, 9)
        m.add(x + 0.1 <= 0.1 + 0.7 + 0.2 + 1.1, "rounded")
        assert amounts(m, {x: 2}) == {}
        assert amounts(m, {x: 3})["rounded"] == pytest.approx(1)

    def test_implications(self, m):
        a, b = (m.interval(n, size=1, optional=True) for n in "ab")
        m.add(sl.implies(a.presence, b.start >= 4), "then")
        assert amounts(m, {}) == {}
        assert amounts(m, {a: 0}) == {"then": 1}
        assert amounts(m, {a: 0, b: 3}) == {"then": 1}
        assert amounts(m, {a: 0, b: 4}) == {}


class TestFunctions:
    def test_element_outside_is_infeasible_wherever_it_stands(self, m):
        x = m.integer("x", -2, 5)
        m.add(sl.holds(sl.element([3, 4], x) >= 9) <= 1, "trivial")
        m.minimize([x, sl.max([0, sl.element([3, 4, 5], x)])])
        assert amounts(m, {x: 1}) == {}
        assert amounts(m, {x: 2}) == {"trivial": 1}
        assert amounts(m, {x: -1}) == {"trivial": 1, "objective 2": 1}

    def test_piecewise_is_exact_between_its_points(self, m):
        x = m.integer("x", 0, 20)
        e = sl.piecewise(x, [(1, 0), (4, 1), (10, 1)])
        at = {k: m.value(e, sl.Assignment(m, {x: k})) for k in (1, 4, 7, 10)}
        assert at == {1: 0, 4: 1, 7: 1, 10: 1}
        assert m.value(3 * e, sl.Assignment(m, {x: 2})) == 1
        assert m.value(e, sl.Assignment(m, {x: 2})) == float(Fraction(1, 3))
        for outside in (0, 11):
            with pytest.raises(UndefinedValue, match="the points cover only 1 to 10"):
                m.value(e, sl.Assignment(m, {x: outside}))

    def test_piecewise_of_a_real_number_has_the_tolerance_of_real_numbers(self, m):
        x = m.integer("x", 0, 9)
        e = sl.piecewise(0.1 * x, [(0, 0), (0.3, 6)])
        assert m.value(e, sl.Assignment(m, {x: 3})) == 6
        with pytest.raises(UndefinedValue):
            m.value(e, sl.Assignment(m, {x: 4}))

    def test_a_deep_expression_does_not_recurse(self, m):
        x = m.integer("x", 0, 3)
        e = x + 0
        for _ in range(5000):
            e = sl.max([e + 1, 0])
        assert m.value(e, sl.Assignment(m, {x: 2})) == 5002

    def test_large_sums_are_exact(self, m):
        xs = [m.integer(f"x{k}", 0, 10**12) for k in range(1000)]
        s = sl.Assignment(m, dict.fromkeys(xs, 10**12 - 1))
        assert m.value(sl.sum(xs), s) == 1000 * (10**12 - 1)


jobs = st.lists(st.tuples(st.integers(-4, 8), st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=6)
profile = st.dictionaries(st.integers(-5, 9), st.integers(0, 5), min_size=1, max_size=4)


def declared(drawn):
    """Make a model with the drawn intervals (start, size, demand, present), and their assignment."""
    m = sl.Model("drawn")
    intervals = [m.interval(f"j{k}", size=z, start=s, optional=True) for k, (s, z, _, _) in enumerate(drawn)]
    s = sl.Assignment(m, {v: d[0] for v, d in zip(intervals, drawn, strict=True) if d[3]})
    return m, intervals, s


def running(drawn, t):
    return [d for d in drawn if d[3] and d[0] <= t < d[0] + d[1]]


@given(jobs, profile)
@settings(max_examples=100, deadline=None)
def test_cumulative_is_what_a_count_of_every_second_says(drawn, steps):
    m, intervals, s = declared(drawn)
    steps = sorted(steps.items())
    m.add(sl.cumulative(intervals, [d[2] for d in drawn], steps), "cores")

    def capacity(t):
        return max((at, c) for at, c in steps if at <= max(t, steps[0][0]))[1]

    excess = [sum(d[2] for d in running(drawn, t)) - capacity(t) for t in range(-6, 16) if running(drawn, t)]
    assert [v.amount for v in m.check(s)] == [e for e in [max(excess, default=0)] if e > 0]


@given(jobs)
@settings(max_examples=100, deadline=None)
def test_no_overlap_is_what_a_count_of_every_second_says(drawn):
    m, intervals, s = declared(drawn)
    m.add(sl.no_overlap(intervals))
    assert bool(m.check(s)) == any(len(running(drawn, t)) > 1 for t in range(-6, 16))
