"""On-demand jobs in a replay: claims of nodes, evictions, and starts.

At one time jobs end first, then batch jobs arrive, then states of nodes change, then jobs leave that have written their
checkpoints, others begin to write, jobs are killed, on-demand jobs are announced and the evictor decides. Then on-demand
jobs start that have all their nodes, in the order of their announcement, and the dispatcher decides.

Free nodes are kept for on-demand jobs in the order of their announcement. Nodes of a job that leaves are for the
on-demand job that caused it. An on-demand job whose node fails waits again, for its whole duration, and is due within its
deadline from then on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.events.entries import advance, begin, end_now, keep_places
from ....heuristics.kernels.events.state import ENDED, NOW, RUNNING, STARTED, STOP, State
from ....heuristics.kernels.profile import NEVER
from ....models import Running
from ....models.node_states.timeline import Change
from ..production.agenda import Agenda
from ..production.changes import changes_of as changes_of_server
from ..simulation import SimulationError
from ..states.attempts import Attempt
from ..states.node_changes import NodeChanges
from .decision import RunningJob, departures_of, problem_of
from .plan import PreemptionPlan
from .record import Departure, EvictionDecision
from .waiting import Leaving, WaitingJob

if TYPE_CHECKING:
    from ..live_jobs import LiveJobs
    from ..progress import ReplayPlan

LEAVE, WRITE, KILL, SUBMIT, ANNOUNCE, DECIDE = range(6)  # the order of what happens at one time


def changes_of(plan: ReplayPlan, state: State) -> NodeChanges:
    """Return the changes of a replay."""
    return changes_of_server(plan, state) if plan.preemption is None else Preempting(plan, plan.preemption, state)


class Preempting(NodeChanges):
    """The changes of one replay with on-demand jobs; see ``NodeChanges`` and the module docstring.

    ``attach`` must be called before the first step.
    """

    def __init__(self, plan: ReplayPlan, preemption: PreemptionPlan, state: State) -> None:
        self.agenda, self.preemption, self.settings = Agenda(), preemption, preemption.settings
        self.on_demand = dict(zip(preemption.rows, self.settings.jobs, strict=True))
        self.waiting: list[WaitingJob] = []
        self.leaving: dict[int, Leaving] = {}
        self.running: set[int] = set()  # rows of on-demand jobs
        nodes = len(plan.platform.nodes)
        self.pool = np.zeros(nodes, np.bool_)  # the reserved nodes
        self.pool[nodes - self.settings.reserved :] = True
        self.pool_free = self.pool.copy()
        super().__init__(plan, state)
        self.quiet = False

    def attach(self, jobs: LiveJobs, fixed: bool) -> None:
        """Connect the changes with the waiting and running jobs of the replay."""
        self.jobs = jobs
        self.state.free[self.pool] -= self.plan.trace.capacity[self.pool]
        for j, job in self.on_demand.items():
            at = max(job.announced, self.plan.workload.begin or 0)
            waits = WaitingJob(j, job, job.latest_start)
            self.agenda.add(at, ANNOUNCE, lambda w=waits: self._announce(w))  # type: ignore[misc]
            self.agenda.add(job.submit, SUBMIT, lambda: None)  # an event: it may start now
        self._stop()

    def _stop(self) -> None:
        super()._stop()
        self.state.clock[STOP] = min(self.state.clock[STOP], self.agenda.next_time())

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])

    def go(self) -> bool:
        """Go to the next change and apply it; return False if there is none that matters."""
        due, change = self.agenda.next_time(), self.pending()
        if change is not None and change.time <= due and (due < NEVER or self.waiting):
            self._take(change)
        elif due < NEVER:
            advance(self.plan.trace, self.state, max(due, self.now))
        elif not super().go():
            return False
        self._note_ends()
        self.agenda.run(self.now)
        self._stop()
        return True

    def settle(self, arrived: Sequence[int]) -> list[int]:
        """Give free nodes to the on-demand jobs, and start those that have all."""
        self._note_ends()
        for waits in list(self.waiting):
            self._claim_free(waits)
            if waits.missing == 0 and self.now >= waits.job.submit:
                self._start(waits)
        return []

    def _note_ends(self) -> None:
        """Note the jobs that have ended: their nodes go to the job that they were to leave for, or to the reserve."""
        for j in self.state.ended[: self.state.clock[ENDED]].tolist():
            gone = self.leaving.pop(j, None)
            if gone is not None:
                self._claim(gone.owner, self._nodes(j))
            if j in self.running:
                self.running.remove(j)
                self._to_pool(self._nodes(j))

    def _nodes(self, j: int) -> list[int]:
        first = int(self.plan.trace.first[j])
        return [int(n) for n in self.state.place[first : first + int(self.state.pieces[j])]]

    def _to_pool(self, nodes: list[int]) -> None:
        """Withdraw the reserved ones of these free nodes from the batch jobs."""
        for n in nodes:
            if self.pool[n] and not self.pool_free[n]:
                self.state.free[n] -= self.plan.trace.capacity[n]
                self.pool_free[n] = True

    def _free(self) -> list[int]:
        """Return the free nodes, the reserved ones first."""
        own = np.flatnonzero(self.pool_free & ~self.blocked)
        others = np.flatnonzero((self.state.free == self.plan.trace.capacity).all(axis=1))
        return [*own.tolist(), *others.tolist()]

    def _claim_free(self, waits: WaitingJob) -> None:
        if waits.missing:
            self._claim(waits, self._free())

    def _claim(self, waits: WaitingJob, nodes: list[int]) -> None:
        """Keep free nodes for an on-demand job, as many as it lacks; none if it has started."""
        if waits not in self.waiting:
            return
        for n in [n for n in nodes if not self.blocked[n]][: waits.missing]:
            if self.pool_free[n]:
                self.pool_free[n] = False
            else:
                self.state.free[n] -= self.plan.trace.capacity[n]
            waits.claimed.append(n)

    def _start(self, waits: WaitingJob) -> None:
        """Start an on-demand job on the nodes that are kept for it; jobs that have not begun to write stay."""
        plan, state, j, now = self.plan, self.state, waits.row, self.now
        nodes = sorted(waits.claimed)
        state.free[nodes] += plan.trace.capacity[nodes]
        state.chosen[: len(nodes)], state.put[: len(nodes)] = nodes, 1
        state.expected[j] = waits.job.duration
        keep_places(plan.trace, state, j, len(nodes))
        begin(plan.trace, state, j)
        names = plan.platform.nodes
        job = plan.workload.waiting_job(j)
        self.jobs.row[job.id] = j
        self.jobs.running[j] = Running(job, now, {names[n]: 1 for n in nodes}, now + waits.job.duration)
        self.jobs.expected[job.id] = waits.job.duration
        self.waiting.remove(waits)
        self.running.add(j)
        self.preemption.first_start.setdefault(j, now)
        for k, gone in list(self.leaving.items()):
            if gone.owner is waits and gone.stop > now:
                del self.leaving[k]

    def _announce(self, waits: WaitingJob) -> None:
        self.waiting.append(waits)
        self._decide(waits)

    def _decide(self, waits: WaitingJob) -> None:
        """Let the evictor decide about the nodes that an on-demand job lacks."""
        if waits not in self.waiting:
            return
        for earlier in self.waiting:
            self._claim_free(earlier)
        now, plan = self.now, self.plan
        coming = sum(int(plan.workload.units[k]) for k, gone in self.leaving.items() if gone.owner is waits)
        needed = waits.missing - coming
        if needed <= 0 or now > waits.due:
            return
        rows = sorted(self.state.running[: self.state.clock[RUNNING]].tolist())
        jobs = [
            RunningJob(j, plan.workload.ids[j], int(plan.workload.units[j]), start, now - start - self._restart(j))
            for j in rows
            if j not in self.on_demand and j not in self.leaving
            for start in [int(self.state.start[j])]
        ]
        busy = max((gone.end - now for gone in self.leaving.values() if gone.strategy != "kill"), default=0)
        checkpoints, settings = self.preemption.checkpoints, self.settings
        problem = problem_of(jobs, checkpoints, settings, needed, now, waits.due - now, busy)
        began = time.perf_counter()
        decided = None if problem is None else settings.evictor.decide(problem)
        seconds = time.perf_counter() - began
        self.preemption.decisions.append(EvictionDecision(waits.job.id, now, busy, problem, decided, seconds))
        if problem is None or decided is None:
            return
        faults = problem.verify(decided)
        if faults:
            raise SimulationError(
                f"evictor {settings.evictor.name} at {now}, for on-demand job {waits.job.id!r}: {faults[0].message}",
                job=waits.job.id,
                time=now,
            )
        kill_at = max(now, waits.job.submit)
        for r, what, stop, write, end in departures_of(decided, problem, jobs, checkpoints, now, busy, kill_at):
            gone = Leaving(r.row, waits, what, now, stop, write, end)
            self.leaving[r.row] = gone
            if what == "kill":
                self.agenda.add(end, KILL, lambda g=gone: self._leave(g))  # type: ignore[misc]
            else:
                self.agenda.add(stop, WRITE, lambda g=gone: self._hold(g))  # type: ignore[misc]
                self.agenda.add(end, LEAVE, lambda g=gone: self._leave(g))  # type: ignore[misc]

    def _restart(self, j: int) -> int:
        """Return the seconds at the begin of the attempt of running job j in which it makes no progress."""
        return self.settings.restart if self.plan.log.counts[j] else 0

    def _hold(self, gone: Leaving) -> None:
        """Keep a job from ending before it has written its checkpoint: it makes no progress from now on."""
        state = self.state
        n = int(state.clock[RUNNING])
        if self.leaving.get(gone.row) is not gone:
            return
        state.ends[:n][state.end_of[:n] == gone.row] = NEVER
        order = np.argsort(state.ends[:n], kind="stable")  # a sorted array is a heap
        state.ends[:n], state.end_of[:n] = state.ends[:n][order], state.end_of[:n][order]

    def _leave(self, gone: Leaving) -> None:
        """Let a job leave with the work of its checkpoint, and give its nodes to the on-demand job."""
        j = gone.row
        if self.leaving.get(j) is not gone:
            return
        worked = max(0, gone.stop - int(self.state.start[j]) - self._restart(j))
        kept = self.preemption.checkpoints.taken(j, worked) if gone.strategy == "kill" else worked
        number, nodes = self.plan.log.counts[j] + 1, self._nodes(j)
        self.put_back(j, f"evicted ({gone.strategy}): {gone.owner.job.id}", kept, self.now)
        self.preemption.departures.append(
            Departure(j, number, gone.owner.job.id, gone.strategy, gone.decided, gone.stop, gone.write, gone.end)
        )
        self._claim(gone.owner, nodes)

    def kept(self, j: int, ran: int) -> int | None:
        """Return the work at the last checkpoint of a job whose node fails."""
        if j in self.on_demand:
            return 0
        worked = ran - self._restart(j)
        gone = self.leaving.get(j)
        if gone is not None and gone.strategy != "kill":
            worked = min(worked, gone.stop - int(self.state.start[j]) - self._restart(j))
        return self.preemption.checkpoints.taken(j, worked)

    def put_back(self, j: int, why: str, kept: int, time: int) -> None:
        """End running job j now; a batch job comes back into the queue, an on-demand job waits for nodes again."""
        gone, first = self.leaving.pop(j, None), not self.plan.log.counts[j]
        if j in self.on_demand:
            self._fail_on_demand(j, why, time)
            return
        super().put_back(j, why, kept, time)
        if first and self.settings.restart:
            self.plan.trace.runtime[j] += self.settings.restart
            self.state.expected[j] += self.settings.restart
            self.shortened = True
        if gone is not None and gone.owner in self.waiting and not why.startswith("evicted"):
            self.agenda.add(self.now, DECIDE, lambda: self._decide(gone.owner))

    def _fail_on_demand(self, j: int, why: str, time: int) -> None:
        plan, state = self.plan, self.state
        job, start, nodes = self.on_demand[j], int(state.start[j]), self._nodes(j)
        (on,) = self.nodes_of(j)
        self.failed.append(j)
        self.running.remove(j)
        end_now(plan.trace, state, j)
        plan.log.add(j, Attempt(job.id, plan.log.counts[j] + 1, start, time, on, why, 0))
        state.start[j] = -1
        state.clock[STARTED] -= 1
        self._to_pool(nodes)
        again = WaitingJob(j, job, time + job.deadline)
        self.agenda.add(time, ANNOUNCE, lambda: self._announce(again))

    def _apply(self, change: Change) -> None:
        super()._apply(change)
        for waits in self.waiting:
            lost = [n for n in waits.claimed if self.blocked[n]]
            if lost:
                waits.claimed = [n for n in waits.claimed if not self.blocked[n]]
                self.state.free[lost] += self.plan.trace.capacity[lost]
                self._to_pool(lost)
                self.agenda.add(self.now, DECIDE, lambda w=waits: self._decide(w))  # type: ignore[misc]
