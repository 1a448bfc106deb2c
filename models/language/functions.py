"""The functions of the language that make expressions, truth values of conditions, and constraints.

Two functions have the name of a builtin, which is ``builtins.max`` and ``builtins.min`` here.
"""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Never, overload

import numpy as np

from ..arguments import named, refuse
from ..words import how_many
from .bounds import Bounds
from .constraints import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Constrained,
    Cumulative,
    ForbidExtent,
    NoOverlap,
    Precedence,
    PrecedenceKind,
    Synchronize,
    Table,
)
from .expressions import (
    LARGEST,
    OPERATIONS,
    Atom,
    Comparison,
    Element,
    Entry,
    Expression,
    Holds,
    Interval,
    Linear,
    Max,
    Min,
    ModelError,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    Window,
    common_model,
    distinct_intervals,
    in_brackets,
    linear,
    listed,
    number,
    pair,
    told,
    whole,
)
from .levels import LevelFunction
from .structures import VariableCapacity, VariableDelay, variable_capacity
from .structures import variable_delay as delayed


@overload
def sum(terms: Iterable[Expression | Number], weights: Sequence[Number] | None = None) -> Linear: ...  # noqa: A001
@overload
def sum(terms: Iterable[LevelFunction], weights: None = None) -> LevelFunction: ...  # noqa: A001


@named
def sum(  # noqa: A001
    terms: Iterable[Expression | Number] | Iterable[LevelFunction], weights: Sequence[Number] | None = None
) -> Linear | LevelFunction:
    """Return the sum, or with ``weights`` the weighted sum, of many expressions, or the sum of levels; it is built in one pass.

    Parameters
    ----------
    terms : iterable of Expression or number, or iterable of LevelFunction
        The n terms.
    weights : sequence of number, optional
        The n weights of expressions. Levels have heights instead.

    Returns
    -------
    Linear or LevelFunction
        The sum; of levels a level.

    Raises
    ------
    ModelError
        If the numbers of terms and weights differ, or some terms are levels and others are not.

    Examples
    --------
    >>> from schedlab import Model, sum
    >>> m = Model("m"); xs = [m.integer(f"x{i}", 0, 9) for i in range(3)]
    >>> sum(xs, weights=[1, 2, 3])
    x0 + 2*x1 + 3*x2

    >>> from schedlab import pulse
    >>> jobs = [m.interval(f"job {k}", size=4) for k in range(3)]
    >>> m.add(sum([pulse(v, 2) for v in jobs]) <= 5, "power")
    """
    items = listed(terms, "the terms of sum()", weights is not None)
    factors: Iterable[Number]
    if weights is None:
        factors = (1 for _ in items)
    else:
        factors = [number(w) for w in listed(weights, "the weights of sum()", True)]
        if len(factors) != len(items):
            raise ModelError(f"sum: {how_many(len(items), 'term')} but {how_many(len(factors), 'weight')}")
    total: dict[Atom, Number] = {}
    constant: Number = 0
    for item, k in zip(items, factors, strict=True):
        if isinstance(item, Atom):
            total[item] = total.get(item, 0) + k
        elif isinstance(item, Expression):
            part = item.linear()
            constant += part.constant * k
            for atom, c in part.terms.items():
                total[atom] = total.get(atom, 0) + c * k
        elif isinstance(item, LevelFunction):
            return _sum_of_levels(items, weights)
        else:
            constant += number(item, "a term of a sum") * k
    return Linear({a: c for a, c in total.items() if c}, constant)


def _sum_of_levels(items: Sequence[Any], weights: Sequence[Number] | None) -> LevelFunction:
    if weights is not None:
        raise ModelError("sum() of levels takes no weights: give them as heights, such as pulse(a, 3)")
    other = next((item for item in items if not isinstance(item, LevelFunction)), None)
    if other is not None:
        raise ModelError(
            f"sum() of levels and {told(other)}: write step_at(0, amount) for a stock that is there from second 0 on"
        )
    changes = tuple(itertools.chain.from_iterable(item.changes for item in items))
    return LevelFunction(changes, tuple(itertools.chain.from_iterable(item.steps for item in items)))


def _operands(first: Any, rest: tuple[Any, ...], name: str) -> tuple[Linear, ...]:
    if not rest and isinstance(first, Iterable):
        items = list(first)
    else:
        items = [first, *rest]
    if not items:
        raise ModelError(f"{name}() needs at least one expression; the list is empty")
    return tuple(linear(e) for e in items)


def _extreme(kind: type[Max] | type[Min], pick: Callable[..., Number], operands: tuple[Linear, ...]) -> Linear:
    if all(not e.terms for e in operands):
        return Linear({}, pick(e.constant for e in operands))
    if len(operands) == 1:
        return operands[0]
    return Linear({kind(operands): 1})


