"""Solves a model on a backend, or a problem by a method: start, formulation, backend, reading back.

A method is written ``multi-search``, ``first-solution:ORDER``, ``rule:est-strict``, or
``BACKEND:FORMULATION[@LOWERING][+warm]``:
``cpsat:counts``, ``cpsat:classes+warm``, ``cpo:pool``, ``highs:counts@pairwise``, ``highs:pool@900s`` (a grid of
900 s, whose schedules are feasible), ``highs:classes@900s-relax`` (a relaxed grid, whose optimum is a true bound),
``highs:classes@60s..3600s-lp`` (a grid fine early and coarse late, its linear relaxation alone),
``highs:pool@60s..3600s-energy`` (a linear relaxation by the energy in each cell: the strongest bounds),
``highs:fluid@lp`` (the linear relaxation alone, without a grid).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .backends import Exactness, Incumbent, Limits, Outcome, Result, UnknownName, WarmStart, backend, run
from .backends.gaps import refutation, refutes
from .backends.interrupts import INTERRUPTED, catch_first, new_call
from .methods import Method, _parse_heuristic, parse_method
from .models import Encoding, Problem, Schedule
from .models.language import Assignment, Model
from .models.language.clock import OutOfTime, within
from .models.problem import Value

if TYPE_CHECKING:
    from .heuristics.reader import Reader

OnIncumbent = Callable[[Incumbent], Any]
REPAIR_SHARE = 0.1  # of the time limit, for making a schedule of what a relaxation answers


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
    """Solve a model, or a problem by a method; every answer is checked by code that no solver wrote.

    ``time_limit``: wall seconds of the whole call, lowering included; ``threads`` None: all cores; ``warm_start``: an
    Assignment (of a model), a Schedule or a heuristic's name (of a problem); ``gap_limit``: stop at this relative gap;
    ``deterministic_limit``: in the solver's own reproducible unit; ``on_incumbent``: called with each
    Incumbent(seconds, objective, bound), whose ``answer()`` is the schedule, returning False stops; ``method``: of a problem, see the module's text;
    ``options``: of the backend. Ctrl-C returns the best so far, with the message "interrupted"; a second one is raised.

    Raises UnknownName for a backend or method that is not known, LoweringTooLarge before too large a lowering is built.

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
                    "a method, a Schedule or a heuristic's name is for a problem; a model takes an Assignment"
                )
            return run(what, backend, limits, warm_start=warm_start, on_incumbent=on_incumbent, began=began, **options)
        if isinstance(warm_start, Assignment):
            raise TypeError("a problem's warm start is a Schedule or a heuristic's name, not an Assignment")
        return _solve_problem(what, method or f"{backend}:", limits, warm_start, on_incumbent, options)
    except KeyboardInterrupt as e:
        catch_first(e)
        return _without_solver(what, method or backend, began, INTERRUPTED)


def _solve_problem(
    problem: Problem,
    method: str,
    limits: Limits,
    warm_start: Schedule | str | None,
    call: OnIncumbent | None,
    options: dict[str, Any],
) -> Result:
    from . import heuristics

    chosen = parse_method(method, problem)
    heuristics.warm_up_for(problem, chosen.heuristic)
    began = time.perf_counter()
    if chosen.heuristic is not None:
        return _by_heuristic(problem, chosen, limits, call, began)
    return _by_backend(problem, chosen, limits, warm_start, call, began, options)


def _by_heuristic(problem: Problem, method: Method, limits: Limits, call: OnIncumbent | None, began: float) -> Result:
    from . import __version__, heuristics

    trace: list[Incumbent] = []
    result = Result("unknown", method.text, __version__, problem=problem, incumbents=trace)
    took = 0.0
    try:
        report = _reporter(call, began, trace)
        ask = heuristics.HeuristicRequest(
            method.argument, limits.time, report, limits.seed, limits.threads, method.backend
        )
        found = heuristics.HEURISTICS[str(method.heuristic)].best(problem, ask)
        took = time.perf_counter() - began
    except heuristics.NothingFound as e:
        result.message = str(e)
    else:
        result.message = found.message
        result.status = "optimal" if found.optimal else "unknown"
        _conclude(result, problem, found.schedule)
        if found.optimal:
            result.bound = result.objective
    total = time.perf_counter() - began  # with the check of the schedule
    result.seconds = {"build": 0.0, "lower": 0.0, "solve": took or total, "total": total}
    return result


