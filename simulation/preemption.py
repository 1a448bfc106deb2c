"""On-demand jobs, checkpoints and failures of a replay: their settings, the models of checkpoints, and evictors.

An evictor determines which running jobs leave when an on-demand job needs more nodes than are free: it gets the eviction problem
of the moment [Maurya2020], as the offline methods do, and returns a plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..backends.base import BACKENDS
from ..errors import WrongValue
from ..heuristics import HEURISTICS
from ..models import Checkpointing, Eviction, EvictionCandidate, EvictionPlan, NodeEvent
from ..models.arguments import expect, is_number, is_whole, shown
from ..models.comparing import hashable
from ..models.excerpt import with_short_repr
from ..models.platform import LATEST
from ..models.plugins import PluginError
from ..models.registry import Registry, WholeSeconds
from .on_demand_jobs import YEAR, OnDemandJob, check_jobs, read_checkpoints

PARTS = ("name", "decide")
TIME_LIMIT = 10.0  # seconds of a solver for one eviction
KNEE = 0.1
MOST_NODES = 10**9
SAMPLE = EvictionCandidate("a", 1, 0, 1, None, 0, 1)  # of a problem to check the name of a method


class Evictor(Protocol):
    """Who leaves for an on-demand job.

    Attributes
    ----------
    name : str
        The evictor as a text.

    Notes
    -----
    An attribute ``reserved`` is the number of nodes that batch jobs may not use (without it: 0). An attribute
    ``shared_bandwidth`` that is true asks for problems in which checkpoints are written in parallel. A method ``warm_up()`` is called before the replay.
    """

    @property
    def name(self) -> str:
        """The evictor as a text."""

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return a feasible plan of the eviction problem of the moment; None: no job leaves."""


