"""A project as flat arrays for compiled code, and schedules from and to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.problem import Schedule
from ...models.project.data import Resource
from ...models.project.objectives import MAKESPAN, terms
from ...models.project.problem import Mode, Project
from ...models.project.verification import joined
from ..kernels.profile import NEVER
from ..kernels.project_schedules import WITHOUT, Aim, Setups, Tasks
from .serial_sgs import network, priorities, rules_for


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
    aim
        The objective.
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
        self.aim = _aim(project)

    def _tasks(self) -> Tasks:
        net = self.net
        project = self.project
        renewable = [r for r in project.resources if r.renewable]
        others = [r.name for r in project.resources if not r.renewable]
        index = {r.name: k for k, r in enumerate(renewable)}
        points = {r.name for r in renewable if r.setups and r.all_pairs}  # also modes of duration 0 use them
        rows = [
            [
                (index[name], d)
                for name, d in m.demands.items()
                if d and name in index and (m.duration or name in points)
            ]
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
            _ints([t.release for t in net.tasks]),
            *_closed(renewable),
            self._setups(renewable),
        )

    def _setups(self, renewable: Sequence[Resource]) -> Setups:
        """Return the setups of the resources."""
        kinds = list(dict.fromkeys(t.kind for t in self.net.tasks))
        at = {kind: k for k, kind in enumerate(kinds)}
        first = np.full(len(renewable), WITHOUT, np.int64)
        times: list[int] = []
        for k, resource in enumerate(renewable):
            if resource.setups:
                first[k] = len(times)
                times += [resource.setups.get((a, b), 0) for a in kinds for b in kinds]
        family = [at[t.kind] for t, options in zip(self.net.tasks, self.net.modes, strict=True) for _ in options]
        return Setups(first, _ints(times), len(kinds), _ints(family), _ints([int(r.all_pairs) for r in renewable]))

    @cached_property
    def capacity(self) -> dict[str, int]:
        """The capacity of each renewable resource."""
        return {r.name: r.capacity for r in self.project.resources if r.renewable}

    def rules(self, modes: Sequence[Mode]) -> Floats:
        """Return the values of the priority rules for the objective, scaled to 0 to 1, shape (rules, tasks)."""
        rules = rules_for(self.project)
        values = np.array([priorities(self.net, rule, modes, self.capacity) for rule in rules], np.float64)
        if not values.size:
            return values
        known = np.isfinite(values)
        largest = values.max(axis=1, keepdims=True, initial=0.0, where=known)
        values = np.where(known, values, 2 * largest + 1)  # without a due date or a weight: the last ones
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


def _aim(project: Project) -> Aim:
    """Return the objective of a project."""
    factors = terms(project.objective)
    tasks = project.tasks

    def costs(name: str, weights: Sequence[int], dated: bool = True) -> Ints:
        factor = factors.get(name, 0)
        return _ints([0 if dated and t.due is None else factor * w for t, w in zip(tasks, weights, strict=True)])

    weights = [t.weight for t in tasks]
    return Aim(
        factors.get(MAKESPAN, 0),
        factors.get("total-setup", 0),
        costs("flow-time", weights, dated=False),
        costs("weighted-tardiness", weights),
        costs("weighted-earliness", [t.early_weight for t in tasks]),
        costs("late-jobs", weights),
        _ints([NEVER if t.due is None else t.due for t in tasks]),
        _ints([NEVER if t.deadline is None else t.deadline for t in tasks]),
        factors == {MAKESPAN: 1} and all(t.deadline is None for t in tasks),
    )


def _closed(renewable: Sequence[Resource]) -> tuple[Ints, Ints, Ints]:
    """Return the offsets, times and uses of the breaks that forbid tasks, as step functions from 0 on."""
    steps: list[list[tuple[int, int]]] = []
    for resource in renewable:
        use = {0: 0}
        for begin, over in () if resource.suspends else joined(resource.breaks):
            if over > 0:
                use[max(0, begin)] = resource.capacity
                use[over] = 0
        steps.append(sorted(use.items()))
    return _links(steps)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def _offsets(counts: Sequence[int]) -> Ints:
    return _ints([0, *accumulate(counts)])


def _links(links: Sequence[Sequence[tuple[int, int]]]) -> tuple[Ints, Ints, Ints]:
    """Return the offsets, tasks and delays of the precedences of each task."""
    flat = [each for of_task in links for each in of_task]
    return _offsets([len(of_task) for of_task in links]), _ints([k for k, _ in flat]), _ints([d for _, d in flat])
