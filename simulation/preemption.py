"""On-demand jobs, failures, checkpoints, and jobs whose attempts end early: their settings, and the evictors.

An evictor determines which running jobs leave when an on-demand job needs more nodes than are free: it gets the eviction problem
of the moment [Maurya2020], as the offline methods do, and returns a plan.
On-demand jobs and failures of nodes are given, drawn at random, or read from CSV files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from ..backends.base import BACKENDS
from ..errors import WrongValue
from ..heuristics import HEURISTICS
from ..instances.files.reading import Sheet, SheetRow
from ..models import Checkpointing, Eviction, EvictionCandidate, EvictionPlan, NodeEvent
from ..models.arguments import expect, is_number, is_whole, shown
from ..models.comparing import hashable
from ..models.platform import LATEST, Platform
from ..models.plugins import PluginError, calling
from ..models.registry import Registry, Seconds, WholeSeconds
from ..models.words import excerpt, how_many, with_short_repr

# --- On-demand jobs.

LEAST = {"submit": 0, "nodes": 1, "start_within": 0, "duration": 1, "notice": 0}


@with_short_repr
@dataclass(frozen=True)
class OnDemandJob:
    """A job that must start soon after its submission, on nodes of its own.

    Parameters
    ----------
    id : str
        The name of the job.
    submit : int
        The time in seconds, on the clock of the workload, from which on it can start.
    nodes : int
        The number of whole nodes that it needs.
    start_within : int
        Seconds from ``submit`` within which it should start.
    duration : int
        Its duration in seconds, which is known.
    notice : int, default 0
        Seconds before ``submit`` at which it is announced; the nodes can be freed from then on.
    power : float, optional
        Its power in watts while it runs, above 0; required with a power cap.

    Examples
    --------
    >>> job = OnDemandJob("scan-1", submit=3600, nodes=512, start_within=900, duration=1800)
    >>> job.latest_start, job.announced
    (4500, 3600)
    """

    id: str
    submit: int
    nodes: int
    start_within: int
    duration: int
    notice: int = 0
    power: float | None = None

    @property
    def latest_start(self) -> int:
        """The time in seconds by which it should start."""
        return self.submit + self.start_within

    @property
    def announced(self) -> int:
        """The time in seconds from which on it is known."""
        return self.submit - self.notice


def faults_of(job: OnDemandJob) -> Iterator[tuple[str, str, object]]:
    """Yield (field, expected, found) for each wrong value of a job."""
    if not isinstance(job.id, str) or not job.id:
        yield "id", "a text", job.id
    for name, least in LEAST.items():
        value = getattr(job, name)
        if not is_whole(value) or not least <= value <= LATEST:
            yield name, f"a whole number of at least {least}", value
    if job.power is not None and not (is_number(job.power) and job.power > 0):
        yield "power", "watts above 0", job.power


def check_jobs(jobs: Sequence[OnDemandJob], platform: Platform | None = None) -> None:
    """Raise WrongValue if jobs have wrong values or the same id, or need more nodes than a machine has."""
    faults = [
        f"on-demand job {shown(j.id)}: {where}: expected {expected}, found {shown(value)}"
        for j in jobs
        for where, expected, value in faults_of(j)
    ]
    faults += [
        f"on-demand job {name!r} is listed {how_many(n, 'time')}"
        for name, n in Counter(j.id for j in jobs).items()
        if n > 1
    ]
    if platform is not None and not faults:
        most = len(platform.nodes)
        faults += [
            f"on-demand job {j.id!r}: nodes: expected at most {most}, the nodes of the machine, found {j.nodes}"
            for j in jobs
            if j.nodes > most
        ]
    if faults:
        raise WrongValue("\n".join(faults[:10]) + (f"\n... and {len(faults) - 10} more" if len(faults) > 10 else ""))


# --- Random streams of on-demand jobs. The distribution is our own: [Maurya2020] has single jobs only.

DAY = 86400
SIZES = (128, 256, 512, 1024, 2048)
WEIGHTS = (5, 4, 3, 2, 1)


@with_short_repr
@hashable
@dataclass(frozen=True)
class Stream:
    """A Poisson process of on-demand jobs; random numbers come from ``random.Random(seed).random()`` only.

    Parameters
    ----------
    rate : float, default 4
        Jobs per day, above 0.
    start_within : float, default 900
        Seconds from the submission within which a job should start.
    shortest, longest : float, default 600 and 14400
        Limits of the durations in seconds, which are log-uniform.
    notice : float, default 0
        Seconds before the submission at which a job is announced.
    seed : float, default 1
        The seed.
    sizes, weights : sequence of int
        Numbers of nodes, and their relative frequencies.

    Examples
    --------
    >>> [(job.id, job.submit, job.nodes) for job in Stream(seed=1).draw(0, 30000, 4360)]
    [('od-1', 3116, 1024), ('od-2', 9477, 256)]
    """

    rate: float = 4
    start_within: Seconds = 900
    shortest: Seconds = 600
    longest: Seconds = 14400
    notice: Seconds = 0
    seed: float = 1
    sizes: Sequence[int] = SIZES
    weights: Sequence[float] = WEIGHTS

    def __post_init__(self) -> None:
        for name in ("rate", "start_within", "shortest", "longest", "notice"):
            value = getattr(self, name)
            least = 0
            if name in ("shortest", "longest"):
                least = 1
            if not is_number(value) or not least <= value <= LATEST or (name == "rate" and value == 0):
                span = "above 0"
                if name != "rate":
                    span = f"of at least {least}"
                raise WrongValue(f"stream: {name}: expected a number {span} and at most {LATEST}, found {shown(value)}")
        if self.longest < self.shortest:
            raise WrongValue(f"stream: longest: expected at least shortest, {self.shortest:g}, found {self.longest:g}")

    def draw(self, begin: int, end: int, nodes: int) -> tuple[OnDemandJob, ...]:
        """Return the jobs submitted from ``begin`` to ``end`` (seconds); sizes above ``nodes`` are left out."""
        random = Random(int(self.seed))
        jobs_drawn = list[OnDemandJob]()
        pairs = [(n, w) for n, w in zip(self.sizes, self.weights, strict=True) if n <= nodes]
        if not pairs:
            pairs = [(nodes, 1.0)]
        time = float(begin)
        while True:
            time -= math.log(1 - random.random()) * DAY / self.rate
            ticket = random.random() * sum(w for _, w in pairs)
            length = random.random()
            if time > end:
                return tuple(jobs_drawn)
            k = 0
            while ticket >= pairs[k][1] and k + 1 < len(pairs):
                ticket = ticket - pairs[k][1]
                k = k + 1
            duration = self.shortest * (self.longest / self.shortest) ** length
            name = f"od-{len(jobs_drawn) + 1}"
            jobs_drawn.append(
                OnDemandJob(name, int(time), pairs[k][0], int(self.start_within), int(duration), int(self.notice))
            )


STREAMS: Registry[Stream] = Registry("kind of on-demand jobs", "", {"stream": Stream})
"""The streams by name."""


# --- A failure of a node.

YEAR = 365 * 86400  # seconds
REPAIR = 3600  # seconds


class Failure(NamedTuple):
    """A failure of a node: its time and the seconds until it is up again."""

    time: int
    node: str
    repair: int


# --- Tables of on-demand jobs, failures and checkpoints as CSV files; lines that begin with # are comments.

LONGEST = 12  # digits of a number
JOB_COLUMNS = ("id", "submit", "nodes", "start_within", "duration")


def read_on_demand(path: str | Path, platform: Platform | None = None) -> tuple[OnDemandJob, ...]:
    """Read on-demand jobs: the columns id, submit, nodes, start_within, duration and, if wished, notice and power.

    Times are whole seconds; ``submit`` is on the clock of the workload, ``start_within`` and ``notice`` are seconds after
    and before it. ``power`` is in watts.

    Parameters
    ----------
    path : str or Path
        The file.
    platform : Platform, optional
        The machine, to check the numbers of nodes.

    Raises
    ------
    InstanceError
        If the file has faults; the message lists them with their lines.
    WorkloadError
        If the file cannot be read.
    """
    sheet = _sheet(path, JOB_COLUMNS, ("notice", "power"))
    jobs_read = list[OnDemandJob]()
    lines = dict[str, int]()
    for row in sheet.rows():
        before = len(sheet.faults)
        name = row.cells["id"]
        if not name or name in lines:
            expected = "a text"
            if name:
                expected = f"another id than that of line {lines[name]}"
            row.add_fault("id", expected, name or None)
        values = {column: _whole(row, column, least) for column, least in LEAST.items() if column in row.cells}
        power = None
        if row.cells.get("power"):
            power = _watts(row)
        if platform is not None and values["nodes"] > len(platform.nodes):
            row.add_fault("nodes", f"at most {len(platform.nodes)}, the nodes of the machine", row.cells["nodes"])
        if len(sheet.faults) == before:
            lines[name] = row.number
            jobs_read.append(OnDemandJob(name, **values, power=power))
    sheet.raise_faults()
    return tuple(jobs_read)


def _watts(row: SheetRow) -> float | None:
    """Return the power of a row in watts; a fault is noted."""
    try:
        watts = float(row.cells["power"])
    except ValueError:
        watts = 0.0
    if not 0 < watts < float("inf"):
        row.add_fault("power", "watts above 0", row.cells["power"])
        return None
    return watts


def read_failures(path: str | Path, platform: Platform) -> list[Failure]:
    """Read failures: the columns time (s), node, and, if wished, repair (s, default 3600). Raises InstanceError."""
    sheet = _sheet(path, ("time", "node"), ("repair",))
    known = set(platform.nodes)
    failures = []
    for row in sheet.rows():
        time = _whole(row, "time", -LATEST)
        node = row.cells["node"]
        if row.cells.get("repair"):
            repair = _whole(row, "repair", 1)
        else:
            repair = REPAIR
        if node not in known:
            row.add_fault("node", f"a node of the machine, {platform.nodes[0]} ... {platform.nodes[-1]}", node or None)
        failures.append(Failure(time, node, repair))
    sheet.raise_faults()
    return failures


def read_checkpoints(path: str | Path) -> dict[str, int]:
    """Read the checkpoint intervals of jobs: the columns id and interval (s of work). Raises InstanceError."""
    sheet = _sheet(path, ("id", "interval"), ())
    checkpoints: dict[str, int] = {}
    for row in sheet.rows():
        if row.cells["id"] in checkpoints or not row.cells["id"]:
            row.add_fault("id", "an id that is not listed before", row.cells["id"] or None)
        checkpoints[row.cells["id"]] = _whole(row, "interval", 1)
    sheet.raise_faults()
    return checkpoints


def _sheet(path: str | Path, columns: Sequence[str], more: Sequence[str]) -> Sheet:
    """Return the file, of which the header has these columns, perhaps those of ``more``, and no others."""
    sheet = Sheet(Path(path))
    header = sheet.header()
    for column in columns:
        if column not in header:
            sheet.add_fault(1, column, f"a column of this name; the columns are {','.join([*columns, *more])}", None)
    for column in header:
        if column not in (*columns, *more):
            sheet.add_fault(1, column, f"one of the columns {', '.join([*columns, *more])}", column)
    sheet.raise_faults()
    return sheet


def _whole(row: SheetRow, column: str, least: int) -> int:
    """Return the whole number in a column; a fault is recorded and a valid number returned if there is none."""
    text = row.cells.get(column, "")
    if (
        not (text.isascii() and text.removeprefix("-").isdecimal())
        or len(text) > LONGEST
        or not least <= int(text) <= LATEST
    ):
        what = "whole seconds"
        if column == "nodes":
            what = "a whole number"
        row.add_fault(column, what + (f" of at least {least}" if least > -LATEST else ""), text or None)
        return max(least, 0)
    return int(text)


# --- Failures of nodes: drawn from a rate, or read from a file. They are events of nodes: down, and up after the repair.


@with_short_repr
@dataclass(frozen=True)
class FailureRate:
    """Independent failures of all nodes, with exponential times between them.

    Parameters
    ----------
    rate : float
        Failures of a node per year (365 days), at least 0.
    repair : float, default 3600
        Seconds until a node is up again.
    seed : float, default 1
        The seed.

    Examples
    --------
    >>> len(FailureRate(1.0).draw(0, 30 * 86400, [f"n-{k}" for k in range(1000)]))  # 82 are expected
    88
    """

    rate: float
    repair: Seconds = REPAIR
    seed: float = 1

    def __post_init__(self) -> None:
        if not is_number(self.rate) or self.rate < 0:
            raise WrongValue(f"failures: rate: expected a number of at least 0, found {shown(self.rate)}")
        if not is_number(self.repair) or not 1 <= self.repair <= LATEST:
            raise WrongValue(
                f"failures: repair: expected seconds of at least 1 and at most {LATEST}, found {shown(self.repair)}"
            )

    def draw(self, begin: int, end: int, nodes: Iterable[str]) -> list[Failure]:
        """Return the failures from ``begin`` to ``end`` (seconds); a node does not fail while it is down."""
        names = list(nodes)
        random = Random(int(self.seed))
        failures = list[Failure]()
        if not self.rate or not names:
            return failures
        up: dict[str, int] = {}
        time = float(begin)
        while True:
            time -= math.log(1 - random.random()) * YEAR / (self.rate * len(names))
            node = names[int(random.random() * len(names))]
            if time > end:
                return failures
            at = math.ceil(time)
            if up.get(node, at) <= at:
                failures.append(Failure(at, node, int(self.repair)))
                up[node] = at + int(self.repair)


def events_of(failures: Iterable[Failure]) -> tuple[NodeEvent, ...]:
    """Return the events of nodes of some failures; those of a node that is down are left out.

    Examples
    --------
    >>> [(e.time, e.kind) for e in events_of([Failure(60, "n-1", 600), Failure(100, "n-1", 600)])]
    [(60, 'node-down'), (660, 'node-up')]
    """
    up: dict[str, int] = {}
    changes = []
    for f in sorted(failures):
        if f.time < up.get(f.node, f.time):
            continue
        up[f.node] = f.time + f.repair
        down = NodeEvent(f.time, "node-down", [f.node])
        changes += [down, NodeEvent(min(f.time + f.repair, LATEST), "node-up", [f.node])]
    return tuple(sorted(changes, key=lambda e: (e.time, e.kind == "node-down")))


def failures_of(text: str, platform: Platform, begin: int, end: int) -> tuple[NodeEvent, ...]:
    """Return the failures that a text names: ``RATE``, ``RATE:repair=SECONDS:seed=N``, or a CSV file.

    Parameters
    ----------
    text : str
        Failures of a node per year, with options; or the path of a file with the columns time, node and repair.
    platform : Platform
        The machine.
    begin, end : int
        Seconds; failures are drawn in this time.

    Raises
    ------
    WrongValue
        If an option is not valid.
    InstanceError
        If the file has faults; the message lists them with their lines.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> machine = Platform([NodeGroup("n", 100, {"cores": 1})])
    >>> [e.kind for e in failures_of("10:repair=600", machine, 0, 86400)][:2]
    ['node-down', 'node-up']
    """
    rate = rate_of(text)
    if rate is not None:
        return events_of(rate.draw(begin, end, platform.nodes))
    return events_of(read_failures(Path(text), platform))


FAILURES: Registry[FailureRate] = Registry("failure", "", {"rate": FailureRate}, first_value=True)
"""How failures are drawn, by name; a text begins with the number alone."""


def rate_of(text: str) -> FailureRate | None:
    """Return the rate that a text names; None if it is the name of a file. Raises UnknownName, WrongOption."""
    try:
        float(text.partition(":")[0])
    except ValueError:
        return None
    return FAILURES.make(f"rate:{text}")


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
        if self.reserved:
            return f"reserve:{self.reserved}"
        return "none"

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
        if self.excess == KNEE:
            return "dp-knee"
        return f"dp-knee:{self.excess:g}"

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
        if isinstance(result.schedule, EvictionPlan):
            return result.schedule
        return None


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
    if text.partition(":")[0] in EVICTORS:
        return []
    return ["cpsat:serial", "cpsat:shared", "backtracking"]


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
            if isinstance(given, Iterator):
                listed = tuple(given)
            else:
                listed = given
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


class Requeue(Protocol):
    """The rule for jobs whose attempt ends early, for example because a node goes down.

    Attributes
    ----------
    name : str
        The rule as a text, as ``requeue_of`` reads it.
    """

    @property
    def name(self) -> str:
        """The rule as a text."""

    def kept(self, ran: int) -> int | None:
        """Return the seconds of work of an attempt that are kept.

        Parameters
        ----------
        ran : int
            Seconds from the start of the attempt to its end.

        Returns
        -------
        int or None
            From 0 to ``ran``: the job comes back to its old place in the queue, and needs this much less. None: the job
            does not come back.
        """


@with_short_repr
@dataclass(frozen=True)
class Restart:
    """The job comes back and starts from zero.

    Examples
    --------
    >>> Restart().kept(5000)
    0
    """

    name = "restart"

    def kept(self, ran: int) -> int | None:
        """Return 0."""
        return 0


@with_short_repr
@dataclass(frozen=True)
class Checkpoint:
    """The job comes back and goes on from its last checkpoint; a checkpoint takes no time.

    Parameters
    ----------
    every : int
        Seconds of work between two checkpoints.

    Examples
    --------
    >>> Checkpoint(3600).kept(5000)
    3600
    """

    every: WholeSeconds

    def __post_init__(self) -> None:
        if not is_whole(self.every) or self.every < 1:
            raise WrongValue(f"checkpoint: every is {excerpt(self.every)}; expected whole seconds, at least 1")

    @property
    def name(self) -> str:
        """The rule as a text."""
        return f"checkpoint:{self.every}"

    def kept(self, ran: int) -> int | None:
        """Return the work at the last checkpoint."""
        return ran - ran % self.every


RESTART = Restart()


@with_short_repr
@dataclass(frozen=True)
class Drop:
    """The job does not come back."""

    name = "drop"

    def kept(self, ran: int) -> int | None:
        """Return None."""
        return None


def kept_by(requeue: Requeue, ran: int, job: str) -> int | None:
    """Return ``requeue.kept(ran)``, checked. Raises WrongValue."""
    with calling(f"requeue {requeue.name}: kept"):
        kept = requeue.kept(ran)
    if kept is not None and not (is_whole(kept) and 0 <= kept <= ran):
        raise WrongValue(
            f"requeue {requeue.name}: kept({ran}) is {excerpt(kept)} for job {job!r}; "
            f"expected None or whole seconds from 0 to {ran}"
        )
    return kept


REQUEUE_RULES: Registry[Requeue] = Registry(
    "requeue rule",
    "schedlab.requeue",
    {"restart": Restart, "checkpoint": Checkpoint, "drop": Drop},
    parts=("name", "kept"),
    docs="docs/reference/outages.md",
    argument="requeue",
    first_value=True,
)
"""The rules by name: a rule, or a class or function that returns one."""


def requeue_of(what: str | Requeue | type[Requeue]) -> Requeue:
    """Return the rule that a text names: ``restart``, ``checkpoint:SECONDS``, ``drop``, or one of a third party.

    Parameters
    ----------
    what : str, Requeue or type
        The text; an object, or a class without arguments, is checked.

    Returns
    -------
    Requeue
        The rule.

    Raises
    ------
    UnknownName
        If there is no such rule or option; the message lists similar names.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If the object has not the parts of a rule.

    Examples
    --------
    >>> requeue_of("checkpoint:10min")
    Checkpoint(every=600)
    """
    return REQUEUE_RULES.make(what)
