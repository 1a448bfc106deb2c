"""The cheapest starts of jobs under prices per cell of time, and the dearest sets of jobs in each cell.

Both are smoothed: with a temperature tau > 0, a minimum of c is replaced by ``-tau log sum exp(-c / tau)``, a maximum
likewise. The smoothed function is differentiable, and its gradient is a weighted mean of the usage of all candidates.
"""

from __future__ import annotations

import math

import numpy as np

from ....models.compiled import compiled
from ..profile import Floats, Ints

FAR = 20.0  # candidates worse by this many temperatures are left out: exp(-20) = 2e-9


@compiled
def cheapest_starts(
    points: Floats,
    price: Floats,
    kind: Ints,
    duration: Ints,
    first: Ints,
    start: Ints,
    cost: Floats,
    begin: Ints,
    end: Ints,
    tau: float,
    usage: Floats,
    mean: Floats,
) -> tuple[float, float]:
    """Return the sum over items of the least cost with prices, and its smoothed value.

    Parameters
    ----------
    points
        Grid points in seconds, shape (cells + 1,).
    price
        Price per second of each demand, shape (demands, cells).
    kind, duration
        Demand and seconds of each item, shape (items,).
    first, start, cost, begin, end
        The candidates (``lagrangian.grid.Candidates``).
    tau
        Temperature.
    usage
        Filled: expected seconds of the items of each demand in each cell, shape (demands, cells).
    mean
        Filled: the expected start of each item, shape (items,).
    """
    kinds, cells = price.shape
    total = np.zeros((kinds, cells + 1))
    count = np.zeros((kinds, cells + 1))
    for k in range(kinds):
        for t in range(cells):
            total[k, t + 1] = total[k, t] + price[k, t] * (points[t + 1] - points[t])
            usage[k, t] = 0.0
    most = 0
    for i in range(kind.size):
        most = max(most, first[i + 1] - first[i])
    value = np.empty(most)
    least_sum, smooth_sum = 0.0, 0.0
    for i in range(kind.size):
        k, d, low = kind[i], duration[i], first[i]
        least, n = 1e300, 0
        for c in range(low, first[i + 1]):
            if cost[c] > least + FAR * tau:  # prices are not negative, and later starts do not cost less
                break
            a, b, s = begin[c], end[c], start[c]
            v = cost[c] + total[k, b] - total[k, a]
            if a < cells and s > points[a]:
                v -= price[k, a] * (s - points[a])
            if b < cells:
                v += price[k, b] * (s + d - points[b])
            value[n] = v
            n += 1
            least = min(least, v)
        weight = 0.0
        for c in range(n):
            gap = value[c] - least
            value[c] = math.exp(-gap / tau) if gap < FAR * tau else 0.0
            weight += value[c]
        least_sum += least
        smooth_sum += least - tau * math.log(weight)
        mean[i] = 0.0
        for c in range(n):
            if value[c] > 0.0:
                share = value[c] / weight
                a, b, s = begin[low + c], end[low + c], start[low + c]
                mean[i] += share * s
                count[k, b] += share
                count[k, a] -= share
                if b < cells:
                    usage[k, b] += share * (s + d - points[b])
                if a < cells:
                    usage[k, a] -= share * (s - points[a])
    for k in range(kinds):
        running = 0.0
        for t in range(cells - 1, -1, -1):
            running += count[k, t + 1]
            usage[k, t] += running * (points[t + 1] - points[t])
    return least_sum, smooth_sum


@compiled
def dearest_sets(
    length: Floats, price: Floats, first: Ints, member: Ints, tau: float, usage: Floats
) -> tuple[float, float]:
    """Return the sum over cells of the price of the dearest set, and its smoothed value.

    Parameters
    ----------
    length
        Seconds of each cell, shape (cells,).
    price
        Price per second of each member, at least 0, shape (members, cells).
    first, member
        The sets (``lagrangian.sets.Sets``).
    tau
        Temperature.
    usage
        Filled: expected seconds of each member in each cell, shape (members, cells).
    """
    members, cells = price.shape
    sets = first.size - 1
    value = np.empty(sets)
    most_sum, smooth_sum = 0.0, 0.0
    for t in range(cells):
        for m in range(members):
            usage[m, t] = 0.0
        if sets == 0:
            continue
        most = 0.0
        for s in range(sets):
            v = 0.0
            for e in range(first[s], first[s + 1]):
                v += price[member[e], t]
            value[s] = v * length[t]
            most = max(most, value[s])
        weight = 0.0
        for s in range(sets):
            gap = most - value[s]
            value[s] = math.exp(-gap / tau) if gap < FAR * tau else 0.0
            weight += value[s]
        most_sum += most
        smooth_sum += most + tau * math.log(weight)
        for s in range(sets):
            if value[s] > 0.0:
                share = value[s] / weight * length[t]
                for e in range(first[s], first[s + 1]):
                    usage[member[e], t] += share
    return most_sum, smooth_sum
