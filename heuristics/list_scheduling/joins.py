"""Joins of two orders of a profit problem: one order until a time, another one after it.

The profit of a schedule is a sum over the segments of the ledger. One order may use the machine best in the first hours,
when few jobs have been released, and another one, which prefers low power, may be best when there is too much work.

1. For each order, sum up the profit of its schedule from the begin to the end of each segment.
2. The estimate of a join is the profit of the first order's schedule before a segment's begin, plus that of the second
   order's schedule after it. Take the join with the best estimate that was not tried.
3. Place the jobs that the first order starts before that time in the first order, then all others in the second one.
4. Add the result to the orders. Stop when no estimate is better than the best order, or the best estimates are those of
   joins that were tried. With all joins, the kept orders are alike, and the search from them ends 0.1 % worse on average
   (`profit_medium`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Arrays
from ..kernels.earnings import profits
from ..kernels.profile import Floats, Ints

GAP = 10.0  # between the keys of the two parts, so that changes of keys seldom mix them
LEAST = 1e-5  # least estimated improvement, as a share of the best profit


class Tried(NamedTuple):
    """An order that was tried: random keys, and the start of each job in seconds (below 0: none), shape (jobs,) each."""

    keys: Floats
    starts: Ints


class Joins:
    """The orders of a profit problem that were tried, and their joins.

    Parameters
    ----------
    arrays
        The problem.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.ledger, self.duration = arrays.costs.ledger, arrays.jobs.duration
        segments = self.ledger.euro_per_joule.size
        self.orders: list[Tried] = []
        self.earned = np.zeros((0, segments + 1))  # profit before the begin of each segment and in all, of each order
        self.tried: set[tuple[float, float]] = set()
        self._joules = np.empty(segments)

    def add(self, keys: Floats, starts: Ints) -> None:
        """Add an order, unless its schedule earns the same as another one in each segment."""
        found = np.zeros(self._joules.size + 1)
        profits(self.ledger, self.duration, starts, self._joules, found[1:])
        earned = np.cumsum(found)
        if not (self.earned == earned).all(axis=1).any():
            self.orders.append(Tried(keys, starts))
            self.earned = np.vstack([self.earned, earned])

    def best(self) -> Floats | None:
        """Return the keys of the join with the best estimate, once.

        None if none is better than the best order, or if of the best estimates, one more than joins were tried, all belong
        to these.
        """
        if len(self.orders) < 2:
            return None
        whole = self.earned[:, -1]
        after = whole[:, None] - self.earned
        estimate = self.earned[:, None, :] + after[None, :, :]  # first order, second order, segment
        least = whole.max() + LEAST * abs(whole.max())
        for at in np.argsort(-estimate, axis=None)[: len(self.tried) + 1]:
            first, second, segment = np.unravel_index(at, estimate.shape)
            parts = (float(self.earned[first, segment]), float(after[second, segment]))
            if estimate[first, second, segment] <= least:
                return None
            if parts not in self.tried:
                self.tried.add(parts)
                return joined(self.orders[first], self.orders[second], int(self.ledger.bound[segment]))
        return None


def joined(first: Tried, second: Tried, time: int) -> Floats:
    """Return keys that sort the jobs which the first order starts before ``time`` (seconds) first, then the others.

    Parameters
    ----------
    first
        The order of the jobs that it starts before the time.
    second
        The order of all other jobs.
    time
        The time in seconds.
    """
    early = (first.starts >= 0) & (first.starts < time)
    keys = second.keys.copy()
    if early.any() and not early.all():
        keys[early] = first.keys[early] - first.keys[early].max() + second.keys[~early].min() - GAP
    return keys
