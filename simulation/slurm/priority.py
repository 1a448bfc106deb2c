"""Slurm's priorities: ``priority/multifactor`` with its fair shares, and ``priority/basic``.

The multifactor priority is a sum of weighted factors between 0 and 1: age, fair share, job size, partition, QOS, association,
trackable resources; less the nice value. It is computed when a job is submitted, and for all waiting jobs every CalcPeriod.

The fair share counts decayed usage: every CalcPeriod all usage is multiplied by ``(1 - 0.693 / half-life) ** seconds``, and
what jobs used since then is added [SlurmDoc, priority_multifactor; the constant is that of Slurm's source]. In a fair tree, the
level fair share of an association is its share among its siblings over its usage among them; the tree is walked from the
root in descending order, and users get ranks [SlurmDoc, fair_tree]. The classic factor is ``2 ** (-usage / share)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.site import Association, SchedulerSettings, Site
from .jobs import SlurmJob

LN2 = 0.693  # as Slurm rounds it
MOST = 2**32 - 1
PARTS = ("age", "association", "fairshare", "size", "partition", "qos", "tres")


@dataclass(frozen=True)
class TreeNode:
    """An association in a fair share tree.

    Parameters
    ----------
    parent : int
        Index of the association above; -1: the root.
    shares : int
        Its shares among its siblings; -1: those of its parent.
    is_user : bool
        Whether it is a user, not an account.
    """

    parent: int
    shares: int
    is_user: bool


@dataclass(eq=False)
class FairShare:
    """A tree of associations, their decayed usage, and the fair share factors of the users.

    Parameters
    ----------
    nodes : sequence of TreeNode
        The tree; parents stand before their children.
    half_life : int
        Seconds after which usage counts half; 0: it does not decay.
    fair_tree : bool
        Whether the factors are ranks in a fair tree; else the classic ones.
    dampening : int
        FairShareDampeningFactor of the classic factor.

    Attributes
    ----------
    usage : ndarray of float, shape (nodes,)
        Decayed usage of each association with its descendants.
    factor : ndarray of float, shape (nodes,)
        The factor of each user, as of the last ``rank``.

    Examples
    --------
    >>> tree = FairShare([TreeNode(-1, 1, False), TreeNode(0, 60, False), TreeNode(0, 40, False), TreeNode(1, 1, True),
    ...                   TreeNode(2, 1, True)], half_life=0, fair_tree=True)
    >>> tree.use(3, 900.0)
    >>> tree.use(4, 100.0)
    >>> tree.rank()
    >>> tree.factor[3:].tolist()
    [0.5, 1.0]
    """

    nodes: Sequence[TreeNode]
    half_life: int
    fair_tree: bool
    dampening: int = 1
    usage: Floats = field(init=False)
    factor: Floats = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.nodes)
        self.usage = np.zeros(size)
        self.factor = np.zeros(size)
        self._children: list[list[int]] = [[] for _ in self.nodes]
        for k, node in enumerate(self.nodes):
            if node.parent >= 0:
                self._children[node.parent].append(k)
        self._users = sum(node.is_user for node in self.nodes)
        self._share = np.zeros(size)
        for children in self._children:
            total = sum(self.nodes[k].shares for k in children if self.nodes[k].shares > 0)
            for k in children:
                self._share[k] = self.nodes[k].shares / total if total and self.nodes[k].shares > 0 else 0.0
        self.rank()

    @property
    def per_second(self) -> float:
        """What is left of usage after a second."""
        return 1 - LN2 / self.half_life if self.half_life > 0 else 1.0

    def decay(self, seconds: float) -> None:
        """Let all usage decay."""
        self.usage *= self.per_second**seconds

    def use(self, k: int, amount: float) -> None:
        """Add usage of an association to it and all above it."""
        while k >= 0:
            self.usage[k] += amount
            k = self.nodes[k].parent

    def rank(self) -> None:
        """Compute the factors of the users."""
        if not self.nodes:
            return
        if self.fair_tree:
            self._rank = self._next_rank = self._users
            self._walk(self._children[0], False)
        else:
            self._classic()

    def _level(self, k: int) -> float:
        if self.nodes[k].shares < 0:
            return math.inf
        if self._share[k] == 0:
            return 0.0
        above = float(self.usage[self.nodes[k].parent])
        used = float(self.usage[k]) / above if above > 0 else 0.0
        return float(self._share[k]) / used if used > 0 else math.inf

    def _walk(self, siblings: Sequence[int], tied_above: bool) -> None:
        levels = {k: self._level(k) for k in siblings}
        order = sorted(siblings, key=lambda k: (-levels[k], not self.nodes[k].is_user))
        before: float | None = None
        i = 0
        while i < len(order):
            k = order[i]
            tied = tied_above if i == 0 and tied_above else before == levels[k]
            if self.nodes[k].is_user:
                if not tied:
                    self._rank = self._next_rank
                self.factor[k] = self._rank / self._users
                self._next_rank -= 1
            else:
                merged = [k]
                while i + 1 < len(order) and levels[order[i + 1]] == levels[k] and not self.nodes[order[i + 1]].is_user:
                    i += 1
                    merged.append(order[i])
                self._walk([child for one in merged for child in self._children[one]], tied)
            before = levels[k]
            i += 1

    def _classic(self) -> None:
        total = self.usage[0]
        shares = np.ones(len(self.nodes))
        effective = np.zeros(len(self.nodes))
        for k, node in enumerate(self.nodes):
            if node.parent < 0:
                shares[k] = effective[k] = 1.0
                continue
            own = self.usage[k] / total if total > 0 else 0.0
            if node.shares < 0:
                shares[k] = shares[node.parent]
                effective[k] = effective[node.parent]
            else:
                shares[k] = shares[node.parent] * self._share[k]
                effective[k] = own
                if self.nodes[node.parent].parent >= 0:  # below the children of the root
                    effective[k] += (effective[node.parent] - own) * self._share[k]
            self.factor[k] = 2.0 ** (-(effective[k] / shares[k]) / self.dampening) if shares[k] > 0 else 0.0


def tree_of(site: Site) -> tuple[list[TreeNode], dict[tuple[str, str, str], int]]:
    """Return the tree of a site's associations, parents first, and the index of each (account, user, partition)."""
    accounts = [a for a in site.associations if not a.user]
    names = {a.account for a in accounts}
    index: dict[tuple[str, str, str], int] = {}
    tree: list[TreeNode] = []

    def add(association: Association, parent: int) -> int:
        shares = -1 if association.shares == "parent" else association.shares
        tree.append(TreeNode(parent, shares, bool(association.user)))
        index[association.account, association.user, association.partition] = len(tree) - 1
        return len(tree) - 1

    root = next((a for a in accounts if a.account == "root"), Association("root"))
    add(root, -1)
    left = [a for a in accounts if a.account != "root"]
    while left:
        ready = [a for a in left if (a.parent or "root", "", "") in index or (a.parent and a.parent not in names)]
        if not ready:
            ready = left
        for a in ready:
            add(a, index.get((a.parent or "root", "", ""), 0))
        left = [a for a in left if a not in ready]
    for a in site.associations:
        if a.user:
            add(a, index.get((a.account, "", ""), 0))
    return tree, index


