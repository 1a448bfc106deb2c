"""The state of a replay as flat arrays, and its change from one event to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.array_types import Bools, Floats, Ints, Small
from ....models.compiled import by_address, internal, internal_borrowing
from ..earliest import is_empty
from ..profile import NEVER

# --- Choice of places for the units of a job.
#
# A place is a node, or a set of equal nodes that are counted together. First fit takes the places in their order. Best
# fit takes them by ascending sum over resources of free amount / capacity, ties by their order [Galleguillos2019, 2.2].
# With ranks they are taken by ascending rank. All put as many units on a place as fit there.


@internal_borrowing
def units_that_fit(free: Ints, request: Ints, most: int) -> int:
    """Return how many units, at most ``most``, fit into one place; both arrays have the shape (resources,).

    Nothing fits into a place with negative free amounts, not even a unit that requests nothing.
    """
    count = most
    for r in range(request.size):
        if free[r] < count * request[r]:
            count = max(0, free[r] // request[r]) if request[r] > 0 else 0
    return count


@internal_borrowing
def count_fits(free: Ints, request: Ints, units: int, usable: Bools, fit: Ints) -> int:
    """Set ``fit`` to the number of units that each place can hold; return the sum.

    Parameters
    ----------
    free
        Free amounts, shape (places, resources).
    request
        Amounts per unit, shape (resources,).
    units
        Number of units; no place counts more.
    usable
        Whether units may be on each place, shape (places,).
    fit
        Output, shape (places,).
    """
    total = 0
    for p in range(fit.size):
        fit[p] = 0
        if usable[p]:
            fit[p] = units_that_fit(free[p], request, units)
            total += fit[p]
    return total


@internal_borrowing
def fits_on(trace: TraceArrays, free: Ints, p: int, j: int, request: Ints, units: int) -> int:
    """Return how many of the units of a chunk of job j fit into place p, which it may use, beside what it takes on each node.

    Parameters
    ----------
    trace
        The jobs and the places.
    free
        Free amounts of the place, shape (resources,).
    p, j
        The place and the job.
    request, units
        Amounts per unit, shape (resources,), and number of units of the chunk.
    """
    most = min(units, trace.most[j])
    if trace.whole[j]:
        return units_that_fit(trace.capacity[p], request, most) if is_empty(free, trace.capacity[p]) else 0
    if trace.each_node.shape[0] > 0:
        for r in range(request.size):
            left = free[r] - trace.each_node[j, r]
            if left < most * request[r]:
                most = max(0, left // request[r]) if request[r] > 0 and left > 0 else 0
        return int(most)
    return units_that_fit(free, request, most)


@internal_borrowing
def count_chunk(trace: TraceArrays, free: Ints, j: int, request: Ints, units: int, usable: Bools, fit: Ints) -> int:
    """Set ``fit`` to the units of a chunk of job j that each place can hold; return the sum.

    Parameters
    ----------
    trace
        The jobs and the places.
    free
        Free amounts, shape (places, resources).
    j, request, units
        The job, and the amounts per unit and the units of its chunk.
    usable
        Whether units may be on each place, shape (places,).
    fit
        Output, shape (places,).
    """
    if trace.masks.shape[0] == 1 and not trace.whole[j] and trace.each_node.shape[0] == 0:
        return count_fits(free, request, min(units, trace.most[j]), usable, fit)
    total = 0
    for p in range(fit.size):
        fit[p] = 0
    number = trace.node_set[j]
    for k in range(trace.first_in_set[number], trace.first_in_set[number + 1]):
        p = trace.in_set[k]
        if usable[p]:
            fit[p] = fits_on(trace, free[p], p, j, request, units)
            total += fit[p]
    return total


@internal_borrowing
def count_job(trace: TraceArrays, state: State, free: Ints, j: int) -> int:
    """Set ``state.fit`` to the units of job j (its first chunk) that each place can hold now; return the sum."""
    usable = state.open_of[trace.node_set[j]]
    return count_chunk(trace, free, j, trace.request[j], trace.units[j], usable, state.fit)


@internal
def spread(free: Ints, capacity: Ints, rank: Ints, fit: Ints, units: int, best: bool, chosen: Ints, put: Ints) -> int:
    """Choose places for the units of a job; return the number of chosen places.

    Parameters
    ----------
    free, capacity
        Free amounts and capacities, shape (places, resources).
    rank
        The ranks of the places, the least is taken first, shape (places,); of length 0: none.
    fit
        Units that each place can hold, shape (places,).
    units
        Number of units of the job.
    best
        Without ranks: best fit, else first fit.
    chosen
        Output: the chosen places, shape (places,).
    put
        Output: number of units on each chosen place, shape (places,).
    """
    left, entries = units, 0
    if fit.size == 1 or not (best or rank.size > 0):
        for p in range(fit.size):
            if fit[p] > 0:
                take = min(left, fit[p])
                chosen[entries], put[entries] = p, take
                entries = entries + 1
                left = left - take
                if left == 0:
                    break
        return entries
    room = np.empty(fit.size, np.int64)
    rooms = 0
    score: Floats = np.empty(fit.size, np.float64)
    for p in range(fit.size):
        if fit[p] > 0:
            room[rooms], score[p] = p, 0.0
            rooms += 1
            if rank.size > 0:
                score[p] = rank[p]
                continue
            for r in range(capacity.shape[1]):
                if capacity[p, r] > 0:
                    score[p] += free[p, r] / capacity[p, r]
    for i in range(rooms // 2 - 1, -1, -1):  # a heap: most jobs take few of many places
        _sink(room, i, rooms, score)
    while left > 0 and rooms > 0:
        p = room[0]
        take = min(left, fit[p])
        chosen[entries], put[entries] = p, take
        entries = entries + 1
        left = left - take
        rooms -= 1
        room[0] = room[rooms]
        _sink(room, 0, rooms, score)
    return entries


@internal_borrowing
def _sink(heap: Ints, i: int, size: int, key: Floats) -> None:
    """Move item i of a heap of ``size`` items, the least key first and ties by item, down to its place."""
    if i >= size:
        return
    item = heap[i]
    value = key[item]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        other = heap[child]
        if child + 1 < size:
            next_ = heap[child + 1]
            if key[next_] < key[other] or (key[next_] == key[other] and next_ < other):
                child += 1
                other = next_
        if value < key[other] or (value == key[other] and item < other):
            break
        heap[i] = other
        i = child
    heap[i] = item


# --- Heterogeneous jobs in a replay: all chunks start at the same event, on places that they share.
#
# The places of a job are stored chunk after chunk; the units on them tell where a chunk ends. Chunk 0 is in the arrays of
# the jobs, the others are rows of ``TraceArrays.further_units`` and ``further_request``.


@internal_borrowing
def has_chunks(trace: TraceArrays, j: int) -> bool:
    """Return whether job j has more than one chunk."""
    return bool(trace.first_further[j] < trace.first_further[j + 1])


@internal_borrowing
def row_of(trace: TraceArrays, state: State, j: int, k: int) -> int:
    """Return the row in ``further_request`` of the chunk at slot k of job j; -1: the first chunk, or the only one."""
    row = trace.first_further[j]
    last = trace.first_further[j + 1]
    if row == last:
        return -1
    before, end = 0, trace.units[j]
    for slot in range(trace.first[j], k):
        before += state.share[slot]
    if before < end:
        return -1
    while row + 1 < last and before >= end + trace.further_units[row]:
        end += trace.further_units[row]
        row += 1
    return int(row)


@internal_borrowing
def amount(trace: TraceArrays, j: int, row: int, r: int) -> int:
    """Return what one unit of a chunk of job j requests of resource r; ``row`` as ``row_of`` returns it."""
    return int(trace.request[j, r] if row < 0 else trace.further_request[row, r])


@internal_borrowing
def amount_on(trace: TraceArrays, j: int, row: int, p: int, units: int, r: int) -> int:
    """Return what units of a chunk of job j take of resource r on place p: all of it, if the job has whole nodes."""
    if trace.whole[j]:
        return int(trace.capacity[p, r])
    taken = units * amount(trace, j, row, r)
    if trace.each_node.shape[0] > 0:
        taken += trace.each_node[j, r]
    return int(taken)


@internal_borrowing
def take_chunks(trace: TraceArrays, free: Ints, state: State, j: int, sign: int) -> None:
    """Subtract the units of heterogeneous job j from the amounts of its places, see ``state.take``."""
    row, left = -1, trace.units[j]
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        if left == 0:
            row = trace.first_further[j] if row < 0 else row + 1
            left = trace.further_units[row]
        left -= state.share[k]
        for r in range(free.shape[1]):
            free[state.place[k], r] -= sign * amount_on(trace, j, row, state.place[k], state.share[k], r)


@internal_borrowing
def take_chosen(trace: TraceArrays, state: State, free: Ints, j: int, entries: int) -> None:
    """Subtract heterogeneous job j from ``free`` on its chosen places."""
    row, left = -1, trace.units[j]
    for e in range(entries):
        if left == 0:
            row = trace.first_further[j] if row < 0 else row + 1
            left = trace.further_units[row]
        left -= state.put[e]
        for r in range(free.shape[1]):
            free[state.chosen[e], r] -= amount_on(trace, j, row, state.chosen[e], state.put[e], r)


@internal
def choose_places(
    trace: TraceArrays, state: State, free: Ints, at_start: Ints, usable: Bools, j: int, best: bool
) -> int:
    """Choose usable places for all chunks of heterogeneous job j within ``free``; return their number, 0 if they do not fit.

    ``at_start`` is what is free at the start, by which best fit chooses; ``free`` is what is free for the whole time.

    The chunks are placed one after the other, beginning with each of them in turn until all fit. The places are written
    to ``state.chosen`` and ``state.put``, chunk after chunk.
    """
    first = trace.first_further[j]
    chunks = trace.first_further[j + 1] - first + 1
    places, resources = free.shape
    left = np.empty((places, resources), np.int64)
    fit = np.empty(places, np.int64)
    seen = np.empty((places, resources), np.int64)
    chosen = np.empty(state.chosen.size, np.int64)
    put = np.empty(state.chosen.size, np.int64)
    begin = np.zeros(chunks, np.int64)
    count = np.zeros(chunks, np.int64)
    for turn in range(chunks):
        for p in range(places):
            for r in range(resources):
                left[p, r], seen[p, r] = free[p, r], at_start[p, r]
        entries, done = 0, 0
        while done < chunks:
            c = (turn + done) % chunks
            request = trace.request[j] if c == 0 else trace.further_request[first + c - 1]
            units = trace.units[j] if c == 0 else trace.further_units[first + c - 1]
            if count_chunk(trace, left, j, request, units, usable, fit) < units:
                break
            begin[c] = entries
            count[c] = spread(seen, trace.capacity, trace.rank, fit, units, best, chosen[entries:], put[entries:])
            for e in range(entries, entries + count[c]):
                for r in range(resources):
                    taken = trace.capacity[chosen[e], r] if trace.whole[j] else put[e] * request[r]
                    left[chosen[e], r] -= taken
                    seen[chosen[e], r] -= taken
            entries += count[c]
            done += 1
        if done == chunks:
            at = 0
            for c in range(chunks):
                for e in range(begin[c], begin[c] + count[c]):
                    state.chosen[at], state.put[at] = chosen[e], put[e]
                    at += 1
            return at
    return 0


@internal_borrowing
def each_fits(trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether each chunk of job j fits now, alone on the free places."""
    if count_job(trace, state, state.free, j) < trace.units[j]:
        return False
    usable = state.open_of[trace.node_set[j]]
    for row in range(trace.first_further[j], trace.first_further[j + 1]):
        units = trace.further_units[row]
        if count_chunk(trace, state.free, j, trace.further_request[row], units, usable, state.fit) < units:
            return False
    return True


