"""Overlaps of one interval of fixed size with any number of windows, all of them on the same pieces of its start.

Between two neighbouring times at which it begins or ends at the edge of a window, each overlap is linear in the start.
With a binary z and a share s of the start for each piece, ``sum(z)`` the presence, ``sum(s)`` the start and
``lo z <= s <= hi z``, each overlap is ``sum(slope s + intercept z)``: no big-M, and the convex hull of the start with all
of its overlaps together (multiple choice: Croxton, Gendron and Magnanti 2003).
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
    """Makes the pieces of an interval when one of its overlaps is first asked for; the model says which there are."""

    def __init__(self, model: Model, form: FormBuilder, intervals: Intervals) -> None:
        self.model = model
        self.form = form
        self.intervals = intervals
        self._edges: dict[int, set[int]] | None = None
        self._pieces: dict[int, tuple[int, Floats]] = {}

    def lowered(self, atom: Atom, sides: int) -> Affine | None:
        """The overlap of an interval of fixed size, exactly; None for any other atom."""
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
        """(first column, points): of n pieces n binaries, then n shares of the start; none for a single piece."""
        found = self._pieces.get(v.index)
        if found is None:
            found = self._pieces[v.index] = self._make(v)
        return found

    def _make(self, v: Interval) -> tuple[int, Floats]:
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

        z = form.columns(n, 0, 1, integral=True, name="piece of a start", recipe=chosen)
        share = partial(_share, z=z, n=n, i=i)
        s = form.columns(n, np.minimum(begin, 0), np.maximum(end, 0), integral=False, name="start", recipe=share)
        form.row(Affine({z + k: 1.0 for k in range(n)}).plus(self.intervals.present(v), -1), 0, 0)
        form.row(Affine({s + k: 1.0 for k in range(n)}).plus(self.intervals.view(v, "start"), -1), 0, 0)
        for side, low, high in ((begin, 0.0, INF), (end, -INF, 0.0)):
            rows = np.arange(n) + form.rows(low, high, n)
            form.entries(rows, np.arange(s, s + n), 1)
            form.entries(rows, np.arange(z, z + n), -side)
        return z, points

    def _times(self, v: Interval) -> set[int]:
        """The edges of all windows that the model asks the interval's overlap with."""
        if self._edges is None:
            self._edges = {}
            expressions = [e for _, c in self.model.constraints for e in expressions_of(c)]
            for atom in atoms_below([*expressions, *self.model.objectives]):
                if isinstance(atom, Overlap):
                    self._edges.setdefault(atom.interval.index, set()).update((atom.lo, atom.hi))
        return self._edges[v.index]


def _share(p: Point, z: int, n: int, i: int) -> Floats:
    found: Floats = p.x[z : z + n] * p.start[i]
    return found
