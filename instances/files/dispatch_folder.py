"""Instances of kind "dispatch": platform, queues and reservations in ``instance.toml``, one row per job in ``jobs.csv``, events in ``events.csv``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import WrongValue
from ...models.arguments import is_number
from ...models.comparing import hashable
from ...models.dispatch.arrays import impossible_jobs, read_features
from ...models.dispatch.jobs import DAY, Job, Queue, Recorded, Running, SiteRequest, Window
from ...models.dispatch.objectives import objective_names
from ...models.dispatch.problem import Dispatch
from ...models.node_states import NodeEvent, event_kinds, members
from ...models.platform import LATEST, MOST_CAPACITY, MOST_NODES, NamedNodes, NodeGroup, Platform, ProblemError
from ...models.problem import part_name
from ...models.reservations import MOST_REPETITIONS, PERIODS, WEEK_DAYS, Repeat, Reservation
from ...models.server_events import Known, ServerEvent, of_events, of_reservations, server_event_kinds, value_fault
from ...models.words import hint, how_many
from ..instance import Instance
from ..site_columns import SITE_COLUMNS, cells_of, columns_with_values, site_of
from .profile_file import profile_csv, read_profile, wishes_of
from .reading import SETTINGS, Folder, InstanceError, Table, TableRow, seconds_of, whole_of
from .writing import to_csv, to_toml, write_files, write_whole

# --- ``events.csv``: events of the machine and of the batch server over time; reading and writing.
#
# The columns are ``time`` (seconds on the clock of the workload) and ``kind``. Events of nodes, such as ``node-down`` (see
# ``schedlab.models.node_states``), have ``nodes``: names of nodes or of groups, separated by spaces, or ``*`` for all
# nodes. Events of the server, such as ``stop-queue`` (see ``schedlab.models.server_events``), have ``subject``, the
# name of a queue or reservation or the id of a job, and some of them ``value``. Other columns are refused.

EVENTS = "events.csv"
EVENT_COLUMNS = ("time", "kind")
OF_NODES = ("nodes",)
OF_SERVER = ("subject", "value")
Event = NodeEvent | ServerEvent


def read_events(path: str | Path, platform: Platform | None = None, known: Known | None = None) -> list[Event]:
    """Read the events of a file.

    Parameters
    ----------
    path : str or Path
        A CSV file with the columns time, kind and, as its events need them, nodes, subject and value.
    platform : Platform, optional
        The machine, to check the names of the nodes.
    known : Known, optional
        The queues, jobs and reservations, to check the names of server events
        (``schedlab.models.server_events.Known``).

    Returns
    -------
    list of NodeEvent and ServerEvent
        The events, in the order of the file.

    Raises
    ------
    InstanceError
        If the file has faults; the message lists them with their lines.
    """
    path = Path(path)
    real = path.resolve()
    folder = _Alone(real.parent)
    events = list(events_of(folder, real.name, platform, known))
    if folder.faults:
        raise InstanceError(path, folder.faults)
    return events


class _Alone(Folder):
    """A folder without settings, to read one file of it."""

    def __post_init__(self) -> None:
        self.settings = Table(self, {}, ())


def events_of(folder: Folder, name: str, platform: Platform | None, known: Known | None = None) -> Iterator[Event]:
    """Yield the events of a file of a folder; faults are recorded in the folder."""
    server: list[tuple[ServerEvent, TableRow]] = []
    for row in folder.rows(name, EVENT_COLUMNS, (*OF_NODES, *OF_SERVER)):
        event = _event(row, platform)
        if isinstance(event, ServerEvent):
            server.append((event, row))
        if event is not None:
            yield event
    for fault in of_events([event for event, _ in server], known or Known()):
        server[fault.row][1].add_fault(fault.field, fault.expected, fault.found)


def _event(row: TableRow, platform: Platform | None) -> Event | None:
    before = len(row.folder.faults)
    time = row.whole("time", -LATEST, LATEST)
    kind = row.text("kind")
    nodes = event_kinds()
    server = server_event_kinds()
    if kind in nodes:
        names = _given(row, "nodes").split()
        _check_nodes(row, names, platform)
        _unused(row, kind, OF_SERVER)
        if len(row.folder.faults) == before:
            return NodeEvent(time, kind, names)
        return None
    if kind in server:
        subject = _given(row, "subject")
        text = row.cells.get("value", "")
        seconds = None
        if server[kind].value == "seconds":
            seconds = whole_of(text)
        value = (text or None) if seconds is None else seconds
        fault = value_fault(server[kind], value)
        if fault:
            row.add_fault("value", fault, text or None)
        _unused(row, kind, OF_NODES)
        if len(row.folder.faults) == before:
            return ServerEvent(time, kind, subject, value)
        return None
    if kind:
        row.add_fault("kind", f"one of {', '.join([*nodes, *server])}", kind)
    return None


def _given(row: TableRow, column: str) -> str:
    """Return the text of a column that this kind of events needs; a missing one is a fault."""
    text = row.cells.get(column, "")
    if not text:
        row.add_fault(column, f"a text, for events of kind {row.cells['kind']}", None)
    return text


def _unused(row: TableRow, kind: str, columns: tuple[str, ...]) -> None:
    for column in columns:
        if row.cells.get(column):
            row.add_fault(column, f"nothing, for events of kind {kind}", row.cells[column])


def _check_nodes(row: TableRow, names: list[str], platform: Platform | None) -> None:
    known: dict[str, Sequence[int]] = {}
    if platform is not None:
        known = members(platform)
    unknown = [name for name in names if name not in known]
    if unknown and platform is not None:
        groups = ", ".join(g.name for g in platform.groups)
        nodes = f"{platform.nodes[0]} ... {platform.nodes[-1]}"
        row.add_fault("nodes", f"nodes ({nodes}) or groups ({groups}) of the platform", unknown[0])


def events_csv(events: Iterable[Event]) -> str:
    """Return events as the text of an ``events.csv``.

    Examples
    --------
    >>> print(events_csv([NodeEvent(60, "node-down", ["n-1", "n-2"])]), end="")
    time,kind,nodes
    60,node-down,n-1 n-2
    >>> print(events_csv([ServerEvent(60, "walltime", "job-7", 7200)]), end="")
    time,kind,subject,value
    60,walltime,job-7,7200
    """
    events = list(events)
    server = any(isinstance(e, ServerEvent) for e in events)
    nodes = not server or any(isinstance(e, NodeEvent) for e in events)
    return to_csv([*EVENT_COLUMNS, *OF_NODES * nodes, *OF_SERVER * server], [_row(e, nodes, server) for e in events])


def _row(event: Event, nodes: bool, server: bool) -> list[object]:
    if isinstance(event, NodeEvent):
        return [event.time, event.kind, " ".join(event.nodes), *("", "") * server]
    return [event.time, event.kind, *("",) * nodes, event.subject, event.value]


def write_events(events: Iterable[Event], path: str | Path) -> None:
    """Write events as an ``events.csv``; the file is complete or not written.

    Parameters
    ----------
    events : iterable of NodeEvent and ServerEvent
        The events, in the order of the rows.
    path : str or Path
        The file; an existing file is replaced.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_events([NodeEvent(60, "node-drain", ["n-1"])], f"{folder}/events.csv")
    ...     read_events(f"{folder}/events.csv")
    [NodeEvent(time=60, kind='node-drain', nodes=('n-1',))]
    """
    write_whole(Path(path), events_csv(events))


# --- ``running.csv``: the jobs that run at the begin of an instance; reading and writing.


RUNNING = "running.csv"
RUNNING_TIMES = ("start", "end", "nodes")


def read_running(
    folder: Folder,
    platform: Platform,
    columns: Sequence[str],
    optional: Sequence[str],
    job_of: Callable[[TableRow], Job],
) -> list[Running]:
    """Return the running jobs of a folder that has the file; faults are recorded in the folder.

    Parameters
    ----------
    folder
        The instance folder.
    platform
        The machine.
    columns, optional
        The columns of ``jobs.csv``.
    job_of
        Reads the job of a row.
    """
    free = {node: list(vector) for node, vector in platform.capacity.items()}
    running = []
    for row in folder.rows(RUNNING, (*columns, *RUNNING_TIMES), optional, SITE_COLUMNS):
        job = job_of(row)
        start = row.whole("start", -LATEST, LATEST)
        end = row.whole("end", -LATEST, LATEST)
        nodes = _nodes(row, job, free)
        for node, units in nodes.items():
            for k, resource in enumerate(platform.resources):
                free[node][k] -= units * job.request.get(resource, 0)
                if free[node][k] < 0:
                    row.add_fault(
                        "nodes", f"running jobs within the {resource} of {node}", f"{-free[node][k]} too many"
                    )
        running.append(Running(job, start, nodes, end))
    return running


def _nodes(row: TableRow, job: Job, known: dict[str, list[int]]) -> dict[str, int]:
    """Return node -> units of a cell such as "n-1:2 n-2:1"."""
    nodes: dict[str, int] = {}
    for word in row.text("nodes").split():
        node, _, units = word.rpartition(":")
        number = whole_of(units, 1, MOST_CAPACITY)
        if node not in known or node in nodes or number is None:
            row.add_fault("nodes", "nodes of the platform with numbers of units, such as n-1:2, each once", word)
            continue
        nodes[node] = number
    if nodes and sum(nodes.values()) != job.units:
        row.add_fault("nodes", f"the {how_many(job.units, 'unit')} of the job", sum(nodes.values()))
    return nodes


def job_cell(job: Job, column: str) -> Any:
    """Return the cell of an optional column of a job; None or an empty text if the job does not have it."""
    if column == "allowed_nodes":
        return " ".join(job.nodes)
    if column == "whole_nodes":
        return int(job.whole_nodes) or None
    if column == "licences":
        return " ".join(f"{name}:{amount}" for name, amount in job.licences.items() if amount)
    return getattr(job, column, None)


def running_csv(
    running: Sequence[Running],
    resources: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
    extra: Sequence[str],
) -> str:
    """Return running jobs as the text of a ``running.csv``; ``before``, ``after`` and ``extra`` are columns of jobs."""
    cells = [cells_of(r.job.asked, r.job.recorded) for r in running]
    of_site = columns_with_values(cells)
    rows = [
        [
            *(getattr(r.job, column) for column in before),
            *(r.job.request.get(name, 0) for name in resources),
            *(job_cell(r.job, column) for column in (*after, *extra)),
            *(own.get(column) for column in of_site),
            *(r.start, r.end, " ".join(f"{node}:{units}" for node, units in r.nodes.items())),
        ]
        for r, own in zip(running, cells, strict=True)
    ]
    return to_csv([*before, *resources, *after, *extra, *of_site, *RUNNING_TIMES], rows)


# --- The tables ``[[reservations]]`` of an ``instance.toml``.

TIMES = ("submitted", "start", "duration")  # in seconds; in the file with the suffix _s


def read_reservations(
    settings: Table, platform: Platform, queues: Sequence[Queue], jobs: Sequence[Job]
) -> tuple[Reservation, ...]:
    """Return the reservations of an instance; mistakes and contradictions are recorded as faults."""
    if "reservations" not in settings.values:
        return ()
    tables = settings.tables("reservations")
    before = len(settings.folder.faults)
    reservations = [_reservation(table) for table in tables]
    if len(settings.folder.faults) > before:
        return ()
    listed = [r for r in reservations if r is not None]
    users = {j.user for j in jobs if j.user}
    for fault in of_reservations(listed, platform, queues, users):
        tables[fault.row].add_fault(_key(fault.field), fault.expected, fault.found)
    return tuple(listed)


def _key(field: str) -> str:
    if field in TIMES:
        return f"{field}_s"
    return field


def _reservation(table: Table) -> Reservation | None:
    before = len(table.folder.faults)
    table.only("name", "queue", "users", "submitted_s", "start_s", "duration_s", "units", "request", "repeat")
    values: dict[str, Any] = {
        "name": table.text("name"),
        "queue": table.text("queue"),
        "users": _texts(table, "users"),
        "submitted": table.whole("submitted_s", -LATEST, 0, most=LATEST),
        "start": table.whole("start_s", -LATEST, most=LATEST),
        "duration": table.whole("duration_s", 1, most=LATEST),
        "units": table.whole("units", 1, most=MOST_CAPACITY),
        "request": table.wholes("request", most=MOST_CAPACITY),
        "repeat": _repeat(table),
    }
    if len(table.folder.faults) > before:
        return None
    try:
        return Reservation(**values)
    except ProblemError as e:
        _, field, text = str(e).split(": ", 2)
        expected, _, value = text.removeprefix("expected ").rpartition(", found ")
        table.add_fault(_key(field), expected, value)
        return None


def _repeat(table: Table) -> Repeat | None:
    if "repeat" not in table.values:
        return None
    inside = table.table("repeat")
    before = len(table.folder.faults)
    inside.only("every", "count", "days", "second_0")
    every = inside.text("every")
    count = inside.whole("count", 1, most=MOST_REPETITIONS)
    days = _texts(inside, "days")
    second_0 = inside.text("second_0", WEEK_DAYS[0])
    if every and every not in PERIODS:
        inside.add_fault("every", f"one of {', '.join(PERIODS)}", every)
    for key, names in (("days", days), ("second_0", (second_0,))):
        for day in names:
            if day not in WEEK_DAYS:
                inside.add_fault(key, f"week days of {', '.join(WEEK_DAYS)}", day)
    if len(table.folder.faults) == before:
        return Repeat(every, count, days, second_0)
    return None


def _texts(table: Table, key: str) -> tuple[str, ...]:
    value = table.values.get(key, [])
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    table.add_fault(key, "a list of texts", value)
    return ()


def reservation_tables(reservations: Sequence[Reservation]) -> dict[str, Any]:
    """Return the reservations as tables of ``instance.toml``."""
    if reservations:
        return {"reservations": [_table(r) for r in reservations]}
    return {}


def _table(r: Reservation) -> dict[str, Any]:
    head = {"name": r.name, "queue": r.queue, "users": list(r.users), "submitted_s": r.submitted, "start_s": r.start}
    values = {**head, "duration_s": r.duration, "units": r.units, "request": dict(r.request)}
    if r.repeat is not None:
        pattern = r.repeat
        values["repeat"] = {
            "every": pattern.every, "count": pattern.count, "days": list(pattern.days), "second_0": pattern.second_0
        }  # fmt: skip
    return values


# --- The rows of ``jobs.csv``: jobs, heterogeneous jobs, job arrays.
#
# The columns ``units`` and those of the resources are the first chunk of a job. ``further_chunks`` has the others, as PBS
# writes them: ``2:cores=16:gpus=1+1:cores=4`` are two units with 16 cores and a GPU each, and one with 4 cores. A row with
# ``count`` n > 1 is an array of n equal jobs ``id[0]``, ..., ``id[n-1]``. ``array`` is the name of the array of a job that
# has a row of its own. Columns ``asked.*`` and ``recorded.*`` are what a job asked of its site, and what was recorded of it.
# ``allowed_nodes`` are names with spaces between them, ``licences`` are ``name:number`` likewise;
# ``whole_nodes`` is 1 or empty.

BEFORE = ("id", "queue", "submit", "units")
AFTER = ("walltime", "runtime")
PLACES = ("allowed_nodes", "features", "per_node", "whole_nodes", "licences")
_PLACES = frozenset(PLACES)
_SITE = frozenset(SITE_COLUMNS)
OPTIONAL_OF_ONE = (
    "earliest_start",
    "deadline",
    "user",
    "name",
    "power",
    "latest_start",
    *PLACES,
    "array",
)  # equal units
OPTIONAL = (*OPTIONAL_OF_ONE[:-1], "further_chunks", "count", "array")
MOST_OF_ARRAY = 1_000_000
CHUNKS = "chunks such as 2:cores=16+1:cores=4 (units, then amounts per unit)"


def jobs_of(row: TableRow, resources: Sequence[str]) -> list[Job]:
    """Return the job of a row, or the jobs of its array; faults are recorded in the folder."""
    job = job_of_row(row, resources)
    count = row.maybe_whole("count", 1, MOST_OF_ARRAY) or 1
    if count == 1:
        return [job]
    return [replace(job, id=f"{job.id}[{k}]", array=job.id) for k in range(count)]


def job_of_row(row: TableRow, resources: Sequence[str]) -> Job:
    """Return the job of a row, without regard to ``count``; faults are recorded in the folder."""
    units = row.whole("units", 1, MOST_CAPACITY)
    request = {r: row.whole(r, 0, MOST_CAPACITY) for r in resources}
    asked, recorded = _site_of(row)
    return Job.of_chunks(
        id=row.text("id"),
        submit=row.whole("submit", 0, LATEST),
        walltime=row.whole("walltime", 1, LATEST),
        chunks=[(units, request), *_further_chunks(row, resources)],
        queue=row.text("queue"),
        earliest_start=row.maybe_whole("earliest_start", 0, LATEST),
        deadline=row.maybe_whole("deadline", 0, LATEST),
        runtime=row.maybe_whole("runtime", 0, LATEST),
        user=row.cells.get("user", ""),
        name=row.cells.get("name", ""),
        power=None if "power" in resources else row.maybe_number("power"),
        latest_start=row.maybe_whole("latest_start", 0, LATEST),
        array=row.cells.get("array", ""),
        asked=asked,
        recorded=recorded,
        **_places(row, resources),
    )


def _site_of(row: TableRow) -> tuple[SiteRequest | None, Recorded | None]:
    if _SITE.isdisjoint(row.cells):
        return None, None
    try:
        return site_of(row.cells)
    except WrongValue as e:
        column, _, expected = str(e).partition(" is ")
        row.add_fault(column, expected.partition("; expected ")[2] or expected, row.cells.get(column))
        return None, None


def _places(row: TableRow, resources: Sequence[str]) -> dict[str, Any]:
    """Return where the job of a row may run, and its licences; a resource may have the name of such a column."""
    if _PLACES.isdisjoint(row.cells):
        return {}
    cells = {column: row.cells.get(column, "") for column in PLACES if column not in resources}
    if not any(cells.values()):
        return {}
    features = cells.get("features", "").strip()
    if features:
        try:
            read_features(features)
        except ProblemError as e:
            row.add_fault("features", "names with '&', '|' and parentheses", str(e))
            features = ""
    whole = cells.get("whole_nodes", "").strip()
    if whole not in ("", "0", "1"):
        row.add_fault("whole_nodes", "0 or 1", whole)
    return {
        "nodes": tuple(cells.get("allowed_nodes", "").split()),
        "features": features,
        "per_node": row.maybe_whole("per_node", 1, MOST_CAPACITY) if cells.get("per_node") else None,
        "whole_nodes": whole == "1",
        "licences": _licences_of(row, cells.get("licences", "")),
    }


def _licences_of(row: TableRow, text: str) -> dict[str, int]:
    held = {}
    for part in text.split():
        name, _, amount = part.rpartition(":")
        number = whole_of(amount, most=MOST_CAPACITY)
        if not name or number is None or number < 0 or name in held:
            row.add_fault("licences", "licences such as matlab:2 ansys:1 (name:number)", text)
            return {}
        held[name] = number
    return held


def _further_chunks(row: TableRow, resources: Sequence[str]) -> list[tuple[int, dict[str, int]]]:
    text = row.cells.get("further_chunks", "")
    further_chunks = []
    for part in text.split("+") if text else ():
        units, *amounts = part.strip().split(":")
        request = dict.fromkeys(resources, 0)
        given = {name: whole_of(amount, most=MOST_CAPACITY) for name, _, amount in (a.rpartition("=") for a in amounts)}
        named = {name: amount for name, amount in given.items() if name and amount is not None}
        count = whole_of(units, most=10**13)
        if count is None or len(named) < len(amounts):
            row.add_fault("further_chunks", CHUNKS, text)
        elif not 1 <= count <= MOST_CAPACITY:
            row.add_fault("further_chunks", f"{CHUNKS}, with at least 1 unit in each chunk", text)
        elif not set(named) <= set(resources):
            row.add_fault("further_chunks", f"{CHUNKS}, with the resources {', '.join(resources)}", text)
        else:
            further_chunks.append((count, {**request, **named}))
    return further_chunks


def csv_rows(jobs: Sequence[Job], resources: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and the rows of ``jobs.csv``; equal jobs of a whole array share a row."""
    listed = [(job, _cells(job, count)) for job, count in _arrays(jobs)]
    extra = [c for c in OPTIONAL if any(cells[c] not in (None, "") for _, cells in listed)]
    extra = [*columns_with_values(cells for _, cells in listed), *extra]
    rows = [
        [
            *(cells["id"], j.queue, j.submit, j.units, *(j.request.get(r, 0) for r in resources)),
            *(j.walltime, j.runtime),
            *(cells.get(column) for column in extra),
        ]
        for j, cells in listed
    ]
    return [*BEFORE, *resources, *AFTER, *extra], rows


