"""The Gantt chart and the table of any answer: a schedule of any kind of problem, or an assignment of a model."""

from __future__ import annotations

from typing import Any

from ...errors import WrongArgument
from ..counts import how_many
from ..kind import known, resolve
from ..language import Assignment
from ..problem import Problem, Schedule
from .gantt import Bar, Gantt, Row

Cell = Any  # of a table: text, a number, None, or a dictionary


def gantt_of_schedule(problem: Problem, schedule: Schedule) -> Gantt:
    """Return the Gantt chart of a schedule, made by the function that the kind of problem names.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule

    Returns
    -------
    Gantt

    Raises
    ------
    TypeError
        If the kind of problem has no Gantt chart.
    """
    kind = known(problem.kind)
    if kind is None or kind.gantt is None:
        raise WrongArgument(
            f"problems of kind {problem.kind!r} have no Gantt chart; a kind has one if its ProblemKind names a function "
            "(problem, schedule) -> Gantt in the field gantt"
        )
    made: Gantt = resolve(kind.gantt)(problem, schedule)
    return made


def rows_of_schedule(problem: Problem | None, schedule: Schedule) -> list[dict[str, Cell]]:
    """Return the rows of the table of a schedule, with data of the problem if its kind names a function for that.

    Parameters
    ----------
    problem : Problem or None
        The problem, if it is known.
    schedule : Schedule

    Returns
    -------
    list of dict
        A dictionary per row; all have the same keys.
    """
    kind = None if problem is None else known(problem.kind)
    if kind is None or kind.rows is None:
        return schedule.rows()
    made: list[dict[str, Cell]] = resolve(kind.rows)(problem, schedule)
    return made


def columns_of_schedule(problem: Problem | None) -> tuple[str, ...]:
    """Return the columns of the table of the schedules of a problem."""
    kind = None if problem is None else known(problem.kind)
    return Schedule.COLUMNS if kind is None else kind.columns


def gantt_of_assignment(answer: Assignment) -> Gantt:
    """Return the Gantt chart of an assignment: a row for each present interval.

    Examples
    --------
    >>> from schedlab.models.language import Model
    >>> m = Model("two"); a, b = m.interval("a", size=3), m.interval("b", size=2, optional=True)
    >>> chart = gantt_of_assignment(Assignment(m, {a: 4, b: None}))
    >>> [(bar.label, bar.start, bar.end) for bar in chart.bars], chart.title
    ([('a', 4, 7)], 'two: intervals (1 absent one is not drawn)')
    """
    values = [(v, answer[v]) for v in answer.model.intervals]
    there = [(v, x.start, x.end) for v, x in values if x.start is not None and x.end is not None]
    bars = tuple(Bar(k, start, end, v.name) for k, (v, start, end) in enumerate(there))
    absent = len(values) - len(there)
    title = f"{answer.model.name}: intervals" + _without(absent)
    return Gantt(tuple(Row(v.name) for v, *_ in there), bars, title=title, start=0, seconds=False, legend=False)


def _without(absent: int) -> str:
    if not absent:
        return ""
    return f" ({how_many(absent, 'absent one', ',', verb='are')} not drawn)"


def rows_of_assignment(answer: Assignment) -> list[dict[str, Cell]]:
    """Return a row for each interval: name, present, start, end (None for an absent one)."""
    rows = []
    for v in answer.model.intervals:
        x = answer[v]
        rows.append({"name": v.name, "present": x.present, "start": x.start, "end": x.end})
    return rows
