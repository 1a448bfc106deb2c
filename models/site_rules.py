"""The rules of a site: limits, accounts and users, QOS, and the settings of its scheduler.

Times are in seconds, memory is in MB. Trackable resources (TRES) are mappings with Slurm's names in lower case: ``cpu``, ``mem``
(MB), ``node``, ``gres/gpu``, ``gres/gpu:a100``, ``billing``, ``license/matlab``. None is "not limited" or "not known"; of a
limit that is a mapping, the names that are missing are not limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from .arguments import checked, expect, is_real, is_whole, named
from .comparing import hashable
from .platform import ProblemError
from .words import excerpt, hint, with_short_repr

Tres = Mapping[str, int]
Shares = int | Literal["parent"]

# --- Checks of values.


def check_whole(where: str, record: Any, *names: str) -> None:
    """Raise ProblemError if a field is no whole number of at least 0; None is allowed where it is the default."""
    for name in names:
        value = getattr(record, name)
        if value is None and getattr(type(record), name, 0) is None:
            continue
        if not is_whole(value) or value < 0:
            raise ProblemError(f"{where}: {name} is {excerpt(value)}; a whole number of at least 0 is expected")


def check_amounts(where: str, name: str, amounts: object) -> None:
    """Raise ProblemError if a field is no mapping of names to amounts of at least 0."""
    if not isinstance(amounts, Mapping):
        raise ProblemError(f"{where}: {name} is {excerpt(amounts)}; {{name: amount}} is expected")
    for key, amount in amounts.items():
        if not isinstance(key, str) or not is_real(amount) or amount < 0:
            raise ProblemError(f"{where}: {name} of {key!r} is {excerpt(amount)}; an amount of at least 0 is expected")


# --- Limits, accounts and users, QOS.

TRES_NAMES = ("cpu", "mem", "node", "gres/gpu", "billing", "energy", "vmem", "pages", "license/NAME", "gres/NAME")
TRES_NAME = re.compile(r"cpu|mem|node|billing|energy|vmem|pages|(gres|license|bb|fs|ic)/.+|[0-9]+")


@named
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
                check_amounts("limits", each.name, value)
                for tres in value:
                    if not TRES_NAME.fullmatch(tres):
                        raise ProblemError(
                            f"limits: {each.name} has {excerpt(tres)}, which is no resource; {hint(tres, TRES_NAMES)}"
                        )
            else:
                check_whole("limits", self, each.name)

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


ROOT = "root"  # the account above all others
TRES_LIMITS = frozenset(each.name for each in fields(Limits) if "tres" in each.name)
INHERITED = ("max_jobs", "max_submit", "max_tres_per_job", "max_tres_per_node", "max_tres_mins", "max_wall")


@named
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
        expect("limits of Association", self.limits, Limits)
        check_whole(self.label, self, "priority")
        if self.shares != "parent" and (not is_whole(self.shares) or self.shares < 0):
            raise ProblemError(
                f"{self.label}: shares is {excerpt(self.shares)}; a whole number of at least 0, or 'parent', is expected"
            )

    @property
    def label(self) -> str:
        """Its name in messages."""
        of_user = f"user {self.user} of account {self.account}"
        if self.user:
            name = of_user
        else:
            name = f"account {self.account}"
        if self.partition:
            return f"{name} in partition {self.partition}"
        return name


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
        check_whole(f"QOS {self.name!r}", self, "priority", "grace_time", "preempt_exempt_time")


# --- How the site schedules.

SELECT_TYPES = ("cons_tres", "cons_res", "linear", "cray_aries", "cray", "bluegene", "alps", "serial")
PREEMPT_TYPES = ("none", "partition_prio", "qos", "job_prio")
EnforcePartLimits = Literal["no", "any", "all"]


POSITIVE = ("bf_interval", "bf_resolution", "calc_period", "max_age", "bf_max_job_test", "fair_share_dampening")


def least_of(name: str) -> int:
    """Return the least value of a setting of `SchedulerSettings` that is a number.

    Examples
    --------
    >>> least_of("bf_interval"), least_of("weight_age"), least_of("sched_interval")
    (1, 0, -1)
    """
    if name == "sched_interval":
        return -1
    if name in POSITIVE:
        return 1
    return 0


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

    Raises
    ------
    ProblemError
        Slurm has no such ``select_type`` or ``preempt_type``, or a number is too small.

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

    def __post_init__(self) -> None:
        for name, known in (("select_type", SELECT_TYPES), ("preempt_type", PREEMPT_TYPES)):
            value = getattr(self, name)
            if value not in known:
                raise ProblemError(f"{name} is {excerpt(value)}; {hint(value, known, 'expected')}")
        for each in fields(self):
            value = getattr(self, each.name)
            if is_whole(value) and value < least_of(each.name):
                raise ProblemError(f"{each.name} is {value}; expected at least {least_of(each.name)}")

    @property
    def counts_memory(self) -> bool:
        """Whether memory is given to jobs as CPUs are; if not, what they ask for is not held against the nodes."""
        return any(word.endswith("memory") for word in self.select_parameters)

    @property
    def fair_tree(self) -> bool:
        """Whether the fair share is that of a fair tree, which is the default since Slurm 19.05."""
        return not {"no_fair_tree", "depth_oblivious"} & set(self.priority_flags)

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
    named_limits : tuple of str
        Limits of users and projects by name, which take the place of those of each user or project: of the server, ``"server
        max_run = [u:ana=5]"``, and of queues, ``"queue work max_run_res.ncpus = [p:astro=64]"``.

    Raises
    ------
    ProblemError
        A limit of ``named_limits`` is not in this form.

    Examples
    --------
    >>> settings = PBSSettings(backfill_depth=10, named_limits=("queue work max_run_res.ncpus = [p:astro=64]",))
    >>> settings.by_queue, settings.named[0]
    (True, NamedLimit(queue='work', counts='ncpus', kind='p', name='astro', most=64))
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
    named_limits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for text in self.named_limits:
            if not isinstance(text, str) or not NAMED_LIMIT.fullmatch(text):
                raise ProblemError(
                    f"named_limits has {excerpt(text)}; expected a limit such as 'server max_run = [u:ana=5]'"
                )

    @property
    def named(self) -> tuple[NamedLimit, ...]:
        """The limits of users and projects by name."""
        parts = [match.groups() for text in self.named_limits if (match := NAMED_LIMIT.fullmatch(text))]
        return tuple(
            NamedLimit(queue or "", counts or "", kind, name, int(n)) for queue, counts, kind, name, n in parts
        )


class NamedLimit(NamedTuple):
    """A limit of PBS on the running jobs of a user or a project.

    Attributes
    ----------
    queue
        The queue whose jobs it counts; empty: all of the server.
    counts
        The resource that it counts, with PBS's name (memory in MB); empty: jobs.
    kind
        ``"u"``: a user; ``"p"``: a project.
    name
        The user or the project.
    most
        The limit.
    """

    queue: str
    counts: str
    kind: str
    name: str
    most: int


NAMED_LIMIT = re.compile(
    r"(?:server|queue (\S+)) max_run(?:_res\.(\w+))? = \[([up]):([^=\]\s]+)=(\d{1,18})\]", re.ASCII
)
