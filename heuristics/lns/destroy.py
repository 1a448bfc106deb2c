"""Destroy operators of ruin and recreate: they choose the jobs that are removed from the schedule.

The operators here run in compiled code. An operator in Python is an object with ``weight`` and ``jobs``, see ``Destroy``.
Those here remove jobs near a node and a time: of some random (node, time) pairs, the one with the most free resources.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...errors import WrongValue
from ...models.arguments import checked
from ...models.excerpt import with_short_repr
from ..arrays import Placement
from ..kernels.profile import Ints
from ..kernels.ruin.destroy import AROUND, CONSECUTIVE, MOST_NODES, MOST_PAIRS, ROOM, DestroyRow


class Destroy(Protocol):
    """A destroy operator in Python."""

    @property
    def weight(self) -> float:
        """Relative frequency among the destroy operators."""
        ...

    def jobs(self, placement: Placement, rng: np.random.Generator) -> Sequence[int] | Ints:
        """Return the indices of the jobs to remove; repeated ones count once, and the first ones if there are too many.

        A mask of truth values is refused: ``numpy.flatnonzero(mask)`` makes indices of it.

        Parameters
        ----------
        placement
            The schedule as arrays, which must not be changed, with the arrays of the problem.
        rng
            Random numbers.
        """
        ...


class CompiledDestroy(ABC):
    """Base class of destroy operators in compiled code (``kernels.destroy``)."""

    weight: float

    @abstractmethod
    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""


def _pairs(number: int) -> int:
    if not 1 <= number <= MOST_PAIRS:
        raise WrongValue(f"pairs is {number}; it must be from 1 to {MOST_PAIRS}")
    return number


@with_short_repr
@checked
@dataclass(frozen=True)
class AroundTime(CompiledDestroy):
    """Remove jobs that run on some nodes around a random time, and some waiting jobs.

    Parameters
    ----------
    pairs
        Number of random (node, time) pairs of which the idlest is chosen, at most 32; 1: any node and time.
    nodes
        The jobs run on the chosen node or on some random ones: fewer than this number, at most 32.
    least_window, window_share
        The jobs run within a random distance of the chosen time: at least ``least_window`` seconds, at most
        ``window_share`` of the time range.
    jobs
        Range of the number of jobs, as in ``range``.
    waiting
        Range of the number of waiting jobs: released, but started later.
    candidates
        Number of random waiting jobs from which each one is chosen: in profit problems the one with the least power per
        profit.
    reach
        Limits where the jobs are inserted: not after the last end of the removed jobs, and not earlier than ``reach`` times
        the time from their first start to their last end before that start. Infinite: no limit.
    weight
        Relative frequency.
    """

    pairs: int = 12
    nodes: int = 12
    least_window: float = 120.0
    window_share: float = 1 / 3
    jobs: tuple[int, int] = (4, 20)
    waiting: tuple[int, int] = (1, 12)
    candidates: int = 1
    reach: float = math.inf
    weight: float = 0.3

    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""
        if not 0 <= self.nodes <= MOST_NODES:
            raise WrongValue(f"nodes is {self.nodes}; it must be from 0 to {MOST_NODES}")
        if self.least_window <= 0:
            raise WrongValue(f"least_window is {self.least_window} s; it must be above 0")
        return DestroyRow(
            AROUND,
            _pairs(self.pairs),
            self.nodes,
            self.least_window,
            self.window_share,
            *self.jobs,
            *self.waiting,
            self.candidates,
            self.reach,
        )


@with_short_repr
@checked
@dataclass(frozen=True)
class ConsecutiveStarts(CompiledDestroy):
    """Remove jobs with consecutive starts around an idle time, and some waiting jobs.

    Parameters
    ----------
    pairs
        Number of random (node, time) pairs of which the idlest is chosen, at most 32.
    jobs
        Range of the number of jobs, as in ``range``.
    waiting
        Range of the number of waiting jobs: released, but started later.
    candidates, reach
        As of ``AroundTime``.
    weight
        Relative frequency.
    """

    pairs: int = 12
    jobs: tuple[int, int] = (4, 32)
    waiting: tuple[int, int] = (0, 8)
    candidates: int = 1
    reach: float = math.inf
    weight: float = 0.3

    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""
        return DestroyRow(
            CONSECUTIVE, _pairs(self.pairs), 0, 0.0, 0.0, *self.jobs, *self.waiting, self.candidates, self.reach
        )


@with_short_repr
@checked
@dataclass(frozen=True)
class RoomForWaiting(CompiledDestroy):
    """Remove a job that waits at an idle time and the jobs on the nodes that it could use; insert it first.

    Parameters
    ----------
    pairs
        Number of random (node, time) pairs of which the idlest is chosen, at most 32.
    candidates
        Number of waiting jobs of which the largest one is removed.
    weight
        Relative frequency.
    """

    pairs: int = 12
    candidates: int = 6
    weight: float = 0.4

    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""
        return DestroyRow(ROOM, _pairs(self.pairs), candidates=self.candidates)


def usual_destroy(profits: bool) -> tuple[CompiledDestroy, ...]:
    """Return the default destroy operators.

    Most steps in dispatching problems remove a few jobs on one to three nodes around a random time, and at most two waiting
    jobs. Near a local optimum they gain several times as much per second as larger steps. In profit problems a job may
    wait until the horizon, so that most searches over all times find nothing: there, jobs are inserted near their old
    places, and waiting jobs with low power are preferred.

    Parameters
    ----------
    profits
        Whether they are for a profit problem.

    Returns
    -------
    tuple
        Two ``AroundTime``, a ``ConsecutiveStarts`` and a ``RoomForWaiting``.
    """
    if profits:
        return (
            AroundTime(pairs=1, nodes=8, jobs=(2, 10), waiting=(1, 3), candidates=4, reach=0.5, weight=0.5),
            AroundTime(candidates=4, reach=0.5, weight=0.2),
            ConsecutiveStarts(candidates=4, reach=0.5, weight=0.25),
            RoomForWaiting(weight=0.05),
        )
    return (
        AroundTime(pairs=1, nodes=3, jobs=(2, 10), waiting=(0, 3), weight=0.7),
        AroundTime(jobs=(2, 10), waiting=(1, 6), weight=0.15),
        ConsecutiveStarts(jobs=(3, 12), waiting=(0, 3), weight=0.1),
        RoomForWaiting(weight=0.05),
    )
