"""Ruin and recreate: remove some jobs from a schedule, insert them again, keep the result if it is not much worse.

1. Each step: choose a time and a node that are idle: the idlest of ``NEEDLES`` random pairs.
2. Choose at most ``MOST`` jobs to remove, in one of three ways: jobs on some nodes around that time, with some waiting
   jobs (``_free_around``); jobs with consecutive starts around that time, with some waiting jobs
   (``_free_neighbours``); one waiting job and the jobs on the nodes where it could run at that time (``_free_for``).
3. Sort them by one of ``KEYS`` kinds of keys: random, area, width, duration, old start, release, power per profit, ...
4. Remove them from the profile and place them in that order, each at its earliest start.
5. Accept if all jobs are placed and the objective is at most ``slack`` worse, else restore the old schedule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.compiled import compiled
from .earliest import Scratch, fill_most, new_scratch
from .earnings import book, cooling_cost
from .placement import EARNINGS, POSTPONED, Bools, Costs, Hopeless, Jobs, cost, new_hopeless, place, put
from .profile import NEVER, Floats, Ints, Machine, Profile, new_profile, segment

MOST = 40  # most jobs that a step removes
NEEDLES = 12  # random (node, time) pairs of which the idlest is chosen
DRAWS = 8  # random numbers of a step, beside one per removed job
KEYS = 8  # kinds of keys by which the removed jobs are sorted
LEAST_WINDOW = 120.0  # seconds
CANDIDATES = 6  # waiting jobs of which the largest is chosen


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
        Index, key and old start in seconds of each removed job, shape (MOST,).
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
def new_room(machine: Machine, jobs: Jobs, places: Places) -> Room:
    """Return scratch arrays for this problem."""
    nodes = machine.capacity.shape[0]
    return Room(
        np.empty(MOST, np.int64),
        np.zeros(places.starts.size, np.bool_),
        np.empty(MOST, np.float64),
        np.empty(MOST, np.int64),
        np.empty(places.nodes.size, np.int64),
        places.joules.copy(),
        np.zeros(nodes, np.int64),
        new_scratch(nodes),
        new_hopeless(jobs, 64),
    )


@compiled
def profile_of(machine: Machine, jobs: Jobs, places: Places) -> Profile:
    """Return the profile of the nodes with all scheduled jobs."""
    profile = new_profile(machine, 64)
    for j in range(places.starts.size):
        profile = _put(profile, jobs, places, j, 1)
    return profile


@compiled
def _put(profile: Profile, jobs: Jobs, places: Places, j: int, sign: int) -> Profile:
    """Subtract job j from the profile where it is scheduled (sign 1) or add it again (sign -1)."""
    if places.starts[j] == POSTPONED:
        return profile
    return put(profile, jobs, j, places.starts[j], places.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]], sign)


@compiled
def _book(costs: Costs, jobs: Jobs, places: Places, j: int, sign: float) -> float:
    """Return what job j adds to (sign 1) or takes from (-1) the objective at its start, without its cooling."""
    start = places.starts[j]
    if start == POSTPONED:
        return 0.0
    if costs.mode == EARNINGS:
        return -book(costs.ledger, j, start, start + jobs.duration[j], sign, places.joules)
    return sign * cost(costs, jobs, j, start)


@compiled
def _fraction(draw: float, k: int) -> float:
    """Return the k-th number in [0, 1) derived from one random number."""
    return (draw * (7919.0 + 97.31 * k) + 0.618 * k) % 1.0


@compiled
def _free(room: Room, size: int, j: int) -> int:
    """Add job j to the removed jobs if it is not among them; return their number."""
    if room.is_free[j]:
        return size
    room.is_free[j] = True
    room.free[size] = j
    return size + 1


@compiled
def _idle_moment(profile: Profile, known: Known, draw: Floats) -> tuple[int, int]:
    """Return a node and a time: the pair with the most free amounts of ``NEEDLES`` random ones."""
    node, moment, most = 0, known.begin, -1.0
    for k in range(NEEDLES):
        n = int(_fraction(draw[0], k) * profile.length.size)
        t = known.begin + int(_fraction(draw[1], k) * (known.end - known.begin))
        i = segment(profile, n, t)
        free = float(profile.free[n, i, :].sum())
        if free > most:
            node, moment, most = n, t, free
    return node, moment


@compiled
def _mark_nodes(profile: Profile, room: Room, node: int, draw: float) -> None:
    """Mark this node and some random ones as the nodes of the step."""
    room.target[:] = 0
    room.target[node] = 1
    for k in range(int(draw * draw * min(profile.length.size, 12))):
        room.target[int(_fraction(draw, k) * profile.length.size)] = 1


@compiled
def _uses_target(jobs: Jobs, places: Places, room: Room, j: int) -> bool:
    """Return whether a unit of job j is on a marked node."""
    for u in range(jobs.first_unit[j], jobs.first_unit[j + 1]):
        if room.target[places.nodes[u]] == 1:
            return True
    return False


@compiled
def _free_around(profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, draw: Floats) -> int:
    """Choose jobs on some nodes around an idle time, and some waiting jobs; return their number."""
    node, t = _idle_moment(profile, known, draw)
    _mark_nodes(profile, room, node, draw[2])
    longest = max(LEAST_WINDOW, (known.end - known.begin) / 3.0)
    width = int(LEAST_WINDOW * (longest / LEAST_WINDOW) ** draw[3])
    n, size = places.starts.size, 0
    most = 4 + int(draw[4] * (MOST // 2 - 4))
    shift = int(draw[5] * n)
    for i in range(n):
        j = (i + shift) % n
        start = places.starts[j]
        if start == POSTPONED or start >= t + width or start + jobs.duration[j] <= t - width:
            continue
        if size < most and _uses_target(jobs, places, room, j):
            size = _free(room, size, j)
    return _add_waiting(jobs, places, room, size, 1 + int(draw[6] * 11), t + width, draw[5])


@compiled
def _free_neighbours(profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, draw: Floats) -> int:
    """Choose jobs with consecutive starts around an idle time, and some waiting jobs; return their number."""
    n = known.by_start.size
    _, t = _idle_moment(profile, known, draw)
    size = min(n, 4 + int(draw[4] * (MOST - 12)))
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if places.starts[known.by_start[middle]] < t:
            low = middle + 1
        else:
            high = middle
    first = min(max(0, low - int(draw[3] * size)), n - size)
    for k in range(size):
        _free(room, k, known.by_start[first + k])
    return _add_waiting(jobs, places, room, size, int(draw[2] * 8), t, draw[5])


@compiled
def _waiting_job(jobs: Jobs, places: Places, known: Known, t: int, draw: float) -> int:
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
            if seen == CANDIDATES:
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
def _free_for(
    profile: Profile, machine: Machine, jobs: Jobs, places: Places, known: Known, room: Room, draw: Floats
) -> int:
    """Choose a job that waits at an idle time, then the jobs on nodes it could use; return their number."""
    _, t = _idle_moment(profile, known, draw)
    chosen = _waiting_job(jobs, places, known, t, draw[5])
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
            if size == MOST:
                break
            size = _free(room, size, j)
    return size


@compiled
def _add_waiting(jobs: Jobs, places: Places, room: Room, size: int, more: int, t: int, draw: float) -> int:
    """Choose more jobs released before t that start at t or later or are postponed; return the new number."""
    n, wanted = places.starts.size, min(MOST, size + more)
    shift = int(_fraction(draw, 1) * n)
    for i in range(n):
        j = (i + shift) % n
        if size >= wanted:
            break
        if jobs.release[j] < t and (places.starts[j] == POSTPONED or places.starts[j] >= t):
            size = _free(room, size, j)
    return size


@compiled
def _keys(jobs: Jobs, costs: Costs, places: Places, known: Known, room: Room, size: int, draw: Floats) -> None:
    """Set the keys by which the removed jobs are placed again."""
    kind = int(draw[7] * KEYS)
    for k in range(size):
        j, noise = room.free[k], draw[DRAWS + k]
        work = known.share[j] * jobs.units[j]
        key = noise
        if kind == 1:
            key = -work * max(1, jobs.duration[j]) * (0.5 + noise)
        elif kind == 2:
            key = -work * (0.7 + 0.6 * noise)
        elif kind == 3:
            key = -jobs.duration[j] * (0.5 + noise)
        elif kind == 4:
            key = float(known.end if places.starts[j] == POSTPONED else places.starts[j])
        elif kind == 5:
            key = float(jobs.release[j])
        elif kind == 6 and costs.mode == EARNINGS:
            key = costs.ledger.watts[j] / max(1e-12, costs.ledger.gain[j]) * (0.95 + 0.1 * noise)
        elif kind == 6:
            key = -costs.weight[j] / max(1e-12, work * max(1, jobs.duration[j])) * (0.5 + noise)
        elif kind == 7:
            key = places.starts[j] + (noise - 0.5) * 0.2 * (known.end - known.begin)
        room.key[k] = key


@compiled
def _take_out(
    profile: Profile, jobs: Jobs, costs: Costs, places: Places, room: Room, size: int
) -> tuple[Profile, float]:
    """Remove the chosen jobs and save their places; return the profile and the change of the objective."""
    change, at = 0.0, 0
    room.joules[:] = places.joules
    for k in range(size):
        j = room.free[k]
        first, last = jobs.first_unit[j], jobs.first_unit[j + 1]
        room.starts[k] = places.starts[j]
        room.nodes[at : at + last - first] = places.nodes[first:last]
        at += last - first
        change += _book(costs, jobs, places, j, -1.0)
        profile = _put(profile, jobs, places, j, -1)
    return profile, change


@compiled
def _put_back(profile: Profile, jobs: Jobs, places: Places, room: Room, size: int) -> Profile:
    """Restore the saved places of the removed jobs; return the profile."""
    for k in range(size):
        profile = _put(profile, jobs, places, room.free[k], -1)
    at = 0
    for k in range(size):
        j = room.free[k]
        first, last = jobs.first_unit[j], jobs.first_unit[j + 1]
        places.starts[j] = room.starts[k]
        places.nodes[first:last] = room.nodes[at : at + last - first]
        at += last - first
        profile = _put(profile, jobs, places, j, 1)
    places.joules[:] = room.joules
    return profile


@compiled
def _put_in(
    profile: Profile, machine: Machine, jobs: Jobs, costs: Costs, places: Places, room: Room, size: int
) -> tuple[Profile, float, bool]:
    """Place the removed jobs by key; return the profile, the change of the objective, and if all are placed."""
    change, complete = 0.0, True
    room.hopeless.end[:] = 0
    for k in np.argsort(room.key[:size]):
        j = room.free[k]
        chosen = places.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        places.starts[j], profile = place(profile, machine, jobs, room.fit, room.hopeless, None, j, -NEVER, chosen)
        if places.starts[j] == POSTPONED and not costs.may_postpone[j]:
            complete = False
        change += _book(costs, jobs, places, j, 1.0)
    return profile, change, complete


@compiled
def _cooling_change(costs: Costs, places: Places, room: Room) -> float:
    """Return the change of the cooling cost in euro against the saved energy."""
    change = 0.0
    if costs.mode == EARNINGS:
        for s in range(places.joules.size):
            if places.joules[s] != room.joules[s]:
                change += cooling_cost(costs.ledger, s, places.joules[s]) - cooling_cost(
                    costs.ledger, s, room.joules[s]
                )
    return change


@compiled
def ruin_and_recreate(
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    places: Places,
    profile: Profile,
    known: Known,
    room: Room,
    draws: Floats,
    slack: float,
    stop: Ints,
) -> tuple[Profile, float]:
    """Make one step per row of ``draws``; return the profile and the change of the objective.

    Parameters
    ----------
    machine, jobs, costs
        The problem, see ``Arrays``.
    places, profile
        The schedule and its profile; both are changed in place.
    known, room
        Data that the steps read, and scratch arrays.
    draws
        Random numbers in [0, 1), shape (steps, DRAWS + MOST).
    slack
        A step is accepted if the objective becomes at most this much worse, so the caller keeps the best schedule.
    stop
        ``stop`` of a ``Clock``; no further step if it is set.
    """
    total = 0.0
    for d in range(draws.shape[0]):
        if stop[0] != 0:
            break
        draw = draws[d]
        which = _fraction(draw[6], 3)
        if which < 0.3:
            size = _free_around(profile, jobs, places, known, room, draw)
        elif which < 0.6:
            size = _free_neighbours(profile, jobs, places, known, room, draw)
        else:
            size = _free_for(profile, machine, jobs, places, known, room, draw)
        _keys(jobs, costs, places, known, room, size, draw)
        if which >= 0.6 and size > 0:
            room.key[0] = -np.inf
        profile, less = _take_out(profile, jobs, costs, places, room, size)
        profile, more, complete = _put_in(profile, machine, jobs, costs, places, room, size)
        change = less + more + _cooling_change(costs, places, room)
        if complete and change <= slack:
            total += change
        else:
            profile = _put_back(profile, jobs, places, room, size)
        room.is_free[room.free[:size]] = False
    return profile, total
