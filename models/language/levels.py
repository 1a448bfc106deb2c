"""Functions of time: levels that intervals change, such as stocks, and states, such as a temperature or a tool.

``at_start``, ``at_end``, ``pulse`` and ``step_at`` make levels, ``always_in`` constraints on them; ``always_equal`` and
``always_constant`` are what intervals require of a state, for ``state_function``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arguments import named
from ..words import with_short_repr
from .constraints import Change, Edge, Level, StateFunction, StateUse
from .expressions import (
    Expression,
    Interval,
    ModelError,
    Number,
    Window,
    common_model,
    distinct_intervals,
    listed,
    pair,
    told,
    whole,
)
from .sequences import matrix

if TYPE_CHECKING:
    from .constraints import Assignment


@with_short_repr
@dataclass(frozen=True, slots=True, eq=False)
class LevelFunction:
    """A level over time, as the sum of changes by intervals and of steps at fixed times; ``Level`` defines its value.

    It is made by ``at_start``, ``at_end``, ``pulse`` and ``step_at``. Levels are added, subtracted and summed up by
    ``sum``, that of Python or of schedlab; ``level >= 0`` and ``level <= 9`` are constraints at all times, ``always_in`` makes others.

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
    low = None
    if lo is not None:
        low = whole(lo, "always_in(): lo")
    high = None
    if hi is not None:
        high = whole(hi, "always_in(): hi")
    if low is not None and high is not None and low > high:
        raise ModelError(f"always_in(): lo is {low}, above hi, {high}")
    if window is not None and during is not None:
        raise ModelError("always_in(): give a window or an interval, not both")
    if during is not None and not isinstance(during, Interval):
        raise ModelError(f"always_in(): during is {told(during)}; expected an interval")
    times = None
    if window is not None:
        times = _window(window)
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


# --- State functions: what intervals require of a state that changes over time.


@named
def always_equal(interval: Interval, value: int, start_aligned: bool = False, end_aligned: bool = False) -> StateUse:
    """Return the requirement that a state has a value while an interval runs, for ``state_function``.

    Parameters
    ----------
    interval : Interval
        The interval, with a size of at least 1. If it is absent, nothing is required.
    value : int
        The value >= 0.
    start_aligned, end_aligned : bool, default False
        Whether the segment of time in which the state has the value starts (ends) when the interval does.

    Returns
    -------
    tuple of (Interval, int, bool, bool)
        The requirement.

    Raises
    ------
    ModelError
        If the interval can have size 0, or the value is no whole number >= 0.

    Examples
    --------
    >>> from schedlab import Model, always_equal
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> always_equal(a, 2, start_aligned=True)
    (a, 2, True, False)
    """
    return _use("always_equal()", interval, whole(value, "always_equal(): the value"), start_aligned, end_aligned)


@named
def always_constant(interval: Interval, start_aligned: bool = False, end_aligned: bool = False) -> StateUse:
    """Return the requirement that a state has one value, whichever, while an interval runs, for ``state_function``.

    Parameters
    ----------
    interval : Interval
        The interval, with a size of at least 1. If it is absent, nothing is required.
    start_aligned, end_aligned : bool, default False
        Whether the segment of time in which the state has the value starts (ends) when the interval does.

    Returns
    -------
    tuple of (Interval, None, bool, bool)
        The requirement.

    Raises
    ------
    ModelError
        If the interval can have size 0.

    Examples
    --------
    >>> from schedlab import Model, always_constant
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> always_constant(a)
    (a, None, False, False)
    """
    return _use("always_constant()", interval, None, start_aligned, end_aligned)


@named
def state_function(uses: Iterable[StateUse], transitions: Sequence[Sequence[int]] | None = None) -> StateFunction:
    """Require that a state that changes over time is what each interval requires while it runs.

    Parameters
    ----------
    uses : iterable of what ``always_equal`` and ``always_constant`` return
        The requirements of different intervals of one model.
    transitions : sequence of k sequences of k int, optional
        ``transitions[s][t]`` >= 0 is the least time in seconds between a segment of time in which the state is s and the next
        one, in which it is t, also if s = t. None: no time.

    Returns
    -------
    StateFunction
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an interval has two requirements, a value is not in [0, k), the matrix has another shape, or violates the triangle
        inequality.

    Examples
    --------
    >>> from schedlab import Model, always_equal, state_function
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(state_function([always_equal(a, 0), always_equal(b, 1)], transitions=[[0, 20], [35, 0]]), "furnace")
    """
    where = "state_function()"
    made = tuple(_checked(use) for use in listed(uses, f"{where}: the requirements"))
    distinct_intervals([v for v, _, _, _ in made], where)
    if transitions is None:
        return StateFunction(made)
    times = matrix(transitions, f"{where}: the transition times", least=0)
    for v, value, _, _ in made:
        if value is not None and value >= len(times):
            raise ModelError(
                f"{where}: {v} requires the value {value}, but the matrix has the values below {len(times)}"
            )
    for a, b, c in product(range(len(times)), repeat=3):
        if times[a][c] > times[a][b] + times[b][c]:
            raise ModelError(
                f"{where}: the transition from {a} to {c} takes {times[a][c]}, but {times[a][b]} + {times[b][c]} over {b}: "
                "the state could change faster over others; write the least times"
            )
    return StateFunction(made, times)


