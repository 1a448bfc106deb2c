"""The protocol of predictors of the duration of jobs."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Workload

Ints = NDArray[np.int64]


class Predictor(Protocol):
    """The protocol of predictors: an object that returns the expected duration of each job of a workload.

    A job is its row in the workload. Durations are whole seconds, at least 1. The predictors of schedlab, except
    ``real``, never predict more than the walltime. The simulator calls ``begin`` once. If it returns None, the
    simulator calls ``learn`` for each job that ends, and ``predict`` for each job that arrives and again for each
    waiting job of the users that ``learn`` returns.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    notes : tuple of str
        Remarks on data that the trace lacks, set by ``begin``; they go to ``Simulation.notes``.
    """

    @property
    def name(self) -> str:
        """The name in results and error messages."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on data that the trace lacks."""

    def begin(self, workload: Workload) -> Ints | None:
        """Prepare for a replay.

        Returns
        -------
        ndarray of int64, shape (jobs,), or None
            The expected durations in seconds, if they never change during the replay; else None.
        """

    def predict(self, job: int) -> int:
        """Return the expected duration of a job in seconds, given the jobs that have ended so far."""

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record that a job has ended after ``took`` seconds.

        Returns
        -------
        tuple of int
            The users (values of ``workload.user``) whose expected durations may have changed.
        """
