"""The objectives of projects: their names, sums of them as texts, and their values, from times alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from ...errors import WrongArgument, WrongValue
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


def terms(objective: str) -> Mapping[str, int]:
    """Return the factors of the objectives in a text such as "makespan" or "weighted-tardiness+10*late-jobs".

    Raises
    ------
    WrongArgument
        If it is no text.
    WrongValue
        If a factor is no whole number of at most 12 digits, or 0, or if an objective is in the sum twice.
    UnknownName
        If a name is none of ``OBJECTIVES``, or the text is no sum of them.

    Examples
    --------
    >>> terms("makespan"), terms("weighted-tardiness + 10*late-jobs")
    ({'makespan': 1}, {'weighted-tardiness': 1, 'late-jobs': 10})
    """
    if not isinstance(objective, str):
        raise WrongArgument(f"objective of Project is {excerpt(objective)}; expected a text such as 'makespan'")
    return _terms(objective)


@lru_cache(maxsize=256)
def _terms(objective: str) -> Mapping[str, int]:
    factors: dict[str, int] = {}
    for text in objective.split("+"):
        match = TERM.fullmatch(text.strip())
        factor, times, name = (part.strip() for part in text.partition("*"))
        if match is None and times and name in OBJECTIVES:
            raise WrongValue(
                f"objective of Project is {excerpt(objective)}; the factor of {name!r} is {excerpt(factor)}; expected a whole "
                f"number of at most 12 digits, as in '10*{name}'"
            )
        if match is None or match[2] not in OBJECTIVES:
            raise UnknownName("objective of project problems", text.strip(), list(OBJECTIVES), f" in {objective!r}")
        if match[2] in factors:
            raise WrongValue(f"objective of Project is {excerpt(objective)}; {match[2]!r} is in it twice")
        factors[match[2]] = int(match[1] or 1)
        if not factors[match[2]]:
            raise WrongValue(f"objective of Project is {excerpt(objective)}; the factor of {match[2]!r} is 0")
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


def setup_order(resource: Resource, done: Iterable[Done]) -> list[Done]:
    """Return the tasks on a resource in the order in which their setups count.

    Setups of all pairs count tasks of duration 0, too. Of several orders of those at one time, all of which keep the setups,
    it is one with the least sum.
    """
    if not resource.all_pairs:
        return order_on(resource, done)
    users = sorted((d for d in done if d.mode.demands.get(resource.name)), key=lambda d: (d.start, d.left))
    best: list[tuple[int, list[Done]]] = [(0, [])]  # for each last task: the least sum, and the order
    for _, group in groupby(users, key=lambda d: (d.start, d.left)):
        ways = list(_arranged(resource, list(group)))
        ends: dict[str, tuple[int, list[Done]]] = {}
        for total, order in best:
            for way in ways:
                more = setup_of(resource, order[-1].task, way[0].task) if order else 0
                name = way[-1].task.name
                if name not in ends or total + more < ends[name][0]:
                    ends[name] = total + more, order + way
        best = list(ends.values())
    return min(best, key=lambda row: row[0])[1]


def _arranged(resource: Resource, group: list[Done]) -> Iterator[list[Done]]:
    """Yield an order without setups of tasks at one time for each possible first and last one; any order if there is none."""
    if len(group) == 1:
        yield group
        return
    made = False
    for first in (d for d in group if _is_first(resource, d, group)):
        for last in (d for d in group if _is_last(resource, d, group) and d is not first):
            order, left = [first], [d for d in group if d is not first and d is not last]
            while left:
                following = next((d for d in left if _is_first(resource, d, left)), left[0])
                left.remove(following)
                order.append(following)
            yield [*order, last]
            made = True
    if not made:
        yield group


def _is_first(resource: Resource, one: Done, group: Iterable[Done]) -> bool:
    """Return whether a task can be before all others at its time."""
    return not any(setup_of(resource, one.task, d.task) for d in group if d is not one)


def _is_last(resource: Resource, one: Done, group: Iterable[Done]) -> bool:
    """Return whether a task can be after all others at its time."""
    return not any(setup_of(resource, d.task, one.task) for d in group if d is not one)


def setup_of(resource: Resource, before: Task, after: Task) -> int:
    """Return the setup between two tasks that are neighbours on a resource."""
    return resource.setups.get((before.kind, after.kind), 0)


def total_setup(resources: Iterable[Resource], done: Sequence[Done]) -> int:
    """Return the sum of the setups between direct neighbours."""
    total = 0
    for resource in resources:
        if resource.setups:
            users = setup_order(resource, done)
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
