"""Solvers: one folder per backend, the shared lowering to linear form, the registry and the conformance checks."""

from ..errors import LoweringTooLarge, SolverUnavailable
from ..later import names_later
from ..models.words import UnknownName
from .base import (
    Availability,
    Backend,
    Compiled,
    Conflict,
    Exactness,
    Limits,
    Outcome,
    WarmStart,
    Watch,
    available,
    backend,
    names,
    register,
)
from .driver import compile as compile  # an attribute, not part of __all__: it would shadow a builtin
from .driver import run
from .result import Incumbent, Result
from .solver_thread import INTERRUPTED, Interrupted

__all__ = [
    "INTERRUPTED",
    "Availability",
    "Backend",
    "Compiled",
    "Conflict",
    "Exactness",
    "Incumbent",
    "Interrupted",
    "Limits",
    "LoweringTooLarge",
    "Outcome",
    "Result",
    "SolverUnavailable",
    "UnknownName",
    "WarmStart",
    "Watch",
    "available",
    "backend",
    "names",
    "register",
    "run",
]

INNER = {  # module: names that other files of schedlab read; they are not public
    "cpo_docplex": ("EngineRun",),
    "result": ("Recorder", "close", "relative_gap", "rounded"),
}
__getattr__ = names_later(__name__, inner=INNER)
