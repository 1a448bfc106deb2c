"""Run a heuristic: as a method, or for the start of another method."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..backends import Limits, Result, WarmStart
from ..backends.interrupts import INTERRUPTED
from ..models import Problem, Schedule
from ..models.problem_answers import violations_of
from .method import Start, fields_of
from .outcomes import OnIncumbent, Reports, without_solver
from .searches import Search
from .text import start_method

if TYPE_CHECKING:
    from ..heuristics import HeuristicRequest

START_SHARE = 0.5  # of the limit of a call: most time of its start, also if the start names more
START_SECONDS = 60.0  # of a start by a solver in a call without a limit: the solver might not end by itself


def run_search(
    problem: Problem,
    method: Search,
    limits: Limits,
    given: Schedule | Start | None,
    on_incumbent: OnIncumbent | None,
    began: float,
) -> Result:
    """Solve a problem by a heuristic.

    Parameters
    ----------
    problem : Problem
    method : Search
    limits : Limits
        Time limit, threads and seed are used.
    given : Schedule, Start or None
        Where to start from.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the search.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds.

    Returns
    -------
    Result
    """
    from .. import __version__
    from ..heuristics import HEURISTICS, NothingFound

    reports = Reports(on_incumbent, began)
    start, why = start_schedule(problem, given, limits, reports.callback, began)
    offset = time.perf_counter() - began  # for making the start
    if why == INTERRUPTED or reports.stopped:
        found = without_solver(problem, method.text, began, why, start)
        return replace(found, version=__version__)
    request = _request(method, remaining(limits, began), reports.callback)
    try:
        result = HEURISTICS[method.name].best(problem, request._replace(start=start))
    except NothingFound as e:
        return replace(without_solver(problem, method.text, began, str(e), why=why), version=__version__)
    result.solver = method.text
    if why:
        result.warm_start = WarmStart("rejected", why)
    result.incumbents = [i._replace(seconds=i.seconds + offset).less(i.offset) for i in result.incumbents]
    result.phases["build"] = offset
    result.phases["total"] = time.perf_counter() - began
    return result


def start_schedule(
    problem: Problem, given: Schedule | Start | None, limits: Limits, report: OnIncumbent | None, began: float
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
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds.

    Returns
    -------
    schedule : Schedule or None
        A schedule that is verified.
    reason : str
        Empty, or why there is no schedule, or "interrupted".
    """
    from ..heuristics import HEURISTICS, NothingFound

    if isinstance(given, Start):
        method = start_method(problem, given)
        limits = _limits_of_start(given, method, limits, began)
        try:
            found = HEURISTICS[method.name].best(problem, _request(method, limits, report))
        except NothingFound as e:
            return None, str(e)
        if found.message == INTERRUPTED:
            return found.schedule, INTERRUPTED
        given = found.schedule
    if given is not None and (broken := violations_of(problem, given)):
        return None, f"the start violates the problem: {broken[0].message}"
    return given, ""


def _limits_of_start(given: Start, method: Search, limits: Limits, began: float) -> Limits:
    """Return the limits of the heuristic that makes a start: its own time, at most its share of the call's limit."""
    times = [] if given.time_limit is None else [given.time_limit]
    if limits.time is not None:
        times.append(max(0.0, START_SHARE * limits.time - (time.perf_counter() - began)))
    elif not times and method.backend_name:
        times.append(START_SECONDS)
    return replace(limits, time=min(times, default=None))


def remaining(limits: Limits, began: float) -> Limits:
    """Return the limits with the time that is left since ``began``."""
    if limits.time is None:
        return limits
    return replace(limits, time=max(0.0, limits.time - (time.perf_counter() - began)))


def _request(method: Search, limits: Limits, report: OnIncumbent | None) -> HeuristicRequest:
    from ..heuristics import HeuristicRequest

    options: dict[str, Any] = {name: getattr(method, name) for name in fields_of(type(method), "option")}
    options = {name: value for name, value in options.items() if value is not None}
    return HeuristicRequest(
        method.argument, limits.time, report, limits.seed, limits.threads, method.backend_name, options=options
    )
