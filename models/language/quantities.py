"""Numbers as they are declared: whole, finite, or in pairs; and the error of a declaration that contradicts itself."""

from __future__ import annotations

import math
import numbers

Number = int | float


class ModelError(ValueError):
    """A declaration contradicts itself; the message names the variables involved."""


def number(value: object, what: str = "a coefficient") -> Number:
    """A Python int where the value is whole-typed (also NumPy's), else a finite float; an error for anything else.

    >>> number(3), number(2.5)
    (3, 2.5)
    """
    if type(value) is int:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        found = float(value)
        if math.isfinite(found):
            return found
    raise ModelError(f"{what} must be a finite number, not {value!r}")


def whole(value: object, what: str) -> int:
    """The value as an int; times, sizes, demands and bounds are whole numbers.

    >>> whole(4.0, "the size of a")
    4
    """
    n = number(value, what)
    if isinstance(n, float):
        if not n.is_integer():
            raise ModelError(f"{what} must be a whole number, not {n!r}")
        return int(n)
    return n


def pair(value: object, what: str) -> tuple[object, object]:
    """The two sides of a window, a step or a point; an error for anything else.

    >>> pair([0, 5], "a window")
    (0, 5)
    """
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    raise ModelError(f"{what} must be a pair (a, b), not {value!r}")
