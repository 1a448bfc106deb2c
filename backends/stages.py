"""Ordered objectives by successive solves: the model of each stage, and the result of all stages.

Stage k optimizes objective k. For each objective j < k, with the value v_j that stage j reached, it has the constraint
``objective j <= v_j`` (minimize) or ``objective j >= v_j`` (maximize).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from ..models.language import Comparison, Linear, Model, NamedConstraint
from ..models.language.defined import defined
from ..models.language.offsets import REAL_TOLERANCE, offset_of, origin_of
from .gaps import size_of
from .result import Result


def stage_of(model: Model, k: int, kept: Sequence[NamedConstraint] = ()) -> Model:
    """Return the model with its k-th objective alone, and with the constraints ``kept`` on the objectives before it."""
    if len(model.objectives) <= 1 and not kept:
        return model
    stage = copy.copy(model)
    stage.objectives = model.objectives[k : k + 1]
    rest = ((j, defined(model, j)) for j in range(k + 1, len(model.objectives)))
    later = [NamedConstraint(f"objective {j + 1}", c) for j, c in rest if c is not None]
    stage.constraints = [*model.constraints, *kept, *later]
    return stage


def keep(model: Model, k: int, value: float) -> NamedConstraint:
    """Return the constraint that objective k is no worse than a value."""
    e = model.objectives[k]
    size = size_of(value, value, float(offset_of(e, origin_of(model))))
    slack = 0.0 if e.integral else REAL_TOLERANCE * max(1.0, size) / 2
    edge = value - e.constant
    low, high = (-math.inf, edge + slack) if model.sense == "minimize" else (edge - slack, math.inf)
    if e.integral:
        low, high = (low, int(high)) if model.sense == "minimize" else (int(low), high)
    return NamedConstraint(f"objective {k + 1} as good as {value}", Comparison(Linear(e.terms), low, high))


def conclude(result: Result, model: Model, bounds: Sequence[Any], proven: Sequence[bool]) -> None:
    """Turn the result of the last stage into the result of all stages.

    Bounds of the objectives after an unproven stage are unknown: they are true only for the value that this stage
    reached.

    Parameters
    ----------
    result : Result
        Result of the last stage. It is changed: ``objective`` and ``bound`` become tuples.
    model : Model
        The model with all its objectives.
    bounds : sequence of float or None
        Bound of each stage that ran.
    proven : sequence of bool
        Whether the optimum of each stage that ran is proven.
    """
    count = len(model.objectives)
    if result.assignment is not None and result.status != "error":
        result.objective = tuple(model.value(e, result.assignment) for e in model.objectives)
    else:
        result.objective = None
    certain = next((k + 1 for k, sure in enumerate(proven) if not sure), len(proven))
    result.bound = (*bounds[:certain], *(None,) * (count - certain))
    if result.status == "unavailable" and result.assignment is not None:
        result.status = "feasible"  # an earlier stage has a solution; the message says why this stage has none
    if result.status not in ("optimal", "feasible"):
        return
    if all(proven) and len(proven) == count:
        return
    result.status = "feasible"
    result.message = f"{_unproven(proven, count)}. {result.message}".rstrip(". ")


def _unproven(proven: Sequence[bool], count: int) -> str:
    """Return a text that says which objectives are not proven optimal and which were not optimized."""
    open_ = [str(k + 1) for k, sure in enumerate(proven) if not sure]
    parts = [f"no proof for objective {', '.join(open_)} of {count}"] if open_ else []
    if len(proven) < count:
        left = count - len(proven)
        parts.append(f"the last {left} of {count} objectives {'was' if left == 1 else 'were'} not optimized")
    return "; ".join(parts)
