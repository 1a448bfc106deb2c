"""A replay in Python, event by event.

It serves dispatchers written in Python, predictors that learn during the replay, and decisions that take simulated
time. State and events are those of ``heuristics.kernels.events.state``.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.entries import advance, begin, compact, keep_places, may_start, step
from ...heuristics.kernels.events.fit import count_fits
from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.standstill import Standstill
from ...heuristics.kernels.events.state import (
    ENDED,
    NOW,
    SORTED,
    STARTED,
    WAITING,
    State,
    TraceArrays,
    new_state,
)
from ...heuristics.kernels.profile import Ints
from ...models import Job, Running
from ...models.compiled import compiled
from ...models.whole_numbers import is_whole, wrong
from ..policies.easy_plus_plus import correct
from ..policies.policy import Policy
from . import compiled_replay as kernels
from .answer import fault_of
from .arrivals import set_arrivals, with_own_arrivals
from .moment import Decision, Dispatcher, Moment, Start
from .progress import STOPPED, OnProgress, Progress, ReplayPlan, check_all_started, rules_of
from .simulation import Decisions, Simulation, SimulationError

TELL_EVERY = 0.2  # seconds of wall time between two calls of on_progress


@compiled
def allowed(trace: TraceArrays, state: State) -> NDArray[np.bool_]:
    """Return the mask of the waiting jobs that their calendars allow to start now."""
    found = np.empty(state.clock[WAITING], np.bool_)
    for i in range(found.size):
        found[i] = may_start(trace, state.waiting[i], state.clock[NOW])
    return found


@compiled
def any_fits(trace: TraceArrays, state: State) -> bool:
    """Return whether at least one waiting job could start now, alone on the free places."""
    for i in range(state.clock[WAITING]):
        j = state.waiting[i]
        if may_start(trace, j, state.clock[NOW]) and (
            count_fits(state.free, trace.request[j], trace.units[j], state.fit) >= trace.units[j]
        ):
            return True
    return False


class LiveReplay:
    """One replay: its state and the statistics of its decisions.

    ``waiting``, ``running`` and ``by_user`` identify jobs by their row in the workload, ``expected`` (seconds; waiting
    and running jobs) and ``row`` by their id. ``fixed``: the expected durations never change. ``rules``: the policy as
    the kernels take it, None if it is out of date. ``debt``: wall time of decisions, below 1 s, that has not yet passed
    on the simulated clock.
    """

    def __init__(self, plan: ReplayPlan, fixed: Ints | None, on_progress: OnProgress | None) -> None:
        plan = with_own_arrivals(plan)
        self.plan, self.on_progress = plan, on_progress
        self.fixed = fixed is not None
        self.state = new_state(plan.trace, fixed if fixed is not None else np.ones(len(plan.workload), np.int64))
        self.rules: Rules | None = None
        self.waiting: dict[int, Job] = {}
        self.running: dict[int, Running] = {}
        self.by_user: dict[int, set[int]] = defaultdict(set)
        self.expected: dict[str, int] = {}
        self.row: dict[str, int] = {}
        self.nodes = {name: n for n, name in enumerate(plan.platform.nodes)}
        self.debt = 0.0
        self.skipped, self.urgent, self.made = 0, 0, 0
        self.endings: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {part: [] for part in ("total", "model", "solve", "allocate")}
        self.gains: list[float] = []
        self.began = self.last_report = time.perf_counter()

    def run(self) -> Simulation:
        """Replay all events and return the result. Raises SimulationError."""
        plan, state = self.plan, self.state
        if not isinstance(plan.dispatcher, Policy):
            self._begin(plan.dispatcher)
        notes: tuple[str, ...] = ()
        standstill = Standstill(plan.trace, state)
        going = step(plan.trace, state, plan.period)
        while going:
            self._learn()
            last_call, started = standstill.reached(), state.clock[STARTED]
            moved = self._decide() if state.clock[WAITING] > 0 else False
            if self._stopped():
                notes = (STOPPED,)
                break
            if last_call and state.clock[STARTED] == started:
                break
            going = moved or step(plan.trace, state, plan.period)
        found = self.result(notes)
        if not notes:
            check_all_started(plan, state, found)
        return found

    def _begin(self, dispatcher: Dispatcher) -> None:
        plan = self.plan
        try:
            dispatcher.begin(plan.platform, plan.workload.queues, plan.seed)
        except Exception as e:
            raise SimulationError(
                f"dispatcher {plan.name} raised in begin, before the replay: {type(e).__name__}: {e}",
                partial=self.result(),
            ) from e

    def result(self, notes: tuple[str, ...] = ()) -> Simulation:
        """Return the result of the replay so far."""
        seconds = time.perf_counter() - self.began
        total = math.fsum(self.seconds["total"])
        decisions = Decisions(
            made=self.made,
            skipped=self.skipped,
            ended=dict(self.endings),
            seconds={part: np.array(values) for part, values in self.seconds.items()},
            total_seconds=total,
            gains=np.array(self.gains),
            urgent=self.urgent,
        )
        return self.plan.result(self.state, decisions, seconds, notes)

    def _stopped(self) -> bool:
        """Call ``on_progress`` if it is time to; return whether it asks to stop."""
        if self.on_progress is None or time.perf_counter() - self.last_report < TELL_EVERY:
            return False
        self.last_report = time.perf_counter()
        clock = self.state.clock
        progress = Progress(
            int(clock[STARTED]), len(self.plan.workload), int(clock[NOW]), self.last_report - self.began
        )
        return self.on_progress(progress) is False

    def _learn(self) -> None:
        """Record the completions and arrivals of this event, and update the expected durations that they change."""
        plan, state = self.plan, self.state
        changed: set[int] = set()
        for j in state.ended[: state.clock[ENDED]].tolist():
            ended = self.running.pop(j, None)
            if ended is not None:
                self.expected.pop(ended.job.id, None)
            if not self.fixed:
                changed.update(plan.predictor.learn(j, int(plan.trace.runtime[j])))
        again = {j for user in changed for j in self.by_user.get(user, ())}
        new = range(len(self.waiting), int(state.clock[WAITING]))
        arrived = state.waiting[state.clock[WAITING] - len(new) : state.clock[WAITING]].tolist()
        if plan.workload.after and set_arrivals(plan, state, arrived):
            self.rules = None  # the order of a policy may depend on submit times
        for j in arrived:
            self.by_user[int(plan.workload.user[j])].add(j)
            self.waiting[j] = self._job(j)
        if not self.fixed:
            self._expect([*again, *arrived])
        for j in arrived:
            self.expected[self.waiting[j].id] = int(state.expected[j])
            self.row[self.waiting[j].id] = j

    def _expect(self, jobs: list[int]) -> None:
        """Predict the durations of these waiting jobs; if there are any, a policy sorts the queue again."""
        for j in jobs:
            predicted = self.plan.predictor.predict(j)
            if not is_whole(predicted):
                job, name = self.waiting[j].id, self.plan.predictor.name
                why = f"predictor {name}: the duration of job {job!r} {wrong(predicted)}"
                raise SimulationError(why, job, time=int(self.state.clock[NOW]), partial=self.result())
            self.state.expected[j] = max(1, predicted)
            self.expected[self.waiting[j].id] = int(self.state.expected[j])
        if jobs:
            self.rules = None

    def _job(self, j: int) -> Job:
        """Return the job as a dispatcher sees it: without its runtime."""
        return replace(self.plan.workload.job(j), runtime=None)

    def _decide(self) -> bool:
        """Make one decision, unless no job could start; return whether it moved the simulated clock."""
        plan, state = self.plan, self.state
        began = time.perf_counter()
        if isinstance(plan.dispatcher, Policy):
            self._apply_policy(plan.dispatcher)
        elif not any_fits(plan.trace, state):
            self.skipped += 1
            return False
        else:
            decision = self._decision_of(plan.dispatcher)
            took = time.perf_counter() - began
            self._count(decision, took)
            moved = self._charge(took)
            self._apply(decision, moved)
            return moved
        took = time.perf_counter() - began
        self.made += 1
        self.seconds["total"].append(took)
        return self._charge(took)

    def _charge(self, took: float) -> bool:
        """Add the wall time of a decision to the simulated clock, in whole seconds; the rest is kept in ``debt``."""
        if not self.plan.charge:
            return False
        self.debt += took
        whole = int(self.debt)
        self.debt -= whole
        if whole:
            advance(self.plan.trace, self.state, int(self.state.clock[NOW]) + whole)
        return whole > 0

    def _apply_policy(self, policy: Policy) -> None:
        plan, state = self.plan, self.state
        if self.rules is None:
            self.rules = rules_of(policy, plan.workload, state.expected, plan.allocator == "best-fit")
            state.clock[SORTED] = 0
        if policy.corrections:
            correct(state, plan.workload.walltime, np.array(policy.corrections, np.int64))
        decide = kernels.decide_shortest_first if policy.shortest_first else kernels.kernel(self.rules).decide
        decide(plan.trace, state, self.rules)
        for j in [j for j in self.waiting if state.start[j] >= 0]:
            self._dequeue(j)

    def _dequeue(self, j: int) -> Job:
        """Remove job j from the waiting jobs and return it."""
        self.by_user[int(self.plan.workload.user[j])].discard(j)
        return self.waiting.pop(j)

    def _decision_of(self, dispatcher: Dispatcher) -> Decision:
        """Call the dispatcher and return its decision; turn an exception into a SimulationError with the time."""
        plan, state = self.plan, self.state
        now = int(state.clock[NOW])
        moment = Moment(
            now=now,
            platform=plan.platform,
            queues=plan.workload.queues,
            waiting=tuple(self.waiting.values()),
            expected=self.expected,
            may_start=allowed(plan.trace, state),
            running=tuple(self.running.values()),
            free=state.free.copy(),
        )
        try:
            answer = dispatcher.decide(moment)
            if isinstance(answer, Decision) and isinstance(answer.starts, Iterator):
                answer.starts = list(answer.starts)  # a generator may raise, too
        except SimulationError:
            raise
        except Exception as e:
            raise SimulationError(
                f"dispatcher {plan.name} raised at {now}, with {len(self.waiting)} jobs waiting: {type(e).__name__}: {e}",
                time=now,
                partial=self.result(),
            ) from e
        fault = fault_of(answer)
        if fault is not None:
            self._refuse(fault.job, None, fault.why)
        return answer

    def _count(self, decision: Decision, took: float) -> None:
        """Add one call of ``took`` seconds to the statistics."""
        self.made += 1
        self.endings[decision.ended] += 1
        self.urgent += decision.urgent
        self.seconds["total"].append(took)
        for part in ("model", "solve", "allocate"):
            self.seconds[part].append(decision.seconds.get(part, 0.0))
        if decision.gain is not None:
            self.gains.append(decision.gain)

    def _apply(self, decision: Decision, moved: bool) -> None:
        """Check and start the jobs of a decision, one after the other.

        If the decision took simulated time (``moved``), jobs whose calendar has closed in the meantime stay in the
        queue.
        """
        trace, state = self.plan.trace, self.state
        for start in decision.starts:
            j = self._waiting_row(start)
            if moved and not may_start(trace, j, state.clock[NOW]):
                continue
            entries = self._checked(start, j)
            keep_places(trace, state, j, entries)
            begin(trace, state, j)
            job, now = self._dequeue(j), int(state.clock[NOW])
            self.running[j] = Running(job, now, dict(start.nodes), now + int(state.expected[j]))
        compact(state)

    def _waiting_row(self, start: Start) -> int:
        j = self.row.get(start.job)
        if j is None:
            self._refuse(start.job, None, f"there is no job {start.job!r} in the queue; use the ids of moment.waiting")
        if j not in self.waiting:
            self._refuse(start.job, None, f"job {start.job!r} has started already, at {int(self.state.start[j])}")
        return j

    def _checked(self, start: Start, j: int) -> int:
        """Check one start; write its nodes to ``state.chosen`` and ``state.put``, and return how many there are."""
        trace, state = self.plan.trace, self.state
        if not may_start(trace, j, state.clock[NOW]):
            self._refuse(start.job, None, f"the calendars of job {start.job!r} do not allow a start now (may_start)")
        total = sum(start.nodes.values())
        if total != trace.units[j] or any(u < 1 for u in start.nodes.values()):
            self._refuse(
                start.job,
                None,
                f"job {start.job!r} has {int(trace.units[j])} units; the units of its start are {dict(start.nodes)}",
            )
        for k, (node, units) in enumerate(start.nodes.items()):
            n = self.nodes.get(node)
            if n is None:
                self._refuse(start.job, node, f"the platform has no node {node!r}, which job {start.job!r} should use")
            need = units * trace.request[j]
            for r in np.flatnonzero(need > state.free[n]).tolist():
                resource = self.plan.platform.resources[r]
                self._refuse(
                    start.job,
                    node,
                    f"job {start.job!r} needs {int(need[r])} {resource} on node {node!r}, "
                    f"where {int(state.free[n, r])} are free",
                )
            state.chosen[k], state.put[k] = n, units
        return len(start.nodes)

    def _refuse(self, job: str | None, node: str | None, why: str) -> NoReturn:
        now = int(self.state.clock[NOW])
        raise SimulationError(f"dispatcher {self.plan.name} at {now}: {why}", job, node, now, self.result())
