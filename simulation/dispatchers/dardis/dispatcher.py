"""DARDIS as a dispatcher of the simulator: the task managers of all jobs in one process, the node managers behind a transport."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np

from ....errors import WrongValue
from ....models import Job, Platform, ProblemError, Queue, Running
from ....models.array_types import Ints
from ....models.desired_profile import DesiredProfile
from ....models.words import how_many, with_short_repr
from ...dispatcher import Decision, Moment, PlannedStart, Start
from ...errors import NO_POWER
from ...timeline import kept_free
from .messages import SETUPS, Answering, Costs, Limits, Placement, Wish
from .nodes import limits_of
from .task_manager import Calendar, Placed, Task, TaskManager
from .transport import Connect, in_process

# --- The planned and running jobs of DARDIS: in the order of their starts on each node, and of their ends.


class Planned(NamedTuple):
    """A job with its reservation; ``number``: jobs in the order in which they were first planned."""

    task: Task
    placed: Placed
    number: int

    @property
    def start(self) -> int:
        """Its planned or real start in seconds."""
        return self.placed.placement.start

    @property
    def end(self) -> int:
        """The end of its reservation in seconds."""
        return self.placed.placement.end


@with_short_repr
class Plan:
    """Jobs by id: ``planned`` start later, ``running`` have started."""

    def __init__(self) -> None:
        self.planned: dict[str, Planned] = {}
        self.running: dict[str, Planned] = {}
        self._on: dict[int, list[tuple[int, int, str]]] = defaultdict(list)  # node -> (start, number, id), ascending
        self._starts: list[tuple[int, int, str]] = []  # heaps; entries that are out of date stay in them
        self._ends: list[tuple[int, str]] = []
        self._latest: list[tuple[int, str]] = []  # -end, id
        self._numbers = 0

    def number(self) -> int:
        """Return the number of a new job."""
        self._numbers += 1
        return self._numbers

    def put(self, job: Planned) -> None:
        """Plan a job, instead of its plan before."""
        name = job.task.id
        self.remove(name)
        self.planned[name] = job
        entry = job.start, job.number, name
        for node in job.placed.placement.nodes.tolist():
            insort(self._on[node], entry)
        heappush(self._starts, entry)
        heappush(self._latest, (-job.end, name))

    def remove(self, name: str) -> Planned | None:
        """Remove a planned job and return it, if there is one."""
        job = self.planned.pop(name, None)
        if job is not None:
            entry = job.start, job.number, name
            for node in job.placed.placement.nodes.tolist():
                listed = self._on[node]
                del listed[bisect_left(listed, entry)]
        return job

    def begin(self, job: Planned) -> None:
        """Note that a job runs."""
        self.remove(job.task.id)
        self.running[job.task.id] = job
        heappush(self._ends, (job.end, job.task.id))
        heappush(self._latest, (-job.end, job.task.id))

    def extend(self, name: str, end: int) -> None:
        """Move the end of the reservation of a running job."""
        job = self.running[name]
        placement = job.placed.placement._replace(end=end)
        self.running[name] = job._replace(placed=job.placed._replace(placement=placement))
        heappush(self._ends, (end, name))
        heappush(self._latest, (-end, name))

    def due(self, now: int) -> list[Planned]:
        """Return the planned jobs whose starts are not after now, in the order of their starts; they stay planned."""
        due = []
        while self._starts and self._starts[0][0] <= now:
            start, _, name = heappop(self._starts)
            job = self.planned.get(name)
            if job is not None and job.start == start:
                due.append(job)
        return due

    def expired(self, now: int) -> list[str]:
        """Return the running jobs whose reservations have ended."""
        expired = []
        while self._ends and self._ends[0][0] <= now:
            end, name = heappop(self._ends)
            if name in self.running and self.running[name].end == end:
                expired.append(name)
        return expired

    def next_end(self) -> int | None:
        """Return when the next reservation of a running job ends; None if no job runs."""
        while self._ends:
            end, name = self._ends[0]
            if name in self.running and self.running[name].end == end:
                return end
            heappop(self._ends)
        return None

    def first_on(self, nodes: Iterable[int], depth: int) -> list[str]:
        """Return the first ``depth`` planned jobs on each of these nodes, in the order of their starts."""
        entries: set[tuple[int, int, str]] = set()
        for node in nodes:
            entries.update(islice(self._on.get(node, ()), depth))
        return [name for _, _, name in sorted(entries)]

    def before(self, nodes: Iterable[int], end: int) -> list[str]:
        """Return the planned jobs that start before ``end`` on any of these nodes, in the order of their starts."""
        entries: set[tuple[int, int, str]] = set()
        for node in nodes:
            listed = self._on.get(node, [])
            entries.update(listed[: bisect_left(listed, (end,))])
        return [name for _, _, name in sorted(entries)]

    def on(self, nodes: Iterable[int]) -> list[str]:
        """Return the planned jobs on any of these nodes, in the order of their starts."""
        entries = {entry for node in nodes for entry in self._on.get(node, ())}
        return [name for _, _, name in sorted(entries)]

    def ends(self) -> dict[int, int]:
        """Return, for each node with running or planned jobs, when the last of them ends."""
        units_by_end: dict[int, int] = {}
        for jobs in (self.running, self.planned):
            for job in jobs.values():
                for node in job.placed.placement.nodes.tolist():
                    units_by_end[node] = max(units_by_end.get(node, job.end), job.end)
        return units_by_end

    def end_of_all(self) -> int:
        """Return the end of the last reservation; a time before all others if there is none."""
        while self._latest:
            end, name = self._latest[0]
            job = self.planned.get(name) or self.running.get(name)
            if job is not None and job.end == -end:
                return job.end
            heappop(self._latest)
        return -(2**62)


EXTENSION = 60  # seconds
RETRY = 60  # seconds until a job that was not placed is tried again
LISTED = 3  # silent nodes that a reason names
KEPT = 86400  # seconds for which what is kept free for on-demand jobs is taken to be so


@with_short_repr
class Dardis:
    """The dispatcher.

    Parameters
    ----------
    setup : str
        Name of a setup: ``"throughput"``, ``"profile"``, ``"balance"``, or ``"GENERATOR/POLICY"``.
    desired : DesiredProfile, optional
        The desired use of the nodes. None: up to the capacity.
    depth : int, optional
        Number of jobs that a node notifies when a job ends (setup ``throughput``). Default: the most cores of a node.
    one_per_node : bool
        Whether a node takes at most one unit of a job [Bridi2018, 5] or as many as fit [Bridi2018, 7].
    later : int
        Number of later windows that are tried for a job without a start in its window.
    connect : callable, optional
        Makes the transport. Default: node managers in this process.

    Raises
    ------
    WrongValue
        If the setup, the depth or the number of windows is not valid.

    Examples
    --------
    >>> import schedlab as sl
    >>> run = sl.simulate("eurora_99", dispatcher=Dardis("throughput"))
    >>> run.violations
    []
    """

    needs = frozenset(
        {"always", "profile", "one-chunk", "all-nodes", "reasons"}
    )  # the protocol has one request per job

    def __init__(
        self,
        setup: str = "throughput",
        desired: DesiredProfile | None = None,
        depth: int | None = None,
        one_per_node: bool = False,
        later: int = 3,
        connect: Connect = in_process,
    ) -> None:
        if setup not in SETUPS:
            raise WrongValue(f"dardis: setup is {setup!r}; expected one of {', '.join(SETUPS)}")
        for what, value, least in (("depth", depth, 0), ("later", later, 0)):
            if value is not None and value < least:
                raise WrongValue(f"dardis: {what} is {value}; expected at least {least}")
        self.name = f"dardis:{setup}"
        self._setup = SETUPS[setup]
        self.desired = desired
        self._depth = depth
        self._one_per_node = one_per_node
        self._later = later
        self._connect = connect
        self.attempts: dict[str, str] = {}

    @property
    def costs(self) -> Costs:
        """The cost of the phases of the protocol in the last replay."""
        return self._tasks.costs

    @property
    def plan(self) -> Plan:
        """The planned and running jobs."""
        return self._plan

    def wish(self, limits: Limits) -> None:
        """Let the node managers follow another desired use from now on; jobs that are planned keep their starts.

        Parameters
        ----------
        limits : Limits
            The desired use, with a step function for each node.
        """
        self._tasks.soft = True
        self._transport.post(Wish(limits))

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self._platform = platform
        self._queues = {q.name: q for q in queues}
        capacity = self._capacity = np.array([platform.capacity[n] for n in platform.nodes], np.int64)
        limits = None
        if self.desired is not None:
            limits = _limits(self.desired, platform)
        nodes = len(platform.nodes)
        generator = self._setup.generator
        self._transport = self._connect(capacity, generator, limits)
        self._tasks = TaskManager(
            self._transport, nodes, self._setup.policy, seed, limits is not None, self._one_per_node, self._later
        )
        cores = 0
        if "cores" in platform.resources:
            cores = platform.resources.index("cores")
        if self._depth is None:
            self._reach = int(capacity[:, cores].max())
        else:
            self._reach = self._depth
        self._number = {name: n for n, name in enumerate(platform.nodes)}
        self._plan = Plan()
        self._unplaced = dict[str, tuple[Task, int]]()
        self._withdrawn = set[str]()  # jobs whose planned starts the simulator still has
        self._states: tuple[str, ...] = ("up",) * nodes
        self._silent = 0
        self._away: list[str] = []  # the reservations that are not for the jobs of the queue
        self._kept: Ints | None = None
        self._total = int(capacity.sum())  # of the machine
        self._amounts = dict[str, int]()  # of each running job
        self._since = dict[str, int]()  # job that runs without a plan -> its start in seconds
        self._extensions: dict[str, int] = {}
        self._retry: int | None = None
        self.attempts.clear()

    def decide(self, moment: Moment) -> Decision:
        """Return the starts now and the changes of the plan."""
        now = moment.now
        changed = dict[str, Planned]()
        self._walltime = {job.id: job.walltime for job in moment.waiting}
        displaced = self._begun(moment)
        nodes = self._ended(moment)
        self._forget(moment)
        displaced = [job for job in displaced if job.task.id in self._walltime]
        self._hold_away(moment)
        displaced += self._taken_out(moment)
        displaced += self._overrun(now)
        before, counted = self.costs.all_seconds, self.costs.counts
        self._plan_anew(displaced, moment, changed)
        if self._setup.backfilling and nodes:
            self._backfill(nodes, now, changed, bool(moment.reserved))
        for task, number in self._to_place(moment, changed):
            self._reserve(task, number, moment, changed)
        while jobs := self._taken_out(moment):
            self._plan_anew(jobs, moment, changed)
        decision = self._decision(moment, changed)
        decision.seconds = {name: seconds - before[name] for name, seconds in self.costs.all_seconds.items()}
        decision.counts = {name: number - counted[name] for name, number in self.costs.counts.items()}
        return decision

    def why_waiting(self, job: str) -> str:
        """Return why a job was not placed, for a replay that ends without it."""
        silent = self._transport.silent
        if job not in self._unplaced or not silent.size:
            return ""
        task, _ = self._unplaced[job]
        answering = np.setdiff1d(np.flatnonzero(np.array(self._states) == "up"), silent).tolist()
        fits = [self._platform.units_on(self._capacity[n].tolist(), task.request.tolist()) for n in answering]
        most = sum(min(fit, 1 if self._one_per_node else task.units) for fit in fits)
        names = ", ".join(self._platform.nodes[n] for n in silent[:LISTED].tolist())
        more = ""
        if silent.size > LISTED:
            more = f" and {silent.size - LISTED} more"
        room = "it was not placed on"
        if most < task.units:
            room = f"it has {how_many(task.units, 'unit')}, and only {most} fit on"
        return f"{room} the nodes whose managers answer; those of {names}{more} have fallen silent"

    def _begun(self, moment: Moment) -> list[Planned]:
        """Note the planned starts that have taken place; return the jobs whose starts were not possible."""
        failed = {f.job for f in moment.failed}
        displaced = []
        for job in self._plan.due(moment.now):
            if job.task.id in failed:
                displaced.append(job)
            else:
                self._plan.begin(job)
        return displaced

    def _forget(self, moment: Moment) -> None:
        """Give up the plans of jobs that have left the queue (stopped, deleted) or have another walltime or queue now.

        They are new jobs if they wait again, or still.
        """
        changed = set(moment.changed)
        for name in [name for name in self._plan.planned if name in changed or name not in self._walltime]:
            self._withdrawn.add(name)
            self._plan.remove(name)
            self._tasks.release(name, moment.now)
        for name in [name for name in self._unplaced if name in changed or name not in self._walltime]:
            del self._unplaced[name]

    def _ended(self, moment: Moment) -> set[int]:
        """Release the nodes of the jobs that have ended, and return them; hold those of jobs that run without a plan."""
        running = {r.job.id: r for r in moment.running}
        nodes: set[int] = set()
        gone = [name for name in self._plan.running if name not in running]
        # a job that a feature starts may fail and start on other nodes at one event
        gone += [name for name, start in self._since.items() if name in running and running[name].start != start]
        for name in gone:
            job = self._plan.running.pop(name)
            self._since.pop(name, None)
            self._tasks.release(name, moment.now)
            self._extensions.pop(name, None)
            nodes.update(job.placed.placement.nodes.tolist())
        if nodes and self._unplaced:
            self._retry = moment.now  # jobs without room may have it now, until their start windows close
        if len(running) > len(self._plan.running):
            for name, r in running.items():
                if name not in self._plan.running:
                    self._hold(r, moment.now)
        return nodes

    def _hold(self, r: Running, now: int) -> None:
        """Reserve the nodes of a job that runs without a plan: since the begin, or after a plan that was given up."""
        name = r.job.id
        self._plan.remove(name)
        self._unplaced.pop(name, None)
        self._since[name] = r.start
        request = self._request(r.job)
        nodes = np.array(sorted(self._number[n] for n in r.nodes), np.int64)
        units = np.array([r.nodes[self._platform.nodes[n]] for n in nodes], np.int64)
        if r.end > now:
            end = r.end
        else:
            end = now + EXTENSION
        placement = Placement(name, now, end, nodes, units, request, now)
        self._tasks.hold(placement)
        task = Task(name, 0, r.job.units, request, max(1, end - now), now, now, Calendar())
        self._plan.begin(Planned(task, Placed(placement, "running", False), self._plan.number()))

    def _hold_away(self, moment: Moment) -> None:
        """Reserve what is not for the jobs of the queue: nodes that are not on, reservations, what is kept free.

        Nodes that are not on are reserved up to the earliest times at which they can be, beyond their capacity: a unit
        that requests nothing does not fit there either.
        """
        for name in self._away:
            self._tasks.release(name, moment.now)
        self._away.clear()
        for k, reserved in enumerate(moment.reserved):
            request = np.array([reserved.request.get(r, 0) for r in self._platform.resources], np.int64)
            number = {self._number[name]: units for name, units in reserved.nodes.items()}
            on = np.array(sorted(number), np.int64)
            held = np.array([number[n] for n in sorted(number)], np.int64)
            start = max(moment.now, reserved.start)
            self._hold_for(Placement(f" reservation {k}", start, reserved.end, on, held, request, moment.now))
        self._hold_kept(moment)
        if moment.ready is None:
            return
        nodes = np.flatnonzero(moment.ready > moment.now)
        alike = np.column_stack([moment.ready[nodes], self._capacity[nodes]])
        for k, row in enumerate(np.unique(alike, axis=0)):
            name = f" not on, {k}"
            here = nodes[(alike == row).all(axis=1)]
            units = np.ones(here.size, np.int64)
            self._hold_for(Placement(name, moment.now, int(row[0]), here, units, row[1:] + 1, moment.now))

    def _hold_for(self, placement: Placement) -> None:
        """Reserve nodes until the next call."""
        self._tasks.hold(placement)
        self._away.append(placement.job)

    def _hold_kept(self, moment: Moment) -> None:
        """Reserve what is kept free for on-demand jobs, for the next days: nobody knows for how long it is."""
        used = sum(self._used(r) for r in moment.running)
        if self._kept is None and int(moment.free.sum()) == self._total - used:
            return  # all that is not in use is free
        unused = self._capacity.copy()
        for r in moment.running:
            request = self._request(r.job)
            for name, units in r.nodes.items():
                unused[self._number[name]] -= units * request
        kept = kept_free(moment, unused)
        if moment.states:
            kept[[state != "up" for state in moment.states]] = 0  # these do not take part in the protocol
        if moment.ready is not None:
            kept[moment.ready > moment.now] = 0
        if self._kept is not None and (kept < self._kept).any():
            self._retry = moment.now  # jobs without room may have it now
        self._kept = kept
        rows = np.flatnonzero(kept.any(axis=1))
        for k, request in enumerate(np.unique(kept[rows], axis=0)):
            here = rows[(kept[rows] == request).all(axis=1)]
            ones = np.ones(here.size, np.int64)
            end = moment.now + KEPT
            self._hold_for(Placement(f" kept free, {k}", moment.now, end, here, ones, request, moment.now))

    def _used(self, r: Running) -> int:
        """Return the sum of the amounts of all resources that a running job uses."""
        if r.job.id not in self._amounts:
            self._amounts[r.job.id] = r.job.units * sum(r.job.request.values())
        return self._amounts[r.job.id]

    def _taken_out(self, moment: Moment) -> list[Planned]:
        """Take the nodes that are not up or silent out of the protocol; return the jobs that are planned on them."""
        silent = self._transport.silent
        if moment.states == self._states and silent.size == self._silent:
            return []
        up = np.array([state == "up" for state in moment.states])
        self._tasks.answering(up)
        if moment.states != self._states:
            self._transport.post(Answering(up))
            self._retry = moment.now
        self._states = moment.states
        self._silent = int(silent.size)
        up[silent] = False
        return [self._plan.planned[name] for name in self._plan.on(np.flatnonzero(~up).tolist())]

    def _overrun(self, now: int) -> list[Planned]:
        """Extend the reservations of jobs that still run at their ends; return the planned jobs that lose their room."""
        displaced: list[Planned] = []
        for name in self._plan.expired(now):
            times = self._extensions[name] = self._extensions.get(name, -1) + 1
            end = now + (EXTENSION << min(times, 20))
            self._plan.extend(name, end)
            full = self._tasks.extend(name, end)
            displaced += [self._plan.planned[other] for other in self._plan.before(full.tolist(), end)]
        return displaced

    def _plan_anew(self, jobs: Iterable[Planned], moment: Moment, changed: dict[str, Planned]) -> None:
        """Give up the reservations of jobs, then plan them again in the order of their first plans."""
        again = {job.task.id: job for job in jobs}
        self._withdrawn.update(again)
        for name in again:
            changed.pop(name, None)
            self._plan.remove(name)
            self._tasks.release(name, moment.now)
        for job in sorted(again.values(), key=lambda job: job.number):
            self._reserve(job.task, job.number, moment, changed)

    def _backfill(self, nodes: set[int], now: int, changed: dict[str, Planned], beside_reservations: bool) -> None:
        """Let the next planned jobs of these nodes look for earlier starts on their nodes."""
        names = self._plan.first_on(nodes, self._reach)
        self._tasks.costs.messages += len(names)
        planned = [self._plan.planned[name] for name in names]
        jobs = [job for job in planned if job.start > now and job.task.calendar.allowed(now, job.start)]
        if beside_reservations:  # a start whose walltime runs into one is refused
            jobs = [job for job in jobs if job.task.duration >= self._walltime[job.task.id]]
        for k in self._tasks.movable([(job.task, job.placed) for job in jobs], now):
            job = jobs[k]
            moved = self._tasks.move(job.task, job.placed, now)
            if moved is not None:
                self._keep(job._replace(placed=moved), now, changed)

    def _to_place(self, moment: Moment, changed: Mapping[str, Planned]) -> list[tuple[Task, int]]:
        """Return the waiting jobs without a plan, in the order of the queue: new ones, after others if it is time."""
        known = len(self._plan.planned) + len(self._unplaced) + sum(job.start <= moment.now for job in changed.values())
        new = list[Job]()
        missing = len(moment.waiting) - known
        for job in reversed(moment.waiting):
            if missing <= 0:
                break
            if not (job.id in self._plan.planned or job.id in self._unplaced or job.id in changed):
                new.append(job)
                missing -= 1
        again = list[tuple[Task, int]]()
        if self._unplaced and self._retry is not None and self._retry <= moment.now:
            again = list(self._unplaced.values())
            self._retry = None
            self._unplaced.clear()
        return [*again, *((self._task(job), self._plan.number()) for job in reversed(new))]

    def _task(self, job: Job) -> Task:
        """Return what the task manager needs to know of a job; its duration changes with the predictions."""
        queue = self._queues[job.queue]
        if job.latest_start is None:
            latest = job.submit + queue.ewt
        else:
            latest = job.latest_start
        key = self._tasks.key(job.id)
        calendar = Calendar(queue.daily, job.windows)
        return Task(job.id, key, job.units, self._request(job), job.walltime, job.release, latest, calendar)

    def _request(self, job: Job) -> Ints:
        return np.array([job.request.get(r, 0) for r in self._platform.resources], np.int64)

    def _reserve(self, task: Task, number: int, moment: Moment, changed: dict[str, Planned]) -> None:
        """Run the attempts for a job; keep it for later if none finds a start."""
        duration = moment.expected[task.id]
        if moment.reserved:  # a start whose walltime runs into a reservation is refused
            duration = max(duration, self._walltime[task.id])
        task = task._replace(duration=duration)
        timeouts = self.costs.timeouts
        placed = self._tasks.place(task, moment.now, self._plan.end_of_all)
        if placed is None:
            self._unplaced[task.id] = task, number
            if self.costs.timeouts > timeouts:
                self._retry = moment.now + RETRY
            return
        self.attempts[task.id] = placed.attempt
        self._keep(Planned(task, placed, number), moment.now, changed)

    def _keep(self, job: Planned, now: int, changed: dict[str, Planned]) -> None:
        """Note the start of a job, now or later."""
        changed[job.task.id] = job
        if job.start <= now:
            self._plan.begin(job)
        else:
            self._plan.put(job)

    def _decision(self, moment: Moment, changed: Mapping[str, Planned]) -> Decision:
        now = moment.now
        starts = list[Start]()
        plan = list[PlannedStart]()
        for name, job in changed.items():
            placement, names = job.placed.placement, self._platform.nodes
            on = dict(zip([names[n] for n in placement.nodes], placement.units.tolist(), strict=True))
            if job.start <= now:
                if not job.task.request.any():
                    on = self._on_open_nodes(on, moment)
                if on:
                    starts.append(Start(name, on))
            else:
                plan.append(PlannedStart(name, on, job.start))
        calls = [self._plan.next_end(), self._retry]
        wake = min((time for time in calls if time is not None and time > now), default=None)
        withdrawn = self._withdrawn - changed.keys()
        self._withdrawn = set()
        return Decision(starts, plan=plan or None, wake=wake, withdrawn=withdrawn)

    def _on_open_nodes(self, on: dict[str, int], moment: Moment) -> dict[str, int]:
        """Return the nodes of a job that requests nothing: it fits on every node, also on one that is not on yet.

        Its units are put on a node that is on; if there is none, nowhere, and it is planned again when it would have ended.
        """
        ready = moment.ready
        if ready is None or all(ready[self._number[name]] <= moment.now for name in on):
            return on
        up = np.array([state == "up" for state in moment.states])
        takes = np.flatnonzero(up & (ready <= moment.now))
        if takes.size:
            return {self._platform.nodes[takes[0]]: sum(on.values())}
        return {}


def _limits(desired: DesiredProfile, platform: Platform) -> Limits:
    """Return the desired use of the nodes as arrays; a wish for the power of the machine is refused."""
    if desired.power is not None:
        raise ProblemError(f"dardis: the desired profile limits the power of the machine: {NO_POWER}")
    return limits_of(desired.arrays, len(platform.resources))
