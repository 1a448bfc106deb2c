"""A project put into the language: intervals for tasks and modes, within the windows that the longest paths leave.

task         one interval; with several modes an optional interval per mode and an ``alternative``
renewable    ``no_overlap`` where the capacity and all demands are 1 (machines), else ``cumulative``
other        sum of the demands of the chosen modes <= capacity
precedence   ``end_before_start`` with its delay
objective    the greatest end of the tasks that have no successor
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import language as sl
from ..language import Assignment, Interval, Model
from ..problem import Encoding, Schedule
from .cliques import exclusive_sets
from .tasks import Mode, Resource, Task

if TYPE_CHECKING:
    from .problem import Project


@dataclass
class Tasks:
    """The intervals of a project: one per task, and per task those of its modes (of a single mode: the task's own)."""

    project: Project
    model: Model
    of_task: dict[str, Interval] = field(default_factory=dict)
    of_mode: dict[str, list[tuple[Mode, Interval]]] = field(default_factory=dict)

    def add(self, task: Task) -> None:
        """Declare the intervals of one task; modes that ask for more than there is are left out."""
        possible = self.project.possible(task)
        sizes = [m.duration for m in possible]
        window = self.project.start_window(task, min(sizes))
        whole = self.model.interval(task.name, size=(min(sizes), max(sizes)), start=window)
        self.of_task[task.name] = whole
        if len(possible) == 1:
            self.of_mode[task.name] = [(possible[0], whole)]
            return
        options = []
        for mode in possible:
            window = self.project.start_window(task, mode.duration)
            name = f"{task.name} in mode {mode.name}"
            options.append((mode, self.model.interval(name, mode.duration, window, optional=True)))
        self.of_mode[task.name] = options
        self.model.add(sl.alternative(whole, [o for _, o in options]), f"mode of {task.name}")

    def read(self, assignment: Assignment) -> Schedule:
        """Starts and modes of an assignment."""
        schedule = Schedule({}, {})
        for name, options in self.of_mode.items():
            schedule.start[name] = assignment.start[self.of_task[name].index]
            schedule.nodes[name] = {m.name: 1 for m, o in options if assignment.present[o.index]}
        return schedule

    def write(self, schedule: Schedule) -> Assignment:
        """An assignment from a schedule; of a task with one mode the mode need not be given."""
        a = Assignment(self.model)
        for name, options in self.of_mode.items():
            start = schedule.start[name]
            for mode, option in options:
                if len(options) == 1 or schedule.nodes.get(name, {}).get(mode.name):
                    a.set(option, start, start + mode.duration)
                    a.set(self.of_task[name], start, start + mode.duration)
        return a


def modes(project: Project) -> Encoding:
    """An interval per task, one per mode where there are several (exact)."""
    tasks = Tasks(project, Model(f"project of {len(project.tasks)} tasks", horizon=project.horizon))
    for task in project.tasks:
        tasks.add(task)
    makespan = _makespan(tasks)
    for resource in project.resources:
        _limit(tasks, resource)
        if resource.renewable and resource.capacity:
            _load(tasks, resource, makespan)
    for k, names in enumerate(exclusive_sets(project), 1):
        tasks.model.add(sl.no_overlap([tasks.of_task[name] for name in names]), f"exclusive tasks {k}")
    for before, after, edge in project.graph.edges(data=True):
        link = sl.end_before_start(tasks.of_task[before], tasks.of_task[after], edge["delay"])
        tasks.model.add(link, f"{before} -> {after}")
    tasks.model.minimize(makespan)
    return Encoding(tasks.model, tasks.read, tasks.write)


def _makespan(tasks: Tasks) -> sl.Linear:
    """The greatest end; a task that another must follow (its delay may be negative) need not be looked at."""
    succ = tasks.project.graph.succ
    last = [v.end for name, v in tasks.of_task.items() if all(e["delay"] < 0 for e in succ[name].values())]
    return sl.max(last) if last else sl.sum([])


def _load(tasks: Tasks, resource: Resource, makespan: sl.Linear) -> None:
    """Where modes can be chosen: the work on a resource fits into the time between the heads and the tails of its tasks."""
    project = tasks.project
    used = {n: [(o, m) for m, o in options if m.demands.get(resource.name)] for n, options in tasks.of_mode.items()}
    users = [name for name, options in used.items() if options]
    if all(len(tasks.of_mode[name]) == 1 for name in users):
        return
    rows = [(o, m.demands[resource.name] * m.duration) for name in users for o, m in used[name]]
    work = sl.sum([o.presence for o, _ in rows], weights=[amount for _, amount in rows])
    idle = min(project.heads[n] for n in users) + min(project.tails[n] for n in users)
    tasks.model.add(work + resource.capacity * idle <= resource.capacity * makespan, f"load of {resource.name}")


def _limit(tasks: Tasks, resource: Resource) -> None:
    """The constraint of one resource, if its capacity could be exceeded at all."""
    amounts = {
        name: [(o, m.demands.get(resource.name, 0)) for m, o in options] for name, options in tasks.of_mode.items()
    }
    if sum(max(d for _, d in options) for options in amounts.values()) <= resource.capacity:
        return
    rows = [(o, d) for options in amounts.values() for o, d in options if d]
    if not resource.renewable:
        used = sl.sum([o.presence for o, _ in rows], weights=[d for _, d in rows])
        tasks.model.add(used <= resource.capacity, resource.name)
    elif resource.capacity == 1:
        tasks.model.add(sl.no_overlap([o for o, _ in rows]), resource.name)
    else:
        tasks.model.add(sl.cumulative([o for o, _ in rows], [d for _, d in rows], resource.capacity), resource.name)
