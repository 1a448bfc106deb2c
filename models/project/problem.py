"""Project scheduling: tasks with modes, renewable and non-renewable resources, precedences, time lags; least makespan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ...errors import MissingValue, WrongArgument
from ..arguments import Fields, all_fields_whole, checked, expect, is_whole, named, text_of, whole_records, wrong
from ..comparing import hashable
from ..counts import how_many
from ..excerpt import with_short_repr
from ..formulations import formulations_of
from ..language import Violation
from ..platform import ProblemError
from ..problem import Encoding, Schedule, checked_schedule, value_of
from ..unknown_names import hint

# --- The data of a project: resources, and tasks with modes.

Link = tuple[str, str, int]  # before, after, delay
RESOURCE = Fields(one=("capacity",), names=("name",))
TASK = Fields(names=("name",))
MODE = Fields(one=("duration",), amounts=("demands",), names=("name",))


def name_of(task: object) -> Any:
    """Return the name of a task in a precedence: an integer as a text; anything else as it is, and no task has it."""
    text = text_of(task)
    return task if text is None else text


@named
@with_short_repr
@dataclass(frozen=True)
class Resource:
    """A resource of a project.

    Parameters
    ----------
    name : str
        The name of the resource.
    capacity : int
        The amount that is available, >= 0.
    renewable : bool, default True
        Whether the capacity limits the use at every time (True) or the total use over the whole project (False).

    Examples
    --------
    >>> Resource("paint", 4, renewable=False).capacity
    4
    """

    name: str
    capacity: int
    renewable: bool = True


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class Mode:
    """One of the modes in which a task can be processed.

    Parameters
    ----------
    name : str
        The name of the mode.
    duration : int
        The duration, >= 0, in the time unit of the project.
    demands : mapping of str to int
        The amount of each resource that the task needs in this mode.

    Examples
    --------
    >>> Mode("fast", duration=2, demands={"hands": 2}).demands["hands"]
    2
    """

    name: str
    duration: int
    demands: Mapping[str, int] = field(default_factory=dict)


@named
@with_short_repr
@dataclass(frozen=True)
class Task:
    """A task that is processed in exactly one of its modes, without interruption.

    Parameters
    ----------
    name : str
        The name of the task.
    modes : tuple of Mode
        The modes, at least one.

    Examples
    --------
    >>> Task.single("weld", 3, {"robots": 1}).modes[0].duration
    3
    """

    name: str
    modes: tuple[Mode, ...]

    @classmethod
    def single(cls, name: str, duration: int, demands: Mapping[str, int] | None = None) -> Task:
        """Return a task with one mode, which is named "1"."""
        return cls(name, (Mode("1", duration, {} if demands is None else demands),))

    @property
    def shortest(self) -> int:
        """The least duration of its modes."""
        return min(m.duration for m in self.modes)

    @property
    def longest(self) -> int:
        """The greatest duration of its modes."""
        return max(m.duration for m in self.modes)


# --- Project scheduling: tasks with modes, renewable and non-renewable resources, precedences, least makespan.
#
# This is the multi-mode resource-constrained project scheduling problem (MRCPSP; Talbot 1982, Kolisch and Sprecher 1996).
# With one mode per task it is the RCPSP; with machines of capacity 1 it is the job shop problem; with several machines to
# choose from, the flexible job shop problem.


@checked(values=False, skip=("precedences",))
@with_short_repr
@dataclass(frozen=True, init=False)
class Project:
    """Schedule ``tasks`` on ``resources`` so that the makespan is least.

    A schedule holds the start of each task and its mode, as ``Schedule({task: start}, {task: {mode: 1}})``.

    Parameters
    ----------
    tasks : iterable of Task
        The tasks.
    resources : iterable of Resource
        The resources.
    precedences : iterable of (str, str) or (str, str, int)
        (before, after) or (before, after, delay): ``after`` starts at the end of ``before`` plus the delay or later.
        The delay is in the time unit of the project and may be negative.

    Raises
    ------
    ProblemError
        If the data contradict each other. The message names the tasks of a cycle of precedences, and the resource
        exceeded by a task that can never run.

    References
    ----------
    Talbot (1982); Kolisch and Sprecher (1996).

    Examples
    --------
    >>> cut = Task.single("cut", 3, {"saw": 1})
    >>> glue = Task("glue", (Mode("fast", 2, {"hands": 2}), Mode("slow", 5, {"hands": 1})))
    >>> p = Project([cut, glue], [Resource("saw", 1), Resource("hands", 2)], [("cut", "glue")])
    >>> p.value(Schedule({"cut": 0, "glue": 3}, {"glue": {"fast": 1}}))
    5
    """

    tasks: tuple[Task, ...]
    resources: tuple[Resource, ...]
    precedences: tuple[Link, ...]

    kind: str = field(default="project", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)

    def __init__(
        self,
        tasks: Iterable[Task],
        resources: Iterable[Resource],
        precedences: Iterable[tuple[str, str] | Link] = (),
    ) -> None:
        links = tuple(_links(precedences))
        for name, value in {"tasks": tuple(tasks), "resources": tuple(resources), "precedences": links}.items():
            object.__setattr__(self, name, value)
        _check_modes(self.tasks)
        faults = _make_whole(self) or list(_faults(self))
        if not faults:
            faults = [*_cycles(self), *_impossible(self)]
        if faults:
            more = f"\n... and {len(faults) - 10} more" if len(faults) > 10 else ""
            raise ProblemError("\n".join(faults[:10]) + more)

    def possible(self, task: Task) -> tuple[Mode, ...]:
        """Return the modes of a task whose demands do not exceed the capacities."""
        return tuple(m for m in task.modes if self._exceeded(m) is None)

    def _exceeded(self, mode: Mode) -> str | None:
        return next((r for r, amount in mode.demands.items() if amount > self.capacity[r]), None)

    @cached_property
    def capacity(self) -> dict[str, int]:
        """The capacity of each resource, by name."""
        return {r.name: r.capacity for r in self.resources}

    @cached_property
    def graph(self) -> Any:
        """The precedences as a ``networkx.DiGraph`` of task names; the edges have a ``delay``."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(t.name for t in self.tasks)
        for before, after, delay in self.precedences:
            known = graph.get_edge_data(before, after)
            graph.add_edge(before, after, delay=delay if known is None else max(delay, known["delay"]))
        return graph

    @cached_property
    def heads(self) -> dict[str, int]:
        """The earliest start of each task: the longest path to it, with the shortest modes."""
        return _longest(self, forward=True)

    @cached_property
    def tails(self) -> dict[str, int]:
        """The least time from the end of each task to the end of the project: the longest path from it."""
        return _longest(self, forward=False)

    @cached_property
    def horizon(self) -> int:
        """An upper bound of the optimal makespan: all tasks one after another in their longest modes."""
        waits: dict[str, int] = {}
        for _, after, delay in self.precedences:
            waits[after] = max(delay, waits.get(after, 0))
        return sum(t.longest for t in self.tasks) + sum(waits.values())

    def start_window(self, task: Task, duration: int, horizon: int | None = None) -> tuple[int, int]:
        """Return the earliest and latest start of a task in a mode of this duration, within the horizon (None: the usual)."""
        end = self.horizon if horizon is None else horizon
        return self.heads[task.name], end - self.tails[task.name] - duration

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``modes``: an interval per task and, if it has several modes, an optional one per mode (exact)."""
        return formulations_of(self, ".project.formulations:FORMULATIONS")

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, found by a sweep over its events on the data alone."""
        return verify(self, checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> int:
        """Return the makespan, from the data alone; raise KeyError for a task without a start or mode."""
        return value_of(schedule, lambda: (t.name for t in self.tasks), lambda s: makespan(self, s), "task")

    def read(self, data: Any) -> Schedule:
        """Return the schedule of JSON data; raise ValueError, with the name of the job, if the data are malformed."""
        return Schedule.from_json(data)


def _links(precedences: Iterable[tuple[str, str] | Link]) -> Iterator[Link]:
    """Yield (before, after, delay) of each precedence; raise WrongArgument for anything else."""
    if (
        not isinstance(precedences, Iterable)
        or isinstance(precedences, (str, Mapping))
        or hasattr(precedences, "columns")
    ):
        raise WrongArgument(
            f"precedences of Project is {precedences!r:.100}; expected a list of (before, after, delay)"
        )
    for k, p in enumerate(precedences):
        if type(p) is tuple and len(p) == 2 and type(p[0]) is type(p[1]) is str:  # the common case, kept fast
            yield p[0], p[1], 0
            continue
        names = tuple(map(name_of, p[:2])) if isinstance(p, (tuple, list)) and len(p) in (2, 3) else ()
        if not names or not all(isinstance(name, str) for name in names):
            raise WrongArgument(
                f"precedences[{k}] of Project is {p!r:.100}; expected (before, after) or (before, after, delay) with the "
                "names of tasks"
            )
        yield names[0], names[1], p[2] if len(p) == 3 else 0


def _check_modes(tasks: Sequence[Task]) -> None:
    """Raise WrongArgument if the modes of a task are no modes."""
    for t in tasks:
        if not isinstance(t.modes, (tuple, list)) or not {Mode}.issuperset(map(type, t.modes)):
            expect(f"modes of task {t.name!r}", t.modes, Sequence[Mode])


def _longest(project: Project, forward: bool) -> dict[str, int]:
    """Return the longest path over the precedences to the start of each task, or from its end; at least 0."""
    import networkx as nx

    graph = project.graph if forward else project.graph.reverse(copy=False)
    shortest = {t.name: min(m.duration for m in project.possible(t)) for t in project.tasks}
    paths_from: dict[str, int] = {}
    for name in nx.topological_sort(graph):
        paths = (paths_from[other] + shortest[other] + edge["delay"] for other, edge in graph.pred[name].items())
        paths_from[name] = max(paths, default=0)
        paths_from[name] = max(paths_from[name], 0)
    return paths_from


def _make_whole(p: Project) -> list[str]:
    """Convert NumPy's integers to Python's; return a message for each value that is no whole number."""
    resources, faults = whole_records(p.resources, RESOURCE, lambda r: f"resource {r.name!r}")
    tasks: list[Task] = []
    modes_are_whole = all_fields_whole([m for t in p.tasks for m in t.modes], MODE)
    for t in p.tasks:
        if modes_are_whole and type(t.modes) is tuple and type(t.name) is str:  # the common case, kept fast
            tasks.append(t)
            continue
        modes, faults_of_modes = whole_records(t.modes, MODE, lambda m, t=t: f"task {t.name!r}, mode {m.name!r}")  # type: ignore[misc]
        (named,), wrong_names = whole_records([t], TASK, lambda t: f"task {t.name!r}")
        tasks.append(named if modes is t.modes or faults_of_modes else Task(named.name, modes))
        faults += [*wrong_names, *faults_of_modes]
    for before, after, delay in p.precedences:
        if not is_whole(delay):
            faults.append(f"precedence {before!r} -> {after!r}: the delay {wrong(delay)}")
    if not faults:
        links = tuple((before, after, int(delay)) for before, after, delay in p.precedences)
        for name, value in {"resources": resources, "tasks": tuple(tasks), "precedences": links}.items():
            object.__setattr__(p, name, value)
    return faults


def _faults(p: Project) -> Iterator[str]:
    """Yield a message for each contradiction in the data."""
    for what, names in (("task", [t.name for t in p.tasks]), ("resource", [r.name for r in p.resources])):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{what} {name!r} is listed {how_many(count, 'time')}"
    for r in p.resources:
        if r.capacity < 0:
            yield f"resource {r.name!r}: the capacity is {r.capacity}; at least 0 is expected"
    resources = {r.name for r in p.resources}
    for t in p.tasks:
        yield from _task_faults(t, resources)
    names = [t.name for t in p.tasks]
    tasks = set(names)
    for before, after, _ in p.precedences:
        for name in (before, after):
            if name not in tasks:
                yield f"precedence {before!r} -> {after!r}: there is no task {name!r}; {hint(name, names, none='the project has no tasks')}"


def _task_faults(task: Task, resources: set[str]) -> Iterator[str]:
    if not task.modes:
        yield f"task {task.name!r} has no mode"
    if len({m.name for m in task.modes}) < len(task.modes):
        yield f"task {task.name!r}: two modes have the same name, of {', '.join(m.name for m in task.modes)}"
    for m in task.modes:
        where = f"task {task.name!r}, mode {m.name!r}"
        if m.duration < 0:
            yield f"{where}: the duration is {m.duration}; at least 0 is expected"
        for resource, amount in m.demands.items():
            if resource not in resources:
                yield f"{where}: there is no resource {resource!r}; {hint(resource, sorted(resources), none='the project has no resources', both=True)}"
            elif amount < 0:
                yield f"{where}: the demand of {resource} is {amount}; at least 0 is expected"


def _cycles(p: Project) -> Iterator[str]:
    import networkx as nx

    try:
        cycle: Sequence[tuple[str, str]] = nx.find_cycle(p.graph)
    except nx.NetworkXNoCycle:
        return
    yield f"the precedences form a cycle: {' -> '.join([before for before, _ in cycle] + [cycle[0][0]])}"


def _impossible(p: Project) -> Iterator[str]:
    for t in p.tasks:
        exceeded = [(m, p._exceeded(m)) for m in t.modes]
        if all(r is not None for _, r in exceeded):
            m, r = exceeded[0]
            demand, capacity = m.demands[r or ""], p.capacity[r or ""]
            yield f"task {t.name!r} can never run: mode {m.name!r} asks for {demand} of {r!r}, which has {capacity}" + (
                "" if len(t.modes) == 1 else "; the other modes exceed a capacity, too"
            )


# --- Verification and makespan of project schedules from the data alone, without a formulation, heuristic or solver.


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
    violations = [Violation(t, 1, f"task {t!r} is not one of the problem") for t in schedule.start if t not in known]
    done: dict[str, tuple[int, Mode]] = {}
    for task in project.tasks:
        start = schedule.start.get(task.name)
        if start is None:
            violations.append(Violation(task.name, 1, f"task {task.name!r} has no start"))
            continue
        if start < 0:
            violations.append(Violation(task.name, -start, f"task {task.name!r} starts at {start}, before 0"))
        mode = mode_of(task, schedule)
        if mode is None:
            given = schedule.nodes.get(task.name, {})
            text = f"task {task.name!r} must run in one of {[m.name for m in task.modes]}, given is {given}"
            violations.append(Violation(task.name, 1, text))
            continue
        done[task.name] = (start, mode)
    violations.extend(_precedences(project, done))
    for resource in project.resources:
        violations.extend(_renewable(resource, done) if resource.renewable else _total(resource, done))
    return violations


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


# --- Projects with maximal time lags (RCPSP/max): a task starts at most some time after the start of another one.


@with_short_repr
@dataclass(frozen=True, init=False)
class ProjectMax(Project):
    """A project with maximal time lags; the least makespan [Bartusch1988].

    Minimal time lags are the delays of precedences. With maximal ones, even finding a feasible schedule is NP-complete: the
    heuristics for projects do not support it, solvers do.

    Parameters
    ----------
    tasks, resources, precedences
        As for ``Project``.
    lags : iterable of (str, str, int)
        (first, second, most): ``second`` starts at most ``most`` after the start of ``first``; ``most`` >= 0.

    Raises
    ------
    ProblemError
        If the data contradict each other.

    Examples
    --------
    >>> heat, roll = Task.single("heat", 4, {"oven": 1}), Task.single("roll", 2, {"mill": 1})
    >>> p = ProjectMax([heat, roll], [Resource("oven", 1), Resource("mill", 1)], [("heat", "roll")], [("heat", "roll", 5)])
    >>> [v.message for v in p.verify(Schedule({"heat": 0, "roll": 7}))]
    ["task 'roll' starts at 7, 2 too late: 'heat' starts at 0, the maximal lag is 5"]
    """

    lags: tuple[Link, ...]
    kind: str = field(default="project-max", init=False)

    def __init__(
        self,
        tasks: Iterable[Task],
        resources: Iterable[Resource],
        precedences: Iterable[tuple[str, str] | Link] = (),
        lags: Iterable[Link] = (),
    ) -> None:
        super().__init__(tasks, resources, precedences)
        object.__setattr__(self, "lags", tuple((name_of(a), name_of(b), most) for a, b, most in lags))
        known = {t.name for t in self.tasks}
        for first, second, most in self.lags:
            for name in (first, second):
                if name not in known:
                    raise ProblemError(f"maximal lag {first!r} -> {second!r}: there is no task {name!r}")
            if most < 0:
                raise ProblemError(f"maximal lag {first!r} -> {second!r}: it is {most}; at least 0 is expected")

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``modes``: as for projects, with a linear constraint per maximal lag (exact)."""
        return formulations_of(self, ".project.formulations:WITH_LAGS")

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, from the data alone."""
        violations = super().verify(schedule)
        for first, second, most in self.lags:
            if first in schedule.start and second in schedule.start:
                start = schedule.start[first]
                late = schedule.start[second] - schedule.start[first] - most
                if late > 0:
                    text = f"task {second!r} starts at {schedule.start[second]}, {late} too late: {first!r} starts at {start}"
                    violations.append(Violation(f"{first} -> {second}", late, f"{text}, the maximal lag is {most}"))
        return violations
