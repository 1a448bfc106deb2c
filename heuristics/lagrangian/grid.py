"""Cells of time with constant prices, and the starts of each item between which its cost is linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...models.dispatch.job_arrays import Floats, Ints, offsets
from .items import Items

LOOK = 100  # items between two looks at the clock: about 10 ms


class Stopped(Exception):
    """The time limit was reached, or the caller has ended the search."""


class Candidates(NamedTuple):
    """The starts of each item at which its cost with prices may be least, in increasing order.

    Between two neighbours the cost is linear, for any prices that are constant in each cell.

    Parameters
    ----------
    first : array of int, shape (items + 1,)
        The candidates of item i are ``first[i]`` to ``first[i + 1] - 1``.
    start : array of int, shape (candidates,)
        Seconds.
    cost : array of float, shape (candidates,)
        The cost of the start without prices.
    begin, end : array of int, shape (candidates,)
        The cell in which the start and the end lie; the number of cells if they lie behind the last one.
    """

    first: Ints
    start: Ints
    cost: Floats
    begin: Ints
    end: Ints


def candidate_starts(items: Items, i: int, points: Ints) -> Ints:
    """Return the candidates of an item: where the start or the end is a grid point, where costs begin, ends of windows.

    Of the starts behind the last grid point, the earliest one of each window is kept.
    """
    duration, free = int(items.duration[i]), int(items.free[i])
    kinks = np.concatenate([points, points - duration, [free, free + 1]])
    found = []
    for lo, hi in _windows(items, i):
        inside = kinks[(kinks >= lo) & (kinks <= hi)]
        found.append(np.concatenate([[lo, hi], inside]))
        if lo >= points[-1]:
            break
    starts = np.unique(np.concatenate(found))
    return starts[: np.searchsorted(starts, points[-1]) + 1]


def candidates(items: Items, points: Ints, stopped: Callable[[], bool]) -> Candidates:
    """Return the candidates of all items on a grid; ``points``: increasing times in seconds. Raises Stopped."""
    each = []
    for i in range(items.duration.size):
        if i % LOOK == 0 and stopped():
            raise Stopped
        each.append(candidate_starts(items, i, points))
    sizes = [s.size for s in each]
    start = np.concatenate([*each, np.zeros(0, np.int64)])
    item = np.repeat(np.arange(len(each)), sizes)
    over = start - items.free[item]
    cells = points.size - 1

    def cell(time: Ints) -> Ints:
        return np.clip(np.searchsorted(points, time, side="right") - 1, 0, cells)

    return Candidates(
        offsets(sizes),
        start,
        (over > 0).astype(np.float64) if items.late else items.weight[item] * np.maximum(0, over),
        cell(start),
        cell(start + items.duration[item]),
    )


def uniform(now: int, end: int, cells: int) -> Ints:
    """Return increasing times from ``now`` to at least ``end`` in about ``cells`` equal cells, at least one."""
    step = max(1, -(-(end - now) // cells))
    return np.arange(now, max(end, now + 1) + step, step, dtype=np.int64)


def _windows(items: Items, i: int) -> list[tuple[int, int]]:
    part = slice(items.first[i], items.first[i + 1])
    return list(zip(items.low[part].tolist(), items.high[part].tolist(), strict=True))
