"""IBM CP Optimizer through ``docplex.cp``. Its engine, the program ``cpoptimizer``, comes with the ``cplex`` package."""

from __future__ import annotations

import copy
import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import NoSolution, SolverUnavailable, WrongArgument
from ..models.language import Assignment, Constraint, Integer, Interval, Model, NoOverlap
from ..models.language.calendars import FULL
from ..models.long_calls import Deadline
from ..models.words import excerpt, with_short_repr
from .base import (
    OBJECTIVE,
    Availability,
    Compiled,
    Conflict,
    Exactness,
    Limits,
    Outcome,
    Parameter,
    Value,
    WarmStart,
    Watch,
    argument,
    check_all,
    compiled_repr,
    own_values,
    own_variable,
    require_range,
)
from .decompositions.decomposition import Construct
from .solver_thread import run_in_thread

# --- Parameters of CP Optimizer by name: ``CpoParameters`` of docplex.

SOLVER = "CP Optimizer"
AUTO = "Auto"
CONFLICTS = "it concerns the conflict refiner, which runs without parameters"
LOGGED = "schedlab reads the log of the engine, which is in the result"
MESSAGES = "it changes only messages of docplex, which schedlab does not print"
REFUSED = {
    "TimeLimit": argument("time_limit"),
    "TimeMode": "the time limit is wall time",
    "RandomSeed": argument("seed"),
    "BranchLimit": argument("deterministic_limit"),
    "LogVerbosity": LOGGED,
    "ModelAnonymizer": "schedlab finds the variables of answers by their names",
    **dict.fromkeys(("PrintModelDetailsInMessages", "UseFileLocations"), MESSAGES),
}


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Convert parameters to their types: docplex has the names, the ranges, and the texts of enumerations."""
    from docplex.cp.parameters import ALL_PARAMETER_DESCRIPTORS

    known = {d.name: d for d in ALL_PARAMETER_DESCRIPTORS}
    conflicts = {name: CONFLICTS for name in known if name.startswith("ConflictRefiner")}
    return check_all(SOLVER, given, known, {**REFUSED, **conflicts}, lambda p: _convert(p, known[p.name]))


def _convert(p: Parameter, descriptor: Any) -> Value:
    kind = descriptor.type
    if isinstance(kind[0], str):
        return p.as_choice(kind)
    if descriptor.default == AUTO and str(p.value).strip().lower() == AUTO.lower():
        return AUTO
    if kind[0] is None:
        low = -math.inf
    else:
        low = kind[0]
    if kind[1] is None:
        high = math.inf
    else:
        high = kind[1]
    if isinstance(kind[0], int):
        return p.as_int(low, high)
    return p.as_float(low, high)


LARGEST = 2.0**52  # beyond it the engine calls feasible models infeasible; its own limit for times is 2^52 - 2
DETOURS = "transition times decomposed: with intervals of size 0, the engine needs the triangle inequality"
INSTALL = "pip install 'schedlab[cpoptimizer]'"
NO_ENGINE = (
    "the engine of CP Optimizer, the program cpoptimizer, is neither in the folder of "
    f"{Path(sys.executable).name} nor on the PATH; it comes with the cplex package: {INSTALL}"
)


def find_engine() -> str | None:
    """Return the path of the program ``cpoptimizer``.

    It is searched in the folder of the running Python, in its scripts folder, and on the PATH.
    """
    folders = [str(Path(sys.executable).parent), sysconfig.get_path("scripts")]
    return shutil.which("cpoptimizer", path=os.pathsep.join(folders)) or shutil.which("cpoptimizer")


@cache
def engine_version(engine: str) -> tuple[str | None, str]:
    """Start the engine and return (its version, ""), or (None, why it does not start)."""
    try:
        process = subprocess.run([engine, "-angel"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as e:
        return None, f"{engine} does not start: {e}"
    version = re.search(rb'"SolverVersion":"([^"]+)"', process.stdout)
    if version is None:
        return None, f"{engine} printed no version; it ended with exit code {process.returncode}"
    return version[1].decode(), ""


@with_short_repr
class CpOptimizer:
    """The CP Optimizer backend. ``compile`` needs only ``docplex`` and has no options; a run also needs the engine.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> type(CpOptimizer().compile(m).native).__name__
    'CpoModel'
    """

    name = "cpo"
    lacks = frozenset(
        [Construct.LEVEL_VARIABLE, Construct.NO_IDLE, Construct.STATE_CONSTANT, Construct.VARIABLE_CAPACITY]
    )
    obeys = frozenset({"deterministic_limit", "parameters"})
    thread_parameters = frozenset({"Workers"})

    def availability(self) -> Availability:
        """Return the engine's version, or what is missing and how to install it."""
        if find_spec("docplex") is None:
            return Availability(self.name, None, f"the package docplex is missing: {INSTALL}")
        engine = find_engine()
        if engine is None:
            return Availability(self.name, None, NO_ENGINE)
        return Availability(self.name, *engine_version(engine))

    def load(self) -> None:
        """Import docplex, which takes 0.7 s, so that this is not measured as a part of a solve."""
        with suppress(ImportError):
            from . import cpo_docplex  # noqa: F401

    def check_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Value]:
        """Convert values of docplex's ``CpoParameters``; raise UnknownName and ValueError for wrong ones."""
        return check(parameters)

    def compile(self, model: Model) -> Compiled:
        """Lower a model, with its first objective, to a CpoModel; raise SolverUnavailable without docplex."""
        if not any(_has_detours(c) for _, c in model.constraints):
            return CompiledCpo(model)
        from .decompositions.chain import DecomposedCompiled, decompose

        chain = decompose(model, Construct.TRANSITIONS)
        return DecomposedCompiled(chain, CompiledCpo(chain.model), (DETOURS,))


