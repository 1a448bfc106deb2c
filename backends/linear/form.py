"""A mixed-integer linear program as sparse arrays, the builder that fills them, and the range within which it is accurate."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SolverUnavailable
from ...models.array_types import Floats, Ints
from ...models.language import Assignment, Model
from ...models.long_calls import look
from ...models.words import with_short_repr
from ..base import variable_sizes

# --- A mixed-integer linear program as sparse arrays, and the builder that fills the arrays block by block.
#
# Each column is added together with a *recipe*: a function that computes the column's value from an assignment and from
# the columns added before it. So a warm start gives a value to every column, auxiliary columns included.

INF = math.inf
MODERATE = 2.0**27  # greatest value in the column of a function, in the unit of the column
SHORT = 1_000  # entries that are copied one array behind the other, so that there are not millions of arrays
ENTRIES_PER_SECOND = 1e7  # non-zeros that are computed, sorted or passed to HiGHS per second


@dataclass(frozen=True, slots=True)
class Affine:
    """A linear expression ``sum(coefficient * column) + constant``; ``terms`` maps column index to coefficient."""

    terms: dict[int, float]
    constant: float = 0.0

    def plus(self, other: Affine, factor: float = 1.0) -> Affine:
        """Return ``self + factor * other``."""
        terms = dict(self.terms)
        for column, c in other.terms.items():
            terms[column] = terms.get(column, 0.0) + factor * c
        return Affine(terms, self.constant + factor * other.constant)

    def times(self, factor: float) -> Affine:
        """Return ``factor * self``."""
        return Affine({column: factor * c for column, c in self.terms.items()}, factor * self.constant)

    def value(self, x: Floats) -> float:
        """Return the value for the column values ``x``."""
        return self.constant + math.fsum(c * x[column] for column, c in self.terms.items())


def column(index: int) -> Affine:
    """Return the expression that consists of one column with coefficient 1."""
    return Affine({index: 1.0})


class Point:
    """An assignment as arrays over the model's intervals and integers, and the column values ``x`` computed so far."""

    def __init__(self, assignment: Assignment, columns: int) -> None:
        self.start = np.array(assignment.start, dtype=np.int64)
        self.end = np.array(assignment.end, dtype=np.int64)
        self.present = np.array(assignment.present, dtype=bool)
        self.integer = np.array(assignment.integer, dtype=np.int64)
        self.x = np.zeros(columns)


Recipe = Callable[[Point], Any]


@dataclass(frozen=True)
class Blocks:
    """Names of consecutive blocks of rows or columns.

    Attributes
    ----------
    first : list of int
        Index of the first row (column) of each block, in increasing order.
    names : list of str
        Name of each block.
    """

    first: list[int]
    names: list[str]

    def name(self, index: int) -> str:
        """Return the name of the block that contains an index."""
        return self.names[bisect_right(self.first, index) - 1]


