"""The modelling language: interval and integer variables, linear expressions, scheduling constraints."""

from .bounds import Bounds
from .constraints import (
    Alternative,
    Constraint,
    Cumulative,
    NoOverlap,
    Precedence,
    Synchronize,
    Violation,
    alternative,
    cumulative,
    end_before_end,
    end_before_start,
    no_overlap,
    start_before_end,
    start_before_start,
    synchronize,
)
from .expressions import Comparison, Expression, Integer, Interval, Linear
from .functions import element, holds, implies, overlap, piecewise, positive_part
from .functions import max as max  # an attribute, not part of __all__: it would shadow a builtin
from .functions import min as min
from .functions import sum as sum
from .model import Assignment, IntervalValue, Model, NamedConstraint
from .quantities import ModelError
from .semantics import Evaluator, UndefinedValue

__all__ = [
    "Alternative",
    "Assignment",
    "Bounds",
    "Comparison",
    "Constraint",
    "Cumulative",
    "Evaluator",
    "Expression",
    "Integer",
    "Interval",
    "IntervalValue",
    "Linear",
    "Model",
    "ModelError",
    "NamedConstraint",
    "NoOverlap",
    "Precedence",
    "Synchronize",
    "UndefinedValue",
    "Violation",
    "alternative",
    "cumulative",
    "element",
    "end_before_end",
    "end_before_start",
    "holds",
    "implies",
    "no_overlap",
    "overlap",
    "piecewise",
    "positive_part",
    "start_before_end",
    "start_before_start",
    "synchronize",
]
