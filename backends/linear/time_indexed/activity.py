"""Activity of intervals of variable size on a grid: 1 in the cells from the start to the end.

The end has binary columns of its own, y: on the side "restrict" it is rounded up to the next point, on "relax" down to
the cell that holds it. Then ``active[c] = active[c - 1] + sum(x in cell c) - y[c]``.
"""

from __future__ import annotations

import numpy as np

from ....models.language import Interval
from ..form import INF, Affine, Floats, Ints, Point
from .grid import Grid, Side
from .slots import SlotStarts


class Activity:
    """Makes the activity columns of an interval once, for all its resources."""

    def __init__(self, intervals: SlotStarts, grid: Grid, side: Side) -> None:
        self.intervals = intervals
        self.grid = grid
        self.side = side
        self._made: dict[int, tuple[Ints, Ints]] = {}

    def of(self, v: Interval) -> tuple[Ints, Ints]:
        """(cells, columns) of the activity of v."""
        if v.index not in self._made:
            self._made[v.index] = self._make(v)
        return self._made[v.index]

    def _make(self, v: Interval) -> tuple[Ints, Ints]:
        form, slots = self.intervals.form, self.intervals.slots
        a, b = self.intervals.range(v)
        if a == b:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        first_end, y, ends = self._ends(v)
        begin = int(min(slots.cell[a], first_end))
        cells = np.arange(begin, first_end + ends)
        n, x0 = len(cells), self.intervals.x + a

        def active(p: Point) -> Floats:
            weights = p.x[x0 : x0 + b - a]
            change: Floats = np.bincount(slots.cell[a:b] - begin, weights=weights, minlength=n).astype(np.float64)
            change[first_end - begin :] -= p.x[y : y + ends]
            return np.cumsum(change)

        act = form.columns(n, 0, 1, integral=False, name="active", recipe=active)
        row = form.rows(0, 0, n)
        numbers = row + np.arange(n)
        form.entries(numbers, act + np.arange(n), 1)
        form.entries(numbers[1:], act + np.arange(n - 1), -1)
        form.entries(row + slots.cell[a:b] - begin, np.arange(x0, x0 + b - a), -1)
        form.entries(row + np.arange(first_end - begin, n), np.arange(y, y + ends), 1)
        return cells[:-1], act + np.arange(n - 1)  # in the last cell it has ended in any case

    def _ends(self, v: Interval) -> tuple[int, int, int]:
        """(first cell without the interval, column of it, number): ``sum(lo * y) <= end <= sum(hi * y)``."""
        form, p = self.intervals.form, self.grid.points
        low, high = v.start_lo + v.size_lo, v.start_hi + v.size_hi
        if self.side == "restrict":
            k0, k1 = (int(np.searchsorted(p, t)) for t in (low, high))
            k = np.arange(k0, k1 + 1)
            lo, hi = np.where(k > 0, p[k - 1] + 1, low), p[k]
        else:
            k0, k1 = (int(np.searchsorted(p, t, side="right")) - 1 for t in (low, high))
            k = np.arange(k0, k1 + 1)
            lo, hi = p[k], p[k + 1] - 1
        lo, hi = np.maximum(lo, low), np.minimum(hi, high)
        i = v.index
        y = form.columns(
            len(k),
            0,
            1,
            integral=True,
            name="ends in",
            recipe=lambda q: q.present[i] & (lo <= q.end[i]) & (q.end[i] <= hi),
        )
        chosen = Affine({y + j: 1.0 for j in range(len(k))})
        form.row(chosen.plus(self.intervals.present(v), -1), 0, 0)
        end = self.intervals.view(v, "end")
        for times, a, b in ((lo, 0.0, INF), (hi, -INF, 0.0)):
            form.row(end.plus(Affine({y + j: float(t) for j, t in enumerate(times)}), -1), a, b)
        return k0, y, len(k)
