"""Large-neighbourhood search for projects: schedules compared with optima, starts, limits, seeds, threads."""

import time
from dataclasses import replace

import numpy as np
import pytest
import random_shops as shops
import schedlab as sl
from draws import some_now
from schedlab.heuristics import PRIORITY_RULES, NothingFound, ProjectArrays, project_lns, serial_sgs
from schedlab.heuristics.kernels import generate, new_room
from schedlab.heuristics.lns import RecordToRecord
from schedlab.heuristics.project.lns import Evolution, SolverParts, TabuSearch, warm_up
from schedlab.models import Project, Resource, Schedule, Task

from .small import job_shop, random_project


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    warm_up()


@pytest.fixture(scope="module")
def large() -> Project:
    """60 tasks with up to three modes, whose optimum is not that of the longest path."""
    return random_project(5, tasks=60, share=0.05, budget=(150, 200))


@pytest.mark.parametrize("seed", some_now(range(30), 10))
def test_schedules_hold_and_reach_the_optimum_of_small_projects(seed: int) -> None:
    project = random_project(seed, tasks=7)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=30)
    if exact.status == "infeasible":
        with pytest.raises(NothingFound):
            project_lns(project, rounds=2)
        return
    found = project_lns(project, rounds=20, seed=seed)
    assert project.verify(found.schedule) == []
    assert found.objective == exact.objective
    assert found.status in ("optimal", "feasible")


REGULAR = ("makespan", "weighted-tardiness", "flow-time", "late-jobs", "makespan + 2*late-jobs")
WITH_SETUPS = ("makespan", "total-setup", "total-setup+3*late-jobs", "flow-time")


def kept_rules(seed: int, kind: str, objective: str) -> Project:
    """Make a project of ``random_shops`` whose tasks must all be done, and whose breaks forbid tasks."""
    project: Project = getattr(shops, kind)(seed, objective)
    tasks = [replace(t, penalty=None) for t in project.tasks]
    return replace(project, tasks=tasks, resources=[replace(r, suspends=False) for r in project.resources])


def agrees_with_the_optimum(project: Project, seed: int) -> None:
    """Check the schedule of a search by the enumeration's rules, and its value by that of CP-SAT."""
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=60)
    found = project_lns(project, rounds=30, seed=seed)
    assert found.schedule is not None and project.verify(found.schedule) == []
    assert shops.feasible(project, found.schedule)
    assert found.objective == shops.cost(project, found.schedule) == exact.objective
    assert found.bound is not None and found.bound <= exact.objective


@pytest.mark.parametrize("kind", ["dates", "breaks"])
@pytest.mark.parametrize("seed", some_now(range(40), 10))
def test_tasks_may_be_left_out_and_suspended(seed: int, kind: str) -> None:
    project: Project = getattr(shops, kind)(seed, REGULAR[seed % len(REGULAR)])
    must = project.with_tasks([t.name for t in project.tasks if not t.optional])
    if sl.solve(must, backend="cpsat", threads=1, time_limit=60).status == "infeasible":
        return
    agrees_with_the_optimum(project, seed)


@pytest.mark.parametrize("rule", ["no wait", "no idle"])
@pytest.mark.parametrize("seed", some_now(range(40), 10))
def test_tasks_without_a_wait_and_resources_without_idle_time(seed: int, rule: str) -> None:
    agrees_with_the_optimum(shops.shop(seed, REGULAR[seed % len(REGULAR)], (rule,)), seed)


@pytest.mark.parametrize(
    "rules",
    [
        ("blocking",),
        ("permutation",),
        ("blocking", "no wait"),
        ("permutation", "blocking"),
        ("permutation", "no wait"),
        ("permutation", "no idle"),
    ],
)
@pytest.mark.parametrize("seed", some_now(range(40), 5))
def test_tasks_that_block_and_orders_that_are_the_same(seed: int, rules: tuple[str, ...]) -> None:
    agrees_with_the_optimum(shops.shop(seed, REGULAR[seed % len(REGULAR)], rules), seed)


