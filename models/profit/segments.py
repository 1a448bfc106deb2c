"""Segments of a day with nearly constant temperature and a constant energy price, and their cooling curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..step_function import DAY, StepFunction
from .cooling import Cooling, Point

if TYPE_CHECKING:
    from .problem import Profit

WITHIN = 5.0  # degrees: the greatest difference of temperatures in a segment [Bridi2018, 6.5.3]
JOULES = 3.6e6  # in a kWh
STRAIGHT = 1e-10  # of the greatest cooling power: a smaller distance from a line is rounding, not a change of slope


@dataclass(frozen=True)
class Segment:
    """A part of a day with nearly constant temperature and a constant energy price.

    Parameters
    ----------
    begin, end : int
        The period [begin, end) in seconds.
    celsius : float
        The mean temperature in degrees Celsius.
    energy_price : float
        Euro per kWh.
    curve : tuple of (float, float)
        The points (IT power, cooling power) in watts.
    """

    begin: int
    end: int
    celsius: float
    energy_price: float
    curve: tuple[Point, ...] = field(repr=False)


def segments_between(
    begin: int, end: int, temperature: StepFunction, prices: StepFunction, cooling: Cooling
) -> Iterator[Segment]:
    """Yield consecutive segments, each as long as possible: within one day, at one price, within 5 degrees.

    Parameters
    ----------
    begin, end : int
        The period in seconds.
    temperature, prices : StepFunction
        Degrees Celsius, and euro per kWh.
    cooling : Cooling
        The table of the cooling power.
    """
    pieces: list[tuple[int, int, float]] = []
    at = math.nan  # the price of the pieces
    for lo, hi, price in prices.pieces(begin, end):
        for a, b, celsius in temperature.pieces(lo, hi):
            for first, last in _days(a, b):
                known = [c for *_, c in pieces] + [celsius]
                if pieces and (first == lo or first % DAY == 0 or max(known) - min(known) > WITHIN):
                    yield _segment(pieces, at, cooling)
                    pieces = []
                pieces.append((first, last, celsius))
                at = price
    if pieces:
        yield _segment(pieces, at, cooling)


def _days(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of [begin, end) between midnights."""
    while begin < end:
        midnight = (begin // DAY + 1) * DAY
        yield begin, min(end, midnight)
        begin = midnight


def _segment(pieces: Sequence[tuple[int, int, float]], price: float, cooling: Cooling) -> Segment:
    begin, end = pieces[0][0], pieces[-1][1]
    celsius = math.fsum((b - a) * c for a, b, c in pieces) / (end - begin)
    return Segment(begin, end, celsius, price, cooling.curve(celsius))


def points_to(problem: Profit, segment: Segment) -> list[tuple[float, float]]:
    """Return the points of a segment's cooling curve where its slope changes, up to the greatest power of the jobs."""
    most = problem.most_power
    inside = sum(p[0] < most for p in segment.curve)
    return _bends(
        segment.curve[: max(1, inside) + 1]
    )  # at least one piece, also for no jobs and for jobs without power


def _bends(curve: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first and last point, and those at which the curve changes its slope."""
    off = STRAIGHT * max(abs(y) for _, y in curve)
    kept = [curve[0]]
    last = 0
    for k in range(2, len(curve)):
        (x0, y0), (x1, y1) = curve[last], curve[k]
        between = curve[last + 1 : k]
        if any(abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y) > off for x, y in between):
            last = k - 1
            kept.append(curve[last])
    return [*kept, curve[-1]]
