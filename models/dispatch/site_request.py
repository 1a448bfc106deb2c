"""What a job asked of the scheduler of its site beyond amounts of resources, and what that scheduler recorded of it.

A solver and a dispatcher of schedlab's own need none of this; a replay that follows the rules of a site does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...errors import WrongValue
from ..arguments import is_whole, shown
from ..excerpt import with_short_repr

KINDS = (
    "after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer", "expand", "singleton",
    "before", "beforeany", "beforeok", "beforenotok", "on",
)  # fmt: skip  # of Slurm; of PBS too
PER = ("node", "task", "socket", "job")
MOST = 10**15


@with_short_repr
class Dependency(NamedTuple):
    """A condition on other jobs under which a job becomes eligible.

    Parameters
    ----------
    kind : str
        Slurm's name: ``afterok`` (they ended well), ``afterany`` (they ended), ``afternotok``, ``after`` (they started),
        ``aftercorr`` (the task of the same index ended well), ``singleton`` (no other job of the user with this name runs).
    jobs : tuple of str
        Ids of the other jobs or job arrays; empty for ``singleton``.
    delay : int
        Seconds after the start of the other jobs; for ``after`` only.
    """

    kind: str
    jobs: tuple[str, ...] = ()
    delay: int = 0


@with_short_repr
class Gres(NamedTuple):
    """A request of generic resources, such as two GPUs of type a100 on each node.

    Parameters
    ----------
    name : str
        The name, ``gpu`` as a rule.
    type : str
        The type; "" for any.
    number : int
        How many.
    per : str
        What the number is for: ``node``, ``task``, ``socket`` or ``job``.
    """

    name: str
    type: str
    number: int
    per: str


@with_short_repr
class RecordedAttempt(NamedTuple):
    """An attempt to run a job that ended before the job was done: preempted, requeued, or stopped by a fault of a node.

    Parameters
    ----------
    submit, start, end : int
        Times in seconds; -1: unknown.
    state : str
        How it ended, such as ``NODE_FAIL``.
    nodes : str
        Its nodes, as written: ``n[1-4,7]``.
    """

    submit: int
    start: int
    end: int
    state: str
    nodes: str


@with_short_repr
@dataclass(frozen=True)
class SiteRequest:
    """What a job asked of the scheduler of its site, in the terms of that scheduler.

    A text that is empty and a number that is None were not asked for, or are not recorded. Equal requests of many jobs are
    one object.

    Parameters
    ----------
    account, qos : str
        The account that is charged; the quality of service.
    partitions : tuple of str
        The partitions that the job may run in; it takes one of them.
    min_nodes, max_nodes : int or None
        Number of nodes. ``-N 4`` is 4 and 4.
    cpus : int or None
        CPUs of the whole job, as requested.
    tasks, tasks_per_node, cpus_per_task : int or None
        Tasks, tasks on each node, CPUs of each task.
    memory_per_cpu, memory_per_node, memory_per_gpu : int or None
        Memory in MB. 0 MB per node is all memory of the node.
    gres : tuple of Gres
        Generic resources, as GPUs are.
    exclusive : str
        ``"node"``: no other job on its nodes; ``"user"``, ``"mcs"``: none of another user, of another label; ``"no"``: the
        job shares its resources (``--oversubscribe``).
    contiguous : bool
        Whether the nodes must be neighbours.
    features : str
        Features that the nodes must have, as written: ``a100&nvme``, ``[rack1|rack2]``.
    nodes, excluded_nodes : str
        Lists of nodes: those that must be among the nodes of the job, and those that must not; ``n[1-4,7]``.
    licences : str
        Licences, as written: ``matlab:2,ansys``.
    reservation : str
        The reservation that the job runs in; with commas, one of several.
    nice : int
        What the user took off the priority.
    dependencies : tuple of Dependency
        Conditions on other jobs.
    any_dependency : bool
        Whether one of them is enough.
    begin : int
        Seconds after the submit time before which the job is not eligible (``--begin``).
    array_limit : int or None
        Tasks of the array of the job that may run at once.
    held : bool
        Whether it was submitted on hold.
    requeue : bool or None
        Whether the job may be run again after a preemption or a fault of a node; None: as the site has set.

    Examples
    --------
    >>> SiteRequest(account="chem", partitions=("batch",), min_nodes=2, gres=(Gres("gpu", "a100", 1, "node"),)).gpus("node")
    {'a100': 1}
    """

    account: str = ""
    qos: str = ""
    partitions: tuple[str, ...] = ()
    min_nodes: int | None = None
    max_nodes: int | None = None
    cpus: int | None = None
    tasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    memory_per_cpu: int | None = None
    memory_per_node: int | None = None
    memory_per_gpu: int | None = None
    gres: tuple[Gres, ...] = ()
    exclusive: str = ""
    contiguous: bool = False
    features: str = ""
    nodes: str = ""
    excluded_nodes: str = ""
    licences: str = ""
    reservation: str = ""
    nice: int = 0
    dependencies: tuple[Dependency, ...] = ()
    any_dependency: bool = False
    begin: int = 0
    array_limit: int | None = None
    held: bool = False
    requeue: bool | None = None

    def __post_init__(self) -> None:
        for name in NUMBERS:
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and 0 <= value <= MOST):
                raise WrongValue(f"{name} is {shown(value)}; a whole number of at least 0, or None, is expected")

    def gpus(self, per: str) -> dict[str, int]:
        """Return the GPUs that were asked for each node, task, socket or the job, by type; "" is any type."""
        amounts: dict[str, int] = {}
        for each in self.gres:
            if each.name == "gpu" and each.per == per:
                amounts[each.type] = amounts.get(each.type, 0) + each.number
        return amounts


@with_short_repr
@dataclass(frozen=True)
class Recorded:
    """What the scheduler of a site recorded of a job. Times are in seconds; None or "": unknown.

    Parameters
    ----------
    start : int or None
        The start of the job.
    eligible : int or None
        The time from which it could have started: no dependency, hold or begin time any more.
    cancelled : int or None
        The time at which it left the queue without having run: it was cancelled there, or the log ended.
    priority : int or None
        Its last priority.
    cpus : int or None
        The CPUs that it had in all, where that is not what its units ask for, which have equal shares, rounded up.
    nodes : str
        Its nodes, as written: ``n[1-4,7]``.
    state, reason : str
        Its last state; why it waited last.
    attempts : tuple of RecordedAttempt
        Earlier attempts to run it.
    """

    start: int | None = None
    eligible: int | None = None
    cancelled: int | None = None
    priority: int | None = None
    cpus: int | None = None
    nodes: str = ""
    state: str = ""
    reason: str = ""
    attempts: tuple[RecordedAttempt, ...] = ()


NUMBERS = (
    "min_nodes", "max_nodes", "cpus", "tasks", "tasks_per_node", "cpus_per_task", "memory_per_cpu", "memory_per_node",
    "memory_per_gpu", "begin", "array_limit",
)  # fmt: skip
NOTHING = SiteRequest()
NOTHING_RECORDED = Recorded()
