"""The placement of a heterogeneous job, all its chunks at the same start, and times at which no job of a kind can start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.array_types import Ints
from ...models.compiled import internal, internal_borrowing, native
from .aggregate import Aggregate, take
from .by_address import by_address
from .costs import Jobs
from .earliest import Scratch, choose, confine, earliest, fill_most, fit_all
from .profile import NEVER, Machine, Profile, licensed, put_licences, put_units, segment

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
