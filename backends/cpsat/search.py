"""One run of CP-SAT: parameters, callbacks, the log, and what the log says about a hint."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model

from ..base import Limits, WarmStart
from ..solver_log import SolverLog
from .parameters import set_all

SHORT = 0.5
"""Seconds, or units of the deterministic time: below this limit presolve is reduced to one light round.

Measured on 38 models of 2 to 20 jobs on nodes: after 0.2 s, 28 were still in presolve and 3 were proven. With one light
round of presolve, 1 was still in presolve and 10 were proven. From 1 s on the full presolve is better."""

OnSolution = Callable[[Sequence[int], float], bool]
"""Callback for each solution: (values of all native variables, bound at this moment); returns whether to go on."""


@dataclass
class CpSatRun:
    """A run of CP-SAT.

    Parameters
    ----------
    limits : Limits
    orders : bool
        Whether CP-SAT may branch on the order of two intervals (see ``linked_starts``).
    overlaps : bool
        Whether the objective sums overlaps of intervals with windows.
    log : SolverLog
        CP-SAT's log, which grows while it runs.
    hints : list of str
        The lines of it that say what became of a hint.
    """

    limits: Limits
    orders: bool = False
    overlaps: bool = False
    log: SolverLog = field(default_factory=SolverLog)
    hints: list[str] = field(default_factory=list)
    stopped: bool = False
    running: cp_model.CpSolver | None = None

    def solver(self) -> cp_model.CpSolver:
        """Return a solver with the parameters of this run. With a deterministic limit the search is reproducible."""
        made = cp_model.CpSolver()
        p, limits = made.parameters, self.limits
        p.random_seed = limits.seed & 0x7FFFFFFF
        p.num_workers = limits.threads or 0
        # the default of 1e-4 is in the units of the objective, which may be small; relative_gap_limit, too, if the
        # objective is below 1: the recorder obeys limits.gap
        p.absolute_gap_limit = 0.0
        # experimental, see ``linked_starts``; on models without machines it can prevent every improvement
        p.use_dynamic_precedence_in_disjunctive = self.orders
        if self.overlaps:
            _restart_often(p)
        if limits.time is not None:
            p.max_time_in_seconds = max(0.0, limits.time)
        if limits.deterministic is not None:
            p.max_deterministic_time = limits.deterministic
            # experimental: it only deals the same searches out to the threads in a fixed order, which makes runs equal
            p.interleave_search = limits.threads != 1
        if min(limits.time or SHORT, limits.deterministic or SHORT) < SHORT:
            p.cp_model_probing_level = p.symmetry_level = 0
            p.max_presolve_iterations = 1
        p.catch_sigint_signal = False  # its handler replaces Python's for good: the next Ctrl-C would end the process
        p.log_search_progress = limits.log
        p.log_to_stdout = False
        set_all(p, limits.parameters)
        if limits.log:
            made.log_callback = self._logged
        return made

    def _logged(self, line: str) -> None:
        self.log.line(line)
        if line.startswith(("The solution hint is", "#1 ")):
            self.hints.append(line)

    def halt(self) -> None:
        """Make CP-SAT stop; for other threads."""
        self.stopped = True
        if self.running is not None:
            self.running.stop_search()

    def run(
        self, model: cp_model.CpModel, on_solution: OnSolution, on_bound: Callable[[float], bool]
    ) -> tuple[str, Any]:
        """Solve in the current thread; return the name of the status and the native response."""
        solver = self.running = self.solver()
        if self.stopped:
            solver.parameters.max_time_in_seconds = 0.0

        def bounded(value: float) -> None:
            if not on_bound(value):
                solver.stop_search()

        if model.has_objective():
            solver.best_bound_callback = bounded
        status = solver.status_name(solver.solve(model, _Listener(on_solution)))
        return status, solver.response_proto


def _restart_often(p: Any) -> None:
    """Add a search with quick restarts, for objectives that change very little with each second of a start.

    Other searches improve such objectives second by second. Measured on profit problems of 12 to 16 jobs on 3 nodes:
    this search proves them in 1 to 4 s on one thread; the default search proves one of them in 30 s.
    """
    own = p if p.num_workers == 1 else type(p)()
    own.search_branching = (
        cp_model.PORTFOLIO_WITH_QUICK_RESTART_SEARCH
    )  # "for testing": an order of branching, no inference
    own.linearization_level = 2
    if own is not p:
        own.name = "restarts"
        p.subsolver_params.append(own)
        p.extra_subsolvers.append(own.name)  # extra subsolvers run before the others


class _Listener(cp_model.CpSolverSolutionCallback):
    def __init__(self, on_solution: OnSolution) -> None:
        super().__init__()
        self.on_solution = on_solution

    def on_solution_callback(self) -> None:
        if not self.on_solution(self.response_proto.solution, self.best_objective_bound):
            self.stop_search()


def fate(log: str) -> WarmStart:
    """Return what the log says about a complete hint; "none" if it says nothing."""
    line = re.search(r"^The solution hint is .*$", log, re.MULTILINE)
    if line is None:
        return WarmStart()
    if "is feasible" in line[0]:
        return WarmStart("accepted", line[0])
    # the line of the first solution names its subsolver, with "hint" if that followed the hint
    first = re.search(r"^#1 .*$", log, re.MULTILINE)
    if first is not None and "hint" in first[0]:
        return WarmStart("repaired", line[0])
    return WarmStart("rejected", line[0])
