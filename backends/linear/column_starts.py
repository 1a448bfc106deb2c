"""One integer column for the start of each interval, used by the pairwise and the energy lowering.

Data of interval i: start windows ``[a[i,k], b[i,k]]`` in seconds, k = 1, ..., K[i], in increasing time. Columns and
rows, with p the presence::

    s[i] integer, a[i,1] <= s[i] <= b[i,K]; if i is optional, these bounds are widened to include 0
    one window, optional:   a[i,1] p[i] <= s[i] <= b[i,1] p[i]
    several windows:        w[i,k] in {0, 1} for each window k
                            sum_k w[i,k] = p[i]
                            sum_k a[i,k] w[i,k] <= s[i] <= sum_k b[i,k] w[i,k]

The binary ``w[i,k]`` is 1 if the start lies in window k. An absent interval has ``s[i] = 0``. This is exact, and no
big-M is needed.
"""

from __future__ import annotations

import numpy as np

from ...models.language import Interval, Model
from .form import INF, Affine, Floats, FormBuilder, Ints, column
from .intervals import IntervalColumns, Intervals


class ColumnStarts(Intervals):
    """The columns of all intervals, with one integer column for each start."""

    def __init__(self, model: Model, form: FormBuilder) -> None:
        super().__init__(model, form)
        spans = [(v.start_lo, v.start_hi, v.optional) for v in model.intervals]
        lows = np.array([min(lo, 0) if optional else lo for lo, _, optional in spans], dtype=np.float64)
        highs = np.array([max(hi, 0) if optional else hi for _, hi, optional in spans], dtype=np.float64)
        self.first = form.columns(
            len(spans), lows, highs, integral=True, name="start", recipe=lambda p: np.where(p.present, p.start, 0)
        )
        for v in model.intervals:
            if len(v.windows) > 1:
                self._windows(v)
            elif v.optional:
                self.tie(self.start(v), v, v.start_lo, v.start_hi)

    def _windows(self, v: Interval) -> None:
        """Add a binary column for each start window of v and the rows that tie the start to them."""
        lows, highs = (np.array(side) for side in zip(*v.windows, strict=True))
        i, form = v.index, self.form
        w = form.columns(
            len(lows),
            0,
            1,
            integral=True,
            name="window",
            recipe=lambda p: p.present[i] & (lows <= p.start[i]) & (p.start[i] <= highs),
        )
        form.row(Affine({w + k: 1.0 for k in range(len(lows))}).plus(self.present(v), -1), 0, 0)
        for sides, lo, hi in ((highs, -INF, 0.0), (lows, 0.0, INF)):
            form.row(self.start(v).plus(Affine({w + k: float(t) for k, t in enumerate(sides)}), -1), lo, hi)

    def start(self, v: Interval) -> Affine:
        """Return the start column."""
        return column(self.first + v.index)

    def starts(self, x: Floats) -> Ints:
        """Return the start of each interval, in seconds, for column values ``x``."""
        return np.rint(x[self.first : self.first + len(self.model.intervals)]).astype(np.int64)

    def columns(self, v: Interval) -> IntervalColumns:
        """Return the columns of one interval."""
        return super().columns(v)._replace(start=self.first + v.index)
