"""The files of a replay: ``jobs.csv`` in the format of Batsim, tables of starts, attempts and node states; reading and writing.

``jobs.csv`` has the columns of Batsim only, so that evalys and other tools read it. Other data are in the column
``metadata``, which Batsim leaves to its users: ``queue=...;user=...;request=cores:8 gpus:1;units=0-3:2 7:1``. Special
characters in names are written as in a URL. ``units`` (units per node of each range) is written only if a node has
several units of the job. Resources in the sense of Batsim are nodes, numbered in the order of ``platform.nodes``. Times
are seconds, energy is joules. An empty cell means: not known, or never started.

Attempts that ended early are in ``attempts.csv``, changes of node states in ``node_states.csv``. Errors in what is read name the
file, line and job.
"""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from ..errors import SchedlabError, WrongValue
from ..instances.files.reading import TextError, csv_rows, number_of, read_text, split_lines, streamed, whole_of
from ..instances.files.writing import to_csv, whole_file, write_whole
from ..instances.workload import Workload
from ..models.array_types import Bools, Ints
from ..models.dispatch.jobs import Chunk
from ..models.platform import Platform
from ..models.words import excerpt, how_many
from .features.running import chunks_together, ending_at, with_rows
from .node_policies import STATE_NAMES, Switching
from .records import NEVER, Attempt, History, NodeRanges, PowerRecord, ReplayData, attempts_of, running_as_replay
from .result import Simulation

# --- The columns of a schedule file (``jobs.csv`` of Batsim) and the values of its final states.

JOB_COLUMNS = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
    "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
    "stretch", "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
NEEDED = (
    "job_id",
    "submission_time",
    "requested_number_of_resources",
    "starting_time",
    "finish_time",
    "allocated_resources",
)
DONE = "COMPLETED_SUCCESSFULLY"
KILLED = "COMPLETED_WALLTIME_REACHED"
FAILED = "COMPLETED_FAILED"
WAITING = "SUBMITTED"

SPECIAL = ',"\r\n'  # a CSV cell with one of these characters needs quotes
CHUNK = 20_000  # rows that are held as text at a time


READ = (*NEEDED, "requested_time", "final_state", "metadata")
LARGE = 2**53  # larger numbers are refused as mistakes


class JobsError(SchedlabError, ValueError):
    """A ``jobs.csv`` that cannot be used; the message has the file, line and job, and what was expected."""


class Kind(NamedTuple):
    """The queue, the user and the request per unit of a job; empty if the file does not have them.

    ``further``: units and request of each further chunk of a heterogeneous job, of which ``request`` is the first.
    """

    queue: str = ""
    user: str = ""
    request: Mapping[str, int] = {}
    further: tuple[Chunk, ...] = ()


