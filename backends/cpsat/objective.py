"""The objective in CP-SAT: integer coefficients, with a factor and an offset for the units of the model."""

from __future__ import annotations

from dataclasses import dataclass

from .native import Form, NativeModel


@dataclass
class Objective:
    """The native objective: it is multiplied by ``scale``, and its error is at most ``error`` in units of the model."""

    scale: int
    error: float


def set_objective(native: NativeModel, f: Form, maximize: bool) -> Objective:
    """Set a linear form as the objective of a model that has none, and return its scale and its error."""
    moving = Form(f.terms, 0, f.error)
    w = native.whole(moving, native.objective_scale(moving, maximize=maximize))
    sign = -1 if maximize else 1
    proto = native.model.proto.objective
    proto.vars.extend(list(w.terms))
    proto.coeffs.extend([sign * c for c in w.terms.values()])
    native.nonzeros += len(w.terms)
    proto.scaling_factor = sign / w.scale  # so the log and the bounds are in the model's units
    proto.offset = sign * float(f.constant * w.scale)
    return Objective(w.scale, float(w.error))
