"""Functions of expressions: sum, maximum, minimum, truth value, overlap, array look-up, piecewise-linear function."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..arguments import named
from ..counts import how_many
from .expressions import Element, Holds, Interval, Max, Min, Overlap, Piecewise
from .linear_expressions import Atom, Comparison, Expression, Linear, linear
from .quantities import ModelError, Number, listed, number, pair, whole


@named
def sum(terms: Iterable[Expression | Number], weights: Sequence[Number] | None = None) -> Linear:  # noqa: A001
    """Return the sum, or with ``weights`` the weighted sum, of many expressions; it is built in one pass.

    Parameters
    ----------
    terms : iterable of Expression or number
        The n terms.
    weights : sequence of number, optional
        The n weights.

    Returns
    -------
    Linear
        The sum.

    Raises
    ------
    ModelError
        If the numbers of terms and weights differ.

    Examples
    --------
    >>> from schedlab import Model, sum
    >>> m = Model("m"); xs = [m.integer(f"x{i}", 0, 9) for i in range(3)]
    >>> sum(xs, weights=[1, 2, 3])
    x0 + 2*x1 + 3*x2
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
        else:
            constant += number(item, "a term of a sum") * k
    return Linear({a: c for a, c in total.items() if c}, constant)


def _operands(first: Any, rest: tuple[Any, ...], name: str) -> tuple[Linear, ...]:
    items = list(first) if not rest and isinstance(first, Iterable) else [first, *rest]
    if not items:
        raise ModelError(f"{name}() needs at least one expression; the list is empty")
    return tuple(linear(e) for e in items)


def _extreme(kind: type[Max] | type[Min], pick: Callable[..., Number], operands: tuple[Linear, ...]) -> Linear:
    if all(not e.terms for e in operands):
        return Linear({}, pick(e.constant for e in operands))
    return operands[0] if len(operands) == 1 else Linear({kind(operands): 1})


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
    import builtins

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
    import builtins

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
def holds(comparison: Comparison) -> Linear:
    """Return an expression that is 1 if a comparison between whole numbers holds, else 0.

    Parameters
    ----------
    comparison : Comparison
        A comparison with integer coefficients and bounds.

    Returns
    -------
    Linear
        The truth value.

    Raises
    ------
    ModelError
        If the argument is no comparison, or has real coefficients.

    Examples
    --------
    >>> from schedlab import Model, holds
    >>> m = Model("m"); a = m.interval("a", size=2)
    >>> holds(a.start >= 5)
    holds(a.start >= 5)
    """
    if not isinstance(comparison, Comparison):
        raise ModelError(f"holds() takes a comparison such as a.start >= 5, not {comparison!r}")
    if not comparison.integral or not all(isinstance(b, int) or math.isinf(b) for b in (comparison.lo, comparison.hi)):
        raise ModelError(
            f"holds({comparison}): only a comparison between whole numbers has a truth value; "
            "the coefficients and bounds must be integers"
        )
    if not comparison.expr.terms:
        return Linear({}, int(comparison.lo <= 0 <= comparison.hi))
    return Linear({Holds(comparison): 1})


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
    return Linear({}, 0) if lo == hi else Linear({Overlap(interval, lo, hi): 1})


@named
def element(array: Sequence[Number], index: Expression | int) -> Linear:
    """Return ``array[index]`` for an integer expression ``index``; an index outside of the array is infeasible.

    Parameters
    ----------
    array : sequence of number
        At least one number.
    index : Expression or int
        The position, counted from 0.

    Returns
    -------
    Linear
        The entry.

    Raises
    ------
    ModelError
        If the array is empty, or the index need not be a whole number.

    Examples
    --------
    >>> from schedlab import Model, element
    >>> m = Model("m"); i = m.integer("i", 0, 2)
    >>> element([5, 7, 9], i)
    element(array of 3, i)
    """
    values = tuple(number(v, "an entry of the array") for v in listed(array, "the array of element()", True))
    at = linear(index)
    if not values:
        raise ModelError(f"element([], {index}): the array is empty")
    if not at.integral:
        raise ModelError(f"element(array, {index}): the index must be a whole number")
    return Linear({Element(values, at): 1})


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


@named
def implies(premise: Expression | Comparison, conclusion: Expression | Comparison) -> Comparison:
    """Require that ``conclusion`` is true if ``premise`` is true.

    Parameters
    ----------
    premise, conclusion : Expression or Comparison
        A comparison between whole numbers, or an expression with the values 0 and 1: a presence or a Boolean variable.

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
    return _truth(premise) <= _truth(conclusion)


def _truth(side: Expression | Comparison) -> Linear:
    from .bounds import Bounds

    if isinstance(side, Comparison):
        return holds(side)
    e = linear(side)
    lo, hi = Bounds().of(e)
    if not e.integral or lo < 0 or hi > 1:
        raise ModelError(
            f"implies(): {e} is not a truth value: its bounds are [{lo}, {hi}]; give a presence or a Boolean variable"
        )
    return e
