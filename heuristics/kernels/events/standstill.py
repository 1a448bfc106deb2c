"""Detection of the end of a replay: no waiting job can ever start, although calendars open every day."""

from __future__ import annotations

import numpy as np

from ..profile import NEVER
from .state import DUE, NEXT, NOW, RUNNING, STARTED, STOP, WAKE, State, TraceArrays


class Standstill:
    """Detects that nothing can change any more.

    When nothing runs, nothing arrives any more (a job that waits for the end of another job does not), no reservation
    begins and no state of a node changes, only calendars open. Calendars of queues open once a day, windows of
    single jobs only once. One day after the last of these windows has opened, every job that can ever start has had the
    chance to start on the empty machine.

    Parameters
    ----------
    trace
        The jobs and the places.
    state
        The state of the replay.
    """

    def __init__(self, trace: TraceArrays, state: State) -> None:
        self._trace, self._state = trace, state
        self._arrivals = trace.order.size - trace.follower.size  # jobs that arrive by themselves
        self._started = -1
        self._end: int | None = None

    def reached(self, away: int = 0) -> bool:
        """Return whether every calendar has opened since the machine became empty.

        Call it after every event or from time to time. ``away``: running rows that are no jobs.
        """
        clock = self._state.clock
        waiting = clock[RUNNING] > away or clock[DUE] > 0 or clock[NEXT] < self._arrivals
        if waiting or clock[WAKE] < NEVER or clock[STOP] < NEVER:
            self._end = None
            return False
        if self._end is None or clock[STARTED] != self._started:
            self._started, self._end = int(clock[STARTED]), self._last_opening()
        return int(clock[NOW]) >= self._end

    def _last_opening(self) -> int:
        """Return the time in seconds by which every window of a waiting job has opened."""
        trace, state = self._trace, self._state
        last, round_ = int(state.clock[NOW]), 0
        for c in np.flatnonzero(state.opened > 0).tolist():
            if trace.period[c] > 0:
                round_ = max(round_, int(trace.period[c]))
            else:
                last = max(last, int(trace.lo[trace.first_window[c] : trace.first_window[c + 1]].max()))
        return last + round_
