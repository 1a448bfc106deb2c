"""The dispatch problem of one decision: versions, objectives, priorities, urgent jobs [Galleguillos2019, 2.2, 3 and 4]."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ....heuristics import multi_search
from ....heuristics.errors import NoSchedule
from ....models import Dispatch, Job, Platform, Queue, Running, Schedule
from ....models.array_types import Floats, Ints
from ....models.dispatch.arrays import (
    JobArrays,
    NodeArrays,
    Returns,
    column,
    distinct_requests,
    numbered_rows,
    occupied,
)
from ....models.dispatch.formulations import Blocks
from ....models.dispatch.jobs import DAY, Window
from ....models.dispatch.objectives import broken_limits
from ....models.dispatch.objectives import origin_of as origin_of_objective
from ....models.node_states import node_states
from ...dispatcher import Moment, Start
from ...timeline import kept_free
from .placing import (
    OF_RESERVATIONS,
    Allocation,
    FixedJobs,
    Nodes,
    NodeTimeline,
    Requests,
    Waiting,
    by_part,
    requests_of,
    start_of,
)

# --- Priorities of waiting jobs, computed at every decision [Galleguillos2019, 2.2 and 4].


def of_version(version: int, now: int, jobs: Waiting) -> Floats:
    """Return the priority of each job: in version 3 its slowdown, before that its wait weighted by queue."""
    if version >= 3:
        return by_slowdown(now, jobs)
    return by_queue(now, jobs)


def by_queue(now: int, jobs: Waiting) -> Floats:
    """Return ``max(ewt) / ewt * (now - submit)`` for each job: the wait in seconds, weighted by queue.

    ``ewt`` is the expected waiting time of the job's queue, the maximum is over all queues.
    """
    keys: Floats = jobs.weight * (now - jobs.submit)
    return keys


def by_slowdown(now: int, jobs: Waiting) -> Floats:
    """Return ``(now - submit + duration) / duration`` for each job: its slowdown if it starts now."""
    keys: Floats = (now - jobs.submit + jobs.duration) / jobs.duration
    return keys


def ordered(priority: Floats, jobs: Waiting) -> Ints:
    """Return the indices of the jobs, highest priority first; ties by smaller demand, then by earlier arrival."""
    return np.lexsort((jobs.demand, -priority))


# --- The objective of a CP dispatcher: that of its version, or any other objective of dispatching problems.
#
# Each version has an objective that fits its priority. With another objective, two things are added, because the priority
# then says little about the objective:
#
# - The warm start of a decision is the best schedule of multi-search for that objective, if it is better than the
#   schedule in order of priority.
# - Many objectives do not change if some jobs start later: the makespan, the number of late jobs, a tardiness. A solution
#   may then postpone a job without a reason, and a job that could run would wait for the next event, or for ever. So the
#   jobs that the solution starts later are placed once more, in order of their starts, each at its earliest start beside
#   the jobs before it; those that reach the current time start now. No job of the solution is delayed by a job behind it.
# - A node model of 145 jobs on 64 nodes is too large for the short time of a decision: CP-SAT finds nothing better than its
#   warm start within 9 s of a core. So the model can be limited to the jobs that the warm start begins first
#   (``planned``); the others come behind them, in the order of the warm start.
#
# The model of the pooled machine ignores on which nodes free resources are, so that jobs start beside each other that no node
# holds together. A schedule on the nodes costs a tenth more than its solutions (Eurora at load 1.2); from a schedule on the
# pooled machine, the first step of the solver gains 0.5 % in the mean.

Family = Literal["pcp", "hcp"]


def usual_objective(family: Family, version: int) -> str:
    """Return the objective of a version [Galleguillos2019, 2.2 and 4]."""
    if version >= 3:
        return "slowdown"
    if family == "pcp":
        return "weighted-tardiness"
    return "queue-priority-wait"


def origin_of(problem: Dispatch) -> int:
    """Return the value from which improvements of the objective are measured.

    The makespan is a time on the clock of the trace, so it is measured from now; other objectives from 0.
    """
    return origin_of_objective(problem, problem.objective)


def best_start(problem: Dispatch, by_priority: Schedule | None, deadline: float | None) -> Schedule | None:
    """Return the better one of a schedule and the best schedule of multi-search; None if there is none.

    Parameters
    ----------
    problem : Dispatch
        The problem of the decision.
    by_priority : Schedule or None
        The schedule in order of priority, if there is one.
    deadline : float or None
        Time on the clock ``time.perf_counter`` at which multi-search ends; None: after its last ordering.
    """
    left = None
    if deadline is not None:
        left = max(0.0, deadline - time.perf_counter())
    try:
        return multi_search(problem, time_limit=left, warm_start=by_priority).schedule
    except NoSchedule:
        return by_priority


def is_best(problem: Dispatch, schedule: Schedule) -> bool:
    """Return whether a schedule costs no more than if each job had its earliest start: then no other one is better.

    All costs grow with the starts, see ``models.dispatch.objectives``.
    """
    jobs = problem.job_arrays
    windows = (j.windows[0][0] if j.windows else problem.now for j in problem.jobs)
    earliest = np.maximum(jobs.release, column(windows, len(jobs)))
    return cost_of(problem, schedule) <= problem.costs.value(earliest - jobs.submit, earliest + jobs.duration)


def cost_of(problem: Dispatch, schedule: Schedule) -> float:
    """Return the cost of a schedule, which is minimized, from the costs of the jobs as models have them."""
    jobs = problem.job_arrays
    starts = column((schedule.start[j.id] for j in problem.jobs), len(jobs))
    return problem.costs.value(starts - jobs.submit, starts + jobs.duration)


def planned_first(problem: Dispatch, plan: Schedule, waiting: int, most: int) -> Dispatch:
    """Return the problem without the waiting jobs that the plan does not start among the first ones.

    Parameters
    ----------
    problem : Dispatch
        The problem; its first ``waiting`` jobs are the waiting ones, the others have fixed starts.
    plan : Schedule
        A schedule of all jobs.
    waiting : int
        Number of waiting jobs.
    most : int
        Largest number of waiting jobs that are kept.
    """
    if waiting <= most:
        return problem
    starts = column((plan.start[j.id] for j in problem.jobs[:waiting]), waiting)
    kept = np.sort(np.argsort(starts, kind="stable")[:most]).tolist()
    return problem.replace(jobs=[*(problem.jobs[k] for k in kept), *problem.jobs[waiting:]])


def followed_by(schedule: Schedule, plan: Schedule) -> Schedule:
    """Return a schedule of some jobs with the others behind all of them, in the order of the plan."""
    behind = max(schedule.start.values()) + 1 - min(plan.start.values())
    others = {job: behind + start for job, start in plan.start.items() if job not in schedule.start}
    return Schedule({**others, **schedule.start}, schedule.nodes)


def moved_to_now(timeline: NodeTimeline, requests: Requests, begun: Allocation, starts: Ints) -> Allocation:
    """Return the jobs that can start now instead of later, without a delay of a job that the solution starts before.

    Parameters
    ----------
    timeline : NodeTimeline
        The free capacity beside running jobs and reservations; it is changed.
    requests : Requests
        The jobs of the model with their start windows.
    begun : Allocation
        The jobs that start now; the start of all others is -1.
    starts : ndarray of int64, shape (jobs,)
        The starts of all jobs in the solution, in seconds.

    Returns
    -------
    Allocation
        The start of a job is now if it moves to now, else -1.
    """
    timeline.hold(requests, begun)
    later = np.flatnonzero(begun.start < 0)
    placed = timeline.place(requests, later[np.argsort(starts[later], kind="stable")])
    return placed._replace(start=np.where(placed.start == timeline.now, placed.start, -1))


def pooled_start(
    capacity: Ints, now: int, returns: Returns, held: Held, jobs: Waiting, windows: Sequence[Sequence[Window]]
) -> Schedule | None:
    """Return the schedule of jobs, each at its earliest start in their order, on the pooled machine; None if one fits nowhere.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Capacity of each node.
    now : int
        The current time in seconds.
    returns : Returns
        What the running jobs return at their ends.
    held : Held
        Jobs with fixed starts.
    jobs : Waiting
        The other jobs.
    windows : sequence
        Start windows of each of ``jobs``, in seconds, both ends included.

    Returns
    -------
    Schedule or None
        Starts alone, no nodes.
    """
    begin = np.array([w[0][0] for w in held.windows], np.int64)
    fixed = Blocks(np.zeros_like(begin), np.maximum(now, begin), begin + held.jobs.duration, held.jobs.amounts)
    usage = np.zeros_like(returns.end), returns.end, returns.amount
    timeline = NodeTimeline(capacity.sum(axis=0)[None, :], now, usage, fixed)
    requests = requests_of(jobs.as_units(), windows, 1)
    starts = timeline.place(requests, np.arange(len(jobs))).start
    if (starts < 0).any():
        return None
    ids = [j.id for j in (*jobs.jobs, *held.jobs.jobs)]
    return Schedule(dict(zip(ids, [*starts.tolist(), *begin.tolist()], strict=True)))


def best_kept(bounded: Dispatch, known: Mapping[str, Schedule]) -> Schedule | None:
    """Return the best one of feasible schedules that keep all limits; None if there is none."""
    sign = -1
    if bounded.sense == "minimize":
        sign = 1
    kept = [s for s in known.values() if not any(broken_limits(bounded, s))]
    return min(kept, key=lambda s: sign * bounded.value(s), default=None)


# --- The dispatch problem of one decision, in the versions of the CP dispatchers [Galleguillos2019, 2.2, 3 and 4].
#
# Jobs: version 0 has all waiting jobs, and fixes those after the first ``m`` to the end of the horizon (HCP). The later
# versions have the first ``m`` of the jobs that can start now.
#
# Running jobs: in versions 0 and 1 ("naive"), a job that runs longer than expected uses no resources in the model and
# makes the horizon, by which all jobs end, shorter. From version 2 on it is taken to end at now + 1 s.

FOLLOWED = 2 * DAY
"""Seconds from now for which the model follows the calendars.

