"""Warm starts that give the values of some variables alone: the backend finds the others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..models.counts import how_many
from ..models.language import Assignment, Model
from ..models.language.partial_values import fixing, given_values, whole_assignment
from .base import Limits, WarmStart
from .driver import run

SHARE = 0.2  # of the time limit, in which the other values must be found
SECONDS = 10.0  # wall time for it at most


def complete(
    model: Model, values: Mapping[Any, Any], backend: str, limits: Limits, **options: Any
) -> tuple[Assignment | None, WarmStart]:
    """Return an assignment with the given values, and what became of the start.

    The given values are fixed, the objectives are left out, and the backend solves what is left, for a fifth of the time
    limit and at most 10 s. If no solution of the model has these values, or none is found in this time, there is no
    start. Every backend takes partial starts in this way; so they need not be hints in the solver's sense, and what
    they are worth does not depend on the solver.

    Parameters
    ----------
    model : Model
    values : mapping
        The values of some variables, by variable or name (``models.language.partial_values.fixing``: their forms).
    backend : str
        Name of the backend.
    limits : Limits
        The limits of the whole call.
    **options
        Options of the backend.

    Raises
    ------
    ModelError
        If a key is no variable of the model, or a value has a wrong form.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=9); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> start, fate = complete(m, {"a": 0}, "cpsat", Limits(threads=1))
    >>> start[a].start, start[b].start >= 3, fate.fate, fate.reason
    (0, True, 'repaired', '1 of 2 variables was given, the others were found')
    """
    given = given_values(model, values)
    whole = whole_assignment(model, given)
    if whole is not None:
        return whole, WarmStart()
    fixed = fixing(given)
    part = copy.copy(model)
    part.objectives = []
    part.constraints = [*model.constraints, *fixed]
    left = limits.deadline.remaining
    seconds = SECONDS if left is None else min(SECONDS, SHARE * left)
    found = run(
        part, backend, replace(limits.lasting(seconds), gap=None, deterministic=None), conflict=False, **options
    )
    if found.assignment is not None and found.status in ("optimal", "feasible"):
        count = len(model.intervals) + len(model.integers)
        verb = "was" if len(given) == 1 else "were"
        reason = f"{len(given)} of {how_many(count, 'variable')} {verb} given, the others were found"
        made = copy.copy(found.assignment)
        made.model = model
        return made, WarmStart("repaired", reason)
    if found.status == "infeasible":
        return None, WarmStart("rejected", "no solution of the model has the values of the partial start")
    why = f": {found.message}" if found.message else ""
    return None, WarmStart(
        "rejected", f"no solution with the values of the partial start was found in {seconds:.3g} s{why}"
    )
