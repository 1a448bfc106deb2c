"""Composite objectives: one objective is optimized, others are kept near their own optimum [Bridi2018, 3.3].

For each kept objective f, theta_f is its value in a schedule that was optimized for f alone, and delta_f >= 1 its slack.
With the origin o_f (``now`` for the makespan, which is a time on a clock, and 0 for the others), the limit is::

    f <= o_f + delta_f * (theta_f - o_f)            (minimized;  [Bridi2018, 3.12 to 3.14])

rounded down for objectives that are whole numbers. In general it is theta_f + (delta_f - 1) * |theta_f - o_f|, with a minus
for objectives that are maximized. The source gives no values of delta; the default here is 1.1. It bounds the makespan
itself, which after a million seconds forbids nothing; here it is bounded relative to ``now``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ..arguments import is_number, shown
from ..platform import ProblemError
from .objectives import LastEnd, Late, find_objective, origin_of, scale_of

if TYPE_CHECKING:
    from ..problem import Schedule
    from .problem import Dispatch


SLACK = 1.1
ROUNDING = 1e-9


def checked_slack(main: str, keep: object, limited: Collection[str] = ()) -> dict[str, float]:
    """Return the slack of each kept objective.

    Parameters
    ----------
    main : str
        The objective that is optimized.
    keep : mapping of str to float
        The slack of each kept objective.
    limited : collection of str
        The objectives that the problem limits already.

    Raises
    ------
    ProblemError
        If there is none, if an objective is unknown, the main one or limited already, or if a slack is no number of at least 1.
    """
    find_objective(main)
    if not isinstance(keep, Mapping) or not keep:
        raise ProblemError(
            f"keep is {shown(keep)}; expected at least one {{objective: slack}}, such as {{'late-jobs': 1.1}}"
        )
    for name, slack in keep.items():
        find_objective(name)
        if name == main:
            raise ProblemError(f"{name} is the main objective; it cannot be kept as well")
        if name in limited:
            raise ProblemError(f"the problem limits {name} already; it cannot be kept as well")
        if not is_number(slack) or slack < 1:
            raise ProblemError(
                f"the slack of {name} is {shown(slack)}; expected a number of at least 1: 1.1 allows 10 % above the optimum"
            )
    return {name: float(slack) for name, slack in keep.items()}


def limit_of(problem: Dispatch, name: str, theta: float, slack: float) -> float:
    """Return the limit on a kept objective.

    Parameters
    ----------
    problem : Dispatch
        The problem.
    name : str
        The objective.
    theta : float
        Its value in a schedule that was optimized for it.
    slack : float
        The slack, at least 1.

    Examples
    --------
    >>> from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
    >>> job = Job("j1", submit=1000, walltime=60, units=1, request={"cores": 8}, queue="debug")
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), [job], [Queue("debug", 3600)], now=1000)
    >>> limit_of(p, "makespan", 1060, 1.1), limit_of(p, "late-jobs", 15, 1.1)
    (1066, 16)
    """
    objective = find_objective(name)
    sign = -1
    if objective.sense == "minimize":
        sign = 1
    limit = theta + sign * (slack - 1) * abs(theta - origin_of(problem, name))
    if not isinstance(objective.costs_of(problem), Late | LastEnd):
        return limit
    return sign * math.floor(sign * limit + ROUNDING)


def limits_of(problem: Dispatch, theta: Mapping[str, float], slack: Mapping[str, float]) -> dict[str, float]:
    """Return the limits of a composite: those of the problem, and those on the kept objectives."""
    return {**problem.limits, **{name: limit_of(problem, name, value, slack[name]) for name, value in theta.items()}}


def overrun(problem: Dispatch, schedule: Schedule) -> float:
    """Return the greatest value / limit of the limited objectives of a schedule, measured from their origins.

    Above 1 if a limit is broken. With a limit of 0 it is 1 + value.
    """
    overruns = []
    for name, limit in problem.limits.items():
        objective = find_objective(name)
        sign = -1
        if objective.sense == "minimize":
            sign = 1
        overruns.append(1 + sign * (objective.value_of(problem, schedule) - limit) / scale_of(problem, name, limit))
    return max(overruns, default=0.0)


def nearest(problem: Dispatch, known: Mapping[str, Schedule]) -> str | None:
    """Return the name of the schedule that overruns the limits of the problem least; ties by the objective; None: no schedule.

    It is used if a composite ends without a solution.
    """
    sign = -1
    if problem.sense == "minimize":
        sign = 1
    return min(known, key=lambda n: (overrun(problem, known[n]), sign * problem.value(known[n])), default=None)


def best_kept(problem: Dispatch, known: Mapping[str, Schedule]) -> Schedule | None:
    """Return the best one of the schedules that are feasible and keep the limits of the problem; None if there is none."""
    sign = -1
    if problem.sense == "minimize":
        sign = 1
    kept = [schedule for schedule in known.values() if not problem.verify(schedule)]
    return min(kept, key=lambda s: sign * problem.value(s), default=None)
