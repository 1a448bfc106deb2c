"""all_or_none, forbid_extent, maximum time lags and transition times: declarations, meaning, default horizon."""

import itertools
import re

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def m():
    return sl.Model("m", horizon=50)


def two(m, **options):
    return m.interval("a", size=3, **options), m.interval("b", size=4, **options)


class TestDeclarations:
    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            ([[0, 1]], "one row and one column for each interval: 2 rows, not 1"),
            ([[0, 1], [2]], "the row of b must have 2 entries, not 1"),
            ([[0, -1], [2, 0]], "the transition time from a to b is -1; it must be >= 0"),
            ([[0, 1], [2.5, 0]], "the transition time from b to a must be a whole number, not 2.5"),
            ([[0, "1"], [2, 0]], "the transition time from a to b must be a finite number, not '1'"),
            ([3, 4], "the row of a must have 2 entries, not 0"),
        ],
    )
    def test_a_wrong_matrix_is_named(self, m, matrix, message):
        with pytest.raises(sl.ModelError, match=re.escape(message)):
            sl.no_overlap(two(m), transitions=matrix)

    def test_a_matrix_of_numpy_is_accepted_and_zeros_require_nothing(self, m):
        a, b = two(m)
        assert sl.no_overlap([a, b], np.array([[0, 2], [1, 0]])).transitions == ((0, 2), (1, 0))
        zeros = sl.no_overlap([a, b], [[9, 0], [0, 9]])  # the diagonal is not used
        assert not zeros.timed

    @pytest.mark.parametrize(
        ("windows", "message"),
        [
            ([(3, 3)], "the window (3, 3) is empty"),
            ([(0, 2), (5, 4)], "the window (5, 4) is empty"),
            ([(0, 1, 2)], "a window of forbid_extent(a) must be a pair (a, b), not (0, 1, 2)"),
            ([(0, 1.5)], "a window of forbid_extent(a) must be a whole number, not 1.5"),
        ],
    )
    def test_a_wrong_window_is_named(self, m, windows, message):
        with pytest.raises(sl.ModelError, match=re.escape(message)):
            sl.forbid_extent(two(m)[0], windows)

    def test_windows_are_sorted_and_joined(self, m):
        a, _ = two(m)
        assert sl.forbid_extent(a, [(5, 7), (0, 2), (2, 4), (6, 9)]).windows == ((0, 4), (5, 9))
        assert sl.forbid_extent(a, (3, 4)).windows == ((3, 4),)
        assert sl.forbid_extent(a, []).windows == ()

    def test_a_maximum_lag_below_the_minimum_is_refused(self, m):
        with pytest.raises(sl.ModelError, match=re.escape("at_most is 4; it must be at least the delay, 5")):
            sl.end_before_start(*two(m), delay=5, at_most=4)
        with pytest.raises(sl.ModelError, match="at_most must be a whole number"):
            sl.start_before_start(*two(m), at_most=2.5)

    def test_all_or_none_takes_optional_intervals(self, m):
        a, b = two(m)
        with pytest.raises(sl.ModelError, match="a is always present; it must be declared optional=True"):
            sl.all_or_none([a, b])

    def test_names(self, m):
        a, b = two(m, optional=True)
        m.add(sl.no_overlap([a, b], [[0, 1], [0, 0]]))
        m.add(sl.forbid_extent(a, (3, 4)))
        m.add(sl.start_before_end(a, b, -2, at_most=3))
        m.add(sl.all_or_none([a, b]))
        assert [c.name for c in m.constraints] == [
            "no overlap of a, b with transitions",
            "forbid extent of a in 1 window",
            "start_before_end a -> b (-2 to +3)",
            "all or none of a, b",
        ]


KINDS = {
    sl.end_before_start: ("end", "start"),
    sl.start_before_start: ("start", "start"),
    sl.end_before_end: ("end", "end"),
    sl.start_before_end: ("start", "end"),
}
TIMES = st.tuples(st.integers(-4, 12), st.integers(0, 4))  # start, size