def _cells(job: Job, count: int) -> dict[str, Any]:
    """Return the id, and the cells of the columns that not every file has; ``count``: equal jobs of an array."""
    further = "+".join(
        ":".join([str(part.units), *(f"{r}={n}" for r, n in part.request.items() if n)]) for part in job.parts[1:]
    )
    cells = {c: job_cell(job, c) for c in OPTIONAL} | {"id": job.id, "further_chunks": further, "count": None}
    cells |= cells_of(job.asked, job.recorded)
    if count > 1:
        return cells | {"id": job.array, "count": count, "array": ""}
    return cells


def _arrays(jobs: Sequence[Job]) -> Iterator[tuple[Job, int]]:
    """Yield (job, 1), or (first job, number of jobs) for a whole array of equal jobs in order."""
    last: dict[str, int] = {}
    for k, job in enumerate(jobs):
        if job.array:
            last[job.array] = k
    k = 0
    while k < len(jobs):
        job = jobs[k]
        n = 1
        if job.array:
            n = last[job.array] - k + 1
        whole = n > 1 and job.id == f"{job.array}[0]" and all(
            replace(other, id=job.id) == job and other.id == f"{job.array}[{i}]"
            for i, other in enumerate(jobs[k : k + n])
        )  # fmt: skip
        if not whole:
            n = 1
        yield job, n
        k += n


