"""The time that a search reserves for the starts of postponed jobs (``models.profit.left_out``)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..clock import Clock
from ..kernels.placement import POSTPONED
from ..kernels.profile import Ints

if TYPE_CHECKING:
    from ..arrays import Arrays


def reserve_for_postponed(clock: Clock, arrays: Arrays, starts: Ints, nodes: Ints) -> None:
    """Stop the search earlier by the time that ``with_rest`` takes, measured on a first placement.

    Parameters
    ----------
    clock
        The clock of the search.
    arrays
        The arrays of the problem.
    starts
        Start of each job in seconds, shape (jobs,); ``POSTPONED`` for a job without a start.
    nodes
        Node index of each unit, shape (units of all jobs,).
    """
    if (starts == POSTPONED).any():
        began = time.perf_counter()
        arrays.schedule(starts, nodes)
        clock.reserve(time.perf_counter() - began)
