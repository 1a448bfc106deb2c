"""Limits of associations and QOS: what a job counts, in which groups, and how much each group may have.

A group is a set of jobs that share a limit: those of an account with its descendants, of a user in an account, of a QOS, of a
user or an account in a QOS. ``LimitGroups`` knows nothing of a dispatcher: it is told of starts and ends, and says whether
a job may start and, if not, for which reason, with Slurm's name. Its tables are also read by compiled passes.

A limit that the QOS of a job sets takes the place of the same limit of its associations; that of the QOS of a partition takes
the place of that of the job's QOS, unless the job's has the flag OverPartQOS [SlurmDoc, resource_limits].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...models.array_types import Ints
from ...models.site import QOS, Association, Limits, SchedulerSettings, Site
from . import columns as c
from .jobs import SlurmJob

QOS_GROUP, QOS_USER, QOS_ACCOUNT, ASSOCIATION_GROUP, ASSOCIATION_USER, LICENCE_POOL = range(6)
COLUMN_OF = {"cpu": c.LIMIT_CPUS, "node": c.LIMIT_NODES, "mem": c.LIMIT_MEMORY, "gres/gpu": c.LIMIT_GPUS}
NAMES = {
    QOS_GROUP: ("QOSGrpJobsLimit", "QOSGrpCpuLimit", "QOSGrpNodeLimit", "QOSGrpMemLimit", "QOSGrpGRES", "QOSGrpCPURunMinutesLimit"),
    QOS_USER: (
        "QOSMaxJobsPerUserLimit", "QOSMaxCpuPerUserLimit", "QOSMaxNodePerUserLimit", "QOSMaxMemoryPerUser", "QOSMaxGRESPerUser", "",
    ),
    QOS_ACCOUNT: ("MaxJobsPerAccount", "MaxCpuPerAccount", "MaxNodePerAccount", "MaxMemoryPerAccount", "MaxGRESPerAccount", ""),
    ASSOCIATION_GROUP: (
        "AssocGrpJobsLimit", "AssocGrpCpuLimit", "AssocGrpNodeLimit", "AssocGrpMemLimit", "AssocGrpGRES", "AssocGrpCPURunMinutesLimit",
    ),
    ASSOCIATION_USER: ("AssocMaxJobsLimit", "", "", "", "", ""),
    LICENCE_POOL: ("Licenses",) * 6,
}  # fmt: skip
"""Slurm's name of the reason, by kind of group and column; further columns are GPUs by type, as GPUs, and licences."""


def reason_name(kind: int, column: int) -> str:
    """Return Slurm's name of the reason of a job that waits for a limit.

    >>> reason_name(ASSOCIATION_GROUP, c.LIMIT_CPUS), reason_name(QOS_USER, c.JOBS)
    ('AssocGrpCpuLimit', 'QOSMaxJobsPerUserLimit')
    """
    return NAMES[kind][min(column, c.LIMIT_GPUS) if column >= c.LIMIT_TYPES else column]


def licence_counts(text: str) -> dict[str, int]:
    """Return the licences of a request: name -> number.

    >>> licence_counts("matlab:2,ansys")
    {'matlab': 2, 'ansys': 1}
    """
    counts: dict[str, int] = {}
    for each in filter(None, text.replace(";", ",").split(",")):
        name, _, number = each.partition(":")
        name = name.partition("@")[0]
        counts[name] = counts.get(name, 0) + (int(number) if number.isdigit() else 1)
    return counts


