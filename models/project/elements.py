"""The removable elements of a project: tasks, their release dates and deadlines, precedences, resources.

Without its element, a task is not there, and none of its precedences; a precedence does not hold; and a resource has as
much as all tasks together need in any of their modes, without breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from ..elements import ConstraintElements, Element, Elements, named, plain_sentence
from ..words import listed
from .objectives import MAKESPAN
from .problem import Link, Project, Resource, Task


def elements(problem: Project) -> Elements:
    """Return the elements of a project: the constraints of its formulation if it has setups or resources without idle time.

    Without a task between two others, the setup between these may be longer, and a resource may be idle.
    """
    if any(r.setups or r.no_idle for r in problem.resources):
        return ConstraintElements(problem.formulations["modes"]().model)
    return ProjectElements(problem)


class ProjectElements(Elements):
    """The elements of a project without setups and resources without idle time.

    Parameters
    ----------
    problem : Project
        The project.
    """

    def __init__(self, problem: Project) -> None:
        self.problem = problem
        self.objectives = (MAKESPAN,) if problem.objective == MAKESPAN else ()
        self.links = _names(problem.precedences)
        most = {t.name: max(m.duration for m in t.modes) for t in problem.tasks}
        self.all = (
            *(Element("resource", r.name, _capacity(r)) for r in sorted(problem.resources, key=lambda r: r.renewable)),
            *(Element("task", t.name, _task(t)) for t in sorted(problem.tasks, key=lambda t: -most[t.name])),
            *(_deadline(t) for t in problem.tasks if t.deadline is not None),
            *(
                Element("release", t.name, f"{t.name} starts at {t.release} or later")
                for t in problem.tasks
                if t.release
            ),
            *(Element("precedence", name, _link(link)) for name, link in self.links.items()),
        )

    def part(self, kept: Collection[Element]) -> Project:
        """Return the project with the kept elements alone."""
        names = {(e.kind, e.name) for e in kept}
        p = self.problem
        tasks = [_task_part(t, names) for t in p.tasks if ("task", t.name) in names]
        there = {t.name for t in tasks}
        links = [link for name, link in self.links.items() if ("precedence", name) in names]
        links = [link for link in links if link[0] in there and link[1] in there]
        pairs = {link[:2] for link in links}
        resources = [r if ("resource", r.name) in names else self._enough(r) for r in p.resources]
        return Project(
            tasks,
            resources,
            links,
            no_wait=[pair for pair in p.no_wait if pair in pairs],
            blocking=[pair for pair in p.blocking if pair in pairs],
            permutation=[name for name in p.permutation if ("resource", name) in names],
        )

    def _enough(self, resource: Resource) -> Resource:
        """Return the resource with as much as all tasks together can need."""
        need = (max(m.demands.get(resource.name, 0) for m in t.modes) for t in self.problem.tasks)
        return Resource(resource.name, max(resource.capacity, sum(need)), resource.renewable)

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
            verb = "needs" if len(part.tasks) == 1 else "need"
            if need > resource.capacity:
                return f"{tasks} {verb} at least {need} of {resource.name} in all; the project has {resource.capacity}"
        limits = [e.text for e in found if e.kind == "limit"]
        if not limits or not part.tasks or {"deadline", "release"} & {e.kind for e in found} or part.features:
            return plain_sentence(found)
        tasks = listed([t.name for t in part.tasks])
        if {e.kind for e in found} <= {"task", "precedence", "limit"} and len(part.precedences) == len(
            part.tasks
        ) - 1:  # without one of them the rest is feasible: a path
            took = sum(t.shortest for t in part.tasks) + sum(delay for *_, delay in part.precedences)
            return f"{tasks} follow one another and take {took} in all, but {listed(limits)}"
        having = [f"{r.capacity} of {r.name}" for r in of_conflict]
        order = ["their precedences"] if part.precedences else []
        return f"{tasks} cannot be done with {listed([*having, *order])} if {listed(limits)}"


def _least(part: Project, resource: Resource) -> int:
    """Return the least amount of a resource that all tasks need together, each in its cheapest possible mode."""
    return sum(min(m.demands.get(resource.name, 0) for m in part.possible(t)) for t in part.tasks)


def _names(links: Sequence[Link]) -> dict[str, Link]:
    """Return the precedences by distinct names; equal pairs of tasks are numbered."""
    names: dict[str, Link] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for link in links:
        seen[link[:2]] += 1
        number = seen[link[:2]]
        names[f"{link[0]} -> {link[1]}" + (f" ({number})" if number > 1 else "")] = link
    return names


def _task_part(task: Task, names: Collection[tuple[str, str]]) -> Task:
    """Return a task without its dates whose elements are removed."""
    release = task.release if ("release", task.name) in names else 0
    deadline = task.deadline if ("deadline", task.name) in names else None
    return replace(task, release=release, deadline=deadline)


def _deadline(task: Task) -> Element:
    return Element("deadline", task.name, f"{task.name} ends by {task.deadline}")


def _capacity(r: Resource) -> str:
    return f"the project has {r.capacity} of {r.name} {'at any time' if r.renewable else 'in all'}"


def _task(t: Task) -> str:
    modes = []
    for m in t.modes:
        amounts = [f"{n} of {r}" for r, n in m.demands.items() if n]
        mode = f"in mode {m.name} " if len(t.modes) > 1 else ""
        modes.append(f"{mode}takes {m.duration}" + (f" with {listed(amounts)}" if amounts else ""))
    return f"{t.name} {' or '.join(modes)}"


def _link(link: Link) -> str:
    before, after, delay = link
    if delay < 0:
        return f"{after} starts no earlier than {-delay} before the end of {before}"
    return f"{after} starts after the end of {before}" + (f", {delay} later at the earliest" if delay else "")
