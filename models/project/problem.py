"""Project scheduling: tasks with modes, renewable and non-renewable resources, precedences, time lags, objectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

from ...errors import WrongArgument
from ..arguments import all_fields_whole, checked, expect, is_whole, text_of, whole_amounts, whole_records, wrong
from ..kind import ProblemKind, formulations_of
from ..language import Violation
from ..platform import ProblemError
from ..problem import Encoding, Schedule, checked_schedule, value_of
from ..words import excerpt, hint, how_many, with_short_repr
from . import verification
from .data import MODE, RESOURCE, TASK, Link, Mode, Pair, ProjectData, Resource, Task
from .verification import MAKESPAN, OF_DUE_DATES, terms

__all__ = ["Link", "Mode", "Pair", "Project", "ProjectMax", "Resource", "Task"]


def name_of(task: object) -> Any:
    """Return the name of a task in a precedence: an integer as a text; anything else as it is, and no task has it."""
    text = text_of(task)
    if text is None:
        return task
    return text


# --- Project scheduling: tasks with modes, renewable and non-renewable resources, precedences, least makespan.
#
# This is the multi-mode resource-constrained project scheduling problem (MRCPSP; Talbot 1982, Kolisch and Sprecher 1996).
# With one mode per task it is the RCPSP; with machines of capacity 1 it is the job shop problem; with several machines to
# choose from, the flexible job shop problem.


@checked(values=False, skip=("precedences", "no_wait", "blocking", "objective"))
@with_short_repr
@dataclass(frozen=True, init=False)
class Project:
    """Schedule ``tasks`` on ``resources`` so that the objective, by default the makespan, is least.

    A schedule holds the start of each task and its mode, as ``Schedule({task: start}, {task: {mode: 1}})``; a task that is
    left out has no start.

    Parameters
    ----------
    tasks : iterable of Task
        The tasks.
    resources : iterable of Resource
        The resources.
    precedences : iterable of (str, str) or (str, str, int)
        (before, after) or (before, after, delay): ``after`` starts at the end of ``before`` plus the delay or later.
        The delay is in the time unit of the project and may be negative. A precedence of a task that is left out holds.
    objective : str, default "makespan"
        One of ``OBJECTIVES`` of ``schedlab.models.project.verification``, or a sum of them with factors:
        "weighted-tardiness+10*late-jobs". The penalties of the tasks that are left out are added.
    no_wait : iterable of (str, str)
        Precedences (before, after) whose second task starts exactly at the end of the first one plus the delay.
    blocking : iterable of (str, str)
        Precedences (before, after) whose first task keeps its renewable resources until the second one starts. At the same
        time, tasks may exchange their resources.
    permutation : iterable of str
        Renewable resources of capacity 1 on which the jobs (``Task.job``) have the same order; each job has at most one task on each of them.

    Raises
    ------
    ProblemError
        If the data contradict each other. The message names the tasks of a cycle of precedences, and the resource
        exceeded by a task that can never run.
    UnknownName
        If there is no such objective.

    References
    ----------
    Talbot (1982); Kolisch and Sprecher (1996).

    Examples
    --------
    >>> cut = Task.single("cut", 3, {"saw": 1})
    >>> glue = Task("glue", (Mode("fast", 2, {"hands": 2}), Mode("slow", 5, {"hands": 1})), due=4, weight=2)
    >>> p = Project([cut, glue], [Resource("saw", 1), Resource("hands", 2)], [("cut", "glue")])
    >>> schedule = Schedule({"cut": 0, "glue": 3}, {"glue": {"fast": 1}})
    >>> p.value(schedule), Project(p.tasks, p.resources, p.precedences, "weighted-tardiness").value(schedule)
    (5, 2)
    """

    tasks: tuple[Task, ...]
    resources: tuple[Resource, ...]
    precedences: tuple[Link, ...]
    objective: str = MAKESPAN
    no_wait: tuple[Pair, ...] = ()
    blocking: tuple[Pair, ...] = ()
    permutation: tuple[str, ...] = ()

    kind: str = field(default="project", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)

    def __init__(
        self,
        tasks: Iterable[Task],
        resources: Iterable[Resource],
        precedences: Iterable[tuple[str, str] | Link] = (),
        objective: str = MAKESPAN,
        no_wait: Iterable[Pair] = (),
        blocking: Iterable[Pair] = (),
        permutation: Iterable[str] = (),
    ) -> None:
        values = {
            "tasks": tuple(tasks),
            "resources": tuple(resources),
            "precedences": tuple(_links(precedences, "precedences")),
            "objective": objective,
            "no_wait": tuple(link[:2] for link in _links(no_wait, "no_wait", delays=False)),
            "blocking": tuple(link[:2] for link in _links(blocking, "blocking", delays=False)),
            "permutation": tuple(permutation),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        terms(objective)
        _check_modes(self.tasks)
        faults = _make_whole(self) or list(_faults(self)) or list(faults_of_rules(self))
        if not faults:
            faults = [*_cycles(self), *_impossible(self)]
        if faults:
            more = ""
            if len(faults) > 10:
                more = f"\n... and {len(faults) - 10} more"
            raise ProblemError("\n".join(faults[:10]) + more)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        resources: Iterable[Resource] | None = None,
        objective: str | None = None,
        permutation: Iterable[str] | None = None,
    ) -> Project:
        """Return the project of a directed graph of networkx: its nodes are the tasks, its edges the precedences.

        Parameters
        ----------
        graph : networkx.DiGraph or networkx.MultiDiGraph
            Attributes of a node: ``duration`` and ``demands`` (a dict), or ``modes``, ``{name: (duration, demands)}``; and
            each field of ``Task`` by its name. Attributes of an edge: ``delay``, and ``no_wait`` and ``blocking`` (True or
            False). Other attributes are not used.
        resources, objective, permutation
            As for ``Project``. None: those in ``graph.graph``, where ``to_networkx`` puts them.

        Raises
        ------
        WrongArgument
            If it is no directed graph, or there are no resources.
        ProblemError
            If a node has neither a duration nor modes, or the data contradict each other.

        Examples
        --------
        >>> import networkx as nx
        >>> graph = nx.DiGraph()
        >>> graph.add_node("cut", duration=3, demands={"saw": 1})
        >>> graph.add_node("glue", duration=2, due=4)
        >>> graph.add_edge("cut", "glue", delay=1)
        >>> p = Project.from_networkx(graph, [Resource("saw", 1)])
        >>> p.heads, p.tasks[1].due
        ({'cut': 0, 'glue': 4}, 4)
        """
        given = {"resources": resources, "objective": objective, "permutation": permutation}
        return Project(**project_arguments(graph, given))

    def to_networkx(self) -> Any:
        """Return the project as a ``networkx.DiGraph`` with the attributes that ``from_networkx`` reads.

        Of several precedences of the same two tasks, the graph has the one with the greatest delay.

        Examples
        --------
        >>> p = Project([Task.single("a", 3, due=9), Task.single("b", 2)], [Resource("m", 1)], [("a", "b", 1)])
        >>> p.to_networkx().nodes["a"], p.to_networkx().edges["a", "b"]
        ({'duration': 3, 'demands': {}, 'due': 9}, {'delay': 1})
        >>> Project.from_networkx(p.to_networkx()) == p
        True
        """
        return project_graph(self)

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
        import networkx as nx  # 0.2 s: what only reads precedences uses ``after`` and ``before``

        graph = nx.DiGraph()
        graph.add_nodes_from(t.name for t in self.tasks)
        for before, links in self.after.items():
            graph.add_edges_from((before, after, {"delay": delay}) for after, delay in links.items())
        return graph

    @cached_property
    def after(self) -> dict[str, dict[str, int]]:
        """The successors of each task, with the greatest delay of each."""
        links: dict[str, dict[str, int]] = {t.name: {} for t in self.tasks}
        for before, after, delay in self.precedences:
            links[before][after] = max(delay, links[before].get(after, delay))
        return links

    @cached_property
    def before(self) -> dict[str, dict[str, int]]:
        """The predecessors of each task, with the greatest delay of each."""
        links: dict[str, dict[str, int]] = {t.name: {} for t in self.tasks}
        for before, after, delay in self.precedences:
            links[after][before] = max(delay, links[after].get(before, delay))
        return links

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The tasks so that each one follows its predecessors; without those on or after a cycle."""
        left = {name: len(links) for name, links in self.before.items()}
        order = [name for name, count in left.items() if not count]
        for name in order:  # which grows
            for after in self.after[name]:
                left[after] -= 1
                if not left[after]:
                    order.append(after)
        return tuple(order)

    @cached_property
    def heads(self) -> dict[str, int]:
        """The earliest start of each task: the longest path to it from a release date, with the shortest modes."""
        return _longest(self, forward=True)

    @cached_property
    def tails(self) -> dict[str, int]:
        """The least time from the end of each task to the end of the project: the longest path from it."""
        return _longest(self, forward=False)

    @cached_property
    def horizon(self) -> int:
        """An end by which some optimal schedule has ended all tasks.

        From the last release date and the last end of a break on, some task always runs in such a schedule, or a delay or a
        setup is waited for: else all later tasks could start earlier, and no objective would become worse. Earliness would,
        before the last due date.
        """
        return self._last_date + sum(t.longest for t in self.tasks) + sum(self._waits.values())

    @property
    def _last_date(self) -> int:
        """The last release date, end of a break and, for earliness, due date; at least 0."""
        dates = [0, *(t.release for t in self.tasks), *(over for r in self.resources for _, over in r.breaks)]
        if "weighted-earliness" in terms(self.objective):
            dates += [t.due for t in self.tasks if t.due is not None]
        return max(dates)

    @property
    def _waits(self) -> dict[str, int]:
        """The greatest delay or setup before each task that has one."""
        waits: dict[str, int] = {}
        for _, after, delay in self.precedences:
            waits[after] = max(delay, waits.get(after, 0))
        for resource in self.resources:
            longest: dict[str, int] = {}
            for (_, kind), time in resource.setups.items():
                longest[kind] = max(time, longest.get(kind, 0))
            for task in self.tasks if longest else ():
                waits[task.name] = max(longest.get(task.kind, 0), waits.get(task.name, 0))
        return waits

    @cached_property
    def features(self) -> tuple[str, ...]:
        """What it has beside modes, resources and precedences, in words.

        Examples
        --------
        >>> Project([Task.single("a", 3, release=2, deadline=9)], []).features
        ('release dates', 'deadlines')
        """
        has = {
            "release dates": any(t.release for t in self.tasks),
            "deadlines": any(t.deadline is not None for t in self.tasks),
            "tasks that may be left out": any(t.optional for t in self.tasks),
            "setups": any(r.setups for r in self.resources),
            "breaks": any(r.breaks for r in self.resources),
            "no-idle resources": any(r.no_idle for r in self.resources),
            "precedences without a wait": bool(self.no_wait),
            "blocking": bool(self.blocking),
            "a permutation": bool(self.permutation),
        }
        return tuple(name for name, given in has.items() if given)

    def with_tasks(self, names: Collection[str]) -> Project:
        """Return the project of some of its tasks, with what the others do not concern; it minimizes the makespan.

        Examples
        --------
        >>> p = Project([Task.single(n, 2) for n in "abc"], [], [("a", "b"), ("b", "c")], no_wait=[("b", "c")])
        >>> p.with_tasks(["b", "c"]).precedences
        (('b', 'c', 0),)
        """
        tasks = [t for t in self.tasks if t.name in names]
        kinds = {t.kind for t in tasks}
        resources = [
            replace(r, setups={pair: time for pair, time in r.setups.items() if kinds.issuperset(pair)})
            for r in self.resources
        ]
        links = [link for link in self.precedences if link[0] in names and link[1] in names]
        no_wait = [pair for pair in self.no_wait if pair[0] in names and pair[1] in names]
        blocking = [pair for pair in self.blocking if pair[0] in names and pair[1] in names]
        return Project(tasks, resources, links, no_wait=no_wait, blocking=blocking, permutation=self.permutation)

    def start_window(self, task: Task, duration: int, horizon: int | None = None) -> tuple[int, int]:
        """Return the earliest and latest start of a task in a mode of this duration, within the horizon (None: the usual)."""
        if horizon is None:
            end = self.horizon
        else:
            end = horizon
        return self.heads[task.name], end - self.tails[task.name] - duration

    @property
    def formulations(self) -> Mapping[str, Callable[..., Encoding]]:
        """``modes``: an interval per task and, if it has several modes, an optional one per mode (exact).

        ``formulations["modes"](horizon=H)`` lets the tasks end by H; without it, by ``horizon``, which suffices for the
        project alone, and not for constraints that are added to the model.
        """
        return formulations_of(self, ".project.formulations:FORMULATIONS")

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, found by a sweep over its events on the data alone."""
        return verification.verify(self, checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> int:
        """Return the objective, from the data alone; raise KeyError for a task without a start or mode."""
        needed = [t.name for t in self.tasks if not t.optional]
        return value_of(schedule, lambda: needed, lambda s: verification.value(self, s), "task")

    def read(self, data: Any) -> Schedule:
        """Return the schedule of JSON data; raise ValueError, with the name of the job, if the data are malformed."""
        return Schedule.from_json(data)


def _links(given: object, argument: str, delays: bool = True) -> Iterator[Link]:
    """Yield (before, after, delay) of each precedence; raise WrongArgument for anything else."""
    form = "(before, after)"
    if delays:
        form = "(before, after) or (before, after, delay)"
    if not isinstance(given, Iterable) or isinstance(given, (str, Mapping)) or hasattr(given, "columns"):
        listed = "(before, after, delay)"
        if not delays:
            listed = form
        raise WrongArgument(f"{argument} of Project is {given!r:.100}; expected a list of {listed}")
    lengths = (2, 3) if delays else (2,)
    for k, p in enumerate(given):
        if type(p) is tuple and len(p) == 2 and type(p[0]) is type(p[1]) is str:  # the common case, kept fast
            yield p[0], p[1], 0
            continue
        names = ()
        if isinstance(p, (tuple, list)) and len(p) in lengths:
            names = tuple(map(name_of, p[:2]))
        if not names or not all(isinstance(name, str) for name in names):
            raise WrongArgument(f"{argument}[{k}] of Project is {p!r:.100}; expected {form} with the names of tasks")
        yield names[0], names[1], p[2] if len(p) == 3 else 0


def _check_modes(tasks: Sequence[Task]) -> None:
    """Raise WrongArgument if the modes of a task are no modes."""
    for t in tasks:
        if not isinstance(t.modes, (tuple, list)) or not {Mode}.issuperset(map(type, t.modes)):
            expect(f"modes of task {t.name!r}", t.modes, Sequence[Mode])


def _longest(project: Project, forward: bool) -> dict[str, int]:
    """Return the longest path over the precedences to the start of each task, or from its end; at least 0.

    A task that may be left out is no part of a path to another task. Paths to a start begin with release dates.
    """
    links, order = project.before, project.order
    if not forward:
        links, order = project.after, order[::-1]
    shortest = {t.name: min(m.duration for m in project.possible(t)) for t in project.tasks}
    paths_from = {t.name: t.release if forward else 0 for t in project.tasks}
    left_out = {t.name for t in project.tasks if t.optional}
    for name in order:
        paths = (
            paths_from[other] + shortest[other] + delay for other, delay in links[name].items() if other not in left_out
        )
        paths_from[name] = max(paths_from[name], max(paths, default=0))
    return paths_from


def _make_whole(p: Project) -> list[str]:
    """Convert NumPy's integers to Python's; return a message for each value that is no whole number."""
    resources, faults = whole_records(p.resources, RESOURCE, lambda r: f"resource {r.name!r}")
    resources, faults_of_setups = _with_whole_setups(resources)
    tasks: list[Task] = []
    modes_are_whole = all_fields_whole([m for t in p.tasks for m in t.modes], MODE) and all_fields_whole(p.tasks, TASK)
    for t in p.tasks:
        if modes_are_whole and type(t.modes) is tuple:  # the common case, kept fast
            tasks.append(t)
            continue
        modes, faults_of_modes = whole_records(t.modes, MODE, lambda m, t=t: f"task {t.name!r}, mode {m.name!r}")  # type: ignore[misc]
        (named,), wrong_values = whole_records([t], TASK, lambda t: f"task {t.name!r}")
        tasks.append(named if modes is t.modes or faults_of_modes else replace(named, modes=modes))
        faults += [*wrong_values, *faults_of_modes]
    for before, after, delay in p.precedences:
        if not is_whole(delay):
            faults.append(f"precedence {before!r} -> {after!r}: the delay {wrong(delay)}")
    faults += faults_of_setups
    if not faults:
        links = tuple((before, after, int(delay)) for before, after, delay in p.precedences)
        for name, value in {"resources": resources, "tasks": tuple(tasks), "precedences": links}.items():
            object.__setattr__(p, name, value)
    return faults


def _with_whole_setups(resources: tuple[Resource, ...]) -> tuple[tuple[Resource, ...], list[str]]:
    """Return resources whose setups are whole numbers of pairs of families, and the faults."""
    faults: list[str] = []
    made = []
    for r in resources:
        if isinstance(r.setups, Mapping) and not r.setups:
            made.append(r)
            continue
        expect(f"setups of resource {r.name!r}", r.setups, Mapping[tuple[str, str], int])
        times = {(str(a), str(b)): time for (a, b), time in r.setups.items()}
        whole, wrong_times = whole_amounts({f"{a} -> {b}": time for (a, b), time in times.items()}, "setup of")
        faults += [f"resource {r.name!r}: {text}" for text in wrong_times]
        made.append(r if wrong_times else replace(r, setups=dict(zip(times, whole.values(), strict=True))))
    return tuple(made), faults


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


def faults_of_rules(p: Project) -> Iterator[str]:
    """Yield a message for each contradiction in dates, setups, breaks, blocking, permutation and objective."""
    for t in p.tasks:
        yield from _faults_of_dates(t)
    for r in p.resources:
        yield from _faults_of_machine(p, r)
    yield from _faults_of_pairs(p)
    yield from _faults_of_permutation(p)
    factors = terms(p.objective)
    of_due_dates = [name for name in factors if name in OF_DUE_DATES]
    if of_due_dates and p.tasks and all(t.due is None for t in p.tasks):
        yield f"the objective {of_due_dates[0]!r} needs due dates, and no task has one"
    if "total-setup" in factors and not any(r.setups for r in p.resources):
        yield "the objective 'total-setup' needs setups, and no resource has one"


def _faults_of_dates(t: Task) -> Iterator[str]:
    for name in ("release", "deadline", "due", "weight", "earliness_weight", "penalty"):
        number = getattr(t, name)
        if number is not None and number < 0:
            yield f"task {t.name!r}: {name} is {number}; at least 0 is expected"
    if t.deadline is not None and t.release > t.deadline:
        yield f"task {t.name!r}: the deadline {t.deadline} is before the release {t.release}"


def _faults_of_machine(p: Project, r: Resource) -> Iterator[str]:
    """Yield what is wrong with the setups, breaks and idle times of a resource."""
    where = f"resource {r.name!r}"
    for (before, after), time in r.setups.items():
        if time < 0:
            yield f"{where}: the setup {before!r} -> {after!r} is {time}; at least 0 is expected"
    for begin, over in r.breaks:
        if begin >= over:
            yield f"{where}: the break from {begin} to {over} is empty"
    words = [word for word, given in (("setups", r.setups), ("no idle time", r.no_idle)) if given]
    if words and not (r.renewable and r.capacity == 1):
        yield f"{where} has {words[0]}; this needs a renewable resource of capacity 1"
    if len(words) > 1:
        yield f"{where} has both setups and no idle time; a setup is idle time"
    if r.breaks and not r.renewable:
        yield f"{where} is not renewable, and has breaks"
    if r.setups:
        known = {t.kind for t in p.tasks}
        for kind in dict.fromkeys(kind for pair in r.setups for kind in pair if kind not in known):
            yield f"{where}: a setup has {kind!r}; {hint(kind, sorted(known), 'the families are', 'there is no task')}"


def _faults_of_pairs(p: Project) -> Iterator[str]:
    """Yield what is wrong with the pairs of tasks that do not wait or that block."""
    links = Counter(link[:2] for link in p.precedences)
    optional = {t.name for t in p.tasks if t.optional}
    for what, pairs in (("no_wait", p.no_wait), ("blocking", p.blocking)):
        for before, after in pairs:
            if links[before, after] != 1:
                many = "several precedences"
                if not links[before, after]:
                    many = "no precedence"
                yield f"{what} {before!r} -> {after!r}: there is {many} of these tasks; exactly one is expected"
    delays = {link[:2]: link[2] for link in p.precedences}
    for (before, after), count in Counter(p.blocking).items():
        if delays.get((before, after), 0) < 0:
            yield f"blocking {before!r} -> {after!r}: the delay is {delays[before, after]}; at least 0 is expected"
        if count > 1:
            yield f"blocking {before!r} -> {after!r} is listed {how_many(count, 'time')}"
        if {before, after} & optional:
            yield f"blocking {before!r} -> {after!r}: a task that may be left out cannot block or be waited for"
    for before, count in Counter(before for before, _ in dict.fromkeys(p.blocking)).items():
        if count > 1:
            yield f"task {before!r} blocks its resources until {count} tasks start; one is expected"


def _faults_of_permutation(p: Project) -> Iterator[str]:
    machines = {r.name for r in p.resources if r.renewable and r.capacity == 1}
    for name in p.permutation:
        if name not in machines:
            yield f"permutation: there is no renewable resource {name!r} of capacity 1"
    on: Counter[tuple[str, str]] = Counter()
    for t in p.tasks if p.permutation else ():
        used = [tuple(n for n in p.permutation if m.demands.get(n)) for m in t.modes]
        if not any(used):
            continue
        if not t.job:
            yield f"permutation: task {t.name!r} needs a job"
        if len(set(used)) > 1 or len(used[0]) > 1:
            yield f"permutation: task {t.name!r} must use the same single resource of it in all modes"
        if t.optional:
            yield f"permutation: task {t.name!r} may be left out; this is not possible"
        if not t.shortest:
            yield f"permutation: task {t.name!r} can take no time; at least 1 is expected"
        on[t.job, used[0][0] if used[0] else ""] += 1
    for (job, name), count in on.items():
        if count > 1:
            yield f"permutation: job {job!r} has {how_many(count, 'task')} on {name!r}; at most one is expected"


def _cycles(p: Project) -> Iterator[str]:
    if len(p.order) == len(p.tasks):
        return
    import networkx as nx

    cycle: Sequence[tuple[str, str]] = nx.find_cycle(p.graph)
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


# --- Projects with maximal time lags (RCPSP/max): a task starts at most some time after the start of another one.


@with_short_repr
@dataclass(frozen=True, init=False)
class ProjectMax(Project):
    """A project with maximal time lags [Bartusch1988].

    Minimal time lags are the delays of precedences. With maximal ones, even finding a feasible schedule is NP-complete: the
    heuristics for projects do not support it, solvers do.

    Parameters
    ----------
    tasks, resources, precedences, objective, no_wait, blocking, permutation
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

    lags: tuple[Link, ...] = ()
    kind: str = field(default="project-max", init=False)

    def __init__(
        self,
        tasks: Iterable[Task],
        resources: Iterable[Resource],
        precedences: Iterable[tuple[str, str] | Link] = (),
        lags: Iterable[Link] = (),
        objective: str = MAKESPAN,
        no_wait: Iterable[Pair] = (),
        blocking: Iterable[Pair] = (),
        permutation: Iterable[str] = (),
    ) -> None:
        super().__init__(tasks, resources, precedences, objective, no_wait, blocking, permutation)
        object.__setattr__(self, "lags", tuple((name_of(a), name_of(b), most) for a, b, most in lags))
        known = {t.name for t in self.tasks}
        for first, second, most in self.lags:
            for name in (first, second):
                if name not in known:
                    raise ProblemError(f"maximal lag {first!r} -> {second!r}: there is no task {name!r}")
            if most < 0:
                raise ProblemError(f"maximal lag {first!r} -> {second!r}: it is {most}; at least 0 is expected")

    @property
    def formulations(self) -> Mapping[str, Callable[..., Encoding]]:
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


