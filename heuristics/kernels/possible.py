"""The first time that the bound of the whole machine does not exclude as a start of a job."""

from __future__ import annotations

from ...models.compiled import internal_borrowing
from .aggregate import Aggregate, find
from .profile import NEVER, Ints


@internal_borrowing
def _find_from(a: Aggregate, t: int, k: int, i: int) -> tuple[int, int]:
    """Return ``find(a, t)`` for a time that is not before breakpoint (k, i); fast if it is near."""
    for _ in range(8):
        following, at = (k, i + 1) if i + 1 < a.size[a.order[k]] else (k + 1, 0)
        if following == a.blocks[0] or a.time[a.order[following], at] > t:
            return k, i
        k, i = following, at
    return find(a, t)


@internal_borrowing
def _enough(a: Aggregate, column: Ints, units: int, counts: Ints) -> bool:
    """Return whether the counts may hold the units of a job."""
    total, levels = 0, a.level.size
    for g in range(a.groups):
        least = NEVER
        for r in range(column.size):
            if column[r] >= 0:
                least = min(least, counts[g * levels + column[r]])
        total += least
        if total >= units:
            return True
    return False


@internal_borrowing
def _last_lack(a: Aggregate, column: Ints, units: int, k: int, i: int, first_k: int, first_i: int) -> tuple[int, int]:
    """Return the last breakpoint from the first to (k, i) at which the units cannot fit; (-1, -1): none."""
    whole = True  # no breakpoint of this block has been tested yet
    while k > first_k or (k == first_k and i >= first_i):
        b = a.order[k]
        if i < 0 or (whole and _enough(a, column, units, a.least[b])):
            k -= 1
            i = a.size[a.order[k]] - 1 if k >= 0 else -1
            whole = True
            if k < 0:
                break
            continue
        whole = False
        if not _enough(a, column, units, a.units[b, i]):
            return k, i
        i -= 1
    return -1, -1


@internal_borrowing
def _next_enough(a: Aggregate, column: Ints, units: int, k: int, i: int) -> tuple[int, int]:
    """Return the first breakpoint from (k, i) on at which the units may fit; (number of blocks, 0) if there is none."""
    while k < a.blocks[0]:
        b = a.order[k]
        if i < a.size[b] and (i > 0 or _enough(a, column, units, a.most[b])):
            while i < a.size[b]:
                if _enough(a, column, units, a.units[b, i]):
                    return k, i
                i += 1
        k, i = k + 1, 0
    return k, i


@internal_borrowing
def possible(a: Aggregate, j: int, units: int, duration: int, t: int) -> int:
    """Return the first time from t on that the bound does not exclude as a start of job j; NEVER if it excludes all.

    Parameters
    ----------
    a
        The counts.
    j
        Index of the job; that of further chunk c is c + the number of jobs.
    units
        Number of its units.
    duration
        Its duration in seconds, above 0.
    t
        Time in seconds.
    """
    if a.groups == 0:
        return t
    column, highest = a.column[j], -1
    for r in range(column.size):
        highest = max(highest, column[r])
    if highest < 0:
        return t
    first_k, first_i = find(a, t)
    last_k, last_i = first_k, first_i
    while True:
        last_k, last_i = _find_from(a, t + duration - 1, last_k, last_i)
        k, i = _last_lack(a, column, units, last_k, last_i, first_k, first_i)
        if k < 0:
            return t
        k, i = _next_enough(a, column, units, k, i + 1)
        if k == a.blocks[0]:
            return NEVER
        t = a.time[a.order[k], i]
        first_k, first_i = last_k, last_i + 1  # the breakpoints before it have been tested
        if k > first_k or (k == first_k and i > first_i):
            first_k, first_i = k, i
