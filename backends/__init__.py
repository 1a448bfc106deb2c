"""Solvers: one folder per backend, the shared lowering to linear form, the registry and the conformance checks."""

from .base import (
    Availability,
    Backend,
    Compiled,
    Conflict,
    Exactness,
    Limits,
    LoweringTooLarge,
    Outcome,
    SolverUnavailable,
    WarmStart,
    Watch,
)
from .driver import compile as compile  # an attribute, not part of __all__: it would shadow a builtin
from .driver import run
from .incumbent import Incumbent
from .interrupts import INTERRUPTED, Interrupted
from .registry import UnknownName, available, backend, names, register
from .result import Result

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
