"""The jobs, chunks, nodes and running jobs of a dispatching problem as flat arrays, and the nodes that each job may use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import SchedlabError
from ..array_types import Bools, Floats, Ints
from ..platform import NodeGroup, Platform, ProblemError
from ..words import hint, how_many, listed, with_short_repr
from .jobs import Job, Queue, Running, impossible, lack

if TYPE_CHECKING:
    from ..desired_profile import DesiredProfile
    from .jobs import Durations, Window

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


# --- Where jobs may run: nodes of queues and of jobs, features, distinct and whole nodes; licences of the machine.


class DispatchData(Protocol):
    """The data of a dispatching problem; the fields are described in ``Dispatch``."""

    @property
    def platform(self) -> Platform:
        """The nodes."""

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs to start."""

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues of the jobs."""

    @property
    def objective(self) -> str:
        """The name of the objective."""

    @property
    def sense(self) -> Literal["minimize", "maximize"]:
        """Whether the objective is minimized or maximized."""

    @property
    def now(self) -> int:
        """The time in seconds before which no job starts."""

    @property
    def running(self) -> Sequence[Running]:
        """The jobs that occupy nodes at ``now``."""

    @property
    def durations(self) -> Durations:
        """Whether a job takes its walltime or its runtime."""

    @property
    def limits(self) -> Mapping[str, float]:
        """The limits on other objectives, by their names."""

    @property
    def desired(self) -> DesiredProfile | None:
        """The desired use of the platform."""

    @property
    def over_cost(self) -> float | None:
        """The cost of an amount-hour above the desired use; None: it is a limit."""

    @property
    def ewt(self) -> dict[str, int]:
        """The expected waiting time in seconds of each queue, by its name."""

    @property
    def job_arrays(self) -> JobArrays:
        """The jobs as arrays."""

    @property
    def horizon(self) -> int:
        """A time in seconds by which some optimal schedule has started all jobs."""

    def earliest(self, job: Job) -> int:
        """Return the earliest start of the job in seconds, without regard to its windows."""

    def replace(self, **changes: Any) -> DispatchData:
        """Return a copy with other values of the named fields."""

    def duration(self, job: Job) -> int:
        """Return the duration of the job in seconds."""

    def calendar(self, job: Job) -> tuple[Window, ...]:
        """Return the daily windows in which the job may start; empty if it may start at any time."""


# --- Expressions of features, as of Slurm's ``--constraint``.
#
# ``a&b``: nodes with both; ``a|b``: nodes with one of them; parentheses group. Without parentheses ``&`` and ``|`` are applied
# from left to right, as Slurm does: ``a|b&c`` is ``(a|b)&c``.

TOKEN = re.compile(r"\s*([&|()]|[^&|()\[\]*,!\s]+)")
REFUSED = {
    "[": "[...] (all nodes of a job with the same one of several features, XOR)",
    "]": "[...] (all nodes of a job with the same one of several features, XOR)",
    "*": "'*' (numbers of nodes with a feature)",
    ",": "',' between features",
    "!": "'!' (nodes without a feature)",
}


class FeatureExpression(NamedTuple):
    """An expression of features that was read.

    Parameters
    ----------
    operator : str
        "&", "|", or "" for a feature alone.
    name : str
        The feature; empty with an operator.
    sides : tuple of FeatureExpression
        The two sides of an operator.
    """

    operator: str
    name: str = ""
    sides: tuple[FeatureExpression, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The features that are named, each once."""
        if not self.operator:
            return (self.name,)
        return tuple(dict.fromkeys(name for side in self.sides for name in side.features))

    def holds(self, features: Iterable[str]) -> bool:
        """Return whether a node with these features satisfies the expression."""
        if isinstance(features, frozenset):
            has = features
        else:
            has = frozenset(features)
        if not self.operator:
            return self.name in has
        combine: Callable[[Iterable[bool]], bool]
        if self.operator == "&":
            combine = all
        else:
            combine = any
        return combine(side.holds(has) for side in self.sides)


