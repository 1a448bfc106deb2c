"""Files of a replay: the jobs as Batsim writes them (``jobs.csv``, which evalys and others read), and tables of starts.

Beside Batsim's columns nothing is added. What it has no column for stands in ``metadata``, which it leaves to its users:
``queue=...;user=...;request=cores:8 gpus:1;units=0-3:2 7:1``, names with the special characters as in a URL; ``units`` (per
node of each range) only where a node holds several. Resources are numbered as in ``platform.nodes``, times are seconds,
energy is joules. An empty cell: not known, or never started.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Ints, Workload
from ..engine.simulation import NodeRanges, Simulation
from ..engine.verification import NEVER, ReplayedRun
from .columns import CHUNK, COLUMNS, DONE, KILLED, SPECIAL, WAITING, Mask
from .reading import JobsTable

NAMES = " /@+,"  # besides letters, digits and _.-~, what stays as it is in the names of metadata
LINE = ",".join(["%s"] * len(COLUMNS)) + "\n"  # twice as fast as csv.writer, which looks for commas in every number


def write_jobs(simulation: ReplayedRun, path: Path) -> None:
    """Write the jobs of a replay as Batsim's jobs.csv, whole or not at all; 300,000 jobs take a few seconds.

    ``requested_number_of_resources`` is the number of units, which may be more than the nodes that were allocated. A job
    that was never started (partial results) is ``SUBMITTED``, one that was killed ``COMPLETED_WALLTIME_REACHED``. Stretch
    is turnaround over execution time, empty if that is 0. Raises OSError.
    """
    w = simulation.workload
    meta = _Meta.of(w)
    with _whole(path) as f:
        f.write(LINE % COLUMNS)
        for begin in range(0, len(w), CHUNK):
            f.writelines(map(LINE.__mod__, _rows(simulation, slice(begin, min(begin + CHUNK, len(w))), meta)))


def _rows(replay: ReplayedRun, at: slice, meta: _Meta) -> Iterator[tuple[Any, ...]]:
    """The cells of some jobs, texts quoted where CSV asks for it."""
    w, start, end, killed = replay.workload, replay.start[at], replay.end[at], replay.killed[at]
    p = replay.placement
    first = p.first[at.start : at.stop + 1]
    low, high, units = (a[first[0] : first[-1]] for a in (p.low, p.high, p.units))
    placement = NodeRanges(first - first[0], low, high, units)
    submit, started, took = w.submit[at], start != NEVER, end - start
    stretch = np.where(took > 0, (end - submit) / np.maximum(took, 1), np.nan)
    programs = _quoted(w.programs)
    columns = (
        _quoted(w.ids[at]),
        _quoted([w.name]) * len(start),
        [programs[k] for k in w.program[at].tolist()],
        submit.tolist(),
        w.units[at].tolist(),
        w.walltime[at].tolist(),
        (started & ~killed).astype(np.int64).tolist(),
        np.select([~started, killed], [WAITING, KILLED], DONE).tolist(),
        *(_cells(c, started) for c in (start, took, end, start - submit, end - submit, np.round(stretch, 6))),
        _intervals(placement, len(replay.platform.nodes)),
        _cells(np.round(w.power[at] * took, 3), started),
        _quoted(meta.of_jobs(w.queue[at], w.user[at], w.request_kind[at], placement)),
    )
    return zip(*columns, strict=True)


def write_starts(
    runs: Iterable[Simulation] | Mapping[str, ReplayedRun | JobsTable], path: Path, ids: Sequence[str] | None = None
) -> None:
    """Write a table of starts, ``job_id,fcfs,easy,...``: a line per job, its start in seconds under each dispatcher.

    ``runs``: simulations, or name -> simulation or what ``read_jobs`` gave; ``ids``: all jobs of the trace in their order
    (by default those of the runs, then those left out). A cell is empty where a job was left out or never started.
    Raises OSError.
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
    with _whole(path) as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["job_id", *named])
        out.writerows([name, *(s.get(name, "") for s in starts)] for name in order)


class _Meta(NamedTuple):
    """The texts of a workload's queues, users and requests, as metadata have them."""

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

    def of_jobs(self, queue: Ints, user: Ints, request: Ints, placement: NodeRanges) -> list[str]:
        """Of each job; with its units per node where the numbers of its nodes do not tell them."""
        rows = zip(queue.tolist(), user.tolist(), request.tolist(), strict=True)
        found = [self.queues[q] + self.users[u] + self.requests[r] for q, u, r in rows]
        several = np.flatnonzero(placement.units != 1)
        first, low, high, units = (a.tolist() for a in placement)
        for k in np.unique(np.searchsorted(placement.first, several, side="right") - 1).tolist():
            pieces = (f"{_interval(low[r], high[r])}:{units[r]}" for r in range(first[k], first[k + 1]))
            found[k] += f";units={' '.join(pieces)}"
        return found


def _request(request: Mapping[str, int]) -> str:
    pairs = [f"{quote(name, safe='')}:{amount}" for name, amount in request.items() if amount]
    return f";request={' '.join(pairs)}" if pairs else ""


def _quoted(texts: Sequence[str]) -> list[str]:
    """Texts as cells of CSV.

    >>> _quoted(["7", "a,b"])
    ['7', '"a,b"']
    """
    together = "".join(texts)
    if not any(special in together for special in SPECIAL):
        return list(texts)
    return ['"' + t.replace('"', '""') + '"' if any(special in t for special in SPECIAL) else t for t in texts]


def _cells(values: NDArray[Any], started: Mask) -> list[Any]:
    """A column; empty where it is not a number or the job was never started."""
    cells: list[Any] = values.tolist()
    for k in np.flatnonzero(~started | np.isnan(values)).tolist():
        cells[k] = ""
    return cells


def _intervals(placement: NodeRanges, nodes: int) -> list[str]:
    """The nodes of each job as an interval set: ascending, disjoint, ``0-3 7``."""
    count = np.diff(placement.first)
    job = np.repeat(np.arange(len(count)), count)
    order = np.lexsort((placement.low, job))
    job, shift = job[order], job[order] * (nodes + 2)  # far enough apart that no range reaches the next job's
    low, reach = placement.low[order] + shift, np.maximum.accumulate(placement.high[order] + shift)
    begins = np.concatenate([[True], low[1:] > reach[:-1] + 1])[: len(low)]
    ends = np.concatenate([begins[1:], [True]])[: len(low)]
    pairs = zip((low - shift)[begins].tolist(), (reach - shift)[ends].tolist(), strict=True)
    texts = [f"{lo}-{hi}" if lo != hi else str(lo) for lo, hi in pairs]  # millions of them: no call for each
    cut = np.searchsorted(job[begins], np.arange(len(count) + 1)).tolist()
    return [texts[a] if b == a + 1 else " ".join(texts[a:b]) for a, b in pairwise(cut)]


def _interval(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


@contextmanager
def _whole(path: Path) -> Iterator[IO[str]]:
    """A file that is written beside its place and renamed at the end."""
    beside = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        with beside.open("w", encoding="utf-8", newline="") as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
