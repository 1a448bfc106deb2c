"""What a schedule earns and what its energy costs, segment by segment, compiled; ``Profit.objective`` is what it means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models import Profit
from ...models.compiled import borrowing
from ...models.profit.segments import JOULES
from .profile import Floats, Ints


class Ledger(NamedTuple):
    """A profit problem: arrays over segments and jobs. Times in seconds, power in watts, money in euro.

    Segment s is ``[bound[s], bound[s + 1])``; its cooling curve has the points ``point[s] .. point[s + 1] - 1``.
    """

    bound: Ints
    euro_per_joule: Floats
    point: Ints
    it: Floats
    cooling: Floats
    gain: Floats  # of each job, per second
    watts: Floats  # of each job


def ledger(problem: Profit | None = None) -> Ledger:
    """The ledger of a problem; an empty one where profits play no part."""
    if problem is None:
        none = np.zeros(0)
        return Ledger(np.zeros(1, np.int64), none, np.zeros(1, np.int64), none, none, none, none)
    segments = problem.segments
    points = [p for s in segments for p in s.curve]
    return Ledger(
        bound=np.array([segments[0].begin, *(s.end for s in segments)], np.int64),
        euro_per_joule=np.array([s.energy_price for s in segments], float) / JOULES,
        point=np.cumsum([0, *(len(s.curve) for s in segments)]).astype(np.int64),
        it=np.array([x for x, _ in points], float),
        cooling=np.array([y for _, y in points], float),
        gain=problem.price * problem.cores / 3600,
        watts=problem.watts.copy(),
    )


@borrowing
def first_segment(bound: Ints, t: int) -> int:
    """The segment of a moment: the first one before all of them, their number after the last."""
    low, high = 0, bound.size - 1
    while low < high:
        middle = (low + high) // 2
        if bound[middle + 1] > t:
            high = middle
        else:
            low = middle + 1
    return low


@borrowing
def book(ledger: Ledger, j: int, start: int, end: int, sign: float, joules: Floats) -> float:
    """Add (sign 1) or take off (-1) the energy of job j per segment; what the job earns, its own energy paid."""
    earned = 0.0
    s = first_segment(ledger.bound, start)
    while s < joules.size and ledger.bound[s] < end:
        ran = min(end, ledger.bound[s + 1]) - max(start, ledger.bound[s])
        if ran > 0:
            joules[s] += sign * ran * ledger.watts[j]
            earned += sign * ran * (ledger.gain[j] - ledger.watts[j] * ledger.euro_per_joule[s])
        s += 1
    return earned


@borrowing
def cooling_cost(ledger: Ledger, s: int, joules: float) -> float:
    """Euro for the cooling of a segment in which the jobs take so many joules."""
    length = ledger.bound[s + 1] - ledger.bound[s]
    mean = joules / length
    k, last = ledger.point[s] + 1, ledger.point[s + 1] - 1
    while k < last and ledger.it[k] < mean:
        k += 1
    x, y = ledger.it[k - 1], ledger.cooling[k - 1]
    slope = (ledger.cooling[k] - y) / (ledger.it[k] - x)
    return float((y + slope * (mean - x)) * length * ledger.euro_per_joule[s])


@borrowing
def cooling_costs(ledger: Ledger, joules: Floats) -> float:
    """Euro for the cooling of all segments."""
    total = 0.0
    for s in range(joules.size):
        total += cooling_cost(ledger, s, joules[s])
    return total


@borrowing
def profit(ledger: Ledger, duration: Ints, starts: Ints, joules: Floats) -> float:
    """The profit of the jobs that have a start (not below 0); ``joules`` becomes the energy of work per segment."""
    joules[:] = 0.0
    earned = 0.0
    for j in range(starts.size):
        if starts[j] >= 0:
            earned += book(ledger, j, starts[j], starts[j] + duration[j], 1.0, joules)
    return earned - cooling_costs(ledger, joules)
