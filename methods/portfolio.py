"""The method ``auto``: the portfolio of a problem's kind, step by step, each from the best schedule so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..backends import Incumbent, Limits, LoweringTooLarge, Result, SolverUnavailable, WarmStart
from ..backends.result import Offset, close, gap_of, refutation, refutes
from ..backends.solver_thread import INTERRUPTED
from ..errors import ObjectiveDisagrees
from ..heuristics.method import HEURISTICS, Heuristic, Method, Start
from ..heuristics.own import BranchAndBound, Lagrangian
from ..heuristics.search_parts import answer, improves
from ..models import Problem, Schedule, kind
from ..models.kind import Step
from ..models.plugins import is_false
from ..models.problem import Value
from ..models.words import with_short_repr
from .run_solver import OnIncumbent, run_search, run_solver, start_schedule, warm_up_method, without_solver
from .text import Auto, SolverMethod, parse_method

if TYPE_CHECKING:
    from ..models import Dispatch, Eviction, Profit, Project

# --- The steps of ``auto`` for each kind of problem: what runs, and how much of the time limit it may take.

FEW = 40  # jobs: exact methods get most of the time
SMALL = 100  # jobs: CP-SAT repairs parts of the schedule in LNS
FINE = 200  # jobs: the linear relaxation has a fine grid


def dispatch_steps(problem: Dispatch) -> Sequence[Step]:
    """Return list schedules, exact methods if the problem is small, LNS, and a relaxation for the bound.

    The relaxation is the linear one if the objective is no sum over jobs.
    """
    jobs = len(problem.jobs)
    linear = "highs:pool@1800s..100000s-energy"
    if jobs <= FINE:
        linear = "highs:pool@600s..36000s-energy"
    bound = "lagrangian"
    if not Lagrangian.takes(problem):
        bound = linear
    if jobs > SMALL:
        return [Step("multi-search"), Step("lns", 0.9), Step(bound)]
    exact = "cpsat:counts"
    if jobs > FEW:
        return [Step("multi-search"), Step("lns", 0.55), Step("lns@cpsat", 0.35), Step(bound)]
    if BranchAndBound.takes(problem):
        return [Step("multi-search"), Step("branch-and-bound", 0.6), Step(exact, 0.3), Step("lns@cpsat")]
    return [Step("multi-search"), Step(bound, 0.15), Step(exact, 0.3), Step("lns@cpsat", 0.3), Step(exact)]


def profit_steps(problem: Profit) -> Sequence[Step]:
    """Return list schedules, LNS, and the fluid relaxation for the bound; CP-SAT before them if there are few jobs."""
    exact = []
    if len(problem.jobs) <= FEW:
        exact = [Step("cpsat:counts", 0.3)]
    return [Step("multi-search"), *exact, Step("highs:fluid@lp", 0.15), Step("lns")]


def eviction_steps(problem: Eviction) -> Sequence[Step]:
    """Return the greedy method, the dynamic program, and CP-SAT where the program is not exact."""
    exact = []
    if problem.shared_bandwidth:
        exact = [Step("cpsat:shared")]
    return [Step("greedy"), Step("dp"), *exact]


def project_steps(problem: Project) -> Sequence[Step]:
    """Return serial schedule generation, bounds, LNS, CP-SAT, and LNS with CP-SAT; of these, what supports the project."""
    from ..heuristics.project.serial_sgs import plain

    if plain(problem):
        return [
            Step("multi-sgs"),
            Step("bounds", 0.05),
            Step("lns", 0.1),
            Step("cpsat:modes", 0.3),
            Step("lns@cpsat"),
        ]
    first = []
    if HEURISTICS["multi-sgs"].takes(problem):
        first = [Step("multi-sgs")]
    bounds = []
    if first and HEURISTICS["bounds"].takes(problem):
        bounds = [Step("bounds", 0.05)]
    if not HEURISTICS["lns"].takes(problem):
        return [*first, *bounds, Step("cpsat:modes")]
    return [*first, *bounds, Step("lns", 0.1), Step("cpsat:modes", 0.3), Step("lns@cpsat")]


def usual_steps(problem: Problem) -> Sequence[Step]:
    """Return the steps for a kind that declares none: its usual start, if it has one, and its first formulation."""
    known = kind.known(problem.kind)
    if known is None or known.start is None:
        start = []
    else:
        start = [Step(known.start)]
    return [*start, *(Step(f"cpsat:{name}") for name in list(problem.formulations)[:1])]


def parsed_steps(problem: Problem) -> list[tuple[Method, float]]:
    """Return the method and the share of the time limit of each step for a problem."""
    known = kind.known(problem.kind)
    if known is None or known.portfolio is None:
        declared = usual_steps
    else:
        declared = kind.resolve(known.portfolio)
    return [(parse_method(step.method, problem), step.share) for step in declared(problem)]


def warm_up(method: Method, problem: Problem, start: str | None = None) -> None:
    """Do what ``warm_up_method`` does for a method, or for all steps of ``Auto``."""
    if isinstance(method, Auto):
        methods = [step for step, _ in parsed_steps(problem)]
    else:
        methods = [method]
    for each in methods:
        warm_up_method(each, problem, start)


# --- The best schedule and the best bound of several methods on one problem.

Bound = float | tuple[float | None, ...]


class Best:
    """The best schedule, bound and trace of a call; also the callback of its methods.

    Parameters
    ----------
    problem : Problem
    limits : Limits
        ``gap`` ends the call; they have its begin.
    on_incumbent : callable or None
        The caller's; returning False ends the call.

    Attributes
    ----------
    schedule, objective, bound
        None as long as unknown.
    trace : list of Incumbent
    stopped : bool
        Whether the caller has ended the call.
    failure : Exception or None
        What the caller's callback has raised.
    """

    def __init__(self, problem: Problem, limits: Limits, on_incumbent: OnIncumbent | None) -> None:
        self.problem = problem
        self.on_incumbent = on_incumbent
        self.deadline = limits.deadline
        self.gap_limit = limits.gap or 0.0
        self.schedule: Schedule | None = None
        self.objective: Value | None = None
        self.bound: Bound | None = None
        self.offset: Offset = 0.0  # of the objective: of the methods that know it
        self.trace: list[Incumbent] = []
        self.stopped = False
        self.failure: Exception | None = None

    def __call__(self, news: Incumbent) -> object:
        """Report a better schedule of a running method to the caller; return False to end the method."""
        if news.objective is not None and improves(self.problem, news.objective, self._reported):
            self._report(news.objective, news.schedule, news.placement)
        return not self.stopped

    def add(self, result: Result) -> None:
        """Add the result of a method: its schedule, if it is verified and better, and its bound, if it is better."""
        if result.status == "error":
            return
        if result.schedule is not None and improves(self.problem, result.objective, self.objective):
            schedule = result.schedule
            self.schedule = schedule
            self.objective = result.objective
            if improves(self.problem, result.objective, self._reported):
                self._report(result.objective, lambda: schedule)
        self.offset = result.offset or self.offset
        if result.exactness.kind != "restriction" and self._tighter(result.bound):
            self.bound = result.bound
            self._report(self._reported)

    @property
    def closed(self) -> bool:
        """Whether the best schedule is proven to be optimal."""
        triples = list(zip(_values(self.objective), _values(self.bound), self._offsets, strict=False))
        return bool(triples) and all(
            o is not None and b is not None and close(o, b, offset=less) for o, b, less in triples
        )

    @property
    def done(self) -> bool:
        """Whether the call is over: optimal, within the gap, or ended by the caller."""
        known = gap_of(self.objective, self.bound, self.offset)
        if isinstance(known, tuple):
            gaps = known
        else:
            gaps = (known,)
        near = bool(gaps) and all(gap is not None and gap <= self.gap_limit for gap in gaps)
        return self.stopped or self.closed or (near and self.gap_limit > 0)

    @property
    def _offsets(self) -> tuple[float, ...]:
        several = len(_values(self.objective))
        if isinstance(self.offset, tuple):
            return self.offset
        return (self.offset,) * several

    @property
    def _reported(self) -> Value | None:
        if self.trace:
            return self.trace[-1].objective
        return None

    def _tighter(self, bound: Bound | None) -> bool:
        """Return whether a bound is better; with several objectives only a bound on each one counts."""
        values = _values(bound)
        old = _values(self.bound)
        if not values or any(value is None for value in values):
            return False
        sign = -1
        if self.problem.sense == "minimize":
            sign = 1
        return not old or [sign * v for v in values if v is not None] > [sign * v for v in old if v is not None]

    def _report(
        self, objective: Value | None, schedule: Callable[[], Schedule | None] | None = None, placement: object = None
    ) -> None:
        news = Incumbent(self.deadline.elapsed, objective, self.bound).less(self.offset)
        self.trace.append(news)
        if self.on_incumbent is None:
            return
        try:
            going = self.on_incumbent(news.giving(schedule, None, placement))
        except Exception as e:
            self.failure = e
            raise
        if is_false(going):
            self.stopped = objective is not None


def _values(value: Value | Bound | None) -> tuple[float | None, ...]:
    if value is None:
        return ()
    if isinstance(value, tuple):
        return value
    return (value,)


def share_of(limits: Limits, share: float) -> Limits:
    """Return the limits of a step that begins now: its share of the time limit, at most what is left; the gap of the call."""
    return limits.lasting(None if limits.time is None else limits.deadline.at_most(share * limits.time))


# --- Run the steps of ``auto``, each from the best schedule so far.


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
) -> Result:
    """Solve a problem by the steps of its kind.

    Parameters
    ----------
    problem : Problem
    method : Auto
    limits : Limits
        Each step has its share of the time limit, all threads, the seed and the gap. They have the begin of the call.
    given : Schedule, Start or None
        The first schedule.
    on_incumbent : callable or None
        Called with each Incumbent; returning False ends the call.

    Returns
    -------
    Result
        ``details["steps"]``: the `StepOutcome` of each step that ran.
    """
    best = Best(problem, limits, on_incumbent)
    start, why = start_schedule(problem, given, limits, best)
    if start is not None:
        best.add(answer(problem, start))
    if why:
        fate = WarmStart("rejected", why)
    else:
        fate = WarmStart()
    if start is not None:
        fate = WarmStart("accepted")
    outcomes: list[StepOutcome] = []
    ended = ""
    if why == INTERRUPTED:
        ended = why
    infeasible: Result | None = None
    for step, share in parsed_steps(problem):
        own = share_of(limits, share)
        if ended or best.done or infeasible is not None or (own.time == 0 and best.schedule is not None):
            break
        step_result = _run_step(problem, step, own, best)
        best.add(step_result)
        outcomes.append(_outcome(step, step_result))
        ended = ""
        if step_result.message == INTERRUPTED:
            ended = INTERRUPTED
        infeasible = None
        if step_result.status == "infeasible" and best.schedule is None:
            infeasible = step_result
    result = _result(problem, method, best, outcomes, ended, infeasible)
    result.warm_start = replace(fate, returned=start is not None and best.schedule is start)
    return result


def _run_step(problem: Problem, step: Method, limits: Limits, best: Best) -> Result:
    """Run one step from the best schedule.

    A model that is too large, or a solver that cannot begin, makes its result "unavailable"; any other exception, beside
    those of the caller's callback, and an objective that disagrees with its costs, makes it "error": what other steps have
    found is not lost.
    """
    try:
        if isinstance(step, Heuristic):
            start = None
            if step.takes_start():
                start = best.schedule
            return run_search(problem, step, limits, start, best)
        assert isinstance(step, SolverMethod)
        return run_solver(problem, step, limits, best.schedule, best)
    except (LoweringTooLarge, SolverUnavailable) as e:
        result = without_solver(problem, step.text, limits.deadline, str(e))
        result.status = "unavailable"
    except ObjectiveDisagrees:  # the fault of the problem, which each further step would meet
        raise
    except Exception as e:
        if best.failure is not None:
            raise
        result = without_solver(problem, step.text, limits.deadline, "")
        result.fail(f"{type(e).__name__}: {e}" if str(e) else type(e).__name__)
    return result


def _outcome(step: Method, result: Result) -> StepOutcome:
    return StepOutcome(step.text, result.status, result.objective, result.bound, result.seconds, result.message)


def _told(outcome: StepOutcome) -> str:
    """Return what a step brought, in words, and why it failed."""
    text = f"{outcome.method}: {outcome.status} in {outcome.seconds:.1f} s"
    if outcome.status == "error":
        return f"{text} ({outcome.message})"
    return text


def _result(
    problem: Problem,
    method: Auto,
    best: Best,
    outcomes: list[StepOutcome],
    ended: str,
    infeasible: Result | None,
) -> Result:
    """Return the result of all steps: the best schedule, the best bound, the trace."""
    from .. import __version__

    message = ended or "; ".join(map(_told, outcomes))
    details = {"steps": tuple(outcomes)}
    if best.schedule is None:
        result = without_solver(problem, method.text, best.deadline, message)
        if infeasible is not None:
            result.status = "infeasible"
            result.message = infeasible.message
            result.conflict = infeasible.conflict
        elif outcomes and all(o.status == "error" for o in outcomes):
            result.fail(message)
        result.version = __version__
        result.bound = best.bound
        result.details = details
        return result
    result = answer(problem, best.schedule, message=message, details=details)
    result.solver = method.text
    result.incumbents = best.trace
    total = best.deadline.elapsed
    result.phases = {"build": 0.0, "lower": 0.0, "solve": total, "total": total}
    if result.status != "error":
        _conclude(result, best)
    return result


def _conclude(result: Result, best: Best) -> None:
    """Put the best bound into a result; a bound that the schedule refutes makes it an error."""
    result.bound = best.bound
    result.offset = best.offset
    if refutes(result.objective, result.bound, best.problem.sense):
        result.fail(refutation(result.bound, result.objective))
    elif best.closed:
        result.status = "optimal"
