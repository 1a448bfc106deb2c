"""Tabu search on the disjunctive graph of a shop.

1. Take a random critical path, and all moves of its tasks (``moves``).
2. Make the move with the least estimated makespan that is not tabu, or is estimated to be better than the best schedule
   of the run. If all are tabu, make a random one.
3. For some iterations, arcs that the move has reversed may not be reversed again, and a task may not return to the mode that it has left.
4. Compute the longest paths. Repeat until the best schedule has not improved for some iterations.

The number of iterations is random, from 10 + n / m to 1.4 times as many with n jobs on m machines [Zhang2007, Peng2015].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import compiled, internal_borrowing, native
from ...by_address import by_address
from ...profile import NEVER, Ints
from ..tasks import Tasks
from ..variation import below, draw
from .graph import NONE, Paths, Plan, insert, longest, remove, semi_active
from .moves import Room, critical_path, estimate_after, estimate_before, insertion, may_follow, may_precede, without

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
        choice[VALUE], choice[TASK], choice[MODE], choice[BEFORE] = value, task, mode, before


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
    first, end = t.mode_first[v], t.mode_first[v + 1]
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
    memory.choice[ALLOWED, VALUE], memory.choice[ALLOWED, TIES], memory.choice[TABU, TIES] = NEVER, 0, 0
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
    task, mode, before = memory.choice[row, TASK], memory.choice[row, MODE], memory.choice[row, BEFORE]
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
    numbers, n, machines = memory.numbers, plan.mode.size, max(1, plan.first.size)
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
