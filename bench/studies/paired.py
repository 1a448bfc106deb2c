"""Paired differences: two dispatchers on the same days, the mean difference and its confidence interval.

Days differ far more from each other than dispatchers on one day. So the difference is taken day by day, and its mean has
the interval of Student's t with n - 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

LEVEL = 0.95


class Paired(NamedTuple):
    """The mean of differences, half the width of its confidence interval, and the number of days.

    ``half`` is None for a single day.
    """

    mean: float
    half: float | None
    days: int

    @property
    def verdict(self) -> str:
        """``yes`` if the interval is above 0, ``NO`` if it is below 0, else ``open``."""
        if self.half is None or abs(self.mean) <= self.half:
            return "open"
        return "yes" if self.mean > 0 else "NO"


def paired(better: Sequence[float], worse: Sequence[float]) -> Paired:
    """Return the mean of ``worse - better`` over days, with its 95 % confidence interval.

    Parameters
    ----------
    better, worse : sequence of float
        A value for each day, in the same order of days, at least one.

    Examples
    --------
    >>> found = paired([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    >>> found.mean, round(found.half, 3), found.verdict
    (2.0, 2.484, 'open')
    """
    differences = [b - a for a, b in zip(better, worse, strict=True)]
    n = len(differences)
    half = None if n < 2 else student(n - 1) * stdev(differences) / math.sqrt(n)
    return Paired(fmean(differences), half, n)


def student(degrees: int) -> float:
    """Return t with P(abs(T) <= t) = 0.95 for Student's distribution, by bisection.

    The probability is the finite sum of Abramowitz and Stegun, 26.7.3 and 26.7.4.

    Examples
    --------
    >>> [round(student(n), 3) for n in (1, 2, 4, 30)]
    [12.706, 4.303, 2.776, 2.042]
    """
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, degrees) < LEVEL else (low, middle)
    return (low + high) / 2


def _inside(t: float, degrees: int) -> float:
    angle = math.atan(t / math.sqrt(degrees))
    term, total = (math.cos(angle), math.cos(angle)) if degrees % 2 else (1.0, 1.0)
    for k in range(2 if degrees % 2 else 1, degrees - 2, 2):
        term *= k / (k + 1) * math.cos(angle) ** 2
        total += term
    if degrees % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total * (degrees > 1))
    return math.sin(angle) * total
