"""Why jobs still wait, or have not arrived, when no event is left."""

from __future__ import annotations

from collections.abc import Callable

from ..heuristics.kernels.events.state import NOW, WAITING
from ..models.dispatch.jobs import DAY
from .features.feature import Replay

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
    explain: Callable[[str], str] = getattr(engine.dispatcher, "why_waiting", lambda job: "")
    usual = f"dispatcher {engine.name} has not started it, although it fits on the idle nodes{_unless(engine)}"
    return explain(job) or usual


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
    return f"it has {units} units, and only {fits} fit on the nodes that take starts to the end ({listed}{more})"
