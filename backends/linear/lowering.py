"""From a model to its linear form, by one of the two lowerings, and back."""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import numpy as np

from ...models.language import (
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
)
from ..base import Exactness, LoweringTooLarge
from . import constraints
from .energy import Energy
from .expressions import GE, LE, LinearExpressions
from .form import Floats, FormBuilder, LinearForm
from .intervals import IntervalColumns, Intervals
from .pairwise import Pairwise
from .time_indexed.grid import Grid, GridOption, Side
from .time_indexed.lowering import TimeIndexed

LoweringName = Literal["time-indexed", "pairwise", "energy"]
LOWERINGS = get_args(LoweringName)
MODERATE = 100_000  # non-zeros of a time-indexed form at step 1 that is taken without being asked for


class Scheme(Protocol):
    """What the two lowerings differ in: starts, resources, and how exact they are."""

    expressions: LinearExpressions
    exactness: Exactness

    @property
    def intervals(self) -> Intervals: ...
    def alternative(self, c: Alternative) -> None: ...
    def no_overlap(self, c: NoOverlap) -> None: ...
    def cumulative(self, c: Cumulative) -> None: ...
    def rebuilt(self, assignment: Assignment) -> Assignment: ...


def lower(
    model: Model,
    *,
    lowering: LoweringName | None = None,
    grid: GridOption | None = None,
    side: Side = "restrict",
    integral: bool = True,
    max_nonzeros: int = 20_000_000,
) -> Lowered:
    """The linear form of a model with at most one objective.

    ``lowering``: "pairwise", "time-indexed", or "energy" (a relaxation of the resources alone, with strong bounds and
    few columns); None takes time-indexed if a ``grid`` is given, or on a grid of step 1 if that is small, else pairwise.
    ``grid``: a step in seconds, or (fine, coarse): steps that grow from fine at the earliest start to coarse at the
    horizon. ``side``: "restrict" rounds durations up (what is feasible on the grid is
    feasible), "relax" counts only what is occupied for every start within a cell (the optimum is a true bound).
    ``integral=False``: the linear relaxation, for a fast bound. Raises LoweringTooLarge before building what is
    predicted to have more than ``max_nonzeros``; ValueError for options that contradict each other.
    """
    if lowering is not None and lowering not in LOWERINGS:
        raise ValueError(f"lowering={lowering!r}: there are {', '.join(map(repr, LOWERINGS))}")
    if side not in ("restrict", "relax"):
        raise ValueError(f"side={side!r}: a grid has the sides 'restrict' and 'relax'")
    if lowering == "pairwise" and grid is not None:
        raise ValueError("a grid belongs to lowering='time-indexed' or 'energy', not to 'pairwise'")
    if lowering == "energy" and grid is None:
        raise ValueError("lowering='energy' needs a grid: grid=seconds or grid=(fine, coarse)")
    if lowering is None:
        lowering = "time-indexed" if grid is not None or _small_on_step_1(model) else "pairwise"
    form = FormBuilder()
    scheme: Scheme
    if lowering == "pairwise":
        scheme = Pairwise(model, form, max_nonzeros)
    elif lowering == "energy" and grid is not None:
        scheme = Energy(model, form, grid, max_nonzeros)
    else:
        scheme = TimeIndexed(model, form, 1 if grid is None else grid, side, max_nonzeros)
    if not integral and scheme.exactness.kind == "restriction":
        raise ValueError("integral=False gives a bound, but a restriction has none; take side='relax'")
    return Lowered(model, form, scheme, integral)


def _small_on_step_1(model: Model) -> bool:
    """Whether a grid of step 1 is affordable, and not out of proportion to the pairs it replaces."""
    try:
        nonzeros = TimeIndexed.predict(model, Grid.cover(model, 1, MODERATE), "restrict")[2]
    except LoweringTooLarge:
        return False
    return nonzeros <= min(MODERATE, 2_000 + 20 * Pairwise.predict(model)[2])


class Lowered:
    """A model in linear form, with the way from assignments to column values and back.

    ``form``: the arrays; ``scheme``: the lowering; ``exactness``: how its solutions relate to the model's;
    ``integral``: whether columns have to be whole (else its linear relaxation is meant).
    """

    def __init__(self, model: Model, form: FormBuilder, scheme: Scheme, integral: bool) -> None:
        self.model = model
        self.scheme = scheme
        self.integral = integral
        self.exactness = scheme.exactness
        if not integral:
            self.exactness = Exactness("relaxation", (*scheme.exactness.notes, "linear relaxation"))
        for name, constraint in model.constraints:
            form.name_rows(name)
            self._lower(constraint)
        form.name_rows("objective")
        maximize = model.sense == "maximize"
        objective = model.objectives[0] if model.objectives else Linear({})
        cost = scheme.expressions.affine(objective, LE if maximize else GE)
        self._builder = form
        self.form: LinearForm = form.build(cost, maximize=maximize)

    def _lower(self, c: Any) -> None:
        s = self.scheme
        match c:
            case Comparison():
                s.expressions.compare(c)
            case Alternative():
                s.alternative(c)
            case Synchronize():
                constraints.synchronize(self.scheme.expressions.form, s.intervals, c)
            case Precedence():
                constraints.precedence(self.scheme.expressions.form, s.intervals, c)
            case NoOverlap():
                s.no_overlap(c)
            case Cumulative():
                s.cumulative(c)

    def columns(self, x: Interval | Integer) -> IntervalColumns | int:
        """The column(s) of a variable."""
        if isinstance(x, Integer):
            return self.scheme.intervals.integers + x.index
        return self.scheme.intervals.columns(x)

    def read(self, x: Floats) -> Assignment:
        """The assignment that column values stand for, rounded to whole numbers."""
        of = self.scheme.intervals
        found = Assignment(self.model)
        starts, lengths, present = of.read(x)
        found.start = np.where(present, starts, 0).tolist()
        found.end = np.where(present, starts + lengths, 0).tolist()
        found.present = present.tolist()
        n = len(self.model.integers)
        found.integer = np.rint(x[of.integers : of.integers + n]).astype(np.int64).tolist()
        return found

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """The assignment as the lowering can hold it: on a grid that restricts, with starts moved onto the grid."""
        return self.scheme.rebuilt(assignment)

    def hint(self, assignment: Assignment) -> Floats:
        """The value of every column under the rebuilt assignment."""
        return self._builder.values(self.rebuilt(assignment))
