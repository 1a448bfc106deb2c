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
from .counts import how_many
from .excerpt import excerpt, with_short_repr
from .node_states import NodeEvent
from .platform import NamedNodes, Platform, ProblemError
from .unknown_names import ByName, hint
from .whole_numbers import is_real, is_whole

Tres = Mapping[str, int]
Shares = int | Literal["parent"]

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
        _check_whole(where, self, "cores", "threads", "memory", "weight", "cpus")
        if self.threads < 1:
            raise ProblemError(f"{where}: threads is {self.threads}; at least 1 is expected")
        if self.state not in NODE_STATES:
            raise ProblemError(f"{where}: state is {excerpt(self.state)}; {hint(self.state, NODE_STATES, 'expected')}")
        for name in ("gpus", "gres"):
            _check_amounts(where, name, getattr(self, name))
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


def _place(name: str) -> tuple[str, str, int, bool, str]:
    """Return a name as its parts: before and after its last number, the digits if there are leading zeros, the number."""
    match = TAIL.fullmatch(name)
    assert match is not None  # each of its parts may be empty
    head, digits, tail = match.groups()
    width = len(digits) if digits.startswith("0") and len(digits) > 1 else 0
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
        _check_whole(where, self, *numbers, *memory, "def_cpu_per_gpu", "grace_time", "over_time_limit")
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


# --- Limits, accounts and users, QOS.


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Limits:
    """The limits of an account, a user or a QOS. None: not limited; of a mapping, what it does not name is not limited.

    Those whose names begin with ``grp_`` hold for all jobs of the account with its descendants, of the user in it, or of
    the QOS together; the ``max_`` ones for each job, user or account.

    Parameters
    ----------
    grp_tres : mapping of str to int, optional
        Greatest amounts of all running jobs.
    grp_jobs, grp_submit : int, optional
        Greatest number of running jobs, and of running and waiting ones.
    grp_wall : int, optional
        Greatest sum of the elapsed times of all jobs in s; it decays as the usage does.
    grp_tres_mins : mapping of str to int, optional
        Greatest usage of past, running and future jobs in TRES-minutes; past usage decays.
    grp_tres_run_mins : mapping of str to int, optional
        Greatest sum, over the running jobs, of amount times remaining time limit in TRES-minutes.
    max_jobs, max_submit : int, optional
        Of an association: greatest number of running jobs, and of running and waiting ones, of each user.
    max_tres_per_job, max_tres_per_node : mapping of str to int, optional
        Greatest amounts of one job, and of one job on one node.
    max_tres_mins : mapping of str to int, optional
        Greatest TRES-minutes of one job.
    max_wall : int, optional
        Greatest time limit of one job in s.
    max_jobs_per_user, max_submit_per_user, max_tres_per_user : optional
        Of a QOS: the same for the jobs of one user in it.
    max_jobs_per_account, max_submit_per_account, max_tres_per_account : optional
        Of a QOS: the same for the jobs of one account in it.
    min_tres : mapping of str to int, optional
        Of a QOS: least amounts of one job.

    Examples
    --------
    >>> limits = Limits(grp_tres={"cpu": 112}, max_jobs=4)
    >>> limits.grp_tres.get("cpu"), limits.grp_tres.get("mem"), bool(limits), bool(Limits())
    (112, None, True, False)
    """

    grp_tres: Tres = field(default_factory=dict)
    grp_jobs: int | None = None
    grp_submit: int | None = None
    grp_wall: int | None = None
    grp_tres_mins: Tres = field(default_factory=dict)
    grp_tres_run_mins: Tres = field(default_factory=dict)
    max_jobs: int | None = None
    max_submit: int | None = None
    max_tres_per_job: Tres = field(default_factory=dict)
    max_tres_per_node: Tres = field(default_factory=dict)
    max_tres_mins: Tres = field(default_factory=dict)
    max_wall: int | None = None
    max_jobs_per_user: int | None = None
    max_submit_per_user: int | None = None
    max_tres_per_user: Tres = field(default_factory=dict)
    max_jobs_per_account: int | None = None
    max_submit_per_account: int | None = None
    max_tres_per_account: Tres = field(default_factory=dict)
    min_tres: Tres = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in TRES_LIMITS:
                _check_amounts("limits", each.name, value)
            else:
                _check_whole("limits", self, each.name)

    def __bool__(self) -> bool:
        """Return whether anything is limited."""
        return any(bool(value) if isinstance(value, Mapping) else value is not None for _, value in self.given())

    def given(self) -> Iterator[tuple[str, int | Tres]]:
        """Yield the name and the value of each limit that is given.

        >>> dict(Limits(grp_jobs=5, grp_tres={"cpu": 8}).given())
        {'grp_tres': {'cpu': 8}, 'grp_jobs': 5}
        """
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and value != {}:
                yield each.name, value


