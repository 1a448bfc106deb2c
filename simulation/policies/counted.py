"""Conservative backfilling on one place with one resource, whose free amount is only counted; compiled.

The starts are those of ``conservative``. The free amount over time is kept from one event to the next, in blocks
(``counting.free``). Most reservations keep their start, and bounds from those before them show it (``counting.bounds``).
"""

from __future__ import annotations

from ...heuristics.kernels.events.counting.bounds import Bounds, bound, new_bounds, note_freed, remember
from ...heuristics.kernels.events.counting.free import (
    Free,
    add,
    begin_before,
    drop_past,
    earlier,
    earliest,
    least_free,
    new_free,
    set_free,
)
from ...heuristics.kernels.events.ranking import rank
from ...heuristics.kernels.events.replay import step
from ...heuristics.kernels.events.rules import ALL, Rules
from ...heuristics.kernels.events.state import (
    DECISIONS,
    EARLY,
    ENDED,
    NOW,
    RUNNING,
    WAITING,
    State,
    TraceArrays,
    begin,
    compact,
)
from ...heuristics.kernels.profile import NEVER, Ints
from ...models.compiled import compiled, internal, internal_borrowing
from .conservative import wake


def suits(trace: TraceArrays, state: State, rules: Rules) -> bool:
    """Return whether this module can replay: all jobs hold reservations, one resource is counted, no calendars."""
    counted = trace.capacity.shape == (1, 1) and not trace.further_units.size and not trace.period.size
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
    clock, known, before = state.clock, False, -NEVER  # known: ``free`` is that of the last event
    for _ in range(events):
        if not step(trace, state, period):
            return False
        kept = True
        if known:
            known = _go_on(state, amounts, free, before)
        before = clock[NOW]
        if clock[WAITING] > 0:
            clock[DECISIONS] += 1
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
def _hold_all(state: State, amounts: Ints, free: Free) -> bool:
    """Set what is free beside the running jobs and reservations; if one does not fit, delete all and return False."""
    _set_running(state, amounts, free)
    now, n = state.clock[NOW], state.clock[WAITING]
    for i in range(n):
        j = state.waiting[i]
        start, end = state.reserved[j], state.reserved[j] + state.expected[j]
        if start < 0:
            continue
        if start < now or least_free(free, start, end) < amounts[j]:
            for other in range(n):
                state.reserved[state.waiting[other]] = -1
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
    found = earlier(free, amount, duration, start, least)
    remember(bounds, amount, duration, found)
    if found < start:
        taken_end, freed = min(start, found + duration), max(start, found + duration)
        add(free, found, taken_end, -amount)
        add(free, freed, start + duration, amount)
        note_freed(bounds, freed)
    return found


@internal
def _decide(
    trace: TraceArrays, state: State, rules: Rules, amounts: Ints, free: Free, bounds: Bounds, kept: bool
) -> None:
    """Make one decision; ``kept``: no reservation was deleted."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock, waiting, reserved = state.clock, state.waiting, state.reserved
    now, moving = clock[NOW], kept and (clock[EARLY] > 0 or rules.dynamic)
    bounds.number[0] = 0
    for i in range(clock[WAITING]):
        j = waiting[i]
        start, duration, amount = reserved[j], state.expected[j], amounts[j]
        if start < 0:
            start = earliest(free, amount, duration)
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
