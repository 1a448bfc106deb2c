"""Start slots of intervals on a grid, one binary column for each, and the cells that a start in a slot occupies.

Data: grid points ``P[0] < P[1] < ...`` in seconds, cells ``c = [P[c], P[c+1])``, start windows of interval i. Slot k
of i stands for the starts from ``first[i,k]`` to ``last[i,k]``. Side "restrict": a slot is a single time (``first`` and
``last`` are equal), the beginning of a window or a grid point within a window. Side "relax": a slot is the part of a
cell that lies within a window. Columns and rows, with the presence p::

    x[i,k] in {0, 1}                 1 if i starts in its slot k
    sum_k x[i,k] = p[i]
    s[i] = sum_k first[i,k] x[i,k]                                  if all slots of i are single times
    sum_k first[i,k] x[i,k] <= s[i] <= sum_k last[i,k] x[i,k]       otherwise

If all slots of the model are single times, a column ``s[i]`` is added only if an expression or constraint uses it.

A start in slot k occupies these cells, for a fixed size D (variable sizes: ``activity``)::

    O[i,k] = {c: [P[c], P[c+1]) meets [first, first + D)}                        restrict: each cell that is touched
    O[i,k] = {c: first[i,k]'s cell <= c and P[c+1] <= first[i,k] + D}            relax

On the side "relax" an interval runs at the last second of each cell of O for each start in the slot. On a grid with
cells of 1 s both sides are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....models.language import Interval, Model
from ...base import Side
from ..form import INF, Affine, Floats, FormBuilder, Ints, Point, column, ranges
from ..intervals import IntervalColumns, Intervals
from .grid import Grid


@dataclass(frozen=True, eq=False)
class Slots:
    """The n slots of all intervals of a model, sorted by interval and time; arrays of shape (n,) unless noted.

    Attributes
    ----------
    owner : array
        Index of the interval of each slot.
    first, last : array
        Least and greatest start of each slot in seconds.
    cell : array
        Grid cell of each slot.
    bounds : array of shape (number of intervals + 1,)
        The slots of interval i are ``bounds[i]:bounds[i + 1]``.
    occupied_from, occupied_to : array
        A start in the slot occupies the cells ``occupied_from <= c < occupied_to`` (least size; see the module).
    """

    owner: Ints
    first: Ints
    last: Ints
    cell: Ints
    bounds: Ints
    occupied_from: Ints
    occupied_to: Ints

    @staticmethod
    def of(model: Model, grid: Grid, side: Side) -> Slots:
        """Return the slots of a model."""
        owner, lo, hi = _windows(model)
        p = grid.points
        counts = _counts(grid, side, lo, hi)
        window, k = ranges(np.zeros_like(counts), counts)
        if side == "restrict":
            offset = np.searchsorted(p, lo) - _off_grid(p, lo)
            first = np.where(k == 0, lo[window], p[np.minimum(offset[window] + k, len(p) - 1)])
            last, cell = first, np.searchsorted(p, first, side="right") - 1
        else:
            cell = np.searchsorted(p, lo, side="right")[window] - 1 + k
            first, last = np.maximum(p[cell], lo[window]), np.minimum(p[cell + 1] - 1, hi[window])
        owner = owner[window]
        end = first + np.array([v.size_lo for v in model.intervals], dtype=np.int64)[owner]
        end_cell = np.searchsorted(p, end) if side == "restrict" else np.searchsorted(p, end, side="right") - 1
        end_cell = np.where(end > first, np.maximum(end_cell, cell), cell)
        bounds = np.searchsorted(owner, np.arange(len(model.intervals) + 1))
        return Slots(owner, first, last, cell, bounds, cell, end_cell)

    @staticmethod
    def predict(model: Model, grid: Grid, side: Side) -> tuple[Ints, Ints]:
        """Return the number of slots of each interval and about how many cells each occupies; arrays by interval."""
        owner, lo, hi = _windows(model)
        n = len(model.intervals)
        slots = np.bincount(owner, weights=_counts(grid, side, lo, hi), minlength=n).astype(np.int64)
        size = np.array([v.size_hi for v in model.intervals], dtype=np.int64)
        edges = np.array([(v.start_lo, v.start_hi) for v in model.intervals], dtype=np.int64).reshape(-1, 2)
        cells = [np.searchsorted(grid.points, t + size) - np.searchsorted(grid.points, t) + 1 for t in edges.T]
        return slots, (cells[0] + cells[1]) // 2

    def at(self, point: Point) -> NDArray[np.bool_]:
        """Return for each slot whether its interval starts in it at a point."""
        start = point.start[self.owner]
        taken: NDArray[np.bool_] = point.present[self.owner] & (self.first <= start) & (start <= self.last)
        return taken


def _windows(model: Model) -> tuple[Ints, Ints, Ints]:
    """Return interval, first and last time of all start windows."""
    table = [(v.index, lo, hi) for v in model.intervals for lo, hi in v.windows]
    owner, lo, hi = np.array(table, dtype=np.int64).reshape(-1, 3).T
    return owner, lo, hi


def _off_grid(points: Ints, lo: Ints) -> Ints:
    """Return 1 for a window that begins between two points (its beginning is an additional slot), else 0."""
    after = np.minimum(np.searchsorted(points, lo), len(points) - 1)
    off: Ints = (points[after] != lo).astype(np.int64)
    return off


def _counts(grid: Grid, side: Side, lo: Ints, hi: Ints) -> Ints:
    """Return the number of slots of each start window."""
    p = grid.points
    if side == "restrict":
        found: Ints = np.searchsorted(p, hi, side="right") - np.searchsorted(p, lo) + _off_grid(p, lo)
    else:
        found = np.searchsorted(p, hi, side="right") - np.searchsorted(p, lo, side="right") + 1
    return found


class SlotStarts(Intervals):
    """The columns of all intervals, with binary columns over slots for the starts."""

    def __init__(self, model: Model, form: FormBuilder, slots: Slots) -> None:
        super().__init__(model, form)
        self.slots = slots
        self.single = bool(np.all(slots.first == slots.last))
        self.x = form.columns(len(slots.owner), 0, 1, integral=True, name="starts in", recipe=slots.at)
        n, presence = len(model.intervals), np.array(self.presence, dtype=np.int64)
        optional = presence >= 0
        row = form.rows(np.where(optional, 0.0, 1.0), np.where(optional, 0.0, 1.0), n)
        form.entries(row + slots.owner, self.x + np.arange(len(slots.owner)), 1)
        form.entries(row + np.flatnonzero(optional), presence[optional], -1)
        self._starts: dict[int, Affine] = {}
        if not self.single:
            for v in model.intervals:
                self.start(v)

    def range(self, v: Interval) -> tuple[int, int]:
        """Return (first, last + 1) of the slots of an interval."""
        return int(self.slots.bounds[v.index]), int(self.slots.bounds[v.index + 1])

    def start(self, v: Interval) -> Affine:
        """Return the start as an expression over columns; add its column at the first call."""
        found = self._starts.get(v.index)
        if found is None:
            found = self._starts[v.index] = self._make_start(v)
        return found

    def _make_start(self, v: Interval) -> Affine:
        """Add the start column of an interval and its rows; a single slot needs no column."""
        a, b = self.range(v)
        first, last = self.slots.first[a:b], self.slots.last[a:b]
        same = bool(np.all(first == last))
        if same and b - a == 1:
            return Affine({self.x + a: float(first[0])}) if v.optional else Affine({}, float(first[0]))
        low, high = (min(v.start_lo, 0), max(v.start_hi, 0)) if v.optional else (v.start_lo, v.start_hi)
        i = v.index
        s = self.form.column(
            low, high, integral=not same, name="start", recipe=lambda p: p.start[i] if p.present[i] else 0
        )
        if same:
            self._tie(s, a, first, 0, 0)
        else:
            self._tie(s, a, first, 0, INF)
            self._tie(s, a, last, -INF, 0)
        return column(s)

    def _tie(self, s: int, a: int, times: Ints, lo: float, hi: float) -> None:
        """Add the row ``lo <= s - sum_k times[k] x[k] <= hi``; ``a``: the first slot of the interval."""
        row = self.form.rows(lo, hi, 1)
        some = np.flatnonzero(times)
        self.form.entries([row], [s], 1)
        self.form.entries(np.full(len(some), row), self.x + a + some, -times[some])

    def starts(self, x: Floats) -> Ints:
        """Return the start of each interval, in seconds, for column values ``x``."""
        s = self.slots
        taken = np.rint(x[self.x : self.x + len(s.owner)])
        found = np.rint(np.bincount(s.owner, weights=s.first * taken, minlength=len(self.presence))).astype(np.int64)
        if not self.single:
            for i, e in self._starts.items():
                found[i] = round(e.value(x))
        return found

    def columns(self, v: Interval) -> IntervalColumns:
        """Return the columns of one interval."""
        a, b = self.range(v)
        s = self._starts.get(v.index)
        made = next(iter(s.terms), None) if s is not None and len(s.terms) == 1 else None
        return super().columns(v)._replace(start=made, cells=range(self.x + a, self.x + b), times=self.slots.first[a:b])
