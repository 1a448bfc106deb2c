"""Backfilling with several reservations, one decision; compiled.

This is conservative backfilling [Bridi2018, 2.2, algorithm 2] [Mualem2001], and, with a limited number of reservations,
the backfill depth of PBS [Bridi2018, 4.5]. A reservation is a start and nodes for a waiting job. Reservations are kept
from one event to the next. ``backfill`` makes one decision:

1. Sort the waiting jobs by priority.
2. Build the free capacity of each node over time, from the expected ends of the running jobs. A job that runs longer
   than expected is taken to end at now + 1 s.
3. Subtract the reservations of the earlier events. If one does not fit any more, or its start has passed, delete all of
   them. The usual reason is a job that runs longer than expected.
4. For each waiting job, in order of priority:

   a. Remove its reservation if reservations can move (a job has ended early, reservations were deleted, or priorities
      change with time), or if ``rules.reservations`` jobs already hold one.
   b. If it has no reservation, find its earliest start in the free capacity and in its calendars. If
      ``rules.reservations`` jobs already hold one, only a start now counts.
   c. If there is such a start, choose the nodes and subtract the job from the free capacity. If the start is now, start
      the job; else it holds a reservation.

While step 4 moves a reservation, its old start and nodes are free for the same job, so it never moves to a later time.
Only step 3 can make a reservation later.

Times are seconds. State and events are those of ``heuristics.kernels.events.state``.

References
----------
- [Bridi2018]: see ``docs/references.md``.
- [Mualem2001]: A. W. Mu'alem, D. G. Feitelson: Utilization, predictability, workloads, and user runtime estimates in
  scheduling the IBM SP2 with backfilling. IEEE Transactions on Parallel and Distributed Systems 12(6), 2001.
"""

from __future__ import annotations

import numpy as np

from ...heuristics.kernels.chunks.together import next_change
from ...heuristics.kernels.earliest import Scratch, earliest, new_scratch
from ...heuristics.kernels.events.chunks import amount, choose_places, has_chunks, row_of
from ...heuristics.kernels.events.fit import spread, units_that_fit
from ...heuristics.kernels.events.ranking import rank
from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.state import (
    EARLY,
    NOW,
    RUNNING,
    WAITING,
    WAKE,
    State,
    TraceArrays,
    allowed_from,
    begin,
    compact,
    keep_places,
    take,
)
from ...heuristics.kernels.profile import NEVER, Ints, Profile, grown, occupy, segment
from ...models.compiled import internal
from .compression import forget, may_move, new_stuck

SPARE = 32  # breakpoints per node beyond those of the running jobs, at first

_new_scratch = internal(new_scratch)


@internal
def running_profile(trace: TraceArrays, state: State) -> Profile:
    """Return the free capacity of each place from now on, given the expected ends of the running jobs."""
    now, n = state.clock[NOW], state.clock[RUNNING]
    places, resources = trace.capacity.shape
    length = np.empty(places, np.int64)
    for p in range(places):
        length[p] = 1
    for i in range(n):
        j = state.running[i]
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            length[state.place[k]] += 1
    room = 0
    for p in range(places):
        room = max(room, length[p] + SPARE)
        length[p] = 1
    profile = Profile(length, np.empty((places, room), np.int64), np.empty((places, room, resources), np.int64))
    for p in range(places):
        profile.time[p, 0] = now
        for r in range(resources):
            profile.free[p, 0, r] = state.free[p, r]
    for i in range(n):
        j, end = state.running[i], max(state.running_end[i], now + 1)
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            p, row = state.place[k], row_of(trace, state, j, k)
            last = profile.length[p] - 1
            if profile.time[p, last] < end:
                profile.time[p, last + 1] = end
                for r in range(resources):
                    profile.free[p, last + 1, r] = profile.free[p, last, r]
                last += 1
                profile.length[p] += 1
            for r in range(resources):
                profile.free[p, last, r] += state.share[k] * amount(trace, j, row, r)
    return profile


@internal
def hold(profile: Profile, trace: TraceArrays, state: State, j: int, sign: int) -> Profile:
    """Subtract the reservation of job j from the profile (sign 1), or add it back (-1).

    The returned profile is a larger copy if there was no room for more breakpoints.
    """
    begin_, end = state.reserved[j], state.reserved[j] + state.expected[j]
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        if profile.length[state.place[k]] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        row = row_of(trace, state, j, k)
        request = trace.request[j] if row < 0 else trace.further_request[row]
        occupy(profile, state.place[k], begin_, end, request, sign * state.share[k])
    return profile


@internal
def _least_free(profile: Profile, start: int, end: int) -> Ints:
    """Return the least free amounts of each place in [start, end), shape (places, resources)."""
    places, _, resources = profile.free.shape
    found = np.empty((places, resources), np.int64)
    for p in range(places):
        i = segment(profile, p, start)
        for r in range(resources):
            found[p, r] = profile.free[p, i, r]
        while i + 1 < profile.length[p] and profile.time[p, i + 1] < end:
            i += 1
            for r in range(resources):
                found[p, r] = min(found[p, r], profile.free[p, i, r])
    return found


