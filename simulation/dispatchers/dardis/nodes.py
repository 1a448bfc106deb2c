"""The side of the nodes: fitting index, generators of start times, node managers [Bridi2018, 5.3]."""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ....errors import WrongValue
from ....heuristics.kernels.profile import NEVER, Profile, grown, occupy, segment
from ....models.array_types import Bools, Floats, Ints
from ....models.compiled import compiled, internal, internal_borrowing
from ....models.desired_profile import ProfileArrays
from .messages import GENERATORS, Answering, Event, Extend, Limits, Offers, Placement, Release, Request, Wish, no_offers

# --- Random numbers that are functions of what they are drawn for.
#
# A draw depends on the seed, the job, the window and the node, never on earlier draws. So decisions do not depend on how
# node managers are spread over processes, nor on the order of messages. The mixing function is that of SplitMix64 [Steele2014].

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
S30 = np.uint64(30)
S27 = np.uint64(27)
S31 = np.uint64(31)
S11 = np.uint64(11)
UNIT = 1.0 / (1 << 53)


def key_of(*parts: object) -> int:
    """Return a number from 0 to 2**63 - 1 for a text; the same on every machine.

    Examples
    --------
    >>> key_of(1, "job-7") == key_of(1, "job-7"), key_of(1, "job-7") == key_of(2, "job-7")
    (True, False)
    """
    digest = blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


@internal_borrowing
def mixed(key: int, number: int) -> Any:
    """Return 64 random bits for a key and a number."""
    x = np.uint64(key) + (np.uint64(number) + np.uint64(1)) * STEP
    x = (x ^ (x >> S30)) * FIRST_FACTOR
    x = (x ^ (x >> S27)) * SECOND_FACTOR
    return x ^ (x >> S31)


@internal_borrowing
def uniform(key: int, number: int) -> float:
    """Return a random number in [0, 1) for a key and a number."""
    return float(mixed(key, number) >> S11) * UNIT


@internal_borrowing
def below(key: int, number: int, end: int) -> int:
    """Return a random integer in [0, end)."""
    return min(end - 1, int(uniform(key, number) * end))


@compiled
def chances(key: int, numbers: Any) -> Any:
    """Return a random number in [0, 1) for a key and each of an array of numbers."""
    chance = np.empty(numbers.size)
    for k in range(numbers.size):
        chance[k] = uniform(key, numbers[k])
    return chance


# --- The fitting index of a job unit on a node [Bridi2018, (5.2), (5.3)].
#
#     I(s) = min over t in [s, s + duration) and resources r that the unit requests of
#            min((desired[r](t) - used[r](t)) / request[r], floor((capacity[r] - used[r](t)) / request[r]))
#
# It is how many equal units could start together at s: within the desired profile for the first term, within the
# capacity for the second one. An index of 1 fits exactly, one below 1 exceeds the profile. The printed formulas end at
# t = s + duration; here a run is half-open. The index is a step function of s, and is computed as the minimum over
# a window that slides over the steps of the profiles, in time linear in their number.

MOST = 1e6  # the index of a unit that requests nothing


def unlimited(nodes: int, resources: int) -> Limits:
    """Return limits that allow everything."""
    amount = np.full((1, resources), np.inf)
    return Limits(
        np.zeros(nodes, np.int64), np.array([0, 1]), np.zeros(1, np.int64), amount, np.zeros(1, np.int64)
    )  # fmt: skip


def limits_of(profile: ProfileArrays, resources: int) -> Limits:
    """Return a desired profile as limits: one step function for each node group.

    Parameters
    ----------
    profile : ProfileArrays
        The profile.
    resources : int
        Number of resources of the platform.
    """
    first = [0]
    times = []
    amounts = []
    groups = (profile.first.size - 1) // resources
    for g in range(groups):
        rows = [slice(*profile.first[row : row + 2]) for row in range(g * resources, (g + 1) * resources)]
        own = np.unique(np.concatenate([profile.time[row] for row in rows]))
        step = [profile.amount[row][np.searchsorted(profile.time[row], own, "right") - 1] for row in rows]
        times.append(own)
        amounts.append(np.stack(step, axis=1))
        first.append(first[-1] + own.size)
    period = np.full(groups, profile.period, np.int64)
    return Limits(profile.group, np.array(first, np.int64), np.concatenate(times), np.concatenate(amounts), period)


