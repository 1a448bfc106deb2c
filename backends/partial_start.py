"""Warm starts that give the values of some variables alone: the backend finds the others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..models.excerpt import hint
from ..models.language import Assignment, Model
from ..models.language.data import IntervalValue, ModelData, NamedConstraint
from ..models.language.expressions import Comparison, Integer, Interval
from ..models.language.quantities import ModelError, pair, told, whole
from ..models.words import how_many
from .base import Limits, WarmStart
from .driver import defining, run

# --- Values for some of the variables of a model, as constraints that fix them: what a partial warm start gives.


Variable = Interval | Integer
EXPECTED = "a start, a pair (start, end), an IntervalValue, True (present at any time), or None (absent)"


def given_values(model: ModelData, values: Mapping[Any, Any]) -> dict[Variable, Any]:
    """Return the values by variable, of a mapping whose keys are variables or their names.

    Parameters
    ----------
    model : Model
        The model of the variables.
    values : mapping
        The value of some variables, as ``fixing`` takes them.

    Raises
    ------
    ModelError
        If a key is no variable of the model, or a name that several have, or a variable is given twice.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3); x = m.integer("x", 0, 5)
    >>> given_values(m, {"a": 4, x: 2})
    {a: 4, x: 2}
    """
    named: dict[str, list[Variable]] = {}
    for known in _variables(model):
        named.setdefault(known.name, []).append(known)
    found: dict[Variable, Any] = {}
    for key, value in values.items():
        v = _variable(model, key, named)
        if v in found:
            raise ModelError(f"the warm start of model {model.name!r} gives {v.name!r} twice, by name and by itself")
        found[v] = value
    return found


def _variable(model: ModelData, key: object, named: Mapping[str, list[Variable]]) -> Variable:
    if isinstance(key, (Interval, Integer)):
        if key.model is not model:
            raise ModelError(f"{key!r} of the warm start is not a variable of model {model.name!r}")
        return key
    if not isinstance(key, str):
        raise ModelError(f"a key of the warm start is {told(key)}; expected a variable of {model.name!r}, or its name")
    some = named.get(key, [])
    if not some:
        missing = hint(key, named, "the variables are", "the model has none")
        raise ModelError(f"model {model.name!r} has no variable {key!r} for the warm start; {missing}")
    if len(some) > 1:
        raise ModelError(
            f"model {model.name!r} has {len(some)} variables {key!r}; give the variable itself in the warm start"
        )
    return some[0]


def whole_assignment(model: ModelData, values: Mapping[Variable, Any]) -> Assignment | None:
    """Return the assignment if the values leave nothing open, else None.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3); x = m.integer("x", 0, 5)
    >>> whole_assignment(m, {a: 4, x: 2}), whole_assignment(m, {a: 4})
    (Assignment(a: 4..7, x: 2), None)
    """
    if not all(v in values and _settled(v, values[v]) for v in _variables(model)):
        return None
    return Assignment(model, {v: None if value is False else value for v, value in values.items()})


def _settled(v: Variable, value: Any) -> bool:
    """Return whether a value leaves nothing open: that of an interval of variable size has an end."""
    if isinstance(v, Integer):
        return True
    if value is True:
        return False
    return v.size_lo == v.size_hi or not isinstance(value, (int, np.integer)) or value is False


def fixing(values: Mapping[Variable, Any]) -> list[NamedConstraint]:
    """Return constraints that fix variables to values.

    Parameters
    ----------
    values : mapping
        An interval has a start; a pair (start, end); an IntervalValue; True if it is present at any time; None or False
        if it is absent. An integer variable has a whole number.

    Raises
    ------
    ModelError
        If a value has another form.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=(1, 3), optional=True); x = m.integer("x", 0, 5)
    >>> fixing({a: 4, x: 2})[0]
    NamedConstraint(name='a starts at 4', constraint=a.start == 4)
    >>> [c.name for c in fixing({a: (4, 6), x: 2})]
    ['a starts at 4', 'a is present', 'a ends at 6', 'x is 2']
    """
    made: list[NamedConstraint] = []
    for v, value in values.items():
        made += _of_integer(v, value) if isinstance(v, Integer) else _of_interval(v, value)
    return made


def _variables(model: ModelData) -> list[Variable]:
    return [*model.intervals, *model.integers]


def _of_integer(x: Integer, value: Any) -> list[NamedConstraint]:
    number = whole(value, f"the warm start of {x.name}")
    return [_equal(x, number, f"{x.name} is {number}")]


def _of_interval(v: Interval, value: Any) -> list[NamedConstraint]:
    what = f"the warm start of {v.name}"
    if value is None or value is False or (isinstance(value, IntervalValue) and not value.present):
        return [_equal(v.presence, 0, f"{v.name} is absent")]
    present = [_equal(v.presence, 1, f"{v.name} is present")] if v.optional else []
    if value is True:
        return present or [_equal(v.presence, 1, f"{v.name} is present")]
    if isinstance(value, IntervalValue):
        value = value.start, value.end
    ends: tuple[object, ...]
    if isinstance(value, (tuple, list, np.ndarray)):
        ends = pair(value, f"{what}, which is no single start,")
    elif isinstance(value, (int, float, np.integer)):
        ends = (value,)
    else:
        raise ModelError(f"{what} is {told(value)}; expected {EXPECTED}")
    start = whole(ends[0], f"{what}, the start")
    fixed = [_equal(v.start, start, f"{v.name} starts at {start}"), *present]
    if len(ends) == 2:
        end = whole(ends[1], f"{what}, the end")
        fixed.append(_equal(v.end, end, f"{v.name} ends at {end}"))
    return fixed


def _equal(e: Any, value: int, name: str) -> NamedConstraint:
    return NamedConstraint(name, Comparison(e.linear(), value, value))


# --- Warm starts that give the values of some variables alone: the backend finds the others.

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
    part.constraints = [*model.constraints, *fixed, *defining(model, 0)]
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
