"""EASY backfilling and EASY++, one decision; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.earliest import new_scratch
from ...heuristics.kernels.events.entries import change_ahead
from ...heuristics.kernels.events.rules import Rules, lacks, rank, spend, start_counted, start_in_order
from ...heuristics.kernels.events.state import (
    EARLY,
    NOW,
    RUNNING,
    WAITING,
    State,
    TraceArrays,
    allowed_from,
    begin,
    choose_places,
    compact,
    count_job,
    exceeds,
    fits_on,
    has_chunks,
    held,
    may_start,
    spread,
    take,
    take_chosen,
    take_of_machine,
)
from ...heuristics.kernels.profile import NEVER, Profile, grown, occupy
from ...heuristics.kernels.sorting import sort_by
from ...models.array_types import Ints, Small
from ...models.compiled import borrowing, compiled, internal, internal_borrowing
from .conservative import hold, hold_all, reserve, running_profile, wake
from .plans import plan_on

# --- Decisions of policies beside what is kept of the machine over time, one decision; compiled.
#
# Reserved amounts are subtracted from the free capacity of each node over time, now and in the future, and what jobs inside
# of reservations take of the whole machine is added at their expected ends; then the policy decides as on the whole machine:
#
# - a rule starts jobs in order of priority, each where it fits until its walltime; a strict rule stops at the first job
#   that does not;
# - EASY gives the first job that cannot start the earliest start, and starts later jobs that do not delay it, in their order
#   or the shortest first;
# - with several reservations of waiting jobs, step by step as in ``conservative``;
# - policies that plan place all waiting jobs anew, as in ``plans.planning``.
#
# If nothing is kept, the starts are those of ``heuristics.kernels.events.rules``, ``easy`` and
# ``conservative``. Expected durations must be at least the walltimes, so that no job runs into a reservation. Times are
# seconds.

_new_scratch = internal(new_scratch)


class Holds(NamedTuple):
    """What is kept of nodes over time; one entry for each time on a node.

    Parameters
    ----------
    node
        Index of the node, shape (entries,).
    start, end
        Seconds, shape (entries,).
    amounts
        The amounts, shape (entries, resources).
    """

    node: Ints
    start: Ints
    end: Ints
    amounts: Ints


class Returned(NamedTuple):
    """What jobs that the kernels do not run give back of the whole machine.

    Parameters
    ----------
    end
        Seconds, after now, shape (entries,).
    amounts
        The amounts, shape (entries, machine resources).
    """

    end: Ints
    amounts: Ints


@internal
def _profile_beside(trace: TraceArrays, state: State, holds: Holds, returned: Returned) -> Profile:
    """Return what is free over time beside the running jobs and what is kept; set that of the whole machine in the state."""
    profile = running_profile(trace, state)
    now = state.clock[NOW]
    for e in range(returned.end.size if returned.amounts.shape[1] > 0 else 0):
        change_ahead(state, returned.end[e], NEVER, returned.amounts[e], -1)
    for e in range(holds.node.size):
        if holds.end[e] > now:
            n = holds.node[e]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, n, max(now, holds.start[e]), holds.end[e], holds.amounts[e], 1)
    return profile


@internal
def _shortest_first(state: State, order: Ints, first: int, last: int) -> None:
    """Sort the jobs ``order[first:last]`` by their expected durations, ties in their order."""
    count = max(0, last - first)
    places = np.empty(count, np.int64)
    expected = np.empty(count, np.float64)
    for k in range(count):
        places[k], expected[k] = k, state.expected[order[first + k]]
    sort_by(places, count, expected)
    jobs = np.empty(count, np.int64)
    for k in range(count):
        jobs[k] = order[first + places[k]]
    for k in range(count):
        order[first + k] = jobs[k]


@compiled
def decide_beside(
    trace: TraceArrays, state: State, rules: Rules, holds: Holds, returned: Returned, shortest_first: bool
) -> None:
    """Make one decision of a policy; see the module docstring."""
    profile = _profile_beside(trace, state, holds, returned)
    if rules.planning.on:
        plan_on(profile, trace, state, rules)
        return
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock, waiting = state.clock, state.waiting
    now, most = clock[NOW], rules.reservations
    if most < 2:  # EASY computes its only reservation anew at each decision
        for i in range(clock[WAITING]):
            state.reserved[waiting[i]] = -1
    profile, kept = hold_all(profile, trace, state)
    if not kept:
        profile = _profile_beside(trace, state, holds, returned)
    moving = not kept or clock[EARLY] > 0 or rules.dynamic
    s = _new_scratch(trace.capacity.shape[0])
    reservations = 0
    last = min(clock[WAITING], rules.candidates)
    order = np.empty(last, np.int64)
    for i in range(last):
        order[i] = waiting[i]
    for i in range(last):
        j = order[i]
        if held(trace, state.limit_free, j):
            if state.reserved[j] >= 0:
                profile = hold(profile, trace, state, j, -1)
                state.reserved[j] = -1
            continue
        full = reservations >= most
        if state.reserved[j] >= 0 and (moving or full):
            profile = hold(profile, trace, state, j, -1)
            state.reserved[j] = -1
        if state.reserved[j] < 0:
            profile = reserve(profile, s, trace, state, j, now, now if full else NEVER // 2, rules.best)
        if state.reserved[j] < 0:
            if most == 0 and rules.strict and may_start(trace, j, now):
                break
            continue
        if most > 1 and state.first_reserved[j] < 0:
            state.first_reserved[j] = state.reserved[j]
        if state.reserved[j] == now:
            begin(trace, state, j)
        else:
            reservations += 1
            if shortest_first and reservations == most:
                _shortest_first(state, order, i + 1, last)
    compact(state)
    if most > 1:
        wake(state)


@compiled
def reserve_first(trace: TraceArrays, state: State, holds: Holds, returned: Returned, best: bool) -> None:
    """Reserve the earliest start of the first waiting job that has one, beside what runs and what is kept."""
    profile = _profile_beside(trace, state, holds, returned)
    s = _new_scratch(trace.capacity.shape[0])
    now = state.clock[NOW]
    for i in range(state.clock[WAITING]):
        j = state.waiting[i]
        if held(trace, state.limit_free, j):
            continue
        profile = reserve(profile, s, trace, state, j, now, NEVER // 2, best)
        if state.reserved[j] >= 0:
            break


@compiled
def reserve_now(trace: TraceArrays, state: State, holds: Holds, returned: Returned, j: int, best: bool) -> bool:
    """Find places for job j from now on, beside what runs and what is kept; return whether there are some."""
    profile = _profile_beside(trace, state, holds, returned)
    now = state.clock[NOW]
    reserve(profile, _new_scratch(trace.capacity.shape[0]), trace, state, j, now, now, best)
    room = state.reserved[j] == now
    state.reserved[j] = -1
    return bool(room)


# --- EASY backfilling, one decision; compiled.
#
# The source is [Bridi2018, 2.2, algorithm 3], extended by the second condition of step 5 [Mualem2001]: there, a job may
# also run past the shadow time on resources that the head does not need. ``easy`` makes one decision:
#
# 1. Sort the waiting jobs by priority.
# 2. Start jobs in this order until one cannot start now, for lack of free capacity or because its calendar is closed.
#    This job is the *head*. If no later job could start now, stop.
# 3. Compute the *shadow time*: the earliest time at which the head can start if all running jobs end as expected (a job
#    that runs longer than expected is taken to end at now + 1 s) and its calendars are open. If there is none, the head
#    gets no reservation: go back to step 2 with the next job.
# 4. Choose the nodes of the head at the shadow time. The capacity that is free then and that the head does not take is
#    *extra*.
# 5. For each later job, in order of priority: start it now if its calendar is open and it fits
#
#    - into the capacity that is free now, if it is expected to end by the shadow time; or
#    - into the part of that capacity that is also extra (the minimum of both, for each node and resource); then subtract
#      the job from extra.
#
# Times are seconds.
#
# References
# ----------
# - [Bridi2018]: see ``docs/appendix/references.md``.
# - [Mualem2001]: A. W. Mu'alem, D. G. Feitelson: Utilization, predictability, workloads, and user runtime estimates in
#   scheduling the IBM SP2 with backfilling. IEEE Transactions on Parallel and Distributed Systems 12(6), 2001.


@internal_borrowing
def _give_back(free: Ints, place: Small, share: Small, first: int, count: int, request: Ints) -> None:
    """Add what a job uses on its places to ``free``."""
    for k in range(first, first + count):
        for r in range(request.size):
            free[place[k], r] += share[k] * request[r]


@internal_borrowing
def shadow_of(trace: TraceArrays, state: State, head: int, best: bool) -> int:
    """Return the shadow time of the head (NEVER if there is none).

    ``state.extra`` and ``state.machine_extra`` are set to what is free at that time. The shadow time is the first time at
    which the calendars of the head are open and enough capacity is free, on nodes and of the whole machine, if all running
    jobs end as expected. A job that runs longer than expected is taken to end at now + 1.
    """
    units = trace.units[head]
    request = trace.request[head]
    now = state.clock[NOW]
    then = state.extra
    fit = state.fit
    whole = trace.whole
    place = state.place
    share = state.share
    ends = state.running_end
    running = state.running
    usable, machine = state.open_of[trace.node_set[head]], state.machine_extra
    for r in range(machine.size):
        machine[r] = state.machine_free[r]
    requests = trace.request
    firsts = trace.first
    counts = state.pieces
    for p in range(then.shape[0]):
        for r in range(then.shape[1]):
            then[p, r] = state.free[p, r]
    total = count_job(trace, state, then, head)
    several = has_chunks(trace, head)
    i = 0
    n = state.clock[RUNNING]
    end = now
    while True:
        enough = total >= units and not exceeds(trace.machine_request, head, machine)
        if enough and (not several or choose_places(trace, state, then, then, usable, head, best) > 0):
            start = end
            if trace.own[head] >= 0 or trace.daily[head] >= 0:
                start = allowed_from(trace, head, end)
            if i == n or max(ends[i], now + 1) > start:
                return int(start)
        if i == n:
            return NEVER
        end = max(ends[i], now + 1)
        while i < n and max(ends[i], now + 1) == end:
            j = running[i]
            take_of_machine(trace, machine, j, -1)
            if has_chunks(trace, j) or whole[j]:
                take(trace, then, state, j, -1)
            else:
                _give_back(then, place, share, firsts[j], counts[j], requests[j])
            for k in range(firsts[j], firsts[j] + counts[j]):
                p = place[k]
                if usable[p]:
                    fits = fits_on(trace, then[p], p, head, request, units)
                    total += fits - fit[p]
                    fit[p] = fits
            i += 1


@internal_borrowing
def _reserve(trace: TraceArrays, state: State, head: int, best: bool) -> int:
    """Return the shadow time of the head, and reserve its nodes.

    Set ``state.extra`` and ``state.machine_extra`` to what is free at the shadow time beside the head, ``state.both`` to
    the minimum of ``extra`` and what is free now.
    """
    shadow = shadow_of(trace, state, head, best)
    extra = state.extra
    request = trace.request
    take_of_machine(trace, state.machine_extra, head, 1)
    if shadow < NEVER and has_chunks(trace, head):
        usable = state.open_of[trace.node_set[head]]
        take_chosen(trace, state, extra, head, choose_places(trace, state, extra, extra, usable, head, best))
    elif shadow < NEVER:
        entries = spread(extra, trace.capacity, trace.rank, state.fit, trace.units[head], best, state.chosen, state.put)
        for k in range(entries):
            p = state.chosen[k]
            for r in range(extra.shape[1]):
                extra[p, r] -= trace.capacity[p, r] if trace.whole[head] else state.put[k] * request[head, r]
    for p in range(extra.shape[0]):
        _least(state.both, extra, state.free, p)
    return shadow


@internal_borrowing
def _least(both: Ints, extra: Ints, free: Ints, p: int) -> None:
    """Set row p of ``both`` to the minimum of ``extra`` and ``free``."""
    for r in range(both.shape[1]):
        both[p, r] = min(extra[p, r], free[p, r])


@internal_borrowing
def next_candidate(trace: TraceArrays, state: State, i: int, n: int) -> int:
    """Return the index of the next of the waiting jobs ``i .. n - 1`` that may fit now, or n if there is none.

    Such a job has an open calendar, is held by no limit, and requests no more than all places together, and the whole
    machine, have free.
    """
    units = trace.units
    request = trace.request
    spare = state.spare
    waiting = state.waiting
    room, kind = state.room, trace.kind
    of_machine, machine = trace.machine_request, state.machine_free
    limited = trace.limit.size > 0
    several = (
        trace.masks.shape[0] > 1
    )  # sets of places: what all places have together says little, and rooms stay known
    while i < n:
        j = waiting[i]
        crowded = units[j] > room[kind[j]] or lacks(units, request, spare, j) or exceeds(of_machine, j, machine)
        if several and not crowded and may_start(trace, j, state.clock[NOW]):
            fits = count_job(trace, state, state.free, j)
            if fits < units[j]:
                room[kind[j]] = fits
                crowded = True
        if not crowded and may_start(trace, j, state.clock[NOW]) and not (limited and held(trace, state.limit_free, j)):
            return i
        i += 1
    return n


@internal
def unknown_room(state: State) -> Ints:
    """Return an array like ``state.room`` in which nothing is known."""
    room = np.empty(state.room.size, np.int64)
    for k in range(room.size):
        room[k] = NEVER
    return room


@internal_borrowing
def _note_room(trace: TraceArrays, state: State, head: int, never: Ints) -> None:
    """Note how many units like those of the head fit when all jobs have ended, if they are too few for it.

    Under a desired profile no whole node may be available for hours, and the queue may be full of jobs that need one.
    """
    room = 0
    for p in range(state.fit.size):
        room += state.fit[p]
    if room < trace.units[head]:
        never[trace.kind[head]] = room


@internal
def reserve_for_head(trace: TraceArrays, state: State, rules: Rules) -> tuple[int, int, int]:
    """Start jobs in order of priority, and reserve nodes for the first one that cannot start (steps 2 to 4).

    Return the index of the first of the later jobs that may fit now, the number of waiting jobs that are examined, and
    the shadow time. No later job may start if the first two are equal.
    """
    at = -1
    i = -1
    n = 1
    shadow = NEVER
    never = unknown_room(state)  # most units that fit when all jobs have ended
    while i < n and shadow == NEVER:
        at = start_in_order(trace, state, rules, True, True, at + 1)
        n = min(state.clock[WAITING], rules.candidates)
        if i <= at:
            i = next_candidate(trace, state, at + 1, n)
        if i < n and trace.units[state.waiting[at]] <= never[trace.kind[state.waiting[at]]]:
            shadow = _reserve(trace, state, state.waiting[at], rules.best)
            if shadow == NEVER and not has_chunks(trace, state.waiting[at]):
                _note_room(trace, state, state.waiting[at], never)
    return i, n, shadow


@internal_borrowing
def backfill_one(trace: TraceArrays, state: State, j: int, shadow: int, best: bool, beside: Ints) -> None:
    """Start job j now if it does not delay the reservation (step 5).

    ``beside``: as ``state.room``, for jobs that are expected to end after the shadow time, valid in this decision, in
    which ``state.both`` only shrinks.
    """
    units, kind = trace.units[j], trace.kind[j]
    short = state.clock[NOW] + state.expected[j] <= shadow
    free, room = (state.free, state.room) if short else (state.both, beside)
    if units > room[kind] or exceeds(trace.machine_request, j, state.machine_free):
        return
    if not short and exceeds(trace.machine_request, j, state.machine_extra):
        return
    if trace.limit.size > 0 and held(
        trace, state.limit_free, j
    ):  # a job that started just now may have reached a limit
        return
    fits = count_job(trace, state, free, j)
    if fits >= units and start_counted(trace, state, free, j, best):
        spend(trace.units, trace.request, state.spare, j)
        if not short:
            take(trace, state.extra, state, j, 1)
            take_of_machine(trace, state.machine_extra, j, 1)
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            _least(state.both, state.extra, state.free, state.place[k])
    elif not has_chunks(trace, j):
        room[kind] = min(room[kind], fits)


@internal
def easy(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision: the first job that cannot start holds a reservation, later jobs start if they do not delay it.

    The steps are those of the module docstring. Only the first ``rules.candidates`` waiting jobs are examined.
    """
    rank(state, rules.base, rules.slope, rules.dynamic)
    i, n, shadow = reserve_for_head(trace, state, rules)
    beside = unknown_room(state)
    while i < n:
        backfill_one(trace, state, state.waiting[i], shadow, rules.best, beside)
        i = next_candidate(trace, state, i + 1, n)
    compact(state)


