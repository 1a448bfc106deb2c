"""Expressions, variables and constraints as columns and rows that all lowerings share. All of them are exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongArgument
from ...models.array_types import Floats, Ints
from ...models.language import (
    AllOrNone,
    Alternative,
    Bounds,
    Comparison,
    ForbidExtent,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
)
from ...models.language.bounds import Breakpoint, attribute_bounds, points_within
from ...models.language.constraints import expressions_of
from ...models.language.expressions import (
    Atom,
    Attribute,
    AttributeName,
    Element,
    Holds,
    Max,
    Min,
    Overlap,
    Piecewise,
    atoms_below,
)
from ..base import MissingConstruct, in_lowest_terms
from .form import INF, Affine, FormBuilder, Point, column, one_hot

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
    if p.present[i]:
        return int(p.end[i] - p.start[i])
    return 0


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
            low = 0
            if not v.optional:
                low = v.size_lo
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
        if k >= 0:
            return column(k)
        return Affine({}, 1.0)

    def view(self, v: Interval, field: AttributeName) -> Affine:
        """Return the start, end, size or presence of an interval as an expression over columns."""
        if field == "presence":
            return self.present(v)
        if field == "start":
            return self.start(v)
        z = self.size[v.index]
        if z >= 0:
            size = column(z)
        else:
            size = self.present(v).times(v.size_lo)
        if field == "size":
            return size
        return self.start(v).plus(size)

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
        presence = _column_or_none(self.presence[v.index])
        size = _column_or_none(self.size[v.index])
        return IntervalColumns(presence, None, size, range(0), np.zeros(0, dtype=np.int64))


def _column_or_none(column: int) -> int | None:
    if column < 0:
        return None
    return column


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
    fields: list[Literal["start", "size"]] = []
    if starts:
        fields = ["start"]
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
    if gaps:
        begin, end = (np.array(side, dtype=np.float64) for side in zip(*gaps, strict=True))
    else:
        begin, end = (np.zeros(0),) * 2

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
                if first is v:
                    i = a
                    j = b
                else:
                    i = b
                    j = a
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
    if k < 0:
        return Affine({})
    return column(k)


def _ends_before(v: Interval, w: Interval, time: int) -> bool:
    """Return whether v always ends ``time`` seconds before w starts, if both are present."""
    return v.start_hi + v.size_hi + time <= w.start_lo


def _precedes(p: Point, i: int, j: int, time: int) -> bool:
    """Return whether intervals i and j are present at a point, and i ends ``time`` seconds before j starts."""
    return bool(p.present[i] and p.present[j] and p.end[i] + time <= p.start[j])


# --- Overlaps of one interval of fixed size with several time windows, as piecewise linear functions of its start.
#
# Data: an interval of size d that starts at s in ``[a, b]``, and windows ``[lo[w], hi[w])`` (all in seconds). The
# overlap with window w is ``f[w](s) = max(0, min(s + d, hi[w]) - max(s, lo[w]))`` if the interval is present, else 0.
#
# Let ``T[0] = a < T[1] < ... < T[n] = b`` be a, b and all times in between at which the interval starts or ends at an
# edge of a window (``s`` or ``s + d`` equals ``lo[w]`` or ``hi[w]``). On each piece ``[T[k], T[k+1]]`` each overlap is
# linear: ``f[w](s) = slope[w,k] s + const[w,k]``. Columns and rows, shared by all windows (multiple choice model
# [Croxton2003])::
#
#     y[k] in {0, 1}                            1 if the start lies in piece k, k = 0, ..., n-1
#     u[k]                                      the start if it lies in piece k, else 0
#     sum_k y[k] = p,  sum_k u[k] = s           p: the presence
#     T[k] y[k] <= u[k] <= T[k+1] y[k]          for each piece k
#     f[w] = sum_k (slope[w,k] u[k] + const[w,k] y[k])   for each window w
#
# With one piece (n = 1) ``f[w] = slope s + const p``; with one start (a = b) ``f[w] = f[w](a) p``; no columns are needed
# then. This is exact and has no big-M; its linear relaxation is the convex hull of the start together with all its
# overlaps.


class Overlaps:
    """The overlaps of a model; the columns of an interval are added when its first overlap is lowered."""

    def __init__(self, model: Model, form: FormBuilder, intervals: Intervals) -> None:
        self.model = model
        self.form = form
        self.intervals = intervals
        self._edges: dict[int, set[int]] | None = None
        self._pieces: dict[int, tuple[int, Floats]] = {}

    def lowered(self, atom: Atom, sides: int) -> Affine | None:
        """Return the overlap of an interval of fixed size as an expression over columns; None for any other atom."""
        if not isinstance(atom, Overlap) or atom.interval.size_lo != atom.interval.size_hi:
            return None
        v = atom.interval
        first, points = self._of(v)
        value = np.clip(np.minimum(points + v.size_lo, atom.hi) - np.maximum(points, atom.lo), 0, None)
        if len(points) == 2:  # linear in the start
            slope = (value[1] - value[0]) / (points[1] - points[0])
            at_zero = float(value[0] - slope * points[0])
            return self.intervals.view(v, "start").times(slope).plus(self.intervals.present(v).times(at_zero))
        if len(points) == 1:
            return self.intervals.present(v).times(float(value[0]))
        slope = np.diff(value) / np.diff(points)
        at_zero = value[:-1] - slope * points[:-1]
        terms = dict(enumerate(np.concatenate([at_zero, slope]).tolist(), first))
        return Affine({k: c for k, c in terms.items() if c})

    def _of(self, v: Interval) -> tuple[int, Floats]:
        """Return (column of y[0], T) of an interval; the columns u follow y. The column is -1 for n <= 1."""
        pieces = self._pieces.get(v.index)
        if pieces is None:
            pieces = self._pieces[v.index] = self._make(v)
        return pieces

    def _make(self, v: Interval) -> tuple[int, Floats]:
        """Add the columns y and u of an interval and their rows."""
        lo, hi = v.start_lo, v.start_hi
        turns = {t for edge in self._times(v) for t in (edge, edge - v.size_lo) if lo < t < hi}
        points = np.array(sorted({lo, hi, *turns}), dtype=np.float64)
        if len(points) <= 2:
            return -1, points
        n = len(points) - 1
        i = v.index
        form = self.form
        begin, end = points[:-1], points[1:]

        def chosen(p: Point) -> Floats:
            hot = np.zeros(n)
            if p.present[i]:
                hot[min(max(int(np.searchsorted(points, p.start[i], side="right")) - 1, 0), n - 1)] = 1.0
            return hot

        y = form.columns(n, 0, 1, integral=True, name="piece of a start", recipe=chosen)
        share = partial(_share, y=y, n=n, i=i)
        u = form.columns(n, np.minimum(begin, 0), np.maximum(end, 0), integral=False, name="start", recipe=share)
        form.row(Affine({y + k: 1.0 for k in range(n)}).plus(self.intervals.present(v), -1), 0, 0)
        form.row(Affine({u + k: 1.0 for k in range(n)}).plus(self.intervals.view(v, "start"), -1), 0, 0)
        for side, low, high in ((begin, 0.0, INF), (end, -INF, 0.0)):
            rows = np.arange(n) + form.rows(low, high, n)
            form.entries(rows, np.arange(u, u + n), 1)
            form.entries(rows, np.arange(y, y + n), -side)
        return y, points

    def _times(self, v: Interval) -> set[int]:
        """Return the edges of all windows whose overlap with the interval occurs in the model, in seconds."""
        if self._edges is None:
            self._edges = {}
            expressions = [e for _, c in self.model.constraints for e in expressions_of(c)]
            for atom in atoms_below([*expressions, *self.model.objectives]):
                if isinstance(atom, Overlap):
                    self._edges.setdefault(atom.interval.index, set()).update((atom.lo, atom.hi))
        return self._edges[v.index]


def _share(p: Point, y: int, n: int, i: int) -> Floats:
    """Return the values of the n columns u of interval i; ``y``: the column of y[0]."""
    product: Floats = p.x[y : y + n] * p.start[i]
    return product


GE = 1
LE = 2
BOTH = 3
View = Callable[[Interval, AttributeName], Affine]
Special = Callable[[Atom, int], Affine | None]


def no_linear_form(name: str) -> str:
    """Return the message on a construct of which the linear lowerings have no rows."""
    return f"{name} has no linear form; sl.compile and sl.solve replace it by constructs that have one"


def flipped(sides: int) -> int:
    """Return the sides needed of an operand that has a negative factor."""
    return (sides & GE) << 1 | (sides & LE) >> 1


class LinearExpressions:
    """The expressions of one model over one form.

    ``integers``: column of the first integer variable; ``view``: gives the attributes of intervals as columns;
    ``special``: a lowering's own form of a function (as a table of costs by start), or None for the general one.
    """

    def __init__(self, form: FormBuilder, integers: int, view: View, special: Special | None = None) -> None:
        self.form = form
        self.bounds = Bounds()
        self.integers = integers
        self.view = view
        self.special = special
        self._made: dict[Atom, tuple[Affine, int]] = {}

    def affine(self, e: Linear, sides: int = BOTH) -> Affine:
        """Return ``e`` as an expression over columns, whose functions have the rows of the given sides."""
        terms: dict[int, float] = {}
        constant = float(e.constant)
        for atom, c in e.terms.items():
            if isinstance(atom, Integer):
                k = self.integers + atom.index
                terms[k] = terms.get(k, 0.0) + c
                continue
            needed = 0
            if c != 0:
                if c > 0:
                    needed = sides
                else:
                    needed = flipped(sides)
            part = self._atom(atom, needed)
            constant += c * part.constant
            for k, v in part.terms.items():
                terms[k] = terms.get(k, 0.0) + c * v
        return Affine(terms, constant)

    def compare(self, c: Comparison) -> None:
        """Add the row ``lo <= expr <= hi`` of a comparison."""
        c = in_lowest_terms(c)
        sides = (GE if c.hi < INF else 0) | (LE if c.lo > -INF else 0)
        e = self.affine(c.expr, sides)
        if c.lo > c.hi:  # not every solver takes a row whose bounds are crossed
            self.form.row(e, c.lo, INF)
            self.form.row(e, -INF, c.hi)
        elif sides:
            self.form.row(e, c.lo, c.hi)

    def _atom(self, atom: Atom, sides: int) -> Affine:
        """Return an atom as columns; add the rows of those sides that it does not have yet."""
        if isinstance(atom, Attribute):
            return self.view(atom.interval, atom.field)
        made, done = self._made.get(atom, (None, 0))
        if made is None:
            made, done = self._begin(atom)
        missing = sides & ~done
        self._made[atom] = made, done | missing
        for side in (GE, LE):
            if missing & side:
                self._side(atom, made, side)
        return made

    def _begin(self, atom: Atom) -> tuple[Affine, int]:
        """Return a new expression for a function, and the sides whose rows it already has."""
        special = None
        if self.special:
            special = self.special(atom, BOTH)
        if special is not None:
            return special, BOTH
        lo, hi = self.bounds.of(atom)
        name = type(atom).__name__.lower()
        match atom:
            case Element():
                return self._element(atom), BOTH
            case Piecewise():
                return self._begin_piecewise(atom)
            case Max() | Min():
                parts = [self.affine(e, 0) for e in atom.operands]
                if isinstance(atom, Max):
                    pick = max
                else:
                    pick = min
                return self.form.value_column(lo, hi, name=name, recipe=lambda p: pick(e.value(p.x) for e in parts)), 0
            case Holds():
                c = in_lowest_terms(atom.comparison)
                part = self.affine(c.expr, 0)
                k = self.form.column(
                    0, 1, integral=True, name=name, recipe=lambda p: c.lo <= round(part.value(p.x)) <= c.hi
                )
            case Overlap():
                s = self.view(atom.interval, "start")
                e = self.view(atom.interval, "end")
                return self.form.value_column(
                    lo,
                    hi,
                    name=name,
                    recipe=lambda p: max(0.0, min(e.value(p.x), atom.hi) - max(s.value(p.x), atom.lo)),
                ), 0
            case _:
                raise MissingConstruct(no_linear_form(type(atom).__name__))
        return column(k), 0

    def _side(self, atom: Atom, made: Affine, side: int) -> None:
        match atom:
            case Max() | Min():
                self._extreme(atom, made, side)
            case Holds():
                (self._holds_implies if side == LE else self._implies_holds)(atom, made)
            case Overlap():
                self._overlap(atom, made, side)
            case Piecewise():
                self._piecewise_side(atom, made, side)

    def _extreme(self, atom: Max | Min, made: Affine, side: int) -> None:
        """Add the rows of one side of a max or min."""
        greatest = isinstance(atom, Max)
        sign = -1
        if greatest:
            sign = 1
        parts = [self.affine(e, side) for e in atom.operands]
        if (side == GE) == greatest:
            for part in parts:
                self.form.row(made.plus(part, -1).times(sign), 0, INF)
            return
        chosen = self._choice(
            len(parts), "which operand", lambda p: one_hot((e.value(p.x) for e in parts), greatest=greatest)
        )
        lo, hi = self.bounds.of(atom)
        for k, (part, e) in enumerate(zip(parts, atom.operands, strict=True)):
            a, b = self.bounds.of(e)
            slack = max(0.0, hi - a if greatest else b - lo)
            self.form.row(made.plus(part, -1).times(sign).plus(column(chosen + k), slack), -INF, slack)

    def _choice(self, count: int, name: str, recipe: Callable[..., object]) -> int:
        """Add ``count`` binary columns of which exactly one is 1; return the first."""
        first = self.form.columns(count, 0, 1, integral=True, name=name, recipe=recipe)
        self.form.row(Affine({first + k: 1.0 for k in range(count)}), 1, 1)
        return first

    def _limits(self, atom: Holds) -> tuple[float, float, float, float]:
        """Return the comparison's (lo, hi), infinite if they do not bind, and the bounds of its expression."""
        c = in_lowest_terms(atom.comparison)
        low, high = self.bounds.of(c.expr)
        return (c.lo if c.lo > low else -INF), (c.hi if c.hi < high else INF), low, high

    def _holds_implies(self, atom: Holds, made: Affine) -> None:
        """Add the rows for: if the column is 1, the comparison holds."""
        lo, hi, low, high = self._limits(atom)
        expr = in_lowest_terms(atom.comparison).expr
        if lo > -INF:
            e = self.affine(expr, LE)
            self.form.row(e.plus(made, low - lo), low, INF)
        if hi < INF:
            e = self.affine(expr, GE)
            self.form.row(e.plus(made, high - hi), -INF, high)

    def _implies_holds(self, atom: Holds, made: Affine) -> None:
        """Add the rows for: if the comparison holds, the column is 1."""
        lo, hi, low, high = self._limits(atom)
        expr = in_lowest_terms(atom.comparison).expr
        not_below = not_above = made
        if lo > -INF and hi < INF:
            part = self.affine(expr, 0)
            first = self.form.columns(
                2,
                0,
                1,
                integral=True,
                name="holds, sides",
                recipe=lambda p: [part.value(p.x) >= lo - 0.5, part.value(p.x) <= hi + 0.5],
            )
            not_below = column(first)
            not_above = column(first + 1)
            self.form.row(made.plus(not_below, -1).plus(not_above, -1), -1, INF)
        elif lo == -INF and hi == INF:
            self.form.row(made, 1, 1)
        if lo > -INF:
            self.form.row(self.affine(expr, GE).plus(not_below, -max(0.0, high - lo + 1)), -INF, lo - 1)
        if hi < INF:
            self.form.row(self.affine(expr, LE).plus(not_above, max(0.0, hi + 1 - low)), hi + 1, INF)

    def _overlap(self, atom: Overlap, made: Affine, side: int) -> None:
        """Add the rows of one side of an overlap."""
        v = atom.interval
        s = self.view(v, "start")
        e = self.view(v, "end")
        window = Affine({}, float(atom.hi - atom.lo))
        parts = [e.plus(Affine({}, -atom.lo)), s.times(-1).plus(Affine({}, atom.hi)), self.view(v, "size"), window]
        s_lo, s_hi = self.bounds.of(v.start)
        e_lo, e_hi = self.bounds.of(v.end)
        z_lo, z_hi = self.bounds.of(v.size)
        bounds = [
            (e_lo - atom.lo, e_hi - atom.lo),
            (atom.hi - s_hi, atom.hi - s_lo),
            (z_lo, z_hi),
            (window.constant,) * 2,
        ]
        if side == GE:
            chosen = self._choice(4, "which operand", lambda p: one_hot((q.value(p.x) for q in parts), greatest=False))
            for k, (part, (_, b)) in enumerate(zip(parts, bounds, strict=True)):
                slack = max(0.0, b)
                self.form.row(made.plus(part, -1).plus(column(chosen + k), -slack), -slack, INF)
            return
        some = self.form.column(
            0, 1, integral=True, name="overlap, some", recipe=lambda p: min(q.value(p.x) for q in parts) > 0
        )
        self.form.row(made.plus(column(some), -self.bounds.of(atom)[1]), -INF, 0)
        for part, (a, _) in zip(parts, bounds, strict=True):
            slack = max(0.0, -a)
            self.form.row(made.plus(part, -1).plus(column(some), slack), -INF, slack)

    def _element(self, atom: Element) -> Affine:
        """Add the rows of an element; return its value as an expression over columns."""
        index = self.affine(atom.operands[0])
        low, high = self.bounds.of(atom.operands[0])
        first = max(0, math.ceil(low))
        last = min(len(atom.array) - 1, math.floor(high))
        reach = range(first, last + 1)
        at = self._choice(
            len(reach), "element, index", lambda p: np.equal(np.arange(first, last + 1), round(index.value(p.x)))
        )
        self.form.row(index.plus(Affine({at + k: float(j) for k, j in enumerate(reach)}), -1), 0, 0)
        return Affine({at + k: float(atom.array[j]) for k, j in enumerate(reach)})

    def _begin_piecewise(self, atom: Piecewise) -> tuple[Affine, int]:
        """Return a piecewise function: a column without sides if it is convex or concave, else in full (BOTH)."""
        if not bending(self._points(atom)):
            return self._piecewise(atom), BOTH
        e = atom.operands[0]
        first = atom.points[0][0]
        last = atom.points[-1][0]
        low, high = self.bounds.of(e)
        sides = (LE if low < first else 0) | (GE if high > last else 0)
        x = self.affine(e, sides)
        if sides:
            self.form.row(x, first, last)
        at, values = np.array(atom.points, dtype=np.float64).T
        lo, hi = self.bounds.of(atom)
        return self.form.value_column(lo, hi, name="piecewise", recipe=lambda p: np.interp(x.value(p.x), at, values)), 0

    def _piecewise_side(self, atom: Piecewise, made: Affine, side: int) -> None:
        """Add the rows of one side of a convex or concave piecewise function."""
        points = self._points(atom)
        if side not in bending(points):
            self.form.row(made.plus(self._piecewise(atom), -1), *((0, INF) if side == GE else (-INF, 0)))
            return
        if side == GE:
            lo = 0.0
            hi = INF
        else:
            lo = -INF
            hi = 0.0
        for (x0, y0), (x1, y1) in pairwise(points):
            slope = (y1 - y0) / (x1 - x0)
            # not slope e + (y0 - slope x0), which loses digits of late times
            segment = self.affine((atom.operands[0] - x0) * slope + y0, side)
            self.form.row(made.plus(segment, -1), lo, hi)

    def _piecewise(self, atom: Piecewise) -> Affine:
        """Add the binaries and weights of a piecewise function; return its value as an expression over columns."""
        reached = self._points(atom)
        first = reached[0][0]  # x is counted from it: as a coefficient, a time since 1970 lost optima
        x = self.affine(atom.operands[0] - first)
        points = np.array([p[0] - first for p in reached], dtype=np.float64)
        n = len(points)
        segment = self._choice(n - 1, "piecewise, segment", lambda p: _segment(points, x.value(p.x)))
        weight = self.form.columns(
            n, 0, 1, integral=False, name="piecewise, weight", recipe=lambda p: _weights(points, x.value(p.x))
        )
        self.form.row(Affine({weight + k: 1.0 for k in range(n)}), 1, 1)
        self.form.row(x.plus(Affine({weight + k: float(points[k]) for k in range(n)}), -1), 0, 0)
        for k in range(n):
            ends = {segment + j: -1.0 for j in (k - 1, k) if 0 <= j < n - 1}
            self.form.row(Affine({weight + k: 1.0, **ends}), -INF, 0)
        return Affine({weight + k: float(y) for k, (_, y) in enumerate(reached)})

    def _points(self, atom: Piecewise) -> tuple[Breakpoint, ...]:
        """Return the points of a piecewise function within the bounds of its x."""
        return points_within(atom.points, *self.bounds.of(atom.operands[0]))


def bending(points: Sequence[Breakpoint]) -> tuple[int, ...]:
    """Return the sides that need no binaries: GE if the function through the points is convex, LE if it is concave.

    Examples
    --------
    >>> bending([(0, 0), (4, 1), (9, 8)]) == (GE,)
    True
    """
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]
    convex = all(a <= b for a, b in pairwise(slopes))
    concave = all(a >= b for a, b in pairwise(slopes))
    return (GE,) * convex + (LE,) * concave


def _segment(points: np.ndarray, x: float) -> np.ndarray:
    """Return an array with 1 at the segment that contains x, else 0."""
    hot = np.zeros(len(points) - 1)
    hot[min(max(int(np.searchsorted(points, x, side="right")) - 1, 0), len(points) - 2)] = 1.0
    return hot


def _weights(points: np.ndarray, x: float) -> np.ndarray:
    """Return the weight of each point, so that the weighted sum of the points is x."""
    k = int(np.argmax(_segment(points, x)))
    share = (x - points[k]) / (points[k + 1] - points[k])
    weights = np.zeros(len(points))
    weights[k] = 1.0 - share
    weights[k + 1] = share
    return weights
