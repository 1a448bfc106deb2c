"""Schedule generation for projects, serial and parallel, and double justification, as compiled code.

A schedule is given by a key per task and a mode per task: of the tasks whose predecessors are scheduled, the one with the
least key is next (ties: topological order). The serial scheme starts it as early as possible [Kolisch1996b]; the parallel
scheme goes from event to event and starts what is ready and fits [Kolisch1996b]. Double justification moves all tasks to
the right, those that end last first, then to the left, those that start first first [Valls2005]. A move to the right is
the serial scheme on the project in reversed time.
"""

from __future__ import annotations

from ....models.compiled import compiled, internal_borrowing, native
from ..profile import NEVER, Floats, Ints
from .tasks import Room, Tasks
from .usage import clear, earliest, occupy


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
    top, task = heap[0], heap[size - 1]
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
        room.missing[k], room.ready[k] = t.before_first[k + 1] - t.before_first[k], 0
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
                    found = earliest(t, room, m, room.ready[k])
                    if start == NEVER or found + t.duration[m] < start + t.duration[mode]:
                        start, mode = found, m
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
    size, makespan, time = 0, 0, 0
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
