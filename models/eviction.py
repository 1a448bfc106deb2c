"""The eviction problem: which running jobs to kill or checkpoint so that nodes are free in time (Maurya et al. 2020).

An on-demand job needs ``nodes_needed`` nodes within ``deadline_s``. Of each batch job that runs, its nodes, what is lost if
it is killed, and how long a checkpoint takes are known: a system-level one at once, of all memory; an application-level one
at its next moment, of less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Literal

from .eviction_trace import Checkpointing, Log, running_jobs
from .language import Violation
from .platform import ProblemError
from .problem import Encoding, Schedule

Strategy = Literal["keep", "kill", "app", "sys"]
STRATEGIES: tuple[Strategy, ...] = ("keep", "kill", "app", "sys")
Seconds = float | Fraction  # whole numbers as well


@dataclass(frozen=True)
class BatchJob:
    """A running job as the machine knows it. Times in seconds, on one clock.

    ``last_checkpoint``: of the application, None if it has taken none yet (its loss then counts from ``start``);
    ``next_checkpoint``: None if it takes none; ``memory``: MB in use on each of its nodes, which a system-level checkpoint
    writes; ``application_share``: the share of that, 0 to 1, which an application-level one writes.
    """

    id: str
    nodes: int
    start: int
    last_checkpoint: int | None
    next_checkpoint: int | None
    memory: int
    application_share: float

    def candidate(self, now: int, file_system_mb_s: float, node_mb_s: float) -> Candidate:
        """What the job loses and how long its checkpoints take, by equation 1 of the paper.

        >>> BatchJob("a", 4, start=0, last_checkpoint=600, next_checkpoint=1800, memory=7000, application_share=0.5
        ...         ).candidate(now=1000, file_system_mb_s=1000, node_mb_s=700)
        Candidate(id='a', nodes=4, loss=1600, system_s=28, application_s=814, wait_s=800, mb_s=1000)
        """
        since = self.start if self.last_checkpoint is None else self.last_checkpoint
        wait = None if self.next_checkpoint is None else self.next_checkpoint - now
        small = self.memory * _exact(self.application_share)
        system = checkpoint_seconds(self.nodes, self.memory, file_system_mb_s, node_mb_s)
        application = None if wait is None else wait + checkpoint_seconds(self.nodes, small, file_system_mb_s, node_mb_s)
        draw = min(_exact(file_system_mb_s), self.nodes * _exact(node_mb_s))
        return Candidate(
            self.id, self.nodes, self.nodes * (now - since), _plain(system), _plain(application), wait or 0, _plain(draw)
        )


@dataclass(frozen=True)
class Candidate:
    """A running job as the problem needs it; without the last two, these are the numbers of the paper.

    ``loss``: node-seconds lost if it is killed; ``system_s``, ``application_s``: seconds from now to the end of a checkpoint,
    None if that kind is not possible; ``wait_s``: how much of ``application_s`` passes before the application writes;
    ``mb_s``: what its nodes draw of the file system's bandwidth while they write (only ``shared_bandwidth`` asks for it).
    """

    id: str
    nodes: int
    loss: int
    system_s: Seconds | None
    application_s: Seconds | None
    wait_s: Seconds = 0
    mb_s: Seconds | None = None


def checkpoint_seconds(nodes: int, mb: Seconds, file_system_mb_s: float, node_mb_s: float) -> Fraction:
    """Equation 1: ``nodes`` nodes write ``mb`` MB each, at the bandwidth of the file system or of a node, whichever binds.

    >>> checkpoint_seconds(500, 70_000, 250_000, 700), checkpoint_seconds(100, 70_000, 250_000, 700)
    (Fraction(140, 1), Fraction(100, 1))
    """
    size = _exact(mb)
    return max(nodes * size / _exact(file_system_mb_s), size / _exact(node_mb_s))


def _exact(value: Seconds) -> Fraction:
    """The number as it is written: 0.1 is a tenth, so that no rounding up is off by a step."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


def _plain(value: Fraction | None) -> Seconds | None:
    return value if value is None or value.denominator != 1 else int(value)


