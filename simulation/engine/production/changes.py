"""The changes of a replay with production features: node states, server events and reservations, in order of time.

At one time jobs end first, then jobs arrive, then states of nodes change, then jobs inside of reservations end,
reservations end, server events happen, reservations are examined (in order of their requests), reservations start, and
jobs start inside of them. Then the dispatcher decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.events.entries import release_later
from ....heuristics.kernels.events.state import NOW, State
from ....heuristics.kernels.profile import Ints
from ....models.node_states.timeline import Change
from ..states.node_changes import NodeChanges
from .agenda import REQUEST, RESERVATION_END, RESERVATION_START, SERVER_EVENT, Agenda
from .bookings import Bookings, Use
from .plan import ProductionPlan
from .pools import Pools
from .private_jobs import PrivateJobs
from .server_events import ServerEvents

if TYPE_CHECKING:
    from ....models.production.reserved import Reserved
    from ...policies.beside_reservations import Holds
    from ..live_jobs import LiveJobs
    from ..progress import ReplayPlan


class ProductionChanges(NodeChanges):
    """The changes of one replay; see ``NodeChanges`` and the module docstring.

    ``attach`` must be called before the first step. ``bookings``: the reservations. ``fixed``: expected durations change
    with walltimes only. ``killing``: jobs end at their walltimes.
    """

    def __init__(self, plan: ReplayPlan, production: ProductionPlan, state: State) -> None:
        self.agenda, self.production, self.log = Agenda(), production, production.log
        self.fixed, self.killing = True, False
        super().__init__(plan, state)
        self.quiet = False

    def attach(self, jobs: LiveJobs, fixed: bool) -> None:
        """Connect the changes with the waiting and running jobs of the replay."""
        production, agenda = self.production, self.agenda
        self.fixed, self.killing = fixed, self.plan.killing
        self.pools = Pools(self.plan, self.state, jobs, production)
        self.bookings = Bookings(self.plan, self.state, jobs, production)
        self.private_jobs = PrivateJobs(self, self.bookings, self.pools)
        self._events = ServerEvents(self, self.bookings, self.pools, self.private_jobs)
        for k, event in enumerate(production.events):
            agenda.add(event.time, SERVER_EVENT, lambda k=k: self._events.happen(production.events[k]))  # type: ignore[misc]
        for k, booking in enumerate(self.bookings.listed):
            agenda.add(booking.reservation.submitted, REQUEST, lambda k=k: self._examine(k))  # type: ignore[misc]
        self._stop()

    def next_action(self) -> int:
        """Return the time of the next action of reservations and server events; NEVER if there is none."""
        return self.agenda.next_time()

    def settle(self, arrived: Sequence[int]) -> list[int]:
        """Do what is due after the arrivals of this time; return the jobs that come back into the queue."""
        self.pools.sort_in(arrived)
        self.agenda.run(int(self.state.clock[NOW]))
        self.private_jobs.leave_without_reservation()
        self.private_jobs.start()
        self._stop()
        return self.pools.take_back()

    def _apply(self, change: Change) -> None:
        super()._apply(change)
        if not change.runs.all():
            self.private_jobs.fail(change)

    def _examine(self, k: int) -> None:
        booking = self.bookings.listed[k]
        if booking.outcome == "requested" and self.bookings.examine(k, self.bookable(), self.kept_free()):
            self.agenda.add(booking.start, RESERVATION_START, lambda: self._begin(k))
            self.agenda.add(booking.end, RESERVATION_END, lambda: self.end_booking(k, "over"))
            self.release_early()
        self.private_jobs.leave_without_reservation()

    def bookable(self) -> NDArray[np.bool_]:
        """Return the nodes that reservations may have, shape (nodes,)."""
        return ~self.blocked

    def kept_free(self) -> Iterable[Use]:
        """Return what is kept free for others than reservations."""
        return ()

    def unchangeable(self, j: int) -> str:
        """Return why no server event may change job j now; an empty text if it may."""
        return ""

    def _begin(self, k: int) -> None:
        if self.bookings.listed[k].outcome == "accepted":
            for j, why in self.bookings.begin(k):
                self.end_early(j, why)

    def end_early(self, j: int, why: str) -> None:
        """End a running job of the machine for good."""
        self.end_for_good(j, why)
        if self.plan.trace.follower.size:
            release_later(self.plan.trace, self.state, j)
        self.bookings.jobs.end(j)

    def end_booking(self, k: int, outcome: str, why: str = "") -> None:
        """End a reservation now, or give it up before its start."""
        booking = self.bookings.listed[k]
        if not booking.pending:
            return
        self.private_jobs.end_all(k, f"reservation {booking.label!r} is {outcome}")
        self.bookings.end(k, outcome, why)
        self.release_early()
        self.private_jobs.leave_without_reservation()

    def free(self) -> Ints:
        """Return the free amounts for jobs outside of reservations, shape (nodes, resources)."""
        held = self.bookings.held_now() if self.bookings.holding else 0
        found: Ints = np.maximum(self.state.free - held, 0)
        return found

    def conflict(self, j: int, nodes: Sequence[Mapping[str, int]]) -> str:
        """Return into which reservation a job would run if it started now; an empty text if into none."""
        return self.bookings.conflict(j, nodes)

    def reserved(self) -> tuple[Reserved, ...]:
        """Return the accepted reservations, for dispatchers."""
        return self.bookings.shown()

    def changed(self) -> tuple[str, ...]:
        """Return the ids of the waiting jobs that have changed since the last call."""
        return self._events.take_changed()

    def holds(self) -> Holds | None:
        """Return the accepted reservations for the compiled policies; None in a replay without reservations."""
        return self.bookings.holds() if self.bookings.listed else None

    def finish(self) -> None:
        """Put the jobs of stopped queues back into the queue at the end of the replay, with the reason."""
        self.pools.finish()
