"""Reservations: amounts of nodes from a fixed start on, for the jobs of a private queue [Bridi2018, 4.1 and 4.4]; whether they fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .arguments import is_whole, text_of
from .array_types import Bools, Ints
from .comparing import hashable
from .dispatch.jobs import DAY, Job, lack
from .platform import LATEST, NodeGroup, Platform, ProblemError
from .words import excerpt, how_many, with_short_repr

# --- Reservations: amounts of nodes from a fixed start on, for the jobs of a private queue [Bridi2018, 4.1 and 4.4].

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
        if self.every == "week" and self.days:
            period = DAY
        else:
            period = PERIODS[self.every]
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
        if repeated:
            return f"{self.reservation.name}#{self.number}"
        return self.reservation.name


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


# --- A reservation of the machine with its nodes, as dispatchers see it.


class Reserved(NamedTuple):
    """A reservation of the machine that was accepted: jobs must not run into it by their walltimes.

    Parameters
    ----------
    name : str
        Its name, with the number of the repetition if it is repeated.
    queue : str
        Its private queue, whose jobs run inside of it and are not started by dispatchers. Empty: none.
    start, end : int
        Seconds.
    nodes : mapping of str to int
        Node name -> reserved units.
    request : mapping of str to int
        The reserved amount of each resource per unit.
    """

    name: str
    queue: str
    start: int
    end: int
    nodes: Mapping[str, int]
    request: Mapping[str, int]


# --- Feasibility checks of reservations and jobs, and of the use of the machine [Bridi2018, 4.5 and 4.6].
#
# As printed, model 4.5 of the source exchanges waiting and running jobs, and in model 4.6 the interval of the job may be
# absent, which is always feasible. Here running jobs are fixed until their walltimes, waiting jobs are absent, and the
# tested reservation or job must be present. The units of a reservation are equal and its times are fixed, so that counting
# the units that fit on each node decides feasibility exactly.


class Usage(NamedTuple):
    """What is in use on nodes over time; one entry for each use of a node.

    Parameters
    ----------
    node : ndarray of int64, shape (entries,)
        Index of the node.
    start, end : ndarray of int64, shape (entries,)
        Seconds; the end is the first second after the use.
    amounts : ndarray of int64, shape (entries, resources)
        The amounts, in the order of the resources of the platform.
    """

    node: Ints
    start: Ints
    end: Ints
    amounts: Ints

    @classmethod
    def of(cls, platform: Platform, uses: Iterable[tuple[Mapping[str, int], Mapping[str, int], int, int]]) -> Usage:
        """Return the usage of (units on each node, request per unit, start, end)."""
        number = {name: n for n, name in enumerate(platform.nodes)}
        rows = [
            (number[name], start, end, *(units * request.get(r, 0) for r in platform.resources))
            for nodes, request, start, end in uses
            for name, units in nodes.items()
        ]
        table = np.array(rows, np.int64).reshape(len(rows), 3 + len(platform.resources))
        return cls(table[:, 0], table[:, 1], table[:, 2], table[:, 3:])

    def at(self, time: int, nodes: int) -> Ints:
        """Return the amounts in use at a time, shape (nodes, resources)."""
        used = np.zeros((nodes, self.amounts.shape[1]), np.int64)
        here = (self.start <= time) & (time < self.end)
        np.add.at(used, self.node[here], self.amounts[here])
        return used

    def times(self, start: int, end: int) -> list[int]:
        """Return the times in [start, end) at which the use may grow, and the start itself."""
        return sorted({start, *self.start[(self.start > start) & (self.start < end)].tolist()})


@with_short_repr
@dataclass(frozen=True)
class Refusal:
    """Why a reservation or a job is refused.

    Parameters
    ----------
    subject : str
        The reservation or the job.
    resource : str
        The resource that lacks most.
    time : int
        The time in seconds at which it lacks.
    units : int
        The number of units that are needed.
    fit : int
        The number of units for which there is enough.
    amount : int
        The amount of the resource that each unit needs.
    together : bool
        Whether each resource alone would be enough, but not on the same nodes for the whole time.
    """

    subject: str
    resource: str
    time: int
    units: int
    fit: int
    amount: int
    together: bool = False

    def __str__(self) -> str:
        lack = self.amount * (self.units - self.fit)
        where = "on the nodes"
        if self.together:
            where = "on nodes that have all requested resources for the whole time"
        return (
            f"{self.subject} is refused: at {self.time} {lack} {self.resource} lack; {self.fit} of "
            f"{how_many(self.units, 'unit')} {'fits' if self.units == 1 else 'fit'} {where} ({self.amount} {self.resource} each)"
        )


def place(
    platform: Platform, usage: Usage, asked: Occurrence, allowed: Bools | None = None
) -> dict[str, int] | Refusal:
    """Return the units of a reservation on each node, chosen by best fit, or why it is refused.

    Parameters
    ----------
    platform : Platform
        The machine.
    usage : Usage
        Running jobs until their walltimes, and accepted reservations.
    asked : Occurrence
        The reservation.
    allowed : ndarray of bool, shape (nodes,), optional
        The nodes that may be used. Default: all.

    Returns
    -------
    dict of str to int, or Refusal
        Node name -> number of units. Best fit: first the nodes with the least sum over resources of free / capacity,
        where free is the least free amount during the reservation; ties by the order of the platform.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> from schedlab.models.reservations import Reservation
    >>> platform = Platform([NodeGroup("n", 2, {"cores": 4})])
    >>> busy = Usage.of(platform, [({"n-1": 1}, {"cores": 2}, 0, 50)])
    >>> def ask(units, start):
    ...     return place(platform, busy, Reservation("r", "q", start, 10, units, {"cores": 2}).occurrences()[0])
    >>> ask(2, 45), ask(2, 50)
    ({'n-1': 1, 'n-2': 1}, {'n-1': 2})
    >>> print(ask(4, 45))
    reservation 'r' is refused: at 45 2 cores lack; 3 of 4 units fit on the nodes (2 cores each)
    """
    nodes = len(platform.nodes)
    units = asked.reservation.units
    capacity = np.array(list(platform.capacity.values()), np.int64)
    request = np.array([asked.reservation.request.get(r, 0) for r in platform.resources], np.int64)
    used = {time: usage.at(time, nodes) for time in usage.times(asked.start, asked.end)}
    free = capacity - np.max(list(used.values()), axis=0)
    if allowed is not None:
        free = np.where(allowed[:, None], free, 0)
    fits = _fits(free, request)
    if fits.sum() >= units:
        return _best_fit(platform, free, capacity, fits, units)
    if allowed is None:
        barred = np.ones(nodes, np.bool_)
    else:
        barred = allowed
    at = {time: np.where(barred[:, None], capacity - amounts, 0) for time, amounts in used.items()}
    return _refusal(platform, f"reservation {asked.label!r}", at, request, units, int(fits.sum()))


def _fits(free: Ints, request: Ints) -> Ints:
    """Return the number of units that each node can hold."""
    needed = request > 0
    units_by_node: Ints = (np.maximum(free[:, needed], 0) // request[needed]).min(axis=1)
    return units_by_node


def _best_fit(platform: Platform, free: Ints, capacity: Ints, fits: Ints, units: int) -> dict[str, int]:
    score = np.divide(free, capacity, out=np.zeros(free.shape), where=capacity > 0).sum(axis=1)
    units_on: dict[str, int] = {}
    for n in np.argsort(score, kind="stable").tolist():
        take = min(units, int(fits[n]))
        if take:
            units_on[platform.nodes[n]] = take
            units -= take
    return units_on


def _refusal(
    platform: Platform, subject: str, free: Mapping[int, Ints], request: Ints, units: int, together: int
) -> Refusal:
    """Return the resource and the first time at which the fewest units fit by this resource alone."""
    alone = {
        (time, r): int((np.maximum(amounts[:, r], 0) // request[r]).sum())
        for time, amounts in free.items()
        for r in np.flatnonzero(request > 0).tolist()
    }
    time, r = min(alone, key=alone.__getitem__)
    fit, combined = alone[time, r], alone[time, r] >= units
    return Refusal(
        subject, platform.resources[r], time, units, together if combined else fit, int(request[r]), combined
    )


def job_refusal(platform: Platform, job: Job, allowed: Bools | None = None, time: int | None = None) -> Refusal | None:
    """Return why a job cannot run even alone on the machine; None if it can.

    Parameters
    ----------
    platform : Platform
        The machine.
    job : Job
        The job.
    allowed : ndarray of bool, shape (nodes,), optional
        The nodes that take starts now; a job that fits on all nodes, but not on these, is left out of a cycle. Default:
        all nodes, the check at submission.
    time : int, optional
        The time of the check in seconds. Default: the submit time.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> platform = Platform([NodeGroup("n", 2, {"cores": 4})])
    >>> job = Job("j", 0, 60, 2, {"cores": 3}, "q")
    >>> job_refusal(platform, job) is None
    True
    >>> print(job_refusal(platform, job, np.array([True, False]), 30))
    job 'j' is refused: at 30 3 cores lack; 1 of 2 units fit on the nodes (3 cores each)
    """
    capacity = np.array(list(platform.capacity.values()), np.int64)
    if allowed is None:
        free = capacity
    else:
        free = np.where(allowed[:, None], capacity, 0)
    if time is None:
        at = job.submit
    else:
        at = time
    for k, part in enumerate(job.parts):
        subject = f"job {job.id!r}" + (f", chunk {k}," if job.chunks else "")
        refusal = _part_refusal(platform, part, free, subject, at, allowed is None or bool(allowed.any()))
        if refusal is not None:
            return refusal
    if job.chunks:
        return _refusal_together(platform, job, free, at)
    return None


def _part_refusal(
    platform: Platform, part: Job, free: Ints, subject: str, time: int, somewhere: bool
) -> Refusal | None:
    """Return why one chunk of a job does not fit into free amounts; ``somewhere``: there is a node for it."""
    request = np.array([part.request.get(r, 0) for r in platform.resources], np.int64)
    foreign = next((r for r, amount in part.request.items() if amount > 0 and r not in platform.resources), None)
    if foreign is not None:
        return Refusal(subject, foreign, time, part.units, 0, part.request[foreign])
    if not request.any():
        if somewhere:
            return None
        return Refusal(subject, "nodes", time, part.units, 0, 1)
    fit = int(_fits(free, request).sum())
    if fit >= part.units:
        return None
    return _refusal(platform, subject, {time: free}, request, part.units, fit)


def _refusal_together(platform: Platform, job: Job, free: Ints, time: int) -> Refusal | None:
    """Return why the chunks of a job, of which each alone fits, do not fit together: the first chunk that best fit lacks."""
    chunks = [(p.units, tuple(p.request.get(r, 0) for r in platform.resources)) for p in job.parts]
    nodes = [
        NodeGroup(f"n{n}", 1, dict(zip(platform.resources, row, strict=True))) for n, row in enumerate(free.tolist())
    ]
    if lack(Platform(nodes), chunks) is None:
        return None
    left = free.copy()
    capacity = np.array(list(platform.capacity.values()), np.int64)
    for k, part in enumerate(job.parts):
        subject = f"job {job.id!r}, chunk {k} beside its other chunks,"
        request = np.array(chunks[k][1], np.int64)
        if not request.any():
            continue
        refusal = _part_refusal(platform, part, left, subject, time, True)
        if refusal is not None:
            return refusal
        for name, units in _best_fit(platform, left, capacity, _fits(left, request), part.units).items():
            left[platform.nodes.index(name)] -= units * request
    return None


class Overuse(NamedTuple):
    """A node with more in use than it has: the amounts of a resource in use and there, at a time in seconds."""

    node: str
    resource: str
    time: int
    used: int
    capacity: int


def overuse(platform: Platform, usage: Usage, start: int, end: int) -> Iterator[Overuse]:
    """Yield each node and resource with more in use than there is, at the first such time in [start, end).

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> platform = Platform([NodeGroup("n", 1, {"cores": 4})])
    >>> uses = [({"n-1": 1}, {"cores": 3}, 0, 50), ({"n-1": 1}, {"cores": 2}, 40, 60)]
    >>> list(overuse(platform, Usage.of(platform, uses), 0, 60))
    [Overuse(node='n-1', resource='cores', time=40, used=5, capacity=4)]
    """
    capacity = np.array(list(platform.capacity.values()), np.int64)
    seen = np.zeros(capacity.shape, np.bool_)
    for time in usage.times(start, end):
        used = usage.at(time, len(capacity))
        new = (used > capacity) & ~seen
        seen |= new
        for n, r in np.argwhere(new).tolist():
            yield Overuse(platform.nodes[n], platform.resources[r], time, int(used[n, r]), int(capacity[n, r]))
