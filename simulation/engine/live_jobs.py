"""The waiting and running jobs of a replay in Python, and their starts: now, and planned for later.

Each start is checked; one that is not possible is refused with a ``SimulationError``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import NoReturn

import numpy as np

from ...heuristics.kernels.events.entries import begin, compact, keep_places, may_start
from ...heuristics.kernels.events.state import NOW, SORTED, State
from ...heuristics.kernels.profile import NEVER, Ints
from ...models import Job, Running
from ...models.problem import part_name
from .answer import DecisionFault, Shortage, fault_of_units, shortage
from .moment import FailedStart, PlannedStart, Start
from .plans import Plans
from .progress import ReplayPlan
from .simulation import SimulationError
from .states.node_changes import NodeChanges


class LiveJobs:
    """The jobs of a replay.

    ``waiting``, ``running`` and ``by_user`` identify jobs by their row in the workload, ``expected`` (seconds; waiting
    and running jobs) and ``row`` (the jobs that have arrived) by their id. ``plans``: the planned starts. ``walltimes``:
    seconds, of the jobs and then of those that ran at the begin.
    """

    def __init__(self, plan: ReplayPlan, state: State, changes: NodeChanges) -> None:
        self._plan, self._state, self._changes = plan, state, changes
        self._nodes = {name: n for n, name in enumerate(plan.platform.nodes)}
        self.waiting: dict[int, Job] = {}
        self.running: dict[int, Running] = {}
        self.further: dict[int, list[Running]] = {}
        self.by_user: dict[int, set[int]] = defaultdict(set)
        self.expected: dict[str, int] = {}
        self.row: dict[str, int] = {}
        self.plans = Plans()
        at_begin = [r.job.walltime for r in plan.workload.running]
        away = np.zeros(state.expected.size - len(plan.workload) - len(at_begin), np.int64)  # rows of nodes
        self.walltimes = np.concatenate([plan.workload.walltime, np.array(at_begin, np.int64), away])
        for j, r in enumerate(plan.workload.running, len(plan.workload)):
            self.running[j] = replace(r, job=replace(r.job, runtime=None))
            self.expected[r.job.id] = int(state.expected[j])
            self.row[r.job.id] = j

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each node, by its name."""
        return self._nodes

    def arrive(self, j: int, job: Job) -> None:
        """Add job j to the queue; its expected duration is known to the state."""
        self.by_user[int(self._plan.workload.user[j])].add(j)
        self.waiting[j] = job
        self.row[job.id] = j

    def dequeue(self, j: int) -> Job:
        """Remove job j from the waiting jobs and return it."""
        self.by_user[int(self._plan.workload.user[j])].discard(j)
        return self.waiting.pop(j)

    def return_to_places(self) -> None:
        """Sort the queue by arrival: jobs that come back have their old places in it."""
        state, release = self._state, self._plan.workload.release
        order = sorted(self.waiting, key=lambda j: (release[j], j))
        self.waiting = {j: self.waiting[j] for j in order}
        state.waiting[: len(self.waiting)] = list(self.waiting)
        state.clock[SORTED] = 0

    def end(self, j: int) -> None:
        """Remove job j from the running jobs."""
        ended = self.running.pop(j, None)
        self.further.pop(j, None)
        if ended is not None:
            self.expected.pop(ended.job.id, None)

    def start_all(self, starts: Iterable[Start], late: bool) -> None:
        """Check and start these jobs, one after the other.

        ``late``: leave out jobs whose calendars, or one of whose nodes, have closed since the dispatcher was called.
        """
        for start in starts:
            j = self._waiting_row(start)
            if late and (
                not may_start(self._plan.trace, j, self._state.clock[NOW]) or self._blocked(start) is not None
            ):
                continue
            self._check(start, j)
            self._start(j, start)
        compact(self._state)

    def plan_all(self, plan: Iterable[PlannedStart], called: int) -> None:
        """Check and keep planned starts after the time ``called``; none: remove all that are planned."""
        planned = [(self._planned_row(p, called), p) for p in plan]
        if not planned:
            self.plans.clear()
        for j, p in planned:
            self.plans.put(j, p)

    def withdraw(self, names: Iterable[str]) -> None:
        """Remove the planned starts of these jobs."""
        for name in names:
            if name in self.plans.by_id:
                self.plans.remove(self._plan.row[name])

    def _start(self, j: int, start: Start | PlannedStart) -> None:
        """Start waiting job j now on nodes that have room for it; ``compact`` must follow."""
        trace, state = self._plan.trace, self._state
        places = [pair for on in (start.nodes, *start.further) for pair in on.items()]
        for k, (node, units) in enumerate(places):
            state.chosen[k], state.put[k] = self._nodes[node], units
        keep_places(trace, state, j, len(places))
        begin(trace, state, j)
        self._note(j, (start.nodes, *start.further))

    def _note(self, j: int, nodes: Iterable[Mapping[str, int]]) -> None:
        """Note that waiting job j has started now; ``nodes``: of each chunk."""
        job, now = self.dequeue(j), int(self._state.clock[NOW])
        end = now + int(self._state.expected[j])
        parts = [Running(part, now, dict(on), end) for part, on in zip(job.parts, nodes, strict=True)]
        self.running[j] = parts[0]
        if len(parts) > 1:
            self.further[j] = parts[1:]
        self.plans.remove(j)

    def start_of_policy(self, j: int) -> None:
        """Note that a policy has started waiting job j now."""
        self._note(j, self._changes.nodes_of(j))

    def start_planned(self) -> list[FailedStart]:
        """Make the planned starts that are due, and return those that are not possible."""
        failed = []
        for j, planned in self.plans.due(int(self._state.clock[NOW])):
            why = self._hindrance(j, planned)
            if why:
                failed.append(FailedStart(planned.job, planned.nodes, planned.time, why))
            else:
                self._start(j, planned)
                compact(self._state)
        return failed

    def _hindrance(self, j: int, planned: PlannedStart) -> str:
        """Return why a planned start is not possible now; an empty string if it is."""
        trace, now = self._plan.trace, int(self._state.clock[NOW])
        if planned.time < now:
            return f"a decision lasted until {now}"
        if j not in self.waiting:
            return f"job {planned.job!r} has not arrived"
        if not may_start(trace, j, now):
            return f"the calendars of job {planned.job!r} do not allow a start"
        blocked = self._blocked(planned)
        if blocked is not None:
            return f"node {blocked!r} is {self._changes.state_of(self._nodes[blocked])}"
        lack = self._shortage(j, planned, self._changes.free())
        if lack is None:
            return self._changes.conflict(j, (planned.nodes, *planned.further))
        there = ", ".join(repr(r.job.id) for r in self.all_running() if lack.node in r.nodes)
        return (
            f"node {lack.node!r} has {lack.there} free {self._plan.platform.resources[lack.resource]}, job "
            f"{planned.job!r} needs {lack.need}; there run: {there}"
        )

    def all_running(self) -> Iterator[Running]:
        """Yield the running jobs, then the further chunks of the heterogeneous ones."""
        yield from self.running.values()
        for parts in self.further.values():
            yield from parts

    def _fault_of_units(self, j: int, start: Start | PlannedStart) -> DecisionFault | None:
        """Return the fault of a start without all units of a chunk, or with nodes that do not exist."""
        trace = self._plan.trace
        further = trace.further_units[trace.first_further[j] : trace.first_further[j + 1]].tolist()
        if len(start.further) != len(further):
            why = f"job {start.job!r} has {len(further)} further chunks; its start has nodes for {len(start.further)}"
            return DecisionFault(f"{why} (Start.further)", start.job)
        for k, (on, units) in enumerate(
            zip((start.nodes, *start.further), (int(trace.units[j]), *further), strict=True)
        ):
            fault = fault_of_units(part_name(start.job, k), on, units, self._nodes)
            if fault is not None:
                return fault
        return None

    def _shortage(self, j: int, start: Start | PlannedStart, amounts: Ints) -> Shortage | None:
        """Return the first node that has too little for the units of a start."""
        trace = self._plan.trace
        if not start.further:
            return shortage(start.nodes, trace.request[j], amounts, self._nodes)
        left, first = amounts.copy(), int(trace.first_further[j])
        for k, on in enumerate((start.nodes, *start.further)):
            request = trace.request[j] if k == 0 else trace.further_request[first + k - 1]
            lack = shortage(on, request, left, self._nodes)
            if lack is not None:
                return lack
            for node, units in on.items():
                left[self._nodes[node]] -= units * request
        return None

    def _blocked(self, start: Start | PlannedStart) -> str | None:
        """Return the first of the nodes of a start on which no job may start now; None if there is none."""
        if self._changes.quiet:
            return None
        blocked, number = self._changes.blocked, self._nodes
        nodes = chain(start.nodes, *start.further)
        return next((node for node in nodes if node in number and blocked[number[node]]), None)

    def _waiting_row(self, start: Start) -> int:
        j = self.row.get(start.job)
        if j is None:
            why = f"there is no job {start.job!r} in the queue; use the ids of moment.waiting"
            self.refuse(DecisionFault(why, start.job))
        if j not in self.waiting:
            self.refuse(self._has_started(start.job, j))
        return j

    def _has_started(self, job: str, j: int) -> DecisionFault:
        return DecisionFault(f"job {job!r} has started already, at {int(self._state.start[j])}", job)

    def _check(self, start: Start, j: int) -> None:
        """Refuse a start that is not possible now."""
        trace = self._plan.trace
        if not may_start(trace, j, self._state.clock[NOW]):
            why = f"the calendars of job {start.job!r} do not allow a start now (may_start)"
            self.refuse(DecisionFault(why, start.job))
        blocked = self._blocked(start)
        if blocked is not None:
            is_what = self._changes.state_of(self._nodes[blocked])
            why = (
                f"job {start.job!r} cannot start on node {blocked!r}, which is {is_what} (moment.states, moment.ready)"
            )
            self.refuse(DecisionFault(why, start.job, blocked))
        fault = self._fault_of_units(j, start)
        lack = None if fault else self._shortage(j, start, self._changes.free())
        if lack is not None:
            why = (
                f"job {start.job!r} needs {lack.need} {self._plan.platform.resources[lack.resource]} on node "
                f"{lack.node!r}, where {lack.there} are free"
            )
            fault = DecisionFault(why, start.job, lack.node)
        conflict = "" if fault else self._changes.conflict(j, (start.nodes, *start.further))
        if conflict:
            fault = DecisionFault(f"{conflict} (moment.reserved)", start.job)
        if fault is not None:
            self.refuse(fault)

    def _planned_row(self, planned: PlannedStart, called: int) -> int:
        """Return the row of the job of a planned start; refuse a start that never is possible."""
        j, trace, job = self._plan.row.get(planned.job), self._plan.trace, planned.job
        if j is None:
            self.refuse(DecisionFault(f"the plan has a start of job {job!r}; the workload has no such job", job))
        at_begin = self.row.get(job, j)  # the row of a job that runs at the begin and comes back later
        if self._state.start[j] >= 0 or at_begin in self.running:
            self.refuse(self._has_started(job, at_begin))
        if planned.time <= called:
            why = f"the start of job {job!r} is planned at {planned.time}; expected a time after {called}"
            self.refuse(DecisionFault(f"{why} (jobs that start now belong to Decision.starts)", job))
        fault = self._fault_of_units(j, planned)
        lack = None if fault else self._shortage(j, planned, trace.capacity)
        if lack is not None:
            why = (
                f"the plan of job {job!r} needs {lack.need} {self._plan.platform.resources[lack.resource]} on node "
                f"{lack.node!r}, which has {lack.there}"
            )
            fault = DecisionFault(why, job, lack.node)
        if fault is not None:
            self.refuse(fault)
        return j

    def refuse(self, fault: DecisionFault) -> NoReturn:
        """Raise a SimulationError with the dispatcher and the time."""
        now = int(self._state.clock[NOW])
        begun = now > -NEVER
        when = f"at {now}" if begun else "before the replay"
        why = f"dispatcher {self._plan.name} {when}: {fault.why}"
        raise SimulationError(why, fault.job, fault.node, now if begun else None)
