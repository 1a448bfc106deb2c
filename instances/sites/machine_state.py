"""The state of a machine and its queue at one time, read from JSON; docs/reference/decide.md has the schema and an example."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ...models.comparing import hashable
from ...models.dispatch.arrays import impossible_jobs
from ...models.dispatch.jobs import DAY, Chunk, Job, Queue, Running, Window
from ...models.node_states import node_states
from ...models.platform import LATEST, MOST_CAPACITY, MOST_NODES, NamedNodes, Platform
from ...models.problem import part_name
from ...models.reservations import Reserved
from ...models.words import how_many, similar, with_short_repr
from ..files.reading import Fault, InstanceError, TextError, json_whole_of, read_json, seconds_of
from ..formats.slurm_values import MOST_TASKS

# --- The state of a machine and its queue at one time.

SCHEMA = "schedlab-state"
VERSION = 1
UP = "up"


class Ended(NamedTuple):
    """A job that has ended.

    Parameters
    ----------
    job
        Its id.
    start, end
        Seconds.
    """

    job: str
    start: int
    end: int


@with_short_repr
@hashable
@dataclass(frozen=True)
class MachineState:
    """The state of a machine and its queue at one time.

    Attributes
    ----------
    now
        The time in seconds. All times count from 1970 or from any other second 0, plus ``shift``.
    platform
        The nodes, by their real names, and the licences that are free now. Amounts that are neither free nor used by the
        running jobs are left out.
    states
        The state of each node, in the order of ``platform.nodes``; see ``schedlab.models.node_states``.
    queues
        The queues of the jobs.
    waiting
        The jobs that may start, by submit time.
    running
        The running jobs. A job that uses different amounts on its nodes is listed as several, which end together;
        the later ones have ids such as "17+1".
    left_out
        Id -> reason, for the jobs in the queue that must not start now.
    shift
        Seconds that were added to the times of the file, so that second 0 is a midnight of the machine's clock.
    reserved
        The reservations of the machine that are not over, as they were requested. One that holds different amounts on
        its nodes is listed as several of the same name.
    array_of
        Id -> array of each waiting task of an array whose tasks may not all run at once.
    may_start
        Array -> how many of its tasks may start beside those that run. No more of them are in ``waiting``.
    priority
        Id of a waiting job -> its priority, as the scheduler of the machine has it; the highest goes first.
    ended
        Jobs that have ended, of which the machine still knows.
    """

    now: int
    platform: Platform
    states: tuple[str, ...]
    queues: tuple[Queue, ...]
    waiting: tuple[Job, ...]
    running: tuple[Running, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    shift: int = 0
    reserved: tuple[Reserved, ...] = ()
    array_of: Mapping[str, str] = field(default_factory=dict)
    may_start: Mapping[str, int] = field(default_factory=dict)
    priority: Mapping[str, int] = field(default_factory=dict)
    ended: tuple[Ended, ...] = ()


# --- Checked reading of JSON objects: faults are collected, each with the file, the field and what was expected.


class Document:
    """A JSON file that is being read, with its faults.

    Parameters
    ----------
    path
        The file, for the messages.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.faults: list[Fault] = []

    def add_fault(self, field: str, expected: str, found: object) -> None:
        """Record a fault."""
        self.faults.append(Fault(self.path.name, None, field, expected, found))

    def raise_faults(self) -> None:
        """Raise InstanceError if there are faults."""
        if self.faults:
            raise InstanceError(self.path, self.faults)


