"""What a running solver reports: the best answer with its objective recomputed, the best bound, and the trace of both."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..models.language import Assignment, Model
from .base import Exactness, Incumbent
from .gaps import close, refutes, rounded, unit_of

OnIncumbent = Callable[[Incumbent], Any]
Judge = Callable[[Assignment], float | None]


class Recorder:
    """The Watch of a run: recomputes every objective, keeps the best answer and the trace."""

    def __init__(
        self,
        model: Model,
        origin: Model,
        exactness: Exactness,
        began: float,
        call: OnIncumbent | None,
        judge: Judge | None,
        settled: Sequence[float] = (),
    ) -> None:
        self.settled = tuple(settled)  # optima of the objectives before this one
        self.model = model
        self.origin = origin
        self.judge = judge or self._value
        self.relaxation = exactness.kind == "relaxation"
        self.proves_bounds = exactness.kind != "restriction"
        self.began = began
        self.call = call
        self.best: Assignment | None = None
        self.relaxed: Assignment | None = None
        self.objective: float | None = None
        self.known_bound: float | None = None
        self.whole = all(e.integral for e in model.objectives[:1])
        self.trace: list[Incumbent] = []
        self.stopped = False
        self.failure: Exception | None = None
        self._lock = threading.Lock()

    @property
    def sign(self) -> int:
        return 1 if self.model.sense == "minimize" else -1

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        with self._lock:
            self._tighten(bound)
            assignment.model = self.origin
            if self.relaxation and self.model.check(assignment):
                self.relaxed = assignment
                if self.judge == self._value:
                    return self._tell(force=False)
            try:
                value = self.judge(assignment)
            except Exception as e:  # raised again by run(): a solver's thread would swallow it
                self.failure, self.stopped = e, True
                return False
            if value is None and self.model.objectives:
                return self._tell(force=False)
            if self.best is not None and (value is None or self.sign * (value - _known(self.objective)) >= 0):
                return not self.stopped
            self.best, self.objective = assignment, value
            return self._tell(force=True)

    def _value(self, assignment: Assignment) -> float | None:
        return self.model.value(self.model.objectives[0], assignment) if self.model.objectives else None

    def bound(self, value: float) -> bool:
        with self._lock:
            return self._tell(force=False) if self._tighten(value) else not self.stopped

    def _tighten(self, bound: float | None) -> bool:
        if (
            bound is None
            or math.isinf(bound)
            or math.isnan(bound)
            or not self.proves_bounds
            or not self.model.objectives
        ):
            return False
        if self.whole:
            bound = rounded(bound, self.sign)
        if self.known_bound is None or self.sign * (bound - self.known_bound) > 0:
            self.known_bound = bound
            return True
        return False

    def _tell(self, *, force: bool) -> bool:
        news = Incumbent(time.perf_counter() - self.began, *self._known())
        if not self.trace or force or self.trace[-1][1:] != news[1:]:
            self.trace.append(news)
            if self.call is not None and not self.stopped:
                try:
                    best = self.best
                    self.stopped = self.call(news.giving(lambda: best)) is False
                except Exception as e:  # raised again by run(): a solver's thread would swallow it
                    self.failure, self.stopped = e, True
        return not self.stopped

    def _known(self) -> tuple[Any, Any]:
        """Objective and bound of what is known; of a model with several objectives all values of the best answer."""
        origin = self.origin
        if len(origin.objectives) <= 1:
            return self.objective, self.known_bound
        bound = (*self.settled, self.known_bound, *(None,) * len(origin.objectives))[: len(origin.objectives)]
        value = None if self.best is None else tuple(origin.value(e, self.best) for e in origin.objectives)
        return value, bound if any(b is not None for b in bound) else None

    @property
    def proven(self) -> bool:
        """Whether the best answer is proven optimal, within 1e-6; a bound within the absolute tolerance becomes its value."""
        if self.objective is None:
            return self.best is not None
        if self.known_bound is None or self.refuted:
            return False
        near = close(self.objective, self.known_bound, unit_of(self.model.objectives[0]))
        if near and not close(self.objective, self.known_bound, 0.0):
            self.known_bound = float(self.objective)  # else its relative gap is 1 where the objective is 0
        return near

    @property
    def refuted(self) -> bool:
        """Whether the best answer is better than the bound allows, which then is false."""
        return refutes(self.objective, self.known_bound, self.model.sense)


def _known(value: float | None) -> float:
    return math.inf if value is None else value
