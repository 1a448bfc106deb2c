"""The Gantt chart and the table of a schedule of jobs on nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..array_types import Ints
from ..counts import how_many
from ..display.drawing import PlacedJobs, rectangles, shares
from ..display.gantt import GREY, Bar, Cells, Closed, Gantt, Mark, Row, Section
from ..platform import Platform
from ..problem import Schedule
from .jobs import DAY, Job
from .problem import Dispatch

# with more nodes, jobs or pieces of jobs than these the chart is a grid: its rows are groups of nodes
MOST_NODES = 200
MOST_JOBS = 3000
MOST_PIECES = 12_000
CELLS = 480  # columns of the grid
NAMED = 30  # nodes up to which each row has the name of its node
QUEUES = 8  # with a colour of their own: those with most jobs
OTHERS, RUNNING = "other queues", "running before"
BOUNDED = 60  # jobs with deadlines or windows of their own up to which these are drawn


def rows(problem: Dispatch, schedule: Schedule) -> list[dict[str, Any]]:
    """Return a row for each job of a schedule, and for each further chunk of a heterogeneous job.

    Parameters
    ----------
    problem : Dispatch
    schedule : Schedule

    Returns
    -------
    list of dict
        The columns job, queue, user, submit, start, end, wait, duration (s), units, nodes (a dictionary of the units on
        each node), node_list (text).
    """
    return [
        _row(part, schedule.start[job.id], problem.duration(job), schedule.nodes.get(part.id))
        for job in problem.jobs
        if job.id in schedule.start
        for part in job.parts
    ]


def _row(job: Job, start: int, duration: int, on: dict[str, int] | None) -> dict[str, Any]:
    return {
        "job": job.id,
        "queue": job.queue,
        "user": job.user,
        "submit": job.submit,
        "start": start,
        "end": start + duration,
        "wait": start - job.submit,
        "duration": duration,
        "units": job.units,
        "nodes": on,
        "node_list": " ".join(f"{n}:{u}" if u > 1 else n for n, u in (on or {}).items()),
    }


class _Ranges(NamedTuple):
    first: Ints
    low: Ints
    high: Ints
    units: Ints


@dataclass(frozen=True, eq=False)
class _Placed:
    """Jobs with their times, nodes and requests; in the order of a list."""

    start: Ints
    end: Ints
    placement: _Ranges
    requests: dict[str, Ints]


class _Shown(NamedTuple):
    """A job, or a chunk of one, that is drawn, with its start, its end and its units on each node."""

    job: Job
    start: int
    end: int
    on: Mapping[str, int]


def _placed(shown: Sequence[_Shown], platform: Platform) -> _Placed:
    index = {name: k for k, name in enumerate(platform.nodes)}
    first = np.concatenate([[0], np.cumsum([len(s.on) for s in shown])]).astype(np.int64)
    node = np.array([index[n] for s in shown for n in s.on], np.int64)
    units = np.array([u for s in shown for u in s.on.values()], np.int64)
    requests = {r: np.array([s.job.request.get(r, 0) for s in shown], np.int64) for r in platform.resources}
    start, end = (np.array(times, np.int64) for times in ([s.start for s in shown], [s.end for s in shown]))
    return _Placed(start, end, _Ranges(first, node, node, units), requests)


def gantt(problem: Dispatch, schedule: Schedule, marks: Sequence[Mark] = ()) -> Gantt:
    """Return the Gantt chart of a schedule: nodes are rows, colours are queues, running jobs are hatched.

    The height of a job on a node is the greatest share of a resource of the node that it uses. With many nodes or jobs
    the chart is a grid, in which a row is a group of nodes.

    Parameters
    ----------
    problem : Dispatch
    schedule : Schedule
        Jobs without nodes, as in the answer of a relaxation, are left out.
    marks : sequence of Mark
        More moments to mark.

    Returns
    -------
    Gantt
    """
    shown = [
        _Shown(part, schedule.start[job.id], schedule.start[job.id] + problem.duration(job), schedule.nodes[part.id])
        for job in problem.jobs
        if job.id in schedule.start
        for part in job.parts
        if schedule.nodes.get(part.id)
    ]
    moved = len(shown)
    shown += [_Shown(r.job, problem.now, r.end, r.nodes) for r in problem.running if r.end > problem.now]
    platform = problem.platform
    groups, of_job = queue_groups([s.job.queue for s in shown[:moved]])
    group = np.array(of_job + [len(groups)] * (len(shown) - moved), np.int64)
    groups += [RUNNING] if len(shown) > moved else []
    placed = _placed(shown, platform)
    start = problem.now
    end = max([problem.now + 1, *(s.end for s in shown), *(m.time for m in marks)])
    left = sum(j.id not in schedule.start or not schedule.nodes.get(j.id) for j in problem.jobs)
    title = "jobs on nodes" + (
        f" ({how_many(left, 'job', ',')} without a start or nodes are not drawn)" if left else ""
    )
    chart = Gantt(
        (),
        (),
        tuple(groups),
        {OTHERS: GREY},
        title,
        start,
        end,
        node_sections(platform),
        (*([Mark(start, "now")] if problem.running or start else []), *marks),
        tuple(_closed(problem, start, end)),
        distinct=True,
    )
    return on_nodes(
        chart, platform, placed, placed.requests, group, lambda: _bars(problem, shown, placed, groups, group, moved)
    )


def on_nodes(
    chart: Gantt,
    platform: Platform,
    placed: PlacedJobs,
    requests: Mapping[str, Ints],
    group: Ints,
    bars: Callable[[], Iterable[Bar]],
) -> Gantt:
    """Return a chart whose rows are nodes, with a bar for each job; with many nodes or jobs a grid of groups of nodes.

    Parameters
    ----------
    chart : Gantt
        The chart without rows, with its groups, its title and its period.
    platform : Platform
    placed : PlacedJobs
        The starts, ends and nodes of the jobs.
    requests : mapping of str to ndarray of int, shape (jobs,)
        The request of one unit of each job, by resource.
    group : ndarray of int, shape (jobs,)
        The index of the group of each job in ``chart.groups``.
    bars : callable
        Returns the bars; it is not called for a grid.
    """
    nodes = len(platform.nodes)
    if nodes <= MOST_NODES and len(placed.start) <= MOST_JOBS and len(placed.placement.low) <= MOST_PIECES:
        rows = tuple(Row(n if nodes <= NAMED else "") for n in platform.nodes)
        return replace(chart, rows=rows, bars=tuple(bars()))
    start, end = chart.period
    each = -(-nodes // MOST_NODES)
    grid = -(-nodes // each), CELLS
    used = shares(placed, platform, requests, group, len(chart.groups), grid, each, start, end)
    title = chart.title + (f"; a row is {how_many(each, 'node', ',')}" if each > 1 else "")
    title += "; a cell mixes the colours of its jobs, white is idle"
    rows = tuple(Row("", min(each, nodes - k * each)) for k in range(grid[0]))
    return replace(chart, rows=rows, title=title, cells=Cells(used, start, end))


def queue_groups(queues: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the groups of the colours of jobs, and the index of the group of each job, from the queues of the jobs."""
    counted = Counter(queues)
    names = sorted(counted) if len(counted) <= QUEUES else sorted(q for q, _ in counted.most_common(QUEUES - 1))
    index = {name: k for k, name in enumerate(names)}
    group = [index.get(queue, len(names)) for queue in queues]
    return [*names, *([OTHERS] if len(counted) > QUEUES else [])], group