@with_short_repr
@dataclass(frozen=True)
class NoEvictor:
    """No job leaves: on-demand jobs wait for nodes that become free.

    Parameters
    ----------
    reserved : int, default 0
        Nodes that batch jobs may not use, the last ones of the machine.
    """

    reserved: int = 0

    def __post_init__(self) -> None:
        if not is_whole(self.reserved) or self.reserved < 0:
            raise WrongValue(f"evictor reserve: expected a whole number of nodes, found {shown(self.reserved)}")

    @property
    def name(self) -> str:
        """The evictor as a text."""
        return f"reserve:{self.reserved}" if self.reserved else "none"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return None."""
        return None


@with_short_repr
@dataclass(frozen=True)
class Kill:
    """Jobs are killed by growing loss (ties: in the problem's order), until enough nodes are free."""

    name = "kill"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        strategy = dict.fromkeys((c.id for c in problem.candidates), "keep")
        freed = 0
        for c in sorted(problem.candidates, key=lambda c: c.loss):
            if freed >= problem.nodes_needed:
                break
            strategy[c.id], freed = "kill", freed + c.nodes
        return EvictionPlan(strategy)


@with_short_repr
@dataclass(frozen=True)
class GreedyEvictor:
    """The greedy method of [Maurya2020]: checkpoints by falling loss, then kills by growing loss."""

    name = "greedy"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        from ..heuristics.eviction import greedy  # compiled code is loaded when it is first needed

        return greedy(problem)

    def warm_up(self) -> None:
        """Load the compiled code."""
        from ..heuristics.eviction import warm_up

        warm_up()


@with_short_repr
@dataclass(frozen=True)
class DynamicProgram:
    """An optimal plan, by the dynamic program of [Maurya2020].

    Parameters
    ----------
    excess : float, optional
        None: the plan of the whole deadline (least loss). Else the plan of the shortest deadline whose loss is at most
        1 + ``excess`` times the least loss, the knee of the trade-off between waiting and loss.
    """

    excess: float | None = None

    def __post_init__(self) -> None:
        if self.excess is not None and (not is_number(self.excess) or self.excess < 0):
            raise WrongValue(f"evictor dp-knee: expected a number of at least 0, found {shown(self.excess)}")

    @property
    def name(self) -> str:
        """The evictor as a text."""
        if self.excess is None:
            return "dp"
        return "dp-knee" if self.excess == KNEE else f"dp-knee:{self.excess:g}"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        from ..heuristics.eviction import trade_off

        table = trade_off(problem)
        if self.excess is None:
            return table.best_plan()
        optima = table.deadlines()
        within = next(d.deadline_s for d in optima if d.loss <= (1 + self.excess) * optima[-1].loss)
        return table.best_plan(deadline_s=within)

    def warm_up(self) -> None:
        """Load the compiled code."""
        from ..heuristics.eviction import warm_up

        warm_up()


@with_short_repr
@dataclass(frozen=True)
class MethodEvictor:
    """Any method for eviction problems, such as ``cpsat:serial`` or ``backtracking``.

    Parameters
    ----------
    method : str
        The method as ``schedlab.solve`` takes it.
    shared_bandwidth : bool
        Whether checkpoints are written in parallel; the formulation ``shared`` needs it.
    time_limit : float
        Seconds for one eviction. Without a plan in this time no job leaves.
    """

    method: str
    shared_bandwidth: bool = False
    time_limit: float = TIME_LIMIT

    @property
    def name(self) -> str:
        """The evictor as a text."""
        return self.method

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan; None if none was found."""
        from ..solve import solve

        result = solve(problem, self.method, time_limit=self.time_limit, threads=1, seed=0)
        if result.status in ("unavailable", "error"):
            raise PluginError(f"evictor {self.method}: {result.message}")
        return result.schedule if isinstance(result.schedule, EvictionPlan) else None


def none() -> NoEvictor:
    """No job leaves: on-demand jobs wait for nodes that become free."""
    return NoEvictor()


def reserve(nodes: int) -> NoEvictor:
    """No job leaves, and batch jobs may not use the last nodes of the machine."""
    if not 1 <= nodes <= MOST_NODES:
        raise WrongValue(f"evictor reserve: nodes is {shown(nodes)}; expected a number of nodes such as reserve:512")
    return NoEvictor(nodes)


def optimal() -> DynamicProgram:
    """Return the evictor of the plan of least loss, by the dynamic program of [Maurya2020]."""
    return DynamicProgram()


def knee(excess: float = KNEE) -> DynamicProgram:
    """Return the evictor of the plan at the knee of the trade-off between waiting and loss."""
    return DynamicProgram(excess)


def _suggested(text: str) -> list[str]:
    return [] if text.partition(":")[0] in EVICTORS else ["cpsat:serial", "cpsat:shared", "backtracking"]


EVICTORS: Registry[Evictor] = Registry(
    "evictor",
    "schedlab.evictors",
    {"none": none, "kill": Kill, "greedy": GreedyEvictor, "dp": optimal, "dp-knee": knee, "reserve": reserve},
    parts=PARTS,
    docs="docs/reference/on_demand.md",
    first_value=True,
    near=_suggested,
)
"""Evictors by name: an evictor, or a class or function that returns one."""


def evictor_of(what: str | Evictor) -> Evictor:
    """Return an evictor by its name; an object is checked and returned.

    Parameters
    ----------
    what : str or Evictor
        ``none``, ``kill``, ``greedy``, ``dp``, ``dp-knee``, ``dp-knee:EXCESS``, ``reserve:NODES``, the name of a third
        party's evictor with its options, ``module:attribute``, or a method of eviction problems such as ``cpsat:shared``.

    Returns
    -------
    Evictor
        The evictor.

    Raises
    ------
    UnknownName
        If there is no such evictor or method.
    WrongOption
        If its number is not valid.
    PluginError
        If the object lacks a method.

    Examples
    --------
    >>> evictor_of("reserve:512"), evictor_of("cpsat:shared").shared_bandwidth
    (NoEvictor(reserved=512), True)
    """
    if isinstance(what, str) and EVICTORS.name_in(what) is None:
        method = _method(what)
        if method is not None:
            return method
    return EVICTORS.make(what)


def evictor_source(text: str) -> str | None:
    """Return a hash of the source of a third party's evictor or method; None for those of schedlab."""
    from ..methods.text import method_source

    if EVICTORS.name_in(text) is None and (method := _method(text)) is not None:
        return method_source(method.method)
    return EVICTORS.find(text).source


def _method(text: str) -> MethodEvictor | None:
    """Return the evictor of a method; None if the text is that of no method. Raises UnknownName, WrongValue."""
    from ..methods.text import parse_method

    first = text.partition(":")[0].partition("@")[0]
    if first not in (*BACKENDS, *HEURISTICS):
        return None
    shared = getattr(parse_method(text), "formulation", None) == "shared"
    parse_method(text, Eviction([SAMPLE], 0, 0, file_system_mb_s=1, shared_bandwidth=shared))
    return MethodEvictor(text, shared)


# --- When jobs write application-level checkpoints. The runtimes of a log contain the time for writing them.
#
# A model answers for each job by its number of nodes and the seconds that it needs to write a checkpoint. ``young`` and
# ``daly`` give the interval that loses least work and writing time under failures [Daly2006].


class CheckpointModel(Protocol):
    """When jobs write application-level checkpoints.

    Attributes
    ----------
    name : str
        The model as a text.
    """

    @property
    def name(self) -> str:
        """The model as a text."""

    def interval(self, job: str, nodes: int, writing: float) -> int | None:
        """Return the seconds of work between two checkpoints of a job; None: it writes none.

        Parameters
        ----------
        job : str
            The id of the job.
        nodes : int
            The number of its nodes.
        writing : float
            Seconds that one of its checkpoints takes.
        """


@with_short_repr
@dataclass(frozen=True)
class Fixed:
    """A checkpoint after each interval of work, as in [Maurya2020].

    Parameters
    ----------
    seconds : int, default 3600
        The interval.

    Examples
    --------
    >>> Fixed(1800).interval("a", 512, 60.0)
    1800
    """

    seconds: WholeSeconds = 3600

    def __post_init__(self) -> None:
        if not is_whole(self.seconds) or not 1 <= self.seconds <= LATEST:
            raise WrongValue(
                f"checkpoints fixed: expected whole seconds of at least 1 and at most {LATEST}, found {shown(self.seconds)}"
            )

    @property
    def name(self) -> str:
        """The model as a text."""
        return f"fixed:{self.seconds}"

    def interval(self, job: str, nodes: int, writing: float) -> int | None:
        """Return the interval."""
        return self.seconds


@with_short_repr
@dataclass(frozen=True)
class Never:
    """No checkpoints: a killed job starts from zero."""

    name = "none"

    def interval(self, job: str, nodes: int, writing: float) -> int | None:
        """Return None."""
        return None


@with_short_repr
@dataclass(frozen=True)
class Young:
    """Young's interval sqrt(2 C M): C is the time of a checkpoint, M the mean time between failures of the job's nodes.

    Parameters
    ----------
    rate : float
        Failures of a node per year (365 days), above 0.

    Examples
    --------
    >>> Young(1.0).interval("a", 512, 60.0)
    2719
    """

    rate: float

    def __post_init__(self) -> None:
        if not is_number(self.rate) or self.rate <= 0:
            raise WrongValue(
                f"checkpoints {type(self).__name__.lower()}: expected failures per node and year above 0, "
                f"found {shown(self.rate)}"
            )

    @property
    def name(self) -> str:
        """The model as a text."""
        return f"{type(self).__name__.lower()}:{self.rate:g}"

    def interval(self, job: str, nodes: int, writing: float) -> int | None:
        """Return the interval, in whole seconds of at least 1."""
        return max(1, round(min(LATEST, self.optimum(writing, YEAR / (self.rate * nodes)))))

    def optimum(self, writing: float, between: float) -> float:
        """Return the interval for checkpoints of ``writing`` s and ``between`` s between failures."""
        return math.sqrt(2 * writing * between)


@with_short_repr
@dataclass(frozen=True)
class Daly(Young):
    """Daly's higher-order interval [Daly2006]; parameters as of ``Young``.

    Examples
    --------
    >>> Daly(1.0).interval("a", 512, 60.0)
    2679
    """

    def optimum(self, writing: float, between: float) -> float:
        """Return the interval for checkpoints of ``writing`` s and ``between`` s between failures."""
        if writing >= 2 * between:
            return between
        part = writing / (2 * between)
        return math.sqrt(2 * writing * between) * (1 + math.sqrt(part) / 3 + part / 9) - writing


@with_short_repr
@hashable
@dataclass(frozen=True)
class Listed:
    """Checkpoints of single jobs, as a log or a table states them.

    Parameters
    ----------
    intervals : mapping of str to int
        Id of a job -> seconds of work between two checkpoints. Other jobs write none.
    name : str
        The model as a text.
    """

    intervals: Mapping[str, int] = field(default_factory=dict)
    name: str = "log"

    def __post_init__(self) -> None:
        for job, seconds in self.intervals.items():
            if not is_whole(seconds) or seconds < 1:
                raise WrongValue(
                    f"checkpoints of job {job!r}: expected whole seconds of at least 1, found {shown(seconds)}"
                )

    def interval(self, job: str, nodes: int, writing: float) -> int | None:
        """Return the interval of the job."""
        return self.intervals.get(job)


def listed(file: str) -> Listed:
    """Checkpoints of single jobs, read from a CSV file id,interval."""
    return Listed(read_checkpoints(Path(file)), f"log:{file}")


CHECKPOINTS: Registry[CheckpointModel] = Registry(
    "checkpoint model",
    "schedlab.checkpoints",
    {"fixed": Fixed, "young": Young, "daly": Daly, "none": Never, "log": listed},
    parts=("name", "interval"),
    docs="docs/reference/on_demand.md",
    argument="checkpoints",
    first_value=True,
)
"""Checkpoint models by name: a model, or a class or function that returns one."""


def checkpoints_of(what: str | CheckpointModel) -> CheckpointModel:
    """Return the model of a text: ``fixed:SECONDS``, ``young:RATE``, ``daly:RATE``, ``none``, ``log:FILE``.

    Parameters
    ----------
    what : str or CheckpointModel
        The text; an object, or a class without arguments, is checked.

    Returns
    -------
    CheckpointModel
        The model.

    Raises
    ------
    UnknownName
        If there is no such model.
    WrongOption
        If its number is not valid.
    PluginError
        If an object has no ``name`` or ``interval``.

    Examples
    --------
    >>> checkpoints_of("young:0.5")
    Young(rate=0.5)
    """
    return CHECKPOINTS.make(what)


# --- The settings of on-demand jobs, checkpoints and failures in a replay.


@with_short_repr
@dataclass(frozen=True)
class Preemption:
    """On-demand jobs in a batch machine, who leaves for them, and what jobs lose that leave or fail.

    Parameters
    ----------
    jobs : iterable of OnDemandJob
        The on-demand jobs.
    evictor : str or Evictor
        Who leaves: ``"none"``, ``"kill"``, ``"greedy"``, ``"dp"``, ``"dp-knee"``, ``"reserve:NODES"``, a method of
        eviction problems such as ``"cpsat:shared"``, or an object that follows ``evictors.Evictor``.
    checkpoints : str or CheckpointModel
        Application-level checkpoints: ``"fixed:SECONDS"``, ``"young:RATE"``, ``"daly:RATE"``, ``"none"``, ``"log:FILE"``,
        or an object that follows ``checkpoints.CheckpointModel``.
    restart : int, default 0
        Seconds at the begin of each later attempt of a job in which it makes no progress.
    storage : Checkpointing
        The bandwidths of file system and node, and the limits between which the memory of jobs and the share that
        applications write are drawn (``seed``). Its ``interval`` is not used.
    shared_bandwidth : bool, default False
        Whether checkpoints may be written in parallel within the bandwidth of the file system, else one after another.
    step : int, default 60
        Seconds of a time step of eviction problems.
    failures : tuple of NodeEvent
        Failures and repairs of nodes, as ``failures.failures_of`` returns them.

    Raises
    ------
    WrongValue, UnknownName, PluginError
        If a value is not valid.

    Examples
    --------
    >>> Preemption([OnDemandJob("scan", 3600, 512, 900, 1800)], "dp").evictor
    DynamicProgram(excess=None)
    """

    jobs: tuple[OnDemandJob, ...] = ()
    evictor: Evictor = "dp"  # type: ignore[assignment]
    checkpoints: CheckpointModel = "fixed:3600"  # type: ignore[assignment]
    restart: int = 0
    storage: Checkpointing = field(default_factory=Checkpointing)
    shared_bandwidth: bool = False
    step: int = 60
    failures: tuple[NodeEvent, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("jobs", OnDemandJob), ("failures", NodeEvent)):
            given = getattr(self, name)
            listed = tuple(given) if isinstance(given, Iterator) else given
            expect(f"{name} of Preemption", listed, Sequence[kind])  # type: ignore[valid-type]
            object.__setattr__(self, name, tuple(listed))
        expect("storage of Preemption", self.storage, Checkpointing)
        expect("shared_bandwidth of Preemption", self.shared_bandwidth, bool)
        check_jobs(self.jobs)
        object.__setattr__(self, "evictor", evictor_of(self.evictor))
        object.__setattr__(self, "checkpoints", checkpoints_of(self.checkpoints))
        for name, least in (("restart", 0), ("step", 1)):
            value = getattr(self, name)
            if not is_whole(value) or not least <= value <= LATEST:
                raise WrongValue(
                    f"preemption: {name}: expected whole seconds of at least {least} and at most {LATEST}, "
                    f"found {shown(value)}"
                )
        for name in ("file_system_mb_s", "node_mb_s"):
            value = getattr(self.storage, name)
            if not is_number(value) or value <= 0:
                raise WrongValue(f"preemption: storage.{name}: expected more than 0 MB/s, found {shown(value)}")
        if getattr(self.evictor, "shared_bandwidth", False):
            object.__setattr__(self, "shared_bandwidth", True)

    @property
    def reserved(self) -> int:
        """Nodes that batch jobs may not use."""
        return int(getattr(self.evictor, "reserved", 0))
