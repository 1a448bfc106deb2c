"""Jobs, chunks, nodes and running jobs as flat arrays: the only conversion of these objects to numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..array_types import Bools, Floats, Ints
from ..platform import Platform
from ..words import with_short_repr
from .jobs import Job, Running

# --- The further chunks of heterogeneous jobs as flat arrays, beside the arrays of the jobs.

T = TypeVar("T")


class FurtherChunks(NamedTuple):
    """All chunks but the first one of each job, in the order of the jobs; shape (chunks,) each.

    Parameters
    ----------
    job : array of int
        The index of the job, ascending.
    units : array of int
        The number of units.
    kind : array of int
        The row of ``JobArrays.requests`` that holds the request.
    """

    job: Ints
    units: Ints
    kind: Ints

    def some(self, index: Ints, jobs: int) -> FurtherChunks | None:
        """Return the chunks of some of the ``jobs`` jobs, in the order of the indices; None if there are none."""
        count = self.counts(jobs)
        first = np.searchsorted(self.job, index)
        each = count[index]
        at = np.repeat(first - np.cumsum(each) + each, each) + np.arange(int(each.sum()))
        if not at.size:
            return None
        return FurtherChunks(np.repeat(np.arange(index.size), each), self.units[at], self.kind[at])

    def counts(self, jobs: int) -> Ints:
        """Return the number of further chunks of each job, shape (jobs,)."""
        return np.bincount(self.job, minlength=jobs).astype(np.int64)


def further_chunks(jobs: Sequence[Job]) -> list[tuple[int, int, Job]]:
    """Return (index of the job, units, part) of all chunks of these jobs but the first ones."""
    return [(k, part.units, part) for k, job in enumerate(jobs) if job.chunks for part in job.parts[1:]]


def kept_rows(values: Mapping[int, T], kept: Sequence[int]) -> dict[int, T]:
    """Return the values of some rows by their new rows: the places of the old ones in ``kept``.

    Examples
    --------
    >>> kept_rows({3: "a", 5: "b"}, [5, 1])
    {0: 'b'}
    """
    if values:
        return {new: values[old] for new, old in enumerate(kept) if old in values}
    return {}


# --- Jobs and nodes as flat arrays: the only conversion of ``Job`` and ``Platform`` objects to numbers.
#
# Models of neighbourhoods, compiled searches, rules, replays and CP dispatchers take their arrays from here. The
# verifiers do not: they read the jobs themselves.

NO_CHUNKS = FurtherChunks(*(np.zeros(0, np.int64) for _ in range(3)))


class Requester(Protocol):
    """Anything that requests resources, for instance a ``Job``."""

    @property
    def request(self) -> Mapping[str, int]:
        """The amount of each resource that one unit needs."""
        ...


@with_short_repr
@dataclass(frozen=True, eq=False)
class JobArrays:
    """Jobs as arrays with one entry per job; times are in seconds.

    Parameters
    ----------
    submit, release : array of int, shape (jobs,)
        The submit time, and the earliest start without regard to windows.
    duration, units : array of int, shape (jobs,)
        The duration and the number of units; of a heterogeneous job, the units of its first chunk.
    requests : array of int, shape (kinds, resources)
        Distinct requests of one unit, in lexicographic order.
    kind : array of int, shape (jobs,)
        The row of ``requests`` that holds the request of the job or of its first chunk.
    further : FurtherChunks, optional
        The further chunks of heterogeneous jobs; None if all jobs have one chunk.

    Examples
    --------
    >>> jobs = [Job(n, 0, 60, units, {"cores": 8}, "q") for n, units in (("a", 2), ("b", 3))]
    >>> a = JobArrays.of(jobs, ("cores", "gpus"))
    >>> a.requests.tolist(), a.kind.tolist(), a.first_unit.tolist()
    ([[8, 0]], [0, 0], [0, 2, 5])
    """

    submit: Ints
    release: Ints
    duration: Ints
    units: Ints
    requests: Ints
    kind: Ints
    further: FurtherChunks | None = field(default=None, kw_only=True)

    @classmethod
    def of(
        cls,
        jobs: Sequence[Job],
        resources: Sequence[str],
        duration: Callable[[Job], int] = attrgetter("walltime"),
        now: int | None = None,
    ) -> JobArrays:
        """Make the arrays of some jobs.

        Parameters
        ----------
        jobs : sequence of Job
            The jobs.
        resources : sequence of str
            The resources of the platform: the columns of ``requests``.
        duration : callable, optional
            The duration of a job in seconds; by default its walltime.
        now : int, optional
            No job is released before this time in seconds.
        """
        release = column(map(attrgetter("release"), jobs), len(jobs))
        more = further_chunks(jobs)
        requests, kind = distinct_requests([*jobs, *(part for *_, part in more)] if more else jobs, resources)
        further = None
        if more:
            further = FurtherChunks(column(k for k, *_ in more), column(u for _, u, _ in more), kind[len(jobs) :])
        return JobArrays(
            submit=column(map(attrgetter("submit"), jobs), len(jobs)),
            release=release if now is None else np.maximum(release, now),
            duration=column(map(duration, jobs), len(jobs)),
            units=column(map(attrgetter("units"), jobs), len(jobs)),
            requests=requests,
            kind=kind[: len(jobs)],
            further=further,
        )

    def __len__(self) -> int:
        return self.submit.size

    @cached_property
    def request(self) -> Ints:
        """The request of one unit of each job, or of its first chunk, shape (jobs, resources)."""
        requests: Ints = self.requests[self.kind]
        return requests

    @cached_property
    def all_units(self) -> Ints:
        """The number of units of each job in all its chunks, shape (jobs,)."""
        if self.further is None:
            return self.units
        units = self.units.copy()
        np.add.at(units, self.further.job, self.further.units)
        return units

    @cached_property
    def amounts(self) -> Ints:
        """What all units of each job request together, shape (jobs, resources)."""
        amounts: Ints = self.units[:, None] * self.request
        if self.further is not None:
            np.add.at(amounts, self.further.job, self.further.units[:, None] * self.requests[self.further.kind])
        return amounts

    @cached_property
    def first_unit(self) -> Ints:
        """The units of job j have the positions ``first_unit[j]`` to ``first_unit[j + 1] - 1``; shape (jobs + 1,).

        The units of its chunks follow each other.
        """
        return offsets(self.all_units)

    @cached_property
    def job_of_unit(self) -> Ints:
        """The job of each unit, shape (units of all jobs,)."""
        return np.repeat(np.arange(len(self)), self.all_units)

    @cached_property
    def kind_of_unit(self) -> Ints:
        """The row of ``requests`` of each unit, shape (units of all jobs,)."""
        rows = self.rows
        return np.repeat(rows.kind[rows.order], rows.units[rows.order])

    @cached_property
    def rows(self) -> Rows:
        """The chunks of all jobs as rows: row j is the first chunk of job j, the further chunks follow."""
        jobs = len(self)
        if self.further is None:
            return Rows(self.units, self.kind, np.full(jobs + 1, jobs), np.arange(jobs))
        job, units, kind = self.further
        order = np.argsort(np.concatenate([np.arange(jobs), job]), kind="stable")
        first = jobs + offsets(self.further.counts(jobs))
        return Rows(np.concatenate([self.units, units]), np.concatenate([self.kind, kind]), first, order)

    def some(self, which: Bools | Ints) -> Self:
        """Return some of the jobs, selected by a mask, or by indices in the order of the indices."""
        index: Ints = np.flatnonzero(which) if which.dtype == np.bool_ else which  # type: ignore[assignment]
        further = None
        if self.further is not None:
            further = self.further.some(index, len(self))
        columns: dict[str, Any] = {name: values[index] for name, values in self._columns()}
        return self.changed(further=further, **columns)

    def changed(self, **values: Any) -> Self:
        """Return a copy with other values of some fields, in a fifth of the time of ``dataclasses.replace``."""
        made = object.__new__(type(self))
        own = self.__dict__
        made.__dict__.update({name: own[name] for name in self.__dataclass_fields__}, **values)
        return made

    def joined(self, other: Self) -> Self:
        """Return the jobs of both, first those of this object."""
        columns = {n: np.concatenate([v, w]) for (n, v), (_, w) in zip(self._columns(), other._columns(), strict=True)}
        requests = self.requests
        row = np.arange(len(self.requests))
        shift = 0
        if other.requests is not self.requests:
            listed = [*map(tuple, self.requests.tolist()), *map(tuple, other.requests.tolist())]
            requests, row = numbered_rows(listed, self.requests.shape[1])
            shift = len(self.requests)
            columns["kind"] = np.concatenate([row[self.kind], row[other.kind + shift]])
        further = None
        if self.further is not None or other.further is not None:
            mine, theirs = self.further or NO_CHUNKS, other.further or NO_CHUNKS
            further = FurtherChunks(
                np.concatenate([mine.job, theirs.job + len(self)]),
                np.concatenate([mine.units, theirs.units]),
                np.concatenate([row[mine.kind], row[theirs.kind + shift]]),
            )
        return self.changed(further=further, requests=requests, **columns)

    def _columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the arrays with one entry per job, by name, also those of a class that extends this one."""
        for name in self.__dataclass_fields__:
            values = self.__dict__[name]
            if isinstance(values, np.ndarray) and name != "requests":
                yield name, values


