"""Calendars: intensities in percent, so that the work of an interval differs from its length, and domains with holes."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..arguments import named
from ..words import how_many, with_short_repr
from .constraints import Copier, Stated, Values
from .expressions import (
    Attribute,
    Expression,
    Interval,
    Linear,
    ModelError,
    Number,
    Window,
    common_model,
    linear,
    listed,
    pair,
    told,
    whole,
)

FULL = 100  # percent
Opening = tuple[int | None, int | None]
"""A window of values, both ends included; None: no end."""


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Intensity(Stated):
    """The work that an interval does at a changing intensity lies between bounds, if the interval is present.

    For the intensity I(t) in percent in the second from t to t + 1, the work of an interval with the start s and the end e
    is ``floor(sum_{s <= t < e} I(t) / 100)``. So the interval is longer than its work where the intensity is below 100.
    (The size of an interval of CP Optimizer with an intensity and the granularity 100; what is the size here, the end minus
    the start, is its length there.)

    Parameters
    ----------
    interval : Interval
        The interval.
    work : (int, int)
        The least and the greatest work in seconds at full intensity.
    steps : tuple of (int, int)
        Pairs (time in seconds, percent) with increasing times. Each intensity holds from its time on; the first one also
        holds before its time.
    """

    interval: Interval
    work: tuple[int, int]
    steps: tuple[tuple[int, int], ...]

    @property
    def members(self) -> tuple[Interval, ...]:
        """The interval."""
        return (self.interval,)

    def pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield (from, to, percent) of the intensity from one time to another.

        Examples
        --------
        >>> from schedlab import Model
        >>> a = Model("m").interval("a", size=3)
        >>> list(Intensity(a, (1, 1), ((0, 100), (8, 0), (10, 50))).pieces(-2, 20))
        [(-2, 8, 100), (8, 10, 0), (10, 20, 50)]
        """
        ends = [*(time for time, _ in self.steps[1:]), None]
        for k, (time, percent) in enumerate(self.steps):
            upper = ends[k]
            if k == 0:
                first = begin
            else:
                first = max(begin, time)
            if upper is None:
                last = end
            else:
                last = min(end, upper)
            if first < last:
                yield first, last, percent

    def done(self, start: int, end: int) -> int:
        """Return the work from one time to another, in percent of seconds.

        Examples
        --------
        >>> from schedlab import Model
        >>> a = Model("m").interval("a", size=3)
        >>> Intensity(a, (1, 1), ((0, 100), (8, 0), (10, 50))).done(6, 13)
        350
        """
        return sum((b - a) * percent for a, b, percent in self.pieces(start, end))

    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return by how much the work is outside of its bounds."""
        s, i = ev.assignment, self.interval.index
        if not s.present[i]:
            return None
        work = self.done(s.start[i], s.end[i]) // FULL
        low, high = self.work
        amount = max(low - work, work - high, 0)
        if low == high:
            wanted = str(low)
        else:
            wanted = f"{low} to {high}"
        if amount:
            return (amount, f"{self.interval} does {work} of its work of {wanted}")
        return None

    def copied(self, copy: Copier) -> Intensity:
        """Return the constraint on the interval of a copy."""
        steps = tuple((time - copy.shift, percent) for time, percent in self.steps)
        return Intensity(copy.intervals[self.interval], self.work, steps)

    def data(self) -> Iterator[int]:
        """Yield the times, and the work in percent."""
        yield from (abs(time) for time, _ in self.steps)
        yield FULL * self.work[1]

    def described(self) -> str:
        """Return a name for it."""
        return f"intensity of {self.interval} in {how_many(len(self.steps), 'step')}"


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class InDomain(Stated):
    """The value of an expression lies in one of several windows, if an interval is present.

    Parameters
    ----------
    expression : Linear
        A whole number.
    windows : tuple of (int or None, int or None)
        Disjoint windows in increasing order, both ends included, with values between them; None: no end. Without any, the
        constraint cannot hold.
    interval : Interval or None
        The interval that must be present. None: the constraint holds always.
    """

    expression: Linear
    windows: tuple[Opening, ...]
    interval: Interval | None = None

    @property
    def members(self) -> tuple[Interval, ...]:
        """The interval, if there is one."""
        if self.interval is None:
            return ()
        return (self.interval,)

    @property
    def numbers(self) -> tuple[Linear, ...]:
        """The expression."""
        return (self.expression,)

    @property
    def edges(self) -> tuple[int, ...]:
        """The ends of the windows."""
        return tuple(x for window in self.windows for x in window if x is not None)

    @property
    def sides(self) -> tuple[tuple[float, float], ...]:
        """The windows as numbers: -inf and inf where they have no end."""
        lows = (-math.inf if a is None else a for a, _ in self.windows)
        highs = (math.inf if b is None else b for _, b in self.windows)
        return tuple(zip(lows, highs, strict=True))

    def within(self, low: int, high: int) -> tuple[Window, ...]:
        """Return the windows cut to the values from one to another.

        Examples
        --------
        >>> from schedlab import Model
        >>> x = Model("m").integer("x", 0, 9)
        >>> InDomain(x.linear(), ((None, 2), (5, 6), (8, None))).within(0, 9)
        ((0, 2), (5, 6), (8, 9))
        """
        cut = ((max(a, low), min(b, high)) for a, b in self.sides)
        return tuple((int(a), int(b)) for a, b in cut if a <= b)

    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return how far the value is from the nearest window."""
        value = ev.value(self.expression)
        if self.interval is not None and not ev.assignment.present[self.interval.index]:
            return None
        gaps = [max(a - value, value - b, 0) for a, b in self.sides]
        amount = min(gaps, default=1)
        if amount:
            return (float(amount), f"{self.expression} is {value}, in none of the windows")
        return None

    def copied(self, copy: Copier) -> InDomain:
        """Return the constraint on the variables of a copy."""
        made = copy.linear(self.expression)
        by = int(made.constant)
        lows = [None if a is None else a - by for a, _ in self.windows]
        highs = [None if b is None else b - by for _, b in self.windows]
        windows = tuple(zip(lows, highs, strict=True))
        interval = None
        if self.interval is not None:
            interval = copy.intervals[self.interval]
        return InDomain(Linear(made.terms), windows, interval)

    def data(self) -> Iterator[int]:
        """Yield the ends of the windows."""
        yield from map(abs, self.edges)

    def described(self) -> str:
        """Return a name for it."""
        if self.own_end is None:
            return f"{self.expression} in {how_many(len(self.windows), 'window')}"
        return f"{self.own_end} of {self.interval} in {how_many(len(self.windows), 'window')}"

    @property
    def own_end(self) -> str | None:
        """``"start"``, ``"end"`` or ``"size"`` if the expression is that of the interval; else None."""
        if self.interval is None or self.expression.constant or list(self.expression.terms.values()) != [1]:
            return None
        atom = next(iter(self.expression.terms))
        own = isinstance(atom, Attribute) and atom.interval is self.interval and atom.field != "presence"
        return atom.field if own else None  # type: ignore[attr-defined]


