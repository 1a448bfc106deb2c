"""Jobs on nodes for CP dispatchers: the waiting jobs as arrays, and their allocation, each at its earliest start and best-fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.aggregate import Aggregate, no_aggregate
from ....heuristics.kernels.costs import Jobs
from ....heuristics.kernels.earliest import Scratch, earliest, earliest_empty, fill_most, new_scratch
from ....heuristics.kernels.events.machine import ANY, of_chunks
from ....heuristics.kernels.events.state import spread
from ....heuristics.kernels.placement import place_together
from ....heuristics.kernels.profile import NEVER, Machine, Profile, grown, new_profile, occupy, segment
from ....models import Job, Platform, Queue, Schedule
from ....models.array_types import Bools, Floats, Ints
from ....models.compiled import compiled, internal
from ....models.dispatch.arrays import (
    NO_CHUNKS,
    Eligibility,
    FurtherChunks,
    JobArrays,
    NodeArrays,
    column,
    offsets,
    request_rows,
)
from ....models.dispatch.formulations import Blocks
from ....models.node_states import node_states
from ....models.reservations import Reserved
from ...dispatcher import Moment, Start

# --- Heterogeneous jobs on the timeline of the nodes: all chunks of a job start together.
#
# The placement is that of list scheduling (``heuristics.kernels.placement``): the earliest start at which best fit finds nodes
# for all chunks. Jobs of equal units have a kernel of their own, so this one is compiled only where it is
# needed.

Nodes = Mapping[str, int]
"""Node name -> number of units."""


def have_chunks(requests: Requests) -> Bools:
    """Return the mask of the heterogeneous jobs."""
    with_chunks: Bools = np.diff(requests.first_further) > 0
    return with_chunks


def units_of_chunks(requests: Requests, j: int) -> list[int]:
    """Return the number of units of each chunk of a job."""
    further = requests.further_units[requests.first_further[j] : requests.first_further[j + 1]]
    return [int(requests.units[j]), *further.tolist()]


def place_chunks(
    profile: Profile, machine: Machine, scratch: Scratch, requests: Requests, j: int, allocation: Allocation
) -> Profile:
    """Allocate heterogeneous job j at its earliest start in its windows; return the profile with the job.

    Its entries of the allocation are chunk after chunk. If it does not fit in its windows, its start stays -1.
    """
    units = units_of_chunks(requests, j)
    chosen = np.empty(sum(units), np.int64)
    machine = machine._replace(allowed=requests.masks)
    start, profile = _place(profile, machine, _as_jobs(requests), scratch, no_aggregate(), j, chosen)
    allocation.start[j] = start
    at = int(requests.slot[j])
    for nodes in np.split(chosen, np.cumsum(units)[:-1]) if start >= 0 else ():
        used, put = np.unique(nodes, return_counts=True)
        allocation.node[at : at + used.size], allocation.put[at : at + used.size] = used, put
        at += used.size
    allocation.pieces[j] = at - requests.slot[j]
    return profile


def nodes_of_chunks(requests: Requests, allocation: Allocation, j: int, names: Sequence[str]) -> tuple[Nodes, ...]:
    """Return {node name: units} of each chunk of an allocated job."""
    entries = slice(requests.slot[j], requests.slot[j] + allocation.pieces[j])
    node, put = allocation.node[entries], allocation.put[entries]
    return tuple(of_chunks((np.array([0, node.size]), node, node, put), 0, units_of_chunks(requests, j), names))


def start_of(job: Job, nodes: Sequence[Nodes]) -> Start:
    """Return the start of a job; ``nodes``: those of each chunk."""
    return Start(job.id, nodes[0], tuple(nodes[1:]))


def by_part(job: Job, nodes: Sequence[Nodes]) -> dict[str, dict[str, int]]:
    """Return the nodes of a job as a schedule has them: those of each chunk by its name (``Job.parts``)."""
    return {part.id: dict(on) for part, on in zip(job.parts, nodes, strict=True)}


def nodes_of_parts(
    allocation: Allocation, requests: Requests, jobs: Mapping[int, Job], names: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return the nodes of allocated jobs, given by their indices, as a schedule has them."""
    by_job: dict[str, dict[str, int]] = {}
    if requests.further_units.size:
        for j, job in jobs.items():
            by_job |= by_part(job, allocation.nodes(requests, j, names))
        return by_job
    slot, pieces, node, put = (a.tolist() for a in (requests.slot, allocation.pieces, allocation.node, allocation.put))
    for j, job in jobs.items():
        at = slot[j]
        end = slot[j] + pieces[j]
        by_job[job.id] = {names[n]: units for n, units in zip(node[at:end], put[at:end], strict=True)}
    return by_job


