"""The branch and bound in the order of time: it decides, job by job, which waiting jobs start, and on which nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.array_types import Ints
from ...models.compiled import by_address, compiled, internal

# --- Arrays of the branch and bound: the problem, prices over time, the present schedule, the open decisions, visited states.
#
# Times are in seconds from the time of the problem on, costs and prices in whole multiples of 1 / Q.

Hashes = NDArray[np.uint64]
NONE = -1  # start of a job that has none; no twin


@by_address
class Case(NamedTuple):
    """The jobs, then the running jobs, and the nodes.

    Parameters
    ----------
    jobs
        The number of jobs without the running jobs.
    order
        The order in which the jobs are decided at one time, shape (jobs,).
    duration, units
        Seconds and units of each item, shape (items,).
    request
        Request of one unit, shape (items, resources).
    first, low, high
        The start windows of job j are ``first[j]`` to ``first[j + 1] - 1``, sorted; their first and last starts.
    weight, free, late
        A start s costs ``weight * max(0, s - free)``; with ``late``, it costs ``weight`` if ``s > free``.
    twin
        A job that is equal but for its number, and starts no later; ``NONE`` without one.
    kind
        Nodes of the same kind have the same capacity, and the same jobs may use them, shape (nodes,).
    most
        The most units of job j on each node by the data of the job, 0 where it may not be, shape (jobs, nodes).
    """

    jobs: int
    order: Ints
    duration: Ints
    units: Ints
    request: Ints
    first: Ints
    low: Ints
    high: Ints
    weight: Ints
    free: Ints
    late: bool
    twin: Ints
    kind: Ints
    most: Ints


@by_address
class Tables(NamedTuple):
    """Prices at some times, in seconds after now; the last entry also stands for all later times.

    Parameters
    ----------
    step
        Seconds between two entries; 0 if they are not equally far apart.
    time
        The time of each entry, increasing from 0, shape (entries,).
    paid
        What an item pays from 0 to this time, shape (items, entries).
    least
        The least cost with prices of a start from this time on, ``FAR`` if there is none, shape (jobs, entries).
    rest
        The most that all items which run together pay from this time on, shape (entries,).
    """

    step: int
    time: Ints
    paid: Ints
    least: Ints
    rest: Ints


@by_address
class Now(NamedTuple):
    """The present partial schedule.

    Parameters
    ----------
    start, end
        Times of each item in seconds; ``NONE`` for jobs without a start, shape (items,).
    put
        Units of each item on each node, shape (items, nodes).
    free, before
        Free amounts of each node, now and just before the last event, shape (nodes, resources).
    node_hash
        Two hashes of what runs on each node, shape (nodes, 2).
    item_hash
        Two hashes of the end and the request of each item, shape (items, 2).
    started
        Bits of the jobs with a start, shape (1,).
    fit
        Scratch: units that fit each node, shape (nodes,).
    """

    start: Ints
    end: Ints
    put: Ints
    free: Ints
    before: Ints
    node_hash: Hashes
    item_hash: Hashes
    started: Hashes
    fit: Ints


@by_address
class Open(NamedTuple):
    """The open decisions, one after another.

    Parameters
    ----------
    depth
        The number of the last decision, -1 at the end, shape (1,).
    time, next, stage
        Time, place in the order, and what was done of each decision, shape (most decisions,).
    bound, cost
        Bound on the cost of all completions, and cost of the starts, shape (most decisions,).
    left
        Placements that are still to be tried, shape (most decisions,).
    before
        ``Now.before`` of earlier events, shape (most decisions, nodes, resources).
    pile, top
        Placements that are still to be tried, shape (most placements, nodes), and their number, shape (1,).
    limit
        A bound from which on completions are not looked at, shape (1,).
    visits
        The number of decisions so far, shape (1,).
    """

    depth: Ints
    time: Ints
    next: Ints
    stage: Ints
    bound: Ints
    cost: Ints
    left: Ints
    before: Ints
    pile: Ints
    top: Ints
    limit: Ints
    visits: Ints


@by_address
class Visited(NamedTuple):
    """States that were visited: two hashes and the least cost of each.

    Parameters
    ----------
    key
        The hashes, 0 for an empty place, shape (places, 2).
    cost
        The least cost, shape (places,).
    """

    key: Hashes
    cost: Ints


# --- Starting and ending items, and the states that were visited.
#
# The future depends on the time, on the jobs that have a start, and on when which amounts become free on nodes of which kind.
# Of two states that agree in all of this, the one with the higher cost is left out. They are compared by 128 bits of hashes.

PLACES = 8  # that are looked at for one state


@internal
def mixed(x: np.uint64) -> np.uint64:
    """Return a hash of 64 bits (the finalizer of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@internal
def run(case: Case, now: Now, i: int, sign: int) -> None:
    """Let item i take what it needs of its nodes (``sign`` 1), or give it back (-1)."""
    factor = np.uint64(sign)
    for n in range(now.put.shape[1]):
        units = now.put[i, n]
        if units == 0:
            continue
        for r in range(now.free.shape[1]):
            now.free[n, r] -= sign * units * case.request[i, r]
        for h in range(2):
            now.node_hash[n, h] += now.item_hash[i, h] * np.uint64(units) * factor


@internal
def hash_of(case: Case, now: Now, i: int) -> None:
    """Set the hashes of an item from its end and its request."""
    value = mixed(np.uint64(now.end[i]))
    for r in range(case.request.shape[1]):
        value = mixed(value + np.uint64(case.request[i, r]))
    now.item_hash[i, 0] = value
    now.item_hash[i, 1] = mixed(value ^ np.uint64(0x9E3779B97F4A7C15))


@internal
def begin(case: Case, now: Now, j: int, time: int) -> None:
    """Start job j on the nodes in ``put``."""
    now.start[j], now.end[j] = time, time + case.duration[j]
    now.started[0] |= np.uint64(1) << np.uint64(j)
    hash_of(case, now, j)
    run(case, now, j, 1)


@internal
def withdraw(case: Case, now: Now, j: int) -> None:
    """Take back the start of job j."""
    run(case, now, j, -1)
    now.started[0] ^= np.uint64(1) << np.uint64(j)
    now.start[j], now.end[j] = -1, -1
    for n in range(now.put.shape[1]):
        now.put[j, n] = 0


@internal
def finish(case: Case, now: Now, time: int, sign: int) -> None:
    """Let all items that end at this time give back what they need (``sign`` 1), or take it again (-1)."""
    for i in range(now.end.size):
        if now.end[i] == time:
            run(case, now, i, -sign)


@internal
def visited(case: Case, now: Now, seen: Visited, time: int, cost: int) -> bool:
    """Return whether the present state was visited at no higher cost; remember it if there is a place."""
    first = mixed(now.started[0] ^ mixed(np.uint64(time)))
    second = mixed(now.started[0] + mixed(np.uint64(time + 1)))
    one = np.uint64(0)
    two = np.uint64(0)
    for n in range(case.kind.size):
        one += mixed(now.node_hash[n, 0] + mixed(np.uint64(case.kind[n])))
        two += mixed(now.node_hash[n, 1] ^ mixed(np.uint64(case.kind[n] + 1)))
    first = mixed(first + one) | np.uint64(1)  # 0 is an empty place
    second = mixed(second ^ two)
    places = np.uint64(seen.cost.size)
    for k in range(PLACES):
        place = (second + np.uint64(k)) % places
        if seen.key[place, 0] == 0:
            seen.key[place, 0] = first
            seen.key[place, 1] = second
            seen.cost[place] = cost
            return False
        if seen.key[place, 0] == first and seen.key[place, 1] == second:
            if seen.cost[place] <= cost:
                return True
            seen.cost[place] = cost
            return False
    return False


# --- Bounds on the cost of all completions of a partial schedule, from prices.

FAR = 1 << 62  # cost of a start that does not exist


@internal
def cost_of(case: Case, j: int, time: int) -> int:
    """Return the cost of a start."""
    over = time - case.free[j]
    if over <= 0:
        return 0
    cost: int = case.weight[j] if case.late else case.weight[j] * over
    return cost


@internal
def entry(tables: Tables, time: int) -> int:
    """Return the last entry of the tables at or before a time."""
    if tables.step > 0:
        return min(time // tables.step, tables.rest.size - 1)
    low = 0  # tables.time[low] <= time
    high = tables.time.size - 1
    while low < high:
        middle = (low + high + 1) // 2
        if tables.time[middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@internal
def paid(tables: Tables, i: int, begin: int, end: int) -> int:
    """Return at most what item i pays between two times."""
    late = entry(tables, begin)
    if tables.time[late] < begin and late < tables.time.size - 1:
        late += 1
    cost: int = tables.paid[i, entry(tables, end)] - tables.paid[i, late]
    return max(0, cost)


@internal
def least(case: Case, tables: Tables, j: int, time: int) -> int:
    """Return at most the least cost with prices of job j, if it starts at ``time`` or later."""
    lowest: int = tables.least[j, entry(tables, time)]
    return max(lowest, cost_of(case, j, time))


@internal
def started_now(case: Case, tables: Tables, j: int, time: int) -> int:
    """Return at most the cost with prices of a start."""
    return cost_of(case, j, time) + paid(tables, j, time, time + case.duration[j])


@internal
def bound_at(case: Case, now: Now, tables: Tables, cost: int, time: int) -> int:
    """Return a bound on the cost of all completions if no job starts before ``time`` any more.

    The sum of the cost of the starts, of what their items pay from ``time`` on, and of the least costs of the other jobs,
    less the most that all items can pay from ``time`` on.
    """
    bound: int = cost - tables.rest[entry(tables, time)]
    for i in range(now.start.size):
        if i < case.jobs and now.start[i] < 0:
            cheapest = least(case, tables, i, time)
            if cheapest >= FAR:
                return FAR
            bound += cheapest
        elif now.end[i] > time:
            bound += paid(tables, i, time, now.end[i])
    return bound


# --- The ways to put a job on nodes, without those that differ by an exchange of equal nodes.


@internal
def window_opens(case: Case, j: int, time: int) -> int:
    """Return 1 if a start window of job j begins at this time, 0 if this time is inside of one, -1 otherwise."""
    for w in range(case.first[j], case.first[j + 1]):
        if case.low[w] <= time <= case.high[w]:
            return 1 if case.low[w] == time else 0
    return -1


@internal
def fits(case: Case, now: Now, j: int) -> bool:
    """Return whether the units of job j fit the free nodes; fill ``fit``."""
    total = 0
    for n in range(now.fit.size):
        most = case.most[j, n]
        for r in range(now.free.shape[1]):
            if case.request[j, r] > 0:
                most = min(most, now.free[n, r] // case.request[j, r])
        now.fit[n] = most
        total += most
    enough: bool = total >= case.units[j]
    return enough


@internal
def _equal(case: Case, now: Now, n: int, other: int) -> bool:
    """Return whether two nodes can be exchanged."""
    if case.kind[n] != case.kind[other] or now.node_hash[n, 0] != now.node_hash[other, 0]:
        return False
    for r in range(now.before.shape[1]):
        if now.before[n, r] != now.before[other, r]:
            return False
    same: bool = now.node_hash[n, 1] == now.node_hash[other, 1]
    return same


@internal
def _was_blocked(case: Case, now: Now, j: int, units: Ints) -> bool:
    """Return whether the job did not fit these nodes just before the last event; if it did, it can start earlier."""
    for n in range(units.size):
        for r in range(now.before.shape[1]):
            if units[n] * case.request[j, r] > now.before[n, r]:
                return True
    return False


@internal
def pile_up(case: Case, now: Now, stack: Open, j: int, opens: bool) -> int:
    """Put the placements of a job that fits on the pile and return their number; -1 if the pile is too small.

    Units are given to the nodes one after another, of equal nodes to the later one at most as many as to the earlier
    one. If no window opens, placements to which the job can be moved forward in time are left out.
    """
    nodes = now.fit.size
    units = np.zeros(nodes, np.int64)
    left = np.zeros(nodes + 1, np.int64)
    left[0] = case.units[j]
    top, n = stack.top[0], 0
    units[0] = min(now.fit[0], left[0]) + 1
    while n >= 0:
        units[n] -= 1
        if units[n] < 0:
            n -= 1
            continue
        left[n + 1] = left[n] - units[n]
        if n < nodes - 1:
            n += 1
            most = min(now.fit[n], left[n])
            for other in range(n):
                if units[other] < most and _equal(case, now, n, other):
                    most = units[other]
            units[n] = most + 1
        elif left[nodes] == 0 and (opens or _was_blocked(case, now, j, units)):
            if top == stack.pile.shape[0]:
                return -1
            for m in range(nodes):
                stack.pile[top, m] = units[m]
            top += 1
    level: int = top - stack.top[0]
    stack.top[0] = top
    return level


# --- The branch and bound: at each time it is decided, job by job, which waiting jobs start, and on which nodes.
#
# After the decisions of one time comes the next event: the end of an item, or the begin of a start window. An optimal schedule
# starts each job at such an event: at the begin of a window, or where capacity of its nodes becomes free that it needs.

DONE = 0
LEAF = 1
PAUSE = 2
FULL = 3
ENTER = 0  # stages of a decision
TRY = 1
SKIPPED = 2
MOVED = 3


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
            entered = _enter(case, now, tables, stack, seen, d)
            if entered != DONE:
                return entered
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
    stack.time[d + 1] = time
    stack.next[d + 1] = following
    stack.stage[d + 1] = ENTER
    stack.bound[d + 1] = bound
    stack.cost[d + 1] = cost
    stack.left[d + 1] = 0
    stack.depth[0] = d + 1


@compiled
def root_bound(case: Case, now: Now, tables: Tables) -> int:
    """Return the bound at the time 0."""
    return bound_at(case, now, tables, 0, 0)
