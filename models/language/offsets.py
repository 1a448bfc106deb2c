"""Constant offsets of expressions, such as times since 1970, and the tolerance of comparisons of real numbers without them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..whole_numbers import rational
from .expressions import Atom, Attribute, Comparison, Linear, Max, Min, atoms_below
from .quantities import Number

if TYPE_CHECKING:
    from .data import ModelData

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
    return origin if abs(origin) > span else 0


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
    lo = c.lo if math.isinf(c.lo) else math.ceil((Fraction(rational(c.lo)) - Fraction(REAL_TOLERANCE)) * factor)
    hi = c.hi if math.isinf(c.hi) else math.floor((Fraction(rational(c.hi)) + Fraction(REAL_TOLERANCE)) * factor)
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
    offset = offset_of(c.expr, origin) if origin else 0
    sizes = [min(abs(b), abs(b - offset)) for b in (c.lo, c.hi) if not math.isinf(b)]
    return REAL_TOLERANCE * max([1.0, *map(float, sizes)])
