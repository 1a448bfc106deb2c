"""The answer of a run: schedule, objective and bound are checked, and the fields of the kind of problem are added."""

from __future__ import annotations

from ...backends import Result
from ...models import Eviction, Profit, Project
from ...models.problem import Problem
from .record import outcome
from .store import Record


def answer(problem: Problem, result: Result) -> Record:
    """Return the fields of a record for a result, with the extra fields of the kind of problem.

    For an eviction problem, the answer is for its own deadline only; ``kinds.eviction`` computes those for all deadlines.
    """
    found = outcome(problem, result)
    if result.schedule is None or found["objective"] is None:
        return found
    if isinstance(problem, Profit):
        from ..kinds.profit import fields

        return found | fields(problem, result.schedule)
    if isinstance(problem, Eviction):
        from ..kinds.eviction import fields_of_one

        return found | fields_of_one(problem, result.schedule)
    if isinstance(problem, Project):
        from ..kinds import project

        return found | project.fields(problem, result.schedule)
    return found