@dataclass(frozen=True, eq=False)
class Entry:
    """An object of a JSON file with its place, such as ``waiting[3]``; entries of lists count from 1.

    The methods return the value of a key; a wrong one is recorded as a fault, and a valid value returned.
    """

    document: Document
    values: Mapping[str, Any]
    place: str = ""

    @classmethod
    def of(cls, document: Document, value: object, place: str = "") -> Entry:
        """Return the entry of a value that should be an object."""
        if isinstance(value, dict):
            return cls(document, value, place)
        document.add_fault(place or "file", "an object", value)
        return cls(document, {}, place)

    def at(self, key: str) -> str:
        """Return the place of a key, with the id of the job or the name of the node if it is known."""
        name = next((self.values[k] for k in ("id", "name") if isinstance(self.values.get(k), str)), None)
        if self.place:
            dotted = f"{self.place}.{key}"
        else:
            dotted = key
        if name is None or key in ("id", "name"):
            return dotted
        return f"{dotted} ({name})"

    def add_fault(self, key: str, expected: str, found: object) -> None:
        """Record a fault of the value of ``key``."""
        self.document.add_fault(self.at(key), expected, found)

    def only(self, *known: str) -> None:
        """Record a fault for each key that is not in ``known``, with a similar one if there is one."""
        for key in self.values:
            if key not in known:
                near = similar(key, known, 1)
                self.add_fault(key, f"{near[0]!r} perhaps" if near else f"one of {', '.join(known)}", key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text that is not empty; without a default, a missing key is a fault."""
        if key not in self.values and default is not None:
            return default
        value = self.values.get(key)
        if isinstance(value, str) and value:
            return value
        self.add_fault(key, "a text", value)
        return ""

    def maybe_whole(self, key: str, least: int, most: int = LATEST) -> int | None:
        """Return a whole number; None if the key is missing or null."""
        if self.values.get(key) is None:
            return None
        return self.whole(key, least, most)

    def whole(self, key: str, least: int, most: int = LATEST, default: int | None = None) -> int:
        """Return a whole number from ``least`` to ``most``; without a default, a missing key is a fault."""
        value = self.values.get(key, default)
        number = json_whole_of(value, least, most)
        if number is not None:
            return number
        above = ""
        if isinstance(value, int) and value > most:
            above = f" and at most {most}"
        self.add_fault(key, f"a whole number of at least {least}{above}", value)
        return least

    def flag(self, key: str) -> bool:
        """Return true or false; false if the key is missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.add_fault(key, "true or false", value)
        return value is True

    def amounts(self, key: str) -> dict[str, int]:
        """Return an object of whole numbers of at least 0, {resource: amount}."""
        return self.entry(key).all_amounts()

    def all_amounts(self) -> dict[str, int]:
        """Return all keys of this object as {resource: amount}."""
        return {name: self.whole(name, 0, MOST_CAPACITY) for name in self.values}

    def entry(self, key: str) -> Entry:
        """Return an object."""
        return Entry.of(self.document, self.values.get(key), self.at(key))

    def entries(self, key: str) -> Iterator[Entry]:
        """Yield the objects of a list; a missing list is a fault."""
        value = self.values.get(key)
        if not isinstance(value, list):
            self.add_fault(key, "a list of objects", value)
            return
        for k, each in enumerate(value, 1):
            yield Entry.of(self.document, each, f"{self.place}.{key}[{k}]".lstrip("."))


# --- Reservations of the machine in a state file.

Amounts = Mapping[str, int]


def reservations_of(
    top: Entry, capacity: Mapping[str, Amounts], queues: Set[str], now: int, shift: int
) -> tuple[Reserved, ...]:
    """Return the reservations of a state, by start; record the faults.

    Parameters
    ----------
    top
        The state file.
    capacity
        Node name -> what the node has.
    queues
        The names of the queues.
    now, shift
        The time of the state and the seconds that are added to the times of the file.
    """
    if "reservations" not in top.values:
        return ()
    names = set[str]()
    reservations = list[Reserved]()
    for entry in top.entries("reservations"):
        entry.only("name", "start", "end", "nodes", "queue")
        name = entry.text("name")
        queue = entry.text("queue", "")
        if name in names:
            entry.add_fault("name", "each reservation once", name)
        names.add(name)
        if queue and queue not in queues:
            entry.add_fault("queue", f"one of the queues {', '.join(sorted(queues)) or '(none)'}", queue)
        start = entry.whole("start", 0) + shift
        end = entry.whole("end", 0) + shift
        if end <= start:
            entry.add_fault("end", f"a time after its start, {start - shift}", end - shift)
        elif end <= now:
            entry.add_fault("end", f"a time after now, {now - shift}: the reservation is over", end - shift)
        reservations.extend(
            Reserved(name, queue, start, end, dict.fromkeys(members, 1), dict(amounts))
            for amounts, members in _parts(entry, capacity).items()
        )
    return tuple(sorted(reservations, key=lambda r: r.start))


def _parts(entry: Entry, capacity: Mapping[str, Amounts]) -> dict[tuple[tuple[str, int], ...], list[str]]:
    """Return the nodes of a reservation by the amounts that it holds on them."""
    nodes_by_amounts: dict[tuple[tuple[str, int], ...], list[str]] = {}
    uses = entry.entry("nodes")
    for node in uses.values:
        amounts = uses.amounts(node)
        if node not in capacity:
            entry.add_fault(f"nodes.{node}", "a node of the list nodes", node)
            continue
        for resource, amount in amounts.items():
            if resource not in capacity[node]:
                expected = f"a resource of the node: {', '.join(capacity[node])}"
                entry.add_fault(f"nodes.{node}.{resource}", expected, resource)
            elif amount > capacity[node][resource]:
                expected = f"at most the {capacity[node][resource]} {resource} that the node has"
                entry.add_fault(f"nodes.{node}.{resource}", expected, amount)
        nodes_by_amounts.setdefault(tuple(sorted((r, n) for r, n in amounts.items() if n)), []).append(node)
    nodes_by_amounts.pop((), None)
    if not nodes_by_amounts and isinstance(entry.values.get("nodes"), dict) and set(uses.values) <= set(capacity):
        entry.add_fault("nodes", "at least one node with the amounts that are reserved", entry.values.get("nodes"))
    return nodes_by_amounts


# --- Heterogeneous waiting jobs in a state file: their chunks.


def chunks_of(entry: Entry) -> list[Chunk]:
    """Return the chunks of a waiting job, at least one; record the faults."""
    if "chunks" not in entry.values:
        return [_chunk(entry)]
    for key in ("units", "request"):
        if key in entry.values:
            entry.add_fault(key, "either chunks, or units and request", entry.values[key])
    chunks = []
    for each in entry.entries("chunks"):
        each.only("units", "request")
        chunks.append(_chunk(each))
    if entry.values["chunks"] == []:
        entry.add_fault("chunks", "at least one chunk", [])
    return chunks or [Chunk(1, {})]


def _chunk(entry: Entry) -> Chunk:
    return Chunk(entry.whole("units", 1, MOST_CAPACITY), entry.amounts("request"))


def check_part_names(jobs: Iterable[tuple[Job, Entry]], ids: Container[str]) -> None:
    """Record a fault for each job of which a further chunk has the name of another job."""
    for job, entry in jobs:
        for k in range(1, len(job.chunks)):
            name = part_name(job.id, k)
            if name in ids:
                entry.add_fault("chunks", f"no other job {name}, which is the name of chunk {k + 1}", job.id)


# --- Reading of the state of a machine from JSON; docs/reference/decide.md has the schema and an example.

HOUR = 3600  # default of the expected waiting time of a queue in seconds
WAITING = ("id", "submit", "walltime", "units", "request", "chunks", "queue", "earliest_start", "latest_start", "user",
           "name", "held", "array", "priority", "nodes", "per_node", "whole_nodes", "licences")  # fmt: skip
NOWHERE = ("",)  # the nodes of a job that may use none; it is left out
CLOCK = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)", re.ASCII)


