"""Placement of jobs one by one, each at its earliest feasible start [Bridi2018, 6.6], algorithm 5.

For each job: go through its start windows; in each, find the earliest start at which all units fit (``earliest``),
skipping times that are known to be hopeless (``Hopeless``) or excluded by the bound of the whole machine
(``aggregate``); choose nodes by best fit; subtract the job from the profile. All chunks of a heterogeneous job have the
same start (``place_together``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.compiled import by_address, compiled, internal, internal_borrowing, native
from ...models.schedule_arrays import POSTPONED as POSTPONED
from .aggregate import Aggregate, Levels, levels, new_aggregate, possible, take
from .costs import EARNINGS, LAST_END, Costs, Jobs, cost, together
from .earliest import Scratch, choose, confine, earliest, fill_most, fit_all, new_scratch
from .profile import NEVER, Machine, Profile, grown, licensed, new_profile, occupy, put_licences, put_units, segment

# --- Time ranges in which no job of a kind can start, noted while jobs are placed.


@by_address
class Hopeless(NamedTuple):
    """Per kind of jobs, a time range [begin, end) in which no job of the kind can start.

    It is valid as long as no job is removed from the profile, and for all jobs that are at least as wide and as long as
    the kind, on the same nodes or on some of them. The jobs of a kind may use the same nodes (``node_set``), with the same
    most units on each of them (``per_node``).

    Parameters
    ----------
    units, duration
        Largest units and duration (seconds) of the kind's jobs, shape (kinds,).
    request
        Largest amounts per unit of the kind's jobs, shape (kinds, resources).
    first_smaller, smaller
        Per kind, the kinds that some job of it may cover: ``smaller[first_smaller[k]:first_smaller[k + 1]]``; for the jobs
        of no kind, with the index ``kinds``, all kinds. Shapes (kinds + 2,) and (entries,).
    begin, end
        The range in seconds, shape (kinds,); empty if end <= begin.
    """

    units: Ints
    duration: Ints
    request: Ints
    first_smaller: Ints
    smaller: Ints
    begin: Ints
    end: Ints


def new_hopeless(jobs: Jobs, kinds: int) -> Hopeless:
    """Return empty ranges for at most ``kinds`` kinds of jobs."""
    size = min(kinds, int(jobs.kind.max(initial=-1)) + 1)
    units = np.zeros(size, np.int64)
    duration = np.zeros(size, np.int64)
    request = np.zeros((size, jobs.request.shape[1]), np.int64)
    some = np.flatnonzero(jobs.kind < size)
    some = some[np.argsort(jobs.kind[some], kind="stable")]
    kind, first = np.unique(jobs.kind[some], return_index=True)
    if kind.size:  # the kind has the maxima of its jobs, so that a job which covers the kind is at least as large
        units[kind] = np.maximum.reduceat(jobs.units[some], first)
        duration[kind] = np.maximum.reduceat(jobs.duration[some], first)
        request[kind] = np.maximum.reduceat(jobs.request[some], first)
    node_set = np.zeros(size, np.int64)
    per_node = np.full(size, NEVER)
    node_set[kind], per_node[kind] = jobs.node_set[some][first], jobs.per_node[some][first]
    smaller = _smaller(units, duration, request, node_set, per_node)
    return Hopeless(units, duration, request, *smaller, np.zeros(size, np.int64), np.zeros(size, np.int64))


def _smaller(units: Ints, duration: Ints, request: Ints, node_set: Ints, per_node: Ints) -> tuple[Ints, Ints]:
    """Return ``first_smaller`` and ``smaller`` of ``Hopeless``."""
    size = units.size
    covered = np.ones((size + 1, size), np.bool_)  # the last row is that of the jobs of no kind
    covered[size] = (node_set == 0) & (per_node == NEVER)
    for column in (units, duration, *request.T):
        covered[:size] &= column[:, None] >= column
    covered[:size] &= (node_set == 0) | (node_set[:, None] == node_set)
    covered[:size] &= per_node[:, None] <= per_node
    row, smaller = np.nonzero(covered)
    return np.searchsorted(row, np.arange(size + 2)).astype(np.int64), smaller.astype(np.int64)


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
def skip(known: Hopeless, jobs: Jobs, j: int, t: int) -> tuple[int, int]:
    """Return the first time from t on that is not hopeless for job j, and the begin of the next hopeless range."""
    kind = min(jobs.kind[j], known.end.size)
    moved = True
    while moved:
        moved = False
        following = NEVER
        for x in range(known.first_smaller[kind], known.first_smaller[kind + 1]):
            k = known.smaller[x]
            if known.end[k] > t and known.begin[k] < following and _covers(known, k, jobs, j):
                if known.begin[k] <= t:
                    t, moved = known.end[k], True
                else:
                    following = known.begin[k]
    return t, following


@internal_borrowing
def note(known: Hopeless, k: int, begin: int, end: int) -> None:
    """Note that no job of kind k can start in [begin, end): extend the kind's range, or keep the longer one."""
    if k >= known.end.size or end <= begin:
        return
    if begin <= known.end[k] and known.begin[k] <= end and known.end[k] > known.begin[k]:
        known.begin[k], known.end[k] = min(begin, known.begin[k]), max(end, known.end[k])
    elif end - begin > known.end[k] - known.begin[k]:
        known.begin[k], known.end[k] = begin, end


