"""HiGHS: the linear form of a model (``backends.linear``) is passed as arrays in one call."""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..errors import NoSolution, SolverUnavailable
from ..models.language import Assignment, Integer, Interval, Model
from ..models.long_calls import Deadline, look
from ..models.words import with_short_repr
from .base import (
    OBJECTIVE,
    Availability,
    Conflict,
    Limits,
    Outcome,
    Parameter,
    Status,
    Value,
    WarmStart,
    Watch,
    argument,
    check_all,
    column_values,
    compiled_repr,
    own_values,
    own_variable,
)
from .decompositions.decomposition import NOT_LINEAR
from .linear.expressions import IntervalColumns
from .linear.form import ENTRIES_PER_SECOND, LinearForm, require_range, safe_bound
from .linear.lowering import Lowered, column_names, lower, require_options, row_names
from .solver_thread import SolverLog, run_in_thread

# --- HiGHS without output.


def new_highs() -> Any:
    """Return a new ``highspy.Highs`` that has written nothing.

    highspy enables callbacks in its constructor, before its user can switch the output off; the first time in a process,
    HiGHS 1.16 then writes two lines on the standard output, where workers of the bench write their records.
    """
    return _quiet_class()()


@cache
def _quiet_class() -> Any:
    import highspy

    base: Any = highspy.Highs

    class QuietHighs(base):  # type: ignore[misc]
        """HiGHS that writes nothing when callbacks are enabled."""

        def enableCallbacks(self) -> None:  # noqa: N802 of highspy
            """Enable callbacks with the output off."""
            kept = self.getOptionValue("output_flag")[1]
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()
            self.setOptionValue("output_flag", kept)

    return QuietHighs


# --- Parameters of HiGHS by name: its options.

SOLVER = "HiGHS"
LOGGED = "schedlab reads the log of the solver, which is in the result"
FILES = "schedlab passes models, starts and answers without files; use the native model of sl.compile"
PASSED = "HiGHS uses it when it takes the model, before it gets parameters"
REFUSED = {
    "time_limit": argument("time_limit"),
    "mip_max_nodes": argument("deterministic_limit"),
    "random_seed": argument("seed"),
    **dict.fromkeys(("output_flag", "log_to_console", "log_file"), LOGGED),
    **dict.fromkeys(
        ("read_basis_file", "read_solution_file", "solution_file", "write_basis_file", "write_model_file"), FILES
    ),
    **dict.fromkeys(("write_model_to_file", "write_presolved_model_file", "write_solution_to_file"), FILES),
    **dict.fromkeys(("write_solution_style", "glpsol_cost_row_location"), FILES),
    **dict.fromkeys(("infinite_bound", "infinite_cost", "small_matrix_value", "large_matrix_value"), PASSED),
    "objective_bound": "HiGHS would call a model infeasible that has no better answer than it",
    "solve_relaxation": "use a lowering without integrality, such as @lp, which is reported as a relaxation",
    "user_objective_scale": "schedlab scales the objective itself",
    "user_bound_scale": "schedlab scales the rows itself",
    "blend_multi_objectives": "HiGHS gets one objective at a time",
    "ranging": "schedlab reads no ranging information",
}
OF_OBJECTIVE = ("mip_abs_gap", "objective_target")  # options in the unit of the objective


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Convert parameters to the types of HiGHS's options, and try each of them on a new ``Highs``."""
    import highspy

    options = highspy.HighsOptions()
    known = [n for n in dir(options) if not n.startswith("_") and not callable(getattr(options, n))]
    return check_all(SOLVER, given, known, REFUSED, _convert)


def _convert(p: Parameter) -> Value:
    import highspy

    highs = new_highs()
    highs.setOptionValue("log_to_console", False)
    highs.setOptionValue("log_file", os.devnull)
    kinds = highspy.HighsOptionType
    kind = highs.getOptionType(p.name)[1]
    value: Value
    if kind == kinds.kBool:
        value = p.as_bool()
    elif kind == kinds.kInt:
        value = p.as_int(-(2**31), 2**31 - 1)
    elif kind == kinds.kDouble:
        value = p.as_float()
    else:
        value = p.as_text()
    said: list[str] = []
    highs.cbLogging.subscribe(lambda event: said.append(event.message))
    if highs.setOptionValue(p.name, value) != highspy.HighsStatus.kOk:
        reason = " ".join(said).partition("ERROR:")[2].strip().removeprefix("checkOptionValue: ")
        raise p.wrong(f"another value: {reason}")
    return value


