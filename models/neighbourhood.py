"""The neighbourhood of a schedule in the language: some jobs may move, everything else stays where it is.

What stays is the stepwise capacity that it leaves on each node; the objective is that of the whole problem, with what stays
as constants. The jobs that move are declared as in the formulation ``counts``: an interval per job and, unless it keeps its
nodes, a number of units per node. Of a profit problem, a job that is left out of the model starts when nothing counts.

``Neighbourhoods`` makes models for schedules in flat arrays, a few jobs of tens of thousands in milliseconds;
``neighbourhood`` makes one for a ``Schedule``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import language as sl
from .dispatch.job_intervals import JobModel, objective_of
from .dispatch.jobs import Window
from .dispatch.problem import Dispatch
from .language import Assignment, Integer, Interval, Model
from .neighbourhood_nodes import NeighbourhoodNodes
from .problem import Encoding, Schedule
from .profit.formulations import Fixed, profit_objective
from .profit.problem import Profit
from .profit.segments import JOULES
from .schedule_arrays import POSTPONED, Bools, Flat, Floats, Ints, ScheduleArrays

Some = Collection[int] | NDArray[np.integer]
"""Indices of jobs or nodes."""


@dataclass(frozen=True)
class Neighbourhood:
    """The model of the jobs that move, and the way between its assignments and whole schedules.

    ``moving``: those jobs, as indices of the problem's; ``units``: per job, node (index) -> how many of its units are
    there, None for a job that keeps its nodes.
    """

    flat: Flat
    model: Model
    moving: tuple[int, ...]
    intervals: tuple[Interval, ...]
    units: tuple[Mapping[int, Integer] | None, ...]

    def read(self, assignment: Assignment, placed: ScheduleArrays) -> ScheduleArrays:
        """The schedule with the jobs of the model where the assignment has them."""
        found = ScheduleArrays(placed.starts.copy(), placed.nodes.copy())
        for j, v, on in zip(self.moving, self.intervals, self.units, strict=True):
            present = assignment.present[v.index]
            found.starts[j] = assignment.start[v.index] if present else POSTPONED
            if on is not None and present:
                counts = [assignment.integer[x.index] for x in on.values()]
                self.flat.nodes_of(found, j)[:] = np.repeat(np.array(list(on), np.int64), counts)
        return found

    def write(self, placed: ScheduleArrays) -> Assignment:
        """The assignment of a schedule; it satisfies the model if what does not move is where it was."""
        a = Assignment(self.model)
        for j, v, on in zip(self.moving, self.intervals, self.units, strict=True):
            start = int(placed.starts[j])
            if start == POSTPONED:
                continue
            a.set(v, start, start + v.size_lo)
            for n in self.flat.nodes_of(placed, j).tolist():
                if on is not None and n in on:
                    a.integer[on[n].index] += 1
        return a


class Neighbourhoods:
    """Makes the models of neighbourhoods of one problem's schedules.

    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "abc"]
    >>> p = Dispatch(Platform([NodeGroup("n", 2, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> around = Neighbourhoods(p)
    >>> placed = around.flat.placed(Schedule({"a": 0, "b": 0, "c": 20}, {"a": {"n-1": 1}, "b": {"n-2": 1}, "c": {"n-1": 1}}))
    >>> found = around.model(placed, [2])
    >>> found.model.value(found.model.objectives[0], found.write(placed))
    20
    """

    def __init__(self, problem: Dispatch | Profit) -> None:
        self.problem = problem
        self.flat = Flat(problem)
        self.sign = 1 if problem.sense == "minimize" else -1  # what makes the objective one to minimize

    def model(
        self,
        placed: ScheduleArrays,
        free: Some,
        keep_nodes: Some = (),
        nodes: Some | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Neighbourhood:
        """The model in which the jobs of ``free`` and ``keep_nodes`` move, the latter in time alone.

        ``nodes``: where the free ones may go, beside the nodes they have (None: everywhere); ``since``, ``until``: when
        jobs may start, beside the moment at which they do (None: at any time that some optimal schedule may need).
        Raises ProblemError where what stays overfills a node.
        """
        flat = self.flat
        kept = _set(keep_nodes) - _set(free)
        windows = {j: w for j in sorted(_set(free) | kept) if (w := self._windows(j, placed, since, until))}
        moving = tuple(windows)
        some = flat.dispatch.replace(jobs=[flat.dispatch.jobs[j] for j in moving], running=())
        model = Model(f"neighbourhood of {len(moving)} jobs")
        made = tuple(
            model.interval(job.id, int(flat.duration[j]), windows[j], self._optional(j, placed))
            for j, job in zip(moving, some.jobs, strict=True)
        )
        base = JobModel(some, model, made, {})
        stays = placed.starts != POSTPONED
        stays[list(moving)] = False
        where = np.zeros(len(flat.capacity), bool)
        where[range(where.size) if nodes is None else sorted(_set(nodes))] = True
        units = NeighbourhoodNodes(flat, placed, base, moving, stays).declare(kept, where)
        self._set_objective(base, placed, moving, stays)
        return Neighbourhood(flat, model, moving, made, units)

    def _optional(self, j: int, placed: ScheduleArrays) -> bool:
        """Whether a job may be parked."""
        return isinstance(self.problem, Profit) and bool(self.flat.can_wait[j] or placed.starts[j] == POSTPONED)

    def _windows(self, j: int, placed: ScheduleArrays, since: int | None, until: int | None) -> tuple[Window, ...]:
        """Where the start of a job may lie; empty if it earns nothing wherever it starts."""
        dispatch, now = self.flat.dispatch, int(placed.starts[j])
        horizon = self.problem.horizon
        if isinstance(self.problem, Profit) and self._optional(j, placed):
            horizon = self.problem.horizon_end - 1
        if until is not None:
            horizon = min(horizon, max(until, now))
        windows = dispatch.start_windows(dispatch.jobs[j], horizon)
        if since is None:
            return windows
        least = since if now == POSTPONED else min(since, now)
        return tuple((max(lo, least), hi) for lo, hi in windows if hi >= least)

    def _set_objective(self, base: JobModel, placed: ScheduleArrays, moving: tuple[int, ...], stays: Bools) -> None:
        """The objective of the whole problem."""
        if isinstance(self.problem, Profit):
            profit_objective(self.problem, self._fixed(self.problem, placed, moving, stays))(base)
            return
        dispatch, jobs = self.flat.dispatch, np.flatnonzero(stays)
        if dispatch.aim == "makespan":
            ends = [int((placed.starts + self.flat.duration)[jobs].max())] if jobs.size else []
            ends += [r.end for r in dispatch.running]
            base.model.minimize(sl.max([*(v.end for v in base.jobs), *ends] or [dispatch.now]))
        else:
            base.model.minimize(objective_of(base) + self._sum(placed.starts, jobs))

    def _sum(self, starts: Ints, jobs: Ints) -> float:
        """What these jobs add to an objective that is a sum over jobs; a whole number where it is one by nature."""
        aim, ewt = self.flat.dispatch.aim, self.flat.ewt[jobs]
        wait = (starts - self.flat.submit)[jobs]
        if aim == "waiting":
            return int(wait.sum())
        if aim == "late-jobs":
            return int((wait > ewt).sum())
        if aim == "weighted-wait":
            return float((wait / ewt).sum())
        if aim == "weighted-tardiness":
            return float((np.maximum(0, wait - ewt) / ewt).sum())
        if aim == "queue-priority-wait":
            return float((wait / ewt).sum()) * max(self.flat.dispatch.ewt.values())
        length = np.maximum(1, self.flat.duration[jobs])
        return float(((wait + length) / length).sum())

    def _fixed(self, problem: Profit, placed: ScheduleArrays, moving: tuple[int, ...], stays: Bools) -> Fixed:
        """What the jobs that stay earn and take."""
        at = np.flatnonzero(stays)
        starts, rates = placed.starts[at], np.column_stack([problem.watts[at], problem.cores[at]])
        bounds = np.array([problem.segments[0].begin, *(s.end for s in problem.segments)], np.int64)
        ran = _per_segment(starts, starts + self.flat.duration[at], bounds, rates)
        price = np.array([s.energy_price for s in problem.segments], float) / JOULES
        euro = problem.price / 3600 * float(ran[:, 1].sum()) - float(ran[:, 0] @ price)
        return Fixed(moving, euro, (ran[:, 0] / np.diff(bounds)).tolist())


def _per_segment(begin: Ints, end: Ints, bounds: Ints, rates: Floats) -> Floats:
    """What runs in ``[begin, end)`` at these rates (jobs x kinds), summed up per segment between the bounds."""
    begin, end = np.maximum(begin, bounds[0]), np.minimum(end, bounds[-1])
    runs = begin < end
    begin, end, rates = begin[runs], end[runs], rates[runs]
    first, last = np.searchsorted(bounds, begin, side="right") - 1, np.searchsorted(bounds, end) - 1
    in_first, in_last = np.minimum(end, bounds[first + 1]) - begin, np.where(last > first, end - bounds[last], 0)
    found = []
    for rate in rates.T:
        ends = np.bincount(first, rate * in_first, bounds.size) + np.bincount(last, rate * in_last, bounds.size)
        several = np.where(last > first, rate, 0.0)
        between = np.cumsum(np.bincount(first + 1, several, bounds.size) - np.bincount(last, several, bounds.size))
        found.append(ends[:-1] + between[:-1] * np.diff(bounds))
    return np.stack(found, axis=1)


def neighbourhood(
    problem: Dispatch | Profit,
    schedule: Schedule,
    free: Collection[str],
    keep_nodes: Collection[str] = (),
    nodes: Collection[str] | None = None,
    since: int | None = None,
    until: int | None = None,
) -> Encoding:
    """The model in which the jobs of ``free`` and ``keep_nodes`` (ids) move, the latter in time alone.

    All others stay where the ``schedule`` has them; of a profit problem, those that start after its ``until`` and can wait
    make room. ``nodes`` (names): where the free jobs may go, beside the nodes they have; ``since``, ``until``: when jobs
    may start, beside the moment at which they do. The encoding reads and writes whole schedules. Raises KeyError for a
    job or node that does not exist, ProblemError where what stays overfills a node.

    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> p = Dispatch(Platform([NodeGroup("n", 2, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> late = Schedule({"a": 0, "b": 10}, {"a": {"n-1": 1}, "b": {"n-1": 1}})
    >>> neighbourhood(p, late, free=["b"]).model
    Model('neighbourhood of 1 jobs': 1 intervals, 2 integers, 2 constraints)
    """
    around = Neighbourhoods(problem)
    flat = around.flat
    placed = flat.placed(schedule)
    some, keep = ([flat.index[i] for i in ids] for ids in (free, keep_nodes))
    found = around.model(
        placed, some, keep, None if nodes is None else [flat.node_index[n] for n in nodes], since, until
    )

    def read(assignment: Assignment) -> Schedule:
        return flat.schedule(found.read(assignment, placed))

    def write(whole: Schedule) -> Assignment:
        return found.write(flat.placed(whole))

    return Encoding(found.model, read, write)


def _set(indices: Some) -> set[int]:
    return {int(i) for i in indices}
