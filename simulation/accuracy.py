"""The accuracy of predicted durations."""

from __future__ import annotations

import heapq
from dataclasses import asdict, dataclass

import numpy as np

from ..errors import WrongValue
from ..instances.report import WorkloadError
from ..instances.workload import Workload
from ..models.array_types import Ints
from ..models.excerpt import with_short_repr
from .predictors import Predictor, TimedPredictor


@with_short_repr
@dataclass(frozen=True)
class Accuracy:
    """The comparison of expected durations with durations in the replay.

    e is the expected duration of a job and d its duration, at least 1 s. All values are None if there is no job.

    Parameters
    ----------
    mae : float
        Mean absolute error, ``mean(|d - e|)``, in seconds.
    under, over, exact : float
        Share of the jobs with ``d > e`` (underestimated), ``d < e`` (overestimated), ``d == e``; each from 0 to 1.
    within_quarter : float
        Share of the jobs with ``0.75 <= d / e <= 1.25``, from 0 to 1.
    ratio_p5, ratio_p25, ratio_p50, ratio_p75, ratio_p95 : float
        Percentiles of ``d / e``, without unit.
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
        """Return a dict of all values by name."""
        return asdict(self)


def accuracy(expected: Ints, runtime: Ints) -> Accuracy:
    """Compare expected durations with runtimes.

    Parameters
    ----------
    expected : ndarray of int64, shape (jobs,)
        Expected durations in seconds, at least 1.
    runtime : ndarray of int64, shape (jobs,)
        Runtimes in seconds; values below 1 count as 1.

    Returns
    -------
    Accuracy
        All values None if there is no job.

    Raises
    ------
    ValueError
        If the arrays have different lengths, or an expected duration is below 1 s.

    Examples
    --------
    >>> a = accuracy(np.array([100, 100, 100, 50]), np.array([100, 50, 150, 60]))
    >>> a.mae, a.under, a.over, a.exact, a.within_quarter
    (27.5, 0.5, 0.25, 0.25, 0.5)
    """
    if expected.shape != runtime.shape:
        raise WrongValue(f"{len(expected)} expected durations for {len(runtime)} runtimes; expected equal numbers")
    if not expected.size:
        return Accuracy()
    if expected.min() < 1:
        k = int(expected.argmin())
        raise WrongValue(f"the expected duration of job {k} is {expected[k]} s; expected at least 1 s")
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
    """Return the durations that a predictor expects at the starts recorded in the trace, without a simulation.

    At each recorded start, the predictor has learned from the jobs that had ended on the real machine.

    Parameters
    ----------
    workload : Workload
        A trace that records the start of every job.
    predictor : Predictor
        The predictor; it starts without knowledge.

    Returns
    -------
    ndarray of int64, shape (jobs,)
        Expected durations in seconds.

    Raises
    ------
    WorkloadError
        If the trace does not record the start of a job.
    """
    start = workload.recorded_start
    if (start < 0).any():
        k = int(np.flatnonzero(start < 0)[0])
        raise WorkloadError(
            f"{workload.name}: the trace does not record when job {workload.ids[k]!r} started; remove such jobs with "
            "Workload.keep, or simulate the trace"
        )
    predictor = TimedPredictor(predictor)
    fixed = predictor.begin(workload)
    if fixed is not None:
        return fixed
    expected = np.zeros(len(workload), np.int64)
    starts = start.tolist()
    runtimes = workload.runtime.tolist()
    running: list[tuple[int, int]] = []
    for job in np.argsort(start, kind="stable").tolist():
        while running and running[0][0] <= starts[job]:
            ended = heapq.heappop(running)[1]
            predictor.learn(ended, runtimes[ended])
        expected[job] = predictor.predict(job)
        heapq.heappush(running, (starts[job] + runtimes[job], job))
    return expected
