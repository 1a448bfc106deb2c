"""The events of a replay: what was recorded, in order, and a free replay that starts jobs itself."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ...instances.sites.of_log import with_draining
from ...models.array_types import Floats, Ints
from ...models.node_states import EVERY, NodeEvent
from ...models.site import Site
from . import columns as c
from .events import PassTimes
from .jobs import SlurmJob
from .state import ENDED, REQUEUE_DELAY, RUNNING, WAITING, SlurmStart, SlurmState, reason_of

SECOND = 1000  # ms: the clock of a free replay; Slurm's own has whole seconds
CHECKED = 60  # s: time limits are checked every 30 s, and a job ends after KillWait
REQUEUES = frozenset({"REQUEUED", "PREEMPTED", "NODE_FAIL", "REQUEUE_FED", "SPECIAL_EXIT"})


class What(IntEnum):
    """Kinds of events, in the order in which those of one time happen."""

    END = 0
    NODE = 1
    CANCEL = 2
    REQUEUE = 3
    SUBMIT = 4
    PREEMPT = 5
    BEGIN = 6
    MAIN = 7
    BACKFILL = 8
    START = 9


SPREAD = np.array([0.7548776662466927, 0.5698402909980532])  # multiples of these are spread evenly over the unit square
PASSES = (What.MAIN, What.BACKFILL)
MOST_IDLE_UPDATES = 12  # of priorities, on an idle machine: what no pass has started in so many orders never starts


class SlurmEvent(NamedTuple):
    """An event: its time, its kind, and the job or the node, by index; the number of the attempt, or what a node does."""

    time: int
    what: What
    subject: int
    number: int = 0


class NodeChange(NamedTuple):
    """A node begins or ceases to take jobs; ``kills``: its jobs end."""

    time: int
    node: int
    up: bool
    kills: bool


def node_changes(site: Site, events: Sequence[NodeEvent] | None, jobs: Sequence[SlurmJob]) -> list[NodeChange]:
    """Return the changes of the nodes of a site, in order; those of nodes that were drained as jobs ran on them show.

    Parameters
    ----------
    site : Site
        The site.
    events : sequence of NodeEvent or None
        The recorded changes. None: those of the site.
    jobs : sequence of SlurmJob
        What ran on the nodes.
    """
    index = {n.name: k for k, n in enumerate(n for n in site.nodes if n.state != "future")}
    runs = runs_of(jobs)
    changes: list[NodeChange] = []
    listed = sorted(site.events if events is None else events, key=lambda event: event.time)
    for event in with_draining(listed, lambda name: runs.get(name, ())):
        state = event.effect.state
        names = index if EVERY in event.nodes else event.nodes
        starts = state is None or state.starts
        on = state is None or state.runs
        changes.extend(NodeChange(event.time, index[name], starts, not on) for name in names if name in index)
    return changes


def runs_of(jobs: Sequence[SlurmJob]) -> dict[str, list[tuple[int, int]]]:
    """Return what was recorded to run on each node: starts and ends in Unix time."""
    runs: dict[str, list[tuple[int, int]]] = {}
    for job in jobs:
        for attempt in job.attempts:
            for name in attempt.nodes:
                runs.setdefault(name, []).append((attempt.start, attempt.end))
    return runs


def recorded_events(jobs: Sequence[SlurmJob], changes: Sequence[NodeChange]) -> list[SlurmEvent]:
    """Return what was recorded: submissions, starts, ends, cancellations and changes of nodes, in order.

    ``number`` is that of the attempt, of a change of a node its place in ``changes``.
    """
    events = []
    for k, job in enumerate(jobs):
        events.append(SlurmEvent(job.submit, What.SUBMIT, k))
        for n, attempt in enumerate(job.attempts):
            if n:
                events.append(SlurmEvent(job.attempts[n - 1].end, What.SUBMIT, k, n))
            events.append(SlurmEvent(attempt.start, What.START, k, n))
            events.append(SlurmEvent(attempt.end, What.END, k, n))
        if not job.attempts and job.cancelled is not None:
            events.append(SlurmEvent(job.cancelled, What.CANCEL, k))
    events.extend(SlurmEvent(change.time, What.NODE, change.node, n) for n, change in enumerate(changes))
    return sorted(events)


def moments(events: Sequence[SlurmEvent]) -> Iterator[tuple[int, list[SlurmEvent]]]:
    """Yield each time with its events."""
    i = 0
    while i < len(events):
        time = events[i].time
        at_once = []
        while i < len(events) and events[i].time == time:
            at_once.append(events[i])
            i += 1
        yield time, at_once


@dataclass
class SlurmReplay:
    """A free replay: the site starts the jobs that were submitted, by its own rules.

    Jobs run as long as they were recorded to run. What the controller does within a second is not recorded: when in its
    second a job was submitted, and by how many parts of a second a runtime exceeds its whole seconds. These fractions
    are drawn with ``seed``. How much of their periods is over when the two schedulers begin is not recorded either, and spread evenly
    over seeds that follow each other; two real runs differ in the same way.

    Parameters
    ----------
    site : Site
        The site.
    jobs : sequence of SlurmJob
        The jobs.
    events : sequence of NodeEvent, optional
        Changes of nodes. None: those of the site.
    seed : int, optional
        Seed of the fractions.
    begin : int, optional
        Unix time at which the controller began, from which it counts its periods. None: the first submission.
    whole_seconds : bool, optional
        Whether all happens at whole seconds, so that nothing is drawn.

    Examples
    --------
    >>> from schedlab.models.site import Partition, SchedulerSettings, Site, SiteNode
    >>> from schedlab.simulation.slurm.jobs import SlurmAttempt, SlurmJob
    >>> from schedlab.models.dispatch.jobs import SiteRequest
    >>> site = Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",), default=True)],
    ...             scheduler=SchedulerSettings(sched_interval=1, select_parameters=("cr_cpu",)))
    >>> job = SlurmJob("1", "ana", 0, 60, SiteRequest(cpus=4), attempts=(SlurmAttempt(0, 30, ("n1",)),))
    >>> other = SlurmJob("2", "ana", 5, 60, SiteRequest(cpus=4), attempts=(SlurmAttempt(31, 61, ("n1",)),))
    >>> [start.job for start in SlurmReplay(site, [job, other]).run()]
    [0, 1]
    """

    site: Site
    jobs: Sequence[SlurmJob]
    events: Sequence[NodeEvent] | None = None
    seed: int = 0
    begin: int | None = None
    whole_seconds: bool = False
    state: SlurmState = field(init=False)
    starts: list[SlurmStart] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        first = min((job.submit for job in self.jobs), default=0)
        last = max(
            [job.submit for job in self.jobs] + [a.end for job in self.jobs for a in job.attempts], default=first
        )
        self._changes = node_changes(self.site, self.events, self.jobs)
        begin = first if self.begin is None else self.begin
        self.state = SlurmState(self.site, self.jobs, begin, last)
        random = np.random.default_rng(self.seed)
        size = len(self.jobs)
        self._within: Ints = random.integers(0, SECOND, size)  # ms: the submission in its second
        self._more: Ints = random.integers(-SECOND // 4, SECOND // 4, size)  # ms: a run beyond its whole seconds
        settings = self.state.settings
        periods = np.array([max(1, settings.sched_interval), max(1, settings.bf_interval)]) * SECOND
        main, backfill = ((self.seed + 0.5) * SPREAD % 1 * periods).astype(np.int64).tolist()  # ms since they began
        self._until: dict[int, int] = {}  # running job: its end in ms
        self._begun_at: dict[int, int] = {}  # job: the start of its last run in s
        self._ran_before: Ints = np.zeros(size, np.int64)  # s: in runs after which it was requeued
        self._heap: list[tuple[int, What, int, int]] = []
        if self.whole_seconds:
            self._within[:] = 0
            self._more[:] = 0
            main = backfill = 0
        self._times = PassTimes(self.state.settings, begin * SECOND, SECOND, (main, backfill))
        self._codes = np.zeros(size, np.int64)
        self._coming = 0  # events in the heap other than passes
        self._idle_updates = 0
        self._next_begin = begin - 1  # the next begin time of a job, for which an event is planned
        self._update = begin  # the last update of the priorities that is planned

    # --- Time.

    def _add(self, time: int, what: What, subject: int = -1, number: int = 0) -> None:
        heapq.heappush(self._heap, (time, what, subject, number))
        self._coming += what not in PASSES

    def run(self) -> list[SlurmStart]:
        """Run the replay; return the starts in order."""
        for k, job in enumerate(self.jobs):
            self._add(job.submit * SECOND + int(self._within[k]), What.SUBMIT, k)
            if job.cancelled is not None:
                self._add(job.cancelled * SECOND, What.CANCEL, k)
            for attempt in job.attempts[:-1]:
                if attempt.state == "REQUEUED":
                    self._add(attempt.end * SECOND, What.REQUEUE, k)
        for n, change in enumerate(self._changes):
            self._add(change.time * SECOND, What.NODE, change.node, n)
        for row in self.state.tables.reservations:
            self._add(int(row[0]) * SECOND, What.BEGIN)
            self._add(int(row[1]) * SECOND, What.BEGIN)
        left = len(self.jobs)
        while self._heap and left:
            time, what, subject, number = heapq.heappop(self._heap)
            self._coming -= what not in PASSES
            left -= self._happens(time, what, subject, number)
        return self.starts

    def _plan_passes(self, time: int) -> None:
        """Plan the next passes, as something has changed."""
        for each in self._times.after_change(time):
            self._add(each.time, What.BACKFILL if each.backfill else What.MAIN, number=int(each.whole_queue))

    def _happens(self, time: int, what: What, subject: int, number: int) -> int:
        """Let an event happen; return 1 if a job left."""
        state = self.state
        now = time // SECOND
        if what == What.END and self._until.get(subject) != time:
            return 0  # that run has ended early
        if what != What.END:  # the usage of jobs that end is counted before it decays
            state.advance(now)
        if what == What.MAIN:
            self._times.main_runs(time)
            self._begun(state.main(now, whole_queue=number > 0), time)
            for victim in state.preempt(now):
                self._add(max(time, victim.end * SECOND), What.PREEMPT, victim.job, int(victim.requeued))
            return 0
        if what == What.BACKFILL:
            self._times.backfill_runs()
            self._begun(state.backfill(now), time)
            if self._overdue(time):
                self._plan_passes(time + 1)
            return 0
        gone = self._other(time, now, what, subject, number)
        if state.waiting:
            self._plan_passes(time)
            self._plan_update(time)
            if state.next_begin is not None and state.next_begin != self._next_begin:
                self._next_begin = state.next_begin
                self._add(max(time, state.next_begin * SECOND), What.BEGIN)
        return gone

    def _plan_update(self, time: int) -> None:
        """Plan the next update of the priorities, once."""
        update = self.state.priorities.next_update
        if self.state.priorities.ages and update > self._update and not self._over():
            self._update = update
            self._add(max(time, update * SECOND), What.BEGIN)

    def _over(self) -> bool:
        """Whether the jobs that wait never start: nothing runs, nothing comes, and other orders of the queue did not help."""
        self._idle_updates = 0 if self._until or self._coming else self._idle_updates + 1
        return self._idle_updates > MOST_IDLE_UPDATES

    def _other(self, time: int, now: int, what: What, subject: int, number: int) -> int:
        state = self.state
        if what == What.SUBMIT and state.state[subject] != ENDED:
            state.submit(subject, now)
        elif what == What.END:
            del self._until[subject]
            attempts = self.jobs[subject].attempts
            state.end(subject, now, attempts[-1].state if attempts else "TIMEOUT")
            return 1
        elif what == What.CANCEL:
            return self._cancel(subject, now)
        elif what == What.PREEMPT and state.state[subject] == RUNNING:
            if not number:
                self._until.pop(subject, None)
                state.end(subject, now, "PREEMPTED")
                return 1
            self._requeue(subject, time)
        elif what == What.REQUEUE:
            self._requeue(subject, time)
        elif what == What.NODE:
            return self._node(self._changes[number], time)
        return 0

    def _overdue(self, time: int) -> bool:
        """Whether a job runs beyond its limit, so that the end that is expected of it changes with time."""
        tables = self.state.tables
        return bool((tables.runs[: tables.counts[0], c.RUN_END] < time // SECOND).any())

    def _begun(self, starts: list[SlurmStart], time: int) -> None:
        reason = self.state.tables.reason
        waits = reason > 0
        self._codes[waits] = reason[waits]
        for start in starts:
            self.starts.append(start)
            self._begun_at[start.job] = start.time
            job = self.jobs[start.job]
            self._until[start.job] = time + self._duration(start.job)
            self._add(self._until[start.job], What.END, start.job)
            if job.cancelled is not None:
                self._add(max(time, job.cancelled * SECOND), What.CANCEL, start.job)
        if starts and self.state.waiting:
            self._plan_passes(time + 1)

    def _duration(self, job: int) -> int:
        """Return how long a run of a job takes in ms: as its last recorded one, unless that was cut short."""
        each = self.jobs[job]
        if not each.attempts or each.attempts[-1].state == "CANCELLED":
            return int(self.state.tables.job[job, c.LIMIT]) * SECOND
        last = each.attempts[-1]
        runtime = (last.end - last.start) * SECOND + int(self._more[job])
        part = int(self.state.tables.runs[self.state.tables.row_of[job], c.RUN_PARTITION])
        over = int(self.state.tables.parts[part, c.OVER_LIMIT]) + CHECKED
        return max(1, min(runtime, (int(self.state.tables.job[job, c.LIMIT]) + over) * SECOND))

    def _cancel(self, job: int, now: int) -> int:
        state = self.state
        if state.state[job] == WAITING:
            state.cancel(job, now)
            return 1
        if state.state[job] == RUNNING:
            self._until.pop(job, None)
            state.end(job, now, "CANCELLED")
            return 1
        return 0

    def _requeue(self, job: int, time: int) -> None:
        if self.state.state[job] != RUNNING:
            return
        now = time // SECOND
        self._until.pop(job, None)
        self._ran_before[job] += now - self._begun_at[job]
        self.state.end(job, now, "REQUEUED", requeued=True)
        self.state.submit(job, now, now + REQUEUE_DELAY)

    def _node(self, change: NodeChange, time: int) -> int:
        """Let the state of a node change; return how many jobs left."""
        state = self.state
        state.set_node(change.node, change.up)
        if not change.kills:
            return 0
        gone = 0
        tables = state.tables
        for job in list(tables.row_of):
            if (tables.pieces_of(job)[:, c.PIECE_NODE] == change.node).any():
                if self.jobs[job].request.requeue is not False and state.settings.job_requeue:
                    self._requeue(job, time)
                else:
                    self._until.pop(job, None)
                    state.end(job, time // SECOND, "NODE_FAIL")
                    gone += 1
        return gone

    def why(self, job: int) -> str:
        """Return why a job waited last, with Slurm's name; ``"None"`` if it did not wait for anything."""
        return self.state.held[job] or reason_of(int(self._codes[job]))

    def waits(self) -> Floats:
        """Return the seconds that each job waited before all its runs, as ``SlurmJob.wait``; NaN if it did not start."""
        waited = np.full(len(self.jobs), np.nan)
        for job, start in self._begun_at.items():
            waited[job] = start - self.jobs[job].submit - self._ran_before[job]
        return waited

    def first_starts(self) -> Floats:
        """Return the first start of each job in Unix time; NaN if it did not start."""
        first = np.full(len(self.jobs), np.nan)
        for start in reversed(self.starts):
            first[start.job] = start.time
        return first
