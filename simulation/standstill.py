"""The end of a replay in which jobs still wait: nothing can happen any more that would let one start.

When nothing runs, nothing arrives (a job that waits for the end of another job does not), and the agenda has only actions
that come again and again, then only calendars open and the desired use changes, over and over. One period of all of them
after the last start window of a single job has opened, every job that can ever start has had the chance to start on the
empty machine.
"""

from __future__ import annotations

from math import lcm

import numpy as np

from ..heuristics.kernels.events.state import NOW, STARTED, WAKE
from ..heuristics.kernels.profile import NEVER
from .features.feature import Replay


class Standstill:
    """Detects the end of one replay."""

    def __init__(self, engine: Replay) -> None:
        self._engine = engine
        self._started = -1
        self._end: int | None = None

    def reached(self) -> bool:
        """Return whether everything that comes again has come since the machine became empty."""
        engine, clock = self._engine, self._engine.state.clock
        if not engine.nothing_moves or clock[WAKE] < NEVER:
            self._end = None
            return False
        if self._end is None or clock[STARTED] != self._started:
            self._started, self._end = int(clock[STARTED]), self._last_opening()
        return int(clock[NOW]) >= self._end

    def _last_opening(self) -> int:
        """Return the time in seconds by which every window of a waiting job has opened, and each period has passed."""
        trace, state = self._engine.trace, self._engine.state
        last, periods = int(state.clock[NOW]), list(self._engine.agenda.periods)
        for c in np.flatnonzero(state.opened > 0).tolist():
            if trace.period[c] > 0:
                periods.append(int(trace.period[c]))
            else:
                last = max(last, int(trace.lo[trace.first_window[c] : trace.first_window[c + 1]].max()))
        return last + (lcm(*periods) if periods else 0)
