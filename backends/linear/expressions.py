"""Expressions as columns and rows: a column v replaces each function (max, min, holds, overlap, element, piecewise)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from ...models.array_types import Floats
from ...models.language import Bounds, Comparison, Integer, Interval, Linear, Model
from ...models.language.bounds import Breakpoint, points_within
from ...models.language.constraints import expressions_of
from ...models.language.expressions import (
    Atom,
    Attribute,
    AttributeName,
    Element,
    Holds,
    Max,
    Min,
    Overlap,
    Piecewise,
    atoms_below,
)
from ..base import MissingConstruct
from ..exact_range import in_lowest_terms
from .constraints import Intervals
from .form import INF, Affine, FormBuilder, Point, column, one_hot

# --- Overlaps of one interval of fixed size with several time windows, as piecewise linear functions of its start.
#
# Data: an interval of size d that starts at s in ``[a, b]``, and windows ``[lo[w], hi[w])`` (all in seconds). The
# overlap with window w is ``f[w](s) = max(0, min(s + d, hi[w]) - max(s, lo[w]))`` if the interval is present, else 0.
#
# Let ``T[0] = a < T[1] < ... < T[n] = b`` be a, b and all times in between at which the interval starts or ends at an
# edge of a window (``s`` or ``s + d`` equals ``lo[w]`` or ``hi[w]``). On each piece ``[T[k], T[k+1]]`` each overlap is
# linear: ``f[w](s) = slope[w,k] s + const[w,k]``. Columns and rows, shared by all windows (multiple choice model
# [Croxton2003])::
#
#     y[k] in {0, 1}                            1 if the start lies in piece k, k = 0, ..., n-1
#     u[k]                                      the start if it lies in piece k, else 0
#     sum_k y[k] = p,  sum_k u[k] = s           p: the presence
#     T[k] y[k] <= u[k] <= T[k+1] y[k]          for each piece k
#     f[w] = sum_k (slope[w,k] u[k] + const[w,k] y[k])   for each window w
#
# With one piece (n = 1) ``f[w] = slope s + const p``; with one start (a = b) ``f[w] = f[w](a) p``; no columns are needed
# then. This is exact and has no big-M; its linear relaxation is the convex hull of the start together with all its
# overlaps.


class Overlaps:
    """The overlaps of a model; the columns of an interval are added when its first overlap is lowered."""

    def __init__(self, model: Model, form: FormBuilder, intervals: Intervals) -> None:
        self.model = model
        self.form = form
        self.intervals = intervals
        self._edges: dict[int, set[int]] | None = None
        self._pieces: dict[int, tuple[int, Floats]] = {}

    def lowered(self, atom: Atom, sides: int) -> Affine | None:
        """Return the overlap of an interval of fixed size as an expression over columns; None for any other atom."""
        if not isinstance(atom, Overlap) or atom.interval.size_lo != atom.interval.size_hi:
            return None
        v = atom.interval
        first, points = self._of(v)
        value = np.clip(np.minimum(points + v.size_lo, atom.hi) - np.maximum(points, atom.lo), 0, None)
        if len(points) == 2:  # linear in the start
            slope = (value[1] - value[0]) / (points[1] - points[0])
            at_zero = float(value[0] - slope * points[0])
            return self.intervals.view(v, "start").times(slope).plus(self.intervals.present(v).times(at_zero))
        if len(points) == 1:
            return self.intervals.present(v).times(float(value[0]))
        slope = np.diff(value) / np.diff(points)
        at_zero = value[:-1] - slope * points[:-1]
        terms = dict(enumerate(np.concatenate([at_zero, slope]).tolist(), first))
        return Affine({k: c for k, c in terms.items() if c})

    def _of(self, v: Interval) -> tuple[int, Floats]:
        """Return (column of y[0], T) of an interval; the columns u follow y. The column is -1 for n <= 1."""
        pieces = self._pieces.get(v.index)
        if pieces is None:
            pieces = self._pieces[v.index] = self._make(v)
        return pieces

    def _make(self, v: Interval) -> tuple[int, Floats]:
        """Add the columns y and u of an interval and their rows."""
        lo, hi = v.start_lo, v.start_hi
        turns = {t for edge in self._times(v) for t in (edge, edge - v.size_lo) if lo < t < hi}
        points = np.array(sorted({lo, hi, *turns}), dtype=np.float64)
        if len(points) <= 2:
            return -1, points
        n = len(points) - 1
        i = v.index
        form = self.form
        begin, end = points[:-1], points[1:]

        def chosen(p: Point) -> Floats:
            hot = np.zeros(n)
            if p.present[i]:
                hot[min(max(int(np.searchsorted(points, p.start[i], side="right")) - 1, 0), n - 1)] = 1.0
            return hot

        y = form.columns(n, 0, 1, integral=True, name="piece of a start", recipe=chosen)
        share = partial(_share, y=y, n=n, i=i)
        u = form.columns(n, np.minimum(begin, 0), np.maximum(end, 0), integral=False, name="start", recipe=share)
        form.row(Affine({y + k: 1.0 for k in range(n)}).plus(self.intervals.present(v), -1), 0, 0)
        form.row(Affine({u + k: 1.0 for k in range(n)}).plus(self.intervals.view(v, "start"), -1), 0, 0)
        for side, low, high in ((begin, 0.0, INF), (end, -INF, 0.0)):
            rows = np.arange(n) + form.rows(low, high, n)
            form.entries(rows, np.arange(u, u + n), 1)
            form.entries(rows, np.arange(y, y + n), -side)
        return y, points

    def _times(self, v: Interval) -> set[int]:
        """Return the edges of all windows whose overlap with the interval occurs in the model, in seconds."""
        if self._edges is None:
            self._edges = {}
            expressions = [e for _, c in self.model.constraints for e in expressions_of(c)]
            for atom in atoms_below([*expressions, *self.model.objectives]):
                if isinstance(atom, Overlap):
                    self._edges.setdefault(atom.interval.index, set()).update((atom.lo, atom.hi))
        return self._edges[v.index]


def _share(p: Point, y: int, n: int, i: int) -> Floats:
    """Return the values of the n columns u of interval i; ``y``: the column of y[0]."""
    product: Floats = p.x[y : y + n] * p.start[i]
    return product


GE = 1
LE = 2
BOTH = 3
View = Callable[[Interval, AttributeName], Affine]
Special = Callable[[Atom, int], Affine | None]


def no_linear_form(name: str) -> str:
    """Return the message on a construct of which the linear lowerings have no rows."""
    return f"{name} has no linear form; sl.compile and sl.solve replace it by constructs that have one"


def flipped(sides: int) -> int:
    """Return the sides needed of an operand that has a negative factor."""
    return (sides & GE) << 1 | (sides & LE) >> 1


class LinearExpressions:
    """The expressions of one model over one form.

    ``integers``: column of the first integer variable; ``view``: gives the attributes of intervals as columns;
    ``special``: a lowering's own form of a function (as a table of costs by start), or None for the general one.
    """

    def __init__(self, form: FormBuilder, integers: int, view: View, special: Special | None = None) -> None:
        self.form = form
        self.bounds = Bounds()
        self.integers = integers
        self.view = view
        self.special = special
        self._made: dict[Atom, tuple[Affine, int]] = {}

    def affine(self, e: Linear, sides: int = BOTH) -> Affine:
        """Return ``e`` as an expression over columns, whose functions have the rows of the given sides."""
        terms: dict[int, float] = {}
        constant = float(e.constant)
        for atom, c in e.terms.items():
            if isinstance(atom, Integer):
                k = self.integers + atom.index
                terms[k] = terms.get(k, 0.0) + c
                continue
            needed = 0
            if c != 0:
                needed = sides if c > 0 else flipped(sides)
            part = self._atom(atom, needed)
            constant += c * part.constant
            for k, v in part.terms.items():
                terms[k] = terms.get(k, 0.0) + c * v
        return Affine(terms, constant)

    def compare(self, c: Comparison) -> None:
        """Add the row ``lo <= expr <= hi`` of a comparison."""
        c = in_lowest_terms(c)
        sides = (GE if c.hi < INF else 0) | (LE if c.lo > -INF else 0)
        e = self.affine(c.expr, sides)
        if c.lo > c.hi:  # not every solver takes a row whose bounds are crossed
            self.form.row(e, c.lo, INF)
            self.form.row(e, -INF, c.hi)
        elif sides:
            self.form.row(e, c.lo, c.hi)

    def _atom(self, atom: Atom, sides: int) -> Affine:
        """Return an atom as columns; add the rows of those sides that it does not have yet."""
        if isinstance(atom, Attribute):
            return self.view(atom.interval, atom.field)
        made, done = self._made.get(atom, (None, 0))
        if made is None:
            made, done = self._begin(atom)
        missing = sides & ~done
        self._made[atom] = made, done | missing
        for side in (GE, LE):
            if missing & side:
                self._side(atom, made, side)
        return made

    def _begin(self, atom: Atom) -> tuple[Affine, int]:
        """Return a new expression for a function, and the sides whose rows it already has."""
        special = self.special(atom, BOTH) if self.special else None
        if special is not None:
            return special, BOTH
        lo, hi = self.bounds.of(atom)
        name = type(atom).__name__.lower()
        match atom:
            case Element():
                return self._element(atom), BOTH
            case Piecewise():
                return self._begin_piecewise(atom)
            case Max() | Min():
                parts = [self.affine(e, 0) for e in atom.operands]
                pick = max if isinstance(atom, Max) else min
                return self.form.value_column(lo, hi, name=name, recipe=lambda p: pick(e.value(p.x) for e in parts)), 0
            case Holds():
                c = in_lowest_terms(atom.comparison)
                part = self.affine(c.expr, 0)
                k = self.form.column(
                    0, 1, integral=True, name=name, recipe=lambda p: c.lo <= round(part.value(p.x)) <= c.hi
                )
            case Overlap():
                s = self.view(atom.interval, "start")
                e = self.view(atom.interval, "end")
                return self.form.value_column(
                    lo,
                    hi,
                    name=name,
                    recipe=lambda p: max(0.0, min(e.value(p.x), atom.hi) - max(s.value(p.x), atom.lo)),
                ), 0
            case _:
                raise MissingConstruct(no_linear_form(type(atom).__name__))
        return column(k), 0

    def _side(self, atom: Atom, made: Affine, side: int) -> None:
        match atom:
            case Max() | Min():
                self._extreme(atom, made, side)
            case Holds():
                (self._holds_implies if side == LE else self._implies_holds)(atom, made)
            case Overlap():
                self._overlap(atom, made, side)
            case Piecewise():
                self._piecewise_side(atom, made, side)

    def _extreme(self, atom: Max | Min, made: Affine, side: int) -> None:
        """Add the rows of one side of a max or min."""
        greatest = isinstance(atom, Max)
        sign = 1 if greatest else -1
        parts = [self.affine(e, side) for e in atom.operands]
        if (side == GE) == greatest:
            for part in parts:
                self.form.row(made.plus(part, -1).times(sign), 0, INF)
            return
        chosen = self._choice(
            len(parts), "which operand", lambda p: one_hot((e.value(p.x) for e in parts), greatest=greatest)
        )
        lo, hi = self.bounds.of(atom)
        for k, (part, e) in enumerate(zip(parts, atom.operands, strict=True)):
            a, b = self.bounds.of(e)
            slack = max(0.0, hi - a if greatest else b - lo)
            self.form.row(made.plus(part, -1).times(sign).plus(column(chosen + k), slack), -INF, slack)

    def _choice(self, count: int, name: str, recipe: Callable[..., object]) -> int:
        """Add ``count`` binary columns of which exactly one is 1; return the first."""
        first = self.form.columns(count, 0, 1, integral=True, name=name, recipe=recipe)
        self.form.row(Affine({first + k: 1.0 for k in range(count)}), 1, 1)
        return first

    def _limits(self, atom: Holds) -> tuple[float, float, float, float]:
        """Return the comparison's (lo, hi), infinite if they do not bind, and the bounds of its expression."""
        c = in_lowest_terms(atom.comparison)
        low, high = self.bounds.of(c.expr)
        return (c.lo if c.lo > low else -INF), (c.hi if c.hi < high else INF), low, high

    def _holds_implies(self, atom: Holds, made: Affine) -> None:
        """Add the rows for: if the column is 1, the comparison holds."""
        lo, hi, low, high = self._limits(atom)
        expr = in_lowest_terms(atom.comparison).expr
        if lo > -INF:
            e = self.affine(expr, LE)
            self.form.row(e.plus(made, low - lo), low, INF)
        if hi < INF:
            e = self.affine(expr, GE)
            self.form.row(e.plus(made, high - hi), -INF, high)

    def _implies_holds(self, atom: Holds, made: Affine) -> None:
        """Add the rows for: if the comparison holds, the column is 1."""
        lo, hi, low, high = self._limits(atom)
        expr = in_lowest_terms(atom.comparison).expr
        not_below = not_above = made
        if lo > -INF and hi < INF:
            part = self.affine(expr, 0)
            first = self.form.columns(
                2,
                0,
                1,
                integral=True,
                name="holds, sides",
                recipe=lambda p: [part.value(p.x) >= lo - 0.5, part.value(p.x) <= hi + 0.5],
            )
            not_below = column(first)
            not_above = column(first + 1)
            self.form.row(made.plus(not_below, -1).plus(not_above, -1), -1, INF)
        elif lo == -INF and hi == INF:
            self.form.row(made, 1, 1)
        if lo > -INF:
            self.form.row(self.affine(expr, GE).plus(not_below, -max(0.0, high - lo + 1)), -INF, lo - 1)
        if hi < INF:
            self.form.row(self.affine(expr, LE).plus(not_above, max(0.0, hi + 1 - low)), hi + 1, INF)

    def _overlap(self, atom: Overlap, made: Affine, side: int) -> None:
        """Add the rows of one side of an overlap."""
        v = atom.interval
        s = self.view(v, "start")
        e = self.view(v, "end")
        window = Affine({}, float(atom.hi - atom.lo))
        parts = [e.plus(Affine({}, -atom.lo)), s.times(-1).plus(Affine({}, atom.hi)), self.view(v, "size"), window]
        s_lo, s_hi = self.bounds.of(v.start)
        e_lo, e_hi = self.bounds.of(v.end)
        z_lo, z_hi = self.bounds.of(v.size)
        bounds = [
            (e_lo - atom.lo, e_hi - atom.lo),
            (atom.hi - s_hi, atom.hi - s_lo),
            (z_lo, z_hi),
            (window.constant,) * 2,
        ]
        if side == GE:
            chosen = self._choice(4, "which operand", lambda p: one_hot((q.value(p.x) for q in parts), greatest=False))
            for k, (part, (_, b)) in enumerate(zip(parts, bounds, strict=True)):
                slack = max(0.0, b)
                self.form.row(made.plus(part, -1).plus(column(chosen + k), -slack), -slack, INF)
            return
        some = self.form.column(
            0, 1, integral=True, name="overlap, some", recipe=lambda p: min(q.value(p.x) for q in parts) > 0
        )
        self.form.row(made.plus(column(some), -self.bounds.of(atom)[1]), -INF, 0)
        for part, (a, _) in zip(parts, bounds, strict=True):
            slack = max(0.0, -a)
            self.form.row(made.plus(part, -1).plus(column(some), slack), -INF, slack)

    def _element(self, atom: Element) -> Affine:
        """Add the rows of an element; return its value as an expression over columns."""
        index = self.affine(atom.operands[0])
        low, high = self.bounds.of(atom.operands[0])
        first = max(0, math.ceil(low))
        last = min(len(atom.array) - 1, math.floor(high))
        reach = range(first, last + 1)
        at = self._choice(
            len(reach), "element, index", lambda p: np.equal(np.arange(first, last + 1), round(index.value(p.x)))
        )
        self.form.row(index.plus(Affine({at + k: float(j) for k, j in enumerate(reach)}), -1), 0, 0)
        return Affine({at + k: float(atom.array[j]) for k, j in enumerate(reach)})

    def _begin_piecewise(self, atom: Piecewise) -> tuple[Affine, int]:
        """Return a piecewise function: a column without sides if it is convex or concave, else in full (BOTH)."""
        if not bending(self._points(atom)):
            return self._piecewise(atom), BOTH
        e = atom.operands[0]
        first = atom.points[0][0]
        last = atom.points[-1][0]
        low, high = self.bounds.of(e)
        sides = (LE if low < first else 0) | (GE if high > last else 0)
        x = self.affine(e, sides)
        if sides:
            self.form.row(x, first, last)
        at, values = np.array(atom.points, dtype=np.float64).T
        lo, hi = self.bounds.of(atom)
        return self.form.value_column(lo, hi, name="piecewise", recipe=lambda p: np.interp(x.value(p.x), at, values)), 0

    def _piecewise_side(self, atom: Piecewise, made: Affine, side: int) -> None:
        """Add the rows of one side of a convex or concave piecewise function."""
        points = self._points(atom)
        if side not in bending(points):
            self.form.row(made.plus(self._piecewise(atom), -1), *((0, INF) if side == GE else (-INF, 0)))
            return
        lo, hi = (0.0, INF) if side == GE else (-INF, 0.0)
        for (x0, y0), (x1, y1) in pairwise(points):
            slope = (y1 - y0) / (x1 - x0)
            # not slope e + (y0 - slope x0), which loses digits of late times
            segment = self.affine((atom.operands[0] - x0) * slope + y0, side)
            self.form.row(made.plus(segment, -1), lo, hi)

    def _piecewise(self, atom: Piecewise) -> Affine:
        """Add the binaries and weights of a piecewise function; return its value as an expression over columns."""
        reached = self._points(atom)
        first = reached[0][0]  # x is counted from it: as a coefficient, a time since 1970 lost optima
        x = self.affine(atom.operands[0] - first)
        points = np.array([p[0] - first for p in reached], dtype=np.float64)
        n = len(points)
        segment = self._choice(n - 1, "piecewise, segment", lambda p: _segment(points, x.value(p.x)))
        weight = self.form.columns(
            n, 0, 1, integral=False, name="piecewise, weight", recipe=lambda p: _weights(points, x.value(p.x))
        )
        self.form.row(Affine({weight + k: 1.0 for k in range(n)}), 1, 1)
        self.form.row(x.plus(Affine({weight + k: float(points[k]) for k in range(n)}), -1), 0, 0)
        for k in range(n):
            ends = {segment + j: -1.0 for j in (k - 1, k) if 0 <= j < n - 1}
            self.form.row(Affine({weight + k: 1.0, **ends}), -INF, 0)
        return Affine({weight + k: float(y) for k, (_, y) in enumerate(reached)})

    def _points(self, atom: Piecewise) -> tuple[Breakpoint, ...]:
        """Return the points of a piecewise function within the bounds of its x."""
        return points_within(atom.points, *self.bounds.of(atom.operands[0]))


def bending(points: Sequence[Breakpoint]) -> tuple[int, ...]:
    """Return the sides that need no binaries: GE if the function through the points is convex, LE if it is concave.

    Examples
    --------
    >>> bending([(0, 0), (4, 1), (9, 8)]) == (GE,)
    True
    """
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]
    convex = all(a <= b for a, b in pairwise(slopes))
    concave = all(a >= b for a, b in pairwise(slopes))
    return (GE,) * convex + (LE,) * concave


def _segment(points: np.ndarray, x: float) -> np.ndarray:
    """Return an array with 1 at the segment that contains x, else 0."""
    hot = np.zeros(len(points) - 1)
    hot[min(max(int(np.searchsorted(points, x, side="right")) - 1, 0), len(points) - 2)] = 1.0
    return hot


def _weights(points: np.ndarray, x: float) -> np.ndarray:
    """Return the weight of each point, so that the weighted sum of the points is x."""
    k = int(np.argmax(_segment(points, x)))
    share = (x - points[k]) / (points[k + 1] - points[k])
    weights = np.zeros(len(points))
    weights[k] = 1.0 - share
    weights[k + 1] = share
    return weights