# --- Instances of kind "dispatch": platform and queues in ``instance.toml``, one row per job in ``jobs.csv``.

JOBS = "jobs.csv"
DESIRED = "desired.csv"
HEADING = """\
An instance of schedlab. Times are in seconds, 0 is midnight of the first day; memory is in MB.
The jobs are in jobs.csv: a column per resource holds what one unit requests; all units of a job start together."""


def read(folder: Folder, drop_impossible: bool = False) -> Instance:
    """Read an instance folder. A job can start from its submit time on. Raises InstanceError with all faults."""
    s = folder.settings
    s.only(
        "kind",
        "description",
        "source",
        "objective",
        "limits",
        "over_cost",
        "begin_s",
        "platform",
        "queues",
        "generator",
        "repairs",
        "reservations",
    )
    objective = s.text("objective", "weighted-wait")
    if objective not in objective_names():
        s.add_fault("objective", f"one of {', '.join(objective_names())}", objective)
    limits = _limits(s.table("limits"))
    description = s.text("description", "")
    source = s.text("source", "")
    repairs = s.wholes("repairs", needed=False)
    generator = s.table("generator").values
    begin = s.whole("begin_s", 0, 0, LATEST)
    batch = read_batch(folder, drop_impossible)
    running = read_running_jobs(folder, batch, begin)
    problem = Dispatch(
        batch.platform,
        batch.jobs,
        batch.queues,
        objective,
        begin,
        running,
        limits=limits,
        **_desired(folder, batch.platform),
    )
    reservations = read_reservations(s, batch.platform, batch.queues, batch.jobs)
    name = folder.path.resolve().name
    return Instance(
        name, "dispatch", problem, folder.path, description, source, generator, repairs, dropped=tuple(batch.dropped),
        events=_events(folder, batch, reservations), reservations=reservations,
    )  # fmt: skip


