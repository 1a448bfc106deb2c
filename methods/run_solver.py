"""Run a heuristic or a solver as a method: start, formulation, backend, and the schedules of its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..backends import Exactness, Incumbent, Limits, Result, WarmStart, run
from ..backends.driver import build_deadline
from ..backends.result import refutation, refutes
from ..backends.solver_thread import INTERRUPTED, catch_first
from ..heuristics.errors import NothingFound
from ..heuristics.method import Heuristic, Method, Start, allocator, warm_up_for
from ..models import Encoding, Problem, Schedule, kind
from ..models.kind import all_formulations, encoding_of
from ..models.language import Assignment, Model, Violation
from ..models.long_calls import Deadline, OutOfTime, within
from ..models.plugins import WrongAnswer, is_false
from ..models.problem import objective_of, violations_of
from .text import SolverMethod, start_method

# --- Run a heuristic as a method or as a start, and what all methods share: the verified schedule, incumbents, an early end.


OnIncumbent = Callable[[Incumbent], object]


def warm_up_method(method: Method, problem: Problem, start: str | None = None) -> None:
    """Compile the kernels that a method and the heuristic of its start need, and import its solver, before its time counts.

    Parameters
    ----------
    method : Method
        Another method than ``Auto``, whose steps are methods.
    problem : Problem
    start : str or None
        Name of the heuristic of the start.
    """
    warm_up_for(problem, method.heuristic, start)
    if isinstance(method, SolverMethod):
        method.load()


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
    if isinstance(objective, tuple):
        return bound[: len(objective)]
    return bound[0]


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
        going = None
        if self.on_incumbent is not None:
            going = self.on_incumbent(news)
        self._refused = self._refused or is_false(going)
        self.stopped = self._refused and news.objective is not None
        return going

    @property
    def callback(self) -> OnIncumbent | None:
        """The object itself; None if the caller has no callback."""
        if self.on_incumbent is None:
            return None
        return self


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
    times = []
    if given.time_limit is not None:
        times = [given.time_limit]
    share = limits.deadline.share(START_SHARE).remaining
    if share is not None:
        times.append(share)
    elif not times and method.backend_name:
        times.append(START_SECONDS)
    return limits.lasting(min(times, default=None))


# --- Conversion of the answers of a model to schedules of the problem.


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
        if problem.sense == "minimize":
            self.sign = 1
        else:
            self.sign = -1
        self.best: Schedule | None = None
        self.objective: Any = None
        self.violation: Violation | None = None  # in the first answer that is not a feasible schedule
        self.in_model = False  # whether that answer satisfies the model
        if not encoding.relaxation:
            self.allocator = None
        else:
            self.allocator = allocator(problem, deadline)

    def __call__(self, assignment: Assignment) -> Any:
        """Return the objective of the schedule of an answer; None if the answer gives no feasible schedule."""
        schedule = self.encoding.read(assignment)
        if self._is_start(schedule):
            return self._keep(self.start)  # type: ignore[arg-type]
        if self.allocator is not None:
            allocated = self.allocator.allocate(schedule.start)
            if allocated is None:
                return None
            return self._keep(allocated)
        violations = violations_of(self.problem, schedule)
        if not violations:
            if self._is_below_start(schedule):
                return None
            return self._keep(schedule)
        if self.violation is None:
            self.violation = violations[0]
            self.in_model = not self.encoding.model.check(assignment)
        return None

    def _is_start(self, schedule: Schedule) -> bool:
        """Return whether a schedule is the start, as far as the formulation says what it is, or another one as good with its times."""
        if self.start is None or schedule.start != self.start.start:
            return False
        if self.allocator is not None or not schedule.nodes or schedule.nodes == self.start.nodes:
            return True
        if violations_of(self.problem, schedule):
            return False
        values: list[Any] = [objective_of(self.problem, each) for each in (self.start, schedule)]
        return bool(self.sign * values[0] <= self.sign * values[1])

    def fault(self, exactness: Exactness) -> str:
        """Return an error message if an answer of an exact formulation is not a feasible schedule; "" if there is none.

        If the lowering is a relaxation (a coarse time grid, a linear relaxation), an answer that violates the model may
        be infeasible without an error.
        """
        if self.violation is None or (exactness.kind == "relaxation" and not self.in_model):
            return ""
        source = "solver"
        if self.in_model:
            source = "formulation"
        return f"the {source}'s answer is no schedule of the problem: {self.violation.message}"

    def repair(self, seconds: float | None, seed: int) -> Any:
        """Improve the allocation of the answers read so far; return the new objective if it is better, else None.

        ``seconds`` limits the time; None: a fixed number of moves.
        """
        before = self.objective
        repaired = None
        if self.allocator is not None:
            repaired = self.allocator.repair(seconds, seed)
        if repaired is not None:
            self._keep(repaired)
        if self.objective == before:
            return None
        return self.objective

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


# --- Run a solver: start, formulation, backend, and the schedules of its answers.

WHY = "sl.explain(problem) finds a minimal set of its elements that cannot hold together"
VALUE_TOLERANCE = 1e-5  # of the value of an answer, relative: models have rounded coefficients
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
    judge = None
    if not several:
        judge = reader
    hint = None
    if start is not None:
        hint = encoding.write(start)
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
    by_solver = (bool(fault) and not reader.in_model) or (
        result.status == "error" and _two_values(problem, encoding, result.assignment) is None
    )
    if encoding.relaxation and result.exactness.kind == "exact":
        result.exactness = Exactness("relaxation", (f"formulation {formulation}", *result.exactness.notes))
    if result.status == "unavailable":
        return result
    if several:
        if result.assignment is not None and result.status != "error":
            put_schedule(result, problem, encoding.read(result.assignment))
        if start is not None:
            hold_against(result, problem, start)
        if result.status == "error" and not by_solver:
            _blame(result, problem, encoding, formulation, None, start)
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
    if result.status == "error" and not by_solver:
        _blame(result, problem, encoding, formulation, reader.violation, start)
    exact = result.exactness.kind == "exact" and not encoding.restriction
    if exact and result.status == "feasible" and result.assignment is not None:
        result.message = "; ".join(filter(None, (result.message, _undervalued(problem, encoding, result.assignment))))
    return result


def _blame(
    result: Result,
    problem: Problem,
    encoding: Encoding,
    formulation: str | None,
    violation: Violation | None,
    start: Schedule | None,
) -> None:
    """Add to an error of a third party's formulation whose it is, what is wrong in it, and what to do.

    ``violation`` is that of an answer of its model, if there is one.
    """
    if formulation is None or formulation in all_formulations(problem).own:
        return
    excluded = []
    if start is not None:
        excluded = encoding.model.check(encoding.write(start))
    if violation is not None:
        wrong = (
            f"an answer of its model fails the check of {violation.constraint!r}: add the constraint that the model lacks, or "
            "mend read, if it returns another schedule than the model means"
        )
    elif excluded:
        wrong = (
            f"its constraint {excluded[0].constraint!r} excludes a verified schedule ({excluded[0].message}): mend the "
            "constraint, or write, if it returns another assignment than the schedule"
        )
    else:
        wrong = "its objective is not that of the problem" + _told_values(
            _two_values(problem, encoding, result.assignment)
        )
    result.fail(f"{result.message}. The formulation {formulation!r} is wrong, which is not one of schedlab: {wrong}")


def _undervalued(problem: Problem, encoding: Encoding, answer: Assignment) -> str:
    """Return a message if the model of an exact formulation gives an answer a better value than the problem does, else ""."""
    values = _two_values(problem, encoding, answer)
    sign = -1
    if problem.sense == "minimize":
        sign = 1
    if values is None or sign * (values[1] - values[0]) <= 0:
        return ""
    return (
        f"the model {encoding.model.name!r} values this answer at {values[0]:g}, the problem at {values[1]:g}: the "
        "formulation has another objective, so that its bound cannot prove an answer"
    )


def _two_values(problem: Problem, encoding: Encoding, answer: Assignment | None) -> tuple[float, float] | None:
    """Return the value of an answer in the model, and that of its schedule in the problem; None if they are equal or unknown."""
    model = encoding.model
    if answer is None or len(model.objectives) != 1:
        return None
    schedule = encoding.read(answer)
    if violations_of(problem, schedule):
        return None
    own = model.value(model.objectives[0], answer)
    value = objective_of(problem, schedule)
    if own is None or isinstance(value, tuple) or abs(value - own) <= VALUE_TOLERANCE * max(1.0, abs(value)):
        return None
    return float(own), float(value)


def _told_values(values: tuple[float, float] | None) -> str:
    if values is None:
        return ": compare the two for one schedule, by model.value and problem.value"
    return f": it values this answer at {values[0]:g}, the problem at {values[1]:g}"


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
        best = None
        if reader is not None:
            best = reader.best
        read = (lambda: encoding.read(assignment)) if reader is None and assignment is not None else lambda: best
        return reports.pass_on(_of_problem(incumbent, encoding).giving(read, lambda: assignment))

    return report


def _of_problem(incumbent: Incumbent, encoding: Encoding) -> Incumbent:
    """Return an incumbent of the model without the values of the objectives that the problem does not have."""
    if not encoding.ties:
        return incumbent

    def own(values: Any) -> Any:
        if isinstance(values, tuple):
            return values[: -encoding.ties]
        return values

    return Incumbent(incumbent.seconds, own(incumbent.objective), own(incumbent.bound)).less(incumbent.offset)


def _solver_limits(limits: Limits, encoding: Encoding) -> Limits:
    """Return the solver's limits: for a relaxation, without the time that the repair of its answers needs."""
    if encoding.relaxation:
        return replace(limits, time=limits.deadline.share(1 - REPAIR_SHARE).limit)
    return limits


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
