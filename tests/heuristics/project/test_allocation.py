"""Starts of relaxations become schedules of projects: verified, in the order of the starts, with the bound of the relaxation."""

import random

import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import NotForThisProblem
from schedlab.heuristics.project.serial_sgs import ProjectAllocator
from schedlab.models import Deadline, Encoding, Project, ProjectMax, Resource, Schedule, Task

from .small import job_shop, random_project


def without_resources(project: Project) -> Encoding:
    """A relaxation: precedences alone, with the shortest modes."""
    model = sl.Model("precedences", horizon=project.horizon)
    tasks = {t.name: model.interval(t.name, size=min(m.duration for m in project.possible(t))) for t in project.tasks}
    for before, after, delay in project.precedences:
        model.add(sl.end_before_start(tasks[before], tasks[after], delay))
    model.minimize(sl.max([v.end for v in tasks.values()]))

    def read(assignment: sl.Assignment) -> Schedule:
        return Schedule({name: assignment.start[v.index] for name, v in tasks.items()})

    def write(schedule: Schedule) -> sl.Assignment:
        return sl.Assignment(model, {v: schedule.start[name] for name, v in tasks.items()})

    return Encoding(model, read, write, relaxation=True)


@pytest.fixture(autouse=True)
def registered():
    sl.register_formulation("project", "precedences", without_resources)
    sl.register_formulation("project-max", "precedences", without_resources)
    yield
    for kind in ("project", "project-max"):
        sl.models.kind.FORMULATIONS.unregister(f"{kind}.precedences")


@pytest.mark.parametrize("method", ["cpsat:precedences", "highs:precedences@lp"])
@pytest.mark.parametrize("seed", some_now(range(8), 4))
def test_a_relaxation_has_a_bound_and_schedules(seed: int, method: str) -> None:
    project = job_shop(seed) if seed % 2 else random_project(seed, tasks=7, budget=(99, 99))
    exact = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    found = sl.solve(project, method, threads=1, time_limit=60)
    assert found.bound <= exact.objective <= found.objective and not found.violations
    assert found.status == ("optimal" if found.bound == found.objective else "feasible")


@pytest.mark.parametrize("seed", some_now(range(20), 7))
def test_the_starts_of_an_optimum_lead_to_one(seed: int) -> None:
    project = job_shop(seed)
    exact = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    again = ProjectAllocator(project).allocate(exact.schedule.start)
    assert not project.verify(again) and project.value(again) == exact.objective


def test_any_starts_lead_to_a_schedule() -> None:
    for seed in range(20):
        project = random_project(seed, tasks=8)
        rng = random.Random(seed)
        allocator = ProjectAllocator(project)
        made = allocator.allocate({t.name: rng.randint(0, 20) for t in project.tasks})
        assert made is None or project.verify(made) == []
    with pytest.raises(KeyError):
        allocator.allocate({})


def test_without_money_and_after_the_time_there_is_none() -> None:
    costly = Task.single("a", 3, {"money": 2})
    poor = Project([costly, Task.single("b", 3, {"money": 2})], [Resource("money", 3, renewable=False)])
    assert ProjectAllocator(poor).allocate({"a": 0, "b": 0}) is None
    late = ProjectAllocator(job_shop(1), Deadline(0.0))
    starts = {t.name: 0 for t in job_shop(1).tasks}
    assert late.allocate(starts) is not None and late.allocate(starts) is None
    assert late.repair() is None


def test_with_maximal_lags_the_message_says_what_to_do() -> None:
    project = ProjectMax([Task.single("a", 3)], [])
    with pytest.raises(
        NotForThisProblem, match=r"project-max problems, whose kind has no allocator; .*restriction=True"
    ):
        sl.solve(project, "cpsat:precedences", time_limit=60)