def _limits(table: Table) -> dict[str, float]:
    """Return the limits on objectives, {name: greatest value}."""
    limits = {}
    for name, value in table.values.items():
        if name not in objective_names():
            table.add_fault(name, f"a limit on one of {', '.join(objective_names())}", name)
        elif not is_number(value):
            table.add_fault(name, "a finite number", value)
        else:
            limits[name] = value
    return limits


def _desired(folder: Folder, platform: Platform) -> dict[str, Any]:
    """Return the desired use in ``desired.csv``, which a folder need not have, and its cost ``over_cost``."""
    cost = folder.settings.values.get("over_cost")
    path = folder.path / DESIRED
    if cost is not None and not (is_number(cost) and cost >= 0):
        folder.settings.add_fault("over_cost", "the cost of an amount-hour above desired.csv, at least 0", cost)
    elif cost is not None and not path.exists():
        folder.settings.add_fault("over_cost", f"a file {DESIRED} with the desired use beside it", cost)
    folder.raise_faults()
    if path.exists():
        return {"desired": read_profile(path, platform), "over_cost": cost}
    return {}


def read_running_jobs(folder: Folder, batch: Batch, begin: int) -> list[Running]:
    """Return the jobs of ``running.csv``, which a folder need not have; raise InstanceError with all faults."""
    resources = batch.platform.resources
    rows = dict[str, TableRow]()

    def job_of(row: TableRow) -> Job:
        job = job_of_row(row, resources)
        if job.id in batch.rows or job.id in rows:
            row.add_fault("id", "a unique id", job.id)
        rows.setdefault(job.id, row)
        return job

    if not (folder.path / RUNNING).exists():
        return []
    running = read_running(folder, batch.platform, (*BEFORE, *resources, *AFTER), OPTIONAL_OF_ONE, job_of)
    for r in running:
        if r.start > begin:
            rows[r.job.id].add_fault("start", f"at most the begin, begin_s = {begin}", r.start)
    folder.raise_faults()
    return running


