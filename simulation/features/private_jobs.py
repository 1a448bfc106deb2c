"""The jobs of private queues: they run inside of the reservations of their queues [Bridi2018, 4.4].

In each started reservation, its jobs start in order of arrival, each as soon as it fits (a job that does not fit is
passed over) and can end by its walltime before the end of the reservation. Nodes are chosen by best fit among those of
the reservation that take starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.state import STARTED
from ...heuristics.kernels.profile import Ints
from ..agenda import Rank
from ..records import PrivateRun
from .feature import Replay
from .inside import Inside, Places
from .queues import Queues
from .reservations import Bookings, ProductionLog


@dataclass(frozen=True)
class Run:
    """A job that runs inside of booking ``k``."""

    k: int
    start: int
    places: Places


class PrivateJobs:
    """The jobs inside of the reservations of one replay; ``running``: row of a job -> its run."""

    def __init__(self, engine: Replay, log: ProductionLog, bookings: Bookings, queues: Queues) -> None:
        self._engine, self._log, self._bookings, self._queues = engine, log, bookings, queues
        self.running: dict[int, Run] = {}
        self._inside: dict[int, Inside] = {}

    def start(self) -> None:
        """Start the jobs that can start now."""
        queues = self._queues
        for k, booking in enumerate(self._bookings.listed) if queues.private else ():
            if booking.outcome == "started":
                queue = booking.reservation.queue
                waiting = [j for j in queues.private if queues.queue_of(j) == queue]
                for j in () if queue in queues.stopped else waiting:
                    if self._eligible(k, j):
                        self._try(k, j)

    def _eligible(self, k: int, j: int) -> bool:
        """Return whether job j may run in booking k, and ends before it ends."""
        booking, w = self._bookings.listed[k], self._engine.workload
        users = booking.reservation.users
        in_time = self._engine.now + self._engine.ledger.limit(j) <= booking.end
        return in_time and (not users or w.users[int(w.user[j])] in users)

    def _chunks(self, j: int) -> list[tuple[int, Ints]]:
        """Return units and request of each chunk of job j."""
        trace, resources = self._engine.trace, len(self._engine.platform.resources)
        chunks = self._engine.workload.chunks.get(j, ())
        first = int(trace.first_further[j])
        further = [(c.units, trace.further_request[first + k]) for k, c in enumerate(chunks[1:])]
        return [(units, request[:resources]) for units, request in ((int(trace.units[j]), trace.request[j]), *further)]

    def _try(self, k: int, j: int) -> None:
        """Start job j in booking k if it fits."""
        engine = self._engine
        if k not in self._inside:
            self._inside[k] = Inside.of(self._bookings.listed[k], engine.platform)
        places = self._inside[k].take(self._chunks(j), ~engine.timeline.open)
        if places is None:
            return
        state, now, first = engine.state, engine.now, int(engine.trace.first[j])
        slots = slice(first, first + places.nodes.size)
        state.place[slots], state.share[slots] = places.nodes, places.units
        state.pieces[j], state.start[j] = places.nodes.size, now
        state.clock[STARTED] += 1
        self.running[j] = Run(k, now, places)
        del self._queues.private[j]
        self._log.private.append(PrivateRun(j, now, k))
        self.end_later(j)

    def end_later(self, j: int) -> None:
        """Let running job j end by its runtime."""
        run = self.running[j]
        end = run.start + int(self._engine.trace.runtime[j])
        self._engine.agenda.add(end, Rank.PRIVATE_END, lambda: self._end(j, run, end))

    def _end(self, j: int, run: Run, end: int | None = None) -> None:
        """Give back what job j uses; nothing if this run has ended already, or ends at another time."""
        if self.running.get(j) is not run or end not in (None, run.start + int(self._engine.trace.runtime[j])):
            return
        del self.running[j]
        self._inside[run.k].give_back(run.places)
        if end is not None:
            self._engine.release_followers(j)

    def end_for_good(self, j: int, why: str) -> None:
        """End a running job before its work is done; it does not come back."""
        run = self.running[j]
        self._end(j, run)
        self._engine.trace.runtime[j] = self._engine.now - run.start
        self._engine.ledger.log.dropped[j] = why
        self._engine.release_followers(j)

    def end_booking(self, k: int, outcome: str, why: str = "") -> None:
        """End booking k now, with all jobs inside of it, or give it up before its start."""
        booking = self._bookings.listed[k]
        if not booking.pending:
            return
        for j in [j for j, run in self.running.items() if run.k == k]:
            self.end_for_good(j, f"reservation {booking.label!r} is {outcome}")
        self._bookings.end(k, outcome, why)
        self._engine.timeline.freed_early()
        self.leave_without_reservation()

    def fail(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """End the jobs on nodes that run no jobs any more; they come back as the replay's requeue says."""
        engine = self._engine
        for j, run in list(self.running.items()):
            stopped = [n for n in run.places.nodes.tolist() if not runs[n]]
            if not stopped:
                continue
            why = f"{names[stopped[0]]}: {engine.platform.nodes[stopped[0]]}"
            kept = engine.kept_work(j, engine.now - run.start)
            if kept is None:
                self.end_for_good(j, why)
                continue
            self._end(j, run)
            engine.ledger.end_attempt(j, why, kept, run.places.by_name(engine.platform.nodes, len(self._chunks(j))))
            self._queues.private[j] = None
            self._queues.private = dict.fromkeys(sorted(self._queues.private, key=self._arrival))

    def _arrival(self, j: int) -> tuple[int, int]:
        return int(self._engine.trace.release[j]), j

    def leave_without_reservation(self) -> None:
        """Let the waiting jobs of private queues leave that have no further reservation."""
        pending = {b.reservation.queue for b in self._bookings.listed if b.pending}
        for j in list(self._queues.private):
            queue = self._queues.queue_of(j)
            if queue not in pending:
                self._queues.remove(j)
                self._engine.leave(j, f"its queue {queue!r} has no reservation any more")
