"""The tasks of a project as flat arrays, and the arrays of a schedule generation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..by_address import by_address
from ..profile import Ints


@by_address
class Tasks(NamedTuple):
    """The tasks of a project. Times are in the unit of the project.

    Parameters
    ----------
    before_first, before, before_delay
        Precedences to each task: those of task k are at ``before_first[k]`` to ``before_first[k + 1]``; predecessor and
        delay of each. Shapes (tasks + 1,), (precedences,), (precedences,).
    after_first, after, after_delay
        Precedences from each task: successor and delay.
    mode_first
        Modes of task k: ``mode_first[k]`` to ``mode_first[k + 1]``, shape (tasks + 1,).
    duration
        Duration of each mode, shape (modes,).
    demand_first, resource, demand
        Demands above 0 of renewable resources of each mode of duration above 0: index of the resource, amount. Shapes
        (modes + 1,), (demands,), (demands,).
    capacity
        Capacity of each renewable resource, shape (renewable resources,).
    need
        Demand of each mode of the other resources, shape (modes, other resources).
    budget
        Capacity of the other resources, shape (other resources,).
    rank
        Position of each task in a topological order, shape (tasks,).
    """

    before_first: Ints
    before: Ints
    before_delay: Ints
    after_first: Ints
    after: Ints
    after_delay: Ints
    mode_first: Ints
    duration: Ints
    demand_first: Ints
    resource: Ints
    demand: Ints
    capacity: Ints
    need: Ints
    budget: Ints
    rank: Ints

    def mirrored(self) -> Tasks:
        """Return the project in reversed time: successors are predecessors. The arrays are shared."""
        return self._replace(
            before_first=self.after_first,
            before=self.after,
            before_delay=self.after_delay,
            after_first=self.before_first,
            after=self.before,
            after_delay=self.before_delay,
            rank=self.rank.size - 1 - self.rank,
        )


@by_address
class Room(NamedTuple):
    """Arrays that a schedule generation overwrites.

    Parameters
    ----------
    times, used
        Use of each renewable resource as a step function: breakpoints, and the use from each of them to the next one, shape
        (resources, 2 * tasks + 2).
    breakpoints
        Number of breakpoints of each resource, shape (resources,).
    heap
        Tasks that wait for their turn, shape (tasks,).
    missing
        Number of predecessors that are not scheduled, shape (tasks,).
    ready
        Earliest start of each task by its scheduled predecessors, shape (tasks,).
    spent
        Total demand of the resources that are not renewable, shape (other resources,).
    """

    times: Ints
    used: Ints
    breakpoints: Ints
    heap: Ints
    missing: Ints
    ready: Ints
    spent: Ints


def new_room(tasks: Tasks) -> Room:
    """Return the arrays of schedule generations for a project."""
    n, resources = tasks.rank.size, tasks.capacity.size
    steps = np.zeros((resources, 2 * n + 2), np.int64)
    each = np.zeros(n, np.int64)
    return Room(
        steps, steps.copy(), np.zeros(resources, np.int64), each, each.copy(), each.copy(), np.zeros_like(tasks.budget)
    )
