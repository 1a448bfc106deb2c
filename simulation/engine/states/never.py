"""Why jobs still wait, or have not arrived, when no event is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.events.state import NOW, WAITING, State
from ....models.dispatch.jobs import DAY
from ...policies.policy import Policy

if TYPE_CHECKING:
    from ..progress import ReplayPlan

LISTED = 3  # nodes that a reason names


def reasons(plan: ReplayPlan, state: State) -> dict[str, str]:
    """Return id -> reason of each job that waits at the end of a replay, in the order of the queue.

    Then follow the jobs that have not arrived, because a job before them has not ended.
    """
    found: dict[str, str] = {}
    rows = state.waiting[: state.clock[WAITING]].tolist()
    now = int(state.clock[NOW])
    blocking = ""
    for j in rows:
        job = plan.workload.ids[j]
        why = plan.held_back.get(j) or _calendar_or_nodes(plan, j, now)
        strict = isinstance(plan.dispatcher, Policy) and plan.dispatcher.strict
        if not why and strict and blocking:
            why = f"it waits behind job {blocking!r}, which blocks the queue"
        elif why and not blocking:
            blocking = job
        found[job] = why or _of_dispatcher(plan, job)
    return found | _held(plan, rows)


def _of_dispatcher(plan: ReplayPlan, job: str) -> str:
    """Return what the dispatcher says about a job that it could have started."""
    explain: Callable[[str], str] = getattr(plan.dispatcher, "why_waiting", lambda job: "")
    usual = f"dispatcher {plan.name} has not started it, although it fits on the idle nodes{_unless(plan)}"
    return explain(job) or usual


def _unless(plan: ReplayPlan) -> str:
    """Return which limit of the replay may keep a job from idle nodes, or an empty text."""
    if not plan.within:
        return ""
    return "; the desired use or the power cap that limits the starts may hold it at no time (docs/profiles.md)"


def _held(plan: ReplayPlan, rows: list[int]) -> dict[str, str]:
    """Return id -> reason of the jobs that wait, directly or not, for the end of one of these jobs."""
    followers: dict[int, list[int]] = {}
    for j, (before, _) in plan.workload.after.items():
        followers.setdefault(before, []).append(j)
    found, left, ids = dict[str, str](), list(rows), plan.workload.ids
    while left:
        before = left.pop()
        for j in followers.get(before, ()):
            found[ids[j]] = f"it has not arrived: it waits for the end of job {ids[before]!r}"
            left.append(j)
    return found


def _calendar_or_nodes(plan: ReplayPlan, j: int, now: int) -> str:
    """Return that the calendars or the nodes keep job j from a start, whichever came first; or an empty text.

    The text does not depend on how long the replay went on after both.
    """
    nodes = _nodes(plan, j)
    if nodes and plan.states is not None:
        now = min(now, plan.states.changes[-1].time)
    return _calendar(plan, j, now) or nodes


def _calendar(plan: ReplayPlan, j: int, now: int) -> str:
    """Return that the calendars of job j never open again, or an empty text."""
    queue, walltime = plan.workload.queues[int(plan.workload.queue[j])], int(plan.workload.walltime[j])
    windows, daily = plan.workload.windows.get(j, ()), queue.hours(walltime)
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


def _nodes(plan: ReplayPlan, j: int) -> str:
    """Return that the nodes which take starts at the end cannot hold job j, or an empty text."""
    if plan.states is None:
        return ""
    platform, change = plan.platform, plan.states.changes[-1]
    capacity = [platform.capacity[name] for name, starts in zip(platform.nodes, change.starts, strict=True) if starts]
    units, fits = 0, 0
    for part in plan.workload.job(j).parts:
        units, request = part.units, [part.request.get(r, 0) for r in platform.resources]
        fits = sum(min(units, platform.units_on(vector, request)) for vector in capacity)
        if fits < units:
            break
    if fits >= units:
        return ""
    barred = np.flatnonzero(~change.starts).tolist()
    listed = ", ".join(f"{platform.nodes[n]} is {change.names[n]}" for n in barred[:LISTED])
    more = f" and {len(barred) - LISTED} more" if len(barred) > LISTED else ""
    return f"it has {units} units, and only {fits} fit on the nodes that take starts to the end ({listed}{more})"
