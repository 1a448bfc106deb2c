"""Declarations: wrong ones and their messages, the form of expressions, and assignments."""

import math
from fractions import Fraction

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import strategies as st
from schedlab.models.language import Bounds, IntervalValue, atoms_below


@pytest.fixture
def m():
    return sl.Model("night shift")


def refused(*words):
    """Expect a ModelError whose message contains all the words."""
    return pytest.raises(sl.ModelError, match="".join(f"(?=.*{w})" for w in words))


class TestIntervals:
    @pytest.mark.parametrize("size", [-1, (-2, 3), (4, 3), 2.5, "3", (1, 2, 3), math.inf, (1,)])
    def test_a_bad_size_is_refused_with_the_name(self, m, size):
        with refused("backup"):
            m.interval("backup", size=size)
        assert not m.intervals

    @pytest.mark.parametrize("start", [(5, 4), [(0, 3), (9, 8)], [], [3, 5], (1,), [(1, 2, 3)], "ab", 2.5])
    def test_a_bad_window_is_refused_with_the_name(self, m, start):
        with refused("backup"):
            m.interval("backup", size=1, start=start)

    def test_windows_are_sorted_and_joined(self, m):
        v = m.interval("v", size=1, start=[(9, 12), (0, 3), (4, 5), (11, 14)])
        assert v.windows == ((0, 5), (9, 14))

    def test_one_time_is_a_fixed_start(self, m):
        assert m.interval("v", size=1, start=7).windows == ((7, 7),)
        assert m.interval("w", size=1, start=(2, 7)).windows == ((2, 7),)

    def test_numpy_numbers_are_numbers(self, m):
        v = m.interval("v", size=np.int64(3), start=(np.int32(0), np.int64(5)))
        assert (v.size_lo, v.size_hi, v.windows) == (3, 3, ((0, 5),))
        assert str(np.int64(2) * v.start <= np.int64(6)) == "2*v.start <= 6"

    def test_default_horizon_is_the_last_window_plus_largest_sizes(self, m):
        a = m.interval("a", size=3)
        m.interval("b", size=(2, 5), start=[(10, 11), (90, 99)])
        assert m.horizon == 90 + 3 + 5
        assert a.windows == ((0, 98),)
        m.interval("c", size=4, optional=True)
        assert a.start_hi == 102  # the horizon follows what is declared later

    def test_a_stated_horizon_stays(self):
        m = sl.Model("m", horizon=6)
        a = m.interval("a", size=50)
        assert a.windows == ((0, 6),)
        with refused("m", "horizon"):
            sl.Model("m", horizon=-1)


class TestIntegers:
    def test_bounds(self, m):
        assert (m.boolean("b").lo, m.boolean("b").hi) == (0, 1)
        with refused("units", "4", "3"):
            m.integer("units", 4, 3)
        with refused("units"):
            m.integer("units", 0.5, 3)


