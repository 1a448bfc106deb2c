"""A machine as its administrator describes it: nodes, partitions, accounts, QOS, licences, reservations, and how it schedules.

Times are in seconds, memory is in MB. Trackable resources (TRES) are mappings with Slurm's names in lower case: ``cpu``, ``mem``
(MB), ``node``, ``gres/gpu``, ``gres/gpu:a100``, ``billing``, ``license/matlab``. None is "not limited" or "not known"; of a
limit that is a mapping, the names that are missing are not limited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from .arguments import checked, named
from .comparing import hashable
from .node_states import NodeEvent
from .platform import NamedNodes, Platform, ProblemError
from .site_rules import INHERITED, check_amounts, check_whole
from .site_rules import QOS as QOS  # a site and its rules are imported from one module
from .site_rules import ROOT as ROOT
from .site_rules import TRES_LIMITS as TRES_LIMITS
from .site_rules import Association as Association
from .site_rules import Limits as Limits
from .site_rules import NamedLimit as NamedLimit
from .site_rules import PBSSettings as PBSSettings
from .site_rules import SchedulerSettings as SchedulerSettings
from .words import ByName, excerpt, hint, how_many, with_short_repr

# --- Nodes.

NODE_STATES = ("up", "down", "draining", "future")
GPUS = "gpus"
TAIL = re.compile(r"(.*?)(\d*)(\D*)", re.DOTALL)


def resource_of(gres: str) -> str:
    """Return the resource of a platform that stands for a generic resource of Slurm.

    Parameters
    ----------
    gres : str
        Its name, or its name and type: ``gpu``, ``gpu:a100``, ``shard``.

    Examples
    --------
    >>> [resource_of(gres) for gres in ("gpu", "gpu:a100", "shard")]
    ['gpus', 'gpus a100', 'shard']
    """
    name, _, of_type = gres.partition(":")
    return " ".join(filter(None, (GPUS if name == "gpu" else name, of_type)))


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class SiteNode:
    """A node of a site.

    Parameters
    ----------
    name : str
        Its name.
    cores : int
        Physical cores.
    threads : int, optional
        Hardware threads per core.
    memory : int, optional
        MB that jobs can have. None: not known.
    gpus : mapping of str to int, optional
        Type -> number of GPUs; the type ``""`` is for those without one.
    gres : mapping of str to int, optional
        Other generic resources: name, or ``name:type``, -> amount.
    features : tuple of str, optional
        Its features, which jobs may ask for.
    weight : int, optional
        Among nodes that suit a job, those of low weight are taken first.
    state : {"up", "down", "draining", "future"}, optional
        Its state when the site was described; a future node does not exist yet.
    cpus : int, optional
        What the scheduler counts as CPUs. 0: ``cores * threads``. A site that gives no hardware thread to a job alone
        counts its cores.

    Raises
    ------
    ProblemError
        A value is not valid; the message names the node.

    Examples
    --------
    >>> node = SiteNode("g1", cores=32, threads=2, memory=192_000, gpus={"a100": 4}, features=("ib",))
    >>> node.cpus, node.capacity
    (64, {'cores': 64, 'memory': 192000, 'gpus': 4, 'gpus a100': 4})
    """

    name: str
    cores: int
    threads: int = 1
    memory: int | None = None
    gpus: Mapping[str, int] = field(default_factory=dict)
    gres: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    weight: int = 1
    state: str = "up"
    cpus: int = 0

    def __post_init__(self) -> None:
        where = f"node {self.name!r}"
        check_whole(where, self, "cores", "threads", "memory", "weight", "cpus")
        if self.threads < 1:
            raise ProblemError(f"{where}: threads is {self.threads}; at least 1 is expected")
        if self.state not in NODE_STATES:
            raise ProblemError(f"{where}: state is {excerpt(self.state)}; {hint(self.state, NODE_STATES, 'expected')}")
        for name in ("gpus", "gres"):
            check_amounts(where, name, getattr(self, name))
        if not self.cpus:
            object.__setattr__(self, "cpus", self.cores * self.threads)

    @property
    def capacity(self) -> dict[str, int]:
        """The amount of each resource: ``cores`` (CPUs of the scheduler), ``memory``, ``gpus`` in all and by type, others."""
        amounts = {"cores": self.cpus}
        if self.memory is not None:
            amounts["memory"] = self.memory
        if any(self.gpus.values()):
            amounts[GPUS] = sum(self.gpus.values())
        amounts |= {resource_of(f"gpu:{kind}"): n for kind, n in sorted(self.gpus.items()) if kind}
        for name, amount in sorted(self.gres.items()):
            of_all, _, of_type = name.partition(":")
            amounts[resource_of(name)] = amounts.get(resource_of(name), 0) + amount
            if of_type and of_all not in self.gres:
                amounts[of_all] = amounts.get(of_all, 0) + amount
        return amounts

    @property
    def tres(self) -> dict[str, int]:
        """The trackable resources of the node.

        >>> SiteNode("g1", 16, memory=64_000, gpus={"a100": 2}).tres
        {'cpu': 16, 'mem': 64000, 'node': 1, 'gres/gpu': 2, 'gres/gpu:a100': 2}
        """
        amounts = {"cpu": self.cpus, "mem": self.memory or 0, "node": 1}
        if any(self.gpus.values()):
            amounts["gres/gpu"] = sum(self.gpus.values())
        amounts |= {f"gres/gpu:{kind}": n for kind, n in sorted(self.gpus.items()) if kind}
        return amounts | {f"gres/{name}": n for name, n in sorted(self.gres.items())}


def in_ranges(names: Iterable[str]) -> str:
    """Return names as a list of hosts in the notation of Slurm; numbers in their order, in ranges.

    Examples
    --------
    >>> in_ranges(["n01", "n02", "n03", "n07", "login", "r1-ib", "r2-ib"])
    'n[01-03,07],login,r[1-2]-ib'
    """
    texts = []
    for (head, tail, _, numbered), group in groupby(map(_place, names), key=lambda place: place[:4]):
        digits = [place[4] for place in group]
        if not numbered:
            texts.extend([head + tail] * len(digits))
        elif len(digits) == 1:
            texts.append(head + digits[0] + tail)
        else:
            texts.append(f"{head}[{','.join(_spans(digits))}]{tail}")
    return ",".join(texts)


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key by which n2 is before n10.

    Examples
    --------
    >>> in_ranges(sorted(["n1", "n10", "n11", "n2", "n3"], key=natural_order))
    'n[1-3,10-11]'
    """
    parts: list[tuple[int, str]] = []
    digits = text = ""
    for c in f"{name}\0":
        if c.isascii() and c.isdigit():
            digits += c
            continue
        if digits:
            parts.append((int(digits[:18]), text))
            digits = text = ""
        text += c
    return [*parts, (-1, text)]


