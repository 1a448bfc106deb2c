"""The calendars that jobs may get in a replay: those of queues to which they are moved, for walltimes that they get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from ....heuristics.kernels.events.state import TraceArrays
from ....instances.workload import Workload
from ....models.dispatch.jobs import DAY, Window
from ....models.production import ServerEvent

Hours = tuple[bool, tuple[Window, ...]]  # whether starts are limited to windows of the day; the windows


def hours_of(jobs: Workload, j: int) -> Hours:
    """Return the hours of the day in which job j may start, by its queue and walltime."""
    queue = jobs.queues[int(jobs.queue[j])]
    return bool(queue.daily), queue.hours(int(jobs.walltime[j]))


def with_calendars(
    trace: TraceArrays, jobs: Workload, events: tuple[ServerEvent, ...]
) -> tuple[TraceArrays, Mapping[Hours, int]]:
    """Return the trace with all calendars that the events may give to jobs, and the number of each calendar; -1: none."""
    row = {name: j for j, name in enumerate(jobs.ids)}
    index = {q.name: q for q in jobs.queues}
    queues: dict[int, set[str]] = defaultdict(set)
    walltimes: dict[int, set[int]] = defaultdict(set)
    for event in events:
        j = row.get(event.subject, -1) if event.kind in ("move", "walltime") else -1
        if j >= 0:
            queues[j] |= {jobs.queues[int(jobs.queue[j])].name} | (
                {str(event.value)} if event.kind == "move" else set()
            )
            walltimes[j] |= {int(jobs.walltime[j])} | ({int(event.value or 0)} if event.kind == "walltime" else set())
    found = {(bool(index[q].daily), index[q].hours(w)) for j in queues for q in queues[j] for w in walltimes[j]}
    listed = sorted(hours for limited, hours in found if limited)
    count = trace.period.size
    flat = np.array([w for hours in listed for w in hours], np.int64).reshape(-1, 2)
    first = trace.first_window[-1] + np.cumsum([len(hours) for hours in listed], dtype=np.int64)
    trace = trace._replace(
        daily=trace.daily.copy(),
        first_window=np.concatenate([trace.first_window, first]),
        lo=np.concatenate([trace.lo, flat[:, 0]]),
        hi=np.concatenate([trace.hi, flat[:, 1]]),
        period=np.concatenate([trace.period, np.full(len(listed), DAY, np.int64)]),
    )
    return trace, {(False, ()): -1} | {(True, hours): count + k for k, hours in enumerate(listed)}