def _events(folder: Folder, batch: Batch, reservations: Sequence[Reservation]) -> tuple[Event, ...]:
    """Return the events of ``events.csv``, which a folder need not have."""
    reserved = None if folder.faults else [r.name for r in reservations]  # faulty reservations are not in the list
    known = Known([q.name for q in batch.queues], batch.rows.keys(), reserved)
    read = events_of(folder, EVENTS, batch.platform, known) if (folder.path / EVENTS).exists() else ()
    events = tuple(read)
    folder.raise_faults()
    return events


@hashable
@dataclass(frozen=True)
class Batch:
    """Platform, queues and jobs of a folder; ``rows``: id -> row; ``dropped``: (job that never fits, reason)."""

    platform: Platform
    queues: Sequence[Queue]
    jobs: Sequence[Job]
    rows: Mapping[str, TableRow]
    dropped: Sequence[tuple[Job, str]]


def read_batch(folder: Folder, drop_impossible: bool = False) -> Batch:
    """Read platform, queues and jobs of a folder. Raises InstanceError with all faults recorded so far."""
    queues = _queues(folder.settings)
    platform = _platform(folder.settings.table("platform"))
    if platform is None:
        folder.raise_faults()
        raise AssertionError("unreachable: a fault was recorded")
    jobs = _jobs(folder, platform, [q.name for q in queues])
    _check_places(folder, platform, queues, jobs)
    folder.raise_faults()
    dropped = impossible_jobs(platform, queues, [j for j, _ in jobs])
    rows = {j.id: row for j, row in jobs}
    if not drop_impossible:
        for job, why in _first_of_each_row(dropped, rows):
            rows[job.id].add_fault("units", "a job that the empty platform can hold", f"job {job.id} {why}")
        folder.raise_faults()
    gone = {job.id for job, _ in dropped}
    return Batch(platform, queues, [j for j, _ in jobs if j.id not in gone], rows, dropped)


