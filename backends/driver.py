"""Run a model on a backend: time limit, warm start, several objectives, verification, the result."""

from __future__ import annotations

import copy
import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import LoweringTooLarge, SolverUnavailable, WrongArgument, WrongValue
from ..models.arguments import expect, unknown_keyword
from ..models.elements import minimal_set
from ..models.kind import is_problem
from ..models.language import Assignment, Comparison, Integer, Interval, IntervalValue, Linear, Model, NamedConstraint
from ..models.language.bounds import defined
from ..models.language.constraints import ModelData
from ..models.language.expressions import ModelError, pair, told, whole
from ..models.language.model import without_end
from ..models.language.semantics import REAL_TOLERANCE, late_presence, needs_origin, offset_of, origin_of
from ..models.long_calls import Deadline, OutOfTime, uncollected, unexamined, within
from ..models.words import hint, how_many, listed
from .base import (
    MINIMAL,
    UNTRIED,
    Backend,
    Compiled,
    Conflict,
    Exactness,
    Limits,
    MissingConstruct,
    NoConflict,
    Outcome,
    Status,
    WarmStart,
    Watch,
    checked_availability,
    checked_compiled,
    checked_limits,
    checked_outcome,
    require_obeyed,
)
from .base import backend as find_backend
from .result import Judge, OnIncumbent, Recorder, Result, refutation, size_of
from .solver_thread import INTERRUPTED, NotCompiled, ThreadedRun, TooManyLeft, catch_first, joined, new_call

# --- Ordered objectives by successive solves: the model of each stage, and the result of all stages.
#
# Stage k optimizes objective k. For each objective j < k, with the value v_j that stage j reached, it has the constraint
# ``objective j <= v_j`` (minimize) or ``objective j >= v_j`` (maximize).


def stage_of(model: Model, k: int, kept: Sequence[NamedConstraint] = ()) -> Model:
    """Return the model with its k-th objective alone, and with the constraints ``kept`` on the objectives before it."""
    if len(model.objectives) <= 1 and not kept:
        return model
    stage = copy.copy(model)
    stage.objectives = model.objectives[k : k + 1]
    stage.constraints = [*model.constraints, *kept, *defining(model, k + 1)]
    return stage


def defining(model: Model, first: int) -> list[NamedConstraint]:
    """Return constraints that the objectives from one on, which are left out, have a value."""
    rest = ((k, defined(model, k)) for k in range(first, len(model.objectives)))
    return [NamedConstraint(f"objective {k + 1}", c) for k, c in rest if c is not None]


def keep(model: Model, k: int, value: float) -> NamedConstraint:
    """Return the constraint that objective k is no worse than a value."""
    e = model.objectives[k]
    size = size_of(value, value, float(offset_of(e, origin_of(model))))
    slack = 0.0
    if not e.integral:
        slack = REAL_TOLERANCE * max(1.0, size) / 2
    edge = value - e.constant
    if model.sense == "minimize":
        low = -math.inf
        high = edge + slack
    else:
        low = edge - slack
        high = math.inf
    if e.integral:
        if model.sense == "minimize":
            low, high = (low, int(high))
        else:
            low, high = (int(low), high)
    return NamedConstraint(f"objective {k + 1} as good as {value}", Comparison(Linear(e.terms), low, high))


def no_better(model: Model, bound: float) -> NamedConstraint:
    """Return the constraint that the first objective is no better than a proved bound."""
    e = model.objectives[0]
    edge = bound - e.constant
    if model.sense == "minimize":
        return NamedConstraint("proved bound", Comparison(Linear(e.terms), edge, math.inf))
    return NamedConstraint("proved bound", Comparison(Linear(e.terms), -math.inf, edge))


def conclude(result: Result, model: Model, bounds: Sequence[Any], proven: Sequence[bool]) -> None:
    """Turn the result of the last stage into the result of all stages.

    Bounds of the objectives after an unproven stage are unknown: they are true only for the value that this stage
    reached.

    Parameters
    ----------
    result : Result
        Result of the last stage. It is changed: ``objective`` and ``bound`` become tuples.
    model : Model
        The model with all its objectives.
    bounds : sequence of float or None
        Bound of each stage that ran.
    proven : sequence of bool
        Whether the optimum of each stage that ran is proven.
    """
    count = len(model.objectives)
    if result.assignment is not None and result.status != "error":
        result.objective = tuple(model.value(e, result.assignment) for e in model.objectives)
    else:
        result.objective = None
    certain = next((k + 1 for k, sure in enumerate(proven) if not sure), len(proven))
    result.bound = (*bounds[:certain], *(None,) * (count - certain))
    if result.status == "unavailable" and result.assignment is not None:
        result.status = "feasible"  # an earlier stage has a solution; the message says why this stage has none
    if result.status not in ("optimal", "feasible"):
        return
    if all(proven) and len(proven) == count:
        return
    result.status = "feasible"
    result.message = f"{_unproven(proven, count)}. {result.message}".rstrip(". ")


