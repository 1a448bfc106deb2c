"""HiGHS: models in linear form (``linear``), passed as arrays in one call, solved with traces, warm start and limits."""

from __future__ import annotations

import math
import re
import threading
import time
from typing import Any

import numpy as np

from ..models.language import Assignment, Integer, Interval, Model
from .base import Availability, Conflict, Limits, Outcome, Status, WarmStart, Watch
from .linear import IntervalColumns, LinearForm, Lowered, lower
from .linear.dual import safe_bound
from .linear.form import Floats

GAP = 1e-6
TOLERANCE = 1e-8  # of rows: big-M constants reach 1e5 and more
# of integrality, the usual one: with 1e-7 and less HiGHS 1.14 loses optima, of a dispatching problem of 12 jobs in 4 runs of 12
INTEGRALITY = 1e-6
SMALL = 1_000  # non-zeros; so small a model is solved without presolve, which was wrong in 5 of 7,000 of them
MODERATE = 1 << 25  # of a cost, in the units of the solver
NO_SUBSET = "HiGHS has irreducible subsets of linear relaxations only; the relaxation of this model is feasible"
POLL_SECONDS = 0.1


class Highs:
    """The backend. Options of ``compile`` are those of ``linear.lower``."""

    name = "highs"

    def availability(self) -> Availability:
        """The version of highspy, or why it cannot be imported."""
        try:
            import highspy
        except ImportError as e:
            return Availability(self.name, None, f"highspy cannot be imported: {e}; pip install 'highspy<1.15'")
        return Availability(self.name, highspy.Highs().version())

    def compile(self, model: Model, **options: Any) -> HighsCompiled:
        """Lower a model and pass it to HiGHS. Raises LoweringTooLarge before building what is too large."""
        return HighsCompiled(model, lower(model, **options))


class HighsCompiled:
    """A model inside HiGHS.

    ``native`` is the ``highspy.Highs`` that holds the model (add rows of your own to it, then ``native.run()`` and
    ``assignment(native)``); ``form`` the arrays that were passed; ``lowered`` the way there and back.
    """

    def __init__(self, model: Model, lowered: Lowered) -> None:
        self.model = model
        self.lowered = lowered
        self.form = lowered.form
        self.size = lowered.form.size
        self.exactness = lowered.exactness
        self.native = pass_model(lowered.form, relax=not lowered.integral)

    def var(self, x: Interval | Integer) -> IntervalColumns | int:
        """Column of an integer; columns of an interval (presence, start, size, cells)."""
        return self.lowered.columns(x)

    def assignment(self, answer: Any) -> Assignment:
        """From column values (an array) or a solved ``highspy.Highs``."""
        values = answer if isinstance(answer, (np.ndarray, list, tuple)) else answer.getSolution().col_value
        return self.lowered.read(np.asarray(values, dtype=np.float64)[: self.size["variables"]])

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """The assignment that ``hint`` gives the columns of: on a grid that restricts, moved onto it."""
        return self.lowered.rebuilt(assignment)

    def hint(self, assignment: Assignment) -> Any:
        """The value of every column."""
        return self.lowered.hint(assignment)

    def fix(self, assignment: Assignment) -> None:
        """Fix every column to its hinted value."""
        x = self.hint(assignment)
        self.native.changeColsBounds(len(x), np.arange(len(x), dtype=np.int32), x, x)

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve, telling the watch; Ctrl-C and the watch end it with the best so far."""
        return _Run(self, watch, limits).run(warm)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Constraints in an irreducible infeasible subset of the linear relaxation, if that is infeasible."""
        import highspy

        h = pass_model(self.form, relax=True)
        h.setOptionValue("time_limit", math.inf if time_limit is None else time_limit)
        h.run()
        if h.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
            return Conflict(None, NO_SUBSET)
        h.setOptionValue("iis_strategy", int(highspy.IisStrategy.kIisStrategyIrreducible))
        status, subset = h.getIis()
        if status == highspy.HighsStatus.kError or not subset.valid_ or not len(subset.row_index_):
            return Conflict(None, "HiGHS found no irreducible subset of the linear relaxation")
        ours = {name for name, _ in self.model.constraints}  # else rows of domains or of the objective
        names = dict.fromkeys(n for r in subset.row_index_ if (n := self.form.row_blocks.name(int(r))) in ours)
        return Conflict(tuple(names), "an irreducible infeasible subset of the linear relaxation")


