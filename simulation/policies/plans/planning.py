"""Plans of the whole queue, one decision; compiled.

At each decision all waiting jobs are placed anew, in order of priority, each at its earliest start beside the running
jobs and the jobs before it. Jobs whose start is now begin. No job delays the planned start of a job before it, and no
plan is kept: this is conservative backfilling [Bridi2018, 2.2] with priorities that may change at each decision.

A job that runs longer than expected is taken to end at now + 1 s. A job that is *overdue* (``fair_waits``) goes
before all that are not.

Jobs after the last one that fits into what is free now cannot start now, wherever they are placed. They are not placed;
what starts now is the same.
"""

from __future__ import annotations

from ....heuristics.kernels.earliest import new_scratch
from ....heuristics.kernels.events.fit import count_fits
from ....heuristics.kernels.events.ranking import rank
from ....heuristics.kernels.events.rules import Rules
from ....heuristics.kernels.events.state import NOW, State, TraceArrays, begin, compact, may_start
from ....heuristics.kernels.profile import Ints, Profile
from ....models.compiled import internal, internal_borrowing
from ..conservative import running_profile
from .dominance import new_known
from .fair_waits import observe, overdue_first
from .placing import place_one
from .search import improve

_new_scratch = internal(new_scratch)


@internal_borrowing
def fits_now(trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether job j (its first chunk) fits into what is free now, and its calendars are open."""
    room, kind = state.room, trace.kind[j]
    if trace.units[j] > room[kind] or not may_start(trace, j, state.clock[NOW]):
        return False
    fits = count_fits(state.free, trace.request[j], trace.units[j], state.fit)
    if fits < trace.units[j]:
        room[kind] = fits
    return bool(fits >= trace.units[j])


@internal_borrowing
def last_that_fits(trace: TraceArrays, state: State, order: Ints, first: int, last: int) -> int:
    """Return the index of the last of the jobs ``order[first:last + 1]`` that fits now; ``first - 1``: none."""
    while last >= first and not fits_now(trace, state, order[last]):
        last -= 1
    return last


@internal
def place_next(profile: Profile, trace: TraceArrays, state: State, rules: Rules, order: Ints) -> Profile:
    """Place the jobs in this order; those whose start is now begin. Return the profile or a larger copy."""
    now = state.clock[NOW]
    s, known = _new_scratch(trace.capacity.shape[0]), new_known(state.room.size)
    last = last_that_fits(trace, state, order, 0, min(order.size, rules.candidates) - 1)
    i = 0
    while i <= last:
        j = order[i]
        profile, start = place_one(profile, s, known, trace, state, j, rules.best)
        i += 1
        if start == now:
            begin(trace, state, j)
            last = last_that_fits(trace, state, order, i, last)
    return profile


@internal
def plan(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision: place all waiting jobs anew, and start those whose start is now."""
    plan_on(running_profile(trace, state), trace, state, rules)


@internal
def plan_on(profile: Profile, trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision on the free capacity over time, a profile that is changed."""
    scale = observe(trace, state, rules.planning, rules.base)
    rank(state, rules.base, rules.slope, rules.dynamic)
    order, late = overdue_first(state, rules.planning)
    if last_that_fits(trace, state, order, 0, order.size - 1) < 0:
        return
    if rules.planning.rounds > 0:
        improve(profile, trace, state, rules, order, late, scale)
    place_next(profile, trace, state, rules, order)
    compact(state)