def _unproven(proven: Sequence[bool], count: int) -> str:
    """Return a text that says which objectives are not proven optimal and which were not optimized."""
    open_ = [str(k + 1) for k, sure in enumerate(proven) if not sure]
    parts = []
    if open_:
        parts = [f"no proof for objective {', '.join(open_)} of {count}"]
    if len(proven) < count:
        left = count - len(proven)
        parts.append(
            f"the last {left} of {how_many(count, 'objective')} {'was' if left == 1 else 'were'} not optimized"
        )
    return "; ".join(parts)


FALSE_PROOF = "{} calls the model infeasible, which is a fault of this backend:"
HORIZON = "horizon"  # how the name of a declared horizon begins in a conflict
NOT_TESTED = "this was not tested: the time ended"
CONFLICT_SECONDS = 5.0  # greatest wall time of the search for a conflict
# words of solvers that do not say which limit ended a run; a gap that is reached is an optimum for some of them
NO_REASON = ("", "Optimal", "optimal", "Interrupted by user", "Solution limit reached", "maxTimeLimit")
END_SECONDS = 0.05  # how long before its time limit a solver may end because of it
BUILD_SHARE = 0.9  # of the time limit, in which the solver can begin
CHECK_SECONDS = 3e-6  # of a term of a constraint in the check of an answer, measured, with a margin


def compile(model: Model, backend: str, **options: Any) -> Compiled:  # noqa: A001
    """Lower a model, with its first objective alone, to the native model of a solver.

    Parameters
    ----------
    model : Model
    backend : str
        Name of the backend, such as "cpsat".
    **options
        Options of the backend.

    Returns
    -------
    Compiled
        ``native`` is the solver's own model, ``var(x)`` gives the native variables of a variable, and
        ``assignment(answer)`` converts a native answer to an assignment of the model.

    Raises
    ------
    UnknownName
        If there is no such backend.
    SolverUnavailable
        If the solver is not installed or cannot take the model.
    LoweringTooLarge
        If the lowering would be larger than its limit.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> type(sl.compile(m, "cpsat").native).__name__
    'CpModel'
    """
    if not isinstance(model, Model):
        raise WrongArgument(f"model of compile is {model!r:.80}; expected a Model{_model_of(model)}")
    expect("backend of compile", backend, str)
    chosen = find_backend(backend)
    try:
        return _compiled(chosen, stage_of(model, 0), options)
    except ImportError as e:
        raise SolverUnavailable(f"backend {backend!r} cannot be used: {chosen.availability().reason or e}") from e


def _model_of(what: object) -> str:
    """Return how to make a model of a problem, for a message; "" for anything else."""
    if not is_problem(what):
        return ""
    names = ", ".join(map(repr, what.formulations))  # type: ignore[attr-defined]
    return f"; that of a problem p is p.formulations[NAME]().model, where NAME is one of {names}"


def build_deadline(limits: Limits) -> Deadline:
    """Return the deadline by which a model must be built and lowered.

    What is built by then and not used must be freed before the call can return.
    """
    return limits.deadline.share(BUILD_SHARE)


def _compiled(solver: Backend, model: Model, options: dict[str, Any]) -> Compiled:
    """Compile a model, after replacing the constructs that the backend does not support."""
    try:
        with uncollected():
            return _compiled_exactly(solver, model, options)
    except OverflowError as e:
        raise SolverUnavailable(f"a number of the model is too large for {solver.name}: {e}; use other units") from e


def _compiled_exactly(solver: Backend, model: Model, options: dict[str, Any]) -> Compiled:
    known = list(inspect.signature(solver.compile).parameters.values())[1:]
    if not any(p.kind is p.VAR_KEYWORD for p in known):
        for name in options:
            if name not in [p.name for p in known]:
                raise unknown_keyword(f"compile for {solver.name}", name, [p.name for p in known])
    if not hasattr(solver, "supports"):
        try:
            return checked_compiled(solver, solver.compile(model, **options))
        except MissingConstruct:
            if not hasattr(solver, "lacks"):
                raise
    from .decompositions.chain import compile_supported

    return compile_supported(solver, model, **options)


def _compiled_at_origin(solver: Backend, model: Model, options: dict[str, Any]) -> Compiled:
    """Compile a model for one run, so that neither its size nor the solver's gap depends on the absolute size of times.

    Where it matters, the copy that is compiled has times from the earliest start of the model on.
    """
    if not needs_origin(model):
        try:
            return _compiled(solver, model, options)
        except SolverUnavailable as e:
            advice = _missing_windows(model)
            if not advice:
                raise
            raise SolverUnavailable(f"{e}{advice}") from e
    from .decompositions.chain import DecomposedCompiled
    from .decompositions.expressions import Origin

    moved = Origin(model)
    compiled = _compiled(solver, moved.model, options)
    return DecomposedCompiled(moved, compiled, (f"times are counted from {moved.shift} s on",))


