"""Reservations: amounts of nodes from a fixed start on, for the jobs of a private queue [Bridi2018, 4.1 and 4.4]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..comparing import hashable
from ..dispatch.jobs import DAY
from ..excerpt import excerpt, with_short_repr
from ..platform import LATEST, ProblemError
from ..whole_numbers import is_whole, text_of

WEEK_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PERIODS = {"hour": 3600, "day": DAY, "week": 7 * DAY}
MOST_REPETITIONS = 10_000


@with_short_repr
@dataclass(frozen=True)
class Repeat:
    """The pattern of a standing reservation.

    Parameters
    ----------
    every : {"hour", "day", "week"}
        Time from one repetition to the next. With ``days``, ``"week"`` means at each of these days in each week.
    count : int
        Number of repetitions in all, the first one included, 1 to 10,000.
    days : tuple of str, optional
        Week days ("mon" to "sun") on which the reservation begins; others are skipped and do not count. Empty: all.
    second_0 : str
        The week day of second 0 of the clock.

    Raises
    ------
    ProblemError
        If a value is not valid.

    Examples
    --------
    >>> Repeat("day", count=5, days=("mon", "wed"))
    Repeat(every='day', count=5, days=('mon', 'wed'), second_0='mon')
    """

    every: str
    count: int
    days: tuple[str, ...] = ()
    second_0: str = "mon"

    def __post_init__(self) -> None:
        if self.every not in PERIODS:
            raise ProblemError(f"every: expected one of {', '.join(PERIODS)}, found {excerpt(self.every)}")
        if not is_whole(self.count) or not 1 <= self.count <= MOST_REPETITIONS:
            raise ProblemError(
                f"count: expected a whole number from 1 to {MOST_REPETITIONS:,}, found {excerpt(self.count)}"
            )
        for where, days in (("days", self.days), ("second_0", (self.second_0,))):
            for day in days:
                if day not in WEEK_DAYS:
                    raise ProblemError(f"{where}: expected week days of {', '.join(WEEK_DAYS)}, found {excerpt(day)}")

    def starts(self, first: int) -> Iterator[int]:
        """Yield the starts of all repetitions in seconds; ``first``: the time at which the pattern begins.

        Examples
        --------
        Mondays and Wednesdays at 10:00, if second 0 is a Monday; the pattern begins on a Tuesday:

        >>> [divmod(t, 86400) for t in Repeat("week", 3, ("mon", "wed")).starts(86400 + 36000)]
        [(2, 36000), (7, 36000), (9, 36000)]
        """
        period = DAY if self.every == "week" and self.days else PERIODS[self.every]
        shift = WEEK_DAYS.index(self.second_0)
        listed = {WEEK_DAYS.index(day) for day in self.days} or set(range(7))
        left, t = self.count, first
        while left:
            if (t // DAY + shift) % 7 in listed:
                left -= 1
                yield t
            t += period


class Occurrence(NamedTuple):
    """One repetition of a reservation; a reservation without a pattern has one.

    Parameters
    ----------
    reservation : Reservation
        The reservation.
    number : int
        1 for the first repetition.
    start, end : int
        Seconds; the end is the first second after it.
    """

    reservation: Reservation
    number: int
    start: int
    end: int

    @property
    def label(self) -> str:
        """The name of the reservation, with the number if it is repeated, such as ``"course#2"``."""
        repeated = self.reservation.repeat is not None
        return f"{self.reservation.name}#{self.number}" if repeated else self.reservation.name


@with_short_repr
@hashable
@dataclass(frozen=True)
class Reservation:
    """A request for amounts of nodes from a fixed start on, for the jobs of a private queue.

    Parameters
    ----------
    name : str
        The name, unique.
    queue : str
        The private queue: its jobs run inside of the reservation only. Several reservations may have the same queue if
        they do not overlap in time.
    start, duration : int
        Start and length in seconds, at least 1 s long.
    units : int
        Number of units, at least 1; each is on one node.
    request : mapping of str to int
        The reserved amount of each resource per unit; not all are 0.
    users : tuple of str, optional
        The users whose jobs may run in it. Empty: all users.
    submitted : int, optional
        Time in seconds at which it is requested, and accepted or refused; not after the start.
    repeat : Repeat, optional
        The pattern of a standing reservation. None: it takes place once.

    Raises
    ------
    ProblemError
        If a value is not valid; the message begins with the name and the field.

    Examples
    --------
    >>> course = Reservation("course", "course", start=36000, duration=7200, units=4, request={"cores": 16},
    ...                      users=("ada", "bob"), repeat=Repeat("day", count=2))
    >>> [(o.label, o.start, o.end) for o in course.occurrences()]
    [('course#1', 36000, 43200), ('course#2', 122400, 129600)]
    """

    name: str
    queue: str
    start: int
    duration: int
    units: int
    request: Mapping[str, int]
    users: tuple[str, ...] = ()
    submitted: int = 0
    repeat: Repeat | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("name", "queue"):
            object.__setattr__(self, name, self._text(name, getattr(self, name)))
        object.__setattr__(self, "users", tuple(self._text("users", user) for user in self.users))
        for name, least in (("start", -LATEST), ("submitted", -LATEST), ("duration", 1), ("units", 1)):
            value = getattr(self, name)
            if not is_whole(value) or not least <= value <= LATEST:
                self._fault(name, f"a whole number from {least} to {LATEST}", value)
        for resource, amount in self.request.items():
            if not is_whole(amount) or amount < 0:
                self._fault("request", f"a whole amount of {resource}, at least 0", amount)
        if not any(self.request.values()):
            self._fault("request", "an amount above 0 of at least one resource", dict(self.request))
        if self.submitted > self.start:
            self._fault("submitted", f"a time up to its start, {self.start}", self.submitted)
        last = self.start
        for begin in () if self.repeat is None else self.repeat.starts(self.start):
            if last < begin < last + self.duration:
                self._fault("duration", f"at most {begin - last} s, the time to its next repetition", self.duration)
            last = begin
        if last + self.duration > LATEST:
            self._fault("repeat", f"a last repetition that ends by {LATEST}", last + self.duration)

    def _text(self, where: str, name: object) -> str:
        text = text_of(name)
        if text is None:
            self._fault(where, "a text", name)
        return text or ""

    def _fault(self, where: str, expected: str, found: object) -> None:
        raise ProblemError(f"reservation {self.name!r}: {where}: expected {expected}, found {excerpt(found)}")

    def occurrences(self) -> tuple[Occurrence, ...]:
        """Return all repetitions, by time."""
        starts = (self.start,) if self.repeat is None else self.repeat.starts(self.start)
        return tuple(Occurrence(self, k, t, t + self.duration) for k, t in enumerate(starts, 1))
