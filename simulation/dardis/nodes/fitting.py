"""The fitting index of a job unit on a node [Bridi2018, (5.2), (5.3)].

    I(s) = min over t in [s, s + duration) and resources r that the unit requests of
           min((desired[r](t) - used[r](t)) / request[r], floor((capacity[r] - used[r](t)) / request[r]))

It is how many equal units could start together at s: within the desired profile for the first term, within the
capacity for the second one. An index of 1 fits exactly, one below 1 exceeds the profile. The printed formulas end at
t = s + duration; here a run is half-open. The index is a step function of s, and is computed as the minimum over
a window that slides over the steps of the profiles, in time linear in their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.profile import NEVER, Profile, segment
from ....models.compiled import compiled, internal, internal_borrowing
from ....models.profiles import ProfileArrays
from ..messages import Limits

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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
    first, times, amounts = [0], [], []
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
    lo, hi = limits.first[c], limits.first[c + 1]
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
    found = MOST
    for r in range(request.size):
        if request[r] > 0:
            found = min(found, float(free[r] // request[r]))
            found = min(found, (desired[r] - float(capacity[r] - free[r])) / request[r])
    return found


@internal_borrowing
def levels(
    profile: Profile, capacity: Ints, limits: Limits, n: int, request: Ints, begin: int, end: int, out: Pieces
) -> int:
    """Write the index of a unit that lasts one second, in [begin, end); return the number of steps."""
    i, c = segment(profile, n, begin), limits.curve[n]
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
            out.low[count], out.high[count], out.fit[count] = t, until - 1, value
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
    first, last, entered, s = 0, 0, 0, low
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
            out.low[count], out.high[count], out.fit[count] = s, until, value
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
        s, i = windows[w, 0], segment(profile, n, windows[w, 0])
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


@compiled
def fitting_index(
    profile: Profile, capacity: Ints, limits: Limits, n: int, request: Ints, duration: int, windows: Ints
) -> Pieces:
    """Return the fitting index of a job unit on node n for all starts in the windows.

    Parameters
    ----------
    profile
        The free amounts of the nodes.
    capacity
        Amounts of each node, shape (nodes, resources).
    limits
        The desired use.
    n
        Index of the node.
    request
        Amounts of one unit, shape (resources,).
    duration
        Seconds, at least 1.
    windows
        First and last start of each window, shape (windows, 2), ascending; not before the begin of the profile.
    """
    room = room_for(profile, limits, windows, duration)
    steps, out = new_pieces(room), new_pieces(room)
    count = index_of(profile, capacity, limits, n, request, duration, windows, steps, np.empty(room, np.int64), out)
    return Pieces(out.low[:count].copy(), out.high[:count].copy(), out.fit[:count].copy())
