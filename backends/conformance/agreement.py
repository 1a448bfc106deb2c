"""Whether a backend agrees with enumeration on one model: its answer, its hints, and what must not change its answer.

Every function returns what is wrong, in words; nothing wrong is an empty list.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...models.language import Assignment, Model
from ...models.language.expressions import Number
from ..base import Limits, SolverUnavailable
from ..driver import compile, run
from ..result import Result
from .brute_force import EnumerationError, Truth, brute_force
from .copies import Copy, Permuted, Reduced, Roomier, Shifted
from .random_models import random_model

RELATIVE = 1e-6
NEARLY_ZERO = 1e-9
OPEN = ("feasible", "unknown", "unavailable")  # statuses of a solve that ended without a proof


class Contender(NamedTuple):
    """A backend and, for HiGHS, which of its lowerings: ``cpsat``, ``highs:pairwise``, ``highs:time-indexed``."""

    label: str

    @property
    def backend(self) -> str:
        return self.label.partition(":")[0]

    @property
    def options(self) -> dict[str, Any]:
        lowering = self.label.partition(":")[2]
        return {"lowering": lowering} if lowering else {}

    def solve(self, model: Model, limits: Limits, start: Assignment | None = None) -> Result:
        return run(model, self.backend, limits, warm_start=start, **self.options)


class Verdict(NamedTuple):
    """One check of one backend: which, whether it came to a proven answer, how long it took, and what is wrong."""

    contender: str
    check: str
    decided: bool
    seconds: float
    wrong: tuple[str, ...]


class Case(NamedTuple):
    """All verdicts on one random model; ``feasible`` is None if the model could not be enumerated."""

    seed: int
    constructs: frozenset[str]
    feasible: bool | None
    verdicts: tuple[Verdict, ...]


def examine(seed: int, labels: Sequence[str], limits: Limits, metamorphic: bool) -> Case:
    """The random model of a seed, solved by enumeration and by every backend named."""
    model, constructs = random_model(seed)
    try:
        truth = brute_force(model)
    except EnumerationError:
        return Case(seed, constructs, None, ())
    checks = ["solve", "fixed", *(["warm", "shifted", "permuted", "roomier"] if metamorphic else [])]
    verdicts = [examine_one(model, truth, Contender(label), c, limits) for label in labels for c in checks]
    return Case(seed, constructs, truth.feasible, tuple(verdicts))


def examine_one(model: Model, truth: Truth, contender: Contender, check: str, limits: Limits) -> Verdict:
    """One check of one backend: ``solve``, ``fixed``, ``warm``, ``shifted``, ``permuted`` or ``roomier``."""
    began = time.perf_counter()
    try:
        decided, wrong = _check(model, truth, contender, check, limits)
    except SolverUnavailable:
        decided, wrong = False, []
    except Exception as e:  # whatever a backend raises is a finding about it, not the end of the run
        decided, wrong = True, [f"raised {type(e).__name__}: {e}"]
    return Verdict(contender.label, check, decided, time.perf_counter() - began, tuple(wrong))


def _check(model: Model, truth: Truth, contender: Contender, check: str, limits: Limits) -> tuple[bool, list[str]]:
    if check == "fixed":
        return True, fixed(model, truth.first, contender, limits) if truth.first else []
    if check in ("solve", "warm"):
        result = contender.solve(model, limits, truth.first if check == "warm" else None)
        return result.status not in OPEN, judge(model, truth, result)
    kind = {"shifted": Shifted, "permuted": Permuted, "roomier": Roomier}[check]
    copied = kind(model)
    result = contender.solve(copied.model, limits)
    wrong = not_worse(model, truth, result) if kind is Roomier else judge(model, truth, brought_back(copied, result))
    return result.status not in OPEN, wrong


def judge(model: Model, truth: Truth, result: Result) -> list[str]:
    """What is wrong with the result of a solve.

    >>> import schedlab as sl
    >>> m = sl.Model("one", horizon=4); a = m.interval("a", size=3); m.minimize(a.end)
    >>> judge(m, brute_force(m), Result("optimal", "mine", None, 4, 4, assignment=sl.Assignment(m, {a: 1})))
    ['the objective is (4,), the optimum (3,)', 'the bound 4 is not true: the optimum is 3']
    """
    if result.status in ("unknown", "unavailable"):
        return _false_bound(model, truth, result)
    if result.status == "infeasible":
        if truth.best:
            return [f"says infeasible, but {truth.best} is a solution with objective {truth.objectives}"]
        return _false_conflict(model, result)
    if result.assignment is None:
        return [f"status {result.status!r} without a solution: {result.message}"]
    wrong = [v.message for v in model.check(result.assignment)]
    if wrong:
        return [f"{result.assignment} violates {'; '.join(wrong)}"]
    if truth.best is None:
        return [f"{result.assignment} passes the check, but enumeration found nothing"]
    if result.status not in ("optimal", "feasible"):
        return [f"status {result.status!r}: {result.message}"]
    return _false_objective(model, truth, result) + _false_bound(model, truth, result)


def close(a: Number, b: Number) -> bool:
    """Equal as objective values are: within 1e-6 relative."""
    return abs(a - b) <= max(RELATIVE * max(abs(a), abs(b)), NEARLY_ZERO)


def compare(model: Model, left: Sequence[Number], right: Sequence[Number]) -> int:
    """-1 if the objectives ``left`` are better than ``right``, 1 if worse, 0 if equal.

    Values that are equal by the tolerance alone (not to the last digits) end the comparison: what follows may differ.
    """
    for a, b in zip(left, right, strict=True):
        if not close(a, b):
            return -1 if (a < b) == (model.sense == "minimize") else 1
        if abs(a - b) > NEARLY_ZERO:
            return 0
    return 0


def _false_objective(model: Model, truth: Truth, result: Result) -> list[str]:
    assert result.assignment is not None
    values = tuple(model.value(e, result.assignment) for e in model.objectives)
    told = result.objective if len(values) > 1 else (result.objective,)
    if values and not all(close(a, b) for a, b in zip(values, told, strict=True)):
        return [f"says objective {told}, its answer has {values}"]
    order = compare(model, values, truth.objectives)
    if order < 0 or (order > 0 and result.status == "optimal"):
        return [f"the objective is {values}, the optimum {truth.objectives}"]
    return []


def _false_bound(model: Model, truth: Truth, result: Result) -> list[str]:
    bound = result.bound[0] if isinstance(result.bound, tuple) else result.bound
    if bound is None or not truth.objectives:
        return []
    if compare(model, (truth.objectives[0],), (bound,)) < 0:
        return [f"the bound {bound} is not true: the optimum is {truth.objectives[0]}"]
    return []


def _false_conflict(model: Model, result: Result) -> list[str]:
    """Constraints named as contradictory must be so, without the others."""
    if result.conflict is None or result.conflict.names is None:
        return []
    named = set(result.conflict.names)
    domains = {v.name for v in model.intervals} | {x.name for x in model.integers}
    known = domains | {c.name for c in model.constraints}
    strange = {n for n in named - known if "objective" not in n}
    if strange:
        return [f"the conflict names {sorted(strange)}, which are no constraints"]
    try:
        found = brute_force(Reduced(model, named).model).best
    except EnumerationError:
        return []
    return [f"the conflict {sorted(named)} has the solution {found}"] if found else []


class Keeper:
    """A Watch that keeps the last solution it was told."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.last: Assignment | None = None

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        assignment.model = self.model
        self.last = assignment
        return True

    def bound(self, value: float) -> bool:
        return True


