"""Run a solver as a method: start, formulation, backend, and the schedules of its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..backends import Exactness, Incumbent, Limits, Result, WarmStart, run
from ..backends.driver import build_deadline
from ..backends.solver_thread import INTERRUPTED, catch_first
from ..heuristics.method import Start
from ..heuristics.reader import Reader
from ..models import Encoding, Problem, Schedule, kind
from ..models.formulations import all_formulations, encoding_of
from ..models.language.clock import OutOfTime, within
from .runs import OnIncumbent, Reports, hold_against, put_schedule, start_schedule, without_solver
from .solvers import SolverMethod

WHY = "sl.explain(problem) finds a minimal set of its elements that cannot hold together"
REPAIR_SHARE = 0.1  # of the time limit: for making a schedule from the answers of a relaxation


def run_solver(
    problem: Problem,
    method: SolverMethod,
    limits: Limits,
    given: Schedule | Start | None,
    on_incumbent: OnIncumbent | None,
) -> Result:
    """Solve a problem by a solver.

    Parameters
    ----------
    problem : Problem
    method : SolverMethod
    limits : Limits
        They have the begin of the call.
    given : Schedule, Start or None
        Where to start from.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the solver.

    Returns
    -------
    Result
    """
    deadline = limits.deadline
    reports = Reports(on_incumbent, deadline)
    # the start comes first: a formulation that is too large for the time limit costs the call its solver, not its start
    start, why = start_schedule(problem, given, limits, reports.callback)
    started = deadline.elapsed
    if why == INTERRUPTED or reports.stopped:
        return without_solver(problem, method.name, deadline, why, start)
    formulation = method.formulation or next(iter(all_formulations(problem)), None)
    try:
        with within(build_deadline(limits)):
            encoding = encoding_of(problem, formulation)
    except OutOfTime as late:
        return without_solver(problem, method.name, deadline, str(late), start, why)
    except KeyboardInterrupt as e:
        catch_first(e)
        return without_solver(problem, method.name, deadline, INTERRUPTED, start, why)
    reader = Reader(problem, encoding, start, deadline)
    # with several objectives the values are those of the model, and the schedule is read at the end
    several = len(encoding.model.objectives) > 1
    judge = None if several else reader
    hint = None if start is None else encoding.write(start)
    result = run(
        encoding.model,
        method.name,
        _solver_limits(limits, encoding),
        warm_start=hint,
        on_incumbent=None if on_incumbent is None else _with_schedules(reports, encoding, judge),
        judge=judge,
        restriction=f"formulation {formulation}" if encoding.restriction else None,
        known_bound=_proved_bound(problem, method, encoding, formulation, limits),
        **method.compile_options,
    )
    result.problem = problem
    result.incumbents = [_of_problem(i, encoding) for i in result.incumbents]
    if result.status == "infeasible" and result.message != INTERRUPTED:
        result.message = "; ".join(filter(None, (result.message, WHY)))
    if why:
        result.warm_start = WarmStart("rejected", why)
    fault = reader.fault(result.exactness)
    if encoding.relaxation and result.exactness.kind == "exact":
        result.exactness = Exactness("relaxation", (f"formulation {formulation}", *result.exactness.notes))
    if result.status == "unavailable":
        return result
    if several:
        if result.assignment is not None and result.status != "error":
            put_schedule(result, problem, encoding.read(result.assignment))
        if start is not None:
            hold_against(result, problem, start)
        return result
    try:
        if result.message != INTERRUPTED and not reports.stopped:
            _repair(result, reader, limits)
    except KeyboardInterrupt as e:
        catch_first(e)
        result.message = INTERRUPTED
    if fault:
        result.fail(fault)
    if reader.best is not None:
        put_schedule(result, problem, reader.best)
    elif start is not None and result.status == "unknown":  # the time did not suffice to check it against the model
        put_schedule(result, problem, start)
        result.warm_start = replace(result.warm_start, returned=True)
        result.incumbents = [Incumbent(started, result.objective, None), *result.incumbents]
        if encoding.restriction and result.message != INTERRUPTED:
            result.message = "no answer of the restricted model is better than the start"
    if start is not None:
        hold_against(result, problem, start)
    return result


def _proved_bound(
    problem: Problem, method: SolverMethod, encoding: Encoding, formulation: str | None, limits: Limits
) -> float | None:
    """Return the bound that the solver is given: that of the kind, for one of its own exact formulations; else None."""
    known = kind.known(problem.kind)
    own = formulation in all_formulations(problem).own
    if known is None or known.bound is None or not own or encoding.relaxation or not method.takes_bound:
        return None
    bound: float | None = kind.resolve(known.bound)(problem, limits)
    return bound


def _with_schedules(reports: Reports, encoding: Encoding, reader: Reader | None) -> OnIncumbent:
    """Return a callback for incumbents of the model that reports incumbents of the problem, which give schedules.

    The schedule is the reader's best, or, without a reader, the one read from the assignment of the incumbent.
    """

    def report(incumbent: Incumbent) -> object:
        assignment = incumbent.assignment()
        best = None if reader is None else reader.best
        read = (lambda: encoding.read(assignment)) if reader is None and assignment is not None else lambda: best
        return reports.pass_on(_of_problem(incumbent, encoding).giving(read, lambda: assignment))

    return report


def _of_problem(incumbent: Incumbent, encoding: Encoding) -> Incumbent:
    """Return an incumbent of the model without the values of the objectives that the problem does not have."""
    if not encoding.ties:
        return incumbent

    def own(values: Any) -> Any:
        return values[: -encoding.ties] if isinstance(values, tuple) else values

    return Incumbent(incumbent.seconds, own(incumbent.objective), own(incumbent.bound)).less(incumbent.offset)


def _solver_limits(limits: Limits, encoding: Encoding) -> Limits:
    """Return the solver's limits: for a relaxation, without the time that the repair of its answers needs."""
    return replace(limits, time=limits.deadline.share(1 - REPAIR_SHARE).limit) if encoding.relaxation else limits


def _repair(result: Result, reader: Reader, limits: Limits) -> None:
    """Improve the schedules made from a relaxation's answers, in the time that is left.

    Without a time limit, or with a deterministic one, the repair does not depend on a clock. A schedule that is proven to
    be optimal is left as it is: the search for a better one would use up its share of the limit.
    """
    if result.status == "optimal":
        return
    deadline = limits.deadline
    seconds = None
    if limits.time is not None and limits.deterministic is None:
        seconds = deadline.at_most(REPAIR_SHARE * limits.time)
    better = reader.repair(seconds, limits.seed)
    if better is not None:
        result.incumbents.append(Incumbent(deadline.elapsed, better, result.bound))
        result.warm_start = replace(result.warm_start, returned=False)
    result.phases["total"] = deadline.elapsed