class TestExpressions:
    def test_terms_are_collected(self, m):
        x, a = m.integer("x", 0, 9), m.interval("a", size=2)
        e = 3 * x - 2 * (a.end - x) + 4 - x
        assert {str(t): c for t, c in e.terms.items()} == {"x": 4, "a.end": -2}
        assert e.constant == 4

    def test_terms_that_cancel_are_gone(self, m):
        x = m.integer("x", 0, 9)
        assert not (x - x).terms
        assert not (0 * x).terms
        assert not sl.sum([x, x], [2, -2]).terms

    def test_sum_of_many_is_one_array(self, m):
        xs = [m.integer(f"x{i}", 0, 1) for i in range(3000)]
        e = sl.sum(xs, weights=range(3000))
        assert len(e.terms) == 2999
        assert e.terms[xs[7]] == 7
        with refused("3000 terms", "2 weights"):
            sl.sum(xs, [1, 2])

    def test_long_expressions_are_shown_short(self, m):
        xs = [m.integer(f"x{i}", 0, 1) for i in range(50)]
        assert str(sl.sum(xs) + 4) == "x0 + x1 + x2 + x3 + x4 + x5 + x6 + ... 43 more + 4"
        nested = sl.sum(sl.max([sl.sum(xs), sl.max(xs), k]) for k in range(9))
        m.add(nested <= 3)
        assert len(m.constraints[0].name) <= 200

    def test_max_of_one_is_itself_and_of_numbers_a_number(self, m):
        x = m.integer("x", 0, 9)
        assert str(sl.max(x)) == "x"
        assert sl.max(2, 5).constant == 5
        assert sl.min([2.5, 5]).constant == 2.5
        assert sl.positive_part(-3).constant == 0
        with refused("max", "at least one expression"):
            sl.max([])

    def test_truth_of_numbers_is_a_number(self, m):
        x = m.integer("x", 0, 9)
        assert sl.holds(x - x <= 3).constant == 1
        assert sl.holds(x - x >= 3).constant == 0

    @pytest.mark.parametrize(
        "mistake",
        [
            lambda x: (0.5 * x) * x,
            lambda x: x / x,
            lambda x: x // 0,
            lambda x: x // (x - 1),
            lambda x: x % (0.5 * x),
            lambda x: ~x,
            lambda x: x & (x >= 3),
            lambda x: ~sl.no_overlap([]),
            lambda x: sl.all_of([x >= 3, 2]),
            lambda x: sl.element([0.5 * x, x], x),
            lambda x: sl.all_different([0.5 * x, x]),
            lambda x: sl.table([x], [(1, 2)]),
            lambda x: sl.table([], []),
            lambda x: x / 0,
            lambda x: x * math.nan,
            lambda x: x + "1",
            lambda x: x <= "1",
            lambda x: x <= math.inf,
            lambda x: 0.5 * x != 3,
            lambda x: 1 <= x <= 3,
            lambda x: x + 0.5 < 3,
            lambda x: sl.holds(x),
            lambda x: sl.holds(0.5 * x <= 3),
            lambda x: sl.holds(x <= 2.5),
            lambda x: sl.element([], x),
            lambda x: sl.element([1, 2], 0.5 * x),
            lambda x: sl.element([1, "2"], x),
            lambda x: sl.piecewise(x, [(0, 0)]),
            lambda x: sl.piecewise(x, [(0, 0), (0, 3)]),
            lambda x: sl.piecewise(x, [0, 1]),
            lambda x: sl.overlap(x, 0, 3),
            lambda x: sl.implies(x, x >= 3),
        ],
    )
    def test_mistakes_are_refused(self, m, mistake):
        with pytest.raises(sl.ModelError):
            mistake(m.integer("x", 0, 9))

    def test_an_overlap_with_a_window_backwards(self, m):
        with refused("overlap", "lunch"):
            sl.overlap(m.interval("lunch", size=3), 5, 4)

    def test_comparison_is_not_a_truth_value(self, m):
        x = m.integer("x", 0, 9)
        with refused("x >= 3"):
            bool(x >= 3)

    def test_strict_comparisons_are_of_whole_numbers(self, m):
        x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
        assert str(x < y) == "x + -1*y <= -1"
        assert str(x > 3) == "x >= 4"


class TestConstraints:
    def test_demands_of_the_wrong_number(self, m):
        a, b = m.interval("a", size=1), m.interval("b", size=1)
        with refused("a, b", "2 intervals", "1 demand"):
            sl.cumulative([a, b], [1], 3)

    @pytest.mark.parametrize("demand", [-1, 0.5, "2", None])
    def test_bad_demands_are_refused_with_the_interval(self, m, demand):
        with refused("backup"):
            sl.cumulative([m.interval("backup", size=1)], [demand], 3)

    def test_a_demand_that_can_be_negative(self, m):
        a, x = m.interval("backup", size=1), m.integer("units", -1, 3)
        with refused("backup", "units", "-1"):
            sl.cumulative([a], [x], 3)
        assert sl.cumulative([a], [x + 1], 3).demands[0].constant == 1
        assert sl.cumulative([a], [sl.positive_part(x)], 3).demands

    @pytest.mark.parametrize("capacity", [-1, [], [(0, 2), (0, 3)], [(5, 2), (3, 3)], [3], [(0, -2)], 1.5])
    def test_bad_capacities(self, m, capacity):
        with refused("capacit"):
            sl.cumulative([m.interval("a", size=1)], [1], capacity)

    def test_capacity_of_an_instant(self, m):
        c = sl.cumulative([], [], [(0, 4), (10, 2)])
        assert [c.capacity_at(t) for t in (-5, 0, 9, 10, 99)] == [4, 4, 4, 2, 2]

    def test_options_are_optional_and_different(self, m):
        a, b = m.interval("a", size=1), m.interval("b", size=1, optional=True)
        with refused("job a", "must be declared optional"):
            sl.alternative(b, [m.interval("job a", size=1)])
        with refused("b", "twice"):
            sl.alternative(a, [b, b])
        with refused("count", "0"):
            sl.alternative(a, [b], count=0)
        with refused("at least"):
            sl.alternative(a, [])

    def test_the_same_interval_twice(self, m):
        a = m.interval("a", size=1)
        for declare in (
            lambda: sl.no_overlap([a, a]),
            lambda: sl.end_before_start(a, a),
            lambda: sl.synchronize(a, [a]),
            lambda: sl.cumulative([a, a], [1, 1], 2),
        ):
            with refused("a is listed twice"):
                declare()

    def test_what_is_not_an_interval(self, m):
        x = m.integer("x", 0, 3)
        with refused("x is not an interval"):
            sl.no_overlap([x])
        with refused("delay"):
            sl.end_before_start(m.interval("a", size=1), m.interval("b", size=1), delay=0.5)

    def test_what_is_not_a_constraint(self, m):
        for wrong in (True, None, m.integer("x", 0, 3), "a <= b"):
            with refused("night shift", "not a constraint"):
                m.add(wrong)

    def test_constraints_are_described_unless_named(self, m):
        a, b = m.interval("a", size=1), m.interval("b", size=1)
        m.add(sl.end_before_start(a, b, delay=2))
        m.add(sl.no_overlap([a, b]), "the only node")
        assert [c.name for c in m.constraints] == ["end_before_start a -> b (+2)", "the only node"]


