"""The Gantt chart and the table of a schedule of a project."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from ..display.gantt import Bar, Gantt, Piece, Row, pack
from ..problem import Schedule
from .problem import Project
from .verification import done_tasks

OTHERS = "no resource"
HEIGHT = 3.0  # of the row of a resource, relative to that of a machine, whose capacity is 1


class TaskRow(NamedTuple):
    """A task in a schedule: its mode, start, end, and the demand of each renewable resource that it uses."""

    task: str
    mode: str
    start: int
    end: int
    demands: Mapping[str, int]


class Band(NamedTuple):
    """A resource with the rectangles of the tasks that use it."""

    name: str
    capacity: int
    pieces: list[Piece]


def scheduled(project: Project, schedule: Schedule) -> list[TaskRow]:
    """Return each task that has a start and a mode, with its times."""
    renewable = {r.name for r in project.resources if r.renewable}
    rows = []
    for name, row in done_tasks(project, schedule).items():
        used = {r: amount for r, amount in row.mode.demands.items() if amount and r in renewable}
        rows.append(TaskRow(name, row.mode.name, row.start, row.end, used))
    return rows


def capacities(project: Project) -> dict[str, int]:
    """Return the capacity of each renewable resource."""
    return {r.name: r.capacity for r in project.resources if r.renewable}


def bands(tasks: Iterable[TaskRow], capacity: Mapping[str, int]) -> list[Band]:
    """Return a band per renewable resource, and one for the tasks that use none of them.

    A task occupies as many units of the resource as it demands, next to each other where that is possible. A piece has
    the index of its task.
    """
    known = list(enumerate(tasks))
    drawn = []
    for name, units in capacity.items():
        use = [(k, t.start, t.end, t.demands.get(name, 0)) for k, t in known]
        drawn.append(Band(name, units, list(pack([row for row in use if row[3] and row[2] > row[1]], units))))
    alone = [(k, t.start, t.end, 1) for k, t in known if t.end > t.start and not any(t.demands.values())]
    if alone:
        pieces = list(pack(alone, len(alone)))
        drawn.append(Band(OTHERS, max(p.high for p in pieces), pieces))
    return drawn


def chart(tasks: Iterable[TaskRow], capacity: Mapping[str, int], several: Container[str] = ()) -> Gantt:
    """Return the Gantt chart of tasks: resources are rows, the height of a task is its demand.

    Parameters
    ----------
    tasks : iterable of TaskRow
        The tasks.
    capacity : mapping of str to int
        The capacity of each renewable resource.
    several : container of str
        The tasks with several modes, whose mode is shown.

    Returns
    -------
    Gantt
        Times are in the time unit of the project.
    """
    known = list(tasks)
    shown = bands(known, capacity)
    bars = []
    for k, band in enumerate(shown):
        unit = 1 / max(band.capacity, 1)
        for piece in band.pieces:
            t = known[piece.task]
            label = f"{t.task} ({t.mode})" if t.task in several else t.task
            bars.append(Bar(k, piece.start, piece.end, label, job_of(t.task), unit * piece.low, unit * piece.high))
    return Gantt(
        tuple(Row(_label(b), 1 if b.capacity <= 1 else HEIGHT) for b in shown),
        tuple(bars),
        tuple(dict.fromkeys(job_of(t.task) for t in known)),
        title="tasks on resources (capacity); the height of a task is its demand",
        start=0,
        seconds=False,
        legend=False,
    )


def gantt(project: Project, schedule: Schedule) -> Gantt:
    """Return the Gantt chart of a schedule: resources are rows, a task with several modes shows its mode."""
    several = {t.name for t in project.tasks if len(t.modes) > 1}
    return chart(scheduled(project, schedule), capacities(project), several)


def rows(project: Project, schedule: Schedule) -> list[dict[str, Any]]:
    """Return a row for each task: job (its name), mode, start, end, duration, demands, nodes ({mode: 1}).

    ``demands`` is a dictionary of all resources, ``nodes`` the mode as the schedule has it.
    """
    return [
        {
            "job": name,
            "mode": row.mode.name,
            "start": row.start,
            "end": row.end,
            "duration": row.end - row.start,
            "demands": dict(row.mode.demands),
            "nodes": schedule.nodes.get(name),
        }
        for name, row in done_tasks(project, schedule).items()
    ]


def job_of(task: str) -> str:
    """Return the job of a task of a job shop ("job 1 step 2": "job 1"); other tasks are jobs of their own."""
    return task.partition(" step ")[0]


def _label(band: Band) -> str:
    return band.name if band.name == OTHERS else f"{band.name} ({band.capacity:,})"