@named
def intensity(interval: Interval, work: int | tuple[int, int], steps: int | Sequence[tuple[int, int]]) -> Intensity:
    """Require that an interval does a given work at an intensity that changes over time, if it is present.

    An interval runs longer than its work where the intensity is below 100, and is suspended where it is 0: its size, the
    end minus the start, and its work differ. The size that the interval is declared with must leave room for that.

    Parameters
    ----------
    interval : Interval
        The interval.
    work : int or (int, int)
        The work in seconds at full intensity, >= 0: a number, or the least and the greatest one.
    steps : int or sequence of (int, int)
        The intensity in percent, 0 to 100; or steps [(time in seconds, percent), ...] with increasing times. Each
        intensity holds from its time on; the first one also holds before its time. ``breaks`` makes them.

    Returns
    -------
    Intensity
        The constraint, for ``Model.add``. Its docstring defines the work.

    Raises
    ------
    ModelError
        If an intensity is outside of 0 to 100, the times do not increase, or the work is no number >= 0.

    Examples
    --------
    >>> from schedlab import Model, intensity, solve
    >>> m = Model("m", horizon=20); a = m.interval("a", size=(5, 20))
    >>> m.add(intensity(a, 5, [(0, 100), (3, 0), (7, 50)]))  # suspended from 3 to 7, then half as fast
    >>> m.minimize(a.end); solve(m, backend="cpsat").objective
    11
    """
    if not isinstance(interval, Interval):
        raise ModelError(f"intensity({told(interval)}, ...): the first argument must be an interval")
    where = f"intensity({interval})"
    if isinstance(work, (tuple, list, np.ndarray)):
        ends = pair(work, f"{where}: the work")
    else:
        ends = (work, work)
    low, high = (whole(w, f"{where}: the work") for w in ends)
    if not 0 <= low <= high:
        raise ModelError(f"{where}: the work must be 0 <= least <= greatest, not {(low, high)}")
    return Intensity(interval, (low, high), percents(steps, where))