def read_state(path: str | Path) -> MachineState:
    """Read the state of a machine.

    Parameters
    ----------
    path
        A JSON file with the schema ``schedlab-state``, plain or compressed (``.gz``).

    Returns
    -------
    MachineState
        The state.

    Raises
    ------
    InstanceError
        The file cannot be read or has faults; the message lists them: file, field, expected value, found value.
    """
    document = Document(Path(path))
    try:
        values = read_json(path)
    except TextError as e:
        document.add_fault(e.field, e.expected, e.found)
        raise InstanceError(document.path, document.faults) from e
    return state_of(values, document)


def state_of(values: Any, document: Document) -> MachineState:
    """Return the state in the values of a JSON file. Raises InstanceError with all faults."""
    top = Entry.of(document, values)
    document.raise_faults()
    if top.text("schema", "") != SCHEMA:
        top.add_fault(
            "schema", f"{SCHEMA!r}; bench import state makes such a file from Slurm or PBS", top.values.get("schema")
        )
    elif top.whole("version", 1) != VERSION:
        top.add_fault("version", f"{VERSION}, the version that this schedlab reads", top.values.get("version"))
    document.raise_faults()
    top.only(
        "schema", "version", "now", "utc_offset", "source", "queues", "nodes", "running", "waiting", "arrays",
        "reservations", "ended", "licences",
    )  # fmt: skip
    shift = top.whole("utc_offset", -DAY, DAY, default=0)
    now = top.whole("now", 0) + shift
    nodes = _nodes(top)
    licences = {}
    if "licences" in top.values:
        licences = top.amounts("licences")
    queues, stopped = _queues(top, nodes)
    ids: Counter[str] = Counter()
    running = [r for entry in top.entries("running") for r in _running(entry, nodes, now, shift, ids)]
    jobs = [(_waiting(entry, queues, nodes, licences, shift, ids), entry) for entry in top.entries("waiting")]
    may_start = _arrays(top, [entry for _, entry in jobs])
    check_part_names(jobs, ids)
    reserved = reservations_of(top, {name: node.capacity for name, node in nodes.items()}, set(queues), now, shift)
    priority = {job.id: n for job, entry in jobs if (n := entry.maybe_whole("priority", 0)) is not None}
    ended = tuple(_ended(entry, now, shift) for entry in (top.entries("ended") if "ended" in top.values else ()))
    document.raise_faults()
    platform = Platform(_groups(nodes, running), licences)
    document.raise_faults()
    private = {r.queue: r.name for r in reversed(reserved) if r.queue}
    shared = _partly_held(nodes, running)
    jobs = [(_beside(job, queues, tuple(nodes), shared), entry) for job, entry in jobs]
    left_out = dict(_without_licences([job for job, _ in jobs], licences))
    jobs = [(replace(job, licences={}), entry) if job.id in left_out else (job, entry) for job, entry in jobs]
    left_out |= dict(_left_out(platform, jobs, queues, stopped, private, now, shift))
    array_of = {job.id: entry.values["array"] for job, entry in jobs if "array" in entry.values}
    left_out |= _beyond_limits([job for job, _ in jobs if job.id not in left_out], array_of, may_start)
    waiting = [job for job, _ in jobs if job.id not in left_out]
    return MachineState(
        now=now,
        platform=platform,
        states=tuple(node.state for node in nodes.values()),
        queues=tuple(queues.values()),
        waiting=tuple(sorted(waiting, key=lambda job: job.submit)),
        running=tuple(running),
        left_out=left_out,
        shift=shift,
        reserved=reserved,
        array_of={job.id: array_of[job.id] for job in waiting if job.id in array_of},
        may_start={array: max(0, limit - running) for array, (limit, running) in may_start.items()},
        priority={job.id: priority[job.id] for job in waiting if job.id in priority},
        ended=ended,
    )


