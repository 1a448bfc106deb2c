"""Find the constraints that make the linear relaxation of a model infeasible, by a deletion filter.

HiGHS can compute irreducible infeasible subsets itself, but those of version 1.12 are sometimes feasible.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..base import OBJECTIVE, Conflict
from ..linear import LinearForm

FEASIBLE = "the linear relaxation of this model is feasible, so HiGHS cannot name a conflict"


class DeletionFilter:
    """The linear relaxation inside HiGHS, whose constraints are removed one by one.

    Parameters
    ----------
    native : highspy.Highs
        The solver that holds the relaxation of ``form``.
    form : LinearForm
    names : list of str
        The constraints that may be removed, and the objective, which may have no value. Rows of domains always stay.
    """

    def __init__(self, native: Any, form: LinearForm, names: list[str]) -> None:
        self.native = native
        self.lo, self.hi = form.row_lo, form.row_hi
        known = set(names)
        objective = form.row_blocks.first[-1]  # its rows are the last ones
        self.rows: dict[str, list[int]] = {}
        for i in range(len(form.row_lo)):
            name = form.row_blocks.name(i)
            if i >= objective:
                name = OBJECTIVE
            if i >= objective or name in known:
                self.rows.setdefault(name, []).append(i)

    def run(self, deadline: float) -> Conflict:
        """Return constraints that cannot hold together.

        The set is irreducible if the time until ``deadline`` (of ``time.perf_counter``) suffices.
        """
        if not self._infeasible(deadline):
            return Conflict(None, FEASIBLE)
        needed = list(self.rows)
        minimal = True
        for name in list(needed):
            if time.perf_counter() > deadline:
                minimal = False
                break
            self._bound(name, relaxed=True)
            if self._infeasible(deadline):
                needed.remove(name)
            else:
                self._bound(name, relaxed=False)
        kind = "an irreducible" if minimal else "an"
        return Conflict(tuple(needed), f"{kind} infeasible subset of the linear relaxation")

    def _bound(self, name: str, *, relaxed: bool) -> None:
        for i in self.rows[name]:
            lo, hi = (-math.inf, math.inf) if relaxed else (float(self.lo[i]), float(self.hi[i]))
            self.native.changeRowBounds(i, lo, hi)

    def _infeasible(self, deadline: float) -> bool:
        import highspy

        left = deadline - time.perf_counter()
        self.native.setOptionValue("time_limit", math.inf if math.isinf(left) else max(0.0, left))
        self.native.run()
        return bool(self.native.getModelStatus() == highspy.HighsModelStatus.kInfeasible)


def find_conflict(native: Any, form: LinearForm, names: list[str], seconds: float | None) -> Conflict:
    """Find constraints whose rows make a linear relaxation infeasible.

    Parameters
    ----------
    native : highspy.Highs
        The solver that holds the relaxation. It is changed.
    form : LinearForm
    names : list of str
        The constraints that the conflict may contain.
    seconds : float or None
        Wall time in seconds; None: no limit.

    Returns
    -------
    Conflict
        Its names are None if the relaxation is feasible.
    """
    native.setOptionValue("presolve", "off")  # so each solve starts from the basis of the one before
    native.changeColsCost(len(form.cost), np.arange(len(form.cost), dtype=np.int32), np.zeros(len(form.cost)))
    deadline = math.inf if seconds is None else time.perf_counter() + seconds
    return DeletionFilter(native, form, names).run(deadline)