TRES_LIMITS = frozenset(each.name for each in fields(Limits) if "tres" in each.name)
INHERITED = ("max_jobs", "max_submit", "max_tres_per_job", "max_tres_per_node", "max_tres_mins", "max_wall")


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Association:
    """An account, or a user in an account, perhaps in one partition alone.

    Parameters
    ----------
    account : str
        The account.
    user : str, optional
        The user. Empty: the account itself.
    partition : str, optional
        The partition in which this holds. Empty: all.
    parent : str, optional
        Of an account, the account above it. Empty: none, as of ``root``. The parent of a user is its account.
    shares : int or "parent", optional
        Fair share among its siblings; ``"parent"``: the user has that of its account.
    default_qos : str, optional
        QOS of jobs that name none. None: inherited.
    qos : tuple of str, optional
        The QOS that its jobs may have. None: inherited.
    priority : int, optional
        Its part of the priority of jobs, times PriorityWeightAssoc. None: inherited.
    limits : Limits, optional
        Its limits.

    Examples
    --------
    >>> Association("chem", parent="root", shares=40, limits=Limits(grp_tres={"cpu": 112})).label
    'account chem'
    >>> Association("chem", "eva", shares=10, qos=("normal", "high")).label
    'user eva of account chem'
    """

    account: str
    user: str = ""
    partition: str = ""
    parent: str = ""
    shares: Shares = 1
    default_qos: str | None = None
    qos: tuple[str, ...] | None = None
    priority: int | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        _check_whole(self.label, self, "priority")
        if self.shares != "parent" and (not is_whole(self.shares) or self.shares < 0):
            raise ProblemError(
                f"{self.label}: shares is {excerpt(self.shares)}; a whole number of at least 0, or 'parent', is expected"
            )

    @property
    def label(self) -> str:
        """Its name in messages."""
        of_user = f"user {self.user} of account {self.account}"
        name = of_user if self.user else f"account {self.account}"
        return f"{name} in partition {self.partition}" if self.partition else name


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class QOS:
    """A quality of service.

    Parameters
    ----------
    name : str
        Its name.
    priority : int, optional
        Its priority; relative to the greatest of all QOS, its part of the priority of a job.
    limits : Limits, optional
        Its limits.
    preempt : tuple of str, optional
        The QOS whose jobs its jobs may preempt.
    preempt_mode : str, optional
        What happens to its jobs when they are preempted: ``"cancel"``, ``"requeue"``, ``"suspend"``. None: as the site says.
    preempt_exempt_time : int, optional
        Seconds that its jobs run before they may be preempted. None: as the site says.
    grace_time : int, optional
        Seconds that its preempted jobs have to end.
    usage_factor : float, optional
        What its usage counts in the fair share and in limits of minutes.
    usage_threshold : float, optional
        Jobs of associations whose fair share factor is below it do not run. None: no threshold.
    limit_factor : float, optional
        Factor on the ``grp_tres`` limits of associations for its jobs. None: 1.
    flags : tuple of str, optional
        Flags in lower case: ``"denyonlimit"``, ``"noreserve"``, ``"overpartqos"``, ``"usagefactorsafe"``, ...

    Examples
    --------
    >>> QOS("limited", priority=5, limits=Limits(max_jobs_per_user=3)).limits.max_jobs_per_user
    3
    """

    name: str
    priority: int = 0
    limits: Limits = field(default_factory=Limits)
    preempt: tuple[str, ...] = ()
    preempt_mode: str | None = None
    preempt_exempt_time: int | None = None
    grace_time: int = 0
    usage_factor: float = 1.0
    usage_threshold: float | None = None
    limit_factor: float | None = None
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_whole(f"QOS {self.name!r}", self, "priority", "grace_time", "preempt_exempt_time")


