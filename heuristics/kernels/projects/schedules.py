"""Schedule generation for projects, serial and parallel, and double justification, as compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.array_types import Floats, Ints
from ....models.compiled import compiled, internal_borrowing, native
from ..by_address import by_address
from ..profile import NEVER

# --- The tasks of a project as flat arrays, and the arrays of a schedule generation.


@by_address
class Tasks(NamedTuple):
    """The tasks of a project. Times are in the unit of the project.

    Parameters
    ----------
    before_first, before, before_delay
        Precedences to each task: those of task k are at ``before_first[k]`` to ``before_first[k + 1]``; predecessor and
        delay of each. Shapes (tasks + 1,), (precedences,), (precedences,).
    after_first, after, after_delay
        Precedences from each task: successor and delay.
    mode_first
        Modes of task k: ``mode_first[k]`` to ``mode_first[k + 1]``, shape (tasks + 1,).
    duration
        Duration of each mode, shape (modes,).
    demand_first, resource, demand
        Demands above 0 of renewable resources of each mode of duration above 0: index of the resource, amount. Shapes
        (modes + 1,), (demands,), (demands,).
    capacity
        Capacity of each renewable resource, shape (renewable resources,).
    need
        Demand of each mode of the other resources, shape (modes, other resources).
    budget
        Capacity of the other resources, shape (other resources,).
    rank
        Position of each task in a topological order, shape (tasks,).
    """

    before_first: Ints
    before: Ints
    before_delay: Ints
    after_first: Ints
    after: Ints
    after_delay: Ints
    mode_first: Ints
    duration: Ints
    demand_first: Ints
    resource: Ints
    demand: Ints
    capacity: Ints
    need: Ints
    budget: Ints
    rank: Ints

    def mirrored(self) -> Tasks:
        """Return the project in reversed time: successors are predecessors. The arrays are shared."""
        return self._replace(
            before_first=self.after_first,
            before=self.after,
            before_delay=self.after_delay,
            after_first=self.before_first,
            after=self.before,
            after_delay=self.before_delay,
            rank=self.rank.size - 1 - self.rank,
        )


@by_address
class Room(NamedTuple):
    """Arrays that a schedule generation overwrites.

    Parameters
    ----------
    times, used
        Use of each renewable resource as a step function: breakpoints, and the use from each of them to the next one, shape
        (resources, 2 * tasks + 2).
    breakpoints
        Number of breakpoints of each resource, shape (resources,).
    heap
        Tasks that wait for their turn, shape (tasks,).
    missing
        Number of predecessors that are not scheduled, shape (tasks,).
    ready
        Earliest start of each task by its scheduled predecessors, shape (tasks,).
    spent
        Total demand of the resources that are not renewable, shape (other resources,).
    """

    times: Ints
    used: Ints
    breakpoints: Ints
    heap: Ints
    missing: Ints
    ready: Ints
    spent: Ints


def new_room(tasks: Tasks) -> Room:
    """Return the arrays of schedule generations for a project."""
    n, resources = tasks.rank.size, tasks.capacity.size
    steps = np.zeros((resources, 2 * n + 2), np.int64)
    each = np.zeros(n, np.int64)
    return Room(
        steps, steps.copy(), np.zeros(resources, np.int64), each, each.copy(), each.copy(), np.zeros_like(tasks.budget)
    )


# --- The use of a renewable resource as a step function of time: earliest start, occupation.


@internal_borrowing
def clear(room: Room) -> None:
    """Make all resources free at every time."""
    for r in range(room.breakpoints.size):
        room.times[r, 0] = 0
        room.used[r, 0] = 0
        room.breakpoints[r] = 1


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
    first = t.demand_first[mode]
    last = t.demand_first[mode + 1]
    agreed, k = 0, first
    while agreed < last - first:
        r = t.resource[k]
        begin = _free_from(
            room.times[r], room.used[r], room.breakpoints[r], start, duration, t.capacity[r] - t.demand[k]
        )
        agreed = agreed + 1 if begin == start else 1
        start = begin
        k = k + 1 if k + 1 < last else first
    return start


@internal_borrowing
def _breakpoint(room: Room, r: int, time: int) -> int:
    """Return the position of the breakpoint of a resource at a time; insert it if there is none."""
    times = room.times[r]
    used = room.used[r]
    count = room.breakpoints[r]
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


@internal_borrowing
def _first(t: Tasks, keys: Floats, a: int, b: int) -> bool:
    """Return whether task a is before task b by key, ties by topological order."""
    return bool(keys[a] < keys[b] or (keys[a] == keys[b] and t.rank[a] < t.rank[b]))


@internal_borrowing
def _push(t: Tasks, heap: Ints, size: int, keys: Floats, task: int) -> int:
    """Add a task to a heap; return the new size."""
    k = size
    while k > 0 and _first(t, keys, task, heap[(k - 1) // 2]):
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = task
    return size + 1


@internal_borrowing
def _pop(t: Tasks, heap: Ints, size: int, keys: Floats) -> int:
    """Remove the first task of a heap of at least one, by moving it behind the others; return the new size."""
    top = heap[0]
    task = heap[size - 1]
    size -= 1
    k = 0
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and _first(t, keys, heap[child + 1], heap[child]):
            child += 1
        if not _first(t, keys, heap[child], task):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = task
    heap[size] = top
    return size


@internal_borrowing
def begin(t: Tasks, room: Room, modes: Ints) -> None:
    """Make the resources free, count the predecessors of each task and what the modes spend."""
    clear(room)
    for k in range(t.rank.size):
        room.missing[k] = t.before_first[k + 1] - t.before_first[k]
        room.ready[k] = 0
    spend(t, room, modes)


@internal_borrowing
def spend(t: Tasks, room: Room, modes: Ints) -> None:
    """Add up what the modes spend of the resources that are not renewable."""
    for i in range(t.budget.size):
        room.spent[i] = 0
        for k in range(t.rank.size):
            room.spent[i] += t.need[modes[k], i]


@internal_borrowing
def release(t: Tasks, room: Room, heap: Ints, size: int, keys: Floats, task: int, end: int) -> int:
    """Tell the successors of a task when it ends; put those without a missing predecessor into the heap."""
    for i in range(t.after_first[task], t.after_first[task + 1]):
        j = t.after[i]
        room.ready[j] = max(room.ready[j], end + t.after_delay[i])
        room.missing[j] -= 1
        if room.missing[j] == 0:
            size = _push(t, heap, size, keys, j)
    return size


@internal_borrowing
def change_allowed(t: Tasks, room: Room, old: int, new: int) -> bool:
    """Return whether a task may change its mode within the budget of the resources that are not renewable."""
    for i in range(t.budget.size):
        if room.spent[i] - t.need[old, i] + t.need[new, i] > t.budget[i]:
            return False
    return True


@internal_borrowing
def change(t: Tasks, room: Room, old: int, new: int) -> None:
    """Account for a change of a mode."""
    for i in range(t.budget.size):
        room.spent[i] += t.need[new, i] - t.need[old, i]


@native
def serial(t: Tasks, room: Room, keys: Floats, modes: Ints, free: Ints, starts: Ints) -> int:
    """Schedule all tasks by the serial scheme; return the makespan.

    Parameters
    ----------
    t, room
        The project, and arrays to overwrite.
    keys
        Key of each task, shape (tasks,).
    modes
        Mode of each task, an index into ``t.duration``, shape (tasks,). The modes of free tasks are replaced.
    free
        Tasks that are not 0 take the mode with which they end first, of those that the budget allows, shape (tasks,).
    starts
        Is filled with the start of each task, shape (tasks,).
    """
    n = t.rank.size
    begin(t, room, modes)
    size, makespan = 0, 0
    for k in range(n):
        if room.missing[k] == 0:
            size = _push(t, room.heap, size, keys, k)
    while size > 0:
        size = _pop(t, room.heap, size, keys)
        k = room.heap[size]
        mode, start = modes[k], NEVER
        if free[k] == 0:
            start = earliest(t, room, mode, room.ready[k])
        else:
            old = mode
            for m in range(t.mode_first[k], t.mode_first[k + 1]):
                if m == old or change_allowed(t, room, old, m):
                    starts_at = earliest(t, room, m, room.ready[k])
                    if start == NEVER or starts_at + t.duration[m] < start + t.duration[mode]:
                        start, mode = starts_at, m
            change(t, room, old, mode)
            modes[k] = mode
        occupy(t, room, mode, start)
        starts[k] = start
        end = start + t.duration[mode]
        makespan = max(makespan, end)
        size = release(t, room, room.heap, size, keys, k, end)
    return makespan


@native
def parallel(t: Tasks, room: Room, keys: Floats, modes: Ints, waiting: Ints, starts: Ints) -> int:
    """Schedule all tasks in their modes by the parallel scheme; return the makespan.

    Parameters
    ----------
    t, room, keys, modes, starts
        As for ``serial``.
    waiting
        Array to overwrite, shape (tasks,).
    """
    n = t.rank.size
    begin(t, room, modes)
    size = 0
    makespan = 0
    time = 0
    for k in range(n):
        if room.missing[k] == 0:
            size = _push(t, room.heap, size, keys, k)
    while size > 0:
        waits, following = 0, NEVER
        while size > 0:
            size = _pop(t, room.heap, size, keys)
            k = room.heap[size]
            start = NEVER
            if room.ready[k] <= time:
                start = earliest(t, room, modes[k], time)
            if start == time:
                occupy(t, room, modes[k], time)
                starts[k], end = time, time + t.duration[modes[k]]
                makespan = max(makespan, end)
                size = release(t, room, room.heap, size, keys, k, end)
            else:
                waiting[waits] = k
                waits += 1
        for i in range(waits):
            k = waiting[i]
            following = min(following, earliest(t, room, modes[k], max(time, room.ready[k])))
            size = _push(t, room.heap, size, keys, k)
        time = following
    return makespan


@internal_borrowing
def justify(t: Tasks, back: Tasks, room: Room, keys: Floats, modes: Ints, none: Ints, starts: Ints) -> int:
    """Move all tasks to the right, then to the left; return the makespan.

    Parameters
    ----------
    t, back
        The project, and the project in reversed time.
    room, keys
        Arrays to overwrite.
    modes
        Mode of each task, shape (tasks,).
    none
        Zeros, shape (tasks,).
    starts
        Start of each task, which is changed, shape (tasks,).
    """
    n = t.rank.size
    for k in range(n):
        keys[k] = -float(starts[k] + t.duration[modes[k]])
    last = serial(back, room, keys, modes, none, starts)
    for k in range(n):
        keys[k] = float(last - starts[k] - t.duration[modes[k]])
    return serial(t, room, keys, modes, none, starts)


@compiled
def generate(
    t: Tasks, back: Tasks, room: Room, keys: Floats, modes: Ints, free: Ints, starts: Ints, in_parallel: bool
) -> int:
    """Schedule all tasks by the serial or the parallel scheme, then justify twice; return the makespan.

    ``keys`` and ``free`` are overwritten; otherwise the arguments are those of ``serial`` and ``justify``.
    """
    if in_parallel:
        parallel(t, room, keys, modes, free, starts)
    else:
        serial(t, room, keys, modes, free, starts)
    for k in range(free.size):
        free[k] = 0
    return justify(t, back, room, keys, modes, free, starts)
