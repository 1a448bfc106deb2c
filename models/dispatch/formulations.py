"""The formulations of a dispatching problem: ``units``, ``counts``, ``classes``, ``pool``, and the intervals that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from .. import language as sl
from ..array_types import Ints
from ..comparing import hashable
from ..desired_profile import whole_amount
from ..language import Assignment, Cumulative, Integer, Interval, Linear, Model
from ..problem import Encoding, Schedule
from ..words import how_many
from .arrays import NodeArrays, column, least_amounts, occupied, request_rows
from .desired import MILLI, ROUNDING, OverCost
from .jobs import Job
from .objectives import JobCosts, add_limits, total_cost

if TYPE_CHECKING:
    from ..desired_profile import DesiredProfile
    from .jobs import Running
    from .problem import Dispatch


# --- What a hard desired profile leaves to the jobs of a problem on each node, as step functions of time.

Capacity = tuple[tuple[int, int], ...]
"""Steps (time in seconds, capacity) as a ``Cumulative`` takes them."""


class Blocks(NamedTuple):
    """What a hard profile takes from the free amounts of the nodes beside the running jobs, one entry per node and step.

    Parameters
    ----------
    node : array of int, shape (entries,)
        The index of the node.
    begin, end : array of int, shape (entries,)
        Seconds.
    amount : array of int, shape (entries, resources)
        The amounts that no job may use.
    """

    node: Ints
    begin: Ints
    end: Ints
    amount: Ints


@dataclass(frozen=True, eq=False)
class Levels:
    """The greatest use of each node over time: the desired amount, or what running jobs use if that is more.

    Parameters
    ----------
    nodes : NodeArrays
        The nodes.
    times : array of int, shape (steps,)
        Increasing times in seconds; each step holds up to the next one, the last one for ever.
    group : array of int, shape (steps, groups, resources)
        The level of a node without running jobs.
    own : dict of int to array of int, shape (steps, resources)
        The level of each node with running jobs.
    until : int
        The time in seconds up to which the profile is followed.
    """

    nodes: NodeArrays
    times: Ints
    group: Ints
    own: dict[int, Ints]
    until: int

    @classmethod
    def of(cls, problem: Dispatch, until: int) -> Levels | None:
        """Return the levels of a problem from now on; None without a hard profile."""
        if problem.desired is None or problem.over_cost is not None or not problem.desired.steps:
            return None
        nodes = NodeArrays(problem.platform)
        return cls.made(problem.desired, nodes, problem.running, problem.now, until)

    @classmethod
    def made(
        cls, profile: DesiredProfile, nodes: NodeArrays, running: Sequence[Running], now: int, until: int
    ) -> Levels:
        """Return the levels beside running jobs, which end at their expected ends."""
        entries = occupied(running, nodes)
        ends = column((r.end for r in running), len(running))[entries.job]
        return cls.beside(profile, nodes, (entries.node, ends, entries.amount), now, until)

    @classmethod
    def beside(
        cls, profile: DesiredProfile, nodes: NodeArrays, usage: tuple[Ints, Ints, Ints], now: int, until: int
    ) -> Levels:
        """Return the levels beside what is in use; ``usage``: node, end in seconds and amounts of each entry."""
        node, end, amount = usage
        platform = profile.platform
        pieces = {
            (g, r): list(profile.of(group.name, resource).pieces(now, max(until, now + 1)))
            for g, group in enumerate(platform.groups)
            for r, resource in enumerate(platform.resources)
        }
        changes = {
            now,
            *(a for rows in pieces.values() for a, _, _ in rows),
            *end[(end > now) & (end < until)].tolist(),
        }
        times = np.array(sorted(changes), np.int64)
        group = np.empty((times.size, len(platform.groups), len(platform.resources)), np.int64)
        for (g, r), rows in pieces.items():
            most = platform.groups[g].capacity.get(platform.resources[r], 0)
            values = np.array([whole_amount(v, most) for _, _, v in rows], np.int64)
            begins = np.array([a for a, _, _ in rows], np.int64)
            group[:, g, r] = values[np.searchsorted(begins, times, side="right") - 1]
        of_node = profile.arrays.group
        own: dict[int, Ints] = {}
        for n in np.unique(node[end > now]).tolist():
            here = node == n
            used = (amount[here][None] * (end[here][None, :, None] > times[:, None, None])).sum(axis=1)
            own[n] = np.maximum(group[:, of_node[n]], used)
        return cls(nodes, times, group, own, until)

    def capacity(self, places: Sequence[str], resource: int) -> Capacity:
        """Return the level of some nodes together, as the steps of a cumulative."""
        rows = np.array([self.nodes.index[name] for name in places], np.int64)
        groups = np.repeat(np.arange(self.group.shape[1]), [g.count for g in self.nodes.platform.groups])
        count = np.bincount(groups[rows], minlength=self.group.shape[1])
        total = self.group[:, :, resource] @ count
        for n in rows.tolist() if self.own else ():
            if n in self.own:
                total = total + self.own[n][:, resource] - self.group[:, groups[n], resource]
        at = np.flatnonzero(np.diff(total, prepend=-1))
        return tuple(zip(self.times[at].tolist(), total[at].tolist(), strict=True))

    @property
    def blocks(self) -> Blocks:
        """What is taken from the free amounts of the nodes, up to ``until``."""
        platform, capacity = self.nodes.platform, self.nodes.capacity
        parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        first = 0
        for g, group in enumerate(platform.groups):
            rows = np.arange(first, first + group.count)
            if self.own:
                plain = rows[[n not in self.own for n in rows.tolist()]]
            else:
                plain = rows
            parts.append(self._taken(plain, capacity[first] - self.group[:, g]))
            parts += [self._taken(np.array([n]), capacity[n] - self.own[n]) for n in rows.tolist() if n in self.own]
            first += group.count
        return Blocks(*(np.ascontiguousarray(np.concatenate(x)) for x in zip(*parts, strict=True)))

    def _taken(self, nodes: Ints, amount: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the entries of nodes from which ``amount``, shape (steps, resources), is taken."""
        at = np.flatnonzero((np.diff(amount, axis=0, prepend=-1) != 0).any(axis=1))
        begin = self.times[at]
        end = np.append(self.times[at[1:]], self.until)
        amount = np.maximum(0, amount[at])
        some = (amount > 0).any(axis=1) & (begin < end)
        begin = begin[some]
        end = end[some]
        amount = amount[some]
        n = nodes.size
        return np.repeat(nodes, begin.size), np.tile(begin, n), np.tile(end, n), np.tile(amount, (n, 1))


