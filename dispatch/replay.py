"""A whole replay under a compiled policy, event after event, without leaving compiled code."""

from __future__ import annotations

from ..heuristics.profile import NEVER
from ..models.compiled import compiled
from .backfilling import backfill
from .rules import Rules, by_rule, easy
from .state import DECISIONS, NOW, WAITING, State, Trace, advance, next_event


@compiled
def decide(trace: Trace, state: State, rules: Rules) -> None:
    """One decision of a policy."""
    state.clock[DECISIONS] += 1
    if rules.reservations == 0:
        by_rule(trace, state, rules)
    elif rules.reservations == 1:
        easy(trace, state, rules)
    else:
        backfill(trace, state, rules)


@compiled
def step(trace: Trace, state: State, period: int) -> bool:
    """Go to the next event, or to the next multiple of ``period`` (0: none); False if nothing happens any more."""
    t = next_event(trace, state)
    if t >= NEVER:
        return False
    if period > 0 and state.clock[WAITING] > 0:
        t = min(t, (state.clock[NOW] // period + 1) * period)
    advance(trace, state, t)
    return True


@compiled
def replay(trace: Trace, state: State, rules: Rules, period: int, events: int) -> bool:
    """Up to so many events; False if nothing happens any more."""
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            decide(trace, state, rules)
    return True
