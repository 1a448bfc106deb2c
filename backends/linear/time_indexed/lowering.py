"""The time-indexed lowering: a binary column for each interval and start slot, a row for each resource and grid cell.

Sets and data: cells c of a grid; slots k of interval i with binaries ``x[i,k]`` and occupied cells ``O[i,k]``
(``slots``); activity ``a[i,c]`` of an interval of variable size (``activity``); presences p. A resource has the
intervals I, demands ``d[i] >= 0``, and in cell c the capacity ``C[c]``: the least within the cell (side "restrict"),
or that at its last second (side "relax"). no_overlap is a resource with demands and capacity 1. Rows::

    sum_{i in I} load[i,c] <= C[c]                      for each resource and each cell c
    load[i,c] = d[i] * sum_{k: c in O[i,k]} x[i,k]      fixed size, constant demand
    load[i,c] = d[i] a[i,c]                             variable size, constant demand
    load[i,c] >= d[i] - U (1 - a[i,c]), 0 <= load <= U  variable size, variable demand of at most U

Rows that the greatest loads cannot exceed are left out. For a fixed size and a variable demand ``d[i] = f n + g``, where
n is an integer variable or function with ``0 <= n <= U`` and ``f > 0, g >= 0`` (or n is the demand itself, f = 1 and
g = 0), the products ``w[k] = n x[i,k]`` are columns::

    0 <= w[k] <= U x[i,k],  sum_k w[k] = n              if i is optional: sum_k w[k] >= n - U (1 - p[i])
    load[i,c] = sum_{k: c in O[i,k]} (f w[k] + g x[i,k])

Alternative of interval a with options o and count m, if all sizes are equal and fixed (others: ``constraints``)::

    sum_o x[o,t] = m x[a,t]                             for each start time t of a slot; x = 0 for no such slot

Forbidden extents and transition times, where every slot is a single time (others: ``constraints``): see ``forbidden``.

Overlap of an interval of fixed size with a window, on a relaxed grid with coarse cells (otherwise ``tabulate``), where
least and most are the extremes of the overlap over the starts in a slot: a column v::

    sum_k least[k] x[i,k] <= v <= sum_k most[k] x[i,k]

With cells of 1 s the lowering is exact. On a coarser grid, side "restrict" is a restriction: starts are grid points,
durations are rounded up to cells, so each solution is feasible for the model. Side "relax" is a relaxation: the rows
are the capacity constraints at the last second of each cell, with intervals counted that run then for each start in
their slot.

The formulation is that of [Pritsker1969], here on a grid that may be coarse. Its linear relaxation is much tighter than
that of the pairwise lowering, but its size grows with the number of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ....models.language import (
    Alternative,
    Assignment,
    Bounds,
    Cumulative,
    ForbidExtent,
    Interval,
    Linear,
    Model,
    NoOverlap,
)
from ....models.language.clock import look
from ....models.language.expressions import Atom, Overlap
from ...base import Exactness, GridOption, LoweringTooLarge, Side
from .. import constraints
from ..expressions import GE, LinearExpressions
from ..form import ENTRIES_PER_SECOND, INF, Affine, Floats, FormBuilder, Ints, Point, column, ranges
from .activity import Activity
from .forbidden import forbid_extent, predict_transitions, transitions
from .grid import Grid
from .rebuild import rebuild
from .slots import Slots, SlotStarts
from .tabulate import fields, sole_interval, table

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
        rows, columns, nonzeros = len(slots), int(slots.sum()), 3 * int(slots.sum())
        shared: set[tuple[int, Atom | Linear]] = set()
        for _, c in model.constraints:
            if isinstance(c, (NoOverlap, Cumulative)):
                at = np.array([v.index for v in c.intervals], dtype=np.int64)
                nonzeros += int((slots[at] * cells[at]).sum())
                rows += grid.cells
                if isinstance(c, NoOverlap) and c.transitions:
                    added = predict_transitions(c, slots, cells)
                    rows, nonzeros = rows + added[0], nonzeros + added[1]
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
            constraints.alternative(self.form, self.intervals, c)
            return
        members = [self.intervals.range(v) for v in (c.interval, *c.options)]
        times = np.unique(np.concatenate([self.slots.first[a:b] for a, b in members]))
        row = self.form.rows(0, 0, len(times))
        for k, (a, b) in enumerate(members):
            at = row + np.searchsorted(times, self.slots.first[a:b])
            self.form.entries(at, np.arange(a, b) + self.intervals.x, 1.0 if k else -c.count)
        if not self.intervals.single:
            constraints.alternative(self.form, self.intervals, c)

    def no_overlap(self, c: NoOverlap) -> None:
        """Add the rows of a no_overlap: at most one interval occupies each cell."""
        self._resource(c.intervals, [1] * len(c.intervals), np.ones(self.grid.cells))
        if c.transitions:
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
        number = row + np.cumsum(tight) - 1
        kept = tight[cells]
        self.form.entries(number[cells[kept]], columns[kept], values[kept])

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
            found = [(cells, columns, np.ones(len(cells)))]
            if isinstance(demand, int):
                found = [(cells, columns, np.full(len(cells), float(demand)))]
            else:
                found = [(cells, self._loads(v, demand, columns), np.ones(len(cells)))]
            begin, end = (int(cells[0]), int(cells[-1]) + 1) if len(cells) else (0, 0)
        else:
            assert isinstance(demand, Linear)
            which, cells = ranges(self.slots.occupied_from[a:b], self.slots.occupied_to[a:b])
            base = _base(demand)
            (factor, extra) = (1.0, 0.0) if base is demand else (next(iter(demand.terms.values())), demand.constant)
            w = self._portion(v, base) + which
            found = [(cells, w, np.full(len(cells), float(factor)))]
            if extra:
                found.append((cells, self.intervals.x + a + which, np.full(len(cells), float(extra))))
            begin, end = (int(cells.min()), int(cells.max()) + 1) if len(cells) else (0, 0)
        potential[begin] += most
        potential[end] -= most
        return found

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
            return self._overlap_by_slots(atom) if isinstance(atom, Overlap) else None
        a, b = self.intervals.range(v)
        values = table(atom.linear(), fields(v, self.slots.first[a:b].astype(np.float64)))
        absent = float(table(atom.linear(), fields(v, np.zeros(1), present=False))[0]) if v.optional else 0.0
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
        f = self.form.column(lo, hi, integral=False, name="function of a start", recipe=lambda p: value.value(p.x))
        self.form.row(value.plus(column(f), -1), 0, 0)
        return column(f)

    def _overlap_by_slots(self, atom: Overlap) -> Affine:
        """Return a column between the least and the greatest overlap over the starts in the chosen slot."""
        v, i = atom.interval, atom.interval.index
        a, b = self.intervals.range(v)
        first, last = self.slots.first[a:b], self.slots.last[a:b]
        times = (first, np.clip(atom.lo, first, last), np.clip(atom.hi - v.size_lo, first, last), last)
        values = [np.clip(np.minimum(t + v.size_lo, atom.hi) - np.maximum(t, atom.lo), 0, None) for t in times]

        def seconds(p: Point) -> int:
            inside = min(p.end[i], atom.hi) - max(p.start[i], atom.lo)
            return max(0, int(inside)) if p.present[i] else 0

        lo, hi = self.expressions.bounds.of(atom)
        k = self.form.column(lo, hi, integral=False, name="overlap", recipe=seconds)
        for extreme, low, high in ((np.minimum.reduce(values), 0.0, INF), (np.maximum.reduce(values), -INF, 0.0)):
            terms = {self.intervals.x + a + n: -float(y) for n, y in enumerate(extreme.tolist()) if y}
            self.form.row(Affine({k: 1.0, **terms}), low, high)
        return column(k)


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
