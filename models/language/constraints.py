"""The constraints of the modelling language, a model as data with them, and values for its variables.

Comparisons are expressions; ``functions`` has the functions that make constraints.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args, overload

import numpy as np

from ..words import hint, one_line, with_short_repr
from .expressions import (
    OPERATIONS,
    Comparison,
    Expression,
    Integer,
    Interval,
    Linear,
    ModelError,
    Number,
    Window,
    pair,
    whole,
)

PrecedenceKind = Literal["end_before_start", "start_before_start", "end_before_end", "start_before_end"]


@with_short_repr
class Violation(NamedTuple):
    """A constraint that does not hold.

    Parameters
    ----------
    constraint : str
        The name of the constraint, or of the job, task, node or resource.
    amount : float
        The amount of the violation, in the unit of the constraint.
    message : str
        A sentence with the names, the values and the time.
    """

    constraint: str
    amount: float
    message: str


class Constrained:
    """A scheduling constraint: it is added to a model, and is not True or False."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise ModelError(
            f"{type(self).__name__} is a constraint, not True or False; `and`, `or`, `not` and `if` cannot use it: "
            "add each constraint to the model"
        )

    def __and__(self, other: object) -> Comparison:
        return cast("Comparison", OPERATIONS["&"](self, other))

    __rand__ = __and__

    def __or__(self, other: object) -> Comparison:
        return cast("Comparison", OPERATIONS["|"](self, other))

    __ror__ = __or__

    def __invert__(self) -> Comparison:
        return cast("Comparison", OPERATIONS["~"](self))


class Values(Protocol):
    """The values of variables and expressions; ``semantics.Evaluator`` has them."""

    assignment: Any

    def value(self, expression: Any) -> Number:
        """Return the value of an expression."""


class Copier(Protocol):
    """A copy of a model that is being made."""

    @property
    def intervals(self) -> Mapping[Interval, Interval]:
        """The copy of each interval."""

    @property
    def shift(self) -> int:
        """Seconds by which the times of the copy are earlier."""

    def linear(self, e: Linear) -> Linear:
        """Return the copy of an expression."""


