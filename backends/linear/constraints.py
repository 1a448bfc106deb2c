"""Columns of variables and intervals, and rows for constraints, that all lowerings share. All of them are exact."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongArgument
from ...models.array_types import Floats, Ints
from ...models.language import AllOrNone, Alternative, ForbidExtent, Interval, Model, NoOverlap, Precedence, Synchronize
from ...models.language.bounds import attribute_bounds
from ...models.language.expressions import AttributeName
from .form import INF, Affine, FormBuilder, Point, column

# --- Columns and rows for integer variables and for the presence, size and end of intervals, used by all lowerings.
#
# Data of interval i: least and greatest size ``z_lo, z_hi`` in seconds, and whether it is optional. Each lowering adds
# the starts ``s[i]`` in its own form (``column_starts``, ``linear.time_indexed``). Columns and rows::
#
#     x in {lo(x), ..., hi(x)}               for each integer variable x
#     p[i] in {0, 1}                         for each optional interval; p[i] = 1 for the others, without a column
#     z[i] = z_lo p[i]                       if z_lo = z_hi, without a column
#     z[i] integer, z_lo p[i] <= z[i] <= z_hi p[i]   otherwise
#     e[i] = s[i] + z[i]                     without a column
#     r[i] = p[i]                            if z_lo > 0
#     r[i] = 0                               if z_hi = 0
#     r[i] in {0, 1}, z[i] <= z_hi r[i]      otherwise
#
# The flag ``r[i]`` ("runs") must be 1 if the interval is present with a positive size; intervals of size 0 occupy
# nothing. It may also be 1 for size 0: it only adds requirements, so a solver can always set it to 0 there. All this is
# exact. An absent interval has ``s[i] = z[i] = e[i] = 0``.


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
        columns = [-1] * len(self.model.intervals)
        for k, i in enumerate(optional):
            columns[i] = first + k
        return columns

    def _sizes(self) -> list[int]:
        """Add the size columns; return the column of each interval, -1 if its size is fixed."""
        columns = [-1] * len(self.model.intervals)
        for v in self.model.intervals:
            if v.size_lo == v.size_hi:
                continue
            i = v.index
            low = 0 if v.optional else v.size_lo
            z = self.form.column(
                low,
                v.size_hi,
                integral=True,
                name="size",
                recipe=partial(_length, i=i),
            )
            columns[i] = z
            if v.optional:
                self.tie(column(z), v, v.size_lo, v.size_hi)
        return columns

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
        p = np.array(self.presence, dtype=np.int64)
        z = np.array(self.size, dtype=np.int64)
        fixed = np.array([v.size_lo for v in self.model.intervals], dtype=np.int64)
        x = np.append(x, 1.0)  # the index -1 (no column) reads this 1
        return self.starts(x[:-1]), np.where(z < 0, fixed, np.rint(x[z]).astype(np.int64)), x[p] > 0.5

    def columns(self, v: Interval) -> IntervalColumns:
        """Return the columns of one interval, for users who add their own rows to the native model."""
        p, z = self.presence[v.index], self.size[v.index]
        return IntervalColumns(
            p if p >= 0 else None, None, z if z >= 0 else None, range(0), np.zeros(0, dtype=np.int64)
        )


# --- One integer column for the start of each interval, used by the pairwise and the energy lowering.
#
# Data of interval i: start windows ``[a[i,k], b[i,k]]`` in seconds, k = 1, ..., K[i], in increasing time. Columns and
# rows, with p the presence::
#
#     s[i] integer, a[i,1] <= s[i] <= b[i,K]; if i is optional, these bounds are widened to include 0
#     one window, optional:   a[i,1] p[i] <= s[i] <= b[i,1] p[i]
#     several windows:        w[i,k] in {0, 1} for each window k
#                             sum_k w[i,k] = p[i]
#                             sum_k a[i,k] w[i,k] <= s[i] <= sum_k b[i,k] w[i,k]
#
# The binary ``w[i,k]`` is 1 if the start lies in window k. An absent interval has ``s[i] = 0``. This is exact, and no
# big-M is needed.


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


# --- Linear rows for constraints that all lowerings share. All of them are exact.
#
# Symbols p, s, z, e as in ``schedlab.backends.linear``. ``lo(x)`` and ``hi(x)`` bound a start, end or size over all
# values that the model allows, with the 0 of an absent interval included (``attribute_bounds``). The big-M constants are
# computed from these bounds.
#
# **Alternative** of interval a and the set O of options with count k::
#
#     sum_{o in O} p[o] = k p[a]
#     for f = s, and f = z unless all sizes are fixed and equal:
#         f[a] - f[o] <= U (1 - p[o])   for each o in O,   U = max(hi(f[a]), 0)
#         f[a] - f[o] >= L (1 - p[o])   for each o in O,   L = min(lo(f[a]), 0)
#         sum_{o in O} f[o] = k f[a]
#
# A present option (``p[o] = 1``) has the start and size of a, hence its end. For an absent option ``f[o] = 0``, so the
# two rows hold for each value of ``f[a]``. The last row is implied for whole ``p``; it tightens the linear relaxation.
#
# **Precedence** of field f of interval i and field g of interval j (f, g: start or end) with a delay in seconds::
#
#     f[i] + delay <= g[j] + M (1 - p[i]) + M (1 - p[j]),   M = max(0, hi(f[i]) + delay - lo(g[j]))
#
# If an interval is absent, the row holds for all values within their bounds. An interval that is not optional has
# no M term. A maximum time lag is a second row of this form (``Precedence.parts``).
#
# **Synchronize** of interval a and the set O of others, with precedences of delay 0::
#
#     s[a] <= s[o],  s[o] <= s[a],  e[a] <= e[o],  e[o] <= e[a]   for each o in O, relaxed where a or o is absent
#
# **All or none**: ``p[i] = p[j]`` for each interval i and the next one j.
#
# **Forbid extent** of interval i, which can run in the gaps ``[a[k], b[k]]`` between the forbidden windows, with the flag r
# of ``intervals`` (1 if i is present with a positive size)::
#
#     w[k] in {0, 1},  sum_k w[k] = r[i]
#     s[i] >= sum_k a[k] w[k] + lo(s[i]) (1 - r[i])
#     e[i] <= sum_k b[k] w[k] + hi(e[i]) (1 - r[i])
#
# **Transitions** of a no_overlap: for each pair of its intervals, with binaries B of the order and the time t::
#
#     B[i,j] + B[j,i] >= p[i] + p[j] - 1                       (already there for the B of the pairwise lowering)
#     e[i] + t[i,j] <= s[j] + M (1 - B[i,j]),   M = max(0, hi(e[i]) + t[i,j] - lo(s[j]));   the same for B[j,i]
#
# B exists only if the windows allow this order. If they allow one order only, ``p[i] + p[j] - 1`` takes the place of B.
# For n intervals that can be points at the same time, with times on a cycle (``NoOverlap.cyclic_points``), columns q are
# their ranks in the sequence. For each pair with ``t[i,j] = 0 < t[j,i]``, and for B[j,i] alike::
#
#     q[i] + 1 <= q[j] + n (1 - B[i,j]),   q in {0, ..., n - 1}

BOTH_ENDS: tuple[Literal["start"], Literal["end"]] = ("start", "end")


def alternative(form: FormBuilder, intervals: Intervals, c: Alternative, *, starts: bool = True) -> None:
    """Add the rows of an alternative.

    Parameters
    ----------
    form : FormBuilder
        Receives the rows.
    intervals : Intervals
        Gives the presences, starts and sizes as columns.
    c : Alternative
        The constraint.
    starts : bool
        If False, the rows of the starts are left out, because the caller links the starts in another way.
    """
    master = c.interval
    fields: list[Literal["start", "size"]] = ["start"] if starts else []
    if master.size_lo != master.size_hi or any((o.size_lo, o.size_hi) != (master.size_lo,) * 2 for o in c.options):
        fields.append("size")
    total = intervals.present(master).times(-c.count)
    for o in c.options:
        total = total.plus(intervals.present(o))
    form.row(total, 0, 0)
    for field in fields:
        whole = intervals.view(master, field)
        lo, hi = attribute_bounds(master, field)
        total = whole.times(-c.count)
        for o in c.options:
            part = intervals.view(o, field)
            total = total.plus(part)
            _equal_if(form, whole.plus(part, -1), min(lo, 0), max(hi, 0), intervals.present(o))
        form.row(total, 0, 0)


def _equal_if(form: FormBuilder, difference: Affine, lo: float, hi: float, present: Affine) -> None:
    """Add rows for: difference = 0 if ``present`` is 1, lo <= difference <= hi if it is 0."""
    form.row(difference.plus(present, hi), -INF, hi)
    form.row(difference.plus(present, lo), lo, INF)


def synchronize(form: FormBuilder, intervals: Intervals, c: Synchronize) -> None:
    """Add the rows of a synchronize.

    Parameters
    ----------
    form : FormBuilder
        Receives the rows.
    intervals : Intervals
        Gives the presences, starts and ends as columns.
    c : Synchronize
        The constraint.
    """
    for o in c.others:
        for field in BOTH_ENDS:
            _before(form, intervals, (c.interval, field), (o, field), 0)
            _before(form, intervals, (o, field), (c.interval, field), 0)


def precedence(form: FormBuilder, intervals: Intervals, c: Precedence) -> None:
    """Add the rows of a precedence: before + delay <= after if both intervals are present; for a maximum lag another."""
    for part in c.parts:
        left, right = part.fields
        _before(form, intervals, (part.before, left), (part.after, right), part.delay)


End = tuple[Interval, Literal["start", "end"]]


def _before(form: FormBuilder, intervals: Intervals, left: End, right: End, delay: int) -> None:
    first = intervals.view(*left)
    second = intervals.view(*right)
    slack = max(0, attribute_bounds(*left)[1] + delay - attribute_bounds(*right)[0])
    e = first.plus(second, -1)
    limit = float(-delay)
    for v in (left[0], right[0]):
        if v.optional:
            e = e.plus(intervals.present(v), slack)
            limit += slack
    form.row(e, -INF, limit)


def all_or_none(form: FormBuilder, intervals: Intervals, c: AllOrNone) -> None:
    """Add the rows of an all_or_none: the presences are equal."""
    for v, w in pairwise(c.intervals):
        form.row(intervals.present(v).plus(intervals.present(w), -1), 0, 0)


def forbid_extent(form: FormBuilder, intervals: Intervals, c: ForbidExtent) -> None:
    """Add the rows of a forbid_extent: an interval that runs lies in one of the gaps between the windows."""
    v = c.interval
    windows = c.within_reach()
    if not windows or v.size_hi == 0:
        return
    low, _ = attribute_bounds(v, "start")
    _, high = attribute_bounds(v, "end")
    edges = [v.start_lo, *(t for w in windows for t in w), v.start_hi + v.size_hi]
    least = max(1, v.size_lo)
    gaps = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= least and a <= v.start_hi]
    begin, end = (np.array(side, dtype=np.float64) for side in zip(*gaps, strict=True)) if gaps else (np.zeros(0),) * 2

    def chosen(p: Point) -> Floats:
        s, e = p.start[v.index], p.end[v.index]
        inside: Floats = ((begin <= s) & (e <= end) & (s < e) & p.present[v.index]).astype(np.float64)
        return inside

    w = form.columns(len(gaps), 0, 1, integral=True, name="gap", recipe=chosen)
    runs = intervals.runs(v)
    start = intervals.view(v, "start")
    finish = intervals.view(v, "end")
    form.row(Affine({w + k: 1.0 for k in range(len(gaps))}).plus(runs, -1), 0, 0)
    for side, e, free, lo, hi in ((begin, start, low, 0.0, INF), (end, finish, high, -INF, 0.0)):
        inside = Affine({w + k: float(t) for k, t in enumerate(side)}, free).plus(runs, -free)
        form.row(e.plus(inside, -1), lo, hi)


def transitions(
    form: FormBuilder,
    intervals: Intervals,
    c: NoOverlap,
    known: Callable[[Interval, Interval], tuple[int, int] | None] = lambda v, w: None,
) -> None:
    """Add the rows of the transition times of a no_overlap.

    Parameters
    ----------
    form : FormBuilder
        Receives the rows.
    intervals : Intervals
        Gives the starts, ends and flags as columns.
    c : NoOverlap
        The constraint.
    known : callable, optional
        Returns the columns of B[i,j] and B[j,i] of two intervals (-1: none) if they exist and at least one of them must
        be 1 if both run; else None.
    """
    c = c.capped()
    cycles = c.cyclic_points()
    ranks = {k: column(q) for some in cycles for k, q in zip(some, _ranks(form, c, some), strict=True)}
    ranked = {pair for some in cycles for pair in combinations(some, 2)}
    for a, b in combinations(range(len(c.intervals)), 2):
        v, w = c.intervals[a], c.intervals[b]
        forth = c.transition(a, b)
        back = c.transition(b, a)
        if (a, b) not in ranked and (_ends_before(v, w, forth) or _ends_before(w, v, back)):
            continue
        columns = known(v, w)
        if columns is not None:
            orders = [(v, w, forth, _flag(columns[0])), (w, v, back, _flag(columns[1]))]
        else:
            orders = _orders(form, intervals, (v, w, forth), (w, v, back))
        for first, second, time, before in orders:
            if before.terms or before.constant:
                slack = max(0, attribute_bounds(first, "end")[1] + time - attribute_bounds(second, "start")[0])
                e = intervals.view(first, "end").plus(intervals.view(second, "start"), -1).plus(before, slack)
                form.row(e, -INF, slack - time)
            if (a, b) in ranked and bool(forth) != bool(back):
                i, j = (a, b) if first is v else (b, a)
                form.row(ranks[i].plus(ranks[j], -1).plus(before, len(ranks)), -INF, len(ranks) - 1)


def _ranks(form: FormBuilder, c: NoOverlap, some: tuple[int, ...]) -> range:
    """Add the columns of the ranks of the intervals at some positions."""
    n = len(some)

    def ranks(p: Point) -> Floats:
        index = [c.intervals[k].index for k in some]
        spans = [(int(p.start[i]), int(p.end[i])) if p.present[i] else None for i in index]
        order = c.part(some).sequence(spans) or []
        rank_of: Floats = np.zeros(n)
        rank_of[order] = np.arange(len(order))
        return rank_of

    first = form.columns(n, 0, n - 1, integral=True, name="rank", recipe=ranks)
    return range(first, first + n)


Order = tuple[Interval, Interval, int]


def _orders(form: FormBuilder, intervals: Intervals, *orders: Order) -> list[tuple[Interval, Interval, int, Affine]]:
    """Return the possible orders of two intervals, each with an expression that is 1 (or less) if it is chosen."""
    v, w, _ = orders[0]
    both = intervals.present(v).plus(intervals.present(w)).plus(Affine({}, -1.0))
    possible = [(a, b, t) for a, b, t in orders if a.start_lo + a.size_lo + t <= b.start_hi]
    if len(possible) == 1:
        return [(*possible[0], both)]
    pairs = []
    for a, b, t in possible:
        recipe = partial(_precedes, i=a.index, j=b.index, time=t)
        pairs.append((a, b, t, column(form.column(0, 1, integral=True, name="before", recipe=recipe))))
    total = Affine({})
    for *_, before in pairs:
        total = total.plus(before)
    form.row(total.plus(both, -1), 0, INF)
    return pairs


def _flag(k: int) -> Affine:
    return Affine({}) if k < 0 else column(k)


def _ends_before(v: Interval, w: Interval, time: int) -> bool:
    """Return whether v always ends ``time`` seconds before w starts, if both are present."""
    return v.start_hi + v.size_hi + time <= w.start_lo


def _precedes(p: Point, i: int, j: int, time: int) -> bool:
    """Return whether intervals i and j are present at a point, and i ends ``time`` seconds before j starts."""
    return bool(p.present[i] and p.present[j] and p.end[i] + time <= p.start[j])
