"""Conditions: truth values of comparisons and precedences, their and, or, not, implications, and counts of values."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable

from ..arguments import named
from .bounds import Bounds
from .constraints import Constrained, Precedence
from .expressions import OPERATIONS, Comparison, Expression, Holds, Linear, linear
from .functions import sum as total
from .quantities import ModelError, Number, listed, told
from .structures import VariableDelay

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
    return total(truths) >= len(truths)


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
    return total(_truths(conditions, "any_of()")) >= 1


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
    return total([holds(linear(e) - wanted == 0) for e in items])


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
    if not c.integral or not builtins.all(isinstance(b, int) or math.isinf(b) for b in (c.lo, c.hi)):
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
    return any_of([*absent, ordered]) if absent else ordered


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
