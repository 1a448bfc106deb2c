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
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docplex.cp.solver.cpo_callback import EVENT_OBJ_BOUND, EVENT_SOLUTION, CpoCallback
from docplex.cp.solver.solver import CpoSolver
from docplex.cp.utils import CpoException

from ...errors import NoSolution, SolverUnavailable, WrongArgument
from ...models.deadline import Deadline
from ...models.excerpt import excerpt, with_short_repr
from ...models.language import Assignment, Integer, Interval, Model
from ...models.language.calendars import FULL
from ..base import (
    OBJECTIVE,
    Availability,
    Compiled,
    Conflict,
    Exactness,
    Limits,
    Outcome,
    Status,
    Value,
    WarmStart,
    Watch,
    compiled_repr,
    own_values,
    own_variable,
)
from ..decompositions.constructs import Construct
from ..exact_range import require_range
from ..parameters import Parameter, argument, check_all
from ..solver_thread import SolverLog, run_in_thread

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
    low = -math.inf if kind[0] is None else kind[0]
    high = math.inf if kind[1] is None else kind[1]
    if isinstance(kind[0], int):
        return p.as_int(low, high)
    return p.as_float(low, high)


LARGEST = 2.0**52  # beyond it the engine calls feasible models infeasible; its own limit for times is 2^52 - 2
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
            from . import lowering  # noqa: F401

    def check_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Value]:
        """Convert values of docplex's ``CpoParameters``; raise UnknownName and ValueError for wrong ones."""
        return check(parameters)

    def compile(self, model: Model) -> Compiled:
        """Lower a model, with its first objective, to a CpoModel; raise SolverUnavailable without docplex."""
        return CompiledCpo(model)


class CompiledCpo:
    """A model as a docplex ``CpoModel`` (``native``). Its answers are ``CpoSolveResult`` or ``CpoModelSolution``."""

    __repr__ = compiled_repr

    def __init__(self, model: Model) -> None:
        try:
            from .lowering import CpoLowering
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
        """Return a complete starting point, with the shadows (see ``lowering``), as a ``CpoModelSolution``."""
        from docplex.cp.solution import CpoModelSolution

        own_values(assignment, self._model, "hint")
        point = CpoModelSolution()
        shadows = self._lowered.shadows
        for i, native in enumerate(self._lowered.intervals):
            present = assignment.present[i]
            start = assignment.start[i]
            end = assignment.end[i]
            work = self._lowered.intense.get(i)
            size = end - start if work is None else work.done(start, end) // FULL
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
        from .backend import EngineRun

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
        from .backend import refine_conflict

        deadline = Deadline(time_limit)
        conflict = refine_conflict(engine, self.native, self._lowered.named, time_limit)
        if conflict.names is None:
            return conflict
        return self._held_against_the_engine(conflict, deadline.remaining)

    def _held_against_the_engine(self, found: Conflict, seconds: float | None) -> Conflict:
        """Return a conflict, or none if the engine finds a solution of its constraints: the refiner is at times wrong."""
        part = copy.copy(self._model)
        names = set(found.names or ())
        part.constraints = [c for c in part.constraints if c.name in names]
        if OBJECTIVE not in names:
            part.objectives = []
        first = _First()
        CompiledCpo(part).run(first, Limits(seconds))
        if first.answer is None or part.check(first.answer):
            return found
        return Conflict(None, f"CP Optimizer names {', '.join(found.names or ())}, which can hold together")


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


# --- One run of the CP Optimizer engine: its parameters, its callbacks, how it is stopped, its outcome.


RELATIVE = 1e-12  # relative gap at which an optimum is proven: of an objective without its offset; the default is 1e-4
ABSOLUTE = 1e-12  # absolute gap, for objectives near 0
SMALLEST_STEP = 1e-9  # tolerances below it, relative to the objective, are less than the precision of an answer
GRACE = 0.25  # seconds after the time limit or Ctrl-C at which an engine that does not stop is killed
START_SECONDS = 30.0  # longest time until the engine's first answer; docplex has 5
STATUSES: dict[str, Status] = {
    "Optimal": "optimal",
    "Feasible": "feasible",
    "Infeasible": "infeasible",
    "Unknown": "unknown",
}
UNKNOWN_BOUND = 2.0**53 - 1
TOO_LARGE = "Problem size limit exceeded"
FATES = {
    "Starting point is complete and consistent": WarmStart("accepted"),
    "Starting point was completed": WarmStart("repaired", "the engine completed the starting point"),
    "Starting point is not consistent": WarmStart(
        "rejected", "the engine found that it is not consistent with the constraints"
    ),
}
NOT_NEEDED = WarmStart("accepted", "the engine solved the model by propagation, before it used the starting point")
NOT_USED = WarmStart("rejected", "the engine ended before it used the starting point")


