"""Copies of a model: equal, shifted in time, permuted, with more capacity, or with constraints left out.

A copy is a model with its own variables; ``Copy.back`` converts an assignment of the copy to one of the original. The
metamorphic checks (``agreement``) and the planted faults (``planted_faults``) are subclasses that override one method
each.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import TypeVar

from ...models.language import Constraint, Integer, Interval, Linear, Model
from ...models.language.expressions import Attribute, Window
from ..decompositions.model_copy import Copy, Steps

__all__ = ["Copy", "Permuted", "Reduced", "Roomier", "Shifted"]

T = TypeVar("T")


class Shifted(Copy):
    """A copy with all times earlier by ``shift`` seconds.

    Expressions add the shift to each start and end, so the optimum is the same.
    """

    shift = 7

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval with earlier windows."""
        windows = [(lo - self.shift, hi - self.shift) for lo, hi in v.windows]
        return self.model.interval(v.name, (v.size_lo, v.size_hi), windows, v.optional)

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity with earlier times."""
        return tuple((t - self.shift, c) for t, c in steps)

    def forbidden(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the forbidden windows with earlier times."""
        return tuple((lo - self.shift, hi - self.shift) for lo, hi in windows)

    def attribute(self, atom: Attribute) -> Linear:
        """Return the attribute in the times of the original."""
        v, e = self.intervals[atom.interval], super().attribute(atom)
        if atom.field not in ("start", "end"):
            return e
        return e + self.shift * v.presence if v.optional else e + self.shift


class Permuted(Copy):
    """A copy with variables and constraints in another order. The optimum is the same."""

    def interval_order(self) -> list[Interval]:
        """Return the intervals in random order."""
        return self._shuffled(self.origin.intervals)

    def integer_order(self) -> list[Integer]:
        """Return the integers in random order."""
        return self._shuffled(self.origin.integers)

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        """Return the constraints in random order."""
        return self._shuffled(super().constraint_order())

    @staticmethod
    def _shuffled(items: list[T]) -> list[T]:
        return random.Random(len(items)).sample(items, len(items))


class Roomier(Copy):
    """A copy with each capacity greater by 1. A feasible model stays feasible and its optimum does not get worse."""

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity plus 1."""
        return tuple((t, c + 1) for t, c in steps)


class Reduced(Copy):
    """A copy with only the constraints of the given names, with or without the objectives."""

    def __init__(self, origin: Model, names: Collection[str], objectives: bool = True) -> None:
        self.names, self.objectives = frozenset(names), objectives
        super().__init__(origin)

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        """Return the constraints to keep."""
        return [(name, c) for name, c in super().constraint_order() if name in self.names]

    def objective(self) -> None:
        """Add the objectives if they are kept."""
        if self.objectives:
            super().objective()