@with_short_repr
class Rows(NamedTuple):
    """The chunks of jobs as rows; row j is the first chunk of job j, its further chunks have later rows.

    Parameters
    ----------
    units, kind : array of int, shape (rows,)
        The number of units, and the row of ``JobArrays.requests``.
    first : array of int, shape (jobs + 1,)
        The further chunks of job j are the rows ``first[j]`` to ``first[j + 1] - 1``.
    order : array of int, shape (rows,)
        The rows job after job.
    """

    units: Ints
    kind: Ints
    first: Ints
    order: Ints


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """The nodes of a platform as arrays.

    Parameters
    ----------
    platform : Platform
        The platform; node n is ``platform.nodes[n]``.
    """

    platform: Platform

    @cached_property
    def capacity(self) -> Ints:
        """The capacity of each node, shape (nodes, resources)."""
        groups, resources = self.platform.groups, self.platform.resources
        rows = np.array([[g.capacity.get(r, 0) for r in resources] for g in groups], np.int64)
        return np.repeat(rows.reshape(len(groups), len(resources)), [g.count for g in groups], axis=0)

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each node by its name."""
        return {name: n for n, name in enumerate(self.platform.nodes)}

    @cached_property
    def total(self) -> Ints:
        """The capacity of the whole platform, at least 1, shape (resources,)."""
        totals: Ints = np.maximum(1, self.capacity.sum(axis=0))
        return totals

    def shares(self, requests: Ints) -> Floats:
        """Return the sum over resources of request / capacity of the platform, for each row."""
        shares: Floats = (requests / self.total).sum(axis=1)
        return shares


def distinct_requests(jobs: Iterable[Requester], resources: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the distinct requests in lexicographic order, and for each job the index of its request.

    Parameters
    ----------
    jobs : iterable
        Jobs, or other objects with a ``request``.
    resources : sequence of str
        The resources: the columns of the requests.

    Returns
    -------
    tuple of array of int
        The requests, shape (kinds, resources), and the indices, shape (jobs,).
    """
    return numbered_rows(request_rows(jobs, resources), len(resources))


