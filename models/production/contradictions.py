"""What is wrong with reservations and server events beside a platform, queues and jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..dispatch.jobs import Job, Queue
from ..dispatch.problem import impossible
from ..platform import Platform
from .events import ServerEvent, server_event_kinds
from .reservations import Reservation


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
    kinds, requested = server_event_kinds(), set[str]()
    for k, event in enumerate(events):
        kind = kinds[event.kind]
        for where, what, name in (("subject", kind.subject, event.subject), ("value", kind.value, event.value)):
            names = known.of(what) if what in ("queue", "job", "reservation") else None
            if names is not None and name not in names:
                listed = ", ".join(list(names)[:LISTED]) + (", ..." if len(names) > LISTED else "")
                yield Contradiction(k, where, f"a {what} ({listed or 'there is none'})", name)
        if event.kind == "reserve":
            if event.subject in requested:
                yield Contradiction(k, "subject", "one event reserve for each reservation", event.subject)
            requested.add(event.subject)
