"""The jobs of a replay that follows the rules of Slurm: what was asked, and what happened to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...errors import WrongValue
from ...instances.files.reading import WorkloadError
from ...instances.formats.slurm_values import hosts_of
from ...instances.site_columns import SiteColumns
from ...instances.workload import Workload
from ...models.array_types import Ints
from ...models.dispatch.jobs import NOTHING, SiteRequest
from ...models.site import SchedulerSettings, Site
from .columns import PLACE_COLUMNS

ENDED_WELL = "COMPLETED"
CANCELLED = "CANCELLED"


@dataclass(frozen=True)
class SlurmAttempt:
    """One recorded run of a job.

    Parameters
    ----------
    start, end : int
        Unix times in s.
    nodes : tuple of str
        The names of its nodes.
    state : str
        The state in which it ended, with Slurm's name.
    """

    start: int
    end: int
    nodes: tuple[str, ...] = ()
    state: str = ENDED_WELL


@dataclass(frozen=True)
class SlurmJob:
    """A job, or a task of a job array.

    Parameters
    ----------
    id : str
        Its name: ``"12"``, ``"12_3"``.
    user : str
        The user.
    submit : int
        Unix time in s at which it was submitted.
    limit : int, optional
        Time limit in s. None: the default of its partition.
    request : SiteRequest, optional
        What it asked for.
    name : str, optional
        The job's name, for ``singleton``.
    array : str, optional
        The job array that it is a task of. Empty: none.
    number : int, optional
        The number of the job, or of its array, by which equal jobs are ordered; the task.
    task : int, optional
        Its index in the array.
    attempts : sequence of SlurmAttempt, optional
        Its recorded runs, in order. A job without one never ran.
    cancelled : int, optional
        Unix time in s at which it was cancelled, waiting or running. None: it was not.
    group : str, optional
        The group of the user.
    priority : int, optional
        The priority that was recorded at its last start. None: it was not.
    """

    id: str
    user: str
    submit: int
    limit: int | None = None
    request: SiteRequest = NOTHING
    name: str = ""
    array: str = ""
    number: int = 0
    task: int = 0
    attempts: tuple[SlurmAttempt, ...] = field(default=())
    cancelled: int | None = None
    group: str = ""
    priority: int | None = None

    @property
    def start(self) -> int | None:
        """The start of its first run; None if it never ran."""
        if self.attempts:
            return self.attempts[0].start
        return None

    @property
    def wait(self) -> int | None:
        """Seconds that it waited, before all its runs; None if it never ran.

        >>> SlurmJob("7", "ana", 10, attempts=(SlurmAttempt(15, 25), SlurmAttempt(145, 200))).wait
        125
        """
        if not self.attempts:
            return None
        *earlier, last = self.attempts
        return last.start - self.submit - sum(run.end - run.start for run in earlier)


def _hosts(job: str, nodes: str) -> tuple[str, ...]:
    """Return the names in a list of nodes; raise WorkloadError, with the job, if it is none of Slurm."""
    try:
        return tuple(hosts_of(nodes))
    except WrongValue as e:
        raise WorkloadError(f"job {job!r}: {e}; is this a log of Slurm?") from None


def slurm_jobs(workload: Workload) -> list[SlurmJob]:
    r"""Return the jobs of a log with what they asked of their site and what was recorded, in Unix time.

    Jobs that were refused at their submission are left out; those that were cancelled in the queue are jobs if the log was
    read with them (``Trace.with_cancelled``).

    Parameters
    ----------
    workload : Workload
        The log.

    Raises
    ------
    WorkloadError
        The log does not say what the jobs asked of their site, or on which nodes they ran.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from schedlab.instances.formats.sacct import read_sacct
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "jobs.txt")
    ...     head = "JobID|Partition|Account|Submit|Start|End|Timelimit|NNodes|NCPUS|NodeList|State"
    ...     row = "7|batch|chem|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T10:15:00|00:20:00|1|4|n3|COMPLETED"
    ...     _ = log.write_text(f"{head}\n{row}\n")
    ...     (job,) = slurm_jobs(read_sacct(log))
    >>> job.id, job.limit, job.request.account, job.attempts[0].nodes
    ('7', 1200, 'chem', ('n3',))
    """
    site = check_asked(workload)
    check_nodes_named(workload)
    offset = workload.unix_start or 0
    made = []
    for k, name in enumerate(workload.ids):
        start = -1
        if workload.recorded_start is not None:
            start = int(workload.recorded_start[k])
        recorded = site.recorded(k, start)
        submit = int(workload.submit[k])
        attempts = [
            SlurmAttempt(each.start + offset, each.end + offset, _hosts(name, each.nodes), each.state)
            for each in recorded.attempts
            if each.start >= 0 and each.nodes
        ]
        if recorded.attempts:
            submit = min(submit, *(each.submit for each in recorded.attempts if each.submit >= 0))
        cancelled = recorded.cancelled
        if start >= 0 and cancelled is None:
            end = start + int(workload.runtime[k])
            state = recorded.state or ENDED_WELL
            attempts.append(SlurmAttempt(start + offset, end + offset, _hosts(name, recorded.nodes), state))
            if state == CANCELLED:
                cancelled = end
        if not attempts and (cancelled is None or cancelled <= submit):
            continue
        array, number, task = number_of(name, k)
        made.append(
            SlurmJob(
                id=name,
                user=workload.users[int(workload.user[k])],
                submit=submit + offset,
                limit=int(workload.walltime[k]),
                request=_sized(site.asked(k), workload, k),
                name=workload.programs[int(workload.program[k])],
                array=array,
                number=number,
                task=task,
                attempts=tuple(attempts),
                cancelled=None if cancelled is None else cancelled + offset,
                priority=recorded.priority,
            )
        )
    return sorted(made, key=lambda job: (job.submit, job.number, job.task))


def check_asked(workload: Workload) -> SiteColumns:
    """Return what the jobs of a log asked of their site; raise WorkloadError if the log does not say it."""
    if workload.site is None:
        raise WorkloadError(
            f"the log {workload.name} does not say what its jobs asked of their site (partition, account, QOS, nodes)"
        )
    return workload.site


def check_nodes_named(workload: Workload) -> None:
    """Raise WorkloadError if jobs of a log ran, and it names no node of any of them."""
    site = check_asked(workload)
    ran = (workload.recorded_start >= 0) & ~site.of_queue
    named = any(site.texts[k] for k in np.unique(site.nodes[ran]).tolist())
    named = named or any(each.nodes for attempts in site.attempts.values() for each in attempts if each.start >= 0)
    if ran.any() and not named:
        raise WorkloadError(
            f"{workload.name} does not name the nodes of its jobs; expected the column NodeList of sacct"
        )


def _sized(request: SiteRequest, workload: Workload, row: int) -> SiteRequest:
    """Return a request with what the job was given, where the log does not say how many CPUs it asked for."""
    if request.cpus is not None or request.tasks is not None or "cores" not in workload.resources:
        return request
    cores = int(workload.units[row]) * int(workload.request[row, workload.resources.index("cores")])
    return replace(request, cpus=cores)


def places_of(jobs: Sequence[SlurmJob]) -> Ints:
    """Return the places of jobs among those of equal priority, shape (jobs, PLACE_COLUMNS): submission, number, task."""
    places: Ints = np.array([(job.submit, job.number, job.task) for job in jobs], np.int64)
    return places.reshape(-1, PLACE_COLUMNS)


def number_of(name: str, row: int) -> tuple[str, int, int]:
    """Return the array of a job, its number (else its row), and its task."""
    match = re.fullmatch(r"(\d+)_(\d+)", name, re.ASCII)
    if match:
        return match[1], int(match[1]), int(match[2])
    return "", int(name) if re.fullmatch(r"\d{1,18}", name, re.ASCII) else row, 0


# --- The rows of a replay, as Slurm has them: as submitted, not as they ran.


def as_submitted(workload: Workload, site: Site) -> Workload:
    """Return the rows of a replay as they were submitted, for a scheduler that knows what holds a job and divides its CPUs.

    A log has as many equal units as a job had nodes. A job that asked for CPUs, and not for some on each node, has a unit for
    each CPU or task instead, so that it may be divided otherwise; also one with whole nodes, which takes as many as have these
    CPUs. One with GPUs on each node, whose number Slurm chooses, takes them on each node beside its units. Jobs arrive when they were submitted, not when their
    dependencies were met in the log; those that were submitted on hold, when they were released.

    Parameters
    ----------
    workload : Workload
        All rows of the replay, on the site.
    site : Site
        The site, of kind ``"slurm"``.
    """
    w = workload
    if w.site is None:
        return w
    held = np.array([request.held for request in w.site.requests], np.bool_)[w.site.request]
    recorded = w.site.eligible == w.release  # else the release is one of the replay's own
    release = np.where(held | ~recorded, w.release, w.submit)
    return _by_cpu(replace(w, release=release), site)


class Division(NamedTuple):
    """How a job may be divided: into how many units, the CPUs of each and its MB, and on how many nodes at least.

    ``beside_units``: whether all else that the log has for each unit is taken once on each node.
    """

    units: int
    cpus: int
    memory: int
    nodes: int
    beside_units: bool = False


def _by_cpu(workload: Workload, site: Site) -> Workload:
    """Return the rows in which jobs have a unit for each CPU or task that they asked for, where these may be on any nodes."""
    w = workload
    settings = site.scheduler
    if w.site is None or "cores" not in w.resources or not isinstance(settings, SchedulerSettings):
        return w
    cores = w.resources.index("cores")
    memory = -1
    if "memory" in w.resources:
        memory = w.resources.index("memory")
    core = max(threads_of(site, settings), default=1)
    units = w.units.copy()
    request = w.request.copy()
    if memory >= 0 and not settings.counts_memory:
        request[:, memory] = 0
    terms = {term: k for k, term in enumerate(w.node_terms)}
    of_row = w.node_term.copy()
    known: dict[tuple[int, ...], Division | None] = {}
    begun = {running.job.id for running in w.running}  # on their nodes already
    for row, key in enumerate(np.column_stack([w.site.request, w.units, w.request[:, cores]]).tolist()):
        term = w.node_terms[int(of_row[row])]
        if w.ids[row] in begun or row in w.chunks:
            continue
        if (*key, term.whole_nodes) not in known:
            asked = w.site.asked(row)
            if term.whole_nodes:
                found = _division_of_whole(asked, site, settings)
            elif asked.gres:
                found = _division_with_gpus(asked, key[1], key[2], core, site, settings)
            else:
                found = _division(asked, key[1], key[2], core, site, settings)
            known[*key, term.whole_nodes] = found
        division = known[*key, term.whole_nodes]
        if division is None:
            continue
        units[row] = division.units
        request[row, cores] = division.cpus
        if memory >= 0:
            request[row, memory] = division.memory
        per_node = None
        if division.nodes > 1:
            per_node = division.units - division.nodes + 1
        term = term._replace(per_node=per_node)
        if division.beside_units:
            term = term._replace(each_node=_take_off(request[row], w.resources))
        of_row[row] = terms.setdefault(term, len(terms))
    return replace(w, units=units, request=request, node_term=of_row, node_terms=tuple(terms))


def without_rounding(workload: Workload, site: Site) -> Workload:
    """Return the rows of a log in which jobs whose CPUs are no multiple of their nodes have a unit for each CPU or task.

    A log has equal units, which are rounded up: 5 CPUs on nodes of 1 and 4 are no 2 units of 3, which would not fit there.
    """
    w = workload
    settings = site.scheduler
    if w.site is None or "cores" not in w.resources or not isinstance(settings, SchedulerSettings):
        return w
    cores = w.resources.index("cores")
    core = max(threads_of(site, settings), default=1)
    asked_cpus = np.array([request.cpus or 0 for request in w.site.requests], np.int64)[w.site.request]
    units = w.units.copy()
    request = w.request.copy()
    for row in np.flatnonzero((asked_cpus > 0) & (w.units * w.request[:, cores] > asked_cpus)).tolist():
        division = _division(w.site.asked(row), int(units[row]), int(request[row, cores]), core, site, settings)
        if division is None:
            continue
        units[row] = division.units
        request[row, cores] = division.cpus
        if "memory" in w.resources:
            request[row, w.resources.index("memory")] = division.memory
    return replace(w, units=units, request=request)


def _take_off(request: Ints, resources: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Take what is neither CPUs nor memory off a request, and return it."""
    taken = []
    for k, name in enumerate(resources):
        if name not in ("cores", "memory") and request[k]:
            taken.append((name, int(request[k])))
            request[k] = 0
    return tuple(taken)


