"""``events.csv``: events of the machine and of the batch server over time; reading and writing.

The columns are ``time`` (seconds on the clock of the workload) and ``kind``. Events of nodes, such as ``node-down`` (see
``schedlab.models.node_states``), have ``nodes``: names of nodes or of groups, separated by spaces, or ``*`` for all
nodes. Events of the server, such as ``stop-queue`` (see ``schedlab.models.server_events``), have ``subject``, the
name of a queue or reservation or the id of a job, and some of them ``value``. Other columns are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...models.node_states import NodeEvent, event_kinds, members
from ...models.platform import LATEST, Platform
from ...models.server_events import Known, ServerEvent, of_events, server_event_kinds, value_fault
from .folder import Folder, InstanceError, Table, TableRow
from .lines import whole_of
from .writing import to_csv, write_whole

EVENTS = "events.csv"
COLUMNS = ("time", "kind")
OF_NODES, OF_SERVER = ("nodes",), ("subject", "value")
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
