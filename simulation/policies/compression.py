"""Conservative backfilling on one place, where nodes are counted: which reservations can move; compiled.

A reservation of ``u`` units and duration ``d`` that starts at ``s`` can move to an earlier time if and only if ``u`` units
are free just before ``s``, where its own units begin, or for ``d`` seconds before ``s``. One pass over the breakpoints
before ``s`` tells the second. If they are not, neither are more units, for a longer time, before an earlier ``s``, until
the next job moves and frees its units. Jobs that cannot move are not tried: the starts are the same.

Where the free nodes are counted, only jobs that a *freed area* can help are looked at at all: since such a job was looked
at last, units have become free at a time before its start, and around that time its units are free for its duration, or
up to its start. The areas are those of jobs that ended early and of reservations that moved. For each number of units, the
longest and the last of the times with as many free units around the areas are computed once for all jobs.
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
AREAS = 16  # freed areas that are stored separately


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


class Freed(NamedTuple):
    """Areas that have become free since the reservations were looked at, and the times with free units around them.

    Parameters
    ----------
    number
        Number of areas; number of those among them that moved reservations have left in this decision; the decision,
        counted on with each move; shape (3,). AREAS + 1 areas: anything may have become free.
    begin, end
        The times of each area in seconds, shape (AREAS,).
    left
        The areas that moved reservations have left: begin, end; shape (AREAS, 2).
    known, at
        Number of areas in ``longest`` and ``reach`` for each number of units, and the ``number[2]`` for which they hold,
        shape (units + 1,).
    longest, reach
        The longest time in seconds with as many free units around an area, and the last end of such a time, shape
        (units + 1,).
    """

    number: Ints
    begin: Ints
    end: Ints
    left: Ints
    known: Ints
    at: Ints
    longest: Ints
    reach: Ints


@internal
def counted_nodes(trace: TraceArrays) -> int:
    """Return the number of nodes if they are counted and no job has a calendar, else -1."""
    if trace.capacity.size != 1 or trace.period.size > 0 or trace.further_units.size > 0:
        return -1
    for j in range(trace.units.size):
        if trace.request[j, 0] != 1:
            return -1
    return int(trace.capacity[0, 0])


@internal
def new_freed(nodes: int) -> Freed:
    """Return that anything may have become free; ``nodes``: as from ``counted_nodes``."""
    number, areas = np.zeros(3, np.int64), np.empty((3, AREAS), np.int64)
    number[0] = AREAS + 1
    left, of_units = np.empty((AREAS, 2), np.int64), np.zeros((4, nodes + 1), np.int64)
    return Freed(number, areas[0], areas[1], left, of_units[0], of_units[1], of_units[2], of_units[3])


@internal_borrowing
def note_freed(freed: Freed, begin: int, end: int) -> None:
    """Add an area; if there are too many, anything may have become free."""
    n = freed.number[0]
    if n < AREAS:
        freed.begin[n], freed.end[n] = begin, end
    freed.number[0] = min(n, AREAS) + 1


@internal_borrowing
def note_move(freed: Freed, begin: int, end: int) -> None:
    """Add the area that a reservation has left: it may help the jobs after it now, those before it in the next decision."""
    note_freed(freed, begin, end)
    n = freed.number[1]
    if n < AREAS:
        freed.left[n, 0], freed.left[n, 1] = begin, end
    freed.number[1] = min(n, AREAS) + 1
    freed.number[2] += 1


@internal_borrowing
def all_looked_at(freed: Freed) -> None:
    """Keep only the areas that moved reservations have left: all jobs have been looked at with the others."""
    freed.number[0] = freed.number[1]
    for k in range(min(AREAS, freed.number[1])):
        freed.begin[k], freed.end[k] = freed.left[k, 0], freed.left[k, 1]


@internal_borrowing
def helps(freed: Freed, profile: Profile, units: int, duration: int, start: int, now: int) -> bool:
    """Return whether a freed area may let a reservation move to an earlier time."""
    n = freed.number[0]
    if n > AREAS or freed.known.size == 0:
        return True
    if freed.at[units] != freed.number[2]:
        freed.at[units], freed.known[units], freed.longest[units], freed.reach[units] = freed.number[2], 0, 0, 0
    if freed.known[units] < n:
        _look_around(freed, profile, units, now)
    return bool(freed.longest[units] >= duration or freed.reach[units] >= start)


@internal_borrowing
def _look_around(freed: Freed, profile: Profile, units: int, now: int) -> None:
    """Bring ``longest`` and ``reach`` of a number of units up to date."""
    last, time, free = profile.length[0] - 1, profile.time, profile.free
    for k in range(freed.known[units], freed.number[0]):
        if freed.end[k] <= now:
            continue
        i = segment(profile, 0, max(now, freed.begin[k]))
        first = i
        while first > 0 and free[0, i, 0] >= units and free[0, first - 1, 0] >= units:
            first -= 1
        while i <= last and time[0, i] < freed.end[k]:
            if free[0, i, 0] >= units:
                while i < last and free[0, i + 1, 0] >= units:
                    i += 1
                end = time[0, i + 1] if i < last else NEVER
                freed.longest[units] = max(freed.longest[units], end - max(now, time[0, first]))
                freed.reach[units] = max(freed.reach[units], end)
            i += 1
            first = i
    freed.known[units] = freed.number[0]


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


@internal_borrowing
def move_all(profile: Profile, stuck: Stuck, freed: Freed, trace: TraceArrays, state: State, i: int, n: int) -> int:
    """Move the reservations of the waiting jobs ``i .. n - 1`` to their earliest starts, where nodes are counted.

    Return the first of these jobs that has no reservation or starts now; or where the profile has no more room.
    """
    now, waiting, reserved = state.clock[NOW], state.waiting, state.reserved
    while i < n and profile.length[0] + 4 <= profile.time.shape[1]:
        j = waiting[i]
        units, duration, start = trace.units[j], max(1, state.expected[j]), reserved[j]
        if start <= now:
            return i
        if helps(freed, profile, units, duration, start, now) and (
            profile.free[0, segment(profile, 0, start - 1), 0] >= units
            or not is_stuck(stuck, 0, units, duration, start)
        ):
            earlier = _earlier(profile, units, duration, now, start)
            if earlier < start:
                begin, end = min(start, earlier + duration), max(start, earlier + duration)
                occupy(profile, 0, earlier, begin, trace.request[j], units)
                occupy(profile, 0, end, start + duration, trace.request[j], -units)
                reserved[j] = earlier
                forget(stuck)
                note_move(freed, start, start + duration)
                if earlier == now:
                    return i
            else:
                remember(stuck, 0, units, duration, start)
        i += 1
    return i


@internal_borrowing
def _earlier(profile: Profile, units: int, duration: int, now: int, start: int) -> int:
    """Return the earliest start of a reservation that begins at ``start`` now; its own units are free from then on."""
    first, last, time, free = -1, profile.length[0] - 1, profile.time, profile.free
    for i in range(segment(profile, 0, now), last + 1):
        if time[0, i] >= start:
            break
        if free[0, i, 0] < units:
            first = -1
            continue
        if first < 0:
            first = max(now, time[0, i])
        end = time[0, i + 1] if i < last else NEVER
        if end >= start or end - first >= duration:
            return int(first)
    return start


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
def follows(profile: Profile, trace: TraceArrays, state: State, freed: Freed) -> tuple[Profile, bool]:
    """Bring the profile of the last decision to the present; return it and whether it is valid.

    Jobs that ended early free their units. It is not valid if a job runs longer than expected, a reservation has passed,
    or there are several places.
    """
    clock = state.clock
    now = clock[NOW]
    for i in range(clock[ENDED]):
        note_freed(freed, now, state.start[state.ended[i]] + state.expected[state.ended[i]])
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
