"""The data of an eviction problem: running jobs, their losses and checkpoint times, and plans [Maurya2020, equation 1]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from random import Random
from typing import Any, Literal, NamedTuple, Protocol

from ...errors import WrongValue
from ..arguments import Fields, checked, is_number, is_whole, named, no_text, text_of, whole_records
from ..platform import ProblemError
from ..problem import Schedule
from ..tables import table_rows, whole_cell
from ..words import with_short_repr

# --- The running jobs of an eviction problem: physical data, losses and checkpoint times [Maurya2020, equation 1].

BATCH = Fields(one=("nodes", "start", "memory"), maybe=("last_checkpoint", "next_checkpoint"), names=("id",))
CANDIDATE = Fields(one=("nodes", "loss"), names=("id",))
Seconds = float | Fraction  # integers included


@named
@with_short_repr
@dataclass(frozen=True)
class BatchJob:
    """A running job by its physical data. All times are in seconds on the same clock.

    Parameters
    ----------
    id : str
        The name of the job.
    nodes : int
        The number of its nodes, at least 1.
    start : int
        Its start.
    last_checkpoint : int or None
        The time of its last application-level checkpoint. None: it has taken none; its loss then counts from ``start``.
    next_checkpoint : int or None
        The time of its next application-level checkpoint. None: it takes none.
    memory : int
        The memory in use on each of its nodes in MB, which a system-level checkpoint writes.
    application_share : float
        The share of ``memory`` that an application-level checkpoint writes, 0 to 1.
    """

    id: str
    nodes: int
    start: int
    last_checkpoint: int | None
    next_checkpoint: int | None
    memory: int
    application_share: float

    def candidate(self, now: int, file_system_mb_s: float, node_mb_s: float) -> EvictionCandidate:
        """Return the loss and the checkpoint times of the job at time ``now`` [Maurya2020, equation 1].

        Parameters
        ----------
        now : int
            The time in seconds.
        file_system_mb_s, node_mb_s : float
            The bandwidth of the file system and that of one node, in MB/s.

        Returns
        -------
        EvictionCandidate
            The job, as ``Eviction`` uses it.

        Examples
        --------
        >>> BatchJob("a", 4, start=0, last_checkpoint=600, next_checkpoint=1800, memory=7000, application_share=0.5
        ...         ).candidate(now=1000, file_system_mb_s=1000, node_mb_s=700)
        EvictionCandidate(id='a', nodes=4, loss=1600, system_s=28, application_s=814, wait_s=800, mb_s=1000)
        """
        if self.last_checkpoint is None:
            since = self.start
        else:
            since = self.last_checkpoint
        wait = None
        if self.next_checkpoint is not None:
            wait = self.next_checkpoint - now
        small = self.memory * exact(self.application_share)
        system = checkpoint_seconds(self.nodes, self.memory, file_system_mb_s, node_mb_s)
        application = None
        if wait is not None:
            application = wait + checkpoint_seconds(self.nodes, small, file_system_mb_s, node_mb_s)
        bandwidth = min(exact(file_system_mb_s), self.nodes * exact(node_mb_s))
        return EvictionCandidate(
            self.id,
            self.nodes,
            self.nodes * (now - since),
            _plain(system),
            _plain(application),
            wait or 0,
            _plain(bandwidth),
        )


@named
@with_short_repr
@dataclass(frozen=True)
class EvictionCandidate:
    """A running job by its loss and its checkpoint times; the fields up to ``application_s`` are those of [Maurya2020].

    Parameters
    ----------
    id : str
        The name of the job.
    nodes : int
        The number of its nodes, at least 1.
    loss : int
        The node-seconds that are lost if it is killed.
    system_s, application_s : float or None
        Seconds from now to the end of a system-level and an application-level checkpoint. None: it cannot take one.
    wait_s : float, default 0
        The part of ``application_s`` that passes before the application starts to write.
    mb_s : float, optional
        The bandwidth of the file system that its nodes use while they write, in MB/s; only needed with
        ``shared_bandwidth``.
    """

    id: str
    nodes: int
    loss: int
    system_s: Seconds | None
    application_s: Seconds | None
    wait_s: Seconds = 0
    mb_s: Seconds | None = None


def checkpoint_seconds(nodes: int, mb: Seconds, file_system_mb_s: float, node_mb_s: float) -> Fraction:
    """Return the duration in seconds of a checkpoint of ``mb`` MB on each of the nodes [Maurya2020, equation 1].

    Either the bandwidth of the file system or that of a node is the limit.

    Parameters
    ----------
    nodes : int
        The number of nodes.
    mb : float or Fraction
        The MB that each node writes.
    file_system_mb_s, node_mb_s : float
        The bandwidth of the file system and that of one node, in MB/s.

    Returns
    -------
    Fraction
        Seconds.

    Examples
    --------
    >>> checkpoint_seconds(500, 70_000, 250_000, 700), checkpoint_seconds(100, 70_000, 250_000, 700)
    (Fraction(140, 1), Fraction(100, 1))
    """
    size = exact(mb)
    return max(nodes * size / exact(file_system_mb_s), size / exact(node_mb_s))


def exact(value: Seconds) -> Fraction:
    """Return the decimal value of the number as a fraction: 0.1 becomes 1/10, so that rounding up to steps is exact."""
    if isinstance(value, Fraction):
        return value
    return Fraction(str(value))


def _plain(value: Fraction | None) -> Seconds | None:
    if value is None or value.denominator != 1:
        return value
    return int(value)


def possible(c: EvictionCandidate) -> Iterator[tuple[str, Seconds]]:
    """Yield (kind, seconds) of the checkpoints that a job can take, the application-level one first."""
    if c.application_s is not None:
        yield "app", c.application_s
    if c.system_s is not None:
        yield "sys", c.system_s


def whole_steps(seconds: Seconds, step: int) -> int:
    """Return the number of steps, rounded up."""
    if isinstance(seconds, int):
        return -(-seconds // step)
    return -int(-exact(seconds) // step)


class Wrong(NamedTuple):
    """What is wrong with one field of a job."""

    field: str
    expected: str
    found: object

    def of(self, job: str) -> str:
        """Return the message for this job."""
        return f"job {job!r}: {self.field} is {self.found!r}; expected is {self.expected}"


def whole_job(job: BatchJob | EvictionCandidate) -> tuple[BatchJob | EvictionCandidate, list[str]]:
    """Return the job with Python's integers, and a message for each value that is no whole number."""
    if isinstance(job, BatchJob):
        fields = BATCH
    else:
        fields = CANDIDATE
    (made,), faults = whole_records([job], fields, lambda j: f"job {j.id!r}")
    return made, faults


