"""The energy lowering: a linear relaxation of resources by the work done in each cell of a grid, and when in the cell.

Of an interval, ``y[t]`` is the share of cell t in which it runs, and ``h[t]`` the integral over that of the time left
until the cell's end (in cells). Both are bounded by the resource: with a capacity C, ``sum(demand * y) <= C`` and
``sum(demand * h) <= C / 2``, for the work of one cell cannot all lie at its beginning. An interval of size d that starts
at s has the moment ``d s + d^2 / 2``, which is ``sum(end of cell * work - left over)``: so starts are late enough on
average, whatever the step. That intervals run without a break is given up; all else (windows, precedences, objectives)
stays as it is. Valid on every grid; a grid finer than the intervals changes little (mean busy times: Goemans 1997, "Improved
approximation algorithms for scheduling with release dates").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...models.language import (
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
)
from ...models.language.expressions import Atom, Overlap
from ..base import Exactness, LoweringTooLarge
from . import constraints
from .expressions import LinearExpressions
from .form import INF, Affine, Floats, FormBuilder, Ints, Point
from .pairwise import ColumnStarts
from .time_indexed.grid import Grid, GridOption

ADVICE = "take a coarser grid (grid=seconds or grid=(fine, coarse)), or raise max_nonzeros"


@dataclass(frozen=True)
class Work:
    """Columns ``y + k`` and ``h + k`` of an interval in ``cells[k]``; ``most``: the greatest y, ``room``: the greatest
    time left per y, ``moment``: the greatest h, in cells."""

    cells: Ints
    y: int
    h: int
    most: Floats
    room: Floats
    moment: Floats


class Moments(ColumnStarts):
    """Starts as columns, except where the moment of an interval's work gives its start (``given``)."""

    def __init__(self, model: Model, form: FormBuilder) -> None:
        self.given: dict[int, Affine] = {}
        super().__init__(model, form)

    def start(self, v: Interval) -> Affine:
        return self.given.get(v.index) or super().start(v)

    def starts(self, x: Floats) -> Ints:
        found = super().starts(x)
        for i, e in self.given.items():
            found[i] = round(e.value(x))
        return found