def _place(name: str) -> tuple[str, str, int, bool, str]:
    """Return a name as its parts: before and after its last number, the digits if there are leading zeros, the number."""
    match = TAIL.fullmatch(name)
    assert match is not None  # each of its parts may be empty
    head, digits, tail = match.groups()
    width = 0
    if digits.startswith("0") and len(digits) > 1:
        width = len(digits)
    return head, tail, width, bool(digits), digits


def _spans(digits: Sequence[str]) -> Iterator[str]:
    first = last = digits[0]
    for text in [*digits[1:], ""]:
        if text and int(text) == int(last) + 1 and len(text) == max(len(last), len(str(int(text)))):
            last = text
            continue
        yield first if first == last else f"{first}-{last}"
        first = last = text


# --- Partitions.

PARTITION_STATES = ("up", "down", "drain", "inactive")
OVERSUBSCRIBE = re.compile(r"no|exclusive|(?:yes|force)(?::[1-9]\d{0,8})?", re.ASCII)


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Partition:
    """A partition: some nodes, and who may use them how; of PBS, a queue.

    Parameters
    ----------
    name : str
        Its name.
    nodes : tuple of str, optional
        The names of its nodes.
    max_time : int, optional
        Greatest time limit of a job in s. None: not limited.
    default_time : int, optional
        Time limit in s of a job that gives none. None: ``max_time``.
    min_nodes, max_nodes : int, optional
        Least and greatest number of nodes of a job; ``max_nodes`` None: not limited.
    max_cpus_per_node : int, optional
        Greatest number of CPUs of one node that jobs of the partition may have together.
    def_mem_per_cpu, def_mem_per_node, def_mem_per_gpu : int, optional
        MB of a job that asks for none, per CPU, node or GPU. None: those of the site.
    max_mem_per_cpu, max_mem_per_node : int, optional
        Greatest MB. None: those of the site.
    def_cpu_per_gpu : int, optional
        CPUs per GPU of a job that asks for none.
    tier : int, optional
        PriorityTier: jobs in partitions of higher tiers come first, whatever their priorities.
    job_factor : int, optional
        PriorityJobFactor: relative to the greatest of all partitions, the partition's part of the priority.
    allow_qos, allow_accounts, allow_groups : tuple of str, optional
        Who may use it. None: all.
    deny_qos, deny_accounts : tuple of str, optional
        Who may not use it; of no effect where the list of those who may is given.
    qos : str, optional
        The QOS of the partition, whose limits hold for all its jobs.
    oversubscribe : str, optional
        ``"no"``, ``"exclusive"`` (whole nodes), ``"yes:N"``, ``"force:N"`` (up to N jobs on a resource).
    preempt_mode : str, optional
        ``"off"``, ``"cancel"``, ``"requeue"``, ``"suspend"``, perhaps with ``",gang"``. None: that of the site.
    grace_time : int, optional
        Seconds that a preempted job has to end.
    over_time_limit : int, optional
        Seconds that a job may exceed its limit. None: those of the site.
    state : {"up", "down", "drain", "inactive"}, optional
        ``"down"``: jobs are taken and do not start; ``"drain"``: jobs start and no new ones are taken; ``"inactive"``: neither.
    default : bool, optional
        Whether jobs that name no partition are in this one.
    least_loaded : bool, optional
        LLN: jobs go to the nodes with the most free CPUs.
    exclusive_user : bool, optional
        Whether a node is shared only by jobs of one user.
    needs_reservation : bool, optional
        Whether only jobs in a reservation may use it.
    billing_weights : mapping of str to float, optional
        TRESBillingWeights: what a unit of each resource counts in ``billing``; memory per MB.

    Raises
    ------
    ProblemError
        A value is not valid; the message names the partition.

    Examples
    --------
    >>> Partition("debug", ("n1", "n2"), max_time=180, tier=5).exclusive
    False
    """

    name: str
    nodes: tuple[str, ...] = ()
    max_time: int | None = None
    default_time: int | None = None
    min_nodes: int = 0
    max_nodes: int | None = None
    max_cpus_per_node: int | None = None
    def_mem_per_cpu: int | None = None
    max_mem_per_cpu: int | None = None
    def_mem_per_node: int | None = None
    max_mem_per_node: int | None = None
    def_mem_per_gpu: int | None = None
    def_cpu_per_gpu: int | None = None
    tier: int = 1
    job_factor: int = 1
    allow_qos: tuple[str, ...] | None = None
    deny_qos: tuple[str, ...] = ()
    allow_accounts: tuple[str, ...] | None = None
    deny_accounts: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] | None = None
    qos: str | None = None
    oversubscribe: str = "no"
    preempt_mode: str | None = None
    grace_time: int = 0
    over_time_limit: int | None = None
    state: str = "up"
    default: bool = False
    least_loaded: bool = False
    exclusive_user: bool = False
    needs_reservation: bool = False
    billing_weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"partition {self.name!r}"
        numbers = ("max_time", "default_time", "min_nodes", "max_nodes", "max_cpus_per_node", "tier", "job_factor")
        memory = ("def_mem_per_cpu", "max_mem_per_cpu", "def_mem_per_node", "max_mem_per_node", "def_mem_per_gpu")
        check_whole(where, self, *numbers, *memory, "def_cpu_per_gpu", "grace_time", "over_time_limit")
        if self.state not in PARTITION_STATES:
            known = hint(self.state, PARTITION_STATES, "expected")
            raise ProblemError(f"{where}: state is {excerpt(self.state)}; {known}")
        if not isinstance(self.oversubscribe, str) or not OVERSUBSCRIBE.fullmatch(self.oversubscribe):
            raise ProblemError(
                f"{where}: oversubscribe is {excerpt(self.oversubscribe)}; expected no, exclusive, yes:N or force:N"
            )

    @property
    def exclusive(self) -> bool:
        """Whether each job has whole nodes."""
        return self.oversubscribe == "exclusive"

    @property
    def jobs_per_resource(self) -> int:
        """How many jobs may share a CPU at once; only jobs that allow it, where ``oversubscribe`` is ``"yes:N"``.

        >>> [Partition("p", oversubscribe=text).jobs_per_resource for text in ("no", "yes", "force:2")]
        [1, 4, 2]
        """
        how, _, number = self.oversubscribe.partition(":")
        if how not in ("yes", "force"):
            return 1
        return int(number or 4)  # Slurm's default

    def allows(self, account: str = "", qos: str = "", groups: Iterable[str] = ()) -> str:
        """Return why jobs of an account, a QOS and groups of users may not use the partition; empty if they may.

        Names that are empty, and groups if there are none, are not checked.

        Examples
        --------
        >>> gpu = Partition("gpu", allow_qos=("normal", "high"), deny_accounts=("guest",))
        >>> gpu.allows("physics", "high"), gpu.allows("guest"), gpu.allows("physics", "low")
        ('', 'the account guest is denied', 'the QOS low is not allowed')
        """
        groups = tuple(groups)
        checks: tuple[tuple[str, str, tuple[str, ...] | None, tuple[str, ...]], ...] = (
            ("account", account, self.allow_accounts, self.deny_accounts),
            ("QOS", qos, self.allow_qos, self.deny_qos),
        )
        for what, name, allowed, denied in checks:
            if name and allowed is not None and name not in allowed:
                return f"the {what} {name} is not allowed"
            if name and allowed is None and name in denied:
                return f"the {what} {name} is denied"
        if groups and self.allow_groups is not None and not set(groups) & set(self.allow_groups):
            return f"none of the groups {', '.join(groups)} is allowed"
        return ""


