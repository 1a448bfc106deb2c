"""The effects of server events: stopped queues, changed, moved and deleted jobs, cancelled reservations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ....heuristics.kernels.events.beginning import start_on
from ....heuristics.kernels.events.entries import end_now
from ....heuristics.kernels.events.state import NOW, STARTED
from ....models import Running
from ....models.production import ServerEvent
from .bookings import Bookings
from .pools import Pools
from .private_jobs import PrivateJobs
from .record import Change, RefusedEvent

if TYPE_CHECKING:
    from .changes import ProductionChanges


class ServerEvents:
    """The server events of one replay.

    A method for each kind returns why the event is not possible, or an empty text.
    """

    def __init__(self, changes: ProductionChanges, bookings: Bookings, pools: Pools, private: PrivateJobs) -> None:
        self._changes, self._bookings, self._pools, self._private = changes, bookings, pools, private
        self.plan, self.state = changes.plan, changes.state
        self._changed: dict[str, None] = {}
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
            self._changes.log.refused.append(RefusedEvent(event, why))

    def take_changed(self) -> tuple[str, ...]:
        """Return the ids of the changed waiting jobs and forget them."""
        found, self._changed = tuple(self._changed), {}
        return found

    def _stop_queue(self, event: ServerEvent) -> str:
        self._pools.stopped.setdefault(event.subject, self._pools.now)
        self._pools.place_again(self._pools.waiting_in(event.subject))
        return ""

    def _start_queue(self, event: ServerEvent) -> str:
        if self._pools.stopped.pop(event.subject, None) is None:
            return f"queue {event.subject!r} is not stopped"
        self._pools.place_again(self._pools.waiting_in(event.subject))
        return ""

    def _row(self, event: ServerEvent) -> tuple[int, str]:
        """Return the row of the job of an event, and why it cannot be changed any more."""
        j = self.plan.row.get(event.subject)
        if j is None:
            return -1, f"job {event.subject!r} is not a job of the replay"
        if not (self._pools.is_waiting(j) or self._runs(j)):
            has_run = self.state.start[j] >= 0 or j in self._changes.log.left
            return j, f"job {event.subject!r} has {'ended' if has_run else 'not been submitted'}"
        return j, "" if event.kind == "delete" else self._changes.unchangeable(j)

    def _runs(self, j: int) -> bool:
        return j in self._private.running or j in self._bookings.running()

    def _delete(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        if why:
            return why
        if j in self._private.running:
            self._private.end_for_good(j, "deleted")
        elif self._runs(j):
            self._changes.end_early(j, "deleted")
        elif any(before == j for before, _ in self.plan.workload.after.values()):
            return f"other jobs wait for the end of job {event.subject!r}, which has not started"
        else:
            self._pools.remove(j)
            self._changes.log.leave(j, event.time, "deleted")
        return ""

    def _move(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        w, production = self.plan.workload, self._changes.production
        if why or self._runs(j):
            return why or f"job {event.subject!r} runs already"
        target = next(k for k, q in enumerate(w.queues) if q.name == event.value)
        user = w.users[int(w.user[j])]
        name = w.queues[target].name
        if name in self._pools.private_queues and not production.eligible(name, user):
            return f"user {user!r} may not use queue {name!r}"
        if name in self._pools.private_queues and j in w.windows:
            return f"job {event.subject!r} has start windows of its own, private queues take no such jobs"
        if (
            j in w.chunks
            and name not in self._pools.private_queues
            and not getattr(self.plan.dispatcher, "takes_chunks", True)
        ):
            return f"job {event.subject!r} has several chunks, which dispatcher {self.plan.name} does not take"
        before, w.queue[j] = int(w.queue[j]), target
        self._changes.log.moves.append(Change(self._pools.now, j, before, target))
        self._pools.take_calendar(j)
        self._pools.place_again([j])
        self._private.leave_without_reservation()
        self._waits_changed(j, queue=name)
        return ""

    def _waits_changed(self, j: int, **fields: object) -> None:
        """Change the job that dispatchers see, if they see it."""
        waiting = self._bookings.jobs.waiting
        if j in waiting:
            waiting[j] = replace(waiting[j], **fields)  # type: ignore[arg-type]
        self._changed[self.plan.workload.ids[j]] = None
        self.state.reserved[j] = -1  # policies: its place in the future may not suit it any more
        self._changes.release_early()
        self._changes.shortened = True  # the order of a policy may depend on it

    def _walltime(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        if why:
            return why
        w, new = self.plan.workload, int(event.value or 0)
        before = int(w.walltime[j])
        why = self._too_long(j, new) if self._runs(j) else ""
        if why:
            return why
        w.walltime[j] = self._bookings.jobs.walltimes[j] = new
        self._changes.log.walltimes.append(Change(self._pools.now, j, before, new))
        if self._changes.killing:
            less, full = self.plan.log.less(j), int(w.runtime[j])
            left = max(1, min(full, new) - less) if full > less else 0
            self._set_runtime(j, left)
            self.plan.killed[j] = new < full
        if j in self._bookings.running():
            self._run_on(j)
        elif j not in self._private.running:
            self._pools.take_calendar(j)
            self._expect(j)
            self._waits_changed(j, walltime=self._bookings.limit(j))
        return ""

    def _set_runtime(self, j: int, left: int) -> None:
        """Set the seconds that job j still runs in this attempt; a running job runs at least until now."""
        ran = self._pools.now - int(self.state.start[j]) if self._runs(j) else 0
        self.plan.trace.runtime[j] = max(left, ran)
        if j in self._private.running:
            self._private.end_later(j)

    def _too_long(self, j: int, new: int) -> str:
        """Return why a running job cannot have this walltime: it would run into a reservation."""
        id_, start = self.plan.workload.ids[j], int(self.state.start[j])
        end = start + max(1, new - self.plan.log.less(j))
        if j in self._private.running:
            booking = self._bookings.listed[self._private.running[j].k]
            late = end > booking.end
            return f"job {id_!r} would run until {end}, after the end of reservation {booking.label!r}" if late else ""
        return self._bookings.conflict_until(j, end)

    def _expect(self, j: int) -> None:
        """Let a predictor that knows all durations from the begin predict job j again."""
        durations = self.plan.predictor.begin(self.plan.workload) if self._changes.fixed else None
        if durations is not None:
            self.state.expected[j] = max(1, int(durations[j]) - self.plan.log.less(j))
            if j in self._bookings.jobs.waiting:
                self._bookings.jobs.expected[self.plan.workload.ids[j]] = int(self.state.expected[j])

    def _run_on(self, j: int) -> None:
        """Let a running job end, in truth and as expected, by its new durations."""
        trace, state, jobs = self.plan.trace, self.state, self._bookings.jobs
        slots = slice(int(trace.first[j]), int(trace.first[j]) + int(state.pieces[j]))
        places = list(zip(state.place[slots].tolist(), state.share[slots].tolist(), strict=True))
        now, start = int(state.clock[NOW]), int(state.start[j])
        end_now(trace, state, j)
        self._expect(j)
        self._pools.count(j, 1)
        start_on(trace, state, j, places, start)
        state.clock[NOW] = now
        state.clock[STARTED] -= 1
        run = jobs.running.get(j)
        if run is None:  # policies see no running jobs
            return
        jobs.running[j] = self._with_new_end(run, j)
        if j in jobs.further:
            jobs.further[j] = [self._with_new_end(part, j) for part in jobs.further[j]]
        jobs.expected[run.job.id] = int(state.expected[j])

    def _with_new_end(self, run: Running, j: int) -> Running:
        """Return a chunk of running job j with the walltime and the expected end that the job has now."""
        end = int(self.state.start[j]) + int(self.state.expected[j])
        return replace(run, job=replace(run.job, walltime=self._bookings.limit(j)), end=end)

    def _cancel(self, event: ServerEvent) -> str:
        rows = [k for k, b in enumerate(self._bookings.listed) if b.reservation.name == event.subject and b.pending]
        for k in rows:
            self._changes.end_booking(k, "cancelled", f"cancelled at {self._pools.now}")
        return "" if rows else f"reservation {event.subject!r} is over or was refused"
