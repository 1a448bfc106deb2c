"""The functions that make constraints, with the checks of their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Never

import numpy as np

from ..arguments import named, refuse
from ..words import how_many
from .constraints import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Cumulative,
    ForbidExtent,
    NoOverlap,
    Precedence,
    PrecedenceKind,
    Synchronize,
    Table,
)
from .expressions import (
    LARGEST,
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
from .structures import VariableCapacity, VariableDelay, variable_capacity
from .structures import variable_delay as delayed

Lag = int | Expression
"""A time lag in seconds."""


def _intervals(items: Iterable[Interval], where: str, *, at_least: int = 0) -> tuple[Interval, ...]:
    intervals = tuple(items if type(items) is list else listed(items, f"{where}: the intervals"))
    for i in intervals:
        if not isinstance(i, Interval):
            raise ModelError(f"{where}: {told(i)} is not an interval")
    if len({id(i) for i in intervals}) != len(intervals):
        repeated = next(i for k, i in enumerate(intervals) if any(i is j for j in intervals[:k]))
        raise ModelError(f"{where}: {repeated} is listed twice")
    if len(intervals) < at_least:
        raise ModelError(f"{where}: at least {how_many(at_least, 'interval', verb='are')} needed, not {len(intervals)}")
    for i in intervals[1:]:
        if i.model is not intervals[0].model:
            raise ModelError(
                f"{where}: {intervals[0]} belongs to model {intervals[0].model.name!r}, but {i} to model {i.model.name!r}"
            )
    return intervals


def _named(interval: object) -> str:
    """Return an interval for a message; anything else is shown on one line."""
    if isinstance(interval, Interval):
        return str(interval)
    return told(interval)


def alternative(interval: Interval, options: Iterable[Interval], count: int = 1, **unknown: Never) -> Alternative:
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
    if unknown:
        refuse(alternative, unknown)
    operands = _intervals(
        [interval, *listed(options, "the options of alternative()")], f"alternative({_named(interval)})", at_least=2
    )
    for option in operands[1:]:
        if not option.optional:
            raise ModelError(f"alternative({interval}): the option {option} must be declared optional=True")
    k = whole(count, f"alternative({interval}): the count")
    if k < 1:
        raise ModelError(f"alternative({interval}): the count must be at least 1, not {k}")
    return Alternative(interval, operands[1:], min(k, len(operands)))  # a greater count has no solution either


@named
def cumulative(
    intervals: Iterable[Interval],
    demands: Sequence[Number | Expression],
    capacity: int | Expression | Sequence[tuple[int, int]],
) -> Cumulative | VariableCapacity:
    """Require that at every instant the sum of the demands of the running intervals is at most the capacity.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals of one model.
    demands : sequence of int or Expression
        The demand of each interval, >= 0: a whole number, an integer variable or an integral linear expression.
    capacity : int, Expression or sequence of (int, int)
        The capacity, >= 0: a number, or a whole expression such as an integer variable; or steps [(time in seconds, capacity), ...] with increasing times. Each capacity holds from
        its time on; the first one also holds before its time.

    Returns
    -------
    Cumulative or VariableCapacity
        The constraint, for ``Model.add``; a VariableCapacity if the capacity is an expression.

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
    operands = _intervals(listed(intervals, "cumulative(): the intervals", True), "cumulative()")
    given = listed(demands, "cumulative(): the demands", True)
    if len(given) != len(operands):
        names = ", ".join(str(i) for i in operands[:5]) + (", ..." if len(operands) > 5 else "")
        raise ModelError(
            f"cumulative([{names}]): {how_many(len(operands), 'interval')} but {how_many(len(given), 'demand')}"
        )
    needed = tuple(_demand(d, i) for d, i in zip(given, operands, strict=True))
    if isinstance(capacity, Expression) and capacity.linear().terms:
        return variable_capacity(operands, needed, capacity)
    level = capacity.linear().constant if isinstance(capacity, Expression) else capacity
    return Cumulative(operands, needed, _steps(level))  # type: ignore[arg-type]


