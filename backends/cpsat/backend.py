"""OR-Tools CP-SAT: parameters by name, one run of the solver, and the backend."""

from __future__ import annotations

import copy
import math
import re
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from ...errors import NoSolution, SolverUnavailable, WrongArgument
from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Level,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Stated,
    Synchronize,
    Table,
)
from ...models.language.constraints import Constraint, expressions_of, intervals_of
from ...models.language.expressions import Atom, Attribute, Function, Holds, Max, Min, Number, Overlap, atoms_below
from ...models.words import excerpt, with_short_repr
from ..base import (
    MINIMAL,
    OBJECTIVE,
    Availability,
    Conflict,
    Exactness,
    Limits,
    NoConflict,
    Outcome,
    Parameter,
    Status,
    Value,
    WarmStart,
    Watch,
    argument,
    check_all,
    compiled_repr,
    own_values,
    own_variable,
    require_data,
)
from ..decompositions.decomposition import NOT_RESERVOIR, STATES, Construct
from ..solver_thread import SolverLog, run_in_thread
from .lowering import Choices, CpSatLowering

# --- Parameters of CP-SAT by name: ``SatParameters`` of ortools.

SOLVER = "CP-SAT"
LOGGED = "schedlab reads the log of the solver, which is in the result"
REFUSED = {
    "max_time_in_seconds": argument("time_limit"),
    "max_deterministic_time": argument("deterministic_limit"),
    "random_seed": argument("seed"),
    "log_search_progress": LOGGED,
    "log_to_stdout": LOGGED,
    "log_to_response": LOGGED,
    "log_prefix": LOGGED,
    "catch_sigint_signal": "Ctrl-C ends a call with the best solution so far, in schedlab",
    "subsolver_params": "its entries are messages, which a value cannot express; change the native model's solver",
}


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Convert parameters to their types; enumerations become names, lists texts with entries separated by "+"."""
    if not given:
        return {}
    fields = _new_message().DESCRIPTOR.fields_by_name
    values = check_all(SOLVER, given, fields, REFUSED, lambda p: _convert(p, fields[p.name]))
    if values:
        _require_valid(values)
    return values


def set_all(parameters: Any, values: Mapping[str, Value]) -> None:
    """Set converted values in the parameters of a ``CpSolver``; entries of lists are added to those that are there."""
    if not values:
        return
    from google.protobuf import text_format

    text = text_format.MessageToString(_message(values))
    if hasattr(parameters, "merge_text_format"):  # since ortools 9.15
        parameters.merge_text_format(text)
    else:
        text_format.Merge(text, parameters)


def _convert(p: Parameter, field: Any) -> Value:
    if _repeated(field):
        entries = [Parameter(p.solver, p.name, entry) for entry in p.as_text().split("+")]
        return "+".join(str(_convert_one(entry, field)) for entry in entries)
    return _convert_one(p, field)


def _convert_one(p: Parameter, field: Any) -> Value:
    if field.type == field.TYPE_ENUM:
        numbers = {str(v.number): v.name for v in field.enum_type.values}
        names = [v.name for v in field.enum_type.values]
        number = isinstance(p.value, (int, str)) and not isinstance(p.value, bool) and str(p.value).strip()
        return numbers[number] if number in numbers else p.as_choice(names)
    if field.type == field.TYPE_BOOL:
        return p.as_bool()
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        return p.as_text()
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        return p.as_float()
    bits = 63
    if field.type == field.TYPE_INT32:
        bits = 31
    return p.as_int(-(2**bits), 2**bits - 1)


def _repeated(field: Any) -> bool:
    # is_repeated since protobuf 6, which warns at label
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED)


def _new_message() -> Any:
    from ortools.sat import sat_parameters_pb2  # 9 ms with what it imports: for parameters that are given alone

    return sat_parameters_pb2.SatParameters()


def _message(values: Mapping[str, Value]) -> Any:
    message = _new_message()
    for name, value in values.items():
        field = message.DESCRIPTOR.fields_by_name[name]
        texts = None
        if _repeated(field):
            texts = str(value).split("+")
        if field.type == field.TYPE_ENUM:
            numbers = [field.enum_type.values_by_name[t].number for t in texts or [str(value)]]
            if texts is None:
                setattr(message, name, numbers[0])
            else:
                getattr(message, name).extend(numbers)
        elif texts is not None:
            getattr(message, name).extend(texts)
        else:
            setattr(message, name, value)
    return message


def _require_valid(values: Mapping[str, Value]) -> None:
    """Raise ValueError if CP-SAT calls the parameters invalid when it solves an empty model."""
    for name, value in values.items():
        solver = cp_model.CpSolver()
        set_all(solver.parameters, {name: value})
        if name not in ("num_workers", "num_search_workers"):
            solver.parameters.num_workers = 1
        if solver.solve(cp_model.CpModel()) == cp_model.MODEL_INVALID:
            reason = solver.response_proto.solution_info
            raise Parameter(SOLVER, name, value).wrong(f"another value: {reason}")


# --- One run of CP-SAT: parameters, callbacks, the log, and what the log says about a hint.

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
        Whether CP-SAT may branch on the order of two intervals (``may_branch_on_order``).
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
        # experimental, see ``may_branch_on_order``; on models without machines it can prevent every improvement
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
    if p.num_workers == 1:
        own = p
    else:
        own = type(p)()
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


# --- OR-Tools CP-SAT: its constraints correspond nearly one to one to those of the language.

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
    lacks = NOT_RESERVOIR | STATES | {Construct.NO_IDLE, Construct.ISOMORPHISM, Construct.SPAN}
    obeys = frozenset({"deterministic_limit", "parameters"})
    thread_parameters = frozenset({"num_workers", "num_search_workers"})

    def availability(self) -> Availability:
        """Return the version of ortools, or why it cannot be imported."""
        try:
            import ortools
            from ortools.sat.python import cp_model  # noqa: F401
        except ImportError as e:  # also a clash of shared libraries, not only a missing module
            return Availability(self.name, None, f"ortools cannot be imported: {e}")
        return Availability(self.name, ortools.__version__)  # type: ignore[attr-defined]

    def check_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Value]:
        """Convert values of ``SatParameters``; raise UnknownName and ValueError for wrong ones."""
        return check(parameters)

    def compile(self, model: Model) -> CompiledCpSat:
        """Lower a model, with its first objective, to a CpModel; raise SolverUnavailable for numbers beyond 64 bits."""
        require_data(model, "CP-SAT", LARGEST_DATUM)
        lowering = CpSatLowering(model)
        if lowering.fault:
            raise SolverUnavailable(f"{lowering.fault}{_advice(model)}")
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
        assignment = Assignment(self.model)
        assignment.start = np.where(present, values[self._start], 0).tolist()
        assignment.end = np.where(present, values[self._end] + self._fixed, 0).tolist()
        assignment.present = present.tolist()
        assignment.integer = values[self._integer].tolist()
        return assignment

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
        pass

        unchanged = len(self.native.proto.constraints) == self.size["constraints"]
        in_sequence = self.lowering.has_sequences  # no proof for the order that a circuit ties to the times
        orders = unchanged and not in_sequence and may_branch_on_order(self.model, self.lowering.choices)
        overlaps = any(isinstance(a, Overlap) for aim in self.model.objectives[:1] for a in aim.terms)
        search = CpSatRun(limits, orders, overlaps)
        return run_in_thread(self, lambda threaded: self._run(search, threaded, warm), search.halt, watch, limits)

    def _run(self, search: CpSatRun, watch: Watch, warm: Assignment | None) -> Outcome:
        """Do the work of ``run`` in the current thread."""
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
            why = (self.native.validate() or response.solution_info).rstrip(".")
            outcome.message = f"CP-SAT calls the model invalid: {why}{_advice(self.model)}"
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
        if self.model.sense == "minimize":
            error = objective.error
        else:
            error = -objective.error
        return bound - error

    def _report_bound(self, watch: Watch, bound: float) -> bool:
        true = self._true_bound(bound)
        if true is None:
            return True
        return watch.bound(true)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Return names of constraints that cannot hold together, by assumptions and then by a deletion filter."""
        pass

        return find_conflict(self.model, time_limit, lambda lowering, solver: type(self)(lowering).assignment(solver))


