"""Decompositions of expressions and variables: arithmetic, functions, intervals, real coefficients, times from an origin."""

from __future__ import annotations

import math
from builtins import max as greatest
from builtins import min as least
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import NamedTuple

from ...errors import SolverUnavailable, WrongValue
from ...models import language as sl
from ...models.arguments import rational
from ...models.language import (
    AllDifferent,
    Assignment,
    Bounds,
    Comparison,
    Constraint,
    Evaluator,
    Integer,
    Interval,
    Linear,
    Model,
    Table,
    UndefinedValue,
    element,
    piecewise,
)
from ...models.language import sum as total
from ...models.language.bounds import Breakpoint, value_at
from ...models.language.constraints import intervals_of
from ...models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Entry,
    Function,
    Holds,
    Max,
    Min,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    Window,
)
from ...models.language.functions import max as latest
from ...models.language.functions import min as first
from ...models.language.semantics import common_constant, far_origin, origin_of, real_tolerance, whole_form
from .decomposition import FUNCTIONS, Construct, Decomposition, Steps, Variables, whole

# --- Decompositions of products, quotients, remainders and elements of expressions: binary digits, or a choice of values.
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
    """Products, quotients, remainders and elements of expressions become linear (formulas: above)."""

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
        if first:
            a = left
            b = right
        else:
            a = right
            b = left
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


# --- Decompositions of relations of values: all_different and table.


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


# --- Decompositions of functions: max, min, holds, overlap, element, piecewise.
#
# A function is replaced by a linear expression over auxiliary variables. They all are integer variables: where the value
# of the function is a real number, it is a sum of whole numbers with real coefficients.
#
# ``choice`` gives binary variables ``c[k]`` with ``sum_k c[k] = 1``. The product ``c a`` of a binary c and a whole number
# a in [L, U] (a variable or an attribute of an interval) is an integer variable w with::
#
#     L c <= w <= U c,   L (1 - c) <= a - w <= U (1 - c)
#
# and the product of c and a linear expression is the sum of the products with its terms.


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
        a = greatest([copied.lo, low])
        b = least([copied.hi, high])
        if a <= b:
            cases = [(low, a - 1, 0), (a, b, 1), (b + 1, high, 0)]
        else:
            cases = [(low, high, 0)]
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
            x0, y0 = points[k]
            x1, y1 = points[k + 1]
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


# --- Decompositions of intervals: start windows with gaps, and optional intervals.


