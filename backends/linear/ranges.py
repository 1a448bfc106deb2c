"""The range of numbers in which a solver of linear forms computes exactly; a form beyond it is refused.

Such solvers work in floating point with absolute tolerances. Measured with HiGHS 1.12 on models with 3 and 4 intervals:

- Columns beyond 2^31 make it run without end.
- A binary with tolerance 1e-6 and coefficient M leaves the row a slack of 1e-6 M. With M = 1e8 beside coefficients of 1 most
  answers violate a row, with 1e9 optima are lost, too. Only rows of whole numbers are judged: the least coefficient of
  others does not tell which accuracy they need.
- Sums beyond 2^53 are not exact in double precision.
"""

from __future__ import annotations

import numpy as np

from ...models.language import Model
from ..base import SolverUnavailable
from ..exact_range import variable_sizes
from .form import Floats, Ints, LinearForm

LARGEST_COLUMN = 2.0**31
LARGEST_RATIO = 1e7  # of the coefficient of an integral column to the least coefficient of its row
LARGEST_SUM = 2.0**53


def require_range(model: Model, form: LinearForm, solver: str) -> None:
    """Check that a model, and its form with integral columns, are within the range.

    Raises
    ------
    SolverUnavailable
        Names the first variable or constraint beyond it.
    """
    for name, greatest in variable_sizes(model):
        if greatest > LARGEST_COLUMN:
            raise _refusal(solver, name, f"values up to {float(greatest):.3g}", LARGEST_COLUMN)
    size = np.abs(form.value)
    if not len(size):
        return
    length = np.diff(form.start)
    largest, least = float(size.max()), float(size.min(initial=np.inf, where=size > 0))
    if largest > LARGEST_RATIO * least:
        _require_ratios(form, size, np.repeat(np.arange(len(length)), length), solver)
    reach = np.maximum(np.abs(form.column_lo), np.abs(form.column_hi))
    reach[~np.isfinite(reach)] = 0.0
    if largest * float(reach.max()) * int(length.max()) > LARGEST_SUM:
        total = np.bincount(np.repeat(np.arange(len(length)), length), size * reach[form.index], minlength=len(length))
        k = int(total.argmax())
        if total[k] > LARGEST_SUM:
            raise _refusal(solver, form.row_blocks.name(k), f"sums up to {total[k]:.3g}", LARGEST_SUM)


def _require_ratios(form: LinearForm, size: Floats, row: Ints, solver: str) -> None:
    """Check the ratio of coefficients in each row; ``size``: their absolute values, ``row``: the row of each."""
    least = np.full(len(form.row_lo), np.inf)
    np.minimum.at(least, row, np.where(size > 0, size, np.inf))
    whole = np.ones(len(form.row_lo), dtype=bool)
    np.logical_and.at(whole, row, form.value == np.rint(form.value))
    ratio = np.where((form.integral[form.index] > 0) & whole[row], size / least[row], 0.0)
    k = int(ratio.argmax())
    if ratio[k] > LARGEST_RATIO:
        raise _refusal(
            solver, form.row_blocks.name(int(row[k])), f"a ratio of coefficients of {ratio[k]:.3g}", LARGEST_RATIO
        )


def _refusal(solver: str, name: str, what: str, limit: float) -> SolverUnavailable:
    return SolverUnavailable(
        f"{name}: {what}, beyond what {solver} computes exactly ({limit:.3g}); use coarser units, a nearer horizon or "
        "smaller coefficients"
    )
