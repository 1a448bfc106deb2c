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

import inspect
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .backends import Exactness, Incumbent, Limits, Outcome, Result, UnknownName, WarmStart, backend, names, run
from .models import Encoding, Problem, Schedule
from .models.language import Assignment, Model
from .models.problem import Value

OnIncumbent = Callable[[Incumbent], Any]
REPAIR_SHARE = 0.1  # of the time limit, for making a schedule of what a relaxation answers
GRID = re.compile(r"(?P<fine>\d+)s(\.\.(?P<coarse>\d+)s)?(-(?P<side>relax|lp|energy))?")


@dataclass(frozen=True)
class Method:
    """A method, taken apart. ``heuristic`` and ``argument`` for a heuristic; else backend, formulation, options, warm."""

    text: str
    heuristic: str | None = None
    argument: str = ""
    backend: str = ""
    formulation: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    warm: bool = False

    @property
    def solver(self) -> str:
        """Whose version decides the outcome."""
        return self.backend or "schedlab"


def parse_method(text: str, problem: Problem | None = None) -> Method:
    """A method from its name. Raises UnknownName, with the near names, for a part that is not known.

    >>> parse_method("highs:pool@900s+warm").options
    {'grid': 900, 'side': 'restrict'}
    """
    from . import heuristics  # here and below: numba is imported only where a problem is solved

    head, _, argument = text.partition(":")
    if head.partition("@")[0] in heuristics.HEURISTICS:
        return _parse_heuristic(text, problem)
    if head not in names():
        raise UnknownName("method or backend", head, [*heuristics.HEURISTICS, *names()])
    argument, plus, start = argument.partition("+")
    if plus and start != "warm":
        raise UnknownName("start", f"+{start}", ["+warm"])
    formulation, _, lowering = argument.partition("@")
    known = list(problem.formulations) if problem is not None else []
    formulation = formulation or (known[0] if known else "")
    if problem is not None and formulation not in known:
        raise UnknownName(f"formulation of {problem.kind} problems", formulation, known)
    options = _lowering(lowering)
    taken = inspect.signature(backend(head).compile).parameters
    if not set(options) <= set(taken) and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        raise UnknownName(f"lowering of {head}", f"@{lowering}", ["none"])
    return Method(text, backend=head, formulation=formulation, options=options, warm=bool(plus))


def _parse_heuristic(text: str, problem: Problem | None) -> Method:
    """NAME[@BACKEND][:ARGUMENT]"""
    from . import heuristics

    head, _, argument = text.partition(":")
    name, at, solver = head.partition("@")
    found = heuristics.HEURISTICS[name]
    if problem is not None and problem.kind not in found.kinds:
        fitting = [name for name, h in heuristics.HEURISTICS.items() if problem.kind in h.kinds]
        raise UnknownName(f"method of {problem.kind} problems", name, [*fitting, *names()])
    if at and (not found.backends or solver not in names()):
        raise UnknownName(
            f"backend of {name}", f"@{solver}", [f"@{n}" for n in names()] if found.backends else ["none"]
        )
    try:
        found.check(argument)
    except heuristics.UnknownOrder as e:
        raise UnknownName(f"argument of {name}", argument, list(found.arguments) or ["none"]) from e
    return Method(text, heuristic=name, argument=argument, backend=solver or found.usual)


