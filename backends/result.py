"""The result of a solve, as its run records it: the answer, objective and bound, the trace, and the gaps between them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ..errors import NoSolution, WrongArgument
from ..models.gantt import (
    columns_of_schedule,
    gantt_of_assignment,
    gantt_of_schedule,
    rows_of_assignment,
    rows_of_schedule,
)
from ..models.language import Assignment, Integer, Interval, IntervalValue, Linear, Model, Violation
from ..models.language.model import latest_without_end
from ..models.language.semantics import offset_of, origin_of
from ..models.long_calls import Deadline
from ..models.plugins import WrongAnswer, is_false
from ..models.problem import Problem, Schedule, Value
from ..models.tables import frame
from ..models.words import excerpt, one_line, with_short_repr
from .base import Conflict, Exactness, Status, WarmStart, checked_solution

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
        if self.assignment is None:
            return []
        return rows_of_assignment(self.assignment)

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
    if isinstance(value, tuple):
        return value
    return (value,) * several


# --- One entry of the trace of a call: the best objective and bound at a moment, and on demand the solution.

Bound = float | tuple[float | None, ...]
"""A bound or a gap: one number, or with several objectives a tuple with None for what is unknown."""
Offset = float | tuple[float, ...]
"""The constant offset of an objective, which no gap contains; with several objectives one for each."""


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
    offset: Offset = 0.0

    @property
    def gap(self) -> Bound | None:
        """Relative gap between objective and bound, without the constant offset; None if one of them is unknown."""
        return gap_of(self.objective, self.bound, self.offset)

    def less(self, offset: Offset) -> Incumbent:
        """Return the same incumbent, whose gap is formed without a constant offset of the objective."""
        changed = Incumbent(*self)
        changed._schedule = self._schedule
        changed._assignment = self._assignment
        changed.placement = self.placement
        changed.offset = offset
        return changed

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
        incumbent = Incumbent(*self)
        incumbent._schedule = schedule
        incumbent._assignment = assignment
        incumbent.placement = placement
        incumbent.offset = self.offset
        return incumbent

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
        if self._schedule is None:
            return None
        return self._schedule()

    def assignment(self) -> Assignment | None:
        """Return the values of the variables of the model with this objective; call it within the callback.

        Returns
        -------
        Assignment or None
            None if there is no solution, or if the method has no model, as most heuristics.
        """
        if self._assignment is None:
            return None
        return self._assignment()


def gap_of(objective: Value | None, bound: Bound | None, offset: Offset = 0.0) -> Bound | None:
    """Return the relative gap, one for each objective, without a constant offset of the objective; None if unknown."""
    if isinstance(objective, tuple):
        if isinstance(bound, tuple):
            bounds = bound
        else:
            bounds = (None,) * len(objective)
        if isinstance(offset, tuple):
            offsets = offset[: len(objective)]
        else:
            offsets = (offset,) * len(objective)
        return tuple(relative_gap(o, b, less) for o, b, less in zip(objective, bounds, offsets, strict=True))
    if isinstance(bound, tuple):
        return None
    return relative_gap(objective, bound, 0.0 if isinstance(offset, tuple) else offset)


# --- The recorder of a run: the best answer with its objective computed again, the best bound, and the trace of both.

OnIncumbent = Callable[[Incumbent], Any]
Judge = Callable[[Assignment], float | None]


class Recorder:
    """The Watch of a run: computes every objective again, keeps the best answer and the trace.

    Parameters
    ----------
    model : Model
        The model that is solved: one stage of ``origin``.
    origin : Model
        The model of the user, with all its objectives.
    exactness : Exactness
        The relation between the native model and ``model``.
    deadline : Deadline
        Of the call: the seconds of incumbents count from its begin.
    on_incumbent : callable or None
        Called with each Incumbent; returning False stops the run, as soon as there is an answer.
    judge : callable or None
        Returns the value of an assignment, or None if it has none; None: the objective of ``model``.
    settled : sequence of float
        Bounds of the objectives before this one.
    gap : float or None
        Relative gap between the best answer and the bound at which the run stops.
    exact : bool
        Whether an optimum of whole numbers is proven only by a bound that excludes every better one: later objectives
        depend on it, or a relative gap would allow hours.
    """

    def __init__(
        self,
        model: Model,
        origin: Model,
        exactness: Exactness,
        deadline: Deadline,
        on_incumbent: OnIncumbent | None,
        judge: Judge | None,
        settled: Sequence[float] = (),
        gap: float | None = None,
        exact: bool = False,
    ) -> None:
        if model.objectives:
            self.offset = float(offset_of(model.objectives[0], origin_of(model)))
        else:
            self.offset = 0.0
        self.gap = gap
        self.gap_reached = False
        self.settled = tuple(settled)
        self.model = model
        self.origin = origin
        self.judge = judge or self._value
        self.relaxation = exactness.kind == "relaxation"
        self.proves_bounds = exactness.kind != "restriction"
        self.deadline = deadline
        self.on_incumbent = on_incumbent
        self.best: Assignment | None = None
        self.relaxed: Assignment | None = None
        self.objective: float | None = None
        self.known_bound: float | None = None
        self.whole = all(e.integral for e in model.objectives[:1])
        self.exact = exact and self.whole
        self.trace: list[Incumbent] = []
        self.answers = 0  # better answers so far
        self.refused = False  # on_incumbent has returned False
        self.stopped = False  # on_incumbent has ended the run
        self.failure: Exception | None = None
        self._lock = threading.Lock()

    @property
    def sign(self) -> int:
        """1 if the model is minimized, -1 if it is maximized."""
        if self.model.sense == "minimize":
            return 1
        return -1

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Record a solution; return whether the solver should go on."""
        with self._lock:
            if self.stopped:  # a solver may report more before it stops
                return False
            try:
                checked_solution(assignment, bound, self.model)
            except WrongAnswer as e:  # raised again by the driver
                self.failure, self.stopped = e, True
                return False
            self._tighten(bound)
            assignment.model = self.origin
            if self.relaxation and self.model.check(assignment):
                self.relaxed = assignment
                if self.judge == self._value:
                    return self._report(force=False)
            try:
                value = self.judge(assignment)
            except Exception as e:  # raised again by the driver: the solver's thread would lose it
                self.failure, self.stopped = e, True
                return False
            if value is None and self.model.objectives:
                return self._report(force=False)
            if self.best is not None and (value is None or self.sign * (value - _known(self.objective)) >= 0):
                return self._going()
            self.best, self.objective = assignment, value
            self.answers += 1
            if self.answers & (self.answers - 1) == 0:  # a power of two: the search for such an answer takes time
                self._look_for_no_end(assignment)
            return self._report(force=True)

    def _look_for_no_end(self, assignment: Assignment) -> None:
        """Stop with a late answer if it shows that the objective has no end; the driver says so."""
        later = latest_without_end(self.origin, assignment)
        if later is not None and self.judge == self._value and not self.model.check(later):
            self.best, self.objective, self.stopped = later, self._value(later), True

    def _value(self, assignment: Assignment) -> float | None:
        if self.model.objectives:
            return self.model.value(self.model.objectives[0], assignment)
        return None

    def bound(self, value: float) -> bool:
        """Record a bound; return whether the solver should go on."""
        with self._lock:
            if self._tighten(value):
                return self._report(force=False)
            return self._going()

    def _tighten(self, bound: float | None) -> bool:
        if (
            bound is None
            or math.isinf(bound)
            or math.isnan(bound)
            or not self.proves_bounds
            or not self.model.objectives
        ):
            return False
        if self.whole:
            bound = rounded(bound, self.sign)
        if self.known_bound is None or self.sign * (bound - self.known_bound) > 0:
            self.known_bound = bound
            return True
        return False

    def _report(self, *, force: bool) -> bool:
        """Append to the trace and call ``on_incumbent``, if something changed or if forced."""
        incumbent = Incumbent(self.deadline.elapsed, *self._known()).less(self.offsets)
        if not self.trace or force or self.trace[-1][1:] != incumbent[1:]:
            self.trace.append(incumbent)
            if self.on_incumbent is not None and not self.stopped:
                try:
                    best = self.best
                    self.refused |= is_false(self.on_incumbent(incumbent.giving(assignment=lambda: best)))
                except Exception as e:  # raised again by the driver: the solver's thread would lose it
                    self.failure, self.stopped = e, True
                # a relaxation without a judge has no answers
                answered = best is not None or (self.relaxation and self.judge == self._value)
                self.stopped = self.stopped or (self.refused and answered)
        return self._going()

    def _going(self) -> bool:
        """Return whether the solver should go on: not if ``on_incumbent`` has ended the run or the gap is reached."""
        if self.gap is not None and not self.gap_reached:
            reached = relative_gap(self.objective, self.known_bound, self.offset)
            self.gap_reached = reached is not None and reached <= self.gap and not self.refuted
        return not (self.stopped or self.gap_reached)

    @property
    def offsets(self) -> Offset:
        """The constant offset of the objective; for several objectives one for each."""
        origin = self.origin
        if len(origin.objectives) <= 1:
            return self.offset
        return tuple(float(offset_of(e, origin_of(origin))) for e in origin.objectives)

    def _known(self) -> tuple[Any, Any]:
        """Return the best objective and bound; for several objectives, tuples with a value per objective."""
        origin = self.origin
        if len(origin.objectives) <= 1:
            return self.objective, self.known_bound
        bound = (*self.settled, self.known_bound, *(None,) * len(origin.objectives))[: len(origin.objectives)]
        value = None
        if self.best is not None:
            value = tuple(origin.value(e, self.best) for e in origin.objectives)
        return value, bound if any(b is not None for b in bound) else None

    @property
    def proven(self) -> bool:
        """Whether the best answer is proven optimal, within 1e-6.

        A bound that is equal to the objective only within the absolute tolerance is set to the objective.
        """
        if self.objective is None:
            return self.best is not None
        if self.known_bound is None or self.refuted:
            return False
        if self.exact and self.sign * (self.objective - self.known_bound) > 1 - NOISE:
            return False
        near = close(self.objective, self.known_bound, unit_of(self.model.objectives[0]), self.offset)
        if near and not close(self.objective, self.known_bound, 0.0):
            self.known_bound = float(self.objective)  # else the relative gap would be 1 if the objective is 0
        return near

    @property
    def refuted(self) -> bool:
        """Whether the best answer is better than the bound allows, so that the bound is false."""
        return refutes(self.objective, self.known_bound, self.model.sense)


