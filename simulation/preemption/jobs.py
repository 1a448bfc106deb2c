"""On-demand jobs, and their rows in a workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import WrongValue
from ...heuristics.kernels.events.machine import counted
from ...instances.workload import Workload
from ...models import Job, Platform, Queue, Running
from ...models.excerpt import with_short_repr
from ...models.platform import LATEST
from ...models.whole_numbers import is_number, is_whole, shown
from ..engine.states.begun import with_rows

QUEUE = "on-demand"
TOO_LARGE = "need more nodes than the reserved ones leave, left out"
LEAST = {"submit": 0, "nodes": 1, "start_within": 0, "duration": 1, "notice": 0}


@with_short_repr
@dataclass(frozen=True)
class OnDemandJob:
    """A job that must start soon after its submission, on nodes of its own.

    Parameters
    ----------
    id : str
        The name of the job.
    submit : int
        The time in seconds, on the clock of the workload, from which on it can start.
    nodes : int
        The number of whole nodes that it needs.
    start_within : int
        Seconds from ``submit`` within which it should start.
    duration : int
        Its duration in seconds, which is known.
    notice : int, default 0
        Seconds before ``submit`` at which it is announced; the nodes can be freed from then on.
    power : float, optional
        Its power in watts while it runs, above 0; required with a power cap.

    Examples
    --------
    >>> job = OnDemandJob("scan-1", submit=3600, nodes=512, start_within=900, duration=1800)
    >>> job.latest_start, job.announced
    (4500, 3600)
    """

    id: str
    submit: int
    nodes: int
    start_within: int
    duration: int
    notice: int = 0
    power: float | None = None

    @property
    def latest_start(self) -> int:
        """The time in seconds by which it should start."""
        return self.submit + self.start_within

    @property
    def announced(self) -> int:
        """The time in seconds from which on it is known."""
        return self.submit - self.notice


def faults_of(job: OnDemandJob) -> Iterator[tuple[str, str, object]]:
    """Yield (field, expected, found) for each wrong value of a job."""
    if not isinstance(job.id, str) or not job.id:
        yield "id", "a text", job.id
    for name, least in LEAST.items():
        value = getattr(job, name)
        if not is_whole(value) or not least <= value <= LATEST:
            yield name, f"a whole number of at least {least}", value
    if job.power is not None and not (is_number(job.power) and job.power > 0):
        yield "power", "watts above 0", job.power


def check_jobs(jobs: Sequence[OnDemandJob], platform: Platform | None = None) -> None:
    """Raise WrongValue if jobs have wrong values or the same id, or need more nodes than a machine has."""
    found = [
        f"on-demand job {shown(j.id)}: {where}: expected {expected}, found {shown(value)}"
        for j in jobs
        for where, expected, value in faults_of(j)
    ]
    found += [f"on-demand job {name!r} is listed {n} times" for name, n in Counter(j.id for j in jobs).items() if n > 1]
    if platform is not None and not found:
        most = len(platform.nodes)
        found += [
            f"on-demand job {j.id!r}: nodes: expected at most {most}, the nodes of the machine, found {j.nodes}"
            for j in jobs
            if j.nodes > most
        ]
    if found:
        raise WrongValue("\n".join(found[:10]) + (f"\n... and {len(found) - 10} more" if len(found) > 10 else ""))


def with_on_demand(
    workload: Workload,
    platform: Platform,
    jobs: Iterable[OnDemandJob],
    reserved: int = 0,
    begun: Collection[str] = (),
) -> tuple[Workload, tuple[int, ...]]:
    """Return a workload with rows for on-demand jobs, and these rows.

    The rows are in the queue ``on-demand``; ``latest_start`` is the time by which they should start. Batch jobs that do
    not fit beside ``reserved`` nodes are left out and listed in ``workload.report``.

    Parameters
    ----------
    workload : Workload
        The batch jobs.
    platform : Platform
        The machine: equal nodes, of which a unit of a job has more than half.
    jobs : iterable of OnDemandJob
        The on-demand jobs.
    reserved : int
        Nodes that batch jobs may not use.
    begun : collection of str
        Ids of batch jobs that run at the begin of the replay; none of them is left out.

    Raises
    ------
    WrongValue
        If a job is wrong, has the id of a batch job, needs more nodes than the machine has, or the machine or the batch
        jobs are not of this kind.
    """
    listed = tuple(jobs)
    check_jobs(listed, platform)
    same = set(workload.ids) & {j.id for j in listed}
    if same:
        raise WrongValue(f"on-demand job {sorted(same)[0]!r}: a batch job has this id; expected another one")
    if not counted(workload, platform):
        raise WrongValue(
            "preemption needs a machine of equal nodes, with at most one job unit on a node: here nodes differ, or "
            "several units fit on one"
        )
    if reserved:
        workload = _beside_reserved(workload, platform, reserved, begun)
    if not listed:
        return workload, ()
    request = dict(zip(platform.resources, next(iter(platform.capacity.values())), strict=True))
    request = {name: amount for name, amount in request.items() if amount and name in workload.resources}
    ewt = max(1, max(j.start_within for j in listed))
    known = any(q.name == QUEUE for q in workload.queues)
    whole = workload if known else replace(workload, queues=(*workload.queues, Queue(QUEUE, ewt)))
    made = [
        Job(
            j.id, j.submit, j.duration, j.nodes, request, QUEUE, runtime=j.duration, user=QUEUE, name=QUEUE,
            latest_start=j.latest_start, power=j.power,
        )
        for j in listed
    ]  # fmt: skip
    found = with_rows(whole, [(Running(job, job.submit, {}, job.submit + job.walltime),) for job in made])
    row = {name: k for k, name in enumerate(found.ids)}
    return found, tuple(row[j.id] for j in listed)


def _beside_reserved(workload: Workload, platform: Platform, reserved: int, begun: Collection[str]) -> Workload:
    """Return the workload without the jobs that need more nodes than the reserved ones leave."""
    left = len(platform.nodes) - reserved
    if left < 1:
        raise WrongValue(f"reserve:{reserved}: expected fewer than the {len(platform.nodes)} nodes of the machine")
    gone = [k for k in np.flatnonzero(workload.units > left).tolist() if workload.ids[k] not in begun]
    if not gone:
        return workload
    kept = np.ones(len(workload), np.bool_)
    kept[gone] = False
    why = [
        (workload.ids[k], f"needs {workload.units[k]} nodes, {reserved} are reserved, {left} are left") for k in gone
    ]
    return workload.keep(kept, workload.report.and_also({TOO_LARGE: len(gone)}, why))
