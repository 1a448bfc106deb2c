"""Expressions of the modelling language: atoms, linear combinations of them, and comparisons.

An *atom* is what a linear expression is made of: an integer variable, an attribute of an interval
(its start, end, size or presence), or a function of other expressions (``max``, ``holds``, ...).
Everything else is a ``Linear``: atoms with coefficients, and a constant.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, cast

from .quantities import ModelError, number
from .quantities import Number as Number

if TYPE_CHECKING:
    from .model import Model

AttributeName = Literal["start", "end", "size", "presence"]
Window = tuple[int, int]


class Expression:
    """Base of all expressions: gives them ``+ - *`` and the comparisons."""

    __slots__ = ()

    def linear(self) -> Linear:
        """This expression as atoms, coefficients and a constant."""
        raise TypeError(f"{type(self).__name__} has no linear form")

    def __add__(self, other: Expression | Number) -> Linear:
        return _combine(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Expression | Number) -> Linear:
        return _combine(self, other, -1)

    def __rsub__(self, other: Expression | Number) -> Linear:
        return _combine(-self, other, 1)

    def __mul__(self, factor: Number) -> Linear:
        if isinstance(factor, Expression):
            raise ModelError(
                f"{self} * {factor}: a product of two variables is not linear; declare it with implies(), holds() or element()"
            )
        k = number(factor)
        if not k:
            return Linear({}, 0)
        own = self.linear()
        return Linear({a: c * k for a, c in own.terms.items()}, own.constant * k)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Linear:
        if isinstance(divisor, Expression):
            raise ModelError(f"{self} / {divisor}: a quotient of two variables is not linear")
        k = number(divisor, "a divisor")
        if not k:
            raise ModelError(f"{self} / {divisor}: a division by zero")
        return self * (1 / k)

    def __neg__(self) -> Linear:
        return self * -1

    def __le__(self, other: Expression | Number) -> Comparison:
        return _compare(self, other, -math.inf, 0)

    def __ge__(self, other: Expression | Number) -> Comparison:
        return _compare(self, other, 0, math.inf)

    def __lt__(self, other: Expression | Number) -> Comparison:
        return _strict(self, other, -math.inf, -1)

    def __gt__(self, other: Expression | Number) -> Comparison:
        return _strict(self, other, 1, math.inf)

    def __eq__(self, other: object) -> Comparison:  # type: ignore[override]
        if not isinstance(other, (Expression, numbers.Real)):
            return NotImplemented
        return _compare(self, cast("Expression | Number", other), 0, 0)

    def __ne__(self, other: object) -> Comparison:  # type: ignore[override]
        raise ModelError(f"{self} != {other}: write holds(a == b) == 0")

    __hash__ = object.__hash__


class Linear(Expression):
    """``sum(coefficient * atom) + constant``; built once, never changed.

    ``terms`` maps each atom (by identity) to its coefficient.
    """

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[Atom, Number], constant: Number = 0) -> None:
        self.terms = terms
        self.constant = constant

    def linear(self) -> Linear:
        return self

    @property
    def integral(self) -> bool:
        """Whether the value is a whole number for every assignment."""
        return type(self.constant) is int and all(type(c) is int and a.integral for a, c in self.terms.items())

    def __repr__(self) -> str:
        shown = 8 if len(self.terms) <= 8 else 7
        parts = [f"{a}" if c == 1 else f"{c}*{a}" for a, c in itertools.islice(self.terms.items(), shown)]
        if len(self.terms) > shown:
            parts.append(f"... {len(self.terms) - shown} more")
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)


class Atom(Expression):
    """One operand of a linear expression. ``model`` is None only where no variable stands in it."""

    __slots__ = ()
    integral: bool = True

    @property
    def model(self) -> Model | None:
        raise TypeError(f"{type(self).__name__} belongs to no model")

    def linear(self) -> Linear:
        return Linear({self: 1})


class Integer(Atom):
    """An integer variable in [lo, hi]; made by ``Model.integer`` and ``Model.boolean``."""

    __slots__ = ("_model", "hi", "index", "lo", "name")

    def __init__(self, model: Model, index: int, name: str, lo: int, hi: int) -> None:
        self._model = model
        self.index = index
        self.name = name
        self.lo = lo
        self.hi = hi

    @property
    def model(self) -> Model:
        return self._model

    def __repr__(self) -> str:
        return self.name


class Attribute(Atom):
    """The start, end, size or presence of an interval, as a number; 0 for an absent interval."""

    __slots__ = ("field", "interval")

    def __init__(self, interval: Interval, field: AttributeName) -> None:
        self.interval = interval
        self.field = field

    @property
    def model(self) -> Model:
        return self.interval.model

    def __repr__(self) -> str:
        return f"{self.interval.name}.{self.field}"


class Interval:
    """An interval variable: occupies [start, end) with end = start + size; made by ``Model.interval``.

    ``size_lo``, ``size_hi`` bound the size; ``windows`` are the disjoint, increasing windows (lo, hi), both ends
    included, in which the start may lie. ``start``, ``end``, ``size``, ``presence`` are expressions.
    """

    __slots__ = ("_attributes", "_windows", "index", "model", "name", "optional", "size_hi", "size_lo")

    def __init__(
        self,
        model: Model,
        index: int,
        name: str,
        size: tuple[int, int],
        windows: tuple[Window, ...] | None,
        optional: bool,
    ) -> None:
        self.model = model
        self.index = index
        self.name = name
        self.size_lo, self.size_hi = size
        self._windows = windows
        self.optional = optional
        self._attributes: dict[str, Attribute] | None = None

    def _attribute(self, field: AttributeName) -> Attribute:
        if self._attributes is None:
            self._attributes = {}
        found = self._attributes.get(field)
        if found is None:
            found = self._attributes[field] = Attribute(self, field)
        return found

    @property
    def start(self) -> Attribute:
        return self._attribute("start")

    @property
    def end(self) -> Attribute:
        return self._attribute("end")

    @property
    def size(self) -> Attribute:
        return self._attribute("size")

    @property
    def presence(self) -> Attribute:
        return self._attribute("presence")

    @property
    def windows(self) -> tuple[Window, ...]:
        """Where the start may lie; without ``start=`` from 0 to the model's horizon."""
        return self._windows if self._windows is not None else ((0, self.model.horizon),)

    @property
    def start_lo(self) -> int:
        return self.windows[0][0]

    @property
    def start_hi(self) -> int:
        return self.windows[-1][1]

    def __repr__(self) -> str:
        return self.name


