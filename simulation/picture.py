"""The Gantt chart of a replay: rows are nodes, colours are queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..models.array_types import Ints
from ..models.counts import how_many
from ..models.dispatch.display import OTHERS, RUNNING, node_sections, on_nodes, queue_groups
from ..models.display.drawing import rectangles
from ..models.display.gantt import GREY, RED, Bar, Gantt
from ..models.node_states import node_states
from .records import NodeRanges, ReplayData, running_as_replay
from .verify.runs import chunk_requests, chunk_rows, runs_of

EARLY, UNAVAILABLE = "ended early", "node down or off"
PALE_GREY = "#dddddd"


@dataclass(frozen=True, eq=False)
class _Placed:
    """What is drawn, one entry each: label, group, start and end in seconds, nodes, and request of one unit by resource."""

    labels: Sequence[str]
    groups: list[str]
    start: Ints
    end: Ints
    placement: NodeRanges
    requests: dict[str, Ints]


def gantt_of_replay(replay: ReplayData) -> Gantt:
    """Return the Gantt chart of a replay.

    The height of a job on a node is the greatest share of a resource of the node that it uses. Each chunk of each attempt is
    a bar. With many nodes or jobs the chart is a grid, in which a row is a group of nodes.
    """
    w, platform = replay.workload, replay.platform
    begin = int(w.submit.min()) if w.begin is None else w.begin
    jobs = _runs(replay)
    parts = [jobs]
    if w.running:
        at_begin = _runs(running_as_replay(replay))
        at_begin.groups[:] = [RUNNING] * len(at_begin.groups)
        parts.append(at_begin)
    end = max(begin + 1, *(int(part.end.max(initial=begin)) for part in parts))
    parts.append(_unavailable(replay, begin, end))
    placed = _together(parts)
    of_queues, _ = queue_groups([group for group in jobs.groups if group != EARLY])
    there = set(placed.groups)
    groups = [*of_queues, *(name for name in (RUNNING, EARLY, UNAVAILABLE) if name in there)]
    index = {name: k for k, name in enumerate(groups)}
    others = index.get(OTHERS, 0)
    group = np.array([index.get(name, others) for name in placed.groups], np.int64)
    left = int((replay.start < 0).sum())
    title = f"{how_many(len(w) - left, 'job', ',')} on {how_many(len(platform.nodes), 'node', ',')}"
    title += f", {how_many(left, 'job', ',')} never started" if left else ""
    colours = {OTHERS: GREY, EARLY: RED, UNAVAILABLE: PALE_GREY}
    chart = Gantt((), (), tuple(groups), colours, title, begin, end, node_sections(platform), distinct=True)

    def bars() -> Iterator[Bar]:
        for r in rectangles(placed, platform, placed.requests):
            row = int(r.top)
            yield Bar(row, r.start, r.end, placed.labels[r.job], groups[group[r.job]], r.top - row, r.bottom - row)

    return on_nodes(chart, platform, placed, placed.requests, group, bars)


def _runs(replay: ReplayData) -> _Placed:
    """Return the chunks of all runs that started; their groups are the queues, but for attempts that ended early."""
    runs = runs_of(replay)
    jobs = len(replay.workload)
    w = runs.workload
    chunks = chunk_rows(runs)
    p = runs.placement
    started = runs.started[chunks.job]
    queues = [queue.name for queue in w.queues]
    groups = [EARLY if job >= jobs else queues[queue] for job, queue in enumerate(w.queue.tolist())]
    return _Placed(
        chunks.names,
        [groups[job] for job in chunks.job.tolist()],
        np.where(started, runs.start[chunks.job], -1),
        np.where(started, runs.end[chunks.job], -1),
        NodeRanges(chunks.first, p.low, p.high, p.units),
        chunk_requests(runs, chunks),
    )


def _unavailable(replay: ReplayData, begin: int, end: int) -> _Placed:
    """Return the periods in which nodes are down, or switched off; each takes its whole node."""
    periods: list[tuple[int, int, int]] = []
    if replay.states is not None:
        known = node_states()
        periods += [
            (n, max(begin, since), end if until is None else until)
            for n, state, since, until in replay.states.outages()
            if not known[state].runs
        ]
    if replay.power is not None:
        off = replay.power.intervals(end)
        periods += zip(off.node.tolist(), off.begin.tolist(), off.end.tolist(), strict=True)
    node, since, until = np.array(periods, np.int64).reshape(-1, 3).T
    capacity = np.array(list(replay.platform.capacity.values()), np.int64)
    return _Placed(
        [""] * node.size,
        [UNAVAILABLE] * node.size,
        since,
        np.minimum(until, end),
        NodeRanges(np.arange(node.size + 1), node, node, np.ones_like(node)),
        {name: capacity[node, k] for k, name in enumerate(replay.platform.resources)},
    )


def _together(parts: Sequence[_Placed]) -> _Placed:
    def joined(arrays: Iterable[Ints]) -> Ints:
        return np.concatenate(list(arrays))

    places = [part.placement for part in parts]
    before = np.cumsum([0, *(p.low.size for p in places)])
    first = joined([*(p.first[:-1] + n for p, n in zip(places, before.tolist(), strict=False)), before[-1:]])
    resources = dict.fromkeys(name for part in parts for name in part.requests)
    return _Placed(
        [label for part in parts for label in part.labels],
        [group for part in parts for group in part.groups],
        joined(part.start for part in parts),
        joined(part.end for part in parts),
        NodeRanges(first, *(joined(getattr(p, name) for p in places) for name in ("low", "high", "units"))),
        {r: joined(part.requests.get(r, np.zeros_like(part.start)) for part in parts) for r in resources},
    )
