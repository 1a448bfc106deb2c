"""When the two schedulers of Slurm look at the queue, after something has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...models.site import SchedulerSettings

LONG_AGO = -(2**60)


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
        self._settings = settings
        self._begin = begin
        self._second = second
        self._phases = phases
        self._last_main = LONG_AGO
        self._main_planned = False
        self._backfill_planned = False

    def _on_grid(self, time: int, phase: int, step: int) -> int:
        """Return the first time from ``time`` on that is a multiple of ``step`` after the begin and the phase."""
        return time + (self._begin + phase - time) % step

    def after_change(self, time: int) -> Iterator[Pass]:
        """Yield the passes that become due as something has changed at a time."""
        s = self._settings
        main, backfill = self._phases
        if not self._main_planned and s.sched_interval > 0:
            interval = s.sched_interval * self._second
            whole = self._on_grid(time, main, interval)
            last = max(self._last_main, whole - interval)
            soon = self._on_grid(max(time, last + s.batch_sched_delay * self._second), main, self._second)
            self._main_planned = True
            yield Pass(min(whole, soon), False, whole <= soon)
        if not self._backfill_planned and s.scheduler_type == "backfill" and s.bf_interval > 0:
            self._backfill_planned = True
            yield Pass(self._on_grid(time, backfill, s.bf_interval * self._second), True)

    def main_runs(self, time: int) -> None:
        """Note that the main scheduler runs now."""
        self._main_planned = False
        self._last_main = time

    def backfill_runs(self) -> None:
        """Note that the backfill scheduler runs now."""
        self._backfill_planned = False