@with_short_repr
@dataclass(eq=False)
class LinearForm:
    """A mixed-integer linear program with m rows, n columns and k non-zeros.

    It stands for::

        minimize (or maximize)  cost @ x + offset
        subject to              row_lo <= A x <= row_hi,  column_lo <= x <= column_hi

    Attributes
    ----------
    cost : array of shape (n,)
        Objective coefficient of each column.
    offset : float
        Constant of the objective.
    maximize : bool
        True if the objective is maximized.
    column_lo, column_hi : arrays of shape (n,)
        Bounds of the columns; -inf or inf for none.
    integral : array of shape (n,)
        1 for a column that must be a whole number, else 0.
    row_lo, row_hi : arrays of shape (m,)
        Bounds of the rows; -inf or inf for none.
    start : array of shape (m + 1,)
        The entries of row i of A are ``index[start[i]:start[i + 1]]`` and ``value[start[i]:start[i + 1]]``.
    index : array of shape (k,)
        Column of each entry.
    value : array of shape (k,)
        Coefficient of each entry.
    column_blocks : Blocks
        Names of the columns.
    row_blocks : Blocks
        For each row the name of the model's constraint that it comes from.
    """

    cost: Floats
    offset: float
    maximize: bool
    column_lo: Floats
    column_hi: Floats
    integral: NDArray[np.int32]
    row_lo: Floats
    row_hi: Floats
    start: NDArray[np.int32]
    index: NDArray[np.int32]
    value: Floats
    column_blocks: Blocks
    row_blocks: Blocks

    @property
    def size(self) -> dict[str, int]:
        """The numbers of variables (columns), constraints (rows) and non-zeros."""
        return {"variables": len(self.cost), "constraints": len(self.row_lo), "nonzeros": len(self.value)}

    def row_scales(self) -> Floats:
        """Return one power of two per row that reduces its greatest coefficient to about the square root of it.

        Tolerances are absolute, and rows have big-M constants of 1e5 and sums of 1e6 core-seconds. Without this scaling
        HiGHS 1.14 lost optima, most of them because of the tight tolerance of integrality at that time (see
        ``highs.run.INTEGRALITY``).
        """
        greatest = np.maximum(1.0, _by_row(np.maximum, np.abs(self.value), self.start, 0.0))
        scales: Floats = np.exp2(-np.floor(np.log2(greatest) / 2))
        return scales

    def slack(self, tolerance: float) -> Floats:
        """Return for each row how far it can be off if each of its columns is off by a tolerance; shape (m,)."""
        rows = np.repeat(np.arange(len(self.row_lo)), np.diff(self.start))
        return np.asarray(
            np.bincount(rows, tolerance * np.abs(self.value), minlength=len(self.row_lo)), dtype=np.float64
        )

    def scaled_values(self, scales: Floats) -> Floats:
        """Return the coefficients, each multiplied by the scale of its row."""
        if np.all(scales == 1.0):
            return self.value
        scaled: Floats = self.value * np.repeat(scales, np.diff(self.start))
        return scaled

    def violation(self, x: Floats) -> tuple[float, str]:
        """Return the greatest violation of a row or column bound at ``x`` and the name of its block, or (0, "")."""
        rows = np.repeat(np.arange(len(self.row_lo)), np.diff(self.start))
        level = np.bincount(rows, weights=self.value * x[self.index], minlength=len(self.row_lo))
        worst = (0.0, "")
        for values, lo, hi, blocks in (
            (level, self.row_lo, self.row_hi, self.row_blocks),
            (x, self.column_lo, self.column_hi, self.column_blocks),
        ):
            if len(values):
                amount = np.maximum(lo - values, values - hi)
                k = int(np.argmax(amount))
                if amount[k] > worst[0]:
                    worst = float(amount[k]), blocks.name(k)
        return worst


