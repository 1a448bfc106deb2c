"""Sequences: intervals one after another, with types; their order in constraints, in objectives and in assignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import named
from ..words import how_many, with_short_repr
from .constraints import DirectTransitions, NoIdle, NoOverlap, Order, OrderKind, SameSequence
from .expressions import Interval, Linear, ModelError, Neighbours, distinct_intervals, listed, told, whole

if TYPE_CHECKING:
    from .constraints import Assignment

Matrix = tuple[tuple[int, ...], ...]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class IntervalSequence:
    """Intervals that run one after another, and their types; made by ``sequence``.

    The order of a sequence is that of the starts of its present intervals. Each constraint on it also requires that these do
    not overlap, and an expression of it has no value, which is infeasible, if they do; a sequence of which nothing is said
    requires nothing. So all intervals have sizes of at least 1: points at the same time would have no order.

    Parameters
    ----------
    intervals : tuple of n Interval
        The intervals.
    types : tuple of n int
        Their types, >= 0.
    """

    intervals: tuple[Interval, ...]
    types: tuple[int, ...]

    @named
    def no_overlap(
        self, transitions: Sequence[Sequence[int]] | None = None, direct: bool = True
    ) -> NoOverlap | DirectTransitions:
        """Require that no two of the intervals overlap, and optionally transition times between their types.

        Parameters
        ----------
        transitions : sequence of k sequences of k int, optional
            ``transitions[s][t]`` >= 0 is the least time in seconds from the end of an interval of type s to the start of the
            next one if it has type t. k is above the greatest type.
        direct : bool, default True
            The times hold between direct neighbours alone. False: between any two, also with others between them, which
            differs only if a detour over a third interval were faster (``no_overlap``).

        Returns
        -------
        NoOverlap or DirectTransitions
            The constraint, for ``Model.add``.

        Raises
        ------
        ModelError
            If the matrix has another shape, or an entry that is no whole number >= 0.

        Examples
        --------
        >>> from schedlab import Model, sequence
        >>> m = Model("m"); jobs = [m.interval(n, size=3) for n in "abc"]
        >>> m.add(sequence(jobs, types=[0, 1, 0]).no_overlap([[0, 4], [2, 0]]), "the painter cleans")
        """
        if transitions is None:
            return NoOverlap(self.intervals)
        times = self._matrix(transitions, "the transition times", least=0)
        if direct:
            return DirectTransitions(self.intervals, self.types, times)
        between = tuple(tuple(times[s][t] for t in self.types) for s in self.types)
        return NoOverlap(self.intervals, between)

    @named
    def first(self, interval: Interval) -> Order:
        """Require that an interval is the first one of the sequence, if it is present.

        Parameters
        ----------
        interval : Interval
            An interval of the sequence.

        Returns
        -------
        Order
            The constraint, for ``Model.add``.

        Raises
        ------
        ModelError
            If it is none of the sequence.

        Examples
        --------
        >>> from schedlab import Model, sequence
        >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
        >>> m.add(sequence([a, b]).first(b))
        """
        return order("first", self.intervals, interval)

    @named
    def last(self, interval: Interval) -> Order:
        """Require that an interval is the last one of the sequence, if it is present.

        Parameters
        ----------
        interval : Interval
            An interval of the sequence.

        Returns
        -------
        Order
            The constraint, for ``Model.add``.
        """
        return order("last", self.intervals, interval)

    @named
    def before(self, interval: Interval, other: Interval) -> Order:
        """Require that an interval is before another one, with any number between them, if both are present.

        Parameters
        ----------
        interval, other : Interval
            Two intervals of the sequence.

        Returns
        -------
        Order
            The constraint, for ``Model.add``.
        """
        return order("before", self.intervals, interval, other)

    @named
    def previous(self, interval: Interval, other: Interval) -> Order:
        """Require that an interval is directly before another one, if both are present.

        Parameters
        ----------
        interval, other : Interval
            Two intervals of the sequence.

        Returns
        -------
        Order
            The constraint, for ``Model.add``.

        Examples
        --------
        >>> from schedlab import Model, sequence
        >>> m = Model("m"); jobs = [m.interval(n, size=3) for n in "abc"]
        >>> m.add(sequence(jobs).previous(jobs[2], jobs[0]))
        """
        return order("previous", self.intervals, interval, other)

    def no_idle(self) -> NoIdle:
        """Require that each present interval but the first starts when another one ends.

        Returns
        -------
        NoIdle
            The constraint, for ``Model.add``.
        """
        return NoIdle(self.intervals)

    @named
    def cost(
        self,
        costs: Sequence[Sequence[int]],
        first: Sequence[int] | None = None,
        last: Sequence[int] | None = None,
    ) -> Linear:
        """Return the sum of the costs of the transitions between direct neighbours.

        Parameters
        ----------
        costs : sequence of k sequences of k int
            ``costs[s][t]`` is the cost if an interval of type t directly follows one of type s. k is above the greatest type.
        first, last : sequence of k int, optional
            The cost of the first and of the last interval, by its type. None: 0.

        Returns
        -------
        Linear
            The sum; 0 if no interval is present.

        Raises
        ------
        ModelError
            If the matrix or a list has another shape, or an entry that is no whole number.

        Examples
        --------
        >>> from schedlab import Model, Assignment, sequence
        >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
        >>> setup = sequence([a, b], types=[0, 1]).cost([[0, 7], [5, 0]], first=[1, 2])
        >>> m.value(setup, Assignment(m, {a: 0, b: 3})), m.value(setup, Assignment(m, {a: 4, b: 0}))
        (8, 7)
        """
        matrix = self._matrix(costs, "the costs")
        return neighbours(
            self.intervals,
            self.types,
            matrix,
            self._row(first, len(matrix), "the costs of the first interval"),
            self._row(last, len(matrix), "the costs of the last interval"),
        )

    @named
    def type_of_next(self, interval: Interval, last: int, absent: int = 0) -> Linear:
        """Return the type of the interval that directly follows another one.

        Parameters
        ----------
        interval : Interval
            An interval of the sequence.
        last : int
            The value if it is the last one.
        absent : int, default 0
            The value if it is absent.

        Returns
        -------
        Linear
            The type, or ``last`` or ``absent``.

        Examples
        --------
        >>> from schedlab import Model, Assignment, sequence
        >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
        >>> m.value(sequence([a, b], types=[4, 2]).type_of_next(a, last=-1), Assignment(m, {a: 0, b: 3}))
        2
        """
        own, types, k = self._apart(interval, "type_of_next()")
        costs = [[0] * k for _ in range(k)]
        costs[own] = list(range(k))
        ends = [0] * k
        ends[own] = whole(last, "type_of_next(): the value of the last interval")
        away = whole(absent, "type_of_next(): the value of an absent interval")
        made = neighbours(self.intervals, types, tuple(map(tuple, costs)), (0,) * k, tuple(ends))
        return made + away * (1 - interval.presence)

    @named
    def type_of_previous(self, interval: Interval, first: int, absent: int = 0) -> Linear:
        """Return the type of the interval that is directly before another one.

        Parameters
        ----------
        interval : Interval
            An interval of the sequence.
        first : int
            The value if it is the first one.
        absent : int, default 0
            The value if it is absent.

        Returns
        -------
        Linear
            The type, or ``first`` or ``absent``.
        """
        own, types, k = self._apart(interval, "type_of_previous()")
        costs = [[0] * k for _ in range(k)]
        for kind in range(k):
            costs[kind][own] = kind
        begins = [0] * k
        begins[own] = whole(first, "type_of_previous(): the value of the first interval")
        away = whole(absent, "type_of_previous(): the value of an absent interval")
        made = neighbours(self.intervals, types, tuple(map(tuple, costs)), tuple(begins), (0,) * k)
        return made + away * (1 - interval.presence)

    def _apart(self, interval: Interval, where: str) -> tuple[int, tuple[int, ...], int]:
        """Return a type that one interval has alone, all types, and the number of types."""
        _member(self.intervals, interval, where)
        own = max(self.types) + 1
        types = tuple(own if v is interval else t for v, t in zip(self.intervals, self.types, strict=True))
        return own, types, own + 1

    def _matrix(self, given: Any, what: str, least: int | None = None) -> Matrix:
        made = matrix(given, what, least)
        needed = max(self.types, default=-1) + 1
        if len(made) < needed:
            raise ModelError(f"{what}: {how_many(needed, 'type')}, but {how_many(len(made), 'row')}")
        return made

    def _row(self, given: Any, size: int, what: str) -> tuple[int, ...]:
        if given is None:
            return (0,) * size
        row = tuple(whole(x, what) for x in listed(given, what, True))
        if len(row) != size:
            raise ModelError(f"{what}: expected {how_many(size, 'number')}, one a type, not {len(row)}")
        return row


@named
def sequence(intervals: Iterable[Interval], types: Sequence[int] | None = None) -> IntervalSequence:
    """Return a sequence of intervals, to say something of their order.

    Parameters
    ----------
    intervals : iterable of Interval
        n intervals of one model, with sizes of at least 1. Absent ones are ignored.
    types : sequence of n int, optional
        A type >= 0 of each interval, such as the product or the colour, for transition times and costs. None: the
        interval at position k has type k.

    Returns
    -------
    IntervalSequence
        The sequence; its methods make constraints and expressions.

    Raises
    ------
    ModelError
        If an interval can have size 0, or the types are no n whole numbers >= 0.

    Examples
    --------
    >>> from schedlab import Model, sequence
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> machine = sequence([a, b], types=[0, 1])
    >>> m.add(machine.no_overlap([[0, 2], [5, 0]])); m.add(machine.first(b))
    >>> m.minimize(machine.cost([[0, 7], [9, 0]]))
    """
    several = _sequence(listed(intervals, "sequence(): the intervals", types is not None), "sequence()")
    if types is None:
        return IntervalSequence(several, tuple(range(len(several))))
    given = listed(types, "sequence(): the types", True)
    for v, t in zip(several, given, strict=False):
        if isinstance(t, str):
            raise ModelError(
                f"sequence(): the type of {v} is {t!r}; expected a whole number >= 0, the row of the type in a matrix of times or "
                "costs; kinds.index(name) is that of a name in a list kinds"
            )
    kinds = tuple(whole(t, "sequence(): a type") for t in given)
    if len(kinds) != len(several):
        raise ModelError(f"sequence(): {how_many(len(several), 'interval')} but {how_many(len(kinds), 'type')}")
    for v, t in zip(several, kinds, strict=True):
        if t < 0:
            raise ModelError(f"sequence(): the type of {v} is {t}; it must be >= 0")
    return IntervalSequence(several, kinds)


@named
def same_sequence(one: IntervalSequence, other: IntervalSequence) -> SameSequence:
    """Require that the intervals of two sequences are present and ordered alike, as in a permutation flow shop.

    Parameters
    ----------
    one, other : IntervalSequence
        Two sequences of n intervals. The interval at position k of one belongs to that at position k of the other.

    Returns
    -------
    SameSequence
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If the numbers of intervals or the models differ.

    Examples
    --------
    >>> from schedlab import Model, sequence, same_sequence
    >>> m = Model("m"); machines = [[m.interval(f"job {j} on {k}", size=3) for j in range(4)] for k in range(2)]
    >>> m.add(same_sequence(sequence(machines[0]), sequence(machines[1])))
    """
    for given in (one, other):
        if not isinstance(given, IntervalSequence):
            raise ModelError(f"same_sequence({told(given)}): expected what sequence() returns")
    return same(one.intervals, other.intervals)


# --- The constraints and the function by their parts, as JSON has them.


def order(kind: OrderKind, intervals: Iterable[Interval], one: Interval, other: Interval | None = None) -> Order:
    """Return a constraint on the place of one or two intervals in a sequence."""
    where = f"{kind}()"
    several = _sequence(intervals, where)
    _member(several, one, where)
    if kind in ("first", "last"):
        if other is not None:
            raise ModelError(f"{where}: expected one interval, not {one} and {other}")
        return Order(several, one, kind)
    _member(several, other, where)
    if one is other:
        raise ModelError(f"{where}: {one} is given twice")
    return Order(several, one, kind, other)


def transitions(intervals: Iterable[Interval], types: Sequence[int], times: Sequence[Sequence[int]]) -> Any:
    """Return transition times between direct neighbours."""
    return sequence(intervals, types).no_overlap(times)


def idle(intervals: Iterable[Interval]) -> NoIdle:
    """Return the constraint that a sequence is without idle time."""
    return NoIdle(_sequence(intervals, "no_idle()"))


def same(intervals: Iterable[Interval], others: Iterable[Interval]) -> SameSequence:
    """Return the constraint that two sequences are the same."""
    left, right = _sequence(intervals, "same_sequence()"), _sequence(others, "same_sequence()")
    if len(left) != len(right):
        raise ModelError(f"same_sequence(): {how_many(len(left), 'interval')} in one, but {len(right)} in the other")
    distinct_intervals(list({id(v): v for v in (*left, *right)}.values()), "same_sequence()")
    return SameSequence(left, right)


def neighbours(
    intervals: Iterable[Interval],
    types: Sequence[int],
    costs: Sequence[Sequence[int]],
    first: Sequence[int],
    last: Sequence[int],
) -> Linear:
    """Return the sum over the direct neighbours of a sequence (``Neighbours``)."""
    made = sequence(intervals, types)
    if not made.intervals:
        return Linear({}, 0)
    rows = made._matrix(costs, "the costs")
    ends = [
        made._row(row, len(rows), f"the costs of the {what} interval")
        for row, what in ((first, "first"), (last, "last"))
    ]
    return Linear({Neighbours(made.intervals, made.types, rows, ends[0], ends[1]): 1})


def matrix(given: Any, what: str, least: int | None = None) -> Matrix:
    """Return a square matrix of whole numbers, none below ``least``."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    rows = [listed(row, f"a row of {what}", True) for row in listed(given, what, True)]
    made = tuple(tuple(whole(x, what) for x in row) for row in rows)
    for k, row in enumerate(made):
        if len(row) != len(made):
            raise ModelError(f"{what}: row {k} must have {how_many(len(made), 'entry')}, not {len(row)}")
        for m, x in zip(count(), row, strict=False):
            if least is not None and x < least:
                raise ModelError(f"{what}: the entry from {k} to {m} is {x}; it must be >= {least}")
    return made