def _ended(entry: Entry, now: int, shift: int) -> Ended:
    entry.only("id", "start", "end")
    start = entry.whole("start", 0) + shift
    end = entry.whole("end", 0) + shift
    if not start <= end <= now:
        entry.add_fault("end", f"a time from its start, {start - shift}, to now, {now - shift}", end - shift)
    return Ended(entry.text("id"), start, end)


def _arrays(top: Entry, waiting: list[Entry]) -> dict[str, tuple[int, int]]:
    """Return array -> how many of its tasks may run at once, and how many do; record the faults."""
    arrays: dict[str, tuple[int, int]] = {}
    for entry in top.entries("arrays") if "arrays" in top.values else ():
        entry.only("name", "limit", "running")
        name = entry.text("name")
        if name in arrays:
            entry.add_fault("name", "each array once", name)
        arrays[name] = entry.whole("limit", 1), entry.whole("running", 0, default=0)
    for entry in waiting:
        if "array" in entry.values and entry.text("array") not in arrays:
            entry.add_fault("array", f"one of the arrays {', '.join(arrays) or '(none)'}", entry.values["array"])
    return arrays


def _beyond_limits(
    jobs: list[Job], array_of: Mapping[str, str], limits: Mapping[str, tuple[int, int]]
) -> dict[str, str]:
    """Return id -> reason of the tasks, in the order of their submit times, for which the limit of their array has no room."""
    beyond_limits: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for job in sorted(jobs, key=lambda job: job.submit):
        array = array_of.get(job.id)
        if array is None:
            continue
        limit, running = limits[array]
        if running + seen[array] >= limit:
            beyond_limits[job.id] = (
                f"JobArrayTaskLimit: at most {how_many(limit, 'task')} of array {array} run at once, {running} run now"
            )
        seen[array] += 1
    return beyond_limits