# --- A hard desired power of the machine as a cumulative.


def limit_power(b: JobModel, until: int) -> None:
    """Limit the power of the machine up to a time in seconds, in thousandths of a watt, if a hard profile wishes for it.

    Where the running jobs alone take more, the limit is their power.
    """
    p = b.problem
    if p.desired is None or p.over_cost is not None or p.desired.power is None:
        return
    running = [(r.end, _milli(r.job.power)) for r in p.running if r.end > p.now]
    pieces = list(p.desired.power.pieces(p.now, max(until, p.now + 1)))
    own = [_milli(j.power) for j in p.jobs]
    all_of_them = sum(own) + sum(w for _, w in running)
    steps: list[tuple[int, int]] = []
    begins = [a for a, _, _ in pieces]
    for t in sorted({*begins, *(end for end, _ in running if end < until)}):
        wish = pieces[int(np.searchsorted(begins, t, side="right")) - 1][2]
        if isfinite(wish):
            level = int(wish * MILLI + ROUNDING)
        else:
            level = all_of_them
        level = max(min(level, all_of_them), sum(w for end, w in running if end > t))
        if not steps or steps[-1][1] != level:
            steps.append((t, level))
    demands = [*own, *(w for _, w in running)]
    intervals = [*b.jobs, *(b.until(end) for end, _ in running)]
    some = [(v, d) for v, d in zip(intervals, demands, strict=True) if d]
    if some and min(level for _, level in steps) < all_of_them:
        made = Cumulative(tuple(v for v, _ in some), tuple(d for _, d in some), tuple(steps))
        b.model.add(made, "power of the machine")


def _milli(power: float | None) -> int:
    return round(MILLI * (power or 0.0))


