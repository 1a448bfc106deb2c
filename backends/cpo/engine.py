"""One run of the CP Optimizer engine: its parameters, what it tells on the way, how it is stopped, how it ends."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

from docplex.cp.solver.cpo_callback import EVENT_OBJ_BOUND, EVENT_SOLUTION, CpoCallback
from docplex.cp.solver.solver import CpoSolver
from docplex.cp.utils import CpoException

from ...models.language import Assignment
from ..base import Conflict, Limits, Outcome, Status, WarmStart, Watch

RELATIVE = 1e-9  # proven gap of an optimum; the engine has 1e-4 by default
ABSOLUTE = 1e-12  # the same, for objectives near 0
GRACE = 1.0  # seconds from the time limit until an engine that does not stop is killed
HALT_SECONDS = 0.4  # the same, from Ctrl-C on
START_SECONDS = 30.0  # what the engine may take to answer for the first time; docplex has 5
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
        "rejected", "the engine found it not consistent with the constraints"
    ),
}
NOT_NEEDED = WarmStart("accepted", "the engine solved the model by propagation, before it came to the starting point")
NOT_USED = WarmStart("rejected", "the engine ended before it came to the starting point")


def parameters(limits: Limits) -> dict[str, Any]:
    """The engine's parameters. A deterministic limit is a number of branches (BranchLimit), with one worker."""
    chosen: dict[str, Any] = {
        "LogVerbosity": "Terse",
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
    return chosen


def start(engine: str, native: Any, log: io.StringIO, **chosen: Any) -> Any:
    """A ``CpoSolver`` with a running engine, which writes to ``log`` and never to the terminal."""
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
    """Return the bound of an answer; the engine's largest numbers, 2^53 and so on, stand for an unknown one."""
    bound: float | None = answer.get_objective_bound()
    return None if bound is None or abs(bound) >= UNKNOWN_BOUND else bound


class EngineRun(CpoCallback):  # type: ignore[misc]
    """A solve: passes solutions and bounds on to a Watch, and ends the engine whatever happens.

    ``read`` makes our assignment of a native answer.
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
        """What docplex calls at every event of the engine, in the thread that waits for it."""
        going = True
        bound = known_bound(answer)
        if event == EVENT_SOLUTION:
            going = self.watch.solution(self.read(answer), bound)
        elif event == EVENT_OBJ_BOUND and bound is not None:
            going = self.watch.bound(bound)
        if not going:
            solver.abort_search()

    def halt(self) -> None:
        """Ask the engine to stop, from another thread; it is killed if it does not."""
        agent = getattr(self.solver, "agent", None)  # None before the start and after the end
        if agent is not None and not self.halted:
            self.halted = True
            killer = threading.Timer(HALT_SECONDS, self._kill, [agent.process])
            killer.daemon = True
            killer.start()
            self.solver.abort_search()

    def run(self) -> Outcome:
        """Solve within the limits, in this thread."""
        log = io.StringIO()
        solver, timers = None, []
        try:
            began = time.monotonic()
            solver = self.solver = start(self.engine, self.native, log, **parameters(self.limits))
            timers = self._timers(solver, began)
            solver.add_callback(self)
            outcome = self._outcome(solver.solve())
        except (CpoException, OSError) as e:
            outcome = self._failure(e, solver)
        finally:
            for timer in timers:
                timer.cancel()
            if solver is not None:
                solver.end()
        outcome.log = log.getvalue()
        silent = NOT_NEEDED if outcome.status in ("optimal", "feasible") else NOT_USED
        outcome.warm = next((fate for said, fate in FATES.items() if said in outcome.log), silent)
        return outcome

    def _timers(self, solver: Any, began: float) -> list[threading.Timer]:
        """The engine's clock starts after docplex has written the model; these hold it to ours."""
        if self.limits.time is None:
            return []
        left = max(0.0, self.limits.time - (time.monotonic() - began))
        timers = [
            threading.Timer(left, solver.abort_search),
            threading.Timer(left + GRACE, self._kill, [solver.agent.process]),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        return timers

    def _kill(self, process: Any) -> None:
        self.overdue = True
        process.kill()

    def _outcome(self, answer: Any) -> Outcome:
        status = STATUSES.get(answer.get_solve_status(), "error")
        if answer.is_solution():
            self.watch.solution(self.read(answer), known_bound(answer))
        message = str(answer.get_fail_status()) if status == "error" else ""
        return Outcome(status, known_bound(answer), message=message)

    def _failure(self, e: Exception, solver: Any) -> Outcome:
        if self.overdue:
            return Outcome(
                "unknown", message=f"the engine did not stop at its time limit; it was killed {GRACE:g} s later"
            )
        reason = " ".join(str(e).split())
        process = (
            solver.agent.process if solver is not None else None
        )  # None, too, after an error the engine itself told
        if process is not None:
            process.kill()
            reason = f"the engine ended unexpectedly, with exit code {process.wait()}: {reason}"
        return Outcome("unavailable" if TOO_LARGE in reason else "error", message=reason)


def refine_conflict(engine: str, native: Any, named: dict[int, str], time_limit: float | None) -> Conflict:
    """A minimal set of constraints and domains that cannot hold together; ``named`` gives their names by ``id``."""
    limit = {} if time_limit is None else {"ConflictRefinerTimeLimit": time_limit, "TimeLimit": time_limit}
    solver, killer = None, None
    try:
        solver = start(engine, native, io.StringIO(), ConflictRefinerOnVariables="On", **limit)
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