# --- The placement of a heterogeneous job: all its chunks at the same start.
#
# 1. Go to the earliest time at which each chunk fits alone.
# 2. Place the chunks one after the other at this time, each by best fit beside those before it. Begin with each of them in
#    turn until all fit.
# 3. If no order succeeds, go to the next breakpoint of any node, and back to step 1.
#
# No earlier start is missed, except where the chunks would fit on nodes that best fit does not choose: whether chunks fit
# together is a packing problem.


@internal_borrowing
def next_change(profile: Profile, t: int) -> int:
    """Return the first breakpoint of any node after t; NEVER if there is none."""
    time_of_change = NEVER
    for n in range(profile.length.size):
        i = segment(profile, n, t) + 1
        if i < profile.length[n] and t < profile.time[n, i] < time_of_change:
            time_of_change = profile.time[n, i]
    return time_of_change


@internal_borrowing
def _units_of(jobs: Jobs, j: int, c: int) -> int:
    """Return the units of chunk c of job j."""
    return int(jobs.units[j] if c == 0 else jobs.further_units[jobs.first_further[j] + c - 1])


@internal_borrowing
def _each_alone(
    profile: Profile, machine: Machine, jobs: Jobs, s: Scratch, a: Aggregate, j: int, t: int, hi: int
) -> int:
    """Return the earliest start in [t, hi] at which each chunk of job j fits alone; -1 if there is none."""
    first = jobs.first_further[j]
    last = jobs.first_further[j + 1]
    duration = jobs.duration[j]
    while True:
        before = t
        fill_most(machine, s, jobs.request[j], jobs.units[j])
        confine(machine, s, jobs, j)
        t = earliest(profile, s, a, j, jobs.request[j], jobs.units[j], duration, t, hi)
        for c in range(first, last):
            if t < 0:
                return -1
            request, units = jobs.further_request[c], jobs.further_units[c]
            fill_most(machine, s, request, units)
            confine(machine, s, jobs, j)
            t = earliest(profile, s, a, jobs.release.size + c, request, units, duration, t, hi)
        if t >= 0 and jobs.licences.shape[1] > 0:
            t = licensed(profile, jobs.licences[j], duration, t, hi)
        if t < 0 or t == before:
            return t


@internal
def _put_chunk(profile: Profile, jobs: Jobs, j: int, c: int, start: int, chosen: Ints, sign: int) -> Profile:
    """Subtract (sign 1) or add again (-1) the units of chunk c, which are at their nodes in ``chosen``."""
    at = 0
    for before in range(c):
        at += _units_of(jobs, j, before)
    end = start + jobs.duration[j]
    nodes = chosen[at : at + _units_of(jobs, j, c)]
    if c == 0 and jobs.licences.shape[1] > 0:
        profile = put_licences(profile, jobs.licences[j], start, end, sign)
    if c == 0:
        return put_units(profile, jobs.request[j], start, end, nodes, sign)
    return put_units(profile, jobs.further_request[jobs.first_further[j] + c - 1], start, end, nodes, sign)


@internal
def _at(
    profile: Profile, machine: Machine, jobs: Jobs, s: Scratch, a: Aggregate, j: int, begin: int, t: int, chosen: Ints
) -> tuple[bool, Profile]:
    """Put the chunks into the profile at time t, from chunk ``begin`` on in turn; if one does not fit, put none."""
    chunks = jobs.first_further[j + 1] - jobs.first_further[j] + 1
    for k in range(chunks):
        c = (begin + k) % chunks
        at = 0
        for before in range(c):
            at += _units_of(jobs, j, before)
        row = j if c == 0 else jobs.first_further[j] + c - 1
        request = jobs.request[row] if c == 0 else jobs.further_request[row]
        units = _units_of(jobs, j, c)
        fill_most(machine, s, request, units)
        confine(machine, s, jobs, j)
        fits = t
        if jobs.duration[j] > 0:
            bound = row if c == 0 else jobs.release.size + row
            fits = earliest(profile, s, a, bound, request, units, jobs.duration[j], t, t)
        else:  # such a job occupies nothing
            fit_all(profile, s, t)
        if fits != t:
            for done in range(k):
                profile = _put_chunk(profile, jobs, j, (begin + done) % chunks, t, chosen, -1)
            return False, profile
        choose(profile, machine, s, units, t, chosen[at : at + units])
        profile = _put_chunk(profile, jobs, j, c, t, chosen, 1)
    return True, profile


