"""The state of a replay as flat arrays, and how it moves from one event to the next; compiled.

A *place* is what units are put on: a node, or (where nodes are interchangeable) a set of them counted together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....models.compiled import borrowing, compiled
from ..profile import NEVER, Floats, Ints

Small = NDArray[np.int32]

# the places of the scalars in ``State.clock``
NOW, NEXT, WAITING, SORTED, RUNNING, ENDED, BLOCKED_SINCE, EARLY, WAKE, DECISIONS, STARTED = range(11)
SCALARS = 11


class TraceArrays(NamedTuple):
    """What is replayed: arrays over jobs, then over calendars. Times in seconds.

    Job ``order[i]`` arrives at ``release``, in this order. It may start when the calendars ``own`` and ``daily`` (-1:
    none) are open: calendar c has the windows ``first_window[c] .. first_window[c + 1] - 1``, ``[lo, hi]`` of each
    ``period`` (0: once). Its units' places are kept from ``first[j]`` on.
    """

    order: Ints
    release: Ints
    runtime: Ints
    units: Ints
    request: Ints  # jobs x resources, per unit
    kind: Ints  # which of the distinct requests a job has
    first: Ints
    own: Ints
    daily: Ints
    first_window: Ints
    lo: Ints
    hi: Ints
    period: Ints
    capacity: Ints  # places x resources


class State(NamedTuple):
    """Where a replay stands. ``clock`` holds the scalars; lists are filled from the front.

    ``waiting``: the first ``SORTED`` by priority, then those that came since; ``running``: by ``running_end``, the
    expected ends; ``ends``, ``end_of``: a heap of true ends; ``place``, ``share``: where the units of started jobs are;
    ``reserved``: start of a waiting job's reservation, -1 if it has none, on the same slots of ``place`` and ``share``.
    """

    clock: Ints
    free: Ints  # places x resources
    room: Ints  # of each distinct request, so many units fit at most (NEVER: unknown); it holds until a job ends
    expected: Ints
    start: Ints
    waiting: Ints
    running: Ints
    running_end: Ints
    ends: Ints
    end_of: Ints
    ended: Ints
    pieces: Ints  # how many slots of place and share a job has
    place: Small
    share: Small
    reserved: Ints
    first_reserved: Ints
    opened: Ints  # of each calendar, how many waiting jobs it concerns
    fit: Ints  # scratch over places: how many units fit
    chosen: Ints  # scratch over places: where units go, and how many
    put: Ints
    spare: Ints  # scratch over resources: what all places have free together
    extra: Ints  # scratch, places x resources: what a reservation leaves
    both: Ints  # scratch, places x resources: what is free now and left by a reservation


def new_state(trace: TraceArrays, expected: Ints) -> State:
    """Nothing has happened yet."""
    jobs, places = trace.order.size, trace.capacity.shape[0]
    slots = int(trace.first[-1])
    clock = np.zeros(SCALARS, np.int64)
    clock[NOW], clock[WAKE] = -NEVER, NEVER
    return State(
        clock=clock,
        free=trace.capacity.copy(),
        room=np.full(int(trace.kind.max(initial=0)) + 1, NEVER, np.int64),
        expected=expected.astype(np.int64),
        start=np.full(jobs, -1, np.int64),
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
        opened=np.zeros(trace.period.size, np.int64),
        fit=np.zeros(places, np.int64),
        chosen=np.empty(places, np.int64),
        put=np.empty(places, np.int64),
        spare=np.empty(trace.capacity.shape[1], np.int64),
        extra=np.empty_like(trace.capacity),
        both=np.empty_like(trace.capacity),
    )


@borrowing
def is_open(trace: TraceArrays, c: int, t: int) -> bool:
    """Whether calendar c lets jobs start at t; -1 is no calendar."""
    if c < 0:
        return True
    period = trace.period[c]
    second = t % period if period > 0 else t
    for w in range(trace.first_window[c], trace.first_window[c + 1]):
        if trace.lo[w] <= second <= trace.hi[w] or (period > 0 and trace.lo[w] <= second + period <= trace.hi[w]):
            return True
    return False


@borrowing
def next_opening(trace: TraceArrays, c: int, t: int) -> int:
    """The first moment after t at which a window of calendar c begins."""
    found, period = NEVER, trace.period[c]
    for w in range(trace.first_window[c], trace.first_window[c + 1]):
        at = trace.lo[w]
        if period > 0:
            at += ((t - at) // period + 1) * period
        if t < at < found:
            found = at
    return found


@borrowing
def may_start(trace: TraceArrays, j: int, t: int) -> bool:
    """Whether the calendars let job j start at t."""
    if trace.own[j] < 0 and trace.daily[j] < 0:
        return True
    return is_open(trace, trace.own[j], t) and is_open(trace, trace.daily[j], t)


@borrowing
def allowed_from(trace: TraceArrays, j: int, t: int) -> int:
    """The first moment from t on at which the calendars let job j start; NEVER if there is none."""
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


@borrowing
def next_event(trace: TraceArrays, state: State) -> int:
    """When something happens next: a completion, an arrival, the opening of a calendar, a reservation; NEVER: nothing."""
    clock = state.clock
    t = min(NEVER, clock[WAKE])
    if clock[RUNNING] > 0:
        t = min(t, state.ends[0])
    if clock[NEXT] < trace.order.size:
        t = min(t, trace.release[trace.order[clock[NEXT]]])
    for c in range(trace.period.size):
        if state.opened[c] > 0:
            t = min(t, next_opening(trace, c, clock[NOW]))
    return int(t)


@borrowing
def advance(trace: TraceArrays, state: State, t: int) -> None:
    """Go to time t, at or before the next event: completions, then arrivals. ``ended[:clock[ENDED]]`` have just ended."""
    clock = state.clock
    clock[NOW], clock[ENDED], clock[EARLY] = t, 0, 0
    if clock[WAKE] <= t:
        clock[WAKE] = NEVER
    while clock[RUNNING] > 0 and state.ends[0] <= t:
        j = _pop(state)
        _finish(trace, state, j)
        state.ended[clock[ENDED]] = j
        clock[ENDED] += 1
    while clock[NEXT] < trace.order.size and trace.release[trace.order[clock[NEXT]]] <= t:
        j = trace.order[clock[NEXT]]
        state.waiting[clock[WAITING]] = j
        clock[WAITING] += 1
        clock[NEXT] += 1
        for c in (trace.own[j], trace.daily[j]):
            if c >= 0:
                state.opened[c] += 1


@borrowing
def _push(state: State, size: int, key: int, j: int) -> None:
    i = size
    while i > 0 and state.ends[(i - 1) // 2] > key:
        state.ends[i], state.end_of[i] = state.ends[(i - 1) // 2], state.end_of[(i - 1) // 2]
        i = (i - 1) // 2
    state.ends[i], state.end_of[i] = key, j


@borrowing
def _pop(state: State) -> int:
    """The job that ends first; it leaves the heap."""
    first = state.end_of[0]
    size = state.clock[RUNNING] - 1
    key, j, i = state.ends[size], state.end_of[size], 0
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


@borrowing
def _rank_of(state: State, end: int) -> int:
    """How many running jobs are expected to end before ``end``."""
    lo, hi = 0, state.clock[RUNNING]
    while lo < hi:
        middle = (lo + hi) // 2
        if state.running_end[middle] < end:
            lo = middle + 1
        else:
            hi = middle
    return lo


@borrowing
def _finish(trace: TraceArrays, state: State, j: int) -> None:
    """Job j gives back what it had."""
    take(trace, state.free, state, j, -1)
    state.room[:] = NEVER
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


@borrowing
def take(trace: TraceArrays, free: Ints, state: State, j: int, sign: int) -> None:
    """Take (sign 1) the units of job j from the amounts of its places, or give them back (-1)."""
    first = trace.first[j]
    for k in range(first, first + state.pieces[j]):
        for r in range(free.shape[1]):
            free[state.place[k], r] -= sign * state.share[k] * trace.request[j, r]


@borrowing
def keep_places(trace: TraceArrays, state: State, j: int, entries: int) -> None:
    """Note that the units of job j are on the first ``entries`` chosen places."""
    first = trace.first[j]
    for k in range(entries):
        state.place[first + k], state.share[first + k] = state.chosen[k], state.put[k]
    state.pieces[j] = entries


@borrowing
def begin(trace: TraceArrays, state: State, j: int) -> None:
    """Job j, whose places are noted, starts now. It leaves ``waiting`` only by ``compact``."""
    clock = state.clock
    now, n = clock[NOW], clock[RUNNING]
    take(trace, state.free, state, j, 1)
    state.start[j], state.reserved[j] = now, -1
    end = now + state.expected[j]
    i = _rank_of(state, end)
    for k in range(n, i, -1):
        state.running[k], state.running_end[k] = state.running[k - 1], state.running_end[k - 1]
    state.running[i], state.running_end[i] = j, end
    _push(state, n, now + trace.runtime[j], j)
    clock[RUNNING] = n + 1
    clock[STARTED] += 1
    for c in (trace.own[j], trace.daily[j]):
        if c >= 0:
            state.opened[c] -= 1


@borrowing
def compact(state: State) -> None:
    """Take the started jobs out of ``waiting``; the others keep their order."""
    clock, waiting, start, kept = state.clock, state.waiting, state.start, 0
    before = clock[SORTED]
    for i in range(clock[WAITING]):
        j = waiting[i]
        if start[j] < 0:
            waiting[kept] = j
            kept += 1
        elif i < before:
            clock[SORTED] -= 1
    clock[WAITING] = kept


@compiled
def rank(state: State, base: Floats, slope: Floats, dynamic: bool) -> None:
    """Order ``waiting`` by priority, least base + slope x now first, equal ones in the order of the trace."""
    clock = state.clock
    n = clock[WAITING]
    if dynamic or clock[SORTED] == 0:
        jobs = np.sort(state.waiting[:n])
        key = base[jobs] + slope[jobs] * clock[NOW] if dynamic else base[jobs]
        state.waiting[:n] = jobs[np.argsort(key, kind="mergesort")]
    else:
        for i in range(clock[SORTED], n):
            _insert(state.waiting, i, base)
    clock[SORTED] = n


@borrowing
def _insert(waiting: Ints, n: int, base: Floats) -> None:
    """Move the job at place n to where it belongs among the sorted ones before it."""
    j = waiting[n]
    lo, hi = 0, n
    while lo < hi:
        middle = (lo + hi) // 2
        other = waiting[middle]
        if base[other] < base[j] or (base[other] == base[j] and other < j):
            lo = middle + 1
        else:
            hi = middle
    for k in range(n, lo, -1):
        waiting[k] = waiting[k - 1]
    waiting[lo] = j
