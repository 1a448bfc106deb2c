"""Slurm as the scheduler of a replay: it is told what happens, and looks at its queue when Slurm does.

The engine's ledger is the truth: jobs arrive, start and end there. ``SlurmScheduler`` asks the engine for a call whenever a
pass of the main scheduler or of the backfill scheduler is due; the passes are those of ``passes``, and what they start is
started in the engine.

The passes read and write tables of their own. Jobs are counted in units of equal requests, which are CPUs or tasks where these
may be divided (``jobs.as_submitted``); a job may use the nodes, and holds of the limits, what it may and does under any
dispatcher; but one with whole nodes holds of limits of CPUs all that the nodes have which Slurm gives it. Before each pass, what is free, what runs and what limits leave are read from the
engine; a pass changes these copies, and its starts are then made in the engine.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.state import NOW, UNSTARTED, TraceArrays, may_start
from ...heuristics.kernels.events.state import RUNNING as RUNNING_JOBS
from ...heuristics.kernels.events.state import WAITING as WAITING_JOBS
from ...heuristics.kernels.profile import NEVER
from ...instances.workload import Workload
from ...models import Platform
from ...models.array_types import Bools, Ints, Small
from ...models.compiled import compiled
from ...models.dispatch.jobs import NOTHING, SiteRequest
from ...models.site import Partition, SchedulerSettings, Site
from ..agenda import Rank
from ..dispatchers.policy import NO_PHASES, Phases
from ..features.feature import Feature, Replay
from ..features.limits import RunningLimits
from ..features.running import Dependencies, RunningAtBegin
from ..features.site_limits import owners_of, partitions_of_jobs, tres_of
from ..features.site_reservations import reservations_of
from ..records import PREEMPTED_BY
from . import columns as c
from .columns import LIMIT, LIMIT_CPUS, QUEUE_COLUMNS, UNITS
from .events import (
    AGES,
    COUNTS_USAGE,
    FULL,
    MORE,
    NEXT_BASIC,
    NUMBERS,
    OVER,
    PERIOD,
    RANK,
    RANKED,
    SETTLED,
    UPDATE_CALL,
    UPDATED,
    Alone,
    PassTimes,
    replay_alone,
)
from .jobs import CANCELLED, ENDED_WELL, SlurmJob, as_submitted, memory_of_cpu, number_of, places_of
from .node_bits import packed, words_for
from .passes import COUNTS_JOBS, SHARED_OF_QOS, order_of_ends, part_with_room
from .priority import MOST
from .selection import MANY, Machine, note_free, work_for
from .state import REQUEUE_DELAY, RUNNING, WAITING, WHOLE_QUEUE, SlurmStart, SlurmState, Victim, reason_of
from .tables import chosen_nodes, pick_beside

REPEATED = 30 * 86_400  # s after the last job by its limit until which reservations are repeated
MOST_KINDS = 4096  # of requests of whole nodes whose nodes are kept as sets
MANY_CPUS = 2**40  # where no limit of a partition holds
NO_PARTITION = "(all nodes)"  # of jobs that are in no partition of the site


def jobs_of(workload: Workload, site: Site) -> list[SlurmJob]:
    """Return the jobs of a replay, with the accounts and the QOS by which the site limits them.

    Jobs that were submitted on hold are released when they arrive (``as_submitted``).

    Parameters
    ----------
    workload : Workload
        All rows of the replay, on the site.
    site : Site
        The site.
    """
    w = workload
    owners, which = owners_of(w, site)
    if w.site is not None:
        asked = w.site.request
        requests = w.site.requests
    else:
        asked = np.zeros(len(w), np.int64)
        requests = (NOTHING,)
    known: dict[tuple[int, int], SiteRequest] = {}
    jobs = []
    for k, (request, owner) in enumerate(zip(asked.tolist(), which.tolist(), strict=True)):
        key = (request, owner)
        if key not in known:
            own = owners[owner]
            known[key] = replace(
                requests[request],
                account=own.account,
                qos=own.qos,
                partitions=own.partitions or (NO_PARTITION,),
                held=False,
            )
        array, number, task = number_of(w.ids[k], k)
        jobs.append(
            SlurmJob(
                id=w.ids[k],
                user=w.users[int(w.user[k])],
                submit=int(w.submit[k]),
                limit=int(w.walltime[k]),
                request=known[key],
                name=w.programs[int(w.program[k])],
                array=array,
                number=number,
                task=task,
            )
        )
    return jobs


def _with_shares(trace: TraceArrays, workload: Workload, site: Site) -> TraceArrays:
    """Return the arrays with an amount of nodes for each MaxCPUsPerNode: the CPUs that jobs of its partition may have together.

    Jobs that name several partitions count in the first one.
    """
    limited = {p.name: p for p in site.partitions if p.max_cpus_per_node}
    if not limited or "cores" not in site.platform().resources:
        return trace
    cores = site.platform().resources.index("cores")
    first = np.array([names[0] if names else "" for names in partitions_of_jobs(workload, site)])
    names = site.platform().nodes
    capacity, request = [trace.capacity], [trace.request]
    for name, part in limited.items():
        most = int(part.max_cpus_per_node or 0)
        own = np.array([node in set(part.nodes) for node in names], np.bool_)
        of_node = np.full(len(trace.capacity), MANY_CPUS, np.int64)
        of_node[: len(names)][own] = most
        cpus = np.minimum(
            trace.request[:, cores], most
        )  # a unit is not divided: larger ones have the nodes to themselves
        capacity.append(of_node.reshape(-1, 1))
        request.append(np.where(first == name, cpus, 0).reshape(-1, 1))
    return trace._replace(
        capacity=np.ascontiguousarray(np.hstack(capacity)), request=np.ascontiguousarray(np.hstack(request))
    )


def _with_each_node(trace: TraceArrays, workload: Workload, resources: Sequence[str]) -> TraceArrays:
    """Return the arrays with what jobs take on each of their nodes; jobs that take other amounts there are of other kinds."""
    each = workload.on_each_node(resources)
    if not each.any():
        return trace
    amounts = np.zeros((len(workload), trace.capacity.shape[1]), np.int64)
    amounts[:, : each.shape[1]] = each
    _, sample, kind = np.unique(np.column_stack([trace.kind, each]), axis=0, return_index=True, return_inverse=True)
    return trace._replace(each_node=amounts, kind=kind.ravel().astype(np.int64), kind_job=sample.astype(np.int64))


@compiled
def _write_running(
    rows: Ints,
    first: Ints,
    pieces: Ints,
    place: Small,
    share: Small,
    start: Ints,
    limit: Ints,
    part: Ints,
    machine: Machine,
) -> None:
    """Write the running jobs, which take what their units request, and all of their nodes if these are whole."""
    at = 0
    for r in range(rows.size):
        j = rows[r]
        machine.runs[r, c.RUN_JOB] = j
        machine.runs[r, c.RUN_END] = start[j] + limit[r]
        machine.runs[r, c.RUN_FIRST] = at
        machine.runs[r, c.RUN_COUNT] = pieces[j]
        machine.runs[r, c.RUN_PARTITION] = part[j]
        machine.runs[r, c.RUN_START] = start[j]
        machine.runs[r, c.RUN_TOUCHES] = c.EVERY_PARTITION
        for k in range(first[j], first[j] + pieces[j]):
            n = place[k]
            machine.pieces[at, c.PIECE_NODE] = n
            for i in range(machine.free.shape[1]):
                amount = share[k] * machine.request[j, i]
                if machine.each_node.shape[0] > 0:
                    amount += machine.each_node[j, i]
                if machine.jobs[j, c.WHOLE]:
                    amount = machine.total[n, i]
                machine.pieces[at, c.PIECE_FREE + i] = amount
            at += 1
    machine.counts[0] = rows.size
    machine.counts[1] = at


@compiled
def _note_whole(rows: Ints, first: Ints, pieces: Ints, place: Small, machine: Machine) -> None:
    """Note which nodes running jobs have whole."""
    machine.use[:, c.WHOLE_ON] = 0
    for j in rows:
        if machine.jobs[j, c.WHOLE]:
            for k in range(first[j], first[j] + pieces[j]):
                machine.use[place[k], c.WHOLE_ON] += 1


@compiled
def note_all_free(machine: Machine) -> None:
    """Note of which nodes something is free, and copy what is free for the kernels."""
    for n in range(machine.free.shape[0]):
        note_free(n, machine, machine.free, machine.some)
        for r in range(machine.free.shape[1]):
            machine.work.free[n, r] = machine.free[n, r]
            machine.work.ahead_free[n, r] = machine.free[n, r]
    for r in range(machine.some.shape[0]):
        for w in range(machine.some.shape[1]):
            machine.work.some[r, w] = machine.some[r, w]


@compiled
def note_node(n: int, machine: Machine, free: Ints, some: Ints) -> None:
    """Note in the sets ``some`` of what a node has something free."""
    note_free(n, machine, free, some)


@compiled
def _open(trace: TraceArrays, rows: Ints, now: int) -> Bools:
    """Return which jobs the calendars let start now."""
    mask = np.empty(rows.size, np.bool_)
    for i in range(rows.size):
        mask[i] = may_start(trace, rows[i], now)
    return mask


@dataclass(eq=False)
class SharedLimits:
    """The limits that hold under every dispatcher, as the passes take them: of groups, licences, and of the whole machine."""

    used: Ints
    caps: Ints
    kind: Ints
    first_group: Ints
    groups: Ints
    run_minutes = False

    def of_one_job(self, job: int, seconds: int) -> str:
        """Return an empty text: jobs beyond a limit of each job are left out of the replay."""
        return ""

    def counted(self, job: int, amounts: Ints) -> None:
        """Note nothing: the engine counts."""


class SharedTables:
    """The tables of a replay.

    Parameters
    ----------
    engine : Replay
        The replay.
    site : Site
        The site, of kind ``"slurm"``.
    settings : SchedulerSettings
        Its settings, with those that were overridden.
    jobs : sequence of SlurmJob
        The rows of the replay.
    """

    in_units = True

    def __init__(self, engine: Replay, site: Site, settings: SchedulerSettings, jobs: Sequence[SlurmJob]) -> None:
        self._engine = engine
        self.site = site
        self.jobs = jobs
        self.settings = settings
        self.counts_memory = True
        trace = engine.trace
        names = engine.platform.nodes
        self._nodes = len(names)
        amounts = engine.platform.resources
        self.cpu_amount, self.memory_amount = (amounts.index(x) if x in amounts else -1 for x in ("cores", "memory"))
        self.total: Ints = trace.capacity[: self._nodes].copy()
        self.free: Ints = self.total.copy()
        self.use = np.zeros((self._nodes, c.USE_COLUMNS), np.int64)
        self._open = np.ones(self._nodes, np.bool_)
        self.up = packed(self._open)
        self.some = np.zeros((self.total.shape[1] + 1, words_for(self._nodes)), np.int64)
        self._work = work_for(self.free, self.use, self.some)
        self.threads = np.ones(self._nodes, np.int64)
        self.weight = np.array([site.node(name).weight for name in names], np.int64)
        self._partition_tables(names)
        self._job_tables()
        self._whole_tables()
        self._limit_tables()
        self._masks = packed(trace.masks[:, : self._nodes])
        self.masks = self._masks
        self._reserved(site)
        size = len(jobs)
        self.reason = np.zeros(size, np.int64)
        self.planned = np.zeros(size, np.int64)
        self.runs = np.zeros((64, c.RUN_COLUMNS), np.int64)
        self.pieces = np.zeros((256, 2 + self.total.shape[1]), np.int64)
        self.counts = np.zeros(2, np.int64)
        self.parameters = np.zeros(c.PARAMETERS, np.int64)
        self.order = np.zeros(64, np.int64)
        self.places = places_of(jobs)
        self.row_of: dict[int, int] = {}  # of the jobs that a pass has just started
        self.running: dict[int, None] = {}
        self.releases = 0  # how often nodes or amounts of nodes were released
        self.all_reasons = False  # whether passes are to say why each job waits
        self._tried = np.full((c.TRIED_ROWS, c.TRIED_COLUMNS), -1, np.int64)
        self._in_queue = np.zeros(size, np.bool_)
        self.calendars = bool((trace.own >= 0).any() or (trace.daily >= 0).any())
        self.place_in_order = np.zeros(size, np.int64)  # of the starts
        self.part_of = np.array([parts[0] for parts in self.job_parts], np.int64)
        self._started = 0

    # --- What does not change.

    def _partition_tables(self, names: Sequence[str]) -> None:
        listed = [replace(p, state="up") for p in self.site.partitions]
        if any(job.request.partitions == (NO_PARTITION,) for job in self.jobs):
            listed.append(Partition(NO_PARTITION, tuple(names), preempt_mode="off"))
        self.partitions: list[Partition] = listed
        self.part_index = {p.name: k for k, p in enumerate(listed)}
        self.parts = np.zeros((len(listed), c.PART_COLUMNS), np.int64)
        member = np.zeros((len(listed), self._nodes), np.uint8)
        number = {name: n for n, name in enumerate(names)}
        for k, part in enumerate(listed):
            row = self.parts[k]
            row[c.TIER] = part.tier
            if part.max_nodes is None:
                row[c.PART_MAX_NODES] = 500_000
            else:
                row[c.PART_MAX_NODES] = part.max_nodes
            row[c.LEAST_LOADED] = part.least_loaded
            if part.over_time_limit is None:
                over = self.settings.over_time_limit
            else:
                over = part.over_time_limit
            if over is None:
                row[c.OVER_LIMIT] = c.YEAR
            else:
                row[c.OVER_LIMIT] = over
            member[k, [number[name] for name in part.nodes if name in number]] = 1
        self._is_member = member > 0
        self.member = packed(member)

    def _job_tables(self) -> None:
        jobs = self.jobs
        trace = self._engine.trace
        size = len(jobs)
        found: dict[tuple[str, ...], list[int]] = {}
        self.job_parts = []
        for job in jobs:
            names = job.request.partitions
            if names not in found:
                found[names] = [self.part_index[name] for name in names]
            self.job_parts.append(found[names])
        users = {name: k for k, name in enumerate(dict.fromkeys(job.user for job in jobs))}
        owners = {key: k for k, key in enumerate(dict.fromkeys((job.request.account, job.user) for job in jobs))}
        arrays = {name: k for k, name in enumerate(dict.fromkeys(job.array for job in jobs if job.array))}
        self.users = len(users)
        self.associations = len(owners)
        self.arrays = np.zeros((max(1, len(arrays)), c.ARRAY_COLUMNS), np.int64)
        for job in jobs:
            if job.array and job.request.array_limit:
                self.arrays[arrays[job.array], c.MOST_TASKS] = job.request.array_limit
        self.request: Ints = trace.request
        self.each_node: Ints = trace.each_node
        self._kind = trace.kind
        most = np.minimum(trace.most, MANY)
        table = np.zeros((size, c.JOB_COLUMNS), np.int64)
        asked_least = np.array([job.request.min_nodes or 1 for job in jobs], np.int64)
        asked_most = np.array([job.request.max_nodes or 0 for job in jobs], np.int64)
        part_least = np.array([p.min_nodes for p in self.partitions], np.int64)[[p[0] for p in self.job_parts]]
        fewest = -(-trace.units // most)
        least = np.maximum(fewest, np.minimum(trace.units, np.maximum(asked_least, part_least)))
        table[:, c.MIN_NODES] = least
        table[:, c.MAX_NODES] = np.where(asked_most > 0, np.clip(asked_most, least, trace.units), 0)
        self._allow_more_nodes()
        table[:, c.CPUS_PER_TASK] = 1
        divided = (most > 1) & ~trace.whole.astype(np.bool_)
        of_least = (
            divided & (least > 1) & (most == trace.units - least + 1)
        )  # what the least number of nodes leaves for one
        table[:, c.PER_NODE] = np.where(of_least, MANY, most)
        self._unit_columns(table)
        table[:, c.WHOLE] = trace.whole
        table[:, c.CONTIGUOUS] = [job.request.contiguous for job in jobs]
        table[:, c.GPU_TYPE] = table[:, c.REQUIRED] = -1
        table[:, c.ALLOWED] = trace.node_set
        table[:, c.LIMIT] = self._engine.workload.walltime
        table[:, c.RESERVATION] = -1
        table[:, c.ARRAY] = [arrays[job.array] if job.array else -1 for job in jobs]
        table[:, c.USER] = [users[job.user] for job in jobs]
        table[:, c.ASSOCIATION] = [owners[job.request.account, job.user] for job in jobs]
        table[:, c.ELIGIBLE] = [job.submit for job in jobs]
        no_reserve = {q.name for q in self.site.qos if "noreserve" in q.flags}
        table[:, c.NO_RESERVE] = [job.request.qos in no_reserve for job in jobs]
        self.job = table
        self.need = np.zeros((size, c.LIMIT_CPUS + 1), np.int64)
        cores = self._engine.platform.resources.index("cores")
        self.need[:, c.LIMIT_CPUS] = trace.units * trace.request[:, cores]
        self._count_whole_nodes()

    def _count_whole_nodes(self) -> None:
        """Count all CPUs of as many of the smallest nodes of their partition as jobs with whole nodes ask for, as Slurm does."""
        smallest = []
        for k in range(len(self.partitions)):
            sizes = self.total[self._is_member[k], self.cpu_amount]
            smallest.append(int(sizes.min(initial=2**31)) if len(sizes) else 0)
        first = np.array([parts[0] for parts in self.job_parts], np.int64)
        cpus = np.array(smallest, np.int64)[first] * self.job[:, c.MIN_NODES]
        whole = self.job[:, c.WHOLE] > 0
        self.need[whole, c.LIMIT_CPUS] = np.maximum(self.need[whole, c.LIMIT_CPUS], cpus[whole])

    def _unit_columns(self, table: Ints) -> None:
        """Write how the nodes of jobs are chosen: by units, or by CPUs if there is a unit on each node, which has many."""
        trace = self._engine.trace
        table[:, c.UNITS] = trace.units
        largest = self.total.max(axis=0)
        fit = np.where(trace.request > 0, largest // np.maximum(trace.request, 1), MANY).min(axis=1, initial=MANY)
        table[:, c.MOST_ON] = np.minimum(fit, table[:, c.PER_NODE])
        table[:, c.MEMORY_PER_CPU] = table[:, c.MEMORY_PER_NODE] = -1
        if self.cpu_amount >= 0:
            cpus = trace.request[:, self.cpu_amount]
        else:
            cpus = np.zeros(len(table), np.int64)
        one_each = (trace.units == 1) | (trace.most == 1)
        whole = trace.whole.astype(np.bool_)
        by_cpus = one_each & ~whole & (cpus > 1)
        table[:, c.UNIT_CPUS] = np.where(by_cpus, cpus, 1)
        table[by_cpus, c.TASKS_PER_NODE] = cpus[by_cpus]
        table[:, c.TASKS] = table[:, c.MIN_CPUS] = trace.units * table[:, c.UNIT_CPUS]
        of_cpu: dict[int, int | None] = {}
        for row in np.flatnonzero(by_cpus).tolist():
            asked = self.jobs[row].request
            if id(asked) not in of_cpu:
                of_cpu[id(asked)] = memory_of_cpu(asked, self.site, self.settings)
            memory = of_cpu[id(asked)]
            if memory is None:
                table[row, c.MEMORY_PER_CPU] = -1
            else:
                table[row, c.MEMORY_PER_CPU] = memory

    def _allow_more_nodes(self) -> None:
        """Let partitions give jobs the nodes that they need here: MaxNodes is for what a job asks for, and it may have run on more."""
        if not any(part.max_nodes is not None for part in self.partitions):
            return
        needed = tres_of(self._engine.workload, self._engine.platform)["node"]
        for row in np.flatnonzero(needed > self.parts[:, c.PART_MAX_NODES].min()).tolist():
            of_job = self.job_parts[row]
            self.parts[of_job, c.PART_MAX_NODES] = np.maximum(self.parts[of_job, c.PART_MAX_NODES], needed[row])

    def _whole_tables(self) -> None:
        """Find the nodes that the jobs may have that take whole nodes, with one unit on each."""
        trace = self._engine.trace
        self._whole_fit = np.full(len(self.jobs), -1, np.int64)
        rows = np.flatnonzero((self.job[:, c.WHOLE] > 0) & (self.job[:, c.PER_NODE] == 1))
        kinds, first, number = np.unique(trace.kind[rows], return_index=True, return_inverse=True)
        sets = np.zeros((max(1, len(kinds)), self._nodes), np.bool_)
        if len(kinds) <= MOST_KINDS:
            self._whole_fit[rows] = number
            for k, row in enumerate(rows[first].tolist()):
                fits = (self.total >= trace.request[row]).all(axis=1)
                sets[k] = fits & trace.masks[trace.node_set[row], : self._nodes]
        self._whole_nodes = packed(sets)

    def _limit_tables(self) -> None:
        """Make rows of the limits of the replay, and of the amounts of the whole machine, such as power, after them."""
        trace = self._engine.trace
        of_machine = trace.machine_request
        varies = self._let_whole_nodes_vary()
        job = np.repeat(np.arange(len(self.jobs)), np.diff(trace.first_limit))
        limit = trace.limit
        amount = trace.limit_amount
        checked = trace.limit_checked
        for k in range(trace.machine_capacity.size):
            job = np.concatenate([job, np.arange(len(self.jobs))])
            limit = np.concatenate([limit, np.full(len(self.jobs), trace.limit_capacity.size + k)])
            amount = np.concatenate([amount, of_machine[:, k]])
            checked = np.concatenate([checked, np.ones(len(self.jobs), np.bool_)])
            varies = np.concatenate([varies, np.zeros(len(self.jobs), np.bool_)])
        columns = [limit, amount, checked, amount, varies]
        order = np.argsort(job, kind="stable")
        caps = np.concatenate([trace.limit_capacity, trace.machine_capacity]).reshape(-1, 1)
        kind = np.full(len(caps), COUNTS_JOBS, np.int64)
        kind[limit[amount != 1]] = 0
        kind[[k for k, name in enumerate(self._engine.timeline.limit_names) if _is_of_qos(name)]] = SHARED_OF_QOS
        self.limits = SharedLimits(
            used=np.zeros_like(caps),
            caps=caps,
            kind=kind,
            first_group=np.searchsorted(job[order], np.arange(len(self.jobs) + 1)),
            groups=np.ascontiguousarray(np.column_stack(columns)[order].astype(np.int64)),
        )

    def _let_whole_nodes_vary(self) -> Bools:
        """Let waiting jobs with whole nodes count in limits of CPUs what they have at least; return which amounts vary, shape (amounts,)."""
        trace = self._engine.trace
        of_cpus = np.array([counts_cpus(name) for name in self._engine.timeline.limit_names], np.bool_)
        job = np.repeat(np.arange(len(self.jobs)), np.diff(trace.first_limit))
        waits = trace.whole.astype(np.bool_)
        waits[list(self._engine.running)] = False
        varies: Bools = np.zeros(len(job), np.bool_)
        if of_cpus.any():
            varies = of_cpus[trace.limit] & waits[job]
            trace.limit_amount[varies] = self.need[job[varies], c.LIMIT_CPUS]
        return varies

    def take_amounts(self, job: int) -> None:
        """Let a job with whole nodes that a pass has started count in the limits of the engine what its nodes have."""
        trace = self._engine.trace
        first = int(trace.first_limit[job])
        for k, (_, amount, _, _, varies) in enumerate(
            self.limits.groups[self.limits.first_group[job] :][: trace.first_limit[job + 1] - first]
        ):
            if varies:
                trace.limit_amount[first + k] = amount

    def _reserved(self, site: Site) -> None:
        """Make rows of the reservations of the site; those of the engine follow them when they are accepted."""
        w = self._engine.workload
        reserved, own = reservations_of(site)(w, self._engine.platform)
        if w.begin is None:
            begin = int(w.release.min())
        else:
            begin = w.begin
        last = int(w.release.max() + w.walltime.max()) + REPEATED
        rows: list[list[int]] = []
        masks = [self._masks]
        row_of: dict[tuple[int, int], int] = {}
        for k, r in enumerate(reserved):
            maint = int(r.maint) + int(r.maint and bool(r.nodes.all()))
            for start, end in r.times(begin, last):
                row_of[k, start] = len(rows)
                rows.append([start, end, len(self._masks) + k, maint, int(r.flex)])
            masks.append(packed(r.nodes.astype(np.uint8).reshape(1, -1)))
        for job, each in own.items():
            self.job[job, c.RESERVATION] = row_of.get((each.number, each.times.start), -1)
        self._own_reservations = np.array(rows, np.int64).reshape(-1, c.RESERVATION_COLUMNS)
        self._masks = np.concatenate(masks)
        self.masks = self._masks
        self.reservations = self._own_reservations
        self._holds: tuple[Hashable, ...] = ()

    # --- Before a pass.

    def leave_reservations(self, jobs: Iterable[int], now: int) -> None:
        """Let waiting jobs whose reservation is over wait as all others do."""
        if not self.reservations.size:
            return
        rows = np.fromiter(jobs, np.int64)
        rows = rows[self.job[rows, c.RESERVATION] >= 0]
        over = self.reservations[self.job[rows, c.RESERVATION], c.TO] <= now
        self.job[rows[over], c.RESERVATION] = -1

    def startable(self, jobs: Ints) -> Ints:
        """Return the jobs that are in the engine's queue and that the calendars let start now."""
        engine = self._engine
        state = engine.state
        rows = state.waiting[: state.clock[WAITING_JOBS]]
        self._in_queue[rows] = True
        kept = jobs[self._in_queue[jobs]]
        self._in_queue[rows] = False
        if self.calendars:
            return kept[_open(engine.trace, kept, state.clock[NOW])]
        return kept

    def startable_part(self, queue: Ints) -> Ints:
        """Return the queue up to the last job that has room now; no pass starts one after it."""
        if self.all_reasons:
            return queue
        return queue[: part_with_room(queue, self.machine())]

    def refresh(self) -> None:
        """Read from the engine what is free, and what limits leave."""
        state = self._engine.state
        timeline = self._engine.timeline
        self.parameters[c.RELEASES] = self.releases
        self.free[:] = state.free[: self._nodes]
        if (self._open != timeline.open).any():
            self._open[:] = timeline.open
            self.up[:] = packed(self._open)
        left = np.concatenate([state.limit_free, state.machine_free])
        self.limits.used[:, 0] = self.limits.caps[:, 0] - left
        if tuple(timeline.holds) != self._holds:
            self._read_holds()
        machine = self.machine()
        rows = state.running[: state.clock[RUNNING_JOBS]]
        _note_whole(rows, self._engine.trace.first, state.pieces, state.place, machine)
        note_all_free(machine)

    def read(self, backfill: bool) -> None:
        """Read from the engine, for the backfill scheduler, what runs."""
        engine = self._engine
        self.row_of.clear()
        state = engine.state
        self.counts[:] = 0
        if not backfill:
            return
        rows = state.running[: state.clock[RUNNING_JOBS]]
        rows = rows[np.argsort(self.place_in_order[rows], kind="stable")]
        limit = engine.ledger.limits(rows)
        self._room(rows.size, int(state.pieces[rows].sum()))
        _write_running(
            rows, engine.trace.first, state.pieces, state.place, state.share, state.start, limit, self.part_of, self.machine()
        )  # fmt: skip
        self.order[: rows.size] = order_of_ends(self.machine())

    def read_own(self) -> None:
        """Read from the engine what is free, what runs, and which of these jobs the passes have started."""
        self.refresh()
        self.read(True)
        rows = self.runs[: self.counts[0], c.RUN_JOB].tolist()
        self.row_of = {job: r for r, job in enumerate(rows) if self.place_in_order[job]}

    def nodes_without(self, job: int, part: int, gone: Sequence[int]) -> set[int]:
        """Return the nodes that a job would get if some running jobs were gone; none if it does not fit even then."""
        machine = self.machine()
        free = self.free.copy()
        some = self.some.copy()
        for other in gone:
            for piece in self.pieces_of(other):
                n = int(piece[c.PIECE_NODE])
                free[n] += piece[c.PIECE_FREE : c.PIECE_FREE + free.shape[1]]
                note_node(n, machine, free, some)
        mask = self.up & self.member[part]
        return set(chosen_nodes(self._work, pick_beside(job, part, machine, mask, free, self.use, some)))

    def _read_holds(self) -> None:
        """Make rows of what the reservations of the engine hold; their nodes are held whole."""
        timeline = self._engine.timeline
        self._holds = tuple(timeline.holds)
        rows, masks = [self._own_reservations], [self._masks]
        for k, hold in enumerate(timeline.holds.values()):
            mask = np.zeros((1, self._nodes), np.uint8)
            mask[0, [timeline.number[name] for name in hold.use.nodes]] = 1
            masks.append(packed(mask))
            rows.append(np.array([[hold.use.start, hold.use.end, len(self._masks) + k, 0, 0]], np.int64))
        self.reservations = np.concatenate(rows)
        self.masks = np.concatenate(masks)

    def _room(self, runs: int, pieces: int) -> None:
        if runs > len(self.runs):
            self.runs = np.zeros((2 * runs, c.RUN_COLUMNS), np.int64)
            self.order = np.zeros(2 * runs, np.int64)
        if pieces > len(self.pieces):
            self.pieces = np.zeros((2 * pieces, self.pieces.shape[1]), np.int64)

    def room_for(self, jobs: Ints) -> None:
        """Make the tables of running jobs large enough for the starts of some jobs, and keep what they have."""
        runs = int(self.counts[0]) + len(jobs)
        pieces = int(self.counts[1]) + int(np.minimum(self.job[jobs, c.UNITS], self._nodes).sum())
        if runs > len(self.runs):
            self.runs = np.concatenate([self.runs, np.zeros((runs, c.RUN_COLUMNS), np.int64)])
            self.order = np.concatenate([self.order, np.zeros(runs, np.int64)])
        if pieces > len(self.pieces):
            self.pieces = np.concatenate([self.pieces, np.zeros((pieces, self.pieces.shape[1]), np.int64)])

    def machine(self) -> Machine:
        """Return all tables."""
        return Machine(
            self.job, self.parts, self.member, self.masks, self.weight, self.threads, self.total, self.free, self.use, self.some,
            self.up,
            self.reservations, self.runs, self.pieces, self.counts, self.order, self.arrays, self.limits.used, self.limits.caps,
            self.limits.kind, self.limits.first_group, self.limits.groups, self.need, self.parameters, self.places,
            self._kind, self._tried, self.request, self.each_node,
            self._whole_fit, self._whole_nodes, self.reason, self.planned, self._work,
        )  # fmt: skip

    def keep_all_runs(self) -> None:
        """Make the tables of running jobs large enough for all jobs, which follow the engine from now on."""
        self.refresh()
        self.counts[:] = 0
        self._room(len(self.jobs), 2 * self._nodes)

    def double_pieces(self) -> None:
        """Make room for as many pieces of running jobs again."""
        self.pieces = np.concatenate([self.pieces, np.zeros_like(self.pieces)])

    # --- What a pass has started, and what has ended.

    def pieces_of(self, job: int) -> Ints:
        """Return the pieces of a job that has just been started: node, amounts, units."""
        run = self.runs[self.row_of[job]]
        return self.pieces[run[c.RUN_FIRST] : run[c.RUN_FIRST] + run[c.RUN_COUNT]]

    def amounts(self, job: int) -> Ints:
        """Return what a job that has just started counts: its CPUs, and all of those of its nodes if these are whole."""
        counted: Ints = self.need[job]
        if not self.job[job, c.WHOLE] or job not in self.row_of:
            return counted
        counted = counted.copy()
        counted[c.LIMIT_CPUS] = self.total[self.pieces_of(job)[:, c.PIECE_NODE], self.cpu_amount].sum()
        return counted

    def started(self, job: int, partition: int) -> None:
        """Note a start in the engine, in the order of the starts."""
        self._started += 1
        self.place_in_order[job] = self._started
        self.part_of[job] = partition
        self.running[job] = None

    def reason_code(self, job: int) -> int:
        """Return the reason of a waiting job as of the last pass; of a limit, ``LIMITS`` and the number of the one that it lacks."""
        code = int(self.reason[job])
        if code < c.LIMITS:
            return code
        limits = self.limits
        groups = limits.groups[limits.first_group[job] : limits.first_group[job + 1]]
        left = limits.caps[groups[:, 0], 0] - limits.used[groups[:, 0], 0]
        lacking = groups[(groups[:, 2] > 0) & (groups[:, 1] > left), 0]
        return c.LIMITS + (int(lacking[0]) if lacking.size else len(limits.caps))

    def take_over(self, job: int) -> None:
        """Note that a job runs since before the replay, in the first of its partitions."""
        self.started(job, int(self.part_of[job]))
        if self.job[job, c.ARRAY] >= 0:
            self.arrays[self.job[job, c.ARRAY], c.RUNNING_TASKS] += 1

    def remove(self, job: int) -> None:
        """Note the end of a job."""
        del self.running[job]
        if self.job[job, c.ARRAY] >= 0:
            self.arrays[self.job[job, c.ARRAY], c.RUNNING_TASKS] -= 1


