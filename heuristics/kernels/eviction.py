"""Dynamic program and backtracking for the eviction problem [Maurya2020], for all numbers of nodes and all deadlines.

Data, per job: nodes, loss (node-seconds), steps of its checkpoints. A plan has loss, time (steps) and a number of
application-level checkpoints. Its *key* is one whole number that orders plans as the objectives do and adds up over
jobs: key = (loss * (steps + 1) + time) * (jobs + 1) - application-level checkpoints.

A job is kept, killed, or writes its faster checkpoint: the slower one loses as little and takes longer, so it is never
part of an optimal plan. Nodes are counted in units of their greatest common divisor. The jobs are sorted by nodes
(ascending), so that after each job only the numbers of nodes freed so far need rows.

Recursion, per job with u units, key K of a kill, key C and steps c of the checkpoint; best[t, k] is the least key that
frees at least k units within t steps::

    best[t, k] = min(best[t, k], best[t, max(0, k - u)] + K, best[t - c, max(0, k - u)] + C)

``dense`` stores best[t, k] for all t (few steps). ``sparse`` stores for each k only the times at which the least key
falls (many steps). Both store the action for each job in each cell, so that plans can be read back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.array_types import Ints, Small
from ...models.compiled import compiled, internal, vectorized
from ...models.words import with_short_repr

Bytes = NDArray[np.uint8]

KEEP = 0
KILL = 1
CHECKPOINT = 2
NEVER = 2**62


@with_short_repr
class Dense(NamedTuple):
    """The table of all deadlines.

    The action of job j in cell (t, k) is stored in two bits of ``choice[first[j] + t // 4 * (reach[j] + 1) + k]``: four
    deadlines share a byte, because touching new memory costs more time than the sums.

    Parameters
    ----------
    best
        Least key that frees k units within t steps after all jobs, shape (steps + 1, units of all jobs + 1).
    choice
        Actions of all jobs, one byte per job, four deadlines and k.
    first
        First index of each job in ``choice``, shape (jobs + 1,).
    reach
        Sum of the units up to each job, shape (jobs,).
    """

    best: Ints
    choice: Bytes
    first: Ints
    reach: Ints


class Sparse(NamedTuple):
    """The table of the times at which a value changes.

    Parameters
    ----------
    row
        First point of each k, shape (units of all jobs + 2,): the points of k are ``row[k] .. row[k + 1] - 1``.
    time
        Time of each point in steps, ascending in a row, shape (points,).
    key
        Least key from this time on, descending in a row, shape (points,).
    link
        ``link[first[j] + p]`` of point p after job j: 4 * (the point before job j that it comes from) + action.
    first
        First index of each job in ``link``, shape (jobs + 1,).
    """

    row: Ints
    time: Small
    key: Ints
    link: Small
    first: Ints


@vectorized
def dense(units: Ints, kill: Ints, checkpoint: Ints, takes: Ints, steps: int) -> Dense:
    """Return the table of least keys for all deadlines and all numbers of nodes.

    Parameters
    ----------
    units
        Units (nodes / their greatest common divisor) of each job, ascending, shape (jobs,).
    kill
        Key of killing each job, shape (jobs,).
    checkpoint
        Key of the faster checkpoint of each job, shape (jobs,).
    takes
        Steps of that checkpoint, shape (jobs,); more than ``steps``: impossible.
    steps
        The largest deadline in steps.
    """
    jobs = units.size
    reach = np.cumsum(units)
    total = reach[-1] if jobs else 0
    first = np.zeros(jobs + 1, np.int64)
    for j in range(jobs):
        first[j + 1] = first[j] + (steps // 4 + 1) * (reach[j] + 1)
    choice = np.zeros(first[jobs], np.uint8)
    best = np.full((steps + 1, total + 1), NEVER)
    row = np.empty(total + 1, np.int64)
    best[:, 0] = 0
    for j in range(jobs):
        width = reach[j] + 1
        for t in range(
            steps, -1, -1
        ):  # descending: the rows of earlier deadlines still hold the values before this job
            begin = first[j] + t // 4 * width
            shift = 2 * (t % 4)
            known = best[t, :width]
            done = choice[begin : begin + width]
            if t >= takes[j]:
                _both(known, best[t - takes[j]], kill[j], checkpoint[j], units[j], row[:width], done, shift)
            else:
                _killed(known, kill[j], units[j], row[:width], done, shift)
            known[:] = row[:width]
    return Dense(best, choice, first, reach)


@vectorized
def _both(
    known: Ints, earlier: Ints, kill: int, checkpoint: int, units: int, out: Ints, done: Bytes, shift: int
) -> None:
    """Apply one job at one deadline: keep, kill, or checkpoint after ``earlier``. Ties: keep, checkpoint, kill."""
    a = known[0] + kill
    b = earlier[0] + checkpoint
    for k in range(min(units, known.size)):
        value = known[k]
        what = KEEP
        if b < value:
            value, what = b, CHECKPOINT
        if a < value:
            value, what = a, KILL
        out[k] = value
        done[k] |= np.uint8(what << shift)
    n = known.size - units
    kept = known[units:]
    out = out[units:]
    done = done[units:]
    killed = np.uint8(KILL << shift)
    checkpointed = np.uint8(CHECKPOINT << shift)
    for k in range(n):
        value = kept[k]
        b = earlier[k] + checkpoint
        a = known[k] + kill
        mark = checkpointed if b < value else np.uint8(KEEP)
        value = min(value, b)
        mark = killed if a < value else mark
        out[k] = min(value, a)
        done[k] |= mark


@vectorized
def _killed(known: Ints, kill: int, units: int, out: Ints, done: Bytes, shift: int) -> None:
    """Apply one job at one deadline at which no checkpoint ends in time: keep or kill."""
    killed = np.uint8(KILL << shift)
    a = known[0] + kill
    for k in range(min(units, known.size)):
        out[k] = min(known[k], a)
        done[k] |= killed if a < known[k] else np.uint8(KEEP)
    n = known.size - units
    kept = known[units:]
    out = out[units:]
    done = done[units:]
    for k in range(n):
        value = kept[k]
        a = known[k] + kill
        done[k] |= killed if a < value else np.uint8(KEEP)
        out[k] = min(value, a)


@compiled
def trace_dense(table: Dense, units: Ints, takes: Ints, k: int, t: int, done: Bytes) -> None:
    """Fill ``done`` with the action for each job of an optimal plan that frees k units within t steps.

    Parameters
    ----------
    table
        The table.
    units, takes
        As in ``dense``.
    k
        Number of units to free.
    t
        Deadline in steps.
    done
        Output: KEEP, KILL or CHECKPOINT of each job, shape (jobs,).
    """
    for j in range(units.size - 1, -1, -1):
        done[j] = (table.choice[table.first[j] + t // 4 * (table.reach[j] + 1) + k] >> (2 * (t % 4))) & 3
        if done[j] != KEEP:
            k = max(0, k - units[j])
            t -= takes[j] if done[j] == CHECKPOINT else 0


@compiled
def sparse(units: Ints, kill: Ints, checkpoint: Ints, takes: Ints, steps: int) -> Sparse:
    """Return the same optima as ``dense``, as points.

    Parameters
    ----------
    units, kill, checkpoint, takes, steps
        As in ``dense``.
    """
    jobs = units.size
    reach = 0
    row = np.zeros(2, np.int64)
    row[1] = 1
    time = np.zeros(1, np.int32)
    key = np.zeros(1, np.int64)
    link = np.empty(1 << 16, np.int32)
    first = np.zeros(jobs + 1, np.int64)
    for j in range(jobs):
        size = units[j]
        new_reach = reach + size
        new_row = np.zeros(new_reach + 2, np.int64)
        most = 3 * row[reach + 1] + 2 * size * (row[1] - row[0]) + 64
        new_time = np.empty(most, np.int32)
        new_key = np.empty(most, np.int64)
        if first[j] + most > link.size:
            grown = np.empty(2 * (first[j] + most), np.int32)
            grown[: first[j]] = link[: first[j]]
            link = grown
        links = link[first[j] :]
        n = 0
        for k in range(new_reach + 1):
            source = max(0, k - size)
            low = row[source]
            high = row[source + 1]
            kept, kept_end = (row[k], row[k + 1]) if k <= reach else (0, 0)
            n = _merge(
                time,
                key,
                kept,
                kept_end,
                low,
                high,
                kill[j],
                checkpoint[j],
                takes[j],
                steps,
                new_time,
                new_key,
                links,
                n,
            )
            new_row[k + 1] = n
        first[j + 1] = first[j] + n
        reach = new_reach
        row = new_row
        time = new_time
        key = new_key
    return Sparse(row, time, key, link, first)


@internal
def _merge(
    time: Small,
    key: Ints,
    a: int,
    a_end: int,
    low: int,
    high: int,
    kill: int,
    checkpoint: int,
    takes: int,
    steps: int,
    new_time: Small,
    new_key: Ints,
    links: Small,
    n: int,
) -> int:
    """Merge three lists of points (kept, killed, checkpointed) into one without dominated points; return its end."""
    never = steps + 1
    b, c = low, low
    least = NEVER
    while True:
        ta = time[a] if a < a_end else never
        tb = time[b] if b < high else never
        tc = time[c] + takes if c < high else never
        t = min(ta, tb, tc)
        if t > steps:
            return n
        value, come = least, -1
        if ta == t:
            if key[a] < value:
                value = key[a]
                come = 4 * a + KEEP
            a += 1
        if tc == t:
            if key[c] + checkpoint < value:
                value = key[c] + checkpoint
                come = 4 * c + CHECKPOINT
            c += 1
        if tb == t:
            if key[b] + kill < value:
                value = key[b] + kill
                come = 4 * b + KILL
            b += 1
        if come >= 0:
            least = value
            new_time[n] = t
            new_key[n] = value
            links[n] = come
            n += 1


@compiled
def trace_sparse(table: Sparse, point: int, done: Bytes) -> None:
    """Fill ``done`` with the action for each job of the plan that belongs to a point of the last table."""
    for j in range(done.size - 1, -1, -1):
        come = table.link[table.first[j] + point]
        done[j] = come & 3
        point = come >> 2


class StrategyTable(NamedTuple):
    """What the four strategies of each job add to a plan; the columns are keep, kill, app, sys.

    Parameters
    ----------
    key, steps, nodes
        Key, steps of checkpoints and freed nodes, shape (jobs, 4).
    left
        Nodes of the jobs from each job on, shape (jobs + 1,).
    bonus
        By how much the jobs from each job on can lower the key, shape (jobs + 1,).
    """

    key: Ints
    steps: Ints
    nodes: Ints
    left: Ints
    bonus: Ints


class BacktrackingState(NamedTuple):
    """The state of a backtracking search.

    Parameters
    ----------
    following
        Next strategy to try at each depth, shape (jobs + 1,).
    key, steps, nodes
        Key, steps and freed nodes of the plan so far, at each depth, shape (jobs + 1,).
    at
        The current depth, shape (1,).
    least
        The best key, shape (1,).
    plan
        Strategies of the best plan, shape (jobs,).
    """

    following: Ints
    key: Ints
    steps: Ints
    nodes: Ints
    at: Ints
    least: Ints
    plan: Bytes


DONE = 0  # results of ``backtrack``
PAUSED = 1
BETTER = 2


@compiled
def backtrack(strategies: StrategyTable, search: BacktrackingState, needed: int, steps: int, budget: int) -> int:
    """Continue a search: return DONE, PAUSED after ``budget`` combinations, or BETTER after each better plan.

    A branch is cut off if it cannot become better, if its checkpoints end too late, or if the jobs that are left have
    too few nodes.

    Parameters
    ----------
    strategies
        What the strategies of each job add.
    search
        The state of the search; changed in place.
    needed
        Number of nodes to free.
    steps
        The deadline in steps.
    budget
        Number of combinations after which the search pauses.
    """
    jobs = search.following.size - 1
    d = search.at[0]
    while d >= 0:
        what = search.following[d]
        if d == jobs or what == 4:
            search.following[d] = 0
            d -= 1
            continue
        search.following[d] = what + 1
        time = search.steps[d] + strategies.steps[d, what]
        nodes = search.nodes[d] + strategies.nodes[d, what]
        key = search.key[d] + strategies.key[d, what]
        if time > steps or nodes + strategies.left[d + 1] < needed or key - strategies.bonus[d + 1] >= search.least[0]:
            continue
        d += 1
        search.steps[d] = time
        search.nodes[d] = nodes
        search.key[d] = key
        if nodes >= needed and key < search.least[0]:
            search.least[0] = key
            for i in range(jobs):
                search.plan[i] = search.following[i] - 1 if i < d else KEEP
            search.at[0] = d
            return BETTER
        budget -= 1
        if budget == 0:
            search.at[0] = d
            return PAUSED
    search.at[0] = d
    return DONE
