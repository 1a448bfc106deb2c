"""Reading the answers of a model back into schedules of the problem."""

from __future__ import annotations

from typing import Any

from ..models import Encoding, Problem, Schedule
from ..models.language import Assignment
from .registry import allocator


class Reader:
    """Reads each incumbent of the model back into a schedule, and keeps the best; the value is the schedule's own.

    The starts of a relaxation are allocated; ``repair`` takes more time for that, once, at the end.
    """

    def __init__(self, problem: Problem, encoding: Encoding, start: Schedule | None) -> None:
        self.problem = problem
        self.encoding = encoding
        self.start = start
        self.sign = 1 if problem.sense == "minimize" else -1
        self.best: Schedule | None = None
        self.objective: Any = None
        self.allocator = allocator(problem) if encoding.relaxation else None

    def __call__(self, assignment: Assignment) -> Any:
        schedule = self.encoding.read(assignment)
        if self.start is not None and schedule.start == self.start.start:
            return self._keep(self.start)
        if self.allocator is not None:
            found = self.allocator.allocate(schedule.start)
            return None if found is None else self._keep(found)
        # on a grid that relaxes, an answer need not be a schedule
        return None if self.problem.verify(schedule) else self._keep(schedule)

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
