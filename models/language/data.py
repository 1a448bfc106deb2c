"""A model as data, and values for its variables."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, NamedTuple, Protocol, overload

import numpy as np

from ..words import hint, one_line, with_short_repr
from .constraints import Constraint, Violation
from .expressions import Expression, Integer, Interval, Linear, ModelError, Number, pair, whole

Sense = Literal["minimize", "maximize"]


@with_short_repr
class NamedConstraint(NamedTuple):
    """A constraint of a model, and its name.

    Parameters
    ----------
    name : str
        The name that messages use.
    constraint : Constraint
        The constraint.
    """

    name: str
    constraint: Constraint


@with_short_repr
class IntervalValue(NamedTuple):
    """The value of an interval in an assignment.

    Parameters
    ----------
    present : bool
        Whether the interval is present.
    start, end : int or None
        Its start and end in seconds; None if it is absent.
    """

    present: bool
    start: int | None
    end: int | None


class ModelData(Protocol):
    """What a model declares; ``model.Model`` has all of it."""

    name: str
    intervals: list[Interval]
    integers: list[Integer]
    constraints: list[NamedConstraint]
    objectives: list[Linear]
    sense: Sense

    @property
    def horizon(self) -> int:
        """The latest start in seconds of intervals that are declared without ``start``; as declared, else derived."""

    @property
    def declared_horizon(self) -> int | None:
        """The horizon as declared; None if it is derived."""

    def check(self, assignment: Assignment) -> list[Violation]:
        """Return the violations of an assignment."""

    def value(self, expression: Expression | Number, assignment: Assignment) -> Number:
        """Return the value of an expression."""


class Assignment:
    """Values for all variables of a model; they need not satisfy its constraints.

    The values are stored as lists: ``start``, ``end`` (seconds, 0 if absent) and ``present`` have an entry per interval
    in the order of ``model.intervals``, ``integer`` has an entry per variable in the order of ``model.integers``.

    Parameters
    ----------
    model : Model
        The model.
    values : mapping, optional
        The value of each variable. An interval has a start (fixed size only), a pair (start, end), an IntervalValue, or
        None if it is absent; an integer variable has an int. Optional intervals that are missing are absent. None: all
        intervals are absent and all integers are 0.

    Raises
    ------
    ModelError
        If another variable is missing, or a variable belongs to another model.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3); x = m.integer("x", 0, 5)
    >>> s = Assignment(m, {a: 4, x: 2})
    >>> s[a], s[x]
    (IntervalValue(present=True, start=4, end=7), 2)
    """

    __slots__ = ("end", "integer", "model", "present", "start")

    def __init__(self, model: ModelData, values: Mapping[Any, Any] | None = None) -> None:
        if not hasattr(model, "intervals"):
            raise ModelError(f"model of Assignment is {model!r:.100}; expected a Model")
        if not isinstance(values, (Mapping, NoneType)):
            raise ModelError(f"values of Assignment is {values!r:.100}; expected a mapping {{variable: value}} or None")
        self.model = model
        self.start = [0] * len(model.intervals)
        self.end = [0] * len(model.intervals)
        self.present = [False] * len(model.intervals)
        self.integer = [0] * len(model.integers)
        if values is not None:
            self._fill(values)

    def _fill(self, values: Mapping[Any, Any]) -> None:
        for v in values:
            if not isinstance(v, (Interval, Integer)) or v.model is not self.model:
                raise ModelError(f"{v!r} is not a variable of model {self.model.name!r}")
        for v in self.model.intervals:
            given = values.get(v)
            if given is None or (isinstance(given, IntervalValue) and not given.present):
                if not v.optional:
                    raise ModelError(f"interval {v.name!r} is not optional and has no value")
            else:
                self.set(v, *_ends(v, given))
        for x in self.model.integers:
            if x not in values:
                raise ModelError(f"integer {x.name!r} has no value")
            self.integer[x.index] = whole(values[x], f"the value of {x.name}")

    def set(self, interval: Interval, start: int, end: int) -> None:
        """Make the interval present, as [start, end) in seconds."""
        i = interval.index
        self.start[i] = start
        self.end[i] = end
        self.present[i] = True

    __iter__ = None  # without it, Python would ask for the values of the variables 0, 1, ...

    def __contains__(self, variable: object) -> bool:
        """Return whether a variable belongs to the model, so that it has a value; an absent interval has one, too."""
        return isinstance(variable, (Interval, Integer)) and variable.model is self.model

    @overload
    def __getitem__(self, variable: Interval) -> IntervalValue: ...
    @overload
    def __getitem__(self, variable: Integer) -> int: ...
    def __getitem__(self, variable: Interval | Integer) -> IntervalValue | int:
        if not isinstance(variable, (Interval, Integer)):
            known = [v.name for v in (*self.model.intervals, *self.model.integers)]
            raise ModelError(
                f"{variable!r:.100} is not a variable of model {self.model.name!r}; expected an interval or an integer "
                f"variable itself{_named(variable, known)}"
            )
        if variable.model is not self.model:
            raise ModelError(f"{variable} is not a variable of model {self.model.name!r}")
        i = variable.index
        if isinstance(variable, Integer):
            return self.integer[i]
        if self.present[i]:
            return IntervalValue(True, self.start[i], self.end[i])
        return IntervalValue(False, None, None)

    def __repr__(self) -> str:
        intervals = (f"{v}: {self[v].start}..{self[v].end}" for v in self.model.intervals if self.present[v.index])
        integers = (f"{x}: {self.integer[x.index]}" for x in self.model.integers)
        shown = ", ".join(itertools.islice(itertools.chain(intervals, integers), 40))
        return one_line(f"Assignment({shown})")


def _ends(v: Interval, given: Any) -> tuple[int, int]:
    """Return start and end of a present interval from any form that ``Assignment`` accepts."""
    what = f"the value of {v.name}"
    if isinstance(given, IntervalValue):
        given = given.start, given.end
    if isinstance(given, (tuple, list, np.ndarray)):
        start, end = pair(given, what)
        return whole(start, what), whole(end, what)
    if v.size_lo != v.size_hi:
        raise ModelError(f"interval {v.name!r} has a variable size: give (start, end), not {given!r}")
    start = whole(given, what)
    return start, start + v.size_lo


def _named(name: object, known: list[str]) -> str:
    """Return what a message says about a name that is given in place of a variable."""
    if not isinstance(name, str):
        return ""
    if name in known:
        return f"; {name!r} is the name of one: keep the object that Model.interval or Model.integer returned"
    return f"; {hint(name, known, 'the variables are', 'the model has none')}"