class FormBuilder:
    """A collector of columns and rows; ``build`` assembles them into a ``LinearForm``.

    Examples
    --------
    >>> b = FormBuilder()
    >>> x = b.columns(2, 0, 1, integral=True, name="x", recipe=lambda p: [1, 0])
    >>> b.row(Affine({x: 1, x + 1: 1}, 3), 4, 4)
    >>> b.build(Affine({x: 2}), maximize=False).size
    {'variables': 2, 'constraints': 1, 'nonzeros': 2}
    """

    def __init__(self) -> None:
        self.n_columns = 0
        self.n_rows = 0
        self._lo = array("d")
        self._hi = array("d")
        self._integral = array("i")
        self._row_lo = array("d")
        self._row_hi = array("d")
        self._row = _Growing("i")
        self._column = _Growing("i")
        self._value = _Growing("d")
        self._recipes: list[tuple[int, int, Recipe]] = []
        self._column_blocks = Blocks([], [])
        self._row_blocks = Blocks([], [])

    def name_rows(self, name: str) -> None:
        """Set the name of the constraint to which the rows added from now on belong."""
        self._row_blocks.first.append(self.n_rows)
        self._row_blocks.names.append(name)

    def columns(self, count: int, lo: ArrayLike, hi: ArrayLike, *, integral: bool, name: str, recipe: Recipe) -> int:
        """Add ``count`` columns and return the index of the first.

        Parameters
        ----------
        count : int
            Number of columns.
        lo, hi : array-like, scalar or shape (count,)
            Bounds of the columns.
        integral : bool
            Whether the columns must be whole numbers.
        name : str
            Name of this block of columns.
        recipe : callable
            Takes a ``Point`` and returns the values of the columns, shape (count,) or a scalar.

        Returns
        -------
        int
            Index of the first new column; the others follow it.
        """
        first = self.n_columns
        for store, bound in ((self._lo, lo), (self._hi, hi)):
            _extend(store, np.broadcast_to(np.asarray(bound, dtype=np.float64), count))
        _extend(self._integral, np.full(count, int(integral), dtype=np.int32))
        self._recipes.append((first, first + count, recipe))
        self._column_blocks.first.append(first)
        self._column_blocks.names.append(name)
        self.n_columns += count
        return first

    def column(self, lo: float, hi: float, *, integral: bool, name: str, recipe: Recipe) -> int:
        """Add one column and return its index. Parameters as in ``columns``."""
        self._lo.append(lo)
        self._hi.append(hi)
        self._integral.append(int(integral))
        self._recipes.append((self.n_columns, self.n_columns + 1, recipe))
        self._column_blocks.first.append(self.n_columns)
        self._column_blocks.names.append(name)
        self.n_columns += 1
        return self.n_columns - 1

    def value_column(self, lo: float, hi: float, *, name: str, recipe: Recipe) -> Affine:
        """Add a column for the value of a function, in a unit that keeps it moderate; return the value.

        HiGHS lost optima, and called feasible models infeasible, where a column of 3e10 stood beside 0/1 columns.
        """
        unit = unit_for(lo, hi)
        k = self.column(lo / unit, hi / unit, integral=False, name=name, recipe=lambda p: recipe(p) / unit)
        return Affine({k: unit})

    def row(self, e: Affine, lo: float, hi: float) -> None:
        """Add the row ``lo <= e <= hi``; the constant of ``e`` is subtracted from both bounds."""
        self._row_lo.append(lo - e.constant)
        self._row_hi.append(hi - e.constant)
        for c, v in e.terms.items():
            if v:
                self._row.append(self.n_rows)
                self._column.append(c)
                self._value.append(v)
        self.n_rows += 1

    def rows(self, lo: ArrayLike, hi: ArrayLike, count: int) -> int:
        """Add ``count`` rows without entries and return the index of the first; ``entries`` adds the entries."""
        for store, bound in ((self._row_lo, lo), (self._row_hi, hi)):
            _extend(store, np.broadcast_to(np.asarray(bound, dtype=np.float64), count))
        self.n_rows += count
        return self.n_rows - count

    def entries(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> None:
        """Add entries of the matrix, each (row, column) at most once. ``values`` may be one number for all entries.

        Long arrays are kept as they are; the caller may not change them any more.
        """
        look()
        r = np.asarray(rows, dtype=np.int32)
        self._row.extend(r)
        self._column.extend(np.asarray(columns, dtype=np.int32))
        self._value.extend(np.broadcast_to(np.asarray(values, dtype=np.float64), r.shape))

    def values(self, assignment: Assignment) -> Floats:
        """Return the value of every column for an assignment."""
        point = Point(assignment, self.n_columns)
        for first, last, recipe in self._recipes:
            point.x[first:last] = recipe(point)
        return point.x

    def build(self, objective: Affine, *, maximize: bool) -> LinearForm:
        """Return the linear program with all rows and columns added so far."""
        rows = self._row.joined()
        look(len(rows) / ENTRIES_PER_SECOND)
        cost = np.zeros(self.n_columns)
        for c, v in objective.terms.items():
            cost[c] = v
        order = _stable_order(rows)
        start = np.zeros(self.n_rows + 1, dtype=np.int32)
        np.cumsum(np.bincount(rows, minlength=self.n_rows), out=start[1:])
        return LinearForm(
            cost=cost,
            offset=objective.constant,
            maximize=maximize,
            column_lo=np.array(self._lo),
            column_hi=np.array(self._hi),
            integral=np.array(self._integral, dtype=np.int32),
            row_lo=np.array(self._row_lo),
            row_hi=np.array(self._row_hi),
            start=start,
            index=self._column.joined()[order],
            value=self._value.joined()[order],
            column_blocks=self._column_blocks,
            row_blocks=self._row_blocks,
        )


def unit_for(lo: float, hi: float) -> float:
    """Return the least power of two, from 1 on, in which finite bounds of a value are at most ``MODERATE``.

    Examples
    --------
    >>> unit_for(-5, 7), unit_for(0, 2.0**30), unit_for(0, math.inf)
    (1.0, 8.0, 1.0)
    """
    greatest = max(abs(lo), abs(hi))
    if not MODERATE < greatest < INF:
        return 1.0
    return float(2.0 ** math.ceil(math.log2(greatest / MODERATE)))


class _Growing:
    """An array that grows by single values and by arrays."""

    def __init__(self, kind: str) -> None:
        self._whole: list[NDArray[Any]] = []
        self._last: array[Any] = array(kind)
        self.append = self._last.append

    def extend(self, values: NDArray[Any]) -> None:
        if len(values) <= SHORT:
            _extend(self._last, values)
            return
        self._end_last()
        self._whole.append(values)

    def joined(self) -> NDArray[Any]:
        """Return all values, in the order in which they were added."""
        self._end_last()
        return np.concatenate(self._whole)

    def _end_last(self) -> None:
        self._whole.append(np.array(self._last))
        del self._last[:]


def _extend(store: array[Any], values: NDArray[Any]) -> None:
    store.frombytes(np.ascontiguousarray(values).view(np.uint8).data)


def _stable_order(keys: NDArray[np.int32]) -> Any:
    """Return a stable sorting order of the keys.

    The keys are sorted by their low and then by their high 16 bits, because NumPy's stable sort of 16-bit integers is
    a radix sort.
    """
    if not len(keys) or np.all(keys[1:] >= keys[:-1]):
        return slice(None)
    low = np.argsort((keys & 0xFFFF).astype(np.uint16), kind="stable")
    if keys.max() < 1 << 16:
        return low
    return low[np.argsort((keys >> 16).astype(np.uint16)[low], kind="stable")]


def ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the ranges ``first[i]:last[i]`` one after another, as (i of each element, the element).

    Examples
    --------
    >>> ranges(np.array([3, 7]), np.array([5, 8]))
    (array([0, 0, 1]), array([3, 4, 7]))
    """
    counts = np.maximum(last - first, 0)
    owner = np.repeat(np.arange(len(counts)), counts)
    begin = np.cumsum(counts) - counts
    return owner, np.arange(int(counts.sum())) - begin[owner] + first[owner]


def _by_row(ufunc: np.ufunc, values: NDArray[Any], start: NDArray[np.int32], empty: Any) -> NDArray[Any]:
    """Return the values of each row reduced by a function; ``empty`` for rows without entries."""
    reduced = np.full(len(start) - 1, empty)
    filled = np.flatnonzero(np.diff(start))  # for the others, reduceat would return a value of the next row
    if len(filled):
        reduced[filled] = ufunc.reduceat(values, start[filled])
    return reduced


def one_hot(values: Iterable[float], *, greatest: bool) -> Floats:
    """Return an array with 1 at the greatest (or least) of the values and 0 elsewhere."""
    given = np.fromiter(values, dtype=np.float64)
    hot = np.zeros(len(given))
    if len(given):
        hot[np.argmax(given) if greatest else np.argmin(given)] = 1.0
    return hot


# --- Limits on the numbers of a linear form within which a floating-point solver is accurate; larger forms are refused.
#
# Such solvers compute in double precision with absolute tolerances. Measured with HiGHS 1.12 on models with 3 and 4
# intervals:
#
# - Column values above 2^31: the solver does not terminate.
# - Coefficient ratios: a binary column with integrality tolerance 1e-6 and coefficient M gives its row a slack of 1e-6 M.
#   With M = 1e8 and other coefficients of 1, most answers violate a row; with M = 1e9 optima are lost, too. Only rows
#   whose coefficients are all whole numbers are checked: in other rows the least coefficient does not show which accuracy
#   the row needs.
# - Parts of a row (coefficient times greatest value of its column) that differ by more than 1e9, in rows that are not
#   whole: feasible models were called infeasible where a piecewise-linear function had points of -2 and of 4e9.
# - Row sums above 2^53 are not exact in double precision.

LARGEST_COLUMN = 2.0**31
LARGEST_RATIO = 1e7  # coefficient of an integral column / least coefficient of its row
LARGEST_SPREAD = 1e9  # greatest part / least part of a row with other than whole numbers
LARGEST_SUM = 2.0**53


def require_range(model: Model, form: LinearForm, solver: str) -> None:
    """Check that the numbers of a model and of its linear form are within the limits.

    Parameters
    ----------
    model : Model
        The model; its variables are checked.
    form : LinearForm
        The linear form of the model, with integral columns; its rows are checked.
    solver : str
        Name of the solver for the error message.

    Raises
    ------
    SolverUnavailable
        If a limit is exceeded; the message names the first such variable or constraint.
    """
    for name, greatest in variable_sizes(model):
        if greatest > LARGEST_COLUMN:
            raise _refusal(solver, name, f"values up to {float(greatest):.3g}", LARGEST_COLUMN)
    size = np.abs(form.value)
    if not len(size):
        return
    largest = float(size.max())
    least = float(size.min(initial=np.inf, where=size > 0))
    if largest > LARGEST_RATIO * least:
        _require_ratios(form, size, solver)
    reach = np.maximum(np.abs(form.column_lo), np.abs(form.column_hi))
    reach[~np.isfinite(reach)] = 0.0
    furthest = float(reach.max())
    nearest = float(reach.min(initial=np.inf, where=reach > 0))
    if largest * furthest > LARGEST_SPREAD * least * nearest:
        _require_spread(form, size * reach[form.index], solver)
    if largest * furthest * int(np.diff(form.start).max()) > LARGEST_SUM:
        total = _by_row(np.add, size * reach[form.index], form.start, 0.0)
        k = int(total.argmax())
        if total[k] > LARGEST_SUM:
            raise _refusal(solver, form.row_blocks.name(k), f"sums up to {total[k]:.3g}", LARGEST_SUM)


def _require_ratios(form: LinearForm, size: Floats, solver: str) -> None:
    """Check the ratio of coefficients in each row; ``size``: absolute value of each entry."""
    least = _by_row(np.minimum, np.where(size > 0, size, np.inf), form.start, np.inf)
    whole = _by_row(np.logical_and, form.value == np.rint(form.value), form.start, True)
    greatest = _by_row(np.maximum, np.where(form.integral[form.index] > 0, size, 0.0), form.start, 0.0)
    ratio = np.where(whole, greatest / least, 0.0)
    k = int(ratio.argmax())
    if ratio[k] > LARGEST_RATIO:
        raise _refusal(solver, form.row_blocks.name(k), f"ratios of coefficients up to {ratio[k]:.3g}", LARGEST_RATIO)


def _require_spread(form: LinearForm, part: Floats, solver: str) -> None:
    """Check how far the parts of each row differ that is not whole; ``part``: greatest absolute value of each entry."""
    smallest = _by_row(np.minimum, np.where(part > 0, part, np.inf), form.start, np.inf)
    greatest = _by_row(np.maximum, part, form.start, 0.0)
    fractional = (form.integral[form.index] == 0) | (form.value != np.rint(form.value))
    spread = np.where(_by_row(np.logical_or, fractional, form.start, False), greatest / smallest, 0.0)
    k = int(spread.argmax())
    if spread[k] > LARGEST_SPREAD:
        raise _refusal(
            solver, form.row_blocks.name(k), f"numbers that differ by a factor of {spread[k]:.3g}", LARGEST_SPREAD
        )


def _refusal(solver: str, name: str, what: str, limit: float) -> SolverUnavailable:
    return SolverUnavailable(
        f"{name}: {what} are beyond the limit of {limit:.3g} for accurate answers of {solver}; "
        "use coarser units, a shorter horizon or smaller coefficients"
    )


# --- A valid bound of a linear program from inexact dual values.
#
# For the linear relaxation ``min cost @ x + offset`` subject to ``row_lo <= A x <= row_hi``,
# ``column_lo <= x <= column_hi`` and any vector y of row duals, weak duality gives the bound (Lagrangian relaxation of
# all rows)::
#
#     d = cost - A' y                                   (reduced costs)
#     side[r] = row_lo[r] if y[r] > 0 else row_hi[r]    for each row r; y[r] = 0 if that side is infinite
#     box[j] = column_lo[j] if d[j] > 0 else column_hi[j]    for each column j
#     bound = sum_r y[r] side[r] + sum_j d[j] box[j] + offset
#
# No row has to be satisfied and y need not be optimal, so the tolerances of the solver do not make the bound false. For
# a maximization the signs of cost, y and bound are reversed. Source: [Neumaier2004] (A. Neumaier, O. Shcherbina: "Safe
# bounds in linear and mixed-integer programming").


def safe_bound(form: LinearForm, row_dual: Floats) -> float | None:
    """Return a bound on the optimum of the linear relaxation that is valid for any dual values.

    Parameters
    ----------
    form : LinearForm
        The linear program.
    row_dual : array of shape (number of rows,)
        Dual value of each row, in the sign convention of HiGHS (the reduced costs are ``cost - A' y``).

    Returns
    -------
    float or None
        A lower bound for a minimization, an upper bound for a maximization. None if a reduced cost selects an
        infinite column bound, so that the Lagrangian bound is infinite.
    """
    sign = 1.0
    if form.maximize:
        sign = -1.0
    y = sign * np.asarray(row_dual, dtype=np.float64)
    side = np.where(y > 0, form.row_lo, form.row_hi)
    y = np.where(np.isinf(side), 0.0, y)
    rows = np.repeat(np.arange(len(form.row_lo)), np.diff(form.start))
    reduced = sign * form.cost - np.bincount(form.index, weights=form.value * y[rows], minlength=len(form.cost))
    box = np.where(reduced > 0, form.column_lo, form.column_hi)
    used = np.abs(reduced) > 0
    if np.isinf(box[used]).any():
        return None
    # 1e-12 (relative) covers the rounding errors of these two sums
    total = float(y @ np.where(y != 0, side, 0.0)) + float(reduced[used] @ box[used])
    return sign * (total - 1e-12 * (1.0 + abs(total))) + form.offset