Starts after that are not decided now, and each window costs solving time.
"""

Usage = tuple[Ints, Ints, Ints]
"""Use of nodes by running jobs, one entry per (job, node): node index, end in seconds, amounts (entries, resources)."""


class RunningUsage(NamedTuple):
    """The use of nodes by the running jobs, with three kinds of ends.

    ``expected``: jobs end at their expected end, at the earliest at now + 1. ``modelled``: as the model has them; the
    same, but without late jobs if the model is naive. ``by_walltime``: jobs end at their walltime, or at the expected
    end if that is later.
    """

    expected: Usage
    modelled: Usage
    by_walltime: Usage


def running_usage(
    moment: Moment, naive: bool, held: Callable[[int, Usage], Ints] = lambda now, usage: np.zeros(1, np.int64)
) -> RunningUsage:
    """Return the use of nodes by the running jobs.

    Parameters
    ----------
    moment : Moment
        The current state.
    naive : bool
        Whether the model leaves out jobs past their expected end.
    held : callable
        Returns what is not in ``Moment.free`` now, beside what is in use, because of a desired profile that the model
        has itself; shape (nodes, resources), or one that numpy makes of it.
    """
    running = moment.running
    nodes = NodeArrays(moment.platform)
    job, node, used = occupied(running, nodes)
    whole = np.array([r.job.whole_nodes for r in running], np.bool_)[job]
    used[whole] = nodes.capacity[node[whole]]
    end = column((r.end for r in running), len(running))
    by_walltime = np.maximum(end, column((r.start + r.job.walltime for r in running), len(running)))
    end = end[job]
    expected = node, np.maximum(end, moment.now + 1), used
    barred = _barred(moment, nodes.capacity, node, used, held(moment.now, expected))
    expected = _joined(expected, barred)
    longest = _joined((node, np.maximum(by_walltime[job], moment.now + 1), used), barred)
    on_time = end > moment.now
    if naive:
        modelled = _joined((node[on_time], end[on_time], used[on_time]), barred)
    else:
        modelled = expected
    return RunningUsage(expected, modelled, longest)


def _barred(moment: Moment, capacity: Ints, node: Ints, used: Ints, held: Ints) -> Usage | None:
    """Return the free amounts of the nodes that take no starts as if they were in use while calendars are followed.

    Those of nodes that are not on are in use until they can be. So is what the simulator keeps free on other nodes, for
    on-demand jobs for instance: what neither runs, nor is reserved, nor is in ``Moment.free``, without what a desired profile has ``held`` back.
    """
    known = node_states()
    rows = np.array([n for n, name in enumerate(moment.states) if not known[name].starts], np.int64)
    until = np.full(rows.size, moment.now + FOLLOWED)
    if moment.ready is not None:
        away = np.setdiff1d(np.flatnonzero(moment.ready > moment.now), rows)
        rows = np.append(rows, away)
        until = np.append(until, moment.ready[away])
    free = capacity.copy()
    np.subtract.at(free, node, used)
    kept = np.maximum(0, kept_free(moment, free) - held)
    kept[rows] = 0
    kept_rows = np.flatnonzero(kept.any(axis=1))
    if not rows.size and not kept_rows.size:
        return None
    rows_until = np.append(until, np.full(kept_rows.size, moment.now + FOLLOWED))
    return np.append(rows, kept_rows), rows_until, np.concatenate([free[rows], kept[kept_rows]])


def _joined(usage: Usage, more: Usage | None) -> Usage:
    if more is None:
        return usage
    node, end, amounts = (np.concatenate(pair) for pair in zip(usage, more, strict=True))
    return node, end, amounts


def end_of_horizon(moment: Moment, jobs: Waiting) -> int:
    """Return the end of the horizon of the naive models, in seconds.

    It is now + the expected durations of all waiting jobs + the remaining expected durations of all running jobs, which
    are negative for jobs past their expected end.
    """
    return moment.now + int(jobs.duration.sum()) + sum(r.end - moment.now for r in whole_jobs(moment))


def whole_jobs(moment: Moment) -> list[Running]:
    """Return the running jobs without the further chunks of heterogeneous ones, which have no expected duration."""
    return [r for r in moment.running if r.job.id in moment.expected]


def latest_start(moment: Moment, jobs: Waiting, usage: Usage, reserved_end: int) -> int:
    """Return a time by which all of these jobs can have started, one after the other.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    usage : Usage
        The use of nodes by the running jobs.
    reserved_end : int
        End of the last job with a reservation, in seconds.

    Returns
    -------
    int
        Seconds: the latest of these ends and of the followed calendars, plus the sum of the expected durations.
    """
    return int(max([reserved_end, moment.now + FOLLOWED, *usage[1].tolist()]) + jobs.duration.sum())


def windows_of(moment: Moment, jobs: Waiting, last: int, followed: int = FOLLOWED) -> list[tuple[Window, ...]]:
    """Return the start windows of each job.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    last : int
        The latest start, in seconds.
    followed : int
        Seconds from now for which calendars are followed; after that a job may start at any time.

    Returns
    -------
    list of tuple of (int, int)
        For each job, windows from now to ``last``, both ends included; empty if the job cannot start.
    """
    queues = {q.name: q for q in moment.queues if q.daily}
    daily = {(j.queue, j.walltime * queues[j.queue].whole_run) for j in jobs.jobs if j.queue in queues}
    anytime: tuple[Window, ...] = ()
    if last >= moment.now:
        anytime = ((moment.now, last),)
    if not daily and not any(j.windows for j in jobs.jobs):
        return [anytime] * len(jobs.jobs)
    far = moment.now + followed
    days = range(moment.now // DAY - 1, min(far, last) // DAY + 1)
    hours = {
        (name, walltime): _clipped(
            [(d * DAY + lo, d * DAY + hi) for d in days for lo, hi in queues[name].hours(walltime)],
            moment.now,
            last,
            far,
        )
        for name, walltime in daily
    }
    of = [hours[j.queue, j.walltime * queues[j.queue].whole_run] if j.queue in queues else anytime for j in jobs.jobs]
    return [_of_job(j, calendar, moment.now, last, far) for j, calendar in zip(jobs.jobs, of, strict=True)]


def windows_of_model(
    moment: Moment, jobs: Waiting, usage: Usage, reserved_end: int, naive: bool, fixed: int
) -> list[tuple[Window, ...]] | None:
    """Return the start windows of each job in a model; None if a job cannot end by the end of the naive horizon.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    usage : Usage
        The use of nodes by the running jobs.
    reserved_end : int
        End of the last job with a reservation, in seconds.
    naive : bool
        Whether the model is that of versions 0 and 1: all jobs end by ``end_of_horizon``.
    fixed : int
        Number of jobs, the last ones, that a naive model fixes to the end of the horizon if a job is running.
    """
    if not naive:
        return windows_of(moment, jobs, latest_start(moment, jobs, usage, reserved_end))
    last = end_of_horizon(moment, jobs)
    latest = (last - jobs.duration).tolist()
    whole = windows_of(moment, jobs, last)
    windows = [tuple((lo, min(hi, to)) for lo, hi in w if lo <= to) for w, to in zip(whole, latest, strict=True)]
    if not all(windows):
        return None
    if fixed and moment.running:
        begins = np.maximum(moment.now, last - jobs.duration[-fixed:]).tolist()
        windows[-fixed:] = [((begin, begin),) for begin in begins]
    return windows


def without_horizon(windows: Sequence[tuple[Window, ...]], now: int) -> list[tuple[Window, ...]]:
    """Return the start windows, () for a job that may start at any time from now on: a problem has its own horizon."""
    return [() if len(w) == 1 and w[0][0] == now and w[0][1] >= now + FOLLOWED else w for w in windows]


def _of_job(job: Job, calendar: tuple[Window, ...], now: int, last: int, far: int) -> tuple[Window, ...]:
    if not job.windows:
        return calendar
    own = _clipped(job.windows, now, last, far)
    return tuple((max(a, c), min(b, d)) for a, b in calendar for c, d in own if max(a, c) <= min(b, d))


def _clipped(windows: Iterable[Window], now: int, last: int, far: int) -> tuple[Window, ...]:
    """Return the windows cut to [now, far - 1], and one window from ``far`` to ``last``."""
    kept = [(max(lo, now), min(hi, far - 1, last)) for lo, hi in sorted(windows)]
    return (*((lo, hi) for lo, hi in kept if lo <= hi), *(((far, last),) if far <= last else ()))


def problem_of(
    moment: Moment, jobs: Waiting, windows: Sequence[Sequence[Window]], usage: Usage, objective: str
) -> Dispatch:
    """Return the dispatch problem of some waiting jobs, with expected durations as walltimes.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    windows : sequence
        Start windows of each job, in seconds, both ends included.
    usage : Usage
        The use of nodes by the running jobs.
    objective : str
        The name of the objective, see ``Dispatch``.

    Returns
    -------
    Dispatch
        The problem at time ``moment.now``.
    """
    listed = list(map(as_modelled, jobs.jobs, jobs.duration.tolist(), windows))
    arrays = None
    if jobs.further is None:
        requests, kind = numbered_rows(list(map(tuple, jobs.request.tolist())), jobs.requests.shape[1])
        release = np.maximum(jobs.submit, moment.now)
        arrays = JobArrays(jobs.submit, release, jobs.duration, jobs.units, requests, kind)
    now = moment.now
    queues = _open_queues(tuple(moment.queues))
    if any(job.queue == OF_RESERVATIONS for job in jobs.jobs):
        queues = (*queues, Queue(OF_RESERVATIONS, queues[0].ewt))
    running = MergedRunning(moment.platform, now, usage)
    returns = Returns.of(*usage[1:], now)
    return Dispatch.unchecked(moment.platform, listed, queues, objective, now, running, arrays, returns)


def as_modelled(job: Job, duration: int, windows: Sequence[Window]) -> Job:
    """Return a job with its expected duration in seconds as walltime, and with these start windows alone.

    It has no licences: limits hold jobs out of the model, and are examined again at each start.
    """
    made = object.__new__(Job)  # not replace(), which takes as long as all else in a small model
    made.__dict__.update(
        job.__dict__, walltime=duration, earliest_start=None, deadline=None, windows=tuple(windows), runtime=None,
        licences={},
    )  # fmt: skip
    return made


@lru_cache(maxsize=16)
def _open_queues(queues: tuple[Queue, ...]) -> tuple[Queue, ...]:
    """Return the queues without their daily windows."""
    return tuple(Queue(q.name, q.ewt, nodes=q.nodes) for q in queues)


class MergedRunning(Sequence[Running]):
    """One running job per node and expected end; the jobs are made when they are first read.

    Parameters
    ----------
    platform : Platform
        The nodes.
    now : int
        The current time in seconds.
    usage : tuple of ndarray
        The use of nodes.
    """

    def __init__(self, platform: Platform, now: int, usage: Usage) -> None:
        self._of = platform, now, usage

    @cached_property
    def _jobs(self) -> tuple[Running, ...]:
        return tuple(_merged(*self._of))

    @overload
    def __getitem__(self, index: int) -> Running: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Running]: ...
    def __getitem__(self, index: int | slice) -> Running | Sequence[Running]:
        return self._jobs[index]

    def __len__(self) -> int:
        return len(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, MergedRunning) else other)

    def __hash__(self) -> int:
        return hash(self._jobs)


def _merged(platform: Platform, now: int, usage: Usage) -> list[Running]:
    """Return one running job per node and expected end."""
    node, ends, amounts = usage
    if not node.size:
        return []
    keys, which = numbered_rows(list(zip(ends.tolist(), node.tolist(), strict=True)), 2)
    total = np.zeros((len(keys), amounts.shape[1]), np.int64)
    np.add.at(total, which, amounts)
    names = platform.nodes
    resources = platform.resources
    merged = []
    for (end, n), row in zip(keys.tolist(), total.tolist(), strict=True):
        request = {r: q for r, q in zip(resources, row, strict=True) if q}
        job = Job(f"(until {end} on {n})", now, end - now, 1, request, "")
        merged.append(Running(job, now, {names[n]: 1}, end))
    return merged


# --- Protection against starvation (``max_stretch``): urgent jobs start first, or hold a reservation.
#
# A job is urgent for one of two reasons:
#
# - *overdue*: it has waited longer than its fair wait, and longer than one day. The longest wait goes first. One such job
#   holds a reservation. The fair wait is the time that the whole machine needs for all jobs that ran or waited before
#   this job when it was first seen, and for the job itself::
#
#       max_r (sum of duration * amount[r] of all units, over these jobs) / total[r]
#
#   where a running job has its expected remaining duration.
#
#   Without idle capacity, first come, first served would have started the job by then. The fair wait grows with the load,
#   so that not every job is urgent on a machine with work for several weeks.
# - *stretched*: its slowdown, if it starts now, is above ``max_stretch``. The highest slowdown goes first. Two such jobs
#   hold reservations.
#
# Reservations use walltimes, not predictions, both for running jobs and for jobs that may start before the reservation. A
# job that runs longer than predicted is taken to end one second later. Reservations from predictions are therefore always
# near, keep other jobs away, and are never met: on the KTH trace at load 1.2 they doubled the mean wait.

STRETCH = 50.0  # default of max_stretch: a slowdown
SLOTS = (1, 2)  # reservations for overdue jobs, for stretched jobs


class Held(NamedTuple):
    """The urgent jobs of a moment: they start now or hold a reservation.

    Parameters
    ----------
    jobs : Waiting
        The urgent jobs.
    allocations : list of Allocation
        Start and nodes of each urgent job. The start is ``now`` or later; later means a reservation.
    rest : ndarray of bool, shape (waiting jobs,)
        Mask of the waiting jobs that are not in ``jobs``.
    now : int
        The current time in seconds.
    fixed : int
        Number of the last of ``jobs`` that are reservations of the machine, not jobs.
    """

    jobs: Waiting
    allocations: list[Allocation]
    rest: NDArray[np.bool_]
    now: int
    fixed: int = 0

    @property
    def urgent(self) -> int:
        """Number of urgent jobs."""
        return len(self.allocations) - self.fixed

    def beside(self, reservations: FixedJobs) -> Held:
        """Return the urgent jobs and, after them, reservations of the machine."""
        jobs = self.jobs.joined(reservations.jobs)
        return Held(jobs, [*self.allocations, *reservations.allocations], self.rest, self.now, len(reservations.starts))

    @property
    def windows(self) -> list[tuple[Window, ...]]:
        """One start window per job, with the fixed start as both ends."""
        return [((int(p.start[0]), int(p.start[0])),) for p in self.allocations]

    def end(self) -> int:
        """Return the expected end of the last urgent job, in seconds; ``now`` if there are none."""
        return max(
            [self.now, *(int(p.start[0] + d) for p, d in zip(self.allocations, self.jobs.duration, strict=True))]
        )

    def nodes(self, names: tuple[str, ...]) -> dict[str, dict[str, int]]:
        """Return {node name: units} of each chunk by its name; ``names`` are the names of all nodes."""
        by_job: dict[str, dict[str, int]] = {}
        for k, job in enumerate(self.jobs.jobs):
            by_job |= by_part(job, self._nodes_of_job(k, names))
        return by_job

    def _nodes_of_job(self, k: int, names: tuple[str, ...]) -> tuple[Nodes, ...]:
        """Return {node name: units} of each chunk of job k."""
        return self.allocations[k].nodes(self.requests_of_job(k), 0, names)

    def starts(self, names: tuple[str, ...]) -> list[Start]:
        """Return the urgent jobs that start now; ``names`` are the names of all nodes."""
        now = [k for k in range(self.urgent) if self.allocations[k].start[0] == self.now]
        return [start_of(self.jobs.jobs[k], self._nodes_of_job(k, names)) for k in now]

    def requests_of_job(self, k: int) -> Requests:
        """Return urgent job k with its start as the only window, and its expected duration."""
        one = self.jobs.some(np.array([k]))
        return requests_of(one, [self.windows[k]], self.allocations[k].node.size)

    def reserve_on(self, timeline: NodeTimeline) -> NodeTimeline:
        """Subtract the urgent jobs from the timeline and return it."""
        for k, allocation in enumerate(self.allocations):
            timeline.hold(self.requests_of_job(k), allocation)
        return timeline


class Guard:
    """The selection of urgent jobs during one replay.

    Parameters
    ----------
    max_stretch : float
        The slowdown above which a job is urgent.
    resources : tuple of str
        The resources of the platform.
    totals : ndarray of int64, shape (resources,)
        Capacity of the platform.
    """

    def __init__(self, max_stretch: float, resources: tuple[str, ...], totals: Ints) -> None:
        self.max_stretch = max_stretch
        self.resources = resources
        self.totals = totals
        self._fair: dict[str, float] = {}

    def observe(self, moment: Moment, jobs: Waiting) -> None:
        """Compute the fair wait of each job that was not seen before."""
        new = [k for k, j in enumerate(jobs.jobs) if j.id not in self._fair]
        if not new:
            return
        ahead = np.cumsum(jobs.duration[:, None] * jobs.amounts, axis=0)
        left = np.array([sum(r.nodes.values()) * max(1, r.end - moment.now) for r in moment.running], np.int64)
        requests, kind = distinct_requests([r.job for r in moment.running], self.resources)
        fair = ((ahead[new] + left @ requests[kind]) / self.totals).max(axis=1)
        self._fair.update((jobs.jobs[k].id, f) for k, f in zip(new, fair.tolist(), strict=True))

    def overdue(self, now: int, jobs: Waiting) -> Ints:
        """Return the indices of the jobs that are overdue, longest wait first."""
        fair = np.array([self._fair[j.id] for j in jobs.jobs])
        wait = now - jobs.submit
        late = np.flatnonzero(wait > np.maximum(fair, DAY))
        return late[np.argsort(-wait[late], kind="stable")]

    def stretched(self, now: int, jobs: Waiting) -> Ints:
        """Return the indices of the jobs whose slowdown is above ``max_stretch``, highest slowdown first."""
        stretch: Floats = by_slowdown(now, jobs)
        late = np.flatnonzero(stretch > self.max_stretch)
        return late[np.argsort(-stretch[late], kind="stable")]

    def hold(self, moment: Moment, jobs: Waiting, timeline: NodeTimeline) -> Held:
        """Allocate the urgent jobs on a timeline: they start now, or hold a reservation.

        The running jobs of the timeline must end at their walltimes (``RunningUsage.by_walltime``).
        """
        now = moment.now
        rest = np.ones(len(jobs.jobs), np.bool_)
        kept: list[int] = []
        held: list[Allocation] = []
        for reason, most in zip((self.overdue(now, jobs), self.stretched(now, jobs)), SLOTS, strict=True):
            slots = most
            for j in reason[rest[reason]].tolist():
                allocation = self._place(moment, jobs.some(np.array([j])), timeline)
                if allocation.start[0] < 0:
                    continue
                rest[j] = False
                kept.append(j)
                held.append(allocation)
                slots -= int(allocation.start[0] > now)
                if slots == 0:
                    break
        return Held(jobs.some(np.array(kept, np.int64)), held, rest, now)

    def _place(self, moment: Moment, one: Waiting, timeline: NodeTimeline) -> Allocation:
        # follow calendars to the end: a reservation at a time when they are closed would leave its nodes idle
        last = max(moment.now, timeline.end()) + FOLLOWED + int(one.duration[0])
        requests = requests_of(
            by_walltime(one), windows_of(moment, one, last, followed=last - moment.now + 1), timeline.nodes
        )
        return timeline.place(requests, np.arange(1))


def by_walltime(jobs: Waiting) -> Waiting:
    """Return the jobs with max(walltime, expected duration) as duration."""
    return jobs.changed(duration=np.maximum(jobs.duration, jobs.walltime))