def test_a_task_that_blocks_keeps_its_resources_and_may_exchange_them() -> None:
    tasks = [Task.single(f"{job}{m}", 2, {m: 1}) for job, m in ("am", "an", "bn", "bm", "cn")]
    links = [("am", "an"), ("bn", "bm")]
    project = Project(tasks, [Resource("m", 1), Resource("n", 1)], links, blocking=links)
    found = project_lns(project, rounds=8)
    assert found.schedule is not None and found.objective == 6
    assert found.schedule.start == {"am": 0, "an": 2, "bn": 0, "bm": 2, "cn": 4}
    alone = Project(
        [tasks[0], replace(tasks[1], release=7), tasks[3]], project.resources, links[:1], blocking=links[:1]
    )
    found = project_lns(alone, rounds=8)
    assert found.schedule is not None and found.objective == 9
    assert found.schedule.start["bm"] + 2 <= found.schedule.start["am"] or found.schedule.start["bm"] >= 7


def test_a_task_that_blocks_keeps_its_resource_over_a_break() -> None:
    tasks = [Task.single("a", 2, {"m": 1}), Task.single("b", 1, release=6), Task.single("c", 2, {"m": 1}, release=1)]
    project = Project(tasks, [Resource("m", 1, breaks=((3, 5),))], [("a", "b")], blocking=[("a", "b")])
    for found in (project_lns(project, rounds=8), sl.solve(project, "multi-sgs")):
        assert found.schedule is not None and project.verify(found.schedule) == []
        assert found.objective == 8 and found.schedule.start["a"] <= 1


def test_a_task_without_a_duration_blocks() -> None:
    tasks = [Task.single("a", 0, {"m": 1}), Task.single("b", 1, release=5), Task.single("c", 3, {"m": 1}, due=2)]
    project = Project(tasks, [Resource("m", 1)], [("a", "b")], "makespan+weighted-tardiness", blocking=[("a", "b")])
    found = project_lns(project, rounds=8)
    assert found.schedule is not None and project.verify(found.schedule) == [] and found.objective == 7


def test_a_chain_waits_for_the_predecessors_of_all_its_tasks() -> None:
    tasks = [Task.single(n, d, {n: 1}) for n, d in (("a", 2), ("b", 3), ("c", 9))]
    links = [("a", "b", 1), ("c", "b")]
    project = Project(tasks, [Resource(n, 1) for n in "abc"], links, no_wait=[("a", "b")])
    found = project_lns(project, rounds=2)
    assert found.schedule is not None and found.schedule.start == {"a": 6, "b": 9, "c": 0}


def test_idle_time_is_closed_by_later_starts() -> None:
    tasks = [Task.single("a", 2, {"m": 1}), Task.single("b", 5), Task.single("c", 1, {"m": 1})]
    project = Project(tasks, [Resource("m", 1, no_idle=True)], [("b", "c"), ("a", "c")])
    found = project_lns(project, rounds=2)
    assert found.schedule is not None and found.schedule.start == {"a": 3, "b": 0, "c": 5}
    released = Project([replace(tasks[0], deadline=2), *tasks[1:]], project.resources, project.precedences)
    with pytest.raises(NothingFound, match="deadline"):
        project_lns(released, rounds=2)


def test_a_break_that_is_over_sooner_for_a_later_start_is_no_obstacle() -> None:
    """Of b, from 1 on, the break makes 4 units of time, which are not free before 7; from 3 on 2 units suffice."""
    m = Resource("m", 1, breaks=((2, 3),), suspends=True)
    tasks = [
        Task.single("a", 2, {"n": 1}),
        Task.single("b", 2, {"m": 1, "n": 1}, release=1),
        Task.single("c", 1, {"n": 1}),
    ]
    project = Project([tasks[0], tasks[1], replace(tasks[2], release=5, deadline=6)], [m, Resource("n", 1)])
    for found in (project_lns(project, rounds=4), sl.solve(project, "multi-sgs")):
        assert found.schedule is not None and found.objective == 6


@pytest.mark.parametrize("seed", some_now(range(20), 3))
def test_setups_of_tasks_that_take_no_time_count(seed: int) -> None:
    project = kept_rules(seed, "points", "total-setup+makespan")
    found = project_lns(project, rounds=20, seed=seed)
    assert found.schedule is not None
    assert found.objective == shops.cost(project, found.schedule) == shops.optimum(project, 9)


