"""The trace of a call, and its recorder: the best answer with its objective computed again, and the best bound."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..models.deadline import Deadline
from ..models.excerpt import with_short_repr
from ..models.language import Assignment, Model
from ..models.language.bounds import offset_of, origin_of
from ..models.language.model import latest_without_end
from ..models.plugins import WrongAnswer, is_false
from ..models.problem import Schedule, Value
from .base import Exactness, checked_solution
from .gaps import NOISE, close, refutes, relative_gap, rounded, unit_of

# --- One entry of the trace of a call: the best objective and bound at a moment, and on demand the solution.

Bound = float | tuple[float | None, ...]
"""A bound or a gap: one number, or with several objectives a tuple with None for what is unknown."""
Offset = float | tuple[float, ...]
"""The constant offset of an objective, which no gap contains; with several objectives one for each."""


class _Moment(NamedTuple):
    seconds: float
    objective: Value | None
    bound: Bound | None


@with_short_repr
class Incumbent(_Moment):
    """A better solution or a better bound, at one moment of a call.

    Callbacks get it with its solution (``schedule``, ``assignment``). The trace of a result (``Result.incumbents``) does
    not keep the solutions.

    Parameters
    ----------
    seconds : float
        Wall time in seconds since the call began.
    objective : float, tuple of float or None
        The best objective value at this moment; None if no solution is known. With several objectives a tuple.
    bound : float, tuple or None
        The best bound at this moment; None if unknown. With several objectives a tuple, with None for unknown bounds.

    Attributes
    ----------
    placement : object or None
        The schedule as flat arrays, from searches that have it in this form. Unlike ``schedule()`` it costs no time.
    """

    _schedule: Callable[[], Schedule | None] | None = None
    _assignment: Callable[[], Assignment | None] | None = None
    placement: Any = None
    offset: Offset = 0.0

    @property
    def gap(self) -> Bound | None:
        """Relative gap between objective and bound, without the constant offset; None if one of them is unknown."""
        return gap_of(self.objective, self.bound, self.offset)

    def less(self, offset: Offset) -> Incumbent:
        """Return the same incumbent, whose gap is formed without a constant offset of the objective."""
        changed = Incumbent(*self)
        changed._schedule = self._schedule
        changed._assignment = self._assignment
        changed.placement = self.placement
        changed.offset = offset
        return changed

    def giving(
        self,
        schedule: Callable[[], Schedule | None] | None = None,
        assignment: Callable[[], Assignment | None] | None = None,
        placement: Any = None,
    ) -> Incumbent:
        """Return the same incumbent with its solution.

        Parameters
        ----------
        schedule, assignment : callable or None
            Return the solution of the problem and that of the model. They are called when the solution is needed. None:
            there is none.
        placement : object or None
            The schedule as flat arrays.

        Returns
        -------
        Incumbent
        """
        incumbent = Incumbent(*self)
        incumbent._schedule = schedule
        incumbent._assignment = assignment
        incumbent.placement = placement
        incumbent.offset = self.offset
        return incumbent

    def schedule(self) -> Schedule | None:
        """Return the schedule with this objective.

        The schedule is made at this call, from the current state of the search: call it within the callback.

        Returns
        -------
        Schedule or None
            None if there is no solution, or if a model is solved and not a problem.

        Examples
        --------
        >>> from schedlab import Schedule
        >>> Incumbent(0.5, 7, None).giving(lambda: Schedule({"a": 4})).schedule().start
        {'a': 4}
        """
        return None if self._schedule is None else self._schedule()

    def assignment(self) -> Assignment | None:
        """Return the values of the variables of the model with this objective; call it within the callback.

        Returns
        -------
        Assignment or None
            None if there is no solution, or if the method has no model, as most heuristics.
        """
        return None if self._assignment is None else self._assignment()


def gap_of(objective: Value | None, bound: Bound | None, offset: Offset = 0.0) -> Bound | None:
    """Return the relative gap, one for each objective, without a constant offset of the objective; None if unknown."""
    if isinstance(objective, tuple):
        bounds = bound if isinstance(bound, tuple) else (None,) * len(objective)
        offsets = offset[: len(objective)] if isinstance(offset, tuple) else (offset,) * len(objective)
        return tuple(relative_gap(o, b, less) for o, b, less in zip(objective, bounds, offsets, strict=True))
    if isinstance(bound, tuple):
        return None
    return relative_gap(objective, bound, 0.0 if isinstance(offset, tuple) else offset)


# --- The recorder of a run: the best answer with its objective computed again, the best bound, and the trace of both.

OnIncumbent = Callable[[Incumbent], Any]
Judge = Callable[[Assignment], float | None]


class Recorder:
    """The Watch of a run: computes every objective again, keeps the best answer and the trace.

    Parameters
    ----------
    model : Model
        The model that is solved: one stage of ``origin``.
    origin : Model
        The model of the user, with all its objectives.
    exactness : Exactness
        The relation between the native model and ``model``.
    deadline : Deadline
        Of the call: the seconds of incumbents count from its begin.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the run, as soon as there is an answer.
    judge : callable or None
        Returns the value of an assignment, or None if it has none; None: the objective of ``model``.
    settled : sequence of float
        Bounds of the objectives before this one.
    gap : float or None
        Relative gap between the best answer and the bound at which the run stops.
    exact : bool
        Whether an optimum of whole numbers is proven only by a bound that excludes every better one: later objectives
        depend on it, or a relative gap would allow hours.
    """

    def __init__(
        self,
        model: Model,
        origin: Model,
        exactness: Exactness,
        deadline: Deadline,
        on_incumbent: OnIncumbent | None,
        judge: Judge | None,
        settled: Sequence[float] = (),
        gap: float | None = None,
        exact: bool = False,
    ) -> None:
        self.offset = float(offset_of(model.objectives[0], origin_of(model))) if model.objectives else 0.0
        self.gap = gap
        self.gap_reached = False
        self.settled = tuple(settled)
        self.model = model
        self.origin = origin
        self.judge = judge or self._value
        self.relaxation = exactness.kind == "relaxation"
        self.proves_bounds = exactness.kind != "restriction"
        self.deadline = deadline
        self.on_incumbent = on_incumbent
        self.best: Assignment | None = None
        self.relaxed: Assignment | None = None
        self.objective: float | None = None
        self.known_bound: float | None = None
        self.whole = all(e.integral for e in model.objectives[:1])
        self.exact = exact and self.whole
        self.trace: list[Incumbent] = []
        self.answers = 0  # better answers so far
        self.refused = False  # on_incumbent has returned False
        self.stopped = False  # on_incumbent has ended the run
        self.failure: Exception | None = None
        self._lock = threading.Lock()

    @property
    def sign(self) -> int:
        """1 if the model is minimized, -1 if it is maximized."""
        return 1 if self.model.sense == "minimize" else -1

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Record a solution; return whether the solver should go on."""
        with self._lock:
            if self.stopped:  # a solver may report more before it stops
                return False
            try:
                checked_solution(assignment, bound, self.model)
            except WrongAnswer as e:  # raised again by the driver
                self.failure, self.stopped = e, True
                return False
            self._tighten(bound)
            assignment.model = self.origin
            if self.relaxation and self.model.check(assignment):
                self.relaxed = assignment
                if self.judge == self._value:
                    return self._report(force=False)
            try:
                value = self.judge(assignment)
            except Exception as e:  # raised again by the driver: the solver's thread would lose it
                self.failure, self.stopped = e, True
                return False
            if value is None and self.model.objectives:
                return self._report(force=False)
            if self.best is not None and (value is None or self.sign * (value - _known(self.objective)) >= 0):
                return self._going()
            self.best, self.objective = assignment, value
            self.answers += 1
            if self.answers & (self.answers - 1) == 0:  # a power of two: the search for such an answer takes time
                self._look_for_no_end(assignment)
            return self._report(force=True)

    def _look_for_no_end(self, assignment: Assignment) -> None:
        """Stop with a late answer if it shows that the objective has no end; the driver says so."""
        later = latest_without_end(self.origin, assignment)
        if later is not None and self.judge == self._value and not self.model.check(later):
            self.best, self.objective, self.stopped = later, self._value(later), True

    def _value(self, assignment: Assignment) -> float | None:
        return self.model.value(self.model.objectives[0], assignment) if self.model.objectives else None

    def bound(self, value: float) -> bool:
        """Record a bound; return whether the solver should go on."""
        with self._lock:
            return self._report(force=False) if self._tighten(value) else self._going()

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

    def _report(self, *, force: bool) -> bool:
        """Append to the trace and call ``on_incumbent``, if something changed or if forced."""
        incumbent = Incumbent(self.deadline.elapsed, *self._known()).less(self.offsets)
        if not self.trace or force or self.trace[-1][1:] != incumbent[1:]:
            self.trace.append(incumbent)
            if self.on_incumbent is not None and not self.stopped:
                try:
                    best = self.best
                    self.refused |= is_false(self.on_incumbent(incumbent.giving(assignment=lambda: best)))
                except Exception as e:  # raised again by the driver: the solver's thread would lose it
                    self.failure, self.stopped = e, True
                # a relaxation without a judge has no answers
                answered = best is not None or (self.relaxation and self.judge == self._value)
                self.stopped = self.stopped or (self.refused and answered)
        return self._going()

    def _going(self) -> bool:
        """Return whether the solver should go on: not if ``on_incumbent`` has ended the run or the gap is reached."""
        if self.gap is not None and not self.gap_reached:
            reached = relative_gap(self.objective, self.known_bound, self.offset)
            self.gap_reached = reached is not None and reached <= self.gap and not self.refuted
        return not (self.stopped or self.gap_reached)

    @property
    def offsets(self) -> Offset:
        """The constant offset of the objective; for several objectives one for each."""
        origin = self.origin
        if len(origin.objectives) <= 1:
            return self.offset
        return tuple(float(offset_of(e, origin_of(origin))) for e in origin.objectives)

    def _known(self) -> tuple[Any, Any]:
        """Return the best objective and bound; for several objectives, tuples with a value per objective."""
        origin = self.origin
        if len(origin.objectives) <= 1:
            return self.objective, self.known_bound
        bound = (*self.settled, self.known_bound, *(None,) * len(origin.objectives))[: len(origin.objectives)]
        value = None if self.best is None else tuple(origin.value(e, self.best) for e in origin.objectives)
        return value, bound if any(b is not None for b in bound) else None

    @property
    def proven(self) -> bool:
        """Whether the best answer is proven optimal, within 1e-6.

        A bound that is equal to the objective only within the absolute tolerance is set to the objective.
        """
        if self.objective is None:
            return self.best is not None
        if self.known_bound is None or self.refuted:
            return False
        if self.exact and self.sign * (self.objective - self.known_bound) > 1 - NOISE:
            return False
        near = close(self.objective, self.known_bound, unit_of(self.model.objectives[0]), self.offset)
        if near and not close(self.objective, self.known_bound, 0.0):
            self.known_bound = float(self.objective)  # else the relative gap would be 1 if the objective is 0
        return near

    @property
    def refuted(self) -> bool:
        """Whether the best answer is better than the bound allows, so that the bound is false."""
        return refutes(self.objective, self.known_bound, self.model.sense)


def _known(value: float | None) -> float:
    return math.inf if value is None else value
