"""``events.csv``: events of the machine and of the batch server over time; reading and writing.

The columns are ``time`` (seconds on the clock of the workload) and ``kind``. Events of nodes, such as ``node-down`` (see
``schedlab.models.node_states``), have ``nodes``: names of nodes or of groups, separated by spaces, or ``*`` for all
nodes. Events of the server, such as ``stop-queue`` (see ``schedlab.models.server_events``), have ``subject``, the
name of a queue or reservation or the id of a job, and some of them ``value``. Other columns are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.dispatch.jobs import Job, Running
from ...models.node_states import NodeEvent, event_kinds, members
from ...models.platform import LATEST, MOST_CAPACITY, Platform
from ...models.server_events import Known, ServerEvent, of_events, server_event_kinds, value_fault
from ...models.words import how_many
from ..site_columns import SITE_COLUMNS, cells_of, columns_with_values
from .folder import Folder, InstanceError, Table, TableRow
from .lines import whole_of
from .writing import to_csv, write_whole

EVENTS = "events.csv"
COLUMNS = ("time", "kind")
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
    for row in folder.rows(name, COLUMNS, (*OF_NODES, *OF_SERVER)):
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
        return NodeEvent(time, kind, names) if len(row.folder.faults) == before else None
    if kind in server:
        subject = _given(row, "subject")
        text = row.cells.get("value", "")
        seconds = whole_of(text) if server[kind].value == "seconds" else None
        value = (text or None) if seconds is None else seconds
        fault = value_fault(server[kind], value)
        if fault:
            row.add_fault("value", fault, text or None)
        _unused(row, kind, OF_NODES)
        return ServerEvent(time, kind, subject, value) if len(row.folder.faults) == before else None
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
    known: dict[str, Sequence[int]] = {} if platform is None else members(platform)
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
    return to_csv([*COLUMNS, *OF_NODES * nodes, *OF_SERVER * server], [_row(e, nodes, server) for e in events])


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
TIMES = ("start", "end", "nodes")


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
    for row in folder.rows(RUNNING, (*columns, *TIMES), optional, SITE_COLUMNS):
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
    return to_csv([*before, *resources, *after, *extra, *of_site, *TIMES], rows)
