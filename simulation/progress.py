"""The progress of a replay, and the check at its end that all jobs have started."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ..heuristics.kernels.events.state import WAITING
from .features.feature import Replay
from .never_started import reasons
from .result import Simulation, SimulationError

STOPPED = "stopped before its end"
SHOWN = 10  # jobs that wait forever in a message


class Progress(NamedTuple):
    """The progress of a replay: the argument of ``on_progress``.

    Parameters
    ----------
    started : int
        Number of jobs that have started.
    jobs : int
        Number of jobs in the workload.
    now : int
        Simulated time in seconds.
    seconds : float
        Wall time since the begin of the replay, in seconds.
    """

    started: int
    jobs: int
    now: int
    seconds: float


OnProgress = Callable[[Progress], Any]  # the replay stops if it returns False

BATCH = 20_000  # the most events of compiled code between two calls of on_progress
FIRST = 50  # events before its first call; a decision of a policy that searches can take many ms
TURN = 0.2  # s between two calls of on_progress, unless the events of the least batch take longer


class Batches:
    """How many events are replayed in compiled code before the next call of ``on_progress``.

    The events decide nothing about the starts: a replay in small batches has those of a replay in one.

    Parameters
    ----------
    told : bool
        Whether there is an ``on_progress`` to call.
    """

    def __init__(self, told: bool) -> None:
        self.events = FIRST if told else BATCH
        self._told, self._last = told, time.perf_counter()

    def next(self) -> None:
        """Choose the number of events of the next batch by the time that this one took."""
        now = time.perf_counter()
        took, self._last = now - self._last, now
        if self._told and took > TURN:
            self.events = max(1, self.events // 2)
        elif took < TURN / 4:
            self.events = min(BATCH, 2 * self.events)


def check_all_started(engine: Replay, found: Simulation) -> None:
    """Raise SimulationError, with a reason for each job, if jobs still wait although no event is left."""
    waiting = int(engine.state.clock[WAITING])
    if not waiting:
        return
    job = engine.workload.ids[int(engine.state.waiting[0])]
    ends = [r.true_end for r in found.workload.running]
    last = int(max(found.end.max(), found.workload.release.max(), *ends))
    why = reasons(engine)
    after = len(why) - waiting
    held = f", and {after} job{'s wait' if after > 1 else ' waits'} for the end of another job" if after else ""
    lines = [f"\n  job {name!r}: {reason}" for name, reason in why.items()]
    more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    raise SimulationError(
        f"job {job!r} waits forever: after time {last} no job runs and no job arrives, and dispatcher {engine.name} "
        f"has not started {waiting} waiting job{'s' * (waiting > 1)}{held}:{''.join(lines[:SHOWN])}{more}",
        job=job,
        time=last,
        partial=found,
        waiting=why,
    )
