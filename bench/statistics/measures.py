"""Measures of one run, and means of them over seeds and problems; formulas and sources are in docs/statistics.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .sample import ANSWERED, Outcome, Problem, Sample

Floats = NDArray[np.float64]
Measure = Callable[[Problem, Outcome], float]
SHIFT = 1.0  # seconds that are added to times before their geometric mean
EQUAL = 1e-9  # differences of gaps below it are none


def primal_gap(value: float | None, reference: float | None) -> float:
    """Return the gap of a value to a reference value, from 0 to 1 [Berthold2013, 2].

    It is ``|value - reference| / max(|value|, |reference|)``; 0 if both are 0, 1 if their signs differ or one is unknown.

    Examples
    --------
    >>> primal_gap(110, 100), primal_gap(None, 100), primal_gap(-1, 1), primal_gap(0, 0)
    (0.09090909090909091, 1.0, 1.0, 0.0)
    """
    if value is None or reference is None or value * reference < 0:
        return 1.0
    largest = max(abs(value), abs(reference))
    return 0.0 if largest == 0 else abs(value - reference) / largest


def gap(problem: Problem, run: Outcome) -> float:
    """Return the gap of the schedule of a run to the best one known; 1 without a verified schedule.

    A proof that there is no schedule is an answer: its gap is 0.
    """
    return 0.0 if _is_infeasible(run) else primal_gap(run.objective, problem.best)


def gap_to_bound(problem: Problem, run: Outcome) -> float:
    """Return the gap of the schedule of a run to the best bound of all runs; 1 without a verified schedule or a bound."""
    return 0.0 if _is_infeasible(run) else primal_gap(run.objective, problem.bound)


def gap_to_known(problem: Problem, run: Outcome) -> float:
    """Return the signed gap to the best-known value of the literature, below 0 if better; 1 without a verified schedule.

    NaN for a problem without such a value.
    """
    if problem.known is None:
        return float("nan")
    found = primal_gap(run.objective, problem.known)
    better = run.objective is not None and problem.sign * run.objective < problem.sign * problem.known
    return -found if better else found


def seconds(problem: Problem, run: Outcome) -> float:
    """Return the seconds to the proof of an optimum or of infeasibility; infinity without a proof."""
    return inf if run.state != "proven" else problem.limit if run.seconds is None else run.seconds


def seconds_to(target: float) -> Measure:
    """Return the measure of the seconds to a schedule whose gap to the best one known is at most ``target``.

    Infinity if the run has found none.
    """

    def measure(problem: Problem, run: Outcome) -> float:
        if _is_infeasible(run):
            return seconds(problem, run)
        within = (t for t, value in run.steps if primal_gap(value, problem.best) <= target + EQUAL)
        return next(within, inf)

    return measure


def primal_integral(problem: Problem, run: Outcome) -> float:
    """Return the mean of the primal gap over the time limit, from 0 to 1 [Berthold2013, 3].

    The gap is 1 until the first schedule, and for runs without a verified schedule; after the end of the run it stays.
    """
    return 0.0 if _is_infeasible(run) else _integral(run.steps, problem.best, problem.limit)


def dual_integral(problem: Problem, run: Outcome) -> float:
    """Return the mean over the time limit of the gap of the bound to the best objective known; 1 until the first bound."""
    return 0.0 if _is_infeasible(run) else _integral(run.bounds, problem.best, problem.limit)


def penalized(factor: float, measure: Measure = seconds) -> Measure:
    """Return a measure of times in which ``factor`` x time limit stands for infinity: PAR2, PAR10 [Hutter2009].

    A time above the limit counts as the limit.
    """

    def penalized_measure(problem: Problem, run: Outcome) -> float:
        found = measure(problem, run)
        return factor * problem.limit if found == inf else min(found, problem.limit)

    return penalized_measure


def by_problem(sample: Sample, measure: Measure) -> Floats:
    """Return the mean of a measure over the seeds: an array of problems x methods."""
    values = [[fmean([measure(p, run) for run in p.runs[m]]) for m in sample.methods] for p in sample.problems]
    return np.array(values, np.float64).reshape(len(sample.problems), len(sample.methods))


def by_run(sample: Sample, measure: Measure, method: str) -> list[Floats]:
    """Return a measure of all runs of a method: an array over the seeds for each problem."""
    return [np.array([measure(p, run) for run in p.runs[method]], np.float64) for p in sample.problems]


def logs(sample: Sample, measure: Measure, shift: float = SHIFT) -> Floats:
    """Return the mean over the seeds of ``log(measure + shift)``: an array of problems x methods."""
    return by_problem(sample, lambda p, run: log(measure(p, run) + shift))


def shifted_geometric_mean(values: ArrayLike, shift: float = SHIFT) -> float:
    """Return ``exp(mean(log(values + shift))) - shift`` [Achterberg2007, A.3]; NaN without values.

    Examples
    --------
    >>> round(shifted_geometric_mean([0.0, 3.0], shift=1.0), 6)
    1.0
    """
    found = np.asarray(values, np.float64)
    return float("nan") if found.size == 0 else float(np.exp(np.mean(np.log(found + shift))) - shift)


def _integral(steps: Sequence[tuple[float, float]], reference: float | None, limit: float) -> float:
    """Return the mean over the time limit of the gap of a step function, which is 1 before its first step."""
    total, now, current = 0.0, 0.0, 1.0
    for t, value in (*steps, (limit, None)):
        total += current * (min(t, limit) - now)
        now, current = min(t, limit), primal_gap(value, reference)
    return total / limit


def _is_infeasible(run: Outcome) -> bool:
    return run.state in ANSWERED and run.objective is None
