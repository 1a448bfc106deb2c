"""The nodes of jobs whose replay has counted nodes: each job gets the first free ones at its start; compiled.

The free nodes are bits of words of 62 bits; the words with free nodes are bits of words above them. Ranges of free nodes
are taken and returned word by word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .....models.compiled import compiled, internal, internal_borrowing
from ...profile import Ints

BITS = 62  # bits of a word, so that no word is negative
FULL = 2**BITS - 1
Small = NDArray[np.int32]


def numbered(nodes: int, who: Ints, begins: NDArray[np.bool_], runtime: Ints, units: Ints) -> tuple[Ints, Ints, Ints]:
    """Give each job the first free nodes at its start, event by event.

    Parameters
    ----------
    nodes
        Number of nodes.
    who, begins
        The job of each event, and whether it begins (else it ends), shape (events,).
    runtime
        Runtime of each job in seconds, shape (jobs,); a job of 0 s returns its nodes at once.
    units
        Number of nodes of each job, shape (jobs,).

    Returns
    -------
    first, low, high : array of int64
        Job j has the nodes ``low[i] .. high[i]`` for i from ``first[j]`` to ``first[j + 1] - 1``. Shapes (jobs + 1,),
        (ranges,), (ranges,).
    """
    free = np.full(-(-nodes // BITS), FULL, np.int64)
    free[-1] = (1 << (nodes - BITS * (free.size - 1))) - 1
    some = np.full(-(-free.size // BITS), FULL, np.int64)
    some[-1] = (1 << (free.size - BITS * (some.size - 1))) - 1
    at, size, low, high = _number(free, some, who, begins, runtime, units)
    first = np.zeros(units.size + 1, np.int64)
    np.cumsum(size, out=first[1:])
    by_job = np.arange(first[-1]) + np.repeat(at - first[:-1], size)
    return first, low[by_job].astype(np.int64), high[by_job].astype(np.int64)


@compiled
def _number(
    free: Ints, some: Ints, who: Ints, begins: NDArray[np.bool_], runtime: Ints, units: Ints
) -> tuple[Ints, Ints, Small, Small]:
    """Return the first range and the number of ranges of each job, and the ranges in the order of the starts."""
    at, size = np.zeros(units.size, np.int64), np.zeros(units.size, np.int64)
    low, high, used = np.empty(2 * units.size + 64, np.int32), np.empty(2 * units.size + 64, np.int32), 0
    for e in range(who.size):
        j = who[e]
        if begins[e]:
            left, at[j] = units[j], used
            while left > 0:
                if used == low.size:
                    low, high = _longer(low), _longer(high)
                node = _first_free(free, some)
                last = node + min(left, _run(free, node, left)) - 1
                _mark(free, some, node, last, False)
                low[used], high[used] = node, last
                used, left = used + 1, left - (last - node + 1)
            size[j] = used - at[j]
        if not begins[e] or runtime[j] == 0:
            for i in range(at[j], at[j] + size[j]):
                _mark(free, some, int(low[i]), int(high[i]), True)
    return at, size, low, high


@internal
def _longer(values: Small) -> Small:
    """Return the values in an array of twice the size."""
    found = np.empty(2 * values.size, np.int32)
    for k in range(values.size):
        found[k] = values[k]
    return found


@internal_borrowing
def _lowest(word: int) -> int:
    """Return the number of the lowest bit of a word other than 0."""
    found, shift = 0, 32
    while shift > 0:
        if word & ((1 << shift) - 1) == 0:
            word >>= shift
            found += shift
        shift >>= 1
    return found


@internal_borrowing
def _first_free(free: Ints, some: Ints) -> int:
    """Return the first free node."""
    k = 0
    while some[k] == 0:
        k += 1
    word = k * BITS + _lowest(some[k])
    return word * BITS + _lowest(free[word])


@internal_borrowing
def _run(free: Ints, node: int, most: int) -> int:
    """Return the number of free nodes from a free node on, up to the next busy one or a little above ``most``."""
    word, bit, found = node // BITS, node % BITS, 0
    while word < free.size:
        busy = (FULL ^ free[word]) >> bit
        if busy != 0:
            return found + _lowest(busy)
        found += BITS - bit
        if found >= most:
            return found
        word, bit = word + 1, 0
    return found


@internal_borrowing
def _mark(free: Ints, some: Ints, low: int, high: int, as_free: bool) -> None:
    """Mark the nodes ``low .. high`` as free or busy."""
    for word in range(low // BITS, high // BITS + 1):
        first, last = max(0, low - word * BITS), min(BITS - 1, high - word * BITS)
        mask = ((1 << (last - first + 1)) - 1) << first
        if as_free:
            free[word] |= mask
            some[word // BITS] |= 1 << (word % BITS)
        else:
            free[word] &= FULL ^ mask
            if free[word] == 0:
                some[word // BITS] &= FULL ^ (1 << (word % BITS))
