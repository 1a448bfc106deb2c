"""The batch server of a replay: states of nodes, queues, changed and deleted jobs, reservations and their jobs [Bridi2018, 4]."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...heuristics.kernels.events.entries import end_now
from ...heuristics.kernels.events.machine import start_on
from ...heuristics.kernels.events.state import EARLY, NOW, RUNNING, STARTED, UNSTARTED, WAITING, TraceArrays
from ...instances.workload import Workload
from ...models import NodeEvent, NodeStates, Platform, Queue, Running
from ...models.array_types import Ints
from ...models.dispatch.jobs import DAY, Window
from ...models.node_states import Change
from ...models.reservations import Occurrence, Refusal, Reservation, Usage, overuse, place
from ...models.server_events import Known, ServerEvent, of_events, of_reservations
from ..agenda import Rank
from ..errors import SimulationError
from ..records import REQUEUED, Booking, JobChange, PrivateRun, ProductionRecord, RefusedEvent, bookings_of
from ..timeline import Hold, Use
from .feature import Feature, Replay

WHY = "node state"  # the reason for which the timeline closes nodes


class NodeEvents(Feature):
    """The node states of a replay.

    Parameters
    ----------
    states : NodeStates
        The states of the nodes over time.
    """

    follows_nodes = True

    def __init__(self, states: NodeStates) -> None:
        self.states = states
        self._runs: NDArray[np.bool_] = np.ones(len(states.platform.nodes), np.bool_)

    def begin(self, engine: Replay) -> None:
        """Put the changes on the agenda."""
        self._engine = engine
        requests = (engine.trace.request, engine.trace.further_request)
        self._seen_in_use = all(bool(table.any(axis=1).all()) for table in requests)  # every unit takes some amount
        for change in self.states.changes_from(engine.workload.begin):
            engine.agenda.add(change.time, Rank.NODE_STATE, lambda c=change: self._apply(c), waits_for_jobs=True)  # type: ignore[misc]

    def _apply(self, change: Change) -> None:
        engine = self._engine
        stopped = np.flatnonzero(self._runs & ~change.runs)
        self._runs = change.runs
        if stopped.size and not (self._seen_in_use and self._unused(stopped)):
            for j in engine.state.running[: engine.state.clock[RUNNING]].tolist():
                places = engine.ledger.places_of(j)
                hit = ~change.runs[places]
                if hit.any():
                    node = int(places[hit.argmax()])
                    engine.fail(j, f"{change.names[node]}: {engine.platform.nodes[node]}")
        engine.timeline.states = change.names
        engine.timeline.close(WHY, ~change.starts, change.names)
        for feature in engine.features:
            feature.nodes_changed(change.names, change.runs)

    def _unused(self, nodes: Sequence[int] | Any) -> bool:
        return bool((self._engine.state.free[nodes] == self._engine.trace.capacity[nodes]).all())

    def result(self, now: int) -> Mapping[str, Any]:
        """Return the states."""
        return {"states": self.states}


# --- The waiting jobs that no dispatcher sees: those of stopped queues and those of private queues; and the calendars of jobs.

Hours = tuple[bool, tuple[Window, ...]]  # whether starts are limited to windows of the day; the windows


def hours_of(jobs: Workload, j: int) -> Hours:
    """Return the hours of the day in which job j may start, by its queue and walltime."""
    queue = jobs.queues[int(jobs.queue[j])]
    return bool(queue.daily), queue.hours(int(jobs.walltime[j]))


def with_calendars(
    trace: TraceArrays, jobs: Workload, events: tuple[ServerEvent, ...]
) -> tuple[TraceArrays, Mapping[Hours, int]]:
    """Return the trace with all calendars that the events may give to jobs, and the number of each calendar; -1: none."""
    row = {name: j for j, name in enumerate(jobs.ids)}
    index = {q.name: q for q in jobs.queues}
    queues: dict[int, set[str]] = defaultdict(set)
    walltimes: dict[int, set[int]] = defaultdict(set)
    for event in events:
        j = -1
        if event.kind in ("move", "walltime"):
            j = row.get(event.subject, -1)
        if j >= 0:
            queues[j] |= {jobs.queues[int(jobs.queue[j])].name} | (
                {str(event.value)} if event.kind == "move" else set()
            )
            walltimes[j] |= {int(jobs.walltime[j])} | ({int(event.value or 0)} if event.kind == "walltime" else set())
    calendar_hours = {
        (bool(index[q].daily), index[q].hours(w)) for j in queues for q in queues[j] for w in walltimes[j]
    }
    listed = sorted(hours for limited, hours in calendar_hours if limited)
    count = trace.period.size
    flat = np.array([w for hours in listed for w in hours], np.int64).reshape(-1, 2)
    first = trace.first_window[-1] + np.cumsum([len(hours) for hours in listed], dtype=np.int64)
    trace = trace._replace(
        daily=trace.daily.copy(),
        first_window=np.concatenate([trace.first_window, first]),
        lo=np.concatenate([trace.lo, flat[:, 0]]),
        hi=np.concatenate([trace.hi, flat[:, 1]]),
        period=np.concatenate([trace.period, np.full(len(listed), DAY, np.int64)]),
    )
    return trace, {(False, ()): -1} | {(True, hours): count + k for k, hours in enumerate(listed)}


class Queues:
    """The waiting jobs of one replay in three sets: for the dispatcher, of stopped queues, of private queues.

    Attributes
    ----------
    stopped : dict of str to int
        Stopped queue -> time in seconds since which it is stopped.
    of_stopped : dict
        Rows of the jobs of stopped queues, as an ordered set.
    private : dict
        Rows of the waiting jobs of private queues, in order of arrival, as an ordered set.
    """

    def __init__(self, engine: Replay, private: set[str], calendars: Mapping[Hours, int]) -> None:
        self._engine = engine
        self.private_queues = private
        self._calendars = calendars
        self.stopped: dict[str, int] = {}
        self.of_stopped: dict[int, None] = {}
        self.private: dict[int, None] = {}

    def queue_of(self, j: int) -> str:
        """Return the name of the queue of job j."""
        w = self._engine.workload
        queue: Queue = w.queues[int(w.queue[j])]
        return queue.name

    def sort_in(self, arrived: Iterable[int]) -> None:
        """Move the jobs that have arrived to the set of their queue."""
        away = [j for j in arrived if self._set_of(j) is not None]
        self._withdraw(away)
        for j in away:
            queue_set = self._set_of(j)
            assert queue_set is not None
            queue_set[j] = None

    def _set_of(self, j: int) -> dict[int, None] | None:
        """Return the set of the jobs of its queue; None: they are for the dispatcher."""
        queue = self.queue_of(j)
        if queue in self.private_queues:
            return self.private
        if queue in self.stopped:
            return self.of_stopped
        return None

    def place_again(self, rows: Sequence[int]) -> None:
        """Move waiting jobs to the set of their queue, which has changed."""
        for j in rows:
            now_in = next((s for s in (self.of_stopped, self.private) if j in s), None)
            target = self._set_of(j)
            if now_in is target:
                continue
            if now_in is None:
                self._withdraw([j])
            else:
                del now_in[j]
            if target is None:
                self._engine.come_back([j])
            else:
                target[j] = None

    def waiting_in(self, queue: str) -> list[int]:
        """Return the rows of the waiting jobs of a queue."""
        sets = (self._engine.ledger.waiting, self.of_stopped, self.private)
        return [j for s in sets for j in s if self.queue_of(j) == queue]

    def is_waiting(self, j: int) -> bool:
        """Return whether job j waits."""
        return any(j in s for s in (self._engine.ledger.waiting, self.of_stopped, self.private))

    def remove(self, j: int) -> None:
        """Remove a waiting job for good."""
        self.of_stopped.pop(j, None)
        self.private.pop(j, None)
        if j in self._engine.ledger.waiting:
            self._withdraw([j])

    def _withdraw(self, rows: Sequence[int]) -> None:
        """Take jobs out of the queue that dispatchers see."""
        if rows:
            self._engine.ledger.withdraw(rows)
            self._engine.state.clock[EARLY] += 1  # reservations of other jobs may move to earlier times
            for j in rows:
                self._engine.plans.remove(j)

    def take_calendar(self, j: int) -> None:
        """Give waiting job j the calendar of its queue and walltime, which have changed."""
        ledger = self._engine.ledger
        seen = j in ledger.waiting
        if seen:
            ledger.count(j, -1)
        ledger.trace.daily[j] = self._calendars[hours_of(ledger.workload, j)]
        if seen:
            ledger.count(j, 1)

    def finish(self) -> None:
        """Add the jobs of stopped queues to the waiting jobs, with the reason why they wait."""
        state, ledger = self._engine.state, self._engine.ledger
        for j in self.of_stopped:
            queue = self.queue_of(j)
            ledger.held_back[j] = f"its queue {queue!r} is stopped since {self.stopped[queue]}"
            state.waiting[state.clock[WAITING]] = j
            state.clock[WAITING] += 1
        self.of_stopped = {}


# --- The reservations of a replay: their check, and what they hold.


def may_use(reservations: Iterable[Reservation], queue: str, user: str) -> bool:
    """Return whether a user may submit jobs to a private queue."""
    return any(r.queue == queue and (not r.users or user in r.users) for r in reservations)


class ProductionLog:
    """The record of a running replay."""

    def __init__(self, reservations: Iterable[Reservation], events: Sequence[ServerEvent]) -> None:
        self.bookings = bookings_of(reservations)
        self.events = tuple(events)
        self.refused: list[RefusedEvent] = []
        self.moves: list[JobChange] = []
        self.walltimes: list[JobChange] = []
        self.private: list[PrivateRun] = []

    def record(self, left: Mapping[int, str], left_at: Mapping[int, int]) -> ProductionRecord:
        """Return the record so far; ``left``: row of a job that left without a start -> why, ``left_at``: -> second."""
        return ProductionRecord(
            tuple(self.bookings), self.events, dict(left), tuple(self.refused), tuple(self.moves),
            tuple(self.walltimes), tuple(self.private), dict(left_at),
        )  # fmt: skip


class Bookings:
    """The repetitions of all reservations of one replay, ``listed`` as in the record."""

    def __init__(self, engine: Replay, log: ProductionLog) -> None:
        self._engine = engine
        self.listed: list[Booking] = log.bookings

    def examine(self, k: int) -> bool:
        """Accept or refuse a reservation that was requested; return whether it was accepted."""
        engine, booking = self._engine, self.listed[k]
        timeline = engine.timeline
        now = engine.now
        if booking.end <= now:  # a replay may begin after it
            booking.outcome = "refused"
            booking.why = (
                f"reservation {booking.label!r} ends at {booking.end}, not after the begin of the replay at {now}"
            )
            return False
        platform = engine.platform
        asked = Occurrence(booking.reservation, 1, booking.start, booking.end)
        uses = [*engine.running_uses(), *timeline.reserved_uses()]
        for o in overuse(platform, Usage.of(platform, uses), now, now + 1):
            why = f"{o.used} {o.resource} are in use on node {o.node!r}, which has {o.capacity}"
            raise SimulationError(f"at {now}: {why}", node=o.node, time=now)
        usage = Usage.of(platform, [*uses, *engine.kept_free()])
        places = place(platform, usage, asked, timeline.bookable(booking.start))
        if isinstance(places, Refusal):
            booking.outcome = "refused"
            booking.why = str(places).replace(f"{asked.label!r}", f"{booking.label!r}", 1)
            return False
        booking.outcome = "accepted"
        booking.nodes = places
        booking.accepted = now
        held = Use(places, booking.reservation.request, booking.start, booking.end)
        timeline.hold(k, Hold(booking.label, booking.reservation.queue, held))
        return True

    def begin(self, k: int) -> list[tuple[int, str]]:
        """Start a reservation; return the running jobs that must end now, as they overran their walltimes, and why.

        Raises SimulationError if the nodes of the reservation are in use by other jobs.
        """
        engine, booking = self._engine, self.listed[k]
        booking.outcome = "started"
        now = engine.now
        ledger = engine.ledger
        platform = engine.platform
        rows = engine.state.running[: engine.state.clock[RUNNING]].tolist()
        running = {j: ledger.uses_of(j, now, now + 1) for j in rows}
        ended: dict[int, str] = {}
        for o in overuse(platform, self._usage_now(running), now, now + 1):
            there = [j for j, uses in running.items() if any(o.node in use.nodes for use in uses)]
            late = [(ledger.start_of(j) + ledger.limit(j), j) for j in there]
            for _, j in sorted((due, j) for due, j in late if due <= now and j not in ended):
                left = self._usage_now({i: uses for i, uses in running.items() if i not in ended})
                if any(p.node == o.node for p in overuse(platform, left, now, now + 1)):
                    ended[j] = f"reservation: {booking.label}"
        left = self._usage_now({i: uses for i, uses in running.items() if i not in ended})
        for o in overuse(platform, left, now, now + 1):
            why = f"node {o.node!r} has {o.used} {o.resource} in use of {o.capacity}"
            raise SimulationError(f"reservation {booking.label!r} cannot start at {now}: {why}", time=now)
        return list(ended.items())

    def _usage_now(self, running: Mapping[int, Sequence[Use]]) -> Usage:
        now, timeline = self._engine.now, self._engine.timeline
        uses = [use for listed in running.values() for use in listed]
        uses += [Use(use.nodes, use.request, now, now + 1) for use in timeline.reserved_uses() if use.start <= now]
        return Usage.of(self._engine.platform, uses)

    def end(self, k: int, outcome: str, why: str) -> None:
        """End a reservation now, or give it up before its start."""
        booking = self.listed[k]
        if booking.holds:
            self._engine.timeline.release(k)
            booking.ended = self._engine.now
        booking.outcome = cast("Any", outcome)
        booking.why = why


# --- The inside of a started reservation: its nodes, what jobs leave of them, and places for the chunks of a job.


class Places(NamedTuple):
    """The places of a job in a reservation, chunk after chunk.

    Parameters
    ----------
    nodes : ndarray of int64, shape (places,)
        Index of the node in the platform.
    units : ndarray of int64, shape (places,)
        The units there.
    chunk : ndarray of int64, shape (places,)
        The number of the chunk.
    used : ndarray of int64, shape (places, resources)
        What they use.
    """

    nodes: Ints
    units: Ints
    chunk: Ints
    used: Ints

    def by_name(self, names: Sequence[str], chunks: int) -> list[Mapping[str, int]]:
        """Return {node: units} of each chunk."""
        by_chunk: list[dict[str, int]] = [{} for _ in range(chunks)]
        for n, u, c in zip(self.nodes.tolist(), self.units.tolist(), self.chunk.tolist(), strict=True):
            by_chunk[c][names[n]] = u
        return list(by_chunk)


@dataclass(eq=False)
class Inside:
    """A started reservation: its nodes (numbers), what it holds of each, and what its jobs leave; (nodes, resources)."""

    nodes: Ints
    whole: Ints
    left: Ints

    @classmethod
    def of(cls, booking: Booking, platform: Platform) -> Inside:
        """Return the inside of an accepted reservation without jobs."""
        number = {name: n for n, name in enumerate(platform.nodes)}
        request = np.array([booking.reservation.request.get(r, 0) for r in platform.resources], np.int64)
        whole: Ints = np.array(list(booking.nodes.values()), np.int64)[:, None] * request
        return cls(np.array([number[n] for n in booking.nodes], np.int64), whole, whole.copy())

    def give_back(self, places: Places) -> None:
        """Give back what a job used."""
        row = {n: i for i, n in enumerate(self.nodes.tolist())}
        np.add.at(self.left, [row[n] for n in places.nodes.tolist()], places.used)

    def take(self, chunks: Sequence[tuple[int, Ints]], blocked: NDArray[np.bool_]) -> Places | None:
        """Take places for all chunks (units, request) of a job by best fit; None if they do not fit.

        The chunks are placed one after the other, beginning with each of them in turn until all fit. ``blocked``: the
        nodes of the platform that take no starts.
        """
        barred = blocked[self.nodes]
        for turn in range(len(chunks)):
            left = self.left.copy()
            taken = dict[int, list[tuple[int, int]]]()
            for c in [*range(turn, len(chunks)), *range(turn)]:
                put = self._put(left, barred, *chunks[c])
                if put is None:
                    break
                taken[c] = put
            else:
                self.left = left
                rows = [(self.nodes[i], u, c, u * chunks[c][1]) for c in range(len(chunks)) for i, u in taken[c]]
                node, units, chunk, used = (np.array(column, np.int64) for column in zip(*rows, strict=True))
                return Places(node, units, chunk, used)
        return None

    def _put(self, left: Ints, barred: NDArray[np.bool_], units: int, request: Ints) -> list[tuple[int, int]] | None:
        """Take the units of one chunk from ``left``; return (row of the node, units), or None if they do not fit."""
        used = request > 0
        fits = np.full(self.nodes.size, units)
        if used.any():
            fits = np.minimum((left[:, used] // request[used]).min(axis=1), units)
        fits[barred] = 0
        if fits.sum() < units:
            return None
        share = np.divide(left, self.whole, out=np.zeros(left.shape), where=self.whole > 0)
        nodes_taken = []
        for i in np.argsort(share.sum(axis=1), kind="stable").tolist():
            put = min(units, int(fits[i]))
            if put:
                nodes_taken.append((i, put))
                left[i] -= put * request
                units -= put
        return nodes_taken


# --- The jobs of private queues: they run inside of the reservations of their queues [Bridi2018, 4.4].
#
# In each started reservation, its jobs start in order of arrival, each as soon as it fits (a job that does not fit is
# passed over), can end by its walltime before the end of the reservation, and its own start windows allow it. Nodes are chosen by best fit among those of
# the reservation that take starts. A job that would exceed a limit on the power of the machine waits inside: a reservation
# holds nodes, and no power, as nobody knows what its jobs will take.


@dataclass(frozen=True)
class Run:
    """A job that runs inside of booking ``k``."""

    k: int
    start: int
    places: Places


class PrivateJobs:
    """The jobs inside of the reservations of one replay; ``running``: row of a job -> its run."""

    def __init__(self, engine: Replay, log: ProductionLog, bookings: Bookings, queues: Queues) -> None:
        self._engine = engine
        self._log = log
        self._bookings = bookings
        self._queues = queues
        self.running: dict[int, Run] = {}
        self._inside: dict[int, Inside] = {}
        self._openings: set[int] = set()  # the times at which a window opens, for which the agenda has an action

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
        if self._engine.workload.windows:
            self._wait_for_windows()

    def _wait_for_windows(self) -> None:
        """Have an event at the next opening of a start window of each waiting job: the agenda does nothing but come to it."""
        engine = self._engine
        for j in self._queues.private:
            opening = min((lo for lo, _ in engine.workload.windows.get(j, ()) if lo > engine.now), default=None)
            if opening is not None and opening not in self._openings:
                self._openings.add(opening)
                engine.agenda.add(opening, Rank.OTHER, lambda: None)

    def _eligible(self, k: int, j: int) -> bool:
        """Return whether job j may run in booking k, and ends before it ends."""
        booking, w = self._bookings.listed[k], self._engine.workload
        users = booking.reservation.users
        now = self._engine.now
        windows = w.windows.get(j, ())
        in_time = now + self._engine.ledger.limit(j) <= booking.end
        in_time = in_time and (not windows or any(lo <= now <= hi for lo, hi in windows))
        return in_time and (not users or w.users[int(w.user[j])] in users)

    def _chunks(self, j: int) -> list[tuple[int, Ints]]:
        """Return units and request of each chunk of job j."""
        trace = self._engine.trace
        resources = len(self._engine.platform.resources)
        chunks = self._engine.workload.chunks.get(j, ())
        first = int(trace.first_further[j])
        further = [(c.units, trace.further_request[first + k]) for k, c in enumerate(chunks[1:])]
        return [(units, request[:resources]) for units, request in ((int(trace.units[j]), trace.request[j]), *further)]

    def _try(self, k: int, j: int) -> None:
        """Start job j in booking k if it fits, and the whole machine has what it takes."""
        engine = self._engine
        if (engine.timeline.machine_lacks(j) > 0).any() or engine.timeline.limit_on(j):
            return
        if k not in self._inside:
            self._inside[k] = Inside.of(self._bookings.listed[k], engine.platform)
        usable = engine.timeline.open & engine.trace.masks[engine.trace.node_set[j]]
        places = self._inside[k].take(self._chunks(j), ~usable)
        if places is None:
            return
        state = engine.state
        now = engine.now
        first = int(engine.trace.first[j])
        slots = slice(first, first + places.nodes.size)
        state.place[slots], state.share[slots] = places.nodes, places.units
        state.pieces[j], state.start[j] = places.nodes.size, now
        state.clock[STARTED] += 1
        engine.timeline.take_inside(j)
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
        self._engine.timeline.give_inside(j)
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
        if not self._queues.private:
            return
        pending = {b.reservation.queue for b in self._bookings.listed if b.pending}
        for j in list(self._queues.private):
            queue = self._queues.queue_of(j)
            if queue not in pending:
                self._queues.remove(j)
                self._engine.leave(j, f"its queue {queue!r} has no reservation any more")


# --- The effects of server events: stopped queues, changed, moved, deleted and requeued jobs, cancelled reservations.


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
            "requeue": self._requeue,
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

    def _requeue(self, event: ServerEvent) -> str:
        j, why = self._row(event)
        if why:
            return why
        if j in self._private.running:
            return f"job {event.subject!r} runs inside of a reservation"
        if not self._runs(j):
            return f"job {event.subject!r} does not run"
        self._engine.fail(j, REQUEUED)
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
        self._log.moves.append(JobChange(self._engine.now, j, before, target))
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
        why = ""
        if self._runs(j):
            why = self._too_long(j, new)
        if why:
            return why
        w.walltime[j] = new
        self._log.walltimes.append(JobChange(engine.now, j, before, new))
        if engine.options.kill:
            less = ledger.log.less(j)
            full = int(w.runtime[j])
            left = 0
            if full > less:
                left = max(1, min(full, new) - less)
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
        ran = 0
        if self._runs(j):
            ran = engine.now - engine.ledger.start_of(j)
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
            if late:
                return f"job {name!r} would run until {end}, after the end of reservation {booking.label!r}"
            return ""
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
        if rows:
            return ""
        return f"reservation {event.subject!r} is over or was refused"


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
    names = None
    if not own:
        names = {*jobs.ids, *gone, *running, *others}
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
