"""Decompositions of calendars, domains with holes, spans, isomorphisms, and of capacities and lags that are expressions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ...models import language as sl
from ...models.language import (
    Constraint,
    Cumulative,
    Evaluator,
    InDomain,
    Intensity,
    Interval,
    Isomorphism,
    Linear,
    Precedence,
    Span,
    Stated,
    VariableCapacity,
    VariableDelay,
    overlap,
)
from ...models.language import sum as total
from ...models.language.calendars import FULL
from ...models.language.expressions import linear
from .constructs import OF_STATED, STATED
from .decomposition import Decomposition

# Symbols for an interval i: ``s[i]``, ``e[i]``, ``z[i]``, ``p[i]`` are its start, end, size and presence, all 0 if it is
# absent. ``hi`` and ``lo`` of an expression are its bounds.


class Structures(Decomposition):
    """These constraints become comparisons, and a variable capacity a cumulative; the formulas stand at each method."""

    replaces = STATED

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Stated) or OF_STATED[type(copied)] not in self.missing:
            return copied
        match copied:
            case Intensity():
                self._intensity(copied)
            case InDomain():
                self._in_domain(copied)
            case Span():
                self._span(copied)
            case Isomorphism():
                self._isomorphism(copied)
            case VariableCapacity():
                return self._capacity(copied)
            case VariableDelay():
                self._delay(copied)
        return None

    def _intensity(self, c: Intensity) -> None:
        """Require the work W to lie between A and B, for the intensity r at the end of time and ``q[k]`` in [t[k], t[k+1]).

        ::

            W = r z + sum_k (q[k] - r) overlap(i, t[k], t[k+1]),   100 A p <= W <= 100 B + 99
        """
        v = c.interval
        if breaks_only(c):
            self._breaks(c)
            return
        work = percents_of_work(c)
        low, high = c.work
        self.add_range(work - FULL * low * v.presence, 0, math.inf)
        self.add_range(work, -math.inf, FULL * high + FULL - 1)

    def _breaks(self, c: Intensity) -> None:
        """Choose one of the ``Stretch`` of a calendar with breaks: ``w[k]`` is 1 for the one in which start and end lie.

        ::

            sum_k w[k] = p,   w[k] in {0, 1}
            sum_k lo(s, k) w[k] <= s[i] <= sum_k hi(s, k) w[k],   the same for the end and the size
        """
        v = c.interval
        made = stretches(c)
        chosen = [
            self.auxiliary(f"{v} in {k} of its calendar", 0, 1, partial(_within, v=v, one=one))
            for k, one in enumerate(made)
        ]
        self.add_range(total(chosen) - v.presence, 0, 0)
        for x, of in ((v.start, "starts"), (v.end, "ends"), (v.size, "sizes")):
            limits = [getattr(one, of) for one in made]
            self.add_range(x - total(chosen, [low for low, _ in limits]), 0, math.inf)
            self.add_range(x - total(chosen, [high for _, high in limits]), -math.inf, 0)

    def _in_domain(self, c: InDomain) -> None:
        """Require an expression x to lie in one of the windows ``[a[k], b[k]]``, if an interval with the presence p is present.

        ::

            sum_k w[k] = p,   w[k] in {0, 1}
            lo(x) + sum_k (a[k] - lo(x)) w[k] <= x <= hi(x) + sum_k (b[k] - hi(x)) w[k]
        """
        x = c.expression
        low, high = (int(b) for b in self.bounds.of(x))
        windows = c.within(low, high)
        present = linear(1) if c.interval is None else c.interval.presence.linear()
        if windows == ((low, high),):
            self.add_range(x, low, high)  # it may have no value
            return
        if len(windows) < 2:
            w = [present] * len(windows)
            if not windows:
                self.add_range(present, 0, 0)
        else:
            made = [
                self.auxiliary(f"{x} in {window}", 0, 1, partial(_inside, x=x, present=present, window=window))
                for window in windows
            ]
            w = [one.linear() for one in made]
            self.add_range(total(made) - present, 0, 0)
        self.add_range(x - total(w, [a - low for a, _ in windows]), low, math.inf)
        self.add_range(x - total(w, [b - high for _, b in windows]), -math.inf, high)

    def _span(self, c: Span) -> None:
        """Require an interval i to span its parts J, for M above all ends and N such that -N is below them.

        ::

            min_{j in J} s[j] + M (1 - p[j]) = s[i] + M (1 - p[i])
            max_{j in J} e[j] - N (1 - p[j]) = e[i] - N (1 - p[i])

        If no part is present, the min is M and the max is -N, so that i is absent, and the other way round. These
        follow, and are added: each j is within i, if both are present, and ``p[j] <= p[i]``.
        """
        several = c.members
        most = max(v.start_hi + v.size_hi for v in several) + 1
        least = 1 - min(v.start_lo + v.size_lo for v in several)
        m, n = max(most, 1), max(least, 1)
        starts = [v.start + m * (1 - v.presence) if v.optional else v.start.linear() for v in several]
        ends = [v.end - n * (1 - v.presence) if v.optional else v.end.linear() for v in several]
        self.add_range(sl.min(starts[1:]) - starts[0], 0, 0)
        self.add_range(sl.max(ends[1:]) - ends[0], 0, 0)
        for part in c.parts:
            self.add(Precedence(c.interval, part, 0, "start_before_start"))
            self.add(Precedence(part, c.interval, 0, "end_before_end"))
            if c.interval.optional:
                self.add_range(part.presence - c.interval.presence, -math.inf, 0)

    def _isomorphism(self, c: Isomorphism) -> None:
        """Choose the partner of each present interval: ``m[i,j]`` is 1 if i of the first list and j of the second are a pair.

        ::

            sum_j m[i,j] = p[i] for each i,   sum_i m[i,j] = p[j] for each j
            lo (1 - m[i,j]) <= s[i] - s[j] <= hi (1 - m[i,j]),   the same for the ends
        """
        pairs = {
            (i, j): self.auxiliary(f"{v} is {w}", 0, 1, partial(_partners, c=c, v=v, w=w))
            for i, v in enumerate(c.first)
            for j, w in enumerate(c.second)
        }
        for i, v in enumerate(c.first):
            self.add_range(total([pairs[i, j] for j in range(len(c.second))]) - v.presence, 0, 0)
        for j, w in enumerate(c.second):
            self.add_range(total([pairs[i, j] for i in range(len(c.first))]) - w.presence, 0, 0)
        for (i, j), m in pairs.items():
            v, w = c.first[i], c.second[j]
            if v is w:
                continue
            for gap in (v.start - w.start, v.end - w.end):
                low, high = self.bounds.of(gap)
                if low < 0:
                    self.add_range(gap - low * (1 - m), 0, math.inf)
                if high > 0:
                    self.add_range(gap - high * (1 - m), -math.inf, 0)

    def _capacity(self, c: VariableCapacity) -> Constraint | None:
        """Return a cumulative within the greatest capacity ``hi(C)``, in which a fixed interval takes ``hi(C) - C``."""
        most = int(self.bounds.of(c.capacity)[1])
        members, demands = list(c.intervals), list(c.demands)
        begin = min((v.start_lo for v in members), default=0)
        end = max((v.start_hi + v.size_hi for v in members), default=0)
        if begin < end:
            fixed = self.model.interval(f"{self.name}, capacity", end - begin, begin)
            self.settle(fixed, begin, end)
            rest = most - c.capacity
            members.append(fixed)
            demands.append(rest if rest.terms else int(rest.constant))
        return Cumulative(tuple(members), tuple(demands), ((0, most),))

    def _delay(self, c: VariableDelay) -> None:
        """Require ``f[i] + d <= g[j]`` if i and j are present, for the ends f and g; the same for a maximum lag D backwards.

        ::

            f[i] + d - g[j] <= U (2 - p[i] - p[j]),   U = max(0, hi(f[i] + d - g[j]))
            g[j] - f[i] - D <= V (2 - p[i] - p[j]),   V = max(0, hi(g[j] - f[i] - D))
        """
        left, right = c.ends
        absent = total([1 - v.presence for v in (c.before, c.after) if v.optional])
        late = [left + c.delay - right] + ([] if c.at_most is None else [right - left - c.at_most])
        for e in late:
            most = max(0, int(self.bounds.of(e)[1]))
            self.add_range(e - most * absent, -math.inf, 0)


def _inside(ev: Evaluator, x: Linear, present: Linear, window: tuple[int, int]) -> int:
    """Return whether an expression is in a window, and the interval is present."""
    return int(ev.value(present) == 1 and window[0] <= ev.value(x) <= window[1])


def _partners(ev: Evaluator, c: Isomorphism, v: Interval, w: Interval) -> int:
    """Return whether two intervals are partners: both lists are sorted by start and end."""
    s = ev.assignment

    def order(side: tuple[Interval, ...]) -> list[Interval]:
        present = [x for x in side if s.present[x.index]]
        return sorted(present, key=lambda x: (s.start[x.index], s.end[x.index], x.index))

    first, second = order(c.first), order(c.second)
    place = next((k for k, x in enumerate(first) if x is v), -1)
    return int(0 <= place < len(second) and second[place] is w)


def _within(ev: Evaluator, v: Interval, one: Stretch) -> int:
    """Return whether an interval is present and lies in a pair of pieces of its calendar."""
    s = ev.assignment
    return int(s.present[v.index] and one.holds(s.start[v.index], s.end[v.index]))


# --- Calendars with breaks alone: the pairs of pieces of time in which an interval of fixed work starts and ends.
#
# The intensity is 100 percent (work) or 0 (a break) in pieces [a, b] of time. W(t) is the work from the first piece to t, so
# that an interval of work A from s to e has W(e) = W(s) + A. For s in the piece i and e in the piece j::
#
#     i work,  j work      e - s = d with d = A + (a[j] - W(a[j])) - (a[i] - W(a[i]))
#     i work,  j break     s = a[i] + W(a[j]) - A - W(a[i]),  e anywhere in j
#     i break, j work      e = a[j] + W(a[i]) + A - W(a[j]),  s anywhere in i
#     i break, j break     W(a[j]) = W(a[i]) + A,  s anywhere in i, e anywhere in j
#
# A time at which work and a break meet belongs to the work, so that each start and end lie in one pair.


Range = tuple[int, int]


class Stretch(NamedTuple):
    """The least and the greatest start, end and size of an interval within a pair of pieces."""

    starts: Range
    ends: Range
    sizes: Range

    def holds(self, start: int, end: int) -> bool:
        """Return whether an interval with this start and end lies in the pair."""
        pairs = ((start, self.starts), (end, self.ends), (end - start, self.sizes))
        return all(low <= x <= high for x, (low, high) in pairs)


class Piece(NamedTuple):
    """A piece of time with both ends, whether it is work, and the work before it."""

    first: int
    last: int
    works: bool
    before: int

    def within(self, starts: Range) -> Range:
        """Return the part of a range of times that lies in the piece."""
        return max(self.first, starts[0]), min(self.last, starts[1])


def breaks_only(c: Intensity) -> bool:
    """Return whether the work is fixed and at least 1, and the intensity 0 or 100 percent everywhere."""
    low, high = c.work
    return low == high >= 1 and all(percent in (0, FULL) for _, percent in c.steps)


def percents_of_work(c: Intensity) -> Linear:
    """Return 100 times the work of an interval with any calendar: the percents of the pieces times the overlaps with them.

    With the percent of the last piece, which goes on, the rest need not be known.
    """
    v = c.interval
    rest = c.steps[-1][1]
    pieces = c.pieces(v.start_lo, v.start_hi + v.size_hi)
    parts = [(percent - rest) * overlap(v, a, b) for a, b, percent in pieces if percent != rest]
    return total([rest * v.size, *parts])


def stretches(c: Intensity) -> list[Stretch]:
    """Return the pairs of pieces that are possible; of an interval whose calendar has ``breaks_only``.

    Examples
    --------
    >>> from schedlab import Model
    >>> a = Model("m").interval("a", size=(0, 9), start=(0, 5))
    >>> [s.starts for s in stretches(Intensity(a, (3, 3), ((0, 100), (4, 0), (6, 100))))]
    [(0, 1), (1, 1), (1, 4), (5, 5)]
    """
    v = c.interval
    pieces = _pieces(c)
    some = (_pair(one, other, c.work[0]) for k, one in enumerate(pieces) for other in _ends(pieces[k:], one, c.work[0]))
    windows = [(max(s, v.start_lo), min(t, v.start_hi)) for s, t in v.windows]
    out = []
    for stretch in some:
        for window in windows:
            cut = _cut(stretch, window, (v.size_lo, v.size_hi))
            if cut is not None:
                out.append(cut)
    return out


def _pieces(c: Intensity) -> list[Piece]:
    """Return the pieces from the first start to the last end; equal neighbours are one, and breaks are without their ends."""
    v = c.interval
    joined: list[list[int]] = []
    for first, last, percent in c.pieces(v.start_lo, v.start_hi + v.size_hi):
        if joined and joined[-1][2] == percent:
            joined[-1][1] = last
        else:
            joined.append([first, last, percent])
    out, work = [], 0
    for k, (first, last, percent) in enumerate(joined):
        if percent:
            out.append(Piece(first, last, True, work))
            work += last - first
        else:
            out.append(Piece(first + (k > 0), last - (k + 1 < len(joined)), False, work))
    return [piece for piece in out if piece.first <= piece.last]


def _ends(later: list[Piece], one: Piece, work: int) -> Iterator[Piece]:
    """Yield the pieces in which an interval ends that starts in a piece."""
    most = one.before + work + (one.last - one.first if one.works else 0)
    for other in later:
        if other.before > most:
            return
        if other.before + (other.last - other.first if other.works else 0) >= one.before + work:
            yield other


def _pair(one: Piece, other: Piece, work: int) -> Stretch:
    starts, ends = (one.first, one.last), (other.first, other.last)
    todo = one.before + work - other.before  # of an interval that starts with the first piece, in the second one
    if one.works and other.works:
        size = todo + other.first - one.first
        starts = max(one.first, other.first - size), min(one.last, other.last - size)
        return Stretch(starts, (starts[0] + size, starts[1] + size), (size, size))
    if one.works:
        starts = (one.first - todo, one.first - todo)
    elif other.works:
        ends = (other.first + todo, other.first + todo)
    return Stretch(starts, ends, (ends[0] - starts[1], ends[1] - starts[0]))


def _cut(one: Stretch, window: Range, sizes: Range) -> Stretch | None:
    """Return the part of a pair whose starts lie in a window and whose sizes lie in a range, None if it is empty."""
    starts = max(one.starts[0], window[0]), min(one.starts[1], window[1])
    size = max(one.sizes[0], sizes[0]), min(one.sizes[1], sizes[1])
    starts = max(starts[0], one.ends[0] - size[1]), min(starts[1], one.ends[1] - size[0])
    ends = max(one.ends[0], starts[0] + size[0]), min(one.ends[1], starts[1] + size[1])
    if starts[0] > starts[1] or ends[0] > ends[1] or size[0] > size[1]:
        return None
    return Stretch(starts, ends, size)
