"""Decompositions of products, quotients, remainders and elements of expressions, and of all_different and table."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

from ...models.language import AllDifferent, Constraint, Evaluator, Integer, Linear, Table, UndefinedValue
from ...models.language import sum as total
from ...models.language.expressions import Entry, Function, Product, Quotient, Remainder
from .constructs import FUNCTIONS, Construct
from .decomposition import Decomposition

# --- Whole numbers become binary digits, or a choice between values.
#
# A product ``a b``, where a in [L, U] has no more values than b in [l, u], is
#
#     a = L + sum_k 2^k c[k],   c[k] in {0, 1},   k = 0, ..., with 2^k <= U - L
#     a b = L b + sum_k 2^k w[k]
#     l c[k] <= w[k] <= u c[k],   l (1 - c[k]) <= b - w[k] <= u (1 - c[k])       so that w[k] = c[k] b
#
# A quotient q and remainder r of x by d are whole numbers with
#
#     x = q d + r,   0 <= r <= d - 1
#
# where ``q d`` is such a product if d is no constant. An element of expressions e[0], ..., e[n-1] at an index i is v with
#
#     sum_j c[j] = 1,   sum_j j c[j] = i,   lo(v - e[j]) (1 - c[j]) <= v - e[j] <= hi(v - e[j]) (1 - c[j])
#
# for the j that the index can be.


class Arithmetic(Decomposition):
    """Products, quotients, remainders and elements of expressions become linear (formulas: see the module)."""

    replaces = frozenset([Construct.PRODUCT, Construct.DIVISION, Construct.ENTRY])

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, or what replaces it."""
        if FUNCTIONS[type(atom)] not in self.missing:
            return super().function(atom)
        match atom:
            case Product(operands=(left, right)):
                return self._product(self.linear(left), self.linear(right))
            case Quotient(operands=(dividend, divisor)):
                return self._divided(self.linear(dividend), self.linear(divisor))[0]
            case Remainder(operands=(dividend, divisor)):
                return self._divided(self.linear(dividend), self.linear(divisor))[1]
            case Entry():
                return self._entry(self.linear(atom.operands[0]), [self.linear(e) for e in atom.entries])
            case _:
                return super().function(atom)

    def _product(self, left: Linear, right: Linear) -> Linear:
        """Return the product of two expressions."""
        ranges = [self.bounds.of(e) for e in (left, right)]
        first = ranges[0][1] - ranges[0][0] <= ranges[1][1] - ranges[1][0]
        a, b = (left, right) if first else (right, left)
        low, high = (int(side) for side in ranges[0 if first else 1])
        least, most = (int(side) for side in ranges[1 if first else 0])
        digits = [
            self.auxiliary(f"digit {2**k}", 0, 1, partial(_digit, e=a, least=low, k=k))
            for k in range((high - low).bit_length())
        ]
        powers = [2**k for k in range(len(digits))]
        self.add_range(a - total(digits, powers), low, low)
        return low * b + total([self._times(c, b, least, most) for c in digits], powers)

    def _times(self, c: Integer, b: Linear, least: int, most: int) -> Linear:
        """Return the product of a binary variable and an expression in [least, most]."""
        if least == most:
            return least * c.linear()
        w = self.auxiliary(f"{b}, if {c}", min(least, 0), max(most, 0), lambda ev: int(ev.value(c) * ev.value(b)))
        self.add_range(w - least * c, 0, math.inf)
        self.add_range(w - most * c, -math.inf, 0)
        self.add_range(b - w + least * c, least, math.inf)
        self.add_range(b - w + most * c, -math.inf, most)
        return w.linear()

    def _divided(self, x: Linear, d: Linear) -> tuple[Linear, Linear]:
        """Return the quotient and the remainder of two expressions."""
        low, high = self.bounds.of(x)
        least, most = self.bounds.of(d)
        if most < 1:
            self.impossible()
            return Linear({}, 0), Linear({}, 0)
        corners = [int(a // b) for a in (low, high) for b in (max(least, 1), most)]
        q = self.auxiliary(f"{x} // {d}", min(corners), max(corners), lambda ev: _quotient(ev, x, d))
        rest = x - (self._product(q.linear(), d) if d.terms else d.constant * q)
        self.add_range(rest, 0, math.inf)
        self.add_range(rest - d, -math.inf, -1)
        return q.linear(), rest

    def _entry(self, index: Linear, entries: list[Linear]) -> Linear:
        """Return the entry at an index."""
        low, high = self.bounds.of(index)
        reach = range(max(0, int(low)), min(len(entries) - 1, int(high)) + 1)
        first = reach.start
        c = self.choice(len(reach), "index", lambda ev: int(ev.value(index)) - first)
        self.add_range(index - total(c, list(reach)), 0, 0)
        ranges = [self.bounds.of(entries[j]) for j in reach]
        if not ranges:
            return Linear({}, 0)
        least = min(a for a, _ in ranges)
        most = max(b for _, b in ranges)
        v = self.auxiliary("element", least, most, lambda ev: int(ev.value(entries[_within(ev, index, reach)])))
        for chosen, j, (a, b) in zip(c, reach, ranges, strict=True):
            gap = v - entries[j]
            self.add_range(gap + (most - a) * chosen, -math.inf, most - a)
            self.add_range(gap + (least - b) * chosen, least - b, math.inf)
        return v.linear()


def _within(ev: Evaluator, index: Linear, reach: range) -> int:
    """Return the index, or the nearest one of those that it can be."""
    return min(max(int(ev.value(index)), reach.start), reach.stop - 1)


def _quotient(ev: Evaluator, x: Linear, d: Linear) -> int:
    divisor = int(ev.value(d))
    if divisor < 1:
        raise UndefinedValue(f"{x} // {d}: the divisor is {divisor}; it must be at least 1")
    return int(ev.value(x)) // divisor


def _digit(ev: Evaluator, e: Linear, least: int, k: int) -> int:
    """Return the k-th binary digit of what an expression is above its least value."""
    return (int(ev.value(e)) - least) >> k & 1


# --- Relations of values.


class Relations(Decomposition):
    """An all_different becomes an order of each pair, a table a choice of its tuples.

    For each pair i, j of expressions of an all_different, with ``o`` in {0, 1} and ``gap = e[j] - e[i]``::

        gap >= 1 + (lo(gap) - 1) (1 - o),   gap <= -1 + (hi(gap) + 1) o

    For the tuples ``t[k]`` of a table, each with a binary variable c[k]::

        sum_k c[k] = 1,   e[j] = sum_k t[k][j] c[k]
    """

    replaces = frozenset([Construct.ALL_DIFFERENT, Construct.TABLE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if isinstance(copied, AllDifferent) and Construct.ALL_DIFFERENT in self.missing:
            for e, f in combinations(copied.expressions, 2):
                self._apart(f - e)
            return None
        if isinstance(copied, Table) and Construct.TABLE in self.missing:
            self._table(copied)
            return None
        return copied

    def _apart(self, gap: Linear) -> None:
        """Require that a difference is not 0."""
        low, high = self.bounds.of(gap)
        if low > 0 or high < 0:
            return
        o = self.auxiliary(f"{gap} > 0", 0, 1, lambda ev: int(ev.value(gap) > 0))
        self.add_range(gap + (low - 1) * o, low, math.inf)
        self.add_range(gap - (high + 1) * o, -math.inf, -1)

    def _table(self, c: Table) -> None:
        """Require one of the tuples."""
        rows = c.tuples
        place = {row: k for k, row in enumerate(rows)}

        def chosen(ev: Evaluator) -> int:
            return place.get(tuple(int(ev.value(e)) for e in c.expressions), 0)

        choices = self.choice(len(rows), "tuple", chosen)
        for j, e in enumerate(c.expressions):
            self.add_range(e - total(choices, [row[j] for row in rows]), 0, 0)
