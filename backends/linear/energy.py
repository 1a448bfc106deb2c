"""The energy lowering: a linear relaxation of no_overlap and cumulative by the work in the cells of a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import LoweringTooLarge
from ...models.array_types import Floats, Ints
from ...models.language import (
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
)
from ...models.language.expressions import Atom, Overlap
from ...models.long_calls import look
from ..base import Exactness, GridOption
from . import expressions
from .expressions import ColumnStarts, LinearExpressions
from .form import INF, Affine, FormBuilder, Point
from .time_indexed import Grid

# --- Work of an interval in the cells of a grid, and bounds on it: data of the energy lowering (``energy``).
#
# Cell t is ``[P[t], P[t+1])`` with length ``l[t] = P[t+1] - P[t]`` seconds. For an interval that runs in ``[s, e)``::
#
#     y[t] = (1 / l[t]) * (integral of 1 over the times tau of cell t in [s, e))
#     h[t] = (1 / l[t]^2) * (integral of P[t+1] - tau over the times tau of cell t in [s, e))
#
# So y is the share of the cell in which the interval runs, and h the first moment of the time left until the end of the
# cell; a full cell has y = 1 and h = 1/2. If the interval can run in cell t for a share of at most ``most[t]`` and not
# before the time ``P[t+1] - room[t] l[t]``, then ``h[t] <= room[t] y[t]`` and
# ``h[t] <= most[t] (room[t] - most[t] / 2)``.


@dataclass(frozen=True, eq=False)
class Work:
    """The columns ``y + k`` and ``h + k`` of one interval in each cell ``cells[k]`` that it can reach.

    Attributes
    ----------
    cells : array of shape (n,)
        Index of each cell.
    y, h : int
        First column of the shares and of the moments.
    most : array of shape (n,)
        Greatest share of each cell.
    room : array of shape (n,)
        Longest time from a running instant to the end of each cell, divided by the cell's length.
    moment : array of shape (n,)
        Greatest h of each cell.
    """

    cells: Ints
    y: int
    h: int
    most: Floats
    room: Floats
    moment: Floats


def reach(v: Interval, points: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the cells in which an interval can run, and ``most`` and ``room`` of each (see ``Work``)."""
    begin, end = points[:-1], points[1:]
    share = np.zeros(len(begin))
    earliest = end.copy()
    covered = -INF  # the end of the time counted so far, so that windows whose runs meet are not counted twice
    for lo, hi in v.windows:
        a = max(float(lo), covered)
        covered = max(covered, float(hi + v.size_hi))
        share += cell_integrals(begin, end, a, covered)[0]
        touched = (end > a) & (begin < covered)
        earliest[touched] = np.minimum(earliest[touched], np.maximum(begin[touched], a))
    cells = np.flatnonzero(share > 0)
    length = (end - begin)[cells]
    return cells, np.minimum(share[cells], v.size_hi / length), (end - earliest)[cells] / length


def cell_integrals(begin: Floats, end: Floats, lo: float, hi: float) -> tuple[Floats, Floats]:
    """Return y and h of an interval that runs in [lo, hi) (see the module).

    Parameters
    ----------
    begin, end : arrays of shape (n,)
        The cells ``[begin[t], end[t])`` in seconds.
    lo, hi : float
        Start and end of the interval in seconds; infinite values are allowed.

    Returns
    -------
    y, h : arrays of shape (n,)
        Share and moment of each cell.

    Examples
    --------
    >>> y, h = cell_integrals(np.array([0.0, 4.0]), np.array([4.0, 8.0]), 0, 6)
    >>> y.tolist(), h.tolist()
    ([1.0, 0.5], [0.5, 0.375])
    """
    length = end - begin
    a = np.clip(lo, begin, end)
    b = np.clip(hi, begin, end)
    return (b - a) / length, ((end - a) ** 2 - (end - b) ** 2) / (2 * length**2)


ADVICE = "use a coarser grid (grid=seconds or grid=(fine, coarse)), or raise max_nonzeros"


class Moments(ColumnStarts):
    """The start columns; ``given`` maps the index of an interval to its start expression from the start equation."""

    def __init__(self, model: Model, form: FormBuilder) -> None:
        self.given: dict[int, Affine] = {}
        super().__init__(model, form)

    def start(self, v: Interval) -> Affine:
        """Return the start as an expression over columns."""
        return self.given.get(v.index) or super().start(v)

    def starts(self, x: Floats) -> Ints:
        """Return the start of each interval, in seconds, for column values ``x``."""
        moments = super().starts(x)
        for i, e in self.given.items():
            moments[i] = round(e.value(x))
        return moments


