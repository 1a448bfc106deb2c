"""A search for better plans: changes of the order in which jobs are placed; compiled.

The objective of a plan is the sum over the first ``depth`` jobs of its order of

    delay / duration + delay / mean duration + LATE * max(0, start - due) / mean duration

with the expected durations, the mean over these jobs, delay = start - now, and the time ``due`` from which a job is
overdue: slowdown and wait count alike, and waits near the guard count more. Each round moves one job to another place of
the order, places all of them, and keeps the order if the plan is better. Jobs that are overdue stay first. The keys of
the jobs move with them, so that the next decision begins with the improved order.
"""

from __future__ import annotations

import numpy as np

from ....heuristics.kernels.earliest import Scratch, new_scratch
from ....heuristics.kernels.events.rules import Rules
from ....heuristics.kernels.events.sorting import sort_by
from ....heuristics.kernels.events.state import DECISIONS, NOW, WAITING, State, TraceArrays
from ....heuristics.kernels.profile import Floats, Ints, Profile
from ....models.compiled import internal, internal_borrowing
from .dominance import new_known
from .fair_waits import due
from .placing import place_one

LATE = 3.0  # weight of a second after ``due``

_new_scratch = internal(new_scratch)


@internal_borrowing
def _draw(random: Ints, size: int) -> int:
    """Return a number below ``size`` (a linear congruential generator modulo 2**48, its upper 31 bits)."""
    random[0] = (random[0] * 25214903917 + 11) & 281474976710655
    return int((random[0] >> 17) % size)


@internal
def _copy(profile: Profile) -> Profile:
    """Return a copy of the profile."""
    return Profile(profile.length.copy(), profile.time.copy(), profile.free.copy())


@internal
def cost_of(
    profile: Profile, s: Scratch, trace: TraceArrays, state: State, rules: Rules, order: Ints, mean: float, most: float
) -> float:
    """Return the objective of the plan of these jobs, or a number of at least ``most`` if it is not below ``most``."""
    planned, known, cost = _copy(profile), new_known(state.room.size), 0.0
    for i in range(order.size):
        j = order[i]
        planned, start = place_one(planned, s, known, trace, state, j, rules.best)
        if start < 0:  # it never starts, in every order
            continue
        delay = start - state.clock[NOW]
        cost += delay / max(1, state.expected[j]) + delay / mean
        cost += LATE * max(0.0, start - due(state, rules.planning, j)) / mean
        if cost >= most:
            break
    return cost


@internal
def improve(
    profile: Profile, trace: TraceArrays, state: State, rules: Rules, order: Ints, late: int, scale: float
) -> None:
    """Improve the order of the first jobs after the ``late`` ones that are overdue.

    ``order`` and the keys of the jobs are changed, also the work from which keys come (``scale``, see ``observe``); the
    profile is not.
    """
    size = min(order.size - late, rules.planning.depth)
    if size < 2:
        return
    s, head, tried = _new_scratch(trace.capacity.shape[0]), order[: late + size], np.empty(late + size, np.int64)
    random, mean = np.empty(1, np.int64), 0.0
    random[0] = rules.planning.seed * 7919 + state.clock[DECISIONS] * 104729 + 12345
    for i in range(head.size):
        mean += max(1, state.expected[head[i]]) / head.size
    best, better = cost_of(profile, s, trace, state, rules, head, mean, np.inf), False
    for _ in range(rules.planning.rounds):
        a, b = late + _draw(random, size), late + _draw(random, size)
        if a == b:
            continue
        for i in range(head.size):
            tried[i] = head[i]
        step = 1 if b > a else -1
        for i in range(a, b, step):
            tried[i] = tried[i + step]
        tried[b] = head[a]
        cost = cost_of(profile, s, trace, state, rules, tried, mean, best)
        if cost < best:
            best, better = cost, True
            for i in range(head.size):
                head[i] = tried[i]
    if better and not rules.dynamic:
        _move_keys(state, rules.base, head, scale)


@internal
def _move_keys(state: State, base: Floats, head: Ints, scale: float) -> None:
    """Give the smallest of the keys of these jobs to the first one, and so on, and sort the queue by the keys."""
    by_key = head.copy()
    sort_by(by_key, by_key.size, base)
    keys = np.empty(head.size, np.float64)
    for i in range(head.size):
        keys[i] = base[by_key[i]]
    for i in range(head.size):
        base[head[i]] = keys[i]
        if scale > 0:
            state.work[head[i]] = (keys[i] - state.seen[head[i]]) / scale
    sort_by(state.waiting, state.clock[WAITING], base)
