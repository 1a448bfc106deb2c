"""Lower bounds of earliest starts within one plan; compiled.

While a plan is built, jobs are only added to the profile of the free capacity. So if a job of ``u`` units and duration
``d`` has its earliest start at ``t``, no later job of the same request with at least ``u`` units and duration ``d``
starts before ``t``. The last results of each distinct request are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.profile import Ints
from ....models.compiled import internal

SLOTS = 24  # results kept for each distinct request


class Known(NamedTuple):
    """Earliest starts that are known, for each distinct request.

    Parameters
    ----------
    number
        Number of results so far, shape (kinds,).
    units, duration, start
        Units, duration in seconds and earliest start in seconds of each result, shape (kinds, SLOTS).
    """

    number: Ints
    units: Ints
    duration: Ints
    start: Ints


@internal
def new_known(kinds: int) -> Known:
    """Return no results for this number of distinct requests."""
    shape = (kinds, SLOTS)
    return Known(
        np.zeros(kinds, np.int64), np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.int64)
    )


@internal
def not_before(known: Known, kind: int, units: int, duration: int, now: int) -> int:
    """Return a time in seconds, at least ``now``, before which such a job cannot start."""
    found = now
    for i in range(min(SLOTS, known.number[kind])):
        if known.start[kind, i] > found and known.units[kind, i] <= units and known.duration[kind, i] <= duration:
            found = known.start[kind, i]
    return int(found)


@internal
def remember(known: Known, kind: int, units: int, duration: int, start: int) -> None:
    """Keep the earliest start of a job; it replaces a result that it implies, else the oldest one."""
    n = known.number[kind]
    at = n % SLOTS
    for i in range(min(SLOTS, n)):
        implied = known.units[kind, i] >= units and known.duration[kind, i] >= duration
        if implied and known.start[kind, i] <= start:
            known.units[kind, i], known.duration[kind, i], known.start[kind, i] = units, duration, start
            return
    known.units[kind, at], known.duration[kind, at], known.start[kind, at] = units, duration, start
    known.number[kind] = n + 1