@dataclass(frozen=True, eq=False)
class JobsTable:
    """The jobs of a ``jobs.csv`` in the order of the file; -1 stands for an empty cell.

    Parameters
    ----------
    ids : sequence of str
        Ids of the jobs.
    submit, start, end, walltime : ndarray of int64, shape (jobs,)
        Seconds.
    units : ndarray of int64, shape (jobs,)
        Number of units.
    killed : ndarray of bool, shape (jobs,)
        Whether the job was killed at its walltime.
    placement : NodeRanges
        The nodes of each job, as numbers.
    kind : ndarray of int64, shape (jobs,)
        Index into ``kinds``.
    kinds : sequence of Kind
        The distinct combinations of queue, user and request.
    """

    ids: Sequence[str]
    submit: Ints
    start: Ints
    end: Ints
    walltime: Ints
    units: Ints
    killed: Bools
    placement: NodeRanges
    kind: Ints
    kinds: Sequence[Kind]

    def __len__(self) -> int:
        return len(self.ids)

    def by_chunk(self) -> tuple[JobsTable, Ints]:
        """Return the table with a row for each chunk of each job, and the job of each row."""
        count = np.array([1 + len(kind.further) for kind in self.kinds], np.int64)[self.kind]
        job = np.repeat(np.arange(len(self)), count)
        if job.size == len(self):
            return self, job
        p = self.placement
        row = np.cumsum(count) - count
        units = self.units[job]
        first = np.append(p.first[:-1][job], p.first[-1])
        kind = self.kind[job]
        kinds = list(self.kinds)
        for k in np.flatnonzero(count > 1).tolist():
            known = self.kinds[self.kind[k]]
            at = int(row[k])
            here = slice(p.first[k], p.first[k + 1])
            each = (p.units * (p.high - p.low + 1))[here]
            begun = np.cumsum(each) - each
            units[at] -= sum(c.units for c in known.further)
            before = int(units[at])
            for c, chunk in enumerate(known.further, at + 1):
                units[c], first[c], kind[c] = chunk.units, p.first[k] + np.searchsorted(begun, before), len(kinds)
                kinds.append(known._replace(request=chunk.request, further=()))
                before += chunk.units
        placement = NodeRanges(first, p.low, p.high, p.units)
        columns = {name: getattr(self, name)[job] for name in ("submit", "start", "end", "walltime", "killed")}
        ids = [self.ids[k] for k in job.tolist()]
        return dataclasses.replace(
            self, ids=ids, units=units, placement=placement, kind=kind, kinds=kinds, **columns
        ), job

    def replay(self, workload: Workload, platform: Platform) -> Simulation:
        """Return these jobs as a replay of a workload.

        Parameters
        ----------
        workload : Workload
            The jobs; those that the file does not have were never started.
        platform : Platform
            The machine.

        Returns
        -------
        Simulation
            The replay, in the order of the workload. Jobs of ``workload.running`` have the nodes in the file; those that
            the file does not have were left out.

        Raises
        ------
        JobsError
            If a job is in the file twice, or is not in the workload.
        """
        row = {name: k for k, name in enumerate(self.ids)}
        if len(row) < len(self.ids):
            twice = next(name for k, name in enumerate(self.ids) if row[name] != k)
            raise JobsError(f"job {excerpt(twice)} has two lines; expected one line per job")
        unknown = row.keys() - set(workload.ids) - {r.job.id for r in workload.running}
        if unknown:
            raise JobsError(
                f"job {excerpt(min(unknown))} is not a job of workload {workload.name} ({how_many(len(unknown), 'such job')})"
            )
        at = np.array([row.get(name, NEVER) for name in workload.ids], np.int64)
        there, p = at >= 0, self.placement
        count = np.where(there, np.diff(p.first)[at], 0)
        first = np.concatenate([[0], np.cumsum(count)])
        index = np.repeat(p.first[at] - first[:-1], count) + np.arange(first[-1])
        start, end = (np.where(there, column[at], NEVER) for column in (self.start, self.end))
        placement = NodeRanges(first, p.low[index], p.high[index], p.units[index])
        if workload.running:
            held = tuple(
                dataclasses.replace(r, nodes=self._nodes_of(row[r.job.id], platform))
                for r in workload.running
                if r.job.id in row
            )
            workload = dataclasses.replace(workload, running=held)
        return Simulation(workload, platform, start, end, there & self.killed[at], placement)

    def _nodes_of(self, k: int, platform: Platform) -> dict[str, int]:
        """Return the units of job k on each node; nodes that do not exist are named by their number."""
        p = self.placement
        names = platform.nodes
        units_on = dict[str, int]()
        for at in range(int(p.first[k]), int(p.first[k + 1])):
            for n in range(int(p.low[at]), min(int(p.high[at]), len(names)) + 1):
                units_on[names[n] if n < len(names) else str(n)] = int(p.units[at])
        return units_on


def read_jobs(path: Path) -> JobsTable:
    """Read a ``jobs.csv`` that schedlab or Batsim wrote.

    Parameters
    ----------
    path : Path
        A file with the columns job_id, submission_time, requested_number_of_resources, starting_time, finish_time and
        allocated_resources. Other columns are optional.

    Returns
    -------
    JobsTable
        The jobs; fractions of seconds are rounded to the nearest second.

    Raises
    ------
    JobsError
        If the file cannot be read, is not a valid ``jobs.csv``, or has no jobs.
    """
    kinds: dict[str, int] = {}
    parts = []
    try:
        for line, text in _blocks(csv.reader(streamed(path)), path):
            parts.append(_part(text, f"{path}, line", line, kinds))
    except TextError as e:
        raise JobsError(str(e)) from e
    except OSError as e:
        raise JobsError(f"{path}: cannot be read ({e.strerror})") from e
    except (UnicodeDecodeError, csv.Error) as e:
        raise JobsError(f"{path}: not a text file with comma-separated values ({e})") from e
    if not parts:
        raise JobsError(f"{path}: no jobs; expected at least one line after the header")
    ids = [name for part in parts for name in part[0]]
    submit, start, end, walltime, units, killed, count, low, high, each, kind = (
        np.concatenate(column) for column in list(zip(*parts, strict=True))[1:]
    )
    placement = NodeRanges(np.concatenate([[0], np.cumsum(count)]), low, high, each)
    return JobsTable(ids, submit, start, end, walltime, units, killed, placement, kind, [_kind(text) for text in kinds])


