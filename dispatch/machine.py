"""A workload and a platform as the flat arrays of a replay, and the nodes of a replay that counted them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..heuristics.profile import Ints
from ..instances.workload import Workload
from ..models import Platform
from ..models.compiled import compiled
from ..models.dispatch import DAY
from .simulation import Placement
from .state import State, Trace


def counted(workload: Workload, platform: Platform) -> bool:
    """Whether nodes are interchangeable: all equal, and no node ever holds two units.

    Then how many are free says all, and which ones a job had is found out afterwards (the first free ones).
    """
    if len(platform.classes) != 1:
        return False
    (vector,) = platform.classes
    return bool((2 * workload.request > np.array(vector)).any(axis=1).all())


def trace_of(workload: Workload, platform: Platform, runtime: Ints, by_count: bool) -> Trace:
    """The arrays of a replay in which jobs take ``runtime``; ``by_count``: all nodes are one place."""
    capacity = np.array(list(platform.capacity.values()), np.int64).reshape(len(platform.nodes), -1)
    request = workload.request
    if by_count:
        capacity, request = np.array([[len(platform.nodes)]], np.int64), np.ones((len(workload), 1), np.int64)
    slots = np.minimum(workload.units, capacity.shape[0])
    own, daily, windows = _calendars(workload)
    flat = np.array([(lo, hi) for listed, _ in windows for lo, hi in listed], np.int64).reshape(-1, 2)
    return Trace(
        order=np.argsort(workload.release, kind="stable"),
        release=workload.release,
        runtime=runtime,
        units=workload.units,
        request=np.ascontiguousarray(request),
        first=np.concatenate([[0], np.cumsum(slots)]),
        own=own,
        daily=daily,
        first_window=np.concatenate([[0], np.cumsum([len(listed) for listed, _ in windows], dtype=np.int64)]),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        period=np.array([period for _, period in windows], np.int64),
        capacity=capacity,
    )


def _calendars(workload: Workload) -> tuple[Ints, Ints, list[tuple[tuple[tuple[int, int], ...], int]]]:
    """Each job's calendar of its own and its queue's (-1: none), and the calendars: windows and period."""
    calendars = [(q.daily, DAY) for q in workload.queues if q.daily]
    with_hours = [k for k, q in enumerate(workload.queues) if q.daily]
    number = np.full(len(workload.queues), -1, np.int64)
    number[with_hours] = np.arange(len(with_hours))
    own = np.full(len(workload), -1, np.int64)
    for k, listed in workload.windows.items():
        own[k] = len(calendars)
        calendars.append((listed, 0))
    return own, number[workload.queue], calendars


def placement_of(trace: Trace, state: State, by_count: bool) -> Placement:
    """The ranges of nodes of every started job."""
    started = state.start >= 0
    if by_count:
        units = np.where(started, trace.units, 0)
        end = state.start + trace.runtime
        when = np.concatenate([end[started], state.start[started]])
        who = np.concatenate([np.flatnonzero(started)] * 2)
        begins = np.arange(when.size) >= started.sum()
        instant = np.concatenate([(trace.runtime == 0)[started]] * 2)
        kept = ~instant | begins  # what takes no time gives its nodes back as it begins
        order = np.lexsort((begins[kept], when[kept]))
        return Placement(
            *_number(int(trace.capacity[0, 0]), who[kept][order], begins[kept][order], trace.runtime, units)
        )
    return _ranges(trace, state, started)


def _ranges(trace: Trace, state: State, started: NDArray[np.bool_]) -> Placement:
    """Neighbouring nodes with the same number of units become one range."""
    count = np.where(started, state.pieces, 0)
    job = np.repeat(np.arange(count.size), count)
    slot = np.repeat(trace.first[:-1] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    place, share = state.place[slot].astype(np.int64), state.share[slot].astype(np.int64)
    order = np.lexsort((place, job))
    job, place, share = job[order], place[order], share[order]
    apart = np.ones(job.size, np.bool_)
    apart[1:] = (job[1:] != job[:-1]) | (place[1:] != place[:-1] + 1) | (share[1:] != share[:-1])
    begin = np.flatnonzero(apart)
    last = np.append(begin[1:], job.size)[: begin.size] - 1
    first = np.concatenate([[0], np.cumsum(np.bincount(job[begin], minlength=count.size))])
    return Placement(first.astype(np.int64), place[begin], place[last], share[begin])


@compiled
def _number(
    nodes: int, who: Ints, begins: NDArray[np.bool_], runtime: Ints, units: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Give each job the first free nodes at its start; events in their order. Ranges as in ``Placement``."""
    free_low, free_high = np.zeros(64, np.int64), np.zeros(64, np.int64)
    free_high[0], ranges = nodes - 1, 1
    jobs = units.size
    at, size = np.full(jobs, -1, np.int64), np.zeros(jobs, np.int64)
    low, high, used = np.empty(2 * jobs + 64, np.int64), np.empty(2 * jobs + 64, np.int64), 0
    for e in range(who.size):
        j = who[e]
        if begins[e]:
            left, k = units[j], 0
            at[j] = used
            while left > 0:
                take = min(left, free_high[k] - free_low[k] + 1)
                if used == low.size:
                    low, high = np.append(low, np.empty(used, np.int64)), np.append(high, np.empty(used, np.int64))
                low[used], high[used] = free_low[k], free_low[k] + take - 1
                used, left = used + 1, left - take
                free_low[k] += take
                if free_low[k] > free_high[k]:
                    k += 1
            size[j] = used - at[j]
            for i in range(k, ranges):
                free_low[i - k], free_high[i - k] = free_low[i], free_high[i]
            ranges -= k
        if not begins[e] or runtime[j] == 0:
            for i in range(at[j], at[j] + size[j]):
                if ranges + 1 >= free_low.size:
                    free_low, free_high = np.append(free_low, free_low), np.append(free_high, free_high)
                ranges = _release(free_low, free_high, ranges, low[i], high[i])
    first = np.zeros(jobs + 1, np.int64)
    first[1:] = np.cumsum(size)
    by_job_low, by_job_high = np.empty(used, np.int64), np.empty(used, np.int64)
    for j in range(jobs):
        for i in range(size[j]):
            by_job_low[first[j] + i], by_job_high[first[j] + i] = low[at[j] + i], high[at[j] + i]
    return first, by_job_low, by_job_high, np.ones(used, np.int64)


@compiled
def _release(free_low: Ints, free_high: Ints, ranges: int, low: int, high: int) -> int:
    """Put a range among the free ones, which are in order and never touch; how many there are then."""
    i = np.searchsorted(free_low[:ranges], low)
    joins_left = i > 0 and free_high[i - 1] == low - 1
    joins_right = i < ranges and free_low[i] == high + 1
    if joins_left and joins_right:
        free_high[i - 1] = free_high[i]
        for k in range(i, ranges - 1):
            free_low[k], free_high[k] = free_low[k + 1], free_high[k + 1]
        return ranges - 1
    if joins_left:
        free_high[i - 1] = high
    elif joins_right:
        free_low[i] = low
    else:
        for k in range(ranges, i, -1):
            free_low[k], free_high[k] = free_low[k - 1], free_high[k - 1]
        free_low[i], free_high[i] = low, high
        return ranges + 1
    return ranges