class _Node:
    """A node of the file: its state, its capacity, what is said to be free, and its place in the file."""

    def __init__(self, entry: Entry, known: list[str]) -> None:
        entry.only("name", "state", "capacity", "free")
        self.entry = entry
        self.name = entry.text("name")
        self.state = entry.text("state", UP)
        self.capacity = entry.amounts("capacity")
        if "free" in entry.values:
            self.free = entry.amounts("free")
        else:
            self.free = {}
        if self.state not in known:
            entry.add_fault("state", f"one of {', '.join(known)}", self.state)
        for resource in self.free:
            if resource not in self.capacity:
                entry.add_fault(f"free.{resource}", f"a resource of its capacity: {', '.join(self.capacity)}", resource)


def _nodes(top: Entry) -> dict[str, _Node]:
    known = list(node_states())
    nodes = dict[str, _Node]()
    for entry in top.entries("nodes"):
        node = _Node(entry, known)
        if node.name in nodes:
            entry.add_fault("name", "each node once", node.name)
        nodes[node.name] = node
    if not 1 <= len(nodes) <= MOST_NODES and not top.document.faults:
        top.add_fault("nodes", f"1 to {MOST_NODES:,} nodes", f"{len(nodes):,}")
    return nodes


def _groups(nodes: Mapping[str, _Node], running: list[Running]) -> list[NamedNodes]:
    """Return the nodes, in their order, with what the running jobs use and what is free; record contradictions."""
    used: dict[str, Counter[str]] = {name: Counter() for name in nodes}
    for r in running:
        for name, units in r.nodes.items():
            used[name].update({resource: units * amount for resource, amount in r.job.request.items()})
    resources = tuple(dict.fromkeys(r for node in nodes.values() for r in node.capacity))
    rows = []
    for name, node in nodes.items():
        for resource, amount in used[name].items():
            if amount > node.capacity.get(resource, 0):
                expected = f"at least the {amount} {resource} that its running jobs use"
                node.entry.add_fault(f"capacity.{resource}", expected, node.capacity.get(resource, 0))
        for resource, free in node.free.items():
            left = node.capacity.get(resource, 0) - used[name][resource]
            if free > left >= 0:
                why = f"at most {left}: the capacity less the {used[name][resource]} that its running jobs use"
                node.entry.add_fault(f"free.{resource}", why, free)
        here = {r: used[name][r] + node.free[r] if r in node.free else node.capacity.get(r, 0) for r in resources}
        rows.append((tuple(here.values()), name))
    groups = []
    for k, (vector, members) in enumerate(groupby(rows, key=lambda row: row[0]), 1):
        names = tuple(name for _, name in members)
        groups.append(NamedNodes(f"group {k}", len(names), dict(zip(resources, vector, strict=True)), names))
    return groups


def _partly_held(nodes: Mapping[str, _Node], running: list[Running]) -> set[str]:
    """Return the nodes of which something is neither free nor of a running job."""
    used: dict[str, Counter[str]] = {name: Counter() for name in nodes}
    for r in running:
        for name, units in r.nodes.items():
            used[name].update({resource: units * amount for resource, amount in r.job.request.items()})
    return {
        name
        for name, node in nodes.items()
        if any(free < node.capacity.get(r, 0) - used[name][r] for r, free in node.free.items())
    }


