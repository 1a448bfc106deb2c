"""Profit in the language: the formulations of dispatching problems, with the overlap of jobs and segments as objective.

The gain and the energy of a job are its ``overlap`` with each segment, the mean IT power of a segment is the sum of
overlaps times power over its length, and what its cooling costs is a ``piecewise``-linear function of that (thesis 6.5.3).

What the solvers gain from, beside that: a job that would start after the last moment that counts is left out of the
model, since it earns nothing and can always follow later; and in each segment the jobs together use no more of a
resource than there is, which no solver sees by itself in overlaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .. import language as sl
from ..dispatch.formulations import FORMULATIONS as OF_DISPATCH
from ..dispatch.job_intervals import SHARES, DemandRow, JobModel, SetObjective, startable_later
from ..dispatch.problem import Dispatch
from ..problem import Encoding, Schedule
from .cooling import along
from .fluid_relaxation import fluid
from .left_out import with_rest
from .segments import JOULES, Segment, points_to

if TYPE_CHECKING:
    from .problem import Profit


@dataclass(frozen=True)
class Fixed:
    """What does not move beside the jobs of a model, as a neighbourhood has it.

    ``moving``: the model's jobs, as indices of the problem's; ``euro``: what the others earn, their own energy paid,
    cooling not; ``watts``: their mean IT power in each of the problem's segments.
    """

    moving: Sequence[int]
    euro: float
    watts: Sequence[float]


def profit_objective(problem: Profit, fixed: Fixed | None = None) -> SetObjective:
    """What gives a model of the jobs' intervals the profit as its objective; with what is ``fixed`` that of all together."""

    def maximize(b: JobModel) -> None:
        here = Fixed(range(len(b.jobs)), 0.0, [0.0] * len(problem.segments)) if fixed is None else fixed
        moving = np.array(here.moving, np.int64)
        watts = problem.watts[moving].tolist()
        per_second = (problem.price * problem.cores[moving] / 3600).tolist()
        terms: list[sl.Expression | float] = [here.euro]
        weights: list[float] = [1.0]
        for segment, there in zip(problem.segments, here.watts, strict=True):
            euro, length = segment.energy_price / JOULES, segment.end - segment.begin
            some = [k for k, v in enumerate(b.jobs) if _reaches(v, segment)]
            ran = [sl.overlap(b.jobs[k], segment.begin, segment.end) for k in some]
            terms += ran
            weights += [per_second[k] - euro * watts[k] for k in some]
            cost = [(p, euro * length * c) for p, c in points_to(problem, segment)]
            if some:
                mean = sl.sum([*ran, there], weights=[*(watts[k] / length for k in some), 1.0])
                terms.append(sl.piecewise(mean, cost))
            else:
                terms.append(along(cost, there))
            weights.append(-1.0)
        b.model.maximize(sl.sum(terms, weights=weights))

    return maximize


def _reaches(v: sl.Interval, segment: Segment) -> bool:
    """Whether the interval can run in the segment."""
    return v.windows[0][0] < segment.end and v.windows[-1][1] + v.size_hi > segment.begin


def _strengthen(b: JobModel, segments: Sequence[Segment]) -> None:
    """What holds anyway: all nodes together have room for what runs, at each moment and in the sum over each segment."""
    problem, platform = b.problem, b.problem.platform

    def add(amounts: Sequence[int], capacity: int, what: str) -> None:
        b.add_cumulative([DemandRow(v, n) for v, n in zip(b.jobs, amounts, strict=True) if n], capacity, what)
        for s in segments:
            some = [(v, n) for v, n in zip(b.jobs, amounts, strict=True) if n and _reaches(v, s)]
            if sum(n for _, n in some) > capacity:
                ran = sl.sum([sl.overlap(v, s.begin, s.end) for v, _ in some], weights=[n for _, n in some])
                b.model.add(ran <= capacity * (s.end - s.begin), f"{what} from {s.begin} to {s.end}")

    for k, resource in enumerate(platform.resources):
        add([j.units * j.request.get(resource, 0) for j in problem.jobs], platform.total(resource), resource)
        most = max(vector[k] for vector in platform.classes)
        for share in SHARES:
            large = [j.units if j.request.get(resource, 0) * share > most else 0 for j in problem.jobs]
            add(large, len(platform.nodes) * (share - 1), f"units above 1/{share} of a node's {resource}")


def _with_profit(make: Callable[..., Encoding]) -> Callable[[Profit], Encoding]:
    def encoding(problem: Profit) -> Encoding:
        within, moving = _earning(problem)
        fixed = Fixed(moving, 0.0, [0.0] * len(problem.segments))

        def declare(b: JobModel) -> None:
            profit_objective(problem, fixed)(b)
            _strengthen(b, problem.segments)

        inner = make(within, declare, problem.horizon_end)

        def read(assignment: sl.Assignment) -> Schedule:
            return with_rest(problem, inner.read(assignment), placed=not inner.relaxation)

        def write(schedule: Schedule) -> sl.Assignment:
            later = {
                j.id for j in within.jobs if startable_later(within, j) and schedule.start[j.id] >= problem.horizon_end
            }
            return inner.write(Schedule({j: s for j, s in schedule.start.items() if j not in later}, schedule.nodes))

        return replace(inner, read=read, write=write)

    return encoding


def _earning(problem: Profit) -> tuple[Dispatch, list[int]]:
    """The problem of the jobs that can earn, or cannot wait until nothing counts any more; and their indices."""
    dispatch = problem.dispatch
    jobs = enumerate(dispatch.jobs)
    kept = [k for k, j in jobs if dispatch.earliest(j) < problem.horizon_end or not startable_later(dispatch, j)]
    return dispatch.replace(jobs=[dispatch.jobs[k] for k in kept]), kept


FORMULATIONS: dict[str, Callable[[Profit], Encoding]] = {
    **{name: _with_profit(make) for name, make in OF_DISPATCH.items()},
    "fluid": fluid,
}
