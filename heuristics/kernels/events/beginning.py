"""Jobs that run when a replay begins: rows of the trace after the other jobs, which never arrive and have started.

Such a job occupies its places from its start on, ends by its true end, and policies expect it to end at ``Running.end``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....models import Platform, Queue, Running
from ....models.dispatch.job_arrays import Ints, JobArrays, column
from ....models.dispatch.jobs import Window
from .entries import begin, keep_places, try_start
from .machine import JobTable, trace_of
from .nodes import by_name, ranges_of
from .state import NOW, STARTED, State, TraceArrays, new_state


@dataclass(frozen=True, eq=False)
class Rows:
    """The jobs of a replay, then the running jobs; a ``machine.JobTable``."""

    job_arrays: JobArrays
    queue: Ints
    walltime: Ints
    queues: Sequence[Queue]
    windows: Mapping[int, tuple[Window, ...]]

    def __len__(self) -> int:
        return len(self.job_arrays)


def with_running(jobs: JobTable, running: Sequence[Running], resources: Sequence[str]) -> JobTable:
    """Return a table of the jobs and of the running jobs after them; the jobs themselves if none runs."""
    if not running:
        return jobs
    held = replace(JobArrays.of([r.job for r in running], resources), duration=true_durations(running))
    return Rows(
        job_arrays=jobs.job_arrays.joined(held),
        queue=np.concatenate([jobs.queue, np.full(len(held), len(jobs.queues))]),
        walltime=np.concatenate([jobs.walltime, column((r.job.walltime for r in running), len(running))]),
        queues=[*jobs.queues, Queue("of running jobs", 1)],
        windows=jobs.windows,
    )


def true_durations(running: Sequence[Running]) -> Ints:
    """Return the seconds from start (or second 0) to true end of each running job."""
    return column((r.true_end - _since(r) for r in running), len(running))


def _since(r: Running) -> int:
    """Return the start of a running job, or 0 if it started before: negative starts in the state mean none."""
    return max(0, r.start)


def busy_trace(
    jobs: JobTable,
    running: Sequence[Running],
    platform: Platform,
    runtime: Ints,
    by_count: bool,
    after: Mapping[int, tuple[int, int]] | None = None,
) -> TraceArrays:
    """Return the arrays of a replay, as ``machine.trace_of``, with the running jobs after the others."""
    table = with_running(jobs, running, platform.resources)
    trace = trace_of(table, platform, np.concatenate([runtime, true_durations(running)]), by_count, after)
    return trace._replace(order=trace.order[trace.order < len(jobs)]) if running else trace


def busy_state(
    trace: TraceArrays, expected: Ints, now: int | None, running: Sequence[Running], nodes: Sequence[str] | None
) -> State:
    """Return the state of a replay that begins at ``now``, with the running jobs on their places.

    Parameters
    ----------
    trace
        The arrays of ``busy_trace``.
    expected
        Expected durations of the other jobs in seconds, shape (jobs,).
    now
        The begin in seconds; None: before the first event.
    running
        The running jobs, with nodes unless they are counted.
    nodes
        The names of the nodes; None: nodes are counted.
    """
    durations = column((max(1, r.end - _since(r)) for r in running), len(running))
    others = np.ones(trace.release.size - len(expected) - len(running), np.int64)  # rows that are no jobs
    state = new_state(trace, np.concatenate([expected, durations, others]))
    number = {name: n for n, name in enumerate(nodes or ())}
    for j, r in enumerate(running, len(expected)):
        places = [(0, r.job.units)] if nodes is None else [(number[name], units) for name, units in r.nodes.items()]
        start_on(trace, state, j, places, _since(r))
    if now is not None:
        state.clock[NOW] = now
    state.clock[STARTED] = 0  # counts the starts of the replay
    return state


def start_on(trace: TraceArrays, state: State, j: int, places: Sequence[tuple[int, int]], start: int) -> None:
    """Start job j at ``start`` on pairs (place, units), before the first event of the replay."""
    for k, (place, units) in enumerate(places):
        state.chosen[k], state.put[k] = place, units
    state.clock[NOW] = start
    keep_places(trace, state, j, len(places))
    begin(trace, state, j)


def crowded(running: Sequence[Running], platform: Platform) -> tuple[str, str, str] | None:
    """Return the first (job, node, resource) beyond a capacity, or a job on an unknown node (resource ""); else None."""
    free = {node: list(vector) for node, vector in platform.capacity.items()}
    for r in running:
        for node, units in r.nodes.items():
            if node not in free:
                return r.job.id, node, ""
            for k, resource in enumerate(platform.resources):
                free[node][k] -= units * r.job.request.get(resource, 0)
                if free[node][k] < 0:
                    return r.job.id, node, resource
    return None


def on_nodes(
    running: Sequence[Running], platform: Platform, best: bool, up: Sequence[bool] | None = None
) -> list[Running]:
    """Return the running jobs on nodes, in their order; jobs that find no room are left out.

    Jobs with nodes keep them. The others, by start, get nodes from the allocator (``best``: best fit, else first fit),
    of those that are ``up`` (None: all).
    """
    order = sorted(range(len(running)), key=lambda k: (not running[k].nodes, running[k].start))
    listed = [running[k] for k in order]
    arrays = JobArrays.of([r.job for r in listed], platform.resources)
    zeros = np.zeros(len(listed), np.int64)
    table = Rows(arrays, zeros, zeros, [Queue("of running jobs", 1)], {})
    trace = trace_of(table, platform, true_durations(listed), False)
    state = new_state(trace, np.ones(len(listed), np.int64))
    number = {name: n for n, name in enumerate(platform.nodes)}
    for j, r in enumerate(listed):
        if r.nodes:
            start_on(trace, state, j, [(number[name], units) for name, units in r.nodes.items()], 0)
        else:
            if up is not None:  # jobs with nodes come first
                state.free[~np.array(up)] = 0
            state.clock[NOW] = 0
            try_start(trace, state, j, best)
    nodes = by_name(ranges_of(trace, state, False), platform.nodes)
    found = {k: replace(r, nodes=r.nodes or nodes[j]) for j, (k, r) in enumerate(zip(order, listed, strict=True))}
    return [found[k] for k in range(len(running)) if found[k].nodes]
