"""A whole replay under a compiled policy, event after event, without leaving compiled code.

One loop per kind of decision: in one compiled function with all three, each decision would pay for the largest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...heuristics.kernels.events.replay import replay_by_rule, step
from ...heuristics.kernels.events.rules import Rules, by_rule
from ...heuristics.kernels.events.state import DECISIONS, WAITING, State, TraceArrays
from ...models.compiled import compiled
from ..policies.conservative import backfill
from ..policies.easy import easy


@compiled
def _easy(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            easy(trace, state, rules)
    return True


@compiled
def _backfill(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            backfill(trace, state, rules)
    return True


class Kernel(NamedTuple):
    """``decide``: one decision; ``replay``: up to so many events, False if nothing happens any more."""

    decide: Callable[[TraceArrays, State, Rules], None]
    replay: Callable[[TraceArrays, State, Rules, int, int], bool]


def kernel(rules: Rules) -> Kernel:
    """The kernels of a policy, by how many reservations it holds."""
    if rules.reservations == 0:
        return Kernel(by_rule, replay_by_rule)
    return Kernel(easy, _easy) if rules.reservations == 1 else Kernel(backfill, _backfill)
