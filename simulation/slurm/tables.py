"""The tables of numbers of a site and its jobs, which the compiled passes read and write."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import WrongValue
from ...instances.formats.slurm_values import hosts_of
from ...models.array_types import Ints
from ...models.compiled import compiled
from ...models.dispatch.arrays import read_features
from ...models.platform import ProblemError
from ...models.site import Partition, SchedulerSettings, Site
from ..features.site_limits import names_of_reservations
from . import columns as c
from .jobs import SlurmJob, places_of, threads_of
from .limits import LimitGroups, licence_counts
from .node_bits import packed
from .passes import order_of_ends, reserved_mask
from .selection import (
    EMPTY,
    NOW_FREE,
    TAKEN_CPUS,
    TAKEN_GPUS,
    TAKEN_MEMORY,
    TAKEN_NODE,
    Machine,
    Work,
    pick_nodes,
    take,
    work_for,
)

DAY = 86_400
NO_UNITS: Ints = np.zeros((0, 0), np.int64)
FEATURE = re.compile(r"[&|,*\[\]()]")


@compiled
def _pick(j: int, p: int, machine: Machine, mask: Ints, empty: bool) -> int:
    how = EMPTY if empty else NOW_FREE
    return pick_nodes(j, p, machine, mask, machine.free, machine.use, machine.some, how)


@compiled
def pick_beside(j: int, p: int, machine: Machine, mask: Ints, free: Ints, use: Ints, some: Ints) -> int:
    """Choose nodes of a mask for a job that starts now, beside the reservations; return as ``pick_nodes`` does."""
    reserved_mask(j, p, machine, machine.parameters[c.NOW], mask)
    return pick_nodes(j, p, machine, mask, free, use, some, NOW_FREE)


@compiled
def _place(job: Ints, n: int, taken: Ints, machine: Machine, piece: int) -> None:
    take(job, machine.free[n], machine.pieces[piece, c.PIECE_FREE :], taken, job[c.WHOLE] > 0)


def chosen_nodes(work: Work, number: int) -> list[int]:
    """Return the nodes of a choice that has so many."""
    rows = work.taken[:number]
    return [int(n) for n in rows[rows[:, TAKEN_CPUS] > 0, TAKEN_NODE]]


def matches(features: str, has: Sequence[str]) -> bool:
    """Return whether a node has what an expression of features asks for; counts (``*4``) and brackets are not looked at.

    What is no expression is asked of no node.

    >>> matches("a100&nvme", ("a100", "nvme")), matches("[rack1|rack2]", ("rack2",)), matches("ib", ())
    (True, True, False)
    """
    text = re.sub(r"\*\d+", "", features).replace("[", "(").replace("]", ")").replace(",", "&")
    try:
        return not text.strip() or read_features(text).holds(has)
    except ProblemError:
        return True


@dataclass
class Tables:
    """The tables of a site and jobs, and the running jobs in them.

    Parameters
    ----------
    site : Site
        The site, of kind ``"slurm"``.
    jobs : sequence of SlurmJob
        All jobs of the replay; they are referred to by their index.
    begin, end : int
        Unix times between which reservations are repeated.

    Raises
    ------
    WrongValue
        A job names a partition that the site does not have, or the site is none of Slurm.
    """

    site: Site
    jobs: Sequence[SlurmJob]
    begin: int = 0
    end: int = 0
    limits: LimitGroups = field(init=False)
    in_units = False
    cpu_amount = memory_amount = -1

    def __post_init__(self) -> None:
        if not isinstance(self.site.scheduler, SchedulerSettings):
            raise WrongValue(f"the site {self.site.name!r} is one of {self.site.kind}; expected one of slurm")
        self.settings = self.site.scheduler
        self.nodes = [n for n in self.site.nodes if n.state != "future"]
        self.node_index = {n.name: k for k, n in enumerate(self.nodes)}
        self.partitions: list[Partition] = list(self.site.partitions)
        self.part_index = {p.name: k for k, p in enumerate(self.partitions)}
        self.gpu_types = sorted({kind for n in self.nodes for kind in n.gpus})
        self._masks: list[c.Marks] = []
        self._mask_rows: dict[bytes, int] = {}
        self._allowed_rows: dict[tuple[str, str, int, int], int] = {}
        self._partition_tables()
        self._node_tables()
        self._job_tables()
        self._reservation_tables()
        size = len(self.jobs)
        self.reason = np.zeros(size, np.int64)
        self.planned = np.zeros(size, np.int64)
        self.runs = np.zeros((64, c.RUN_COLUMNS), np.int64)
        self.pieces = np.zeros((256, 1 + self.total.shape[1]), np.int64)
        self.counts = np.zeros(2, np.int64)
        self.parameters = np.zeros(c.PARAMETERS, np.int64)
        self.order = np.zeros(64, np.int64)
        self.places = places_of(self.jobs)
        self._tried = np.full((1, c.TRIED_COLUMNS), -1, np.int64)
        self._whole_fit = np.full(size, -1, np.int64)
        self._kind = np.zeros(size, np.int64)
        self.row_of: dict[int, int] = {}
        self.masks = packed(self._masks or [np.zeros(len(self.nodes), np.uint8)])
        self._member = packed(self.member)
        self._work = work_for(self.free, self.use, NO_UNITS)

    # --- What does not change.

    def _partition_tables(self) -> None:
        self.parts = np.zeros((len(self.partitions), c.PART_COLUMNS), np.int64)
        self.member = np.zeros((len(self.partitions), len(self.nodes)), np.uint8)
        over_site = self.settings.over_time_limit
        for k, part in enumerate(self.partitions):
            row = self.parts[k]
            row[c.TIER] = part.tier
            row[c.PART_MIN_NODES] = part.min_nodes
            if part.max_nodes is None:
                row[c.PART_MAX_NODES] = 500_000
            else:
                row[c.PART_MAX_NODES] = part.max_nodes
            row[c.LEAST_LOADED] = part.least_loaded
            row[c.MAX_CPUS_PER_NODE] = part.max_cpus_per_node or 0
            if part.over_time_limit is None:
                over = over_site
            else:
                over = part.over_time_limit
            if over is None:
                row[c.OVER_LIMIT] = c.YEAR
            else:
                row[c.OVER_LIMIT] = over
            for name in part.nodes:
                if name in self.node_index:
                    self.member[k, self.node_index[name]] = 1

    def _node_tables(self) -> None:
        self.weight = np.array([n.weight for n in self.nodes], np.int64)
        self.threads = np.array(threads_of(self.site, self.settings), np.int64)
        self.total = np.zeros((len(self.nodes), c.FIRST_GPU + len(self.gpu_types)), np.int64)
        for k, node in enumerate(self.nodes):
            self.total[k, c.CPUS] = node.cpus
            self.total[k, c.MEMORY] = node.memory or 0
            for t, kind in enumerate(self.gpu_types):
                self.total[k, c.FIRST_GPU + t] = node.gpus.get(kind, 0)
        self.free = self.total.copy()
        self.use = np.zeros((len(self.nodes), c.USE_COLUMNS + len(self.partitions)), np.int64)
        self.up = np.array([n.state == "up" for n in self.nodes], np.uint8)
        self.counts_memory = self.settings.counts_memory and all(n.memory is not None for n in self.nodes)

    def _mask(self, nodes: Iterable[int]) -> int:
        mask = np.zeros(len(self.nodes), np.uint8)
        mask[list(nodes)] = 1
        key = mask.tobytes()
        if key not in self._mask_rows:
            self._mask_rows[key] = len(self._masks)
            self._masks.append(mask)
        return self._mask_rows[key]

    def named(self, names: str) -> list[int]:
        """Return the indices of the nodes in a list of hosts."""
        return [self.node_index[n] for n in hosts_of(names) if n in self.node_index]

    def partition_of(self, job: SlurmJob) -> list[int]:
        """Return the indices of the partitions of a job."""
        names = job.request.partitions or tuple(p.name for p in self.partitions if p.default)
        unknown = [name for name in names if name not in self.part_index]
        if unknown or not names:
            where = f"job {job.id}"
            known = ", ".join(self.part_index)
            raise WrongValue(
                f"{where}: the partition {unknown[0] if unknown else ''!r} is not one of the site ({known})"
            )
        return [self.part_index[name] for name in names]

    def _job_tables(self) -> None:
        jobs = self.jobs
        self.job = np.zeros((len(jobs), c.JOB_COLUMNS), np.int64)
        self.job_parts = [self.partition_of(job) for job in jobs]
        self.licences = sorted({name for job in jobs for name in licence_counts(job.request.licences)})
        users = {name: k for k, name in enumerate(dict.fromkeys(job.user for job in jobs))}
        owners = {key: k for k, key in enumerate(dict.fromkeys((job.request.account, job.user) for job in jobs))}
        arrays = {name: k for k, name in enumerate(dict.fromkeys(job.array for job in jobs if job.array))}
        self.users = len(users)
        self.associations = len(owners)
        self.arrays = np.zeros((max(1, len(arrays)), c.ARRAY_COLUMNS), np.int64)
        self.reservation_names = [r.name for r in self.site.reservations]
        no_reserve = {q.name for q in self.site.qos if "noreserve" in q.flags}
        need = np.zeros((len(jobs), c.LIMIT_TYPES + len(self.gpu_types) + len(self.licences)), np.int64)
        for k, job in enumerate(jobs):
            row = self.job[k]
            self._request(row, job, self.partitions[self.job_parts[k][0]])
            row[c.USER] = users[job.user]
            row[c.ASSOCIATION] = owners[job.request.account, job.user]
            if job.array:
                row[c.ARRAY] = arrays[job.array]
            else:
                row[c.ARRAY] = -1
            if job.array and job.request.array_limit:
                self.arrays[row[c.ARRAY], c.MOST_TASKS] = job.request.array_limit
            row[c.NO_RESERVE] = job.request.qos in no_reserve
            self._count(need[k], row, licence_counts(job.request.licences))
            if row[c.WHOLE]:  # Slurm counts all CPUs of the nodes as soon as it has tested the job
                sizes = self.total[self.member[self.job_parts[k][0]] > 0, c.CPUS]
                whole = 0
                if len(sizes):
                    whole = int(sizes.min(initial=2**31) * row[c.MIN_NODES])
                need[k, c.LIMIT_CPUS] = max(need[k, c.LIMIT_CPUS], whole)
        self.need = need
        self.limits = LimitGroups(self.site, jobs, need, self.gpu_types, self.licences)
        for k in range(len(jobs)):
            most = self.limits.most_nodes(k)
            if most is None:
                self.job[k, c.NODE_LIMIT] = 0
            else:
                self.job[k, c.NODE_LIMIT] = most

    def _request(self, row: Ints, job: SlurmJob, part: Partition) -> None:
        r = job.request
        row[c.CPUS_PER_TASK] = r.cpus_per_task or 1
        row[c.MIN_NODES] = max(1, r.min_nodes or 1)
        row[c.MAX_NODES] = r.max_nodes or 0
        row[c.TASKS_PER_NODE] = r.tasks_per_node or 0
        tasks = r.tasks
        if tasks is None and r.tasks_per_node:
            tasks = r.tasks_per_node * int(row[c.MIN_NODES])
        cpus = r.cpus
        if tasks is not None:
            cpus = max(tasks * int(row[c.CPUS_PER_TASK]), r.cpus or 0)
        row[c.WHOLE] = r.exclusive == "node" or part.exclusive or self.settings.select_type == "linear"
        if row[c.WHOLE] and tasks is None and r.min_nodes:
            cpus = r.min_nodes
        row[c.MIN_CPUS] = max(cpus or 1, int(row[c.MIN_NODES]) if row[c.WHOLE] else 1)
        if tasks is not None:
            row[c.TASKS] = tasks
        else:
            row[c.TASKS] = row[c.MIN_CPUS] // row[c.CPUS_PER_TASK]
        row[c.MEMORY_PER_CPU] = row[c.MEMORY_PER_NODE] = -1
        if self.counts_memory:
            self._memory(row, r.memory_per_cpu, r.memory_per_node, part)
        limit = job.limit
        if limit is None:
            if part.default_time is not None:
                limit = part.default_time
            else:
                limit = part.max_time
        if limit is None:
            row[c.LIMIT] = c.YEAR
        else:
            row[c.LIMIT] = limit
        self._gpus(row, job)
        row[c.CONTIGUOUS] = r.contiguous
        row[c.REQUIRED] = -1
        cpus = int(row[c.CPUS_PER_TASK]) * max(1, int(row[c.TASKS_PER_NODE]))
        memory = r.memory_per_node or (r.memory_per_cpu or 0) * cpus
        row[c.ALLOWED] = self._allowed(r.features, r.excluded_nodes, cpus, memory)
        if r.nodes:
            row[c.REQUIRED] = self._mask(self.named(r.nodes))
        row_of = {name: k for k, name in enumerate(self.reservation_names)}
        row[c.RESERVATION] = next((row_of[name] for name in names_of_reservations(r) if name in row_of), -1)
        row[c.ELIGIBLE] = job.submit

    def _allowed(self, features: str, excluded_nodes: str, cpus: int, memory: int) -> int:
        """Return the row of the mask of the nodes that a job may have; -1: all.

        ``cpus``, ``memory``: what a node must have, in MB also where memory is not given to jobs.
        """
        key = (features, excluded_nodes, cpus, memory)
        if key not in self._allowed_rows:
            excluded = set(self.named(excluded_nodes))
            fitting = [
                k
                for k, n in enumerate(self.nodes)
                if k not in excluded
                and matches(features, n.features)
                and n.cpus >= cpus
                and (n.memory is None or n.memory >= memory)
            ]
            if len(fitting) < len(self.nodes):
                self._allowed_rows[key] = self._mask(fitting)
            else:
                self._allowed_rows[key] = -1
        return self._allowed_rows[key]

    def _memory(self, row: Ints, per_cpu: int | None, per_node: int | None, part: Partition) -> None:
        s = self.settings
        if per_cpu is None and per_node is None:
            per_cpu, per_node = part.def_mem_per_cpu, part.def_mem_per_node
        if per_cpu is None and per_node is None:
            per_cpu, per_node = s.def_mem_per_cpu, s.def_mem_per_node
        if per_cpu is not None:
            row[c.MEMORY_PER_CPU] = per_cpu
        else:
            row[c.MEMORY_PER_NODE] = per_node or 0

    def _gpus(self, row: Ints, job: SlurmJob) -> None:
        row[c.GPU_TYPE] = -1
        r = job.request
        for per in ("node", "job", "task", "socket"):
            for kind, number in r.gpus(per).items():
                if kind in self.gpu_types:
                    row[c.GPU_TYPE] = self.gpu_types.index(kind)
                if per in ("node", "socket"):
                    row[c.GPUS] += number
                elif per == "job":
                    row[c.GPUS_OF_JOB] += number
                elif r.tasks_per_node:
                    row[c.GPUS] += number * r.tasks_per_node
                else:
                    row[c.GPUS_OF_JOB] += number * int(row[c.TASKS])

    def _count(self, need: Ints, row: Ints, licences: Mapping[str, int]) -> None:
        cpus = max(row[c.MIN_CPUS], row[c.MIN_NODES] * max(1, row[c.TASKS_PER_NODE] * row[c.CPUS_PER_TASK]))
        need[c.JOBS] = 1
        need[c.LIMIT_CPUS] = cpus
        need[c.LIMIT_NODES] = row[c.MIN_NODES]
        if row[c.MEMORY_PER_CPU] > 0:
            need[c.LIMIT_MEMORY] = cpus * row[c.MEMORY_PER_CPU]
        elif row[c.MEMORY_PER_NODE] > 0:
            need[c.LIMIT_MEMORY] = row[c.MIN_NODES] * row[c.MEMORY_PER_NODE]
        need[c.LIMIT_GPUS] = row[c.GPUS] * row[c.MIN_NODES] + row[c.GPUS_OF_JOB]
        need[c.RUN_CPU_SECONDS] = cpus * row[c.LIMIT]
        if row[c.GPU_TYPE] >= 0:
            need[c.LIMIT_TYPES + row[c.GPU_TYPE]] = need[c.LIMIT_GPUS]
        for name, number in licences.items():
            need[c.LIMIT_TYPES + len(self.gpu_types) + self.licences.index(name)] = number

    def _reservation_tables(self) -> None:
        rows = []
        self.reservation_of: list[int] = []
        for v, r in enumerate(self.site.reservations):
            nodes = [self.node_index[n] for n in r.nodes if n in self.node_index]
            if not nodes and r.node_count is None and r.core_count is None:
                nodes = list(range(len(self.nodes)))
            if "daily" in r.flags:
                step = DAY
            elif "weekly" in r.flags:
                step = 7 * DAY
            else:
                step = 0
            maint = int("maint" in r.flags)
            if maint and len(nodes) == len(self.nodes):
                maint = 2
            start = r.start
            while True:
                rows.append([start, start + r.duration, self._mask(nodes), maint, int("flex" in r.flags)])
                self.reservation_of.append(v)
                start += step
                if not step or start > self.end:
                    break
        self.reservations = np.array(rows, np.int64).reshape(-1, c.RESERVATION_COLUMNS)

    # --- The running jobs.

    def machine(self) -> Machine:
        """Return all tables, with room for the starts of a pass over all waiting jobs."""
        return Machine(
            self.job, self.parts, self._member, self.masks, self.weight, self.threads, self.total, self.free, self.use, NO_UNITS,
            packed(self.up),
            self.reservations, self.runs, self.pieces, self.counts, self.order, self.arrays, self.limits.used, self.limits.caps,
            self.limits.kind, self.limits.first_group, self.limits.groups, self.need, self.parameters, self.places,
            self._kind, self._tried, NO_UNITS, NO_UNITS, self._whole_fit, NO_UNITS, self.reason, self.planned,
            self._work,
        )  # fmt: skip

    @property
    def running(self) -> Iterable[int]:
        """The running jobs."""
        return self.row_of

    def startable_part(self, queue: Ints) -> Ints:
        """Return the part of a queue that a pass has to look at: all of it."""
        return queue

    def refresh(self) -> None:
        """Do nothing: these tables are what there is."""

    def read(self, backfill: bool) -> None:
        """Sort the running jobs by their ends, and copy what is free for the kernels."""
        number = int(self.counts[0])
        if len(self.order) < len(self.runs):
            self.order = np.zeros(len(self.runs), np.int64)
        self.order[:number] = order_of_ends(self.machine())
        self._work.free[:] = self.free
        self._work.use[:] = self.use

    def startable(self, jobs: Ints) -> Ints:
        """Return the jobs that may start now for all that is not in the tables: all of them."""
        return jobs

    def room_for(self, jobs: Sequence[int] | Ints) -> None:
        """Make the tables of running jobs large enough for the starts of some jobs; close gaps that ended jobs left."""
        number = len(jobs)
        most = int(self.counts[1]) + number * len(self.nodes)
        if int(self.counts[0]) + number > len(self.runs):
            self.runs = np.concatenate([self.runs, np.zeros((len(self.runs) + number, c.RUN_COLUMNS), np.int64)])
            self.order = np.concatenate([self.order, np.zeros(len(self.runs) - len(self.order), np.int64)])
        if most > len(self.pieces):
            self._compact()
            most = int(self.counts[1]) + number * len(self.nodes)
            if most > len(self.pieces):
                more = np.zeros((2 * most - len(self.pieces), self.pieces.shape[1]), np.int64)
                self.pieces = np.concatenate([self.pieces, more])

    def _compact(self) -> None:
        number = int(self.counts[0])
        kept = [self.pieces[r[c.RUN_FIRST] : r[c.RUN_FIRST] + r[c.RUN_COUNT]].copy() for r in self.runs[:number]]
        at = 0
        for r, rows in zip(self.runs[:number], kept, strict=True):
            self.pieces[at : at + len(rows)] = rows
            r[c.RUN_FIRST] = at
            at += len(rows)
        self.counts[1] = at

    def place(self, job: int, part: int, start: int, nodes: Sequence[int], others_stay: bool = False) -> bool:
        """Put a job that runs on given nodes into the tables; return whether it fits there by the rules of the site.

        No log says how many CPUs a job of several nodes has on each of them, so it has what the rules give it. A job that
        does not fit then shows that others were divided in another way (two jobs that started in one second, in the
        other order): they are divided anew as far as the job needs it. If it does not fit even then, its CPUs are spread
        over the nodes, and the free amounts may be negative for a time. With ``others_stay``, no job is divided anew.
        """
        self.room_for([job])
        machine = self.machine()
        marks = np.zeros(len(self.nodes), np.uint8)
        marks[list(nodes)] = 1
        mask = packed(marks)
        fits = _pick(job, part, machine, mask, False) == len(nodes)
        if not fits and not others_stay and self._make_room(job, nodes):
            fits = _pick(job, part, machine, mask, False) == len(nodes)
        if not fits and _pick(job, part, machine, mask, True) != len(nodes):
            self._spread(job, nodes)
        taken = self._work.taken[: len(nodes)]
        run = self.runs[self.counts[0]]
        limit = int(self.job[job, c.LIMIT])
        run[:] = (job, start + limit, self.counts[1], len(nodes), part, start, c.EVERY_PARTITION)
        for row in taken:
            n = int(row[TAKEN_NODE])
            _place(self.job[job], n, row, machine, int(self.counts[1]))
            self.pieces[self.counts[1], c.PIECE_NODE] = n
            self.counts[1] += 1
            self.use[n, c.JOBS_ON] += 1
            self.use[n, c.WHOLE_ON] += self.job[job, c.WHOLE]
            self.use[n, c.USE_COLUMNS + part] += row[TAKEN_CPUS]
        self.row_of[job] = int(self.counts[0])
        self.counts[0] += 1
        self.limits.started(job, self.amounts(job))
        if self.job[job, c.ARRAY] >= 0:
            self.arrays[self.job[job, c.ARRAY], c.RUNNING_TASKS] += 1
        return fits

    def _make_room(self, job: int, nodes: Sequence[int]) -> bool:
        """Move CPUs of running jobs between their nodes until all nodes of a job together have enough; return if they do."""
        if self.job[job, c.WHOLE]:
            return False
        while True:
            free = self.free[list(nodes), c.CPUS]
            full = [n for n in nodes if self.free[n, c.CPUS] < 1]
            missing = int(self.job[job, c.MIN_CPUS]) - int(np.maximum(free, 0).sum())
            if not full and missing <= 0:
                return True
            # CPUs that stay free on the other nodes of the job
            if missing <= 0:
                stay = 1
            else:
                stay = int(self.total[:, c.CPUS].max())
            moves = self._way_to_free(full or list(nodes), dict.fromkeys(nodes, stay))
            if not moves:
                return False
            for piece, other in moves:
                self._move_cpu(piece, other)

    def _way_to_free(self, begin: list[int], stay: Mapping[int, int]) -> list[tuple[int, int]]:
        """Return the fewest moves of a CPU between two pieces of a job that free one on a node of ``begin``.

        The last one ends on a node with more free CPUs than ``stay`` says; none if there is no such way. A job keeps a
        CPU on each of its nodes. Jobs that ask for tasks on each node, or for whole nodes, have no choice.
        """
        on_node: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # node: job, and its rows of the pieces
        for run in self.runs[: self.counts[0]]:
            job, first, count = int(run[c.RUN_JOB]), int(run[c.RUN_FIRST]), int(run[c.RUN_COUNT])
            asked = self.job[job]
            if count > 1 and not asked[c.WHOLE] and not asked[c.TASKS_PER_NODE] and asked[c.CPUS_PER_TASK] <= 1:
                for k in range(first, first + count):
                    on_node[int(self.pieces[k, c.PIECE_NODE])].append((job, first, count))
        came: dict[int, tuple[int, int] | None] = dict.fromkeys(begin)  # node: the move that leads to it
        queue = deque(begin)
        while queue:
            node = queue.popleft()
            for job, first, count in on_node[node]:
                rows = range(first, first + count)
                here = next(k for k in rows if self.pieces[k, c.PIECE_NODE] == node)
                if self.pieces[here, c.PIECE_FREE + c.CPUS] <= 1:
                    continue
                for k in rows:
                    other = int(self.pieces[k, c.PIECE_NODE])
                    if other in came or self.free[other, c.MEMORY] < self.job[job, c.MEMORY_PER_CPU]:
                        continue
                    came[other] = (here, k)
                    if self.free[other, c.CPUS] > stay.get(other, 0):
                        return self._moves(came, other)
                    queue.append(other)
        return []

    def _moves(self, came: dict[int, tuple[int, int] | None], node: int) -> list[tuple[int, int]]:
        moves = []
        while (move := came[node]) is not None:
            moves.append(move)
            node = int(self.pieces[move[0], c.PIECE_NODE])
        return moves

    def _move_cpu(self, piece: int, other: int) -> None:
        """Move a CPU, with its memory, from one piece of a running job to another one."""
        run = next(
            run
            for run in self.runs[: self.counts[0]]
            if run[c.RUN_FIRST] <= piece < run[c.RUN_FIRST] + run[c.RUN_COUNT]
        )
        job = int(run[c.RUN_JOB])
        amounts = np.zeros(self.free.shape[1], np.int64)
        amounts[c.CPUS] = 1
        amounts[c.MEMORY] = max(0, int(self.job[job, c.MEMORY_PER_CPU]))
        for row, sign in ((piece, -1), (other, 1)):
            self.pieces[row, c.PIECE_FREE : c.PIECE_FREE + len(amounts)] += sign * amounts
            node = self.pieces[row, c.PIECE_NODE]
            self.free[node] -= sign * amounts
            self.use[node, c.USE_COLUMNS + run[c.RUN_PARTITION]] += sign

    def _spread(self, job: int, nodes: Sequence[int]) -> None:
        """Write a choice of these nodes on which the CPUs of a job are dealt in turns, to those that have some free as long as any has."""
        row = self.job[job]
        total = self.total[list(nodes), c.CPUS]
        cpus = np.ones(len(nodes), np.int64)
        for most in (np.minimum(np.maximum(self.free[list(nodes), c.CPUS], 1), total), total):
            while cpus.sum() < row[c.MIN_CPUS] and (cpus < most).any():
                open_to = np.flatnonzero(cpus < most)
                cpus[open_to[: int(row[c.MIN_CPUS] - cpus.sum())]] += 1
        if row[c.WHOLE]:
            cpus = total
        taken = np.zeros((len(nodes), 4), np.int64)
        taken[:, TAKEN_NODE] = nodes
        taken[:, TAKEN_CPUS] = cpus
        taken[:, TAKEN_MEMORY] = np.maximum(0, np.maximum(cpus * row[c.MEMORY_PER_CPU], row[c.MEMORY_PER_NODE]))
        taken[:, TAKEN_GPUS] = row[c.GPUS]
        self._work.taken[: len(nodes)] = taken[np.argsort(taken[:, TAKEN_NODE])]

    def empty_nodes(self, job: int, part: int) -> list[int]:
        """Return the nodes that a job would get on an empty machine; the first of its partition if it fits on none."""
        nodes = chosen_nodes(self._work, _pick(job, part, self.machine(), self._member[part], True))
        return nodes or [int(np.argmax(self.member[part]))]

    def nodes_without(self, job: int, part: int, gone: Sequence[int]) -> set[int]:
        """Return the nodes that a job would get if some running jobs were gone; none if it does not fit even then."""
        free = self.free.copy()
        use = self.use.copy()
        for other in gone:
            for piece in self.pieces_of(other):
                free[piece[c.PIECE_NODE]] += piece[c.PIECE_FREE :]
                use[piece[c.PIECE_NODE], c.JOBS_ON] -= 1
                use[piece[c.PIECE_NODE], c.WHOLE_ON] -= self.job[other, c.WHOLE]
                part_of_other = int(self.runs[self.row_of[other], c.RUN_PARTITION])
                use[piece[c.PIECE_NODE], c.USE_COLUMNS + part_of_other] -= piece[c.PIECE_FREE + c.CPUS]
        mask = packed(self.up & self.member[part])
        return set(chosen_nodes(self._work, pick_beside(job, part, self.machine(), mask, free, use, NO_UNITS)))

    def amounts(self, job: int) -> Ints:
        """Return what a running job counts in the limits."""
        rows = self.pieces_of(job)
        amounts: Ints = self.need[job].copy()
        amounts[c.LIMIT_CPUS] = rows[:, 1 + c.CPUS].sum()
        amounts[c.LIMIT_NODES] = len(rows)
        amounts[c.LIMIT_MEMORY] = max(amounts[c.LIMIT_MEMORY], rows[:, 1 + c.MEMORY].sum())
        amounts[c.LIMIT_GPUS] = max(amounts[c.LIMIT_GPUS], rows[:, 1 + c.FIRST_GPU :].sum())
        amounts[c.RUN_CPU_SECONDS] = amounts[c.LIMIT_CPUS] * self.job[job, c.LIMIT]
        return amounts

    def pieces_of(self, job: int) -> Ints:
        """Return the pieces of a running job: node, CPUs, MB, GPUs by type."""
        run = self.runs[self.row_of[job]]
        return self.pieces[run[c.RUN_FIRST] : run[c.RUN_FIRST] + run[c.RUN_COUNT]]

    def remove(self, job: int) -> None:
        """Take a running job off the tables."""
        rows = self.pieces_of(job)
        part = int(self.runs[self.row_of[job], c.RUN_PARTITION])
        for piece in rows:
            n = piece[c.PIECE_NODE]
            self.use[n, c.USE_COLUMNS + part] -= piece[c.PIECE_FREE + c.CPUS]
            self.free[n] += piece[c.PIECE_FREE :]
            self.use[n, c.JOBS_ON] -= 1
            self.use[n, c.WHOLE_ON] -= self.job[job, c.WHOLE]
        row = self.row_of.pop(job)
        last = int(self.counts[0]) - 1
        self.runs[row:last] = self.runs[row + 1 : last + 1]  # the order of the starts stays
        for other, at in self.row_of.items():
            if at > row:
                self.row_of[other] = at - 1
        self.counts[0] = last
        self.limits.ended(job)
        if self.job[job, c.ARRAY] >= 0:
            self.arrays[self.job[job, c.ARRAY], c.RUNNING_TASKS] -= 1

    def snapshot(self) -> list[Ints]:
        """Return copies of all that a pass changes."""
        changing = (self.free, self.use, self.counts, self.arrays, self.limits.used, self.reason, self.planned)
        return [each.copy() for each in changing]

    def restore(self, snapshot: Sequence[Ints]) -> None:
        """Undo a pass."""
        changing = (self.free, self.use, self.counts, self.arrays, self.limits.used, self.reason, self.planned)
        for each, before in zip(changing, snapshot, strict=True):
            each[:] = before
