"""Run a solver as a method: start, formulation, backend, and the schedules of its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..backends import Exactness, Incumbent, Limits, Result, WarmStart, run
from ..backends.driver import build_deadline
from ..backends.solver_thread import INTERRUPTED, catch_first
from ..heuristics.method import Start
from ..heuristics.registry import allocator
from ..models import Encoding, Problem, Schedule
from ..models.deadline import Deadline, OutOfTime, within
from ..models.formulations import all_formulations, encoding_of
from ..models.language import Assignment, Violation
from ..models.problem import objective_of, violations_of
from ..models.returned import WrongAnswer
from .runs import OnIncumbent, Reports, hold_against, put_schedule, start_schedule, without_solver
from .solvers import SolverMethod


class Reader:
    """A callback that converts each incumbent of a model to a schedule and keeps the best schedule.

    The objective of a schedule is computed by the problem, not taken from the solver. The starts of a relaxation
    become a schedule by allocation (``Allocator``).

    Parameters
    ----------
    problem
        The problem to solve.
    encoding
        The model of the problem, with the function that reads its answers.
    start
        The warm start; it is returned unchanged when the solver returns its starts.
    deadline
        When the call must end.
    """

    def __init__(self, problem: Problem, encoding: Encoding, start: Schedule | None, deadline: Deadline) -> None:
        self.problem = problem
        self.encoding = encoding
        self.start = start
        self.sign = 1 if problem.sense == "minimize" else -1
        self.best: Schedule | None = None
        self.objective: Any = None
        self.violation: Violation | None = None  # in the first answer that is not a feasible schedule
        self.in_model = False  # whether that answer satisfies the model
        self.allocator = allocator(problem, deadline) if encoding.relaxation else None

    def __call__(self, assignment: Assignment) -> Any:
        """Return the objective of the schedule of an answer; None if the answer gives no feasible schedule."""
        schedule = self.encoding.read(assignment)
        if self.start is not None and schedule.start == self.start.start:
            return self._keep(self.start)
        if self.allocator is not None:
            allocated = self.allocator.allocate(schedule.start)
            return None if allocated is None else self._keep(allocated)
        violations = violations_of(self.problem, schedule)
        if not violations:
            return None if self._is_below_start(schedule) else self._keep(schedule)
        if self.violation is None:
            self.violation = violations[0]
            self.in_model = not self.encoding.model.check(assignment)
        return None

    def fault(self, exactness: Exactness) -> str:
        """Return an error message if an answer of an exact formulation is not a feasible schedule; "" if there is none.

        If the lowering is a relaxation (a coarse time grid, a linear relaxation), an answer that violates the model may
        be infeasible without an error.
        """
        if self.violation is None or (exactness.kind == "relaxation" and not self.in_model):
            return ""
        source = "formulation" if self.in_model else "solver"
        return f"the {source}'s answer is no schedule of the problem: {self.violation.message}"

    def repair(self, seconds: float | None, seed: int) -> Any:
        """Improve the allocation of the answers read so far; return the new objective if it is better, else None.

        ``seconds`` limits the time; None: a fixed number of moves.
        """
        before = self.objective
        repaired = None if self.allocator is None else self.allocator.repair(seconds, seed)
        if repaired is not None:
            self._keep(repaired)
        return None if self.objective == before else self.objective

    def _is_below_start(self, schedule: Schedule) -> bool:
        """Return whether a schedule of a restricted model is worse than the start, which may be none of this model."""
        if self.start is None or not self.encoding.restriction:
            return False
        start = objective_of(self.problem, self.start)
        own = objective_of(self.problem, schedule)
        return not isinstance(start, tuple) and not isinstance(own, tuple) and self.sign * (own - start) > 0

    def _keep(self, schedule: Schedule) -> Any:
        value: Any = objective_of(self.problem, schedule)
        if isinstance(value, tuple):
            raise WrongAnswer(
                f"value of {self.problem.kind} problems returned {value}; expected a number, "
                f"as the model {self.encoding.model.name!r} has one objective"
            )
        if self.objective is None or self.sign * (value - self.objective) < 0:
            self.best = schedule
            self.objective = value
        return value


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
