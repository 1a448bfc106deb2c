"""Writing the files of a replay: the jobs in the format of Batsim (``jobs.csv``), and tables of starts.

``jobs.csv`` has the columns of Batsim only, so that evalys and other tools read it. Other data are in the column
``metadata``, which Batsim leaves to its users: ``queue=...;user=...;request=cores:8 gpus:1;units=0-3:2 7:1``. Special
characters in names are written as in a URL. ``units`` (units per node of each range) is written only if a node has
several units of the job. Resources in the sense of Batsim are nodes, numbered in the order of ``platform.nodes``. Times
are seconds, energy is joules. An empty cell means: not known, or never started.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ...instances.files.writing import whole_file
from ...instances.workload import Workload
from ...models.array_types import Bools, Ints
from ...models.dispatch.jobs import Chunk
from ..records import NodeRanges, ReplayData, running_as_replay
from ..result import Simulation
from ..verify.runs import NEVER
from .reading import CHUNK, DONE, FAILED, JOB_COLUMNS, KILLED, SPECIAL, WAITING, JobsTable

NAMES = " /@+,"  # characters that stay as they are in the names of metadata, besides letters, digits and _.-~
LINE = ",".join(["%s"] * len(JOB_COLUMNS)) + "\n"  # twice as fast as csv.writer, which searches each number for commas


def write_jobs(simulation: ReplayData, path: Path) -> None:
    """Write the jobs of a replay as a ``jobs.csv`` of Batsim.

    The jobs that run at the begin of the replay come last. The file is written under another name and renamed at the
    end, so it is complete or absent. 300,000 jobs take a few seconds.

    Parameters
    ----------
    simulation : ReplayData
        A ``Simulation``, or a replay that was read from a file.
    path : Path
        The file; an existing file is replaced.

    Raises
    ------
    OSError
        If the file cannot be written.

    Notes
    -----
    ``requested_number_of_resources`` is the number of units, which may be larger than the number of nodes. The final
    state of a job that was never started is ``SUBMITTED``, that of a killed job ``COMPLETED_WALLTIME_REACHED``, that of
    a job that did not come back after a failure ``COMPLETED_FAILED``.
    ``stretch`` is turnaround time / execution time, empty if the execution time is 0.
    """
    parts = [simulation, *([running_as_replay(simulation)] if simulation.workload.running else [])]
    with whole_file(path) as f:
        f.write(LINE % JOB_COLUMNS)
        for part in parts:
            meta = _Meta.of(part.workload)
            jobs = len(part.workload)
            for begin in range(0, jobs, CHUNK):
                f.writelines(map(LINE.__mod__, _rows(part, slice(begin, min(begin + CHUNK, jobs)), meta)))


def _rows(replay: ReplayData, at: slice, meta: _Meta) -> Iterator[tuple[Any, ...]]:
    """Return the rows of some jobs as tuples of cells; texts are quoted if CSV requires it."""
    w = replay.workload
    start = replay.start[at]
    end = replay.end[at]
    killed = replay.killed[at]
    dropped = () if replay.history is None else tuple(replay.history.dropped)
    failed = np.isin(np.arange(at.start, at.stop), dropped) if dropped else np.zeros_like(killed)
    p = replay.placement
    first = p.first[at.start : at.stop + 1]
    low, high, units = (a[first[0] : first[-1]] for a in (p.low, p.high, p.units))
    placement = NodeRanges(first - first[0], low, high, units)
    submit = w.submit[at]
    started = start != NEVER
    took = end - start
    stretch = np.where(took > 0, (end - submit) / np.maximum(took, 1), np.nan)
    programs = _quoted(w.programs)
    further = {k - at.start: chunks[1:] for k, chunks in w.chunks.items() if at.start <= k < at.stop}
    columns = (
        _quoted(w.ids[at]),
        _quoted([w.name]) * len(start),
        [programs[k] for k in w.program[at].tolist()],
        submit.tolist(),
        w.job_arrays.all_units[at].tolist(),
        w.walltime[at].tolist(),
        (started & ~killed & ~failed).astype(np.int64).tolist(),
        np.select([~started, failed, killed], [WAITING, FAILED, KILLED], DONE).tolist(),
        *(_cells(c, started) for c in (start, took, end, start - submit, end - submit, np.round(stretch, 6))),
        _intervals(placement, len(replay.platform.nodes)),
        _cells(np.round(w.power[at] * took, 3), started),
        _quoted(meta.of_jobs(w.queue[at], w.user[at], w.request_kind[at], placement, further)),
    )
    return zip(*columns, strict=True)


def write_starts(
    runs: Iterable[Simulation] | Mapping[str, ReplayData | JobsTable],
    path: Path,
    ids: Sequence[str] | None = None,
    recorded: Mapping[str, int] | None = None,
) -> None:
    """Write a table of starts, ``job_id,fcfs,easy,...``: one row per job, its start in seconds under each dispatcher.

    A cell is empty if the job was left out or never started.

    Parameters
    ----------
    runs : iterable of Simulation, or mapping
        Simulations, whose columns are named by their dispatchers; or column name -> simulation or result of
        ``read_jobs``.
    path : Path
        The file; an existing file is replaced.
    ids : sequence of str, optional
        The ids of all jobs, in the order of the rows. Default: the jobs of the runs, then the jobs that were left out.
    recorded : mapping of str to int, optional
        Job id -> start on the real machine in s, in a last column ``recorded``. None or empty: no such column.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    named = runs if isinstance(runs, Mapping) else {s.dispatcher: s for s in runs}
    starts = []
    order: dict[str, None] = dict.fromkeys(ids or ())
    for run in named.values():
        names = run.ids if isinstance(run, JobsTable) else run.workload.ids
        starts.append({name: s for name, s in zip(names, run.start.tolist(), strict=True) if s != NEVER})
        if ids is None:
            order.update(dict.fromkeys(names))
    if ids is None:
        for run in named.values():
            if not isinstance(run, JobsTable):
                order.update(dict.fromkeys(name for name, _ in run.workload.report.dropped))
    with whole_file(path) as f:
        out = csv.writer(f, lineterminator="\n")
        if recorded:
            starts.append(dict(recorded))
        out.writerow(["job_id", *named, *(["recorded"] if recorded else [])])
        out.writerows([name, *(s.get(name, "") for s in starts)] for name in order)


