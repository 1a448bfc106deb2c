"""Problems and schedules as flat arrays: demands, starts and nodes of jobs, and the free capacity of nodes."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from .array_types import Bools, Ints
from .comparing import compared_by_identity
from .dispatch.arrays import NodeArrays, column, occupied
from .dispatch.formulations import Blocks, Levels, startable_later
from .dispatch.problem import Dispatch
from .platform import ProblemError
from .problem import Schedule
from .profit.formulations import with_rest
from .profit.problem import Profit

POSTPONED = -1  # the start of a job that is postponed until profit no longer counts


@compared_by_identity
class ScheduleArrays(NamedTuple):
    """A schedule as arrays.

    In a profit problem a job may be postponed: its start is ``POSTPONED``, and it starts once profit no longer counts,
    on any free nodes. The array then holds the nodes of its units before it was postponed.

    Parameters
    ----------
    starts : array of int, shape (jobs,)
        The start of each job in seconds.
    nodes : array of int, shape (units of all jobs,)
        The node index of each unit, job after job.
    """

    starts: Ints
    nodes: Ints


class Free(NamedTuple):
    """The free capacity of a node as a step function; before the first time, the node is empty.

    Parameters
    ----------
    times : array of int, shape (steps,)
        Increasing times in seconds.
    amounts : array of int, shape (steps, resources)
        The free amount from each time on.
    """

    times: Ints
    amounts: Ints


class Flat:
    """A problem as arrays over its jobs, made once and used for many schedules.

    Parameters
    ----------
    problem : Dispatch or Profit
        The problem.

    Attributes
    ----------
    dispatch : Dispatch
        The jobs and their platform.
    jobs : JobArrays
        The jobs as arrays.
    nodes : NodeArrays
        The nodes as arrays.
    index : dict of str to int
        The index of each job by its id.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> flat = Flat(Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)]))
    >>> schedule = flat.placed(Schedule({"a": 0, "b": 10}, {"a": {"n-1": 1}, "b": {"n-1": 1}}))
    >>> flat.free(schedule, np.array([True, False]), np.array([0]))[0].amounts.tolist()
    [[7], [16]]
    """

    def __init__(self, problem: Dispatch | Profit) -> None:
        self.problem = problem
        self.dispatch = d = problem.dispatch if isinstance(problem, Profit) else problem
        self.jobs = d.job_arrays
        self.nodes = NodeArrays(d.platform)
        self.index = {j.id: k for k, j in enumerate(d.jobs)}

    @cached_property
    def parts(self) -> list[tuple[str, int]]:
        """The name of each chunk of the jobs, job after job, and its number of units (``Job.parts``)."""
        return [(part.id, part.units) for j in self.dispatch.jobs for part in j.parts]

    @cached_property
    def can_wait(self) -> Bools:
        """Whether each job may start at any time after its release."""
        return np.array([startable_later(self.dispatch, j) for j in self.dispatch.jobs], np.bool_)

    def nodes_of(self, schedule: ScheduleArrays, job: int) -> Ints:
        """Return the node indices of a job's units, as a view of the array."""
        return schedule.nodes[self.jobs.first_unit[job] : self.jobs.first_unit[job + 1]]

    def chunks_of(self, schedule: ScheduleArrays, job: int) -> list[tuple[int, Ints]]:
        """Return the row of ``jobs.requests`` and the node indices (a view) of each chunk of a job."""
        on = self.nodes_of(schedule, job)
        if self.jobs.further is None:
            return [(int(self.jobs.kind[job]), on)]
        rows = self.jobs.rows
        chunks, at = [], 0
        for row in (job, *range(rows.first[job], rows.first[job + 1])):
            chunks.append((int(rows.kind[row]), on[at : at + int(rows.units[row])]))
            at += int(rows.units[row])
        return chunks

    def placed(self, schedule: Schedule) -> ScheduleArrays:
        """Return a schedule of all jobs as arrays; raise KeyError for a missing job or an unknown node."""
        starts = np.fromiter(map(schedule.start.__getitem__, self.index), np.int64, len(self.index))
        on = [schedule.nodes[name] for name in (self.index if self.jobs.further is None else dict(self.parts))]
        names = np.fromiter(map(self.nodes.index.__getitem__, chain.from_iterable(on)), np.int64)
        nodes = np.repeat(names, np.fromiter(chain.from_iterable(n.values() for n in on), np.int64))
        if isinstance(self.problem, Profit):
            starts[(starts >= self.problem.horizon_end) & self.can_wait] = POSTPONED
        return ScheduleArrays(starts, nodes)

    def schedule(self, arrays: ScheduleArrays) -> Schedule:
        """Return the schedule of the arrays; postponed jobs start once profit no longer counts."""
        names = self.dispatch.platform.nodes
        flat = arrays.nodes.tolist()
        first = self.jobs.first_unit.tolist()
        start: dict[str, int] = {}
        nodes: dict[str, dict[str, int]] = {}
        for j, (i, at) in enumerate(zip(self.index, arrays.starts.tolist(), strict=True)):
            if at == POSTPONED:
                continue
            start[i], on = at, nodes.setdefault(i, {})
            for n in flat[first[j] : first[j + 1]]:
                on[names[n]] = on.get(names[n], 0) + 1
        if self.jobs.further is not None:
            self._part_nodes(start, nodes, flat)
        schedule = Schedule(start, nodes)
        if isinstance(self.problem, Profit):
            return with_rest(self.problem, schedule)
        return schedule

    def _part_nodes(self, start: dict[str, int], nodes: dict[str, dict[str, int]], flat: list[int]) -> None:
        """Write the nodes of each chunk of the heterogeneous jobs with a start; ``flat``: the node of each unit."""
        names, at = self.dispatch.platform.nodes, 0
        for job in self.dispatch.jobs:
            for part in job.parts:
                if job.chunks and job.id in start:
                    nodes[part.id] = dict(Counter(names[n] for n in flat[at : at + part.units]))
                at += part.units

    def free(self, schedule: ScheduleArrays, stays: Bools, nodes: Ints) -> dict[int, Free]:
        """Return the capacity that the jobs that stay, the running jobs and a hard desired profile leave free on nodes.

        Parameters
        ----------
        schedule : ScheduleArrays
            The schedule of all jobs.
        stays : array of bool, shape (jobs,)
            Whether a job stays.
        nodes : array of int
            Indices of the nodes to compute.

        Returns
        -------
        dict of int to Free
            The free capacity of each node.

        Raises
        ------
        ProblemError
            If these jobs exceed the capacity of a node.
        """
        on = np.zeros(len(self.nodes.index), bool)
        on[nodes] = True
        rows = np.flatnonzero(on[schedule.nodes] & (stays & (self.jobs.duration > 0))[self.jobs.job_of_unit])
        jobs, begin = self.jobs.job_of_unit[rows], schedule.starts[self.jobs.job_of_unit[rows]]
        here = on[self.taken.node]
        node, begin, end, taken = (
            np.concatenate(pair)
            for pair in zip(
                (
                    schedule.nodes[rows],
                    begin,
                    begin + self.jobs.duration[jobs],
                    self._amounts(schedule, rows),
                ),
                (each[here] for each in self.taken),
                strict=True,
            )
        )
        times, left = self._left(np.tile(node, 2), np.concatenate([begin, end]), np.concatenate([taken, -taken]))
        return {
            n: Free(*(x[slice(*np.searchsorted(times[:, 0], [n, n + 1]))] for x in (times[:, 1], left)))
            for n in nodes.tolist()
        }

    def _amounts(self, schedule: ScheduleArrays, rows: Ints) -> Ints:
        """Return what units take of their nodes, shape (units, resources); ``rows``: the units.

        The first unit of a whole-node job on a node takes all of it, its other units there take nothing.
        """
        amounts: Ints = self.jobs.requests[self.jobs.kind_of_unit[rows]]
        if not self.whole.any():
            return amounts
        job, node = self.jobs.job_of_unit, schedule.nodes
        first = np.ones(node.size, np.bool_)  # units of a job on one node are neighbours
        first[1:] = (job[1:] != job[:-1]) | (node[1:] != node[:-1])
        all_of_it = np.where(first[rows, None], self.nodes.capacity[node[rows]], 0)
        whole: Ints = np.where(self.whole[job[rows], None], all_of_it, amounts)
        return whole

    @cached_property
    def whole(self) -> Bools:
        """Whether each job takes whole nodes."""
        return np.array([j.whole_nodes for j in self.dispatch.jobs], np.bool_)

    def _left(self, node: Ints, time: Ints, change: Ints) -> tuple[Ints, Ints]:
        """Return the (node, time) pairs of the changes in order, and the capacity that is left after each of them."""
        order = np.lexsort((time, node))
        at = np.column_stack([node, time])[order]
        if not order.size:
            return at, change
        first = np.flatnonzero(np.diff(at, axis=0, prepend=-1).any(axis=1))
        at = at[first]
        # one running sum over all nodes: the changes of each node add up to 0, the next one starts at its capacity
        left = self.nodes.capacity[at[:, 0]] - np.cumsum(np.add.reduceat(change[order], first, axis=0), axis=0)
        if left.min() < 0:
            n, t = at[np.flatnonzero((left < 0).any(axis=1))[0]].tolist()
            raise ProblemError(
                f"the jobs that do not move exceed the capacity of node {self.dispatch.platform.nodes[n]!r} at {t} s"
            )
        return at, left

    @cached_property
    def taken(self) -> Blocks:
        """What no job may use: the amounts of the jobs that still run, and what a hard desired profile forbids beside them."""
        running = [r for r in self.dispatch.running if r.end > self.dispatch.now]
        entries = occupied(running, self.nodes)
        ends = column((r.end for r in running), len(running))[entries.job]
        amount = entries.amount
        if any(r.job.whole_nodes for r in running):
            whole = np.array([r.job.whole_nodes for r in running], np.bool_)[entries.job]
            amount = np.where(whole[:, None], self.nodes.capacity[entries.node], amount)
        blocks = Blocks(entries.node, np.full(ends.size, self.dispatch.now), ends, amount)
        levels = Levels.of(self.dispatch, self.dispatch.last_end)
        if levels is None:
            return blocks
        return Blocks(*(np.concatenate(pair) for pair in zip(blocks, levels.blocks, strict=True)))
