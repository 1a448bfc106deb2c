"""The progress of a replay, and the check at its end that all jobs have started."""

from __future__ import annotations

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
