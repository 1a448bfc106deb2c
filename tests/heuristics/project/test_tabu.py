"""Tabu search and path relinking for shops: optima, seeds, limits, schedules between two."""

import random
from pathlib import Path

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import NothingFound, ProjectArrays, project_lns
from schedlab.heuristics.project.lns import Elite, TabuSearch, between, distance
from schedlab.instances import read_fjsplib, read_jsplib
from schedlab.models import Project, Resource, Task

from .small import job_shop, random_project, random_shop

FT06 = """6 6
2 1 0 3 1 6 3 7 5 3 4 6
1 8 2 5 4 10 5 10 0 10 3 4
2 5 3 4 5 8 0 9 1 1 4 7
1 5 0 5 2 5 3 3 4 8 5 9
2 9 1 3 4 5 5 4 0 3 3 1
1 3 3 3 5 9 0 10 4 4 2 1
"""  # optimum 55
LA01 = """10 5
1 21 0 53 4 95 3 55 2 34
0 21 3 52 4 16 2 26 1 71
3 39 4 98 1 42 2 31 0 12
1 77 0 55 4 79 2 66 3 77
0 83 3 34 2 64 1 19 4 37
1 54 2 43 4 79 0 92 3 62
3 69 4 77 1 87 2 87 0 93
2 38 0 60 1 41 3 24 4 83
3 17 1 49 4 25 0 44 2 98
4 77 3 79 2 43 1 75 0 96
"""  # optimum 666
LA03 = """10 5
1 23 2 45 0 82 4 84 3 38
2 21 1 29 0 18 4 41 3 50
2 38 3 54 4 16 0 52 1 52
4 37 0 54 2 74 1 62 3 57
4 57 0 81 1 61 3 68 2 30
4 81 0 79 1 89 2 89 3 11
3 33 2 20 0 91 4 20 1 66
4 24 1 84 0 32 2 55 3 8
4 56 0 7 3 54 2 64 1 39
4 40 1 83 0 19 2 8 3 7
"""  # optimum 597
KACEM1 = """4 5 5
3 5 1 2 2 5 3 4 4 1 5 2 5 1 5 2 4 3 5 4 7 5 5 5 1 4 2 5 3 5 4 4 5 5
3 5 1 2 2 5 3 4 4 7 5 8 5 1 5 2 6 3 9 4 8 5 5 5 1 4 2 5 3 4 4 54 5 5
4 5 1 9 2 8 3 6 4 7 5 9 5 1 6 2 1 3 2 4 5 5 4 5 1 2 2 5 3 4 4 2 5 4 5 1 4 2 5 3 2 4 1 5 5
2 5 1 1 2 5 3 2 4 4 5 12 5 1 5 2 1 3 2 4 1 5 2
"""  # optimum 11


def project(text: str, folder: Path, flexible: bool = False) -> Project:
    file = folder / "shop.txt"
    file.write_text(text)
    return read_fjsplib(file) if flexible else read_jsplib(file)


def tabu(problem: Project, **arguments: object) -> sl.Result:
    return project_lns(problem, operators=[TabuSearch(elite=4, patience=500, short=50)], **arguments)


@pytest.mark.parametrize(("text", "best"), [(FT06, 55), (LA01, 666), (LA03, 597), (KACEM1, 11)])
def test_optima_of_the_literature(text: str, best: int, tmp_path: Path) -> None:
    shop = project(text, tmp_path, flexible=text is KACEM1)
    found = tabu(shop, rounds=20, seed=1)
    assert found.objective == best and shop.verify(found.schedule) == []


@pytest.mark.parametrize("seed", some_now(range(20), 7))
def test_optima_of_small_shops(seed: int) -> None:
    shop = random_shop(seed, tasks=12)
    exact = sl.solve(shop, backend="cpsat", threads=1, time_limit=30)
    found = tabu(shop, rounds=4, seed=seed)
    assert found.objective == exact.objective and shop.verify(found.schedule) == []


