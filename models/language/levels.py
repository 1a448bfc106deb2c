"""Levels that intervals change over time, such as stocks and reservoirs, and the constraints on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..arguments import named
from ..excerpt import with_short_repr
from .constraints import Change, Edge, Level
from .expressions import Expression, Interval, common_model
from .quantities import ModelError, Number, Window, pair, told, whole


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class LevelFunction:
    """A level over time, as the sum of changes by intervals and of steps at fixed times; ``Level`` defines its value.

    It is made by ``at_start``, ``at_end``, ``pulse`` and ``step_at``. Levels are added, subtracted and summed up by
    ``sum``; ``level >= 0`` and ``level <= 9`` are constraints at all times, ``always_in`` makes others.

    Parameters
    ----------
    changes : tuple of (str, Interval, int or Linear)
        The edge, the interval and the height of each change.
    steps : tuple of (int, int)
        Pairs (time in seconds, amount).
    """

    changes: tuple[Change, ...]
    steps: tuple[tuple[int, int], ...]

    def __add__(self, other: LevelFunction | int) -> LevelFunction:
        if isinstance(other, LevelFunction):
            return LevelFunction(self.changes + other.changes, self.steps + other.steps)
        if isinstance(other, int) and other == 0:  # the begin of Python's sum
            return self
        raise ModelError(
            f"a level plus {told(other)}: write step_at(0, amount) for a stock that is there from second 0 on"
        )

    __radd__ = __add__

    def __neg__(self) -> LevelFunction:
        changes = tuple((edge, v, -height) for edge, v, height in self.changes)
        return LevelFunction(changes, tuple((time, -amount) for time, amount in self.steps))

    def __sub__(self, other: LevelFunction) -> LevelFunction:
        if not isinstance(other, LevelFunction):
            raise ModelError(f"a level minus {told(other)}: both sides must be levels")
        return self + -other

    def __le__(self, most: int) -> Level:
        return always_in(self, hi=most)

    def __ge__(self, least: int) -> Level:
        return always_in(self, lo=least)

    def __bool__(self) -> bool:
        raise ModelError(
            "a level over time is not True or False; level <= 9 and always_in(level, 0, 9) are constraints"
        )


@named
def at_start(interval: Interval, height: Number | Expression) -> LevelFunction:
    """Return the level that is ``height`` from the start of an interval on, and 0 before.

    Parameters
    ----------
    interval : Interval
        The interval. If it is absent, the level is 0.
    height : int or Expression
        A whole number, of any sign.

    Returns
    -------
    LevelFunction
        The level over time.

    Raises
    ------
    ModelError
        If the height need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, at_start, at_end, step_at
    >>> m = Model("m"); make, ship = m.interval("make", size=3), m.interval("ship", size=1)
    >>> stock = step_at(0, 2) + at_end(make, 5) - at_start(ship, 6)
    >>> m.add(stock >= 0, "stock")
    """
    return _change("at_start", interval, height)


@named
def at_end(interval: Interval, height: Number | Expression) -> LevelFunction:
    """Return the level that is ``height`` from the end of an interval on, and 0 before.

    Parameters
    ----------
    interval : Interval
        The interval. If it is absent, the level is 0.
    height : int or Expression
        A whole number, of any sign.

    Returns
    -------
    LevelFunction
        The level over time.

    Raises
    ------
    ModelError
        If the height need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, at_end
    >>> m = Model("m"); work = m.interval("work", size=3)
    >>> m.add(at_end(work, 2) <= 4, "level")
    """
    return _change("at_end", interval, height)


@named
def pulse(interval: Interval, height: Number | Expression) -> LevelFunction:
    """Return the level that is ``height`` while an interval runs, and 0 before and after.

    Parameters
    ----------
    interval : Interval
        The interval. If it is absent, the level is 0.
    height : int or Expression
        A whole number, of any sign.

    Returns
    -------
    LevelFunction
        The level over time.

    Raises
    ------
    ModelError
        If the height need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, pulse
    >>> m = Model("m"); work = m.interval("work", size=3)
    >>> m.add(pulse(work, 2) <= 4, "level")
    """
    return _change("pulse", interval, height)


@named
def step_at(time: int, amount: int) -> LevelFunction:
    """Return the level that is ``amount`` from a time on, and 0 before.

    Parameters
    ----------
    time : int
        Seconds.
    amount : int
        A whole number, of any sign.

    Returns
    -------
    LevelFunction
        The level over time.

    Examples
    --------
    >>> from schedlab import Model, at_start, step_at
    >>> m = Model("m"); use = m.interval("use", size=3)
    >>> m.add(step_at(0, 5) - at_start(use, 2) >= 0, "stock")
    """
    return LevelFunction((), ((whole(time, "step_at(): the time"), whole(amount, "step_at(): the amount")),))


@named
def always_in(
    level: LevelFunction,
    lo: int | None = None,
    hi: int | None = None,
    window: Window | None = None,
    during: Interval | None = None,
) -> Level:
    """Require that a level lies between bounds at all times, in a window, or while an interval runs.

    "All times" includes the time before the first change, when the level is 0: a least level above 0 can hold only in a
    window or during an interval.

    Parameters
    ----------
    level : LevelFunction
        The level, a sum of ``at_start``, ``at_end``, ``pulse`` and ``step_at``.
    lo, hi : int, optional
        The least and the greatest level, at least one of them.
    window : (int, int), optional
        The bounds hold from the first to before the second time, in seconds.
    during : Interval, optional
        The bounds hold from the start to before the end of this interval, if it is present.

    Returns
    -------
    Level
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If there is no bound, lo > hi, the window is empty, or both a window and an interval are given.

    Examples
    --------
    >>> from schedlab import Model, always_in, pulse
    >>> m = Model("m"); heat, weld = m.interval("heat", size=6), m.interval("weld", size=2)
    >>> m.add(always_in(pulse(heat, 300), lo=200, during=weld), "weld while it is hot")
    """
    if not isinstance(level, LevelFunction):
        raise ModelError(
            f"always_in({told(level)}): the first argument must be a level, as pulse(a, 2) + step_at(0, 3)"
        )
    changes, steps = level.changes, level.steps
    if lo is None and hi is None:
        raise ModelError("always_in(): give lo, hi or both")
    low = None if lo is None else whole(lo, "always_in(): lo")
    high = None if hi is None else whole(hi, "always_in(): hi")
    if low is not None and high is not None and low > high:
        raise ModelError(f"always_in(): lo is {low}, above hi, {high}")
    if window is not None and during is not None:
        raise ModelError("always_in(): give a window or an interval, not both")
    if during is not None and not isinstance(during, Interval):
        raise ModelError(f"always_in(): during is {told(during)}; expected an interval")
    times = None if window is None else _window(window)
    if changes or during is not None:
        several = [*(v for _, v, _ in changes), *(() if during is None else (during,))]
        common_model((v.start for v in several), "always_in()")
    return Level(changes, steps, low, high, times, during)


def level(
    changes: Sequence[Change],
    steps: Sequence[tuple[int, int]],
    lo: int | None = None,
    hi: int | None = None,
    window: Window | None = None,
    during: Interval | None = None,
) -> Level:
    """Return ``always_in`` of a level that is given by its parts, as JSON has them."""
    made = LevelFunction((), ())
    for edge, interval, height in changes:
        made = made + _change(edge, interval, height)
    for time, amount in steps:
        made = made + step_at(time, amount)
    return always_in(made, lo, hi, window, during)


def _change(edge: Edge, interval: Interval, height: Number | Expression) -> LevelFunction:
    if not isinstance(interval, Interval):
        raise ModelError(f"{edge}({told(interval)}, ...): the first argument must be an interval")
    if not isinstance(height, Expression):
        return LevelFunction(((edge, interval, whole(height, f"{edge}({interval}): the height")),), ())
    e = height.linear()
    if not e.integral:
        raise ModelError(f"{edge}({interval}): the height {e} must be a whole number")
    if not e.terms:
        return LevelFunction(((edge, interval, int(e.constant)),), ())
    if common_model(e.terms, f"the height of {interval}") is not interval.model:
        raise ModelError(f"{edge}({interval}): the height {e} belongs to another model")
    return LevelFunction(((edge, interval, e),), ())


def _window(window: Any) -> Window:
    lo, hi = (whole(t, "always_in(): a time of the window") for t in pair(window, "always_in(): the window"))
    if lo >= hi:
        raise ModelError(f"always_in(): the window ({lo}, {hi}) is empty; its begin must be before its end")
    return lo, hi
