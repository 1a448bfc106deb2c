"""Tabu search on the disjunctive graph of a shop, also a flexible one."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ...models.array_types import Ints
from ...models.compiled import by_address, compiled, constant, internal_borrowing, native
from .profile import NEVER
from .project_schedules import Tasks, below, draw

# --- The disjunctive graph of a shop: an order of the tasks on each machine, and the longest paths.
#
# A shop is a project in which a mode occupies at most one machine, alone. A schedule is given by a mode per task and an order of
# the tasks on each machine: its graph has an arc for each precedence and from each task to the next one on its machine. No task
# can start before its head, the longest path to it; with these starts the makespan is the longest path [Balas1998, 2].

NONE = -1  # no task, no machine


@by_address
@constant("released")
class Plan(NamedTuple):
    """The modes and the orders of a schedule.

    Parameters
    ----------
    released
        True if a task has a release date, else None. Functions have a version for each.
    mode, duration
        Mode and duration of each task, shape (tasks,).
    before, after
        The tasks before and after each one on its machine, ``NONE`` at the ends, shape (tasks,).
    first, last
        First and last task of each machine, ``NONE`` if it has none, shape (machines,).
    """

    released: Literal[True] | None
    mode: Ints
    duration: Ints
    before: Ints
    after: Ints
    first: Ints
    last: Ints


@by_address
class Paths(NamedTuple):
    """The longest paths of a plan, shape (tasks,) each.

    Parameters
    ----------
    head, tail
        Longest path to the start of each task, and from its end.
    ready, rest
        The same over the precedences of the task only, without the tasks before and after it on its machine.
    order, rank
        The tasks in topological order; the position of each of them.
    missing
        An array to overwrite.
    """

    head: Ints
    tail: Ints
    ready: Ints
    rest: Ints
    order: Ints
    rank: Ints
    missing: Ints


def new_plan(tasks: Tasks, machines: int) -> Plan:
    """Return the arrays of a plan."""
    n = tasks.rank.size
    sizes = (n, n, n, n, machines, machines)
    return Plan(True if tasks.release.any() else None, *(np.zeros(size, np.int64) for size in sizes))


def new_paths(tasks: Tasks) -> Paths:
    """Return the arrays of longest paths."""
    return Paths(*(np.zeros(tasks.rank.size, np.int64) for _ in Paths._fields))


@internal_borrowing
def remove(machine: Ints, plan: Plan, task: int) -> None:
    """Take a task off its machine."""
    b = plan.before[task]
    a = plan.after[task]
    k = machine[plan.mode[task]]
    if k == NONE:
        return
    if b == NONE:
        plan.first[k] = a
    else:
        plan.after[b] = a
    if a == NONE:
        plan.last[k] = b
    else:
        plan.before[a] = b


@internal_borrowing
def insert(t: Tasks, machine: Ints, plan: Plan, task: int, mode: int, before: int) -> None:
    """Put a task without a machine on the machine of a mode, after the task ``before``; ``NONE``: first."""
    k = machine[mode]
    plan.mode[task], plan.duration[task] = mode, t.duration[mode]
    plan.before[task], plan.after[task] = NONE, NONE
    if k == NONE:
        return
    a = plan.first[k] if before == NONE else plan.after[before]
    plan.before[task], plan.after[task] = before, a
    if before == NONE:
        plan.first[k] = task
    else:
        plan.after[before] = task
    if a == NONE:
        plan.last[k] = task
    else:
        plan.before[a] = task


@native
def arrange(t: Tasks, machine: Ints, plan: Plan, order: Ints, mode: Ints) -> None:
    """Fill a plan: the tasks are on the machines of their modes, in the order in which they are in ``order``.

    Parameters
    ----------
    t, machine
        The project; the machine of each mode, shape (modes,).
    plan
        Is filled.
    order, mode
        The tasks in a topological order; the mode of each task. Shape (tasks,).
    """
    for k in range(plan.first.size):
        plan.first[k], plan.last[k] = NONE, NONE
    for i in range(order.size):
        task = order[i]
        m = mode[task]
        insert(t, machine, plan, task, m, NONE if machine[m] == NONE else plan.last[machine[m]])


@internal_borrowing
def head_of(plan: Plan, head: Ints, task: int, ready: int) -> int:
    """Return the head of a task that is ``ready`` by its precedences: not before the end of the task before it."""
    b = plan.before[task]
    return ready if b == NONE else max(ready, head[b] + plan.duration[b])


@internal_borrowing
def tail_of(plan: Plan, tail: Ints, task: int, rest: int) -> int:
    """Return the tail of a task with the longest path ``rest`` over its successors, and over the task after it."""
    a = plan.after[task]
    return rest if a == NONE else max(rest, plan.duration[a] + tail[a])


@internal_borrowing
def ready_at(t: Tasks, plan: Plan, head: Ints, task: int) -> int:
    """Return the earliest start of a task by its release date and its predecessors."""
    ready = 0
    if plan.released:
        ready = t.release[task]
    for e in range(t.before_first[task], t.before_first[task + 1]):
        i = t.before[e]
        ready = max(ready, head[i] + plan.duration[i] + t.before_delay[e])
    return int(ready)


@internal_borrowing
def rest_after(t: Tasks, plan: Plan, tail: Ints, task: int) -> int:
    """Return the longest path from the end of a task over its successors."""
    rest = 0
    for e in range(t.after_first[task], t.after_first[task + 1]):
        i = t.after[e]
        rest = max(rest, t.after_delay[e] + plan.duration[i] + tail[i])
    return rest


@native
def longest(t: Tasks, plan: Plan, p: Paths) -> int:
    """Compute the longest paths of a plan; return the makespan, -1 if the graph has a cycle."""
    n = p.order.size
    size = 0
    makespan = 0
    for k in range(n):
        p.missing[k] = t.before_first[k + 1] - t.before_first[k] + (plan.before[k] != NONE)
        if p.missing[k] == 0:
            p.order[size] = k
            size += 1
    at = 0
    while at < size:
        k = p.order[at]
        p.rank[k] = at
        at += 1
        p.ready[k] = ready_at(t, plan, p.head, k)
        p.head[k] = head_of(plan, p.head, k, p.ready[k])
        makespan = max(makespan, p.head[k] + plan.duration[k])
        for e in range(t.after_first[k], t.after_first[k + 1]):
            j = t.after[e]
            p.missing[j] -= 1
            if p.missing[j] == 0:
                p.order[size] = j
                size += 1
        j = plan.after[k]
        if j != NONE:
            p.missing[j] -= 1
            if p.missing[j] == 0:
                p.order[size] = j
                size += 1
    if size < n:
        return -1
    for at in range(n - 1, -1, -1):
        k = p.order[at]
        p.rest[k] = rest_after(t, plan, p.tail, k)
        p.tail[k] = tail_of(plan, p.tail, k, p.rest[k])
    return makespan


@compiled
def semi_active(t: Tasks, machine: Ints, plan: Plan, p: Paths, order: Ints, mode: Ints) -> int:
    """Fill a plan and its longest paths from an order (``arrange``); return the makespan."""
    arrange(t, machine, plan, order, mode)
    return longest(t, plan, p)


# --- Moves of one task of a shop, and the makespan after them.
#
# Within a machine: N6 [Balas1998] and its extension N7 [Zhang2007], which contain N5 [Nowicki1996]. A block is a longest
# sequence of tasks of a critical path that follow one another on a machine. A task moves right after the last or right before
# the first task of its block, the first or the last one also into the block. The makespan after a move is estimated by the longest
# path through the moved tasks [Taillard1994, Balas1998].
#
# To another mode: the k-insertion of [Mastrolilli2000]. It removes a task and computes all longest paths anew, so the makespan
# after each insertion is exact, and it looks only at those places of the machine that contain a best one.
#
# Delays of precedences must not be negative: then a path from task i to task j implies
#
#     head[j] >= head[i] + duration[i],    tail[i] >= duration[j] + tail[j],
#
# and a move makes no cycle if one of the two does not hold for what would be the cycle.


@by_address
class Room(NamedTuple):
    """Arrays that the moves overwrite, shape (tasks,) each.

    Parameters
    ----------
    head, tail
        Heads and tails after a move.
    path
        The tasks of a critical path.
    """

    head: Ints
    tail: Ints
    path: Ints


def new_room(tasks: Tasks) -> Room:
    """Return the arrays for moves of a project."""
    return Room(*(np.zeros(tasks.rank.size, np.int64) for _ in Room._fields))


@internal_borrowing
def _no_path(plan: Plan, p: Paths, i: int, j: int) -> bool:
    """Return whether the longest paths show that there is no path from task i to task j, and i is not j."""
    return bool(i != j and (p.head[j] < p.head[i] + plan.duration[i] or p.tail[i] < plan.duration[j] + p.tail[j]))


@internal_borrowing
def may_follow(t: Tasks, plan: Plan, p: Paths, u: int, v: int) -> bool:
    """Return whether task u can move right after the later task v of its machine: no successor of u leads to v."""
    for e in range(t.after_first[u], t.after_first[u + 1]):
        if not _no_path(plan, p, t.after[e], v):
            return False
    return True


@internal_borrowing
def may_precede(t: Tasks, plan: Plan, p: Paths, v: int, u: int) -> bool:
    """Return whether task v can move right before the earlier task u of its machine: u leads to no predecessor of v."""
    for e in range(t.before_first[v], t.before_first[v + 1]):
        if not _no_path(plan, p, u, t.before[e]):
            return False
    return True


@internal_borrowing
def estimate_after(plan: Plan, p: Paths, room: Room, u: int, v: int) -> int:
    """Return the estimated longest path through u and the tasks up to v if u moves right after v."""
    b, a = plan.before[u], plan.after[v]
    end = 0 if b == NONE else p.head[b] + plan.duration[b]
    w = u
    while w != v:
        w = plan.after[w]
        room.head[w] = max(p.ready[w], end)
        end = room.head[w] + plan.duration[w]
    head = max(p.ready[u], end)
    path = plan.duration[u] + max(p.rest[u], 0 if a == NONE else plan.duration[a] + p.tail[a])
    longest = head + path
    while w != u:
        path = plan.duration[w] + max(p.rest[w], path)
        longest = max(longest, room.head[w] + path)
        w = plan.before[w]
    return int(longest)


@internal_borrowing
def estimate_before(plan: Plan, p: Paths, room: Room, v: int, u: int) -> int:
    """Return the estimated longest path through v and the tasks from u on if v moves right before u."""
    b, a = plan.before[u], plan.after[v]
    path = 0 if a == NONE else plan.duration[a] + p.tail[a]
    w = v
    while w != u:
        w = plan.before[w]
        path = max(p.rest[w], path)
        room.tail[w] = path
        path += plan.duration[w]
    tail = max(p.rest[v], path)
    end = plan.duration[v] + max(p.ready[v], 0 if b == NONE else p.head[b] + plan.duration[b])
    longest = end + tail
    while w != v:
        end = plan.duration[w] + max(p.ready[w], end)
        longest = max(longest, end + room.tail[w])
        w = plan.after[w]
    return int(longest)


@internal_borrowing
def critical_path(t: Tasks, plan: Plan, p: Paths, room: Room, state: Ints, makespan: int) -> int:
    """Fill ``room.path`` with a random critical path from its end to its begin; return the number of tasks."""
    n = p.order.size
    count = 0
    ties = 0
    k = NONE
    for i in range(n):
        if p.head[i] + plan.duration[i] == makespan:
            ties += 1
            if below(state, ties) == 0:
                k = i
    while k != NONE:
        room.path[count] = k
        count += 1
        last = NONE
        ties = 0
        b = plan.before[k]
        if b != NONE and p.head[b] + plan.duration[b] == p.head[k]:
            last, ties = b, 1
        for e in range(t.before_first[k], t.before_first[k + 1]):
            i = t.before[e]
            if p.head[i] + plan.duration[i] + t.before_delay[e] == p.head[k]:
                ties += 1
                if below(state, ties) == 0:
                    last = i
        k = last
    return count


@native
def without(t: Tasks, plan: Plan, p: Paths, room: Room, v: int) -> int:
    """Fill ``room`` with the heads and tails of the graph without task v; return its longest path.

    v keeps its precedences, but it is on no machine and has no duration.
    """
    n, at = p.order.size, p.rank[v]
    b = plan.before[v]
    a = plan.after[v]
    kept = plan.duration[v]
    plan.duration[v] = 0
    if a != NONE:
        plan.before[a] = b
    if b != NONE:
        plan.after[b] = a
    for i in range(n):
        room.head[i], room.tail[i] = p.head[i], p.tail[i]
    room.head[v], room.tail[v] = p.ready[v], p.rest[v]
    longest = 0
    for i in range(at + 1, n):
        k = p.order[i]
        room.head[k] = head_of(plan, room.head, k, ready_at(t, plan, room.head, k))
    for i in range(at - 1, -1, -1):
        k = p.order[i]
        room.tail[k] = tail_of(plan, room.tail, k, rest_after(t, plan, room.tail, k))
    for k in range(n):
        longest = max(longest, room.head[k] + plan.duration[k])
    plan.duration[v] = kept
    if a != NONE:
        plan.before[a] = v
    if b != NONE:
        plan.after[b] = v
    return longest


@internal_borrowing
def insertion(t: Tasks, machine: Ints, plan: Plan, room: Room, v: int, mode: int, state: Ints) -> tuple[int, int]:
    """Return the least longest path through task v in a mode, and the task before it in the place with which it is reached.

    ``room`` is that of ``without``. The task is ``NONE`` if v is the first one of its machine, or in a mode without a machine.
    """
    head = room.head[v]
    tail = room.tail[v]
    duration = t.duration[mode]
    k = machine[mode]
    if k == NONE:
        return head + duration + tail, NONE
    best = -1
    place = NONE
    ties = 0
    x, y = NONE, plan.first[k]
    while True:
        if y == v:
            y = plan.after[y]
        # all places up to the last task with a long tail that ends before v can start are left out, so is the mirror image
        early = y != NONE and _long_tail(plan, room, y, tail) and not _late(plan, room, y, head)
        if x != NONE and _late(plan, room, x, head) and not _long_tail(plan, room, x, tail):
            return best, place
        if not early:
            value = max(head, 0 if x == NONE else room.head[x] + plan.duration[x]) + duration
            value += max(tail, 0 if y == NONE else plan.duration[y] + room.tail[y])
            if best == -1 or value < best:
                best, ties = value, 0
            if value == best:
                ties += 1
                if below(state, ties) == 0:
                    place = x
        if y == NONE:
            return best, place
        x, y = y, plan.after[y]


@internal_borrowing
def _late(plan: Plan, room: Room, x: int, head: int) -> bool:
    """Return whether a task ends after v could start."""
    return bool(room.head[x] + plan.duration[x] > head)


@internal_borrowing
def _long_tail(plan: Plan, room: Room, x: int, tail: int) -> bool:
    """Return whether a task needs more time from its start than remains after v."""
    return bool(room.tail[x] + plan.duration[x] > tail)


# --- Tabu search on the disjunctive graph of a shop.
#
# 1. Take a random critical path, and all moves of its tasks (``moves``).
# 2. Make the move with the least estimated makespan that is not tabu, or is estimated to be better than the best schedule
#    of the run. If all are tabu, make a random one.
# 3. For some iterations, arcs that the move has reversed may not be reversed again, and a task may not return to the mode that it has left.
# 4. Compute the longest paths. Repeat until the best schedule has not improved for some iterations.
#
# The number of iterations is random, from 10 + n / m to 1.4 times as many with n jobs on m machines [Zhang2007, Peng2015].

ARCS = 2**16  # size of the table of tabu arcs; in large shops, arcs with the same entry are tabu together
ITERATION, IMPROVED, MAKESPAN, BEST = range(4)
VALUE, TIES, TASK, MODE, BEFORE = range(5)
ALLOWED, TABU = range(2)
LONGER = 1.4  # longest tenure / shortest one


@by_address
class Memory(NamedTuple):
    """What a run of tabu search remembers.

    Parameters
    ----------
    arcs
        Iteration until which an arc between two tasks is tabu, shape (``ARCS``,).
    modes
        Iteration until which a mode is tabu, shape (modes,).
    numbers
        Number of iterations; iteration of the last improvement; makespan of the plan and of the best one, shape (4,).
    order, mode
        The best schedule: its tasks in topological order; the mode of each task. Shape (tasks,).
    choice
        The move to make: estimated makespan, number of moves among which it was drawn, task, mode, task before it on the
        machine. Row ``ALLOWED``, and row ``TABU`` if all are tabu. Shape (2, 5).
    """

    arcs: Ints
    modes: Ints
    numbers: Ints
    order: Ints
    mode: Ints
    choice: Ints


def new_memory(tasks: Tasks) -> Memory:
    """Return the arrays of a run."""
    n = tasks.rank.size
    arcs, modes, numbers, order, mode = (np.zeros(size, np.int64) for size in (ARCS, tasks.duration.size, 4, n, n))
    return Memory(arcs, modes, numbers, order, mode, np.zeros((2, 5), np.int64))


@internal_borrowing
def _entry(plan: Plan, i: int, j: int) -> int:
    """Return the index of the arc from task i to task j in the table."""
    return (i * plan.mode.size + j) % ARCS


@internal_borrowing
def _tabu_after(plan: Plan, memory: Memory, u: int, v: int) -> bool:
    """Return whether an arc is tabu that arises if task u moves right after v."""
    w = u
    while w != v:
        w = plan.after[w]
        if memory.arcs[_entry(plan, w, u)] > memory.numbers[ITERATION]:
            return True
    return False


@internal_borrowing
def _tabu_before(plan: Plan, memory: Memory, v: int, u: int) -> bool:
    """Return whether an arc is tabu that arises if task v moves right before u."""
    w = v
    while w != u:
        w = plan.before[w]
        if memory.arcs[_entry(plan, v, w)] > memory.numbers[ITERATION]:
            return True
    return False


@internal_borrowing
def _offer(memory: Memory, state: Ints, value: int, tabu: bool, task: int, mode: int, before: int) -> None:
    """Choose a move if it is the best one so far; of tabu ones, and of equal ones, a random one."""
    row = TABU if tabu and value >= memory.numbers[BEST] else ALLOWED
    choice = memory.choice[row]
    if row == ALLOWED and (value > choice[VALUE] and choice[TIES] > 0):
        return
    if row == ALLOWED and value < choice[VALUE]:
        choice[TIES] = 0
    choice[TIES] += 1
    if below(state, choice[TIES]) == 0:
        choice[VALUE] = value
        choice[TASK] = task
        choice[MODE] = mode
        choice[BEFORE] = before


@internal_borrowing
def _offer_after(t: Tasks, plan: Plan, p: Paths, room: Room, memory: Memory, state: Ints, u: int, v: int) -> None:
    """Offer the move of task u right after v."""
    if may_follow(t, plan, p, u, v):
        value = estimate_after(plan, p, room, u, v)
        _offer(memory, state, value, _tabu_after(plan, memory, u, v), u, plan.mode[u], v)


@internal_borrowing
def _offer_before(t: Tasks, plan: Plan, p: Paths, room: Room, memory: Memory, state: Ints, v: int, u: int) -> None:
    """Offer the move of task v right before u."""
    if may_precede(t, plan, p, v, u):
        value = estimate_before(plan, p, room, v, u)
        _offer(memory, state, value, _tabu_before(plan, memory, v, u), v, plan.mode[v], plan.before[u])


@native
def _offer_block(
    t: Tasks, plan: Plan, p: Paths, room: Room, memory: Memory, state: Ints, since: int, until: int, count: int
) -> None:
    """Offer the moves of the block at the positions ``since`` (its last task) to ``until`` (its first one) of the path.

    Moves to the begin of the first block and to the end of the last block cannot shorten the path [Nowicki1996].
    """
    first, last = room.path[until], room.path[since]
    length = until - since + 1
    if since > 0:
        for i in range(since + 1, until + 1):
            _offer_after(t, plan, p, room, memory, state, room.path[i], last)
        for i in range(since + 2, until):  # N7: into the block; the exchange with its neighbour is a move of N6
            _offer_before(t, plan, p, room, memory, state, last, room.path[i])
    if until < count - 1:
        for i in range(since, until):
            if length > 2 or since == 0:  # else the same exchange of two tasks as above
                _offer_before(t, plan, p, room, memory, state, room.path[i], first)
        for i in range(since + 1, until - 1):
            _offer_after(t, plan, p, room, memory, state, first, room.path[i])


@internal_borrowing
def _offer_modes(
    t: Tasks, machine: Ints, plan: Plan, p: Paths, room: Room, memory: Memory, state: Ints, v: int
) -> None:
    """Offer the best insertion of task v in each other mode."""
    first = t.mode_first[v]
    end = t.mode_first[v + 1]
    if end - first == 1:
        return
    longest_without = without(t, plan, p, room, v)
    for mode in range(first, end):
        if mode != plan.mode[v]:
            value, before = insertion(t, machine, plan, room, v, mode, state)
            tabu = memory.modes[mode] > memory.numbers[ITERATION]
            _offer(memory, state, max(longest_without, value), tabu, v, mode, before)


@native
def choose(t: Tasks, machine: Ints, plan: Plan, p: Paths, room: Room, memory: Memory, state: Ints) -> int:
    """Choose a move; return its row of ``memory.choice``, ``NONE`` if there is none."""
    memory.choice[ALLOWED, VALUE] = NEVER
    memory.choice[ALLOWED, TIES] = 0
    memory.choice[TABU, TIES] = 0
    count = critical_path(t, plan, p, room, state, memory.numbers[MAKESPAN])
    since = 0
    for i in range(count):
        v = room.path[i]
        if i + 1 == count or plan.before[v] == NONE or plan.before[v] != room.path[i + 1]:
            if i > since:
                _offer_block(t, plan, p, room, memory, state, since, i, count)
            since = i + 1
    for i in range(count):
        _offer_modes(t, machine, plan, p, room, memory, state, room.path[i])
    if memory.choice[ALLOWED, TIES] > 0:
        return ALLOWED
    return TABU if memory.choice[TABU, TIES] > 0 else NONE


@internal_borrowing
def _make(t: Tasks, machine: Ints, plan: Plan, p: Paths, memory: Memory, row: int, until: int) -> None:
    """Make the chosen move; forbid until an iteration what would undo it."""
    task = memory.choice[row, TASK]
    mode = memory.choice[row, MODE]
    before = memory.choice[row, BEFORE]
    if mode != plan.mode[task]:
        memory.modes[plan.mode[task]] = until
    elif before != NONE and p.rank[before] > p.rank[task]:
        w = task
        while w != before:
            w = plan.after[w]
            memory.arcs[_entry(plan, task, w)] = until
    else:
        w = plan.before[task]
        while w != before:
            memory.arcs[_entry(plan, w, task)] = until
            w = plan.before[w]
    remove(machine, plan, task)
    insert(t, machine, plan, task, mode, before)


@compiled
def begin(t: Tasks, machine: Ints, plan: Plan, p: Paths, memory: Memory, order: Ints, mode: Ints) -> int:
    """Begin a run from a schedule; return its makespan. The arguments are those of ``semi_active``."""
    for i in range(ARCS):
        memory.arcs[i] = 0
    for m in range(memory.modes.size):
        memory.modes[m] = 0
    makespan = semi_active(t, machine, plan, p, order, mode)
    memory.numbers[ITERATION], memory.numbers[IMPROVED] = 0, 0
    memory.numbers[MAKESPAN], memory.numbers[BEST] = makespan, makespan
    _remember(plan, p, memory)
    return makespan


@internal_borrowing
def _remember(plan: Plan, p: Paths, memory: Memory) -> None:
    for k in range(plan.mode.size):
        memory.order[k], memory.mode[k] = p.order[k], plan.mode[k]


@compiled
def tabu_search(
    t: Tasks,
    machine: Ints,
    plan: Plan,
    p: Paths,
    room: Room,
    memory: Memory,
    least: int,
    patience: int,
    most: int,
    state: Ints,
    stop: Ints,
) -> int:
    """Make iterations of the run that ``begin`` has begun; return their number, less than ``most`` if the run is over.

    Parameters
    ----------
    t, machine
        The project; the machine of each mode, shape (modes,).
    plan, p, room, memory
        The current schedule, its longest paths, arrays to overwrite, the memory.
    least
        The run is over when a schedule has at most this makespan.
    patience
        The run is over after this number of iterations without a better schedule.
    most
        Number of iterations.
    state
        State of the random numbers, uint64, shape (1,).
    stop
        The iterations end when it is not 0, shape (1,).
    """
    numbers = memory.numbers
    n = plan.mode.size
    machines = max(1, plan.first.size)
    shortest = 10.0 + n / (machines * machines)
    for done in range(most):
        if stop[0] != 0 or numbers[BEST] <= least or numbers[ITERATION] - numbers[IMPROVED] >= patience:
            return done
        row = choose(t, machine, plan, p, room, memory, state)
        if row == NONE:
            numbers[IMPROVED] = numbers[ITERATION] - patience
            return done
        numbers[ITERATION] += 1
        tenure = int(shortest * (1.0 + (LONGER - 1.0) * draw(state)))
        _make(t, machine, plan, p, memory, row, numbers[ITERATION] + tenure)
        numbers[MAKESPAN] = longest(t, plan, p)
        if numbers[MAKESPAN] < numbers[BEST]:
            numbers[BEST], numbers[IMPROVED] = numbers[MAKESPAN], numbers[ITERATION]
            _remember(plan, p, memory)
    return most