@native
def count(profile: Profile, jobs: Jobs, a: Aggregate, j: int, start: int, chosen: Ints) -> Profile:
    """Subtract a job that is in the profile from the bound of the whole machine, chunk after chunk."""
    if a.groups == 0:
        return profile
    chunks = jobs.first_further[j + 1] - jobs.first_further[j] + 1
    for c in range(chunks):
        profile = _put_chunk(profile, jobs, j, c, start, chosen, -1)
    at = 0
    for c in range(chunks):
        profile = _put_chunk(profile, jobs, j, c, start, chosen, 1)
        nodes = chosen[at : at + _units_of(jobs, j, c)]
        at += nodes.size
        if c == 0:
            take(a, profile, jobs.request[j], start, start + jobs.duration[j], nodes, 1)
        else:
            row = jobs.first_further[j] + c - 1
            take(a, profile, jobs.further_request[row], start, start + jobs.duration[j], nodes, 1)
    return profile


@internal
def place_together(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    s: Scratch,
    a: Aggregate,
    j: int,
    not_before: int,
    not_after: int,
    chosen: Ints,
) -> tuple[int, Profile]:
    """Place heterogeneous job j; parameters and results are those of ``placement.place``."""
    chunks = jobs.first_further[j + 1] - jobs.first_further[j] + 1
    for w in range(jobs.first_window[jobs.group[j]], jobs.first_window[jobs.group[j] + 1]):
        t = max(jobs.lo[w], jobs.release[j], not_before)
        hi = min(jobs.hi[w], jobs.latest[j], not_after)
        while t <= hi:
            if jobs.duration[j] > 0:
                t = _each_alone(profile, machine, jobs, s, a, j, t, hi)
                if t < 0:
                    break
            for begin in range(chunks):
                placed, profile = _at(profile, machine, jobs, s, a, j, begin, t, chosen)
                if placed:
                    return t, count(profile, jobs, a, j, t, chosen)
            t = next_change(profile, t)
    return -1, profile


