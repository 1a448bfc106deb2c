"""Schedules of projects as compiled code: serial and parallel generation, double justification, evolution of schedules.

Evolution is crossover, destroy operators, and changes of modes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.compiled import by_address, compiled, constant, internal_borrowing, native
from .profile import NEVER

WITHOUT = -1  # where a resource has no setups, and a task no follower
MISSED = 2**50  # the least value of a schedule that misses a deadline; all others are below it

# --- The tasks of a project as flat arrays, and the arrays of a schedule generation.


@by_address
class Setups(NamedTuple):
    """The setups of the resources that have any.

    Parameters
    ----------
    first
        Where the setups of a resource begin in ``time``, shape (resources,); ``WITHOUT`` for a resource that has none.
    time
        For each such resource, the setup between each two families, row by row.
    families
        The number of families.
    family
        The family of the task of each mode, shape (modes,).
    all_pairs
        1 for resources whose setups hold between any two tasks, else 0, shape (resources,).
    """

    first: Ints
    time: Ints
    families: int
    family: Ints
    all_pairs: Ints


@by_address
class Aim(NamedTuple):
    """The objective of a project; its value is a whole number.

    Parameters
    ----------
    makespan, setup
        The factors of the makespan and of the sum of the setups between neighbours.
    flow, tardy, early, late
        For each task, the cost of a unit of time from its release to its end, of one after and of one before its due date,
        and that of being late, shape (tasks,).
    due
        The due date of each task, shape (tasks,).
    deadline
        The latest end of each task, shape (tasks,).
    penalty
        What it costs to leave out a task, shape (tasks,).
    plain
        Whether it is the makespan alone, and there are no deadlines, tasks that may be left out, chains, resources without
        idle time and orders of jobs.
    """

    makespan: int
    setup: int
    flow: Ints
    tardy: Ints
    early: Ints
    late: Ints
    due: Ints
    deadline: Ints
    penalty: Ints
    plain: bool


@by_address
@constant("simple")
class Tasks(NamedTuple):
    """The tasks of a project. Times are in the unit of the project.

    Parameters
    ----------
    simple
        True if the project has none of what the last part of the fields, from ``setups`` on, describes: each task is placed
        alone, and takes its duration; else None. Functions have a version for each, the one without all questions.
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
    release
        Earliest start of each task, shape (tasks,).
    closed_first, closed_time, closed_use
        The use of each resource before any task is placed, as a step function: breakpoints, the first at 0, and the use from
        each of them to the next one. Those of resource r are at ``closed_first[r]`` to ``closed_first[r + 1]``.
    setups
        The setups.
    rest_first, rest_begin, rest_over
        The breaks that suspend a task in a mode, in increasing order: those of mode m are at ``rest_first[m]`` to
        ``rest_first[m + 1]``.
    optional
        1 if a task may be left out, else 0.
    absent
        1 for the modes in which a task is left out, else 0, shape (modes,). They take no time.
    follower, leader, gap
        The task that follows each one without a wait, or until whose start it keeps its resources, and the one that it
        follows, ``WITHOUT`` for none; the least time between them. Shape (tasks,). The tasks that follow one another so are a
        chain: they are placed together.
    exact, held
        1 if the follower of each task must start exactly at its end plus the gap; 1 if it keeps its resources until then.
        Shape (tasks,).
    head
        The first task of the chain of each one, itself if it is in none, shape (tasks,).
    links
        The number of precedences from other tasks to the chain that begins with each one, shape (tasks,).
    tight
        1 for resources without idle time, else 0, shape (renewable resources,).
    job, line
        The job of each task on a resource on which the jobs have the same order, and the number of the resource among these;
        ``WITHOUT`` for other tasks. Shape (tasks,).
    job_first, job_tasks
        These tasks of each job: those of job j are at ``job_first[j]`` to ``job_first[j + 1]``.
    lines
        The number of these resources.
    """

    simple: Literal[True] | None
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
    release: Ints
    closed_first: Ints
    closed_time: Ints
    closed_use: Ints
    setups: Setups
    rest_first: Ints
    rest_begin: Ints
    rest_over: Ints
    optional: int
    absent: Ints
    follower: Ints
    leader: Ints
    gap: Ints
    exact: Ints
    held: Ints
    head: Ints
    links: Ints
    tight: Ints
    job: Ints
    line: Ints
    job_first: Ints
    job_tasks: Ints
    lines: int

    def mirrored(self) -> Tasks:
        """Return the project in reversed time: successors are predecessors. The arrays are shared.

        It has no release dates, breaks, setups, chains, rules of idle time and orders of jobs: a schedule of it gives an order
        of the tasks, not their times.
        """
        resources = self.capacity.size
        return self._replace(
            release=np.zeros_like(self.release),
            closed_first=np.arange(resources + 1),
            closed_time=np.zeros(resources, np.int64),
            closed_use=np.zeros(resources, np.int64),
            setups=self.setups._replace(first=np.full_like(self.setups.first, WITHOUT)),
            rest_first=np.zeros_like(self.rest_first),
            follower=np.full_like(self.follower, WITHOUT),
            leader=np.full_like(self.leader, WITHOUT),
            exact=np.zeros_like(self.exact),
            held=np.zeros_like(self.held),
            head=np.arange(self.head.size),
            links=np.diff(self.after_first),
            tight=np.zeros_like(self.tight),
            job=np.full_like(self.job, WITHOUT),
            job_first=np.zeros(1, np.int64),
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
        (resources, 2 * tasks + 2 + most breakpoints of ``Tasks.closed_time``).
    breakpoints
        Number of breakpoints of each resource, shape (resources,).
    placed
        The modes on each resource with setups in their order, shape (resources, tasks); (resources, 0) without setups.
    placed_start
        Their starts.
    placed_count
        Their number, shape (resources,).
    heap
        Tasks that wait for their turn, shape (tasks,).
    missing
        Number of predecessors that are not scheduled, shape (tasks,).
    ready
        Earliest start of each task by its scheduled predecessors, shape (tasks,).
    spent
        Total demand of the resources that are not renewable, shape (other resources,).
    ordered
        1 for jobs that have a place in the order of all jobs, shape (jobs,).
    last_on
        The last task in this order on each of the resources that keep it, shape (lines,).
    before_on, next_on
        The tasks before and after each one on such a resource, ``WITHOUT`` for none, shape (tasks,).
    left
        When each task has given up its resources, ``WITHOUT`` before it is placed, shape (tasks,).
    asleep
        1 for tasks that wait for one of an earlier job, shape (tasks,).
    """

    times: Ints
    used: Ints
    breakpoints: Ints
    placed: Ints
    placed_start: Ints
    placed_count: Ints
    heap: Ints
    missing: Ints
    ready: Ints
    spent: Ints
    ordered: Ints
    last_on: Ints
    before_on: Ints
    next_on: Ints
    left: Ints
    asleep: Ints