def _missing_windows(model: Model) -> str:
    """Return advice on intervals without start windows beside intervals that start late, which are counted from 0; or ""."""
    free = [v.name for v in model.intervals if v.declared_windows is None]
    late = [v for v in model.intervals if v.declared_windows is not None]
    if not free or not late:
        return ""
    first = min(v.start_lo for v in late)
    if first <= max(v.start_hi + v.size_hi for v in late) - first:
        return ""
    names = ", ".join(map(repr, free[:3]))
    if len(free) <= 3:
        more = ""
    else:
        more = f" and {len(free) - 3} more"
    return (
        f"; {names}{more} may start from second 0 on, the other intervals from {first} on: with a start window for each "
        f"interval, as in interval(..., start=({first}, ...)), times are counted from {first}"
    )


@dataclass(frozen=True, eq=False)
class _Call:
    """What all stages of a call have in common: the arguments of ``run`` with these names."""

    model: Model
    limits: Limits
    on_incumbent: OnIncumbent | None
    judge: Judge | None
    restriction: str | None
    options: dict[str, Any]


def run(
    model: Model,
    backend: str,
    limits: Limits,
    *,
    warm_start: Assignment | None = None,
    on_incumbent: OnIncumbent | None = None,
    judge: Judge | None = None,
    conflict: bool = True,
    restriction: str | None = None,
    known_bound: float | None = None,
    **options: Any,
) -> Result:
    """Solve a model.

    Parameters
    ----------
    model : Model
    backend : str
        Name of the backend, such as "cpsat".
    limits : Limits
        ``limits.time`` holds for the whole call, lowering included, from ``limits.began`` (None: from now).
    warm_start : Assignment or None
        Where to start from. It may violate the model.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the run, as soon as there is an answer.
    judge : callable or None
        Returns the objective value of an assignment, or None if the assignment has no value. It replaces the objective
        of the model, for example by the value of the schedule that is read from the assignment. The caller then
        verifies the answers. None: the objective of the model.
    conflict : bool
        Whether to look for the constraints in conflict, for up to 5 s, if the model is infeasible: by the backend, and if
        it names none, by leaving out constraints.
    restriction : str or None
        Why the model has fewer solutions than what the caller solves by it, such as "formulation grid": its bounds and
        proofs are then not reported. None: it has all.
    known_bound : float or None
        A proved bound of the first objective. The solver has it as a constraint, and the result has it unless the solver
        proves a better one. An answer that is better than it makes the result an error.
    **options
        Options of the backend.

    Returns
    -------
    Result

    Raises
    ------
    UnknownName
        If there is no such backend.
    WrongValue
        If the model is a restriction and the lowering a relaxation: neither answers nor bounds would hold.
    LoweringTooLarge
        If the lowering would be larger than its limit.
    TypeError
        If the backend does not obey ``limits.deterministic`` or ``limits.parameters``.
    ValueError
        If the value of a parameter is wrong.
    TooManyLeft
        If there is a time limit, no start, and too many solvers of earlier calls have not stopped.
    """
    limits = limits.begun()
    new_call()
    chosen = find_backend(backend)
    require_obeyed(chosen, limits)
    here = checked_availability(chosen)
    blank = Result("unavailable", backend, here.version, message=here.reason, model=model)
    blank.phases = {"build": limits.deadline.elapsed, "lower": 0.0, "solve": 0.0}
    if not here.ok:
        return _timed(blank, limits.deadline)
    limits = checked_limits(chosen, limits)
    # a caller with a judge has checked the start itself, and has it even if there is no time to check it here
    warm, start = _accept(model, warm_start, Deadline() if judge is None else build_deadline(limits))
    call = _Call(model, limits, on_incumbent, judge, restriction, options)
    result, fate = blank, warm
    bounds: list[Any] = []
    proven: list[bool] = []
    kept: list[NamedConstraint] = []
    proved = None
    if model.objectives:
        proved = known_bound
    posted = []
    if proved is not None:
        posted = [no_better(model, proved)]
    for k in range(max(1, len(model.objectives))):
        first = k == 0
        recorded = None
        if warm.fate == "accepted" or not first:
            recorded = start
        stage = stage_of(model, k, [*posted, *kept])
        result, finished = _solve_stage(call, stage, result, (start, recorded), bounds, proved if first else None)
        if first:
            fate = _fate(warm, result)
        result.warm_start = fate
        bounds.append(None if result.status == "unavailable" else result.bound)  # else that of the stage before
        proven.append(result.status == "optimal")
        if result.assignment is None or not finished or k + 1 >= len(model.objectives):
            break
        assert result.objective is not None and not isinstance(result.objective, tuple)  # of one stage
        kept.append(keep(model, k, result.objective))
        start = result.assignment
    if len(model.objectives) > 1:
        conclude(result, model, bounds, proven)
        if fate.returned and warm_start is not None:  # so far: of the first objective alone
            same = result.objective == tuple(model.value(e, warm_start) for e in model.objectives)
            result.warm_start = replace(fate, returned=same)
    if result.assignment is not None and result.status != "error" and (why := without_end(model, result.assignment)):
        result.fail(why)
        result.status = "unbounded"
    if result.status == "infeasible" and conflict:
        search = limits.lasting(limits.deadline.at_most(CONFLICT_SECONDS))
        result.conflict = _conflict(lambda: _compiled_at_origin(chosen, stage_of(model, 0), options), search.deadline)
        if result.conflict.names is not None and result.conflict.reason != MINIMAL:
            result.conflict = _tested(result.conflict, model, backend, search, options)
        if result.conflict.names is None and not isinstance(result.conflict, NoConflict):
            result.conflict = _Filter(model, backend, search, options).conflict(result.conflict)
        if isinstance(result.conflict, NoConflict) and not model.check(result.conflict.solution):
            result.fail(f"{FALSE_PROOF.format(backend)} its search for a conflict found a solution, which was verified")
        elif result.conflict.names is not None:
            result.conflict = _with_horizon(result.conflict, model, backend, limits)
    return _timed(result, limits.deadline)


