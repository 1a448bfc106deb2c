"""The data of a dispatching problem: queues, jobs, chunks of heterogeneous jobs, running jobs; and their checks.

``SiteRequest`` is what a job asked of the scheduler of its site beyond amounts of resources. A solver and a dispatcher of
schedlab's own need none of it; a replay that follows the rules of a site does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from ...errors import WrongArgument, WrongValue
from ..arguments import (
    Fields,
    examined,
    is_list,
    is_number,
    is_whole,
    named,
    shown,
    whole_amounts,
    whole_records,
    wrong,
)
from ..comparing import hashable
from ..platform import Platform, ProblemError
from ..problem import part_name
from ..words import how_many, how_many_of, with_short_repr

KINDS = (
    "after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer", "expand", "singleton",
    "before", "beforeany", "beforeok", "beforenotok", "on",
)  # fmt: skip  # of Slurm; of PBS too
PER = ("node", "task", "socket", "job")
MOST = 10**15


@with_short_repr
class Dependency(NamedTuple):
    """A condition on other jobs under which a job becomes eligible.

    Parameters
    ----------
    kind : str
        Slurm's name: ``afterok`` (they ended well), ``afterany`` (they ended), ``afternotok``, ``after`` (they started),
        ``aftercorr`` (the task of the same index ended well), ``singleton`` (no other job of the user with this name runs).
    jobs : tuple of str
        Ids of the other jobs or job arrays; empty for ``singleton``.
    delay : int
        Seconds after the start of the other jobs; for ``after`` only.
    """

    kind: str
    jobs: tuple[str, ...] = ()
    delay: int = 0


@with_short_repr
class Gres(NamedTuple):
    """A request of generic resources, such as two GPUs of type a100 on each node.

    Parameters
    ----------
    name : str
        The name, ``gpu`` as a rule.
    type : str
        The type; "" for any.
    number : int
        How many.
    per : str
        What the number is for: ``node``, ``task``, ``socket`` or ``job``.
    """

    name: str
    type: str
    number: int
    per: str


@with_short_repr
class RecordedAttempt(NamedTuple):
    """An attempt to run a job that ended before the job was done: preempted, requeued, or stopped by a fault of a node.

    Parameters
    ----------
    submit, start, end : int
        Times in seconds; -1: unknown.
    state : str
        How it ended, such as ``NODE_FAIL``.
    nodes : str
        Its nodes, as written: ``n[1-4,7]``.
    """

    submit: int
    start: int
    end: int
    state: str
    nodes: str


@with_short_repr
@dataclass(frozen=True)
class SiteRequest:
    """What a job asked of the scheduler of its site, in the terms of that scheduler.

    A text that is empty and a number that is None were not asked for, or are not recorded. Equal requests of many jobs are
    one object.

    Parameters
    ----------
    account, qos : str
        The account that is charged; the quality of service.
    partitions : tuple of str
        The partitions that the job may run in; it takes one of them.
    min_nodes, max_nodes : int or None
        Number of nodes. ``-N 4`` is 4 and 4.
    cpus : int or None
        CPUs of the whole job, as requested.
    tasks, tasks_per_node, cpus_per_task : int or None
        Tasks, tasks on each node, CPUs of each task.
    memory_per_cpu, memory_per_node, memory_per_gpu : int or None
        Memory in MB. 0 MB per node is all memory of the node.
    gres : tuple of Gres
        Generic resources, as GPUs are.
    exclusive : str
        ``"node"``: no other job on its nodes; ``"user"``, ``"mcs"``: none of another user, of another label; ``"no"``: the
        job shares its resources (``--oversubscribe``).
    contiguous : bool
        Whether the nodes must be neighbours.
    features : str
        Features that the nodes must have, as written: ``a100&nvme``, ``[rack1|rack2]``.
    nodes, excluded_nodes : str
        Lists of nodes: those that must be among the nodes of the job, and those that must not; ``n[1-4,7]``.
    licences : str
        Licences, as written: ``matlab:2,ansys``.
    reservation : str
        The reservation that the job runs in; with commas, one of several.
    nice : int
        What the user took off the priority.
    dependencies : tuple of Dependency
        Conditions on other jobs.
    any_dependency : bool
        Whether one of them is enough.
    begin : int
        Seconds after the submit time before which the job is not eligible (``--begin``).
    array_limit : int or None
        Tasks of the array of the job that may run at once.
    held : bool
        Whether it was submitted on hold.
    requeue : bool or None
        Whether the job may be run again after a preemption or a fault of a node; None: as the site has set.

    Examples
    --------
    >>> SiteRequest(account="chem", partitions=("batch",), min_nodes=2, gres=(Gres("gpu", "a100", 1, "node"),)).gpus("node")
    {'a100': 1}
    """

    account: str = ""
    qos: str = ""
    partitions: tuple[str, ...] = ()
    min_nodes: int | None = None
    max_nodes: int | None = None
    cpus: int | None = None
    tasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    memory_per_cpu: int | None = None
    memory_per_node: int | None = None
    memory_per_gpu: int | None = None
    gres: tuple[Gres, ...] = ()
    exclusive: str = ""
    contiguous: bool = False
    features: str = ""
    nodes: str = ""
    excluded_nodes: str = ""
    licences: str = ""
    reservation: str = ""
    nice: int = 0
    dependencies: tuple[Dependency, ...] = ()
    any_dependency: bool = False
    begin: int = 0
    array_limit: int | None = None
    held: bool = False
    requeue: bool | None = None

    def __post_init__(self) -> None:
        for name in NUMBERS:
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and 0 <= value <= MOST):
                raise WrongValue(f"{name} is {shown(value)}; a whole number of at least 0, or None, is expected")

    def gpus(self, per: str) -> dict[str, int]:
        """Return the GPUs that were asked for each node, task, socket or the job, by type; "" is any type."""
        amounts: dict[str, int] = {}
        for each in self.gres:
            if each.name == "gpu" and each.per == per:
                amounts[each.type] = amounts.get(each.type, 0) + each.number
        return amounts


@with_short_repr
@dataclass(frozen=True)
class Recorded:
    """What the scheduler of a site recorded of a job. Times are in seconds; None or "": unknown.

    Parameters
    ----------
    start : int or None
        The start of the job.
    eligible : int or None
        The time from which it could have started: no dependency, hold or begin time any more.
    cancelled : int or None
        The time at which it left the queue without having run: it was cancelled there, or the log ended.
    priority : int or None
        Its last priority.
    nodes : str
        Its nodes, as written: ``n[1-4,7]``.
    state, reason : str
        Its last state; why it waited last.
    attempts : tuple of RecordedAttempt
        Earlier attempts to run it.
    cpus : int or None
        The CPUs that it had in all, where that is not what its units ask for, which have equal shares, rounded up.
    """

    start: int | None = None
    eligible: int | None = None
    cancelled: int | None = None
    priority: int | None = None
    nodes: str = ""
    state: str = ""
    reason: str = ""
    attempts: tuple[RecordedAttempt, ...] = ()
    cpus: int | None = None


NUMBERS = (
    "min_nodes", "max_nodes", "cpus", "tasks", "tasks_per_node", "cpus_per_task", "memory_per_cpu", "memory_per_node",
    "memory_per_gpu", "begin", "array_limit",
)  # fmt: skip
NOTHING = SiteRequest()
NOTHING_RECORDED = Recorded()


# --- A chunk of a heterogeneous job, and the checks of the chunks of jobs.


@with_short_repr
class Chunk(NamedTuple):
    """A group of equal units of a heterogeneous job.

    Parameters
    ----------
    units : int
        The number of units, at least 1.
    request : mapping of str to int
        The amount of each resource that one unit needs.

    Examples
    --------
    >>> Chunk(2, {"cores": 16, "gpus": 2})
    Chunk(units=2, request={'cores': 16, 'gpus': 2})
    """

    units: int
    request: Mapping[str, int]


def whole_chunks(job: Job) -> tuple[Job, list[str]]:
    """Return a job whose chunks hold Python's integers, and a message for each value that is no whole number."""
    faults: list[str] = []
    made = []
    if not is_list(job.chunks):
        return job, [
            f"job {job.id!r}: chunks is {shown(job.chunks)}; a list of (units, {{resource: amount}}) is expected"
        ]
    for k, given in enumerate(job.chunks):
        where = f"job {job.id!r}: chunk {k}"
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            faults.append(f"{where} is {shown(given)}; (units, {{resource: amount}}) is expected")
            continue
        units, amounts = given
        request, faults_of_request = whole_amounts(amounts, "request of")
        faults += [f"{where}: {why}" for why in faults_of_request]
        if not is_whole(units):
            faults.append(f"{where}: units {wrong(units)}")
            continue
        made.append(Chunk(int(units), request))
    if faults:
        return (job, faults)
    return (replace(job, chunks=tuple(made)), [])


