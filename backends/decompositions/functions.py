"""Decompositions of functions: max, min, holds, overlap, element, piecewise.

A function is replaced by a linear expression over auxiliary variables. They all are integer variables: where the value
of the function is a real number, it is a sum of whole numbers with real coefficients.

``choice`` gives binary variables ``c[k]`` with ``sum_k c[k] = 1``. The product ``c a`` of a binary c and a whole number
a in [L, U] (a variable or an attribute of an interval) is an integer variable w with::

    L c <= w <= U c,   L (1 - c) <= a - w <= U (1 - c)

and the product of c and a linear expression is the sum of the products with its terms.
"""

from __future__ import annotations

import math
from builtins import max as greatest
from builtins import min as least
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from ...errors import WrongValue
from ...models import language as sl
from ...models.language import Evaluator, Integer, Linear, Model
from ...models.language import sum as total
from ...models.language.expressions import Atom, Element, Function, Holds, Max, Min, Number, Overlap, Piecewise
from .constructs import FUNCTIONS, Construct
from .decomposition import Decomposition


class Overlaps(Decomposition):
    """The overlap of an interval with the window [A, B) becomes ``max(0, min(e, B) - max(s, A))``.

    The formula holds for an absent interval, too: then s and e are 0, so the difference is at most 0.
    """

    replaces = frozenset([Construct.OVERLAP])

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function."""
        if not isinstance(atom, Overlap):
            return super().function(atom)
        v = self.intervals[atom.interval]
        return sl.max([0, sl.min([v.end, atom.hi]) - sl.max([v.start, atom.lo])])


class Functions(Decomposition):
    """A max, min, holds, element or piecewise becomes a choice between its cases; the formulas stand at each method.

    Parameters
    ----------
    origin : Model
    missing : frozenset of Construct
        The functions to replace. If some of them have real values, all that have real values must be among them.
    real_only : bool
        Whether functions whose values are whole numbers are copied.
    """

    replaces = frozenset([Construct.MAX, Construct.MIN, Construct.HOLDS, Construct.ELEMENT, Construct.PIECEWISE])

    def __init__(self, origin: Model, missing: frozenset[Construct], real_only: bool = False) -> None:
        self.real_only = real_only
        self._products: dict[tuple[Integer, Atom], Linear] = {}
        super().__init__(origin, missing)

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, or what replaces it."""
        if FUNCTIONS[type(atom)] not in self.missing or (self.real_only and atom.integral):
            return super().function(atom)
        match atom:
            case Max() | Min():
                return self._extreme([self.linear(e) for e in atom.operands], 1 if isinstance(atom, Max) else -1)
            case Holds():
                return self._holds(atom)
            case Element():
                return self._element(atom.array, self.linear(atom.operands[0]))
            case Piecewise():
                return self._piecewise(atom.points, self.linear(atom.operands[0]))
            case _:
                return super().function(atom)

    def _extreme(self, operands: Sequence[Linear], sign: int) -> Linear:
        """Return the max (``sign`` 1) or min (-1) v of operands ``e[k]``, one of which is chosen.

        ::

            v = sum_k c[k] e[k],   v >= e[k] for each k    (min: v <= e[k])

        Operands that are never the greatest have no c.
        """
        bounds = [sorted(sign * b for b in self.bounds.of(e)) for e in operands]
        floor = greatest(lo for lo, _ in bounds)
        cases = [e for e, (_, hi) in zip(operands, bounds, strict=True) if hi >= floor]

        def chosen(ev: Evaluator) -> int:
            values = [sign * ev.value(e) for e in cases]
            return values.index(greatest(values))

        c = self.choice(len(cases), "operand", chosen)
        value = total([self._product(k, e) for k, e in zip(c, cases, strict=True)])
        for e in operands:
            self.add_range(sign * (value - e), 0, math.inf)
        return value

    def _holds(self, atom: Holds) -> Linear:
        """Return the truth value of ``A <= e <= B`` for a whole number e in [L, U].

        The cases are: e is below A, it is inside, it is above B::

            L c[0] + A c[1] + (B + 1) c[2] <= e <= (A - 1) c[0] + B c[1] + U c[2],   the value is c[1]

        Cases that are empty are left out.
        """
        copied = self.comparison(atom.comparison)
        e = copied.expr
        low, high = self.bounds.of(e)
        a, b = greatest([copied.lo, low]), least([copied.hi, high])
        cases = [(low, a - 1, 0), (a, b, 1), (b + 1, high, 0)] if a <= b else [(low, high, 0)]
        cases = [case for case in cases if case[0] <= case[1]]

        def chosen(ev: Evaluator) -> int:
            value = ev.value(e)
            return next((k for k, (lo, hi, _) in enumerate(cases) if lo <= value <= hi), 0)

        c = self.choice(len(cases), f"holds {e}", chosen)
        self.add_range(e - total(c, [int(lo) for lo, _, _ in cases]), 0, math.inf)
        self.add_range(e - total(c, [int(hi) for _, hi, _ in cases]), -math.inf, 0)
        return total(c, [truth for _, _, truth in cases])

    def _element(self, array: Sequence[Number], index: Linear) -> Linear:
        """Return the entry of an array A at an index e in [L, U], for the indices j in both A and [L, U].

        ::

            sum_j j c[j] = e,   the value is sum_j A[j] c[j]
        """
        low, high = self.bounds.of(index)
        reach = range(int(greatest([0, low])), int(least([len(array) - 1, high])) + 1)
        first = reach.start
        c = self.choice(len(reach), "index", lambda ev: int(ev.value(index)) - first)
        self.add_range(index - total(c, list(reach)), 0, 0)
        return total(c, [array[j] for j in reach])

    def _piecewise(self, points: Sequence[tuple[Number, Number]], x: Linear) -> Linear:
        """Return the value at x of the function through points ``(X[k], Y[k])``, one of whose segments is chosen.

        ::

            X[k] c[k] <= c[k] x <= X[k+1] c[k]    for each segment k, with the products c[k] x
            the value is sum_k slope[k] c[k] x + (Y[k] - slope[k] X[k]) c[k]

        If x is a whole number, the ends of a segment are rounded to whole numbers inside of it.
        """
        low, high = self.bounds.of(x)
        ends = [(p[0], q[0]) for p, q in pairwise(points)]
        if x.integral:
            ends = [(math.ceil(a), math.floor(b)) for a, b in ends]
        reached = [k for k, (a, b) in enumerate(ends) if a <= b and a <= high and b >= low]

        def chosen(ev: Evaluator) -> int:
            value = ev.value(x)
            return next((j for j, k in enumerate(reached) if value <= ends[k][1]), len(reached) - 1)

        c = self.choice(len(reached), "segment", chosen)
        value = Linear({}, 0)
        for segment, k in zip(c, reached, strict=True):
            (x0, y0), (x1, y1) = points[k], points[k + 1]
            slope = (y1 - y0) / (x1 - x0)
            part = self._product(segment, x)
            self.add_range(part - ends[k][0] * segment, 0, math.inf)
            self.add_range(part - ends[k][1] * segment, -math.inf, 0)
            value = value + slope * part + (y0 - slope * x0) * segment
        return value

    def _product(self, c: Integer, e: Linear) -> Linear:
        """Return the product of a binary variable and an expression (see the module)."""
        return total([self._times(c, a) for a in e.terms], list(e.terms.values())) + e.constant * c

    def _times(self, c: Integer, a: Atom) -> Linear:
        """Return the product of a binary variable and an atom whose value is a whole number."""
        if not a.integral:
            raise WrongValue(f"{self.name}: {a} has real values; it must be replaced together with the function above")
        if (c, a) not in self._products:
            self._products[c, a] = self._new_product(c, a)
        return self._products[c, a]

    def _new_product(self, c: Integer, a: Atom) -> Linear:
        low, high = (int(b) for b in self.bounds.of(a))
        if low == high:
            return low * c.linear()
        w = self.auxiliary(f"{a}, if {c}", least([low, 0]), greatest([high, 0]), partial(_both, c=c, a=a))
        self.add_range(w - low * c, 0, math.inf)
        self.add_range(w - high * c, -math.inf, 0)
        self.add_range(a - w + low * c, low, math.inf)
        self.add_range(a - w + high * c, -math.inf, high)
        return w.linear()


def _both(ev: Evaluator, c: Integer, a: Atom) -> int:
    return int(ev.value(c)) * int(ev.value(a))
