"""The fields of queues and jobs that must hold whole numbers, and the check of all jobs of a dispatching problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from ..platform import LATEST
from ..unknown_names import hint
from ..whole_numbers import Fields, is_number, is_whole, shown, whole_records, wrong
from .chunks.chunk import chunk_faults, whole_chunks

if TYPE_CHECKING:
    from .jobs import Job, Running
    from .problem import Dispatch

QUEUE = Fields(one=("ewt",), pairs=("daily",), names=("name",))
JOB = Fields(
    ("submit", "walltime", "units"),
    ("earliest_start", "deadline", "runtime", "latest_start"),
    ("request",),
    ("windows",),
    ("id", "queue", "user", "name", "array"),
)
NO_POWER = frozenset([NoneType])
RUNNING = Fields(one=("start", "end"), amounts=("nodes",))


def whole_jobs(jobs: Sequence[Job], running: Sequence[Running], now: int) -> tuple[dict[str, Any], list[str]]:
    """Return ``jobs``, ``running`` and ``now`` with Python's integers, and messages for values that are not whole."""
    made, faults = whole_records(jobs, JOB, lambda j: f"job {j.id!r}")
    if not is_whole(now):
        return {}, [f"now {wrong(now)}", *faults]
    if any(type(j.chunks) is not tuple or j.chunks for j in made):
        with_chunks = [whole_chunks(j) for j in made]
        made = tuple(j for j, _ in with_chunks)
        faults = [*faults, *(why for _, found in with_chunks for why in found)]
    others, more = whole_running(running)
    more += [
        f"running job {r.job.id!r} has chunks; each of its parts (Job.parts) is expected as a running job of its own"
        for r in others
        if r.job.chunks
    ]
    return {"jobs": made, "running": others, "now": int(now)}, [*faults, *more]


def power_faults(jobs: Sequence[Job]) -> list[str]:
    """Return a message for each power that is no number of watts of at least 0."""
    powers = [j.power for j in jobs]
    if NO_POWER.issuperset(map(type, powers)):  # the common case, kept fast
        return []
    return [
        f"job {j.id!r}: its power is {shown(power)} W; a number of at least 0, or None, is expected"
        for j, power in zip(jobs, powers, strict=True)
        if power is not None and not (is_number(power) and power >= 0)
    ]


def whole_running(running: Sequence[Running]) -> tuple[tuple[Running, ...], list[str]]:
    """Return running jobs with Python's integers, and messages for values that are not whole."""
    jobs, faults = whole_records([r.job for r in running], JOB, lambda j: f"running job {j.id!r}")
    with_job = [r if r.job is j else replace(r, job=j) for r, j in zip(running, jobs, strict=True)]
    found, more = whole_records(with_job, RUNNING, lambda r: f"running job {r.job.id!r}")
    return found, [*faults, *more]


def contradictions(p: Dispatch) -> list[str]:
    """Return a message for each contradiction in the data."""
    faults = []
    if not isinstance(p.durations, str) or p.durations not in ("walltime", "runtime"):
        faults.append(f"durations must be 'walltime' or 'runtime', not {p.durations!r}")
    queues = {q.name for q in p.queues}
    names = sorted(queues)
    whole_run = {q.name: q for q in reversed(p.queues) if q.whole_run}
    for name, count in Counter([j.id for j in p.jobs] + [r.job.id for r in p.running]).items():
        if count > 1:
            faults.append(f"job {name!r} is listed {count} times")
    faults += [f"queue {n!r} is listed {c} times" for n, c in Counter(q.name for q in p.queues).items() if c > 1]
    known = set(p.platform.resources)
    for j in p.jobs:
        if j.queue not in queues:
            faults.append(
                f"job {j.id!r}: queue {j.queue!r} is not declared; {hint(j.queue, names, none='no queues are declared')}"
            )
        if j.walltime < 1:
            faults.append(f"job {j.id!r}: walltime is {j.walltime} s; at least 1 s is expected")
        if j.runtime is not None and j.runtime < 0:
            faults.append(f"job {j.id!r}: runtime is {j.runtime} s; at least 0 s, or None, is expected")
        hours = whole_run.get(j.queue)
        if hours is not None and not hours.hours(j.walltime):
            faults.append(
                f"job {j.id!r}: walltime {j.walltime} s does not fit into a daily window of queue {j.queue!r} (whole_run)"
            )
        times = (
            j.submit,
            j.walltime,
            j.runtime,
            j.earliest_start,
            j.deadline,
            j.latest_start,
            *(t for w in j.windows for t in w),
        )
        if any(t is not None and abs(t) > LATEST for t in times):
            faults.append(f"job {j.id!r}: a time beyond {LATEST:,} s (317 years) is not supported")
        for part in j.parts:
            if part.units < 1:
                faults.append(f"job {part.id!r}: {part.units} units; at least 1 is expected")
            for resource, amount in part.request.items():
                if amount < 0:
                    faults.append(f"job {part.id!r}: requests {amount} {resource}; at least 0 is expected")
                elif amount > 0 and resource not in known:
                    has = hint(resource, p.platform.resources, "the platform has", "the platform has no resources")
                    faults.append(f"job {part.id!r}: requests {amount} {resource}; {has}")
        for lo, hi in j.windows:
            if lo > hi:
                faults.append(f"job {j.id!r}: the start window ({lo}, {hi}) ends before it begins")
    faults.extend(power_faults([*p.jobs, *(r.job for r in p.running)]))
    faults.extend(chunk_faults(p.jobs))
    for r in p.running:
        missing = [n for n in r.nodes if n not in p.platform.capacity]
        faults.extend(f"running job {r.job.id!r}: there is no node {n!r}" for n in missing)
    return faults
