"""Backfilling with several reservations, one decision; compiled.

The free amounts are kept by node, or, on nodes that are followed, in slices of time from one event to the next
(``heuristics.kernels.events.slices``): a reservation is then taken out and made anew only if it moves. Most keep their start and
their nodes, and it takes much less time to find that out. The starts and nodes are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.earliest import Scratch, earliest, earliest_empty, is_empty, new_scratch
from ...heuristics.kernels.events.counted_free import (
    Bounds,
    Free,
    add,
    begin_before,
    bound,
    drop_past,
    earlier,
    earliest_with_room,
    least_free,
    new_bounds,
    new_free,
    note_freed,
    remember,
    set_free,
)
from ...heuristics.kernels.events.entries import begin_ahead, change_ahead, first_ahead
from ...heuristics.kernels.events.rules import ALL, Rules, rank, step
from ...heuristics.kernels.events.slices import (
    FULL,
    GOING,
    OVER,
    PENDING,
    Slices,
    choose,
    earliest_allowed,
    end_early,
    has_room,
    least_within,
    let_go,
    run_on,
    same_choice,
    set_running,
    slice_at,
)
from ...heuristics.kernels.events.slices import (
    drop_past as drop_past_slices,
)
from ...heuristics.kernels.events.slices import (
    hold as hold_in_slices,
)
from ...heuristics.kernels.events.state import (
    DECISIONS,
    EARLY,
    ENDED,
    NOW,
    RUNNING,
    WAITING,
    WAKE,
    State,
    TraceArrays,
    allowed_from,
    amount_on,
    begin,
    choose_places,
    compact,
    exceeds,
    has_chunks,
    held,
    is_plain,
    keep_places,
    row_of,
    spread,
    take,
    units_that_fit,
)
from ...heuristics.kernels.placement import next_change
from ...heuristics.kernels.profile import NEVER, Profile, grown, occupy, segment
from ...models.array_types import Ints
from ...models.compiled import compiled, internal, internal_borrowing

# --- Conservative backfilling on one place: which reservations can move; compiled.
#
# A reservation of ``u`` units and duration ``d`` that starts at ``s`` can move to an earlier time if and only if ``u`` units
# are free just before ``s``, where its own units begin, or for ``d`` seconds before ``s``. The same holds for what it takes
# of the whole machine; where both are limited, one alone can hinder it. One pass over the breakpoints
# before ``s`` tells the second. If they are not, neither are more units, for a longer time, before an earlier ``s``, until
# the next job moves and frees its units. Jobs that cannot move are not tried: the starts are the same.

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
def remember_stuck(stuck: Stuck, kind: int, units: int, duration: int, start: int) -> None:
    """Remember a reservation that cannot move."""
    at = stuck.number[0] % SLOTS
    stuck.kind[at] = kind
    stuck.units[at] = units
    stuck.duration[at] = duration
    stuck.start[at] = start
    stuck.number[0] += 1


@internal
def may_move(profile: Profile, stuck: Stuck, trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether the reservation of job j can move to an earlier time; True if that is not known.

    On several places, another choice of nodes counts as a move; calendars and heterogeneous jobs are not looked at.
    """
    if trace.capacity.shape[0] > 1 or has_chunks(trace, j) or trace.own[j] >= 0 or trace.daily[j] >= 0:
        return True
    if trace.whole[j]:
        return True
    kind = trace.kind[j]
    units = trace.units[j]
    duration = state.expected[j]
    start = state.reserved[j]
    fits_before = False
    if start > state.clock[NOW]:
        before = profile.free[0, segment(profile, 0, start - 1)]
        fits_before = units_that_fit(before, trace.request[j], units) == units
    if not fits_before:
        if is_stuck(stuck, kind, units, duration, start):
            return False
        if not _has_room(profile, trace.request[j], units, duration, state.clock[NOW], start):
            remember_stuck(stuck, kind, units, duration, start)
            return False
    if trace.machine_capacity.size == 0:
        return True
    i = segment(Profile(state.ahead_length, state.ahead_time, state.ahead_free), 0, start - 1)
    if not exceeds(trace.machine_request, j, state.ahead_free[0, i]):
        return True
    return bool(first_ahead(trace, state, j, state.clock[NOW], duration) < start)


