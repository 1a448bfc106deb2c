"""Ruin and recreate, compiled: some jobs of a schedule are freed and put in again; what is no worse stays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.compiled import compiled
from .earliest import Scratch, fill_most, new_scratch
from .earnings import book, cooling_cost
from .placement import EARNINGS, POSTPONED, Bools, Costs, Hopeless, Jobs, cost, new_hopeless, place, put
from .profile import NEVER, Floats, Ints, Machine, Profile, new_profile, segment

MOST = 40  # jobs that a step frees
NEEDLES = 12  # moments that are looked at to find an idle one
DRAWS = 8  # random numbers of a step, beside one per freed job
KEYS = 8  # ways to order the freed jobs
LEAST_WINDOW = 120.0  # seconds
CANDIDATES = 6  # waiting jobs of which the largest is tried


class Places(NamedTuple):
    """Where the jobs are: starts (POSTPONED: not at all), nodes of all units, joules of work per segment of a ledger."""

    starts: Ints
    nodes: Ints
    joules: Floats


class Known(NamedTuple):
    """What a step looks at beside the schedule: the jobs by start, the share of the platform that each takes."""

    by_start: Ints
    share: Floats
    begin: int
    end: int


class Room(NamedTuple):
    """Scratch of a step: the free jobs, their keys, where they were, the nodes that the step is about."""

    free: Ints
    is_free: Bools  # of each job
    key: Floats
    starts: Ints
    nodes: Ints
    joules: Floats
    about: Ints
    fit: Scratch
    hopeless: Hopeless


@compiled
def new_room(machine: Machine, jobs: Jobs, places: Places) -> Room:
    """Room for steps on this problem."""
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
    """What the jobs leave free."""
    profile = new_profile(machine, 64)
    for j in range(places.starts.size):
        profile = _put(profile, jobs, places, j, 1)
    return profile


@compiled
def _put(profile: Profile, jobs: Jobs, places: Places, j: int, sign: int) -> Profile:
    if places.starts[j] == POSTPONED:
        return profile
    return put(profile, jobs, j, places.starts[j], places.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]], sign)


@compiled
def _book(costs: Costs, jobs: Jobs, places: Places, j: int, sign: float) -> float:
    """What job j adds to (sign 1) or takes from (-1) the objective where it is now, its cooling aside."""
    start = places.starts[j]
    if start == POSTPONED:
        return 0.0
    if costs.mode == EARNINGS:
        return -book(costs.ledger, j, start, start + jobs.duration[j], sign, places.joules)
    return sign * cost(costs, jobs, j, start)


@compiled
def _fraction(draw: float, k: int) -> float:
    """Further numbers in [0, 1) out of one that is drawn."""
    return (draw * (7919.0 + 97.31 * k) + 0.618 * k) % 1.0


@compiled
def _free(room: Room, size: int, j: int) -> int:
    """Note that job j is free, once; how many are."""
    if room.is_free[j]:
        return size
    room.is_free[j] = True
    room.free[size] = j
    return size + 1


@compiled
def _idle_moment(profile: Profile, known: Known, draw: Floats) -> tuple[int, int]:
    """A node and a moment, the idlest of a few."""
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
    """The step is about this node and some others."""
    room.about[:] = 0
    room.about[node] = 1
    for k in range(int(draw * draw * min(profile.length.size, 12))):
        room.about[int(_fraction(draw, k) * profile.length.size)] = 1


@compiled
def _is_about(jobs: Jobs, places: Places, room: Room, j: int) -> bool:
    for u in range(jobs.first_unit[j], jobs.first_unit[j + 1]):
        if room.about[places.nodes[u]] == 1:
            return True
    return False


@compiled
def _free_around(profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, draw: Floats) -> int:
    """Free what runs on some nodes around an idle moment, and some that wait beyond it; how many."""
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
        if size < most and _is_about(jobs, places, room, j):
            size = _free(room, size, j)
    return _add_waiting(jobs, places, room, size, 1 + int(draw[6] * 11), t + width, draw[5])


@compiled
def _free_neighbours(profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, draw: Floats) -> int:
    """Free jobs that start one after another around an idle moment, and some that wait beyond it; how many."""
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
    """The largest of some jobs that were released by t and are parked or start later; -1 if there is none."""
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
    """How much of a node is in use in [begin, end), in amount-seconds of its first resource."""
    total = 0.0
    i = segment(profile, n, begin)
    while i < profile.length[n] and profile.time[n, i] < end:
        until = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
        total += (min(end, until) - max(begin, profile.time[n, i])) * (machine.capacity[n, 0] - profile.free[n, i, 0])
        i += 1
    return total


@compiled
def _free_for(
    profile: Profile, machine: Machine, jobs: Jobs, places: Places, known: Known, room: Room, draw: Floats
) -> int:
    """Free a job that waits at an idle moment, and what runs where it could run instead; how many. It is put in first."""
    _, t = _idle_moment(profile, known, draw)
    chosen = _waiting_job(jobs, places, known, t, draw[5])
    if chosen < 0:
        return 0
    end = min(known.end, t + jobs.duration[chosen])
    fill_most(machine, room.fit, jobs.request[chosen], jobs.units[chosen])
    for n in range(room.about.size):
        room.fit.score[n] = _used(profile, machine, n, t, end) if room.fit.most[n] > 0 else np.inf
    room.about[:] = 0
    left = jobs.units[chosen]
    for n in np.argsort(room.fit.score):
        if left > 0:
            room.about[n] = 1
            left -= room.fit.most[n]
    size = _free(room, 0, chosen)
    for k in range(known.by_start.size):
        j = known.by_start[k]
        if places.starts[j] >= end:
            break
        if j != chosen and places.starts[j] + jobs.duration[j] > t and _is_about(jobs, places, room, j):
            if size == MOST:
                break
            size = _free(room, size, j)
    return size


@compiled
def _add_waiting(jobs: Jobs, places: Places, room: Room, size: int, more: int, t: int, draw: float) -> int:
    """Free some jobs that were released by t and are parked or start later; the new size."""
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
    """The keys by which the free jobs are put in again."""
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
    """The free jobs leave the profile; where they were is kept. The profile, and by how much the objective changes."""
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
    """The free jobs go back to where they were."""
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
    """Place the free jobs by their keys: the profile, the change of the objective, False if one finds no place."""
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
    """A step per row of ``draws``; one that makes the objective at most ``slack`` worse stays. The profile, the change.

    With a slack, the best is for the caller to keep: between two calls. ``stop`` (of a ``Clock``): no further step.
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