def percents(steps: Any, where: str) -> tuple[tuple[int, int], ...]:
    """Return checked steps of an intensity, without those that change nothing.

    Examples
    --------
    >>> percents([(0, 100), (5, 100), (8, 0)], "here"), percents(50, "here")
    (((0, 100), (8, 0)), ((0, 50),))
    """
    if (
        isinstance(steps, Expression)
        or not isinstance(steps, (Sequence, np.ndarray))
        or isinstance(steps, (str, bytes))
    ):
        steps = [(0, steps)]
    made: list[tuple[int, int]] = []
    last = None
    for time, percent in (pair(s, f"{where}: a step of the intensity") for s in steps):
        t = whole(time, f"{where}: the time of a step")
        p = whole(percent, f"{where}: an intensity")
        if not 0 <= p <= FULL:
            raise ModelError(f"{where}: the intensity from {t} on is {p}; expected 0 to 100 percent")
        if last is not None and t <= last:
            raise ModelError(f"{where}: the times of the intensity must increase, but {t} follows {last}")
        last = t
        if not made or made[-1][1] != p:
            made.append((t, p))
    if not made:
        raise ModelError(f"{where}: the list of steps is empty")
    return tuple(made)


@named
def breaks(windows: Window | Iterable[Window], percent: int = 0) -> list[tuple[int, int]]:
    """Return the steps of an intensity that is 100 but within some windows.

    Parameters
    ----------
    windows : (int, int) or iterable of (int, int)
        Windows [lo, hi) in seconds with lo < hi, in any order; they may overlap.
    percent : int, default 0
        The intensity within them; 0: intervals are suspended.

    Returns
    -------
    list of (int, int)
        Pairs (time in seconds, percent), for ``intensity``.

    Raises
    ------
    ModelError
        If a window is no pair of whole numbers, or is empty.

    Examples
    --------
    >>> breaks([(12, 13), (18, 24)])
    [(11, 100), (12, 0), (13, 100), (18, 0), (24, 100)]
    """
    rest = whole(percent, "breaks(): the percent")
    joined = disjoint(windows, "breaks()")
    if not joined:
        return [(0, FULL)]
    return [(joined[0][0] - 1, FULL), *(s for lo, hi in joined for s in ((lo, rest), (hi, FULL)))]


def disjoint(windows: Any, where: str) -> tuple[Window, ...]:
    """Return windows [lo, hi) in increasing order with time between them; those that overlap or touch are joined."""
    one = isinstance(windows, tuple) and len(windows) == 2 and not isinstance(windows[0], (tuple, list, np.ndarray))
    one = one or (isinstance(windows, np.ndarray) and windows.shape == (2,))
    if one:
        given = [windows]
    else:
        given = listed(windows, f"the windows of {where}")
    what = f"a window of {where}"
    joined: list[Window] = []
    for lo, hi in sorted((whole(a, what), whole(b, what)) for a, b in (pair(w, what) for w in given)):
        if lo >= hi:
            raise ModelError(f"{where}: the window ({lo}, {hi}) is empty; lo < hi is needed")
        if joined and lo <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(hi, joined[-1][1]))
        else:
            joined.append((lo, hi))
    return tuple(joined)


@named
def forbid_start(interval: Interval, windows: Window | Iterable[Window]) -> InDomain:
    """Require that an interval does not start within one of the windows, if it is present.

    Parameters
    ----------
    interval : Interval
        The interval.
    windows : (int, int) or iterable of (int, int)
        Windows [lo, hi) in seconds with lo < hi: the start is none of lo, ..., hi - 1.

    Returns
    -------
    InDomain
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If a window is no pair of whole numbers, or is empty.

    Examples
    --------
    >>> from schedlab import Model, forbid_start
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> m.add(forbid_start(a, [(12, 13)]))  # 13 is allowed
    """
    own = _interval(interval, "forbid_start")
    return InDomain(own.start.linear(), _between(disjoint(windows, f"forbid_start({own})"), 0), own)


@named
def forbid_end(interval: Interval, windows: Window | Iterable[Window]) -> InDomain:
    """Require that an interval does not end within one of the windows or at its end, if it is present.

    Parameters
    ----------
    interval : Interval
        The interval.
    windows : (int, int) or iterable of (int, int)
        Windows [lo, hi) in seconds with lo < hi: the end is none of lo + 1, ..., hi. So the last second in which the
        interval runs is in no window, as for ``forbid_end`` of CP Optimizer.

    Returns
    -------
    InDomain
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If a window is no pair of whole numbers, or is empty.

    Examples
    --------
    >>> from schedlab import Model, forbid_end
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> m.add(forbid_end(a, [(12, 13)]))  # 12 is allowed, 13 is not
    """
    own = _interval(interval, "forbid_end")
    return InDomain(own.end.linear(), _between(disjoint(windows, f"forbid_end({own})"), 1), own)


