"""Rules at one event: waiting jobs start in the order of their priority [Bridi2018, 2.2], algorithm 1.

1. Sort the waiting jobs by priority.
2. Start each job that fits now and whose calendars are open.
3. A job that does not fit is skipped; with a strict rule it ends the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.compiled import internal, internal_borrowing
from ..by_address import by_address
from ..profile import Floats, Ints
from .chunks import choose_places, has_chunks
from .fit import count_fits, spread
from .ranking import rank
from .state import NOW, STARTED, WAITING, State, TraceArrays, begin, compact, keep_places, may_start

ALL = 2**31  # ``Rules.candidates``: no limit


@by_address
class Planning(NamedTuple):
    """How a policy plans its whole queue at each decision.

    Parameters
    ----------
    on
        Whether the policy plans: then all waiting jobs are placed anew at each decision.
    work
        Weight of a job's work in its key; 0: the key is ``Rules.base``.
    guard
        A job is overdue after ``guard`` times its fair wait.
    least
        No job is overdue earlier, in seconds.
    worth
        Units of each job times the weight of its queue, shape (jobs,), or empty without ``work``. The *work* of a job is
        its expected duration times this.
    rounds
        Changes of the order that the search tries at each decision; 0: no search.
    depth
        Number of jobs at the head of the plan that the search may change.
    seed
        Seed of the search.
    """

    on: bool
    work: float
    guard: float
    least: int
    worth: Floats
    rounds: int
    depth: int
    seed: int


NO_PLANNING = Planning(False, 0.0, np.inf, 0, np.empty(0), 0, 0, 0)


@by_address
class Rules(NamedTuple):
    """A rule: the job with the least base + slope * now is first.

    Parameters
    ----------
    base
        Constant part of the key, shape (jobs,).
    slope
        Change of the key per second, shape (jobs,); used only if ``dynamic``.
    dynamic
        Whether the key changes with time.
    strict
        Whether a job that does not fit blocks all later jobs.
    reservations
        Number of jobs with reservations (policies with backfilling).
    candidates
        Number of waiting jobs to test at each event; ALL: no limit.
    best
        Best fit, else first fit.
    planning
        How the queue is planned anew at each decision (policies that plan).
    """

    base: Floats
    slope: Floats
    dynamic: bool
    strict: bool
    reservations: int
    candidates: int
    best: bool
    planning: Planning = NO_PLANNING


@internal_borrowing
def start_counted(trace: TraceArrays, state: State, free: Ints, j: int, best: bool) -> bool:
    """Start job j now on places chosen by ``state.fit``, which must be counted before.

    Return False if job j has several chunks and they do not fit together into ``free``.
    """
    if has_chunks(trace, j):
        entries = choose_places(trace, state, free, j, best)
        if entries == 0:
            return False
    else:
        entries = spread(state.free, trace.capacity, state.fit, trace.units[j], best, state.chosen, state.put)
    keep_places(trace, state, j, entries)
    begin(trace, state, j)
    return True


@internal_borrowing
def try_start(trace: TraceArrays, state: State, free: Ints, j: int, best: bool) -> bool:
    """Start job j now if ``free`` has room for it; return whether it has started.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state; changed in place.
    free
        Free amounts that the job may use, shape (places, resources).
    j
        Index of the job.
    best
        Best fit, else first fit.
    """
    if count_fits(free, trace.request[j], trace.units[j], state.fit) < trace.units[j]:
        return False
    return start_counted(trace, state, free, j, best)


@internal_borrowing
def _sum_up(free: Ints, spare: Ints) -> None:
    """Set ``spare`` to the free amounts of all places together."""
    for r in range(spare.size):
        spare[r] = 0
    for p in range(free.shape[0]):
        for r in range(spare.size):
            spare[r] += max(0, free[p, r])


# The loops over a whole queue call functions with few arrays: a call that passes all arrays costs as much as fifty of
# these.
@internal_borrowing
def lacks(units: Ints, request: Ints, spare: Ints, j: int) -> bool:
    """Return whether job j (its first chunk) needs more than all places together have free; in a long queue most do.

    Parameters
    ----------
    units
        Units of each job, shape (jobs,).
    request
        Amounts per unit, shape (jobs, resources).
    spare
        Free amounts of all places together, shape (resources,).
    j
        Index of the job.
    """
    for r in range(spare.size):
        if units[j] * request[j, r] > spare[r]:
            return True
    return False


@internal_borrowing
def spend(units: Ints, request: Ints, spare: Ints, j: int) -> None:
    """Subtract started job j from ``spare``.

    Parameters
    ----------
    units, request, spare, j
        As in ``lacks``.
    """
    for r in range(spare.size):
        spare[r] -= units[j] * request[j, r]


@internal_borrowing
def start_in_order(trace: TraceArrays, state: State, rules: Rules, blocking: bool, closed: bool, first: int) -> int:
    """Start waiting jobs in their order; return the place of the job that blocks, else the number of waiting jobs.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state; changed in place.
    rules
        The rule.
    blocking
        Whether a job that does not fit blocks.
    closed
        Whether a job whose calendar is closed blocks; else it is skipped.
    first
        Place in ``waiting`` to begin at; 0 in the first call of a decision.
    """
    spare, units, request, waiting = state.spare, trace.units, trace.request, state.waiting
    room, kind = state.room, trace.kind
    if first == 0:  # later calls of one decision go on with what is left
        _sum_up(state.free, spare)
    for i in range(first, min(state.clock[WAITING], rules.candidates)):
        j = waiting[i]
        if (units[j] > room[kind[j]] and not blocking) or not may_start(trace, j, state.clock[NOW]):
            if closed:
                return i
            continue
        if units[j] <= room[kind[j]]:
            fits = units[j] - 1
            if not lacks(units, request, spare, j):
                fits = count_fits(state.free, request[j], units[j], state.fit)
            if fits < units[j]:
                room[kind[j]] = fits
            elif start_counted(trace, state, state.free, j, rules.best):
                spend(units, request, spare, j)
                continue
        if blocking:
            return i
    return int(state.clock[WAITING])


@internal
def by_rule(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Apply a rule without reservations at the current event."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    before = state.clock[STARTED]
    start_in_order(trace, state, rules, rules.strict, False, 0)
    if state.clock[STARTED] > before:
        compact(state)