def _known(value: float | None) -> float:
    if value is None:
        return math.inf
    return value


# --- Objective values and bounds: gaps, when a gap proves an optimum, and when a value refutes a bound.
#
# Two values of an objective are equal within 1e-6 relative to what can still change: its constant offset, such as a time
# since 1970 in each end, is taken off (``offset_of``) where that makes the values smaller. A relative tolerance alone fails
# near 0, where solvers return values such as -1e-6. So there is an absolute tolerance too, in the unit of the objective
# (``unit_of``).


TOLERANCE = 1e-6  # relative, and absolute in multiples of the objective's unit
NOISE = 1e-4  # absolute: how far a solver's floating-point bound on a whole number may exceed the true bound


def size_of(objective: float, bound: float, offset: float = 0.0) -> float:
    """Return the number to which a gap is relative: ``max(|objective|, |bound|)``, without the offset if that is less."""
    return min(max(abs(objective), abs(bound)), max(abs(objective - offset), abs(bound - offset)))


def relative_gap(objective: float | None, bound: float | None, offset: float = 0.0) -> float | None:
    """Return ``|objective - bound| / max(|objective|, |bound|)``, both without a constant offset if that is greater.

    The gap is 0 if the difference is below 1e-9, and None if objective or bound is unknown.

    >>> relative_gap(20.0, 18.0), relative_gap(1020.0, 1018.0, offset=1000.0)
    (0.1, 0.1)
    """
    if objective is None or bound is None or math.isinf(bound):
        return None
    difference = abs(objective - bound)
    if difference < 1e-9:
        return 0.0
    return difference / size_of(objective, bound, offset)


