"""Scores of methods that compare their answers in pairs on each problem: the Borda count and the score of the MiniZinc Challenge."""

from __future__ import annotations

import numpy as np

from ...models.array_types import Floats
from .measures import EQUAL, Measure, by_problem, gap, penalized
from .sample import ANSWERED, Sample


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
