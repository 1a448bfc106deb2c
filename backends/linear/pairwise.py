"""The pairwise lowering: a start column per interval, order binaries per pair, exact at any time scale.

For two intervals i, j that both run, one of four states holds: i before j (``end_i <= start_j``), j before i, i runs at
the start of j (``start_i <= start_j``), or j runs at the start of i (``start_j < start_i``, so that of equal starts the
last one sees all the others). A level only rises at starts, so a cumulative is one row per start: the demands of those
that run then. (Order variables: Manne 1960; overlapping at starts: Artigues et al. 2013, "start/start" models.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...models.language import Alternative, Assignment, Bounds, Cumulative, Interval, Linear, Model, NoOverlap
from ...models.language.bounds import attribute_bounds
from ..base import Exactness, LoweringTooLarge
from .constraints import alternative
from .expressions import GE, LinearExpressions
from .form import INF, Affine, Floats, FormBuilder, Ints, Point, column
from .intervals import IntervalColumns, Intervals
from .overlaps import Overlaps

ADVICE = "take lowering='time-indexed' with a coarser grid (grid=seconds), or raise max_nonzeros"


class ColumnStarts(Intervals):
    """One integer column per start; several start windows have a binary each."""

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
        return column(self.first + v.index)

    def starts(self, x: Floats) -> Ints:
        return np.rint(x[self.first : self.first + len(self.model.intervals)]).astype(np.int64)

    def columns(self, v: Interval) -> IntervalColumns:
        return super().columns(v)._replace(start=self.first + v.index)


@dataclass(frozen=True)
class Members:
    """The intervals of one resource as arrays, with the fillers of a stepwise capacity behind them.

    Columns of start and size (-1: fixed), the fixed part of the size, bounds of the start (``floor``, ``ceiling``: with
    the 0 of absence), and whether each runs.
    """

    index: Ints
    filler: Ints
    start: Ints
    size: Ints
    fixed: Ints
    low: Ints
    high: Ints
    floor: Ints
    ceiling: Ints
    size_lo: Ints
    size_hi: Ints
    runs: list[Affine]

    def times(self, p: Point) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Start, end and running of each member at a point."""
        s = np.concatenate([p.start[self.index], self.filler[:, 0]])
        e = np.concatenate([p.end[self.index], self.filler[:, 1]])
        present = np.concatenate([p.present[self.index], np.ones(len(self.filler), dtype=bool)])
        return s, e, present & (e > s)