def _accept(model: Model, warm_start: Assignment | None, deadline: Deadline) -> tuple[WarmStart, Assignment | None]:
    if warm_start is None:
        return WarmStart(), None
    try:
        with within(deadline):
            broken = model.check(warm_start)
    except OutOfTime:
        return WarmStart("rejected", "the time limit ended before the start was checked"), warm_start
    if broken:
        return WarmStart("rejected", f"the start violates the model: {broken[0].message}"), warm_start
    return WarmStart("accepted"), warm_start


def _solve_stage(
    call: _Call,
    stage: Model,
    before: Result,
    start: tuple[Assignment | None, Assignment | None],
    settled: Sequence[float],
    known_bound: float | None,
) -> tuple[Result, bool]:
    """Optimize one objective; return its result, and whether the solver finished, so that the next one can follow.

    ``start`` has two parts: the hint for the solver, and the first incumbent (None if the hint is not a solution).
    ``settled`` are the bounds of the objectives before this one, ``known_bound`` is one of this objective.
    """
    hinted, incumbent = start
    limits = call.limits
    lowering = time.perf_counter()
    try:
        compiled = _compiled_in_time(call, stage, before.solver)
    except SolverUnavailable as e:
        return replace(before, status="unavailable", message=str(e)), False
    solving = time.perf_counter()
    restriction = call.restriction
    if restriction is None:
        exactness = compiled.exactness
    else:
        exactness = _restricted(compiled.exactness, restriction)
    recorder = _recorder(call, stage, exactness, settled)
    recorder.trace.extend(before.incumbents)
    if known_bound is not None:
        recorder.bound(known_bound)
    if incumbent is not None:
        recorder.solution(copy.copy(incumbent))
    first = recorder.objective
    # _accept has checked the caller's start
    checked = None
    if not settled:
        checked = recorder.best
    left = None
    if limits.time is not None:
        left = limits.deadline.earlier(_check_seconds(stage)).remaining
    outcome = _outcome(compiled, recorder, limits.lasting(left), hinted, before.solver)
    if recorder.failure is not None:
        raise recorder.failure
    if outcome.status == "unavailable":  # the warm start alone is not a result of this solver
        refused = WarmStart("rejected", "the solver did not take the model")
        blank = replace(before, status="unavailable", message=outcome.message, size=compiled.size, log=outcome.log)
        return replace(blank, warm_start=refused), False
    if outcome.bound is not None:
        recorder.bound(outcome.bound)
    if not (outcome.message or recorder.stopped) and outcome.status in ("unknown", "feasible"):
        outcome.message = _gave_nothing(recorder, checked, time.perf_counter() - solving)
    status = _status(outcome, recorder, exactness)
    if status == "feasible" and outcome.message in NO_REASON:
        outcome.message = _why_it_ended(recorder, limits, left, time.perf_counter() - solving) or outcome.message
    result = replace(
        before,
        status=status,
        objective=recorder.objective,
        bound=None if status == "infeasible" else recorder.known_bound,
        offset=recorder.offsets,
        incumbents=list(recorder.trace),
        exactness=exactness,
        size=compiled.size,
        log=joined(before.log, outcome.log),
        message=outcome.message,
        assignment=recorder.best,
        relaxed=recorder.relaxed,
        warm_start=replace(outcome.warm, returned=incumbent is not None and recorder.objective == first),
    )
    result.phases = dict(before.phases)
    result.phases["lower"] += solving - lowering
    result.phases["solve"] += time.perf_counter() - solving
    _check(result, recorder, stage, outcome, checked)
    finished = (outcome.status == "optimal" or recorder.gap_reached) and result.status in ("optimal", "feasible")
    return result, finished and not recorder.stopped and result.message != INTERRUPTED