@checked(values=False, deep=False)
@with_short_repr
@dataclass(frozen=True)
class Licence:
    """A licence.

    Parameters
    ----------
    name : str
        Its name.
    total : int
        How many there are.

    Examples
    --------
    >>> Licence("matlab", 20)
    Licence(name='matlab', total=20)
    """

    name: str
    total: int

    def __post_init__(self) -> None:
        check_whole(f"licence {self.name!r}", self, "total")


RESERVATION_FLAGS = (
    "maint", "flex", "overlap", "ignore_jobs", "hourly", "daily", "weekly", "weekday", "weekend", "magnetic", "time_float",
    "all_nodes", "any_nodes", "part_nodes", "spec_nodes", "static", "static_alloc", "first_cores", "replace", "replace_down",
    "license_only", "purge_comp", "no_hold_jobs_after", "no_hold_jobs_after_end", "user_del", "user_delete", "skip",
    "force_start",
)  # fmt: skip
"""The flags of reservations of Slurm, in lower case; each but a few may have ``no_`` before it [SlurmDoc, scontrol]."""


def is_flag(text: str) -> bool:
    """Return whether a text is a flag of a reservation, which may have a value.

    >>> is_flag("maint"), is_flag("purge_comp=300"), is_flag("no_flex"), is_flag("dayly"), is_flag("MAINT")
    (True, True, True, False, False)
    """
    name = text.partition("=")[0]
    return name in RESERVATION_FLAGS or name.removeprefix("no_") in RESERVATION_FLAGS


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class SiteReservation:
    """A reservation of nodes, cores or licences for some users, or for maintenance.

    Parameters
    ----------
    name : str
        Its name.
    start, duration : int
        Unix time of its start, and its length, in s; of a repeated one, those of the first time.
    nodes : tuple of str, optional
        The names of its nodes. Empty: the scheduler chooses ``node_count`` of them.
    node_count, core_count : int, optional
        Number of nodes, and of cores on them. None: whole nodes.
    users, accounts, groups : tuple of str, optional
        Who may use it; with a ``-`` before a name, who may not.
    partition : str, optional
        The partition of its nodes. Empty: any.
    features : tuple of str, optional
        Features that its nodes must have.
    licences : mapping of str to int, optional
        Reserved licences.
    flags : tuple of str, optional
        Flags in lower case: ``"maint"``, ``"daily"``, ``"weekly"``, ``"flex"``, ``"overlap"``, ``"ignore_jobs"``, ...

    Raises
    ------
    ProblemError
        A number is not one, or there is no such flag.

    Examples
    --------
    >>> SiteReservation("maint1", start=1764043312, duration=240, nodes=("n9", "n10"), flags=("maint",)).end
    1764043552
    """

    name: str
    start: int
    duration: int
    nodes: tuple[str, ...] = ()
    node_count: int | None = None
    core_count: int | None = None
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    partition: str = ""
    features: tuple[str, ...] = ()
    licences: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"reservation {self.name!r}"
        check_whole(where, self, "start", "duration", "node_count", "core_count")
        for flag in self.flags:
            if not is_flag(flag):
                known = hint(str(flag).lower(), RESERVATION_FLAGS)
                raise ProblemError(f"{where}: there is no flag {excerpt(flag)}; {known}")

    @property
    def end(self) -> int:
        """The first second after it."""
        return self.start + self.duration


