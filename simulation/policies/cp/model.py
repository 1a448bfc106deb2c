"""The dispatch problem of one decision, in the versions of the CP dispatchers [Galleguillos2019, 2.2, 3 and 4].

Jobs: version 0 has all waiting jobs, and fixes those after the first ``m`` to the end of the horizon (HCP). The later
versions have the first ``m`` of the jobs that can start now.

Running jobs: in versions 0 and 1 ("naive"), a job that runs longer than expected uses no resources in the model and
makes the horizon, by which all jobs end, shorter. From version 2 on it is taken to end at now + 1 s.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import NamedTuple, overload

import numpy as np

from ....heuristics.kernels.profile import Ints
from ....models import Dispatch, Job, Platform, Queue, Running
from ....models.dispatch.job_arrays import JobArrays, NodeArrays, column, numbered_rows
from ....models.dispatch.jobs import DAY, Window
from ....models.dispatch.running.amounts import Returns, occupied
from ....models.node_states.states import node_states
from ...dispatcher import Moment
from ...kept_free import kept_free
from .waiting import Waiting

FOLLOWED = 2 * DAY
"""Seconds from now for which the model follows the calendars.

Starts after that are not decided now, and each window costs solving time.
"""

Usage = tuple[Ints, Ints, Ints]
"""Use of nodes by running jobs, one entry per (job, node): node index, end in seconds, amounts (entries, resources)."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off while a model is built and lowered.

    A node model of 100 jobs has about 100,000 objects, all in use. To examine them again and again takes a third of the
    time; to examine all objects of a replay once takes 0.1 s.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class RunningUsage(NamedTuple):
    """The use of nodes by the running jobs, with three kinds of ends.

    ``expected``: jobs end at their expected end, at the earliest at now + 1. ``modelled``: as the model has them; the
    same, but without late jobs if the model is naive. ``by_walltime``: jobs end at their walltime, or at the expected
    end if that is later.
    """

    expected: Usage
    modelled: Usage
    by_walltime: Usage


def running_usage(
    moment: Moment, naive: bool, held: Callable[[int, Usage], Ints] = lambda now, usage: np.zeros(1, np.int64)
) -> RunningUsage:
    """Return the use of nodes by the running jobs.

    Parameters
    ----------
    moment : Moment
        The current state.
    naive : bool
        Whether the model leaves out jobs past their expected end.
    held : callable
        Returns what is not in ``Moment.free`` now, beside what is in use, because of a desired profile that the model
        has itself; shape (nodes, resources), or one that numpy makes of it.
    """
    running = moment.running
    nodes = NodeArrays(moment.platform)
    job, node, used = occupied(running, nodes)
    end = column((r.end for r in running), len(running))
    by_walltime = np.maximum(end, column((r.start + r.job.walltime for r in running), len(running)))
    end = end[job]
    expected = node, np.maximum(end, moment.now + 1), used
    barred = _barred(moment, nodes.capacity, node, used, held(moment.now, expected))
    expected = _joined(expected, barred)
    longest = _joined((node, np.maximum(by_walltime[job], moment.now + 1), used), barred)
    on_time = end > moment.now
    modelled = _joined((node[on_time], end[on_time], used[on_time]), barred) if naive else expected
    return RunningUsage(expected, modelled, longest)


def _barred(moment: Moment, capacity: Ints, node: Ints, used: Ints, held: Ints) -> Usage | None:
    """Return the free amounts of the nodes that take no starts as if they were in use while calendars are followed.

    Those of nodes that are not on are in use until they can be. So is what the simulator keeps free on other nodes, for
    on-demand jobs for instance: what neither runs, nor is reserved, nor is in ``Moment.free``, without what a desired profile has ``held`` back.
    """
    known = node_states()
    rows = np.array([n for n, name in enumerate(moment.states) if not known[name].starts], np.int64)
    until = np.full(rows.size, moment.now + FOLLOWED)
    if moment.ready is not None:
        away = np.setdiff1d(np.flatnonzero(moment.ready > moment.now), rows)
        rows, until = np.append(rows, away), np.append(until, moment.ready[away])
    free = capacity.copy()
    np.subtract.at(free, node, used)
    kept = np.maximum(0, kept_free(moment, free) - held)
    kept[rows] = 0
    kept_rows = np.flatnonzero(kept.any(axis=1))
    if not rows.size and not kept_rows.size:
        return None
    rows_until = np.append(until, np.full(kept_rows.size, moment.now + FOLLOWED))
    return np.append(rows, kept_rows), rows_until, np.concatenate([free[rows], kept[kept_rows]])


