"""Checks of a backend on one model and on copies of it, against the result of complete enumeration (``brute_force``)."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeVar

from ...errors import SolverUnavailable
from ...models.language import Assignment, Constraint, Integer, Interval, Linear, Model
from ...models.language.expressions import Attribute, Number, Window
from ..base import Limits
from ..decompositions.decomposition import Copy, Steps
from ..driver import HORIZON, compile, run
from ..result import Result
from .enumeration import EnumerationError, Truth, brute_force
from .random_models import random_model

# --- Copies of a model: equal, shifted in time, permuted, with more capacity, or with constraints left out.
#
# A copy is a model with its own variables; ``Copy.back`` converts an assignment of the copy to one of the original. The
# metamorphic checks (``agreement``) and the planted faults (``planted_faults``) are subclasses that override one method
# each.

T = TypeVar("T")


class Shifted(Copy):
    """A copy with all times earlier by ``shift`` seconds.

    Expressions add the shift to each start and end, so the optimum is the same.
    """

    shift = 7

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval with earlier windows."""
        windows = [(lo - self.shift, hi - self.shift) for lo, hi in v.windows]
        return self.model.interval(v.name, (v.size_lo, v.size_hi), windows, v.optional)

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity with earlier times."""
        return tuple((t - self.shift, c) for t, c in steps)

    def forbidden(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the forbidden windows with earlier times."""
        return tuple((lo - self.shift, hi - self.shift) for lo, hi in windows)

    def attribute(self, atom: Attribute) -> Linear:
        """Return the attribute in the times of the original."""
        v = self.intervals[atom.interval]
        e = super().attribute(atom)
        if atom.field not in ("start", "end"):
            return e
        if v.optional:
            return e + self.shift * v.presence
        return e + self.shift


class Permuted(Copy):
    """A copy with variables and constraints in another order. The optimum is the same."""

    def interval_order(self) -> list[Interval]:
        """Return the intervals in random order."""
        return self._shuffled(self.origin.intervals)

    def integer_order(self) -> list[Integer]:
        """Return the integers in random order."""
        return self._shuffled(self.origin.integers)

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        """Return the constraints in random order."""
        return self._shuffled(super().constraint_order())

    @staticmethod
    def _shuffled(items: list[T]) -> list[T]:
        return random.Random(len(items)).sample(items, len(items))


