"""Profiles of nodes: step functions of the free amounts over time.

A profile of a node is a list of breakpoints in time. From each breakpoint to the next one the free amounts are
constant; the last segment has no end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ...models.array_types import Bools, Floats, Ints
from ...models.compiled import by_address, compiled, internal, internal_borrowing

# --- Moves of items within an array, as one instruction instead of a loop.


def _for_compiled_code(generator: Callable[..., Any]) -> Any:
    """Return the function of compiled code whose instructions the generator writes; its first argument is numba's."""
    return intrinsic(generator)


@_for_compiled_code
def move_items(_context: Any, array: Any, to: Any, source: Any, items: Any) -> Any:
    """Copy items of an array to another place in it; the places may overlap.

    For compiled functions only. The indices are not checked.

    Parameters
    ----------
    array
        An array in C order; changed in place.
    to, source
        Index of the first item that is written, and of the first one that is read, counted through all dimensions.
    items
        Number of items; nothing happens if it is not above 0.
    """
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"move_items takes an array in C order, not {array}")

    tools: Any = cgutils

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        place = context.make_array(kind)(context, builder, arguments[0])
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        first, second = (builder.gep(place.data, [index]) for index in arguments[1:3])
        with tools.if_likely(builder, builder.icmp_signed(">", arguments[3], arguments[3].type(0))):
            tools.raw_memmove(builder, first, second, arguments[3], size)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.intp), generate


# --- Profiles.

NEVER = 2**62  # a time (seconds) after all others
WHOLE = (
    2**41 + 1
)  # places of a node that a whole-node job takes, however many of its units are there: above all amounts


@by_address
class Machine(NamedTuple):
    """The nodes and what is taken from them: the running jobs, and what a desired profile forbids; and the licences.

    If some job takes whole nodes, the last resource is places: a node has ``WHOLE`` of them, a unit takes one, and a
    whole-node job all of them.

    Parameters
    ----------
    capacity
        Amounts of each node, shape (nodes, resources).
    worth
        Worth of one free unit of each resource, shape (resources,); best fit fills the node with the least free worth.
    now
        Time in seconds at which the profiles begin.
    taken_node
        Node of each entry, shape (entries,); an entry is a running job on one node, or a step of a profile. The number of
        nodes stands for the licences.
    taken_begin, taken_end
        Times in seconds at which the entry begins and ends, shape (entries,); a begin before ``now`` counts as ``now``.
    taken
        Amounts that the entry occupies, shape (entries, resources or licences).
    allowed
        The distinct sets of nodes that jobs may use, the first one is all nodes, shape (sets, nodes).
    licences
        The licences of the machine, shape (licences,).
    places
        Whether the last resource is places.
    """

    capacity: Ints
    worth: Floats
    now: int
    taken_node: Ints
    taken_begin: Ints
    taken_end: Ints
    taken: Ints
    allowed: Bools
    licences: Ints
    places: bool


class Profile(NamedTuple):
    """The free amounts of all nodes over time, and in a last row the free licences if the machine has some.

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
    rows = nodes + min(1, machine.licences.size)
    columns = max(resources, machine.licences.size)
    profile = Profile(
        np.ones(rows, np.int64), np.empty((rows, room), np.int64), np.empty((rows, room, columns), np.int64)
    )
    profile.time[:, 0] = machine.now
    profile.free[:, 0] = 0
    profile.free[:nodes, 0, :resources] = machine.capacity
    if machine.licences.size:
        profile.free[nodes, 0, : machine.licences.size] = machine.licences
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
            amount = units * request[r]
            if request[r] == WHOLE:
                amount = WHOLE if units > 0 else -WHOLE
            for i in range(first, last):
                profile.free[n, i, r] -= amount
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


@internal
def put_licences(profile: Profile, licences: Ints, start: int, end: int, sign: int) -> Profile:
    """Subtract the licences of a job, shape (licences,), in [start, end) seconds (sign 1), or add them again (-1)."""
    some = False
    for r in range(licences.size):
        some = some or licences[r] > 0
    if some and end > start:
        row = profile.length.size - 1
        if profile.length[row] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        occupy(profile, row, start, end, licences, sign)
    return profile


@internal_borrowing
def licensed(profile: Profile, licences: Ints, duration: int, t: int, hi: int) -> int:
    """Return the first time in [t, hi] from which on a job can hold its licences for its duration; -1 if there is none.

    Parameters
    ----------
    profile
        The profile, with a row of licences.
    licences
        What the job needs, shape (licences,).
    duration
        Its duration in seconds.
    t, hi
        First and last start in seconds.
    """
    row = profile.length.size - 1
    start = t
    i = segment(profile, row, t)
    while i < profile.length[row] and (i == 0 or profile.time[row, i] < start + duration):
        short = False
        for r in range(licences.size):
            short = short or profile.free[row, i, r] < licences[r]
        i += 1
        if short:
            if i == profile.length[row]:
                return -1
            start = max(start, profile.time[row, i])
            if start > hi:
                return -1
    return start


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