def parameters(limits: Limits) -> dict[str, Any]:
    """Return the engine's parameters. A deterministic limit is a number of branches (BranchLimit), with one worker."""
    chosen: dict[str, Any] = {
        "LogVerbosity": "Terse" if limits.log else "Quiet",
        "OptimalityTolerance": ABSOLUTE,
        "RelativeOptimalityTolerance": max(RELATIVE, limits.gap or 0.0),
        "RandomSeed": limits.seed % 2**31,
    }
    if limits.threads is not None:
        chosen["Workers"] = limits.threads
    if limits.time is not None:
        chosen["TimeLimit"] = limits.time
    if limits.deterministic is not None:
        chosen["Workers"] = 1
        chosen["BranchLimit"] = max(1, int(limits.deterministic))
    return chosen | dict(limits.parameters)


def start(engine: str, native: Any, log: SolverLog, **chosen: Any) -> Any:
    """Start an engine and return its ``CpoSolver``, which writes to ``log`` and never to the terminal."""
    return CpoSolver(
        native,
        agent="local",
        execfile=engine,
        process_start_timeout=START_SECONDS,
        listeners=None,
        log_output=log,
        trace_log=True,
        add_log_to_solution=False,
        add_source_location=False,
        add_conflict_as_cpo=False,
        **chosen,
    )


def known_bound(answer: Any) -> float | None:
    """Return the bound of an answer, or None: the engine gives numbers of 2^53 - 1 and more for an unknown bound."""
    bound: float | None = answer.get_objective_bound()
    return None if bound is None or abs(bound) >= UNKNOWN_BOUND else bound


def proven_bound(answer: Any, chosen: dict[str, Any]) -> float | None:
    """Return the bound that an answer proves.

    A search that went through the whole tree proves its incumbent within the tolerances, and leaves the bound that the
    engine reports as it was.
    """
    bound = known_bound(answer)
    if answer.get_solve_status() != "Optimal" or bound is None:
        return bound
    value: float = answer.get_objective_value()
    tolerance: float = max(chosen["OptimalityTolerance"], chosen["RelativeOptimalityTolerance"] * abs(value))
    if tolerance < SMALLEST_STEP * max(1.0, abs(value)):
        return value
    return max(bound, value - tolerance) if bound < value else min(bound, value + tolerance)


def _abort(solver: Any) -> None:
    """Make the engine stop its search, unless it has ended."""
    with suppress(OSError, CpoException):  # a closed pipe
        solver.abort_search()


