"""A true bound of a linear programme from any dual values, however inexact."""

from __future__ import annotations

import numpy as np

from .form import Floats, LinearForm


def safe_bound(form: LinearForm, row_dual: Floats) -> float | None:
    """The Lagrangian bound ``min over x in its box of cost @ x + y @ (row side - A x)``, valid for every y.

    ``row_dual``: one value per row, in the sign convention of HiGHS (cost - A' y are the reduced costs). A dual that
    presses on an infinite side is set to 0. Returns None if a column without a finite bound has a wrong reduced cost.
    Source: Neumaier and Shcherbina (2004), "Safe bounds in linear and mixed-integer programming".
    """
    sign = -1.0 if form.maximize else 1.0
    y = sign * np.asarray(row_dual, dtype=np.float64)
    side = np.where(y > 0, form.row_lo, form.row_hi)
    y = np.where(np.isinf(side), 0.0, y)
    rows = np.repeat(np.arange(len(form.row_lo)), np.diff(form.start))
    reduced = sign * form.cost - np.bincount(form.index, weights=form.value * y[rows], minlength=len(form.cost))
    box = np.where(reduced > 0, form.column_lo, form.column_hi)
    used = np.abs(reduced) > 0
    if np.isinf(box[used]).any():
        return None
    # a hair of slack for the rounding of these sums themselves
    total = float(y @ np.where(y != 0, side, 0.0)) + float(reduced[used] @ box[used])
    return sign * (total - 1e-12 * (1.0 + abs(total))) + form.offset
