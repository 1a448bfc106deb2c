"""Profit of a schedule: earnings of the jobs minus energy costs, per segment; ``Profit.objective`` is the definition.

profit = sum_j run(j) * gain[j]
         - sum_s price[s] * (sum_j watts[j] * run(j, s) + cooling_s(mean power in s) * length(s)),

where run(j, s) is the time in seconds that job j runs in segment s, and cooling_s is a piecewise linear curve. The jobs
that run at the begin of the problem are constant parts of the sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models import Profit
from ...models.array_types import Floats, Ints
from ...models.compiled import borrowing, internal_borrowing
from ...models.profit.problem import JOULES
from .by_address import by_address


@by_address
class Ledger(NamedTuple):
    """Prices, cooling curves and jobs of a profit problem. Times in seconds, power in watts, money in euro.

    Parameters
    ----------
    bound
        Ends of the segments, shape (segments + 1,): segment s is [bound[s], bound[s + 1]).
    euro_per_joule
        Energy price of each segment, shape (segments,).
    point
        Index of the first point of each segment's cooling curve, shape (segments + 1,).
    it, cooling
        Points of all curves, shape (points,): mean power of the jobs, and cooling power for it.
    gain
        What each job earns per second, shape (jobs,).
    watts
        Power of each job, shape (jobs,).
    running_joules
        Energy of the running jobs in each segment in joules, shape (segments,).
    running_euro
        What the running jobs earn, less the cost of their energy without cooling.
    """

    bound: Ints
    euro_per_joule: Floats
    point: Ints
    it: Floats
    cooling: Floats
    gain: Floats
    watts: Floats
    running_joules: Floats
    running_euro: float


def ledger(problem: Profit | None = None) -> Ledger:
    """Return the ledger of a problem; an empty one for None."""
    if problem is None:
        none = np.zeros(0)
        return Ledger(np.zeros(1, np.int64), none, np.zeros(1, np.int64), none, none, none, none, none, 0.0)
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
        running_joules=problem.running.joules.copy(),
        running_euro=problem.running.euro,
    )


@internal_borrowing
def first_segment(bound: Ints, t: int) -> int:
    """Return the segment of time t: 0 before the first one, the number of segments after the last one."""
    low = 0
    high = bound.size - 1
    while low < high:
        middle = (low + high) // 2
        if bound[middle + 1] > t:
            high = middle
        else:
            low = middle + 1
    return low


@internal_borrowing
def book(ledger: Ledger, j: int, start: int, end: int, sign: float, joules: Floats) -> float:
    """Add the energy of job j to the segments (sign 1) or subtract it (-1); return its earnings less energy cost.

    Parameters
    ----------
    ledger
        Prices and powers.
    j
        Index of the job.
    start, end
        Times in seconds.
    sign
        1.0 or -1.0.
    joules
        Energy of the jobs per segment in joules, shape (segments,); changed in place.
    """
    earned = 0.0
    s = first_segment(ledger.bound, start)
    while s < joules.size and ledger.bound[s] < end:
        ran = min(end, ledger.bound[s + 1]) - max(start, ledger.bound[s])
        if ran > 0:
            joules[s] += sign * ran * ledger.watts[j]
            earned += sign * ran * (ledger.gain[j] - ledger.watts[j] * ledger.euro_per_joule[s])
        s += 1
    return earned


@internal_borrowing
def cooling_cost(ledger: Ledger, s: int, joules: float) -> float:
    """Return the cooling cost in euro of segment s if the jobs use ``joules`` in it."""
    length = ledger.bound[s + 1] - ledger.bound[s]
    mean = joules / length
    k = ledger.point[s] + 1
    last = ledger.point[s + 1] - 1
    while k < last and ledger.it[k] < mean:
        k += 1
    x = ledger.it[k - 1]
    y = ledger.cooling[k - 1]
    slope = (ledger.cooling[k] - y) / (ledger.it[k] - x)
    return float((y + slope * (mean - x)) * length * ledger.euro_per_joule[s])


@internal_borrowing
def cooling_costs(ledger: Ledger, joules: Floats) -> float:
    """Return the cooling cost of all segments in euro; ``joules`` has the shape (segments,)."""
    total = 0.0
    for s in range(joules.size):
        total += cooling_cost(ledger, s, joules[s])
    return total


@borrowing
def profit(ledger: Ledger, duration: Ints, starts: Ints, joules: Floats) -> float:
    """Return the profit in euro of the running jobs and of the jobs that have a start (not below 0).

    Parameters
    ----------
    ledger
        Prices and powers.
    duration
        Duration of each job in seconds, shape (jobs,).
    starts
        Start of each job in seconds, shape (jobs,); below 0: no start.
    joules
        Output: energy of the jobs per segment in joules, shape (segments,).
    """
    for s in range(joules.size):
        joules[s] = ledger.running_joules[s]
    earned = ledger.running_euro
    for j in range(starts.size):
        if starts[j] >= 0:
            earned += book(ledger, j, starts[j], starts[j] + duration[j], 1.0, joules)
    return earned - cooling_costs(ledger, joules)


@borrowing
def profits(ledger: Ledger, duration: Ints, starts: Ints, joules: Floats, found: Floats) -> None:
    """Write the profit in euro of each segment to ``found``, without what the running jobs earn, shape (segments,).

    Parameters
    ----------
    ledger, duration, starts, joules
        As for ``profit``.
    found
        Output: the profit of each segment in euro, shape (segments,).
    """
    for s in range(joules.size):
        joules[s], found[s] = ledger.running_joules[s], 0.0
    for j in range(starts.size):
        s = first_segment(ledger.bound, starts[j])
        end = starts[j] + duration[j] if starts[j] >= 0 else -1
        while s < joules.size and ledger.bound[s] < end:
            ran = min(end, ledger.bound[s + 1]) - max(starts[j], ledger.bound[s])
            if ran > 0:
                joules[s] += ran * ledger.watts[j]
                found[s] += ran * ledger.gain[j]
            s += 1
    for s in range(joules.size):
        found[s] -= joules[s] * ledger.euro_per_joule[s] + cooling_cost(ledger, s, joules[s])
