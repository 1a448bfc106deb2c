"""Run a solver as a method: start, formulation, backend, and the schedules of its answers."""

from __future__ import annotations

import time
from dataclasses import replace

from ..backends import Exactness, Incumbent, Limits, Result, WarmStart, run
from ..backends.interrupts import INTERRUPTED, catch_first
from ..heuristics.reader import Reader
from ..models import Encoding, Problem, Schedule
from ..models.language.clock import OutOfTime, within
from .method import Start
from .outcomes import OnIncumbent, conclude, since, without_solver
from .run_search import start_schedule
from .solvers import SolverMethod

REPAIR_SHARE = 0.1  # of the time limit: for making a schedule from the answers of a relaxation


def run_solver(
    problem: Problem,
    method: SolverMethod,
    limits: Limits,
    given: Schedule | Start | None,
    on_incumbent: OnIncumbent | None,
    began: float,
) -> Result:
    """Solve a problem by a solver.

    Parameters
    ----------
    problem : Problem
    method : SolverMethod
    limits : Limits
    given : Schedule, Start or None
        Where to start from.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the solver.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds.

    Returns
    -------
    Result
    """
    formulation = method.formulation or next(iter(problem.formulations))
    try:
        with within(None if limits.time is None else began + limits.time):
            encoding = problem.formulations[formulation]()
    except OutOfTime as late:
        start, why = start_schedule(problem, given, limits, since(on_incumbent, began), began)
        message = why if why == INTERRUPTED else str(late)
        return without_solver(problem, method.name, began, message, start)
    built = time.perf_counter()
    start, why = start_schedule(problem, given, limits, since(on_incumbent, began, encoding), began)
    if why == INTERRUPTED:
        return without_solver(problem, method.name, began, INTERRUPTED, start)
    reader = Reader(problem, encoding, start, limits.time, began)
    # with several objectives the values are those of the model, and the schedule is read at the end
    several = len(encoding.model.objectives) > 1
    result = run(
        encoding.model,
        method.name,
        _solver_limits(limits, encoding),
        warm_start=None if start is None else encoding.write(start),
        on_incumbent=None
        if on_incumbent is None
        else _with_schedules(on_incumbent, encoding, None if several else reader),
        began=began,
        judge=None if several else reader,
        **method.compile_options,
    )
    result.problem = problem
    result.seconds["build"] += built - began
    if why:
        result.warm_start = WarmStart("rejected", why)
    fault = reader.fault(result.exactness)
    if encoding.relaxation and result.exactness.kind == "exact":
        result.exactness = Exactness("relaxation", (f"formulation {formulation}", *result.exactness.notes))
    if result.status == "unavailable":
        return result
    if several:
        if result.assignment is not None and result.status != "error":
            conclude(result, problem, encoding.read(result.assignment))
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
        conclude(result, problem, reader.best)
    return result


def _with_schedules(on_incumbent: OnIncumbent, encoding: Encoding, reader: Reader | None) -> OnIncumbent:
    """Return a callback for incumbents of the model that calls ``on_incumbent`` with incumbents that give schedules.

    The schedule is the reader's best, or, without a reader, the one read from the assignment of the incumbent.
    """

    def report(found: Incumbent) -> object:
        assignment, best = found.assignment(), None if reader is None else reader.best
        read = (lambda: encoding.read(assignment)) if reader is None and assignment is not None else lambda: best
        return on_incumbent(found.giving(read, lambda: assignment))

    return report


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