def _check_places(
    folder: Folder, platform: Platform, queues: Sequence[Queue], jobs: Sequence[tuple[Job, TableRow]]
) -> None:
    """Record nodes, features and licences that the platform does not have."""
    names = set(platform.nodes)
    for k, queue in enumerate(queues):
        for node in queue.nodes:
            if node not in names:
                Table(folder, {}, ("queues", k)).add_fault("nodes", "names of nodes of the platform", node)
    features = {feature for g in platform.groups for feature in g.features}
    seen: set[int] = set()
    for job, row in jobs:
        if row.line in seen or not (job.nodes or job.features or job.licences):
            continue
        seen.add(row.line)  # the jobs of an array share a row
        if job.features:
            asked = read_features(job.features).features
        else:
            asked = ()
        for column, listed, known in (
            ("allowed_nodes", job.nodes, names),
            ("features", asked, features),
            ("licences", tuple(job.licences), set(platform.licences)),
        ):
            unknown = next((name for name in listed if name not in known), None)
            if unknown is not None:
                row.add_fault(
                    column,
                    f"{hint(unknown, sorted(known)[:1000], 'one of', 'nothing: the platform has none')}",
                    unknown,
                )


def _first_of_each_row(dropped: Iterable[tuple[Job, str]], rows: Mapping[str, TableRow]) -> Iterator[tuple[Job, str]]:
    """Yield the first job of each row, with its reason: the jobs of an array share a row."""
    seen: set[int] = set()
    for job, why in dropped:
        if rows[job.id].line not in seen:
            seen.add(rows[job.id].line)
            yield job, why


