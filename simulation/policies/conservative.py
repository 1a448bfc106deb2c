"""Backfilling with several reservations at one event: conservative, and the depth of PBS; compiled (thesis 2.2, algorithm 2).

Reservations are kept from event to event. When a job ends early, each is moved to the earliest start that the others
leave, its own place being free for it, so none moves later. Only a job that runs past its expected end (it is taken to
end at now + 1) can break one: then all are made anew, in the order of priority.
The state and its events are those of ``heuristics.event_state``.
"""

from __future__ import annotations

import numpy as np

from ...heuristics.kernels.earliest import Scratch, earliest, new_scratch
from ...heuristics.kernels.events.fit import spread, units_that_fit
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
    rank,
)
from ...heuristics.kernels.profile import NEVER, Profile, grown, occupy, segment
from ...models.compiled import compiled

SPARE = 32  # breakpoints


@compiled
def running_profile(trace: TraceArrays, state: State) -> Profile:
    """What the running jobs leave free, from now on; built in the order of their expected ends."""
    now, n = state.clock[NOW], state.clock[RUNNING]
    places, resources = trace.capacity.shape
    length = np.ones(places, np.int64)
    for i in range(n):
        j = state.running[i]
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            length[state.place[k]] += 1
    room = length.max() + SPARE
    profile = Profile(
        np.ones(places, np.int64), np.empty((places, room), np.int64), np.empty((places, room, resources), np.int64)
    )
    profile.time[:, 0] = now
    profile.free[:, 0, :] = state.free
    for i in range(n):
        j, end = state.running[i], max(state.running_end[i], now + 1)
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            p = state.place[k]
            last = profile.length[p] - 1
            if profile.time[p, last] < end:
                profile.time[p, last + 1] = end
                profile.free[p, last + 1] = profile.free[p, last]
                last += 1
                profile.length[p] += 1
            for r in range(resources):
                profile.free[p, last, r] += state.share[k] * trace.request[j, r]
    return profile


@compiled
def _hold(profile: Profile, trace: TraceArrays, state: State, j: int, sign: int) -> Profile:
    """Put the reservation of job j into the profile, or take it out; the profile may have grown."""
    begin_, end = state.reserved[j], state.reserved[j] + state.expected[j]
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        if profile.length[state.place[k]] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        occupy(profile, state.place[k], begin_, end, trace.request[j], sign * state.share[k])
    return profile


@compiled
def _keeps(profile: Profile, trace: TraceArrays, state: State, j: int) -> bool:
    """Whether the reservation of job j still fits into the profile."""
    start, end = state.reserved[j], state.reserved[j] + state.expected[j]
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        p = state.place[k]
        i = segment(profile, p, start)
        while i < profile.length[p] and profile.time[p, i] < end:
            if units_that_fit(profile.free[p, i], trace.request[j], state.share[k]) < state.share[k]:
                return False
            i += 1
    return True


@compiled
def _hold_all(profile: Profile, trace: TraceArrays, state: State) -> tuple[Profile, bool]:
    """Put all reservations into the profile; False if one does not fit any more, and then all are forgotten."""
    now, n = state.clock[NOW], state.clock[WAITING]
    for i in range(n):
        j = state.waiting[i]
        if state.reserved[j] < 0:
            continue
        if state.reserved[j] < now or not _keeps(profile, trace, state, j):
            for other in range(n):
                state.reserved[state.waiting[other]] = -1
            return running_profile(trace, state), False
        profile = _hold(profile, trace, state, j, 1)
    return profile, True


@compiled
def _earliest(profile: Profile, s: Scratch, trace: TraceArrays, state: State, j: int, latest: int) -> int:
    """The earliest start of job j up to ``latest`` at which its calendars are open; -1 if there is none."""
    request, units, duration = trace.request[j], trace.units[j], max(1, state.expected[j])
    start = allowed_from(trace, j, state.clock[NOW])
    if start > latest:
        return -1
    for p in range(s.most.size):
        s.most[p] = units_that_fit(trace.capacity[p], request, units)
    while start <= latest:
        fits = earliest(profile, s, None, j, request, units, duration, start, latest)
        start = allowed_from(trace, j, fits) if fits >= 0 else NEVER
        if start == fits:
            return int(start)
    return -1


@compiled
def _reserve(
    profile: Profile, s: Scratch, trace: TraceArrays, state: State, j: int, latest: int, best: bool
) -> Profile:
    """Reserve the earliest start of job j up to ``latest``, if there is one; the profile may have grown."""
    units = trace.units[j]
    start = _earliest(profile, s, trace, state, j, latest)
    state.reserved[j] = start
    if start < 0:
        return profile
    free = np.empty_like(state.free)
    for p in range(free.shape[0]):
        free[p] = profile.free[p, segment(profile, p, start)]
    state.pieces[j] = spread(free, trace.capacity, s.fits, units, best, state.chosen, state.put)
    for k in range(state.pieces[j]):
        state.place[trace.first[j] + k], state.share[trace.first[j] + k] = state.chosen[k], state.put[k]
    return _hold(profile, trace, state, j, 1)


@compiled
def backfill(trace: TraceArrays, state: State, rules: Rules) -> None:
    """The first jobs that cannot start hold reservations, ``rules.reservations`` of them; the others fill around them.

    A reservation is the earliest start that the nodes and the calendars of the job allow, as things are expected.
    """
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock = state.clock
    now = clock[NOW]
    profile, kept = _hold_all(running_profile(trace, state), trace, state)
    moving = not kept or clock[EARLY] > 0 or rules.dynamic
    s, held = new_scratch(trace.capacity.shape[0]), 0
    for i in range(min(clock[WAITING], rules.candidates)):
        j = state.waiting[i]
        full = held >= rules.reservations
        if state.reserved[j] >= 0 and (moving or full):
            profile = _hold(profile, trace, state, j, -1)
            state.reserved[j] = -1
        if state.reserved[j] < 0:
            profile = _reserve(profile, s, trace, state, j, now if full else NEVER // 2, rules.best)
        if state.reserved[j] < 0:
            continue
        if state.first_reserved[j] < 0:
            state.first_reserved[j] = state.reserved[j]
        if state.reserved[j] == now:
            begin(trace, state, j)
        else:
            held += 1
    compact(state)
    _wake(state)


@compiled
def _wake(state: State) -> None:
    """Be asked again when the next reservation begins; not while a job runs past its expected end, second by second."""
    clock = state.clock
    late = clock[RUNNING] > 0 and state.running_end[0] <= clock[NOW]
    for i in range(clock[WAITING]):
        at = state.reserved[state.waiting[i]]
        if at > clock[NOW] + (1 if late else 0):
            clock[WAKE] = min(clock[WAKE], at)
