"""The base class of decompositions: a copy of a model in which some constructs are replaced by simpler ones.

A decomposition may add auxiliary variables. Each of them has a *recipe*, which computes its value from the values of
the variables before it. So an assignment can be converted in both directions: ``forward`` gives all variables of the
decomposed model a value (a warm start), ``back`` forgets the auxiliary variables (an answer).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Protocol

from ...models.language import (
    Assignment,
    Bounds,
    Comparison,
    Constraint,
    Evaluator,
    Integer,
    Interval,
    Linear,
    Model,
    UndefinedValue,
)
from ...models.language.expressions import Number
from .constructs import Construct
from .model_copy import Copy

Recipe = Callable[[Evaluator], int]
Variables = Integer | Interval | dict[str, Integer | Interval]


class Step(Protocol):
    """One decomposition of a model, and the conversion of assignments in both directions.

    Attributes
    ----------
    model : Model
        The decomposed model.
    notes : tuple of str
        What a reader of a result should know, such as that the objective is rounded.
    """

    model: Model
    notes: tuple[str, ...]

    def forward(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the decomposed model for one of the original."""

    def back(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the original for one of the decomposed model."""

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective for one on the objective of the decomposed model."""

    def variables(self, x: Integer | Interval) -> Variables:
        """Return what stands for a variable: one variable, or several by name ("presence", "start", "size", ...)."""


class Decomposition(Copy):
    """A copy of a model without some of its constructs.

    Parameters
    ----------
    origin : Model
        The model. It is not changed.
    missing : frozenset of Construct
        The constructs to replace. Those that are not in ``replaces`` are copied.
    """

    replaces: ClassVar[frozenset[Construct]] = frozenset()
    notes: tuple[str, ...] = ()

    def __init__(self, origin: Model, missing: frozenset[Construct]) -> None:
        self.missing = missing
        self.bounds = Bounds()
        self._fills: list[Callable[[Evaluator, Assignment], None]] = []
        super().__init__(origin)

    def auxiliary(self, name: str, lo: Number, hi: Number, recipe: Recipe) -> Integer:
        """Declare an auxiliary integer variable in [lo, hi]; ``recipe`` returns its value under an assignment."""
        made = self.model.integer(name, int(lo), int(hi))

        def fill(evaluator: Evaluator, assignment: Assignment) -> None:
            try:
                value = recipe(evaluator)
            except UndefinedValue:  # the assignment violates the model
                value = made.lo
            assignment.integer[made.index] = min(max(value, made.lo), made.hi)

        self._fills.append(fill)
        return made

    def twin(self, name: str, v: Interval, present: Recipe) -> Interval:
        """Declare an auxiliary optional interval with the domain of ``v``; if it is present, it runs as ``v`` runs."""
        made = self.model.interval(name, (v.size_lo, v.size_hi), list(v.windows), optional=True)

        def fill(evaluator: Evaluator, assignment: Assignment) -> None:
            try:
                if present(evaluator):
                    assignment.set(made, assignment.start[v.index], assignment.end[v.index])
            except UndefinedValue:  # the assignment violates the model; the interval stays absent
                return

        self._fills.append(fill)
        return made

    def settle(self, v: Interval, start: int, end: int) -> None:
        """Give an auxiliary interval a constant value in ``forward``."""
        self._fills.append(lambda evaluator, assignment: assignment.set(v, start, end))

    def add(self, constraint: Constraint) -> None:
        """Add a constraint to the decomposed model, under the name of what is being copied."""
        self.model.add(constraint, self.name)

    def add_range(self, e: Linear, lo: Number, hi: Number) -> None:
        """Add ``lo <= e <= hi``; an expression without variables is checked."""
        low, high = lo - e.constant, hi - e.constant
        if e.terms:
            self.add(Comparison(Linear(e.terms), low, high))
        elif not low <= 0 <= high:
            self.impossible()

    def impossible(self) -> None:
        """Make the decomposed model infeasible by the comparison ``never >= 1`` of a variable that is 0."""
        self.add(self.auxiliary("never", 0, 0, lambda ev: 0) >= 1)

    def choice(self, count: int, name: str, chosen: Recipe) -> list[Integer]:
        """Return ``count`` binary variables of which exactly one is 1: the one whose position ``chosen`` returns."""
        if count == 0:
            self.impossible()
        found = [self.auxiliary(f"{name} {k}", 0, 1, partial(_is, chosen, k)) for k in range(count)]
        if found:
            self.add(Comparison(Linear(dict.fromkeys(found, 1)), 1, 1))
        return found

    def forward(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the decomposed model for one of the original."""
        made = Assignment(self.model)
        for v in self.origin.intervals:
            self.place(v, assignment, made)
        for x, copied in self.integers.items():
            made.integer[copied.index] = assignment.integer[x.index]
        evaluator = Evaluator(made)
        for fill in self._fills:
            fill(evaluator, made)
        return made

    def place(self, v: Interval, assignment: Assignment, made: Assignment) -> None:
        """Set the copy of an interval in ``made`` to the value that ``assignment`` gives the original."""
        if assignment.present[v.index]:
            made.set(self.intervals[v], assignment.start[v.index], assignment.end[v.index])

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective for one on the objective of the decomposed model."""
        return value

    def variables(self, x: Integer | Interval) -> Variables:
        """Return what stands for a variable of the original."""
        found: Any = self.integers[x] if isinstance(x, Integer) else self.intervals[x]
        return found  # type: ignore[no-any-return]


def _is(chosen: Recipe, k: int, evaluator: Evaluator) -> int:
    """Return 1 if the choice is k, else 0."""
    return int(chosen(evaluator) == k)
