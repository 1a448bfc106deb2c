"""The progress of a replay, and its end: whether all jobs have started, and why some have not."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from ..heuristics.kernels.events.state import NOW, STARTED, WAITING, WAKE
from ..heuristics.kernels.profile import NEVER
from ..models.counts import how_many
from ..models.dispatch.jobs import DAY
from .errors import SimulationError
from .features.feature import Replay
from .result import Simulation

# --- The end of a replay in which jobs still wait: nothing can happen any more that would let one start.
#
# When nothing runs, nothing arrives (a job that waits for the end of another job does not), and the agenda has only actions
# that come again and again, then only calendars open and the desired use changes, over and over. One period of all of them
# after the last start window of a single job has opened, every job that can ever start has had the chance to start on the
# empty machine.


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


# --- Why jobs still wait, or have not arrived, when no event is left.

LISTED = 3  # nodes that a reason names


def reasons(engine: Replay) -> dict[str, str]:
    """Return id -> reason of each job that waits at the end of a replay, in the order of the queue.

    Then follow the jobs that have not arrived, because a job before them has not ended.
    """
    found: dict[str, str] = {}
    rows = engine.state.waiting[: engine.state.clock[WAITING]].tolist()
    now = int(engine.state.clock[NOW])
    blocking = ""
    for j in rows:
        job = engine.workload.ids[j]
        why = engine.ledger.held_back.get(j) or _calendar_or_nodes(engine, j, now)
        strict = engine.policy is not None and engine.policy.strict
        if not why and strict and blocking:
            why = f"it waits behind job {blocking!r}, which blocks the queue"
        elif why and not blocking:
            blocking = job
        found[job] = why or _of_dispatcher(engine, job)
    return found | _held(engine, rows)


def _of_dispatcher(engine: Replay, job: str) -> str:
    """Return what the dispatcher says about a job that it could have started."""
    usual = f"dispatcher {engine.name} has not started it, although it fits on the idle nodes{_unless(engine)}"
    if "reasons" not in engine.needs:
        return usual
    own: str = engine.dispatcher.why_waiting(job)
    return own or usual


def _unless(engine: Replay) -> str:
    """Return which feature of the replay may keep a job from idle nodes, or an empty text."""
    return next((f"; {feature.keeps_waiting}" for feature in engine.features if feature.keeps_waiting), "")


def _held(engine: Replay, rows: list[int]) -> dict[str, str]:
    """Return id -> reason of the jobs that wait, directly or not, for the end of one of these jobs."""
    followers: dict[int, list[int]] = {}
    for j, (before, _) in engine.workload.after.items():
        followers.setdefault(before, []).append(j)
    found, left, ids = dict[str, str](), list(rows), engine.workload.ids
    while left:
        before = left.pop()
        for j in followers.get(before, ()):
            found[ids[j]] = f"it has not arrived: it waits for the end of job {ids[before]!r}"
            left.append(j)
    return found


def _calendar_or_nodes(engine: Replay, j: int, now: int) -> str:
    """Return that the calendars or the nodes keep job j from a start, whichever came first; or an empty text.

    The text does not depend on how long the replay went on after both.
    """
    nodes = _nodes(engine, j)
    if nodes:
        now = min(now, engine.timeline.changed)
    return _calendar(engine, j, now) or nodes


def _calendar(engine: Replay, j: int, now: int) -> str:
    """Return that the calendars of job j never open again, or an empty text."""
    queue, walltime = engine.workload.queues[int(engine.workload.queue[j])], int(engine.workload.walltime[j])
    windows, daily = engine.workload.windows.get(j, ()), queue.hours(walltime)
    if queue.daily and not daily:
        return f"its walltime, {walltime} s, does not fit into a daily window of queue {queue.name!r} (whole_run)"
    if not windows:
        return ""
    last = max(hi for _, hi in windows)
    if last <= now:
        return f"its last start window has closed at {last}"
    left = [(max(lo, now), hi) for lo, hi in windows if hi > now]
    days = range(now // DAY - 1, last // DAY + 1)
    if daily and not any(
        max(lo, d * DAY + a) <= min(hi, d * DAY + b) for lo, hi in left for d in days for a, b in daily
    ):
        return f"none of its start windows from {now} on is in the daily hours of its queue"
    return ""


def _nodes(engine: Replay, j: int) -> str:
    """Return that the nodes which take starts at the end cannot hold job j, or an empty text."""
    barred = engine.timeline.closed_for_good()
    if not barred.size:
        return ""
    platform, shut = engine.platform, set(barred.tolist())
    capacity = [vector for n, vector in enumerate(platform.capacity.values()) if n not in shut]
    units, fits = 0, 0
    for part in engine.workload.job(j).parts:
        units, request = part.units, [part.request.get(r, 0) for r in platform.resources]
        fits = sum(min(units, platform.units_on(vector, request)) for vector in capacity)
        if fits < units:
            break
    if fits >= units:
        return ""
    listed = ", ".join(f"{platform.nodes[n]} is {engine.timeline.state_of(n)}" for n in barred.tolist()[:LISTED])
    more = f" and {len(barred) - LISTED} more" if len(barred) > LISTED else ""
    return f"it has {how_many(units, 'unit')}, and only {fits} fit on the nodes that take starts to the end ({listed}{more})"


# --- The progress of a replay, and the check at its end that all jobs have started.

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
    held = f", and {how_many(after, 'job', verb='wait')} for the end of another job" if after else ""
    lines = [f"\n  job {name!r}: {reason}" for name, reason in why.items()]
    more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    raise SimulationError(
        f"job {job!r} waits forever: after time {last} no job runs and no job arrives, and dispatcher {engine.name} "
        f"has not started {how_many(waiting, 'waiting job')}{held}:{''.join(lines[:SHOWN])}{more}",
        job=job,
        time=last,
        partial=found,
        waiting=why,
    )
