"""Verification and makespan of project schedules from the data alone, without a formulation, heuristic or solver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...errors import MissingValue
from ..language import Violation
from ..problem import Schedule
from .tasks import Mode, Resource, Task

if TYPE_CHECKING:
    from .problem import Project


def verify(project: Project, schedule: Schedule) -> list[Violation]:
    """Return all violations, each with the tasks, resource and time concerned; an empty list for a feasible schedule.

    Starts must be whole numbers; if not, nothing else is checked. Every task must start once, at 0 or later, in exactly
    one of its modes, which may be omitted for a task with one mode; a mode that asks for more than a capacity is impossible,
    also if it takes no time. Precedences hold with their delays, renewable
    resources at every time, and the other resources in total.
    """
    fractions = [Violation(t, 1, text) for t, text in schedule.not_whole()]
    if fractions:
        return fractions
    known = {t.name for t in project.tasks}
    found = [Violation(t, 1, f"task {t!r} is not one of the problem") for t in schedule.start if t not in known]
    done: dict[str, tuple[int, Mode]] = {}
    for task in project.tasks:
        start = schedule.start.get(task.name)
        if start is None:
            found.append(Violation(task.name, 1, f"task {task.name!r} has no start"))
            continue
        if start < 0:
            found.append(Violation(task.name, -start, f"task {task.name!r} starts at {start}, before 0"))
        mode = mode_of(task, schedule)
        if mode is None:
            given = schedule.nodes.get(task.name, {})
            text = f"task {task.name!r} must run in one of {[m.name for m in task.modes]}, given is {given}"
            found.append(Violation(task.name, 1, text))
            continue
        done[task.name] = (start, mode)
    found.extend(_precedences(project, done))
    for resource in project.resources:
        found.extend(_renewable(resource, done) if resource.renewable else _total(resource, done))
    return found


def mode_of(task: Task, schedule: Schedule) -> Mode | None:
    """Return the mode of a task in the schedule; None if there is none or several."""
    given = schedule.nodes.get(task.name, {})
    if not given and len(task.modes) == 1:
        return task.modes[0]
    chosen = [name for name, count in given.items() if count]
    return next((m for m in task.modes if chosen == [m.name] and given[m.name] == 1), None)


def _precedences(project: Project, done: dict[str, tuple[int, Mode]]) -> Iterator[Violation]:
    for before, after, delay in project.precedences:
        if before in done and after in done:
            start, mode = done[before]
            late = start + mode.duration + delay - done[after][0]
            if late > 0:
                text = f"task {after!r} starts at {done[after][0]}, {late} too early: {before!r} ends at {start + mode.duration}"
                yield Violation(f"{before} -> {after}", late, text + (f", the delay is {delay}" if delay else ""))


def _renewable(resource: Resource, done: dict[str, tuple[int, Mode]]) -> Iterator[Violation]:
    """Yield the first time at which the capacity is exceeded, and modes without a duration that ask for more than it.

    At equal times, ends are processed before starts.
    """
    for name, (_, mode) in done.items():
        amount = mode.demands.get(resource.name, 0)
        if not mode.duration and amount > resource.capacity:
            text = f"task {name!r}: mode {mode.name!r} asks for {amount} of {resource.name!r}, which has {resource.capacity}"
            yield Violation(name, amount - resource.capacity, text)
    events: list[tuple[int, int, str]] = []
    for name, (start, mode) in done.items():
        amount = mode.demands.get(resource.name, 0)
        if amount and mode.duration:
            events.append((start, amount, name))
            events.append((start + mode.duration, -amount, name))
    used = 0
    for time, amount, name in sorted(events):
        used += amount
        if amount > 0 and used > resource.capacity:
            text = f"resource {resource.name!r} at {time}: {used} in use, it has {resource.capacity} (task {name!r} starts)"
            yield Violation(resource.name, used - resource.capacity, text)
            return


def _total(resource: Resource, done: dict[str, tuple[int, Mode]]) -> Iterator[Violation]:
    used = sum(mode.demands.get(resource.name, 0) for _, mode in done.values())
    if used > resource.capacity:
        text = f"resource {resource.name!r}: {used} used in all, it has {resource.capacity}"
        yield Violation(resource.name, used - resource.capacity, text)


def makespan(project: Project, schedule: Schedule) -> int:
    """Return the end of the last task; 0 without tasks.

    Raises
    ------
    KeyError
        If a task has no start or no mode.
    """
    last = 0
    for task in project.tasks:
        mode = mode_of(task, schedule)
        if mode is None:
            raise MissingValue(f"task {task.name!r} has no mode in this schedule")
        last = max(last, schedule.start[task.name] + mode.duration)
    return last