def _division(
    asked: SiteRequest, units: int, cpus_of_unit: int, core: int, site: Site, settings: SchedulerSettings
) -> Division | None:
    """Return how a job may be divided that has so many units in the log; None: it may not, or the log has other CPUs.

    ``core``: the CPUs of a core, which go to one job.
    """
    of_cpu = memory_of_cpu(asked, site, settings)
    if of_cpu is None or not may_be_divided(asked):
        return None
    of_task = asked.cpus_per_task or 1
    number = -(-max(asked.cpus or 0, (asked.tasks or 0) * of_task) // max(of_task, core))
    each = -(-of_task // core) * core
    if number < 1 or abs(units * cpus_of_unit - number * each) >= units * core:
        return None
    return Division(number, each, each * of_cpu, min(number, asked.min_nodes or 1))


def _division_with_gpus(
    asked: SiteRequest, units: int, cpus_of_unit: int, core: int, site: Site, settings: SchedulerSettings
) -> Division | None:
    """Return how a job with GPUs for each node may be divided, whose number Slurm chooses; None: as in the log."""
    if asked.max_nodes is not None or any(each.per != "node" or each.name != "gpu" for each in asked.gres):
        return None
    division = _division(replace(asked, gres=()), units, cpus_of_unit, core, site, settings)
    if division is None:
        return None
    return division._replace(beside_units=True)


def _division_of_whole(asked: SiteRequest, site: Site, settings: SchedulerSettings) -> Division | None:
    """Return how a job with whole nodes is divided: Slurm chooses as many nodes as have its CPUs; None: as in the log.

    The log has units as large as the nodes on which the job ran; it asked for less.
    """
    of_cpu = memory_of_cpu(asked, site, settings)
    if of_cpu is None or asked.gres or asked.tasks_per_node or asked.memory_per_node is not None:
        return None
    if asked.cpus is None and asked.tasks is None and asked.min_nodes is None:  # it is not told
        return None
    nodes = asked.min_nodes or 1
    cpus = asked.cpus or 1
    if asked.tasks is not None:
        cpus = max(asked.tasks * (asked.cpus_per_task or 1), cpus)
    elif asked.min_nodes:
        cpus = nodes
    cpus = max(cpus, nodes)
    return Division(cpus, 1, of_cpu, nodes)


def threads_of(site: Site, settings: SchedulerSettings) -> list[int]:
    """Return the CPUs of the least part of each node that a job may have: those of a core, unless CPUs are given one by one."""
    by_cpu = any(word.startswith("cr_cpu") for word in settings.select_parameters)
    nodes = [n for n in site.nodes if n.state != "future"]
    return [1 if by_cpu or n.cpus < n.cores * n.threads else n.threads for n in nodes]


def may_be_divided(asked: SiteRequest) -> bool:
    """Return whether the CPUs of a job may be on any nodes, with nothing that belongs to a node as a whole."""
    of_nodes = (asked.gres, asked.tasks_per_node, asked.memory_per_node is not None, asked.exclusive == "node")
    return not any(of_nodes)


def memory_of_cpu(asked: SiteRequest, site: Site, settings: SchedulerSettings) -> int | None:
    """Return the memory in MB that a job takes for each CPU; None: it takes that of nodes as a whole."""
    if not settings.counts_memory:
        return 0
    part = next((p for p in site.partitions if p.name in asked.partitions), None)
    if part is not None:
        of_part = (part.def_mem_per_cpu, part.def_mem_per_node)
    else:
        of_part = (None, None)
    for of_cpu, of_node in (
        (asked.memory_per_cpu, None),
        of_part,
        (settings.def_mem_per_cpu, settings.def_mem_per_node),
    ):
        if of_cpu is not None or of_node is not None:
            return of_cpu
    return None
