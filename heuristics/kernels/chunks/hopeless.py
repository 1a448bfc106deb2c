"""Time ranges in which no job of a kind can start, noted while jobs are placed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.compiled import internal_borrowing
from ..by_address import by_address
from ..costs import Jobs
from ..profile import NEVER, Ints


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
    units, duration = np.zeros(size, np.int64), np.zeros(size, np.int64)
    request = np.zeros((size, jobs.request.shape[1]), np.int64)
    some = np.flatnonzero(jobs.kind < size)
    some = some[np.argsort(jobs.kind[some], kind="stable")]
    kind, first = np.unique(jobs.kind[some], return_index=True)
    if kind.size:  # the kind has the maxima of its jobs, so that a job which covers the kind is at least as large
        units[kind] = np.maximum.reduceat(jobs.units[some], first)
        duration[kind] = np.maximum.reduceat(jobs.duration[some], first)
        request[kind] = np.maximum.reduceat(jobs.request[some], first)
    smaller = _smaller(units, duration, request)
    return Hopeless(units, duration, request, *smaller, np.zeros(size, np.int64), np.zeros(size, np.int64))


def _smaller(units: Ints, duration: Ints, request: Ints) -> tuple[Ints, Ints]:
    """Return ``first_smaller`` and ``smaller`` of ``Hopeless``."""
    size = units.size
    covered = np.ones((size + 1, size), np.bool_)  # the last row is that of the jobs of no kind
    for column in (units, duration, *request.T):
        covered[:size] &= column[:, None] >= column
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
    kind, moved = min(jobs.kind[j], known.end.size), True
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
