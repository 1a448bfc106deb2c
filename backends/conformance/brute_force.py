"""Every assignment of a small model, one after another: the truth that the backends are held against.

No solver and no lowering takes part: domains are enumerated, and a branch is cut only by ``semantics.violation``, of a
constraint or of a part of it that it implies (a cumulative of fewer intervals), as soon as all its variables are fixed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from ...models.language import (
    Alternative,
    Assignment,
    Constraint,
    Cumulative,
    Evaluator,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Synchronize,
    UndefinedValue,
)
from ...models.language.constraints import expressions_of, intervals_of
from ...models.language.expressions import Attribute, Number, atoms_below
from ...models.language.semantics import violation

T = TypeVar("T")
Variable = Interval | Integer
Value = tuple[int, int] | int | None
DIGITS = 9  # objective values that differ beyond these decimals differ by rounding alone


class Truth(NamedTuple):
    """What enumeration found: the best assignment and its objectives, and the first solution that was met."""

    best: Assignment | None
    objectives: tuple[Number, ...]
    first: Assignment | None

    @property
    def feasible(self) -> bool:
        return self.best is not None


class EnumerationError(RuntimeError):
    """The model is too large to be enumerated."""


def brute_force(model: Model, node_limit: int = 3_000_000) -> Truth:
    """The optimum of a model with small domains, lexicographic for several objectives. Raises EnumerationError.

    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> brute_force(m).objectives
    (7,)
    """
    return _Enumeration(model, node_limit).run()


def domain(variable: Variable) -> list[Value]:
    """All values of a variable: of an interval pairs (start, end) and, if it is optional, None.

    >>> domain(Model("m").interval("a", size=(1, 2), start=[(0, 0), (5, 5)], optional=True))
    [None, (0, 1), (0, 2), (5, 6), (5, 7)]
    """
    if isinstance(variable, Integer):
        return list(range(variable.lo, variable.hi + 1))
    starts = itertools.chain.from_iterable(range(lo, hi + 1) for lo, hi in variable.windows)
    sizes = range(variable.size_lo, variable.size_hi + 1)
    absent: list[Value] = [None] if variable.optional else []
    return absent + [(s, s + size) for s in starts for size in sizes]


def variables_of(constraint: Constraint | Linear) -> set[Variable]:
    """The variables whose values decide a constraint or an expression."""
    if isinstance(constraint, Linear):
        return _below([constraint])
    return _below(expressions_of(constraint)) | set(intervals_of(constraint))


def _below(expressions: Iterable[Linear]) -> set[Variable]:
    found: set[Variable] = set()
    for atom in atoms_below(expressions):
        if isinstance(atom, Integer):
            found.add(atom)
        elif isinstance(atom, Attribute):
            found.add(atom.interval)
    return found


def _order(model: Model) -> list[Variable]:
    """Greedy: next is the variable that completes most constraints, then the one that touches most, then the smallest."""
    groups = [variables_of(c.constraint) for c in model.constraints]
    left: list[Variable] = [*model.intervals, *model.integers]
    sizes = {v: len(domain(v)) for v in left}
    order: list[Variable] = []
    fixed: set[Variable] = set()
    while left:

        def merit(v: Variable) -> tuple[int, int, int]:
            touched = [g for g in groups if v in g]
            return sum(g <= fixed | {v} for g in touched), sum(bool(g & fixed) for g in touched), -sizes[v]

        chosen = max(left, key=merit)
        left = [v for v in left if v is not chosen]
        order.append(chosen)
        fixed.add(chosen)
    return order


def _parts(constraint: Constraint, depth: dict[Variable, int]) -> Iterator[Constraint]:
    """The constraint, and what it implies for those of its intervals that are fixed first."""
    match constraint:
        case NoOverlap(intervals):
            for some in _prefixes(sorted(intervals, key=depth.__getitem__)):
                yield NoOverlap(some)
        case Cumulative(intervals, demands, steps):
            pairs = sorted(zip(intervals, demands, strict=True), key=lambda p: _deepest(p[0], p[1], depth))
            for part in _prefixes(pairs):
                yield Cumulative(tuple(i for i, _ in part), tuple(d for _, d in part), steps)
        case Alternative(a, options, _):
            for o in options:
                yield Synchronize(a, (o,))
                yield o.presence <= a.presence
        case Synchronize(a, others):
            for o in others:
                yield Synchronize(a, (o,))
        case _:
            pass
    yield constraint


def _prefixes(items: list[T]) -> Iterator[tuple[T, ...]]:
    return (tuple(items[:k]) for k in range(1, len(items)))


def _deepest(interval: Interval, demand: int | Linear, depth: dict[Variable, int]) -> int:
    below = variables_of(demand) if isinstance(demand, Linear) else set()
    return max([depth[interval], *(depth[v] for v in below)])


class _Enumeration:
    def __init__(self, model: Model, node_limit: int) -> None:
        self.model = model
        self.sign = 1 if model.sense == "minimize" else -1
        self.nodes_left = node_limit
        self.order = _order(model)
        self.domains = [domain(v) for v in self.order]
        depth = {v: k for k, v in enumerate(self.order)}
        self.at_once: list[Constraint] = []
        self.due: list[list[Constraint]] = [[] for _ in self.order]
        for part in (p for c in model.constraints for p in _parts(c.constraint, depth)):
            below = variables_of(part)
            (self.due[max(depth[v] for v in below)] if below else self.at_once).append(part)
        self.known = self._known_objectives(depth)
        self.now = Assignment(model)
        self.first: Assignment | None = None
        self.best: Assignment | None = None
        self.values: tuple[Number, ...] = ()

    def _known_objectives(self, depth: dict[Variable, int]) -> list[int]:
        """How many of the first objectives are decided at each depth."""
        known = [0] * len(self.order)
        deepest = 0
        for k, e in enumerate(self.model.objectives, start=1):
            deepest = max([deepest, *(depth[v] for v in variables_of(e))])
            known[deepest:] = [k] * (len(self.order) - deepest)
        return known

    def run(self) -> Truth:
        if self._allowed(self.at_once):
            self._descend(0)
        objectives = tuple(self.model.value(e, self.best) for e in self.model.objectives) if self.best else ()
        return Truth(self.best, objectives, self.first)

    def _descend(self, depth: int) -> bool:
        """Tries all values from this depth on; True ends the search."""
        if depth == len(self.order):
            return self._found()
        known = self.known[depth] if depth == 0 or self.known[depth] > self.known[depth - 1] else 0
        for value in self.domains[depth]:
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise EnumerationError(f"{self.model.name}: too many assignments to enumerate")
            _set(self.now, self.order[depth], value)
            if self._allowed(self.due[depth]) and self._promising(known) and self._descend(depth + 1):
                return True
        return False

    def _allowed(self, constraints: list[Constraint]) -> bool:
        evaluator = Evaluator(self.now)
        try:
            return not any(violation(c, evaluator) for c in constraints)
        except UndefinedValue:
            return False

    def _objectives(self, count: int) -> tuple[Number, ...]:
        evaluator = Evaluator(self.now)
        return tuple(self.sign * round(evaluator.value(e), DIGITS) for e in self.model.objectives[:count])

    def _promising(self, known: int) -> bool:
        if not known:
            return True
        try:
            values = self._objectives(known)
        except UndefinedValue:
            return False
        if self.best is None:
            return True
        return values < self.values[:known] if known == len(self.values) else values <= self.values[:known]

    def _found(self) -> bool:
        try:
            values = self._objectives(len(self.model.objectives))
        except UndefinedValue:
            return False
        if self.best is None or values < self.values:
            self.best, self.values = _copy(self.now), values
            self.first = self.first or self.best
        return not self.model.objectives


def _set(assignment: Assignment, variable: Variable, value: Value) -> None:
    k = variable.index
    if isinstance(value, int):
        assignment.integer[k] = value
    elif value is None:
        assignment.start[k] = assignment.end[k] = 0
        assignment.present[k] = False
    else:
        assignment.start[k], assignment.end[k] = value
        assignment.present[k] = True


def _copy(assignment: Assignment) -> Assignment:
    made = Assignment(assignment.model)
    made.start, made.end = list(assignment.start), list(assignment.end)
    made.present, made.integer = list(assignment.present), list(assignment.integer)
    return made
