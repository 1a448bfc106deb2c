"""A model as integer variables and linear comparisons alone, made by the pairwise lowering of ``backends.linear``.

All columns of that lowering take whole values, except those of functions with real values (a max of real operands, a
piecewise-linear function, an element of an array with real entries). These functions are replaced by choices before
(``functions``). So every column becomes an integer variable, and every row a comparison, with whole coefficients
wherever those of the row are whole.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import LoweringTooLarge, SolverUnavailable
from ...models.deadline import look
from ...models.language import Assignment, Comparison, Integer, Interval, Linear, Model, NamedConstraint
from ...models.language.expressions import Atom
from ...models.language.quantities import Number
from ..exact_range import require_range
from ..linear.form import LinearForm
from ..linear.lowering import lower
from .constructs import Construct, atoms_of
from .decomposition import Variables
from .expressions import Functions

LARGEST = 2.0**53  # the lowering computes in double precision
MAX_NONZEROS = 5_000_000  # about 1 GB of Python objects
REAL_FUNCTIONS = frozenset([Construct.MAX, Construct.MIN, Construct.ELEMENT, Construct.PIECEWISE])


class LinearModel:
    """A model that has only integer variables and linear comparisons, and the conversion of assignments.

    Parameters
    ----------
    origin : Model
        The model. It is not changed.

    Attributes
    ----------
    model : Model
        The linear model; its comparisons have the names of the constraints that they come from.
    """

    notes: tuple[str, ...] = ("lowering pairwise",)

    def __init__(self, origin: Model) -> None:
        require_range(origin, "the decomposition to linear comparisons", LARGEST, "it computes in double precision")
        self._before = Functions(origin, REAL_FUNCTIONS, real_only=True) if _has_real_functions(origin) else None
        source = origin if self._before is None else self._before.model
        try:
            self._lowered = lower(source, lowering="pairwise", max_nonzeros=MAX_NONZEROS)
        except LoweringTooLarge as e:
            advice = "use a backend that has interval variables"
            raise LoweringTooLarge(e.rows, e.columns, e.nonzeros, MAX_NONZEROS, advice) from None
        self.model = _model_of(self._lowered.form, origin)

    def forward(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the linear model for one of the original."""
        made = Assignment(self.model)
        inner = assignment if self._before is None else self._before.forward(assignment)
        values = np.rint(self._lowered.hint(inner)).astype(np.int64).tolist()
        made.integer = values + [0] * (len(self.model.integers) - len(values))
        return made

    def back(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the original for one of the linear model."""
        solution = self._lowered.read(np.array(assignment.integer, dtype=np.float64))
        return solution if self._before is None else self._before.back(solution)

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective, which is the same."""
        return value

    def variables(self, x: Integer | Interval) -> Variables:
        """Return the integer variable of an integer; of an interval a dict of its "presence", "start" and "size".

        Parts that are constant have no variable.
        """
        inner = x
        if self._before is not None:
            inner = self._before.integers[x] if isinstance(x, Integer) else self._before.intervals[x]
        columns = self._lowered.columns(inner)
        of = self.model.integers
        if isinstance(columns, int):
            return of[columns]
        one = {"presence": columns.presence, "start": columns.start, "size": columns.size}
        return {name: of[k] for name, k in one.items() if k is not None}


def linear_model(model: Model) -> LinearModel:
    """Return a model as integer variables and linear comparisons alone.

    Parameters
    ----------
    model : Model
        The model. It is not changed.

    Returns
    -------
    LinearModel
        ``model`` is the linear model, ``back`` and ``forward`` convert assignments.

    Raises
    ------
    LoweringTooLarge
        If the linear model would be too large; nothing is built then.
    SolverUnavailable
        If its numbers would be too large for double precision.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b]), "one at a time"); m.minimize(sl.max([a.end, b.end]))
    >>> made = linear_model(m)
    >>> made.model
    Model('two jobs': 0 intervals, 5 integers, 5 constraints)
    >>> made.back(made.forward(sl.Assignment(m, {a: 4, b: 0})))
    Assignment(a: 4..7, b: 0..4)
    """
    return LinearModel(model)


def _has_real_functions(model: Model) -> bool:
    return any(not a.integral for a in atoms_of(model))


def _model_of(form: LinearForm, origin: Model) -> Model:
    """Return the model whose integer variables are the columns of a form, and whose comparisons are its rows."""
    m = Model(origin.name, 0)
    for k, (lo, hi) in enumerate(zip(form.column_lo.tolist(), form.column_hi.tolist(), strict=True)):
        m.integer(f"{form.column_blocks.name(k)} {k}", math.ceil(lo), math.floor(hi))
    x = list(m.integers)
    start = form.start.tolist()
    index = form.index.tolist()
    value = _numbers(form.value.tolist())
    for i, (lo, hi) in enumerate(zip(form.row_lo.tolist(), form.row_hi.tolist(), strict=True)):
        look()
        entries = range(start[i], start[i + 1])
        terms: dict[Atom, Number] = {x[index[k]]: value[k] for k in entries}
        name = form.row_blocks.name(i)
        if terms:
            _require_exact(terms, name)
            m.constraints.append(NamedConstraint(name, Comparison(Linear(terms), _side(lo), _side(hi))))
        elif not lo <= 0 <= hi:
            m.constraints.append(NamedConstraint(name, m.integer("never", 0, 0) >= 1))
    if origin.objectives:
        cost = _numbers(form.cost.tolist())
        objective = Linear({x[k]: c for k, c in enumerate(cost) if c}, _side(form.offset))
        m.maximize(objective) if form.maximize else m.minimize(objective)
    return m


def _require_exact(terms: dict[Atom, Number], name: str) -> None:
    reach = sum(abs(c) * max(abs(x.lo), abs(x.hi)) for x, c in terms.items() if isinstance(x, Integer))
    if reach > LARGEST:
        raise SolverUnavailable(
            f"{name}: a linear comparison reaches {float(reach):.3g}, beyond {LARGEST:.3g}, which is computed exactly; "
            "use smaller units or coefficients"
        )


def _side(x: float) -> Number:
    return int(x) if x.is_integer() else x


def _numbers(values: list[float]) -> list[Number]:
    return [_side(v) for v in values]
