"""Serial schedule generation for projects: priority rules, choice of modes, schedules compared with CP-SAT."""

import itertools
import random

import pytest
import random_shops as shops
import schedlab as sl
from draws import some_now
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab import heuristics
from schedlab.backends import UnknownName
from schedlab.heuristics import PRIORITY_RULES, NothingFound, UnknownOrder, multi_sgs, serial_sgs
from schedlab.heuristics.project.serial_sgs import (
    MOST_TRIED,
    ResourceUsage,
    SerialScheme,
    feasible_modes,
    network,
    priorities,
)
from schedlab.models import Deadline, Mode, Project, Resource, Schedule, Task

from .small import random_project


@pytest.fixture
def diamond() -> Project:
    """a before b and c, both before d, c one later; e alone. The crew of 4 does b and c one after another."""
    data = {"a": (2, 1), "b": (4, 3), "c": (3, 2), "d": (1, 4), "e": (6, 1)}
    tasks = [Task.single(name, d, {"crew": q}) for name, (d, q) in data.items()]
    return Project(tasks, [Resource("crew", 4)], [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d", 1)])


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("lft", [-5, -1, -2, 0, 0]),  # relative to the end of the project
        ("lst", [-7, -5, -5, -1, -6]),
        ("slack", [-7, -7, -7, -7, -6]),
        ("est", [0, 2, 2, 6, 0]),
        ("mts", [-3, -1, -1, 0, 0]),
        ("mis", [-2, -1, -1, 0, 0]),
        ("grpw", [-9, -5, -4, -1, -6]),
        ("grd", [-0.5, -3, -1.5, -1, -1.5]),
        ("spt", [2, 4, 3, 1, 6]),
    ],
)
def test_the_values_of_the_priority_rules(diamond: Project, rule: str, values: list[float]) -> None:
    modes = [t.modes[0] for t in diamond.tasks]
    assert priorities(network(diamond), rule, modes, {"crew": 4}) == values


def test_every_rule_has_a_known_value() -> None:
    (mark,) = test_the_values_of_the_priority_rules.pytestmark
    assert tuple(rule for rule, _ in mark.args[1]) == PRIORITY_RULES


def test_schedules_by_hand(diamond: Project) -> None:
    assert serial_sgs(diamond, "lft").start == {"a": 0, "b": 5, "c": 2, "d": 9, "e": 0}
    assert serial_sgs(diamond, "mts").start == {"a": 0, "b": 2, "c": 6, "d": 10, "e": 0}
    found = multi_sgs(diamond)
    assert (found.objective, diamond.verify(found.schedule)) == (10, [])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6), st.integers(1, 4)), max_size=8),
    st.integers(0, 15),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_the_earliest_time_is_that_of_trying_every_time(
    added: list[tuple[int, int, int]], start: int, duration: int, demand: int
) -> None:
    usage, used = ResourceUsage(4), [0] * 200
    for at, length, amount in added:
        free = usage.earliest(at, length, amount)
        usage.add(free, free + length, amount)
        for t in range(free, free + length):
            used[t] += amount
    assert max(used) <= 4
    true = next(t for t in range(start, 200) if all(u + demand <= 4 for u in used[t : t + duration]))
    assert usage.earliest(start, duration, demand) == true


def suffices(project: Project, modes: tuple[Mode, ...]) -> bool:
    return all(sum(m.demands.get(r.name, 0) for m in modes) <= r.capacity for r in project.resources if not r.renewable)


@pytest.mark.parametrize("seed", some_now(range(12), 4))
def test_modes_are_found_exactly_if_there_are_any(seed: int) -> None:
    ends = set()
    for project in (random_project(100 * seed + k) for k in range(25)):
        net = network(project)
        possible = any(suffices(project, modes) for modes in itertools.product(*net.modes))
        ends.add(possible)
        if possible:
            modes, budget = feasible_modes(project, net)
            assert suffices(project, tuple(modes))
            assert budget.used == tuple(sum(m.demands.get(r, 0) for m in modes) for r in "no")
        else:
            with pytest.raises(NothingFound, match="there is no schedule"):
                feasible_modes(project, net)
    assert ends == {True, False}


def test_the_repair_pays_the_least_additional_time_per_unit() -> None:
    """One of two tasks must become slower; both free the same amount of fuel."""
    modes = {"a": (2, 9), "b": (3, 5)}
    tasks = [
        Task(name, (Mode("fast", fast, {"fuel": 4}), Mode("slow", slow, {"fuel": 1})))
        for name, (fast, slow) in modes.items()
    ]
    project = Project(tasks, [Resource("fuel", 5, renewable=False)])
    assert multi_sgs(project).schedule.nodes == {"a": {"fast": 1}, "b": {"slow": 1}}


