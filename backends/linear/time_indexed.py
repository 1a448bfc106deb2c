"""The time-indexed lowering: a grid, a binary column for each interval and start slot, a row for each resource and cell."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import LoweringTooLarge, WrongArgument
from ...models.array_types import Floats, Ints
from ...models.language import (
    Alternative,
    Assignment,
    Bounds,
    Cumulative,
    Evaluator,
    ForbidExtent,
    Interval,
    Linear,
    Model,
    ModelError,
    NoOverlap,
    Precedence,
    Synchronize,
    UndefinedValue,
)
from ...models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Holds,
    Max,
    Min,
    Overlap,
    Piecewise,
    Window,
    atoms_below,
)
from ...models.long_calls import look
from ...models.words import how_many
from ..base import Exactness, GridOption, Side
from . import expressions
from .expressions import GE, IntervalColumns, Intervals, LinearExpressions
from .form import ENTRIES_PER_SECOND, INF, Affine, FormBuilder, Point, column, ranges

# --- Time grids for the time-indexed and the energy lowering.


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid of m + 1 time points P; cell k is [P[k], P[k + 1]) for k = 0, ..., m - 1.

    Attributes
    ----------
    points : array of shape (m + 1,)
        The points in seconds, increasing.
    exact : bool
        True if each possible start is a point and each cell in which an interval can start or end is 1 s long.
    name : str
        Description for reports.
    """

    points: Ints
    exact: bool
    name: str

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.points) - 1

    def capacity(self, steps: Sequence[tuple[int, int]], side: Side) -> Floats:
        """Return the capacity of each cell: the least within it (restrict), or that at its last second (relax)."""
        times, capacities = np.array(steps, dtype=np.int64).T
        if side == "restrict":
            instants = self.points[:-1]
        else:
            instants = self.points[1:] - 1
        limit: Floats = capacities[np.maximum(np.searchsorted(times, instants, side="right") - 1, 0)].astype(np.float64)
        if side == "restrict":
            cell = np.searchsorted(self.points, times, side="right") - 1
            inside = (cell >= 0) & (cell < self.cells) & (np.arange(len(times)) > 0)
            np.minimum.at(limit, cell[inside], capacities[inside])
        return limit

    @staticmethod
    def cover(model: Model, option: GridOption, limit: int) -> Grid:
        """Return the grid of a model, from its earliest start to its latest end.

        Before the earliest start that is not fixed, the points are the starts and ends of the fixed intervals and the
        times at which a capacity changes. So intervals that already run keep their exact times.

        Parameters
        ----------
        model : Model
            The model.
        option : int or tuple of two ints
            Step in seconds; or (fine, coarse): the step grows linearly from fine to coarse.
        limit : int
            Largest number of points.

        Raises
        ------
        LoweringTooLarge
            If the grid would have more than ``limit`` points.
        ModelError
            If a step is less than 1 s or fine > coarse.
        """
        if isinstance(option, int):
            fine = option
            coarse = option
        else:
            fine, coarse = option
        if not 1 <= fine <= coarse:
            raise ModelError(f"grid={option!r}: give a step in seconds, or (fine, coarse) with 1 <= fine <= coarse")
        fixed = [v for v in model.intervals if v.start_lo == v.start_hi and v.size_lo == v.size_hi]
        free = [v for v in model.intervals if v.start_lo != v.start_hi or v.size_lo != v.size_hi]
        end = max((v.start_hi + v.size_hi for v in model.intervals), default=0) + 1
        begin = min((v.start_lo for v in free or fixed), default=0)
        count = _count(end - begin, fine, coarse)
        if count > limit:
            raise LoweringTooLarge(count, count, count, limit, f"use a coarser grid than {option!r}")
        edges = {t for v in fixed for t in (v.start_lo, v.start_lo + v.size_lo)}
        edges |= {t for _, c in model.constraints if isinstance(c, Cumulative) for t, _ in c.steps if fixed}
        past = {t for t in edges if min(v.start_lo for v in fixed) <= t < begin}
        points = np.concatenate([np.array(sorted(past), dtype=np.int64), _points(begin, end, fine, coarse)])
        if fine == coarse:
            name = f"step {fine} s"
        else:
            name = f"steps of {fine} to {coarse} s"
        return Grid(points, coarse == 1, f"grid of {name}, {how_many(len(points) - 1, 'cell')}")


def _count(span: int, fine: int, coarse: int) -> int:
    """Return about how many points a grid over ``span`` seconds has: the integral of 1 / step."""
    if fine == coarse:
        return span // fine + 2
    return int(span * math.log(coarse / fine) / (coarse - fine)) + 2


