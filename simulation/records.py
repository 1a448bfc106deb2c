"""What features did in a replay: parts of a ``Simulation``, read and written without the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models import Eviction, EvictionPlan, Platform
from ..models.comparing import hashable
from ..models.excerpt import with_short_repr
from ..models.production import Reservation, ServerEvent
from .energy.power import NodeStates
from .node_policies import ON, STATE_NAMES, Switching
from .preemption.settings import Preemption

Ints = NDArray[np.int64]

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


def bookings_of(reservations: Iterable[Reservation]) -> list[Booking]:
    """Return the repetitions of reservations, none of them examined."""
    return [Booking(o.label, r, o.start, o.end) for r in reservations for o in r.occurrences()]


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

    def renumbered(self, new: Ints) -> ProductionRecord:
        """Return the record with other rows of the jobs; ``new``: of each row, shape (jobs,)."""
        return replace(
            self,
            left={int(new[row]): why for row, why in self.left.items()},
            moves=tuple(c._replace(row=int(new[c.row])) for c in self.moves),
            walltimes=tuple(c._replace(row=int(new[c.row])) for c in self.walltimes),
            private=tuple(p._replace(row=int(new[p.row])) for p in self.private),
            left_at={int(new[row]): time for row, time in self.left_at.items()},
        )


@with_short_repr
@dataclass(frozen=True)
class EvictionDecision:
    """One decision of an evictor.

    Parameters
    ----------
    job : str
        The id of the on-demand job.
    time : int
        The time in seconds.
    busy : int
        Seconds for which the file system still writes earlier checkpoints; the times and the deadline of the problem
        count from then on, its losses from ``time``.
    problem : Eviction or None
        The eviction problem of the moment. None: the running batch jobs have too few nodes.
    plan : EvictionPlan or None
        What the evictor decided. None: no job leaves.
    seconds : float
        Wall time of the decision.
    """

    job: str
    time: int
    busy: int
    problem: Eviction | None
    plan: EvictionPlan | None
    seconds: float = 0.0


class Departure(NamedTuple):
    """A batch job that left its nodes for an on-demand job.

    Attributes
    ----------
    row : int
        The row of the job in the workload.
    attempt : int
        The number of the attempt that ended.
    cause : str
        The id of the on-demand job.
    strategy : str
        ``"kill"``, ``"app"`` or ``"sys"``.
    decided : int
        The time of the decision in seconds.
    stop : int
        The time in seconds from which on it makes no progress.
    write : int
        The time in seconds at which it begins to write its checkpoint; that of the end if it was killed.
    end : int
        The time in seconds at which it left.
    """

    row: int
    attempt: int
    cause: str
    strategy: str
    decided: int
    stop: int
    write: int
    end: int


@with_short_repr
@hashable
@dataclass(frozen=True)
class PreemptionRecord:
    """The decisions and departures of a replay.

    Parameters
    ----------
    settings : Preemption
        The settings of the replay.
    rows : tuple of int
        The rows of the on-demand jobs in the workload, in the order of ``settings.jobs``.
    decisions : tuple of EvictionDecision
        The decisions, by time.
    departures : tuple of Departure
        The jobs that left, in the order of their ends. Checkpoints that were planned, but not begun when the on-demand
        job had its nodes, are not among them.
    first_start : mapping of int to int
        Row of an on-demand job -> its first start in seconds.
    """

    settings: Preemption
    rows: tuple[int, ...] = ()
    decisions: tuple[EvictionDecision, ...] = ()
    departures: tuple[Departure, ...] = ()
    first_start: Mapping[int, int] = field(default_factory=dict)

    def renumbered(self, new: Ints) -> PreemptionRecord:
        """Return the record with other rows of the jobs; ``new``: of each row, shape (jobs,)."""
        return replace(
            self,
            rows=tuple(int(new[row]) for row in self.rows),
            departures=tuple(d._replace(row=int(new[d.row])) for d in self.departures),
            first_start={int(new[row]): start for row, start in self.first_start.items()},
        )


@with_short_repr
@dataclass(frozen=True, eq=False)
class PowerRecord:
    """The states of the nodes during a replay; all nodes are on before their first change.

    Parameters
    ----------
    policy : str
        The name of the node policy.
    switching : Switching
        The times of boot, shut-down, and the least time off.
    node : ndarray of int64, shape (changes,)
        The index of the node in ``platform.nodes``.
    time : ndarray of int64, shape (changes,)
        The time in seconds, ascending.
    state : ndarray of int64, shape (changes,)
        The state from then on: ``OFF``, ``BOOTING``, ``SHUTTING_DOWN`` or ``ON``.
    """

    policy: str
    switching: Switching
    node: Ints
    time: Ints
    state: Ints

    def named(self, platform: Platform) -> list[tuple[str, int, str]]:
        """Return the changes as (node, time, state), by time."""
        rows = zip(self.node.tolist(), self.time.tolist(), self.state.tolist(), strict=True)
        return [(platform.nodes[n], t, STATE_NAMES[s]) for n, t, s in rows]

    def intervals(self, end: int) -> NodeStates:
        """Return the intervals in which nodes are not on, cut at ``end`` in seconds: what the energy accounts take."""
        order = np.lexsort((np.arange(self.time.size), self.node))
        node, begin, state = self.node[order], self.time[order], self.state[order]
        until = np.append(begin[1:], end)
        last = np.append(node[1:] != node[:-1], True)[: node.size]
        until = np.minimum(np.where(last, end, until[: node.size]), end)
        kept = (state != ON) & (begin < until)
        return NodeStates(node[kept], state[kept], begin[kept], until[kept])
