"""Find constraints of an infeasible model that cannot hold together.

First each constraint is put under a literal that is assumed true, and CP-SAT names assumptions that suffice for a
contradiction. Then a deletion filter removes chunks of these constraints, smaller and smaller ones, from new lowerings.
A chunk stays removed if the rest is still proven infeasible. So the returned set itself has been proven infeasible.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

from ortools.sat.python import cp_model

from ...models.language import Assignment, Model
from ..base import OBJECTIVE, Conflict, NoConflict
from .lowering import CpSatLowering

Reader = Callable[[CpSatLowering, cp_model.CpSolver], Assignment]
"""Returns the assignment of a lowering's model that a solver has found."""


def find_conflict(model: Model, time_limit: float | None, read: Reader) -> Conflict:
    """Return a conflict, as small as the time limit (in seconds) allows; names None if none was proven in time."""
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    core = _suspects(model, deadline, read)
    if isinstance(core, Conflict):
        return core
    if _status(_part(model, core), deadline) != "INFEASIBLE":
        return Conflict(None, "the time ended before a conflict was proven")
    core, minimal = _shrink(model, core, deadline)
    names = [*(c.name for c in model.constraints), OBJECTIVE]
    core_names = tuple(dict.fromkeys(names[k] for k in core))
    if not minimal:
        return Conflict(core_names, "they cannot hold together; the time ended before smaller sets were tried")
    return Conflict(core_names, "they cannot hold together; without any one of them, the others can")


def _suspects(model: Model, deadline: float | None, read: Reader) -> list[int] | Conflict:
    """Return the indices of constraints that suffice for a contradiction, or the reason why there are none."""
    lowering = CpSatLowering(model, guarded=True)
    if lowering.fault:
        return Conflict(None, lowering.fault)
    native = lowering.native.model
    native.clear_objective()  # type: ignore[no-untyped-call]
    native.add_assumptions([lowering.native.vars[g] for g in lowering.guards])
    solver = _solver(deadline)
    status = solver.status_name(solver.solve(native))
    if status == "INFEASIBLE":
        named = set(solver.sufficient_assumptions_for_infeasibility())
        return [k for k, g in enumerate(lowering.guards) if g in named] or list(range(len(lowering.guards)))
    if status in ("OPTIMAL", "FEASIBLE"):
        return NoConflict.of(read(lowering, solver))
    return Conflict(None, "the time ended before the model was proven infeasible")


def _shrink(model: Model, core: list[int], deadline: float | None) -> tuple[list[int], bool]:
    """Return (the constraints that the deletion filter keeps, whether each of them is proven to be needed)."""
    chunk = max(1, len(core) // 2)
    while True:
        needed, at = True, 0
        while at < len(core):
            rest = core[:at] + core[at + chunk :]
            status = _status(_part(model, rest), deadline)
            if status == "INFEASIBLE":
                core = rest
            else:
                at += chunk
                needed = needed and status != "UNKNOWN"
            if deadline is not None and time.perf_counter() > deadline:
                return core, False
        if chunk == 1:
            return core, needed
        chunk //= 2


def _part(model: Model, indices: list[int]) -> Model:
    """Return the model with the constraints at these indices; the objective has the index ``len(constraints)``."""
    part = copy.copy(model)
    n = len(model.constraints)
    part.constraints = [model.constraints[k] for k in indices if k < n]
    part.objectives = model.objectives if n in indices else []
    return part


def _status(model: Model, deadline: float | None) -> str:
    if deadline is not None and time.perf_counter() > deadline:
        return "UNKNOWN"
    native = CpSatLowering(model).native.model
    native.clear_objective()  # type: ignore[no-untyped-call]
    solver = _solver(deadline)
    return solver.status_name(solver.solve(native))


def _solver(deadline: float | None) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False  # see ``search.CpSatRun``
    if deadline is not None:
        solver.parameters.max_time_in_seconds = max(0.0, deadline - time.perf_counter())
    return solver
