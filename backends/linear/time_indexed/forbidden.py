"""Starts that forbidden extents and transition times exclude, as rows over the binaries of the start slots.

Data: intervals i of fixed size ``D[i]`` (positive for a forbidden extent) whose slots k are single times ``t[i,k]`` (``slots``), with the binaries
``x[i,k]``. Rows:

**Forbid extent** of interval i with the windows ``[lo, hi)``::

    x[i,k] = 0                          for each k with lo - D[i] < t[i,k] < hi for one of the windows

**Transitions** of a no_overlap, for each pair i, j with the times ``u[i,j]`` and ``u[j,i]``, one of which is positive, or
with a size D of 0::

    x[j,k] + sum_{l in L[k]} x[i,l] <= 1                                                    for each slot k of j
    L[k] = {l: t[j,k] - D[i] - u[i,j] < t[i,l] < t[j,k] + D[j] + u[j,i]}

L is the set of starts of i that are too late to run before j and too early to run after it. At most one ``x[i,l]`` is 1,
so this is exact, without binaries for the order. Intervals of variable size, and all intervals of a grid whose slots are
not single times, have the rows of ``schedlab.backends.linear.constraints``; so have points whose order needs ranks.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ....models.language import ForbidExtent, Interval, NoOverlap
from .. import constraints
from ..form import INF, FormBuilder, Ints, ranges
from .slots import SlotStarts


def forbid_extent(form: FormBuilder, intervals: SlotStarts, c: ForbidExtent) -> None:
    """Add the rows of a forbid_extent."""
    v = c.interval
    if not _plain(intervals, v) or v.size_lo == 0:
        constraints.forbid_extent(form, intervals, c)
        return
    a, b = intervals.range(v)
    times = intervals.slots.first[a:b]
    excluded = np.zeros(b - a, dtype=bool)
    for lo, hi in c.within_reach():
        excluded |= (times > lo - v.size_lo) & (times < hi)
    some = np.flatnonzero(excluded)
    form.entries(form.rows(0, 0, len(some)) + np.arange(len(some)), intervals.x + a + some, 1)


def transitions(form: FormBuilder, intervals: SlotStarts, c: NoOverlap) -> None:
    """Add the rows of the transition times of a no_overlap."""
    c = c.capped()
    cycles = c.cyclic_points()
    ranked = {pair for some in cycles for pair in combinations(some, 2)}
    for some in cycles:
        constraints.transitions(form, intervals, c.part(some))
    for a, b in combinations(range(len(c.intervals)), 2):
        v, w = c.intervals[a], c.intervals[b]
        if (a, b) in ranked or not c.separated(a, b):
            continue
        if _plain(intervals, v) and _plain(intervals, w):
            _pair(form, intervals, v, w, (c.transition(a, b), c.transition(b, a)))
        else:
            constraints.transitions(form, intervals, c.part((a, b)))


def predict_transitions(c: NoOverlap, slots: Ints, cells: Ints) -> tuple[int, int]:
    """Return about how many (rows, non-zeros) the transition times need, from the slots and cells of all intervals."""
    rows = nonzeros = 0
    for a, b in combinations(range(len(c.intervals)), 2):
        if c.separated(a, b):
            v, w = c.intervals[a].index, c.intervals[b].index
            rows += int(slots[w])
            nonzeros += int(slots[w]) * min(
                int(slots[v]), int(cells[v] + cells[w]) + c.transition(a, b) + c.transition(b, a)
            )
    return rows, nonzeros


def _plain(intervals: SlotStarts, v: Interval) -> bool:
    """Return whether each slot of v is a single time, and the size of v fixed."""
    return intervals.single and v.size_lo == v.size_hi


def _pair(form: FormBuilder, intervals: SlotStarts, v: Interval, w: Interval, times: tuple[int, int]) -> None:
    """Add the rows of a pair of intervals; ``times``: from v to w, and from w to v."""
    (a, b), (c, d) = intervals.range(v), intervals.range(w)
    starts, at = intervals.slots.first[a:b], intervals.slots.first[c:d]
    first = np.searchsorted(starts, at - v.size_lo - times[0], side="right")
    last = np.searchsorted(starts, at + w.size_lo + times[1], side="left")
    some = np.flatnonzero(first < last)
    row = form.rows(-INF, 1, len(some)) + np.arange(len(some))
    form.entries(row, intervals.x + c + some, 1)
    which, slot = ranges(first[some], last[some])
    form.entries(row[which], intervals.x + a + slot, 1)
