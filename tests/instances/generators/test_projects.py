"""Generated projects: reproducible, with a schedule for every strength of the resources; the shipped one."""

import statistics
from pathlib import Path

import networkx as nx
import pytest
import schedlab as sl
from schedlab.heuristics import multi_sgs
from schedlab.instances import generators, load, write
from schedlab.models import Project


def project(*args: float, **sizes: float) -> Project:
    return generators["project"](*args, **sizes).project


def test_the_shipped_project_is_what_the_generator_makes(tmp_path: Path) -> None:
    shipped = load("project_small")
    sizes = {k: v for k, v in shipped.generator.items() if k not in ("name", "version")}
    write(generators["project"](**sizes), tmp_path / "again")
    assert sorted(p.name for p in (tmp_path / "again").iterdir()) == sorted(p.name for p in shipped.path.iterdir())
    for file in shipped.path.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_the_best_rule_and_the_optimum_of_the_shipped_project() -> None:
    shipped = load("project_small").project
    assert multi_sgs(shipped).objective == 46
    result = sl.solve(shipped, method="cpsat:modes", time_limit=60, threads=2)
    assert (result.status, result.objective) == ("optimal", 41)


def test_the_seed_decides() -> None:
    assert project(12, 5) == project(12, 5)
    assert project(12, 5) != project(12, 6)


@pytest.mark.parametrize("strength", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_there_is_a_schedule(seed: int, strength: float) -> None:
    made = project(25, seed, strength=strength)
    assert made.verify(multi_sgs(made).schedule) == []


@pytest.mark.parametrize("seed", range(5))
def test_with_full_strength_the_fastest_modes_start_as_early_as_the_precedences_allow(seed: int) -> None:
    made = project(20, seed, strength=1.0)
    assert multi_sgs(made).objective == max(made.heads[t.name] + t.shortest for t in made.tasks)


def test_slower_modes_need_no_more_and_sizes_are_as_given() -> None:
    made = project(40, 3, modes=4, renewable=3, nonrenewable=1, complexity=2.0, factor=0.5)
    assert [(r.name, r.renewable) for r in made.resources] == [("R1", True), ("R2", True), ("R3", True), ("N1", False)]
    assert len(made.precedences) == 80
    used = 0
    for task in made.tasks:
        durations = [m.duration for m in task.modes]
        assert len(durations) == 4 and durations == sorted(set(durations))
        for r in made.resources:
            amounts = [m.demands.get(r.name, 0) for m in task.modes]
            assert amounts == sorted(amounts, reverse=True)
            used += amounts[0] > 0
    assert 0.4 < used / (40 * 4) < 0.6


def test_precedences_that_follow_from_others_are_rare_and_tasks_are_near() -> None:
    shares = []
    for seed in range(5):
        graph = project(60, seed, complexity=1.5).graph
        shares.append(nx.transitive_reduction(graph).number_of_edges() / graph.number_of_edges())
        assert all(0 < int(b[1:]) - int(a[1:]) <= 8 for a, b in graph.edges)
        assert sum(d == 0 for _, d in graph.in_degree) <= 3
    assert statistics.fmean(shares) > 0.85


@pytest.mark.parametrize("sizes", [{"tasks": 0}, {"modes": 11}, {"strength": 1.5}, {"factor": -0.1}, {"complexity": 9}])
def test_numbers_out_of_range_are_errors(sizes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(sizes))} is {next(iter(sizes.values()))}; expected"):
        project(**{"tasks": 5, "seed": 1, **sizes})


def test_one_task_without_resources() -> None:
    made = project(1, 1, modes=1, renewable=0, nonrenewable=0)
    assert len(made.tasks) == 1 and made.precedences == () and made.resources == ()
