"""The parts of a result that all methods share: the verified schedule, the report of incumbents, an early end."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..backends import Incumbent, Result
from ..backends.gaps import refutation, refutes
from ..backends.interrupts import INTERRUPTED, catch_first
from ..models import Encoding, Problem, Schedule
from ..models.language import Assignment, Model

OnIncumbent = Callable[[Incumbent], object]


def conclude(result: Result, problem: Problem, schedule: Schedule) -> None:
    """Put the schedule and its objective value into the result, and verify it."""
    result.schedule = schedule
    try:
        result.violations = problem.verify(schedule)
    except KeyboardInterrupt as e:  # the schedule is verified even after Ctrl-C
        catch_first(e)
        result.violations, result.message = problem.verify(schedule), INTERRUPTED
    if result.violations:
        result.fail(f"the schedule violates the problem: {result.violations[0].message}")
        return
    if result.status == "error":
        return
    result.objective = problem.objective(schedule)
    # a model may have further objectives, which break ties
    if isinstance(result.objective, tuple) and isinstance(result.bound, tuple):
        result.bound = result.bound[: len(result.objective)]
    if result.status == "unknown":
        result.status = "feasible"
    if refutes(result.objective, result.bound, problem.sense):
        result.fail(refutation(result.bound, result.objective))


def since(on_incumbent: OnIncumbent | None, began: float, encoding: Encoding | None = None) -> OnIncumbent | None:
    """Return the callback for a heuristic inside a call: the seconds of its incumbents count from the begin of the call.

    With an encoding, the incumbents also give the assignment of its model.
    """
    if on_incumbent is None:
        return None

    def report(news: Incumbent) -> object:
        def assignment() -> Assignment | None:
            schedule = news.schedule()
            return None if encoding is None or schedule is None else encoding.write(schedule)

        moved = Incumbent(time.perf_counter() - began, news.objective, news.bound)
        return on_incumbent(moved.giving(news.schedule, assignment, news.placement))

    return report


def without_solver(
    what: Model | Problem, method: str, began: float, message: str, start: Schedule | None = None
) -> Result:
    """Return the result of a call that ended before a solver began: the warm start, if there is one."""
    result = Result("unknown", method, None, message=message)
    if isinstance(what, Model):
        result.model = what
    else:
        result.problem = what
        if start is not None:
            conclude(result, what, start)
            result.incumbents = [Incumbent(time.perf_counter() - began, result.objective, None)]
    total = time.perf_counter() - began
    result.seconds = {"build": total, "lower": 0.0, "solve": 0.0, "total": total}
    return result