def _notes(lowering: CpSatLowering) -> tuple[str, ...]:
    notes = []
    if lowering.scaled:
        first = lowering.scaled[0]
        more = ""
        if len(lowering.scaled) > 1:
            more = f" and {len(lowering.scaled) - 1} more"
        notes.append(f"real coefficients are scaled to integers, within 1e-6 relative, in: {first}{more}")
    if lowering.objective is not None and lowering.objective.error:
        notes.append(
            f"the objective is scaled by {lowering.objective.scale} and rounded, with an error of at most "
            f"{lowering.objective.error:.3g}, which is taken off its bound"
        )
    return tuple(notes)


# --- Find constraints of an infeasible model that cannot hold together.


Reader = Callable[[CpSatLowering, cp_model.CpSolver], Assignment]
"""Returns the assignment of a lowering's model that a solver has found."""


def find_conflict(model: Model, time_limit: float | None, read: Reader) -> Conflict:
    """Return a conflict, as small as the time limit (in seconds) allows; names None if none was proven in time."""
    deadline = None
    if time_limit is not None:
        deadline = time.perf_counter() + time_limit
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
    return Conflict(core_names, MINIMAL)


def _advice(model: Model) -> str:
    """Return advice on numbers that are too large because intervals may start at any time; "" if none may."""
    free = [v.name for v in model.intervals if v.declared_windows is None]
    if model.declared_horizon is not None or not free:
        return ""
    names = ", ".join(map(repr, free[:3]))
    if len(free) <= 3:
        more = ""
    else:
        more = f" and {len(free) - 3} more"
    return (
        f"; the model has no horizon, and {names}{more} no start window: declare a horizon, as in "
        f"Model({model.name!r}, horizon=86400), or a window for each, as in interval(..., start=(0, 86400))"
    )


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
    if n in indices:
        part.objectives = model.objectives
    else:
        part.objectives = []
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


