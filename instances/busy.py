"""Busy beginnings: the jobs that run, and the jobs that wait, when a replay begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ..models.dispatch.jobs import Job, Running
from ..models.dispatch.whole_jobs import whole_running
from ..models.platform import LATEST
from ..models.whole_numbers import is_whole, wrong


def running_at(
    begin: int, running: Iterable[Running], others: Collection[str]
) -> tuple[tuple[Running, ...], list[str]]:
    """Return the jobs that run at ``begin`` (s) and what is wrong with them; jobs that have ended by then are left out.

    ``others``: ids of the jobs that do not run.
    """
    if not is_whole(begin):
        return (), [f"the begin {wrong(begin)}"]
    if begin < 0:
        return (), [f"the begin is {begin}; at least second 0 is expected"]
    listed = tuple(running)
    strange = [f"{r!r:.100} is no Running (schedlab.models)" for r in listed if not isinstance(r, Running)]
    if strange:
        return (), strange
    listed, faults = whole_running(listed)
    if faults:
        return (), faults
    seen: set[str] = set()
    for r in listed:
        name, units = r.job.id, sum(r.nodes.values())
        if name in others or name in seen:
            faults.append(f"job {name!r} runs at the begin and is listed a second time")
        seen.add(name)
        if r.start > begin:
            faults.append(f"job {name!r} runs at the begin, {begin}, but starts at {r.start}")
        if max(abs(r.start), abs(r.end), r.job.runtime or 0) > LATEST:
            faults.append(f"job {name!r}: a time beyond {LATEST:,} s (317 years) is not supported")
        if r.job.runtime is not None and r.job.runtime < 0:
            faults.append(f"job {name!r}: a runtime of {r.job.runtime} s; at least 0 is expected")
        if r.job.units < 1 or (r.nodes and (units != r.job.units or min(r.nodes.values()) < 1)):
            faults.append(f"job {name!r} runs with {r.job.units} units; the units on its nodes are {dict(r.nodes)}")
        if any(amount < 0 for amount in r.job.request.values()):
            faults.append(f"job {name!r}: requests {dict(r.job.request)}; amounts of at least 0 are expected")
    return tuple(r for r in listed if r.true_end > begin), faults


def ending_at_walltime(running: Iterable[Running]) -> tuple[Running, ...]:
    """Return running jobs that end at their walltime if their runtime is longer."""
    return tuple(
        r
        if r.job.runtime is None or r.job.runtime <= r.job.walltime
        else replace(r, job=replace(r.job, runtime=r.job.walltime))
        for r in running
    )


def moved(r: Running, seconds: int) -> Running:
    """Return a running job with all its times later by ``seconds``."""
    return replace(r, start=r.start + seconds, end=r.end + seconds, job=_moved(r.job, seconds))


def _moved(job: Job, seconds: int) -> Job:
    return replace(
        job,
        submit=job.submit + seconds,
        earliest_start=None if job.earliest_start is None else job.earliest_start + seconds,
        deadline=None if job.deadline is None else job.deadline + seconds,
        latest_start=None if job.latest_start is None else job.latest_start + seconds,
        windows=tuple((lo + seconds, hi + seconds) for lo, hi in job.windows),
    )