def new_room(tasks: Tasks) -> Room:
    """Return the arrays of schedule generations for a project."""
    n, resources = tasks.rank.size, tasks.capacity.size
    most_closed = int(np.diff(tasks.closed_first).max(initial=0))
    steps = np.zeros((resources, 2 * n + 2 + most_closed), np.int64)
    placed = np.zeros((resources, n if (tasks.setups.first != WITHOUT).any() else 0), np.int64)
    counts = np.zeros(resources, np.int64)
    each = np.zeros(n, np.int64)
    return Room(
        times=steps,
        used=steps.copy(),
        breakpoints=counts,
        placed=placed,
        placed_start=placed.copy(),
        placed_count=counts.copy(),
        heap=each,
        missing=each.copy(),
        ready=each.copy(),
        spent=np.zeros_like(tasks.budget),
        ordered=np.zeros(tasks.job_first.size - 1, np.int64),
        last_on=np.zeros(tasks.lines, np.int64),
        before_on=each.copy(),
        next_on=each.copy(),
        left=each.copy(),
        asleep=each.copy(),
    )


# --- The use of a renewable resource as a step function of time: earliest start, occupation.


@internal_borrowing
def clear(t: Tasks, room: Room) -> None:
    """Make all resources free at every time but in their breaks."""
    for r in range(room.breakpoints.size):
        first = t.closed_first[r]
        count = t.closed_first[r + 1] - first
        for i in range(count):
            room.times[r, i] = t.closed_time[first + i]
            room.used[r, i] = t.closed_use[first + i]
        room.breakpoints[r] = count
        room.placed_count[r] = 0


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
def end_of(t: Tasks, mode: int, start: int) -> int:
    """Return the end of a mode, which breaks may suspend, for a start."""
    end = start + t.duration[mode]
    if t.simple:
        return int(end)
    for i in range(t.rest_first[mode], t.rest_first[mode + 1]):
        if t.rest_over[i] > start:
            if t.rest_begin[i] >= end:
                break
            end += t.rest_over[i] - max(start, t.rest_begin[i])
    return int(end)


@internal_borrowing
def _after_rest(t: Tasks, mode: int, time: int) -> int:
    """Return the end of the suspending break of a mode that a time lies in; the time itself if it lies in none."""
    for i in range(t.rest_first[mode], t.rest_first[mode + 1]):
        if t.rest_begin[i] <= time < t.rest_over[i]:
            return int(t.rest_over[i])
    return time


@internal_borrowing
def earliest(t: Tasks, room: Room, mode: int, ready: int) -> int:
    """Return the first time from ``ready`` on at which all resources are free for a mode, and no break suspends its start."""
    if not t.simple and t.rest_first[mode] != t.rest_first[mode + 1]:
        return _earliest_of_suspended(t, room, mode, ready)
    start, duration = ready, t.duration[mode]
    first = t.demand_first[mode]
    last = t.demand_first[mode + 1]
    agreed, k = 0, first
    while agreed < last - first:
        r = t.resource[k]
        begin = start
        if duration > 0:  # what takes no time may be within a break; setups keep it out of other tasks
            most = t.capacity[r] - t.demand[k]
            begin = _free_from(room.times[r], room.used[r], room.breakpoints[r], start, duration, most)
        agreed = agreed + 1 if begin == start else 1
        start = begin
        if not t.simple and t.setups.first[r] != WITHOUT:
            position = _place(t, room, r, mode, start)
            start = _start_at(t, room, r, position, mode, start)
            agreed = agreed if start == begin else 0  # the use at the new time is not known
        k = k + 1 if k + 1 < last else first
    return start


@internal_borrowing
def _earliest_of_suspended(t: Tasks, room: Room, mode: int, ready: int) -> int:
    """Return the first start from ``ready`` on of a mode that breaks suspend, so that its length depends on its start.

    If a part of the time that a start needs is taken, so it is for each later start before the end of this part: the next
    start to try is its end.
    """
    start = ready
    while True:
        before = start
        start = _after_rest(t, mode, start)
        end = end_of(t, mode, start)
        for i in range(t.demand_first[mode], t.demand_first[mode + 1]):
            r = t.resource[i]
            most = t.capacity[r] - t.demand[i]
            used = room.used[r]
            k = _last_before(room.times[r], room.breakpoints[r], start)
            while k < room.breakpoints[r] and room.times[r, k] < end and used[k] <= most:
                k += 1
            if k < room.breakpoints[r] and room.times[r, k] < end:
                start = max(start, room.times[r, k + 1])
            elif t.setups.first[r] != WITHOUT:
                start = _start_at(t, room, r, _place(t, room, r, mode, start), mode, start)
            if start != before:
                break
        if start == before:
            return start


