"""The native side of a CP-SAT lowering: variables with bounds and recipes, rational linear forms, the objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from ...errors import SchedlabError
from ...models.arguments import Rational, rational
from ...models.language.quantities import Number, Window

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
    return x if x >= 0 else -x


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


def _clipped(bound: int) -> int:
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
        return self.vars[i] if i >= 0 else ~self.vars[~i]

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
        error = f.error + Fraction(lost * ROUNDED_UP) / scale if lost else f.error
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
        return self.vars[i] if factor == 1 else self.vars[i] * factor

    def expression(self, w: WholeForm) -> Any:
        """Return the native linear expression."""
        self.nonzeros += len(w.terms)
        variables = [self.vars[i] for i in w.terms]
        total = cp_model.LinearExpr.weighted_sum(variables, list(w.terms.values()))
        return total + w.constant if w.constant else total

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
        domain[0] = _clipped(least)
        domain[1] = LARGEST if most is None else _clipped(most)
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
        shifted = [[_clipped(a - w.constant), _clipped(b - w.constant)] for a, b in windows if a <= b]
        kept = [s for s in shifted if s[0] <= s[1]]
        posted = self.model.proto.constraints.add()
        posted.enforcement_literal.extend(when)  # in the native model, too, ~i negates variable i
        if not kept:
            posted.bool_or.literals.extend([])
            return
        self.nonzeros += len(w.terms)
        posted.linear.vars.extend(list(w.terms))
        posted.linear.coeffs.extend(list(w.terms.values()))
        domain = kept[0] if len(kept) == 1 else cp_model.Domain.from_intervals(kept).flattened_intervals()
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
    sign = -1 if maximize else 1
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