@given(st.sampled_from(list(KINDS)), TIMES, TIMES, st.integers(-9, 9), st.integers(0, 6))
def test_lags_and_their_parts_mean_differences(kind, first, second, delay, more):
    m = sl.Model("m", horizon=99)
    a, b = (m.interval(n, size=(0, 4), start=(-9, 20)) for n in "ab")
    c = kind(a, b, delay, at_most=delay + more)
    m.add(c)
    s = sl.Assignment(m, {v: (t, t + size) for v, (t, size) in zip((a, b), (first, second), strict=True)})
    left, right = ({"start": t, "end": t + size}[f] for (t, size), f in zip((first, second), KINDS[kind], strict=True))
    over = max(delay - (right - left), right - left - delay - more, 0)
    assert [v.amount for v in m.check(s)] == ([over] if over else [])
    m.constraints.clear()
    for part in c.parts:
        m.add(part)
    assert bool(m.check(s)) == bool(over)


@given(st.lists(st.one_of(st.none(), TIMES), min_size=2, max_size=4), st.data())
def test_transition_times_hold_between_all_pairs(values, data):
    n = len(values)
    matrix = data.draw(st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=n, max_size=n))
    m = sl.Model("m", horizon=99)
    jobs = [m.interval(f"j{k}", size=(0, 4), start=(-9, 20), optional=True) for k in range(n)]
    m.add(sl.no_overlap(jobs, transitions=matrix))
    s = sl.Assignment(m, {v: None if t is None else (t[0], sum(t)) for v, t in zip(jobs, values, strict=True)})
    runs = [(k, t[0], sum(t)) for k, t in enumerate(values) if t is not None]
    orders = itertools.permutations(runs)
    allowed = any(
        all(e + matrix[i][j] <= t for (i, _, e), (j, t, _) in itertools.combinations(order, 2)) for order in orders
    )
    assert (m.check(s) == []) == allowed


@given(TIMES, st.lists(st.tuples(st.integers(-6, 14), st.integers(1, 5)), max_size=4))
def test_a_forbidden_second_is_not_occupied(value, windows):
    m = sl.Model("m")
    a = m.interval("a", size=(0, 4), start=(-9, 20))
    m.add(sl.forbid_extent(a, [(lo, lo + length) for lo, length in windows]))
    seconds = {t for lo, length in windows for t in range(lo, lo + length)}
    start, size = value
    allowed = seconds.isdisjoint(range(start, start + size))
    assert (m.check(sl.Assignment(m, {a: (start, start + size)})) == []) == allowed


class TestDefaultHorizon:
    """Without a horizon, a model leaves room for lags, transition times and forbidden windows."""

    def test_minimum_lags(self):
        m = sl.Model("m")
        a, b = two(m)
        m.add(sl.end_before_start(a, b, delay=100))
        m.add(sl.start_before_start(b, a, delay=-200, at_most=-20))  # a starts at least 20 before b
        m.minimize(b.end)
        assert m.horizon == 7 + 100 + 20
        assert sl.solve(m, backend="cpsat").objective == 107

    def test_a_maximum_lag_adds_nothing(self):
        m = sl.Model("m")
        m.add(sl.end_before_start(*two(m), at_most=100))
        assert m.horizon == 7

    def test_transition_times(self):
        m = sl.Model("m")
        a, b = two(m)
        m.add(sl.no_overlap([a, b], [[500, 60], [80, 0]]))
        m.minimize(sl.max([a.end, b.end]))
        assert m.horizon == 7 + 60 + 80
        assert sl.solve(m, backend="cpsat").objective == 67

    def test_forbidden_windows(self):
        m = sl.Model("m")
        a, _ = two(m)
        m.add(sl.forbid_extent(a, (2, 90)))
        m.minimize(a.start + 0)
        assert m.horizon == 97
        assert sl.solve(m, backend="cpsat").objective == 90
