"""The constraints of the modelling language other than comparisons, and the checks when they are declared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from ..excerpt import with_short_repr
from .expressions import Comparison, Expression, Interval, Linear, common_model
from .quantities import ModelError, Number, pair, whole

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


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
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
class Cumulative:
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
class NoOverlap:
    """No two present intervals of positive size run at the same time.

    Parameters
    ----------
    intervals : tuple of Interval
        The intervals.
    """

    intervals: tuple[Interval, ...]


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Synchronize:
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
class Precedence:
    """The start or end of ``before`` plus ``delay`` is at most the start or end of ``after``, if both are present.

    Parameters
    ----------
    before, after : Interval
        The two intervals.
    delay : int
        Seconds between them; it may be negative.
    kind : str
        ``"end_before_start"``, ``"start_before_start"``, ``"end_before_end"`` or ``"start_before_end"``.
    """

    before: Interval
    after: Interval
    delay: int
    kind: PrecedenceKind

    @property
    def fields(self) -> tuple[Literal["start", "end"], Literal["start", "end"]]:
        """The attribute (``"start"`` or ``"end"``) of ``before`` and that of ``after`` which are compared."""
        left, _, right = self.kind.partition("_before_")
        return ("end" if left == "end" else "start", "end" if right == "end" else "start")


Constraint = Comparison | Alternative | Cumulative | NoOverlap | Synchronize | Precedence


def intervals_of(constraint: Constraint) -> tuple[Interval, ...]:
    """Return the intervals of a constraint, without those that occur only in its expressions."""
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
    """Return the expressions of a constraint."""
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
        repeated = next(i for k, i in enumerate(found) if any(i is j for j in found[:k]))
        raise ModelError(f"{where}: {repeated} is listed twice")
    if len(found) < at_least:
        raise ModelError(f"{where}: at least {at_least} intervals are needed, not {len(found)}")
    for i in found[1:]:
        if i.model is not found[0].model:
            raise ModelError(
                f"{where}: {found[0]} belongs to model {found[0].model.name!r}, but {i} to model {i.model.name!r}"
            )
    return found


def alternative(interval: Interval, options: Iterable[Interval], count: int = 1) -> Alternative:
    """Require that exactly ``count`` options are present, with the start and end of ``interval``; none if it is absent.

    If the count is greater than the number of options, the model has no solution with the interval present; this is no
    error.

    Parameters
    ----------
    interval : Interval
        The interval that is realised by the options.
    options : iterable of Interval
        Intervals of the same model, declared with ``optional=True``.
    count : int, default 1
        The number of options to choose.

    Returns
    -------
    Alternative
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an option is not optional, the count is below 1, or an interval is listed twice.

    Examples
    --------
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
    """Require that at every instant the sum of the demands of the running intervals is at most the capacity.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals of one model.
    demands : sequence of int or Expression
        The demand of each interval, >= 0: a whole number, an integer variable or an integral linear expression.
    capacity : int or sequence of (int, int)
        The capacity, >= 0; or steps [(time in seconds, capacity), ...] with increasing times. Each capacity holds from
        its time on; the first one also holds before its time.

    Returns
    -------
    Cumulative
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If a demand or a capacity is not as described; the message names the interval.

    Examples
    --------
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
            raise ModelError(f"cumulative(): the demand of {interval} is {fixed}; demands must be >= 0")
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
        raise ModelError(f"cumulative(): the demand of {interval}, {e}, can be {lowest}; demands must be >= 0")
    return e


def _steps(capacity: int | Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    if isinstance(capacity, Sequence):
        given = (pair(s, "a step of the capacity") for s in capacity)
        steps = tuple((whole(t, "a step's time"), whole(c, "a capacity")) for t, c in given)
        if not steps:
            raise ModelError("cumulative(): the list of capacity steps is empty")
        for (a, _), (b, _) in pairwise(steps):
            if a >= b:
                raise ModelError(f"cumulative(): the times of the capacity must increase, but {b} follows {a}")
    else:
        steps = ((0, whole(capacity, "cumulative(): the capacity")),)
    for t, c in steps:
        if c < 0:
            raise ModelError(f"cumulative(): the capacity from {t} on is {c}; capacities must be >= 0")
    return steps


def no_overlap(intervals: Iterable[Interval]) -> NoOverlap:
    """Require that no two of the intervals run at the same time; absent intervals and those of size 0 are ignored.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals of one model.

    Returns
    -------
    NoOverlap
        The constraint, for ``Model.add``.

    Examples
    --------
    >>> from schedlab import Model, no_overlap
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(no_overlap([a, b]))
    """
    return NoOverlap(_intervals(intervals, "no_overlap()"))


def synchronize(interval: Interval, others: Iterable[Interval]) -> Synchronize:
    """Require that, if ``interval`` is present, every present one of ``others`` has its start and end.

    If ``interval`` is absent, nothing is required.

    Parameters
    ----------
    interval : Interval
        The interval that the others follow.
    others : iterable of Interval
        Intervals of the same model.

    Returns
    -------
    Synchronize
        The constraint, for ``Model.add``.

    Examples
    --------
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
    """Require ``before.end + delay <= after.start`` if both intervals are present.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int, default 0
        Seconds between the end and the start; it may be negative.

    Returns
    -------
    Precedence
        The constraint, for ``Model.add``.

    Examples
    --------
    >>> from schedlab import Model, end_before_start
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(end_before_start(a, b, delay=2))
    """
    return _precedence(before, after, delay, "end_before_start")


def start_before_start(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """Require ``before.start + delay <= after.start`` if both intervals are present.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int, default 0
        Seconds between the two starts; it may be negative.

    Returns
    -------
    Precedence
        The constraint, for ``Model.add``.
    """
    return _precedence(before, after, delay, "start_before_start")


def end_before_end(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """Require ``before.end + delay <= after.end`` if both intervals are present.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int, default 0
        Seconds between the two ends; it may be negative.

    Returns
    -------
    Precedence
        The constraint, for ``Model.add``.
    """
    return _precedence(before, after, delay, "end_before_end")


def start_before_end(before: Interval, after: Interval, delay: int = 0) -> Precedence:
    """Require ``before.start + delay <= after.end`` if both intervals are present.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int, default 0
        Seconds between the start and the end; it may be negative.

    Returns
    -------
    Precedence
        The constraint, for ``Model.add``.
    """
    return _precedence(before, after, delay, "start_before_end")
