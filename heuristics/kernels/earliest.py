"""The earliest start at which all units of a job fit, and the choice of nodes for them.

Not all times are tested. Let fits[n] be the units that node n can hold in [t, t + duration). They are limited by some
segments of its profile; until the end of the last of these segments, no later start can have more units on n. So
fits[n] is an upper bound until that time (``bound_end[n]``).

1. Count fits[n] for all nodes at t = lo.
2. If the sum is less than the units of the job: go to the first time at which enough bounds have ended (from a heap of
   ``bound_end``), and count those nodes anew. Repeat.
3. If the sum of the bounds is large enough: count the nodes whose count is older than t. If the sum is still large
   enough, t is the earliest start, else go to step 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.array_types import Floats, Ints
from ...models.compiled import by_address, internal, internal_borrowing
from .aggregate import Aggregate, possible
from .costs import Jobs
from .profile import NEVER, WHOLE, Machine, Profile, segment, segment_from
from .sorting import sort_by

FEW = 8  # up to this size, heap entries are removed one by one


@by_address
class Scratch(NamedTuple):
    """Scratch arrays of one search, shape (nodes,) each.

    Parameters
    ----------
    most
        Units of the job that the empty node can hold.
    fits
        Upper bound of the units that the node can hold; exact at time ``checked``.
    bound_end
        Time in seconds before which the bound is valid.
    checked
        Time in seconds of the last count.
    raised
        List of nodes to count anew.
    heap, key
        Heap of nodes by the end of their bounds: the nodes and the keys.
    queued
        Whether the node is in the heap.
    first, last
        First and last segment of the last count; the first one is that of its start if a unit fits.
    score
        Worth of the free amounts of the node, for best fit; infinite if no unit fits.
    """

    most: Ints
    fits: Ints
    bound_end: Ints
    checked: Ints
    raised: Ints
    heap: Ints
    key: Ints
    queued: NDArray[np.bool_]
    first: Ints
    last: Ints
    score: Floats


def new_scratch(nodes: int) -> Scratch:
    """Return uninitialised scratch arrays."""
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
        np.empty(nodes, np.int64),
        np.empty(nodes, np.float64),
    )


@internal_borrowing
def _fit(profile: Profile, n: int, request: Ints, most: int, start: int, i: int) -> tuple[int, int, int]:
    """Return how many units fit from ``start`` to the end of segment i, the end of this bound, and its first segment."""
    count, bound_end = most, NEVER
    following = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
    while True:
        for r in range(request.size):
            if profile.free[n, i, r] < count * request[r]:  # negative free amounts: no unit may be here
                if request[r] == WHOLE and profile.free[n, i, r] == WHOLE:
                    continue  # the node is empty
                count = max(0, profile.free[n, i, r] // request[r]) if request[r] > 0 else 0
                bound_end = following
        following = profile.time[n, i]
        if count == 0 or following <= start or i == 0:
            return count, bound_end, i
        i -= 1


@internal_borrowing
def _push(s: Scratch, size: int, n: int) -> int:
    i, key = size, s.bound_end[n]
    while i > 0 and s.key[(i - 1) // 2] > key:
        s.key[i], s.heap[i] = s.key[(i - 1) // 2], s.heap[(i - 1) // 2]
        i = (i - 1) // 2
    s.key[i] = key
    s.heap[i] = n
    s.queued[n] = True
    return size + 1


@internal_borrowing
def _drop_first(s: Scratch, size: int) -> int:
    size -= 1
    key = s.key[size]
    node = s.heap[size]
    i = 0
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


@internal_borrowing
def _drop_up_to(s: Scratch, t: int, raised: int, size: int) -> tuple[int, int]:
    """Remove the nodes whose bounds end by t from the heap; return the number of raised nodes, the heap size."""
    left = 0
    for k in range(size):
        n = s.heap[k]
        s.queued[n] = False
        if s.fits[n] < s.most[n]:
            if s.bound_end[n] <= t:
                s.raised[raised] = n
                raised += 1
            else:
                s.heap[left] = n
                left += 1
    size = 0
    for k in range(left):  # the heap is rebuilt in its own array: place k is read before it is written
        size = _push(s, size, s.heap[k])
    return raised, size


@internal_borrowing
def _count(profile: Profile, s: Scratch, n: int, request: Ints, t: int, duration: int) -> None:
    """Count node n at t exactly."""
    s.last[n] = segment_from(profile, n, t + duration - 1, s.last[n])
    s.fits[n], s.bound_end[n], s.first[n] = _fit(profile, n, request, s.most[n], t, s.last[n])
    s.checked[n] = t


@internal_borrowing
def _recount(profile: Profile, s: Scratch, n: int, request: Ints, t: int, duration: int, size: int) -> tuple[int, int]:
    """Count node n at t exactly; return the change of its count and the size of the heap."""
    before = s.fits[n]
    _count(profile, s, n, request, t, duration)
    if s.fits[n] < s.most[n] and not s.queued[n]:
        size = _push(s, size, n)
    return s.fits[n] - before, size


@internal_borrowing
def _advance(
    s: Scratch, a: Aggregate | None, j: int, units: int, duration: int, missing: int, t: int, size: int
) -> tuple[int, int, int]:
    """Return the first time after t at which ``missing`` more units may fit, raised nodes, heap size."""
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
                raised, size = _drop_up_to(s, t, raised, size)
                return t, raised, size
            continue
        if size == 0:
            return NEVER, 0, 0
        n, key = s.heap[0], s.key[0]
        size = _drop_first(s, size)
        s.queued[n] = False
        if s.bound_end[n] > key:  # the node was counted again after it was put into the heap
            if s.fits[n] < s.most[n]:
                size = _push(s, size, n)
            continue
        promised += s.most[n] - s.fits[n]
        s.raised[raised] = n
        raised += 1
        t = max(t, key)


@internal_borrowing
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
    """Return the earliest start of job j in [lo, hi] at which all units fit; -1 if there is none.

    At the result, ``s.fits`` is exact. ``s.most`` must be set before (``fill_most``).

    Parameters
    ----------
    profile
        The profile.
    s
        Scratch arrays.
    a
        Bound of the whole machine, or None.
    j
        Index of the job in ``a``.
    request
        Amounts per unit, shape (resources,).
    units
        Number of units.
    duration
        Duration in seconds, above 0.
    lo, hi
        First and last start in seconds.
    """
    t = lo
    total = 0
    size = 0
    for n in range(s.fits.size):
        s.fits[n] = 0
        s.queued[n] = False
        s.last[n] = 0
        if s.most[n] > 0:
            _count(profile, s, n, request, t, duration)
            total += s.fits[n]
    if total >= units:
        return t
    for n in range(s.fits.size):
        if s.fits[n] < s.most[n]:
            size = _push(s, size, n)
    while True:
        while total < units:
            t, raised, size = _advance(s, a, j, units, duration, units - total, t, size)
            if t > hi:
                return -1
            for k in range(raised):
                change, size = _recount(profile, s, s.raised[k], request, t, duration, size)
                total += change
        for n in range(s.fits.size):
            if s.checked[n] != t and (s.fits[n] > 0 or s.bound_end[n] <= t):
                change, size = _recount(profile, s, n, request, t, duration, size)
                total += change
                if total < units:
                    break
        if total >= units:
            return t


@internal_borrowing
def fit_all(profile: Profile, s: Scratch, start: int) -> None:
    """Let each node hold the units that it holds empty, for a job that occupies nothing."""
    for n in range(s.fits.size):
        s.fits[n], s.first[n] = s.most[n], segment(profile, n, start)


@internal_borrowing
def _before(s: Scratch, n: int, m: int) -> bool:
    """Return whether node n is a better fit than node m: less free worth, ties by index."""
    return bool(s.score[n] < s.score[m] or (s.score[n] == s.score[m] and n < m))


@internal_borrowing
def _push_score(s: Scratch, size: int, n: int) -> int:
    """Add a node to the heap of best fits; return its size."""
    i = size
    while i > 0 and _before(s, n, s.heap[(i - 1) // 2]):
        s.heap[i] = s.heap[(i - 1) // 2]
        i = (i - 1) // 2
    s.heap[i] = n
    return size + 1


@internal_borrowing
def _drop_score(s: Scratch, size: int) -> int:
    """Remove the best fit from the heap; return its size."""
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


@internal_borrowing
def choose(profile: Profile, machine: Machine, s: Scratch, units: int, start: int, chosen: Ints) -> None:
    """Choose nodes by best fit: first the nodes with the least worth of free amounts, ties by the order of nodes.

    Parameters
    ----------
    profile
        The profile.
    machine
        The nodes and the worth of the resources.
    s
        Scratch arrays with exact ``fits`` at the start.
    units
        Number of units of the job.
    start
        Start in seconds.
    chosen
        Output: node of each unit, shape (units,).
    """
    for n in range(s.fits.size):
        s.score[n] = np.inf
        if s.fits[n] > 0:
            s.score[n] = 0.0
            for r in range(machine.worth.size):
                s.score[n] += machine.worth[r] * profile.free[n, s.first[n], r]
    best = 0
    for n in range(s.score.size):
        if s.score[n] < s.score[best]:
            best = n
    if s.fits[best] >= units:
        for k in range(chosen.size):
            chosen[k] = best
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
        for k in range(done, done + take):
            chosen[k] = n
        done += take


@internal_borrowing
def fill_most(machine: Machine, s: Scratch, request: Ints, units: int) -> None:
    """Set ``s.most`` to the units that each empty node can hold.

    Parameters
    ----------
    machine
        The nodes.
    s
        Scratch arrays.
    request
        Amounts per unit, shape (resources,).
    units
        Number of units of the job.
    """
    for n in range(s.most.size):
        fit = units
        for r in range(request.size):
            if machine.capacity[n, r] < fit * request[r] and request[r] != WHOLE:
                fit = machine.capacity[n, r] // request[r]
        s.most[n] = fit


@internal_borrowing
def confine(machine: Machine, s: Scratch, jobs: Jobs, j: int) -> None:
    """Lower ``s.most`` to what job j may put on each node: 0 on nodes that it may not use, at most ``per_node``."""
    if jobs.node_set[j] > 0:
        for n in range(s.most.size):
            if not machine.allowed[jobs.node_set[j], n]:
                s.most[n] = 0
    if jobs.per_node[j] < jobs.units[j]:
        for n in range(s.most.size):
            s.most[n] = min(s.most[n], jobs.per_node[j])


# --- Jobs that have whole nodes, on which nothing else is at the same time.


@internal_borrowing
def is_empty(free: Ints, capacity: Ints) -> bool:
    """Return whether all amounts of a node are free, shape (resources,)."""
    for r in range(capacity.size):
        if free[r] < capacity[r]:
            return False
    return True


@internal
def earliest_empty(profile: Profile, s: Scratch, capacity: Ints, units: int, duration: int, lo: int, hi: int) -> int:
    """Return the earliest start in [lo, hi] at which all units of a job fit on empty nodes; -1 if there is none.

    A node can be used from each time at which it becomes empty, up to the last one from which it is empty for the whole
    duration. The sum of the units on such nodes is followed over these times. At the result, ``s.fits`` is exact; ``s.most``
    must be set before.

    Parameters
    ----------
    profile, s
        The profile; scratch arrays.
    capacity
        Capacity of the nodes, shape (nodes, resources).
    units
        Number of units.
    duration
        Duration in seconds, above 0.
    lo, hi
        First and last start in seconds.
    """
    most = 0
    for n in range(s.most.size):
        if s.most[n] > 0:
            most += 2 * profile.length[n]
    at = np.empty(most, np.float64)
    change = np.empty(most, np.int64)
    order = np.empty(most, np.int64)
    changes = 0
    for n in range(s.most.size):
        i = segment(profile, n, lo)
        while s.most[n] > 0 and i < profile.length[n]:
            begin = max(lo, profile.time[n, i])
            while i < profile.length[n] and is_empty(profile.free[n, i], capacity[n]):
                i += 1
            end = profile.time[n, i] if i < profile.length[n] else NEVER
            if end - begin >= duration:
                at[changes], change[changes] = begin, s.most[n]
                at[changes + 1], change[changes + 1] = end - duration + 1, -s.most[n]
                changes += 2
            i += 1
    for k in range(changes):
        order[k] = k
    sort_by(order, changes, at)
    fits, start = 0, -1
    for k in range(changes):
        fits += change[order[k]]
        is_last = k + 1 == changes or at[order[k + 1]] > at[order[k]]
        if is_last and fits >= units:
            start = int(at[order[k]])
            break
    if start < 0 or start > hi:
        return -1
    for n in range(s.most.size):
        s.fits[n] = s.most[n]
        i = segment(profile, n, start)
        while s.fits[n] > 0 and i < profile.length[n] and profile.time[n, i] < start + duration:
            if not is_empty(profile.free[n, i], capacity[n]):
                s.fits[n] = 0
            i += 1
    return start
