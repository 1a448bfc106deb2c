"""Conversion of jobs and a platform to the arrays of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ....models import Platform, Queue
from ....models.dispatch.jobs import DAY, Window
from ..profile import Ints
from .state import TraceArrays


class JobTable(Protocol):
    """A table of jobs, one row per job; for example a ``Workload``."""

    def __len__(self) -> int: ...
    @property
    def release(self) -> Ints:
        """First time at which each job may start, in seconds, shape (jobs,)."""
        ...

    @property
    def units(self) -> Ints:
        """Number of units of each job, shape (jobs,)."""
        ...

    @property
    def request(self) -> Ints:
        """Amounts per unit, shape (jobs, resources of the platform)."""
        ...

    @property
    def request_kind(self) -> Ints:
        """Number of the distinct request of each job, shape (jobs,)."""
        ...

    @property
    def queue(self) -> Ints:
        """Index of each job's queue in ``queues``, shape (jobs,)."""
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
    (vector,) = platform.classes
    return bool((2 * jobs.request > np.array(vector)).all(axis=0).any())


def trace_of(jobs: JobTable, platform: Platform, runtime: Ints, by_count: bool) -> TraceArrays:
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

    Returns
    -------
    TraceArrays
        The arrays.
    """
    capacity = np.array(list(platform.capacity.values()), np.int64).reshape(len(platform.nodes), -1)
    request, kind = jobs.request, jobs.request_kind
    if by_count:
        capacity, request = np.array([[len(platform.nodes)]], np.int64), np.ones((len(jobs), 1), np.int64)
        kind = np.zeros(len(jobs), np.int64)
    slots = np.minimum(jobs.units, capacity.shape[0])
    own, daily, windows = _calendars(jobs)
    flat = np.array([(lo, hi) for listed, _ in windows for lo, hi in listed], np.int64).reshape(-1, 2)
    return TraceArrays(
        order=np.argsort(jobs.release, kind="stable"),
        release=jobs.release,
        runtime=runtime,
        units=jobs.units,
        request=np.ascontiguousarray(request),
        kind=kind,
        first=np.concatenate([[0], np.cumsum(slots)]),
        own=own,
        daily=daily,
        first_window=np.concatenate([[0], np.cumsum([len(listed) for listed, _ in windows], dtype=np.int64)]),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        period=np.array([period for _, period in windows], np.int64),
        capacity=capacity,
    )


def _calendars(jobs: JobTable) -> tuple[Ints, Ints, list[tuple[tuple[tuple[int, int], ...], int]]]:
    """Return each job's own and queue calendar (-1: none), and all calendars as (windows, period in seconds)."""
    calendars = [(q.daily, DAY) for q in jobs.queues if q.daily]
    with_hours = [k for k, q in enumerate(jobs.queues) if q.daily]
    number = np.full(len(jobs.queues), -1, np.int64)
    number[with_hours] = np.arange(len(with_hours))
    own = np.full(len(jobs), -1, np.int64)
    for k, listed in jobs.windows.items():
        own[k] = len(calendars)
        calendars.append((listed, 0))
    return own, number[jobs.queue], calendars
