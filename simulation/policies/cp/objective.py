"""The objective of a CP dispatcher: that of its version, or any other objective of dispatching problems.

Each version has an objective that fits its priority. With another objective, two things are added, because the priority
then says little about the objective:

- The warm start of a decision is the best schedule of multi-search for that objective, if it is better than the
  schedule in order of priority.
- Many objectives do not change if some jobs start later: the makespan, the number of late jobs, a tardiness. A solution
  may then postpone a job without a reason, and a job that could run would wait for the next event, or for ever. So the
  jobs that the solution starts later are placed once more, in order of their starts, each at its earliest start beside
  the jobs before it; those that reach the current time start now. No job of the solution is delayed by a job behind it.
"""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from ....heuristics import multi_search
from ....heuristics.errors import NoSchedule
from ....heuristics.kernels.profile import Ints
from ....models import Dispatch, Schedule
from ....models.dispatch.costs.limits import origin_of as origin_of_objective
from .allocation import Allocation, NodeTimeline, Requests

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
    return origin_of_objective(problem, problem.aim)


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
