"""Which constraints of an infeasible model cannot hold together, in a limited time and until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable

from .base import Compiled, Conflict, Limits, Outcome, Watch
from .interrupts import INTERRUPTED
from .solver_thread import Apart

CONFLICT_SECONDS = 5.0


def explain(compiled: Callable[[], Compiled], began: float, limits: Limits) -> Conflict:
    """The conflict that the backend finds; in a thread of its own, as it may overrun its time."""
    left = CONFLICT_SECONDS
    if limits.time is not None:
        left = min(left, limits.time - (time.perf_counter() - began))
    found: list[Conflict] = []

    def work(_: Watch) -> Outcome:
        found.append(compiled().conflict(left))
        return Outcome("unknown")

    if left > 0:
        apart = Apart(work, work, lambda: None)
        apart.run(time.perf_counter() + left)
        if apart.interrupted:
            return Conflict(None, INTERRUPTED)
    return found[0] if found else Conflict(None, "no time was left to look for the constraints in conflict")