# --- EASY++, one decision; compiled: EASY with predicted durations and shortest job first in backfilling [Tsafrir2007].
#
# It differs from ``easy`` in three points:
#
# 1. Durations are predicted from the last two jobs of the user, at most the walltime (predictor ``last-two``). The
#    predictions serve the decisions only: no job is killed because its prediction was too short.
# 2. A prediction that has expired, because the job still runs, is increased by the next of ``policy.CORRECTIONS`` as often
#    as needed to lie in the future, at most to the walltime. A job that runs beyond its walltime is taken to end at once, as
#    in ``easy``.
# 3. Among the later jobs (step 5 of ``easy``) the one with the shortest predicted duration goes first, ties by arrival.
#    The order of the queue, its head and the reservation of the head stay first come, first served.
#
# Corrections are made at the decisions, which are at arrivals and ends; the time of the expiry is no event. The increments
# are the list that [Gaussier2015] gives for the correction of [Tsafrir2007]; after the last one the prediction is the
# walltime.
#
# References
# ----------
# - [Gaussier2015], [Tsafrir2007]: see ``docs/appendix/references.md``.


@internal
def easy_shortest_first(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision of EASY in which later jobs are tried in the order of their expected durations."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    i, n, shadow = reserve_for_head(trace, state, rules)
    later = np.empty(max(0, n - i), np.int64)
    count = 0
    while i < n:
        later[count] = i
        count += 1
        i = next_candidate(trace, state, i + 1, n)
    # positions in the queue, not jobs: ties go by the order of the queue
    expected = np.empty(n, np.float64)
    for k in range(count):
        expected[later[k]] = state.expected[state.waiting[later[k]]]
    sort_by(later, count, expected)
    beside = unknown_room(state)
    for k in range(count):
        backfill_one(trace, state, state.waiting[later[k]], shadow, rules.best, beside)
    compact(state)


@borrowing
def correct(state: State, walltime: Ints, increments: Ints) -> None:
    """Return ``correct_ends`` for calls from Python."""
    correct_ends(state, walltime, increments)


@internal_borrowing
def correct_ends(state: State, walltime: Ints, increments: Ints) -> None:
    """Increase the expected ends of running jobs that are not in the future; ``state.expected`` stays as it is.

    Parameters
    ----------
    state
        The state; the order of the running jobs and their expected ends are changed.
    walltime
        Upper limit of the prediction of each job in seconds, shape (jobs,).
    increments
        Increments in seconds.
    """
    now = state.clock[NOW]
    n = state.clock[RUNNING]
    ends = state.running_end
    running = state.running
    i = 0
    while i < n and ends[i] <= now:
        j = running[i]
        end = state.start[j] + state.expected[j]
        last = state.start[j] + walltime[j]
        for step in increments:
            if end > now:
                break
            end += step
        end = max(ends[i], last if end <= now else min(end, last))
        if end <= now:
            i += 1  # it runs beyond its walltime
            continue
        k = i
        while k + 1 < n and ends[k + 1] < end:
            running[k], ends[k] = running[k + 1], ends[k + 1]
            k += 1
        running[k], ends[k] = j, end