class Comparison:
    """``lo <= expr <= hi``, expr without constant; one side may be infinite. Made by ``<= >= == < >``."""

    __slots__ = ("expr", "hi", "lo")

    def __init__(self, expr: Linear, lo: Number, hi: Number) -> None:
        self.expr = expr
        self.lo = lo
        self.hi = hi

    @property
    def integral(self) -> bool:
        return self.expr.integral

    @property
    def model(self) -> Model | None:
        return common_model(self.expr.terms, self)

    def __bool__(self) -> bool:
        raise ModelError(f"{self} is a constraint, not True or False (a chain a <= b <= c is two constraints)")

    def __repr__(self) -> str:
        if self.lo == self.hi:
            return f"{self.expr} == {self.hi}"
        return f"{self.expr} <= {self.hi}" if self.lo == -math.inf else f"{self.expr} >= {self.lo}"


class Function(Atom):
    """An atom computed from other expressions; ``operands`` are those expressions."""

    __slots__ = ("_model", "operands")

    def __init__(self, operands: tuple[Linear, ...]) -> None:
        self.operands = operands
        self._model = common_model((a for e in operands for a in e.terms), type(self).__name__.lower())

    @property
    def model(self) -> Model | None:
        return self._model

    def __repr__(self) -> str:
        more = ", ..." if len(self.operands) > 6 else ""
        return f"{type(self).__name__.lower()}({', '.join(map(str, self.operands[:6]))}{more})"


class Max(Function):
    """The greatest of its operands."""

    __slots__ = ()

    @property
    def integral(self) -> bool:  # type: ignore[override]
        return all(e.integral for e in self.operands)


class Min(Function):
    """The least of its operands."""

    __slots__ = ()

    @property
    def integral(self) -> bool:  # type: ignore[override]
        return all(e.integral for e in self.operands)


class Holds(Function):
    """1 if and only if an integer comparison holds, else 0."""

    __slots__ = ("comparison",)

    def __init__(self, comparison: Comparison) -> None:
        super().__init__((comparison.expr,))
        self.comparison = comparison

    def __repr__(self) -> str:
        return f"holds({self.comparison})"