def _compiled_in_time(call: _Call, stage: Model, backend: str) -> Compiled | NotCompiled:
    """Compile a stage; if the time ends or Ctrl-C is pressed, return why it is not compiled."""
    try:
        with within(build_deadline(call.limits)):
            return _compiled_at_origin(find_backend(backend), stage, call.options)
    except OutOfTime as e:
        return NotCompiled(str(e))
    except KeyboardInterrupt as e:
        catch_first(e)
        return NotCompiled(INTERRUPTED)


def _recorder(call: _Call, stage: Model, exactness: Exactness, settled: Sequence[float]) -> Recorder:
    """Return the recorder of a stage after those whose bounds are ``settled``."""
    model, limits = call.model, call.limits
    exact = len(settled) + 1 < len(model.objectives) or any(late_presence(e, stage) for e in stage.objectives[:1])
    return Recorder(
        *(stage, model, exactness, limits.deadline, call.on_incumbent, call.judge, settled, limits.gap), exact=exact
    )


def _outcome(
    compiled: Compiled | NotCompiled, recorder: Recorder, limits: Limits, hinted: Assignment | None, backend: str
) -> Outcome:
    """Run the solver for the time that ``limits`` leave."""
    if recorder.stopped:  # at the start
        return Outcome("unknown")
    if limits.time == 0.0 and not isinstance(compiled, NotCompiled):
        return Outcome("unknown", message="the time limit ended before the solver began")
    try:
        with unexamined(sum(count for count in compiled.size.values() if isinstance(count, int))):
            ended = compiled.run(recorder, replace(limits, exact=recorder.exact), hinted)
        if recorder.failure is not None:
            return ended
        return checked_outcome(backend, ended)
    except KeyboardInterrupt as e:  # from a backend that does not itself return its best solution
        catch_first(e)
        return Outcome("unknown", message=INTERRUPTED)
    except TooManyLeft as e:
        if recorder.best is None:
            raise
        return Outcome("unknown", message=str(e))  # the start is an answer


def _restricted(exactness: Exactness, why: str) -> Exactness:
    """Return the relation of a lowering to what the caller solves by a model that has fewer solutions. Raises WrongValue."""
    if exactness.kind == "relaxation":
        raise WrongValue(
            f"the {why} is a restriction, and its lowering a relaxation: neither answers nor bounds would hold; "
            "choose an exact lowering"
        )
    return Exactness("restriction", (why, *exactness.notes))


def _why_it_ended(recorder: Recorder, limits: Limits, left: float | None, seconds: float) -> str:
    """Return which limit ended a run of a solver with an answer without a proof; "" if none of them did."""
    if recorder.gap_reached:
        return f"the gap limit of {limits.gap:g} was reached"
    if recorder.stopped:
        if recorder.refused:
            return "on_incumbent ended the call"
        return ""
    if left is not None and seconds >= left - END_SECONDS:
        return "the time limit was reached"
    if limits.deterministic is not None:
        return "the deterministic limit was reached"
    return ""


def _gave_nothing(recorder: Recorder, start: Assignment | None, seconds: float) -> str:
    """Return a message if the solver ended without a proof and without a solution beside the start, else ""."""
    if recorder.best is None:
        return f"the solver ended after {seconds:.1f} s without a solution"
    if recorder.best is start:
        return f"the solver ended after {seconds:.1f} s without a better solution than the start"
    return ""


def _check_seconds(model: Model) -> float:
    """Return about how long the check of an answer takes, for which a call with a time limit keeps the time."""
    sizes = (
        len(c.expr.terms) if isinstance(c, Comparison) else len(getattr(c, "intervals", ()))
        for _, c in model.constraints
    )
    return CHECK_SECONDS * sum(sizes)


def _check(result: Result, recorder: Recorder, stage: Model, outcome: Outcome, checked: Assignment | None) -> None:
    """Set the status "error" if the answer violates the model or refutes the bound or a proof of infeasibility.

    ``checked`` is an answer that is known to hold.
    """
    exact = result.exactness.kind != "relaxation"
    if recorder.best is not None and recorder.best is not checked and exact:
        result.violations = stage.check(recorder.best)
    if result.violations:
        result.fail(f"the solver's answer violates the model: {result.violations[0].message}")
    elif recorder.refuted:
        result.fail(refutation(recorder.known_bound, recorder.objective))
    elif outcome.status == "infeasible" and _contradicted(result, recorder, stage):
        result.fail(f"{FALSE_PROOF.format(result.solver)} a solution is known, which was verified")
    elif outcome.status == "error":
        result.fail(outcome.message)


def _contradicted(result: Result, recorder: Recorder, stage: Model) -> bool:
    """Return whether a known solution contradicts that a lowering has none."""
    known = recorder.best
    return known is not None and result.exactness.kind != "restriction" and not stage.check(known)


