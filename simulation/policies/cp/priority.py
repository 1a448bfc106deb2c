"""Priorities of waiting jobs, computed at every decision [Galleguillos2019, 2.2 and 4]."""

from __future__ import annotations

import numpy as np

from ....heuristics.kernels.profile import Floats, Ints
from .waiting import Waiting


def of_version(version: int, now: int, jobs: Waiting) -> Floats:
    """Return the priority of each job: in version 3 its slowdown, before that its wait weighted by queue."""
    return by_slowdown(now, jobs) if version >= 3 else by_queue(now, jobs)


def by_queue(now: int, jobs: Waiting) -> Floats:
    """Return ``max(ewt) / ewt * (now - submit)`` for each job: the wait in seconds, weighted by queue.

    ``ewt`` is the expected waiting time of the job's queue, the maximum is over all queues.
    """
    found: Floats = jobs.weight * (now - jobs.submit)
    return found


def by_slowdown(now: int, jobs: Waiting) -> Floats:
    """Return ``(now - submit + duration) / duration`` for each job: its slowdown if it starts now."""
    found: Floats = (now - jobs.submit + jobs.duration) / jobs.duration
    return found


def ordered(priority: Floats, jobs: Waiting) -> Ints:
    """Return the indices of the jobs, highest priority first; ties by smaller demand, then by earlier arrival."""
    return np.lexsort((jobs.demand, -priority))