# --- The modes on a resource with setups, one after another.


@internal_borrowing
def _setup(t: Tasks, r: int, before: int, after: int) -> int:
    """Return the setup of a resource between two modes."""
    row = t.setups.family[before] * t.setups.families
    return int(t.setups.time[t.setups.first[r] + row + t.setups.family[after]])


@internal_borrowing
def _start_at(t: Tasks, room: Room, r: int, position: int, mode: int, start: int) -> int:
    """Return the first time, not before ``start``, at which a mode can follow those before a position with their setups."""
    earliest_start = start
    low = 0 if t.setups.all_pairs[r] else max(0, position - 1)
    for i in range(low, position):
        before = room.placed[r, i]
        end = end_of(t, before, room.placed_start[r, i])
        earliest_start = max(earliest_start, end + _setup(t, r, before, mode))
    return earliest_start


@internal_borrowing
def _place(t: Tasks, room: Room, r: int, mode: int, start: int) -> int:
    """Return the first position among the modes on a resource at which another one fits, not before a time."""
    count = int(room.placed_count[r])
    for position in range(count):
        end = end_of(t, mode, _start_at(t, room, r, position, mode, start))
        high = count if t.setups.all_pairs[r] else position + 1
        fits = True
        for i in range(position, high):
            if end + _setup(t, r, mode, room.placed[r, i]) > room.placed_start[r, i]:
                fits = False
        if fits:
            return position
    return count


@internal_borrowing
def _insert(t: Tasks, room: Room, r: int, mode: int, start: int) -> None:
    """Insert a mode among those on a resource with setups."""
    position = _place(t, room, r, mode, start)
    for i in range(room.placed_count[r], position, -1):
        room.placed[r, i] = room.placed[r, i - 1]
        room.placed_start[r, i] = room.placed_start[r, i - 1]
    room.placed[r, position] = mode
    room.placed_start[r, position] = start
    room.placed_count[r] += 1


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
def occupy(t: Tasks, room: Room, mode: int, start: int, end: int) -> None:
    """Occupy what a mode demands from its start to the time at which it gives it up."""
    for k in range(t.demand_first[mode], t.demand_first[mode + 1]):
        r = t.resource[k]
        first = _breakpoint(room, r, start)
        last = _breakpoint(room, r, end)
        for i in range(first, last):
            room.used[r, i] += t.demand[k]
        if not t.simple and t.setups.first[r] != WITHOUT:
            _insert(t, room, r, mode, start)


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
    """Make the resources free, count the predecessors of each task that are done and what the modes spend."""
    clear(t, room)
    for k in range(t.rank.size):
        room.missing[k] = t.links[k]
        room.ready[k] = t.release[k]
    if not t.simple and t.optional != 0:
        for k in range(t.rank.size):
            for i in range(t.before_first[k], t.before_first[k + 1]):
                if t.head[t.before[i]] != t.head[k] and not _are_done(t, modes, t.before[i], k):
                    room.missing[t.head[k]] -= 1
    if not t.simple and t.job_first.size > 1:
        _without_order(t, room)
    spend(t, room, modes)


@internal_borrowing
def _without_order(t: Tasks, room: Room) -> None:
    """Begin with no job in the order of all jobs."""
    for j in range(room.ordered.size):
        room.ordered[j] = 0
    for i in range(room.last_on.size):
        room.last_on[i] = WITHOUT
    for k in range(t.rank.size):
        room.before_on[k], room.next_on[k], room.left[k] = WITHOUT, WITHOUT, WITHOUT
        room.asleep[k] = 0


@internal_borrowing
def _put_last(t: Tasks, room: Room, job: int) -> None:
    """Put a job behind all others in the order of the jobs."""
    room.ordered[job] = 1
    for i in range(t.job_first[job], t.job_first[job + 1]):
        k = t.job_tasks[i]
        before = room.last_on[t.line[k]]
        room.before_on[k] = before
        if before != WITHOUT:
            room.next_on[before] = k
        room.last_on[t.line[k]] = k


@internal_borrowing
def _must_wait(t: Tasks, room: Room, task: int) -> bool:
    """Return whether a task or one of its chain must wait for one of an earlier job that is not placed; then it sleeps.

    The order of the jobs is that in which their first tasks are tried. Else the tasks are ready when those of the earlier
    jobs have given up the resource.
    """
    waits = False
    k = task
    while k != WITHOUT:
        if t.job[k] != WITHOUT:
            if room.ordered[t.job[k]] == 0:
                _put_last(t, room, t.job[k])
            before = room.before_on[k]
            if before != WITHOUT and room.left[before] == WITHOUT:
                waits = True
            elif before != WITHOUT:
                room.ready[k] = max(room.ready[k], room.left[before])
        k = t.follower[k]
    room.asleep[task] = int(waits)
    return waits


@internal_borrowing
def _are_done(t: Tasks, modes: Ints, one: int, other: int) -> bool:
    """Return whether neither of two tasks is left out."""
    return bool(t.absent[modes[one]] == 0 and t.absent[modes[other]] == 0)


@internal_borrowing
def _take_in(t: Tasks, room: Room, modes: Ints, free: Ints) -> None:
    """Give tasks that are left out and may choose their mode one in which they are done, if the budget allows one."""
    if t.simple or t.optional == 0:
        return
    spend(t, room, modes)
    for k in range(t.rank.size):
        old = modes[k]
        if free[k] == 0 or t.absent[old] == 0:
            continue
        for m in range(t.mode_first[k], t.mode_first[k + 1]):
            if t.absent[m] == 0 and t.absent[modes[k]] != 0 and change_allowed(t, room, old, m):
                change(t, room, old, m)
                modes[k] = m