def _demand(demand: Number | Expression, interval: Interval) -> int | Linear:
    if type(demand) is int and 0 <= demand <= LARGEST:  # the common case, kept fast: no text is made
        return demand
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
    if isinstance(capacity, (Sequence, np.ndarray)) and not isinstance(capacity, (str, bytes)) and np.shape(capacity):
        given = (pair(s, "cumulative(): a step of the capacity") for s in capacity)
        steps = tuple(
            (whole(t, "cumulative(): the time of a step of the capacity"), whole(c, "cumulative(): a capacity"))
            for t, c in given
        )
        if not steps:
            raise ModelError("cumulative(): the list of capacity steps is empty")
        for (a, _), (b, _) in pairwise(steps):
            if a >= b:
                raise ModelError(f"cumulative(): the times of the capacity must increase, but {b} follows {a}")
    else:
        if isinstance(capacity, Mapping):
            raise ModelError(
                f"cumulative(): the capacity is {told(capacity)}; expected a number or a list of (time, capacity)"
            )
        steps = ((0, whole(capacity, "cumulative(): the capacity")),)
    for t, c in steps:
        if c < 0:
            raise ModelError(f"cumulative(): the capacity from {t} on is {c}; capacities must be >= 0")
    return steps


@named
def all_or_none(intervals: Iterable[Interval]) -> AllOrNone:
    """Require that all of the intervals are present, or none of them.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals of one model, declared with ``optional=True``.

    Returns
    -------
    AllOrNone
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an interval is not optional, or listed twice.

    Examples
    --------
    >>> from schedlab import Model, all_or_none
    >>> m = Model("m"); steps = [m.interval(f"step {k}", size=3, optional=True) for k in range(3)]
    >>> m.add(all_or_none(steps))
    """
    operands = _intervals(intervals, "all_or_none()")
    for v in operands:
        if not v.optional:
            raise ModelError(f"all_or_none(): {v} is always present; it must be declared optional=True")
    return AllOrNone(operands)


@named
def forbid_extent(interval: Interval, windows: Window | Iterable[Window]) -> ForbidExtent:
    """Require that the interval overlaps none of the windows, if it is present and has a positive size.

    It may end where a window begins, and start where a window ends. An interval of size 0 occupies nothing, so it may
    lie within a window. (``forbidExtent`` of CP Optimizer.)

    Parameters
    ----------
    interval : Interval
        The interval.
    windows : (int, int) or iterable of (int, int)
        Windows [lo, hi) in seconds with lo < hi, in any order; they may overlap. An empty list forbids nothing.

    Returns
    -------
    ForbidExtent
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If a window is no pair of whole numbers, or is empty.

    Examples
    --------
    >>> from schedlab import Model, forbid_extent
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> m.add(forbid_extent(a, [(0, 2), (4, 10)]))  # the node is under maintenance
    """
    if not isinstance(interval, Interval):
        raise ModelError(f"forbid_extent({told(interval)}): the first argument must be an interval")
    what = f"a window of forbid_extent({interval})"
    one = isinstance(windows, tuple) and len(windows) == 2 and not isinstance(windows[0], (tuple, list, np.ndarray))
    one = one or (isinstance(windows, np.ndarray) and windows.shape == (2,))
    if one:
        given = [windows]
    else:
        given = listed(windows, "the windows of forbid_extent()")
    forbidden: list[Window] = []
    for lo, hi in sorted((whole(a, what), whole(b, what)) for a, b in (pair(w, what) for w in given)):
        if lo >= hi:
            raise ModelError(f"forbid_extent({interval}): the window ({lo}, {hi}) is empty; lo < hi is needed")
        if forbidden and lo <= forbidden[-1][1]:
            forbidden[-1] = (forbidden[-1][0], max(hi, forbidden[-1][1]))
        else:
            forbidden.append((lo, hi))
    return ForbidExtent(interval, tuple(forbidden))


