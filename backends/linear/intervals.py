"""Intervals as columns: presence, size, and a start that each lowering makes in its own way.

An absent interval has start = end = size = 0. ``view`` gives any attribute as an expression over columns.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.language import Interval, Model
from ...models.language.expressions import AttributeName
from .form import INF, Affine, Floats, FormBuilder, Ints, Point, column


class IntervalColumns(NamedTuple):
    """The columns of an interval: None where it has none (a presence that is certain, a fixed size, a start that is
    only given by ``cells``: binary columns, 1 where it starts at the time of ``times``, or in the cell that begins then)."""

    presence: int | None
    start: int | None
    size: int | None
    cells: range
    times: Ints


def _length(p: Point, i: int) -> int:
    """The size of interval i at a point, 0 if it is absent."""
    return int(p.end[i] - p.start[i]) if p.present[i] else 0


class Intervals:
    """Columns of the integers and intervals of a model; subclasses add the starts."""

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
        """Column of each interval's presence, -1 where it is certain."""
        optional = [v.index for v in self.model.intervals if v.optional]
        first = self.form.columns(
            len(optional), 0, 1, integral=True, name="presence", recipe=lambda p: p.present[optional]
        )
        found = [-1] * len(self.model.intervals)
        for k, i in enumerate(optional):
            found[i] = first + k
        return found

    def _sizes(self) -> list[int]:
        """Column of each interval's size, -1 where it is fixed."""
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
        """``lo * p <= e <= hi * p`` with the presence p of v."""
        p = self.present(v)
        self.form.row(e.plus(p, -hi), -INF, 0)
        self.form.row(e.plus(p, -lo), 0, INF)

    def present(self, v: Interval) -> Affine:
        """The presence: a column, or the constant 1."""
        k = self.presence[v.index]
        return column(k) if k >= 0 else Affine({}, 1.0)

    def view(self, v: Interval, field: AttributeName) -> Affine:
        """An attribute of an interval as an expression over columns."""
        if field == "presence":
            return self.present(v)
        if field == "start":
            return self.start(v)
        z = self.size[v.index]
        size = column(z) if z >= 0 else self.present(v).times(v.size_lo)
        return size if field == "size" else self.start(v).plus(size)

    def start(self, v: Interval) -> Affine:
        """The start, 0 for an absent interval."""
        raise TypeError(f"{type(self).__name__} has no starts")

    def runs(self, v: Interval) -> Affine:
        """At least 1 where the interval is present with a positive size (0 allowed elsewhere)."""
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
        """The start of each interval under column values."""
        raise TypeError(f"{type(self).__name__} has no starts")

    def read(self, x: Floats) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Start, size and presence of each interval under column values."""
        p, z = np.array(self.presence, dtype=np.int64), np.array(self.size, dtype=np.int64)
        fixed = np.array([v.size_lo for v in self.model.intervals], dtype=np.int64)
        x = np.append(x, 1.0)  # where the index -1 points to
        return self.starts(x[:-1]), np.where(z < 0, fixed, np.rint(x[z]).astype(np.int64)), x[p] > 0.5

    def columns(self, v: Interval) -> IntervalColumns:
        """The columns of one interval, for those who add constraints of their own."""
        p, z = self.presence[v.index], self.size[v.index]
        return IntervalColumns(
            p if p >= 0 else None, None, z if z >= 0 else None, range(0), np.zeros(0, dtype=np.int64)
        )
