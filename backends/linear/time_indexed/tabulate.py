"""Functions of the start of one interval of fixed size, as a table of values over its start slots.

Data: an expression f that depends on one interval of fixed size only; its slots k with single start times ``t[k]``
(``slots``). With the binaries ``x[k]`` and the presence p::

    f = f_absent + sum_k (f(t[k]) - f_absent) x[k]    f_absent: the value for start = end = size = presence = 0
    x[k] = 0                                          for each k for which f(t[k]) is undefined
    p = 1                                             if f_absent is undefined

If the interval is not optional, ``f_absent`` counts as 0. This is exact, because exactly one ``x[k]`` is 1 if the
interval is present. It needs no big-M, and its linear relaxation is much tighter than rows for the functions inside f
(time-indexed formulations: [DyerWolsey1990]).
"""

from __future__ import annotations

import numpy as np

from ....errors import WrongArgument
from ....models.language import Interval, Linear
from ....models.language.expressions import Atom, Attribute, Element, Holds, Max, Min, Overlap, Piecewise, atoms_below
from ..form import Floats

Fields = dict[str, Floats]


def sole_interval(atom: Atom) -> Interval | None:
    """Return the only interval that a function depends on; None if it depends on several or on another variable."""
    found: Interval | None = None
    for a in atoms_below([Linear({atom: 1})]):
        if isinstance(a, Attribute):
            if found is not None and a.interval is not found:
                return None
            found = a.interval
        elif not isinstance(a, (Max, Min, Holds, Overlap, Element, Piecewise)):
            return None
    return found


def fields(v: Interval, starts: Floats, *, present: bool = True) -> Fields:
    """Return arrays of start, end, size and presence of an interval of fixed size, one value per start."""
    if not present:
        return dict.fromkeys(("start", "end", "size", "presence"), np.zeros(1))
    one = np.ones(len(starts))
    return {"start": starts, "end": starts + v.size_lo, "size": one * v.size_lo, "presence": one}


def table(e: Linear, of: Fields) -> Floats:
    """Return the value of an expression for each start; nan if it is undefined."""
    total = np.full(len(of["start"]), float(e.constant))
    for atom, c in e.terms.items():
        total = total + c * _atom(atom, of)
    return total


def _atom(atom: Atom, of: Fields) -> Floats:
    """Return the value of an atom for each start."""
    match atom:
        case Attribute():
            return of[atom.field]
        case Overlap():
            inside = np.minimum(of["end"], atom.hi) - np.maximum(of["start"], atom.lo)
            return np.asarray(np.maximum(inside, 0.0) * of["presence"])
        case Max():
            return np.asarray(np.maximum.reduce([table(e, of) for e in atom.operands]))
        case Min():
            return np.asarray(np.minimum.reduce([table(e, of) for e in atom.operands]))
        case Holds(comparison=c):
            value = table(c.expr, of)
            return np.where(np.isnan(value), np.nan, ((c.lo <= value) & (value <= c.hi)).astype(np.float64))
        case Element():
            index, values = table(atom.operands[0], of), np.array(atom.array, dtype=np.float64)
            inside = (index >= 0) & (index < len(values))
            return np.where(inside, values[np.where(inside, index, 0).astype(np.int64)], np.nan)
        case Piecewise():
            x, y = np.array(atom.points, dtype=np.float64).T
            return np.asarray(np.interp(table(atom.operands[0], of), x, y, left=np.nan, right=np.nan))
        case _:
            raise WrongArgument(f"the function {type(atom).__name__} cannot be tabulated over starts")
