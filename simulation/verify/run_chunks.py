"""The chunks of all runs as rows, for the verification; it shares no code with the simulator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .runs import Replay

Ints = NDArray[np.int64]


class ChunkRows(NamedTuple):
    """A row for each chunk of each run, run after run.

    Parameters
    ----------
    names : list of str
        The name of the job; ``"job+1"`` for its second chunk.
    job : ndarray of int64, shape (chunks,)
        The row of the run.
    units : ndarray of int64, shape (chunks,)
        The number of units.
    first : ndarray of int64, shape (chunks + 1,)
        The first range of nodes, and the number of ranges.
    """

    names: list[str]
    job: Ints
    units: Ints
    first: Ints


def chunk_rows(replay: Replay) -> ChunkRows:
    """Return the chunks of the runs.

    The ranges of a heterogeneous job are in the order of its chunks: a chunk has the ranges in which its units begin.
    """
    w, p = replay.workload, replay.placement
    jobs, ids = len(w), list(w.ids)
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


def chunk_requests(replay: Replay, rows: ChunkRows) -> dict[str, Ints]:
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
