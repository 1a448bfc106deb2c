"""Checks of what users give to a compiled model, and of what backends of third parties return to the driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import NoSolution, WrongArgument
from ..models.excerpt import excerpt
from ..models.language import Assignment, Integer, Interval, Model, ModelError
from ..models.returned import WrongAnswer
from ..models.whole_numbers import is_real
from .base import Availability, Backend, Compiled, Exactness, Outcome, Status

PARTS = ("native", "size", "exactness", "var", "assignment", "hint", "run")


def own_variable(x: object, model: Model) -> None:
    """Raise ModelError if the argument of ``var`` is no interval or integer variable of the model that was compiled."""
    if not isinstance(x, (Interval, Integer)):
        raise ModelError(
            f"var({excerpt(x)}): expected an interval or an integer variable of model {model.name!r}, as Model.interval and "
            "Model.integer return them; those of a model that was read are model.intervals and model.integers"
        )
    if x.model.intervals is not model.intervals:
        raise ModelError(f"var({x}): {x} belongs to model {x.model.name!r}; the compiled model is {model.name!r}")


def own_values(assignment: object, model: Model, function: str) -> None:
    """Raise WrongArgument or ModelError if a value is no assignment that fits the model that was compiled."""
    if not isinstance(assignment, Assignment):
        raise WrongArgument(f"assignment of {function} is {excerpt(assignment)}; expected an Assignment of {model!r}")
    if not _fits(assignment, model):
        raise ModelError(
            f"assignment of {function} is one of model {assignment.model.name!r}; the compiled model is {model.name!r}"
        )


def _fits(assignment: Assignment, model: Model) -> bool:
    return len(assignment.start) == len(model.intervals) and len(assignment.integer) == len(model.integers)


def column_values(values: object, columns: int, what: str) -> NDArray[np.float64]:
    """Return the values of all columns; raise WrongArgument if they are none, NoSolution if one is not finite.

    Rows and columns that a user has added come after ours; their values are left out.
    """
    try:
        as_floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        as_floats = np.zeros((0, 0))
    if as_floats.ndim != 1 or as_floats.size < columns:
        raise WrongArgument(
            f"answer of assignment is {excerpt(values)}; expected {what}, or the values of {columns} columns"
        )
    if not np.isfinite(as_floats[:columns]).all():
        raise NoSolution("the answer holds no solution: a column has no finite value")
    return as_floats[:columns]


def checked_availability(found: Backend) -> Availability:
    """Return whether a backend can be used; raise WrongAnswer if it returns something else."""
    here: object = found.availability()
    if not isinstance(here, Availability):
        raise WrongAnswer(f"backend {found.name!r}: availability returned {excerpt(here)}; expected an Availability")
    return here


def checked_compiled(found: Backend, compiled: Any) -> Compiled:
    """Return what ``compile`` of a backend returned; raise WrongAnswer if it is no `Compiled`."""
    who = f"backend {found.name!r}: compile returned {excerpt(type(compiled).__name__)}"
    lacking = [part for part in PARTS if not hasattr(compiled, part)]
    if lacking:
        raise WrongAnswer(f"{who}, which has no {' and no '.join(lacking)}; expected an object that follows Compiled")
    if not isinstance(compiled.exactness, Exactness):
        raise WrongAnswer(f"{who}, whose exactness is {excerpt(compiled.exactness)}; expected an Exactness")
    if not isinstance(compiled.size, Mapping):
        raise WrongAnswer(f"{who}, whose size is {excerpt(compiled.size)}; expected a mapping {{name: number}}")
    return compiled  # type: ignore[no-any-return]


def checked_outcome(name: str, outcome: object) -> Outcome:
    """Return what ``run`` of a compiled model returned; raise WrongAnswer if it is no `Outcome` of a known status."""
    who = f"backend {name!r}: run returned"
    if not isinstance(outcome, Outcome):
        raise WrongAnswer(f"{who} {excerpt(outcome)}; expected an Outcome")
    if outcome.status not in get_args(Status):
        raise WrongAnswer(f"{who} the status {excerpt(outcome.status)}; expected one of {', '.join(get_args(Status))}")
    if outcome.bound is not None and not is_real(outcome.bound):
        raise WrongAnswer(f"{who} the bound {excerpt(outcome.bound)}; expected a number or None")
    return outcome


def checked_solution(assignment: object, bound: object, model: Model) -> None:
    """Raise WrongAnswer if what a backend reports as a solution is no assignment of its model, or the bound no number."""
    if not isinstance(assignment, Assignment) or not _fits(assignment, model):
        raise WrongAnswer(
            f"the backend reported the solution {excerpt(assignment)}; expected an Assignment of {model!r}"
        )
    if bound is not None and not is_real(bound):
        raise WrongAnswer(f"the backend reported the bound {excerpt(bound)}; expected a number or None")
