"""OR-Tools CP-SAT: the backend that takes the language nearly one to one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models.language import Assignment, Integer, Interval, Model, NoOverlap
from ...models.language.expressions import Overlap
from ..base import Availability, Conflict, Exactness, Limits, Outcome, SolverUnavailable, Status, Watch
from ..solver_thread import run_in_thread

if TYPE_CHECKING:
    from .lowering import CpSatLowering
    from .search import CpSatRun

STATUS: dict[str, Status] = {
    "OPTIMAL": "optimal",
    "FEASIBLE": "feasible",
    "INFEASIBLE": "infeasible",
    "UNKNOWN": "unknown",
    "MODEL_INVALID": "error",
}


class CpSat:
    """The backend. ``compile`` has no options; ortools is imported when it is first used.

    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> sl.solve(m, backend="cpsat").objective
    5
    """

    name = "cpsat"

    def availability(self) -> Availability:
        """The version of ortools, or why it cannot be imported."""
        try:
            from ortools.sat.python import cp_model  # noqa: F401
        except ImportError as e:  # also a clash of shared libraries, not only a missing module
            return Availability(self.name, None, f"ortools cannot be imported: {e}")
        return Availability(self.name, version("ortools"))

    def compile(self, model: Model) -> CompiledCpSat:
        """The model (its first objective) as a CpModel. Raises SolverUnavailable for numbers beyond 64 bits."""
        from .lowering import CpSatLowering

        lowering = CpSatLowering(model)
        if lowering.fault:
            raise SolverUnavailable(lowering.fault)
        return CompiledCpSat(lowering)


class CompiledCpSat:
    """A model as an ortools ``CpModel`` in ``native``, to which constraints may be added, and the way back."""

    def __init__(self, lowering: CpSatLowering) -> None:
        self.lowering = lowering
        self.model = lowering.model
        self.native = lowering.native.model
        proto = self.native.proto
        self.size = {
            "variables": len(proto.variables),
            "constraints": len(proto.constraints),
            "nonzeros": lowering.native.nonzeros,
        }
        self.exactness = Exactness("exact", _notes(lowering))
        e = lowering.expressions
        self._start = np.array(e.start, dtype=np.intp)
        self._end = np.array([e.start[i] if j < 0 else j for i, j in enumerate(e.end)], dtype=np.intp)
        self._fixed = np.array(
            [v.size_lo if v.size_lo == v.size_hi else 0 for v in self.model.intervals], dtype=np.int64
        )
        self._presence = np.array(e.presence, dtype=np.intp)
        self._integer = np.array(e.integer, dtype=np.intp)

    def var(self, x: Interval | Integer) -> Any:
        """The ``IntVar`` of an integer; for an interval its native ``start, size, end, presence, interval``.

        The presence is None if the interval is not optional; the start of an absent one is free.
        """
        if isinstance(x, Interval):
            return self.lowering.native_interval(x)
        return self.lowering.native.vars[self.lowering.expressions.integer[x.index]]

    def assignment(self, answer: Any) -> Assignment:
        """Our assignment from a solved ``CpSolver``, a response, a solution callback, or whatever has ``value(var)``.

        Raises LookupError if there is no solution in it.
        """
        response = getattr(answer, "response_proto", answer)
        solution = getattr(response, "solution", None)
        if solution is None:
            solution = [answer.value(v) for v in self.lowering.native.vars]
        if len(solution) < len(self.lowering.native.vars):
            raise LookupError("the solver's answer holds no solution")
        return self._assignment(solution)

    def _assignment(self, solution: Sequence[int]) -> Assignment:
        values = np.array(solution, dtype=np.int64)
        present = (self._presence < 0) | (values[self._presence] > 0)
        found = Assignment(self.model)
        found.start = np.where(present, values[self._start], 0).tolist()
        found.end = np.where(present, values[self._end] + self._fixed, 0).tolist()
        found.present = present.tolist()
        found.integer = values[self._integer].tolist()
        return found

    def hint(self, assignment: Assignment) -> list[int]:
        """The values of all native variables, in the order of their indices."""
        return self.lowering.hint(assignment)

    def fix(self, assignment: Assignment) -> None:
        """Add ``variable == hinted value`` for every native variable."""
        for variable, value in zip(self.lowering.native.vars, self.hint(assignment), strict=True):
            self.native.add(variable == value)

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve, telling the watch. A start that violates the model is hinted all the same; the log tells its fate."""
        from .search import CpSatRun

        machines = any(isinstance(c, NoOverlap) for _, c in self.model.constraints)
        overlaps = any(isinstance(a, Overlap) for aim in self.model.objectives[:1] for a in aim.terms)
        search = CpSatRun(limits, machines, overlaps)
        return run_in_thread(self, lambda heard: self._run(search, heard, warm), search.halt, watch, limits)

    def _run(self, search: CpSatRun, watch: Watch, warm: Assignment | None) -> Outcome:
        """As ``run``, in this thread."""
        from .search import fate

        self._hint_with(warm)
        status, response = search.run(
            self.native,
            lambda solution, bound: watch.solution(self._assignment(solution), self._true_bound(bound)),
            lambda bound: self._tell_bound(watch, bound),
        )
        outcome = Outcome(STATUS[status], log="\n".join(search.log))
        if outcome.status in ("optimal", "feasible"):
            outcome.bound = self._true_bound(response.best_objective_bound)
        elif outcome.status == "error":
            outcome.message = f"CP-SAT does not take the model: {self.native.validate() or response.solution_info}"
        if warm is not None:
            outcome.warm = fate(outcome.log)
        return outcome

    def _hint_with(self, warm: Assignment | None) -> None:
        self.native.clear_hints()  # type: ignore[no-untyped-call]
        if warm is not None:
            values = self.hint(warm)
            hint = self.native.proto.solution_hint
            hint.vars.extend(range(len(values)))
            hint.values.extend(values)

    def _true_bound(self, bound: float) -> float | None:
        """The bound of the native objective, moved by what rounding its coefficients may have cost."""
        objective = self.lowering.objective
        if objective is None or not math.isfinite(bound):
            return None
        error = objective.error if self.model.sense == "minimize" else -objective.error
        return bound - error

    def _tell_bound(self, watch: Watch, bound: float) -> bool:
        true = self._true_bound(bound)
        return True if true is None else watch.bound(true)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Names of constraints that cannot hold together, by assumptions and then by leaving constraints out."""
        from .conflict import find_conflict

        return find_conflict(self.model, time_limit)


def _notes(lowering: CpSatLowering) -> tuple[str, ...]:
    notes = []
    if lowering.scaled:
        first = lowering.scaled[0]
        more = f" and {len(lowering.scaled) - 1} more" if len(lowering.scaled) > 1 else ""
        notes.append(f"real coefficients are scaled to integers, within 1e-6 relative, in: {first}{more}")
    if lowering.objective is not None and lowering.objective.error:
        notes.append(
            f"the objective is scaled by {lowering.objective.scale} and rounded, by {lowering.objective.error:.3g} "
            "at most, which is taken off its bound"
        )
    return tuple(notes)
