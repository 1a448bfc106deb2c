"""Checks of numbers in declarations (finite, whole, pairs, windows), and the error for a wrong declaration."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import SchedlabError

LARGEST = 10**100  # greatest absolute value of a number of a model, far below the greatest float
Number = int | float
Window = tuple[int, int]


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
        If the value is no finite number, or is beyond 1e100.

    Examples
    --------
    >>> number(3), number(2.5)
    (3, 2.5)
    """
    if type(value) is int and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, numbers.Integral):
        return _moderate(int(value), what)
    if isinstance(value, numbers.Real):
        try:
            as_float = float(value)
        except OverflowError:  # of a fraction
            raise ModelError(_too_large(what)) from None
        if math.isfinite(as_float):
            return _moderate(as_float, what)
    if isinstance(value, Decimal) and value.is_finite():
        return number(Fraction(value) if value != int(value) else int(value), what)
    raise ModelError(f"{what} must be a finite number, not {told(value)}{_advice(value)}")


def told(value: object) -> str:
    """Return a value for a message, on one line."""
    return " ".join(f"{value!r:.100}".split())


def _advice(value: object) -> str:
    """Return what to write in place of an interval or a constraint; "" for any other value."""
    kind = type(value).__name__
    if kind == "Interval":
        return f"; write one of its numbers: {value}.start, .end, .size or .presence"
    return "; write holds(c), which is 1 if the constraint c holds" if kind == "Comparison" else ""


def _moderate(value: Number, what: str) -> Number:
    if not -LARGEST <= value <= LARGEST:
        raise ModelError(_too_large(what))
    return value


def _too_large(what: str) -> str:
    return f"{what} is beyond 1e100, the greatest number of a model; use other units"


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


def listed(values: Any, what: str, ordered: bool = False) -> list[Any]:
    """Return the items of a list, a tuple, an array or an iterator; raise ModelError for anything else.

    A set is refused where ``ordered`` says that each item belongs to one of another list: sets have no order.

    Examples
    --------
    >>> listed((1, 2), "the terms of sum()")
    [1, 2]
    """
    if type(values) is list or type(values) is tuple:  # the common cases, kept fast
        return list(values)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable) or hasattr(values, "itertuples"):
        raise ModelError(f"{what} must be a list, not {told(values)}")
    if isinstance(values, np.ndarray) and not values.shape:
        raise ModelError(f"{what} must be a list, not {told(values)}, which is one number")
    if ordered and isinstance(values, Set):
        raise ModelError(f"{what} must be a list, not {told(values)}: a set has no order")
    return list(values)


def pair(value: object, what: str) -> tuple[object, object]:
    """Return the two entries of a window, a step or a point; raise ModelError if the value is no pair.

    Examples
    --------
    >>> pair([0, 5], "a window")
    (0, 5)
    """
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    if isinstance(value, np.ndarray) and value.shape == (2,):
        return value[0], value[1]
    raise ModelError(f"{what} must be a pair (a, b), not {told(value)}")


def windows_of(name: str, start: int | Window | Sequence[Window], what: str = "start") -> tuple[Window, ...]:
    """Return the windows of a start or end, (lo, hi) with both ends included, increasing and disjoint; adjacent ones are joined.

    Examples
    --------
    >>> windows_of("a", [(7, 9), (0, 3), (4, 5)])
    ((0, 5), (7, 9))
    """
    if type(start) is int and -LARGEST <= start <= LARGEST:  # the common cases, kept fast
        return ((start, start),)
    one = start[0] if type(start) is tuple and len(start) == 1 else start
    if (
        type(one) is tuple
        and len(one) == 2
        and type(one[0]) is type(one[1]) is int
        and -LARGEST <= one[0] <= one[1] <= LARGEST
    ):
        return (one,)
    pairs: Iterable[Any]
    if (isinstance(start, np.ndarray) and start.shape == (2,)) or (
        isinstance(start, tuple) and len(start) == 2 and not isinstance(start[0], (tuple, list, np.ndarray))
    ):
        pairs = [start]
    elif isinstance(start, (Sequence, np.ndarray)) and not (isinstance(start, np.ndarray) and not start.shape):
        pairs = start
    else:
        pairs = [(start, start)]
    windows: list[Window] = []
    place = f"a{'n' if what == 'end' else ''} {what} window of {name}"
    for a, b in sorted((whole(lo, place), whole(hi, place)) for lo, hi in (pair(p, place) for p in pairs)):
        if a > b:
            raise ModelError(f"interval {name!r}: the {what} window ({a}, {b}) ends before it begins")
        if windows and a <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], max(b, windows[-1][1]))
        else:
            windows.append((a, b))
    if not windows:
        raise ModelError(f"interval {name!r}: the list of {what} windows is empty")
    return tuple(windows)