def _has_detours(c: Constraint) -> bool:
    """Return whether intervals can have size 0 and a detour over a third interval be faster than a transition time.

    Then the engine loses solutions: it infers orders of points at the same time that the times do not require.
    """
    if not isinstance(c, NoOverlap) or not c.timed or all(v.size_lo > 0 for v in c.intervals):
        return False
    times = np.array(c.transitions, dtype=np.float64)
    np.fill_diagonal(times, 0.0)  # i to i over k is never faster
    return any(bool((times[:, [k]] + v.size_lo + times[[k]] < times).any()) for k, v in enumerate(c.intervals))


class CompiledCpo:
    """A model as a docplex ``CpoModel`` (``native``). Its answers are ``CpoSolveResult`` or ``CpoModelSolution``."""

    __repr__ = compiled_repr

    def __init__(self, model: Model) -> None:
        try:
            from .cpo_docplex import CpoLowering
        except ImportError as e:
            raise SolverUnavailable(f"docplex.cp cannot be imported ({e}): {INSTALL}") from e
        require_range(model, "CP Optimizer", LARGEST, "it computes in double precision")
        lowered = CpoLowering(model)
        self.native = lowered.native
        self.size = lowered.size()
        notes = (
            ("real coefficients: constraints hold within 5e-7, relative to their right side",) if lowered.real else ()
        )
        self.exactness = Exactness("exact", notes)
        self._model = model
        self._lowered = lowered

    def var(self, x: Interval | Integer) -> Any:
        """Return the ``CpoIntervalVar`` of an interval, or the ``CpoIntVar`` of an integer."""
        own_variable(x, self._model)
        return (self._lowered.integers if isinstance(x, Integer) else self._lowered.intervals)[x.index]

    def assignment(self, answer: Any) -> Assignment:
        """Convert a docplex answer to an assignment; raise LookupError if it holds no solution."""
        if not hasattr(answer, "get_var_solution"):
            raise WrongArgument(f"answer of assignment is {excerpt(answer)}; expected what native.solve() returns")
        assignment = Assignment(self._model)
        for v, native in zip(self._model.intervals, self._lowered.intervals, strict=True):
            value = _value(answer, native)
            if value.is_present():
                assignment.set(v, value.get_start(), value.get_end())
        for x, native in zip(self._model.integers, self._lowered.integers, strict=True):
            assignment.integer[x.index] = _value(answer, native).get_value()
        return assignment

    def hint(self, assignment: Assignment) -> Any:
        """Return a complete starting point, with the shadows (see ``cpo_docplex``), as a ``CpoModelSolution``."""
        from docplex.cp.solution import CpoModelSolution

        own_values(assignment, self._model, "hint")
        point = CpoModelSolution()
        shadows = self._lowered.shadows
        for i, native in enumerate(self._lowered.intervals):
            present = assignment.present[i]
            start = assignment.start[i]
            end = assignment.end[i]
            work = self._lowered.intense.get(i)
            if work is None:
                size = end - start
            else:
                size = work.done(start, end) // FULL
            _add_interval(point, native, present, start, end, size)
            if i in shadows:
                _add_interval(point, shadows[i], present and start < end, start, end, end - start)
        for native, value in zip(self._lowered.integers, assignment.integer, strict=True):
            point.add_integer_var_solution(native, value)
        return point

    def fix(self, assignment: Assignment) -> None:
        """Add constraints that fix every native variable to its hinted value."""
        self.native.add(self.hint(assignment).get_as_constraints())

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve. Without the engine, or if the model is too large for its edition, the status is "unavailable"."""
        engine = find_engine()
        if engine is None:
            return Outcome("unavailable", message=NO_ENGINE)
        from .cpo_docplex import EngineRun

        self.native.set_starting_point(None if warm is None else self.hint(warm))
        search: EngineRun | None = None

        def work(threaded: Watch) -> Outcome:
            nonlocal search
            search = EngineRun(engine, self.native, self.assignment, threaded, limits)
            return search.run()

        def halt() -> None:
            if search is not None:
                search.halt()

        # in a thread of its own, as docplex catches KeyboardInterrupt at some places
        outcome = run_in_thread(self, work, halt, watch, limits)
        if warm is None:
            outcome.warm = WarmStart()
        return outcome

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Return names from the engine's conflict refiner: constraints first, then variables with their domains."""
        engine = find_engine()
        if engine is None:
            return Conflict(None, NO_ENGINE)
        from .cpo_docplex import refine_conflict

        deadline = Deadline(time_limit)
        conflict = refine_conflict(engine, self.native, self._lowered.named, time_limit)
        if conflict.names is None:
            return conflict
        return self._held_against_the_engine(conflict, deadline.remaining)

    def _held_against_the_engine(self, refined: Conflict, seconds: float | None) -> Conflict:
        """Return a conflict, or none if the engine finds a solution of its constraints: the refiner is at times wrong."""
        part = copy.copy(self._model)
        names = set(refined.names or ())
        part.constraints = [c for c in part.constraints if c.name in names]
        if OBJECTIVE not in names:
            part.objectives = []
        first = _First()
        CompiledCpo(part).run(first, Limits(seconds))
        if first.answer is None or part.check(first.answer):
            return refined
        return Conflict(None, f"CP Optimizer names {', '.join(refined.names or ())}, which can hold together")


class _First:
    """A watch that stops at the first answer and keeps it."""

    answer: Assignment | None = None

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        self.answer = assignment
        return False

    def bound(self, value: float) -> bool:
        return True


def _add_interval(point: Any, native: Any, present: bool, start: int, end: int, size: int) -> None:
    if present:
        point.add_interval_var_solution(native, presence=True, start=start, end=end, size=size)
    else:
        point.add_interval_var_solution(native, presence=False)


def _value(answer: Any, native: Any) -> Any:
    solution = answer.get_var_solution(native)
    if solution is None:
        raise NoSolution(f"the answer has no value for {native.get_name()!r}: it is not a solution of this model")
    return solution
