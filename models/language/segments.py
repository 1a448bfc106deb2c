"""The segments of a state function in an assignment: whether there are any, and the values in them.

Intervals that overlap are in one segment. So the present intervals are *blocks*, in the order of time: sets of intervals that
overlap directly or over others. A block starts with its first and ends with its last interval. Two blocks that follow each other
are in one segment if they have the same value, the first has no end-aligned interval, and the second no start-aligned one; or they
are in two segments, with the transition time between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .constraints import StateFunction

if TYPE_CHECKING:
    from .data import Assignment


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