@dataclass(init=False)
class EvictionPlan(Schedule):
    """What is done with each job: ``strategy`` {job: "keep", "kill", "app" or "sys"}.

    ``start``: {job: second} at which its checkpoint begins to be written, where checkpoints may run side by side.

    >>> EvictionPlan({"a": "kill", "b": "keep"}).as_json()
    {'a': 'kill', 'b': 'keep'}
    """

    strategy: dict[str, str]

    def __init__(self, strategy: Mapping[str, str], start: Mapping[str, int] | None = None) -> None:
        super().__init__(dict(start or {}))
        self.strategy = dict(strategy)

    @property
    def evicted(self) -> list[str]:
        """The jobs that go."""
        return [job for job, what in self.strategy.items() if what != "keep"]

    def as_json(self) -> dict[str, Any]:
        """``{job: strategy}``; with a start, ``{job: {"strategy": "app", "start": second}}``."""
        return {
            job: what if job not in self.start else {"strategy": what, "start": self.start[job]}
            for job, what in self.strategy.items()
        }

    @classmethod
    def from_json(cls, data: Any) -> EvictionPlan:
        """A plan from ``as_json``'s form. Raises ValueError that names the job where the form is broken."""
        if not isinstance(data, Mapping):
            raise ValueError(f"a plan is an object of jobs, not {type(data).__name__}")
        strategy, start = {}, {}
        for job, entry in data.items():
            what = entry.get("strategy") if isinstance(entry, Mapping) else entry
            if what not in STRATEGIES:
                raise ValueError(f"job {job!r} of the plan: expected one of {', '.join(STRATEGIES)}, found {entry!r}")
            strategy[str(job)] = str(what)
            if isinstance(entry, Mapping):
                begin = entry.get("start")
                if not isinstance(begin, int) or isinstance(begin, bool):
                    raise ValueError(f"job {job!r} of the plan: start must be whole seconds, found {begin!r}")
                start[str(job)] = begin
        return cls(strategy, start)

    def rows(self) -> list[dict[str, Any]]:
        """A row per job: job, strategy, start (None without one)."""
        return [{"job": j, "strategy": what, "start": self.start.get(j)} for j, what in self.strategy.items()]