@named
def no_overlap(intervals: Iterable[Interval], transitions: Sequence[Sequence[int]] | None = None) -> NoOverlap:
    """Require that no two of the intervals run at the same time, and optionally a transition time between them.

    Absent intervals are ignored. Without ``transitions``, intervals of size 0 are ignored as well. With them, also if all
    times are 0, an interval of size 0 is a point in the sequence of the intervals, as in CP Optimizer: it keeps the
    transition times, and it is not within another interval (at its start or end it may be). Points at the same time need an
    order in which each transition time is kept.

    Parameters
    ----------
    intervals : iterable of Interval
        The n intervals, of one model.
    transitions : sequence of n sequences of n ints, optional
        ``transitions[i][j]`` >= 0 is the least time in seconds from the end of ``intervals[i]`` to the start of
        ``intervals[j]`` if i is before j, such as a setup time. It holds for all such pairs, also if other intervals
        are between the two (``noOverlap`` of CP Optimizer without ``isDirect``). This differs from times between
        neighbours alone only if the matrix violates the triangle inequality, that is, if a detour over a short
        interval k were faster: ``transitions[i][k] + size of k + transitions[k][j] < transitions[i][j]``. The matrix
        need not be symmetric; its diagonal is not used. None: there are no transition times.

    Returns
    -------
    NoOverlap
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If the matrix has another shape, or an entry that is no whole number >= 0.

    Examples
    --------
    >>> from schedlab import Model, no_overlap
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(no_overlap([a, b]))
    >>> m.add(no_overlap([a, b], transitions=[[0, 2], [5, 0]]))  # b starts 2 s after a ends, or a 5 s after b ends
    """
    operands = _intervals(
        intervals if transitions is None else listed(intervals, "no_overlap(): the intervals", True), "no_overlap()"
    )
    if transitions is None:
        return NoOverlap(operands)
    return NoOverlap(operands, _transitions(operands, transitions))