@checked(values=False, deep=False)
@with_short_repr
@dataclass(frozen=True)
class Licence:
    """A licence: its name and how many there are.

    >>> Licence("matlab", 20)
    Licence(name='matlab', total=20)
    """

    name: str
    total: int

    def __post_init__(self) -> None:
        _check_whole(f"licence {self.name!r}", self, "total")


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
        _check_whole(f"reservation {self.name!r}", self, "start", "duration", "node_count", "core_count")

    @property
    def end(self) -> int:
        """The first second after it."""
        return self.start + self.duration


# --- How the site schedules.

EnforcePartLimits = Literal["no", "any", "all"]


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class SchedulerSettings:
    """How Slurm schedules: the parameters of ``slurm.conf`` that decide which job starts when. Defaults are Slurm's.

    Parameters
    ----------
    scheduler_type : str
        ``"backfill"`` or ``"builtin"``.
    default_queue_depth : int
        Jobs that the main scheduler looks at when a job is submitted or ends.
    partition_job_depth : int
        The same for the jobs of one partition; 0: no limit.
    sched_interval : int
        Seconds between two passes of the main scheduler over all jobs; -1: none.
    sched_min_interval : int
        Microseconds between two passes of the main scheduler, at least.
    sched_max_job_start : int
        Jobs that one pass of the main scheduler starts; 0: no limit.
    max_sched_time : int, optional
        Seconds of a pass of the main scheduler. None: half of MessageTimeout.
    batch_sched_delay : int
        Seconds by which starts of batch jobs may be delayed at submission.
    defer : bool
        Whether no start is tried at submission.
    assoc_limit_stop : bool
        Whether a job that waits for a limit of its association holds the lower ones of its partition back.
    bf_interval, bf_max_time, bf_resolution, bf_window, bf_min_age_reserve : int
        Seconds: between two passes of backfilling; of a pass (None: ``bf_interval``); a step of its map; the length of its map
        (``slurm.conf`` has minutes); the age from which a job holds a reservation.
    bf_max_job_test, bf_max_job_part, bf_max_job_user, bf_max_job_user_part, bf_max_job_assoc, bf_max_job_start : int
        Jobs that a pass looks at: in all, of a partition, a user, a user in a partition, an association; jobs that it starts.
        0: no limit.
    bf_max_job_array_resv : int
        Tasks of one array that hold reservations.
    bf_job_part_count_reserve : int
        Jobs of each partition, from the highest priority, that hold reservations; 0: all.
    bf_min_prio_reserve : int
        Least priority of jobs that hold reservations; 0: all.
    bf_continue, bf_busy_nodes, bf_one_resv_per_job, bf_running_job_reserve, bf_licenses, bf_ignore_newly_avail_nodes : bool
        As Slurm describes them.
    bf_yield_interval, bf_yield_sleep : int
        Microseconds after which backfilling lets others work, and for how long.
    pack_serial_at_end, preempt_strict_order, preempt_youngest_first, time_min_as_soft_limit : bool
        As Slurm describes them.
    preempt_reorder_count : int
        How often preemption tries to find fewer victims.
    select_type : str
        ``"cons_tres"``, ``"cons_res"`` or ``"linear"``.
    select_parameters : tuple of str
        SelectTypeParameters in lower case, such as ``("cr_core_memory",)``.
    priority_type : str
        ``"basic"`` (first come, first served) or ``"multifactor"``.
    weight_age, weight_assoc, weight_fairshare, weight_job_size, weight_partition, weight_qos : int
        The weights of the parts of the priority.
    weight_tres : mapping of str to float
        The weights of resources; ``mem`` per MB.
    max_age, decay_half_life, calc_period : int
        Seconds: age with the full part of the priority; half-life of usage (0: none); between two updates of usage.
    usage_reset_period : str
        ``"none"``, ``"now"``, ``"daily"``, ``"weekly"``, ``"monthly"``, ``"quarterly"``, ``"yearly"``.
    favor_small : bool
        Whether small jobs have the greater part of the size.
    priority_flags : tuple of str
        PriorityFlags in lower case, such as ``"no_fair_tree"``, ``"max_tres"``, ``"depth_oblivious"``, ``"accrue_always"``.
    fair_share_dampening : int
        FairShareDampeningFactor, for the fair share that is no fair tree.
    preempt_type : str
        ``"none"``, ``"partition_prio"`` or ``"qos"``.
    preempt_mode : tuple of str
        ``("off",)``, ``("requeue",)``, ``("suspend", "gang")``, ...
    preempt_exempt_time : int
        Seconds that a job runs before it may be preempted.
    over_time_limit, kill_wait, complete_wait, resv_over_run : int, optional
        Seconds: beyond the limit of a job (None: not limited); from its first signal to its end; that a completing job keeps
        others waiting; beyond the end of a reservation.
    def_mem_per_cpu, def_mem_per_node, def_mem_per_gpu, max_mem_per_cpu, max_mem_per_node, def_cpu_per_gpu : int, optional
        As those of partitions, for all partitions that give none.
    enforce_part_limits : {"no", "any", "all"}
        Whether jobs beyond the limits of their partitions are refused at submission, instead of held.
    accounting_enforce : tuple of str
        AccountingStorageEnforce in lower case: ``"associations"``, ``"limits"``, ``"qos"``, ``"safe"``, ...
    job_requeue : bool
        Whether batch jobs come back after a failure of a node or a preemption.
    max_array_size, max_job_count : int
        Greatest index of a task plus 1; jobs that the controller keeps.

    Examples
    --------
    >>> s = SchedulerSettings(priority_type="multifactor", select_parameters=("cr_core_memory",), weight_age=1000)
    >>> s.fair_tree, s.counts_memory, s.bf_interval
    (True, True, 30)
    """

    scheduler_type: str = "backfill"
    default_queue_depth: int = 100
    partition_job_depth: int = 0
    sched_interval: int = 60
    sched_min_interval: int = 2
    sched_max_job_start: int = 0
    max_sched_time: int | None = None
    batch_sched_delay: int = 3
    defer: bool = False
    assoc_limit_stop: bool = False
    bf_interval: int = 30
    bf_max_time: int | None = None
    bf_resolution: int = 60
    bf_window: int = 86_400
    bf_min_age_reserve: int = 0
    bf_max_job_test: int = 500
    bf_max_job_part: int = 0
    bf_max_job_user: int = 0
    bf_max_job_user_part: int = 0
    bf_max_job_assoc: int = 0
    bf_max_job_start: int = 0
    bf_max_job_array_resv: int = 20
    bf_job_part_count_reserve: int = 0
    bf_min_prio_reserve: int = 0
    bf_continue: bool = False
    bf_busy_nodes: bool = False
    bf_one_resv_per_job: bool = False
    bf_running_job_reserve: bool = False
    bf_licenses: bool = False
    bf_ignore_newly_avail_nodes: bool = False
    bf_yield_interval: int = 2_000_000
    bf_yield_sleep: int = 500_000
    pack_serial_at_end: bool = False
    preempt_strict_order: bool = False
    preempt_youngest_first: bool = False
    preempt_reorder_count: int = 1
    time_min_as_soft_limit: bool = False
    select_type: str = "cons_tres"
    select_parameters: tuple[str, ...] = ()
    priority_type: str = "multifactor"
    weight_age: int = 0
    weight_assoc: int = 0
    weight_fairshare: int = 0
    weight_job_size: int = 0
    weight_partition: int = 0
    weight_qos: int = 0
    weight_tres: Mapping[str, float] = field(default_factory=dict)
    max_age: int = 604_800
    decay_half_life: int = 604_800
    calc_period: int = 300
    usage_reset_period: str = "none"
    favor_small: bool = False
    priority_flags: tuple[str, ...] = ()
    fair_share_dampening: int = 1
    preempt_type: str = "none"
    preempt_mode: tuple[str, ...] = ("off",)
    preempt_exempt_time: int = 0
    over_time_limit: int | None = 0
    kill_wait: int = 30
    complete_wait: int = 0
    resv_over_run: int | None = 0
    def_mem_per_cpu: int | None = None
    def_mem_per_node: int | None = None
    def_mem_per_gpu: int | None = None
    max_mem_per_cpu: int | None = None
    max_mem_per_node: int | None = None
    def_cpu_per_gpu: int | None = None
    enforce_part_limits: EnforcePartLimits = "no"
    accounting_enforce: tuple[str, ...] = ()
    job_requeue: bool = True
    max_array_size: int = 1001
    max_job_count: int = 10_000

    @property
    def counts_memory(self) -> bool:
        """Whether memory is given to jobs as CPUs are; if not, what they ask for is not held against the nodes."""
        return any(word.endswith("memory") for word in self.select_parameters)

    @property
    def fair_tree(self) -> bool:
        """Whether the fair share is that of a fair tree, which is the default since Slurm 19.05."""
        return "no_fair_tree" not in self.priority_flags

    @property
    def enforces_associations(self) -> bool:
        """Whether jobs need an association."""
        return bool({"associations", "limits", "qos", "safe", "wckeys", "all"} & set(self.accounting_enforce))

    @property
    def enforces_limits(self) -> bool:
        """Whether the limits of associations and QOS are obeyed."""
        return bool({"limits", "safe", "all"} & set(self.accounting_enforce))

    @property
    def enforces_qos(self) -> bool:
        """Whether jobs need a QOS that their association has."""
        return bool({"qos", "all"} & set(self.accounting_enforce))


