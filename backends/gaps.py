"""Objective values and bounds: gaps, when a gap proves an optimum, and when a value refutes a bound.

Two values of an objective are equal within 1e-6 relative to what can still change: its constant offset, such as a time
since 1970 in each end, is taken off (``offset_of``) where that makes the values smaller. A relative tolerance alone fails
near 0, where solvers return values such as -1e-6. So there is an absolute tolerance too, in the unit of the objective
(``unit_of``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..models.language import Linear, Model
from ..models.language.expressions import Atom, Attribute, Max, Min, Number, atoms_below

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


def origin_of(model: Model) -> int:
    """Return the earliest start of all intervals of a model, in seconds; 0 without intervals."""
    return min((v.start_lo for v in model.intervals), default=0)


def offset_of(e: Linear, origin: int) -> Number:
    """Return the constant offset of an objective: what a shift of all times to begin at 0 takes off.

    Parameters
    ----------
    e : Linear
        The objective.
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