def pass_model(form: LinearForm, *, relax: bool = False) -> Any:
    """A silent ``highspy.Highs`` that holds the form, its rows scaled if columns are integral; ``relax`` drops integrality."""
    import highspy

    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    kinds = np.zeros_like(form.integral) if relax else form.integral
    rows = _scales(form) if kinds.any() else np.ones(len(form.row_lo))
    status = h.passModel(
        *(len(form.cost), len(form.row_lo), len(form.value)),
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize if form.maximize else highspy.ObjSense.kMinimize),
        form.offset,
        *(form.cost, form.column_lo, form.column_hi, form.row_lo * rows, form.row_hi * rows),
        *(form.start, form.index, form.value * np.repeat(rows, np.diff(form.start)), kinds),
    )
    if status == highspy.HighsStatus.kError:
        raise RuntimeError(f"HiGHS refused the model of {form.size}")
    return h


def _scales(form: LinearForm) -> Floats:
    """Powers of two that bring the greatest coefficient of each row down to its root.

    Tolerances are absolute, and there are rows with big-M constants of 1e5 and sums of 1e6 core-seconds. Most of what
    HiGHS 1.14 lost without this it lost to the tight tolerance that integrality had then (``INTEGRALITY``).
    """
    greatest = np.ones(len(form.row_lo))
    np.maximum.at(greatest, np.repeat(np.arange(len(greatest)), np.diff(form.start)), np.abs(form.value))
    found: Floats = np.exp2(-np.floor(np.log2(greatest) / 2))
    return found


def _unit(form: LinearForm) -> float:
    """A power of two that brings the least cost to 1, as far as the greatest stays moderate.

    HiGHS takes a reduced cost within 1e-7 for 0, in the units of the objective. Euro per second are 1e-5 and less, and
    seconds many: HiGHS 1.14 lost up to 1 % of the optimum of profit problems at the root without this, as ``_scales`` says
    of rows.
    """
    costs = np.abs(form.cost[form.cost != 0])
    if not len(costs):
        return 1.0
    up = min(math.ceil(-math.log2(costs.min())), math.floor(math.log2(MODERATE / costs.max())))
    return float(2.0 ** max(0, up))


