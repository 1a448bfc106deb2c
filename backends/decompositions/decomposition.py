"""The constructs that a backend may support, and the base class of the decompositions that replace others.

A decomposition makes a copy of a model in which some constructs are replaced by simpler ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Protocol

from ...errors import WrongArgument
from ...models import language as sl
from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Assignment,
    Bounds,
    Comparison,
    Constraint,
    Cumulative,
    DirectTransitions,
    Evaluator,
    ForbidExtent,
    InDomain,
    Integer,
    Intensity,
    Interval,
    Isomorphism,
    Level,
    Linear,
    Model,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Span,
    Stated,
    StateFunction,
    Synchronize,
    Table,
    UndefinedValue,
    VariableCapacity,
    VariableDelay,
    element,
    overlap,
    piecewise,
    product,
    quotient,
    remainder,
)
from ...models.language import sum as total
from ...models.language.constraints import expressions_of
from ...models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Entry,
    Function,
    Holds,
    Max,
    Min,
    Neighbours,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    Window,
    atoms_below,
)


class Construct(StrEnum):
    """A construct of the modelling language.

    Every backend has integer variables, linear comparisons with whole coefficients, and one linear objective; they are
    no members. ``positive_part`` is a MAX, and ``implies`` is a comparison of truth values (HOLDS). Ordered objectives
    are split by the driver.

    Attributes
    ----------
    INTERVAL, OPTIONAL, VARIABLE_SIZE, START_WINDOWS
        Interval variables; those that may be absent; those with a size that is not fixed; those whose start has several
        windows.
    ALTERNATIVE, SYNCHRONIZE, NO_OVERLAP, ALL_OR_NONE, FORBID_EXTENT
        The constraints of these names.
    TRANSITIONS
        A no_overlap with transition times.
    CUMULATIVE, STEPWISE_CAPACITY, VARIABLE_DEMAND
        A cumulative with constant capacity and demands; one whose capacity has several steps; one with a demand that is
        an expression.
    END_BEFORE_START, START_BEFORE_START, END_BEFORE_END, START_BEFORE_END
        The kinds of precedence.
    MAXIMUM_LAG
        A precedence of any kind with a maximum time lag (``at_most``).
    MAX, MIN, HOLDS, OVERLAP, ELEMENT, PIECEWISE
        The functions of these names, nested ones included.
    PRODUCT, DIVISION, ENTRY
        A product of two expressions; a quotient or remainder; an element of an array of expressions.
    ALL_DIFFERENT, TABLE
        The constraints of these names.
    LEVEL, LEVEL_SOMETIMES, LEVEL_VARIABLE
        A level between bounds at all times, with heights that are numbers; one in a window or during an interval; one with
        a height that is an expression.
    SEQUENCE
        The order of a sequence: first, last, before, previous, transitions between direct neighbours, the same sequence, and
        sums over direct neighbours.
    NO_IDLE
        A sequence without idle time.
    STATE, STATE_CONSTANT
        A state function; one with an interval that requires a constant state of any value.
    INTENSITY, IN_DOMAIN, SPAN, ISOMORPHISM, VARIABLE_CAPACITY, VARIABLE_DELAY
        The constraints whose classes have these names.
    REAL
        Coefficients and bounds of comparisons and objectives that are no whole numbers.
    """

    INTERVAL = "interval"
    OPTIONAL = "optional interval"
    VARIABLE_SIZE = "interval of variable size"
    START_WINDOWS = "start windows with gaps"
    ALTERNATIVE = "alternative"
    SYNCHRONIZE = "synchronize"
    NO_OVERLAP = "no_overlap"
    ALL_OR_NONE = "all_or_none"
    FORBID_EXTENT = "forbid_extent"
    TRANSITIONS = "transition times"
    CUMULATIVE = "cumulative"
    STEPWISE_CAPACITY = "stepwise capacity"
    VARIABLE_DEMAND = "variable demand"
    END_BEFORE_START = "end_before_start"
    START_BEFORE_START = "start_before_start"
    END_BEFORE_END = "end_before_end"
    START_BEFORE_END = "start_before_end"
    MAXIMUM_LAG = "maximum time lag"
    MAX = "max"
    MIN = "min"
    HOLDS = "holds"
    OVERLAP = "overlap"
    ELEMENT = "element"
    PIECEWISE = "piecewise"
    PRODUCT = "product of expressions"
    DIVISION = "quotient or remainder"
    ENTRY = "element of expressions"
    ALL_DIFFERENT = "all_different"
    TABLE = "table"
    LEVEL = "level"
    LEVEL_SOMETIMES = "level in a window or during an interval"
    LEVEL_VARIABLE = "level with variable heights"
    SEQUENCE = "order of a sequence"
    NO_IDLE = "sequence without idle time"
    STATE = "state function"
    STATE_CONSTANT = "state function with unknown values"
    INTENSITY = "intensity"
    IN_DOMAIN = "domain with holes"
    SPAN = "span"
    ISOMORPHISM = "isomorphism"
    VARIABLE_CAPACITY = "variable capacity"
    VARIABLE_DELAY = "variable time lag"
    REAL = "real coefficients"


ALL = frozenset(Construct)
PRECEDENCES = frozenset(
    [
        Construct.END_BEFORE_START,
        Construct.START_BEFORE_START,
        Construct.END_BEFORE_END,
        Construct.START_BEFORE_END,
    ]
)
FUNCTIONS = {
    Max: Construct.MAX,
    Min: Construct.MIN,
    Holds: Construct.HOLDS,
    Overlap: Construct.OVERLAP,
    Element: Construct.ELEMENT,
    Piecewise: Construct.PIECEWISE,
    Product: Construct.PRODUCT,
    Quotient: Construct.DIVISION,
    Remainder: Construct.DIVISION,
    Entry: Construct.ENTRY,
    Neighbours: Construct.SEQUENCE,
}
LEVELS = frozenset([Construct.LEVEL, Construct.LEVEL_SOMETIMES, Construct.LEVEL_VARIABLE])
NOT_RESERVOIR = LEVELS - {Construct.LEVEL}
"""What CP-SAT's reservoir does not take."""
SEQUENCES = frozenset([Construct.SEQUENCE, Construct.NO_IDLE])
STATES = frozenset([Construct.STATE, Construct.STATE_CONSTANT])
OF_STATED = {
    Intensity: Construct.INTENSITY,
    InDomain: Construct.IN_DOMAIN,
    Span: Construct.SPAN,
    Isomorphism: Construct.ISOMORPHISM,
    VariableCapacity: Construct.VARIABLE_CAPACITY,
    VariableDelay: Construct.VARIABLE_DELAY,
}
STATED = frozenset(OF_STATED.values())
NOT_LINEAR = (
    LEVELS
    | SEQUENCES
    | STATES
    | STATED
    | {
        Construct.PRODUCT,
        Construct.DIVISION,
        Construct.ENTRY,
        Construct.ALL_DIFFERENT,
        Construct.TABLE,
    }
)
"""What the lowerings of ``backends.linear`` do not take."""


