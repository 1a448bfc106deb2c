"""Reading of the state of a machine from JSON; docs/decide.md has the schema and an example."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from ...models.dispatch.jobs import DAY, Job, Queue, Running, Window
from ...models.dispatch.problem import impossible
from ...models.node_states import node_states
from ...models.platform import MOST_NODES, NamedNodes, Platform
from ..files.faults import InstanceError
from ..files.lines import TextError, read_json
from ..files.numbers import seconds_of
from .entries import Document, Entry
from .heterogeneous import check_part_names, chunks_of
from .machine_state import SCHEMA, UP, VERSION, MachineState
from .reservations import reservations_of

Amounts = Mapping[str, int]
HOUR = 3600  # default of the expected waiting time of a queue in seconds
WAITING = ("id", "submit", "walltime", "units", "request", "chunks", "queue", "earliest_start", "latest_start", "user",
           "name", "held", "array")  # fmt: skip
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
        "reservations",
    )  # fmt: skip
    shift = top.whole("utc_offset", -DAY, DAY, default=0)
    now = top.whole("now", 0) + shift
    queues, stopped = _queues(top)
    nodes = _nodes(top)
    ids: Counter[str] = Counter()
    running = [r for entry in top.entries("running") for r in _running(entry, nodes, now, shift, ids)]
    jobs = [(_waiting(entry, queues, shift, ids), entry) for entry in top.entries("waiting")]
    may_start = _arrays(top, [entry for _, entry in jobs])
    check_part_names(jobs, ids)
    reserved = reservations_of(top, {name: node.capacity for name, node in nodes.items()}, set(queues), now, shift)
    document.raise_faults()
    platform = Platform(_groups(nodes, running))
    document.raise_faults()
    private = {r.queue: r.name for r in reversed(reserved) if r.queue}
    left_out = dict(_left_out(platform, jobs, stopped, private, now, shift))
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
    )


def _arrays(top: Entry, waiting: list[Entry]) -> dict[str, tuple[int, int]]:
    """Return array -> how many of its tasks may run at once, and how many do; record the faults."""
    found: dict[str, tuple[int, int]] = {}
    for entry in top.entries("arrays") if "arrays" in top.values else ():
        entry.only("name", "limit", "running")
        name = entry.text("name")
        if name in found:
            entry.add_fault("name", "each array once", name)
        found[name] = entry.whole("limit", 1), entry.whole("running", 0, default=0)
    for entry in waiting:
        if "array" in entry.values and entry.text("array") not in found:
            entry.add_fault("array", f"one of the arrays {', '.join(found) or '(none)'}", entry.values["array"])
    return found


def _beyond_limits(
    jobs: list[Job], array_of: Mapping[str, str], limits: Mapping[str, tuple[int, int]]
) -> dict[str, str]:
    """Return id -> reason of the tasks, in the order of their submit times, for which the limit of their array has no room."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for job in sorted(jobs, key=lambda job: job.submit):
        array = array_of.get(job.id)
        if array is None:
            continue
        limit, running = limits[array]
        if running + seen[array] >= limit:
            found[job.id] = f"JobArrayTaskLimit: at most {limit} tasks of array {array} run at once, {running} run now"
        seen[array] += 1
    return found


class _Node:
    """A node of the file: its state, its capacity, what is said to be free, and its place in the file."""

    def __init__(self, entry: Entry, known: list[str]) -> None:
        entry.only("name", "state", "capacity", "free")
        self.entry, self.name, self.state = entry, entry.text("name"), entry.text("state", UP)
        self.capacity = entry.amounts("capacity")
        self.free = entry.amounts("free") if "free" in entry.values else {}
        if self.state not in known:
            entry.add_fault("state", f"one of {', '.join(known)}", self.state)
        for resource in self.free:
            if resource not in self.capacity:
                entry.add_fault(f"free.{resource}", f"a resource of its capacity: {', '.join(self.capacity)}", resource)


def _nodes(top: Entry) -> dict[str, _Node]:
    known, found = list(node_states()), dict[str, _Node]()
    for entry in top.entries("nodes"):
        node = _Node(entry, known)
        if node.name in found:
            entry.add_fault("name", "each node once", node.name)
        found[node.name] = node
    if not 1 <= len(found) <= MOST_NODES and not top.document.faults:
        top.add_fault("nodes", f"1 to {MOST_NODES:,} nodes", f"{len(found):,}")
    return found


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


def _queues(top: Entry) -> tuple[dict[str, Queue], set[str]]:
    """Return the queues, and the names of those that are stopped."""
    found, stopped = dict[str, Queue](), set[str]()
    for entry in top.entries("queues"):
        entry.only("name", "ewt", "start_between", "stopped")
        queue = Queue(entry.text("name"), entry.whole("ewt", 1, default=HOUR), _daily(entry))
        if queue.name in found:
            entry.add_fault("name", "each queue once", queue.name)
        found[queue.name] = queue
        if entry.flag("stopped"):
            stopped.add(queue.name)
    return found, stopped


def _daily(entry: Entry) -> tuple[Window, ...]:
    given = entry.values.get("start_between", [])
    windows = [_window(pair) for pair in given] if isinstance(given, list) else [None]
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


def _waiting(entry: Entry, queues: Mapping[str, Queue], shift: int, ids: Counter[str]) -> Job:
    entry.only(*WAITING)
    queue = entry.text("queue")
    if queue and queue not in queues:
        entry.add_fault("queue", f"one of the queues {', '.join(queues) or '(none)'}", queue)
    earliest, latest = entry.maybe_whole("earliest_start", 0), entry.maybe_whole("latest_start", 0)
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
    )


def _running(entry: Entry, nodes: Mapping[str, _Node], now: int, shift: int, ids: Counter[str]) -> list[Running]:
    """Return a running job, in one part for each amount that it uses on its nodes."""
    entry.only("id", "start", "walltime", "nodes", "queue", "user", "name", "submit")
    name, start, walltime = _id(entry, ids), entry.whole("start", 0) + shift, entry.whole("walltime", 1)
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
    stopped: set[str],
    private: Mapping[str, str],
    now: int,
    shift: int,
) -> list[tuple[str, str]]:
    """Return (id, reason) of the jobs that must not or cannot start now.

    ``private``: name of a private queue -> name of its first reservation.
    """
    found = []
    for job, entry in jobs:
        if "held" in entry.values:
            found.append((job.id, entry.text("held")))
        elif job.queue in stopped:
            found.append((job.id, f"queue {job.queue} is stopped"))
        elif job.queue in private:
            found.append((job.id, f"queue {job.queue} is private to reservation {private[job.queue]}"))
        elif job.release > now:
            found.append((job.id, f"must not start before {job.release - shift}"))
    known = set(platform.resources)
    names = {name for name, _ in found}
    for job, _ in jobs:
        requested = dict.fromkeys(r for part in job.parts for r, amount in part.request.items() if amount)
        foreign = [r for r in requested if r not in known]
        if foreign and job.id not in names:
            found.append((job.id, f"requests {', '.join(foreign)}, which no node has"))
            names.add(job.id)
    others = [job for job, _ in jobs if job.id not in names]
    return [*found, *((job.id, why) for job, why in impossible(platform, others))]
