"""Elite schedules of a shop, their distance, and schedules between two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....kernels.profile import Floats, Ints

UNEVEN = 3.0  # exponent of the random steps of ``between``: a few large ones


class Elite(NamedTuple):
    """A schedule of a shop.

    Parameters
    ----------
    value
        Makespan.
    order
        The tasks in an order in which each one follows its predecessors and the tasks before it on its machine, shape (tasks,).
    mode
        Mode of each task, shape (tasks,).
    before
        The task before each one on its machine, shape (tasks,).
    """

    value: int
    order: Ints
    mode: Ints
    before: Ints


def distance(one: Elite, other: Elite) -> int:
    """Return the number of tasks that have another mode, or another task before them on their machine."""
    return int(((one.mode != other.mode) | (one.before != other.before)).sum())


def between(one: Elite, other: Elite, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the order and the modes of a schedule between two.

    A task has the key ``(1 - share) * f(its position in one order) + share * g(its position in the other)`` with random
    increasing functions f and g. Tasks that are in the same order in both stay in this order, so that no cycle arises:
    it is a schedule on a path from one to the other that exchanges neighbours.

    Parameters
    ----------
    one, other
        The schedules.
    share
        How near it is to the other one, from 0 to 1: also the share of tasks that take their mode from it.
    rng
        Random numbers.

    Examples
    --------
    >>> a, b = (Elite(0, np.array(order), np.zeros(3, int), np.zeros(3, int)) for order in ([0, 1, 2], [1, 0, 2]))
    >>> [between(a, b, share, np.random.default_rng(1))[0].tolist() for share in (0.0, 1.0)]
    [[0, 1, 2], [1, 0, 2]]
    """
    keys = (1.0 - share) * _positions(one.order, rng) + share * _positions(other.order, rng)
    order: Ints = np.argsort(keys, kind="stable").astype(np.int64)
    return order, np.where(rng.random(order.size) < share, other.mode, one.mode)


def _positions(order: Ints, rng: np.random.Generator) -> Floats:
    """Return increasing numbers from 0 to 1 of the tasks in an order, with random distances."""
    steps = np.cumsum(rng.random(order.size) ** UNEVEN + 1e-6)
    found = np.zeros(order.size)
    found[order] = steps / steps[-1]
    return found
