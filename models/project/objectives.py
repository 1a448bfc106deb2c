"""The objectives of projects: their names, sums of them as texts, and their values, from times alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ...errors import WrongArgument
from ..excerpt import UnknownName, excerpt
from .data import Mode, Resource, Task

MAKESPAN = "makespan"
OBJECTIVES = {
    MAKESPAN: "the end of the last task",
    "weighted-tardiness": "the sum of weight x (end - due) over the tasks that end after their due dates",
    "weighted-earliness": "the sum of earliness_weight x (due - end) over the tasks that end before their due dates",
    "flow-time": "the sum of weight x (end - release) over the tasks",
    "late-jobs": "the sum of weight over the tasks that end after their due dates",
    "total-setup": "the sum of the setups between direct neighbours on all resources",
}
OF_DUE_DATES = ("weighted-tardiness", "weighted-earliness", "late-jobs")
REGULAR = (MAKESPAN, "weighted-tardiness", "flow-time", "late-jobs")  # never better if a task ends later
TERM = re.compile(r"(?:(\d{1,12})\s*\*\s*)?([a-z][a-z-]*)", re.ASCII)


@lru_cache(maxsize=256)
def terms(objective: str) -> Mapping[str, int]:
    """Return the factors of the objectives in a text such as "makespan" or "weighted-tardiness+10*late-jobs".

    Raises
    ------
    WrongArgument
        If the text is no sum of objectives.
    UnknownName
        If a name is none of ``OBJECTIVES``.

    Examples
    --------
    >>> terms("makespan"), terms("weighted-tardiness + 10*late-jobs")
    ({'makespan': 1}, {'weighted-tardiness': 1, 'late-jobs': 10})
    """
    if not isinstance(objective, str):
        raise WrongArgument(f"objective of Project is {excerpt(objective)}; expected a text such as 'makespan'")
    factors: dict[str, int] = {}
    for text in objective.split("+"):
        match = TERM.fullmatch(text.strip())
        if match is None or match[2] not in OBJECTIVES:
            raise UnknownName("objective of project problems", text.strip(), list(OBJECTIVES), f" in {objective!r}")
        factors[match[2]] = factors.get(match[2], 0) + int(match[1] or 1)
    return factors


class Done(NamedTuple):
    """A task in a schedule: its mode, start and end, and until when it keeps its renewable resources."""

    task: Task
    mode: Mode
    start: int
    end: int
    left: int

    @property
    def late(self) -> int:
        """The time by which it ends after its due date; 0 without one."""
        return 0 if self.task.due is None else max(0, self.end - self.task.due)

    @property
    def early(self) -> int:
        """The time by which it ends before its due date; 0 without one."""
        return 0 if self.task.due is None else max(0, self.task.due - self.end)


def order_on(resource: Resource, done: Iterable[Done]) -> list[Done]:
    """Return the tasks that take time on a resource, by start."""
    users = [d for d in done if d.mode.demands.get(resource.name) and d.mode.duration]
    return sorted(users, key=lambda d: (d.start, d.end))


def setup_of(resource: Resource, before: Task, after: Task) -> int:
    """Return the setup between two tasks that are neighbours on a resource."""
    return resource.setups.get((before.kind, after.kind), 0)


def total_setup(resources: Iterable[Resource], done: Sequence[Done]) -> int:
    """Return the sum of the setups between direct neighbours."""
    total = 0
    for resource in resources:
        if resource.setups:
            users = order_on(resource, done)
            total += sum(setup_of(resource, a.task, b.task) for a, b in pairwise(users))
    return total


def objective_value(
    objective: str, tasks: Iterable[Task], resources: Iterable[Resource], done: Mapping[str, Done]
) -> int:
    """Return the value of a sum of objectives and of the penalties of the tasks that are not done."""
    rows = list(done.values())
    penalties = sum(t.penalty for t in tasks if t.penalty is not None and t.name not in done)
    return penalties + sum(factor * _value(name, rows, resources) for name, factor in terms(objective).items())


def _value(name: str, rows: Sequence[Done], resources: Iterable[Resource]) -> int:
    """Return the value of one objective."""
    if name == MAKESPAN:
        return max((d.end for d in rows), default=0)
    if name == "weighted-tardiness":
        return sum(d.task.weight * d.late for d in rows)
    if name == "weighted-earliness":
        return sum(d.task.early_weight * d.early for d in rows)
    if name == "flow-time":
        return sum(d.task.weight * (d.end - d.task.release) for d in rows)
    if name == "late-jobs":
        return sum(d.task.weight for d in rows if d.late)
    return total_setup(resources, rows)