@checked(values=False, deep=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class PBSSettings:
    """How PBS schedules: attributes of the server, and lines of ``sched_config``. Defaults are those of PBS.

    Parameters
    ----------
    job_sort_formula : str
        The formula of the priority. Empty: ``job_sort_key``, or the order of submission.
    job_sort_key, node_sort_key : tuple of str
        As in ``sched_config``: ``"cput LOW"``, ``"sort_priority HIGH"``.
    strict_ordering, by_queue, round_robin, fair_share, help_starving_jobs, backfill_prime : bool
        As in ``sched_config``.
    backfill_depth : int
        Jobs for which backfilling reserves, in the order of the queue.
    max_starve : int
        Seconds from which a waiting job is starving.
    eligible_time : bool
        Whether the time that a job could have run is counted.
    node_groups : tuple of str
        The resources whose values make placement sets (``node_group_key``). Empty: none.
    limits : Limits
        The limits of the server: of all jobs (``grp_``), and of each user (``max_..._per_user``).

    Examples
    --------
    >>> PBSSettings(backfill_depth=10).by_queue
    True
    """

    job_sort_formula: str = ""
    job_sort_key: tuple[str, ...] = ()
    node_sort_key: tuple[str, ...] = ()
    strict_ordering: bool = False
    by_queue: bool = True
    round_robin: bool = False
    fair_share: bool = False
    help_starving_jobs: bool = True
    backfill_prime: bool = False
    backfill_depth: int = 1
    max_starve: int = 86_400
    eligible_time: bool = False
    node_groups: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


# --- The site.

ROOT = "root"
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
            groups.append(NamedNodes(in_ranges(names), len(names), capacity, names, features=equal[0].features))
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
        qos, default_qos, priority = own.qos, own.default_qos, own.priority
        for one in above:
            for name in INHERITED:
                inherited = getattr(one.limits, name)
                if name in TRES_LIMITS:
                    values[name] = {**inherited, **values[name]}
                elif values[name] is None:
                    values[name] = inherited
            qos = one.qos if qos is None else qos
            default_qos = one.default_qos if default_qos is None else default_qos
            priority = one.priority if priority is None else priority
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


def _first(names: Sequence[str], quoted: bool = False) -> str:
    shown = [repr(name) if quoted else name for name in names[:SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _check_whole(where: str, record: Any, *names: str) -> None:
    """Raise ProblemError if a field is no whole number of at least 0; None is allowed where it is the default."""
    for name in names:
        value = getattr(record, name)
        if value is None and getattr(type(record), name, 0) is None:
            continue
        if not is_whole(value) or value < 0:
            raise ProblemError(f"{where}: {name} is {excerpt(value)}; a whole number of at least 0 is expected")


def _check_amounts(where: str, name: str, amounts: object) -> None:
    if not isinstance(amounts, Mapping):
        raise ProblemError(f"{where}: {name} is {excerpt(amounts)}; {{name: amount}} is expected")
    for key, amount in amounts.items():
        if not isinstance(key, str) or not is_real(amount) or amount < 0:
            raise ProblemError(f"{where}: {name} of {key!r} is {excerpt(amount)}; an amount of at least 0 is expected")
