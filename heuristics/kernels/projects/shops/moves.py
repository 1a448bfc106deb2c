"""Moves of one task of a shop, and the makespan after them.

Within a machine: N6 [Balas1998] and its extension N7 [Zhang2007], which contain N5 [Nowicki1996]. A block is a longest
sequence of tasks of a critical path that follow one another on a machine. A task moves right after the last or right before
the first task of its block, the first or the last one also into the block. The makespan after a move is estimated by the longest
path through the moved tasks [Taillard1994, Balas1998].

To another mode: the k-insertion of [Mastrolilli2000]. It removes a task and computes all longest paths anew, so the makespan
after each insertion is exact, and it looks only at those places of the machine that contain a best one.

Delays of precedences must not be negative: then a path from task i to task j implies

    head[j] >= head[i] + duration[i],    tail[i] >= duration[j] + tail[j],

and a move makes no cycle if one of the two does not hold for what would be the cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import internal_borrowing, native
from ...by_address import by_address
from ...profile import Ints
from ..tasks import Tasks
from ..variation import below
from .graph import NONE, Paths, Plan, head_of, ready_at, rest_after, tail_of


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
    found = head + path
    while w != u:
        path = plan.duration[w] + max(p.rest[w], path)
        found = max(found, room.head[w] + path)
        w = plan.before[w]
    return int(found)


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
    found = end + tail
    while w != v:
        end = plan.duration[w] + max(p.ready[w], end)
        found = max(found, end + room.tail[w])
        w = plan.after[w]
    return int(found)


@internal_borrowing
def critical_path(t: Tasks, plan: Plan, p: Paths, room: Room, state: Ints, makespan: int) -> int:
    """Fill ``room.path`` with a random critical path from its end to its begin; return the number of tasks."""
    n, count, ties, k = p.order.size, 0, 0, NONE
    for i in range(n):
        if p.head[i] + plan.duration[i] == makespan:
            ties += 1
            if below(state, ties) == 0:
                k = i
    while k != NONE:
        room.path[count] = k
        count += 1
        found, ties, b = NONE, 0, plan.before[k]
        if b != NONE and p.head[b] + plan.duration[b] == p.head[k]:
            found, ties = b, 1
        for e in range(t.before_first[k], t.before_first[k + 1]):
            i = t.before[e]
            if p.head[i] + plan.duration[i] + t.before_delay[e] == p.head[k]:
                ties += 1
                if below(state, ties) == 0:
                    found = i
        k = found
    return count


@native
def without(t: Tasks, plan: Plan, p: Paths, room: Room, v: int) -> int:
    """Fill ``room`` with the heads and tails of the graph without task v; return its longest path.

    v keeps its precedences, but it is on no machine and has no duration.
    """
    n, at = p.order.size, p.rank[v]
    b, a, kept = plan.before[v], plan.after[v], plan.duration[v]
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
    head, tail, duration = room.head[v], room.tail[v], t.duration[mode]
    k = machine[mode]
    if k == NONE:
        return head + duration + tail, NONE
    best, place, ties = -1, NONE, 0
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
