"""The parts that all methods share: the verified schedule, the report of incumbents, an early end."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..backends import Incumbent, Result, WarmStart
from ..backends.gaps import refutation, refutes
from ..backends.interrupts import INTERRUPTED, catch_first
from ..models import Problem, Schedule
from ..models.language import Model
from ..models.problem_answers import objective_of, violations_of
from ..models.returned import is_false

OnIncumbent = Callable[[Incumbent], object]


def conclude(result: Result, problem: Problem, schedule: Schedule) -> None:
    """Put the schedule and its objective value into the result, and verify it."""
    result.schedule = schedule
    try:
        result.violations = violations_of(problem, schedule)
    except KeyboardInterrupt as e:  # the schedule is verified even after Ctrl-C
        catch_first(e)
        result.violations, result.message = violations_of(problem, schedule), INTERRUPTED
    if result.violations:
        result.fail(f"the schedule violates the problem: {result.violations[0].message}")
        return
    if result.status == "error":
        return
    result.objective = objective_of(problem, schedule)
    # a model may have further objectives, which break ties
    if isinstance(result.objective, tuple) and isinstance(result.bound, tuple):
        result.bound = result.bound[: len(result.objective)]
    if result.status == "unknown":
        result.status = "feasible"
    if refutes(result.objective, result.bound, problem.sense):
        result.fail(refutation(result.bound, result.objective))


class Reports:
    """The callback of a call for all of its parts: the seconds of incumbents count from the begin of the call.

    Parameters
    ----------
    on_incumbent : callable or None
        The caller's.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds.

    Attributes
    ----------
    stopped : bool
        Whether the caller has returned False for an answer, so that nothing more is computed.
    """

    def __init__(self, on_incumbent: OnIncumbent | None, began: float) -> None:
        self.on_incumbent, self.began = on_incumbent, began
        self.stopped = False
        self._refused = False

    def __call__(self, news: Incumbent) -> object:
        """Report an incumbent of a heuristic to the caller; return what the caller returns."""
        moved = Incumbent(time.perf_counter() - self.began, news.objective, news.bound).less(news.offset)
        return self.pass_on(moved.giving(news.schedule, news.assignment, news.placement))

    def pass_on(self, news: Incumbent) -> object:
        """Report an incumbent whose seconds count from the begin of the call; return what the caller returns."""
        going = None if self.on_incumbent is None else self.on_incumbent(news)
        self._refused = self._refused or is_false(going)
        self.stopped = self._refused and news.objective is not None
        return going

    @property
    def callback(self) -> OnIncumbent | None:
        """The object itself; None if the caller has no callback."""
        return None if self.on_incumbent is None else self


def without_solver(
    what: Model | Problem, method: str, began: float, message: str, start: Schedule | None = None, why: str = ""
) -> Result:
    """Return the result of a call that ended before its method began: the warm start, or ``why`` it was rejected."""
    result = Result("unknown", method, None, message=message)
    if isinstance(what, Model):
        result.model = what
    else:
        result.problem = what
        if start is not None:
            conclude(result, what, start)
            result.incumbents = [Incumbent(time.perf_counter() - began, result.objective, None)]
            result.warm_start = WarmStart("accepted", returned=True)
        elif why:
            result.warm_start = WarmStart("rejected", why)
    total = time.perf_counter() - began
    result.phases = {"build": total, "lower": 0.0, "solve": 0.0, "total": total}
    return result
