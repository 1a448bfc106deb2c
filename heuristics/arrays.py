"""A dispatching or profit problem as flat arrays, as the kernels take it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..models import Dispatch, Job, Profit, Schedule
from ..models.dispatch.job_intervals import startable_later
from .kernels.earnings import ledger
from .kernels.placement import EARNINGS, EXCESS, KINDS, LAST_END, LATE, POSTPONED, Costs, Jobs
from .kernels.profile import NEVER, Floats, Ints, Machine

ALWAYS = (-NEVER, NEVER)
RATIOS = (1.1, 1.25, 1.5, 2.0, 4.0)  # of durations and units that count as alike, if there are many different ones


@dataclass(frozen=True)
class Arrays:
    """The arrays of a problem; job j is ``problem.jobs[j]``, node n is ``problem.platform.nodes[n]``.

    ``power`` (watts) and ``profit`` (euro per hour) of the jobs, if known, are there for the criteria that order by them.
    """

    problem: Dispatch | Profit
    jobs: Jobs
    machine: Machine
    costs: Costs
    shares: Floats  # what a unit requests, as the sum of shares of the platform's capacity
    power: Floats | None = None
    profit: Floats | None = None

    @property
    def dispatch(self) -> Dispatch:
        """The jobs on their platform, whatever they are scheduled for."""
        return dispatch_of(self.problem)

    @property
    def sign(self) -> int:
        """What makes the problem's objective of the kernels' one, which is minimized."""
        return 1 if self.problem.sense == "minimize" else -1

    def schedule(self, starts: Ints, nodes: Ints) -> Schedule:
        """A schedule of the starts of the jobs and the nodes of their units; what is parked follows when nothing is earned."""
        names, first = self.problem.platform.nodes, self.jobs.first_unit.tolist()
        placed: dict[str, dict[str, int]] = {}
        started: dict[str, int] = {}
        flat = nodes.tolist()
        for j, (job, start) in enumerate(zip(self.problem.jobs, starts.tolist(), strict=True)):
            if start == POSTPONED:
                continue
            found: dict[str, int] = {}
            for n in flat[first[j] : first[j + 1]]:
                found[names[n]] = found.get(names[n], 0) + 1
            started[job.id], placed[job.id] = start, found
        schedule = Schedule(started, placed)
        if not isinstance(self.problem, Profit):
            return schedule
        from .list_scheduling.postponed import with_postponed  # rules are made of arrays, too

        return with_postponed(self.problem, schedule)


@dataclass(frozen=True)
class Placement:
    """A schedule as a search has it: the starts of the jobs, and the nodes of their units.

    The arrays are the search's own, which goes on with them: whoever keeps a placement beyond a callback takes a copy.
    """

    arrays: Arrays
    starts: Ints
    nodes: Ints

    def kept(self) -> Placement:
        """Return a copy, which the search does not change."""
        return Placement(self.arrays, self.starts.copy(), self.nodes.copy())

    def schedule(self) -> Schedule:
        """Return it as a schedule of the problem."""
        return self.arrays.schedule(self.starts, self.nodes)


def dispatch_of(problem: Dispatch | Profit) -> Dispatch:
    """The dispatching problem of a problem."""
    return problem.dispatch if isinstance(problem, Profit) else problem


def arrays(
    problem: Dispatch | Profit, power: Mapping[str, float] | None = None, profit: Mapping[str, float] | None = None
) -> Arrays:
    """The arrays of a problem. Raises KeyError for a job that ``power`` or ``profit`` lack.

    ``power`` (watts) and ``profit`` (euro per hour) by job id; by default what the problem knows of them.
    """
    dispatch = dispatch_of(problem)
    requests = _amounts(problem.jobs, problem.platform.resources)
    capacity = np.array(list(problem.platform.capacity.values()), np.int64)
    total = np.maximum(1, capacity.sum(axis=0))
    jobs = _jobs(dispatch, requests, problem.horizon)
    area = (jobs.duration * jobs.units) @ (requests / total)
    costs = _earnings(problem, jobs) if isinstance(problem, Profit) else _costs(dispatch, jobs)
    if isinstance(problem, Profit):  # a job starts while something is earned, or is parked
        jobs = jobs._replace(
            latest=np.where(costs.may_postpone, np.minimum(jobs.latest, problem.horizon_end - 1), jobs.latest)
        )
    return Arrays(
        problem,
        jobs,
        _machine(dispatch, capacity, area / total),
        costs,
        (requests / total).sum(axis=1),
        _power(problem) if power is None else np.array([power[j.id] for j in problem.jobs], float),
        _profit(problem) if profit is None else np.array([profit[j.id] for j in problem.jobs], float),
    )


def _power(problem: Dispatch | Profit) -> Floats | None:
    """The watts of the jobs, if all are known."""
    if isinstance(problem, Profit):
        return problem.watts
    known = [j.power for j in problem.jobs if j.power is not None]
    return np.array(known, float) if len(known) == len(problem.jobs) else None


def _profit(problem: Dispatch | Profit) -> Floats | None:
    """What the jobs pay per hour."""
    return problem.price * problem.cores.astype(np.float64) if isinstance(problem, Profit) else None


def _amounts(jobs: Sequence[Job], resources: tuple[str, ...]) -> Ints:
    rows = [[j.request.get(r, 0) for r in resources] for j in jobs]
    return np.array(rows, np.int64).reshape(len(jobs), len(resources))


def _ends(sizes: Iterable[int]) -> Ints:
    """0 and the running sums: where each of several lists begins when they are laid end to end."""
    return np.concatenate([[0], np.cumsum(list(sizes), dtype=np.int64)]).astype(np.int64)


def _jobs(problem: Dispatch, requests: Ints, horizon: int) -> Jobs:
    listed = problem.jobs
    group, windows = _windows(problem, horizon)
    flat = np.array([w for one in windows for w in one], np.int64).reshape(-1, 2)
    duration = np.array([problem.duration(j) for j in listed], np.int64)
    units = np.array([j.units for j in listed], np.int64)
    latest = np.array([NEVER if j.deadline is None else j.deadline for j in listed], np.int64) - duration
    return Jobs(
        release=np.array([problem.earliest(j) for j in listed], np.int64),
        latest=np.minimum(latest, horizon),
        duration=duration,
        units=units,
        request=requests,
        first_unit=_ends(units),
        kind=_kinds(duration, units, requests),
        group=group,
        first_window=_ends(len(one) for one in windows),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
    )


def _kinds(duration: Ints, units: Ints, requests: Ints) -> Ints:
    """Jobs that are alike have the same number; the more different ones there are, the less alike they need to be."""
    for ratio in (1.0, *RATIOS):
        lengths, widths = (x if ratio == 1.0 else _steps(x, ratio) for x in (duration, units))
        rows = np.column_stack([lengths, widths, requests if ratio < RATIOS[-1] else _steps(requests, 2.0)])
        found, kinds = np.unique(rows, axis=0, return_inverse=True)
        if len(found) <= KINDS:
            break
    return np.asarray(kinds, np.int64).reshape(-1)


def _steps(amounts: Ints, ratio: float) -> Ints:
    """The step of each amount where every step is so many times as high as the one before."""
    return np.array(np.ceil(np.log(np.maximum(amounts, 1)) / np.log(ratio)), np.int64)


def _windows(problem: Dispatch, horizon: int) -> tuple[Ints, list[tuple[tuple[int, int], ...]]]:
    """The windows of each job's group; jobs of one queue without windows of their own share the queue's calendar."""
    daily = {q.name for q in problem.queues if q.daily}
    groups: dict[object, int] = {}
    windows: list[tuple[tuple[int, int], ...]] = []
    found = []
    for job in problem.jobs:
        key = (bool(job.windows), job.id if job.windows else job.queue if job.queue in daily else None)
        if key not in groups:
            groups[key] = len(windows)
            if job.windows or job.queue in daily:
                anyone = replace(job, submit=problem.now, earliest_start=None, deadline=None)
                windows.append(problem.start_windows(anyone, horizon))
            else:
                windows.append((ALWAYS,))
        found.append(groups[key])
    return np.array(found, np.int64), windows


def _machine(problem: Dispatch, capacity: Ints, worth: Floats) -> Machine:
    index = {n: i for i, n in enumerate(problem.platform.nodes)}
    rows = [(r, n, units) for r in problem.running for n, units in r.nodes.items()]
    requests = _amounts([r.job for r, _, _ in rows], problem.platform.resources)
    return Machine(
        capacity=capacity,
        worth=worth,
        now=problem.now,
        taken_node=np.array([index[n] for _, n, _ in rows], np.int64),
        taken_until=np.array([r.end for r, _, _ in rows], np.int64),
        taken=requests * np.array([units for _, _, units in rows], np.int64).reshape(-1, 1),
    )


def _costs(problem: Dispatch, jobs: Jobs) -> Costs:
    """The objective as weights and graces; ``Dispatch.objective`` is what it means."""
    aim, ewt = problem.aim, np.array([problem.ewt[j.queue] for j in problem.jobs], np.int64)
    weight, grace, constant, mode = np.ones(len(ewt)), np.zeros(len(ewt), np.int64), 0.0, EXCESS
    if aim == "makespan":
        mode, constant = LAST_END, float(max((r.end for r in problem.running), default=problem.now))
        if problem.jobs and not problem.running:
            constant = 0.0
    elif aim == "weighted-wait":
        weight = 1 / ewt
    elif aim == "weighted-tardiness":
        weight, grace = 1 / ewt, ewt
    elif aim == "late-jobs":
        mode, grace = LATE, ewt
    elif aim == "queue-priority-wait":
        weight = max(problem.ewt.values(), default=1) / ewt
    elif aim == "slowdown":
        weight, constant = 1 / np.maximum(1, jobs.duration), float(len(ewt))
    submit = np.array([j.submit for j in problem.jobs], np.int64)
    return Costs(mode, submit, weight, grace, constant, ledger(), np.zeros(submit.size, np.bool_))


def _earnings(problem: Profit, jobs: Jobs) -> Costs:
    submit = np.array([j.submit for j in problem.jobs], np.int64)
    may_postpone = np.array([startable_later(problem.dispatch, j) for j in problem.jobs], np.bool_)
    return Costs(
        EARNINGS, submit, np.ones(submit.size), np.zeros(submit.size, np.int64), 0.0, ledger(problem), may_postpone
    )
