"""The ways to put a job on nodes, without those that differ by an exchange of equal nodes."""

from __future__ import annotations

import numpy as np

from ....models.compiled import internal
from ..profile import Ints
from .state import Case, Now, Open


@internal
def window_opens(case: Case, j: int, time: int) -> int:
    """Return 1 if a start window of job j begins at this time, 0 if this time is inside of one, -1 otherwise."""
    for w in range(case.first[j], case.first[j + 1]):
        if case.low[w] <= time <= case.high[w]:
            return 1 if case.low[w] == time else 0
    return -1


@internal
def fits(case: Case, now: Now, j: int) -> bool:
    """Return whether the units of job j fit the free nodes; fill ``fit``."""
    total = 0
    for n in range(now.fit.size):
        most = case.units[j]
        for r in range(now.free.shape[1]):
            if case.request[j, r] > 0:
                most = min(most, now.free[n, r] // case.request[j, r])
        now.fit[n] = most
        total += most
    enough: bool = total >= case.units[j]
    return enough


@internal
def _equal(case: Case, now: Now, n: int, other: int) -> bool:
    """Return whether two nodes can be exchanged."""
    if case.kind[n] != case.kind[other] or now.node_hash[n, 0] != now.node_hash[other, 0]:
        return False
    for r in range(now.before.shape[1]):
        if now.before[n, r] != now.before[other, r]:
            return False
    same: bool = now.node_hash[n, 1] == now.node_hash[other, 1]
    return same


@internal
def _was_blocked(case: Case, now: Now, j: int, units: Ints) -> bool:
    """Return whether the job did not fit these nodes just before the last event; if it did, it can start earlier."""
    for n in range(units.size):
        for r in range(now.before.shape[1]):
            if units[n] * case.request[j, r] > now.before[n, r]:
                return True
    return False


@internal
def pile_up(case: Case, now: Now, stack: Open, j: int, opens: bool) -> int:
    """Put the placements of a job that fits on the pile and return their number; -1 if the pile is too small.

    Units are given to the nodes one after another, of equal nodes to the later one at most as many as to the earlier
    one. If no window opens, placements to which the job can be moved forward in time are left out.
    """
    nodes = now.fit.size
    units, left = np.zeros(nodes, np.int64), np.zeros(nodes + 1, np.int64)
    left[0] = case.units[j]
    top, n = stack.top[0], 0
    units[0] = min(now.fit[0], left[0]) + 1
    while n >= 0:
        units[n] -= 1
        if units[n] < 0:
            n -= 1
            continue
        left[n + 1] = left[n] - units[n]
        if n < nodes - 1:
            n += 1
            most = min(now.fit[n], left[n])
            for other in range(n):
                if units[other] < most and _equal(case, now, n, other):
                    most = units[other]
            units[n] = most + 1
        elif left[nodes] == 0 and (opens or _was_blocked(case, now, j, units)):
            if top == stack.pile.shape[0]:
                return -1
            for m in range(nodes):
                stack.pile[top, m] = units[m]
            top += 1
    found: int = top - stack.top[0]
    stack.top[0] = top
    return found
