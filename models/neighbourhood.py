"""The model of a neighbourhood of a schedule: some jobs may move, all other jobs stay where they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .array_types import Bools, Floats, Ints
from .comparing import hashable
from .dispatch.arrays import NotPlaced
from .dispatch.formulations import DemandRow, JobModel, count_units, set_cost, whole_nodes
from .dispatch.jobs import Job, Window
from .dispatch.objectives import Fixed, add_limits
from .dispatch.problem import Dispatch
from .language import Assignment, Integer, Interval, Model
from .profit.formulations import Fixed as FixedEarnings
from .profit.formulations import profit_objective
from .profit.problem import JOULES, Profit
from .schedule_arrays import POSTPONED, Flat, ScheduleArrays
from .words import how_many

# --- The nodes of a neighbourhood: units of the moving jobs, and the capacity that the other jobs leave free.

Counts = tuple[Mapping[int, Integer], ...]
"""For each chunk of a job {node index: number of its units there}."""


class NeighbourhoodNodes:
    """The nodes of one neighbourhood: the moving jobs that may use them, and the capacity that other jobs leave free.

    Parameters
    ----------
    flat : Flat
        The problem as arrays.
    schedule : ScheduleArrays
        The schedule of all jobs.
    base : JobModel
        The model with the intervals of the moving jobs.
    moving : tuple of int
        The moving jobs, as indices of the problem's jobs.
    stays : array of bool, shape (jobs,)
        Whether a job stays where it is.
    """

    def __init__(
        self, flat: Flat, schedule: ScheduleArrays, base: JobModel, moving: tuple[int, ...], stays: Bools
    ) -> None:
        self.flat = flat
        self.schedule = schedule
        self.base = base
        self.moving = moving
        self.stays = stays
        self.begin = min((v.windows[0][0] for v in base.jobs), default=0)
        self.end = max((v.windows[-1][1] + v.size_hi for v in base.jobs), default=1)
        # per node: what is needed, interval of the job, how many times it is: a number, times a variable if there is one
        self.on_node: dict[int, list[tuple[Ints, Interval, int, Integer | None]]] = {}
        self.whole: dict[int, Mapping[int, Integer]] = {}  # of a moving whole-node job, whether it takes each node

    def declare(self, kept: set[int], allowed: Bools) -> tuple[Counts | None, ...]:
        """Declare the numbers of units of each moving job, and the capacities of the nodes.

        ``kept``: the jobs that keep their nodes; ``allowed``: per node, whether free jobs may go there.
        """
        flat, base = self.flat, self.base
        own = [
            [(kind, *np.unique(on, return_counts=True)) for kind, on in flat.chunks_of(self.schedule, j)]
            for j in self.moving
        ]
        if any(j not in kept for j in self.moving):
            used = allowed.copy()
        else:
            used = np.zeros_like(allowed)
        for chunks in own:
            for _, nodes, _ in chunks:
                used[nodes] = True
        free = {
            n: self._clipped(n, f.times, f.amounts)
            for n, f in flat.free(self.schedule, self.stays, np.flatnonzero(used)).items()
        }
        most = np.zeros_like(flat.nodes.capacity)
        for n, (_, amounts) in free.items():
            most[n] = amounts.max(axis=0)
        units: list[Counts | None] = []
        requests = flat.jobs.requests
        sets = flat.dispatch.node_sets
        may = {j: sets.sets[sets.number[j]] for j in self.moving}
        for j, job, v, chunks in zip(self.moving, base.problem.jobs, base.jobs, own, strict=True):
            if j in kept:
                units.append(None)
                for kind, nodes, counts in chunks:
                    for n, count in zip(nodes.tolist(), counts.tolist(), strict=True):
                        if job.whole_nodes:
                            need = (flat.nodes.capacity[n], v, 1, None)
                        else:
                            need = (requests[kind], v, count, None)
                        self.on_node.setdefault(n, []).append(need)
                continue
            made = []
            for part, (kind, nodes, _) in zip(job.parts, chunks, strict=True):
                candidates = allowed & may[j]
                candidates[nodes] = True
                made.append(self._units(j, part, requests[kind], v, most, np.flatnonzero(candidates)))
            units.append(tuple(made))
        for n, rows in self.on_node.items():
            self._capacity(n, *free[n], rows)
        return tuple(units)

    def _clipped(self, n: int, times: Ints, amounts: Ints) -> tuple[Ints, Ints]:
        """Return the free capacity of a node while moving jobs can run, from ``self.begin`` to ``self.end``."""
        begun = np.searchsorted(times, self.begin, side="right")
        last = np.searchsorted(times, self.end)
        at = np.arange(begun, max(begun, last) + 1)
        times = np.concatenate([[self.begin], times])
        amounts = np.concatenate([self.flat.nodes.capacity[n][None], amounts])
        times[begun] = self.begin
        return times[at], amounts[at]

    def _units(self, j: int, job: Job, request: Ints, v: Interval, most: Ints, nodes: Ints) -> Mapping[int, Integer]:
        """Declare the number of units of a chunk of free job j on each node that can hold one."""
        names = self.base.problem.platform.nodes
        needed = request > 0
        fit = np.full(nodes.size, job.units if job.per_node is None else min(job.units, job.per_node))
        if needed.any():
            fit = np.minimum(fit, (most[nodes][:, needed] // request[needed]).min(axis=1))
        greatest = ((n, names[n], most_there) for n, most_there in zip(nodes.tolist(), fit.tolist(), strict=True))
        numbers = count_units(self.base.model, job, v, greatest)
        if job.whole_nodes:
            room = dict(zip(nodes.tolist(), fit.tolist(), strict=True))
            self.whole[j] = whole_nodes(self.base.model, job, v, numbers, {n: room[n] for n in numbers})
            for n, taken in self.whole[j].items():
                self.on_node.setdefault(n, []).append((self.flat.nodes.capacity[n], v, 1, taken))
            return numbers
        for n, number in numbers.items():
            self.on_node.setdefault(n, []).append((request, v, 1, number))
        return numbers

    def _capacity(
        self, n: int, times: Ints, amounts: Ints, on_node: Iterable[tuple[Ints, Interval, int, Integer | None]]
    ) -> None:
        """Require that the moving jobs on a node stay within the free capacity of each resource."""
        for r, resource in enumerate(self.base.problem.platform.resources):
            rows = [DemandRow(v, count * amount, x) for need, v, count, x in on_node if (amount := int(need[r]))]
            left = np.minimum(amounts[:, r], sum(row.most for row in rows))
            at = np.flatnonzero(np.diff(left, prepend=-1))
            steps = tuple(zip(times[at].tolist(), left[at].tolist(), strict=True))
            self.base.add_cumulative(rows, steps, f"{resource} of {self.base.problem.platform.nodes[n]}")


def _refuse_empty_requests(problem: Dispatch) -> None:
    """Raise NotPlaced for whole-node jobs beside jobs that request nothing: they would meet in no resource."""
    jobs = [*problem.jobs, *(r.job for r in problem.running)]
    if not any(j.whole_nodes for j in jobs):
        return
    empty = next((j for j in jobs if not any(any(part.request.values()) for part in j.parts)), None)
    if empty is not None or not all(any(vector) for vector in problem.platform.capacity.values()):
        who = "nodes without capacity"
        if empty is not None:
            who = f"job {empty.id!r}, which requests nothing"
        raise NotPlaced(
            f"the model of a neighbourhood does not support whole_nodes beside {who}; use another method, such as "
            "cpsat:counts or lns without a solver"
        )


Some = Collection[int] | NDArray[np.integer]
"""Indices of jobs or nodes."""


@hashable
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
    whole : dict
        For a moving whole-node job {node index: whether it takes the node}.
    """

    flat: Flat
    model: Model
    moving: tuple[int, ...]
    intervals: tuple[Interval, ...]
    units: tuple[Counts | None, ...]
    whole: Mapping[int, Mapping[int, Integer]] = field(default_factory=dict)

    def read(self, assignment: Assignment, schedule: ScheduleArrays) -> ScheduleArrays:
        """Return ``schedule`` with the moving jobs at the starts and nodes of the assignment."""
        placed = ScheduleArrays(schedule.starts.copy(), schedule.nodes.copy())
        for j, v, on in zip(self.moving, self.intervals, self.units, strict=True):
            present = assignment.present[v.index]
            if present:
                placed.starts[j] = assignment.start[v.index]
            else:
                placed.starts[j] = POSTPONED
            if on is not None and present:
                for (_, nodes), places in zip(self.flat.chunks_of(placed, j), on, strict=True):
                    counts = [assignment.integer[x.index] for x in places.values()]
                    nodes[:] = np.repeat(np.array(list(places), np.int64), counts)
        return placed

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
            on_nodes = ()
            if j in self.whole:
                on_nodes = self.flat.nodes_of(schedule, j).tolist()
            for n in on_nodes:
                taken = self.whole[j].get(n)
                if taken is not None and taken is not (on or ({},))[0].get(n):
                    a.integer[taken.index] = 1
        return a


