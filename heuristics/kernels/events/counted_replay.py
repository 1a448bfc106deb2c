"""FCFS, EASY and rules without reservations where free nodes are counted and the order of the jobs is fixed; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....models.array_types import Floats, Ints, Small
from ....models.compiled import borrowing, by_address, compiled, internal, internal_borrowing
from ..profile import NEVER
from .counted_free import insert_block, remove_block
from .rules import ALL, Rules
from .state import (
    DECISIONS,
    NEXT,
    NOW,
    RUNNING,
    STARTED,
    STOP,
    WAITING,
    State,
    TraceArrays,
    is_plain,
    pop_end,
    push_end,
)

# --- The running jobs by their expected ends, in blocks, so that a job is added or removed without moving all others.

BLOCK = 128  # jobs in a full block


@by_address
class Running(NamedTuple):
    """The running jobs by ascending expected end.

    Two neighbouring blocks have more than BLOCK / 2 jobs together, so that there are few blocks.

    Parameters
    ----------
    blocks
        Number of blocks, shape (1,).
    row
        Row of each block in the other arrays, in order, then the unused rows, shape (rows,).
    length, units
        Number of jobs and of their units in each row, shape (rows,).
    end, job
        Expected ends in seconds and jobs, ascending, shape (rows, BLOCK).
    """

    blocks: Ints
    row: Ints
    length: Ints
    units: Ints
    end: Ints
    job: Ints


def none_running(most: int) -> Running:
    """Return the arrays for at most ``most`` running jobs."""
    rows = 4 * most // BLOCK + 8
    return Running(
        np.zeros(1, np.int64),
        np.arange(rows),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.empty((rows, BLOCK), np.int64),
        np.empty((rows, BLOCK), np.int64),
    )


@internal_borrowing
def _block_of(running: Running, end: int) -> int:
    """Return the first block whose last job ends at ``end`` or later; the number of blocks if there is none."""
    row, length, ends = running.row, running.length, running.end
    lo, hi = 0, running.blocks[0]
    while lo < hi:
        middle = (lo + hi) // 2
        r = row[middle]
        if ends[r, length[r] - 1] < end:
            lo = middle + 1
        else:
            hi = middle
    return int(lo)


@internal_borrowing
def _new_block(running: Running, b: int) -> int:
    """Insert an empty block before block b; return its row."""
    r = insert_block(running.blocks, running.row, b)
    running.length[r], running.units[r] = 0, 0
    return int(r)


@internal_borrowing
def _move(running: Running, units: Ints, source: int, first: int, target: int) -> None:
    """Append the jobs of row ``source`` from index ``first`` on to row ``target``."""
    length, at = running.length, running.length[target]
    for i in range(first, length[source]):
        j = running.job[source, i]
        running.end[target, at], running.job[target, at] = running.end[source, i], j
        running.units[source] -= units[j]
        running.units[target] += units[j]
        at += 1
    length[target], length[source] = at, first


@internal_borrowing
def add(running: Running, units: Ints, j: int, end: int) -> None:
    """Add job j with its expected end in seconds; ``units``: units of each job, shape (jobs,)."""
    b = _block_of(running, end)
    if b == running.blocks[0] and b > 0:
        b -= 1
    r = _new_block(running, 0) if running.blocks[0] == 0 else running.row[b]
    if running.length[r] == BLOCK:
        upper = _new_block(running, b + 1)
        _move(running, units, r, BLOCK // 2, upper)
        if running.end[r, BLOCK // 2 - 1] < end:
            r = upper
    i, ends, jobs = running.length[r], running.end, running.job
    while i > 0 and ends[r, i - 1] > end:
        ends[r, i], jobs[r, i] = ends[r, i - 1], jobs[r, i - 1]
        i -= 1
    ends[r, i], jobs[r, i] = end, j
    running.length[r] += 1
    running.units[r] += units[j]


@internal_borrowing
def remove(running: Running, units: Ints, j: int, end: int) -> None:
    """Remove job j, whose expected end is ``end``."""
    b, jobs, length = _block_of(running, end), running.job, running.length
    r, i = running.row[b], 0
    while jobs[r, i] != j:
        i += 1
        if i == length[r]:  # jobs with the same end may continue in the next block
            b, i = b + 1, 0
            r = running.row[b]
    length[r] -= 1
    running.units[r] -= units[j]
    for k in range(i, length[r]):
        running.end[r, k], jobs[r, k] = running.end[r, k + 1], jobs[r, k + 1]
    if length[r] == 0:
        remove_block(running.blocks, running.row, b)
        return
    for lower in (b - 1, b):
        if lower >= 0 and lower + 1 < running.blocks[0]:
            left, right = running.row[lower], running.row[lower + 1]
            if length[left] + length[right] <= BLOCK // 2:
                _move(running, units, right, 0, left)
                remove_block(running.blocks, running.row, lower + 1)
                return


@internal_borrowing
def shadow(running: Running, units: Ints, free: int, needed: int, now: int) -> tuple[int, int]:
    """Return when ``needed`` nodes are free, if all jobs end as expected, and how many are free then.

    A job that runs longer than expected is taken to end at now + 1. There must be enough nodes.

    Parameters
    ----------
    running
        The running jobs.
    units
        Units of each job, shape (jobs,).
    free
        Number of free nodes now, fewer than ``needed``.
    needed
        Number of nodes.
    now
        The time in seconds.
    """
    b = 0
    while free + running.units[running.row[b]] < needed:
        free += running.units[running.row[b]]
        b += 1
    time = now
    while b < running.blocks[0]:
        r = running.row[b]
        for i in range(running.length[r]):
            end = max(running.end[r, i], now + 1)
            if free >= needed and end > time:
                return time, free
            time = end
            free += units[running.job[r, i]]
        b += 1
    return time, free


# --- The waiting jobs in their order, as a tree that finds the next one that may start.
#
# Each job has a fixed place in the order of the priorities. A binary tree over the places holds the least units and the
# least expected duration of the waiting jobs below each of its vertices.


@by_address
class Waiting(NamedTuple):
    """The tree; vertex v has the children 2v and 2v + 1, place i is the vertex ``leaves + i``.

    Parameters
    ----------
    place
        Place of each job, shape (jobs,).
    job
        Job at each place, shape (jobs,).
    units, duration
        Least units and least expected duration in seconds below each vertex, shape (2 * leaves,); NEVER: no job.
    """

    place: Ints
    job: Ints
    units: Ints
    duration: Ints


def no_jobs(base: Floats) -> Waiting:
    """Return a tree without waiting jobs; ``base``: priorities, least first, ties in the order of the jobs."""
    jobs = base.size
    order = np.argsort(base, kind="stable")
    place = np.empty(jobs, np.int64)
    place[order] = np.arange(jobs)
    leaves = 1 << max(0, jobs - 1).bit_length()
    return Waiting(place, order, np.full(2 * leaves, NEVER, np.int64), np.full(2 * leaves, NEVER, np.int64))


@internal_borrowing
def put(waiting: Waiting, place: int, units: int, duration: int) -> None:
    """Set what waits at a place; NEVER, NEVER: no job."""
    least_units, least_duration = waiting.units, waiting.duration
    v = least_units.size // 2 + place
    least_units[v], least_duration[v] = units, duration
    v >>= 1
    while v > 0:
        u, d = min(least_units[2 * v], least_units[2 * v + 1]), min(least_duration[2 * v], least_duration[2 * v + 1])
        if least_units[v] == u and least_duration[v] == d:
            break
        least_units[v], least_duration[v] = u, d
        v >>= 1


@internal_borrowing
def next_place(waiting: Waiting, first: int, any_time: int, most: int, longest: int) -> int:
    """Return the first place from ``first`` on of a job that may start; -1 if there is none.

    Parameters
    ----------
    waiting
        The tree.
    first
        The first place that is looked at.
    any_time
        Jobs of at most this number of units may start, whatever their duration.
    most, longest
        Jobs of at most ``most`` units may start if their expected duration is at most ``longest`` seconds.
    """
    units, duration = waiting.units, waiting.duration
    leaves = units.size // 2
    if first >= leaves:
        return -1
    v = leaves + first
    while True:
        if units[v] <= any_time or (units[v] <= most and duration[v] <= longest):
            if v >= leaves:
                return int(v - leaves)
            v *= 2
        else:
            while v & 1:
                v >>= 1
            if v == 0:  # v was on the right edge
                return -1
            v += 1


# --- The nodes of jobs whose replay has counted nodes: each job gets the first free ones at its start; compiled.
#
# The free nodes are bits of words of 62 bits; the words with free nodes are bits of words above them. Ranges of free nodes
# are taken and returned word by word.

BITS = 62  # bits of a word, so that no word is negative
FULL = 2**BITS - 1


def numbered(nodes: int, who: Ints, begins: NDArray[np.bool_], runtime: Ints, units: Ints) -> tuple[Ints, Ints, Ints]:
    """Give each job the first free nodes at its start, event by event.

    Parameters
    ----------
    nodes
        Number of nodes.
    who, begins
        The job of each event, and whether it begins (else it ends), shape (events,).
    runtime
        Runtime of each job in seconds, shape (jobs,); a job of 0 s returns its nodes at once.
    units
        Number of nodes of each job, shape (jobs,).

    Returns
    -------
    first, low, high : array of int64
        Job j has the nodes ``low[i] .. high[i]`` for i from ``first[j]`` to ``first[j + 1] - 1``. Shapes (jobs + 1,),
        (ranges,), (ranges,).
    """
    free = np.full(-(-nodes // BITS), FULL, np.int64)
    free[-1] = (1 << (nodes - BITS * (free.size - 1))) - 1
    some = np.full(-(-free.size // BITS), FULL, np.int64)
    some[-1] = (1 << (free.size - BITS * (some.size - 1))) - 1
    at, size, low, high = _number(free, some, who, begins, runtime, units)
    first = np.zeros(units.size + 1, np.int64)
    np.cumsum(size, out=first[1:])
    by_job = np.arange(first[-1]) + np.repeat(at - first[:-1], size)
    return first, low[by_job].astype(np.int64), high[by_job].astype(np.int64)


@compiled
def _number(
    free: Ints, some: Ints, who: Ints, begins: NDArray[np.bool_], runtime: Ints, units: Ints
) -> tuple[Ints, Ints, Small, Small]:
    """Return the first range and the number of ranges of each job, and the ranges in the order of the starts."""
    at, size = np.zeros(units.size, np.int64), np.zeros(units.size, np.int64)
    low, high, used = np.empty(2 * units.size + 64, np.int32), np.empty(2 * units.size + 64, np.int32), 0
    for e in range(who.size):
        j = who[e]
        if begins[e]:
            left, at[j] = units[j], used
            while left > 0:
                if used == low.size:
                    low, high = _longer(low), _longer(high)
                node = _first_free(free, some)
                last = node + min(left, _run(free, node, left)) - 1
                _mark(free, some, node, last, False)
                low[used], high[used] = node, last
                used, left = used + 1, left - (last - node + 1)
            size[j] = used - at[j]
        if not begins[e] or runtime[j] == 0:
            for i in range(at[j], at[j] + size[j]):
                _mark(free, some, int(low[i]), int(high[i]), True)
    return at, size, low, high


@internal
def _longer(values: Small) -> Small:
    """Return the values in an array of twice the size."""
    found = np.empty(2 * values.size, np.int32)
    for k in range(values.size):
        found[k] = values[k]
    return found


@internal_borrowing
def _lowest(word: int) -> int:
    """Return the number of the lowest bit of a word other than 0."""
    found, shift = 0, 32
    while shift > 0:
        if word & ((1 << shift) - 1) == 0:
            word >>= shift
            found += shift
        shift >>= 1
    return found


@internal_borrowing
def _first_free(free: Ints, some: Ints) -> int:
    """Return the first free node."""
    k = 0
    while some[k] == 0:
        k += 1
    word = k * BITS + _lowest(some[k])
    return word * BITS + _lowest(free[word])


@internal_borrowing
def _run(free: Ints, node: int, most: int) -> int:
    """Return the number of free nodes from a free node on, up to the next busy one or a little above ``most``."""
    word, bit, found = node // BITS, node % BITS, 0
    while word < free.size:
        busy = (FULL ^ free[word]) >> bit
        if busy != 0:
            return found + _lowest(busy)
        found += BITS - bit
        if found >= most:
            return found
        word, bit = word + 1, 0
    return found


@internal_borrowing
def _mark(free: Ints, some: Ints, low: int, high: int, as_free: bool) -> None:
    """Mark the nodes ``low .. high`` as free or busy."""
    for word in range(low // BITS, high // BITS + 1):
        first, last = max(0, low - word * BITS), min(BITS - 1, high - word * BITS)
        mask = ((1 << (last - first + 1)) - 1) << first
        if as_free:
            free[word] |= mask
            some[word // BITS] |= 1 << (word % BITS)
        else:
            free[word] &= FULL ^ mask
            if free[word] == 0:
                some[word // BITS] &= FULL ^ (1 << (word % BITS))


STRICT, RULE, EASY = range(3)


class Counts(NamedTuple):
    """What a replay keeps beside its state.

    Parameters
    ----------
    free
        Number of free nodes, shape (1,).
    mode
        STRICT: a job that does not fit blocks all later ones; RULE: it is skipped; EASY: it gets a reservation.
    waiting, running
        The jobs.
    """

    free: Ints
    mode: int
    waiting: Waiting
    running: Running


def suits(trace: TraceArrays, state: State, rules: Rules, period: int) -> bool:
    """Return whether this module can replay: one resource that is counted, a fixed order, no calendars, an empty start."""
    counted = trace.capacity.shape == (1, 1) and bool((trace.request == 1).all()) and not trace.further_units.size
    counted = counted and not trace.machine_capacity.size and is_plain(trace)
    fixed = not (rules.dynamic or rules.planning.on or period or trace.follower.size or trace.period.size)
    plain = rules.reservations <= 1 and rules.candidates >= ALL and trace.order.size == trace.release.size
    empty = int(state.clock[RUNNING]) == int(state.clock[WAITING]) == int(state.clock[NEXT]) == 0
    return counted and fixed and plain and empty and bool(trace.units.max(initial=0) <= trace.capacity[0, 0])


def new_counts(trace: TraceArrays, rules: Rules) -> Counts:
    """Return the counts of an empty machine."""
    if rules.strict:
        mode = STRICT
    else:
        mode = RULE
    if rules.reservations == 1:
        mode = EASY
    most = int(min(trace.capacity[0, 0], trace.release.size))
    return Counts(np.array([trace.capacity[0, 0]]), mode, no_jobs(rules.base), none_running(most))


@borrowing
def replay(
    trace: TraceArrays, state: State, free: Ints, mode: int, waiting: Waiting, running: Running, events: int
) -> bool:
    """Replay at most ``events`` events; return False if nothing happens any more."""
    clock = state.clock
    for _ in range(events):
        t = NEVER
        if clock[RUNNING] > 0:
            t = state.ends[0]
        if clock[NEXT] < trace.order.size:
            t = min(t, trace.release[trace.order[clock[NEXT]]])
        if t >= min(NEVER, clock[STOP]):
            return False
        clock[NOW] = t
        while clock[RUNNING] > 0 and state.ends[0] <= t:
            j = pop_end(state)
            clock[RUNNING] -= 1
            free[0] += trace.units[j]
            if mode == EASY:
                remove(running, trace.units, j, state.start[j] + state.expected[j])
        while clock[NEXT] < trace.order.size and trace.release[trace.order[clock[NEXT]]] <= t:
            j = trace.order[clock[NEXT]]
            put(waiting, waiting.place[j], trace.units[j], state.expected[j])
            clock[NEXT] += 1
            clock[WAITING] += 1
        if clock[WAITING] > 0:
            clock[DECISIONS] += 1
            _decide(trace, state, free, mode, waiting, running)
    return True


@internal_borrowing
def _decide(trace: TraceArrays, state: State, free: Ints, mode: int, waiting: Waiting, running: Running) -> None:
    """Make one decision."""
    if mode == RULE:
        _start_between(trace, state, free, mode, waiting, running, 0, -1, NEVER)
        return
    place = -1
    while state.clock[WAITING] > 0:
        place = next_place(waiting, place + 1, NEVER - 1, NEVER - 1, NEVER)
        if trace.units[waiting.job[place]] > free[0]:
            break
        _start(trace, state, free, mode, waiting, running, place)
    if mode == STRICT or state.clock[WAITING] < 2 or free[0] == 0:
        return
    now, head = state.clock[NOW], waiting.job[place]
    time, then = shadow(running, trace.units, free[0], trace.units[head], now)
    _start_between(trace, state, free, mode, waiting, running, place + 1, then - trace.units[head], time - now)


@internal_borrowing
def _start_between(
    trace: TraceArrays,
    state: State,
    free: Ints,
    mode: int,
    waiting: Waiting,
    running: Running,
    place: int,
    extra: int,
    longest: int,
) -> None:
    """Start jobs from a place on: those that last at most ``longest`` seconds, the others on ``extra`` nodes."""
    while free[0] > 0:
        place = next_place(waiting, place, min(extra, free[0]), free[0], longest)
        if place < 0:
            return
        j = waiting.job[place]
        if state.expected[j] > longest:
            extra -= trace.units[j]
        _start(trace, state, free, mode, waiting, running, place)
        place += 1


@internal_borrowing
def _start(
    trace: TraceArrays, state: State, free: Ints, mode: int, waiting: Waiting, running: Running, place: int
) -> None:
    """Start the job at a place now."""
    j, clock = waiting.job[place], state.clock
    put(waiting, place, NEVER, NEVER)
    state.start[j] = clock[NOW]
    push_end(state, clock[RUNNING], clock[NOW] + trace.runtime[j], j)
    if mode == EASY:
        add(running, trace.units, j, clock[NOW] + state.expected[j])
    free[0] -= trace.units[j]
    clock[RUNNING] += 1
    clock[WAITING] -= 1
    clock[STARTED] += 1
