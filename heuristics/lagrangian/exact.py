"""The bound of given prices in whole numbers: no rounding error can make it too large.

The prices are rounded down to multiples of 1 / Q, a power of two; any prices that are not negative give a bound. The weights
of the objective are rounded down to multiples of 1 / Q, too. All further numbers are integers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...models.dispatch.job_arrays import Floats, Ints
from ...models.whole_numbers import rational
from .grid import candidate_starts
from .items import Items
from .rows import Rows
from .sets import Sets

BITS = 61  # sums stay below 2^61


class WholePrices(NamedTuple):
    """Prices in multiples of 1 / Q, as prices of the items themselves.

    Parameters
    ----------
    shift : int
        log2 of Q.
    points : array of int, shape (cells + 1,)
        Grid points in seconds.
    price : array of int, shape (items, cells)
        What each item pays per second.
    together : array of int, shape (cells,)
        At least what all items that run together pay per second.
    """

    shift: int
    points: Ints
    price: Ints
    together: Ints


def whole_prices(
    items: Items, points: Ints, rows: Rows, sets: Sets, row_price: Floats, set_price: Floats
) -> WholePrices:
    """Round prices down to multiples of 1 / Q.

    Parameters
    ----------
    items : Items
        The jobs and running jobs.
    points : array of int, shape (cells + 1,)
        Grid points in seconds.
    rows, sets
        The rows and the maximal sets of items.
    row_price : array of float, shape (rows, cells)
        Price per second of a unit of each row; negative ones count as 0.
    set_price : array of float, shape (members, cells)
        Price per second of each item of the sets; negative ones count as 0.
    """
    shift = _shift(items, points, rows, row_price, set_price)
    prices, members = (np.floor(np.maximum(0.0, p) * 2.0**shift).astype(np.int64) for p in (row_price, set_price))
    price = (rows.a.T @ prices)[items.kind]
    price[sets.items] += members
    together = rows.b @ prices
    if sets.first.size > 1:
        together = together + np.add.reduceat(members[sets.member], sets.first[:-1], axis=0).max(axis=0)
    return WholePrices(shift, points, price, together)


def exact_bound(items: Items, prices: WholePrices) -> Fraction:
    """Return the bound of prices on the cost of all schedules."""
    total = sum(_least(items, i, prices) for i in range(items.duration.size))
    length = np.diff(prices.points)
    total -= sum(int(p) * int(n) for p, n in zip(prices.together, length, strict=True))
    return Fraction(total, 1 << prices.shift) + Fraction(rational(items.constant))


def whole_weight(weight: float, shift: int) -> int:
    """Return a weight of the objective in multiples of 1 / Q, rounded down."""
    return int(Fraction(rational(weight)) * (1 << shift))


def _shift(items: Items, points: Ints, rows: Rows, row_price: Floats, set_price: Floats) -> int:
    """Return log2 of Q, so that the costs of all starts and the prices of all runs fit 64 bits."""
    span = float(max(points[-1], items.low.max(initial=0)) - points[0] + items.duration.max(initial=0))
    span += float(np.maximum(0, items.low.max(initial=0) - items.free).max(initial=0))
    dearest = float((rows.a.T @ row_price).max(initial=0.0)) + float(set_price.max(initial=0.0))
    dearest = max(dearest, float((rows.b @ row_price).max(initial=0.0)), float(set_price.sum(axis=0).max(initial=0.0)))
    most = (2.0 + span) * (dearest + float(items.weight.max(initial=0.0)) + 1e-9) + 1.0
    return max(0, min(50, BITS - math.ceil(math.log2(most))))


def _least(items: Items, i: int, prices: WholePrices) -> int:
    """Return the least cost of an item with prices, in multiples of 1 / Q."""
    points, price = prices.points, prices.price[i]
    weight = whole_weight(float(items.weight[i]), prices.shift)
    if not price.any():  # the earliest start is the cheapest
        over = int(items.low[items.first[i]] - items.free[i])
        return (over > 0) << prices.shift if items.late else weight * max(0, over)
    starts = candidate_starts(items, i, points)
    paid = np.concatenate([[0], np.cumsum(price * np.diff(points))])

    def until(time: Ints) -> Ints:
        cell = np.clip(np.searchsorted(points, time, side="right") - 1, 0, price.size - 1)
        found: Ints = paid[cell] + price[cell] * np.minimum(time - points[cell], points[cell + 1] - points[cell])
        return found

    late = starts - items.free[i]
    cost = (late > 0) * np.int64(1 << prices.shift) if items.late else weight * np.maximum(0, late)
    return int((cost + until(starts + items.duration[i]) - until(starts)).min())


def rounded_down(bound: Fraction) -> float:
    """Return the greatest float that is not above a fraction."""
    found = float(bound)
    return found if Fraction(found) <= bound else math.nextafter(found, -math.inf)
