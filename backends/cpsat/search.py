"""One run of CP-SAT: parameters, callbacks, the log, and what the log says became of a hint."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model

from ..base import Limits, WarmStart

SHORT = 0.5
"""Seconds (or units of the deterministic clock). Of 38 node models of 2 to 20 jobs, 28 were still in presolve after 0.2 s,
and 3 proven; with a single light round of presolve 1 and 10. From 1 s on the full presolve pays."""

Solved = Callable[[Sequence[int], float], bool]
"""Told of each solution: values of all native variables and the bound known then; answers whether to go on."""


@dataclass
class CpSatRun:
    """A solver with its parameters; ``log`` fills up while it runs.

    ``disjunctive``: the model has a no-overlap; ``overlaps``: its objective sums overlaps of intervals with windows.
    """

    limits: Limits
    disjunctive: bool = False
    overlaps: bool = False
    log: list[str] = field(default_factory=list)
    stopped: bool = False
    running: cp_model.CpSolver | None = None

    def solver(self) -> cp_model.CpSolver:
        """A solver set to the limits. A deterministic limit asks for a search that runs the same way every time."""
        made = cp_model.CpSolver()
        p, limits = made.parameters, self.limits
        p.random_seed = limits.seed & 0x7FFFFFFF
        p.num_workers = limits.threads or 0
        p.absolute_gap_limit = 0.0  # the default of 1e-4 is in the units of the objective, which may be small
        p.relative_gap_limit = limits.gap or 0.0
        # 10x10 job shops are proven five to ten times sooner; without machines it can cost every improvement
        p.use_dynamic_precedence_in_disjunctive = self.disjunctive
        if self.overlaps:
            _restart_often(p)
        if limits.time is not None:
            p.max_time_in_seconds = max(0.0, limits.time)
        if limits.deterministic is not None:
            p.max_deterministic_time = limits.deterministic
            p.interleave_search = limits.threads != 1
        if min(limits.time or SHORT, limits.deterministic or SHORT) < SHORT:
            p.cp_model_probing_level = p.symmetry_level = 0
            p.max_presolve_iterations = 1
        p.catch_sigint_signal = False  # its handler takes Python's away for good: the next Ctrl-C would end the process
        p.log_search_progress = True
        p.log_to_stdout = False
        made.log_callback = self.log.append
        return made

    def halt(self) -> None:
        """Ask CP-SAT to stop, from another thread."""
        self.stopped = True
        if self.running is not None:
            self.running.stop_search()

    def run(self, model: cp_model.CpModel, solved: Solved, bounded: Callable[[float], bool]) -> tuple[str, Any]:
        """Solve in this thread; the name of the status and the native response."""
        solver = self.running = self.solver()
        if self.stopped:
            solver.parameters.max_time_in_seconds = 0.0

        def on_bound(value: float) -> None:
            if not bounded(value):
                solver.stop_search()

        if model.has_objective():
            solver.best_bound_callback = on_bound
        status = solver.status_name(solver.solve(model, _Listener(solved)))
        return status, solver.response_proto


def _restart_often(p: Any) -> None:
    """For objectives that change by next to nothing with each second of a start.

    Any other search creeps from second to second: of profit problems of 12 to 16 jobs on 3 nodes, which this proves in 1
    to 4 s on one thread, the default proves one in 30 s.
    """
    own = p if p.num_workers == 1 else type(p)()
    own.search_branching = cp_model.PORTFOLIO_WITH_QUICK_RESTART_SEARCH
    own.linearization_level = 2
    if own is not p:
        own.name = "restarts"
        p.subsolver_params.append(own)
        p.extra_subsolvers.append(own.name)  # goes before the others


class _Listener(cp_model.CpSolverSolutionCallback):
    def __init__(self, solved: Solved) -> None:
        super().__init__()
        self.solved = solved

    def on_solution_callback(self) -> None:
        if not self.solved(self.response_proto.solution, self.best_objective_bound):
            self.stop_search()


def fate(log: str) -> WarmStart:
    """What the log says of a complete hint; ``none`` where it says nothing."""
    said = re.search(r"^The solution hint is .*$", log, re.MULTILINE)
    if said is None:
        return WarmStart()
    if "is feasible" in said[0]:
        return WarmStart("accepted", said[0])
    first = re.search(r"^#1 .*$", log, re.MULTILINE)  # names the subsolver, with "hint" if that one followed the hint
    if first is not None and "hint" in first[0]:
        return WarmStart("repaired", said[0])
    return WarmStart("rejected", said[0])
