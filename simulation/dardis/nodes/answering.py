"""Compiled work of many node managers at once: offers for a request, and changes of reservations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.profile import Profile, grown, occupy, segment
from ....models.compiled import compiled, internal
from ..messages import Limits
from .draws import mixed
from .fitting import Pieces, hosts, index_of, new_pieces, room_for
from .generators import EXPONENTIAL, FIRST, earliest, roulette, table_for

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PAST = 16  # breakpoints in the past that are kept before a profile is shortened


@internal
def _longer(node: Ints, pieces: Pieces, room: int) -> tuple[Ints, Pieces]:
    """Return the arrays of offers with more room."""
    numbers, more = np.empty(room, np.int64), new_pieces(room)
    size = node.size
    numbers[:size] = node
    more.low[:size], more.high[:size], more.fit[:size] = pieces.low, pieces.high, pieces.fit
    return numbers, more


@compiled
def offers_of(
    profile: Profile,
    capacity: Ints,
    limits: Limits,
    nodes: Ints,
    request: Ints,
    duration: int,
    windows: Ints,
    responses: int,
    generator: int,
    key: int,
    number: int,
) -> tuple[Ints, Ints, Ints, Floats]:
    """Return node, first start, last start and index of each entry of the offers.

    Parameters
    ----------
    profile, capacity, limits
        Free amounts, capacity and desired use of the nodes.
    nodes
        Indices of the nodes that are asked, ascending.
    request, duration, windows, responses, key
        As in ``Request``.
    generator
        Number of the generator in ``GENERATORS``.
    number
        The number, in the platform, of the node with index 0.
    """
    able, count = np.empty(nodes.size, np.int64), 0
    for n in nodes:
        if hosts(profile, n, request, duration, windows):
            able[count] = n
            count += 1
    nodes = able[:count]
    if count == 0:
        return nodes, nodes, nodes, np.empty(0, np.float64)
    room = room_for(profile, limits, windows, duration)
    steps, found, queue = new_pieces(room), new_pieces(room), np.empty(room, np.int64)
    most = room if generator == FIRST else max(room, responses)
    drawn, size = new_pieces(most), table_for(responses) if generator != FIRST else 1
    keys, follower = np.empty(size, np.int64), np.empty(size, np.int64)
    seconds = 0
    for w in range(windows.shape[0]):
        seconds += windows[w, 1] - windows[w, 0] + 1
    rate = 1.0 / seconds if generator == EXPONENTIAL else 0.0
    node, offers, made = np.empty(4 * nodes.size + most, np.int64), new_pieces(4 * nodes.size + most), 0
    for n in nodes:
        count = index_of(profile, capacity, limits, n, request, duration, windows, steps, queue, found)
        source = found
        if generator == FIRST:
            count = earliest(found, count, responses)
        else:
            own = int(mixed(key, n + number) >> np.uint64(1))
            count = roulette(found, count, responses, rate, own, keys, follower, drawn)
            source = drawn
        if made + count > node.size:
            node, offers = _longer(node, offers, 2 * (made + count))
        for p in range(count):
            node[made] = n + number
            offers.low[made], offers.high[made], offers.fit[made] = source.low[p], source.high[p], source.fit[p]
            made += 1
    return node[:made].copy(), offers.low[:made].copy(), offers.high[:made].copy(), offers.fit[:made].copy()


@compiled
def forget(profile: Profile, nodes: Ints, now: int) -> None:
    """Drop the breakpoints before ``now``, except the last of them, on nodes that have many."""
    for n in nodes:
        past = segment(profile, n, now)
        if past < PAST:
            continue
        profile.length[n] -= past
        for i in range(profile.length[n]):
            profile.time[n, i] = profile.time[n, i + past]
            for r in range(profile.free.shape[2]):
                profile.free[n, i, r] = profile.free[n, i + past, r]


@compiled
def change(profile: Profile, nodes: Ints, units: Ints, start: int, end: int, request: Ints, sign: int) -> Profile:
    """Subtract the units of a job in [start, end) from its nodes (sign 1), or add them (-1); return the profile, maybe grown."""
    for k in range(nodes.size):
        if profile.length[nodes[k]] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        occupy(profile, nodes[k], start, end, request, sign * units[k])
    return profile


@compiled
def overfull(profile: Profile, nodes: Ints, begin: int, end: int) -> Any:
    """Return whether each of the nodes has less than it needs at some time in [begin, end)."""
    found = np.zeros(nodes.size, np.bool_)
    for k in range(nodes.size):
        n = nodes[k]
        i = segment(profile, n, begin)
        while i < profile.length[n] and profile.time[n, i] < end:
            for r in range(profile.free.shape[2]):
                if profile.free[n, i, r] < 0:
                    found[k] = True
            i += 1
    return found