class Roomier(Copy):
    """A copy with each capacity greater by 1. A feasible model stays feasible and its optimum does not get worse."""

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity plus 1."""
        return tuple((t, c + 1) for t, c in steps)


class Reduced(Copy):
    """A copy with only the constraints of the given names, with or without the objectives."""

    def __init__(self, origin: Model, names: Collection[str], objectives: bool = True) -> None:
        self.names = frozenset(names)
        self.objectives = objectives
        super().__init__(origin)

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        """Return the constraints to keep."""
        return [(name, c) for name, c in super().constraint_order() if name in self.names]

    def objective(self) -> None:
        """Add the objectives if they are kept."""
        if self.objectives:
            super().objective()


# --- Checks of a backend on one model, against the result of complete enumeration (``brute_force``).
#
# The checks are:
#
# - ``solve``: solve the model; compare status, solution, objective and bound with enumeration.
# - ``fixed``: fix all native variables to the hint of a known solution; the native model must have that solution.
# - ``warm``: as ``solve``, with a known solution as warm start.
# - ``shifted``: as ``solve``, for a copy of the model with all times 7 s earlier.
# - ``permuted``: as ``solve``, for a copy with variables and constraints in another order.
# - ``roomier``: solve a copy with each capacity greater by 1; its optimum must not be worse.
#
# Each check returns a list of error messages; it is empty if nothing is wrong.

RELATIVE = 1e-6
NEARLY_ZERO = 1e-9
OPEN = ("feasible", "unknown", "unavailable")  # statuses of a solve that ended without a proof


class Contender(NamedTuple):
    """A backend and optionally its lowering.

    Parameters
    ----------
    label : str
        ``cpsat``, ``highs:pairwise``, ``highs:time-indexed``: the backend, and the lowering behind a colon.
    """

    label: str

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return self.label.partition(":")[0]

    @property
    def options(self) -> dict[str, Any]:
        """The options of the backend: its lowering, if the label names one."""
        lowering = self.label.partition(":")[2]
        if lowering:
            return {"lowering": lowering}
        return {}

    def solve(self, model: Model, limits: Limits, start: Assignment | None = None) -> Result:
        """Solve a model, optionally from a warm start."""
        return run(model, self.backend, limits, warm_start=start, **self.options)


class Verdict(NamedTuple):
    """The outcome of one check of one backend.

    Attributes
    ----------
    contender : str
        Label of the backend.
    check : str
        Name of the check.
    decided : bool
        False if the solve ended without a proof or the backend cannot solve the model.
    seconds : float
        Duration of the check.
    wrong : tuple of str
        Error messages; empty if nothing is wrong.
    """

    contender: str
    check: str
    decided: bool
    seconds: float
    wrong: tuple[str, ...]


class Case(NamedTuple):
    """All verdicts on one random model.

    Attributes
    ----------
    seed : int
        Seed of the model.
    constructs : frozenset of str
        The constructs of the language that occur in it.
    feasible : bool or None
        Whether the model has a solution; None if it was too large to enumerate.
    verdicts : tuple of Verdict
        The outcome of each check.
    """

    seed: int
    constructs: frozenset[str]
    feasible: bool | None
    verdicts: tuple[Verdict, ...]


def examine(seed: int, labels: Sequence[str], limits: Limits, metamorphic: bool) -> Case:
    """Solve the random model of a seed by enumeration and check the backends on it.

    Parameters
    ----------
    seed : int
        Seed of the random model.
    labels : sequence of str
        Labels of the backends.
    limits : Limits
        Limits of each solve.
    metamorphic : bool
        If False, only the checks ``solve`` and ``fixed`` are made, else all.

    Returns
    -------
    Case
        The verdicts; none if the model was too large to enumerate.
    """
    model, constructs = random_model(seed)
    try:
        truth = brute_force(model)
    except EnumerationError:
        return Case(seed, constructs, None, ())
    checks = ["solve", "fixed", *(["warm", "shifted", "permuted", "roomier"] if metamorphic else [])]
    verdicts = [examine_one(model, truth, Contender(label), c, limits) for label in labels for c in checks]
    return Case(seed, constructs, truth.feasible, tuple(verdicts))


def examine_one(model: Model, truth: Truth, contender: Contender, check: str, limits: Limits) -> Verdict:
    """Make one check of one backend.

    Parameters
    ----------
    model : Model
        The model.
    truth : Truth
        Its result by enumeration.
    contender : Contender
        The backend.
    check : {"solve", "fixed", "warm", "shifted", "permuted", "roomier"}
        The check (see the module).
    limits : Limits
        Limits of each solve.

    Returns
    -------
    Verdict
        An exception raised by the backend is an error message in it, except SolverUnavailable (undecided).
    """
    began = time.perf_counter()
    try:
        decided, wrong = _check(model, truth, contender, check, limits)
    except SolverUnavailable:
        decided, wrong = False, []
    except Exception as e:  # any exception of a backend is an error to report, the run continues
        decided = True
        wrong = [f"raised {type(e).__name__}: {e}"]
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
    if kind is Roomier:
        wrong = not_worse(model, truth, result)
    else:
        wrong = judge(model, truth, brought_back(copied, result))
    return result.status not in OPEN, wrong


def judge(model: Model, truth: Truth, result: Result) -> list[str]:
    """Return error messages on the result of a solve.

    Parameters
    ----------
    model : Model
        The model.
    truth : Truth
        Its optimum by enumeration.
    result : Result
        What a backend answered: its status, objective, bound, assignment and conflict are checked.

    Returns
    -------
    list of str
        What is wrong; empty if nothing is.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one", horizon=4); a = m.interval("a", size=3); m.minimize(a.end)
    >>> judge(m, brute_force(m), Result("optimal", "mine", None, 4, 4, assignment=sl.Assignment(m, {a: 1})))
    ['the answer has objective (4,), but the optimum is (3,)', 'the bound 4 is false: the optimum is 3']
    """
    if result.status in ("unknown", "unavailable"):
        return _false_bound(model, truth, result)
    if result.status == "infeasible":
        if truth.best:
            return [f"reports infeasible, but {truth.best} is a solution with objective {truth.objectives}"]
        return _false_conflict(model, result)
    if result.assignment is None:
        return [f"status {result.status!r} without a solution: {result.message}"]
    wrong = [v.message for v in model.check(result.assignment)]
    if wrong:
        return [f"{result.assignment} violates {'; '.join(wrong)}"]
    if truth.best is None:
        return [f"{result.assignment} satisfies all constraints, but enumeration found no solution"]
    if result.status not in ("optimal", "feasible"):
        return [f"status {result.status!r}: {result.message}"]
    return _false_objective(model, truth, result) + _false_bound(model, truth, result)


def close(a: Number, b: Number) -> bool:
    """Return whether two objective values are equal: within 1e-6 relative, or 1e-9 absolute."""
    return abs(a - b) <= max(RELATIVE * max(abs(a), abs(b)), NEARLY_ZERO)


def compare(model: Model, left: Sequence[Number], right: Sequence[Number]) -> int:
    """Return -1 if the objective values ``left`` are better than ``right``, 1 if worse, 0 if equal.

    The comparison is lexicographic. If two values differ by more than 1e-9 but are equal within the tolerance of 1e-6,
    the comparison ends with 0, because such a difference allows any difference in the later objectives.
    """
    for a, b in zip(left, right, strict=True):
        if not close(a, b):
            if (a < b) == (model.sense == "minimize"):
                return -1
            return 1
        if abs(a - b) > NEARLY_ZERO:
            return 0
    return 0


def _false_objective(model: Model, truth: Truth, result: Result) -> list[str]:
    assert result.assignment is not None
    values = tuple(model.value(e, result.assignment) for e in model.objectives)
    reported = _values(result)
    if values and not (len(values) == len(reported) and all(map(close, values, reported))):
        return [f"reports objective {reported}, but its answer has {values}"]
    order = compare(model, values, truth.objectives)
    if order < 0 or (order > 0 and result.status == "optimal"):
        return [f"the answer has objective {values}, but the optimum is {truth.objectives}"]
    return []


def _false_bound(model: Model, truth: Truth, result: Result) -> list[str]:
    if isinstance(result.bound, tuple):
        bound = result.bound[0]
    else:
        bound = result.bound
    if bound is None or not truth.objectives:
        return []
    if compare(model, (truth.objectives[0],), (bound,)) < 0:
        return [f"the bound {bound} is false: the optimum is {truth.objectives[0]}"]
    return []


def _false_conflict(model: Model, result: Result) -> list[str]:
    """Check that the constraints of a conflict alone have no solution."""
    if result.conflict is None or result.conflict.names is None:
        return []
    named = set(result.conflict.names)
    domains = {v.name for v in model.intervals} | {x.name for x in model.integers}
    known = domains | {c.name for c in model.constraints}
    unknown = {n for n in named - known if "objective" not in n and not n.startswith(HORIZON)}
    if unknown:
        return [f"the conflict names {sorted(unknown)}, but the model has no such constraints or variables"]
    try:
        best = brute_force(Reduced(model, named).model).best
    except EnumerationError:
        return []
    if best:
        return [f"the constraints of the conflict {sorted(named)} have the solution {best}"]
    return []


class Keeper:
    """A Watch (callback object of a solve) that keeps the last solution."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.last: Assignment | None = None

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Keep a solution; continue the solve."""
        assignment.model = self.model
        self.last = assignment
        return True

    def bound(self, value: float) -> bool:
        """Ignore a bound; continue the solve."""
        return True


def fixed(model: Model, start: Assignment, contender: Contender, limits: Limits) -> list[str]:
    """Check that a hint is complete: with all native variables fixed to it, the native model has the start as solution.

    Parameters
    ----------
    model : Model
        The model.
    start : Assignment
        A solution of the model.
    contender : Contender
        The backend.
    limits : Limits
        Limits of the solve.

    Returns
    -------
    list of str
        Error messages; empty if nothing is wrong.
    """
    compiled = compile(model, contender.backend, **contender.options)
    compiled.fix(start)
    keeper = Keeper(model)
    outcome = compiled.run(keeper, limits)
    if keeper.last is None:
        return [
            f"no solution with all variables fixed to the hint of {start}: {outcome.status} {outcome.message}".rstrip()
        ]
    if _numbers(keeper.last) != _numbers(start):
        return [f"with all variables fixed to the hint of {start} the solution is {keeper.last}"]
    return []


def _numbers(a: Assignment) -> tuple[list[bool], list[int], list[int], list[int]]:
    return a.present, a.start, a.end, a.integer


def brought_back(copied: Copy, result: Result) -> Result:
    """Convert the result on a copy to a result on the original model. The names in a conflict stay."""
    converted = copy.copy(result)
    if result.assignment is None:
        converted.assignment = None
    else:
        converted.assignment = copied.back(result.assignment)
    return converted


def _values(result: Result) -> tuple[float, ...]:
    """Return the values of all objectives of a result; () if there are none."""
    if result.objective is None:
        return ()
    if isinstance(result.objective, tuple):
        return result.objective
    return (result.objective,)


def not_worse(model: Model, truth: Truth, result: Result) -> list[str]:
    """Return error messages on a result for more capacity: it must be feasible and its optimum not worse."""
    if truth.best is None or result.status in ("unknown", "unavailable"):
        return []
    if result.assignment is None:
        return [f"{result.status} with more capacity, but {truth.best} is a solution with less"]
    values = _values(result)
    if model.objectives and result.status == "optimal" and compare(model, values, truth.objectives) > 0:
        return [f"the optimum is {values} with more capacity, but {truth.objectives} with less"]
    return []


def shrink(model: Model, wrong: Callable[[Model], bool]) -> Model:
    """Return a smaller model for which ``wrong`` is still true, by leaving out objectives and constraints."""
    names = [c.name for c in model.constraints]
    bare = Reduced(model, names, objectives=False).model
    if model.objectives and wrong(bare):
        model = bare
    for name in list(names):
        fewer = [n for n in names if n != name]
        if wrong(Reduced(model, fewer).model):
            names = fewer
    return Reduced(model, names).model
