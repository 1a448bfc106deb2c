"""Expressions in CP-SAT: native variables, and rational linear forms over them, one for each atom of the language.

``models/language/semantics.py`` defines the meaning of each atom. All lowerings are exact, except for real numbers
whose common denominator is too large: they are rounded, and the form carries the error. The constraints posted here can
be satisfied whatever the values of the operands are, except the ranges of ``element`` and ``piecewise``, and that
divisors are not 0. Those are posted by ``require`` and so are guarded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from ...errors import SchedlabError, WrongArgument
from ...models.arguments import Rational, rational
from ...models.language import Comparison, Interval, Linear, Model
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
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    Window,
    atoms_below,
)
from ...models.language.semantics import far_origin, real_tolerance

# --- The native side of a CP-SAT lowering: variables with bounds and recipes, rational linear forms, linear constraints.
#
# CP-SAT takes integers only. A ``Form`` is a linear expression over native variables with rational coefficients. When it
# becomes a constraint, it is multiplied by a common denominator. This is exact as long as the numbers stay small enough.

Recipe = Callable[[list[int]], int]
"""Computes the value of an auxiliary variable from the values of the variables made before it."""

LARGEST = 1 << 61  # CP-SAT refuses domains beyond half of an int64
ROOM = 1 << 56  # greatest value of a scaled sum with real coefficients: int64, with room for the solver's arithmetic
AUXILIARY_ROOM = 1 << 34  # the same for auxiliary variables: their values are multiplied in further sums
# greatest values of rounded auxiliary variables: the coarsest is best for sums, finer ones if it is too coarse
AUXILIARY_ROUNDINGS = (1 << 28, 1 << 37, 1 << 45)
FINE = Fraction(1, 1 << 26)  # greatest error of a rounding that is fine enough, relative to the greatest value
ROUNDED_UP = 1 + 1e-12  # factor for sums of floats that serve as upper bounds


class Variables:
    """The variables of a native model as objects of ortools, by their indices.

    Parameters
    ----------
    model : CpModel
        The native model.
    """

    def __init__(self, model: cp_model.CpModel) -> None:
        self._model = model
        self._made: list[Any] = []

    def append(self, variable: Any) -> None:
        """Add the next variable of the model."""
        self._made.append(variable)

    def add(self, count: int) -> None:
        """Add the next variables of the model, without their objects."""
        self._made += [None] * count

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, index: int) -> Any:
        variable = self._made[index]
        if variable is None:
            variable = self._made[index] = self._model.get_int_var_from_proto_index(index)
        return variable

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self._made)))


class NumberRangeError(SchedlabError, ArithmeticError):
    """Error of a value beyond the range of CP-SAT's 64-bit arithmetic."""


def magnitude(x: Rational) -> Rational:
    """Return the absolute value; ``abs`` of this union type is ``object`` for mypy, and slower for Fraction."""
    if x >= 0:
        return x
    return -x


@dataclass(slots=True)
class Form:
    """``sum_i terms[i] * variable i + constant``; it differs from its expression by at most ``error``."""

    terms: dict[int, Rational] = field(default_factory=dict)
    constant: Rational = 0
    error: Rational = 0

    @property
    def is_whole(self) -> bool:
        """Whether all its numbers are integers."""
        if type(self.constant) is not int:
            return False
        for c in self.terms.values():  # twice as fast as all(...), and called for each form
            if type(c) is not int:
                return False
        return True

    def times(self, k: Rational) -> Form:
        """Return the form multiplied by k."""
        return Form({i: c * k for i, c in self.terms.items()}, self.constant * k, self.error * magnitude(k))


@dataclass(slots=True)
class WholeForm:
    """A Form multiplied by ``scale`` and rounded to integers; ``error`` is in the units of the Form."""

    terms: dict[int, int]
    constant: int
    scale: int = 1
    error: Rational = 0

    def value(self, values: list[int]) -> int:
        """Return the value of the form for these values of the native variables."""
        return self.constant + sum(c * values[i] for i, c in self.terms.items())


def _nearest(c: Rational, scale: int) -> tuple[int, float]:
    """Return the integer nearest to ``c * scale``, and the distance between the two."""
    times = c.numerator * scale
    d = c.denominator
    rounded = (2 * times + d) // (2 * d)
    return rounded, abs(times - rounded * d) / d


