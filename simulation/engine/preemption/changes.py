"""On-demand jobs in a replay: evictions, and starts.

At one time jobs end first, then batch jobs arrive, then states of nodes change, then jobs leave that have written their
checkpoints, others begin to write, jobs are killed, on-demand jobs are announced and the evictor decides. Then follow
reservations and server events. Then on-demand jobs start that have all their nodes, in the order of their announcement,
and the dispatcher decides.

Free nodes are kept for on-demand jobs in the order of their announcement (``claims``). Nodes of a job that leaves are for
the on-demand job that caused it. An on-demand job whose node fails waits again, for its whole duration, and is due within
its ``start_within`` from then on. Batch jobs are identified by their rows in the workload, also those that run at the begin of
the replay (``begun``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....errors import SchedlabError
from ....heuristics.kernels.events.entries import begin, end_now, keep_places
from ....heuristics.kernels.events.state import ENDED, NOW, RUNNING, STARTED, State
from ....heuristics.kernels.profile import NEVER
from ....models import Eviction, EvictionPlan, Running
from ....models.excerpt import excerpt
from ....models.node_states.timeline import Change
from ...preemption.evictors import Evictor
from ..production.agenda import Agenda
from ..production.bookings import Use
from ..production.changes import ProductionChanges
from ..production.plan import ProductionPlan
from ..simulation import SimulationError
from ..states.attempts import Attempt
from ..states.node_changes import NodeChanges
from ..states.requeue import kept_by
from .begun import rows_of_begun
from .claims import Claims
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
    if plan.preemption is not None:
        return Preempting(plan, plan.preemption, state)
    return NodeChanges(plan, state) if plan.production is None else ProductionChanges(plan, plan.production, state)


class Preempting(ProductionChanges):
    """The changes of one replay with on-demand jobs; see ``NodeChanges`` and the module docstring.

    ``attach`` must be called before the first step. ``leaving``: row of a batch job -> its departure. ``urgent``: rows of
    the on-demand jobs that run. ``evictions``: what happens later to jobs that leave, and to on-demand jobs.
    """

    def __init__(self, plan: ReplayPlan, preemption: PreemptionPlan, state: State) -> None:
        self.evictions, self.preemption, self.settings = Agenda(), preemption, preemption.settings
        self.on_demand = dict(zip(preemption.rows, self.settings.jobs, strict=True))
        self.leaving: dict[int, Leaving] = {}
        self.urgent: set[int] = set()
        self.begun = rows_of_begun(plan.workload, preemption.begun)
        self._row: list[int] = [*range(len(plan.workload)), *self.begun]  # of each number in the state
        self._index = {row: len(plan.workload) + i for i, row in enumerate(self.begun)}  # of the first attempts
        super().__init__(plan, plan.production or ProductionPlan.empty(), state)

    def attach(self, jobs: LiveJobs, fixed: bool) -> None:
        """Connect the changes with the waiting and running jobs of the replay."""
        super().attach(jobs, fixed)
        self.jobs = jobs
        self.claims = Claims(self.plan, self.state, self.bookings, lambda: self.blocked, self.settings.reserved)
        self.waiting = self.claims.waiting
        for j, job in self.on_demand.items():
            at = max(job.announced, self.plan.workload.begin or 0)
            waits = WaitingJob(j, job, job.latest_start)
            self.evictions.add(at, ANNOUNCE, lambda w=waits: self._announce(w))  # type: ignore[misc]
            self.evictions.add(job.submit, SUBMIT, lambda: None)  # an event: it may start now
        self._stop()

    def next_action(self) -> int:
        """Return the time of the next action; NEVER if there is none."""
        return min(super().next_action(), self.evictions.next_time())

    def idle(self) -> bool:
        """Return whether no job runs, waits, or is to come."""
        return super().idle() and not self.waiting

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])

    def go(self) -> bool:
        """Go to the next change and apply it; return False if there is none that matters."""
        if not super().go():
            return False
        self._note_ends()
        self.evictions.run(self.now)
        self._stop()
        return True

    def settle(self, arrived: Sequence[int]) -> list[int]:
        """Let server events happen, give free nodes to the on-demand jobs, and start those that have all."""
        back = super().settle(arrived)
        self._note_ends()
        for waits in list(self.waiting):
            self.claims.take(waits)
            if self.claims.can_start(waits):
                self._start(waits)
        self._stop()
        return back

    def _note_ends(self) -> None:
        """Note the jobs that have ended: their nodes go to the job that they were to leave for, or to the reserve."""
        for j in self.state.ended[: self.state.clock[ENDED]].tolist():
            row = self.row_of(j)
            gone = self.leaving.pop(row, None)
            self.urgent.discard(row)
            if gone is not None:
                self.claims.take_of(gone.owner, self._nodes(j))
            if self.settings.reserved:
                self.claims.to_reserve(self._nodes(j))

    def row_of(self, j: int) -> int:
        """Return the row in the workload of job j of the state."""
        return self._row[j]

    def start_of(self, j: int) -> int:
        """Return the start of running job j in seconds, of a first attempt from before the begin that of its job."""
        row = self.row_of(j)
        return int(self.state.start[j]) if j == row else self.begun[row].start

    def index_of(self, row: int) -> int:
        """Return the number in the state of the running job of a row."""
        return row if self.plan.log.counts[row] else self._index.get(row, row)

    def _nodes(self, j: int) -> list[int]:
        return [int(n) for n in self.places_of(j)]

    def bookable(self) -> NDArray[np.bool_]:
        """Return the nodes that reservations may have: not those of the reserve for on-demand jobs."""
        return super().bookable() & ~self.claims.reserve

    def kept_free(self) -> Iterable[Use]:
        """Return what is kept free for on-demand jobs, and what they get of the jobs that leave."""
        yield from self.claims.uses()
        names = self.plan.platform.nodes
        for row, gone in self.leaving.items():
            nodes = {names[n]: 1 for n in self._nodes(self.index_of(row))}
            yield nodes, self.plan.platform.groups[0].capacity, gone.end, self.claims.over(gone.owner)

    def unchangeable(self, j: int) -> str:
        """Return why no server event may change job j now; an empty text if it may."""
        name, gone = self.plan.workload.ids[j], self.leaving.get(j)
        if j in self.on_demand:
            return f"job {name!r} is an on-demand job"
        return "" if gone is None else f"job {name!r} leaves for on-demand job {gone.owner.job.id!r}"

    def _decide_again(self, gone: Leaving | None) -> None:
        """Decide again for the on-demand job for which a job was to leave that has ended otherwise."""
        if gone is not None and gone.owner in self.waiting:
            self.evictions.add(self.now, DECIDE, lambda: self._decide(gone.owner))

    def _start(self, waits: WaitingJob) -> None:
        """Start an on-demand job on the nodes that are kept for it; jobs that have not begun to write stay."""
        plan, state, j, now = self.plan, self.state, waits.row, self.now
        nodes = self.claims.release(waits)
        places = nodes if self.claims.power is None else [*nodes, len(plan.platform.nodes)]
        state.chosen[: len(places)], state.put[: len(places)] = places, 1
        state.expected[j] = waits.job.duration
        keep_places(plan.trace, state, j, len(places))
        begin(plan.trace, state, j)
        names = plan.platform.nodes
        job = plan.workload.waiting_job(j)
        self.jobs.row[job.id] = j
        self.jobs.running[j] = Running(job, now, {names[n]: 1 for n in nodes}, now + waits.job.duration)
        self.jobs.expected[job.id] = waits.job.duration
        self.urgent.add(j)
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
            self.claims.take(earlier)
        now, plan = self.now, self.plan
        coming = [k for k, gone in self.leaving.items() if gone.owner is waits]
        needed = waits.missing - sum(int(plan.workload.units[k]) for k in coming)
        if (needed <= 0 and self.claims.lacking_power(waits, coming) <= 0) or now > waits.due:
            return
        jobs = self._candidates(waits)
        busy = max((gone.end - now for gone in self.leaving.values() if gone.strategy != "kill"), default=0)
        checkpoints, settings = self.preemption.checkpoints, self.settings
        row, needed, began, enough = {r.id: r.row for r in jobs}, max(1, needed), time.perf_counter(), False
        while not enough:  # while the jobs that leave take too little power, more nodes than needed are freed
            problem = problem_of(jobs, checkpoints, settings, needed, now, waits.due - now, busy)
            decided = None if problem is None else self._plan_of(settings.evictor, problem, waits)
            gone = [row[name] for name, what in decided.strategy.items() if what != "keep"] if decided else []
            enough = decided is None or self.claims.lacking_power(waits, [*coming, *gone]) <= 0
            needed = 1 + sum(int(plan.workload.units[k]) for k in gone)
        seconds = time.perf_counter() - began
        self.preemption.decisions.append(EvictionDecision(waits.job.id, now, busy, problem, decided, seconds))
        if problem is None or decided is None:
            return
        kill_at = max(now, waits.job.submit)
        for r, what, stop, write, end in departures_of(decided, problem, jobs, checkpoints, now, busy, kill_at):
            self._send_away(Leaving(r.row, waits, what, now, stop, write, end))

    def _plan_of(self, evictor: Evictor, problem: Eviction, waits: WaitingJob) -> EvictionPlan | None:
        """Return the plan of an evictor, verified; None: no job leaves. Raises SimulationError."""
        who = f"evictor {evictor.name} at {self.now}, for on-demand job {waits.job.id!r}"
        try:
            plan = evictor.decide(problem)
        except SchedlabError:
            raise
        except Exception as e:
            raise SimulationError(f"{who}: it raised {type(e).__name__}: {e}", waits.job.id, time=self.now) from e
        if plan is None:
            return None
        if not isinstance(plan, EvictionPlan):
            why = f"it returned {excerpt(plan)}; expected an EvictionPlan, or None: no job leaves"
            raise SimulationError(f"{who}: {why}", waits.job.id, time=self.now)
        faults = problem.verify(plan)
        if faults:
            raise SimulationError(f"{who}: {faults[0].message}", waits.job.id, time=self.now)
        return plan

    def _candidates(self, waits: WaitingJob) -> list[RunningJob]:
        """Return the batch jobs that may leave for an on-demand job: not those on nodes that are reserved before it is over."""
        w, held = self.plan.workload, self.claims.reserved_before(waits)
        found = []
        for j in sorted(self.state.running[: self.state.clock[RUNNING]].tolist()):
            row, start = self.row_of(j), self.start_of(j)
            free = row not in self.on_demand and row not in self.leaving
            if free and (held is None or not held[self._nodes(j)].any()):
                worked = self.now - start - self._restart(row)
                found.append(RunningJob(row, w.ids[row], int(w.units[row]), start, worked))
        return found

    def _send_away(self, gone: Leaving) -> None:
        """Plan the departure of a job."""
        self.leaving[gone.row] = gone
        if gone.strategy == "kill":
            self.evictions.add(gone.end, KILL, lambda: self._leave(gone))
        else:
            self.evictions.add(gone.stop, WRITE, lambda: self._hold(gone))
            self.evictions.add(gone.end, LEAVE, lambda: self._leave(gone))

    def _restart(self, row: int) -> int:
        """Return the seconds at the begin of the attempt of a running job in which it makes no progress."""
        return self.settings.restart if self.plan.log.counts[row] else 0

    def _hold(self, gone: Leaving) -> None:
        """Keep a job from ending before it has written its checkpoint: it makes no progress from now on."""
        state = self.state
        n = int(state.clock[RUNNING])
        if self.leaving.get(gone.row) is not gone:
            return
        state.ends[:n][state.end_of[:n] == self.index_of(gone.row)] = NEVER
        order = np.argsort(state.ends[:n], kind="stable")  # a sorted array is a heap
        state.ends[:n], state.end_of[:n] = state.ends[:n][order], state.end_of[:n][order]

    def _leave(self, gone: Leaving) -> None:
        """Let a job leave with the work of its checkpoint, and give its nodes to the on-demand job."""
        row = gone.row
        if self.leaving.get(row) is not gone:
            return
        j = self.index_of(row)
        worked = max(0, gone.stop - self.start_of(j) - self._restart(row))
        kept = self.preemption.checkpoints.taken(row, worked) if gone.strategy == "kill" else worked
        number, nodes = self.plan.log.counts[row] + 1, self._nodes(j)
        del self.leaving[row]
        self.put_back(j, f"evicted ({gone.strategy}): {gone.owner.job.id}", kept, self.now)
        self.preemption.departures.append(
            Departure(row, number, gone.owner.job.id, gone.strategy, gone.decided, gone.stop, gone.write, gone.end)
        )
        self.claims.take_of(gone.owner, nodes)
        self.claims.to_reserve(nodes)

    def kept(self, j: int, ran: int) -> int | None:
        """Return the work at the last checkpoint of a job whose node fails; None: it does not come back."""
        row = self.row_of(j)
        if row in self.on_demand:
            return 0
        if kept_by(self.plan.requeue, ran, self.plan.workload.ids[row]) is None:
            return None
        worked = ran - self._restart(row)
        gone = self.leaving.get(row)
        if gone is not None and gone.strategy != "kill":
            worked = min(worked, gone.stop - self.start_of(j) - self._restart(row))
        return self.preemption.checkpoints.taken(row, worked)

    def put_back(self, j: int, why: str, kept: int, time: int) -> None:
        """End running job j now; a batch job comes back into the queue, an on-demand job waits for nodes again."""
        row = self.row_of(j)
        gone = self.leaving.pop(row, None)
        if row in self.on_demand:
            self._fail_on_demand(j, why, time)
            return
        if j != row:
            self.plan.log.begun[row] = (self.begun[row],)
        nodes = self._nodes(j)
        super().put_back(j, why, kept, time)
        self.claims.to_reserve(nodes)
        self._decide_again(gone)

    def end_attempt(self, row: int, attempt: Attempt) -> None:
        """Note an attempt that has ended early; the later ones begin with a restart."""
        first = not self.plan.log.counts[row]
        super().end_attempt(row, attempt)
        if first and self.settings.restart:
            self.plan.trace.runtime[row] += self.settings.restart
            self.state.expected[row] += self.settings.restart
            self.shortened = True

    def end_for_good(self, j: int, why: str) -> None:
        """End running job j now, before its work is done; it does not come back."""
        row = self.row_of(j)
        nodes, gone = self._nodes(j), self.leaving.pop(row, None)
        self.urgent.discard(row)
        if j == row:
            super().end_for_good(j, why)
        else:
            (on,), start = self.nodes_of(j), self.start_of(j)
            self.plan.log.gone.append(Attempt(self.plan.workload.ids[row], 1, start, self.now, on, why, 0))
            end_now(self.plan.trace, self.state, j)
        self.claims.to_reserve(nodes)
        self._decide_again(gone)

    def _fail_on_demand(self, j: int, why: str, time: int) -> None:
        plan, state = self.plan, self.state
        job, start, nodes = self.on_demand[j], int(state.start[j]), self._nodes(j)
        (on,) = self.nodes_of(j)
        self.failed.append(j)
        self.urgent.remove(j)
        end_now(plan.trace, state, j)
        plan.log.add(j, Attempt(job.id, plan.log.counts[j] + 1, start, time, on, why, 0))
        state.start[j] = -1
        state.clock[STARTED] -= 1
        self.claims.to_reserve(nodes)
        again = WaitingJob(j, job, time + job.start_within)
        self.evictions.add(time, ANNOUNCE, lambda: self._announce(again))

    def _apply(self, change: Change) -> None:
        super()._apply(change)
        for waits in self.waiting:
            if self.claims.give_back(waits, self.blocked):
                self.evictions.add(self.now, DECIDE, lambda w=waits: self._decide(w))  # type: ignore[misc]
