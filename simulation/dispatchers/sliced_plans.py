"""Plans of the whole queue where the free amounts are in slices of time; compiled.

The starts and nodes are those of ``plans``, which keep the free amounts by node. A plan that a search has
tried is taken back job by job, instead of a copy of the free amounts for each.
"""

from __future__ import annotations

import numpy as np

from ...heuristics.kernels.events.rules import Rules, rank, step
from ...heuristics.kernels.events.slices import (
    FULL,
    GOING,
    OVER,
    PENDING,
    Slices,
    choose,
    earliest_allowed,
    has_room,
    hold,
    let_go,
    set_running,
    slice_at,
)
from ...heuristics.kernels.events.state import DECISIONS, NOW, WAITING, State, TraceArrays, begin, compact, keep_places
from ...heuristics.kernels.profile import NEVER
from ...models.array_types import Ints
from ...models.compiled import compiled, internal
from .plans import (
    LAST,
    Known,
    Search,
    keep_order,
    last_that_fits,
    move_keys,
    new_known,
    new_search,
    not_before,
    observe,
    overdue_first,
    remember,
    try_change,
    with_start,
)


@compiled
def replay(trace: TraceArrays, state: State, rules: Rules, s: Slices, period: int, events: int) -> int:
    """Replay at most ``events`` events; return as ``followed.replay``."""
    clock = state.clock
    for _ in range(events):
        if s.number[PENDING] == 0 and not step(trace, state, period):
            return OVER
        s.number[PENDING] = 0
        if clock[WAITING] > 0:
            if not has_room(s, state):
                s.number[PENDING] = 1
                return FULL
            clock[DECISIONS] += 1
            _plan(s, trace, state, rules)
    return GOING


@internal
def _plan(s: Slices, trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision: place all waiting jobs anew, and start those whose start is now."""
    scale = observe(trace, state, rules.planning, rules.base)
    rank(state, rules.base, rules.slope, rules.dynamic)
    order, late = overdue_first(state, rules.planning)
    if last_that_fits(trace, state, order, 0, order.size - 1) < 0:
        return
    set_running(s, trace, state)
    if rules.planning.rounds > 0:
        _improve(s, trace, state, rules, order, late, scale)
    _place_next(s, trace, state, rules, order)
    compact(state)


@internal
def _place(s: Slices, known: Known, trace: TraceArrays, state: State, j: int, best: bool) -> int:
    """Place job j at its earliest start; return it in seconds (-1: none)."""
    kind = trace.kind[j]
    units = trace.units[j]
    duration = state.expected[j]
    first = not_before(known, kind, units, duration, state.clock[NOW])
    start = earliest_allowed(s, trace, state, j, first, LAST, NEVER)
    if start >= 0:
        keep_places(trace, state, j, choose(s, trace, state, j, slice_at(s, start), best))
        hold(s, trace, state, j, start)
    if trace.own[j] < 0 and trace.daily[j] < 0:  # else calendars may have delayed it
        remember(known, kind, units, duration, start if start >= 0 else LAST)
    return start


@internal
def _place_next(s: Slices, trace: TraceArrays, state: State, rules: Rules, order: Ints) -> None:
    """Place the jobs in this order; those whose start is now begin."""
    now = state.clock[NOW]
    known = new_known(state.room.size)
    last = last_that_fits(trace, state, order, 0, min(order.size, rules.candidates) - 1)
    i = 0
    while i <= last:
        j = order[i]
        start = _place(s, known, trace, state, j, rules.best)
        i += 1
        if start == now:
            begin(trace, state, j)
            last = last_that_fits(trace, state, order, i, last)


@internal
def _cost_of(
    s: Slices, trace: TraceArrays, state: State, rules: Rules, search: Search, order: Ints, most: float
) -> float:
    """Return ``search.cost_of`` of the plan of these jobs."""
    known = new_known(state.room.size)
    cost = 0.0
    placed = 0
    starts = np.empty(order.size, np.int64)
    for i in range(order.size):
        starts[i] = _place(s, known, trace, state, order[i], rules.best)
        placed += 1
        if starts[i] >= 0:
            cost = with_start(state, rules, search, cost, order[i], starts[i])
            if cost >= most:
                break
    for i in range(placed):
        if starts[i] >= 0:
            let_go(s, trace, state, order[i], starts[i])
    return cost


@internal
def _improve(s: Slices, trace: TraceArrays, state: State, rules: Rules, order: Ints, late: int, scale: float) -> None:
    """Improve the order of the first jobs, as ``search.improve``."""
    search = new_search(state, rules, order, late)
    if search.size < 2:
        return
    best = _cost_of(s, trace, state, rules, search, search.head, np.inf)
    better = False
    for _ in range(rules.planning.rounds):
        if try_change(search):
            cost = _cost_of(s, trace, state, rules, search, search.tried, best)
            if cost < best:
                best, better = cost, True
                keep_order(search)
    if better and not rules.dynamic:
        move_keys(state, rules.base, search.head, scale)
