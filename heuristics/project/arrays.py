"""A project as flat arrays for compiled code, and schedules from and to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.problem import Schedule
from ...models.project.data import Resource
from ...models.project.problem import Mode, Project
from ...models.project.verification import MAKESPAN, joined, suspending, terms
from ..kernels.profile import NEVER
from ..kernels.project_schedules import WITHOUT, Aim, Setups, Tasks
from .serial_sgs import chains, jobs_in_order, network, priorities, rules_for

LEFT_OUT = Mode("left out", 0)  # a mode more of each task that may be left out


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
        options = [
            [*possible, LEFT_OUT] if task.optional else [*possible]
            for task, possible in zip(self.net.tasks, self.net.modes, strict=True)
        ]
        self.modes: list[Mode] = [mode for of_task in options for mode in of_task]
        self.first_modes = _offsets([len(of_task) for of_task in options])
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
        blocks = {before for before, _ in project.blocking}
        keeps = [name in blocks for name, count in self._counts() for _ in range(count)]  # also without a duration
        rows = [
            [
                (index[name], d)
                for name, d in m.demands.items()
                if d and name in index and (m.duration or keep or name in points)
            ]
            for m, keep in zip(self.modes, keeps, strict=True)
        ]
        rank = np.zeros(len(net.names), np.int64)
        rank[list(net.order)] = np.arange(len(net.names))
        need = [[m.demands.get(name, 0) for name in others] for m in self.modes]
        job, order, job_first, job_tasks, orders = _jobs(project)
        return Tasks(
            True if is_simple(project) else None,
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
            *_links([suspending(project.resources, mode) for mode in self.modes]),
            int(any(mode is LEFT_OUT for mode in self.modes)),
            _ints([int(mode is LEFT_OUT) for mode in self.modes]),
            *_chains(project),
            _ints([int(r.no_idle) for r in renewable]),
            job,
            order,
            job_first,
            job_tasks,
            orders,
        )

    def _counts(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the number of modes of each task."""
        return zip(self.net.names, np.diff(self.first_modes).tolist(), strict=True)

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
        kind = {t.name: at[t.kind] for t in self.net.tasks}
        family = [kind[name] for name, count in self._counts() for _ in range(count)]
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
        chosen = [self.modes[m] for m in modes.tolist()]
        rows = [
            (name, start, mode)
            for name, start, mode in zip(self.net.names, starts.tolist(), chosen, strict=True)
            if mode is not LEFT_OUT
        ]
        return Schedule({name: start for name, start, _ in rows}, {name: {mode.name: 1} for name, _, mode in rows})

    def placed(self, schedule: Schedule) -> tuple[Ints, Ints]:
        """Return the starts and modes of a feasible schedule; the mode of a task with one mode may be omitted."""
        tasks = self.net.tasks
        starts = _ints([schedule.start.get(t.name, t.release) if t.optional else schedule.start[t.name] for t in tasks])
        modes = self.first_modes[:-1].copy()
        for k, (task, options) in enumerate(zip(tasks, self.net.modes, strict=True)):
            given = schedule.nodes.get(task.name, {})
            modes[k] += next((i for i, mode in enumerate(options) if given.get(mode.name)), 0)
            if task.name not in schedule.start:
                modes[k] = self.left_out(k)
        return starts, modes

    def left_out(self, task: int) -> int:
        """Return the index of the mode in which a task, which may be left out, is so."""
        return int(self.first_modes[task + 1]) - 1


def is_simple(project: Project) -> bool:
    """Return whether each task of a project must be done, is placed alone, and takes its duration.

    Examples
    --------
    >>> from schedlab.models import Task
    >>> is_simple(Project([Task.single("a", 3, release=2, due=9)], []))
    True
    """
    only = ("release dates", "deadlines", "breaks")
    suspended = any(r.suspends and r.breaks for r in project.resources)
    return set(project.features).issubset(only) and not suspended


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
        _ints([t.penalty or 0 for t in tasks]),
        factors == {MAKESPAN: 1}
        and all(t.deadline is None and not t.optional for t in tasks)
        and not (project.no_wait or project.blocking or project.permutation)
        and not any(r.no_idle for r in project.resources),
    )


def _chains(project: Project) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    """Return the chains of tasks that do not wait for one another, or block: the fields of ``Tasks`` from ``follower`` to ``links``."""
    at = {t.name: k for k, t in enumerate(project.tasks)}
    made = chains(project)
    links = [0] * len(at)
    for after, found in project.before.items():
        head = made.head[at[after]]
        links[head] += sum(made.head[at[name]] != head for name in found)
    return (
        _ints(made.follower),
        _ints(made.leader),
        _ints(made.gap),
        _ints(made.exact),
        _ints(made.held),
        _ints(made.head),
        _ints(links),
    )


def _jobs(project: Project) -> tuple[Ints, Ints, Ints, Ints, int]:
    """Return the tasks on resources on which the jobs have the same order: the last five fields of ``Tasks``."""
    on = jobs_in_order(project)
    number = {name: k for k, name in enumerate(project.permutation)}
    jobs: dict[str, list[int]] = {}
    for k, task in enumerate(project.tasks):
        if task.name in on:
            jobs.setdefault(task.job, []).append(k)
    of = {name: k for k, name in enumerate(jobs)}
    names = [t.name for t in project.tasks]
    return (
        _ints([of[on[name][0]] if name in on else WITHOUT for name in names]),
        _ints([number[on[name][1]] if name in on else WITHOUT for name in names]),
        _offsets([len(of_job) for of_job in jobs.values()]),
        _ints([k for of_job in jobs.values() for k in of_job]),
        len(number),
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