def chunk_faults(jobs: Iterable[Job]) -> list[str]:
    """Return a message for each job whose chunks contradict its other data, or whose parts have names of other jobs."""
    jobs = list(jobs)
    with_chunks = [j for j in jobs if j.chunks]
    if not with_chunks:
        return []
    ids = {j.id for j in jobs}
    faults = []
    for job in with_chunks:
        first = job.chunks[0]
        if (job.units, dict(job.request)) != (first.units, dict(first.request)):
            faults.append(
                f"job {job.id!r}: units and request must be those of its first chunk, {how_many(first.units, 'unit')} of "
                f"{dict(first.request)}; Job.of_chunks sets them"
            )
        taken = [name for k in range(1, len(job.chunks)) if (name := part_name(job.id, k)) in ids]
        faults.extend(
            f"job {name!r}: this is the name of a chunk of job {job.id!r}; rename one of them" for name in taken
        )
    return faults


# --- The fields of queues and jobs that must hold whole numbers, and the check of all jobs of a dispatching problem.

QUEUE = Fields(one=("ewt",), pairs=("daily",), names=("name",))
JOB = Fields(
    ("submit", "walltime", "units"),
    ("earliest_start", "deadline", "runtime", "latest_start"),
    ("request", "licences"),
    ("windows",),
    ("id", "queue", "user", "name", "array", "features"),
)
NO_POWER = frozenset([NoneType])
RUNNING = Fields(one=("start", "end"), amounts=("nodes",))