def _use(where: str, interval: Interval, value: int | None, start: bool, end: bool) -> StateUse:
    if not isinstance(interval, Interval):
        raise ModelError(f"{where}: expected an interval, not {told(interval)}")
    if interval.size_lo < 1:
        raise ModelError(f"{where}: {interval} can have size 0; an interval that uses a state must last at least 1 s")
    if value is not None and value < 0:
        raise ModelError(f"{where}: the value of {interval} is {value}; it must be >= 0")
    for given, side in ((start, "start_aligned"), (end, "end_aligned")):
        if not isinstance(given, bool):
            raise ModelError(f"{where}: {side} of {interval} is {told(given)}; expected True or False")
    return interval, value, start, end


def _checked(use: object) -> StateUse:
    if not isinstance(use, tuple) or len(use) != 4:
        raise ModelError(
            f"state_function(): expected what always_equal() or always_constant() returns, not {told(use)}"
        )
    interval, value, start, end = use
    known = None
    if value is not None:
        known = whole(value, "state_function(): a value")
    return _use("state_function()", interval, known, start, end)


# --- The segments of a state function in an assignment: whether there are any, and the values in them.
#
# Intervals that overlap are in one segment. So the present intervals are *blocks*, in the order of time: sets of intervals that
# overlap directly or over others. A block starts with its first and ends with its last interval. Two blocks that follow each other
# are in one segment if they have the same value, the first has no end-aligned interval, and the second no start-aligned one; or they
# are in two segments, with the transition time between them.


class Block(NamedTuple):
    """Intervals that overlap: their positions in the uses, the time from the first start to the last end."""

    members: list[int]
    start: int
    end: int


class Segments(NamedTuple):
    """The value of each use (None if it is absent, or there are no segments), and the violation, if there is one."""

    values: list[int | None]
    violation: tuple[float, str] | None


def segments(c: StateFunction, s: Assignment) -> Segments:
    """Return the values of the intervals in segments that obey a state function, or why there are none.

    Examples
    --------
    >>> from schedlab import Model, Assignment, always_constant, always_equal, state_function
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> state = state_function([always_equal(a, 1), always_constant(b)], [[0, 9], [9, 0]])
    >>> segments(state, Assignment(m, {a: 0, b: 5})).values
    [1, 1]
    """
    nothing: list[int | None] = [None] * len(c.uses)
    blocks = _blocks(c, s)
    allowed = []
    for block in blocks:
        wrong = _wrong(c, block, s)
        if wrong is not None:
            return Segments(nothing, wrong)
        fixed = [value for k in block.members if (value := c.uses[k][1]) is not None]
        allowed.append(fixed[:1] or list(c.values))
    chains: list[dict[int, int]] = []  # for each block the values that it can have, and a value of the block before
    for k, block in enumerate(blocks):
        if not k:
            chains.append(dict.fromkeys(allowed[0], -1))
            continue
        before = blocks[k - 1]
        gap = block.start - before.end
        joined = not any(c.uses[j][3] for j in before.members) and not any(c.uses[j][2] for j in block.members)
        reached: dict[int, int] = {}
        for value in allowed[k]:
            for known in chains[-1]:
                if gap >= c.transition(known, value) or (joined and known == value):
                    reached.setdefault(value, known)
        if not reached:
            missing = min(c.transition(known, value) - gap for known in chains[-1] for value in allowed[k])
            one, other = (c.uses[b.members[0]][0] for b in (before, block))
            return Segments(
                nothing, (missing, f"from {one} to {other}, the state changes in {gap}, but needs {gap + missing}")
            )
        chains.append(reached)
    values = nothing
    chosen = 0
    if chains:
        chosen = next(iter(chains[-1]), 0)
    for block, chain in zip(reversed(blocks), reversed(chains), strict=True):
        for k in block.members:
            values[k] = chosen
        chosen = chain[chosen]
    return Segments(values, None)


def _blocks(c: StateFunction, s: Assignment) -> list[Block]:
    spans = sorted((s.start[v.index], s.end[v.index], k) for k, (v, _, _, _) in enumerate(c.uses) if s.present[v.index])
    blocks: list[Block] = []
    for start, end, k in spans:
        if blocks and start < blocks[-1].end:
            last = blocks[-1]
            blocks[-1] = Block([*last.members, k], last.start, max(last.end, end))
        else:
            blocks.append(Block([k], start, end))
    return blocks


def _wrong(c: StateFunction, block: Block, s: Assignment) -> tuple[float, str] | None:
    """Return why the intervals of a block cannot be in one segment; None if they can."""
    first = None
    for k in block.members:
        v, value, start_aligned, end_aligned = c.uses[k]
        i = v.index
        if start_aligned and s.start[i] > block.start:
            return s.start[i] - block.start, f"{v} starts at {s.start[i]}, its segment at {block.start}"
        if end_aligned and s.end[i] < block.end:
            return block.end - s.end[i], f"{v} ends at {s.end[i]}, its segment at {block.end}"
        if value is not None and first is not None and first[1] != value:
            return 1, f"{first[0]} requires {first[1]}, but {v} requires {value}, between {block.start} and {block.end}"
        if value is not None:
            first = v, value
    return None
