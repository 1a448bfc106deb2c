"""A replay in Python, event by event.

It serves dispatchers written in Python, predictors that learn during the replay, and decisions that take simulated
time. State and events are those of ``heuristics.kernels.events.state``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from ...heuristics.kernels.events.entries import step
from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.standstill import Standstill
from ...heuristics.kernels.events.state import (
    ENDED,
    NEXT,
    NOW,
    RUNNING,
    SORTED,
    STARTED,
    STOP,
    WAITING,
    WAKE,
)
from ...heuristics.kernels.profile import NEVER, Ints
from ...models import Job
from ...models.returned import is_false
from ..call_statistics import CallStatistics
from ..policies.beside_reservations import decide_beside
from ..policies.easy_plus_plus import correct
from ..policies.policy import Policy
from ..rankers.ranking import Ranking
from ..users.requests import Requests
from . import compiled_replay as kernels
from .answer import DecisionFault, fault_of
from .arrivals import set_arrivals, with_own_arrivals
from .live_jobs import LiveJobs
from .moment import Decision, Dispatcher, FailedStart, Moment
from .power.changes import changes_of
from .progress import STOPPED, OnProgress, Progress, ReplayPlan, check_all_started, rules_of
from .simulation import Simulation, SimulationError

TELL_EVERY = 0.2  # seconds of wall time between two calls of on_progress
MOST_CALLS = 10_000  # requested calls in a row without a start while nothing runs, arrives or opens


class LiveReplay:
    """One replay: its state and the statistics of its decisions.

    ``fixed``: the expected durations never change. ``rules``: the policy as the kernels take it, None if it is out of
    date. ``always``: the dispatcher is called at every event. ``debt``: wall time of decisions, below 1 s, that has not
    yet passed on the simulated clock.
    """

    def __init__(self, plan: ReplayPlan, fixed: Ints | None, on_progress: OnProgress | None) -> None:
        plan = with_own_arrivals(plan)
        self.plan, self.on_progress = plan, on_progress
        self.fixed = fixed is not None
        self.state = plan.first_state(fixed if fixed is not None else np.ones(len(plan.workload), np.int64))
        self.rules: Rules | None = None
        self.changes = changes_of(plan, self.state)
        self.jobs, self.always = LiveJobs(plan, self.state, self.changes), False
        self.changes.attach(self.jobs, self.fixed)
        self.debt = 0.0
        self.calls = CallStatistics(plan.platform.resources)
        self.ruled: Policy | None = None  # the policy of ``rules``
        self.ranking: Ranking | None = None
        if isinstance(plan.dispatcher, Policy) and plan.dispatcher.ranker is not None:
            ranker, whole_nodes = plan.dispatcher.ranker, plan.by_count or plan.preemption is not None
            self.ranking = Ranking(ranker, plan.workload, self.state, plan.trace.runtime, whole_nodes, self._refuse)
        self.began = self.last_report = time.perf_counter()

    def run(self) -> Simulation:
        """Replay all events and return the result. Raises SimulationError, with the replay so far."""
        try:
            return self._run()
        except SimulationError as e:
            begun = self.state.clock[NOW] > -NEVER
            if e.time is None and begun:
                e.time = int(self.state.clock[NOW])
            e.partial = e.partial or self.result()
            raise

    def _run(self) -> Simulation:
        plan, state = self.plan, self.state
        if not isinstance(plan.dispatcher, Policy):
            self._begin(plan.dispatcher)
        elif self.ranking is not None:
            self.ranking.begin(plan.platform, plan.workload, plan.seed)
        notes: tuple[str, ...] = ()
        standstill, idle = Standstill(plan.trace, state), 0
        going = self._step() or self.changes.go()
        while going:
            self._learn()
            last_call, started = standstill.reached(self.changes.away), state.clock[STARTED]
            moved = self._decide()
            self.changes.decided()
            if self._stopped():
                notes = (STOPPED,)
                break
            idle = idle + 1 if last_call and state.clock[STARTED] == started else 0
            later = min(self.jobs.plans.next_time(), state.clock[WAKE], state.clock[STOP])
            if idle and (idle > MOST_CALLS or later >= NEVER):
                break
            going = moved or self._step() or self.changes.go()
        self.changes.finish()
        found = self.result(notes)
        if not notes:
            check_all_started(plan, state, found)
        return found

    def _step(self) -> bool:
        """Go to the next event, planned start or requested call; return False if nothing can happen any more."""
        clock, trace = self.state.clock, self.plan.trace
        left = clock[WAITING] + clock[RUNNING] > self.changes.away or clock[NEXT] < trace.order.size
        if self.jobs.plans.pending and left:
            clock[WAKE] = min(clock[WAKE], self.jobs.plans.next_time())
        return step(trace, self.state, self.plan.period)

    def _begin(self, dispatcher: Dispatcher) -> None:
        plan = self.plan
        try:
            getattr(dispatcher, "prepare", lambda log: None)(plan.workload)
            dispatcher.begin(plan.platform, plan.workload.queues, plan.seed)
        except Exception as e:
            why = f"dispatcher {plan.name} raised in begin, before the replay: {type(e).__name__}: {e}"
            raise SimulationError(why) from e
        self.always = getattr(dispatcher, "always", False)
        if not isinstance(self.always, bool):
            raise SimulationError(f"dispatcher {plan.name}: always is {self.always!r:.80}; expected True or False")

    def result(self, notes: tuple[str, ...] = ()) -> Simulation:
        """Return the result of the replay so far."""
        own = () if self.ranking is None else self.ranking.notes
        return self.plan.result(self.state, self.calls.result(), time.perf_counter() - self.began, (*own, *notes))

    def _stopped(self) -> bool:
        """Call ``on_progress`` if it is time to; return whether it asks to stop."""
        if self.on_progress is None or time.perf_counter() - self.last_report < TELL_EVERY:
            return False
        self.last_report = time.perf_counter()
        clock = self.state.clock
        progress = Progress(
            int(clock[STARTED]), len(self.plan.workload), int(clock[NOW]), self.last_report - self.began
        )
        return is_false(self.on_progress(progress))

    def _learn(self) -> None:
        """Record the completions and arrivals of this event, and update the expected durations that they change."""
        plan, state = self.plan, self.state
        changed: set[int] = set()
        jobs = len(plan.workload)
        for j in state.ended[: state.clock[ENDED]].tolist():
            self.jobs.end(j)
            if not self.fixed and j < jobs:
                changed.update(plan.predictor.learn(j, int(plan.trace.runtime[j]) + plan.log.less(j)))
        failed, self.changes.failed = self.changes.failed, []
        for j in failed:
            self.jobs.end(j)
        again = {j for user in changed for j in self.jobs.by_user.get(user, ())}
        new = range(len(self.jobs.waiting), int(state.clock[WAITING]))
        arrived = state.waiting[state.clock[WAITING] - len(new) : state.clock[WAITING]].tolist()
        if plan.workload.after and set_arrivals(plan, state, arrived):
            self.rules = None  # the order of a policy may depend on submit times
        if plan.requests is not None:
            self._request(plan.requests, np.array(arrived, np.int64))
        for j in arrived:
            self.jobs.arrive(j, self._job(j))
        if failed or any(j in plan.log.begun for j in arrived):
            self.jobs.return_to_places()
        if not self.fixed:
            self._expect([*again, *arrived])
        for j in arrived:
            self.jobs.expected[self.jobs.waiting[j].id] = int(state.expected[j])
        if self.ranking is not None:
            self.ranking.arrive(np.array(arrived, np.int64))
        self._come_back(self.changes.settle(arrived))

    def _come_back(self, jobs: list[int]) -> None:
        """Put jobs that were not visible to dispatchers back into the queue."""
        for j in jobs:
            self.jobs.arrive(j, self._job(j))
        if jobs:
            self.jobs.return_to_places()
            self.rules = None
        if jobs and not self.fixed:
            self._expect(jobs)
        for j in jobs:
            self.jobs.expected[self.jobs.waiting[j].id] = int(self.state.expected[j])

    def _request(self, requests: Requests, arrived: Ints) -> None:
        """Let the users choose the walltimes of the jobs that have arrived; those that come back keep theirs."""
        ran = np.isin(arrived, list(self.plan.log.begun))
        new = requests.submit(int(self.state.clock[NOW]), arrived[~ran], self.state.start[: len(self.plan.workload)])
        self.jobs.walltimes[new] = self.plan.workload.walltime[new]

    def _expect(self, jobs: list[int]) -> None:
        """Predict the durations of these waiting jobs; if there are any, a policy sorts the queue again."""
        for j in jobs:
            self.state.expected[j] = max(1, self.plan.predictor.predict(j) - self.plan.log.less(j))
            self.jobs.expected[self.jobs.waiting[j].id] = int(self.state.expected[j])
        if jobs:
            self.rules = None

    def _job(self, j: int) -> Job:
        """Return the job as a dispatcher sees it: without its runtime."""
        return self.plan.workload.waiting_job(j, self.plan.log.less(j))

    def _decide(self) -> bool:
        """Make the planned starts and one decision, unless none is due; return whether it moved the simulated clock."""
        plan, state = self.plan, self.state
        began = time.perf_counter()
        if isinstance(plan.dispatcher, Policy):
            if state.clock[WAITING] == 0:
                return False
            self._apply_policy(plan.dispatcher)
            took = time.perf_counter() - began
            self.calls.add_timed(took)
            return self._charge(took)
        failed, called = [], self.always
        if self.jobs.plans.pending:
            failed = self.jobs.start_planned()
            called = self.jobs.plans.called(int(state.clock[NOW])) or called or bool(failed)
        if not called and not (state.clock[WAITING] > 0 and kernels.any_fits(plan.trace, state)):
            self.calls.skipped += int(state.clock[WAITING] > 0)
            return False
        now = int(state.clock[NOW])
        decision = self._decision_of(plan.dispatcher, failed)
        if decision.policy is not None:
            self._apply_delegate(decision.policy)
        took = time.perf_counter() - began
        self.calls.add(decision, took, len(self.jobs.running), self.changes.free())
        moved = self._charge(took)
        self._apply(decision, now)
        return moved

    def _charge(self, took: float) -> bool:
        """Add the wall time of a decision to the simulated clock, in whole seconds; the rest is kept in ``debt``."""
        if not self.plan.charge:
            return False
        self.debt += took
        whole = int(self.debt)
        self.debt -= whole
        if whole:
            self.changes.advance(int(self.state.clock[NOW]) + whole, self._learn)
        return whole > 0

    def _apply_delegate(self, policy: Policy) -> None:
        """Make the decision of a policy to which a dispatcher in Python leaves it."""
        if self.changes.holds() is not None and (
            policy.shortest_first
            or policy.corrections
            or any(self.state.expected[j] < job.walltime for j, job in self.jobs.waiting.items())
        ):
            why = 'policies keep nodes free for reservations by walltimes only; expected predictor="walltime"'
            self._refuse(f"Decision.policy is {policy.name}, in a replay with reservations: {why}")
        for j in self._apply_policy(policy):
            self.jobs.start_of_policy(j)

    def _apply_policy(self, policy: Policy) -> list[int]:
        """Make the decision of a policy; return the jobs that it starts."""
        plan, state = self.plan, self.state
        if self.rules is None or self.changes.shortened or policy is not self.ruled:
            self.changes.shortened, self.ruled = False, policy
            self.rules = rules_of(
                policy, plan.workload, state.expected[: len(plan.workload)], plan.allocator == "best-fit", plan.seed
            )
            state.clock[SORTED] = 0
        if policy.corrections:
            correct(state, self.jobs.walltimes, np.array(policy.corrections, np.int64))
        rules = self.rules if self.ranking is None else self.ranking.sort(self.rules)
        holds = self.changes.holds()
        decide = kernels.decide_shortest_first if policy.shortest_first else kernels.kernel(rules).decide
        queue, before = state.waiting[: state.clock[WAITING]].copy(), state.clock[STARTED]
        if holds is None:
            decide(plan.trace, state, rules)
        else:
            decide_beside(plan.trace, state, rules, holds)
        if state.clock[STARTED] == before and self.ranking is None:
            return []
        started = queue[state.start[queue] >= 0]
        if isinstance(plan.dispatcher, Policy):
            for j in started.tolist():
                self.jobs.dequeue(j)
        if self.ranking is not None:
            self.ranking.started(started)
        return [int(j) for j in started]

    def _refuse(self, why: str) -> NoReturn:
        self.jobs.refuse(DecisionFault(why))

    def _decision_of(self, dispatcher: Dispatcher, failed: list[FailedStart]) -> Decision:
        """Call the dispatcher and return its decision; turn an exception into a SimulationError with the time."""
        plan, state = self.plan, self.state
        now = int(state.clock[NOW])
        moment = Moment(
            now=now,
            platform=plan.platform,
            queues=plan.workload.queues,
            waiting=tuple(self.jobs.waiting.values()),
            expected=self.jobs.expected,
            may_start=kernels.allowed(plan.trace, state),
            running=tuple(self.jobs.all_running()),
            free=self.changes.free(),
            planned=self.jobs.plans.by_id,
            failed=failed,
            states=self.changes.names,
            reserved=self.changes.reserved(),
            changed=self.changes.changed(),
            ready=self.changes.ready(),
        )
        try:
            answer = dispatcher.decide(moment)
            if isinstance(answer, Decision) and isinstance(answer.starts, Iterator):
                answer.starts = list(answer.starts)  # a generator may raise, too
            if isinstance(answer, Decision) and isinstance(answer.plan, Iterator):
                answer.plan = list(answer.plan)
        except SimulationError:
            raise
        except Exception as e:
            raise SimulationError(
                f"dispatcher {plan.name} raised at {now}, with {len(self.jobs.waiting)} jobs waiting: {type(e).__name__}: {e}",
                time=now,
            ) from e
        fault = fault_of(answer)
        if fault is not None:
            self.jobs.refuse(fault)
        return answer

    def _apply(self, decision: Decision, called: int) -> None:
        """Apply a decision; jobs whose calendar has closed since it was ``called`` stay in the queue."""
        late = self.state.clock[NOW] > called
        self.jobs.withdraw(decision.withdrawn)
        self.jobs.start_all(decision.starts, late)
        if decision.wake is not None:
            if decision.wake <= called:
                self.jobs.refuse(DecisionFault(f"Decision.wake is {decision.wake}; expected a time after {called}"))
            self.jobs.plans.call_at(int(decision.wake))
        if decision.plan is not None:
            self.jobs.plan_all(decision.plan, called)
