"""Conversion of jobs and a platform to the arrays of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ....models import Platform, Queue
from ....models.dispatch.job_arrays import Ints, JobArrays, NodeArrays, offsets
from ....models.dispatch.jobs import DAY, Window
from ..profile import NEVER
from .state import TraceArrays


class JobTable(Protocol):
    """A table of jobs, one row per job; for example a ``Workload``."""

    def __len__(self) -> int: ...
    @property
    def job_arrays(self) -> JobArrays:
        """The jobs as arrays."""
        ...

    @property
    def queue(self) -> Ints:
        """Index of each job's queue in ``queues``, shape (jobs,)."""
        ...

    @property
    def walltime(self) -> Ints:
        """Walltimes in seconds, shape (jobs,); used for queues with ``whole_run``."""
        ...

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues."""
        ...

    @property
    def windows(self) -> Mapping[int, tuple[Window, ...]]:
        """Start windows of single jobs, by row."""
        ...


def counted(jobs: JobTable, platform: Platform) -> bool:
    """Return whether it is enough to count the free nodes.

    True if all nodes are equal and no node ever holds two units, because every unit requests more than half of some
    resource. The nodes of each job are then chosen after the replay (the first free ones).
    """
    if len(platform.classes) != 1:
        return False
    if jobs.job_arrays.further is not None:
        return False
    (vector,) = platform.classes
    return bool((2 * jobs.job_arrays.requests > np.array(vector)).all(axis=0).any())


def trace_of(
    jobs: JobTable,
    platform: Platform,
    runtime: Ints,
    by_count: bool,
    after: Mapping[int, tuple[int, int]] | None = None,
) -> TraceArrays:
    """Return the arrays of a replay.

    Parameters
    ----------
    jobs
        The jobs.
    platform
        The nodes.
    runtime
        Duration of each job in seconds, shape (jobs,).
    by_count
        Count free nodes: all nodes are one place (see ``counted``).
    after
        Row of a job -> row of the job that it waits for, and the seconds from that end to its own arrival.

    Returns
    -------
    TraceArrays
        The arrays.
    """
    arrays = jobs.job_arrays
    rows, slots = arrays.rows, np.minimum(arrays.units, 1 if by_count else len(platform.nodes))
    further = rows.units[len(arrays) :]
    if arrays.further is not None:
        np.add.at(slots, arrays.further.job, np.minimum(further, len(platform.nodes)))
    if by_count:
        capacity, request = np.array([[len(platform.nodes)]], np.int64), np.ones((len(arrays), 1), np.int64)
        kind = np.zeros(len(arrays), np.int64)
    else:
        capacity, request, kind = NodeArrays(platform).capacity, arrays.request, arrays.kind
    own, daily, windows = _calendars(jobs)
    flat = np.array([(lo, hi) for listed, _ in windows for lo, hi in listed], np.int64).reshape(-1, 2)
    first_follower, follower, think = _followers(after or {}, len(arrays))
    release = arrays.release
    if follower.size:
        release = release.copy()
        release[follower] = NEVER
    return TraceArrays(
        order=np.argsort(release, kind="stable"),
        release=release,
        runtime=runtime,
        units=arrays.units,
        request=np.ascontiguousarray(request),
        kind=kind,
        first_further=rows.first - len(arrays),
        further_units=further,
        further_request=np.ascontiguousarray(arrays.requests[rows.kind[len(arrays) :]]),
        first=offsets(slots),
        own=own,
        daily=daily,
        first_window=offsets([len(listed) for listed, _ in windows]),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        period=np.array([period for _, period in windows], np.int64),
        capacity=capacity,
        first_follower=first_follower,
        follower=follower,
        think=think,
        earliest=arrays.release[follower],
    )


def _followers(after: Mapping[int, tuple[int, int]], jobs: int) -> tuple[Ints, Ints, Ints]:
    """Return the first follower of each job, the followers, and their think times, from {follower: (job, think)}."""
    rows = np.array([(before, k, think) for k, (before, think) in after.items()], np.int64).reshape(-1, 3)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return offsets(np.bincount(rows[:, 0], minlength=jobs)), rows[:, 1].copy(), rows[:, 2].copy()


def _calendars(jobs: JobTable) -> tuple[Ints, Ints, list[tuple[tuple[tuple[int, int], ...], int]]]:
    """Return each job's own and queue calendar (-1: none), and all calendars as (windows, period in seconds)."""
    calendars = [(q.daily, DAY) for q in jobs.queues if q.daily]
    with_hours = [k for k, q in enumerate(jobs.queues) if q.daily]
    number = np.full(len(jobs.queues), -1, np.int64)
    number[with_hours] = np.arange(len(with_hours))
    own, daily = np.full(len(jobs), -1, np.int64), number[jobs.queue]
    for k in [k for k in with_hours if jobs.queues[k].whole_run]:
        here = np.flatnonzero(jobs.queue == k)
        for walltime in np.unique(jobs.walltime[here]).tolist():
            daily[here[jobs.walltime[here] == walltime]] = len(calendars)
            calendars.append((jobs.queues[k].hours(walltime), DAY))
    for k, listed in jobs.windows.items():
        own[k] = len(calendars)
        calendars.append((listed, 0))
    return own, daily, calendars
