"""The constructs of the modelling language that a backend may support or leave to the decompositions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Comparison,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    InDomain,
    Intensity,
    Interval,
    Isomorphism,
    Level,
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
    VariableCapacity,
    VariableDelay,
)
from ...models.language.constraints import Constraint, expressions_of
from ...models.language.expressions import (
    Atom,
    Element,
    Entry,
    Holds,
    Max,
    Min,
    Neighbours,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    atoms_below,
)
from ...models.language.quantities import Number


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
