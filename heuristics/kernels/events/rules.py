"""Rules at one event: waiting jobs start in an order; compiled (thesis 2.2, algorithm 1)."""

from __future__ import annotations

from typing import NamedTuple

from ....models.compiled import borrowing, compiled
from ..profile import Floats, Ints
from .fit import count_fits, spread
from .state import NOW, STARTED, WAITING, State, TraceArrays, begin, compact, keep_places, may_start, rank

ALL = 2**31


class Rules(NamedTuple):
    """A policy as the kernels take it; priority: least ``base + slope x now`` first, ``slope`` only where ``dynamic``."""

    base: Floats
    slope: Floats
    dynamic: bool
    strict: bool
    reservations: int
    candidates: int
    best: bool


@borrowing
def _start(trace: TraceArrays, state: State, j: int, best: bool) -> None:
    """Start job j now, for which ``state.fit`` has been counted."""
    entries = spread(state.free, trace.capacity, state.fit, trace.units[j], best, state.chosen, state.put)
    keep_places(trace, state, j, entries)
    begin(trace, state, j)


@borrowing
def try_start(trace: TraceArrays, state: State, free: Ints, j: int, best: bool) -> bool:
    """Start job j now if ``free`` has room for it; True if it has started."""
    if count_fits(free, trace.request[j], trace.units[j], state.fit) < trace.units[j]:
        return False
    _start(trace, state, j, best)
    return True


@borrowing
def _sum_up(free: Ints, spare: Ints) -> None:
    """``spare`` becomes what all places have free together."""
    spare[:] = 0
    for p in range(free.shape[0]):
        for r in range(spare.size):
            spare[r] += free[p, r]


# The loops over a whole queue call functions of a few arrays: a call with all of them costs as much as fifty of them.
@borrowing
def lacks(units: Ints, request: Ints, spare: Ints, j: int) -> bool:
    """Whether job j needs more than all places together have; asked first, as most of a long queue does."""
    for r in range(spare.size):
        if units[j] * request[j, r] > spare[r]:
            return True
    return False


@borrowing
def spend(units: Ints, request: Ints, spare: Ints, j: int) -> None:
    """Job j has started."""
    for r in range(spare.size):
        spare[r] -= units[j] * request[j, r]


@borrowing
def start_in_order(trace: TraceArrays, state: State, rules: Rules, blocking: bool, closed: bool, first: int) -> int:
    """Start waiting jobs in their order; if ``blocking``, up to the first that does not fit: its place in ``waiting``.

    ``closed``: a job that its calendar keeps out blocks, too; else it is passed over. ``first``: the place to begin at. The
    number of waiting jobs where nothing blocks.
    """
    spare, units, request, waiting = state.spare, trace.units, trace.request, state.waiting
    room, kind = state.room, trace.kind
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
            if fits >= units[j]:
                _start(trace, state, j, rules.best)
                spend(units, request, spare, j)
                continue
            room[kind[j]] = fits
        if blocking:
            return i
    return int(state.clock[WAITING])


@compiled
def by_rule(trace: TraceArrays, state: State, rules: Rules) -> None:
    """A rule without reservations, strict or not."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    before = state.clock[STARTED]
    start_in_order(trace, state, rules, rules.strict, False, 0)
    if state.clock[STARTED] > before:
        compact(state)
