"""Linear expressions: atoms with coefficients, plus a constant; and comparisons of linear expressions.

An *atom* is one operand of a linear expression: an integer variable, an attribute of an interval (its start, end, size
or presence), or a function of other expressions (``max``, ``holds``, ...). Every other expression is a ``Linear``.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, cast

from ...errors import WrongArgument
from ..excerpt import one_line
from .operators import LOGIC, OF_COMPARISONS, OF_EXPRESSIONS, without
from .quantities import ModelError, Number, number

OPERATIONS: dict[str, Callable[..., Any]] = {}
"""What operators that make functions return, by operator; ``functions`` and ``conditions``, which are above, fill it."""


class Owner(Protocol):
    """The model to which variables belong, as its expressions see it."""

    name: str
    intervals: list[Any]

    @property
    def horizon(self) -> int:
        """The latest start in seconds of intervals that are declared without ``start``."""

    @property
    def declared_horizon(self) -> int | None:
        """The horizon as declared; None if it is derived."""


@without(OF_EXPRESSIONS)
class Expression:
    """Base class of all expressions: ``+ - *``, division by a number, ``//``, ``%``, ``abs``, comparisons, ``& | ~``."""

    __slots__ = ()

    def pieces(self) -> Iterator[str]:
        """Yield the text of the expression in short pieces, so that no more of it is made than is shown."""
        yield type(self).__name__

    def __repr__(self) -> str:
        return brief(self.pieces())

    def linear(self) -> Linear:
        """Return the expression as a ``Linear``: atoms with coefficients, plus a constant."""
        raise WrongArgument(f"{type(self).__name__} has no linear form")

    def __add__(self, other: Expression | Number) -> Linear:
        return _combine(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Expression | Number) -> Linear:
        return _combine(self, other, -1)

    def __rsub__(self, other: Expression | Number) -> Linear:
        return _combine(-self, other, 1)

    def __mul__(self, factor: Expression | Number) -> Linear:
        if isinstance(factor, Expression):
            return cast("Linear", OPERATIONS["*"](self, factor))
        k = number(factor)
        if not k:
            return Linear({}, 0)
        own = self.linear()
        return Linear({a: c * k for a, c in own.terms.items()}, own.constant * k)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Linear:
        if isinstance(divisor, Expression):
            raise ModelError(
                f"{in_brackets(self)} / {in_brackets(divisor)}: a quotient of two variables is not linear; write // to round it down"
            )
        k = number(divisor, "a divisor")
        if not k:
            raise ModelError(f"{in_brackets(self)} / {divisor}: division by zero")
        return self * (1 / k)

    def __floordiv__(self, divisor: Expression | Number) -> Linear:
        return cast("Linear", OPERATIONS["//"](self, divisor))

    def __rfloordiv__(self, dividend: Number) -> Linear:
        return cast("Linear", OPERATIONS["//"](dividend, self))

    def __mod__(self, divisor: Expression | Number) -> Linear:
        return cast("Linear", OPERATIONS["%"](self, divisor))

    def __rmod__(self, dividend: Number) -> Linear:
        return cast("Linear", OPERATIONS["%"](dividend, self))

    def __abs__(self) -> Linear:
        return cast("Linear", OPERATIONS["abs"](self))

    def __and__(self, other: object) -> Comparison:
        return cast("Comparison", OPERATIONS["&"](self, other))

    __rand__ = __and__

    def __or__(self, other: object) -> Comparison:
        return cast("Comparison", OPERATIONS["|"](self, other))

    __ror__ = __or__

    def __invert__(self) -> Comparison:
        return cast("Comparison", OPERATIONS["~"](self))

    def __neg__(self) -> Linear:
        return self * -1

    def __pos__(self) -> Linear:
        return self.linear()

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
        if not isinstance(other, (Expression, numbers.Real)):
            return NotImplemented
        return cast("Comparison", OPERATIONS["~"](self == other))

    def __bool__(self) -> bool:
        raise ModelError(
            f"{self} is an expression, not True or False; `and`, `or`, `not` and `if` cannot use it: {LOGIC}"
        )

    __hash__ = object.__hash__


class Linear(Expression):
    """The expression ``sum(coefficient * atom) + constant``. Instances are never changed.

    Parameters
    ----------
    terms : dict of Atom to number
        The coefficient of each atom. Atoms are compared by identity.
    constant : int or float
        The constant term.
    """

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[Atom, Number], constant: Number = 0) -> None:
        self.terms = terms
        self.constant = constant

    def linear(self) -> Linear:
        """Return the expression itself."""
        return self

    @property
    def integral(self) -> bool:
        """Whether the value is a whole number for every assignment."""
        return type(self.constant) is int and all(type(c) is int and a.integral for a, c in self.terms.items())

    def pieces(self) -> Iterator[str]:
        """Yield the text of the sum; of more than 8 terms, 7 are shown."""
        shown = 8 if len(self.terms) <= 8 else 7
        plus = ""
        for a, c in itertools.islice(self.terms.items(), shown):
            yield plus if c == 1 else f"{plus}{c}*"
            yield from a.pieces()
            plus = " + "
        if len(self.terms) > shown:
            yield f"{plus}... {len(self.terms) - shown} more"
        if self.constant or not self.terms:
            yield f"{plus}{self.constant}"


