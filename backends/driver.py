"""Runs a model on a backend, the same way for all: time, warm start, several objectives, verification, the result."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..models.language import Assignment, Bounds, Comparison, Linear, Model, NamedConstraint
from ..models.language.clock import OutOfTime, within
from ..models.language.expressions import Element, Piecewise, atoms_below
from ..models.language.semantics import REAL_TOLERANCE
from .base import (
    OPTIMALITY_GAP,
    Compiled,
    Exactness,
    Incumbent,
    Limits,
    Outcome,
    Result,
    SolverUnavailable,
    Status,
    WarmStart,
    relative_gap,
)
from .conflicts import explain
from .interrupts import INTERRUPTED, NotCompiled, catch_first, new_call
from .registry import backend as find_backend

OnIncumbent = Callable[[Incumbent], Any]
Judge = Callable[[Assignment], float | None]


def compile(model: Model, backend: str, **options: Any) -> Compiled:  # noqa: A001
    """The native object of a model (of its first objective), and the way back.

    Returns a Compiled: ``.native .size .exactness .var(x) .assignment(native answer)``. Raises UnknownName,
    SolverUnavailable, LoweringTooLarge.

    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> type(sl.compile(m, "cpsat").native).__name__
    'CpModel'
    """
    found = find_backend(backend)
    try:
        return found.compile(_stage(model, 0, []), **options)
    except ImportError as e:
        raise SolverUnavailable(f"backend {backend!r} cannot be used: {found.availability().reason or e}") from e


class Recorder:
    """The Watch of a run: recomputes every objective, keeps the best answer and the trace."""

    def __init__(
        self,
        model: Model,
        origin: Model,
        exactness: Exactness,
        began: float,
        call: OnIncumbent | None,
        judge: Judge | None,
        settled: Sequence[float] = (),
    ) -> None:
        self.settled = tuple(settled)  # optima of the objectives before this one
        self.model = model
        self.origin = origin
        self.judge = judge or self._value
        self.relaxation = exactness.kind == "relaxation"
        self.proves_bounds = exactness.kind != "restriction"
        self.began = began
        self.call = call
        self.best: Assignment | None = None
        self.relaxed: Assignment | None = None
        self.objective: float | None = None
        self.known_bound: float | None = None
        self.trace: list[Incumbent] = []
        self.stopped = False
        self.failure: Exception | None = None
        self._lock = threading.Lock()

    @property
    def sign(self) -> int:
        return 1 if self.model.sense == "minimize" else -1

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        with self._lock:
            self._tighten(bound)
            assignment.model = self.origin
            if self.relaxation and self.model.check(assignment):
                self.relaxed = assignment
                if self.judge == self._value:
                    return self._tell(force=False)
            try:
                value = self.judge(assignment)
            except Exception as e:  # raised again by run(): a solver's thread would swallow it
                self.failure, self.stopped = e, True
                return False
            if value is None and self.model.objectives:
                return self._tell(force=False)
            if self.best is not None and (value is None or self.sign * (value - _known(self.objective)) >= 0):
                return not self.stopped
            self.best, self.objective = assignment, value
            return self._tell(force=True)

    def _value(self, assignment: Assignment) -> float | None:
        return self.model.value(self.model.objectives[0], assignment) if self.model.objectives else None

    def bound(self, value: float) -> bool:
        with self._lock:
            return self._tell(force=False) if self._tighten(value) else not self.stopped

    def _tighten(self, bound: float | None) -> bool:
        if (
            bound is None
            or math.isinf(bound)
            or math.isnan(bound)
            or not self.proves_bounds
            or not self.model.objectives
        ):
            return False
        if self.known_bound is None or self.sign * (bound - self.known_bound) > 0:
            self.known_bound = bound
            return True
        return False

    def _tell(self, *, force: bool) -> bool:
        news = Incumbent(time.perf_counter() - self.began, *self._known())
        if not self.trace or force or self.trace[-1][1:] != news[1:]:
            self.trace.append(news)
            if self.call is not None and not self.stopped:
                try:
                    best = self.best
                    self.stopped = self.call(news.giving(lambda: best)) is False
                except Exception as e:  # raised again by run(): a solver's thread would swallow it
                    self.failure, self.stopped = e, True
        return not self.stopped

    def _known(self) -> tuple[Any, Any]:
        """Objective and bound of what is known; of a model with several objectives all values of the best answer."""
        origin = self.origin
        if len(origin.objectives) <= 1:
            return self.objective, self.known_bound
        bound = (*self.settled, self.known_bound, *(None,) * len(origin.objectives))[: len(origin.objectives)]
        value = None if self.best is None else tuple(origin.value(e, self.best) for e in origin.objectives)
        return value, bound if any(b is not None for b in bound) else None


def _known(value: float | None) -> float:
    return math.inf if value is None else value


def run(
    model: Model,
    backend: str,
    limits: Limits,
    *,
    warm_start: Assignment | None = None,
    on_incumbent: OnIncumbent | None = None,
    began: float | None = None,
    judge: Judge | None = None,
    **options: Any,
) -> Result:
    """Solve a model; ``limits.time`` is for the whole call, from ``began`` (perf_counter) on, lowering included.

    ``judge`` gives an assignment its value in the model's stead, as the schedule read from it has (None: it has none);
    the verification of such answers is then the caller's.
    """
    began = time.perf_counter() if began is None else began
    new_call()
    found = find_backend(backend)
    here = found.availability()
    blank = Result("unavailable", backend, here.version, message=here.reason, model=model)
    blank.seconds = {"build": time.perf_counter() - began, "lower": 0.0, "solve": 0.0}
    if not here.ok:
        return _timed(blank, began)
    warm, start = _accept(model, warm_start)
    result, fate = blank, warm
    values: list[Any] = []
    bounds: list[Any] = []
    extra: list[NamedConstraint] = []
    for k in range(max(1, len(model.objectives))):
        stage = _stage(model, k, extra)
        first = k == 0
        recorded = start if warm.fate == "accepted" or not first else None
        result = _solve_stage(
            stage, model, result, began, limits, (start, recorded), on_incumbent, judge, values, options
        )
        if first:
            fate = _fate(warm, result)
        result.warm_start = fate
        values.append(result.objective)
        bounds.append(result.bound)
        if result.assignment is None or result.status != "optimal" or k + 1 >= len(model.objectives):
            break
        if result.message == INTERRUPTED:
            break
        extra.append(_keep(model, k, values[-1]))
        start = result.assignment
    if len(model.objectives) > 1:
        _spread(result, model, values, bounds)
    if result.status == "infeasible":
        result.conflict = explain(lambda: found.compile(_stage(model, 0, []), **options), began, limits)
    return _timed(result, began)


def _accept(model: Model, warm_start: Assignment | None) -> tuple[WarmStart, Assignment | None]:
    if warm_start is None:
        return WarmStart(), None
    broken = model.check(warm_start)
    if broken:
        return WarmStart("rejected", f"the start violates the model: {broken[0].message}"), warm_start
    return WarmStart("accepted"), warm_start


def _solve_stage(
    stage: Model,
    model: Model,
    before: Result,
    began: float,
    limits: Limits,
    start: tuple[Assignment | None, Assignment | None],
    on_incumbent: OnIncumbent | None,
    judge: Judge | None,
    settled: Sequence[float],
    options: dict[str, Any],
) -> Result:
    """One objective. ``start``: what is hinted, and what is an incumbent already (None: the hint is not a solution)."""
    hinted, incumbent = start
    lowering = time.perf_counter()
    compiled: Compiled | NotCompiled
    try:
        with within(None if limits.time is None else began + limits.time):
            compiled = find_backend(before.solver).compile(stage, **options)
    except SolverUnavailable as e:
        return replace(before, status="unavailable", message=str(e))
    except OutOfTime as e:
        compiled = NotCompiled(str(e))
    except KeyboardInterrupt as e:
        catch_first(e)
        compiled = NotCompiled(INTERRUPTED)
    solving = time.perf_counter()
    recorder = Recorder(stage, model, compiled.exactness, began, on_incumbent, judge, settled)
    recorder.trace.extend(before.incumbents)
    if incumbent is not None:
        recorder.solution(copy.copy(incumbent))
    first = recorder.objective
    left = None if limits.time is None else max(0.0, limits.time - (solving - began))
    if left == 0.0 and not isinstance(compiled, NotCompiled):
        outcome = Outcome("unknown", message="the time limit ended before the solver began")
    else:
        try:
            outcome = compiled.run(recorder, replace(limits, time=left), hinted)
        except KeyboardInterrupt as e:  # of a backend that does not end with the best so far itself
            catch_first(e)
            outcome = Outcome("unknown", message=INTERRUPTED)
    if recorder.failure is not None:
        raise recorder.failure
    if outcome.status == "unavailable":  # the start alone is no result of this solver
        refused = WarmStart("rejected", "the solver did not take the model")
        blank = replace(before, status="unavailable", message=outcome.message, size=compiled.size, log=outcome.log)
        return replace(blank, warm_start=refused)
    recorder.bound(outcome.bound) if outcome.bound is not None else None
    result = replace(
        before,
        objective=recorder.objective,
        bound=recorder.known_bound,
        incumbents=list(recorder.trace),
        exactness=compiled.exactness,
        size=compiled.size,
        log=before.log + outcome.log,
        message=outcome.message,
        assignment=recorder.best,
        relaxed=recorder.relaxed,
        warm_start=replace(outcome.warm, returned=incumbent is not None and recorder.objective == first),
    )
    result.seconds = dict(before.seconds)
    result.seconds["lower"] += solving - lowering
    result.seconds["solve"] += time.perf_counter() - solving
    result.status = _status(outcome, recorder, compiled.exactness)
    if recorder.best is not None and judge is None:
        result.violations = stage.check(recorder.best)
        if result.violations:
            result.status = "error"
            result.message = f"the solver's answer violates the model: {result.violations[0].message}"
    return result


def _fate(given: WarmStart, result: Result) -> WarmStart:
    """What became of the start that the caller gave: our check of it first, then the solver's word."""
    said = result.warm_start
    if given.fate == "none":
        return given
    if given.fate == "rejected":
        return said if said.fate == "repaired" else given
    return said if said.fate != "none" else replace(given, returned=said.returned)