# --- One solve by HiGHS: options, callbacks, warm start, limits, and its outcome.

GAP = 1e-6  # relative gap at which an optimum is proven
TOLERANCE = 1e-8  # of rows: big-M constants reach 1e5 and more
# of integrality, the default of HiGHS: with 1e-7 and less, HiGHS 1.14 lost the optimum of a dispatching problem of 12
# jobs in 4 of 12 runs
INTEGRALITY = 1e-6
TOLERANCE_NAME = "mip_feasibility_tolerance"
TIGHTER = (3e-7, 1e-7, 3e-8, 1e-8)  # tolerances of integrality that are tried if INTEGRALITY ends in an error
HALF = 0.5  # a row of whole numbers that is broken by less is satisfied
SMALL = 1_000  # non-zeros up to which a model is solved without presolve, which was wrong for 5 of 7,000 such models
MODERATE = 1 << 25  # greatest scaled cost
LARGE = 1e15  # costs from 1e20 on are infinite for HiGHS
BROKEN = "the answer of {} breaks a constraint once it is rounded; use coarser units or smaller coefficients"
POLL_SECONDS = 0.1


def cost_unit(form: LinearForm) -> float:
    """Return a power of two that scales the least cost to about 1, with the greatest scaled cost at most ``MODERATE``.

    Costs are scaled down only if the greatest one is above ``LARGE``. HiGHS takes a reduced cost within 1e-7 of 0 for 0, in the unit of the objective. Costs in euro per second are 1e-5
    and less, multiplied by many seconds: without this scaling, HiGHS 1.14 lost up to 1 % of the optimum of profit
    problems at the root node. Rows are scaled likewise (``LinearForm.row_scales``).
    """
    costs = np.abs(form.cost[form.cost != 0])
    if not len(costs):
        return 1.0
    least = float(costs.min())
    greatest = float(costs.max())
    up = min(math.ceil(-math.log2(least)), math.floor(math.log2(MODERATE / greatest)))
    if greatest > LARGE:
        return float(2.0 ** math.ceil(-math.log2(least)))
    return float(2.0 ** max(0, up))


