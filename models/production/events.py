"""Events of the batch server: stopped queues, changed, moved and deleted jobs, requested and cancelled reservations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...errors import WrongValue
from ..excerpt import excerpt, with_short_repr
from ..whole_numbers import is_whole


class ServerEventKind(NamedTuple):
    """A kind of event.

    Parameters
    ----------
    name : str
        The name, as in the column ``kind`` of ``events.csv``.
    subject : {"queue", "job", "reservation"}
        What the event names.
    value : {"seconds", "queue", ""}
        What its value is; empty: it has none.
    """

    name: str
    subject: str
    value: str = ""


_KINDS = {
    kind.name: kind
    for kind in (
        ServerEventKind("stop-queue", "queue"),
        ServerEventKind("start-queue", "queue"),
        ServerEventKind("walltime", "job", "seconds"),
        ServerEventKind("move", "job", "queue"),
        ServerEventKind("delete", "job"),
        ServerEventKind("reserve", "reservation"),
        ServerEventKind("cancel-reservation", "reservation"),
    )
}


def server_event_kinds() -> dict[str, ServerEventKind]:
    """Return all kinds of server events by name.

    Returns
    -------
    dict of str to ServerEventKind
        In the order in which they were registered, ours first.

    Examples
    --------
    >>> list(server_event_kinds())
    ['stop-queue', 'start-queue', 'walltime', 'move', 'delete', 'reserve', 'cancel-reservation']
    """
    return dict(_KINDS)


@with_short_repr
@dataclass(frozen=True)
class ServerEvent:
    """An event of the batch server.

    Parameters
    ----------
    time : int
        Seconds, on the clock of the workload.
    kind : str
        ``"stop-queue"`` (no job of the queue starts), ``"start-queue"``, ``"walltime"`` (a new walltime, qalter),
        ``"move"`` (to another queue, qmove), ``"delete"`` (qdel), ``"reserve"`` (the reservation is requested now, not
        at its ``submitted``), ``"cancel-reservation"`` (with all its repetitions).
    subject : str
        The name of the queue or reservation, or the id of the job.
    value : int or str, optional
        The new walltime in seconds, at least 1, or the name of the new queue.

    Raises
    ------
    WrongValue
        If there is no such kind, or the value is not as the kind needs it.

    Examples
    --------
    >>> ServerEvent(3600, "walltime", "job-7", 7200)
    ServerEvent(time=3600, kind='walltime', subject='job-7', value=7200)
    """

    time: int
    kind: str
    subject: str
    value: int | str | None = None

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise WrongValue(f"there is no event kind {self.kind!r}; expected one of {', '.join(_KINDS)}")
        if not is_whole(self.time):
            raise WrongValue(f"event {self.kind}: the time is {excerpt(self.time)}; expected whole seconds")
        fault = value_fault(_KINDS[self.kind], self.value)
        if fault:
            raise WrongValue(f"event {self.kind} at {self.time}: expected {fault}, found {excerpt(self.value)}")


def value_fault(kind: ServerEventKind, value: object) -> str:
    """Return what is expected of the value of an event, if it is not so; else an empty text."""
    if kind.value == "seconds" and not (is_whole(value) and value >= 1):
        return "a walltime in whole seconds, at least 1"
    if kind.value == "queue" and not (isinstance(value, str) and value):
        return "the name of a queue"
    return "" if kind.value or value is None else "no value"