def test_without_enough_of_one_resource_it_is_named() -> None:
    tasks = [Task(n, (Mode("fast", 1, {"fuel": 5}), Mode("slow", 2, {"fuel": 3}))) for n in "ab"]
    with pytest.raises(NothingFound, match="the tasks use at least 6 of 'fuel' in total, which has 5"):
        multi_sgs(Project(tasks, [Resource("fuel", 5, renewable=False)]))


def test_without_enough_of_two_resources_together_both_are_named() -> None:
    tasks = [Task(n, (Mode("x", 1, {"fuel": 2}), Mode("y", 2, {"ore": 2}))) for n in "abc"]
    project = Project(tasks, [Resource("fuel", 2, renewable=False), Resource("ore", 2, renewable=False)])
    with pytest.raises(NothingFound, match="no choice of modes keeps the total use of 'fuel', 'ore' within"):
        serial_sgs(project, "lft")
    result = sl.solve(project, method="multi-sgs")
    assert (result.status, result.schedule) == ("unknown", None)
    assert "no choice of modes" in result.message


def test_the_search_for_modes_is_limited_and_says_so() -> None:
    """40 tasks need all of two resources in amounts of 2, of which 39 can be had: parity is beyond the search."""
    tasks = [Task(f"t{k}", (Mode("x", 1, {"fuel": 2}), Mode("y", 1, {"ore": 2}))) for k in range(40)]
    project = Project(tasks, [Resource("fuel", 39, renewable=False), Resource("ore", 39, renewable=False)])
    with pytest.raises(NothingFound, match=f"among {MOST_TRIED:,} that were tried"):
        multi_sgs(project)


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_schedules_are_feasible_and_never_better_than_the_optimum(seed: int) -> None:
    project = random_project(seed, tasks=7)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=30)
    assert exact.status in ("optimal", "infeasible")
    if exact.status == "infeasible":
        with pytest.raises(NothingFound):
            multi_sgs(project)
        return
    values = {}
    for rule in PRIORITY_RULES:
        schedule = serial_sgs(project, rule)
        assert project.verify(schedule) == []
        values[rule] = project.value(schedule)
    best = multi_sgs(project)
    assert project.verify(best.schedule) == []
    assert best.objective == project.value(best.schedule) == values[best.details["rule"]] == min(values.values())
    assert best.objective >= exact.objective
    assert best.status != "optimal" or best.objective == exact.objective


@pytest.mark.parametrize(
    "rules",
    [
        ("blocking",),
        ("no wait",),
        ("no idle",),
        ("permutation",),
        ("permutation", "no idle"),
        ("permutation", "blocking"),
        ("no wait", "blocking"),
    ],
)
@pytest.mark.parametrize("seed", some_now(range(30), 5))
def test_the_rules_of_shops_are_kept(seed: int, rules: tuple[str, ...]) -> None:
    project = shops.shop(seed, "makespan", rules)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=30)
    try:
        best = multi_sgs(project)
    except NothingFound:  # an order of tasks may need idle time
        assert "no idle" in rules
        return
    assert best.schedule is not None and project.verify(best.schedule) == []
    assert shops.feasible(project, best.schedule)
    assert best.objective == shops.cost(project, best.schedule) >= exact.objective


def test_a_chain_and_idle_time_by_hand() -> None:
    tasks = [Task.single(n, d, {n[0]: 1}) for n, d in (("m1", 2), ("n1", 3), ("m2", 1), ("n2", 1))]
    machines = [Resource("m", 1), Resource("n", 1)]
    links = [("m1", "n1"), ("m2", "n2")]
    waits = Project(tasks, machines, links, no_wait=links)
    assert serial_sgs(waits, "est").start == {"m1": 0, "n1": 2, "m2": 4, "n2": 5}
    blocks = Project(tasks, machines, links, blocking=links)
    assert serial_sgs(blocks, "est").start == {"m1": 0, "n1": 2, "m2": 2, "n2": 5}
    tight = Project(tasks, [Resource("m", 1, no_idle=True), machines[1]], [("n1", "m2"), ("m2", "n2")])
    assert serial_sgs(tight, "est").start == {"m1": 1, "n1": 0, "m2": 3, "n2": 4}


@pytest.mark.parametrize("seed", some_now(range(20), 6))
def test_no_task_of_a_schedule_can_start_earlier_alone(seed: int) -> None:
    rng = random.Random(seed)
    tasks = [
        Task.single(f"t{k}", rng.randint(1, 5), {"r": rng.randint(0, 3), "s": rng.randint(0, 3)}) for k in range(8)
    ]
    pairs = itertools.combinations(tasks, 2)
    links = [(a.name, b.name) for a, b in pairs if rng.random() < 0.25]
    project = Project(tasks, [Resource("r", 3), Resource("s", 4)], links)
    for rule in PRIORITY_RULES:
        found = serial_sgs(project, rule)
        for name, start in found.start.items():
            for earlier in range(start):
                assert project.verify(Schedule({**found.start, name: earlier}, found.nodes))