class _Run:
    """One solve: options, callbacks, the solver's thread, and what is made of its end."""

    def __init__(self, compiled: HighsCompiled, watch: Watch, limits: Limits) -> None:
        self.compiled = compiled
        self.highs = compiled.native
        self.watch = watch
        self.limits = limits
        self.deadline = math.inf if limits.time is None else time.perf_counter() + limits.time
        self.stop = threading.Event()
        self.done = threading.Event()
        self.interrupted = False
        self.log: list[str] = []
        self.alone = False  # presolve alone gave the answer, which is not believed yet
        self.start: Any = None  # column values of the start until HiGHS asks for them
        self.discrete = compiled.lowered.integral and bool(compiled.form.integral.any())
        self.failure: Exception | None = None
        self.unit = _unit(compiled.form)

    def run(self, warm: Assignment | None) -> Outcome:
        self._options()
        self._scale_costs(self.unit)
        try:
            return self._run(warm)
        finally:
            self._scale_costs(1.0)

    def _scale_costs(self, unit: float) -> None:
        """The objective of the solver, in multiples of the model's."""
        if self.unit != 1.0:
            form = self.compiled.form
            n = len(form.cost)
            self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), form.cost * unit)
            self.highs.changeObjectiveOffset(form.offset * unit)

    def _run(self, warm: Assignment | None) -> Outcome:
        fate = self._start(warm) if warm is not None else WarmStart()
        callbacks = {
            "cbLogging": self._logged,
            "cbMipImprovingSolution": self._improved,
            "cbMipInterrupt": self._polled,
            "cbMipUserSolution": self._asked_for_start,
            "cbSimplexInterrupt": self._asked,
            "cbIpmInterrupt": self._asked,
        }
        for name, call in callbacks.items():
            getattr(self.highs, name).subscribe(call)
        try:
            self._solve()
            self._confirm()
        finally:
            for name, call in callbacks.items():
                getattr(self.highs, name).unsubscribe(call)
        if self.failure is not None:
            raise self.failure
        if fate.fate == "accepted" and self.start is not None:
            fate = WarmStart("accepted", "HiGHS ended before its search, where it would have taken the start")
        return self._outcome("".join(self.log), fate)

    def _options(self) -> None:
        h, limits = self.highs, self.limits
        options = {
            "output_flag": True,
            "log_to_console": False,
            "mip_rel_gap": GAP if limits.gap is None else limits.gap,
            "mip_abs_gap": 1e-9 * self.unit,
            "mip_feasibility_tolerance": INTEGRALITY,
            "primal_feasibility_tolerance": TOLERANCE,
            "presolve": "off" if self.compiled.size["nonzeros"] <= SMALL else "choose",
            "random_seed": limits.seed % 2**31,
        }
        if limits.deterministic is not None:
            options["mip_max_nodes"] = max(0, int(limits.deterministic))
        if limits.threads is not None:
            options["threads"] = limits.threads
        for name, value in options.items():
            h.setOptionValue(name, value)
        h.resetGlobalScheduler(True)  # else the number of threads of the first solve in this process stays

    def _start(self, warm: Assignment) -> WarmStart:
        """Keep the start for HiGHS; a word on it if it does not satisfy the linear form."""
        rebuilt = self.compiled.rebuilt(warm)
        x = self.compiled.hint(rebuilt)
        amount, where = self.compiled.form.violation(x)
        if amount > 1e-6:
            return WarmStart("rejected", f"on the grid, the start violates {where} by {amount:g}")
        if self.discrete:
            self.watch.solution(rebuilt)
            self.start = np.asarray(x, dtype=np.float64)
        return WarmStart("accepted")

    def _asked_for_start(self, event: Any) -> None:
        """Only here, after presolve: of a start given before it (``setSolution``) HiGHS 1.10 to 1.15 cuts off better answers.

        Presolve takes columns out of the objective, what is left is found to be a multiple of some step, and the start's
        value, which is none, is rounded down as if it were: answers that are better by less than half a step are lost.
        """
        if self.start is not None:
            event.data_in.setSolution(self.start)
            self.start = None

    def _confirm(self) -> None:
        """Solve again without presolve where presolve alone gave the answer.

        Its dominated columns are wrong at times (HiGHS issue 3090): in the conformance run it called a model infeasible
        that was not, and took a worse answer for the optimum of others.
        """
        import highspy

        if not self.alone or self.stop.is_set() or self.failure is not None:
            return
        if self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            self.start = np.asarray(self.highs.getSolution().col_value)
            self._heed(self.watch.solution(self.compiled.assignment(self.start)))
        self.highs.setOptionValue("presolve", "off")
        self.alone = False
        self._solve()

    def _solve(self) -> None:
        """In a thread, so that Ctrl-C reaches this one."""
        left = max(0.0, self.deadline - time.perf_counter())
        self.highs.setOptionValue("time_limit", left)
        self.done.clear()
        threading.Thread(target=self._thread, daemon=True).start()
        while not self.done.is_set():  # not join(): interrupted, it takes the thread for ended
            try:
                self.done.wait(POLL_SECONDS)
            except KeyboardInterrupt:
                self.interrupted = True
                self.stop.set()

    def _thread(self) -> None:
        try:
            self.highs.run()
        except Exception as e:  # of a callback; raised again in the calling thread
            self.failure = e
        finally:
            self.done.set()

    def _logged(self, event: Any) -> None:
        self.log.append(event.message)
        if self.discrete and re.match(r"Presolve: (Infeasible|Optimal)", event.message):
            self.alone = True

    def _improved(self, event: Any) -> None:
        found = self.compiled.assignment(np.asarray(event.data_out.mip_solution))
        self._heed(self.watch.solution(found, self._bound(event.data_out)))

    def _polled(self, event: Any) -> None:
        bound = self._bound(event.data_out)
        if bound is not None:
            self._heed(self.watch.bound(bound))
        self._asked(event)

    def _asked(self, event: Any) -> None:
        if self.stop.is_set() or time.perf_counter() > self.deadline:
            event.interrupt()

    def _heed(self, go_on: bool) -> None:
        if not go_on:
            self.stop.set()

    def _bound(self, out: Any) -> float | None:
        return None if self.alone or abs(out.mip_dual_bound) >= 1e30 else float(out.mip_dual_bound) / self.unit

    def _outcome(self, log: str, fate: WarmStart) -> Outcome:
        import highspy

        kinds = highspy.HighsModelStatus
        said = self.highs.getModelStatus()
        info, solution = self.highs.getInfo(), self.highs.getSolution()
        feasible = said == kinds.kModelEmpty or (solution.value_valid and info.primal_solution_status == 2)
        bound: float | None = None
        if self.discrete:
            bound = self._bound(info)
        elif solution.dual_valid:
            bound = safe_bound(self.compiled.form, np.asarray(solution.row_dual) / self.unit)
        relaxation = self.compiled.exactness.kind == "relaxation"
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
        status = ends.get(said, "feasible" if feasible else "unknown")
        if self.alone and status == "infeasible":
            status = "unknown"
        message = self._message(said)
        return Outcome(status, bound, log, message, fate)

    def _message(self, said: Any) -> str:
        """How it ended; HiGHS takes every stop by a callback for the user's."""
        if self.interrupted:
            return "interrupted"
        if time.perf_counter() >= self.deadline:
            return "the time limit was reached"
        return str(self.highs.modelStatusToString(said))

    def _whole(self, values: Any) -> bool:
        """Whether the answer of a linear relaxation is one of the model's, too."""
        if self.discrete:
            return True
        kinds = self.compiled.form.integral
        x = np.asarray(values)[: len(kinds)][kinds > 0]
        return bool(np.all(np.abs(x - np.rint(x)) < 1e-6))
