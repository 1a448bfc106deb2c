"""The waiting jobs of a moment as arrays, and which of them can start now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ....heuristics.kernels.profile import NEVER
from ....models import Job, Platform, Queue
from ....models.dispatch.job_arrays import Bools, Floats, Ints, JobArrays, NodeArrays, column
from ...engine.moment import Moment

FEW = 256  # jobs that no longer wait and are kept in any case


@dataclass(frozen=True, eq=False)
class Waiting(JobArrays):
    """Waiting jobs as arrays, with one entry per job, in order of arrival.

    Parameters
    ----------
    submit, release, duration, units, requests, kind
        As in ``JobArrays``; the durations are the expected ones in seconds, at least 1 s.
    jobs : sequence of Job
        The jobs.
    walltime : ndarray of int64, shape (jobs,)
        Requested walltimes in seconds.
    share : ndarray of float, shape (jobs,)
        ``units * sum over resources r of request[r] / total[r]``, where ``total`` is the capacity of the platform.
    weight : ndarray of float, shape (jobs,)
        ``max(ewt) / ewt`` of the job's queue; the maximum is over all queues of the machine.
    """

    jobs: Sequence[Job]
    walltime: Ints
    share: Floats
    weight: Floats

    def some(self, which: Bools | Ints) -> Waiting:
        """Return some of the jobs, selected by a mask, or by indices in the order of the indices."""
        index = np.flatnonzero(which) if which.dtype == np.bool_ else which
        return replace(super().some(index), jobs=[self.jobs[k] for k in index.tolist()])

    def joined(self, other: Waiting) -> Waiting:
        """Return the jobs of both, first those of this object."""
        return replace(super().joined(other), jobs=[*self.jobs, *other.jobs])

    @property
    def demand(self) -> Floats:
        """``share * duration`` of each job, in seconds."""
        found: Floats = self.share * self.duration
        return found


class Register:
    """The constant data of the waiting jobs, kept so that each moment is quickly turned into arrays."""

    def __init__(self, platform: Platform, queues: Sequence[Queue]) -> None:
        self.nodes = NodeArrays(platform)
        self.ewt = {q.name: q.ewt for q in queues}
        self.greatest = max(self.ewt.values(), default=1)
        self._known = self._waiting([])
        self._row: dict[str, int] = {}

    def allowed(self, moment: Moment) -> Waiting:
        """Return the waiting jobs that their calendars allow to start now."""
        jobs = [j for j, allowed in zip(moment.waiting, moment.may_start.tolist(), strict=True) if allowed]
        new = [job for job in jobs if job.id not in self._row]
        if new:
            self._note(new, moment.waiting)
        known = self._known.some(column((self._row[j.id] for j in jobs), len(jobs)))
        duration = column((moment.expected[j.id] for j in jobs), len(jobs))
        return replace(known, duration=np.maximum(duration, 1))

    def _note(self, new: Sequence[Job], waiting: Sequence[Job]) -> None:
        """Add jobs; drop those that no longer wait if they are more than those that do."""
        if len(self._known) > 2 * len(waiting) + FEW:
            kept = [self._row[j.id] for j in waiting if j.id in self._row]
            self._known = self._known.some(np.array(kept, np.int64))
            self._row = {j.id: k for k, j in enumerate(self._known.jobs)}
        self._row.update((job.id, k) for k, job in enumerate(new, len(self._known)))
        self._known = self._known.joined(self._waiting(new))

    def _waiting(self, jobs: Sequence[Job]) -> Waiting:
        """Return jobs with their walltimes as durations."""
        found = JobArrays.of(jobs, self.nodes.platform.resources)
        ewt = column((self.ewt[j.queue] for j in jobs), len(jobs))
        return Waiting(
            **{f.name: getattr(found, f.name) for f in fields(found)},
            jobs=jobs,
            walltime=found.duration,
            share=found.units * self.nodes.shares(found.requests)[found.kind],
            weight=self.greatest / ewt,
        )


def can_start_now(free: Ints, jobs: Waiting) -> Bools:
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


def requested(jobs: Waiting, resources: Sequence[str]) -> dict[str, int]:
    """Return what jobs request together: resource -> sum of units * request per unit."""
    amounts = (jobs.units[:, None] * jobs.requests[jobs.kind]).sum(axis=0)
    return dict(zip(resources, amounts.tolist(), strict=True))
