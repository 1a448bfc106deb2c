"""The objective in CP-SAT: integer coefficients, with a factor and an offset for the units of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .native import LARGEST, ROOM, ROUNDED_UP, Form, NativeModel, common_denominator, power_of_two

BITS = (40, 42, 44, 46, 48)
LEAST_GAP = 2.0**-31  # in the objective's unit: a gap below 1e-9 counts as 0
NEGLIGIBLE = 2.0**-28  # greatest error of a rounded objective, relative to its best value


@dataclass
class Objective:
    """The native objective: it is multiplied by ``scale``, and its error is at most ``error`` in units of the model."""

    scale: int
    error: float


def set_objective(native: NativeModel, f: Form, maximize: bool) -> Objective:
    """Set a linear form as the objective of a model that has none, and return its scale and its error."""
    moving = Form(f.terms, 0, f.error)
    w = native.whole(moving, objective_scale(native, moving, maximize=maximize))
    sign = -1 if maximize else 1
    proto = native.model.proto.objective
    proto.vars.extend(list(w.terms))
    proto.coeffs.extend([sign * c for c in w.terms.values()])
    native.nonzeros += len(w.terms)
    proto.scaling_factor = sign / w.scale  # so the log and the bounds are in the model's units
    proto.offset = sign * float(f.constant * w.scale)
    return Objective(w.scale, float(w.error))


def objective_scale(native: NativeModel, f: Form, *, maximize: bool) -> int:
    """Return the scale of an objective without a constant: if it must be rounded, the least scale with a negligible error.

    Negligible is relative to the best value that the objective can have. If that is 0, no error is negligible, as
    the optimum may be arbitrarily small. Small numbers are better: CP-SAT then multiplies its rows by finer
    factors, and proofs at 2^44 take half the time of those at 2^56.
    """
    if f.is_whole:
        return 1
    size = max(1.0, native.size(f))
    if common := common_denominator([f], size, ROOM):
        return common
    lo, hi = native.lo, native.hi
    parts = [(c.numerator, c.denominator, i) for i, c in f.terms.items()]
    best = [n / d * (hi[i] if (n > 0) == maximize else lo[i]) for n, d, i in parts]
    enough = NEGLIGIBLE * abs(math.fsum(best))
    scales = [power_of_two((1 << bits) / size) for bits in BITS]
    lost = _lost([(n, d, max(-lo[i], hi[i])) for n, d, i in parts], scales)
    for most in (min(enough, LEAST_GAP), enough):
        for scale, error in zip(scales, lost, strict=True):
            if error <= most * scale:
                return scale
    return power_of_two(ROOM / size)


def _lost(parts: Sequence[tuple[int, int, int]], scales: Sequence[int]) -> list[float]:
    """Return for each scale a bound on what rounding changes in a sum of ``scale * numerator / denominator * x``.

    ``parts`` has the numerator, the denominator and the greatest absolute value of x of each term.
    """
    numerator, denominator, reach = zip(*parts, strict=True)
    most = max(map(abs, numerator)) * max(scales)
    whole = np.int64 if max(most, *denominator) < LARGEST else object  # numbers of Python: slow, and of any size
    d = np.array(denominator, whole)
    rest = np.array(numerator, whole) * np.array(scales, whole)[:, None] % d
    off = (np.minimum(rest, d - rest) / d).astype(np.float64) * np.array(reach, np.float64)
    found: list[float] = (off.sum(axis=1) * ROUNDED_UP).tolist()
    return found
