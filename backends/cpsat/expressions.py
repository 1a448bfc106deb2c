"""Expressions in CP-SAT: each atom of the language becomes a linear form over native variables.

``models/language/semantics.py`` defines the meaning of each atom. All lowerings are exact, except for real numbers
whose common denominator is too large: they are rounded, and the form carries the error. The constraints posted here can
be satisfied whatever the values of the operands are, except the ranges of ``element`` and ``piecewise``, and that
divisors are not 0. Those are posted by ``require`` and so are guarded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from ...errors import WrongArgument
from ...models.arguments import Rational, rational
from ...models.language import Comparison, Interval, Linear, Model
from ...models.language.bounds import far_origin, real_tolerance
from ...models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Entry,
    Holds,
    Integer,
    Max,
    Min,
    Neighbours,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    atoms_below,
)
from ...models.language.quantities import Number, Window
from .native import LARGEST, Form, NativeModel, Recipe, WholeForm, magnitude

MANY = 14  # most 0-1 variables in an operand of a maximum: their sum can have 2^14 values


class CpSatExpressions:
    """The lowering of expressions; each atom is lowered once.

    Attributes
    ----------
    start, size, end, presence : list of int
        Index of the native variable of each interval; -1 if there is none. Size and end have variables only if the size
        varies, presence only if the interval is optional.
    integer : list of int
        Index of the native variable of each integer variable.
    """

    def __init__(self, native: NativeModel, model: Model, neighbours: Callable[[Neighbours], Form]) -> None:
        self.native = native
        self.model = model
        self.neighbours = neighbours
        self.start: list[int] = []
        self.size: list[int] = []
        self.end: list[int] = []
        self.presence: list[int] = []
        self.integer: list[int] = []
        self._known: dict[Atom, Form] = {}
        self._run: dict[tuple[int, int], Form] = {}

    @cached_property
    def far_origin(self) -> int:
        """The earliest start of the model if it is far from 0; real coefficients alone need it."""
        return far_origin(self.model)

    def forget(self) -> None:
        """Forget the atoms lowered so far, so that the next guard covers the ranges of its own atoms."""
        self._known.clear()
        self._run.clear()

    def form(self, e: Linear) -> Form:
        """Return the expression as a linear form over native variables."""
        if form := self._of_variables(e):
            return form
        for atom in atoms_below([e]):
            if atom not in self._known:
                self._known[atom] = self._atom(atom)
        return self._combined(e)

    def _of_variables(self, e: Linear) -> Form | None:
        """Return the form of a sum of integer variables and starts that are never absent, the usual sums; else None."""
        terms: dict[int, Rational] = {}
        for atom, c in e.terms.items():
            if type(atom) is Integer:
                i = self.integer[atom.index]
            elif type(atom) is Attribute and atom.field == "start" and self.presence[atom.interval.index] < 0:
                i = self.start[atom.interval.index]
            else:
                return None
            terms[i] = terms[i] + rational(c) if i in terms else rational(c)
        return Form(terms, rational(e.constant))

    def _combined(self, e: Linear) -> Form:
        """Return the form of a sum of atoms whose forms are known."""
        if len(e.terms) == 1 and not e.constant:
            ((atom, c),) = e.terms.items()
            if c == 1:
                return self._known[atom]
        terms: dict[int, Rational] = {}
        constant = rational(e.constant)
        error: Rational = 0
        for atom, c in e.terms.items():
            f = self._known[atom]
            k = rational(c)
            for i, a in f.terms.items():  # sums and products of fractions are slow
                term = k if a == 1 else k * a
                terms[i] = terms[i] + term if i in terms else term
            if f.constant:
                constant += k * f.constant
            if f.error:
                error += magnitude(k) * f.error
        return Form(terms, constant, error)

    def _atom(self, atom: Atom) -> Form:
        match atom:
            case Integer():
                return Form({self.integer[atom.index]: 1})
            case Attribute():
                return self._attribute(atom)
            case Overlap():
                return self._overlap(atom)
            case Max():
                return self._max([self._combined(e) for e in atom.operands])
            case Min():
                return self._max([self._combined(e).times(-1) for e in atom.operands]).times(-1)
            case Holds():
                return self._holds(atom)
            case Element():
                return self._element(atom)
            case Piecewise():
                return self._piecewise(atom)
            case Product():
                return self._product(atom)
            case Quotient() | Remainder():
                return self._division(atom)
            case Entry():
                return self._entry(atom)
            case Neighbours():
                return self.neighbours(atom)
            case _:
                raise WrongArgument(f"CP-SAT has no lowering for {type(atom).__name__}")

    def _attribute(self, atom: Attribute) -> Form:
        v, i = atom.interval, atom.interval.index
        p = self.presence[i]
        if atom.field == "presence":
            return Form({p: 1}) if p >= 0 else Form(constant=1)
        if atom.field == "start":
            return (
                Form({self.start[i]: 1}) if p < 0 else self._if_present(v.windows, f"{v.name}.start", self.start[i], p)
            )
        if atom.field == "size":
            if v.size_lo == v.size_hi:
                return Form({p: v.size_lo}) if p >= 0 else Form(constant=v.size_lo)
            sizes = ((v.size_lo, v.size_hi),)
            return Form({self.size[i]: 1}) if p < 0 else self._if_present(sizes, f"{v.name}.size", self.size[i], p)
        if p < 0:
            return Form({self.end[i]: 1}) if v.size_lo < v.size_hi else Form({self.start[i]: 1}, v.size_lo)
        return self.form(v.start + v.size)

    def _if_present(self, windows: tuple[Window, ...], name: str, i: int, p: int) -> Form:
        """Return variable i if the literal p holds, else 0: the start of an absent interval is free in CP-SAT."""
        if windows[0][0] == windows[-1][1]:
            return Form({p: windows[0][0]})
        domain = _with_zero(windows)
        value = self.native.variable(domain, name, lambda values: values[i] if values[p] else 0)
        self.native.inside(WholeForm({value: 1, i: -1}, 0), [(0, 0)], (p,))
        self.native.inside(WholeForm({value: 1}, 0), [(0, 0)], (~p,))
        return Form({value: 1})

    def _overlap(self, atom: Overlap) -> Form:
        """Return ``max(0, min(end, hi) - max(start, lo))``, which is 0 for an absent interval (start = end = 0).

        With a fixed size: ``ran(hi) - ran(lo)`` (``_ran``), so that adjacent windows share a term.
        """
        v: Interval = atom.interval
        if v.size_lo == v.size_hi:
            by_end = self._ran(v, atom.hi)
            by_begin = self._ran(v, atom.lo).times(-1)
            terms = dict(by_end.terms)
            for i, c in by_begin.terms.items():
                terms[i] = terms.get(i, 0) + c
            return Form({i: c for i, c in terms.items() if c}, by_end.constant + by_begin.constant)
        first = Max((v.start.linear(), Linear({}, atom.lo)))
        last = Min((v.end.linear(), Linear({}, atom.hi)))
        return self.form(Linear({Max((last - first, Linear({}, 0))): 1}))

    def _ran(self, v: Interval, t: int) -> Form:
        """Return the time that an interval of fixed size d has run by t; 0 if it is absent.

        It is ``max(0, t - start) - max(0, t - d - start)``.
        """
        i = v.index
        if (i, t) not in self._run:
            self._run[i, t] = self._new_run(v, t)
        return self._run[i, t]

    def _new_run(self, v: Interval, t: int) -> Form:
        d = v.size_lo
        s = self.start[v.index]
        p = self.presence[v.index]
        if t <= v.start_lo or d == 0:
            return Form()
        begun, ended = (self._max([Form({s: -1}, x), Form()]) for x in (t, t - d))
        terms = dict(begun.terms)
        for k, c in ended.terms.items():
            terms[k] = terms.get(k, 0) - c
        here = Form({k: c for k, c in terms.items() if c}, begun.constant - ended.constant)
        if p < 0:
            return here
        most = min(d, t - v.start_lo)
        if not here.terms:
            return Form({p: here.constant})
        w = self.native.whole(here, 1)
        made = self.native.variable(((0, most),), "", lambda values: w.value(values) if values[p] else 0)
        self.native.inside(WholeForm({made: 1, p: -most}, 0), [(-LARGEST, 0)], ())
        self.native.inside(WholeForm({**w.terms, made: -1}, w.constant), [(0, 0)], (p,))
        return Form({made: 1})

    def _max(self, operands: list[Form]) -> Form:
        """Return a variable equal to the greatest operand, without operands that are never the greatest."""
        bounds = [self.native.bounds(f) for f in operands]
        floor = max(low for low, _ in bounds)
        reached = next(k for k, (low, _) in enumerate(bounds) if low == floor)
        kept = [f for k, f in enumerate(operands) if bounds[k][1] > floor or k == reached]
        if len(kept) == 1:
            return kept[0]
        scale = self.native.auxiliary_scale(kept)
        wholes = [self.native.whole(f, scale) for f in kept]
        ranges = bounds if scale == 1 and len(kept) == len(operands) else [self.native.bounds(w) for w in wholes]
        domain = ((max(low for low, _ in ranges), max(high for _, high in ranges)),)
        made = self.native.variable(domain, "", lambda values: max(w.value(values) for w in wholes))
        terms = [self._operand(w) for w in wholes]  # may post constraints, before the one that is filled in
        posted = self.native.model.proto.constraints.add().lin_max
        self.native.fill(posted.target, WholeForm({made: 1}, 0))
        self.native.fill_all(posted.exprs, terms)
        return Form({made: _over(scale)}, 0, max(w.error for w in wholes))

    def _operand(self, w: WholeForm) -> WholeForm:
        """Return the form, or a variable equal to it if it has many 0-1 variables.

        Presolve lists every value of each operand of a maximum. For a sum of many 0-1 variables with different
        coefficients it does not end (ortools 9.15), whatever the time limit.
        """
        if len(w.terms) <= MANY or sum(self.native.hi[i] - self.native.lo[i] == 1 for i in w.terms) <= MANY:
            return w
        total = self.native.variable((self.native.bounds(w),), "", w.value)
        self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
        return WholeForm({total: 1}, 0)

    def _holds(self, atom: Holds) -> Form:
        w = self.native.whole(self._combined(atom.comparison.expr), 1)
        lo, hi = _integer_range(atom.comparison.lo, atom.comparison.hi)
        low, high = self.native.bounds(w)
        if lo <= low and high <= hi:
            return Form(constant=1)
        if high < lo or hi < low or lo > hi:
            return Form(constant=0)
        if len(w.terms) == 1:
            ((i, c),) = w.terms.items()
            if self.native.lo[i] == 0 and self.native.hi[i] == 1:  # the truth value is linear in a 0-1 variable
                zero = int(lo <= w.constant <= hi)
                one = int(lo <= w.constant + c <= hi)
                return Form({i: one - zero}, zero)
        h = self.native.boolean("", lambda values: int(lo <= w.value(values) <= hi))
        self.native.inside(w, [(lo, hi)], (h,))
        self.native.inside(w, [(low, lo - 1), (hi + 1, high)], (~h,))
        return Form({h: 1})

    def _element(self, atom: Element) -> Form:
        at = self._position(self._combined(atom.operands[0]), 0, len(atom.array) - 1)
        if at < 0:
            return Form()
        a = self.native.lo[at]
        b = self.native.hi[at]
        values = [Form(constant=rational(v)) for v in atom.array]
        scale = self.native.auxiliary_scale(values[a : b + 1])
        entries = [self.native.whole(v, scale) for v in values[a : b + 1]]
        table = [0] * a + [e.constant for e in entries]
        made = self.native.variable(((min(table[a:]), max(table[a:])),), "", lambda known: table[known[at]])
        self.native.model.add_element(self.native.vars[at], table, self.native.vars[made])
        return Form({made: _over(scale)}, 0, max(e.error for e in entries))

    def _position(self, f: Form, least: Number, most: Number) -> int:
        """Return a variable equal to a form of whole numbers, which is required to be in [least, most]; -1 if it never is."""
        w = self.native.whole(f, 1)
        low, high = self.native.bounds(w)
        a = max(least, low)
        b = min(most, high)
        if a > b:
            self.native.require(Form(constant=1), 0, 0)  # it is always out of range: the model is infeasible
            return -1
        at = self.native.variable(((a, b),), "", w.value)
        self.native.require(Form({**f.terms, at: -1}, f.constant), 0, 0)
        return at

    def affine(self, f: Form) -> tuple[WholeForm, Any]:
        """Return a form of whole numbers, and the native expression of at most one variable that is equal to it."""
        w = self.native.whole(f, 1)
        if len(w.terms) > 1:
            total = self.native.variable((self.native.bounds(w),), "", w.value)
            self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
            w = WholeForm({total: 1}, 0)
        return w, self.native.expression(w) if w.terms else w.constant

    def _product(self, atom: Product) -> Form:
        forms = [self._combined(e) for e in atom.operands]
        for f, g in (forms, forms[::-1]):
            if not f.terms:
                return g.times(f.constant)
        (v, left), (w, right) = map(self.affine, forms)
        (a, b), (c, d) = self.native.bounds(v), self.native.bounds(w)
        corners = (a * c, a * d, b * c, b * d)
        domain = ((min(corners), max(corners)),)
        made = self.native.variable(domain, "", lambda values: v.value(values) * w.value(values))
        self.native.model.add_multiplication_equality(self.native.vars[made], [left, right])
        return Form({made: 1})

    def _division(self, atom: Quotient | Remainder) -> Form:
        """Return the quotient or remainder of x by d, which CP-SAT has for x >= 0 and d >= 1.

        With ``K = max(0, ceil(-lo(x) / lo(d)))``::

            x // d = (x + K d) // d - K,    x % d = (x + K d) % d
        """
        d = self._position(self._combined(atom.operands[1]), 1, LARGEST)
        if d < 0:
            return Form()
        x = self._combined(atom.operands[0])
        least, most = self.native.lo[d], self.native.hi[d]
        low = self.native.bounds(self.native.whole(x, 1))[0]
        shift = max(0, -(low // least))
        w, dividend = self.affine(Form({**x.terms, d: x.terms.get(d, 0) + shift}, x.constant) if shift else x)
        high = self.native.bounds(w)[1]
        divisor = self.native.vars[d] if least < most else least
        if isinstance(atom, Quotient):
            domain = ((0, max(0, high // least)),)
            made = self.native.variable(domain, "", lambda values: w.value(values) // max(1, values[d]))
            self.native.model.add_division_equality(self.native.vars[made], dividend, divisor)
            return Form({made: 1}, -shift)
        made = self.native.variable(((0, most - 1),), "", lambda values: w.value(values) % max(1, values[d]))
        self.native.model.add_modulo_equality(self.native.vars[made], dividend, divisor)
        return Form({made: 1})

    def _entry(self, atom: Entry) -> Form:
        at = self._position(self._combined(atom.operands[0]), 0, len(atom.entries) - 1)
        if at < 0:
            return Form()
        a = self.native.lo[at]
        b = self.native.hi[at]
        entries = [self.affine(self._combined(e)) for e in atom.entries[a : b + 1]]
        ranges = [self.native.bounds(w) for w, _ in entries]
        domain = ((min(lo for lo, _ in ranges), max(hi for _, hi in ranges)),)
        made = self.native.variable(domain, "", lambda values: entries[values[at] - a][0].value(values))
        known = [0] * a + [native for _, native in entries]
        self.native.model.add_element(self.native.vars[at], known, self.native.vars[made])
        return Form({made: 1})

    def _piecewise(self, atom: Piecewise) -> Form:
        """Return the value of a piecewise linear function.

        A convex function is the maximum of its linear pieces. Any other takes the multiple-choice formulation
        [Croxton2003, 2], in which one segment k is chosen and x lies in it::

            x = sum_k x[k],  sum_k s[k] = 1
            lo[k] s[k] <= x[k] <= hi[k] s[k]                      for each segment k
            value = sum_k (slope[k] x[k] + intercept[k] s[k])

        References
        ----------
        [Croxton2003] K. L. Croxton, B. Gendron, T. L. Magnanti, "A comparison of mixed-integer programming models for
        nonconvex piecewise linear cost minimization problems", Management Science 49(9), 2003.
        """
        f = self._combined(atom.operands[0])
        w = self.native.whole(f, self.native.auxiliary_scale([f]))
        pieces = self._segments(atom, w)
        if not pieces:
            self.native.require(Form(constant=1), 0, 0)  # x is always out of range: the model is infeasible
            return Form()
        if _convex(atom):
            return self._greatest(atom, f, [(slope, intercept) for _, _, slope, intercept in pieces])
        tie = Form({i: -c for i, c in w.terms.items()}, -w.constant)
        value = Form(error=w.error * max(abs(slope) for _, _, slope, _ in pieces))
        chosen = []
        inside = partial(_clipped, w, pieces[0][0], pieces[-1][1])
        for lo, hi, slope, intercept in pieces:
            s = self.native.boolean("", partial(_is_within, inside, lo, hi))
            x = self.native.variable(((min(0, lo), max(0, hi)),), "", partial(_where, inside, s))
            self.native.inside(WholeForm({x: 1, s: -lo}, 0), [(0, LARGEST)], ())
            self.native.inside(WholeForm({x: 1, s: -hi}, 0), [(-LARGEST, 0)], ())
            tie.terms[x] = 1
            value.terms[x] = slope / w.scale
            value.terms[s] = intercept
            chosen.append(s)
        self.native.exactly_one(chosen)
        self.native.require(tie, 0, 0)
        return value

    def _greatest(self, atom: Piecewise, f: Form, lines: list[tuple[Fraction, Fraction]]) -> Form:
        """Return a convex function as the maximum of its lines (slope, intercept); require x within its points."""
        e, ends = atom.operands[0], (atom.points[0][0], atom.points[-1][0])
        slack = 0.0 if e.integral else min(real_tolerance(Comparison(e, x, x), self.far_origin) for x in ends) / 2
        self.native.require(f, *ends, slack=slack)
        parts = [f.times(slope) for slope, _ in lines]
        return self._max([Form(p.terms, p.constant + at, p.error) for p, (_, at) in zip(parts, lines, strict=True)])

    def _segments(self, atom: Piecewise, w: WholeForm) -> list[tuple[int, int, Fraction, Fraction]]:
        """Return (least x, greatest x, slope, intercept) of the pieces that x can lie in, x in units of 1 / scale."""
        segments: list[tuple[int, int, Fraction, Fraction]] = []
        low, high = self.native.bounds(w)
        points = [(Fraction(rational(x)), Fraction(rational(y))) for x, y in atom.points]
        for (x0, y0), (x1, y1) in pairwise(points):
            lo = max(low, math.ceil(x0 * w.scale))
            hi = min(high, math.floor(x1 * w.scale))
            if lo <= hi:
                slope = (y1 - y0) / (x1 - x0)
                segments.append((lo, hi, slope, y0 - slope * x0))
                low = hi + 1  # a point between two pieces belongs to the first piece
        return segments


def _convex(atom: Piecewise) -> bool:
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(atom.points)]
    return all(a <= b for a, b in pairwise(slopes))


def _over(scale: int) -> Rational:
    return Fraction(1, scale) if scale > 1 else 1


def _clipped(w: WholeForm, lo: int, hi: int, values: list[int]) -> int:
    return min(max(w.value(values), lo), hi)


def _is_within(x: Recipe, lo: int, hi: int, values: list[int]) -> int:
    return int(lo <= x(values) <= hi)


def _where(x: Recipe, literal: int, values: list[int]) -> int:
    return x(values) * values[literal]


def _integer_range(lo: Number, hi: Number) -> tuple[int, int]:
    return (-LARGEST if lo == -math.inf else math.ceil(lo)), (LARGEST if hi == math.inf else math.floor(hi))


def _with_zero(windows: tuple[Window, ...]) -> tuple[Window, ...]:
    if any(a <= 0 <= b for a, b in windows):
        return windows
    return tuple(sorted([*windows, (0, 0)]))