class Overlap(Function):
    """Length of an interval inside the window [lo, hi); 0 if it is absent."""

    __slots__ = ("hi", "interval", "lo")

    def __init__(self, interval: Interval, lo: int, hi: int) -> None:
        super().__init__((interval.start.linear(), interval.end.linear()))
        self.interval = interval
        self.lo = lo
        self.hi = hi

    def __repr__(self) -> str:
        return f"overlap({self.interval}, {self.lo}, {self.hi})"


class Element(Function):
    """``array[index]``; an index outside the array is infeasible."""

    __slots__ = ("array",)

    def __init__(self, array: tuple[Number, ...], index: Linear) -> None:
        super().__init__((index,))
        self.array = array

    @property
    def integral(self) -> bool:  # type: ignore[override]
        return all(type(v) is int for v in self.array)

    def __repr__(self) -> str:
        return f"element(array of {len(self.array)}, {self.operands[0]})"


class Piecewise(Function):
    """Linear between the points (x, y), infeasible outside of them."""

    __slots__ = ("points",)
    integral = False

    def __init__(self, x: Linear, points: tuple[tuple[Number, Number], ...]) -> None:
        super().__init__((x,))
        self.points = points

    def __repr__(self) -> str:
        return f"piecewise({self.operands[0]}, {len(self.points)} points)"


def linear(value: Expression | Number) -> Linear:
    """Any expression or number as a ``Linear``."""
    return value.linear() if isinstance(value, Expression) else Linear({}, number(value, "an operand"))


def common_model(atoms: Iterable[Atom], where: object) -> Model | None:
    """The model all atoms belong to; an error that names two of them if there are two models."""
    found: Model | None = None
    witness: Atom | None = None
    for atom in atoms:
        model = atom.model
        if model is None or model is found:
            continue
        if found is not None:
            raise ModelError(
                f"{where}: {witness} belongs to model {found.name!r} but {atom} to another model, {model.name!r}"
            )
        found, witness = model, atom
    return found


def atoms_below(expressions: Iterable[Linear], seen: set[Atom] | None = None) -> Iterator[Atom]:
    """Every atom of the expressions and, before it, the atoms of its operands; each once, innermost first.

    Atoms in ``seen`` are left out, with what is below them; those that are yielded are added to it.

    >>> from schedlab import Model, max
    >>> m = Model("m"); x = m.integer("x", 0, 3)
    >>> list(atoms_below([max([x, 2]) + x]))
    [x, max(x, 2)]
    """
    seen = set() if seen is None else seen
    for expression in expressions:
        stack: list[tuple[Atom, bool]] = [(a, False) for a in reversed(expression.terms)]
        while stack:
            atom, opened = stack.pop()
            if atom in seen:
                continue
            if opened or not isinstance(atom, Function):
                seen.add(atom)
                yield atom
                continue
            stack.append((atom, True))
            stack.extend((a, False) for e in reversed(atom.operands) for a in reversed(e.terms))


def _combine(left: Expression, right: Expression | Number, sign: int) -> Linear:
    a = left.linear()
    terms = dict(a.terms)
    if not isinstance(right, Expression):
        return Linear(terms, a.constant + sign * number(right, "an operand"))
    b = right.linear()
    _accumulate(terms, b.terms, sign)
    return Linear(terms, a.constant + sign * b.constant)


def _accumulate(terms: dict[Atom, Number], more: dict[Atom, Number], factor: Number) -> None:
    for atom, c in more.items():
        total = terms.get(atom, 0) + c * factor
        if total:
            terms[atom] = total
        else:
            terms.pop(atom, None)


def _compare(left: Expression, right: Expression | Number, lo: Number, hi: Number) -> Comparison:
    difference = _combine(left, right, -1)
    c = difference.constant
    return Comparison(Linear(difference.terms), lo - c if lo != -math.inf else lo, hi - c if hi != math.inf else hi)


def _strict(left: Expression, right: Expression | Number, lo: Number, hi: Number) -> Comparison:
    result = _compare(left, right, lo, hi)
    if not result.integral or not all(isinstance(b, int) or math.isinf(b) for b in (result.lo, result.hi)):
        raise ModelError(f"{result.expr}: < and > need whole numbers on both sides; write <= or >=")
    return result
