"""Conservative backfilling on one place: which reservations can move; compiled.

A reservation of ``u`` units and duration ``d`` that starts at ``s`` can move to an earlier time if and only if ``u`` units
are free just before ``s``, where its own units begin, or for ``d`` seconds before ``s``. One pass over the breakpoints
before ``s`` tells the second. If they are not, neither are more units, for a longer time, before an earlier ``s``, until
the next job moves and frees its units. Jobs that cannot move are not tried: the starts are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.events.chunks import has_chunks
from ...heuristics.kernels.events.fit import units_that_fit
from ...heuristics.kernels.events.state import (
    ENDED,
    NOW,
    RUNNING,
    WAITING,
    State,
    TraceArrays,
)
from ...heuristics.kernels.profile import NEVER, Ints, Profile, grown, occupy, segment
from ...models.compiled import internal, internal_borrowing

SLOTS = 32  # reservations that are remembered


class Stuck(NamedTuple):
    """Reservations that cannot move.

    Parameters
    ----------
    number
        Number of them since a job moved, shape (1,).
    kind, units, duration, start
        Distinct request, units, duration and start in seconds of the last ones, shape (SLOTS,).
    """

    number: Ints
    kind: Ints
    units: Ints
    duration: Ints
    start: Ints


@internal
def new_stuck() -> Stuck:
    """Return no reservations."""
    return Stuck(
        np.zeros(1, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
    )


@internal_borrowing
def forget(stuck: Stuck) -> None:
    """Forget the reservations: a job has moved."""
    stuck.number[0] = 0


@internal_borrowing
def is_stuck(stuck: Stuck, kind: int, units: int, duration: int, start: int) -> bool:
    """Return whether a remembered reservation tells that this one cannot move."""
    for i in range(min(stuck.number[0], SLOTS)):
        if (
            stuck.units[i] <= units
            and stuck.duration[i] <= duration
            and stuck.start[i] >= start
            and stuck.kind[i] == kind
        ):
            return True
    return False


@internal_borrowing
def remember(stuck: Stuck, kind: int, units: int, duration: int, start: int) -> None:
    """Remember a reservation that cannot move."""
    at = stuck.number[0] % SLOTS
    stuck.kind[at], stuck.units[at], stuck.duration[at], stuck.start[at] = kind, units, duration, start
    stuck.number[0] += 1


@internal
def may_move(profile: Profile, stuck: Stuck, trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether the reservation of job j can move to an earlier time; True if that is not known.

    On several places, another choice of nodes counts as a move; calendars and heterogeneous jobs are not looked at.
    """
    if trace.capacity.shape[0] > 1 or has_chunks(trace, j) or trace.own[j] >= 0 or trace.daily[j] >= 0:
        return True
    kind, units, duration, start = trace.kind[j], trace.units[j], state.expected[j], state.reserved[j]
    if start > state.clock[NOW]:
        before = profile.free[0, segment(profile, 0, start - 1)]
        if units_that_fit(before, trace.request[j], units) == units:
            return True
    if is_stuck(stuck, kind, units, duration, start):
        return False
    if _has_room(profile, trace.request[j], units, duration, state.clock[NOW], start):
        return True
    remember(stuck, kind, units, duration, start)
    return False


@internal_borrowing
def _has_room(profile: Profile, request: Ints, units: int, duration: int, now: int, start: int) -> bool:
    """Return whether the units fit at place 0 for the duration, from some time from now on, before ``start``."""
    i, first = segment(profile, 0, now), -1
    while i < profile.length[0] and profile.time[0, i] < start:
        if units_that_fit(profile.free[0, i], request, units) < units:
            first = -1
        else:
            if first < 0:
                first = max(now, profile.time[0, i])
            end = profile.time[0, i + 1] if i + 1 < profile.length[0] else NEVER
            if min(end, start) - first >= duration:
                return True
        i += 1
    return False


@internal
def follows(profile: Profile, trace: TraceArrays, state: State) -> tuple[Profile, bool]:
    """Bring the profile of the last decision to the present; return it and whether it is valid.

    Jobs that ended early free their units. It is not valid if a job runs longer than expected, a reservation has passed,
    or there are several places.
    """
    clock = state.clock
    now = clock[NOW]
    if trace.capacity.shape[0] > 1 or (clock[RUNNING] > 0 and state.running_end[0] <= now):
        return profile, False
    for i in range(clock[WAITING]):
        at = state.reserved[state.waiting[i]]
        if 0 <= at < now:
            return profile, False
    for i in range(clock[ENDED]):
        j = state.ended[i]
        end = state.start[j] + state.expected[j]
        if has_chunks(trace, j):
            return profile, False
        if end > now:
            if profile.length[0] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, 0, now, end, trace.request[j], -trace.units[j])
    _drop_past(profile, now)
    return profile, True


@internal_borrowing
def _drop_past(profile: Profile, now: int) -> None:
    """Let the profile of place 0 begin now."""
    past = segment(profile, 0, now)
    if past > 0:
        profile.length[0] -= past
        for i in range(profile.length[0]):
            profile.time[0, i] = profile.time[0, i + past]
            for r in range(profile.free.shape[2]):
                profile.free[0, i, r] = profile.free[0, i + past, r]
    profile.time[0, 0] = now