def _sequence(intervals: Iterable[Interval], where: str) -> tuple[Interval, ...]:
    several = distinct_intervals(intervals, where)
    for v in several:
        if v.size_lo < 1:
            raise ModelError(f"{where}: {v} can have size 0; the intervals of a sequence must last at least 1 s")
    return several


def _member(intervals: Sequence[Interval], one: Any, where: str) -> None:
    if not isinstance(one, Interval):
        raise ModelError(f"{where}: expected an interval, not {told(one)}")
    if not any(v is one for v in intervals):
        raise ModelError(f"{where}: {one} is none of the intervals of the sequence")


# --- The order of the intervals of a sequence in an assignment, and what violates a constraint on it.


Found = tuple[float, str] | None
"""The amount and the text of a violation."""


def order_of(intervals: Sequence[Interval], s: Assignment) -> list[int] | None:
    """Return the positions of the present intervals in the order of their starts; None if two of them overlap.

    Examples
    --------
    >>> from schedlab import Model, Assignment
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> order_of([a, b], Assignment(m, {a: 4, b: 0})), order_of([a, b], Assignment(m, {a: 3, b: 0}))
    ([1, 0], None)
    """
    order = by_start(intervals, s)
    ends = [s.end[intervals[k].index] for k in order]
    starts = [s.start[intervals[k].index] for k in order]
    if any(end > start for end, start in zip(ends, starts[1:], strict=False)):
        return None
    return order


