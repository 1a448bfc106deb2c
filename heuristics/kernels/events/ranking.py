"""The order of the waiting jobs of a replay by a key."""

from __future__ import annotations

import numpy as np

from ....models.compiled import internal, internal_borrowing
from ..profile import Floats, Ints
from .sorting import sort_by
from .state import NOW, SORTED, WAITING, State


@internal
def rank(state: State, base: Floats, slope: Floats, dynamic: bool) -> None:
    """Sort ``waiting`` by the key base + slope * now, least first, ties in the order of the trace.

    Parameters
    ----------
    state
        The state; ``waiting`` is changed.
    base, slope
        Parts of the key, shape (jobs,).
    dynamic
        Whether the key changes with time; else only new jobs are inserted.
    """
    clock = state.clock
    n = clock[WAITING]
    if dynamic or clock[SORTED] == 0:
        key = base
        if dynamic:
            key = np.empty(base.size, np.float64)
            for i in range(n):
                j = state.waiting[i]
                key[j] = base[j] + slope[j] * clock[NOW]
        sort_by(state.waiting, n, key)
    else:
        for i in range(clock[SORTED], n):
            _insert(state.waiting, i, base)
    clock[SORTED] = n


@internal_borrowing
def _insert(waiting: Ints, n: int, base: Floats) -> None:
    """Move the job at place n to its position among the sorted jobs before it."""
    j = waiting[n]
    lo, hi = 0, n
    while lo < hi:
        middle = (lo + hi) // 2
        other = waiting[middle]
        if base[other] < base[j] or (base[other] == base[j] and other < j):
            lo = middle + 1
        else:
            hi = middle
    for k in range(n, lo, -1):
        waiting[k] = waiting[k - 1]
    waiting[lo] = j
