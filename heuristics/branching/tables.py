"""Prices of a relaxation as tables over time, in whole multiples of 1 / Q.

The functions of time are linear between a few *corners*: the grid points of the prices, those less the duration of the job,
the time up to which a start is free, the ends of its windows. So an entry is computed from the corners behind it, and the
size of the tables does not depend on how far apart these are.
"""

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
    now = int(prices.points[0])
    points = prices.points - now
    step, time = _times(items, now, int(points[-1]) + 1)
    paid = np.empty((items.duration.size, time.size), np.int64)
    least = np.empty((items.jobs, time.size), np.int64)
    for i in range(items.duration.size):
        until = _Sum(points, prices.price[i])
        paid[i] = until(time)
        if i < items.jobs:
            least[i] = _least(items, i, prices.shift, now, until, time)
    together = _Sum(points, prices.together)
    return Tables(step, time, paid, least, together.total - together(time))


def _times(items: Items, now: int, size: int) -> tuple[int, Ints]:
    """Return the step in seconds, 0 if it is not constant, and the times of the entries, after now.

    All that jobs do happens within the sum of all durations after the begin of a window; in the other times there are no
    entries.
    """
    reach = int(items.duration.sum()) + 1
    begins = np.unique(np.clip(items.low - now, 0, size - 1))
    firsts, ends = [0], [reach]
    for begin in begins.tolist():
        if begin > ends[-1]:
            firsts.append(begin)
            ends.append(begin + reach)
        else:
            ends[-1] = max(ends[-1], begin + reach)
    ends = [min(end, size) for end in ends]
    if len(firsts) == 1:
        ends[0] = size if size <= 2 * ends[0] else ends[0]
    entries = sum(end - first for first, end in zip(firsts, ends, strict=True))
    step = max(1, math.ceil(entries * (items.duration.size + items.jobs) / MOST))
    if ends == [size]:
        return step, np.arange(0, size, step)
    parts = [np.arange(first, end, step) for first, end in zip(firsts, ends, strict=True)]
    return 0, np.unique(np.concatenate([*parts, [size - 1]]))


class _Sum:
    """What a price per second adds up to from the first point to a time; nothing is paid after the last point."""

    def __init__(self, points: Ints, price: Ints) -> None:
        self.points, self.price = points, price
        self.paid = np.concatenate([[0], np.cumsum(price * np.diff(points))])
        self.total = int(self.paid[-1])

    def __call__(self, time: Ints) -> Ints:
        inside = np.minimum(time, self.points[-1])
        cell = np.clip(np.searchsorted(self.points, inside, side="right") - 1, 0, self.price.size - 1)
        found: Ints = self.paid[cell] + self.price[cell] * (inside - self.points[cell])
        return found


def _least(items: Items, j: int, shift: int, now: int, until: _Sum, time: Ints) -> Ints:
    """Return the least cost with prices of job j from each time on; ``until``: what it pays up to each second."""
    last = int(until.points[-1])
    windows = slice(items.first[j], items.first[j + 1])
    low, high = items.low[windows] - now, items.high[windows] - now
    free = int(items.free[j]) - now
    corners = [until.points, until.points - items.duration[j], low, high, np.array([free, free + 1])]
    start = np.unique(np.concatenate([time, *corners]))
    start = start[(start >= 0) & (start <= last)]
    cost = _cost(items, j, shift, start + now) + until(start + items.duration[j]) - until(start)
    window = np.searchsorted(low, start, side="right") - 1
    cost[(window < 0) | (start > high[np.maximum(window, 0)])] = FAR
    behind = FAR  # the first start after the last point, where no price is paid
    later = np.maximum(low, last + 1)
    if (later <= high).any():
        behind = int(_cost(items, j, shift, later[later <= high][:1] + now)[0])
    cost[-1] = min(int(cost[-1]), behind)
    from_here = np.minimum.accumulate(cost[::-1])[::-1]
    found: Ints = from_here[np.searchsorted(start, time)]
    return found


def _cost(items: Items, j: int, shift: int, start: Ints) -> Ints:
    over = start - items.free[j]
    if items.late:
        one: Ints = (over > 0) * np.int64(1 << shift)
        return one
    found: Ints = np.maximum(0, over) * whole_weight(float(items.weight[j]), shift)
    return found
