"""Profit in the language: the formulations of dispatching problems, with the overlap of jobs and segments as objective.

The gain and the energy of a job are its ``overlap`` with each segment, the mean IT power of a segment is the sum of
overlaps times power over its length, and its cooling power is a ``piecewise``-linear function of that (thesis 6.5.3).
"""

from __future__ import annotations

from collections.abc import Callable

from . import language as sl
from .dispatch_formulations import FORMULATIONS as OF_DISPATCH
from .dispatch_formulations import Aim, Base
from .problem import Encoding
from .profit import JOULES, Profit, Segment


def aim(problem: Profit) -> Aim:
    """What gives a model of the jobs' intervals the profit as its objective."""

    def maximize(b: Base) -> None:
        terms: list[sl.Expression] = []
        weights: list[float] = []
        for segment in problem.segments:
            some = [k for k, v in enumerate(b.jobs) if v.windows[0][0] < segment.end]
            ran = [sl.overlap(b.jobs[k], segment.begin, segment.end) for k in some]
            if not ran:
                continue
            euro = segment.energy_price / JOULES
            terms += ran
            weights += [problem.price * float(problem.cores[k]) / 3600 - euro * float(problem.watts[k]) for k in some]
            length = segment.end - segment.begin
            mean = sl.sum(ran, weights=[float(problem.watts[k]) / length for k in some])
            terms.append(sl.piecewise(mean, points_to(problem, segment)))
            weights.append(-euro * length)
        b.model.maximize(sl.sum(terms, weights=weights))

    return maximize


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
