"""A valid bound of a linear program from inexact dual values.

For the linear relaxation ``min cost @ x + offset`` subject to ``row_lo <= A x <= row_hi``,
``column_lo <= x <= column_hi`` and any vector y of row duals, weak duality gives the bound (Lagrangian relaxation of
all rows)::

    d = cost - A' y                                   (reduced costs)
    side[r] = row_lo[r] if y[r] > 0 else row_hi[r]    for each row r; y[r] = 0 if that side is infinite
    box[j] = column_lo[j] if d[j] > 0 else column_hi[j]    for each column j
    bound = sum_r y[r] side[r] + sum_j d[j] box[j] + offset

No row has to be satisfied and y need not be optimal, so the tolerances of the solver do not make the bound false. For
a maximization the signs of cost, y and bound are reversed. Source: [Neumaier2004] (A. Neumaier, O. Shcherbina: "Safe
bounds in linear and mixed-integer programming").
"""

from __future__ import annotations

import numpy as np

from .form import Floats, LinearForm


def safe_bound(form: LinearForm, row_dual: Floats) -> float | None:
    """Return a bound on the optimum of the linear relaxation that is valid for any dual values.

    Parameters
    ----------
    form : LinearForm
        The linear program.
    row_dual : array of shape (number of rows,)
        Dual value of each row, in the sign convention of HiGHS (the reduced costs are ``cost - A' y``).

    Returns
    -------
    float or None
        A lower bound for a minimization, an upper bound for a maximization. None if a reduced cost selects an
        infinite column bound, so that the Lagrangian bound is infinite.
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
    # 1e-12 (relative) covers the rounding errors of these two sums
    total = float(y @ np.where(y != 0, side, 0.0)) + float(reduced[used] @ box[used])
    return sign * (total - 1e-12 * (1.0 + abs(total))) + form.offset