def constructs_of(model: Model) -> frozenset[Construct]:
    """Return the constructs that occur in a model.

    Parameters
    ----------
    model : Model

    Returns
    -------
    frozenset of Construct

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one", horizon=9); a = m.interval("a", size=(1, 3)); m.minimize(0.5 * sl.max([a.end, 4]))
    >>> sorted(c.value for c in constructs_of(m))
    ['interval', 'interval of variable size', 'max', 'real coefficients']
    """
    constructs = {c for v in model.intervals for c in _of_interval(v)}
    constructs.update(c for named in model.constraints for c in _of_constraint(named.constraint))
    if any(not e.integral for e in model.objectives):
        constructs.add(Construct.REAL)
    constructs.update(FUNCTIONS[type(a)] for a in atoms_of(model) if type(a) in FUNCTIONS)
    return frozenset(constructs)


def of_level(c: Level) -> Iterator[Construct]:
    """Yield the constructs of a level."""
    yield Construct.LEVEL
    if c.window is not None or c.during is not None:
        yield Construct.LEVEL_SOMETIMES
    if not all(isinstance(height, int) for _, _, height in c.changes):
        yield Construct.LEVEL_VARIABLE


def of_state(c: StateFunction) -> Iterator[Construct]:
    """Yield the constructs of a state function."""
    yield Construct.STATE
    if any(value is None for _, value, _, _ in c.uses):
        yield Construct.STATE_CONSTANT