class StartWindows(Decomposition):
    """Several start windows become one, with a binary variable for each window.

    For the windows ``[a[k], b[k]]`` in increasing time, the start has the one window from the first a to the last b::

        sum_k w[k] = p,   sum_k a[k] w[k] <= s <= sum_k b[k] w[k],   w[k] in {0, 1}

    If the interval is absent, all w and the start are 0.
    """

    replaces = frozenset([Construct.START_WINDOWS])

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval."""
        if len(v.windows) == 1:
            return super().interval(v)
        made = self.model.interval(v.name, (v.size_lo, v.size_hi), (v.start_lo, v.start_hi), v.optional)
        w = [self.auxiliary(f"{v.name} in {x}", 0, 1, partial(_inside, v=made, window=x)) for x in v.windows]
        self.add(total(w) == made.presence)
        self.add(made.start >= total(w, [a for a, _ in v.windows]))
        self.add(made.start <= total(w, [b for _, b in v.windows]))
        return made


def _inside(ev: Evaluator, v: Interval, window: tuple[int, int]) -> int:
    return int(ev.value(v.presence) == 1 and window[0] <= ev.value(v.start) <= window[1])


class Optionals(Decomposition):
    """An optional interval becomes a binary variable and an interval that has the size 0 if the original is absent.

    For the earliest and latest start ``a, b`` and the sizes from L to U, the interval has a start s' in the same
    windows, a size z' in [0, U], and::

        L p <= z' <= U p,   s' <= a + (b - a) p
        s = s' - a (1 - p),   e = s + z',   z = z'      in expressions

    An absent interval lies at a with the size 0, where no_overlap, forbid_extent and cumulative ignore it. Alternative,
    all_or_none, synchronize and precedences, which do not ignore it, are replaced before.
    """

    replaces = frozenset([Construct.OPTIONAL])

    def __init__(self, origin: Model, missing: frozenset[Construct]) -> None:
        self.present: dict[Interval, Integer] = {}
        super().__init__(origin, missing)

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval, and its presence."""
        if not v.optional:
            return super().interval(v)
        made = self.model.interval(v.name, (0, v.size_hi), list(v.windows))
        p = self.present[v] = self.model.boolean(f"{v.name} is present")
        if v.size_hi:
            self.add(made.size >= v.size_lo * p)
            self.add(made.size <= v.size_hi * p)
        self.add(made.start <= v.start_lo + (v.start_hi - v.start_lo) * p)
        return made

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if Construct.OPTIONAL in self.missing and type(c).__name__ in (
            "AllOrNone",
            "Alternative",
            "Synchronize",
            "Precedence",
        ):
            some = [v.name for v in intervals_of(c) if v.optional]
            if some:
                raise WrongValue(f"{self.name}: replace this constraint before its optional intervals {some}")
        return copied

    def attribute(self, atom: Attribute) -> Linear:
        """Return the start, end, size or presence in terms of the copy."""
        p = self.present.get(atom.interval)
        if p is None:
            return super().attribute(atom)
        if atom.field == "presence":
            return p.linear()
        e = super().attribute(atom)
        earliest = atom.interval.start_lo
        if atom.field in ("start", "end") and earliest:
            return e - earliest + earliest * p
        return e

    def place(self, v: Interval, assignment: Assignment, made: Assignment) -> None:
        """Set the copy of an interval, and its presence."""
        super().place(v, assignment, made)
        if v in self.present:
            made.integer[self.present[v].index] = int(assignment.present[v.index])
            if not assignment.present[v.index]:
                made.set(self.intervals[v], v.start_lo, v.start_lo)

    def back(self, assignment: Assignment) -> Assignment:
        """Convert an assignment of the copy to one of the original."""
        made = super().back(assignment)
        for v, p in self.present.items():
            if not assignment.integer[p.index]:
                i = v.index
                made.start[i] = 0
                made.end[i] = 0
                made.present[i] = False
        return made

    def variables(self, x: Integer | Interval) -> Variables:
        """Return what stands for a variable of the original."""
        if isinstance(x, Interval) and x in self.present:
            return {"interval": self.intervals[x], "presence": self.present[x]}
        return super().variables(x)


# --- The decomposition of real coefficients: comparisons and objectives are multiplied by a number and become whole.
#
# For an expression ``sum_i c[i] x[i]`` over whole numbers with ``|x[i]| <= X[i]``, let D be the common denominator of the
# coefficients (a float stands for the simplest fraction near it: 0.1 is 1/10) and ``S = sum_i |c[i]| X[i]``. The factor F
# is D if ``D S <= 2^53``, else the greatest power of two with ``F S <= 2^53``. With the integers ``C[i]`` nearest to
# ``F c[i]``, the error is at most ``E = sum_i |C[i] - F c[i]| X[i]``; it is 0 for ``F = D``. A comparison becomes::
#
#     ceil(F lo - E - F t / 2) <= sum_i C[i] x[i] <= floor(F hi + E + F t / 2)
#
# where t is the tolerance of the language for real numbers. It is required that ``E <= F t / 4``, so each answer satisfies
# the comparison within t, and no solution is lost. An objective is replaced by ``sum_i C[i] x[i]``; its bound b gives
# the bound ``(b - E) / F`` (minimize; ``(b + E) / F`` for maximize) plus the constant of the objective.

LARGEST = 1 << 53  # greatest sum: also a solver that computes in double precision adds such whole numbers exactly


class Scaled(NamedTuple):
    """An expression multiplied by ``factor`` and rounded; ``error`` is in the units of the result."""

    terms: dict[Atom, int]
    factor: int
    error: float


