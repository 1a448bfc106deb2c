"""The time-indexed lowering: a binary per interval and slot of a grid, a row per resource and cell.

Pritsker, Watters and Wolfe (1969) on a grid that may be coarse: see ``slots`` for what a start occupies. The relaxation
of the linear form is much tighter than that of pairs, at the price of a size that grows with the number of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ....models.language import Alternative, Assignment, Bounds, Cumulative, Interval, Linear, Model, NoOverlap
from ....models.language.expressions import Atom, Overlap
from ...base import Exactness, LoweringTooLarge
from .. import constraints
from ..expressions import GE, LinearExpressions
from ..form import INF, Affine, Floats, FormBuilder, Ints, Point, column, ranges
from .activity import Activity
from .grid import Grid, GridOption, Side
from .rebuild import rebuild
from .slots import Slots, SlotStarts
from .tabulate import fields, sole_interval, table

ADVICE = "take a coarser grid (grid=seconds or grid=(fine, coarse)), or raise max_nonzeros"


class TimeIndexed:
    """The lowering: starts over slots, resources by cells."""

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
        """(rows, columns, non-zeros) of slots and resources, which outgrow all else."""
        slots, cells = Slots.predict(model, grid, side)
        rows, columns, nonzeros = len(slots), int(slots.sum()), 3 * int(slots.sum())
        shared: set[tuple[int, Atom | Linear]] = set()
        for _, c in model.constraints:
            if isinstance(c, (NoOverlap, Cumulative)):
                at = np.array([v.index for v in c.intervals], dtype=np.int64)
                nonzeros += int((slots[at] * cells[at]).sum())
                rows += grid.cells
                if isinstance(c, Cumulative):
                    shared |= {(v.index, _base(d)) for v, d in zip(c.intervals, c.demands, strict=True) if _varies(d)}
        more = sum(int(slots[i]) for i, _ in shared)
        return rows + more, columns + more, nonzeros + 3 * more

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Starts moved onto the grid where it restricts; elsewhere every assignment has its columns."""
        if self.exactness.kind != "restriction":
            return assignment
        return rebuild(self.model, assignment, self.slots, self.grid)

    def alternative(self, c: Alternative) -> None:
        """Linked slot by slot where sizes are the same and fixed: ``sum(x[option]) = count * x[interval]``."""
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
        """At most one runs in each cell."""
        self._resource(c.intervals, [1] * len(c.intervals), np.ones(self.grid.cells))

    def cumulative(self, c: Cumulative) -> None:
        """In each cell the demands stay within its least capacity (relax: at its last instant, within that of then)."""
        for d in c.demands:
            if isinstance(d, Linear):
                self.expressions.affine(d, 0)  # for its range, where the interval is absent
        limit = self.grid.capacity(c.steps, self.side)
        self._resource(c.intervals, c.demands, limit)

    def _resource(self, members: Sequence[Interval], demands: Sequence[int | Linear], limit: Floats) -> None:
        """A row per cell that the demands could fill beyond its limit."""
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
        """(cell, column, demand) of intervals with fixed sizes and demands."""
        s = self.slots
        index = np.array([v.index for v in members], dtype=np.int64)
        who, slot = ranges(s.bounds[index], s.bounds[index + 1])
        amount = np.array(demands, dtype=np.float64)
        begin, end = s.occupied_from[slot], s.occupied_to[slot]
        some = np.flatnonzero(np.diff(who, prepend=-1))
        if len(some):
            np.add.at(potential, np.minimum.reduceat(begin, some), amount[who[some]])
            np.add.at(potential, np.maximum.reduceat(end, some), -amount[who[some]])
        which, cell = ranges(begin, end)
        return cell, self.intervals.x + slot[which], amount[who[which]]

    def _varying(self, v: Interval, demand: int | Linear, potential: Floats) -> list[tuple[Ints, Ints, Floats]]:
        """The same of one interval whose size or demand is variable."""
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
        """Columns w over the slots of v, ``sum(w) = n`` and ``0 <= w <= U * x``: the product of n and the slot taken.

        One set per interval and demand, whatever the number of resources. Returns the first column.
        """
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
        """Columns ``load >= n - U * (1 - active)``, one per cell."""
        n = self.expressions.affine(demand, GE)
        most = float(self.expressions.bounds.of(demand)[1])
        w = self.form.columns(
            len(active), 0, most, integral=False, name="load", recipe=lambda p: n.value(p.x) * p.x[active]
        )
        for k, a in enumerate(active.tolist()):
            self.form.row(column(w + k).plus(n, -1).plus(column(a), -most), -most, INF)
        return np.arange(w, w + len(active))

    def _tabulated(self, atom: Atom, sides: int) -> Affine | None:
        """A function of one start alone, as a column equal to its tabulated values; None for any other."""
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
        """A column between the least and the greatest overlap that a start in the slot taken can have."""
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
    return isinstance(demand, Linear)


def _base(demand: int | Linear) -> Atom | Linear:
    """What a demand is a positive multiple of, up to a constant: its only atom if that is >= 0, else itself."""
    assert isinstance(demand, Linear)
    if len(demand.terms) == 1 and demand.constant >= 0:
        ((atom, c),) = demand.terms.items()
        if c > 0 and Bounds().of(atom)[0] >= 0:
            return atom
    return demand
