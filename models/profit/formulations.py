"""Formulations of the profit problem: those of the dispatching problem with another objective [Bridi2018, 6.5.3].

Data: price ``K1`` in euro per core-hour; job j has ``c[j]`` cores over all units and power ``p[j]`` in watts; segment
s = [b[s], b[s] + L[s]) has the energy price ``K2[s]`` in euro per kWh and the piecewise-linear cooling curve ``f[s]``
(watts over watts of IT power). ``v[j]`` is the interval of job j, see ``dispatch.job_intervals``. With
``x[j,s] = overlap(v[j], b[s], b[s] + L[s])`` in seconds, the objective is (equations 6.3 and 6.4)::

    maximize  sum_j,s (K1 * c[j] / 3600 - K2[s] * p[j] / 3.6e6) * x[j,s] - sum_s K2[s] * L[s] / 3.6e6 * f[s](P[s])
    P[s] = sum_j p[j] * x[j,s] / L[s]                                     mean IT power of segment s in watts

Running jobs have fixed ends, so that their terms of the sums over j are constants.

Two additions help the solvers. A job that can be postponed has an optional interval that starts before ``horizon_end``:
after that it earns nothing, and it can always run later. Redundant constraints bound the use of each resource r with
capacity ``C[r]`` over all N nodes, beside the running jobs; job j has ``U[j]`` units, each with a request ``q[j,r]``::

    cumulative(v[j], demand U[j] * q[j,r]) <= C[r]                                              for each r
    sum_j U[j] * q[j,r] * x[j,s] <= C[r] * L[s]                                                 for each r, s

and the same with demand ``U[j]`` for the jobs whose units need more than 1/k of the largest node's amount, and with the
capacity ``N * (k - 1)``, for k = 2, 3, 4. No solver derives the sums over segments from the overlaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .. import language as sl
from ..comparing import hashable
from ..dispatch.formulations import FORMULATIONS as OF_DISPATCH
from ..dispatch.job_intervals import (
    SHARES,
    DemandRow,
    JobModel,
    Need,
    SetObjective,
    above,
    request_of,
    startable_later,
)
from ..dispatch.problem import Dispatch
from ..problem import Encoding, Schedule
from .cooling import along
from .fluid_relaxation import fluid
from .left_out import with_rest
from .segments import JOULES, Segment, points_to

if TYPE_CHECKING:
    from .problem import Profit


@hashable
@dataclass(frozen=True)
class Fixed:
    """The jobs of a problem that are not in the model, for a neighbourhood.

    Parameters
    ----------
    moving : sequence of int
        The jobs of the model, as indices of the problem's jobs.
    euro : float
        The gain of the other jobs less the cost of their own energy, without cooling.
    watts : sequence of float
        Their mean IT power in each segment of the problem, in watts.
    """

    moving: Sequence[int]
    euro: float
    watts: Sequence[float]


def profit_objective(problem: Profit, fixed: Fixed | None = None) -> SetObjective:
    """Return the function that sets the profit as the objective of a model.

    Parameters
    ----------
    problem : Profit
        The problem.
    fixed : Fixed, optional
        The jobs that are not in the model; their profit is included as a constant. None: all jobs are in the model.
        The profit of running jobs is always included.

    Returns
    -------
    callable
        A function of a JobModel.
    """

    def maximize(b: JobModel) -> None:
        others = Fixed(range(len(b.jobs)), 0.0, [0.0] * len(problem.segments)) if fixed is None else fixed
        moving = np.array(others.moving, np.int64)
        watts = problem.watts[moving].tolist()
        per_second = (problem.price * problem.cores[moving] / 3600).tolist()
        terms: list[sl.Expression | float] = [others.euro + problem.running.euro]
        weights: list[float] = [1.0]
        both = zip(others.watts, problem.running.mean_watts, strict=True)
        for segment, other_watts in zip(problem.segments, map(sum, both), strict=True):
            euro, length = segment.energy_price / JOULES, segment.end - segment.begin
            some = [k for k, v in enumerate(b.jobs) if _reaches(v, segment)]
            ran = [sl.overlap(b.jobs[k], segment.begin, segment.end) for k in some]
            terms += ran
            weights += [per_second[k] - euro * watts[k] for k in some]
            cost = [(p, euro * length * c) for p, c in points_to(problem, segment)]
            if some:
                mean = sl.sum([*ran, other_watts], weights=[*(watts[k] / length for k in some), 1.0])
                terms.append(sl.piecewise(mean, cost))
            else:
                terms.append(along(cost, other_watts))
            weights.append(-1.0)
        b.model.maximize(sl.sum(terms, weights=weights))

    return maximize


def _reaches(v: sl.Interval, segment: Segment) -> bool:
    """Return whether the interval can run in the segment."""
    return v.windows[0][0] < segment.end and v.windows[-1][1] + v.size_hi > segment.begin


def _strengthen(b: JobModel, segments: Sequence[Segment]) -> None:
    """Add the redundant constraints: capacities of all nodes together, at each time and as a sum over each segment."""
    problem, platform = b.problem, b.problem.platform
    running = b.running(dict.fromkeys(platform.nodes, "the machine"))["the machine"]

    def add(need: Need, capacity: int, what: str) -> None:
        amounts = [(v, j.units * need(j)) for v, j in zip(b.jobs, problem.jobs, strict=True) if need(j)]
        held = b.running_rows(running, need)
        b.add_cumulative([*(DemandRow(v, n) for v, n in amounts), *held], capacity, what)
        for s in segments:
            some = [(v, n) for v, n in amounts if _reaches(v, s)]
            taken = sum(r.amount * max(0, min(s.end, problem.now + r.interval.size_lo) - s.begin) for r in held)
            if sum(n for _, n in some) * (s.end - s.begin) + taken > capacity * (s.end - s.begin):
                ran = sl.sum([sl.overlap(v, s.begin, s.end) for v, _ in some], weights=[n for _, n in some])
                b.model.add(ran <= capacity * (s.end - s.begin) - taken, f"{what} from {s.begin} to {s.end}")

    for k, resource in enumerate(platform.resources):
        add(request_of(resource), platform.total(resource), resource)
        most = max(vector[k] for vector in platform.classes)
        for share in SHARES:
            add(
                above(resource, most / share),
                len(platform.nodes) * (share - 1),
                f"units above 1/{share} of a node's {resource}",
            )


def _with_profit(make: Callable[..., Encoding]) -> Callable[[Profit], Encoding]:
    def encoding(problem: Profit) -> Encoding:
        within, moving = _earning(problem)
        fixed = Fixed(moving, 0.0, [0.0] * len(problem.segments))

        def declare(b: JobModel) -> None:
            profit_objective(problem, fixed)(b)
            _strengthen(b, problem.segments)

        inner = make(within, declare, problem.horizon_end)

        def read(assignment: sl.Assignment) -> Schedule:
            return with_rest(problem, inner.read(assignment), with_nodes=not inner.relaxation)

        def write(schedule: Schedule) -> sl.Assignment:
            later = {
                j.id for j in within.jobs if startable_later(within, j) and schedule.start[j.id] >= problem.horizon_end
            }
            return inner.write(Schedule({j: s for j, s in schedule.start.items() if j not in later}, schedule.nodes))

        return replace(inner, read=read, write=write)

    return encoding


def _earning(problem: Profit) -> tuple[Dispatch, list[int]]:
    """Return the problem of the jobs that can earn something or cannot be postponed, and the indices of these jobs."""
    dispatch = problem.dispatch
    jobs = enumerate(dispatch.jobs)
    kept = [k for k, j in jobs if dispatch.earliest(j) < problem.horizon_end or not startable_later(dispatch, j)]
    return dispatch.replace(jobs=[dispatch.jobs[k] for k in kept]), kept


FORMULATIONS: dict[str, Callable[[Profit], Encoding]] = {
    **{name: _with_profit(make) for name, make in OF_DISPATCH.items()},
    "fluid": fluid,
}
