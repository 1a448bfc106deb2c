"""How well durations were predicted."""

from __future__ import annotations

import heapq
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from ..instances.workload import Workload, WorkloadError
from .predictors import Predictor

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Accuracy:
    """Predictions against runtimes; all None if there was no job.

    ``mae``: mean absolute error in seconds; ``under``, ``over``, ``exact``: shares (0 to 1) of the jobs that took longer
    than predicted, shorter, or exactly that; ``within_quarter``: the share with runtime / prediction in 0.75 to 1.25;
    ``ratio_p5`` to ``ratio_p95``: quantiles of runtime / prediction.
    """

    mae: float | None = None
    under: float | None = None
    over: float | None = None
    exact: float | None = None
    within_quarter: float | None = None
    ratio_p5: float | None = None
    ratio_p25: float | None = None
    ratio_p50: float | None = None
    ratio_p75: float | None = None
    ratio_p95: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        """Field -> value."""
        return asdict(self)


def accuracy(expected: Ints, runtime: Ints) -> Accuracy:
    """How well ``expected`` (one duration per job, in seconds, at least 1) foretold ``runtime`` (taken as at least 1 s).

    Raises ValueError if the two are not equally long, or an expectation is below 1 s.

    >>> a = accuracy(np.array([100, 100, 100, 50]), np.array([100, 50, 150, 60]))
    >>> a.mae, a.under, a.over, a.exact, a.within_quarter
    (27.5, 0.5, 0.25, 0.25, 0.5)
    """
    if expected.shape != runtime.shape:
        raise ValueError(f"{len(expected)} expectations for {len(runtime)} runtimes; one for each is needed")
    if not expected.size:
        return Accuracy()
    if expected.min() < 1:
        k = int(expected.argmin())
        raise ValueError(f"the expected duration of job {k} is {expected[k]} s; at least 1 s is needed")
    took = np.maximum(runtime, 1)
    ratio = took / expected
    p5, p25, p50, p75, p95 = np.percentile(ratio, [5, 25, 50, 75, 95]).tolist()
    return Accuracy(
        mae=float(np.abs(took - expected).mean()),
        under=float((took > expected).mean()),
        over=float((took < expected).mean()),
        exact=float((took == expected).mean()),
        within_quarter=float(((ratio >= 0.75) & (ratio <= 1.25)).mean()),
        ratio_p5=p5,
        ratio_p25=p25,
        ratio_p50=p50,
        ratio_p75=p75,
        ratio_p95=p95,
    )


def expected_as_recorded(workload: Workload, predictor: Predictor) -> Ints:
    """What a predictor would have said of each job when the real machine started it, in seconds; no simulation.

    It has learnt by then of the jobs that had ended on the real machine. Raises WorkloadError if a job's start there is
    not known.
    """
    start = workload.recorded_start
    if (start < 0).any():
        k = int(np.flatnonzero(start < 0)[0])
        raise WorkloadError(
            f"{workload.name}: the trace does not say when job {workload.ids[k]!r} started; leave such jobs out "
            "(workload.keep) or simulate the trace"
        )
    fixed = predictor.begin(workload)
    if fixed is not None:
        return fixed
    found = np.zeros(len(workload), np.int64)
    starts, runtimes = start.tolist(), workload.runtime.tolist()
    running: list[tuple[int, int]] = []
    for job in np.argsort(start, kind="stable").tolist():
        while running and running[0][0] <= starts[job]:
            ended = heapq.heappop(running)[1]
            predictor.learn(ended, runtimes[ended])
        found[job] = predictor.predict(job)
        heapq.heappush(running, (starts[job] + runtimes[job], job))
    return found
