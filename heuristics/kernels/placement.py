"""Compiled kernels: jobs placed one after another, each at its earliest start (thesis 6.6, algorithm 5); objectives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import borrowing, compiled
from .aggregate import Aggregate, new_aggregate, possible, take
from .earliest import Scratch, choose, earliest, fill_most, new_scratch
from .earnings import Ledger, profit
from .profile import NEVER, Floats, Ints, Machine, Profile, grown, new_profile, occupy

Bools = NDArray[np.bool_]

KINDS = 1024  # so that asking what is hopeless costs no more than a search
EXCESS, LATE, LAST_END, EARNINGS = 0, 1, 2, 3
POSTPONED = -1  # the start of a job that has none: it waits until nothing is earned any more


class Jobs(NamedTuple):
    """What the kernels know of the jobs: arrays over jobs, then over windows. Times in seconds.

    Job j may start in ``[lo[w], hi[w]]`` for w in ``window[j] .. window[j + 1] - 1`` of ``group[j]``, from ``release[j]``
    to ``latest[j]``. Its units are ``first_unit[j] .. first_unit[j + 1] - 1`` of all units.
    """

    release: Ints
    latest: Ints
    duration: Ints
    units: Ints
    request: Ints  # jobs x resources, per unit
    first_unit: Ints
    kind: Ints  # jobs of equal or similar units, duration and request
    group: Ints  # of windows
    first_window: Ints  # of each group, and the end of the last one
    lo: Ints
    hi: Ints


class Costs(NamedTuple):
    """An objective of starts: over jobs, by ``mode``, of wait = start - submit.

    EXCESS: sum of weight * max(0, wait - grace) + constant; LATE: how many have wait > grace; LAST_END: the last end,
    at least ``constant``; EARNINGS: less the profit by the ``ledger``, which is not a sum over jobs.
    """

    mode: int
    submit: Ints
    weight: Floats
    grace: Ints
    constant: float
    ledger: Ledger
    may_postpone: Bools  # whether a job may be left without a start; none, unless a search allows it


class Hopeless(NamedTuple):
    """Of kinds of jobs: [begin, end) where none of the kind can start, as long as nothing is taken out of the profile.

    It holds for every job that is as wide and as long as the kind, or more.
    """

    units: Ints
    duration: Ints
    request: Ints
    begin: Ints
    end: Ints


@compiled
def put(profile: Profile, jobs: Jobs, j: int, start: int, chosen: Ints, sign: int) -> Profile:
    """Occupy (sign 1) or free (sign -1) what job j takes on its chosen nodes; the profile may have grown."""
    end = start + jobs.duration[j]
    k = 0
    while k < chosen.size and end > start:
        n, units = chosen[k], 1
        while k + units < chosen.size and chosen[k + units] == n:
            units += 1
        if profile.length[n] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        occupy(profile, n, start, end, jobs.request[j], sign * units)
        k += units
    return profile


@compiled
def new_hopeless(jobs: Jobs, kinds: int) -> Hopeless:
    """Nothing is known yet, of so many kinds of jobs at most."""
    size = min(kinds, jobs.kind.max() + 1) if jobs.kind.size else 0
    known = Hopeless(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros((size, jobs.request.shape[1]), np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )
    for j in range(jobs.kind.size):
        k = jobs.kind[j]
        if k < size:  # the kind is as long, as wide as any of its jobs
            known.units[k] = max(known.units[k], jobs.units[j])
            known.duration[k] = max(known.duration[k], jobs.duration[j])
            known.request[k] = np.maximum(known.request[k], jobs.request[j])
    return known


@borrowing
def _covers(known: Hopeless, k: int, jobs: Jobs, j: int) -> bool:
    """Whether job j is as wide and as long as kind k, or more."""
    if known.units[k] > jobs.units[j] or known.duration[k] > jobs.duration[j]:
        return False
    for r in range(jobs.request.shape[1]):
        if known.request[k, r] > jobs.request[j, r]:
            return False
    return True


@borrowing
def _skip(known: Hopeless, jobs: Jobs, j: int, t: int) -> tuple[int, int]:
    """The first moment from t on that is not known to be hopeless for job j, and the next one that is."""
    moved = True
    while moved:
        moved = False
        following = NEVER
        for k in range(known.end.size):
            if known.end[k] > t and known.begin[k] < following and _covers(known, k, jobs, j):
                if known.begin[k] <= t:
                    t, moved = known.end[k], True
                else:
                    following = known.begin[k]
    return t, following


@borrowing
def _note(known: Hopeless, k: int, begin: int, end: int) -> None:
    """No job of kind k can start in [begin, end)."""
    if k >= known.end.size or end <= begin:
        return
    if begin <= known.end[k] and known.begin[k] <= end and known.end[k] > known.begin[k]:
        known.begin[k], known.end[k] = min(begin, known.begin[k]), max(end, known.end[k])
    elif end - begin > known.end[k] - known.begin[k]:
        known.begin[k], known.end[k] = begin, end


@borrowing
def _search(
    profile: Profile, s: Scratch, known: Hopeless, a: Aggregate | None, jobs: Jobs, j: int, lo: int, hi: int
) -> int:
    """The earliest start of job j in [lo, hi], or -1; passes over what is known to be hopeless, and adds to it."""
    request, units, duration = jobs.request[j], jobs.units[j], jobs.duration[j]
    t, start = lo, -1
    while start < 0:
        t, following = _skip(known, jobs, j, t)
        if a is not None:
            t = possible(a, j, units, duration, t)
        if t > hi:
            break
        if t < following:
            start = earliest(profile, s, a, j, request, units, duration, t, min(hi, following - 1))
            t = following
    _note(known, jobs.kind[j], lo, start if start >= 0 else hi + 1)
    return start


@compiled
def place(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    s: Scratch,
    known: Hopeless,
    a: Aggregate | None,
    j: int,
    not_before: int,
    chosen: Ints,
) -> tuple[int, Profile]:
    """Put job j at its earliest feasible start from ``not_before`` on: the start (-1 if there is none) and the profile.

    ``a``: a bound on what fits, as long as no job is taken out of the profile; numba compiles the case without it apart.
    """
    fill_most(machine, s, jobs.request[j], jobs.units[j])
    start = -1
    for w in range(jobs.first_window[jobs.group[j]], jobs.first_window[jobs.group[j] + 1]):
        lo = max(jobs.lo[w], jobs.release[j], not_before)
        hi = min(jobs.hi[w], jobs.latest[j])
        if lo <= hi:
            if jobs.duration[j] == 0:  # it occupies nothing
                start = lo
                s.fits[:] = s.most
                break
            start = _search(profile, s, known, a, jobs, j, lo, hi)
            if start >= 0:
                break
    if start >= 0:
        choose(profile, machine, s, jobs.units[j], start, chosen)
        profile = put(profile, jobs, j, start, chosen, 1)
        if a is not None:
            take(a, profile, jobs.request[j], start, start + jobs.duration[j], chosen)
    return start, profile


@compiled
def build(
    machine: Machine,
    jobs: Jobs,
    may_postpone: Bools,
    order: Ints,
    not_before: Ints,
    starts: Ints,
    nodes: Ints,
    stop: Ints,
) -> int:
    """Place the jobs in this order; fills their ``starts`` and the ``nodes`` of their units.

    A job that finds no place is parked, if it may be. The number of jobs that were seen to: less than all, if the job
    ``order[number]`` found no place and needs one; -1 where ``stop`` (see ``Clock``) came first.
    """
    profile = new_profile(machine, 64)
    scratch, known = new_scratch(machine.capacity.shape[0]), new_hopeless(jobs, KINDS)
    aggregate = new_aggregate(machine, jobs, profile)
    for k in range(order.size):
        if stop[0] != 0:
            return -1
        j = order[k]
        chosen = nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        starts[j], profile = place(profile, machine, jobs, scratch, known, aggregate, j, not_before[j], chosen)
        if starts[j] == POSTPONED and not may_postpone[j]:
            return k
    return order.size


@compiled
def cost(costs: Costs, jobs: Jobs, j: int, start: int) -> float:
    """What one job adds to the objective, or its end where that is the last end."""
    wait = start - costs.submit[j]
    if costs.mode == EXCESS:
        return float(costs.weight[j] * max(0, wait - costs.grace[j]))
    if costs.mode == LATE:
        return 1.0 if wait > costs.grace[j] else 0.0
    return float(start + jobs.duration[j])


@compiled
def objective(costs: Costs, jobs: Jobs, starts: Ints) -> float:
    """The objective of all starts, which is minimized."""
    if costs.mode == EARNINGS:
        return -profit(costs.ledger, jobs.duration, starts, np.empty(costs.ledger.euro_per_joule.size))
    total = costs.constant
    for j in range(starts.size):
        one = cost(costs, jobs, j, starts[j])
        total = max(total, one) if costs.mode == LAST_END else total + one
    return total
