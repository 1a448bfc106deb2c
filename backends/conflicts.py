"""Find which constraints of an infeasible model cannot hold together, within a time limit and until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable

from .base import Compiled, Conflict, Limits, Outcome, Watch
from .interrupts import INTERRUPTED
from .solver_thread import ThreadedRun

CONFLICT_SECONDS = 5.0  # greatest wall time of the search for a conflict


def explain(compiled: Callable[[], Compiled], began: float, limits: Limits) -> Conflict:
    """Return the conflict that the backend finds, in a thread of its own because it may exceed its time limit."""
    left = CONFLICT_SECONDS
    if limits.time is not None:
        left = min(left, limits.time - (time.perf_counter() - began))
    found: list[Conflict] = []

    def work(_: Watch) -> Outcome:
        found.append(compiled().conflict(left))
        return Outcome("unknown")

    if left > 0:
        threaded = ThreadedRun(work, work, lambda: None)
        threaded.run(time.perf_counter() + left)
        if threaded.interrupted:
            return Conflict(None, INTERRUPTED)
    return found[0] if found else Conflict(None, "no time was left to look for the constraints in conflict")
