"""The formulation ``modes`` of a project (exact): intervals for tasks and modes.

Data: task i has modes m with duration ``d[i,m]`` and demand ``q[i,m,r]`` of resource r, which has the capacity
``C[r]``. Modes whose demand exceeds a capacity are left out. ``H[i]`` is the earliest start of task i, ``T[i]`` the
least time from its end to the end of the project (longest paths), and ``Z`` the horizon.

Variables: an interval ``v[i]`` per task; if it has several modes, an optional interval ``o[i,m]`` of size ``d[i,m]``
with start in [H[i], Z - T[i] - d[i,m]] per mode; with one mode, ``o[i,m]`` is ``v[i]`` itself::

    minimize  max_i v[i].end
    alternative(v[i], {o[i,m] for all m})                                  for each task i with several modes
    cumulative(o[i,m], demand q[i,m,r]) <= C[r]                            for each renewable r
    sum_i,m q[i,m,r] * presence(o[i,m]) <= C[r]                            for each other r
    v[i].end + delay <= v[k].start                                         for each precedence i -> k

For ``C[r] = 1`` the cumulative is a ``no_overlap``. Redundant constraints::

    no_overlap(v[i], i in S)                                               for each set S of ``exclusive_sets``
    sum_i,m q[i,m,r] * d[i,m] * presence(o[i,m])
        <= C[r] * (makespan - min_i H[i] - min_i T[i])                     for each renewable r, over the tasks i that
                                                                           use r, if one of them has several modes
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """The intervals of a project.

    Parameters
    ----------
    project : Project
        The project.
    model : Model
        The model.
    of_task : dict
        The interval of each task, by name.
    of_mode : dict
        The (mode, interval) pairs of each task; for a task with one mode, the interval of the task itself.
    horizon : int
        The greatest makespan. Modes with which it would be exceeded are left out.
    """

    project: Project
    model: Model
    horizon: int
    of_task: dict[str, Interval] = field(default_factory=dict)
    of_mode: dict[str, list[tuple[Mode, Interval]]] = field(default_factory=dict)

    def add(self, task: Task) -> None:
        """Declare the intervals of one task, without the modes that exceed a capacity."""
        possible = [m for m in self.project.possible(task) if _lasts(self._window(task, m.duration))]
        sizes = [m.duration for m in possible]
        window = self._window(task, min(sizes))
        whole = self.model.interval(task.name, size=(min(sizes), max(sizes)), start=window)
        self.of_task[task.name] = whole
        if len(possible) == 1:
            self.of_mode[task.name] = [(possible[0], whole)]
            return
        options = []
        for mode in possible:
            window = self._window(task, mode.duration)
            name = f"{task.name} in mode {mode.name}"
            options.append((mode, self.model.interval(name, mode.duration, window, optional=True)))
        self.of_mode[task.name] = options
        self.model.add(sl.alternative(whole, [o for _, o in options]), f"mode of {task.name}")

    def _window(self, task: Task, duration: int) -> tuple[int, int]:
        return self.project.start_window(task, duration, self.horizon)

    def read(self, assignment: Assignment) -> Schedule:
        """Return the starts and modes of an assignment."""
        schedule = Schedule({}, {})
        for name, options in self.of_mode.items():
            schedule.start[name] = assignment.start[self.of_task[name].index]
            schedule.nodes[name] = {m.name: 1 for m, o in options if assignment.present[o.index]}
        return schedule

    def write(self, schedule: Schedule) -> Assignment:
        """Return the assignment of a schedule; the mode of a task with one mode may be omitted."""
        a = Assignment(self.model)
        for name, options in self.of_mode.items():
            start = schedule.start[name]
            for mode, option in options:
                if len(options) == 1 or schedule.nodes.get(name, {}).get(mode.name):
                    a.set(option, start, start + mode.duration)
                    a.set(self.of_task[name], start, start + mode.duration)
        return a


def modes(project: Project, horizon: int | None = None, exclusive: Iterable[Sequence[str]] | None = None) -> Encoding:
    """Make the formulation with an interval per task, and one per mode for tasks with several modes.

    Parameters
    ----------
    project : Project
        The project.
    horizon : int or None
        The greatest makespan, not less than the longest path with the shortest modes; None: ``project.horizon``.
    exclusive : iterable of sequences of str or None
        Names of tasks that exclude each other; None: ``exclusive_sets``.
    """
    tasks = intervals(project, horizon, exclusive)
    return Encoding(tasks.model, tasks.read, tasks.write)


def intervals(project: Project, horizon: int | None = None, exclusive: Iterable[Sequence[str]] | None = None) -> Tasks:
    """Return the intervals and the model of the formulation ``modes``, with the arguments of ``modes``."""
    most = project.horizon if horizon is None else horizon
    tasks = Tasks(project, Model(f"project of {len(project.tasks)} tasks", horizon=most), most)
    for task in project.tasks:
        tasks.add(task)
    makespan = _makespan(tasks)
    for resource in project.resources:
        _limit(tasks, resource)
        if resource.renewable and resource.capacity:
            _load(tasks, resource, makespan)
    for k, names in enumerate(exclusive_sets(project) if exclusive is None else exclusive, 1):
        tasks.model.add(sl.no_overlap([tasks.of_task[name] for name in names]), f"exclusive tasks {k}")
    for before, after, edge in project.graph.edges(data=True):
        link = sl.end_before_start(tasks.of_task[before], tasks.of_task[after], edge["delay"])
        tasks.model.add(link, f"{before} -> {after}")
    tasks.model.minimize(makespan)
    return tasks


def _lasts(window: tuple[int, int]) -> bool:
    return window[0] <= window[1]


def _makespan(tasks: Tasks) -> sl.Linear:
    """Return the greatest end. Tasks that another task must follow with a delay >= 0 are left out."""
    succ = tasks.project.graph.succ
    last = [v.end for name, v in tasks.of_task.items() if all(e["delay"] < 0 for e in succ[name].values())]
    return sl.max(last) if last else sl.sum([])


def _load(tasks: Tasks, resource: Resource, makespan: sl.Linear) -> None:
    """Add the redundant constraint: the work on a resource fits between the least head and tail of its tasks."""
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
    """Add the constraint of one resource, unless its capacity cannot be exceeded."""
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
