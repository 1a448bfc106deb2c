"""Conversion of jobs, a platform and running jobs to the arrays of a replay, and of its places to nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ....models import Platform, Queue, Running
from ....models.array_types import Bools, Ints
from ....models.dispatch.arrays import JobArrays, NodeArrays, column, offsets
from ....models.dispatch.jobs import DAY, Window
from ....models.problem import part_name
from ..profile import NEVER
from .counted_replay import numbered
from .entries import begin, keep_places, try_start
from .state import NOW, UNSTARTED, State, TraceArrays, new_state, set_open

# --- Conversion of jobs and a platform to the arrays of a replay.


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
    """Return whether it is enough to count the free nodes, if each job may use all of them.

    True if all nodes are equal and no node ever holds two units, because every unit requests more than half of some
    resource. The nodes of each job are then chosen after the replay (the first free ones).
    """
    if len(platform.classes) != 1:
        return False
    if jobs.job_arrays.further is not None:
        return False
    (vector,) = platform.classes
    return bool((2 * jobs.job_arrays.requests > np.array(vector)).all(axis=0).any())


# --- Where the jobs of a replay may run, and how.

PARTS = 2**40  # of a node, one for each unit, where units that request nothing must not be beside whole nodes
ANY = 2**31  # ``JobNodes.most``: as many units on a node as fit


@dataclass(frozen=True, eq=False)
class JobNodes:
    """Which nodes the jobs of a table may use, and how.

    Parameters
    ----------
    node_set
        The row of ``sets`` of each job, shape (jobs,).
    sets
        Whether each node is in each set, shape (sets, nodes); the first one is all nodes.
    most
        Most units of each job on a node, ANY: as many as fit, shape (jobs,).
    whole
        Whether no other job may be on the nodes of each job, shape (jobs,).
    """

    node_set: Ints
    sets: Bools
    most: Ints
    whole: Bools

    @classmethod
    def everywhere(cls, jobs: int, nodes: int) -> JobNodes:
        """Return that all jobs may use all nodes, with as many units as fit, beside other jobs."""
        whole = np.zeros(jobs, np.bool_)
        return cls(np.zeros(jobs, np.int64), np.ones((1, nodes), np.bool_), np.full(jobs, ANY), whole)


def is_everywhere(job_nodes: JobNodes) -> bool:
    """Return whether all jobs may use all nodes, with as many units as fit, beside other jobs."""
    restricted = job_nodes.node_set.any() or job_nodes.whole.any() or (job_nodes.most < ANY).any()
    return not restricted


@dataclass(frozen=True, eq=False)
class CountedNodes:
    """Nodes of which it is enough to count the free ones: those that all jobs may use alike form one place.

    Parameters
    ----------
    place
        The place of each node, in the order of their first nodes, shape (nodes,).
    node_set
        The row of ``masks`` of each job, shape (jobs,).
    masks
        Whether the jobs of each set may use each place, shape (sets, places).
    """

    place: Ints
    node_set: Ints
    masks: Bools


MOST_SETS = 2000  # pairs of a set of nodes and a request: more would make the places as many as the nodes


def counted_nodes(jobs: JobTable, platform: Platform, job_nodes: JobNodes) -> CountedNodes | None:
    """Return the places of nodes of which it is enough to count the free ones; None if the nodes must be followed.

    No node may ever hold two units: each unit that fits on a node requests more than half of some resource, the same for
    all of them, or its job has whole nodes with one unit on each.
    """
    arrays = jobs.job_arrays
    if arrays.further is not None:
        return None
    alone = job_nodes.whole & (job_nodes.most == 1)
    shares = np.zeros(len(arrays.requests), np.bool_)
    shares[arrays.kind[~alone]] = True
    vectors, of_node = np.unique(NodeArrays(platform).capacity, axis=0, return_inverse=True)
    fits: Bools = np.all(arrays.requests[:, None, :] <= vectors[None, :, :], axis=2)
    for v, vector in enumerate(vectors):
        requests = arrays.requests[shares & fits[:, v]]
        if requests.size and not (2 * requests > vector).all(axis=0).any():
            return None
    pairs, node_set = np.unique(np.column_stack([job_nodes.node_set, arrays.kind]), axis=0, return_inverse=True)
    if len(pairs) > MOST_SETS:
        return None
    may = job_nodes.sets[pairs[:, 0]] & fits[pairs[:, 1]][:, of_node.ravel()]
    _, first, place = np.unique(may, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    return CountedNodes(number[place.ravel()], node_set.ravel(), np.ascontiguousarray(may[:, first[order]]))


def trace_of(
    jobs: JobTable,
    platform: Platform,
    runtime: Ints,
    by_count: bool,
    after: Mapping[int, tuple[int, int]] | None = None,
    job_nodes: JobNodes | None = None,
    nodes: CountedNodes | None = None,
) -> TraceArrays:
    """Return the arrays of a replay, without limits.

    Parameters
    ----------
    jobs
        The jobs.
    platform
        The nodes.
    runtime
        Duration of each job in seconds, shape (jobs,).
    by_count
        Count free nodes: all nodes are one place (see ``counted``), or the places of ``nodes``.
    after
        Row of a job -> row of the job that it waits for, and the seconds from that end to its own arrival.
    job_nodes
        Which nodes the jobs may use, and how; None: all of them.
    nodes
        The places of nodes that are counted (``counted_nodes``); None: all are one place.

    Returns
    -------
    TraceArrays
        The arrays.
    """
    arrays = jobs.job_arrays
    rows = arrays.rows
    job_nodes = job_nodes or JobNodes.everywhere(len(arrays), len(platform.nodes))
    place = np.arange(len(platform.nodes))
    if by_count:
        if nodes is None:
            place = np.zeros(len(platform.nodes), np.int64)
        else:
            place = nodes.place
    places = np.bincount(place)
    slots = np.minimum(arrays.units, places.size)
    further = rows.units[len(arrays) :]
    further_request = arrays.requests[rows.kind[len(arrays) :]]
    if arrays.further is not None:
        np.add.at(slots, arrays.further.job, np.minimum(further, len(platform.nodes)))
    if by_count:
        capacity = places.astype(np.int64).reshape(-1, 1)
        request = np.ones((len(arrays), 1), np.int64)
        if nodes is None:
            kind = np.zeros(len(arrays), np.int64)
        else:
            kind = nodes.node_set
        job_nodes = JobNodes.everywhere(len(arrays), places.size)
        if nodes is not None:
            job_nodes = replace(job_nodes, node_set=nodes.node_set, sets=nodes.masks)
    else:
        capacity = NodeArrays(platform).capacity
        request = arrays.request
        kind = _kinds(arrays.kind, job_nodes)
        if job_nodes.whole.any() and not arrays.requests.any(axis=1).all():
            # units that request nothing take a part of a node, too, so that no whole node is beside them
            capacity = np.column_stack([capacity, np.full(len(capacity), PARTS)])
            request = np.column_stack([request, np.ones(len(request), np.int64)])
            further_request = np.column_stack([further_request, np.ones(len(further_request), np.int64)])
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
        kind_job=_job_of_each(kind),
        node_set=job_nodes.node_set,
        masks=job_nodes.sets,
        first_in_set=offsets(job_nodes.sets.sum(axis=1)),
        in_set=np.flatnonzero(job_nodes.sets) % places.size,
        most=job_nodes.most,
        whole=job_nodes.whole,
        each_node=np.zeros((0, capacity.shape[1]), np.int64),
        first_limit=np.zeros(len(arrays) + 1, np.int64),
        limit=np.zeros(0, np.int64),
        limit_amount=np.zeros(0, np.int64),
        limit_checked=np.zeros(0, np.bool_),
        limit_capacity=np.zeros(0, np.int64),
        member=np.argsort(place, kind="stable"),
        first_member=offsets(places),
        first_further=rows.first - len(arrays),
        further_units=further,
        further_request=np.ascontiguousarray(further_request),
        first=offsets(slots),
        own=own,
        daily=daily,
        first_window=offsets([len(listed) for listed, _ in windows]),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        period=np.array([period for _, period in windows], np.int64),
        capacity=np.ascontiguousarray(capacity),
        machine_capacity=np.zeros(0, np.int64),
        machine_request=np.zeros((len(arrays), 0), np.int64),
        first_follower=first_follower,
        follower=follower,
        think=think,
        earliest=arrays.release[follower],
        rank=np.zeros(0, np.int64),
    )


def _kinds(kind: Ints, job_nodes: JobNodes) -> Ints:
    """Return the number of the distinct request of each job, with the places that it may use, and how."""
    if is_everywhere(job_nodes):
        return kind
    columns = [kind, job_nodes.node_set, job_nodes.most, job_nodes.whole]
    numbered: Ints = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    return numbered


def _job_of_each(kind: Ints) -> Ints:
    """Return a job of each kind, shape (kinds,)."""
    job = np.zeros(int(kind.max(initial=0)) + 1, np.int64)
    job[kind] = np.arange(kind.size)
    return job


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
    own = np.full(len(jobs), -1, np.int64)
    daily = number[jobs.queue]
    for k in [k for k in with_hours if jobs.queues[k].whole_run]:
        here = np.flatnonzero(jobs.queue == k)
        for walltime in np.unique(jobs.walltime[here]).tolist():
            daily[here[jobs.walltime[here] == walltime]] = len(calendars)
            calendars.append((jobs.queues[k].hours(walltime), DAY))
    for k, listed in jobs.windows.items():
        own[k] = len(calendars)
        calendars.append((listed, 0))
    return own, daily, calendars


# --- The nodes of the jobs of a replay.

Ranges = tuple[Ints, Ints, Ints, Ints]
"""(first, low, high, units): job k has the ranges ``first[k] .. first[k + 1] - 1``. Range i is the nodes
``low[i] .. high[i]`` (both included) with ``units[i]`` units on each, chunk after chunk of a heterogeneous job. Shapes:
first (jobs + 1,), others (ranges,)."""


def by_name(ranges: Ranges, names: Sequence[str]) -> list[dict[str, int]]:
    """Return {node: units} of each job.

    Examples
    --------
    >>> one, two = np.array([1]), np.array([2])
    >>> by_name((np.array([0, 1]), one, two, one), ["n-0", "n-1", "n-2"])
    [{'n-1': 1, 'n-2': 1}]
    """
    first, low, high, units = (part.tolist() for part in ranges)
    placed = []
    for here, following in pairwise(first):
        used: dict[str, int] = {}
        for k in range(here, following):
            used.update(dict.fromkeys(names[low[k] : high[k] + 1], units[k]))
        placed.append(used)
    return placed


def of_chunks(ranges: Ranges, job: int, units: Sequence[int], names: Sequence[str]) -> list[dict[str, int]]:
    """Return {node: units} of each chunk of a job; ``units``: the units of each chunk.

    Examples
    --------
    >>> low, each = np.array([1, 0]), np.array([2, 1])
    >>> of_chunks((np.array([0, 2]), low, low, each), 0, [2, 1], ["n-0", "n-1"])
    [{'n-1': 2}, {'n-0': 1}]
    """
    first, low, high, each = ranges
    placed: list[dict[str, int]] = [{} for _ in units]
    chunk, left = 0, units[0]
    for k in range(int(first[job]), int(first[job + 1])):
        while left == 0 and chunk + 1 < len(units):
            chunk += 1
            left = units[chunk]
        nodes = names[int(low[k]) : int(high[k]) + 1]
        placed[chunk].update(dict.fromkeys(nodes, int(each[k])))
        left -= len(nodes) * int(each[k])
    return placed


def named_parts(
    ranges: Ranges, jobs: Sequence[tuple[int, str, Sequence[int]]], names: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return {node: units} of each part of heterogeneous jobs, by its name; ``jobs``: (row, id, units of the chunks)."""
    return {
        part_name(job, k): on for row, job, units in jobs for k, on in enumerate(of_chunks(ranges, row, units, names))
    }