def _reporter(call: OnIncumbent | None, began: float, trace: list[Incumbent]) -> Callable[[Value, Any], bool]:
    """What a heuristic calls with each better objective and its schedule (a Schedule or a Placement)."""

    def report(objective: Value, found: Any) -> bool:
        trace.append(Incumbent(time.perf_counter() - began, objective, None))
        flat = None if isinstance(found, Schedule) else found
        return call is None or call(trace[-1].giving(found.schedule if flat else lambda: found, flat)) is not False

    return report


def _conclude(result: Result, problem: Problem, schedule: Schedule) -> None:
    """The schedule goes into the result with its own objective, and is verified."""
    result.schedule = schedule
    try:
        result.violations = problem.verify(schedule)
    except KeyboardInterrupt as e:  # nothing is believed that is not verified
        catch_first(e)
        result.violations, result.message = problem.verify(schedule), INTERRUPTED
    if result.violations:
        result.fail(f"the schedule violates the problem: {result.violations[0].message}")
        return
    if result.status == "error":
        return
    result.objective = problem.objective(schedule)
    if isinstance(result.objective, tuple) and isinstance(result.bound, tuple):  # a model may break ties beyond them
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
    call: OnIncumbent | None,
    began: float,
    options: dict[str, Any],
) -> Result:
    from .heuristics.reader import Reader

    try:
        with within(None if limits.time is None else began + limits.time):
            encoding = problem.formulations[method.formulation]()
    except OutOfTime as late:
        start, why = _start(problem, method, warm_start, _what_is_left(limits, began), _reporter(call, began, []))
        message = why if why == INTERRUPTED else str(late)
        return _without_solver(problem, method.backend, began, message, start)
    built = time.perf_counter()
    start, why = _start(problem, method, warm_start, _what_is_left(limits, began), _reporter(call, began, []))
    if why == INTERRUPTED:
        return _without_solver(problem, method.backend, began, INTERRUPTED, start)
    reader = Reader(problem, encoding, start, limits.time, began)
    several = len(encoding.model.objectives) > 1  # the model's own values, stage by stage; read back at the end
    result = run(
        encoding.model,
        method.backend,
        _leaving_time(limits, encoding),
        warm_start=None if start is None else encoding.write(start),
        on_incumbent=None if call is None else _with_schedules(call, encoding, None if several else reader),
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
    """The result of a call that ended before a solver began: the start, if there is one."""
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


def _with_schedules(call: OnIncumbent, encoding: Encoding, reader: Reader | None) -> OnIncumbent:
    """The caller's callback, with incumbents that give schedules: the best that was read, or else of the model's answer."""

    def on_incumbent(news: Incumbent) -> Any:
        assignment, best = news.answer(), None if reader is None else reader.best
        return call(news.giving(lambda: encoding.read(assignment) if reader is None and assignment else best))

    return on_incumbent


def _what_is_left(limits: Limits, began: float) -> Limits:
    """The limits of a start: of the time what building the model has left."""
    if limits.time is None:
        return limits
    return replace(limits, time=max(0.0, limits.time - (time.perf_counter() - began)))


def _leaving_time(limits: Limits, encoding: Encoding) -> Limits:
    """The solver's limits: what a relaxation answers is repaired within the limit, too."""
    if not encoding.relaxation or limits.time is None:
        return limits
    return replace(limits, time=limits.time * (1 - REPAIR_SHARE))


def _repair(result: Result, reader: Reader, limits: Limits, began: float) -> None:
    """Make more of a relaxation's answers in the time that is left; without a clock where there is none."""
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
    problem: Problem, method: Method, given: Schedule | str | None, limits: Limits, report: Callable[[Value, Any], bool]
) -> tuple[Schedule | None, str]:
    """The schedule to start from, or why there is none."""
    from . import heuristics

    if given is None and method.warm:
        given = heuristics.usual_start(problem)
    if isinstance(given, str):
        if given.partition(":")[0].partition("@")[0] not in heuristics.HEURISTICS:
            raise UnknownName("heuristic", given, list(heuristics.HEURISTICS))
        asked = _parse_heuristic(given, problem)
        ask = heuristics.HeuristicRequest(
            asked.argument, limits.time, report, limits.seed, limits.threads, asked.backend
        )
        try:
            found = heuristics.HEURISTICS[str(asked.heuristic)].best(problem, ask)
        except heuristics.NothingFound as e:
            return None, str(e)
        if found.message == INTERRUPTED:
            return found.schedule, INTERRUPTED
        given = found.schedule
    if given is not None and (broken := problem.verify(given)):
        return None, f"the start violates the problem: {broken[0].message}"
    return given, ""


__all__ = ["Method", "Outcome", "backend", "parse_method", "solve"]
