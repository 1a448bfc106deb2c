"""The objectives of dispatching schedules from the data alone, job by job, for the verifier.

These functions share nothing with the costs in ``objectives``, from which formulations and searches are made: a fault
there shows as a difference. All raise KeyError if a job has no start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..problem import Schedule
    from .jobs import Job
    from .problem import Dispatch


def _waits(problem: Dispatch, schedule: Schedule) -> list[tuple[Job, int, int]]:
    """Return each job, its wait in seconds, and the expected waiting time of its queue."""
    return [(j, schedule.start[j.id] - j.submit, problem.ewt[j.queue]) for j in problem.jobs]


def makespan(problem: Dispatch, schedule: Schedule) -> int:
    """Return the end of the last job in seconds; running jobs count, and ``now`` if there are no jobs."""
    ends = [schedule.start[j.id] + problem.duration(j) for j in problem.jobs]
    return max(ends + [r.end for r in problem.running], default=problem.now)


def waiting(problem: Dispatch, schedule: Schedule) -> int:
    """Return the sum of the waits in seconds."""
    return sum(wait for _, wait, _ in _waits(problem, schedule))


def weighted_wait(problem: Dispatch, schedule: Schedule) -> float:
    """Return the sum of the waits, each divided by the expected waiting time."""
    return math.fsum(wait / ewt for _, wait, ewt in _waits(problem, schedule))


def weighted_tardiness(problem: Dispatch, schedule: Schedule) -> float:
    """Return the sum of the waits beyond the expected waiting time, each divided by it."""
    return math.fsum(max(0, wait - ewt) / ewt for _, wait, ewt in _waits(problem, schedule))


def late_jobs(problem: Dispatch, schedule: Schedule) -> int:
    """Return the number of jobs that wait longer than expected."""
    return sum(wait > ewt for _, wait, ewt in _waits(problem, schedule))


def queue_priority_wait(problem: Dispatch, schedule: Schedule) -> float:
    """Return the sum of the waits, each divided by the expected waiting time and multiplied by the greatest of them."""
    greatest = max(problem.ewt.values(), default=1)
    return math.fsum(greatest * wait / ewt for _, wait, ewt in _waits(problem, schedule))


def slowdown(problem: Dispatch, schedule: Schedule) -> float:
    """Return the sum of (wait + duration) / duration; a duration counts as at least 1 s."""
    found = [(wait, max(1, problem.duration(j))) for j, wait, _ in _waits(problem, schedule)]
    return math.fsum((wait + d) / d for wait, d in found)