def test_tasks_go_to_the_machine_on_which_they_end_first() -> None:
    """A flexible job shop: the fast machine is busy with the first task, the slow one ends the second task earlier."""
    modes = (Mode("fast", 4, {"fast": 1}), Mode("slow", 6, {"slow": 1}))
    project = Project([Task(n, modes) for n in "abc"], [Resource("fast", 1), Resource("slow", 1)])
    found = serial_sgs(project, "lft")
    assert found.nodes == {"a": {"fast": 1}, "b": {"slow": 1}, "c": {"fast": 1}}
    assert project.value(found) == 8


def test_a_project_without_tasks_has_an_empty_schedule() -> None:
    assert multi_sgs(Project([], [])).schedule.start == {}


class TestAsMethods:
    def test_a_rule_and_the_best_rule(self, diamond: Project) -> None:
        assert sl.solve(diamond, method="serial-sgs:mts").objective == 11
        best = sl.solve(diamond, method="multi-sgs")
        assert (best.status, best.objective, best.bound) == ("feasible", 10, None)
        assert best.message == "best priority rule: lft"
        assert [i.objective for i in best.incumbents] == [10]

    def test_a_schedule_as_long_as_the_longest_path_is_optimal(self, diamond: Project) -> None:
        wide = Project(diamond.tasks, [Resource("crew", 6)], diamond.precedences)
        best = sl.solve(wide, method="multi-sgs")
        assert (best.status, best.objective, best.bound) == ("optimal", 7, 7)

    def test_it_is_the_warm_start_of_projects(self, diamond: Project) -> None:
        assert heuristics.usual_start(diamond) == "multi-sgs"
        seen = []
        warm = sl.solve(
            diamond, method="cpsat:modes+warm", threads=1, on_incumbent=lambda news: seen.append(news.objective)
        )
        assert (warm.status, warm.objective) == ("optimal", 10)
        assert warm.warm_start.fate == "accepted" and seen[0] == 10

    def test_unknown_rules_and_other_kinds_are_errors(self, diamond: Project) -> None:
        with pytest.raises(UnknownName, match="lft"):
            sl.solve(diamond, method="serial-sgs:ltf")
        with pytest.raises(UnknownName, match="multi-sgs"):
            sl.solve(diamond, method="multi-search")
        with pytest.raises(UnknownName, match="multi-search"):
            sl.solve(sl.load("eurora_99").problem, method="multi-sgs")
        with pytest.raises(UnknownOrder):
            serial_sgs(diamond, "ltf")

    def test_the_first_rule_is_finished_after_the_time_limit_too(self, diamond: Project) -> None:
        found = multi_sgs(diamond, time_limit=0.0)
        assert found.details == {"rule": PRIORITY_RULES[0], "skipped": PRIORITY_RULES[1:]}
        assert diamond.verify(found.schedule) == []
        assert "skipped at the time limit: lst" in sl.solve(diamond, method="multi-sgs", time_limit=1e-9).message

    def test_a_callback_that_returns_false_stops_it(self) -> None:
        project = random_project(7, tasks=7)
        seen: list[int] = []
        multi_sgs(project, on_incumbent=lambda news: seen.append(news.objective))
        assert len(seen) >= 2 and seen == sorted(set(seen), reverse=True)
        assert multi_sgs(project, on_incumbent=lambda news: False).objective == seen[0]

    def test_no_kernels_are_compiled_for_a_project(self, diamond: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> None:
            raise AssertionError("kernels of dispatch problems are compiled")

        monkeypatch.setattr("schedlab.heuristics.list_scheduling.warm_up", fail)
        assert sl.solve(diamond, method="multi-sgs").objective == 10


def test_no_rule_begins_that_would_end_after_the_limit(diamond: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 500 tasks a rule takes a second, and cannot be stopped."""
    now = [0.0]
    monkeypatch.setattr(Deadline, "elapsed", property(lambda self: now[0]))
    made = SerialScheme.schedule

    def slow(self: SerialScheme, rule: str) -> sl.Schedule:
        now[0] += 4.0
        return made(self, rule)

    monkeypatch.setattr(SerialScheme, "schedule", slow)
    monkeypatch.setattr("schedlab.heuristics.project.serial_sgs.longest_path", lambda project: 0)  # nothing is proven
    found = multi_sgs(diamond, time_limit=10.0)
    assert now == [8.0] and len(found.details["skipped"]) == len(PRIORITY_RULES) - 2