class EngineRun(CpoCallback):  # type: ignore[misc]
    """One solve: it reports solutions and bounds to a Watch, and always ends the engine.

    Parameters
    ----------
    engine : str
        Path of the program ``cpoptimizer``.
    native : CpoModel
    read : callable
        Converts a native answer to an assignment.
    watch : Watch
    limits : Limits
    """

    def __init__(
        self, engine: str, native: Any, read: Callable[[Any], Assignment], watch: Watch, limits: Limits
    ) -> None:
        self.engine = engine
        self.native = native
        self.read = read
        self.watch = watch
        self.limits = limits
        self.overdue = False
        self.halted = False
        self.solver: Any = None

    def invoke(self, solver: Any, event: str, answer: Any) -> None:
        """Handle an event of the engine; docplex calls this in the thread that waits for the engine."""
        going = True
        bound = known_bound(answer)
        if event == EVENT_SOLUTION:
            going = self.watch.solution(self.read(answer), bound)
        elif event == EVENT_OBJ_BOUND and bound is not None:
            going = self.watch.bound(bound)
        if not going:
            _abort(solver)

    def halt(self) -> None:
        """Make the engine stop, and kill it if it does not; for other threads."""
        agent = getattr(self.solver, "agent", None)  # None before the start and after the end
        if agent is not None and not self.halted:
            self.halted = True
            killer = threading.Timer(GRACE, self._kill, [agent.process])
            killer.daemon = True
            killer.start()
            _abort(self.solver)

    def run(self) -> Outcome:
        """Solve within the limits, in the current thread."""
        log = SolverLog()
        solver, timers = None, []
        try:
            deadline = self.limits.deadline
            chosen = parameters(self.limits)
            solver = self.solver = start(self.engine, self.native, log, **chosen)
            timers = self._timers(solver, deadline)
            solver.add_callback(self)
            outcome = self._outcome(solver.solve(), chosen)
        except (CpoException, OSError) as e:
            outcome = self._failure(e, solver)
        finally:
            for timer in timers:
                timer.cancel()
            if solver is not None:
                solver.end()
        outcome.log = log.text()
        if not self.limits.log:
            return outcome
        silent = NOT_NEEDED if outcome.status in ("optimal", "feasible") else NOT_USED
        outcome.warm = next((fate for text, fate in FATES.items() if text in outcome.log), silent)
        return outcome

    def _timers(self, solver: Any, deadline: Deadline) -> list[threading.Timer]:
        """Start timers for the time limit: the engine's own clock starts only after docplex has written the model."""
        left = deadline.remaining
        if left is None:
            return []
        timers = [
            threading.Timer(left, _abort, [solver]),
            threading.Timer(left + GRACE, self._kill, [solver.agent.process]),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        return timers

    def _kill(self, process: Any) -> None:
        self.overdue = True
        process.kill()

    def _outcome(self, answer: Any, chosen: dict[str, Any]) -> Outcome:
        status = STATUSES.get(answer.get_solve_status(), "error")
        if answer.is_solution():
            self.watch.solution(self.read(answer), known_bound(answer))
        message = str(answer.get_fail_status()) if status == "error" else ""
        return Outcome(status, proven_bound(answer, chosen), message=message)

    def _failure(self, e: Exception, solver: Any) -> Outcome:
        if self.overdue:
            return Outcome(
                "unknown", message=f"the engine did not stop at its time limit; it was killed {GRACE:g} s later"
            )
        reason = " ".join(str(e).split())
        # also None after an error that the engine reported itself
        process = solver.agent.process if solver is not None else None
        if process is not None:
            process.kill()
            reason = f"the engine ended unexpectedly, with exit code {process.wait()}: {reason}"
        return Outcome("unavailable" if TOO_LARGE in reason else "error", message=reason)


def refine_conflict(engine: str, native: Any, named: dict[int, str], time_limit: float | None) -> Conflict:
    """Find a minimal set of constraints and domains that cannot hold together.

    Parameters
    ----------
    engine : str
        Path of the program ``cpoptimizer``.
    native : CpoModel
    named : dict of int to str
        Name of each native constraint and variable, by its ``id``.
    time_limit : float or None
        Wall time in seconds; None: no limit.

    Returns
    -------
    Conflict
    """
    limit = {} if time_limit is None else {"ConflictRefinerTimeLimit": time_limit, "TimeLimit": time_limit}
    solver, killer = None, None
    try:
        solver = start(engine, native, SolverLog(), ConflictRefinerOnVariables="On", **limit)
        if time_limit is not None:
            killer = threading.Timer(time_limit + GRACE, solver.agent.process.kill)
            killer.start()
        answer = solver.refine_conflict()
    except (CpoException, OSError) as e:
        return Conflict(None, f"the conflict refiner of CP Optimizer failed: {' '.join(str(e).split())}")
    finally:
        if killer is not None:
            killer.cancel()
        if solver is not None:
            solver.end()
    constraints = [*answer.get_all_member_constraints(), *answer.get_all_possible_constraints()]
    variables = [*answer.get_all_member_variables(), *answer.get_all_possible_variables()]
    names = tuple(dict.fromkeys(named[id(e)] for e in [*constraints, *variables] if id(e) in named))
    if not names:
        return Conflict(None, "the conflict refiner of CP Optimizer found no conflict in its time")
    minimal = answer.get_conflict_status() == "TerminatedNormally"
    return Conflict(names, "a minimal conflict" if minimal else "a conflict, not yet minimal when the time ended")
