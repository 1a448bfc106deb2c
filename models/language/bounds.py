"""Lower and upper bounds of expressions by interval arithmetic, and where they have no value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ...errors import WrongArgument
from ..words import with_short_repr
from .expressions import (
    Atom,
    Attribute,
    Comparison,
    Element,
    Entry,
    Expression,
    Function,
    Holds,
    Integer,
    Interval,
    Linear,
    Max,
    Min,
    Neighbours,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    atoms_below,
)

if TYPE_CHECKING:
    from .constraints import ModelData

Breakpoint = tuple[Number, Number]
Range = tuple[Number, Number]


@with_short_repr
class Bounds:
    """Finite lower and upper bounds of expressions; each atom is computed once.

    Examples
    --------
    >>> from schedlab import Model, max
    >>> m = Model("m"); x = m.integer("x", -2, 3)
    >>> Bounds().of(2 * x + max([x, 1]))
    (-3, 9)
    """

    def __init__(self) -> None:
        self._atoms: dict[Atom, tuple[Number, Number]] = {}

    def of(self, expression: Expression | Number) -> tuple[Number, Number]:
        """Return (lower bound, upper bound) of the expression. The bounds need not be attained."""
        if not isinstance(expression, Expression):
            return expression, expression
        e = expression.linear()
        for atom in atoms_below([e]):
            if atom not in self._atoms:
                self._atoms[atom] = self._atom(atom)
        return self._linear(e)

    def of_atom(self, atom: Atom) -> tuple[Number, Number]:
        """Return (lower bound, upper bound) of an atom of an expression that was passed to ``of`` before."""
        return self._atoms[atom]

    def _linear(self, e: Linear) -> tuple[Number, Number]:
        lo = hi = e.constant
        for atom, c in e.terms.items():
            a, b = self._atoms[atom]
            lo += c * (a if c > 0 else b)
            hi += c * (b if c > 0 else a)
        return lo, hi

    def _atom(self, atom: Atom) -> tuple[Number, Number]:
        match atom:
            case Integer():
                return atom.lo, atom.hi
            case Attribute():
                return attribute_bounds(atom.interval, atom.field)
            case Overlap():
                return 0, max(0, min(atom.hi - atom.lo, atom.interval.size_hi))
            case Holds():
                return 0, 1
            case Max() | Min():
                if isinstance(atom, Max):
                    pick = max
                else:
                    pick = min
                both = [self._linear(e) for e in atom.operands]
                lo, hi = pick(b[0] for b in both), pick(b[1] for b in both)
                if isinstance(atom, Max) and is_absolute(atom):
                    return (max(lo, 0), hi)
                return (lo, hi)
            case Element():
                lo, hi = self._linear(atom.operands[0])
                reachable = atom.array[max(0, math.ceil(lo)) : max(0, math.floor(hi) + 1)] or atom.array
                return min(reachable), max(reachable)
            case Piecewise():
                points = points_within(atom.points, *self._linear(atom.operands[0]))
                return min(y for _, y in points), max(y for _, y in points)
            case Product() | Quotient() | Remainder():
                return arithmetic_range(atom, [self._linear(e) for e in atom.operands])
            case Entry():
                lo, hi = self._linear(atom.operands[0])
                entries = atom.entries[max(0, math.ceil(lo)) : max(0, math.floor(hi) + 1)] or atom.entries
                ranges = [self._linear(e) for e in entries]
                return min(r[0] for r in ranges), max(r[1] for r in ranges)
            case Neighbours():
                return atom.range()
            case Function() | _:
                raise WrongArgument(f"atoms of type {type(atom).__name__} have no bounds")


def is_absolute(atom: Max) -> bool:
    """Return whether a maximum is an absolute value: that of an expression and its negation.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x = m.integer("x", -2, 3); a = abs(x)
    >>> Bounds().of(a), [is_absolute(f) for f in a.terms]
    ((0, 3), [True])
    """
    if len(atom.operands) != 2:
        return False
    e, f = atom.operands
    return e.constant == -f.constant and {a: -c for a, c in e.terms.items()} == f.terms


def arithmetic_range(atom: Product | Quotient | Remainder, operands: Sequence[Range]) -> Range:
    """Return bounds of a product, quotient or remainder for bounds of its two operands.

    Divisors below 1, for which there is no value, are left out.
    """
    (a, b), (c, d) = operands
    if isinstance(atom, Product):
        corners = [a * c, a * d, b * c, b * d]
        return min(corners), max(corners)
    c = max(c, 1)
    d = max(d, 1)
    if isinstance(atom, Quotient):
        corners = [x // y for x in (a, b) for y in (c, d)]
        return min(corners), max(corners)
    return 0, min(b, d - 1) if a >= 0 else d - 1


def points_within(points: Sequence[Breakpoint], lo: Number, hi: Number) -> tuple[Breakpoint, ...]:
    """Return the points of a piecewise-linear function between lo and hi, and at these two; all if it has no such part.

    What is far from the values that x can take, such as points at -1e9 and 1e9 that mean "anywhere", would only enlarge
    big-M constants.

    Examples
    --------
    >>> points_within([(-100, 50), (4, 8), (10, 9), (100, 99)], 2, 10)
    ((2, 8.807692307692308), (4, 8), (10, 9))
    """
    given = tuple(points)
    if lo == hi:
        lo = lo - 1  # two points at least are needed
        hi = hi + 1
    if not max(lo, given[0][0]) < min(hi, given[-1][0]):
        return given
    if lo > given[0][0]:
        k = next(k for k, p in enumerate(given) if p[0] > lo)
        given = ((lo, _between(given[k - 1], given[k], lo)), *given[k:])
    if hi < given[-1][0]:
        k = next(k for k, p in enumerate(given) if p[0] >= hi)
        given = (*given[:k], (hi, _between(given[k - 1], given[k], hi)))
    return given


def value_at(points: Sequence[Breakpoint], x: Number) -> Number | None:
    """Return the value at x of the piecewise-linear function through points; None outside of them.

    Examples
    --------
    >>> value_at([(0, 50), (4, 8), (10, 9)], 2), value_at([(0, 50), (4, 8)], 5)
    (29, None)
    """
    if not points[0][0] <= x <= points[-1][0]:
        return None
    k = next(k for k in range(1, len(points)) if x <= points[k][0])
    return _between(points[k - 1], points[k], x)


def _between(a: Breakpoint, b: Breakpoint, x: Number) -> Number:
    """Return the value at x, which is not outside of them, of the line through two points."""
    (x0, y0), (x1, y1) = a, b
    y = Fraction(y0) + (Fraction(y1) - Fraction(y0)) * (Fraction(x) - Fraction(x0)) / (Fraction(x1) - Fraction(x0))
    if y.denominator == 1:
        return y.numerator
    return float(y)


def attribute_bounds(interval: Interval, field: str) -> tuple[int, int]:
    """Return the bounds of an interval's start, end, size or presence; they include 0 if the interval may be absent."""
    if field == "presence":
        if interval.optional:
            return (0, 1)
        return (1, 1)
    if field == "start":
        lo, hi = interval.start_lo, interval.start_hi
    elif field == "size":
        lo, hi = interval.size_lo, interval.size_hi
    else:
        lo = interval.start_lo + interval.size_lo
        hi = interval.start_hi + interval.size_hi
    if interval.optional:
        return (min(lo, 0), max(hi, 0))
    return (lo, hi)


# --- Where expressions have no value: outside of the domain of a function, or with the divisor 0.

WITH_DOMAIN = (Element, Entry, Neighbours, Piecewise, Quotient, Remainder)


def defined(model: ModelData, k: int) -> Comparison | None:
    """Return a comparison that requires objective k to have a value; None if it always has one.

    The bound in the comparison is above every possible value, so that it excludes nothing else.

    Examples
    --------
    >>> from schedlab import Model, element
    >>> m = Model("m"); i = m.integer("i", 0, 5); m.minimize(2 * element([4, 9], i))
    >>> defined(m, 0)
    element(array of 2, i) <= 10
    """
    terms = model.objectives[k].terms
    ranged = Linear({a: 1 for a in terms if any(isinstance(b, WITH_DOMAIN) for b in atoms_below([a.linear()]))})
    if ranged.terms:
        return Comparison(ranged, -math.inf, Bounds().of(ranged)[1] + 1)
    return None
