"""What a project adds to modes, resources and precedences, in its formulation: breaks, setups, blocking, objectives.

With the intervals of ``intervals.Tasks``, where ``o`` is an interval in which a task occupies a resource::

    end_before_start and start(after) - delay <= end(before)          for each precedence without a wait
    forbid_extent(o, breaks)                                          for each resource whose breaks do not suspend
    intensity(o, duration, breaks(...)), forbid_start, forbid_end     for each mode that breaks suspend
    sequence(o, families).no_overlap(setups, direct)                  for each resource with setups; direct: not all_pairs
    sequence(o).no_idle()                                             for each resource without idle time
    same_sequence(tasks on one, tasks on the other)                   for each two resources of the permutation

The objective is the sum of the terms of its text and of the penalties of absent tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from .. import language as sl
from ..language import Interval
from .calendar import joined
from .data import Resource
from .intervals import Tasks
from .objectives import MAKESPAN, terms
from .verification import suspending


def add_rules(tasks: Tasks) -> None:
    """Add the constraints of a project beside those of modes, resources and precedences."""
    project = tasks.project
    delays = {link[:2]: link[2] for link in project.precedences}
    for before, after in project.no_wait:
        link = sl.start_before_end(tasks.of_task[after], tasks.of_task[before], -delays[before, after])
        tasks.model.add(link, f"{before} -> {after} without a wait")
    for resource in project.resources:
        if resource.breaks and not resource.suspends:
            _add_breaks(tasks, resource)
        if resource.setups:
            _add_setups(tasks, resource)
        if resource.no_idle:
            lasting = _lasting(tasks, resource)
            if len(lasting) > 1:
                tasks.model.add(sl.sequence([o for _, o in lasting]).no_idle(), f"{resource.name} without idle time")
    if any(r.suspends for r in project.resources):
        _add_suspensions(tasks)
    _add_permutation(tasks)


def _add_breaks(tasks: Tasks, resource: Resource) -> None:
    """Forbid that tasks on a resource run in its breaks."""
    for name, options in tasks.of_mode.items():
        for mode, option in options:
            if mode.duration and mode.demands.get(resource.name):
                forbidden = sl.forbid_extent(option, joined(resource.breaks))
                tasks.model.add(forbidden, f"{name} in the breaks of {resource.name}, mode {mode.name}")


def _add_suspensions(tasks: Tasks) -> None:
    """Let breaks suspend the tasks; a task neither starts in a break nor ends later than its work is done."""
    for name, options in tasks.of_mode.items():
        for mode, option in options:
            breaks = suspending(tasks.project.resources, mode)
            if breaks:
                where = f"{name} in mode {mode.name}"
                tasks.model.add(sl.intensity(option, mode.duration, sl.breaks(breaks)), f"work of {where}")
                tasks.model.add(sl.forbid_start(option, breaks), f"start of {where}")
                tasks.model.add(sl.forbid_end(option, breaks), f"end of {where}")


def _lasting(tasks: Tasks, resource: Resource) -> list[tuple[str, Interval]]:
    """Return the tasks and intervals that occupy a resource for a time."""
    return [(name, o) for name in tasks.of_mode for o, _ in tasks.on(resource, name, lasting=True)]


def _setup_sequence(tasks: Tasks, resource: Resource) -> tuple[sl.IntervalSequence, list[list[int]]] | None:
    """Return the sequence of a resource with its families as types, and the setups between them; None if it is short."""
    rows = _lasting(tasks, resource)
    if len(rows) < 2:
        return None
    family = {t.name: t.kind for t in tasks.project.tasks}
    known = list(dict.fromkeys(family[name] for name, _ in rows))
    at = {kind: k for k, kind in enumerate(known)}
    matrix = [[resource.setups.get((a, b), 0) for b in known] for a in known]
    return sl.sequence([o for _, o in rows], [at[family[name]] for name, _ in rows]), matrix


def _add_setups(tasks: Tasks, resource: Resource) -> None:
    made = _setup_sequence(tasks, resource)
    if made is not None:
        apart = made[0].no_overlap(made[1], direct=not resource.all_pairs)
        tasks.model.add(apart, f"setups of {resource.name}")


def _add_permutation(tasks: Tasks) -> None:
    """Add that jobs have the same order on the resources of the permutation."""
    project = tasks.project
    machines = [r for r in project.resources if r.name in project.permutation]
    job = {t.name: t.job for t in project.tasks}
    on = {
        r.name: {job[name]: tasks.of_task[name] for name in tasks.of_mode if tasks.on(r, name, lasting=True)}
        for r in machines
    }
    everywhere = len({frozenset(jobs) for jobs in on.values()}) <= 1
    for one, other in pairwise(machines) if everywhere else combinations(machines, 2):
        common = [j for j in on[one.name] if j in on[other.name]]
        if len(common) > 1:
            first = sl.sequence([on[one.name][j] for j in common])
            second = sl.sequence([on[other.name][j] for j in common])
            tasks.model.add(sl.same_sequence(first, second), f"order of jobs on {one.name} and {other.name}")


def objective(tasks: Tasks, makespan: sl.Linear) -> sl.Linear:
    """Return the objective of a project."""
    factors = terms(tasks.project.objective)
    parts = [
        (makespan if name == MAKESPAN else sl.sum(_terms(tasks, name))) * factor for name, factor in factors.items()
    ]
    absent = [(t.penalty, 1 - tasks.of_task[t.name].presence) for t in tasks.project.tasks if t.penalty]
    parts += [penalty * left_out for penalty, left_out in absent]
    return parts[0] if len(parts) == 1 else sl.sum(parts)


def _terms(tasks: Tasks, name: str) -> Iterator[sl.Linear]:
    """Yield the terms of an objective; those of an absent task are 0, as its end is 0 in an expression."""
    if name == "total-setup":
        for resource in tasks.project.resources:
            made = _setup_sequence(tasks, resource) if resource.setups else None
            if made is not None:
                yield made[0].cost(made[1])
        return
    for task in tasks.project.tasks:
        v = tasks.of_task[task.name]
        if name == "flow-time" and task.weight:
            yield task.weight * (v.end - task.release * v.presence)
        elif name == "weighted-tardiness" and task.due is not None and task.weight:
            yield task.weight * sl.positive_part(v.end - task.due)
        elif name == "weighted-earliness" and task.due is not None and task.early_weight:
            yield task.early_weight * sl.positive_part(task.due * v.presence - v.end)
        elif name == "late-jobs" and task.due is not None and task.weight:
            yield task.weight * sl.holds(v.end >= task.due + 1)