def _status(outcome: Outcome, recorder: Recorder, exactness: Exactness) -> Status:
    if outcome.status in ("unavailable", "error", "unbounded"):
        return outcome.status
    if recorder.best is None:
        if outcome.status == "infeasible":
            return "unknown" if exactness.kind == "restriction" else "infeasible"
        return "unknown"
    if exactness.kind == "restriction":
        return "feasible"
    if recorder.objective is None:
        return "optimal"
    gap = relative_gap(recorder.objective, recorder.known_bound)
    return "optimal" if gap is not None and gap <= OPTIMALITY_GAP else "feasible"


def _stage(model: Model, k: int, extra: list[NamedConstraint]) -> Model:
    """The model with its k-th objective alone, and what earlier objectives fixed."""
    if len(model.objectives) <= 1 and not extra:
        return model
    stage = copy.copy(model)
    stage.objectives = model.objectives[k : k + 1]
    later = [c for j in range(k + 1, len(model.objectives)) for c in _defined(model, j)]
    stage.constraints = [*model.constraints, *extra, *later]
    return stage


def _defined(model: Model, k: int) -> list[NamedConstraint]:
    """Objective k has a value: no ``element`` or ``piecewise`` in it is out of range; the bound itself never binds."""
    terms = model.objectives[k].terms
    ranged = Linear(
        {a: 1 for a in terms if any(isinstance(b, (Element, Piecewise)) for b in atoms_below([a.linear()]))}
    )
    if not ranged.terms:
        return []
    return [NamedConstraint(f"objective {k + 1}", Comparison(ranged, -math.inf, Bounds().of(ranged)[1] + 1))]


def _keep(model: Model, k: int, value: float) -> NamedConstraint:
    """Objective k stays as good as it is."""
    e = model.objectives[k]
    slack = 0.0 if e.integral else REAL_TOLERANCE * max(1.0, abs(value)) / 2
    edge = value - e.constant
    low, high = (-math.inf, edge + slack) if model.sense == "minimize" else (edge - slack, math.inf)
    if e.integral:
        low, high = (low, int(high)) if model.sense == "minimize" else (int(low), high)
    return NamedConstraint(f"objective {k + 1} as good as {value}", Comparison(Linear(e.terms), low, high))


def _spread(result: Result, model: Model, values: list[Any], bounds: list[Any]) -> None:
    """Tuples for an ordered list of objectives: all values of the answer, bounds as far as they were sought."""
    if result.assignment is not None:
        result.objective = tuple(model.value(e, result.assignment) for e in model.objectives)
    else:
        result.objective = None
    missing = len(model.objectives) - len(bounds)
    result.bound = (*bounds, *(None,) * missing)


def _timed(result: Result, began: float) -> Result:
    result.seconds["total"] = time.perf_counter() - began
    return result
