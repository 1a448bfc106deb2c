"""schedlab: HPC scheduling problems, declared once, solved by CP-SAT, HiGHS or CP Optimizer, every answer checked.

>>> import schedlab as sl
>>> m = sl.Model("two jobs")
>>> a, b = m.interval("a", size=3), m.interval("b", size=4)
>>> m.add(sl.no_overlap([a, b]))
>>> m.minimize(sl.max([a.end, b.end]))
>>> sl.solve(m, backend="cpsat").objective
7
"""

from . import backends
from .backends import Conflict, Incumbent, LoweringTooLarge, Result, SolverUnavailable, UnknownName, compile
from .models.language import (
    Assignment,
    Model,
    ModelError,
    alternative,
    cumulative,
    element,
    end_before_end,
    end_before_start,
    holds,
    implies,
    max,
    min,
    no_overlap,
    overlap,
    piecewise,
    positive_part,
    start_before_end,
    start_before_start,
    sum,
    synchronize,
)
from .solve import solve

__version__ = "0.1.0"

__all__ = [
    "Assignment",
    "Conflict",
    "Incumbent",
    "LoweringTooLarge",
    "Model",
    "ModelError",
    "Result",
    "SolverUnavailable",
    "UnknownName",
    "alternative",
    "backends",
    "compile",
    "cumulative",
    "element",
    "end_before_end",
    "end_before_start",
    "holds",
    "implies",
    "max",
    "min",
    "no_overlap",
    "overlap",
    "piecewise",
    "positive_part",
    "solve",
    "start_before_end",
    "start_before_start",
    "sum",
    "synchronize",
]