def test_a_seed_and_rounds_decide_the_result() -> None:
    shop = random_shop(2, tasks=60)
    for threads in (1, 2):
        one, other = (project_lns(shop, rounds=8, seed=3, threads=threads) for _ in range(2))
        assert one.schedule == other.schedule
        assert [i.objective for i in one.incumbents] == [i.objective for i in other.incumbents]
        assert one.details["operators"]["tabu"].turns > 0


def elite(shop: Project, seed: int) -> Elite:
    """A schedule of a shop as the operator keeps it, without the tasks before the others on their machines."""
    a = ProjectArrays(shop)
    starts, modes = a.placed(project_lns(shop, rounds=1, seed=seed).schedule)
    return Elite(0, np.lexsort((a.tasks.rank, starts)), modes, starts)


@pytest.mark.parametrize("seed", some_now(range(10), 4))
def test_schedules_between_two_keep_what_both_agree_on(seed: int) -> None:
    shop = random_shop(seed, tasks=30)
    one, other = elite(shop, 1), elite(shop, 2)
    order, modes = between(one, other, 0.5, np.random.default_rng(seed))
    position = {k: i for i, k in enumerate(order.tolist())}
    first, second = (np.argsort(each.order) for each in (one, other))
    for i in range(30):
        assert modes[i] in (one.mode[i], other.mode[i])
        for j in range(30):
            if first[i] < first[j] and second[i] < second[j]:
                assert position[i] < position[j]
    same, _ = between(one, one, 0.5, np.random.default_rng(seed))
    assert same.tolist() == one.order.tolist()


def test_the_distance_counts_tasks_with_another_mode_or_neighbour() -> None:
    order = np.arange(3)
    one = Elite(9, order, np.array([0, 1, 2]), np.array([-1, 0, 1]))
    assert distance(one, one) == 0
    assert distance(one, one._replace(mode=np.array([0, 1, 3]), before=np.array([1, 0, 1]))) == 2


def test_a_shop_without_moves_ends() -> None:
    """One machine: each order is optimal, but the precedences with delays hide it from the bound."""
    tasks = [Task.single(name, 2, {"m": 1}) for name in "abc"]
    shop = Project(tasks, [Resource("m", 1)], [("a", "b", 3), ("b", "c", 3)])
    alone = Project([Task.single("a", 2, {"m": 1}), Task.single("b", 2, {"m": 1})], [Resource("m", 1)])
    assert tabu(shop, rounds=3).objective == 12
    assert tabu(alone, rounds=3).objective == 4


def test_other_projects_are_refused() -> None:
    with pytest.raises(TypeError, match="not a shop"):
        project_lns(random_project(5, tasks=60, share=0.05, budget=(150, 200)), operators=[TabuSearch()])
    with pytest.raises(ValueError, match="at least 2"):
        TabuSearch(elite=1)


def test_the_default_operators_of_shops_include_it() -> None:
    found = project_lns(job_shop(2, jobs=6, machines=5), rounds=3)
    assert set(found.details["operators"]) == {"crossover", "ruin", "tabu"}


@pytest.mark.parametrize("seed", some_now(range(40), 10))
def test_shops_with_release_dates_and_deadlines(seed: int) -> None:
    rng = random.Random(seed)
    tasks: list[Task] = []
    links: list[tuple[str, str]] = []
    for job in range(rng.randint(2, 4)):
        for k, machine in enumerate(rng.sample("mno", 3)):
            dates = {"release": rng.choice((0, 0, 2, 5)), "deadline": rng.choice((None, None, None, 20, 24))}
            tasks.append(Task.single(f"{job}.{k}", rng.randint(1, 4), {machine: 1}, **dates))
            links += [(f"{job}.{k - 1}", f"{job}.{k}")] if k else []
    project = Project(tasks, [Resource(machine, 1) for machine in "mno"], links)
    exact = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    try:
        found = project_lns(project, rounds=30, seed=seed, operators=[TabuSearch()])
    except NothingFound:  # each first schedule misses a deadline
        assert any(t.deadline is not None for t in tasks)
        return
    assert project.verify(found.schedule) == []
    assert found.bound <= exact.objective == found.objective