# --- Projects as graphs of networkx: tasks are nodes, precedences are edges, with the data as attributes.

SINGLE = "1"  # the name of the mode of a task that has one, as of Task.single
OF_TASK = tuple(f.name for f in fields(Task) if f.name not in ("name", "modes"))
OF_LINK = ("no_wait", "blocking")
OF_PROJECT = ("resources", "objective", "permutation")


def project_arguments(graph: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``Project`` that a directed graph holds; those in ``given`` that are not None replace its own.

    Raises
    ------
    WrongArgument
        If it is no directed graph of networkx, or has no resources.
    ProblemError
        If a node has no name of a task, or neither a duration nor modes.
    """
    if not getattr(graph, "is_directed", lambda: False)() or not hasattr(graph, "nodes"):
        raise WrongArgument(f"graph of from_networkx is {excerpt(graph)}; expected a directed graph of networkx")
    own = {name: graph.graph[name] for name in OF_PROJECT if name in graph.graph}
    own |= {name: value for name, value in given.items() if value is not None}
    if "resources" not in own:
        raise WrongArgument("resources of from_networkx is None, and the graph has none; expected a list of Resource")
    links = list(_links_of_graph(graph))
    pairs = {name: [link[:2] for link, data in links if data.get(name)] for name in OF_LINK}
    return {
        **own,
        **pairs,
        "tasks": [_task_of_node(node, data) for node, data in graph.nodes(data=True)],
        "precedences": [link for link, _ in links],
    }


def _links_of_graph(graph: Any) -> Iterator[tuple[tuple[Any, Any, Any], Mapping[str, Any]]]:
    for before, after, data in graph.edges(data=True):
        yield (before, after, data.get("delay", 0)), data


def _task_of_node(node: object, data: Mapping[str, Any]) -> Task:
    """Return the task of a node."""
    name = text_of(node)
    if name is None:
        raise ProblemError(
            f"a node of the graph is {excerpt(node)}; expected the name of a task, a text or a whole number"
        )
    values = {field: data[field] for field in OF_TASK if field in data}
    if "modes" in data:
        expect(f"modes of node {name!r}", data["modes"], Mapping[str, tuple[int, Mapping[str, int]]])
        modes = tuple(Mode(mode, duration, demands) for mode, (duration, demands) in data["modes"].items())
        return Task(name, modes, **values)
    if "duration" not in data:
        has = hint("duration", data, "its attributes are", "it has no attributes")
        raise ProblemError(f"node {name!r} of the graph has neither a duration nor modes; {has}")
    return Task(name, (Mode(SINGLE, data["duration"], data.get("demands", {})),), **values)


def project_graph(project: ProjectData) -> Any:
    """Return a project as a ``networkx.DiGraph``."""
    import networkx as nx

    graph = nx.DiGraph(**{name: getattr(project, name) for name in OF_PROJECT})
    for task in project.tasks:
        graph.add_node(task.name, **_attributes(task))
    for before, after, delay in project.precedences:
        known = graph.get_edge_data(before, after, {})
        graph.add_edge(before, after, delay=max(delay, known.get("delay", delay)))
    for name in OF_LINK:
        for before, after in _pairs(project, name):
            graph.edges[before, after][name] = True
    return graph


def _pairs(project: ProjectData, name: str) -> Iterable[tuple[str, str]]:
    pairs: Iterable[tuple[str, str]] = getattr(project, name)
    return pairs


def _attributes(task: Task) -> dict[str, Any]:
    """Return the attributes of a node: the duration and demands or the modes, and the fields that are not the usual ones."""
    usual = Task(task.name, task.modes)
    values = {name: getattr(task, name) for name in OF_TASK if getattr(task, name) != getattr(usual, name)}
    if [mode.name for mode in task.modes] == [SINGLE]:
        return {"duration": task.modes[0].duration, "demands": dict(task.modes[0].demands), **values}
    return {"modes": {mode.name: (mode.duration, dict(mode.demands)) for mode in task.modes}, **values}


# --- The registration of projects.

PROJECT = ProblemKind(
    "project",
    Project,
    reader="..instances.files.project_folder:read",
    writer="..instances.files.project_folder:write",
    start="multi-sgs",
    portfolio="..methods.portfolio:project_steps",
    allocator="..heuristics.project.serial_sgs:ProjectAllocator",
    bound="..heuristics.project.bound_for_solvers:bound_for_solvers",
    bound_warm_up="..heuristics.project.bound_for_solvers:warm_up_for_solvers",
    elements=".project.display:ProjectElements",
    formulations=("modes",),
    bench="..bench.kinds.project:PROJECT",
    gantt=".project.display:gantt",
    rows=".project.display:rows",
    columns=("job", "mode", "start", "end", "duration", "demands", "nodes"),
)

PROJECT_MAX = ProblemKind(
    "project-max",
    ProjectMax,
    bound="..heuristics.project.bound_for_solvers:bound_for_solvers",
    bound_warm_up="..heuristics.project.bound_for_solvers:warm_up_for_solvers",
    formulations=("modes",),
    bench="..bench.kinds.project:PROJECT_MAX",
    gantt=".project.display:gantt",
    rows=".project.display:rows",
    columns=("job", "mode", "start", "end", "duration", "demands", "nodes"),
)
