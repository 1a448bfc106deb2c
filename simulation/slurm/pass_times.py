"""When the two schedulers of Slurm look at the queue, after something has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.profile import NEVER
from ...models.array_types import Ints
from ...models.compiled import compiled, internal_borrowing
from ...models.site import SchedulerSettings

LONG_AGO = -(2**60)

# The periods.
BEGIN = 0  # the time from which they are counted
SECOND = 1  # the number of units of time in a second
MAIN_PHASE = 2
BACKFILL_PHASE = 3
MAIN_INTERVAL = 4  # sched_interval; below 1: the main scheduler never runs
MAIN_DELAY = 5  # batch_sched_delay
BACKFILL_INTERVAL = 6  # 0: the backfill scheduler never runs
PERIOD_COLUMNS = 7

# What is planned.
LAST_MAIN = 0
MAIN_DUE = 1  # NEVER: it is not planned
WHOLE_QUEUE = 2  # whether that pass takes the whole queue
BACKFILL_DUE = 3
DUE_COLUMNS = 4

# What ``plan_passes`` has planned.
NEW_MAIN = 1
NEW_BACKFILL = 2


@internal_borrowing
def _on_grid(periods: Ints, time: int, phase: int, step: int) -> int:
    """Return the first time from ``time`` on that is a multiple of ``step`` after the begin and the phase."""
    return int(time + (periods[BEGIN] + phase - time) % step)


@internal_borrowing
def plan_passes(periods: Ints, due: Ints, time: int) -> int:
    """Plan the passes that become due as something has changed at a time; return which are new."""
    new = 0
    second = periods[SECOND]
    if due[MAIN_DUE] == NEVER and periods[MAIN_INTERVAL] > 0:
        interval = periods[MAIN_INTERVAL] * second
        whole = _on_grid(periods, time, periods[MAIN_PHASE], interval)
        last = max(due[LAST_MAIN], whole - interval)
        soon = _on_grid(periods, max(time, last + periods[MAIN_DELAY] * second), periods[MAIN_PHASE], second)
        due[MAIN_DUE] = min(whole, soon)
        due[WHOLE_QUEUE] = whole <= soon
        new += NEW_MAIN
    if due[BACKFILL_DUE] == NEVER and periods[BACKFILL_INTERVAL] > 0:
        due[BACKFILL_DUE] = _on_grid(periods, time, periods[BACKFILL_PHASE], periods[BACKFILL_INTERVAL] * second)
        new += NEW_BACKFILL
    return new


@internal_borrowing
def note_main(due: Ints, time: int) -> None:
    """Note that the main scheduler runs now."""
    due[MAIN_DUE] = NEVER
    due[LAST_MAIN] = time


@internal_borrowing
def note_backfill(due: Ints) -> None:
    """Note that the backfill scheduler runs now."""
    due[BACKFILL_DUE] = NEVER


@compiled
def _plan(periods: Ints, due: Ints, time: int) -> int:
    return plan_passes(periods, due, time)


class Pass(NamedTuple):
    """A pass that is due: its time, whether it is one of the backfill scheduler, and whether it takes the whole queue."""

    time: int
    backfill: bool
    whole_queue: bool = False


class PassTimes:
    """When passes are due. Nothing is planned while nothing changes: a pass would start nothing.

    The controller looks once a second whether the main scheduler is to run: over the whole queue every sched_interval, else if
    something has happened and the last pass was batch_sched_delay ago. The backfill scheduler runs every bf_interval.

    Parameters
    ----------
    settings : SchedulerSettings
        The periods.
    begin : int
        The time from which periods are counted.
    second : int, optional
        The number of units of time in a second.
    phases : tuple of int, optional
        When in its second each of the two schedulers runs: the main one, backfill.

    Examples
    --------
    >>> times = PassTimes(SchedulerSettings(bf_interval=30, sched_interval=60, batch_sched_delay=3), begin=0)
    >>> list(times.after_change(100))
    [Pass(time=100, backfill=False, whole_queue=False), Pass(time=120, backfill=True, whole_queue=False)]
    >>> list(times.after_change(101))  # both are planned
    []
    >>> times.main_runs(100)
    >>> list(times.after_change(101))
    [Pass(time=103, backfill=False, whole_queue=False)]
    """

    def __init__(
        self, settings: SchedulerSettings, begin: int, second: int = 1, phases: tuple[int, int] = (0, 0)
    ) -> None:
        has_backfill = settings.scheduler_type == "backfill"
        self.periods: Ints = np.zeros(PERIOD_COLUMNS, np.int64)
        self.periods[BEGIN] = begin
        self.periods[SECOND] = second
        self.periods[MAIN_PHASE], self.periods[BACKFILL_PHASE] = phases
        self.periods[MAIN_INTERVAL] = settings.sched_interval
        self.periods[MAIN_DELAY] = settings.batch_sched_delay
        self.periods[BACKFILL_INTERVAL] = max(0, settings.bf_interval) if has_backfill else 0
        self.due: Ints = np.zeros(DUE_COLUMNS, np.int64)
        self.due[LAST_MAIN] = LONG_AGO
        self.due[[MAIN_DUE, BACKFILL_DUE]] = NEVER

    def after_change(self, time: int) -> Iterator[Pass]:
        """Yield the passes that become due as something has changed at a time."""
        new = _plan(self.periods, self.due, time)
        if new & NEW_MAIN:
            yield Pass(int(self.due[MAIN_DUE]), False, bool(self.due[WHOLE_QUEUE]))
        if new & NEW_BACKFILL:
            yield Pass(int(self.due[BACKFILL_DUE]), True)

    def main_runs(self, time: int) -> None:
        """Note that the main scheduler runs now."""
        self.due[MAIN_DUE] = NEVER
        self.due[LAST_MAIN] = time

    def backfill_runs(self) -> None:
        """Note that the backfill scheduler runs now."""
        self.due[BACKFILL_DUE] = NEVER