@dataclass(eq=False)
class JobPriorities:
    """The priorities of jobs as Slurm computes them; it knows nothing of a dispatcher.

    Parameters
    ----------
    site : Site
        The site: settings, associations, QOS, partitions, nodes.
    jobs : sequence of SlurmJob
        The jobs; they are referred to by their index.
    cpus, min_nodes : ndarray of int64, shape (jobs,)
        What they request.
    begin : int
        Unix time of the begin; updates are CalcPeriods after it.

    Attributes
    ----------
    priority : ndarray of int64, shape (jobs, partitions of a job)
        The priority in each partition that the job named.
    parts : dict of str to ndarray
        The weighted factors of ``PARTS`` as of the last computation, for the first partition.
    """

    site: Site
    jobs: Sequence[SlurmJob]
    cpus: Ints
    min_nodes: Ints
    begin: int
    amounts: Sequence[Mapping[str, int]] = ()
    priority: Ints = field(init=False)

    def __post_init__(self) -> None:
        settings = self.site.scheduler
        assert isinstance(settings, SchedulerSettings)
        self.settings = settings
        most = max((len(job.request.partitions) for job in self.jobs), default=1)
        self.priority = np.ones((len(self.jobs), max(1, most)), np.int64)
        self.parts = {name: np.zeros(len(self.jobs)) for name in PARTS}
        tree, index = tree_of(self.site)
        self.shares = FairShare(tree, settings.decay_half_life, settings.fair_tree, settings.fair_share_dampening)
        self.association = np.array([self._association(job, index) for job in self.jobs], np.int64)
        self._index = index
        self._next_basic = MOST
        self._running: dict[int, tuple[int, float]] = {}  # job: start, billing times the usage factor of its QOS
        self._eligible: dict[int, int] = {}
        self._updated = self.begin
        qos_most = max((q.priority for q in self.site.qos), default=0)
        self._qos = {q.name: q.priority / qos_most if qos_most else 0.0 for q in self.site.qos}
        part_most = max((p.job_factor for p in self.site.partitions), default=0)
        self._part = {p.name: p.job_factor / part_most if part_most else 0.0 for p in self.site.partitions}
        if "no_normal_qos" in settings.priority_flags:
            self._qos = {q.name: float(q.priority) for q in self.site.qos}
        if "no_normal_part" in settings.priority_flags:
            self._part = {p.name: float(p.job_factor) for p in self.site.partitions}
        self._usage_factor = {q.name: q.usage_factor for q in self.site.qos}
        self._all_nodes = sum(n.state != "future" for n in self.site.nodes)
        self._all_cpus = sum(n.cpus for n in self.site.nodes if n.state != "future")

    @staticmethod
    def _association(job: SlurmJob, index: Mapping[tuple[str, str, str], int]) -> int:
        account = job.request.account
        for partition in (*job.request.partitions[:1], ""):
            if (account, job.user, partition) in index:
                return index[account, job.user, partition]
        return index.get((account, "", ""), -1)

    @property
    def multifactor(self) -> bool:
        """Whether priorities change with time."""
        return self.settings.priority_type == "multifactor"

    @property
    def ages(self) -> bool:
        """Whether the priority of a waiting job changes with time."""
        return self.multifactor and bool(self.settings.weight_age or self.settings.weight_fairshare)

    @property
    def next_update(self) -> int:
        """Unix time of the next update."""
        return self._updated + self.settings.calc_period

    def submitted(self, job: int, now: int) -> None:
        """Give a job its first priority."""
        if not self.multifactor:
            self._next_basic -= 1
            self.priority[job] = max(1, self._next_basic - self.jobs[job].request.nice)
            return
        self._compute(job, now)

    def compute_all(self) -> None:
        """Give all jobs their first priority, if priorities do not change with time."""
        for job in range(len(self.jobs)):
            self._compute(job, self.begin)

    def eligible(self, job: int, since: int | None) -> None:
        """Note since when a job ages; None: it does not."""
        if since is None:
            self._eligible.pop(job, None)
        else:
            self._eligible[job] = since

    def since(self, job: int) -> float:
        """Return since when a job ages; NaN if it does not."""
        return self._eligible.get(job, math.nan)

    def started(self, job: int, now: int, billing: float) -> None:
        """Note a start; usage is counted from now on."""
        factor = self._usage_factor.get(self.jobs[job].request.qos, 1.0)
        self._running[job] = (now, billing * factor)

    def ended(self, job: int, now: int) -> None:
        """Count the usage of a job that ended since the last update."""
        start, billing = self._running.pop(job)
        self._use(job, max(start, self._updated), now, billing)

    def _use(self, job: int, begin: int, end: int, billing: float) -> None:
        seconds = max(0, end - begin)
        if self.association[job] >= 0:
            self.shares.use(int(self.association[job]), seconds * billing * self.shares.per_second**seconds)

    def update(self, now: int, waiting: Sequence[int]) -> None:
        """Let usage decay up to now, count that of the running jobs, and compute the priorities of the waiting jobs."""
        if not self.settings.weight_fairshare:  # usage counts for nothing
            self._updated = now
            for job in waiting if self.ages else ():
                self._compute(job, now)
            return
        self.shares.decay(now - self._updated)
        for job, (start, billing) in self._running.items():
            self._use(job, max(start, self._updated), now, billing)
        self._updated = now
        self.shares.rank()
        if self.multifactor:
            for job in waiting:
                self._compute(job, now)

    def size_factor(self, job: int) -> float:
        """Return the factor of the job's size."""
        cpus = int(self.cpus[job])
        nodes = int(self.min_nodes[job])
        if "small_relative_to_time" in self.settings.priority_flags:
            minutes = max(1, (self.jobs[job].limit or 60) // 60)
            share = max(cpus, nodes * self._all_cpus / self._all_nodes) / minutes / self._all_cpus
        else:
            share = (nodes / self._all_nodes + cpus / self._all_cpus) / 2
        if self.settings.favor_small:
            share = 1 - share
        return min(1.0, max(0.0, share))

    def age_factor(self, job: int, now: int) -> float:
        """Return the factor of the time since the job became eligible."""
        since = self._eligible.get(job)
        if since is None:
            return 0.0
        return min(1.0, max(0, now - since) / self.settings.max_age)

    def _compute(self, job: int, now: int) -> None:
        s = self.settings
        request = self.jobs[job].request
        association = int(self.association[job])
        values = {
            "age": s.weight_age * self.age_factor(job, now),
            "association": 0.0,
            "fairshare": s.weight_fairshare * float(self.shares.factor[association]) if association >= 0 else 0.0,
            "size": s.weight_job_size * self.size_factor(job),
            "qos": s.weight_qos * self._qos.get(request.qos, 0.0),
            "partition": 0.0,
            "tres": 0.0,
        }
        if s.weight_assoc:
            own = self.site.effective(
                request.account, self.jobs[job].user, request.partitions[0] if request.partitions else ""
            )
            most = max((a.priority or 0 for a in self.site.associations), default=0)
            if own is not None and own.priority and most:
                values["association"] = s.weight_assoc * own.priority / most
        names = request.partitions or ("",)
        for k, name in enumerate(names):
            values["partition"] = s.weight_partition * self._part.get(name, 0.0)
            values["tres"] = self._tres(job, name)
            total = sum(values.values()) - request.nice
            self.priority[job, k] = min(MOST, max(1, int(total)))
            if k == 0:
                for part in PARTS:
                    self.parts[part][job] = values[part]

    def _tres(self, job: int, partition: str) -> float:
        weights = self.settings.weight_tres
        if not weights or not self.amounts:
            return 0.0
        part = next((p for p in self.site.partitions if p.name == partition), None)
        names = set(part.nodes) if part else set()
        total = 0.0
        for tres, weight in weights.items():
            amount = self.amounts[job].get(tres, 0)
            has = sum(n.tres.get(tres, 0) for n in self.site.nodes if n.name in names)
            if "no_normal_tres" in self.settings.priority_flags:
                total += weight * amount
            elif amount and has:
                total += weight * amount / has
        return total