@internal_borrowing
def _has_room(profile: Profile, request: Ints, units: int, duration: int, now: int, start: int) -> bool:
    """Return whether the units fit at place 0 for the duration, from some time from now on, before ``start``."""
    i = segment(profile, 0, now)
    first = -1
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
        if has_chunks(trace, j) or trace.whole[j]:
            return profile, False
        if end > now:
            if trace.machine_capacity.size > 0:
                change_ahead(state, now, end, trace.machine_request[j], -1)
            if profile.length[0] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, 0, now, end, trace.request[j], -trace.units[j])
    _drop_past(profile, now)
    if trace.machine_capacity.size > 0:
        _drop_past(Profile(state.ahead_length, state.ahead_time, state.ahead_free), now)
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


SPARE = 32  # breakpoints per node beyond those of the running jobs, at first

_new_scratch = internal(new_scratch)


@internal
def running_profile(trace: TraceArrays, state: State) -> Profile:
    """Return the free capacity of each place from now on, given the expected ends of the running jobs.

    That of the whole machine is set in the state (``events.entries``).
    """
    if trace.machine_capacity.size > 0:
        begin_ahead(trace, state)
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
        j = state.running[i]
        end = max(state.running_end[i], now + 1)
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            p = state.place[k]
            row = row_of(trace, state, j, k)
            last = profile.length[p] - 1
            if profile.time[p, last] < end:
                profile.time[p, last + 1] = end
                for r in range(resources):
                    profile.free[p, last + 1, r] = profile.free[p, last, r]
                last += 1
                profile.length[p] += 1
            for r in range(resources):
                profile.free[p, last, r] += amount_on(trace, j, row, p, state.share[k], r)
    return profile


@internal
def hold(profile: Profile, trace: TraceArrays, state: State, j: int, sign: int) -> Profile:
    """Subtract the reservation of job j from the profile (sign 1), or add it back (-1).

    The returned profile is a larger copy if there was no room for more breakpoints.
    """
    begin_ = state.reserved[j]
    end = state.reserved[j] + state.expected[j]
    if trace.machine_capacity.size > 0:
        change_ahead(state, begin_, end, trace.machine_request[j], sign)
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        if profile.length[state.place[k]] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        if trace.whole[j]:
            occupy(profile, state.place[k], begin_, end, trace.capacity[state.place[k]], sign)
            continue
        row = row_of(trace, state, j, k)
        request = trace.request[j] if row < 0 else trace.further_request[row]
        occupy(profile, state.place[k], begin_, end, request, sign * state.share[k])
    return profile


@internal
def _least_free(profile: Profile, start: int, end: int) -> Ints:
    """Return the least free amounts of each place in [start, end), shape (places, resources)."""
    places, _, resources = profile.free.shape
    least = np.empty((places, resources), np.int64)
    for p in range(places):
        i = segment(profile, p, start)
        for r in range(resources):
            least[p, r] = profile.free[p, i, r]
        while i + 1 < profile.length[p] and profile.time[p, i + 1] < end:
            i += 1
            for r in range(resources):
                least[p, r] = min(least[p, r], profile.free[p, i, r])
    return least