def ranges_of(trace: TraceArrays, state: State, by_count: bool) -> Ranges:
    """Return the ranges of nodes of all started jobs; ``by_count``: nodes were counted, see ``machine.counted``."""
    started = state.start != UNSTARTED
    if by_count:
        units = np.where(started, trace.units, 0)
        end = state.start + trace.runtime
        when = np.concatenate([end[started], state.start[started]])
        who = np.concatenate([np.flatnonzero(started)] * 2)
        begins = np.arange(when.size) >= started.sum()
        instant = np.concatenate([(trace.runtime == 0)[started]] * 2)
        kept = ~instant | begins  # a job of duration 0 frees its nodes in the same event as it begins
        # At one time: ends, then jobs of duration 0, then the others, which may use the nodes of both.
        turn = begins.astype(np.int64) + (begins & ~instant)
        order = np.lexsort((turn[kept], when[kept]))
        first, low, high = _numbered(trace, state, who[kept][order], begins[kept][order], units)
        return first, low, high, np.ones(low.size, np.int64)
    return _ranges(trace, state, started)


def _numbered(
    trace: TraceArrays, state: State, who: Ints, begins: NDArray[np.bool_], units: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the ranges of nodes of each job, as ``numbered``, place after place."""
    if len(trace.capacity) == 1:
        return numbered(int(trace.capacity[0, 0]), who, begins, trace.runtime, units)
    count = np.where(units > 0, state.pieces, 0)
    job = np.repeat(np.arange(count.size), count)
    slot = np.repeat(trace.first[:-1] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    place = state.place[slot]
    share = state.share[slot].astype(np.int64)
    jobs: list[Ints] = []
    lows: list[Ints] = []
    highs: list[Ints] = []
    for p in range(len(trace.capacity)):
        here = np.zeros(units.size, np.int64)
        here[job[place == p]] = share[place == p]
        some = here[who] > 0
        first, low, high = numbered(int(trace.capacity[p, 0]), who[some], begins[some], trace.runtime, here)
        member = trace.member[trace.first_member[p] : trace.first_member[p + 1]]
        owner = np.repeat(np.arange(units.size), np.diff(first))
        begin, last = _runs(member)
        of_low, of_high = (np.searchsorted(begin, ends, side="right") - 1 for ends in (low, high))
        times = of_high - of_low + 1
        run = np.repeat(of_low - (np.cumsum(times) - times), times) + np.arange(int(times.sum()))
        jobs.append(np.repeat(owner, times))
        lows.append(member[np.maximum(begin[run], np.repeat(low, times))])
        highs.append(member[np.minimum(last[run], np.repeat(high, times))])
    every = np.concatenate(jobs)
    low = np.concatenate(lows)
    order = np.lexsort((low, every))
    return offsets(np.bincount(every, minlength=units.size)), low[order], np.concatenate(highs)[order]


def _runs(numbers: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last index of each run of numbers that follow each other, in ascending numbers."""
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    return np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [numbers.size - 1]])


