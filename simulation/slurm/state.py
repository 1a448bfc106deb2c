"""The state of a site that Slurm schedules, and the question what starts in it.

Whoever replays a history sets the state (``submit``, ``start``, ``end``, ``cancel``, ``set_node``, ``advance``), and asks what
starts: ``main`` and ``backfill`` start jobs, ``ask`` only says what both would start.

Preemption: with ``partition_prio``, a job may preempt those in partitions of lower tiers; with ``qos``, those of the QOS that its
own QOS names. Candidates are taken off in order, the lowest tier and priority first, until the job fits; the last of them is
then tried first, which finds fewer. Those that are not on its nodes stay [SlurmDoc, preempt]. Victims are cancelled or put back
into the queue, after the grace time of their partition or QOS. Suspended jobs are not modelled.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...models.array_types import Bools, Ints
from ...models.site import QOS, Partition, SchedulerSettings, Site
from . import columns as c
from .jobs import ENDED_WELL, SlurmJob
from .limits import reason_name
from .passes import backfill_pass, main_pass, sort_queue
from .priority import JobPriorities
from .tables import Tables

MODES = ("cancel", "requeue")
TYPES = ("partition_prio", "qos")


@dataclass(frozen=True)
class Victim:
    """A job that must end: its index, when (Unix time in s), whether it is put back into the queue, and for which job it ends."""

    job: int
    end: int
    requeued: bool
    preemptor: int


@dataclass
class Preemption:
    """The rules of preemption of a site.

    Parameters
    ----------
    site : Site
        The site.
    jobs : sequence of SlurmJob
        All jobs.
    tables : Tables
        The running jobs.
    priorities : JobPriorities
        The priorities of jobs.

    Attributes
    ----------
    enabled : bool
        Whether any job may preempt others.
    """

    site: Site
    jobs: Sequence[SlurmJob]
    tables: Tables
    priorities: JobPriorities

    def __post_init__(self) -> None:
        settings = self.site.scheduler
        assert isinstance(settings, SchedulerSettings)
        self.settings = settings
        self._qos = {q.name: q for q in self.site.qos}
        of_victims = self.site.qos if settings.preempt_type == "qos" else self.site.partitions
        modes = {
            *settings.preempt_mode,
            *(word for each in of_victims for word in (each.preempt_mode or "").split(",")),
        }
        self.enabled = settings.preempt_type in TYPES and not modes.isdisjoint(MODES)

    def _partition(self, job: int) -> Partition:
        run = self.tables.runs[self.tables.row_of[job]]
        return self.tables.partitions[int(run[c.RUN_PARTITION])]

    def _quality(self, job: int) -> QOS | None:
        return self._qos.get(self.jobs[job].request.qos)

    def mode(self, victim: int) -> str:
        """Return what becomes of a running job: ``"cancel"`` or ``"requeue"``; empty: it cannot be preempted."""
        own: str | None = None
        if self.settings.preempt_type == "qos":
            quality = self._quality(victim)
            own = None
            if quality is not None:
                own = quality.preempt_mode
        else:
            own = self._partition(victim).preempt_mode
        if own and own != "cluster":
            words = own.split(",")
        else:
            words = list(self.settings.preempt_mode)
        mode = next((word for word in words if word in MODES), "")
        if mode == "requeue" and self.jobs[victim].request.requeue is False:
            return "cancel"
        return mode

    def rights(self) -> Callable[[int, int], bool]:
        """Return the function that says whether a job in a partition, by index, stands above any running job."""
        running = self.tables.row_of
        if self.settings.preempt_type == "partition_prio":
            lowest = min((self._partition(k).tier for k in running), default=None)
            return lambda job, part: lowest is not None and self.tables.partitions[part].tier > lowest
        others = {self.jobs[k].request.qos for k in running}

        def above(job: int, part: int) -> bool:
            own = self._quality(job)
            return own is not None and not others.isdisjoint(own.preempt)

        return above

    def _may(self, job: int, part: int, victim: int, now: int) -> bool:
        if not self.mode(victim):
            return False
        quality = self._quality(victim)
        exempt = self.settings.preempt_exempt_time
        if quality is not None and quality.preempt_exempt_time is not None:
            exempt = quality.preempt_exempt_time
        if now - int(self.tables.runs[self.tables.row_of[victim], c.RUN_START]) < exempt:
            return False
        if self.settings.preempt_type == "partition_prio":
            return self._partition(victim).tier < self.tables.partitions[part].tier
        own = self._quality(job)
        return own is not None and self.jobs[victim].request.qos in own.preempt

    def victims(self, job: int, part: int, now: int) -> list[Victim]:
        """Return the jobs that end so that a job can start; none if it cannot start even then.

        Parameters
        ----------
        job, part : int
            The job, and the partition in which it is to start.
        now : int
            Unix time in s.
        """
        tables = self.tables
        runs = tables.runs
        candidates = [k for k in tables.row_of if self._may(job, part, k, now)]
        if self.settings.preempt_youngest_first:
            candidates.sort(key=lambda k: -int(runs[tables.row_of[k], c.RUN_START]))
        else:
            candidates.sort(key=lambda k: (self._partition(k).tier, int(self.priorities.priority[k, 0])))
        nodes: set[int] = set()
        gone: list[int] = []
        for _ in range(1 + max(0, self.settings.preempt_reorder_count)):
            nodes, gone = self._until_it_fits(job, part, candidates)
            if not nodes:
                return []
            last = gone[-1]
            candidates = [last, *(k for k in candidates if k != last)]
        on = [k for k in gone if nodes & {int(n) for n in tables.pieces_of(k)[:, c.PIECE_NODE]}]
        return [Victim(k, now + self._grace(k), self.mode(k) == "requeue", job) for k in on]

    def _until_it_fits(self, job: int, part: int, candidates: Sequence[int]) -> tuple[set[int], list[int]]:
        for number in range(1, len(candidates) + 1):
            gone = list(candidates[:number])
            nodes = self.tables.nodes_without(job, part, gone)
            if nodes:
                return nodes, gone
        return set(), []

    def _grace(self, victim: int) -> int:
        if self.settings.preempt_type == "qos":
            quality = self._quality(victim)
            if quality is None:
                return 0
            return quality.grace_time
        return self._partition(victim).grace_time


FUTURE, WAITING, RUNNING, ENDED = range(4)
REQUEUE_DELAY = 121  # s: a requeued batch job may start when its credential has expired
WHOLE_QUEUE = 2**40
REASONS = {
    c.RESOURCES: "Resources",
    c.PRIORITY: "Priority",
    c.NODE_NOT_AVAILABLE: "ReqNodeNotAvail",
    c.RESERVED: "Reservation",
    c.ARRAY_LIMIT: "JobArrayTaskLimit",
    c.BAD_CONSTRAINTS: "BadConstraints",
}


def reason_of(code: int) -> str:
    """Return Slurm's name of a reason that a pass gave.

    >>> reason_of(c.RESOURCES), reason_of(c.NONE)
    ('Resources', 'None')
    """
    if code >= c.LIMITS:
        return reason_name((code - c.LIMITS) // 100, (code - c.LIMITS) % 100)
    return REASONS.get(code, "None")


class SlurmStart(NamedTuple):
    """A start: the job's index, the time, the partition, the nodes, and whether the backfill scheduler made it."""

    job: int
    time: int
    partition: int
    nodes: tuple[int, ...]
    backfilled: bool