def whole_jobs(jobs: Sequence[Job], running: Sequence[Running], now: int) -> tuple[dict[str, Any], list[str]]:
    """Return ``jobs``, ``running`` and ``now`` with Python's integers, and messages for values that are not whole."""
    made, faults = whole_records(jobs, JOB, lambda j: f"job {j.id!r}")
    if not is_whole(now):
        return {}, [f"now {wrong(now)}", *faults]
    if any(type(j.chunks) is not tuple or j.chunks for j in made):
        with_chunks = [whole_chunks(j) for j in made]
        made = tuple(j for j, _ in with_chunks)
        faults = [*faults, *(why for _, faults_of_chunks in with_chunks for why in faults_of_chunks)]
    made, faults_of_places = whole_places(made)
    faults = [*faults, *faults_of_places]
    others, more = whole_running(running)
    more += [
        f"running job {r.job.id!r} has chunks; each of its parts (Job.parts) is expected as a running job of its own"
        for r in others
        if r.job.chunks
    ]
    return {"jobs": made, "running": others, "now": int(now)}, [*faults, *more]


def whole_places(jobs: Sequence[Job], where: str = "job") -> tuple[tuple[Job, ...], list[str]]:
    """Return jobs whose ``nodes`` are tuples and whose ``per_node`` is Python's integer, and a message for each wrong value."""
    given = tuple(jobs)
    if not any(type(j.nodes) is not tuple or j.nodes or j.per_node is not None or j.whole_nodes for j in given) and all(
        j.whole_nodes is False for j in given
    ):  # the common case, kept fast
        return given, []
    faults: list[str] = []
    made = []
    for job in given:
        nodes = names_of(job.nodes)
        if nodes is None:
            faults.append(f"{where} {job.id!r}: nodes is {shown(job.nodes)}; a tuple of names of nodes is expected")
        if job.per_node is not None and not (is_whole(job.per_node) and job.per_node >= 1):
            told = wrong(job.per_node, or_none=True)
            faults.append(
                f"{where} {job.id!r}: per_node is {job.per_node}; at least 1, or None, is expected"
                if is_whole(job.per_node)
                else f"{where} {job.id!r}: per_node {told}"
            )
        if not isinstance(job.whole_nodes, bool | np.bool_):
            faults.append(f"{where} {job.id!r}: whole_nodes is {shown(job.whole_nodes)}; True or False is expected")
        if not faults:
            per_node = None
            if job.per_node is not None:
                per_node = int(job.per_node)
            made.append(replace(job, nodes=nodes or (), per_node=per_node, whole_nodes=bool(job.whole_nodes)))
    if faults:
        return (given, faults)
    return (tuple(made), [])


