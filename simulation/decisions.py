"""The decision of a dispatcher in Python: its check, its starts, and the statistics of all calls."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple, get_args

import numpy as np

from ..heuristics.kernels.events.entries import compact, may_start
from ..heuristics.kernels.events.state import UNSTARTED
from ..models.arguments import is_whole, wrong
from ..models.array_types import Ints
from ..models.problem import part_name
from ..models.words import how_many, with_short_repr
from .dispatcher import Decision, DecisionFault, Ended, FailedStart, PlannedStart, Start
from .dispatchers.policy import Policy
from .features.feature import Replay
from .records import Decisions, SizeCount
from .timeline import Use

# --- Check of a dispatcher's answer: its types and values (``fault_of``), and the units and nodes of its starts.
#
# Whether the jobs wait and may start is checked by ``StartChecks``.

ENDINGS = get_args(Ended)
LONGEST = 80  # characters of a foreign object in a message


def fault_of(answer: object) -> DecisionFault | None:
    """Return the first fault of the form of an answer, or None if there is none.

    ``answer.starts`` and ``answer.plan`` must not be generators: this function iterates over them.

    Examples
    --------
    >>> fault_of(Decision([Start("j1", {"n-1": 1})])) is None
    True
    >>> fault_of(Decision([Start("j1", {"n-1": 0.5})])).why
    "0.5 units of job 'j1' on node 'n-1'; expected a whole number"
    """
    if not isinstance(answer, Decision):
        return DecisionFault(f"decide returned {shown(answer)}; expected a Decision (schedlab.simulation)")
    if isinstance(answer.starts, str | Mapping) or not isinstance(answer.starts, Iterable):
        return DecisionFault(
            f"Decision.starts is {shown(answer.starts)}; expected a list of Start (schedlab.simulation)"
        )
    return (
        _fault_of_statistics(answer)
        or next(filter(None, map(_fault_of_start, answer.starts)), None)
        or _fault_of_plan(answer)
    )


def _fault_of_plan(answer: Decision) -> DecisionFault | None:
    """Return the first fault of the fields that ask for something later."""
    if answer.wake is not None and not is_whole(answer.wake):
        return DecisionFault(f"Decision.wake {wrong(answer.wake, or_none=True)}, a time in seconds")
    if answer.policy is not None and answer.policy.within_profile:
        return DecisionFault(
            f"Decision.policy {answer.policy.name} keeps to a desired profile; expected a plain policy"
        )
    plan: object = answer.plan
    withdrawn: Any = answer.withdrawn
    if isinstance(withdrawn, str) or not isinstance(withdrawn, Collection) or {type(n) for n in withdrawn} - {str}:
        return DecisionFault(f"Decision.withdrawn is {shown(withdrawn)}; expected a list of ids of jobs")
    if plan is None:
        return None
    if isinstance(plan, str | Mapping) or not isinstance(plan, Iterable):
        return DecisionFault(f"Decision.plan is {shown(plan)}; expected a list of PlannedStart, or None")
    named: set[str] = {start.job for start in answer.starts}
    for planned in plan:
        if not isinstance(planned, PlannedStart):
            return DecisionFault(
                f"Decision.plan contains {shown(planned)}; expected PlannedStart(job id, {{node: units}}, time)"
            )
        fault = _fault_of_start(Start(planned.job, planned.nodes, planned.further), "PlannedStart")
        if fault is not None:
            return fault
        if not is_whole(planned.time):
            return DecisionFault(f"PlannedStart.time of job {planned.job!r} {wrong(planned.time)}", planned.job)
        if planned.job in named:
            return DecisionFault(f"job {planned.job!r} has two starts in one Decision; expected one", planned.job)
        named.add(planned.job)
    return None


def _fault_of_statistics(answer: Decision) -> DecisionFault | None:
    """Return the first fault of the fields that the statistics use."""
    seconds: Any = answer.seconds
    if answer.ended not in ENDINGS:
        return DecisionFault(f"Decision.ended is {shown(answer.ended)}; expected one of {', '.join(ENDINGS)}")
    if not _holds(seconds, Real) or not all(isfinite(value) and value >= 0 for value in seconds.values()):
        return DecisionFault(
            f"Decision.seconds is {shown(seconds)}; expected {{part: number of at least 0}}, such as model, solve, allocate"
        )
    gain: Any = answer.gain
    if gain is not None and not (isinstance(gain, Real) and not isinstance(gain, bool) and isfinite(gain)):
        return DecisionFault(f"Decision.gain is {shown(gain)}; expected a finite number, or None if it is unknown")
    for what, number in (("urgent", answer.urgent), ("jobs", answer.jobs)):
        if not is_whole(number) or number < 0:
            return DecisionFault(f"Decision.{what} is {shown(number)}; expected a whole number of jobs, at least 0")
    counts: Any = answer.counts
    if not _holds(counts, Integral):
        return DecisionFault(f"Decision.counts is {shown(counts)}; expected {{name: whole number}}")
    if not isinstance(answer.used, str):
        return DecisionFault(f"Decision.used is {shown(answer.used)}; expected the name of a method, or an empty text")
    if answer.policy is not None and (not isinstance(answer.policy, Policy) or answer.policy.ranker is not None):
        return DecisionFault(f"Decision.policy is {shown(answer.policy)}; expected a Policy without a ranker, or None")
    requested: Any = answer.requested
    if not _holds(requested, Integral):
        return DecisionFault(f"Decision.requested is {shown(requested)}; expected {{resource: whole number}}")
    return None


def _holds(values: object, kind: type) -> bool:
    """Return whether the values are a mapping to numbers of a kind; checks of abstract types are slow, so few are made."""
    if type(values) is dict and not values:
        return True
    return isinstance(values, Mapping) and all(isinstance(value, kind) for value in values.values())


def _fault_of_start(start: object, kind: str = "Start") -> DecisionFault | None:
    if not isinstance(start, Start):
        return DecisionFault(f"Decision.starts contains {shown(start)}; expected Start(job id, {{node: units}})")
    job, nodes, further = start
    if not isinstance(job, str):
        return DecisionFault(f"{kind}.job is {shown(job)}; expected the id of a job, a string")
    if not isinstance(further, tuple | list):
        return DecisionFault(f"{kind}.further of job {job!r} is {shown(further)}; expected ({{node: units}}, ...)", job)
    for on in (nodes, *further):
        if not isinstance(on, Mapping):
            return DecisionFault(f"{kind}.nodes of job {job!r} is {shown(on)}; expected {{node: units}}", job)
        for node, units in on.items():
            if type(units) is not int and (not isinstance(units, Integral) or isinstance(units, bool)):
                return DecisionFault(
                    f"{shown(units)} units of job {job!r} on node {node!r}; expected a whole number", job
                )
    return None


def fault_of_units(job: str, nodes: Mapping[str, int], units: int, known: Mapping[str, int]) -> DecisionFault | None:
    """Return the fault of a start that has not all ``units`` of the job, or nodes that are not ``known``."""
    if sum(nodes.values()) != units or any(u < 1 for u in nodes.values()):
        return DecisionFault(
            f"job {job!r} has {how_many(units, 'unit')}; the units of its start are {dict(nodes)}", job
        )
    unknown = next((node for node in nodes if node not in known), None)
    if unknown is not None:
        why = f"the platform has no node {unknown!r}, which job {job!r} should use"
        return DecisionFault(why, job, unknown)
    return None


class Shortage(NamedTuple):
    """A node that cannot hold the units of a job: the amounts of a resource that are needed and that are there."""

    node: str
    resource: int
    need: int
    there: int


def shortage(nodes: Mapping[str, int], request: Ints, amounts: Ints, known: Mapping[str, int]) -> Shortage | None:
    """Return the first node that has too little for its units.

    Parameters
    ----------
    nodes : mapping of str to int
        Node name -> number of units.
    request : ndarray of int64, shape (resources,)
        Amounts per unit.
    amounts : ndarray of int64, shape (nodes, resources)
        Amounts that each node has.
    known : mapping of str to int
        Node name -> row of ``amounts``.

    Returns
    -------
    Shortage or None
        None if all nodes have enough.
    """
    need = np.multiply.outer(np.fromiter(nodes.values(), np.int64, len(nodes)), request)
    there = amounts[[known[node] for node in nodes]]
    lacks = need > there
    if not lacks.any():
        return None
    k, r = divmod(int(lacks.argmax()), request.size)
    return Shortage(list(nodes)[k], r, int(need[k, r]), int(there[k, r]))


def shown(what: object) -> str:
    """Return the ``repr`` of an object for a message, cut after 80 characters."""
    text = repr(what)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}..."


# --- The starts that a dispatcher in Python asks for: checked, and made now, or kept for later.
#
# A start that is not possible now ends the replay with ``SimulationError``; a planned one that is not possible at its time is
# told to the dispatcher (``Moment.failed``).


class StartChecks:
    """The starts of a dispatcher in one replay."""

    def __init__(self, engine: Replay) -> None:
        self._engine = engine

    def start_all(self, starts: Iterable[Start], late: bool) -> None:
        """Check and start these jobs, one after the other; one that a limit holds now stays in the queue.

        ``late``: leave out jobs that cannot start any more, as the decision lasted: calendars or nodes have closed, or nodes
        were given to others.
        """
        engine = self._engine
        for start in starts:
            j = self._waiting_row(start)
            if late and self._hindered(start, j):
                continue
            self._check(start, j)
            if self._lacks_power(j) or engine.timeline.limit_on(j):
                engine.plans.remove(j)  # an earlier plan, in place of which the start was to be
            else:
                engine.start(j, (start.nodes, *start.further))
        compact(engine.state)

    def plan_all(self, plan: Iterable[PlannedStart], called: int) -> None:
        """Check and keep planned starts after the time ``called``; none: remove all that are planned."""
        planned = [(self._planned_row(p, called), p) for p in plan]
        if not planned:
            self._engine.plans.clear()
        for j, p in planned:
            self._engine.plans.put(j, p)

    def start_planned(self) -> list[FailedStart]:
        """Make the planned starts that are due, and return those that are not possible."""
        engine, failed = self._engine, []
        for j, planned in engine.plans.due(engine.now):
            why = self._hindrance(j, planned)
            if why:
                failed.append(FailedStart(planned.job, planned.nodes, planned.time, why))
            else:
                engine.start(j, (planned.nodes, *planned.further))
                compact(engine.state)
        return failed

    def _hindered(self, start: Start, j: int) -> bool:
        """Return whether a start that was possible when the dispatcher was called is not any more."""
        engine = self._engine
        if not self._may_start(j) or self._closed(start) is not None:
            return True
        if self._fault_of_units(j, start) is not None:
            return False
        return self._shortage(j, start, engine.timeline.free()) is not None or bool(self.conflict(j, start))

    def _lacks_power(self, j: int) -> bool:
        """Return whether the whole machine has too little for a job; dispatchers do not know of it."""
        return bool((self._engine.timeline.machine_lacks(j) > 0).any())

    def _may_start(self, j: int) -> bool:
        return may_start(self._engine.trace, j, self._engine.now)

    def _hindrance(self, j: int, planned: PlannedStart) -> str:
        """Return why a planned start is not possible now; an empty string if it is."""
        engine, now = self._engine, self._engine.now
        if planned.time < now:
            return f"a decision lasted until {now}"
        if j not in engine.ledger.waiting:
            return f"job {planned.job!r} has not arrived"
        if not self._may_start(j):
            return f"the calendars of job {planned.job!r} do not allow a start"
        if self._lacks_power(j):
            return f"the limit on power leaves too little for job {planned.job!r}"
        limit = engine.timeline.limit_on(j)
        if limit:
            return f"the limit {limit} leaves too little for job {planned.job!r}"
        closed = self._closed(planned)
        if closed is not None:
            return f"node {closed!r} is {self._state_of(closed)}"
        lack = self._shortage(j, planned, engine.timeline.free())
        if lack is None:
            return self.conflict(j, planned)
        there = ", ".join(repr(r.job.id) for r in engine.ledger.shown_running() if lack.node in r.nodes)
        return (
            f"node {lack.node!r} has {lack.there} free {self._resource(lack)}, job "
            f"{planned.job!r} needs {lack.need}; there run: {there}"
        )

    def conflict(self, j: int, start: Start | PlannedStart) -> str:
        """Return into which reservation job j would run if it started now; an empty text if into none."""
        engine = self._engine
        if not engine.timeline.holds:
            return ""
        end = engine.now + engine.ledger.limit(j)
        mine = engine.ledger.uses_of(j, engine.now, end, (start.nodes, *start.further))
        return engine.timeline.conflict(start.job, mine, self._others(), end)

    def _others(self) -> Iterable[Use]:
        return self._engine.running_uses()

    def _fault_of_units(self, j: int, start: Start | PlannedStart) -> DecisionFault | None:
        """Return the fault of a start without all units of a chunk, or with nodes that do not exist or that it may not use."""
        engine = self._engine
        chunks = engine.workload.chunks.get(j, ())
        further = [c.units for c in chunks[1:]]
        if len(start.further) != len(further):
            why = f"job {start.job!r} has {how_many(len(further), 'further chunk')}; its start has nodes for {len(start.further)}"
            return DecisionFault(f"{why} (Start.further)", start.job)
        units = [int(engine.trace.units[j]), *further]
        for k, (on, count) in enumerate(zip((start.nodes, *start.further), units, strict=True)):
            fault = fault_of_units(part_name(start.job, k), on, count, engine.timeline.number)
            fault = fault or self._fault_of_nodes(j, start.job, on)
            if fault is not None:
                return fault
        return None

    def _fault_of_nodes(self, j: int, job: str, nodes: Mapping[str, int]) -> DecisionFault | None:
        """Return the fault of nodes that a job may not use, or of too many units on one."""
        trace, number = self._engine.trace, self._engine.timeline.number
        mask = trace.masks[trace.node_set[j]]
        most = int(trace.most[j])
        for node, units in nodes.items():
            if not mask[number[node]]:
                why = f"job {job!r} may not use node {node!r} (the nodes of its queue, Job.nodes, Job.features)"
                return DecisionFault(why, job, node)
            if units > most:
                why = f"job {job!r} has {units} units on node {node!r}; at most {most} may be on one (Job.per_node)"
                return DecisionFault(why, job, node)
        return None

    def _shortage(self, j: int, start: Start | PlannedStart, amounts: Ints) -> Shortage | None:
        """Return the first node that has too little for the units of a start."""
        trace, number = self._engine.trace, self._engine.timeline.number
        if trace.whole[j]:
            lacks = (shortage({node: 1}, trace.capacity[number[node]], amounts, number) for node in start.nodes)
            return next(filter(None, lacks), None)
        if not start.further:
            return shortage(start.nodes, trace.request[j], amounts, number)
        left = amounts.copy()
        first = int(trace.first_further[j])
        for k, on in enumerate((start.nodes, *start.further)):
            if k == 0:
                request = trace.request[j]
            else:
                request = trace.further_request[first + k - 1]
            lack = shortage(on, request, left, number)
            if lack is not None:
                return lack
            for node, units in on.items():
                left[number[node]] -= units * request
        return None

    def _resource(self, lack: Shortage) -> str:
        """Return the name of the resource that lacks."""
        resources = self._engine.platform.resources
        if lack.resource < len(resources):
            return resources[lack.resource]
        return "parts (a whole node excludes other jobs)"

    def _closed(self, start: Start | PlannedStart) -> str | None:
        """Return the first of the nodes of a start on which no job may start now; None if there is none."""
        timeline = self._engine.timeline
        if timeline.open.all():
            return None
        number = timeline.number
        nodes = chain(start.nodes, *start.further)
        return next((node for node in nodes if node in number and not timeline.open[number[node]]), None)

    def _state_of(self, node: str) -> str:
        return self._engine.timeline.state_of(self._engine.timeline.number[node])

    def _waiting_row(self, start: Start) -> int:
        ledger = self._engine.ledger
        j = ledger.row.get(start.job)
        if j is None or j not in ledger.arrived:
            why = f"there is no job {start.job!r} in the queue; use the ids of moment.waiting"
            self._engine.refuse_start(DecisionFault(why, start.job))
        if j not in ledger.waiting:
            self._engine.refuse_start(self._has_started(start.job, j))
        return j

    def _has_started(self, job: str, j: int) -> DecisionFault:
        return DecisionFault(f"job {job!r} has started already, at {self._engine.ledger.start_of(j)}", job)

    def _check(self, start: Start, j: int) -> None:
        """Refuse a start that is not possible now."""
        engine = self._engine
        if not self._may_start(j):
            why = f"the calendars of job {start.job!r} do not allow a start now (may_start)"
            engine.refuse_start(DecisionFault(why, start.job))
        closed = self._closed(start)
        if closed is not None:
            why = f"job {start.job!r} cannot start on node {closed!r}, which is {self._state_of(closed)} (moment.states, moment.ready)"
            engine.refuse_start(DecisionFault(why, start.job, closed))
        fault = self._fault_of_units(j, start)
        lack = None
        if not fault:
            lack = self._shortage(j, start, engine.timeline.free())
        if lack is not None:
            why = (
                f"job {start.job!r} needs {lack.need} {self._resource(lack)} on node {lack.node!r}, "
                f"where {lack.there} are free{' (Job.whole_nodes)' if engine.trace.whole[j] else ''}"
            )
            fault = DecisionFault(why, start.job, lack.node)
        conflict = ""
        if not fault:
            conflict = self.conflict(j, start)
        if conflict:
            fault = DecisionFault(f"{conflict} (moment.reserved)", start.job)
        if fault is not None:
            engine.refuse_start(fault)

    def _planned_row(self, planned: PlannedStart, called: int) -> int:
        """Return the row of the job of a planned start; refuse a start that never is possible."""
        engine, job = self._engine, planned.job
        j = engine.ledger.row.get(job)
        if j is None:
            engine.refuse_start(
                DecisionFault(f"the plan has a start of job {job!r}; the workload has no such job", job)
            )
        if engine.state.start[j] != UNSTARTED:
            engine.refuse_start(self._has_started(job, j))
        if planned.time <= called:
            why = f"the start of job {job!r} is planned at {planned.time}; expected a time after {called}"
            engine.refuse_start(DecisionFault(f"{why} (jobs that start now belong to Decision.starts)", job))
        fault = self._fault_of_units(j, planned)
        lack = None
        if not fault:
            lack = self._shortage(j, planned, engine.trace.capacity)
        if lack is not None:
            why = (
                f"the plan of job {job!r} needs {lack.need} {self._resource(lack)} on node "
                f"{lack.node!r}, which has {lack.there}"
            )
            fault = DecisionFault(why, job, lack.node)
        if fault is not None:
            engine.refuse_start(fault)
        return j


# --- The statistics of the calls of a dispatcher during one replay.

PARTS = ("start", "model", "solve", "allocate")  # of a call, recorded one by one; other parts are summed


@with_short_repr
class CallStatistics:
    """The calls so far: their number, times, ends, and what the dispatcher reports about them."""

    def __init__(self, resources: Sequence[str]) -> None:
        self.made = 0
        self.skipped = 0
        self.urgent = 0
        self.ended: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.phases: dict[str, float] = {}
        self.seconds: dict[str, list[float]] = {part: [] for part in ("total", *PARTS)}
        self.gains: list[float] = []
        self.sizes = SizeCount(resources)

    def add_timed(self, took: float) -> None:
        """Add a call of ``took`` seconds of which nothing else is known."""
        self.made += 1
        self.seconds["total"].append(took)

    def add(self, decision: Decision, took: float, running: int, free: Ints) -> None:
        """Add a call of ``took`` seconds.

        Parameters
        ----------
        decision : Decision
            Its result.
        took : float
            Wall time in seconds.
        running : int
            Number of running jobs.
        free : ndarray of int64, shape (nodes, resources)
            Free amounts.
        """
        self.add_timed(took)
        self.ended[decision.ended] += 1
        self.urgent += decision.urgent
        self.counts.update(decision.counts)
        if decision.used:
            self.used[decision.used] += 1
        if decision.requested:
            self.sizes.add(decision, running, np.maximum(free, 0))
        for part in PARTS:
            self.seconds[part].append(decision.seconds.get(part, 0.0))
        for name, value in decision.seconds.items():
            if name not in PARTS:
                self.phases[name] = self.phases.get(name, 0.0) + value
        if decision.gain is not None:
            self.gains.append(decision.gain)

    def result(self) -> Decisions:
        """Return the statistics as part of the result of a replay."""
        return Decisions(
            made=self.made,
            skipped=self.skipped,
            ended=dict(self.ended),
            seconds={part: np.array(values) for part, values in self.seconds.items()},
            total_seconds=math.fsum(self.seconds["total"]),
            gains=np.array(self.gains),
            urgent=self.urgent,
            models=self.sizes.means(),
            phases=dict(self.phases),
            used=dict(self.used),
            counts=dict(self.counts),
        )