def _points(begin: int, end: int, fine: int, coarse: int) -> Ints:
    """Return the points from ``begin`` to the first point at or after ``end``."""
    if fine == coarse:
        return begin + fine * np.arange(-(-(end - begin) // fine) + 1, dtype=np.int64)
    points = [begin]
    growth = (coarse - fine) / max(1, end - begin)
    while points[-1] < end:
        points.append(points[-1] + int(fine + growth * (points[-1] - begin)))
    return np.array(points, dtype=np.int64)


# --- Start slots of intervals on a grid, one binary column for each, and the cells that a start in a slot occupies.
#
# Data: grid points ``P[0] < P[1] < ...`` in seconds, cells ``c = [P[c], P[c+1])``, start windows of interval i. Slot k
# of i stands for the starts from ``first[i,k]`` to ``last[i,k]``. Side "restrict": a slot is a single time (``first`` and
# ``last`` are equal), the beginning of a window or a grid point within a window. Side "relax": a slot is the part of a
# cell that lies within a window. Columns and rows, with the presence p::
#
#     x[i,k] in {0, 1}                 1 if i starts in its slot k
#     sum_k x[i,k] = p[i]
#     s[i] = sum_k first[i,k] x[i,k]                                  if all slots of i are single times
#     sum_k first[i,k] x[i,k] <= s[i] <= sum_k last[i,k] x[i,k]       otherwise
#
# If all slots of the model are single times, a column ``s[i]`` is added only if an expression or constraint uses it.
#
# A start in slot k occupies these cells, for a fixed size D (variable sizes: ``activity``)::
#
#     O[i,k] = {c: [P[c], P[c+1]) meets [first, first + D)}                        restrict: each cell that is touched
#     O[i,k] = {c: first[i,k]'s cell <= c and P[c+1] <= first[i,k] + D}            relax
#
# On the side "relax" an interval runs at the last second of each cell of O for each start in the slot. On a grid with
# cells of 1 s both sides are the same.


@dataclass(frozen=True, eq=False)
class Slots:
    """The n slots of all intervals of a model, sorted by interval and time; arrays of shape (n,) unless noted.

    Attributes
    ----------
    owner : array
        Index of the interval of each slot.
    first, last : array
        Least and greatest start of each slot in seconds.
    cell : array
        Grid cell of each slot.
    bounds : array of shape (number of intervals + 1,)
        The slots of interval i are ``bounds[i]:bounds[i + 1]``.
    occupied_from, occupied_to : array
        A start in the slot occupies the cells ``occupied_from <= c < occupied_to`` (least size; see the module).
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
        """Return the slots of a model."""
        owner, lo, hi = _windows(model)
        p = grid.points
        counts = _counts(grid, side, lo, hi)
        window, k = ranges(np.zeros_like(counts), counts)
        if side == "restrict":
            offset = np.searchsorted(p, lo) - _off_grid(p, lo)
            first = np.where(k == 0, lo[window], p[np.minimum(offset[window] + k, len(p) - 1)])
            last = first
            cell = np.searchsorted(p, first, side="right") - 1
        else:
            cell = np.searchsorted(p, lo, side="right")[window] - 1 + k
            first = np.maximum(p[cell], lo[window])
            last = np.minimum(p[cell + 1] - 1, hi[window])
        owner = owner[window]
        end = first + np.array([v.size_lo for v in model.intervals], dtype=np.int64)[owner]
        if side == "restrict":
            end_cell = np.searchsorted(p, end)
        else:
            end_cell = np.searchsorted(p, end, side="right") - 1
        end_cell = np.where(end > first, np.maximum(end_cell, cell), cell)
        bounds = np.searchsorted(owner, np.arange(len(model.intervals) + 1))
        return Slots(owner, first, last, cell, bounds, cell, end_cell)

    @staticmethod
    def predict(model: Model, grid: Grid, side: Side) -> tuple[Ints, Ints]:
        """Return the number of slots of each interval and about how many cells each occupies; arrays by interval."""
        owner, lo, hi = _windows(model)
        n = len(model.intervals)
        slots = np.bincount(owner, weights=_counts(grid, side, lo, hi), minlength=n).astype(np.int64)
        size = np.array([v.size_hi for v in model.intervals], dtype=np.int64)
        edges = np.array([(v.start_lo, v.start_hi) for v in model.intervals], dtype=np.int64).reshape(-1, 2)
        cells = [np.searchsorted(grid.points, t + size) - np.searchsorted(grid.points, t) + 1 for t in edges.T]
        return slots, (cells[0] + cells[1]) // 2

    def at(self, point: Point) -> NDArray[np.bool_]:
        """Return for each slot whether its interval starts in it at a point."""
        start = point.start[self.owner]
        taken: NDArray[np.bool_] = point.present[self.owner] & (self.first <= start) & (start <= self.last)
        return taken


def _windows(model: Model) -> tuple[Ints, Ints, Ints]:
    """Return interval, first and last time of all start windows."""
    table = [(v.index, lo, hi) for v in model.intervals for lo, hi in v.windows]
    columns = np.array(table, dtype=np.int64).reshape(-1, 3)
    return columns[:, 0], columns[:, 1], columns[:, 2]


def _off_grid(points: Ints, lo: Ints) -> Ints:
    """Return 1 for a window that begins between two points (its beginning is an additional slot), else 0."""
    after = np.minimum(np.searchsorted(points, lo), len(points) - 1)
    off: Ints = (points[after] != lo).astype(np.int64)
    return off


def _counts(grid: Grid, side: Side, lo: Ints, hi: Ints) -> Ints:
    """Return the number of slots of each start window."""
    p = grid.points
    if side == "restrict":
        counts: Ints = np.searchsorted(p, hi, side="right") - np.searchsorted(p, lo) + _off_grid(p, lo)
    else:
        counts = np.searchsorted(p, hi, side="right") - np.searchsorted(p, lo, side="right") + 1
    return counts


class SlotStarts(Intervals):
    """The columns of all intervals, with binary columns over slots for the starts."""

    def __init__(self, model: Model, form: FormBuilder, slots: Slots) -> None:
        super().__init__(model, form)
        self.slots = slots
        self.single = bool(np.all(slots.first == slots.last))
        self.x = form.columns(len(slots.owner), 0, 1, integral=True, name="starts in", recipe=slots.at)
        n = len(model.intervals)
        presence = np.array(self.presence, dtype=np.int64)
        optional = presence >= 0
        row = form.rows(np.where(optional, 0.0, 1.0), np.where(optional, 0.0, 1.0), n)
        form.entries(row + slots.owner, self.x + np.arange(len(slots.owner)), 1)
        form.entries(row + np.flatnonzero(optional), presence[optional], -1)
        self._starts: dict[int, Affine] = {}
        if not self.single:
            for v in model.intervals:
                self.start(v)

    def range(self, v: Interval) -> tuple[int, int]:
        """Return (first, last + 1) of the slots of an interval."""
        return int(self.slots.bounds[v.index]), int(self.slots.bounds[v.index + 1])

    def start(self, v: Interval) -> Affine:
        """Return the start as an expression over columns; add its column at the first call."""
        affine = self._starts.get(v.index)
        if affine is None:
            affine = self._starts[v.index] = self._make_start(v)
        return affine

    def _make_start(self, v: Interval) -> Affine:
        """Add the start column of an interval and its rows; a single slot needs no column."""
        a, b = self.range(v)
        first, last = self.slots.first[a:b], self.slots.last[a:b]
        same = bool(np.all(first == last))
        if same and b - a == 1:
            if v.optional:
                return Affine({self.x + a: float(first[0])})
            return Affine({}, float(first[0]))
        if v.optional:
            low = min(v.start_lo, 0)
            high = max(v.start_hi, 0)
        else:
            low = v.start_lo
            high = v.start_hi
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
        """Add the row ``lo <= s - sum_k times[k] x[k] <= hi``; ``a``: the first slot of the interval."""
        row = self.form.rows(lo, hi, 1)
        some = np.flatnonzero(times)
        self.form.entries([row], [s], 1)
        self.form.entries(np.full(len(some), row), self.x + a + some, -times[some])

    def starts(self, x: Floats) -> Ints:
        """Return the start of each interval, in seconds, for column values ``x``."""
        s = self.slots
        taken = np.rint(x[self.x : self.x + len(s.owner)])
        moments = np.rint(np.bincount(s.owner, weights=s.first * taken, minlength=len(self.presence))).astype(np.int64)
        if not self.single:
            for i, e in self._starts.items():
                moments[i] = round(e.value(x))
        return moments

    def columns(self, v: Interval) -> IntervalColumns:
        """Return the columns of one interval."""
        a, b = self.range(v)
        s = self._starts.get(v.index)
        made = None
        if s is not None and len(s.terms) == 1:
            made = next(iter(s.terms), None)
        return super().columns(v)._replace(start=made, cells=range(self.x + a, self.x + b), times=self.slots.first[a:b])


# --- Activity of an interval of variable size: a column for each cell that is 1 in the cells that the interval occupies.
#
# Grid points ``P[0] < P[1] < ...`` in seconds, cells ``c = [P[c], P[c+1])``; ``x[k]`` is 1 if the interval starts in its
# slot k, which lies in cell ``cell[k]`` (`Slots`); p, s, z, e as in ``schedlab.backends.linear``. Columns and rows::
#
#     y[c] in {0, 1}                            1 if c is the first cell from the start on that is not occupied
#     sum_c y[c] = p
#     sum_c A[c] y[c] <= e <= sum_c B[c] y[c]   A[c], B[c]: least and greatest end for y[c] = 1
#     0 <= a[c] <= 1                            1 if the interval occupies cell c
#     a[c] = a[c-1] + sum_{k: cell[k] = c} x[k] - y[c]   for each cell c that the interval can reach
#
# Side "restrict": the end is rounded up, ``A[c] = P[c-1] + 1`` and ``B[c] = P[c]``, so each touched cell is occupied.
# Side "relax": the end is rounded down, ``A[c] = P[c]`` and ``B[c] = P[c+1] - 1``, so a cell is occupied only if the
# interval runs at its last instant. A and B are cut to the earliest and latest end. On a grid of step 1 s both are
# exact.


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
        n = len(cells)
        x0 = self.intervals.x + a

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
        low = v.start_lo + v.size_lo
        high = v.start_hi + v.size_hi
        if self.side == "restrict":
            k0, k1 = (int(np.searchsorted(p, t)) for t in (low, high))
            k = np.arange(k0, k1 + 1)
            lo = np.where(k > 0, p[k - 1] + 1, low)
            hi = p[k]
        else:
            k0, k1 = (int(np.searchsorted(p, t, side="right")) - 1 for t in (low, high))
            k = np.arange(k0, k1 + 1)
            lo = p[k]
            hi = p[k + 1] - 1
        lo = np.maximum(lo, low)
        hi = np.minimum(hi, high)
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


# --- Functions of the start of one interval of fixed size, as a table of values over its start slots.
#
# Data: an expression f that depends on one interval of fixed size only; its slots k with single start times ``t[k]``
# (`Slots`). With the binaries ``x[k]`` and the presence p::
#
#     f = f_absent + sum_k (f(t[k]) - f_absent) x[k]    f_absent: the value for start = end = size = presence = 0
#     x[k] = 0                                          for each k for which f(t[k]) is undefined
#     p = 1                                             if f_absent is undefined
#
# If the interval is not optional, ``f_absent`` counts as 0. This is exact, because exactly one ``x[k]`` is 1 if the
# interval is present. It needs no big-M, and its linear relaxation is much tighter than rows for the functions inside f
# (time-indexed formulations: [DyerWolsey1990]).

Fields = dict[str, Floats]


def sole_interval(atom: Atom) -> Interval | None:
    """Return the only interval that a function depends on; None if it depends on several or on another variable."""
    interval: Interval | None = None
    for a in atoms_below([Linear({atom: 1})]):
        if isinstance(a, Attribute):
            if interval is not None and a.interval is not interval:
                return None
            interval = a.interval
        elif not isinstance(a, (Max, Min, Holds, Overlap, Element, Piecewise)):
            return None
    return interval


def fields(v: Interval, starts: Floats, *, present: bool = True) -> Fields:
    """Return arrays of start, end, size and presence of an interval of fixed size, one value per start."""
    if not present:
        return dict.fromkeys(("start", "end", "size", "presence"), np.zeros(1))
    one = np.ones(len(starts))
    return {"start": starts, "end": starts + v.size_lo, "size": one * v.size_lo, "presence": one}


def table(e: Linear, of: Fields) -> Floats:
    """Return the value of an expression for each start; nan if it is undefined."""
    total = np.full(len(of["start"]), float(e.constant))
    for atom, c in e.terms.items():
        total = total + c * _atom(atom, of)
    return total


def _atom(atom: Atom, of: Fields) -> Floats:
    """Return the value of an atom for each start."""
    match atom:
        case Attribute():
            return of[atom.field]
        case Overlap():
            inside = np.minimum(of["end"], atom.hi) - np.maximum(of["start"], atom.lo)
            return np.asarray(np.maximum(inside, 0.0) * of["presence"])
        case Max():
            return np.asarray(np.maximum.reduce([table(e, of) for e in atom.operands]))
        case Min():
            return np.asarray(np.minimum.reduce([table(e, of) for e in atom.operands]))
        case Holds(comparison=c):
            value = table(c.expr, of)
            return np.where(np.isnan(value), np.nan, ((c.lo <= value) & (value <= c.hi)).astype(np.float64))
        case Element():
            index = table(atom.operands[0], of)
            values = np.array(atom.array, dtype=np.float64)
            inside = (index >= 0) & (index < len(values))
            return np.where(inside, values[np.where(inside, index, 0).astype(np.int64)], np.nan)
        case Piecewise():
            x, y = np.array(atom.points, dtype=np.float64).T
            return np.asarray(np.interp(table(atom.operands[0], of), x, y, left=np.nan, right=np.nan))
        case _:
            raise WrongArgument(f"the function {type(atom).__name__} cannot be tabulated over starts")


# --- Starts that forbidden extents and transition times exclude, as rows over the binaries of the start slots.
#
# Data: intervals i of fixed size ``D[i]`` (positive for a forbidden extent) whose slots k are single times ``t[i,k]`` (`Slots`), with the binaries
# ``x[i,k]``. Rows:
#
# **Forbid extent** of interval i with the windows ``[lo, hi)``::
#
#     x[i,k] = 0                          for each k with lo - D[i] < t[i,k] < hi for one of the windows
#
# **Transitions** of a no_overlap, for each pair i, j with the times ``u[i,j]`` and ``u[j,i]``, one of which is positive, or
# with a size D of 0::
#
#     x[j,k] + sum_{l in L[k]} x[i,l] <= 1                                                    for each slot k of j
#     L[k] = {l: t[j,k] - D[i] - u[i,j] < t[i,l] < t[j,k] + D[j] + u[j,i]}
#
# L is the set of starts of i that are too late to run before j and too early to run after it. At most one ``x[i,l]`` is 1,
# so this is exact, without binaries for the order. Intervals of variable size, and all intervals of a grid whose slots are
# not single times, have the rows of ``schedlab.backends.linear.expressions``; so have points whose order needs ranks.


def forbid_extent(form: FormBuilder, intervals: SlotStarts, c: ForbidExtent) -> None:
    """Add the rows of a forbid_extent."""
    v = c.interval
    if not _plain(intervals, v) or v.size_lo == 0:
        expressions.forbid_extent(form, intervals, c)
        return
    a, b = intervals.range(v)
    times = intervals.slots.first[a:b]
    excluded = np.zeros(b - a, dtype=bool)
    for lo, hi in c.within_reach():
        excluded |= (times > lo - v.size_lo) & (times < hi)
    some = np.flatnonzero(excluded)
    form.entries(form.rows(0, 0, len(some)) + np.arange(len(some)), intervals.x + a + some, 1)


def transitions(form: FormBuilder, intervals: SlotStarts, c: NoOverlap) -> None:
    """Add the rows of the transition times of a no_overlap."""
    c = c.capped()
    cycles = c.cyclic_points()
    ranked = {pair for some in cycles for pair in combinations(some, 2)}
    for some in cycles:
        expressions.transitions(form, intervals, c.part(some))
    for a, b in combinations(range(len(c.intervals)), 2):
        v, w = c.intervals[a], c.intervals[b]
        if (a, b) in ranked or not c.separated(a, b):
            continue
        if _plain(intervals, v) and _plain(intervals, w):
            _pair(form, intervals, v, w, (c.transition(a, b), c.transition(b, a)))
        else:
            expressions.transitions(form, intervals, c.part((a, b)))


def predict_transitions(c: NoOverlap, slots: Ints, cells: Ints) -> tuple[int, int]:
    """Return about how many (rows, non-zeros) the transition times need, from the slots and cells of all intervals."""
    rows = nonzeros = 0
    for a, b in combinations(range(len(c.intervals)), 2):
        if c.separated(a, b):
            v, w = c.intervals[a].index, c.intervals[b].index
            rows += int(slots[w])
            nonzeros += int(slots[w]) * min(
                int(slots[v]), int(cells[v] + cells[w]) + c.transition(a, b) + c.transition(b, a)
            )
    return rows, nonzeros


def _plain(intervals: SlotStarts, v: Interval) -> bool:
    """Return whether each slot of v is a single time, and the size of v fixed."""
    return intervals.single and v.size_lo == v.size_hi


def _pair(form: FormBuilder, intervals: SlotStarts, v: Interval, w: Interval, times: tuple[int, int]) -> None:
    """Add the rows of a pair of intervals; ``times``: from v to w, and from w to v."""
    a, b = intervals.range(v)
    c, d = intervals.range(w)
    starts, at = intervals.slots.first[a:b], intervals.slots.first[c:d]
    first = np.searchsorted(starts, at - v.size_lo - times[0], side="right")
    last = np.searchsorted(starts, at + w.size_lo + times[1], side="left")
    some = np.flatnonzero(first < last)
    row = form.rows(-INF, 1, len(some)) + np.arange(len(some))
    form.entries(row, intervals.x + c + some, 1)
    which, slot = ranges(first[some], last[some])
    form.entries(row[which], intervals.x + a + slot, 1)


# --- A warm start for a grid that restricts: each start is moved to a later slot at which the interval still fits.
#
# This is a greedy heuristic. Groups of intervals that must start together (alternative, synchronize) are placed in the
# order of their starts. A group goes to the first time that is a slot of all its intervals, not before its start, not
# before the precedences from intervals placed earlier allow, outside of the forbidden windows, at which all its resources
# have room in each touched cell, and the transition times to the intervals placed earlier are kept.


@dataclass(eq=False)
class Load:
    """The capacity of a resource that is left in each cell, an array of shape (cells,)."""

    left: Floats

    def fits(self, begin: Ints, end: Ints, demand: float) -> NDArray[np.bool_]:
        """Return for each k whether the demand fits in all cells ``begin[k] <= c < end[k]``."""
        short = np.concatenate([[0], np.cumsum(self.left < demand)])
        fine: NDArray[np.bool_] = short[end] == short[begin]
        return fine


def rebuild(model: Model, assignment: Assignment, slots: Slots, grid: Grid) -> Assignment:
    """Return an assignment with its starts moved to slots of a grid; presences, sizes and integers stay.

    Parameters
    ----------
    model : Model
        The model.
    assignment : Assignment
        A solution of the model.
    slots : Slots
        The slots of the model on the grid, side "restrict".
    grid : Grid
        The grid.

    Returns
    -------
    Assignment
        A group for which no slot fits keeps its starts, which the linear form then does not accept. Constraints other
        than resources, minimum lags, forbidden extents, alternatives and synchronizes are ignored, so the result must be checked.
    """
    return _Rebuild(model, assignment, slots, grid).run()


class _Rebuild:
    def __init__(self, model: Model, assignment: Assignment, slots: Slots, grid: Grid) -> None:
        self.given = assignment
        self.slots = slots
        self.grid = grid
        self.model = model
        self.made = Assignment(model)
        self.made.integer = list(assignment.integer)
        self.uses: dict[int, list[tuple[Load, float]]] = defaultdict(list)
        self.before: dict[int, list[Precedence]] = defaultdict(list)
        self.transitions: list[NoOverlap] = []
        self.forbidden: dict[int, tuple[Window, ...]] = defaultdict(tuple)
        self.leader = list(range(len(model.intervals)))
        for _, c in model.constraints:
            match c:
                case Alternative(a, others, _) | Synchronize(a, others):
                    self._together(a, others)
                case NoOverlap(intervals):
                    load = Load(np.ones(grid.cells))
                    for v in intervals:
                        self.uses[v.index].append((load, 1.0))
                    if c.timed:
                        self.transitions.append(c)
                case ForbidExtent(v, windows):
                    self.forbidden[v.index] += windows
                case Cumulative():
                    self._cumulative(c)
                case Precedence():
                    for part in c.parts:
                        self.before[part.after.index].append(part)
                case _:
                    pass

    def _cumulative(self, c: Cumulative) -> None:
        """Add a cumulative to the resources, with the demands that the assignment gives."""
        load = Load(self.grid.capacity(c.steps, "restrict"))
        evaluator = Evaluator(self.given)
        for v, d in zip(c.intervals, c.demands, strict=True):
            if self.given.present[v.index]:
                try:
                    self.uses[v.index].append((load, float(evaluator.value(d))))
                except UndefinedValue:
                    continue

    def _together(self, a: Interval, others: tuple[Interval, ...]) -> None:
        """Put an interval and those of the others that are present into one group."""
        present = self.given.present
        for o in others:
            if present[a.index] and present[o.index]:
                self.leader[self._lead(o.index)] = self._lead(a.index)

    def _lead(self, i: int) -> int:
        """Return the index of the interval that represents the group of interval i."""
        while self.leader[i] != i:
            i = self.leader[i]
        return i

    def run(self) -> Assignment:
        """Place all groups in the order of their starts."""
        groups: dict[int, list[Interval]] = defaultdict(list)
        for v in self.model.intervals:
            if self.given.present[v.index]:
                groups[self._lead(v.index)].append(v)
        for group in sorted(groups.values(), key=lambda g: self.given.start[g[0].index]):
            self._place(group)
        return self.made

    def _place(self, group: list[Interval]) -> None:
        """Set the start of a group and subtract its demands from its resources."""
        earliest = max(max(self.given.start[v.index], self._after(v)) for v in group)
        times: Ints | None = None
        for v in group:
            own = self._times(v)
            if times is None:
                times = own[own >= earliest]
            else:
                times = np.intersect1d(times, own)
        assert times is not None
        for v in group:
            begin, end = self._cells(v, times)
            fine = np.ones(len(times), dtype=bool)
            for load, demand in self.uses[v.index] if self._size(v) else []:
                fine &= load.fits(begin, end, demand)
            times = times[fine & self._allowed(v, times)]
        for v in group:
            if len(times):
                start = int(times[0])
            else:
                start = self.given.start[v.index]
            self.made.set(v, start, start + self._size(v))
            (begin,), (end,) = self._cells(v, np.array([start]))
            for load, demand in self.uses[v.index] if self._size(v) else []:
                load.left[begin:end] -= demand

    def _allowed(self, v: Interval, times: Ints) -> NDArray[np.bool_]:
        """Return for each start time whether v keeps clear of its forbidden windows and keeps its transition times."""
        ends = times + self._size(v)
        fine = np.ones(len(times), dtype=bool)
        for lo, hi in self.forbidden[v.index] if self._size(v) else ():
            fine &= (ends <= lo) | (times >= hi)
        for c in self.transitions:
            if v not in c.intervals:
                continue
            at = c.intervals.index(v)
            for k, other in enumerate(c.intervals):
                i = other.index
                if self.made.present[i]:
                    after = times >= self.made.end[i] + c.transition(k, at)
                    fine &= after | (ends + c.transition(at, k) <= self.made.start[i])
        return fine

    def _size(self, v: Interval) -> int:
        return self.given.end[v.index] - self.given.start[v.index]

    def _times(self, v: Interval) -> Ints:
        a, b = self.slots.bounds[v.index : v.index + 2]
        return self.slots.first[a:b]

    def _cells(self, v: Interval, times: Ints) -> tuple[Ints, Ints]:
        """Return (from, to) of the cells that v touches for each start time."""
        p = self.grid.points
        return np.searchsorted(p, times, side="right") - 1, np.searchsorted(p, times + self._size(v))

    def _after(self, v: Interval) -> int:
        """Return the earliest start that the precedences from intervals placed earlier allow."""
        lower = self.given.start[v.index]
        for c in self.before[v.index]:
            i = c.before.index
            if self.made.present[i]:
                left, right = c.fields
                if left == "end":
                    reached = self.made.end[i]
                else:
                    reached = self.made.start[i]
                lower = max(lower, reached + c.delay - (self._size(v) if right == "end" else 0))
        return lower


ADVICE = "use a coarser grid (grid=seconds or grid=(fine, coarse)), or raise max_nonzeros"


class TimeIndexed:
    """The time-indexed lowering of one model (formulas: see the module)."""

    def __init__(self, model: Model, form: FormBuilder, option: GridOption, side: Side, max_nonzeros: int) -> None:
        self.grid = Grid.cover(model, option, max_nonzeros)
        rows, columns, nonzeros = self.predict(model, self.grid, side)
        if nonzeros > max_nonzeros:
            raise LoweringTooLarge(rows, columns, nonzeros, max_nonzeros, ADVICE)
        self.model = model
        self.form = form
        self.side: Side = side
        self.slots = Slots.of(model, self.grid, side)
        self.intervals: SlotStarts = SlotStarts(model, form, self.slots)
        self.expressions = LinearExpressions(form, self.intervals.integers, self.intervals.view, self._tabulated)
        self.activity = Activity(self.intervals, self.grid, side)
        self._portions: dict[tuple[int, Atom | Linear], int] = {}
        if self.grid.exact:
            self.exactness = Exactness("exact", ("lowering time-indexed", self.grid.name))
        else:
            kinds: dict[Side, Literal["restriction", "relaxation"]] = {"restrict": "restriction", "relax": "relaxation"}
            self.exactness = Exactness(kinds[side], ("lowering time-indexed", self.grid.name, f"side {side}"))

    @staticmethod
    def predict(model: Model, grid: Grid, side: Side) -> tuple[int, int, int]:
        """Return about how many (rows, columns, non-zeros) slots and resources need; the other rows are few."""
        slots, cells = Slots.predict(model, grid, side)
        rows = len(slots)
        columns = int(slots.sum())
        nonzeros = 3 * int(slots.sum())
        shared: set[tuple[int, Atom | Linear]] = set()
        for _, c in model.constraints:
            look()
            if isinstance(c, (NoOverlap, Cumulative)):
                at = np.array([v.index for v in c.intervals], dtype=np.int64)
                nonzeros += int((slots[at] * cells[at]).sum())
                rows += grid.cells
                if isinstance(c, NoOverlap) and c.timed:
                    added = predict_transitions(c, slots, cells)
                    rows = rows + added[0]
                    nonzeros = nonzeros + added[1]
                if isinstance(c, Cumulative):
                    shared |= {(v.index, _base(d)) for v, d in zip(c.intervals, c.demands, strict=True) if _varies(d)}
        more = sum(int(slots[i]) for i, _ in shared)
        return rows + more, columns + more, nonzeros + 3 * more

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment with starts moved to slots if the grid restricts, else the assignment itself."""
        if self.exactness.kind != "restriction":
            return assignment
        return rebuild(self.model, assignment, self.slots, self.grid)

    def alternative(self, c: Alternative) -> None:
        """Add the rows of an alternative: slot by slot if sizes are equal and fixed, else those of ``constraints``."""
        same_size = all((v.size_lo, v.size_hi) == (c.interval.size_lo,) * 2 for v in (c.interval, *c.options))
        if not same_size or not (self.intervals.single or all(o.windows == c.interval.windows for o in c.options)):
            expressions.alternative(self.form, self.intervals, c)
            return
        members = [self.intervals.range(v) for v in (c.interval, *c.options)]
        times = np.unique(np.concatenate([self.slots.first[a:b] for a, b in members]))
        row = self.form.rows(0, 0, len(times))
        for k, (a, b) in enumerate(members):
            at = row + np.searchsorted(times, self.slots.first[a:b])
            self.form.entries(at, np.arange(a, b) + self.intervals.x, 1.0 if k else -c.count)
        if not self.intervals.single:
            expressions.alternative(self.form, self.intervals, c)

    def no_overlap(self, c: NoOverlap) -> None:
        """Add the rows of a no_overlap: at most one interval occupies each cell."""
        self._resource(c.intervals, [1] * len(c.intervals), np.ones(self.grid.cells))
        if c.timed:
            transitions(self.form, self.intervals, c)

    def forbid_extent(self, c: ForbidExtent) -> None:
        """Add the rows of a forbid_extent (see ``forbidden``)."""
        forbid_extent(self.form, self.intervals, c)

    def cumulative(self, c: Cumulative) -> None:
        """Add the rows of a cumulative: in each cell the loads are at most the capacity."""
        for d in c.demands:
            if isinstance(d, Linear):
                self.expressions.affine(d, 0)  # its functions must be defined also where the interval is absent
        limit = self.grid.capacity(c.steps, self.side)
        self._resource(c.intervals, c.demands, limit)

    def _resource(self, members: Sequence[Interval], demands: Sequence[int | Linear], limit: Floats) -> None:
        """Add a row for each cell in which the greatest loads together exceed the limit."""
        potential = np.zeros(len(limit) + 1)
        parts: list[tuple[Ints, Ints, Floats]] = []
        plain = [k for k, v in enumerate(members) if v.size_lo == v.size_hi > 0 and isinstance(demands[k], int)]
        parts.append(self._occupancy([members[k] for k in plain], [demands[k] for k in plain], potential))  # type: ignore[misc]
        for k in sorted(set(range(len(members))) - set(plain)):
            if members[k].size_hi > 0 and (isinstance(demands[k], Linear) or demands[k]):
                parts += self._varying(members[k], demands[k], potential)
        cells, columns, values = (np.concatenate([p[k] for p in parts]) for k in range(3))
        tight = np.cumsum(potential[:-1]) > limit
        row = self.form.rows(-INF, limit[tight], int(tight.sum()))
        number = (row - 1 + np.cumsum(tight)).astype(np.int32)
        if not tight.all():
            kept = tight[cells]
            cells = cells[kept]
            columns = columns[kept]
            values = values[kept]
        self.form.entries(number[cells], columns, values)

    def _occupancy(self, members: list[Interval], demands: list[int], potential: Floats) -> tuple[Ints, Ints, Floats]:
        """Return the (cell, column, demand) entries of intervals with fixed sizes and constant demands.

        ``potential``: differences of the greatest total load between neighbouring cells; the demands are added to it.
        """
        s = self.slots
        index = np.array([v.index for v in members], dtype=np.int64)
        who, slot = ranges(s.bounds[index], s.bounds[index + 1])
        amount = np.array(demands, dtype=np.float64)
        begin, end = s.occupied_from[slot], s.occupied_to[slot]
        some = np.flatnonzero(np.diff(who, prepend=-1))
        if len(some):
            np.add.at(potential, np.minimum.reduceat(begin, some), amount[who[some]])
            np.add.at(potential, np.maximum.reduceat(end, some), -amount[who[some]])
        look(int((end - begin).sum()) / ENTRIES_PER_SECOND)
        which, cell = ranges(begin, end)
        return cell, self.intervals.x + slot[which], amount[who[which]]

    def _varying(self, v: Interval, demand: int | Linear, potential: Floats) -> list[tuple[Ints, Ints, Floats]]:
        """Return the entries of an interval whose size or demand is variable, in the same form as ``_occupancy``."""
        a, b = self.intervals.range(v)
        most = self.expressions.bounds.of(demand)[1]
        if v.size_lo < v.size_hi:
            cells, columns = self.activity.of(v)
            entries = [(cells, columns, np.ones(len(cells)))]
            if isinstance(demand, int):
                entries = [(cells, columns, np.full(len(cells), float(demand)))]
            else:
                entries = [(cells, self._loads(v, demand, columns), np.ones(len(cells)))]
            if len(cells):
                begin = int(cells[0])
                end = int(cells[-1]) + 1
            else:
                begin = 0
                end = 0
        else:
            assert isinstance(demand, Linear)
            which, cells = ranges(self.slots.occupied_from[a:b], self.slots.occupied_to[a:b])
            base = _base(demand)
            if base is demand:
                factor = 1.0
                extra = 0.0
            else:
                factor = next(iter(demand.terms.values()))
                extra = demand.constant
            w = self._portion(v, base) + which
            entries = [(cells, w, np.full(len(cells), float(factor)))]
            if extra:
                entries.append((cells, self.intervals.x + a + which, np.full(len(cells), float(extra))))
            if len(cells):
                begin = int(cells.min())
                end = int(cells.max()) + 1
            else:
                begin = 0
                end = 0
        potential[begin] += most
        potential[end] -= most
        return entries

    def _portion(self, v: Interval, base: Atom | Linear) -> int:
        """Return the first of the columns ``w[k] = n x[k]`` over the slots of v; resources share them."""
        key = v.index, base
        if key not in self._portions:
            a, b = self.intervals.range(v)
            x = np.arange(self.intervals.x + a, self.intervals.x + b)
            n = self.expressions.affine(base.linear(), GE)
            most = float(self.expressions.bounds.of(base)[1])
            w = self.form.columns(
                b - a, 0, most, integral=False, name="portion", recipe=lambda p: n.value(p.x) * p.x[x]
            )
            row = self.form.rows(-INF, 0, b - a)
            self.form.entries(row + np.arange(b - a), np.arange(w, w + b - a), 1)
            self.form.entries(row + np.arange(b - a), x, -most)
            total = Affine({w + k: 1.0 for k in range(b - a)}).plus(n, -1)
            if v.optional:
                self.form.row(total.plus(self.intervals.present(v), -most), -most, INF)
            else:
                self.form.row(total, 0, 0)
            self._portions[key] = w
        return self._portions[key]

    def _loads(self, v: Interval, demand: Linear, active: Ints) -> Ints:
        """Add columns ``load >= demand - U (1 - active)``, one for each activity column; return them."""
        n = self.expressions.affine(demand, GE)
        most = float(self.expressions.bounds.of(demand)[1])
        w = self.form.columns(
            len(active), 0, most, integral=False, name="load", recipe=lambda p: n.value(p.x) * p.x[active]
        )
        for k, a in enumerate(active.tolist()):
            self.form.row(column(w + k).plus(n, -1).plus(column(a), -most), -most, INF)
        return np.arange(w, w + len(active))

    def _tabulated(self, atom: Atom, sides: int) -> Affine | None:
        """Return a function of one start alone as a column (see ``tabulate``); None for any other atom."""
        v = sole_interval(atom)
        if v is None or v.size_lo != v.size_hi:
            return None
        if not self.intervals.single:
            if isinstance(atom, Overlap):
                return self._overlap_by_slots(atom)
            return None
        a, b = self.intervals.range(v)
        values = table(atom.linear(), fields(v, self.slots.first[a:b].astype(np.float64)))
        absent = 0.0
        if v.optional:
            absent = float(table(atom.linear(), fields(v, np.zeros(1), present=False))[0])
        undefined = np.flatnonzero(np.isnan(values))
        self.form.entries(
            self.form.rows(0, 0, len(undefined)) + np.arange(len(undefined)), self.intervals.x + a + undefined, 1
        )
        if np.isnan(absent):
            self.form.row(self.intervals.present(v), 1, 1)
            absent = 0.0
        terms = {
            self.intervals.x + a + k: f - absent for k, f in enumerate(np.nan_to_num(values).tolist()) if f != absent
        }
        value = Affine(terms, absent)
        lo, hi = self.expressions.bounds.of(atom)
        made = self.form.value_column(lo, hi, name="function of a start", recipe=lambda p: value.value(p.x))
        self.form.row(value.plus(made, -1), 0, 0)
        return made

    def _overlap_by_slots(self, atom: Overlap) -> Affine:
        """Return a column between the least and the greatest overlap over the starts in the chosen slot."""
        v, i = atom.interval, atom.interval.index
        a, b = self.intervals.range(v)
        first, last = self.slots.first[a:b], self.slots.last[a:b]
        times = (first, np.clip(atom.lo, first, last), np.clip(atom.hi - v.size_lo, first, last), last)
        values = [np.clip(np.minimum(t + v.size_lo, atom.hi) - np.maximum(t, atom.lo), 0, None) for t in times]

        def seconds(p: Point) -> int:
            inside = min(p.end[i], atom.hi) - max(p.start[i], atom.lo)
            if p.present[i]:
                return max(0, int(inside))
            return 0

        lo, hi = self.expressions.bounds.of(atom)
        made = self.form.value_column(lo, hi, name="overlap", recipe=seconds)
        for extreme, low, high in ((np.minimum.reduce(values), 0.0, INF), (np.maximum.reduce(values), -INF, 0.0)):
            terms = {self.intervals.x + a + n: -float(y) for n, y in enumerate(extreme.tolist()) if y}
            self.form.row(made.plus(Affine(terms)), low, high)
        return made


def _varies(demand: int | Linear) -> bool:
    """Return whether a demand is variable."""
    return isinstance(demand, Linear)


def _base(demand: int | Linear) -> Atom | Linear:
    """Return the n of a demand ``f n + g`` (f > 0, g >= 0): its only atom if that is >= 0, else the demand itself."""
    assert isinstance(demand, Linear)
    if len(demand.terms) == 1 and demand.constant >= 0:
        ((atom, c),) = demand.terms.items()
        if c > 0 and Bounds().of(atom)[0] >= 0:
            return atom
    return demand
