"""One run of the CP Optimizer engine: its parameters, its callbacks, how it is stopped, its outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from docplex.cp.solver.cpo_callback import EVENT_OBJ_BOUND, EVENT_SOLUTION, CpoCallback
from docplex.cp.solver.solver import CpoSolver
from docplex.cp.utils import CpoException

from ...models.deadline import Deadline
from ...models.language import Assignment
from ..base import Conflict, Limits, Outcome, Status, WarmStart, Watch
from ..solver_thread import SolverLog

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