class HighsRun:
    """One solve by HiGHS.

    Parameters
    ----------
    compiled : HighsCompiled
    limits : Limits
        Its time starts when the object is made.
    """

    watch: Watch

    def __init__(self, compiled: HighsCompiled, limits: Limits) -> None:
        self.compiled = compiled
        self.highs = compiled.native
        self.limits = limits
        self.deadline = limits.deadline
        self.stop = threading.Event()
        self.log = SolverLog()
        self.alone = False  # whether presolve alone gave the answer, which is not yet confirmed
        self.start: Any = None  # column values of the warm start until HiGHS takes them
        self.discrete = compiled.lowered.integral and bool(compiled.form.integral.any())
        self.unit = cost_unit(compiled.form)
        # of the form: the row of each entry, which rows are checked, and whether large rows have other than whole numbers
        self._rows: tuple[Any, Any, bool] | None = None

    def run(self, watch: Watch, warm: Assignment | None) -> Outcome:
        """Solve in the current thread."""
        self.watch = watch
        before = [(name, self.highs.getOptionValue(name)[1]) for name in ("mip_max_nodes", *self.limits.parameters)]
        self._options()
        self._scale_costs(self.unit)
        try:
            return self._run(warm)
        finally:
            self._scale_costs(1.0)
            for name, value in before:
                self.highs.setOptionValue(name, value)

    def halt(self) -> None:
        """Make HiGHS stop; for other threads. Where it does not call callbacks, it often checks its time limit."""
        self.stop.set()
        self.highs.setOptionValue("time_limit", 0.0)

    def _scale_costs(self, unit: float) -> None:
        """Multiply the solver's objective by ``unit``."""
        if self.unit != 1.0:
            form = self.compiled.form
            n = len(form.cost)
            self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), form.cost * unit)
            self.highs.changeObjectiveOffset(form.offset * unit)

    def _run(self, warm: Assignment | None) -> Outcome:
        if warm is not None:
            fate = self._start(warm)
        else:
            fate = WarmStart()
        callbacks = {
            "cbLogging": self._logged,
            "cbMipImprovingSolution": self._improved,
            "cbMipInterrupt": self._polled,
            "cbMipUserSolution": self._give_start,
            "cbSimplexInterrupt": self._interrupt,
            "cbIpmInterrupt": self._interrupt,
        }
        for name, callback in callbacks.items():
            getattr(self.highs, name).subscribe(callback)
        try:
            self._solve()
            self._mend()
            self._confirm()
        finally:
            for name, callback in callbacks.items():
                getattr(self.highs, name).unsubscribe(callback)
        if fate.fate == "accepted" and self.start is not None:
            fate = WarmStart("accepted", "HiGHS ended before its search, in which it would have used the start")
        return self._outcome(self.log.text(), fate)

    def _options(self) -> None:
        h, limits = self.highs, self.limits
        options = {
            "output_flag": True,
            "log_to_console": False,
            "log_file": os.devnull,  # with neither console nor file, HiGHS up to 1.12 does not call cbLogging
            "mip_rel_gap": limits.gap or (0.0 if limits.exact else GAP),
            "mip_abs_gap": 1e-9 * self.unit,
            TOLERANCE_NAME: INTEGRALITY,
            "primal_feasibility_tolerance": TOLERANCE,
            "presolve": "off" if self.compiled.size["nonzeros"] <= SMALL else "choose",
            "random_seed": limits.seed % 2**31,
        }
        if limits.deterministic is not None:
            options["mip_max_nodes"] = max(0, int(limits.deterministic))
        if limits.threads is not None:
            options["threads"] = limits.threads
        in_its_unit = {n: float(v) * self.unit for n, v in limits.parameters.items() if n in OF_OBJECTIVE}
        for name, value in (options | dict(limits.parameters) | in_its_unit).items():
            h.setOptionValue(name, value)

    def _start(self, warm: Assignment) -> WarmStart:
        """Keep the warm start for HiGHS; reject it if it does not satisfy the linear form."""
        rebuilt = self.compiled.rebuilt(warm)
        x = self.compiled.hint(rebuilt)
        amount, where = self.compiled.form.violation(x)
        if amount > 1e-6:
            return WarmStart("rejected", f"on the grid, the start violates {where} by {amount:g}")
        if self.discrete:
            self.watch.solution(rebuilt)
            self.start = np.asarray(x, dtype=np.float64)
        return WarmStart("accepted")

    def _give_start(self, event: Any) -> None:
        """Give HiGHS the warm start in the callback after presolve, and only there.

        With a start given before presolve (``setSolution``), HiGHS 1.10 to 1.15 loses better solutions. Presolve
        removes columns from the objective, and finds that the rest is a multiple of some step. The value of the start
        is not such a multiple, but is rounded down as if it were: solutions that are better by less than half a step
        are cut off.
        """
        if self.start is not None:
            event.data_in.setSolution(self.start)
            self.start = None

    def _mend(self) -> None:
        """Solve again with a tighter tolerance if HiGHS failed because of its own tolerance.

        HiGHS 1.12 accepts a solution that violates a row by ``mip_feasibility_tolerance``, finds the violation too
        large when it checks the solution at the end, and ends in an error, without a solution or a bound (HiGHS issues
        2782, 2808). In a row with coefficients of 1e6 and more, an answer that is whole within this tolerance may break the
        row once it is rounded.
        """
        import highspy

        kinds = highspy.HighsModelStatus
        for tolerance in TIGHTER:
            status = self.highs.getModelStatus()
            failed = status == kinds.kSolveError
            if status == kinds.kOptimal and self.discrete:
                failed = self._breaks_a_row(self.highs.getSolution().col_value)
            if not failed or not self.discrete or self.stop.is_set() or TOLERANCE_NAME in self.limits.parameters:
                return
            self.highs.setOptionValue(TOLERANCE_NAME, tolerance)
            self._solve()

    def _confirm(self) -> None:
        """Solve again without presolve if presolve alone gave the answer.

        The dominated columns of presolve are sometimes wrong (HiGHS issue 3090): in the conformance run it called a
        feasible model infeasible, and called worse answers optimal.
        """
        import highspy

        if not self.alone or self.stop.is_set():
            return
        if self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            self.start = np.asarray(self.highs.getSolution().col_value)
            self._stop_unless(self.watch.solution(self.compiled.assignment(self.start)))
        self.highs.setOptionValue("presolve", "off")
        self.alone = False
        self._solve()

    def _solve(self) -> None:
        if self.stop.is_set():
            return
        self.highs.setOptionValue("time_limit", self.deadline.at_most(math.inf))
        self.highs.run()

    def _logged(self, event: Any) -> None:
        if self.limits.log:  # the callback itself is needed in any case
            self.log.write(event.message)
        if self.discrete and re.match(r"Presolve: (Infeasible|Optimal)", event.message):
            self.alone = True

    def _improved(self, event: Any) -> None:
        if self._breaks_a_row(event.data_out.mip_solution):
            return
        assignment = self.compiled.assignment(np.asarray(event.data_out.mip_solution))
        self._stop_unless(self.watch.solution(assignment, self._bound(event.data_out)))

    def _polled(self, event: Any) -> None:
        bound = self._bound(event.data_out)
        if bound is not None:
            self._stop_unless(self.watch.bound(bound))
        self._interrupt(event)

    def _interrupt(self, event: Any) -> None:
        # set at every call, True or False: HiGHS keeps the last value after the run
        event.interrupt(self.stop.is_set() or self.deadline.passed)

    def _stop_unless(self, go_on: bool) -> None:
        if not go_on:
            self.stop.set()

    def _bound(self, out: Any) -> float | None:
        if self.alone or abs(out.mip_dual_bound) >= 1e30:
            return None
        return float(out.mip_dual_bound) / self.unit

    def _outcome(self, log: str, fate: WarmStart) -> Outcome:
        import highspy

        kinds = highspy.HighsModelStatus
        native_status = self.highs.getModelStatus()
        if native_status == kinds.kModelEmpty and self.compiled.form.violation(np.zeros(0))[0] > 0:
            native_status = kinds.kInfeasible  # HiGHS calls a model without columns empty, whatever its rows
        info = self.highs.getInfo()
        solution = self.highs.getSolution()
        feasible = native_status == kinds.kModelEmpty or (solution.value_valid and info.primal_solution_status == 2)
        bound: float | None = None
        if native_status == kinds.kModelEmpty:
            bound = self.compiled.form.offset
        elif self.discrete:
            bound = None
            if info.valid:
                bound = self._bound(info)
        elif solution.dual_valid:
            bound = safe_bound(self.compiled.form, np.asarray(solution.row_dual) / self.unit)
        relaxation = self.compiled.exactness.kind == "relaxation"
        if self.discrete and feasible and self._breaks_a_row(solution.col_value):
            return Outcome("unknown", bound, log, BROKEN.format("HiGHS"), fate)
        if feasible and (relaxation or self._whole(solution.col_value)):
            self.watch.solution(self.compiled.assignment(self.highs), bound)
        ends: dict[Any, Status] = {
            kinds.kOptimal: "optimal",
            kinds.kModelEmpty: "optimal",
            kinds.kInfeasible: "infeasible",
            kinds.kUnbounded: "unbounded",
            kinds.kModelError: "error",
            kinds.kSolveError: "error",
        }
        status = ends.get(native_status, "feasible" if feasible else "unknown")
        if self.alone and status == "infeasible":
            status = "unknown"
        message = self._message(native_status)
        return Outcome(status, bound, log, message, fate)

    def _message(self, native_status: Any) -> str:
        """Return why the run ended; HiGHS reports every stop by a callback as an interrupt of the user."""
        if self.deadline.passed:
            return "the time limit was reached"
        return str(self.highs.modelStatusToString(native_status))

    def _breaks_a_row(self, values: Any) -> bool:
        """Return whether rounded values break a row that they satisfy within the solver's tolerance.

        A row with other than whole numbers may be broken if the answer violates the model.
        """
        form = self.compiled.form
        if self._rows is None:
            row = np.repeat(np.arange(len(form.row_lo)), np.diff(form.start))
            whole = (form.value == np.rint(form.value)) & (form.integral[form.index] > 0)
            large = form.slack(INTEGRALITY) > HALF
            mixed = np.bincount(row, ~whole, minlength=len(form.row_lo)) > 0
            self._rows = row, large & ~mixed, bool((large & mixed).any())
        row, checked, others = self._rows
        if checked.any():
            x = np.rint(np.asarray(values)[: len(form.integral)])
            level = np.bincount(row, form.value * x[form.index], minlength=len(form.row_lo))
            broken = (level > form.row_hi + HALF) | (level < form.row_lo - HALF)
            if (broken & checked).any():
                return True
        if not others or self.compiled.exactness.kind == "relaxation":
            return False
        return bool(self.compiled.model.check(self.compiled.assignment(np.asarray(values))))

    def _whole(self, values: Any) -> bool:
        """Return whether the answer is integral, so that the answer of a linear relaxation is one of the model too."""
        if self.discrete:
            return True
        kinds = self.compiled.form.integral
        x = np.asarray(values)[: len(kinds)][kinds > 0]
        return bool(np.all(np.abs(x - np.rint(x)) < 1e-6))