def max(first: Iterable[Expression | Number] | Expression | Number, *rest: Expression | Number) -> Linear:  # noqa: A001
    """Return the maximum of the expressions, which are given as one list or as separate arguments.

    Parameters
    ----------
    first : Expression, number, or iterable of them
        The first expression, or all of them.
    *rest : Expression or number
        The other expressions.

    Returns
    -------
    Linear
        The maximum.

    Examples
    --------
    >>> from schedlab import Model, max
    >>> m = Model("m"); a, b = m.interval("a", size=2), m.interval("b", size=3)
    >>> max([a.end, b.end])
    max(a.end, b.end)
    """
    return _extreme(Max, builtins.max, _operands(first, rest, "max"))


def min(first: Iterable[Expression | Number] | Expression | Number, *rest: Expression | Number) -> Linear:  # noqa: A001
    """Return the minimum of the expressions, which are given as one list or as separate arguments.

    Parameters
    ----------
    first : Expression, number, or iterable of them
        The first expression, or all of them.
    *rest : Expression or number
        The other expressions.

    Returns
    -------
    Linear
        The minimum.
    """
    return _extreme(Min, builtins.min, _operands(first, rest, "min"))


@named
def positive_part(x: Expression | Number) -> Linear:
    """Return ``max(0, x)``, for instance for a tardiness.

    Parameters
    ----------
    x : Expression or number
        The expression.

    Returns
    -------
    Linear
        The maximum of ``x`` and 0.

    Examples
    --------
    >>> from schedlab import Model, positive_part
    >>> m = Model("m"); a = m.interval("a", size=2)
    >>> positive_part(a.end - 10)
    max(a.end + -10, 0)
    """
    return max([x, 0])


@named
def overlap(interval: Interval, lo: int, hi: int) -> Linear:
    """Return the length of an interval inside the window [lo, hi), in seconds; 0 if the interval is absent.

    Parameters
    ----------
    interval : Interval
        The interval.
    lo, hi : int
        Begin and end of the window, in seconds.

    Returns
    -------
    Linear
        The length.

    Raises
    ------
    ModelError
        If lo > hi, or the first argument is no interval.

    Examples
    --------
    >>> from schedlab import Model, overlap
    >>> m = Model("m"); a = m.interval("a", size=4)
    >>> overlap(a, 10, 20)
    overlap(a, 10, 20)
    """
    if not isinstance(interval, Interval):
        raise ModelError(f"overlap({interval!r}, {lo}, {hi}): the first argument must be an interval")
    lo = whole(lo, "the window of overlap()")
    hi = whole(hi, "the window of overlap()")
    if lo > hi:
        raise ModelError(f"overlap({interval}, {lo}, {hi}): the window ends before it begins")
    if lo == hi:
        return Linear({}, 0)
    return Linear({Overlap(interval, lo, hi): 1})


@named
def element(array: Sequence[Expression | Number], index: Expression | int) -> Linear:
    """Return ``array[index]`` for an integer expression ``index``; an index outside of the array is infeasible.

    The index is infeasible also where the value does not matter, as in ``0 * element(...)`` that is not simplified, or in
    a comparison within ``holds``.

    Parameters
    ----------
    array : sequence of number or Expression
        At least one entry. If one of them is an expression, all must be whole numbers.
    index : Expression or int
        The position, counted from 0.

    Returns
    -------
    Linear
        The entry.

    Raises
    ------
    ModelError
        If the array is empty, or the index or an expression in the array need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, element
    >>> m = Model("m"); i = m.integer("i", 0, 2); a = m.interval("a", size=3)
    >>> element([5, 7, 9], i)
    element(array of 3, i)
    >>> element([a.start, 7, a.end], i)
    element(3 expressions, i)
    """
    given = listed(array, "the array of element()", True)
    at = linear(index)
    if not given:
        raise ModelError(f"element([], {index}): the array is empty")
    if not at.integral:
        raise ModelError(f"element(array, {index}): the index must be a whole number")
    if any(isinstance(v, Expression) for v in given):
        entries = [_whole_expression(v, "element()") for v in given]
        if any(e.terms for e in entries):
            return Linear({Entry((at, *entries)): 1})
        given = [e.constant for e in entries]
    return Linear({Element(tuple(number(v, "an entry of the array") for v in given), at): 1})


@named
def product(left: Expression | Number, right: Expression | Number) -> Linear:
    """Return the product of two whole numbers; ``left * right`` is the same.

    Parameters
    ----------
    left, right : Expression or number
        The factors. If both are expressions, they must be whole numbers.

    Returns
    -------
    Linear
        The product; a sum of no function if one factor is a constant.

    Raises
    ------
    ModelError
        If both are expressions, and one of them need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=(2, 5)); units = m.integer("units", 1, 4)
    >>> a.size * units
    product(a.size, units)
    """
    a, b = linear(left), linear(right)
    if not a.terms:
        return b * a.constant
    if not b.terms:
        return a * b.constant
    return Linear({Product((_whole_expression(a, "a product"), _whole_expression(b, "a product"))): 1})


