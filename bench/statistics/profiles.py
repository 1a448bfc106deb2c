"""Performance profiles, data profiles, runtime distributions: step functions that count runs without an answer as never."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .measures import Floats, Measure, by_run
from .sample import Sample


class Curve(NamedTuple):
    """A step function that rises at ``x`` (ascending) to ``y``, from 0 to 1, for each method."""

    method: str
    x: Floats
    y: Floats

    def at(self, x: float) -> float:
        """Return the value at x."""
        k = int(np.searchsorted(self.x, x, side="right"))
        return 0.0 if k == 0 else float(self.y[k - 1])


def performance_profiles(sample: Sample, measure: Measure) -> list[Curve]:
    """Return the performance profile of each method [DolanMore2002].

    Its value at tau is the share of the problems on which the measure of the method, the median over its seeds, is at most
    tau times that of the best method. The median is infinite if half of the seeds or more do not reach the goal; the method
    then never reaches this problem, which stays in the denominator. Equal zeros have the ratio 1; a positive value over zero
    is never reached.

    Parameters
    ----------
    sample
        The runs.
    measure
        A measure of at least 0, such as the seconds to a proof; a smaller one is better.

    Returns
    -------
    list of Curve
    """
    columns = [[float(np.median(found)) for found in by_run(sample, measure, m)] for m in sample.methods]
    values = np.array(columns, np.float64).reshape(len(sample.methods), len(sample.problems)).T
    best = values.min(axis=1, keepdims=True, initial=np.inf)
    ratio = np.full_like(values, np.inf)
    np.divide(values, best, out=ratio, where=(best > 0) & np.isfinite(values))
    ratio[(best == 0) & (values == 0)] = 1.0
    return [_steps(method, ratio[:, k], len(sample.problems)) for k, method in enumerate(sample.methods)]


def data_profiles(sample: Sample, measure: Measure) -> list[Curve]:
    """Return the data profile of each method [MoreWild2009]: the share of the runs, seeds included, that are done in x seconds.

    The share is taken per problem and averaged over the problems, so that each problem has the same weight.
    """
    return [runtime_distribution(sample, measure, method) for method in sample.methods]


def below_one(curves: Sequence[Curve]) -> list[Curve]:
    """Return data profiles of gaps without the gap of 1, which stands for no verified schedule and is never reached."""
    return [Curve(c.method, c.x[c.x < 1], c.y[c.x < 1]) for c in curves]


def runtime_distribution(sample: Sample, measure: Measure, method: str, problem: str | None = None) -> Curve:
    """Return the distribution function of the times of a method over its seeds [HoosStutzle2004, 4.2].

    Parameters
    ----------
    sample
        The runs.
    measure
        Seconds to a proof or to a target; infinity for a run that does not reach it.
    method
        The method.
    problem
        Name of one problem; None: the mean of the distributions of all problems.

    Returns
    -------
    Curve
    """
    runs = by_run(sample, measure, method)
    if problem is not None:
        runs = [found for found, p in zip(runs, sample.problems, strict=True) if p.name == problem]
    weights = np.concatenate([np.full(found.size, 1 / (found.size * len(runs))) for found in runs] or [np.empty(0)])
    times = np.concatenate(runs or [np.empty(0)])
    return _weighted(method, times, weights)


def _steps(method: str, values: Floats, count: int) -> Curve:
    return _weighted(method, values, np.full(values.size, 1 / max(1, count)))


def _weighted(method: str, values: Floats, weights: Floats) -> Curve:
    """Return the curve of the weights of the finite values; equal values make one step."""
    done = np.isfinite(values)
    x, inverse = np.unique(values[done], return_inverse=True)
    return Curve(method, x, np.cumsum(np.bincount(inverse, weights[done], x.size)))