# --- Whether CP-SAT may branch on the order of two intervals: ``use_dynamic_precedence_in_disjunctive`` for one model.
#
# The makers of CP-SAT call this parameter experimental. It proves 10 x 10 job shops five to ten times faster, but with it
# CP-SAT 9.15 calls some feasible models infeasible, or ends the process.
#
# The cause. Within its search CP-SAT makes a literal "a before b" for two present intervals of a ``no_overlap``. If the
# relations that it knows between their starts exclude both orders, it adds one of these orders at this point, under the
# presences of a and b alone. These are decisions, but the contradiction counts as one without decisions.
#
# What this module proves. No two members of any resources are related in both directions between their starts, but for those
# that have one start, as the options of a task, and of these no ``no_overlap`` has two. Without such relations, what excludes an
# order are bounds of single variables, which CP-SAT propagates before it branches. It does not matter that the two are members
# of different resources, always present and of fixed sizes: an order that was decided counts among the relations, and where
# starts on two resources move together, as those of tasks without a wait between them, it can exclude both orders of a third
# task. A ``cumulative`` counts as well, as CP-SAT turns parts of it into disjunctions.
#
# Two members with one presence end the process too, also without a relation between their starts: two optional intervals
# with ``all_or_none`` and ``no_overlap``, the end of one of them maximized. So no two members that may be absent may have
# presences that the model relates: by ``all_or_none``, the options of an ``alternative``, or an expression with both of
# them, or with an integer variable that relates them. Not counted are sums with coefficients of the same sign in an
# objective, and the max of such sums: they can forbid both presences, but one does not imply the other.
#
# Relations, between the intervals, integers and functions x, y of the model::
#
#     x and y in both directions    alternative, synchronize, an equation, holds, each comparison of another form
#     from x to y                   a minimum time lag from x to y, x - y <= c, y = max(x, ...), x = min(y, ...)
#     none                          a bound on x; a one-sided bound on a sum whose coefficients have the same sign, such
#                                   as an objective
#
# A cycle of directions is a relation in both directions as well.


def may_branch_on_order(model: Model, choices: Choices) -> bool:
    """Return whether the parameter is useful, because the model has a ``no_overlap``, and proved to be sound.

    Parameters
    ----------
    model : Model
    choices : Choices
        The options that the lowering replaces by one interval on each resource.

    Returns
    -------
    bool
    """
    constraints = [named.constraint for named in model.constraints]
    if not any(isinstance(c, NoOverlap) for c in constraints):
        return False
    relations = _Relations(model)
    if relations.move_together(v for c in constraints for v, _ in _rows(c, choices)):
        return False
    return all(_apart(c, choices, relations) for c in constraints)


def _members(c: Constraint) -> tuple[Interval, ...]:
    """Return the intervals that a constraint puts into a disjunction of CP-SAT."""
    if isinstance(c, (NoOverlap, Cumulative, ForbidExtent)):
        return intervals_of(c)
    return ()


def _always_runs(v: Interval) -> bool:
    return not v.optional and v.size_lo > 0


def _varies(v: Interval) -> bool:
    return v.size_lo < v.size_hi


