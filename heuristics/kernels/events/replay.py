"""A whole replay under a rule, event after event, without leaving compiled code."""

from __future__ import annotations

from ....models.compiled import borrowing, compiled
from ..profile import NEVER
from .rules import Rules, by_rule
from .state import DECISIONS, NOW, WAITING, State, TraceArrays, advance, next_event


@borrowing
def step(trace: TraceArrays, state: State, period: int) -> bool:
    """Go to the next event, or to the next multiple of ``period`` (0: none); False if nothing happens any more."""
    t = next_event(trace, state)
    if t >= NEVER:
        return False
    if period > 0 and state.clock[WAITING] > 0:
        t = min(t, (state.clock[NOW] // period + 1) * period)
    advance(trace, state, t)
    return True


@compiled
def replay_by_rule(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    """Replay up to so many events; False if nothing happens any more."""
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            by_rule(trace, state, rules)
    return True
