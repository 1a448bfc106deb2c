"""The tasks of a project by number, with their precedences in both directions."""

from __future__ import annotations

from typing import NamedTuple

from ...models.project.problem import Project
from ...models.project.tasks import Mode


class Network(NamedTuple):
    """The tasks of a project as numbers from 0, in the order of the project.

    Parameters
    ----------
    names
        Name of each task.
    modes
        Modes of each task, without those that exceed a capacity.
    before
        For each task the pairs (predecessor, delay).
    after
        For each task the pairs (successor, delay).
    order
        The tasks so that each one follows its predecessors.
    """

    names: tuple[str, ...]
    modes: tuple[tuple[Mode, ...], ...]
    before: tuple[tuple[tuple[int, int], ...], ...]
    after: tuple[tuple[tuple[int, int], ...], ...]
    order: tuple[int, ...]


def network(project: Project) -> Network:
    """Return the network of a project."""
    import networkx as nx

    names = tuple(t.name for t in project.tasks)
    at = {name: k for k, name in enumerate(names)}
    graph = project.graph
    return Network(
        names,
        tuple(project.possible(t) for t in project.tasks),
        tuple(tuple((at[n], edge["delay"]) for n, edge in graph.pred[name].items()) for name in names),
        tuple(tuple((at[n], edge["delay"]) for n, edge in graph.succ[name].items()) for name in names),
        tuple(at[name] for name in nx.topological_sort(graph)),
    )


def heads(net: Network, durations: list[int]) -> list[int]:
    """Return the earliest start of each task with these durations, without resources."""
    found = [0] * len(net.names)
    for k in net.order:
        found[k] = max([0, *(found[i] + durations[i] + delay for i, delay in net.before[k])])
    return found


def tails(net: Network, durations: list[int]) -> list[int]:
    """Return the least time from the end of each task to the end of the project, without resources."""
    found = [0] * len(net.names)
    for k in reversed(net.order):
        found[k] = max([0, *(delay + durations[j] + found[j] for j, delay in net.after[k])])
    return found
