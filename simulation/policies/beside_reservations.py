"""Decisions of policies beside what is kept of the machine over time, one decision; compiled.

Reserved amounts are subtracted from the free capacity of each node over time, now and in the future, and what comes back is
added (negative amounts); then the policy decides as on the whole machine:

- a rule starts jobs in order of priority, each where it fits until its walltime; a strict rule stops at the first job
  that does not;
- EASY gives the first job that cannot start the earliest start, and starts later jobs that do not delay it, in their order
  or the shortest first;
- with several reservations of waiting jobs, step by step as in ``conservative``;
- policies that plan place all waiting jobs anew, as in ``plans.planning``.

If nothing is kept, the starts are those of ``heuristics.kernels.events.rules``, ``easy`` and
``conservative``. Expected durations must be at least the walltimes, so that no job runs into a reservation. Times are
seconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.earliest import new_scratch
from ...heuristics.kernels.events.ranking import rank
from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.sorting import sort_by
from ...heuristics.kernels.events.state import EARLY, NOW, WAITING, State, TraceArrays, begin, compact, may_start
from ...heuristics.kernels.profile import NEVER, Ints, Profile, grown, occupy
from ...models.compiled import compiled, internal
from .conservative import hold, hold_all, reserve, running_profile, wake
from .plans.planning import plan_on

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
        The amounts, shape (entries, resources); negative for what comes back.
    """

    node: Ints
    start: Ints
    end: Ints
    amounts: Ints


@internal
def _with_holds(profile: Profile, holds: Holds, now: int) -> Profile:
    """Subtract the reserved amounts from the profile; return the profile or a larger copy."""
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
    places, expected = np.empty(count, np.int64), np.empty(count, np.float64)
    for k in range(count):
        places[k], expected[k] = k, state.expected[order[first + k]]
    sort_by(places, count, expected)
    jobs = np.empty(count, np.int64)
    for k in range(count):
        jobs[k] = order[first + places[k]]
    for k in range(count):
        order[first + k] = jobs[k]


@compiled
def decide_beside(trace: TraceArrays, state: State, rules: Rules, holds: Holds, shortest_first: bool) -> None:
    """Make one decision of a policy; see the module docstring."""
    if rules.planning.on:
        plan_on(_with_holds(running_profile(trace, state), holds, state.clock[NOW]), trace, state, rules)
        return
    rank(state, rules.base, rules.slope, rules.dynamic)
    clock, waiting = state.clock, state.waiting
    now, most = clock[NOW], rules.reservations
    profile = _with_holds(running_profile(trace, state), holds, now)
    if most < 2:  # EASY computes its only reservation anew at each decision
        for i in range(clock[WAITING]):
            state.reserved[waiting[i]] = -1
    profile, kept = hold_all(profile, trace, state)
    if not kept:
        profile = _with_holds(profile, holds, now)
    moving = not kept or clock[EARLY] > 0 or rules.dynamic
    s, held = _new_scratch(trace.capacity.shape[0]), 0
    last = min(clock[WAITING], rules.candidates)
    order = np.empty(last, np.int64)
    for i in range(last):
        order[i] = waiting[i]
    for i in range(last):
        j = order[i]
        full = held >= most
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
            held += 1
            if shortest_first and held == most:
                _shortest_first(state, order, i + 1, last)
    compact(state)
    if most > 1:
        wake(state)
