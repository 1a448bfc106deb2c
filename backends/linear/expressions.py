"""Expressions as columns and rows: a column v replaces each function (max, min, holds, overlap, element, piecewise).

Let f be the function's value, ``e[k]`` its operands, and ``lo, hi`` the bounds of an expression or column from
``Bounds`` (interval arithmetic); all big-M constants are computed from them. Rows are added only for the *sides* that
are needed: ``GE`` gives ``v >= f``, ``LE`` gives ``v <= f``. In a row ``a v + ... <= b`` with ``a > 0`` the side GE is
enough: ``v = f`` is always allowed, and ``v >= f`` keeps the row true for f. So each function is exact. A negative
factor swaps the sides. A side that a later row needs is added then. Rows, where all new columns c are binary:

Max (min: reversed inequalities, GE and LE swapped); ``M[k] = max(0, hi(v) - lo(e[k]))``, for min
``max(0, hi(e[k]) - lo(v))``::

    GE: v >= e[k]                         for each operand k
    LE: sum_k c[k] = 1,  v <= e[k] + M[k] (1 - c[k])    for each operand k

Holds: v binary, 1 if and only if ``A <= e <= B`` for an integer expression e. A or B may be absent, and with it its
rows; then v takes the place of the other c. If both are absent, v = 1::

    LE: e >= lo(e) + (A - lo(e)) v,  e <= hi(e) - (hi(e) - B) v
    GE: e <= A - 1 + max(0, hi(e) - A + 1) c[1],  e >= B + 1 - max(0, B + 1 - lo(e)) c[2],  v >= c[1] + c[2] - 1

Overlap of an interval (start s, end e, size z) with the window ``[A, B)``: ``f = max(0, g)``, where g is the least of
the parts ``g[1..4] = e - A, B - s, z, B - A``; v >= 0::

    GE: sum_q c[q] = 1,  v >= g[q] - max(0, hi(g[q])) (1 - c[q])    for q = 1..4
    LE: v <= hi(v) c,  v <= g[q] + max(0, -lo(g[q])) (1 - c)        for q = 1..4, one c

Element of an array A at index e (infeasible outside the array), with J the indices within both A and the bounds of e::

    sum_{j in J} c[j] = 1,  sum_{j in J} j c[j] = e,  v = sum_{j in J} A[j] c[j]

Piecewise with points ``(x[k], y[k])``, k = 0..n, at e (infeasible outside ``[x[0], x[n]]``), with weights w >= 0; points
outside of the bounds of e are left out, and those at its bounds are added::

    sum_{k<n} c[k] = 1,  sum_k w[k] = 1,  sum_k (x[k] - x[0]) w[k] = e - x[0],  v = sum_k y[k] w[k]
    w[k] <= c[k-1] + c[k]    for each point k, where c[-1] = c[n] = 0

If it is convex, the side GE needs no binaries: ``x[0] <= e <= x[n]`` and ``v >= y[k] + slope[k] (e - x[k])`` for each
segment k; if it is concave, the same holds for LE with ``<=``. The other side then is v <= (or >=) the sum of
``y[k] w[k]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ...errors import WrongArgument
from ...models.language import Bounds, Comparison, Integer, Interval, Linear
from ...models.language.bounds import Point, points_within
from ...models.language.expressions import Atom, Attribute, AttributeName, Element, Holds, Max, Min, Overlap, Piecewise
from ..lowest_terms import in_lowest_terms
from .form import INF, Affine, FormBuilder, column, one_hot

GE, LE, BOTH = 1, 2, 3
View = Callable[[Interval, AttributeName], Affine]
Special = Callable[[Atom, int], Affine | None]


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
            part = self._atom(atom, sides if c > 0 else flipped(sides) if c < 0 else 0)
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
                k = self.form.column(
                    lo, hi, integral=False, name=name, recipe=lambda p: pick(e.value(p.x) for e in parts)
                )
            case Holds():
                c = in_lowest_terms(atom.comparison)
                part = self.affine(c.expr, 0)
                k = self.form.column(
                    0, 1, integral=True, name=name, recipe=lambda p: c.lo <= round(part.value(p.x)) <= c.hi
                )
            case Overlap():
                s, e = self.view(atom.interval, "start"), self.view(atom.interval, "end")
                k = self.form.column(
                    lo,
                    hi,
                    integral=False,
                    name=name,
                    recipe=lambda p: max(0.0, min(e.value(p.x), atom.hi) - max(s.value(p.x), atom.lo)),
                )
            case _:
                raise WrongArgument(f"the function {type(atom).__name__} has no linear form")
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
            not_below, not_above = column(first), column(first + 1)
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
        s, e = self.view(v, "start"), self.view(v, "end")
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
        first, last = max(0, math.ceil(low)), min(len(atom.array) - 1, math.floor(high))
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
        e, first, last = atom.operands[0], atom.points[0][0], atom.points[-1][0]
        low, high = self.bounds.of(e)
        sides = (LE if low < first else 0) | (GE if high > last else 0)
        x = self.affine(e, sides)
        if sides:
            self.form.row(x, first, last)
        at, values = np.array(atom.points, dtype=np.float64).T
        lo, hi = self.bounds.of(atom)
        k = self.form.column(
            lo, hi, integral=False, name="piecewise", recipe=lambda p: np.interp(x.value(p.x), at, values)
        )
        return column(k), 0

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

    def _points(self, atom: Piecewise) -> tuple[Point, ...]:
        """Return the points of a piecewise function within the bounds of its x."""
        return points_within(atom.points, *self.bounds.of(atom.operands[0]))


def bending(points: Sequence[Point]) -> tuple[int, ...]:
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
    weights[k], weights[k + 1] = 1.0 - share, share
    return weights
