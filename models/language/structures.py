"""Constraints on how intervals make up others, and capacities and time lags that are expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..arguments import named
from ..words import with_short_repr
from .bounds import Bounds
from .constraints import Copier, PrecedenceKind, Stated, Values, some
from .expressions import Expression, Interval, Linear, ModelError, Number, common_model, linear, listed, told, whole


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Span(Stated):
    """An interval lasts from the first start to the last end of its present parts; it is absent if all of them are.

    If the interval is present, at least one part is present; its start is the least start of the present parts, and its
    end their greatest end. If it is absent, all parts are absent.

    Parameters
    ----------
    interval : Interval
        The interval over the parts.
    parts : tuple of Interval
        The parts, at least one.
    """

    interval: Interval
    parts: tuple[Interval, ...]

    @property
    def members(self) -> tuple[Interval, ...]:
        """The interval and its parts."""
        return (self.interval, *self.parts)

    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return by how much the interval differs from its parts."""
        s, i = ev.assignment, self.interval.index
        present = [v for v in self.parts if s.present[v.index]]
        if not s.present[i]:
            if present:
                return (len(present), f"{self.interval} is absent, but {present[0]} is present")
            return None
        if not present:
            return 1, f"{self.interval} is present, but none of its parts is"
        start = min(s.start[v.index] for v in present)
        end = max(s.end[v.index] for v in present)
        amount = max(abs(s.start[i] - start), abs(s.end[i] - end))
        if not amount:
            return None
        return amount, f"{self.interval} is [{s.start[i]}, {s.end[i]}), its parts span [{start}, {end})"

    def copied(self, copy: Copier) -> Span:
        """Return the constraint on the intervals of a copy."""
        return Span(copy.intervals[self.interval], tuple(copy.intervals[v] for v in self.parts))

    def described(self) -> str:
        """Return a name for it."""
        return f"{self.interval} spans {some(self.parts)}"


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Isomorphism(Stated):
    """The present intervals of two lists are pairs of intervals with the same start and end: one of each list.

    So as many intervals of the first list are present as of the second, and their starts and ends are the same, in some
    order.

    Parameters
    ----------
    first, second : tuple of Interval
        The two lists.
    """

    first: tuple[Interval, ...]
    second: tuple[Interval, ...]

    @property
    def members(self) -> tuple[Interval, ...]:
        """The intervals of both lists, each once."""
        return tuple(dict.fromkeys((*self.first, *self.second)))

    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return how many intervals have no partner."""
        s = ev.assignment
        spans = [
            Counter((s.start[v.index], s.end[v.index]) for v in side if s.present[v.index])
            for side in (self.first, self.second)
        ]
        alone = spans[0] - spans[1], spans[1] - spans[0]
        amount = max(alone[0].total(), alone[1].total())
        if not amount:
            return None
        where = "second"
        if alone[0]:
            where = "first"
        start, end = next(iter(alone[0] or alone[1]))
        return amount, f"[{start}, {end}) of the {where} list has no partner in the other one"

    def copied(self, copy: Copier) -> Isomorphism:
        """Return the constraint on the intervals of a copy."""
        first, second = (tuple(copy.intervals[v] for v in side) for side in (self.first, self.second))
        return Isomorphism(first, second)

    def described(self) -> str:
        """Return a name for it."""
        return f"isomorphism of {some(self.first)} and {some(self.second)}"


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class VariableCapacity(Stated):
    """At every instant, the sum of the demands of the running intervals is at most a capacity that is an expression.

    Parameters
    ----------
    intervals : tuple of Interval
        The intervals that need capacity while they run.
    demands : tuple of int or Linear
        The demand of each interval, >= 0.
    capacity : Linear
        The capacity, a whole number >= 0, the same at all times.
    """

    intervals: tuple[Interval, ...]
    demands: tuple[int | Linear, ...]
    capacity: Linear

    @property
    def members(self) -> tuple[Interval, ...]:
        """The intervals."""
        return self.intervals

    @property
    def numbers(self) -> tuple[Linear, ...]:
        """The demands that are expressions, and the capacity."""
        return (*(d for d in self.demands if isinstance(d, Linear)), self.capacity)

    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return by how much the capacity is exceeded at the worst instant."""
        s = ev.assignment
        capacity = ev.value(self.capacity)
        changes: dict[int, Number] = {}
        for v, demand in zip(self.intervals, self.demands, strict=True):
            i = v.index
            height = ev.value(demand)  # evaluated even if the interval is absent: its range errors count
            if s.present[i] and s.end[i] > s.start[i]:
                changes[s.start[i]] = changes.get(s.start[i], 0) + height
                changes[s.end[i]] = changes.get(s.end[i], 0) - height
        level: Number = 0
        worst: tuple[float, str] | None = None
        for t in sorted(changes):
            level += changes[t]
            if level > 0 and level - capacity > (worst[0] if worst else 0):
                worst = float(level - capacity), f"at {t} the demand is {level}, the capacity {capacity}"
        return worst

    def copied(self, copy: Copier) -> VariableCapacity:
        """Return the constraint on the variables of a copy."""
        demands = tuple(d if isinstance(d, int) else copy.linear(d) for d in self.demands)
        return VariableCapacity(tuple(copy.intervals[v] for v in self.intervals), demands, copy.linear(self.capacity))

    def data(self) -> Iterator[int]:
        """Yield the demands that are numbers."""
        yield from (d for d in self.demands if isinstance(d, int))

    def described(self) -> str:
        """Return a name for it."""
        return f"cumulative of {some(self.intervals)} within {self.capacity}"


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class VariableDelay(Stated):
    """A precedence whose time lags are expressions; it holds if one of its intervals is absent.

    The start or end of ``after`` minus that of ``before`` is at least ``delay`` and at most ``at_most``.

    Parameters
    ----------
    before, after : Interval
        The two intervals.
    delay : Linear
        The minimum time lag in seconds, of any sign.
    relation : str
        ``"end_before_start"``, ``"start_before_start"``, ``"end_before_end"`` or ``"start_before_end"``.
    at_most : Linear or None
        The maximum time lag in seconds. None: no maximum.
    """

    before: Interval
    after: Interval
    delay: Linear
    relation: PrecedenceKind
    at_most: Linear | None = None

    @property
    def members(self) -> tuple[Interval, ...]:
        """The two intervals."""
        return (self.before, self.after)

    @property
    def numbers(self) -> tuple[Linear, ...]:
        """The time lags."""
        if self.at_most is None:
            return (self.delay,)
        return (self.delay, self.at_most)

    @property
    def ends(self) -> tuple[Linear, Linear]:
        """The two times that are compared."""
        left, _, right = self.relation.partition("_before_")
        if left == "end":
            first = self.before.end
        else:
            first = self.before.start
        if right == "end":
            second = self.after.end
        else:
            second = self.after.start
        return first.linear(), second.linear()

    def violation(self, ev: Values) -> tuple[float, str] | None:
        """Return by how much a time lag is too short or too long."""
        s = ev.assignment
        least = ev.value(self.delay)
        most = None
        if self.at_most is not None:
            most = ev.value(self.at_most)
        if not (s.present[self.before.index] and s.present[self.after.index]):
            return None
        left, right = (ev.value(e) for e in self.ends)
        if left + least > right:
            return float(left + least - right), f"{left} + {least} is after {right}"
        if most is not None and right > left + most:
            return float(right - left - most), f"{right} is after {left} + {most}"
        return None

    def copied(self, copy: Copier) -> VariableDelay:
        """Return the constraint on the variables of a copy."""
        most = None
        if self.at_most is not None:
            most = copy.linear(self.at_most)
        before, after = copy.intervals[self.before], copy.intervals[self.after]
        return VariableDelay(before, after, copy.linear(self.delay), self.relation, most)

    def described(self) -> str:
        """Return a name for it."""
        if self.at_most is None:
            lags = f"({self.delay})"
        else:
            lags = f"({self.delay} to {self.at_most})"
        return f"{self.relation} {self.before} -> {self.after} {lags}"


