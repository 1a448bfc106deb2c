"""One solve by HiGHS: options, callbacks, warm start, limits, and its outcome."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models.language import Assignment
from ..base import Limits, Outcome, Status, WarmStart, Watch
from ..linear import LinearForm
from ..linear.dual import safe_bound
from ..solver_log import SolverLog
from .parameters import OF_OBJECTIVE

if TYPE_CHECKING:
    from .backend import HighsCompiled

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
    problems at the root node. Rows are scaled likewise (``backend._scales``).
    """
    costs = np.abs(form.cost[form.cost != 0])
    if not len(costs):
        return 1.0
    least, greatest = float(costs.min()), float(costs.max())
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
        self.deadline = math.inf if limits.time is None else time.perf_counter() + limits.time
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
        fate = self._start(warm) if warm is not None else WarmStart()
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
        left = max(0.0, self.deadline - time.perf_counter())
        self.highs.setOptionValue("time_limit", left)
        self.highs.run()

    def _logged(self, event: Any) -> None:
        if self.limits.log:  # the callback itself is needed in any case
            self.log.write(event.message)
        if self.discrete and re.match(r"Presolve: (Infeasible|Optimal)", event.message):
            self.alone = True

    def _improved(self, event: Any) -> None:
        if self._breaks_a_row(event.data_out.mip_solution):
            return
        found = self.compiled.assignment(np.asarray(event.data_out.mip_solution))
        self._stop_unless(self.watch.solution(found, self._bound(event.data_out)))

    def _polled(self, event: Any) -> None:
        bound = self._bound(event.data_out)
        if bound is not None:
            self._stop_unless(self.watch.bound(bound))
        self._interrupt(event)

    def _interrupt(self, event: Any) -> None:
        # set at every call, True or False: HiGHS keeps the last value after the run
        event.interrupt(self.stop.is_set() or time.perf_counter() > self.deadline)

    def _stop_unless(self, go_on: bool) -> None:
        if not go_on:
            self.stop.set()

    def _bound(self, out: Any) -> float | None:
        return None if self.alone or abs(out.mip_dual_bound) >= 1e30 else float(out.mip_dual_bound) / self.unit

    def _outcome(self, log: str, fate: WarmStart) -> Outcome:
        import highspy

        kinds = highspy.HighsModelStatus
        native_status = self.highs.getModelStatus()
        info, solution = self.highs.getInfo(), self.highs.getSolution()
        feasible = native_status == kinds.kModelEmpty or (solution.value_valid and info.primal_solution_status == 2)
        bound: float | None = None
        if native_status == kinds.kModelEmpty:
            bound = self.compiled.form.offset
        elif self.discrete:
            bound = self._bound(info) if info.valid else None
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
        if time.perf_counter() >= self.deadline:
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