def nodes_in(schedule: Schedule, job: Job) -> list[Nodes]:
    """Return the nodes of each chunk of a job in a schedule."""
    return [schedule.nodes[part.id] for part in job.parts]


def _as_jobs(requests: Requests) -> Jobs:
    """Return the jobs as list scheduling takes them; each has a group of windows of its own."""
    n = requests.units.size
    units = requests.units.copy()
    np.add.at(units, np.repeat(np.arange(n), np.diff(requests.first_further)), requests.further_units)
    return Jobs(
        release=np.full(n, -NEVER),
        latest=np.full(n, NEVER),
        duration=requests.duration,
        units=requests.units,
        request=requests.request,
        first_unit=offsets(units),
        first_further=requests.first_further,
        further_units=requests.further_units,
        further_request=requests.further_request,
        kind=np.zeros(n, np.int64),
        group=np.arange(n),
        first_window=requests.first,
        lo=requests.lo,
        hi=requests.hi,
        node_set=requests.way,
        per_node=np.full(n, NEVER),
        licences=np.zeros((n, 0), np.int64),
    )


@compiled
def _place(
    profile: Profile, machine: Machine, jobs: Jobs, s: Scratch, a: Aggregate, j: int, chosen: Ints
) -> tuple[int, Profile]:
    return place_together(profile, machine, jobs, s, a, j, -NEVER, NEVER, chosen)


# --- The waiting jobs of a moment as arrays, which of them can start now, and those that request nothing.

FEW = 256  # jobs that no longer wait and are kept in any case


