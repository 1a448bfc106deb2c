"""The jobs of a replay that follows the rules of Slurm: what was asked, and what happened to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import WrongValue
from ...instances.files.lines import WorkloadError
from ...instances.formats.slurm_values import hosts_of
from ...instances.workload import Workload
from ...models.array_types import Ints
from ...models.dispatch.site_request import NOTHING, SiteRequest
from .columns import PLACE_COLUMNS

ENDED_WELL = "COMPLETED"


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
        return self.attempts[0].start if self.attempts else None


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
    WrongValue
        The log does not say what the jobs asked of their site.

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
    site = workload.site
    if site is None:
        raise WrongValue(
            f"the log {workload.name} does not say what its jobs asked of their site (partition, account, QOS, nodes)"
        )
    offset = workload.unix_start or 0
    made = []
    named = False
    for k, name in enumerate(workload.ids):
        start = int(workload.recorded_start[k]) if workload.recorded_start is not None else -1
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
            if state == "CANCELLED":
                cancelled = end
        if not attempts and (cancelled is None or cancelled <= submit):
            continue
        named = named or any(attempt.nodes for attempt in attempts)
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
    if made and not named:
        raise WorkloadError(
            f"{workload.name} does not name the nodes of its jobs; expected the column NodeList of sacct"
        )
    return sorted(made, key=lambda job: (job.submit, job.number, job.task))


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