def unit_of(objective: Linear) -> float:
    """Return the least absolute coefficient of an objective, at most 1.

    >>> from schedlab import Model
    >>> m = Model("m"); x = m.integer("x", 0, 9); unit_of(0.25 * x + 3)
    0.25
    """
    return min([1.0, *(abs(float(c)) for c in objective.terms.values() if c)])


def close(objective: float, bound: float, unit: float = 1.0, offset: float = 0.0) -> bool:
    """Return whether the gap between an objective value and a bound is within the tolerances.

    >>> close(0, -1e-6), close(1e6, 1e6 - 2), close(1e9 + 50, 1e9 + 40), close(1e9 + 50, 1e9 + 40, offset=1e9)
    (True, False, True, False)
    """
    # 1 + 1e-9: a difference of 1e-6 between two floats can exceed 1e-6 by rounding
    return abs(objective - bound) <= TOLERANCE * max(unit, size_of(objective, bound, offset)) * (1 + 1e-9)


def rounded(bound: float, sign: int) -> float:
    """Round the bound on a whole number: up if ``sign`` is 1 (minimize), down if it is -1 (maximize).

    If a bound exceeds a whole number by no more than the error of floating-point arithmetic, it becomes that number. A
    bound so large that this error is above 0.1 is returned unchanged.

    >>> rounded(3.2, 1), rounded(3.00001, 1), rounded(-0.000001, 1), rounded(3.2, -1)
    (4.0, 3.0, 0.0, 3.0)
    """
    noise = max(NOISE, TOLERANCE * abs(bound))
    if noise > 0.1:
        return bound
    return sign * float(math.ceil(sign * bound - noise)) + 0.0  # + 0.0: -0.0 is printed with its sign


def refutes(value: Any, bound: Any, sense: str | None) -> bool:
    """Return whether an objective value is better than its bound allows.

    Ordered objectives are compared one after another.

    Parameters
    ----------
    value, bound : number or sequence of numbers
        For ordered objectives one value per objective. A bound of None is unknown.
    sense : {"minimize", "maximize", None}
        None means "minimize".

    Returns
    -------
    bool

    Examples
    --------
    >>> refutes(9, 10, "minimize"), refutes(9, 10, "maximize"), refutes((0, 5), (0, 6), "minimize")
    (True, False, True)
    """
    if isinstance(value, (list, tuple)):
        for v, b in zip(value, bound or (), strict=False):
            if b is None or refutes(b, v, sense):  # unknown, or worse than the bound: later objectives do not count
                return False
            if refutes(v, b, sense):
                return True
        return False
    if value is None or bound is None:
        return False
    sign = 1
    if sense == "maximize":
        sign = -1
    return bool(sign * (bound - value) > 0 and not close(value, bound))


def refutation(bound: Any, value: Any) -> str:
    """Return the error message for a bound that a verified solution refutes."""
    return f"the bound {bound} is false: a verified solution has the objective {value}"
