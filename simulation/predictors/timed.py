"""A predictor as a replay calls it: its answers are checked, and its time is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import SchedlabError
from ...instances.workload import Workload
from ...models.excerpt import excerpt, with_short_repr
from ...models.returned import WrongAnswer, returned_wholes
from ...models.whole_numbers import is_whole, whole_array, wrong
from ..given_parts import notes_of, seen_by
from ..result import SimulationError
from .predictor import Predictor

Ints = NDArray[np.int64]
R = TypeVar("R")


@with_short_repr
class TimedPredictor:
    """A predictor that checks the answers of another one and measures its wall time, and otherwise behaves as it.

    Attributes
    ----------
    seconds : float
        Wall time of all calls of ``begin``, ``predict`` and ``learn`` so far, in seconds.

    Raises
    ------
    SimulationError
        By all methods: if the predictor raises, or returns durations that are no whole seconds of at least 1, a wrong
        number of them, or users that are none.
    """

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self._ids: Sequence[str] = ()
        self._users = 0
        self.seconds = 0.0

    @property
    def name(self) -> str:
        """The name of the predictor."""
        return self._predictor.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on data that the trace lacks; none if the predictor has no ``notes``."""
        return notes_of(self._predictor)

    def begin(self, workload: Workload) -> Ints | None:
        """Prepare for a replay; see ``Predictor.begin``."""
        self._ids, self._users = workload.ids, len(workload.users)
        predicted = self._call("begin", lambda: self._predictor.begin(seen_by(self._predictor, workload)))
        if predicted is None:
            return None
        try:
            return returned_wholes(f"predictor {self.name}: begin", predicted, len(workload), "jobs", 1, "of seconds ")
        except WrongAnswer as e:
            message = str(e)
        values, fault = whole_array(predicted) if np.shape(predicted) == (len(workload),) else (None, None)
        if fault is None and values is not None:
            fault = next(((j, value) for j, value in enumerate(values.tolist()) if value < 1), None)
        if fault is None:
            raise SimulationError(message)
        self._refuse(fault[0], fault[1])

    def predict(self, job: int) -> int:
        """Return the expected duration of a job in seconds."""
        predicted = self._call("predict", lambda: self._predictor.predict(job))
        if not is_whole(predicted) or not 1 <= predicted < 2**63:
            self._refuse(job, predicted)
        return int(predicted)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record that a job has ended; return the users whose expected durations may have changed."""
        users = self._call("learn", lambda: self._predictor.learn(job, took))
        if isinstance(users, tuple) and not users:
            return ()
        if not isinstance(users, Collection | np.ndarray) or not all(
            is_whole(u) and 0 <= u < self._users for u in users
        ):
            raise SimulationError(
                f"predictor {self.name}: learn returned {excerpt(users)}; expected the numbers of the users whose "
                f"expected durations may have changed, each from 0 to {self._users - 1}, or ()"
            )
        return tuple(int(u) for u in users)

    def _call(self, method: str, call: Callable[[], R]) -> R:
        began = time.perf_counter()
        try:
            return call()
        except SchedlabError:
            raise
        except Exception as e:
            raise SimulationError(f"predictor {self.name} raised in {method}: {type(e).__name__}: {e}") from e
        finally:
            self.seconds += time.perf_counter() - began

    def _refuse(self, job: int, predicted: object) -> NoReturn:
        """Raise SimulationError for the duration of a job that is no whole number of seconds, or below 1."""
        name = self._ids[job]
        why = wrong(predicted)
        if is_whole(predicted):
            why = f"is {excerpt(predicted)} s; at least 1 s {'and below 2**63 s ' if predicted > 0 else ''}is expected"
        raise SimulationError(f"predictor {self.name}: the duration of job {name!r} {why}", job=name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._predictor, name)
