"""Placement of jobs one by one, each at its earliest feasible start [Bridi2018, 6.6], algorithm 5.

For each job: go through its start windows; in each, find the earliest start at which all units fit (``earliest``),
skipping times that are known to be hopeless (``Hopeless``) or excluded by the bound of the whole machine
(``aggregate``); choose nodes by best fit; subtract the job from the profile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.compiled import compiled, internal_borrowing, native
from ...models.schedule_arrays import POSTPONED as POSTPONED
from .aggregate import Aggregate, Levels, levels, new_aggregate, possible, take
from .by_address import by_address
from .costs import EARNINGS, Costs, Jobs, cost, together
from .earliest import Scratch, choose, earliest, fill_most, new_scratch
from .profile import NEVER, Floats, Ints, Machine, Profile, grown, new_profile, occupy

KINDS = 1024  # with more kinds, the test for hopeless times would cost more than a search
SAME = 1e-12  # relative: smaller differences of costs are rounding errors


@by_address
class Hopeless(NamedTuple):
    """Per kind of jobs, a time range [begin, end) in which no job of the kind can start.

    It is valid as long as no job is removed from the profile, and for all jobs that are at least as wide and as long as
    the kind.

    Parameters
    ----------
    units, duration
        Largest units and duration (seconds) of the kind's jobs, shape (kinds,).
    request
        Largest amounts per unit of the kind's jobs, shape (kinds, resources).
    begin, end
        The range in seconds, shape (kinds,); empty if end <= begin.
    """

    units: Ints
    duration: Ints
    request: Ints
    begin: Ints
    end: Ints


@native
def put(profile: Profile, jobs: Jobs, j: int, start: int, chosen: Ints, sign: int) -> Profile:
    """Subtract job j from the profile at its start (sign 1) or add it again (sign -1); return the profile, maybe grown.

    Parameters
    ----------
    profile
        The profile; changed in place, replaced by a larger one if it is full.
    jobs
        The jobs.
    j
        Index of the job.
    start
        Start in seconds.
    chosen
        Node of each unit of the job, shape (units,); units on one node are neighbours.
    sign
        1 or -1.
    """
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


@native
def put_some(profile: Profile, jobs: Jobs, order: Ints, starts: Ints, nodes: Ints, sign: int) -> Profile:
    """Subtract jobs from the profile where they are scheduled (sign 1) or add them again (sign -1).

    Parameters
    ----------
    profile
        The profile; changed in place, replaced by a larger one if it is full.
    jobs
        The jobs.
    order
        Indices of the jobs to put; those that are postponed are skipped.
    starts, nodes
        Start of each job in seconds, shape (jobs,); node of each unit, shape (units of all jobs,).
    sign
        1 or -1.
    """
    for k in range(order.size):
        j = order[k]
        if starts[j] != POSTPONED:
            chosen = nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
            profile = put(profile, jobs, j, starts[j], chosen, sign)
    return profile


@compiled
def put_all(profile: Profile, jobs: Jobs, order: Ints, starts: Ints, nodes: Ints, sign: int) -> Profile:
    """Return ``put_some`` for calls from Python."""
    return put_some(profile, jobs, order, starts, nodes, sign)


def new_hopeless(jobs: Jobs, kinds: int) -> Hopeless:
    """Return empty ranges for at most ``kinds`` kinds of jobs."""
    size = min(kinds, int(jobs.kind.max(initial=-1)) + 1)
    known = Hopeless(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros((size, jobs.request.shape[1]), np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )
    some = np.flatnonzero(jobs.kind < size)
    some = some[np.argsort(jobs.kind[some], kind="stable")]
    kind, first = np.unique(jobs.kind[some], return_index=True)
    if kind.size:  # the kind has the maxima of its jobs, so that a job which covers the kind is at least as large
        known.units[kind] = np.maximum.reduceat(jobs.units[some], first)
        known.duration[kind] = np.maximum.reduceat(jobs.duration[some], first)
        known.request[kind] = np.maximum.reduceat(jobs.request[some], first)
    return known


@internal_borrowing
def _covers(known: Hopeless, k: int, jobs: Jobs, j: int) -> bool:
    """Return whether job j is at least as wide and as long as kind k."""
    if known.units[k] > jobs.units[j] or known.duration[k] > jobs.duration[j]:
        return False
    for r in range(jobs.request.shape[1]):
        if known.request[k, r] > jobs.request[j, r]:
            return False
    return True


@internal_borrowing
def _skip(known: Hopeless, jobs: Jobs, j: int, t: int) -> tuple[int, int]:
    """Return the first time from t on that is not hopeless for job j, and the begin of the next hopeless range."""
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


@internal_borrowing
def _note(known: Hopeless, k: int, begin: int, end: int) -> None:
    """Note that no job of kind k can start in [begin, end): extend the kind's range, or keep the longer one."""
    if k >= known.end.size or end <= begin:
        return
    if begin <= known.end[k] and known.begin[k] <= end and known.end[k] > known.begin[k]:
        known.begin[k], known.end[k] = min(begin, known.begin[k]), max(end, known.end[k])
    elif end - begin > known.end[k] - known.begin[k]:
        known.begin[k], known.end[k] = begin, end


