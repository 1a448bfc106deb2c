"""The decomposition of real coefficients: comparisons and objectives are multiplied by a number and become whole.

For an expression ``sum_i c[i] x[i]`` over whole numbers with ``|x[i]| <= X[i]``, let D be the common denominator of the
coefficients (a float stands for the simplest fraction near it: 0.1 is 1/10) and ``S = sum_i |c[i]| X[i]``. The factor F
is D if ``D S <= 2^53``, else the greatest power of two with ``F S <= 2^53``. With the integers ``C[i]`` nearest to
``F c[i]``, the error is at most ``E = sum_i |C[i] - F c[i]| X[i]``; it is 0 for ``F = D``. A comparison becomes::

    ceil(F lo - E - F t / 2) <= sum_i C[i] x[i] <= floor(F hi + E + F t / 2)

where t is the tolerance of the language for real numbers. It is required that ``E <= F t / 4``, so each answer satisfies
the comparison within t, and no solution is lost. An objective is replaced by ``sum_i C[i] x[i]``; its bound b gives
the bound ``(b - E) / F`` (minimize; ``(b + E) / F`` for maximize) plus the constant of the objective.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...models.language import Comparison, Constraint, Linear, Model
from ...models.language.expressions import Atom
from ...models.language.offsets import far_origin, real_tolerance
from ...models.whole_numbers import rational
from ..base import SolverUnavailable
from .constructs import Construct, whole
from .decomposition import Decomposition

LARGEST = 1 << 53  # greatest sum: also a solver that computes in double precision adds such whole numbers exactly


class Scaled(NamedTuple):
    """An expression multiplied by ``factor`` and rounded; ``error`` is in the units of the result."""

    terms: dict[Atom, int]
    factor: int
    error: float


class RealNumbers(Decomposition):
    """Comparisons and objectives with real coefficients or bounds become whole (see the module).

    All functions with real values are replaced before.
    """

    replaces = frozenset([Construct.REAL])

    def __init__(self, origin: Model, missing: frozenset[Construct]) -> None:
        self._objective = Scaled({}, 1, 0.0)
        self._constant = 0.0
        self._origin = far_origin(origin)
        super().__init__(origin, missing)

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Comparison) or whole(copied):
            return copied
        made = self._scaled(copied.expr)
        tolerance = real_tolerance(copied, self._origin)
        if made.error > made.factor * tolerance / 4:
            raise SolverUnavailable(f"{self.name}: its real coefficients cannot be scaled to whole numbers below 2^53")
        slack = made.error + made.factor * tolerance / 2
        lo, hi = copied.lo * made.factor - slack, copied.hi * made.factor + slack
        low, high = (math.ceil(lo) if lo > -math.inf else lo), (math.floor(hi) if hi < math.inf else hi)
        if low > high:
            self.impossible()
            return None
        return Comparison(Linear(dict(made.terms)), low, high)

    def objective(self) -> None:
        """Add the copies of the objectives."""
        super().objective()
        for k, e in enumerate(self.model.objectives):
            if not e.integral:
                made = self._scaled(e)
                self.model.objectives[k] = Linear(dict(made.terms))
                if k == 0:
                    self._objective, self._constant = made, e.constant
                    if made.error:
                        error = made.error / made.factor
                        self.notes = (f"the objective is rounded, with an error of at most {error:.2g}",)

    def bound(self, value: float) -> float:
        """Return the bound on the original's (first) objective."""
        made = self._objective
        worse = -made.error if self.origin.sense == "minimize" else made.error
        return (value + worse) / made.factor + self._constant

    def _scaled(self, e: Linear) -> Scaled:
        reach = {a: max(map(abs, self.bounds.of(a))) for a in e.terms}
        coefficients = {a: rational(c) for a, c in e.terms.items()}
        size = sum(abs(c) * reach[a] for a, c in e.terms.items())
        factor = math.lcm(*(c.denominator for c in coefficients.values()))
        if factor * size > LARGEST:
            factor = 1 << max(0, math.floor(math.log2(LARGEST / size)))
        terms = {a: round(c * factor) for a, c in coefficients.items()}
        error = sum(abs(float(terms[a] - c * factor)) * reach[a] for a, c in coefficients.items())
        return Scaled({a: c for a, c in terms.items() if c}, factor, error)
