"""Profiles of nodes: step functions of the free amounts over time.

A profile of a node is a list of breakpoints in time. From each breakpoint to the next one the free amounts are
constant; the last segment has no end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.compiled import compiled, internal, internal_borrowing
from .by_address import by_address
from .memory import move_items

NEVER = 2**62  # a time (seconds) after all others


@by_address
class Machine(NamedTuple):
    """The nodes and what is taken from them: the running jobs, and what a desired profile forbids.

    Parameters
    ----------
    capacity
        Amounts of each node, shape (nodes, resources).
    worth
        Worth of one free unit of each resource, shape (resources,); best fit fills the node with the least free worth.
    now
        Time in seconds at which the profiles begin.
    taken_node
        Node of each entry, shape (entries,); an entry is a running job on one node, or a step of a profile.
    taken_begin, taken_end
        Times in seconds at which the entry begins and ends, shape (entries,); a begin before ``now`` counts as ``now``.
    taken
        Amounts that the entry occupies, shape (entries, resources).
    """

    capacity: Ints
    worth: Floats
    now: int
    taken_node: Ints
    taken_begin: Ints
    taken_end: Ints
    taken: Ints


class Profile(NamedTuple):
    """The free amounts of all nodes over time.

    Parameters
    ----------
    length
        Number of breakpoints of each node, shape (nodes,).
    time
        Breakpoints of each node in seconds, ascending, shape (nodes, room); only the first ``length[n]`` are used.
    free
        Free amounts from each breakpoint to the next, shape (nodes, room, resources).
    """

    length: Ints
    time: Ints
    free: Ints


def new_profile(machine: Machine, room: int) -> Profile:
    """Return the profile of the nodes with what is taken from them, with room for ``room`` breakpoints per node."""
    nodes, resources = machine.capacity.shape
    profile = Profile(
        np.ones(nodes, np.int64), np.empty((nodes, room), np.int64), np.empty((nodes, room, resources), np.int64)
    )
    profile.time[:, 0] = machine.now
    profile.free[:, 0, :] = machine.capacity
    return _with_taken(profile, machine)


@compiled
def _with_taken(profile: Profile, machine: Machine) -> Profile:
    """Subtract what is taken from an empty profile; return the profile, maybe grown."""
    for i in range(machine.taken_node.size):
        if machine.taken_end[i] > machine.now:
            n = machine.taken_node[i]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, n, max(machine.now, machine.taken_begin[i]), machine.taken_end[i], machine.taken[i], 1)
    return profile


@internal
def grown(profile: Profile) -> Profile:
    """Return the profile in arrays with twice the room."""
    nodes, room, resources = profile.free.shape
    time = np.empty((nodes, 2 * room), np.int64)
    free = np.empty((nodes, 2 * room, resources), np.int64)
    for n in range(nodes):
        for i in range(profile.length[n]):
            time[n, i] = profile.time[n, i]
            for r in range(resources):
                free[n, i, r] = profile.free[n, i, r]
    return Profile(profile.length, time, free)


@internal_borrowing
def segment(profile: Profile, n: int, t: int) -> int:
    """Return the index of the last breakpoint of node n at or before time t (0 if there is none)."""
    lo, hi = 0, profile.length[n]
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if profile.time[n, middle] <= t:
            lo = middle
        else:
            hi = middle
    return lo


@internal_borrowing
def segment_from(profile: Profile, n: int, t: int, i: int) -> int:
    """Return ``segment(profile, n, t)`` for a time t that is not before breakpoint i; fast if it is near.

    Parameters
    ----------
    profile
        The profile.
    n
        Index of the node.
    t
        Time in seconds.
    i
        Index of a breakpoint at or before t.
    """
    lo = i
    step = 1
    length = profile.length[n]
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


@internal_borrowing
def _move_from(profile: Profile, n: int, i: int, by: int) -> None:
    """Move the breakpoints of node n from index i on to the next index (by 1) or to the one before (by -1)."""
    resources = profile.free.shape[2]
    at = n * profile.time.shape[1] + i
    number = profile.length[n] - i
    move_items(profile.time, at + by, at, number)
    move_items(profile.free, (at + by) * resources, at * resources, number * resources)


@internal_borrowing
def _split(profile: Profile, n: int, t: int) -> int:
    """Return the index of the breakpoint of node n at time t; insert one if there is none."""
    i = segment(profile, n, t)
    if profile.time[n, i] == t:
        return i
    _move_from(profile, n, i + 1, 1)
    profile.time[n, i + 1] = t
    for r in range(profile.free.shape[2]):
        profile.free[n, i + 1, r] = profile.free[n, i, r]
    profile.length[n] += 1
    return i + 1


@internal_borrowing
def occupy(profile: Profile, n: int, start: int, end: int, request: Ints, units: int) -> None:
    """Subtract units of a request from the free amounts of a node in [start, end); negative units add them.

    Parameters
    ----------
    profile
        The profile; changed in place. It needs room for two more breakpoints.
    n
        Index of the node.
    start, end
        Times in seconds, start < end.
    request
        Amounts of one unit, shape (resources,).
    units
        Number of units.
    """
    first = _split(profile, n, start)
    last = _split(profile, n, end)
    for r in range(request.size):
        if request[r] != 0:
            for i in range(first, last):
                profile.free[n, i, r] -= units * request[r]
    _merge(profile, n, last)  # if an equal job begins where this one ends, the breakpoint is superfluous
    _merge(profile, n, first)


@internal
def put_units(profile: Profile, request: Ints, start: int, end: int, chosen: Ints, sign: int) -> Profile:
    """Subtract equal units from the profile (sign 1) or add them again (sign -1); return the profile, maybe grown.

    Parameters
    ----------
    profile
        The profile; changed in place, replaced by a larger one if it is full.
    request
        Amounts of one unit, shape (resources,).
    start, end
        Times in seconds; nothing happens unless start < end.
    chosen
        Node of each unit, shape (units,); units on one node are neighbours.
    sign
        1 or -1.
    """
    k = 0
    while k < chosen.size and end > start:
        n, units = chosen[k], 1
        while k + units < chosen.size and chosen[k + units] == n:
            units += 1
        if profile.length[n] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        occupy(profile, n, start, end, request, sign * units)
        k += units
    return profile


@internal_borrowing
def _merge(profile: Profile, n: int, i: int) -> None:
    """Remove breakpoint i of node n if the free amounts do not change there."""
    if i == 0:
        return
    for r in range(profile.free.shape[2]):
        if profile.free[n, i, r] != profile.free[n, i - 1, r]:
            return
    _move_from(profile, n, i + 1, -1)
    profile.length[n] -= 1


@compiled
def copied(profile: Profile, room: Profile) -> Profile:
    """Copy the profile, into the arrays of ``room`` if they are large enough."""
    if room.time.shape[1] < profile.time.shape[1]:
        return Profile(profile.length.copy(), profile.time.copy(), profile.free.copy())
    for n in range(profile.length.size):
        length = profile.length[n]
        room.length[n] = length
        for i in range(length):
            room.time[n, i] = profile.time[n, i]
            for r in range(profile.free.shape[2]):
                room.free[n, i, r] = profile.free[n, i, r]
    return room