def _blocks(reader: Iterator[list[str]], path: Path) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Yield the file in blocks of rows: the line number of the first row, and column name -> cells."""
    header = next(reader, [])
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise JobsError(f"{path}: not a jobs.csv of Batsim: the header (line 1) lacks {', '.join(missing)}")
    line = 2
    while rows := list(islice(reader, CHUNK)):
        wrong = next((k for k, row in enumerate(rows) if len(row) != len(header)), None)
        if wrong is not None:
            raise JobsError(
                f"{path}, line {line + wrong}: {how_many(len(rows[wrong]), 'field')}; expected {len(header)}, as in the header"
            )
        yield line, {name: [row[k] for row in rows] for k, name in enumerate(header) if name in READ}
        line += len(rows)


def _part(text: Mapping[str, list[str]], where: str, line: int, kinds: dict[str, int]) -> tuple[Any, ...]:
    """Return the columns of a block of rows.

    Parameters
    ----------
    text : mapping of str to list of str
        Column name -> cells.
    where : str
        Begin of an error message: the file.
    line : int
        Line number of the first row.
    kinds : dict of str to int
        The distinct metadata with their numbers; new ones are added.

    Returns
    -------
    tuple
        Ids, the columns of a ``JobsTable`` up to ``killed``, number of ranges per job, low, high and units of the
        ranges, number of the metadata.
    """
    rows = len(text["job_id"])
    names = ("submission_time", "starting_time", "finish_time", "requested_time", "requested_number_of_resources")
    numbers = [_numbers(text.get(name, [""] * rows), name, where, line) for name in names]
    killed = np.array([state == KILLED for state in text.get("final_state", [""] * rows)], np.bool_)
    count = np.zeros(rows, np.int64)
    kind = np.zeros(rows, np.int64)
    ranges: list[int] = []
    for k, (nodes, meta) in enumerate(zip(text["allocated_resources"], text.get("metadata", [""] * rows), strict=True)):
        base, _, units = meta.partition(";units=")
        kind[k] = kinds.setdefault(base, len(kinds))
        before = len(ranges)
        try:
            ranges += _ranges(units or nodes)
        except ValueError:
            raise JobsError(
                f"{where} {line + k}: job {excerpt(text['job_id'][k])} has the nodes {excerpt(units or nodes)}; "
                "expected ranges of node numbers such as 0-3 7"
            ) from None
        count[k] = (len(ranges) - before) // 3
    low, high, each = np.array(ranges, np.int64).reshape(-1, 3).T
    return text["job_id"], *numbers, killed, count, low, high, each, kind


def _numbers(cells: list[str], name: str, where: str, line: int) -> Ints:
    """Return a column rounded to whole numbers, -1 for empty cells. Raises JobsError if a cell is not a number."""
    together = "".join(cells)
    try:
        if "_" in together or not together.isascii():  # which numpy would convert
            raise WrongValue
        as_floats = np.array([cell or NEVER for cell in cells], np.float64)
    except ValueError:
        as_floats = np.array([_number(cell) for cell in cells], np.float64)
    wrong = np.flatnonzero(~(np.abs(as_floats) < LARGE))
    if wrong.size:
        k = int(wrong[0])
        raise JobsError(f"{where} {line + k}: {name} is {excerpt(cells[k])}; expected a number below 2^53")
    return np.rint(as_floats).astype(np.int64)


def _number(cell: str) -> float:
    if cell:
        value = number_of(cell.strip())
    else:
        value = NEVER
    if value is None:
        return np.nan
    return value


def _ranges(text: str) -> list[int]:
    """Return low, high and units per node of each range of ``0-3:2 7:1`` or ``0-3 7``, as one flat list.

    Raises ValueError if the text is not of this form.

    Examples
    --------
    >>> _ranges("0-3:2 7")
    [0, 3, 2, 7, 7, 1]
    """
    bounds: list[int] = []
    for piece in text.split():
        nodes, _, several = piece.partition(":")
        begin, _, end = nodes.partition("-")
        low, high, units = (whole_of(word, most=LARGE) for word in (begin, end or begin, several or "1"))
        if low is None or high is None or units is None or low > high:
            raise WrongValue
        bounds += (low, high, units)
    return bounds


def _kind(text: str) -> Kind:
    """Return the contents of metadata that schedlab wrote; an empty ``Kind`` for metadata of other programs."""
    fields = dict(field.partition("=")[::2] for field in text.split(";"))
    if "queue" not in fields:
        return Kind()
    chunks = (text.partition(" ") for text in fields.get("further", "").split("+"))
    further = tuple(
        Chunk(int(units), _amounts(request)) for units, _, request in chunks if units.isdecimal() and len(units) < 16
    )
    request = _amounts(fields.get("request", ""))
    return Kind(unquote(fields["queue"]), unquote(fields.get("user", "")), request, further)


def _amounts(text: str) -> dict[str, int]:
    """Return the request in a text such as ``cores:16 gpus:2``."""
    pairs = (pair.partition(":") for pair in text.split())
    return {unquote(name): int(amount) for name, _, amount in pairs if amount.isdecimal() and len(amount) < 16}


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
    ``stretch`` is turnaround time / execution time, empty if the execution time is 0. As in Batsim, ``waiting_time`` is start -
    submission; of a job with earlier attempts, that is its wait (``Simulation.wait``) and the time in which they ran.
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
    if replay.history is not None:
        dropped = tuple(replay.history.dropped)
    else:
        dropped = ()
    if dropped:
        failed = np.isin(np.arange(at.start, at.stop), dropped)
    else:
        failed = np.zeros_like(killed)
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
    if isinstance(runs, Mapping):
        named = runs
    else:
        named = {s.dispatcher: s for s in runs}
    starts = []
    order: dict[str, None] = dict.fromkeys(ids or ())
    for run in named.values():
        if isinstance(run, JobsTable):
            names = run.ids
        else:
            names = run.workload.ids
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
    if pairs:
        return f";request={pairs}"
    return ""


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
    if low == high:
        return str(low)
    return f"{low}-{high}"


# --- ``attempts.csv``: the attempts of a replay that ended early; writing and reading.
#
# The columns are job_id, attempt (its number), start, end (seconds), nodes (``node:units`` for each node, nodes numbered
# in the order of the platform), why, work_done (seconds that count), returned (1 if the job came back, else 0: then the
# attempt is also the row of the job in ``jobs.csv``). The first attempt of a job that runs at the begin may start before
# second 0.

ATTEMPT_COLUMNS = ("job_id", "attempt", "start", "end", "nodes", "why", "work_done", "returned")


def attempts_file(jobs: Path) -> Path:
    """Return the name of the attempts file beside a jobs file.

    Examples
    --------
    >>> attempts_file(Path("easy.1.jobs.csv")).name, attempts_file(Path("mine.csv")).name
    ('easy.1.attempts.csv', 'mine.attempts.csv')
    """
    return jobs.with_name(jobs.name.removesuffix(".csv").removesuffix(".jobs") + ".attempts.csv")


def write_attempts(simulation: Simulation, path: Path) -> bool:
    """Write the attempts that ended early, if there are any.

    Parameters
    ----------
    simulation : Simulation
        The result of a replay.
    path : Path
        The CSV file.

    Returns
    -------
    bool
        Whether there are any.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    history = simulation.history
    if history is None:
        return False
    ids = simulation.workload.ids
    known = Counter(history.rows.tolist())
    final = {(ids[k], known[k] + 1) for k in history.dropped} | {(a.job, a.number) for a in history.gone}
    last = [a for a in attempts_of(simulation) if (a.job, a.number) in final]
    number = {name: n for n, name in enumerate(simulation.platform.nodes)}
    rows = [
        (
            *(a.job, a.number, a.start, a.end),
            " + ".join(
                " ".join(f"{number[name]}:{units}" for name, units in on.items()) for on in (a.nodes, *a.further)
            ),
            *(a.why, a.work_done, int(back)),
        )
        for back, listed in ((True, history.early), (False, last))
        for a in listed
    ]
    write_whole(path, to_csv(ATTEMPT_COLUMNS, rows))
    return True


