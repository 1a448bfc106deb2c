"""What a job is expected to take: walltime, data-driven (rules over a user's earlier jobs), last two, real."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..instances.workload import Workload

Ints = NDArray[np.int64]


class Predictor(Protocol):
    """Expected durations of the jobs of one workload, by row; at least 1 s and at most the walltime (``real``: the runtime).

    ``fixed``: the expectations of all jobs never change during a replay (None: they do, ask ``predict``).
    """

    name: str
    notes: tuple[str, ...]  # what the trace lacks and what stands for it

    def begin(self, workload: Workload) -> Ints | None:
        """A replay begins: all expectations, if they never change; else None."""

    def predict(self, job: int) -> int:
        """The duration to expect of a job (row of the workload), by what has ended so far."""

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """A job ended after so many seconds; the users (``workload.user``) whose expectations may have changed."""
