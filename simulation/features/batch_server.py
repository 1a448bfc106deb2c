"""The batch server of a replay: reservations with private queues, stopped queues, changed, moved and deleted jobs [Bridi2018, 4]."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...heuristics.kernels.events.state import TraceArrays
from ...instances.workload import Workload
from ...models import NodeEvent, Platform
from ...models.production import Reservation, ServerEvent
from ...models.production.contradictions import Known, of_events, of_reservations
from ..agenda import Rank
from ..records import ProductionRecord
from .feature import Feature, Replay
from .private_jobs import PrivateJobs
from .queues import Hours, Queues, with_calendars
from .reservations import Bookings, ProductionLog, may_use
from .server_events import ServerEvents

NOT_ELIGIBLE = "of users who may not use the reservation of the queue, left out"
Event = NodeEvent | ServerEvent


def split_events(events: Iterable[Event]) -> tuple[list[NodeEvent], list[ServerEvent]]:
    """Return the events of nodes and those of the batch server, each in their order."""
    listed = list(events)
    wrong = [e for e in listed if not isinstance(e, NodeEvent | ServerEvent)]
    if wrong:
        raise WrongValue(f"events contains {wrong[0]!r:.100}; expected NodeEvent and ServerEvent")
    return [e for e in listed if isinstance(e, NodeEvent)], [e for e in listed if isinstance(e, ServerEvent)]


class BatchServer(Feature):
    """The reservations and server events of a replay.

    Jobs of private queues run inside the reservations of their queues; those of stopped queues wait. The dispatcher sees
    neither.

    Parameters
    ----------
    reservations : sequence of Reservation
        With their times of request (``submitted``).
    events : sequence of ServerEvent
        By time, without ``reserve``.
    takes_chunks : bool
        Whether the dispatcher takes heterogeneous jobs, so that they may be moved into its queues.
    """

    watches = True
    follows_nodes = True

    def __init__(
        self, reservations: Sequence[Reservation], events: Sequence[ServerEvent], takes_chunks: bool = True
    ) -> None:
        self.reservations, self.events, self.takes_chunks = tuple(reservations), tuple(events), takes_chunks
        self.log = ProductionLog(self.reservations, self.events)
        self.calendars: Mapping[Hours, int] = {}

    @property
    def private(self) -> set[str]:
        """The names of the private queues."""
        return {r.queue for r in self.reservations}

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with walltimes and queues that the replay may change, without those of users who are not eligible.

        Raises
        ------
        WrongValue
            If a job of a private queue has start windows of its own.
        """
        jobs = replace(workload, walltime=workload.walltime.copy(), queue=workload.queue.copy())
        private = [k for k, q in enumerate(jobs.queues) if q.name in self.private]
        windowed = next((k for k in jobs.windows if int(jobs.queue[k]) in private), None)
        if windowed is not None:
            raise WrongValue(
                f"job {jobs.ids[windowed]!r} of a private queue has start windows of its own; expected none"
            )
        running = {r.job.id for r in jobs.running}
        rows = [k for k in np.flatnonzero(np.isin(jobs.queue, private)).tolist() if jobs.ids[k] not in running]
        gone = [
            k for k in rows if not may_use(self.reservations, jobs.queues[jobs.queue[k]].name, jobs.users[jobs.user[k]])
        ]
        if not gone:
            return jobs
        kept = np.ones(len(jobs), np.bool_)
        kept[gone] = False
        why = [
            (jobs.ids[k], f"user {jobs.users[jobs.user[k]]!r} may not use queue {jobs.queues[jobs.queue[k]].name!r}")
            for k in gone
        ]
        return jobs.keep(kept, jobs.report.and_also({NOT_ELIGIBLE: len(gone)}, why))

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays with the calendars that the events may give to jobs."""
        trace, self.calendars = with_calendars(trace, workload, self.events)
        return trace

    def begin(self, engine: Replay) -> None:
        """Put the events and the requests of reservations on the agenda."""
        self._engine = engine
        self.queues = Queues(engine, self.private, self.calendars)
        self.bookings = Bookings(engine, self.log)
        self.private_jobs = PrivateJobs(engine, self.log, self.bookings, self.queues)
        effects = ServerEvents(engine, self.log, self.queues, self.bookings, self.private_jobs, self.takes_chunks)
        for event in self.events:
            engine.agenda.add(event.time, Rank.SERVER_EVENT, lambda e=event: effects.happen(e))  # type: ignore[misc]
        for k, booking in enumerate(self.bookings.listed):
            requested = booking.reservation.submitted
            engine.agenda.add(requested, Rank.RESERVATION_REQUEST, lambda k=k: self._examine(k))  # type: ignore[misc]

    def arrived(self, rows: Sequence[int]) -> None:
        """Take the jobs of stopped and private queues out of the queue that the dispatcher sees."""
        self.queues.sort_in(rows)

    def before_decision(self) -> None:
        """Start the jobs of private queues that can start."""
        self.private_jobs.leave_without_reservation()
        self.private_jobs.start()

    def nodes_changed(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """Let jobs inside reservations fail whose nodes stop."""
        if not runs.all():
            self.private_jobs.fail(names, runs)

    def _examine(self, k: int) -> None:
        booking = self.bookings.listed[k]
        if booking.outcome == "requested" and self.bookings.examine(k):
            agenda = self._engine.agenda
            agenda.add(booking.start, Rank.RESERVATION_START, lambda: self._start(k))
            agenda.add(booking.end, Rank.RESERVATION_END, lambda: self.private_jobs.end_booking(k, "over"))
            self._engine.timeline.freed_early()
        self.private_jobs.leave_without_reservation()

    def _start(self, k: int) -> None:
        if self.bookings.listed[k].outcome == "accepted":
            for j, why in self.bookings.begin(k):
                self._engine.end_for_good(j, why)

    def finish(self) -> None:
        """Put the jobs of stopped queues back into the queue at the end of the replay, with the reason."""
        self.queues.finish()

    def result(self, now: int) -> Mapping[str, ProductionRecord | Any]:
        """Return the record."""
        return {"production": self.log.record(self._engine.ledger.left, self._engine.ledger.left_at)}


def batch_server(
    events: Sequence[ServerEvent],
    reservations: Iterable[Reservation],
    jobs: Workload,
    platform: Platform,
    own: bool,
    takes_chunks: bool = True,
    others: Collection[str] = (),
) -> BatchServer | None:
    """Return the batch server of a replay; None if it has nothing to do. Raises WrongValue for contradictions.

    ``own``: the events are those of the instance, of which the workload may have a part of the jobs only. ``others``: ids
    of further jobs of the replay.
    """
    listed = tuple(reservations)
    if not events and not listed:
        return None
    wrong = [r for r in listed if not isinstance(r, Reservation)]
    if wrong:
        raise WrongValue(f"reservations contains {wrong[0]!r:.100}; expected Reservation")
    faults = [
        f"reservation {listed[f.row].name!r}: {f.field}: expected {f.expected}, found {f.found!r}"
        for f in of_reservations(listed, platform, jobs.queues, set(() if own else jobs.users))
    ]
    gone = [name for name, _ in jobs.report.dropped]
    running = [r.job.id for r in jobs.running]
    names = None if own else {*jobs.ids, *gone, *running, *others}
    known = Known([q.name for q in jobs.queues], names, [r.name for r in listed])
    faults += [
        f"event {events[f.row].kind} at {events[f.row].time}: {f.field}: expected {f.expected}, found {f.found!r}"
        for f in of_events(events, known)
    ]
    requests = {e.subject: e.time for e in events if e.kind == "reserve"}
    faults += [
        f"event reserve at {requests[r.name]}: time: expected a time up to the start of reservation {r.name!r}, {r.start}"
        for r in listed
        if requests.get(r.name, r.start) > r.start
    ]
    if faults:
        raise WrongValue("\n".join(faults[:10]) + (f"\n... and {len(faults) - 10} more" if len(faults) > 10 else ""))
    submitted = tuple(replace(r, submitted=requests.get(r.name, r.submitted)) for r in listed)
    left = tuple(sorted((e for e in events if e.kind != "reserve"), key=lambda e: e.time))
    return BatchServer(submitted, left, takes_chunks)
