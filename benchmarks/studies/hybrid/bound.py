"""A bound on the profit of every schedule and every node policy, idle energy included.

A replay that runs all jobs, the last of which ends at ``e``, is compared with the cheapest way to spend the energy of the
jobs over the segments of time before ``end >= e``::

    maximize    G - sum_s c[s](x[s])
    subject to  x[1] + ... + x[s] <= B[s]      for each segment s: the jobs submitted before its end, run at once
                0 <= x[s] <= u[s]              as much as these jobs can take inside of the segment, at most the machine's power
                sum_s x[s] = E                 the energy of all jobs

``G`` is the gain of all jobs, ``x[s]`` the energy of the jobs in segment s, and ``c[s]`` the cost of this energy and of the
cooling for it: convex and piecewise linear. It is a bound on the account up to the last end, because

- all jobs run, so that gain and energy of the jobs are the same in every schedule;
- energy of idle cores and of nodes that boot is at least 0, prices are at least 0, and the cooling power does not fall
  with the IT power: without that energy the account is not worse;
- the energy of the jobs in each segment keeps to the constraints, whatever nodes they use and in whatever order they run;
- segments are those of the account. The last one of a replay that ends before ``end`` is shorter, which costs more for
  the same energy, as the cooling is convex and 0 without IT power. Its mean temperature differs: segments in which a
  replay may end, from the first time on by which all jobs can have ended, have at each power the least cooling over all
  temperatures in them.

The constraints on ``x`` make a polymatroid, so that the greedy algorithm is exact: the cheapest joules first, each as
many as the constraints allow. It takes milliseconds.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from schedlab.bench.errors import WrongUse
from schedlab.instances import Instance, Workload
from schedlab.models import Cooling, Profit, StepFunction
from schedlab.models.array_types import Floats
from schedlab.models.profit.problem import JOULES, Point, segments_between

Slice = tuple[float, int, float]
"""Euro per joule, the segment, and how many joules it can take at this price."""


def check_valid(problem: Profit) -> None:
    """Raise WrongUse if the argument of this module does not hold for the data of a problem."""
    prices = problem.energy_price.values if isinstance(problem.energy_price, StepFunction) else (problem.energy_price,)
    if min(prices) < 0:
        raise WrongUse(f"the energy price falls to {min(prices):g} euro per kWh; the bound needs prices of at least 0")
    for row in problem.cooling.watts:
        if any(b < a - 1e-9 * max(row) for a, b in pairwise(row)):
            raise WrongUse(
                f"cooling {problem.cooling.name!r} falls with the IT power; the bound needs one that does not"
            )
    if any(row[0] != 0 for row in problem.cooling.watts) or problem.cooling.powers[0] != 0:
        raise WrongUse(f"cooling {problem.cooling.name!r} takes power without IT power; the bound needs 0")
    if problem.dispatch.running:
        raise WrongUse("jobs run at the begin; the bound needs a machine that is free then")


def bound_of(instance: Instance, scenario: str, end: int) -> float:
    """Return the bound in euro on the profit of all schedules whose jobs have ended by ``end`` (s).

    Parameters
    ----------
    instance : Instance
        A profit instance.
    scenario : str
        The scenario.
    end : int
        The time by which the last job has ended, in seconds.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    WrongUse
        If prices are negative, the cooling falls with the IT power or takes power without any, or jobs run at the begin;
        or if no schedule ends by this time.
    """
    return bound_of_problem(instance.scenario(scenario), end)


def bound_of_problem(problem: Profit, end: int) -> float:
    """Return the bound of ``bound_of`` for a problem."""
    check_valid(problem)
    log = Workload.of(problem.dispatch)
    submit = log.submit
    lasts = log.runtime
    watts = log.power
    cores = log.job_arrays.amounts[:, log.resources.index("cores")]
    begin = int(submit.min())
    first_end = int((submit + lasts).max())
    price = problem.energy_price
    prices = price.lasting(end) if isinstance(price, StepFunction) else StepFunction.constant(price, begin, end)
    temperature = problem.temperature.lasting(end)
    most = most_power(cores, watts, problem.platform.total("cores"))
    possible = list[float]()
    slices = list[Slice]()
    before = begin
    for k, s in enumerate(segments_between(begin, end, temperature, prices, problem.cooling)):
        curve = s.curve if s.end <= first_end else least_curve(problem.cooling, temperature, s.begin, s.end)
        inside = float(watts @ np.clip(s.end - np.maximum(before, submit), 0, lasts))
        length = s.end - s.begin
        before = s.end
        possible.append(float(watts @ np.clip(s.end - submit, 0, lasts)))
        slices += slices_of(k, curve, s.energy_price / JOULES, length, min(inside, most * length))
    cost = least_cost(slices, np.array(possible), float(watts @ lasts))
    if cost is None:
        raise WrongUse(f"the energy of all jobs cannot be spent by {end} s, so no schedule ends by then")
    return problem.price * float(cores @ lasts) / 3600 - cost


def most_power(cores: NDArray[np.int64], watts: Floats, total: int) -> float:
    """Return the greatest power in watts of jobs that fill the cores, the last one in part.

    Examples
    --------
    >>> most_power(np.array([4, 4]), np.array([40.0, 80.0]), 6)
    100.0
    """
    order = np.argsort(-watts / np.maximum(1, cores), kind="stable")
    taken = np.clip(total - (np.cumsum(cores[order]) - cores[order]), 0, cores[order])
    return float((watts[order] * taken / np.maximum(1, cores[order])).sum())


def least_curve(cooling: Cooling, temperature: StepFunction, begin: int, end: int) -> list[Point]:
    """Return at each IT power the least cooling power over all temperatures of a period, which is convex from below."""
    known = [c for *_, c in temperature.pieces(begin, end)]
    at = [min(known), max(known), *(t for t in cooling.temperatures if min(known) < t < max(known))]
    curves = [cooling.curve(t) for t in at]  # linear in between
    return convex([(points[0][0], min(w for _, w in points)) for points in zip(*curves, strict=True)])


def convex(points: list[Point]) -> list[Point]:
    """Return the greatest convex function that is nowhere above some points with increasing x.

    Examples
    --------
    >>> convex([(0, 0), (1, 2), (2, 2), (3, 6)])
    [(0, 0), (2, 2), (3, 6)]
    """
    hull: list[Point] = []
    for x, y in points:
        while len(hull) > 1:
            (a, c), (b, d) = hull[-2:]
            if (d - c) * (x - b) < (y - d) * (b - a):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def slices_of(
    segment: int, curve: list[Point] | tuple[Point, ...], euro: float, length: int, most: float
) -> list[Slice]:
    """Return the energy that a segment can take, by the price of a joule with its cooling.

    Parameters
    ----------
    segment : int
        The number of the segment.
    curve : sequence of (float, float)
        IT power and cooling power in watts.
    euro : float
        The price of a joule.
    length : int
        The length of the segment in seconds.
    most : float
        The greatest energy in joules.
    """
    slices = list[Slice]()
    left = most
    for (a, c), (b, d) in pairwise(convex(list(curve))):
        joules = min((b - a) * length, left)
        if joules > 0:
            slices.append((euro * (1 + (d - c) / (b - a)), segment, joules))
        left -= joules
    return slices


def least_cost(slices: list[Slice], possible: Floats, total: float) -> float | None:
    """Return the least cost of a total energy, by the greedy algorithm; None if it cannot be spent.

    Parameters
    ----------
    slices : list of (float, int, float)
        The price, the segment and the greatest amount of energy; of a segment the prices ascend.
    possible : ndarray of float, shape (segments,)
        The greatest energy up to the end of each segment, in joules.
    total : float
        The energy to spend in joules.

    Examples
    --------
    >>> least_cost([(1.0, 0, 5.0), (3.0, 0, 5.0), (2.0, 1, 4.0)], np.array([7.0, 20.0]), 10.0)
    16.0
    """
    room = possible.astype(np.float64)
    cost = 0.0
    left = total
    for price, segment, most in sorted(slices):
        amount = min(most, left, max(0.0, float(room[segment:].min())))
        room[segment:] -= amount
        cost = cost + price * amount
        left = left - amount
    return cost if left <= 1e-9 * total else None