def read_attempts(path: Path, workload: Workload, platform: Platform) -> tuple[Workload, History | None]:
    """Read an ``attempts.csv``.

    Parameters
    ----------
    path : Path
        The file.
    workload : Workload
        The jobs of the replay.
    platform : Platform
        The machine of the replay.

    Returns
    -------
    Workload
        The jobs, with rows for those that came back after they had run at the begin; the running jobs that failed and
        did not come back end then.
    History or None
        The attempts that ended early; None if the file has no rows.

    Raises
    ------
    JobsError
        If the file is not valid; the message has the file and the line.
    """
    listed = list(_attempts(path, platform))
    at_begin = {parts[0].job.id: parts for parts in chunks_together(workload.running)}
    back = {a.job for _, a, comes_back in listed if comes_back and a.job in at_begin}
    gone = [a for _, a, _ in listed if a.job in at_begin and a.job not in back]
    returned = [parts for name, parts in at_begin.items() if name in back]
    left = [r for name, parts in at_begin.items() if name not in back for r in parts]
    whole = with_rows(workload, returned)
    whole = replace(whole, running=ending_at(left, {r.job.id: a.end for a in gone for r in at_begin[a.job]}))
    row_of = {name: k for k, name in enumerate(whole.ids)}
    early: list[Attempt] = []
    rows: list[int] = []
    dropped: dict[int, str] = {}
    for line, attempt, comes_back in listed:
        k = row_of.get(attempt.job)
        if k is None and attempt.job not in at_begin:
            raise JobsError(f"{path}, line {line}: {excerpt(attempt.job)} is no job of workload {workload.name}")
        if k is not None and comes_back:
            early.append(attempt)
            rows.append(k)
        elif k is not None:
            dropped[k] = attempt.why
    begun = {row_of[name]: at_begin[name] for name in back}
    return whole, History.of(early, rows, dropped, len(whole), begun, gone)


