"""A whole replay under a compiled policy, in one loop of compiled code.

There is one loop per kind of policy. A single loop with all three kinds would pass the arguments of the largest kernel
in every decision and would be slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.chunks import each_fits
from ...heuristics.kernels.events.counting import replay as counting
from ...heuristics.kernels.events.replay import replay_by_rule, step
from ...heuristics.kernels.events.rules import Rules, by_rule
from ...heuristics.kernels.events.standstill import Standstill
from ...heuristics.kernels.events.state import DECISIONS, NOW, SORTED, STARTED, WAITING, State, TraceArrays, may_start
from ...heuristics.kernels.profile import Ints
from ...models.compiled import compiled
from ...models.returned import is_false
from ..policies import counted
from ..policies.compression import follows
from ..policies.conservative import backfill, backfill_on, hold_all, running_profile
from ..policies.easy import easy
from ..policies.easy_plus_plus import easy_shortest_first
from ..policies.plans.planning import plan
from ..policies.policy import Policy
from .progress import STOPPED, OnProgress, Progress, ReplayPlan, check_all_started, rules_of
from .simulation import Decisions, Simulation
from .states.node_changes import NodeChanges

BATCH = 20_000  # the most events between two calls of on_progress
FIRST = 50  # events before its first call; a decision of a policy that searches can take many ms
TURN = 0.2  # s between two calls of on_progress, unless the events of the least batch take longer


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
    profile, known = running_profile(trace, state), False  # known: the profile was that of the last event
    for _ in range(events):
        if not step(trace, state, period):
            return False
        kept = False
        if known:
            profile, kept = follows(profile, trace, state)
        known = state.clock[WAITING] > 0
        if known:
            state.clock[DECISIONS] += 1
            if not kept:
                profile, kept = hold_all(running_profile(trace, state), trace, state)
            profile = backfill_on(profile, kept, trace, state, rules)
    return True


@compiled
def _plan(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            plan(trace, state, rules)
    return True


@compiled
def _decide_by_rule(trace: TraceArrays, state: State, rules: Rules) -> None:
    by_rule(trace, state, rules)


@compiled
def _decide_easy(trace: TraceArrays, state: State, rules: Rules) -> None:
    easy(trace, state, rules)


@compiled
def decide_shortest_first(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision of EASY with the shortest job first in backfilling."""
    easy_shortest_first(trace, state, rules)


@compiled
def _decide_backfill(trace: TraceArrays, state: State, rules: Rules) -> None:
    backfill(trace, state, rules)


@compiled
def allowed(trace: TraceArrays, state: State) -> NDArray[np.bool_]:
    """Return the mask of the waiting jobs that their calendars allow to start now."""
    found = np.empty(state.clock[WAITING], np.bool_)
    for i in range(found.size):
        found[i] = may_start(trace, state.waiting[i], state.clock[NOW])
    return found


@compiled
def any_fits(trace: TraceArrays, state: State) -> bool:
    """Return whether at least one waiting job could start now, alone on the free places (each chunk for itself)."""
    for i in range(state.clock[WAITING]):
        j = state.waiting[i]
        if may_start(trace, j, state.clock[NOW]) and each_fits(trace, state, j):
            return True
    return False


@compiled
def _decide_plan(trace: TraceArrays, state: State, rules: Rules) -> None:
    plan(trace, state, rules)


class Kernel(NamedTuple):
    """The compiled functions of a policy.

    ``decide(trace, state, rules)`` makes one decision. ``replay(trace, state, rules, period, events)`` replays at most
    ``events`` events, and returns False if there are no more events.
    """

    decide: Callable[[TraceArrays, State, Rules], None]
    replay: Callable[[TraceArrays, State, Rules, int, int], bool]


BACKFILLING = Kernel(_decide_backfill, _backfill)  # any number of reservations
PLANNING = Kernel(_decide_plan, _plan)


def kernel(rules: Rules) -> Kernel:
    """Return the compiled functions for the number of reservations: none, one (EASY), or several; or for plans."""
    if rules.planning.on:
        return PLANNING
    if rules.reservations == 0:
        return Kernel(_decide_by_rule, replay_by_rule)
    return Kernel(_decide_easy, _easy) if rules.reservations == 1 else BACKFILLING


def _kernel(plan: ReplayPlan, state: State, rules: Rules, quiet: bool) -> Kernel:
    """Return the compiled functions of a whole replay: where nodes are counted, the faster ones of ``counting``.

    ``quiet``: only ends and arrivals change what is free, see ``NodeChanges``.
    """
    usual = kernel(rules)
    if usual is BACKFILLING and counted.suits(plan.trace, state, rules):
        arrays = counted.new_arrays(plan.trace)
        return usual._replace(
            replay=lambda trace, state, rules, period, events: counted.replay(
                trace, state, rules, *arrays, period, events
            )
        )
    if not (quiet and plan.by_count and counting.suits(plan.trace, state, rules, plan.period)):
        return usual
    counts = counting.new_counts(plan.trace, rules)
    return usual._replace(
        replay=lambda trace, state, rules, period, events: counting.replay(trace, state, *counts, events)
    )


class _Batches:
    """How many events are replayed before the next call of ``on_progress``.

    The events decide nothing about the starts: a replay in small batches has those of a replay in one.
    """

    def __init__(self, told: bool) -> None:
        self.events = FIRST if told else BATCH
        self._told, self._last = told, time.perf_counter()

    def next(self) -> None:
        """Choose the number of events of the next batch by the time that this one took."""
        now = time.perf_counter()
        took, self._last = now - self._last, now
        if self._told and took > TURN:
            self.events = max(1, self.events // 2)
        elif took < TURN / 4:
            self.events = min(BATCH, 2 * self.events)


def replay_compiled(plan: ReplayPlan, policy: Policy, expected: Ints, on_progress: OnProgress | None) -> Simulation:
    """Replay a policy with fixed expected durations; the whole loop is compiled."""
    state = plan.first_state(expected)
    rules = rules_of(policy, plan.workload, expected, plan.allocator == "best-fit", plan.seed)
    began = time.perf_counter()
    notes: tuple[str, ...] = ()
    changes = NodeChanges(plan, state)
    chosen = _kernel(plan, state, rules, changes.quiet)
    standstill, batches = Standstill(plan.trace, state), _Batches(on_progress is not None)
    while (going := chosen.replay(plan.trace, state, rules, plan.period, batches.events)) or changes.go():
        batches.next()
        if not going and state.clock[WAITING] > 0:  # the state of a node has changed
            if changes.shortened:
                durations = state.expected[: len(expected)]
                rules = rules_of(policy, plan.workload, durations, plan.allocator == "best-fit", plan.seed)
                state.clock[SORTED], changes.shortened = 0, False
            state.clock[DECISIONS] += 1
            chosen.decide(plan.trace, state, rules)
        if on_progress is not None:
            progress = Progress(
                int(state.clock[STARTED]), len(plan.workload), int(state.clock[NOW]), time.perf_counter() - began
            )
            if is_false(on_progress(progress)):
                notes = (STOPPED,)
                break
        if standstill.reached():
            break
    seconds = time.perf_counter() - began
    decisions = Decisions(int(state.clock[DECISIONS]), total_seconds=seconds)
    found = plan.result(state, decisions, seconds, notes)
    if not notes:
        check_all_started(plan, state, found)
    return found
