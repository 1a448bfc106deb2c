"""The objective of a CP dispatcher: that of its version, or any other objective of dispatching problems.

Each version has an objective that fits its priority. With another objective, two things are added, because the priority
then says little about the objective:

- The warm start of a decision is the best schedule of multi-search for that objective, if it is better than the
  schedule in order of priority.
- Many objectives do not change if some jobs start later: the makespan, the number of late jobs, a tardiness. A solution
  may then postpone a job without a reason, and a job that could run would wait for the next event, or for ever. So the
  jobs that the solution starts later are placed once more, in order of their starts, each at its earliest start beside
  the jobs before it; those that reach the current time start now. No job of the solution is delayed by a job behind it.
- A node model of 145 jobs on 64 nodes is too large for the short time of a decision: CP-SAT finds nothing better than its
  warm start within 9 s of a core. So the model can be limited to the jobs that the warm start begins first
  (``planned``); the others come behind them, in the order of the warm start.

The model of the pooled machine ignores on which nodes free resources are, so that jobs start beside each other that no node
holds together. A schedule on the nodes costs a tenth more than its solutions (Eurora at load 1.2); from a schedule on the
pooled machine, the first step of the solver gains 0.5 % in the mean.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ....heuristics import multi_search
from ....heuristics.errors import NoSchedule
from ....heuristics.kernels.profile import Ints
from ....models import Dispatch, Schedule
from ....models.dispatch.costs.limits import broken_limits
from ....models.dispatch.costs.limits import origin_of as origin_of_objective
from ....models.dispatch.desired.levels import Blocks
from ....models.dispatch.job_arrays import column
from ....models.dispatch.jobs import Window
from ....models.dispatch.running.amounts import Returns
from .allocation import Allocation, NodeTimeline, Requests, requests_of
from .waiting import Waiting

if TYPE_CHECKING:
    from .urgency import Held

Family = Literal["pcp", "hcp"]


def usual_objective(family: Family, version: int) -> str:
    """Return the objective of a version [Galleguillos2019, 2.2 and 4]."""
    if version >= 3:
        return "slowdown"
    return "weighted-tardiness" if family == "pcp" else "queue-priority-wait"


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
    left = None if deadline is None else max(0.0, deadline - time.perf_counter())
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
    found = timeline.place(requests, later[np.argsort(starts[later], kind="stable")])
    return found._replace(start=np.where(found.start == timeline.now, found.start, -1))


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
    sign = 1 if bounded.sense == "minimize" else -1
    kept = [s for s in known.values() if not any(broken_limits(bounded, s))]
    return min(kept, key=lambda s: sign * bounded.value(s), default=None)
