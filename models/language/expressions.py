"""Expressions of the language: linear expressions and comparisons; integer and interval variables; functions; checks of the numbers in them."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NoReturn, Protocol, cast

import numpy as np

from ...errors import SchedlabError, WrongArgument
from ..words import how_many, one_line

LARGEST = 10**100  # greatest absolute value of a number of a model, far below the greatest float
Number = int | float
Window = tuple[int, int]


class ModelError(SchedlabError, ValueError):
    """A declaration is wrong or contradicts another one; the message names the variables."""


def number(value: object, what: str = "a coefficient") -> Number:
    """Return an int for an integer (NumPy's included), and else a finite float.

    Parameters
    ----------
    value : object
        The value to check.
    what : str
        The name of the value in the message.

    Raises
    ------
    ModelError
        If the value is no finite number, or is beyond 1e100.

    Examples
    --------
    >>> number(3), number(2.5)
    (3, 2.5)
    """
    if type(value) is int and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, numbers.Integral):
        return _moderate(int(value), what)
    if isinstance(value, numbers.Real):
        try:
            as_float = float(value)
        except OverflowError:  # of a fraction
            raise ModelError(_too_large(what)) from None
        if math.isfinite(as_float):
            return _moderate(as_float, what)
    if isinstance(value, Decimal) and value.is_finite():
        return number(Fraction(value) if value != int(value) else int(value), what)
    raise ModelError(f"{what} must be a finite number, not {told(value)}{_advice(value)}")


def told(value: object) -> str:
    """Return a value for a message, on one line."""
    return " ".join(f"{value!r:.100}".split())


def _advice(value: object) -> str:
    """Return what to write in place of an interval or a constraint; "" for any other value."""
    kind = type(value).__name__
    if kind == "Interval":
        return f"; write one of its numbers: {value}.start, .end, .size or .presence"
    if kind == "Comparison":
        return "; write holds(c), which is 1 if the constraint c holds"
    return ""


def _moderate(value: Number, what: str) -> Number:
    if not -LARGEST <= value <= LARGEST:
        raise ModelError(_too_large(what))
    return value


def _too_large(what: str) -> str:
    return f"{what} is beyond 1e100, the greatest number of a model; use other units"


def whole(value: object, what: str) -> int:
    """Return the value as an int; a float such as 4.0 is accepted. Raise ModelError if it is no whole number.

    Examples
    --------
    >>> whole(4.0, "the size of a")
    4
    """
    n = number(value, what)
    if isinstance(n, float):
        if not n.is_integer():
            raise ModelError(f"{what} must be a whole number, not {n!r}")
        return int(n)
    return n


def listed(values: Any, what: str, ordered: bool = False) -> list[Any]:
    """Return the items of a list, a tuple, an array or an iterator; raise ModelError for anything else.

    A set is refused where ``ordered`` says that each item belongs to one of another list: sets have no order.

    Examples
    --------
    >>> listed((1, 2), "the terms of sum()")
    [1, 2]
    """
    if type(values) is list or type(values) is tuple:  # the common cases, kept fast
        return list(values)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable) or hasattr(values, "itertuples"):
        raise ModelError(f"{what} must be a list, not {told(values)}")
    if isinstance(values, np.ndarray) and not values.shape:
        raise ModelError(f"{what} must be a list, not {told(values)}, which is one number")
    if ordered and isinstance(values, Set):
        raise ModelError(f"{what} must be a list, not {told(values)}: a set has no order")
    return list(values)


def pair(value: object, what: str) -> tuple[object, object]:
    """Return the two entries of a window, a step or a point; raise ModelError if the value is no pair.

    Examples
    --------
    >>> pair([0, 5], "a window")
    (0, 5)
    """
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    if isinstance(value, np.ndarray) and value.shape == (2,):
        return value[0], value[1]
    raise ModelError(f"{what} must be a pair (a, b), not {told(value)}")


def windows_of(name: str, start: int | Window | Sequence[Window], what: str = "start") -> tuple[Window, ...]:
    """Return the windows of a start or end, (lo, hi) with both ends included, increasing and disjoint; adjacent ones are joined.

    Examples
    --------
    >>> windows_of("a", [(7, 9), (0, 3), (4, 5)])
    ((0, 5), (7, 9))
    """
    if type(start) is int and -LARGEST <= start <= LARGEST:  # the common cases, kept fast
        return ((start, start),)
    one = start[0] if type(start) is tuple and len(start) == 1 else start
    if (
        type(one) is tuple
        and len(one) == 2
        and type(one[0]) is type(one[1]) is int
        and -LARGEST <= one[0] <= one[1] <= LARGEST
    ):
        return (one,)
    pairs: Iterable[Any]
    if (isinstance(start, np.ndarray) and start.shape == (2,)) or (
        isinstance(start, tuple) and len(start) == 2 and not isinstance(start[0], (tuple, list, np.ndarray))
    ):
        pairs = [start]
    elif isinstance(start, (Sequence, np.ndarray)) and not (isinstance(start, np.ndarray) and not start.shape):
        pairs = start
    else:
        pairs = [(start, start)]
    windows: list[Window] = []
    place = f"a{'n' if what == 'end' else ''} {what} window of {name}"
    for a, b in sorted((whole(lo, place), whole(hi, place)) for lo, hi in (pair(p, place) for p in pairs)):
        if a > b:
            raise ModelError(f"interval {name!r}: the {what} window ({a}, {b}) ends before it begins")
        if windows and a <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], max(b, windows[-1][1]))
        else:
            windows.append((a, b))
    if not windows:
        raise ModelError(f"interval {name!r}: the list of {what} windows is empty")
    return tuple(windows)


# --- The operators that expressions, comparisons and intervals do not have: errors that say what to write instead.


NOT_LINEAR = "it is not linear"
UNSOLVED = "its value is known after the solve: r.assignment[x], or m.value(x, r.assignment)"
LOGIC = "for 0-1 expressions and comparisons write x | y for or, x & y for and, ~x for not"
OF_EXPRESSIONS = {
    "**": "write x * x for a square; piecewise() is a function of one variable",
    "divmod": "write x // d for the quotient and x % d for the rest",
    "@": "write sum(variables, weights=numbers)",
    "/": f"{NOT_LINEAR}; piecewise() is a function of one variable",
    **dict.fromkeys(("^", "<<", ">>"), LOGIC),
    **dict.fromkeys(("int", "float", "complex", "index", "round"), UNSOLVED),
}
OF_COMPARISONS = dict.fromkeys(
    ("^", "+", "-", "*", "/", "abs"),
    "write holds(c), which is 1 if the constraint c holds; c | d for or, c & d for and, ~c for not",
)
OF_INTERVALS = {
    **dict.fromkeys(
        ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "abs", "neg", "int", "float"),
        "write one of its numbers: .start, .end, .size or .presence, such as a.end <= b.start",
    ),
    **dict.fromkeys(("|", "&", "^", "~"), "write its .presence"),
}
BINARY = {
    **{"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul"},
    **{"|": "or", "&": "and", "^": "xor", "<<": "lshift", ">>": "rshift", "divmod": "divmod"},
}
ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
UNARY = {
    "neg": "neg",
    "abs": "abs",
    "~": "invert",
    "int": "int",
    "float": "float",
    "complex": "complex",
    "index": "index",
}


def without(operators: dict[str, str]) -> Callable[[type[Any]], type[Any]]:
    """Return a class decorator: each operator that the class does not define raises ModelError with its advice."""

    def decorate(cls: type[Any]) -> type[Any]:
        for operator, advice in operators.items():
            for name in _methods(operator):
                if name not in vars(cls):
                    setattr(cls, name, _refusing(operator, advice, name))
        return cls

    return decorate


def _methods(operator: str) -> tuple[str, ...]:
    if operator in BINARY:
        return f"__{BINARY[operator]}__", f"__r{BINARY[operator]}__"
    if operator == "round":
        return "__round__", "__floor__", "__ceil__", "__trunc__"
    return (f"__{(ORDER | UNARY)[operator]}__",)


def _refusing(operator: str, advice: str, name: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *others: object) -> NoReturn:
        text = _text(self, operator, others[0] if others else None, name)
        raise ModelError(f"{text}: the modelling language has no such {operator!r}; {advice}")

    refuse.__name__ = name
    return refuse


def _text(one: object, operator: str, other: object, name: str) -> str:
    if operator in BINARY or operator in ORDER:
        if name.startswith("__r") and name not in ("__round__", "__rshift__"):
            left = other
            right = one
        else:
            left = one
            right = other
        if operator == "divmod":
            return f"divmod({left}, {right})"
        return f"{left} {operator} {right}"
    if operator == "round":
        return f"{name.strip('_')}({one})"
    if operator == "~":
        return f"{operator}{one}"
    return f"{operator}({one})"


# --- Linear expressions: atoms with coefficients, plus a constant; and comparisons of linear expressions.
#
# An *atom* is one operand of a linear expression: an integer variable, an attribute of an interval (its start, end, size
# or presence), or a function of other expressions (``max``, ``holds``, ...). Every other expression is a ``Linear``.


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
        shown = 7
        if len(self.terms) <= 8:
            shown = 8
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
    if plain:
        return str(value)
    return f"({value})"


def linear(value: Expression | Number) -> Linear:
    """Return an expression or a number as a ``Linear``."""
    if isinstance(value, Expression):
        return value.linear()
    return Linear({}, number(value, "an operand"))


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
    if lo != -math.inf:
        lo -= difference.constant
    if hi != math.inf:
        hi -= difference.constant
    return Comparison(Linear(difference.terms), lo, hi)


def _strict(left: Expression, right: Expression | Number, lo: Number, hi: Number) -> Comparison:
    result = _compare(left, right, lo, hi)
    if not result.integral or not all(isinstance(b, int) or math.isinf(b) for b in (result.lo, result.hi)):
        raise ModelError(f"{result.expr}: < and > need whole numbers on both sides; write <= or >=")
    return result


# --- The atoms of linear expressions: integer variables, attributes of intervals, and functions; and interval variables.

AttributeName = Literal["start", "end", "size", "presence"]


class Integer(Atom):
    """An integer variable in [lo, hi]; made by ``Model.integer`` and ``Model.boolean``.

    Parameters
    ----------
    model : Model
        The model to which the variable belongs.
    index : int
        Its position in ``model.integers``.
    name : str
        The name that messages use.
    lo, hi : int
        The bounds, both included.
    """

    __slots__ = ("_model", "hi", "index", "lo", "name")

    def __init__(self, model: Owner, index: int, name: str, lo: int, hi: int) -> None:
        self._model = model
        self.index = index
        self.name = name
        self.lo = lo
        self.hi = hi

    @property
    def model(self) -> Owner:
        """The model to which the variable belongs."""
        return self._model

    def pieces(self) -> Iterator[str]:
        """Yield the name."""
        yield self.name


class Attribute(Atom):
    """The start, end, size or presence (0 or 1) of an interval as a number; 0 if the interval is absent."""

    __slots__ = ("field", "interval")

    def __init__(self, interval: Interval, field: AttributeName) -> None:
        self.interval = interval
        self.field = field

    @property
    def model(self) -> Owner:
        """The model to which the interval belongs."""
        return self.interval.model

    def pieces(self) -> Iterator[str]:
        """Yield the name of the interval and that of the attribute."""
        yield f"{self.interval.name}.{self.field}"


@without(OF_INTERVALS)
class Interval:
    """An interval variable: it occupies [start, end) with end = start + size; made by ``Model.interval``.

    The properties ``start``, ``end``, ``size`` and ``presence`` are expressions.

    Parameters
    ----------
    model : Model
        The model to which the interval belongs.
    index : int
        Its position in ``model.intervals``.
    name : str
        The name that messages use.
    size : (int, int)
        The least and the greatest size in seconds, kept as ``size_lo`` and ``size_hi``.
    windows : tuple of (int, int), or None
        Disjoint windows (lo, hi) in increasing order, both ends included, in which the start may lie. None: 0 to the
        horizon of the model.
    optional : bool
        Whether the interval may be absent.
    """

    __slots__ = ("_attributes", "_windows", "index", "model", "name", "optional", "size_hi", "size_lo")

    def __init__(
        self,
        model: Owner,
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
        attribute = self._attributes.get(field)
        if attribute is None:
            attribute = self._attributes[field] = Attribute(self, field)
        return attribute

    @property
    def start(self) -> Attribute:
        """The start in seconds, as an expression."""
        return self._attribute("start")

    @property
    def end(self) -> Attribute:
        """The end in seconds, as an expression."""
        return self._attribute("end")

    @property
    def size(self) -> Attribute:
        """The size in seconds, as an expression."""
        return self._attribute("size")

    @property
    def presence(self) -> Attribute:
        """The presence, as an expression: 1 if the interval is present, else 0."""
        return self._attribute("presence")

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of the start; from 0 to the model's horizon if none were declared."""
        if self._windows is not None:
            return self._windows
        return ((0, self.model.horizon),)

    @property
    def declared_windows(self) -> tuple[Window, ...] | None:
        """The windows of the start as declared; None if none were declared."""
        return self._windows

    @property
    def start_lo(self) -> int:
        """The earliest start in seconds."""
        return self.windows[0][0]

    @property
    def start_hi(self) -> int:
        """The latest start in seconds."""
        return self.windows[-1][1]

    def __repr__(self) -> str:
        name = self.name
        if len(name) <= LONGEST and name.isprintable():  # the common case, kept fast
            return name
        return brief([name], LONGEST)


class Function(Atom):
    """An atom that is computed from other expressions, its ``operands``."""

    __slots__ = ("_model", "operands")

    def __init__(self, operands: tuple[Linear, ...]) -> None:
        self.operands = operands
        self._model = common_model((a for e in operands for a in e.terms), type(self).__name__.lower())

    @property
    def model(self) -> Owner | None:
        """The model to which the operands belong; None without variables."""
        return self._model

    def pieces(self) -> Iterator[str]:
        """Yield the text of the function; of its operands at most 6 are shown."""
        for k, e in enumerate(self.operands[:6]):
            yield ", " if k else f"{type(self).__name__.lower()}("
            yield from e.pieces()
        yield ", ...)" if len(self.operands) > 6 else ")"


class Max(Function):
    """The maximum of the operands."""

    __slots__ = ()

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether the value is a whole number for every assignment."""
        return all(e.integral for e in self.operands)


class Min(Function):
    """The minimum of the operands."""

    __slots__ = ()

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether the value is a whole number for every assignment."""
        return all(e.integral for e in self.operands)


class Holds(Function):
    """1 if an integer comparison holds, else 0."""

    __slots__ = ("comparison",)

    def __init__(self, comparison: Comparison) -> None:
        super().__init__((comparison.expr,))
        self.comparison = comparison

    def pieces(self) -> Iterator[str]:
        """Yield the text of the comparison."""
        yield "holds("
        yield from self.comparison.pieces()
        yield ")"


class Overlap(Function):
    """The length in seconds of an interval inside the window [lo, hi); 0 if the interval is absent."""

    __slots__ = ("hi", "interval", "lo")

    def __init__(self, interval: Interval, lo: int, hi: int) -> None:
        super().__init__((interval.start.linear(), interval.end.linear()))
        self.interval = interval
        self.lo = lo
        self.hi = hi

    def pieces(self) -> Iterator[str]:
        """Yield the text with the interval and the window."""
        yield f"overlap({self.interval}, {self.lo}, {self.hi})"


class Element(Function):
    """The entry ``array[index]``; an index outside of the array is infeasible."""

    __slots__ = ("array",)

    def __init__(self, array: tuple[Number, ...], index: Linear) -> None:
        super().__init__((index,))
        self.array = array

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether all entries of the array are whole numbers."""
        return all(type(v) is int for v in self.array)

    def pieces(self) -> Iterator[str]:
        """Yield the text with the length of the array."""
        yield f"element(array of {len(self.array)}, "
        yield from self.operands[0].pieces()
        yield ")"


class Piecewise(Function):
    """The piecewise-linear function through points (x, y); an x outside of them is infeasible."""

    __slots__ = ("points",)
    integral = False

    def __init__(self, x: Linear, points: tuple[tuple[Number, Number], ...]) -> None:
        super().__init__((x,))
        self.points = points

    def pieces(self) -> Iterator[str]:
        """Yield the text with the number of points."""
        yield "piecewise("
        yield from self.operands[0].pieces()
        yield f", {how_many(len(self.points), 'point')})"


class Product(Function):
    """The product of the two operands, which are whole numbers."""

    __slots__ = ()


class Quotient(Function):
    """The first operand divided by the second one, rounded down (``//`` of Python); a divisor of 0 is infeasible."""

    __slots__ = ()


class Remainder(Function):
    """What is left of the first operand after division by the second one; a divisor of 0 is infeasible.

    It is ``x - d * (x // d)``, from 0 to ``d - 1`` (``%`` of Python).
    """

    __slots__ = ()


class Entry(Function):
    """The expression at an index: the first operand is the index, the others are the entries, all whole numbers.

    An index outside of the entries is infeasible.
    """

    __slots__ = ()

    @property
    def entries(self) -> tuple[Linear, ...]:
        """The expressions, by their positions."""
        return self.operands[1:]

    def pieces(self) -> Iterator[str]:
        """Yield the text with the number of entries."""
        yield f"element({how_many(len(self.entries), 'expression')}, "
        yield from self.operands[0].pieces()
        yield ")"


class Neighbours(Function):
    """A sum over the direct neighbours in a sequence; intervals of the sequence that overlap are infeasible.

    With the present intervals i[1], ..., i[m] in the order of their starts, and their types t, it is
    ``first[t[1]] + costs[t[1]][t[2]] + ... + costs[t[m-1]][t[m]] + last[t[m]]``; 0 if none is present. The operands are the
    starts, and the presences of the intervals that are optional.

    Parameters
    ----------
    intervals : tuple of n Interval
        The intervals of the sequence, with sizes of at least 1.
    types : tuple of n int
        The type of each interval, in [0, k).
    costs : tuple of k tuples of k int
        The summand of two neighbours of these types.
    first, last : tuple of k int
        The summands of the first and of the last interval, by their types.
    """

    __slots__ = ("costs", "first", "intervals", "last", "types")

    def __init__(
        self,
        intervals: tuple[Interval, ...],
        types: tuple[int, ...],
        costs: tuple[tuple[int, ...], ...],
        first: tuple[int, ...],
        last: tuple[int, ...],
    ) -> None:
        attributes = [v.start for v in intervals] + [v.presence for v in intervals if v.optional]
        super().__init__(tuple(a.linear() for a in attributes))
        self.intervals = intervals
        self.types = types
        self.costs = costs
        self.first = first
        self.last = last

    def pieces(self) -> Iterator[str]:
        """Yield the text with the first intervals."""
        yield f"neighbours({', '.join(map(str, self.intervals[:4]))}{', ...' if len(self.intervals) > 4 else ''})"

    def value(self, order: Sequence[int]) -> int:
        """Return the sum for an order of intervals, which are given by their positions."""
        kinds = [self.types[k] for k in order]
        if not kinds:
            return 0
        between = sum(self.costs[s][t] for s, t in pairwise(kinds))
        return self.first[kinds[0]] + between + self.last[kinds[-1]]

    def range(self) -> tuple[int, int]:
        """Return bounds of the sum, in which each interval has the summand of what follows it."""
        used = sorted(set(self.types))
        after = {s: [*(self.costs[s][t] for t in used), self.last[s]] for s in used}
        ranges = {s: (min(c), max(c)) for s, c in after.items()}
        low = min([0, *(self.first[s] for s in used)])
        high = max([0, *(self.first[s] for s in used)])
        for v, s in zip(self.intervals, self.types, strict=True):
            least, most = ranges[s]
            if v.optional:
                low += min(least, 0)
                high += max(most, 0)
            else:
                low += least
                high += most
        return low, high


def atoms_below(expressions: Iterable[Linear], seen: set[Atom] | None = None) -> Iterator[Atom]:
    """Yield every atom of the expressions, and before it the atoms of its operands; each atom once.

    Parameters
    ----------
    expressions : iterable of Linear
        The expressions to search.
    seen : set of Atom, optional
        Atoms that are not yielded, and neither are the atoms below them. The atoms that are yielded are added to the
        set.

    Yields
    ------
    Atom
        The innermost atoms first.

    Examples
    --------
    >>> from schedlab import Model, max
    >>> m = Model("m"); x = m.integer("x", 0, 3)
    >>> list(atoms_below([max([x, 2]) + x]))
    [x, max(x, 2)]
    """
    if seen is None:
        seen = set()
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


__all__ = [
    "Atom",
    "Attribute",
    "AttributeName",
    "Comparison",
    "Element",
    "Entry",
    "Expression",
    "Function",
    "Holds",
    "Integer",
    "Interval",
    "Linear",
    "Max",
    "Min",
    "Neighbours",
    "Number",
    "Overlap",
    "Piecewise",
    "Product",
    "Quotient",
    "Remainder",
    "Window",
    "atoms_below",
    "brief",
    "common_model",
    "linear",
]


def distinct_intervals(items: Iterable[Interval], where: str, *, at_least: int = 0) -> tuple[Interval, ...]:
    """Return the intervals of a constraint; raise ModelError for others, for one twice, and for those of two models."""
    intervals = tuple(items if type(items) is list else listed(items, f"{where}: the intervals"))
    for i in intervals:
        if not isinstance(i, Interval):
            raise ModelError(f"{where}: {told(i)} is not an interval")
    if len({id(i) for i in intervals}) != len(intervals):
        repeated = next(i for k, i in enumerate(intervals) if any(i is j for j in intervals[:k]))
        raise ModelError(f"{where}: {repeated} is listed twice")
    if len(intervals) < at_least:
        raise ModelError(f"{where}: at least {how_many(at_least, 'interval', verb='are')} needed, not {len(intervals)}")
    for i in intervals[1:]:
        if i.model is not intervals[0].model:
            raise ModelError(
                f"{where}: {intervals[0]} belongs to model {intervals[0].model.name!r}, but {i} to model {i.model.name!r}"
            )
    return intervals
