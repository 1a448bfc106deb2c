"""HiGHS: models in linear form (``linear``), passed as arrays in one call, solved with traces, warm start and limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...models.language import Assignment, Integer, Interval, Model
from ...models.language.clock import look
from ..base import Availability, Conflict, Limits, Outcome, SolverUnavailable, Watch
from ..linear import IntervalColumns, LinearForm, Lowered, lower
from ..linear.form import Floats
from ..linear.ranges import require_range
from ..solver_thread import run_in_thread
from .run import HighsRun

PASSED_PER_SECOND = 1e7  # non-zeros


class Highs:
    """The backend. Options of ``compile`` are those of ``linear.lower``."""

    name = "highs"

    def availability(self) -> Availability:
        """The version of highspy, or why it cannot be imported."""
        try:
            import highspy
        except ImportError as e:
            return Availability(self.name, None, f"highspy cannot be imported: {e}; pip install 'highspy<1.13'")
        return Availability(self.name, highspy.Highs().version())

    def compile(self, model: Model, **options: Any) -> HighsCompiled:
        """Lower a model and pass it to HiGHS.

        Raises LoweringTooLarge before building what is too large, SolverUnavailable for numbers beyond its precision.
        """
        lowered = lower(model, **options)
        if lowered.integral:
            require_range(model, lowered.form, "HiGHS")
        return HighsCompiled(model, lowered)


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
        """Solve, telling the watch; Ctrl-C and the watch end it with the best so far.

        Each run has a thread of its own: HiGHS keeps its worker threads by the thread that calls it, so that a run in a
        callback of another run, or beside it, has others.
        """
        run = HighsRun(self, limits)
        return run_in_thread(self, lambda heard: run.run(heard, warm), run.halt, watch, limits)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Constraints in an infeasible subset of the linear relaxation, if that is infeasible."""
        from .conflict import find_conflict

        names = [name for name, _ in self.model.constraints]
        return find_conflict(pass_model(self.form, relax=True), self.form, names, time_limit)


def pass_model(form: LinearForm, *, relax: bool = False) -> Any:
    """A silent ``highspy.Highs`` that holds the form, its rows scaled if columns are integral; ``relax`` drops integrality."""
    import highspy

    look(len(form.value) / PASSED_PER_SECOND)
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
        raise SolverUnavailable(
            f"HiGHS refused the model of {form.size}: numbers of 1e15 and more are too large for it"
        )
    return h


def _scales(form: LinearForm) -> Floats:
    """Powers of two that bring the greatest coefficient of each row down to its root.

    Tolerances are absolute, and there are rows with big-M constants of 1e5 and sums of 1e6 core-seconds. Most of what
    HiGHS 1.14 lost without this it lost to the tight tolerance that integrality had then (``highs_run.INTEGRALITY``).
    """
    greatest = np.ones(len(form.row_lo))
    np.maximum.at(greatest, np.repeat(np.arange(len(greatest)), np.diff(form.start)), np.abs(form.value))
    found: Floats = np.exp2(-np.floor(np.log2(greatest) / 2))
    return found