class TestOtherModels:
    """A variable of another model is refused in every construct, and the message names both models."""

    @pytest.fixture
    def other(self):
        return sl.Model("day shift")

    def test_in_a_constraint(self, m, other):
        a, b = m.interval("a", size=1), other.interval("b", size=1)
        for declare in (
            lambda: sl.no_overlap([a, b]),
            lambda: sl.end_before_start(a, b),
            lambda: sl.cumulative([a, b], [1, 1], 2),
            lambda: sl.cumulative([a], [b.size], 2),
            lambda: sl.max([a.end, b.end]),
            lambda: m.add(a.end <= b.start),
            lambda: m.add(b.start >= 3),
            lambda: m.add(sl.no_overlap([b])),
            lambda: m.minimize(b.end),
            lambda: m.minimize([a.end, b.end]),
        ):
            with pytest.raises(sl.ModelError, match=r"day shift|another model"):
                declare()
        assert not m.constraints and not m.objectives

    def test_in_an_assignment(self, m, other):
        a, b = m.interval("a", size=1), other.interval("b", size=1)
        with refused("b", "night shift"):
            sl.Assignment(m, {a: 0, b: 0})
        s = sl.Assignment(m, {a: 0})
        with refused("day shift"):
            m.value(b.end, s)
        with refused("night shift", "day shift"):
            other.check(s)
        with refused("b", "night shift"):
            s[b]


class TestObjectives:
    def test_one_or_a_list(self, m):
        a = m.interval("a", size=1)
        m.minimize(a.end)
        assert m.sense == "minimize" and len(m.objectives) == 1
        m.maximize([a.start, 2 * a.end], replace=True)
        assert m.sense == "maximize" and len(m.objectives) == 2

    def test_a_second_objective_is_refused(self, m):
        """The last one won in silence."""
        a, b = m.interval("a", size=1), m.integer("b", 0, 4)
        m.minimize(a.end)
        for again in (lambda: m.maximize(b), lambda: m.minimize(b), lambda: m.minimize([a.end, b])):
            with refused(r"would replace minimize\(a.end\); for objectives in order give one list"):
                again()
        assert m.sense == "minimize" and len(m.objectives) == 1

    def test_operators_that_do_not_exist_say_what_to_write(self, m):
        a, x, y = m.interval("a", size=1), m.integer("x", 0, 4), m.integer("y", 0, 4)
        c = x <= 3
        calls = {
            "piecewise": [lambda: x**2, lambda: 2**x, lambda: x**y, lambda: 3 / x],
            r"x // d for the quotient": [lambda: divmod(x, 2)],
            "not a truth value": [lambda: x | y, lambda: x & 1, lambda: ~x],
            "0-1 expressions": [
                lambda: x ^ y,
                lambda: x << 1,
                lambda: bool(x),
            ],
            "after the solve": [
                lambda: int(x),
                lambda: float(x),
                lambda: round(x),
                lambda: range(x),
                lambda: complex(x),
            ],
            r"holds\(c\)": [lambda: c ^ c, lambda: c + c, lambda: 2 * c],
            r"\.start, \.end": [lambda: a + 1, lambda: 1 + a, lambda: a < a, lambda: a >= 3, lambda: -a, lambda: a * 2],
            r"\.presence": [lambda: a | a, lambda: ~a],
            "not True or False": [lambda: x and y, lambda: not x, lambda: c or c, lambda: 0 <= x <= 3],
        }
        for message, each in calls.items():
            for call in each:
                with refused(message):
                    call()

    def test_variables_of_an_assignment(self, m):
        a, x = m.interval("a", size=1, optional=True), m.integer("x", 0, 4)
        found = sl.Assignment(m)
        assert a in found and x in found
        assert sl.Model("other").integer("x", 0, 4) not in found and "x" not in found and 0 not in found

    @pytest.mark.parametrize("wrong", [[], None, "end"])
    def test_no_objective_at_all(self, m, wrong):
        with pytest.raises(sl.ModelError):
            m.minimize(wrong)

    def test_a_comparison_is_none(self, m):
        with refused("a.start >= 3"):
            m.minimize(m.interval("a", size=1).start >= 3)