# indices of the scalars in ``State.clock``
NOW, NEXT, WAITING, SORTED, RUNNING, ENDED, BLOCKED_SINCE, EARLY, WAKE, DECISIONS, STARTED, DUE, STOP = range(13)
SCALARS = 13
UNSTARTED = -NEVER  # the start of a job that has none; the starts of jobs that run at the begin may be negative


@by_address
class TraceArrays(NamedTuple):
    """The jobs, calendars and places of a replay; times in seconds.

    A job may start when its calendars ``own`` and ``daily`` are open. Calendar c has the windows
    ``first_window[c] .. first_window[c + 1] - 1``.

    Parameters
    ----------
    order
        Indices of the jobs in the order of their arrival, shape (jobs,); without the jobs that run from the begin on.
    release
        Arrival of each job, shape (jobs,).
    runtime
        Duration of each job, shape (jobs,).
    units, request, kind
        Number of units, shape (jobs,); amounts per unit, shape (jobs, resources); number of the distinct request of each
        job, with the places that it may use and how, shape (jobs,). For a heterogeneous job, those of its first chunk.
    kind_job
        A job of each such kind, shape (kinds,).
    node_set, masks
        The number of the set of places that each job may use, shape (jobs,); whether each place is in each set, shape
        (sets, places).
    first_in_set, in_set
        The places of set s are ``in_set[first_in_set[s]:first_in_set[s + 1]]``; shapes (sets + 1,), (entries,).
    most
        Most units of each job on a place, shape (jobs,).
    whole
        Whether no other job may be on the places of each job, shape (jobs,).
    each_node
        What each job takes on each of its places, which are nodes then, beside what its units take, shape (jobs, resources); of
        shape (0, resources) if no job does.
    first_limit, limit, limit_amount, limit_checked
        Job j takes ``limit_amount[i]`` of limit ``limit[i]`` as long as it runs, for i from ``first_limit[j]`` to
        ``first_limit[j + 1] - 1``, and needs so much of it to start if ``limit_checked[i]``; shapes (jobs + 1,), (entries,) each.
    limit_capacity
        What all jobs that run may take of each limit, shape (limits,).
    member, first_member
        The nodes of place p are ``member[first_member[p]:first_member[p + 1]]``; shapes (nodes,), (places + 1,).
    first_further, further_units, further_request
        The further chunks of job j are the rows ``first_further[j] .. first_further[j + 1] - 1`` of the other two.
    first
        First slot of each job in ``State.place`` and ``State.share``, shape (jobs + 1,).
    own, daily
        Calendar of the job and of its queue, shape (jobs,); -1: none.
    first_window
        First window of each calendar, shape (calendars + 1,).
    lo, hi
        First and last start in each window, shape (windows,).
    period
        Period after which the windows of a calendar repeat, shape (calendars,); 0: they do not repeat.
    capacity
        Amounts of each place, shape (places, resources).
    machine_capacity, machine_request
        Amounts of the whole machine, such as power, shape (machine resources,); what each job takes of them as long as it
        runs, shape (jobs, machine resources).
    first_follower
        First entry of each job in ``follower``, shape (jobs + 1,).
    follower
        Jobs that wait for the end of a job, shape (followers,); their ``release`` is NEVER.
    rank
        The places in the order in which an allocator takes them, as ranks, shape (places,); of length 0: the order of the
        places, or best fit.
    think, earliest
        Time from that end to the arrival of the follower, and its earliest arrival, shape (followers,).
    """

    order: Ints
    release: Ints
    runtime: Ints
    units: Ints
    request: Ints
    kind: Ints
    kind_job: Ints
    node_set: Ints
    masks: Bools
    first_in_set: Ints
    in_set: Ints
    most: Ints
    whole: Bools
    each_node: Ints
    first_limit: Ints
    limit: Ints
    limit_amount: Ints
    limit_checked: Bools
    limit_capacity: Ints
    member: Ints
    first_member: Ints
    first_further: Ints
    further_units: Ints
    further_request: Ints
    first: Ints
    own: Ints
    daily: Ints
    first_window: Ints
    lo: Ints
    hi: Ints
    period: Ints
    capacity: Ints
    machine_capacity: Ints
    machine_request: Ints
    first_follower: Ints
    follower: Ints
    think: Ints
    earliest: Ints
    rank: Ints