@pytest.mark.parametrize("kind", ["dates", "setups", "points", "breaks"])
@pytest.mark.parametrize("seed", some_now(range(20), 5))
def test_dates_setups_and_breaks_are_kept_and_the_optimum_is_reached(seed: int, kind: str) -> None:
    objectives = WITH_SETUPS if kind == "setups" else REGULAR
    project = kept_rules(seed, kind, objectives[seed % len(objectives)])
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=60)
    if exact.status == "infeasible":
        with pytest.raises(NothingFound, match=r"deadline|in total"):
            project_lns(project, rounds=2)
        return
    found = project_lns(project, rounds=20, seed=seed)
    assert found.schedule is not None and shops.feasible(project, found.schedule)
    assert found.objective == shops.cost(project, found.schedule) == exact.objective
    assert found.bound is not None and found.bound <= exact.objective
    assert found.status == ("optimal" if found.bound == found.objective else "feasible")


@pytest.mark.parametrize("seed", some_now(range(10), 3))
def test_the_search_keeps_the_rules_of_projects_that_it_cannot_prove(seed: int) -> None:
    objective = ("weighted-tardiness+weighted-earliness", "total-setup+makespan", "flow-time")[seed % 3]
    kind = "setups" if "setup" in objective else "dates"
    several = [kept_rules(10 * seed + k, kind, objective) for k in range(3)]
    tasks = [
        replace(t, name=f"{t.name}{k}", deadline=None, family=t.family or t.name)
        for k, p in enumerate(several)
        for t in p.tasks
    ]
    kinds = {t.kind for t in tasks}
    setups = {pair: time for pair, time in several[0].resources[0].setups.items() if kinds.issuperset(pair)}
    machine = replace(several[0].resources[0], setups=setups, breaks=((3, 5), (9, 10)))
    others = [replace(r, capacity=r.capacity if r.renewable else 30) for r in several[0].resources[1:]]
    project = Project(tasks, [machine, *others], [], objective)
    listed = sl.solve(project, "multi-sgs")
    found = project_lns(project, rounds=20, seed=seed)
    assert found.schedule is not None and project.verify(found.schedule) == []
    assert shops.feasible(project, found.schedule)
    assert found.objective == shops.cost(project, found.schedule) <= listed.objective


def test_tabu_search_says_what_it_does_not_support() -> None:
    tasks = [Task.single(n, 2, {"saw": 1}, release=1) for n in "ab"]
    late = Project(tasks, [Resource("saw", 1)], objective="flow-time")
    closed = Project(tasks, [Resource("saw", 1, breaks=((3, 4),))])
    for project, words in ((late, "the objective flow-time"), (closed, "breaks")):
        with pytest.raises(sl.WrongArgument, match=f"operator tabu does not support {words}; use other operators"):
            project_lns(project, operators=[TabuSearch()], rounds=2)


@pytest.mark.parametrize("kind", ["dates", "setups", "points", "breaks", "no wait", "no idle"])
@pytest.mark.parametrize("seed", some_now(range(20), 4))
def test_a_solver_improves_parts_of_projects_with_rules(seed: int, kind: str) -> None:
    objectives = (*REGULAR, "weighted-tardiness+weighted-earliness")
    objective = objectives[seed % len(objectives)]
    ruled = kind.startswith("no")
    project: Project = shops.shop(seed, objective, (kind,)) if ruled else getattr(shops, kind)(seed, objective)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=60)
    if exact.status == "infeasible":
        return
    for parts in (SolverParts("cpsat", tasks=2, most_tasks=2), SolverParts("cpsat")):
        found = project_lns(project, rounds=12, seed=seed, operators=[parts])
        assert found.schedule is not None and shops.feasible(project, found.schedule)
        assert found.bound is not None and found.objective is not None
        assert found.bound <= exact.objective <= found.objective == shops.cost(project, found.schedule)
    assert found.objective == exact.objective  # all tasks were free


@pytest.mark.parametrize("seed", some_now(range(8), 3))
def test_job_shops_reach_the_optimum(seed: int) -> None:
    project = job_shop(seed)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=30)
    assert project_lns(project, rounds=20, seed=seed).objective == exact.objective