@internal
def _keep_chunks(profile: Profile, trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether the reservation of heterogeneous job j still fits into the profile."""
    left = _least_free(profile, state.reserved[j], state.reserved[j] + state.expected[j])
    take(trace, left, state, j, 1)
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        for r in range(left.shape[1]):
            if left[state.place[k], r] < 0:
                return False
    return True


@internal
def _keeps(profile: Profile, trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether the reservation of job j still fits into the profile."""
    start, end = state.reserved[j], state.reserved[j] + state.expected[j]
    if has_chunks(trace, j):
        return _keep_chunks(profile, trace, state, j)
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        p = state.place[k]
        i = segment(profile, p, start)
        while i < profile.length[p] and profile.time[p, i] < end:
            if units_that_fit(profile.free[p, i], trace.request[j], state.share[k]) < state.share[k]:
                return False
            i += 1
    return True


@internal
def hold_all(profile: Profile, trace: TraceArrays, state: State) -> tuple[Profile, bool]:
    """Subtract all reservations from the profile; if one does not fit any more, delete all and return False."""
    now, n = state.clock[NOW], state.clock[WAITING]
    for i in range(n):
        j = state.waiting[i]
        if state.reserved[j] < 0:
            continue
        if state.reserved[j] < now or not _keeps(profile, trace, state, j):
            for other in range(n):
                state.reserved[state.waiting[other]] = -1
            return running_profile(trace, state), False
        profile = hold(profile, trace, state, j, 1)
    return profile, True


@internal
def _earliest(
    profile: Profile, s: Scratch, trace: TraceArrays, state: State, j: int, first: int, latest: int, best: bool
) -> int:
    """Return the earliest start of job j in [first, latest] that nodes and calendars allow; -1 if there is none."""
    request, units, duration = trace.request[j], trace.units[j], max(1, state.expected[j])
    start = allowed_from(trace, j, first)
    if start > latest:
        return -1
    for p in range(s.most.size):
        s.most[p] = units_that_fit(trace.capacity[p], request, units)
    while start <= latest:
        fits = earliest(profile, s, None, j, request, units, duration, start, latest)
        start = allowed_from(trace, j, fits) if fits >= 0 else NEVER
        if start == fits:
            if not has_chunks(trace, j):
                return int(start)
            left = _least_free(profile, start, start + duration)
            if choose_places(trace, state, left, j, best) > 0:
                return int(start)
            start = allowed_from(trace, j, next_change(profile, start))
    return -1


@internal
def reserve(
    profile: Profile, s: Scratch, trace: TraceArrays, state: State, j: int, first: int, latest: int, best: bool
) -> Profile:
    """Reserve the earliest start of job j in [first, latest], if there is one; return the profile or a larger copy."""
    units = trace.units[j]
    start = _earliest(profile, s, trace, state, j, first, latest, best)
    state.reserved[j] = start
    if start < 0:
        return profile
    if has_chunks(trace, j):
        left = _least_free(profile, start, start + max(1, state.expected[j]))
        keep_places(trace, state, j, choose_places(trace, state, left, j, best))
        return hold(profile, trace, state, j, 1)
    places, resources = state.free.shape
    free = np.empty((places, resources), np.int64)
    for p in range(places):
        i = segment(profile, p, start)
        for r in range(resources):
            free[p, r] = profile.free[p, i, r]
    state.pieces[j] = spread(free, trace.capacity, s.fits, units, best, state.chosen, state.put)
    for k in range(state.pieces[j]):
        state.place[trace.first[j] + k], state.share[trace.first[j] + k] = state.chosen[k], state.put[k]
    return hold(profile, trace, state, j, 1)


@internal
def backfill(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision: at most ``rules.reservations`` jobs hold reservations, the others start if they delay none.

    The steps are those of the module docstring. Only the first ``rules.candidates`` waiting jobs are examined.
    """
    profile, kept = hold_all(running_profile(trace, state), trace, state)
    backfill_on(profile, kept, trace, state, rules)


@internal
def backfill_on(profile: Profile, kept: bool, trace: TraceArrays, state: State, rules: Rules) -> Profile:
    """Make one decision on the profile with all reservations (step 4); return it with those of the next decision.

    ``kept``: no reservation was deleted in step 3.
    """
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock = state.clock
    now = clock[NOW]
    moving = not kept or clock[EARLY] > 0 or rules.dynamic
    s, stuck, held = _new_scratch(trace.capacity.shape[0]), new_stuck(), 0
    for i in range(min(clock[WAITING], rules.candidates)):
        j = state.waiting[i]
        full = held >= rules.reservations
        before = state.reserved[j]
        if before >= 0 and (full or (moving and may_move(profile, stuck, trace, state, j))):
            profile = hold(profile, trace, state, j, -1)
            state.reserved[j] = -1
        if state.reserved[j] < 0:
            profile = reserve(profile, s, trace, state, j, now, now if full else NEVER // 2, rules.best)
            if before >= 0 and state.reserved[j] != before:
                forget(stuck)
        if state.reserved[j] < 0:
            continue
        if state.first_reserved[j] < 0:
            state.first_reserved[j] = state.reserved[j]
        if state.reserved[j] == now:
            begin(trace, state, j)
        else:
            held += 1
    compact(state)
    wake(state)
    return profile


@internal
def wake(state: State) -> None:
    """Add an event at the start of the next reservation.

    While a job runs longer than expected, a reservation at now + 1 s adds no event: there would be one in every second.
    """
    clock = state.clock
    late = clock[RUNNING] > 0 and state.running_end[0] <= clock[NOW]
    for i in range(clock[WAITING]):
        at = state.reserved[state.waiting[i]]
        if at > clock[NOW] + (1 if late else 0):
            clock[WAKE] = min(clock[WAKE], at)
