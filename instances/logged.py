"""The jobs of a log: as it records them (``Logged``, ``JobColumns``, ``Trace``), and repaired for a replay (``Trace.workload``).

The reader of a format fills a ``Trace``, in which values may be missing. ``Trace.workload`` is the repaired workload.
The rules are the same for every format, and each repair is counted:

- jobs are left out, with the reason, if they have no submit time, a submit time before second 0, no runtime, times
  beyond 317 years, or no node;
- spaces around names are removed; a job without an id gets its position in the log as id;
- a runtime of 0 becomes 1 s; a missing walltime becomes the runtime; an unlimited walltime becomes the longest walltime
  of the log, or the runtime if no job of the log has a limit;
- submit times with fractions of a second are rounded to the nearest second, durations are rounded up;
- a job is released at the time from which it was eligible, if the log has it, else at its submit time;
- a runtime longer than the walltime stays (this occurs in real logs); submit times out of order are sorted; equal ids
  get a suffix;
- the expected waiting time of a queue is the mean recorded wait of its jobs, or 3600 s if no wait was recorded.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..errors import WrongValue
from ..models.array_types import Bools, Floats, Ints
from ..models.comparing import hashable
from ..models.dispatch.arrays import kept_rows
from ..models.dispatch.jobs import Chunk, Queue, Recorded, SiteRequest
from ..models.platform import LATEST, Platform
from ..models.words import how_many, with_short_repr
from .files.reading import WorkloadError
from .files.writing import SURROGATE
from .formats.slurm_values import MOST_TASKS, waiting_tasks
from .site_columns import SiteColumns, SiteRows
from .workload import UNKNOWN, BadLine, Report, Workload, beyond, fraction, whole_seconds

# --- A job as a log records it, and columns of such jobs, which the readers of log formats fill in.

T = TypeVar("T")
MISSING = float("nan")
UNLIMITED = float("inf")
UNNAMED = "none"  # the partition of a job without a partition
NUMBERED = "job id missing, the position in the log is used instead"
NEVER_STARTED = "it never started"
CANCELLED_WAITING = "it never started: it was cancelled in the queue"
AFTER_START = "submit time after the start, the start is used instead"
LIMIT_OF_PARTITION = "walltime without a limit, the longest walltime of the partition is used instead"
LIMIT_OF_SITE = "walltime without a limit, the limit of the partition is used"
SEVERAL_NODES = "requested several nodes, a replay without a site may put their shares on fewer nodes"
SEVERAL_NODES_UNTOLD = "requested several nodes, of an untold number: a replay may put their shares on fewer nodes"
SEVERAL_NODES_OF_PARTS = "heterogeneous jobs, a replay may put their shares on fewer nodes"
ROWS = 8192  # rows by which the columns of jobs grow


@dataclass(frozen=True, eq=False)
class TextColumn:
    """One text per job, stored as indices into the distinct texts ``names``."""

    index: Ints
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Iterable[str]) -> TextColumn:
        """Make a column of one text per job.

        >>> TextColumn.of(["b", "a", "b"])
        TextColumn(index=array([0, 1, 0]), names=('b', 'a'))
        """
        numbers: dict[str, int] = {}
        index = np.fromiter((numbers.setdefault(v, len(numbers)) for v in values), np.int64)
        return cls(index, tuple(numbers))

    def keep(self, rows: Ints) -> TextColumn:
        """Return the column of some jobs, without names that none of them uses."""
        used, index = np.unique(self.index[rows], return_inverse=True)
        return TextColumn(index.reshape(-1).astype(np.int64), tuple(self.names[k] for k in used.tolist()))


@hashable
@dataclass(frozen=True)
class Logged:
    """A job as a log records it; the fields are those of ``Trace``, for one job.

    ``changed``: repairs that the reader made; ``not_obeyed``: what the job requested that a replay does not give; ``unusable``: the reason why the job cannot be replayed, empty if it can.
    ``gpu_types``: the GPUs of the whole job by type, ``a100=4``; ``eligible``: time from which the job could have started.
    ``chunks``: all chunks of a heterogeneous job, of which ``units`` and ``request`` are the first; ``array``: the name
    of its job array. ``asked``, ``recorded``: what the job asked of its site, and what the scheduler recorded, in whole seconds
    of the log; start and eligible time are fields of their own here.
    """

    id: str
    submit: float = MISSING
    start: float = MISSING
    runtime: float = MISSING
    walltime: float = MISSING
    units: int = 0
    request: Mapping[str, int] = field(default_factory=dict)
    queue: str = ""
    user: str = ""
    program: str = ""
    power: float = MISSING
    changed: tuple[str, ...] = ()
    unusable: str = ""
    chunks: tuple[Chunk, ...] = ()
    array: str = ""
    gpu_types: str = ""
    eligible: float = MISSING
    not_obeyed: tuple[str, ...] = ()
    asked: SiteRequest | None = None
    recorded: Recorded | None = None


class _Codes(Generic[T]):
    """One value per row, stored as indices into the distinct values ``known``."""

    def __init__(self) -> None:
        self.known: dict[T, int] = {}
        self.index = array("q")

    def __setitem__(self, row: int, value: T) -> None:
        self.index[row] = self.known.setdefault(value, len(self.known))

    def masks(self, rows: int) -> dict[T, Bools]:
        """Return the mask of each value, shape (rows,)."""
        index = np.asarray(self.index, np.int64)[:rows]
        return {value: index == k for value, k in self.known.items()}


def _column(codes: _Codes[str], rows: int) -> TextColumn:
    index = np.asarray(codes.index, np.int64)[:rows]
    texts = TextColumn(index, tuple(codes.known))
    used = np.bincount(index, minlength=len(codes.known)) > 0
    # replaced rows can leave names without a job
    if used.all():
        return texts
    return texts.keep(np.arange(rows))


class JobColumns:
    """The jobs of a log in arrays that grow.

    A reader appends each job as soon as it is read and keeps no other copy of it. A row can be replaced later, for jobs
    whose parts are far from each other in the file.

    Parameters
    ----------
    resources
        Names of the resources whose amounts are kept.

    Examples
    --------
    >>> jobs = JobColumns(["cores", "gpus"])
    >>> jobs.append(Logged("1", submit=5, units=2, request={"cores": 4}))
    >>> len(jobs), jobs.request.tolist(), jobs.requested("cores")
    (1, [[4, 0]], ['cores'])
    """

    def __init__(self, resources: Sequence[str]) -> None:
        self.resources = tuple(resources)
        self.ids: list[str] = []
        self.chunks: dict[int, tuple[Chunk, ...]] = {}
        self.arrays: dict[int, str] = {}
        self._submit, self._start, self._runtime, self._walltime, self._power = (array("d") for _ in range(5))
        self._units = array("q")
        self._request = array("q")
        self._eligible = array("d")
        self._queue = _Codes[str]()
        self._user = _Codes[str]()
        self._program = _Codes[str]()
        self._unusable = _Codes[str]()
        self._changed = _Codes[tuple[str, ...]]()
        self._gpu_types = _Codes[str]()
        self._not_obeyed = _Codes[tuple[str, ...]]()
        self._site = SiteRows()

    @classmethod
    def of(cls, jobs: Iterable[Logged], resources: Sequence[str]) -> JobColumns:
        """Return the columns of some jobs."""
        columns = cls(resources)
        for job in jobs:
            columns.append(job)
        return columns

    def __len__(self) -> int:
        return len(self.ids)

    def append(self, job: Logged) -> None:
        """Append a job."""
        if len(self.ids) == len(self._units):
            self._grow()
        self.ids.append("")
        self._site.append(None, None)
        self[len(self.ids) - 1] = job

    def _grow(self) -> None:
        codes = (
            self._queue,
            self._user,
            self._program,
            self._unusable,
            self._changed,
            self._gpu_types,
            self._not_obeyed,
        )
        times = (self._submit, self._start, self._runtime, self._walltime, self._eligible)
        for column in (*times, self._power, self._units):
            column.frombytes(bytes(8 * ROWS))
        for column in (each.index for each in codes):
            column.frombytes(bytes(8 * ROWS))
        self._request.frombytes(bytes(8 * ROWS * len(self.resources)))

    def __setitem__(self, row: int, job: Logged) -> None:
        name = plain(job.id)
        self.ids[row] = name or f"job {row + 1}"
        self._submit[row], self._start[row] = job.submit, job.start
        self._runtime[row] = job.runtime
        self._walltime[row] = job.walltime
        self._power[row] = job.power
        self._units[row] = job.units
        for k, resource in enumerate(self.resources, row * len(self.resources)):
            self._request[k] = job.request.get(resource, 0)
        self._queue[row] = plain(job.queue) or "default"
        self._user[row] = plain(job.user)
        self._program[row] = plain(job.program)
        self._unusable[row], self._gpu_types[row] = job.unusable, job.gpu_types
        self._eligible[row], self._not_obeyed[row] = job.eligible, job.not_obeyed
        if name:
            self._changed[row] = job.changed
        else:
            self._changed[row] = (*job.changed, NUMBERED)
        if job.asked is not None or job.recorded is not None:
            self._site[row] = (job.asked, job.recorded)
        if job.chunks:
            self.chunks[row] = job.chunks
        if job.array:
            self.arrays[row] = job.array

    @property
    def times(self) -> tuple[Floats, ...]:
        """Submit times, start times, runtimes and walltimes in s, each of shape (jobs,)."""
        return tuple(self._floats(a) for a in (self._submit, self._start, self._runtime, self._walltime))

    @property
    def power(self) -> Floats:
        """Power in W, shape (jobs,)."""
        return self._floats(self._power)

    @property
    def eligible(self) -> Floats:
        """Time from which the job could have started, in s, NaN if unknown, shape (jobs,)."""
        return self._floats(self._eligible)

    @property
    def site(self) -> SiteColumns | None:
        """What the jobs asked of their site, and what its scheduler recorded; None if nothing is known."""
        return self._site.columns()

    @property
    def gpu_types(self) -> TextColumn | None:
        """GPUs by type of each job; None if no job has any."""
        if any(self._gpu_types.known):
            return _column(self._gpu_types, len(self))
        return None

    def _floats(self, values: array[float]) -> Floats:
        return np.asarray(values, np.float64)[: len(self)]

    @property
    def units(self) -> Ints:
        """Number of units, shape (jobs,)."""
        return np.asarray(self._units, np.int64)[: len(self)]

    @property
    def request(self) -> Ints:
        """Amount of each resource per unit, shape (jobs, resources)."""
        n = len(self)
        width = len(self.resources)
        return np.asarray(self._request, np.int64)[: n * width].reshape(n, width)

    @property
    def names(self) -> tuple[TextColumn, ...]:
        """Queues, users and programs."""
        return tuple(_column(codes, len(self)) for codes in (self._queue, self._user, self._program))

    @property
    def unusable(self) -> dict[str, Bools]:
        """Reason why jobs cannot be replayed -> mask of the jobs."""
        return {why: mask for why, mask in self._unusable.masks(len(self)).items() if why}

    @property
    def changed(self) -> dict[str, Bools]:
        """Repair that the reader made -> mask of the jobs."""
        return self._each(self._changed)

    @property
    def not_obeyed(self) -> dict[str, Bools]:
        """What jobs requested that a replay does not give -> mask of the jobs."""
        return self._each(self._not_obeyed)

    def _each(self, codes: _Codes[tuple[str, ...]]) -> dict[str, Bools]:
        masks: dict[str, Bools] = {}
        for several, mask in codes.masks(len(self)).items():
            for what in several:
                if what in masks:
                    masks[what] = masks[what] | mask
                else:
                    masks[what] = mask
        return masks

    def requested(self, always: str) -> list[str]:
        """Return the resources of which a job requests more than 0, and ``always``, in the order of ``resources``."""
        further = {r for chunks in self.chunks.values() for c in chunks for r, amount in c.request.items() if amount}
        most = self.request.max(axis=0, initial=0).tolist()
        return [r for r, amount in zip(self.resources, most, strict=True) if amount or r in further or r == always]


def merged(chunks: Iterable[tuple[int, Mapping[str, int]]]) -> list[Chunk]:
    """Return chunks of which no two have the same request: those that have are joined; in the order of the first ones.

    >>> merged([(1, {"cores": 2}), (3, {"cores": 1}), (2, {"cores": 2})])
    [Chunk(units=3, request={'cores': 2}), Chunk(units=3, request={'cores': 1})]
    """
    chunks_by_request: dict[tuple[tuple[str, int], ...], Chunk] = {}
    for units, request in chunks:
        key = tuple(sorted(request.items()))
        chunks_by_request[key] = Chunk(
            units + (chunks_by_request[key].units if key in chunks_by_request else 0), request
        )
    return list(chunks_by_request.values())


class Preceding(NamedTuple):
    """The job that a job waits for.

    Parameters
    ----------
    job
        Id of the preceding job.
    think
        Seconds from the end of the preceding job to the arrival of the job.
    line
        Line of the job in the log, from 1.
    """

    job: str
    think: int
    line: int


def plain(name: str) -> str:
    """Return a name that a CSV file can hold: without surrounding spaces, and with U+FFFD for surrogates.

    >>> plain(" a b ")
    'a b'
    """
    return SURROGATE.sub("\ufffd", name).strip()


# --- A log as its reader leaves it, and its repair.


IN_QUEUE = "never ran and had a place in the queue until leaving it"


def note_of_queue(jobs: int) -> str:
    """Return the note on the number of jobs that never ran, and are jobs of a replay until they left the queue."""
    return f"{how_many(jobs, 'job', ',')} {IN_QUEUE}"


USUAL_EWT = 3600
TASKS = re.compile(r"(\d+)_\[([\d,:%-]*)\]", re.ASCII)
NO_WALLTIME = "walltime missing, the runtime is used instead"
NO_LIMITS = "walltime without a limit, as of all jobs of the log, the runtime is used instead"
RUNTIME_KNOWN = (
    "where the log has no walltime, the runtime is used instead: the dispatcher knows the runtime of such a job exactly"
)
SUFFIXED = "job ids not unique, a suffix added"


@with_short_repr
@dataclass(frozen=True, eq=False)
class Trace:
    """The jobs of a log as recorded, in the order of the log; ``workload`` has those that can be replayed.

    Arrays have shape (jobs,) unless another shape is given. A time that the log does not record is NaN.

    Attributes
    ----------
    name, format
        The name of the log; the name of its format.
    ids
        Job ids; they may be equal.
    submit, start
        Submit time and start time, in s since second 0 of the log.
    runtime, walltime
        Actual and requested runtime, in s; infinity for an unlimited walltime.
    units
        Number of job units; 0 if unknown.
    resources, request
        Names of the resources; amount of each resource per unit, shape (jobs, resources). Memory is in MB.
    queue, user, program
        Names, one per job.
    power
        Power of the whole job in W; NaN if unknown.
    chunks, arrays
        Row of a heterogeneous job -> all its chunks; row of a job -> the name of its job array.
    partition
        Names of the partitions, one per job; None if the log has none.
    partition_numbers
        Name of a partition -> its number in the log.
    preceding
        Id of a job -> the job that it waits for; see ``dependencies``.
    changed
        Repair made by the reader -> mask of the jobs.
    unusable
        Reason why jobs cannot be replayed -> mask of the jobs.
    ewt
        Queue -> expected waiting time in s, for the queues for which it is known.
    unix_start
        Unix time of second 0; None if unknown.
    zone
        Time zone of the machine.
    platform
        The machine, if the format describes it.
    sizes
        Other sizes of the machine that the log records: ``nodes``, ``processors``.
    report
        Unreadable lines and notes.
    latest_start
        Time by which the job should have started, in s; NaN where there is none; None: no job has one.
    eligible
        Time from which the job could have started (no dependency, hold or begin time any more), in s; NaN if unknown.
    gpu_types
        GPUs of the whole job by type, such as ``a100=4``, one text per job; None if the log has no types.
    not_obeyed
        What jobs requested that a replay does not give, such as several nodes -> mask of the jobs.
    site
        What the jobs asked of their site and what its scheduler recorded, in whole s; None: unknown.
    """

    name: str
    format: str
    ids: Sequence[str]
    submit: Floats
    start: Floats
    runtime: Floats
    walltime: Floats
    units: Ints
    resources: tuple[str, ...]
    request: Ints
    queue: TextColumn
    user: TextColumn
    program: TextColumn
    power: Floats
    chunks: Mapping[int, tuple[Chunk, ...]] = field(default_factory=dict)
    arrays: Mapping[int, str] = field(default_factory=dict)
    partition: TextColumn | None = None
    partition_numbers: Mapping[str, str] = field(default_factory=dict)
    preceding: Mapping[str, Preceding] = field(default_factory=dict)
    changed: Mapping[str, Bools] = field(default_factory=dict)
    unusable: Mapping[str, Bools] = field(default_factory=dict)
    ewt: Mapping[str, int] = field(default_factory=dict)
    unix_start: int | None = None
    zone: tzinfo = UTC
    platform: Platform | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    report: Report = field(default_factory=Report)
    latest_start: Floats | None = None
    eligible: Floats | None = None
    gpu_types: TextColumn | None = None
    not_obeyed: Mapping[str, Bools] = field(default_factory=dict)
    site: SiteColumns | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls,
        name: str,
        format: str,
        jobs: Iterable[Logged],
        resources: Sequence[str],
        bad_lines: Iterable[BadLine] = (),
        notes: Iterable[str] = (),
    ) -> Trace:
        """Make a trace of jobs that were read one by one."""
        return cls.of_columns(name, format, JobColumns.of(jobs, resources), resources, bad_lines, notes)

    @classmethod
    def of_columns(
        cls,
        name: str,
        format: str,
        jobs: JobColumns,
        resources: Sequence[str],
        bad_lines: Iterable[BadLine] = (),
        notes: Iterable[str] = (),
    ) -> Trace:
        """Make a trace of columns; ``resources`` are those of the columns that are kept."""
        submit, start, runtime, walltime = jobs.times
        queue, user, program = jobs.names
        kept = [jobs.resources.index(r) for r in resources]
        return cls(
            name=name,
            format=format,
            ids=tuple(jobs.ids),
            submit=submit,
            start=start,
            runtime=runtime,
            walltime=walltime,
            units=jobs.units,
            resources=tuple(resources),
            request=jobs.request[:, kept],
            queue=queue,
            user=user,
            program=program,
            power=jobs.power,
            chunks=jobs.chunks,
            arrays=jobs.arrays,
            changed=jobs.changed,
            unusable=jobs.unusable,
            report=Report(bad_lines=tuple(bad_lines), notes=tuple(notes)),
            eligible=jobs.eligible,
            gpu_types=jobs.gpu_types,
            not_obeyed=jobs.not_obeyed,
            site=jobs.site,
        )

    def keep(self, rows: Bools | Ints) -> Trace:
        """Return the trace of some jobs, given as a mask or as indices; the report is kept."""
        index = np.arange(len(self))[rows]
        return replace(
            self,
            ids=tuple(self.ids[k] for k in index.tolist()),
            submit=self.submit[index],
            start=self.start[index],
            runtime=self.runtime[index],
            walltime=self.walltime[index],
            units=self.units[index],
            request=self.request[index],
            queue=self.queue.keep(index),
            user=self.user.keep(index),
            program=self.program.keep(index),
            partition=None if self.partition is None else self.partition.keep(index),
            power=self.power[index],
            chunks=kept_rows(self.chunks, index.tolist()),
            arrays=kept_rows(self.arrays, index.tolist()),
            latest_start=None if self.latest_start is None else self.latest_start[index],
            eligible=None if self.eligible is None else self.eligible[index],
            gpu_types=None if self.gpu_types is None else self.gpu_types.keep(index),
            changed={what: mask[index] for what, mask in self.changed.items()},
            not_obeyed={what: mask[index] for what, mask in self.not_obeyed.items()},
            unusable={why: mask[index] for why, mask in self.unusable.items()},
            site=None if self.site is None else self.site.keep(index),
        )

    def with_cancelled(self) -> Trace:
        """Return the trace in which jobs that never ran, and left the queue at a known time, are jobs to replay.

        Such a job waits until then (``site.cancelled``). Had it started before, it would have run for an unknown time: its
        runtime is its walltime. Each task of an array (``12_[3-7]``) that has no row of its own is a job.
        """
        if self.site is None or not self.site.of_queue.any():
            return self
        rows, ids = _each_task(self.ids, self.site.of_queue)
        if ids != tuple(self.ids):
            note = _note_on_tasks(self.ids, rows, ids)
            return replace(self.keep(rows), ids=ids, report=self.report.and_also(notes=[note])).with_cancelled()
        waited = self.site.of_queue & np.any([np.zeros(len(self), np.bool_), *self.unusable.values()], axis=0)
        until = np.maximum(self.site.cancelled - self.submit, 1)
        runtime = np.where(np.isfinite(self.walltime) & (self.walltime > 0), self.walltime, until)
        note = note_of_queue(int(waited.sum()))
        units, request = self._spread(waited)
        return replace(
            self,
            units=units,
            request=request,
            runtime=np.where(waited, runtime, self.runtime),
            unusable={why: mask & ~waited for why, mask in self.unusable.items()},
            report=self.report.and_also(notes=[note]),
        )

    def _spread(self, waited: Bools) -> tuple[Ints, Ints]:
        """Return units and requests in which jobs that waited, and may have more nodes than the least, need no larger nodes.

        A scheduler decides on the number of nodes when a job starts. The largest share of a node that a job of the partition
        had is taken as a node.
        """
        site = self.site
        if site is None or "cores" not in self.resources:
            return self.units, self.request
        cores = self.request[:, self.resources.index("cores")]
        ran = ~np.any([waited, *self.unusable.values()], axis=0) & (self.units > 0)
        largest = np.zeros(len(self.queue.names), np.int64)
        np.maximum.at(largest, self.queue.index[ran], cores[ran])
        bound = np.array([r.max_nodes is not None for r in site.requests], np.bool_)[site.request]
        node = largest[self.queue.index]
        wide = waited & ~bound & (node > 0) & (cores > node)
        units = self.units.copy()
        units[wide] = -(-(self.units * cores)[wide] // node[wide])
        request = self.request.copy()
        request[wide] = -(-(self.request * self.units[:, None])[wide] // units[wide, None])
        return units, request

    def between(self, begin: float, end: float) -> Trace:
        """Return the trace of the jobs submitted in [begin, end), in s. Raises WorkloadError if there is none."""
        inside = (self.submit >= begin) & (self.submit < end)
        if not inside.any():
            known = self.submit[np.isfinite(self.submit)]
            span = "nowhere: there are no jobs"
            if len(known):
                span = f"from {known.min():.0f} s to {known.max():.0f} s"
            raise WorkloadError(
                f"{self.name}: no job was submitted from {begin:.0f} s to {end:.0f} s of the log; submissions run {span}"
            )
        return self.keep(inside)

    def first(self, n: int) -> Trace:
        """Return the trace of the first n jobs, by submit time, that can be replayed."""
        order = np.argsort(self.submit, kind="stable")
        return self.keep(order[self._why[order] < 0][:n])

    def without(self, resource: str, note: str) -> Trace:
        """Return the trace without the requests of a resource; ``note`` gives the reason."""
        left = [k for k, r in enumerate(self.resources) if r != resource]
        return replace(
            self,
            resources=tuple(self.resources[k] for k in left),
            request=self.request[:, left],
            chunks={
                k: tuple(Chunk(c.units, {r: n for r, n in c.request.items() if r != resource}) for c in chunks)
                for k, chunks in self.chunks.items()
            },
            report=self.report.and_also(notes=[note]),
        )

    @property
    def wait(self) -> Floats:
        """The recorded waits in s, before all runs of a job, without the time of earlier ones; NaN if unknown. Shape (jobs,)."""
        waited = self.start - self.submit
        if self.site is None:
            return waited
        return waited - self.site.ran_before()

    @cached_property
    def workload(self) -> Workload:
        """The jobs that can be replayed, repaired, with a report. Raises WorkloadError if no job is left."""
        rows = np.flatnonzero(self._why < 0)
        submit = np.rint(self.submit[rows]).astype(np.int64)
        runtime, walltime, repairs = _durations(self.runtime[rows], self.walltime[rows])
        fractions = (submit != self.submit[rows]) | fraction(self.runtime[rows]) | fraction(self.walltime[rows])
        repairs["times with fractions of a second, rounded"] = int(fractions.sum())
        repairs |= {what: int(mask[rows].sum()) for what, mask in self.changed.items()}
        repairs["submit times not in order, sorted"] = int((submit < np.maximum.accumulate(submit)).sum())
        notes = []
        if repairs[NO_WALLTIME] or repairs[NO_LIMITS]:
            notes = [RUNTIME_KNOWN]
        ids, repairs[SUFFIXED] = _unique([self.ids[k] for k in rows.tolist()])
        order = np.argsort(submit, kind="stable")
        rows, submit = rows[order], submit[order]
        start = self.start[rows]
        known = np.isfinite(start) & (start >= 0)
        queue = self.queue.keep(rows)
        user = self.user.keep(rows)
        program = self.program.keep(rows)
        partition = None
        if self.partition is not None:
            partition = self.partition.keep(rows)
        wait = np.where(known, self.wait[rows], MISSING)
        eligible = None
        if self.eligible is not None:
            eligible = _eligible(self.eligible[rows], start)
        if eligible is not None:
            notes += _waits(wait, submit, eligible)
        return Workload(
            name=self.name,
            ids=tuple(ids[k] for k in order.tolist()),
            submit=submit,
            runtime=runtime[order],
            walltime=walltime[order],
            units=self.units[rows],
            resources=self.resources,
            request=self.request[rows],
            queue=queue.index,
            queues=tuple(_queues(queue, wait, self.ewt)),
            user=user.index,
            users=user.names,
            program=program.index,
            programs=program.names,
            release=np.maximum(submit, 0 if eligible is None else eligible),
            recorded_start=np.where(known, np.rint(np.where(known, start, 0)), UNKNOWN).astype(np.int64),
            power=self.power[rows],
            chunks=kept_rows(self.chunks, rows.tolist()),
            arrays=kept_rows(self.arrays, rows.tolist()),
            unix_start=self.unix_start,
            report=self.report.and_also(
                repairs,
                self._left_out(),
                notes,
                not_obeyed={what: int(mask[rows].sum()) for what, mask in self.not_obeyed.items()},
            ),
            latest_start=whole_seconds(self.latest_start, rows),
            partition=np.zeros(0, np.int64) if partition is None else partition.index,
            partitions=() if partition is None else partition.names,
            site=_site(self.site, rows, self.eligible),
        ).checked()

    @cached_property
    def _reasons(self) -> dict[str, Bools]:
        """Reason why jobs cannot be replayed -> mask of the jobs. The first reason that holds for a job is reported."""
        return {
            **self.unusable,
            "it has no submit time": np.isnan(self.submit),
            "its submit time is before second 0 of the log": self.submit < 0,
            "its runtime is unknown": ~(self.runtime >= 0),
            f"one of its times is beyond {LATEST:,} s (317 years)": beyond(self.submit, self.runtime, self.walltime),
            "it has no processors or nodes, neither requested nor allocated": self.units < 1,
        }

    @cached_property
    def _why(self) -> Ints:
        """For each job the index of the reason why it cannot be replayed; -1 if it can."""
        why = np.full(len(self), -1, np.int64)
        for k, mask in reversed(list(enumerate(self._reasons.values()))):
            why[mask] = k
        return why

    def _left_out(self) -> Iterator[tuple[str, str]]:
        reasons = list(self._reasons)
        for k in np.flatnonzero(self._why >= 0).tolist():
            yield self.ids[k], reasons[int(self._why[k])]


def _each_task(ids: Sequence[str], waited: Bools) -> tuple[Ints, tuple[str, ...]]:
    """Return the rows, and the ids, in which each task of the arrays that waited (``12_[3-7%2]``) has a row of its own.

    A task that has one already, as it started and was cancelled later, gets no second one.
    """
    rows: list[int] = []
    names: list[str] = []
    own = set(ids)
    for k, name in enumerate(ids):
        listed = None
        if waited[k]:
            listed = TASKS.fullmatch(name)
        tasks: list[str] = []
        with suppress(WrongValue):  # ranges that are none: the row stays one job
            tasks = []
            if listed:
                tasks = [f"{listed[1]}_{n}" for n in waiting_tasks(listed[2], MOST_TASKS).indices]
        if tasks:
            further = [task for task in tasks if task not in own]
        else:
            further = [name]
        names += further
        rows += [k] * len(further)
    return np.array(rows, np.int64), tuple(names)


def _note_on_tasks(before: Sequence[str], rows: Ints, ids: Sequence[str]) -> str:
    """Return a note on the rows that the tasks of arrays are made of, of the ids ``before``."""
    made = [k for k, name in zip(rows.tolist(), ids, strict=True) if name != before[k]]
    arrays = len(before) - len(ids) + len(made)
    return (
        f"{how_many(arrays, 'row', ',')} of job arrays that never ran are {how_many(len(made), 'job', ',')}, one for each task "
        "without a row of its own"
    )


def _durations(logged_runtime: Floats, logged_walltime: Floats) -> tuple[Ints, Ints, dict[str, int]]:
    """Return runtimes and walltimes in whole seconds, at least 1, and repair -> number of jobs."""
    runtime = np.maximum(np.ceil(logged_runtime), 1)
    missing = ~(logged_walltime > 0)
    unlimited = np.isposinf(logged_walltime)
    known = np.ceil(logged_walltime[~missing & ~unlimited])
    walltime = np.where(missing, runtime, logged_walltime)
    limits = bool(len(known))
    if limits:
        walltime[unlimited] = known.max()
    else:
        walltime[unlimited] = runtime[unlimited]
    walltime = np.ceil(walltime)
    repairs = {
        "runtime 0, taken as 1 s": int((logged_runtime == 0).sum()),
        NO_WALLTIME: int(missing.sum()),
        "walltime without a limit, the longest walltime of the log is used instead": int(unlimited.sum()) * limits,
        NO_LIMITS: int(unlimited.sum()) * (not limits),
        "runtime over walltime, kept": int((runtime > walltime).sum()),
    }
    return runtime.astype(np.int64), walltime.astype(np.int64), repairs


def _eligible(logged: Floats, start: Floats) -> Ints:
    """Return the times from which jobs could have started, in whole s, 0 if unknown; not after their starts."""
    known = np.where(np.isnan(logged), 0, np.fmin(logged, start))
    return np.rint(known).astype(np.int64)


def _site(site: SiteColumns | None, rows: Ints, eligible: Floats | None) -> SiteColumns | None:
    """Return the columns of some rows with their eligible times, in s."""
    if site is None or eligible is None:
        if site is None:
            return None
        return site.keep(rows)
    known = np.isfinite(eligible[rows])
    times = np.where(known, np.rint(np.where(known, eligible[rows], 0)), UNKNOWN).astype(np.int64)
    return replace(site.keep(rows), eligible=times)


def _waits(wait: Floats, submit: Ints, eligible: Ints) -> list[str]:
    """Return the note on the recorded waits where jobs became eligible after their submit times."""
    held = eligible > submit
    known = np.isfinite(wait) & (wait >= 0)
    if not held.any() or not known.any():
        return []
    since = wait[known] - np.maximum(eligible - submit, 0)[known]
    n = int(held.sum())
    return [
        f"{how_many(n, 'job', ',')} could not start before a time after their submit time (dependency, begin time, hold); the "
        f"mean recorded wait is {wait[known].mean():,.0f} s from the submit time, {since.mean():,.0f} s from that time"
    ]


def _unique(ids: list[str]) -> tuple[list[str], int]:
    """Return the ids, with a suffix (".2", ".3") for each repeated one, and the number of suffixes added.

    >>> _unique(["a", "b", "a", "a.2"])
    (['a', 'b', 'a.3', 'a.2'], 1)
    """
    if len(set(ids)) == len(ids):
        return ids, 0
    taken = set(ids)
    last: dict[str, int] = {}  # id -> the last number that was tried as its suffix
    changed = 0
    unique_ids = []
    for name in ids:
        if name not in last:
            last[name] = 1
            unique_ids.append(name)
            continue
        changed += 1
        number = last[name] + 1
        while f"{name}.{number}" in taken:
            number += 1
        last[name] = number
        taken.add(f"{name}.{number}")
        unique_ids.append(f"{name}.{number}")
    return unique_ids, changed


def _queues(queue: TextColumn, wait: Floats, ewt: Mapping[str, int]) -> Iterator[Queue]:
    known = np.isfinite(wait) & (wait >= 0)
    count = np.bincount(queue.index[known], minlength=len(queue.names))
    total = np.bincount(queue.index[known], wait[known], minlength=len(queue.names))
    for name, n, seconds in zip(queue.names, count.tolist(), total.tolist(), strict=True):
        yield Queue(name, ewt.get(name, max(1, round(seconds / n)) if n else USUAL_EWT))
