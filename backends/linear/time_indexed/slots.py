"""Starts on a grid: for each interval the slots in which it may start, one binary column each.

A slot is a cell of the grid cut to a start window: the starts from ``first`` to ``last``. On the side "restrict", and
wherever cells are one second long, a slot is a single time. With x = 1 for the slot that is taken, ``sum(x)`` is the
presence and ``sum(first * x) <= start <= sum(last * x)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....models.language import Interval, Model
from ..form import INF, Affine, Floats, FormBuilder, Ints, Point, column, ranges
from ..intervals import IntervalColumns, Intervals
from .grid import Grid, Side


@dataclass(frozen=True)
class Slots:
    """All slots, by interval: ``bounds[i]:bounds[i + 1]`` are those of interval i, in increasing time.

    ``occupied_from``, ``occupied_to``: the cells ``from <= c < to`` that a start in the slot occupies, for intervals of
    fixed size: those it touches (restrict), or those at whose last instant it runs from every start of the slot (relax).
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
        until = np.searchsorted(p, end) if side == "restrict" else np.searchsorted(p, end, side="right") - 1
        until = np.where(end > first, np.maximum(until, cell), cell)
        bounds = np.searchsorted(owner, np.arange(len(model.intervals) + 1))
        return Slots(owner, first, last, cell, bounds, cell, until)

    @staticmethod
    def predict(model: Model, grid: Grid, side: Side) -> tuple[Ints, Ints]:
        """(slots, cells occupied from a start) of each interval, about, without making them."""
        owner, lo, hi = _windows(model)
        n = len(model.intervals)
        slots = np.bincount(owner, weights=_counts(grid, side, lo, hi), minlength=n).astype(np.int64)
        size = np.array([v.size_hi for v in model.intervals], dtype=np.int64)
        edges = np.array([(v.start_lo, v.start_hi) for v in model.intervals], dtype=np.int64).reshape(-1, 2)
        cells = [np.searchsorted(grid.points, t + size) - np.searchsorted(grid.points, t) + 1 for t in edges.T]
        return slots, (cells[0] + cells[1]) // 2

    def at(self, point: Point) -> NDArray[np.bool_]:
        """Which slots are taken."""
        start = point.start[self.owner]
        taken: NDArray[np.bool_] = point.present[self.owner] & (self.first <= start) & (start <= self.last)
        return taken


def _windows(model: Model) -> tuple[Ints, Ints, Ints]:
    """(interval, lo, hi) of all start windows."""
    table = [(v.index, lo, hi) for v in model.intervals for lo, hi in v.windows]
    owner, lo, hi = np.array(table, dtype=np.int64).reshape(-1, 3).T
    return owner, lo, hi


def _off_grid(points: Ints, lo: Ints) -> Ints:
    """1 where a window begins between points: its beginning becomes a slot of its own."""
    after = np.minimum(np.searchsorted(points, lo), len(points) - 1)
    off: Ints = (points[after] != lo).astype(np.int64)
    return off


def _counts(grid: Grid, side: Side, lo: Ints, hi: Ints) -> Ints:
    p = grid.points
    if side == "restrict":
        found: Ints = np.searchsorted(p, hi, side="right") - np.searchsorted(p, lo) + _off_grid(p, lo)
    else:
        found = np.searchsorted(p, hi, side="right") - np.searchsorted(p, lo, side="right") + 1
    return found


class SlotStarts(Intervals):
    """Starts as binary columns over slots; a start column only where somebody asks for it, or cells are coarse."""

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
        """First and last + 1 of the slots of an interval."""
        return int(self.slots.bounds[v.index]), int(self.slots.bounds[v.index + 1])

    def start(self, v: Interval) -> Affine:
        found = self._starts.get(v.index)
        if found is None:
            found = self._starts[v.index] = self._make_start(v)
        return found

    def _make_start(self, v: Interval) -> Affine:
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
        """``lo <= s - sum(time * x) <= hi``."""
        row = self.form.rows(lo, hi, 1)
        some = np.flatnonzero(times)
        self.form.entries([row], [s], 1)
        self.form.entries(np.full(len(some), row), self.x + a + some, -times[some])

    def starts(self, x: Floats) -> Ints:
        s = self.slots
        taken = np.rint(x[self.x : self.x + len(s.owner)])
        found = np.rint(np.bincount(s.owner, weights=s.first * taken, minlength=len(self.presence))).astype(np.int64)
        if not self.single:
            for i, e in self._starts.items():
                found[i] = round(e.value(x))
        return found

    def columns(self, v: Interval) -> IntervalColumns:
        a, b = self.range(v)
        s = self._starts.get(v.index)
        made = next(iter(s.terms), None) if s is not None and len(s.terms) == 1 else None
        return super().columns(v)._replace(start=made, cells=range(self.x + a, self.x + b), times=self.slots.first[a:b])