def job_faults(j: BatchJob | EvictionCandidate, now: int = 0) -> Iterator[Wrong]:
    """Yield the wrong values of one job at time ``now``."""
    if j.nodes < 1:
        yield Wrong("nodes", "a whole number of at least 1", j.nodes)
    yield from _physical_faults(j, now) if isinstance(j, BatchJob) else _candidate_faults(j)


def _physical_faults(j: BatchJob, now: int) -> Iterator[Wrong]:
    if j.memory < 0:
        yield Wrong("memory", "at least 0 MB per node", j.memory)
    if not is_number(j.application_share) or not 0 <= j.application_share <= 1:
        yield Wrong("application_share", "0 to 1", j.application_share)
    if j.start > now:
        yield Wrong("start", f"a time up to now, {now}", j.start)
    if j.last_checkpoint is None:
        last = j.start
    else:
        last = j.last_checkpoint
    if not j.start <= last <= max(now, j.start):
        yield Wrong("last_checkpoint", f"a time from its start, {j.start}, to now, {now}", last)
    if j.next_checkpoint is not None and j.next_checkpoint < max(last, now):
        yield Wrong("next_checkpoint", f"a time from now, {now}, on and after the last checkpoint", j.next_checkpoint)


def _candidate_faults(c: EvictionCandidate) -> Iterator[Wrong]:
    if c.loss < 0:
        yield Wrong("loss", "whole node-seconds of at least 0", c.loss)
    for name in ("system_s", "application_s", "wait_s", "mb_s"):
        value = getattr(c, name)
        if (value is None and name == "wait_s") or (value is not None and not (is_number(value) and value >= 0)):
            yield Wrong(name, "a number of at least 0", value)
            return
    if c.application_s is not None and c.wait_s > c.application_s:
        yield Wrong("wait_s", f"at most application_s, {c.application_s}", c.wait_s)