class RealNumbers(Decomposition):
    """Comparisons and objectives with real coefficients or bounds become whole (see the module).

    All functions with real values are replaced before.
    """

    replaces = frozenset([Construct.REAL])

    def __init__(self, origin: Model, missing: frozenset[Construct]) -> None:
        self._objective = Scaled({}, 1, 0.0)
        self._constant = 0.0
        self._origin = far_origin(origin)
        super().__init__(origin, missing)

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Comparison) or whole(copied):
            return copied
        made = self._scaled(copied.expr)
        tolerance = real_tolerance(copied, self._origin)
        if made.error > made.factor * tolerance / 4:
            raise SolverUnavailable(f"{self.name}: its real coefficients cannot be scaled to whole numbers below 2^53")
        slack = made.error + made.factor * tolerance / 2
        lo = copied.lo * made.factor - slack
        hi = copied.hi * made.factor + slack
        low = math.ceil(lo) if lo > -math.inf else lo
        high = math.floor(hi) if hi < math.inf else hi
        if low > high:
            self.impossible()
            return None
        return Comparison(Linear(dict(made.terms)), low, high)

    def objective(self) -> None:
        """Add the copies of the objectives."""
        super().objective()
        for k, e in enumerate(self.model.objectives):
            if not e.integral:
                made = self._scaled(e)
                self.model.objectives[k] = Linear(dict(made.terms))
                if k == 0:
                    self._objective, self._constant = made, e.constant
                    if made.error:
                        error = made.error / made.factor
                        self.notes = (f"the objective is rounded, with an error of at most {error:.2g}",)

    def bound(self, value: float) -> float:
        """Return the bound on the original's (first) objective."""
        made = self._objective
        if self.origin.sense == "minimize":
            worse = -made.error
        else:
            worse = made.error
        return (value + worse) / made.factor + self._constant

    def _scaled(self, e: Linear) -> Scaled:
        reach = {a: max(map(abs, self.bounds.of(a))) for a in e.terms}
        coefficients = {a: rational(c) for a, c in e.terms.items()}
        size = sum(abs(c) * reach[a] for a, c in e.terms.items())
        factor = math.lcm(*(c.denominator for c in coefficients.values()))
        if factor * size > LARGEST:
            factor = 1 << max(0, math.floor(math.log2(LARGEST / size)))
        terms = {a: round(c * factor) for a, c in coefficients.items()}
        error = sum(abs(float(terms[a] - c * factor)) * reach[a] for a, c in coefficients.items())
        return Scaled({a: c for a, c in terms.items() if c}, factor, error)


# --- A model with times relative to its earliest start, and an objective without its constant offset.
#
# Times of logs are counted from 1970, so that they are 1.7e9 s and more. Neither the size of a native model, nor its big-M
# constants, nor the relative gap at which a solver stops may depend on that. With the earliest start O of all intervals, an
# interval with the start s gets the start ``s - O`` in the copy, and every expression has ``s' + O p`` in place of s, with
# the presence p (1 for an interval that is not optional); ``late_presence`` replaces O by a smaller number where it can. The constant of the objective is left out; a common constant of
# all operands of a max or min is a part of it.