def _attempts(path: Path, platform: Platform) -> Iterator[tuple[int, Attempt, bool]]:
    """Yield the line, the attempt, and whether the job came back, of each line. Raises JobsError."""
    listed = csv_rows(path, split_lines(read_text(path)))
    if tuple(next(listed, (1, []))[1]) != ATTEMPT_COLUMNS:
        raise JobsError(f"{path}, line 1: not an attempts.csv; expected the columns {', '.join(ATTEMPT_COLUMNS)}")
    for line, cells in listed:
        try:
            job, number, start, end, nodes, why, work, back = cells
            on, *further = (_nodes(text, platform) for text in nodes.split("+"))
            attempt = Attempt(job, int(number), int(start), int(end), on, why, int(work), tuple(further))
            if back not in ("0", "1"):
                raise WrongValue(back)
        except (ValueError, LookupError) as e:
            expected = "whole numbers, nodes such as 0:2 7:1, and 0 or 1"
            raise JobsError(f"{path}, line {line}: expected {expected} ({e})") from None
        yield line, attempt, back == "1"


def _nodes(text: str, platform: Platform) -> dict[str, int]:
    pairs = (piece.partition(":") for piece in text.split())
    return {platform.nodes[int(n)]: int(units) for n, _, units in pairs}


# --- ``node_states.csv``: the changes of the states of nodes that were switched off and on; writing and reading.
#
# The columns are node (its name), time (seconds), state (``shutting down``, ``off``, ``booting``, ``on``), in the order of
# the times. All nodes are on before their first change.

STATE_COLUMNS = ("node", "time", "state")


def node_states_file(jobs: Path) -> Path:
    """Return the name of the file of the node states beside a jobs file.

    Examples
    --------
    >>> node_states_file(Path("easy.1.jobs.csv")).name
    'easy.1.node_states.csv'
    """
    return jobs.with_name(jobs.name.removesuffix(".csv").removesuffix(".jobs") + ".node_states.csv")


def write_node_states(record: PowerRecord, platform: Platform, path: Path) -> None:
    """Write the changes of the states of the nodes. Raises OSError."""
    write_whole(path, to_csv(STATE_COLUMNS, record.named(platform)))


def read_node_states(path: Path, platform: Platform, policy: str, switching: Switching) -> PowerRecord:
    """Read a ``node_states.csv``.

    Parameters
    ----------
    path : Path
        The file.
    platform : Platform
        The machine of the replay.
    policy : str
        The name of the node policy.
    switching : Switching
        The times of the nodes.

    Returns
    -------
    PowerRecord
        The states.

    Raises
    ------
    JobsError
        If the file is not valid; the message has the file and the line.
    """
    listed = csv_rows(path, split_lines(read_text(path)))
    if tuple(next(listed, (1, []))[1]) != STATE_COLUMNS:
        raise JobsError(f"{path}, line 1: not a node_states.csv; expected the columns {', '.join(STATE_COLUMNS)}")
    number = {name: n for n, name in enumerate(platform.nodes)}
    rows = list[tuple[int, int, int]]()
    for line, cells in listed:
        try:
            node, time, state = cells
            rows.append((number[node], int(time), STATE_NAMES.index(state)))
        except (ValueError, LookupError) as e:
            expected = f"a node of the platform, whole seconds, and one of {', '.join(STATE_NAMES)}"
            raise JobsError(f"{path}, line {line}: expected {expected} ({e})") from None
    changes = np.array(rows, np.int64).reshape(-1, 3)
    return PowerRecord(policy, switching, changes[:, 0], changes[:, 1], changes[:, 2])