@internal_borrowing
def spend(t: Tasks, room: Room, modes: Ints) -> None:
    """Add up what the modes spend of the resources that are not renewable."""
    for i in range(t.budget.size):
        room.spent[i] = 0
        for k in range(t.rank.size):
            room.spent[i] += t.need[modes[k], i]


@internal_borrowing
def release(t: Tasks, room: Room, heap: Ints, size: int, keys: Floats, modes: Ints, task: int, end: int) -> int:
    """Tell the successors of a task when it ends; put those without a missing predecessor into the heap.

    Of a chain its first task is put there, when no task of it has a missing predecessor.
    """
    for i in range(t.after_first[task], t.after_first[task + 1]):
        j = t.after[i]
        if not t.simple and t.optional != 0 and not _are_done(t, modes, task, j):
            continue
        room.ready[j] = max(room.ready[j], end + t.after_delay[i])
        first = j if t.simple else t.head[j]
        if t.simple or first != t.head[task]:
            room.missing[first] -= 1
            if room.missing[first] == 0:
                size = _push(t, heap, size, keys, first)
    return size


@internal_borrowing
def _first_start(t: Tasks, room: Room, modes: Ints, starts: Ints, task: int, time: int) -> int:
    """Return the first start of a task, not before a time; ``starts`` of its chain, if it is in one, are filled."""
    if not t.simple and t.absent[modes[task]] != 0:
        return time
    start = max(time, room.ready[task])
    if t.simple or t.follower[task] == WITHOUT:
        return earliest(t, room, modes[task], start)
    return _chain_start(t, room, modes, starts, task, start)


@internal_borrowing
def _chain_start(t: Tasks, room: Room, modes: Ints, starts: Ints, task: int, time: int) -> int:
    """Fill the first starts of the tasks of a chain, not before a time; return that of its first task.

    No start is ever later than it must be: each one is raised to the first time that the others allow, until none changes.
    """
    k = task
    while k != WITHOUT:
        starts[k] = max(time, room.ready[k])
        k = t.follower[k]
    k = task
    while k != WITHOUT:
        before = t.leader[k]
        least = starts[k]
        if before != WITHOUT:
            least = max(least, starts[before] + t.duration[modes[before]] + t.gap[before])
        starts[k] = earliest(t, room, modes[k], least)
        if before != WITHOUT:
            needed = _start_to_wait(t, room, modes[before], before, starts[before], starts[k])
            if needed > starts[before]:
                starts[before] = needed
                k = before
                continue
        k = t.follower[k]
    return int(starts[task])


@internal_borrowing
def _start_to_wait(t: Tasks, room: Room, mode: int, task: int, start: int, until: int) -> int:
    """Return the first time, not before its start, at which a task can start if its follower starts at a time or later."""
    end = start + t.duration[mode]
    first = start
    if t.exact[task] != 0:
        first += until - end - t.gap[task]
    if t.held[task] == 0 or until == end:
        return first
    for i in range(t.demand_first[mode], t.demand_first[mode + 1]):
        r = t.resource[i]
        most = t.capacity[r] - t.demand[i]
        k = _last_before(room.times[r], room.breakpoints[r], end)
        while k < room.breakpoints[r] and room.times[r, k] < until:
            if room.used[r, k] - _closed_at(t, r, room.times[r, k]) > most:  # a task may keep a resource in a break
                first = max(first, room.times[r, k + 1])
            k += 1
    return first


@internal_borrowing
def _closed_at(t: Tasks, r: int, time: int) -> int:
    """Return the use of a resource by its breaks at a time."""
    i = t.closed_first[r]
    while i + 1 < t.closed_first[r + 1] and t.closed_time[i + 1] <= time:
        i += 1
    return int(t.closed_use[i])


@internal_borrowing
def _put(
    t: Tasks, room: Room, keys: Floats, modes: Ints, starts: Ints, size: int, task: int, start: int
) -> tuple[int, int]:
    """Place a task with those of its chain; return the size of the heap, and the last end."""
    starts[task] = start
    k = task
    last = 0
    while k != WITHOUT:
        mode = modes[k]
        end = end_of(t, mode, starts[k])
        left = end
        if t.held[k] != 0:
            left = max(end, starts[t.follower[k]])
        occupy(t, room, mode, starts[k], left)
        if t.absent[mode] == 0:
            last = max(last, end)
        else:
            starts[k] = max(starts[k], room.ready[k])  # where it would be tried again
        size = release(t, room, room.heap, size, keys, modes, k, end)
        if t.job[k] != WITHOUT:
            room.left[k] = left
            size = _wake_next(t, room, keys, size, k)
        k = t.follower[k]
    return size, last


@internal_borrowing
def _wake_next(t: Tasks, room: Room, keys: Floats, size: int, task: int) -> int:
    """Try the next task on a resource again, if it waits for this one; return the size of the heap."""
    following = room.next_on[task]
    if following == WITHOUT:
        return size
    first = t.head[following]
    if room.asleep[first] == 0:
        return size
    room.asleep[first] = 0
    return _push(t, room.heap, size, keys, first)


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


@internal_borrowing
def _sort(t: Tasks, starts: Ints, order: Ints) -> None:
    """Fill an array with the tasks by their starts, ties by topological order (by Shell's method)."""
    n = t.rank.size
    for k in range(n):
        order[k] = k
    step = n // 2
    while step > 0:
        for i in range(step, n):
            task = order[i]
            j = i
            while j >= step and (
                starts[order[j - step]] > starts[task]
                or (starts[order[j - step]] == starts[task] and t.rank[order[j - step]] > t.rank[task])
            ):
                order[j] = order[j - step]
                j -= step
            order[j] = task
        step //= 2


