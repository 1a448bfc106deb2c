"""Rules at one event, and a whole replay under a rule [Bridi2018, 2.2], algorithm 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.array_types import Bools, Floats, Ints
from ....models.compiled import by_address, compiled, internal, internal_borrowing
from ..profile import NEVER
from ..sorting import sort_by
from .state import (
    DECISIONS,
    DUE,
    NEXT,
    NOW,
    RUNNING,
    SORTED,
    STARTED,
    STOP,
    WAITING,
    WAKE,
    State,
    TraceArrays,
    advance,
    begin,
    choose_places,
    compact,
    count_job,
    exceeds,
    has_chunks,
    held,
    keep_places,
    may_start,
    next_event,
    spread,
)

# --- The order of the waiting jobs of a replay by a key.


@internal
def rank(state: State, base: Floats, slope: Floats, dynamic: bool) -> None:
    """Sort ``waiting`` by the key base + slope * now, least first, ties in the order of the trace.

    Parameters
    ----------
    state
        The state; ``waiting`` is changed.
    base, slope
        Parts of the key, shape (jobs,).
    dynamic
        Whether the key changes with time; else only new jobs are inserted.
    """
    clock = state.clock
    n = clock[WAITING]
    if dynamic or clock[SORTED] == 0:
        key = base
        if dynamic:
            key = np.empty(base.size, np.float64)
            for i in range(n):
                j = state.waiting[i]
                key[j] = base[j] + slope[j] * clock[NOW]
        sort_by(state.waiting, n, key)
    else:
        for i in range(clock[SORTED], n):
            _insert(state.waiting, i, base)
    clock[SORTED] = n


@internal_borrowing
def _insert(waiting: Ints, n: int, base: Floats) -> None:
    """Move the job at place n to its position among the sorted jobs before it."""
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


# --- Detection of the end of a replay: no waiting job can ever start, although calendars open every day.


class Standstill:
    """Detects that nothing can change any more.

    When nothing runs, nothing arrives any more (a job that waits for the end of another job does not), no reservation
    begins and no state of a node changes, only calendars open. Calendars of queues open once a day, windows of
    single jobs only once. One day after the last of these windows has opened, every job that can ever start has had the
    chance to start on the empty machine.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state of the replay.
    """

    def __init__(self, trace: TraceArrays, state: State) -> None:
        self._trace, self._state = trace, state
        self._arrivals = trace.order.size - trace.follower.size  # jobs that arrive by themselves
        self._started = -1
        self._end: int | None = None

    def reached(self, away: int = 0) -> bool:
        """Return whether every calendar has opened since the machine became empty.

        Call it after every event or from time to time. ``away``: running rows that are no jobs.
        """
        clock = self._state.clock
        waiting = clock[RUNNING] > away or clock[DUE] > 0 or clock[NEXT] < self._arrivals
        if waiting or clock[WAKE] < NEVER or clock[STOP] < NEVER:
            self._end = None
            return False
        if self._end is None or clock[STARTED] != self._started:
            self._started, self._end = int(clock[STARTED]), self._last_opening()
        return int(clock[NOW]) >= self._end

    def _last_opening(self) -> int:
        """Return the time in seconds by which every window of a waiting job has opened."""
        trace, state = self._trace, self._state
        last = int(state.clock[NOW])
        round_ = 0
        for c in np.flatnonzero(state.opened > 0).tolist():
            if trace.period[c] > 0:
                round_ = max(round_, int(trace.period[c]))
            else:
                last = max(last, int(trace.lo[trace.first_window[c] : trace.first_window[c + 1]].max()))
        return last + round_


# --- Rules at one event: waiting jobs start in the order of their priority [Bridi2018, 2.2], algorithm 1.
#
# 1. Sort the waiting jobs by priority.
# 2. Start each job that fits now and whose calendars are open.
# 3. A job that does not fit is skipped; with a strict rule it ends the step.

ALL = 2**31  # ``Rules.candidates``: no limit


@by_address
class Planning(NamedTuple):
    """How a policy plans its whole queue at each decision.

    Parameters
    ----------
    on
        Whether the policy plans: then all waiting jobs are placed anew at each decision.
    work
        Weight of a job's work in its key; 0: the key is ``Rules.base``.
    guard
        A job is overdue after ``guard`` times its fair wait.
    least
        No job is overdue earlier, in seconds.
    worth
        Units of each job times the weight of its queue, shape (jobs,), or empty without ``work``. The *work* of a job is
        its expected duration times this.
    rounds
        Changes of the order that the search tries at each decision; 0: no search.
    depth
        Number of jobs at the head of the plan that the search may change.
    seed
        Seed of the search.
    """

    on: bool
    work: float
    guard: float
    least: int
    worth: Floats
    rounds: int
    depth: int
    seed: int


NO_PLANNING = Planning(False, 0.0, np.inf, 0, np.empty(0), 0, 0, 0)


@by_address
class Rules(NamedTuple):
    """A rule: the job with the least base + slope * now is first.

    Parameters
    ----------
    base
        Constant part of the key, shape (jobs,).
    slope
        Change of the key per second, shape (jobs,); used only if ``dynamic``.
    dynamic
        Whether the key changes with time.
    strict
        Whether a job that does not fit blocks all later jobs.
    reservations
        Number of jobs with reservations (policies with backfilling).
    candidates
        Number of waiting jobs to test at each event; ALL: no limit.
    best
        Best fit, else first fit.
    planning
        How the queue is planned anew at each decision (policies that plan).
    """

    base: Floats
    slope: Floats
    dynamic: bool
    strict: bool
    reservations: int
    candidates: int
    best: bool
    planning: Planning = NO_PLANNING


@internal_borrowing
def start_counted(trace: TraceArrays, state: State, free: Ints, j: int, best: bool) -> bool:
    """Start job j now on places chosen by ``state.fit``, which must be counted before.

    Return False if job j has several chunks and they do not fit together into ``free``.
    """
    if has_chunks(trace, j):
        entries = choose_places(trace, state, free, state.free, state.open_of[trace.node_set[j]], j, best)
        if entries == 0:
            return False
    else:
        entries = spread(
            state.free, trace.capacity, trace.rank, state.fit, trace.units[j], best, state.chosen, state.put
        )
    keep_places(trace, state, j, entries)
    begin(trace, state, j)
    return True


@internal_borrowing
def try_start(trace: TraceArrays, state: State, free: Ints, j: int, best: bool) -> bool:
    """Start job j now if ``free`` has room for it; return whether it has started.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state; changed in place.
    free
        Free amounts that the job may use, shape (places, resources).
    j
        Index of the job.
    best
        Best fit, else first fit.
    """
    if exceeds(trace.machine_request, j, state.machine_free):
        return False
    if count_job(trace, state, free, j) < trace.units[j]:
        return False
    return start_counted(trace, state, free, j, best)


@internal_borrowing
def _sum_up(free: Ints, usable: Bools, spare: Ints) -> None:
    """Set ``spare`` to the free amounts of all usable places together."""
    for r in range(spare.size):
        spare[r] = 0
    for p in range(free.shape[0]):
        if usable[p]:
            for r in range(spare.size):
                spare[r] += max(0, free[p, r])


# The loops over a whole queue call functions with few arrays: a call that passes all arrays costs as much as fifty of
# these.
@internal_borrowing
def lacks(units: Ints, request: Ints, spare: Ints, j: int) -> bool:
    """Return whether job j (its first chunk) needs more than all places together have free; in a long queue most do.

    Parameters
    ----------
    units
        Units of each job, shape (jobs,).
    request
        Amounts per unit, shape (jobs, resources).
    spare
        Free amounts of all places together, shape (resources,).
    j
        Index of the job.
    """
    for r in range(spare.size):
        if units[j] * request[j, r] > spare[r]:
            return True
    return False


@internal_borrowing
def spend(units: Ints, request: Ints, spare: Ints, j: int) -> None:
    """Subtract started job j from ``spare``.

    Parameters
    ----------
    units, request, spare, j
        As in ``lacks``.
    """
    for r in range(spare.size):
        spare[r] -= units[j] * request[j, r]


@internal_borrowing
def start_in_order(trace: TraceArrays, state: State, rules: Rules, blocking: bool, closed: bool, first: int) -> int:
    """Start waiting jobs in their order; return the place of the job that blocks, else the number of waiting jobs.

    A job that a limit holds is skipped, and blocks no other.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state; changed in place.
    rules
        The rule.
    blocking
        Whether a job that does not fit blocks.
    closed
        Whether a job whose calendar is closed blocks; else it is skipped.
    first
        Place in ``waiting`` to begin at; 0 in the first call of a decision.
    """
    spare = state.spare
    units = trace.units
    request = trace.request
    waiting = state.waiting
    room, kind = state.room, trace.kind
    of_machine, machine = trace.machine_request, state.machine_free
    limited = trace.limit.size > 0
    if first == 0 and trace.masks.shape[0] > 1:  # jobs may not use all places: what these have together says little
        for r in range(spare.size):
            spare[r] = NEVER
    elif first == 0:  # later calls of one decision go on with what is left
        _sum_up(state.free, state.open, spare)
    for i in range(first, min(state.clock[WAITING], rules.candidates)):
        j = waiting[i]
        if limited and held(trace, state.limit_free, j):
            continue
        if (units[j] > room[kind[j]] and not blocking) or not may_start(trace, j, state.clock[NOW]):
            if closed:
                return i
            continue
        if units[j] <= room[kind[j]] and not exceeds(of_machine, j, machine):
            fits = units[j] - 1
            if not lacks(units, request, spare, j):
                fits = count_job(trace, state, state.free, j)
            if fits < units[j]:
                room[kind[j]] = fits
            elif start_counted(trace, state, state.free, j, rules.best):
                spend(units, request, spare, j)
                continue
        if blocking:
            return i
    return int(state.clock[WAITING])


@internal
def by_rule(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Apply a rule without reservations at the current event."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    before = state.clock[STARTED]
    start_in_order(trace, state, rules, rules.strict, False, 0)
    if state.clock[STARTED] > before:
        compact(state)


# --- A replay under a rule, event after event, in compiled code.


@internal_borrowing
def step(trace: TraceArrays, state: State, period: int) -> bool:
    """Go to the next event or multiple of ``period`` seconds (0: none).

    Return False if no event is left, or the next one is not before the time STOP.
    """
    t = next_event(trace, state)
    if t >= NEVER:
        return False
    if period > 0 and state.clock[WAITING] > 0:
        t = min(t, (state.clock[NOW] // period + 1) * period)
    if t >= state.clock[STOP]:
        return False
    advance(trace, state, t)
    return True


@compiled
def replay_by_rule(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    """Replay at most ``events`` events; return False if nothing happens any more.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state; changed in place.
    rules
        The rule.
    period
        Decide also at the multiples of this many seconds while jobs wait; 0: only at events.
    events
        Number of events.
    """
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            by_rule(trace, state, rules)
    return True
