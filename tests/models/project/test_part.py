"""Parts of schedules of projects: free tasks; the order that the others keep."""

import pytest
import schedlab as sl
from draws import some_now
from heuristics.project.small import job_shop, random_project
from schedlab.backends import Limits, run
from schedlab.models import Project, Resource, Schedule, Task
from schedlab.models.project import part_formulation


def solve(part, horizon):
    return run(part.model, "cpsat", Limits(30, 1, 1), conflict=False)


@pytest.mark.parametrize("seed", some_now(range(25), 8))
def test_parts_have_feasible_answers_between_the_schedule_and_the_optimum(seed: int) -> None:
    project = random_project(seed, tasks=8) if seed % 2 else job_shop(seed)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=30)
    if exact.status == "infeasible":
        return
    schedule = sl.solve(project, method="serial-sgs:spt").schedule
    value = project.value(schedule)
    names = [t.name for t in project.tasks]
    for free in ([], names[::2], names[1:4], names):
        part = part_formulation(project, schedule, free, value)
        assert part is not None
        assert part.model.check(part.write(schedule)) == []  # the schedule is one of the answers
        found = solve(part, value)
        assert found.status == "optimal"
        better = part.read(found.assignment)
        assert project.verify(better) == [] and project.value(better) == found.objective
        assert exact.objective <= found.objective <= value
        if free == names:
            assert found.objective == exact.objective
            if value > exact.objective:
                assert solve(part_formulation(project, schedule, free, exact.objective), 0).objective == exact.objective
            none = part_formulation(project, schedule, free, exact.objective - 1)
            assert none is None or solve(none, 0).status == "infeasible"


def test_the_order_is_that_in_which_tasks_give_each_other_a_resource() -> None:
    """The crew of 3: a and b start at 0, c takes what a gives, d what b and c give."""
    data = {"a": (2, 1, 0), "b": (4, 2, 0), "c": (2, 1, 2), "d": (1, 3, 4)}
    tasks = [Task.single(name, duration, {"crew": amount}) for name, (duration, amount, _) in data.items()]
    project = Project(tasks, [Resource("crew", 3)])
    part = part_formulation(project, Schedule({name: start for name, (_, _, start) in data.items()}, {}), [], 5)
    links = [c.name for c in part.model.constraints if "->" in c.name]
    assert links == ["a -> c", "b -> d", "c -> d"]


def test_a_part_that_its_longest_path_excludes_is_none() -> None:
    project = Project([Task.single(n, 2, {"saw": 1}) for n in "abc"], [Resource("saw", 1)])
    schedule = Schedule({"a": 0, "b": 2, "c": 4}, {})
    assert part_formulation(project, schedule, [], 5) is None
    assert part_formulation(project, schedule, [], 6) is not None
