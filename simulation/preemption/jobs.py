"""On-demand jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...errors import WrongValue
from ...models import Platform
from ...models.excerpt import with_short_repr
from ...models.platform import LATEST
from ...models.whole_numbers import is_number, is_whole, shown

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