def common_denominator(forms: Sequence[Form], size: float, room: int) -> int:
    """Return the common denominator of forms whose values reach ``size``; 0 if the scaled values would exceed ``room``."""
    if size > room:
        raise NumberRangeError(f"a sum with real coefficients reaches {size:.3g}")
    common = 1
    for f in forms:
        for c in (f.constant, *f.terms.values()):
            common = math.lcm(common, c.denominator)
            if common * size > room:  # with thousands of terms it would have thousands of digits
                return 0
    return common


def power_of_two(most: float) -> int:
    """Return the greatest power of two that is at most ``most``, at least 1."""
    return 1 << max(0, math.floor(most).bit_length() - 1)


class CpModel(cp_model.CpModel):
    """A CpModel that makes its old method names (``AddCumulative``) at their first use: they take as long as 20 jobs."""

    def _add_pre_pep8_methods(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper() and "AddCumulative" not in self.__dict__:
            super()._add_pre_pep8_methods()
            return getattr(self, name)
        raise AttributeError(f"CpModel has no attribute {name!r}")


def message(field: str) -> Any:
    """Return an empty message of a repeated field of a model: its class has another place in older versions of ortools."""
    return type(getattr(_EXAMPLE.proto, field)[0])()


_EXAMPLE = CpModel()
_EXAMPLE.new_bool_var("")
_EXAMPLE.add_bool_or([])


def _within_int64(bound: int) -> int:
    """Return a bound of a form as an int64: no value of a form is beyond 2^62."""
    return max(-2 * LARGEST, min(2 * LARGEST, bound))


class NativeModel:
    """A CpModel under construction.

    A variable is given by its index. A literal is an index, or ``~index`` for its negation. ``guard`` holds literals
    that are added as conditions to every constraint that could fail; they switch a constraint of the model off.
    """

    def __init__(self, name: str) -> None:
        self.model = CpModel()
        self.model.name = name
        self.vars = Variables(self.model)
        self.lo: list[int] = []
        self.hi: list[int] = []
        self.recipes: list[tuple[int, Recipe]] = []
        self.guard: tuple[int, ...] = ()
        self.nonzeros = 0
        self._constants: dict[int, int] = {}
        self._domains: dict[tuple[Window, ...], cp_model.Domain] = {}
        self._truth = self.domain(((0, 1),))

    def domain(self, windows: tuple[Window, ...]) -> cp_model.Domain:
        """Return the native domain of a union of windows."""
        domain = self._domains.get(windows)
        if domain is None:
            if windows[0][0] < -LARGEST or windows[-1][1] > LARGEST:
                raise NumberRangeError(f"a variable reaches from {windows[0][0]} to {windows[-1][1]}")
            domain = cp_model.Domain.from_intervals([list(w) for w in windows])
            self._domains[windows] = domain
        return domain

    def variable(self, windows: tuple[Window, ...], name: str, recipe: Recipe | None = None) -> int:
        """Return a new integer variable; without a recipe it is one of the model's own variables."""
        self.vars.append(self.model.new_int_var_from_domain(self.domain(windows), name))
        return self._made(windows[0][0], windows[-1][1], recipe)

    def constant(self, value: int) -> int:
        """Return a variable with this only value; all calls with the same value return the same variable."""
        index = self._constants.get(value)
        if index is None:
            index = self._constants[value] = self.variable(((value, value),), "")
        return index

    def positive(self, i: int) -> int:
        """Return a new literal: variable i, which is never negative, is above 0. It is never guarded."""
        literal = self.boolean("", lambda values: int(values[i] > 0))
        held, x = self.vars[literal], self.vars[i]
        self.model.add(x >= 1).only_enforce_if(held)
        self.model.add(x <= 0).only_enforce_if(~held)
        self.nonzeros += 2
        return literal

    def boolean(self, name: str, recipe: Recipe | None = None) -> int:
        """Return a new 0-1 variable."""
        self.vars.append(self.model.new_int_var_from_domain(self._truth, name))
        return self._made(0, 1, recipe)

    def _made(self, lo: int, hi: int, recipe: Recipe | None) -> int:
        self.lo.append(lo)
        self.hi.append(hi)
        index = len(self.lo) - 1
        if recipe is not None:
            self.recipes.append((index, recipe))
        return index

    def literal(self, i: int) -> Any:
        """Return the native literal."""
        if i >= 0:
            return self.vars[i]
        return ~self.vars[~i]

    def bounds(self, f: Form | WholeForm) -> tuple[Any, Any]:
        """Return (least, greatest) value of a form over the domains of its variables."""
        low = high = f.constant
        for i, c in f.terms.items():
            low += c * (self.lo[i] if c > 0 else self.hi[i])
            high += c * (self.hi[i] if c > 0 else self.lo[i])
        return low, high

    def reach(self, i: int) -> int:
        """Return the greatest absolute value of a variable."""
        return max(-self.lo[i], self.hi[i])

    def scale(self, forms: Sequence[Form], room: int = ROOM, rounding: int = ROOM) -> int:
        """Return the common denominator of the forms, or a power of two if scaled sums would exceed ``room``.

        With that power of two, sums reach at most ``rounding``.
        """
        if all(f.is_whole for f in forms):
            return 1
        size = max(1.0, *(self.size(f) for f in forms))
        return common_denominator(forms, size, room) or power_of_two(rounding / size)

    def size(self, f: Form) -> float:
        """Return the sum of the greatest absolute values of the terms and the constant."""
        terms = [abs(c.numerator / c.denominator) * max(-self.lo[i], self.hi[i]) for i, c in f.terms.items()]
        return math.fsum([abs(float(f.constant)), *terms])  # float() of a fraction takes ten times as long

    def auxiliary_scale(self, forms: Sequence[Form]) -> int:
        """Return the scale of an auxiliary variable that takes the values of these forms."""
        if all(f.is_whole for f in forms):
            return 1
        for rounding in AUXILIARY_ROUNDINGS:
            scale = self.scale(forms, AUXILIARY_ROOM, rounding)
            wholes = [self.whole(f, scale) for f in forms]
            added = max(w.error - f.error for w, f in zip(wholes, forms, strict=True))
            if added * scale <= FINE * max(scale, *(abs(b) for w in wholes for b in self.bounds(w))):
                break
        return scale

    def whole(self, f: Form, scale: int) -> WholeForm:
        """Return the form multiplied by ``scale``, with numbers rounded to integers."""
        if scale == 1 and f.is_whole:
            return self._checked(WholeForm({i: int(c) for i, c in f.terms.items() if c}, int(f.constant), 1, f.error))
        constant, off = _nearest(f.constant, scale)
        terms, errors = {}, [off]
        for i, c in f.terms.items():
            if c:
                terms[i], off = _nearest(c, scale)
                if off:
                    errors.append(off * self.reach(i))
        lost = math.fsum(errors)
        if not lost:
            error = f.error
        else:
            error = f.error + Fraction(lost * ROUNDED_UP) / scale
        return self._checked(WholeForm(terms, constant, scale, error))

    def _checked(self, w: WholeForm) -> WholeForm:
        if sum([abs(c) * max(-self.lo[i], self.hi[i]) for i, c in w.terms.items()]) + abs(w.constant) > LARGEST:
            raise NumberRangeError("a sum can exceed 2^61")
        return w

    def multiple(self, i: int, factor: int) -> Any:
        """Return the native expression ``factor * variable i``."""
        if factor * self.reach(i) > LARGEST:
            raise NumberRangeError("a product can exceed 2^61")
        self.nonzeros += 1
        if factor == 1:
            return self.vars[i]
        return self.vars[i] * factor

    def expression(self, w: WholeForm) -> Any:
        """Return the native linear expression."""
        self.nonzeros += len(w.terms)
        variables = [self.vars[i] for i in w.terms]
        total = cp_model.LinearExpr.weighted_sum(variables, list(w.terms.values()))
        if w.constant:
            return total + w.constant
        return total

    def fill(self, expression: Any, w: WholeForm) -> None:
        """Write the form into an empty native expression, a ``LinearExpressionProto``."""
        self.nonzeros += len(w.terms)
        expression.vars.extend(list(w.terms))
        expression.coeffs.extend(list(w.terms.values()))
        expression.offset = w.constant

    def fill_all(self, expressions: Any, forms: Iterable[WholeForm]) -> None:
        """Append forms to a native list of expressions; for those of one variable, one message is filled in again and again."""
        one = message("constraints").lin_max.target
        one.vars.append(0)
        one.coeffs.append(0)
        variables, coefficients = one.vars, one.coeffs
        append = expressions.append
        for w in forms:
            if len(w.terms) != 1:
                self.fill(expressions.add(), w)
                continue
            ((variables[0], coefficients[0]),) = w.terms.items()
            one.offset = w.constant
            append(one)
            self.nonzeros += 1

    def require(self, f: Form, lo: Number, hi: Number, when: tuple[int, ...] = (), slack: float = 0.0) -> WholeForm:
        """Post ``lo <= f <= hi``.

        Parameters
        ----------
        f : Form
        lo, hi : float
            Bounds; may be infinite.
        when : tuple of int
            Literals; the constraint holds if all of them (and the guard) hold.
        slack : float
            The bounds are widened by it.

        Returns
        -------
        WholeForm
            The form with the integer coefficients of the constraint.
        """
        w = self.whole(f, self.scale([f]))
        low, high = -LARGEST, LARGEST
        if type(lo) is int and not slack:  # the common cases, kept fast
            low = lo * w.scale
        elif lo != -math.inf:
            low = math.ceil((rational(lo) - Fraction(slack)) * w.scale)
        if type(hi) is int and not slack:
            high = hi * w.scale
        elif hi != math.inf:
            high = math.floor((rational(hi) + Fraction(slack)) * w.scale)
        self.inside(w, [(low, high)], (*when, *self.guard))
        return w

    def equal(self, i: int, j: int, when: tuple[int, ...] = (), difference: int = 0) -> None:
        """Post ``variable i == variable j + difference``."""
        self.require(Form({i: 1, j: -1}), difference, difference, when)

    def lag(self, i: int, j: int, least: int, most: int | None, when: tuple[int, ...]) -> None:
        """Post ``least <= variable j - variable i <= most``; most None: without an upper bound.

        It holds if all literals of ``when`` and the guard hold.
        """
        if i == j:
            self.require(Form(), least, math.inf if most is None else most, when)
            return
        lo, hi = self.lo, self.hi
        if max(-lo[i], hi[i]) + max(-lo[j], hi[j]) > LARGEST:
            raise NumberRangeError("a sum can exceed 2^61")
        self.nonzeros += 2
        append, row, variables, domain, literals = self._lag
        variables[0] = j
        variables[1] = i
        domain[0] = _within_int64(least)
        if most is None:
            domain[1] = LARGEST
        else:
            domain[1] = _within_int64(most)
        if when or self.guard:
            literals.extend((*when, *self.guard))
            append(row)
            literals.clear()
        else:
            append(row)

    @cached_property
    def _lag(self) -> tuple[Any, Any, Any, Any, Any]:
        """Appends a copy of a constraint of two variables; this constraint, its variables, domain and conditions."""
        row = message("constraints")
        row.linear.vars.extend((0, 0))
        row.linear.coeffs.extend((1, -1))
        row.linear.domain.extend((0, 0))
        append = self.model.proto.constraints.append
        return append, row, row.linear.vars, row.linear.domain, row.enforcement_literal

    def inside(self, w: WholeForm, windows: Iterable[Window], when: tuple[int, ...]) -> None:
        """Require the form to lie in a union of windows, if all literals of ``when`` hold. It is never guarded."""
        shifted = [[_within_int64(a - w.constant), _within_int64(b - w.constant)] for a, b in windows if a <= b]
        kept = [s for s in shifted if s[0] <= s[1]]
        posted = self.model.proto.constraints.add()
        posted.enforcement_literal.extend(when)  # in the native model, too, ~i negates variable i
        if not kept:
            posted.bool_or.literals.extend([])
            return
        self.nonzeros += len(w.terms)
        posted.linear.vars.extend(list(w.terms))
        posted.linear.coeffs.extend(list(w.terms.values()))
        if len(kept) == 1:
            domain = kept[0]
        else:
            domain = cp_model.Domain.from_intervals(kept).flattened_intervals()
        posted.linear.domain.extend(domain)

    def all_of(self, literals: Sequence[int]) -> int:
        """Return a literal that holds if and only if all these literals, which are not negated, hold. Never guarded."""
        if len(literals) == 1:
            return literals[0]
        both = self.boolean("", lambda values: int(all(values[i] for i in literals)))
        self.model.add_bool_and([self.literal(i) for i in literals]).only_enforce_if(self.literal(both))
        self.model.add_bool_or([self.literal(i) for i in (*(~i for i in literals), both)])
        return both

    def exactly_one(self, literals: Sequence[int]) -> None:
        """Require that exactly one of the literals holds. It is never guarded."""
        self.nonzeros += len(literals)
        self.model.proto.constraints.add().exactly_one.literals.extend(literals)  # there, too, ~i negates variable i

    def complete(self, values: list[int]) -> list[int]:
        """Fill in the values of the auxiliary variables, in the order of their creation, each within its bounds."""
        for index, recipe in self.recipes:
            values[index] = min(max(recipe(values), self.lo[index]), self.hi[index])
        return values


# --- The objective in CP-SAT: integer coefficients, with a factor and an offset for the units of the model.

BITS = (40, 42, 44, 46, 48)
LEAST_GAP = 2.0**-31  # in the objective's unit: a gap below 1e-9 counts as 0
NEGLIGIBLE = 2.0**-28  # greatest error of a rounded objective, relative to its best value


@dataclass
class Objective:
    """The native objective: it is multiplied by ``scale``, and its error is at most ``error`` in units of the model."""

    scale: int
    error: float


def set_objective(native: NativeModel, f: Form, maximize: bool) -> Objective:
    """Set a linear form as the objective of a model that has none, and return its scale and its error."""
    moving = Form(f.terms, 0, f.error)
    w = native.whole(moving, objective_scale(native, moving, maximize=maximize))
    sign = 1
    if maximize:
        sign = -1
    proto = native.model.proto.objective
    proto.vars.extend(list(w.terms))
    proto.coeffs.extend([sign * c for c in w.terms.values()])
    native.nonzeros += len(w.terms)
    proto.scaling_factor = sign / w.scale  # so the log and the bounds are in the model's units
    proto.offset = sign * float(f.constant * w.scale)
    return Objective(w.scale, float(w.error))


def objective_scale(native: NativeModel, f: Form, *, maximize: bool) -> int:
    """Return the scale of an objective without a constant: if it must be rounded, the least scale with a negligible error.

    Negligible is relative to the best value that the objective can have. If that is 0, no error is negligible, as
    the optimum may be arbitrarily small. Small numbers are better: CP-SAT then multiplies its rows by finer
    factors, and proofs at 2^44 take half the time of those at 2^56.
    """
    if f.is_whole:
        return 1
    size = max(1.0, native.size(f))
    if common := common_denominator([f], size, ROOM):
        return common
    lo, hi = native.lo, native.hi
    parts = [(c.numerator, c.denominator, i) for i, c in f.terms.items()]
    best = [n / d * (hi[i] if (n > 0) == maximize else lo[i]) for n, d, i in parts]
    enough = NEGLIGIBLE * abs(math.fsum(best))
    scales = [power_of_two((1 << bits) / size) for bits in BITS]
    lost = _lost([(n, d, max(-lo[i], hi[i])) for n, d, i in parts], scales)
    for most in (min(enough, LEAST_GAP), enough):
        for scale, error in zip(scales, lost, strict=True):
            if error <= most * scale:
                return scale
    return power_of_two(ROOM / size)


def _lost(parts: Sequence[tuple[int, int, int]], scales: Sequence[int]) -> list[float]:
    """Return for each scale a bound on what rounding changes in a sum of ``scale * numerator / denominator * x``.

    ``parts`` has the numerator, the denominator and the greatest absolute value of x of each term.
    """
    numerator, denominator, reach = zip(*parts, strict=True)
    most = max(map(abs, numerator)) * max(scales)
    whole = np.int64 if max(most, *denominator) < LARGEST else object  # numbers of Python: slow, and of any size
    d = np.array(denominator, whole)
    rest = np.array(numerator, whole) * np.array(scales, whole)[:, None] % d
    off = (np.minimum(rest, d - rest) / d).astype(np.float64) * np.array(reach, np.float64)
    losses: list[float] = (off.sum(axis=1) * ROUNDED_UP).tolist()
    return losses


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
            if i in terms:
                terms[i] = terms[i] + rational(c)
            else:
                terms[i] = rational(c)
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
                if a == 1:
                    term = k
                else:
                    term = k * a
                if i in terms:
                    terms[i] = terms[i] + term
                else:
                    terms[i] = term
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
            if p >= 0:
                return Form({p: 1})
            return Form(constant=1)
        if atom.field == "start":
            if p < 0:
                return Form({self.start[i]: 1})
            return self._if_present(v.windows, f"{v.name}.start", self.start[i], p)
        if atom.field == "size":
            if v.size_lo == v.size_hi:
                if p >= 0:
                    return Form({p: v.size_lo})
                return Form(constant=v.size_lo)
            sizes = ((v.size_lo, v.size_hi),)
            if p < 0:
                return Form({self.size[i]: 1})
            return self._if_present(sizes, f"{v.name}.size", self.size[i], p)
        if p < 0:
            if v.size_lo < v.size_hi:
                return Form({self.end[i]: 1})
            return Form({self.start[i]: 1}, v.size_lo)
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
        if scale == 1 and len(kept) == len(operands):
            ranges = bounds
        else:
            ranges = [self.native.bounds(w) for w in wholes]
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
        if least < most:
            divisor = self.native.vars[d]
        else:
            divisor = least
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
        slack = 0.0
        if not e.integral:
            slack = min(real_tolerance(Comparison(e, x, x), self.far_origin) for x in ends) / 2
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
    if scale > 1:
        return Fraction(1, scale)
    return 1


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
