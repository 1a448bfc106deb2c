"""Paired tests and intervals: Wilcoxon's signed-rank test, Holm's correction, the bootstrap over problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...models.array_types import Floats

MOST_EXACT = 50  # differences up to which the distribution of the statistic is computed exactly
RESAMPLES = 2000
ROUNDED = 9  # digits: differences that are equal but for rounding errors are ties


class SignedRanks(NamedTuple):
    """The two-sided p-value of Wilcoxon's test, and the sum of the signed ranks: above 0 if differences tend to be above 0."""

    p: float
    balance: float


def wilcoxon(differences: ArrayLike) -> SignedRanks:
    """Return the result of Wilcoxon's signed-rank test of paired differences [Wilcoxon1945].

    Zeros get ranks that do not count [Pratt1959], ties get mean ranks. Up to 50 differences the distribution over all signs
    of these ranks is computed exactly, else the normal approximation is used.

    Parameters
    ----------
    differences
        One difference for each problem.

    Returns
    -------
    SignedRanks
        Its p-value is 1 if all differences are 0.

    Examples
    --------
    >>> wilcoxon([1, 2, 3, 4, 5]).p, wilcoxon([0, 0]).p
    (0.0625, 1.0)
    """
    from scipy import stats

    d = np.round(np.asarray(differences, np.float64), ROUNDED)
    if not np.any(d):
        return SignedRanks(1.0, 0.0)
    ranks = np.rint(2 * stats.rankdata(np.abs(d))).astype(np.int64)  # doubled, so that mean ranks are whole
    balance = float(np.sign(d) @ ranks) / 2
    if d.size > MOST_EXACT:
        return SignedRanks(float(stats.wilcoxon(d, zero_method="pratt", method="asymptotic").pvalue), balance)
    counts = np.zeros(int(ranks.sum()) + 1)  # of the sign patterns by the sum of their positive ranks
    counts[0] = 1.0
    for rank in ranks[d != 0].tolist():
        counts[rank:] = counts[rank:] + counts[:-rank]
    counts = counts[: int(ranks[d != 0].sum()) + 1]
    positive = int(ranks[d > 0].sum())
    tail = min(counts[: positive + 1].sum(), counts[positive:].sum()) / counts.sum()
    return SignedRanks(float(min(1.0, 2 * tail)), balance)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for several tests [Holm1979]: below alpha, the chance of any wrong finding is at most alpha.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    scaled = np.minimum(1.0, np.asarray(p_values, np.float64)[order] * (m - np.arange(m)))
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(scaled) if m else scaled
    return [float(p) for p in adjusted]


def interval(
    values: ArrayLike,
    level: float = 0.95,
    back: Callable[[Floats], Floats] = lambda means: means,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean of values over problems [EfronTibshirani1993, 13].

    Parameters
    ----------
    values
        One value for each problem (a mean over its seeds).
    level
        The confidence level.
    back
        Function of the means, such as ``numpy.exp`` for means of logarithms.
    seed
        Seed of the resampling; the same values give the same interval.

    Returns
    -------
    (float, float)
        NaN for less than two values.
    """
    array = np.asarray(values, np.float64)
    if array.size < 2:
        return float("nan"), float("nan")
    drawn = np.random.default_rng(seed).integers(array.size, size=(RESAMPLES, array.size))
    means = back(array[drawn].mean(axis=1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
