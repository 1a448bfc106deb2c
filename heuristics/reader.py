"""Conversion of the answers of a model to schedules of the problem."""

from __future__ import annotations

from typing import Any

from ..backends.base import Exactness
from ..models import Encoding, Problem, Schedule
from ..models.deadline import Deadline
from ..models.language import Assignment, Violation
from ..models.problem import objective_of, violations_of
from ..models.returned import WrongAnswer
from .registry import allocator


class Reader:
    """A callback that converts each incumbent of a model to a schedule and keeps the best schedule.

    The objective of a schedule is computed by the problem, not taken from the solver. The starts of a relaxation
    become a schedule by allocation (``Allocator``).

    Parameters
    ----------
    problem
        The problem to solve.
    encoding
        The model of the problem, with the function that reads its answers.
    start
        The warm start; it is returned unchanged when the solver returns its starts.
    deadline
        When the call must end.
    """

    def __init__(self, problem: Problem, encoding: Encoding, start: Schedule | None, deadline: Deadline) -> None:
        self.problem = problem
        self.encoding = encoding
        self.start = start
        self.sign = 1 if problem.sense == "minimize" else -1
        self.best: Schedule | None = None
        self.objective: Any = None
        self.violation: Violation | None = None  # in the first answer that is not a feasible schedule
        self.in_model = False  # whether that answer satisfies the model
        self.allocator = allocator(problem, deadline) if encoding.relaxation else None

    def __call__(self, assignment: Assignment) -> Any:
        """Return the objective of the schedule of an answer; None if the answer gives no feasible schedule."""
        schedule = self.encoding.read(assignment)
        if self.start is not None and schedule.start == self.start.start:
            return self._keep(self.start)
        if self.allocator is not None:
            allocated = self.allocator.allocate(schedule.start)
            return None if allocated is None else self._keep(allocated)
        violations = violations_of(self.problem, schedule)
        if not violations:
            return None if self._is_below_start(schedule) else self._keep(schedule)
        if self.violation is None:
            self.violation = violations[0]
            self.in_model = not self.encoding.model.check(assignment)
        return None

    def fault(self, exactness: Exactness) -> str:
        """Return an error message if an answer of an exact formulation is not a feasible schedule; "" if there is none.

        If the lowering is a relaxation (a coarse time grid, a linear relaxation), an answer that violates the model may
        be infeasible without an error.
        """
        if self.violation is None or (exactness.kind == "relaxation" and not self.in_model):
            return ""
        source = "formulation" if self.in_model else "solver"
        return f"the {source}'s answer is no schedule of the problem: {self.violation.message}"

    def repair(self, seconds: float | None, seed: int) -> Any:
        """Improve the allocation of the answers read so far; return the new objective if it is better, else None.

        ``seconds`` limits the time; None: a fixed number of moves.
        """
        before = self.objective
        repaired = None if self.allocator is None else self.allocator.repair(seconds, seed)
        if repaired is not None:
            self._keep(repaired)
        return None if self.objective == before else self.objective

    def _is_below_start(self, schedule: Schedule) -> bool:
        """Return whether a schedule of a restricted model is worse than the start, which may be none of this model."""
        if self.start is None or not self.encoding.restriction:
            return False
        start = objective_of(self.problem, self.start)
        own = objective_of(self.problem, schedule)
        return not isinstance(start, tuple) and not isinstance(own, tuple) and self.sign * (own - start) > 0

    def _keep(self, schedule: Schedule) -> Any:
        value: Any = objective_of(self.problem, schedule)
        if isinstance(value, tuple):
            raise WrongAnswer(
                f"value of {self.problem.kind} problems returned {value}; expected a number, "
                f"as the model {self.encoding.model.name!r} has one objective"
            )
        if self.objective is None or self.sign * (value - self.objective) < 0:
            self.best = schedule
            self.objective = value
        return value
