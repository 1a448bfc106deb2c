"""The problem of a moment, as the versions of the CP dispatchers see it (Galleguillos 2.2, 3 and 4).

Which jobs are in it: version 0 has all that wait, and fixes those beyond the first ``m`` to the end of the makespan (HCP);
from version 1 on only those that can start now, the first ``m`` of them. What runs longer than expected occupies nothing
and shortens the makespan, by which all jobs end, in versions 0 and 1; from version 2 on it lasts one more second.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.profile import Ints
from ....models import Dispatch, Job, Platform, Queue, Running
from ....models.dispatch.jobs import DAY, Window
from ...engine.moment import Moment
from .waiting import Waiting

FOLLOWED = 2 * DAY
"""For how long, in seconds, the model follows the calendars; what is later is not decided now, and windows cost time."""

Taken = tuple[Ints, Ints, Ints]


@contextmanager
def uncollected() -> Iterator[None]:
    """While a model is built and lowered, garbage is not looked for.

    Why: a node model of 100 jobs has some 100,000 objects, all of them in use; to look through them again and again
    takes a third of the time, and one look at everything that a replay holds takes 0.1 s.

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


class Machinery(NamedTuple):
    """What runs, as (node, until, amounts) rows: as it is, as the model sees it, and until its walltime at the latest."""

    real: Taken
    seen: Taken
    bound: Taken


def what_runs(moment: Moment, naive: bool) -> Machinery:
    """The running jobs on their nodes. A job past its expected end lasts until now + 1; ``naive`` models do without it."""
    resources = moment.platform.resources
    index = {name: n for n, name in enumerate(moment.platform.nodes)}
    node, until, latest, amounts = [], [], [], []
    for r in moment.running:
        request = [r.job.request.get(name, 0) for name in resources]
        for name, units in r.nodes.items():
            node.append(index[name])
            until.append(r.end)
            latest.append(max(r.end, r.start + r.job.walltime))
            amounts.append([units * q for q in request])
    at, end = np.array(node, np.int64), np.array(until, np.int64)
    taken = np.array(amounts, np.int64).reshape(len(node), len(resources))
    real = (at, np.maximum(end, moment.now + 1), taken)
    bound = (at, np.maximum(np.array(latest, np.int64), moment.now + 1), taken)
    if not naive:
        return Machinery(real, real, bound)
    on_time = end > moment.now
    return Machinery(real, (at[on_time], end[on_time], taken[on_time]), bound)


def end_of_horizon(moment: Moment, jobs: Waiting) -> int:
    """The end of the worst makespan: now + the sum of what all jobs still take, negative for a job past its expected end."""
    return moment.now + int(jobs.duration.sum()) + sum(r.end - moment.now for r in moment.running)


def latest_start(moment: Moment, jobs: Waiting, taken: Taken, held: int) -> int:
    """A moment by which any of these jobs can have started: after what runs, what is held and the calendars, in a row.

    ``held``: when the last of the reserved jobs ends.
    """
    return int(max([held, moment.now + FOLLOWED, *taken[1].tolist()]) + jobs.duration.sum())


def windows_of(moment: Moment, jobs: Waiting, last: int, followed: int = FOLLOWED) -> list[tuple[Window, ...]]:
    """When each job may start, from now to ``last``; calendars count for the first ``followed`` seconds."""
    daily = {q.name: q.daily for q in moment.queues if q.daily}
    anytime: tuple[Window, ...] = ((moment.now, last),) if last >= moment.now else ()
    if not daily and not any(j.windows for j in jobs.jobs):
        return [anytime] * len(jobs.jobs)
    far = moment.now + followed
    days = range(moment.now // DAY - 1, min(far, last) // DAY + 1)
    by_queue = {
        name: _clipped([(d * DAY + lo, d * DAY + hi) for d in days for lo, hi in listed], moment.now, last, far)
        for name, listed in daily.items()
    }
    return [_of_job(j, by_queue.get(j.queue, anytime), moment.now, last, far) for j in jobs.jobs]


def _of_job(job: Job, calendar: tuple[Window, ...], now: int, last: int, far: int) -> tuple[Window, ...]:
    if not job.windows:
        return calendar
    own = _clipped(job.windows, now, last, far)
    return tuple((max(a, c), min(b, d)) for a, b in calendar for c, d in own if max(a, c) <= min(b, d))


def _clipped(windows: Iterable[Window], now: int, last: int, far: int) -> tuple[Window, ...]:
    """The windows from now on; from ``far`` on any time."""
    kept = [(max(lo, now), min(hi, far - 1, last)) for lo, hi in sorted(windows)]
    return (*((lo, hi) for lo, hi in kept if lo <= hi), *(((far, last),) if far <= last else ()))


def problem_of(moment: Moment, jobs: Waiting, windows: Sequence[Sequence[Window]], seen: Taken, aim: str) -> Dispatch:
    """Return the dispatch problem of these jobs beside the running ones, with expected durations."""
    listed = [
        replace(j, walltime=d, earliest_start=None, deadline=None, windows=tuple(w), runtime=None)
        for j, d, w in zip(jobs.jobs, jobs.duration.tolist(), windows, strict=True)
    ]
    queues = [Queue(q.name, q.ewt) for q in moment.queues]
    running = _merged(moment.platform, moment.now, seen)
    return Dispatch(moment.platform, listed, queues, aim, moment.now, running)


def _merged(platform: Platform, now: int, taken: Taken) -> list[Running]:
    """Return one running job per node and expected end."""
    node, until, amounts = taken
    if not node.size:
        return []
    keys, which = np.unique(np.column_stack([until, node]), axis=0, return_inverse=True)
    total = np.zeros((len(keys), amounts.shape[1]), np.int64)
    np.add.at(total, which.reshape(-1), amounts)
    names, resources, found = platform.nodes, platform.resources, []
    for (end, n), row in zip(keys.tolist(), total.tolist(), strict=True):
        request = {r: q for r, q in zip(resources, row, strict=True) if q}
        job = Job(f"(until {end} on {n})", now, end - now, 1, request, "")
        found.append(Running(job, now, {names[n]: 1}, end))
    return found