def _apart(c: Constraint, choices: Choices, relations: _Relations) -> bool:
    """Return whether no two members of a resource, one of which may be absent or of another size, are related both ways."""
    rows = _rows(c, choices)
    if any(absent and _varies(v) for v, absent in rows):
        return False
    met: dict[Hashable, bool] = {}
    for v, absent in rows:
        known = relations.group(v)
        open_ = absent or _varies(v)
        if known in met and (open_ or met[known]):
            return False
        met[known] = open_ or met.get(known, False)
    together = [relations.presences(v) for v, absent in rows if absent]
    return len(set(together)) == len(together)


def _rows(c: Constraint, choices: Choices) -> list[tuple[Interval, bool]]:
    """Return the native intervals on a resource: the interval of the model, and whether it may be absent."""
    members = _members(c)
    demands: Sequence[int | Linear]
    if isinstance(c, Cumulative):
        demands = c.demands
    else:
        demands = [1] * len(members)
    single = list(zip(members, demands, strict=True))
    grouped = []
    if not (isinstance(c, NoOverlap) and c.timed) and choices.shared(members):
        several, single = choices.groups(single)
        for group in several:
            alternative = choices.alternative(group)
            whole = len(group) == len(alternative.options) and not alternative.interval.optional
            grouped.append((alternative.interval, not whole))
    needed = [(v, d) for v, d in single if isinstance(d, Linear) or d]
    return grouped + [(v, not _always_runs(v) or isinstance(d, Linear)) for v, d in needed]


class _Relations:
    """The intervals of a model in groups.

    Between starts of two groups there are relations in one direction at most. ``presences`` gives groups of another kind:
    between the presences of two of them there are no relations.
    """

    def __init__(self, model: Model) -> None:
        self._present: dict[Hashable, Hashable] = {}
        self._begun: dict[Hashable, Hashable] = {}
        self._number: dict[Hashable, int] = {}
        self._from: list[int] = []
        self._to: list[int] = []
        for _, c in model.constraints:
            self._constraint(c)
        for aim in model.objectives:
            self._linear(aim, upper=True, lower=not _same_sign(aim))
            if len({k > 0 for a, k in aim.terms.items() if _decides(a)}) > 1:
                self._tie([a for a in aim.terms if _decides(a)])
        expressions = [e for _, c in model.constraints for e in expressions_of(c)]
        for atom in atoms_below([*expressions, *model.objectives]):
            if isinstance(atom, Function):
                self._function(atom)
        self._groups = self._cycles()

    def group(self, v: Interval) -> Hashable:
        """Return what stands for the group of an interval: a number, or the interval itself without relations."""
        k = self._number.get(v)
        if k is None:
            return v
        return self._groups[k]

    def presences(self, v: Interval) -> Hashable:
        """Return what stands for the intervals and integers to which the presence of an interval is related."""
        return _root(self._present, v)

    def move_together(self, members: Iterable[Interval]) -> bool:
        """Return whether two of some intervals are related in both directions, and do not have one start."""
        starts: dict[Hashable, Hashable] = {}
        for v in members:
            start = _root(self._begun, v)
            if starts.setdefault(self.group(v), start) is not start:
                return True
        return False

    def _tie(self, parts: Sequence[Hashable]) -> None:
        """Relate the presences of intervals that may be absent, and integers; attributes stand for their intervals."""
        nodes = [a.interval if isinstance(a, Attribute) else a for a in parts]
        for x in nodes[1:]:
            self._present[_root(self._present, x)] = _root(self._present, nodes[0])

    def _begin_together(self, intervals: Sequence[Interval]) -> None:
        """Relate intervals that have one start, if they are present."""
        self._join(intervals)
        for v in intervals[1:]:
            self._begun[_root(self._begun, v)] = _root(self._begun, intervals[0])

    def _tie_all(self, expressions: Sequence[Linear]) -> None:
        """Relate the presences and integers anywhere in some expressions."""
        self._tie([a for a in atoms_below(expressions) if _decides(a)])

    def _cycles(self) -> list[int]:
        """Return the number of the strongly connected component of each node: Kosaraju's algorithm, without recursion."""
        after: list[list[int]] = [[] for _ in self._number]
        before: list[list[int]] = [[] for _ in self._number]
        for x, y in zip(self._from, self._to, strict=True):
            after[x].append(y)
            before[y].append(x)
        component = [-1] * len(after)
        for root in reversed(_postorder(after)):
            if component[root] < 0:
                reached = [root]
                component[root] = root
                for x in reached:  # which grows
                    new = [y for y in before[x] if component[y] < 0]
                    for y in new:
                        component[y] = root
                    reached += dict.fromkeys(new)
        return component

    def _before(self, x: Hashable, y: Hashable) -> None:
        """Add a relation from x to y."""
        self._from.append(self._number.setdefault(x, len(self._number)))
        self._to.append(self._number.setdefault(y, len(self._number)))

    def _join(self, nodes: Sequence[Hashable]) -> None:
        """Add relations in both directions between all nodes."""
        for x, y in zip(nodes, [*nodes[1:], *nodes[:1]], strict=True):
            self._before(x, y)

    def _constraint(self, c: Constraint) -> None:
        match c:
            case Comparison():
                self._linear(c.expr, upper=not math.isinf(c.hi), lower=not math.isinf(c.lo))
                self._tie_all([c.expr])
            case AllOrNone():
                self._tie(c.intervals)
            case Alternative():
                self._begin_together(intervals_of(c))
                self._tie(intervals_of(c) if c.interval.optional else c.options)
            case Synchronize():
                self._begin_together(intervals_of(c))
            case Precedence():
                for part in c.parts:
                    self._before(part.before, part.after)
            case Cumulative():
                self._join([x for d in expressions_of(c) for x, _ in _terms(d)])
            case AllDifferent() | Level() | Stated() | Table():
                self._join([*intervals_of(c), *(x for e in expressions_of(c) for x, _ in _terms(e))])
                self._tie([v for v in intervals_of(c) if v.optional])
                self._tie_all(expressions_of(c))

    def _linear(self, e: Linear, *, upper: bool, lower: bool) -> None:
        """Add the relations of an expression with a bound from above, from below, or both."""
        terms = _terms(e)
        nodes = [x for x, _ in terms]
        factors = [k for _, k in terms]
        if len(set(nodes)) < 2 or (_same_sign(e) and not (upper and lower)):
            return
        if len(terms) == 2 and factors[0] == -factors[1]:
            if factors[0] > 0:
                first, second = nodes
            else:
                first, second = nodes[::-1]
            if upper:
                self._before(first, second)
            if lower:
                self._before(second, first)
        else:
            self._join(nodes)

    def _function(self, f: Function) -> None:
        operands = [_terms(e) for e in f.operands]
        nodes = [x for terms in operands for x, _ in terms]
        plain = all(len(terms) <= 1 and all(k == 1 for _, k in terms) for terms in operands)
        if isinstance(f, Max) and plain:
            for x in nodes:
                self._before(x, f)
        elif isinstance(f, Min) and plain:
            for x in nodes:
                self._before(f, x)
        else:  # the value of holds is a truth value, which is no node
            self._join(nodes if isinstance(f, Holds) else [f, *nodes])
            self._tie_all(f.operands)


