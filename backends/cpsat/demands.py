"""Demands and capacities of ``cumulative`` in CP-SAT: each demand becomes a number or one variable, with a literal for "above 0".

CP-SAT takes a demand that is a constant or ``c x + b`` with one variable x. CP-SAT 9.15 also keeps an interval whose
demand is 0 away from where others take the whole capacity, unless the interval is absent: it calls the intervals [2, 4)
with demand 0..2 and [0, 6) with demand 2, on capacity 2, infeasible. In the language such an interval takes no part.

Data
    D         linear expression of a demand, over integer variables y
    v         the interval with this demand, with presence p[v]
New variables
    w = D     if D has two or more variables; else w stands for D itself
    q         1 if the demand is above 0; only if the demand can be 0 and its variable has more than two values
Constraints
    w = sum_k c[k] y[k] + b
    q = 1  =>  w >= 1
    q = 0  =>  w <= 0
    interval of v in the cumulative: present if and only if p[v] = 1 and q = 1, with demand w
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...models.language import Cumulative, Integer, Linear
from .expressions import CpSatExpressions
from .native import NativeModel, WholeForm


class Demands:
    """The lowering of demands. All cumulative constraints share the literals q of the module's text."""

    def __init__(self, native: NativeModel, expressions: CpSatExpressions) -> None:
        self.native, self.expressions = native, expressions
        self._above_zero: dict[tuple[int, int, bool], int] = {}

    def lower(self, demand: Linear) -> tuple[tuple[int, ...], Any]:
        """Return (the literal q, if it is needed; the native demand: an integer or an expression of one variable)."""
        if len(demand.terms) == 1 and not demand.constant:
            ((atom, factor),) = demand.terms.items()
            if type(atom) is Integer and type(factor) is int and factor > 0:  # the most common case, made fast
                x = self.expressions.integer[atom.index]
                return self._above(x), self.native.multiple(x, factor)
        w = self.native.whole(self.expressions.form(demand), 1)
        if len(w.terms) > 1:
            total = self.native.variable((self.native.bounds(w),), "", w.value)
            self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
            w = WholeForm({total: 1}, 0)
        return self._demanding(w), self.native.expression(w) if w.terms else w.constant

    def _above(self, x: int) -> tuple[int, ...]:
        """Return the same as ``_demanding`` for a positive multiple of variable x."""
        if self.native.lo[x] > 0 or self.native.hi[x] <= 1:
            return ()
        key = (x, 1, True)
        if key not in self._above_zero:
            self._above_zero[key] = self.native.positive(x)
        return (self._above_zero[key],)

    def _demanding(self, w: WholeForm) -> tuple[int, ...]:
        """Return the literal q of a demand that can be 0; none for a constant or for a 0-1 variable times a number."""
        low, high = self.native.bounds(w)
        if low > 0 or not w.terms:
            return ()
        ((x, c),) = w.terms.items()
        if self.native.hi[x] - self.native.lo[x] <= 1 or high <= 0:
            return ()
        edge = (1 - w.constant) / c  # demands with the same edge are above 0 together and share q
        key = (x, math.ceil(edge) if c > 0 else math.floor(edge), c > 0)
        if key not in self._above_zero:
            literal = self.native.boolean("", lambda values: int(w.value(values) > 0))
            self.native.inside(w, [(1, high)], (literal,))
            self.native.inside(w, [(low, 0)], (~literal,))
            self._above_zero[key] = literal
        return (self._above_zero[key],)


def segments(c: Cumulative) -> Iterable[tuple[int, int, int]]:
    """Yield (from, to, capacity) of each segment of time, within the time range of the intervals."""
    low = min((v.start_lo for v in c.intervals), default=0)
    high = max((v.start_hi + v.size_hi for v in c.intervals), default=0)
    for k, (time, capacity) in enumerate(c.steps):
        start = low if k == 0 else max(low, time)
        end = high if k + 1 == len(c.steps) else min(high, c.steps[k + 1][0])
        if start < end:
            yield start, end, capacity