# --- The site.

SHOWN = 8  # names in one fault


@checked(deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Site:
    """A machine with its rules.

    Parameters
    ----------
    name : str
        Its name.
    nodes : sequence of SiteNode, optional
        Its nodes, in the order in which the scheduler has them.
    partitions : sequence of Partition, optional
        Its partitions, or queues.
    qos : sequence of QOS, optional
        Its QOS.
    associations : sequence of Association, optional
        Its accounts and users.
    licences : sequence of Licence, optional
        Its licences.
    reservations : sequence of SiteReservation, optional
        Its reservations.
    scheduler : SchedulerSettings or PBSSettings, optional
        How it schedules.
    kind : {"slurm", "pbs"}, optional
        Which scheduler it has.
    not_modelled : sequence of str, optional
        What its files have, influences the schedule, and no replay obeys, by name: ``"TopologyPlugin=topology/tree"``.
    events : sequence of NodeEvent, optional
        When nodes were down or drained, in Unix time.

    Raises
    ------
    ProblemError
        Two nodes, partitions, QOS, associations, licences or reservations have the same name.

    See Also
    --------
    schedlab.instances.sites.read_site : Read it from files of Slurm or PBS, or from a ``site.toml``.

    Examples
    --------
    >>> nodes = [SiteNode(f"n{k}", cores=16, memory=32_000) for k in (1, 2, 3)] + [SiteNode("g1", 16, memory=64_000)]
    >>> site = Site("lab", nodes, [Partition("batch", ("n1", "n2", "n3")), Partition("all", ("n1", "n2", "n3", "g1"))])
    >>> site.platform().nodes, [group.name for group in site.platform().groups]
    (('n1', 'n2', 'n3', 'g1'), ['n[1-3]', 'g1'])
    >>> site.partitions_of("g1"), site.faults()
    (('all',), [])
    """

    name: str
    nodes: Sequence[SiteNode] = ()
    partitions: Sequence[Partition] = ()
    qos: Sequence[QOS] = ()
    associations: Sequence[Association] = ()
    licences: Sequence[Licence] = ()
    reservations: Sequence[SiteReservation] = ()
    scheduler: SchedulerSettings | PBSSettings = field(default_factory=SchedulerSettings)
    kind: Literal["slurm", "pbs"] = "slurm"
    not_modelled: Sequence[str] = ()
    events: Sequence[NodeEvent] = ()

    def __post_init__(self) -> None:
        for each in fields(self):
            name = each.name
            if name not in ("name", "scheduler", "kind"):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for what, names in (
            ("node", [n.name for n in self.nodes]),
            ("partition", [p.name for p in self.partitions]),
            ("QOS", [q.name for q in self.qos]),
            ("association", [a.label for a in self.associations]),
            ("licence", [x.name for x in self.licences]),
            ("reservation", [r.name for r in self.reservations]),
        ):
            if len(set(names)) < len(names):
                name, times = Counter(names).most_common(1)[0]
                raise ProblemError(f"site {self.name!r}: the {what} {name!r} is given {how_many(times, 'time')}")

    @cached_property
    def _nodes(self) -> ByName[SiteNode]:
        return ByName("node", {n.name: n for n in self.nodes})

    @cached_property
    def _partitions(self) -> ByName[Partition]:
        return ByName("partition", {p.name: p for p in self.partitions})

    @cached_property
    def _qos(self) -> ByName[QOS]:
        return ByName("QOS", {q.name: q for q in self.qos})

    @cached_property
    def _associations(self) -> dict[tuple[str, str, str], Association]:
        return {(a.account, a.user, a.partition): a for a in self.associations}

    @cached_property
    def _partitions_of(self) -> dict[str, tuple[str, ...]]:
        names: dict[str, list[str]] = {n.name: [] for n in self.nodes}
        for partition in self.partitions:
            for node in partition.nodes:
                names.setdefault(node, []).append(partition.name)
        return {node: tuple(listed) for node, listed in names.items()}

    def node(self, name: str) -> SiteNode:
        """Return a node; raise UnknownName, with similar names, if there is none of this name."""
        return self._nodes[name]

    def partition(self, name: str) -> Partition:
        """Return a partition; raise UnknownName, with similar names, if there is none of this name."""
        return self._partitions[name]

    def quality(self, name: str) -> QOS:
        """Return a QOS; raise UnknownName, with similar names, if there is none of this name."""
        return self._qos[name]

    def partitions_of(self, node: str) -> tuple[str, ...]:
        """Return the names of the partitions that have a node; none for an unknown node."""
        return self._partitions_of.get(node, ())

    @property
    def default_partition(self) -> Partition | None:
        """The partition of jobs that name none; None if there is none."""
        return next((p for p in self.partitions if p.default), None)

    def platform(self) -> Platform:
        """Return the nodes and licences as a platform, which has no rules.

        Neighbouring nodes of equal capacity, features, weight and partitions are one group. ``cores`` are what the scheduler
        counts as CPUs. ``memory`` is a resource only if that of each node is known. Nodes that do not exist yet are left out;
        those that are down or drained are in it.

        Raises
        ------
        ProblemError
            There are no nodes.
        """
        nodes = [n for n in self.nodes if n.state != "future"]
        if not nodes:
            raise ProblemError(f"site {self.name!r} has no nodes")
        without_memory = any(n.memory is None for n in nodes)
        groups: list[NamedNodes] = []
        for _, group in groupby(nodes, key=self._kind_of):
            equal = list(group)
            names = tuple(n.name for n in equal)
            capacity = equal[0].capacity
            if without_memory:
                capacity.pop("memory", None)
            shown = in_ranges(sorted(names, key=natural_order))
            groups.append(NamedNodes(shown, len(names), capacity, names, features=equal[0].features))
        return Platform(groups, {x.name: x.total for x in self.licences})

    def _kind_of(self, node: SiteNode) -> tuple[Any, ...]:
        return tuple(node.capacity.items()), node.features, node.weight, self.partitions_of(node.name)

    def association(self, account: str, user: str = "", partition: str = "") -> Association | None:
        """Return an account, or a user in it: the association for a partition before that for all; None if there is none."""
        listed = self._associations
        return listed.get((account, user, partition)) or listed.get((account, user, ""))

    def ancestors(self, account: str, user: str = "", partition: str = "") -> tuple[Association, ...]:
        """Return the association of a user, its account, the account above, and so on up to the root.

        Those that do not exist are left out. Without a user, the account is the first.

        Examples
        --------
        >>> site = Site("s", associations=[
        ...     Association("root"), Association("physics", parent="root"), Association("physics", "ana")])
        >>> [a.label for a in site.ancestors("physics", "ana")]
        ['user ana of account physics', 'account physics', 'account root']
        """
        line: list[Association] = []
        if user and (own := self.association(account, user, partition)) is not None:
            line.append(own)
        above: str = account
        while above and (one := self.association(above)) is not None and one not in line:
            line.append(one)
            above = one.parent
        return tuple(line)

    def effective(self, account: str, user: str = "", partition: str = "") -> Association | None:
        """Return an association with all that it inherits: QOS, priority, and the limits of each job and user.

        A value that is missing is that of the nearest ancestor that has one; of limits that are mappings, for each resource.
        Limits of groups are its own: those of the ancestors hold beside it (``ancestors``).

        Returns
        -------
        Association or None
            None if neither the user in the account nor the account exists.

        Examples
        --------
        >>> site = Site("s", associations=[
        ...     Association("root", qos=("normal",)), Association("chem", parent="root", limits=Limits(max_jobs=4)),
        ...     Association("chem", "eva", limits=Limits(grp_tres={"cpu": 48}))])
        >>> eva = site.effective("chem", "eva")
        >>> eva.qos, eva.limits.max_jobs, eva.limits.grp_tres
        (('normal',), 4, {'cpu': 48})
        """
        line = self.ancestors(account, user, partition)
        if not line:
            return None
        own, *above = line
        values: dict[str, Any] = {name: getattr(own.limits, name) for name in INHERITED}
        qos = own.qos
        default_qos = own.default_qos
        priority = own.priority
        for one in above:
            for name in INHERITED:
                inherited = getattr(one.limits, name)
                if name in TRES_LIMITS:
                    values[name] = {**inherited, **values[name]}
                elif values[name] is None:
                    values[name] = inherited
            if qos is None:
                qos = one.qos
            if default_qos is None:
                default_qos = one.default_qos
            if priority is None:
                priority = one.priority
        return replace(own, qos=qos, default_qos=default_qos, priority=priority, limits=replace(own.limits, **values))

    def faults(self) -> list[str]:
        """Return what contradicts itself: references to nodes, partitions, QOS, accounts and licences that do not exist.

        Examples
        --------
        >>> Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1", "n2"), qos="fast")]).faults()
        ["partition p: there is no node 'n2'", "partition p: there is no QOS 'fast'; there are none"]
        """
        return [*self._faults_of_nodes(), *self._faults_of_partitions(), *self._faults_of_accounts(), *self._others()]

    def _faults_of_nodes(self) -> Iterator[str]:
        silent = [n.name for n in self.nodes if n.memory is None]
        if 0 < len(silent) < len(self.nodes):
            yield f"{how_many(len(silent), 'node')} without memory, which others have: {_first(silent)}"
        for node in self.nodes:
            if not node.cpus:
                yield f"node {node.name}: it has no CPUs"

    def _faults_of_partitions(self) -> Iterator[str]:
        accounts = {a.account for a in self.associations}
        for p in self.partitions:
            where = f"partition {p.name}"
            unknown = [name for name in p.nodes if name not in self._nodes]
            if unknown:
                yield f"{where}: there is no node {_first(unknown, quoted=True)}"
            for names in ((p.qos,) if p.qos else (), p.allow_qos or (), p.deny_qos):
                yield from self._unknown_qos(where, names)
            if accounts:  # without any, the description has no accounts
                for name in (*(p.allow_accounts or ()), *p.deny_accounts):
                    if name not in accounts:
                        yield f"{where}: there is no account {name!r}; {hint(name, sorted(accounts))}"
            if p.max_time is not None and p.default_time is not None and p.default_time > p.max_time:
                yield f"{where}: the default time of {p.default_time} s is above the greatest, {p.max_time} s"
            if p.max_nodes is not None and p.min_nodes > p.max_nodes:
                yield f"{where}: the least number of nodes, {p.min_nodes}, is above the greatest, {p.max_nodes}"
        if sum(p.default for p in self.partitions) > 1:
            yield f"{_first([p.name for p in self.partitions if p.default])} are default partitions; expected one"

    def _unknown_qos(self, where: str, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            if name not in self._qos:
                yield f"{where}: there is no QOS {name!r}; {hint(name, self._qos)}"

    def _faults_of_accounts(self) -> Iterator[str]:
        accounts = {a.account for a in self.associations if not a.user}
        for a in self.associations:
            if a.user and a.account not in accounts:
                yield f"{a.label}: there is no account {a.account!r}; {hint(a.account, sorted(accounts))}"
            if a.parent and a.parent not in accounts:
                yield f"{a.label}: there is no account {a.parent!r}, its parent; {hint(a.parent, sorted(accounts))}"
            if a.partition and a.partition not in self._partitions:
                yield f"{a.label}: there is no partition {a.partition!r}; {hint(a.partition, self._partitions)}"
            names = (*(a.qos or ()), *((a.default_qos,) if a.default_qos else ()))
            yield from self._unknown_qos(a.label, dict.fromkeys(names))
            if not a.user and not a.partition and self._is_above_itself(a):
                yield f"{a.label}: it is above itself; its parent is {a.parent!r}"

    def _is_above_itself(self, account: Association) -> bool:
        seen = {account.account}
        parent = account.parent
        while parent and (above := self.association(parent)) is not None:
            if above.account in seen:
                return above.account == account.account
            seen.add(above.account)
            parent = above.parent
        return False

    def _others(self) -> Iterator[str]:
        for quality in self.qos:
            yield from self._unknown_qos(f"QOS {quality.name}", quality.preempt)
        of_events = dict.fromkeys(name for event in self.events for name in event.nodes)
        strange = [name for name in of_events if name not in self._nodes]
        if strange:
            yield f"events of nodes: there is no node {_first(strange, quoted=True)}"
        licences = [x.name for x in self.licences]
        for r in self.reservations:
            unknown = [name for name in r.nodes if name not in self._nodes]
            if unknown:
                yield f"reservation {r.name}: there is no node {_first(unknown, quoted=True)}"
            if r.partition and r.partition not in self._partitions:
                yield f"reservation {r.name}: there is no partition {r.partition!r}; {hint(r.partition, self._partitions)}"
            for name in r.licences:
                if name not in licences:
                    yield f"reservation {r.name}: there is no licence {name!r}; {hint(name, licences)}"
            yield from self._strangers(r)

    def _strangers(self, reservation: SiteReservation) -> Iterator[str]:
        """Yield the users and accounts of a reservation that the site does not have, where it has some."""
        accounts = {a.account for a in self.associations}
        users = {a.user for a in self.associations if a.user}
        for what, known, listed in (
            ("user", users and {"root", *users}, reservation.users),
            ("account", accounts and {"root", *accounts}, reservation.accounts),
        ):
            alike = {name.lower() for name in known}
            for name in (each.removeprefix("-") for each in listed):
                if known and name.lower() not in alike:
                    yield f"reservation {reservation.name}: there is no {what} {name!r}; {hint(name, sorted(known))}"


def _first(names: Sequence[str], quoted: bool = False) -> str:
    shown = [repr(name) if quoted else name for name in names[:SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
