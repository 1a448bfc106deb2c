"""The charts of profiles as plain data, the same on a page, in a picture and in a paper: curves from the axis to the limit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np

from ...models.words import how_many
from .measures import Curve, Goal, below_one, data_profiles, gap, performance_profiles
from .sample import Sample

MOST = 200  # points of a curve
LEAST_GAP = 1e-4  # at the left end of the axis of gaps: 0.01 %
LEAST_SECONDS = 1e-3  # at the left end of the axis of seconds


class ProfileLine(NamedTuple):
    """A step function: ``y`` (0 to 1) holds from its ``x`` to the next one; the first and the last ``x`` are the ends of the axis."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class ProfileChart(NamedTuple):
    """Step functions over a logarithmic axis.

    Attributes
    ----------
    key
        Name of a file for it.
    title
        The title or caption.
    label, share
        What the axes show.
    begin, end
        The ends of the horizontal axis.
    lines
        A line per method.
    """

    key: str
    title: str
    label: str
    share: str
    begin: float
    end: float
    lines: Sequence[ProfileLine]

    def as_json(self) -> dict[str, Any]:
        """Return the chart as JSON can represent it; ``of_json`` makes the same chart of it."""
        return self._asdict() | {"lines": [line._asdict() for line in self.lines]}

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> ProfileChart:
        """Return the chart of ``as_json``."""
        return cls(**{**data, "lines": [ProfileLine(**line) for line in data["lines"]]})


def profile_charts(sample: Sample, goal: Goal) -> list[ProfileChart]:
    """Return the performance profile, the data profile and the distribution of the gaps of a sample.

    Parameters
    ----------
    sample
        The runs.
    goal
        What the times count to.
    """
    performance = performance_profiles(sample, goal.measure)
    data = data_profiles(sample, goal.measure)
    gaps = [Curve(c.method, 100 * c.x, c.y) for c in below_one(data_profiles(sample, gap))]
    problems = how_many(len(sample.problems), "problem")
    limit = max(p.limit for p in sample.problems)
    ratio = max([2.0, *(float(c.x[-1]) for c in performance if c.x.size)])
    quickest = min([limit / 10, *(float(c.x[0]) for c in data if c.x.size)])
    first = 10.0 ** floor(log10(max(quickest, LEAST_SECONDS)))
    return [
        _chart(
            "performance-profile",
            f"Performance profile: {goal.text}; {problems}",
            f"{goal.text}: times those of the best method",
            "problems, %",
            (1.0, 1.05 * ratio),
            performance,
        ),
        _chart("data-profile", f"Data profile: {goal.text}; {problems}", goal.text, "runs, %", (first, limit), data),
        _chart(
            "gaps",
            f"Gap to the best objective known at the end; {problems}",
            "gap to the best objective known, at most, %",
            "runs, %",
            (100 * LEAST_GAP, 100.0),
            gaps,
        ),
    ]


def _chart(
    key: str, title: str, label: str, share: str, axis: tuple[float, float], curves: Sequence[Curve]
) -> ProfileChart:
    begin, end = axis
    return ProfileChart(key, title, label, share, begin, end, [_line(curve, begin, end) for curve in curves])


def _line(curve: Curve, begin: float, end: float) -> ProfileLine:
    """Return a curve from the begin to the end of the axis; what it reaches before the begin is its height there."""
    inside = np.flatnonzero((curve.x > begin) & (curve.x <= end))
    chosen = inside[np.unique(np.linspace(0, max(0, inside.size - 1), min(MOST, inside.size)).astype(np.int64))]
    x = [begin, *curve.x[chosen].tolist(), end]
    y = [curve.at(begin), *curve.y[chosen].tolist(), curve.at(end)]
    return ProfileLine(curve.method, [_six_digits(v) for v in x], [_six_digits(v) for v in y])


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}")
