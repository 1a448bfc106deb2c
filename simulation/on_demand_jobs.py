"""On-demand jobs and failures of nodes: given, drawn at random, or read from CSV files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from ..errors import WrongValue
from ..instances.files.folder import Sheet, SheetRow
from ..models import NodeEvent
from ..models.arguments import is_number, is_whole, shown
from ..models.comparing import hashable
from ..models.excerpt import with_short_repr
from ..models.platform import LATEST, Platform
from ..models.registry import Registry, Seconds
from ..models.words import how_many

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
            least = 1 if name in ("shortest", "longest") else 0
            if not is_number(value) or not least <= value <= LATEST or (name == "rate" and value == 0):
                span = "above 0" if name == "rate" else f"of at least {least}"
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
            expected = "a text" if not name else f"another id than that of line {lines[name]}"
            row.add_fault("id", expected, name or None)
        values = {column: _whole(row, column, least) for column, least in LEAST.items() if column in row.cells}
        power = _watts(row) if row.cells.get("power") else None
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
        repair = _whole(row, "repair", 1) if row.cells.get("repair") else REPAIR
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
        what = "a whole number" if column == "nodes" else "whole seconds"
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
