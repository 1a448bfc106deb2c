"""The runs of a replay: the attempts that ended early, and the last attempt of each job.

What is verified is read from these alone; no code is shared with the simulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ...models.array_types import Bools, Ints
from ..records import NodeRanges, ReplayData

NEVER = -1  # the start of a job that was never started


@dataclass(eq=False)
class Runs(ReplayData):
    """All runs of a replay, one row per run: first the last attempts of the jobs, then those that ended early.

    Parameters
    ----------
    started : ndarray of bool, shape (runs,)
        The runs that have started.
    own : ndarray of bool, shape (runs,)
        Those of them that started in the replay, and not before its begin.
    """

    started: Bools = field(kw_only=True)
    own: Bools = field(kw_only=True)


def runs_of(replay: ReplayData) -> Runs:
    """Return all runs of a replay. Unknown nodes become node -1; the runs have no expected durations."""
    history = replay.history
    started = replay.start != NEVER
    columns: dict[str, Any] = {f.name: getattr(replay, f.name) for f in fields(ReplayData)} | {"expected": None}
    if history is None or not history.early:
        return Runs(**columns, started=started, own=started)
    begun = [a.number == 1 and k in history.begun for k, a in zip(history.rows.tolist(), history.early, strict=True)]
    rows = np.concatenate([np.arange(len(replay.workload)), history.rows])
    number = {name: n for n, name in enumerate(replay.platform.nodes)}
    pieces = [[pair for on in (a.nodes, *a.further) for pair in on.items()] for a in history.early]
    nodes = np.array([number.get(name, -1) for listed in pieces for name, _ in listed], np.int64)
    units = np.array([u for listed in pieces for _, u in listed], np.int64)
    p = replay.placement
    first = np.concatenate([p.first, p.first[-1] + np.cumsum([len(listed) for listed in pieces])])
    columns |= {
        "workload": replay.workload.keep(rows),
        "start": np.concatenate([replay.start, history.start]),
        "end": np.concatenate([replay.end, history.end]),
        "killed": np.concatenate([replay.killed, np.zeros(len(history.early), np.bool_)]),
        "placement": NodeRanges(
            first, np.concatenate([p.low, nodes]), np.concatenate([p.high, nodes]), np.concatenate([p.units, units])
        ),
    }
    own = np.concatenate([started, ~np.array(begun)])
    return Runs(**columns, started=np.concatenate([started, np.ones(len(begun), np.bool_)]), own=own)


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
    jobs = len(w)
    ids = w.ids
    if not w.chunks:
        return ChunkRows(ids, np.arange(jobs), w.units, p.first)
    count = np.ones(jobs, np.int64)
    for k, chunks in w.chunks.items():
        count[k] = len(chunks)
    job = np.repeat(np.arange(jobs), count)
    due = np.repeat(w.units, count)
    first = np.repeat(p.first[:-1], count)
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
