"""Values for some of the variables of a model, as constraints that fix them: what a partial warm start gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..unknown_names import hint
from .data import Assignment, IntervalValue, ModelData, NamedConstraint
from .expressions import Comparison, Integer, Interval
from .quantities import ModelError, pair, told, whole

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
