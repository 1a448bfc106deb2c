"""The effects of server events: stopped queues, changed, moved and deleted jobs, cancelled reservations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...heuristics.kernels.events.beginning import start_on
from ...heuristics.kernels.events.entries import end_now
from ...heuristics.kernels.events.state import NOW, STARTED, UNSTARTED
from ...models import Running
from ...models.production import ServerEvent
from ..records import Change, RefusedEvent
from .feature import Replay
from .private_jobs import PrivateJobs
from .queues import Queues
from .reservations import Bookings, ProductionLog, may_use


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
        self._engine, self._log, self._takes_chunks = engine, log, takes_chunks
        self._queues, self._bookings, self._private = queues, bookings, private_jobs
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
        if private and j in w.windows:
            return f"job {event.subject!r} has start windows of its own, private queues take no such jobs"
        if j in w.chunks and not private and not self._takes_chunks:
            return f"job {event.subject!r} has several chunks, which dispatcher {self._engine.name} does not take"
        before, w.queue[j] = int(w.queue[j]), target
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
        w, new = engine.workload, int(event.value or 0)
        before = int(w.walltime[j])
        why = self._too_long(j, new) if self._runs(j) else ""
        if why:
            return why
        w.walltime[j] = new
        self._log.walltimes.append(Change(engine.now, j, before, new))
        if engine.options.kill:
            less, full = ledger.log.less(j), int(w.runtime[j])
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
        name, start = engine.workload.ids[j], ledger.start_of(j)
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
        now, start = engine.now, ledger.start_of(j)
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
