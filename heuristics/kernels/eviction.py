"""Compiled kernels of the eviction problem: the dynamic program over all numbers of nodes and all deadlines.

A plan's *key* is ((loss * (steps + 1)) + time) * (jobs + 1) - application-level checkpoints: one whole number that orders
plans as the objectives do, and adds up over jobs. The slower kind of checkpoint of a job is never part of a best plan (the
faster one loses as little and ends earlier), so a job is kept, killed, or takes its faster checkpoint. Nodes are counted in
units of their greatest common divisor. Jobs come by growing nodes, so that after each only the nodes freed so far have rows.

Dense (few steps): best[t, k] is the least key that frees k units or more within t steps. Sparse (many steps): of every k
only the times at which the least key falls. Either way a cell remembers what was done with the job, for the plans.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import compiled

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Bytes = NDArray[np.uint8]

KEEP, KILL, CHECKPOINT = 0, 1, 2
NEVER = 2**62


class Dense(NamedTuple):
    """``best[t, k]`` after all jobs; what is done with job j are two bits of ``choice[first[j] + t // 4 * (reach[j] + 1) + k]``.

    Four deadlines share a byte: memory that was never touched costs more than the sums.
    """

    best: Ints
    choice: Bytes
    first: Ints
    reach: Ints


class Sparse(NamedTuple):
    """Points (time, key) of every k: ``row[k] .. row[k + 1] - 1``, time grows, key falls.

    ``link[first[j] + p]`` of point p after job j: four times the point before that job it comes from, plus what was done.
    """

    row: Ints
    time: Small
    key: Ints
    link: Small
    first: Ints


@compiled
def dense(units: Ints, kill: Ints, checkpoint: Ints, takes: Ints, steps: int) -> Dense:
    """All least keys. Of each job: units, keys of a kill and of a checkpoint, steps of it (more than ``steps``: impossible)."""
    jobs = units.size
    reach = np.cumsum(units)
    total = reach[-1] if jobs else 0
    first = np.zeros(jobs + 1, np.int64)
    for j in range(jobs):
        first[j + 1] = first[j] + (steps // 4 + 1) * (reach[j] + 1)
    choice = np.zeros(first[jobs], np.uint8)
    best, row = np.full((steps + 1, total + 1), NEVER), np.empty(total + 1, np.int64)
    best[:, 0] = 0
    for j in range(jobs):
        width = reach[j] + 1
        for t in range(steps, -1, -1):  # earlier deadlines are still those before this job
            begin, shift = first[j] + t // 4 * width, 2 * (t % 4)
            known, done = best[t, :width], choice[begin : begin + width]
            if t >= takes[j]:
                _both(known, best[t - takes[j]], kill[j], checkpoint[j], units[j], row[:width], done, shift)
            else:
                _killed(known, kill[j], units[j], row[:width], done, shift)
            known[:] = row[:width]
    return Dense(best, choice, first, reach)


@compiled
def _both(
    known: Ints, earlier: Ints, kill: int, checkpoint: int, units: int, out: Ints, done: Bytes, shift: int
) -> None:
    """One job at one deadline: kept, killed, or checkpointed with ``earlier`` before it. Ties: kept, checkpoint, kill."""
    a, b = known[0] + kill, earlier[0] + checkpoint
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
    kept, out, done = known[units:], out[units:], done[units:]
    killed, checkpointed = np.uint8(KILL << shift), np.uint8(CHECKPOINT << shift)
    for k in range(n):
        value = kept[k]
        b = earlier[k] + checkpoint
        a = known[k] + kill
        mark = checkpointed if b < value else np.uint8(KEEP)
        value = min(value, b)
        mark = killed if a < value else mark
        out[k] = min(value, a)
        done[k] |= mark


@compiled
def _killed(known: Ints, kill: int, units: int, out: Ints, done: Bytes, shift: int) -> None:
    """The same where no checkpoint ends in time."""
    killed = np.uint8(KILL << shift)
    a = known[0] + kill
    for k in range(min(units, known.size)):
        out[k] = min(known[k], a)
        done[k] |= killed if a < known[k] else np.uint8(KEEP)
    n = known.size - units
    kept, out, done = known[units:], out[units:], done[units:]
    for k in range(n):
        value = kept[k]
        a = known[k] + kill
        done[k] |= killed if a < value else np.uint8(KEEP)
        out[k] = min(value, a)


@compiled
def trace_dense(table: Dense, units: Ints, takes: Ints, k: int, t: int, done: Bytes) -> None:
    """Fills what is done with each job to free ``k`` units within ``t`` steps."""
    for j in range(units.size - 1, -1, -1):
        done[j] = (table.choice[table.first[j] + t // 4 * (table.reach[j] + 1) + k] >> (2 * (t % 4))) & 3
        if done[j] != KEEP:
            k = max(0, k - units[j])
            t -= takes[j] if done[j] == CHECKPOINT else 0


@compiled
def sparse(units: Ints, kill: Ints, checkpoint: Ints, takes: Ints, steps: int) -> Sparse:
    """The same by points. Arguments as of ``dense``."""
    jobs = units.size
    reach = 0
    row = np.zeros(2, np.int64)
    row[1] = 1
    time, key = np.zeros(1, np.int32), np.zeros(1, np.int64)
    link, first = np.empty(1 << 16, np.int32), np.zeros(jobs + 1, np.int64)
    for j in range(jobs):
        size = units[j]
        new_reach = reach + size
        new_row = np.zeros(new_reach + 2, np.int64)
        most = 3 * row[reach + 1] + 2 * size * (row[1] - row[0]) + 64
        new_time, new_key = np.empty(most, np.int32), np.empty(most, np.int64)
        if first[j] + most > link.size:
            grown = np.empty(2 * (first[j] + most), np.int32)
            grown[: first[j]] = link[: first[j]]
            link = grown
        links = link[first[j] :]
        n = 0
        for k in range(new_reach + 1):
            source = max(0, k - size)
            low, high = row[source], row[source + 1]
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
        reach, row, time, key = new_reach, new_row, new_time, new_key
    return Sparse(row, time, key, link, first)


@compiled
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
    """Merge three lists of points, kept, killed and checkpointed, into one without dominated ones; returns its end."""
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
                value, come = key[a], 4 * a + KEEP
            a += 1
        if tc == t:
            if key[c] + checkpoint < value:
                value, come = key[c] + checkpoint, 4 * c + CHECKPOINT
            c += 1
        if tb == t:
            if key[b] + kill < value:
                value, come = key[b] + kill, 4 * b + KILL
            b += 1
        if come >= 0:
            least = value
            new_time[n], new_key[n], links[n] = t, value, come
            n += 1


@compiled
def trace_sparse(table: Sparse, point: int, done: Bytes) -> None:
    """Fills what is done with each job to reach a point of the last row."""
    for j in range(done.size - 1, -1, -1):
        come = table.link[table.first[j] + point]
        done[j] = come & 3
        point = come >> 2


class Ways(NamedTuple):
    """Of each job (rows) the four strategies (columns: keep, kill, app, sys): what they add to key, steps and nodes.

    ``left``: nodes of the jobs from each on; ``bonus``: how much these can lower the key; both one longer than the jobs.
    """

    key: Ints
    steps: Ints
    nodes: Ints
    left: Ints
    bonus: Ints


class BacktrackingState(NamedTuple):
    """Where a backtracking search stands: of each depth the next strategy to try, and key, steps, nodes so far.

    ``at[0]``: the depth; ``least[0]``: the best key; ``plan``: its strategies.
    """

    following: Ints
    key: Ints
    steps: Ints
    nodes: Ints
    at: Ints
    least: Ints
    plan: Bytes


DONE, TIRED, BETTER = 0, 1, 2


@compiled
def backtrack(ways: Ways, search: BacktrackingState, needed: int, steps: int, budget: int) -> int:
    """Go on with a search: DONE, TIRED after ``budget`` combinations of strategies, or BETTER when one was found.

    A combination is abandoned where nothing better can come of it, where its checkpoints end too late, or where all jobs
    that are left have too few nodes.
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
        time = search.steps[d] + ways.steps[d, what]
        nodes = search.nodes[d] + ways.nodes[d, what]
        key = search.key[d] + ways.key[d, what]
        if time > steps or nodes + ways.left[d + 1] < needed or key - ways.bonus[d + 1] >= search.least[0]:
            continue
        d += 1
        search.steps[d], search.nodes[d], search.key[d] = time, nodes, key
        if nodes >= needed and key < search.least[0]:
            search.least[0] = key
            for i in range(jobs):
                search.plan[i] = search.following[i] - 1 if i < d else KEEP
            search.at[0] = d
            return BETTER
        budget -= 1
        if budget == 0:
            search.at[0] = d
            return TIRED
    search.at[0] = d
    return DONE
