"""Measures of runs, their means over seeds and problems, and profiles; formulas and sources are in docs/statistics.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...models.array_types import Floats
from ..errors import WrongUse
from .sample import ANSWERED, ProblemRuns, RunOutcome, Sample

# --- Measures of one run, and means of them over seeds and problems; formulas and sources are in docs/statistics.md.

Measure = Callable[[ProblemRuns, RunOutcome], float]
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


def gap(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the gap of the schedule of a run to the best one known; 1 without a verified schedule.

    A proof that there is no schedule is an answer: its gap is 0.
    """
    return 0.0 if _is_infeasible(run) else primal_gap(run.objective, problem.best)


def gap_to_bound(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the gap of the schedule of a run to the best bound of all runs; 1 without a verified schedule or a bound."""
    return 0.0 if _is_infeasible(run) else primal_gap(run.objective, problem.bound)


def gap_to_known(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the signed gap to the best-known value of the literature, below 0 if better; 1 without a verified schedule.

    NaN for a problem without such a value.
    """
    if problem.known is None:
        return float("nan")
    gap = primal_gap(run.objective, problem.known)
    better = run.objective is not None and problem.sign * run.objective < problem.sign * problem.known
    return -gap if better else gap


def seconds(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the seconds to the proof of an optimum or of infeasibility; infinity without a proof."""
    if run.state != "proven":
        return inf
    return problem.limit if run.seconds is None else run.seconds


def seconds_to(target: float) -> Measure:
    """Return the measure of the seconds to a schedule whose gap to the best one known is at most ``target``.

    Infinity if the run has found none.
    """

    def measure(problem: ProblemRuns, run: RunOutcome) -> float:
        if _is_infeasible(run):
            return seconds(problem, run)
        within = (t for t, value in run.steps if primal_gap(value, problem.best) <= target + EQUAL)
        return next(within, inf)

    return measure


def primal_integral(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the mean of the primal gap over the time limit, from 0 to 1 [Berthold2013, 3].

    The gap is 1 until the first schedule, and for runs without a verified schedule; after the end of the run it stays.
    """
    return 0.0 if _is_infeasible(run) else _integral(run.steps, problem.best, problem.limit)


def dual_integral(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the mean over the time limit of the gap of the bound to the best objective known; 1 until the first bound."""
    return 0.0 if _is_infeasible(run) else _integral(run.bounds, problem.best, problem.limit)


def penalized(factor: float, measure: Measure = seconds) -> Measure:
    """Return a measure of times in which ``factor`` x time limit stands for infinity: PAR2, PAR10 [Hutter2009].

    A time above the limit counts as the limit.
    """

    def penalized_measure(problem: ProblemRuns, run: RunOutcome) -> float:
        value = measure(problem, run)
        return factor * problem.limit if value == inf else min(value, problem.limit)

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
    array = np.asarray(values, np.float64)
    return float("nan") if array.size == 0 else float(np.exp(np.mean(np.log(array + shift))) - shift)


def _integral(steps: Sequence[tuple[float, float]], reference: float | None, limit: float) -> float:
    """Return the mean over the time limit of the gap of a step function, which is 1 before its first step."""
    total = 0.0
    now = 0.0
    current = 1.0
    for t, value in (*steps, (limit, None)):
        total += current * (min(t, limit) - now)
        now = min(t, limit)
        current = primal_gap(value, reference)
    return total / limit


def _is_infeasible(run: RunOutcome) -> bool:
    return run.state in ANSWERED and run.objective is None


# --- Performance profiles, data profiles, runtime distributions: step functions that count runs without an answer as never.


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
    columns = [
        [float(np.median(measured_values)) for measured_values in by_run(sample, measure, m)] for m in sample.methods
    ]
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
        runs = [runs_of_problem for runs_of_problem, p in zip(runs, sample.problems, strict=True) if p.name == problem]
    weights = np.concatenate(
        [np.full(runs_of_problem.size, 1 / (runs_of_problem.size * len(runs))) for runs_of_problem in runs]
        or [np.empty(0)]
    )
    times = np.concatenate(runs or [np.empty(0)])
    return _weighted(method, times, weights)


def _steps(method: str, values: Floats, count: int) -> Curve:
    return _weighted(method, values, np.full(values.size, 1 / max(1, count)))


def _weighted(method: str, values: Floats, weights: Floats) -> Curve:
    """Return the curve of the weights of the finite values; equal values make one step."""
    done = np.isfinite(values)
    x, inverse = np.unique(values[done], return_inverse=True)
    return Curve(method, x, np.cumsum(np.bincount(inverse, weights[done], x.size)))


# --- What the times of a comparison count to, and how: to the proof or to a gap, with or without building and lowering.


@dataclass(frozen=True)
class Goal:
    """What the times of a comparison count to; formulas: docs/statistics.md.

    Attributes
    ----------
    target
        The gap to the best objective known that a schedule must have; None: the proof.
    solver_alone
        Whether the seconds of building and lowering the model are taken off each time.
    shift
        Seconds that are added to times before their geometric mean.
    floor
        Times below it count as it, in seconds: the noise of shorter ones would be large in ratios.

    Raises
    ------
    WrongUse
        The target is no gap from 0 to 1.
    """

    target: float | None = None
    solver_alone: bool = False
    shift: float = SHIFT
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.target is not None and not 0 <= self.target < 1:
            raise WrongUse(f"--target {self.target:g}: expected a gap from 0 to 1, such as 0.01")

    @property
    def measure(self) -> Measure:
        """The measure of seconds; infinity for a run that does not reach the goal."""
        reached = seconds if self.target is None else seconds_to(self.target)

        def measured(problem: ProblemRuns, run: RunOutcome) -> float:
            time = reached(problem, run)
            if time == inf:
                return inf
            return max(self.floor, time - (run.building if self.solver_alone else 0.0))

        return measured

    @property
    def until(self) -> str:
        """What is reached: "the proof", "a gap of 1 %"."""
        return "the proof" if self.target is None else f"a gap of {100 * self.target:g} %"

    @property
    def text(self) -> str:
        """The measure in words, as the label of an axis has it.

        Examples
        --------
        >>> Goal(0.01, solver_alone=True, floor=0.1).text
        'seconds to a gap of 1 %, without building and lowering, at least 0.1 s'
        """
        parts = [f"seconds to {self.until}"]
        parts += ["without building and lowering"] if self.solver_alone else []
        parts += [f"at least {self.floor:g} s"] if self.floor else []
        return ", ".join(parts)


PROOF = Goal()
