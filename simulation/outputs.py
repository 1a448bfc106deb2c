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
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from ..instances.files.lines import TextError, streamed
from ..instances.workload import Ints, Workload
from ..models.excerpt import excerpt
from ..models.platform import Platform
from .engine.simulation import Placement, Simulation
from .engine.verification import NEVER, Replay

Mask = NDArray[np.bool_]
COLUMNS = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
    "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
    "stretch", "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
DONE, KILLED, WAITING = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "SUBMITTED"
NEEDED = (
    "job_id",
    "submission_time",
    "requested_number_of_resources",
    "starting_time",
    "finish_time",
    "allocated_resources",
)
READ = (*NEEDED, "requested_time", "final_state", "metadata")
NAMES = " /@+,"  # besides letters, digits and _.-~, what stays as it is in the names of metadata
SPECIAL = ',"\r\n'  # in texts with one of these, CSV asks for quotes
LARGE = 2**53  # numbers from here on are taken for mistakes
CHUNK = 20_000  # rows that are held as text at a time
LINE = ",".join(["%s"] * len(COLUMNS)) + "\n"  # twice as fast as csv.writer, which looks for commas in every number


class JobsError(ValueError):
    """A jobs.csv cannot be used; the message says where (file, line, job) and what was expected."""


class Kind(NamedTuple):
    """What many jobs have in common: queue, user, and the request of a unit; empty where the file does not say."""

    queue: str = ""
    user: str = ""
    request: Mapping[str, int] = {}


@dataclass(frozen=True)
class Replayed:
    """A replay that was read back: what ``verification.violations`` checks."""

    workload: Workload
    platform: Platform
    start: Ints
    end: Ints
    killed: Mask
    placement: Placement


@dataclass(frozen=True)
class Jobs:
    """The jobs of a jobs.csv, in its order, one entry per job; -1 where the file has an empty cell. Seconds.

    ``placement``: as in a Simulation, over the numbers of nodes; ``kind``: index into ``kinds``.
    """

    ids: Sequence[str]
    submit: Ints
    start: Ints
    end: Ints
    walltime: Ints
    units: Ints
    killed: Mask
    placement: Placement
    kind: Ints
    kinds: Sequence[Kind]

    def __len__(self) -> int:
        return len(self.ids)

    def replay(self, workload: Workload, platform: Platform) -> Replayed:
        """These jobs as a replay of the workload; a job that the file has not was never started.

        Raises JobsError if the file has a job twice, or one that the workload has not.
        """
        row = {name: k for k, name in enumerate(self.ids)}
        if len(row) < len(self.ids):
            twice = next(name for k, name in enumerate(self.ids) if row[name] != k)
            raise JobsError(f"job {excerpt(twice)} is there twice; expected is one line per job")
        unknown = row.keys() - set(workload.ids)
        if unknown:
            raise JobsError(f"job {excerpt(min(unknown))} is not one of {workload.name} ({len(unknown)} such jobs)")
        at = np.array([row.get(name, NEVER) for name in workload.ids], np.int64)
        there, p = at >= 0, self.placement
        count = np.where(there, np.diff(p.first)[at], 0)
        first = np.concatenate([[0], np.cumsum(count)])
        index = np.repeat(p.first[at] - first[:-1], count) + np.arange(first[-1])
        start, end = (np.where(there, column[at], NEVER) for column in (self.start, self.end))
        placement = Placement(first, p.low[index], p.high[index], p.units[index])
        return Replayed(workload, platform, start, end, there & self.killed[at], placement)


def write_jobs(simulation: Replay, path: Path) -> None:
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


def _rows(replay: Replay, at: slice, meta: _Meta) -> Iterator[tuple[Any, ...]]:
    """The cells of some jobs, texts quoted where CSV asks for it."""
    w, start, end, killed = replay.workload, replay.start[at], replay.end[at], replay.killed[at]
    p = replay.placement
    first = p.first[at.start : at.stop + 1]
    low, high, units = (a[first[0] : first[-1]] for a in (p.low, p.high, p.units))
    placement = Placement(first - first[0], low, high, units)
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
    runs: Iterable[Simulation] | Mapping[str, Replay | Jobs], path: Path, ids: Sequence[str] | None = None
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
        names = run.ids if isinstance(run, Jobs) else run.workload.ids
        starts.append({name: s for name, s in zip(names, run.start.tolist(), strict=True) if s != NEVER})
        if ids is None:
            order.update(dict.fromkeys(names))
    if ids is None:
        for run in named.values():
            if not isinstance(run, Jobs):
                order.update(dict.fromkeys(name for name, _ in run.workload.report.dropped))
    with _whole(path) as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["job_id", *named])
        out.writerows([name, *(s.get(name, "") for s in starts)] for name in order)


