"""The disjunctive graph of a shop: an order of the tasks on each machine, and the longest paths.

A shop is a project in which a mode occupies at most one machine, alone. A schedule is given by a mode per task and an order of
the tasks on each machine: its graph has an arc for each precedence and from each task to the next one on its machine. No task
can start before its head, the longest path to it; with these starts the makespan is the longest path [Balas1998, 2].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import compiled, internal_borrowing, native
from ...by_address import by_address
from ...profile import Ints
from ..tasks import Tasks

NONE = -1  # no task, no machine


@by_address
class Plan(NamedTuple):
    """The modes and the orders of a schedule.

    Parameters
    ----------
    mode, duration
        Mode and duration of each task, shape (tasks,).
    before, after
        The tasks before and after each one on its machine, ``NONE`` at the ends, shape (tasks,).
    first, last
        First and last task of each machine, ``NONE`` if it has none, shape (machines,).
    """

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
    return Plan(*(np.zeros(n, np.int64) for _ in range(4)), *(np.zeros(machines, np.int64) for _ in range(2)))


def new_paths(tasks: Tasks) -> Paths:
    """Return the arrays of longest paths."""
    return Paths(*(np.zeros(tasks.rank.size, np.int64) for _ in Paths._fields))


@internal_borrowing
def remove(machine: Ints, plan: Plan, task: int) -> None:
    """Take a task off its machine."""
    b, a, k = plan.before[task], plan.after[task], machine[plan.mode[task]]
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
    """Return the earliest start of a task by its predecessors."""
    found = 0
    for e in range(t.before_first[task], t.before_first[task + 1]):
        i = t.before[e]
        found = max(found, head[i] + plan.duration[i] + t.before_delay[e])
    return found


@internal_borrowing
def rest_after(t: Tasks, plan: Plan, tail: Ints, task: int) -> int:
    """Return the longest path from the end of a task over its successors."""
    found = 0
    for e in range(t.after_first[task], t.after_first[task + 1]):
        i = t.after[e]
        found = max(found, t.after_delay[e] + plan.duration[i] + tail[i])
    return found


@native
def longest(t: Tasks, plan: Plan, p: Paths) -> int:
    """Compute the longest paths of a plan; return the makespan, -1 if the graph has a cycle."""
    n, size, makespan = p.order.size, 0, 0
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
