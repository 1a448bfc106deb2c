"""Objectives of projects by name, and the verification of schedules, from the data alone, without a formulation, heuristic or solver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, groupby, pairwise
from typing import NamedTuple

from ...errors import MissingValue, WrongArgument, WrongValue
from ..language import Violation
from ..problem import Schedule
from ..words import UnknownName, excerpt
from .data import Mode, ProjectData, Resource, Task

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
        if self.task.due is None:
            return 0
        return max(0, self.end - self.task.due)

    @property
    def early(self) -> int:
        """The time by which it ends before its due date; 0 without one."""
        if self.task.due is None:
            return 0
        return max(0, self.task.due - self.end)


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
                more = 0
                if order:
                    more = setup_of(resource, order[-1].task, way[0].task)
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


def verify(project: ProjectData, schedule: Schedule) -> list[Violation]:
    """Return all violations, each with the tasks, resource and time concerned; an empty list for a feasible schedule.

    Starts must be whole numbers; if not, nothing else is checked. Every task must start once, unless it may be left out, at
    its release date or later, in exactly one of its modes, which may be omitted for a task with one mode; a mode that asks
    for more than a capacity is impossible, also if it takes no time. Deadlines hold, precedences with their delays,
    renewable resources at every time with their breaks and setups, and the other resources in total.
    """
    fractions = [Violation(t, 1, text) for t, text in schedule.not_whole()]
    if fractions:
        return fractions
    known = {t.name for t in project.tasks}
    violations = [Violation(t, 1, f"task {t!r} is not one of the problem") for t in schedule.start if t not in known]
    done = done_tasks(project, schedule)
    if len(done) < len(project.tasks):
        violations.extend(_missing(project, schedule))
    with_breaks = [r for r in project.resources if r.breaks]
    for row in done.values():
        violations.extend(_times(row))
        for resource in with_breaks:
            violations.extend(_breaks(resource, row))
    violations.extend(_precedences(project, done))
    for resource in project.resources:
        violations.extend(_renewable(resource, done) if resource.renewable else _total(resource, done))
        violations.extend(_sequence(resource, done))
    violations.extend(_permutation(project, done))
    return violations


def value(project: ProjectData, schedule: Schedule) -> int:
    """Return the value of the objective.

    Raises
    ------
    KeyError
        If a task that must not be left out has no start, or a task has no mode.
    """
    done = done_tasks(project, schedule)
    for task in project.tasks if len(done) < len(project.tasks) else ():
        if task.name in done or (task.optional and task.name not in schedule.start):
            continue
        start = schedule.start[task.name]
        raise MissingValue(f"task {task.name!r}, which starts at {start}, has no mode in this schedule")
    return objective_value(project.objective, project.tasks, project.resources, done)


def mode_of(task: Task, schedule: Schedule) -> Mode | None:
    """Return the mode of a task in the schedule; None if there is none or several."""
    given = schedule.nodes.get(task.name, {})
    if not given and len(task.modes) == 1:
        return task.modes[0]
    chosen = [name for name, count in given.items() if count]
    return next((m for m in task.modes if chosen == [m.name] and given[m.name] == 1), None)


def suspending(resources: Iterable[Resource], mode: Mode) -> tuple[tuple[int, int], ...]:
    """Return the breaks that suspend a task in a mode, in increasing order."""
    if not mode.duration:
        return ()
    used = [r for r in resources if r.suspends and mode.demands.get(r.name)]
    return joined(window for r in used for window in r.breaks)


def done_tasks(project: ProjectData, schedule: Schedule) -> dict[str, Done]:
    """Return the tasks with a start and a mode, with their ends."""
    made: dict[str, Done] = {}
    with_breaks = [r for r in project.resources if r.suspends]
    for task in project.tasks:
        mode = mode_of(task, schedule)
        start = schedule.start.get(task.name)
        if mode is not None and start is not None:
            end = start + mode.duration
            if with_breaks:
                end = suspended_end(start, mode.duration, suspending(with_breaks, mode))
            made[task.name] = Done(task, mode, start, end, end)
    for before, after in project.blocking:
        if before in made and after in made:
            row = made[before]
            made[before] = row._replace(left=max(row.left, made[after].start))
    return made


def _missing(project: ProjectData, schedule: Schedule) -> Iterator[Violation]:
    """Yield the tasks that have no start or no mode."""
    for task in project.tasks:
        if task.name not in schedule.start:
            if not task.optional:
                yield Violation(task.name, 1, f"task {task.name!r} has no start")
        elif mode_of(task, schedule) is None:
            given = schedule.nodes.get(task.name, {})
            text = f"task {task.name!r} must run in one of {[m.name for m in task.modes]}, given is {given}"
            yield Violation(task.name, 1, text)


def _times(row: Done) -> Iterator[Violation]:
    """Yield where one task contradicts its window."""
    task = row.task
    if row.start < task.release:
        release = "0"
        if task.release:
            release = f"its release date {task.release}"
        text = f"task {task.name!r} starts at {row.start}, before {release}"
        yield Violation(task.name, task.release - row.start, text)
    if task.deadline is not None and row.end > task.deadline:
        text = f"task {task.name!r} ends at {row.end}, its deadline is {task.deadline}"
        yield Violation(task.name, row.end - task.deadline, text)


def _breaks(resource: Resource, row: Done) -> Iterator[Violation]:
    """Yield the breaks of a resource in which a task runs, or which suspend tasks and in which it starts."""
    if not row.mode.duration or not row.mode.demands.get(resource.name):
        return
    task = row.task.name
    for begin, over in joined(resource.breaks):
        where = f"the break of {resource.name!r} from {begin} to {over}"
        if resource.suspends and begin <= row.start < over:
            text = f"task {task!r} starts at {row.start}, in {where}"
            yield Violation(task, over - row.start, text)
        if not resource.suspends and row.start < over and row.end > begin:
            text = f"task {task!r} runs from {row.start} to {row.end}, over {where}"
            overlap = min(row.end, over) - max(row.start, begin)
            yield Violation(task, overlap, text)


def _precedences(project: ProjectData, done: Mapping[str, Done]) -> Iterator[Violation]:
    no_wait = set(project.no_wait)
    for before, after, delay in project.precedences:
        if before not in done or after not in done:
            continue
        end, start = done[before].end, done[after].start
        late = end + delay - start
        ends = f"{before!r} ends at {end}" + (f", the delay is {delay}" if delay else "")
        if late > 0:
            yield Violation(f"{before} -> {after}", late, f"task {after!r} starts at {start}, {late} too early: {ends}")
        if late < 0 and (before, after) in no_wait:
            text = f"task {after!r} starts at {start}, {-late} too late, as it must not wait: {ends}"
            yield Violation(f"{before} -> {after}", -late, text)


def _renewable(resource: Resource, done: Mapping[str, Done]) -> Iterator[Violation]:
    """Yield the first time at which the capacity is exceeded, and modes without a duration that ask for more than it.

    At equal times, ends are processed before starts.
    """
    events: list[tuple[int, int, str]] = []
    for name, row in done.items():
        amount = row.mode.demands.get(resource.name, 0)
        if not row.mode.duration and amount > resource.capacity:
            text = f"task {name!r}: mode {row.mode.name!r} asks for {amount} of {resource.name!r}, which has {resource.capacity}"
            yield Violation(name, amount - resource.capacity, text)
        if amount and row.left > row.start:
            events.append((row.start, amount, name))
            events.append((row.left, -amount, name))
    used = 0
    for time, amount, name in sorted(events):
        used += amount
        if amount > 0 and used > resource.capacity:
            text = f"resource {resource.name!r} at {time}: {used} in use, it has {resource.capacity} (task {name!r} starts)"
            yield Violation(resource.name, used - resource.capacity, text)
            return


def _total(resource: Resource, done: Mapping[str, Done]) -> Iterator[Violation]:
    used = sum(row.mode.demands.get(resource.name, 0) for row in done.values())
    if used > resource.capacity:
        text = f"resource {resource.name!r}: {used} used in all, it has {resource.capacity}"
        yield Violation(resource.name, used - resource.capacity, text)


def _sequence(resource: Resource, done: Mapping[str, Done]) -> Iterator[Violation]:
    """Yield the tasks on a resource that are too near for their setup, or have idle time between them."""
    if resource.setups and resource.all_pairs:
        yield from _all_pairs(resource, done)
        return
    if not resource.setups and not resource.no_idle:
        return
    for one, other in pairwise(order_on(resource, done.values())):
        gap = other.start - one.left
        setup = setup_of(resource, one.task, other.task)
        names = f"{one.task.name!r} and {other.task.name!r}"
        if 0 <= gap < setup:
            text = f"resource {resource.name!r}: {gap} between {names}, the setup takes {setup}"
            yield Violation(resource.name, setup - gap, text)
        if resource.no_idle and gap > 0:
            yield Violation(resource.name, gap, f"resource {resource.name!r} is idle for {gap} between {names}")


def _all_pairs(resource: Resource, done: Mapping[str, Done]) -> Iterator[Violation]:
    """Yield the pairs of tasks that are too near in both orders; those of duration 0 are points in the order."""
    users = [row for row in done.values() if row.mode.demands.get(resource.name)]
    users.sort(key=lambda row: (row.start, row.left))
    pairs = 0
    for one, other in combinations(users, 2):
        gap = other.start - one.left
        setup = setup_of(resource, one.task, other.task)
        back = one.start - other.left - setup_of(resource, other.task, one.task)
        missing = min(setup - gap, -back)
        if missing <= 0 or (gap < 0 and other.left > other.start):  # tasks that overlap exceed the capacity
            continue
        pairs += 1
        text = f"{gap} between {one.task.name!r} and {other.task.name!r}, the setup takes {setup}"
        if gap < 0:
            text = f"{other.task.name!r} is within {one.task.name!r}, which takes it from {one.start} to {one.left}"
        yield Violation(resource.name, missing, f"resource {resource.name!r}: {text}")
    if not pairs:
        yield from _points(resource, users)


def _points(resource: Resource, users: Iterable[Done]) -> Iterator[Violation]:
    """Yield the tasks of duration 0 at one time of which each must be after another one."""
    at: dict[int, list[Done]] = {}
    for row in users:
        if row.start == row.left:
            at.setdefault(row.start, []).append(row)
    for time, left in at.items():
        while left:
            first = next(
                (a for a in left if not any(b is not a and setup_of(resource, a.task, b.task) for b in left)), None
            )
            if first is None:
                names = ", ".join(repr(row.task.name) for row in left)
                text = f"resource {resource.name!r} at {time}: the setups allow no order of {names}"
                yield Violation(resource.name, 1, text)
                break
            left.remove(first)


def _permutation(project: ProjectData, done: Mapping[str, Done]) -> Iterator[Violation]:
    """Yield the first job that overtakes another one between two resources."""
    listed = [r for r in project.resources if r.name in project.permutation]
    orders = [[row.task.job for row in order_on(r, done.values())] for r in listed]
    for (one, first), (other, second) in combinations(zip(listed, orders, strict=True), 2):
        common = set(first) & set(second)
        pairs = zip((j for j in first if j in common), (j for j in second if j in common), strict=True)
        wrong = next(((a, b) for a, b in pairs if a != b), None)
        if wrong is not None:
            text = f"job {wrong[0]!r} is before job {wrong[1]!r} on {one.name!r}, but not on {other.name!r}"
            yield Violation(f"{one.name}, {other.name}", 1, text)


# --- Times of tasks that breaks suspend: when a task ends, and which windows a time lies in.

Window = tuple[int, int]  # [begin, end)


def joined(windows: Iterable[Window]) -> tuple[Window, ...]:
    """Return windows in increasing order; those that overlap or touch are joined, empty ones are left out.

    Examples
    --------
    >>> joined([(12, 13), (5, 7), (7, 8)])
    ((5, 8), (12, 13))
    """
    made: list[Window] = []
    for begin, end in sorted(windows):
        if begin >= end:
            continue
        if made and begin <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((begin, end))
    return tuple(made)


def suspended_end(start: int, duration: int, windows: Iterable[Window]) -> int:
    """Return the end of a task that does not work within windows; these are in increasing order, without overlap.

    Examples
    --------
    >>> suspended_end(3, 4, [(5, 8), (12, 13)]), suspended_end(3, 2, [(5, 8)])
    (10, 5)
    """
    end = start + duration
    for begin, over in windows:
        if begin >= end:
            break
        if over > start:
            end += over - max(begin, start)
    return end
