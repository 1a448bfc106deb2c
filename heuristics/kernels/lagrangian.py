"""Compiled loops of the Lagrangian relaxation: the cheapest starts under prices, and the minimization of the dual."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.compiled import compiled

# --- Minimization of a smooth convex function of variables that are at least 0: projected L-BFGS [Bertsekas1982].
#
# A step goes from x along the direction of L-BFGS [Liu1989] in the free variables, and is projected onto x >= 0. A variable
# is fixed for one step if it is 0 and its derivative is positive. The step is halved until the function falls enough.

KEPT = 12  # pairs of steps and changes of the gradient
ENOUGH = 1e-4  # the least decrease, as a share of what the slope promises
HALVINGS = 25
TOLERANCE = 1e-8  # relative decrease of the function over PATIENCE steps below which the search ends
PATIENCE = 10


@compiled
def _direction(
    x: Floats, slope: Floats, steps: Floats, changes: Floats, newest: int, kept: int, found: Floats
) -> float:
    """Write the direction of L-BFGS in the free variables; return its derivative along the function."""
    n = x.size
    weight = np.zeros(KEPT)
    curve = np.zeros(KEPT)
    for i in range(n):
        found[i] = 0.0 if x[i] <= 0.0 and slope[i] > 0.0 else -slope[i]
    last = -1
    for h in range(kept):
        p = (newest - h) % KEPT
        inner = 0.0
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                curve[p] += steps[p, i] * changes[p, i]
                inner += steps[p, i] * found[i]
        if curve[p] <= 1e-300:
            continue
        if last < 0:
            last = p
        weight[p] = inner / curve[p]
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                found[i] -= weight[p] * changes[p, i]
    if last >= 0:
        square = 0.0
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                square += changes[last, i] * changes[last, i]
        for i in range(n):
            found[i] *= curve[last] / square
    for h in range(kept - 1, -1, -1):
        p = (newest - h) % KEPT
        if curve[p] <= 1e-300:
            continue
        inner = 0.0
        for i in range(n):
            inner += changes[p, i] * found[i]
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                found[i] += (weight[p] - inner / curve[p]) * steps[p, i]
    down = 0.0
    for i in range(n):
        down += found[i] * slope[i]
    return down


def minimize(function: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int) -> Floats:
    """Return the best point that at most ``steps`` steps find.

    Parameters
    ----------
    function
        Returns the value and a new array with the gradient.
    x
        Where to start, at least 0, shape (variables,).
    steps
        The maximum number of steps.
    """
    x = np.maximum(0.0, x)
    value, slope = function(x)
    moved = np.zeros((KEPT, x.size))
    changed = np.zeros((KEPT, x.size))
    direction = np.empty(x.size)
    kept = 0
    newest = -1
    past = [value]
    for _ in range(steps):
        down = _direction(x, slope, moved, changed, newest, kept, direction)
        if kept > 0 and not down < 0.0:
            kept = 0
            down = _direction(x, slope, moved, changed, newest, kept, direction)
        if not down < 0.0:
            break
        length = 1.0
        if not kept:
            length = min(1.0, 0.1 * max(1.0, float(np.abs(x).sum())) / float(np.abs(direction).sum()))
        for _ in range(HALVINGS):
            there = np.maximum(0.0, x + length * direction)
            reached, new_slope = function(there)
            if reached <= value + ENOUGH * float(((there - x) * slope).sum()):
                break
            length *= 0.5
        else:
            if kept == 0:
                break
            kept = 0
            continue
        newest = (newest + 1) % KEPT
        moved[newest] = there - x
        changed[newest] = new_slope - slope
        kept = min(KEPT, kept + 1)
        x = there
        value = reached
        slope = new_slope
        past.append(value)
        if len(past) > PATIENCE and past[-PATIENCE - 1] - value <= TOLERANCE * max(1e-300, abs(value)):
            break
    return x


# --- The cheapest starts of jobs under prices per cell of time, and the dearest sets of jobs in each cell.
#
# Both are smoothed: with a temperature tau > 0, a minimum of c is replaced by ``-tau log sum exp(-c / tau)``, a maximum
# likewise. The smoothed function is differentiable, and its gradient is a weighted mean of the usage of all candidates.

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
        k = kind[i]
        d = duration[i]
        low = first[i]
        least, n = 1e300, 0
        for c in range(low, first[i + 1]):
            if cost[c] > least + FAR * tau:  # prices are not negative, and later starts do not cost less
                break
            a = begin[c]
            b = end[c]
            s = start[c]
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
                a = begin[low + c]
                b = end[low + c]
                s = start[low + c]
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
