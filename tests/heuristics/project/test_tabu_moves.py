"""Tabu search for shops: longest paths, moves and their values against a brute force on small graphs."""

import itertools
import random

import networkx as nx
import numpy as np
import pytest
from draws import some_now
from schedlab.heuristics import ProjectArrays
from schedlab.heuristics.kernels import shops as g
from schedlab.heuristics.kernels import shops as m
from schedlab.heuristics.kernels.shops import NONE
from schedlab.heuristics.project.lns import machines
from schedlab.models import Project, Resource, Task
from schedlab.models.compiled import compiled

from .small import random_shop


@compiled
def after(t, plan, p, room, u, v):
    return m.may_follow(t, plan, p, u, v), m.estimate_after(plan, p, room, u, v)


@compiled
def before(t, plan, p, room, v, u):
    return m.may_precede(t, plan, p, v, u), m.estimate_before(plan, p, room, v, u)


@compiled
def inserted(t, machine, plan, p, room, v, mode, state):
    longest = m.without(t, plan, p, room, v)
    value, place = m.insertion(t, machine, plan, room, v, mode, state)
    return longest, value, place


@compiled
def longest(t, plan, p):
    return g.longest(t, plan, p)


@compiled
def critical(t, plan, p, room, state, makespan):
    return m.critical_path(t, plan, p, room, state, makespan)


class Case:
    """A random shop, an order on its machines, and the graph of it."""

    def __init__(self, seed: int, tasks: int = 9) -> None:
        rng = random.Random(seed)
        self.project = random_shop(seed, tasks)
        self.a = ProjectArrays(self.project)
        self.t = self.a.tasks
        self.machine = machines(self.t)
        modes = [rng.randrange(*self.t.mode_first[k : k + 2]) for k in range(tasks)]
        self.plan, self.p = g.new_plan(self.t, self.t.capacity.size), g.new_paths(self.t)
        self.room, self.state = m.new_room(self.t), np.array([seed + 1], np.uint64)
        made = nx.DiGraph(self.links())
        made.add_nodes_from(range(tasks))
        order = list(nx.topological_sort(made))
        self.makespan = g.semi_active(self.t, self.machine, self.plan, self.p, np.array(order), np.array(modes))

    def links(self) -> list[tuple[int, int]]:
        t = self.t
        ends = np.repeat(np.arange(t.rank.size), np.diff(t.before_first))
        return list(zip(t.before.tolist(), ends.tolist(), strict=True))

    def sequences(self) -> list[list[int]]:
        """The tasks of each machine in their order."""
        found = []
        for k in self.plan.first.tolist():
            found.append([])
            while k != NONE:
                found[-1].append(k)
                k = int(self.plan.after[k])
        return found

    def graph(self, sequences: list[list[int]], modes: dict[int, int] | None = None) -> nx.DiGraph:
        """The graph of the precedences and of the orders on the machines."""
        modes = modes or {}
        duration = {k: int(self.t.duration[modes.get(k, self.plan.mode[k])]) for k in range(self.t.rank.size)}
        found = nx.DiGraph()
        found.add_nodes_from((k, {"duration": d}) for k, d in duration.items())
        delays = self.t.before_delay.tolist()
        arcs = [(i, j, d) for (i, j), d in zip(self.links(), delays, strict=True)]
        arcs += [(i, j, 0) for tasks in sequences for i, j in itertools.pairwise(tasks)]
        for i, j, delay in arcs:
            weight = duration[i] + delay
            found.add_edge(i, j, weight=max(weight, found.get_edge_data(i, j, {"weight": 0})["weight"]))
        return found


def heads(graph: nx.DiGraph) -> dict[int, int]:
    found: dict[int, int] = {}
    for k in nx.topological_sort(graph):
        found[k] = max((found[i] + e["weight"] for i, _, e in graph.in_edges(k, data=True)), default=0)
    return found


def tails(graph: nx.DiGraph) -> dict[int, int]:
    """Longest paths from the ends of the tasks."""
    found: dict[int, int] = {}
    last = graph.nodes(data="duration")
    for k in reversed(list(nx.topological_sort(graph))):
        paths = (e["weight"] - last[k] + last[j] + found[j] for _, j, e in graph.out_edges(k, data=True))
        found[k] = max(paths, default=0)
    return found


def through(graph: nx.DiGraph, tasks: list[int]) -> int:
    """The longest path through one of some tasks."""
    head, tail = heads(graph), tails(graph)
    return max(head[k] + graph.nodes[k]["duration"] + tail[k] for k in tasks)