def by_start(intervals: Sequence[Interval], s: Assignment) -> list[int]:
    """Return the positions of the present intervals in the order of their starts."""
    present = [k for k, v in enumerate(intervals) if s.present[v.index]]
    return sorted(present, key=lambda k: (s.start[intervals[k].index], s.end[intervals[k].index]))


def order_violation(c: Order | DirectTransitions | NoIdle | SameSequence, s: Assignment) -> Found:
    """Return (amount, text) if a constraint on the order of a sequence is violated; None if it holds."""
    several = (c.intervals, c.others) if isinstance(c, SameSequence) else (c.intervals,)
    for intervals in several:
        overlapping = _overlapping(intervals, s)
        if overlapping is not None:
            return overlapping
    order = [c.intervals[k] for k in by_start(c.intervals, s)]
    match c:
        case Order():
            return _place(c, order)
        case DirectTransitions():
            return _transition(c, s)
        case NoIdle():
            return _idle(order, s)
        case SameSequence():
            return _other_order(c, s)


def _overlapping(intervals: Sequence[Interval], s: Assignment) -> Found:
    for k, m in pairwise(by_start(intervals, s)):
        v, w = intervals[k], intervals[m]
        end, start = s.end[v.index], s.start[w.index]
        if start < end:
            return end - start, f"{w} starts at {start} while {v} runs until {end}"
    return None


