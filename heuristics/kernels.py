"""Compiled kernels: step profiles of nodes, and the placing of jobs into them one after another (thesis 6.6, algorithm 5).

Every node has a profile: breakpoints in time, and the amounts that are free from each of them to the next; the last one
lasts for ever. The earliest start of a job is found without going through all moments: a node that holds m of the job's
units in [t, t + d) cannot hold more before the end of the last stretch in it where only m fit. So every node has a
count that is an upper bound up to a known moment, and a heap of those moments says where enough nodes may have grown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., object])

NEVER = 2**62
KINDS = 4096  # so that asking what is hopeless costs no more than a search
EXCESS, LATE, LAST_END = 0, 1, 2


def compiled(function: F) -> F:
    """``numba.njit``, cached on disk where a directory for it can be written."""
    try:
        return njit(cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no place for the cache: compile in every process
        return njit(nogil=True)(function)  # type: ignore[no-any-return]


class Jobs(NamedTuple):
    """What the kernels know of the jobs: arrays over jobs, then over windows. Times in seconds.

    Job j may start in ``[lo[w], hi[w]]`` for w in ``window[j] .. window[j + 1] - 1`` of ``group[j]``, from ``release[j]``
    to ``latest[j]``. Its units are ``first_unit[j] .. first_unit[j + 1] - 1`` of all units.
    """

    release: Ints
    latest: Ints
    duration: Ints
    units: Ints
    request: Ints  # jobs x resources, per unit
    first_unit: Ints
    kind: Ints  # jobs of equal units, duration and request
    group: Ints  # of windows
    first_window: Ints  # of each group, and the end of the last one
    lo: Ints
    hi: Ints


class Costs(NamedTuple):
    """An objective of starts: over jobs, by ``mode``, of wait = start - submit.

    EXCESS: sum of weight * max(0, wait - grace) + constant; LATE: how many have wait > grace; LAST_END: the last end,
    at least ``constant``.
    """

    mode: int
    submit: Ints
    weight: Floats
    grace: Ints
    constant: float


class Machine(NamedTuple):
    """The nodes: ``capacity`` (nodes x resources), the worth of a free amount of each resource, and what is taken already."""

    capacity: Ints
    worth: Floats
    now: int
    taken_node: Ints
    taken_until: Ints
    taken: Ints  # x resources


class Profile(NamedTuple):
    """Of each node: ``length`` breakpoints ``time``, and what is ``free`` (nodes x breakpoints x resources) from them on."""

    length: Ints
    time: Ints
    free: Ints


class Hopeless(NamedTuple):
    """Of kinds of jobs: [begin, end) where none of the kind can start, as long as nothing is taken out of the profile.

    It holds for every job that is as wide and as long as the kind, or more.
    """

    units: Ints
    duration: Ints
    request: Ints
    begin: Ints
    end: Ints


class Scratch(NamedTuple):
    """Arrays over nodes for the search of one job."""

    most: Ints  # units on the empty node
    count: Ints  # upper bound of units, exact at ``checked``
    until: Ints  # ... valid before this moment
    checked: Ints
    raised: Ints
    heap: Ints
    key: Ints
    queued: NDArray[np.bool_]
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
        np.empty(nodes, np.float64),
    )


@compiled
def new_profile(machine: Machine, room: int) -> Profile:
    """The nodes with nothing but the running jobs on them, and room for so many breakpoints."""
    nodes, resources = machine.capacity.shape
    profile = Profile(
        np.ones(nodes, np.int64), np.empty((nodes, room), np.int64), np.empty((nodes, room, resources), np.int64)
    )
    profile.time[:, 0] = machine.now
    profile.free[:, 0, :] = machine.capacity
    for i in range(machine.taken_node.size):
        if machine.taken_until[i] > machine.now:
            n = machine.taken_node[i]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = _grown(profile)
            occupy(profile, n, machine.now, machine.taken_until[i], machine.taken[i], 1)
    return profile


@compiled
def _grown(profile: Profile) -> Profile:
    nodes, room, resources = profile.free.shape
    time, free = np.empty((nodes, 2 * room), np.int64), np.empty((nodes, 2 * room, resources), np.int64)
    time[:, :room] = profile.time
    free[:, :room, :] = profile.free
    return Profile(profile.length, time, free)


@compiled
def _segment(profile: Profile, n: int, t: int) -> int:
    """Index of the last breakpoint at or before t."""
    lo, hi = 0, profile.length[n]
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if profile.time[n, middle] <= t:
            lo = middle
        else:
            hi = middle
    return lo


@compiled
def _split(profile: Profile, n: int, t: int) -> int:
    """Index of a breakpoint at t, made if there is none."""
    i = _segment(profile, n, t)
    if profile.time[n, i] == t:
        return i
    for k in range(profile.length[n], i + 1, -1):
        profile.time[n, k] = profile.time[n, k - 1]
        for r in range(profile.free.shape[2]):
            profile.free[n, k, r] = profile.free[n, k - 1, r]
    profile.time[n, i + 1] = t
    for r in range(profile.free.shape[2]):
        profile.free[n, i + 1, r] = profile.free[n, i, r]
    profile.length[n] += 1
    return i + 1


@compiled
def occupy(profile: Profile, n: int, start: int, end: int, request: Ints, units: int) -> None:
    """Take units of the request from a node in [start, end); negative units give them back."""
    first = _split(profile, n, start)
    last = _split(profile, n, end)
    for r in range(request.size):
        if request[r] != 0:
            for i in range(first, last):
                profile.free[n, i, r] -= units * request[r]
    if units < 0:
        _merge(profile, n, last)
        _merge(profile, n, first)


@compiled
def _merge(profile: Profile, n: int, i: int) -> None:
    """Forget breakpoint i if nothing changes there."""
    if i == 0:
        return
    for r in range(profile.free.shape[2]):
        if profile.free[n, i, r] != profile.free[n, i - 1, r]:
            return
    profile.length[n] -= 1
    for k in range(i, profile.length[n]):
        profile.time[n, k] = profile.time[n, k + 1]
        for r in range(profile.free.shape[2]):
            profile.free[n, k, r] = profile.free[n, k + 1, r]


@compiled
def _fit(profile: Profile, n: int, request: Ints, most: int, start: int, end: int) -> tuple[int, int]:
    """How many units, up to ``most``, fit all through [start, end), and until when a later start cannot do better."""
    count, until = most, NEVER
    i = _segment(profile, n, end - 1)
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


@compiled
def _push(s: Scratch, size: int, n: int) -> int:
    i, key = size, s.until[n]
    while i > 0 and s.key[(i - 1) // 2] > key:
        s.key[i], s.heap[i] = s.key[(i - 1) // 2], s.heap[(i - 1) // 2]
        i = (i - 1) // 2
    s.key[i], s.heap[i], s.queued[n] = key, n, True
    return size + 1


@compiled
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


@compiled
def _recount(profile: Profile, s: Scratch, n: int, request: Ints, t: int, duration: int, size: int) -> tuple[int, int]:
    """Count node n at t exactly; by how much its count changed, and the size of the heap."""
    before = s.count[n]
    s.count[n], s.until[n] = _fit(profile, n, request, s.most[n], t, t + duration)
    s.checked[n] = t
    if s.count[n] < s.most[n] and not s.queued[n]:
        size = _push(s, size, n)
    return s.count[n] - before, size


@compiled
def _advance(s: Scratch, missing: int, size: int) -> tuple[int, int, int]:
    """The first moment at which the nodes may hold ``missing`` units more; the nodes that make it so; heap size."""
    raised, promised, t = 0, 0, NEVER
    while promised < missing:
        if size == 0:
            return NEVER, 0, 0
        n, key = s.heap[0], s.key[0]
        size = _drop_first(s, size)
        s.queued[n] = False
        if s.until[n] > key:  # it was counted again since it was queued
            if s.count[n] < s.most[n]:
                size = _push(s, size, n)
            continue
        promised += s.most[n] - s.count[n]
        s.raised[raised] = n
        raised += 1
        t = key
    return t, raised, size


@compiled
def _earliest(profile: Profile, s: Scratch, request: Ints, units: int, duration: int, lo: int, hi: int) -> int:
    """The earliest start in [lo, hi] at which all units fit; -1 if there is none. ``s.count`` is exact there."""
    t, total, size = lo, 0, 0
    for n in range(s.count.size):
        s.count[n], s.queued[n] = 0, False
        if s.most[n] > 0:
            change, size = _recount(profile, s, n, request, t, duration, size)
            total += change
    while True:
        while total < units:
            t, raised, size = _advance(s, units - total, size)
            if t > hi:
                return -1
            for k in range(raised):
                change, size = _recount(profile, s, s.raised[k], request, t, duration, size)
                total += change
        for n in range(s.count.size):
            if s.checked[n] != t and (s.count[n] > 0 or s.until[n] <= t):
                change, size = _recount(profile, s, n, request, t, duration, size)
                total += change
                if total < units:
                    break
        if total >= units:
            return t


@compiled
def _choose(profile: Profile, machine: Machine, s: Scratch, units: int, start: int, chosen: Ints) -> None:
    """Best fit: units go to the nodes where the least worth lies free; ties by the order of nodes."""
    for n in range(s.count.size):
        s.score[n] = np.inf
        if s.count[n] > 0:
            i = _segment(profile, n, start)
            s.score[n] = 0.0
            for r in range(machine.worth.size):
                s.score[n] += machine.worth[r] * profile.free[n, i, r]
    done = 0
    if s.count[np.argmin(s.score)] >= units:
        chosen[:] = np.argmin(s.score)
        return
    for n in np.argsort(s.score, kind="mergesort"):
        take = min(units - done, s.count[n])
        chosen[done : done + take] = n
        done += take
        if done == units:
            return


@compiled
def _most(machine: Machine, s: Scratch, request: Ints, units: int) -> None:
    """How many units the empty nodes hold."""
    for n in range(s.most.size):
        fit = units
        for r in range(request.size):
            if machine.capacity[n, r] < fit * request[r]:
                fit = machine.capacity[n, r] // request[r]
        s.most[n] = fit


@compiled
def put(profile: Profile, jobs: Jobs, j: int, start: int, chosen: Ints, sign: int) -> Profile:
    """Occupy (sign 1) or free (sign -1) what job j takes on its chosen nodes; the profile may have grown."""
    end = start + jobs.duration[j]
    k = 0
    while k < chosen.size and end > start:
        n, units = chosen[k], 1
        while k + units < chosen.size and chosen[k + units] == n:
            units += 1
        if profile.length[n] + 2 > profile.time.shape[1]:
            profile = _grown(profile)
        occupy(profile, n, start, end, jobs.request[j], sign * units)
        k += units
    return profile


@compiled
def new_hopeless(jobs: Jobs, kinds: int) -> Hopeless:
    """Nothing is known yet, of so many kinds of jobs at most."""
    size = min(kinds, jobs.kind.max() + 1) if jobs.kind.size else 0
    known = Hopeless(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((size, jobs.request.shape[1]), np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )
    for j in range(jobs.kind.size):
        k = jobs.kind[j]
        if k < size:
            known.units[k], known.duration[k], known.request[k] = jobs.units[j], jobs.duration[j], jobs.request[j]
    return known


@compiled
def _covers(known: Hopeless, k: int, jobs: Jobs, j: int) -> bool:
    """Whether job j is as wide and as long as kind k, or more."""
    if known.units[k] > jobs.units[j] or known.duration[k] > jobs.duration[j]:
        return False
    for r in range(known.request.shape[1]):
        if known.request[k, r] > jobs.request[j, r]:
            return False
    return True


@compiled
def _skip(known: Hopeless, jobs: Jobs, j: int, t: int) -> tuple[int, int]:
    """The first moment from t on that is not known to be hopeless for job j, and the next one that is."""
    moved = True
    while moved:
        moved = False
        following = NEVER
        for k in range(known.end.size):
            if known.end[k] > t and known.begin[k] < following and _covers(known, k, jobs, j):
                if known.begin[k] <= t:
                    t, moved = known.end[k], True
                else:
                    following = known.begin[k]
    return t, following


@compiled
def _note(known: Hopeless, k: int, begin: int, end: int) -> None:
    """No job of kind k can start in [begin, end)."""
    if k >= known.end.size or end <= begin:
        return
    if begin <= known.end[k] and known.begin[k] <= end and known.end[k] > known.begin[k]:
        known.begin[k], known.end[k] = min(begin, known.begin[k]), max(end, known.end[k])
    elif end - begin > known.end[k] - known.begin[k]:
        known.begin[k], known.end[k] = begin, end


@compiled
def _search(profile: Profile, s: Scratch, known: Hopeless, jobs: Jobs, j: int, lo: int, hi: int) -> int:
    """The earliest start of job j in [lo, hi], or -1; passes over what is known to be hopeless, and adds to it."""
    request, units, duration = jobs.request[j], jobs.units[j], jobs.duration[j]
    t, start = lo, -1
    while start < 0:
        t, following = _skip(known, jobs, j, t)
        if t > hi:
            break
        start = _earliest(profile, s, request, units, duration, t, min(hi, following - 1))
        t = following
    _note(known, jobs.kind[j], lo, start if start >= 0 else hi + 1)
    return start


@compiled
def place(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    s: Scratch,
    known: Hopeless,
    j: int,
    not_before: int,
    chosen: Ints,
) -> tuple[int, Profile]:
    """Put job j at its earliest feasible start from ``not_before`` on: the start (-1 if there is none) and the profile."""
    _most(machine, s, jobs.request[j], jobs.units[j])
    start = -1
    for w in range(jobs.first_window[jobs.group[j]], jobs.first_window[jobs.group[j] + 1]):
        lo = max(jobs.lo[w], jobs.release[j], not_before)
        hi = min(jobs.hi[w], jobs.latest[j])
        if lo <= hi:
            if jobs.duration[j] == 0:  # it occupies nothing
                start = lo
                s.count[:] = s.most
                break
            start = _search(profile, s, known, jobs, j, lo, hi)
            if start >= 0:
                break
    if start >= 0:
        _choose(profile, machine, s, jobs.units[j], start, chosen)
        profile = put(profile, jobs, j, start, chosen, 1)
    return start, profile


@compiled
def build(machine: Machine, jobs: Jobs, order: Ints, not_before: Ints, starts: Ints, nodes: Ints) -> int:
    """Place the jobs in this order; fills their ``starts`` and the ``nodes`` of their units.

    The number of jobs placed: less than all, if the job ``order[number]`` found no place.
    """
    profile = new_profile(machine, 64)
    scratch, known = new_scratch(machine.capacity.shape[0]), new_hopeless(jobs, KINDS)
    for k in range(order.size):
        j = order[k]
        chosen = nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        starts[j], profile = place(profile, machine, jobs, scratch, known, j, not_before[j], chosen)
        if starts[j] < 0:
            return k
    return order.size


@compiled
def cost(costs: Costs, jobs: Jobs, j: int, start: int) -> float:
    """What one job adds to the objective, or its end where that is the last end."""
    wait = start - costs.submit[j]
    if costs.mode == EXCESS:
        return costs.weight[j] * max(0, wait - costs.grace[j])
    if costs.mode == LATE:
        return 1.0 if wait > costs.grace[j] else 0.0
    return float(start + jobs.duration[j])


@compiled
def objective(costs: Costs, jobs: Jobs, starts: Ints) -> float:
    """The objective of all starts."""
    total = costs.constant
    for j in range(starts.size):
        one = cost(costs, jobs, j, starts[j])
        total = max(total, one) if costs.mode == LAST_END else total + one
    return total