class _Meta(NamedTuple):
    """The queues, users and requests of a workload as texts of metadata."""

    queues: list[str]
    users: list[str]
    requests: list[str]

    @classmethod
    def of(cls, w: Workload) -> _Meta:
        return cls(
            [f"queue={quote(q.name, safe=NAMES)}" for q in w.queues],
            [f";user={quote(user, safe=NAMES)}" if user else "" for user in w.users],
            [_request(request) for request in w.requests],
        )

    def of_jobs(
        self, queue: Ints, user: Ints, request: Ints, placement: NodeRanges, further: Mapping[int, Sequence[Chunk]]
    ) -> list[str]:
        """Return the metadata of each job, with the units per node if a node has several units of the job.

        ``further``: the further chunks of heterogeneous jobs, by row; their units are always there, chunk after chunk.
        """
        rows = zip(queue.tolist(), user.tolist(), request.tolist(), strict=True)
        texts = [self.queues[q] + self.users[u] + self.requests[r] for q, u, r in rows]
        several = np.flatnonzero(placement.units != 1)
        first, low, high, units = (a.tolist() for a in placement)
        own = np.searchsorted(placement.first, several, side="right") - 1
        for k in np.unique(np.concatenate([own, np.array(list(further), np.int64)])).tolist():
            if k in further:
                texts[k] += f";further={'+'.join(f'{c.units} {_pairs(c.request)}'.strip() for c in further[k])}"
            pieces = (f"{_interval(low[r], high[r])}:{units[r]}" for r in range(first[k], first[k + 1]))
            texts[k] += f";units={' '.join(pieces)}"
        return texts


def _request(request: Mapping[str, int]) -> str:
    pairs = _pairs(request)
    return f";request={pairs}" if pairs else ""


def _pairs(request: Mapping[str, int]) -> str:
    return " ".join(f"{quote(name, safe='')}:{amount}" for name, amount in request.items() if amount)


def _quoted(texts: Sequence[str]) -> list[str]:
    """Return texts as cells of CSV.

    Examples
    --------
    >>> _quoted(["7", "a,b"])
    ['7', '"a,b"']
    """
    together = "".join(texts)
    if not any(special in together for special in SPECIAL):
        return list(texts)
    return ['"' + t.replace('"', '""') + '"' if any(special in t for special in SPECIAL) else t for t in texts]


def _cells(values: NDArray[Any], started: Bools) -> list[Any]:
    """Return a column of cells; empty if the value is NaN or the job was never started."""
    cells: list[Any] = values.tolist()
    for k in np.flatnonzero(~started | np.isnan(values)).tolist():
        cells[k] = ""
    return cells


def _intervals(placement: NodeRanges, nodes: int) -> list[str]:
    """Return the nodes of each job as an interval set such as ``0-3 7``: ascending, disjoint."""
    count = np.diff(placement.first)
    job = np.repeat(np.arange(len(count)), count)
    order = np.lexsort((placement.low, job))
    job, shift = job[order], job[order] * (nodes + 2)  # far enough apart that no range reaches the next job's
    low = placement.low[order] + shift
    reach = np.maximum.accumulate(placement.high[order] + shift)
    begins = np.concatenate([[True], low[1:] > reach[:-1] + 1])[: len(low)]
    ends = np.concatenate([begins[1:], [True]])[: len(low)]
    pairs = zip((low - shift)[begins].tolist(), (reach - shift)[ends].tolist(), strict=True)
    texts = [f"{lo}-{hi}" if lo != hi else str(lo) for lo, hi in pairs]  # millions: _interval would be too slow
    cut = np.searchsorted(job[begins], np.arange(len(count) + 1)).tolist()
    return [texts[a] if b == a + 1 else " ".join(texts[a:b]) for a, b in pairwise(cut)]


def _interval(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"
