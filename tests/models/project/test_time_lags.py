"""Projects with maximal time lags: optima by enumeration of starts, faults."""

import itertools
import random

import pytest
import schedlab as sl
from draws import some_now
from schedlab.models import ProblemError, ProjectMax, Resource, Schedule, Task


def random_project_max(seed: int) -> ProjectMax:
    rng = random.Random(seed)
    tasks = [Task.single(n, rng.randint(1, 3), {"crew": rng.randint(1, 2)}) for n in "abcd"]
    pairs = list(itertools.combinations("abcd", 2))
    links = [(a, b, rng.randint(-2, 2)) for a, b in pairs if rng.random() < 0.4]
    lags = [(a, b, rng.randint(0, 4)) for a, b in itertools.permutations("abcd", 2) if rng.random() < 0.25]
    return ProjectMax(tasks, [Resource("crew", 3)], links, lags)


@pytest.mark.parametrize("seed", some_now(range(20), 7))
def test_the_optimum_is_that_of_all_starts(seed: int) -> None:
    project = random_project_max(seed)
    every = (Schedule(dict(zip("abcd", starts, strict=True))) for starts in itertools.product(range(10), repeat=4))
    best = min((project.value(s) for s in every if not project.verify(s)), default=None)
    found = sl.solve(project, backend="cpsat", threads=1, time_limit=20)
    assert found.objective == best
    assert found.status == ("infeasible" if best is None else "optimal")


def test_the_maximal_lag_binds() -> None:
    """Roll at most 5 after the start of heating, although the mill is busy until 9: heating waits."""
    tasks = [Task.single("heat", 4), Task.single("roll", 2, {"mill": 1}), Task.single("busy", 9, {"mill": 1})]
    free = ProjectMax(tasks, [Resource("mill", 1)], [("heat", "roll"), ("busy", "roll")])
    bound = ProjectMax(tasks, free.resources, free.precedences, [("heat", "roll", 5)])
    starts = [sl.solve(p, backend="cpsat", threads=1).schedule for p in (free, bound)]
    assert free.verify(Schedule({"heat": 0, "busy": 0, "roll": 9})) == []
    assert "4 too late" in bound.verify(Schedule({"heat": 0, "busy": 0, "roll": 9}))[0].message
    assert starts[1].start["heat"] >= 4 and bound.value(starts[1]) == 11


def test_wrong_lags_are_explained_and_heuristics_refused() -> None:
    tasks = [Task.single(n, 1) for n in "ab"]
    with pytest.raises(ProblemError, match="there is no task 'c'"):
        ProjectMax(tasks, [], [], [("a", "c", 1)])
    with pytest.raises(ProblemError, match="it is -1; at least 0"):
        ProjectMax(tasks, [], [], [("a", "b", -1)])
    with pytest.raises(sl.SchedlabError, match="project-max"):
        sl.solve(ProjectMax(tasks, []), method="multi-sgs")
    assert sl.solve(ProjectMax(tasks, [], [], [("a", "b", 0)]), time_limit=60).objective == 1
