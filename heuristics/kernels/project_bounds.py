"""Lower bounds of the makespan of a project, in whole numbers, as compiled code; docs/appendix/bounds.md has the proofs."""

from __future__ import annotations

from typing import NamedTuple

from ...models.array_types import Ints
from ...models.compiled import by_address, compiled, internal_borrowing
from .profile import NEVER
from .project_schedules import Tasks

UNRELATED = -NEVER  # length of the longest path between tasks without a path


@by_address
class Groups(NamedTuple):
    """What tasks compete for: renewable resources, sets of them, and sets of tasks that exclude each other.

    Parameters
    ----------
    demand
        Demand of each mode in each group, shape (groups, modes).
    energy
        Least product of duration and demand of each task over its modes, shape (groups, tasks).
    capacity
        Capacity of each group, above 0, shape (groups,).
    """

    demand: Ints
    energy: Ints
    capacity: Ints


@by_address
class Work(NamedTuple):
    """Arrays that the kernels overwrite, shape (tasks,) each: tasks, their heads, tails, energies; the shortest durations."""

    order: Ints
    heads: Ints
    tails: Ints
    energy: Ints
    shortest: Ints


@internal_borrowing
def _set_bound(w: Work, count: int, capacity: int) -> int:
    """Return the greatest min head + ceil(energy / capacity) + min tail of a set of the first ``count`` entries."""
    for i in range(1, count):  # sort by falling tails, by insertion
        head = w.heads[i]
        tail = w.tails[i]
        energy = w.energy[i]
        k = i
        while k > 0 and w.tails[k - 1] < tail:
            w.heads[k], w.tails[k], w.energy[k] = w.heads[k - 1], w.tails[k - 1], w.energy[k - 1]
            k -= 1
        w.heads[k] = head
        w.tails[k] = tail
        w.energy[k] = energy
    best = UNRELATED
    for i in range(count):
        first, total = w.heads[i], 0
        for j in range(count):
            if w.heads[j] >= first:
                total += w.energy[j]
                best = max(best, first + (total + capacity - 1) // capacity + w.tails[j])
    return best


@compiled
def group_bound(g: Groups, w: Work, heads: Ints, tails: Ints) -> int:
    """Return the greatest bound of a set of tasks of a group, 0 if there is none."""
    best = 0
    for k in range(g.capacity.size):
        count = 0
        for i in range(heads.size):
            if g.energy[k, i] > 0:
                w.heads[count], w.tails[count], w.energy[count] = heads[i], tails[i], g.energy[k, i]
                count += 1
        best = max(best, _set_bound(w, count, g.capacity[k]))
    return best


@compiled
def longest_paths(t: Tasks, w: Work, path: Ints) -> None:
    """Fill ``path[i, j]`` with the greatest known j start - i end, ``UNRELATED`` without a path; shape (tasks, tasks).

    ``w.order`` has the tasks in topological order.
    """
    n = w.order.size
    for i in range(n):
        for j in range(n):
            path[i, j] = UNRELATED
    for at in range(n):
        j = w.order[at]
        for e in range(t.before_first[j], t.before_first[j + 1]):
            k, delay = t.before[e], t.before_delay[e]
            path[k, j] = max(path[k, j], delay)
            for i in range(n):
                if path[i, k] != UNRELATED:
                    path[i, j] = max(path[i, j], path[i, k] + w.shortest[k] + delay)


@compiled
def strengthen(t: Tasks, g: Groups, w: Work, path: Ints, heads: Ints, forward: bool, stop: Ints) -> None:
    """Raise the heads of tasks by their predecessors: what these need before the task can start.

    Parameters
    ----------
    t
        The project, or the project in reversed time for tails.
    g, w
        The groups; ``w.order`` has the tasks in topological order of ``t``.
    path
        Longest paths of the project in its own direction (``longest_paths``).
    heads
        Lower bounds of the starts (of the time from the end of a task to the end of the project), shape (tasks,).
    forward
        Whether ``t`` is the project, not the one in reversed time.
    stop
        The kernel ends when it is not 0: what it has raised by then is right.
    """
    n = heads.size
    for at in range(n):
        if stop[0] != 0:
            return
        i = w.order[at]
        for e in range(t.before_first[i], t.before_first[i + 1]):
            k = t.before[e]
            heads[i] = max(heads[i], heads[k] + w.shortest[k] + t.before_delay[e])
        for k in range(g.capacity.size):
            count = 0
            for j in range(n):
                length = path[j, i] if forward else path[i, j]
                if length != UNRELATED and g.energy[k, j] > 0:
                    w.heads[count], w.tails[count], w.energy[count] = heads[j], length, g.energy[k, j]
                    count += 1
            if count > 1:
                heads[i] = max(heads[i], _set_bound(w, count, g.capacity[k]))


@internal_borrowing
def _least(t: Tasks, g: Groups, k: int, i: int, head: int, end: int, since: int, until: int) -> int:
    """Return the least energy of a task between two times, if it runs between ``head`` and ``end``."""
    least = NEVER
    for m in range(t.mode_first[i], t.mode_first[i + 1]):
        d = t.duration[m]
        left = head + d - since  # as far to the left, to the right as possible
        right = until - (end - d)
        inside = min(min(until - since, d), min(left, right))
        least = min(least, max(0, inside) * g.demand[k, m])
    return least


@compiled
def refuted(t: Tasks, g: Groups, w: Work, heads: Ints, tails: Ints, makespan: int, stop: Ints) -> bool:
    """Return whether energetic reasoning proves that no schedule has at most this makespan.

    The intervals begin at an earliest start or a latest start and end at a latest end or an earliest end.
    """
    n = heads.size
    for k in range(g.capacity.size):
        for a in range(2 * n):
            w.energy[0] = a  # without a store in the loop, ``stop`` would be read once, before it
            if stop[0] != 0:
                return False
            i = a // 2
            if g.energy[k, i] == 0:
                continue
            since = heads[i] if a % 2 == 0 else makespan - tails[i] - w.shortest[i]
            for b in range(2 * n):
                j = b // 2
                until = makespan - tails[j] if b % 2 == 0 else heads[j] + w.shortest[j]
                if g.energy[k, j] == 0 or until <= since:
                    continue
                total = 0
                room = g.capacity[k] * (until - since)
                for x in range(n):
                    if g.energy[k, x] > 0:
                        total += _least(t, g, k, x, heads[x], makespan - tails[x], since, until)
                if total > room:
                    return True
    return False