@named
def quotient(dividend: Expression | Number, divisor: Expression | Number) -> Linear:
    """Return ``dividend // divisor`` for whole numbers: the quotient, rounded down as in Python.

    So ``-7 // 2`` is -4, where CP-SAT and CP Optimizer round to 0, to -3. A divisor that is 0 is infeasible, also if it is
    0 because its interval is absent.

    Parameters
    ----------
    dividend : Expression or number
        A whole number.
    divisor : Expression or number
        A whole number other than 0; an expression must not be negative.

    Returns
    -------
    Linear
        The quotient.

    Raises
    ------
    ModelError
        If one of them need not be a whole number, or the divisor is 0 or is an expression that can be negative.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> a.start // 24
    quotient(a.start, 24)
    """
    x, d = _division(dividend, divisor, "//")
    if d.terms or x.terms:
        if _is_one(d):
            return x
        return Linear({Quotient((x, d)): 1})
    return Linear({}, x.constant // d.constant)


@named
def remainder(dividend: Expression | Number, divisor: Expression | Number) -> Linear:
    """Return ``dividend % divisor`` for whole numbers: ``dividend - divisor * (dividend // divisor)``, as in Python.

    It has the sign of the divisor. A divisor that is 0 is infeasible, also if it is 0 because its interval is absent.

    Parameters
    ----------
    dividend : Expression or number
        A whole number.
    divisor : Expression or number
        A whole number other than 0; an expression must not be negative.

    Returns
    -------
    Linear
        The remainder.

    Raises
    ------
    ModelError
        If one of them need not be a whole number, or the divisor is 0 or is an expression that can be negative.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> m.add(a.start % 24 >= 8)  # not at night
    """
    x, d = _division(dividend, divisor, "%")
    negative = not d.terms and linear(divisor).constant < 0
    if not d.terms and not x.terms:
        rest = Linear({}, x.constant % d.constant)
    else:
        if _is_one(d):
            rest = Linear({}, 0)
        else:
            rest = Linear({Remainder((x, d)): 1})
    if negative:
        return -rest
    return rest


def absolute(x: Expression | Number) -> Linear:
    """Return the absolute value of an expression, ``max([x, -x])``; ``abs(x)`` is the same.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> abs(a.start - b.start)
    max(a.start + -1*b.start, -1*a.start + b.start)
    """
    e = linear(x)
    return max([e, -e])


def _whole_expression(x: Expression | Number, where: str) -> Linear:
    e = linear(x)
    if not e.integral:
        raise ModelError(f"{where}: {e} must be a whole number")
    return e


def _is_one(e: Linear) -> bool:
    return not e.terms and e.constant == 1


def _division(dividend: Expression | Number, divisor: Expression | Number, sign: str) -> tuple[Linear, Linear]:
    """Return dividend and divisor; if the divisor is a negative number, both with the other sign."""
    where = f"{in_brackets(dividend)} {sign} {in_brackets(divisor)}"
    x, d = _whole_expression(dividend, where), _whole_expression(divisor, where)
    if not d.terms:
        if not d.constant:
            raise ModelError(f"{where}: division by zero")
        if d.constant > 0:
            return (x, d)
        return (-x, -d)
    least = Bounds().of(d)[0]
    if least < 0:
        raise ModelError(f"{where}: the divisor can be {least}; it must not be negative")
    return x, d


OPERATIONS.update({"*": product, "//": quotient, "%": remainder, "abs": absolute})


@named
def piecewise(x: Expression | Number, points: Sequence[tuple[Number, Number]]) -> Linear:
    """Return the piecewise-linear function of ``x`` through the points; an ``x`` outside of them is infeasible.

    Parameters
    ----------
    x : Expression or number
        The argument of the function.
    points : sequence of (number, number)
        At least two points (x, y) with strictly increasing x.

    Returns
    -------
    Linear
        The value of the function.

    Raises
    ------
    ModelError
        If there are fewer than two points, or their x do not increase.

    Examples
    --------
    >>> from schedlab import Model, piecewise
    >>> m = Model("m"); x = m.integer("x", 0, 10)
    >>> piecewise(x, [(0, 0), (4, 8), (10, 9)])
    piecewise(x, 3 points)
    """
    at = linear(x)
    given = (pair(p, "a point of piecewise()") for p in listed(points, "the points of piecewise()", True))
    pairs = tuple((number(a, "a point"), number(b, "a point")) for a, b in given)
    if len(pairs) < 2:
        raise ModelError(f"piecewise({x}): at least two points are needed, not {len(pairs)}")
    for (a, _), (b, _) in itertools.pairwise(pairs):
        if not a < b:
            raise ModelError(f"piecewise({x}): the x of the points must increase strictly, but {b} follows {a}")
    return Linear({Piecewise(at, pairs): 1})


# --- Conditions: truth values of comparisons and precedences.

Condition = Comparison | Precedence | VariableDelay | Expression
"""What has a truth value: a comparison of whole numbers, a precedence, or an expression with the values 0 and 1."""


@named
def holds(condition: Condition) -> Linear:
    """Return an expression that is 1 if a condition holds, else 0.

    Every comparison can be a condition, ``!=`` and what ``&``, ``|`` and ``~`` make of conditions included. A precedence
    holds if one of its intervals is absent. The start, end and size of an absent interval count as 0 in a comparison.

    Parameters
    ----------
    condition : Comparison, Precedence or Expression
        A comparison between whole numbers, a precedence such as ``end_before_start(a, b)``, or an expression with the
        values 0 and 1, such as ``a.presence``, which is returned as it is.

    Returns
    -------
    Linear
        The truth value.

    Raises
    ------
    ModelError
        If the argument has no truth value: another constraint, real coefficients, or an expression beyond 0 and 1.

    Examples
    --------
    >>> from schedlab import Model, holds, end_before_start
    >>> m = Model("m"); a, b = m.interval("a", size=2), m.interval("b", size=3)
    >>> holds(a.start >= 5), holds(a.start != b.start), holds(end_before_start(a, b))
    (holds(a.start >= 5), -1*holds(a.start + -1*b.start == 0) + 1, holds(b.start + -1*a.end >= 0))
    """
    return _truth(condition, "holds()")


@named
def implies(premise: Condition, conclusion: Condition) -> Comparison:
    """Require that ``conclusion`` is true if ``premise`` is true.

    Parameters
    ----------
    premise, conclusion : Comparison, Precedence or Expression
        A comparison between whole numbers, a precedence, or an expression with the values 0 and 1: a presence or a
        Boolean variable.

    Returns
    -------
    Comparison
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an expression can take a value other than 0 or 1.

    Examples
    --------
    >>> from schedlab import Model, implies
    >>> m = Model("m"); a, b = (m.interval(n, size=3, optional=True) for n in "ab")
    >>> m.add(implies(a.presence, b.presence)); m.add(implies(b.presence, a.start >= 4))
    """
    return _truth(premise, "implies()") <= _truth(conclusion, "implies()")


@named
def all_of(conditions: Iterable[Condition]) -> Comparison:
    """Require that all conditions hold; ``c & d`` is ``all_of([c, d])``. It is a condition itself.

    Parameters
    ----------
    conditions : iterable of Comparison, Precedence or Expression
        What ``holds`` takes. An empty list holds.

    Returns
    -------
    Comparison
        The constraint, for ``Model.add``, ``holds`` and ``implies``.

    Examples
    --------
    >>> from schedlab import Model, all_of, holds
    >>> m = Model("m"); x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    >>> m.value(holds(all_of([x >= 2, y != 4])), __import__("schedlab").Assignment(m, {x: 3, y: 5}))
    1
    """
    truths = _truths(conditions, "all_of()")
    return sum(truths) >= len(truths)


@named
def any_of(conditions: Iterable[Condition]) -> Comparison:
    """Require that at least one condition holds; ``c | d`` is ``any_of([c, d])``. It is a condition itself.

    Parameters
    ----------
    conditions : iterable of Comparison, Precedence or Expression
        What ``holds`` takes. An empty list does not hold.

    Returns
    -------
    Comparison
        The constraint, for ``Model.add``, ``holds`` and ``implies``.

    Examples
    --------
    >>> from schedlab import Model, any_of, end_before_start
    >>> m = Model("m"); a, b = m.interval("a", size=2), m.interval("b", size=3)
    >>> m.add(any_of([end_before_start(a, b), end_before_start(b, a)]), "one after the other")
    """
    return sum(_truths(conditions, "any_of()")) >= 1


@named
def count(expressions: Iterable[Expression | Number], value: Expression | Number) -> Linear:
    """Return how many of the expressions have a value.

    Parameters
    ----------
    expressions : iterable of Expression or number
        Whole numbers.
    value : Expression or number
        The value, a whole number.

    Returns
    -------
    Linear
        The number: the sum of ``holds(e == value)``.

    Examples
    --------
    >>> from schedlab import Model, count
    >>> m = Model("m"); node = [m.integer(f"node of job {k}", 0, 3) for k in range(5)]
    >>> m.add(count(node, 2) <= 3)
    """
    items = listed(expressions, "the expressions of count()")
    wanted = linear(value)
    return sum([holds(linear(e) - wanted == 0) for e in items])


def _truths(conditions: Iterable[Condition], where: str) -> list[Linear]:
    return [_truth(c, where) for c in listed(conditions, f"the conditions of {where}")]


def _truth(side: object, where: str) -> Linear:
    """Return the truth value of a condition."""
    if isinstance(side, (Precedence, VariableDelay)):
        return _of_comparison(_of_precedence(side))
    if isinstance(side, Comparison):
        return _of_comparison(side)
    if isinstance(side, Constrained):
        raise ModelError(
            f"{where}: {type(side).__name__} has no truth value; conditions are comparisons, precedences and presences"
        )
    if not isinstance(side, (Expression, int)):
        raise ModelError(f"{where} takes a comparison such as a.start >= 5 or a presence, not {told(side)}")
    e = linear(side)
    lo, hi = Bounds().of(e)
    if not e.integral or lo < 0 or hi > 1:
        raise ModelError(
            f"{where}: {e} is not a truth value: its bounds are [{lo}, {hi}]; give a comparison, a presence or a Boolean "
            "variable"
        )
    return e


def _of_comparison(c: Comparison) -> Linear:
    if not c.integral or not all(isinstance(b, int) or math.isinf(b) for b in (c.lo, c.hi)):
        raise ModelError(
            f"holds({c}): only a comparison between whole numbers has a truth value; "
            "the coefficients and bounds must be integers"
        )
    if not c.expr.terms:
        return Linear({}, int(c.lo <= 0 <= c.hi))
    if len(c.expr.terms) == 1:
        ((atom, factor),) = c.expr.terms.items()
        if isinstance(atom, Holds) and factor == 1 and (c.lo, c.hi) == (0, 0):  # not of a condition
            return 1 - atom
    return Linear({Holds(c): 1})


def _of_precedence(c: Precedence | VariableDelay) -> Comparison:
    """Return the condition that a precedence holds: an interval is absent, or the times are in order."""
    if isinstance(c, VariableDelay):
        left, right = c.ends
    else:
        left, right = (getattr(v, f).linear() for v, f in zip((c.before, c.after), c.fields, strict=True))
    gap = right - left
    ordered = _at_least(gap - c.delay)
    if c.at_most is not None:
        ordered = all_of([ordered, _at_least(c.at_most - gap)])
    absent = [1 - v.presence for v in (c.before, c.after) if v.optional]
    if absent:
        return any_of([*absent, ordered])
    return ordered


def _at_least(e: Linear) -> Comparison:
    """Return the comparison that an expression, which may have no variables, is at least 0."""
    return Comparison(Linear(e.terms), -e.constant, math.inf)


def _not(condition: object) -> Comparison:
    """Return the condition that another one does not hold."""
    truth = _truth(condition, "~")
    if isinstance(condition, Comparison) and condition.integral and condition.expr.terms:
        if condition.hi == math.inf:
            return condition.expr <= condition.lo - 1
        if condition.lo == -math.inf:
            return condition.expr >= condition.hi + 1
    return truth == 0


def _and(left: Condition, right: Condition) -> Comparison:
    return all_of([left, right])


def _or(left: Condition, right: Condition) -> Comparison:
    return any_of([left, right])


OPERATIONS.update({"~": _not, "&": _and, "|": _or})


# --- The functions that make constraints, with the checks of their arguments.

Lag = int | Expression
"""A time lag in seconds."""


def _named(interval: object) -> str:
    """Return an interval for a message; anything else is shown on one line."""
    if isinstance(interval, Interval):
        return str(interval)
    return told(interval)


def alternative(interval: Interval, options: Iterable[Interval], count: int = 1, **unknown: Never) -> Alternative:
    """Require that exactly ``count`` options are present, with the start and end of ``interval``; none if it is absent.

    If the count is greater than the number of options, the model has no solution with the interval present; this is no
    error.

    Parameters
    ----------
    interval : Interval
        The interval that is realised by the options.
    options : iterable of Interval
        Intervals of the same model, declared with ``optional=True``.
    count : int, default 1
        The number of options to choose.

    Returns
    -------
    Alternative
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an option is not optional, the count is below 1, or an interval is listed twice.

    Examples
    --------
    >>> from schedlab import Model, alternative
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> on = [m.interval(f"a on {n}", size=3, optional=True) for n in range(2)]
    >>> m.add(alternative(a, on))
    """
    if unknown:
        refuse(alternative, unknown)
    operands = distinct_intervals(
        [interval, *listed(options, "the options of alternative()")], f"alternative({_named(interval)})", at_least=2
    )
    for option in operands[1:]:
        if not option.optional:
            raise ModelError(f"alternative({interval}): the option {option} must be declared optional=True")
    k = whole(count, f"alternative({interval}): the count")
    if k < 1:
        raise ModelError(f"alternative({interval}): the count must be at least 1, not {k}")
    return Alternative(interval, operands[1:], builtins.min(k, len(operands)))  # a greater count has no solution either


@named
def cumulative(
    intervals: Iterable[Interval],
    demands: Sequence[Number | Expression],
    capacity: int | Expression | Sequence[tuple[int, int]],
) -> Cumulative | VariableCapacity:
    """Require that at every instant the sum of the demands of the running intervals is at most the capacity.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals of one model.
    demands : sequence of int or Expression
        The demand of each interval, >= 0: a whole number, an integer variable or an integral linear expression.
    capacity : int, Expression or sequence of (int, int)
        The capacity, >= 0: a number, or a whole expression such as an integer variable; or steps [(time in seconds, capacity), ...] with increasing times. Each capacity holds from
        its time on; the first one also holds before its time.

    Returns
    -------
    Cumulative or VariableCapacity
        The constraint, for ``Model.add``; a VariableCapacity if the capacity is an expression.

    Raises
    ------
    ModelError
        If a demand or a capacity is not as described; the message names the interval.

    Examples
    --------
    >>> from schedlab import Model, cumulative
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(cumulative([a, b], demands=[2, 1], capacity=[(0, 2), (10, 3)]))
    """
    operands = distinct_intervals(listed(intervals, "cumulative(): the intervals", True), "cumulative()")
    given = listed(demands, "cumulative(): the demands", True)
    if len(given) != len(operands):
        names = ", ".join(str(i) for i in operands[:5]) + (", ..." if len(operands) > 5 else "")
        raise ModelError(
            f"cumulative([{names}]): {how_many(len(operands), 'interval')} but {how_many(len(given), 'demand')}"
        )
    needed = tuple(_demand(d, i) for d, i in zip(given, operands, strict=True))
    if isinstance(capacity, Expression) and capacity.linear().terms:
        return variable_capacity(operands, needed, capacity)
    level = capacity.linear().constant if isinstance(capacity, Expression) else capacity
    return Cumulative(operands, needed, _steps(level))  # type: ignore[arg-type]


def _demand(demand: Number | Expression, interval: Interval) -> int | Linear:
    if type(demand) is int and 0 <= demand <= LARGEST:  # the common case, kept fast: no text is made
        return demand
    if not isinstance(demand, Expression):
        fixed = whole(demand, f"cumulative(): the demand of {interval}")
        if fixed < 0:
            raise ModelError(f"cumulative(): the demand of {interval} is {fixed}; demands must be >= 0")
        return fixed
    e = demand.linear()
    if not e.integral:
        raise ModelError(f"cumulative(): the demand of {interval}, {e}, must be a whole number")
    if not e.terms:
        return _demand(e.constant, interval)
    if common_model(e.terms, f"the demand of {interval}") is not interval.model:
        raise ModelError(f"cumulative(): the demand {e} of {interval} belongs to another model")
    from .bounds import Bounds

    lowest = Bounds().of(e)[0]
    if lowest < 0:
        raise ModelError(f"cumulative(): the demand of {interval}, {e}, can be {lowest}; demands must be >= 0")
    return e


def _steps(capacity: int | Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    if isinstance(capacity, (Sequence, np.ndarray)) and not isinstance(capacity, (str, bytes)) and np.shape(capacity):
        given = (pair(s, "cumulative(): a step of the capacity") for s in capacity)
        steps = tuple(
            (whole(t, "cumulative(): the time of a step of the capacity"), whole(c, "cumulative(): a capacity"))
            for t, c in given
        )
        if not steps:
            raise ModelError("cumulative(): the list of capacity steps is empty")
        for (a, _), (b, _) in pairwise(steps):
            if a >= b:
                raise ModelError(f"cumulative(): the times of the capacity must increase, but {b} follows {a}")
    else:
        if isinstance(capacity, Mapping):
            raise ModelError(
                f"cumulative(): the capacity is {told(capacity)}; expected a number or a list of (time, capacity)"
            )
        steps = ((0, whole(capacity, "cumulative(): the capacity")),)
    for t, c in steps:
        if c < 0:
            raise ModelError(f"cumulative(): the capacity from {t} on is {c}; capacities must be >= 0")
    return steps


@named
def all_or_none(intervals: Iterable[Interval]) -> AllOrNone:
    """Require that all of the intervals are present, or none of them.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals of one model, declared with ``optional=True``.

    Returns
    -------
    AllOrNone
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an interval is not optional, or listed twice.

    Examples
    --------
    >>> from schedlab import Model, all_or_none
    >>> m = Model("m"); steps = [m.interval(f"step {k}", size=3, optional=True) for k in range(3)]
    >>> m.add(all_or_none(steps))
    """
    operands = distinct_intervals(intervals, "all_or_none()")
    for v in operands:
        if not v.optional:
            raise ModelError(f"all_or_none(): {v} is always present; it must be declared optional=True")
    return AllOrNone(operands)


@named
def forbid_extent(interval: Interval, windows: Window | Iterable[Window]) -> ForbidExtent:
    """Require that the interval overlaps none of the windows, if it is present and has a positive size.

    It may end where a window begins, and start where a window ends. An interval of size 0 occupies nothing, so it may
    lie within a window. (``forbidExtent`` of CP Optimizer.)

    Parameters
    ----------
    interval : Interval
        The interval.
    windows : (int, int) or iterable of (int, int)
        Windows [lo, hi) in seconds with lo < hi, in any order; they may overlap. An empty list forbids nothing.

    Returns
    -------
    ForbidExtent
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If a window is no pair of whole numbers, or is empty.

    Examples
    --------
    >>> from schedlab import Model, forbid_extent
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> m.add(forbid_extent(a, [(0, 2), (4, 10)]))  # the node is under maintenance
    """
    if not isinstance(interval, Interval):
        raise ModelError(f"forbid_extent({told(interval)}): the first argument must be an interval")
    what = f"a window of forbid_extent({interval})"
    one = isinstance(windows, tuple) and len(windows) == 2 and not isinstance(windows[0], (tuple, list, np.ndarray))
    one = one or (isinstance(windows, np.ndarray) and windows.shape == (2,))
    if one:
        given = [windows]
    else:
        given = listed(windows, "the windows of forbid_extent()")
    forbidden: list[Window] = []
    for lo, hi in sorted((whole(a, what), whole(b, what)) for a, b in (pair(w, what) for w in given)):
        if lo >= hi:
            raise ModelError(f"forbid_extent({interval}): the window ({lo}, {hi}) is empty; lo < hi is needed")
        if forbidden and lo <= forbidden[-1][1]:
            forbidden[-1] = (forbidden[-1][0], builtins.max(hi, forbidden[-1][1]))
        else:
            forbidden.append((lo, hi))
    return ForbidExtent(interval, tuple(forbidden))


@named
def no_overlap(intervals: Iterable[Interval], transitions: Sequence[Sequence[int]] | None = None) -> NoOverlap:
    """Require that no two of the intervals run at the same time, and optionally a transition time between them.

    Absent intervals are ignored. Without ``transitions``, intervals of size 0 are ignored as well. With them, also if all
    times are 0, an interval of size 0 is a point in the sequence of the intervals, as in CP Optimizer: it keeps the
    transition times, and it is not within another interval (at its start or end it may be). Points at the same time need an
    order in which each transition time is kept.

    Parameters
    ----------
    intervals : iterable of Interval
        The n intervals, of one model.
    transitions : sequence of n sequences of n ints, optional
        ``transitions[i][j]`` >= 0 is the least time in seconds from the end of ``intervals[i]`` to the start of
        ``intervals[j]`` if i is before j, such as a setup time. It holds for all such pairs, also if other intervals
        are between the two (``noOverlap`` of CP Optimizer without ``isDirect``). This differs from times between
        neighbours alone only if the matrix violates the triangle inequality, that is, if a detour over a short
        interval k were faster: ``transitions[i][k] + size of k + transitions[k][j] < transitions[i][j]``. The matrix
        need not be symmetric; its diagonal is not used. None: there are no transition times.

    Returns
    -------
    NoOverlap
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If the matrix has another shape, or an entry that is no whole number >= 0.

    Examples
    --------
    >>> from schedlab import Model, no_overlap
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(no_overlap([a, b]))
    >>> m.add(no_overlap([a, b], transitions=[[0, 2], [5, 0]]))  # b starts 2 s after a ends, or a 5 s after b ends
    """
    operands = distinct_intervals(
        intervals if transitions is None else listed(intervals, "no_overlap(): the intervals", True), "no_overlap()"
    )
    if transitions is None:
        return NoOverlap(operands)
    return NoOverlap(operands, _transitions(operands, transitions))


def _transitions(intervals: tuple[Interval, ...], given: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the checked matrix of transition times."""
    n = len(intervals)
    shape = "no_overlap(): transitions must have one row and one column for each interval"
    rows = [
        list(row) if isinstance(row, Iterable) else [] for row in listed(given, "no_overlap(): the transition times")
    ]
    if len(rows) != n:
        raise ModelError(f"{shape}: {how_many(n, 'row')}, not {len(rows)}")
    for v, row in zip(intervals, rows, strict=True):
        if len(row) != n:
            raise ModelError(f"{shape}: the row of {v} must have {how_many(n, 'entry')}, not {len(row)}")
    matrix = []
    for v, row in zip(intervals, rows, strict=True):
        times = [
            whole(t, f"no_overlap(): the transition time from {v} to {w}") for w, t in zip(intervals, row, strict=True)
        ]
        for w, t in zip(intervals, times, strict=True):
            if t < 0:
                raise ModelError(f"no_overlap(): the transition time from {v} to {w} is {t}; it must be >= 0")
        matrix.append(tuple(times))
    return tuple(matrix)


@named
def synchronize(interval: Interval, others: Iterable[Interval]) -> Synchronize:
    """Require that, if ``interval`` is present, every present one of ``others`` has its start and end.

    If ``interval`` is absent, nothing is required.

    Parameters
    ----------
    interval : Interval
        The interval that the others follow.
    others : iterable of Interval
        Intervals of the same model.

    Returns
    -------
    Synchronize
        The constraint, for ``Model.add``.

    Examples
    --------
    >>> from schedlab import Model, synchronize
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=3)
    >>> m.add(synchronize(a, [b]))
    """
    operands = distinct_intervals(
        [interval, *listed(others, "the others of synchronize()")], f"synchronize({_named(interval)})"
    )
    return Synchronize(operands[0], operands[1:])


def _precedence(
    before: Interval, after: Interval, delay: Lag, kind: PrecedenceKind, at_most: Lag | None
) -> Precedence | VariableDelay:
    usual = type(before) is type(after) is Interval and before.model is after.model and before is not after
    if usual and at_most is None and type(delay) is int and -LARGEST <= delay <= LARGEST:  # kept fast
        return Precedence(before, after, delay, kind)
    operands = distinct_intervals([before, after], kind)
    if any(isinstance(lag, Expression) and lag.linear().terms for lag in (delay, at_most)):
        return delayed(operands[0], operands[1], delay, kind, at_most)
    where = f"{kind}({before}, {after})"
    least = whole(_plain(delay), f"{where}: the delay")
    most = None
    if at_most is not None:
        most = whole(_plain(at_most), f"{where}: at_most")
    if most is not None and most < least:
        raise ModelError(f"{where}: at_most is {most}; it must be at least the delay, {least}")
    return Precedence(operands[0], operands[1], least, kind, most)


def _plain(lag: Lag) -> Number:
    """Return the number of an expression without variables."""
    if isinstance(lag, Expression):
        return lag.linear().constant
    return lag


def variable_delay(
    before: Interval, after: Interval, delay: Lag, relation: PrecedenceKind, at_most: Lag | None = None
) -> Precedence | VariableDelay:
    """Return the precedence of a relation by its name, as JSON has it."""
    return _precedence(before, after, delay, relation, at_most)


def end_before_start(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.end + delay <= after.start`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the end of ``before`` to the start of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.start <= before.end + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.

    Raises
    ------
    ModelError
        If a lag is no whole number, or ``at_most`` is less than ``delay``.

    Examples
    --------
    >>> from schedlab import Model, end_before_start
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(end_before_start(a, b, delay=2))
    >>> m.add(end_before_start(a, b, delay=2, at_most=10))  # b starts 2 to 10 s after the end of a
    """
    if unknown:
        refuse(end_before_start, unknown)
    return _precedence(before, after, delay, "end_before_start", at_most)


def start_before_start(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.start + delay <= after.start`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the start of ``before`` to the start of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.start <= before.start + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.
    """
    if unknown:
        refuse(start_before_start, unknown)
    return _precedence(before, after, delay, "start_before_start", at_most)


def end_before_end(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.end + delay <= after.end`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the end of ``before`` to the end of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.end <= before.end + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.
    """
    if unknown:
        refuse(end_before_end, unknown)
    return _precedence(before, after, delay, "end_before_end", at_most)


def start_before_end(
    before: Interval, after: Interval, delay: Lag = 0, at_most: Lag | None = None, **unknown: Never
) -> Precedence | VariableDelay:
    """Require ``before.start + delay <= after.end`` if both intervals are present; optionally a maximum time lag as well.

    Parameters
    ----------
    before, after : Interval
        Intervals of one model.
    delay : int or Expression, default 0
        Least time in seconds from the start of ``before`` to the end of ``after``; it may be negative.
    at_most : int or Expression, optional
        Greatest time in seconds between the two, at least ``delay``: ``after.end <= before.start + at_most``. None: no limit.

    Returns
    -------
    Precedence or VariableDelay
        The constraint, for ``Model.add``; a VariableDelay if a time lag is an expression.
    """
    if unknown:
        refuse(start_before_end, unknown)
    return _precedence(before, after, delay, "start_before_end", at_most)


@named
def all_different(expressions: Iterable[Expression | Number]) -> AllDifferent:
    """Require that no two of the expressions have the same value.

    Parameters
    ----------
    expressions : iterable of Expression or number
        Whole numbers, of one model. The start, end and size of an absent interval count as 0, so that two absent
        intervals have the same start.

    Returns
    -------
    AllDifferent
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an expression need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, all_different
    >>> m = Model("m"); node = [m.integer(f"node of job {k}", 0, 3) for k in range(3)]
    >>> m.add(all_different(node)); m.add(all_different([x + k for k, x in enumerate(node)]))
    """
    return AllDifferent(_whole_numbers(expressions, "all_different()"))


@named
def table(expressions: Iterable[Expression | Number], tuples: Iterable[Sequence[int]]) -> Table:
    """Require that the values of the expressions, in their order, are one of the tuples.

    Parameters
    ----------
    expressions : iterable of n Expressions or numbers
        Whole numbers, of one model, at least one. The start, end and size of an absent interval count as 0.
    tuples : iterable of sequences of n ints
        The allowed values. Without any, the constraint cannot hold.

    Returns
    -------
    Table
        The constraint, for ``Model.add``.

    Raises
    ------
    ModelError
        If an expression need not be a whole number, or a tuple has another length or an entry that is no whole number.

    Examples
    --------
    >>> from schedlab import Model, table
    >>> m = Model("m"); cores, watts = m.integer("cores", 1, 64), m.integer("watts", 0, 400)
    >>> m.add(table([cores, watts], [(8, 90), (16, 150), (64, 390)]))
    """
    given = _whole_numbers(expressions, "table()")
    if not given:
        raise ModelError("table(): at least one expression is needed")
    rows: dict[tuple[int, ...], None] = {}
    for row in listed(tuples, "the tuples of table()"):
        values = listed(row, "a tuple of table()", True)
        if len(values) != len(given):
            raise ModelError(f"table(): {how_many(len(given), 'expression')}, but the tuple {told(row)}")
        rows[tuple(whole(v, "table(): an entry of a tuple") for v in values)] = None
    return Table(given, tuple(rows))


def _whole_numbers(expressions: Iterable[Expression | Number], where: str) -> tuple[Linear, ...]:
    given = tuple(linear(e) for e in listed(expressions, f"the expressions of {where}"))
    for e in given:
        if not e.integral:
            raise ModelError(f"{where}: {e} must be a whole number")
    common_model((a for e in given for a in e.terms), where)
    return given
