"""Limits on the numbers of a linear form within which a floating-point solver is accurate; larger forms are refused.

Such solvers compute in double precision with absolute tolerances. Measured with HiGHS 1.12 on models with 3 and 4
intervals:

- Column values above 2^31: the solver does not terminate.
- Coefficient ratios: a binary column with integrality tolerance 1e-6 and coefficient M gives its row a slack of 1e-6 M.
  With M = 1e8 and other coefficients of 1, most answers violate a row; with M = 1e9 optima are lost, too. Only rows
  whose coefficients are all whole numbers are checked: in other rows the least coefficient does not show which accuracy
  the row needs.
- Row sums above 2^53 are not exact in double precision.
"""

from __future__ import annotations

import numpy as np

from ...models.language import Model
from ..base import SolverUnavailable
from ..exact_range import variable_sizes
from .form import Floats, Ints, LinearForm

LARGEST_COLUMN = 2.0**31
LARGEST_RATIO = 1e7  # coefficient of an integral column / least coefficient of its row
LARGEST_SUM = 2.0**53


def require_range(model: Model, form: LinearForm, solver: str) -> None:
    """Check that the numbers of a model and of its linear form are within the limits.

    Parameters
    ----------
    model : Model
        The model; its variables are checked.
    form : LinearForm
        The linear form of the model, with integral columns; its rows are checked.
    solver : str
        Name of the solver for the error message.

    Raises
    ------
    SolverUnavailable
        If a limit is exceeded; the message names the first such variable or constraint.
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
    """Check the ratio of coefficients in each row; ``size`` and ``row``: absolute value and row of each entry."""
    least = np.full(len(form.row_lo), np.inf)
    np.minimum.at(least, row, np.where(size > 0, size, np.inf))
    whole = np.ones(len(form.row_lo), dtype=bool)
    np.logical_and.at(whole, row, form.value == np.rint(form.value))
    ratio = np.where((form.integral[form.index] > 0) & whole[row], size / least[row], 0.0)
    k = int(ratio.argmax())
    if ratio[k] > LARGEST_RATIO:
        raise _refusal(
            solver, form.row_blocks.name(int(row[k])), f"ratios of coefficients up to {ratio[k]:.3g}", LARGEST_RATIO
        )


def _refusal(solver: str, name: str, what: str, limit: float) -> SolverUnavailable:
    return SolverUnavailable(
        f"{name}: {what} are beyond the limit of {limit:.3g} up to which {solver} is accurate; "
        "use coarser units, a shorter horizon or smaller coefficients"
    )
