"""Destroy operators: the jobs that a step of ruin and recreate removes from a schedule.

``AROUND``, ``CONSECUTIVE`` and ``ROOM`` look for an idle time first: the idlest of some random (node, time) pairs.
``GIVEN`` removes the jobs that the caller names. ``lns.destroy`` describes the operators and their parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.compiled import compiled
from .earliest import Scratch, fill_most, new_scratch
from .placement import POSTPONED, Bools, Hopeless, Jobs, new_hopeless
from .profile import NEVER, Floats, Ints, Machine, Profile, segment

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
        Number of waiting jobs of which the largest is chosen.
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


@compiled
def row_of(values: Floats) -> DestroyRow:
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
    )


class Places(NamedTuple):
    """A schedule that the steps change in place.

    Parameters
    ----------
    starts, nodes
        Start of each job in seconds (``POSTPONED``: none), shape (jobs,); node of each unit, shape (units of all
        jobs,).
    joules
        Energy of the jobs per segment of the ledger in joules, shape (segments,); empty without a ledger.
    """

    starts: Ints
    nodes: Ints
    joules: Floats


class Known(NamedTuple):
    """Data that a step reads beside the schedule.

    Parameters
    ----------
    by_start
        Indices of the scheduled jobs by start, shape (scheduled jobs,).
    share
        Share of the platform of one unit of each job, shape (jobs,).
    begin, end
        Time range in seconds in which idle times are searched.
    """

    by_start: Ints
    share: Floats
    begin: int
    end: int


class Room(NamedTuple):
    """Scratch arrays of a step.

    Parameters
    ----------
    free, key, starts
        Index, key and old start in seconds of each removed job, shape (most removed jobs,).
    is_free
        Whether a job is removed, shape (jobs,).
    nodes, joules
        Old nodes of the removed jobs' units, one job after another; old energy per segment; shapes as in ``Places``.
    target
        1 for each node that the step chose, else 0, shape (nodes,).
    fit, hopeless
        Scratch arrays over nodes; hopeless times of the kinds of jobs.
    """

    free: Ints
    is_free: Bools
    key: Floats
    starts: Ints
    nodes: Ints
    joules: Floats
    target: Ints
    fit: Scratch
    hopeless: Hopeless


@compiled
def new_room(machine: Machine, jobs: Jobs, places: Places, most: int) -> Room:
    """Return scratch arrays for this problem and at most ``most`` removed jobs."""
    nodes = machine.capacity.shape[0]
    return Room(
        np.empty(most, np.int64),
        np.zeros(places.starts.size, np.bool_),
        np.empty(most, np.float64),
        np.empty(most, np.int64),
        np.empty(places.nodes.size, np.int64),
        places.joules.copy(),
        np.zeros(nodes, np.int64),
        new_scratch(nodes),
        new_hopeless(jobs, 64),
    )


@compiled
def _between(first: int, below: int, draw: float) -> int:
    """Return a whole number in [first, below), by a random number in [0, 1)."""
    return first + int(draw * (below - first))


@compiled
def _free(room: Room, size: int, j: int) -> int:
    """Add job j to the removed jobs if it is not among them and there is room; return their number."""
    if room.is_free[j] or size == room.free.size:
        return size
    room.is_free[j] = True
    room.free[size] = j
    return size + 1


@compiled
def _idle_moment(profile: Profile, known: Known, pairs: int, draw: Floats) -> tuple[int, int]:
    """Return a node and a time: the pair with the most free amounts of some random ones."""
    node, moment, most = 0, known.begin, -1.0
    for k in range(pairs):
        n = int(draw[PAIR_NODE + k] * profile.length.size)
        t = known.begin + int(draw[PAIR_TIME + k] * (known.end - known.begin))
        i = segment(profile, n, t)
        free = float(profile.free[n, i, :].sum())
        if free > most:
            node, moment, most = n, t, free
    return node, moment


@compiled
def _mark_nodes(profile: Profile, room: Room, node: int, more: int, draw: Floats) -> None:
    """Mark this node and some random ones as the nodes of the step: fewer than ``more``, small numbers more often."""
    room.target[:] = 0
    room.target[node] = 1
    for k in range(int(draw[NODES] * draw[NODES] * min(profile.length.size, more))):
        room.target[int(draw[NODE + k] * profile.length.size)] = 1


@compiled
def _uses_target(jobs: Jobs, places: Places, room: Room, j: int) -> bool:
    """Return whether a unit of job j is on a marked node."""
    for u in range(jobs.first_unit[j], jobs.first_unit[j + 1]):
        if room.target[places.nodes[u]] == 1:
            return True
    return False


@compiled
def _free_around(
    profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, row: DestroyRow, draw: Floats
) -> int:
    """Choose jobs on some nodes around an idle time, and some waiting jobs; return their number."""
    node, t = _idle_moment(profile, known, row.pairs, draw)
    _mark_nodes(profile, room, node, row.nodes, draw)
    longest = max(row.least_window, (known.end - known.begin) * row.window_share)
    width = int(row.least_window * (longest / row.least_window) ** draw[WINDOW])
    n, size = places.starts.size, 0
    most = _between(row.jobs_from, row.jobs_below, draw[JOBS])
    shift = int(draw[JOBS_FROM] * n)
    for i in range(n):
        j = (i + shift) % n
        start = places.starts[j]
        if start == POSTPONED or start >= t + width or start + jobs.duration[j] <= t - width:
            continue
        if size < most and _uses_target(jobs, places, room, j):
            size = _free(room, size, j)
    return _add_waiting(jobs, places, room, size, row, t + width, draw)


@compiled
def _free_consecutive(
    profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, row: DestroyRow, draw: Floats
) -> int:
    """Choose jobs with consecutive starts around an idle time, and some waiting jobs; return their number."""
    n = known.by_start.size
    _, t = _idle_moment(profile, known, row.pairs, draw)
    size = min(n, room.free.size, _between(row.jobs_from, row.jobs_below, draw[JOBS]))
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if places.starts[known.by_start[middle]] < t:
            low = middle + 1
        else:
            high = middle
    first = min(max(0, low - int(draw[JOBS_FROM] * size)), n - size)
    for k in range(size):
        _free(room, k, known.by_start[first + k])
    return _add_waiting(jobs, places, room, size, row, t, draw)


@compiled
def _waiting_job(jobs: Jobs, places: Places, known: Known, t: int, candidates: int, draw: float) -> int:
    """Return the largest of some jobs released by t that start later or are postponed; -1 if there is none."""
    n, found, most, seen = places.starts.size, -1, -1.0, 0
    shift = int(draw * n)
    for i in range(n):
        j = (i + shift) % n
        if jobs.release[j] <= t and (places.starts[j] == POSTPONED or places.starts[j] > t):
            area = known.share[j] * jobs.units[j] * jobs.duration[j]
            if area > most:
                found, most = j, area
            seen += 1
            if seen == candidates:
                break
    return found


@compiled
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


@compiled
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
    room.target[:] = 0
    left = jobs.units[chosen]
    for n in np.argsort(room.fit.score):
        if left > 0:
            room.target[n] = 1
            left -= room.fit.most[n]
    size = _free(room, 0, chosen)
    for k in range(known.by_start.size):
        j = known.by_start[k]
        if places.starts[j] >= end:
            break
        if j != chosen and places.starts[j] + jobs.duration[j] > t and _uses_target(jobs, places, room, j):
            if size == room.free.size:
                break
            size = _free(room, size, j)
    return size


@compiled
def _add_waiting(jobs: Jobs, places: Places, room: Room, size: int, row: DestroyRow, t: int, draw: Floats) -> int:
    """Choose more jobs released before t that start at t or later or are postponed; return the new number."""
    n = places.starts.size
    wanted = min(room.free.size, size + _between(row.waiting_from, row.waiting_below, draw[WAITING]))
    shift = int(draw[WAITING_FROM] * n)
    for i in range(n):
        j = (i + shift) % n
        if size >= wanted:
            break
        if jobs.release[j] < t and (places.starts[j] == POSTPONED or places.starts[j] >= t):
            size = _free(room, size, j)
    return size


@compiled
def choose(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    row: DestroyRow,
    given: Ints,
    draw: Floats,
) -> int:
    """Write the jobs that a destroy operator removes to ``room.free`` and mark them; return their number."""
    if row.kind == AROUND:
        return _free_around(profile, jobs, places, known, room, row, draw)
    if row.kind == CONSECUTIVE:
        return _free_consecutive(profile, jobs, places, known, room, row, draw)
    if row.kind == ROOM:
        return _free_room(profile, machine, jobs, places, known, room, row, draw)
    size = 0
    for j in given:
        size = _free(room, size, j)
    return size
