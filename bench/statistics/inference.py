"""Tests and intervals: Wilcoxon's test and Holm's correction, the bootstrap over problems, and over the days of a log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...models.array_types import Floats, Ints
from ...models.step_function import DAY

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


# --- Figures of the jobs of a log with intervals: a moving-block bootstrap over days, as the waits of jobs near in time depend on each other.

WEEK = 7  # days: blocks of whole weeks keep the rhythm of nights and weekends
RESAMPLES_OF_LOG = 1000
LEAST_SLICES = 8  # slices of a log; a shorter log is divided into this many
TOGETHER = 64  # resamples that are computed at a time, which limits the memory


@dataclass(frozen=True, eq=False)
class Blocks:
    """A log whose time is divided into slices, and resamples of the slices in blocks [Kunsch1989].

    Jobs belong to the slice in which they were submitted. A resample draws blocks of consecutive slices, which may
    overlap, until it has as many slices as the log. All figures of all dispatchers on a log use the same resamples, so
    that differences are paired.

    Parameters
    ----------
    first : int
        The begin of the first slice, in seconds.
    counts : ndarray of float, shape (resamples, slices)
        How often each slice is in each resample.
    seconds : int
        The length of a slice.
    length : int
        The slices of a block.

    Examples
    --------
    >>> import numpy as np
    >>> hourly = Blocks.of(np.arange(0, 60 * 86_400, 3600))
    >>> hourly.counts.shape, hourly.length, hourly.seconds, hourly.counts.sum(axis=1).max()
    ((1000, 60), 7, 86400, np.float64(60.0))
    """

    first: int
    counts: Floats
    seconds: int
    length: int

    @classmethod
    def of(cls, submit: Ints, seed: int = 0) -> Blocks:
        """Divide the time of a log and draw the resamples.

        Slices are days; a log of less than 8 days is divided into 8 slices. A block is a week if there are at least four
        weeks, else about the cube root of the number of slices [Hall1995].

        Parameters
        ----------
        submit : ndarray of int64, shape (jobs,)
            Submit times in seconds.
        seed : int
            Seed of the resamples; the same jobs and seed give the same resamples.
        """
        first = int(submit.min()) if submit.size else 0
        span = int(submit.max()) - first + 1 if submit.size else 1
        seconds = DAY if span >= LEAST_SLICES * DAY else -(-span // LEAST_SLICES)
        slices = -(-span // seconds)
        length = WEEK if seconds == DAY and slices >= 4 * WEEK else max(1, round(slices ** (1 / 3)))
        drawn = np.random.default_rng(seed).integers(slices - length + 1, size=(RESAMPLES_OF_LOG, -(-slices // length)))
        each = (drawn[:, :, None] + np.arange(length)).reshape(RESAMPLES_OF_LOG, -1)[:, :slices]
        flat = each + slices * np.arange(RESAMPLES_OF_LOG)[:, None]
        counts = np.bincount(flat.ravel(), minlength=RESAMPLES_OF_LOG * slices).reshape(RESAMPLES_OF_LOG, slices)
        return cls(first, counts.astype(np.float64), int(seconds), length)

    def slices(self, submit: Ints) -> Ints:
        """Return the slice of each job by its submit time in seconds."""
        return np.clip((submit - self.first) // self.seconds, 0, self.counts.shape[1] - 1)

    @property
    def text(self) -> str:
        """What is resampled, for people."""
        slices = self.counts.shape[1]
        days = self.seconds / DAY
        unit = "day" if self.seconds == DAY else f"{days:.2g} days"
        blocks = unit if self.length == 1 else f"{self.length} x {unit}"
        return f"{slices} slices of a log, in blocks of {blocks}"

    def means(self, submit: Ints, values: Floats) -> Floats:
        """Return the mean of a value per job in each resample, shape (resamples,); NaN without jobs."""
        place = self.slices(submit)
        sums = np.bincount(place, values, self.counts.shape[1])
        numbers = np.bincount(place, minlength=self.counts.shape[1])
        with np.errstate(invalid="ignore"):
            return np.asarray((self.counts @ sums) / (self.counts @ numbers), np.float64)

    def quantiles(self, submit: Ints, values: Floats, q: float) -> Floats:
        """Return a quantile of a value per job in each resample, shape (resamples,); NaN without jobs."""
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        place = self.slices(submit)[order]
        quantiles = np.full(len(self.counts), np.nan)
        if not values.size:
            return quantiles
        for begin in range(0, len(self.counts), TOGETHER):
            reached = np.cumsum(self.counts[begin : begin + TOGETHER, place], axis=1)
            at = (reached < q * reached[:, -1:]).sum(axis=1)
            known = reached[:, -1] > 0
            quantiles[begin : begin + TOGETHER][known] = ordered[at[known]]
        return quantiles

    def jain(self, submit: Ints, values: Floats, group: Ints) -> Floats:
        """Return Jain's index of the groups' means in each resample, shape (resamples,); see ``jain_index``."""
        groups, code = np.unique(group, return_inverse=True)
        width = self.counts.shape[1]
        at = code.reshape(-1) * width + self.slices(submit)
        size = groups.size * width
        sums = self.counts @ np.bincount(at, values, size).reshape(groups.size, width).T
        numbers = self.counts @ np.bincount(at, minlength=size).reshape(groups.size, width).T
        return jain_index(np.divide(sums, numbers, out=np.zeros_like(sums), where=numbers > 0))

    @staticmethod
    def interval(resampled: Floats, level: float = 0.95) -> tuple[float, float]:
        """Return the percentile interval of a figure from its values in the resamples; NaN if none is known."""
        known = resampled[np.isfinite(resampled)]
        if not known.size:
            return float("nan"), float("nan")
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def jain_index(means: Floats) -> Floats:
    """Return ``(sum x)^2 / (n sum x^2)`` along the last axis [Jain1984]; 0 stands for a group without jobs, which is left out.

    It is 1 if all groups fare alike, and 1 / n if one group has all of it.

    Examples
    --------
    >>> float(jain_index(np.array([2.0, 2.0, 2.0]))), float(jain_index(np.array([1.0, 3.0])))
    (1.0, 0.8)
    """
    number = np.count_nonzero(means, axis=-1)
    squares = number * np.square(means).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.square(means.sum(axis=-1)) / squares, np.float64)
