"""What the answer of a run is worth: schedule, objective and bound checked, and the fields of its problem's kind."""

from __future__ import annotations

from ...backends import Result
from ...models import Eviction, Profit
from ...models.problem import Problem
from .record import outcome
from .store import Record


def answer(problem: Problem, result: Result) -> Record:
    """Return what a record says of a result, with the fields that records of this kind have beside it.

    Of an eviction problem: the answer for its own deadline alone (``evicting`` asks for all of them).
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
    return found
