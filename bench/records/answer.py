"""The answer of a run: schedule, objective and bound are checked, and the fields of the kind of problem are added."""

from __future__ import annotations

from ...backends import Result
from ...models.problem import Problem
from ..kinds.base import bench_kind
from .record import outcome
from .store import Record


def answer(problem: Problem, result: Result) -> Record:
    """Return the fields of a record for a result, with the extra fields of the kind of problem."""
    found = outcome(problem, result)
    if result.schedule is None or found["objective"] is None:
        return found
    return found | bench_kind(problem.kind).extra_fields(problem, result.schedule)