@dataclass(frozen=True, eq=False)
class Placing:
    """The distinct ways in which jobs may use the nodes; the first one is on all of them, with as many units as fit.

    Parameters
    ----------
    masks : ndarray of bool, shape (ways, nodes)
        Whether units may be on each node.
    most : ndarray of int64, shape (ways,)
        Most units on a node.
    whole : ndarray of bool, shape (ways,)
        Whether no other job may be on the nodes.
    """

    masks: Bools
    most: Ints
    whole: Bools

    @classmethod
    def of(cls, ways: Iterable[tuple[Bools, int, bool]]) -> Placing:
        """Return these ways."""
        masks, most, whole = zip(*ways, strict=True)
        return cls(np.stack(masks), np.array(most, np.int64), np.array(whole, np.bool_))

    @classmethod
    def anywhere(cls, nodes: int) -> Placing:
        """Return the first way alone."""
        return cls.of([(np.ones(nodes, np.bool_), ANY, False)])


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
    way : ndarray of int64, shape (jobs,)
        The row of ``placing`` of each job.
    placing : Placing, optional
        How the jobs may use the nodes; None: all of them, with as many units as fit.
    """

    jobs: Sequence[Job]
    walltime: Ints
    share: Floats
    weight: Floats
    way: Ints
    placing: Placing | None = None

    def some(self, which: Bools | Ints) -> Waiting:
        """Return some of the jobs, selected by a mask, or by indices in the order of the indices."""
        if which.dtype != np.bool_:
            index = which
        else:
            index = np.flatnonzero(which)
        return super().some(index).changed(jobs=[self.jobs[k] for k in index.tolist()])

    def joined(self, other: Waiting) -> Waiting:
        """Return the jobs of both, first those of this object."""
        if not other.jobs:
            return self
        return super().joined(other).changed(jobs=[*self.jobs, *other.jobs], placing=self.placing or other.placing)

    def as_units(self) -> Waiting:
        """Return each job as one unit that requests the amounts of all units of all its chunks."""
        n = len(self.jobs)
        one = np.ones(n, np.int64)
        return self.changed(
            units=one, requests=self.amounts, kind=np.arange(n), further=None, way=np.zeros_like(one), placing=None
        )

    @property
    def demand(self) -> Floats:
        """``share * duration`` of each job, in seconds."""
        demand: Floats = self.share * self.duration
        return demand


class Register:
    """The constant data of the waiting jobs, kept so that each moment is quickly turned into arrays."""

    def __init__(self, platform: Platform, queues: Sequence[Queue]) -> None:
        self.nodes = NodeArrays(platform)
        self.ewt = {q.name: q.ewt for q in queues}
        self.greatest = max(self.ewt.values(), default=1)
        self._row: dict[str, int] = {}  # of the table below, by the id of a job
        self._table: Ints = np.empty((7, FEW), np.int64)  # submit, release, units, walltime, kind, ewt, way
        self._eligible = Eligibility(platform, queues)
        self._restricted = frozenset(q.name for q in queues if q.nodes)
        self._way: dict[tuple[bytes, int, bool], int] = {}
        self._ways: list[tuple[Bools, int, bool]] = []
        self._way_of(np.ones(len(platform.nodes), np.bool_), ANY, False)
        self._placing: Placing | None = None
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
        submit, release, units, walltime, kind, ewt, way = self._table[
            :, column(map(self._row.__getitem__, ids), len(ids))
        ]
        duration = column(map(moment.expected.__getitem__, ids), len(ids))
        share = units * self._share[kind]
        weight = self.greatest / ewt
        duration = np.maximum(duration, 1)
        further = self._chunks_of(ids)
        if further is not None:
            np.add.at(share, further.job, further.units * self._share[further.kind])
        return Waiting(
            submit, release, duration, units, self._requests, kind, jobs, walltime, share, weight, way, self._placing,
            further=further,
        )  # fmt: skip

    def _chunks_of(self, ids: Sequence[str]) -> FurtherChunks | None:
        """Return the further chunks of the heterogeneous ones of these jobs; None if there are none."""
        if not self._further:
            return None
        rows = [(k, *chunk) for k, name in enumerate(ids) for chunk in self._further.get(name, ())]
        if rows:
            return FurtherChunks(*np.array(rows, np.int64).T.copy())
        return None

    def _note(self, new: Sequence[Job], waiting: Sequence[Job]) -> None:
        """Add jobs; drop those that no longer wait if they are more than those that do."""
        if len(self._row) > 2 * len(waiting) + FEW:
            kept = [job.id for job in waiting if job.id in self._row]
            self._table = self._table[:, column(map(self._row.__getitem__, kept), len(kept))]
            self._row = {name: row for row, name in enumerate(kept)}
            self._further = {name: self._further[name] for name in kept if name in self._further}
        begin = len(self._row)
        end = len(self._row) + len(new)
        if end > self._table.shape[1]:
            self._table = np.concatenate([self._table, np.empty((7, end), np.int64)], axis=1)
        kinds = len(self._kind)
        resources = self.nodes.platform.resources
        for row, (job, request) in enumerate(zip(new, request_rows(new, resources), strict=True), begin):
            kind = self._kind_of(request)
            self._row[job.id] = row
            way = self._way_of_job(job)
            self._table[:, row] = job.submit, job.release, job.units, job.walltime, kind, self.ewt[job.queue], way
            if job.chunks:
                rows = request_rows(job.parts[1:], resources)
                self._further[job.id] = [(c.units, self._kind_of(r)) for c, r in zip(job.chunks[1:], rows, strict=True)]
        if len(self._ways) > (1 if self._placing is None else len(self._placing.most)):
            self._placing = Placing.of(self._ways)
        if len(self._kind) > kinds:
            self._requests = np.array(list(self._kind), np.int64).reshape(len(self._kind), -1)
            self._share = self.nodes.shares(self._requests)

    def _way_of_job(self, job: Job) -> int:
        """Return the way in which a job may use the nodes, as the row of ``Placing``."""
        if not (job.nodes or job.features or job.whole_nodes or job.queue in self._restricted or job.per_node):
            return 0
        return self._way_of(self._eligible.nodes(job), job.per_node or ANY, job.whole_nodes)

    def _way_of(self, mask: Bools, most: int, whole: bool) -> int:
        row = self._way.setdefault((mask.tobytes(), most, whole), len(self._ways))
        if row == len(self._ways):
            self._ways.append((mask, most, whole))
        return row

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
    startable: Bools = jobs.units <= room[jobs.kind]
    if jobs.further is not None:
        job, units, kind_of_chunk = jobs.further
        together = (jobs.amounts <= free.clip(0).sum(axis=0)).all(axis=1)
        np.logical_and.at(startable, job, (units <= room[kind_of_chunk]) & together[job])
    return startable


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
    startable = []
    for start in starts:
        parts = zip(jobs[start.job].parts, (start.nodes, *start.further), strict=True)
        nodes = [on if any(part.request.values()) else {node: part.units} for part, on in parts]
        startable.append(Start(start.job, nodes[0], tuple(nodes[1:])))
    return startable


def _takes_starts(moment: Moment) -> list[bool]:
    """Return whether each node takes starts now."""
    up = [node_states()[state].starts for state in moment.states]
    return up if moment.ready is None else (np.array(up) & (moment.ready <= moment.now)).tolist()


# --- Allocation of jobs on nodes, one job after another, each at its earliest start and best-fit.
#
# Running jobs and reservations are taken into account.

LAST = NEVER - 1  # the latest possible start
ROOM = 32  # breakpoints per node, at first


class Requests(NamedTuple):
    """The jobs to allocate, as arrays.

    Parameters
    ----------
    units, duration : ndarray of int64, shape (jobs,)
        Number of units; duration in seconds.
    request : ndarray of int64, shape (jobs, resources)
        Request per unit.
    first : ndarray of int64, shape (jobs + 1,)
        Job j has the start windows ``first[j] .. first[j + 1] - 1``.
    lo, hi : ndarray of int64, shape (windows,)
        First and last start of each window, in seconds.
    slot : ndarray of int64, shape (jobs + 1,)
        The nodes of job j go to the entries ``slot[j] .. slot[j + 1] - 1`` of an ``Allocation``.
    first_further : ndarray of int64, shape (jobs + 1,)
        The further chunks of a heterogeneous job j are ``first_further[j] .. first_further[j + 1] - 1``; ``units`` and
        ``request`` are those of its first chunk.
    further_units, further_request : ndarray of int64, shapes (chunks,) and (chunks, resources)
        The same of the further chunks.
    way, masks, most, whole : ndarray
        The way in which each job may use the nodes, shape (jobs,); the columns of ``Placing``.
    """

    units: Ints
    duration: Ints
    request: Ints
    first: Ints
    lo: Ints
    hi: Ints
    slot: Ints
    first_further: Ints
    further_units: Ints
    further_request: Ints
    way: Ints
    masks: Bools
    most: Ints
    whole: Bools

    def on_nodes(self, nodes: Mapping[int, Sequence[Nodes]], start: int, names: Sequence[str]) -> Allocation:
        """Return the allocation of some jobs to given nodes, all with the same start; the others have none.

        ``nodes`` has the nodes of each chunk of these jobs by their indices, ``names`` are the names of all nodes.
        """
        allocation = no_allocation(self)
        index = {name: n for n, name in enumerate(names)}
        for j, chunks in nodes.items():
            allocation.start[j] = start
            allocation.pieces[j] = sum(map(len, chunks))
            listed = [pair for chunk in chunks for pair in chunk.items()]
            for e, (name, units) in enumerate(listed, self.slot[j]):
                allocation.node[e], allocation.put[e] = index[name], units
        return allocation


class Allocation(NamedTuple):
    """The start and the nodes of each job.

    Parameters
    ----------
    start : ndarray of int64, shape (jobs,)
        Start in seconds, -1 if the job does not fit in its windows.
    pieces : ndarray of int64, shape (jobs,)
        Number of nodes of the job.
    node, put : ndarray of int64, shape (slots,)
        Job j has ``put[e]`` units on node ``node[e]`` for e in ``slot[j] .. slot[j] + pieces[j] - 1``; the entries of a
        heterogeneous job are chunk after chunk.
    """

    start: Ints
    pieces: Ints
    node: Ints
    put: Ints

    def nodes(self, requests: Requests, j: int, names: Sequence[str]) -> tuple[Nodes, ...]:
        """Return {node name: units} of each chunk of job j."""
        if requests.first_further[j] < requests.first_further[j + 1]:
            return nodes_of_chunks(requests, self, j, names)
        at = int(requests.slot[j])
        end = at + int(self.pieces[j])
        return ({names[n]: u for n, u in zip(self.node[at:end].tolist(), self.put[at:end].tolist(), strict=True)},)


def no_allocation(requests: Requests) -> Allocation:
    """Return an allocation with no job: the start of each is -1."""
    n = requests.units.size
    slots = int(requests.slot[-1])
    return Allocation(
        np.full(n, -1, np.int64), np.zeros(n, np.int64), np.empty(slots, np.int64), np.empty(slots, np.int64)
    )


def requests_of(jobs: Waiting, windows: Sequence[Sequence[tuple[int, int]]], nodes: int) -> Requests:
    """Return the arrays of some jobs with their start windows; ``nodes`` is the number of nodes of the platform."""
    flat = np.array([w for one in windows for w in one], np.int64).reshape(-1, 2)
    further = jobs.further or NO_CHUNKS
    slots = np.minimum(jobs.units, nodes)
    first_further = np.zeros(len(jobs) + 1, np.int64)
    if jobs.further is not None:
        np.add.at(slots, further.job, np.minimum(further.units, nodes))
        first_further = offsets(further.counts(len(jobs)))
    placing = jobs.placing or Placing.anywhere(nodes)
    return Requests(
        units=jobs.units,
        duration=jobs.duration,
        request=jobs.request,
        first=offsets(list(map(len, windows))),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        slot=offsets(slots),
        first_further=first_further,
        further_units=further.units,
        further_request=jobs.requests[further.kind],
        way=jobs.way,
        masks=placing.masks,
        most=placing.most,
        whole=placing.whole,
    )


class NodeTimeline:
    """The free capacity of each node over time, beside running jobs, reservations and allocated jobs.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Capacity of each node, in the order of the platform.
    now : int
        The current time in seconds.
    usage : tuple of ndarray
        The use of nodes by the running jobs: node, end, amounts (see ``model.Usage``).
    blocks : Blocks, optional
        What a desired profile takes from the nodes beside them.
    """

    def __init__(self, capacity: Ints, now: int, usage: tuple[Ints, Ints, Ints], blocks: Blocks | None = None) -> None:
        self.now = now
        node, end, amount = usage
        taken = Blocks(node, np.full(end.size, now), end, amount)
        if blocks is not None:
            taken = Blocks(*(np.concatenate(pair) for pair in zip(taken, blocks, strict=True)))
        every = np.ones((1, len(capacity)), np.bool_)
        worth = 1 / np.maximum(1, capacity.sum(axis=0))
        self.machine = Machine(capacity, worth, now, *taken, every, np.zeros(0, np.int64), False)
        self._profile = new_profile(self.machine, ROOM)
        self._scratch = new_scratch(capacity.shape[0])

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.machine.capacity.shape[0])

    def end(self) -> int:
        """Return the time from which on all nodes are free; ``now`` on an idle machine."""
        return int(max([self.now, *(self._profile.time[n, k - 1] for n, k in enumerate(self._profile.length))]))

    def copy(self) -> NodeTimeline:
        """Return a copy; changes of the copy do not affect this timeline."""
        made = object.__new__(NodeTimeline)
        made.now = self.now
        made.machine = self.machine
        made._scratch = self._scratch
        made._profile = Profile(*(a.copy() for a in self._profile))
        return made

    def place(self, requests: Requests, order: Ints) -> Allocation:
        """Allocate the jobs in this order, each at its earliest start in its windows.

        A job that does not fit in its windows gets the start -1 and uses no node.
        """
        allocation = no_allocation(requests)
        nodes, begin = (self.machine, self._scratch), 0
        for k in [*np.flatnonzero(have_chunks(requests)[order]).tolist(), order.size]:
            if begin < k:
                self._profile = _place_all(self._profile, *nodes, requests, order[begin:k], allocation)
            if k < order.size:
                self._profile = place_chunks(self._profile, *nodes, requests, int(order[k]), allocation)
            begin = k + 1
        return allocation

    def hold(self, requests: Requests, allocation: Allocation) -> None:
        """Subtract jobs that were allocated on another timeline, with the same starts and nodes."""
        self._profile = _hold_all(self._profile, self.machine, requests, allocation)

    def fits_now(self, requests: Requests) -> Ints:
        """Return 1 for each job that could start now and run for its duration, each alone; else 0.

        The jobs must have a start now as their only window.
        """
        units = _fit_now(self._profile, self.machine, self._scratch, requests, self.now)
        for j in np.flatnonzero(have_chunks(requests) & (units > 0)).tolist():
            units[j] = self.copy().place(requests, np.array([j])).start[j] == self.now
        return units


def warm_up_kernels() -> None:
    """Use the kernels once on an empty node, so that their compilation is no part of the first decision."""
    timeline = NodeTimeline(np.ones((1, 1), np.int64), 0, (*np.zeros((2, 0), np.int64), np.zeros((0, 1), np.int64)))
    one = np.ones(1, np.int64)
    zero = np.zeros(1, np.int64)
    ends = np.array([0, 1])
    none = np.zeros(2, np.int64)
    requests = Requests(
        one, one, np.ones((1, 1), np.int64), ends, zero, zero, ends, none, zero[:0], np.zeros((0, 1), np.int64), zero,
        one.reshape(1, 1) > 0, one, zero > 0,
    )  # fmt: skip
    timeline.fits_now(requests)
    timeline.copy().hold(requests, timeline.place(requests, zero))


@compiled
def _place_all(
    profile: Profile, machine: Machine, s: Scratch, requests: Requests, order: Ints, allocation: Allocation
) -> Profile:
    nodes, resources = machine.capacity.shape
    free = np.empty((nodes, resources), np.int64)
    chosen = np.empty(nodes, np.int64)
    put = np.empty(nodes, np.int64)
    unranked = np.empty(0, np.int64)
    for k in range(order.size):
        j = order[k]
        start = _earliest(profile, machine, s, requests, j)
        allocation.start[j] = start
        if start < 0:
            continue
        for n in range(nodes):
            if s.fits[n] > 0:
                free[n] = profile.free[n, segment(profile, n, start)]
        entries = spread(free, machine.capacity, unranked, s.fits, requests.units[j], True, chosen, put)
        allocation.pieces[j] = entries
        for e in range(entries):
            n = chosen[e]
            allocation.node[requests.slot[j] + e], allocation.put[requests.slot[j] + e] = n, put[e]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            if requests.whole[requests.way[j]]:
                occupy(profile, n, start, start + requests.duration[j], machine.capacity[n], 1)
            else:
                occupy(profile, n, start, start + requests.duration[j], requests.request[j], put[e])
    return profile


@compiled
def _hold_all(profile: Profile, machine: Machine, requests: Requests, allocation: Allocation) -> Profile:
    for j in range(requests.units.size):
        if allocation.start[j] < 0:
            continue
        row = requests.first_further[j] - 1
        left = requests.units[j]
        for e in range(requests.slot[j], requests.slot[j] + allocation.pieces[j]):
            n = allocation.node[e]
            end = allocation.start[j] + requests.duration[j]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            if requests.whole[requests.way[j]]:
                occupy(profile, n, allocation.start[j], end, machine.capacity[n], 1)
                continue
            if left == 0:  # the next chunk
                row += 1
                left = requests.further_units[row]
            left -= allocation.put[e]
            request = requests.request[j] if row < requests.first_further[j] else requests.further_request[row]
            occupy(profile, n, allocation.start[j], end, request, allocation.put[e])
    return profile


@internal
def _fill_most(machine: Machine, s: Scratch, requests: Requests, j: int) -> None:
    """Set ``s.most`` to the units of job j that each empty node can hold, of those that it may use."""
    way = requests.way[j]
    fill_most(machine, s, requests.request[j], min(requests.units[j], requests.most[way]))
    if way > 0:
        for n in range(s.most.size):
            if not requests.masks[way, n]:
                s.most[n] = 0


@internal
def _earliest_in(profile: Profile, machine: Machine, s: Scratch, requests: Requests, j: int, lo: int, hi: int) -> int:
    """Return the earliest start of job j in [lo, hi], or -1; ``s.most`` must be set."""
    units = requests.units[j]
    duration = requests.duration[j]
    if requests.whole[requests.way[j]]:
        return int(earliest_empty(profile, s, machine.capacity, units, duration, lo, hi))
    return int(earliest(profile, s, None, j, requests.request[j], units, duration, lo, hi))


@internal
def _earliest(profile: Profile, machine: Machine, s: Scratch, requests: Requests, j: int) -> int:
    """Return the earliest start of job j in its windows, or -1."""
    _fill_most(machine, s, requests, j)
    for w in range(requests.first[j], requests.first[j + 1]):
        if requests.lo[w] <= requests.hi[w]:
            start = _earliest_in(profile, machine, s, requests, j, requests.lo[w], requests.hi[w])
            if start >= 0:
                return start
    return -1


@compiled
def _fit_now(profile: Profile, machine: Machine, s: Scratch, requests: Requests, now: int) -> Ints:
    units = np.zeros(requests.units.size, np.int64)
    for j in range(requests.units.size):
        _fill_most(machine, s, requests, j)
        units[j] = _earliest_in(profile, machine, s, requests, j, now, now) == now
    return units


# --- Reservations of the machine in the CP dispatchers: jobs with a fixed start and fixed nodes.


class FixedJobs(NamedTuple):
    """Reservations as jobs: what they hold from now on.

    Parameters
    ----------
    jobs : Waiting
        One job per reservation; its duration ends with the reservation.
    allocations : list of Allocation
        Start (now, or the start of the reservation) and nodes of each.
    """

    jobs: Waiting
    allocations: list[Allocation]

    @property
    def starts(self) -> list[int]:
        """The start of each job in seconds."""
        return [int(a.start[0]) for a in self.allocations]

    def hold_on(self, timeline: NodeTimeline) -> None:
        """Subtract the reservations from a timeline."""
        for k, allocation in enumerate(self.allocations):
            start = self.starts[k]
            one = self.jobs.some(np.array([k]))
            timeline.hold(requests_of(one, [((start, start),)], timeline.nodes), allocation)

    def nodes(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return job id -> {node name: units}; ``names`` are the names of all nodes."""
        return {
            job.id: {
                names[n]: u for n, u in zip(a.node[: a.pieces[0]].tolist(), a.put[: a.pieces[0]].tolist(), strict=True)
            }
            for job, a in zip(self.jobs.jobs, self.allocations, strict=True)
        }

    def before(self, time: int) -> FixedJobs:
        """Return the reservations that start before a time in seconds."""
        kept = [k for k, start in enumerate(self.starts) if start < time]
        return FixedJobs(self.jobs.some(np.array(kept, np.int64)), [self.allocations[k] for k in kept])