@named
def in_domain(
    expression: Expression | Number,
    windows: Iterable[int | tuple[int | None, int | None]],
    interval: Interval | None = None,
) -> InDomain:
    """Require that the value of an expression lies in one of several windows: a domain with holes.

    Parameters
    ----------
    expression : Expression
        A whole number, such as an integer variable, or the start, end or size of an interval.
    windows : iterable of int or (int or None, int or None)
        Values, and windows (lo, hi) of them, both ends included, in any order; None: no end.
    interval : Interval, optional
        The constraint holds only if this interval is present. None: always; then the start, end and size of an absent
        interval count as 0.

    Returns
    -------
    InDomain
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If the expression need not be a whole number, or a window ends before it begins.

    Examples
    --------
    >>> from schedlab import Model, in_domain
    >>> m = Model("m"); a = m.interval("a", size=3, optional=True); cores = m.integer("cores", 1, 64)
    >>> m.add(in_domain(cores, [1, 2, 4, (8, 64)]))
    >>> m.add(in_domain(a.end, [(0, 12), (20, 24)], interval=a))
    """
    e = linear(expression)
    where = f"in_domain({e})"
    if not e.integral:
        raise ModelError(f"{where}: the expression must be a whole number")
    owner = common_model(e.terms, where)
    if interval is not None:
        _interval(interval, "in_domain")
        if owner is not None and owner is not interval.model:
            raise ModelError(f"{where}: {interval} belongs to model {interval.model.name!r}")
    return InDomain(e, openings(windows, where), interval)


def openings(windows: Any, where: str) -> tuple[Opening, ...]:
    """Return checked windows of values in increasing order with values between them; adjacent ones are joined.

    Examples
    --------
    >>> openings([9, (None, 3), (4, 5), (12, None)], "here")
    ((None, 5), (9, 9), (12, None))
    """
    what = f"{where}: a window"
    given: list[tuple[float, float]] = []
    for w in listed(windows, f"the windows of {where}"):
        if isinstance(w, (tuple, list, np.ndarray)):
            ends = pair(w, what)
        else:
            ends = (w, w)
        a, b = (None if x is None else whole(x, what) for x in ends)
        if a is None:
            low = -np.inf
        else:
            low = a
        if b is None:
            high = np.inf
        else:
            high = b
        if low > high:
            raise ModelError(f"{where}: the window ({a}, {b}) ends before it begins")
        given.append((low, high))
    joined: list[tuple[float, float]] = []
    for low, high in sorted(given):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple((_finite(low), _finite(high)) for low, high in joined)


def _finite(bound: float) -> int | None:
    """Return a bound as a whole number; None if it is infinite."""
    if bound in (-math.inf, math.inf):
        return None
    return int(bound)


def _between(windows: tuple[Window, ...], later: int) -> tuple[Opening, ...]:
    """Return the values outside of windows [lo, hi), which are ``later`` later."""
    first: list[int | None] = [None, *(hi + later for _, hi in windows)]
    last: list[int | None] = [*(lo - 1 + later for lo, _ in windows), None]
    return tuple(zip(first, last, strict=True))


def _interval(interval: object, function: str) -> Interval:
    if not isinstance(interval, Interval):
        raise ModelError(f"{function}({told(interval)}, ...): the first argument must be an interval")
    return interval


def lengths(work: tuple[int, int], steps: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
    """Return the least and the greatest length of an interval with this work, whenever it starts; None if there is no greatest.

    The greatest one is that of an interval that starts or ends at a step.

    Examples
    --------
    >>> lengths((4, 4), ((0, 100), (8, 0), (10, 50))), lengths((4, 4), ((0, 100), (8, 0)))
    ((4, 11), None)
    """
    low, high = work
    best = max(percent for _, percent in steps)
    if best == 0 or steps[0][1] == 0 or steps[-1][1] == 0:
        return None
    most = FULL * high + FULL - 1  # percent of seconds
    times = [time for time, _ in steps]
    done = [0]  # up to each step
    for (a, percent), (b, _) in pairwise(steps):
        done.append(done[-1] + percent * (b - a))
    longest = most // steps[0][1]
    for time, before in zip(times, done, strict=True):
        k = bisect_right(done, before + most) - 1
        longest = max(longest, times[k] + (before + most - done[k]) // steps[k][1] - time)
        k = bisect_left(done, before - most)
        longest = max(longest, time - times[k] + (done[k] - before + most) // steps[max(0, k - 1)][1])
    return -(-FULL * low // best), longest
