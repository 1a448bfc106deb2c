"""Jobs and a platform as the flat arrays of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ....models import Platform, Queue
from ....models.dispatch.jobs import DAY, Window
from ..profile import Ints
from .state import TraceArrays


class JobTable(Protocol):
    """Jobs, one row each, as a ``Workload`` has them; ``request`` is jobs x resources of the platform, per unit.

    ``request_kind``: which of the distinct requests a job has. Times in seconds: ``release`` is the first moment at which a job may start; ``queue`` indexes ``queues``; ``windows``:
    row -> its own start windows.
    """

    def __len__(self) -> int: ...
    @property
    def release(self) -> Ints: ...
    @property
    def units(self) -> Ints: ...
    @property
    def request(self) -> Ints: ...
    @property
    def request_kind(self) -> Ints: ...
    @property
    def queue(self) -> Ints: ...
    @property
    def queues(self) -> Sequence[Queue]: ...
    @property
    def windows(self) -> Mapping[int, tuple[Window, ...]]: ...


def counted(jobs: JobTable, platform: Platform) -> bool:
    """Whether nodes are interchangeable: all equal, and no node ever holds two units, as all ask for most of one resource.

    Then how many are free says all, and which ones a job had is found out afterwards (the first free ones).
    """
    if len(platform.classes) != 1:
        return False
    (vector,) = platform.classes
    return bool((2 * jobs.request > np.array(vector)).all(axis=0).any())


def trace_of(jobs: JobTable, platform: Platform, runtime: Ints, by_count: bool) -> TraceArrays:
    """The arrays of a replay in which jobs take ``runtime``; ``by_count``: all nodes are one place."""
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
    """Each job's calendar of its own and its queue's (-1: none), and the calendars: windows and period."""
    calendars = [(q.daily, DAY) for q in jobs.queues if q.daily]
    with_hours = [k for k, q in enumerate(jobs.queues) if q.daily]
    number = np.full(len(jobs.queues), -1, np.int64)
    number[with_hours] = np.arange(len(with_hours))
    own = np.full(len(jobs), -1, np.int64)
    for k, listed in jobs.windows.items():
        own[k] = len(calendars)
        calendars.append((listed, 0))
    return own, number[jobs.queue], calendars
