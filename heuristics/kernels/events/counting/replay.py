"""FCFS, EASY and rules without reservations where free nodes are counted and the order of the jobs is fixed; compiled.

The decisions are those of ``rules.by_rule`` and ``simulation.policies.easy``. The waiting jobs are a tree
(``waiting``), the running jobs are in blocks (``running``): the time per job grows with the logarithm of their numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import borrowing, internal_borrowing
from ...profile import NEVER, Ints
from ..rules import ALL, Rules
from ..state import DECISIONS, NEXT, NOW, RUNNING, STARTED, STOP, WAITING, State, TraceArrays, pop_end, push_end
from .running import Running, add, none_running, remove, shadow
from .waiting import Waiting, next_place, no_jobs, put

STRICT, RULE, EASY = range(3)


class Counts(NamedTuple):
    """What a replay keeps beside its state.

    Parameters
    ----------
    free
        Number of free nodes, shape (1,).
    mode
        STRICT: a job that does not fit blocks all later ones; RULE: it is skipped; EASY: it gets a reservation.
    waiting, running
        The jobs.
    """

    free: Ints
    mode: int
    waiting: Waiting
    running: Running


def suits(trace: TraceArrays, state: State, rules: Rules, period: int) -> bool:
    """Return whether this module can replay: one resource that is counted, a fixed order, no calendars, an empty start."""
    counted = trace.capacity.shape == (1, 1) and bool((trace.request == 1).all()) and not trace.further_units.size
    fixed = not (rules.dynamic or rules.planning.on or period or trace.follower.size or trace.period.size)
    plain = rules.reservations <= 1 and rules.candidates >= ALL and trace.order.size == trace.release.size
    empty = int(state.clock[RUNNING]) == int(state.clock[WAITING]) == int(state.clock[NEXT]) == 0
    return counted and fixed and plain and empty and bool(trace.units.max(initial=0) <= trace.capacity[0, 0])


def new_counts(trace: TraceArrays, rules: Rules) -> Counts:
    """Return the counts of an empty machine."""
    mode = EASY if rules.reservations == 1 else STRICT if rules.strict else RULE
    most = int(min(trace.capacity[0, 0], trace.release.size))
    return Counts(np.array([trace.capacity[0, 0]]), mode, no_jobs(rules.base), none_running(most))


@borrowing
def replay(
    trace: TraceArrays, state: State, free: Ints, mode: int, waiting: Waiting, running: Running, events: int
) -> bool:
    """Replay at most ``events`` events; return False if nothing happens any more."""
    clock = state.clock
    for _ in range(events):
        t = NEVER
        if clock[RUNNING] > 0:
            t = state.ends[0]
        if clock[NEXT] < trace.order.size:
            t = min(t, trace.release[trace.order[clock[NEXT]]])
        if t >= min(NEVER, clock[STOP]):
            return False
        clock[NOW] = t
        while clock[RUNNING] > 0 and state.ends[0] <= t:
            j = pop_end(state)
            clock[RUNNING] -= 1
            free[0] += trace.units[j]
            if mode == EASY:
                remove(running, trace.units, j, state.start[j] + state.expected[j])
        while clock[NEXT] < trace.order.size and trace.release[trace.order[clock[NEXT]]] <= t:
            j = trace.order[clock[NEXT]]
            put(waiting, waiting.place[j], trace.units[j], state.expected[j])
            clock[NEXT] += 1
            clock[WAITING] += 1
        if clock[WAITING] > 0:
            clock[DECISIONS] += 1
            _decide(trace, state, free, mode, waiting, running)
    return True


@internal_borrowing
def _decide(trace: TraceArrays, state: State, free: Ints, mode: int, waiting: Waiting, running: Running) -> None:
    """Make one decision."""
    if mode == RULE:
        _start_between(trace, state, free, mode, waiting, running, 0, -1, NEVER)
        return
    place = -1
    while state.clock[WAITING] > 0:
        place = next_place(waiting, place + 1, NEVER - 1, NEVER - 1, NEVER)
        if trace.units[waiting.job[place]] > free[0]:
            break
        _start(trace, state, free, mode, waiting, running, place)
    if mode == STRICT or state.clock[WAITING] < 2 or free[0] == 0:
        return
    now, head = state.clock[NOW], waiting.job[place]
    time, then = shadow(running, trace.units, free[0], trace.units[head], now)
    _start_between(trace, state, free, mode, waiting, running, place + 1, then - trace.units[head], time - now)


@internal_borrowing
def _start_between(
    trace: TraceArrays,
    state: State,
    free: Ints,
    mode: int,
    waiting: Waiting,
    running: Running,
    place: int,
    extra: int,
    longest: int,
) -> None:
    """Start jobs from a place on: those that last at most ``longest`` seconds, the others on ``extra`` nodes."""
    while free[0] > 0:
        place = next_place(waiting, place, min(extra, free[0]), free[0], longest)
        if place < 0:
            return
        j = waiting.job[place]
        if state.expected[j] > longest:
            extra -= trace.units[j]
        _start(trace, state, free, mode, waiting, running, place)
        place += 1


@internal_borrowing
def _start(
    trace: TraceArrays, state: State, free: Ints, mode: int, waiting: Waiting, running: Running, place: int
) -> None:
    """Start the job at a place now."""
    j, clock = waiting.job[place], state.clock
    put(waiting, place, NEVER, NEVER)
    state.start[j] = clock[NOW]
    push_end(state, clock[RUNNING], clock[NOW] + trace.runtime[j], j)
    if mode == EASY:
        add(running, trace.units, j, clock[NOW] + state.expected[j])
    free[0] -= trace.units[j]
    clock[RUNNING] += 1
    clock[WAITING] -= 1
    clock[STARTED] += 1
