"""Objective values and bounds: gaps, when a gap proves an optimum, and when a value refutes a bound.

Two values of an objective are equal within 1e-6 relative to what can still change: its constant offset, such as a time
since 1970 in each end, is taken off (``offset_of``) where that makes the values smaller. A relative tolerance alone fails
near 0, where solvers return values such as -1e-6. So there is an absolute tolerance too, in the unit of the objective
(``unit_of``).
"""

from __future__ import annotations

import math
from typing import Any

from ..models.language import Linear

TOLERANCE = 1e-6  # relative, and absolute in multiples of the objective's unit
NOISE = 1e-4  # absolute: how far a solver's floating-point bound on a whole number may exceed the true bound


def size_of(objective: float, bound: float, offset: float = 0.0) -> float:
    """Return the number to which a gap is relative: ``max(|objective|, |bound|)``, without the offset if that is less."""
    return min(max(abs(objective), abs(bound)), max(abs(objective - offset), abs(bound - offset)))


def relative_gap(objective: float | None, bound: float | None, offset: float = 0.0) -> float | None:
    """Return ``|objective - bound| / max(|objective|, |bound|)``, both without a constant offset if that is greater.

    The gap is 0 if the difference is below 1e-9, and None if objective or bound is unknown.

    >>> relative_gap(20.0, 18.0), relative_gap(1020.0, 1018.0, offset=1000.0)
    (0.1, 0.1)
    """
    if objective is None or bound is None or math.isinf(bound):
        return None
    difference = abs(objective - bound)
    return 0.0 if difference < 1e-9 else difference / size_of(objective, bound, offset)


def unit_of(objective: Linear) -> float:
    """Return the least absolute coefficient of an objective, at most 1.

    >>> from schedlab import Model
    >>> m = Model("m"); x = m.integer("x", 0, 9); unit_of(0.25 * x + 3)
    0.25
    """
    return min([1.0, *(abs(float(c)) for c in objective.terms.values() if c)])


def close(objective: float, bound: float, unit: float = 1.0, offset: float = 0.0) -> bool:
    """Return whether the gap between an objective value and a bound is within the tolerances.

    >>> close(0, -1e-6), close(1e6, 1e6 - 2), close(1e9 + 50, 1e9 + 40), close(1e9 + 50, 1e9 + 40, offset=1e9)
    (True, False, True, False)
    """
    # 1 + 1e-9: a difference of 1e-6 between two floats can exceed 1e-6 by rounding
    return abs(objective - bound) <= TOLERANCE * max(unit, size_of(objective, bound, offset)) * (1 + 1e-9)


def rounded(bound: float, sign: int) -> float:
    """Round the bound on a whole number: up if ``sign`` is 1 (minimize), down if it is -1 (maximize).

    If a bound exceeds a whole number by no more than the error of floating-point arithmetic, it becomes that number. A
    bound so large that this error is above 0.1 is returned unchanged.

    >>> rounded(3.2, 1), rounded(3.00001, 1), rounded(-0.000001, 1), rounded(3.2, -1)
    (4.0, 3.0, 0.0, 3.0)
    """
    noise = max(NOISE, TOLERANCE * abs(bound))
    if noise > 0.1:
        return bound
    return sign * float(math.ceil(sign * bound - noise)) + 0.0  # + 0.0: -0.0 is printed with its sign


def refutes(value: Any, bound: Any, sense: str | None) -> bool:
    """Return whether an objective value is better than its bound allows.

    Ordered objectives are compared one after another.

    Parameters
    ----------
    value, bound : number or sequence of numbers
        For ordered objectives one value per objective. A bound of None is unknown.
    sense : {"minimize", "maximize", None}
        None means "minimize".

    Returns
    -------
    bool

    Examples
    --------
    >>> refutes(9, 10, "minimize"), refutes(9, 10, "maximize"), refutes((0, 5), (0, 6), "minimize")
    (True, False, True)
    """
    if isinstance(value, (list, tuple)):
        for v, b in zip(value, bound or (), strict=False):
            if b is None or refutes(b, v, sense):  # unknown, or worse than the bound: later objectives do not count
                return False
            if refutes(v, b, sense):
                return True
        return False
    if value is None or bound is None:
        return False
    sign = -1 if sense == "maximize" else 1
    return bool(sign * (bound - value) > 0 and not close(value, bound))


def refutation(bound: Any, value: Any) -> str:
    """Return the error message for a bound that a verified solution refutes."""
    return f"the bound {bound} is false: a verified solution has the objective {value}"
