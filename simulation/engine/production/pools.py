"""The waiting jobs that no dispatcher sees: those of stopped queues and those of private queues."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.events.state import EARLY, NOW, SORTED, WAITING, State
from .calendars import hours_of
from .plan import ProductionPlan

if TYPE_CHECKING:
    from ..live_jobs import LiveJobs
    from ..progress import ReplayPlan


class Pools:
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

    def __init__(self, plan: ReplayPlan, state: State, jobs: LiveJobs, production: ProductionPlan) -> None:
        self.plan, self.state, self.jobs = plan, state, jobs
        self.private_queues = production.private
        self.stopped: dict[str, int] = {}
        self.of_stopped: dict[int, None] = {}
        self.private: dict[int, None] = {}
        self._back: list[int] = []

    def queue_of(self, j: int) -> str:
        """Return the name of the queue of job j."""
        w = self.plan.workload
        return w.queues[int(w.queue[j])].name

    def sort_in(self, arrived: Iterable[int]) -> None:
        """Move the jobs that have arrived to the set of their queue."""
        arrived = list(arrived)
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
                self._back.append(j)
            else:
                target[j] = None

    def waiting_in(self, queue: str) -> list[int]:
        """Return the rows of the waiting jobs of a queue."""
        return [j for s in (self.jobs.waiting, self.of_stopped, self.private) for j in s if self.queue_of(j) == queue]

    def is_waiting(self, j: int) -> bool:
        """Return whether job j waits."""
        return any(j in s for s in (self.jobs.waiting, self.of_stopped, self.private)) or j in self._back

    def remove(self, j: int) -> None:
        """Remove a waiting job for good."""
        self.of_stopped.pop(j, None)
        self.private.pop(j, None)
        if j in self._back:
            self._back.remove(j)
        if j in self.jobs.waiting:
            self._withdraw([j])

    def _withdraw(self, rows: Collection[int]) -> None:
        """Take jobs out of the queue that dispatchers see."""
        if not rows:
            return
        state, clock, jobs = self.state, self.state.clock, self.jobs
        n = int(clock[WAITING])
        kept = ~np.isin(state.waiting[:n], list(rows))
        clock[SORTED] = int(kept[: clock[SORTED]].sum())
        left = state.waiting[:n][kept]
        state.waiting[: left.size], clock[WAITING] = left, left.size
        clock[EARLY] += 1  # reservations of other jobs may move to earlier times
        for j in rows:
            self.count(j, -1)
            state.reserved[j] = -1
            jobs.expected.pop(jobs.dequeue(j).id, None)
            jobs.plans.remove(j)

    def count(self, j: int, sign: int) -> None:
        """Count job j (sign 1), or count it no longer (-1), among the waiting jobs of its calendars."""
        for c in (int(self.plan.trace.own[j]), int(self.plan.trace.daily[j])):
            if c >= 0:
                self.state.opened[c] += sign

    def take_calendar(self, j: int) -> None:
        """Give waiting job j the calendar of its queue and walltime, which have changed."""
        w, trace, seen = self.plan.workload, self.plan.trace, j in self.jobs.waiting
        if seen:
            self.count(j, -1)
        trace.daily[j] = self.plan.calendars[hours_of(w, j)]
        if seen:
            self.count(j, 1)

    def take_back(self) -> list[int]:
        """Return the jobs that come back into the queue; the caller adds them to its waiting jobs and sorts these."""
        back, self._back = self._back, []
        for j in back:
            self.count(j, 1)
        self.state.clock[WAITING] += len(back)
        return back

    def finish(self) -> None:
        """Add the jobs of stopped queues to the waiting jobs, with the reason why they wait."""
        clock = self.state.clock
        for j in self.of_stopped:
            queue = self.queue_of(j)
            self.plan.held_back[j] = f"its queue {queue!r} is stopped since {self.stopped[queue]}"
            self.state.waiting[clock[WAITING]] = j
            clock[WAITING] += 1
        self.of_stopped = {}

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])
