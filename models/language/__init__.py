"""The modelling language: interval and integer variables, linear expressions, scheduling constraints."""

from .bounds import Bounds
from .constraints import (
    AllOrNone,
    Alternative,
    Constraint,
    Cumulative,
    ForbidExtent,
    NoOverlap,
    Precedence,
    Synchronize,
    Violation,
)
from .data import Assignment, IntervalValue, NamedConstraint
from .declarations import (
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
)
from .expressions import Integer, Interval
from .functions import element, holds, implies, overlap, piecewise, positive_part
from .functions import max as max  # an attribute, not part of __all__: it would shadow a builtin
from .functions import min as min
from .functions import sum as sum
from .linear_expressions import Comparison, Expression, Linear
from .model import Model
from .quantities import ModelError
from .semantics import Evaluator, UndefinedValue

__all__ = [
    "AllOrNone",
    "Alternative",
    "Assignment",
    "Bounds",
    "Comparison",
    "Constraint",
    "Cumulative",
    "Evaluator",
    "Expression",
    "ForbidExtent",
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
    "all_or_none",
    "alternative",
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
    "start_before_end",
    "start_before_start",
    "synchronize",
]
