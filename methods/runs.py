"""Run a heuristic as a method or as a start, and what all methods share: the verified schedule, incumbents, an early end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..backends import Incumbent, Limits, Result, WarmStart
from ..backends.gaps import refutation, refutes
from ..backends.solver_thread import INTERRUPTED, catch_first
from ..heuristics.errors import NothingFound
from ..heuristics.method import Start
from ..heuristics.registry import Heuristic
from ..models import Problem, Schedule
from ..models.deadline import Deadline
from ..models.language import Model
from ..models.problem import objective_of, violations_of
from ..models.returned import is_false
from .text import start_method

# --- The parts that all methods share: the verified schedule, the report of incumbents, an early end.

OnIncumbent = Callable[[Incumbent], object]


def put_schedule(result: Result, problem: Problem, schedule: Schedule) -> None:
    """Put the schedule and its objective value into the result, and verify it."""
    result.schedule = schedule
    try:
        result.violations = violations_of(problem, schedule)
    except KeyboardInterrupt as e:  # the schedule is verified even after Ctrl-C
        catch_first(e)
        result.violations = violations_of(problem, schedule)
        result.message = INTERRUPTED
    if result.violations:
        result.fail(f"the schedule violates the problem: {result.violations[0].message}")
        return
    if result.status == "error":
        return
    result.objective = objective_of(problem, schedule)
    result.bound = _own(result.bound, result.objective)
    if result.status == "unknown":
        result.status = "feasible"
    if refutes(result.objective, result.bound, problem.sense):
        result.fail(refutation(result.bound, result.objective))


def _own(bound: Any, objective: Any) -> Any:
    """Return a bound without the values of further objectives of the model, which break ties."""
    if not isinstance(bound, tuple):
        return bound
    return bound[: len(objective)] if isinstance(objective, tuple) else bound[0]


def hold_against(result: Result, problem: Problem, schedule: Schedule) -> None:
    """Make a result an error if a verified schedule refutes its bound or its proof that there is no schedule."""
    if result.status == "infeasible":
        result.fail("the status infeasible is false: the start is a verified schedule; the model excludes it")
    elif result.status in ("optimal", "feasible", "unknown"):
        objective = objective_of(problem, schedule)
        bound = _own(result.bound, objective)
        if refutes(objective, bound, problem.sense):
            result.fail(refutation(bound, objective))


class Reports:
    """The callback of a call for all of its parts: the seconds of incumbents count from the begin of the call.

    Parameters
    ----------
    on_incumbent : callable or None
        The caller's.
    deadline : Deadline
        Of the call.

    Attributes
    ----------
    stopped : bool
        Whether the caller has returned False for an answer, so that nothing more is computed.
    """

    def __init__(self, on_incumbent: OnIncumbent | None, deadline: Deadline) -> None:
        self.on_incumbent = on_incumbent
        self.deadline = deadline
        self.stopped = False
        self._refused = False

    def __call__(self, news: Incumbent) -> object:
        """Report an incumbent of a heuristic to the caller; return what the caller returns."""
        moved = Incumbent(self.deadline.elapsed, news.objective, news.bound).less(news.offset)
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
    what: Model | Problem, method: str, deadline: Deadline, message: str, start: Schedule | None = None, why: str = ""
) -> Result:
    """Return the result of a call that ended before its method began: the warm start, or ``why`` it was rejected."""
    result = Result("unknown", method, None, message=message)
    if isinstance(what, Model):
        result.model = what
    else:
        result.problem = what
        if start is not None:
            put_schedule(result, what, start)
            result.incumbents = [Incumbent(deadline.elapsed, result.objective, None)]
            result.warm_start = WarmStart("accepted", returned=True)
        elif why:
            result.warm_start = WarmStart("rejected", why)
    total = deadline.elapsed
    result.phases = {"build": total, "lower": 0.0, "solve": 0.0, "total": total}
    return result


# --- Run a heuristic: as a method, or for the start of another method.

START_SHARE = 0.5  # of the limit of a call: most time of its start, also if the start names more
START_SECONDS = 60.0  # of a start by a solver in a call without a limit: the solver might not end by itself


def run_search(
    problem: Problem,
    method: Heuristic,
    limits: Limits,
    given: Schedule | Start | None,
    on_incumbent: OnIncumbent | None,
) -> Result:
    """Solve a problem by a heuristic.

    Parameters
    ----------
    problem : Problem
    method : Heuristic
    limits : Limits
        Time limit, threads, seed and begin of the call are used.
    given : Schedule, Start or None
        Where to start from.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the search.

    Returns
    -------
    Result
    """
    from .. import __version__

    deadline = limits.deadline
    reports = Reports(on_incumbent, deadline)
    start, why = start_schedule(problem, given, limits, reports.callback)
    offset = deadline.elapsed  # for making the start
    if why == INTERRUPTED or reports.stopped:
        ended = without_solver(problem, method.text, deadline, why, start)
        return replace(ended, version=__version__)
    try:
        result = method.solve(problem, limits.lasting(deadline.remaining), start, reports.callback)
    except NothingFound as e:
        return replace(without_solver(problem, method.text, deadline, str(e), why=why), version=__version__)
    result.solver = method.text
    if why:
        result.warm_start = WarmStart("rejected", why)
    result.incumbents = [i._replace(seconds=i.seconds + offset).less(i.offset) for i in result.incumbents]
    result.phases["build"] = offset
    result.phases["total"] = deadline.elapsed
    return result


def start_schedule(
    problem: Problem, given: Schedule | Start | None, limits: Limits, report: OnIncumbent | None
) -> tuple[Schedule | None, str]:
    """Return the schedule to start from, or None and the reason why there is none.

    Parameters
    ----------
    problem : Problem
    given : Schedule, Start or None
        The schedule, or the heuristic that makes it.
    limits : Limits
        Limits of the whole call.
    report : callable or None
        Called with each Incumbent of the heuristic; returning False stops it.

    Returns
    -------
    schedule : Schedule or None
        A schedule that is verified.
    reason : str
        Empty, or why there is no schedule, or "interrupted".
    """
    if isinstance(given, Start):
        method = start_method(problem, given)
        limits = _limits_of_start(given, method, limits)
        try:
            made = method.solve(problem, limits, on_incumbent=report)
        except NothingFound as e:
            return None, str(e)
        if made.message == INTERRUPTED:
            return made.schedule, INTERRUPTED
        given = made.schedule
    if given is not None and (broken := violations_of(problem, given)):
        return None, f"the start violates the problem: {broken[0].message}"
    return given, ""


def _limits_of_start(given: Start, method: Heuristic, limits: Limits) -> Limits:
    """Return the limits of the heuristic that makes a start: its own time, at most its share of the call's limit."""
    times = [] if given.time_limit is None else [given.time_limit]
    share = limits.deadline.share(START_SHARE).remaining
    if share is not None:
        times.append(share)
    elif not times and method.backend_name:
        times.append(START_SECONDS)
    return limits.lasting(min(times, default=None))
