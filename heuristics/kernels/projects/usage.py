"""The use of a renewable resource as a step function of time: earliest start, occupation."""

from __future__ import annotations

from ....models.compiled import internal_borrowing
from ..profile import Ints
from .tasks import Room, Tasks


@internal_borrowing
def clear(room: Room) -> None:
    """Make all resources free at every time."""
    for r in range(room.breakpoints.size):
        room.times[r, 0], room.used[r, 0], room.breakpoints[r] = 0, 0, 1


@internal_borrowing
def _last_before(times: Ints, count: int, time: int) -> int:
    """Return the position of the last breakpoint at or before a time."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@internal_borrowing
def _free_from(times: Ints, used: Ints, count: int, start: int, duration: int, most: int) -> int:
    """Return the first time, not before ``start``, from which the use is at most ``most`` for the whole duration."""
    k = _last_before(times, count, start)
    while True:
        end = start + duration
        while k < count and times[k] < end and used[k] <= most:
            k += 1
        if k == count or times[k] >= end:
            return start
        while used[k] > most:  # the last step is 0
            k += 1
        start = times[k]


@internal_borrowing
def earliest(t: Tasks, room: Room, mode: int, ready: int) -> int:
    """Return the first time from ``ready`` on at which all resources are free for a mode."""
    start, duration = ready, t.duration[mode]
    first, last = t.demand_first[mode], t.demand_first[mode + 1]
    agreed, k = 0, first
    while agreed < last - first:
        r = t.resource[k]
        found = _free_from(
            room.times[r], room.used[r], room.breakpoints[r], start, duration, t.capacity[r] - t.demand[k]
        )
        agreed = agreed + 1 if found == start else 1
        start = found
        k = k + 1 if k + 1 < last else first
    return start


@internal_borrowing
def _breakpoint(room: Room, r: int, time: int) -> int:
    """Return the position of the breakpoint of a resource at a time; insert it if there is none."""
    times, used, count = room.times[r], room.used[r], room.breakpoints[r]
    k = _last_before(times, count, time)
    if times[k] == time:
        return k
    for i in range(count, k + 1, -1):
        times[i], used[i] = times[i - 1], used[i - 1]
    times[k + 1], used[k + 1] = time, used[k]
    room.breakpoints[r] = count + 1
    return k + 1


@internal_borrowing
def occupy(t: Tasks, room: Room, mode: int, start: int) -> None:
    """Occupy what a mode demands from its start to its end."""
    for k in range(t.demand_first[mode], t.demand_first[mode + 1]):
        r = t.resource[k]
        first = _breakpoint(room, r, start)
        last = _breakpoint(room, r, start + t.duration[mode])
        for i in range(first, last):
            room.used[r, i] += t.demand[k]