@named
def span(interval: Interval, parts: Iterable[Interval]) -> Span:
    """Require that an interval lasts from the first start to the last end of its present parts.

    Parameters
    ----------
    interval : Interval
        The interval over the parts. It is absent if and only if all parts are.
    parts : iterable of Interval
        Intervals of the same model, at least one.

    Returns
    -------
    Span
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If there is no part, or an interval is listed twice.

    Examples
    --------
    >>> from schedlab import Model, solve, span
    >>> m = Model("m", horizon=20); phase = m.interval("phase", size=(0, 20))
    >>> a, b = m.interval("a", size=3, start=2), m.interval("b", size=4, start=9)
    >>> m.add(span(phase, [a, b])); solve(m, backend="cpsat").assignment[phase]
    IntervalValue(present=True, start=2, end=13)
    """
    where = f"span({interval if isinstance(interval, Interval) else told(interval)})"
    operands = _intervals([interval, *_listed(parts, where)], where)
    if len(operands) < 2:
        raise ModelError(f"{where}: at least 1 part is needed")
    return Span(interval, operands[1:])


@named
def isomorphism(first: Iterable[Interval], second: Iterable[Interval]) -> Isomorphism:
    """Require that the present intervals of two lists can be paired, so that both of a pair have the same start and end.

    Parameters
    ----------
    first, second : iterable of Interval
        Intervals of one model; no interval is twice in a list.

    Returns
    -------
    Isomorphism
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If something else than intervals of one model is given, or an interval twice.

    Examples
    --------
    >>> from schedlab import Model, isomorphism
    >>> m = Model("m"); jobs = [m.interval(f"job {k}", size=3) for k in range(2)]
    >>> slots = [m.interval(f"slot {k}", size=3, start=4 * k, optional=True) for k in range(5)]
    >>> m.add(isomorphism(jobs, slots))
    """
    sides = [_intervals(_listed(side, "isomorphism()"), "isomorphism()") for side in (first, second)]
    both = [side[0] for side in sides if side]
    if len(both) == 2 and both[0].model is not both[1].model:
        raise ModelError(f"isomorphism(): {both[0]} and {both[1]} belong to different models")
    return Isomorphism(sides[0], sides[1])


