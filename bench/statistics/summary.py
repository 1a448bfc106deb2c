"""Scores of methods that compare their answers in pairs on each problem: the Borda count and the score of the MiniZinc Challenge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf

import numpy as np

from ...models.array_types import Bools, Floats
from .inference import interval
from .measures import (
    EQUAL,
    PROOF,
    Goal,
    Measure,
    by_problem,
    dual_integral,
    gap,
    gap_to_bound,
    gap_to_known,
    logs,
    penalized,
    primal_integral,
)
from .sample import ANSWERED, STATES, Sample, State


def _answers(sample: Sample) -> tuple[Floats, Floats, Floats]:
    """Return the mean gap, the share of proofs and the share of answers of each method: problems x methods each."""
    gaps = by_problem(sample, gap)
    proofs = by_problem(sample, lambda p, run: float(run.state == "proven"))
    answers = by_problem(sample, lambda p, run: float(run.state in ANSWERED))
    return gaps, proofs, answers


def _beaten(sample: Sample) -> tuple[Floats, Floats]:
    """Return which method has a better answer than which, and which are equal: problems x methods x methods, 0 or 1.

    The answer with the less mean gap is better; of equal gaps, that with more proofs.
    """
    gaps, proofs, _ = _answers(sample)
    less = gaps[:, :, None] - gaps[:, None, :]
    more = proofs[:, :, None] - proofs[:, None, :]
    same_gap = np.abs(less) <= EQUAL
    better = (less < -EQUAL) | (same_gap & (more > EQUAL))
    equal = same_gap & (np.abs(more) <= EQUAL)
    return better.astype(np.float64), equal.astype(np.float64)


def borda(sample: Sample) -> Floats:
    """Return the Borda count of each method: the methods that it beats on each problem, ties one half each.

    A method without an answer gets nothing, whatever the others have.
    """
    better, equal = _beaten(sample)
    some = _answers(sample)[2] > 0
    count = better.sum(axis=2) + 0.5 * (equal.sum(axis=2) - 1)  # each equals itself
    points: Floats = np.where(some, count, 0.0).sum(axis=0)
    return points


def minizinc(sample: Sample, time: Measure) -> Floats:
    """Return the score of the MiniZinc Challenge of each method [Stuckey2014].

    On each problem and against each other method: 1 for the better answer, 0 for the worse one. Of equal answers, the method
    that takes t seconds gets t' / (t + t') against one that takes t'; both one half if both are 0. A time without the goal is
    the time limit. A method without an answer gets nothing.

    Parameters
    ----------
    sample : Sample
        The runs.
    time : callable
        The measure of seconds.
    """
    better, equal = _beaten(sample)
    some = _answers(sample)[2] > 0
    seconds = by_problem(sample, penalized(1, time))
    own = np.broadcast_to(seconds[:, :, None], better.shape)
    others = np.broadcast_to(seconds[:, None, :], better.shape)
    together = own + others
    share = np.divide(others, together, out=np.full_like(together, 0.5), where=together > 0)
    points = better + equal * share
    points[:, range(len(sample.methods)), range(len(sample.methods))] = 0.0
    total: Floats = np.where(some, points.sum(axis=2), 0.0).sum(axis=0)
    return total


# --- Statistics of each method over the problems and seeds of a sample, and of the virtual best method; formulas: docs/statistics.md.


@dataclass(frozen=True)
class MethodStatistics:
    """The statistics of a method. Means are over problems, of means over seeds; formulas: docs/statistics.md.

    Attributes
    ----------
    method
        The method.
    states
        State -> number of runs; they add up to problems x seeds.
    time, time_interval
        Shifted geometric mean of the seconds to a proof (or target), the time limit for runs without; its 95 % interval.
    scaled
        ``time`` over that of the quickest method.
    borda, minizinc
        Scores: see `borda` and `minizinc`.
    par2, par10
        Mean of these seconds, 2 or 10 time limits for runs without.
    primal, dual
        Mean primal and dual integral, from 0 to 1.
    gap, gap_interval
        Mean gap to the best objective known, 1 for runs without a verified schedule; its 95 % interval.
    gap_bound
        Mean gap to the best bound.
    gap_known
        Mean signed gap to the best-known values, over the problems that have one; NaN without any.
    wins
        Number of problems on which its mean gap is the least; ties count for each.
    share
        Share of the problems on which it is the virtual best: least gap, then least time; ties are divided.
    only
        Number of problems for which only it has a verified schedule (or a proof that there is none).
    """

    method: str
    states: Mapping[State, int]
    time: float
    time_interval: tuple[float, float]
    scaled: float
    borda: float
    minizinc: float
    par2: float
    par10: float
    primal: float
    dual: float
    gap: float
    gap_interval: tuple[float, float]
    gap_bound: float
    gap_known: float
    wins: int
    share: float
    only: int

    @property
    def runs(self) -> int:
        """The number of runs that should exist."""
        return sum(self.states.values())

    @property
    def answered(self) -> int:
        """The number of runs with a verified schedule or a proof."""
        return sum(self.states[state] for state in ANSWERED)


@dataclass(frozen=True)
class VirtualBest:
    """On each problem the method with the least mean gap, then the least mean time.

    Attributes
    ----------
    gap
        Mean gap.
    time
        Shifted geometric mean of the seconds.
    solved, proven
        Number of problems that any run of any method has solved or proven.
    """

    gap: float
    time: float
    solved: int
    proven: int


def statistics_of(sample: Sample, goal: Goal = PROOF) -> list[MethodStatistics]:
    """Return the statistics of each method.

    Parameters
    ----------
    sample
        The runs.
    goal
        What the times count to.

    Returns
    -------
    list of MethodStatistics
        In the order of ``sample.methods``.
    """
    time = goal.measure
    shift = goal.shift
    gaps = by_problem(sample, gap)
    times = logs(sample, penalized(1, time), shift)
    others = {
        m: by_problem(sample, m)
        for m in (penalized(2, time), penalized(10, time), primal_integral, dual_integral, gap_to_bound)
    }
    known = by_problem(sample, gap_to_known)
    has_known = ~np.isnan(known).any(axis=1)
    won = _won(sample, gaps)
    shares = _shares(sample, gaps, times)
    solved = _solved(sample)
    means = np.exp(times.mean(axis=0)) - shift
    points = borda(sample)
    score = minizinc(sample, time)
    rows = []
    for k, method in enumerate(sample.methods):
        par2, par10, primal, dual, to_bound = (float(values[:, k].mean()) for values in others.values())
        low, high = interval(times[:, k], back=np.exp)
        rows.append(
            MethodStatistics(
                method=method,
                states=_states(sample, method),
                time=float(means[k]),
                time_interval=(low - shift, high - shift),
                scaled=float(means[k] / means.min()) if means.min() > 0 else float("nan"),
                borda=float(points[k]),
                minizinc=float(score[k]),
                par2=par2,
                par10=par10,
                primal=primal,
                dual=dual,
                gap=float(gaps[:, k].mean()),
                gap_interval=interval(gaps[:, k]),
                gap_bound=to_bound,
                gap_known=float(known[has_known, k].mean()) if has_known.any() else float("nan"),
                wins=int(won[:, k].sum()),
                share=float(shares[:, k].mean()),
                only=int((solved[:, k] & (solved.sum(axis=1) == 1)).sum()),
            )
        )
    return rows


def virtual_best(sample: Sample, goal: Goal = PROOF) -> VirtualBest:
    """Return the statistics of the virtual best method."""
    gaps = by_problem(sample, gap)
    times = logs(sample, penalized(1, goal.measure), goal.shift)
    chosen = np.array([np.lexsort((t, np.round(g, 9)))[0] for g, t in zip(gaps, times, strict=True)])
    rows = np.arange(len(sample.problems))
    return VirtualBest(
        float(gaps[rows, chosen].mean()),
        exp(float(times[rows, chosen].mean())) - goal.shift,
        int(_solved(sample).any(axis=1).sum()),
        sum(any(o.state == "proven" for outcomes in p.runs.values() for o in outcomes) for p in sample.problems),
    )


def _states(sample: Sample, method: str) -> dict[State, int]:
    states_of_runs = [o.state for p in sample.problems for o in p.runs[method]]
    return {state: states_of_runs.count(state) for state in STATES}


def _solved(sample: Sample) -> Bools:
    """Return whether a method has an answer to a problem with any seed: problems x methods."""
    return by_problem(sample, lambda p, run: float(run.state in ANSWERED)) > 0


def _won(sample: Sample, gaps: Floats) -> Bools:
    """Return whether a method has the least mean gap; on a problem that none has solved, none has."""
    solved = _solved(sample)
    least = np.where(solved, gaps, inf).min(axis=1, keepdims=True, initial=inf)
    winners: Bools = solved & (gaps <= least + EQUAL)
    return winners


def _shares(sample: Sample, gaps: Floats, times: Floats) -> Floats:
    """Return the share of each method in the virtual best of each problem: those with the least gap, then the least time."""
    best = _won(sample, gaps)
    least = np.where(best, times, inf).min(axis=1, keepdims=True, initial=inf)
    chosen = (best & (times <= least + EQUAL)).astype(np.float64)
    count = np.maximum(1.0, chosen.sum(axis=1, keepdims=True))
    weights: Floats = chosen / count
    return weights