@internal
def _keep_chunks(profile: Profile, trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether the reservation of heterogeneous job j still fits into the profile."""
    left = _least_free(profile, state.reserved[j], state.reserved[j] + state.expected[j])
    take(trace, left, state, j, 1)
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        p = state.place[k]
        if not state.open[p] and state.ready[p] > state.reserved[j]:
            return False
        for r in range(left.shape[1]):
            if left[p, r] < 0:
                return False
    return True


@internal
def _keeps(profile: Profile, trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether the reservation of job j still fits into the profile."""
    start = state.reserved[j]
    end = state.reserved[j] + state.expected[j]
    if trace.machine_capacity.size > 0 and first_ahead(trace, state, j, start, state.expected[j]) != start:
        return False
    if has_chunks(trace, j):
        return _keep_chunks(profile, trace, state, j)
    for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
        p = state.place[k]
        if not state.open[p] and state.ready[p] > start:
            return False
        i = segment(profile, p, start)
        while i < profile.length[p] and profile.time[p, i] < end:
            if trace.whole[j]:
                if not is_empty(profile.free[p, i], trace.capacity[p]):
                    return False
            elif units_that_fit(profile.free[p, i], trace.request[j], state.share[k]) < state.share[k]:
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


@internal_borrowing
def _set_most(trace: TraceArrays, state: State, s: Scratch, j: int, t: int) -> int:
    """Set ``state.usable`` for job j at time t, and ``s.most`` to what each usable place holds of it when it is empty.

    Return the time at which the next place can be used; NEVER if there is none.
    """
    until = NEVER
    most = min(trace.units[j], trace.most[j])
    mask = trace.masks[trace.node_set[j]]
    for p in range(s.most.size):
        state.usable[p] = mask[p] and (state.open[p] or state.ready[p] <= t)
        if state.usable[p]:
            s.most[p] = units_that_fit(trace.capacity[p], trace.request[j], most)
        else:
            s.most[p] = 0
            if mask[p]:
                until = min(until, state.ready[p])
    return int(until)


@internal
def _earliest(
    profile: Profile, s: Scratch, trace: TraceArrays, state: State, j: int, first: int, latest: int, best: bool
) -> int:
    """Return the earliest start of job j in [first, latest] that nodes, machine and calendars allow; -1 if there is none."""
    request = trace.request[j]
    units = trace.units[j]
    duration = max(1, state.expected[j])
    start = first_ahead(trace, state, j, allowed_from(trace, j, first), duration)
    until = -NEVER
    while start <= latest:
        if start >= until:
            until = _set_most(trace, state, s, j, start)
        if trace.whole[j]:
            fits = earliest_empty(profile, s, trace.capacity, units, duration, start, min(latest, until - 1))
        else:
            fits = earliest(profile, s, None, j, request, units, duration, start, min(latest, until - 1))
        start = allowed_from(trace, j, fits if fits >= 0 else until)
        start = first_ahead(trace, state, j, start, duration)
        if start == fits:
            if not has_chunks(trace, j):
                return int(start)
            left = _least_free(profile, start, start + duration)
            at_start = _least_free(profile, start, start + 1)
            if choose_places(trace, state, left, at_start, state.usable, j, best) > 0:
                return int(start)
            start = allowed_from(trace, j, min(until, next_change(profile, start)))
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
        free = _least_free(profile, start, start + 1)
        keep_places(trace, state, j, choose_places(trace, state, left, free, state.usable, j, best))
        return hold(profile, trace, state, j, 1)
    free = _least_free(profile, start, start + 1)
    state.pieces[j] = spread(free, trace.capacity, trace.rank, s.fits, units, best, state.chosen, state.put)
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
    s = _new_scratch(trace.capacity.shape[0])
    stuck = new_stuck()
    reservations = 0
    for i in range(clock[WAITING] if trace.limit.size > 0 else 0):
        j = state.waiting[i]
        if state.reserved[j] >= 0 and held(trace, state.limit_free, j):
            profile = hold(profile, trace, state, j, -1)
            state.reserved[j] = -1
            moving = True
    for i in range(min(clock[WAITING], rules.candidates)):
        j = state.waiting[i]
        if held(trace, state.limit_free, j):
            if state.reserved[j] >= 0:  # a job that started just now has reached a limit
                profile = hold(profile, trace, state, j, -1)
                state.reserved[j] = -1
                forget(stuck)
            continue
        full = reservations >= rules.reservations
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
            reservations += 1
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


# --- Conservative backfilling on one place with one resource, whose free amount is only counted; compiled.
#
# The starts are those of ``conservative``. The free amount over time is kept from one event to the next, in blocks
# (``counting.free``). Most reservations keep their start, and bounds from those before them show it (``counting.bounds``).


def suits(trace: TraceArrays, state: State, rules: Rules) -> bool:
    """Return whether this module can replay: all jobs hold reservations, one resource is counted, no calendars."""
    counted = trace.capacity.shape == (1, 1) and not trace.further_units.size and not trace.period.size
    counted = counted and not trace.machine_capacity.size and is_plain(trace)
    all_reserve = rules.reservations >= ALL and rules.candidates >= ALL and not rules.planning.on
    return counted and all_reserve and bool(state.expected.min(initial=1) >= 1)


def new_arrays(trace: TraceArrays) -> tuple[Ints, Free, Bounds]:
    """Return the amount of each job and the arrays of a replay."""
    return trace.units * trace.request[:, 0], new_free(2 * trace.units.size + 4), new_bounds()


@compiled
def replay(
    trace: TraceArrays,
    state: State,
    rules: Rules,
    amounts: Ints,
    free: Free,
    bounds: Bounds,
    period: int,
    events: int,
) -> bool:
    """Replay at most ``events`` events; return False if nothing happens any more."""
    clock = state.clock  # known: ``free`` is that of the last event
    known = False
    before = -NEVER
    for _ in range(events):
        if not step(trace, state, period):
            return False
        kept = True
        if known:
            known = _go_on(state, amounts, free, before)
        before = clock[NOW]
        if clock[WAITING] > 0:
            clock[DECISIONS] += 1
            if not state.open[0]:  # the only node of a machine takes no starts now
                _delete_reservations(state)
                known = False
                continue
            if not known:
                kept = _hold_all(state, amounts, free)
            _decide(trace, state, rules, amounts, free, bounds, kept)
            known = True
    return True


@internal_borrowing
def _set_running(state: State, amounts: Ints, free: Free) -> None:
    """Set what is free beside the running jobs. One that runs longer than expected is taken to end at now + 1 s."""
    now, all_free = state.clock[NOW], state.free[0, 0]
    for i in range(state.clock[RUNNING]):
        all_free += amounts[state.running[i]]
    set_free(free, now, all_free)
    for i in range(state.clock[RUNNING]):
        add(free, now, max(state.running_end[i], now + 1), -amounts[state.running[i]])


@internal_borrowing
def _delete_reservations(state: State) -> None:
    for i in range(state.clock[WAITING]):
        state.reserved[state.waiting[i]] = -1


@internal_borrowing
def _hold_all(state: State, amounts: Ints, free: Free) -> bool:
    """Set what is free beside the running jobs and reservations; if one does not fit, delete all and return False."""
    _set_running(state, amounts, free)
    now, n = state.clock[NOW], state.clock[WAITING]
    for i in range(n):
        j = state.waiting[i]
        start = state.reserved[j]
        end = state.reserved[j] + state.expected[j]
        if start < 0:
            continue
        if start < now or least_free(free, start, end) < amounts[j]:
            _delete_reservations(state)
            _set_running(state, amounts, free)
            return False
        add(free, start, end, -amounts[j])
    return True


@internal_borrowing
def _go_on(state: State, amounts: Ints, free: Free, before: int) -> bool:
    """Bring ``free`` from the last event, at time ``before``, to the present; return whether all reservations fit.

    Jobs that ended early free their nodes; a job that runs longer than expected is taken to end at now + 1 s.
    """
    clock, late = state.clock, 0
    now = clock[NOW]
    for i in range(clock[WAITING]):
        if 0 <= state.reserved[state.waiting[i]] < now:
            return False
    drop_past(free, now)
    for i in range(clock[ENDED]):
        j = state.ended[i]
        end = state.start[j] + state.expected[j]
        add(free, now, end, amounts[j])
    for i in range(clock[RUNNING]):
        if state.running_end[i] > now:
            break
        late += amounts[state.running[i]]
    if late > 0:
        if now == before or least_free(free, now, now + 1) < late:
            return False
        add(free, now, now + 1, -late)
    return True


@internal_borrowing
def _move(free: Free, bounds: Bounds, amount: int, duration: int, start: int, now: int) -> int:
    """Move a reservation, which starts after now, to its earliest start and return this."""
    least = bound(bounds, amount, duration, now)
    if now < least < start:
        least = begin_before(free, amount, least)
    least = min(least, begin_before(free, amount, start))
    if least == start:
        return start
    new_start = earlier(free, amount, duration, start, least)
    remember(bounds, amount, duration, new_start)
    if new_start < start:
        taken_end = min(start, new_start + duration)
        freed = max(start, new_start + duration)
        add(free, new_start, taken_end, -amount)
        add(free, freed, start + duration, amount)
        note_freed(bounds, freed)
    return new_start


@internal
def _decide(
    trace: TraceArrays, state: State, rules: Rules, amounts: Ints, free: Free, bounds: Bounds, kept: bool
) -> None:
    """Make one decision; ``kept``: no reservation was deleted."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock = state.clock
    waiting = state.waiting
    reserved = state.reserved
    now, moving = clock[NOW], kept and (clock[EARLY] > 0 or rules.dynamic)
    bounds.number[0] = 0
    for i in range(clock[WAITING]):
        j = waiting[i]
        start = reserved[j]
        duration = state.expected[j]
        amount = amounts[j]
        if start < 0:
            start = earliest_with_room(free, amount, duration)
            if not 0 <= start <= NEVER // 2:
                continue
            reserved[j], state.pieces[j] = start, 1
            state.place[trace.first[j]], state.share[trace.first[j]] = 0, trace.units[j]
            add(free, start, start + duration, -amount)
        elif moving and start > now:
            start = _move(free, bounds, amount, duration, start, now)
            reserved[j] = start
        if state.first_reserved[j] < 0:
            state.first_reserved[j] = start
        if start == now:
            begin(trace, state, j)
    compact(state)
    wake(state)


LAST = NEVER // 2  # the latest start that is looked for, in seconds


@compiled
def replay_in_slices(trace: TraceArrays, state: State, rules: Rules, s: Slices, period: int, events: int) -> int:
    """Replay at most ``events`` events.

    Return OVER if nothing happens any more, GOING after the events, FULL before a decision that needs more slices.
    """
    clock = state.clock  # known: the slices are those of the last event
    known = False
    before = -NEVER
    for _ in range(events):
        if s.number[PENDING] == 0 and not step(trace, state, period):
            return OVER
        s.number[PENDING] = 0
        kept = True
        if known:
            known = _go_on_in_slices(s, trace, state, before)
        before = clock[NOW]
        if clock[WAITING] > 0:
            if not has_room(s, state):
                s.number[PENDING] = 1
                return FULL
            clock[DECISIONS] += 1
            if not known:
                kept = _hold_all_in_slices(s, trace, state)
            _decide_in_slices(s, trace, state, rules, kept)
            known = True
    return GOING


@internal_borrowing
def _hold_all_in_slices(s: Slices, trace: TraceArrays, state: State) -> bool:
    """Set what is free beside the running jobs and reservations; if one does not fit, delete all and return False."""
    set_running(s, trace, state)
    now, n = state.clock[NOW], state.clock[WAITING]
    for i in range(n):
        j = state.waiting[i]
        start = state.reserved[j]
        if start >= 0 and (start < now or not hold_in_slices(s, trace, state, j, start)):
            for other in range(n):
                state.reserved[state.waiting[other]] = -1
            set_running(s, trace, state)
            return False
    return True


@internal_borrowing
def _go_on_in_slices(s: Slices, trace: TraceArrays, state: State, before: int) -> bool:
    """Bring the slices from the last event, at time ``before``, to the present; return whether all reservations fit."""
    clock = state.clock
    now = clock[NOW]
    for i in range(clock[WAITING]):
        if 0 <= state.reserved[state.waiting[i]] < now:
            return False
    drop_past_slices(s, now)
    for i in range(clock[ENDED]):
        end_early(s, trace, state, state.ended[i])
    for i in range(clock[RUNNING]):
        if state.running_end[i] > now:
            break
        if now == before or not run_on(s, trace, state, state.running[i]):
            return False
    return True


@internal
def _moved(s: Slices, trace: TraceArrays, state: State, j: int, best: bool) -> bool:
    """Take job j out of its reservation, which starts after now, if it can move; return whether it is out.

    It then starts at ``state.reserved``, and the least amounts of that time are in the slices.
    """
    start = state.reserved[j]
    first = slice_at(s, start)
    new_start = earliest_allowed(s, trace, state, j, state.clock[NOW], start - 1, first)
    if new_start < 0:
        least_within(s, trace, state, j, first, slice_at(s, start + state.expected[j]))
        if same_choice(s, trace, state, j, first, best):
            return False
        new_start = start
    let_go(s, trace, state, j, start)
    state.reserved[j] = new_start
    return True


@internal
def _decide_in_slices(s: Slices, trace: TraceArrays, state: State, rules: Rules, kept: bool) -> None:
    """Make one decision (step 4 of ``conservative``); ``kept``: no reservation was deleted."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock, reserved = state.clock, state.reserved
    now = clock[NOW]
    moving = not kept or clock[EARLY] > 0 or rules.dynamic
    held = 0
    for i in range(min(clock[WAITING], rules.candidates)):
        j = state.waiting[i]
        full = held >= rules.reservations
        out = False
        if reserved[j] >= 0 and full:
            let_go(s, trace, state, j, reserved[j])
            reserved[j] = -1
        elif reserved[j] >= 0 and moving:
            out = _moved(s, trace, state, j, rules.best)
        if reserved[j] < 0:
            latest = now if full else LAST
            reserved[j] = earliest_allowed(s, trace, state, j, now, latest, NEVER)
            out = reserved[j] >= 0
        if out:
            keep_places(trace, state, j, choose(s, trace, state, j, slice_at(s, reserved[j]), rules.best))
            hold_in_slices(s, trace, state, j, reserved[j])
        if reserved[j] < 0:
            continue
        if state.first_reserved[j] < 0:
            state.first_reserved[j] = reserved[j]
        if reserved[j] == now:
            begin(trace, state, j)
        else:
            held += 1
    compact(state)
    wake(state)