def _bars(
    problem: Dispatch, shown: Sequence[_Shown], placed: _Placed, groups: Sequence[str], group: Ints, moved: int
) -> Iterable[Bar]:
    """Yield the rectangles of the jobs; a job with a deadline or windows of its own has its allowed periods once."""
    bounded = {k for k, s in enumerate(shown[:moved]) if s.job.deadline is not None or s.job.windows}
    left = bounded if len(bounded) <= BOUNDED else set()
    for r in rectangles(placed, problem.platform, placed.requests):
        job = shown[r.job].job
        row = int(r.top)
        allowed: tuple[tuple[int, int], ...] = ()
        if r.job in left:
            left.discard(r.job)
            length = problem.duration(job)
            horizon = max(s.end for s in shown) - length
            allowed = tuple((lo, hi + length) for lo, hi in problem.start_windows(job, horizon))
        yield Bar(
            *(row, r.start, r.end, job.id, groups[group[r.job]], r.top - row, r.bottom - row),
            hatched=r.job >= moved,
            allowed=allowed,
        )


def node_sections(platform: Platform) -> tuple[Section, ...]:
    """Return the node groups as sections, unless each node has its own label."""
    several = 1 < len(platform.groups) <= 12
    if len(platform.nodes) <= NAMED:
        return ()
    node_sections = platform.groups if several else ()
    return tuple(Section(f"{g.name} ({g.count:,})", g.count) for g in node_sections) or (
        Section(how_many(len(platform.nodes), "node", ","), len(platform.nodes)),
    )


def _closed(problem: Dispatch, start: int, end: int) -> Iterable[Closed]:
    """Yield the periods in which jobs of a queue may not start, for the only queue with a calendar."""
    with_calendar = [q for q in problem.queues if q.daily and any(j.queue == q.name for j in problem.jobs)]
    if len(with_calendar) != 1:
        return
    queue, at = with_calendar[0], start
    opened = sorted(
        (d * DAY + lo, d * DAY + hi) for d in range(start // DAY - 1, end // DAY + 1) for lo, hi in queue.daily
    )
    for lo, hi in [*opened, (end, end)]:
        if at < min(lo, end):
            yield Closed(at, min(lo, end), f"no starts of {queue.name}")
        at = max(at, hi)
