"""Flat arrays of a dispatching or profit problem, the input of the compiled kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..models import Dispatch, Job, Profit, Schedule
from ..models.dispatch.job_intervals import startable_later
from ..models.dispatch.objectives import Excess, Late
from ..models.excerpt import with_short_repr
from ..models.profit.left_out import with_rest
from .kernels.earnings import ledger
from .kernels.placement import EARNINGS, EXCESS, KINDS, LAST_END, LATE, POSTPONED, Costs, Jobs
from .kernels.profile import NEVER, Floats, Ints, Machine

ALWAYS = (-NEVER, NEVER)
RATIOS = (1.1, 1.25, 1.5, 2.0, 4.0)  # step sizes to round durations and units with, if there are many different values


@dataclass(frozen=True)
class Arrays:
    """The arrays of a problem; job j is ``problem.jobs[j]``, node n is ``problem.platform.nodes[n]``.

    Parameters
    ----------
    problem
        The problem that the arrays were made from.
    jobs
        Arrays over jobs and over start windows, see ``kernels.placement.Jobs``.
    machine
        Arrays over nodes and over running jobs, see ``kernels.profile.Machine``.
    costs
        The objective, see ``kernels.placement.Costs``.
    shares
        Request of one unit of each job: the sum over resources of request / capacity of the platform, shape (jobs,).
    power
        Power of each job in watts, shape (jobs,); None if it is not known. Used by the criteria that order by power.
    profit
        Profit of each job in euro per hour, shape (jobs,); None if it is not known.
    """

    problem: Dispatch | Profit
    jobs: Jobs
    machine: Machine
    costs: Costs
    shares: Floats
    power: Floats | None = None
    profit: Floats | None = None

    @property
    def dispatch(self) -> Dispatch:
        """The dispatching problem: the jobs and their platform without the profit."""
        return dispatch_of(self.problem)

    @property
    def sign(self) -> int:
        """1 if the problem is minimized, -1 if it is maximized: problem's objective = sign * kernels' objective."""
        return 1 if self.problem.sense == "minimize" else -1

    def schedule(self, starts: Ints, nodes: Ints) -> Schedule:
        """Make a ``Schedule`` of starts in seconds, shape (jobs,), and node indices, shape (units of all jobs,).

        Postponed jobs of a profit problem get their starts by ``with_rest``.
        """
        names, first = self.problem.platform.nodes, self.jobs.first_unit.tolist()
        used: dict[str, dict[str, int]] = {}
        started: dict[str, int] = {}
        flat = nodes.tolist()
        for j, (job, start) in enumerate(zip(self.problem.jobs, starts.tolist(), strict=True)):
            if start == POSTPONED:
                continue
            found: dict[str, int] = {}
            for n in flat[first[j] : first[j + 1]]:
                found[names[n]] = found.get(names[n], 0) + 1
            started[job.id], used[job.id] = start, found
        schedule = Schedule(started, used)
        return with_rest(self.problem, schedule) if isinstance(self.problem, Profit) else schedule


@with_short_repr
@dataclass(frozen=True)
class Placement:
    """A schedule as arrays, as a search has it.

    A search reuses these arrays after the callback has returned. Call ``kept`` to keep a placement for longer.

    Parameters
    ----------
    arrays
        The arrays of the problem.
    starts
        Start of each job in seconds, shape (jobs,); ``POSTPONED`` for a job without a start.
    nodes
        Node index of each unit, shape (units of all jobs,); the units of job j are
        ``arrays.jobs.first_unit[j] .. arrays.jobs.first_unit[j + 1] - 1``.
    """

    arrays: Arrays
    starts: Ints
    nodes: Ints

    def kept(self) -> Placement:
        """Return a copy that the search does not change."""
        return Placement(self.arrays, self.starts.copy(), self.nodes.copy())

    def schedule(self) -> Schedule:
        """Return the placement as a ``Schedule`` of the problem."""
        return self.arrays.schedule(self.starts, self.nodes)


def dispatch_of(problem: Dispatch | Profit) -> Dispatch:
    """Return the dispatching problem: the problem itself, or the one inside a profit problem."""
    return problem.dispatch if isinstance(problem, Profit) else problem


def arrays(
    problem: Dispatch | Profit, power: Mapping[str, float] | None = None, profit: Mapping[str, float] | None = None
) -> Arrays:
    """Make the arrays of a problem.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    power
        Power of each job in watts, by job id. By default the powers that the problem contains, if it has all of them.
    profit
        Profit of each job in euro per hour, by job id. By default the price of a profit problem times the cores of the
        job.

    Raises
    ------
    KeyError
        If ``power`` or ``profit`` lacks a job.
    """
    dispatch = dispatch_of(problem)
    requests = _amounts(problem.jobs, problem.platform.resources)
    capacity = np.array(list(problem.platform.capacity.values()), np.int64)
    total = np.maximum(1, capacity.sum(axis=0))
    jobs = _jobs(dispatch, requests, problem.horizon)
    area = (jobs.duration * jobs.units) @ (requests / total)
    costs = _earnings(problem) if isinstance(problem, Profit) else _costs(dispatch)
    if isinstance(problem, Profit):  # a job that may be postponed starts before the end of the horizon or not at all
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
    """Return the watts of the jobs, or None if the power of some job is unknown."""
    if isinstance(problem, Profit):
        return problem.watts
    known = [j.power for j in problem.jobs if j.power is not None]
    return np.array(known, float) if len(known) == len(problem.jobs) else None


def _profit(problem: Dispatch | Profit) -> Floats | None:
    """Return what each job pays in euro per hour, or None for a dispatching problem."""
    return problem.price * problem.cores.astype(np.float64) if isinstance(problem, Profit) else None


def _amounts(jobs: Sequence[Job], resources: tuple[str, ...]) -> Ints:
    rows = [[j.request.get(r, 0) for r in resources] for j in jobs]
    return np.array(rows, np.int64).reshape(len(jobs), len(resources))


def _ends(sizes: Iterable[int]) -> Ints:
    """Return 0 and the running sums of the sizes: the first index of each list when the lists are concatenated."""
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
    """Give each job the number of its kind; similar jobs are of one kind.

    Durations and units are rounded to steps; the steps become larger until there are at most ``KINDS`` kinds.
    """
    for ratio in (1.0, *RATIOS):
        lengths, widths = (x if ratio == 1.0 else _steps(x, ratio) for x in (duration, units))
        rows = np.column_stack([lengths, widths, requests if ratio < RATIOS[-1] else _steps(requests, 2.0)])
        found, kinds = np.unique(rows, axis=0, return_inverse=True)
        if len(found) <= KINDS:
            break
    return np.asarray(kinds, np.int64).reshape(-1)


def _steps(amounts: Ints, ratio: float) -> Ints:
    """Return log(amount) / log(ratio), rounded up: each step is ``ratio`` times as large as the one before."""
    return np.array(np.ceil(np.log(np.maximum(amounts, 1)) / np.log(ratio)), np.int64)


def _windows(problem: Dispatch, horizon: int) -> tuple[Ints, list[tuple[tuple[int, int], ...]]]:
    """Return the group of each job and the start windows of each group.

    Jobs of one queue that have no windows of their own share the calendar of the queue.
    """
    daily = {q.name for q in problem.queues if q.daily}
    groups: dict[object, int] = {}
    windows: list[tuple[tuple[int, int], ...]] = []
    found = []
    for job in problem.jobs:
        key = (bool(job.windows), job.id if job.windows else job.queue if job.queue in daily else None)
        if key not in groups:
            groups[key] = len(windows)
            if job.windows or job.queue in daily:
                unbounded = replace(job, submit=problem.now, earliest_start=None, deadline=None)
                windows.append(problem.start_windows(unbounded, horizon))
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
        taken_end=np.array([r.end for r, _, _ in rows], np.int64),
        taken=requests * np.array([units for _, _, units in rows], np.int64).reshape(-1, 1),
    )


def _costs(problem: Dispatch) -> Costs:
    """Return the objective of a dispatching problem as the kernels take it."""
    submit = np.array([j.submit for j in problem.jobs], np.int64)
    mode, weight, grace, constant = LAST_END, np.ones(submit.size), np.zeros(submit.size, np.int64), 0.0
    costs = problem.costs
    if isinstance(costs, Excess):
        mode, weight, grace, constant = EXCESS, costs.weight, costs.grace, float(costs.constant.sum())
    elif isinstance(costs, Late):
        mode, grace = LATE, costs.grace
    else:
        constant = float(max(costs.others, default=problem.now))
    return Costs(mode, submit, weight, grace, constant, ledger(), np.zeros(submit.size, np.bool_))


def _earnings(problem: Profit) -> Costs:
    """Return the objective of a profit problem; ``Profit.objective`` is the definition."""
    submit = np.array([j.submit for j in problem.jobs], np.int64)
    may_postpone = np.array([startable_later(problem.dispatch, j) for j in problem.jobs], np.bool_)
    return Costs(
        EARNINGS, submit, np.ones(submit.size), np.zeros(submit.size, np.int64), 0.0, ledger(problem), may_postpone
    )