class TestAssignments:
    def test_ways_to_give_a_value(self, m):
        a, b = m.interval("a", size=3), m.interval("b", size=(1, 4))
        c, x = m.interval("c", size=2, optional=True), m.integer("x", 0, 5)
        s = sl.Assignment(m, {a: 4, b: (2, 5), x: 2})
        assert s[a] == IntervalValue(True, 4, 7)
        assert s[b] == (True, 2, 5)
        assert s[c] == (False, None, None)
        assert s[x] == 2
        again = sl.Assignment(m, {v: s[v] for v in (a, b, c, x)})
        assert (again.start, again.end, again.present, again.integer) == (s.start, s.end, s.present, s.integer)

    def test_what_is_missing_or_wrong(self, m):
        a, b, x = m.interval("a", size=3), m.interval("b", size=(1, 4)), m.integer("x", 0, 5)
        for values, word in (
            ({b: (0, 2), x: 1}, "a"),
            ({a: 0, x: 1, b: 3}, "b"),
            ({a: 0, b: (0, 2)}, "x"),
            ({a: 0.5, b: (0, 2), x: 1}, "a"),
            ({a: 0, b: (0, 2), x: "1"}, "x"),
            ({a: (0,), b: (0, 2), x: 1}, "a"),
        ):
            with refused(f"{word}"):
                sl.Assignment(m, values)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=6),
    st.lists(st.integers(-9, 9), min_size=6, max_size=6),
    st.integers(-9, 9),
)
def test_linear_expressions_are_linear(values, factors, constant):
    m = sl.Model("m")
    xs = [m.integer(f"x{k}", -50, 50) for k in range(len(values))]
    s = sl.Assignment(m, dict(zip(xs, values, strict=True)))
    weights = factors[: len(xs)]
    expected = sum(w * v for w, v in zip(weights, values, strict=True)) + constant
    chained = constant
    for w, x in zip(weights, xs, strict=True):
        chained = chained + w * x
    assert m.value(sl.sum(xs, weights) + constant, s) == expected == m.value(chained, s)
    assert m.value(-(sl.sum(xs, weights) + constant), s) == -expected


@given(st.integers(-4, 9), st.integers(-4, 9), st.integers(0, 3))
def test_functions_have_their_meaning_and_stay_within_bounds(x_value, y_value, size):
    m = sl.Model("m")
    x, y = m.integer("x", -4, 9), m.integer("y", -4, 9)
    v = m.interval("v", size=(0, 3), start=(-4, 9))
    s = sl.Assignment(m, {x: x_value, y: y_value, v: (x_value, x_value + size)})
    array = [k * k for k in range(14)]
    points = [(-4, 0), (2, 6), (9, -8)]
    line = 6 + Fraction(x_value - 2) * (1 if x_value < 2 else -2)
    for e, expected in (
        (sl.max([x, y, 2]), max(x_value, y_value, 2)),
        (sl.min([x, y + 1]), min(x_value, y_value + 1)),
        (sl.positive_part(x - y), max(0, x_value - y_value)),
        (sl.holds(x <= y), x_value <= y_value),
        (sl.holds(x == y), x_value == y_value),
        (sl.holds(x > y), x_value > y_value),
        (sl.element(array, x + 4), array[x_value + 4]),
        (sl.piecewise(x, points), line),
        (sl.overlap(v, 0, 5), sum(0 <= t < 5 for t in range(x_value, x_value + size))),
        (sl.max([sl.holds(x <= 0) * 5, sl.min([y, 3])]), max(5 * (x_value <= 0), min(y_value, 3))),
    ):
        assert m.value(e, s) == expected
        lo, hi = Bounds().of(e)
        assert lo <= expected <= hi


def test_atoms_come_innermost_first(m):
    x = m.integer("x", 0, 3)
    inner = sl.max([x, 2])
    outer = sl.min([inner + x, 3])
    assert [str(a) for a in atoms_below([outer, inner])] == ["x", "max(x, 2)", "min(max(x, 2) + x, 3)"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x <= 3, "the left side is 5; at most 3 is expected"),
        (lambda x: x + 1 >= 9, "the left side is 5; at least 8 is expected"),
        (lambda x: x == 4, "the left side is 5; 4 is expected"),
    ],
)
def test_a_violated_comparison_says_what_its_left_side_must_be(make, message):
    m = sl.Model("one")
    x = m.integer("x", 0, 9)
    m.add(make(x), "tight")
    (fault,) = m.check(sl.Assignment(m, {x: 5}))
    assert fault.message == f"tight: {message}"