def read_features(text: str) -> FeatureExpression:
    """Return the expression of a text.

    Parameters
    ----------
    text : str
        Such as "a", "a&b", "a|b", "(a|b)&c".

    Raises
    ------
    ProblemError
        If the text is no such expression; counts (``*``) and XOR (``[a|b]``) of Slurm are refused by name.

    Examples
    --------
    >>> read_features("(gpu|mic)&ib").holds({"mic", "ib"}), read_features("a|b&c").holds({"a"})
    (True, False)
    """
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        if token is None:
            character = text[at:].lstrip()[0]
            raise ProblemError(
                f"features {text!r}: {REFUSED.get(character, repr(character))} is not supported; expected names with "
                "'&', '|' and parentheses"
            )
        tokens.append(token.group(1))
        at = token.end()
    expression, rest = _expression(text, tokens)
    if rest:
        raise ProblemError(f"features {text!r}: {rest[0]!r} is not expected there")
    return expression


ONE_SET = re.compile(r"([^\[\]]*)\[([^\[\]*]*)\]([^\[\]*]*)")  # with [a|b] once, and no numbers of nodes


def alternative_features(text: str) -> tuple[str, ...]:
    """Return the expressions of features one of which all nodes of a job must have, as ``[a|b]`` of Slurm asks (XOR).

    Parameters
    ----------
    text : str
        Features as Slurm writes them. Without one such bracket, or with numbers of nodes in it, it is returned alone.

    Examples
    --------
    >>> alternative_features("ib&[rack1|(rack2&ssd)]"), alternative_features("a|b"), alternative_features("[a*2&b*1]")
    (('ib&rack1', 'ib&(rack2&ssd)'), ('a|b',), ('[a*2&b*1]',))
    """
    match = ONE_SET.fullmatch(text.strip())
    if match is None:
        return (text,)
    before, inside, after = match.groups()
    options = re.findall(r"(?:[^|()]|\([^()]*\))+", inside)
    names = [
        option.strip() if re.fullmatch(r"[^&|]*|\(.*\)", option.strip()) else f"({option.strip()})"
        for option in options
    ]
    return tuple(f"{before}{name}{after}" for name in names) or (text,)


def _expression(text: str, tokens: Sequence[str]) -> tuple[FeatureExpression, Sequence[str]]:
    """Return the expression at the begin of the tokens, up to a closing parenthesis, and the tokens after it."""
    made, rest = _operand(text, tokens)
    while rest and rest[0] in "&|":
        operator = rest[0]
        side, rest = _operand(text, rest[1:])
        made = FeatureExpression(operator, "", (made, side))
    return made, rest


def _operand(text: str, tokens: Sequence[str]) -> tuple[FeatureExpression, Sequence[str]]:
    if not tokens or tokens[0] in "&|)":
        where = "at the end"
        if tokens:
            where = f"before {tokens[0]!r}"
        raise ProblemError(f"features {text!r}: the name of a feature is expected {where}")
    if tokens[0] != "(":
        return FeatureExpression("", tokens[0]), tokens[1:]
    inside, rest = _expression(text, tokens[1:])
    if not rest or rest[0] != ")":
        raise ProblemError(f"features {text!r}: a closing parenthesis is missing")
    return inside, rest[1:]


# --- The nodes that jobs may use.