def _fate(given: WarmStart, result: Result) -> WarmStart:
    """Combine our check of the caller's start (``given``) with what the solver reports about it."""
    reported = result.warm_start
    if given.fate == "none":
        return given
    if given.fate == "rejected":
        if reported.fate == "repaired":
            return reported
        return given
    if reported.fate != "none":
        return reported
    return replace(given, returned=reported.returned)


def _status(outcome: Outcome, recorder: Recorder, exactness: Exactness) -> Status:
    if outcome.status in ("unavailable", "error", "unbounded"):
        return outcome.status
    if recorder.best is None:
        if outcome.status == "infeasible":
            if exactness.kind == "restriction":
                return "unknown"
            return "infeasible"
        return "unknown"
    if exactness.kind == "restriction":
        return "feasible"
    if recorder.proven:
        return "optimal"
    return "feasible"


def _timed(result: Result, deadline: Deadline) -> Result:
    result.phases["total"] = deadline.elapsed
    return result


def _conflict(compiled: Callable[[], Compiled], deadline: Deadline) -> Conflict:
    """Return the conflict that the backend finds, in a thread of its own because it may exceed its time limit."""
    left = deadline.at_most(CONFLICT_SECONDS)
    conflicts: list[Conflict] = []

    def work(_: Watch) -> Outcome:
        try:
            conflicts.append(compiled().conflict(left))
        except (SolverUnavailable, LoweringTooLarge) as e:  # a proof may need a model of less than a conflict does
            conflicts.append(Conflict(None, f"no model for the search for a conflict: {e}"))
        return Outcome("unknown")

    if left > 0:
        threaded = ThreadedRun(work, work, lambda: None)
        try:
            threaded.run(time.perf_counter() + left)
        except TooManyLeft as e:
            return Conflict(None, str(e))
        if threaded.interrupted:
            return Conflict(None, INTERRUPTED)
    if conflicts:
        return conflicts[0]
    return Conflict(None, "no time was left to look for the constraints in conflict")


class _Filter:
    """The search for a conflict that every backend can do: the model is solved without some of its constraints.

    Parameters
    ----------
    model : Model
        An infeasible model.
    backend : str
    limits : Limits
        The time is that of the whole search.
    options : mapping
        Options of the backend.
    """

    def __init__(self, model: Model, backend: str, limits: Limits, options: Mapping[str, Any]) -> None:
        self.model, self.backend, self.limits, self.options = model, backend, limits, options
        self.rows: list[NamedConstraint] = [*model.constraints, *defining(model, 0)]
        self.undecided = 0
        self.interrupted = False
        self.solution: Assignment | None = None
        self.smallest: Sequence[int] = range(len(self.rows))

    def conflict(self, unnamed: Conflict) -> Conflict:
        """Return a conflict as small as the time allows; ``unnamed``, with its reason, if the time ends before the first part."""
        try:
            if not self._is_infeasible(self.smallest):
                if self.solution is None:
                    return unnamed
                return NoConflict.of(self.solution)
            self._note(minimal_set(self.smallest, self._is_infeasible, self._note))
        except (SolverUnavailable, LoweringTooLarge):
            return unnamed
        if self.interrupted:
            return Conflict(None, INTERRUPTED)
        names = tuple(dict.fromkeys(self.rows[k].name for k in self.smallest))
        if self.undecided:
            return Conflict(names, "they cannot hold together; the time ended before smaller sets were tried")
        return Conflict(names, MINIMAL)

    def _note(self, some: Sequence[int]) -> None:
        if len(some) < len(self.smallest):
            self.smallest = list(some)

    def _is_infeasible(self, some: Sequence[int]) -> bool:
        """Return whether constraints, by their indices, are proven to have no solution together."""
        left = self.limits.deadline.remaining
        assert left is not None
        if left <= 0 or self.interrupted:
            self.undecided += 1
            return False
        part = copy.copy(self.model)
        part.objectives = []
        part.constraints = [self.rows[k] for k in some]
        limits = Limits(left, self.limits.threads, self.limits.seed)
        result = run(part, self.backend, limits, conflict=False, **self.options)
        self.interrupted = result.message == INTERRUPTED
        if result.status == "infeasible":
            return True
        if result.status not in ("optimal", "feasible", "unbounded"):
            self.undecided += 1
        elif len(some) == len(self.rows) and result.assignment is not None:
            self.solution = copy.copy(result.assignment)
            self.solution.model = self.model
        return False


