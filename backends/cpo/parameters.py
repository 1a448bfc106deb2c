"""Parameters of CP Optimizer by name: ``CpoParameters`` of docplex."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..parameters.limits import Value
from ..parameters.values import Parameter, argument, check_all

SOLVER = "CP Optimizer"
AUTO = "Auto"
CONFLICTS = "it concerns the conflict refiner, which runs without parameters"
LOGGED = "schedlab reads the log of the engine, which is in the result"
MESSAGES = "it changes only messages of docplex, which schedlab does not print"
REFUSED = {
    "TimeLimit": argument("time_limit"),
    "TimeMode": "the time limit is wall time",
    "RandomSeed": argument("seed"),
    "BranchLimit": argument("deterministic_limit"),
    "LogVerbosity": LOGGED,
    "ModelAnonymizer": "schedlab finds the variables of answers by their names",
    **dict.fromkeys(("PrintModelDetailsInMessages", "UseFileLocations"), MESSAGES),
}


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Convert parameters to their types: docplex has the names, the ranges, and the texts of enumerations."""
    from docplex.cp.parameters import ALL_PARAMETER_DESCRIPTORS

    known = {d.name: d for d in ALL_PARAMETER_DESCRIPTORS}
    conflicts = {name: CONFLICTS for name in known if name.startswith("ConflictRefiner")}
    return check_all(SOLVER, given, known, {**REFUSED, **conflicts}, lambda p: _convert(p, known[p.name]))


def _convert(p: Parameter, descriptor: Any) -> Value:
    kind = descriptor.type
    if isinstance(kind[0], str):
        return p.as_choice(kind)
    if descriptor.default == AUTO and str(p.value).strip().lower() == AUTO.lower():
        return AUTO
    low, high = -math.inf if kind[0] is None else kind[0], math.inf if kind[1] is None else kind[1]
    if isinstance(kind[0], int):
        return p.as_int(low, high)
    return p.as_float(low, high)