def _root(above: dict[Hashable, Hashable], x: Hashable) -> Hashable:
    """Return what stands for the set of an element; the sets are kept in ``above``, with shorter ways for the next call."""
    while (next_one := above.get(x, x)) is not x:
        above[x] = above.get(next_one, next_one)
        x = next_one
    return x


def _postorder(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes of a graph in the order in which a search in depth leaves them."""
    order: list[int] = []
    entered = [False] * len(after)
    for root in range(len(after)):
        if entered[root]:
            continue
        entered[root] = True
        path = [(root, iter(after[root]))]
        while path:
            x, successors = path[-1]
            y = next((y for y in successors if not entered[y]), None)
            if y is None:
                order.append(x)
                path.pop()
            else:
                entered[y] = True
                path.append((y, iter(after[y])))
    return order


def _decides(a: Atom) -> bool:
    """Return whether an atom is an integer, or an attribute of an interval that may be absent."""
    return isinstance(a, Integer) or (isinstance(a, Attribute) and a.interval.optional)


def _same_sign(e: Linear) -> bool:
    """Return whether an expression is a sum of nodes with coefficients of the same sign."""
    return len({factor > 0 for _, factor in _terms(e)}) < 2


def _terms(e: Linear) -> list[tuple[Hashable, Number]]:
    """Return the (node, coefficient) pairs of an expression; presences and truth values are no nodes."""
    return [
        (atom.interval if isinstance(atom, Attribute) else atom, factor)
        for atom, factor in e.terms.items()
        if not isinstance(atom, Holds) and not (isinstance(atom, Attribute) and atom.field == "presence")
    ]
