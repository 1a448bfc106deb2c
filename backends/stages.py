"""Ordered objectives by successive solves: the model of each stage, and what it keeps of the stages before it."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from ..models.language import Bounds, Comparison, Linear, Model, NamedConstraint
from ..models.language.expressions import Element, Piecewise, atoms_below
from ..models.language.semantics import REAL_TOLERANCE
from .base import Result


def stage_of(model: Model, k: int, kept: Sequence[NamedConstraint] = ()) -> Model:
    """The model with its k-th objective alone, and with the constraints that keep the objectives before it."""
    if len(model.objectives) <= 1 and not kept:
        return model
    stage = copy.copy(model)
    stage.objectives = model.objectives[k : k + 1]
    later = [c for j in range(k + 1, len(model.objectives)) for c in _defined(model, j)]
    stage.constraints = [*model.constraints, *kept, *later]
    return stage


def _defined(model: Model, k: int) -> list[NamedConstraint]:
    """Objective k has a value: no ``element`` or ``piecewise`` in it is out of range; the bound itself never binds."""
    terms = model.objectives[k].terms
    ranged = Linear(
        {a: 1 for a in terms if any(isinstance(b, (Element, Piecewise)) for b in atoms_below([a.linear()]))}
    )
    if not ranged.terms:
        return []
    return [NamedConstraint(f"objective {k + 1}", Comparison(ranged, -math.inf, Bounds().of(ranged)[1] + 1))]


def keep(model: Model, k: int, value: float) -> NamedConstraint:
    """Objective k is no worse than a value."""
    e = model.objectives[k]
    slack = 0.0 if e.integral else REAL_TOLERANCE * max(1.0, abs(value)) / 2
    edge = value - e.constant
    low, high = (-math.inf, edge + slack) if model.sense == "minimize" else (edge - slack, math.inf)
    if e.integral:
        low, high = (low, int(high)) if model.sense == "minimize" else (int(low), high)
    return NamedConstraint(f"objective {k + 1} as good as {value}", Comparison(Linear(e.terms), low, high))


def conclude(result: Result, model: Model, bounds: Sequence[Any], proven: Sequence[bool]) -> None:
    """Make the result of the last stage that of the whole: tuples, the status, and which stages are not proven.

    Bounds behind a stage without proof are unknown: they hold only for the value that this stage happened to reach.
    """
    count = len(model.objectives)
    if result.assignment is not None and result.status != "error":
        result.objective = tuple(model.value(e, result.assignment) for e in model.objectives)
    else:
        result.objective = None
    certain = next((k + 1 for k, sure in enumerate(proven) if not sure), len(proven))
    result.bound = (*bounds[:certain], *(None,) * (count - certain))
    if result.status == "unavailable" and result.assignment is not None:
        result.status = "feasible"  # an earlier objective has an answer; the message says what this one lacks
    if result.status not in ("optimal", "feasible"):
        return
    if all(proven) and len(proven) == count:
        return
    result.status = "feasible"
    result.message = f"{_unproven(proven, count)}. {result.message}".rstrip(". ")


def _unproven(proven: Sequence[bool], count: int) -> str:
    """Which objectives are not proven optimal, which were not reached."""
    open_ = [str(k + 1) for k, sure in enumerate(proven) if not sure]
    said = [f"no proof for objective {', '.join(open_)} of {count}"] if open_ else []
    if len(proven) < count:
        left = count - len(proven)
        said.append(f"the last {left} of {count} objectives {'was' if left == 1 else 'were'} not optimized")
    return "; ".join(said)
