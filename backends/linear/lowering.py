"""The choice of a lowering, the linear form that it gives, and the conversion of solutions in both directions."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, get_args

import numpy as np

from ...errors import LoweringTooLarge, WrongValue
from ...models.arguments import checked, unknown_keyword
from ...models.array_types import Floats
from ...models.excerpt import with_short_repr
from ...models.language import (
    AllOrNone,
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
)
from ..base import Exactness, GridOption, LoweringName, MissingConstruct, Side
from ..exact_range import require_data, require_horizon
from . import constraints
from .constraints import IntervalColumns, Intervals
from .energy import Energy
from .expressions import GE, LE, LinearExpressions, no_linear_form
from .form import Blocks, FormBuilder, LinearForm
from .pairwise import Pairwise
from .time_indexed import Grid, TimeIndexed

LOWERINGS = get_args(LoweringName)
LARGEST_DATUM = 2**62
MODERATE = 100_000  # most non-zeros of a time-indexed form of step 1 that is chosen by default


class Scheme(Protocol):
    """The part that differs between the lowerings: starts, resources and exactness."""

    expressions: LinearExpressions
    exactness: Exactness

    @property
    def intervals(self) -> Intervals:
        """The columns of integers and intervals."""

    def alternative(self, c: Alternative) -> None:
        """Add the rows of an alternative."""

    def no_overlap(self, c: NoOverlap) -> None:
        """Add the rows of a no_overlap."""

    def cumulative(self, c: Cumulative) -> None:
        """Add the rows of a cumulative."""

    def forbid_extent(self, c: ForbidExtent) -> None:
        """Add the rows of a forbid_extent."""

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment with starts that the form can represent."""


def require_options(backend: str, options: Mapping[str, Any]) -> None:
    """Raise WrongArgument for an option that no lowering has.

    Parameters
    ----------
    backend : str
        The name of the backend, for the message.
    options : mapping
        The options of ``compile``.
    """
    known = [name for name in inspect.signature(lower).parameters if name != "model"]
    for name in options:
        if name not in known:
            raise unknown_keyword(f"compile for {backend}", name, known)


@checked(values=False)
def lower(
    model: Model,
    *,
    lowering: LoweringName | None = None,
    grid: GridOption | None = None,
    side: Side | None = None,
    integral: bool = True,
    max_nonzeros: int = 20_000_000,
) -> Lowered:
    """Lower a model to linear form. Of several objectives only the first is used.

    Parameters
    ----------
    model : Model
        The model.
    lowering : {"pairwise", "time-indexed", "energy"}, optional
        "pairwise" is exact. "time-indexed" is exact with ``grid=1``, otherwise see ``side``. "energy" relaxes
        no_overlap and cumulative; it has few columns and a strong bound, and needs a ``grid``. By default
        "time-indexed" if a ``grid`` is given or if its form with a step of 1 s is small, else "pairwise".
    grid : int or tuple of two ints, optional
        Step of the grid in seconds; or (fine, coarse): the step grows from ``fine`` at the earliest start to ``coarse``
        at the horizon.
    side : {"restrict", "relax"}, optional
        For "time-indexed" alone, on a grid coarser than 1 s. "restrict" (the default): starts lie on grid points and an interval occupies
        each cell that it touches, so each solution is feasible for the model. "relax": an interval occupies only the
        cells that it occupies for each start in its start cell, so the optimum is a valid bound.
    integral : bool
        False for the linear relaxation: columns need not be whole numbers. It gives a fast bound.
    max_nonzeros : int
        Largest number of non-zeros that may be predicted for the form.

    Returns
    -------
    Lowered
        The arrays, and methods that convert solutions in both directions.

    Raises
    ------
    LoweringTooLarge
        Before anything is built, if more than ``max_nonzeros`` non-zeros are predicted.
    ValueError
        If options contradict each other.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> lower(m, lowering="pairwise").form.size
    {'variables': 5, 'constraints': 5, 'nonzeros': 12}
    """
    if lowering is not None and lowering not in LOWERINGS:
        raise WrongValue(f"lowering={lowering!r} is unknown; use one of {', '.join(map(repr, LOWERINGS))}")
    if side not in (None, "restrict", "relax"):
        raise WrongValue(f"side={side!r} is unknown; a grid has the sides 'restrict' and 'relax'")
    if lowering == "pairwise" and grid is not None:
        raise WrongValue("a grid belongs to lowering='time-indexed' or 'energy', not to 'pairwise'")
    if lowering == "energy" and grid is None:
        raise WrongValue("lowering='energy' needs a grid: grid=seconds or grid=(fine, coarse)")
    require_horizon(model, "a linear lowering")
    require_data(model, "a linear lowering", LARGEST_DATUM)
    if lowering is None:
        lowering = "time-indexed" if grid is not None or _small_on_step_1(model) else "pairwise"
    if side is not None and lowering != "time-indexed":
        raise WrongValue(f"side={side!r} belongs to lowering='time-indexed' with a grid, not to {lowering!r}")
    form = FormBuilder()
    scheme: Scheme
    if lowering == "pairwise":
        scheme = Pairwise(model, form, max_nonzeros)
    elif lowering == "energy" and grid is not None:
        scheme = Energy(model, form, grid, max_nonzeros)
    else:
        scheme = TimeIndexed(model, form, 1 if grid is None else grid, side or "restrict", max_nonzeros)
    if not integral and scheme.exactness.kind == "restriction":
        raise WrongValue("integral=False is for bounds, but a restriction has none; use side='relax'")
    return Lowered(model, form, scheme, integral)


