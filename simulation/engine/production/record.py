"""What a replay did with reservations and server events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ....models.comparing import hashable
from ....models.excerpt import with_short_repr
from ....models.production import Reservation, ServerEvent

Outcome = Literal["requested", "accepted", "refused", "started", "over", "cancelled"]


@with_short_repr
@dataclass
class Booking:
    """One repetition of a reservation in a replay.

    Parameters
    ----------
    label : str
        The name, with the number of the repetition, such as ``"course#2"``.
    reservation : Reservation
        The reservation.
    start, end : int
        Seconds.
    outcome : str
        ``"requested"`` (not examined yet), ``"accepted"``, ``"refused"``, ``"started"``, ``"over"`` or ``"cancelled"``.
    nodes : mapping of str to int
        Node name -> reserved units; empty if it was not accepted.
    why : str
        Why it was refused or cancelled.
    accepted : int, optional
        The time at which it was accepted; None if it was not.
    ended : int, optional
        The time at which its nodes were given back; before ``end`` if it was cancelled.
    """

    label: str
    reservation: Reservation
    start: int
    end: int
    outcome: Outcome = "requested"
    nodes: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    accepted: int | None = None
    ended: int | None = None

    @property
    def pending(self) -> bool:
        """Whether jobs may still run in it, now or later."""
        return self.outcome in ("requested", "accepted", "started")

    @property
    def holds(self) -> bool:
        """Whether it holds amounts, now or later."""
        return self.outcome in ("accepted", "started")


class Change(NamedTuple):
    """A changed job: the time in seconds, the row of the job, and the value (walltime or queue) before and after."""

    time: int
    row: int
    before: int
    after: int


class RefusedEvent(NamedTuple):
    """A server event that was not possible, and why."""

    event: ServerEvent
    why: str


class PrivateRun(NamedTuple):
    """An attempt of a job inside a reservation: row of the job, start in seconds, index of the booking."""

    row: int
    start: int
    booking: int


@with_short_repr
@hashable
@dataclass(frozen=True)
class ProductionRecord:
    """The reservations, server events and their effects in a replay.

    Parameters
    ----------
    bookings : tuple of Booking
        The repetitions of all reservations.
    events : tuple of ServerEvent
        The server events, sorted by time.
    left : mapping of int to str
        Row of a job that left the queue without a start -> why.
    left_at : mapping of int to int
        Row of such a job -> the second in which it left; empty in records that do not tell it.
    refused : tuple of RefusedEvent
        The events that were not possible.
    moves, walltimes : tuple of Change
        The queues (indices into ``Workload.queues``) and walltimes that were changed. The workload of the result has the
        last ones.
    private : tuple of PrivateRun
        The attempts of jobs inside of reservations.
    """

    bookings: tuple[Booking, ...]
    events: tuple[ServerEvent, ...]
    left: Mapping[int, str]
    refused: tuple[RefusedEvent, ...]
    moves: tuple[Change, ...]
    walltimes: tuple[Change, ...]
    private: tuple[PrivateRun, ...]
    left_at: Mapping[int, int] = field(default_factory=dict)


class ProductionLog:
    """The record of a running replay."""

    def __init__(self, reservations: Iterable[Reservation], events: Sequence[ServerEvent]) -> None:
        self.bookings = [Booking(o.label, r, o.start, o.end) for r in reservations for o in r.occurrences()]
        self.events = tuple(events)
        self.left: dict[int, str] = {}
        self.left_at: dict[int, int] = {}
        self.refused: list[RefusedEvent] = []
        self.moves: list[Change] = []
        self.walltimes: list[Change] = []
        self.private: list[PrivateRun] = []

    def leave(self, row: int, time: int, why: str) -> None:
        """Note that a waiting job leaves at this second."""
        self.left[row] = why
        self.left_at[row] = time

    def record(self) -> ProductionRecord:
        """Return the record so far."""
        return ProductionRecord(
            tuple(self.bookings), self.events, dict(self.left), tuple(self.refused), tuple(self.moves),
            tuple(self.walltimes), tuple(self.private), dict(self.left_at),
        )  # fmt: skip
