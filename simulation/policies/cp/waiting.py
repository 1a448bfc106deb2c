"""The waiting jobs of a moment as arrays, and which of them can start now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.profile import NEVER, Floats, Ints
from ....models import Job, Platform, Queue
from ...engine.moment import Moment


class Waiting(NamedTuple):
    """Waiting jobs as arrays, with one entry per job, in order of arrival. Times are seconds.

    Parameters
    ----------
    jobs : sequence of Job
        The jobs.
    submit, units, walltime : ndarray of int64, shape (jobs,)
        Submit times, numbers of units, requested walltimes.
    duration : ndarray of int64, shape (jobs,)
        Expected durations, at least 1 s.
    kind : ndarray of int64, shape (jobs,)
        Row of ``requests`` that holds the request of the job.
    share : ndarray of float, shape (jobs,)
        ``units * sum over resources r of request[r] / total[r]``, where ``total`` is the capacity of the platform.
    weight : ndarray of float, shape (jobs,)
        ``max(ewt) / ewt`` of the job's queue; the maximum is over all queues of the machine.
    ewt : ndarray of int64, shape (jobs,)
        Expected waiting time of the job's queue.
    requests : ndarray of int64, shape (kinds, resources)
        The distinct requests per unit.
    """

    jobs: Sequence[Job]
    submit: Ints
    units: Ints
    duration: Ints
    kind: Ints
    share: Floats
    weight: Floats
    ewt: Ints
    walltime: Ints
    requests: Ints

    def some(self, which: NDArray[np.bool_] | Ints) -> Waiting:
        """Return some of the jobs, selected by a mask, or by indices in the order of the indices."""
        index = np.flatnonzero(which) if which.dtype == np.bool_ else which
        columns = (column[index] for column in self[1:-1])
        return Waiting([self.jobs[k] for k in index.tolist()], *columns, self.requests)  # type: ignore[arg-type,call-arg]

    @property
    def request(self) -> Ints:
        """Request per unit of each job, shape (jobs, resources)."""
        found: Ints = self.requests[self.kind]
        return found

    def __add__(self, other: Waiting) -> Waiting:  # type: ignore[override]
        """Concatenate two lists of jobs from the same register."""
        columns = (np.concatenate([a, b]) for a, b in zip(self[1:-1], other[1:-1], strict=True))
        return Waiting([*self.jobs, *other.jobs], *columns, self.requests)  # type: ignore[call-arg]

    @property
    def demand(self) -> Floats:
        """``share * duration`` of each job, in seconds."""
        found: Floats = self.share * self.duration
        return found


class Register:
    """The constant data of all jobs seen in a replay, kept so that each moment is quickly turned into arrays."""

    def __init__(self, platform: Platform, queues: Sequence[Queue]) -> None:
        self.resources = platform.resources
        self.totals = np.array([max(1, platform.total(r)) for r in platform.resources], np.int64)
        self.ewt = {q.name: q.ewt for q in queues}
        self.greatest = max(self.ewt.values(), default=1)
        self._number: dict[str, int] = {}
        self._kinds: dict[tuple[int, ...], int] = {}
        self._columns: Ints = np.empty((5, 0), np.int64)
        self._requests: Ints = np.empty((0, len(self.resources)), np.int64)

    def allowed(self, moment: Moment) -> Waiting:
        """Return the waiting jobs that their calendars allow to start now."""
        jobs = [j for j, allowed in zip(moment.waiting, moment.may_start.tolist(), strict=True) if allowed]
        new = [job for job in jobs if job.id not in self._number]
        if new:
            self._note(new)
        index = np.array([self._number[j.id] for j in jobs], np.int64)
        submit, units, kind, ewt, walltime = self._columns[:, index]
        duration = np.array([moment.expected[j.id] for j in jobs], np.int64)
        share = units * (self._requests / self.totals).sum(axis=1)[kind]
        return Waiting(
            jobs,
            submit,
            units,
            np.maximum(duration, 1),
            kind,
            share,
            self.greatest / ewt,
            ewt,
            walltime,
            self._requests,
        )

    def _note(self, new: Sequence[Job]) -> None:
        known, total = len(self._number), len(self._number) + len(new)
        if total > self._columns.shape[1]:
            self._columns = np.concatenate([self._columns, np.zeros((5, total), np.int64)], axis=1)
        for n, job in enumerate(new, known):
            request = tuple(job.request.get(r, 0) for r in self.resources)
            kind = self._kinds.setdefault(request, len(self._kinds))
            self._number[job.id] = n
            self._columns[:, n] = job.submit, job.units, kind, self.ewt[job.queue], job.walltime
        if len(self._kinds) > len(self._requests):
            self._requests = np.array(list(self._kinds), np.int64).reshape(len(self._kinds), -1)


def can_start_now(free: Ints, jobs: Waiting) -> NDArray[np.bool_]:
    """Return the mask of the jobs that fit now, each alone: ``sum_n min_r free[n, r] // request[r] >= units``.

    ``free`` has the shape (nodes, resources); r runs over the resources that the job requests.
    """
    found = np.zeros(len(jobs.jobs), np.bool_)
    for kind in np.unique(jobs.kind).tolist():
        request = jobs.requests[kind]
        used = request > 0
        here = jobs.kind == kind
        room = int((free[:, used] // request[used]).min(axis=1).clip(0).sum()) if used.any() else NEVER
        found[here] = jobs.units[here] <= room
    return found
