"""Generators of start times: which starts a node offers [Bridi2018, 5.3.3 to 5.3.5 and 7.5] [Bridi2016].

``first`` offers the earliest starts with an index of at least 1. ``uniform`` draws starts with probabilities proportional
to the index (a roulette), ``exponential`` with the index times ``exp(-(t - first start) / number of starts)``. Negative
indices count as 0. A draw with an index below 1, or of a start that has been drawn, goes up to the next start with an
index of at least 1 that has not been drawn, and from the last start back to the first one. The density printed in 5.3.5 is
degenerate (nearly always the first start); the weights are those of (7.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....models.compiled import internal, internal_borrowing
from .draws import uniform
from .fitting import Pieces

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST, UNIFORM, EXPONENTIAL = 0, 1, 2


@internal_borrowing
def feasible(pieces: Pieces, count: int) -> int:
    """Keep the pieces with an index of at least 1, in place; return their number."""
    kept = 0
    for p in range(count):
        if pieces.fit[p] >= 1:
            pieces.low[kept], pieces.high[kept], pieces.fit[kept] = pieces.low[p], pieces.high[p], pieces.fit[p]
            kept += 1
    return kept


@internal_borrowing
def earliest(pieces: Pieces, count: int, responses: int) -> int:
    """Keep the earliest starts with an index of at least 1, ``responses`` of them; return the number of pieces."""
    count, left = feasible(pieces, count), responses
    for p in range(count):
        if pieces.high[p] - pieces.low[p] + 1 >= left:
            pieces.high[p] = pieces.low[p] + left - 1
            return p + 1
        left -= pieces.high[p] - pieces.low[p] + 1
    return count


@internal_borrowing
def _weigh(pieces: Pieces, count: int, rate: float, total: Floats, before: Ints) -> None:
    """Write the running sums: of the weights (``total``), and of the starts with an index of at least 1 (``before``)."""
    origin, weight, starts = pieces.low[0], 0.0, 0
    for p in range(count):
        seconds = pieces.high[p] - pieces.low[p] + 1
        index = max(0.0, pieces.fit[p])
        if rate == 0:
            weight += index * seconds
        else:
            begin = pieces.low[p] - origin
            weight += index * (np.exp(-rate * begin) - np.exp(-rate * (begin + seconds)))
        total[p], before[p] = weight, starts
        if pieces.fit[p] >= 1:
            starts += seconds


@internal_borrowing
def _drawn(pieces: Pieces, count: int, rate: float, total: Floats, before: Ints, at: float) -> int:
    """Return which of the starts with an index of at least 1 stands at this share of the total weight, or follows it.

    The result is one more than the last one if none follows.
    """
    weight = at * total[count - 1]
    lo, hi = 0, count - 1
    while lo < hi:
        middle = (lo + hi) // 2
        if total[middle] > weight:
            hi = middle
        else:
            lo = middle + 1
    if pieces.fit[lo] < 1:
        return int(before[lo])
    rest = (weight - (total[lo - 1] if lo > 0 else 0.0)) / pieces.fit[lo]
    seconds = pieces.high[lo] - pieces.low[lo] + 1
    if rate == 0:
        offset = rest
    else:
        begin = pieces.low[lo] - pieces.low[0]
        left = np.exp(-rate * begin) - rest
        offset = -np.log(left) / rate - begin if left > 0 else float(seconds)
    return int(before[lo] + max(0, min(seconds - 1, int(offset))))


@internal_borrowing
def _slot(keys: Ints, start: int) -> int:
    """Return the place of a start in a table of a power of 2 of places; -1 marks a place that is empty."""
    mask = keys.size - 1
    at = (start * 0x9E3779B1) & mask
    while keys[at] != start and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@internal_borrowing
def take_from(keys: Ints, follower: Ints, start: int, starts: int) -> int:
    """Return the first start at or after a given one that has not been taken, and take it; after the last comes the first.

    ``keys`` and ``follower`` are a table: a start that has been taken -> one after which to look further.
    """
    if start >= starts:
        start = 0
    at, origin = _slot(keys, start), start
    while keys[at] >= 0:
        start = follower[at]
        at = _slot(keys, start)
    keys[at], follower[at] = start, (start + 1) % starts
    while origin != start:  # shorten the paths
        at = _slot(keys, origin)
        origin, follower[at] = follower[at], (start + 1) % starts
    return start


@internal_borrowing
def _without(pieces: Pieces, count: int, before: Ints, taken: Ints, out: Pieces) -> int:
    """Write the taken starts, in ascending order, as pieces; return their number."""
    made, p = 0, 0
    for k in range(taken.size):
        while pieces.fit[p] < 1 or before[p] + pieces.high[p] - pieces.low[p] < taken[k]:
            p += 1
        s = pieces.low[p] + taken[k] - before[p]
        if made > 0 and out.high[made - 1] == s - 1 and s > pieces.low[p]:
            out.high[made - 1] = s
        else:
            out.low[made], out.high[made], out.fit[made] = s, s, pieces.fit[p]
            made += 1
    return made


@internal
def table_for(responses: int) -> int:
    """Return the number of places of a table of taken starts."""
    size = 8
    while size < 4 * responses:
        size *= 2
    return size


@internal
def roulette(
    pieces: Pieces, count: int, responses: int, rate: float, key: int, keys: Ints, follower: Ints, out: Pieces
) -> int:
    """Draw ``responses`` different starts with an index of at least 1; return the number of pieces in ``out``.

    All of them are returned if there are no more. ``rate``: of the exponential weights per second; 0: uniform.
    """
    total, before = np.empty(count), np.empty(count, np.int64)
    _weigh(pieces, count, rate, total, before)
    starts = before[count - 1]
    if pieces.fit[count - 1] >= 1:
        starts += pieces.high[count - 1] - pieces.low[count - 1] + 1
    if starts <= responses:
        kept = feasible(pieces, count)
        for p in range(kept):
            out.low[p], out.high[p], out.fit[p] = pieces.low[p], pieces.high[p], pieces.fit[p]
        return kept
    taken = np.empty(responses, np.int64)
    keys[:] = -1
    for k in range(responses):
        found = _drawn(pieces, count, rate, total, before, uniform(key, k))
        taken[k] = take_from(keys, follower, found, starts)
    taken.sort()
    return _without(pieces, count, before, taken, out)