class Pieces(NamedTuple):
    """Room for step functions: ``low`` to ``high`` (both included) have the value ``fit``."""

    low: Ints
    high: Ints
    fit: Floats


@internal_borrowing
def step_at(limits: Limits, c: int, t: int) -> tuple[int, int]:
    """Return the step of step function c that holds at time t, and the time that is added to its times then."""
    base = 0
    if limits.period[c] > 0:
        base = t // limits.period[c] * limits.period[c]
    lo = limits.first[c]
    hi = limits.first[c + 1]
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if limits.time[middle] <= t - base:
            lo = middle
        else:
            hi = middle
    return lo, base


@internal_borrowing
def _step_end(limits: Limits, c: int, k: int, base: int) -> int:
    """Return the time at which step k ends."""
    if k + 1 < limits.first[c + 1]:
        return int(base + limits.time[k + 1])
    return int(base + limits.period[c]) if limits.period[c] > 0 else NEVER


@internal_borrowing
def _level(free: Ints, capacity: Ints, desired: Floats, request: Ints) -> float:
    """Return the least of both terms of the index over the resources."""
    level = MOST
    for r in range(request.size):
        if request[r] > 0:
            level = min(level, float(free[r] // request[r]))
            level = min(level, (desired[r] - float(capacity[r] - free[r])) / request[r])
    return level


@internal_borrowing
def levels(
    profile: Profile, capacity: Ints, limits: Limits, n: int, request: Ints, begin: int, end: int, out: Pieces
) -> int:
    """Write the index of a unit that lasts one second, in [begin, end); return the number of steps."""
    i = segment(profile, n, begin)
    c = limits.curve[n]
    k, base = step_at(limits, c, begin)
    t, count = begin, 0
    while t < end:
        free_end = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
        desired_end = _step_end(limits, c, k, base)
        until = min(min(free_end, desired_end), end)
        value = _level(profile.free[n, i], capacity[n], limits.amount[k], request)
        if count > 0 and out.fit[count - 1] == value:
            out.high[count - 1] = until - 1
        else:
            out.low[count] = t
            out.high[count] = until - 1
            out.fit[count] = value
            count += 1
        if until == free_end:
            i += 1
        if until == desired_end:
            k, base = step_at(limits, c, until)
        t = until
    return count


@internal_borrowing
def slide(steps: Pieces, m: int, duration: int, low: int, high: int, queue: Ints, out: Pieces, count: int) -> int:
    """Append the minimum of the first m steps over [s, s + duration), for s from low to high; return the new count.

    ``queue``: room for m numbers, the steps under the window that can still be its minimum, in ascending order.
    """
    first = 0
    last = 0
    entered = 0
    s = low
    while s <= high:
        while entered < m and steps.low[entered] - duration + 1 <= s:
            while last > first and steps.fit[queue[last - 1]] >= steps.fit[entered]:
                last -= 1
            queue[last] = entered
            last += 1
            entered += 1
        while steps.high[queue[first]] < s:
            first += 1
        lowest = queue[first]
        until = min(high, steps.high[lowest])
        if entered < m:
            until = min(until, steps.low[entered] - duration)
        value = steps.fit[lowest]
        if count > 0 and out.fit[count - 1] == value and out.high[count - 1] == s - 1:
            out.high[count - 1] = until
        else:
            out.low[count] = s
            out.high[count] = until
            out.fit[count] = value
            count += 1
        s = until + 1
    return count


@internal
def room_for(profile: Profile, limits: Limits, windows: Ints, duration: int) -> int:
    """Return how many steps the index of any node can have over these windows."""
    steps, most = 0, 0
    for c in range(limits.period.size):
        own = limits.first[c + 1] - limits.first[c]
        if limits.period[c] > 0:
            seconds = windows[-1, 1] - windows[0, 0] + duration
            own *= seconds // limits.period[c] + 2
        steps = max(steps, own)
    for n in range(profile.length.size):
        most = max(most, profile.length[n])
    return int(2 * (steps + most + 2) * windows.shape[0])


@internal_borrowing
def index_of(
    profile: Profile,
    capacity: Ints,
    limits: Limits,
    n: int,
    request: Ints,
    duration: int,
    windows: Ints,
    steps: Pieces,
    queue: Ints,
    out: Pieces,
) -> int:
    """Write the fitting index on node n for all starts in the windows; return the number of pieces."""
    count = 0
    for w in range(windows.shape[0]):
        low, high = windows[w, 0], windows[w, 1]
        m = levels(profile, capacity, limits, n, request, low, high + duration, steps)
        count = slide(steps, m, duration, low, high, queue, out, count)
    return count


@internal_borrowing
def hosts(profile: Profile, n: int, request: Ints, duration: int, windows: Ints) -> bool:
    """Return whether node n has room for a unit from some start in the windows on, apart from the desired use."""
    for w in range(windows.shape[0]):
        s = windows[w, 0]
        i = segment(profile, n, windows[w, 0])
        while s <= windows[w, 1]:
            until = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
            room = True
            for r in range(request.size):
                room = room and (request[r] == 0 or profile.free[n, i, r] >= request[r])
            if not room:
                s = until
            elif until >= s + duration:
                return True
            i += 1
    return False


@internal
def new_pieces(room: int) -> Pieces:
    """Return room for pieces."""
    return Pieces(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.float64))


# --- Generators of start times: which starts a node offers [Bridi2018, 5.3.3 to 5.3.5 and 7.5] [Bridi2016].
#
# ``first`` offers the earliest starts with an index of at least 1. ``uniform`` draws starts with probabilities proportional
# to the index (a roulette), ``exponential`` with the index times ``exp(-(t - first start) / number of starts)``. Negative
# indices count as 0. A draw with an index below 1, or of a start that has been drawn, goes up to the next start with an
# index of at least 1 that has not been drawn, and from the last start back to the first one. The density printed in 5.3.5 is
# degenerate (nearly always the first start); the weights are those of (7.3).

FIRST = 0
UNIFORM = 1
EXPONENTIAL = 2


@internal_borrowing
def feasible(pieces: Pieces, count: int) -> int:
    """Keep the pieces with an index of at least 1, in place; return their number."""
    kept = 0
    for p in range(count):
        if pieces.fit[p] >= 1:
            pieces.low[kept], pieces.high[kept], pieces.fit[kept] = pieces.low[p], pieces.high[p], pieces.fit[p]
            kept += 1
    return kept


@internal_borrowing
def earliest(pieces: Pieces, count: int, responses: int) -> int:
    """Keep the earliest starts with an index of at least 1, ``responses`` of them; return the number of pieces."""
    count = feasible(pieces, count)
    left = responses
    for p in range(count):
        if pieces.high[p] - pieces.low[p] + 1 >= left:
            pieces.high[p] = pieces.low[p] + left - 1
            return p + 1
        left -= pieces.high[p] - pieces.low[p] + 1
    return count


@internal_borrowing
def _weigh(pieces: Pieces, count: int, rate: float, total: Floats, before: Ints) -> None:
    """Write the running sums: of the weights (``total``), and of the starts with an index of at least 1 (``before``)."""
    origin = pieces.low[0]
    weight = 0.0
    starts = 0
    for p in range(count):
        seconds = pieces.high[p] - pieces.low[p] + 1
        index = max(0.0, pieces.fit[p])
        if rate == 0:
            weight += index * seconds
        else:
            begin = pieces.low[p] - origin
            weight += index * (np.exp(-rate * begin) - np.exp(-rate * (begin + seconds)))
        total[p], before[p] = weight, starts
        if pieces.fit[p] >= 1:
            starts += seconds


@internal_borrowing
def _drawn(pieces: Pieces, count: int, rate: float, total: Floats, before: Ints, at: float) -> int:
    """Return which of the starts with an index of at least 1 stands at this share of the total weight, or follows it.

    The result is one more than the last one if none follows.
    """
    weight = at * total[count - 1]
    lo = 0
    hi = count - 1
    while lo < hi:
        middle = (lo + hi) // 2
        if total[middle] > weight:
            hi = middle
        else:
            lo = middle + 1
    if pieces.fit[lo] < 1:
        return int(before[lo])
    rest = (weight - (total[lo - 1] if lo > 0 else 0.0)) / pieces.fit[lo]
    seconds = pieces.high[lo] - pieces.low[lo] + 1
    if rate == 0:
        offset = rest
    else:
        begin = pieces.low[lo] - pieces.low[0]
        left = np.exp(-rate * begin) - rest
        offset = -np.log(left) / rate - begin if left > 0 else float(seconds)
    return int(before[lo] + max(0, min(seconds - 1, int(offset))))


@internal_borrowing
def _slot(keys: Ints, start: int) -> int:
    """Return the place of a start in a table of a power of 2 of places; -1 marks a place that is empty."""
    mask = keys.size - 1
    at = (start * 0x9E3779B1) & mask
    while keys[at] != start and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@internal_borrowing
def take_from(keys: Ints, follower: Ints, start: int, starts: int) -> int:
    """Return the first start at or after a given one that has not been taken, and take it; after the last comes the first.

    ``keys`` and ``follower`` are a table: a start that has been taken -> one after which to look further.
    """
    if start >= starts:
        start = 0
    at = _slot(keys, start)
    origin = start
    while keys[at] >= 0:
        start = follower[at]
        at = _slot(keys, start)
    keys[at] = start
    follower[at] = (start + 1) % starts
    while origin != start:  # shorten the paths
        at = _slot(keys, origin)
        origin = follower[at]
        follower[at] = (start + 1) % starts
    return start


@internal_borrowing
def _without(pieces: Pieces, count: int, before: Ints, taken: Ints, out: Pieces) -> int:
    """Write the taken starts, in ascending order, as pieces; return their number."""
    made, p = 0, 0
    for k in range(taken.size):
        while pieces.fit[p] < 1 or before[p] + pieces.high[p] - pieces.low[p] < taken[k]:
            p += 1
        s = pieces.low[p] + taken[k] - before[p]
        if made > 0 and out.high[made - 1] == s - 1 and s > pieces.low[p]:
            out.high[made - 1] = s
        else:
            out.low[made], out.high[made], out.fit[made] = s, s, pieces.fit[p]
            made += 1
    return made


@internal
def table_for(responses: int) -> int:
    """Return the number of places of a table of taken starts."""
    size = 8
    while size < 4 * responses:
        size *= 2
    return size


@internal
def roulette(
    pieces: Pieces, count: int, responses: int, rate: float, key: int, keys: Ints, follower: Ints, out: Pieces
) -> int:
    """Draw ``responses`` different starts with an index of at least 1; return the number of pieces in ``out``.

    All of them are returned if there are no more. ``rate``: of the exponential weights per second; 0: uniform.
    """
    total = np.empty(count)
    before = np.empty(count, np.int64)
    _weigh(pieces, count, rate, total, before)
    starts = before[count - 1]
    if pieces.fit[count - 1] >= 1:
        starts += pieces.high[count - 1] - pieces.low[count - 1] + 1
    if starts <= responses:
        kept = feasible(pieces, count)
        for p in range(kept):
            out.low[p], out.high[p], out.fit[p] = pieces.low[p], pieces.high[p], pieces.fit[p]
        return kept
    taken = np.empty(responses, np.int64)
    keys[:] = -1
    for k in range(responses):
        drawn = _drawn(pieces, count, rate, total, before, uniform(key, k))
        taken[k] = take_from(keys, follower, drawn, starts)
    taken.sort()
    return _without(pieces, count, before, taken, out)


# --- Compiled work of many node managers at once: offers for a request, and changes of reservations.

PAST = 16  # breakpoints in the past that are kept before a profile is shortened


@internal
def _longer(node: Ints, pieces: Pieces, room: int) -> tuple[Ints, Pieces]:
    """Return the arrays of offers with more room."""
    numbers = np.empty(room, np.int64)
    more = new_pieces(room)
    size = node.size
    numbers[:size] = node
    more.low[:size] = pieces.low
    more.high[:size] = pieces.high
    more.fit[:size] = pieces.fit
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
    able = np.empty(nodes.size, np.int64)
    count = 0
    for n in nodes:
        if hosts(profile, n, request, duration, windows):
            able[count] = n
            count += 1
    nodes = able[:count]
    if count == 0:
        return nodes, nodes, nodes, np.empty(0, np.float64)
    room = room_for(profile, limits, windows, duration)
    steps = new_pieces(room)
    pieces_offered = new_pieces(room)
    queue = np.empty(room, np.int64)
    most = room if generator == FIRST else max(room, responses)
    drawn = new_pieces(most)
    size = table_for(responses) if generator != FIRST else 1
    keys = np.empty(size, np.int64)
    follower = np.empty(size, np.int64)
    seconds = 0
    for w in range(windows.shape[0]):
        seconds += windows[w, 1] - windows[w, 0] + 1
    rate = 1.0 / seconds if generator == EXPONENTIAL else 0.0
    node = np.empty(4 * nodes.size + most, np.int64)
    offers = new_pieces(4 * nodes.size + most)
    made = 0
    for n in nodes:
        count = index_of(profile, capacity, limits, n, request, duration, windows, steps, queue, pieces_offered)
        source = pieces_offered
        if generator == FIRST:
            count = earliest(pieces_offered, count, responses)
        else:
            own = int(mixed(key, n + number) >> np.uint64(1))
            count = roulette(pieces_offered, count, responses, rate, own, keys, follower, drawn)
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
    over = np.zeros(nodes.size, np.bool_)
    for k in range(nodes.size):
        n = nodes[k]
        i = segment(profile, n, begin)
        while i < profile.length[n] and profile.time[n, i] < end:
            for r in range(profile.free.shape[2]):
                if profile.free[n, i, r] < 0:
                    over[k] = True
            i += 1
    return over


# --- Which planned jobs may move to an earlier start: most of those that a node notifies have no room before their start.
#
# The test is that of the capacity alone, without the desired profile and without a common start. A job that fails it has no
# earlier start, so that a run of the protocol would find none.


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
    n = moves.node[p]
    begin = moves.start[k]
    end = moves.end[k]
    request = moves.request[k]
    duration = end - begin
    i = segment(profile, n, now)
    s = now
    t = now
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


# --- Node managers: each keeps the reservations of its node, and offers starts for jobs.
#
# The managers of a range of nodes work together in one process, with the same result as one by one.

ROOM = 16  # breakpoints per node at first
BEGIN = -(2**62)  # the profiles begin before all times


class Reservation(NamedTuple):
    """What a job has on the nodes of this range; nodes are indices in the range."""

    start: int
    end: int
    nodes: Ints
    units: Ints
    request: Ints


class NodeManagers:
    """The managers of a range of nodes.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Amounts of each node of the range.
    generator : str
        Name of the generator of starts.
    limits : Limits, optional
        The desired use of these nodes. None: up to the capacity.
    first : int
        Number of the first node of the range in the platform.

    Raises
    ------
    WrongValue
        If the generator is unknown.
    """

    def __init__(self, capacity: Ints, generator: str = "first", limits: Limits | None = None, first: int = 0) -> None:
        if generator not in GENERATORS:
            raise WrongValue(f"generator is {generator!r}; expected one of {', '.join(GENERATORS)}")
        nodes, resources = capacity.shape
        self.capacity = np.ascontiguousarray(capacity)
        self.first = first
        self._generator = GENERATORS.index(generator)
        self._free = unlimited(nodes, resources)
        if limits is None:
            self._limits = self._free
        else:
            self._limits = limits
        self._profile = Profile(
            np.ones(nodes, np.int64),
            np.full((nodes, ROOM), BEGIN, np.int64),
            np.repeat(self.capacity[:, None, :], ROOM, axis=1),
        )
        self._all = np.arange(nodes)
        self._answering: Bools = np.ones(nodes, np.bool_)
        self._asked = self._all  # the nodes that answer
        self._reserved: dict[str, list[Reservation]] = {}  # several if messages to some nodes were lost

    def answer(self, request: Request) -> Offers:
        """Generate starts on the nodes of this range that are asked and answer (phases 2 and 3)."""
        nodes = self._asked
        if request.nodes is not None:
            nodes = self._own(request.nodes)
            nodes = nodes[self._answering[nodes]]
        if nodes.size == 0:
            return no_offers()
        began = time.thread_time()
        forget(self._profile, nodes, request.now)
        own = self._reserved.get(request.job, ())
        for held in own:
            self._change(held, held.start, -1)
        offers = offers_of(
            self._profile,
            self.capacity,
            self._limits if request.profile else self._free,
            nodes,
            request.request,
            request.duration,
            request.windows,
            request.responses,
            self._generator,
            request.key,
            self.first,
        )
        for held in own:
            self._change(held, held.start, 1)
        return Offers(*offers, time.thread_time() - began, nodes.size)

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return the first of the jobs from ``first`` on that may have an earlier start; for managers of all nodes."""
        if not self._answering.all():
            return first
        return next_move(self._profile, self.capacity, moves, first, now)

    def reserve(self, placement: Placement) -> None:
        """Reserve what a job needs on the nodes of this range, instead of what it had (phase 6)."""
        here = (placement.nodes >= self.first) & (placement.nodes < self.first + self._all.size)
        if placement.to is None:
            self._remove(placement.job, placement.now)
        else:
            self._remove_on(self._own(placement.to), placement)
            here &= np.isin(placement.nodes, placement.to)
        if not here.any():
            return
        nodes = placement.nodes[here] - self.first
        units = placement.units[here]
        held = Reservation(placement.start, placement.end, nodes, units, placement.request)
        forget(self._profile, held.nodes, placement.now)
        self._change(held, held.start, 1)
        self._reserved.setdefault(placement.job, []).append(held)

    def receive(self, event: Event) -> Ints:
        """Note an event; return the nodes on which reservations exceed the capacity because of it."""
        match event:
            case Release():
                self._remove(event.job, event.now)
            case Extend():
                return self._extend(event)
            case Answering():
                self._answering = event.nodes[self.first : self.first + self._all.size]
                self._asked = np.flatnonzero(self._answering)
            case Wish():
                own = event.limits.curve[self.first : self.first + self._all.size]
                self._limits = event.limits._replace(curve=own)
        return np.empty(0, np.int64)

    def _extend(self, event: Extend) -> Ints:
        full = [np.empty(0, np.int64)]
        extended = []
        for held in self._reserved.get(event.job, ()):
            extended.append(held._replace(end=event.end))
            self._change(extended[-1], held.end, 1)
            full.append(held.nodes[overfull(self._profile, held.nodes, held.end, event.end)] + self.first)
        if extended:
            self._reserved[event.job] = extended
        return np.asarray(np.sort(np.concatenate(full)))

    def _remove(self, job: str, now: int) -> None:
        """Give up what a job has from now on."""
        for held in self._reserved.pop(job, ()):
            if held.end > now:
                self._change(held, max(held.start, now), -1)

    def _remove_on(self, nodes: Ints, placement: Placement) -> None:
        """Give up what a job has from now on, on some of its nodes."""
        for held in self._reserved.pop(placement.job, ()):
            gone = np.isin(held.nodes, nodes)
            for on, kept in ((gone, False), (~gone, True)):
                part = held._replace(nodes=held.nodes[on], units=held.units[on])
                if kept and on.any():
                    self._reserved.setdefault(placement.job, []).append(part)
                elif on.any() and held.end > placement.now:
                    self._change(part, max(held.start, placement.now), -1)

    def _change(self, held: Reservation, begin: int, sign: int) -> None:
        self._profile = change(self._profile, held.nodes, held.units, begin, held.end, held.request, sign)

    def _own(self, nodes: Ints) -> Ints:
        """Return the indices, in this range, of those of these nodes that belong to it."""
        lo, hi = np.searchsorted(nodes, (self.first, self.first + self._all.size))
        return np.asarray(nodes[lo:hi] - self.first)
