"""The waiting jobs of a moment as arrays, which of them can start now, and those that request nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from ....heuristics.kernels.profile import NEVER
from ....models import Job, Platform, Queue
from ....models.dispatch.chunks.arrays import FurtherChunks
from ....models.dispatch.job_arrays import Bools, Floats, Ints, JobArrays, NodeArrays, column, request_rows
from ....models.node_states import node_states
from ...dispatcher import Moment, Start
from .chunks import start_of

FEW = 256  # jobs that no longer wait and are kept in any case


@dataclass(frozen=True, eq=False)
class Waiting(JobArrays):
    """Waiting jobs as arrays, with one entry per job, in order of arrival.

    Parameters
    ----------
    submit, release, duration, units, requests, kind
        As in ``JobArrays``; the durations are the expected ones in seconds, at least 1 s. The requests are in the order
        in which they were first seen; some may belong to no waiting job.
    jobs : sequence of Job
        The jobs.
    walltime : ndarray of int64, shape (jobs,)
        Requested walltimes in seconds.
    share : ndarray of float, shape (jobs,)
        ``units * sum over resources r of request[r] / total[r]``, where ``total`` is the capacity of the platform; of a
        heterogeneous job the sum over its chunks.
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
        return super().some(index).changed(jobs=[self.jobs[k] for k in index.tolist()])

    def joined(self, other: Waiting) -> Waiting:
        """Return the jobs of both, first those of this object."""
        if not other.jobs:
            return self
        return super().joined(other).changed(jobs=[*self.jobs, *other.jobs])

    def as_units(self) -> Waiting:
        """Return each job as one unit that requests the amounts of all units of all its chunks."""
        n = len(self.jobs)
        return self.changed(units=np.ones(n, np.int64), requests=self.amounts, kind=np.arange(n), further=None)

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
        self._row: dict[str, int] = {}  # of the table below, by the id of a job
        self._table: Ints = np.empty((6, FEW), np.int64)  # submit, release, units, walltime, kind, ewt
        self._kind: dict[tuple[int, ...], int] = {}
        self._requests: Ints = np.empty((0, len(platform.resources)), np.int64)  # one row per kind
        self._share: Floats = np.empty(0)  # of one unit, per kind
        self._further: dict[str, list[tuple[int, int]]] = {}  # units and kind of each further chunk, by the id of a job

    def allowed(self, moment: Moment) -> Waiting:
        """Return the waiting jobs that their calendars allow to start now."""
        jobs = list(compress(moment.waiting, moment.may_start.tolist()))
        ids = [job.id for job in jobs]
        if moment.changed:
            self._row.clear()
            self._further.clear()
        if new := [job for job in jobs if job.id not in self._row]:
            self._note(new, moment.waiting)
        submit, release, units, walltime, kind, ewt = self._table[:, column(map(self._row.__getitem__, ids), len(ids))]
        duration = column(map(moment.expected.__getitem__, ids), len(ids))
        share, weight = units * self._share[kind], self.greatest / ewt
        duration, further = np.maximum(duration, 1), self._chunks_of(ids)
        if further is not None:
            np.add.at(share, further.job, further.units * self._share[further.kind])
        return Waiting(
            submit, release, duration, units, self._requests, kind, jobs, walltime, share, weight, further=further
        )  # fmt: skip

    def _chunks_of(self, ids: Sequence[str]) -> FurtherChunks | None:
        """Return the further chunks of the heterogeneous ones of these jobs; None if there are none."""
        if not self._further:
            return None
        rows = [(k, *chunk) for k, name in enumerate(ids) for chunk in self._further.get(name, ())]
        return FurtherChunks(*np.array(rows, np.int64).T.copy()) if rows else None

    def _note(self, new: Sequence[Job], waiting: Sequence[Job]) -> None:
        """Add jobs; drop those that no longer wait if they are more than those that do."""
        if len(self._row) > 2 * len(waiting) + FEW:
            kept = [job.id for job in waiting if job.id in self._row]
            self._table = self._table[:, column(map(self._row.__getitem__, kept), len(kept))]
            self._row = {name: row for row, name in enumerate(kept)}
            self._further = {name: self._further[name] for name in kept if name in self._further}
        begin, end = len(self._row), len(self._row) + len(new)
        if end > self._table.shape[1]:
            self._table = np.concatenate([self._table, np.empty((6, end), np.int64)], axis=1)
        kinds, resources = len(self._kind), self.nodes.platform.resources
        for row, (job, request) in enumerate(zip(new, request_rows(new, resources), strict=True), begin):
            kind = self._kind_of(request)
            self._row[job.id] = row
            self._table[:, row] = job.submit, job.release, job.units, job.walltime, kind, self.ewt[job.queue]
            if job.chunks:
                rows = request_rows(job.parts[1:], resources)
                self._further[job.id] = [(c.units, self._kind_of(r)) for c, r in zip(job.chunks[1:], rows, strict=True)]
        if len(self._kind) > kinds:
            self._requests = np.array(list(self._kind), np.int64).reshape(len(self._kind), -1)
            self._share = self.nodes.shares(self._requests)

    def _kind_of(self, request: tuple[int, ...]) -> int:
        """Return the row of a request; a new one if it was not seen before."""
        return self._kind.setdefault(request, len(self._kind))


