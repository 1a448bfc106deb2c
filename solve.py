"""Solve a model on a backend, or a problem by a method: warm start, formulation, backend, schedule."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .backends import Exactness, Incumbent, Limits, Outcome, Result, UnknownName, WarmStart, backend, run
from .backends.gaps import refutation, refutes
from .backends.interrupts import INTERRUPTED, catch_first, new_call
from .methods import Method, parse_heuristic, parse_method
from .models import Encoding, Problem, Schedule
from .models.language import Assignment, Model
from .models.language.clock import OutOfTime, within

if TYPE_CHECKING:
    from .heuristics.reader import Reader

OnIncumbent = Callable[[Incumbent], Any]
REPAIR_SHARE = 0.1  # of the time limit: for making a schedule from the answers of a relaxation


def solve(
    what: Model | Problem,
    backend: str = "cpsat",
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    warm_start: Assignment | Schedule | str | None = None,
    gap_limit: float | None = None,
    deterministic_limit: float | None = None,
    on_incumbent: OnIncumbent | None = None,
    method: str | None = None,
    **options: Any,
) -> Result:
    """Solve a model on a backend, or a problem by a method.

    Every answer is verified by code that is independent of the solvers. Ctrl-C ends the call: it returns the best
    solution so far, with the message "interrupted".

    Parameters
    ----------
    what : Model or Problem
    backend : str
        Name of the backend: "cpsat", "highs", "cpo", "pyomo", or one of a third party. For a problem it is used, with
        its first formulation, if there is no ``method``.
    time_limit : float or None
        Wall time of the whole call in seconds, lowering included; None: no limit. The compilation of heuristics before
        their first use in a process is not counted.
    threads : int or None
        Greatest number of threads; None: the solver's default.
    seed : int
        Seed of random numbers.
    warm_start : Assignment, Schedule, str or None
        Where to start from. A model takes an Assignment; a problem takes a Schedule or the name of a heuristic.
    gap_limit : float or None
        Relative gap between objective and bound at which the solver stops.
    deterministic_limit : float or None
        Limit in the solver's own reproducible unit. CP-SAT: its deterministic time; HiGHS: nodes; CP Optimizer:
        branches.
    on_incumbent : callable or None
        Called with each Incumbent, which has ``seconds``, ``objective`` and ``bound``; its ``schedule()`` and
        ``assignment()`` return the solution. Returning False stops the solver or the search.
    method : str or None
        For a problem: a heuristic, or a backend with a formulation, such as "cpsat:counts+warm". The module
        ``schedlab.methods`` describes the syntax. A heuristic ignores ``warm_start``, ``gap_limit``,
        ``deterministic_limit`` and ``options``.
    **options
        Options of the backend, such as ``lowering="pairwise"`` of HiGHS.

    Returns
    -------
    Result
        If the solver cannot be used, its ``status`` is "unavailable" and its ``message`` says why.

    Raises
    ------
    UnknownName
        If there is no such backend, method, formulation or heuristic. The message gives similar names.
    LoweringTooLarge
        If the lowering would be larger than its limit. It is raised before the lowering is built.
    TypeError
        If a model gets a method or a warm start of a problem, or a problem gets an Assignment as its warm start.
    KeyboardInterrupt
        At a second Ctrl-C.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> sl.solve(m, backend="cpsat").objective
    5
    """
    limits = Limits(time_limit, threads, seed, gap_limit, deterministic_limit)
    began = time.perf_counter()
    new_call()
    try:
        if isinstance(what, Model):
            if method is not None or isinstance(warm_start, (Schedule, str)):
                raise TypeError(
                    "method=..., and a warm_start that is a Schedule or the name of a heuristic, are for problems; "
                    "a model takes an Assignment as its warm_start"
                )
            return run(what, backend, limits, warm_start=warm_start, on_incumbent=on_incumbent, began=began, **options)
        if isinstance(warm_start, Assignment):
            raise TypeError("the warm_start of a problem is a Schedule or the name of a heuristic, not an Assignment")
        return _solve_problem(what, method or f"{backend}:", limits, warm_start, on_incumbent, options)
    except KeyboardInterrupt as e:
        catch_first(e)
        return _without_solver(what, method or backend, began, INTERRUPTED)


def _solve_problem(
    problem: Problem,
    method: str,
    limits: Limits,
    warm_start: Schedule | str | None,
    on_incumbent: OnIncumbent | None,
    options: dict[str, Any],
) -> Result:
    from . import heuristics

    chosen = parse_method(method, problem)
    heuristics.warm_up_for(problem, chosen.heuristic)
    began = time.perf_counter()
    if chosen.heuristic is not None:
        return _by_heuristic(problem, chosen, limits, on_incumbent, began)
    return _by_backend(problem, chosen, limits, warm_start, on_incumbent, began, options)


def _by_heuristic(
    problem: Problem, method: Method, limits: Limits, on_incumbent: OnIncumbent | None, began: float
) -> Result:
    from . import __version__, heuristics

    request = heuristics.HeuristicRequest(
        method.argument, limits.time, on_incumbent, limits.seed, limits.threads, method.backend
    )
    try:
        result = heuristics.HEURISTICS[str(method.heuristic)].best(problem, request)
    except heuristics.NothingFound as e:
        return replace(_without_solver(problem, method.text, began, str(e)), version=__version__)
    result.solver = method.text
    return result


def _reporter(on_incumbent: OnIncumbent | None, began: float, encoding: Encoding | None = None) -> OnIncumbent | None:
    """Return the callback of the heuristic that makes the start of a solver."""
    if on_incumbent is None:
        return None

    def report(news: Incumbent) -> Any:
        def assignment() -> Assignment | None:
            schedule = news.schedule()
            return None if encoding is None or schedule is None else encoding.write(schedule)

        since = Incumbent(time.perf_counter() - began, news.objective, news.bound)
        return on_incumbent(since.giving(news.schedule, assignment, news.placement))

    return report


def _conclude(result: Result, problem: Problem, schedule: Schedule) -> None:
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


def _by_backend(
    problem: Problem,
    method: Method,
    limits: Limits,
    warm_start: Schedule | str | None,
    on_incumbent: OnIncumbent | None,
    began: float,
    options: dict[str, Any],
) -> Result:
    from .heuristics.reader import Reader

    try:
        with within(None if limits.time is None else began + limits.time):
            encoding = problem.formulations[method.formulation]()
    except OutOfTime as late:
        start, why = _start(problem, method, warm_start, _remaining(limits, began), _reporter(on_incumbent, began))
        message = why if why == INTERRUPTED else str(late)
        return _without_solver(problem, method.backend, began, message, start)
    built = time.perf_counter()
    start, why = _start(
        problem, method, warm_start, _remaining(limits, began), _reporter(on_incumbent, began, encoding)
    )
    if why == INTERRUPTED:
        return _without_solver(problem, method.backend, began, INTERRUPTED, start)
    reader = Reader(problem, encoding, start, limits.time, began)
    # with several objectives the values are those of the model, and the schedule is read at the end
    several = len(encoding.model.objectives) > 1
    result = run(
        encoding.model,
        method.backend,
        _solver_limits(limits, encoding),
        warm_start=None if start is None else encoding.write(start),
        on_incumbent=None
        if on_incumbent is None
        else _with_schedules(on_incumbent, encoding, None if several else reader),
        began=began,
        judge=None if several else reader,
        **{**method.options, **options},
    )
    result.problem = problem
    result.seconds["build"] += built - began
    if why:
        result.warm_start = WarmStart("rejected", why)
    fault = reader.fault(result.exactness)
    if encoding.relaxation and result.exactness.kind == "exact":
        result.exactness = Exactness("relaxation", (f"formulation {method.formulation}", *result.exactness.notes))
    if result.status == "unavailable":
        return result
    if several:
        if result.assignment is not None and result.status != "error":
            _conclude(result, problem, encoding.read(result.assignment))
        return result
    try:
        if result.message != INTERRUPTED:
            _repair(result, reader, limits, began)
    except KeyboardInterrupt as e:
        catch_first(e)
        result.message = INTERRUPTED
    if fault:
        result.fail(fault)
    if reader.best is not None:
        _conclude(result, problem, reader.best)
    return result


def _without_solver(
    what: Model | Problem, solver: str, began: float, message: str, start: Schedule | None = None
) -> Result:
    """Return the result of a call that ended before a solver began: the warm start, if there is one."""
    result = Result("unknown", solver, None, message=message)
    if isinstance(what, Model):
        result.model = what
    else:
        result.problem = what
        if start is not None:
            _conclude(result, what, start)
            result.incumbents = [Incumbent(time.perf_counter() - began, result.objective, None)]
    total = time.perf_counter() - began
    result.seconds = {"build": total, "lower": 0.0, "solve": 0.0, "total": total}
    return result


def _with_schedules(on_incumbent: OnIncumbent, encoding: Encoding, reader: Reader | None) -> OnIncumbent:
    """Return a callback for incumbents of the model that calls ``on_incumbent`` with incumbents that give schedules.

    The schedule is the reader's best, or, without a reader, the one read from the assignment of the incumbent.
    """

    def report(found: Incumbent) -> Any:
        assignment, best = found.assignment(), None if reader is None else reader.best
        read = (lambda: encoding.read(assignment)) if reader is None and assignment is not None else lambda: best
        return on_incumbent(found.giving(read, lambda: assignment))

    return report


def _remaining(limits: Limits, began: float) -> Limits:
    """Return the limits with the time that is left since ``began``."""
    if limits.time is None:
        return limits
    return replace(limits, time=max(0.0, limits.time - (time.perf_counter() - began)))


def _solver_limits(limits: Limits, encoding: Encoding) -> Limits:
    """Return the solver's limits: for a relaxation, without the time that the repair of its answers needs."""
    if not encoding.relaxation or limits.time is None:
        return limits
    return replace(limits, time=limits.time * (1 - REPAIR_SHARE))


