"""The jobs of private queues: they run inside of the reservations of their queues [Bridi2018, 4.4].

In each started reservation, its jobs start in order of arrival, each as soon as it fits (a job that does not fit is
passed over) and can end by its walltime before the end of the reservation. Nodes are chosen by best fit among those of
the reservation that take starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....heuristics.kernels.events.state import STARTED
from ....heuristics.kernels.profile import Ints
from ....models.node_states.timeline import Change
from ..states.attempts import Attempt
from .agenda import PRIVATE_END
from .bookings import Bookings
from .inside import Inside, Places
from .pools import Pools
from .record import PrivateRun

if TYPE_CHECKING:
    from .changes import ProductionChanges


@dataclass(frozen=True)
class Run:
    """A job that runs inside of booking ``k``."""

    k: int
    start: int
    places: Places


class PrivateJobs:
    """The jobs inside of the reservations of one replay; ``running``: row of a job -> its run."""

    def __init__(self, changes: ProductionChanges, bookings: Bookings, pools: Pools) -> None:
        self._changes, self._bookings, self._pools = changes, bookings, pools
        self.plan, self.state = changes.plan, changes.state
        self.running: dict[int, Run] = {}
        self._inside: dict[int, Inside] = {}

    def start(self) -> None:
        """Start the jobs that can start now."""
        for k, booking in enumerate(self._bookings.listed) if self._pools.private else ():
            if booking.outcome == "started":
                queue = booking.reservation.queue
                waiting = [j for j in self._pools.private if self._pools.queue_of(j) == queue]
                for j in () if queue in self._pools.stopped else waiting:
                    if self._eligible(k, j):
                        self._try(k, j)

    def _eligible(self, k: int, j: int) -> bool:
        """Return whether job j may run in booking k, and ends before it ends."""
        booking, w = self._bookings.listed[k], self.plan.workload
        users = booking.reservation.users
        in_time = self._pools.now + self._bookings.limit(j) <= booking.end
        return in_time and (not users or w.users[int(w.user[j])] in users)

    def _chunks(self, j: int) -> list[tuple[int, Ints]]:
        """Return units and request of each chunk of job j."""
        trace = self.plan.trace
        rows = range(int(trace.first_further[j]), int(trace.first_further[j + 1]))
        return [(int(trace.units[j]), trace.request[j])] + [
            (int(trace.further_units[row]), trace.further_request[row]) for row in rows
        ]

    def _try(self, k: int, j: int) -> None:
        """Start job j in booking k if it fits."""
        if k not in self._inside:
            self._inside[k] = Inside.of(self._bookings.listed[k], self.plan.platform)
        places = self._inside[k].take(self._chunks(j), self._changes.blocked)
        if places is None:
            return
        state, now, first = self.state, self._pools.now, int(self.plan.trace.first[j])
        slots = slice(first, first + places.nodes.size)
        state.place[slots], state.share[slots] = places.nodes, places.units
        state.pieces[j], state.start[j] = places.nodes.size, now
        state.clock[STARTED] += 1
        self.running[j] = Run(k, now, places)
        del self._pools.private[j]
        self._changes.log.private.append(PrivateRun(j, now, k))
        self.end_later(j)

    def end_later(self, j: int) -> None:
        """Let running job j end by its runtime."""
        run = self.running[j]
        end = run.start + int(self.plan.trace.runtime[j])
        self._changes.agenda.add(end, PRIVATE_END, lambda: self._end(j, run, end))

    def _end(self, j: int, run: Run, end: int | None = None) -> None:
        """Give back what job j uses; nothing if this run has ended already, or ends at another time."""
        if self.running.get(j) is not run or end not in (None, run.start + int(self.plan.trace.runtime[j])):
            return
        del self.running[j]
        self._inside[run.k].give_back(run.places)

    def end_for_good(self, j: int, why: str) -> None:
        """End a running job before its work is done; it does not come back."""
        run = self.running[j]
        self._end(j, run)
        self.plan.trace.runtime[j] = self._pools.now - run.start
        self.plan.log.dropped[j] = why

    def end_all(self, k: int, why: str) -> None:
        """End all jobs inside of booking k for good."""
        for j in [j for j, run in self.running.items() if run.k == k]:
            self.end_for_good(j, why)

    def fail(self, change: Change) -> None:
        """End the jobs on nodes that run no jobs any more; they come back as the replay's requeue says."""
        names = self.plan.platform.nodes
        for j, run in list(self.running.items()):
            stopped = [n for n in run.places.nodes.tolist() if not change.runs[n]]
            if not stopped:
                continue
            why, ran = f"{change.names[stopped[0]]}: {names[stopped[0]]}", change.time - run.start
            kept = self._changes.kept(j, ran)
            if kept is None:
                self.end_for_good(j, why)
                continue
            nodes, *further = run.places.by_name(names, len(self._chunks(j)))
            number = self.plan.log.counts[j] + 1
            attempt = Attempt(
                self.plan.workload.ids[j], number, run.start, change.time, nodes, why, kept, tuple(further)
            )
            self._end(j, run)
            self._changes.end_attempt(j, attempt)
            self._pools.private[j] = None
            self._pools.private = dict.fromkeys(sorted(self._pools.private, key=self._arrival))

    def _arrival(self, j: int) -> tuple[int, int]:
        return int(self.plan.trace.release[j]), j

    def leave_without_reservation(self) -> None:
        """Let the waiting jobs of private queues leave that have no further reservation."""
        pending = {b.reservation.queue for b in self._bookings.listed if b.pending}
        for j in list(self._pools.private):
            queue = self._pools.queue_of(j)
            if queue not in pending:
                self._pools.remove(j)
                self._changes.log.leave(j, self._pools.now, f"its queue {queue!r} has no reservation any more")