@dataclass(frozen=True, init=False)
class Eviction:
    """``nodes_needed`` nodes are to be free within ``deadline_s``, for the least loss, then the least checkpoint time.

    ``jobs``: those that run now, as ``BatchJob`` (``now`` and both bandwidths, MB/s, are then needed) or ``Candidate``.
    Checkpoint times are rounded up to whole steps of ``step_s``, the deadline down. Checkpoints are written one after
    another and their times, waiting included, add up; with ``shared_bandwidth`` they run side by side as far as the file
    system's bandwidth goes, and the checkpoint time is when the last one ends. Of equally good plans the one with the most
    application-level checkpoints is wanted. The objective is (loss in node-seconds, checkpoint time in seconds).

    Raises ProblemError for contradictions, with the jobs involved, and where the jobs have fewer nodes than are needed.

    >>> jobs = [Candidate("a", 64, 7200, 90, None), Candidate("b", 64, 3600, 300, 200)]
    >>> p = Eviction(jobs, nodes_needed=100, deadline_s=180)
    >>> p.objective(EvictionPlan({"a": "sys", "b": "kill"}))
    (3600, 120)
    """

    jobs: tuple[BatchJob | Candidate, ...]
    nodes_needed: int
    deadline_s: int
    step_s: int
    now: int
    file_system_mb_s: float | None
    node_mb_s: float | None
    shared_bandwidth: bool
    candidates: tuple[Candidate, ...] = field(compare=False, repr=False)

    kind: str = field(default="eviction", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)
    read_log: ClassVar[Callable[[str | Path], Log] | None] = None  # of a path; set by the room that has the readers

    def __init__(
        self,
        jobs: Iterable[BatchJob | Candidate],
        nodes_needed: int,
        deadline_s: int,
        step_s: int = 60,
        now: int = 0,
        file_system_mb_s: float | None = None,
        node_mb_s: float | None = None,
        shared_bandwidth: bool = False,
    ) -> None:
        values = {
            "jobs": tuple(jobs),
            "nodes_needed": nodes_needed,
            "deadline_s": deadline_s,
            "step_s": step_s,
            "now": now,
            "file_system_mb_s": file_system_mb_s,
            "node_mb_s": node_mb_s,
            "shared_bandwidth": shared_bandwidth,
            "candidates": (),
            "kind": "eviction",
            "sense": "minimize",
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _raise(_settings_faults(self))
        object.__setattr__(self, "candidates", tuple(self._candidate(j) for j in self.jobs))
        _raise([*_candidate_faults(self), *_too_few(self)])

    def _candidate(self, job: BatchJob | Candidate) -> Candidate:
        if isinstance(job, Candidate):
            return job
        assert self.file_system_mb_s is not None and self.node_mb_s is not None  # checked before
        return job.candidate(self.now, self.file_system_mb_s, self.node_mb_s)

    @classmethod
    def from_trace(
        cls,
        trace: Log | str | Path,
        at: int,
        nodes_needed: int,
        deadline_s: int = 900,
        step_s: int = 60,
        checkpointing: Checkpointing | None = None,
        shared_bandwidth: bool = False,
    ) -> Eviction:
        """The jobs that run at second ``at`` of a log whose units are nodes (``read_swf`` with one core per node), or its path.

        What a log does not tell of checkpoints is drawn as ``checkpointing`` says (by default: hourly, memory 40 to 90 % of
        192 GB, 20 to 60 % of it the application's; seeded). Raises ProblemError if nothing runs then, or not enough.
        """
        if isinstance(trace, (str, Path)):
            if cls.read_log is None:
                raise ProblemError(f"{trace}: import schedlab.instances to read logs by their path, or pass a Workload")
            trace = cls.read_log(trace)
        how = checkpointing or Checkpointing()
        jobs = [BatchJob(*row) for row in running_jobs(trace, at, how)]
        return cls(jobs, nodes_needed, deadline_s, step_s, at, how.file_system_mb_s, how.node_mb_s, shared_bandwidth)

    @cached_property
    def steps(self) -> int:
        """Whole steps within the deadline."""
        return self.deadline_s // self.step_s

    @cached_property
    def nodes_in_use(self) -> int:
        """What is free if every job goes."""
        return sum(c.nodes for c in self.candidates)

    @cached_property
    def by_id(self) -> dict[str, Candidate]:
        """Candidates by the id of their job."""
        return {c.id: c for c in self.candidates}

    @cached_property
    def checkpoint_steps(self) -> dict[str, dict[str, int]]:
        """{job: {"app": steps, "sys": steps}}: whole steps from now to the end of each checkpoint that is possible."""
        return {c.id: {w: _up(s, self.step_s) for w, s in _possible(c)} for c in self.candidates}

    @cached_property
    def writing_steps(self) -> dict[str, dict[str, int]]:
        """The same without the waiting: how long a checkpoint takes of the file system's bandwidth."""
        return {
            c.id: {w: _up(_exact(s) - (_exact(c.wait_s) if w == "app" else 0), self.step_s) for w, s in _possible(c)}
            for c in self.candidates
        }

    def replace(self, **changes: Any) -> Eviction:
        """A copy with another number of nodes, deadline, step, or other jobs."""
        names = ("jobs", "nodes_needed", "deadline_s", "step_s", "now", "file_system_mb_s", "node_mb_s")
        values = {name: getattr(self, name) for name in (*names, "shared_bandwidth")}
        return Eviction(**{**values, **changes})

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``serial``: a 0/1 choice per strategy; or ``shared``: an optional interval per checkpoint (both exact)."""
        from . import eviction_formulation as f

        return {"shared": lambda: f.shared(self)} if self.shared_bandwidth else {"serial": lambda: f.serial(self)}

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Everything that the plan breaks, from the data alone."""
        from .eviction_check import verify

        return verify(self, schedule)

    def objective(self, schedule: Schedule) -> tuple[int, int]:
        """(loss in node-seconds, checkpoint time in seconds) of a plan, from the data alone."""
        from .eviction_check import objective

        return objective(self, schedule)

    def read(self, data: Any) -> EvictionPlan:
        """A plan as records hold it. Raises ValueError."""
        return EvictionPlan.from_json(data)


def _possible(c: Candidate) -> Iterator[tuple[str, Seconds]]:
    """The checkpoints that a job can take, the application's first."""
    if c.application_s is not None:
        yield "app", c.application_s
    if c.system_s is not None:
        yield "sys", c.system_s


def _up(seconds: Seconds, step: int) -> int:
    """Whole steps that are not less."""
    return -int(-_exact(seconds) // step)


def _raise(faults: Iterable[str]) -> None:
    found = list(faults)
    if found:
        more = f"\n... and {len(found) - 10} more" if len(found) > 10 else ""
        raise ProblemError("\n".join(found[:10]) + more)


def _settings_faults(p: Eviction) -> Iterator[str]:
    """What is wrong with the numbers of the problem, and with its jobs as the machine knows them."""
    for name, value, least in (
        ("nodes_needed", p.nodes_needed, 0),
        ("deadline_s", p.deadline_s, 0),
        ("step_s", p.step_s, 1),
    ):
        if not isinstance(value, int) or value < least:
            yield f"{name} is {value!r}; a whole number of at least {least} is expected"
    for name, count in Counter(j.id for j in p.jobs).items():
        if count > 1:
            yield f"job {name!r} is listed {count} times"
    physical = [j for j in p.jobs if isinstance(j, BatchJob)]
    for name, bandwidth in (("file_system_mb_s", p.file_system_mb_s), ("node_mb_s", p.node_mb_s)):
        if bandwidth is None and physical:
            yield f"{name} is missing: job {physical[0].id!r} has memory to write, but at which MB/s?"
        elif bandwidth is not None and not bandwidth > 0:
            yield f"{name} is {bandwidth!r}; more than 0 MB/s is expected"
    for job in physical:
        yield from _physical_faults(job, p.now)


def _physical_faults(j: BatchJob, now: int) -> Iterator[str]:
    where = f"job {j.id!r}"
    if j.memory < 0:
        yield f"{where}: its memory is {j.memory} MB per node; at least 0 is expected"
    if not 0 <= j.application_share <= 1:
        yield f"{where}: the application's share of the memory is {j.application_share}; 0 to 1 is expected"
    if j.start > now:
        yield f"{where}: it starts at {j.start}, after now, {now}: it does not run yet"
    last = j.start if j.last_checkpoint is None else j.last_checkpoint
    if last < j.start:
        yield f"{where}: its last checkpoint at {last} is before its start at {j.start}"
    if j.last_checkpoint is not None and last > now:
        yield f"{where}: its last checkpoint at {last} is in the future; now is {now}"
    if j.next_checkpoint is not None and j.next_checkpoint < max(last, now):
        yield f"{where}: its next checkpoint at {j.next_checkpoint} is before {'now' if now > last else 'the last one'}, {max(last, now)}"


def _candidate_faults(p: Eviction) -> Iterator[str]:
    for c in p.candidates:
        where = f"job {c.id!r}"
        if not isinstance(c.nodes, int) or c.nodes < 1:
            yield f"{where}: it has {c.nodes!r} nodes; a whole number of at least 1 is expected"
        if not isinstance(c.loss, int) or c.loss < 0:
            yield f"{where}: its loss is {c.loss!r}; whole node-seconds of at least 0 are expected"
        for what, seconds in (("system_s", c.system_s), ("application_s", c.application_s), ("wait_s", c.wait_s)):
            if seconds is not None and (not isinstance(seconds, Real) or not 0 <= seconds < float("inf")):
                yield f"{where}: {what} is {seconds!r}; seconds of at least 0 are expected"
            elif what == "wait_s" and c.application_s is not None and seconds is not None and seconds > c.application_s:
                yield f"{where}: it waits {seconds} s for a checkpoint that ends after {c.application_s} s"
        if c.mb_s is not None and not 0 <= c.mb_s < float("inf"):
            yield f"{where}: mb_s is {c.mb_s!r}; at least 0 MB/s is expected"
        if p.shared_bandwidth and (c.mb_s is None or p.file_system_mb_s is None):
            missing = "mb_s, what its nodes draw" if c.mb_s is None else "file_system_mb_s of the problem"
            yield f"{where}: shared bandwidth needs {missing}, and it is not given"
        elif p.shared_bandwidth and c.mb_s is not None and c.mb_s > (p.file_system_mb_s or 0):
            yield f"{where}: it draws {c.mb_s} MB/s, more than the file system's {p.file_system_mb_s}"


def _too_few(p: Eviction) -> Iterator[str]:
    if all(isinstance(c.nodes, int) for c in p.candidates) and p.nodes_needed > p.nodes_in_use:
        yield (
            f"{p.nodes_needed} nodes are needed, but the {len(p.candidates)} running jobs have only {p.nodes_in_use}: "
            f"at most {p.nodes_in_use} can be freed"
        )


__all__ = [
    "STRATEGIES",
    "BatchJob",
    "Candidate",
    "Checkpointing",
    "Eviction",
    "EvictionPlan",
    "Strategy",
    "checkpoint_seconds",
]