def _platform(table: Table) -> Platform | None:
    groups: list[NodeGroup] = []
    table.only("groups", "licences")
    for g in table.tables("groups"):
        g.only("name", "count", "capacity", "features", "nodes")
        capacity = g.wholes("capacity", most=MOST_CAPACITY)
        count = g.whole("count", 1, most=MOST_NODES)
        features = _texts(g, "features")
        names = _texts(g, "nodes")
        if names and (len(names) != count or len(set(names)) != count):
            g.add_fault("nodes", f"{count} different names of nodes, as many as count", list(names))
            names = ()
        if names:
            groups.append(NamedNodes(g.text("name"), count, capacity, names, features=features))
        else:
            groups.append(NodeGroup(g.text("name"), count, capacity, features=features))
    licences = table.wholes("licences", needed=False, most=MOST_CAPACITY)
    if not groups:
        return None
    try:
        return Platform(groups, licences)
    except ProblemError as e:
        table.add_fault("groups", "groups of nodes with distinct names", str(e))
        return None


def _queues(settings: Table) -> list[Queue]:
    queues: dict[str, Queue] = {}
    for table in settings.tables("queues"):
        table.only("name", "ewt_s", "start_between", "whole_run", "nodes")
        queue = _queue(table)
        if queue.name in queues:
            table.add_fault("name", "each queue once", queue.name)
        queues[queue.name] = queue
    return list(queues.values())


def _queue(table: Table) -> Queue:
    daily = _daily(table)
    whole_run = table.values.get("whole_run", False)
    if not isinstance(whole_run, bool) or (whole_run and "start_between" not in table.values):
        table.add_fault("whole_run", "true or false; true needs start_between", whole_run)
    ewt = table.whole("ewt_s", 1, most=LATEST)
    return Queue(table.text("name"), ewt, daily, whole_run is True and bool(daily), _texts(table, "nodes"))


def _daily(table: Table) -> tuple[Window, ...]:
    """Return the daily windows of ``start_between``, which is a pair of times or a list of pairs."""
    given = table.values.get("start_between", [])
    if isinstance(given, list) and given and not isinstance(given[0], list):
        pairs = [given]
    else:
        pairs = given
    if isinstance(pairs, list):
        windows = [_window(pair) for pair in pairs]
    else:
        windows = [None]
    if None in windows:
        table.add_fault("start_between", 'two times of the day as ["18:00", "08:00"], or a list of such pairs', given)
    return tuple(w for w in windows if w is not None)


def _window(pair: object) -> Window | None:
    """Convert two times of the day to seconds; the window ends on the next day if the second time is not later."""
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    lo, hi = (_seconds(t) for t in pair)
    if lo is None or hi is None or lo == hi or lo >= DAY:
        return None
    return lo, hi if hi > lo else hi + DAY


def _seconds(time: object) -> int | None:
    """Convert "HH:MM" or "HH:MM:SS", up to 24:00, to seconds since midnight; None for any other value."""
    parts = None
    if isinstance(time, str):
        parts = re.fullmatch(r"(\d\d?):([0-5]\d)(?::([0-5]\d))?", time, re.ASCII)
    if parts is None:
        return None
    seconds = int(seconds_of(None, *parts.groups()))
    if seconds <= DAY:
        return seconds
    return None


