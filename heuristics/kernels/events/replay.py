"""A replay under a rule, event after event, in compiled code."""

from __future__ import annotations

from ....models.compiled import compiled, internal_borrowing
from ..profile import NEVER
from .rules import Rules, by_rule
from .state import DECISIONS, NOW, STOP, WAITING, State, TraceArrays, advance, next_event


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