@internal_borrowing
def _moved_after_others(t: Tasks, order: Ints, last: Ints, modes: Ints, starts: Ints) -> bool:
    """Move each task after its predecessors and the tasks before it on its resources; return whether one was moved."""
    moved = False
    for r in range(last.size):
        last[r] = WITHOUT
    for i in range(order.size):
        k = order[i]
        mode = modes[k]
        if t.absent[mode] != 0:
            continue
        start = starts[k]
        for e in range(t.before_first[k], t.before_first[k + 1]):
            before = t.before[e]
            if t.absent[modes[before]] == 0:
                start = max(start, starts[before] + t.duration[modes[before]] + t.before_delay[e])
        for e in range(t.demand_first[mode], t.demand_first[mode + 1]):
            before = last[t.resource[e]]
            if before != WITHOUT:
                start = max(start, starts[before] + t.duration[modes[before]])
            last[t.resource[e]] = k
        moved = moved or start > starts[k]
        starts[k] = start
    return moved


@internal_borrowing
def _moved_to_next(t: Tasks, order: Ints, last: Ints, modes: Ints, starts: Ints) -> bool:
    """Move each task on a resource without idle time to the next one; return whether one was moved."""
    moved = False
    for r in range(last.size):
        last[r] = WITHOUT
    for i in range(order.size - 1, -1, -1):
        k = order[i]
        mode = modes[k]
        start = starts[k]
        for e in range(t.demand_first[mode], t.demand_first[mode + 1]):
            r = t.resource[e]
            if t.tight[r] != 0:
                if last[r] != WITHOUT:
                    start = max(start, starts[last[r]] - t.duration[mode])
                last[r] = k
        moved = moved or start > starts[k]
        starts[k] = start
    return moved


@internal_borrowing
def _without_idle_time(t: Tasks, room: Room, modes: Ints, starts: Ints, makespan: int) -> int:
    """Move tasks later until the resources without idle time have none; return the makespan, ``MISSED`` if that is impossible.

    The tasks keep their order on each resource, all of which have capacity 1. Overwrites ``room.heap`` and
    ``room.breakpoints``.
    """
    if t.simple:
        return makespan
    some = False
    for r in range(t.tight.size):
        some = some or t.tight[r] != 0
    if not some:
        return makespan
    _sort(t, starts, room.heap)
    for _ in range(t.rank.size + 2):
        moved = _moved_after_others(t, room.heap, room.breakpoints, modes, starts)
        if _moved_to_next(t, room.heap, room.breakpoints, modes, starts):
            moved = True
        if not moved:
            last = 0
            for k in range(t.rank.size):
                if t.absent[modes[k]] == 0:
                    last = max(last, starts[k] + t.duration[modes[k]])
            return last
    return MISSED


@native
def serial(t: Tasks, room: Room, keys: Floats, modes: Ints, free: Ints, starts: Ints) -> int:
    """Schedule all tasks by the serial scheme; return the makespan, ``MISSED`` if a resource must be idle.

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
    _take_in(t, room, modes, free)
    begin(t, room, modes)
    size, makespan = 0, 0
    for k in range(n):
        if room.missing[k] == 0 and (t.simple or t.head[k] == k):
            size = _push(t, room.heap, size, keys, k)
    while size > 0:
        size = _pop(t, room.heap, size, keys)
        k = room.heap[size]
        if not t.simple and t.job_first.size > 1 and _must_wait(t, room, k):
            continue
        mode, start = modes[k], NEVER
        if free[k] == 0 or (not t.simple and (t.follower[k] != WITHOUT or t.absent[mode] != 0)):
            start = _first_start(t, room, modes, starts, k, 0)
        else:
            old = mode
            first_end = NEVER
            for m in range(t.mode_first[k], t.mode_first[k + 1]):
                if (t.simple or t.absent[m] == 0) and (m == old or change_allowed(t, room, old, m)):
                    starts_at = earliest(t, room, m, room.ready[k])
                    ends_at = end_of(t, m, starts_at)
                    if start == NEVER or ends_at < first_end:
                        start = starts_at
                        first_end = ends_at
                        mode = m
            change(t, room, old, mode)
            modes[k] = mode
        if t.simple:  # as in ``_put``, without a call
            end = start + t.duration[mode]
            occupy(t, room, mode, start, end)
            starts[k] = start
            size = release(t, room, room.heap, size, keys, modes, k, end)
        else:
            size, end = _put(t, room, keys, modes, starts, size, k, start)
        makespan = max(makespan, end)
    return _without_idle_time(t, room, modes, starts, makespan)


@native
def parallel(t: Tasks, room: Room, keys: Floats, modes: Ints, waiting: Ints, starts: Ints) -> int:
    """Schedule all tasks in their modes by the parallel scheme; return the makespan, ``MISSED`` if a resource must be idle.

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
        if room.missing[k] == 0 and (t.simple or t.head[k] == k):
            size = _push(t, room.heap, size, keys, k)
    while size > 0:
        waits, following = 0, NEVER
        while size > 0:
            size = _pop(t, room.heap, size, keys)
            k = room.heap[size]
            start = NEVER
            if room.ready[k] <= time or (not t.simple and t.absent[modes[k]] != 0):
                start = _first_start(t, room, modes, starts, k, time)
            if start == time:
                size, end = _put(t, room, keys, modes, starts, size, k, time)
                makespan = max(makespan, end)
            else:
                waiting[waits] = k
                waits += 1
        for i in range(waits):
            k = waiting[i]
            following = min(following, _first_start(t, room, modes, starts, k, time))
            size = _push(t, room.heap, size, keys, k)
        time = following
    return _without_idle_time(t, room, modes, starts, makespan)


# --- The value of a schedule.


@internal_borrowing
def _can_be(t: Tasks, room: Room, r: int, first: int, over: int, i: int, last: bool) -> bool:
    """Return whether the task at a position can be the first (last) one of those at its time, from ``first`` to ``over``."""
    one = room.placed[r, i]
    for j in range(first, over):
        other = room.placed[r, j]
        if j != i and (_setup(t, r, other, one) if last else _setup(t, r, one, other)) > 0:
            return False
    return True