@internal_borrowing
def _search(profile: Profile, s: Scratch, known: Hopeless, a: Aggregate, jobs: Jobs, j: int, lo: int, hi: int) -> int:
    """Return the earliest start of job j in [lo, hi], or -1; skips hopeless times and notes new ones."""
    request, units, duration = jobs.request[j], jobs.units[j], jobs.duration[j]
    t, start = lo, -1
    while start < 0:
        t, following = _skip(known, jobs, j, t)
        t = possible(a, j, units, duration, t)
        if t > hi:
            break
        if t < following:
            start = earliest(profile, s, a, j, request, units, duration, t, min(hi, following - 1))
            t = following
    _note(known, jobs.kind[j], lo, start if start >= 0 else hi + 1)
    return start


@native
def place(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    s: Scratch,
    known: Hopeless,
    a: Aggregate,
    j: int,
    not_before: int,
    chosen: Ints,
) -> tuple[int, Profile]:
    """Place job j at its earliest feasible start from ``not_before`` on.

    Parameters
    ----------
    profile
        The profile.
    machine, jobs
        The nodes and the jobs.
    s
        Scratch arrays.
    known
        Hopeless ranges of the kinds; extended.
    a
        Bound of the whole machine; it is valid as long as no job is removed from the profile, else ``no_aggregate``.
    j
        Index of the job.
    not_before
        Earliest start in seconds.
    chosen
        Output: node of each unit of the job, shape (units,).

    Returns
    -------
    tuple
        The start in seconds (-1: no feasible start) and the profile.
    """
    fill_most(machine, s, jobs.request[j], jobs.units[j])
    start = -1
    for w in range(jobs.first_window[jobs.group[j]], jobs.first_window[jobs.group[j] + 1]):
        lo = max(jobs.lo[w], jobs.release[j], not_before)
        hi = min(jobs.hi[w], jobs.latest[j])
        if lo <= hi:
            if jobs.duration[j] == 0:  # such a job occupies nothing
                start = lo
                for n in range(s.most.size):
                    s.fits[n] = s.most[n]
                break
            start = _search(profile, s, known, a, jobs, j, lo, hi)
            if start >= 0:
                break
    if start >= 0:
        choose(profile, machine, s, jobs.units[j], start, chosen)
        profile = put(profile, jobs, j, start, chosen, 1)
        take(a, profile, jobs.request[j], start, start + jobs.duration[j], chosen)
    return start, profile


class Same(NamedTuple):
    """What the placements of one problem share in all orders: the kinds of jobs, and the levels of ``aggregate``."""

    kinds: Hopeless
    levels: Levels


def same_for(machine: Machine, jobs: Jobs) -> Same:
    """Return what all orders share."""
    return Same(new_hopeless(jobs, KINDS), levels(machine, jobs))


def build(
    machine: Machine,
    jobs: Jobs,
    same: Same,
    costs: Costs,
    order: Ints,
    not_before: Ints,
    starts: Ints,
    nodes: Ints,
    stop: Ints,
) -> int:
    """Place the jobs in the given order; fill ``starts`` and ``nodes``.

    A job without a feasible start is postponed if it may be.

    Parameters
    ----------
    machine, jobs
        The nodes and the jobs.
    same
        What all orders share.
    costs
        The objective: which jobs may be postponed.
    order
        Indices of the jobs, shape (jobs,).
    not_before
        Earliest start of each job in seconds, shape (jobs,).
    starts
        Output: start of each job in seconds, ``POSTPONED`` for postponed jobs, shape (jobs,).
    nodes
        Output: node of each unit, shape (units of all jobs,).
    stop
        ``stop`` of a ``Clock``, shape (1,).

    Returns
    -------
    int
        Number of jobs that were placed or postponed; if it is less than all jobs, job ``order[number]`` has no feasible
        start. -1 if ``stop`` was set.
    """
    profile = new_profile(machine, 64)
    scratch, size = new_scratch(machine.capacity.shape[0]), same.kinds.end.size
    known = same.kinds._replace(begin=np.zeros(size, np.int64), end=np.zeros(size, np.int64))
    aggregate = new_aggregate(machine, jobs, profile, same.levels)
    _, placed, _ = fill(
        profile, machine, jobs, costs, scratch, known, aggregate, order, not_before, starts, nodes, 0, order.size,
        -np.inf, np.zeros(order.size + 1), np.inf, stop,
    )  # fmt: skip
    return int(placed)


@compiled
def fill(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    s: Scratch,
    known: Hopeless,
    a: Aggregate,
    order: Ints,
    bound: Ints,
    starts: Ints,
    nodes: Ints,
    first: int,
    last: int,
    spent: float,
    rest: Floats,
    most: float,
    stop: Ints,
) -> tuple[Profile, int, float]:
    """Place the jobs ``order[first:last]``, not before their bounds (seconds).

    Returns the profile, the number of placed jobs and their total cost. Stops before a job that has no place, or when
    the cost plus ``rest`` exceeds ``most`` (not for profits, which are no sum over jobs). The number is -1 if the
    clock's ``stop`` is set.
    """
    for k in range(first, last):
        if stop[0] != 0:
            return profile, -1, spent
        j = order[k]
        chosen = nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        starts[j], profile = place(profile, machine, jobs, s, known, a, j, bound[j], chosen)
        if starts[j] == POSTPONED:
            if costs.may_postpone[j]:
                continue
            return profile, k, spent
        if costs.mode != EARNINGS:
            spent = together(costs, spent, cost(costs, jobs, j, starts[j]))
            if together(costs, spent, rest[k + 1]) > most + SAME * abs(most):
                return profile, k, spent
    return profile, last, spent
