"""How a project is shown: the Gantt chart and the table of a schedule, and the elements of which an explanation speaks.

The elements are tasks, their release dates and deadlines, precedences, resources. Without its element, a task is not
there, and none of its precedences; a precedence does not hold; and a resource has as much as all tasks together need in
any of their modes, without breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..elements import ConstraintElements, Element, Elements, named, plain_sentence
from ..gantt import Bar, Gantt, Piece, Row, pack
from ..problem import Schedule
from ..words import listed
from .objectives import MAKESPAN
from .problem import Link, Project, Resource, Task
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


# --- The elements of which an explanation speaks.


def elements(problem: Project) -> Elements:
    """Return the elements of a project: the constraints of its formulation if it has setups or resources without idle time.

    Without a task between two others, the setup between these may be longer, and a resource may be idle.
    """
    if any(r.setups or r.no_idle for r in problem.resources):
        return ConstraintElements(problem.formulations["modes"]().model)
    return ProjectElements(problem)


class ProjectElements(Elements):
    """The elements of a project without setups and resources without idle time.

    Parameters
    ----------
    problem : Project
        The project.
    """

    def __init__(self, problem: Project) -> None:
        self.problem = problem
        penalized = any(t.penalty for t in problem.tasks)
        limited = f"{MAKESPAN} plus the penalties of tasks left out" if penalized else MAKESPAN
        self.objectives = (limited,) if problem.objective == MAKESPAN else ()
        self.links = _names(problem.precedences)
        most = {t.name: max(m.duration for m in t.modes) for t in problem.tasks}
        self.all = (
            *(Element("resource", r.name, _capacity(r)) for r in sorted(problem.resources, key=lambda r: r.renewable)),
            *(Element("task", t.name, _task(t)) for t in sorted(problem.tasks, key=lambda t: -most[t.name])),
            *(_deadline(t) for t in problem.tasks if t.deadline is not None),
            *(
                Element("release", t.name, f"{t.name} starts at {t.release} or later")
                for t in problem.tasks
                if t.release
            ),
            *(Element("precedence", name, _link(link)) for name, link in self.links.items()),
        )

    def part(self, kept: Collection[Element]) -> Project:
        """Return the project with the kept elements alone."""
        names = {(e.kind, e.name) for e in kept}
        p = self.problem
        tasks = [_task_part(t, names) for t in p.tasks if ("task", t.name) in names]
        there = {t.name for t in tasks}
        links = [link for name, link in self.links.items() if ("precedence", name) in names]
        links = [link for link in links if link[0] in there and link[1] in there]
        pairs = {link[:2] for link in links}
        resources = [r if ("resource", r.name) in names else self._enough(r) for r in p.resources]
        return Project(
            tasks,
            resources,
            links,
            no_wait=[pair for pair in p.no_wait if pair in pairs],
            blocking=[pair for pair in p.blocking if pair in pairs],
            permutation=[name for name in p.permutation if ("resource", name) in names],
        )

    def _enough(self, resource: Resource) -> Resource:
        """Return the resource with as much as all tasks together can need."""
        need = (max(m.demands.get(resource.name, 0) for m in t.modes) for t in self.problem.tasks)
        return Resource(resource.name, max(resource.capacity, sum(need)), resource.renewable)

    def refuted(self, part: Project) -> bool:
        """Return whether the least demands of the tasks exceed a resource that is not renewable."""
        return any(_least(part, r) > r.capacity for r in part.resources if not r.renewable)

    def sentence(self, found: Sequence[Element]) -> str:
        """Return which tasks need too much of a resource, follow one another, or cannot be done by the limit."""
        part = self.part(found)
        names = named(found, "resource")
        of_conflict = [r for r in part.resources if r.name in names]
        if len(of_conflict) == 1 and not of_conflict[0].renewable and {e.kind for e in found} == {"resource", "task"}:
            resource = of_conflict[0]
            need = _least(part, resource)
            tasks = listed([t.name for t in part.tasks])
            verb = "needs" if len(part.tasks) == 1 else "need"
            if need > resource.capacity:
                return f"{tasks} {verb} at least {need} of {resource.name} in all; the project has {resource.capacity}"
        limits = [e.text for e in found if e.kind == "limit"]
        if not limits or not part.tasks or {"deadline", "release"} & {e.kind for e in found} or part.features:
            return plain_sentence(found)
        tasks = listed([t.name for t in part.tasks])
        if {e.kind for e in found} <= {"task", "precedence", "limit"} and len(part.precedences) == len(
            part.tasks
        ) - 1:  # without one of them the rest is feasible: a path
            took = sum(t.shortest for t in part.tasks) + sum(delay for *_, delay in part.precedences)
            return f"{tasks} follow one another and take {took} in all, but {listed(limits)}"
        having = [f"{r.capacity} of {r.name}" for r in of_conflict]
        order = ["their precedences"] if part.precedences else []
        return f"{tasks} cannot be done with {listed([*having, *order])} if {listed(limits)}"


def _least(part: Project, resource: Resource) -> int:
    """Return the least amount of a resource that all tasks need together, each in its cheapest possible mode."""
    return sum(min(m.demands.get(resource.name, 0) for m in part.possible(t)) for t in part.tasks)


def _names(links: Sequence[Link]) -> dict[str, Link]:
    """Return the precedences by distinct names; equal pairs of tasks are numbered."""
    names: dict[str, Link] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for link in links:
        seen[link[:2]] += 1
        number = seen[link[:2]]
        names[f"{link[0]} -> {link[1]}" + (f" ({number})" if number > 1 else "")] = link
    return names


def _task_part(task: Task, names: Collection[tuple[str, str]]) -> Task:
    """Return a task without its dates whose elements are removed."""
    release = task.release if ("release", task.name) in names else 0
    deadline = task.deadline if ("deadline", task.name) in names else None
    return replace(task, release=release, deadline=deadline)


def _deadline(task: Task) -> Element:
    return Element("deadline", task.name, f"{task.name} ends by {task.deadline}")


def _capacity(r: Resource) -> str:
    return f"the project has {r.capacity} of {r.name} {'at any time' if r.renewable else 'in all'}"


def _task(t: Task) -> str:
    modes = []
    for m in t.modes:
        amounts = [f"{n} of {r}" for r, n in m.demands.items() if n]
        mode = f"in mode {m.name} " if len(t.modes) > 1 else ""
        modes.append(f"{mode}takes {m.duration}" + (f" with {listed(amounts)}" if amounts else ""))
    return f"{t.name} {' or '.join(modes)}"


def _link(link: Link) -> str:
    before, after, delay = link
    if delay < 0:
        return f"{after} starts no earlier than {-delay} before the end of {before}"
    return f"{after} starts after the end of {before}" + (f", {delay} later at the earliest" if delay else "")
