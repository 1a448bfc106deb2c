"""Flat arrays of a dispatching or profit problem, the input of the compiled kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..errors import MissingValue
from ..models import Dispatch, ProblemError, Profit, Schedule
from ..models.array_types import Bools, Floats, Ints
from ..models.dispatch.arrays import JobArrays, column, distinct, offsets
from ..models.dispatch.objectives import Excess, JobCosts, Late
from ..models.schedule_arrays import Flat, ScheduleArrays
from ..models.words import with_short_repr
from .errors import NotForThisProblem
from .kernels.costs import EARNINGS, EXCESS, LAST_END, LATE, Bounds, Costs, Jobs, Over, ledger
from .kernels.placement import KINDS
from .kernels.profile import NEVER, WHOLE, Machine

ALWAYS = (-NEVER, NEVER)
MOST_UNITS = 2**20  # of a job beside whole-node jobs: places of nodes times units fit 64 bits
PENALTY = 1e6  # of a broken limit, relative to the greatest objective: sums keep ten digits of the objective
RATIOS = (1.1, 1.25, 1.5, 2.0, 4.0)  # step sizes to round durations and units with, if there are many different values


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arrays of a problem; job j is ``problem.jobs[j]``, node n is ``problem.platform.nodes[n]``.

    Parameters
    ----------
    flat
        The problem as arrays, from which the others are made; it converts schedules.
    jobs
        Arrays over jobs and over start windows, see ``kernels.costs.Jobs``.
    machine
        Arrays over nodes and over running jobs, see ``kernels.profile.Machine``.
    costs
        The objective, see ``kernels.costs.Costs``.
    shares
        Request of one unit of each job: the sum over resources of request / capacity of the platform, shape (jobs,). Of
        a heterogeneous job: the request of all its units, divided by the units of its first chunk.
    power
        Power of each job in watts, shape (jobs,); None if it is not known. Used by the criteria that order by power.
    profit
        Profit of each job in euro per hour, shape (jobs,); None if it is not known.
    """

    flat: Flat
    jobs: Jobs
    machine: Machine
    costs: Costs
    shares: Floats
    power: Floats | None = None
    profit: Floats | None = None

    @property
    def problem(self) -> Dispatch | Profit:
        """The problem that the arrays were made from."""
        return self.flat.problem

    @property
    def dispatch(self) -> Dispatch:
        """The dispatching problem: the jobs and their platform without the profit."""
        return self.flat.dispatch

    @property
    def sign(self) -> int:
        """1 if the problem is minimized, -1 if it is maximized: problem's objective = sign * kernels' objective."""
        if self.problem.sense == "minimize":
            return 1
        return -1

    def keeps_limits(self, value: float) -> bool:
        """Return whether a schedule with this objective of the kernels keeps the limits on other objectives."""
        bounds = self.costs.bounds
        return not bounds.mode.size or value < bounds.penalty / 2

    def schedule(self, starts: Ints, nodes: Ints) -> Schedule:
        """Make a ``Schedule`` of starts in seconds, shape (jobs,), and node indices, shape (units of all jobs,).

        Postponed jobs of a profit problem get their starts by ``with_rest``.
        """
        return self.flat.schedule(ScheduleArrays(starts, nodes))