def names_of(value: object) -> tuple[str, ...] | None:
    """Return names as a tuple; None for anything else."""
    if not is_list(value):
        return None
    listed = list(value)
    if all(isinstance(name, str) for name in listed):
        return tuple(listed)
    return None


def power_faults(jobs: Sequence[Job]) -> list[str]:
    """Return a message for each power that is no number of watts of at least 0."""
    powers = [j.power for j in jobs]
    if NO_POWER.issuperset(map(type, powers)):  # the common case, kept fast
        return []
    return [
        f"job {j.id!r}: its power is {shown(power)} W; a number of at least 0, or None, is expected"
        for j, power in zip(jobs, powers, strict=True)
        if power is not None and not (is_number(power) and power >= 0)
    ]


def whole_running(running: Sequence[Running]) -> tuple[tuple[Running, ...], list[str]]:
    """Return running jobs with Python's integers, and messages for values that are not whole."""
    jobs, faults = whole_records([r.job for r in running], JOB, lambda j: f"running job {j.id!r}")
    jobs, faults_of_places = whole_places(jobs, "running job")
    faults += faults_of_places
    with_job = [r if r.job is j else replace(r, job=j) for r, j in zip(running, jobs, strict=True)]
    whole, more = whole_records(with_job, RUNNING, lambda r: f"running job {r.job.id!r}")
    return whole, [*faults, *more]


# --- The data of a dispatching problem: queues, jobs, and running jobs.

DAY = 86400  # seconds

Durations = Literal["walltime", "runtime"]
Window = tuple[int, int]


