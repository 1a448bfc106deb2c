"""Step profiles of nodes: breakpoints in time, and what is free from each of them to the next; the last lasts for ever."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import borrowing, compiled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEVER = 2**62


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
                profile = grown(profile)
            occupy(profile, n, machine.now, machine.taken_until[i], machine.taken[i], 1)
    return profile


@compiled
def grown(profile: Profile) -> Profile:
    nodes, room, resources = profile.free.shape
    time, free = np.empty((nodes, 2 * room), np.int64), np.empty((nodes, 2 * room, resources), np.int64)
    time[:, :room] = profile.time
    free[:, :room, :] = profile.free
    return Profile(profile.length, time, free)


@borrowing
def segment(profile: Profile, n: int, t: int) -> int:
    """Index of the last breakpoint at or before t."""
    lo, hi = 0, profile.length[n]
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if profile.time[n, middle] <= t:
            lo = middle
        else:
            hi = middle
    return lo


@borrowing
def segment_from(profile: Profile, n: int, t: int, i: int) -> int:
    """``segment`` for a moment that is not before breakpoint i; quick if it is near."""
    lo, step, length = i, 1, profile.length[n]
    while lo + step < length and profile.time[n, lo + step] <= t:
        lo += step
        step *= 2
    hi = min(lo + step, length)
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if profile.time[n, middle] <= t:
            lo = middle
        else:
            hi = middle
    return lo


@borrowing
def _split(profile: Profile, n: int, t: int) -> int:
    """Index of a breakpoint at t, made if there is none."""
    i = segment(profile, n, t)
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


@borrowing
def occupy(profile: Profile, n: int, start: int, end: int, request: Ints, units: int) -> None:
    """Take units of the request from a node in [start, end); negative units give them back."""
    first = _split(profile, n, start)
    last = _split(profile, n, end)
    for r in range(request.size):
        if request[r] != 0:
            for i in range(first, last):
                profile.free[n, i, r] -= units * request[r]
    _merge(profile, n, last)  # where one job follows another, nothing changes
    _merge(profile, n, first)


@borrowing
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
