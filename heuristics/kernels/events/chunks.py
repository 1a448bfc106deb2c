"""Heterogeneous jobs in a replay: all chunks start at the same event, on places that they share.

The places of a job are stored chunk after chunk; the units on them tell where a chunk ends. Chunk 0 is in the arrays of
the jobs, the others are rows of ``TraceArrays.further_units`` and ``further_request``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....models.compiled import internal, internal_borrowing
from ..profile import Ints
from .fit import count_fits, spread

if TYPE_CHECKING:
    from .state import State, TraceArrays


@internal_borrowing
def has_chunks(trace: TraceArrays, j: int) -> bool:
    """Return whether job j has more than one chunk."""
    return bool(trace.first_further[j] < trace.first_further[j + 1])


@internal_borrowing
def row_of(trace: TraceArrays, state: State, j: int, k: int) -> int:
    """Return the row in ``further_request`` of the chunk at slot k of job j; -1: the first chunk, or the only one."""
    row, last = trace.first_further[j], trace.first_further[j + 1]
    if row == last:
        return -1
    before, end = 0, trace.units[j]
    for slot in range(trace.first[j], k):
        before += state.share[slot]
    if before < end:
        return -1
    while row + 1 < last and before >= end + trace.further_units[row]:
        end += trace.further_units[row]
        row += 1
    return int(row)


@internal_borrowing
def amount(trace: TraceArrays, j: int, row: int, r: int) -> int:
    """Return what one unit of a chunk of job j requests of resource r; ``row`` as ``row_of`` returns it."""
    return int(trace.request[j, r] if row < 0 else trace.further_request[row, r])


@internal_borrowing
def take_chunks(trace: TraceArrays, free: Ints, state: State, j: int, sign: int) -> None:
    """Subtract the units of heterogeneous job j from the amounts of its places, see ``state.take``."""
    row, left = -1, trace.units[j]
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        if left == 0:
            row = trace.first_further[j] if row < 0 else row + 1
            left = trace.further_units[row]
        left -= state.share[k]
        for r in range(free.shape[1]):
            free[state.place[k], r] -= sign * state.share[k] * amount(trace, j, row, r)


@internal_borrowing
def take_chosen(trace: TraceArrays, state: State, free: Ints, j: int, entries: int) -> None:
    """Subtract heterogeneous job j from ``free`` on its chosen places."""
    row, left = -1, trace.units[j]
    for e in range(entries):
        if left == 0:
            row = trace.first_further[j] if row < 0 else row + 1
            left = trace.further_units[row]
        left -= state.put[e]
        for r in range(free.shape[1]):
            free[state.chosen[e], r] -= state.put[e] * amount(trace, j, row, r)


@internal
def choose_places(trace: TraceArrays, state: State, free: Ints, j: int, best: bool) -> int:
    """Choose places for all chunks of heterogeneous job j within ``free``; return their number, 0 if they do not fit.

    The chunks are placed one after the other, beginning with each of them in turn until all fit. The places are written
    to ``state.chosen`` and ``state.put``, chunk after chunk.
    """
    first = trace.first_further[j]
    chunks, (places, resources) = trace.first_further[j + 1] - first + 1, free.shape
    left, fit = np.empty((places, resources), np.int64), np.empty(places, np.int64)
    chosen, put = np.empty(state.chosen.size, np.int64), np.empty(state.chosen.size, np.int64)
    begin, count = np.zeros(chunks, np.int64), np.zeros(chunks, np.int64)
    for turn in range(chunks):
        for p in range(places):
            for r in range(resources):
                left[p, r] = free[p, r]
        entries, done = 0, 0
        while done < chunks:
            c = (turn + done) % chunks
            request = trace.request[j] if c == 0 else trace.further_request[first + c - 1]
            units = trace.units[j] if c == 0 else trace.further_units[first + c - 1]
            if count_fits(left, request, units, fit) < units:
                break
            begin[c] = entries
            count[c] = spread(left, trace.capacity, fit, units, best, chosen[entries:], put[entries:])
            for e in range(entries, entries + count[c]):
                for r in range(resources):
                    left[chosen[e], r] -= put[e] * request[r]
            entries += count[c]
            done += 1
        if done == chunks:
            at = 0
            for c in range(chunks):
                for e in range(begin[c], begin[c] + count[c]):
                    state.chosen[at], state.put[at] = chosen[e], put[e]
                    at += 1
            return at
    return 0


@internal_borrowing
def each_fits(trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether each chunk of job j fits now, alone on the free places."""
    if count_fits(state.free, trace.request[j], trace.units[j], state.fit) < trace.units[j]:
        return False
    for row in range(trace.first_further[j], trace.first_further[j + 1]):
        units = trace.further_units[row]
        if count_fits(state.free, trace.further_request[row], units, state.fit) < units:
            return False
    return True