OF_RESERVATIONS = (
    "(reservations)"  # the queue of reservations in models, where all queues of the moment have nodes of their own
)


def fixed_jobs(moment: Moment, nodes: NodeArrays) -> FixedJobs:
    """Return the accepted reservations of a moment as jobs."""
    listed = list(moment.reserved)
    starts = [max(moment.now, r.start) for r in listed]
    open_queues = [q.name for q in moment.queues if not q.nodes]  # their start and nodes are fixed
    jobs = [
        Job(
            f"(reservation {r.name})",
            start,
            r.end - start,
            sum(r.nodes.values()),
            dict(r.request),
            r.queue if r.queue in open_queues else next(iter(open_queues), OF_RESERVATIONS),
        )
        for r, start in zip(listed, starts, strict=True)
    ]
    count = len(jobs)
    lengths = column((j.walltime for j in jobs), len(jobs))
    requests = np.array(request_rows(jobs, moment.platform.resources), np.int64).reshape(
        count, len(moment.platform.resources)
    )
    units = column((j.units for j in jobs), count)
    begin = column(starts, count)
    zeros = np.zeros(count)
    waiting = Waiting(
        begin, begin, lengths, units, requests, np.arange(count), jobs, lengths, zeros, np.ones(count),
        np.zeros(count, np.int64),
    )  # fmt: skip
    return FixedJobs(waiting, [_allocation(r, s, nodes) for r, s in zip(listed, starts, strict=True)])


def _allocation(reserved: Reserved, start: int, nodes: NodeArrays) -> Allocation:
    slots = min(sum(reserved.nodes.values()), len(nodes.platform.nodes))
    node = np.zeros(slots, np.int64)
    put = np.zeros(slots, np.int64)
    for k, (name, units) in enumerate(reserved.nodes.items()):
        node[k], put[k] = nodes.index[name], units
    return Allocation(np.array([start]), np.array([len(reserved.nodes)]), node, put)
