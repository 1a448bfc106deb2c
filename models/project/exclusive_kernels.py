"""Compiled search for sets of tasks that exclude each other, for large projects: a row of bits per task holds the tasks it excludes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..array_types import Ints
from ..compiled import vectorized

Bits = NDArray[np.uint64]

ODD = np.uint64(0x5555555555555555)
PAIRS = np.uint64(0x3333333333333333)
NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)
ONE = np.uint64(1)
TWO = np.uint64(2)
FOUR = np.uint64(4)
TOP = np.uint64(56)


def rows_of_bits(matrix: NDArray[np.bool_]) -> Bits:
    """Return a square matrix as rows of 64-bit words; bit k of word w is column 64 w + k."""
    n = len(matrix)
    wide = np.zeros((n, -(-n // 64) * 8), np.uint8)
    packed = np.packbits(matrix, axis=1, bitorder="little")
    wide[:, : packed.shape[1]] = packed
    return wide.view("<u8").astype(np.uint64)


@vectorized
def cover(exclusive: Bits, left: Bits, most: int) -> tuple[Ints, Ints]:
    """Find sets of tasks that exclude each other and cover pairs, as ``formulations.exclusive_sets`` describes.

    Parameters
    ----------
    exclusive : ndarray of uint64, shape (tasks, words)
        The tasks that each task excludes.
    left : ndarray of uint64, shape (tasks, words)
        The pairs to cover; those that are covered are deleted.
    most : int
        No further set is begun once all sets together have this number of members.

    Returns
    -------
    members : ndarray of int64
        The tasks of the sets, one set after another, each in ascending order.
    first : ndarray of int64, shape (sets + 1,)
        The place of the first task of each set in ``members``, and the number of all members.
    """
    n, words = exclusive.shape
    members = np.empty(most + n, np.int64)
    first = np.zeros(most // 2 + 2, np.int64)
    candidates = np.empty(n, np.int64)
    brings = np.empty(n, np.int64)
    inside = np.empty(words, np.uint64)
    missing = np.empty(n, np.int64)
    sets = 0
    for k in range(n):
        missing[k] = shared(left[k], left[k])
    while first[sets] < most:
        task = 0
        for k in range(n):
            if missing[k] > missing[task]:
                task = k
        if missing[task] == 0:
            break
        grow(exclusive, left, task, candidates, brings, inside)
        end = first[sets]
        for k in range(n):
            if inside[k >> 6] >> np.uint64(k & 63) & ONE:
                members[end] = k
                end += 1
                missing[k] -= shared(left[k], inside)
                for w in range(words):
                    left[k, w] &= ~inside[w]
        sets += 1
        first[sets] = end
    return members[: first[sets]].copy(), first[: sets + 1].copy()


@vectorized
def grow(exclusive: Bits, left: Bits, task: int, candidates: Ints, brings: Ints, inside: Bits) -> None:
    """Set the bits of ``inside`` for a maximal set with a task, as ``formulations._grow`` does; the other arrays are overwritten."""
    n, words = exclusive.shape
    free = exclusive[task].copy()
    inside[:] = np.uint64(0)
    inside[task >> 6] |= ONE << np.uint64(task & 63)
    count = 0
    for k in range(n):
        if free[k >> 6] >> np.uint64(k & 63) & ONE:
            candidates[count], brings[count] = k, left[task, k >> 6] >> np.uint64(k & 63) & ONE
            count += 1
    while count:
        most = -1
        for i in range(count):
            most = max(most, int(brings[i]))
        chosen, room = -1, -1
        for i in range(count):
            if brings[i] == most:
                here = shared(exclusive[candidates[i]], free)
                if here > room:
                    chosen, room = candidates[i], here
        inside[chosen >> 6] |= ONE << np.uint64(chosen & 63)
        for w in range(words):
            free[w] &= exclusive[chosen, w]
        kept = 0
        for i in range(count):
            k = candidates[i]
            if free[k >> 6] >> np.uint64(k & 63) & ONE:
                candidates[kept] = k
                brings[kept] = brings[i] + np.int64(left[chosen, k >> 6] >> np.uint64(k & 63) & ONE)
                kept += 1
        count = kept


@vectorized
def shared(a: Bits, b: Bits) -> int:
    """Return the number of bits that are set in both rows."""
    total = np.uint64(0)
    for w in range(a.size):
        x = a[w] & b[w]
        x -= x >> ONE & ODD
        x = (x & PAIRS) + (x >> TWO & PAIRS)
        x = x + (x >> FOUR) & NIBBLES
        total += x * BYTES >> TOP
    return int(np.int64(total))