def can_start_now(free: Ints, jobs: Waiting) -> Bools:
    """Return the mask of the jobs that fit now, each alone: ``sum_n min_r free[n, r] // request[r] >= units``.

    ``free`` has the shape (nodes, resources); r runs over the resources that the job requests. Of a heterogeneous job,
    each chunk must fit alone, and all together need at most the sum of the free amounts: a necessary condition.
    """
    kinds = np.unique(jobs.rows.kind)
    requests = jobs.requests[kinds]
    fits = np.full((kinds.size, free.shape[0]), NEVER)  # units of each kind on each node
    for amount, request in zip(free.T, requests.T, strict=True):
        used = np.flatnonzero(request)
        fits[used] = np.minimum(fits[used], amount // request[used, None])
    room = np.zeros(len(jobs.requests), np.int64)
    room[kinds] = np.where(requests.any(axis=1), np.maximum(fits, 0).sum(axis=1), NEVER)
    found: Bools = jobs.units <= room[jobs.kind]
    if jobs.further is not None:
        job, units, kind_of_chunk = jobs.further
        together = (jobs.amounts <= free.clip(0).sum(axis=0)).all(axis=1)
        np.logical_and.at(found, job, (units <= room[kind_of_chunk]) & together[job])
    return found


def requested(jobs: Waiting, resources: Sequence[str]) -> dict[str, int]:
    """Return what jobs request together: resource -> sum over all units of the request per unit."""
    return dict(zip(resources, jobs.amounts.sum(axis=0).tolist(), strict=True))


def start_empty(moment: Moment) -> tuple[list[Start], Moment]:
    """Return the starts of the jobs without requests, and the moment without these jobs.

    They are started here, not by a model, while some nodes take no starts: the free amounts of such nodes are 0, which is
    enough for these jobs. On a machine whose nodes all take starts, they are jobs like the others: no starts, and the
    moment itself.
    """
    takes = _takes_starts(moment)
    if all(takes):
        return [], moment
    empty = [not any(any(part.request.values()) for part in job.parts) for job in moment.waiting]
    if not any(empty):
        return [], moment
    node = next(compress(moment.platform.nodes, takes), None)
    allowed = zip(moment.waiting, empty, moment.may_start.tolist(), strict=True)
    starts = [
        start_of(job, [{node: part.units} for part in job.parts])
        for job, is_empty, may in allowed
        if is_empty and may and node is not None
    ]
    others = [not is_empty for is_empty in empty]
    rest = replace(moment, waiting=tuple(compress(moment.waiting, others)), may_start=moment.may_start[others])
    return starts, rest


def on_open_nodes(starts: Sequence[Start], moment: Moment) -> list[Start]:
    """Return the starts with the units of empty chunks on a node that takes starts, for the reason of ``start_empty``."""
    takes = _takes_starts(moment)
    if all(takes) or not any(start.further for start in starts):
        return list(starts)
    node = next(compress(moment.platform.nodes, takes))
    jobs = {job.id: job for job in moment.waiting}
    found = []
    for start in starts:
        parts = zip(jobs[start.job].parts, (start.nodes, *start.further), strict=True)
        nodes = [on if any(part.request.values()) else {node: part.units} for part, on in parts]
        found.append(Start(start.job, nodes[0], tuple(nodes[1:])))
    return found


def _takes_starts(moment: Moment) -> list[bool]:
    """Return whether each node takes starts."""
    return [node_states()[state].starts for state in moment.states]