class Energy:
    """The energy lowering of one model (formulas: see the module)."""

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
        self._loads: dict[tuple[int, int], Work] = {}
        self._owner = _sole_owners(model)
        for name, c in model.constraints:  # first, as it decides which starts are columns
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
        """Return about how many (rows, columns, non-zeros) the resources need.

        Each cell that an interval can reach has two columns with up to six entries, and two more entries per resource.
        """
        columns = nonzeros = rows = 0
        cells: dict[int, int] = {}
        for _, c in model.constraints:
            if isinstance(c, (NoOverlap, Cumulative)):
                rows += 2 * grid.cells
                for v in c.intervals:
                    look()
                    if v.index not in cells:
                        ends = np.searchsorted(grid.points, [v.start_lo, v.start_hi + v.size_hi])
                        cells[v.index] = int(ends[1] - ends[0]) + 1
                    nonzeros += 2 * cells[v.index]
        columns = 2 * sum(cells.values())
        return rows + columns // 2, columns, nonzeros + 3 * columns

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment itself: the form can represent every assignment."""
        return assignment

    def alternative(self, c: Alternative) -> None:
        """Add the rows of an alternative (see ``expressions``)."""
        expressions.alternative(self.form, self.intervals, c)

    def forbid_extent(self, c: ForbidExtent) -> None:
        """Add the rows of a forbid_extent (see ``expressions``)."""
        expressions.forbid_extent(self.form, self.intervals, c)

    def no_overlap(self, c: NoOverlap) -> None:
        """Add the rows of a no_overlap: a resource with demands and capacity 1. Transition times are left out."""
        self.cumulative(Cumulative(c.intervals, (1,) * len(c.intervals), ((0, 1),)))

    def cumulative(self, c: Cumulative) -> None:
        """Add the rows of a cumulative: for each cell one row for the work and one for its moment."""
        energy, moment = self._supply(c)
        first = self.form.rows(-INF, np.concatenate([energy, moment]), 2 * self.grid.cells)
        for v, demand in zip(c.intervals, c.demands, strict=True):
            if isinstance(demand, Linear):
                self.expressions.affine(demand, 0)  # its functions must be defined also where the interval is absent
            if v.size_hi == 0:
                continue
            for work, amount in self._parts(v, demand):
                if amount:
                    n = len(work.cells)
                    self.form.entries(first + work.cells, np.arange(work.y, work.y + n), amount)
                    self.form.entries(first + self.grid.cells + work.cells, np.arange(work.h, work.h + n), amount)

    def _parts(self, v: Interval, demand: int | Linear) -> list[tuple[Work, int]]:
        """Return a demand as a sum of multiples: factors of y and h, or of Y and H for a demand variable."""
        if isinstance(demand, int):
            return [(self._work(v), demand)]
        atom = next(iter(demand.terms))
        if len(demand.terms) == 1 and isinstance(atom, Integer) and atom.lo >= 0 and v.size_lo == v.size_hi:
            return [(self._load(v, atom), int(demand.terms[atom])), (self._work(v), int(demand.constant))]
        return [(self._work(v), int(self.expressions.bounds.of(demand)[0]))]

    def _supply(self, c: Cumulative) -> tuple[Floats, Floats]:
        """Return the right sides of the work rows and of the moment rows, each of shape (cells,)."""
        points = self.grid.points.astype(np.float64)
        begin, end = points[:-1], points[1:]
        energy = np.zeros(self.grid.cells)
        moment = np.zeros(self.grid.cells)
        times = [-INF, *(float(t) for t, _ in c.steps[1:]), INF]
        for lo, hi, (_, capacity) in zip(times[:-1], times[1:], c.steps, strict=True):
            y, h = cell_integrals(begin, end, lo, hi)
            energy += capacity * y
            moment += capacity * h
        return energy, moment

    def _work(self, v: Interval) -> Work:
        """Return the columns y and h of an interval; add them at the first call."""
        work = self._works.get(v.index)
        if work is None:
            work = self._works[v.index] = self._new_work(v)
        return work

    def _new_work(self, v: Interval) -> Work:
        """Add the columns y and h of an interval, their rows and its start equation."""
        points = self.grid.points.astype(np.float64)
        i = v.index
        cells, most, room = reach(v, points)
        n = len(cells)
        begin = points[cells]
        end = points[cells + 1]
        moment = most * (room - most / 2)

        def share(p: Point, which: int) -> Floats:
            return cell_integrals(begin, end, p.start[i], p.end[i] if p.present[i] else p.start[i])[which]

        y = self.form.columns(n, 0, most, integral=False, name="work", recipe=lambda p: share(p, 0))
        h = self.form.columns(n, 0, moment, integral=False, name="time left", recipe=lambda p: share(p, 1))
        work = Work(cells, y, h, most, room, moment)
        self._below(h, y, room)
        length = self.length[cells]
        self.form.row(_sum(y, length).plus(self.intervals.view(v, "size"), -1), 0, 0)
        if v.size_lo == v.size_hi:
            d = v.size_lo  # count time from the earliest start: smaller coefficients
            origin = float(v.start_lo)
            present = self.intervals.present(v)
            moments = _sum(y, (end - origin) * length / d).plus(_sum(h, length**2 / d), -1)
            start = moments.plus(present, origin - d / 2)
            if v.optional or len(v.windows) > 1:
                self.form.row(start.plus(self.intervals.start(v), -1), 0, 0)
            else:
                self.intervals.given[i] = start
        return work

    def _below(self, h: int, y: int, room: Floats) -> None:
        """Add the row ``h <= room * y`` for each cell."""
        n = len(room)
        rows = np.arange(n) + self.form.rows(-INF, 0, n)
        self.form.entries(rows, np.arange(h, h + n), 1)
        self.form.entries(rows, np.arange(y, y + n), -room)

    def _overlap_by_work(self, atom: Atom, sides: int) -> Affine | None:
        """Return the overlap of an interval that has columns y; None for any other atom."""
        if not isinstance(atom, Overlap) or atom.interval.index not in self._works:
            return None
        work, i = self._works[atom.interval.index], atom.interval.index
        points = self.grid.points.astype(np.float64)
        begin = points[work.cells]
        end = points[work.cells + 1]
        lo = np.clip(atom.lo, begin, end)
        hi = np.clip(atom.hi, begin, end)
        part = hi - lo
        length = end - begin
        whole = part == length
        cut = np.flatnonzero((part > 0) & (part < length))
        inside = Affine({work.y + int(k): float(length[k]) for k in np.flatnonzero(whole)})
        if not len(cut):
            return inside

        def seconds(p: Point) -> Floats:
            if p.present[i]:
                end_time = p.end[i]
            else:
                end_time = p.start[i]
            overlap: Floats = np.clip(np.minimum(end_time, hi[cut]) - np.maximum(p.start[i], lo[cut]), 0.0, None)
            return overlap

        u = self.form.columns(len(cut), 0, part[cut], integral=False, name="overlap", recipe=seconds)
        columns = np.arange(u, u + len(cut))
        for low, high in ((-INF, np.zeros(len(cut))), (part[cut] - length[cut], INF)):
            rows = np.arange(len(cut)) + self.form.rows(low, high, len(cut))
            self.form.entries(rows, columns, 1)
            self.form.entries(rows, work.y + cut, -length[cut])
        return inside.plus(Affine(dict.fromkeys(columns.tolist(), 1.0)))

    def _load(self, v: Interval, n: Integer) -> Work:
        """Return the columns Y and H of a demand variable n of an interval of fixed size; the first call adds them."""
        load = self._loads.get((v.index, n.index))
        if load is not None:
            return load
        work = self._work(v)
        count = len(self._work(v).cells)
        most = n.hi

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
        load = self._loads[v.index, n.index] = Work(work.cells, y, h, work.most, work.room, work.moment)
        return load

    def _spread(self, c: Comparison) -> None:
        """Add the rows of an equation over demand variables of one interval, for each cell; else do nothing."""
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
    """Map the index of each demand variable to its only interval if that has a fixed size, else to None."""
    owner: dict[int, Interval | None] = {}
    for _, c in model.constraints:
        if not isinstance(c, Cumulative):
            continue
        for v, d in zip(c.intervals, c.demands, strict=True):
            for atom in d.terms if isinstance(d, Linear) else ():
                if isinstance(atom, Integer):
                    fits = v.size_lo == v.size_hi > 0 and atom.lo >= 0 and len(d.terms) == 1  # type: ignore[union-attr]
                    if fits and owner.get(atom.index, v) is v:
                        owner[atom.index] = v
                    else:
                        owner[atom.index] = None
    return owner


def _sum(first: int, weights: Floats) -> Affine:
    """Return ``sum_k weights[k] * (column first + k)``."""
    return Affine({first + k: float(w) for k, w in enumerate(weights)})