def makespan(graph: nx.DiGraph) -> int:
    return through(graph, list(graph))


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_heads_and_tails_are_the_longest_paths(seed: int) -> None:
    case = Case(seed)
    graph = case.graph(case.sequences())
    assert dict(enumerate(case.p.head.tolist())) == heads(graph)
    assert dict(enumerate(case.p.tail.tolist())) == tails(graph)
    assert case.makespan == makespan(graph)
    schedule = case.a.schedule(case.p.head, case.plan.mode)
    assert case.project.verify(schedule) == [] and case.project.value(schedule) == case.makespan


def exchanged(tasks: list[int], i: int, j: int) -> list[int]:
    """The order in which the task at i is at j."""
    rest = tasks[:i] + tasks[i + 1 :]
    return [*rest[:j], tasks[i], *rest[j:]]


@pytest.mark.parametrize("forward", [True, False])
def test_allowed_moves_make_no_cycle_and_estimates_are_longest_paths(forward: bool) -> None:
    """All moves within a machine, also those that are not critical.

    Exact [Taillard1994]: an exchange of neighbours; here also any move if no other path joins two of the moved tasks.
    """
    allowed = refused = exact = 0
    for seed in range(30):
        case = Case(seed)
        sequences = case.sequences()
        for k, tasks in enumerate(sequences):
            for i in range(len(tasks)):
                for j in range(i + 1, len(tasks)):
                    u, v = tasks[i], tasks[j]
                    moved = exchanged(tasks, i, j) if forward else exchanged(tasks, j, i)
                    new = [*sequences[:k], moved, *sequences[k + 1 :]]
                    call = (after, u, v) if forward else (before, v, u)
                    may, value = call[0](case.t, case.plan, case.p, case.room, *call[1:])
                    graph = case.graph(new)
                    if not nx.is_directed_acyclic_graph(graph):
                        assert not may
                        refused += 1
                        continue
                    allowed += may
                    span = tasks[i : j + 1]
                    others = case.graph([*sequences[:k], [*tasks[:i]], *sequences[k + 1 :]])
                    others.add_nodes_from(span)
                    joined = any(nx.has_path(others, a, b) for a in span for b in span if a != b)
                    if j == i + 1 or not joined:
                        assert value == through(graph, span)
                        exact += 1
    assert min(allowed, refused, exact) > 25


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_an_insertion_is_the_best_one_and_its_makespan_is_exact(seed: int) -> None:
    case = Case(seed)
    sequences = case.sequences()
    for v in range(case.t.rank.size):
        rest = [[k for k in tasks if k != v] for tasks in sequences]
        for mode in range(*case.t.mode_first[v : v + 2]):
            k, all_values, by_place = int(case.machine[mode]), [], {}
            for at in range(len(rest[k]) + 1 if k != NONE else 1):
                new = [list(tasks) for tasks in rest]
                if k != NONE:
                    new[k].insert(at, v)
                graph = case.graph(new, {v: mode})
                if nx.is_directed_acyclic_graph(graph):
                    place = rest[k][at - 1] if k != NONE and at else NONE
                    all_values.append(makespan(graph))
                    by_place[place] = all_values[-1]
            longest, value, place = inserted(case.t, case.machine, case.plan, case.p, case.room, v, mode, case.state)
            assert max(longest, value) == by_place[place] == min(all_values)
    assert case.sequences() == sequences  # as before


@pytest.mark.parametrize("seed", some_now(range(20), 8))
def test_a_critical_path_is_as_long_as_the_makespan(seed: int) -> None:
    case = Case(seed)
    graph = case.graph(case.sequences())
    count = critical(case.t, case.plan, case.p, case.room, case.state, case.makespan)
    path = case.room.path[:count].tolist()[::-1]
    last = graph.nodes[path[-1]]["duration"]
    assert sum(graph.edges[i, j]["weight"] for i, j in itertools.pairwise(path)) + last == case.makespan
    assert case.p.head[path[0]] == 0


def test_a_cycle_is_seen() -> None:
    case = Case(0)
    i, j = case.links()[0]
    plan = case.plan._replace(before=np.full_like(case.plan.before, NONE), after=np.full_like(case.plan.after, NONE))
    assert longest(case.t, plan, case.p) > 0
    plan.before[i], plan.after[j] = j, i
    assert longest(case.t, plan, case.p) == -1


def test_what_is_not_a_shop() -> None:
    shop = random_shop(3)
    assert shop.precedences and machines(ProjectArrays(shop).tasks) is not None
    negative = [(a, b, -1) for a, b, _ in shop.precedences]
    money = Task.single("pay", 1, {"money": 2})
    both = Task.single("both", 1, {"m0": 1, "m1": 1})
    for project in (
        Project(shop.tasks, shop.resources, negative),
        Project([*shop.tasks, money], [*shop.resources, Resource("money", 3, renewable=False)]),
        Project([*shop.tasks, both], shop.resources),
        Project(shop.tasks, [Resource(r.name, 2) for r in shop.resources]),
    ):
        assert machines(ProjectArrays(project).tasks) is None
