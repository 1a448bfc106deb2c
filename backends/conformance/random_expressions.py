"""Random expressions over the variables of a model: sums and nested functions."""

from __future__ import annotations

import random
from collections.abc import Callable

from ...models import language as sl
from ...models.language import Bounds, Linear, Model, element, holds, overlap, piecewise, positive_part
from ...models.language import sum as total
from ...models.language.expressions import Atom, Function, linear

REALS = (0.5, 0.25, 0.1, 1.5, -0.5, -0.2, 2.0)
GAPS = (1, 2, 2, 4, 5)  # distances between the points of a piecewise function: its slopes are short decimals


class RandomExpressions:
    """A generator of random expressions; it adds the constructs that it uses to the set ``used``."""

    def __init__(self, rng: random.Random, model: Model, used: set[str]) -> None:
        self.rng = rng
        self.model = model
        self.used = used

    def linear(self, depth: int, real: bool = False) -> Linear:
        """Return a sum of variables and, for depth > 0, of functions whose operands have less depth."""
        rng = self.rng
        parts: list[Atom | Linear] = [self._leaf() for _ in range(rng.randint(0 if depth else 1, 2))]
        if depth:
            parts += [self.function(depth - 1) for _ in range(rng.choice([1, 1, 2]))]
        factors: list[int | float] = [rng.choice([1, 1, 1, 2, -1, -2, 3]) for _ in parts]
        if real:
            factors = [rng.choice(REALS) if rng.random() < 0.6 else f for f in factors]
        if len(parts) > 1:
            self.used.add("sum")
        return total(parts, factors) + (rng.randint(-3, 3) if rng.random() < 0.3 else 0)

    def integral(self, depth: int) -> Linear:
        """Return a sum whose value is a whole number."""
        found = (self.linear(depth) for _ in range(4))
        return next((e for e in found if e.integral), linear(self._leaf()))

    def truth(self) -> Linear:
        """Return a 0/1 expression: a presence, a Boolean variable, or ``holds`` of a comparison."""
        rng = self.rng
        known = [linear(v.presence) for v in self.model.intervals if v.optional]
        known += [linear(x) for x in self.model.integers if (x.lo, x.hi) == (0, 1)]
        return rng.choice(known) if known and rng.random() < 0.8 else self._holds(0)

    def function(self, depth: int) -> Linear:
        """Return a function whose operands have the given depth."""
        makers: dict[str, Callable[[int], Linear]] = {
            "max": lambda d: sl.max(self._operands(d)),
            "min": lambda d: sl.min(self._operands(d)),
            "positive_part": lambda d: positive_part(self.linear(d)),
            "holds": self._holds,
            "overlap": lambda d: self._overlap(),
            "element": self._element,
            "piecewise": self._piecewise,
        }
        name = self.rng.choice(list(makers))
        made = makers[name](depth)
        self.used.add(name)
        below = (a for f in made.terms if isinstance(f, Function) for e in f.operands for a in e.terms)
        if any(isinstance(a, Function) for a in below):
            self.used.add("nested")
        return made

    def _operands(self, depth: int) -> list[Linear]:
        return [self.linear(depth) for _ in range(self.rng.randint(2, 3))]

    def _leaf(self) -> Atom:
        rng = self.rng
        if self.model.integers and rng.random() < 0.3:
            return rng.choice(self.model.integers)
        interval = rng.choice(self.model.intervals)
        return (interval.start, interval.end, interval.size, interval.presence)[rng.choice([0, 0, 1, 1, 2, 3])]

    def _holds(self, depth: int) -> Linear:
        e = self.integral(depth)
        lo, hi = Bounds().of(e)
        edge = self.rng.randint(int(lo), int(hi))
        self.used.add("holds")
        return holds(self.rng.choice([e <= edge, e >= edge, e == edge, e < edge]))

    def _overlap(self) -> Linear:
        interval = self.rng.choice(self.model.intervals)
        lo = interval.start_lo + self.rng.randint(-1, 4)
        return overlap(interval, lo, lo + self.rng.randint(1, 5))

    def _element(self, depth: int) -> Linear:
        """Return an element of an array at an expression; some arrays are too short or shifted for its values."""
        rng = self.rng
        e = self.integral(depth) if rng.random() < 0.4 else linear(self._leaf())
        lo, hi = (int(b) for b in Bounds().of(e))
        if rng.random() < 0.3:
            lo += rng.randint(-1, 1)
        count = (hi - lo + 1 or 1) if rng.random() < 0.6 else rng.randint(1, 6)
        values: list[int | float] = [rng.randint(-3, 6) for _ in range(count if count < 40 else 40)]
        if rng.random() < 0.15:
            values = [v + 0.5 for v in values]
        return element(values, e - lo)

    def _piecewise(self, depth: int) -> Linear:
        """Return a piecewise function of an expression; some do not cover all of its values."""
        rng = self.rng
        e = self.linear(depth, rng.random() < 0.2)
        lo, hi = Bounds().of(e)
        x = int(lo) - 1 if lo < 0 else int(lo)
        points = [(x, rng.randint(-3, 5))]
        while len(points) < 2 or (points[-1][0] < hi and len(points) < 8):
            gap = rng.choice(GAPS) if hi - points[-1][0] < 12 else 20
            points.append((points[-1][0] + gap, rng.randint(-3, 5)))
        if len(points) > 2 and rng.random() < 0.2:
            points.pop(rng.choice([0, -1]))
        return piecewise(e, points)
