"""When nothing can happen any more, although the calendars of waiting jobs go on opening, day after day."""

from __future__ import annotations

import numpy as np

from .state import NEXT, NOW, RUNNING, STARTED, State, TraceArrays


class Standstill:
    """Watches a replay in which nothing runs and nothing arrives any more.

    From then on only calendars open. Those of the queues open once in a day, the windows of single jobs once for all: a
    day after the last of these, everything that may ever start could have been started on the empty machine.
    """

    def __init__(self, trace: TraceArrays, state: State) -> None:
        self._trace, self._state = trace, state
        self._started = -1
        self._until: int | None = None

    def reached(self) -> bool:
        """Whether every calendar has opened since the machine was left empty. Ask at every event, or now and then."""
        clock = self._state.clock
        if clock[RUNNING] > 0 or clock[NEXT] < self._trace.order.size:
            self._until = None
            return False
        if self._until is None or clock[STARTED] != self._started:
            self._started, self._until = int(clock[STARTED]), self._last_opening()
        return int(clock[NOW]) >= self._until

    def _last_opening(self) -> int:
        """When every window that concerns a waiting job has opened, from now on."""
        trace, state = self._trace, self._state
        last, round_ = int(state.clock[NOW]), 0
        for c in np.flatnonzero(state.opened > 0).tolist():
            if trace.period[c] > 0:
                round_ = max(round_, int(trace.period[c]))
            else:
                last = max(last, int(trace.lo[trace.first_window[c] : trace.first_window[c + 1]].max()))
        return last + round_
