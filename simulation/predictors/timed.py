"""A predictor whose time is measured."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Workload
from .predictor import Predictor

Ints = NDArray[np.int64]


class TimedPredictor:
    """A predictor that measures the wall time of another one, and otherwise behaves as it.

    Attributes
    ----------
    seconds : float
        Wall time of all calls of ``begin``, ``predict`` and ``learn`` so far, in seconds.
    """

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self.seconds = 0.0

    @property
    def name(self) -> str:
        """The name of the predictor."""
        return self._predictor.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on data that the trace lacks."""
        return self._predictor.notes

    def begin(self, workload: Workload) -> Ints | None:
        """Prepare for a replay; see ``Predictor.begin``."""
        began = time.perf_counter()
        found = self._predictor.begin(workload)
        self.seconds += time.perf_counter() - began
        return found

    def predict(self, job: int) -> int:
        """Return the expected duration of a job in seconds."""
        began = time.perf_counter()
        found = self._predictor.predict(job)
        self.seconds += time.perf_counter() - began
        return found

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record that a job has ended; return the users whose expected durations may have changed."""
        began = time.perf_counter()
        found = self._predictor.learn(job, took)
        self.seconds += time.perf_counter() - began
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._predictor, name)