def _repair(result: Result, reader: Reader, limits: Limits, began: float) -> None:
    """Improve the schedules made from a relaxation's answers, in the time that is left.

    Without a time limit, or with a deterministic one, the repair does not depend on a clock.
    """
    clocked = limits.time is not None and limits.deterministic is None
    left = REPAIR_SHARE * (limits.time or 0.0) if clocked else None
    if left is not None and limits.time is not None:
        left = max(0.0, min(left, limits.time - (time.perf_counter() - began)))
    better = reader.repair(left, limits.seed)
    if better is not None:
        result.incumbents.append(Incumbent(time.perf_counter() - began, better, result.bound))
        result.warm_start = replace(result.warm_start, returned=False)
    result.seconds["total"] = time.perf_counter() - began


def _start(
    problem: Problem, method: Method, given: Schedule | str | None, limits: Limits, report: OnIncumbent | None
) -> tuple[Schedule | None, str]:
    """Return the schedule to start from, or None and the reason why there is none."""
    from . import heuristics

    if given is None and method.warm:
        given = heuristics.usual_start(problem)
    if isinstance(given, str):
        if given.partition(":")[0].partition("@")[0] not in heuristics.HEURISTICS:
            raise UnknownName("heuristic", given, list(heuristics.HEURISTICS))
        chosen = parse_heuristic(given, problem)
        request = heuristics.HeuristicRequest(
            chosen.argument, limits.time, report, limits.seed, limits.threads, chosen.backend
        )
        try:
            found = heuristics.HEURISTICS[str(chosen.heuristic)].best(problem, request)
        except heuristics.NothingFound as e:
            return None, str(e)
        if found.message == INTERRUPTED:
            return found.schedule, INTERRUPTED
        start: Schedule | None = found.schedule
    else:
        start = given
    if start is not None and (broken := problem.verify(start)):
        return None, f"the start violates the problem: {broken[0].message}"
    return start, ""


__all__ = ["Method", "Outcome", "backend", "parse_method", "solve"]
