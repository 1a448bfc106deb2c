"""Which differences between methods are real: paired tests over problems, corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp
from typing import Any

import numpy as np

from ...backends import UnknownName
from ...models.array_types import Floats
from ..errors import WrongUse
from .inference import holm, interval, wilcoxon
from .measures import EQUAL, PROOF, Goal, by_problem, gap, logs, penalized, primal_integral
from .sample import Sample, sample_of

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
        better = one if test.balance > 0 else other
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