@pytest.mark.parametrize("in_parallel", [False, True])
@pytest.mark.parametrize("seed", some_now(range(20), 6))
def test_schedules_of_rules_hold_and_justification_makes_none_longer(seed: int, in_parallel: bool) -> None:
    project = random_project(seed, tasks=12, budget=(100, 100))
    a = ProjectArrays(project)
    modes = [options[0] for options in a.net.modes]
    one = Project(
        [Task(name, (mode,)) for name, mode in zip(a.net.names, modes, strict=True)],
        project.resources,
        project.precedences,
    )
    n = len(modes)
    for rule, keys in zip(PRIORITY_RULES, a.rules(modes), strict=True):
        free, starts, chosen = np.zeros(n, np.int64), np.zeros(n, np.int64), a.mode_indices(modes)
        value = generate(a.tasks, a.back, a.aim, new_room(a.tasks), keys.copy(), chosen, free, starts, in_parallel)
        schedule = a.schedule(starts, chosen)
        assert project.verify(schedule) == [] and project.value(schedule) == value
        if not in_parallel and all(delay >= 0 for _, _, delay in project.precedences):
            assert value <= one.value(serial_sgs(one, rule))


def test_both_schemes_by_hand() -> None:
    """Parallel: b starts with a, as the long task, which is before it by the rule, does not fit; nothing moves after that.

    Serial: a, long, b at 0, 2, 7; to the right a is at 9; to the left long, b, a are at 0, 5, 5.
    """
    tasks = [
        Task.single("a", 2, {"crew": 1}),
        Task.single("long", 5, {"crew": 2}),
        Task.single("b", 4, {"crew": 1}),
    ]
    a = ProjectArrays(Project(tasks, [Resource("crew", 2)]))
    keys, modes, starts = np.array([0.0, 1.0, 2.0]), np.arange(3), np.zeros(3, np.int64)
    made = {}
    for in_parallel in (False, True):
        free = np.zeros(3, np.int64)
        generate(a.tasks, a.back, a.aim, new_room(a.tasks), keys.copy(), modes, free, starts, in_parallel)
        made[in_parallel] = starts.tolist()
    assert made == {False: [5, 0, 5], True: [0, 4, 0]}


def test_a_seed_and_rounds_decide_the_result(large: Project) -> None:
    for threads in (1, 2):
        one, other = (project_lns(large, rounds=6, seed=3, threads=threads) for _ in range(2))
        assert one.schedule == other.schedule
        assert [i.objective for i in one.incumbents] == [i.objective for i in other.incumbents]
    assert project_lns(large, rounds=6, seed=4).schedule != one.schedule


def test_incumbents_are_better_and_better_schedules(large: Project) -> None:
    seen: list[tuple[int, Schedule]] = []
    found = project_lns(large, rounds=8, on_incumbent=lambda news: seen.append((news.objective, news.schedule())))
    assert len(seen) > 2 and seen[-1][0] == found.objective
    assert [value for value, _ in seen] == sorted({value for value, _ in seen}, reverse=True)
    for value, schedule in seen:
        assert large.verify(schedule) == [] and large.value(schedule) == value
    assert project_lns(large, on_incumbent=lambda news: False).objective == seen[0][0]


def test_the_time_limit_holds_and_the_first_schedule_is_finished(large: Project) -> None:
    began = time.perf_counter()
    found = project_lns(large, time_limit=0.5, threads=2)  # without rounds: only the limit ends it
    assert time.perf_counter() - began > 0.3
    assert set(found.details["operators"]) == {"crossover", "ruin"}
    assert large.verify(project_lns(large, time_limit=0.0).schedule) == []


def test_a_start_is_the_first_incumbent(large: Project) -> None:
    start = project_lns(large, rounds=20, seed=1).schedule
    seen: list[int] = []
    found = project_lns(large, rounds=2, warm_start=start, on_incumbent=lambda news: seen.append(news.objective))
    assert seen[0] == large.value(start) and found.objective <= seen[0]
    broken = Schedule({**start.start, "t3": start.start["t3"] + 10**6}, start.nodes)
    shifted = Schedule(dict.fromkeys(start.start, 0), start.nodes)
    assert project_lns(large, rounds=2, warm_start=shifted).warm_start.fate == "rejected"
    assert project_lns(large, rounds=2, warm_start=broken).objective < 10**6


