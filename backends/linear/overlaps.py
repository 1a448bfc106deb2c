"""Overlaps of one interval of fixed size with several time windows, as piecewise linear functions of its start.

Data: an interval of size d that starts at s in ``[a, b]``, and windows ``[lo[w], hi[w])`` (all in seconds). The
overlap with window w is ``f[w](s) = max(0, min(s + d, hi[w]) - max(s, lo[w]))`` if the interval is present, else 0.

Let ``T[0] = a < T[1] < ... < T[n] = b`` be a, b and all times in between at which the interval starts or ends at an
edge of a window (``s`` or ``s + d`` equals ``lo[w]`` or ``hi[w]``). On each piece ``[T[k], T[k+1]]`` each overlap is
linear: ``f[w](s) = slope[w,k] s + const[w,k]``. Columns and rows, shared by all windows (multiple choice model
[Croxton2003])::

    y[k] in {0, 1}                            1 if the start lies in piece k, k = 0, ..., n-1
    u[k]                                      the start if it lies in piece k, else 0
    sum_k y[k] = p,  sum_k u[k] = s           p: the presence
    T[k] y[k] <= u[k] <= T[k+1] y[k]          for each piece k
    f[w] = sum_k (slope[w,k] u[k] + const[w,k] y[k])   for each window w

With one piece (n = 1) ``f[w] = slope s + const p``; with one start (a = b) ``f[w] = f[w](a) p``; no columns are needed
then. This is exact and has no big-M; its linear relaxation is the convex hull of the start together with all its
overlaps.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...models.language import Interval, Model
from ...models.language.constraints import expressions_of
from ...models.language.expressions import Atom, Overlap, atoms_below
from .form import INF, Affine, Floats, FormBuilder, Point
from .intervals import Intervals


class Overlaps:
    """The overlaps of a model; the columns of an interval are added when its first overlap is lowered."""

    def __init__(self, model: Model, form: FormBuilder, intervals: Intervals) -> None:
        self.model = model
        self.form = form
        self.intervals = intervals
        self._edges: dict[int, set[int]] | None = None
        self._pieces: dict[int, tuple[int, Floats]] = {}

    def lowered(self, atom: Atom, sides: int) -> Affine | None:
        """Return the overlap of an interval of fixed size as an expression over columns; None for any other atom."""
        if not isinstance(atom, Overlap) or atom.interval.size_lo != atom.interval.size_hi:
            return None
        v = atom.interval
        first, points = self._of(v)
        value = np.clip(np.minimum(points + v.size_lo, atom.hi) - np.maximum(points, atom.lo), 0, None)
        if len(points) == 2:  # linear in the start
            slope = (value[1] - value[0]) / (points[1] - points[0])
            at_zero = float(value[0] - slope * points[0])
            return self.intervals.view(v, "start").times(slope).plus(self.intervals.present(v).times(at_zero))
        if len(points) == 1:
            return self.intervals.present(v).times(float(value[0]))
        slope = np.diff(value) / np.diff(points)
        at_zero = value[:-1] - slope * points[:-1]
        terms = dict(enumerate(np.concatenate([at_zero, slope]).tolist(), first))
        return Affine({k: c for k, c in terms.items() if c})

    def _of(self, v: Interval) -> tuple[int, Floats]:
        """Return (column of y[0], T) of an interval; the columns u follow y. The column is -1 for n <= 1."""
        found = self._pieces.get(v.index)
        if found is None:
            found = self._pieces[v.index] = self._make(v)
        return found

    def _make(self, v: Interval) -> tuple[int, Floats]:
        """Add the columns y and u of an interval and their rows."""
        lo, hi = v.start_lo, v.start_hi
        turns = {t for edge in self._times(v) for t in (edge, edge - v.size_lo) if lo < t < hi}
        points = np.array(sorted({lo, hi, *turns}), dtype=np.float64)
        if len(points) <= 2:
            return -1, points
        n, i, form = len(points) - 1, v.index, self.form
        begin, end = points[:-1], points[1:]

        def chosen(p: Point) -> Floats:
            hot = np.zeros(n)
            if p.present[i]:
                hot[min(max(int(np.searchsorted(points, p.start[i], side="right")) - 1, 0), n - 1)] = 1.0
            return hot

        y = form.columns(n, 0, 1, integral=True, name="piece of a start", recipe=chosen)
        share = partial(_share, y=y, n=n, i=i)
        u = form.columns(n, np.minimum(begin, 0), np.maximum(end, 0), integral=False, name="start", recipe=share)
        form.row(Affine({y + k: 1.0 for k in range(n)}).plus(self.intervals.present(v), -1), 0, 0)
        form.row(Affine({u + k: 1.0 for k in range(n)}).plus(self.intervals.view(v, "start"), -1), 0, 0)
        for side, low, high in ((begin, 0.0, INF), (end, -INF, 0.0)):
            rows = np.arange(n) + form.rows(low, high, n)
            form.entries(rows, np.arange(u, u + n), 1)
            form.entries(rows, np.arange(y, y + n), -side)
        return y, points

    def _times(self, v: Interval) -> set[int]:
        """Return the edges of all windows whose overlap with the interval occurs in the model, in seconds."""
        if self._edges is None:
            self._edges = {}
            expressions = [e for _, c in self.model.constraints for e in expressions_of(c)]
            for atom in atoms_below([*expressions, *self.model.objectives]):
                if isinstance(atom, Overlap):
                    self._edges.setdefault(atom.interval.index, set()).update((atom.lo, atom.hi))
        return self._edges[v.index]


def _share(p: Point, y: int, n: int, i: int) -> Floats:
    """Return the values of the n columns u of interval i; ``y``: the column of y[0]."""
    found: Floats = p.x[y : y + n] * p.start[i]
    return found