@internal_borrowing
def _least_setup(t: Tasks, room: Room, r: int) -> int:
    """Return the least sum of the setups of a resource over the orders of its tasks that keep them.

    Only tasks of duration 0 at one time have several orders, with setups of 0 between them. ``room.heap`` holds the least
    sum up to each task, if it is the last one of those at its time.
    """
    count = int(room.placed_count[r])
    before = 0
    first = 0
    least = 0
    while first < count:
        over = first + 1
        while (
            over < count
            and room.placed_start[r, over] == room.placed_start[r, first]
            and t.duration[room.placed[r, first]] == t.duration[room.placed[r, over]] == 0
        ):
            over += 1
        least = MISSED
        for last in range(first, over):
            room.heap[last] = MISSED
            if not _can_be(t, room, r, first, over, last, True):
                continue
            for i in range(first, over):
                if (i == last and over - first > 1) or not _can_be(t, room, r, first, over, i, False):
                    continue
                total = 0 if first == 0 else MISSED
                for j in range(before, first):
                    total = min(total, room.heap[j] + _setup(t, r, room.placed[r, j], room.placed[r, i]))
                room.heap[last] = min(room.heap[last], total)
            least = min(least, room.heap[last])
        before = first
        first = over
    return least


@internal_borrowing
def total_setup(t: Tasks, room: Room) -> int:
    """Return the sum of the setups between neighbours, of the schedule that was made last."""
    total = 0
    for r in range(t.capacity.size):
        if t.setups.first[r] != WITHOUT:
            total += _least_setup(t, room, r)
    return total


@internal_borrowing
def worth(t: Tasks, aim: Aim, room: Room, modes: Ints, starts: Ints, makespan: int) -> int:
    """Return the value of the schedule that was made last; ``MISSED`` or more if it misses a deadline."""
    if aim.plain or makespan >= MISSED:
        return makespan
    value = aim.makespan * makespan
    missed = 0
    for k in range(t.rank.size):
        if not t.simple and t.absent[modes[k]] != 0:
            value += aim.penalty[k]
            continue
        end = end_of(t, modes[k], starts[k])
        over = end - aim.due[k]
        value += aim.flow[k] * (end - t.release[k])
        if over > 0:
            value += aim.tardy[k] * over + aim.late[k]
        else:
            value -= aim.early[k] * over
        missed += max(0, end - aim.deadline[k])
    if missed > 0:
        return MISSED + missed
    if not t.simple and aim.setup > 0:
        value += aim.setup * total_setup(t, room)
    return value


@internal_borrowing
def finished(
    t: Tasks, back: Tasks, aim: Aim, room: Room, keys: Floats, modes: Ints, none: Ints, starts: Ints, makespan: int
) -> int:
    """Justify a schedule if the makespan alone counts; return its value. The arguments are those of ``justify``."""
    if aim.plain:
        return justify(t, back, room, keys, modes, none, starts)
    return worth(t, aim, room, modes, starts, makespan)


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
        keys[k] = -float(end_of(t, modes[k], starts[k]))
    last = serial(back, room, keys, modes, none, starts)
    for k in range(n):
        keys[k] = float(last - starts[k] - t.duration[modes[k]])
    return serial(t, room, keys, modes, none, starts)


@compiled
def generate(
    t: Tasks,
    back: Tasks,
    aim: Aim,
    room: Room,
    keys: Floats,
    modes: Ints,
    free: Ints,
    starts: Ints,
    in_parallel: bool,
) -> int:
    """Schedule all tasks by the serial or the parallel scheme, justify twice if the makespan counts; return the value.

    ``keys`` and ``free`` are overwritten; otherwise the arguments are those of ``serial`` and ``justify``. Where jobs have
    the same order on several resources, the scheme is always the serial one.
    """
    if in_parallel and (t.simple or t.job_first.size == 1):
        makespan = parallel(t, room, keys, modes, free, starts)
    else:
        makespan = serial(t, room, keys, modes, free, starts)
    for k in range(free.size):
        free[k] = 0
    return finished(t, back, aim, room, keys, modes, free, starts, makespan)


# --- New schedules from old ones: crossover, destroy operators, changes of modes, as compiled code.
#
# A schedule is varied through its keys, which are the starts of its tasks, and its modes.

CROSSOVER, WINDOW, RESOURCE, NETWORK = range(4)
LARGEST = 0.5  # share of the makespan: the longest window of a destroy operator
MOST_LINKED = 60  # tasks that the destroy operator NETWORK takes
FREE = 0.4  # share of the destroyed tasks that may take another mode; half of them the one with which they end first
LIMIT = np.uint64(11)  # bits of a random number that a float cannot hold
SHIFTS = (np.uint64(12), np.uint64(25), np.uint64(27))
FACTOR = np.uint64(2685821657736338717)


@internal_borrowing
def draw(state: Ints) -> float:
    """Return a random number in [0, 1) by xorshift64* [Vigna2016]; ``state`` is not 0, uint64, shape (1,)."""
    x = state[0]
    x ^= x >> SHIFTS[0]
    x ^= x << SHIFTS[1]
    x ^= x >> SHIFTS[2]
    state[0] = x
    return float((x * FACTOR) >> LIMIT) / 9007199254740992.0  # 2^53


@internal_borrowing
def below(state: Ints, n: int) -> int:
    """Return a random whole number from 0 to n - 1."""
    return int(draw(state) * n)


