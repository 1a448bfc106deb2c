"""Which planned jobs may move to an earlier start: most of those that a node notifies have no room before their start.

The test is that of the capacity alone, without the desired profile and without a common start. A job that fails it has no
earlier start, so that a run of the protocol would find none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.profile import NEVER, Profile, segment
from ....models.compiled import compiled, internal_borrowing
from ..messages import Placement

Ints = NDArray[np.int64]


class Moves(NamedTuple):
    """Planned jobs, in the order in which they look for earlier starts.

    Parameters
    ----------
    first : ndarray of int64
        First entry of each job in ``node`` and ``units``, shape (jobs + 1,).
    node, units : ndarray of int64
        The nodes of the jobs, and the units on each.
    start, end : ndarray of int64, shape (jobs,)
        Their reservations in seconds.
    request : ndarray of int64, shape (jobs, resources)
        Amounts of one unit.
    """

    first: Ints
    node: Ints
    units: Ints
    start: Ints
    end: Ints
    request: Ints


def moves_of(placements: Sequence[Placement]) -> Moves:
    """Return at least one placement as arrays."""
    first = np.zeros(len(placements) + 1, np.int64)
    np.cumsum([p.nodes.size for p in placements], out=first[1:])
    return Moves(
        first,
        np.concatenate([p.nodes for p in placements]),
        np.concatenate([p.units for p in placements]),
        np.array([p.start for p in placements], np.int64),
        np.array([p.end for p in placements], np.int64),
        np.stack([p.request for p in placements]),
    )


@internal_borrowing
def _room_before(profile: Profile, moves: Moves, k: int, p: int, now: int) -> bool:
    """Return whether the node of entry p has room for one unit of job k from a time in [now, start) on."""
    n, begin, end, request = moves.node[p], moves.start[k], moves.end[k], moves.request[k]
    duration, i, s, t = end - begin, segment(profile, n, now), now, now
    while s < begin:
        until = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
        own = moves.units[p] if begin <= t < end else 0
        if t < begin:
            until = min(until, begin)
        elif t < end:
            until = min(until, end)
        room = True
        for r in range(request.size):
            room = room and (request[r] == 0 or profile.free[n, i, r] + own * request[r] >= request[r])
        if not room:
            s = until
        elif until >= s + duration:
            return True
        if i + 1 < profile.length[n] and until == profile.time[n, i + 1]:
            i += 1
        t = until
    return False


@compiled
def next_move(profile: Profile, capacity: Ints, moves: Moves, k: int, now: int) -> int:
    """Return the first job from k on whose nodes may have room before its start; the number of jobs if there is none.

    Parameters
    ----------
    profile, capacity
        Free amounts, with the reservations of the jobs, and capacity of the nodes.
    moves
        The jobs.
    k
        The first job that is tested.
    now
        The current time in seconds, before all starts.
    """
    while k < moves.start.size:
        offered, needed = 0, 0
        for p in range(moves.first[k], moves.first[k + 1]):
            needed += moves.units[p]
            if _room_before(profile, moves, k, p, now):
                most = NEVER
                for r in range(capacity.shape[1]):
                    if moves.request[k, r] > 0:
                        most = min(most, capacity[moves.node[p], r] // moves.request[k, r])
                offered = min(NEVER, offered + most)
        if offered >= needed:
            break
        k += 1
    return k