MOST_CALLS = 10_000  # events at which only priorities changed, after which nothing starts any more
RELEASING_AT_ENDS = (RunningAtBegin, RunningLimits, Dependencies)  # features that give no amounts free but as jobs end


class SlurmScheduler(Feature):
    """The scheduler of one replay.

    Parameters
    ----------
    site : Site
        The site, of kind ``"slurm"``.
    phases : Phases, optional
        When the two schedulers run in their periods.
    """

    watches = True
    follows_nodes = True

    def __init__(self, site: Site, phases: Phases = NO_PHASES) -> None:
        assert isinstance(site.scheduler, SchedulerSettings)
        self.settings = site.scheduler
        self.site = site
        self.phases = phases

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the site it does not obey, beyond what no dispatcher does."""
        modes = self.settings.preempt_mode
        if self.settings.preempt_type == "job_prio":
            return ("not modelled: PreemptType=job_prio; slurm preempts no job in a replay",)
        if "suspend" in modes or "gang" in modes:
            return (f"not modelled: PreemptMode={','.join(modes)}; slurm suspends no job in a replay",)
        return ()

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs as they were submitted."""
        return as_submitted(workload, self.site)

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays in which jobs of one submit time arrive in the order of their numbers."""
        numbers = np.array([number_of(name, row)[1:] for row, name in enumerate(workload.ids)], np.int64).reshape(-1, 2)
        order = trace.order
        number, task = numbers[order].T
        trace = trace._replace(order=order[np.lexsort((task, number, trace.release[order]))])
        return _with_each_node(_with_shares(trace, workload, self.site), workload, self.site.platform().resources)

    def begin(self, engine: Replay) -> None:
        """Make the tables of the jobs."""
        self._engine = engine
        jobs = jobs_of(engine.workload, self.site)
        first = min((job.submit for job in jobs), default=0)
        if engine.workload.begin is None:
            begin = first
        else:
            begin = engine.workload.begin
        tables = SharedTables(engine, self.site, self.settings, jobs)
        self.tables = tables
        self.state = SlurmState(self.site, jobs, begin, begin, tables)
        self._times = PassTimes(self.settings, begin, self.phases)
        self._due_main: int | None = None
        self._due_backfill: int | None = None
        self._whole_queue = False
        self._wakes: set[int] = set()  # times of passes
        self._alarms: set[int] = set()  # times at which something else happens
        self._changed = False
        self._released = True
        self._reasons: Ints | None = None
        self._plain = all(isinstance(f, (*RELEASING_AT_ENDS, SlurmScheduler)) for f in engine.features)
        self._recorded_states = _states_of(engine)
        tables.all_reasons = self.state.preemption.enabled  # by which it is known who may preempt
        for time in tables.reservations[:, :2].ravel().tolist():
            if time >= begin:
                self._call_at(time, quiet=False)
        for row in engine.running:
            tables.take_over(row)
            self.state.take_over(row, begin, int(tables.part_of[row]))
        self._alone = self._alone_with(engine)

    # --- Alone, in compiled code.

    @property
    def alone(self) -> bool:
        """Whether nothing but the jobs and Slurm moves: the replay then runs in compiled code."""
        return self._alone is not None

    def _alone_with(self, engine: Replay) -> Alone | None:
        """Return the tables of a replay in compiled code; None: features must be told of each event."""
        known = all(isinstance(f, (SlurmScheduler, RunningLimits)) for f in engine.features)
        watched = any(f.watches for f in engine.features if f is not self)
        if not known or watched or engine.ledger.durations is None or self.phases.backfill_first:
            return None
        if engine.options.charge or engine.workload.after or self.tables.calendars or self.state.preemption.enabled:
            return None
        if (self.tables.job[:, c.RESERVATION] >= 0).any():  # they leave the reservation at its end
            return None
        if (
            self.settings.weight_fairshare and not self.settings.fair_tree
        ):  # its updates walk through waiting and running jobs
            return None
        never = self.state.never_eligible()
        if never is None:
            return None
        self.tables.job[:, LIMIT] = engine.ledger.limits(np.arange(len(never)))
        main, backfill = self.state.pass_parameters()
        self.tables.keep_all_runs()
        return self._tables_alone(never, main, backfill)

    def _tables_alone(self, never: Bools, main: Ints, backfill: Ints) -> Alone:
        """Return the tables; ``never``: which jobs are never eligible; the parameters of the two passes."""
        tables, state = self.tables, self.state
        priorities = state.priorities
        nice = np.zeros(0, np.int64)
        if priorities.multifactor:
            priorities.compute_all()
        else:
            nice = np.array([job.request.nice for job in state.jobs], np.int64)
        rows = int((state.partitions >= 0).sum())
        times = np.unique(tables.reservations[:, :2])
        cpus = tables.need[:, LIMIT_CPUS].astype(np.float64)
        return Alone(
            queue=np.zeros((rows, QUEUE_COLUMNS), np.int64),
            parts=state.partitions,
            priority=priorities.priority,
            never=never,
            nice=nice,
            calls=times[times >= state.begin],
            periods=self._times.periods,
            due=self._times.due,
            main=main,
            backfill=backfill,
            owners=np.array([tables.users, tables.associations], np.int64),
            most_pieces=np.minimum(tables.job[:, UNITS], len(tables.free)),
            numbers=self._numbers(),
            most=np.array([WHOLE_QUEUE, MOST_CALLS], np.int64),
            factors=priorities.factors,
            usage=priorities.shares.usage,
            parents=priorities.shares.parents,
            billing=priorities.billings(cpus),
            kept=np.array([priorities.shares.per_second]),
            other=np.zeros((rows, QUEUE_COLUMNS), np.int64),
        )

    def _numbers(self) -> Ints:
        """Return the numbers of a replay in compiled code at its begin."""
        numbers = np.zeros(NUMBERS, np.int64)
        numbers[NEXT_BASIC] = MOST
        numbers[AGES] = self.state.priorities.ages
        numbers[COUNTS_USAGE] = bool(self.settings.weight_fairshare)
        numbers[UPDATED] = self.state.begin
        numbers[PERIOD] = self.settings.calc_period
        numbers[UPDATE_CALL] = NEVER
        return numbers

    def replay(self, events: int) -> bool:
        """Replay at most so many events in compiled code; return False if nothing happens any more."""
        engine = self._engine
        assert self._alone is not None
        while True:
            machine = self.tables.machine()
            why = replay_alone(engine.trace, engine.state, machine, self._alone, engine.options.period, events)
            if why == RANK:
                self.state.priorities.shares.rank()
                self._alone.numbers[SETTLED] = RANKED
            elif why == FULL:
                self.tables.double_pieces()
            else:
                break
        if why == OVER:
            waiting = engine.state.waiting[: engine.state.clock[WAITING_JOBS]].tolist()
            self.state.resume(waiting, engine.running)
        return bool(why == MORE)

    # --- What happens.

    def arrived(self, rows: Sequence[int]) -> None:
        """Put jobs into the queue; one that comes back is not eligible at once."""
        self._changed = True
        now = self._engine.now
        for j in rows:
            again = bool(self._engine.ledger.log.counts[j])
            self.tables.job[j, LIMIT] = self._engine.ledger.limit(j)
            self.state.submit(j, now, now + REQUEUE_DELAY if again else None)

    def ended(self, rows: Sequence[int]) -> None:
        """Let jobs end."""
        if rows:
            self._changed = self._released = True
        for j in rows:
            self._ends(j, self._recorded_states.get(j, ENDED_WELL), False)

    def ended_early(self, row: int, nodes: Sequence[int]) -> None:
        """Let a job end that comes back, or that leaves for good before its work is done."""
        self._changed = self._released = True
        self._ends(row, CANCELLED, bool(self._engine.state.start[row] == UNSTARTED))

    def _ends(self, row: int, state: str, comes_back: bool) -> None:
        if self.state.state[row] != RUNNING:  # a feature started it
            self.tables.running.pop(row, None)
        else:
            self.state.end(row, self._engine.now, state, comes_back)

    def nodes_changed(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """Look at the queue again."""
        self._changed = self._released = True

    def _note_changes(self, now: int) -> None:
        """Take over what the batch server has done to waiting jobs: other time limits, jobs that left the queue."""
        engine = self._engine
        ledger = engine.ledger
        for name in engine.take_changed():
            row = ledger.row[name]
            self.tables.job[row, LIMIT] = ledger.limit(row)
            self._changed = True
        if len(self.state.waiting) == len(ledger.waiting):
            return
        for row in [row for row in self.state.waiting if row not in ledger.waiting]:
            if row in ledger.left:
                self.state.cancel(row, now)
            else:
                self.state.withdraw(row)

    # --- The passes.

    def decide(self) -> None:
        """Run the passes that are due, and start their jobs."""
        engine = self._engine
        now = engine.now
        engine.plans.called(now)
        own_call = now in self._wakes and now not in self._alarms
        self._wakes.discard(now)
        self._alarms.discard(now)
        if self._released or not self._plain or not (self._changed or own_call):
            self.tables.releases += 1
            self._released = False
        self._note_changes(now)
        self.tables.leave_reservations(self.state.waiting, now)
        self.state.advance(now)
        if self._changed or not own_call:
            self._plan(now)
        self._changed = False
        if self.phases.backfill_first:
            self._backfill_pass(now)
        self._main_passes(now)
        if not self.phases.backfill_first:
            self._backfill_pass(now)
        self._call_for_times()

    def _main_passes(self, now: int) -> None:
        """Run the main scheduler if it is due; again, if jobs were preempted."""
        while self._due_main is not None and self._due_main <= now:
            self._due_main = None
            self._times.main_runs(now)
            self._begin_jobs(self.state.main(now, self._whole_queue))
            self._preempt(now)

    def _backfill_pass(self, now: int) -> None:
        """Run the backfill scheduler if it is due."""
        if self._due_backfill is None or self._due_backfill > now:
            return
        self._due_backfill = None
        self._times.backfill_runs()
        self._begin_jobs(self.state.backfill(now))
        if self._overdue():
            self._plan(now + 1)

    def _preempt(self, now: int) -> None:
        """Let running jobs leave for waiting ones that the main scheduler could not start: now, or after their grace time."""
        if not self.state.preemption.enabled:
            return
        self.tables.read_own()
        leave_now = False
        for victim in sorted(self.state.preempt(now), key=lambda victim: tuple(self.tables.places[victim.job])):
            leave = partial(self._leaves, victim, self._engine.ledger.start_of(victim.job))
            if victim.end > now:
                self._engine.agenda.add(victim.end, Rank.PREEMPTION, leave, waits_for_jobs=True)
            else:
                leave()
                leave_now = True
        if leave_now:  # what they left is seen by the passes that still run now
            self._plan(now)
            self.tables.releases += 1
            self._changed = self._released = False

    def _leaves(self, victim: Victim, start: int) -> None:
        """End the run of a job that began at ``start``, if it still runs, for the job that preempts it."""
        engine = self._engine
        row = victim.job
        if self.state.state[row] != RUNNING or engine.ledger.start_of(row) != start:
            return
        self.state.advance(engine.now)
        why = f"{PREEMPTED_BY}{engine.workload.ids[victim.preemptor]}"
        if victim.requeued:
            engine.fail(row, why)
        else:
            engine.end_for_good(row, why)

    def _plan(self, time: int) -> None:
        """Plan the passes that follow a change, if jobs wait."""
        if not self.state.waiting:
            return
        for each in self._times.after_change(time):
            if each.backfill:
                self._due_backfill = each.time
            else:
                self._due_main = each.time
                self._whole_queue = each.whole_queue
            if each.time > self._engine.now:
                self._call_at(each.time)

    def _call_at(self, time: int, quiet: bool = True) -> None:
        """Ask the engine for a call; ``quiet``: nothing happens then beside what it was asked for."""
        self._engine.plans.call_at(time)
        (self._wakes if quiet else self._alarms).add(time)

    def _call_for_times(self) -> None:
        """Ask for calls at the next begin time of a job, and at the next update of the priorities."""
        if not self.state.waiting:
            return
        if self.state.next_begin is not None:
            self._call_at(self.state.next_begin, quiet=False)
        if self.state.priorities.ages:
            self._call_at(self.state.priorities.next_update, quiet=False)

    def _overdue(self) -> bool:
        """Whether a job runs beyond its limit, so that the end that is expected of it changes with time."""
        rows = np.array(self._engine.running, np.int64)
        ends = self._engine.state.start[rows] + self._engine.ledger.limits(rows)
        return bool((ends < self._engine.now).any())

    def _begin_jobs(self, starts: Sequence[SlurmStart]) -> None:
        self._note_reasons()
        for start in starts:
            pieces = self.tables.pieces_of(start.job)
            self.tables.take_amounts(start.job)
            self._engine.start_at(start.job, pieces[:, 0], pieces[:, -1])
            self.tables.started(start.job, start.partition)
        if starts:
            self._plan(self._engine.now + 1)

    def keep_reasons(self) -> None:
        """Find out at each pass why jobs wait."""
        self.tables.all_reasons = True
        self._reasons = np.zeros(len(self.state.jobs), np.int64)

    def kept_reasons(self) -> dict[str, str]:
        """Return why jobs waited last: job -> a reason of Slurm or a limit; jobs that waited for nothing are missing."""
        if self._reasons is None:
            return {}
        ids = self._engine.workload.ids
        return {ids[row]: self._reason_of(int(self._reasons[row])) for row in np.flatnonzero(self._reasons).tolist()}

    def _reason_of(self, code: int) -> str:
        names = self._engine.timeline.limit_names
        if code < c.LIMITS:
            return reason_of(code)
        if code - c.LIMITS < len(names):
            return names[code - c.LIMITS]
        return "a limit"

    def _note_reasons(self) -> None:
        """Note why jobs wait that the last pass has looked at."""
        if self._reasons is None:
            return
        state = self._engine.state
        rows = state.waiting[: state.clock[WAITING_JOBS]]
        for row in rows[self.tables.reason[rows] > 0].tolist():
            self._reasons[row] = self.tables.reason_code(row)

    def why_waiting(self, row: int) -> str:
        """Return why a job waits, with Slurm's name."""
        if self.state.state[row] != WAITING:
            return ""
        if not self.tables.all_reasons:
            self.tables.all_reasons = True
            self.state.main(self._engine.now, whole_queue=True)
        held = self.state.held[row]
        return f"Slurm's reason is {held or self._reason_of(self.tables.reason_code(row))}"


def counts_cpus(name: str) -> bool:
    """Return whether a limit, by its name, is one of the CPUs of running jobs: ``max_tres_per_user cpu of QOS normal, user ana``."""
    what, _, counted = name.partition(" of ")[0].partition(" ")
    return counted == "cpu" and what in ("grp_tres", "max_tres_per_user", "max_tres_per_account")


def _is_of_qos(name: str) -> bool:
    """Return whether a limit, by its name, is one of what all jobs of a QOS together have: ``grp_tres cpu of QOS normal``."""
    return name.startswith("grp_tres") and " of QOS " in name


def _states_of(engine: Replay) -> dict[int, str]:
    """Return the recorded states of the jobs that did not end well, by row."""
    w = engine.workload
    if w.site is None:
        return {}
    texts = np.array([state if state != ENDED_WELL else "" for state in w.site.texts])[w.site.state]
    return {int(k): str(texts[k]) for k in np.flatnonzero(texts != "")}
