"""Copies of a model: faithful ones, shifted in time, permuted, with more capacity, or with constraints left out.

A copy is a model with variables of its own; ``Copy.back`` brings an assignment of the copy home. The metamorphic checks
of the conformance run and the faults planted for it are subclasses that override one rule each.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import TypeVar

from ...models.language import (
    Alternative,
    Assignment,
    Comparison,
    Constraint,
    Cumulative,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
    element,
    holds,
    max,
    min,
    overlap,
    piecewise,
)
from ...models.language import sum as total
from ...models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Function,
    Holds,
    Max,
    Min,
    Number,
    Overlap,
    Piecewise,
)

T = TypeVar("T")
Steps = tuple[tuple[int, int], ...]


class Copy:
    """A copy of a model, ``model``; subclasses change what they override.

    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3); m.add(a.start >= 2); m.minimize(a.end)
    >>> Copy(m).model.constraints
    [NamedConstraint(name='a.start >= 2', constraint=a.start >= 2)]
    """

    def __init__(self, origin: Model) -> None:
        self.origin = origin
        self.model = Model(origin.name, origin.horizon)
        self.intervals: dict[Interval, Interval] = {}
        self.integers: dict[Integer, Integer] = {}
        self._atoms: dict[Atom, Linear] = {}
        for v in self.interval_order():
            self.intervals[v] = self.interval(v)
        for x in self.integer_order():
            self.integers[x] = self.model.integer(x.name, x.lo, x.hi)
        for name, constraint in self.constraint_order():
            copied = self.constraint(constraint)
            if copied is not None:
                self.model.add(copied, name)
        self.objective()

    def back(self, assignment: Assignment) -> Assignment:
        """An assignment of the copy as one of the original."""
        made = Assignment(self.origin)
        for v, copied in self.intervals.items():
            value = assignment[copied]
            if value.start is not None and value.end is not None:
                made.set(v, value.start + self.shift, value.end + self.shift)
        for x, integer in self.integers.items():
            made.integer[x.index] = assignment[integer]
        return made

    shift = 0

    def interval_order(self) -> list[Interval]:
        return self.origin.intervals

    def integer_order(self) -> list[Integer]:
        return self.origin.integers

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        return [(c.name, c.constraint) for c in self.origin.constraints]

    def interval(self, v: Interval) -> Interval:
        return self.model.interval(v.name, (v.size_lo, v.size_hi), list(v.windows), v.optional)

    def objective(self) -> None:
        aims = [self.linear(e) for e in self.origin.objectives]
        if aims:
            (self.model.minimize if self.origin.sense == "minimize" else self.model.maximize)(aims)

    def constraint(self, c: Constraint) -> Constraint | None:
        """The copy of a constraint, or None to leave it out."""
        match c:
            case Comparison():
                return self.comparison(c)
            case Alternative(a, options, count):
                return Alternative(self.intervals[a], self.several(options), count)
            case Cumulative(intervals, demands, steps):
                heights = tuple(d if isinstance(d, int) else self.linear(d) for d in demands)
                return Cumulative(self.several(intervals), heights, self.steps(steps))
            case NoOverlap(intervals):
                return NoOverlap(self.several(intervals))
            case Synchronize(a, others):
                return Synchronize(self.intervals[a], self.several(others))
            case Precedence(before, after, delay, kind):
                return Precedence(self.intervals[before], self.intervals[after], delay, kind)

    def several(self, intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
        return tuple(self.intervals[v] for v in intervals)

    def steps(self, steps: Steps) -> Steps:
        return steps

    def comparison(self, c: Comparison) -> Comparison:
        e = self.linear(c.expr)
        return Comparison(Linear(e.terms), _tidy(c.lo - e.constant), _tidy(c.hi - e.constant))

    def linear(self, e: Linear) -> Linear:
        copied = total(map(self.atom, e.terms), list(e.terms.values())) + e.constant
        return Linear(copied.terms, _tidy(copied.constant))

    def atom(self, atom: Atom) -> Linear:
        if atom not in self._atoms:
            self._atoms[atom] = self._atom(atom)
        return self._atoms[atom]

    def _atom(self, atom: Atom) -> Linear:
        match atom:
            case Integer():
                return self.integers[atom].linear()
            case Attribute():
                return self.attribute(atom)
            case Function():
                return self.function(atom)
            case _:
                raise TypeError(f"no copy is known for {type(atom).__name__}")

    def attribute(self, atom: Attribute) -> Linear:
        v = self.intervals[atom.interval]
        return {"start": v.start, "end": v.end, "size": v.size, "presence": v.presence}[atom.field].linear()

    def function(self, atom: Function) -> Linear:
        match atom:
            case Max():
                return max([self.linear(e) for e in atom.operands])
            case Min():
                return min([self.linear(e) for e in atom.operands])
            case Holds():
                return holds(self.comparison(atom.comparison))
            case Overlap():
                return overlap(self.intervals[atom.interval], atom.lo - self.shift, atom.hi - self.shift)
            case Element():
                return element(atom.array, self.linear(atom.operands[0]))
            case Piecewise():
                return piecewise(self.linear(atom.operands[0]), atom.points)
            case _:
                raise TypeError(f"no copy is known for {type(atom).__name__}")


def _tidy(x: Number) -> Number:
    """Without the last digits of a float, so that a short decimal stays one."""
    return round(x, 12) if isinstance(x, float) else x


class Shifted(Copy):
    """All times earlier by ``shift`` seconds; expressions add it again, so that every optimum stays as it is."""

    shift = 7

    def interval(self, v: Interval) -> Interval:
        windows = [(lo - self.shift, hi - self.shift) for lo, hi in v.windows]
        return self.model.interval(v.name, (v.size_lo, v.size_hi), windows, v.optional)

    def steps(self, steps: Steps) -> Steps:
        return tuple((t - self.shift, c) for t, c in steps)

    def attribute(self, atom: Attribute) -> Linear:
        v, e = self.intervals[atom.interval], super().attribute(atom)
        if atom.field not in ("start", "end"):
            return e
        return e + self.shift * v.presence if v.optional else e + self.shift


class Permuted(Copy):
    """Variables and constraints declared in another order; every optimum stays as it is."""

    def interval_order(self) -> list[Interval]:
        return self._shuffled(self.origin.intervals)

    def integer_order(self) -> list[Integer]:
        return self._shuffled(self.origin.integers)

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        return self._shuffled(super().constraint_order())

    @staticmethod
    def _shuffled(items: list[T]) -> list[T]:
        return random.Random(len(items)).sample(items, len(items))


class Roomier(Copy):
    """Every capacity greater by one; no optimum gets worse, and what was feasible stays so."""

    def steps(self, steps: Steps) -> Steps:
        return tuple((t, c + 1) for t, c in steps)


class Reduced(Copy):
    """Only the constraints of these names, and the objectives or none."""

    def __init__(self, origin: Model, names: Collection[str], objectives: bool = True) -> None:
        self.names, self.objectives = frozenset(names), objectives
        super().__init__(origin)

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        return [(name, c) for name, c in super().constraint_order() if name in self.names]

    def objective(self) -> None:
        if self.objectives:
            super().objective()
