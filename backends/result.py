"""The result of a solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

from ..errors import NoSolution, WrongArgument
from ..models.excerpt import excerpt, one_line
from ..models.gantt import (
    columns_of_schedule,
    gantt_of_assignment,
    gantt_of_schedule,
    rows_of_assignment,
    rows_of_schedule,
)
from ..models.language import Assignment, Integer, Interval, IntervalValue, Model, Violation
from ..models.problem import Problem, Schedule, Value
from ..models.tables import frame
from .base import Conflict, Exactness, Status, WarmStart
from .recorder import Bound, Incumbent, Offset, gap_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(eq=False)
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
    phases : dict of str to float
        Wall time in seconds of "build", "lower", "solve" and "total"; ``seconds`` is that of the whole call.
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
    offset : float or tuple of float
        The constant offset of the objective, such as a time since 1970; gaps are formed without it.
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
    phases: dict[str, float] = field(default_factory=dict)
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
    offset: Offset = 0.0

    def fail(self, message: str) -> None:
        """Turn the result into an error: remove its objective and all bounds.

        The answer stays in ``assignment`` and ``schedule``, so that the cause can be found.

        Parameters
        ----------
        message : str
            What is wrong.
        """
        self.status = "error"
        self.objective = None
        self.bound = None
        self.message = message
        self.incumbents = [Incumbent(i.seconds, i.objective, None).less(i.offset) for i in self.incumbents]

    @property
    def seconds(self) -> float:
        """The wall time of the call in seconds; 0 if nothing ran."""
        return self.phases.get("total", 0.0)

    @property
    def gap(self) -> Bound | None:
        """Relative gap between objective and bound; None if one of them is unknown."""
        return gap_of(self.objective, self.bound, self.offset)

    __iter__ = None  # without it, Python would ask for the values of the variables 0, 1, ...
    __contains__ = None

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
        TypeError
            If it is the result of a problem, which has no variables.
        """
        if self.assignment is None and self.schedule is not None:
            raise WrongArgument(
                f"the result of a problem has no variables, and so no {excerpt(variable)}; its answer is result.schedule"
            )
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
            and end. Without an answer: the same columns and no row.

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
        if self.problem is None and self.schedule is None:
            return frame(self._rows(), ["name", "present", "start", "end"])
        columns = columns_of_schedule(self.problem)
        rows = self._rows() if self.schedule is not None else []
        if rows and any(name not in rows[0] for name in columns):  # of a faulty answer
            rows = [{name: row.get(name) for name in dict.fromkeys([*columns, *row])} for row in rows]
        return frame(rows, columns)

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
        from ..models.gantt import draw, require_matplotlib

        require_matplotlib()
        if self.schedule is not None and self.problem is not None:
            return draw(gantt_of_schedule(self.problem, self.schedule), ax, legend=legend, labels=labels)
        if self.assignment is None:
            raise NoSolution(f"there is nothing to draw: the status is {self.status!r}. {self.message}".strip())
        return draw(gantt_of_assignment(self.assignment), ax, legend=legend, labels=labels)

    def _rows(self) -> Sequence[Mapping[str, object]]:
        """Return the rows of the table of the answer; those of a faulty answer do not use the problem."""
        if self.schedule is not None:
            return rows_of_schedule(None if self.status == "error" else self.problem, self.schedule)
        return [] if self.assignment is None else rows_of_assignment(self.assignment)

    def _repr_html_(self) -> str:
        """Return a summary and the first rows of the answer as HTML, for notebooks."""
        from ..models.tables import pairs, table

        known = (
            ("status", self.status),
            ("objective", self.objective),
            ("bound", self.bound),
            ("gap", self.gap),
            ("seconds", self.seconds),
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


def _parts(value: Value | Bound | None, several: int) -> tuple[float | None, ...]:
    return value if isinstance(value, tuple) else (value,) * several
