"""Fair waits of jobs, keys that weigh their work, and overdue jobs; compiled.

The *fair wait* of a job is the time that the whole machine needs for what runs and waits when the job arrives, and for
the job itself, by expected durations: without idle capacity, first come, first served starts the job within it.
"""

from __future__ import annotations

import numpy as np

from ....heuristics.kernels.events.rules import Planning
from ....heuristics.kernels.events.state import NOW, RUNNING, SORTED, WAITING, State, TraceArrays
from ....heuristics.kernels.profile import Floats, Ints
from ....models.compiled import internal, internal_borrowing


@internal_borrowing
def _amount(trace: TraceArrays, j: int, r: int) -> int:
    """Return what all units of job j request of resource r."""
    total = trace.units[j] * trace.request[j, r]
    for row in range(trace.first_further[j], trace.first_further[j + 1]):
        total += trace.further_units[row] * trace.further_request[row, r]
    return int(total)


@internal_borrowing
def _add(trace: TraceArrays, ahead: Floats, j: int, seconds: int) -> None:
    """Add the amounts of job j times seconds to the work ``ahead``, shape (resources,)."""
    for r in range(ahead.size):
        ahead[r] += max(1, seconds) * _amount(trace, j, r)


@internal_borrowing
def _machine_time(ahead: Floats, total: Floats) -> float:
    """Return the seconds that the whole machine needs for the work ``ahead``; ``total``: its capacity."""
    found = 0.0
    for r in range(ahead.size):
        if total[r] > 0:
            found = max(found, ahead[r] / total[r])
    return found


@internal_borrowing
def _own_work(state: State, planning: Planning, j: int) -> float:
    """Return the work of waiting job j, without the changes of a search; 0 if work is not weighed."""
    return float(max(1, state.expected[j]) * planning.worth[j]) if planning.work > 0 else 0.0


@internal
def observe(trace: TraceArrays, state: State, planning: Planning, base: Floats) -> float:
    """Set the fair waits of jobs that have arrived, and the keys in ``base`` of all waiting jobs if work is weighed.

    The key is ``arrival + work * T * own work / mean work of the waiting jobs``, where T is the time that the whole
    machine needs for all running and waiting jobs. Return ``work * T / mean work``, or 0 if work is not weighed.
    """
    clock, resources = state.clock, trace.request.shape[1]
    total, ahead, work = np.zeros(resources), np.zeros(resources), 0.0
    for p in range(trace.capacity.shape[0]):
        for r in range(resources):
            total[r] += trace.capacity[p, r]
    for i in range(clock[RUNNING]):
        _add(trace, ahead, state.running[i], state.running_end[i] - clock[NOW])
    for i in range(clock[WAITING]):
        j = state.waiting[i]
        if state.fair[j] >= 0:
            _add(trace, ahead, j, state.expected[j])
    for i in range(clock[WAITING]):
        j = state.waiting[i]
        if state.fair[j] < 0:
            _add(trace, ahead, j, state.expected[j])
            state.fair[j] = int(_machine_time(ahead, total))
            state.seen[j] = min(clock[NOW], trace.release[j])  # jobs that follow another one have no release
            state.work[j] = _own_work(state, planning, j)
        work += _own_work(state, planning, j)
    if planning.work == 0 or work <= 0:
        return 0.0
    scale = planning.work * _machine_time(ahead, total) * clock[WAITING] / work
    for i in range(clock[WAITING]):
        j = state.waiting[i]
        base[j] = state.seen[j] + scale * state.work[j]
    clock[SORTED] = 0
    return float(scale)


@internal_borrowing
def due(state: State, planning: Planning, j: int) -> float:
    """Return the time in seconds from which job j is overdue."""
    return float(state.seen[j] + max(float(planning.least), planning.guard * state.fair[j]))


@internal
def overdue_first(state: State, planning: Planning) -> tuple[Ints, int]:
    """Return the waiting jobs in the order in which they are planned, and the number of those that are overdue.

    These go first, in the order of the trace.
    """
    n, now = state.clock[WAITING], state.clock[NOW]
    order, late = np.empty(n, np.int64), 0
    for i in range(n):
        j = state.waiting[i]
        if now > due(state, planning, j):
            k = late
            while k > 0 and order[k - 1] > j:
                order[k] = order[k - 1]
                k -= 1
            order[k] = j
            late += 1
    first = late
    for i in range(n):
        j = state.waiting[i]
        if not now > due(state, planning, j):
            order[first] = j
            first += 1
    return order, late
