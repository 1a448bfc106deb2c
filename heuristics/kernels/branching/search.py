"""The branch and bound: at each time it is decided, job by job, which waiting jobs start, and on which nodes.

After the decisions of one time comes the next event: the end of an item, or the begin of a start window. An optimal schedule
starts each job at such an event: at the begin of a window, or where capacity of its nodes becomes free that it needs.
"""

from __future__ import annotations

from ....models.compiled import compiled, internal
from ..profile import Ints
from .bounds import FAR, bound_at, cost_of, least, started_now
from .placements import fits, pile_up, window_opens
from .state import NONE, Case, Now, Open, Tables, Visited
from .states import begin, finish, hash_of, run, visited, withdraw

DONE, LEAF, PAUSE, FULL = 0, 1, 2, 3
ENTER, TRY, SKIPPED, MOVED = 0, 1, 2, 3  # stages of a decision


@compiled
def put_running(case: Case, now: Now) -> None:
    """Let the running jobs, whose ends and nodes are set, take what they need."""
    for i in range(case.jobs, now.end.size):
        hash_of(case, now, i)
        run(case, now, i, 1)


@compiled
def branch(case: Case, now: Now, tables: Tables, stack: Open, seen: Visited, stop: Ints) -> int:
    """Go on with the search; return why it ends: ``DONE``, ``PAUSE`` at the time limit, ``FULL``, ``LEAF``.

    At a ``LEAF``, ``now`` has a schedule with a cost below the limit. ``FULL``: an array is too small to go on.
    """
    while stack.depth[0] >= 0:
        d = stack.depth[0]
        stage = stack.stage[d]
        if stage == ENTER:
            if stop[0] != 0:
                return PAUSE
            stack.visits[0] += 1
            found = _enter(case, now, tables, stack, seen, d)
            if found != DONE:
                return found
        elif stage == TRY:
            _try_next(case, now, tables, stack, d)
        else:
            if stage == MOVED:
                finish(case, now, stack.time[d + 1], -1)
                _copy(now.before, stack.before[d])
            stack.depth[0] -= 1
    return DONE


@internal
def _enter(case: Case, now: Now, tables: Tables, stack: Open, seen: Visited, d: int) -> int:
    """Find the next job that may start at the time of a decision; without one go to the next event."""
    if d + 2 >= stack.time.size:
        return FULL
    time = stack.time[d]
    while stack.next[d] < case.jobs:
        j = case.order[stack.next[d]]
        if now.start[j] < 0 and (case.twin[j] == NONE or now.start[case.twin[j]] >= 0):
            opens = window_opens(case, j, time)
            if opens >= 0 and fits(case, now, j):
                number = pile_up(case, now, stack, j, opens == 1)
                if number < 0:
                    return FULL
                if number > 0:
                    stack.left[d], stack.stage[d] = number, TRY
                    return DONE
        stack.next[d] += 1
    return _next_event(case, now, tables, stack, seen, d)


@internal
def _next_event(case: Case, now: Now, tables: Tables, stack: Open, seen: Visited, d: int) -> int:
    """Go to the next event, if a better completion may exist there."""
    complete, time = True, FAR
    for i in range(now.end.size):
        if i < case.jobs and now.start[i] < 0:
            complete = False
            for w in range(case.first[i], case.first[i + 1]):
                if case.low[w] > stack.time[d]:
                    time = min(time, case.low[w])
                    break
        elif now.end[i] > stack.time[d]:
            time = min(time, now.end[i])
    stack.depth[0] -= 1
    if complete:
        return LEAF if stack.cost[d] < stack.limit[0] else DONE
    if time == FAR:
        return DONE
    bound = bound_at(case, now, tables, stack.cost[d], time)
    if bound >= stack.limit[0]:
        return DONE
    _copy(stack.before[d], now.before)
    _copy(now.before, now.free)
    finish(case, now, time, 1)
    if visited(case, now, seen, time, stack.cost[d]):
        finish(case, now, time, -1)
        _copy(now.before, stack.before[d])
        return DONE
    stack.stage[d] = MOVED
    _push(stack, d, time, 0, bound, stack.cost[d])
    return DONE


@internal
def _try_next(case: Case, now: Now, tables: Tables, stack: Open, d: int) -> None:
    """Start the job of a decision on its next placement; after the last one, let it wait."""
    j, time = case.order[stack.next[d]], stack.time[d]
    if now.start[j] >= 0:
        withdraw(case, now, j)
    while stack.left[d] > 0:
        stack.left[d] -= 1
        stack.top[0] -= 1
        bound = stack.bound[d] + started_now(case, tables, j, time) - least(case, tables, j, time)
        if bound < stack.limit[0]:
            for n in range(now.put.shape[1]):
                now.put[j, n] = stack.pile[stack.top[0], n]
            begin(case, now, j, time)
            _push(stack, d, time, stack.next[d] + 1, bound, stack.cost[d] + cost_of(case, j, time))
            return
    later = least(case, tables, j, time + 1)
    bound = stack.bound[d] + later - least(case, tables, j, time)
    if later >= FAR or bound >= stack.limit[0]:
        stack.depth[0] = d - 1
        return
    stack.stage[d] = SKIPPED
    _push(stack, d, time, stack.next[d] + 1, bound, stack.cost[d])


@internal
def _copy(to: Ints, of: Ints) -> None:
    for n in range(to.shape[0]):
        for r in range(to.shape[1]):
            to[n, r] = of[n, r]


@internal
def _push(stack: Open, d: int, time: int, following: int, bound: int, cost: int) -> None:
    """Open a decision after decision d."""
    stack.time[d + 1], stack.next[d + 1], stack.stage[d + 1] = time, following, ENTER
    stack.bound[d + 1], stack.cost[d + 1], stack.left[d + 1] = bound, cost, 0
    stack.depth[0] = d + 1


@compiled
def root_bound(case: Case, now: Now, tables: Tables) -> int:
    """Return the bound at the time 0."""
    return bound_at(case, now, tables, 0, 0)
