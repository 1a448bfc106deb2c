"""Destroy operators: the jobs that a step of ruin and recreate removes from a schedule.

``AROUND``, ``CONSECUTIVE`` and ``ROOM`` look for an idle time first: the idlest of some random (node, time) pairs.
``GIVEN`` removes the jobs that the caller names. ``lns.destroy`` describes the operators and their parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.compiled import compiled, internal
from ..costs import Jobs
from ..earliest import fill_most
from ..events.sorting import sort_places
from ..placement import POSTPONED
from ..profile import NEVER, Floats, Ints, Machine, Profile, segment
from .arrays import Known, Places, Room

AROUND, CONSECUTIVE, ROOM, GIVEN = range(4)
MOST_PAIRS = 32  # most (node, time) pairs of which the idlest is chosen
MOST_NODES = 32  # most nodes around which jobs are removed

# columns of the random numbers of a step; each choice has its own
PAIR_NODE = 0
PAIR_TIME = PAIR_NODE + MOST_PAIRS
NODE = PAIR_TIME + MOST_PAIRS
NODES, WINDOW, JOBS, JOBS_FROM, WAITING, WAITING_FROM = range(NODE + MOST_NODES, NODE + MOST_NODES + 6)
NOISE = WAITING_FROM + 1  # and one number more for each removed job


class DestroyRow(NamedTuple):
    """Parameters of one destroy operator; ``lns.destroy`` describes them.

    Parameters
    ----------
    kind
        AROUND, CONSECUTIVE, ROOM or GIVEN.
    pairs
        Number of random (node, time) pairs.
    nodes
        Number of further nodes: below this number.
    least_window
        Least half width of the time window in seconds.
    window_share
        Greatest half width as a share of the time range.
    jobs_from, jobs_below
        Range of the number of jobs.
    waiting_from, waiting_below
        Range of the number of waiting jobs.
    candidates
        Number of waiting jobs of which one is chosen: by ROOM the largest, else one with the least ``Known.rank``.
    reach
        The jobs are inserted not after the last end of the removed jobs, and not earlier than ``reach`` times the time from
        their first start to their last end before that start; infinite: at any time.
    """

    kind: int
    pairs: int = 1
    nodes: int = 0
    least_window: float = 0.0
    window_share: float = 0.0
    jobs_from: int = 0
    jobs_below: int = 0
    waiting_from: int = 0
    waiting_below: int = 0
    candidates: int = 1
    reach: float = np.inf


REACH = DestroyRow._fields.index("reach")


@internal
def _row_of(values: Floats) -> DestroyRow:
    """Return the parameters in a row of ``Steps.rows``."""
    return DestroyRow(
        int(values[0]),
        int(values[1]),
        int(values[2]),
        values[3],
        values[4],
        int(values[5]),
        int(values[6]),
        int(values[7]),
        int(values[8]),
        int(values[9]),
        values[10],
    )


@internal
def _between(first: int, below: int, draw: float) -> int:
    """Return a whole number in [first, below), by a random number in [0, 1)."""
    return first + int(draw * (below - first))


@internal
def _free(room: Room, size: int, j: int) -> int:
    """Add job j to the removed jobs if it is not among them and there is room; return their number."""
    if room.is_free[j] or size == room.free.size:
        return size
    room.is_free[j] = True
    room.free[size] = j
    return size + 1


@internal
def _shift(draw: float, jobs: Jobs, n: int) -> int:
    """Return where a search through the first n jobs begins: at a random job, or with the first one if that is not among them.

    The jobs that were released first are so preferred: they wait longest.
    """
    shift = int(draw * jobs.release.size)
    return shift if shift < n else 0


@internal
def _insert(room: Room, size: int, most: int, number: int) -> int:
    """Insert a number into ``room.free[:size]``, which is sorted and keeps the ``most`` least ones; return the new size."""
    if size == most:
        if most == 0 or number >= room.free[most - 1]:
            return size
        size -= 1
    k = size
    while k > 0 and room.free[k - 1] > number:
        room.free[k] = room.free[k - 1]
        k -= 1
    room.free[k] = number
    return size + 1


@internal
def _first_from(known: Known, places: Places, t: int) -> int:
    """Return the index in ``by_start`` of the first job that starts at t or later."""
    low, high = 0, known.by_start.size
    while low < high:
        middle = (low + high) // 2
        if places.starts[known.by_start[middle]] < t:
            low = middle + 1
        else:
            high = middle
    return low


@internal
def _released_by(jobs: Jobs, known: Known, t: int) -> int:
    """Return the number of jobs that are released by t; they are the first ones of ``by_release``."""
    low, high = 0, known.by_release.size
    while low < high:
        middle = (low + high) // 2
        if jobs.release[known.by_release[middle]] <= t:
            low = middle + 1
        else:
            high = middle
    return low


@internal
def _idle_moment(profile: Profile, known: Known, pairs: int, draw: Floats) -> tuple[int, int]:
    """Return a node and a time: the pair with the most free amounts of some random ones."""
    node, moment, most = 0, known.begin, -1.0
    for k in range(pairs):
        n = int(draw[PAIR_NODE + k] * profile.length.size)
        t = known.begin + int(draw[PAIR_TIME + k] * (known.end - known.begin))
        i = segment(profile, n, t)
        free = 0.0
        for r in range(profile.free.shape[2]):
            free += profile.free[n, i, r]
        if free > most:
            node, moment, most = n, t, free
    return node, moment


@internal
def _mark_nodes(profile: Profile, room: Room, node: int, more: int, draw: Floats) -> None:
    """Mark this node and some random ones as the nodes of the step: fewer than ``more``, small numbers more often."""
    for n in range(room.target.size):
        room.target[n] = 0
    room.target[node] = 1
    for k in range(int(draw[NODES] * draw[NODES] * min(profile.length.size, more))):
        room.target[int(draw[NODE + k] * profile.length.size)] = 1


@internal
def _uses_target(jobs: Jobs, places: Places, room: Room, j: int) -> bool:
    """Return whether a unit of job j is on a marked node."""
    for u in range(jobs.first_unit[j], jobs.first_unit[j + 1]):
        if room.target[places.nodes[u]] == 1:
            return True
    return False


@internal
def _free_around(
    profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, row: DestroyRow, draw: Floats
) -> int:
    """Choose jobs on some nodes around a time, and some waiting jobs; return their number.

    If there are too many, those count that follow a random job in the order of indices. As the jobs around a time have
    near indices, these are mostly the first submitted ones; any random ones gain less.
    """
    node, t = _idle_moment(profile, known, row.pairs, draw)
    _mark_nodes(profile, room, node, row.nodes, draw)
    longest = max(row.least_window, (known.end - known.begin) * row.window_share)
    width = int(row.least_window * (longest / row.least_window) ** draw[WINDOW])
    most, size, n = min(room.free.size, _between(row.jobs_from, row.jobs_below, draw[JOBS])), 0, jobs.release.size
    shift = int(draw[JOBS_FROM] * n)
    for k in range(_first_from(known, places, t - width - known.longest), _first_from(known, places, t + width)):
        j = known.by_start[k]
        start = places.starts[j]  # an earlier step may have changed it
        if start == POSTPONED or start >= t + width or start + jobs.duration[j] <= t - width:
            continue
        if _uses_target(jobs, places, room, j):
            size = _insert(room, size, most, (j - shift) % n)
    for k in range(size):
        j = (room.free[k] + shift) % n
        room.free[k], room.is_free[j] = j, True
    return _add_waiting(jobs, places, known, room, size, row, t + width, draw)


@internal
def _free_consecutive(
    profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, row: DestroyRow, draw: Floats
) -> int:
    """Choose jobs with consecutive starts around an idle time, and some waiting jobs; return their number."""
    n = known.by_start.size
    _, t = _idle_moment(profile, known, row.pairs, draw)
    size = min(n, room.free.size, _between(row.jobs_from, row.jobs_below, draw[JOBS]))
    first = min(max(0, _first_from(known, places, t) - int(draw[JOBS_FROM] * size)), n - size)
    for k in range(size):
        _free(room, k, known.by_start[first + k])
    return _add_waiting(jobs, places, known, room, size, row, t, draw)


@internal
def _waiting_job(jobs: Jobs, places: Places, known: Known, t: int, candidates: int, draw: float) -> int:
    """Return the largest of some jobs released by t that start later or are postponed; -1 if there is none."""
    n, found, most, seen = _released_by(jobs, known, t), -1, -1.0, 0
    shift = _shift(draw, jobs, n)
    for i in range(n):
        j = known.by_release[(i + shift) % n]
        if places.starts[j] == POSTPONED or places.starts[j] > t:
            area = known.share[j] * jobs.units[j] * jobs.duration[j]
            if area > most:
                found, most = j, area
            seen += 1
            if seen == candidates:
                break
    return found


@internal
def _used(profile: Profile, machine: Machine, n: int, begin: int, end: int) -> float:
    """Return how much of the first resource of node n is in use in [begin, end), in amount-seconds."""
    total = 0.0
    i = segment(profile, n, begin)
    while i < profile.length[n] and profile.time[n, i] < end:
        following = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
        total += (min(end, following) - max(begin, profile.time[n, i])) * (
            machine.capacity[n, 0] - profile.free[n, i, 0]
        )
        i += 1
    return total


@internal
def _free_room(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    row: DestroyRow,
    draw: Floats,
) -> int:
    """Choose a job that waits at an idle time, then the jobs on nodes it could use; return their number."""
    _, t = _idle_moment(profile, known, row.pairs, draw)
    chosen = _waiting_job(jobs, places, known, t, row.candidates, draw[WAITING_FROM])
    if chosen < 0:
        return 0
    end = min(known.end, t + jobs.duration[chosen])
    fill_most(machine, room.fit, jobs.request[chosen], jobs.units[chosen])
    for n in range(room.target.size):
        room.fit.score[n] = _used(profile, machine, n, t, end) if room.fit.most[n] > 0 else np.inf
    for n in range(room.target.size):
        room.target[n] = 0
    left = jobs.units[chosen]
    sort_places(room.fit.score, room.target.size, room.sorted)
    for k in range(room.target.size):
        n = room.sorted[k]
        if left > 0:
            room.target[n] = 1
            left -= room.fit.most[n]
    size = _free(room, 0, chosen)
    for k in range(_first_from(known, places, t - known.longest), known.by_start.size):
        j = known.by_start[k]
        if places.starts[j] >= end:
            break
        if j != chosen and places.starts[j] + jobs.duration[j] > t and _uses_target(jobs, places, room, j):
            if size == room.free.size:
                break
            size = _free(room, size, j)
    return size


@internal
def _add_waiting(
    jobs: Jobs, places: Places, known: Known, room: Room, size: int, row: DestroyRow, t: int, draw: Floats
) -> int:
    """Choose more jobs released before t that start at t or later or are postponed; return the new number."""
    wanted = min(room.free.size, size + _between(row.waiting_from, row.waiting_below, draw[WAITING]))
    n, best, seen = _released_by(jobs, known, t - 1), -1, 0
    shift = _shift(draw[WAITING_FROM], jobs, n)
    for i in range(n):
        if size >= wanted:
            break
        j = known.by_release[(i + shift) % n]
        if room.is_free[j] or (places.starts[j] != POSTPONED and places.starts[j] < t):
            continue
        if best < 0 or known.rank[j] < known.rank[best]:
            best = j
        seen += 1
        if seen == row.candidates:
            size = _free(room, size, best)
            best, seen = -1, 0
    if best >= 0 and size < wanted:  # fewer candidates than wanted
        size = _free(room, size, best)
    return size


@internal
def choose(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    values: Floats,
    given: Ints,
    draw: Floats,
) -> int:
    """Write the jobs that a destroy operator removes to ``room.free`` and mark them; return their number.

    Parameters
    ----------
    profile, machine, jobs, places, known
        The schedule, the problem, and the data that a step reads.
    room
        Output: ``free`` and ``is_free``.
    values
        A ``DestroyRow``, shape (fields,).
    given
        The jobs for ``GIVEN``.
    draw
        Random numbers of the step.
    """
    row = _row_of(values)
    if row.kind == AROUND:
        return _free_around(profile, jobs, places, known, room, row, draw)
    if row.kind == CONSECUTIVE:
        return _free_consecutive(profile, jobs, places, known, room, row, draw)
    if row.kind == ROOM:
        return _free_room(profile, machine, jobs, places, known, room, row, draw)
    size = 0
    for k in range(given.size):
        size = _free(room, size, given[k])
    return size


@compiled
def chosen_alone(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    values: Floats,
    draw: Floats,
) -> int:
    """Return ``choose`` for calls from Python, which are needed only beside repair operators in Python."""
    return choose(profile, machine, jobs, places, known, room, values, room.free[:0], draw)
