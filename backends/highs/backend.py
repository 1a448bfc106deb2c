"""HiGHS: the linear form of a model (``backends.linear``) is passed as arrays in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import NoSolution
from ...models.excerpt import with_short_repr
from ...models.language import Assignment, Integer, Interval, Model
from ...models.language.clock import look
from ..base import Availability, Conflict, Limits, Outcome, SolverUnavailable, Watch, compiled_repr
from ..linear import IntervalColumns, LinearForm, Lowered, lower, require_options
from ..linear.form import ENTRIES_PER_SECOND, Floats
from ..linear.ranges import require_range
from ..parameters.limits import Value
from ..solver_thread import run_in_thread
from ..uses import column_values, own_values, own_variable
from .quiet import new_highs
from .run import HighsRun


@with_short_repr
class Highs:
    """The HiGHS backend. The options of ``compile`` are those of ``backends.linear.lower``."""

    name = "highs"
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
        from .parameters import check

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
        from .conflict import find_conflict

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
            f"HiGHS refused the model, whose size is {form.size}: it does not take numbers of 1e15 and more"
        )
    return h


def _scales(form: LinearForm) -> Floats:
    """Return one power of two per row that reduces its greatest coefficient to about the square root of it.

    Tolerances are absolute, and rows have big-M constants of 1e5 and sums of 1e6 core-seconds. Without this scaling
    HiGHS 1.14 lost optima, most of them because of the tight tolerance of integrality at that time (see
    ``run.INTEGRALITY``).
    """
    greatest = np.ones(len(form.row_lo))
    np.maximum.at(greatest, np.repeat(np.arange(len(greatest)), np.diff(form.start)), np.abs(form.value))
    found: Floats = np.exp2(-np.floor(np.log2(greatest) / 2))
    return found