def _joined(usage: Usage, more: Usage | None) -> Usage:
    if more is None:
        return usage
    node, end, amounts = (np.concatenate(pair) for pair in zip(usage, more, strict=True))
    return node, end, amounts


def end_of_horizon(moment: Moment, jobs: Waiting) -> int:
    """Return the end of the horizon of the naive models, in seconds.

    It is now + the expected durations of all waiting jobs + the remaining expected durations of all running jobs, which
    are negative for jobs past their expected end.
    """
    return moment.now + int(jobs.duration.sum()) + sum(r.end - moment.now for r in whole_jobs(moment))


def whole_jobs(moment: Moment) -> list[Running]:
    """Return the running jobs without the further chunks of heterogeneous ones, which have no expected duration."""
    return [r for r in moment.running if r.job.id in moment.expected]


def latest_start(moment: Moment, jobs: Waiting, usage: Usage, reserved_end: int) -> int:
    """Return a time by which all of these jobs can have started, one after the other.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    usage : Usage
        The use of nodes by the running jobs.
    reserved_end : int
        End of the last job with a reservation, in seconds.

    Returns
    -------
    int
        Seconds: the latest of these ends and of the followed calendars, plus the sum of the expected durations.
    """
    return int(max([reserved_end, moment.now + FOLLOWED, *usage[1].tolist()]) + jobs.duration.sum())