def _small_on_step_1(model: Model) -> bool:
    """Return whether a time-indexed form with a step of 1 s is small, also compared to the pairwise form."""
    try:
        nonzeros = TimeIndexed.predict(model, Grid.cover(model, 1, MODERATE), "restrict")[2]
    except LoweringTooLarge:
        return False
    return nonzeros <= min(MODERATE, 2_000 + 20 * Pairwise.predict(model)[2])


@with_short_repr
class Lowered:
    """A model in linear form, and the conversion between assignments and column values.

    Attributes
    ----------
    model : Model
        The model.
    form : LinearForm
        The linear program as sparse arrays.
    scheme : Scheme
        The lowering that made it.
    exactness : Exactness
        Whether the form is exact, a restriction or a relaxation of the model.
    integral : bool
        False if only the linear relaxation is to be solved.
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
        """Add the rows of one constraint."""
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
            case AllOrNone():
                constraints.all_or_none(self.scheme.expressions.form, s.intervals, c)
            case ForbidExtent():
                s.forbid_extent(c)
            case NoOverlap():
                s.no_overlap(c)
            case Cumulative():
                s.cumulative(c)
            case _:
                raise MissingConstruct(no_linear_form(type(c).__name__))

    def columns(self, x: Interval | Integer) -> IntervalColumns | int:
        """Return the column of an integer variable or the columns of an interval."""
        if isinstance(x, Integer):
            return self.scheme.intervals.integers + x.index
        return self.scheme.intervals.columns(x)

    def read(self, x: Floats) -> Assignment:
        """Return the assignment for column values ``x``, rounded to whole numbers."""
        of = self.scheme.intervals
        assignment = Assignment(self.model)
        starts, lengths, present = of.read(x)
        assignment.start = np.where(present, starts, 0).tolist()
        assignment.end = np.where(present, starts + lengths, 0).tolist()
        assignment.present = present.tolist()
        n = len(self.model.integers)
        assignment.integer = np.rint(x[of.integers : of.integers + n]).astype(np.int64).tolist()
        return assignment

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment with starts that the form can represent: moved to grid points if the grid restricts."""
        return self.scheme.rebuilt(assignment)

    def hint(self, assignment: Assignment) -> Floats:
        """Return the value of each column for the rebuilt assignment: a warm start for a solver."""
        return self._builder.values(self.rebuilt(assignment))