@dataclass
class SlurmState:
    """The state of a site, and what Slurm starts in it.

    Parameters
    ----------
    site : Site
        The site.
    jobs : sequence of SlurmJob
        All jobs that may ever be submitted; they are referred to by their index.
    begin, until : int
        Unix times of the begin and about the end.
    tables : SharedTables, optional
        The tables of a replay that any dispatcher may make, in its times. None: tables that the state keeps itself.
    """

    site: Site
    jobs: Sequence[SlurmJob]
    begin: int
    until: int
    tables: Any = None  # Tables or SharedTables
    priorities: JobPriorities = field(init=False)

    def __post_init__(self) -> None:
        if self.tables is None:
            self.tables = Tables(self.site, self.jobs, self.begin, self.until)
        self.settings = self.tables.settings
        self.priorities = JobPriorities(
            self.site,
            self.jobs,
            self.tables.need[:, c.LIMIT_CPUS].copy(),
            self.tables.job[:, c.MIN_NODES].copy(),
            self.begin,
        )
        self.preemption = Preemption(self.site, self.jobs, self.tables, self.priorities)
        self._leaving: dict[int, int] = {}  # job that is preempted: its end
        self._preempted_for: dict[int, int] = {}  # job that waits for others to leave: until when
        size = len(self.jobs)
        self.state = np.full(size, FUTURE, np.int64)
        self.held = [""] * size  # why a waiting job is not eligible
        self._blocked: dict[int, set[int]] = defaultdict(set)  # job: those that wait for it
        self._single: dict[tuple[str, str], set[int]] = defaultdict(
            set
        )  # name and user: jobs that must be the only one
        self._by_id: dict[str, list[int]] = defaultdict(list)
        for k, job in enumerate(self.jobs):
            self._by_id[job.id].append(k)
            if job.array:
                self._by_id[job.array].append(k)
        self.waiting: dict[int, None] = {}
        most = max((len(parts) for parts in self.tables.job_parts), default=1)
        self._parts = np.full((size, max(1, most)), -1, np.int64)
        for k, parts in enumerate(self.tables.job_parts):
            self._parts[k, : len(parts)] = parts
        self._eligible = np.zeros(size, np.bool_)
        self._begins: list[tuple[int, int]] = []
        self._ended_well: dict[int, bool] = {}
        self._started: set[int] = set()
        self._begin_of = [job.submit + job.request.begin for job in self.jobs]
        self._parameters(self.begin)  # jobs may be placed before the first pass

    # --- What happens.

    def submit(self, job: int, now: int, begin: int | None = None) -> None:
        """Put a job into the queue, for the first time or again; ``begin``: it is not eligible before."""
        self.state[job] = WAITING
        self.waiting[job] = None
        if begin is not None:
            self._begin_of[job] = begin
        for dependency in self.jobs[job].request.dependencies:
            if dependency.kind == "singleton":
                self._single[self._name_of(job)].add(job)
            for name in dependency.jobs:
                for other in self._by_id.get(name, ()):
                    self._blocked[other].add(job)
        self._test(job, now)
        self.priorities.submitted(job, now)

    def _test(self, job: int, now: int) -> None:
        """Find out whether a waiting job is eligible."""
        why = self._why_held(job, now)
        if why:
            self.priorities.eligible(job, None)
        elif not self._eligible[job]:
            # the tasks of an array are looked at in the next pass, a second later; other jobs at their submission
            if self.jobs[job].array:
                since = now + 1
            else:
                since = now
            self.priorities.eligible(job, since)
            self.tables.job[job, c.ELIGIBLE] = since
        self.held[job] = why
        self._eligible[job] = not why
        if why == "BeginTime":
            heapq.heappush(self._begins, (self._begin_of[job], job))

    @property
    def partitions(self) -> Ints:
        """The partitions of each job, -1: none, shape (jobs, partitions of a job)."""
        return self._parts

    def never_eligible(self) -> Bools | None:
        """Return which jobs are never eligible; None if that of some job changes with time, or with other jobs."""
        if any(job.request.dependencies or job.request.begin for job in self.jobs):
            return None
        return np.array([bool(self._why_held(k, job.submit)) for k, job in enumerate(self.jobs)], np.bool_)

    def resume(self, waiting: Sequence[int], running: Sequence[int]) -> None:
        """Take over which jobs wait and run from who has replayed them."""
        self.waiting = dict.fromkeys(waiting)
        self.state[list(waiting)] = WAITING
        self.state[list(running)] = RUNNING
        self._eligible[:] = False
        for job in waiting:
            self.held[job] = self._why_held(job, self.jobs[job].submit)
            self._eligible[job] = not self.held[job]

    def _why_held(self, job: int, now: int) -> str:
        each = self.jobs[job]
        request = each.request
        if request.held:
            return "JobHeldUser"
        if request.dependencies:
            why = self._dependency(job)
            if why:
                return why
        if self._begin_of[job] > now:
            return "BeginTime"
        reasons = [self._partition_reason(job, p) for p in self.tables.job_parts[job]]
        if all(reasons):
            return reasons[0]
        beyond: str = self.tables.limits.of_one_job(job, int(self.tables.job[job, c.LIMIT]))
        return beyond

    def _beyond_node_limits(self, job: int, part: Partition) -> bool:
        """Return whether a job asks for fewer or more nodes than a partition allows; no number of nodes is one node at least.

        Where jobs are counted in units, they have the nodes that they need, and may be given more than they asked for.
        """
        most = part.max_nodes
        row = self.tables.job[job]
        if self.tables.in_units:
            return bool((most is not None and row[c.MIN_NODES] > most) or 0 < row[c.MAX_NODES] < part.min_nodes)
        request = self.jobs[job].request
        flags: tuple[str, ...] = next((q.flags for q in self.site.qos if q.name == request.qos), ())
        if row[c.MIN_NODES] < part.min_nodes and "partitionminnodes" not in flags:
            return True
        asked = max(row[c.MIN_NODES], row[c.MAX_NODES])
        return bool(most is not None and asked > most and "partitionmaxnodes" not in flags)

    def _partition_reason(self, job: int, p: int) -> str:
        part = self.tables.partitions[p]
        row = self.tables.job[job]
        each = self.jobs[job]
        if part.max_time is not None and row[c.LIMIT] > part.max_time:
            return "PartitionTimeLimit"
        if self._beyond_node_limits(job, part):
            return "PartitionNodeLimit"
        if part.allows(each.request.account, each.request.qos, (each.group,) if each.group else ()):
            return "PartitionConfig"
        if part.needs_reservation and row[c.RESERVATION] < 0:
            return "PartitionConfig"
        return {"down": "PartitionDown", "inactive": "PartitionInactive"}.get(part.state, "")

    def _dependency(self, job: int) -> str:
        request = self.jobs[job].request
        met: list[bool | None] = []
        for dependency in request.dependencies:
            if dependency.kind == "singleton":
                met.append(self._is_single(job))
                continue
            for name in dependency.jobs:
                others = self._by_id.get(name, [])
                if dependency.kind == "aftercorr":
                    others = [k for k in others if self.jobs[k].task == self.jobs[job].task] or others
                met.append(self._met(dependency.kind, others))
        never = "DependencyNeverSatisfied"
        if request.any_dependency:
            if any(m is True for m in met):
                return ""
            if all(m is None for m in met):
                return never
            return "Dependency"
        if any(m is None for m in met):
            return never
        if all(met):
            return ""
        return "Dependency"

    def _name_of(self, job: int) -> tuple[str, str]:
        """Return what the jobs have in common of which only one may run, with singleton: their name and user."""
        return self.jobs[job].name, self.jobs[job].user

    def _is_single(self, job: int) -> bool:
        each = self.jobs[job]
        for k in [*self.waiting, *self.tables.running]:
            other = self.jobs[k]
            earlier = (other.number, other.task) < (each.number, each.task)
            same = k != job and other.name == each.name and other.user == each.user
            if same and (self.state[k] == RUNNING or earlier):
                return False
        return True

    def _met(self, kind: str, others: Iterable[int]) -> bool | None:
        """Return whether a dependency is met; None: it never will be."""
        if kind == "after":
            return all(k in self._started or k in self._ended_well for k in others)
        ended = [self._ended_well.get(k) for k in others]
        if kind in ("afterok", "aftercorr") and any(e is False for e in ended):
            return None
        if any(e is None for e in ended):
            return False
        if kind == "afternotok":
            if any(e is False for e in ended):
                return True
            return None
        return True

    def start(self, job: int, now: int, partition: int, nodes: Sequence[int]) -> bool:
        """Let a job start on nodes that are given; return whether it fits there by the rules."""
        fits: bool = self.tables.place(job, partition, now, nodes)
        self._note_start(job, now, partition)
        return fits

    def _note_start(self, job: int, now: int, partition: int) -> None:
        self.state[job] = RUNNING
        self.waiting.pop(job, None)
        self._eligible[job] = False
        self.held[job] = ""
        self._started.add(job)
        self.priorities.started(job, now, self._billing(job, partition))
        self._release(job, now)

    def _billing(self, job: int, partition: int) -> float:
        """Return what a job that has just started counts in its usage each second."""
        amounts = self.tables.amounts(job)
        used = {"cpu": float(amounts[c.LIMIT_CPUS])}
        if not self.tables.in_units:  # else only the CPUs are counted
            used |= {"node": float(amounts[c.LIMIT_NODES]), "gres/gpu": float(amounts[c.LIMIT_GPUS])}
        return self.priorities.billing(job, self.tables.partitions[partition].name, used)

    def take_over(self, job: int, now: int, partition: int) -> None:
        """Note that a job runs since before the replay, which begins now; its tables have it already."""
        self.priorities.eligible(job, self.jobs[job].submit)
        self.priorities.submitted(job, now)
        self._note_start(job, now, partition)

    def start_anywhere(self, job: int, now: int) -> None:
        """Let a job start where it would if the machine were empty, for those who look at the priorities alone."""
        part = self.tables.job_parts[job][0]
        nodes = self.tables.empty_nodes(job, part)
        self.tables.place(job, part, now, nodes, others_stay=True)
        self._note_start(job, now, part)

    def end(self, job: int, now: int, state: str = ENDED_WELL, requeued: bool = False) -> None:
        """Let a running job end; ``requeued``: it will be submitted again."""
        self._renew_array(job, now)
        self.tables.remove(job)
        self.priorities.ended(job, now)
        self.priorities.eligible(job, None)
        if requeued:
            return
        self._leave(job, now, state == ENDED_WELL)

    def _renew_array(self, job: int, now: int) -> None:
        """Let the tasks of an array wait anew that may run no further task until one ends, for bf_min_age_reserve."""
        array = self.jobs[job].array
        if not array or not self.settings.bf_min_age_reserve:
            return
        running, most = self.tables.arrays[self.tables.job[job, c.ARRAY]].tolist()
        if 0 < most <= running:
            for other in self._by_id[array]:
                if self.state[other] == WAITING:
                    self.tables.job[other, c.ELIGIBLE] = now

    def cancel(self, job: int, now: int) -> None:
        """Cancel a waiting job."""
        self.waiting.pop(job, None)
        self._eligible[job] = False
        self.priorities.eligible(job, None)
        self._leave(job, now, False)

    def withdraw(self, job: int) -> None:
        """Take a waiting job out of the queue; it may be submitted again."""
        self.waiting.pop(job, None)
        self._eligible[job] = False
        self.priorities.eligible(job, None)
        self.state[job] = FUTURE

    def _leave(self, job: int, now: int, well: bool) -> None:
        self.state[job] = ENDED
        self._ended_well[job] = well
        self._release(job, now)

    def _release(self, job: int, now: int) -> None:
        for other in sorted({*self._blocked.get(job, ()), *self._single.get(self._name_of(job), ())} - {job}):
            if self.state[other] == WAITING:
                self._test(other, now)

    def set_node(self, node: int, up: bool) -> None:
        """Let a node begin or cease to take jobs."""
        self.tables.up[node] = up

    def advance(self, now: int) -> None:
        """Time passes: begin times, and updates of the priorities."""
        while self._begins and self._begins[0][0] <= now:
            _, job = heapq.heappop(self._begins)
            if self.state[job] == WAITING and self.held[job] == "BeginTime":
                self._test(job, max(now, self._begin_of[job]))
        while self.priorities.next_update <= now:
            self.priorities.update(self.priorities.next_update, list(self.waiting))

    @property
    def next_begin(self) -> int | None:
        """The next begin time of a waiting job."""
        if self._begins:
            return self._begins[0][0]
        return None

    # --- What starts.

    def _eligible_jobs(self) -> Ints:
        waiting = np.fromiter(self.waiting, np.int64, len(self.waiting))
        waiting.sort()
        eligible: Ints = waiting[self._eligible[waiting]]
        return eligible

    def _queue_to_look_at(self) -> Ints:
        """Return the part of the queue in which a pass can start jobs."""
        self.tables.refresh()
        part: Ints = self.tables.startable_part(self.queue())
        return part

    def queue(self) -> Ints:
        """Return the eligible jobs in order: job, partition, priority."""
        jobs = self.tables.startable(self._eligible_jobs())
        parts = self._parts[jobs]
        named = parts >= 0
        job = np.repeat(jobs, named.sum(axis=1))
        part = parts[named]
        priority = self.priorities.priority[jobs][:, : parts.shape[1]][named]
        number = np.nonzero(named)[1]
        queue: Ints = np.stack([job, part, priority, number], axis=1)
        sort_queue(queue, self.tables.machine())
        return queue

    def _parameters(self, now: int) -> Ints:
        s = self.settings
        p: Ints = self.tables.parameters
        p[:] = 0
        p[c.NOW] = now
        p[c.KILL_WAIT] = s.kill_wait
        p[c.MEMORY_COUNTS] = self.tables.counts_memory
        p[c.LEAST_LOADED_NODES] = "cr_lln" in s.select_parameters
        p[c.MIN_AGE] = s.bf_min_age_reserve
        p[c.MIN_PRIORITY] = s.bf_min_prio_reserve
        p[c.LIMIT_STOP] = s.assoc_limit_stop
        p[c.SERIAL_AT_END] = s.pack_serial_at_end
        p[c.IN_UNITS] = self.tables.in_units
        p[c.CPU_AMOUNT] = self.tables.cpu_amount
        p[c.MEMORY_AMOUNT] = self.tables.memory_amount
        return p

    def _main_parameters(self, now: int, whole_queue: bool) -> None:
        p = self._parameters(now)
        s = self.settings
        if whole_queue:
            p[c.DEPTH] = WHOLE_QUEUE
        else:
            p[c.DEPTH] = s.default_queue_depth
        p[c.PER_PARTITION] = s.partition_job_depth
        p[c.MOST_STARTS] = s.sched_max_job_start

    def _backfill_parameters(self, now: int) -> None:
        p = self._parameters(now)
        s = self.settings
        p[c.DEPTH] = s.bf_max_job_test
        p[c.PER_PARTITION] = s.bf_max_job_part
        p[c.PER_USER] = s.bf_max_job_user
        p[c.PER_USER_PARTITION] = s.bf_max_job_user_part
        p[c.PER_ASSOCIATION] = s.bf_max_job_assoc
        p[c.MOST_STARTS] = s.bf_max_job_start
        p[c.RESOLUTION] = max(1, s.bf_resolution)
        p[c.WINDOW] = s.bf_window
        p[c.PARTITION_RESERVES] = s.bf_job_part_count_reserve
        p[c.ARRAY_RESERVES] = s.bf_max_job_array_resv
        p[c.ONE_RESERVE] = s.bf_one_resv_per_job
        p[c.SPACE] = s.bf_max_job_test
        p[c.RUNNING_RESERVE] = s.bf_running_job_reserve
        p[c.BUSY_NODES] = s.bf_busy_nodes

    def _pass(self, queue: Ints, backfill: bool) -> list[SlurmStart]:
        """Run a pass over jobs; return what it started in the tables."""
        if not len(queue):
            return []
        tables = self.tables
        now = int(tables.parameters[c.NOW])
        jobs = np.unique(queue[:, 0])
        tables.read(backfill)
        tables.room_for(jobs)
        tables.reason[jobs] = c.NONE
        if tables.limits.run_minutes:
            left = {job: int(tables.runs[row, c.RUN_END]) - now for job, row in tables.row_of.items()}
            tables.limits.pass_time(left)
        machine = tables.machine()
        before = int(tables.counts[0])
        if backfill:
            tables.planned[jobs] = 0
            backfill_pass(queue, machine, tables.users, tables.associations)
        else:
            main_pass(queue, machine)
        starts = []
        for row in range(before, int(tables.counts[0])):
            job = int(tables.runs[row, c.RUN_JOB])
            tables.row_of[job] = row
            nodes = tuple(int(n) for n in tables.pieces_of(job)[:, c.PIECE_NODE])
            starts.append(SlurmStart(job, now, int(tables.runs[row, c.RUN_PARTITION]), nodes, backfill))
        return starts

    def _noted(self, starts: list[SlurmStart]) -> list[SlurmStart]:
        for start in starts:
            self.tables.limits.counted(start.job, self.tables.amounts(start.job))
            self._note_start(start.job, start.time, start.partition)
        return starts

    def pass_parameters(self) -> tuple[Ints, Ints]:
        """Return the parameters of the main scheduler and of the backfill scheduler, as the passes take them."""
        self._main_parameters(0, False)
        of_main = self.tables.parameters.copy()
        self._backfill_parameters(0)
        return of_main, self.tables.parameters.copy()

    def main(self, now: int, whole_queue: bool = False) -> list[SlurmStart]:
        """Run the main scheduler; the jobs that it starts run. ``whole_queue``: without default_queue_depth."""
        self._main_parameters(now, whole_queue)
        return self._noted(self._pass(self._queue_to_look_at(), False))

    def backfill(self, now: int) -> list[SlurmStart]:
        """Run the backfill scheduler; the jobs that it starts run."""
        if self.settings.scheduler_type != "backfill":
            return []
        self._backfill_parameters(now)
        return self._noted(self._pass(self._queue_to_look_at(), True))

    def preempt(self, now: int) -> list[Victim]:
        """Return the running jobs that must make room for waiting jobs, which the main pass could not start.

        Whoever replays ends them at their times. Nobody is preempted for a job while others are leaving for it.
        """
        if not self.preemption.enabled:
            return []
        self._leaving = {k: end for k, end in self._leaving.items() if k in self.tables.row_of and end >= now}
        self._preempted_for = {k: end for k, end in self._preempted_for.items() if end >= now}
        victims: list[Victim] = []
        above = self.preemption.rights()
        for job, part, *_ in self.queue().tolist():
            if not above(job, part):
                continue
            if int(self.tables.reason[job]) not in (c.RESOURCES, c.PRIORITY) or job in self._preempted_for:
                continue
            chosen = self.preemption.victims(job, part, now)
            fresh = [each for each in chosen if each.job not in self._leaving]
            if len(fresh) < max(1, len(chosen)):
                continue
            self._leaving.update({each.job: each.end for each in chosen})
            self._preempted_for[job] = max(each.end for each in chosen)
            victims.extend(chosen)
        return victims

    def ask(self, now: int) -> list[SlurmStart]:
        """Return what would start now by the main and then the backfill scheduler."""
        tables = self.tables
        queue = self.queue()
        tables.room_for(np.repeat(queue[:, 0], 2))
        snapshot = tables.snapshot()
        row_of = dict(tables.row_of)
        self._main_parameters(now, True)
        starts = self._pass(queue, False)
        if self.settings.scheduler_type == "backfill":
            left = queue[~np.isin(queue[:, 0], [start.job for start in starts])]
            self._backfill_parameters(now)
            starts = [*starts, *self._pass(left, True)]
        tables.restore(snapshot)
        tables.row_of = row_of
        return starts

    def reason(self, job: int) -> str:
        """Return why a job waits, with Slurm's name, as of the last pass."""
        return self.held[job] or reason_of(int(self.tables.reason[job]))