class Stated(Constrained, ABC):
    """A scheduling constraint that states its own meaning; each class of them is in a module of its group."""

    __slots__ = ()

    @property
    def members(self) -> tuple[Interval, ...]:
        """The intervals, without those that occur only in its expressions."""
        return ()

    @property
    def numbers(self) -> tuple[Linear, ...]:
        """The expressions."""
        return ()

    @abstractmethod
    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return by how much it is violated and how, or None if it holds."""

    @abstractmethod
    def copied(self, copy: Copier) -> Stated:
        """Return the constraint on the variables of a copy, whose times are ``copy.shift`` earlier."""

    def data(self) -> Iterator[int]:
        """Yield the absolute values of its whole numbers, without those of expressions."""
        yield from ()

    @abstractmethod
    def described(self) -> str:
        """Return a name for it, if it was added without one."""


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Alternative(Constrained):
    """If ``interval`` is present, exactly ``count`` options are present and have its start and end; else all are absent.

    Parameters
    ----------
    interval : Interval
        The interval that is realised by the options.
    options : tuple of Interval
        Optional intervals.
    count : int
        The number of options to choose, at least 1.
    """

    interval: Interval
    options: tuple[Interval, ...]
    count: int


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Cumulative(Constrained):
    """At every instant, the sum of the demands of the running intervals is at most the capacity of that instant.

    Parameters
    ----------
    intervals : tuple of Interval
        The intervals that need capacity while they run.
    demands : tuple of int or Linear
        The demand of each interval, >= 0: an integer or an integral linear expression.
    steps : tuple of (int, int)
        Pairs (time in seconds, capacity) with increasing times. Each capacity holds from its time on; the first one
        also holds before its time.
    """

    intervals: tuple[Interval, ...]
    demands: tuple[int | Linear, ...]
    steps: tuple[tuple[int, int], ...]

    def capacity_at(self, time: int) -> int:
        """Return the capacity at a time in seconds.

        Examples
        --------
        >>> Cumulative((), (), ((0, 4), (10, 2))).capacity_at(10)
        2
        """
        return self.steps[max(0, bisect_right(self.steps, time, key=lambda s: s[0]) - 1)][1]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class AllOrNone(Constrained):
    """All of the intervals are present, or none of them.

    Parameters
    ----------
    intervals : tuple of Interval
        Optional intervals.
    """

    intervals: tuple[Interval, ...]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class ForbidExtent(Constrained):
    """If ``interval`` is present and has a positive size, it overlaps none of the windows.

    Parameters
    ----------
    interval : Interval
        The interval.
    windows : tuple of (int, int)
        Disjoint windows [lo, hi) in seconds, in increasing order, with time between them.
    """

    interval: Interval
    windows: tuple[Window, ...]

    def within_reach(self) -> tuple[Window, ...]:
        """Return the windows that the interval can overlap, cut to the time from its first start to its last end.

        Examples
        --------
        >>> from schedlab import Model
        >>> a = Model("m").interval("a", size=3, start=(0, 9))
        >>> ForbidExtent(a, ((-5, 2), (10, 40), (50, 60))).within_reach()
        ((0, 2), (10, 12))
        """
        first = self.interval.start_lo
        last = self.interval.start_hi + self.interval.size_hi
        cut = ((max(lo, first), min(hi, last)) for lo, hi in self.windows)
        return tuple(w for w in cut if w[0] < w[1])

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """The capacity 0 within the windows and 1 elsewhere, as the steps of a ``Cumulative``."""
        if not self.windows:
            return ((0, 1),)
        return ((self.windows[0][0] - 1, 1), *(s for lo, hi in self.windows for s in ((lo, 0), (hi, 1))))


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class NoOverlap(Constrained):
    """No two present intervals of positive size run at the same time; with transition times, all present ones are a sequence.

    Without transition times, intervals of size 0 take no part. With them, each present interval has a place in one
    sequence, an interval of size 0 as a point in time: for each i before j in the sequence,
    ``end[i] + transitions[i][j] <= start[j]``. So a point lies within no other interval, and points at the same time
    need an order that their transition times allow.

    Parameters
    ----------
    intervals : tuple of Interval
        The n intervals.
    transitions : tuple of n tuples of n ints
        ``transitions[i][j]`` is the least time in seconds from the end of interval i to the start of interval j, if i
        is before j: for all such pairs, also if other intervals are between them. Empty: there are none.
    """

    intervals: tuple[Interval, ...]
    transitions: tuple[tuple[int, ...], ...] = ()

    @property
    def timed(self) -> bool:
        """Whether the transition times require anything: one of them is above 0, or an interval can be a point."""
        if not self.transitions:
            return False
        if any(v.size_lo == 0 for v in self.intervals):
            return True
        return any(any(row[:i]) or any(row[i + 1 :]) for i, row in enumerate(self.transitions))

    def transition(self, i: int, j: int) -> int:
        """Return the transition time from the interval at position i to the one at position j, in seconds."""
        if self.transitions:
            return self.transitions[i][j]
        return 0

    def capped(self) -> NoOverlap:
        """Return an equivalent constraint without times that exceed the whole time range of its intervals."""
        if not self.timed:
            return self
        most = (
            max(v.start_hi for v in self.intervals) - min(v.start_lo for v in self.intervals) + 1
        )  # forbids the order
        return NoOverlap(self.intervals, tuple(tuple(min(t, most) for t in row) for row in self.transitions))

    def separated(self, i: int, j: int) -> bool:
        """Return whether transition times require more of the intervals at positions i and j than not to overlap."""
        may_be_points = 0 in (self.intervals[i].size_lo, self.intervals[j].size_lo)
        return bool(self.transitions) and (may_be_points or self.transition(i, j) + self.transition(j, i) > 0)

    def sequence(self, spans: Sequence[tuple[int, int] | None]) -> list[int] | None:
        """Return the positions of the present intervals in their order, or None if points at the same time have no order.

        Parameters
        ----------
        spans : sequence of n pairs (int, int) or None
            Start and end of each interval; None if it is absent.

        Examples
        --------
        >>> from schedlab import Model, no_overlap
        >>> m = Model("m"); points = [m.interval(n, size=0) for n in "abc"]
        >>> no_overlap(points, [[0, 0, 5], [5, 0, 5], [0, 0, 0]]).sequence([(3, 3), (3, 3), (3, 3)])
        [2, 0, 1]
        """
        left = sorted((span, k) for k, span in enumerate(spans) if span is not None)
        order = []
        while left:
            tied = [k for span, k in left if span == left[0][0]]
            first = next((k for k in tied if all(not self.transition(k, j) for j in tied if j != k)), None)
            if first is None and left[0][0][0] == left[0][0][1]:
                return None
            if first is None:
                chosen = tied[0]
            else:
                chosen = first
            order.append(chosen)
            left = [(span, k) for span, k in left if k != chosen]
        return order

    def cyclic_points(self) -> tuple[tuple[int, ...], ...]:
        """Return sets of positions of possible points for which transition times at the same time can exclude each order.

        Interval i must be before j at the same time if ``transitions[i][j] == 0 < transitions[j][i]``. Sets with a cycle of
        such pairs are returned; they exist only if the matrix violates the triangle inequality.
        """
        points = []
        if self.transitions:
            points = [k for k, v in enumerate(self.intervals) if v.size_lo == 0]
        after = {i: [j for j in points if not self.transition(i, j) and self.transition(j, i)] for i in points}
        reached: dict[int, set[int]] = {}
        for i in points:
            seen = set[int]()
            stack = list(after[i])
            while stack:
                j = stack.pop()
                if j not in seen:
                    seen.add(j)
                    stack += after[j]
            reached[i] = seen
        cycles = {tuple(j for j in points if j in reached[i] and i in reached[j]) for i in points if i in reached[i]}
        return tuple(sorted(cycles))

    def part(self, positions: tuple[int, ...]) -> NoOverlap:
        """Return the constraint on the intervals at some positions alone."""
        if self.transitions:
            times = tuple(tuple(self.transitions[i][j] for j in positions) for i in positions)
        else:
            times = ()
        return NoOverlap(tuple(self.intervals[i] for i in positions), times)


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Synchronize(Constrained):
    """If ``interval`` is present, every present one of ``others`` has the same start and end.

    Parameters
    ----------
    interval : Interval
        The interval that the others follow.
    others : tuple of Interval
        The intervals that follow it.
    """

    interval: Interval
    others: tuple[Interval, ...]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Precedence(Constrained):
    """Time lags between the start or end of ``before`` and the start or end of ``after``, if both are present.

    The start or end of ``after`` minus that of ``before`` is at least ``delay`` and at most ``at_most``.

    Parameters
    ----------
    before, after : Interval
        The two intervals.
    delay : int
        The minimum time lag in seconds; it may be negative.
    kind : str
        ``"end_before_start"``, ``"start_before_start"``, ``"end_before_end"`` or ``"start_before_end"``.
    at_most : int or None
        The maximum time lag in seconds, at least ``delay``. None: no maximum.
    """

    before: Interval
    after: Interval
    delay: int
    kind: PrecedenceKind
    at_most: int | None = None

    @property
    def fields(self) -> tuple[Literal["start", "end"], Literal["start", "end"]]:
        """The attribute (``"start"`` or ``"end"``) of ``before`` and that of ``after`` which are compared."""
        return FIELDS[self.kind]

    @property
    def parts(self) -> tuple[Precedence, ...]:
        """The constraint as precedences without a maximum: a maximum lag d is the minimum lag -d of the reverse order.

        Examples
        --------
        >>> from schedlab import Model, end_before_start
        >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
        >>> [(p.kind, p.before, p.after, p.delay) for p in end_before_start(a, b, 2, at_most=5).parts]
        [('end_before_start', a, b, 2), ('start_before_end', b, a, -5)]
        """
        if self.at_most is None:
            return (self,)
        left, right = self.fields
        reverse = REVERSED[left, right]
        least = Precedence(self.before, self.after, self.delay, self.kind)
        return least, Precedence(self.after, self.before, -self.at_most, reverse)


FIELDS: dict[str, tuple[Literal["start", "end"], Literal["start", "end"]]] = {
    "end_before_start": ("end", "start"),
    "start_before_start": ("start", "start"),
    "end_before_end": ("end", "end"),
    "start_before_end": ("start", "end"),
}
"""The attributes of the two intervals that a kind of precedence compares."""
REVERSED: dict[tuple[str, str], PrecedenceKind] = {
    ("end", "start"): "start_before_end",
    ("start", "start"): "start_before_start",
    ("end", "end"): "end_before_end",
    ("start", "end"): "end_before_start",
}


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class AllDifferent(Constrained):
    """No two of the expressions have the same value.

    Parameters
    ----------
    expressions : tuple of Linear
        Whole numbers. The start, end and size of an absent interval count as 0, as in every expression.
    """

    expressions: tuple[Linear, ...]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Table(Constrained):
    """The values of the expressions, in their order, are one of the tuples.

    Parameters
    ----------
    expressions : tuple of n Linear
        Whole numbers. The start, end and size of an absent interval count as 0, as in every expression.
    tuples : tuple of tuples of n ints
        The allowed values, each tuple once.
    """

    expressions: tuple[Linear, ...]
    tuples: tuple[tuple[int, ...], ...]


Edge = Literal["at_start", "at_end", "pulse"]
Change = tuple[Edge, Interval, int | Linear]
"""How an interval changes a level: from its start on, from its end on, or while it runs; and by how much."""


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Level(Constrained):
    """A level that intervals change lies between bounds: at all times, in a window, or while an interval runs.

    The level at a time t is the sum of the amounts of ``steps`` whose time is at most t, and of the heights of the present
    intervals of ``changes``: of ``"at_start"`` if the start is at most t, of ``"at_end"`` if the end is at most t, of
    ``"pulse"`` if the interval runs at t, that is, start <= t < end. So it is 0 before the first change. At the instant of
    a change the change is made, as are all others of that instant: levels between them do not count. An absent interval
    changes nothing, and one of size 0 has no pulse. (Cumul functions of CP Optimizer, which are also required to be >= 0.)

    Parameters
    ----------
    changes : tuple of (str, Interval, int or Linear)
        The edge, the interval and the height of each change; a height is an integer or an integral linear expression.
    steps : tuple of (int, int)
        Pairs (time in seconds, amount).
    lo, hi : int or None
        The least and the greatest level; None: no bound.
    window : (int, int) or None
        The bounds hold from the first to before the second time, in seconds. None: at all times, that before the first
        change included.
    during : Interval or None
        The bounds hold at the times t with start <= t < end of this interval, if it is present. None: as ``window`` says.
    """

    changes: tuple[Change, ...]
    steps: tuple[tuple[int, int], ...]
    lo: int | None = None
    hi: int | None = None
    window: Window | None = None
    during: Interval | None = None


OrderKind = Literal["first", "last", "before", "previous"]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Order(Constrained):
    """The present intervals of a sequence do not overlap, and one or two of them have a place in their order.

    The order of a sequence is that of the starts. If ``one`` is present, it is the first interval (``"first"``) or the last
    one (``"last"``). If ``one`` and ``other`` are present, ``one`` is before ``other`` (``"before"``), also with others
    between them, or directly before it (``"previous"``). (``first``, ``last``, ``before``, ``previous`` of CP Optimizer.)

    Parameters
    ----------
    intervals : tuple of Interval
        The intervals of the sequence, with sizes of at least 1.
    one : Interval
        One of them.
    kind : str
        ``"first"``, ``"last"``, ``"before"`` or ``"previous"``.
    other : Interval or None
        Another one; None for ``"first"`` and ``"last"``.
    """

    intervals: tuple[Interval, ...]
    one: Interval
    kind: OrderKind
    other: Interval | None = None


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class DirectTransitions(Constrained):
    """The present intervals of a sequence do not overlap, and keep transition times between direct neighbours.

    If interval i is directly before interval j in the order of the starts,
    ``end[i] + times[types[i]][types[j]] <= start[j]``. (``noOverlap`` of CP Optimizer with ``isDirect``.)

    Parameters
    ----------
    intervals : tuple of n Interval
        The intervals of the sequence, with sizes of at least 1.
    types : tuple of n int
        The type of each interval, in [0, k).
    times : tuple of k tuples of k int
        The least time in seconds between intervals of two types, >= 0.
    """

    intervals: tuple[Interval, ...]
    types: tuple[int, ...]
    times: tuple[tuple[int, ...], ...]

    def transition(self, i: int, j: int) -> int:
        """Return the transition time from the interval at position i to the one at position j, in seconds."""
        return self.times[self.types[i]][self.types[j]]

    def of_all_pairs(self) -> NoOverlap | None:
        """Return the equivalent constraint on all pairs, also those with others between; None if there is none.

        There is one if no way over a third interval is shorter: ``t[a][c] <= t[a][b] + z[b] + t[b][c]`` for all types,
        where z[b] is the least size of the intervals of type b.

        Examples
        --------
        >>> from schedlab import Model, sequence
        >>> m = Model("m"); s = sequence([m.interval(n, size=2) for n in "abc"])
        >>> s.no_overlap([[0, 1, 4], [1, 0, 1], [4, 1, 0]]).of_all_pairs() is None
        False
        >>> s.no_overlap([[0, 1, 5], [1, 0, 1], [4, 1, 0]]).of_all_pairs() is None
        True
        """
        least: dict[int, int] = {}
        for kind, v in zip(self.types, self.intervals, strict=True):
            least[kind] = min(least.get(kind, v.size_lo), v.size_lo)
        t = self.times
        if any(t[a][c] > t[a][b] + size + t[b][c] for b, size in least.items() for a in least for c in least):
            return None
        return NoOverlap(self.intervals, tuple(tuple(t[a][b] for b in self.types) for a in self.types))


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class NoIdle(Constrained):
    """The present intervals of a sequence do not overlap, and each but the first starts at the end of another one.

    Parameters
    ----------
    intervals : tuple of Interval
        The intervals of the sequence, with sizes of at least 1.
    """

    intervals: tuple[Interval, ...]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class SameSequence(Constrained):
    """The intervals of two sequences do not overlap, and are present and ordered alike.

    ``intervals[k]`` is present if and only if ``others[k]`` is; and if ``intervals[i]`` is before ``intervals[j]``, then
    ``others[i]`` is before ``others[j]``. (``sameSequence`` of CP Optimizer.)

    Parameters
    ----------
    intervals, others : tuple of n Interval
        The intervals of the two sequences, with sizes of at least 1.
    """

    intervals: tuple[Interval, ...]
    others: tuple[Interval, ...]


StateUse = tuple[Interval, int | None, bool, bool]
"""What an interval requires of a state: the value (None: any one), and whether its segment starts and ends with it."""


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class StateFunction(Constrained):
    """A state that changes over time, such as a temperature or a tool, is what each interval requires while it runs.

    The state has a value, a whole number >= 0, in *segments* of time that do not overlap; between a segment of value s and the
    next one, of value t, there are at least ``transitions[s][t]`` seconds, also if s = t. Each present interval of ``uses`` is
    within one segment, which has its value (None: any value, the same all the time), starts when the interval starts if
    it is start-aligned, and ends when it ends if it is end-aligned. Segments without an interval are of no use, as the
    times obey the triangle inequality. (State functions of CP Optimizer with ``always_equal`` and ``always_constant``.)

    Parameters
    ----------
    uses : tuple of (Interval, int or None, bool, bool)
        The interval, with a size of at least 1, the value, and whether the start and the end are aligned.
    transitions : tuple of k tuples of k int
        The least time in seconds between two segments by their values, >= 0, with ``t[a][c] <= t[a][b] + t[b][c]``.
        Empty: no time. With a matrix, the values are in [0, k).
    """

    uses: tuple[StateUse, ...]
    transitions: tuple[tuple[int, ...], ...] = ()

    def transition(self, s: int, t: int) -> int:
        """Return the least time in seconds between a segment of value s and the next one of value t."""
        if self.transitions:
            return self.transitions[s][t]
        return 0

    @property
    def values(self) -> range:
        """The values that the state can have: those of the matrix; without one, those required, and one more."""
        if self.transitions:
            return range(len(self.transitions))
        return range(max((value for _, value, _, _ in self.uses if value is not None), default=-1) + 2)


Constraint = (
    Comparison
    | Alternative
    | AllOrNone
    | Cumulative
    | ForbidExtent
    | NoOverlap
    | Synchronize
    | Precedence
    | AllDifferent
    | Table
    | Level
    | Order
    | DirectTransitions
    | NoIdle
    | SameSequence
    | StateFunction
    | Stated
)
SCHEDULING = tuple(c for c in get_args(Constraint) if c is not Comparison)
"""The classes of constraints that are made by functions such as ``no_overlap``."""


def intervals_of(constraint: Constraint) -> tuple[Interval, ...]:
    """Return the intervals of a constraint, without those that occur only in its expressions."""
    match constraint:
        case Precedence(before, after):
            return (before, after)
        case Alternative(a, options, _):
            return (a, *options)
        case Cumulative(intervals, _, _) | NoOverlap(intervals) | AllOrNone(intervals):
            return intervals
        case ForbidExtent(interval, _):
            return (interval,)
        case Synchronize(a, others):
            return (a, *others)
        case Order(intervals) | DirectTransitions(intervals) | NoIdle(intervals):
            return intervals
        case StateFunction(uses):
            return tuple(v for v, _, _, _ in uses)
        case SameSequence(intervals, others):
            return tuple({v.index: v for v in (*intervals, *others)}.values())
        case Level(changes, during=during):
            several = [*(v for _, v, _ in changes), *(() if during is None else (during,))]
            return tuple({v.index: v for v in several}.values())
        case Stated():
            return constraint.members
        case _:
            return ()


def expressions_of(constraint: Constraint) -> tuple[Linear, ...]:
    """Return the expressions of a constraint."""
    if isinstance(constraint, Comparison):
        return (constraint.expr,)
    if isinstance(constraint, Cumulative):
        return tuple(d for d in constraint.demands if isinstance(d, Linear))
    if isinstance(constraint, (AllDifferent, Table)):
        return constraint.expressions
    if isinstance(constraint, Level):
        return tuple(height for _, _, height in constraint.changes if isinstance(height, Linear))
    if isinstance(constraint, Stated):
        return constraint.numbers
    return ()


def lags_of(constraint: Constraint) -> tuple[int, ...]:
    """Return the time lags and transition times of a constraint in seconds."""
    if isinstance(constraint, NoOverlap):
        return tuple(t for row in constraint.capped().transitions for t in row)
    if isinstance(constraint, Precedence):
        return tuple(p.delay for p in constraint.parts)
    if isinstance(constraint, DirectTransitions):
        return tuple(t for row in constraint.times for t in row)
    if isinstance(constraint, StateFunction):
        return tuple(t for row in constraint.transitions for t in row)
    return ()


def added_time(constraint: Constraint) -> int:
    """Return by how many seconds the constraint can lengthen a schedule in which no interval starts later than needed.

    It is the sum of the times in which intervals wait for each other: the minimum lags, and for each interval of a
    ``NoOverlap``, of ``DirectTransitions`` or of a ``StateFunction`` its greatest transition time to another one.
    """
    if isinstance(constraint, NoOverlap):
        rows = enumerate(constraint.transitions)
        return sum(max((t for j, t in enumerate(row) if j != i), default=0) for i, row in rows)
    if isinstance(constraint, DirectTransitions):
        return sum(max(constraint.times[kind]) for kind in constraint.types)
    if isinstance(constraint, StateFunction) and constraint.transitions:
        longest = [max(row) for row in constraint.transitions]
        return sum(max(longest) if value is None else longest[value] for _, value, _, _ in constraint.uses)
    if isinstance(constraint, Precedence):
        return max(0, *lags_of(constraint))
    return 0


def some(items: Sequence[Any]) -> str:
    """Return the first of several intervals or expressions as text.

    Examples
    --------
    >>> some(("a", "b", "c", "d", "e"))
    'a, b, c, d, ... (5)'
    """
    return ", ".join(str(i) for i in items[:4]) + (f", ... ({len(items)})" if len(items) > 4 else "")


# --- A model as data, and values for its variables.

Sense = Literal["minimize", "maximize"]


@with_short_repr
class NamedConstraint(NamedTuple):
    """A constraint of a model, and its name.

    Parameters
    ----------
    name : str
        The name that messages use.
    constraint : Constraint
        The constraint.
    """

    name: str
    constraint: Constraint


@with_short_repr
class IntervalValue(NamedTuple):
    """The value of an interval in an assignment.

    Parameters
    ----------
    present : bool
        Whether the interval is present.
    start, end : int or None
        Its start and end in seconds; None if it is absent.
    """

    present: bool
    start: int | None
    end: int | None


class ModelData(Protocol):
    """What a model declares; ``model.Model`` has all of it."""

    name: str
    intervals: list[Interval]
    integers: list[Integer]
    constraints: list[NamedConstraint]
    objectives: list[Linear]
    sense: Sense

    @property
    def horizon(self) -> int:
        """The latest start in seconds of intervals that are declared without ``start``; as declared, else derived."""

    @property
    def declared_horizon(self) -> int | None:
        """The horizon as declared; None if it is derived."""

    def check(self, assignment: Assignment) -> list[Violation]:
        """Return the violations of an assignment."""

    def value(self, expression: Expression | Number, assignment: Assignment) -> Number:
        """Return the value of an expression."""


class Assignment:
    """Values for all variables of a model; they need not satisfy its constraints.

    The values are stored as lists: ``start``, ``end`` (seconds, 0 if absent) and ``present`` have an entry per interval
    in the order of ``model.intervals``, ``integer`` has an entry per variable in the order of ``model.integers``.

    Parameters
    ----------
    model : Model
        The model.
    values : mapping, optional
        The value of each variable. An interval has a start (fixed size only), a pair (start, end), an IntervalValue, or
        None if it is absent; an integer variable has an int. Optional intervals that are missing are absent. None: all
        intervals are absent and all integers are 0.

    Raises
    ------
    ModelError
        If another variable is missing, or a variable belongs to another model.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3); x = m.integer("x", 0, 5)
    >>> s = Assignment(m, {a: 4, x: 2})
    >>> s[a], s[x]
    (IntervalValue(present=True, start=4, end=7), 2)
    """

    __slots__ = ("end", "integer", "model", "present", "start")

    def __init__(self, model: ModelData, values: Mapping[Any, Any] | None = None) -> None:
        if not hasattr(model, "intervals"):
            raise ModelError(f"model of Assignment is {model!r:.100}; expected a Model")
        if not isinstance(values, (Mapping, NoneType)):
            raise ModelError(f"values of Assignment is {values!r:.100}; expected a mapping {{variable: value}} or None")
        self.model = model
        self.start = [0] * len(model.intervals)
        self.end = [0] * len(model.intervals)
        self.present = [False] * len(model.intervals)
        self.integer = [0] * len(model.integers)
        if values is not None:
            self._fill(values)

    def _fill(self, values: Mapping[Any, Any]) -> None:
        for v in values:
            if not isinstance(v, (Interval, Integer)) or v.model is not self.model:
                raise ModelError(f"{v!r} is not a variable of model {self.model.name!r}")
        for v in self.model.intervals:
            given = values.get(v)
            if given is None or (isinstance(given, IntervalValue) and not given.present):
                if not v.optional:
                    raise ModelError(f"interval {v.name!r} is not optional and has no value")
            else:
                self.set(v, *_ends(v, given))
        for x in self.model.integers:
            if x not in values:
                raise ModelError(f"integer {x.name!r} has no value")
            self.integer[x.index] = whole(values[x], f"the value of {x.name}")

    def set(self, interval: Interval, start: int, end: int) -> None:
        """Make the interval present, as [start, end) in seconds."""
        i = interval.index
        self.start[i] = start
        self.end[i] = end
        self.present[i] = True

    __iter__ = None  # without it, Python would ask for the values of the variables 0, 1, ...

    def __contains__(self, variable: object) -> bool:
        """Return whether a variable belongs to the model, so that it has a value; an absent interval has one, too."""
        return isinstance(variable, (Interval, Integer)) and variable.model is self.model

    @overload
    def __getitem__(self, variable: Interval) -> IntervalValue: ...
    @overload
    def __getitem__(self, variable: Integer) -> int: ...
    def __getitem__(self, variable: Interval | Integer) -> IntervalValue | int:
        if not isinstance(variable, (Interval, Integer)):
            known = [v.name for v in (*self.model.intervals, *self.model.integers)]
            raise ModelError(
                f"{variable!r:.100} is not a variable of model {self.model.name!r}; expected an interval or an integer "
                f"variable itself{_named(variable, known)}"
            )
        if variable.model is not self.model:
            raise ModelError(f"{variable} is not a variable of model {self.model.name!r}")
        i = variable.index
        if isinstance(variable, Integer):
            return self.integer[i]
        if self.present[i]:
            return IntervalValue(True, self.start[i], self.end[i])
        return IntervalValue(False, None, None)

    def __repr__(self) -> str:
        intervals = (f"{v}: {self[v].start}..{self[v].end}" for v in self.model.intervals if self.present[v.index])
        integers = (f"{x}: {self.integer[x.index]}" for x in self.model.integers)
        shown = ", ".join(itertools.islice(itertools.chain(intervals, integers), 40))
        return one_line(f"Assignment({shown})")


def _ends(v: Interval, given: Any) -> tuple[int, int]:
    """Return start and end of a present interval from any form that ``Assignment`` accepts."""
    what = f"the value of {v.name}"
    if isinstance(given, IntervalValue):
        given = given.start, given.end
    if isinstance(given, (tuple, list, np.ndarray)):
        start, end = pair(given, what)
        return whole(start, what), whole(end, what)
    if v.size_lo != v.size_hi:
        raise ModelError(f"interval {v.name!r} has a variable size: give (start, end), not {given!r}")
    start = whole(given, what)
    return start, start + v.size_lo


def _named(name: object, known: list[str]) -> str:
    """Return what a message says about a name that is given in place of a variable."""
    if not isinstance(name, str):
        return ""
    if name in known:
        return f"; {name!r} is the name of one: keep the object that Model.interval or Model.integer returned"
    return f"; {hint(name, known, 'the variables are', 'the model has none')}"
