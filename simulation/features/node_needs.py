"""The nodes that waiting jobs need, and the time at which each has to be on; compiled.

Waiting jobs are taken in the order of the queue; those whose start is planned are left out. Each is put on what is free: first on nodes that are on, then on nodes that boot, then on nodes that are off. These are
needed now. The first job that does not fit is put on what is free when the expected ends of running jobs give it enough,
apart from the jobs before it; its nodes are needed then, and later jobs fill what is left now. A job with a reservation
(conservative backfilling) needs the nodes of the reservation at its time. A job whose calendar is closed needs nodes when
it opens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.chunks import amount, row_of
from ...heuristics.kernels.events.fit import units_that_fit
from ...heuristics.kernels.events.state import NOW, RUNNING, WAITING, State, TraceArrays, allowed_from, may_start
from ...heuristics.kernels.profile import NEVER, Ints
from ...models.compiled import borrowing, compiled, internal_borrowing

Mask = NDArray[np.bool_]


@borrowing
def survey(trace: TraceArrays, state: State, used: Mask, until: Ints) -> None:
    """Mark the nodes on which jobs run, and set ``until`` to the latest of ``until`` and their expected ends."""
    for i in range(state.clock[RUNNING]):
        j = state.running[i]
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            used[state.place[k]] = True
            until[state.place[k]] = max(until[state.place[k]], state.running_end[i])


@internal_borrowing
def _put(free: Ints, request: Ints, units: int, rank: Ints, time: int, needed: Ints) -> int:
    """Put units on nodes, those of rank 0 first; return how many are left.

    The chosen nodes are needed at ``time``; with ``time`` -1, none is marked.
    """
    left = units
    for turn in range(3):
        for p in range(rank.size):
            if left > 0 and rank[p] == turn:
                count = units_that_fit(free[p], request, left)
                if count > 0:
                    left -= count
                    for r in range(request.size):
                        free[p, r] -= count * request[r]
                    if time >= 0:
                        needed[p] = min(needed[p], time)
    return left


@internal_borrowing
def _put_job(trace: TraceArrays, free: Ints, j: int, rank: Ints, time: int, needed: Ints) -> bool:
    """Put all chunks of a job on nodes, as ``_put``; return whether they fit."""
    left = _put(free, trace.request[j], trace.units[j], rank, time, needed)
    for row in range(trace.first_further[j], trace.first_further[j + 1]):
        left += _put(free, trace.further_request[row], trace.further_units[row], rank, time, needed)
    return left == 0


@internal_borrowing
def _copy(target: Ints, source: Ints) -> None:
    for p in range(target.shape[0]):
        for r in range(target.shape[1]):
            target[p, r] = source[p, r]


@internal_borrowing
def _wait_for_ends(trace: TraceArrays, state: State, j: int, then: Ints, trial: Ints, rank: Ints, needed: Ints) -> None:
    """Mark the nodes of a job that has to wait for the ends of running jobs.

    ``then``: what is free now, without other waiting jobs; it is changed. ``trial``: scratch.
    """
    now, i, n = state.clock[NOW], 0, state.clock[RUNNING]
    time = now
    while True:
        _copy(trial, then)
        if _put_job(trace, trial, j, rank, -1, needed):
            _put_job(trace, then, j, rank, time, needed)
            return
        if i == n:
            return
        time = max(state.running_end[i], now + 1)
        while i < n and max(state.running_end[i], now + 1) == time:
            k = state.running[i]
            for slot in range(trace.first[k], trace.first[k] + state.pieces[k]):
                row = row_of(trace, state, k, slot)
                for r in range(then.shape[1]):
                    then[state.place[slot], r] += state.share[slot] * amount(trace, k, row, r)
            i += 1


@compiled
def needs(trace: TraceArrays, state: State, back: Ints, rank: Ints, planned: Mask, strict: bool, needed: Ints) -> None:
    """Set ``needed`` to the times at which waiting jobs need nodes, where these are earlier.

    Parameters
    ----------
    trace, state
        The replay.
    back
        Amounts that each place has more when it is on, shape (places,): those that keep starts from nodes that are not.
    rank
        0: the node is on, 1: it boots, 2: it is off or shuts down; shape (places,). Other places have 0.
    planned
        Jobs whose start is planned, shape (jobs,).
    strict
        Whether the first job that does not fit blocks all later ones.
    needed
        In and out: seconds, shape (places,).
    """
    now, places, resources = state.clock[NOW], trace.capacity.shape[0], trace.capacity.shape[1]
    whole = np.empty((places, resources), np.int64)
    total = np.zeros(resources, np.int64)
    for p in range(places):
        for r in range(resources):
            whole[p, r] = state.free[p, r] + back[p]
            total[r] += max(0, whole[p, r])
    free, trial, waits = whole.copy(), np.empty_like(whole), False
    for i in range(state.clock[WAITING]):
        j = state.waiting[i]
        if planned[j]:
            continue
        if not may_start(trace, j, now):
            opens = allowed_from(trace, j, now)
            _copy(trial, whole)
            if opens < NEVER and _put_job(trace, trial, j, rank, -1, needed):
                _copy(trial, whole)
                _put_job(trace, trial, j, rank, opens, needed)
            continue
        if state.reserved[j] > now:
            for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
                needed[state.place[k]] = min(needed[state.place[k]], state.reserved[j])
            continue
        fits = True
        for r in range(resources):
            fits = fits and trace.units[j] * trace.request[j, r] <= total[r]
        if fits:
            _copy(trial, free)
            fits = _put_job(trace, trial, j, rank, -1, needed)
        if fits:
            _put_job(trace, free, j, rank, now, needed)
            for r in range(resources):
                total[r] -= trace.units[j] * trace.request[j, r]
        elif not waits:
            waits = True
            _wait_for_ends(trace, state, j, whole, trial, rank, needed)
            if strict:
                return
