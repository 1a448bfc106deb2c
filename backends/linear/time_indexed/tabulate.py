"""Functions of the start of one interval of fixed size, tabulated over its slots.

Where a slot is a single time, ``f(start)`` is ``sum(f(first) * x)``: exact, without big-M, and far tighter than rows for
the parts of f (Dyer and Wolsey 1990, on time-indexed formulations).
"""

from __future__ import annotations

import numpy as np

from ....models.language import Interval, Linear
from ....models.language.expressions import Atom, Attribute, Element, Holds, Max, Min, Overlap, Piecewise, atoms_below
from ..form import Floats

Fields = dict[str, Floats]


def sole_interval(atom: Atom) -> Interval | None:
    """The interval that is all a function depends on, None if there is more (or another variable) in it."""
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
    """Start, end, size and presence of an interval of fixed size for each of its starts."""
    if not present:
        return dict.fromkeys(("start", "end", "size", "presence"), np.zeros(1))
    one = np.ones(len(starts))
    return {"start": starts, "end": starts + v.size_lo, "size": one * v.size_lo, "presence": one}


def table(e: Linear, of: Fields) -> Floats:
    """The values of an expression for each start; nan where it is undefined."""
    total = np.full(len(of["start"]), float(e.constant))
    for atom, c in e.terms.items():
        total = total + c * _atom(atom, of)
    return total


def _atom(atom: Atom, of: Fields) -> Floats:
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
            raise TypeError(f"no table is known for {type(atom).__name__}")
