"""Phase 4: the task manager chooses a start that enough nodes offer, and the nodes [Bridi2018, 5.3.2 to 5.3.5] [Bridi2016].

A node with index I offers floor(I) units of the job, or one if jobs have at most one unit per node. A start is possible
if the nodes that offer it have room for all units together.

| policy | start | nodes |
|---|---|---|
| `min-start` | the earliest one | those with the smallest index first: best fit |
| `max-prob` | the one with the greatest sum of indices over the nodes that offer it | each unit on the node with the most index left |
| `min-prob` | the one with the smallest sum | those with the smallest index first |
| `random` | any one, with equal probability | random nodes, one unit each, then a second one each, ... |

Equal starts go by time, equal nodes by number. Indices are compared and summed in millionths, as whole numbers, so that a
choice does not depend on the order of the responses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import compiled, internal
from .nodes.draws import below, mixed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MIN_START, MAX_PROB, MIN_PROB, RANDOM = 0, 1, 2, 3
NONE = -(2**63)  # no start
MILLION = 1_000_000
DENSE = 4  # seconds per entry up to which a table of all seconds is faster than sorting


@internal
def _possible(low: Ints, high: Ints, offered: Ints, weight: Ints, units: int, most: int) -> tuple[Ints, Ints, Ints]:
    """Return first start, last start and sum of the indices of each span of possible starts; at most ``most`` spans."""
    count = low.size
    opening, closing = np.argsort(low), np.argsort(high)
    begin, end, total = np.empty(2 * count, np.int64), np.empty(2 * count, np.int64), np.empty(2 * count, np.int64)
    a, b, room, weights, found = 0, 0, 0, 0, 0
    while b < count and found < most:
        t = high[closing[b]] + 1
        if a < count:
            t = min(t, low[opening[a]])
        while b < count and high[closing[b]] + 1 == t:
            room -= offered[closing[b]]
            weights -= weight[closing[b]]
            b += 1
        while a < count and low[opening[a]] == t:
            room += offered[opening[a]]
            weights += weight[opening[a]]
            a += 1
        if room < units:
            continue
        last = high[closing[b]]
        if a < count:
            last = min(last, low[opening[a]] - 1)
        begin[found], end[found], total[found] = t, last, weights
        found += 1
    return begin[:found], end[:found], total[:found]


@internal
def _possible_in(low: Ints, high: Ints, offered: Ints, weight: Ints, units: int, span: int) -> tuple[Ints, Ints, Ints]:
    """Return what ``_possible`` returns, without sorting: for ``span`` seconds that hardly exceed the number of entries."""
    origin = low.min()
    room, weights = np.zeros(span + 1, np.int64), np.zeros(span + 1, np.int64)
    for k in range(low.size):
        room[low[k] - origin] += offered[k]
        room[high[k] + 1 - origin] -= offered[k]
        weights[low[k] - origin] += weight[k]
        weights[high[k] + 1 - origin] -= weight[k]
    size = min(span, 2 * low.size)
    begin, end, total = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    found, here, sum_here = 0, 0, 0
    for t in range(span):
        here += room[t]
        sum_here += weights[t]
        if here < units:
            continue
        if found > 0 and end[found - 1] == origin + t - 1 and total[found - 1] == sum_here:
            end[found - 1] = origin + t
        else:
            begin[found], end[found], total[found] = origin + t, origin + t, sum_here
            found += 1
    return begin[:found], end[:found], total[:found]


@internal
def _start(low: Ints, high: Ints, offered: Ints, weight: Ints, units: int, policy: int, key: int) -> int:
    """Return the start that the policy chooses; NONE if there is none."""
    most, span = 1 if policy == MIN_START else 2 * low.size, high.max() - low.min() + 1
    if span < DENSE * low.size:
        begin, end, total = _possible_in(low, high, offered, weight, units, span)
    else:
        begin, end, total = _possible(low, high, offered, weight, units, most)
    if begin.size == 0:
        return NONE
    if policy == MAX_PROB:
        return int(begin[np.argmax(total)])
    if policy == MIN_PROB:
        return int(begin[np.argmin(total)])
    if policy == MIN_START:
        return int(begin[0])
    left = below(key, 0, (end - begin + 1).sum())
    for k in range(begin.size):
        seconds = end[k] - begin[k] + 1
        if left < seconds:
            return int(begin[k] + left)
        left -= seconds
    return NONE


@internal
def _fill(order: Ints, offered: Ints, units: int) -> Ints:
    """Return the units on each node: as many as each offers, in this order."""
    found = np.zeros(order.size, np.int64)
    for k in order:
        found[k] = min(units, offered[k])
        units -= found[k]
    return found


@internal
def _above(weight: Ints, offered: Ints, level: int) -> Ints:
    """Return how many units each node takes before its index falls below a level."""
    return np.maximum(0, np.minimum(offered, (weight - level) // MILLION + 1))


@internal
def _level_out(weight: Ints, offered: Ints, units: int) -> Ints:
    """Return the units on each node if each of them goes to the node with the most index left."""
    lo, hi = 0, weight.max() + 1  # at level lo there is room for all units
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if _above(weight, offered, middle).sum() >= units:
            lo = middle
        else:
            hi = middle
    found, all_of_level = _above(weight, offered, lo + 1), _above(weight, offered, lo)
    left = units - found.sum()
    for k in range(found.size):
        if left > 0 and all_of_level[k] > found[k]:
            found[k] += 1
            left -= 1
    return found


@internal
def _in_rounds(order: Ints, offered: Ints, units: int) -> Ints:
    """Return the units on each node: one each in this order, then a second one each, ..."""
    found = np.zeros(order.size, np.int64)
    while units > 0:
        for k in order:
            if units > 0 and found[k] < offered[k]:
                found[k] += 1
                units -= 1
    return found


@compiled
def choose(
    node: Ints, low: Ints, high: Ints, index: Floats, units: int, most: int, policy: int, key: int
) -> tuple[int, Ints, Ints]:
    """Return the start of a job, its nodes in ascending order, and the units on each of them.

    Parameters
    ----------
    node, low, high, index
        The offers, in the order of the nodes (``Offers``).
    units
        Number of units of the job.
    most
        Greatest number of units on one node.
    policy
        Number of the policy in ``POLICIES``.
    key
        Key of the random draws.

    Returns
    -------
    tuple
        The start, ``NONE`` and empty arrays if no start is offered by enough nodes.
    """
    weight = (index * MILLION).astype(np.int64)
    offered = np.minimum(weight // MILLION, most)
    start = _start(low, high, offered, weight, units, policy, key)
    if start == NONE:
        return start, np.empty(0, np.int64), np.empty(0, np.int64)
    here = np.flatnonzero((low <= start) & (start <= high))
    weight, offered, nodes = weight[here], offered[here], node[here]
    if policy == MAX_PROB:
        chosen = _level_out(weight, offered, units)
    elif policy == RANDOM:
        drawn = np.empty(nodes.size, np.int64)
        for k in range(nodes.size):
            drawn[k] = np.int64(mixed(key, nodes[k] + 1) >> np.uint64(1))
        chosen = _in_rounds(np.argsort(drawn), offered, units)
    else:
        chosen = _fill(np.argsort(weight, kind="mergesort"), offered, units)  # a stable sort
    used = np.flatnonzero(chosen)
    return start, nodes[used], chosen[used]
