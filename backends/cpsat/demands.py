"""Demands of cumulative constraints in CP-SAT: each as a number or one variable, and when it is above 0."""

from __future__ import annotations

import math
from typing import Any

from ...models.language import Integer, Linear
from .expressions import CpSatExpressions
from .native import NativeModel, WholeForm


class Demands:
    """Lowers demands; the literals that say which of them are above 0 are shared by all cumulative constraints."""

    def __init__(self, native: NativeModel, expressions: CpSatExpressions) -> None:
        self.native, self.expressions = native, expressions
        self._above_zero: dict[tuple[int, int, bool], int] = {}

    def lower(self, demand: Linear) -> tuple[tuple[int, ...], Any]:
        """(literals under which it takes part, the demand): an integer, or one variable with a coefficient and a constant."""
        if len(demand.terms) == 1 and not demand.constant:
            ((atom, factor),) = demand.terms.items()
            if type(atom) is Integer and type(factor) is int and factor > 0:  # the common case, kept short
                x = self.expressions.integer[atom.index]
                return self._above(x), self.native.multiple(x, factor)
        w = self.native.whole(self.expressions.form(demand), 1)
        if len(w.terms) > 1:
            total = self.native.variable((self.native.bounds(w),), "", w.value)
            self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
            w = WholeForm({total: 1}, 0)
        return self._demanding(w), self.native.expression(w) if w.terms else w.constant

    def _above(self, x: int) -> tuple[int, ...]:
        """``_demanding`` of a multiple of the variable."""
        if self.native.lo[x] > 0 or self.native.hi[x] <= 1:
            return ()
        key = (x, 1, True)
        if key not in self._above_zero:
            self._above_zero[key] = self.native.positive(x)
        return (self._above_zero[key],)

    def _demanding(self, w: WholeForm) -> tuple[int, ...]:
        """The literal of a demand that can be 0: it is above; none for a constant, or a Boolean times a number.

        CP-SAT 9.15 keeps an interval whose demand is 0 away from where others take the whole capacity, unless the
        interval is absent (intervals [2, 4) with demand 0..2 and [0, 6) with demand 2 within 2: infeasible, it says).
        """
        low, high = self.native.bounds(w)
        if low > 0 or not w.terms:
            return ()
        ((x, c),) = w.terms.items()
        if self.native.hi[x] - self.native.lo[x] <= 1 or high <= 0:
            return ()
        edge = (1 - w.constant) / c  # shared by demands of several resources that are above 0 together
        key = (x, math.ceil(edge) if c > 0 else math.floor(edge), c > 0)
        if key not in self._above_zero:
            literal = self.native.boolean("", lambda values: int(w.value(values) > 0))
            self.native.inside(w, [(1, high)], (literal,))
            self.native.inside(w, [(low, 0)], (~literal,))
            self._above_zero[key] = literal
        return (self._above_zero[key],)
