"""The batch server of a replay: stopped queues, changed, moved and deleted jobs, reservations [Bridi2018, 4]."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...heuristics.kernels.events.entries import end_now
from ...heuristics.kernels.events.machine import start_on
from ...heuristics.kernels.events.state import NOW, STARTED, UNSTARTED, TraceArrays
from ...instances.workload import Workload
from ...models import NodeEvent, Platform, Running
from ...models.reservations import Reservation
from ...models.server_events import Known, ServerEvent, of_events, of_reservations
from ..agenda import Rank
from ..records import Change, ProductionRecord, RefusedEvent
from .feature import Feature, Replay
from .reservations import Bookings, Hours, PrivateJobs, ProductionLog, Queues, may_use, with_calendars

# --- The effects of server events: stopped queues, changed, moved and deleted jobs, cancelled reservations.


class ServerEvents:
    """The server events of one replay.

    A method for each kind returns why the event is not possible, or an empty text.

    Parameters
    ----------
    engine : Replay
        The replay.
    log : ProductionLog
        Takes the changes and the refused events.
    queues, bookings, private_jobs : Queues, Bookings, PrivateJobs
        What the events change.
    takes_chunks : bool
        Whether the dispatcher takes heterogeneous jobs, so that they may be moved into its queues.
    """

    def __init__(
        self,
        engine: Replay,
        log: ProductionLog,
        queues: Queues,
        bookings: Bookings,
        private_jobs: PrivateJobs,
        takes_chunks: bool,
    ) -> None:
        self._engine = engine
        self._log = log
        self._takes_chunks = takes_chunks
        self._queues = queues
        self._bookings = bookings
        self._private = private_jobs
        self._effects: dict[str, Callable[[ServerEvent], str]] = {
            "stop-queue": self._stop_queue,
            "start-queue": self._start_queue,
            "walltime": self._walltime,
            "move": self._move,
            "delete": self._delete,
            "cancel-reservation": self._cancel,
        }

    def happen(self, event: ServerEvent) -> None:
        """Let an event happen; one that is not possible is recorded."""
        why = self._effects[event.kind](event)
        if why:
            self._log.refused.append(RefusedEvent(event, why))

    def _stop_queue(self, event: ServerEvent) -> str:
        self._queues.stopped.setdefault(event.subject, self._engine.now)
        self._queues.place_again(self._queues.waiting_in(event.subject))
        return ""

    def _start_queue(self, event: ServerEvent) -> str:
        if self._queues.stopped.pop(event.subject, None) is None:
            return f"queue {event.subject!r} is not stopped"
        self._queues.place_again(self._queues.waiting_in(event.subject))
        return ""

    def _row(self, event: ServerEvent) -> tuple[int, str]:
        """Return the row of the job of an event, and why it cannot be changed any more."""
        engine = self._engine
        j = engine.ledger.row.get(event.subject)
        if j is None:
            return -1, f"job {event.subject!r} is not a job of the replay"
        if not (self._queues.is_waiting(j) or self._runs(j)):
            has_run = engine.state.start[j] != UNSTARTED or j in engine.ledger.left
            return j, f"job {event.subject!r} has {'ended' if has_run else 'not been submitted'}"
        return j, "" if event.kind == "delete" else engine.fixed_reason(j)

    def _runs(self, j: int) -> bool:
        return j in self._private.running or self._engine.ledger.runs(j)

    def _delete(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        if why:
            return why
        if j in self._private.running:
            self._private.end_for_good(j, "deleted")
        elif self._runs(j):
            self._engine.end_for_good(j, "deleted")
        elif any(before == j for before, _ in self._engine.workload.after.values()):
            return f"other jobs wait for the end of job {event.subject!r}, which has not started"
        else:
            self._queues.remove(j)
            self._engine.leave(j, "deleted")
        return ""

    def _move(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        w = self._engine.workload
        if why or self._runs(j):
            return why or f"job {event.subject!r} runs already"
        target = next(k for k, q in enumerate(w.queues) if q.name == event.value)
        user = w.users[int(w.user[j])]
        name = w.queues[target].name
        private = name in self._queues.private_queues
        if private and not may_use((b.reservation for b in self._bookings.listed), name, user):
            return f"user {user!r} may not use queue {name!r}"
        if j in w.chunks and not private and not self._takes_chunks:
            return f"job {event.subject!r} has several chunks, which dispatcher {self._engine.name} does not take"
        before = int(w.queue[j])
        w.queue[j] = target
        self._log.moves.append(Change(self._engine.now, j, before, target))
        self._queues.take_calendar(j)
        self._queues.place_again([j])
        self._private.leave_without_reservation()
        self._engine.note_change(j, queue=name)
        return ""

    def _walltime(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        if why:
            return why
        engine, ledger = self._engine, self._engine.ledger
        w = engine.workload
        new = int(event.value or 0)
        before = int(w.walltime[j])
        why = self._too_long(j, new) if self._runs(j) else ""
        if why:
            return why
        w.walltime[j] = new
        self._log.walltimes.append(Change(engine.now, j, before, new))
        if engine.options.kill:
            less = ledger.log.less(j)
            full = int(w.runtime[j])
            left = max(1, min(full, new) - less) if full > less else 0
            self._set_runtime(j, left)
            ledger.killed[j] = new < full
        if ledger.runs(j):
            self._run_on(j)
        elif j not in self._private.running:
            self._queues.take_calendar(j)
            engine.predict_again(j)
            engine.note_change(j, walltime=ledger.limit(j))
        return ""

    def _set_runtime(self, j: int, left: int) -> None:
        """Set the seconds that job j still runs in this attempt; a running job runs at least until now."""
        engine = self._engine
        ran = engine.now - engine.ledger.start_of(j) if self._runs(j) else 0
        engine.trace.runtime[j] = max(left, ran)
        if j in self._private.running:
            self._private.end_later(j)

    def _too_long(self, j: int, new: int) -> str:
        """Return why a running job cannot have this walltime: it would run into a reservation."""
        engine, ledger = self._engine, self._engine.ledger
        name = engine.workload.ids[j]
        start = ledger.start_of(j)
        end = start + max(1, new - ledger.log.less(j))
        if j in self._private.running:
            booking = self._bookings.listed[self._private.running[j].k]
            late = end > booking.end
            return f"job {name!r} would run until {end}, after the end of reservation {booking.label!r}" if late else ""
        mine = ledger.uses_of(j, engine.now, end)
        return engine.timeline.conflict(name, mine, engine.running_uses(without=j), end)

    def _run_on(self, j: int) -> None:
        """Let a running job end, in truth and as expected, by its new durations."""
        engine, ledger = self._engine, self._engine.ledger
        trace, state = engine.trace, engine.state
        slots = slice(int(trace.first[j]), int(trace.first[j]) + int(state.pieces[j]))
        places = list(zip(state.place[slots].tolist(), state.share[slots].tolist(), strict=True))
        now = engine.now
        start = ledger.start_of(j)
        end_now(trace, state, j)
        engine.predict_again(j)
        ledger.count(j, 1)
        start_on(trace, state, j, places, start)
        state.clock[NOW] = now
        state.clock[STARTED] -= 1
        run = ledger.running.get(j)
        if run is None:  # policies see no running jobs
            return
        ledger.running[j] = self._with_new_end(run, j)
        if j in ledger.further:
            ledger.further[j] = [self._with_new_end(part, j) for part in ledger.further[j]]
        ledger.expected[engine.workload.ids[j]] = int(state.expected[j])

    def _with_new_end(self, run: Running, j: int) -> Running:
        """Return a chunk of running job j with the walltime and the expected end that the job has now."""
        ledger = self._engine.ledger
        end = ledger.start_of(j) + int(self._engine.state.expected[j])
        return replace(run, job=replace(run.job, walltime=ledger.limit(j)), end=end)

    def _cancel(self, event: ServerEvent) -> str:
        rows = [k for k, b in enumerate(self._bookings.listed) if b.reservation.name == event.subject and b.pending]
        for k in rows:
            self._private.end_booking(k, "cancelled", f"cancelled at {self._engine.now}")
        return "" if rows else f"reservation {event.subject!r} is over or was refused"


# --- The batch server of a replay: reservations with private queues, stopped queues, changed, moved and deleted jobs [Bridi2018, 4].

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
        self.reservations = tuple(reservations)
        self.events = tuple(events)
        self.takes_chunks = takes_chunks
        self.log = ProductionLog(self.reservations, self.events)
        self.calendars: Mapping[Hours, int] = {}

    @property
    def private(self) -> set[str]:
        """The names of the private queues."""
        return {r.queue for r in self.reservations}

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with walltimes and queues that the replay may change, without those of users who are not eligible."""
        jobs = replace(workload, walltime=workload.walltime.copy(), queue=workload.queue.copy())
        private = [k for k, q in enumerate(jobs.queues) if q.name in self.private]
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