def _place(c: Order, order: list[Interval]) -> Found:
    one, other = c.one, c.other
    if one not in order or (other is not None and other not in order):
        return None
    k = order.index(one)
    if c.kind == "first":
        if k:
            return (k, f"{order[0]} is before {one}")
        return None
    if c.kind == "last":
        if k < len(order) - 1:
            return (len(order) - 1 - k, f"{order[-1]} is after {one}")
        return None
    assert other is not None
    between = order.index(other) - k
    if between < 0:
        return -between, f"{other} is before {one}"
    if c.kind == "previous" and between > 1:
        return between - 1, f"{order[k + 1]} is between {one} and {other}"
    return None


def _transition(c: DirectTransitions, s: Assignment) -> Found:
    worst: Found = None
    for i, j in pairwise(by_start(c.intervals, s)):
        v, w = c.intervals[i], c.intervals[j]
        end, start = s.end[v.index], s.start[w.index]
        amount = end + c.transition(i, j) - start
        if amount > (worst[0] if worst else 0):
            worst = amount, f"{w} starts at {start}, {v} ends at {end}, the transition takes {c.transition(i, j)}"
    return worst


def _idle(order: list[Interval], s: Assignment) -> Found:
    gaps = [(s.start[w.index] - s.end[v.index], s.end[v.index], s.start[w.index]) for v, w in pairwise(order)]
    idle = sum(gap for gap, _, _ in gaps)
    if not idle:
        return None
    _, end, start = max(gaps)
    return idle, f"nothing runs from {end} to {start}"


def _other_order(c: SameSequence, s: Assignment) -> Found:
    alone = [
        (v, w) if s.present[v.index] else (w, v)
        for v, w in zip(c.intervals, c.others, strict=True)
        if s.present[v.index] != s.present[w.index]
    ]
    if alone:
        here, there = alone[0]
        return len(alone), f"{here} is present, but {there} is absent"
    left, right = by_start(c.intervals, s), by_start(c.others, s)
    differing = [(k, m) for k, m in zip(left, right, strict=True) if k != m]
    if not differing:
        return None
    k, m = differing[0]
    return len(differing), f"{c.intervals[k]} comes where {c.others[m]} does"