def _ranges(trace: TraceArrays, state: State, started: NDArray[np.bool_]) -> Ranges:
    """Return the ranges of jobs whose places are nodes; neighbouring nodes with equal units become one range."""
    count = np.where(started, state.pieces, 0)
    job = np.repeat(np.arange(count.size), count)
    slot = np.repeat(trace.first[:-1] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    place = state.place[slot].astype(np.int64)
    share = state.share[slot].astype(np.int64)
    several = trace.further_units.size > 0  # a further key makes the sort slower
    if several:
        chunk = _chunk_of_slot(trace, job, share)
    else:
        chunk = job
    order = np.lexsort((place, chunk, job) if several else (place, job))
    job = job[order]
    place = place[order]
    share = share[order]
    apart = np.ones(job.size, np.bool_)
    apart[1:] = (job[1:] != job[:-1]) | (place[1:] != place[:-1] + 1) | (share[1:] != share[:-1])
    if several:
        chunk = chunk[order]
        apart[1:] |= chunk[1:] != chunk[:-1]
    begin = np.flatnonzero(apart)
    last = np.append(begin[1:], job.size)[: begin.size] - 1
    first = np.concatenate([[0], np.cumsum(np.bincount(job[begin], minlength=count.size))])
    return first.astype(np.int64), place[begin], place[last], share[begin]


def _chunk_of_slot(trace: TraceArrays, job: Ints, share: Ints) -> Ints:
    """Return the number of the chunk at each slot; the slots are given job after job, by the job and the units there."""
    chunk = np.zeros(job.size, np.int64)
    if not trace.further_units.size:
        return chunk
    before = np.cumsum(share) - share
    first = np.searchsorted(job, job)
    for j in np.flatnonzero(np.diff(trace.first_further)).tolist():
        at = slice(*np.searchsorted(job, [j, j + 1]).tolist())
        ends = trace.units[j] + np.concatenate(
            [[0], np.cumsum(trace.further_units[trace.first_further[j] : trace.first_further[j + 1]])]
        )
        chunk[at] = np.searchsorted(ends, before[at] - before[first[at]], side="right")
    return chunk


# --- Jobs that run when a replay begins: they have started, and have nodes, or get them.
#
# Such a job occupies its places from its start on, ends by its true end, and policies expect it to end at ``Running.end``.


@dataclass(frozen=True, eq=False)
class Rows:
    """The jobs of a replay, then the running jobs; a ``machine.JobTable``."""

    job_arrays: JobArrays
    queue: Ints
    walltime: Ints
    queues: Sequence[Queue]
    windows: Mapping[int, tuple[Window, ...]]

    def __len__(self) -> int:
        return len(self.job_arrays)


def true_durations(running: Sequence[Running]) -> Ints:
    """Return the seconds from start (or second 0) to true end of each running job."""
    return column((r.true_end - _since(r) for r in running), len(running))


def _since(r: Running) -> int:
    """Return the start of a running job, or 0 if it started before: negative starts in the state mean none."""
    return max(0, r.start)


def start_on(trace: TraceArrays, state: State, j: int, places: Sequence[tuple[int, int]], start: int) -> None:
    """Start job j at ``start`` on pairs (place, units), before the first event of the replay."""
    for k, (place, units) in enumerate(places):
        state.chosen[k], state.put[k] = place, units
    state.clock[NOW] = start
    keep_places(trace, state, j, len(places))
    begin(trace, state, j)


def crowded(running: Sequence[Running], platform: Platform) -> tuple[str, str, str] | None:
    """Return the first (job, node, resource) beyond a capacity, or a job on an unknown node (resource ""); else None."""
    free = {node: list(vector) for node, vector in platform.capacity.items()}
    for r in running:
        for node, units in r.nodes.items():
            if node not in free:
                return r.job.id, node, ""
            for k, resource in enumerate(platform.resources):
                free[node][k] -= units * r.job.request.get(resource, 0)
                if free[node][k] < 0:
                    return r.job.id, node, resource
    return None


def on_nodes(
    running: Sequence[Running],
    platform: Platform,
    best: bool,
    up: Sequence[bool] | None = None,
    rank: Ints | None = None,
) -> list[Running]:
    """Return the running jobs on nodes, in their order; jobs that find no room are left out.

    Jobs with nodes keep them. The others, by start, get nodes from the allocator (``rank``: the ranks of the nodes; None:
    best fit if ``best``, else first fit), of those that are ``up`` (None: all).
    """
    order = sorted(range(len(running)), key=lambda k: (not running[k].nodes, running[k].start))
    listed = [running[k] for k in order]
    arrays = JobArrays.of([r.job for r in listed], platform.resources)
    zeros = np.zeros(len(listed), np.int64)
    table = Rows(arrays, zeros, zeros, [Queue("of running jobs", 1)], {})
    trace = trace_of(table, platform, true_durations(listed), False)
    if rank is not None:
        trace = trace._replace(rank=rank)
    state = new_state(trace, np.ones(len(listed), np.int64))
    number = {name: n for n, name in enumerate(platform.nodes)}
    for j, r in enumerate(listed):
        if r.nodes:
            start_on(trace, state, j, [(number[name], units) for name, units in r.nodes.items()], 0)
        else:
            if up is not None:  # jobs with nodes come first
                set_open(trace, state, np.array(up, np.bool_))
            state.clock[NOW] = 0
            try_start(trace, state, j, best)
    nodes = by_name(ranges_of(trace, state, False), platform.nodes)
    placed = {k: replace(r, nodes=r.nodes or nodes[j]) for j, (k, r) in enumerate(zip(order, listed, strict=True))}
    return [placed[k] for k in range(len(running)) if placed[k].nodes]
