"""Conservative backfilling on nodes that are followed, with the free amounts in slices of time; compiled.

The starts and nodes are those of ``conservative``. The free amounts are kept from one event to the next
(``heuristics.kernels.events.slices``), and a reservation is taken out and made anew only if it moves: most keep their start
and their nodes, and it takes much less time to find that out.
"""

from __future__ import annotations

from ...heuristics.kernels.events.rules import Rules, rank, step
from ...heuristics.kernels.events.slices import (
    FULL,
    GOING,
    OVER,
    PENDING,
    Slices,
    choose,
    drop_past,
    earliest_allowed,
    end_early,
    has_room,
    hold,
    least_within,
    let_go,
    run_on,
    same_choice,
    set_running,
    slice_at,
)
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
    keep_places,
)
from ...heuristics.kernels.profile import NEVER
from ...models.compiled import compiled, internal, internal_borrowing
from .conservative import wake

LAST = NEVER // 2  # the latest start that is looked for, in seconds


@compiled
def replay(trace: TraceArrays, state: State, rules: Rules, s: Slices, period: int, events: int) -> int:
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
            known = _go_on(s, trace, state, before)
        before = clock[NOW]
        if clock[WAITING] > 0:
            if not has_room(s, state):
                s.number[PENDING] = 1
                return FULL
            clock[DECISIONS] += 1
            if not known:
                kept = _hold_all(s, trace, state)
            _decide(s, trace, state, rules, kept)
            known = True
    return GOING


@internal_borrowing
def _hold_all(s: Slices, trace: TraceArrays, state: State) -> bool:
    """Set what is free beside the running jobs and reservations; if one does not fit, delete all and return False."""
    set_running(s, trace, state)
    now, n = state.clock[NOW], state.clock[WAITING]
    for i in range(n):
        j = state.waiting[i]
        start = state.reserved[j]
        if start >= 0 and (start < now or not hold(s, trace, state, j, start)):
            for other in range(n):
                state.reserved[state.waiting[other]] = -1
            set_running(s, trace, state)
            return False
    return True


@internal_borrowing
def _go_on(s: Slices, trace: TraceArrays, state: State, before: int) -> bool:
    """Bring the slices from the last event, at time ``before``, to the present; return whether all reservations fit."""
    clock = state.clock
    now = clock[NOW]
    for i in range(clock[WAITING]):
        if 0 <= state.reserved[state.waiting[i]] < now:
            return False
    drop_past(s, now)
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
def _decide(s: Slices, trace: TraceArrays, state: State, rules: Rules, kept: bool) -> None:
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
            hold(s, trace, state, j, reserved[j])
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
