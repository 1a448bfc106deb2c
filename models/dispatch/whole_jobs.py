"""The fields of queues and jobs that must hold whole numbers, and the check of all jobs of a dispatching problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..whole_numbers import Fields, is_whole, whole_records, wrong

if TYPE_CHECKING:
    from .jobs import Job, Running

QUEUE = Fields(one=("ewt",), pairs=("daily",))
JOB = Fields(
    ("submit", "walltime", "units"),
    ("earliest_start", "deadline", "runtime", "latest_start"),
    ("request",),
    ("windows",),
)
RUNNING = Fields(one=("start", "end"), amounts=("nodes",))


def whole_jobs(jobs: Sequence[Job], running: Sequence[Running], now: int) -> tuple[dict[str, Any], list[str]]:
    """Return ``jobs``, ``running`` and ``now`` with Python's integers, and messages for values that are not whole."""
    made, faults = whole_records(jobs, JOB, lambda j: f"job {j.id!r}")
    if not is_whole(now):
        return {}, [f"now {wrong(now)}", *faults]
    others, more = whole_running(running)
    return {"jobs": made, "running": others, "now": int(now)}, [*faults, *more]


def whole_running(running: Sequence[Running]) -> tuple[tuple[Running, ...], list[str]]:
    """Return running jobs with Python's integers, and messages for values that are not whole."""
    jobs, faults = whole_records([r.job for r in running], JOB, lambda j: f"running job {j.id!r}")
    with_job = [r if r.job is j else replace(r, job=j) for r, j in zip(running, jobs, strict=True)]
    found, more = whole_records(with_job, RUNNING, lambda r: f"running job {r.job.id!r}")
    return found, [*faults, *more]
