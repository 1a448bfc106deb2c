"""Prices of a relaxation as tables over time, in whole multiples of 1 / Q."""

from __future__ import annotations

import math

import numpy as np

from ...models.dispatch.job_arrays import Ints
from ..kernels.branching.bounds import FAR
from ..kernels.branching.state import Tables
from ..lagrangian.exact import WholePrices, whole_weight
from ..lagrangian.items import Items

MOST = 20_000_000  # entries, of 8 bytes


def tables_of(items: Items, prices: WholePrices) -> Tables:
    """Return the tables of prices, with as small steps as ``MOST`` allows.

    An entry bounds all times up to the next one: the least cost of a start does not fall with time, and no price is
    negative.
    """
    now, end = int(prices.points[0]), int(prices.points[-1])
    size = end - now + 1
    step = max(1, math.ceil(size * (items.duration.size + items.jobs) / MOST))
    cell = np.repeat(np.arange(prices.points.size - 1), np.diff(prices.points))
    kept = slice(0, None, step)
    together = np.concatenate([prices.together[cell], [0]])
    rest = np.cumsum(together[::-1])[::-1]
    paid = np.empty((items.duration.size, -(-size // step)), np.int64)
    least = np.empty((items.jobs, paid.shape[1]), np.int64)
    for i in range(items.duration.size):
        until = np.concatenate([[0], np.cumsum(prices.price[i][cell])])
        paid[i] = until[kept]
        if i < items.jobs:
            least[i] = _least(items, i, prices.shift, now, until)[kept]
    return Tables(step, paid, least, np.ascontiguousarray(rest[kept]))


def _least(items: Items, j: int, shift: int, now: int, until: Ints) -> Ints:
    """Return the least cost with prices of job j from each second on; ``until``: what it pays up to each second."""
    start = np.arange(now, now + until.size)
    cost = _cost(items, j, shift, start)
    cost += until[np.minimum(start - now + items.duration[j], until.size - 1)] - until
    allowed = np.zeros(start.size, bool)
    behind = FAR  # the first start after the last entry, where no price is paid
    for w in range(items.first[j], items.first[j + 1]):
        low, high = int(items.low[w]), int(items.high[w])
        allowed[max(0, low - now) : max(0, high - now + 1)] = True
        first = max(low, int(start[-1]) + 1)
        if first <= high:
            behind = min(behind, int(_cost(items, j, shift, np.array([first]))[0]))
    cost[~allowed] = FAR
    cost[-1] = min(int(cost[-1]), behind)
    found: Ints = np.minimum.accumulate(cost[::-1])[::-1]
    return found


def _cost(items: Items, j: int, shift: int, start: Ints) -> Ints:
    over = start - items.free[j]
    if items.late:
        one: Ints = (over > 0) * np.int64(1 << shift)
        return one
    found: Ints = np.maximum(0, over) * whole_weight(float(items.weight[j]), shift)
    return found
