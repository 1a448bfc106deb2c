"""Bounds on the earliest starts of reservations, from the reservations that were looked at before; compiled.

A reservation of amount ``u`` and duration ``d`` that starts at ``s`` can move to a time ``t`` before ``s`` if and only if

(a) ``u`` is free in [t, s): from ``s`` on its own amount is free; or
(b) ``u`` is free in [t, t + d).

The first ``t`` of case (a) is found by going back from ``s``. For case (b), let a reservation of ``u' <= u`` and ``d' <= d``
have had the earliest start ``s'`` when it was looked at. Then ``u'`` was not free for ``d'`` from any time before ``s'``, and
neither was ``u`` for ``d``. Taking nodes keeps that true. Let ``f`` be the first time at which nodes have been freed since
then, and ``m = min(s', f)``. If case (b) holds for a ``t < m``, its ``d`` seconds contain a freed time, so ``u`` is free in
[t, m). So no ``t`` before the begin of the longest time up to ``m`` with ``u`` free needs to be tried, and if ``m >= s``, case
(b) cannot hold at all. A reservation for which neither case holds keeps its start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import internal_borrowing
from ...by_address import by_address
from ...profile import NEVER, Ints

SLOTS = 32  # reservations that are stored


@by_address
class Bounds(NamedTuple):
    """The reservations that were looked at last in this decision.

    Parameters
    ----------
    number
        Number of reservations that were looked at, shape (1,).
    amount, duration, start
        Amount, duration and earliest start in seconds of the last ones, shape (SLOTS,).
    freed
        The first time in seconds at which nodes have been freed since then; NEVER: none. Shape (SLOTS,).
    """

    number: Ints
    amount: Ints
    duration: Ints
    start: Ints
    freed: Ints


def new_bounds() -> Bounds:
    """Return arrays without reservations."""
    return Bounds(np.zeros(1, np.int64), *(np.empty(SLOTS, np.int64) for _ in range(4)))


@internal_borrowing
def bound(bounds: Bounds, amount: int, duration: int, least: int) -> int:
    """Return the greatest ``m`` of the module docstring for an amount and a duration in seconds; at least ``least``."""
    amounts, durations, start, freed = bounds.amount, bounds.duration, bounds.start, bounds.freed
    for i in range(min(SLOTS, bounds.number[0])):
        if amounts[i] <= amount and durations[i] <= duration:
            least = max(least, min(start[i], freed[i]))
    return int(least)


@internal_borrowing
def remember(bounds: Bounds, amount: int, duration: int, start: int) -> None:
    """Store the earliest start of a reservation in seconds, before it is moved there."""
    i = bounds.number[0] % SLOTS
    bounds.amount[i], bounds.duration[i], bounds.start[i], bounds.freed[i] = amount, duration, start, NEVER
    bounds.number[0] += 1


@internal_borrowing
def note_freed(bounds: Bounds, begin: int) -> None:
    """Note that nodes have been freed from ``begin`` on."""
    freed = bounds.freed
    for i in range(min(SLOTS, bounds.number[0])):
        freed[i] = min(freed[i], begin)
