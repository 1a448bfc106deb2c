"""The waiting jobs that no dispatcher sees: those of stopped queues and those of private queues; and the calendars of jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...heuristics.kernels.events.state import EARLY, WAITING, TraceArrays
from ...instances.workload import Workload
from ...models import Queue
from ...models.dispatch.jobs import DAY, Window
from ...models.production import ServerEvent
from .feature import Replay

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
        j = row.get(event.subject, -1) if event.kind in ("move", "walltime") else -1
        if j >= 0:
            queues[j] |= {jobs.queues[int(jobs.queue[j])].name} | (
                {str(event.value)} if event.kind == "move" else set()
            )
            walltimes[j] |= {int(jobs.walltime[j])} | ({int(event.value or 0)} if event.kind == "walltime" else set())
    found = {(bool(index[q].daily), index[q].hours(w)) for j in queues for q in queues[j] for w in walltimes[j]}
    listed = sorted(hours for limited, hours in found if limited)
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
        self._engine, self.private_queues, self._calendars = engine, private, calendars
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
            found = self._set_of(j)
            assert found is not None
            found[j] = None

    def _set_of(self, j: int) -> dict[int, None] | None:
        """Return the set of the jobs of its queue; None: they are for the dispatcher."""
        queue = self.queue_of(j)
        if queue in self.private_queues:
            return self.private
        return self.of_stopped if queue in self.stopped else None

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
