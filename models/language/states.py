"""State functions: what intervals require of a state that changes over time, such as a temperature or a tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ..arguments import named
from .constraints import StateFunction, StateUse
from .declarations import _intervals
from .expressions import Interval
from .quantities import ModelError, listed, told, whole
from .sequences import matrix

if TYPE_CHECKING:
    from .data import Assignment


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
    _intervals([v for v, _, _, _ in made], where)
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
    known = None if value is None else whole(value, "state_function(): a value")
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
    chosen = next(iter(chains[-1]), 0) if chains else 0
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
