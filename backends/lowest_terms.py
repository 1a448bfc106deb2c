"""Comparisons of whole numbers in lowest terms, for solvers that compute with tolerances."""

from __future__ import annotations

import math

from ..models.language import Comparison, Linear


def in_lowest_terms(c: Comparison) -> Comparison:
    """Return a comparison of whole numbers divided by the common divisor of its coefficients, with rounded bounds.

    If no whole number is between the bounds, the lower one becomes the greater. A solver's tolerance of 1e-6 is a whole unit where coefficients are 1e6 and more.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    >>> in_lowest_terms(10 * x + 20 * y <= 39)
    x + 2*y <= 3
    """
    bounds = [b for b in (c.lo, c.hi) if not math.isinf(b)]
    if not (c.expr.terms and c.integral and all(type(b) is int for b in bounds)):
        return c
    divisor = math.gcd(*(int(k) for k in c.expr.terms.values()))
    if divisor <= 1:
        return c
    lo = c.lo if math.isinf(c.lo) else -(-int(c.lo) // divisor)
    hi = c.hi if math.isinf(c.hi) else int(c.hi) // divisor
    return Comparison(Linear({a: int(k) // divisor for a, k in c.expr.terms.items()}), lo, hi)
