"""The formulation of a part of a schedule: some tasks are free, all others keep their modes and their order.

The order of the tasks that are not free is a partial one [Godard2005]: on each renewable resource, what a task takes was
free from the beginning or is given by tasks that have ended before, and these stay before it. Any starts that keep the
precedences and this order keep the resources, as far as these tasks alone use them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ..problem import Encoding, Schedule
from .tasks import Mode, Resource, Task

if TYPE_CHECKING:
    from .problem import Project


def part_formulation(
    project: Project,
    schedule: Schedule,
    free: Collection[str],
    horizon: int,
    exclusive: Sequence[Sequence[str]] | None = None,
) -> Encoding | None:
    """Return the formulation of a part of a schedule; None if the longest path shows that it has no solution.

    Parameters
    ----------
    project : Project
        The project.
    schedule : Schedule
        A feasible schedule: each task has a start and a mode.
    free : collection of str
        The tasks whose modes and order may change.
    horizon : int
        The greatest makespan.
    exclusive : sequence of sequences of str or None
        As for ``modes``: those of the project, to save their computation.

    Returns
    -------
    Encoding or None

    Examples
    --------
    >>> from schedlab.models import Project, Resource, Task
    >>> p = Project([Task.single(n, 2, {"saw": 1}) for n in "abc"], [Resource("saw", 1)])
    >>> part = part_formulation(p, Schedule({"a": 0, "b": 2, "c": 4}, {}), free=["c"], horizon=6)
    >>> len(part.model.intervals), [c.name for c in part.model.constraints]
    (3, ['saw', 'a -> b'])
    """
    from .check import mode_of
    from .formulation import modes
    from .problem import Project

    chosen = {t.name: mode for t in project.tasks if (mode := mode_of(t, schedule)) is not None}
    tasks = [t if t.name in free else Task(t.name, (chosen[t.name],)) for t in project.tasks]
    fixed = sorted((schedule.start[t.name], t.name) for t in project.tasks if t.name not in free)
    order = [
        link
        for resource in project.resources
        if resource.renewable
        for link in _order(resource, [(start, name, chosen[name]) for start, name in fixed])
    ]
    part = Project(tasks, project.resources, [*project.precedences, *dict.fromkeys(order)])
    shortest = {t.name: min(m.duration for m in part.possible(t)) for t in part.tasks}
    if any(part.heads[name] + duration + part.tails[name] > horizon for name, duration in shortest.items()):
        return None
    return modes(part, horizon, exclusive)


def _order(resource: Resource, fixed: Sequence[tuple[int, str, Mode]]) -> Iterator[tuple[str, str]]:
    """Yield (before, after): which tasks give a resource to which ones; ``fixed`` is sorted by start."""
    given: list[tuple[int, int, str]] = []  # end, amount, task
    untouched = resource.capacity
    for start, name, mode in fixed:
        missing = mode.demands.get(resource.name, 0) if mode.duration else 0
        if not missing:
            continue
        given.append((start + mode.duration, missing, name))
        kept: list[tuple[int, int, str]] = []
        # the task that ended last first: links to it make other links redundant
        for end, amount, before in sorted(given[:-1], reverse=True):
            taken = min(missing, amount) if end <= start else 0
            if taken:
                missing -= taken
                yield before, name
            if taken < amount:
                kept.append((end, amount - taken, before))
        untouched -= missing
        given[:] = [*kept, given[-1]]