def atoms_of(model: Model) -> Iterator[Atom]:
    """Yield each atom of the constraints and objectives of a model once, the innermost first."""
    return atoms_below([*(e for c in model.constraints for e in expressions_of(c.constraint)), *model.objectives])


def whole(c: Comparison) -> bool:
    """Return whether a comparison has whole coefficients and bounds only."""
    return c.integral and all(_whole(side) for side in (c.lo, c.hi))


def _whole(side: Number) -> bool:
    return isinstance(side, int) or side in (float("inf"), float("-inf"))


def _of_interval(v: Interval) -> Iterator[Construct]:
    yield Construct.INTERVAL
    if v.optional:
        yield Construct.OPTIONAL
    if v.size_lo != v.size_hi:
        yield Construct.VARIABLE_SIZE
    if len(v.windows) > 1:
        yield Construct.START_WINDOWS


def _of_constraint(c: Constraint) -> Iterator[Construct]:
    match c:
        case Comparison():
            if not whole(c):
                yield Construct.REAL
        case Alternative():
            yield Construct.ALTERNATIVE
        case Synchronize():
            yield Construct.SYNCHRONIZE
        case NoOverlap():
            yield Construct.NO_OVERLAP
            if c.timed:
                yield Construct.TRANSITIONS
        case AllOrNone():
            yield Construct.ALL_OR_NONE
        case ForbidExtent():
            yield Construct.FORBID_EXTENT
        case Precedence():
            yield Construct(c.kind)
            if c.at_most is not None:
                yield Construct.MAXIMUM_LAG
        case Cumulative():
            yield Construct.CUMULATIVE
            if len(c.steps) > 1:
                yield Construct.STEPWISE_CAPACITY
            if not all(isinstance(d, int) for d in c.demands):
                yield Construct.VARIABLE_DEMAND
        case AllDifferent():
            yield Construct.ALL_DIFFERENT
        case Table():
            yield Construct.TABLE
        case Level():
            yield from of_level(c)
        case Order() | DirectTransitions() | SameSequence():
            yield Construct.SEQUENCE
        case NoIdle():
            yield Construct.NO_IDLE
        case StateFunction():
            yield from of_state(c)
        case Stated():
            yield OF_STATED[type(c)]


# --- A copy of a model with its own variables; subclasses change parts of it.
#
# The decompositions and the metamorphic checks of the conformance test (``conformance.copies``) are such subclasses.

Steps = tuple[tuple[int, int], ...]


LARGEST_DENOMINATOR = 10**6  # of a fraction that is simple


