"""Forecasts without a model: the jobs of the day before, of the week before, and those that will come."""

from __future__ import annotations

import numpy as np

from ...instances.workload import Workload
from ...models.excerpt import with_short_repr
from .forecast import DAY, EmptyForecast, moved


@with_short_repr
class _Shifted:
    """A forecast that repeats the jobs of an earlier period.

    Parameters
    ----------
    name : str
        The name.
    every : int
        The period is moved by a multiple of these seconds: the least one that reaches into the past.
    """

    def __init__(self, name: str, every: int) -> None:
        self.name, self._every = name, every

    def begin(self, workload: Workload) -> None:
        """Keep nothing of the log."""

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        """Return the jobs of the earlier period, moved to [now, end)."""
        shift = self._every * -(-(end - now) // self._every)
        there = (history.submit >= now - shift) & (history.submit < end - shift)
        if not there.any():
            first = int(history.submit[0])
            why = f"; the history begins at {first} s" if first > now - shift else ""
            raise EmptyForecast(
                f"the forecast {self.name} of {now} s to {end} s repeats {now - shift} s to {end - shift} s, "
                f"in which no job was submitted{why}"
            )
        return moved(history, there, history.submit[there] + shift)


class Persistence(_Shifted):
    """The submissions of the last 24 h again; for a longer period those of the last whole days [Bridi2018, 7.7]."""

    def __init__(self) -> None:
        super().__init__("persistence", DAY)


class Weekly(_Shifted):
    """The submissions of the same weekdays of the week before."""

    def __init__(self) -> None:
        super().__init__("weekly", 7 * DAY)


@with_short_repr
class Perfect:
    """The jobs that will come, with their runtimes: an upper bound on what a forecast is worth."""

    name = "perfect"

    def begin(self, workload: Workload) -> None:
        """Keep the log."""
        self._log = workload

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        """Return the jobs of the log in [now, end)."""
        there = (self._log.submit >= now) & (self._log.submit < end)
        if not there.any():
            raise EmptyForecast(f"the forecast perfect: no job is submitted from {now} s to {end} s")
        return moved(self._log, there, self._log.submit[np.flatnonzero(there)])
