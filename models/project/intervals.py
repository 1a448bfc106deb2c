"""The intervals of the formulation ``modes``: one per task, per mode, and per task that keeps its resources while it waits."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import language as sl
from ..language import Assignment, Interval, Model
from ..problem import Schedule
from .data import Mode, Resource, Task
from .problem import Project
from .verification import done_tasks, suspending


@dataclass
class Tasks:
    """The intervals of a project.

    Parameters
    ----------
    project : Project
        The project.
    model : Model
        The model.
    horizon : int
        The greatest makespan. Modes with which it would be exceeded are left out.
    of_task : dict
        The interval of each task, by name.
    of_mode : dict
        The (mode, interval) pairs of each task; for a task with one mode, the interval of the task itself.
    holds : dict
        For the tasks that block their resources, an interval per mode from its start to the start of the next task.
    """

    project: Project
    model: Model
    horizon: int
    of_task: dict[str, Interval] = field(default_factory=dict)
    of_mode: dict[str, list[tuple[Mode, Interval]]] = field(default_factory=dict)
    holds: dict[str, list[Interval]] = field(default_factory=dict)

    def add(self, task: Task) -> None:
        """Declare the intervals of one task, without the modes that exceed a capacity or cannot end in time."""
        fitting = self.project.possible(task)
        possible = [m for m in fitting if self._lasts(task, m)] or list(fitting)
        sizes = [self._sizes(m) for m in possible]
        least = min(low for low, _ in sizes)
        window = self._window(task, least)
        size = (least, max(high for _, high in sizes))
        whole = self.model.interval(task.name, size=size, start=window, optional=task.optional)
        self.of_task[task.name] = whole
        if task.deadline is not None and (size[0] < size[1] or window[1] + least > task.deadline):
            self.model.add(whole.end <= task.deadline, f"deadline of {task.name}")
        if len(possible) == 1:
            self.of_mode[task.name] = [(possible[0], whole)]
            return
        options = []
        for mode, length in zip(possible, sizes, strict=True):
            window = self._window(task, mode.duration)
            name = f"{task.name} in mode {mode.name}"
            options.append((mode, self.model.interval(name, length, window, optional=True)))
        self.of_mode[task.name] = options
        self.model.add(sl.alternative(whole, [o for _, o in options]), f"mode of {task.name}")

    def _sizes(self, mode: Mode) -> tuple[int, int]:
        """Return the least and the greatest time from start to end in a mode, which breaks may suspend."""
        breaks = suspending(self.project.resources, mode)
        return mode.duration, mode.duration + sum(over - begin for begin, over in breaks)

    def _window(self, task: Task, duration: int) -> tuple[int, int]:
        """Return the earliest and the latest start; it is not empty unless the horizon is too short."""
        first, last = self.project.start_window(task, duration, self.horizon)
        if task.deadline is not None and task.deadline - duration >= first:
            last = min(last, task.deadline - duration)
        return first, last

    def _lasts(self, task: Task, mode: Mode) -> bool:
        """Return whether a mode can end by the horizon and by the deadline."""
        first, last = self.project.start_window(task, mode.duration, self.horizon)
        return first <= last and (task.deadline is None or first + mode.duration <= task.deadline)

    def add_holds(self) -> None:
        """Declare the intervals in which tasks keep their resources until the next task starts."""
        for before, after in self.project.blocking:
            following = self.of_task[after]
            self.holds[before] = []
            for mode, option in self.of_mode[before]:
                name = f"{option.name} until {after}"
                size = (mode.duration, self.horizon)
                start = (option.start_lo, option.start_hi)
                hold = self.model.interval(name, size, start, optional=option.optional)
                if option.optional:
                    self.model.add(hold.presence == option.presence, f"{name} is there")
                self.model.add(hold.start == option.start, f"{name} starts")
                self.model.add(sl.end_before_start(hold, following), f"{name} ends by then")
                self.model.add(sl.start_before_end(following, hold), f"{name} ends not earlier")
                self.holds[before].append(hold)

    def on(self, resource: Resource, task: str, lasting: bool = False) -> list[tuple[Interval, int]]:
        """Return the intervals in which a task occupies a resource, with its demands; ``lasting``: of modes that take time."""
        held = self.holds.get(task) if resource.renewable else None
        rows = []
        for k, (mode, option) in enumerate(self.of_mode[task]):
            amount = mode.demands.get(resource.name, 0)
            if amount and (mode.duration or not lasting):
                rows.append((option if held is None else held[k], amount))
        return rows

    def read(self, assignment: Assignment) -> Schedule:
        """Return the starts and modes of an assignment."""
        schedule = Schedule({}, {})
        for name, options in self.of_mode.items():
            whole = self.of_task[name].index
            if assignment.present[whole]:
                schedule.start[name] = assignment.start[whole]
                schedule.nodes[name] = {m.name: 1 for m, o in options if assignment.present[o.index]}
        return schedule

    def write(self, schedule: Schedule) -> Assignment:
        """Return the assignment of a schedule; the mode of a task with one mode may be omitted."""
        a = Assignment(self.model)
        done = done_tasks(self.project, schedule)
        for name, options in self.of_mode.items():
            if self.of_task[name].optional and name not in schedule.start:
                continue
            row = done.get(name)
            if row is None:  # it has no mode; without a start it is a KeyError
                a.set(self.of_task[name], schedule.start[name], schedule.start[name])
                continue
            a.set(self.of_task[name], row.start, row.end)
            for k, (mode, option) in enumerate(options):
                if mode == row.mode:
                    a.set(option, row.start, row.end)
                    if name in self.holds:
                        a.set(self.holds[name][k], row.start, row.left)
        return a