class Copy:
    """A copy of a model, in the attribute ``model``. Subclasses override methods to change parts of it.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3); m.add(a.start >= 2); m.minimize(a.end)
    >>> Copy(m).model.constraints
    [NamedConstraint(name='a.start >= 2', constraint=a.start >= 2)]
    """

    def __init__(self, origin: Model) -> None:
        self.origin = origin
        self.model = origin.blank()
        self.intervals: dict[Interval, Interval] = {}
        self.integers: dict[Integer, Integer] = {}
        self._atoms: dict[Atom, Linear] = {}
        for v in self.interval_order():
            self.name = v.name
            self.intervals[v] = self.interval(v)
        for x in self.integer_order():
            self.integers[x] = self.model.integer(x.name, x.lo, x.hi)
        for name, constraint in self.constraint_order():
            self.name = name
            copied = self.constraint(constraint)
            if copied is not None:
                self.model.add(copied, name)
        self.name = "objective"
        self.objective()

    def back(self, assignment: Assignment) -> Assignment:
        """Convert an assignment of the copy to one of the original."""
        made = Assignment(self.origin)
        for v, copied in self.intervals.items():
            value = assignment[copied]
            if value.start is not None and value.end is not None:
                made.set(v, value.start + self.shift, value.end + self.shift)
        for x, integer in self.integers.items():
            made.integer[x.index] = assignment[integer]
        return made

    shift = 0  # seconds by which the times of the copy are earlier
    name = ""  # the constraint or variable of the original that is being copied

    def interval_order(self) -> list[Interval]:
        """Return the intervals of the original in the order in which they are declared in the copy."""
        return self.origin.intervals

    def integer_order(self) -> list[Integer]:
        """Return the integers of the original in the order in which they are declared in the copy."""
        return self.origin.integers

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        """Return (name, constraint) of the original's constraints in the order in which they are added."""
        return [(c.name, c.constraint) for c in self.origin.constraints]

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval."""
        return self.model.interval(v.name, (v.size_lo, v.size_hi), list(v.windows), v.optional)

    def objective(self) -> None:
        """Add the copies of the objectives."""
        objectives = [self.linear(e) for e in self.origin.objectives]
        if objectives:
            (self.model.minimize if self.origin.sense == "minimize" else self.model.maximize)(objectives)

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, or None to leave it out."""
        match c:
            case Comparison():
                return self.comparison(c)
            case Alternative(a, options, count):
                return Alternative(self.intervals[a], self.several(options), count)
            case Cumulative(intervals, demands, steps):
                heights = tuple(d if isinstance(d, int) else self.linear(d) for d in demands)
                return Cumulative(self.several(intervals), heights, self.steps(steps))
            case NoOverlap(intervals, transitions):
                return NoOverlap(self.several(intervals), transitions)
            case AllOrNone(intervals):
                return AllOrNone(self.several(intervals))
            case ForbidExtent(interval, windows):
                return ForbidExtent(self.intervals[interval], self.forbidden(windows))
            case Synchronize(a, others):
                return Synchronize(self.intervals[a], self.several(others))
            case Precedence(before, after, delay, kind, at_most):
                return Precedence(self.intervals[before], self.intervals[after], delay, kind, at_most)
            case AllDifferent(expressions):
                return AllDifferent(tuple(map(self.linear, expressions)))
            case Table(expressions, tuples):
                return Table(tuple(map(self.linear, expressions)), tuples)
            case Level():
                return self.level(c)
            case Order(intervals, one, kind, other):
                second = None
                if other is not None:
                    second = self.intervals[other]
                return Order(self.several(intervals), self.intervals[one], kind, second)
            case DirectTransitions(intervals, types, times):
                return DirectTransitions(self.several(intervals), types, times)
            case StateFunction(uses, transitions):
                copies = ((self.intervals[v], value, start, end) for v, value, start, end in uses)
                return StateFunction(tuple(copies), transitions)
            case NoIdle(intervals):
                return NoIdle(self.several(intervals))
            case SameSequence(intervals, others):
                return SameSequence(self.several(intervals), self.several(others))
            case Stated():
                return c.copied(self)

    def level(self, c: Level) -> Level:
        """Return the copy of a level."""
        changes = tuple(
            (edge, self.intervals[v], height if isinstance(height, int) else self.linear(height))
            for edge, v, height in c.changes
        )
        steps = tuple((time - self.shift, amount) for time, amount in c.steps)
        window = None
        if c.window is not None:
            window = (c.window[0] - self.shift, c.window[1] - self.shift)
        during = None
        if c.during is not None:
            during = self.intervals[c.during]
        return Level(changes, steps, c.lo, c.hi, window, during)

    def several(self, intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
        """Return the copies of several intervals."""
        return tuple(self.intervals[v] for v in intervals)

    def steps(self, steps: Steps) -> Steps:
        """Return the copy of a stepwise capacity, as pairs (time, capacity)."""
        return steps

    def forbidden(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the copy of the windows of a forbid_extent."""
        return windows

    def comparison(self, c: Comparison) -> Comparison:
        """Return the copy of a comparison."""
        e = self.linear(c.expr)
        if not e.constant:
            return Comparison(e, c.lo, c.hi)
        return Comparison(Linear(e.terms), _tidy(c.lo - e.constant), _tidy(c.hi - e.constant))

    def linear(self, e: Linear) -> Linear:
        """Return the copy of an expression."""
        copied = total(map(self.atom, e.terms), list(e.terms.values()))
        return Linear(copied.terms, _tidy(copied.constant + e.constant) if copied.constant else e.constant)

    def atom(self, atom: Atom) -> Linear:
        """Return the copy of an atom (a variable's attribute or a function); equal atoms have one copy."""
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
                raise WrongArgument(f"{type(atom).__name__} cannot be copied: Copy does not know this expression")

    def attribute(self, atom: Attribute) -> Linear:
        """Return the copy of an interval's start, end, size or presence."""
        v = self.intervals[atom.interval]
        return {"start": v.start, "end": v.end, "size": v.size, "presence": v.presence}[atom.field].linear()

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function."""
        match atom:
            case Max():
                return sl.max([self.linear(e) for e in atom.operands])
            case Min():
                return sl.min([self.linear(e) for e in atom.operands])
            case Holds():
                return sl.holds(self.comparison(atom.comparison))
            case Overlap():
                return overlap(self.intervals[atom.interval], atom.lo - self.shift, atom.hi - self.shift)
            case Element():
                return element(atom.array, self.linear(atom.operands[0]))
            case Piecewise():
                return piecewise(self.linear(atom.operands[0]), atom.points)
            case Product(operands=(left, right)):
                return product(self.linear(left), self.linear(right))
            case Quotient() | Remainder():
                return self._division(atom)
            case Neighbours():
                several = self.several(atom.intervals)
                return Neighbours(several, atom.types, atom.costs, atom.first, atom.last).linear()
            case Entry(operands=(index, *entries)):
                return element([self.linear(e) for e in entries], self.linear(index))
            case _:
                raise WrongArgument(f"{type(atom).__name__} cannot be copied: Copy does not know this expression")

    def _division(self, atom: Quotient | Remainder) -> Linear:
        """Return the copy of a quotient or remainder; bounds of its divisor may seem negative in other terms than the original's."""
        dividend, divisor = (self.linear(e) for e in atom.operands)
        if divisor.terms:
            return type(atom)((dividend, divisor)).linear()
        return (quotient if isinstance(atom, Quotient) else remainder)(dividend, divisor)


def _tidy(x: Number) -> Number:
    """Return a float without the rounding errors of a sum: the simple fraction or short decimal that is nearest to it, if near.

    >>> _tidy(0.1 + 0.2), _tidy(810.6666666666667 + 3 - 3), _tidy(0.1234567890123456)
    (0.3, 810.6666666666666, 0.1234567890123456)
    """
    if not isinstance(x, float) or not math.isfinite(x):
        return x
    for simple in (float(Fraction(x).limit_denominator(LARGEST_DENOMINATOR)), round(x, 12)):
        if abs(simple - x) <= 4 * math.ulp(x):
            return simple
    return x


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
        low = lo - e.constant
        high = hi - e.constant
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
        choices = [self.auxiliary(f"{name} {k}", 0, 1, partial(_is, chosen, k)) for k in range(count)]
        if choices:
            self.add(Comparison(Linear(dict.fromkeys(choices, 1)), 1, 1))
        return choices

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
        parts: Any
        if isinstance(x, Integer):
            parts = self.integers[x]
        else:
            parts = self.intervals[x]
        return parts  # type: ignore[no-any-return]


def _is(chosen: Recipe, k: int, evaluator: Evaluator) -> int:
    """Return 1 if the choice is k, else 0."""
    return int(chosen(evaluator) == k)
