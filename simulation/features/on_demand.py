"""On-demand jobs in a replay: nodes that are kept free, evictions, and starts."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SchedlabError, WrongValue
from ...heuristics.kernels.events.entries import end_now
from ...heuristics.kernels.events.machine import counted
from ...heuristics.kernels.events.state import RUNNING, STARTED, UNSTARTED
from ...heuristics.kernels.profile import NEVER
from ...instances.workload import Workload
from ...models import Eviction, EvictionCandidate, EvictionPlan, Job, Platform, Queue, Running
from ...models.arguments import is_whole, shown
from ...models.array_types import Bools, Ints
from ...models.eviction.jobs import checkpoint_seconds, exact
from ...models.plugins import calling
from ...models.words import excerpt, how_many
from ..agenda import Rank
from ..errors import WHOLE_NODES, SimulationError
from ..preemption import RESTART, Evictor, OnDemandJob, Preemption, Requeue, check_jobs
from ..records import Attempt, Departure, EvictionDecision, PreemptionRecord
from ..timeline import Use
from .feature import Feature, Replay
from .running import with_rows

# --- The nodes that a replay keeps free: for on-demand jobs that wait, and the reserve of ``reserve:NODES``.


@dataclass(eq=False)
class WaitingJob:
    """An on-demand job that has been announced and has not started.

    ``row``: in the workload. ``due``: the time in seconds by which it should start. ``claimed``: numbers of the nodes
    that are kept free for it. ``of_machine``: what is kept for it of the amounts of the whole machine that limit it, such
    as power.
    """

    row: int
    job: OnDemandJob
    due: int
    claimed: list[int] = field(default_factory=list)
    of_machine: Ints | int = 0

    @property
    def missing(self) -> int:
        """The number of nodes that it still lacks."""
        return self.job.nodes - len(self.claimed)


@dataclass(eq=False)
class Leaving:
    """A running job that is to leave; times in seconds as in ``records.Departure``."""

    row: int
    owner: WaitingJob
    strategy: str
    decided: int
    stop: int
    write: int
    end: int


class Claims:
    """The free nodes that no batch job may use.

    ``waiting``: the on-demand jobs that wait, in the order of their announcement; each has its own nodes (``claimed``).
    ``reserve``: mask of the reserved nodes. Nodes of reservations are claimed only if the on-demand job is over, or can
    be over, before they begin.

    Parameters
    ----------
    engine
        The replay.
    reserved
        The number of reserved nodes, the last ones of the machine.
    """

    def __init__(self, engine: Replay, reserved: int) -> None:
        self._engine = engine
        self._state = engine.state
        self._timeline = engine.timeline
        self._names = engine.platform.nodes
        self._request = next(iter(engine.platform.groups)).capacity
        self.waiting: list[WaitingJob] = []
        nodes = len(self._names)
        self._reserved = reserved
        self.reserve: Bools = np.arange(nodes) >= nodes - reserved
        self._idle = np.zeros(nodes, np.bool_)  # the reserved nodes that are free
        self.to_reserve(np.flatnonzero(self.reserve & self._timeline.empty()).tolist())

    @property
    def now(self) -> int:
        """The time in seconds."""
        return self._engine.now

    def to_reserve(self, nodes: Sequence[int]) -> None:
        """Withdraw the reserved ones of these free nodes from the batch jobs."""
        if not self._reserved:
            return
        claimed = {n for waits in self.waiting for n in waits.claimed}
        withdrawn = [n for n in nodes if self.reserve[n] and not self._idle[n] and n not in claimed]
        self._timeline.take(withdrawn)
        self._idle[withdrawn] = True

    def take(self, waits: WaitingJob) -> None:
        """Keep free nodes for an on-demand job: all that it lacks if it can start with them now, else those for later."""
        self.give_back(waits, self._held(self.now, self.now + waits.job.duration))
        self._keep_power(waits)
        if not waits.missing:
            return
        free = self._free()
        at_once = self._beside(free, self.now + waits.job.duration)
        if self.now < waits.job.submit or len(at_once) < waits.missing:
            at_once = self._beside(free, self.over(waits))
        self._keep(waits, at_once)

    def can_start(self, waits: WaitingJob) -> bool:
        """Return whether an on-demand job has been submitted, and has its nodes and its power."""
        return waits.missing == 0 and self.now >= waits.job.submit and not self.lacks_power(waits, ())

    def lacks_power(self, waits: WaitingJob, leaving: Sequence[int]) -> bool:
        """Return whether an on-demand job lacks power when some jobs (rows) have left."""
        request, free = self._engine.trace.machine_request, self._state.machine_free
        below = np.minimum(0, free)  # when the cap has fallen below what is in use and kept
        lacks = request[waits.row] - waits.of_machine - below - request[list(leaving)].sum(axis=0)
        return bool((lacks > 0)[self._timeline.for_all].any())

    def release(self, waits: WaitingJob) -> list[int]:
        """Return the nodes of an on-demand job that starts now, sorted; it waits no more, its nodes and power are free."""
        nodes = sorted(waits.claimed)
        self._timeline.give(nodes)
        self._state.machine_free[:] += waits.of_machine
        self.waiting.remove(waits)
        return nodes

    def take_of(self, waits: WaitingJob, nodes: Sequence[int]) -> None:
        """Keep nodes that a job has left for the on-demand job for which it left; none if that has started."""
        if waits in self.waiting:
            self._keep_power(waits)
            left = [n for n in nodes if self._timeline.open[n]]
            self._keep(waits, self._beside(left, self.over(waits)))

    def over(self, waits: WaitingJob) -> int:
        """Return the time in seconds by which a waiting job is over if it starts when it is due, or now."""
        return max(self.now, waits.due, waits.job.submit) + waits.job.duration

    def give_back(self, waits: WaitingJob, barred: Bools | None) -> list[int]:
        """Give up the barred ones of the nodes that are kept for a job, and return them; ``barred``: mask, None: none."""
        lost = []
        if barred is not None:
            lost = [n for n in waits.claimed if barred[n]]
        if lost:
            waits.claimed = [n for n in waits.claimed if not barred[n]]  # type: ignore[index]
            self._timeline.give(lost)
            self.to_reserve(lost)
        return lost

    def reserved_before(self, waits: WaitingJob) -> Bools | None:
        """Return the nodes of which a reservation holds something before the job would be over; None: of no node."""
        return self._held(self.now, self.over(waits))

    def uses(self) -> Iterator[Use]:
        """Yield what is kept for on-demand jobs, as uses of nodes beside which reservations must fit."""
        for waits in self.waiting:
            yield Use({self._names[n]: 1 for n in waits.claimed}, self._request, self.now, self.over(waits))

    def _held(self, start: int, end: int) -> Bools | None:
        if self._timeline.holds:
            return self._timeline.held_between(start, end)
        return None

    def _beside(self, nodes: list[int], end: int) -> list[int]:
        """Return the nodes of which no reservation holds anything from now to ``end``."""
        held = self._held(self.now, end)
        if held is None:
            return nodes
        return [n for n in nodes if not held[n]]

    def _free(self) -> list[int]:
        """Return the free nodes, the reserved ones first."""
        own = np.flatnonzero(self._idle & self._timeline.open)
        return [*own.tolist(), *np.flatnonzero(self._timeline.empty()).tolist()]

    def _keep_power(self, waits: WaitingJob) -> None:
        """Keep free power for an on-demand job, as much as it lacks."""
        lacks = self._engine.trace.machine_request[waits.row] - waits.of_machine
        got = np.where(self._timeline.for_all, np.clip(self._state.machine_free, 0, lacks), 0)
        self._state.machine_free[:] -= got
        waits.of_machine = waits.of_machine + got

    def _keep(self, waits: WaitingJob, nodes: list[int]) -> None:
        """Keep the first of these free nodes for an on-demand job; reserved ones are withdrawn from the others already."""
        kept = nodes[: waits.missing]
        self._timeline.take([n for n in kept if not self._idle[n]])
        self._idle[kept] = False
        waits.claimed += kept


# --- Evictions: the checkpoints of jobs, the eviction problem of a moment, and when the jobs of a plan write and leave.


@dataclass(frozen=True, eq=False)
class Checkpointed:
    """The checkpoints of all jobs; arrays of shape (jobs,).

    Parameters
    ----------
    interval : ndarray of int64
        Seconds of work between two application-level checkpoints; 0: the job writes none.
    system, application : ndarray of int64
        Seconds of writing a system-level and an application-level checkpoint, rounded up.
    mb_s : tuple of Fraction
        The bandwidth of the file system that the nodes of a job use while they write.
    """

    interval: Ints
    system: Ints
    application: Ints
    mb_s: tuple[Fraction, ...]

    @classmethod
    def of(cls, workload: Workload, settings: Preemption, on_demand: Collection[int]) -> Checkpointed:
        """Return the checkpoints of the jobs of a workload; ``on_demand``: rows of jobs without checkpoints."""
        storage = settings.storage
        model = settings.checkpoints
        n = len(workload)
        interval, system, application = np.zeros((3, n), np.int64)
        bandwidths = [Fraction(0)] * n
        fs, own = storage.file_system_mb_s, storage.node_mb_s
        for j, nodes in enumerate(workload.units.tolist()):
            if j in on_demand:
                continue
            # by id, so that a job has the same memory in every part of a log
            memory, share = storage.draw(Random(f"{storage.seed} {workload.ids[j]}"))
            writing = checkpoint_seconds(nodes, memory * exact(share), fs, own)
            application[j] = ceil(writing)
            system[j] = ceil(checkpoint_seconds(nodes, memory, fs, own))
            bandwidths[j] = min(exact(fs), nodes * exact(own))
            with calling(f"checkpoints {model.name}: interval"):
                seconds = model.interval(workload.ids[j], nodes, float(writing))
            if seconds is not None and not (is_whole(seconds) and 1 <= seconds < 2**62):
                raise WrongValue(
                    f"checkpoints {model.name}: interval of job {workload.ids[j]!r}: expected whole seconds of at least 1, "
                    f"or None, found {shown(seconds)}"
                )
            interval[j] = seconds or 0
        return cls(interval, system, application, tuple(bandwidths))

    def taken(self, j: int, worked: int) -> int:
        """Return the seconds of work at the last application-level checkpoint of an attempt that worked ``worked`` s."""
        every = int(self.interval[j])
        if every:
            return max(0, worked) // every * every
        return 0

    def wait(self, j: int, worked: int) -> int | None:
        """Return the seconds until the next application-level checkpoint; None: there is none.

        ``worked``: seconds of work in this attempt, below 0 before the end of its restart.
        """
        every = int(self.interval[j])
        if every:
            return self.taken(j, worked) + every - worked
        return None


@dataclass(frozen=True)
class RunningJob:
    """A batch job that may leave: its row, id, nodes, start, and seconds of work in this attempt (below 0: it restarts)."""

    row: int
    id: str
    nodes: int
    start: int
    worked: int


def problem_of(
    jobs: Sequence[RunningJob],
    checkpoints: Checkpointed,
    settings: Preemption,
    needed: int,
    now: int,
    within: int,
    busy: int,
) -> Eviction | None:
    """Return the eviction problem of the moment; None if the jobs have too few nodes.

    Parameters
    ----------
    jobs
        The jobs that may leave.
    checkpoints
        The checkpoints of all jobs.
    settings
        The settings of the replay.
    needed
        Nodes to be freed.
    now
        The time in seconds.
    within
        Seconds from now within which they are to be free.
    busy
        Seconds from now for which the file system still writes earlier checkpoints.
    """
    if needed > sum(r.nodes for r in jobs):
        return None
    candidates = []
    for r in jobs:
        taken = checkpoints.taken(r.row, r.worked)
        wait = checkpoints.wait(r.row, r.worked)
        if wait is None:
            wait = None
        else:
            wait = max(0, wait - busy)
        if taken:
            lost = r.worked - taken
        else:
            lost = now - r.start
        application = None
        if wait is not None:
            application = wait + int(checkpoints.application[r.row])
        candidates.append(
            EvictionCandidate(
                r.id, r.nodes, r.nodes * lost, int(checkpoints.system[r.row]), application, wait or 0,
                plain(checkpoints.mb_s[r.row]),
            )
        )  # fmt: skip
    deadline = max(0, within - busy)
    bandwidth, shared = settings.storage.file_system_mb_s, settings.shared_bandwidth
    return Eviction(candidates, needed, deadline, settings.step, now, bandwidth, shared_bandwidth=shared)


def plain(value: Fraction) -> float:
    """Return a fraction as an integer or a float."""
    if value.denominator == 1:
        return value.numerator
    return float(value)


def departures_of(
    plan: EvictionPlan,
    problem: Eviction,
    jobs: Sequence[RunningJob],
    checkpoints: Checkpointed,
    now: int,
    busy: int,
    kill_at: int,
) -> Iterator[tuple[RunningJob, str, int, int, int]]:
    """Yield the jobs that leave, with strategy, and the times (s) at which they stop to work, write and leave.

    Killed jobs leave at ``kill_at``. Checkpoints are written one after another, those with the shortest wait first, or
    at the times of the plan.
    """
    running = {r.id: r for r in jobs}
    known = problem.by_id
    for name, what in plan.strategy.items():
        if what == "kill":
            yield running[name], what, kill_at, kill_at, kill_at
    free = now + busy
    writing = [(what, running[name]) for name, what in plan.strategy.items() if what in ("app", "sys")]
    for what, r in sorted(writing, key=lambda pair: known[pair[1].id].wait_s if pair[0] == "app" else 0):
        if what == "app":
            wait = checkpoints.wait(r.row, r.worked)
        else:
            wait = 0
        assert wait is not None  # the plan was verified
        if problem.shared_bandwidth:
            begin = now + busy + plan.start[r.id]
        else:
            begin = free
        write = max(begin, now + wait)
        end = write + int((checkpoints.application if what == "app" else checkpoints.system)[r.row])
        free = max(free, end)
        yield r, what, now + wait if what == "app" else write, write, end


# --- On-demand jobs in a replay: evictions, and starts.
#
# Free nodes are kept for on-demand jobs in the order of their announcement (``claims``). Nodes of a job that leaves are for
# the on-demand job that caused it. Those that have all their nodes start before the dispatcher decides. An on-demand job
# whose node fails waits again, for its whole duration, and is due within its ``start_within`` from then on.

QUEUE = "on-demand"
TOO_LARGE = "need more nodes than the reserved ones leave, left out"


class OnDemand(Feature):
    """The on-demand jobs of a replay, the jobs that leave for them, and what jobs keep that leave or fail.

    Parameters
    ----------
    settings : Preemption
        The settings.
    requeue : Requeue
        What a job keeps whose node fails, if that is more than its last checkpoint.

    Attributes
    ----------
    leaving : dict of int to Leaving
        Row of a batch job -> its departure.
    """

    watches = True
    follows_nodes = True

    def __init__(self, settings: Preemption, requeue: Requeue = RESTART) -> None:
        self.settings, self.requeue = settings, requeue
        self.rows: tuple[int, ...] = ()
        self.leaving: dict[int, Leaving] = {}
        self.decisions: list[EvictionDecision] = []
        self.departures: list[Departure] = []
        self.first_start: dict[int, int] = {}
        getattr(settings.evictor, "warm_up", lambda: None)()  # compilation is no part of a decision

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with rows for the on-demand jobs."""
        return with_on_demand(workload, platform, self.settings.jobs, self.settings.reserved)

    def absent(self, workload: Workload) -> Collection[int]:
        """Return the rows of the on-demand jobs."""
        row = {name: j for j, name in enumerate(workload.ids)}
        self.rows = tuple(row[job.id] for job in self.settings.jobs)
        return self.rows

    def begin(self, engine: Replay) -> None:
        """Put the announcements on the agenda."""
        self._engine = engine
        self.on_demand: dict[int, OnDemandJob] = dict(zip(self.rows, self.settings.jobs, strict=True))
        self.checkpoints = Checkpointed.of(engine.workload, self.settings, set(self.rows))
        self.claims = Claims(engine, self.settings.reserved)
        self.waiting = self.claims.waiting
        nodes = len(engine.platform.nodes)
        engine.timeline.barred |= np.arange(nodes) >= nodes - self.settings.reserved
        engine.ledger.log.restart = self.settings.restart
        self._others_keep, engine.kept_work = engine.kept_work, self._kept
        engine.owners |= dict.fromkeys(self.rows, self)
        for j, job in self.on_demand.items():
            at = max(job.announced, engine.workload.begin or 0)
            waits = WaitingJob(j, job, job.latest_start)
            engine.agenda.add(at, Rank.ANNOUNCE, lambda w=waits: self._announce(w))  # type: ignore[misc]
            engine.agenda.add(job.submit, Rank.ON_DEMAND_SUBMIT, lambda: None)  # an event: it may start now

    @property
    def busy(self) -> bool:
        """Whether on-demand jobs wait."""
        return bool(self.waiting)

    @property
    def lacking(self) -> int:
        """The number of nodes that on-demand jobs lack which may start now."""
        return sum(w.missing for w in self.waiting if self._engine.now >= w.job.submit)

    def ended(self, rows: Sequence[int]) -> None:
        """Give the nodes of jobs that have ended to the job that they were to leave for, or to the reserve."""
        for j in rows:
            gone = self.leaving.pop(j, None)
            nodes = self._engine.ledger.places_of(j).tolist()
            if gone is not None:
                self.claims.take_of(gone.owner, nodes)
            self.claims.to_reserve(nodes)

    def before_decision(self) -> None:
        """Give free nodes to the on-demand jobs, and start those that have all."""
        for waits in list(self.waiting):
            self.claims.take(waits)
            if self.claims.can_start(waits):
                self._start(waits)

    def uses(self) -> Iterable[Use]:
        """Yield what is kept free for on-demand jobs, and what they get of the jobs that leave."""
        yield from self.claims.uses()
        engine = self._engine
        names = engine.platform.nodes
        for row, gone in self.leaving.items():
            nodes = {names[n]: 1 for n in engine.ledger.places_of(row).tolist()}
            yield Use(nodes, engine.platform.groups[0].capacity, gone.end, self.claims.over(gone.owner))

    def forbids_change(self, row: int) -> str:
        """Return why no server event may change a job now; an empty text if it may."""
        name = self._engine.workload.ids[row]
        gone = self.leaving.get(row)
        if row in self.on_demand:
            return f"job {name!r} is an on-demand job"
        if gone is None:
            return ""
        return f"job {name!r} leaves for on-demand job {gone.owner.job.id!r}"

    def nodes_changed(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """Give up claimed nodes that are closed now, and decide again for their jobs."""
        for waits in self.waiting:
            if self.claims.give_back(waits, ~self._engine.timeline.open):
                self._engine.agenda.add(self._engine.now, Rank.EVICT, lambda w=waits: self._decide(w))  # type: ignore[misc]

    def ended_early(self, row: int, nodes: Sequence[int]) -> None:
        """Give the nodes of a job that has ended early to the reserve; decide again if it was to leave."""
        gone = self.leaving.pop(row, None)
        self.claims.to_reserve(nodes)
        if gone is not None and gone.owner in self.waiting:
            self._engine.agenda.add(self._engine.now, Rank.EVICT, lambda: self._decide(gone.owner))

    def failed(self, row: int, why: str) -> None:
        """Let an on-demand job wait again whose node has failed."""
        engine, job = self._engine, self.on_demand[row]
        ledger, now = engine.ledger, engine.now
        nodes = ledger.places_of(row).tolist()
        (on,) = ledger.nodes_of(row)
        start = ledger.start_of(row)
        engine.tell_of_stop(row)
        end_now(engine.trace, engine.state, row)
        ledger.note_end(row)
        ledger.log.add(row, Attempt(job.id, ledger.log.counts[row] + 1, start, now, on, why, 0))
        engine.state.start[row] = UNSTARTED
        engine.state.clock[STARTED] -= 1
        self.claims.to_reserve(nodes)
        again = WaitingJob(row, job, now + job.start_within)
        engine.agenda.add(now, Rank.ANNOUNCE, lambda: self._announce(again))

    def _kept(self, row: int, ran: int) -> int | None:
        """Return the work that a job keeps whose node fails; None: it does not come back.

        That is the work at its last checkpoint, or what the rule for failed jobs keeps, whichever is more.
        """
        worked = ran - self._restart(row)
        gone = self.leaving.get(row)
        if gone is not None and gone.strategy != "kill":
            worked = min(worked, gone.stop - self._engine.ledger.start_of(row) - self._restart(row))
        others = self._others_keep(row, max(0, worked))
        if others is None:
            return None
        return max(others, self.checkpoints.taken(row, worked))

    def _restart(self, row: int) -> int:
        """Return the seconds at the begin of the attempt of a running job in which it makes no progress."""
        if self._engine.ledger.log.counts[row]:
            return self.settings.restart
        return 0

    def _start(self, waits: WaitingJob) -> None:
        """Start an on-demand job on the nodes that are kept for it; jobs that have not begun to write stay."""
        engine = self._engine
        j = waits.row
        now = self._engine.now
        nodes = self.claims.release(waits)
        names = engine.platform.nodes
        engine.state.expected[j] = waits.job.duration
        engine.start(j, [{names[n]: 1 for n in nodes}])
        self.first_start.setdefault(j, now)
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
        now, units = self._engine.now, self._engine.workload.units
        coming = [k for k, gone in self.leaving.items() if gone.owner is waits]
        needed = waits.missing - sum(int(units[k]) for k in coming)
        if (needed <= 0 and not self.claims.lacks_power(waits, coming)) or now > waits.due:
            return
        jobs = self._candidates(waits)
        busy = max((gone.end - now for gone in self.leaving.values() if gone.strategy != "kill"), default=0)
        row = {r.id: r.row for r in jobs}
        needed = max(1, needed)
        began = time.perf_counter()
        enough = False
        while not enough:  # while the jobs that leave take too little power, more nodes than needed are freed
            problem = problem_of(jobs, self.checkpoints, self.settings, needed, now, waits.due - now, busy)
            decided = None
            if problem is not None:
                decided = self._plan_of(self.settings.evictor, problem, waits)
            gone = []
            if decided:
                gone = [row[name] for name, what in decided.strategy.items() if what != "keep"]
            enough = decided is None or not self.claims.lacks_power(waits, [*coming, *gone])
            needed = 1 + sum(int(units[k]) for k in gone)
        seconds = time.perf_counter() - began
        self.decisions.append(EvictionDecision(waits.job.id, now, busy, problem, decided, seconds))
        if problem is None or decided is None:
            return
        kill_at = max(now, waits.job.submit)
        for r, what, stop, write, end in departures_of(decided, problem, jobs, self.checkpoints, now, busy, kill_at):
            self._send_away(Leaving(r.row, waits, what, now, stop, write, end))

    def _plan_of(self, evictor: Evictor, problem: Eviction, waits: WaitingJob) -> EvictionPlan | None:
        """Return the plan of an evictor, verified; None: no job leaves. Raises SimulationError."""
        now = self._engine.now
        who = f"evictor {evictor.name} at {now}, for on-demand job {waits.job.id!r}"
        try:
            plan = evictor.decide(problem)
        except SchedlabError:
            raise
        except Exception as e:
            raise SimulationError(f"{who}: it raised {type(e).__name__}: {e}", waits.job.id, time=now) from e
        if plan is None:
            return None
        if not isinstance(plan, EvictionPlan):
            why = f"it returned {excerpt(plan)}; expected an EvictionPlan, or None: no job leaves"
            raise SimulationError(f"{who}: {why}", waits.job.id, time=now)
        faults = problem.verify(plan)
        if faults:
            raise SimulationError(f"{who}: {faults[0].message}", waits.job.id, time=now)
        return plan

    def _candidates(self, waits: WaitingJob) -> list[RunningJob]:
        """Return the batch jobs that may leave for an on-demand job: not those on nodes that are reserved before it is over."""
        engine = self._engine
        held = self.claims.reserved_before(waits)
        w, candidates = engine.workload, []
        for j in sorted(engine.state.running[: engine.state.clock[RUNNING]].tolist()):
            free = j not in self.on_demand and j not in self.leaving
            if free and (held is None or not held[engine.ledger.places_of(j)].any()):
                start = engine.ledger.start_of(j)
                candidates.append(
                    RunningJob(j, w.ids[j], int(w.units[j]), start, engine.now - start - self._restart(j))
                )
        return candidates

    def _send_away(self, gone: Leaving) -> None:
        """Plan the departure of a job."""
        self.leaving[gone.row] = gone
        agenda = self._engine.agenda
        if gone.strategy == "kill":
            agenda.add(gone.end, Rank.KILL, lambda: self._leave(gone))
        else:
            agenda.add(gone.stop, Rank.CHECKPOINT_BEGIN, lambda: self._hold(gone))
            agenda.add(gone.end, Rank.CHECKPOINT_DONE, lambda: self._leave(gone))

    def _hold(self, gone: Leaving) -> None:
        """Keep a job from ending before it has written its checkpoint: it makes no progress from now on."""
        state = self._engine.state
        n = int(state.clock[RUNNING])
        if self.leaving.get(gone.row) is not gone:
            return
        state.ends[:n][state.end_of[:n] == gone.row] = NEVER
        order = np.argsort(state.ends[:n], kind="stable")  # a sorted array is a heap
        state.ends[:n], state.end_of[:n] = state.ends[:n][order], state.end_of[:n][order]

    def _leave(self, gone: Leaving) -> None:
        """Let a job leave with the work of its checkpoint, and give its nodes to the on-demand job."""
        row, ledger = gone.row, self._engine.ledger
        if self.leaving.get(row) is not gone:
            return
        worked = max(0, gone.stop - ledger.start_of(row) - self._restart(row))
        if gone.strategy == "kill":
            kept = self.checkpoints.taken(row, worked)
        else:
            kept = worked
        number = ledger.log.counts[row] + 1
        nodes = ledger.places_of(row).tolist()
        del self.leaving[row]
        self._engine.put_back(row, f"evicted ({gone.strategy}): {gone.owner.job.id}", kept)
        self.departures.append(
            Departure(row, number, gone.owner.job.id, gone.strategy, gone.decided, gone.stop, gone.write, gone.end)
        )
        self.claims.take_of(gone.owner, nodes)
        self.claims.to_reserve(nodes)

    def result(self, now: int) -> Mapping[str, Any]:
        """Return the record, and the restarts of later attempts."""
        decisions = tuple(self.decisions)
        departures = tuple(self.departures)
        first = dict(self.first_start)
        return {"preemption": PreemptionRecord(self.settings, self.rows, decisions, departures, first, self.requeue)}


def with_on_demand(
    workload: Workload,
    platform: Platform,
    jobs: Iterable[OnDemandJob],
    reserved: int = 0,
) -> Workload:
    """Return a workload with rows for on-demand jobs.

    The rows are in the queue ``on-demand``; ``latest_start`` is the time by which they should start. Batch jobs that do
    not fit beside ``reserved`` nodes are left out and listed in ``workload.report``.

    Parameters
    ----------
    workload : Workload
        The batch jobs.
    platform : Platform
        The machine: equal nodes, of which a unit of a job has more than half.
    jobs : iterable of OnDemandJob
        The on-demand jobs.
    reserved : int
        Nodes that batch jobs may not use.

    Raises
    ------
    WrongValue
        If a job is wrong, has the id of a batch job, needs more nodes than the machine has, or the machine or the batch
        jobs are not of this kind.
    """
    listed = tuple(jobs)
    check_jobs(listed, platform)
    same = set(workload.ids) & {j.id for j in listed}
    if same:
        raise WrongValue(f"on-demand job {sorted(same)[0]!r}: a batch job has this id; expected another one")
    if not counted(workload, platform):
        raise WrongValue(
            "preemption needs a machine of equal nodes, with at most one job unit on a node: here nodes differ, several "
            f"units fit on one, or a job has several chunks; {WHOLE_NODES}"
        )
    if reserved:
        workload = _beside_reserved(workload, platform, reserved)
    if not listed:
        return workload
    request = dict(zip(platform.resources, next(iter(platform.capacity.values())), strict=True))
    request = {name: amount for name, amount in request.items() if amount and name in workload.resources}
    ewt = max(1, max(j.start_within for j in listed))
    known = any(q.name == QUEUE for q in workload.queues)
    if known:
        whole = workload
    else:
        whole = replace(workload, queues=(*workload.queues, Queue(QUEUE, ewt)))
    made = [
        Job(
            j.id, j.submit, j.duration, j.nodes, request, QUEUE, runtime=j.duration, user=QUEUE, name=QUEUE,
            latest_start=j.latest_start, power=j.power,
        )
        for j in listed
    ]  # fmt: skip
    return with_rows(whole, [(Running(job, job.submit, {}, job.submit + job.walltime),) for job in made])


def _beside_reserved(workload: Workload, platform: Platform, reserved: int) -> Workload:
    """Return the workload without the jobs that need more nodes than the reserved ones leave."""
    left = len(platform.nodes) - reserved
    if left < 1:
        raise WrongValue(
            f"reserve:{reserved}: expected fewer than the {how_many(len(platform.nodes), 'node')} of the machine"
        )
    begun = {r.job.id for r in workload.running}
    gone = [k for k in np.flatnonzero(workload.units > left).tolist() if workload.ids[k] not in begun]
    if not gone:
        return workload
    kept = np.ones(len(workload), np.bool_)
    kept[gone] = False
    why = [
        (workload.ids[k], f"needs {how_many(workload.units[k], 'node')}, {reserved} are reserved, {left} are left")
        for k in gone
    ]
    return workload.keep(kept, workload.report.and_also({TOO_LARGE: len(gone)}, why))
