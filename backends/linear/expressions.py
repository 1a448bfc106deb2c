"""LinearExpressions to columns and rows: functions (max, holds, overlap, ...) become columns tied to their meaning.

A column for a function need not always equal its value: where an expression is only limited from above, it is enough
that the column does not lie below the value. ``GE`` asks for column >= value, ``LE`` for column <= value; what is asked
later is added then. Big-M constants come from ``Bounds``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ...models.language import Bounds, Comparison, Integer, Interval, Linear
from ...models.language.expressions import Atom, Attribute, AttributeName, Element, Holds, Max, Min, Overlap, Piecewise
from .form import INF, Affine, FormBuilder, column, one_hot

GE, LE, BOTH = 1, 2, 3
View = Callable[[Interval, AttributeName], Affine]
Special = Callable[[Atom, int], Affine | None]


def flipped(sides: int) -> int:
    """The sides asked of an operand that counts negatively."""
    return (sides & GE) << 1 | (sides & LE) >> 1


class LinearExpressions:
    """Lowers expressions over one form. ``view`` gives the attributes of intervals as columns; ``special`` may lower
    a function of its own accord (as tabulated costs of a start), None if it does not."""

    def __init__(self, form: FormBuilder, integers: int, view: View, special: Special | None = None) -> None:
        self.form = form
        self.bounds = Bounds()
        self.integers = integers
        self.view = view
        self.special = special
        self._made: dict[Atom, tuple[Affine, int]] = {}

    def affine(self, e: Linear, sides: int = BOTH) -> Affine:
        """``e`` as columns. Sums over many atoms in one pass."""
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
        """The rows of ``lo <= expr <= hi``."""
        sides = (GE if c.hi < INF else 0) | (LE if c.lo > -INF else 0)
        e = self.affine(c.expr, sides)
        if sides:
            self.form.row(e, c.lo, c.hi)

    def _atom(self, atom: Atom, sides: int) -> Affine:
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
        """A first expression for the atom, and the sides that already hold."""
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
            case Holds(comparison=c):
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
                raise TypeError(f"no lowering is known for {type(atom).__name__}")
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
        """Max: column >= every operand (GE); column <= one operand, chosen by a binary (LE). Min: mirrored."""
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
        """Binary columns of which exactly one is 1."""
        first = self.form.columns(count, 0, 1, integral=True, name=name, recipe=recipe)
        self.form.row(Affine({first + k: 1.0 for k in range(count)}), 1, 1)
        return first

    def _limits(self, atom: Holds) -> tuple[float, float, float, float]:
        """(lo, hi) of the comparison, infinite where they do not bind, and the bounds of its expression."""
        c = atom.comparison
        low, high = self.bounds.of(c.expr)
        return (c.lo if c.lo > low else -INF), (c.hi if c.hi < high else INF), low, high

    def _holds_implies(self, atom: Holds, made: Affine) -> None:
        """Column 1: the comparison holds."""
        lo, hi, low, high = self._limits(atom)
        if lo > -INF:
            e = self.affine(atom.comparison.expr, LE)
            self.form.row(e.plus(made, low - lo), low, INF)
        if hi < INF:
            e = self.affine(atom.comparison.expr, GE)
            self.form.row(e.plus(made, high - hi), -INF, high)

    def _implies_holds(self, atom: Holds, made: Affine) -> None:
        """The comparison holds: column 1. (Column 0: the expression lies below or above.)"""
        lo, hi, low, high = self._limits(atom)
        expr = atom.comparison.expr
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
        """``max(0, min(e - lo, hi - s, e - s, hi - lo))``."""
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
        """One binary per reachable entry; their sum is 1 and their weighted sum the index."""
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
        """A convex (or concave) function of what stays within its points: a column whose sides follow, one without binaries."""
        if not bending(atom):
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
        """A convex function is at least every one of its lines (GE); for the other side it takes the binaries."""
        if side not in bending(atom):
            self.form.row(made.plus(self._piecewise(atom), -1), *((0, INF) if side == GE else (-INF, 0)))
            return
        lo, hi = (0.0, INF) if side == GE else (-INF, 0.0)
        for (x0, y0), (x1, y1) in pairwise(atom.points):
            slope = (y1 - y0) / (x1 - x0)
            line = self.affine(atom.operands[0] * slope + (y0 - slope * x0), side)
            self.form.row(made.plus(line, -1), lo, hi)

    def _piecewise(self, atom: Piecewise) -> Affine:
        """Convex weights on the points, positive only at the two ends of the chosen segment."""
        x = self.affine(atom.operands[0])
        points = np.array([p[0] for p in atom.points], dtype=np.float64)
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
        return Affine({weight + k: float(y) for k, (_, y) in enumerate(atom.points)})


def bending(atom: Piecewise) -> tuple[int, ...]:
    """The sides on which the function is the extreme of its lines: GE if it is convex, LE if concave, both for one line.

    >>> from schedlab import Model, piecewise
    >>> (atom,) = piecewise(Model("m").integer("x", 0, 9), [(0, 0), (4, 1), (9, 8)]).terms
    >>> bending(atom) == (GE,)
    True
    """
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(atom.points)]
    convex = all(a <= b for a, b in pairwise(slopes))
    concave = all(a >= b for a, b in pairwise(slopes))
    return (GE,) * convex + (LE,) * concave


def _segment(points: np.ndarray, x: float) -> np.ndarray:
    hot = np.zeros(len(points) - 1)
    hot[min(max(int(np.searchsorted(points, x, side="right")) - 1, 0), len(points) - 2)] = 1.0
    return hot


def _weights(points: np.ndarray, x: float) -> np.ndarray:
    k = int(np.argmax(_segment(points, x)))
    share = (x - points[k]) / (points[k + 1] - points[k])
    weights = np.zeros(len(points))
    weights[k], weights[k + 1] = 1.0 - share, share
    return weights