def request_rows(jobs: Iterable[Requester], resources: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the request of one unit of each job, as a tuple with the amount of each of the resources."""
    none = (0,) * len(resources)
    return [tuple(map(job.request.get, resources, none)) for job in jobs]


def numbered_rows(rows: Sequence[tuple[int, ...]], columns: int) -> tuple[Ints, Ints]:
    """Return the distinct rows in lexicographic order, and for each row its index; faster than ``distinct`` for few rows."""
    number = {row: k for k, row in enumerate(sorted(set(rows)))}
    return np.array(list(number), np.int64).reshape(len(number), columns), column(
        map(number.__getitem__, rows), len(rows)
    )


def distinct(rows: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows in lexicographic order, and for each row the index of its value.

    ``np.unique`` with ``axis=0`` takes twice as long.
    """
    kind = np.zeros(len(rows), np.int64)
    for values in rows.T:
        listed, code = np.unique(values, return_inverse=True)
        kind = np.unique(kind * len(listed) + code, return_inverse=True)[1].astype(np.int64)
    _, samples = np.unique(kind, return_index=True)
    return rows[samples], kind


def offsets(sizes: Ints | Sequence[int]) -> Ints:
    """Return 0 and the running sums of the sizes: the first index of each list when the lists are concatenated."""
    begins = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(np.asarray(sizes, np.int64), out=begins[1:])
    return begins


def column(values: Iterable[int], size: int = -1) -> Ints:
    """Return whole numbers as an array; ``size`` is their number, if it is known."""
    return np.fromiter(values, np.int64, size)


def numbers_of(values: Iterable[str]) -> dict[str, int]:
    """Return each distinct value with its index, in the order of first occurrence."""
    numbers: dict[str, int] = {}
    for v in values:
        numbers.setdefault(v, len(numbers))
    return numbers


# --- What running jobs occupy on each node, and what they give back to the machine at their ends.


class Occupied(NamedTuple):
    """What running jobs occupy, one entry per running job and node.

    Parameters
    ----------
    job : array of int, shape (entries,)
        The index of the running job.
    node : array of int, shape (entries,)
        The index of the node.
    amount : array of int, shape (entries, resources)
        The amounts of all units of the job on the node.
    """

    job: Ints
    node: Ints
    amount: Ints


def occupied(running: Sequence[Running], nodes: NodeArrays) -> Occupied:
    """Return what the running jobs occupy on the nodes."""
    rows = [(k, nodes.index[name], units) for k, r in enumerate(running) for name, units in r.nodes.items()]
    # contiguous: kernels are compiled once more for arrays with gaps
    job, node, units = np.ascontiguousarray(np.array(rows, np.int64).reshape(-1, 3).T)
    requests, kind = distinct_requests([r.job for r in running], nodes.platform.resources)
    return Occupied(job, node, units[:, None] * requests[kind[job]])


class Returns(NamedTuple):
    """What running jobs give back to the machine at each of their ends.

    Parameters
    ----------
    end : array of int, shape (ends,)
        Distinct ends in seconds, in increasing order.
    amount : array of int, shape (ends, resources)
        The amounts of all nodes together.
    """

    end: Ints
    amount: Ints

    @classmethod
    def of(cls, end: Ints, amount: Ints, now: int) -> Returns:
        """Make it of an end and amounts per entry; entries that end by ``now`` (seconds) are left out."""
        later = end > now
        ends, which = np.unique(end[later], return_inverse=True)
        total = np.zeros((ends.size, amount.shape[1]), np.int64)
        np.add.at(total, which, amount[later])
        return cls(ends, total)