KINDS = 1024  # with more kinds, the test for hopeless times would cost more than a search
SAME = 1e-12  # relative: smaller differences of costs are rounding errors


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
        Node of each unit of the job, shape (units,); units of a chunk on one node are neighbours.
    sign
        1 or -1.
    """
    end = start + jobs.duration[j]
    k = 0
    c = jobs.first_further[j]
    request, left = jobs.request[j], jobs.units[j]  # of the chunk
    while k < chosen.size and end > start:
        n, units = chosen[k], 1
        while units < left and chosen[k + units] == n:
            units += 1
        if profile.length[n] + 2 > profile.time.shape[1]:
            profile = grown(profile)
        occupy(profile, n, start, end, request, sign * units)
        k = k + units
        left = left - units
        if left == 0 and c < jobs.first_further[j + 1]:
            request, left = jobs.further_request[c], jobs.further_units[c]
            c += 1
    if jobs.licences.shape[1] > 0:
        profile = put_licences(profile, jobs.licences[j], start, end, sign)
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


@native
def put_counted(profile: Profile, jobs: Jobs, a: Aggregate, j: int, start: int, chosen: Ints) -> Profile:
    """Subtract job j from the profile and from the bound of the whole machine; parameters as for ``put``."""
    profile = put(profile, jobs, j, start, chosen, 1)
    if jobs.first_further[j] < jobs.first_further[j + 1]:
        return count(profile, jobs, a, j, start, chosen)
    take(a, profile, jobs.request[j], start, start + jobs.duration[j], chosen, 1)
    return profile


@internal
def take_counted(profile: Profile, jobs: Jobs, a: Aggregate, j: int, start: int, chosen: Ints) -> Profile:
    """Remove job j from the bound of the whole machine and from the profile; parameters as for ``put``.

    The bound of a problem with heterogeneous jobs must be ``no_aggregate``.
    """
    take(a, profile, jobs.request[j], start, start + jobs.duration[j], chosen, -1)
    return put(profile, jobs, j, start, chosen, -1)


@internal_borrowing
def _search(profile: Profile, s: Scratch, known: Hopeless, a: Aggregate, jobs: Jobs, j: int, lo: int, hi: int) -> int:
    """Return the earliest start of job j in [lo, hi], or -1; skips hopeless times and notes new ones."""
    request = jobs.request[j]
    units = jobs.units[j]
    duration = jobs.duration[j]
    t, start = lo, -1
    while start < 0:
        t, following = skip(known, jobs, j, t)
        t = possible(a, j, units, duration, t)
        if t > hi:
            break
        if t < following:
            start = earliest(profile, s, a, j, request, units, duration, t, min(hi, following - 1))
            t = following
    note(known, jobs.kind[j], lo, start if start >= 0 else hi + 1)
    return start


@internal_borrowing
def _search_licensed(
    profile: Profile, s: Scratch, known: Hopeless, a: Aggregate, jobs: Jobs, j: int, start: int, hi: int
) -> int:
    """Return the earliest start of job j in [start, hi] with its licences, or -1; ``start``: the earliest one without."""
    while start >= 0:
        t = licensed(profile, jobs.licences[j], jobs.duration[j], start, hi)
        if t == start or t < 0:
            return t
        start = _search(profile, s, known, a, jobs, j, t, hi)
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
    not_after: int,
    chosen: Ints,
) -> tuple[int, Profile]:
    """Place job j at its earliest feasible start in [not_before, not_after].

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
        Bound of the whole machine, of this profile (``put_counted``, ``take_counted``), or ``no_aggregate``.
    j
        Index of the job.
    not_before, not_after
        Earliest and latest start in seconds.
    chosen
        Output: node of each unit of the job, shape (units,).

    Returns
    -------
    tuple
        The start in seconds (-1: no feasible start) and the profile.
    """
    if jobs.first_further[j] < jobs.first_further[j + 1]:
        return place_together(profile, machine, jobs, s, a, j, not_before, not_after, chosen)
    fill_most(machine, s, jobs.request[j], jobs.units[j])
    confine(machine, s, jobs, j)
    start = -1
    for w in range(jobs.first_window[jobs.group[j]], jobs.first_window[jobs.group[j] + 1]):
        lo = max(jobs.lo[w], jobs.release[j], not_before)
        hi = min(jobs.hi[w], jobs.latest[j], not_after)
        if lo <= hi:
            if jobs.duration[j] == 0:  # such a job occupies nothing
                start = lo
                fit_all(profile, s, start)
                break
            start = _search(profile, s, known, a, jobs, j, lo, hi)
            if jobs.licences.shape[1] > 0:
                start = _search_licensed(profile, s, known, a, jobs, j, start, hi)
            if start >= 0:
                break
    if start >= 0:
        choose(profile, machine, s, jobs.units[j], start, chosen)
        profile = put_counted(profile, jobs, a, j, start, chosen)
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
    most: float = np.inf,
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
    most
        Give up when the cost of the placed jobs exceeds this number; costs are at least 0, so the others cost no less.

    Returns
    -------
    int
        Number of jobs that were placed or postponed before the last one; if it is less than all jobs, job
        ``order[number]`` has no feasible start (its start is ``POSTPONED``), or was placed and exceeds ``most``. -1 if
        ``stop`` was set.
    """
    profile = new_profile(machine, 64)
    scratch = new_scratch(machine.capacity.shape[0])
    size = same.kinds.end.size
    known = same.kinds._replace(begin=np.zeros(size, np.int64), end=np.zeros(size, np.int64))
    aggregate = new_aggregate(machine, jobs, profile, same.levels)
    # with the last end as the objective, costs are joined by their maximum, and times may be negative
    if costs.mode == LAST_END:
        rest = -np.inf
        constant = -np.inf
    else:
        rest = 0.0
        constant = costs.constant
    _, placed, _ = fill(
        profile, machine, jobs, costs, scratch, known, aggregate, order, not_before, starts, nodes, 0, order.size,
        constant, np.full(order.size + 1, rest), most, stop,
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
        starts[j], profile = place(profile, machine, jobs, s, known, a, j, bound[j], NEVER, chosen)
        if starts[j] == POSTPONED:
            if costs.may_postpone[j]:
                continue
            return profile, k, spent
        if costs.mode != EARNINGS:
            spent = together(costs, spent, cost(costs, jobs, j, starts[j]))
            if together(costs, spent, rest[k + 1]) > most + SAME * abs(most):
                return profile, k, spent
    return profile, last, spent
