"""Checks of numbers in declarations (finite, whole, pairs), and the error for a wrong declaration."""

from __future__ import annotations

import math
import numbers

from ...errors import SchedlabError

Number = int | float


class ModelError(SchedlabError, ValueError):
    """A declaration is wrong or contradicts another one; the message names the variables."""


def number(value: object, what: str = "a coefficient") -> Number:
    """Return an int for an integer (NumPy's included), and else a finite float.

    Parameters
    ----------
    value : object
        The value to check.
    what : str
        The name of the value in the message.

    Raises
    ------
    ModelError
        If the value is no finite number.

    Examples
    --------
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
    """Return the value as an int; a float such as 4.0 is accepted. Raise ModelError if it is no whole number.

    Examples
    --------
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
    """Return the two entries of a window, a step or a point; raise ModelError if the value is no pair.

    Examples
    --------
    >>> pair([0, 5], "a window")
    (0, 5)
    """
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    raise ModelError(f"{what} must be a pair (a, b), not {value!r}")
