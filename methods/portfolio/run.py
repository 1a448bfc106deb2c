"""Run the steps of ``auto``, each from the best schedule so far."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from ...backends import Limits, LoweringTooLarge, Result, SolverUnavailable, WarmStart
from ...backends.gaps import refutation, refutes
from ...backends.interrupts import INTERRUPTED
from ...heuristics import HEURISTICS
from ...heuristics.incumbents import answer
from ...models import Problem, Schedule
from ...models.excerpt import with_short_repr
from ...models.problem import Value
from ..method import Method, Start
from ..outcomes import OnIncumbent, without_solver
from ..run_search import run_search, start_schedule
from ..run_solver import run_solver
from ..searches import Search
from ..solvers import SolverMethod
from .best import Best, Bound, share_of
from .method import Auto
from .steps import parsed_steps


@with_short_repr
class StepOutcome(NamedTuple):
    """What a step of ``auto`` brought.

    Parameters
    ----------
    method
        Text of the method.
    status
        Status of its result.
    objective, bound
        Of its result; None: unknown.
    seconds
        Wall time.
    message
        Why it ended.
    """

    method: str
    status: str
    objective: Value | None
    bound: Bound | None
    seconds: float
    message: str


def run_auto(
    problem: Problem,
    method: Auto,
    limits: Limits,
    given: Schedule | Start | None,
    on_incumbent: OnIncumbent | None,
    began: float,
) -> Result:
    """Solve a problem by the steps of its kind.

    Parameters
    ----------
    problem : Problem
    method : Auto
    limits : Limits
        Each step has its share of the time limit, all threads, the seed and the gap.
    given : Schedule, Start or None
        The first schedule.
    on_incumbent : callable or None
        Called with each Incumbent; returning False ends the call.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds.

    Returns
    -------
    Result
        ``details["steps"]``: the `StepOutcome` of each step that ran.
    """
    best = Best(problem, limits, on_incumbent, began)
    start, why = start_schedule(problem, given, limits, best, began)
    if start is not None:
        best.add(answer(problem, start))
    fate = WarmStart("accepted") if start is not None else WarmStart("rejected", why) if why else WarmStart()
    outcomes: list[StepOutcome] = []
    ended = why if why == INTERRUPTED else ""
    infeasible: Result | None = None
    for step, share in parsed_steps(problem):
        own = share_of(limits, share, began)
        if ended or best.done or infeasible is not None or (own.time == 0 and best.schedule is not None):
            break
        found = _run_step(problem, step, own, best)
        best.add(found)
        outcomes.append(_outcome(step, found))
        ended = INTERRUPTED if found.message == INTERRUPTED else ""
        infeasible = found if found.status == "infeasible" and best.schedule is None else None
    result = _result(problem, method, best, outcomes, ended, infeasible)
    result.warm_start = replace(fate, returned=start is not None and best.schedule is start)
    return result


def _run_step(problem: Problem, step: Method, limits: Limits, best: Best) -> Result:
    """Run one step from the best schedule.

    A model that is too large, or a solver that cannot begin, makes its result "unavailable"; any other exception, beside
    those of the caller's callback, makes it "error": what other steps have found is not lost.
    """
    began = time.perf_counter()
    try:
        if isinstance(step, Search):
            start = best.schedule if HEURISTICS[step.name].starts else None
            return run_search(problem, step, limits, start, best, began)
        assert isinstance(step, SolverMethod)
        return run_solver(problem, step, limits, best.schedule, best, began)
    except (LoweringTooLarge, SolverUnavailable) as e:
        found = without_solver(problem, step.text, began, str(e))
        found.status = "unavailable"
    except Exception as e:
        if best.failure is not None:
            raise
        found = without_solver(problem, step.text, began, "")
        found.fail(f"{type(e).__name__}: {e}" if str(e) else type(e).__name__)
    return found


def _outcome(step: Method, found: Result) -> StepOutcome:
    return StepOutcome(step.text, found.status, found.objective, found.bound, found.seconds, found.message)


def _told(outcome: StepOutcome) -> str:
    """Return what a step brought, in words, and why it failed."""
    text = f"{outcome.method}: {outcome.status} in {outcome.seconds:.1f} s"
    return f"{text} ({outcome.message})" if outcome.status == "error" else text


def _result(
    problem: Problem,
    method: Auto,
    best: Best,
    outcomes: list[StepOutcome],
    ended: str,
    infeasible: Result | None,
) -> Result:
    """Return the result of all steps: the best schedule, the best bound, the trace."""
    from ... import __version__

    message = ended or "; ".join(map(_told, outcomes))
    details = {"steps": tuple(outcomes)}
    if best.schedule is None:
        found = without_solver(problem, method.text, best.began, message)
        if infeasible is not None:
            found.status, found.message, found.conflict = "infeasible", infeasible.message, infeasible.conflict
        elif outcomes and all(o.status == "error" for o in outcomes):
            found.fail(message)
        found.version, found.bound, found.details = __version__, best.bound, details
        return found
    found = answer(problem, best.schedule, message=message, details=details)
    found.solver, found.incumbents = method.text, best.trace
    total = time.perf_counter() - best.began
    found.phases = {"build": 0.0, "lower": 0.0, "solve": total, "total": total}
    if found.status != "error":
        _conclude(found, best)
    return found


def _conclude(found: Result, best: Best) -> None:
    """Put the best bound into a result; a bound that the schedule refutes makes it an error."""
    found.bound = best.bound
    if refutes(found.objective, found.bound, best.problem.sense):
        found.fail(refutation(found.bound, found.objective))
    elif best.closed:
        found.status = "optimal"
