"""Who goes first: priorities of waiting jobs, computed afresh at every decision (Galleguillos 2.2 and 4)."""

from __future__ import annotations

import numpy as np

from ....heuristics.kernels.profile import Floats, Ints
from .waiting import Waiting


def by_queue(now: int, jobs: Waiting) -> Floats:
    """``max(ewt) / ewt * (now - submit)``: the longest wait first, those of queues with short expected waits before others."""
    found: Floats = jobs.weight * (now - jobs.submit)
    return found


def by_slowdown(now: int, jobs: Waiting) -> Floats:
    """``(now - submit + duration) / duration``: the slowdown that the job has if it starts now."""
    found: Floats = (now - jobs.submit + jobs.duration) / jobs.duration
    return found


def ordered(priority: Floats, jobs: Waiting) -> Ints:
    """Indices of the jobs, the highest priority first; of equal ones the smaller demand, then the earlier arrival."""
    return np.lexsort((jobs.demand, -priority))
