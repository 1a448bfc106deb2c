"""A project as flat arrays for compiled code, and schedules from and to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.problem import Schedule
from ...models.project.problem import Mode, Project
from ..kernels.project_schedules import Tasks
from .serial_sgs import PRIORITY_RULES, network, priorities


class ProjectArrays:
    """A project as flat arrays.

    Parameters
    ----------
    project
        The project.

    Attributes
    ----------
    net
        Its tasks as numbers, without modes that exceed a capacity.
    tasks, back
        The arrays; those of the project in reversed time.
    first_modes
        Index of the first mode of each task, shape (tasks + 1,).

    Examples
    --------
    >>> from schedlab.models import Project, Task
    >>> ProjectArrays(Project([Task.single("a", 3), Task.single("b", 2)], [], [("a", "b")])).tasks.duration.tolist()
    [3, 2]
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.net = network(project)
        self.modes: list[Mode] = [mode for options in self.net.modes for mode in options]
        self.first_modes = _offsets([len(options) for options in self.net.modes])
        self.tasks = self._tasks()
        self.back = self.tasks.mirrored()

    def _tasks(self) -> Tasks:
        net = self.net
        project = self.project
        renewable = [r for r in project.resources if r.renewable]
        others = [r.name for r in project.resources if not r.renewable]
        index = {r.name: k for k, r in enumerate(renewable)}
        rows = [
            [(index[name], d) for name, d in m.demands.items() if d and m.duration and name in index]
            for m in self.modes
        ]
        rank = np.zeros(len(net.names), np.int64)
        rank[list(net.order)] = np.arange(len(net.names))
        need = [[m.demands.get(name, 0) for name in others] for m in self.modes]
        return Tasks(
            *_links(net.before),
            *_links(net.after),
            self.first_modes,
            _ints([m.duration for m in self.modes]),
            _offsets([len(row) for row in rows]),
            _ints([r for row in rows for r, _ in row]),
            _ints([d for row in rows for _, d in row]),
            _ints([r.capacity for r in renewable]),
            np.array(need, np.int64).reshape(len(self.modes), len(others)),
            _ints([project.capacity[name] for name in others]),
            rank,
        )

    @cached_property
    def capacity(self) -> dict[str, int]:
        """The capacity of each renewable resource."""
        return {r.name: r.capacity for r in self.project.resources if r.renewable}

    def rules(self, modes: Sequence[Mode]) -> Floats:
        """Return the values of all priority rules, scaled to 0 to 1, shape (rules, tasks)."""
        values = np.array([priorities(self.net, rule, modes, self.capacity) for rule in PRIORITY_RULES], np.float64)
        if not values.size:
            return values
        low = values.min(axis=1, keepdims=True)
        high = values.max(axis=1, keepdims=True)
        scaled: Floats = (values - low) / np.maximum(high - low, 1e-9)
        return scaled

    def mode_indices(self, modes: Sequence[Mode]) -> Ints:
        """Return the index of the mode of each task, shape (tasks,)."""
        indices = [self.first_modes[k] + self.net.modes[k].index(mode) for k, mode in enumerate(modes)]
        return _ints(indices)

    def schedule(self, starts: Ints, modes: Ints) -> Schedule:
        """Return the schedule of starts and modes, shape (tasks,) each."""
        names = self.net.names
        return Schedule(
            dict(zip(names, starts.tolist(), strict=True)),
            {name: {self.modes[m].name: 1} for name, m in zip(names, modes.tolist(), strict=True)},
        )

    def placed(self, schedule: Schedule) -> tuple[Ints, Ints]:
        """Return the starts and modes of a feasible schedule; the mode of a task with one mode may be omitted."""
        starts = _ints([schedule.start[name] for name in self.net.names])
        modes = self.first_modes[:-1].copy()
        for k, (name, options) in enumerate(zip(self.net.names, self.net.modes, strict=True)):
            given = schedule.nodes.get(name, {})
            modes[k] += next((i for i, mode in enumerate(options) if given.get(mode.name)), 0)
        return starts, modes


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def _offsets(counts: Sequence[int]) -> Ints:
    return _ints([0, *accumulate(counts)])


def _links(links: Sequence[Sequence[tuple[int, int]]]) -> tuple[Ints, Ints, Ints]:
    """Return the offsets, tasks and delays of the precedences of each task."""
    flat = [each for of_task in links for each in of_task]
    return _offsets([len(of_task) for of_task in links]), _ints([k for k, _ in flat]), _ints([d for _, d in flat])
