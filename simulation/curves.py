"""Step functions over the time of a replay: how many jobs wait, how much of a resource is used.

A curve is two arrays, ``times`` (seconds, increasing) and ``values``: from ``times[k]`` on, until ``times[k + 1]``, the value
is ``values[k]``; before the first time it is 0. All that happens at one moment is in one step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..backends import UnknownName

if TYPE_CHECKING:
    from .engine.simulation import Simulation

Ints = NDArray[np.int64]


def queue_length(simulation: Simulation) -> tuple[Ints, Ints]:
    """(times, jobs waiting): submitted and not started; a job that never starts waits for ever."""
    return waiting(simulation.workload.submit, simulation.start)


def utilisation(simulation: Simulation, resource: str) -> tuple[Ints, Ints]:
    """(times, used amount of a resource of the platform). Raises UnknownName for a resource that it has not."""
    s = simulation
    if resource not in s.platform.resources:
        raise UnknownName("resource", resource, list(s.platform.resources))
    column = s.workload.request[:, s.workload.resources.index(resource)]
    return in_use(s.start, s.end, s.workload.units * column)


def waiting(submit: Ints, start: Ints) -> tuple[Ints, Ints]:
    """How many jobs wait; ``start`` -1: never started.

    >>> [a.tolist() for a in waiting(np.array([0, 0, 5]), np.array([0, 10, 10]))]
    [[0, 5, 10], [1, 2, 0]]
    """
    began = start[start >= 0]
    return _steps(np.concatenate([submit, began]), np.repeat([1, -1], [len(submit), len(began)]))


def in_use(start: Ints, end: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """How much is used by jobs that hold ``amount`` from start to end; those without a start or end (-1) hold nothing.

    >>> [a.tolist() for a in in_use(np.array([0, 10, -1]), np.array([10, 12, -1]), np.array([4, 2, 1]))]
    [[0, 10, 12], [4, 2, 0]]
    """
    done = (start >= 0) & (end >= 0)
    amount = amount[done]
    return _steps(np.concatenate([start[done], end[done]]), np.concatenate([amount, -amount]))


def _steps(times: Ints, changes: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(times, kind="stable")
    times, values = times[order], np.cumsum(changes[order])
    last = np.append(np.diff(times) > 0, True) if times.size else np.zeros(0, np.bool_)
    return times[last], values[last]