def _transitions(intervals: tuple[Interval, ...], given: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the checked matrix of transition times."""
    n = len(intervals)
    shape = "no_overlap(): transitions must have one row and one column for each interval"
    rows = [
        list(row) if isinstance(row, Iterable) else [] for row in listed(given, "no_overlap(): the transition times")
    ]
    if len(rows) != n:
        raise ModelError(f"{shape}: {how_many(n, 'row')}, not {len(rows)}")
    for v, row in zip(intervals, rows, strict=True):
        if len(row) != n:
            raise ModelError(f"{shape}: the row of {v} must have {how_many(n, 'entry')}, not {len(row)}")
    matrix = []
    for v, row in zip(intervals, rows, strict=True):
        times = [
            whole(t, f"no_overlap(): the transition time from {v} to {w}") for w, t in zip(intervals, row, strict=True)
        ]
        for w, t in zip(intervals, times, strict=True):
            if t < 0:
                raise ModelError(f"no_overlap(): the transition time from {v} to {w} is {t}; it must be >= 0")
        matrix.append(tuple(times))
    return tuple(matrix)


@named
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
    operands = _intervals(
        [interval, *listed(others, "the others of synchronize()")], f"synchronize({_named(interval)})"
    )
    return Synchronize(operands[0], operands[1:])


def _precedence(
    before: Interval, after: Interval, delay: Lag, kind: PrecedenceKind, at_most: Lag | None
) -> Precedence | VariableDelay:
    usual = type(before) is type(after) is Interval and before.model is after.model and before is not after
    if usual and at_most is None and type(delay) is int and -LARGEST <= delay <= LARGEST:  # kept fast
        return Precedence(before, after, delay, kind)
    operands = _intervals([before, after], kind)
    if any(isinstance(lag, Expression) and lag.linear().terms for lag in (delay, at_most)):
        return delayed(operands[0], operands[1], delay, kind, at_most)
    where = f"{kind}({before}, {after})"
    least = whole(_plain(delay), f"{where}: the delay")
    most = None
    if at_most is not None:
        most = whole(_plain(at_most), f"{where}: at_most")
    if most is not None and most < least:
        raise ModelError(f"{where}: at_most is {most}; it must be at least the delay, {least}")
    return Precedence(operands[0], operands[1], least, kind, most)


def _plain(lag: Lag) -> Number:
    """Return the number of an expression without variables."""
    if isinstance(lag, Expression):
        return lag.linear().constant
    return lag


def variable_delay(
    before: Interval, after: Interval, delay: Lag, relation: PrecedenceKind, at_most: Lag | None = None
) -> Precedence | VariableDelay:
    """Return the precedence of a relation by its name, as JSON has it."""
    return _precedence(before, after, delay, relation, at_most)


def end_before_start(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.end + delay <= after.start`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the end of ``before`` to the start of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.start <= before.end + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.

    Raises
    ------
    ModelError
        If a lag is no whole number, or ``at_most`` is less than ``delay``.

    Examples
    --------
    >>> from schedlab import Model, end_before_start
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(end_before_start(a, b, delay=2))
    >>> m.add(end_before_start(a, b, delay=2, at_most=10))  # b starts 2 to 10 s after the end of a
    """
    if unknown:
        refuse(end_before_start, unknown)
    return _precedence(before, after, delay, "end_before_start", at_most)


def start_before_start(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.start + delay <= after.start`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the start of ``before`` to the start of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.start <= before.start + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.
    """
    if unknown:
        refuse(start_before_start, unknown)
    return _precedence(before, after, delay, "start_before_start", at_most)


def end_before_end(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.end + delay <= after.end`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the end of ``before`` to the end of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.end <= before.end + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.
    """
    if unknown:
        refuse(end_before_end, unknown)
    return _precedence(before, after, delay, "end_before_end", at_most)


def start_before_end(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.start + delay <= after.end`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the start of ``before`` to the end of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.end <= before.start + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.
    """
    if unknown:
        refuse(start_before_end, unknown)
    return _precedence(before, after, delay, "start_before_end", at_most)


@named
def all_different(expressions: Iterable[Expression | Number]) -> AllDifferent:
    """Require that no two of the expressions have the same value.

    Parameters
    ----------
    expressions : iterable of Expression or number
        Whole numbers, of one model. The start, end and size of an absent interval count as 0, so that two absent
        intervals have the same start.

    Returns
    -------
    AllDifferent
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an expression need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, all_different
    >>> m = Model("m"); node = [m.integer(f"node of job {k}", 0, 3) for k in range(3)]
    >>> m.add(all_different(node)); m.add(all_different([x + k for k, x in enumerate(node)]))
    """
    return AllDifferent(_whole_numbers(expressions, "all_different()"))


@named
def table(expressions: Iterable[Expression | Number], tuples: Iterable[Sequence[int]]) -> Table:
    """Require that the values of the expressions, in their order, are one of the tuples.

    Parameters
    ----------
    expressions : iterable of n Expressions or numbers
        Whole numbers, of one model, at least one. The start, end and size of an absent interval count as 0.
    tuples : iterable of sequences of n ints
        The allowed values. Without any, the constraint cannot hold.

    Returns
    -------
    Table
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an expression need not be a whole number, or a tuple has another length or an entry that is no whole number.

    Examples
    --------
    >>> from schedlab import Model, table
    >>> m = Model("m"); cores, watts = m.integer("cores", 1, 64), m.integer("watts", 0, 400)
    >>> m.add(table([cores, watts], [(8, 90), (16, 150), (64, 390)]))
    """
    given = _whole_numbers(expressions, "table()")
    if not given:
        raise ModelError("table(): at least one expression is needed")
    rows: dict[tuple[int, ...], None] = {}
    for row in listed(tuples, "the tuples of table()"):
        values = listed(row, "a tuple of table()", True)
        if len(values) != len(given):
            raise ModelError(f"table(): {how_many(len(given), 'expression')}, but the tuple {told(row)}")
        rows[tuple(whole(v, "table(): an entry of a tuple") for v in values)] = None
    return Table(given, tuple(rows))


def _whole_numbers(expressions: Iterable[Expression | Number], where: str) -> tuple[Linear, ...]:
    given = tuple(linear(e) for e in listed(expressions, f"the expressions of {where}"))
    for e in given:
        if not e.integral:
            raise ModelError(f"{where}: {e} must be a whole number")
    common_model((a for e in given for a in e.terms), where)
    return given
