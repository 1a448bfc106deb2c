"""A job as a log records it, and columns of texts: the data that the readers of log formats fill in."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..models.array_types import Bools, Floats, Ints
from ..models.comparing import hashable
from ..models.dispatch.jobs import Chunk
from ..models.dispatch.site_request import Recorded, SiteRequest
from .files.writing import SURROGATE
from .site_columns import SiteColumns, SiteRows

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
    return texts if used.all() else texts.keep(np.arange(rows))  # replaced rows can leave names without a job


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
        self._changed[row] = job.changed if name else (*job.changed, NUMBERED)
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
        return _column(self._gpu_types, len(self)) if any(self._gpu_types.known) else None

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
                masks[what] = masks[what] | mask if what in masks else mask
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