@named
@with_short_repr
@dataclass(frozen=True)
class Queue:
    """A queue of jobs with its expected waiting time.

    Parameters
    ----------
    name : str
        The name of the queue.
    ewt : int
        The expected waiting time in seconds, > 0.
    daily : tuple of (int, int), optional
        Windows (lo, hi) of the day in which its jobs may start, in seconds since midnight, both ends included. A window
        may run past midnight: (64800, 115200) is 18:00 to 08:00. Empty: at any time.
    whole_run : bool, optional
        Whether a job must also end, by its walltime, in the window in which it starts; its end may be ``hi``.
    nodes : tuple of str, optional
        The names of the nodes that its jobs may use. Empty: all nodes.

    Raises
    ------
    ProblemError
        If a number is wrong; the message names the queue.

    Examples
    --------
    >>> Queue("night", ewt=3600, daily=((64800, 115200),)).ewt
    3600
    """

    name: str
    ewt: int
    daily: tuple[Window, ...] = ()
    whole_run: bool = False
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole, faults = examined(self, QUEUE, lambda q: f"queue {q.name!r}")
        if faults:
            raise ProblemError("\n".join(faults))
        for name, value in whole.items():
            object.__setattr__(self, name, value)
        if self.ewt <= 0:
            raise ProblemError(
                f"queue {self.name!r}: the expected waiting time is {self.ewt} s, more than 0 is expected"
            )
        for lo, hi in self.daily:
            if not 0 <= lo < DAY or not lo <= hi < lo + DAY:
                raise ProblemError(
                    f"queue {self.name!r}: the daily window ({lo}, {hi}) is not 0 <= lo < 86400, lo <= hi"
                )
        if not isinstance(self.whole_run, bool) or (self.whole_run and not self.daily):
            raise ProblemError(
                f"queue {self.name!r}: whole_run is {self.whole_run!r:.100}; expected True or False, and daily windows if True"
            )

        nodes = names_of(self.nodes)
        if nodes is None:
            raise ProblemError(
                f"queue {self.name!r}: nodes is {shown(self.nodes)}; a tuple of names of nodes is expected"
            )
        object.__setattr__(self, "nodes", nodes)

    def hours(self, walltime: int) -> tuple[Window, ...]:
        """Return the windows of the day in which a job may start; with ``daily``, empty if it never may.

        Examples
        --------
        >>> night = Queue("night", 3600, daily=((64800, 115200),), whole_run=True)
        >>> night.hours(3600), night.hours(86400)
        (((64800, 111600),), ())
        """
        if not self.whole_run:
            return self.daily
        return tuple((lo, hi - walltime) for lo, hi in self.daily if lo <= hi - walltime)


