"""The constraints of the modelling language beside comparisons: what they hold, checked when they are declared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .expressions import Comparison, Expression, Interval, Linear, common_model, linear
from .functions import holds
from .quantities import ModelError, Number, pair, whole

PrecedenceKind = Literal["end_before_start", "start_before_start", "end_before_end", "start_before_end"]


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """``interval`` present: exactly ``count`` of ``options`` are, with its start and end; absent: none of them."""

    interval: Interval
    options: tuple[Interval, ...]
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Cumulative:
    """At every instant the demands of the intervals running then stay within the capacity of that instant.

    ``demands`` are integers or integral linear expressions, >= 0; ``steps`` are (time, capacity) pairs, the capacity
    holding from its time on; the first one also holds before it.
    """

    intervals: tuple[Interval, ...]
    demands: tuple[int | Linear, ...]
    steps: tuple[tuple[int, int], ...]

    def capacity_at(self, time: int) -> int:
        """The capacity at an instant.

        >>> Cumulative((), (), ((0, 4), (10, 2))).capacity_at(10)
        2
        """
        return self.steps[max(0, bisect_right(self.steps, time, key=lambda s: s[0]) - 1)][1]


@dataclass(frozen=True, slots=True, eq=False)
class NoOverlap:
    """No two present intervals of positive size run at the same time."""

    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Synchronize:
    """``interval`` present: every present one of ``others`` has its start and end."""

    interval: Interval
    others: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Precedence:
    """``before``'s start or end + ``delay`` <= ``after``'s start or end, if both are present."""

    before: Interval
    after: Interval
    delay: int
    kind: PrecedenceKind

    @property
    def fields(self) -> tuple[Literal["start", "end"], Literal["start", "end"]]:
        """Which end of ``before`` and of ``after`` is meant."""
        left, _, right = self.kind.partition("_before_")
        return ("end" if left == "end" else "start", "end" if right == "end" else "start")


Constraint = Comparison | Alternative | Cumulative | NoOverlap | Synchronize | Precedence


def intervals_of(constraint: Constraint) -> tuple[Interval, ...]:
    """The intervals a constraint speaks of, other than through expressions."""
    match constraint:
        case Alternative(a, options, _):
            return (a, *options)
        case Cumulative(intervals, _, _) | NoOverlap(intervals):
            return intervals
        case Synchronize(a, others):
            return (a, *others)
        case Precedence(before, after, _, _):
            return (before, after)
        case _:
            return ()


def expressions_of(constraint: Constraint) -> tuple[Linear, ...]:
    """The expressions a constraint speaks of."""
    if isinstance(constraint, Comparison):
        return (constraint.expr,)
    if isinstance(constraint, Cumulative):
        return tuple(d for d in constraint.demands if isinstance(d, Linear))
    return ()


def _intervals(items: Iterable[Interval], where: str, *, at_least: int = 0) -> tuple[Interval, ...]:
    found = tuple(items)
    for i in found:
        if not isinstance(i, Interval):
            raise ModelError(f"{where}: {i!r} is not an interval")
    if len({id(i) for i in found}) != len(found):
        twice = next(i for k, i in enumerate(found) if any(i is j for j in found[:k]))
        raise ModelError(f"{where}: {twice} is listed twice")
    if len(found) < at_least:
        raise ModelError(f"{where}: at least {at_least} intervals are needed, not {len(found)}")
    for i in found[1:]:
        if i.model is not found[0].model:
            raise ModelError(
                f"{where}: {found[0]} belongs to model {found[0].model.name!r}, {i} to another, {i.model.name!r}"
            )
    return found


def alternative(interval: Interval, options: Iterable[Interval], count: int = 1) -> Alternative:
    """``interval`` is present if and only if exactly ``count`` of the ``options`` are, and those have its start and end.

    Raises ModelError for an option that is not optional, a count below 1, or an interval listed twice. A count above
    the number of options is a model without solution (if the interval is present), not an error.

    >>> from schedlab import Model, alternative
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> on = [m.interval(f"a on {n}", size=3, optional=True) for n in range(2)]
    >>> m.add(alternative(a, on))
    """
    found = _intervals([interval, *options], f"alternative({interval})", at_least=2)
    for option in found[1:]:
        if not option.optional:
            raise ModelError(f"alternative({interval}): the option {option} must be declared optional=True")
    k = whole(count, f"alternative({interval}): the count")
    if k < 1:
        raise ModelError(f"alternative({interval}): the count must be at least 1, not {k}")
    return Alternative(interval, found[1:], k)


def cumulative(
    intervals: Iterable[Interval],
    demands: Sequence[Number | Expression],
    capacity: int | Sequence[tuple[int, int]],
) -> Cumulative:
    """At every instant, the demands of the intervals that run then stay within the capacity.

    ``demands``: one per interval, >= 0, a whole number or an integer variable (or a linear expression of some).
    ``capacity``: a whole number >= 0, or steps [(time, capacity), ...] with increasing times, each from its time on,
    the first one also before it. Raises ModelError, with the interval's name, where this is broken.

    >>> from schedlab import Model, cumulative
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(cumulative([a, b], demands=[2, 1], capacity=[(0, 2), (10, 3)]))
    """
    found = _intervals(intervals, "cumulative()")
    given = list(demands)
    if len(given) != len(found):
        names = ", ".join(str(i) for i in found[:5]) + (", ..." if len(found) > 5 else "")
        raise ModelError(f"cumulative([{names}]): {len(found)} intervals but {len(given)} demands")
    return Cumulative(found, tuple(_demand(d, i) for d, i in zip(given, found, strict=True)), _steps(capacity))


def _demand(demand: Number | Expression, interval: Interval) -> int | Linear:
    if not isinstance(demand, Expression):
        fixed = whole(demand, f"cumulative(): the demand of {interval}")
        if fixed < 0:
            raise ModelError(f"cumulative(): the demand of {interval} is {fixed}; demands are >= 0")
        return fixed
    e = demand.linear()
    if not e.integral:
        raise ModelError(f"cumulative(): the demand of {interval}, {e}, must be a whole number")
    if not e.terms:
        return _demand(e.constant, interval)
    if common_model(e.terms, f"the demand of {interval}") is not interval.model:
        raise ModelError(f"cumulative(): the demand {e} of {interval} belongs to another model")
    from .bounds import Bounds

    lowest = Bounds().of(e)[0]
    if lowest < 0:
        raise ModelError(f"cumulative(): the demand of {interval}, {e}, can be {lowest}; demands are >= 0")
    return e


def _steps(capacity: int | Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    if isinstance(capacity, Sequence):
        given = (pair(s, "a step of the capacity") for s in capacity)
        steps = tuple((whole(t, "a step's time"), whole(c, "a capacity")) for t, c in given)
        if not steps:
            raise ModelError("cumulative(): the capacity has no step")
        for (a, _), (b, _) in pairwise(steps):
            if a >= b:
                raise ModelError(f"cumulative(): the times of the capacity must increase, but {b} follows {a}")
    else:
        steps = ((0, whole(capacity, "cumulative(): the capacity")),)
    for t, c in steps:
        if c < 0:
            raise ModelError(f"cumulative(): the capacity from {t} on is {c}; capacities are >= 0")
    return steps


def no_overlap(intervals: Iterable[Interval]) -> NoOverlap:
    """No two of the intervals run at the same time; absent ones and those of size 0 take no part.

    >>> from schedlab import Model, no_overlap
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(no_overlap([a, b]))
    """
    return NoOverlap(_intervals(intervals, "no_overlap()"))


def synchronize(interval: Interval, others: Iterable[Interval]) -> Synchronize:
    """If ``interval`` is present, every present one of ``others`` has its start and end; if it is absent, nothing holds.

    >>> from schedlab import Model, synchronize
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=3)
    >>> m.add(synchronize(a, [b]))
    """
    found = _intervals([interval, *others], f"synchronize({interval})")
    return Synchronize(found[0], found[1:])


def _precedence(before: Interval, after: Interval, delay: int, kind: PrecedenceKind) -> Precedence:
    found = _intervals([before, after], kind)
    return Precedence(found[0], found[1], whole(delay, f"{kind}({before}, {after}): the delay"), kind)


def end_before_start(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """``before.end + delay <= after.start`` if both are present; with an absent side it holds.

    >>> from schedlab import Model, end_before_start
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(end_before_start(a, b, delay=2))
    """
    return _precedence(before, after, delay, "end_before_start")


def start_before_start(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """``before.start + delay <= after.start`` if both are present; with an absent side it holds."""
    return _precedence(before, after, delay, "start_before_start")


def end_before_end(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """``before.end + delay <= after.end`` if both are present; with an absent side it holds."""
    return _precedence(before, after, delay, "end_before_end")


def start_before_end(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """``before.start + delay <= after.end`` if both are present; with an absent side it holds."""
    return _precedence(before, after, delay, "start_before_end")


def implies(premise: Expression | Comparison, conclusion: Expression | Comparison) -> Comparison:
    """If ``premise`` is 1 (or holds), so is (or does) ``conclusion``: presences, Boolean variables, comparisons.

    Raises ModelError for an expression that can be other than 0 or 1.

    >>> from schedlab import Model, implies
    >>> m = Model("m"); a, b = (m.interval(n, size=3, optional=True) for n in "ab")
    >>> m.add(implies(a.presence, b.presence)); m.add(implies(b.presence, a.start >= 4))
    """
    return _truth(premise) <= _truth(conclusion)


def _truth(side: Expression | Comparison) -> Linear:
    from .bounds import Bounds

    if isinstance(side, Comparison):
        return holds(side)
    e = linear(side)
    lo, hi = Bounds().of(e)
    if not e.integral or lo < 0 or hi > 1:
        raise ModelError(f"implies(): {e} is not a truth value, it lies in [{lo}, {hi}]; give a presence or a Boolean")
    return e
