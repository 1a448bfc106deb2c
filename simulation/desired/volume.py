"""The volume of use above a desired profile, summed over the nodes; compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import compiled, internal

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@internal
def _above(first: Ints, time: Ints, amount: Floats, period: int, row: int, a: int, b: int, used: int) -> float:
    """Return the integral over [a, b) of what ``used`` is above the steps of a row; see ``ProfileArrays``."""
    shift = a // period * period if period > 0 else 0
    low, high = first[row], first[row + 1]
    k = low
    while k + 1 < high and time[k + 1] <= a - shift:
        k += 1
    volume = 0.0
    while a < b:
        if k + 1 < high:
            until = min(b, time[k + 1] + shift)
        else:
            until = min(b, shift + period) if period > 0 else b
        volume += max(0.0, used - amount[k]) * (until - a)
        a = until
        k += 1
        if k == high:
            k = low
            shift += period
    return volume


@compiled
def volume_above(
    order: Ints, start: Ints, end: Ints, low: Ints, high: Ints, used: Ints, begin: int, finish: int, nodes: int,
    first: Ints, time: Ints, amount: Floats, period: int, group: Ints,
) -> Floats:  # fmt: skip
    """Return the volume of use above the desired amounts in [begin, finish), for each resource, summed over the nodes.

    Parameters
    ----------
    order
        The events by time, shape (2 * pieces,): event e < pieces is the end of piece e, event pieces + e its start.
    start, end, low, high
        Times in seconds and first and last node of each piece, shape (pieces,).
    used
        What each piece uses on each of its nodes, shape (pieces, resources).
    begin, finish
        Seconds.
    nodes
        The number of nodes.
    first, time, amount, period, group
        The fields of ``ProfileArrays``.

    Returns
    -------
    ndarray of float64, shape (resources,)
        Amount times seconds.
    """
    pieces, resources = used.shape
    volume = np.zeros(resources, np.float64)
    now = np.zeros((nodes, resources), np.int64)
    since = np.full(nodes, begin, np.int64)
    for i in range(order.size):
        e = order[i]
        piece = e if e < pieces else e - pieces
        sign = -1 if e < pieces else 1
        t = min(max(end[piece] if e < pieces else start[piece], begin), finish)
        for p in range(low[piece], high[piece] + 1):
            for r in range(resources):
                if now[p, r] > 0 and since[p] < t:
                    row = group[p] * resources + r
                    volume[r] += _above(first, time, amount, period, row, since[p], t, now[p, r])
                now[p, r] += sign * used[piece, r]
            since[p] = t
    return volume
