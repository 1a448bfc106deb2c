"""A warm start for a grid that restricts: each start is moved to a later slot at which the interval still fits.

This is a greedy heuristic. Groups of intervals that must start together (alternative, synchronize) are placed in the
order of their starts. A group goes to the first time that is a slot of all its intervals, not before its start, not
before the precedences from intervals placed earlier allow, outside of the forbidden windows, at which all its resources
have room in each touched cell, and the transition times to the intervals placed earlier are kept.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....models.language import (
    Alternative,
    Assignment,
    Cumulative,
    Evaluator,
    ForbidExtent,
    Interval,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
    UndefinedValue,
)
from ....models.language.expressions import Window
from ..form import Floats, Ints
from .grid import Grid
from .slots import Slots


@dataclass(eq=False)
class Load:
    """The capacity of a resource that is left in each cell, an array of shape (cells,)."""

    left: Floats

    def fits(self, begin: Ints, end: Ints, demand: float) -> NDArray[np.bool_]:
        """Return for each k whether the demand fits in all cells ``begin[k] <= c < end[k]``."""
        short = np.concatenate([[0], np.cumsum(self.left < demand)])
        fine: NDArray[np.bool_] = short[end] == short[begin]
        return fine


def rebuild(model: Model, assignment: Assignment, slots: Slots, grid: Grid) -> Assignment:
    """Return an assignment with its starts moved to slots of a grid; presences, sizes and integers stay.

    Parameters
    ----------
    model : Model
        The model.
    assignment : Assignment
        A solution of the model.
    slots : Slots
        The slots of the model on the grid, side "restrict".
    grid : Grid
        The grid.

    Returns
    -------
    Assignment
        A group for which no slot fits keeps its starts, which the linear form then does not accept. Constraints other
        than resources, minimum lags, forbidden extents, alternatives and synchronizes are ignored, so the result must be checked.
    """
    return _Rebuild(model, assignment, slots, grid).run()


class _Rebuild:
    def __init__(self, model: Model, assignment: Assignment, slots: Slots, grid: Grid) -> None:
        self.given = assignment
        self.slots = slots
        self.grid = grid
        self.model = model
        self.made = Assignment(model)
        self.made.integer = list(assignment.integer)
        self.uses: dict[int, list[tuple[Load, float]]] = defaultdict(list)
        self.before: dict[int, list[Precedence]] = defaultdict(list)
        self.transitions: list[NoOverlap] = []
        self.forbidden: dict[int, tuple[Window, ...]] = defaultdict(tuple)
        self.leader = list(range(len(model.intervals)))
        for _, c in model.constraints:
            match c:
                case Alternative(a, others, _) | Synchronize(a, others):
                    self._together(a, others)
                case NoOverlap(intervals):
                    load = Load(np.ones(grid.cells))
                    for v in intervals:
                        self.uses[v.index].append((load, 1.0))
                    if c.transitions:
                        self.transitions.append(c)
                case ForbidExtent(v, windows):
                    self.forbidden[v.index] += windows
                case Cumulative():
                    self._cumulative(c)
                case Precedence():
                    for part in c.parts:
                        self.before[part.after.index].append(part)
                case _:
                    pass

    def _cumulative(self, c: Cumulative) -> None:
        """Add a cumulative to the resources, with the demands that the assignment gives."""
        load, evaluator = Load(self.grid.capacity(c.steps, "restrict")), Evaluator(self.given)
        for v, d in zip(c.intervals, c.demands, strict=True):
            if self.given.present[v.index]:
                try:
                    self.uses[v.index].append((load, float(evaluator.value(d))))
                except UndefinedValue:
                    continue

    def _together(self, a: Interval, others: tuple[Interval, ...]) -> None:
        """Put an interval and those of the others that are present into one group."""
        present = self.given.present
        for o in others:
            if present[a.index] and present[o.index]:
                self.leader[self._lead(o.index)] = self._lead(a.index)

    def _lead(self, i: int) -> int:
        """Return the index of the interval that represents the group of interval i."""
        while self.leader[i] != i:
            i = self.leader[i]
        return i

    def run(self) -> Assignment:
        """Place all groups in the order of their starts."""
        groups: dict[int, list[Interval]] = defaultdict(list)
        for v in self.model.intervals:
            if self.given.present[v.index]:
                groups[self._lead(v.index)].append(v)
        for group in sorted(groups.values(), key=lambda g: self.given.start[g[0].index]):
            self._place(group)
        return self.made

    def _place(self, group: list[Interval]) -> None:
        """Set the start of a group and subtract its demands from its resources."""
        earliest = max(max(self.given.start[v.index], self._after(v)) for v in group)
        times: Ints | None = None
        for v in group:
            own = self._times(v)
            times = own[own >= earliest] if times is None else np.intersect1d(times, own)
        assert times is not None
        for v in group:
            begin, end = self._cells(v, times)
            fine = np.ones(len(times), dtype=bool)
            for load, demand in self.uses[v.index] if self._size(v) else []:
                fine &= load.fits(begin, end, demand)
            times = times[fine & self._allowed(v, times)]
        for v in group:
            start = int(times[0]) if len(times) else self.given.start[v.index]
            self.made.set(v, start, start + self._size(v))
            (begin,), (end,) = self._cells(v, np.array([start]))
            for load, demand in self.uses[v.index] if self._size(v) else []:
                load.left[begin:end] -= demand

    def _allowed(self, v: Interval, times: Ints) -> NDArray[np.bool_]:
        """Return for each start time whether v keeps clear of its forbidden windows and keeps its transition times."""
        ends = times + self._size(v)
        fine = np.ones(len(times), dtype=bool)
        for lo, hi in self.forbidden[v.index] if self._size(v) else ():
            fine &= (ends <= lo) | (times >= hi)
        for c in self.transitions:
            if v not in c.intervals:
                continue
            at = c.intervals.index(v)
            for k, other in enumerate(c.intervals):
                i = other.index
                if self.made.present[i]:
                    after = times >= self.made.end[i] + c.transition(k, at)
                    fine &= after | (ends + c.transition(at, k) <= self.made.start[i])
        return fine

    def _size(self, v: Interval) -> int:
        return self.given.end[v.index] - self.given.start[v.index]

    def _times(self, v: Interval) -> Ints:
        a, b = self.slots.bounds[v.index : v.index + 2]
        return self.slots.first[a:b]

    def _cells(self, v: Interval, times: Ints) -> tuple[Ints, Ints]:
        """Return (from, to) of the cells that v touches for each start time."""
        p = self.grid.points
        return np.searchsorted(p, times, side="right") - 1, np.searchsorted(p, times + self._size(v))

    def _after(self, v: Interval) -> int:
        """Return the earliest start that the precedences from intervals placed earlier allow."""
        lower = self.given.start[v.index]
        for c in self.before[v.index]:
            i = c.before.index
            if self.made.present[i]:
                left, right = c.fields
                reached = self.made.end[i] if left == "end" else self.made.start[i]
                lower = max(lower, reached + c.delay - (self._size(v) if right == "end" else 0))
        return lower
