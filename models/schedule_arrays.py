"""Schedules as flat arrays: what a problem's jobs take, where a schedule has them, and what it leaves free on each node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .dispatch.job_intervals import startable_later
from .dispatch.jobs import Job
from .dispatch.problem import Dispatch
from .platform import ProblemError
from .problem import Schedule
from .profit.left_out import with_rest
from .profit.problem import Profit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
POSTPONED = -1


class ScheduleArrays(NamedTuple):
    """A schedule as arrays: the start of each job, and the node of each unit (both as indices), job after job.

    Of a profit problem, a job may be parked (start ``POSTPONED``): it starts when nothing counts any more, wherever there is
    room then; the nodes of its units are those it had last.
    """

    starts: Ints
    nodes: Ints


class Free(NamedTuple):
    """What is free on a node from each of the moments on (moments x resources); before the first one, all that it has."""

    times: Ints
    amounts: Ints


class Flat:
    """A problem as arrays over its jobs, made once for many schedules.

    ``duration`` in seconds; ``request`` (jobs x resources) per unit; the units of job j are ``first_unit[j] ..
    first_unit[j + 1] - 1`` of all; ``capacity`` is nodes x resources.

    >>> from schedlab.models import NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> flat = Flat(Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)]))
    >>> placed = flat.placed(Schedule({"a": 0, "b": 10}, {"a": {"n-1": 1}, "b": {"n-1": 1}}))
    >>> flat.free(placed, np.array([True, False]), np.array([0]))[0].amounts.tolist()
    [[7], [16]]
    """

    def __init__(self, problem: Dispatch | Profit) -> None:
        self.problem = problem
        self.dispatch = d = problem.dispatch if isinstance(problem, Profit) else problem
        jobs, platform = d.jobs, d.platform
        self.index = {j.id: k for k, j in enumerate(jobs)}
        self.node_index = {n: k for k, n in enumerate(platform.nodes)}
        self.capacity = np.array([platform.capacity[n] for n in platform.nodes], np.int64)
        self.duration = np.array([d.duration(j) for j in jobs], np.int64)
        self.units = np.array([j.units for j in jobs], np.int64)
        self.first_unit = np.concatenate([[0], np.cumsum(self.units)]).astype(np.int64)
        self.job_of_unit = np.repeat(np.arange(len(jobs)), self.units)
        self.request = _requests(jobs, platform.resources)

    @cached_property
    def submit(self) -> Ints:
        """When each job was submitted."""
        return np.array([j.submit for j in self.dispatch.jobs], np.int64)

    @cached_property
    def ewt(self) -> Ints:
        """The expected waiting time of each job's queue."""
        return np.array([self.dispatch.ewt[j.queue] for j in self.dispatch.jobs], np.int64)

    @cached_property
    def can_wait(self) -> Bools:
        """Which jobs may start as late as one likes."""
        return np.array([startable_later(self.dispatch, j) for j in self.dispatch.jobs], bool)

    def nodes_of(self, placed: ScheduleArrays, job: int) -> Ints:
        """The nodes of a job's units."""
        return placed.nodes[self.first_unit[job] : self.first_unit[job + 1]]

    def placed(self, schedule: Schedule) -> ScheduleArrays:
        """A whole schedule as arrays. Raises KeyError for a job or node that is missing."""
        starts = np.fromiter(map(schedule.start.__getitem__, self.index), np.int64, len(self.index))
        on = [schedule.nodes[i] for i in self.index]
        names = np.fromiter(map(self.node_index.__getitem__, chain.from_iterable(on)), np.int64)
        nodes = np.repeat(names, np.fromiter(chain.from_iterable(n.values() for n in on), np.int64))
        if isinstance(self.problem, Profit):
            starts[(starts >= self.problem.horizon_end) & self.can_wait] = POSTPONED
        return ScheduleArrays(starts, nodes)

    def schedule(self, placed: ScheduleArrays) -> Schedule:
        """The whole schedule; parked jobs follow when nothing counts any more."""
        names, flat, first = self.dispatch.platform.nodes, placed.nodes.tolist(), self.first_unit.tolist()
        start: dict[str, int] = {}
        nodes: dict[str, dict[str, int]] = {}
        for j, (i, at) in enumerate(zip(self.index, placed.starts.tolist(), strict=True)):
            if at == POSTPONED:
                continue
            start[i], on = at, nodes.setdefault(i, {})
            for n in flat[first[j] : first[j + 1]]:
                on[names[n]] = on.get(names[n], 0) + 1
        found = Schedule(start, nodes)
        return with_rest(self.problem, found) if isinstance(self.problem, Profit) else found

    def free(self, placed: ScheduleArrays, stays: Bools, nodes: Ints) -> dict[int, Free]:
        """What the jobs that stay (and those that run already) leave free on these nodes (indices).

        Raises ProblemError where they take more than there is.
        """
        on = np.zeros(len(self.node_index), bool)
        on[nodes] = True
        rows = np.flatnonzero(on[placed.nodes] & (stays & (self.duration > 0))[self.job_of_unit])
        jobs = self.job_of_unit[rows]
        running = [row for row in self._running if on[row[0]]]
        now = [self.dispatch.now] * len(running)
        node, begin, end = (
            np.concatenate([some, np.array(more, np.int64)])
            for some, more in (
                (placed.nodes[rows], [n for n, _, _ in running]),
                (placed.starts[jobs], now),
                (placed.starts[jobs] + self.duration[jobs], [e for _, e, _ in running]),
            )
        )
        taken = np.concatenate([self.request[jobs], *(t[None] for *_, t in running)])
        times, left = self._left(np.tile(node, 2), np.concatenate([begin, end]), np.concatenate([taken, -taken]))
        return {
            n: Free(*(x[slice(*np.searchsorted(times[:, 0], [n, n + 1]))] for x in (times[:, 1], left)))
            for n in nodes.tolist()
        }

    def _left(self, node: Ints, time: Ints, change: Ints) -> tuple[Ints, Ints]:
        """Of these changes on nodes: (node, time) in order, and what is left from then on."""
        order = np.lexsort((time, node))
        at = np.column_stack([node, time])[order]
        if not order.size:
            return at, change
        first = np.flatnonzero(np.diff(at, axis=0, prepend=-1).any(axis=1))
        at = at[first]
        # over all nodes at once: what happens on a node adds up to nothing
        left = self.capacity[at[:, 0]] - np.cumsum(np.add.reduceat(change[order], first, axis=0), axis=0)
        if left.min() < 0:
            n, t = at[np.flatnonzero((left < 0).any(axis=1))[0]].tolist()
            raise ProblemError(
                f"the jobs that stay where they are overfill node {self.dispatch.platform.nodes[n]!r} at {t}"
            )
        return at, left

    @cached_property
    def _running(self) -> list[tuple[int, int, Ints]]:
        """Node, end, and what is taken by what runs."""
        resources = self.dispatch.platform.resources
        return [
            (self.node_index[node], r.end, units * _requests([r.job], resources)[0])
            for r in self.dispatch.running
            for node, units in r.nodes.items()
            if r.end > self.dispatch.now
        ]


def _requests(jobs: Sequence[Job], resources: tuple[str, ...]) -> Ints:
    rows = [[j.request.get(r, 0) for r in resources] for j in jobs]
    return np.array(rows, np.int64).reshape(len(jobs), len(resources))
