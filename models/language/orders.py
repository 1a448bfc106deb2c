"""The order of the intervals of a sequence in an assignment, and what violates a constraint on it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .constraints import DirectTransitions, NoIdle, Order, SameSequence
from .expressions import Interval

if TYPE_CHECKING:
    from .data import Assignment

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
    return None if any(end > start for end, start in zip(ends, starts[1:], strict=False)) else order


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
        return (k, f"{order[0]} is before {one}") if k else None
    if c.kind == "last":
        return (len(order) - 1 - k, f"{order[-1]} is after {one}") if k < len(order) - 1 else None
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