# --- Eviction plans: the strategy for each running job.

Strategy = Literal["keep", "kill", "app", "sys"]
STRATEGIES: tuple[Strategy, ...] = ("keep", "kill", "app", "sys")


@checked(values=False, deep=False)
@dataclass(init=False, repr=False)
class EvictionPlan(Schedule):
    """The strategy for each running job.

    Parameters
    ----------
    strategy : mapping of str to str
        For each job ``"keep"``, ``"kill"``, ``"app"`` (application-level checkpoint) or ``"sys"`` (system-level
        checkpoint).
    start : mapping of str to int, optional
        The time in seconds from now at which the checkpoint of a job starts to write; only with ``shared_bandwidth``.

    Examples
    --------
    >>> EvictionPlan({"a": "kill", "b": "keep"}).as_json()
    {'a': 'kill', 'b': 'keep'}
    """

    strategy: dict[str, str] = field(default_factory=dict)

    def __init__(self, strategy: Mapping[str, str], start: Mapping[str, int] | None = None) -> None:
        super().__init__(dict(start or {}))
        self.strategy = {}
        for job, what in strategy.items():
            name = text_of(job)
            if name is None:
                raise ProblemError(f"a job of a plan {no_text(job)}")
            self.strategy[name] = what

    def __repr__(self) -> str:
        counted = Counter(self.strategy.values())
        return f"EvictionPlan({', '.join(f'{counted[what]} {what}' for what in STRATEGIES if counted[what])})"

    @property
    def evicted(self) -> list[str]:
        """The jobs that are killed or checkpointed."""
        return [job for job, what in self.strategy.items() if what != "keep"]

    def as_json(self) -> dict[str, Any]:
        """Return ``{job: strategy}``; for a job with a start ``{job: {"strategy": "app", "start": second}}``."""
        return {
            job: what if job not in self.start else {"strategy": what, "start": self.start[job]}
            for job, what in self.strategy.items()
        }

    @classmethod
    def from_json(cls, data: Any) -> EvictionPlan:
        """Return the plan of data in the form of ``as_json``; raise ValueError, with the job, if they are malformed."""
        if not isinstance(data, Mapping):
            raise WrongValue(f"a plan must be an object {{job: strategy}}, not {type(data).__name__}")
        strategy: dict[str, str] = {}
        start: dict[str, int] = {}
        for job, entry in data.items():
            if isinstance(entry, Mapping):
                what = entry.get("strategy")
            else:
                what = entry
            if what not in STRATEGIES:
                raise WrongValue(f"job {job!r} of the plan: expected one of {', '.join(STRATEGIES)}, found {entry!r}")
            strategy[str(job)] = str(what)
            if isinstance(entry, Mapping):
                begin = entry.get("start")
                if not is_whole(begin):
                    raise WrongValue(f"job {job!r} of the plan: start must be whole seconds, found {begin!r}")
                start[str(job)] = begin
        return cls(strategy, start)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of a table with the columns job, strategy and start (None without one)."""
        return [{"job": j, "strategy": what, "start": self.start.get(j)} for j, what in self.strategy.items()]


# --- Running jobs of an eviction problem from a table of pandas.

MAYBE = ("last_checkpoint", "next_checkpoint", "system_s", "application_s")  # columns that may be left out


def jobs_of_table(table: Any) -> list[BatchJob | EvictionCandidate]:
    """Return the jobs of a table; see ``Eviction.from_pandas``."""
    physical = "memory" in getattr(table, "columns", ())
    kind: type[Any]
    if physical:
        kind = BatchJob
    else:
        kind = EvictionCandidate
    own = fields(kind)
    needed = [f.name for f in own if f.default is MISSING and f.name not in MAYBE]
    _, rows = table_rows(table, "Eviction.from_pandas", needed, [f.name for f in own], same={"job": "id"})
    jobs = []
    for row in rows:
        given = {name: whole_cell(value) for name, value in row.items()}
        absent = {f.name: None if f.default is MISSING else f.default for f in own}
        jobs.append(kind(**{**absent, **{name: value for name, value in given.items() if value is not None}}))
    return jobs


# --- The jobs that run at one time of a log, with checkpoints that are drawn at random [Maurya2020, IV.B].


GB = 1024  # MB
JobRow = tuple[str, int, int, int | None, int | None, int, float]  # the fields of a BatchJob


class Log(Protocol):
    """A log of jobs as columns, such as a ``Workload``; one job unit is one node."""

    @property
    def name(self) -> str:
        """The name of the log, for messages."""

    @property
    def ids(self) -> Sequence[str]:
        """The id of each job."""

    @property
    def recorded_start(self) -> Any:
        """The start of each job in seconds; -1 if it is unknown."""

    @property
    def runtime(self) -> Any:
        """The runtime of each job in seconds."""

    @property
    def units(self) -> Any:
        """The number of nodes of each job."""


@checked
@with_short_repr
@dataclass(frozen=True)
class Checkpointing:
    """The random model of checkpoints; the default values are those of [Maurya2020] for the machine Theta.

    The random numbers come from ``random.Random(seed).random()`` only, two per job in the order of the log.

    Parameters
    ----------
    interval : int, default 3600
        Seconds between two application-level checkpoints of a job, counted from its start.
    memory : int, default 192 GB
        The memory of a node in MB.
    memory_share : (float, float)
        Limits of the share of the memory that a job uses, drawn uniformly.
    application_share : (float, float)
        Limits of the share of the used memory that an application-level checkpoint writes, drawn uniformly.
    file_system_mb_s : float
        The bandwidth of the file system for all nodes together, in MB/s.
    node_mb_s : float
        The bandwidth of one node, in MB/s; by default that of Theta's SSDs.
    seed : int, default 1
        The seed of the random numbers.
    """

    interval: int = 3600
    memory: int = 192 * GB
    memory_share: tuple[float, float] = (0.40, 0.90)
    application_share: tuple[float, float] = (0.20, 0.60)
    file_system_mb_s: float = 250 * GB
    node_mb_s: float = 700
    seed: int = 1

    def draw(self, random: Random) -> tuple[int, float]:
        """Draw the memory of a job in MB per node, and the share that an application-level checkpoint writes."""
        memory = int(self.memory * _between(self.memory_share, random))
        return memory, round(_between(self.application_share, random), 3)

    def around(self, start: int, now: int) -> tuple[int | None, int]:
        """Return the times of the last checkpoint before ``now`` (None if there is none) and of the next one.

        A checkpoint at ``now`` itself counts as the last one.

        Examples
        --------
        >>> Checkpointing().around(start=100, now=4000), Checkpointing().around(start=100, now=3000)
        ((3700, 7300), (None, 3700))
        """
        taken = (now - start) // self.interval
        return (start + taken * self.interval if taken else None), start + (taken + 1) * self.interval


def _between(limits: tuple[float, float], random: Random) -> float:
    low, high = limits
    return low + (high - low) * random.random()


def running_jobs(log: Log, at: int, checkpointing: Checkpointing) -> Iterator[JobRow]:
    """Yield the fields of the jobs with recorded start <= ``at`` < end; raise ProblemError if there is none."""
    start = log.recorded_start
    rows = ((start >= 0) & (start <= at) & (at < start + log.runtime)).nonzero()[0].tolist()
    if not rows:
        known = start[start >= 0]
        span = "it has no recorded starts"
        if known.size:
            span = f"its starts are from {known.min()} s to {known.max()} s"
        raise ProblemError(f"{log.name}: no job runs at {at} s; {span}")
    random = Random(checkpointing.seed)
    for k in rows:
        begin = int(start[k])
        yield (log.ids[k], int(log.units[k]), begin, *checkpointing.around(begin, at), *checkpointing.draw(random))
