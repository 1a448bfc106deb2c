"""The model of a neighbourhood of a schedule: some jobs may move, all other jobs stay where they are.

Data: the schedule; the moving jobs M with durations ``d[j]``, units ``U[j]``, requests ``q[j,r]``; the jobs of K, a
part of M, keep their nodes and have ``h[j,n]`` units on node n. ``F[n,r](t)`` is the capacity of resource r on node n
that the other jobs and the running jobs leave free at time t, a step function.

Variables: an interval ``v[j]`` of size ``d[j]`` for each moving job j, within its start windows; for j not in K an
integer ``u[j,n]``, its number of units on node n, for each allowed node n. Constraints, as in the formulation
``counts``::

    sum_n u[j,n] = U[j]                                    for each job j in M, not in K
    cumulative(v[j], demand q[j,r] * u[j,n] or q[j,r] * h[j,n]) <= F[n,r](t)      for each node n, resource r, time t

For a heterogeneous job, U, q, u and h are those of each of its chunks, with the same ``v[j]``.

``F`` is also within a hard desired profile. The objective and the limits are those of the whole problem; the jobs that stay
contribute constants, and their use to the cost of a soft profile. In a profit problem, a job that can be postponed has an optional interval; if it is absent, it starts when profit no longer counts, and earns nothing.

``Neighbourhoods`` makes models for schedules in flat arrays: some jobs out of tens of thousands in milliseconds.
``neighbourhood`` makes a model for one ``Schedule``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .dispatch.costs.constraints import Fixed, add_limits
from .dispatch.job_arrays import Bools, Floats, Ints
from .dispatch.job_intervals import JobModel, set_cost
from .dispatch.jobs import Window
from .dispatch.problem import Dispatch
from .language import Assignment, Interval, Model
from .neighbourhood_nodes import Counts, NeighbourhoodNodes
from .problem import Encoding, Schedule
from .profit.formulations import Fixed as FixedEarnings
from .profit.formulations import profit_objective
from .profit.problem import Profit
from .profit.segments import JOULES
from .schedule_arrays import POSTPONED, Flat, ScheduleArrays

Some = Collection[int] | NDArray[np.integer]
"""Indices of jobs or nodes."""


@dataclass(frozen=True)
class Neighbourhood:
    """The model of the moving jobs, with the conversion between its assignments and schedules.

    Parameters
    ----------
    flat : Flat
        The problem as arrays.
    model : Model
        The model.
    moving : tuple of int
        The moving jobs, as indices of the problem's jobs.
    intervals : tuple of Interval
        The interval of each moving job.
    units : tuple of tuple of dict or None
        For each moving job and each of its chunks {node index: number of its units there}; None for a job that keeps
        its nodes.
    """

    flat: Flat
    model: Model
    moving: tuple[int, ...]
    intervals: tuple[Interval, ...]
    units: tuple[Counts | None, ...]

    def read(self, assignment: Assignment, schedule: ScheduleArrays) -> ScheduleArrays:
        """Return ``schedule`` with the moving jobs at the starts and nodes of the assignment."""
        found = ScheduleArrays(schedule.starts.copy(), schedule.nodes.copy())
        for j, v, on in zip(self.moving, self.intervals, self.units, strict=True):
            present = assignment.present[v.index]
            found.starts[j] = assignment.start[v.index] if present else POSTPONED
            if on is not None and present:
                for (_, nodes), places in zip(self.flat.chunks_of(found, j), on, strict=True):
                    counts = [assignment.integer[x.index] for x in places.values()]
                    nodes[:] = np.repeat(np.array(list(places), np.int64), counts)
        return found

    def write(self, schedule: ScheduleArrays) -> Assignment:
        """Return the assignment of a schedule; it satisfies the model if the other jobs have not moved."""
        a = Assignment(self.model)
        for j, v, on in zip(self.moving, self.intervals, self.units, strict=True):
            start = int(schedule.starts[j])
            if start == POSTPONED:
                continue
            a.set(v, start, start + v.size_lo)
            for (_, nodes), places in zip(self.flat.chunks_of(schedule, j), on or (), strict=False):
                for n in nodes.tolist():
                    if n in places:
                        a.integer[places[n].index] += 1
        return a


class Neighbourhoods:
    """Maker of the models of neighbourhoods of one problem's schedules.

    Parameters
    ----------
    problem : Dispatch or Profit
        The problem.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "abc"]
    >>> p = Dispatch(Platform([NodeGroup("n", 2, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> around = Neighbourhoods(p)
    >>> schedule = around.flat.placed(Schedule({"a": 0, "b": 0, "c": 20}, {"a": {"n-1": 1}, "b": {"n-2": 1}, "c": {"n-1": 1}}))
    >>> found = around.model(schedule, [2])
    >>> found.model.value(found.model.objectives[0], found.write(schedule))
    20
    """

    def __init__(self, problem: Dispatch | Profit) -> None:
        self.problem = problem
        self.flat = Flat(problem)
        self.sign = 1 if problem.sense == "minimize" else -1  # sign * objective is minimized

    def model(
        self,
        schedule: ScheduleArrays,
        free: Some,
        keep_nodes: Some = (),
        nodes: Some | None = None,
        earliest: int | None = None,
        latest: int | None = None,
    ) -> Neighbourhood:
        """Make the model in which the jobs of ``free`` and ``keep_nodes`` move; the latter keep their nodes.

        Parameters
        ----------
        schedule : ScheduleArrays
            The schedule of all jobs.
        free : collection of int
            Indices of the jobs that may change their starts and nodes.
        keep_nodes : collection of int
            Indices of the jobs that may change their starts only.
        nodes : collection of int, optional
            Indices of the nodes to which free jobs may go, in addition to the nodes that they have. None: all nodes.
        earliest, latest : int, optional
            The earliest and the latest start of moving jobs in seconds. Every job may also keep its start. None: any
            start that some optimal schedule may need.

        Returns
        -------
        Neighbourhood
            The model.

        Raises
        ------
        ProblemError
            If the jobs that stay exceed the capacity of a node.
        """
        flat = self.flat
        kept = _set(keep_nodes) - _set(free)
        windows = {j: w for j in sorted(_set(free) | kept) if (w := self._windows(j, schedule, earliest, latest))}
        moving = tuple(windows)
        jobs = [flat.dispatch.jobs[j] for j in moving]
        some = flat.dispatch.replace(jobs=jobs, running=(), desired=None, over_cost=None)
        model = Model(f"neighbourhood of {len(moving)} jobs")
        made = tuple(
            model.interval(job.id, int(flat.jobs.duration[j]), windows[j], self._optional(j, schedule))
            for j, job in zip(moving, some.jobs, strict=True)
        )
        base = JobModel(some, model, made, {})
        stays = schedule.starts != POSTPONED
        stays[list(moving)] = False
        allowed = np.zeros(len(flat.nodes.capacity), bool)
        allowed[range(allowed.size) if nodes is None else sorted(_set(nodes))] = True
        units = NeighbourhoodNodes(flat, schedule, base, moving, stays).declare(kept, allowed)
        self._set_objective(base, schedule, moving, stays)
        if flat.dispatch.limits:
            self._add_limits(base, schedule, moving, stays)
        return Neighbourhood(flat, model, moving, made, units)

    def _optional(self, j: int, schedule: ScheduleArrays) -> bool:
        """Return whether a job may be postponed until profit no longer counts."""
        return isinstance(self.problem, Profit) and bool(self.flat.can_wait[j] or schedule.starts[j] == POSTPONED)

    def _windows(
        self, j: int, schedule: ScheduleArrays, earliest: int | None, latest: int | None
    ) -> tuple[Window, ...]:
        """Return the windows of a job's start; empty if the job earns nothing at any start."""
        dispatch, now = self.flat.dispatch, int(schedule.starts[j])
        horizon = self.problem.horizon
        if isinstance(self.problem, Profit) and self._optional(j, schedule):
            horizon = self.problem.horizon_end - 1
        if latest is not None:
            horizon = min(horizon, max(latest, now))
        windows = dispatch.start_windows(dispatch.jobs[j], horizon)
        if earliest is None:
            return windows
        least = earliest if now == POSTPONED else min(earliest, now)
        return tuple((max(lo, least), hi) for lo, hi in windows if hi >= least)

    def _set_objective(self, base: JobModel, schedule: ScheduleArrays, moving: tuple[int, ...], stays: Bools) -> None:
        """Set the objective of the whole problem."""
        if isinstance(self.problem, Profit):
            profit_objective(self.problem, self._earned(self.problem, schedule, moving, stays))(base)
            return
        costs, jobs = self.flat.dispatch.costs, np.flatnonzero(stays)
        fixed = None
        if jobs.size:
            starts = schedule.starts[jobs]
            fixed = costs.some(jobs).value(starts - self.flat.jobs.submit[jobs], starts + self.flat.jobs.duration[jobs])
        others, over = np.array(moving, np.int64), self.flat.dispatch.over
        if over is not None:
            starts = schedule.starts[jobs]
            over = over.beside(starts, starts + self.flat.jobs.duration[jobs], jobs, others)
        set_cost(base, costs.some(others), fixed, over)

    def _add_limits(self, base: JobModel, schedule: ScheduleArrays, moving: tuple[int, ...], stays: Bools) -> None:
        """Add the limits on objectives, to which the jobs that stay contribute."""
        jobs, all_jobs = np.flatnonzero(stays), self.flat.jobs
        starts = schedule.starts[jobs]
        fixed = Fixed(jobs, starts - all_jobs.submit[jobs], starts + all_jobs.duration[jobs])
        submit = [j.submit for j in base.problem.jobs]
        limits = self.flat.dispatch.limit_costs
        add_limits(base.model, limits, base.jobs, submit, np.array(moving, np.int64), fixed)

    def _earned(
        self, problem: Profit, schedule: ScheduleArrays, moving: tuple[int, ...], stays: Bools
    ) -> FixedEarnings:
        """Return the earnings and the power of the jobs that stay."""
        at = np.flatnonzero(stays)
        starts, rates = schedule.starts[at], np.column_stack([problem.watts[at], problem.cores[at]])
        bounds = np.array([problem.segments[0].begin, *(s.end for s in problem.segments)], np.int64)
        ran = _per_segment(starts, starts + self.flat.jobs.duration[at], bounds, rates)
        price = np.array([s.energy_price for s in problem.segments], float) / JOULES
        euro = problem.price / 3600 * float(ran[:, 1].sum()) - float(ran[:, 0] @ price)
        return FixedEarnings(moving, euro, (ran[:, 0] / np.diff(bounds)).tolist())


def _per_segment(begin: Ints, end: Ints, bounds: Ints, rates: Floats) -> Floats:
    """Return the integral of the rates (jobs x kinds) over [begin, end), summed per segment between the bounds."""
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
    earliest: int | None = None,
    latest: int | None = None,
) -> Encoding:
    """Make the model in which the jobs of ``free`` and ``keep_nodes`` move; the latter keep their nodes.

    All other jobs keep their starts and nodes. In a profit problem, jobs that start at ``horizon_end`` or later and can
    be postponed leave their nodes free for the moving jobs.

    Parameters
    ----------
    problem : Dispatch or Profit
        The problem.
    schedule : Schedule
        The schedule of all jobs.
    free : collection of str
        Ids of the jobs that may change their starts and nodes.
    keep_nodes : collection of str
        Ids of the jobs that may change their starts only.
    nodes : collection of str, optional
        Names of the nodes to which free jobs may go, in addition to the nodes that they have. None: all nodes.
    earliest, latest : int, optional
        The earliest and the latest start of moving jobs in seconds. Every job may also keep its start.

    Returns
    -------
    Encoding
        The model; it reads and writes schedules of all jobs.

    Raises
    ------
    KeyError
        If a job or node does not exist.
    ProblemError
        If the jobs that stay exceed the capacity of a node.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> p = Dispatch(Platform([NodeGroup("n", 2, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> late = Schedule({"a": 0, "b": 10}, {"a": {"n-1": 1}, "b": {"n-1": 1}})
    >>> neighbourhood(p, late, free=["b"]).model
    Model('neighbourhood of 1 jobs': 1 intervals, 2 integers, 2 constraints)
    """
    around = Neighbourhoods(problem)
    flat = around.flat
    arrays = flat.placed(schedule)
    some, keep = ([flat.index[i] for i in ids] for ids in (free, keep_nodes))
    found = around.model(
        arrays, some, keep, None if nodes is None else [flat.nodes.index[n] for n in nodes], earliest, latest
    )

    def read(assignment: Assignment) -> Schedule:
        return flat.schedule(found.read(assignment, arrays))

    def write(whole: Schedule) -> Assignment:
        return found.write(flat.placed(whole))

    return Encoding(found.model, read, write)


def _set(indices: Some) -> set[int]:
    return {int(i) for i in indices}
