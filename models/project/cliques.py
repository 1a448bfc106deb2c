"""Tasks of a project of which no two can ever run at the same time.

Two tasks exclude each other if together they exceed a resource in every pair of modes, or if one precedes the other. A
set of tasks that all exclude each other, across resources, may be declared as ``no_overlap``: this is redundant, but
solvers conclude from it what no single ``cumulative`` tells them (disjunctive sets: Brucker et al., European Journal of
Operational Research 107 (1998), section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .problem import Project


Matrix = NDArray[np.bool_]


def exclusive_sets(project: Project) -> Iterator[list[str]]:
    """Sets of tasks that exclude each other, greedily grown until every pair that a resource excludes is in one of them.

    Pairs that some machine (a resource of capacity 1) keeps apart in any case need no set.

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
    while left.any():
        found = _grow(exclusive, left)
        left[np.ix_(found, found)] = False
        yield [names[k] for k in found]


def _kept_apart(project: Project) -> tuple[Matrix, Matrix]:
    """Which pairs of tasks together exceed a resource, and which a resource of capacity 1."""
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
    """Which pairs of tasks are ordered by precedences that keep them apart (none with a negative delay)."""
    import networkx as nx

    at = {t.name: k for k, t in enumerate(project.tasks)}
    after = np.zeros((len(at), len(at)), dtype=bool)
    for name in reversed(list(nx.topological_sort(project.graph))):
        for successor, edge in project.graph.succ[name].items():
            if edge["delay"] >= 0:
                after[at[name]] |= after[at[successor]]
                after[at[name], at[successor]] = True
    return after | after.T


def _grow(exclusive: Matrix, left: Matrix) -> NDArray[np.intp]:
    """A set around the task with most pairs left, by the task that brings most pairs each time; maximal."""
    first = int(left.sum(axis=1).argmax())
    found = [first]
    candidates = exclusive[first].copy()
    brings = left[first].astype(np.int64)
    while candidates.any():
        room = (exclusive[:, candidates] & candidates[:, None]).sum(axis=1)
        score = np.where(candidates, brings * len(candidates) + room, -1)
        chosen = int(score.argmax())
        found.append(chosen)
        candidates &= exclusive[chosen]
        brings += left[chosen]
    return np.array(sorted(found), dtype=np.intp)