def _tested(conflict: Conflict, model: Model, backend: str, limits: Limits, options: Mapping[str, Any]) -> Conflict:
    """Return the smallest conflict within the one that a solver names, by solving parts of it; how far this went is its reason.

    Variables that the solver names stay if no constraint is left out. Without names: the constraints can hold together.
    """
    part = copy.copy(model)
    wanted = dict.fromkeys(conflict.names or ())
    part.constraints = [c for c in model.constraints if c.name in wanted]
    if any("objective" in name for name in wanted):
        part.objectives = model.objectives
    else:
        part.objectives = []
    search = _Filter(part, backend, limits, options)
    made = search.conflict(conflict)
    if isinstance(made, NoConflict):
        return Conflict(None, f"{backend} names {', '.join(wanted)}, which can hold together")
    if made is conflict:
        if conflict.reason == UNTRIED:
            return conflict
        return conflict._replace(reason=f"{conflict.reason}; {NOT_TESTED}")
    tested = dict.fromkeys(row.name for row in search.rows)
    variables = [name for name in wanted if name not in tested]
    if not variables or made.names is None or len(made.names) < len(tested):
        return made
    took = f"that the values of {listed(variables)} take part is the word of {backend}"
    return Conflict((*made.names, *variables), f"{made.reason}; {took}")


def _with_horizon(conflict: Conflict, model: Model, backend: str, limits: Limits) -> Conflict:
    """Return a conflict that names the declared horizon, if its constraints can hold together without the horizon."""
    if model.declared_horizon is None or all(v.declared_windows is not None for v in model.intervals):
        return conflict
    left = limits.deadline.at_most(CONFLICT_SECONDS)
    if left <= 0:
        return conflict._replace(
            reason=f"{conflict.reason}; whether the horizon takes part was not tried: the time ended"
        )
    part = model.with_horizon(None)
    wanted = set(conflict.names or ())
    part.constraints = [c for c in part.constraints if c.name in wanted]
    if not any("objective" in name for name in wanted):
        part.objectives = []
    result = run(part, backend, Limits(left, limits.threads, limits.seed), conflict=False)
    if result.status not in ("optimal", "feasible", "unbounded"):
        return conflict
    name = f"{HORIZON} of {model.declared_horizon} s"
    return conflict._replace(names=(*(conflict.names or ()), name))


# --- Warm starts that give the values of some variables alone: the backend finds the others.

Variable = Interval | Integer
VALUES_OF_A_START = "a start, a pair (start, end), an IntervalValue, True (present at any time), or None (absent)"
START_SHARE = 0.2  # of the time limit, in which the other values must be found
START_SECONDS = 10.0  # wall time for it at most


def complete(
    model: Model, values: Mapping[Any, Any], backend: str, limits: Limits, **options: Any
) -> tuple[Assignment | None, WarmStart]:
    """Return an assignment with the given values, and what became of the start.

    The given values are fixed, the objectives are left out, and the backend solves what is left, for a fifth of the time
    limit and at most 10 s. If no solution of the model has these values, or none is found in this time, there is no
    start. Every backend takes partial starts in this way; so they need not be hints in the solver's sense, and what
    they are worth does not depend on the solver.

    Parameters
    ----------
    model : Model
    values : mapping
        The values of some variables, by variable or name (``fixing``: their forms).
    backend : str
        Name of the backend.
    limits : Limits
        The limits of the whole call.
    **options
        Options of the backend.

    Raises
    ------
    ModelError
        If a key is no variable of the model, or a value has a wrong form.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=9); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> start, fate = complete(m, {"a": 0}, "cpsat", Limits(threads=1))
    >>> start[a].start, start[b].start >= 3, fate.fate, fate.reason
    (0, True, 'repaired', '1 of 2 variables was given, the others were found')
    """
    given = given_values(model, values)
    whole = whole_assignment(model, given)
    if whole is not None:
        return whole, WarmStart()
    fixed = fixing(given)
    part = copy.copy(model)
    part.objectives = []
    part.constraints = [*model.constraints, *fixed, *defining(model, 0)]
    left = limits.deadline.remaining
    if left is None:
        seconds = START_SECONDS
    else:
        seconds = min(START_SECONDS, START_SHARE * left)
    completed = run(
        part, backend, replace(limits.lasting(seconds), gap=None, deterministic=None), conflict=False, **options
    )
    if completed.assignment is not None and completed.status in ("optimal", "feasible"):
        count = len(model.intervals) + len(model.integers)
        verb = "were"
        if len(given) == 1:
            verb = "was"
        reason = f"{len(given)} of {how_many(count, 'variable')} {verb} given, the others were found"
        made = copy.copy(completed.assignment)
        made.model = model
        return made, WarmStart("repaired", reason)
    if completed.status == "infeasible":
        return None, WarmStart("rejected", "no solution of the model has the values of the partial start")
    why = ""
    if completed.message:
        why = f": {completed.message}"
    return None, WarmStart(
        "rejected", f"no solution with the values of the partial start was found in {seconds:.3g} s{why}"
    )


