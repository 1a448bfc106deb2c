"""The time-indexed lowering: a binary column for each interval and start slot, a row for each resource and grid cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import LoweringTooLarge
from ...models.array_types import Floats, Ints
from ...models.deadline import look
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
    NoOverlap,
    Precedence,
    Synchronize,
    UndefinedValue,
)
from ...models.language.expressions import Atom, Overlap
from ...models.language.quantities import Window
from ..base import Exactness, GridOption, Side
from . import constraints
from .expressions import GE, LinearExpressions
from .form import ENTRIES_PER_SECOND, INF, Affine, FormBuilder, Point, column, ranges
from .slots import (
    Activity,
    Grid,
    Slots,
    SlotStarts,
    fields,
    forbid_extent,
    predict_transitions,
    sole_interval,
    table,
    transitions,
)

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
            times = own[own >= earliest] if times is None else np.intersect1d(times, own)
        assert times is not None
        for v in group:
            begin, end = self._cells(v, times)
            fine = np.ones(len(times), dtype=bool)
            for load, demand in self.uses[v.index] if self._size(v) else []:
                fine &= load.fits(begin, end, demand)
            times = times[fine & self._allowed(v, times)]
        for v in group:
            start = int(times[0]) if len(times) else self.given.start[v.index]
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
                reached = self.made.end[i] if left == "end" else self.made.start[i]
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
            begin, end = (int(cells[0]), int(cells[-1]) + 1) if len(cells) else (0, 0)
        else:
            assert isinstance(demand, Linear)
            which, cells = ranges(self.slots.occupied_from[a:b], self.slots.occupied_to[a:b])
            base = _base(demand)
            factor, extra = (1.0, 0.0) if base is demand else (next(iter(demand.terms.values())), demand.constant)
            w = self._portion(v, base) + which
            entries = [(cells, w, np.full(len(cells), float(factor)))]
            if extra:
                entries.append((cells, self.intervals.x + a + which, np.full(len(cells), float(extra))))
            begin, end = (int(cells.min()), int(cells.max()) + 1) if len(cells) else (0, 0)
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
            return max(0, int(inside)) if p.present[i] else 0

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
