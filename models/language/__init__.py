"""The modelling language: interval and integer variables, linear expressions, scheduling constraints."""

from .bounds import Bounds
from .conditions import all_of, any_of, count, holds, implies
from .constraints import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    Level,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    StateFunction,
    Synchronize,
    Table,
    Violation,
)
from .data import Assignment, IntervalValue, NamedConstraint
from .declarations import (
    all_different,
    all_or_none,
    alternative,
    cumulative,
    end_before_end,
    end_before_start,
    forbid_extent,
    no_overlap,
    start_before_end,
    start_before_start,
    synchronize,
    table,
)
from .expressions import Integer, Interval
from .functions import element, overlap, piecewise, positive_part, product, quotient, remainder
from .functions import max as max  # an attribute, not part of __all__: it would shadow a builtin
from .functions import min as min
from .functions import sum as sum
from .levels import LevelFunction, always_in, at_end, at_start, pulse, step_at
from .linear_expressions import Comparison, Expression, Linear
from .model import Model
from .quantities import ModelError
from .semantics import Evaluator, UndefinedValue
from .sequences import IntervalSequence, same_sequence, sequence
from .states import always_constant, always_equal, state_function

__all__ = [
    "AllDifferent",
    "AllOrNone",
    "Alternative",
    "Assignment",
    "Bounds",
    "Comparison",
    "Constraint",
    "Cumulative",
    "DirectTransitions",
    "Evaluator",
    "Expression",
    "ForbidExtent",
    "Integer",
    "Interval",
    "IntervalSequence",
    "IntervalValue",
    "Level",
    "LevelFunction",
    "Linear",
    "Model",
    "ModelError",
    "NamedConstraint",
    "NoIdle",
    "NoOverlap",
    "Order",
    "Precedence",
    "SameSequence",
    "StateFunction",
    "Synchronize",
    "Table",
    "UndefinedValue",
    "Violation",
    "all_different",
    "all_of",
    "all_or_none",
    "alternative",
    "always_constant",
    "always_equal",
    "always_in",
    "any_of",
    "at_end",
    "at_start",
    "count",
    "cumulative",
    "element",
    "end_before_end",
    "end_before_start",
    "forbid_extent",
    "holds",
    "implies",
    "no_overlap",
    "overlap",
    "piecewise",
    "positive_part",
    "product",
    "pulse",
    "quotient",
    "remainder",
    "same_sequence",
    "sequence",
    "start_before_end",
    "start_before_start",
    "state_function",
    "step_at",
    "synchronize",
    "table",
]
