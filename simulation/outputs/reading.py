"""Reading the schedule file of a replay (``jobs.csv`` of Batsim); errors name the file, line and job."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from ...errors import SchedlabError, WrongValue
from ...instances.files.lines import TextError, number_of, streamed, whole_of
from ...instances.workload import Workload
from ...models.array_types import Bools, Ints
from ...models.dispatch.jobs import Chunk
from ...models.excerpt import excerpt
from ...models.platform import Platform
from ...models.words import how_many
from ..records import NodeRanges
from ..result import Simulation
from ..verify.runs import NEVER

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
    value = number_of(cell.strip()) if cell else NEVER
    return np.nan if value is None else value


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
