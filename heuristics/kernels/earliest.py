"""The earliest moment at which all units of a job fit, and the nodes for them, in the profiles of the nodes.

It is found without going through all moments: a node that holds m units in [t, t + d) cannot hold more before the end of
the last stretch in it where only m fit. So every node has a count that is an upper bound up to a known moment, and a heap
of those moments says where enough nodes may have grown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import borrowing, compiled
from .aggregate import Aggregate, possible
from .profile import NEVER, Floats, Ints, Machine, Profile, segment, segment_from

FEW = 8  # entries of a heap that are dropped one by one


class Scratch(NamedTuple):
    """Arrays over nodes for the search of one job."""

    most: Ints  # units on the empty node
    fits: Ints  # upper bound of units, exact at ``checked``
    until: Ints  # ... valid before this moment
    checked: Ints
    raised: Ints
    heap: Ints
    key: Ints
    queued: NDArray[np.bool_]
    at: Ints  # the segment that a count began with
    score: Floats


@compiled
def new_scratch(nodes: int) -> Scratch:
    """Uninitialised scratch arrays."""
    return Scratch(
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.bool_),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.float64),
    )


@borrowing
def _fit(profile: Profile, n: int, request: Ints, most: int, start: int, i: int) -> tuple[int, int]:
    """How many units, up to ``most``, fit from ``start`` to the end of segment i; until when a later start does no better."""
    count, until = most, NEVER
    following = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
    while True:
        for r in range(request.size):
            if request[r] > 0 and profile.free[n, i, r] < count * request[r]:
                count = max(0, profile.free[n, i, r] // request[r])
                until = following
        following = profile.time[n, i]
        if count == 0 or following <= start or i == 0:
            return count, until
        i -= 1


@borrowing
def _push(s: Scratch, size: int, n: int) -> int:
    i, key = size, s.until[n]
    while i > 0 and s.key[(i - 1) // 2] > key:
        s.key[i], s.heap[i] = s.key[(i - 1) // 2], s.heap[(i - 1) // 2]
        i = (i - 1) // 2
    s.key[i], s.heap[i], s.queued[n] = key, n, True
    return size + 1


@borrowing
def _drop_first(s: Scratch, size: int) -> int:
    size -= 1
    key, node, i = s.key[size], s.heap[size], 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and s.key[child + 1] < s.key[child]:
            child += 1
        if s.key[child] >= key:
            break
        s.key[i], s.heap[i] = s.key[child], s.heap[child]
        i = child
    s.key[i], s.heap[i] = key, node
    return size


@borrowing
def _drop_until(s: Scratch, t: int, raised: int, size: int) -> tuple[int, int]:
    """Take all nodes off the heap that may hold more at t; how many are raised, heap size."""
    left = 0
    for k in range(size):
        n = s.heap[k]
        s.queued[n] = False
        if s.fits[n] < s.most[n]:
            if s.until[n] <= t:
                s.raised[raised] = n
                raised += 1
            else:
                s.heap[left] = n
                left += 1
    size = 0
    for k in range(left):  # a node is read before its place is written
        size = _push(s, size, s.heap[k])
    return raised, size


@borrowing
def _recount(profile: Profile, s: Scratch, n: int, request: Ints, t: int, duration: int, size: int) -> tuple[int, int]:
    """Count node n at t exactly; by how much its count changed, and the size of the heap."""
    before = s.fits[n]
    s.at[n] = segment_from(profile, n, t + duration - 1, s.at[n])
    s.fits[n], s.until[n] = _fit(profile, n, request, s.most[n], t, s.at[n])
    s.checked[n] = t
    if s.fits[n] < s.most[n] and not s.queued[n]:
        size = _push(s, size, n)
    return s.fits[n] - before, size


@borrowing
def _advance(
    s: Scratch, a: Aggregate | None, j: int, units: int, duration: int, missing: int, t: int, size: int
) -> tuple[int, int, int]:
    """The first moment after t at which the nodes may hold ``missing`` units more; the nodes to be counted; heap size."""
    raised, promised = 0, 0
    while True:
        if promised >= missing and (size == 0 or s.key[0] > t):
            if a is None:
                return t, raised, size
            later = possible(a, j, units, duration, t)
            if later == t:
                return t, raised, size
            t = later
            if size > FEW:
                raised, size = _drop_until(s, t, raised, size)
                return t, raised, size
            continue
        if size == 0:
            return NEVER, 0, 0
        n, key = s.heap[0], s.key[0]
        size = _drop_first(s, size)
        s.queued[n] = False
        if s.until[n] > key:  # it was counted again since it was queued
            if s.fits[n] < s.most[n]:
                size = _push(s, size, n)
            continue
        promised += s.most[n] - s.fits[n]
        s.raised[raised] = n
        raised += 1
        t = max(t, key)


@borrowing
def earliest(
    profile: Profile,
    s: Scratch,
    a: Aggregate | None,
    j: int,
    request: Ints,
    units: int,
    duration: int,
    lo: int,
    hi: int,
) -> int:
    """The earliest start of job j in [lo, hi] at which all units fit; -1 if there is none. ``s.fits`` is exact there."""
    t, total, size = lo, 0, 0
    for n in range(s.fits.size):
        s.fits[n], s.queued[n], s.at[n] = 0, False, 0
        if s.most[n] > 0:
            change, size = _recount(profile, s, n, request, t, duration, size)
            total += change
    while True:
        while total < units:
            t, raised, size = _advance(s, a, j, units, duration, units - total, t, size)
            if t > hi:
                return -1
            for k in range(raised):
                change, size = _recount(profile, s, s.raised[k], request, t, duration, size)
                total += change
        for n in range(s.fits.size):
            if s.checked[n] != t and (s.fits[n] > 0 or s.until[n] <= t):
                change, size = _recount(profile, s, n, request, t, duration, size)
                total += change
                if total < units:
                    break
        if total >= units:
            return t


@borrowing
def _before(s: Scratch, n: int, m: int) -> bool:
    """Whether node n is a better fit than node m."""
    return bool(s.score[n] < s.score[m] or (s.score[n] == s.score[m] and n < m))


@borrowing
def _push_score(s: Scratch, size: int, n: int) -> int:
    """Add a node to the heap of the best fits; its size."""
    i = size
    while i > 0 and _before(s, n, s.heap[(i - 1) // 2]):
        s.heap[i] = s.heap[(i - 1) // 2]
        i = (i - 1) // 2
    s.heap[i] = n
    return size + 1


@borrowing
def _drop_score(s: Scratch, size: int) -> int:
    """Take the best fit off the heap; its size."""
    size -= 1
    last, i = s.heap[size], 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _before(s, s.heap[child + 1], s.heap[child]):
            child += 1
        if not _before(s, s.heap[child], last):
            break
        s.heap[i] = s.heap[child]
        i = child
    s.heap[i] = last
    return size


@borrowing
def choose(profile: Profile, machine: Machine, s: Scratch, units: int, start: int, chosen: Ints) -> None:
    """Best fit: units go to the nodes where the least worth lies free; ties by the order of nodes."""
    for n in range(s.fits.size):
        s.score[n] = np.inf
        if s.fits[n] > 0:
            i = segment(profile, n, start)
            s.score[n] = 0.0
            for r in range(machine.worth.size):
                s.score[n] += machine.worth[r] * profile.free[n, i, r]
    best = np.argmin(s.score)
    if s.fits[best] >= units:
        chosen[:] = best
        return
    size = 0
    for n in range(s.fits.size):
        if s.fits[n] > 0:
            size = _push_score(s, size, n)
    done = 0
    while done < units and size > 0:
        n = s.heap[0]
        size = _drop_score(s, size)
        take = min(units - done, s.fits[n])
        chosen[done : done + take] = n
        done += take


@borrowing
def fill_most(machine: Machine, s: Scratch, request: Ints, units: int) -> None:
    """How many units the empty nodes hold."""
    for n in range(s.most.size):
        fit = units
        for r in range(request.size):
            if machine.capacity[n, r] < fit * request[r]:
                fit = machine.capacity[n, r] // request[r]
        s.most[n] = fit
