"""The bound that solvers are given, and the one that a search takes from a solver: sound, reported, never in a conflict."""

import random

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import Limits, run
from schedlab.heuristics import project_lns
from schedlab.heuristics.project import bound_for_solvers as given
from schedlab.heuristics.project import bounds
from schedlab.heuristics.project.bound_for_solvers import bound_for_solvers
from schedlab.heuristics.project.bounds import kept_for_bound, proved_bound
from schedlab.models import Mode, Project, ProjectMax, Resource, Task

from .small import job_shop, random_project
from .test_bounds import by_enumeration


@pytest.fixture
def also_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solvers are given a bound of all projects that minimize the makespan."""
    monkeypatch.setattr(given, "FEW_TASKS", 0)
    monkeypatch.setattr(given, "CROWDED", 0.0)


@pytest.fixture(scope="module")
def pulses() -> Project:
    """40 tasks of 5 that need two of a crew of three, so that no two run at a time: the optimum is 200."""
    return Project([Task.single(f"t{k}", 5, {"crew": 2}) for k in range(40)], [Resource("crew", 3)])


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
@pytest.mark.parametrize("seed", some_now(range(25), 8))
def test_with_the_bound_solvers_have_the_optimum_of_enumeration(seed: int, backend: str, also_small: None) -> None:
    project = random_project(seed, tasks=4, budget=(99, 99))
    optimum = by_enumeration(project)
    bound = bound_for_solvers(project, Limits())
    assert bound is not None and bound <= optimum
    found = sl.solve(project, f"{backend}:modes", threads=1, time_limit=60)
    assert (found.status, found.objective) == ("optimal", optimum)


@pytest.mark.parametrize("seed", some_now(range(30), 10))
def test_the_bound_holds_with_maximal_lags(seed: int, also_small: None) -> None:
    plain = random_project(seed, tasks=6, share=0.4, budget=(99, 99))
    rng = random.Random(seed)
    lags = [(before, after, rng.randint(2, 9)) for before, after, _ in plain.precedences]
    project = ProjectMax(plain.tasks, plain.resources, plain.precedences, lags)
    without = sl.solve(project, "cpsat:modes:post_bound=false", threads=1, time_limit=60)
    found = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    assert (found.status, found.objective) == (without.status, without.objective)


@pytest.mark.parametrize("seed", some_now(range(25), 8))
def test_the_bound_of_a_solver_is_at_most_the_optimum(seed: int) -> None:
    project = job_shop(seed, jobs=3) if seed % 2 else random_project(seed, tasks=4, budget=(99, 99))
    start = sl.solve(project, "multi-sgs")
    exact = sl.solve(project, "cpsat:modes", threads=1, time_limit=60).objective
    found = proved_bound(project, start.schedule, 0, 60.0, 1, seed)
    value = start.objective if found.schedule is None else project.value(found.schedule)
    assert found.bound == exact == value
    assert found.schedule is None or not project.verify(found.schedule)


def test_a_short_run_of_a_solver_has_the_bound_of_schedlab(pulses: Project) -> None:
    apart = sl.solve(pulses, "cpsat:modes:post_bound=false", threads=1, deterministic_limit=0.0)
    with_bound = sl.solve(pulses, "cpsat:modes", threads=1, deterministic_limit=0.0)
    assert apart.bound is None or apart.bound < with_bound.bound
    assert with_bound.bound == bound_for_solvers(pulses, Limits()) == 200


def test_relaxations_and_formulations_of_others_have_no_bound(pulses: Project) -> None:
    method = sl.methods.Highs("modes", integral=False, lowering="pairwise")
    assert not method.takes_bound and not sl.methods.Highs("modes", grid=5, side="relax").takes_bound
    assert sl.methods.Highs("modes").takes_bound and sl.methods.CpSat("modes").takes_bound
    assert not sl.methods.CpSat("modes", post_bound=False).takes_bound
    text = "cpsat:modes:post_bound=false"
    assert sl.methods.CpSat("modes", post_bound=False).text == text
    assert sl.solve(pulses, text, threads=1, time_limit=60).status == "optimal"


def test_few_tasks_need_no_compiled_code() -> None:
    assert bound_for_solvers(job_shop(1), Limits()) is None


@pytest.mark.parametrize(("demand", "useful"), [(1, False), (2, True)])
def test_a_project_whose_resources_are_nearly_free_needs_no_bound(demand: int, useful: bool) -> None:
    """A chain of 40 tasks of 5, and 40 tasks beside it that use half or all of the time of a crew of two."""
    chain = [Task.single(f"c{k}", 5) for k in range(40)]
    beside = [Task.single(f"t{k}", 5, {"crew": demand}) for k in range(40)]
    links = [(f"c{k}", f"c{k + 1}") for k in range(39)]
    project = Project([*chain, *beside], [Resource("crew", 2)], links)
    assert (bound_for_solvers(project, Limits()) == 200) is useful
    found = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    assert (found.status, found.objective) == ("optimal", 200)


def test_a_conflict_names_constraints_of_the_problem_alone() -> None:
    modes = (Mode("1", 2, {"money": 1}),)
    project = Project([Task(f"t{k}", modes) for k in range(40)], [Resource("money", 39, renewable=False)])
    found = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    assert found.status == "infeasible" and found.conflict.names == ("money",)


def test_a_start_refutes_a_false_bound() -> None:
    model = sl.Model("one")
    x = model.integer("x", 0, 9)
    model.minimize(x)
    start = sl.Assignment(model, {x: 1})
    found = run(model, "cpsat", Limits(60, 1), warm_start=start, known_bound=3)
    assert found.status == "error" and "bound" in found.message
    true = run(model, "cpsat", Limits(60, 1), known_bound=0)
    assert (true.status, true.objective, true.bound, len(model.constraints)) == ("optimal", 0, 0, 0)


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_a_known_bound_is_one_of_the_first_objective(sense: str) -> None:
    model = sl.Model("two")
    x, y = model.integer("x", 0, 9), model.integer("y", 0, 9)
    model.add(x + y == 9)
    getattr(model, sense)([2 * x + 5, y + 1])
    optimum = (5, 10) if sense == "minimize" else (23, 1)
    found = run(model, "cpsat", Limits(60, 1), known_bound=optimum[0])
    assert (found.status, found.objective, found.bound) == ("optimal", optimum, optimum)


def test_a_search_with_a_time_limit_keeps_a_tenth_for_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    project = job_shop(2)
    assert kept_for_bound(project, None) == kept_for_bound(project, 4.8) == kept_for_bound(project, float("inf")) == 0.0
    assert kept_for_bound(project, 20.0) == 2.0
    assert kept_for_bound(project, 4.99997) == pytest.approx(0.499997)  # of a limit of 5 s, a little of which is over
    monkeypatch.setattr(bounds, "MOST_TASKS", 3)
    assert kept_for_bound(project, 20.0) == 0.0


def test_lns_takes_the_bound_of_the_solver() -> None:
    """A job shop whose bounds without a solver are below the optimum."""
    project = job_shop(2, jobs=4)
    quick = sl.heuristics.project_lns(project, rounds=3)
    found = sl.solve(project, "lns:rounds=3", time_limit=300, threads=1)
    assert quick.status == "feasible" and quick.bound < quick.objective
    assert found.status == "optimal" and found.bound == found.objective


@pytest.mark.parametrize("backend", [None, "cpsat"])
def test_a_small_project_is_proved_before_the_first_turn(backend: str | None) -> None:
    """Its longest path and energy give 15; the search would look for a shorter schedule until the time limit."""
    times = ((3, 5), (4, 2), (6, 3), (2, 7))
    modes = [(Mode("1", a, {"m": 1}), Mode("2", b, {"n": 1})) for a, b in times]
    tasks = [Task(f"{job} {k}", mode) for job in "ab" for k, mode in enumerate(modes)]
    links = [(f"{job} {k}", f"{job} {k + 1}") for job in "ab" for k in range(3)]
    project = Project(tasks, [Resource("m", 1), Resource("n", 1)], links)
    least = sl.solve(project, "cpsat:modes", threads=1).objective
    assert least is not None and project_lns(project, rounds=1).bound < least
    found = project_lns(project, time_limit=600, backend=backend)
    assert (found.status, found.objective, found.bound) == ("optimal", least, least)
    assert found.details["operators"] == {}  # none had a turn
