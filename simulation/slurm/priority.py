"""Slurm's priorities: ``priority/multifactor`` with its fair shares, and ``priority/basic``.

The multifactor priority is a sum of weighted factors between 0 and 1: age, fair share, job size, partition, QOS, association,
trackable resources; less the nice value. It is computed when a job is submitted, and for all waiting jobs every CalcPeriod.

The fair share counts decayed usage: every CalcPeriod all usage is multiplied by ``(1 - 0.693 / half-life) ** seconds``, and
what jobs used since then is added [SlurmDoc, priority_multifactor; the constant is that of Slurm's source]. In a fair tree, the
level fair share of an association is its share among its siblings over its usage among them; the tree is walked from the
root in descending order, and users get ranks [SlurmDoc, fair_tree]. The classic factor (NO_FAIR_TREE) is ``2 ** (-usage / share)``,
where the usage of the accounts is that from before an update, and that of a user the one when it is first needed after it.

The usage of a job is its billing times its seconds: its CPUs, or its resources by the TRESBillingWeights of its partition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.compiled import borrowing, by_address, compiled, internal_borrowing
from ...models.site import Association, Partition, SchedulerSettings, Site
from .jobs import SlurmJob
from .limits import licence_counts

LN2 = 0.693  # as Slurm rounds it
MOST = 2**32 - 1
OF_NODES = ("cpu", "mem", "node")  # resources that belong to nodes, beside generic ones
PARTS = ("age", "association", "fairshare", "size", "partition", "qos", "tres")


NOT_ELIGIBLE = -(2**62)

# The weighted factors that do not change with time: of a job, and of a job in a partition.
ASSOCIATION, SIZE, QUALITY = range(3)
PARTITION, TRES = range(2)
# Those that do.
AGE, FAIR_SHARE = range(2)


@by_address
class Factors(NamedTuple):
    """What the multifactor priorities of jobs are computed from.

    Parameters
    ----------
    since
        Since when each job ages, NOT_ELIGIBLE: it does not; shape (jobs,).
    of_job, of_partition
        Weighted factors that do not change with time, shapes (jobs, 3) and (jobs, partitions of a job, 2).
    number
        The number of partitions of each job, shape (jobs,).
    nice
        Shape (jobs,).
    association, share
        The association of each job, -1: none, shape (jobs,); the fair share factor of each association.
    weights
        The weights of age and of the fair share, and the age from which on a job ages no more.
    computed
        Output: the weighted factors of age and fair share, shape (jobs, 2).
    """

    since: Ints
    of_job: Floats
    of_partition: Floats
    number: Ints
    nice: Ints
    association: Ints
    share: Floats
    weights: Floats
    computed: Floats


@borrowing
def _age_factor(since: int, now: int, most: float) -> float:
    """Return the factor of the age of a job."""
    if since == NOT_ELIGIBLE:
        return 0.0
    return float(min(1.0, max(0, now - since) / most))


@internal_borrowing
def weigh(j: int, now: int, factors: Factors, priority: Ints) -> None:
    """Write the priorities of a job in its partitions."""
    age = factors.weights[0] * _age_factor(factors.since[j], now, factors.weights[2])
    share = 0.0
    if factors.association[j] >= 0:
        share = factors.weights[1] * factors.share[factors.association[j]]
    factors.computed[j, AGE] = age
    factors.computed[j, FAIR_SHARE] = share
    of_job = age + factors.of_job[j, ASSOCIATION] + share + factors.of_job[j, SIZE] + factors.of_job[j, QUALITY]
    for k in range(factors.number[j]):
        total = of_job + factors.of_partition[j, k, PARTITION] + factors.of_partition[j, k, TRES]
        priority[j, k] = min(MOST, max(1, int(total - factors.nice[j])))


@compiled
def _weigh_all(jobs: Ints, now: int, factors: Factors, priority: Ints) -> None:
    """Write the priorities of some jobs."""
    for i in range(jobs.size):
        weigh(jobs[i], now, factors, priority)


# --- Usage.


def billable(weights: Mapping[str, float], tres: Mapping[str, float], most: bool) -> float:
    """Return what the resources of a job count in its usage.

    Parameters
    ----------
    weights : mapping of str to float
        The TRESBillingWeights of its partition. Empty: CPUs count.
    tres : mapping of str to float
        The resources, by Slurm's names; memory in MB.
    most : bool
        Whether of the resources of nodes only the one that counts most is taken (PriorityFlags=MAX_TRES).

    Examples
    --------
    >>> weights = {"cpu": 1.0, "gres/gpu": 8.0, "license/ansys": 3.0}
    >>> used = {"cpu": 2, "gres/gpu": 1, "license/ansys": 1}
    >>> billable(weights, used, False), billable(weights, used, True), billable({}, used, True)
    (13.0, 11.0, 2.0)
    """
    if not weights:
        return float(tres.get("cpu", 0))
    counted = {name: weight * tres.get(name, 0) for name, weight in weights.items() if name != "billing"}
    of_nodes = [amount for name, amount in counted.items() if name in OF_NODES or name.startswith("gres/")]
    others = sum(amount for name, amount in counted.items() if name not in OF_NODES and not name.startswith("gres/"))
    return float((max(of_nodes, default=0.0) if most else sum(of_nodes)) + others)


@borrowing
def usage_of(seconds: int, billing: float, per_second: float) -> float:
    """Return the usage of a job that has run for some seconds, up to now; what is left of it after a second is given."""
    return float(seconds * billing * per_second ** float(seconds))


@borrowing
def add_usage(usage: Floats, parents: Ints, k: int, amount: float) -> None:
    """Add usage of an association to it and all above it."""
    while k >= 0:
        usage[k] += amount
        k = parents[k]


@borrowing
def decay_usage(usage: Floats, seconds: int, per_second: float) -> None:
    """Let all usage decay."""
    left = per_second ** float(seconds)
    for k in range(usage.size):
        usage[k] *= left


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
    depth_oblivious : bool
        Whether the classic factor is that of PriorityFlags=DEPTH_OBLIVIOUS.

    Attributes
    ----------
    usage : ndarray of float, shape (nodes,)
        Decayed usage of each association with its descendants.
    factor : ndarray of float, shape (nodes,)
        The factor of each user, as of the last ``rank``; of the classic factor, since the user became known.

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
    depth_oblivious: bool = False
    usage: Floats = field(init=False)
    factor: Floats = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.nodes)
        self.usage = np.zeros(size)
        self.parents = np.array([node.parent for node in self.nodes], np.int64)
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
                if total and self.nodes[k].shares > 0:
                    self._share[k] = self.nodes[k].shares / total
                else:
                    self._share[k] = 0.0
        self._effective = np.ones(size)
        self._part = np.zeros(size)  # the usage of each association in that of the root, when it was last computed
        self._of_all = np.ones(size)  # the share of each association in that of the root
        for k, node in enumerate(self.nodes):
            if node.parent >= 0:
                if node.shares < 0:
                    own = 1.0
                else:
                    own = float(self._share[k])
                self._of_all[k] = self._of_all[node.parent] * own
        self._known = np.zeros(size, np.bool_)
        self.rank()

    @property
    def per_second(self) -> float:
        """What is left of usage after a second."""
        if self.half_life > 0:
            return 1 - LN2 / self.half_life
        return 1.0

    def decay(self, seconds: int) -> None:
        """Let all usage decay."""
        decay_usage(self.usage, int(seconds), self.per_second)

    def use(self, k: int, amount: float) -> None:
        """Add usage of an association to it and all above it."""
        add_usage(self.usage, self.parents, k, float(amount))

    def rank(self) -> None:
        """Compute the factors of the users."""
        if not self.nodes:
            return
        if self.fair_tree:
            self._rank = self._next_rank = self._users
            self._walk(self._children[0], False)
        else:
            self.renew()
            for k in range(len(self.nodes)):
                self.know(k)

    def _level(self, k: int) -> float:
        if self.nodes[k].shares < 0:
            return math.inf
        if self._share[k] == 0:
            return 0.0
        above = float(self.usage[self.nodes[k].parent])
        used = 0.0
        if above > 0:
            used = float(self.usage[k]) / above
        if used > 0:
            return float(self._share[k]) / used
        return math.inf

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

    # --- The classic factor.

    def renew(self) -> None:
        """Compute the effective usage of the accounts from the usage now, and forget that of the users."""
        self._known[:] = False
        above = [0]
        while above:  # depth first; of siblings the last one first, as a recorded Slurm did
            k = above.pop()
            self.know(k)
            above.extend(child for child in self._children[k] if not self.nodes[child].is_user)

    def know(self, k: int) -> None:
        """Compute the effective usage and the classic factor of an association, unless they are known."""
        if self._known[k]:
            return
        self._known[k] = True
        if self.nodes[k].parent >= 0:
            self._effective[k] = self._effective_usage(k)
        share = float(self._of_all[k])
        if share > 0:
            self.factor[k] = 2.0 ** (-(float(self._effective[k]) / share) / self.dampening)
        else:
            self.factor[k] = 0.0

    def _part_of_all(self, k: int) -> float:
        """Return the usage of an association in that of the root."""
        total = float(self.usage[0])
        if total > 0:
            return min(1.0, float(self.usage[k]) / total)
        return 0.0

    def _effective_usage(self, k: int) -> float:
        node = self.nodes[k]
        own = self._part_of_all(k)
        self._part[k] = own
        above = float(self._effective[node.parent])
        if self.nodes[node.parent].parent < 0:  # a child of the root
            return own
        if node.shares < 0:
            return above
        if self.depth_oblivious:
            return self._oblivious_usage(k, own, above)
        if not any(self.nodes[other].shares > 0 for other in self._children[node.parent]):
            return above
        return own + (above - own) * float(self._share[k])

    def _oblivious_usage(self, k: int, own: float, above: float) -> float:
        """Return the effective usage with DEPTH_OBLIVIOUS: by how much the account and, in it, the association exceed their shares.

        That of the siblings is the one of when they were last computed.
        """
        parent = self.nodes[k].parent
        share, share_above = float(self._of_all[k]), float(self._of_all[parent])
        if not (share and share_above and above and own):
            return own
        of_parent = above / share_above
        siblings = sum(float(self._part[other]) for other in self._children[parent] if self.nodes[other].shares >= 0)
        in_parent = own / share / (siblings / share_above)
        exponent = 1.0
        if math.log(of_parent) * math.log(in_parent) < 0:
            exponent = 1 / (1 + (5 * math.log(of_parent)) ** 2)
        return float(of_parent * in_parent**exponent * share)


def tree_of(site: Site) -> tuple[list[TreeNode], dict[tuple[str, str, str], int]]:
    """Return the tree of a site's associations, parents first, and the index of each (account, user, partition)."""
    accounts = [a for a in site.associations if not a.user]
    names = {a.account for a in accounts}
    index: dict[tuple[str, str, str], int] = {}
    tree: list[TreeNode] = []

    def add(association: Association, parent: int) -> int:
        shares = -1
        if association.shares != "parent":
            shares = association.shares
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
    priority: Ints = field(init=False)

    def __post_init__(self) -> None:
        settings = self.site.scheduler
        assert isinstance(settings, SchedulerSettings)
        self.settings = settings
        self._flags = set(settings.priority_flags)
        if "no_normal_all" in self._flags:
            self._flags |= {f"no_normal_{what}" for what in ("assoc", "part", "qos", "tres")}
        most = max((len(job.request.partitions) for job in self.jobs), default=1)
        self.priority = np.ones((len(self.jobs), max(1, most)), np.int64)
        tree, index = tree_of(self.site)
        oblivious = "depth_oblivious" in self._flags
        self.shares = FairShare(
            tree, settings.decay_half_life, settings.fair_tree, settings.fair_share_dampening, oblivious
        )
        self.association = np.array([self._association(job, index) for job in self.jobs], np.int64)
        self._index = index
        self._next_basic = MOST
        self._basic: set[int] = set()  # jobs that have a priority, with priority/basic
        self._running: dict[int, tuple[int, float]] = {}  # job: start, billing times the usage factor of its QOS
        self._updated = self.begin
        qos_most = max((q.priority for q in self.site.qos), default=0)
        self._qos = {q.name: q.priority / qos_most if qos_most else 0.0 for q in self.site.qos}
        part_most = max((p.job_factor for p in self.site.partitions), default=0)
        self._part = {p.name: p.job_factor / part_most if part_most else 0.0 for p in self.site.partitions}
        if "no_normal_qos" in self._flags:
            self._qos = {q.name: float(q.priority) for q in self.site.qos}
        if "no_normal_part" in self._flags:
            self._part = {p.name: float(p.job_factor) for p in self.site.partitions}
        self._of_part: dict[str, dict[str, float]] = {}  # what the nodes of a partition have
        self._usage_factor = {q.name: q.usage_factor for q in self.site.qos}
        self._all_nodes = sum(n.state != "future" for n in self.site.nodes)
        self._all_cpus = sum(n.cpus for n in self.site.nodes if n.state != "future")
        self._factors = self._fixed_factors()
        self.parts = self._parts()

    @property
    def factors(self) -> Factors:
        """What the priorities are computed from, for compiled code."""
        return self._factors

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
        """Give a job its first priority; with priority/basic, one that comes back keeps its own."""
        if not self.multifactor:
            if job not in self._basic:
                self._basic.add(job)
                self._next_basic -= 1
                self.priority[job] = max(1, self._next_basic - self.jobs[job].request.nice)
            return
        self._know(job)
        self._compute([job], now)

    def _know(self, job: int) -> None:
        """Compute the classic fair share of a job's user, unless it is known."""
        if not self.settings.fair_tree and self.association[job] >= 0:
            self.shares.know(int(self.association[job]))

    def compute_all(self) -> None:
        """Give all jobs their first priority, if priorities do not change with time."""
        self._compute(range(len(self.jobs)), self.begin)

    def eligible(self, job: int, since: int | None) -> None:
        """Note since when a job ages; None: it does not. With PriorityFlags=ACCRUE_ALWAYS it ages from its submission on."""
        if since is not None and "accrue_always" in self._flags:
            since = self.jobs[job].submit
        if since is None:
            self._factors.since[job] = NOT_ELIGIBLE
        else:
            self._factors.since[job] = since

    def since(self, job: int) -> float:
        """Return since when a job ages; NaN if it does not."""
        since = int(self._factors.since[job])
        if since == NOT_ELIGIBLE:
            return math.nan
        return since

    def started(self, job: int, now: int, billing: float) -> None:
        """Note a start; usage is counted from now on."""
        self._running[job] = (now, billing * self.usage_factor(job))

    def usage_factor(self, job: int) -> float:
        """Return by what the usage of a job is multiplied."""
        return self._usage_factor.get(self.jobs[job].request.qos, 1.0)

    def ended(self, job: int, now: int) -> None:
        """Count the usage of a job that ended since the last update."""
        start, billing = self._running.pop(job)
        self._use(job, max(start, self._updated), now, billing)

    def _use(self, job: int, begin: int, end: int, billing: float) -> None:
        seconds = max(0, end - begin)
        if self.association[job] >= 0:
            self.shares.use(int(self.association[job]), usage_of(seconds, billing, self.shares.per_second))

    def update(self, now: int, waiting: Sequence[int]) -> None:
        """Let usage decay up to now, count that of the running jobs, and compute the priorities of the waiting jobs."""
        if not self.settings.weight_fairshare:  # usage counts for nothing
            self._updated = now
            if self.ages:
                self._compute(waiting, now)
            return
        if self.settings.fair_tree:
            self._count_usage(now, ())
            self.shares.rank()
        else:
            self.shares.renew()
            self._count_usage(now, waiting)
        self._updated = now
        if self.multifactor:
            self._compute(waiting, now)

    def _count_usage(self, now: int, waiting: Sequence[int]) -> None:
        """Let usage decay, and count that of the running jobs in the order of the jobs; with it users of waiting jobs become known."""
        self.shares.decay(now - self._updated)
        for job in sorted([*self._running, *waiting]):
            if job in self._running:
                start, billing = self._running[job]
                self._use(job, max(start, self._updated), now, billing)
            else:
                self._know(job)

    def size_factors(self) -> Floats:
        """Return the factors of the sizes of the jobs, shape (jobs,)."""
        cpus, nodes = self.cpus, self.min_nodes
        if "small_relative_to_time" in self._flags:
            minutes = np.array([max(1, (job.limit or 60) // 60) for job in self.jobs], np.int64)
            share = np.maximum(cpus, nodes * self._all_cpus / self._all_nodes) / minutes / self._all_cpus
        else:
            share = (nodes / self._all_nodes + cpus / self._all_cpus) / 2
        if self.settings.favor_small:
            share = 1 - share
        factors: Floats = np.minimum(1.0, np.maximum(0.0, share))
        return factors

    def _fixed_factors(self) -> Factors:
        """Return what priorities are computed from, with the factors that do not change with time."""
        s = self.settings
        size = len(self.jobs)
        of_job = np.zeros((size, 3))
        of_partition = np.zeros((size, self.priority.shape[1], 2))
        number = np.ones(size, np.int64)
        if self.multifactor:
            of_job[:, SIZE] = s.weight_job_size * self.size_factors()
        known: dict[tuple[int, str], tuple[float, float, list[float]]] = {}
        for k, job in enumerate(self.jobs if self.multifactor else ()):
            request = job.request
            key = (id(request), job.user if s.weight_assoc else "")
            names = request.partitions or ("",)
            if key not in known:
                of_parts = [s.weight_partition * self._part.get(name, 0.0) for name in names]
                known[key] = self._of_association(job), s.weight_qos * self._qos.get(request.qos, 0.0), of_parts
            of_job[k, ASSOCIATION], of_job[k, QUALITY], of_partition[k, : len(names), PARTITION] = known[key]
            number[k] = len(names)
            if s.weight_tres:
                tres = self.tres(k)
                of_partition[k, : len(names), TRES] = [self._of_tres(tres, name) for name in names]
        return Factors(
            since=np.full(size, NOT_ELIGIBLE, np.int64),
            of_job=of_job,
            of_partition=of_partition,
            number=number,
            nice=np.array([job.request.nice for job in self.jobs], np.int64),
            association=self.association,
            share=self.shares.factor,
            weights=np.array([s.weight_age, s.weight_fairshare, s.max_age], np.float64),
            computed=np.zeros((size, 2)),
        )

    def size_factor(self, job: int) -> float:
        """Return the factor of the job's size."""
        return float(self.size_factors()[job])

    def age_factor(self, job: int, now: int) -> float:
        """Return the factor of the time since the job became eligible."""
        return float(_age_factor(self._factors.since[job], now, self.settings.max_age))

    def _parts(self) -> dict[str, Floats]:
        f = self._factors
        first = f.of_partition[:, 0]
        columns = (
            f.computed[:, AGE], f.of_job[:, ASSOCIATION], f.computed[:, FAIR_SHARE], f.of_job[:, SIZE], first[:, PARTITION],
            f.of_job[:, QUALITY], first[:, TRES],
        )  # fmt: skip
        return dict(zip(PARTS, columns, strict=True))

    def _of_association(self, job: SlurmJob) -> float:
        """Return the weighted factor of a job's association."""
        s = self.settings
        request = job.request
        if not s.weight_assoc:
            return 0.0
        own = self.site.effective(request.account, job.user, request.partitions[0] if request.partitions else "")
        most = max((a.priority or 0 for a in self.site.associations), default=0)
        if own is None or not own.priority or not most:
            return 0.0
        if "no_normal_assoc" in self._flags:
            return float(s.weight_assoc * own.priority)
        return s.weight_assoc * own.priority / most

    def _compute(self, jobs: Sequence[int], now: int) -> None:
        """Compute the priorities of some jobs."""
        _weigh_all(np.array(jobs, np.int64), now, self._factors, self.priority)

    # --- Trackable resources.

    def tres(self, job: int) -> dict[str, float]:
        """Return what a job requests, by Slurm's names of resources; memory in MB."""
        request = self.jobs[job].request
        nodes = int(self.min_nodes[job])
        cpus = max(request.cpus or 0, (request.tasks or 0) * (request.cpus_per_task or 1)) or int(self.cpus[job])
        amounts: dict[str, float] = {"cpu": cpus, "node": nodes, "mem": self._memory(job, cpus, nodes)}
        tasks = request.tasks or 1
        for each in request.gres:
            number = each.number * {"job": 1, "task": tasks}.get(each.per, nodes)
            for name in dict.fromkeys((f"gres/{each.name}", f"gres/{each.name}:{each.type}" if each.type else "")):
                if name:
                    amounts[name] = amounts.get(name, 0) + number
        for name, number in licence_counts(request.licences).items():
            amounts[f"license/{name}"] = number
        return amounts

    def _memory(self, job: int, cpus: int, nodes: int) -> int:
        """Return the memory in MB that a job requests; without a default, that of the first node of its partition."""
        request = self.jobs[job].request
        part = self._partition(request.partitions[0] if request.partitions else "")
        if part is not None:
            of_part = (part.def_mem_per_cpu, part.def_mem_per_node)
        else:
            of_part = (None, None)
        s = self.settings
        for per_cpu, per_node in (
            (request.memory_per_cpu, request.memory_per_node),
            of_part,
            (s.def_mem_per_cpu, s.def_mem_per_node),
        ):
            if per_cpu is not None:
                return per_cpu * cpus
            if per_node:
                return per_node * nodes
        if part is None or not part.nodes:
            return 0
        return nodes * (self.site.node(part.nodes[0]).memory or 0)

    def _partition(self, name: str) -> Partition | None:
        return next((p for p in self.site.partitions if p.name == name), None)

    def billing(self, job: int, partition: str, used: Mapping[str, float]) -> float:
        """Return what a job counts in its usage each second, beside the factor of its QOS.

        Parameters
        ----------
        job : int
            Its index.
        partition : str
            The partition in which it runs.
        used : mapping of str to float
            What it was given, as far as that is known; else what it asked for counts.
        """
        part = self._partition(partition)
        if part is not None:
            weights = part.billing_weights
        else:
            weights = {}
        if not weights:
            return float(used["cpu"])
        tres = {**self.tres(job), **used}
        if not self.settings.counts_memory or any(n.memory is None for n in self.site.nodes):
            tres["mem"] = 0.0  # no memory is given to jobs
        return billable(weights, tres, "max_tres" in self._flags)

    def billings(self, cpus: Floats) -> Floats:
        """Return what each job counts in its usage each second, if it has so many CPUs in its first partition."""
        counted: Floats = cpus.copy()
        if any(part.billing_weights for part in self.site.partitions):
            for k, job in enumerate(self.jobs):
                partition = ""
                if job.request.partitions:
                    partition = job.request.partitions[0]
                counted[k] = self.billing(k, partition, {"cpu": float(cpus[k])})
        counted *= np.array([self.usage_factor(k) for k in range(len(self.jobs))])
        return counted

    def _of_tres(self, tres: Mapping[str, float], partition: str) -> float:
        """Return the weighted factor of the resources that a job requests, in a partition."""
        part = self._partition(partition)
        total = 0.0
        for name, weight in self.settings.weight_tres.items():
            amount = self._amount(name, part, tres)
            if "no_normal_tres" in self._flags:
                total += weight * amount
                continue
            has = self._amount(name, part, self._has(partition))
            if has:
                total += weight * amount / has
        return total

    def _amount(self, name: str, part: Partition | None, tres: Mapping[str, float]) -> float:
        """Return an amount of resources; ``billing`` is what they count in a partition, in whole numbers."""
        if name != "billing":
            return tres.get(name, 0)
        if part is not None:
            weights = part.billing_weights
        else:
            weights = {}
        return int(billable(weights, tres, "max_tres" in self._flags))

    def _has(self, partition: str) -> dict[str, float]:
        """Return what the nodes of a partition have."""
        if partition not in self._of_part:
            part = self._partition(partition)
            if part:
                names = set(part.nodes)
            else:
                names = set()
            has: dict[str, float] = {}
            for node in self.site.nodes:
                if node.name in names:
                    for name, amount in node.tres.items():
                        has[name] = has.get(name, 0) + amount
            self._of_part[partition] = has
        return self._of_part[partition]