def given_values(model: ModelData, values: Mapping[Any, Any]) -> dict[Variable, Any]:
    """Return the values by variable, of a mapping whose keys are variables or their names.

    Parameters
    ----------
    model : Model
        The model of the variables.
    values : mapping
        The value of some variables, as ``fixing`` takes them.

    Raises
    ------
    ModelError
        If a key is no variable of the model, or a name that several have, or a variable is given twice.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3); x = m.integer("x", 0, 5)
    >>> given_values(m, {"a": 4, x: 2})
    {a: 4, x: 2}
    """
    named: dict[str, list[Variable]] = {}
    for known in _variables(model):
        named.setdefault(known.name, []).append(known)
    by_variable: dict[Variable, Any] = {}
    for key, value in values.items():
        v = _variable(model, key, named)
        if v in by_variable:
            raise ModelError(f"the warm start of model {model.name!r} gives {v.name!r} twice, by name and by itself")
        by_variable[v] = value
    return by_variable


def _variable(model: ModelData, key: object, named: Mapping[str, list[Variable]]) -> Variable:
    if isinstance(key, (Interval, Integer)):
        if key.model is not model:
            raise ModelError(f"{key!r} of the warm start is not a variable of model {model.name!r}")
        return key
    if not isinstance(key, str):
        raise ModelError(f"a key of the warm start is {told(key)}; expected a variable of {model.name!r}, or its name")
    some = named.get(key, [])
    if not some:
        missing = hint(key, named, "the variables are", "the model has none")
        raise ModelError(f"model {model.name!r} has no variable {key!r} for the warm start; {missing}")
    if len(some) > 1:
        raise ModelError(
            f"model {model.name!r} has {len(some)} variables {key!r}; give the variable itself in the warm start"
        )
    return some[0]


def whole_assignment(model: ModelData, values: Mapping[Variable, Any]) -> Assignment | None:
    """Return the assignment if the values leave nothing open, else None.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3); x = m.integer("x", 0, 5)
    >>> whole_assignment(m, {a: 4, x: 2}), whole_assignment(m, {a: 4})
    (Assignment(a: 4..7, x: 2), None)
    """
    if not all(v in values and _settled(v, values[v]) for v in _variables(model)):
        return None
    return Assignment(model, {v: None if value is False else value for v, value in values.items()})


def _settled(v: Variable, value: Any) -> bool:
    """Return whether a value leaves nothing open: that of an interval of variable size has an end."""
    if isinstance(v, Integer):
        return True
    if value is True:
        return False
    return v.size_lo == v.size_hi or not isinstance(value, (int, np.integer)) or value is False


def fixing(values: Mapping[Variable, Any]) -> list[NamedConstraint]:
    """Return constraints that fix variables to values.

    Parameters
    ----------
    values : mapping
        An interval has a start; a pair (start, end); an IntervalValue; True if it is present at any time; None or False
        if it is absent. An integer variable has a whole number.

    Raises
    ------
    ModelError
        If a value has another form.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=(1, 3), optional=True); x = m.integer("x", 0, 5)
    >>> fixing({a: 4, x: 2})[0]
    NamedConstraint(name='a starts at 4', constraint=a.start == 4)
    >>> [c.name for c in fixing({a: (4, 6), x: 2})]
    ['a starts at 4', 'a is present', 'a ends at 6', 'x is 2']
    """
    made: list[NamedConstraint] = []
    for v, value in values.items():
        if isinstance(v, Integer):
            made += _of_integer(v, value)
        else:
            made += _of_interval(v, value)
    return made


def _variables(model: ModelData) -> list[Variable]:
    return [*model.intervals, *model.integers]


def _of_integer(x: Integer, value: Any) -> list[NamedConstraint]:
    number = whole(value, f"the warm start of {x.name}")
    return [_equal(x, number, f"{x.name} is {number}")]


def _of_interval(v: Interval, value: Any) -> list[NamedConstraint]:
    what = f"the warm start of {v.name}"
    if value is None or value is False or (isinstance(value, IntervalValue) and not value.present):
        return [_equal(v.presence, 0, f"{v.name} is absent")]
    present = []
    if v.optional:
        present = [_equal(v.presence, 1, f"{v.name} is present")]
    if value is True:
        return present or [_equal(v.presence, 1, f"{v.name} is present")]
    if isinstance(value, IntervalValue):
        value = value.start, value.end
    ends: tuple[object, ...]
    if isinstance(value, (tuple, list, np.ndarray)):
        ends = pair(value, f"{what}, which is no single start,")
    elif isinstance(value, (int, float, np.integer)):
        ends = (value,)
    else:
        raise ModelError(f"{what} is {told(value)}; expected {VALUES_OF_A_START}")
    start = whole(ends[0], f"{what}, the start")
    fixed = [_equal(v.start, start, f"{v.name} starts at {start}"), *present]
    if len(ends) == 2:
        end = whole(ends[1], f"{what}, the end")
        fixed.append(_equal(v.end, end, f"{v.name} ends at {end}"))
    return fixed


def _equal(e: Any, value: int, name: str) -> NamedConstraint:
    return NamedConstraint(name, Comparison(e.linear(), value, value))
