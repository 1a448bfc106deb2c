"""Profit in the language: the formulations of dispatching problems, with the overlap of jobs and segments as objective.

The gain and the energy of a job are its ``overlap`` with each segment, the mean IT power of a segment is the sum of
overlaps times power over its length, and its cooling power is a ``piecewise``-linear function of that (thesis 6.5.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import language as sl
from .dispatch_formulations import FORMULATIONS as OF_DISPATCH
from .dispatch_formulations import Aim, Base
from .problem import Encoding
from .profit import JOULES, Profit, Segment


@dataclass(frozen=True)
class Fixed:
    """What does not move beside the jobs of a model, as a neighbourhood has it.

    ``moving``: the model's jobs, as indices of the problem's; ``euro``: what the others earn, their own energy paid,
    cooling not; ``watts``: their mean IT power in each of the problem's segments.
    """

    moving: Sequence[int]
    euro: float
    watts: Sequence[float]


def aim(problem: Profit, fixed: Fixed | None = None) -> Aim:
    """What gives a model of the jobs' intervals the profit as its objective; with what is ``fixed`` that of all together."""

    def maximize(b: Base) -> None:
        here = Fixed(range(len(b.jobs)), 0.0, [0.0] * len(problem.segments)) if fixed is None else fixed
        moving = np.array(here.moving, np.int64)
        watts = problem.watts[moving].tolist()
        per_second = (problem.price * problem.cores[moving] / 3600).tolist()
        terms: list[sl.Expression | float] = [here.euro]
        weights: list[float] = [1.0]
        for segment, there in zip(problem.segments, here.watts, strict=True):
            euro, length = segment.energy_price / JOULES, segment.end - segment.begin
            some = [k for k, v in enumerate(b.jobs) if _reaches(v, segment)]
            if some:
                ran = [sl.overlap(b.jobs[k], segment.begin, segment.end) for k in some]
                terms += ran
                weights += [per_second[k] - euro * watts[k] for k in some]
                mean = sl.sum([*ran, there], weights=[*(watts[k] / length for k in some), 1.0])
                terms.append(sl.piecewise(mean, points_to(problem, segment)))
            else:
                terms.append(float(np.interp(there, *zip(*segment.curve, strict=True))))
            weights.append(-euro * length)
        b.model.maximize(sl.sum(terms, weights=weights))

    return maximize


def _reaches(v: sl.Interval, segment: Segment) -> bool:
    """Whether the interval can run in the segment."""
    return v.windows[0][0] < segment.end and v.windows[-1][1] + v.size_hi > segment.begin


def points_to(problem: Profit, segment: Segment) -> list[tuple[float, float]]:
    """The cooling curve of a segment as far as the jobs can drive it."""
    most = problem.most_power
    inside = [p for p in segment.curve if p[0] < most]
    return (
        [*inside, next(p for p in segment.curve if p[0] >= most)]
        if most < segment.curve[-1][0]
        else list(segment.curve)
    )


def _with_profit(make: Callable[..., Encoding]) -> Callable[[Profit], Encoding]:
    return lambda problem: make(problem.dispatch, aim(problem))


FORMULATIONS: dict[str, Callable[[Profit], Encoding]] = {name: _with_profit(make) for name, make in OF_DISPATCH.items()}
