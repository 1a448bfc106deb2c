"""Choice of places for the units of a job.

A place is a node, or a set of equal nodes that are counted together. First fit takes the places in their order. Best
fit takes them by ascending sum over resources of free amount / capacity, ties by their order [Galleguillos2019, 2.2].
Both put as many units on a place as fit there.
"""

from __future__ import annotations

import numpy as np

from ....models.compiled import internal, internal_borrowing
from ..profile import Floats, Ints
from .sorting import sort_by


@internal_borrowing
def units_that_fit(free: Ints, request: Ints, most: int) -> int:
    """Return how many units, at most ``most``, fit into one place; both arrays have the shape (resources,).

    Nothing fits into a place with negative free amounts, not even a unit that requests nothing.
    """
    count = most
    for r in range(request.size):
        if free[r] < count * request[r]:
            count = max(0, free[r] // request[r]) if request[r] > 0 else 0
    return count


@internal_borrowing
def count_fits(free: Ints, request: Ints, units: int, fit: Ints) -> int:
    """Set ``fit`` to the number of units that each place can hold now; return the sum.

    Parameters
    ----------
    free
        Free amounts, shape (places, resources).
    request
        Amounts per unit, shape (resources,).
    units
        Number of units; no place counts more.
    fit
        Output, shape (places,).
    """
    total = 0
    for p in range(fit.size):
        fit[p] = units_that_fit(free[p], request, units)
        total += fit[p]
    return total


@internal
def spread(free: Ints, capacity: Ints, fit: Ints, units: int, best: bool, chosen: Ints, put: Ints) -> int:
    """Choose places for the units of a job; return the number of chosen places.

    Parameters
    ----------
    free, capacity
        Free amounts and capacities, shape (places, resources).
    fit
        Units that each place can hold, shape (places,).
    units
        Number of units of the job.
    best
        Best fit, else first fit.
    chosen
        Output: the chosen places, shape (places,).
    put
        Output: number of units on each chosen place, shape (places,).
    """
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
    room, rooms = np.empty(fit.size, np.int64), 0
    score: Floats = np.empty(fit.size, np.float64)
    for p in range(fit.size):
        if fit[p] > 0:
            room[rooms], score[p] = p, 0.0
            rooms += 1
            for r in range(capacity.shape[1]):
                if capacity[p, r] > 0:
                    score[p] += free[p, r] / capacity[p, r]
    sort_by(room, rooms, score)
    for i in range(rooms):
        take = min(left, fit[room[i]])
        chosen[entries], put[entries] = room[i], take
        entries, left = entries + 1, left - take
        if left == 0:
            break
    return entries