def _lowering(text: str) -> dict[str, Any]:
    if not text:
        return {}
    if text in ("pairwise", "time-indexed"):
        return {"lowering": text}
    if text == "lp":
        return {"lowering": "pairwise", "integral": False}
    found = GRID.fullmatch(text)
    if found is None:
        raise UnknownName(
            "lowering",
            f"@{text}",
            ["@pairwise", "@lp", "@time-indexed", "@900s", "@900s-relax", "@900s-lp", "@600s..36000s-energy"],
        )
    fine = int(found["fine"])
    options: dict[str, Any] = {"grid": (fine, int(found["coarse"])) if found["coarse"] else fine}
    if found["side"] == "energy":
        return {**options, "lowering": "energy", "integral": False}
    options["side"] = "relax" if found["side"] else "restrict"
    if found["side"] == "lp":
        options["integral"] = False
    return options


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
    Incumbent(seconds, objective, bound), returning False stops; ``method``: of a problem, see the module's text;
    ``options``: of the backend. Ctrl-C returns the best so far.

    Raises UnknownName for a backend or method that is not known, LoweringTooLarge before too large a lowering is built.

    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> sl.solve(m, backend="cpsat").objective
    5
    """
    limits = Limits(time_limit, threads, seed, gap_limit, deterministic_limit)
    if isinstance(what, Model):
        if method is not None or isinstance(warm_start, (Schedule, str)):
            raise TypeError("a method, a Schedule or a heuristic's name is for a problem; a model takes an Assignment")
        began = time.perf_counter()
        return run(what, backend, limits, warm_start=warm_start, on_incumbent=on_incumbent, began=began, **options)
    if isinstance(warm_start, Assignment):
        raise TypeError("a problem's warm start is a Schedule or a heuristic's name, not an Assignment")
    from . import heuristics

    chosen = parse_method(method or f"{backend}:", what)
    heuristics.warm_up_for(what, chosen.heuristic)
    began = time.perf_counter()
    if chosen.heuristic is not None:
        return _by_heuristic(what, chosen, limits, on_incumbent, began)
    return _by_backend(what, chosen, limits, warm_start, on_incumbent, began, options)


def _by_heuristic(problem: Problem, method: Method, limits: Limits, call: OnIncumbent | None, began: float) -> Result:
    from . import __version__, heuristics

    trace: list[Incumbent] = []

    def told(objective: Value) -> bool:
        trace.append(Incumbent(time.perf_counter() - began, objective, None))
        return call is None or call(trace[-1]) is not False

    result = Result("unknown", method.text, __version__, problem=problem, incumbents=trace)
    took = 0.0
    try:
        ask = heuristics.Ask(method.argument, limits.time, told, limits.seed, limits.threads, method.backend)
        found = heuristics.HEURISTICS[str(method.heuristic)].run(problem, ask)
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


def _conclude(result: Result, problem: Problem, schedule: Schedule) -> None:
    """The schedule goes into the result with its own objective, and is verified."""
    result.schedule = schedule
    result.violations = problem.verify(schedule)
    if result.violations:
        result.status, result.objective = "error", None
        result.message = f"the schedule violates the problem: {result.violations[0].message}"
        return
    result.objective = problem.objective(schedule)
    if isinstance(result.objective, tuple) and isinstance(result.bound, tuple):  # a model may break ties beyond them
        result.bound = result.bound[: len(result.objective)]
    if result.status == "unknown":
        result.status = "feasible"


class Reader:
    """Reads each incumbent of the model back into a schedule, and keeps the best; the value is the schedule's own.

    The starts of a relaxation are allocated; ``repair`` takes more time for that, once, at the end.
    """

    def __init__(
        self, problem: Problem, encoding: Encoding, start: Schedule | None, time_limit: float | None, began: float
    ) -> None:
        from . import heuristics

        self.problem = problem
        self.encoding = encoding
        self.start = start
        self.sign = 1 if problem.sense == "minimize" else -1
        self.best: Schedule | None = None
        self.objective: Any = None
        self.allocator = heuristics.allocator(problem, time_limit, began) if encoding.relaxation else None

    def __call__(self, assignment: Assignment) -> Any:
        schedule = self.encoding.read(assignment)
        if self.start is not None and schedule.start == self.start.start:
            return self._keep(self.start)
        if self.allocator is not None:
            found = self.allocator.allocate(schedule.start)
            return None if found is None else self._keep(found)
        # on a grid that relaxes, an answer need not be a schedule
        return None if self.problem.verify(schedule) else self._keep(schedule)

    def repair(self, seconds: float | None, seed: int) -> Any:
        """The best of what more time makes of the answers so far; the objective if it is better."""
        before = self.objective
        found = None if self.allocator is None else self.allocator.repair(seconds, seed)
        if found is not None:
            self._keep(found)
        return None if self.objective == before else self.objective

    def _keep(self, schedule: Schedule) -> Any:
        value: Any = self.problem.objective(schedule)
        if self.objective is None or self.sign * (value - self.objective) < 0:
            self.best, self.objective = schedule, value
        return value


def _by_backend(
    problem: Problem,
    method: Method,
    limits: Limits,
    warm_start: Schedule | str | None,
    call: OnIncumbent | None,
    began: float,
    options: dict[str, Any],
) -> Result:
    encoding = problem.formulations[method.formulation]()
    built = time.perf_counter()
    start, why = _start(problem, method, warm_start, limits)
    reader = Reader(problem, encoding, start, limits.time, began)
    several = len(encoding.model.objectives) > 1  # the model's own values, stage by stage; read back at the end
    result = run(
        encoding.model,
        method.backend,
        _leaving_time(limits, encoding),
        warm_start=None if start is None else encoding.write(start),
        on_incumbent=call,
        began=began,
        judge=None if several else reader,
        **{**method.options, **options},
    )
    result.problem = problem
    result.seconds["build"] += built - began
    if why:
        result.warm_start = WarmStart("rejected", why)
    if encoding.relaxation and result.exactness.kind == "exact":
        result.exactness = Exactness("relaxation", (f"formulation {method.formulation}", *result.exactness.notes))
    if result.status == "unavailable":
        return result
    if several:
        if result.assignment is not None and result.status != "error":
            _conclude(result, problem, encoding.read(result.assignment))
        return result
    _repair(result, reader, limits, began)
    if reader.best is not None:
        _conclude(result, problem, reader.best)
    return result


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
    problem: Problem, method: Method, given: Schedule | str | None, limits: Limits
) -> tuple[Schedule | None, str]:
    """The schedule to start from, or why there is none."""
    from . import heuristics

    if given is None and method.warm:
        given = heuristics.usual_start(problem)
    if isinstance(given, str):
        if given.partition(":")[0].partition("@")[0] not in heuristics.HEURISTICS:
            raise UnknownName("heuristic", given, list(heuristics.HEURISTICS))
        asked = _parse_heuristic(given, problem)
        ask = heuristics.Ask(asked.argument, limits.time, None, limits.seed, limits.threads, asked.backend)
        try:
            given = heuristics.HEURISTICS[str(asked.heuristic)].run(problem, ask).schedule
        except heuristics.NothingFound as e:
            return None, str(e)
    if given is not None and (broken := problem.verify(given)):
        return None, f"the start violates the problem: {broken[0].message}"
    return given, ""


__all__ = ["Method", "Outcome", "Reader", "backend", "parse_method", "solve"]