def fixed(model: Model, start: Assignment, contender: Contender, limits: Limits) -> list[str]:
    """A hint must be complete: with all native variables fixed to it, the model has the start as its solution."""
    compiled = compile(model, contender.backend, **contender.options)
    compiled.fix(start)
    keeper = Keeper(model)
    outcome = compiled.run(keeper, limits)
    if keeper.last is None:
        return [f"fixed to the hint of {start}: {outcome.status} {outcome.message}".rstrip()]
    if _numbers(keeper.last) != _numbers(start):
        return [f"fixed to the hint of {start} it answers {keeper.last}"]
    return []


def _numbers(a: Assignment) -> tuple[list[bool], list[int], list[int], list[int]]:
    return a.present, a.start, a.end, a.integer


def brought_back(copied: Copy, result: Result) -> Result:
    """The result of a copy as one of the original; a conflict keeps its names."""
    home = copy.copy(result)
    home.assignment = None if result.assignment is None else copied.back(result.assignment)
    return home


def not_worse(model: Model, truth: Truth, result: Result) -> list[str]:
    """With more capacity, what was feasible stays feasible, and the optimum gets no worse."""
    if truth.best is None or result.status in ("unknown", "unavailable"):
        return []
    if result.assignment is None:
        return [f"with more capacity {result.status}, although {truth.best} is a solution with less"]
    values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
    if model.objectives and result.status == "optimal" and compare(model, values, truth.objectives) > 0:
        return [f"with more capacity the optimum is {values}, with less {truth.objectives}"]
    return []


def shrink(model: Model, wrong: Callable[[Model], bool]) -> Model:
    """A smaller model that is still wrong: constraints and objectives are left out one by one."""
    names = [c.name for c in model.constraints]
    bare = Reduced(model, names, objectives=False).model
    if model.objectives and wrong(bare):
        model = bare
    for name in list(names):
        fewer = [n for n in names if n != name]
        if wrong(Reduced(model, fewer).model):
            names = fewer
    return Reduced(model, names).model