def _beside(job: Job, queues: Mapping[str, Queue], names: tuple[str, ...], shared: Set[str]) -> Job:
    """Return a job that takes whole nodes without the nodes of which others have a part that is not among the running jobs."""
    allowed = job.nodes or queues[job.queue].nodes or names
    if not job.whole_nodes or shared.isdisjoint(allowed):
        return job
    return replace(job, nodes=tuple(n for n in allowed if n not in shared) or NOWHERE)


def _queues(top: Entry, nodes: Mapping[str, _Node]) -> tuple[dict[str, Queue], set[str]]:
    """Return the queues, and the names of those that are stopped."""
    queues = dict[str, Queue]()
    stopped = set[str]()
    for entry in top.entries("queues"):
        entry.only("name", "ewt", "start_between", "stopped", "nodes")
        queue = Queue(
            entry.text("name"), entry.whole("ewt", 1, default=HOUR), _daily(entry), nodes=_names(entry, "nodes", nodes)
        )
        if queue.name in queues:
            entry.add_fault("name", "each queue once", queue.name)
        queues[queue.name] = queue
        if entry.flag("stopped"):
            stopped.add(queue.name)
    return queues, stopped


def _names(entry: Entry, key: str, nodes: Container[str]) -> tuple[str, ...]:
    """Return a list of names of nodes, empty if the key is missing."""
    given = entry.values.get(key, [])
    if isinstance(given, list):
        listed = given
    else:
        listed = [given]
    wrong = next((name for name in listed if not isinstance(name, str) or name not in nodes), None)
    if wrong is not None or not isinstance(given, list) or (key in entry.values and not given):
        entry.add_fault(key, "names of the list nodes", given if wrong is None else wrong)
        return ()
    return tuple(listed)


def _daily(entry: Entry) -> tuple[Window, ...]:
    given = entry.values.get("start_between", [])
    if isinstance(given, list):
        windows = [_window(pair) for pair in given]
    else:
        windows = [None]
    if None in windows:
        entry.add_fault("start_between", 'a list of pairs of times of the day such as ["18:00", "08:00"]', given)
    return tuple(w for w in windows if w is not None)


def _window(pair: object) -> Window | None:
    """Convert two times of the day to seconds; the window ends on the next day if the second time is not later."""
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(t, str) for t in pair):
        return None
    times = [CLOCK.fullmatch(t) for t in pair]
    lo, hi = (int(seconds_of(None, t[1], t[2], None)) if t else -1 for t in times)
    if min(lo, hi) < 0 or max(lo, hi) > DAY or lo in (hi, DAY):
        return None
    return lo, hi if hi > lo else hi + DAY


def _id(entry: Entry, ids: Counter[str]) -> str:
    name = entry.text("id")
    ids[name] += 1
    if ids[name] == 2:
        entry.add_fault("id", "each job once", name)
    return name


