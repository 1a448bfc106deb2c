"""Lower and upper bounds of expressions by interval arithmetic; where they have no value; and the offsets of late times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ...errors import WrongArgument
from ..arguments import rational
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
    from .data import ModelData

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


# --- Constant offsets of expressions, such as times since 1970, and the tolerance of comparisons of real numbers without them.


REAL_TOLERANCE = 1e-6
LARGEST_FACTOR = 10**4  # that makes real coefficients whole


def origin_of(model: ModelData) -> int:
    """Return the earliest start of all intervals of a model, in seconds; 0 without intervals."""
    return min((v.start_lo for v in model.intervals), default=0)


def offset_of(e: Linear, origin: int) -> Number:
    """Return the constant offset of an expression: what a shift of all times to begin at 0 takes off.

    Parameters
    ----------
    e : Linear
        The expression, such as an objective.
    origin : int
        The earliest start in seconds.

    Examples
    --------
    >>> from schedlab import Model, max
    >>> m = Model("m"); a, b = (m.interval(n, size=3, start=(1000, 1099)) for n in "ab")
    >>> offset_of(max([a.end, b.end]) - 5, origin_of(m)), offset_of(a.end - b.start, 1000)
    (995, 0)
    """
    known: dict[Atom, Number] = {}

    def value(f: Linear) -> Number:
        return f.constant + sum(c * known[a] for a, c in f.terms.items())

    for atom in atoms_below([e]):
        known[atom] = 0
        if isinstance(atom, Attribute) and atom.field in ("start", "end") and not atom.interval.optional:
            known[atom] = origin
        elif isinstance(atom, (Max, Min)):
            known[atom] = common_constant([value(f) for f in atom.operands])
    return value(e)


def common_constant(constants: Sequence[Number]) -> Number:
    """Return the constant of least absolute value if all have the same sign, else 0.

    >>> common_constant([7, 5]), common_constant([-7, 5])
    (5, 0)
    """
    if all(c > 0 for c in constants) or all(c < 0 for c in constants):
        return min(constants, key=abs)
    return 0


def far_origin(model: ModelData) -> int:
    """Return the earliest start if it is further from 0 than the latest end is from it, else 0.

    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3, start=(1000, 1099)); far_origin(m)
    1000
    """
    if not model.intervals or any(v.declared_windows is None for v in model.intervals):
        return 0
    origin = origin_of(model)
    span = max(v.start_hi + v.size_hi for v in model.intervals) - origin
    if abs(origin) > span:
        return origin
    return 0


def late_presence(e: Linear, model: ModelData) -> bool:
    """Return whether an expression has late times of optional intervals, whose offset changes with their presence.

    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3, start=(1000, 1099), optional=True); late_presence(2 * a.end, m)
    True
    """
    return bool(far_origin(model)) and _has_late_presence(e)


def _has_late_presence(e: Linear) -> bool:
    return any(
        isinstance(atom, Attribute) and atom.field in ("start", "end") and atom.interval.optional
        for atom in atoms_below([e])
    )


def whole_form(c: Comparison) -> Comparison | None:
    """Return a comparison of whole numbers for one of real numbers, with bounds within 1e-6; None if there is none.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x, y = m.integer("x", 0, 9), m.integer("y", 0, 9); whole_form(0.5 * x - 0.25 * y <= 1.3)
    2*x + -1*y <= 5
    >>> whole_form(3.141592653589793 * x <= 5) is None
    True
    """
    if not all(atom.integral for atom in c.expr.terms) or c.expr.constant:
        return None
    exact = {atom: Fraction(rational(k)) for atom, k in c.expr.terms.items()}
    factor = math.lcm(*(k.denominator for k in exact.values()))
    if factor > LARGEST_FACTOR:
        return None
    if math.isinf(c.lo):
        lo = c.lo
    else:
        lo = math.ceil((Fraction(rational(c.lo)) - Fraction(REAL_TOLERANCE)) * factor)
    if math.isinf(c.hi):
        hi = c.hi
    else:
        hi = math.floor((Fraction(rational(c.hi)) + Fraction(REAL_TOLERANCE)) * factor)
    return Comparison(Linear({atom: int(k * factor) for atom, k in exact.items()}), lo, hi)


def real_tolerance(c: Comparison, origin: int) -> float:
    """Return by how much a comparison of real numbers may be broken: 1e-6 relative to its bound without the offset.

    Parameters
    ----------
    c : Comparison
    origin : int
        What ``far_origin`` returns for the model of the comparison.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3, start=(10**9, 10**9 + 9))
    >>> real_tolerance(0.5 * a.start <= 5 * 10**8 + 4, far_origin(m)), real_tolerance(0.5 * a.start <= 5000, 0)
    (4e-06, 0.005)
    """
    if origin and _has_late_presence(c.expr) and whole_form(c) is not None:
        return REAL_TOLERANCE
    if origin:
        offset = offset_of(c.expr, origin)
    else:
        offset = 0
    sizes = [min(abs(b), abs(b - offset)) for b in (c.lo, c.hi) if not math.isinf(b)]
    return REAL_TOLERANCE * max([1.0, *map(float, sizes)])


OFFSET_SHARE = 0.01  # of the range of the objective: a smaller offset does not matter


def needs_origin(model: ModelData) -> bool:
    """Return whether a model should be solved with times from its earliest start on.

    So it is if that start is further from 0 than the latest end is from it, or if the constant offset of the objective is
    not small beside the range of the objective, and the objective is as far from 0.
    """
    if far_origin(model):
        return True
    origin = origin_of(model)
    for e in model.objectives[:1]:
        offset = abs(offset_of(e, origin))
        if offset:
            lo, hi = Bounds().of(e)
            return min(offset, abs(lo), abs(hi)) > OFFSET_SHARE * (hi - lo)
    return False


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