@by_address
class State(NamedTuple):
    """The state of a replay; lists are filled from the front.

    Parameters
    ----------
    clock
        Scalars, shape (SCALARS,): NOW, NEXT, WAITING, ... are their indices. WAITING, RUNNING, ENDED are lengths of
        lists. ``step`` stops before the time STOP.
    free
        Free amounts, shape (places, resources).
    open
        Whether jobs may start on each place now, shape (places,).
    open_of
        Whether the jobs of each set of places may start on each place now, shape (sets, places); see ``set_open``.
    limit_free
        What is left of each limit, shape (limits,); below 0 where jobs that run at the begin take more.
    ready
        Time in seconds from which jobs may start on each place that is not open, NEVER: unknown, shape (places,).
    machine_free
        Free amounts of the whole machine, shape (machine resources,); below 0 where more is in use than is allowed now.
    room
        Bound of the units of each distinct request that fit, shape (kinds,); NEVER: unknown.
    expected
        Expected duration of each job in seconds, shape (jobs,).
    start
        Start of each job in seconds, UNSTARTED: none, shape (jobs,).
    waiting
        Waiting jobs, shape (jobs,): the first ``clock[SORTED]`` by priority, then the jobs that arrived later.
    running, running_end
        Running jobs and their expected ends in seconds, ascending, shape (jobs,).
    ends, end_of
        Heap of the true ends in seconds: the ends and the jobs, shape (jobs,).
    ended
        Jobs that ended at the last event, shape (jobs,).
    pieces
        Number of slots in use of each job, shape (jobs,).
    place, share
        Places of the units of started jobs and units on each, shape (slots,).
    reserved
        Start of a waiting job's reservation in seconds, -1: none, shape (jobs,). Its places use the same slots.
    first_reserved
        The first reserved start of each job in seconds, -1: none, shape (jobs,).
    fair, seen, work
        Policies that plan: fair wait in seconds, -1: unknown; arrival; work, which a search changes. Shape (jobs,).
    opened
        Number of waiting jobs of each calendar, shape (calendars,).
    due, due_of
        Arrivals of the ``clock[DUE]`` followers whose preceding job has ended, in seconds, the next one last; the jobs.
        Shape (followers,).
    fit, usable
        Scratch: units that fit, whether jobs may start at some time, shape (places,).
    chosen, put
        Scratch: chosen places and units on each, shape (places,), or more for heterogeneous jobs.
    spare
        Scratch: free amounts of all places together, shape (resources,).
    extra, both
        Scratch, shape (places, resources): free amounts that a reservation leaves at its start; minimum of these and
        ``free``.
    machine_extra
        Scratch: free amounts of the whole machine that a reservation leaves at its start, shape (machine resources,).
    ahead_length, ahead_time, ahead_free
        Scratch: free amounts of the whole machine over time, as a ``Profile`` with one row; see ``ahead``.
    """

    clock: Ints
    free: Ints
    open: Bools
    open_of: Bools
    limit_free: Ints
    ready: Ints
    machine_free: Ints
    room: Ints
    expected: Ints
    start: Ints
    waiting: Ints
    running: Ints
    running_end: Ints
    ends: Ints
    end_of: Ints
    ended: Ints
    pieces: Ints
    place: Small
    share: Small
    reserved: Ints
    first_reserved: Ints
    fair: Ints
    seen: Ints
    work: Floats
    opened: Ints
    due: Ints
    due_of: Ints
    fit: Ints
    usable: Bools
    chosen: Ints
    put: Ints
    spare: Ints
    extra: Ints
    both: Ints
    machine_extra: Ints
    ahead_length: Ints
    ahead_time: Ints
    ahead_free: Ints


