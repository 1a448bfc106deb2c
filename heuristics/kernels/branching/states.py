"""Starting and ending items, and the states that were visited.

The future depends on the time, on the jobs that have a start, and on when which amounts become free on nodes of which kind.
Of two states that agree in all of this, the one with the higher cost is left out. They are compared by 128 bits of hashes.
"""

from __future__ import annotations

import numpy as np

from ....models.compiled import internal
from .state import Case, Now, Visited

PLACES = 8  # that are looked at for one state


@internal
def mixed(x: np.uint64) -> np.uint64:
    """Return a hash of 64 bits (the finalizer of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@internal
def run(case: Case, now: Now, i: int, sign: int) -> None:
    """Let item i take what it needs of its nodes (``sign`` 1), or give it back (-1)."""
    factor = np.uint64(sign)
    for n in range(now.put.shape[1]):
        units = now.put[i, n]
        if units == 0:
            continue
        for r in range(now.free.shape[1]):
            now.free[n, r] -= sign * units * case.request[i, r]
        for h in range(2):
            now.node_hash[n, h] += now.item_hash[i, h] * np.uint64(units) * factor


@internal
def hash_of(case: Case, now: Now, i: int) -> None:
    """Set the hashes of an item from its end and its request."""
    value = mixed(np.uint64(now.end[i]))
    for r in range(case.request.shape[1]):
        value = mixed(value + np.uint64(case.request[i, r]))
    now.item_hash[i, 0] = value
    now.item_hash[i, 1] = mixed(value ^ np.uint64(0x9E3779B97F4A7C15))


@internal
def begin(case: Case, now: Now, j: int, time: int) -> None:
    """Start job j on the nodes in ``put``."""
    now.start[j], now.end[j] = time, time + case.duration[j]
    now.started[0] |= np.uint64(1) << np.uint64(j)
    hash_of(case, now, j)
    run(case, now, j, 1)


@internal
def withdraw(case: Case, now: Now, j: int) -> None:
    """Take back the start of job j."""
    run(case, now, j, -1)
    now.started[0] ^= np.uint64(1) << np.uint64(j)
    now.start[j], now.end[j] = -1, -1
    for n in range(now.put.shape[1]):
        now.put[j, n] = 0


@internal
def finish(case: Case, now: Now, time: int, sign: int) -> None:
    """Let all items that end at this time give back what they need (``sign`` 1), or take it again (-1)."""
    for i in range(now.end.size):
        if now.end[i] == time:
            run(case, now, i, -sign)


@internal
def visited(case: Case, now: Now, seen: Visited, time: int, cost: int) -> bool:
    """Return whether the present state was visited at no higher cost; remember it if there is a place."""
    first = mixed(now.started[0] ^ mixed(np.uint64(time)))
    second = mixed(now.started[0] + mixed(np.uint64(time + 1)))
    one, two = np.uint64(0), np.uint64(0)
    for n in range(case.kind.size):
        one += mixed(now.node_hash[n, 0] + mixed(np.uint64(case.kind[n])))
        two += mixed(now.node_hash[n, 1] ^ mixed(np.uint64(case.kind[n] + 1)))
    first = mixed(first + one) | np.uint64(1)  # 0 is an empty place
    second = mixed(second ^ two)
    places = np.uint64(seen.cost.size)
    for k in range(PLACES):
        place = (second + np.uint64(k)) % places
        if seen.key[place, 0] == 0:
            seen.key[place, 0], seen.key[place, 1], seen.cost[place] = first, second, cost
            return False
        if seen.key[place, 0] == first and seen.key[place, 1] == second:
            if seen.cost[place] <= cost:
                return True
            seen.cost[place] = cost
            return False
    return False
