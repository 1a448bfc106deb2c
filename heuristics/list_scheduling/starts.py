"""Given schedules in the form of the kernels, as starts of searches."""

from __future__ import annotations

import numpy as np

from ...models import Schedule
from ...models.schedule_arrays import Flat, ScheduleArrays
from ..arrays import Arrays
from ..kernels.placement import POSTPONED
from ..kernels.profile import NEVER, Ints


def start_placed(arrays: Arrays, schedule: Schedule) -> ScheduleArrays:
    """Return a feasible schedule of the problem as starts of the jobs and nodes of their units."""
    return Flat(arrays.problem).placed(schedule)


def order_of_starts(starts: Ints) -> Ints:
    """Return the indices of the jobs by their starts, postponed jobs last; ties in the problem's order."""
    return np.argsort(np.where(starts == POSTPONED, NEVER, starts), kind="stable")
