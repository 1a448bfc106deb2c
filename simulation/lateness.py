"""The waits of the jobs against the expected waiting times of their queues, and by queue [Bridi2018, 3.4 and 4.5]."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..instances.workload import Workload

Ints = NDArray[np.int64]
OF_EWT = (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10)  # edges of the histogram of wait / ewt


def thesis_lateness(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, float | None]:
    """Return the metrics of [Bridi2018, 4.5] that depend on the waits: AQ, WQT, NL, TR, WT."""
    if not wait.size:
        return dict.fromkeys(("AQ", "WQT", "NL", "TR", "WT"))
    ewt = np.array([q.ewt for q in workload.queues], np.int64)[workload.queue[done]]
    delay = np.maximum(0, wait - ewt)
    return {
        "AQ": float(wait.mean()),
        "WQT": float((wait / ewt).sum()),
        "NL": int((delay > 0).sum()),
        "TR": int(delay.sum()),
        "WT": float((delay / ewt).sum()),
    }


def wait_over_ewt(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, int]:
    """Return the histogram of wait / ewt; a bin holds its upper edge, not its lower one."""
    if not wait.size:
        return {}
    ewt = np.array([q.ewt for q in workload.queues], np.int64)[workload.queue[done]]
    counts = np.bincount(np.searchsorted(OF_EWT, wait / ewt, side="left"), minlength=len(OF_EWT) + 1)
    names = ["0", *(f"{a:g}-{b:g}" for a, b in pairwise(OF_EWT)), f"above {OF_EWT[-1]:g}"]
    return dict(zip(names, counts.tolist(), strict=True))


def wait_contribution(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, float]:
    """Return queue -> sum of the waits of its jobs / number of all jobs."""
    if not wait.size:
        return {}
    total = np.bincount(workload.queue[done], wait, len(workload.queues))
    return {q.name: float(t) / wait.size for q, t in zip(workload.queues, total.tolist(), strict=True)}