def test_a_project_whose_longest_path_is_reached_is_optimal_at_once() -> None:
    chain = Project([Task.single(n, 3) for n in "abc"], [], [("a", "b"), ("b", "c")])
    found = project_lns(chain, rounds=50)
    assert (found.status, found.objective, found.bound) == ("optimal", 9, 9)
    assert project_lns(Project([], [])).schedule.start == {}


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_a_solver_takes_turns_and_the_result_depends_on_the_seed_only(backend: str) -> None:
    project = job_shop(3, jobs=6, machines=4)
    one, other = (sl.solve(project, method=f"lns@{backend}:rounds=12", seed=2, threads=2) for _ in range(2))
    assert one.details["operators"]["solver"].turns == 6  # 3 in each of two searches
    assert one.schedule == other.schedule and one.objective == other.objective


def test_the_solver_finds_what_the_others_do_not(large: Project) -> None:
    """Every part is better or proven not to be: from a bad start, the solver alone reaches a schedule of the others."""
    start = serial_sgs(large, "spt")
    alone = project_lns(large, rounds=12, warm_start=start, operators=[SolverParts("cpsat", tasks=20)])
    assert alone.details["operators"]["solver"].gain > 0
    assert large.verify(alone.schedule) == []
    with pytest.raises(sl.SchedlabError, match="nothing"):
        project_lns(large, backend="nothing")


def test_it_is_a_method_with_options(large: Project) -> None:
    found = sl.solve(large, method="lns:rounds=3", seed=1, threads=1)
    assert found.status == "feasible" and found.details["operators"]["ruin"].turns == 1
    mine = [Evolution("mine", ("window",))]
    own = project_lns(large, rounds=3, operators=mine, acceptance=RecordToRecord())
    assert set(own.details["operators"]) == {"mine"}
    warm = sl.solve(large, method="cpsat:modes+warm=lns/rounds=3", deterministic_limit=0.1, threads=1, seed=1)
    assert warm.objective <= found.objective


class TestTasksThatAreLeftOut:
    """Tasks that may be left out, where each schedule of a priority rule with them breaks a rule or a deadline."""

    def test_idle_time_that_an_optional_task_would_need(self) -> None:
        tasks = [Task.single("a", 2, {"r": 1}), Task.single("b", 1, {"m": 1}), Task.single("c", 1, {"r": 1}, penalty=9)]
        resources = [Resource("r", 1, no_idle=True), Resource("m", 1)]
        project = Project(tasks, resources, [("a", "b", 3), ("b", "c", 3)])
        found = project_lns(project, rounds=4)
        assert found.schedule is not None and project.verify(found.schedule) == []
        assert found.objective == 15
        must = replace(project, tasks=(*tasks[:2], replace(tasks[2], penalty=None)))
        with pytest.raises(NothingFound, match=r"a schedule that keeps the resources without idle time$"):
            project_lns(must, rounds=4)

    def test_deadlines_beside_a_pair_without_a_wait(self) -> None:
        last = Task.single("b", 3, {"m": 1}, deadline=4, penalty=0)
        tasks = [Task.single("a", 3, {"m": 1}), Task.single("w", 1, {"m": 1}), last]
        project = Project(tasks, [Resource("m", 1)], [("a", "b"), ("a", "w")], no_wait=[("a", "w")])
        found = project_lns(project, rounds=4)
        assert (found.status, found.objective) == ("optimal", 4)
        must = replace(project, tasks=(*tasks[:2], replace(last, penalty=None)))
        with pytest.raises(NothingFound, match=r"keeps the deadlines and precedences without a wait$"):
            project_lns(must, rounds=4)

    def test_only_the_late_ones(self) -> None:
        tasks = [Task.single("a", 3, {"m": 1}), Task.single("w", 1, {"m": 1})]
        tasks += [Task.single("late", 3, {"s": 1}, release=4, deadline=6, penalty=50)]
        tasks += [Task.single("kept", 3, {"m": 1}, penalty=50)]
        resources = [Resource("m", 1), Resource("s", 1)]
        project = Project(tasks, resources, [("a", "w")], no_wait=[("a", "w")])
        found = project_lns(project, rounds=1)
        assert found.schedule is not None and project.verify(found.schedule) == []
        assert found.schedule.start.keys() == {"a", "w", "kept"}
        assert found.objective == 57
