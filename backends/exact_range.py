"""The check that a solver can compute a model exactly, and comparisons in lowest terms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from ..errors import SolverUnavailable
from ..models.language import (
    Bounds,
    Comparison,
    Constraint,
    Cumulative,
    ForbidExtent,
    Level,
    Linear,
    Model,
    Precedence,
    Stated,
)
from ..models.language.constraints import expressions_of, lags_of
from ..models.language.expressions import Atom, Function, atoms_below

# --- The check that a solver can compute a model exactly.
#
# A model with larger numbers is refused before it is built.
#
# A sum ``c_1 x_1 + ... + c_n x_n + d`` is within a limit L if ``|c_1| X_1 + ... + |c_n| X_n + |d| <= L``, where ``X_i``
# is the greatest absolute value of ``x_i``. Then every partial sum, in any order, is within L too.


def require_range(model: Model, solver: str, limit: float, why: str) -> None:
    """Check that all numbers of a model are within a limit.

    Parameters
    ----------
    model : Model
    solver : str
        Name of the solver, for the message.
    limit : float
        The greatest absolute value of a time, an integer variable or a (partial) sum.
    why : str
        The reason for the limit, for the message.

    Raises
    ------
    SolverUnavailable
        If a number is beyond the limit. The message names the first such constraint, variable or objective.
    """
    for name, size in _sizes(model):
        if size > limit:
            require_horizon(model, solver)
            raise SolverUnavailable(
                f"{name}: values up to {float(size):.3g} are beyond what {solver} computes exactly "
                f"({limit:.3g}, {why}); use smaller units or coefficients"
            )


def require_horizon(model: Model, what: str) -> None:
    """Check that the latest starts of a model are declared or derived, not as good as unlimited.

    Parameters
    ----------
    model : Model
    what : str
        What needs a horizon, for the message.

    Raises
    ------
    SolverUnavailable
        If no horizon can be derived. The message says why, and what to do.
    """
    derived = model.derived_horizon
    if derived is not None and not derived.proved:
        raise SolverUnavailable(
            f"model {model.name!r} has no horizon, and none can be derived that cuts nothing off ({derived.reason}); "
            f"{what} needs one: give the latest start, as in Model(name, horizon=86400), or start windows to the intervals"
        )


def require_data(model: Model, solver: str, limit: int) -> None:
    """Check that no time, demand, capacity and bound of a variable is beyond a limit; raise SolverUnavailable else."""
    for name, size in variable_sizes(model):
        if size > limit:
            raise _too_great(name, size, solver, limit)
    for name, c in model.constraints:
        for size in _data(c):
            if size > limit:
                raise _too_great(name, size, solver, limit)


def _too_great(name: str, size: int, solver: str, limit: int) -> SolverUnavailable:
    return SolverUnavailable(
        f"{name}: {float(size):.3g} is beyond the greatest number that {solver} takes, {limit:.3g}; use larger units"
    )


def _data(c: Constraint) -> Iterable[int]:
    """Return the absolute values of the whole numbers of a constraint, without those of its expressions."""
    if isinstance(c, Precedence):  # of which models have most
        return (abs(c.delay),) if c.at_most is None else (abs(c.delay), abs(c.at_most))
    if isinstance(c, Cumulative):
        demands = [d for d in c.demands if isinstance(d, int)]
        return [*demands, *(max(abs(time), level) for time, level in c.steps)]
    if isinstance(c, ForbidExtent):
        return [max(abs(lo), abs(hi)) for lo, hi in c.windows]
    if isinstance(c, Level):
        known = [height for _, _, height in c.changes if isinstance(height, int)]
        reach = sum(map(abs, known)) + sum(abs(amount) for _, amount in c.steps)
        numbers = (*(t for t, _ in c.steps), c.lo, c.hi, *(c.window or ()))
        return [reach, *(abs(number) for number in numbers if number)]
    if isinstance(c, Stated):
        return c.data()
    return map(abs, lags_of(c))


def variable_sizes(model: Model) -> Iterator[tuple[str, int]]:
    """Yield the name of each variable and its greatest absolute value."""
    for v in model.intervals:
        windows = v.windows
        yield v.name, max(-windows[0][0], windows[-1][1] + v.size_hi)
    for x in model.integers:
        yield x.name, max(abs(x.lo), abs(x.hi))


def _sizes(model: Model) -> Iterator[tuple[str, float]]:
    """Yield the name of each part of a model and the greatest absolute value in it."""
    yield from variable_sizes(model)
    bounds = Bounds()
    seen: set[Atom] = set()
    for name, c in model.constraints:
        yield from ((name, size) for size in _sums(expressions_of(c), bounds, seen))
        if isinstance(c, Comparison):
            yield name, max((abs(side) for side in (c.lo, c.hi) if not math.isinf(side)), default=0)
        yield from ((name, size) for size in _data(c))
    for e in model.objectives:
        yield from (("the objective", size) for size in _sums([e], bounds, seen))


def _sums(expressions: Sequence[Linear], bounds: Bounds, seen: set[Atom]) -> Iterator[float]:
    """Yield the greatest absolute value of each expression, and of the operands of functions not yet ``seen``."""
    for atom in atoms_below(expressions, seen):
        if isinstance(atom, Function):
            yield from (_total(e, bounds) for e in atom.operands)
    yield from (_total(e, bounds) for e in expressions)


def _total(e: Linear, bounds: Bounds) -> float:
    """Return ``|c_1| X_1 + ... + |c_n| X_n + |d|``."""
    bounds.of(e)
    return abs(e.constant) + sum(abs(c) * max(map(abs, bounds.of_atom(atom))) for atom, c in e.terms.items())


# --- Comparisons of whole numbers in lowest terms, for solvers that compute with tolerances.


def in_lowest_terms(c: Comparison) -> Comparison:
    """Return a comparison of whole numbers divided by the common divisor of its coefficients, with rounded bounds.

    If no whole number is between the bounds, the lower one becomes the greater. A solver's tolerance of 1e-6 is a whole unit where coefficients are 1e6 and more.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    >>> in_lowest_terms(10 * x + 20 * y <= 39)
    x + 2*y <= 3
    """
    bounds = [b for b in (c.lo, c.hi) if not math.isinf(b)]
    if not (c.expr.terms and c.integral and all(type(b) is int for b in bounds)):
        return c
    divisor = math.gcd(*(int(k) for k in c.expr.terms.values()))
    if divisor <= 1:
        return c
    lo = c.lo if math.isinf(c.lo) else -(-int(c.lo) // divisor)
    hi = c.hi if math.isinf(c.hi) else int(c.hi) // divisor
    return Comparison(Linear({a: int(k) // divisor for a, k in c.expr.terms.items()}), lo, hi)