# --- The part that all formulations of a dispatching problem share: intervals of jobs and of running jobs, the objective.
#
# Data: ``now``; for each job j its duration ``d[j]``, submit time ``q[j]``, start windows ``W[j]`` up to the horizon, and
# expected waiting time ``ewt[j]``; for each end e > now of a running job, that end.
#
# Variables: an interval ``v[j]`` of size ``d[j]`` per job with ``v[j].start in W[j]``; ``w[j] = v[j].start - q[j]``
# stands for its waiting time. A fixed interval ``r[e] = [now, e)`` per end e: running jobs with the same end share it.
#
# A cumulative has no more capacity than the sum M of the greatest demands of its jobs. Of the running jobs it has only what
# counts then: with the free amount ``free(t) = capacity - sum over e > t of the amounts that running jobs return at e``, it
# has the capacity ``C = min(capacity, M)``, and interval r[e] the demand ``min(free(e), M) - min(free(e - 1), M)``. The jobs
# can use ``min(free(t), M)`` at each time t, which excludes the same starts as ``free(t)``: they never need more than M.
#
# The objective is made from the costs of the jobs (``dispatch.limits``); if it is maximized, it is minus this cost. The
# limits on objectives are constraints (``dispatch.limits``).

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
        if self.times is None:
            return self.amount
        return self.amount * self.times.hi


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
        interval = self.running_ends.get(end)
        if interval is None:
            now = self.problem.now
            interval = self.running_ends[end] = self.model.interval(f"running until {end}", size=end - now, start=now)
        return interval

    def running(self, places: Mapping[str, str]) -> dict[str, list[tuple[int, Job, int]]]:
        """Return the running jobs of each place as (end, job, units there); ``places`` maps nodes to places.

        A whole-node job is one unit on each of its nodes that requests all that the node has.
        """
        by_place: dict[str, list[tuple[int, Job, int]]] = {place: [] for place in places.values()}
        for r in self.problem.running:
            if r.end > self.problem.now:
                for node, n in r.nodes.items():
                    by_place[places[node]].append((r.end, r.job, n) if not r.job.whole_nodes else self._whole(r, node))
        return by_place

    def _whole(self, r: Running, node: str) -> tuple[int, Job, int]:
        """Return a running whole-node job on a node as one unit that requests all that the node has."""
        platform = self.problem.platform
        everything = dict(zip(platform.resources, platform.capacity[node], strict=True))
        return r.end, replace(r.job, request=everything), 1

    def returned_on_nodes(self) -> dict[str, list[dict[int, int]]]:
        """Return for each node, and there for each resource, what running jobs return at each end: {end: amount}, no zeros."""
        platform = self.problem.platform
        ending = [r for r in self.problem.running if r.end > self.problem.now]
        totals: dict[str, dict[int, list[int]]] = {node: {} for node in platform.capacity}
        for r, request in zip(ending, request_rows([r.job for r in ending], platform.resources), strict=True):
            for node, n in r.nodes.items():
                known = totals[node].get(r.end, (0,) * len(request))
                took = platform.capacity[node] if r.job.whole_nodes else [n * q for q in request]
                totals[node][r.end] = [k + q for k, q in zip(known, took, strict=True)]
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
        if not isinstance(capacity, int):
            steps = capacity
        else:
            steps = ((0, capacity),)
        most = sum([amount if times is None else amount * times.hi for _, amount, times in rows])
        if held is None:
            held = {}
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
    top = min(capacity, most)
    free = capacity - sum(held.values())
    kept = {}
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
    demand_of: dict[Interval, int | Linear] = {}
    for v, demand in zip(intervals, demands, strict=True):
        if v in demand_of:
            demand_of[v] = demand_of[v] + demand
        else:
            demand_of[v] = demand
    return list(demand_of), list(demand_of.values())


SetObjective = Callable[[JobModel], None]
"""A function that sets the objective of the model."""


def request_of(resource: str) -> Need:
    """Return the function that gives the request of one unit of a job for this resource."""
    return lambda job: job.request.get(resource, 0)


def above(resource: str, share: float) -> Need:
    """Return the function that gives 1 for a job whose units request more than ``share`` of this resource, else 0."""
    return lambda job: int(job.request.get(resource, 0) > share)


