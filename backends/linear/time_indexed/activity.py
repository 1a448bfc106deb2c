"""Activity of an interval of variable size: a column for each cell that is 1 in the cells that the interval occupies.

Grid points ``P[0] < P[1] < ...`` in seconds, cells ``c = [P[c], P[c+1])``; ``x[k]`` is 1 if the interval starts in its
slot k, which lies in cell ``cell[k]`` (``slots``); p, s, z, e as in ``schedlab.backends.linear``. Columns and rows::

    y[c] in {0, 1}                            1 if c is the first cell from the start on that is not occupied
    sum_c y[c] = p
    sum_c A[c] y[c] <= e <= sum_c B[c] y[c]   A[c], B[c]: least and greatest end for y[c] = 1
    0 <= a[c] <= 1                            1 if the interval occupies cell c
    a[c] = a[c-1] + sum_{k: cell[k] = c} x[k] - y[c]   for each cell c that the interval can reach

Side "restrict": the end is rounded up, ``A[c] = P[c-1] + 1`` and ``B[c] = P[c]``, so each touched cell is occupied.
Side "relax": the end is rounded down, ``A[c] = P[c]`` and ``B[c] = P[c+1] - 1``, so a cell is occupied only if the
interval runs at its last instant. A and B are cut to the earliest and latest end. On a grid of step 1 s both are
exact.
"""

from __future__ import annotations

import numpy as np

from ....models.language import Interval
from ...base import Side
from ..form import INF, Affine, Floats, Ints, Point
from .grid import Grid
from .slots import SlotStarts


class Activity:
    """The activity columns of the intervals of a model, added once for all resources of an interval."""

    def __init__(self, intervals: SlotStarts, grid: Grid, side: Side) -> None:
        self.intervals = intervals
        self.grid = grid
        self.side = side
        self._made: dict[int, tuple[Ints, Ints]] = {}

    def of(self, v: Interval) -> tuple[Ints, Ints]:
        """Return the cells that v can occupy and the activity column of each."""
        if v.index not in self._made:
            self._made[v.index] = self._make(v)
        return self._made[v.index]

    def _make(self, v: Interval) -> tuple[Ints, Ints]:
        """Add the columns y and a of an interval and their rows."""
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
        return cells[:-1], act + np.arange(n - 1)  # in the last cell the activity is always 0

    def _ends(self, v: Interval) -> tuple[int, int, int]:
        """Add the columns y and their rows; return (first cell c, column of its y, number of columns)."""
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
