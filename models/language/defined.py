"""Constraints that require objectives to have a value: no function is outside of its domain, no divisor is 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .bounds import Bounds
from .expressions import Comparison, Element, Entry, Linear, Neighbours, Piecewise, Quotient, Remainder, atoms_below

if TYPE_CHECKING:
    from .model import Model

WITH_DOMAIN = (Element, Entry, Neighbours, Piecewise, Quotient, Remainder)


def defined(model: Model, k: int) -> Comparison | None:
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
    return Comparison(ranged, -math.inf, Bounds().of(ranged)[1] + 1) if ranged.terms else None