@with_short_repr
class Highs:
    """The HiGHS backend. The options of ``compile`` are those of ``backends.linear.lower``."""

    name = "highs"
    lacks = NOT_LINEAR
    obeys = frozenset({"deterministic_limit", "parameters"})
    thread_parameters = frozenset({"threads"})

    def availability(self) -> Availability:
        """Return the version of highspy, or why it cannot be imported."""
        try:
            highs = new_highs()
        except ImportError as e:
            return Availability(self.name, None, f"highspy cannot be imported: {e}; pip install --upgrade highspy")
        return Availability(self.name, highs.version())

    def check_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Value]:
        """Convert values of HiGHS's options; raise UnknownName and ValueError for wrong ones."""
        return check(parameters)

    def compile(self, model: Model, **options: Any) -> HighsCompiled:
        """Lower a model, with its first objective, and pass it to HiGHS.

        Raise LoweringTooLarge before a lowering that would be too large is built, and SolverUnavailable for numbers
        that HiGHS does not compute exactly.
        """
        require_options(self.name, options)
        lowered = lower(model, **options)
        if lowered.integral:
            require_range(model, lowered.form, "HiGHS")
        return HighsCompiled(model, lowered)


class HighsCompiled:
    """A model inside HiGHS.

    Users may add rows to ``native``, call ``native.run()`` and get the answer from ``assignment(native)``.

    Attributes
    ----------
    native : highspy.Highs
        The solver that holds the model.
    form : LinearForm
        The arrays that were passed.
    lowered : Lowered
        The map between the columns and the variables of the model.
    """

    __repr__ = compiled_repr

    def __init__(self, model: Model, lowered: Lowered) -> None:
        self.model = model
        self.lowered = lowered
        self.form = lowered.form
        self.size = lowered.form.size
        self.exactness = lowered.exactness
        self.native = pass_model(lowered.form, relax=not lowered.integral)

    def var(self, x: Interval | Integer) -> IntervalColumns | int:
        """Return the column of an integer, or the columns of an interval (presence, start, size, cells)."""
        own_variable(x, self.model)
        return self.lowered.columns(x)

    def assignment(self, answer: Any) -> Assignment:
        """Convert column values (an array) or a solved ``highspy.Highs`` to an assignment.

        Raises
        ------
        LookupError
            If the answer holds no solution.
        """
        if hasattr(answer, "getSolution"):
            solution = answer.getSolution()
            if not solution.value_valid and self.size["variables"]:
                raise NoSolution("the answer holds no solution")
            answer = solution.col_value
        return self.lowered.read(column_values(answer, self.size["variables"], "a solved highspy.Highs"))

    def named(self) -> Any:
        """Return ``native`` with the names of variables and constraints on its columns and rows.

        ``native.writeModel("model.lp")`` then writes them. They cost time, so that a model has them on request alone.
        """
        for k, name in enumerate(column_names(self.lowered)):
            self.native.passColName(k, name)
        for k, name in enumerate(row_names(self.lowered)):
            self.native.passRowName(k, name)
        return self.native

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment whose columns ``hint`` returns: on a restricting grid, the one moved onto the grid."""
        return self.lowered.rebuilt(assignment)

    def hint(self, assignment: Assignment) -> Any:
        """Return the value of every column."""
        own_values(assignment, self.model, "hint")
        return self.lowered.hint(assignment)

    def fix(self, assignment: Assignment) -> None:
        """Fix every column to its hinted value."""
        x = self.hint(assignment)
        self.native.changeColsBounds(len(x), np.arange(len(x), dtype=np.int32), x, x)

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve; Ctrl-C and the watch end the run with the best solution so far.

        Each run has a thread of its own. HiGHS has one set of worker threads per calling thread, so a run inside a
        callback of another run, or at the same time, gets its own.
        """
        run = HighsRun(self, limits)
        return run_in_thread(self, lambda threaded: run.run(threaded, warm), run.halt, watch, limits)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Return constraints in an infeasible subset of the linear relaxation, if the relaxation is infeasible."""
        names = [name for name, _ in self.model.constraints]
        return find_conflict(pass_model(self.form, relax=True), self.form, names, time_limit)


def pass_model(form: LinearForm, *, relax: bool = False) -> Any:
    """Pass a linear form to a new ``highspy.Highs`` without output.

    Parameters
    ----------
    form : LinearForm
        Its rows are scaled if it has integral columns.
    relax : bool
        Whether to drop the integrality of the columns.

    Returns
    -------
    highspy.Highs

    Raises
    ------
    SolverUnavailable
        If HiGHS refuses the numbers of the form.
    """
    import highspy

    look(len(form.value) / ENTRIES_PER_SECOND)
    h = new_highs()
    h.setOptionValue("output_flag", False)
    if relax:
        kinds = np.zeros_like(form.integral)
    else:
        kinds = form.integral
    if kinds.any():
        rows = form.row_scales()
    else:
        rows = np.ones(len(form.row_lo))
    status = h.passModel(
        *(len(form.cost), len(form.row_lo), len(form.value)),
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize if form.maximize else highspy.ObjSense.kMinimize),
        form.offset,
        *(form.cost, form.column_lo, form.column_hi, form.row_lo * rows, form.row_hi * rows),
        *(form.start, form.index, form.scaled_values(rows), kinds),
    )
    if status == highspy.HighsStatus.kError:
        raise SolverUnavailable(
            f"HiGHS refused the model, whose size is {form.size}: it does not take numbers of 1e15 and more"
        )
    return h


# --- Find the constraints that make the linear relaxation of a model infeasible, by a deletion filter.
#
# HiGHS can compute irreducible infeasible subsets itself, but those of version 1.12 are sometimes feasible.

FEASIBLE = "the linear relaxation of this model is feasible, so HiGHS cannot name a conflict"


class DeletionFilter:
    """The linear relaxation inside HiGHS, whose constraints are removed one by one.

    Parameters
    ----------
    native : highspy.Highs
        The solver that holds the relaxation of ``form``.
    form : LinearForm
    names : list of str
        The constraints that may be removed, and the objective, which may have no value. Rows of domains always stay.
    """

    def __init__(self, native: Any, form: LinearForm, names: list[str]) -> None:
        self.native = native
        self.lo, self.hi = form.row_lo, form.row_hi
        known = set(names)
        objective = form.row_blocks.first[-1]  # its rows are the last ones
        self.rows: dict[str, list[int]] = {}
        for i in range(len(form.row_lo)):
            name = form.row_blocks.name(i)
            if i >= objective:
                name = OBJECTIVE
            if i >= objective or name in known:
                self.rows.setdefault(name, []).append(i)

    def run(self, deadline: Deadline) -> Conflict:
        """Return constraints that cannot hold together.

        The set is irreducible if the time until the deadline suffices.
        """
        if not self._infeasible(deadline):
            return Conflict(None, FEASIBLE)
        needed = list(self.rows)
        minimal = True
        for name in list(needed):
            if deadline.passed:
                minimal = False
                break
            self._bound(name, relaxed=True)
            if self._infeasible(deadline):
                needed.remove(name)
            else:
                self._bound(name, relaxed=False)
        kind = "an"
        if minimal:
            kind = "an irreducible"
        return Conflict(tuple(needed), f"{kind} infeasible subset of the linear relaxation by the word of HiGHS")

    def _bound(self, name: str, *, relaxed: bool) -> None:
        for i in self.rows[name]:
            if relaxed:
                lo = -math.inf
                hi = math.inf
            else:
                lo = float(self.lo[i])
                hi = float(self.hi[i])
            self.native.changeRowBounds(i, lo, hi)

    def _infeasible(self, deadline: Deadline) -> bool:
        import highspy

        self.native.setOptionValue("time_limit", deadline.at_most(math.inf))
        self.native.run()
        return bool(self.native.getModelStatus() == highspy.HighsModelStatus.kInfeasible)


def find_conflict(native: Any, form: LinearForm, names: list[str], seconds: float | None) -> Conflict:
    """Find constraints whose rows make a linear relaxation infeasible.

    Parameters
    ----------
    native : highspy.Highs
        The solver that holds the relaxation. It is changed.
    form : LinearForm
    names : list of str
        The constraints that the conflict may contain.
    seconds : float or None
        Wall time in seconds; None: no limit.

    Returns
    -------
    Conflict
        Its names are None if the relaxation is feasible.
    """
    native.setOptionValue("presolve", "off")  # so each solve starts from the basis of the one before
    native.changeColsCost(len(form.cost), np.arange(len(form.cost), dtype=np.int32), np.zeros(len(form.cost)))
    return DeletionFilter(native, form, names).run(Deadline(seconds))