def variable_capacity(
    intervals: tuple[Interval, ...], demands: tuple[int | Linear, ...], capacity: Expression
) -> VariableCapacity:
    """Return a cumulative with a capacity that is an expression, of checked intervals and demands."""
    e = capacity.linear()
    if not e.integral:
        raise ModelError(f"cumulative(): the capacity {e} must be a whole number")
    owner = common_model(e.terms, "the capacity")
    if owner is not None and intervals and owner is not intervals[0].model:
        raise ModelError(f"cumulative(): the capacity {e} belongs to another model")
    lowest = Bounds().of(e)[0]
    if lowest < 0:
        raise ModelError(f"cumulative(): the capacity {e} can be {lowest}; capacities must be >= 0")
    return VariableCapacity(intervals, demands, e)


def variable_delay(
    before: Interval,
    after: Interval,
    delay: Expression | Number,
    relation: PrecedenceKind,
    at_most: Expression | Number | None = None,
) -> VariableDelay:
    """Return a precedence with time lags that are expressions, of two checked intervals."""
    where = f"{relation}({before}, {after})"
    lags = [_lag(e, f"{where}: {what}") for e, what in ((delay, "the delay"), (at_most, "at_most")) if e is not None]
    for e in lags:
        owner = common_model(e.terms, where)
        if owner is not None and owner is not before.model:
            raise ModelError(f"{where}: the time lag {e} belongs to another model")
    return VariableDelay(before, after, lags[0], relation, lags[1] if len(lags) > 1 else None)


def _lag(e: Expression | Number, what: str) -> Linear:
    if not isinstance(e, Expression):
        return Linear({}, whole(e, what))
    made = linear(e)
    if not made.integral:
        raise ModelError(f"{what}, {made}, must be a whole number")
    return made


def _listed(items: object, where: str) -> list[Interval]:
    return listed(items, f"{where}: the intervals")


def _intervals(items: list[Interval], where: str) -> tuple[Interval, ...]:
    for i in items:
        if not isinstance(i, Interval):
            raise ModelError(f"{where}: {told(i)} is not an interval")
        if i.model is not items[0].model:
            raise ModelError(f"{where}: {items[0]} and {i} belong to different models")
    seen: set[int] = set()
    for i in items:
        if i.index in seen:
            raise ModelError(f"{where}: {i} is listed twice")
        seen.add(i.index)
    return tuple(items)
