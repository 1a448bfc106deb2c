"""The result of a solve, and the incumbents of its trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models.language import Assignment, IntervalValue, Model, Violation
from .base import Conflict, Exactness, Status, WarmStart
from .gaps import relative_gap

if TYPE_CHECKING:
    import pandas

    from ..models import Schedule


class _Moment(NamedTuple):
    seconds: float
    objective: Any
    bound: Any


class Incumbent(_Moment):
    """A better solution or a better bound, at one moment of a call.

    Callbacks get it with its solution (``schedule``, ``assignment``). The trace of a result (``Result.incumbents``) does
    not keep the solutions.

    Parameters
    ----------
    seconds : float
        Wall time in seconds since the call began.
    objective : float, tuple of float or None
        The best objective value at this moment; None if no solution is known. With several objectives a tuple.
    bound : float, tuple or None
        The best bound at this moment; None if unknown. With several objectives a tuple, with None for unknown bounds.

    Attributes
    ----------
    placement : object or None
        The schedule as flat arrays, from searches that have it in this form. Unlike ``schedule()`` it costs no time.
    """

    _schedule: Callable[[], Schedule | None] | None = None
    _assignment: Callable[[], Assignment | None] | None = None
    placement: Any = None

    def giving(
        self,
        schedule: Callable[[], Schedule | None] | None = None,
        assignment: Callable[[], Assignment | None] | None = None,
        placement: Any = None,
    ) -> Incumbent:
        """Return the same incumbent with its solution.

        Parameters
        ----------
        schedule, assignment : callable or None
            Return the solution of the problem and that of the model. They are called when the solution is needed. None:
            there is none.
        placement : object or None
            The schedule as flat arrays.

        Returns
        -------
        Incumbent
        """
        found = Incumbent(*self)
        found._schedule, found._assignment, found.placement = schedule, assignment, placement
        return found

    def schedule(self) -> Schedule | None:
        """Return the schedule with this objective.

        The schedule is made at this call, from the current state of the search: call it within the callback.

        Returns
        -------
        Schedule or None
            None if there is no solution, or if a model is solved and not a problem.

        Examples
        --------
        >>> from schedlab import Schedule
        >>> Incumbent(0.5, 7, None).giving(lambda: Schedule({"a": 4})).schedule().start
        {'a': 4}
        """
        return None if self._schedule is None else self._schedule()

    def assignment(self) -> Assignment | None:
        """Return the values of the variables of the model with this objective; call it within the callback.

        Returns
        -------
        Assignment or None
            None if there is no solution, or if the method has no model, as most heuristics.
        """
        return None if self._assignment is None else self._assignment()


@dataclass
class Result:
    """The result of a solve. A value that is not known is None.

    With several objectives ``objective``, ``bound`` and ``gap`` are tuples with one value per objective.

    Parameters
    ----------
    status : str
        "optimal", "feasible", "infeasible", "unbounded", "unknown", "unavailable" or "error".
    solver : str
        Name of the backend, or the text of the method.
    version : str or None
        Version of the solver.
    objective : float, tuple of float or None
        Objective value of the answer.
    bound : float, tuple or None
        Proven bound on the objective.
    incumbents : list of Incumbent
        The trace of objective and bound.
    seconds : dict of str to float
        Wall time in seconds of "build", "lower", "solve" and "total".
    warm_start : WarmStart
        The use that the solver made of the warm start.
    exactness : Exactness
        The relation between the lowering and the model.
    size : dict of str to int
        Size of the native model.
    log : str
        Log of the solver.
    message : str
        Why the solve ended, or what is wrong.
    assignment : Assignment or None
        The answer, for a model.
    relaxed : Assignment or None
        The best answer of a relaxation that violates the model.
    violations : list of Violation
        What an independent check finds wrong in the answer. It is empty for every answer that is reported as feasible.
    conflict : Conflict or None
        Constraints that cannot hold together, for an infeasible model.
    model : Model or None
        The model that was solved.
    problem : Problem or None
        The problem that was solved, if a problem was solved.
    schedule : Schedule or None
        The answer, for a problem.
    details : mapping of str to object
        What is special about a method, such as the ordering that was best. Each search documents its keys.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> r = sl.solve(m)
    >>> r.status, r.objective, r[a].start
    ('optimal', 5, 2)
    """

    status: Status
    solver: str
    version: str | None
    objective: Any = None
    bound: Any = None
    incumbents: list[Incumbent] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    warm_start: WarmStart = field(default_factory=WarmStart)
    exactness: Exactness = field(default_factory=Exactness)
    size: dict[str, int] = field(default_factory=dict)
    log: str = ""
    message: str = ""
    assignment: Assignment | None = None
    relaxed: Assignment | None = None
    violations: list[Violation] = field(default_factory=list)
    conflict: Conflict | None = None
    model: Model | None = None
    problem: Any = None
    schedule: Any = None
    details: Mapping[str, object] = field(default_factory=dict)

    def fail(self, message: str) -> None:
        """Turn the result into an error: remove its objective and all bounds.

        The answer stays in ``assignment`` and ``schedule``, so that the cause can be found.

        Parameters
        ----------
        message : str
            What is wrong.
        """
        self.status, self.objective, self.bound, self.message = "error", None, None, message
        self.incumbents = [Incumbent(i.seconds, i.objective, None) for i in self.incumbents]

    @property
    def gap(self) -> Any:
        """Relative gap between objective and bound; None if one of them is unknown."""
        if isinstance(self.objective, tuple):
            bounds = self.bound if isinstance(self.bound, tuple) else (None,) * len(self.objective)
            return tuple(relative_gap(o, b) for o, b in zip(self.objective, bounds, strict=True))
        return relative_gap(self.objective, self.bound)

    def __getitem__(self, variable: Any) -> Any:
        """Return the value of a variable of the model.

        Parameters
        ----------
        variable : Interval or Integer

        Returns
        -------
        IntervalValue or int
            The value of an interval has ``start``, ``end`` and ``present``.

        Raises
        ------
        LookupError
            If there is no solution.
        """
        if self.assignment is None or self.status == "error":
            raise LookupError(f"there is no solution: the status is {self.status!r}. {self.message}".strip())
        return self.assignment[variable]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the answer as a table.

        Returns
        -------
        pandas.DataFrame
            Of a schedule one row per job, with the columns job, start (in seconds) and nodes. Of an assignment one row
            per interval, with the columns name, present, start and end.
        """
        import pandas

        if self.schedule is not None:
            jobs = self.schedule.rows()
            return pandas.DataFrame(jobs, columns=list(jobs[0]) if jobs else ["job", "start", "nodes"])
        rows = []
        for v in self.assignment.model.intervals if self.assignment is not None else []:
            value: IntervalValue = self[v]
            rows.append({"name": v.name, "present": value.present, "start": value.start, "end": value.end})
        table = pandas.DataFrame(rows, columns=["name", "present", "start", "end"])
        return table.astype({"start": "Int64", "end": "Int64"})

    def __repr__(self) -> str:
        return f"Result({self.status}, objective={self.objective}, bound={self.bound}, solver={self.solver!r})"