class Energy:
    """The lowering: starts as moments or columns, resources by energy and moment."""

    def __init__(self, model: Model, form: FormBuilder, option: GridOption, max_nonzeros: int) -> None:
        self.grid = Grid.cover(model, option, max_nonzeros)
        rows, columns, nonzeros = self.predict(model, self.grid)
        if nonzeros > max_nonzeros:
            raise LoweringTooLarge(rows, columns, nonzeros, max_nonzeros, ADVICE)
        self.form = form
        self.length = np.diff(self.grid.points).astype(np.float64)
        self.intervals: Moments = Moments(model, form)
        self.expressions = LinearExpressions(form, self.intervals.integers, self.intervals.view, self._overlap_by_work)
        self.exactness = Exactness("relaxation", ("lowering energy", self.grid.name))
        self._works: dict[int, Work] = {}
        self._loads: dict[int, Work] = {}
        self._owner = _sole_owners(model)
        for name, c in model.constraints:  # before any expression asks for a start
            form.name_rows(name)
            for v in c.intervals if isinstance(c, (NoOverlap, Cumulative)) else ():
                if v.size_hi > 0:
                    self._work(v)
        for name, c in model.constraints:
            form.name_rows(name)
            if isinstance(c, Comparison):
                self._spread(c)

    @staticmethod
    def predict(model: Model, grid: Grid) -> tuple[int, int, int]:
        """(rows, columns, non-zeros): two columns and up to six entries per cell that an interval can reach, two per resource."""
        columns = nonzeros = rows = 0
        reach: dict[int, int] = {}
        for _, c in model.constraints:
            if isinstance(c, (NoOverlap, Cumulative)):
                rows += 2 * grid.cells
                for v in c.intervals:
                    if v.index not in reach:
                        ends = np.searchsorted(grid.points, [v.start_lo, v.start_hi + v.size_hi])
                        reach[v.index] = int(ends[1] - ends[0]) + 1
                    nonzeros += 2 * reach[v.index]
        columns = 2 * sum(reach.values())
        return rows + columns // 2, columns, nonzeros + 3 * columns

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """The assignment itself: every one has its columns."""
        return assignment

    def alternative(self, c: Alternative) -> None:
        """Starts and presences linked (see ``constraints``)."""
        constraints.alternative(self.form, self.intervals, c)

    def no_overlap(self, c: NoOverlap) -> None:
        """A resource of capacity 1."""
        self.cumulative(Cumulative(c.intervals, (1,) * len(c.intervals), ((0, 1),)))

    def cumulative(self, c: Cumulative) -> None:
        """Two rows per cell: energy and moment within what the capacity gives."""
        energy, moment = self._supply(c)
        first = self.form.rows(-INF, np.concatenate([energy, moment]), 2 * self.grid.cells)
        for v, demand in zip(c.intervals, c.demands, strict=True):
            if isinstance(demand, Linear):
                self.expressions.affine(demand, 0)  # for its range, where the interval is absent
            if v.size_hi == 0:
                continue
            for work, amount in self._parts(v, demand):
                if amount:
                    n = len(work.cells)
                    self.form.entries(first + work.cells, np.arange(work.y, work.y + n), amount)
                    self.form.entries(first + self.grid.cells + work.cells, np.arange(work.h, work.h + n), amount)

    def _parts(self, v: Interval, demand: int | Linear) -> list[tuple[Work, int]]:
        """A demand as multiples of works: a constant of the interval's own, an integer variable of its load."""
        if isinstance(demand, int):
            return [(self._work(v), demand)]
        atom = next(iter(demand.terms))
        if len(demand.terms) == 1 and isinstance(atom, Integer) and atom.lo >= 0 and v.size_lo == v.size_hi:
            return [(self._load(v, atom), int(demand.terms[atom])), (self._work(v), int(demand.constant))]
        return [(self._work(v), int(self.expressions.bounds.of(demand)[0]))]

    def _supply(self, c: Cumulative) -> tuple[Floats, Floats]:
        """The capacity's energy and moment in each cell, in cells."""
        points = self.grid.points.astype(np.float64)
        begin, end = points[:-1], points[1:]
        energy, moment = np.zeros(self.grid.cells), np.zeros(self.grid.cells)
        times = [-INF, *(float(t) for t, _ in c.steps[1:]), INF]
        for lo, hi, (_, capacity) in zip(times[:-1], times[1:], c.steps, strict=True):
            y, h = _overlap(begin, end, lo, hi)
            energy += capacity * y
            moment += capacity * h
        return energy, moment

    def _work(self, v: Interval) -> Work:
        """The columns of an interval, made when first asked for."""
        found = self._works.get(v.index)
        if found is None:
            found = self._works[v.index] = self._new_work(v)
        return found

    def _new_work(self, v: Interval) -> Work:
        points, i = self.grid.points.astype(np.float64), v.index
        cells, most, room = self._reach(v)
        n, begin, end = len(cells), points[cells], points[cells + 1]
        moment = most * (room - most / 2)

        def share(p: Point, which: int) -> Floats:
            return _overlap(begin, end, p.start[i], p.end[i] if p.present[i] else p.start[i])[which]

        y = self.form.columns(n, 0, most, integral=False, name="work", recipe=lambda p: share(p, 0))
        h = self.form.columns(n, 0, moment, integral=False, name="time left", recipe=lambda p: share(p, 1))
        work = Work(cells, y, h, most, room, moment)
        self._below(h, y, room)
        length = self.length[cells]
        self.form.row(_sum(y, length).plus(self.intervals.view(v, "size"), -1), 0, 0)
        if v.size_lo == v.size_hi:
            d, origin = v.size_lo, float(v.start_lo)  # times from the earliest start on, for smaller numbers
            present = self.intervals.present(v)
            moments = _sum(y, (end - origin) * length / d).plus(_sum(h, length**2 / d), -1)
            start = moments.plus(present, origin - d / 2)
            if v.optional or len(v.windows) > 1:
                self.form.row(start.plus(self.intervals.start(v), -1), 0, 0)
            else:
                self.intervals.given[i] = start
        return work

    def _reach(self, v: Interval) -> tuple[Ints, Floats, Floats]:
        """The cells where an interval can run, the greatest share of each, and the longest time left in each."""
        points = self.grid.points.astype(np.float64)
        begin, end = points[:-1], points[1:]
        share, earliest = np.zeros(self.grid.cells), end.copy()
        until = -INF
        for lo, hi in v.windows:
            a, until = max(float(lo), until), max(until, float(hi + v.size_hi))
            share += _overlap(begin, end, a, until)[0]
            touched = (end > a) & (begin < until)
            earliest[touched] = np.minimum(earliest[touched], np.maximum(begin[touched], a))
        cells = np.flatnonzero(share > 0)
        length = self.length[cells]
        return cells, np.minimum(share[cells], v.size_hi / length), (end - earliest)[cells] / length

    def _below(self, h: int, y: int, room: Floats) -> None:
        """``h <= room * y``, cell by cell."""
        n = len(room)
        rows = np.arange(n) + self.form.rows(-INF, 0, n)
        self.form.entries(rows, np.arange(h, h + n), 1)
        self.form.entries(rows, np.arange(y, y + n), -room)

    def _overlap_by_work(self, atom: Atom, sides: int) -> Affine | None:
        """An overlap as the work in the cells of the window; of a cell that lies partly in it, as much as the rest leaves."""
        if not isinstance(atom, Overlap) or atom.interval.index not in self._works:
            return None
        work, i = self._works[atom.interval.index], atom.interval.index
        points = self.grid.points.astype(np.float64)
        begin, end = points[work.cells], points[work.cells + 1]
        lo, hi = np.clip(atom.lo, begin, end), np.clip(atom.hi, begin, end)
        part, length = hi - lo, end - begin
        whole, cut = part == length, np.flatnonzero((part > 0) & (part < length))
        inside = Affine({work.y + int(k): float(length[k]) for k in np.flatnonzero(whole)})
        if not len(cut):
            return inside

        def seconds(p: Point) -> Floats:
            until = p.end[i] if p.present[i] else p.start[i]
            found: Floats = np.clip(np.minimum(until, hi[cut]) - np.maximum(p.start[i], lo[cut]), 0.0, None)
            return found

        u = self.form.columns(len(cut), 0, part[cut], integral=False, name="overlap", recipe=seconds)
        columns = np.arange(u, u + len(cut))
        for low, high in ((-INF, np.zeros(len(cut))), (part[cut] - length[cut], INF)):
            rows = np.arange(len(cut)) + self.form.rows(low, high, len(cut))
            self.form.entries(rows, columns, 1)
            self.form.entries(rows, work.y + cut, -length[cut])
        return inside.plus(Affine(dict.fromkeys(columns.tolist(), 1.0)))

    def _load(self, v: Interval, n: Integer) -> Work:
        """``n`` times the work of v, for a demand variable n of a fixed-size interval."""
        found = self._loads.get(n.index)
        if found is not None:
            return found
        work, count, most = self._work(v), len(self._work(v).cells), n.hi

        def times(p: Point, first: int) -> Floats:
            product: Floats = p.integer[n.index] * p.x[first : first + count]
            return product

        y = self.form.columns(
            count, 0, most * work.most, integral=False, name="load", recipe=lambda p: times(p, work.y)
        )
        h = self.form.columns(
            count, 0, most * work.moment, integral=False, name="load's time left", recipe=lambda p: times(p, work.h)
        )
        self._below(h, y, work.room)
        self._below(y, work.y, np.full(count, float(most)))
        self._below(h, work.h, np.full(count, float(most)))
        total = _sum(y, self.length[work.cells] / v.size_lo)
        number = self.expressions.affine(n.linear(), 0)
        absent = self.intervals.present(v).times(-1).plus(Affine({}, 1.0))
        self.form.row(total.plus(number, -1), -INF, 0)
        self.form.row(total.plus(number, -1).plus(absent, most), 0, INF)
        found = self._loads[n.index] = Work(work.cells, y, h, work.most, work.room, work.moment)
        return found

    def _spread(self, c: Comparison) -> None:
        """An equation of demand variables of one interval holds for their loads in every cell, times the interval's work."""
        atoms = list(c.expr.terms)
        owners = {self._owner.get(a.index) for a in atoms if isinstance(a, Integer)}
        if c.lo != c.hi or not atoms or len(owners) != 1 or not all(isinstance(a, Integer) for a in atoms):
            return
        (v,) = owners
        if v is None:
            return
        work = self._work(v)
        n = len(work.cells)
        parts = [(self._load(v, a), k) for a, k in c.expr.terms.items() if isinstance(a, Integer)]
        for own, columns in ((work.y, [w.y for w, _ in parts]), (work.h, [w.h for w, _ in parts])):
            rows = np.arange(n) + self.form.rows(0, 0, n)
            self.form.entries(rows, np.arange(own, own + n), -float(c.lo))
            for first, (_, k) in zip(columns, parts, strict=True):
                self.form.entries(rows, np.arange(first, first + n), float(k))


def _sole_owners(model: Model) -> dict[int, Interval | None]:
    """Index of an integer variable -> the one fixed-size interval whose demand it is; None if there are more."""
    found: dict[int, Interval | None] = {}
    for _, c in model.constraints:
        if not isinstance(c, Cumulative):
            continue
        for v, d in zip(c.intervals, c.demands, strict=True):
            for atom in d.terms if isinstance(d, Linear) else ():
                if isinstance(atom, Integer):
                    fits = v.size_lo == v.size_hi > 0 and atom.lo >= 0 and len(d.terms) == 1  # type: ignore[union-attr]
                    found[atom.index] = v if fits and found.get(atom.index, v) is v else None
    return found


def _sum(first: int, weights: Floats) -> Affine:
    return Affine({first + k: float(w) for k, w in enumerate(weights)})


def _overlap(begin: Floats, end: Floats, lo: float, hi: float) -> tuple[Floats, Floats]:
    """Of [lo, hi) in each cell [begin, end): its share of the cell, and the integral of the time left, both in cells."""
    length = end - begin
    a, b = np.clip(lo, begin, end), np.clip(hi, begin, end)
    return (b - a) / length, ((end - a) ** 2 - (end - b) ** 2) / (2 * length**2)