class Eligibility:
    """The nodes that jobs of some queues may use on a platform; equal answers are computed once.

    A job may use the nodes of its queue (``Queue.nodes``) that it names (``Job.nodes``) and that satisfy its features.

    Parameters
    ----------
    platform : Platform
        The nodes.
    queues : sequence of Queue
        The queues of the jobs.
    """

    def __init__(self, platform: Platform, queues: Sequence[Queue]) -> None:
        self.platform = platform
        self.queues = {q.name: q for q in queues}
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...], str], Bools] = {}

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: n for n, name in enumerate(self.platform.nodes)}

    def nodes(self, job: Job) -> Bools:
        """Return whether a job may use each node, shape (nodes,)."""
        queue = self.queues.get(job.queue)
        key = (queue.nodes if queue is not None else (), job.nodes, job.features)
        if key not in self._known:
            self._known[key] = self._made(*key)
        return self._known[key]

    def _made(self, of_queue: Sequence[str], of_job: Sequence[str], features: str) -> Bools:
        may = np.ones(len(self.platform.nodes), np.bool_)
        for names in (of_queue, of_job):
            if names:
                named = np.zeros(may.size, np.bool_)
                named[[self._index[name] for name in names]] = True
                may &= named
        if features:
            expression = read_features(features)
            groups = self.platform.groups
            may &= np.repeat([expression.holds(g.features) for g in groups], [g.count for g in groups])
        return may


def eligible_nodes(platform: Platform, queues: Sequence[Queue], job: Job) -> tuple[str, ...]:
    """Return the names of the nodes that a job may use: those of its queue that it names and that have its features.

    Parameters
    ----------
    platform : Platform
        The nodes.
    queues : sequence of Queue
        The queues; that of the job need not be among them.
    job : Job
        The job.

    Returns
    -------
    tuple of str
        In the order of ``platform.nodes``. Whether the units of the job fit there is not tested.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 4}), NodeGroup("g", 1, {"cores": 4}, features=("gpu",))])
    >>> eligible_nodes(machine, [Queue("q", 60, nodes=("n-3", "g-1"))], Job("a", 0, 9, 1, {}, "q", features="gpu"))
    ('g-1',)
    """
    may = Eligibility(platform, queues).nodes(job)
    return tuple(name for name, here in zip(platform.nodes, may.tolist(), strict=True) if here)


@with_short_repr
@dataclass(frozen=True, eq=False)
class NodeSets:
    """The sets of nodes that jobs may use, as arrays.

    Parameters
    ----------
    number : array of int, shape (jobs,)
        The row of ``sets`` of each job.
    sets : array of bool, shape (sets, nodes)
        The distinct sets of nodes; the first one is all nodes.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 4})])
    >>> jobs = [Job("a", 0, 9, 1, {}, "q"), Job("b", 0, 9, 1, {}, "q", nodes=("n-2",))]
    >>> made = NodeSets.of(machine, [Queue("q", 60)], jobs)
    >>> made.number.tolist(), made.sets.tolist()
    ([0, 1], [[True, True, True], [False, True, False]])
    """

    number: Ints
    sets: Bools

    @classmethod
    def of(cls, platform: Platform, queues: Sequence[Queue], jobs: Sequence[Job]) -> NodeSets:
        """Make the sets of some jobs.

        Parameters
        ----------
        platform : Platform
            The nodes.
        queues : sequence of Queue
            The queues of the jobs.
        jobs : sequence of Job
            The jobs.
        """
        every = np.ones(len(platform.nodes), np.bool_)
        if not any(q.nodes for q in queues) and not _some(jobs, "nodes") and not _some(jobs, "features"):
            return cls(np.zeros(len(jobs), np.int64), every[None])
        eligibility = Eligibility(platform, queues)
        rows = {every.tobytes(): 0}
        sets = [every]
        number = np.zeros(len(jobs), np.int64)
        for k, job in enumerate(jobs):
            may = eligibility.nodes(job)
            row = rows.setdefault(may.tobytes(), len(sets))
            if row == len(sets):
                sets.append(may)
            number[k] = row
        return cls(number, np.stack(sets))

    @property
    def restricting(self) -> bool:
        """Whether a job may not use all nodes."""
        return bool(self.number.any())


def _some(jobs: Sequence[Job], field: str) -> bool:
    return any(map(attrgetter(field), jobs))