def _without_licences(jobs: Iterable[Job], free: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield (id, reason) of the jobs that ask for more licences than are free now."""
    for job in jobs:
        lacking = next((name for name, n in job.licences.items() if n > free.get(name, 0)), None)
        if lacking is not None:
            asked = how_many(job.licences[lacking], "licence")
            yield job.id, f"asks for {asked} of {lacking!r}, of which {free.get(lacking, 0)} are free"


def _waiting(
    entry: Entry,
    queues: Mapping[str, Queue],
    nodes: Container[str],
    licences: Mapping[str, int],
    shift: int,
    ids: Counter[str],
) -> Job:
    entry.only(*WAITING)
    held = {}
    if "licences" in entry.values:
        held = entry.amounts("licences")
    for name in held:
        if name not in licences:
            entry.add_fault(f"licences.{name}", f"one of the licences {', '.join(licences) or '(none)'}", name)
    for key in ("per_node", "whole_nodes") if "chunks" in entry.values else ():
        if key in entry.values:
            entry.add_fault(key, "no such field beside chunks", entry.values[key])
    queue = entry.text("queue")
    if queue and queue not in queues:
        entry.add_fault("queue", f"one of the queues {', '.join(queues) or '(none)'}", queue)
    earliest = entry.maybe_whole("earliest_start", 0)
    latest = entry.maybe_whole("latest_start", 0)
    return Job.of_chunks(
        id=_id(entry, ids),
        submit=entry.whole("submit", 0) + shift,
        walltime=entry.whole("walltime", 1),
        chunks=chunks_of(entry),
        queue=queue,
        earliest_start=None if earliest is None else earliest + shift,
        latest_start=None if latest is None else latest + shift,
        user=entry.text("user", ""),
        name=entry.text("name", ""),
        nodes=_names(entry, "nodes", nodes),
        per_node=entry.maybe_whole("per_node", 1, MOST_CAPACITY),
        whole_nodes=entry.flag("whole_nodes"),
        licences={name: n for name, n in held.items() if n},
    )


def _running(entry: Entry, nodes: Mapping[str, _Node], now: int, shift: int, ids: Counter[str]) -> list[Running]:
    """Return a running job, in one part for each amount that it uses on its nodes."""
    entry.only("id", "start", "walltime", "nodes", "queue", "user", "name", "submit")
    name = _id(entry, ids)
    start = entry.whole("start", 0) + shift
    walltime = entry.whole("walltime", 1)
    if start > now:
        entry.add_fault("start", f"at most now, {now - shift}", start - shift)
    parts: dict[tuple[tuple[str, int], ...], list[str]] = {}
    uses = entry.entry("nodes")
    for node in uses.values:
        if node not in nodes:
            entry.add_fault(f"nodes.{node}", "a node of the list nodes", node)
        amounts = uses.amounts(node)
        parts.setdefault(tuple(sorted((r, n) for r, n in amounts.items() if n)), []).append(node)
    if not parts:
        entry.add_fault("nodes", "at least one node with the amounts that the job uses", entry.values.get("nodes"))
    submit = entry.whole("submit", 0, default=max(0, start - shift)) + shift
    queue, user, program = (entry.text(key, "") for key in ("queue", "user", "name"))
    return [
        Running(
            Job(
                name if k == 0 else f"{name}+{k}", submit, walltime, len(members), dict(amounts), queue,
                user=user, name=program,
            ),
            start, dict.fromkeys(members, 1), start + walltime,
        )
        for k, (amounts, members) in enumerate(parts.items())
    ]  # fmt: skip


def _left_out(
    platform: Platform,
    jobs: list[tuple[Job, Entry]],
    queues: Mapping[str, Queue],
    stopped: set[str],
    private: Mapping[str, str],
    now: int,
    shift: int,
) -> list[tuple[str, str]]:
    """Return (id, reason) of the jobs that must not or cannot start now.

    ``private``: name of a private queue -> name of its first reservation.
    """
    left_out = []
    for job, entry in jobs:
        if "held" in entry.values:
            left_out.append((job.id, entry.text("held")))
        elif job.queue in stopped:
            left_out.append((job.id, f"queue {job.queue} is stopped"))
        elif job.queue in private:
            left_out.append((job.id, f"queue {job.queue} is private to reservation {private[job.queue]}"))
        elif job.release > now:
            left_out.append((job.id, f"must not start before {job.release - shift}"))
    known = set(platform.resources)
    names = {name for name, _ in left_out}
    for job, _ in jobs:
        if job.nodes == NOWHERE and job.id not in names:
            left_out.append((job.id, "takes whole nodes, and others have a part of each that it may use"))
            names.add(job.id)
    for job, _ in jobs:
        requested = dict.fromkeys(r for part in job.parts for r, amount in part.request.items() if amount)
        foreign = [r for r in requested if r not in known]
        if foreign and job.id not in names:
            left_out.append((job.id, f"requests {', '.join(foreign)}, which no node has"))
            names.add(job.id)
    others = [job for job, _ in jobs if job.id not in names]
    return [*left_out, *((job.id, why) for job, why in impossible_jobs(platform, list(queues.values()), others))]


# --- What jobs ask of nodes beyond amounts, as resources of nodes: a set of nodes, a whole node, different nodes for its units.
#
# A set of nodes is a resource of which each unit of its jobs requests 1 and each node of the set has plenty. A job that takes
# whole nodes requests all of the resource ``node``, of which every other job requests 1; a node that shares its jobs whatever
# they ask for has plenty of that. Where nodes are never shared, every job requests 1 of the resource ``job of its own``, of
# which such a node has 1. A job whose units must be on different nodes requests 1 of a resource of its own, of which each node
# has 1.

FEWEST = 1000  # tasks of an array that are listed, if the machine has fewer cores
PLENTY = 10**6
SHARE = "node"
ALONE = "job of its own"
MOST_SETS = 400  # resources of nodes; each is a column of the arrays that dispatchers work on


class NodeSets:
    """The resources that stand for sets of nodes and the like, while a state is made.

    Parameters
    ----------
    nodes
        The names of all nodes.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = frozenset(nodes)
        self.members: dict[str, frozenset[str]] = {}
        self.each: dict[str, int] = {}
        self.whole_nodes = False
        self.one_job: set[str] = set()  # nodes that are never shared
        self.always_shared: set[str] = set()  # nodes that no job takes whole
        self._labels: dict[frozenset[str], str] = {}

    def only_on(self, members: frozenset[str], label: str) -> dict[str, int] | None:
        """Return the request that binds a unit to some nodes; None if there are too many sets of nodes."""
        if members >= self.nodes:
            return {}
        if members not in self._labels:
            if len(self.members) >= MOST_SETS:
                return None
            own = label
            k = 2
            while own in self.members:
                own = f"{label} ({k})"
                k += 1
            self._labels[members] = own
            self.members[own] = members
            self.each[own] = PLENTY
        return {self._labels[members]: 1}

    def apart(self, job: str) -> dict[str, int] | None:
        """Return the request that puts each unit of a job on a node of its own; None if there are too many."""
        if len(self.members) >= MOST_SETS:
            return None
        own = f"different nodes for {job}"
        self.members[own] = self.nodes
        self.each[own] = 1
        return {own: 1}

    def whole(self) -> dict[str, int]:
        """Return the request that takes a whole node, also of what it does not ask for."""
        self.whole_nodes = True
        return {SHARE: PLENTY}

    def capacity(self, node: str, jobs: int = 0) -> dict[str, int]:
        """Return the resources of a node on which so many jobs run; all waiting jobs must be known."""
        listed = {own: self.each[own] for own, members in self.members.items() if node in members}
        return listed | self._of_node(node, jobs)

    def free_beside_others(self, node: str, jobs: int) -> dict[str, int]:
        """Return what is free of the shares of a node on which something is beside so many jobs of the list."""
        return {own: max(0, n - jobs - 1) for own, n in self._of_node(node, jobs).items()}

    def _of_node(self, node: str, jobs: int) -> dict[str, int]:
        amounts = {}
        if self.whole_nodes:
            if node in self.always_shared:
                amounts[SHARE] = MOST_CAPACITY
            else:
                amounts[SHARE] = PLENTY
        if self.one_job:
            if node in self.one_job:
                amounts[ALONE] = max(1, jobs)
            else:
                amounts[ALONE] = PLENTY
        return amounts

    @property
    def of_a_job(self) -> dict[str, int]:
        """What a running job has of each of its nodes, and a waiting one requests of them if it does not take them whole."""
        amounts = {}
        if self.whole_nodes:
            amounts = {SHARE: 1}
        if self.one_job:
            amounts[ALONE] = 1
        return amounts

    def shared(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Let every waiting job request its share of nodes."""
        for job in jobs:
            for part in job.get("chunks", [job]):
                for own, amount in self.of_a_job.items():
                    part["request"].setdefault(own, amount)


def most_listed(cores: int, listed: int) -> int:
    """Return how many tasks of a further array are listed: as many as the machine may start, in all at most MOST_TASKS.

    >>> most_listed(16, 0), most_listed(5000, 99_000), most_listed(10**12, MOST_TASKS)
    (1000, 1000, 0)
    """
    return min(max(FEWEST, cores), MOST_TASKS - listed)
