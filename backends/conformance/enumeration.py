"""Complete enumeration of the assignments of a small model: the reference for the answers of the backends.

It uses no solver and no lowering. The domains are enumerated by depth-first search. A branch is cut off only if
``semantics.violation`` finds that a constraint is violated, as soon as all variables of the constraint are fixed. The
same is done for weaker constraints that it implies, such as a cumulative of fewer intervals.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from ...errors import SchedlabError
from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Assignment,
    Constraint,
    Cumulative,
    DirectTransitions,
    Evaluator,
    Integer,
    Interval,
    Linear,
    Model,
    NoIdle,
    NoOverlap,
    Order,
    SameSequence,
    StateFunction,
    Synchronize,
    UndefinedValue,
)
from ...models.language.constraints import expressions_of, intervals_of
from ...models.language.expressions import Attribute, Number, atoms_below
from ...models.language.semantics import violation

T = TypeVar("T")
Variable = Interval | Integer
Value = tuple[int, int] | int | None
DIGITS = 9  # objective values are rounded to these decimals: smaller differences are rounding errors


class Truth(NamedTuple):
    """The result of enumeration.

    Attributes
    ----------
    best : Assignment or None
        An optimal solution; None if there is no solution.
    objectives : tuple of numbers
        Its objective values; empty without a solution.
    first : Assignment or None
        The first solution that was found.
    """

    best: Assignment | None
    objectives: tuple[Number, ...]
    first: Assignment | None

    @property
    def feasible(self) -> bool:
        """Whether the model has a solution."""
        return self.best is not None


class EnumerationError(SchedlabError, RuntimeError):
    """Error for a model that is too large to enumerate."""


def brute_force(model: Model, node_limit: int = 3_000_000) -> Truth:
    """Return the optimum of a model with small domains; several objectives are lexicographic.

    Parameters
    ----------
    model : Model
        The model; its horizon or windows bound the starts.
    node_limit : int
        The most nodes of the search tree.

    Returns
    -------
    Truth
        The optimum, or that there is no solution.

    Raises
    ------
    EnumerationError
        If the search needs more than ``node_limit`` nodes.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> brute_force(m).objectives
    (7,)
    """
    for v in model.intervals:
        if sum(hi - lo + 1 for lo, hi in v.windows) > node_limit:
            raise EnumerationError(f"{v} has more than {node_limit:,} starts; declare a horizon or windows")
    return _Enumeration(model, node_limit).run()


def domain(variable: Variable) -> list[Value]:
    """Return all values of a variable; for an interval the pairs (start, end) and, if it is optional, None.

    Examples
    --------
    >>> domain(Model("m").interval("a", size=(1, 2), start=[(0, 0), (5, 5)], optional=True))
    [None, (0, 1), (0, 2), (5, 6), (5, 7)]
    """
    if isinstance(variable, Integer):
        return list(range(variable.lo, variable.hi + 1))
    starts = itertools.chain.from_iterable(range(lo, hi + 1) for lo, hi in variable.windows)
    sizes = range(variable.size_lo, variable.size_hi + 1)
    absent: list[Value] = []
    if variable.optional:
        absent = [None]
    return absent + [(s, s + size) for s in starts for size in sizes]


def variables_of(constraint: Constraint | Linear) -> set[Variable]:
    """Return the variables on which a constraint or an expression depends."""
    if isinstance(constraint, Linear):
        return _below([constraint])
    return _below(expressions_of(constraint)) | set(intervals_of(constraint))


def _below(expressions: Iterable[Linear]) -> set[Variable]:
    below: set[Variable] = set()
    for atom in atoms_below(expressions):
        if isinstance(atom, Integer):
            below.add(atom)
        elif isinstance(atom, Attribute):
            below.add(atom.interval)
    return below


def _order(model: Model) -> list[Variable]:
    """Return the variables in the order in which they are enumerated.

    Greedy: the next variable completes most constraints; ties are broken by the number of its constraints that already
    have a fixed variable, then by the smallest domain.
    """
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
    """Yield the constraint, and weaker ones that it implies for those of its intervals that are fixed first."""
    match constraint:
        case NoOverlap(intervals):
            order = sorted(range(len(intervals)), key=lambda k: depth[intervals[k]])
            for some in _prefixes(order):
                yield constraint.part(some)
        case AllOrNone(intervals):
            for chosen in _prefixes(sorted(intervals, key=depth.__getitem__)):
                yield AllOrNone(chosen)
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
        case Order(intervals) | DirectTransitions(intervals) | NoIdle(intervals):
            yield from (NoOverlap(some) for some in _prefixes(sorted(intervals, key=depth.__getitem__)))
        case StateFunction(uses, transitions):
            for known in _prefixes(sorted(uses, key=lambda use: depth[use[0]])):
                yield StateFunction(known, transitions)
        case SameSequence(intervals, others):
            for several in (intervals, others):
                yield from (NoOverlap(some) for some in _prefixes(sorted(several, key=depth.__getitem__)))
            for v, w in zip(intervals, others, strict=True):
                if v is not w:
                    yield v.presence - w.presence == 0
        case AllDifferent(expressions):
            for pair in itertools.combinations(expressions, 2):
                yield AllDifferent(pair)
        case _:
            pass
    yield constraint


def _prefixes(items: list[T]) -> Iterator[tuple[T, ...]]:
    return (tuple(items[:k]) for k in range(1, len(items)))


def _deepest(interval: Interval, demand: int | Linear, depth: dict[Variable, int]) -> int:
    if isinstance(demand, Linear):
        below = variables_of(demand)
    else:
        below = set()
    return max([depth[interval], *(depth[v] for v in below)])


class _Enumeration:
    def __init__(self, model: Model, node_limit: int) -> None:
        self.model = model
        if model.sense == "minimize":
            self.sign = 1
        else:
            self.sign = -1
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
        """Return how many of the first objectives have a fixed value at each depth."""
        known = [0] * len(self.order)
        deepest = 0
        for k, e in enumerate(self.model.objectives, start=1):
            deepest = max([deepest, *(depth[v] for v in variables_of(e))])
            known[deepest:] = [k] * (len(self.order) - deepest)
        return known

    def run(self) -> Truth:
        """Search the whole tree."""
        if self._allowed(self.at_once):
            self._descend(0)
        if self.best:
            objectives = tuple(self.model.value(e, self.best) for e in self.model.objectives)
        else:
            objectives = ()
        return Truth(self.best, objectives, self.first)

    def _descend(self, depth: int) -> bool:
        """Try all values of the variables from this depth on; return True to end the search."""
        if depth == len(self.order):
            return self._found()
        known = 0
        if depth == 0 or self.known[depth] > self.known[depth - 1]:
            known = self.known[depth]
        for value in self.domains[depth]:
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise EnumerationError(f"{self.model.name}: enumeration reached its node limit; the model is too large")
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
        if known == len(self.values):
            return values < self.values[:known]
        return values <= self.values[:known]

    def _found(self) -> bool:
        try:
            values = self._objectives(len(self.model.objectives))
        except UndefinedValue:
            return False
        if self.best is None or values < self.values:
            self.best = _copy(self.now)
            self.values = values
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
    made.start = list(assignment.start)
    made.end = list(assignment.end)
    made.present = list(assignment.present)
    made.integer = list(assignment.integer)
    return made
