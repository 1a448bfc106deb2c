"""Nodes that are switched off and on in a replay: booted for the jobs that need them, and as the node policy decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import WrongValue
from ....heuristics.kernels.events.entries import advance
from ....heuristics.kernels.events.state import NOW, RUNNING, STARTED, STOP, WAITING, State
from ....heuristics.kernels.profile import NEVER, Ints
from ....models.returned import WrongAnswer, returned_indices
from ....models.whole_numbers import is_whole, shown
from ...node_policies import BOOTING, OFF, ON, SHUTTING_DOWN, STATE_NAMES, NodeDecision, NodeMoment
from ...policies.policy import Policy
from ..compiled_replay import allowed
from ..preemption.changes import changes_of as other_changes
from ..simulation import SimulationError
from ..states.node_changes import NodeChanges
from .needs import needs, survey
from .record import PowerPlan
from .rows import NodeRows

if TYPE_CHECKING:
    from ..live_jobs import LiveJobs
    from ..progress import ReplayPlan

RANK = np.array([2, 1, 2, 0])  # of OFF, BOOTING, SHUTTING_DOWN, ON: which nodes a waiting job takes first
MOST_CALLS = 10_000  # calls of a policy in a row without a start while nothing runs or arrives


def changes_of(plan: ReplayPlan, state: State) -> NodeChanges:
    """Return the changes of a replay."""
    return other_changes(plan, state) if plan.power is None or plan.power.still else Powered(plan, plan.power, state)


class Powered(NodeChanges):
    """The changes of one replay with a node policy; see ``NodeChanges`` and ``simulation.node_policies.policy``."""

    def __init__(self, plan: ReplayPlan, power: PowerPlan, state: State) -> None:
        nodes = len(plan.platform.nodes)
        self.power, self.times = power, power.switching
        self.node_state = np.full(nodes, ON)
        self.nodes = NodeRows(plan.trace, state, nodes)
        self._wanted = np.zeros(nodes, np.bool_)  # the policy has decided to boot them
        self._wake, self._boot_at = NEVER, np.full(nodes, NEVER)
        self._calls, self._stuck = 0, -1
        super().__init__(plan, state)
        self._rows = self.nodes.first
        begin = plan.workload.begin
        begin = int(plan.trace.release[plan.trace.order].min()) if begin is None else begin
        self.since, self.idle_since = np.full(nodes, begin), np.full(nodes, begin)
        self.quiet = False

    def attach(self, jobs: LiveJobs, fixed: bool) -> None:
        """Connect the changes with the waiting jobs and the planned starts, and prepare the policy."""
        self.jobs, plan = jobs, self.plan
        try:
            self.power.policy.begin(plan.platform, self.times, plan.desired)
        except WrongValue:
            raise
        except Exception as e:
            raise SimulationError(
                f"node policy {self.power.policy.name} raised in begin: {type(e).__name__}: {e}"
            ) from e

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])

    @property
    def away(self) -> int:
        """The number of rows among the running jobs that are nodes."""
        return self.nodes.count

    def _own_due(self) -> int:
        booting = self.node_state == BOOTING
        ready = int(self.since[booting].min()) + self.times.boot if booting.any() else NEVER
        return min(ready, int(self._boot_at.min()), self._wake)

    def _stop(self) -> None:
        super()._stop()
        self.state.clock[STOP] = min(self.state.clock[STOP], self._own_due())

    def go(self) -> bool:
        """Go to the next change: of a node, or of the desired use, or a call of the policy; False if there is none."""
        due = self._own_due()
        if due >= NEVER or due > self.next_step():
            return super().go()
        if self.idle():
            return False
        advance(self.plan.trace, self.state, max(due, self.now))
        self._wake = NEVER if self._wake <= self.now else self._wake
        for n in np.flatnonzero(self._boot_at <= self.now).tolist():
            self._begin_boot(n)
        for n in np.flatnonzero((self.node_state == BOOTING) & (self.since + self.times.boot <= self.now)).tolist():
            self._switch(n, ON, int(self.since[n]) + self.times.boot)
            self.idle_since[n] = self.since[n]
            self.nodes.give_back(n)
        self._block()
        self._stop()
        return True

    def _block(self) -> None:
        self.blocked = self._closed | (self.node_state != ON)

    def _switch(self, node: int, state: int, time: int) -> None:
        self.node_state[node], self.since[node] = state, time
        self.power.changes.append((time, node, state))

    def ready(self) -> Ints:
        """Return the earliest time in seconds at which jobs may start on each node, shape (nodes,).

        It is after now for a node that is not on, even if it boots in no time: it is on after this decision.
        """
        found = np.where(self.node_state == BOOTING, self.since, self._earliest_boot()) + self.times.boot
        ready: Ints = np.where(self.node_state == ON, self.now, np.maximum(found, self.now + 1))
        return ready

    def _earliest_boot(self) -> Ints:
        """Return when the nodes that are off or shut down can begin to boot, in seconds."""
        shut_down = np.where(self.node_state == SHUTTING_DOWN, self.times.shut_down, 0)
        found: Ints = np.maximum(self.now, self.since + shut_down + self.times.min_off)
        return found

    def state_of(self, node: int) -> str:
        """Return the state of a node, for messages."""
        return super().state_of(node) if self._closed[node] else STATE_NAMES[self.node_state[node]]

    def settle(self, arrived: Sequence[int]) -> list[int]:
        """Bring the states and the expected times of the nodes that are not on up to date."""
        for n in np.flatnonzero(self.node_state == SHUTTING_DOWN).tolist():
            off = int(self.since[n]) + self.times.shut_down
            if off <= self.now:
                self.node_state[n], self.since[n] = OFF, off
        if self.nodes.count:
            self.nodes.expect(self.ready())
        return []

    def decided(self) -> None:
        """Boot the nodes that are needed, and ask the policy; called after the dispatcher's decision."""
        now, nodes = self.now, self.node_state.size
        places = self.plan.trace.capacity.shape[0]  # the nodes, and one of the power of the machine if it is limited
        used, until = np.zeros(places, np.bool_), np.full(places, now)
        survey(self.plan.trace, self.state, self.nodes.first, used, until)
        used, until = used[:nodes], until[:nodes]
        self.idle_since[~used & (self.idle_since >= NEVER)] = now
        self.idle_since[used] = NEVER
        idle = ~used & (self.node_state == ON)
        needed = np.full(nodes, NEVER)
        if idle.any() or self.nodes.count:
            self._note_plans(needed, until)
        may = idle & (needed > now + self.times.away) & (self.state.clock[STARTED] != self._stuck)
        if self.idle():
            return
        if self.nodes.count:
            self._boot(np.where(self._wanted, now, needed))
        self._ask(needed, until, may)
        self._stop()

    def _note_plans(self, needed: Ints, until: Ints) -> None:
        """Note when planned starts and waiting jobs need nodes, and the expected ends of planned jobs."""
        planned = np.zeros(self.nodes.first, np.bool_)
        number = self.jobs.numbers
        for name, start in self.jobs.plans.by_id.items():
            j = self.plan.row[name]
            planned[j] = True
            end = start.time + int(self.state.expected[j])
            for node in (node for on in (start.nodes, *start.further) for node in on):
                n = number[node]
                needed[n], until[n] = min(needed[n], start.time), max(until[n], end)
        policy = self.plan.dispatcher
        strict = isinstance(policy, Policy) and policy.strict
        if self.state.clock[WAITING]:
            more = self.plan.trace.capacity.shape[0] - needed.size
            rank, by_place = np.append(RANK[self.node_state], [0] * more), np.append(needed, [NEVER] * more)
            needs(self.plan.trace, self.state, self.nodes.first, rank, planned, strict, by_place)
            needed[:] = by_place[: needed.size]

    def _boot(self, needed: Ints) -> None:
        """Boot the nodes that are needed as late as possible; all of them if nothing else can happen."""
        now, clock = self.now, self.state.clock
        if self._nothing_else(needed):
            needed, self._stuck = np.full(needed.size, now), int(clock[STARTED])
        out = (self.node_state == OFF) | (self.node_state == SHUTTING_DOWN)
        at = np.maximum(self._earliest_boot(), np.minimum(needed, NEVER) - self.times.boot)
        wanted = out & (needed < NEVER)
        self._boot_at = np.where(wanted, at, NEVER)
        for n in np.flatnonzero(self._boot_at <= now).tolist():
            self._begin_boot(n)

    def _begin_boot(self, node: int) -> None:
        self._switch(node, BOOTING, self.now)
        self._wanted[node], self._boot_at[node] = False, NEVER

    def _nothing_else(self, needed: Ints) -> bool:
        """Return whether jobs wait that may start, and neither a job nor a node will change anything."""
        clock = self.state.clock
        coming = (needed < NEVER).any() or (self.node_state == BOOTING).any() or self.jobs.plans.by_id
        quiet = clock[RUNNING] == self.away and not self._to_come() and self.next_step() >= NEVER
        return bool(quiet and not coming and allowed(self.plan.trace, self.state).any())

    def _ask(self, needed: Ints, until: Ints, may: Any) -> None:
        """Ask the policy and carry out its decision."""
        now, policy = self.now, self.power.policy
        moment = NodeMoment(
            now, self.plan.platform, self.node_state.copy(), self.since.copy(), self.ready(),
            np.where(self.node_state == ON, self.idle_since, NEVER), until, needed, may,
            tuple(self.jobs.waiting.values()),
        )  # fmt: skip
        try:
            found = policy.decide(moment)
        except Exception as e:
            raise SimulationError(
                f"node policy {policy.name} raised at {now}: {type(e).__name__}: {e}", time=now
            ) from e
        self._check(found, may)
        for n in dict.fromkeys(int(n) for n in found.off):
            self._switch(n, SHUTTING_DOWN, now)
            self.power.changes.append((now + self.times.shut_down, n, OFF))
            self.nodes.take(n, now + self.times.away, now)
        on = [int(n) for n in found.on]
        self._wanted[on] = self.node_state[on] != ON
        self._wanted[self.node_state == BOOTING] = False
        self._block()
        if self._wanted.any() or len(found.off):  # also nodes that are switched off now may be needed later
            self._boot(np.where(self._wanted, now, needed))
        self._wake = NEVER if found.wake is None or self._tired() else int(found.wake)

    def _tired(self) -> bool:
        """Return whether the policy has been called too often while nothing runs or arrives."""
        clock = self.state.clock
        idle = clock[RUNNING] == self.away and not self._to_come()
        self._calls = self._calls + 1 if idle else 0
        return self._calls > MOST_CALLS

    def _check(self, found: object, may: Any) -> None:
        """Raise SimulationError if the decision of the policy breaks a rule."""
        who, now, nodes = f"node policy {self.power.policy.name} at {self.now}", self.now, self.node_state.size
        if not isinstance(found, NodeDecision):
            raise SimulationError(f"{who}: it returned {shown(found)}; expected a NodeDecision", time=now)
        for what, listed in (("off", found.off), ("on", found.on)):
            try:
                returned_indices(f"{who}: NodeDecision.{what}", listed, nodes, "nodes")
            except WrongAnswer as e:
                raise SimulationError(str(e), time=now) from e
        barred = next((int(n) for n in found.off if not may[n]), None)
        if barred is not None:
            name = self.plan.platform.nodes[barred]
            raise SimulationError(
                f"{who}: node {name!r} cannot be switched off: it is {self.state_of(barred)}, runs a job or is needed "
                "(NodeMoment.may_switch_off)", node=name, time=now,
            )  # fmt: skip
        both = sorted({int(n) for n in found.off} & {int(n) for n in found.on})
        if both:
            raise SimulationError(f"{who}: node {self.plan.platform.nodes[both[0]]!r} is in off and in on", time=now)
        if found.wake is not None and (not is_whole(found.wake) or found.wake <= now):
            raise SimulationError(f"{who}: wake is {shown(found.wake)}; expected a time after {now}", time=now)
