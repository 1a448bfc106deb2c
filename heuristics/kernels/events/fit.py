"""On which places the units of a job go; compiled.

First-fit: places in their order; best-fit: in increasing sum of free amounts, each as a share of the place's capacity, ties
by their order (Galleguillos 2.2). Either fills a place with as many units as it holds.
"""

from __future__ import annotations

import numpy as np

from ....models.compiled import borrowing, compiled
from ..profile import Floats, Ints


@borrowing
def units_that_fit(free: Ints, request: Ints, most: int) -> int:
    """How many units with this request fit the free amounts of one place, ``most`` at most."""
    count = most
    for r in range(request.size):
        if request[r] > 0 and free[r] < count * request[r]:
            count = max(0, free[r] // request[r])
    return count


@borrowing
def count_fits(free: Ints, request: Ints, units: int, fit: Ints) -> int:
    """Fill ``fit`` with how many units each place holds now; their sum."""
    total = 0
    for p in range(fit.size):
        fit[p] = units_that_fit(free[p], request, units)
        total += fit[p]
    return total


@compiled
def spread(free: Ints, capacity: Ints, fit: Ints, units: int, best: bool, chosen: Ints, put: Ints) -> int:
    """Choose places for the units, where ``fit`` says how many each holds; how many places are chosen."""
    left, entries = units, 0
    if not best or fit.size == 1:
        for p in range(fit.size):
            if fit[p] > 0:
                take = min(left, fit[p])
                chosen[entries], put[entries] = p, take
                entries, left = entries + 1, left - take
                if left == 0:
                    break
        return entries
    room = np.flatnonzero(fit)
    score: Floats = np.zeros(room.size, np.float64)
    for i in range(room.size):
        for r in range(capacity.shape[1]):
            if capacity[room[i], r] > 0:
                score[i] += free[room[i], r] / capacity[room[i], r]
    for i in np.argsort(score, kind="mergesort"):
        take = min(left, fit[room[i]])
        chosen[entries], put[entries] = room[i], take
        entries, left = entries + 1, left - take
        if left == 0:
            break
    return entries