def new_state(trace: TraceArrays, expected: Ints) -> State:
    """Return the state before the first event; ``expected``: expected durations in seconds, shape (jobs,)."""
    jobs, places = trace.release.size, trace.capacity.shape[0]
    slots = int(trace.first[-1])
    most = max(places, int(np.diff(trace.first).max(initial=0)))
    amounts = trace.machine_capacity.size
    # each job begins and ends once in a plan
    steps = 1
    if amounts:
        steps = 2 * jobs + 2
    clock = np.zeros(SCALARS, np.int64)
    clock[NOW] = -NEVER
    clock[WAKE] = NEVER
    clock[STOP] = NEVER
    open_ = np.ones(places, np.bool_)
    return State(
        clock=clock,
        free=trace.capacity.copy(),
        open=open_,
        open_of=open_.reshape(1, places) if trace.masks.all() and len(trace.masks) == 1 else trace.masks.copy(),
        limit_free=trace.limit_capacity.copy(),
        ready=np.full(places, NEVER, np.int64),
        machine_free=trace.machine_capacity.copy(),
        room=np.full(int(trace.kind.max(initial=0)) + 1, NEVER, np.int64),
        expected=expected.astype(np.int64),
        start=np.full(jobs, UNSTARTED, np.int64),
        waiting=np.empty(jobs, np.int64),
        running=np.empty(jobs, np.int64),
        running_end=np.empty(jobs, np.int64),
        ends=np.empty(jobs, np.int64),
        end_of=np.empty(jobs, np.int64),
        ended=np.empty(jobs, np.int64),
        pieces=np.zeros(jobs, np.int64),
        place=np.empty(slots, np.int32),
        share=np.empty(slots, np.int32),
        reserved=np.full(jobs, -1, np.int64),
        first_reserved=np.full(jobs, -1, np.int64),
        fair=np.full(jobs, -1, np.int64),
        seen=np.zeros(jobs, np.int64),
        work=np.zeros(jobs),
        opened=np.zeros(trace.period.size, np.int64),
        due=np.empty(trace.follower.size, np.int64),
        due_of=np.empty(trace.follower.size, np.int64),
        fit=np.zeros(places, np.int64),
        usable=np.ones(places, np.bool_),
        chosen=np.empty(most, np.int64),
        put=np.empty(most, np.int64),
        spare=np.empty(trace.capacity.shape[1], np.int64),
        extra=np.empty_like(trace.capacity),
        both=np.empty_like(trace.capacity),
        machine_extra=np.empty(amounts, np.int64),
        ahead_length=np.ones(1, np.int64),
        ahead_time=np.empty((1, steps), np.int64),
        ahead_free=np.empty((1, steps, amounts), np.int64),
    )


