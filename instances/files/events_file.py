"""``events.csv``: events of the machine over time, such as ``node-down``; reading and writing.

The columns are ``time`` (seconds on the clock of the workload), ``kind`` (see ``schedlab.models.node_states``) and
``nodes``: names of nodes or of groups, separated by spaces, or ``*`` for all nodes. Other columns are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ...models.node_states.events import EventKind, NodeEvent, event_kinds
from ...models.node_states.timeline import members
from ...models.platform import LATEST, Platform
from .atomic import write_whole
from .faults import InstanceError
from .folder import Folder, Table, TableRow
from .writing import to_csv

EVENTS = "events.csv"
COLUMNS = ("time", "kind", "nodes")


def read_events(path: str | Path, platform: Platform | None = None) -> list[NodeEvent]:
    """Read the events of a file.

    Parameters
    ----------
    path : str or Path
        A CSV file with the columns time, kind, nodes.
    platform : Platform, optional
        The machine, to check the names of the nodes.

    Returns
    -------
    list of NodeEvent
        The events, in the order of the file.

    Raises
    ------
    InstanceError
        If the file has faults; the message lists them with their lines.
    """
    path = Path(path)
    real = path.resolve()
    folder = _Alone(real.parent)
    found = list(events_of(folder, real.name, platform))
    if folder.faults:
        raise InstanceError(path, folder.faults)
    return found


class _Alone(Folder):
    """A folder without settings, to read one file of it."""

    def __post_init__(self) -> None:
        self.settings = Table(self, {}, ())


def events_of(folder: Folder, name: str, platform: Platform | None) -> Iterator[NodeEvent]:
    """Yield the events of a file of a folder; faults are recorded in the folder."""
    known = event_kinds()
    names = None if platform is None else members(platform)
    for row in folder.rows(name, COLUMNS):
        event = _event(row, known)
        if event is None:
            continue
        unknown = [] if names is None else [node for node in event.nodes if node not in names]
        if unknown and platform is not None:
            groups = ", ".join(g.name for g in platform.groups)
            nodes = f"{platform.nodes[0]} ... {platform.nodes[-1]}"
            row.add_fault("nodes", f"nodes ({nodes}) or groups ({groups}) of the platform", unknown[0])
        yield event


def _event(row: TableRow, known: dict[str, EventKind]) -> NodeEvent | None:
    before = len(row.folder.faults)
    time, kind, nodes = row.whole("time", -LATEST, LATEST), row.text("kind"), row.text("nodes").split()
    if kind and kind not in known:
        row.add_fault("kind", f"one of {', '.join(known)}", kind)
    return NodeEvent(time, kind, nodes) if len(row.folder.faults) == before else None


def events_csv(events: Iterable[NodeEvent]) -> str:
    """Return events as the text of an ``events.csv``.

    Examples
    --------
    >>> print(events_csv([NodeEvent(60, "node-down", ["n-1", "n-2"])]), end="")
    time,kind,nodes
    60,node-down,n-1 n-2
    """
    return to_csv(COLUMNS, [(event.time, event.kind, " ".join(event.nodes)) for event in events])


def write_events(events: Iterable[NodeEvent], path: str | Path) -> None:
    """Write events as an ``events.csv``; the file is complete or not written.

    Parameters
    ----------
    events : iterable of NodeEvent
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
