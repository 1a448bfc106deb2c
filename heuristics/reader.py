"""Reading the answers of a model back into schedules of the problem."""

from __future__ import annotations

from typing import Any

from ..backends.base import Exactness
from ..models import Encoding, Problem, Schedule
from ..models.language import Assignment, Violation
from .registry import allocator


class Reader:
    """Reads each incumbent of the model back into a schedule, and keeps the best; the value is the schedule's own.

    The starts of a relaxation are allocated; ``repair`` takes more time for that, once, at the end.
    """

    def __init__(
        self, problem: Problem, encoding: Encoding, start: Schedule | None, time_limit: float | None, began: float
    ) -> None:
        self.problem = problem
        self.encoding = encoding
        self.start = start
        self.sign = 1 if problem.sense == "minimize" else -1
        self.best: Schedule | None = None
        self.objective: Any = None
        self.violation: Violation | None = None  # of the first answer that is no schedule
        self.in_model = False  # whether that answer satisfies the model
        self.allocator = allocator(problem, time_limit, began) if encoding.relaxation else None

    def __call__(self, assignment: Assignment) -> Any:
        schedule = self.encoding.read(assignment)
        if self.start is not None and schedule.start == self.start.start:
            return self._keep(self.start)
        if self.allocator is not None:
            found = self.allocator.allocate(schedule.start)
            return None if found is None else self._keep(found)
        violations = self.problem.verify(schedule)
        if not violations:
            return self._keep(schedule)
        if self.violation is None:
            self.violation = violations[0]
            self.in_model = not self.encoding.model.check(assignment)
        return None

    def fault(self, exactness: Exactness) -> str:
        """Return what is wrong if an answer of an exact formulation is no schedule; empty if nothing is.

        Where the lowering is a relaxation (a grid that relaxes, a linear relaxation), an answer that violates the model need
        not be a schedule.
        """
        if self.violation is None or (exactness.kind == "relaxation" and not self.in_model):
            return ""
        who = "formulation" if self.in_model else "solver"
        return f"the {who}'s answer is no schedule of the problem: {self.violation.message}"

    def repair(self, seconds: float | None, seed: int) -> Any:
        """The best of what more time makes of the answers so far; the objective if it is better."""
        before = self.objective
        found = None if self.allocator is None else self.allocator.repair(seconds, seed)
        if found is not None:
            self._keep(found)
        return None if self.objective == before else self.objective

    def _keep(self, schedule: Schedule) -> Any:
        value: Any = self.problem.objective(schedule)
        if self.objective is None or self.sign * (value - self.objective) < 0:
            self.best, self.objective = schedule, value
        return value