@with_short_repr
@dataclass(frozen=True, eq=False)
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
    NotForThisProblem
        If the problem has a hard limit on the power of the machine, or whole-node jobs of very many units.
    """
    flat = Flat(problem)
    _check_power(flat.dispatch)
    jobs = _jobs(flat)
    nodes = flat.nodes
    area = (jobs.duration * jobs.units) @ (flat.jobs.request / nodes.total)
    shares = nodes.shares(flat.jobs.request)
    if flat.jobs.further is not None:
        area = jobs.duration @ (flat.jobs.amounts / nodes.total)
        shares = nodes.shares(flat.jobs.amounts) / jobs.units
    if isinstance(problem, Profit):
        costs = _earnings(problem, flat)
    else:
        costs = _costs(flat, jobs)
    if isinstance(problem, Profit):  # a job that may be postponed starts before the end of the horizon or not at all
        jobs = jobs._replace(
            latest=np.where(costs.may_postpone, np.minimum(jobs.latest, problem.horizon_end - 1), jobs.latest)
        )
    return Arrays(
        flat,
        jobs,
        _machine(flat, area / nodes.total),
        costs,
        shares,
        _power(problem) if power is None else _given(power, "power", problem),
        _profit(problem) if profit is None else _given(profit, "profit", problem),
    )


def within_profile(a: Arrays) -> Arrays | None:
    """Return the arrays in which jobs keep to the soft profile of the problem; None if there is none, or a job cannot."""
    problem = a.dispatch
    if problem.over is None or problem.desired is None or problem.desired.power is not None:
        return None
    try:
        hard = arrays(problem.replace(over_cost=None))
    except ProblemError:  # a job that the empty machine can hold at no time within the profile
        return None
    return replace(a, jobs=hard.jobs, machine=hard.machine)


def _given(values: Mapping[str, float], name: str, problem: Dispatch | Profit) -> Floats:
    """Return the value of each job; raise MissingValue, with the job, if there is none."""
    missing = next((j.id for j in problem.jobs if j.id not in values), None)
    if missing is not None:
        raise MissingValue(f"{name} has no value for job {missing!r}; expected one for each job of the problem")
    return np.array([values[j.id] for j in problem.jobs], float)


def _check_power(problem: Dispatch) -> None:
    if problem.desired is not None and problem.over_cost is None and problem.desired.power is not None:
        raise NotForThisProblem(
            "the searches, and schedules made from the answers of relaxations, know the amounts of nodes only and cannot keep "
            "to a desired power of the machine; use the formulation counts or units without a warm start, such as "
            "cpsat:counts, or give the profile a cost (over_cost)"
        )


def _power(problem: Dispatch | Profit) -> Floats | None:
    """Return the watts of the jobs, or None if the power of some job is unknown."""
    if isinstance(problem, Profit):
        return problem.watts
    known = [j.power for j in problem.jobs if j.power is not None]
    if len(known) == len(problem.jobs):
        return np.array(known, float)
    return None


def _profit(problem: Dispatch | Profit) -> Floats | None:
    """Return what each job pays in euro per hour, or None for a dispatching problem."""
    if isinstance(problem, Profit):
        return problem.price * problem.cores.astype(np.float64)
    return None


def _takes_whole_nodes(problem: Dispatch) -> bool:
    """Return whether a job takes whole nodes, so that the places of nodes are a resource (``kernels.profile.Machine``)."""
    return any(j.whole_nodes for j in problem.jobs) or any(r.job.whole_nodes for r in problem.running)


def _with_places(request: Ints, whole: Bools) -> Ints:
    """Return requests, shape (rows, resources), with the places that a unit takes."""
    return np.column_stack([request, np.where(whole, WHOLE, 1)])


def _jobs(flat: Flat) -> Jobs:
    jobs = flat.jobs
    rows = flat.jobs.rows
    horizon = flat.problem.horizon
    listed_jobs = flat.dispatch.jobs
    request, further_request = jobs.request, jobs.requests[rows.kind[len(jobs) :]]
    if _takes_whole_nodes(flat.dispatch):
        whole = np.array([j.whole_nodes for j in listed_jobs], np.bool_)
        most = int(jobs.all_units.max(initial=0))
        if most > MOST_UNITS:
            raise NotForThisProblem(
                f"the searches support whole-node jobs beside jobs of at most {MOST_UNITS:,} units; there is one of {most:,}"
            )
        request = _with_places(request, whole)
        further_request = _with_places(further_request, np.zeros(len(further_request), np.bool_))
    per_node = column((NEVER if j.per_node is None else j.per_node for j in listed_jobs), len(jobs))
    licences = flat.dispatch.platform.licences
    held = np.zeros((len(jobs), 0), np.int64)
    if licences and any(j.licences for j in [*listed_jobs, *(r.job for r in flat.dispatch.running)]):
        held = np.array([[j.licences.get(name, 0) for name in licences] for j in listed_jobs], np.int64)
        held = held.reshape(len(jobs), len(licences))
    group, windows = _windows(flat.dispatch, horizon)
    listed = np.array([w for one in windows for w in one], np.int64).reshape(-1, 2)
    deadline = column((NEVER if j.deadline is None else j.deadline for j in flat.dispatch.jobs), len(jobs))
    return Jobs(
        release=jobs.release,
        latest=np.minimum(deadline - jobs.duration, horizon),
        duration=jobs.duration,
        units=jobs.units,
        request=request,
        first_unit=jobs.first_unit,
        first_further=rows.first - len(jobs),
        further_units=rows.units[len(jobs) :],
        further_request=further_request,
        kind=_kinds(jobs, flat.dispatch.node_sets.number, per_node),
        group=group,
        first_window=offsets([len(one) for one in windows]),
        lo=listed[:, 0].copy(),
        hi=listed[:, 1].copy(),
        node_set=flat.dispatch.node_sets.number,
        per_node=per_node,
        licences=held,
    )


def _kinds(jobs: JobArrays, node_set: Ints, per_node: Ints) -> Ints:
    """Give each job the number of its kind; similar jobs, on the same nodes, are of one kind.

    Durations and units are rounded to steps; the steps become larger until there are at most ``KINDS`` kinds.
    """
    for ratio in (1.0, *RATIOS):
        lengths, widths = (x if ratio == 1.0 else _steps(x, ratio) for x in (jobs.duration, jobs.units))
        if ratio < RATIOS[-1]:
            requests = jobs.kind[:, None]
        else:
            requests = _steps(jobs.request, 2.0)
        distinct_rows, kinds = distinct(np.column_stack([lengths, widths, requests, node_set, per_node]))
        if len(distinct_rows) <= KINDS:
            break
    return kinds


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
    rows = []
    for job in problem.jobs:
        hours = None
        if job.queue in daily:
            hours = (job.queue, problem.calendar(job))
        key = (bool(job.windows), job.id if job.windows else hours)
        if key not in groups:
            groups[key] = len(windows)
            if job.windows or job.queue in daily:
                unbounded = replace(job, submit=problem.now, earliest_start=None, deadline=None)
                windows.append(problem.start_windows(unbounded, horizon))
            else:
                windows.append((ALWAYS,))
        rows.append(groups[key])
    return np.array(rows, np.int64), windows


def _machine(flat: Flat, worth: Floats) -> Machine:
    taken = flat.taken
    problem = flat.dispatch
    capacity = flat.nodes.capacity
    machine = Machine(
        capacity=capacity,
        worth=worth,
        now=problem.now,
        taken_node=taken.node,
        taken_begin=taken.begin,
        taken_end=taken.end,
        taken=taken.amount,
        allowed=problem.node_sets.sets,
        licences=np.zeros(0, np.int64),
        places=_takes_whole_nodes(problem),
    )
    if machine.places:
        machine = _places_of_nodes(machine, flat)
    jobs = [*problem.jobs, *(r.job for r in problem.running)]
    if any(j.licences for j in jobs):
        return _licences(machine, problem)
    return machine


def _places_of_nodes(machine: Machine, flat: Flat) -> Machine:
    """Return the machine with places as a last resource, of which running jobs hold some."""
    problem = flat.dispatch
    entries = [
        (flat.nodes.index[name], r.end, WHOLE if r.job.whole_nodes else units)
        for r in problem.running
        if r.end > problem.now
        for name, units in r.nodes.items()
    ]
    node, end, held = np.array(entries, np.int64).reshape(-1, 3).T
    amount = np.zeros((node.size, machine.capacity.shape[1] + 1), np.int64)
    amount[:, -1] = held
    none = np.zeros(len(machine.taken), np.int64)
    return machine._replace(
        capacity=np.column_stack([machine.capacity, np.full(len(machine.capacity), WHOLE)]),
        worth=np.append(machine.worth, 0.0),
        taken_node=np.concatenate([machine.taken_node, node]),
        taken_begin=np.concatenate([machine.taken_begin, np.full(node.size, problem.now)]),
        taken_end=np.concatenate([machine.taken_end, end]),
        taken=np.concatenate([np.column_stack([machine.taken, none]), amount]),
    )


def _licences(machine: Machine, problem: Dispatch) -> Machine:
    """Return the machine with its licences, of which running jobs hold some."""
    names = list(problem.platform.licences)
    running = [r for r in problem.running if r.end > problem.now and r.job.licences]
    width = max(machine.taken.shape[1], len(names))
    amount = np.zeros((len(running), width), np.int64)
    for k, r in enumerate(running):
        amount[k, : len(names)] = [r.job.licences.get(name, 0) for name in names]
    taken = np.zeros((len(machine.taken), width), np.int64)
    taken[:, : machine.taken.shape[1]] = machine.taken
    return machine._replace(
        licences=column(problem.platform.licences.values(), len(names)),
        taken_node=np.concatenate([machine.taken_node, np.full(len(running), len(machine.capacity))]),
        taken_begin=np.concatenate([machine.taken_begin, np.full(len(running), problem.now)]),
        taken_end=np.concatenate([machine.taken_end, column((r.end for r in running), len(running))]),
        taken=np.concatenate([taken, amount]),
    )


class CostRow(NamedTuple):
    """Costs of the jobs as the kernels take them, see ``kernels.costs.Costs``."""

    mode: int
    weight: Floats
    grace: Ints
    constant: float


def _cost_row(costs: JobCosts, jobs: int, now: int) -> CostRow:
    """Return the costs of this number of jobs."""
    if isinstance(costs, Excess):
        return CostRow(EXCESS, costs.weight, costs.grace, float(costs.constant.sum()))
    if isinstance(costs, Late):
        return CostRow(LATE, np.ones(jobs), costs.grace, 0.0)
    return CostRow(LAST_END, np.ones(jobs), np.zeros(jobs, np.int64), float(max(costs.others, default=now)))


def _costs(flat: Flat, jobs: Jobs) -> Costs:
    """Return the objective and the limits of a dispatching problem as the kernels take them."""
    problem = flat.dispatch
    submit = flat.jobs.submit
    own = _cost_row(problem.costs, submit.size, problem.now)
    never = np.zeros(submit.size, np.bool_)
    bounds = _bounds(problem, jobs, own)
    return Costs(own.mode, submit, own.weight, own.grace, own.constant, ledger(), never, bounds, _over(problem, jobs))


def _over(problem: Dispatch, jobs: Jobs) -> Over:
    """Return the cost of the use above a soft desired profile as the kernels take it."""
    if problem.over is None:
        return no_over(jobs.units.size)
    return Over(*problem.over.flat)


def no_over(jobs: int) -> Over:
    """Return the cost without a desired profile, for this number of jobs."""
    none = np.zeros(0, np.int64)
    return Over(0.0, none, none, none, np.zeros((0, jobs), np.int64))


def _bounds(problem: Dispatch, jobs: Jobs, own: CostRow) -> Bounds:
    """Return the limits of a problem with the objective ``own``."""
    limits = problem.limit_costs
    n = jobs.units.size
    rows = [_cost_row(limit.costs, n, problem.now) for limit in limits]
    # the greatest absolute values of a cost, over all possible starts
    last = np.maximum(jobs.latest, jobs.release)
    over = 0.0
    if problem.over is not None:
        over = problem.over.greatest(jobs.duration)
    late = 0.0
    if limits:
        late = float(own.weight @ np.maximum(0, last - problem.job_arrays.submit - own.grace))
    greatest = {EXCESS: late, LATE: float(n), LAST_END: float(np.abs(last + jobs.duration).max(initial=0))}
    return Bounds(
        np.array([row.mode for row in rows], np.int64),
        np.array([row.weight for row in rows], np.float64).reshape(len(rows), n),
        np.array([row.grace for row in rows], np.int64).reshape(len(rows), n),
        np.array([row.constant for row in rows], np.float64),
        np.array([limit.most for limit in limits], np.float64),
        np.array([limit.scale for limit in limits], np.float64),
        PENALTY * (greatest[own.mode] + abs(own.constant) + over + 1),
    )


def _earnings(problem: Profit, flat: Flat) -> Costs:
    """Return the objective of a profit problem; ``Profit.objective`` is the definition."""
    none = np.zeros(len(flat.jobs), np.int64)
    weight = np.ones(none.size)
    unlimited = Bounds(none[:0], weight[:0, None], none[:0, None], weight[:0], weight[:0], weight[:0], 0.0)
    return Costs(
        EARNINGS, flat.jobs.submit, weight, none, 0.0, ledger(problem), flat.can_wait, unlimited, no_over(none.size)
    )