def windows_of(moment: Moment, jobs: Waiting, last: int, followed: int = FOLLOWED) -> list[tuple[Window, ...]]:
    """Return the start windows of each job.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    last : int
        The latest start, in seconds.
    followed : int
        Seconds from now for which calendars are followed; after that a job may start at any time.

    Returns
    -------
    list of tuple of (int, int)
        For each job, windows from now to ``last``, both ends included; empty if the job cannot start.
    """
    queues = {q.name: q for q in moment.queues if q.daily}
    daily = {(j.queue, j.walltime * queues[j.queue].whole_run) for j in jobs.jobs if j.queue in queues}
    anytime: tuple[Window, ...] = ((moment.now, last),) if last >= moment.now else ()
    if not daily and not any(j.windows for j in jobs.jobs):
        return [anytime] * len(jobs.jobs)
    far = moment.now + followed
    days = range(moment.now // DAY - 1, min(far, last) // DAY + 1)
    hours = {
        (name, walltime): _clipped(
            [(d * DAY + lo, d * DAY + hi) for d in days for lo, hi in queues[name].hours(walltime)],
            moment.now,
            last,
            far,
        )
        for name, walltime in daily
    }
    of = [hours[j.queue, j.walltime * queues[j.queue].whole_run] if j.queue in queues else anytime for j in jobs.jobs]
    return [_of_job(j, calendar, moment.now, last, far) for j, calendar in zip(jobs.jobs, of, strict=True)]


def windows_of_model(
    moment: Moment, jobs: Waiting, usage: Usage, reserved_end: int, naive: bool, fixed: int
) -> list[tuple[Window, ...]] | None:
    """Return the start windows of each job in a model; None if a job cannot end by the end of the naive horizon.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    usage : Usage
        The use of nodes by the running jobs.
    reserved_end : int
        End of the last job with a reservation, in seconds.
    naive : bool
        Whether the model is that of versions 0 and 1: all jobs end by ``end_of_horizon``.
    fixed : int
        Number of jobs, the last ones, that a naive model fixes to the end of the horizon if a job is running.
    """
    if not naive:
        return windows_of(moment, jobs, latest_start(moment, jobs, usage, reserved_end))
    last = end_of_horizon(moment, jobs)
    latest = (last - jobs.duration).tolist()
    whole = windows_of(moment, jobs, last)
    found = [tuple((lo, min(hi, to)) for lo, hi in w if lo <= to) for w, to in zip(whole, latest, strict=True)]
    if not all(found):
        return None
    if fixed and moment.running:
        begins = np.maximum(moment.now, last - jobs.duration[-fixed:]).tolist()
        found[-fixed:] = [((begin, begin),) for begin in begins]
    return found


def without_horizon(windows: Sequence[tuple[Window, ...]], now: int) -> list[tuple[Window, ...]]:
    """Return the start windows, () for a job that may start at any time from now on: a problem has its own horizon."""
    return [() if len(w) == 1 and w[0][0] == now and w[0][1] >= now + FOLLOWED else w for w in windows]


def _of_job(job: Job, calendar: tuple[Window, ...], now: int, last: int, far: int) -> tuple[Window, ...]:
    if not job.windows:
        return calendar
    own = _clipped(job.windows, now, last, far)
    return tuple((max(a, c), min(b, d)) for a, b in calendar for c, d in own if max(a, c) <= min(b, d))


def _clipped(windows: Iterable[Window], now: int, last: int, far: int) -> tuple[Window, ...]:
    """Return the windows cut to [now, far - 1], and one window from ``far`` to ``last``."""
    kept = [(max(lo, now), min(hi, far - 1, last)) for lo, hi in sorted(windows)]
    return (*((lo, hi) for lo, hi in kept if lo <= hi), *(((far, last),) if far <= last else ()))


def problem_of(
    moment: Moment, jobs: Waiting, windows: Sequence[Sequence[Window]], usage: Usage, objective: str
) -> Dispatch:
    """Return the dispatch problem of some waiting jobs, with expected durations as walltimes.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    windows : sequence
        Start windows of each job, in seconds, both ends included.
    usage : Usage
        The use of nodes by the running jobs.
    objective : str
        The name of the objective, see ``Dispatch``.

    Returns
    -------
    Dispatch
        The problem at time ``moment.now``.
    """
    listed = list(map(as_modelled, jobs.jobs, jobs.duration.tolist(), windows))
    arrays = None
    if jobs.further is None:
        requests, kind = numbered_rows(list(map(tuple, jobs.request.tolist())), jobs.requests.shape[1])
        release = np.maximum(jobs.submit, moment.now)
        arrays = JobArrays(jobs.submit, release, jobs.duration, jobs.units, requests, kind)
    now, queues = moment.now, _open_queues(tuple(moment.queues))
    running, returns = MergedRunning(moment.platform, now, usage), Returns.of(*usage[1:], now)
    return Dispatch.unchecked(moment.platform, listed, queues, objective, now, running, arrays, returns)


def as_modelled(job: Job, duration: int, windows: Sequence[Window]) -> Job:
    """Return a job with its expected duration in seconds as walltime, and with these start windows alone."""
    made = object.__new__(Job)  # not replace(), which takes as long as all else in a small model
    made.__dict__.update(
        job.__dict__, walltime=duration, earliest_start=None, deadline=None, windows=tuple(windows), runtime=None
    )
    return made


@lru_cache(maxsize=16)
def _open_queues(queues: tuple[Queue, ...]) -> tuple[Queue, ...]:
    """Return the queues without their daily windows."""
    return tuple(Queue(q.name, q.ewt) for q in queues)


class MergedRunning(Sequence[Running]):
    """One running job per node and expected end; the jobs are made when they are first read.

    Parameters
    ----------
    platform : Platform
        The nodes.
    now : int
        The current time in seconds.
    usage : tuple of ndarray
        The use of nodes.
    """

    def __init__(self, platform: Platform, now: int, usage: Usage) -> None:
        self._of = platform, now, usage

    @cached_property
    def _jobs(self) -> tuple[Running, ...]:
        return tuple(_merged(*self._of))

    @overload
    def __getitem__(self, index: int) -> Running: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Running]: ...
    def __getitem__(self, index: int | slice) -> Running | Sequence[Running]:
        return self._jobs[index]

    def __len__(self) -> int:
        return len(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, MergedRunning) else other)

    def __hash__(self) -> int:
        return hash(self._jobs)


def _merged(platform: Platform, now: int, usage: Usage) -> list[Running]:
    """Return one running job per node and expected end."""
    node, ends, amounts = usage
    if not node.size:
        return []
    keys, which = numbered_rows(list(zip(ends.tolist(), node.tolist(), strict=True)), 2)
    total = np.zeros((len(keys), amounts.shape[1]), np.int64)
    np.add.at(total, which, amounts)
    names, resources, found = platform.nodes, platform.resources, []
    for (end, n), row in zip(keys.tolist(), total.tolist(), strict=True):
        request = {r: q for r, q in zip(resources, row, strict=True) if q}
        job = Job(f"(until {end} on {n})", now, end - now, 1, request, "")
        found.append(Running(job, now, {names[n]: 1}, end))
    return found