class Pairwise:
    """The lowering: starts as columns, ``no_overlap`` and ``cumulative`` by pairs."""

    exactness = Exactness("exact", ("lowering pairwise",))

    def __init__(self, model: Model, form: FormBuilder, max_nonzeros: int) -> None:
        rows, columns, nonzeros = self.predict(model)
        if nonzeros > max_nonzeros:
            raise LoweringTooLarge(rows, columns, nonzeros, max_nonzeros, ADVICE)
        self.form = form
        self.intervals: ColumnStarts = ColumnStarts(model, form)
        overlaps = Overlaps(model, form, self.intervals)
        self.expressions = LinearExpressions(form, self.intervals.integers, self.intervals.view, overlaps.lowered)
        self._whole: dict[tuple[int, int], tuple[int, int]] = {}  # by the columns of two starts: one before the other
        self._at: dict[tuple[int, int], tuple[int, int]] = {}  # one runs at the start of the other
        self._apart: set[tuple[int, int]] = set()

    @staticmethod
    def predict(model: Model) -> tuple[int, int, int]:
        """(rows, columns, non-zeros) of the pairs, which outgrow all else."""
        rows = columns = nonzeros = 0
        for _, c in model.constraints:
            if isinstance(c, (NoOverlap, Cumulative)):
                n = len(c.intervals) + (len(c.steps) - 1 if isinstance(c, Cumulative) else 0)
                pairs = n * (n - 1) // 2
                states = 2 if isinstance(c, NoOverlap) else 4
                rows, columns = rows + (states + 1) * pairs, columns + states * pairs
                nonzeros += (4 * states + 4) * pairs
        return rows, columns, nonzeros

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """The assignment itself: every one has its columns."""
        return assignment

    def alternative(self, c: Alternative) -> None:
        """Starts and presences linked (see ``constraints``)."""
        alternative(self.form, self.intervals, c)

    def no_overlap(self, c: NoOverlap) -> None:
        """For each pair that can meet: one before the other."""
        m = self._members([v for v in c.intervals if v.size_hi > 0], [])
        i, j = self._pairs(m)
        self._states(m, i, j, np.zeros(len(i), dtype=bool))

    def cumulative(self, c: Cumulative) -> None:
        """Per start: the demands of all that run then, its own included, stay within the greatest capacity."""
        tasks: list[Interval] = []
        demands: list[int | Linear] = []
        for v, d in zip(c.intervals, c.demands, strict=True):
            if isinstance(d, Linear):
                self.expressions.affine(d, 0)  # for its range, where the interval is absent
            if v.size_hi > 0 and not (isinstance(d, int) and d == 0):
                tasks.append(v)
                demands.append(d)
        peak = max(capacity for _, capacity in c.steps)
        fillers = self._fillers(c, tasks, peak)
        demands += [f[2] for f in fillers]
        least, most = np.array([Bounds().of(d) for d in demands], dtype=np.int64).reshape(-1, 2).T
        if most.sum() <= peak:
            return
        m = self._members(tasks, [f[:2] for f in fillers])
        i, j = self._pairs(m)
        at_j, at_i, who = self._states(m, i, j, least[i] + least[j] <= peak)
        runner, at = np.concatenate([i[who], j[who]]), np.concatenate([j[who], i[who]])
        self._levels(m, demands, peak, (runner, at, np.concatenate([at_j, at_i])))

    def _levels(self, m: Members, demands: list[int | Linear], peak: int, states: tuple[Ints, Ints, Ints]) -> None:
        """The rows: for each member its demand and those of the runners at its start."""
        runner, at, state = states
        known = np.array([isinstance(d, int) for d in demands])
        loads = [self._load(d, r) for d, r in zip(demands, m.runs, strict=True)]
        for a, b, k in zip(*(x[~known[runner]].tolist() for x in states), strict=True):
            loads[b] = loads[b].plus(self._load(demands[a], column(k)))
        first = self.form.n_rows
        for load in loads:
            self.form.row(load, -INF, peak)
        plain = known[runner]
        amounts = np.array([d if isinstance(d, int) else 0 for d in demands], dtype=np.int64)
        self.form.entries(first + at[plain], state[plain], amounts[runner[plain]])

    def _load(self, demand: int | Linear, on: Affine) -> Affine:
        """The demand where ``on`` is 1 (constant or column), at least 0 elsewhere."""
        if isinstance(demand, int):
            return on.times(demand)
        e = self.expressions.affine(demand, GE)
        if not on.terms:
            return e.times(on.constant)
        most = self.expressions.bounds.of(demand)[1]
        w = self.form.column(
            0, most, integral=False, name="load", recipe=lambda p: e.value(p.x) if on.value(p.x) > 0.5 else 0
        )
        self.form.row(column(w).plus(e, -1).plus(on, -most), -most, INF)
        return column(w)

    def _fillers(self, c: Cumulative, tasks: list[Interval], peak: int) -> list[tuple[int, int, int]]:
        """(start, end, demand) of what keeps the capacity below its peak."""
        if not tasks:
            return []
        begin = min(v.start_lo for v in tasks)
        end = max(v.start_hi + v.size_hi for v in tasks)
        times = [begin, *(max(begin, t) for t, _ in c.steps[1:]), end]
        found = [(a, min(b, end), peak - cap) for a, b, (_, cap) in zip(times[:-1], times[1:], c.steps, strict=True)]
        return [f for f in found if f[1] > f[0] and f[2] > 0]

    def _members(self, tasks: list[Interval], fillers: list[tuple[int, int]]) -> Members:
        filler = np.array(fillers, dtype=np.int64).reshape(-1, 2)
        begin = filler[:, 0]
        at = self.form.columns(len(filler), begin, begin, integral=True, name="filler", recipe=lambda p: begin)
        lengths = filler[:, 1] - begin
        of = self.intervals
        table = [(v.index, of.first + v.index, of.size[v.index], *_span(v), v.size_lo, v.size_hi) for v in tasks]
        index, start, size, low, high, floor, ceiling, size_lo, size_hi = (
            np.array(table, dtype=np.int64).reshape(-1, 9).T
        )
        return Members(
            index=index,
            filler=filler,
            start=np.concatenate([start, np.arange(at, at + len(filler))]),
            size=np.concatenate([size, np.full(len(filler), -1)]),
            fixed=np.concatenate([np.where(size < 0, size_lo, 0), lengths]),
            low=np.concatenate([low, begin]),
            high=np.concatenate([high, begin]),
            floor=np.concatenate([floor, begin]),
            ceiling=np.concatenate([ceiling, begin]),
            size_lo=np.concatenate([size_lo, lengths]),
            size_hi=np.concatenate([size_hi, lengths]),
            runs=[of.runs(v) for v in tasks] + [Affine({}, 1.0)] * len(filler),
        )

    def _pairs(self, m: Members) -> tuple[Ints, Ints]:
        """Pairs whose windows allow them to meet (two fillers never do), the one with the first column first."""
        i, j = np.triu_indices(len(m.start), 1)
        apart = (m.high + m.size_hi)[i] <= m.low[j]
        apart |= (m.high + m.size_hi)[j] <= m.low[i]
        keep = ~apart & (i < len(m.index))
        i, j = i[keep], j[keep]
        forth = m.start[i] < m.start[j]
        return np.where(forth, i, j), np.where(forth, j, i)

    def _states(self, m: Members, i: Ints, j: Ints, overlap: NDArray[np.bool_]) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Columns and rows of the states of each pair; those where ``overlap`` may run at the same time.

        Returns the columns "i runs at j's start" and "j runs at i's start", and the pairs that have them. A pair has its
        states once, whatever the number of resources that it shares.
        """
        keys = list(zip(m.start[i].tolist(), m.start[j].tolist(), strict=True))
        settled = np.array([k in self._apart for k in keys], dtype=bool)
        met = np.array([k in self._whole for k in keys], dtype=bool)
        self._new_states(m, i, j, ~met & ~settled, overlap)
        separated = met & ~settled & ~overlap
        self._separate(m, i[separated], j[separated])
        self._apart.update(k for k, o in zip(keys, overlap.tolist(), strict=True) if not o)
        who = overlap & ~settled
        columns = np.array([self._at[k] for k, w in zip(keys, who.tolist(), strict=True) if w], dtype=np.int64)
        at_j, at_i = columns.reshape(-1, 2).T
        return at_j, at_i, who

    def _new_states(self, m: Members, i: Ints, j: Ints, new: NDArray[np.bool_], overlap: NDArray[np.bool_]) -> None:
        """The states of pairs that have none yet: at least one of them holds where both run."""
        i, j, overlap = i[new], j[new], overlap[new]
        forth, back = ((m.low + m.size_lo)[a] <= m.high[b] for a, b in ((i, j), (j, i)))
        number = self._both_run(m, i, j)
        kinds: list[tuple[Ints, Ints, NDArray[np.bool_], bool, int]] = [
            (i, j, forth, True, 0),
            (j, i, back, True, 0),
            (i, j, overlap, False, 0),
            (j, i, overlap, False, 1),
        ]
        found = []
        for a, b, which, whole, gap in kinds:
            a, b = a[which], b[which]
            first = self.form.columns(
                len(a),
                0,
                1,
                integral=True,
                name="before" if whole else "runs at start",
                recipe=partial(_state, m=m, a=a, b=b, whole=whole, gap=gap),
            )
            states = np.arange(first, first + len(a))
            self.form.entries(number[which], states, 1)
            self._order(m, a, b, states, whole, gap)
            column = np.full(len(which), -1)
            column[which] = states
            found.append(column.tolist())
        keys = zip(m.start[i].tolist(), m.start[j].tolist(), strict=True)
        for key, before, after, at_j, at_i in zip(keys, *found, strict=True):
            self._whole[key] = before, after
            self._at[key] = at_j, at_i

    def _separate(self, m: Members, i: Ints, j: Ints) -> None:
        """Of pairs that could run together so far, one comes before the other."""
        number = self._both_run(m, i, j)
        keys = zip(m.start[i].tolist(), m.start[j].tolist(), strict=True)
        columns = np.array([self._whole[k] for k in keys], dtype=np.int64).reshape(-1, 2)
        rows, sides = np.nonzero(columns >= 0)
        self.form.entries(number[rows], columns[rows, sides], 1)

    def _order(self, m: Members, a: Ints, b: Ints, states: Ints, whole: bool, gap: int) -> None:
        """State 1: ``start_a (+ size_a) + gap <= start_b``."""
        fixed = (m.fixed[a] if whole else 0) + gap
        reach = m.size_hi[a] + gap if whole else gap
        slack = np.maximum(m.ceiling[a] + reach - m.floor[b], 0)
        first = self.form.rows(-INF, slack - fixed, len(a))
        rows = np.arange(first, first + len(a))
        self.form.entries(rows, m.start[a], 1)
        self.form.entries(rows, m.start[b], -1)
        self.form.entries(rows, states, slack)
        if whole:
            some = m.size[a] >= 0
            self.form.entries(rows[some], m.size[a][some], 1)

    def _both_run(self, m: Members, i: Ints, j: Ints) -> Ints:
        """Rows whose states (entries still to come) sum to at least 1 where both run: ``sum - r_i - r_j >= -1``."""
        certain = np.array([r.constant for r in m.runs])
        flags = np.array([next(iter(r.terms), -1) for r in m.runs], dtype=np.int64)
        first = self.form.rows(certain[i] + certain[j] - 1, INF, len(i))
        rows = np.arange(first, first + len(i))
        for a in (i, j):
            some = flags[a] >= 0
            self.form.entries(rows[some], flags[a][some], -1)
        return rows


def _span(v: Interval) -> tuple[int, int, int, int]:
    """Bounds of the start where v is present, and of the start column."""
    return v.start_lo, v.start_hi, *attribute_bounds(v, "start")


def _state(p: Point, m: Members, a: Ints, b: Ints, whole: bool, gap: int) -> NDArray[np.bool_]:
    """Which pairs are in the state at a point (see ``Pairwise._states``)."""
    s, e, runs = m.times(p)
    both = runs[a] & runs[b]
    if whole:
        return both & (e[a] <= s[b])
    return both & (s[a] + gap <= s[b]) & (s[b] < e[a])