class Neighbourhoods:
    """Maker of the models of neighbourhoods of one problem's schedules.

    Parameters
    ----------
    problem : Dispatch or Profit
        The problem.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue, Schedule
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
        _refuse_empty_requests(self.flat.dispatch)
        # sign * objective is minimized
        if problem.sense == "minimize":
            self.sign = 1
        else:
            self.sign = -1

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
        model = Model(f"neighbourhood of {how_many(len(moving), 'job')}")
        made = tuple(
            model.interval(job.id, int(flat.jobs.duration[j]), windows[j], self._optional(j, schedule))
            for j, job in zip(moving, some.jobs, strict=True)
        )
        base = JobModel(some, model, made, {})
        stays = schedule.starts != POSTPONED
        stays[list(moving)] = False
        allowed = np.zeros(len(flat.nodes.capacity), bool)
        allowed[range(allowed.size) if nodes is None else sorted(_set(nodes))] = True
        on_nodes = NeighbourhoodNodes(flat, schedule, base, moving, stays)
        units = on_nodes.declare(kept, allowed)
        self._add_licences(base, schedule, stays)
        self._set_objective(base, schedule, moving, stays)
        if flat.dispatch.limits:
            self._add_limits(base, schedule, moving, stays)
        return Neighbourhood(flat, model, moving, made, units, on_nodes.whole)

    def _add_licences(self, base: JobModel, schedule: ScheduleArrays, stays: Bools) -> None:
        """Add the licences that the jobs that stay and the running jobs leave to the moving jobs."""
        dispatch = self.flat.dispatch
        for name, total in dispatch.platform.licences.items():
            rows = [
                DemandRow(v, n)
                for j, v in zip(base.problem.jobs, base.jobs, strict=True)
                if (n := j.licences.get(name, 0))
            ]
            if not rows:
                continue
            change = {dispatch.now: 0}
            holders = [
                (int(schedule.starts[k]), int(schedule.starts[k] + self.flat.jobs.duration[k]), job)
                for k, job in enumerate(dispatch.jobs)
                if stays[k]
            ]
            holders += [(dispatch.now, r.end, r.job) for r in dispatch.running if r.end > dispatch.now]
            for begin, end, job in holders:
                held = job.licences.get(name, 0)
                if held and begin < end:
                    change[begin] = change.get(begin, 0) - held
                    change[end] = change.get(end, 0) + held
            times = sorted(change)
            left = total + np.cumsum([change[t] for t in times])
            steps = tuple(zip(times, np.minimum(left, sum(row.most for row in rows)).tolist(), strict=True))
            base.add_cumulative(rows, steps, f"licences of {name}")

    def _optional(self, j: int, schedule: ScheduleArrays) -> bool:
        """Return whether a job may be postponed until profit no longer counts."""
        return isinstance(self.problem, Profit) and bool(self.flat.can_wait[j] or schedule.starts[j] == POSTPONED)

    def _windows(
        self, j: int, schedule: ScheduleArrays, earliest: int | None, latest: int | None
    ) -> tuple[Window, ...]:
        """Return the windows of a job's start; empty if the job earns nothing at any start."""
        dispatch = self.flat.dispatch
        now = int(schedule.starts[j])
        horizon = self.problem.horizon
        if isinstance(self.problem, Profit) and self._optional(j, schedule):
            horizon = self.problem.horizon_end - 1
        if latest is not None:
            horizon = min(horizon, max(latest, now))
        windows = dispatch.start_windows(dispatch.jobs[j], horizon)
        if earliest is None:
            return windows
        if now == POSTPONED:
            least = earliest
        else:
            least = min(earliest, now)
        return tuple((max(lo, least), hi) for lo, hi in windows if hi >= least)

    def _set_objective(self, base: JobModel, schedule: ScheduleArrays, moving: tuple[int, ...], stays: Bools) -> None:
        """Set the objective of the whole problem."""
        if isinstance(self.problem, Profit):
            profit_objective(self.problem, self._earned(self.problem, schedule, moving, stays))(base)
            return
        costs = self.flat.dispatch.costs
        jobs = np.flatnonzero(stays)
        fixed = None
        if jobs.size:
            starts = schedule.starts[jobs]
            fixed = costs.some(jobs).value(starts - self.flat.jobs.submit[jobs], starts + self.flat.jobs.duration[jobs])
        others = np.array(moving, np.int64)
        over = self.flat.dispatch.over
        if over is not None:
            starts = schedule.starts[jobs]
            over = over.beside(starts, starts + self.flat.jobs.duration[jobs], jobs, others)
        set_cost(base, costs.some(others), fixed, over)

    def _add_limits(self, base: JobModel, schedule: ScheduleArrays, moving: tuple[int, ...], stays: Bools) -> None:
        """Add the limits on objectives, to which the jobs that stay contribute."""
        jobs = np.flatnonzero(stays)
        all_jobs = self.flat.jobs
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
        starts = schedule.starts[at]
        rates = np.column_stack([problem.watts[at], problem.cores[at]])
        bounds = np.array([problem.segments[0].begin, *(s.end for s in problem.segments)], np.int64)
        ran = _per_segment(starts, starts + self.flat.jobs.duration[at], bounds, rates)
        price = np.array([s.energy_price for s in problem.segments], float) / JOULES
        euro = problem.price / 3600 * float(ran[:, 1].sum()) - float(ran[:, 0] @ price)
        return FixedEarnings(moving, euro, (ran[:, 0] / np.diff(bounds)).tolist())


def _per_segment(begin: Ints, end: Ints, bounds: Ints, rates: Floats) -> Floats:
    """Return the integral of the rates (jobs x kinds) over [begin, end), summed per segment between the bounds."""
    begin = np.maximum(begin, bounds[0])
    end = np.minimum(end, bounds[-1])
    runs = begin < end
    begin = begin[runs]
    end = end[runs]
    rates = rates[runs]
    first = np.searchsorted(bounds, begin, side="right") - 1
    last = np.searchsorted(bounds, end) - 1
    in_first = np.minimum(end, bounds[first + 1]) - begin
    in_last = np.where(last > first, end - bounds[last], 0)
    slopes = []
    for rate in rates.T:
        ends = np.bincount(first, rate * in_first, bounds.size) + np.bincount(last, rate * in_last, bounds.size)
        several = np.where(last > first, rate, 0.0)
        between = np.cumsum(np.bincount(first + 1, several, bounds.size) - np.bincount(last, several, bounds.size))
        slopes.append(ends[:-1] + between[:-1] * np.diff(bounds))
    return np.stack(slopes, axis=1)


def _set(indices: Some) -> set[int]:
    return {int(i) for i in indices}