def job_model(
    problem: Dispatch,
    name: str,
    set_objective: SetObjective | None = None,
    before: int | None = None,
    horizon: int | None = None,
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
    horizon : int, optional
        The latest start in seconds. None: one that suffices for the problem, not for constraints that are added later.

    Returns
    -------
    JobModel
        The model.
    """
    if horizon is not None:
        last = horizon
    elif before is None:
        last = problem.horizon
    else:
        last = problem.horizon_from(before)
    model = Model(f"{name} of {how_many(len(problem.jobs), 'job')}", horizon=last)
    last = model.horizon
    jobs = []
    arrays = problem.job_arrays
    for j, size, release in zip(problem.jobs, arrays.duration.tolist(), arrays.release.tolist(), strict=True):
        windows = problem.start_windows(j, last)
        optional = before is not None and startable_later(problem, j)
        if optional:
            windows = tuple((lo, min(hi, before - 1)) for lo, hi in windows if lo < before)  # type: ignore[operator]
        v = model.interval(j.id, size=size, start=windows or release, optional=optional)
        if not windows:
            model.add(v.start <= release - 1, f"job {j.id} can start nowhere in its windows")
        jobs.append(v)
    until = last + max((v.size_hi for v in jobs), default=0)
    made = JobModel(problem, model, tuple(jobs), {}, Levels.of(problem, until))
    if set_objective is None:
        over = problem.over
        if horizon is not None and problem.desired is not None:
            over = OverCost.of(problem, problem.desired, until)
        set_cost(made, problem.costs, over=over)
    else:
        set_objective(made)
    if problem.limits:
        add_limits(model, problem.limit_costs, jobs, [j.submit for j in problem.jobs])
    if problem.desired is not None:
        limit_power(made, until)
    if problem.platform.licences:
        limit_licences(made)
    return made


def limit_licences(b: JobModel) -> None:
    """Add a cumulative for each kind of licences: what the jobs that run hold, at most what the platform has."""
    p = b.problem
    for name, total in p.platform.licences.items():
        rows = [DemandRow(v, n) for j, v in zip(p.jobs, b.jobs, strict=True) if (n := j.licences.get(name, 0))]
        held: Counter[int] = Counter()
        for r in p.running:
            if r.end > p.now and r.job.licences.get(name, 0):
                held[r.end] += r.job.licences[name]
        if rows:
            b.add_cumulative(rows, total, f"licences of {name}", held)


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


# --- Four formulations of a dispatching problem: ``units``, ``counts``, ``classes`` and ``pool``.
#
# All use the intervals ``v[j]`` of ``job_intervals``, one per job j. Data: nodes n with capacity ``C[n,r]`` of each
# resource r; job j has ``U[j]`` units, each with a request ``q[j,r]``; at most ``m[j,n]`` <= ``U[j]`` of them fit an
# empty node n. Running jobs are further demands of the cumulatives, with the intervals ``r[e]``. For a heterogeneous job,
# j stands for each of its chunks below; all of them have the same ``v[j]``.
#
# ``units`` (exact; [Bridi2018, 4.3 and 6.2])::
#
#     o[j,n,k]       optional interval for k = 1..m[j,n], with the size and the windows of v[j]
#     alternative(v[j], {o[j,n,k] for all n, k}, count = U[j])              for each job j
#     cumulative(o[j,n,k], demand q[j,r]) <= C[n,r]                         for each node n, resource r
#
# ``counts`` (exact)::
#
#     u[j,n]         integer in 0..m[j,n]
#     sum_n u[j,n] = U[j]                                                   for each job j
#     cumulative(v[j], demand q[j,r] * u[j,n]) <= C[n,r]                    for each node n, resource r
#
# ``classes`` (a relaxation): nodes of equal capacity form a class c of ``N[c]`` nodes, each with capacity ``C[c,r]``::
#
#     u[j,c]         integer in 0..min(U[j], N[c] * m[j,c])
#     sum_c u[j,c] = U[j]                                                   for each job j
#     cumulative(v[j], demand q[j,r] * u[j,c]) <= N[c] * C[c,r]             for each class c, resource r
#     cumulative(v[j], demand u[j,c], for j with q[j,r] > C[c,r] / k)
#         <= N[c] * (k - 1)                                                 for each c, r and k in 2, 3, 4
#
# ``pool`` (a coarser relaxation; HCP in [Galleguillos2019, 2.2])::
#
#     cumulative(v[j], demand U[j] * q[j,r]) <= sum_n C[n,r]                for each resource r
#
# Where jobs may run (``eligible``): ``m[j,n]`` is 0 on nodes that job j may not use, and at most its ``per_node``. The nodes
# of a class are in the same sets of nodes that jobs may use. ``pool`` has a cumulative for each such set S as well, of the jobs
# whose nodes are all in S. Each kind of licences is a cumulative.
#
# A whole-node job j takes ``C[n,r]`` of each of its nodes in place of ``q[j,r]`` for each unit there::
#
#     units      o[j,n,1] is present if any o[j,n,k] is, and has the demand C[n,r]; the others have the demand 0
#     counts     w[j,n] in {0, 1}, u[j,n] <= m[j,n] w[j,n], demand C[n,r] * w[j,n]
#     classes    w[j,c] in 0..N[c], u[j,c] <= m[j,c] w[j,c], demand C[c,r] * w[j,c], and (k - 1) * w[j,c]
#     pool       demand max(U[j] * q[j,r], the least sum of C[n,r] of nodes with sum m[j,n] >= U[j])
#
# If all m[j,n] > 0 are equal, w adds up to ceil(U[j] / m[j,n]) at least, and some optimal schedule has this many; of nodes of
# several classes the model decides how many. Units that request nothing do not meet it in a cumulative of amounts: where
# there are some on a node, one more counts its places, of which a unit takes 1 and the whole-node job all.
#
# If v[j] is optional, ``U[j]`` is multiplied by its presence.
#
# With a hard desired profile, ``C[n,r]`` is a step function of time, and the sums over nodes are those of the steps; a soft one
# is a part of the objective (``desired``).

Vector = tuple[int, ...]
Request = tuple[int, ...]
"""What one unit of a job needs of each resource."""
Needed = TypeVar("Needed")


def _requests(b: JobModel) -> list[Request]:
    """Return the request of each part of each job."""
    return request_rows([j for j, _ in b.parts], b.problem.platform.resources)


def _most(b: JobModel) -> list[list[int]]:
    """Return for each part of each job the number of its units that an empty node of each class may hold."""
    p = b.problem
    resources = p.platform.resources
    sets = p.node_sets.number.tolist()
    return [p.node_classes.units(part, s, resources) for j, s in zip(p.jobs, sets, strict=True) for part in j.parts]


Taken = tuple[Request, Interval, Integer | None, bool]
"""A demand on a node: the request, the interval, its multiplier, and whether it is that of a whole node."""


def _add_node(b: JobModel, node: str, here: Sequence[Taken], back: Sequence[Mapping[int, int]]) -> None:
    """Add the cumulatives of one node; ``back``: for each resource what running jobs return there at each end."""
    platform = b.problem.platform
    vector = platform.capacity[node]
    for r, (resource, limit) in enumerate(zip(platform.resources, vector, strict=True)):
        rows = [DemandRow(v, request[r], x) for request, v, x, _ in here if request[r]]
        b.add_cumulative(rows, b.capacity((node,), resource, limit), f"{resource} of {node}", back[r])


def _add_places(b: JobModel, node: str, here: Sequence[Taken]) -> None:
    """Add the cumulative of the places of a node, if some job meets a whole-node job in no resource."""
    p = b.problem
    on_node = [(r, r.nodes[node]) for r in p.running if r.end > p.now and r.nodes.get(node, 0) > 0]
    if not any(taken[3] for taken in here) and not any(r.job.whole_nodes for r, _ in on_node):
        return
    empty = [not any(request) for request, *_ in here] + [not any(r.job.request.values()) for r, _ in on_node]
    if not any(empty):
        return
    held = {r.end: 0 for r, _ in on_node}
    most = sum(1 if x is None else x.hi for _, _, x, is_whole in here if not is_whole)
    units = max(1, most + sum(n for r, n in on_node if not r.job.whole_nodes))
    for r, n in on_node:
        if r.job.whole_nodes:
            held[r.end] += units
        else:
            held[r.end] += n
    rows = [DemandRow(v, units if is_whole else 1, x) for _, v, x, is_whole in here]
    b.add_cumulative(rows, units, f"places of {node}", held)


def units(
    problem: Dispatch,
    set_objective: SetObjective | None = None,
    before: int | None = None,
    horizon: int | None = None,
) -> Encoding:
    """Make the formulation with an optional interval per job, node and unit."""
    b = job_model(problem, "units", set_objective, before, horizon)
    capacity = problem.platform.capacity
    class_of = problem.node_classes.of_node
    rows: dict[str, list[Taken]] = {n: [] for n in capacity}
    options: list[list[tuple[str, Interval]]] = []
    parts = b.parts
    for (j, v), request, most in zip(parts, _requests(b), _most(b), strict=True):
        made: list[tuple[str, Interval]] = []
        for node in capacity:
            taken = rows[node]
            for k in range(most[class_of[node]]):
                o = b.model.interval(f"{j.id}.{k + 1} on {node}", v.size_lo, v.windows, optional=True)
                made.append((node, o))
                if not j.whole_nodes:
                    taken.append((request, o, None, False))
                elif k == 0:
                    first = o
                    taken.append((capacity[node], first, None, True))
                else:
                    b.model.add(first.presence >= o.presence, f"{o.name} is not alone")
        b.model.add(sl.alternative(v, [o for _, o in made], count=j.units), f"units of {j.id}")
        options.append(made)
    back = b.returned_on_nodes()
    for node in capacity:
        _add_node(b, node, rows[node], back[node])
        _add_places(b, node, rows[node])

    def read(a: Assignment) -> Schedule:
        nodes: dict[str, dict[str, int]] = {}
        for (j, _), made in zip(parts, options, strict=True):
            on_nodes = nodes.setdefault(j.id, {})
            for node, o in made:
                if a.present[o.index]:
                    on_nodes[node] = on_nodes.get(node, 0) + 1
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for (j, v), made in zip(parts, options, strict=True):
            left = {}
            if a.present[v.index]:
                left = dict(schedule.nodes.get(j.id, {}))
            for node, o in made:
                if left.get(node, 0) > 0:
                    left[node] -= 1
                    a.set(o, a.start[v.index], a.end[v.index])
        return a

    return Encoding(b.model, read, write)


Places = dict[str, Integer]
Place = TypeVar("Place")


def count_units(model: Model, job: Job, v: Interval, places: Iterable[tuple[Place, str, int]]) -> dict[Place, Integer]:
    """Declare the number of units of a job on each place; the numbers add up to the units of the job.

    Parameters
    ----------
    model : Model
    job : Job
    v : Interval
        The interval of the job. If it is absent, there are no units.
    places : iterable of tuple
        The key of each place, its name, and the greatest number of units that fit; places with 0 are left out.
    """
    numbers = {key: model.integer(f"{job.id} on {name}", 0, most) for key, name, most in places if most > 0}
    total = sl.sum(numbers.values())
    model.add(total - job.units * v.presence == 0 if v.optional else total == job.units, f"units of {job.id}")
    return numbers


class Numbers(NamedTuple):
    """The variables of a part of a job.

    Parameters
    ----------
    units : dict
        The number of its units on each place; a place is a node or a class.
    whole : dict
        Of a whole-node job, the number of nodes of each place that it takes; else empty.
    """

    units: Places
    whole: Places


def _count_variables(b: JobModel, places: Mapping[str, tuple[int, int]]) -> list[Numbers]:
    """Declare for each part of a job the number of its units on each place, which add up to its units.

    ``places``: name -> (class of its nodes, number of nodes). A place is a node or a class.
    """
    numbers = []
    for (j, v), most in zip(b.parts, _most(b), strict=True):
        greatest = ((place, place, min(j.units, n * most[c])) for place, (c, n) in places.items())
        made = count_units(b.model, j, v, greatest)
        room = {place: most[places[place][0]] for place in made}
        numbers.append(Numbers(made, whole_nodes(b.model, j, v, made, room) if j.whole_nodes else {}))
    return numbers


def whole_nodes(
    model: Model, job: Job, v: Interval, units: Mapping[Place, Integer], room: Mapping[Place, int]
) -> dict[Place, Integer]:
    """Declare how many nodes of each place a whole-node job takes.

    Parameters
    ----------
    model : Model
    job : Job
    v : Interval
        The interval of the job.
    units : mapping
        The number of its units on each place.
    room : mapping
        The most units on a node of each place.
    """
    taken: dict[Place, Integer] = {}
    for place, x in units.items():
        most = room[place]
        if most == 1:  # a node for each unit
            taken[place] = x
            continue
        taken[place] = w = model.integer(f"nodes of {job.id} on {place}", 0, -(-x.hi // most))
        model.add(x <= most * w, f"units of {job.id} on its nodes on {place}")
    fewest = -(-job.units // max(room.values(), default=1))
    total = sl.sum(taken.values())
    model.add(total - fewest * v.presence >= 0 if v.optional else total >= fewest, f"nodes of {job.id}")
    return taken


def _counted(
    b: JobModel, counts: list[Places], needed: Sequence[Needed]
) -> dict[str, list[tuple[Needed, Interval, Integer]]]:
    """Return for each place what the parts that may run there need, with their intervals and numbers of units there."""
    counted: dict[str, list[tuple[Needed, Interval, Integer]]] = {}
    for needs, (_, v), made in zip(needed, b.parts, counts, strict=True):
        for place, x in made.items():
            counted.setdefault(place, []).append((needs, v, x))
    return counted


def _rows(here: Iterable[tuple[Job, Interval, Integer]], need: Need) -> list[DemandRow]:
    return [DemandRow(v, amount, x) for j, v, x in here if (amount := need(j))]


def counts(
    problem: Dispatch,
    set_objective: SetObjective | None = None,
    before: int | None = None,
    horizon: int | None = None,
) -> Encoding:
    """Make the formulation with an integer number of units per job and node."""
    b = job_model(problem, "counts", set_objective, before, horizon)
    capacity = problem.platform.capacity
    class_of = problem.node_classes.of_node
    numbers = _count_variables(b, {n: (class_of[n], 1) for n in capacity})
    back = b.returned_on_nodes()
    here: dict[str, list[Taken]] = {}
    for (_, v), request, (units_on, whole) in zip(b.parts, _requests(b), numbers, strict=True):
        for node, x in (whole or units_on).items():
            if whole:
                taken = (capacity[node], v, x, True)
            else:
                taken = (request, v, x, False)
            here.setdefault(node, []).append(taken)
    for node, rows in here.items():
        _add_node(b, node, rows, back[node])
        _add_places(b, node, rows)

    def read(a: Assignment) -> Schedule:
        nodes = {
            j.id: {n: a.integer[x.index] for n, x in made.units.items() if a.integer[x.index]}
            for (j, v), made in zip(b.parts, numbers, strict=True)
            if a.present[v.index]
        }
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for (j, v), made in zip(b.parts, numbers, strict=True):
            for node, n in schedule.nodes.get(j.id, {}).items():
                if node in made.units and a.present[v.index]:
                    if node in made.whole:
                        a.integer[made.whole[node].index] = min(1, n)
                    a.integer[made.units[node].index] = n
        return a

    return Encoding(b.model, read, write)


def classes(
    problem: Dispatch,
    set_objective: SetObjective | None = None,
    before: int | None = None,
    horizon: int | None = None,
) -> Encoding:
    """Make the relaxation with an integer number of units per job and class of equal nodes.

    Its bound is valid: the units of a class never exceed the sum of the capacities of its nodes, and of units that need
    more than 1/k of a node's amount of one resource, at most k - 1 run on a node at the same time.
    """
    b = job_model(problem, "classes", set_objective, before, horizon)
    platform = problem.platform
    known = problem.node_classes
    members = {f"class {c + 1}": (c, nodes) for c, nodes in enumerate(known.members)}
    numbers = _count_variables(b, {name: (c, len(nodes)) for name, (c, nodes) in members.items()})
    running = b.running({node: name for name, (_, nodes) in members.items() for node in nodes})
    by_units = _counted(b, [{} if made.whole else made.units for made in numbers], [j for j, _ in b.parts])
    by_nodes = _counted(b, [made.whole for made in numbers], [j for j, _ in b.parts])
    for name, (c, nodes) in members.items():
        here, whole = by_units.get(name, []), by_nodes.get(name, [])
        if not here and not whole:
            continue

        def add(need: Need, of_whole: int, limit: int | Capacity, what: str) -> None:
            rows = _rows(here, need) + [DemandRow(v, of_whole, x) for _, v, x in whole if of_whole]  # noqa: B023
            b.add_cumulative(rows, limit, what, returned(running[name], need))  # noqa: B023

        for resource, limit in zip(platform.resources, known.capacity[c], strict=True):
            most = b.capacity(nodes, resource, len(nodes) * limit)
            add(request_of(resource), limit, most, f"{resource} of {name}")
        for resource, limit in zip(platform.resources, known.capacity[c], strict=True):
            for k in SHARES:
                large = above(resource, limit / k)
                add(large, k - 1, len(nodes) * (k - 1), f"units above 1/{k} of a node's {resource} in {name}")

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for (j, v), made in zip(b.parts, numbers, strict=True):
            for name, (_, nodes) in members.items():
                if name in made.units and a.present[v.index]:
                    on_nodes = schedule.nodes.get(j.id, {})
                    if name in made.whole:
                        a.integer[made.whole[name].index] = sum(on_nodes.get(node, 0) > 0 for node in nodes)
                    a.integer[made.units[name].index] = sum(on_nodes.get(node, 0) for node in nodes)
        return a

    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), write, relaxation=True)


def pool(
    problem: Dispatch,
    set_objective: SetObjective | None = None,
    before: int | None = None,
    horizon: int | None = None,
) -> Encoding:
    """Make the relaxation with one cumulative per resource over the whole platform, and over each set of nodes of jobs."""
    b = job_model(problem, "pool", set_objective, before, horizon)
    platform = problem.platform
    ends = problem.returns.end.tolist()
    amounts_of = problem.job_arrays.amounts
    if any(j.whole_nodes for j in problem.jobs):
        amounts_of = _least_amounts(problem)
    use = zip(amounts_of.T.tolist(), problem.returns.amount.T.tolist(), strict=True)
    for resource, (amounts, returns) in zip(platform.resources, use, strict=True):
        capacity = b.capacity(platform.nodes, resource, platform.total(resource))
        if sum(amounts) + sum(returns) <= least(capacity):
            continue
        rows = [DemandRow(v, amount) for v, amount in zip(b.jobs, amounts, strict=True) if amount]
        held = {end: amount for end, amount in zip(ends, returns, strict=True) if amount}
        b.add_cumulative(rows, capacity, resource, held)
    if problem.node_sets.restricting:
        _add_sets(b, amounts_of)
    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), b.write_starts, relaxation=True)


def _least_amounts(problem: Dispatch) -> Ints:
    """Return at least what each job takes of each resource of the machine, shape (jobs, resources)."""
    amounts: Ints = problem.job_arrays.amounts.copy()
    resources = problem.platform.resources
    for k, (job, node_set) in enumerate(zip(problem.jobs, problem.node_sets.number.tolist(), strict=True)):
        if job.whole_nodes:
            amounts[k] = least_amounts(problem.node_classes, job, node_set, resources)
    return amounts


def _add_sets(b: JobModel, amounts: Ints) -> None:
    """Add the cumulatives of the pool for each set of nodes, of the jobs whose nodes are all in the set."""
    p = b.problem
    known = p.node_sets
    platform = p.platform
    held_on = b.running({name: name for name in platform.nodes})
    for number, here in enumerate(known.sets):
        if here.all():
            continue
        inside = (~known.sets | here).all(axis=1)[known.number].tolist()
        nodes = [name for name, may in zip(platform.nodes, here.tolist(), strict=True) if may]
        running = [row for name in nodes for row in held_on[name]]
        for k, resource in enumerate(platform.resources):
            total = sum(platform.capacity[name][k] for name in nodes)
            own = zip(b.jobs, amounts[:, k].tolist(), inside, strict=True)
            rows = [DemandRow(v, amount) for v, amount, confined in own if confined and amount]
            held = returned(running, request_of(resource))
            b.add_cumulative(rows, b.capacity(nodes, resource, total), f"{resource} of node set {number}", held)


FORMULATIONS: dict[str, Callable[..., Encoding]] = {
    "counts": counts,
    "units": units,
    "classes": classes,
    "pool": pool,
}