@dataclass(eq=False)
class LimitGroups:
    """The limits of a site for some jobs, and what is used of them.

    Parameters
    ----------
    site : Site
        The site.
    jobs : sequence of SlurmJob
        The jobs; they are referred to by their index.
    need : ndarray of int64, shape (jobs, columns)
        What each job counts, as requested: a job, CPUs, nodes, MB, GPUs, CPU-seconds of its limit, GPUs by type, licences.
    gpu_types, licences : sequence of str
        The names of the columns from ``columns.LIMIT_TYPES`` on.

    Attributes
    ----------
    used, caps, kind, first_group, groups : ndarray
        The tables of ``selection.Machine``.
    """

    site: Site
    jobs: Sequence[SlurmJob]
    need: Ints
    gpu_types: Sequence[str] = ()
    licences: Sequence[str] = ()
    used: Ints = field(init=False)
    caps: Ints = field(init=False)
    kind: Ints = field(init=False)
    first_group: Ints = field(init=False)
    groups: Ints = field(init=False)

    def __post_init__(self) -> None:
        settings = self.site.scheduler
        if isinstance(settings, SchedulerSettings):
            self._enforced = settings.enforces_limits
        else:
            self._enforced = False
        self._columns = self.need.shape[1]
        self._group_rows: dict[tuple[object, ...], int] = {}
        self._cap_rows: dict[tuple[object, ...], int] = {}
        self._cap_list: list[Ints] = []
        self._kinds: list[int] = []
        self._chosen: dict[tuple[str, str, str, str], list[tuple[int, int]]] = {}
        self._counted: dict[int, Ints] = {}  # of running jobs
        self._known: dict[tuple[str, str, str], Association | None] = {}
        self._submitted: dict[tuple[object, ...], int] = {}
        rows: list[tuple[int, int]] = []
        first = [0]
        for job in self.jobs:
            rows.extend(self._groups_of(job))
            first.append(len(rows))
        self.first_group = np.array(first, np.int64)
        self.groups = np.array(rows, np.int64).reshape(-1, 2)
        self.caps = np.array(self._cap_list, np.int64).reshape(-1, self._columns)
        self.kind = np.array(self._kinds, np.int64)
        self.run_minutes = bool(np.any(self.caps[:, c.RUN_CPU_SECONDS] < c.UNLIMITED))
        self.used = np.zeros((max(1, len(self._group_rows)), self._columns), np.int64)

    def _effective(self, account: str, user: str, partition: str) -> Association | None:
        key = (account, user, partition)
        if key not in self._known:
            self._known[key] = self.site.effective(account, user, partition)
        return self._known[key]

    # --- The groups of a job.

    def _groups_of(self, job: SlurmJob) -> list[tuple[int, int]]:
        request = job.request
        partition = ""
        if request.partitions:
            partition = request.partitions[0]
        key = (request.account, job.user, request.qos, partition)
        if key not in self._chosen:
            self._chosen[key] = list(self._find_groups(*key))
        return self._chosen[key]

    def qualities(self, qos: str, partition: str) -> list[QOS]:
        """Return the QOS whose limits hold for a job, the one that comes first first."""
        own = next((q for q in self.site.qos if q.name == qos), None)
        part = next((p for p in self.site.partitions if p.name == partition), None)
        of_partition = None
        if part is not None and part.qos:
            of_partition = next((q for q in self.site.qos if q.name == part.qos), None)
        order = [of_partition, own]
        if own is not None and "overpartqos" in own.flags:
            order.reverse()
        if of_partition is not own:
            return [q for q in dict.fromkeys(order) if q is not None]
        return [q for q in [own] if q]

    def _find_groups(self, account: str, user: str, qos: str, partition: str) -> Iterator[tuple[int, int]]:
        if self.licences:
            first = c.LIMIT_TYPES + len(self.gpu_types)
            totals = {licence.name: licence.total for licence in self.site.licences}
            pool = {first + k: totals[name] for k, name in enumerate(self.licences) if name in totals}
            yield self._row(("licences",), LICENCE_POOL, pool)
        if not self._enforced:
            return
        grp_taken: set[int] = set()
        user_taken: set[int] = set()
        account_taken: set[int] = set()
        for q in self.qualities(qos, partition):
            for what, name, kind, amounts, taken in (
                ("qos", "", QOS_GROUP, self._grp(q.limits), grp_taken),
                ("qos account", account, QOS_ACCOUNT, self._per_account(q.limits), account_taken),
                ("qos user", user, QOS_USER, self._per_user(q.limits), user_taken),
            ):
                left = {column: cap for column, cap in amounts.items() if column not in taken}
                taken.update(amounts)
                if amounts:  # a job counts also where another limit holds for it
                    yield self._row((what, q.name, name), kind, left)
        line = self.site.ancestors(account, user, partition)
        for number, association in enumerate(line):
            amounts = self._grp(association.limits)
            if amounts:
                yield self._row(
                    ("association", association.account, association.user, association.partition),
                    ASSOCIATION_GROUP,
                    {column: cap for column, cap in amounts.items() if column not in grp_taken},
                )
            if number == 0:
                own = self._effective(account, user, partition)
                if own is not None and own.limits.max_jobs is not None:
                    one = ("own", association.account, association.user, association.partition)
                    held_by_qos = c.JOBS in user_taken | account_taken
                    yield self._row(one, ASSOCIATION_USER, {} if held_by_qos else {c.JOBS: own.limits.max_jobs})

    def most_nodes(self, job: int) -> int | None:
        """Return how many nodes the limits of all jobs of a group allow a job, so that it takes no more; None: any number."""
        rows = self.groups[self.first_group[job] : self.first_group[job + 1], 1]
        most = int(self.caps[rows, c.LIMIT_NODES].min(initial=c.UNLIMITED))
        if most >= c.UNLIMITED:
            return None
        return most

    def _column(self, tres: str) -> int | None:
        if tres in COLUMN_OF:
            return COLUMN_OF[tres]
        if tres.startswith("gres/gpu:") and tres[9:] in self.gpu_types:
            return c.LIMIT_TYPES + list(self.gpu_types).index(tres[9:])
        if tres.startswith("license/") and tres[8:] in self.licences:
            return c.LIMIT_TYPES + len(self.gpu_types) + list(self.licences).index(tres[8:])
        return None

    def _amounts(self, tres: Mapping[str, int], jobs: int | None, run_minutes: Mapping[str, int]) -> dict[int, int]:
        amounts = {}
        if jobs is not None:
            amounts = {c.JOBS: jobs}
        for name, amount in tres.items():
            column = self._column(name)
            if column is not None:
                amounts[column] = amount
        if "cpu" in run_minutes:
            amounts[c.RUN_CPU_SECONDS] = run_minutes["cpu"] * 60
        return amounts

    def _grp(self, limits: Limits) -> dict[int, int]:
        return self._amounts(limits.grp_tres, limits.grp_jobs, limits.grp_tres_run_mins)

    def _per_user(self, limits: Limits) -> dict[int, int]:
        return self._amounts(limits.max_tres_per_user, limits.max_jobs_per_user, {})

    def _per_account(self, limits: Limits) -> dict[int, int]:
        return self._amounts(limits.max_tres_per_account, limits.max_jobs_per_account, {})

    def _row(self, key: tuple[object, ...], kind: int, amounts: Mapping[int, int]) -> tuple[int, int]:
        group = self._group_rows.setdefault(key, len(self._group_rows))
        caps = np.full(self._columns, c.UNLIMITED, np.int64)
        for column, cap in amounts.items():
            caps[column] = cap
        known = (kind, *caps.tolist())
        if known not in self._cap_rows:
            self._cap_rows[known] = len(self._cap_list)
            self._cap_list.append(caps)
            self._kinds.append(kind)
        return group, self._cap_rows[known]

    # --- What a dispatcher asks and tells.

    def reason(self, job: int, amounts: Ints | None = None) -> str:
        """Return why a job may not start now, with Slurm's name; empty if it may.

        Parameters
        ----------
        job : int
            Its index.
        amounts : ndarray of int64, optional
            What it would count; None: what it asked for.
        """
        if amounts is None:
            counted = self.need[job]
        else:
            counted = amounts
        rows = self.groups[self.first_group[job] : self.first_group[job + 1]]
        for jobs_only in (True, False):
            for group, limits in rows:
                over = (self.used[group] + counted > self.caps[limits]) & (counted > 0)
                if jobs_only:
                    over[c.JOBS + 1 :] = False
                if over.any():
                    return reason_name(int(self.kind[limits]), int(np.argmax(over)))
        return ""

    def started(self, job: int, amounts: Ints | None = None) -> None:
        """Count a job that starts."""
        counted = (self.need[job] if amounts is None else amounts).copy()
        self._counted[job] = counted
        self._add(job, counted)

    def counted(self, job: int, amounts: Ints) -> None:
        """Note what a job counts that a compiled pass has started and counted."""
        self._counted[job] = amounts.copy()

    def ended(self, job: int) -> None:
        """Take off a job that ended."""
        self._add(job, -self._counted.pop(job))

    def _add(self, job: int, amounts: Ints) -> None:
        for group in self.groups[self.first_group[job] : self.first_group[job + 1], 0]:
            self.used[group] += amounts

    def clear(self) -> None:
        """Forget all running jobs."""
        self._counted.clear()
        self.used[:] = 0

    def pass_time(self, left: Mapping[int, int]) -> None:
        """Count the CPU-seconds that are left of the limits of running jobs: job -> s."""
        self.used[:, c.RUN_CPU_SECONDS] = 0
        for job, seconds in left.items():
            counted = self._counted[job]
            counted[c.RUN_CPU_SECONDS] = counted[c.LIMIT_CPUS] * max(0, seconds)
            for group in self.groups[self.first_group[job] : self.first_group[job + 1], 0]:
                self.used[group, c.RUN_CPU_SECONDS] += counted[c.RUN_CPU_SECONDS]

    # --- Limits of one job, and of the jobs in the queue.

    def of_one_job(self, job: int, seconds: int) -> str:
        """Return the reason of a job that exceeds a limit of each job by itself, and so never starts; empty if none."""
        if not self._enforced:
            return ""
        each = self.jobs[job]
        request = each.request
        partition = ""
        if request.partitions:
            partition = request.partitions[0]
        own = self._effective(request.account, each.user, partition)
        limited = [("QOS", q.limits) for q in self.qualities(request.qos, partition)]
        if own is not None:
            limited.append(("Assoc", own.limits))
        set_before: set[str] = set()
        for owner, limits in limited:
            if limits.max_wall is not None and "wall" not in set_before:
                set_before.add("wall")
                if seconds > limits.max_wall:
                    return f"{owner}MaxWallDurationPerJobLimit"
            for tres, most in limits.max_tres_per_job.items():
                column = self._column(tres)
                if column is None or tres in set_before:
                    continue
                set_before.add(tres)
                if self.need[job, column] > most:
                    what = {
                        "cpu": "CpuPerJobLimit",
                        "node": "NodePerJobLimit",
                        "mem": "MemoryPerJob" if owner == "QOS" else "MemPerJob",
                    }
                    return f"{owner}Max{what.get(tres, 'GRESPerJob')}"
            minutes = limits.max_tres_mins.get("cpu")
            if minutes is not None and self.need[job, c.LIMIT_CPUS] * seconds > minutes * 60:
                return f"{owner}MaxCpuMinutesPerJobLimit"
        return ""

    def submitted(self, job: int) -> str:
        """Count a job that is submitted; return the reason if there are too many already, and it is refused."""
        if not self._enforced:
            return ""
        counts = list(self._submit_limits(job))
        for key, most, name in counts:
            if most is not None and self._submitted.get(key, 0) >= most:
                return name
        for key, _, _ in counts:
            self._submitted[key] = self._submitted.get(key, 0) + 1
        return ""

    def left(self, job: int) -> None:
        """Take off a job that left the site: it ended or was cancelled in the queue."""
        for key, _, _ in self._submit_limits(job):
            if self._submitted.get(key, 0):
                self._submitted[key] -= 1

    def _submit_limits(self, job: int) -> Iterator[tuple[tuple[object, ...], int | None, str]]:
        each = self.jobs[job]
        request = each.request
        partition = ""
        if request.partitions:
            partition = request.partitions[0]
        for q in self.qualities(request.qos, partition):
            yield ("qos", q.name), q.limits.grp_submit, "QOSGrpSubmitJobsLimit"
            yield ("qos user", q.name, each.user), q.limits.max_submit_per_user, "QOSMaxSubmitJobPerUserLimit"
            yield ("qos account", q.name, request.account), q.limits.max_submit_per_account, "MaxSubmitJobsPerAccount"
        for number, one in enumerate(self.site.ancestors(request.account, each.user, partition)):
            yield ("association", one.label), one.limits.grp_submit, "AssocGrpSubmitJobsLimit"
            if number == 0:
                own = self._effective(request.account, each.user, partition)
                most = None
                if own is not None:
                    most = own.limits.max_submit
                yield ("own", one.label), most, "AssocMaxSubmitJobLimit"
