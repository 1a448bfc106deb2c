"""The eviction problem: which running jobs to kill or checkpoint so that nodes are free in time [Maurya2020].

An on-demand job needs ``nodes_needed`` nodes within ``deadline_s``. For each running batch job, the number of its
nodes, its loss if it is killed, and the duration of its checkpoints are known: a system-level checkpoint starts at once
and writes all memory in use; an application-level one starts at a later time and writes less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..arguments import checked, unknown_keyword
from ..excerpt import with_short_repr
from ..language import Violation
from ..platform import ProblemError
from ..problem import Encoding, Schedule, checked_schedule
from ..unknown_names import ByName
from ..whole_numbers import is_number, is_whole, shown
from .from_trace import Checkpointing, Log, running_jobs
from .job_table import jobs_of_table
from .jobs import BatchJob, EvictionCandidate, exact, job_faults, possible, whole_job, whole_steps
from .plan import STRATEGIES, EvictionPlan, Strategy

if TYPE_CHECKING:
    import pandas

SETTINGS = {"nodes_needed": 0, "deadline_s": 0, "step_s": 1, "now": None}  # whole numbers and their least values


@checked(values=False)
@with_short_repr
@dataclass(frozen=True, init=False)
class Eviction:
    """Free ``nodes_needed`` nodes within ``deadline_s`` with the least loss, and then with the least checkpoint time.

    The checkpoints are written one after another, and their times, waiting included, add up. With ``shared_bandwidth``
    they are written in parallel within the bandwidth of the file system, and the checkpoint time is the end of the last
    one. Times are rounded up to whole steps, the deadline is rounded down. Of equally good plans, one with the most
    application-level checkpoints is wanted. The objective is (loss in node-seconds, checkpoint time in seconds).

    Parameters
    ----------
    jobs : iterable of BatchJob or EvictionCandidate
        The running jobs. A BatchJob needs ``now`` and both bandwidths.
    nodes_needed : int
        The number of nodes to free.
    deadline_s : int
        Seconds from now by which all checkpoints must have ended.
    step_s : int, default 60
        The length of a time step in seconds.
    now : int, default 0
        The time in seconds, on the clock of the jobs.
    file_system_mb_s, node_mb_s : float, optional
        The bandwidth of the file system and that of one node, in MB/s.
    shared_bandwidth : bool, default False
        Whether checkpoints may be written in parallel.

    Raises
    ------
    ProblemError
        If the data contradict each other, or the jobs have fewer nodes than are needed; the message names the jobs.

    References
    ----------
    [Maurya2020].

    Examples
    --------
    >>> jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200)]
    >>> p = Eviction(jobs, nodes_needed=100, deadline_s=180)
    >>> p.value(EvictionPlan({"a": "sys", "b": "kill"}))
    (3600, 120)
    """

    jobs: tuple[BatchJob | EvictionCandidate, ...]
    nodes_needed: int
    deadline_s: int
    step_s: int
    now: int
    file_system_mb_s: float | None
    node_mb_s: float | None
    shared_bandwidth: bool
    candidates: tuple[EvictionCandidate, ...] = field(compare=False, repr=False)

    kind: str = field(default="eviction", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)
    # reads the log of a path; set by schedlab.instances, which this layer may not import
    read_log: ClassVar[Callable[[str | Path], Log] | None] = None

    def __init__(
        self,
        jobs: Iterable[BatchJob | EvictionCandidate],
        nodes_needed: int,
        deadline_s: int,
        step_s: int = 60,
        now: int = 0,
        file_system_mb_s: float | None = None,
        node_mb_s: float | None = None,
        shared_bandwidth: bool = False,
    ) -> None:
        checked = [whole_job(j) for j in jobs]
        values = {
            "jobs": tuple(made for made, _ in checked),
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
            object.__setattr__(self, name, int(value) if name in SETTINGS and is_whole(value) else value)
        _raise([*_settings_faults(self), *(why for _, found in checked for why in found)])
        _raise(wrong.of(j.id) for j in self.jobs for wrong in job_faults(j, self.now))
        object.__setattr__(self, "candidates", tuple(self._candidate(j) for j in self.jobs))
        _raise([*_too_few(self), *(_bandwidth_faults(self) if shared_bandwidth else ())])

    def _candidate(self, job: BatchJob | EvictionCandidate) -> EvictionCandidate:
        if isinstance(job, EvictionCandidate):
            return job
        assert self.file_system_mb_s is not None and self.node_mb_s is not None  # checked by _settings_faults
        return job.candidate(self.now, self.file_system_mb_s, self.node_mb_s)

    @classmethod
    @checked
    def from_trace(
        cls,
        trace: Log | str | Path,
        at: int,
        nodes_needed: int = 0,
        deadline_s: int = 900,
        step_s: int = 60,
        checkpointing: Checkpointing | None = None,
        shared_bandwidth: bool = False,
    ) -> Eviction:
        """Return the problem of the jobs that run at one time of a log.

        Logs have no data on checkpoints; they are drawn as ``checkpointing`` says.

        Parameters
        ----------
        trace : Log, str or Path
            A log whose units are nodes (``read_swf`` with one core per node), or the path of its file.
        at : int
            The time in seconds.
        nodes_needed, deadline_s, step_s, shared_bandwidth
            As for ``Eviction``.
        checkpointing : Checkpointing, optional
            The random model of checkpoints. None: the default values of ``Checkpointing``.

        Returns
        -------
        Eviction
            The problem.

        Raises
        ------
        ProblemError
            If no job runs at that time, or the jobs have fewer nodes than are needed.
        """
        if isinstance(trace, (str, Path)):
            if cls.read_log is None:
                raise ProblemError(f"{trace}: import schedlab.instances to read logs by their path, or pass a Workload")
            trace = cls.read_log(trace)
        settings = checkpointing or Checkpointing()
        jobs = [BatchJob(*row) for row in running_jobs(trace, at, settings)]
        bandwidths = settings.file_system_mb_s, settings.node_mb_s
        return cls(jobs, nodes_needed, deadline_s, step_s, at, *bandwidths, shared_bandwidth)

    @classmethod
    def from_pandas(cls, table: pandas.DataFrame, nodes_needed: int, deadline_s: int, **others: Any) -> Eviction:
        """Return the problem of the running jobs in a table.

        Parameters
        ----------
        table : pandas.DataFrame
            One row per job. The columns are the fields of ``EvictionCandidate``, or, if it has the column ``memory``, those of
            ``BatchJob``; ``id`` may be called ``job``. An empty cell is None.
        nodes_needed, deadline_s
            As for ``Eviction``.
        **others
            Further arguments of ``Eviction``, such as ``step_s``.

        Raises
        ------
        ProblemError
            If a column is missing or unknown, or the data contradict each other.

        Examples
        --------
        >>> import pandas
        >>> table = pandas.DataFrame({"job": ["a"], "nodes": [64], "loss": [7200], "system_s": [90]})
        >>> Eviction.from_pandas(table, nodes_needed=60, deadline_s=180).jobs
        (EvictionCandidate(id='a', nodes=64, loss=7200, system_s=90, application_s=None, wait_s=0, mb_s=None),)
        """
        return cls(jobs_of_table(table), nodes_needed, deadline_s, **others)

    @cached_property
    def steps(self) -> int:
        """The number of whole steps within the deadline."""
        return self.deadline_s // self.step_s

    @cached_property
    def nodes_in_use(self) -> int:
        """The number of nodes of all running jobs."""
        return sum(c.nodes for c in self.candidates)

    @cached_property
    def by_id(self) -> dict[str, EvictionCandidate]:
        """The candidates by the ids of their jobs."""
        return {c.id: c for c in self.candidates}

    @cached_property
    def checkpoint_steps(self) -> dict[str, dict[str, int]]:
        """{job: {"app": steps, "sys": steps}}: steps from now to the end of each possible checkpoint, rounded up."""
        return {c.id: {w: whole_steps(s, self.step_s) for w, s in possible(c)} for c in self.candidates}

    @cached_property
    def writing_steps(self) -> dict[str, dict[str, int]]:
        """The same without the waiting time: the steps for which a checkpoint writes."""
        return {
            c.id: {
                w: whole_steps(exact(s) - (exact(c.wait_s) if w == "app" else 0), self.step_s) for w, s in possible(c)
            }
            for c in self.candidates
        }

    def replace(self, **changes: Any) -> Eviction:
        """Return a copy with other values of the named parameters."""
        names = ("jobs", "nodes_needed", "deadline_s", "step_s", "now", "file_system_mb_s", "node_mb_s")
        values = {name: getattr(self, name) for name in (*names, "shared_bandwidth")}
        for name in changes:
            if name not in values:
                raise unknown_keyword("replace", name, values)
        return Eviction(**{**values, **changes})

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``serial``, or ``shared`` with a shared bandwidth; both are exact."""
        from . import formulation as f

        made = {"shared": lambda: f.shared(self)} if self.shared_bandwidth else {"serial": lambda: f.serial(self)}
        return ByName("formulation", made)

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of the plan, from the data alone."""
        from .check import verify

        return verify(self, checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> tuple[int, int]:
        """Return (loss in node-seconds, checkpoint time in seconds) of a plan, from the data alone."""
        from .check import objective

        return objective(self, checked_schedule(schedule, "value"))

    def read(self, data: Any) -> EvictionPlan:
        """Return the plan of JSON data, as result records hold it; raise ValueError if they are malformed."""
        return EvictionPlan.from_json(data)


def _raise(faults: Iterable[str]) -> None:
    found = list(faults)
    if found:
        more = f"\n... and {len(found) - 10} more" if len(found) > 10 else ""
        raise ProblemError("\n".join(found[:10]) + more)


def _settings_faults(p: Eviction) -> Iterator[str]:
    """Yield a message for each wrong number of the problem, and for each job that is listed twice."""
    for name, least in SETTINGS.items():
        value = getattr(p, name)
        if not is_whole(value) or (least is not None and value < least):
            more = "" if least is None else f" of at least {least}"
            yield f"{name} is {shown(value)}; a whole number{more} is expected"
    for name, count in Counter(j.id for j in p.jobs).items():
        if count > 1:
            yield f"job {name!r} is listed {count} times"
    physical = [j for j in p.jobs if isinstance(j, BatchJob)]
    for name, bandwidth in (("file_system_mb_s", p.file_system_mb_s), ("node_mb_s", p.node_mb_s)):
        if bandwidth is None and physical:
            yield f"{name} is missing: the checkpoints of job {physical[0].id!r} need this bandwidth in MB/s"
        elif bandwidth is not None and not (is_number(bandwidth) and bandwidth > 0):
            yield f"{name} is {shown(bandwidth)}; more than 0 MB/s is expected"


def _bandwidth_faults(p: Eviction) -> Iterator[str]:
    """Yield a message for each missing or wrong bandwidth that ``shared_bandwidth`` needs."""
    if p.file_system_mb_s is None:
        yield "shared_bandwidth needs file_system_mb_s, the bandwidth of the file system in MB/s; it is missing"
        return
    for c in p.candidates:
        if c.mb_s is None and p.checkpoint_steps[c.id]:
            yield f"job {c.id!r}: shared_bandwidth needs mb_s, the bandwidth that its nodes use in MB/s; it is missing"
        elif (c.mb_s or 0) > p.file_system_mb_s:
            yield f"job {c.id!r}: mb_s is {c.mb_s}; expected is at most the file system's {p.file_system_mb_s}"


def _too_few(p: Eviction) -> Iterator[str]:
    if p.nodes_needed > p.nodes_in_use:
        yield (
            f"{p.nodes_needed} nodes are needed, but the {len(p.candidates)} running jobs have only {p.nodes_in_use}: "
            f"at most {p.nodes_in_use} can be freed"
        )


__all__ = ["STRATEGIES", "BatchJob", "EvictionCandidate", "Checkpointing", "Eviction", "EvictionPlan", "Strategy"]
