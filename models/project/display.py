"""How a project is shown: the Gantt chart and the table of a schedule, and the elements of which an explanation speaks.

The elements are resources, their setups, breaks and idle times, tasks, their release dates and deadlines, precedences,
those of them without a wait or that block, and the permutation. Without its element, a task is not there, and none of its
precedences; a precedence does not hold; a resource has as much as all tasks together need in any of their modes, without
setups, and may be idle; and a break does not exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..elements import Element, Elements, named, plain_sentence
from ..gantt import Bar, Closed, Gantt, Piece, Row, pack
from ..problem import Schedule
from ..words import listed
from .problem import Link, Pair, Project, Resource, Task
from .verification import MAKESPAN, OF_DUE_DATES, done_tasks, joined, terms

OTHERS = "no resource"
HEIGHT = 3.0  # of the row of a resource, relative to that of a machine, whose capacity is 1
KEPT = "hatched: a task keeps its resource until the next one starts"


class TaskRow(NamedTuple):
    """A task in a schedule: its mode, start, end, and the demand of each renewable resource that it uses.

    ``held`` is how long it keeps its resources after its end, as it blocks them.
    """

    task: str
    mode: str
    start: int
    end: int
    demands: Mapping[str, int]
    held: int = 0

    @property
    def left(self) -> int:
        """The time at which it gives up its resources."""
        return self.end + self.held


class Band(NamedTuple):
    """A resource with the rectangles of the tasks that use it."""

    name: str
    capacity: int
    pieces: list[Piece]


def scheduled(project: Project, schedule: Schedule) -> list[TaskRow]:
    """Return each task that has a start and a mode, with its times."""
    renewable = {r.name for r in project.resources if r.renewable}
    rows = []
    for name, row in done_tasks(project, schedule).items():
        used = {r: amount for r, amount in row.mode.demands.items() if amount and r in renewable}
        rows.append(TaskRow(name, row.mode.name, row.start, row.end, used, row.left - row.end))
    return rows


def capacities(project: Project) -> dict[str, int]:
    """Return the capacity of each renewable resource."""
    return {r.name: r.capacity for r in project.resources if r.renewable}


def breaks_of(project: Project) -> dict[str, list[tuple[int, int]]]:
    """Return the breaks of each renewable resource that has some."""
    return {r.name: list(joined(r.breaks)) for r in project.resources if r.renewable and r.breaks}


def bands(tasks: Iterable[TaskRow], capacity: Mapping[str, int]) -> list[Band]:
    """Return a band per renewable resource, and one for the tasks that use none of them.

    A task occupies as many units of the resource as it demands, next to each other where that is possible, until it gives them
    up. A piece has the index of its task. Tasks that last no time have no piece.
    """
    known = list(enumerate(tasks))
    drawn = []
    for name, units in capacity.items():
        use = [(k, t.start, t.left, t.demands.get(name, 0)) for k, t in known]
        drawn.append(Band(name, units, list(pack([row for row in use if row[3] and row[2] > row[1]], units))))
    alone = [(k, t) for k, t in known if not any(t.demands.values())]
    if alone:
        pieces = list(pack([(k, t.start, t.end, 1) for k, t in alone if t.end > t.start], len(alone)))
        drawn.append(Band(OTHERS, max((p.high for p in pieces), default=1), pieces))
    return drawn


def chart(
    tasks: Iterable[TaskRow],
    capacity: Mapping[str, int],
    several: Container[str] = (),
    closed: Mapping[str, Iterable[Sequence[int]]] | None = None,
) -> Gantt:
    """Return the Gantt chart of tasks: resources are rows, the height of a task is its demand.

    A task that lasts no time is a mark in the row of each of its resources. What a task keeps after its end is hatched.

    Parameters
    ----------
    tasks : iterable of TaskRow
        The tasks.
    capacity : mapping of str to int
        The capacity of each renewable resource.
    several : container of str
        The tasks with several modes, whose mode is shown.
    closed : mapping of str to pairs of int, optional
        The breaks (begin, end) of resources; those that begin within the chart are drawn.

    Returns
    -------
    Gantt
        Times are in the time unit of the project.
    """
    known = list(tasks)
    shown = bands(known, capacity)
    labels = [f"{t.task} ({t.mode})" if t.task in several else t.task for t in known]
    bars = [
        bar
        for k, band in enumerate(shown)
        for bar in (*_pieces(k, band, known, labels), *_moments(k, band, known, labels))
    ]
    end = max((bar.end for bar in bars), default=0)
    row = {name: k for k, name in enumerate(capacity)}
    rests = [
        Closed(begin, over, "break", row[name])
        for name, windows in (closed or {}).items()
        for begin, over in windows
        if begin < end and over > 0
    ]
    kept = ""
    if any(bar.hatched for bar in bars):
        kept = f"; {KEPT}"
    return Gantt(
        tuple(Row(_label(b), 1 if b.capacity <= 1 else HEIGHT) for b in shown),
        tuple(bars),
        tuple(dict.fromkeys(job_of(t.task) for t in known)),
        title=f"tasks on resources (capacity); the height of a task is its demand{kept}",
        start=0,
        closed=tuple(rests),
        seconds=False,
        legend=False,
    )


def _pieces(row: int, band: Band, tasks: Sequence[TaskRow], labels: Sequence[str]) -> Iterator[Bar]:
    """Yield the rectangles of the tasks in a band, and hatched ones from the ends of those that keep it."""
    unit = 1 / max(band.capacity, 1)
    for piece in band.pieces:
        t = tasks[piece.task]
        bar = Bar(row, t.start, t.end, labels[piece.task], job_of(t.task), unit * piece.low, unit * piece.high)
        if t.end > t.start:
            yield bar
        if piece.end > t.end:
            yield bar._replace(start=t.end, end=piece.end, label=f"{bar.label} blocks", hatched=True)


def _moments(row: int, band: Band, tasks: Sequence[TaskRow], labels: Sequence[str]) -> Iterator[Bar]:
    """Yield the marks of the tasks in a band that last no time; those at one time share the height of the row."""
    alone = band.name == OTHERS
    moments = [
        k
        for k, t in enumerate(tasks)
        if t.start == t.end and (not any(t.demands.values()) if alone else t.demands.get(band.name))
    ]
    at = Counter(tasks[k].start for k in moments)
    placed: Counter[int] = Counter()
    for k in moments:
        time = tasks[k].start
        low, high = placed[time] / at[time], (placed[time] + 1) / at[time]
        placed[time] += 1
        yield Bar(row, time, time, labels[k], job_of(tasks[k].task), low, high)


def gantt(project: Project, schedule: Schedule) -> Gantt:
    """Return the Gantt chart of a schedule: resources are rows, with their breaks; a task with several modes shows its mode."""
    several = {t.name for t in project.tasks if len(t.modes) > 1}
    return chart(scheduled(project, schedule), capacities(project), several, breaks_of(project))


def rows(project: Project, schedule: Schedule) -> list[dict[str, Any]]:
    """Return a row for each task: job (its name), mode, start, end, duration, demands, nodes ({mode: 1}).

    ``demands`` is a dictionary of all resources, ``nodes`` the mode as the schedule has it.
    """
    return [
        {
            "job": name,
            "mode": row.mode.name,
            "start": row.start,
            "end": row.end,
            "duration": row.end - row.start,
            "demands": dict(row.mode.demands),
            "nodes": schedule.nodes.get(name),
        }
        for name, row in done_tasks(project, schedule).items()
    ]


def job_of(task: str) -> str:
    """Return the job of a task of a job shop ("job 1 step 2": "job 1"); other tasks are jobs of their own."""
    return task.partition(" step ")[0]


def _label(band: Band) -> str:
    if band.name == OTHERS:
        return band.name
    return f"{band.name} ({band.capacity:,})"


# --- The elements of which an explanation speaks.


#
# Removing an element must never make a feasible project infeasible, nor its objective worse:
#
# - Without a task between two others, the setup between these may be longer than the two setups and the task, and a resource
#   without idle time may be idle. There a task that is removed may be done or left out, at no cost.
# - A task that does not block ends earlier, so that its resource may be idle before the next one: without a pair that blocks,
#   idle times of the resources of its first task are allowed.
# - Without a break that suspends, tasks end earlier: those that must not wait would have to start earlier, too. What depends
#   on ends in this way goes with the breaks. All such breaks of a resource are then one element, so that a conflict of what
#   depends on them does not list each of them.
# - Without its release date, a task has a longer flow time at the same end: where flow times are in the objective, its weight
#   is 0.


class ProjectElements(Elements):
    """The elements of a project.

    Parameters
    ----------
    problem : Project
        The project.
    """

    def __init__(self, problem: Project) -> None:
        self.problem = problem
        penalized = any(t.penalty for t in problem.tasks)
        if penalized:
            limited = f"{problem.objective} plus the penalties of tasks left out"
        else:
            limited = problem.objective
        self.objectives = (limited,)
        self.links = _names(problem.precedences)
        self.joined_breaks = {r.name for r in problem.resources if r.breaks and r.suspends and self._decides_ends(r)}
        most = {t.name: max(m.duration for m in t.modes) for t in problem.tasks}
        self.all = (
            *(Element("resource", r.name, _capacity(r)) for r in sorted(problem.resources, key=lambda r: r.renewable)),
            *(Element("setups", r.name, _setups(r)) for r in problem.resources if any(r.setups.values())),
            *(Element("no idle time", r.name, _no_idle(r)) for r in problem.resources if r.no_idle),
            *([Element("permutation", "permutation", _permutation(problem))] if problem.permutation else []),
            *(Element("task", t.name, _task(t)) for t in sorted(problem.tasks, key=lambda t: -most[t.name])),
            *(e for r in problem.resources for e in self._breaks(r).values()),
            *(_deadline(t) for t in problem.tasks if t.deadline is not None),
            *(
                Element("release", t.name, f"{t.name} starts at {t.release} or later")
                for t in problem.tasks
                if t.release
            ),
            *(Element("precedence", name, _link(link)) for name, link in self.links.items()),
            *(Element("no wait", _arrow(pair), _no_wait(problem, pair)) for pair in dict.fromkeys(problem.no_wait)),
            *(Element("blocking", _arrow(pair), _blocking(pair)) for pair in problem.blocking),
        )

    def _breaks(self, resource: Resource) -> dict[tuple[int, int], Element]:
        """Return the element of each break of a resource; in ``joined_breaks``, all have the same one."""
        windows = dict.fromkeys(resource.breaks)
        if resource.name not in self.joined_breaks or len(windows) == 1:
            return {window: _break(resource, window) for window in windows}
        one = Element("break", resource.name, f"the {len(windows)} breaks of {resource.name} suspend its tasks")
        return dict.fromkeys(windows, one)

    def _decides_ends(self, resource: Resource) -> bool:
        """Return whether a task that breaks of a resource suspend could contradict a rule, or cost more, if it ended earlier."""
        p = self.problem
        if _counts_earliness(p):
            return bool(p.no_wait or p.blocking) or any(r.no_idle for r in p.resources)
        moved = _users(p, [resource.name])
        idle = _users(p, [r.name for r in p.resources if r.no_idle])
        return bool(moved & idle) or any(before in moved for before, _ in p.no_wait)

    def part(self, kept: Collection[Element]) -> Project:
        """Return the project with the kept elements alone."""
        names = {(e.kind, e.name) for e in kept}
        p = self.problem
        there = {t.name for t in p.tasks if ("task", t.name) in names}
        links = [link for name, link in self.links.items() if ("precedence", name) in names]
        links = [link for link in links if link[0] in there and link[1] in there]
        pairs = {link[:2] for link in links}
        moved = self._moved(names)
        no_wait = [pair for pair in p.no_wait if pair in pairs and ("no wait", _arrow(pair)) in names]
        no_wait = [pair for pair in no_wait if pair[0] not in moved]
        blocking = [pair for pair in p.blocking if pair in pairs and ("blocking", _arrow(pair)) in names]
        if moved and _counts_earliness(p):
            no_wait, blocking = [], []
        unblocked = {before for before, after in p.blocking if (before, after) not in blocking}
        resources = [self._resource(r, names, unblocked | moved) for r in p.resources]
        between = self._between(resources, there)
        flow = "flow-time" in terms(p.objective)
        tasks = [
            _task_part(t, names, flow) if t.name in there else _free(t)
            for t in p.tasks
            if t.name in there or t.name in between
        ]
        kinds = {t.kind for t in tasks}
        resources = [
            replace(r, setups={pair: time for pair, time in r.setups.items() if kinds.issuperset(pair)})
            for r in resources
        ]
        ordered = [r for r in p.permutation if {("permutation", "permutation"), ("resource", r)} <= names]
        ordered = [r for r in ordered if not any(_uses(t, r) for t in tasks if t.name not in there)]
        objective, tasks = _objective_of_part(p.objective, tasks, resources)
        return Project(tasks, resources, links, objective, no_wait, blocking, ordered)

    def _moved(self, names: Collection[tuple[str, str]]) -> set[str]:
        """Return the tasks that can end earlier as breaks that suspended them are removed."""
        lost = [
            r.name
            for r in self.problem.resources
            if r.name in self.joined_breaks and any((e.kind, e.name) not in names for e in self._breaks(r).values())
        ]
        if lost and _counts_earliness(self.problem):
            return {t.name for t in self.problem.tasks}
        return _users(self.problem, lost)

    def _resource(self, resource: Resource, names: Collection[tuple[str, str]], earlier: set[str]) -> Resource:
        """Return a resource with its kept elements; ``earlier``: tasks that leave it earlier without their removed elements."""
        r = resource
        of_breaks = self._breaks(r)
        breaks = tuple(w for w in r.breaks if (of_breaks[w].kind, of_breaks[w].name) in names)
        if ("resource", r.name) not in names:
            need = (max(m.demands.get(r.name, 0) for m in t.modes) for t in self.problem.tasks)
            return Resource(r.name, max(r.capacity, sum(need)), r.renewable, breaks=breaks, suspends=r.suspends)
        no_idle = r.no_idle and ("no idle time", r.name) in names and not earlier & _users(self.problem, [r.name])
        setups = r.setups if ("setups", r.name) in names else {}
        return replace(r, setups=setups, breaks=breaks, no_idle=no_idle)

    def _between(self, resources: Sequence[Resource], there: Collection[str]) -> set[str]:
        """Return the removed tasks that make a setup shorter, or an idle time, if they are done."""
        gone = [t for t in self.problem.tasks if t.name not in there]
        if not gone:
            return set()
        counted = "total-setup" in terms(self.problem.objective)
        shortening = [r for r in resources if r.no_idle or (r.setups and _is_shortened(r, self.problem, counted))]
        return {t.name for t in gone if any(_uses(t, r.name) for r in shortening)}

    def refuted(self, part: Project) -> bool:
        """Return whether the least demands of the tasks exceed a resource that is not renewable."""
        return any(_least(part, r) > r.capacity for r in part.resources if not r.renewable)

    def sentence(self, found: Sequence[Element]) -> str:
        """Return which tasks need too much of a resource, follow one another, or cannot be done by the limit."""
        part = self.part(found)
        names = named(found, "resource")
        of_conflict = [r for r in part.resources if r.name in names]
        if len(of_conflict) == 1 and not of_conflict[0].renewable and {e.kind for e in found} == {"resource", "task"}:
            resource = of_conflict[0]
            need = _least(part, resource)
            tasks = listed([t.name for t in part.tasks])
            verb = "need"
            if len(part.tasks) == 1:
                verb = "needs"
            if need > resource.capacity:
                return f"{tasks} {verb} at least {need} of {resource.name} in all; the project has {resource.capacity}"
        limits = [e.text for e in found if e.kind == "limit"]
        plain = {"resource", "task", "precedence", "limit"}.issuperset(e.kind for e in found)
        if not limits or not part.tasks or not plain or part.features or self.problem.objective != MAKESPAN:
            return plain_sentence(found)
        tasks = listed([t.name for t in part.tasks])
        if {e.kind for e in found} <= {"task", "precedence", "limit"} and len(part.precedences) == len(
            part.tasks
        ) - 1:  # without one of them the rest is feasible: a path
            took = sum(t.shortest for t in part.tasks) + sum(delay for *_, delay in part.precedences)
            if len(part.tasks) == 1:
                return f"{tasks} takes {took}, but {listed(limits)}"
            return f"{tasks} follow one another and take {took} in all, but {listed(limits)}"
        having = [f"{r.capacity} of {r.name}" for r in of_conflict]
        order = []
        if part.precedences:
            order = ["their precedences"]
        return f"{tasks} cannot be done with {listed([*having, *order])} if {listed(limits)}"


def _least(part: Project, resource: Resource) -> int:
    """Return the least amount of a resource that all tasks which must be done need together, each in its cheapest possible mode."""
    needed = [t for t in part.tasks if not t.optional]
    return sum(min(m.demands.get(resource.name, 0) for m in part.possible(t)) for t in needed)


def _names(links: Sequence[Link]) -> dict[str, Link]:
    """Return the precedences by distinct names; equal pairs of tasks are numbered."""
    names: dict[str, Link] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for link in links:
        seen[link[:2]] += 1
        number = seen[link[:2]]
        names[f"{link[0]} -> {link[1]}" + (f" ({number})" if number > 1 else "")] = link
    return names


def _task_part(task: Task, names: Collection[tuple[str, str]], flow: bool) -> Task:
    """Return a task without its dates whose elements are removed; ``flow``: whether the objective has a flow time."""
    release = 0
    if ("release", task.name) in names:
        release = task.release
    deadline = None
    if ("deadline", task.name) in names:
        deadline = task.deadline
    if flow and release < task.release:
        return replace(task, release=0, deadline=deadline, weight=0, earliness_weight=task.early_weight)
    return replace(task, release=release, deadline=deadline)


def _free(task: Task) -> Task:
    """Return a task that may be done at any time, or be left out, and counts nothing."""
    return replace(
        task, release=0, deadline=None, due=None, weight=0, earliness_weight=None, penalty=0, family=task.kind, job=""
    )


def _uses(task: Task, resource: str) -> bool:
    """Return whether a task needs a resource in one of its modes."""
    return any(m.demands.get(resource) for m in task.modes)


def _users(project: Project, resources: Collection[str]) -> set[str]:
    """Return the tasks that need one of these resources in one of their modes."""
    return {t.name for t in project.tasks if any(_uses(t, r) for r in resources)}


def _counts_earliness(project: Project) -> bool:
    """Return whether a task that ends earlier can cost more."""
    return "weighted-earliness" in terms(project.objective)


def _is_shortened(resource: Resource, project: Project, counted: bool) -> bool:
    """Return whether a setup can be longer than two setups with a task between; ``counted``: setups are in the objective."""
    if resource.all_pairs and not counted:
        return False
    lasting: dict[str, int] = {}  # the least time of the tasks of each family
    for t in project.tasks:
        durations = [m.duration for m in t.modes if m.demands.get(resource.name)]
        durations = [d for d in durations if d or resource.all_pairs]
        if durations:
            lasting[t.kind] = min(*durations, lasting.get(t.kind, durations[0]))
    kinds = list(lasting)
    times = np.array([[resource.setups.get((a, b), 0) for b in kinds] for a in kinds], dtype=np.int64)
    return any(
        bool((times > times[:, [k]] + times[[k], :] + (0 if counted else lasting[kind])).any())
        for k, kind in enumerate(kinds)
    )


def _objective_of_part(objective: str, tasks: list[Task], resources: Sequence[Resource]) -> tuple[str, list[Task]]:
    """Return the terms of an objective that a part can have, and its tasks; if none is left, a term that is always 0."""
    dated = any(t.due is not None for t in tasks)
    there = {"total-setup": any(r.setups for r in resources), **dict.fromkeys(OF_DUE_DATES, dated)}
    left = [f"{factor}*{name}" for name, factor in terms(objective).items() if there.get(name, True)]
    if left:
        return "+".join(left), tasks
    return "late-jobs", [replace(t, due=0, weight=0) for t in tasks]


def _arrow(pair: Pair) -> str:
    return f"{pair[0]} -> {pair[1]}"


def _setups(resource: Resource) -> str:
    which = "neighbouring"
    if resource.all_pairs:
        which = "any two"
    return f"{resource.name} needs setups of up to {max(resource.setups.values())} between {which} tasks"


def _no_idle(resource: Resource) -> str:
    return f"each task on {resource.name} starts when the one before it ends"


def _permutation(project: Project) -> str:
    return f"the jobs have the same order on {listed(project.permutation)}"


def _break_name(resource: Resource, window: tuple[int, int]) -> str:
    return f"{resource.name} from {window[0]} to {window[1]}"


def _break(resource: Resource, window: tuple[int, int]) -> Element:
    name = _break_name(resource, window)
    does = "has no task"
    if resource.suspends:
        does = "suspends its tasks"
    return Element("break", name, f"the break of {name} {does}")


def _no_wait(project: Project, pair: Pair) -> str:
    delay = next(link[2] for link in project.precedences if link[:2] == pair)
    later = "at"
    if delay > 0:
        later = f"{delay} after"
    elif delay < 0:
        later = f"{-delay} before"
    return f"{pair[1]} starts exactly {later} the end of {pair[0]}"


def _blocking(pair: Pair) -> str:
    return f"{pair[0]} keeps its resources until {pair[1]} starts"


def _deadline(task: Task) -> Element:
    return Element("deadline", task.name, f"{task.name} ends by {task.deadline}")


def _capacity(r: Resource) -> str:
    return f"the project has {r.capacity} of {r.name} {'at any time' if r.renewable else 'in all'}"


def _task(t: Task) -> str:
    modes = []
    for m in t.modes:
        amounts = [f"{n} of {r}" for r, n in m.demands.items() if n]
        mode = ""
        if len(t.modes) > 1:
            mode = f"in mode {m.name} "
        modes.append(f"{mode}takes {m.duration}" + (f" with {listed(amounts)}" if amounts else ""))
    return f"{t.name} {' or '.join(modes)}"


def _link(link: Link) -> str:
    before, after, delay = link
    if delay < 0:
        return f"{after} starts no earlier than {-delay} before the end of {before}"
    return f"{after} starts after the end of {before}" + (f", {delay} later at the earliest" if delay else "")
