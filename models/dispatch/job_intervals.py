"""The part that all formulations of a dispatching problem share: intervals of jobs and of running jobs, the objective.

Data: ``now``; for each job j its duration ``d[j]``, submit time ``q[j]``, start windows ``W[j]`` up to the horizon, and
expected waiting time ``ewt[j]``; for each end e > now of a running job, that end.

Variables: an interval ``v[j]`` of size ``d[j]`` per job with ``v[j].start in W[j]``; ``w[j] = v[j].start - q[j]``
stands for its waiting time. A fixed interval ``r[e] = [now, e)`` per end e: running jobs with the same end share it.

A cumulative has no more capacity than the sum M of the greatest demands of its jobs. Of the running jobs it has only what
counts then: with the free amount ``free(t) = capacity - sum over e > t of the amounts that running jobs return at e``, it
has the capacity ``C = min(capacity, M)``, and interval r[e] the demand ``min(free(e), M) - min(free(e - 1), M)``. The jobs
can use ``min(free(t), M)`` at each time t, which excludes the same starts as ``free(t)``: they never need more than M.

The objective is made from the costs of the jobs (``costs.expressions``); if it is maximized, it is minus this cost. The
limits on objectives are constraints (``costs.constraints``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .. import language as sl
from ..comparing import hashable
from ..language import Assignment, Cumulative, Integer, Interval, Linear, Model
from ..problem import Schedule
from .costs.constraints import add_limits
from .costs.expressions import total_cost
from .desired.levels import Capacity, Levels
from .desired.over import OverCost
from .desired.power import limit_power
from .job_arrays import request_rows
from .jobs import Job
from .objectives import JobCosts

if TYPE_CHECKING:
    from .problem import Dispatch

SHARES = (2, 3, 4)
"""The k of the constraints on units that need more than 1/k of a node."""
Need = Callable[[Job], int]
"""The demand of one unit of a job in a cumulative."""


class DemandRow(NamedTuple):
    """One demand of a cumulative: ``amount``, multiplied by the variable ``times`` if it is given."""

    interval: Interval
    amount: int
    times: Integer | None = None

    @property
    def most(self) -> int:
        """The greatest possible demand."""
        return self.amount if self.times is None else self.amount * self.times.hi


@hashable
@dataclass(frozen=True)
class JobModel:
    """A model with an interval per job, the basis of every formulation.

    Parameters
    ----------
    problem : Dispatch
        The problem.
    model : Model
        The model.
    jobs : tuple of Interval
        The interval of each job, in the order of ``problem.jobs``.
    running_ends : dict of int to Interval
        The intervals of ``until``, by their ends.
    levels : Levels, optional
        What a hard desired profile allows on each node; None: the capacity.
    """

    problem: Dispatch
    model: Model
    jobs: tuple[Interval, ...]
    running_ends: dict[int, Interval]
    levels: Levels | None = None

    @property
    def parts(self) -> list[tuple[Job, Interval]]:
        """Each chunk of each job as a job of equal units (``Job.parts``), with the interval of the job."""
        return [(part, v) for j, v in zip(self.problem.jobs, self.jobs, strict=True) for part in j.parts]

    def read_starts(self, assignment: Assignment) -> dict[str, int]:
        """Return {job id: start} of an assignment, without the absent jobs."""
        present, start = assignment.present, assignment.start
        rows = zip(self.problem.jobs, self.jobs, strict=True)
        return {j.id: start[v.index] for j, v in rows if present[v.index]}

    def write_starts(self, schedule: Schedule) -> Assignment:
        """Return an assignment of the intervals of jobs and running jobs; all other variables are 0 or absent.

        Raises
        ------
        KeyError
            If a job that is not optional has no start.
        """
        a = Assignment(self.model)
        for job, v in zip(self.problem.jobs, self.jobs, strict=True):
            if not v.optional or job.id in schedule.start:
                a.set(v, schedule.start[job.id], schedule.start[job.id] + v.size_lo)
        for end, v in self.running_ends.items():
            a.set(v, self.problem.now, end)
        return a

    def until(self, end: int) -> Interval:
        """Return the fixed interval from ``now`` to an end of running jobs in seconds, made at the first call."""
        found = self.running_ends.get(end)
        if found is None:
            now = self.problem.now
            found = self.running_ends[end] = self.model.interval(f"running until {end}", size=end - now, start=now)
        return found

    def running(self, places: Mapping[str, str]) -> dict[str, list[tuple[int, Job, int]]]:
        """Return the running jobs of each place as (end, job, units there); ``places`` maps nodes to places."""
        found: dict[str, list[tuple[int, Job, int]]] = {place: [] for place in places.values()}
        for r in self.problem.running:
            if r.end > self.problem.now:
                for node, n in r.nodes.items():
                    found[places[node]].append((r.end, r.job, n))
        return found

    def returned_on_nodes(self) -> dict[str, list[dict[int, int]]]:
        """Return for each node, and there for each resource, what running jobs return at each end: {end: amount}, no zeros."""
        platform = self.problem.platform
        ending = [r for r in self.problem.running if r.end > self.problem.now]
        totals: dict[str, dict[int, list[int]]] = {node: {} for node in platform.capacity}
        for r, request in zip(ending, request_rows([r.job for r in ending], platform.resources), strict=True):
            for node, n in r.nodes.items():
                known = totals[node].get(r.end, (0,) * len(request))
                totals[node][r.end] = [k + n * q for k, q in zip(known, request, strict=True)]
        columns = range(len(platform.resources))
        return {n: [{e: a[c] for e, a in of.items() if a[c]} for c in columns] for n, of in totals.items()}

    def running_rows(self, here: Iterable[tuple[int, Job, int]], need: Need) -> list[DemandRow]:
        """Return the demands of the running jobs of one place, which are given as ``running`` returns them."""
        return [DemandRow(self.until(end), amount) for end, amount in returned(here, need).items()]

    def capacity(self, nodes: Sequence[str], resource: str, capacity: int) -> Capacity:
        """Return the steps of the capacity of some nodes together; ``capacity``: without a desired profile."""
        if self.levels is None:
            return ((0, capacity),)
        return self.levels.capacity(nodes, self.problem.platform.resources.index(resource))

    def add_cumulative(
        self,
        rows: Sequence[DemandRow],
        capacity: int | Capacity,
        name: str,
        held: Mapping[int, int] | None = None,
    ) -> None:
        """Add a cumulative to the model, unless all demands fit at once.

        Parameters
        ----------
        rows : sequence of DemandRow
            The demands.
        capacity : int or steps
            The capacity.
        name : str
            The name of the constraint.
        held : mapping of int to int, optional
            Amounts of running jobs by their ends in seconds.
        """
        steps = ((0, capacity),) if isinstance(capacity, int) else capacity
        most = sum([amount if times is None else amount * times.hi for _, amount, times in rows])
        held = {} if held is None else held
        if most + sum(held.values()) <= least(steps):
            return
        if len(steps) == 1:
            top, held = usable(steps[0][1], held, most)
            steps = ((steps[0][0], top),)
        rows = [*rows, *(DemandRow(self.until(end), amount) for end, amount in held.items())]
        # made directly: with tens of thousands of demands, the checks of sl.cumulative would take most of the time
        demands: list[int | Linear] = [
            amount if times is None else Linear({times: amount}) for _, amount, times in rows
        ]
        intervals = [row.interval for row in rows]
        if any(job.chunks for job in self.problem.jobs):
            intervals, demands = _together(intervals, demands)
        self.model.add(Cumulative(tuple(intervals), tuple(demands), steps), name)


def least(capacity: Capacity) -> int:
    """Return the least capacity of all steps."""
    return min(level for _, level in capacity)


def returned(here: Iterable[tuple[int, Job, int]], need: Need) -> dict[int, int]:
    """Return what running jobs (end, job, units) give back at each end, by the end in seconds; no zeros."""
    amounts: Counter[int] = Counter()
    for end, job, n in here:
        amounts[end] += n * need(job)
    return {end: amount for end, amount in amounts.items() if amount}


def usable(capacity: int, held: Mapping[int, int], most: int) -> tuple[int, dict[int, int]]:
    """Return the capacity and the amounts of running jobs where the other demands add up to ``most`` (see the module)."""
    top, free, kept = min(capacity, most), capacity - sum(held.values()), {}
    for end in sorted(held):
        if free >= top:
            break
        kept[end] = min(held[end], top - free)
        free += held[end]
    return top, kept


def _together(
    intervals: Sequence[Interval], demands: Sequence[int | Linear]
) -> tuple[list[Interval], list[int | Linear]]:
    """Return each interval once, with the sum of its demands: an interval may stand in a cumulative only once."""
    found: dict[Interval, int | Linear] = {}
    for v, demand in zip(intervals, demands, strict=True):
        found[v] = found[v] + demand if v in found else demand
    return list(found), list(found.values())


SetObjective = Callable[[JobModel], None]
"""A function that sets the objective of the model."""


def request_of(resource: str) -> Need:
    """Return the function that gives the request of one unit of a job for this resource."""
    return lambda job: job.request.get(resource, 0)


def above(resource: str, share: float) -> Need:
    """Return the function that gives 1 for a job whose units request more than ``share`` of this resource, else 0."""
    return lambda job: int(job.request.get(resource, 0) > share)


def job_model(
    problem: Dispatch, name: str, set_objective: SetObjective | None = None, before: int | None = None
) -> JobModel:
    """Return a model with the intervals and the objective that all formulations share.

    A job without any start window makes the model infeasible.

    Parameters
    ----------
    problem : Dispatch
        The problem.
    name : str
        The name of the formulation, for the name of the model.
    set_objective : callable, optional
        A function that sets the objective. None: the objective of the problem.
    before : int, optional
        A time in seconds. Jobs that may start at any time after their release (``startable_later``) become optional,
        and start before this time if they are present.

    Returns
    -------
    JobModel
        The model.
    """
    horizon = problem.horizon if before is None else problem.horizon_from(before)
    model = Model(f"{name} of {len(problem.jobs)} jobs", horizon=horizon)
    jobs = []
    arrays = problem.job_arrays
    for j, size, release in zip(problem.jobs, arrays.duration.tolist(), arrays.release.tolist(), strict=True):
        windows = problem.start_windows(j, horizon)
        optional = before is not None and startable_later(problem, j)
        if optional:
            windows = tuple((lo, min(hi, before - 1)) for lo, hi in windows if lo < before)  # type: ignore[operator]
        v = model.interval(j.id, size=size, start=windows or release, optional=optional)
        if not windows:
            model.add(v.start <= release - 1, f"job {j.id} can start nowhere in its windows")
        jobs.append(v)
    until = horizon + max((v.size_hi for v in jobs), default=0)
    made = JobModel(problem, model, tuple(jobs), {}, Levels.of(problem, until))
    if set_objective is None:
        set_cost(made, problem.costs, over=problem.over)
    else:
        set_objective(made)
    if problem.limits:
        add_limits(model, problem.limit_costs, jobs, [j.submit for j in problem.jobs])
    if problem.desired is not None:
        limit_power(made, until)
    return made


def startable_later(problem: Dispatch, job: Job) -> bool:
    """Return whether a job may start at any time after its release: it has no deadline, no windows and no calendar."""
    return job.deadline is None and not job.windows and not problem.calendar(job)


def set_cost(b: JobModel, costs: JobCosts, fixed: float | None = None, over: OverCost | None = None) -> None:
    """Set the objective of the problem.

    Parameters
    ----------
    b : JobModel
        The model.
    costs : JobCosts
        The costs of the jobs of the model.
    fixed : float, optional
        The cost of other jobs, which have fixed starts.
    over : OverCost, optional
        The cost of the use above a desired profile, of the jobs of the model beside the others.
    """
    maximized = b.problem.sense == "maximize"
    cost = total_cost(costs, b.jobs, [j.submit for j in b.problem.jobs], fixed)
    if over is not None:
        terms, weights = over.terms(b.jobs)
        cost = sl.sum([cost, *terms], weights=[1, *weights])
    if maximized:
        b.model.maximize(sl.sum([cost], weights=[-1]))
    else:
        b.model.minimize(cost)
