"""Events of the batch server: stopped queues, changed, moved, deleted and requeued jobs, requested and cancelled reservations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ..errors import WrongValue
from .arguments import is_whole
from .dispatch.jobs import Job, Queue, impossible
from .platform import Platform
from .reservations import Reservation
from .words import excerpt, with_short_repr


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
        ServerEventKind("requeue", "job"),
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
    ['stop-queue', 'start-queue', 'walltime', 'move', 'delete', 'requeue', 'reserve', 'cancel-reservation']
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
        ``"move"`` (to another queue, qmove), ``"delete"`` (qdel, scancel), ``"requeue"`` (the running job waits again, qrerun,
        scontrol requeue), ``"reserve"`` (the reservation is requested now, not at its ``submitted``),
        ``"cancel-reservation"`` (with all its repetitions).
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
    if kind.value or value is None:
        return ""
    return "no value"


# --- What is wrong with reservations and server events beside a platform, queues and jobs.


class Contradiction(NamedTuple):
    """A field that contradicts the rest of the data.

    Parameters
    ----------
    row : int
        The index of the reservation or event.
    field : str
        The name of the field.
    expected : str
        A description of valid values.
    found : object
        The value.
    """

    row: int
    field: str
    expected: str
    found: object


def of_reservations(
    reservations: Sequence[Reservation], platform: Platform, queues: Sequence[Queue], users: Collection[str]
) -> Iterator[Contradiction]:
    """Yield what is wrong with reservations.

    Names are unique; each fits the empty platform; its queue exists and has no daily windows; its users are ``users``,
    the users of the jobs (not checked if there are none); reservations of one queue do not overlap.
    """
    first: dict[str, int] = {}
    by_name = {q.name: q for q in queues}
    for k, r in enumerate(reservations):
        if first.setdefault(r.name, k) != k:
            yield Contradiction(k, "name", "a unique name", r.name)
        if r.queue not in by_name:
            yield Contradiction(k, "queue", f"one of the queues {', '.join(by_name)}", r.queue)
        elif by_name[r.queue].daily:
            yield Contradiction(k, "queue", "a queue without daily windows (start_between)", r.queue)
        foreign = [name for name in r.request if name not in platform.resources]
        if foreign:
            yield Contradiction(k, "request", f"resources of the platform: {', '.join(platform.resources)}", foreign[0])
        for _, why in () if foreign else impossible(platform, [Job(r.name, 0, 1, r.units, r.request, r.queue)]):
            yield Contradiction(k, "units", "units that the empty platform can hold", f"a reservation that {why}")
        for user in r.users if users else ():
            if user not in users:
                yield Contradiction(k, "users", "users of the jobs", user)
    yield from _overlaps(reservations)


def _overlaps(reservations: Sequence[Reservation]) -> Iterator[Contradiction]:
    """Yield the reservations that overlap an earlier one of the same queue."""
    index = {id(r): k for k, r in enumerate(reservations)}
    for queue in dict.fromkeys(r.queue for r in reservations):
        mine = [o for r in reservations if r.queue == queue for o in r.occurrences()]
        reported = set[int]()
        for a, b in pairwise(sorted(mine, key=lambda o: o.start)):
            k = index[id(b.reservation)]
            if b.start < a.end and k not in reported:
                reported.add(k)
                expected = f"a start from {a.end} on, the end of {a.label}, which has queue {queue!r} too"
                yield Contradiction(k, "start", expected, f"{b.label}, which starts at {b.start}")


class Known(NamedTuple):
    """The names that server events may use; None: not known."""

    queues: Collection[str] | None = None
    jobs: Collection[str] | None = None
    reservations: Collection[str] | None = None

    def of(self, what: str) -> Collection[str] | None:
        """Return the names of a kind of subjects: "queue", "job" or "reservation"."""
        return {"queue": self.queues, "job": self.jobs, "reservation": self.reservations}[what]


LISTED = 8  # names in a description


def of_events(events: Sequence[ServerEvent], known: Known) -> Iterator[Contradiction]:
    """Yield the events whose subject or new queue is unknown, and second requests of a reservation."""
    kinds = server_event_kinds()
    requested = set[str]()
    for k, event in enumerate(events):
        kind = kinds[event.kind]
        for where, what, name in (("subject", kind.subject, event.subject), ("value", kind.value, event.value)):
            names = None
            if what in ("queue", "job", "reservation"):
                names = known.of(what)
            if names is not None and name not in names:
                listed = ", ".join(list(names)[:LISTED]) + (", ..." if len(names) > LISTED else "")
                yield Contradiction(k, where, f"a {what} ({listed or 'there is none'})", name)
        if event.kind == "reserve":
            if event.subject in requested:
                yield Contradiction(k, "subject", "one event reserve for each reservation", event.subject)
            requested.add(event.subject)