@internal_borrowing
def cross(
    t: Tasks,
    state: Ints,
    father: Ints,
    fathers: Ints,
    mother: Ints,
    mothers: Ints,
    last: int,
    keys: Floats,
    modes: Ints,
) -> None:
    """Give a child the order and modes of its father in a window of time, and those of its mother before and after it.

    The two-point crossover of [Debels2007].
    """
    length = last * (0.15 + 0.6 * draw(state))
    since = draw(state) * (last + length) - length
    until = since + length
    for k in range(t.rank.size):
        if father[k] < since:
            keys[k] = float(mother[k]) - 4.0 * last
            modes[k] = mothers[k]
        elif father[k] >= until:
            keys[k] = float(mother[k]) + 4.0 * last
            modes[k] = mothers[k]
        else:
            keys[k] = float(father[k])
            modes[k] = fathers[k]


@internal_borrowing
def destroy(t: Tasks, state: Ints, kind: int, starts: Ints, modes: Ints, last: int, chosen: Ints, found: Ints) -> int:
    """Choose tasks of a schedule; return their number.

    Parameters
    ----------
    t, state
        The project, random numbers.
    kind
        ``WINDOW``: the tasks that start in a window of time, with the first tasks of their chains. ``RESOURCE``: those of
        them that use a resource, in a longer window. ``NETWORK``: tasks that precedences connect with one of them.
    starts, modes, last
        The schedule and its makespan.
    chosen
        Is filled with 1 for the chosen tasks, else 0, shape (tasks,).
    found
        Is filled with the chosen tasks, shape (tasks,).
    """
    n, count = t.rank.size, 0
    for k in range(n):
        chosen[k] = 0
    if kind == NETWORK:
        return _connected(t, state, chosen, found)
    share = LARGEST * draw(state) ** 2
    length = max(1.0, last * (2 * share if kind == RESOURCE else share))
    since = draw(state) * (last + length) - length
    resource = below(state, max(1, t.capacity.size))
    for k in range(n):
        if since <= starts[k] < since + length and (kind == WINDOW or _uses(t, modes[k], resource)):
            count = _add(k, n, chosen, found, count)
            if not t.simple:
                count = _add(t.head[k], n, chosen, found, count)  # its key moves the chain
    return count


@internal_borrowing
def _uses(t: Tasks, mode: int, resource: int) -> bool:
    for i in range(t.demand_first[mode], t.demand_first[mode + 1]):
        if t.resource[i] == resource:
            return True
    return False


@internal_borrowing
def _connected(t: Tasks, state: Ints, chosen: Ints, found: Ints) -> int:
    """Choose a task and tasks that are near in the network of precedences; return their number."""
    n = t.rank.size
    most = min(n, 2 + below(state, MOST_LINKED))
    found[0] = below(state, n)
    count = 1
    at = 0
    chosen[found[0]] = 1
    while at < count and count < most:
        k = found[at]
        at += 1
        for i in range(t.before_first[k], t.before_first[k + 1]):
            count = _add(t.before[i], most, chosen, found, count)
        for i in range(t.after_first[k], t.after_first[k + 1]):
            count = _add(t.after[i], most, chosen, found, count)
    return count


@internal_borrowing
def _add(task: int, most: int, chosen: Ints, found: Ints, count: int) -> int:
    if chosen[task] == 0 and count < most:
        chosen[task], found[count] = 1, task
        count += 1
    return count


@internal_borrowing
def scatter(state: Ints, values: Floats, found: Ints, count: int, keys: Floats) -> None:
    """Give tasks new keys in the range of their old ones: random ones, by a priority rule with noise, or near the old ones.

    ``values`` are those of a rule from 0 to 1, shape (tasks,).
    """
    low, high = np.inf, -np.inf
    for i in range(count):
        low = min(low, keys[found[i]])
        high = max(high, keys[found[i]])
    width = high - low + 1.0
    how = below(state, 3)
    noise = draw(state)
    for i in range(count):
        k = found[i]
        u = draw(state)
        if how == 0:
            keys[k] = low + u * width
        elif how == 1:
            keys[k] = low + (values[k] + noise * (u - 0.5)) * width
        else:
            keys[k] += noise * (u - 0.5) * width


@internal_borrowing
def loosen(t: Tasks, room: Room, state: Ints, found: Ints, count: int, modes: Ints, free: Ints) -> None:
    """Let some tasks choose their mode, and give others a random one that the budget allows."""
    spend(t, room, modes)
    for i in range(count):
        k = found[i]
        first = t.mode_first[k]
        options = t.mode_first[k + 1] - t.mode_first[k]
        if options > 1 and draw(state) < FREE:
            new = first + below(state, options)
            if draw(state) < 0.5:
                free[k] = 1
            elif change_allowed(t, room, modes[k], new):
                change(t, room, modes[k], new)
                modes[k] = new


@internal_borrowing
def excess(t: Tasks, room: Room, old: int, new: int) -> float:
    """Return the sum, over the resources that are not renewable, of the exceeding share of the budget after a change."""
    total = 0.0
    for i in range(t.budget.size):
        over = room.spent[i] - t.need[old, i] + t.need[new, i] - t.budget[i]
        if over > 0:
            total += over / max(1, t.budget[i])
    return total


@internal_borrowing
def keep_budget(t: Tasks, room: Room, state: Ints, modes: Ints) -> bool:
    """Change the modes of random tasks until the budget suffices; return whether it does.

    A change is made if it lowers the excess; of the modes of a task, the one with the least excess is taken.
    """
    if t.budget.size == 0:
        return True
    spend(t, room, modes)
    n = t.rank.size
    now = excess(t, room, modes[0], modes[0]) if n else 0.0
    for _ in range(4 * n):
        if now == 0.0:
            return True
        k = below(state, n)
        best, least = modes[k], now
        for m in range(t.mode_first[k], t.mode_first[k + 1]):
            value = excess(t, room, modes[k], m)
            if value < least:
                best, least = m, value
        change(t, room, modes[k], best)
        modes[k], now = best, least
    return now == 0.0