def is_plain(trace: TraceArrays) -> bool:
    """Return whether each job may use all places, with as many units as fit, beside others, and no limit holds it."""
    every = len(trace.masks) == 1 and bool(trace.masks.all())
    return every and not trace.limit.size and not bool((trace.whole | (trace.most < trace.units)).any())


def set_open(trace: TraceArrays, state: State, open_: Bools) -> None:
    """Set on which places jobs may start now, shape (places,)."""
    state.open[:] = open_
    state.open_of[:] = trace.masks & state.open


@internal_borrowing
def held(trace: TraceArrays, limit_free: Ints, j: int) -> bool:
    """Return whether a limit keeps job j from a start now; such a job holds no reservation, and blocks no other."""
    for i in range(trace.first_limit[j], trace.first_limit[j + 1]):
        if trace.limit_checked[i] and trace.limit_amount[i] > limit_free[trace.limit[i]]:
            return True
    return False


@internal_borrowing
def take_of_limits(trace: TraceArrays, limit_free: Ints, j: int, sign: int) -> None:
    """Subtract what job j takes of limits (sign 1), or add it again (-1)."""
    for i in range(trace.first_limit[j], trace.first_limit[j + 1]):
        limit_free[trace.limit[i]] -= sign * trace.limit_amount[i]


