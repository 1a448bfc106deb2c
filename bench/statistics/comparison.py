"""Methods compared in pairs on each problem: which differences are real, by corrected tests, and scores over all pairs.

The tests are Wilcoxon's with Holm's correction; intervals come from the bootstrap over problems, or over the days of a log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...backends import UnknownName
from ...models.array_types import Bools, Floats, Ints
from ...models.step_function import DAY
from ..errors import WrongUse
from .measures import (
    ANSWERED,
    EQUAL,
    PROOF,
    STATES,
    Goal,
    Measure,
    Sample,
    State,
    by_problem,
    dual_integral,
    gap,
    gap_to_bound,
    gap_to_known,
    logs,
    penalized,
    primal_integral,
    sample_of,
)

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
    if m:
        adjusted[order] = np.maximum.accumulate(scaled)
    else:
        adjusted[order] = scaled
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
        first = 0
        if submit.size:
            first = int(submit.min())
        span = 1
        if submit.size:
            span = int(submit.max()) - first + 1
        if span >= LEAST_SLICES * DAY:
            seconds = DAY
        else:
            seconds = -(-span // LEAST_SLICES)
        slices = -(-span // seconds)
        if seconds == DAY and slices >= 4 * WEEK:
            length = WEEK
        else:
            length = max(1, round(slices ** (1 / 3)))
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
        unit = "day"
        if self.seconds != DAY:
            unit = f"{days:.2g} days"
        if self.length == 1:
            blocks = unit
        else:
            blocks = f"{self.length} x {unit}"
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


ALPHA = 0.01  # at 0.05, one of twenty comparisons of equal methods would be reported


@dataclass(frozen=True)
class ComparedQuantity:
    """A quantity in which methods are compared; smaller is better.

    Attributes
    ----------
    name
        Its name.
    values
        Function of the sample: problems x methods.
    ratio
        Whether the values are logarithms, so that the effect is a ratio and not a difference.
    """

    name: str
    values: Callable[[Sample], Floats]
    ratio: bool = False


def quantities(goal: Goal = PROOF) -> list[ComparedQuantity]:
    """Return the quantities that are compared: gap, time, primal integral."""
    return [
        ComparedQuantity("gap", lambda sample: by_problem(sample, gap)),
        ComparedQuantity("time", lambda sample: logs(sample, penalized(1, goal.measure), goal.shift), ratio=True),
        ComparedQuantity("integral", lambda sample: by_problem(sample, primal_integral)),
    ]


@dataclass(frozen=True)
class Difference:
    """The difference of two methods in a quantity.

    Attributes
    ----------
    one, other
        The methods.
    quantity
        Name of the quantity.
    values
        Mean of each: of gap and primal integral the arithmetic mean, of times the shifted geometric mean.
    effect
        Mean of ``other - one`` over the problems; of times the ratio ``other / one`` of the means (of time + shift).
    low, high
        Its bootstrap interval of level 1 - alpha.
    less, equal, more
        Number of problems on which the value of ``other`` is less, equal, more.
    better
        The method whose values tend to be less, by the sum of the signed ranks; "" if neither.
    p, adjusted
        p-value of Wilcoxon's signed-rank test; adjusted by Holm's method for all tests of the comparison.
    real
        Whether the adjusted p-value is at most alpha.
    """

    one: str
    other: str
    quantity: str
    values: tuple[float, float]
    effect: float
    low: float
    high: float
    less: int
    equal: int
    more: int
    better: str
    p: float
    adjusted: float
    real: bool

    @property
    def verdict(self) -> str:
        """Which one is better, or that no difference is shown."""
        if self.less + self.more == 0:
            return "equal"
        if not self.real:
            return "not shown"
        return f"{self.better} is better"


def compare(
    sample: Sample,
    pairs: Sequence[tuple[str, str]] | None = None,
    alpha: float = ALPHA,
    goal: Goal = PROOF,
) -> list[Difference]:
    """Compare methods in pairs, problem by problem.

    The value of a problem is the mean over its seeds, so seeds are no independent observations. Runs without an answer
    count: their gap and primal integral are 1, their time is the time limit.

    Parameters
    ----------
    sample
        The runs.
    pairs
        Pairs of methods; None: all.
    alpha
        The chance of reporting any difference where there is none, over all tests together.
    goal
        What the times count to.

    Returns
    -------
    list of Difference
        A quantity in which two methods are equal on all problems is not tested.
    """
    differences: list[Difference] = []
    for quantity in quantities(goal):
        values = quantity.values(sample)
        for one, other in combinations(sample.methods, 2) if pairs is None else pairs:
            a, b = (values[:, list(sample.methods).index(m)] for m in (one, other))
            differences.append(_difference(one, other, quantity, a, b, alpha, goal.shift))
    tested = [d for d in differences if d.less + d.more]
    adjusted = dict(zip(map(id, tested), holm([d.p for d in tested]), strict=True))
    return [replace(d, adjusted=adjusted.get(id(d), 1.0), real=adjusted.get(id(d), 1.0) <= alpha) for d in differences]


def least_problems(tests: int, alpha: float) -> int:
    """Return the least number of problems with which a difference can be shown: ``2 x 0.5^n x tests <= alpha``.

    Examples
    --------
    >>> least_problems(1, 0.05), least_problems(3, 0.01)
    (6, 10)
    """
    n = 1
    while 2 * 0.5**n * tests > alpha:
        n += 1
    return n


def two_folders(
    first: Sequence[dict[str, Any]],
    second: Sequence[dict[str, Any]],
    names: tuple[str, str],
    methods: Sequence[str] = (),
    known: dict[str, float] | None = None,
) -> tuple[Sample, list[tuple[str, str]]]:
    """Return the sample of two folders, whose methods get the folder's name, and the pairs to compare.

    Methods that both folders have are compared with each other. If each folder has one method, these two are.

    Raises
    ------
    WrongUse
        There is no method in both folders.
    UnknownName
        A method of ``methods`` is not in both.
    """
    ours, theirs = (list(dict.fromkeys(r["method"] for r in records)) for records in (first, second))
    both = [m for m in ours if m in theirs]
    for m in methods:
        if m not in both:
            raise UnknownName("method", m, both, " in both folders")
    chosen = [(m, m) for m in methods or both]
    if not chosen and len(ours) == len(theirs) == 1:
        chosen = [(ours[0], theirs[0])]
    if not chosen:
        raise WrongUse(f"{names[0]} and {names[1]} have no method in common: {', '.join(ours)}; {', '.join(theirs)}")
    records = [
        {**r, "method": f"{r['method']} in {name}"}
        for name, members, side in ((names[0], first, 0), (names[1], second, 1))
        for r in members
        if r["method"] in {pair[side] for pair in chosen}
    ]
    pairs = [(f"{a} in {names[0]}", f"{b} in {names[1]}") for a, b in chosen]
    return sample_of(records, known), pairs


def _difference(
    one: str, other: str, quantity: ComparedQuantity, a: Floats, b: Floats, alpha: float, shift: float
) -> Difference:
    d = b - a
    back = np.exp if quantity.ratio else (lambda means: means)
    low, high = interval(d, 1 - alpha, back)
    test = wilcoxon(d)
    means = float(a.mean()), float(b.mean())
    better = ""
    if test.balance != 0:
        if test.balance > 0:
            better = one
        else:
            better = other
    return Difference(
        one,
        other,
        quantity.name,
        (exp(means[0]) - shift, exp(means[1]) - shift) if quantity.ratio else means,
        float(back(d.mean())),
        low,
        high,
        int((d < -EQUAL).sum()),
        int((np.abs(d) <= EQUAL).sum()),
        int((d > EQUAL).sum()),
        better,
        test.p,
        1.0,
        False,
    )


# --- Scores of methods that compare their answers in pairs on each problem: the Borda count and the score of the MiniZinc Challenge.


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
        In the order of ``Sample.methods``.
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
