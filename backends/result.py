"""The result of a solve, and the incumbents of its trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ..errors import NoSolution
from ..models.display.frame import frame
from ..models.display.of_problem import gantt_of_assignment, gantt_of_schedule, rows_of_assignment, rows_of_schedule
from ..models.excerpt import one_line, with_short_repr
from ..models.language import Assignment, Integer, Interval, IntervalValue, Model, Violation
from ..models.problem import Problem, Schedule, Value
from .base import Conflict, Exactness, Status, WarmStart
from .gaps import relative_gap

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

Bound = float | tuple[float | None, ...]
"""A bound or a gap: one number, or with several objectives a tuple with None for what is unknown."""


class _Moment(NamedTuple):
    seconds: float
    objective: Value | None
    bound: Bound | None


@with_short_repr
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

    @property
    def gap(self) -> Bound | None:
        """Relative gap between objective and bound; None if one of them is unknown."""
        return _gap(self.objective, self.bound)

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
        Log of the solver, at most ``LOG_CHARACTERS`` characters: of a longer log the first and the last part.
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
    objective: Value | None = None
    bound: Bound | None = None
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
    problem: Problem | None = None
    schedule: Schedule | None = None
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
    def gap(self) -> Bound | None:
        """Relative gap between objective and bound; None if one of them is unknown."""
        return _gap(self.objective, self.bound)

    @overload
    def __getitem__(self, variable: Interval) -> IntervalValue: ...
    @overload
    def __getitem__(self, variable: Integer) -> int: ...
    def __getitem__(self, variable: Interval | Integer) -> IntervalValue | int:
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
            raise NoSolution(f"there is no solution: the status is {self.status!r}. {self.message}".strip())
        return self.assignment[variable]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the answer as a table.

        Returns
        -------
        pandas.DataFrame
            Of a schedule one row per job, with the columns job, start and nodes, and more that depend on the kind of
            problem. Dispatch and Profit: queue, user, submit, end, wait, duration (s), units, node_list (text); Profit
            also watts. Eviction: strategy, nodes (number), writes and end of the checkpoint (s from now), loss. Project:
            mode, end, duration, demands. Of an assignment one row per interval, with the columns name, present, start
            and end. Empty if there is no answer.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import schedlab as sl
        >>> r = sl.solve(sl.load("eurora_99").problem.at(43200, first=5), method="first-solution:est")
        >>> r.to_pandas()[["job", "queue", "start", "end", "units"]].shape
        (5, 5)
        """
        empty = ["job", "start", "nodes"] if self.schedule is not None else ["name", "present", "start", "end"]
        return frame(self._rows(), empty)

    def trace_to_pandas(self) -> pandas.DataFrame:
        """Return the trace (``incumbents``) as a table.

        Returns
        -------
        pandas.DataFrame
            A row per better solution or bound, with the columns seconds, objective, bound and gap; NaN if unknown. With
            several objectives the columns are objective_1, objective_2, ..., and likewise for bound and gap.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        several = next((len(i.objective) for i in self.incumbents if isinstance(i.objective, tuple)), 0)
        names = [
            f"{name}_{k + 1}" if several else name
            for name in ("objective", "bound", "gap")
            for k in range(several or 1)
        ]
        rows = []
        for i in self.incumbents:
            parts = [_parts(value, several or 1) for value in (i.objective, i.bound, i.gap)]
            rows.append({"seconds": i.seconds, **dict(zip(names, (v for part in parts for v in part), strict=True))})
        return frame(rows, ["seconds", *names]).astype("float64")

    def plot(self, ax: Axes | None = None, *, legend: bool = True, labels: bool = True) -> Axes:
        """Draw the answer as a Gantt chart, by matplotlib.

        The rows are nodes (Dispatch, Profit; groups of nodes if there are many), running jobs (Eviction), resources
        (Project) or intervals (a model).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. None: a new figure.
        legend : bool, default True
            Whether to explain the colours and lines, right of the axes.
        labels : bool, default True
            Whether to write the names of jobs into the bars that have room for them.

        Returns
        -------
        matplotlib.axes.Axes
            ``plot().figure.savefig("chart.png")`` saves the picture.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        LookupError
            If there is no answer.
        TypeError
            If the kind of problem has no Gantt chart.
        """
        from ..models.display.drawing import draw, require_matplotlib

        require_matplotlib()
        if self.schedule is not None and self.problem is not None:
            return draw(gantt_of_schedule(self.problem, self.schedule), ax, legend=legend, labels=labels)
        if self.assignment is None:
            raise LookupError(f"there is nothing to draw: the status is {self.status!r}. {self.message}".strip())
        return draw(gantt_of_assignment(self.assignment), ax, legend=legend, labels=labels)

    def _rows(self) -> Sequence[Mapping[str, object]]:
        """Return the rows of the table of the answer; those of a faulty answer do not use the problem."""
        if self.schedule is not None:
            return rows_of_schedule(None if self.status == "error" else self.problem, self.schedule)
        return [] if self.assignment is None else rows_of_assignment(self.assignment)

    def _repr_html_(self) -> str:
        """Return a summary and the first rows of the answer as HTML, for notebooks."""
        from ..models.display.html import pairs, table

        known = (
            ("status", self.status),
            ("objective", self.objective),
            ("bound", self.bound),
            ("gap", self.gap),
            ("seconds", self.seconds.get("total")),
            ("solver", f"{self.solver} {self.version or ''}".strip()),
            ("message", self.message),
        )
        if self.schedule is None and self.assignment is None:
            return pairs(known)
        return pairs(known) + table(self._rows(), "intervals" if self.schedule is None else "jobs")

    def __repr__(self) -> str:
        return one_line(
            f"Result({self.status}, objective={self.objective}, bound={self.bound}, solver={self.solver!r})"
        )


def _gap(objective: Value | None, bound: Bound | None) -> Bound | None:
    if isinstance(objective, tuple):
        bounds = bound if isinstance(bound, tuple) else (None,) * len(objective)
        return tuple(relative_gap(o, b) for o, b in zip(objective, bounds, strict=True))
    return None if isinstance(bound, tuple) else relative_gap(objective, bound)


def _parts(value: Value | Bound | None, several: int) -> tuple[float | None, ...]:
    return value if isinstance(value, tuple) else (value,) * several
