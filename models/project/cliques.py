"""Sets of tasks of a project of which no two can run at the same time.

Two tasks exclude each other if together they exceed a resource in every pair of their modes, or if one precedes the
other. A set of tasks that all exclude each other, also because of different resources, may be declared as
``no_overlap``. The constraint is redundant, but solvers derive bounds from it that no single ``cumulative`` gives
(disjunctive sets: Brucker et al., European Journal of Operational Research 107 (1998), section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .problem import Project

Matrix = NDArray[np.bool_]


PLAIN = 200  # tasks up to which numba, whose import takes half a second, is not needed
MOST_MEMBERS = 100_000  # of all sets together


def exclusive_sets(project: Project) -> Iterator[list[str]]:
    """Yield sets of tasks that exclude each other, until every pair that a resource excludes is in one of them.

    The sets are made by a greedy algorithm. Pairs that share a resource of capacity 1 need no set. No further set is made once all
    sets together have 100,000 tasks or more (``MOST_MEMBERS``): the first sets cover most pairs.

    Examples
    --------
    >>> from schedlab.models.project.problem import Project, Resource, Task
    >>> tasks = [Task.single(n, 2, {"crew": 3}) for n in "abc"]
    >>> [sorted(found) for found in exclusive_sets(Project(tasks, [Resource("crew", 5)], []))]
    [['a', 'b', 'c']]
    """
    names = [t.name for t in project.tasks]
    lasting = np.array([min(m.duration for m in project.possible(t)) > 0 for t in project.tasks], dtype=bool)
    pairs = lasting[:, None] & lasting[None, :] & ~np.eye(len(names), dtype=bool)
    apart, machine = _kept_apart(project)
    ordered = _ordered(project)
    exclusive = (apart | ordered) & pairs
    left = apart & pairs & ~ordered & ~machine
    if not left.any():
        return
    for found in (_cover if len(names) <= PLAIN else _cover_many)(exclusive, left):
        yield [names[k] for k in found]


def _cover(exclusive: Matrix, left: Matrix) -> Iterator[list[int]]:
    """Yield sets of tasks that cover all pairs of ``left``, which are deleted."""
    missing = left.sum(axis=1)  # pairs of each task that are in no set
    while missing.any():
        found = _grow(exclusive, left, int(missing.argmax()))
        inside = np.ix_(found, found)
        missing[found] -= left[inside].sum(axis=1)
        left[inside] = False
        yield found.tolist()


def _cover_many(exclusive: Matrix, left: Matrix) -> Iterator[list[int]]:
    """Yield the same sets as ``_cover``, up to the limit of members."""
    from .covering import cover, rows_of_bits

    members, first = cover(rows_of_bits(exclusive), rows_of_bits(left), MOST_MEMBERS)
    return (some.tolist() for some in np.split(members, first[1:-1]))


def _kept_apart(project: Project) -> tuple[Matrix, Matrix]:
    """Return the pairs of tasks that together exceed a resource, and those that exceed a resource of capacity 1."""
    n = len(project.tasks)
    apart, machine = np.zeros((n, n), dtype=bool), np.zeros((n, n), dtype=bool)
    for r in project.resources:
        if r.renewable:
            demands = [min(m.demands.get(r.name, 0) for m in project.possible(t)) for t in project.tasks]
            least = np.array(demands, dtype=np.int64)
            exceeding = least[:, None] + least[None, :] > r.capacity
            apart |= exceeding
            if r.capacity == 1:
                machine |= exceeding
    return apart, machine


def _ordered(project: Project) -> Matrix:
    """Return the pairs of tasks that precedences without negative delays put in order."""
    import networkx as nx

    at = {t.name: k for k, t in enumerate(project.tasks)}
    after = np.zeros((len(at), len(at)), dtype=bool)
    for name in reversed(list(nx.topological_sort(project.graph))):
        for successor, edge in project.graph.succ[name].items():
            if edge["delay"] >= 0:
                after[at[name]] |= after[at[successor]]
                after[at[name], at[successor]] = True
    return after | after.T


def _grow(exclusive: Matrix, left: Matrix, first: int) -> NDArray[np.intp]:
    """Return a maximal set that covers many pairs of ``left``, starting from a task.

    The next task is the one that brings most of these pairs; of several ones, the one that excludes most of the tasks that
    can still be added.
    """
    found = [first]
    candidates = np.flatnonzero(exclusive[first])
    brings = left[first, candidates].astype(np.int64)
    while candidates.size:
        best = np.flatnonzero(brings == brings.max())
        if best.size > 1:
            room = exclusive[np.ix_(candidates[best], candidates)].sum(axis=1)
            best = best[[room.argmax()]]
        chosen = candidates[best[0]]
        found.append(int(chosen))
        kept = exclusive[chosen, candidates]
        candidates, brings = candidates[kept], brings[kept]
        brings += left[chosen, candidates]
    return np.array(sorted(found), dtype=np.intp)