def _jobs(folder: Folder, platform: Platform, queues: Sequence[str]) -> list[tuple[Job, TableRow]]:
    read: list[tuple[Job, TableRow]] = []
    seen: dict[str, int] = {}
    for row in folder.rows(JOBS, (*BEFORE, *platform.resources, *AFTER), OPTIONAL, SITE_COLUMNS):
        jobs = jobs_of(row, platform.resources)
        if jobs[0].queue and jobs[0].queue not in queues:
            row.add_fault("queue", f"one of the queues {', '.join(queues)}", jobs[0].queue)
        taken = next(
            (name for j in jobs for part in range(len(j.parts)) if (name := part_name(j.id, part)) in seen), None
        )
        if taken is not None:
            row.add_fault("id", f"a unique id (line {seen[taken]} has it too)", taken)
        for job in jobs:
            seen.update(
                (part_name(job.id, k), row.line) for k in range(len(job.parts)) if part_name(job.id, k) not in seen
            )
        read.extend((job, row) for job in jobs)
    if not read and not folder.faults:
        folder.add_fault(JOBS, None, "rows", "at least one job", None)
    return read


def write(instance: Instance, folder: str | Path) -> None:
    """Write a dispatching instance as a folder; the same instance gives the same bytes.

    Parameters
    ----------
    instance
        The instance.
    folder
        The folder to write to; created if it does not exist.

    Raises
    ------
    ValueError
        The instance has start windows of single jobs, or running jobs without nodes, which the files cannot represent.
    """
    problem = instance.dispatch
    files = {**job_files(instance.name, problem), SETTINGS: to_toml(_settings(instance), HEADING)}
    if problem.desired is not None:
        files[DESIRED] = profile_csv(wishes_of(problem.desired))
    if instance.events:
        files[EVENTS] = events_csv(instance.events)
    write_files(Path(folder), files, lambda path: read(Folder(path)))


def job_files(name: str, problem: Dispatch) -> dict[str, str]:
    """Return the texts of ``jobs.csv`` and, if jobs run at the begin, of ``running.csv``, by name.

    Raises ValueError for start windows of single jobs, and for running jobs without nodes.
    """
    resources = problem.platform.resources
    running = problem.running
    if any(j.windows for j in problem.jobs):
        raise WrongValue(f"instance {name!r} has start windows of single jobs, which instance files cannot represent")
    if not all(r.nodes for r in running):
        raise WrongValue(f"instance {name!r} has running jobs without nodes; expected nodes for each of them")
    files = {JOBS: to_csv(*csv_rows(problem.jobs, resources))}
    if running:
        extra = [c for c in OPTIONAL_OF_ONE if any(job_cell(r.job, c) not in (None, "") for r in running)]
        files[RUNNING] = running_csv(running, resources, BEFORE, AFTER, extra)
    return files


def _settings(instance: Instance) -> dict[str, Any]:
    problem = instance.dispatch
    head = {
        "kind": "dispatch",
        "description": instance.description,
        "source": instance.source,
        "objective": problem.objective,
        "begin_s": problem.now,
    }
    cost = {}
    if problem.over_cost is not None:
        cost = {"over_cost": problem.over_cost}
    limits = {}
    if problem.limits:
        limits = {"limits": dict(problem.limits)}
    tables = machine_tables(problem) | reservation_tables(instance.reservations) | origin_tables(instance)
    return {k: v for k, v in head.items() if v} | cost | limits | tables


def machine_tables(problem: Dispatch) -> dict[str, Any]:
    """Return platform and queues as tables of ``instance.toml``."""
    licences = {}
    if problem.platform.licences:
        licences = {"licences": dict(problem.platform.licences)}
    platform = {"groups": [_group_table(g) for g in problem.platform.groups]} | licences
    return {"platform": platform, "queues": [_queue_table(q) for q in problem.queues]}


def _group_table(group: NodeGroup) -> dict[str, Any]:
    features = {}
    if group.features:
        features = {"features": list(group.features)}
    usual = NodeGroup(group.name, group.count, group.capacity).nodes
    names = {}
    if group.nodes != usual:
        names = {"nodes": list(group.nodes)}
    return {"name": group.name, "count": group.count, "capacity": dict(group.capacity)} | features | names


def origin_tables(instance: Instance) -> dict[str, Any]:
    """Return generator and repairs of an instance as tables of ``instance.toml``."""
    tables = {"generator": dict(instance.generator), "repairs": dict(instance.repairs)}
    return {name: table for name, table in tables.items() if table}


def _queue_table(queue: Queue) -> dict[str, Any]:
    pairs = [[_time(lo), _time(hi)] for lo, hi in queue.daily]
    between: dict[str, Any] = {}
    if pairs:
        if len(pairs) == 1:
            between["start_between"] = pairs[0]
        else:
            between["start_between"] = pairs
    whole_run = {}
    if queue.whole_run:
        whole_run = {"whole_run": True}
    nodes = {}
    if queue.nodes:
        nodes = {"nodes": list(queue.nodes)}
    return {"name": queue.name, "ewt_s": queue.ewt, **between, **whole_run, **nodes}


def _time(seconds: int) -> str:
    hours, rest = divmod(seconds if seconds <= DAY else seconds - DAY, 3600)
    return f"{hours:02d}:{rest // 60:02d}" + (f":{rest % 60:02d}" if rest % 60 else "")