@with_short_repr
@dataclass(frozen=True, eq=False)
class NodeClasses:
    """Classes of equal nodes: of the same capacity, and in the same sets of nodes that jobs may use.

    Parameters
    ----------
    members : tuple of tuple of str
        The names of the nodes of each class.
    capacity : tuple of tuple of int
        The capacity of a node of each class, in the order of ``platform.resources``.
    sets : array of bool, shape (sets, classes)
        Whether the nodes of a class are in each of ``NodeSets.sets``.
    """

    members: tuple[tuple[str, ...], ...]
    capacity: tuple[tuple[int, ...], ...]
    sets: Bools

    @classmethod
    def of(cls, platform: Platform, sets: NodeSets) -> NodeClasses:
        """Make the classes of a platform; without restrictions those of ``platform.classes``."""
        if not sets.restricting:
            classes = platform.classes
            return cls(tuple(classes.values()), tuple(classes), np.ones((len(sets.sets), len(classes)), np.bool_))
        by_key: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
        for n, name in enumerate(platform.nodes):
            by_key.setdefault((platform.capacity[name], sets.sets[:, n].tobytes()), []).append(n)
        names = platform.nodes
        first = [rows[0] for rows in by_key.values()]
        return cls(
            tuple(tuple(names[n] for n in rows) for rows in by_key.values()),
            tuple(capacity for capacity, _ in by_key),
            np.ascontiguousarray(sets.sets[:, first]),
        )

    @cached_property
    def of_node(self) -> dict[str, int]:
        """The class of each node by its name, in the order of the classes."""
        return {name: c for c, names in enumerate(self.members) for name in names}

    def units(self, job: Job, node_set: int, resources: Sequence[str]) -> list[int]:
        """Return how many units of a job of equal units an empty node of each class may hold.

        Parameters
        ----------
        job : Job
            A job, or a part of a heterogeneous job.
        node_set : int
            The row of ``sets`` with the nodes that it may use.
        resources : sequence of str
            Those of the platform.
        """
        request = [job.request.get(r, 0) for r in resources]
        if job.per_node is None:
            most = job.units
        else:
            most = min(job.units, job.per_node)
        may = self.sets[node_set].tolist()
        return [
            min([most, *(c // r for c, r in zip(vector, request, strict=True) if r > 0)]) if here else 0
            for vector, here in zip(self.capacity, may, strict=True)
        ]


def least_amounts(classes: NodeClasses, job: Job, node_set: int, resources: Sequence[str]) -> list[int]:
    """Return at least what a job of equal units takes of each resource of the machine while it runs.

    A whole-node job takes all of its nodes. A node with the amount C that holds at most m of its units contributes C / m of
    it for each unit there at least; so U units take at least U times the least C / m of all nodes, rounded up.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 8})])
    >>> job = Job("a", 0, 9, 3, {"cores": 3}, "q", whole_nodes=True)
    >>> least_amounts(NodeClasses.of(machine, NodeSets.of(machine, [], [job])), job, 0, ["cores"])
    [12]
    """
    own = [job.units * job.request.get(r, 0) for r in resources]
    if not job.whole_nodes:
        return own
    room = classes.units(job, node_set, resources)
    usable = [(vector, most) for vector, most in zip(classes.capacity, room, strict=True) if most > 0]
    whole = [min(-(-job.units * vector[k] // most) for vector, most in usable) for k in range(len(resources))]
    return [max(amounts) for amounts in zip(own, whole, strict=True)]


# --- The checks of these fields.

PLACE_FIELDS = ("nodes", "features", "per_node", "whole_nodes", "licences")


def is_placed_freely(problem: DispatchData) -> bool:
    """Return whether any units may run on any nodes that hold them: no nodes, features, whole nodes, licences are asked for."""
    jobs = _all_jobs(problem)
    return _anywhere(problem) and not _some(jobs, "licences")


def _all_jobs(problem: DispatchData) -> Sequence[Job]:
    if problem.running:
        return [*problem.jobs, *(r.job for r in problem.running)]
    return problem.jobs


def _anywhere(problem: DispatchData) -> bool:
    """Return whether jobs may use all nodes, with as many units on each as fit, beside other jobs."""
    jobs = _all_jobs(problem)
    if any(q.nodes for q in problem.queues) or any(_some(jobs, name) for name in ("nodes", "features")):
        return False
    return not any(j.per_node is not None or j.whole_nodes for j in jobs)


def place_faults(problem: DispatchData) -> list[str]:
    """Return a message for each queue, job and running job whose nodes, features or licences contradict the platform."""
    if is_placed_freely(problem):
        return []
    platform = problem.platform
    known = set(platform.nodes)
    faults = []
    for q in problem.queues:
        faults += [f"queue {q.name!r}: {why}" for why in _unknown_nodes(q.nodes, known)]
    messages: dict[str, str | None] = {}
    features = sorted({f for g in platform.groups for f in g.features})
    for job in problem.jobs:
        who = f"job {job.id!r}"
        faults += [f"{who}: {why}" for why in _unknown_nodes(job.nodes, known)]
        if job.features:
            if job.features not in messages:
                messages[job.features] = _feature_fault(job.features, features)
            told = messages[job.features]
            if told is not None:
                faults.append(f"{who}: {told}")
        if job.chunks and (job.per_node is not None or job.whole_nodes):
            what = "whole_nodes"
            if job.per_node is not None:
                what = "per_node"
            faults.append(
                f"{who}: {what} is not supported for a heterogeneous job; give it to jobs of equal units alone"
            )
    for job in _all_jobs(problem):
        faults += [f"job {job.id!r}: {why}" for why in _licence_faults(job, platform.licences)]
    if problem.desired is not None and problem.over_cost is None and not _anywhere(problem):
        faults.append(
            "nodes, features, per_node and whole_nodes are not supported beside a desired use that is a limit; "
            "give it a cost (over_cost), or leave it out"
        )
    return faults


def _unknown_nodes(names: Sequence[str], known: set[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"there is no node {name!r}; {hint(name, sorted(known)[:1000])}"


def _feature_fault(text: str, known: Sequence[str]) -> str | None:
    try:
        expression = read_features(text)
    except ProblemError as e:
        return str(e)
    unknown = next((name for name in expression.features if name not in known), None)
    if unknown is None:
        return None
    return f"no node has the feature {unknown!r}; {hint(unknown, known, 'the features are', 'no node has features')}"


def _licence_faults(job: Job, licences: Mapping[str, int]) -> Iterator[str]:
    for name, amount in job.licences.items():
        if amount < 0:
            yield f"asks for {amount} licences of {name!r}; at least 0 is expected"
        elif name not in licences:
            yield f"there is no licence {name!r}; {hint(name, list(licences), 'the licences are', 'the platform has none')}"
        elif amount > licences[name]:
            yield f"asks for {amount} licences of {name!r}, the platform has {licences[name]}"


# --- Whether the empty platform holds a job on the nodes that it may use.


def impossible_jobs(platform: Platform, queues: Sequence[Queue], jobs: Sequence[Job]) -> list[tuple[Job, str]]:
    """Return the jobs that their nodes cannot hold while the machine is empty, each with a text that says why.

    Parameters
    ----------
    platform : Platform
        The nodes and licences.
    queues : sequence of Queue
        The queues of the jobs; their nodes, those of the jobs, and the features exist.
    jobs : sequence of Job
        The jobs.
    """
    of_queue = {q.name for q in queues if q.nodes}
    if not of_queue and not any(_some(jobs, name) for name in PLACE_FIELDS):
        return impossible(platform, jobs)
    refused = {job.id: why for job, why in impossible(platform, jobs)}
    eligibility = Eligibility(platform, queues)
    for job in jobs:
        if job.id not in refused and (job.queue in of_queue or any(getattr(job, name) for name in PLACE_FIELDS)):
            why = next(_licence_faults(job, platform.licences), None) or _does_not_fit(eligibility, job)
            if why is not None:
                refused[job.id] = why
    return [(job, refused[job.id]) for job in jobs if job.id in refused]


def _does_not_fit(eligibility: Eligibility, job: Job) -> str | None:
    """Return why the nodes that a job may use cannot hold it while they are empty; None if they can."""
    may = eligibility.nodes(job)
    whose = described_nodes(eligibility, job)
    if not may.any():
        return f"{whose}: there is no such node"
    platform = eligibility.platform
    usable = []
    first = 0
    for group in platform.groups:
        count = int(may[first : first + group.count].sum())
        first += group.count
        if count:
            usable.append((tuple(group.capacity.get(r, 0) for r in platform.resources), count))
    for part in job.parts:
        request = tuple(part.request.get(r, 0) for r in platform.resources)
        if part.per_node is None:
            most = part.units
        else:
            most = min(part.units, part.per_node)
        room = sum(count * min(most, platform.units_on(vector, request)) for vector, count in usable)
        if room < part.units:
            at_most = ""
            if part.per_node is not None:
                at_most = f", at most {part.per_node} on a node"
            asks = f"asks for {how_many(part.units, 'unit')} of {dict(part.request)}{at_most}"
            return (
                f"{asks}, but the {how_many(int(may.sum()), 'node')} that it may use hold only {room} of them ({whose})"
            )
    if not job.chunks:
        return None
    shape = [(p.units, tuple(p.request.get(r, 0) for r in platform.resources)) for p in job.parts]
    alone = [
        NodeGroup(f"g{k}", count, dict(zip(platform.resources, vector, strict=True)))
        for k, (vector, count) in enumerate(usable)
    ]
    why = lack(Platform(alone), shape)
    if why is None:
        return None
    return f"{why} ({whose})"


def described_nodes(eligibility: Eligibility, job: Job) -> str:
    """Return in words which nodes a job may use.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 4}, features=("ib",))])
    >>> queues = [Queue("q", 60, nodes=("n-3",))]
    >>> described_nodes(Eligibility(machine, queues), Job("a", 0, 9, 1, {}, "q", features="ib"))
    "it may use the nodes of queue 'q' with the features 'ib'"
    """
    queue = eligibility.queues.get(job.queue)
    words = []
    if job.nodes:
        words.append(listed(job.nodes, 5))
    if queue is not None and queue.nodes:
        words.append(f"of queue {job.queue!r}")
    if job.features:
        words.append(f"with the features {job.features!r}")
    if words:
        return f"it may use the nodes {' '.join(words)}"
    return "it may use all nodes"


# --- Parts that do not obey these fields.


class NotPlaced(SchedlabError, ValueError):
    """A part of schedlab does not obey nodes, features, distinct and whole nodes, or licences; the message names it."""


def refuse_places(problem: DispatchData, what: str) -> None:
    """Raise NotPlaced if a problem restricts where jobs may run, or has licences.

    Parameters
    ----------
    problem : DispatchData
        The problem.
    what : str
        The part that does not obey this, at the begin of the message.
    """
    if is_placed_freely(problem):
        return
    asked = []
    jobs = _all_jobs(problem)
    if any(q.nodes for q in problem.queues):
        asked.append("nodes of queues")
    if _some(jobs, "nodes") or _some(jobs, "features"):
        asked.append("nodes or features of jobs")
    if any(j.per_node is not None for j in jobs):
        asked.append("per_node")
    if _some(jobs, "whole_nodes"):
        asked.append("whole_nodes")
    if _some(jobs, "licences"):
        asked.append("licences")
    raise NotPlaced(f"{what} does not obey {listed(asked)}; use another method, such as cpsat:counts")
