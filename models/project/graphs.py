"""Projects as graphs of networkx: tasks are nodes, precedences are edges, with the data as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from ...errors import WrongArgument
from ..arguments import expect, text_of
from ..excerpt import excerpt
from ..platform import ProblemError
from ..unknown_names import hint
from .data import Mode, ProjectData, Task

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
    links = list(_links(graph))
    pairs = {name: [link[:2] for link, data in links if data.get(name)] for name in OF_LINK}
    return {
        **own,
        **pairs,
        "tasks": [_task(node, data) for node, data in graph.nodes(data=True)],
        "precedences": [link for link, _ in links],
    }


def _links(graph: Any) -> Iterator[tuple[tuple[Any, Any, Any], Mapping[str, Any]]]:
    for before, after, data in graph.edges(data=True):
        yield (before, after, data.get("delay", 0)), data


def _task(node: object, data: Mapping[str, Any]) -> Task:
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
