"""Nodes that are switched off and on in a replay: booted for the jobs that need them, and as the node policy decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...heuristics.kernels.events.state import (
    NOW,
    RUNNING,
    STARTED,
    WAITING,
    State,
    TraceArrays,
    allowed_from,
    amount_on,
    exceeds,
    fits_on,
    held,
    may_start,
    row_of,
    take_of_machine,
)
from ...heuristics.kernels.profile import NEVER
from ...instances.workload import Workload
from ...models import DesiredProfile
from ...models.arguments import expect, is_whole, shown
from ...models.array_types import Bools, Ints
from ...models.compiled import borrowing, compiled, internal, internal_borrowing
from ...models.dispatch.jobs import DAY
from ...models.plugins import WrongAnswer, returned_indices
from ..agenda import Entry, Rank
from ..dispatchers.policy_kernels import allowed
from ..errors import SimulationError
from ..node_policies import (
    BOOTING,
    OFF,
    ON,
    SHUTTING_DOWN,
    STATE_NAMES,
    AlwaysOn,
    NodeDecision,
    NodeMoment,
    NodePolicy,
    Switching,
    node_policy_of,
)
from ..records import PowerRecord
from .feature import Feature, Replay

# --- The nodes that waiting jobs need, and the time at which each has to be on; compiled.
#
# Waiting jobs are taken in the order of the queue; those whose start is planned or that a limit holds, are left out. Each is put on what is free: first on nodes that are on, then on nodes that boot, then on nodes that are off. These are
# needed now. The first job that does not fit is put on what is free when the expected ends of running jobs give it enough,
# apart from the jobs before it; its nodes are needed then, and later jobs fill what is left now. A job with a reservation
# (conservative backfilling) needs the nodes of the reservation at its time. A job whose calendar is closed needs nodes when
# it opens.

UNUSABLE = 3  # the rank of a node that takes no starts and does not open by itself


@borrowing
def survey(trace: TraceArrays, state: State, used: Bools, until: Ints) -> None:
    """Mark the nodes on which jobs run, and set ``until`` to the latest of ``until`` and their expected ends."""
    for i in range(state.clock[RUNNING]):
        j = state.running[i]
        for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
            used[state.place[k]] = True
            until[state.place[k]] = max(until[state.place[k]], state.running_end[i])


@internal_borrowing
def _put(trace: TraceArrays, free: Ints, j: int, request: Ints, units: int, rank: Ints, time: int, needed: Ints) -> int:
    """Put units of a chunk of job j on nodes, those of rank 0 first, none of rank UNUSABLE; return how many are left.

    The chosen nodes are needed at ``time``; with ``time`` -1, none is marked.
    """
    left = units
    mask = trace.masks[trace.node_set[j]]
    for turn in range(UNUSABLE):
        for p in range(rank.size):
            if left > 0 and rank[p] == turn and mask[p]:
                count = fits_on(trace, free[p], p, j, request, left)
                if count > 0:
                    left -= count
                    for r in range(request.size):
                        free[p, r] -= trace.capacity[p, r] if trace.whole[j] else count * request[r]
                    if time >= 0:
                        needed[p] = min(needed[p], time)
    return left


@internal_borrowing
def _put_job(trace: TraceArrays, free: Ints, machine: Ints, j: int, rank: Ints, time: int, needed: Ints) -> bool:
    """Put all chunks of a job on nodes, as ``_put``; return whether they fit, and the whole machine has what it takes."""
    if exceeds(trace.machine_request, j, machine):
        return False
    left = _put(trace, free, j, trace.request[j], trace.units[j], rank, time, needed)
    for row in range(trace.first_further[j], trace.first_further[j + 1]):
        left += _put(trace, free, j, trace.further_request[row], trace.further_units[row], rank, time, needed)
    return left == 0


@internal_borrowing
def _copy(target: Ints, source: Ints) -> None:
    for p in range(target.shape[0]):
        for r in range(target.shape[1]):
            target[p, r] = source[p, r]


@internal
def _wait_for_ends(trace: TraceArrays, state: State, j: int, then: Ints, trial: Ints, rank: Ints, needed: Ints) -> None:
    """Mark the nodes of a job that has to wait for the ends of running jobs.

    ``then``: what is free now, without other waiting jobs; it is changed. ``trial``: scratch.
    """
    machine = state.machine_free.copy()
    now = state.clock[NOW]
    i = 0
    n = state.clock[RUNNING]
    time = now
    while True:
        _copy(trial, then)
        if _put_job(trace, trial, machine, j, rank, -1, needed):
            _put_job(trace, then, machine, j, rank, time, needed)
            return
        if i == n:
            return
        time = max(state.running_end[i], now + 1)
        while i < n and max(state.running_end[i], now + 1) == time:
            k = state.running[i]
            take_of_machine(trace, machine, k, -1)
            for slot in range(trace.first[k], trace.first[k] + state.pieces[k]):
                row = row_of(trace, state, k, slot)
                for r in range(then.shape[1]):
                    then[state.place[slot], r] += amount_on(trace, k, row, state.place[slot], state.share[slot], r)
            i += 1


@compiled
def needs(trace: TraceArrays, state: State, rank: Ints, planned: Bools, strict: bool, needed: Ints) -> None:
    """Set ``needed`` to the times at which waiting jobs need nodes, where these are earlier.

    Parameters
    ----------
    trace, state
        The replay.
    rank
        0: the node is on, 1: it boots, 2: it is off or shuts down, UNUSABLE: it takes no starts; shape (places,).
    planned
        Jobs whose start is planned, shape (jobs,).
    strict
        Whether the first job that does not fit blocks all later ones.
    needed
        In and out: seconds, shape (places,).
    """
    now = state.clock[NOW]
    places = trace.capacity.shape[0]
    resources = trace.capacity.shape[1]
    whole = np.empty((places, resources), np.int64)
    total = np.zeros(resources, np.int64)
    for p in range(places):
        for r in range(resources):
            whole[p, r] = state.free[p, r]
            if rank[p] < UNUSABLE:
                total[r] += max(0, whole[p, r])
    free = whole.copy()
    trial = np.empty_like(whole)
    waits = False
    machine = state.machine_free.copy()
    for i in range(state.clock[WAITING]):
        j = state.waiting[i]
        if planned[j] or held(trace, state.limit_free, j):
            continue
        if not may_start(trace, j, now):
            opens = allowed_from(trace, j, now)
            _copy(trial, whole)
            if opens < NEVER and _put_job(trace, trial, state.machine_free, j, rank, -1, needed):
                _copy(trial, whole)
                _put_job(trace, trial, state.machine_free, j, rank, opens, needed)
            continue
        if state.reserved[j] > now:
            for k in range(trace.first[j], trace.first[j] + state.pieces[j]):
                needed[state.place[k]] = min(needed[state.place[k]], state.reserved[j])
            continue
        fits = True
        for r in range(resources):
            fits = fits and trace.units[j] * trace.request[j, r] <= total[r]
        if fits:
            _copy(trial, free)
            fits = _put_job(trace, trial, machine, j, rank, -1, needed)
        if fits:
            _put_job(trace, free, machine, j, rank, now, needed)
            take_of_machine(trace, machine, j, 1)
            for r in range(resources):
                total[r] -= trace.units[j] * trace.request[j, r]
        elif not waits:
            waits = True
            _wait_for_ends(trace, state, j, whole, trial, rank, needed)
            if strict:
                return


WHY = "node power"  # the reason for which the timeline closes nodes
ORDER = np.array([2, 1, 2, 0])  # of OFF, BOOTING, SHUTTING_DOWN, ON: which nodes a waiting job takes first
MOST_CALLS = 10_000  # calls of a policy in a row without a start while nothing runs or arrives


class NodePower(Feature):
    """The node policy of a replay, see ``simulation.node_policies``.

    Parameters
    ----------
    policy : NodePolicy
        The policy.
    switching : Switching
        The times of nodes.
    desired : DesiredProfile, optional
        The desired use, for the policy.
    """

    def __init__(self, policy: NodePolicy, switching: Switching, desired: DesiredProfile | None) -> None:
        self.policy = policy
        self.times = switching
        self._desired = desired
        self.still = isinstance(policy, AlwaysOn)  # no node is ever switched off: the replay is that without a policy
        self.watches = self.follows_nodes = not self.still
        self.changes: list[tuple[int, int, int]] = []  # time, node, state

    def begin(self, engine: Replay) -> None:
        """Prepare the policy; all nodes are on."""
        self._engine = engine
        nodes = len(engine.platform.nodes)
        begin = engine.workload.begin
        if begin is None:
            begin = 0
            if engine.trace.order.size:
                begin = int(engine.trace.release[engine.trace.order].min())
        self.state: Ints = np.full(nodes, ON)
        self.since = np.full(nodes, begin)
        self.idle_since = np.full(nodes, begin)
        self._wanted: NDArray[np.bool_] = np.zeros(nodes, np.bool_)  # the policy has decided to boot them
        self._boot_at = np.full(nodes, NEVER)
        self._wake = NEVER
        self._calls = 0
        self._stuck = -1
        self._entries: list[Entry] = []  # of this feature on the agenda
        try:
            self.policy.begin(engine.platform, self.times, self._desired)
        except WrongValue:
            raise
        except Exception as e:
            raise SimulationError(f"node policy {self.policy.name} raised in begin: {type(e).__name__}: {e}") from e

    @property
    def now(self) -> int:
        """The time in seconds."""
        return self._engine.now

    def _schedule(self) -> None:
        """Put the next boot, end of a boot, and call of the policy on the agenda."""
        booting = self.state == BOOTING
        if booting.any():
            ready = int(self.since[booting].min()) + self.times.boot
        else:
            ready = NEVER
        due = min(ready, int(self._boot_at.min()))
        agenda = self._engine.agenda
        for entry in self._entries:
            agenda.cancel(entry)
        self._entries = []
        for at, period in ((due, 0), (self._wake, DAY)):
            if at < NEVER:
                at = max(at, self.now)
                self._entries.append(
                    agenda.add(at, Rank.NODE_POWER, self._switch_due, waits_for_jobs=True, period=period)
                )

    def _switch_due(self) -> None:
        """Begin and end the boots that are due."""
        now = self.now
        if self._wake <= now:
            self._wake = NEVER
        for n in np.flatnonzero(self._boot_at <= now).tolist():
            self._begin_boot(n)
        for n in np.flatnonzero((self.state == BOOTING) & (self.since + self.times.boot <= now)).tolist():
            self._switch(n, ON, int(self.since[n]) + self.times.boot)
            self.idle_since[n] = self.since[n]
        self._close()

    def _close(self) -> None:
        """Tell the timeline which nodes are not on, and when they can be."""
        timeline = self._engine.timeline
        timeline.close(WHY, self.state != ON, [STATE_NAMES[s] for s in self.state.tolist()])
        timeline.set_away(WHY, self.ready())

    def _switch(self, node: int, state: int, time: int) -> None:
        self.state[node], self.since[node] = state, time
        self.changes.append((time, node, state))

    def ready(self) -> Ints:
        """Return the earliest time in seconds at which jobs may start on each node, shape (nodes,).

        It is after now for a node that is not on, even if it boots in no time: it is on after this decision.
        """
        times_ready = np.where(self.state == BOOTING, self.since, self._earliest_boot()) + self.times.boot
        ready: Ints = np.where(self.state == ON, self.now, np.maximum(times_ready, self.now + 1))
        return ready

    def _earliest_boot(self) -> Ints:
        """Return when the nodes that are off or shut down can begin to boot, in seconds."""
        shut_down = np.where(self.state == SHUTTING_DOWN, self.times.shut_down, 0)
        times_off: Ints = np.maximum(self.now, self.since + shut_down + self.times.min_off)
        return times_off

    def before_decision(self) -> None:
        """Bring the states of the nodes, and the times at which they can be on, up to date."""
        if self.still:
            return
        for n in np.flatnonzero(self.state == SHUTTING_DOWN).tolist():
            off = int(self.since[n]) + self.times.shut_down
            if off <= self.now:
                self.state[n], self.since[n] = OFF, off
        self._close()

    def after_decision(self) -> None:
        """Boot the nodes that are needed, and ask the policy."""
        if self.still or self._engine.idle:
            return
        engine = self._engine
        now = self.now
        nodes = self.state.size
        used = np.zeros(nodes, np.bool_)
        until = np.full(nodes, now)
        survey(engine.trace, engine.state, used, until)
        self.idle_since[~used & (self.idle_since >= NEVER)] = now
        self.idle_since[used] = NEVER
        idle = ~used & (self.state == ON)
        away = bool((self.state != ON).any())
        needed = np.full(nodes, NEVER)
        if idle.any() or away:
            self._note_needs(needed, until)
        may = idle & (needed > now + self.times.away) & ~engine.timeline.barred
        may &= engine.state.clock[STARTED] != self._stuck
        if away:
            self._boot(np.where(self._wanted, now, needed))
        self._ask(needed, until, may)
        self._schedule()

    def _note_needs(self, needed: Ints, until: Ints) -> None:
        """Note when nodes are needed, by planned starts, waiting jobs, reservations and other features, and until when."""
        engine = self._engine
        state = engine.state
        trace = engine.trace
        number = engine.timeline.number
        planned = np.zeros(trace.release.size, np.bool_)
        for name, start in engine.plans.by_id.items():
            j = engine.ledger.row[name]
            planned[j] = True
            end = start.time + int(state.expected[j])
            for node in (node for on in (start.nodes, *start.further) for node in on):
                n = number[node]
                needed[n], until[n] = min(needed[n], start.time), max(until[n], end)
        for use in (*engine.timeline.reserved_uses(), *engine.kept_free()):
            for n in (number[node] for node in use.nodes):
                needed[n], until[n] = min(needed[n], use.start), max(until[n], use.end)
        self._note_lacking(needed)
        strict = engine.policy is not None and engine.policy.strict
        if state.clock[WAITING]:
            rank = ORDER[self.state]
            rank[engine.timeline.closed_for_good()] = UNUSABLE
            needs(trace, state, rank, planned, strict, needed)

    def _note_lacking(self, needed: Ints) -> None:
        """Note the nodes that other features lack now: those that boot count first, then those that are off."""
        lacking = sum(feature.lacking for feature in self._engine.features)
        out = [n for n in self._engine.timeline.coming_back().tolist() if needed[n] > self.now]
        for n in sorted(out, key=lambda n: (ORDER[self.state[n]], n))[:lacking]:
            needed[n] = self.now

    def _boot(self, needed: Ints) -> None:
        """Boot the nodes that are needed as late as possible; all of them if nothing else can happen."""
        now, clock = self.now, self._engine.state.clock
        if self._nothing_else(needed):
            needed = np.full(needed.size, now)
            self._stuck = int(clock[STARTED])
        out = (self.state == OFF) | (self.state == SHUTTING_DOWN)
        at = np.maximum(self._earliest_boot(), np.minimum(needed, NEVER) - self.times.boot)
        self._boot_at = np.where(out & (needed < NEVER), at, NEVER)
        for n in np.flatnonzero(self._boot_at <= now).tolist():
            self._begin_boot(n)

    def _begin_boot(self, node: int) -> None:
        self._switch(node, BOOTING, self.now)
        self._wanted[node], self._boot_at[node] = False, NEVER

    def _nothing_else(self, needed: Ints) -> bool:
        """Return whether jobs wait that may start, and neither a job nor a node will change anything."""
        engine = self._engine
        coming = (needed < NEVER).any() or (self.state == BOOTING).any() or engine.plans.by_id
        quiet = engine.state.clock[RUNNING] == 0 and not engine.jobs_to_come
        quiet = quiet and not engine.agenda.has_others(Rank.NODE_POWER)
        return bool(quiet and not coming and allowed(engine.trace, engine.state).any())

    def _ask(self, needed: Ints, until: Ints, may: Any) -> None:
        """Ask the policy and carry out its decision."""
        now = self.now
        policy = self.policy
        engine = self._engine
        moment = NodeMoment(
            now, engine.platform, self.state.copy(), self.since.copy(), self.ready(),
            np.where(self.state == ON, self.idle_since, NEVER), until, needed, may,
            tuple(engine.ledger.waiting.values()),
        )  # fmt: skip
        try:
            answer = policy.decide(moment)
        except Exception as e:
            raise SimulationError(
                f"node policy {policy.name} raised at {now}: {type(e).__name__}: {e}", time=now
            ) from e
        self._check(answer, may)
        for n in dict.fromkeys(int(n) for n in answer.off):
            self._switch(n, SHUTTING_DOWN, now)
            self.changes.append((now + self.times.shut_down, n, OFF))
        on = [int(n) for n in answer.on]
        self._wanted[on] = self.state[on] != ON
        self._wanted[self.state == BOOTING] = False
        if self._wanted.any() or len(answer.off):  # also nodes that are switched off now may be needed later
            self._boot(np.where(self._wanted, now, needed))
        self._close()
        if answer.wake is None or self._tired():
            self._wake = NEVER
        else:
            self._wake = int(answer.wake)

    def _tired(self) -> bool:
        """Return whether the policy has been called too often while nothing runs or arrives."""
        engine = self._engine
        nothing = engine.state.clock[RUNNING] == 0 and not engine.jobs_to_come
        if nothing:
            self._calls = self._calls + 1
        else:
            self._calls = 0
        return self._calls > MOST_CALLS

    def _check(self, answer: object, may: Any) -> None:
        """Raise SimulationError if the decision of the policy breaks a rule."""
        who = f"node policy {self.policy.name} at {self.now}"
        now = self.now
        nodes = self.state.size
        if not isinstance(answer, NodeDecision):
            raise SimulationError(f"{who}: it returned {shown(answer)}; expected a NodeDecision", time=now)
        for what, listed in (("off", answer.off), ("on", answer.on)):
            try:
                returned_indices(f"{who}: NodeDecision.{what}", listed, nodes, "nodes")
            except WrongAnswer as e:
                raise SimulationError(str(e), time=now) from e
        names = self._engine.platform.nodes
        barred = next((int(n) for n in answer.off if not may[n]), None)
        if barred is not None:
            raise SimulationError(
                f"{who}: node {names[barred]!r} cannot be switched off: it is {STATE_NAMES[self.state[barred]]}, runs a job or "
                "is needed (NodeMoment.may_switch_off)", node=names[barred], time=now,
            )  # fmt: skip
        both = sorted({int(n) for n in answer.off} & {int(n) for n in answer.on})
        if both:
            raise SimulationError(f"{who}: node {names[both[0]]!r} is in off and in on", time=now)
        if answer.wake is not None and (not is_whole(answer.wake) or answer.wake <= now):
            raise SimulationError(f"{who}: wake is {shown(answer.wake)}; expected a time after {now}", time=now)

    def result(self, now: int) -> Mapping[str, Any]:
        """Return the record of the changes up to now."""
        # stable: at one time, those of a node keep their order
        changes = sorted((c for c in self.changes if c[0] <= now), key=lambda c: c[0])
        table = np.array(changes, np.int64).reshape(-1, 3)
        return {"power": PowerRecord(self.policy.name, self.times, table[:, 1], table[:, 0], table[:, 2])}


def node_power(
    node_policy: str | NodePolicy | type[NodePolicy] | None,
    switching: Switching | None,
    workload: Workload,
    desired: DesiredProfile | None,
) -> NodePower | None:
    """Return the node power of a replay; None if there is no node policy.

    Parameters
    ----------
    node_policy : str or NodePolicy, optional
        As in ``simulate``, or that of the dispatcher.
    switching : Switching, optional
        The times of nodes; None: the usual ones.
    workload : Workload
        The jobs.
    desired : DesiredProfile, optional
        The desired use.

    Raises
    ------
    WrongValue
        If the times are given without a policy, or nodes need longer to come back than the replay lasts.
    """
    expect("switching of simulate", switching, Switching | None)
    if node_policy is None:
        if switching is not None:
            raise WrongValue("switching: only with node_policy; give one, such as idle:30min")
        return None
    made = NodePower(node_policy_of(node_policy), switching or Switching(), desired)
    if workload.begin is None:
        begin = int(workload.submit.min())
    else:
        begin = workload.begin
    horizon = _last_end(workload, begin) - begin
    if not made.still and made.times.boot > horizon:
        raise WrongValue(
            f"boot is {made.times.boot} s, beyond the horizon: all jobs can end {horizon} s after the begin of the "
            "replay, and no node that is switched off would come back in time"
        )
    return made


def _last_end(workload: Workload, begin: int) -> int:
    """Return the time in seconds by which all jobs can end, each as late as its start windows allow.

    A job without windows starts at its release, and in a queue with daily windows up to a day later.
    """
    start = np.maximum(workload.release, begin)
    daily = np.array([bool(queue.daily) for queue in workload.queues], np.bool_)
    start = start + np.where(daily[workload.queue], DAY, 0)
    for row, windows in workload.windows.items():
        start[row] = max(int(start[row]), max((last for _, last in windows), default=0))
    return max([int((start + workload.runtime).max()), *(r.true_end for r in workload.running)])
