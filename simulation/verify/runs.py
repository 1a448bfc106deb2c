"""The runs of a replay: the attempts that ended early, and the last attempt of each job.

What is verified is read from these alone; no code is shared with the simulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...instances.workload import Workload
from ...models.array_types import Bools, Ints
from ...models.node_states import NodeStates
from ...models.platform import Platform
from ..records import History, PowerRecord, PreemptionRecord, ProductionRecord, Ranges, ReplayData

NEVER = -1  # the start of a job that was never started


@dataclass(frozen=True, eq=False)
class RunRanges:
    """The nodes of runs, as ``simulation.NodeRanges``."""

    first: Ints
    low: Ints
    high: Ints
    units: Ints


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of a replay, one row per run: first the last attempts of the jobs, then those that ended early."""

    workload: Workload
    platform: Platform
    start: Ints
    end: Ints
    killed: Bools
    placement: Ranges
    history: History | None
    states: NodeStates | None
    started: Bools
    own: Bools
    production: ProductionRecord | None
    preemption: PreemptionRecord | None = None
    power: PowerRecord | None = None


def runs_of(replay: ReplayData) -> Runs:
    """Return all runs of a replay. Unknown nodes become node -1.

    ``started`` of the result are the runs that have started, ``own`` those of them that started in the replay, and not
    before its begin.
    """
    found, started = replay.history, replay.start != NEVER
    if found is None or not found.early:
        return Runs(
            replay.workload,
            replay.platform,
            replay.start,
            replay.end,
            replay.killed,
            replay.placement,
            found,
            replay.states,
            started,
            started,
            replay.production,
            replay.preemption,
            replay.power,
        )
    begun = [a.number == 1 and k in found.begun for k, a in zip(found.rows.tolist(), found.early, strict=True)]
    rows = np.concatenate([np.arange(len(replay.workload)), found.rows])
    number = {name: n for n, name in enumerate(replay.platform.nodes)}
    pieces = [[pair for on in (a.nodes, *a.further) for pair in on.items()] for a in found.early]
    nodes = np.array([number.get(name, -1) for listed in pieces for name, _ in listed], np.int64)
    units = np.array([u for listed in pieces for _, u in listed], np.int64)
    p = replay.placement
    first = np.concatenate([p.first, p.first[-1] + np.cumsum([len(listed) for listed in pieces])])
    placement = RunRanges(
        first, np.concatenate([p.low, nodes]), np.concatenate([p.high, nodes]), np.concatenate([p.units, units])
    )
    return Runs(
        replay.workload.keep(rows),
        replay.platform,
        np.concatenate([replay.start, found.start]),
        np.concatenate([replay.end, found.end]),
        np.concatenate([replay.killed, np.zeros(len(found.early), np.bool_)]),
        placement,
        found,
        replay.states,
        np.concatenate([started, np.ones(len(begun), np.bool_)]),
        np.concatenate([started, ~np.array(begun)]),
        replay.production,
        replay.preemption,
        replay.power,
    )


# --- The chunks of all runs as rows, for the verification; it shares no code with the simulator.


class ChunkRows(NamedTuple):
    """A row for each chunk of each run, run after run.

    Parameters
    ----------
    names : sequence of str
        The name of the job; ``"job+1"`` for its second chunk.
    job : ndarray of int64, shape (chunks,)
        The row of the run.
    units : ndarray of int64, shape (chunks,)
        The number of units.
    first : ndarray of int64, shape (chunks + 1,)
        The first range of nodes, and the number of ranges.
    """

    names: Sequence[str]
    job: Ints
    units: Ints
    first: Ints


def chunk_rows(replay: ReplayData) -> ChunkRows:
    """Return the chunks of the runs.

    The ranges of a heterogeneous job are in the order of its chunks: a chunk has the ranges in which its units begin.
    """
    w, p = replay.workload, replay.placement
    jobs, ids = len(w), w.ids
    if not w.chunks:
        return ChunkRows(ids, np.arange(jobs), w.units, p.first)
    count = np.ones(jobs, np.int64)
    for k, chunks in w.chunks.items():
        count[k] = len(chunks)
    job, due, first = np.repeat(np.arange(jobs), count), np.repeat(w.units, count), np.repeat(p.first[:-1], count)
    names = [ids[k] for k in job.tolist()]
    row = np.cumsum(count) - count
    units = p.units * np.maximum(p.high - p.low + 1, 0)
    for k, chunks in w.chunks.items():
        begun = np.cumsum(units[p.first[k] : p.first[k + 1]]) - units[p.first[k] : p.first[k + 1]]
        before = 0
        for c, chunk in enumerate(chunks):
            at = int(row[k]) + c
            names[at] = f"{ids[k]}+{c}" if c else ids[k]
            due[at], first[at] = chunk.units, p.first[k] + np.searchsorted(begun, before)
            before += chunk.units
    return ChunkRows(names, job, due, np.append(first, p.first[-1]))


def chunk_requests(replay: ReplayData, rows: ChunkRows) -> dict[str, Ints]:
    """Return the amount of each resource that one unit of each chunk requests; arrays of shape (chunks,)."""
    w = replay.workload
    column = {r: w.request[rows.job, k] for k, r in enumerate(w.resources)}
    if not w.chunks:
        return column
    of_job = np.arange(len(rows.job)) - np.searchsorted(rows.job, rows.job)
    for row in np.flatnonzero(of_job > 0).tolist():
        for r in w.resources:
            column[r][row] = w.chunks[int(rows.job[row])][int(of_job[row])].request.get(r, 0)
    return column
