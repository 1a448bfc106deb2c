"""Calendars with breaks alone: the pairs of pieces of time in which an interval of fixed work starts and ends.

The intensity is 100 percent (work) or 0 (a break) in pieces [a, b] of time. W(t) is the work from the first piece to t, so
that an interval of work A from s to e has W(e) = W(s) + A. For s in the piece i and e in the piece j::

    i work,  j work      e - s = d with d = A + (a[j] - W(a[j])) - (a[i] - W(a[i]))
    i work,  j break     s = a[i] + W(a[j]) - A - W(a[i]),  e anywhere in j
    i break, j work      e = a[j] + W(a[i]) + A - W(a[j]),  s anywhere in i
    i break, j break     W(a[j]) = W(a[i]) + A,  s anywhere in i, e anywhere in j

A time at which work and a break meet belongs to the work, so that each start and end lie in one pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...models.language import Intensity, Linear, overlap
from ...models.language import sum as total
from ...models.language.calendars import FULL

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