def read_jobs(path: Path) -> Jobs:
    """The jobs of a jobs.csv, of ours or of Batsim (fractions of seconds are rounded). Raises JobsError, OSError.

    Needs the columns job_id, submission_time, requested_number_of_resources, starting_time, finish_time and
    allocated_resources.
    """
    kinds: dict[str, int] = {}
    parts = []
    try:
        for line, text in _blocks(csv.reader(streamed(path)), path):
            parts.append(_part(text, f"{path}, line", line, kinds))
    except TextError as e:
        raise JobsError(str(e)) from e
    except (UnicodeDecodeError, csv.Error) as e:
        raise JobsError(f"{path}: not text with commas ({e})") from e
    if not parts:
        raise JobsError(f"{path}: no jobs")
    ids = [name for part in parts for name in part[0]]
    submit, start, end, walltime, units, killed, count, low, high, each, kind = (
        np.concatenate(column) for column in list(zip(*parts, strict=True))[1:]
    )
    placement = Placement(np.concatenate([[0], np.cumsum(count)]), low, high, each)
    return Jobs(ids, submit, start, end, walltime, units, killed, placement, kind, [_kind(text) for text in kinds])


def _blocks(reader: Iterator[list[str]], path: Path) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """The file in blocks of lines: the number of the first line, and the columns by name."""
    header = next(reader, [])
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise JobsError(f"{path}: not a jobs.csv of Batsim, its first line lacks {', '.join(missing)}")
    line = 2
    while rows := list(islice(reader, CHUNK)):
        wrong = next((k for k, row in enumerate(rows) if len(row) != len(header)), None)
        if wrong is not None:
            raise JobsError(f"{path}, line {line + wrong}: {len(rows[wrong])} fields; expected are {len(header)}")
        yield line, {name: [row[k] for row in rows] for k, name in enumerate(header) if name in READ}
        line += len(rows)


def _part(text: Mapping[str, list[str]], where: str, line: int, kinds: dict[str, int]) -> tuple[Any, ...]:
    """The columns of some rows; ``kinds`` numbers the distinct metadata."""
    rows = len(text["job_id"])
    names = ("submission_time", "starting_time", "finish_time", "requested_time", "requested_number_of_resources")
    numbers = [_numbers(text.get(name, [""] * rows), name, where, line) for name in names]
    killed = np.array([state == KILLED for state in text.get("final_state", [""] * rows)], np.bool_)
    count, kind = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    ranges: list[int] = []
    for k, (nodes, meta) in enumerate(zip(text["allocated_resources"], text.get("metadata", [""] * rows), strict=True)):
        base, _, units = meta.partition(";units=")
        kind[k] = kinds.setdefault(base, len(kinds))
        before = len(ranges)
        try:
            ranges += _ranges(units or nodes)
        except ValueError:
            raise JobsError(
                f"{where} {line + k}: job {excerpt(text['job_id'][k])} has the nodes {excerpt(units or nodes)}; expected is 0-3 7"
            ) from None
        count[k] = (len(ranges) - before) // 3
    low, high, each = np.array(ranges, np.int64).reshape(-1, 3).T
    return text["job_id"], *numbers, killed, count, low, high, each, kind


def _numbers(cells: list[str], name: str, where: str, line: int) -> Ints:
    """A column of numbers as whole ones; -1 for empty cells. Raises JobsError."""
    try:
        found = np.array([cell or NEVER for cell in cells], np.float64)
    except ValueError:
        found = np.array([_number(cell) for cell in cells], np.float64)
    wrong = np.flatnonzero(~(np.abs(found) < LARGE))
    if wrong.size:
        k = int(wrong[0])
        raise JobsError(f"{where} {line + k}: {name} is {excerpt(cells[k])}; expected is a number")
    return np.rint(found).astype(np.int64)


def _number(cell: str) -> float:
    try:
        return float(cell or NEVER)
    except ValueError:
        return np.nan


def _ranges(text: str) -> list[int]:
    """``0-3:2 7:1`` or ``0-3 7`` as low, high and units on each, one range after the other. Raises ValueError.

    >>> _ranges("0-3:2 7")
    [0, 3, 2, 7, 7, 1]
    """
    found: list[int] = []
    for piece in text.split():
        nodes, _, several = piece.partition(":")
        begin, _, end = nodes.partition("-")
        low, high, units = int(begin), int(end or begin), int(several or 1)
        if not (0 <= low <= high <= LARGE and 0 <= units <= LARGE):
            raise ValueError
        found += (low, high, units)
    return found


def _kind(text: str) -> Kind:
    """What metadata of ours say; nothing of those of others."""
    fields = dict(field.partition("=")[::2] for field in text.split(";"))
    if "queue" not in fields:
        return Kind()
    asked = (pair.partition(":") for pair in fields.get("request", "").split())
    request = {unquote(name): int(amount) for name, _, amount in asked if amount.isdecimal() and len(amount) < 16}
    return Kind(unquote(fields["queue"]), unquote(fields.get("user", "")), request)


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

    def of_jobs(self, queue: Ints, user: Ints, request: Ints, placement: Placement) -> list[str]:
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


def _intervals(placement: Placement, nodes: int) -> list[str]:
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
