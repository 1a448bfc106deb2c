"""Project scheduling: tasks with modes, renewable and non-renewable resources, precedences, least makespan.

This is the multi-mode resource-constrained project scheduling problem (MRCPSP; Talbot 1982, Kolisch and Sprecher 1996).
With one mode per task it is the RCPSP; with machines of capacity 1 it is the job shop problem; with several machines to
choose from, the flexible job shop problem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ...errors import WrongArgument
from ..arguments import checked, expect
from ..excerpt import with_short_repr
from ..language import Violation
from ..platform import ProblemError
from ..problem import Encoding, Schedule, checked_schedule, value_of
from ..unknown_names import ByName, hint
from ..whole_numbers import all_fields_whole, is_whole, whole_records, wrong
from .tasks import MODE, RESOURCE, TASK, Link, Mode, Resource, Task, name_of


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
        from .formulation import modes

        return ByName("formulation", {"modes": lambda: modes(self)})

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, found by a sweep over its events on the data alone."""
        from .check import verify

        return verify(self, checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> int:
        """Return the makespan, from the data alone; raise KeyError for a task without a start or mode."""
        from .check import makespan

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
    found: dict[str, int] = {}
    for name in nx.topological_sort(graph):
        paths = (found[other] + shortest[other] + edge["delay"] for other, edge in graph.pred[name].items())
        found[name] = max(paths, default=0)
        found[name] = max(found[name], 0)
    return found


def _make_whole(p: Project) -> list[str]:
    """Convert NumPy's integers to Python's; return a message for each value that is no whole number."""
    resources, faults = whole_records(p.resources, RESOURCE, lambda r: f"resource {r.name!r}")
    tasks: list[Task] = []
    modes_are_whole = all_fields_whole([m for t in p.tasks for m in t.modes], MODE)
    for t in p.tasks:
        if modes_are_whole and type(t.modes) is tuple and type(t.name) is str:  # the common case, kept fast
            tasks.append(t)
            continue
        modes, found = whole_records(t.modes, MODE, lambda m, t=t: f"task {t.name!r}, mode {m.name!r}")  # type: ignore[misc]
        (named,), wrong_names = whole_records([t], TASK, lambda t: f"task {t.name!r}")
        tasks.append(named if modes is t.modes or found else Task(named.name, modes))
        faults += [*wrong_names, *found]
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
                yield f"{what} {name!r} is listed {count} times"
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


__all__ = ["Mode", "Project", "Resource", "Task"]