# --- The evolution of schedules of a project: a step makes one new schedule from kept ones.
#
# 1. Take one of the kept schedules, the more often a good one the later it is.
# 2. Crossover: replace a part of its order by that of another kept one. Or destroy: give the tasks of a window of time, of a
#    resource, or of a part of the network other keys, and perhaps other modes (``variation``).
# 3. Generate the schedule by the serial scheme; if the makespan alone counts, justify it twice (``generation``).
# 4. The new schedule replaces the one it was made from, if the acceptance criterion allows it and no other kept one has the
#    same starts.


@by_address
class Kept(NamedTuple):
    """The schedules that a search keeps.

    Parameters
    ----------
    starts, modes
        Start and mode of each task in each of them, shape (schedules, tasks).
    value
        Value of the objective of each, shape (schedules,).
    """

    starts: Ints
    modes: Ints
    value: Ints


@by_address
class Child(NamedTuple):
    """Arrays of a new schedule.

    Parameters
    ----------
    keys
        Keys of the tasks, shape (tasks,).
    starts, modes
        Start and mode of each task, shape (tasks,).
    free, none
        Tasks that choose their mode; zeros. Shape (tasks,).
    found
        Destroyed tasks, shape (tasks,).
    """

    keys: Floats
    starts: Ints
    modes: Ints
    free: Ints
    none: Ints
    found: Ints


@internal_borrowing
def _parent(kept: Kept, state: Ints, over: float) -> int:
    """Return one of the kept schedules: a random one, or the best of four, the more often the later."""
    size = kept.value.size
    best = below(state, size)
    if draw(state) < over:
        for _ in range(3):
            other = below(state, size)
            if kept.value[other] < kept.value[best]:
                best = other
    return best


@internal_borrowing
def _is_new(kept: Kept, child: Child, value: int) -> bool:
    """Return whether no kept schedule has the starts and modes of the child."""
    for p in range(kept.value.size):
        if kept.value[p] == value:
            k, n = 0, child.starts.size
            while k < n and kept.starts[p, k] == child.starts[k] and kept.modes[p, k] == child.modes[k]:
                k += 1
            if k == n:
                return False
    return True


@internal_borrowing
def _makespan(t: Tasks, starts: Ints, modes: Ints) -> int:
    last = 0
    for k in range(t.rank.size):
        if t.simple or t.absent[modes[k]] == 0:
            last = max(last, end_of(t, modes[k], starts[k]))
    return last


@internal_borrowing
def _vary(t: Tasks, room: Room, kept: Kept, child: Child, rules: Floats, state: Ints, kind: int, at: int) -> None:
    """Make the keys and modes of a child of the kept schedule ``at``."""
    n = t.rank.size
    for k in range(n):
        child.keys[k], child.modes[k], child.free[k] = float(kept.starts[at, k]), kept.modes[at, k], 0
    if kind == CROSSOVER:
        other = below(state, kept.value.size)
        cross(
            t, state, kept.starts[other], kept.modes[other], kept.starts[at], kept.modes[at],
            _makespan(t, kept.starts[other], kept.modes[other]), child.keys, child.modes,
        )  # fmt: skip
        if not keep_budget(t, room, state, child.modes):
            for k in range(n):
                child.modes[k] = kept.modes[at, k]
        child.found[0] = below(state, n)
        loosen(t, room, state, child.found, 1, child.modes, child.free)
        return
    last = _makespan(t, kept.starts[at], kept.modes[at])
    count = destroy(t, state, kind, kept.starts[at], kept.modes[at], last, child.none, child.found)
    for k in range(n):
        child.none[k] = 0
    scatter(state, rules[below(state, rules.shape[0])], child.found, count, child.keys)
    loosen(t, room, state, child.found, count, child.modes, child.free)


@compiled
def evolve(
    t: Tasks,
    back: Tasks,
    aim: Aim,
    room: Room,
    kept: Kept,
    child: Child,
    rules: Floats,
    kinds: Ints,
    over: float,
    over_current: Floats,
    over_best: Floats,
    best: int,
    state: Ints,
    stop: Ints,
) -> tuple[int, int]:
    """Make some steps; return their number and the index of the best schedule of them, -1 if none is better than ``best``.

    Parameters
    ----------
    t, back, aim, room
        The project, the project in reversed time, its objective, arrays to overwrite.
    kept
        The kept schedules, which are changed.
    child
        Arrays to overwrite; ``none`` has zeros.
    rules
        Values of priority rules from 0 to 1, shape (rules, tasks).
    kinds
        What the steps may do, one of ``variation``; a step draws one of them.
    over
        Share of the search that is over, from 0 to 1.
    over_current, over_best
        What the value of an accepted schedule may be worse by than that of its parent and than the best one, shape
        (steps,).
    best
        Best value of the search; the steps end when a better schedule is found.
    state
        State of the random numbers, uint64, shape (1,).
    stop
        The steps end when it is not 0, shape (1,).
    """
    for step in range(over_current.size):
        if stop[0] != 0:
            return step, -1
        at = _parent(kept, state, over)
        _vary(t, room, kept, child, rules, state, kinds[below(state, kinds.size)], at)
        makespan = serial(t, room, child.keys, child.modes, child.free, child.starts)
        value = finished(t, back, aim, room, child.keys, child.modes, child.none, child.starts, makespan)
        allowed = min(kept.value[at] + over_current[step], best + over_best[step])
        if value < best or (value <= allowed and _is_new(kept, child, value)):
            kept.value[at] = value
            for k in range(t.rank.size):
                kept.starts[at, k], kept.modes[at, k] = child.starts[k], child.modes[k]
            if value < best:
                return step + 1, at
    return over_current.size, -1