def time_after_open(calendars: Iterable[tuple[Window, ...]], begin: int, seconds: int) -> int | None:
    """Return the first open time at or after ``begin`` before which all calendars were open for ``seconds`` together.

    Parameters
    ----------
    calendars : iterable of tuple of (int, int)
        Windows of the day, as of ``Queue.daily``.
    begin : int
        A time in seconds.
    seconds : int
        Seconds, at least 0.

    Returns
    -------
    int or None
        A time in seconds; None if the calendars are never open at the same time.

    Examples
    --------
    >>> time_after_open([((60, 119),), ((90, 200),)], begin=0, seconds=10), time_after_open([], 7, 10)
    (100, 17)
    """
    closed = np.zeros(DAY, np.bool_)
    for windows in calendars:
        allowed = np.zeros(2 * DAY, np.bool_)
        for lo, hi in windows:
            allowed[lo : hi + 1] = True
        closed |= ~(allowed[:DAY] | allowed[DAY:])
    times = np.flatnonzero(~closed)
    if not len(times):
        return None
    before = int(np.searchsorted(times, begin % DAY))
    days, place = divmod(before + seconds, len(times))
    return (begin // DAY + days) * DAY + int(times[place])


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class Job:
    """A job of ``units`` equal units; each unit runs on one node, and all start together.

    A heterogeneous job has several chunks, which are groups of equal units; all of them start and end together. Make it
    by ``Job.of_chunks``.

    Parameters
    ----------
    id : str
        The name of the job.
    submit : int
        The submit time in seconds.
    walltime : int
        The duration that the user requested, in seconds.
    units : int
        The number of units, at least 1.
    request : mapping of str to int
        The amount of each resource that one unit needs.
    queue : str
        The name of its queue.
    earliest_start : int, optional
        The job does not start before this time in seconds. None: the submit time.
    deadline : int, optional
        The job must have ended by this time in seconds.
    windows : tuple of (int, int), optional
        Windows (lo, hi) in seconds, both ends included, in which the job may start. Empty: at any time.
    runtime : int, optional
        The actual duration in seconds, if known.
    user, name : str, optional
        The user and the name of the program; they are used to predict runtimes.
    power : float, optional
        The power of the whole job in watts, if known.
    latest_start : int, optional
        The time in seconds by which the job should have started. A later start is allowed: replays count such jobs, and
        dispatchers may plan with it.
    chunks : tuple of Chunk, optional
        All chunks of a heterogeneous job. ``units`` and ``request`` are then those of the first one. Empty: the job has
        equal units.
    array : str, optional
        The name of the job array that the job belongs to. The jobs of an array are independent of each other.
    nodes : tuple of str, optional
        The names of the nodes that the job may use. Empty: all nodes of its queue.
    features : str, optional
        The features that its nodes must have, as of Slurm's ``--constraint``: "a", "a&b", "a|b", with parentheses.
    per_node : int, optional
        The greatest number of its units on one node; 1: distinct nodes. None: as many as fit.
    whole_nodes : bool, optional
        Whether no other job runs on its nodes while it runs. It may put several units on one node.
    licences : mapping of str to int, optional
        The licences of the machine that the whole job holds while it runs (``Platform.licences``).
    asked : SiteRequest, optional
        What the job asked of the scheduler of its site beyond this: account, QOS, nodes, dependencies. Solvers and
        dispatchers of schedlab's own do not use it.
    recorded : Recorded, optional
        What that scheduler recorded: its start, its nodes, its end state. Jobs that a dispatcher sees have none.

    Examples
    --------
    >>> Job("j1", submit=0, walltime=60, units=2, request={"cores": 8}, queue="debug", earliest_start=30).release
    30
    """

    id: str
    submit: int
    walltime: int
    units: int
    request: Mapping[str, int]
    queue: str
    earliest_start: int | None = None
    deadline: int | None = None
    windows: tuple[Window, ...] = ()
    runtime: int | None = None
    user: str = ""
    name: str = ""
    power: float | None = None
    latest_start: int | None = None
    chunks: tuple[Chunk, ...] = ()
    array: str = ""
    nodes: tuple[str, ...] = ()
    features: str = ""
    per_node: int | None = None
    whole_nodes: bool = False
    licences: Mapping[str, int] = field(default_factory=dict)
    asked: SiteRequest | None = None
    recorded: Recorded | None = None

    @classmethod
    def of_chunks(
        cls,
        id: str,
        submit: int,
        walltime: int,
        chunks: Iterable[tuple[int, Mapping[str, int]]],
        queue: str,
        **others: Any,
    ) -> Self:
        """Make a heterogeneous job.

        Parameters
        ----------
        id, submit, walltime, queue
            As in ``Job``.
        chunks : iterable of (int, mapping of str to int)
            Units and request of each chunk, at least one. A job with one chunk is a job of equal units.
        **others
            Further fields of ``Job``, by name.

        Raises
        ------
        ProblemError
            If there is no chunk.

        Examples
        --------
        >>> job = Job.of_chunks("h", 0, 60, [(2, {"cores": 16, "gpus": 2}), (1, {"cores": 4})], "q")
        >>> [(part.id, part.units) for part in job.parts]
        [('h', 2), ('h+1', 1)]
        """
        pairs = None
        if isinstance(chunks, Iterable) and not isinstance(chunks, str):
            pairs = tuple(chunks)
        if pairs is None or not all(isinstance(c, (tuple, list)) and len(c) == 2 for c in pairs):
            raise WrongArgument(f"chunks of job {id!r} is {chunks!r:.100}; a list of (units, request) is expected")
        listed = tuple(Chunk(*c) for c in pairs)
        if not listed:
            raise ProblemError(f"job {id!r} has no chunks; at least one (units, request) is expected")
        units, request = listed[0]
        return cls(
            id, submit, walltime, units, request, queue, chunks=listed if len(listed) > 1 else (), **others
        )  # fmt: skip

    @property
    def parts(self) -> tuple[Job, ...]:
        """The chunks as jobs of equal units, named ``id``, ``id+1``, ...; the job itself if it has one chunk.

        The first one has the licences.
        """
        if not self.chunks:
            return (self,)
        return tuple(
            replace(
                self,
                id=part_name(self.id, k),
                units=units,
                request=request,
                chunks=(),
                licences={} if k else self.licences,
            )
            for k, (units, request) in enumerate(self.chunks)
        )

    @property
    def release(self) -> int:
        """The earliest start in seconds, by the data of the job alone."""
        if self.earliest_start is None:
            return self.submit
        return max(self.submit, self.earliest_start)


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class Running:
    """A job that is running. The chunks of a heterogeneous job (``Job.parts``) are running jobs of their own.

    Parameters
    ----------
    job : Job
        The job, without chunks.
    start : int
        Its start in seconds.
    nodes : mapping of str to int
        The number of its units on each node.
    end : int
        Its expected end in seconds.

    Examples
    --------
    >>> job = Job("j0", submit=0, walltime=60, units=2, request={"cores": 8}, queue="debug")
    >>> Running(job, start=10, nodes={"n-1": 2}, end=70).end
    70
    """

    job: Job
    start: int
    nodes: Mapping[str, int]
    end: int

    @property
    def true_end(self) -> int:
        """Its end in seconds by its runtime; the expected end if the runtime is not known."""
        if self.job.runtime is None:
            return self.end
        return self.start + self.job.runtime


# --- Whether the empty platform can hold a heterogeneous job: all its chunks at the same time.
#
# 1. If the chunks together need more of a resource than the platform has, it cannot.
# 2. If best fit, chunk after chunk, finds nodes, beginning with any of them, it can.
# 3. Else a search: node by node, each greatest set of units that fits the node. The search is exact up to ``STATES``
#    states; beyond, the job counts as one that the platform may hold.

STATES = 20_000
Vector = tuple[int, ...]


def lack(platform: Platform, chunks: Sequence[tuple[int, Vector]], states: int = STATES) -> str | None:
    """Return why the empty platform cannot hold the chunks together; None if it can, or if the search is too long.

    Parameters
    ----------
    platform : Platform
        The platform.
    chunks : sequence of (int, tuple of int)
        Units and request of each chunk, in the order of ``platform.resources``. Each chunk alone must fit.
    states : int
        The maximum number of states that the search examines.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> machine = Platform([NodeGroup("n", 2, {"cores": 4})])
    >>> lack(machine, [(2, (3,)), (1, (2,))])
    'its chunks do not fit the empty platform together'
    >>> lack(machine, [(1, (4,)), (2, (3,))])
    'its chunks need 10 cores together, the platform has 8'
    """
    for k, resource in enumerate(platform.resources):
        need = sum(units * request[k] for units, request in chunks)
        total = platform.total(resource)
        if need > total:
            return f"its chunks need {need} {resource} together, the platform has {total}"
    nodes = Counter({vector: len(names) for vector, names in platform.classes.items()})
    if any(_best_fit(nodes, [*chunks[k:], *chunks[:k]]) for k in range(len(chunks))):
        return None
    kept = [c for c in chunks if any(c[1])]  # units that request nothing fit anywhere
    searched = _Search([request for _, request in kept], list(nodes.items()), states)
    if searched.holds(0, 0, tuple(units for units, _ in kept)) is False:
        return "its chunks do not fit the empty platform together"
    return None


def _units_on(vector: Vector, request: Vector) -> int:
    return min((c // r for c, r in zip(vector, request, strict=True) if r > 0), default=2**31)


def _best_fit(nodes: Counter[Vector], chunks: Sequence[tuple[int, Vector]]) -> bool:
    """Return whether best fit finds nodes for all chunks; ``nodes``: number of nodes by free amounts."""
    free = Counter(nodes)
    for units, request in chunks:
        for vector in sorted(free, key=lambda v: (sum(v), v)):
            most = min(units, _units_on(vector, request))
            if most == 0:
                continue
            full = min(free[vector], units // most)
            rest = 0
            if full < free[vector]:
                rest = units - full * most
            for count, on in ((full, most), (1 if rest else 0, rest)):
                free[vector] -= count
                free[tuple(c - on * r for c, r in zip(vector, request, strict=True))] += count
            units -= full * most + rest
            if units == 0:
                break
        if units > 0:
            return False
        free = +free
    return True


class _Search:
    """A depth-first search over the classes of equal nodes, which remembers the states that have failed."""

    def __init__(self, requests: Sequence[Vector], classes: Sequence[tuple[Vector, int]], states: int) -> None:
        self._requests = requests
        self._classes = classes
        self._states = states
        self._failed: set[tuple[int, int, Vector]] = set()

    def holds(self, c: int, used: int, left: Vector) -> bool | None:
        """Return whether the nodes of classes c, c + 1, ... hold the units that are left; None: too many states.

        ``used``: nodes of class c that are filled.
        """
        if not any(left):
            return True
        if c == len(self._classes):
            return False
        vector, count = self._classes[c]
        if used == min(count, sum(left) + used):
            return self.holds(c + 1, 0, left)
        if (c, used, left) in self._failed:
            return False
        if len(self._failed) > self._states:
            return None
        unknown = False
        for put in self._fillings(vector, left):
            if any(put):
                holds_rest = self.holds(c, used + 1, tuple(a - b for a, b in zip(left, put, strict=True)))
            else:
                holds_rest = self.holds(c + 1, 0, left)
            if holds_rest:
                return True
            unknown = unknown or holds_rest is None
        if unknown:
            return None
        self._failed.add((c, used, left))
        return False

    def _fillings(self, vector: Vector, left: Vector, k: int = 0) -> Iterator[Vector]:
        """Yield numbers of units of the chunks k, k + 1, ... that fit a node; of the last one as many as possible."""
        most = min(left[k], _units_on(vector, self._requests[k]))
        if k == len(left) - 1:
            yield (most,)
            return
        for units in range(most, -1, -1):
            rest = tuple(c - units * r for c, r in zip(vector, self._requests[k], strict=True))
            for others in self._fillings(rest, left, k + 1):
                yield (units, *others)


def impossible(platform: Platform, jobs: Iterable[Job]) -> list[tuple[Job, str]]:
    """Return the jobs that do not fit the empty platform, each with a text that names the resource it exceeds."""
    refused = []
    known: dict[tuple[int, ...], int] = {}
    together: dict[tuple[tuple[int, tuple[int, ...]], ...], str | None] = {}
    for job in jobs:
        shape = tuple((p.units, tuple(p.request.get(r, 0) for r in platform.resources)) for p in job.parts)
        for part, (units, request) in zip(job.parts, shape, strict=True):
            if request not in known:
                known[request] = sum(
                    len(nodes) * min(platform.units_on(vector, request), units if not any(request) else 2**31)
                    for vector, nodes in platform.classes.items()
                )
            if (known[request] if any(request) else units) < units:
                tight = _tightest(platform, part, request)
                refused.append((job, f"asks for {how_many(units, 'unit')} of {_amounts(part.request)}, but {tight}"))
                break
        else:
            if len(shape) > 1:
                if shape not in together:
                    together[shape] = lack(platform, shape)
                if why := together[shape]:
                    refused.append((job, why))
    return refused


def _amounts(request: Mapping[str, int]) -> str:
    """Return amounts of resources in words; the unit of a resource that cannot be counted is not known.

    >>> _amounts({"cores": 1, "memory": 64000, "gpus a100": 2})
    '1 core, 64000 of memory, 2 gpus a100'
    """
    texts = []
    for name, amount in request.items():
        if name.partition(" ")[0].endswith("s"):
            texts.append(how_many_of(amount, name))
        else:
            texts.append(f"{amount} of {name}")
    return ", ".join(texts) or "nothing"


def _tightest(platform: Platform, job: Job, request: tuple[int, ...]) -> str:
    for k, resource in enumerate(platform.resources):
        most = max(vector[k] for vector in platform.classes)
        if request[k] > most:
            return f"no node has more than {_amounts({resource: most})}"
        alone = sum(len(nodes) * (vector[k] // request[k]) for vector, nodes in platform.classes.items() if request[k])
        if request[k] and alone < job.units:
            return f"the empty platform has {resource} for only {alone} of them"
    return "too few nodes have all requested resources together"