# --- Names of the columns and rows of a linear form, as files in the formats LP and MPS can have them.


LONGEST = 200  # characters; readers of LP files take 255
NUMBERED = 12  # characters that a number and its mark may add
# words of the format LP in which a section begins, and what it takes for numbers: "e5", "inf"
RESERVED = re.compile(
    r"(?i)^(max|min|st|s\.t\.?|subject|such|bounds?|free|inf(inity)?|bin(ar(y|ies))?|gen(erals?)?|int(egers?)?|semis?|end"
    r"|obj|e\d.*|sec|sin|sos[12]?|maxim(um|ize)|minim(um|ize))$"
)


def written(name: str) -> str:
    """Return a name in the letters that files in the formats LP and MPS can have.

    Examples
    --------
    >>> written("a on node 3"), written("3 <= a.end"), written("e5"), written("ä")
    ('a_on_node_3', '_3_a.end', '_e5', '_')
    >>> written("end"), written("endless")
    ('_end', 'endless')
    """
    plain = re.sub(r"[^A-Za-z0-9_.]+", "_", name)[: LONGEST - NUMBERED]
    return f"_{plain}" if not plain or plain[0] in "0123456789." or RESERVED.match(plain) else plain


def distinct(names: Iterable[str]) -> list[str]:
    """Return names of which no two are equal, also if a dot counts as an underscore, as for Pyomo; equal ones are numbered.

    Examples
    --------
    >>> distinct(["lag", "a", "lag", "lag_1"])
    ['lag_2', 'a', 'lag_3', 'lag_1']
    >>> distinct(["", "", "Free", "st"])
    ['__1', '__2', '_Free', '_st']
    """
    plain = [written(name) for name in names]
    count = Counter(map(_key, plain))
    taken = {key for key, times in count.items() if times == 1}
    last: Counter[str] = Counter()
    made = []
    for name in plain:
        key = _key(name)
        chosen = name
        while count[key] > 1 and (chosen == name or _key(chosen) in taken):
            last[key] += 1
            chosen = f"{name}_{last[key]}"
        taken.add(_key(chosen))
        made.append(chosen)
    return made


def _key(name: str) -> str:
    return name.replace(".", "_")


def column_names(lowered: Lowered) -> list[str]:
    """Return the name of each column: ``x`` of an integer, ``a.start``, ``a.size``, ``a.presence`` of an interval.

    A column of a start on a grid is ``a.start_is_5``; other columns are named for what the lowering uses them, such as
    ``before_7``.
    """
    blocks = lowered.form.column_blocks
    names = _of_blocks(blocks, lowered.form.size["variables"])
    for x in lowered.model.integers:
        index: Any = lowered.columns(x)
        names[index] = x.name
    for v in lowered.model.intervals:
        columns: Any = lowered.columns(v)
        parts = {"presence": columns.presence, "start": columns.start, "size": columns.size}
        for part, k in parts.items():
            if k is not None:
                names[k] = f"{v.name}.{part}"
        for time, k in zip(columns.times, columns.cells, strict=False):
            names[k] = f"{v.name}.start_is_{time}"
    return distinct(names)


def row_names(lowered: Lowered) -> list[str]:
    """Return the name of each row: that of the constraint from which it comes, numbered if several do."""
    return distinct(_of_blocks(lowered.form.row_blocks, lowered.form.size["constraints"]))


def _of_blocks(blocks: Blocks, count: int) -> list[str]:
    """Return the name of the block of each index."""
    ends = [*blocks.first[1:], count]
    names = [""] * blocks.first[0] if blocks.first else [""] * count
    for name, first, end in zip(blocks.names, blocks.first, ends, strict=True):
        names += [name] * (end - first)
    return names