class Origin(Decomposition):
    """A copy of a model whose times begin at 0, and whose first objective has no constant.

    Parameters
    ----------
    origin : Model
        The model. It is not changed.

    Examples
    --------
    >>> m = Model("late"); a = m.interval("a", size=3, start=(1000, 1010)); m.minimize(2 * a.end + 7)
    >>> made = Origin(m)
    >>> made.model.intervals[0].windows, made.model.objectives, made.bound(6)
    (((0, 10),), [2*a.end], 2013)
    """

    def __init__(self, origin: Model) -> None:
        self.shift = origin_of(origin)
        self.offset: int | float = 0
        super().__init__(origin, frozenset())

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval with earlier windows."""
        windows = [(lo - self.shift, hi - self.shift) for lo, hi in v.windows]
        return self.model.interval(v.name, (v.size_lo, v.size_hi), windows, v.optional)

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity with earlier times."""
        return tuple((t - self.shift, c) for t, c in steps)

    def forbidden(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the forbidden windows with earlier times."""
        return tuple((lo - self.shift, hi - self.shift) for lo, hi in windows)

    def attribute(self, atom: Attribute) -> Linear:
        """Return the attribute in the times of the original."""
        e = super().attribute(atom)
        if atom.field not in ("start", "end"):
            return e
        v = self.intervals[atom.interval]
        if v.optional:
            return e + self.shift * v.presence
        return e + self.shift

    def comparison(self, c: Comparison) -> Comparison:
        """Return the copy of a comparison, with smaller numbers for presences."""
        copied = super().comparison(c)
        if not copied.expr.integral:
            whole = whole_form(copied)
        else:
            whole = copied
        if whole is None:
            return copied
        e = nearer(whole.expr, self.shift, whole.lo, whole.hi, self.bounds)
        if e is whole.expr:
            return copied
        return Comparison(Linear(e.terms), whole.lo - e.constant, whole.hi - e.constant)

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function; a constant that all operands of a max or min have is added outside of it.

        The constant of the operand of a piecewise-linear function is taken off its points.
        """
        if isinstance(atom, Element):
            index = self.linear(atom.operands[0])
            return element(atom.array, nearer(index, self.shift, 0, len(atom.array) - 1, self.bounds))
        if isinstance(atom, Piecewise):
            x = self.linear(atom.operands[0])
            made = None
            if self.shift:
                made = piecewise_of_time(x, atom.points, self.shift)
            if made is not None:
                return made
            moved = [(at - x.constant, value) for at, value in atom.points]
            if all(a < b for (a, _), (b, _) in pairwise(moved)):  # points at real numbers may become equal
                return piecewise(x - x.constant, moved)
        if not isinstance(atom, (Max, Min)):
            return super().function(atom)
        operands = [self.linear(e) for e in atom.operands]
        if isinstance(atom, Max):
            pick = latest
        else:
            pick = first
        constants = [e.constant for e in operands]
        least = min(constants)
        made = extreme([e - least for e in operands], self.shift, pick, self.bounds)
        if made is not None:
            return made + least
        shared = common_constant(constants)
        return pick(self._cut([e - shared for e in operands], isinstance(atom, Max))) + shared

    def _cut(self, operands: list[Linear], greatest: bool) -> list[Linear]:
        """Return the operands of a max with smaller numbers for presences where they are below another operand.

        Those of a min where they are above another one.
        """
        sides = [self.bounds.of(e) for e in operands]
        if greatest:
            floor = max(lo for lo, _ in sides)
            return [nearer(e, self.shift, floor, hi, self.bounds) for e, (_, hi) in zip(operands, sides, strict=True)]
        roof = min(hi for _, hi in sides)
        return [nearer(e, self.shift, lo, roof, self.bounds) for e, (lo, _) in zip(operands, sides, strict=True)]

    def objective(self) -> None:
        """Add the copies of the objectives without the constant of the first one."""
        super().objective()
        if self.model.objectives:
            e = self.model.objectives[0]
            self.offset = e.constant
            self.model.objectives = [Linear(e.terms, 0), *self.model.objectives[1:]]

    def place(self, v: Interval, assignment: object, made: object) -> None:
        """Set the copy of an interval in ``made`` to the earlier value."""
        if assignment.present[v.index]:  # type: ignore[attr-defined]
            start, end = assignment.start[v.index], assignment.end[v.index]  # type: ignore[attr-defined]
            made.set(self.intervals[v], start - self.shift, end - self.shift)  # type: ignore[attr-defined]

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective for one on the objective of the copy."""
        return value + self.offset

    def variables(self, x: Integer | Interval) -> Variables:
        """Return the copy of a variable."""
        if isinstance(x, Integer):
            return self.integers[x]
        return self.intervals[x]


# --- Smaller numbers for the presence of optional intervals whose times are late, as Unix times are.
#
# The end of an optional interval is ``e + O p``, where e is counted from the origin O and p is the presence: an absent
# interval ends at 0, not at O. In a comparison, the great number O only says which intervals are present together; a number
# just beyond the span of e says the same. Solvers that compute with tolerances refuse the great one.
#
# Let ``f = O (P - h) + g``, where P is a sum of 0/1 values with whole coefficients, h a whole number, and g in [L, U]. If
# ``f < A`` whenever ``P < h`` and ``f > B`` whenever ``P > h``, then ``A <= f <= B`` is the same as
# ``A <= K (P - h) + g <= B`` for each K with::
#
#     K > B - L,    K > U - A
#
# Where A is absent, ``P < h`` must imply ``f <= B``, and ``K >= U - B``; where B is absent, ``P > h`` implies ``f >= A``, and
# ``K >= A - L``.
#
# The greatest of several ends (or starts) ``e[k] + O p[k]`` with O > 0 is ``max(e) + O max(p)``, because e[k] >= 0, and
# e[k] = 0 where p[k] = 0; likewise the least one. A piecewise-linear function F of ``c (e + O p) + d`` is
# ``F(c e + c O + d) + (F(d) - F(c O + d)) (1 - p)``.


PART = 1e-3  # least share of the origin that a coefficient of a presence has


class Parts(NamedTuple):
    """An expression ``unit * (truths - level) + rest`` with a sum of 0/1 values; the bounds of truths and rest."""

    unit: int
    truths: Linear
    level: int
    rest: Linear
    sums: tuple[Number, Number]
    rests: tuple[Number, Number]


def nearer(e: Linear, origin: int, lo: Number, hi: Number, bounds: Bounds) -> Linear:
    """Return an expression with smaller coefficients that is between lo and hi exactly where ``e`` is.

    Within lo and hi, the two are equal if both are finite. If it has no smaller coefficients, or is real, so that it is compared
    with a tolerance, ``e`` is returned.

    Parameters
    ----------
    e : Linear
        Of a model with times from the origin on.
    origin : int
        Seconds by which the times of the model are earlier.
    lo, hi : number
        May be infinite.
    bounds : Bounds
        Of the atoms of ``e``.
    """
    finite = [b for b in (lo, hi) if not math.isinf(b)]
    parts = None
    if finite and e.integral:
        parts = _parts(e, origin, int(finite[-1]), bounds)
    if parts is None:
        return e
    needed = _needed(parts, lo, hi)
    if needed is None or needed == parts.unit:
        return e
    return needed * (parts.truths - parts.level) + parts.rest


def extreme(
    operands: Sequence[Linear], origin: int, pick: Callable[[Sequence[Linear]], Linear], bounds: Bounds
) -> Linear | None:
    """Return the greatest (least) of times that are all counted from the origin if present; None if they are not.

    Parameters
    ----------
    operands : sequence of Linear
    origin : int
    pick : callable
        `max` or `min` of the modelling language.
    bounds : Bounds
    """
    if origin <= 0:
        return None
    times, present = [], []
    for e in operands:
        attributes = [a for a in e.terms if isinstance(a, Attribute)]
        times_of = [a for a in attributes if a.field in ("start", "end") and e.terms[a] == 1]
        if len(times_of) != 1 or bounds.of(times_of[0])[0] < 0:
            return None
        v = times_of[0].interval
        wanted = times_of[0].linear() + (origin * v.presence if v.optional else origin)
        if wanted.terms != e.terms or wanted.constant != e.constant:
            return None
        times.append(times_of[0].linear())
        present.append(v.presence.linear() if v.optional else Linear({}, 1))
    return pick(times) + origin * pick(present)


def piecewise_of_time(x: Linear, points: Sequence[Breakpoint], origin: int) -> Linear | None:
    """Return a piecewise-linear function of the time of one optional interval; None for another expression.

    Parameters
    ----------
    x : Linear
        Of a model with times from the origin on.
    points : sequence of pairs
        The points of the function.
    origin : int
    """
    times = [a for a in x.terms if isinstance(a, Attribute) and a.field in ("start", "end")]
    if len(times) != 1 or not times[0].interval.optional:
        return None
    time = times[0].linear()
    presence = times[0].interval.presence
    factor = x.terms[times[0]]
    if (factor * (time + origin * presence)).terms != x.terms:
        return None
    shift = factor * origin + x.constant
    absent = value_at(points, x.constant)
    at_origin = value_at(points, shift)
    moved = [(at - shift, value) for at, value in points]
    if absent is None or at_origin is None or any(a >= b for (a, _), (b, _) in pairwise(moved)):
        return None
    return piecewise(factor * time, moved) + (absent - at_origin) * (1 - presence)


def _parts(e: Linear, origin: int, level_at: Number, bounds: Bounds) -> Parts | None:
    """Return the parts of an expression; the level is the sum at which the expression is about ``level_at``."""
    bounds.of(e)
    great = {a: c for a, c in e.terms.items() if _is_truth(a, bounds) and abs(c) >= PART * abs(origin)}
    if not great:
        return None
    unit = int(min(map(abs, great.values())))
    truths: dict[Atom, Number] = {a: round(c / unit) for a, c in great.items()}
    rest = dict(e.terms)
    for a in great:
        rest[a] -= truths[a] * unit
    level = round((level_at - e.constant) / unit)
    left = Linear({a: c for a, c in rest.items() if c}, e.constant + level * unit)
    total = Linear(truths)
    return Parts(unit, total, level, left, bounds.of(total), bounds.of(left))


def _is_truth(atom: Atom, bounds: Bounds) -> bool:
    lo, hi = bounds.of_atom(atom)
    return atom.integral and lo >= 0 and hi <= 1


def _needed(parts: Parts, lo: Number, hi: Number) -> int | None:
    """Return the least unit that decides between lo and hi as the given one does; None if that decides otherwise."""
    unit, (least, most) = parts.unit, parts.rests
    needed: Number = 1
    if parts.sums[1] > parts.level:
        if math.isinf(hi):
            above = lo - least
        else:
            above = hi - least + 1
        needed = max(needed, above)
    if parts.sums[0] < parts.level:
        if math.isinf(lo):
            below = most - hi
        else:
            below = most - lo + 1
        needed = max(needed, below)
    if needed <= unit:
        return math.ceil(needed)
    return None
