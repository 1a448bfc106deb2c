"""The objective of a dispatching problem: its name, which can be called with a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from ..problem import Schedule, value_of
from ..whole_numbers import shown
from .desired.check import over_hours
from .objectives import find_objective

if TYPE_CHECKING:
    from .problem import Dispatch


class NamedObjective(str):
    """The name of the objective of a problem; called with a schedule, it returns the value.

    Parameters
    ----------
    name : str
        The name.
    problem : Dispatch
        The problem.

    Examples
    --------
    >>> import schedlab as sl
    >>> noon = sl.load("eurora_99").problem.at("12:00", first=3).replace(objective="waiting")
    >>> noon.objective, noon.objective(sl.first_solution(noon))
    ('waiting', 94539)
    """

    problem: Dispatch
    __slots__ = ("problem",)

    def __new__(cls, name: str, problem: Dispatch) -> NamedObjective:
        """Return the name, with its problem."""
        made = super().__new__(cls, name if isinstance(name, str) else shown(name))
        made.problem = problem
        return made

    def __call__(self, schedule: Schedule) -> float:
        """Return the objective of a schedule that starts all jobs, from the data alone.

        Raises
        ------
        TypeError
            If it is no Schedule.
        KeyError
            If a job has no start.
        """
        return value_of(schedule, lambda: (j.id for j in self.problem.jobs), self._value)

    def _value(self, schedule: Schedule) -> float:
        p = self.problem
        value = find_objective(str(self)).checked_value(p, schedule)
        if p.desired is None or p.over_cost is None:
            return value
        over = p.over_cost * over_hours(p, schedule)
        return value + over if p.sense == "minimize" else value - over

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Return the plain name: the problem is not part of a pickle or a copy."""
        return str, (str(self),)


class ObjectiveName:
    """The attribute ``objective`` of ``Dispatch``: the name is stored, a ``NamedObjective`` is returned."""

    @overload
    def __get__(self, problem: None, owner: type[Dispatch]) -> ObjectiveName: ...
    @overload
    def __get__(self, problem: Dispatch, owner: type[Dispatch] | None = None) -> NamedObjective: ...
    def __get__(self, problem: Dispatch | None, owner: type[Dispatch] | None = None) -> NamedObjective | ObjectiveName:
        """Return the objective of a problem."""
        if problem is None:
            return self
        return NamedObjective(problem.__dict__["objective"], problem)

    def __set__(self, problem: Dispatch, name: str) -> None:
        """Keep the name."""
        problem.__dict__["objective"] = name


BY_NAME = ObjectiveName()
