"""Projects as graphs of networkx: what goes in comes out again; wrong graphs are refused."""

import random
from dataclasses import replace

import networkx as nx
import pytest
import random_shops
import schedlab as sl
from schedlab.models import Mode, ProblemError, Project, Resource, Task


@pytest.mark.parametrize("seed", range(4))
def test_a_project_becomes_a_graph_and_the_same_project_again(seed: int) -> None:
    for project in (
        random_shops.dates(seed, "flow-time"),
        random_shops.setups(seed, "total-setup"),
        random_shops.breaks(seed),
        random_shops.shop(seed, rules=("no wait", "blocking", "permutation")),
    ):
        again = Project.from_networkx(project.to_networkx())
        assert set(again.precedences) == set(project.precedences)
        assert set(again.no_wait) == set(project.no_wait) and set(again.blocking) == set(project.blocking)
        same = {"precedences": project.precedences, "no_wait": project.no_wait, "blocking": project.blocking}
        assert replace(again, **same) == project


def test_a_graph_of_ones_own_is_solved() -> None:
    graph = nx.DiGraph([("a", "c", {"delay": 2}), ("b", "c", {"no_wait": True})])
    nx.set_node_attributes(graph, {"a": 3, "b": 4, "c": 1}, "duration")
    nx.set_node_attributes(graph, {"a": {"crew": 1}, "b": {"crew": 1}}, "demands")
    graph.nodes["c"]["colour"] = "red"  # not ours
    project = Project.from_networkx(graph, [Resource("crew", 1)], objective="makespan")
    assert project.no_wait == (("b", "c"),)
    assert sl.solve(project, "cpsat:modes", threads=1, time_limit=60).objective == 8


def test_modes_numbers_as_names_and_several_edges() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node(1, modes={"fast": (2, {"m": 2}), "slow": (5, {"m": 1})})
    graph.add_node(2, duration=3, due=4, family="red")
    graph.add_edges_from([(1, 2, {"delay": 1}), (1, 2, {"delay": 3})])
    project = Project.from_networkx(graph, [Resource("m", 2)])
    assert project.tasks == (
        Task("1", (Mode("fast", 2, {"m": 2}), Mode("slow", 5, {"m": 1}))),
        Task.single("2", 3, due=4, family="red"),
    )
    assert project.precedences == (("1", "2", 1), ("1", "2", 3))
    assert project.to_networkx().edges["1", "2"]["delay"] == 3


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (nx.Graph([("a", "b")]), sl.SchedlabError, "expected a directed graph of networkx"),
        ([("a", "b")], sl.SchedlabError, "expected a directed graph of networkx"),
        (nx.DiGraph([("a", "b")]), ProblemError, "node 'a' of the graph has neither a duration nor modes"),
        (nx.DiGraph([((1, 2), "b")]), ProblemError, "expected the name of a task"),
    ],
)
def test_wrong_graphs_are_refused(graph: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Project.from_networkx(graph, [])


def test_similar_attributes_and_missing_resources_are_named() -> None:
    graph = nx.DiGraph()
    graph.add_node("a", durations=3)
    with pytest.raises(ProblemError, match="did you mean durations"):
        Project.from_networkx(graph, [])
    with pytest.raises(sl.SchedlabError, match="the graph has none; expected a list of Resource"):
        Project.from_networkx(graph)
    graph.add_node("a", duration="long")
    with pytest.raises(ProblemError, match="duration is 'long'; a whole number is expected"):
        Project.from_networkx(graph, [])
    graph.add_node("a", modes=3)
    with pytest.raises(sl.SchedlabError, match="modes of node 'a' is 3"):
        Project.from_networkx(graph, [])


def test_precedences_in_both_directions_and_the_order_are_those_of_the_graph() -> None:
    rng = random.Random(3)
    for _ in range(200):
        names = [f"t{k}" for k in range(rng.randint(1, 9))]
        pairs = [sorted(rng.sample(range(len(names)), 2)) for _ in range(rng.randint(0, 12)) if len(names) > 1]
        links = [(names[i], names[k], rng.randint(-2, 3)) for i, k in pairs]
        shuffled = rng.sample(names, len(names))
        project = Project([Task.single(name, 1) for name in shuffled], [], links)
        graph = project.graph
        assert project.after == {n: {k: e["delay"] for k, e in graph.succ[n].items()} for n in names}
        assert project.before == {n: {k: e["delay"] for k, e in graph.pred[n].items()} for n in names}
        assert list(project.order) == list(nx.topological_sort(graph))
        greatest = {(i, k): max(d for a, b, d in links if (a, b) == (i, k)) for i, k, _ in links}
        assert {(i, k): d for i, some in project.after.items() for k, d in some.items()} == greatest