@internal_borrowing
def is_open(trace: TraceArrays, c: int, t: int) -> bool:
    """Return whether calendar c lets jobs start at t; c = -1: no calendar, always open."""
    if c < 0:
        return True
    period = trace.period[c]
    second = t % period if period > 0 else t
    for w in range(trace.first_window[c], trace.first_window[c + 1]):
        if trace.lo[w] <= second <= trace.hi[w] or (period > 0 and trace.lo[w] <= second + period <= trace.hi[w]):
            return True
    return False


@internal_borrowing
def next_opening(trace: TraceArrays, c: int, t: int) -> int:
    """Return the first time after t at which a window of calendar c begins; NEVER if there is none."""
    opening, period = NEVER, trace.period[c]
    for w in range(trace.first_window[c], trace.first_window[c + 1]):
        at = trace.lo[w]
        if period > 0:
            at += ((t - at) // period + 1) * period
        if t < at < opening:
            opening = at
    return opening


@internal_borrowing
def may_start(trace: TraceArrays, j: int, t: int) -> bool:
    """Return whether the calendars let job j start at t."""
    if trace.own[j] < 0 and trace.daily[j] < 0:
        return True
    return is_open(trace, trace.own[j], t) and is_open(trace, trace.daily[j], t)


@internal_borrowing
def allowed_from(trace: TraceArrays, j: int, t: int) -> int:
    """Return the first time from t on at which the calendars let job j start; NEVER if there is none."""
    own, daily = trace.own[j], trace.daily[j]
    if own < 0 and daily < 0:
        return t
    while t < NEVER:
        if not is_open(trace, own, t):
            t = next_opening(trace, own, t)
        elif not is_open(trace, daily, t):
            t = next_opening(trace, daily, t)
        else:
            break
    return t


@internal_borrowing
def next_event(trace: TraceArrays, state: State) -> int:
    """Return the time of the next end, arrival, opening of a calendar or reservation; NEVER: no event."""
    clock = state.clock
    t = min(NEVER, clock[WAKE])
    if clock[RUNNING] > 0:
        t = min(t, state.ends[0])
    if clock[NEXT] < trace.order.size:
        t = min(t, trace.release[trace.order[clock[NEXT]]])
    if clock[DUE] > 0:
        t = min(t, state.due[clock[DUE] - 1])
    for c in range(trace.period.size):
        if state.opened[c] > 0:
            t = min(t, next_opening(trace, c, clock[NOW]))
    return int(t)


@internal_borrowing
def advance(trace: TraceArrays, state: State, t: int) -> None:
    """Go to time t, at or before the next event: first jobs end (``ended[:clock[ENDED]]``), then jobs arrive."""
    clock = state.clock
    clock[NOW] = t
    clock[ENDED] = 0
    clock[EARLY] = 0
    if clock[WAKE] <= t:
        clock[WAKE] = NEVER
    while clock[RUNNING] > 0 and state.ends[0] <= t:
        j = pop_end(state)
        finish(trace, state, j)
        state.ended[clock[ENDED]] = j
        clock[ENDED] += 1
        if trace.follower.size > 0:
            release_followers(trace, state, j)
    while clock[NEXT] < trace.order.size and trace.release[trace.order[clock[NEXT]]] <= t:
        _arrive(trace, state, trace.order[clock[NEXT]])
        clock[NEXT] += 1
    arrive_due(trace, state)


@internal_borrowing
def arrive_due(trace: TraceArrays, state: State) -> None:
    """Let the followers arrive that are due up to now."""
    clock = state.clock
    while clock[DUE] > 0 and state.due[clock[DUE] - 1] <= clock[NOW]:
        clock[DUE] -= 1
        _arrive(trace, state, state.due_of[clock[DUE]])


@internal_borrowing
def _arrive(trace: TraceArrays, state: State, j: int) -> None:
    """Add job j to the waiting jobs."""
    state.waiting[state.clock[WAITING]] = j
    state.clock[WAITING] += 1
    for c in (trace.own[j], trace.daily[j]):
        if c >= 0:
            state.opened[c] += 1


@internal_borrowing
def release_followers(trace: TraceArrays, state: State, j: int) -> None:
    """Let the jobs that wait for the end of job j arrive after their think times, ties in the order of the trace.

    A job that leaves without a start has ended now.
    """
    end = state.clock[NOW] if state.start[j] == UNSTARTED else state.start[j] + trace.runtime[j]
    due, due_of = state.due, state.due_of
    for f in range(trace.first_follower[j], trace.first_follower[j + 1]):
        at = max(trace.earliest[f], end + trace.think[f])
        k = state.clock[DUE]
        while k > 0 and (due[k - 1] < at or (due[k - 1] == at and due_of[k - 1] < trace.follower[f])):
            due[k], due_of[k] = due[k - 1], due_of[k - 1]
            k -= 1
        due[k], due_of[k] = at, trace.follower[f]
        state.clock[DUE] += 1


@internal_borrowing
def push_end(state: State, size: int, key: int, j: int) -> None:
    """Add job j with true end ``key`` to the heap of ``size`` jobs."""
    i = size
    while i > 0 and state.ends[(i - 1) // 2] > key:
        state.ends[i], state.end_of[i] = state.ends[(i - 1) // 2], state.end_of[(i - 1) // 2]
        i = (i - 1) // 2
    state.ends[i], state.end_of[i] = key, j


@internal_borrowing
def pop_end(state: State) -> int:
    """Remove the job that ends first from the heap and return it."""
    first = state.end_of[0]
    size = state.clock[RUNNING] - 1
    key = state.ends[size]
    j = state.end_of[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and state.ends[child + 1] < state.ends[child]:
            child += 1
        if state.ends[child] >= key:
            break
        state.ends[i], state.end_of[i] = state.ends[child], state.end_of[child]
        i = child
    state.ends[i], state.end_of[i] = key, j
    return int(first)


@internal_borrowing
def _rank_of(state: State, end: int) -> int:
    """Return the number of running jobs that are expected to end before ``end``."""
    lo, hi = 0, state.clock[RUNNING]
    while lo < hi:
        middle = (lo + hi) // 2
        if state.running_end[middle] < end:
            lo = middle + 1
        else:
            hi = middle
    return lo


@internal_borrowing
def finish(trace: TraceArrays, state: State, j: int) -> None:
    """End job j: free its amounts and remove it from the running jobs."""
    several = trace.masks.shape[0] > 1
    if several:
        _change_room(trace, state, j, -1)
    take(trace, state.free, state, j, -1)
    take_of_machine(trace, state.machine_free, j, -1)
    take_of_limits(trace, state.limit_free, j, -1)
    if several:
        _change_room(trace, state, j, 1)
    else:
        for k in range(state.room.size):
            state.room[k] = NEVER
    end = state.start[j] + state.expected[j]
    i = _rank_of(state, end)
    while state.running[i] != j:
        i += 1
    n = state.clock[RUNNING] - 1
    for k in range(i, n):
        state.running[k], state.running_end[k] = state.running[k + 1], state.running_end[k + 1]
    state.clock[RUNNING] = n
    if end > state.clock[NOW]:
        state.clock[EARLY] += 1


@internal_borrowing
def _change_room(trace: TraceArrays, state: State, j: int, sign: int) -> None:
    """Add to the known ``state.room`` what fits on the places of job j now (sign 1), or subtract it (-1).

    Subtracted before the job gives its places back, and added after it, the sums stay bounds: most jobs of a site may not use
    the places of the job that has ended, and nothing changes for them.
    """
    first = trace.first[j]
    for k in range(state.room.size):
        if state.room[k] == NEVER:
            continue
        other = trace.kind_job[k]
        mask = trace.masks[trace.node_set[other]]
        for slot in range(first, first + state.pieces[j]):
            p = state.place[slot]
            if mask[p]:
                fits = fits_on(trace, state.free[p], p, other, trace.request[other], trace.most[other])
                state.room[k] += sign * fits


@internal_borrowing
def take(trace: TraceArrays, free: Ints, state: State, j: int, sign: int) -> None:
    """Subtract the units of job j from ``free``, the amounts of the places (sign 1), or add them again (-1)."""
    if has_chunks(trace, j):
        take_chunks(trace, free, state, j, sign)
        return
    first = trace.first[j]
    if trace.whole[j]:
        for k in range(first, first + state.pieces[j]):
            for r in range(free.shape[1]):
                free[state.place[k], r] -= sign * trace.capacity[state.place[k], r]
        return
    for k in range(first, first + state.pieces[j]):
        for r in range(free.shape[1]):
            free[state.place[k], r] -= sign * state.share[k] * trace.request[j, r]
    if trace.each_node.shape[0] > 0:
        for k in range(first, first + state.pieces[j]):
            for r in range(free.shape[1]):
                free[state.place[k], r] -= sign * trace.each_node[j, r]


@internal_borrowing
def take_of_machine(trace: TraceArrays, free: Ints, j: int, sign: int) -> None:
    """Subtract what job j takes of the whole machine from ``free`` (sign 1), or add it again (-1)."""
    for r in range(free.size):
        free[r] -= sign * trace.machine_request[j, r]


@internal_borrowing
def exceeds(request: Ints, j: int, free: Ints) -> bool:
    """Return whether job j needs more of the whole machine than is free.

    Nothing fits where less than 0 is free, not even a job that takes nothing.

    Parameters
    ----------
    request
        ``machine_request``, shape (jobs, machine resources).
    j
        Index of the job.
    free
        Free amounts, shape (machine resources,).
    """
    for r in range(free.size):
        if request[j, r] > free[r]:
            return True
    return False


@internal_borrowing
def keep_places(trace: TraceArrays, state: State, j: int, entries: int) -> None:
    """Store the chosen places as those of job j.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state; ``chosen`` and ``put`` are read.
    j
        Index of the job.
    entries
        Number of chosen places.
    """
    first = trace.first[j]
    for k in range(entries):
        state.place[first + k], state.share[first + k] = state.chosen[k], state.put[k]
    state.pieces[j] = entries


@internal_borrowing
def begin(trace: TraceArrays, state: State, j: int) -> None:
    """Start job j now on its stored places. It stays in ``waiting`` until ``compact``."""
    clock = state.clock
    now, n = clock[NOW], clock[RUNNING]
    take(trace, state.free, state, j, 1)
    take_of_machine(trace, state.machine_free, j, 1)
    take_of_limits(trace, state.limit_free, j, 1)
    state.start[j], state.reserved[j] = now, -1
    end = now + state.expected[j]
    i = _rank_of(state, end)
    for k in range(n, i, -1):
        state.running[k], state.running_end[k] = state.running[k - 1], state.running_end[k - 1]
    state.running[i], state.running_end[i] = j, end
    push_end(state, n, now + trace.runtime[j], j)
    clock[RUNNING] = n + 1
    clock[STARTED] += 1
    for c in (trace.own[j], trace.daily[j]):
        if c >= 0:
            state.opened[c] -= 1


@internal_borrowing
def compact(state: State) -> None:
    """Remove the started jobs from ``waiting``; the others keep their order."""
    clock = state.clock
    waiting = state.waiting
    start = state.start
    kept = 0
    before = clock[SORTED]
    for i in range(clock[WAITING]):
        j = waiting[i]
        if start[j] == UNSTARTED:
            waiting[kept] = j
            kept += 1
        elif i < before:
            clock[SORTED] -= 1
    clock[WAITING] = kept
