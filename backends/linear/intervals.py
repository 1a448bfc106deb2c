"""Columns and rows for integer variables and for the presence, size and end of intervals, used by all lowerings.

Data of interval i: least and greatest size ``z_lo, z_hi`` in seconds, and whether it is optional. Each lowering adds
the starts ``s[i]`` in its own form (``column_starts``, ``time_indexed.slots``). Columns and rows::

    x in {lo(x), ..., hi(x)}               for each integer variable x
    p[i] in {0, 1}                         for each optional interval; p[i] = 1 for the others, without a column
    z[i] = z_lo p[i]                       if z_lo = z_hi, without a column
    z[i] integer, z_lo p[i] <= z[i] <= z_hi p[i]   otherwise
    e[i] = s[i] + z[i]                     without a column
    r[i] = p[i]                            if z_lo > 0
    r[i] = 0                               if z_hi = 0
    r[i] in {0, 1}, z[i] <= z_hi r[i]      otherwise

The flag ``r[i]`` ("runs") must be 1 if the interval is present with a positive size; intervals of size 0 occupy
nothing. It may also be 1 for size 0: it only adds requirements, so a solver can always set it to 0 there. All this is
exact. An absent interval has ``s[i] = z[i] = e[i] = 0``.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongArgument
from ...models.language import Interval, Model
from ...models.language.expressions import AttributeName
from .form import INF, Affine, Floats, FormBuilder, Ints, Point, column


class IntervalColumns(NamedTuple):
    """The columns of one interval in the linear form.

    Attributes
    ----------
    presence : int or None
        Column of the presence; None if the interval is not optional.
    start : int or None
        Column of the start in seconds; None if only ``cells`` gives the start.
    size : int or None
        Column of the size in seconds; None if the size is fixed.
    cells : range
        Binary columns of the time-indexed lowering, one per possible start; empty in the other lowerings. The one for
        the interval's start is 1.
    times : array of shape (len(cells),)
        Start time in seconds of each column of ``cells``; on a relaxed grid the least start that the column stands for.
    """

    presence: int | None
    start: int | None
    size: int | None
    cells: range
    times: Ints


def _length(p: Point, i: int) -> int:
    """Return the size of interval i at a point, 0 if it is absent."""
    return int(p.end[i] - p.start[i]) if p.present[i] else 0


class Intervals:
    """The columns of the integer variables and intervals of a model; subclasses add the starts."""

    def __init__(self, model: Model, form: FormBuilder) -> None:
        self.model = model
        self.form = form
        form.name_rows("domains")
        lows = np.array([x.lo for x in model.integers], dtype=np.float64)
        highs = np.array([x.hi for x in model.integers], dtype=np.float64)
        self.integers = form.columns(len(lows), lows, highs, integral=True, name="integer", recipe=lambda p: p.integer)
        self.presence = self._presences()
        self.size = self._sizes()
        self._runs: dict[int, Affine] = {}

    def _presences(self) -> list[int]:
        """Add the presence columns; return the column of each interval, -1 if it is not optional."""
        optional = [v.index for v in self.model.intervals if v.optional]
        first = self.form.columns(
            len(optional), 0, 1, integral=True, name="presence", recipe=lambda p: p.present[optional]
        )
        found = [-1] * len(self.model.intervals)
        for k, i in enumerate(optional):
            found[i] = first + k
        return found

    def _sizes(self) -> list[int]:
        """Add the size columns; return the column of each interval, -1 if its size is fixed."""
        found = [-1] * len(self.model.intervals)
        for v in self.model.intervals:
            if v.size_lo == v.size_hi:
                continue
            i, low = v.index, 0 if v.optional else v.size_lo
            z = self.form.column(
                low,
                v.size_hi,
                integral=True,
                name="size",
                recipe=partial(_length, i=i),
            )
            found[i] = z
            if v.optional:
                self.tie(column(z), v, v.size_lo, v.size_hi)
        return found

    def tie(self, e: Affine, v: Interval, lo: float, hi: float) -> None:
        """Add the rows ``lo * p <= e <= hi * p`` for the presence p of v."""
        p = self.present(v)
        self.form.row(e.plus(p, -hi), -INF, 0)
        self.form.row(e.plus(p, -lo), 0, INF)

    def present(self, v: Interval) -> Affine:
        """Return the presence: a column, or the constant 1."""
        k = self.presence[v.index]
        return column(k) if k >= 0 else Affine({}, 1.0)

    def view(self, v: Interval, field: AttributeName) -> Affine:
        """Return the start, end, size or presence of an interval as an expression over columns."""
        if field == "presence":
            return self.present(v)
        if field == "start":
            return self.start(v)
        z = self.size[v.index]
        size = column(z) if z >= 0 else self.present(v).times(v.size_lo)
        return size if field == "size" else self.start(v).plus(size)

    def start(self, v: Interval) -> Affine:
        """Return the start as an expression over columns; its value is 0 for an absent interval."""
        raise WrongArgument(f"{type(self).__name__} has no starts")

    def runs(self, v: Interval) -> Affine:
        """Return the flag r of an interval: 1 if it is present with a positive size (see the module)."""
        if v.size_lo > 0:
            return self.present(v)
        i = v.index
        if i not in self._runs:
            if v.size_hi == 0:
                self._runs[i] = Affine({}, 0.0)
            else:
                r = self.form.column(
                    0, 1, integral=True, name="runs", recipe=lambda p: p.present[i] and p.end[i] > p.start[i]
                )
                self._runs[i] = column(r)
                self.form.row(column(self.size[i]).plus(column(r), -v.size_hi), -INF, 0)
        return self._runs[i]

    def starts(self, x: Floats) -> Ints:
        """Return the start of each interval, in seconds, for column values ``x``; shape (number of intervals,)."""
        raise WrongArgument(f"{type(self).__name__} has no starts")

    def read(self, x: Floats) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Return start, size and presence of each interval for column values ``x``."""
        p, z = np.array(self.presence, dtype=np.int64), np.array(self.size, dtype=np.int64)
        fixed = np.array([v.size_lo for v in self.model.intervals], dtype=np.int64)
        x = np.append(x, 1.0)  # the index -1 (no column) reads this 1
        return self.starts(x[:-1]), np.where(z < 0, fixed, np.rint(x[z]).astype(np.int64)), x[p] > 0.5

    def columns(self, v: Interval) -> IntervalColumns:
        """Return the columns of one interval, for users who add their own rows to the native model."""
        p, z = self.presence[v.index], self.size[v.index]
        return IntervalColumns(
            p if p >= 0 else None, None, z if z >= 0 else None, range(0), np.zeros(0, dtype=np.int64)
        )