class Atom(Expression):
    """One operand of a linear expression. ``model`` is None only if the atom contains no variable."""

    __slots__ = ()
    integral: bool = True

    @property
    def model(self) -> Owner | None:
        """The model to which the variables of the atom belong."""
        raise WrongArgument(f"{type(self).__name__} belongs to no model")

    def linear(self) -> Linear:
        """Return the linear expression ``1 * atom``."""
        return Linear({self: 1})


@without(OF_COMPARISONS)
class Comparison:
    """The constraint ``lo <= expr <= hi``; made by the operators ``<= >= == != < >``, and of conditions by ``& | ~``.

    Parameters
    ----------
    expr : Linear
        An expression whose constant is 0.
    lo, hi : int or float
        The bounds; at most one of them is infinite.
    """

    __slots__ = ("expr", "hi", "lo")

    def __init__(self, expr: Linear, lo: Number, hi: Number) -> None:
        self.expr = expr
        self.lo = lo
        self.hi = hi

    @property
    def integral(self) -> bool:
        """Whether the expression is a whole number for every assignment."""
        return self.expr.integral

    @property
    def model(self) -> Owner | None:
        """The model to which the variables of the comparison belong; None without variables."""
        return common_model(self.expr.terms, self)

    def __bool__(self) -> bool:
        raise ModelError(
            f"{self} is a constraint, not True or False (a chain a <= b <= c is two constraints; "
            "the maximum of expressions is sl.max, the minimum sl.min; and, or, not of constraints are & | ~)"
        )

    def __and__(self, other: object) -> Comparison:
        return cast("Comparison", OPERATIONS["&"](self, other))

    __rand__ = __and__

    def __or__(self, other: object) -> Comparison:
        return cast("Comparison", OPERATIONS["|"](self, other))

    __ror__ = __or__

    def __invert__(self) -> Comparison:
        return cast("Comparison", OPERATIONS["~"](self))

    def pieces(self) -> Iterator[str]:
        """Yield the text of the comparison in short pieces."""
        yield from self.expr.pieces()
        if self.lo == self.hi:
            yield f" == {self.hi}"
        else:
            yield f" <= {self.hi}" if self.lo == -math.inf else f" >= {self.lo}"

    def __repr__(self) -> str:
        return brief(self.pieces())


LONGEST = 120  # characters of a text in a message


def brief(pieces: Iterable[str], most: int = LONGEST) -> str:
    """Return a text that is made of pieces; of one that is longer than ``most`` characters the beginning.

    The expressions inside an expression can be thousands of levels deep, or shared, so that a complete text would be
    exponentially long.

    Examples
    --------
    >>> brief(["max(", "a long name", ", b)"], most=12)
    'max(a lon...'
    """
    parts, length = [], 0
    for piece in pieces:
        parts.append(piece)
        length += len(piece)
        if length > most:
            break
    return one_line("".join(parts), most)


def in_brackets(value: Expression | Number) -> str:
    """Return an operand as text: a sum in parentheses, as ``x + -2 // y`` would be read in another way.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x = m.integer("x", 0, 3)
    >>> in_brackets(x - 2), in_brackets(x), in_brackets(2 * x), in_brackets(-3)
    ('(x + -2)', 'x', '(2*x)', '-3')
    """
    plain = (
        not isinstance(value, Linear) or (not value.terms) or (not value.constant and list(value.terms.values()) == [1])
    )
    return str(value) if plain else f"({value})"


def linear(value: Expression | Number) -> Linear:
    """Return an expression or a number as a ``Linear``."""
    return value.linear() if isinstance(value, Expression) else Linear({}, number(value, "an operand"))


def common_model(atoms: Iterable[Atom], where: object) -> Owner | None:
    """Return the one model to which all atoms belong, or None without variables.

    Raises
    ------
    ModelError
        If the atoms belong to two models; the message names one atom of each.
    """
    owner: Owner | None = None
    witness: Atom | None = None
    for atom in atoms:
        model = atom.model
        if model is None or model is owner:
            continue
        if owner is not None:
            raise ModelError(
                f"{where}: {witness} belongs to model {owner.name!r}, but {atom} belongs to model {model.name!r}"
            )
        owner, witness = model, atom
    return owner


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
