"""OR-Tools CP-SAT: its constraints correspond nearly one to one to those of the language."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import NoSolution, WrongArgument
from ...models.excerpt import excerpt, with_short_repr
from ...models.language import Assignment, Integer, Interval, Model
from ...models.language.expressions import Overlap
from ..base import Availability, Conflict, Exactness, Limits, Outcome, SolverUnavailable, Status, Watch, compiled_repr
from ..exact_range import require_data
from ..parameters.limits import Value
from ..solver_thread import run_in_thread
from ..uses import own_values, own_variable

if TYPE_CHECKING:
    from .lowering import CpSatLowering
    from .search import CpSatRun

LARGEST_DATUM = 2**62
STATUS: dict[str, Status] = {
    "OPTIMAL": "optimal",
    "FEASIBLE": "feasible",
    "INFEASIBLE": "infeasible",
    "UNKNOWN": "unknown",
    "MODEL_INVALID": "error",
}

ANSWERS = "a solved CpSolver, its response, or a solution callback"  # what ``assignment`` takes, for messages


@with_short_repr
class CpSat:
    """The CP-SAT backend. ``compile`` has no options; ortools is imported at the first use.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> sl.solve(m, backend="cpsat").objective
    5
    """

    name = "cpsat"
    obeys = frozenset({"deterministic_limit", "parameters"})
    thread_parameters = frozenset({"num_workers", "num_search_workers"})

    def availability(self) -> Availability:
        """Return the version of ortools, or why it cannot be imported."""
        try:
            from ortools.sat.python import cp_model  # noqa: F401
        except ImportError as e:  # also a clash of shared libraries, not only a missing module
            return Availability(self.name, None, f"ortools cannot be imported: {e}")
        return Availability(self.name, version("ortools"))

    def check_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Value]:
        """Convert values of ``SatParameters``; raise UnknownName and ValueError for wrong ones."""
        from .parameters import check

        return check(parameters)

    def compile(self, model: Model) -> CompiledCpSat:
        """Lower a model, with its first objective, to a CpModel; raise SolverUnavailable for numbers beyond 64 bits."""
        from .lowering import CpSatLowering

        require_data(model, "CP-SAT", LARGEST_DATUM)
        lowering = CpSatLowering(model)
        if lowering.fault:
            raise SolverUnavailable(lowering.fault)
        return CompiledCpSat(lowering)


class CompiledCpSat:
    """A model as an ortools ``CpModel`` (``native``), to which users may add constraints."""

    __repr__ = compiled_repr

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
        """Return the ``IntVar`` of an integer, or the `NativeInterval` of an interval."""
        own_variable(x, self.model)
        if isinstance(x, Interval):
            return self.lowering.native_interval(x)
        return self.lowering.native.vars[self.lowering.expressions.integer[x.index]]

    def assignment(self, answer: Any) -> Assignment:
        """Convert the answer of CP-SAT to an assignment; raise LookupError if it holds no solution.

        The answer is a solved ``CpSolver``, its response, a solution callback, or any object with a method
        ``value(var)``.
        """
        try:
            response = getattr(answer, "response_proto", answer)
        except RuntimeError as e:  # of a solver that has not solved anything
            raise NoSolution(f"the answer holds no solution: {e}") from None
        solution = getattr(response, "solution", None)
        if solution is None:
            if not callable(getattr(answer, "value", None)):
                raise WrongArgument(f"answer of assignment is {excerpt(answer)}; expected {ANSWERS}")
            solution = [answer.value(v) for v in self.lowering.native.vars]
        if len(solution) < len(self.lowering.native.vars):
            raise NoSolution("the solver's answer holds no solution")
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
        """Return the values of all native variables, in the order of their indices."""
        own_values(assignment, self.model, "hint")
        return self.lowering.hint(assignment)

    def fix(self, assignment: Assignment) -> None:
        """Add ``variable == hinted value`` for every native variable."""
        for variable, value in zip(self.lowering.native.vars, self.hint(assignment), strict=True):
            self.native.add(variable == value)

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve the CpModel. A warm start that violates the model is hinted too; the log says what became of it."""
        from .linked_starts import may_branch_on_order
        from .search import CpSatRun

        unchanged = len(self.native.proto.constraints) == self.size["constraints"]
        orders = unchanged and may_branch_on_order(self.model, self.lowering.choices)
        overlaps = any(isinstance(a, Overlap) for aim in self.model.objectives[:1] for a in aim.terms)
        search = CpSatRun(limits, orders, overlaps)
        return run_in_thread(self, lambda threaded: self._run(search, threaded, warm), search.halt, watch, limits)

    def _run(self, search: CpSatRun, watch: Watch, warm: Assignment | None) -> Outcome:
        """Do the work of ``run`` in the current thread."""
        from .search import fate

        self._hint_with(warm)
        status, response = search.run(
            self.native,
            lambda solution, bound: watch.solution(self._assignment(solution), self._true_bound(bound)),
            lambda bound: self._report_bound(watch, bound),
        )
        outcome = Outcome(STATUS[status], log=search.log.text())
        if outcome.status in ("optimal", "feasible"):
            outcome.bound = self._true_bound(response.best_objective_bound)
        elif outcome.status == "error":
            outcome.message = f"CP-SAT calls the model invalid: {self.native.validate() or response.solution_info}"
        if warm is not None:
            outcome.warm = fate("\n".join(search.hints))
        return outcome

    def _hint_with(self, warm: Assignment | None) -> None:
        self.native.clear_hints()  # type: ignore[no-untyped-call]
        if warm is not None:
            values = self.hint(warm)
            hint = self.native.proto.solution_hint
            hint.vars.extend(range(len(values)))
            hint.values.extend(values)

    def _true_bound(self, bound: float) -> float | None:
        """Return the bound on the true objective: that of the native one, less the error of its rounding."""
        objective = self.lowering.objective
        if objective is None or not math.isfinite(bound):
            return None
        error = objective.error if self.model.sense == "minimize" else -objective.error
        return bound - error

    def _report_bound(self, watch: Watch, bound: float) -> bool:
        true = self._true_bound(bound)
        return True if true is None else watch.bound(true)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Return names of constraints that cannot hold together, by assumptions and then by a deletion filter."""
        from .conflict import find_conflict

        return find_conflict(self.model, time_limit, lambda lowering, solver: type(self)(lowering).assignment(solver))


def _notes(lowering: CpSatLowering) -> tuple[str, ...]:
    notes = []
    if lowering.scaled:
        first = lowering.scaled[0]
        more = f" and {len(lowering.scaled) - 1} more" if len(lowering.scaled) > 1 else ""
        notes.append(f"real coefficients are scaled to integers, within 1e-6 relative, in: {first}{more}")
    if lowering.objective is not None and lowering.objective.error:
        notes.append(
            f"the objective is scaled by {lowering.objective.scale} and rounded, with an error of at most "
            f"{lowering.objective.error:.3g}, which is taken off its bound"
        )
    return tuple(notes)
