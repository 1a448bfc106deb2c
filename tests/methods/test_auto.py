"""``auto``, the portfolio of a problem's kind: its answers, bounds, reports and limits."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import schedlab as sl
from made_heuristics import made
from random_evictions import random_shared
from schedlab.heuristics import HEURISTICS
from schedlab.methods.portfolio import parsed_steps
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Project, Queue, Resource, Task
from schedlab.models import kind as kinds
from schedlab.models.kind import ProblemKind, Step
from small_profits import best_by_enumeration, tiny

NODES = Platform([NodeGroup("n", 3, {"cores": 16})])
JOBS = [Job(f"j{k}", k, 5 + 7 * k % 11, 1 + k % 2, {"cores": 5 + 2 * (k % 4)}, "q") for k in range(6)]
PROBLEM = Dispatch(NODES, JOBS, [Queue("q", 60)], "weighted-wait")


def shop() -> sl.Project:
    """Three jobs on three machines, each in an order of its own."""
    visits = {"a": "xyz", "b": "yxz", "c": "zxy"}
    tasks = [Task.single(job + m, 3 + k, {m: 1}) for job, order in visits.items() for k, m in enumerate(order)]
    links = [(job + first, job + second) for job, order in visits.items() for first, second in pairwise(order)]
    return Project(tasks, [Resource(m, 1) for m in "xyz"], links)


def methods_of(result: sl.Result) -> list[str]:
    return [step.method for step in result.details["steps"]]


def test_it_is_the_default_of_problems_and_proves_small_ones():
    found = sl.solve(PROBLEM, time_limit=60, threads=2)
    exact = sl.solve(PROBLEM, "cpsat:counts", time_limit=20)
    assert found.solver == "auto" and found.status == exact.status == "optimal"
    assert found.objective == pytest.approx(exact.objective) and found.gap == pytest.approx(0, abs=1e-6)
    assert PROBLEM.verify(found.schedule) == []


@pytest.mark.parametrize("seed", range(3))
def test_profits_equal_the_enumeration(seed):
    problem = tiny(seed)
    found = sl.solve(problem, "auto", time_limit=60, threads=1)
    assert found.status == "optimal" and found.objective == pytest.approx(best_by_enumeration(problem))


@pytest.mark.parametrize(
    "name, method", [("theta_24", "dp"), pytest.param("project_small", "cpsat:modes", marks=pytest.mark.slow)]
)
def test_other_kinds_end_as_soon_as_the_optimum_is_proven(name, method):
    problem = sl.load(name).problem
    found = sl.solve(problem, "auto", time_limit=15, threads=2)
    assert found.status == "optimal" and methods_of(found)[-1] == method


@pytest.mark.parametrize("seed", range(4))
def test_evictions_with_shared_bandwidth_need_the_solver(seed):
    problem = random_shared(random.Random(seed), jobs=5)
    found, exact = (sl.solve(problem, method, time_limit=20, threads=1) for method in ("auto", "cpsat:shared"))
    assert found.status == exact.status == "optimal" and found.objective == exact.objective


def test_reports_improve_and_returning_false_ends_the_call():
    problem = sl.load("eurora_99").problem
    seen: list[sl.Incumbent] = []

    def report(news: sl.Incumbent) -> bool:
        seen.append(news)
        return len(seen) < 3

    found = sl.solve(problem, "auto", time_limit=30, threads=1, on_incumbent=report)
    assert len(seen) == 3 and found.status == "feasible"
    values = [news.objective for news in seen]
    assert values == sorted(values, reverse=True) and found.objective == pytest.approx(values[-1])
    assert [i.objective for i in found.incumbents] == values


def test_the_result_is_never_worse_than_its_start():
    problem = sl.load("eurora_99").problem
    start = sl.solve(problem, "lns", seed=3, threads=1).schedule
    found = sl.solve(problem, "auto", time_limit=0, warm_start=start)
    assert found.objective == problem.value(start)
    assert found.warm_start.fate == "accepted" and found.warm_start.returned


@pytest.mark.parametrize(
    "objective, method", [("weighted-wait", "branch-and-bound"), ("makespan", "highs:pool@600s..36000s-energy")]
)
def test_the_relaxation_depends_on_the_objective(objective, method):
    steps = [step.text for step, _ in parsed_steps(PROBLEM.replace(objective=objective))]
    relaxations = {"lagrangian", "branch-and-bound", "highs:pool@600s..36000s-energy"}
    assert relaxations & set(steps) == {method}


def test_it_stops_at_the_gap():
    problem = sl.load("eurora_99").problem.at(43200, first=15).replace(objective="makespan")
    found = sl.solve(problem, "auto", time_limit=8, threads=1, gap_limit=0.9)
    assert found.gap is not None and found.gap <= 0.9 and found.status == "feasible"
    assert methods_of(found)[-1] != "lns"


def test_an_infeasible_problem_is_proven():
    late = [Job(f"j{k}", 0, 10, 3, {"cores": 16}, "q", deadline=15) for k in range(2)]
    found = sl.solve(Dispatch(NODES, late, [Queue("q", 60)], "weighted-wait"), time_limit=20)
    assert found.status == "infeasible" and found.schedule is None


def test_a_kind_without_steps_runs_its_first_formulation(monkeypatch):
    problem = sl.load("project_small").problem
    monkeypatch.setattr(kinds, "known", lambda name: None)
    found = sl.solve(problem, "auto", time_limit=20, threads=2)
    assert methods_of(found) == ["cpsat:modes"] and found.status == "optimal"


def test_a_step_that_is_not_available_is_named(monkeypatch):
    problem = sl.load("project_small").problem
    declared = ProblemKind("project", sl.Project, portfolio=f"{__name__}:with_a_large_model")
    monkeypatch.setattr(kinds, "known", lambda name: declared)
    found = sl.solve(problem, "auto", time_limit=20, threads=2)
    first, last = found.details["steps"]
    assert first.status == "unavailable" and "non-zeros" in first.message
    assert last.status == "optimal" == found.status and "unavailable" in found.message


def with_a_large_model(problem: sl.Project) -> list[Step]:
    return [Step("highs:modes@pairwise:max_nonzeros=1"), Step("cpsat:modes")]


def test_a_model_has_no_portfolio():
    with pytest.raises(TypeError, match="auto solves problems"):
        sl.solve(sl.Model("m"), "auto")


def test_what_it_does_not_obey_is_refused():
    with pytest.raises(TypeError, match="auto does not obey parameters"):
        sl.solve(PROBLEM, parameters={"num_workers": 1})


@pytest.mark.parametrize("crash", [MemoryError(), RuntimeError("the tables do not fit"), TypeError("an id")])
def test_a_step_that_crashes_does_not_lose_the_answers_of_the_others(monkeypatch, crash):
    def crashing(*_):
        raise crash

    monkeypatch.setitem(HEURISTICS._found, "bounds", made(crashing, kinds=("project",), name="bounds"))
    found = sl.solve(shop(), "auto", time_limit=8, threads=2)
    failed = next(step for step in found.details["steps"] if step.method == "bounds")
    assert failed.status == "error" and failed.message.startswith(type(crash).__name__)
    assert found.status == "optimal" and "bounds: error in" in found.message and f"({failed.message})" in found.message


def test_steps_that_all_crash_are_an_error_with_their_reasons(monkeypatch):
    problem = sl.load("project_small").problem
    declared = ProblemKind("project", sl.Project, portfolio=f"{__name__}:bounds_alone")

    def crashing(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr(kinds, "known", lambda name: declared)
    monkeypatch.setitem(HEURISTICS._found, "bounds", made(crashing, kinds=("project",), name="bounds"))
    found = sl.solve(problem, "auto")
    assert found.status == "error" and "bounds: error" in found.message and "RuntimeError: no luck" in found.message


def bounds_alone(problem: sl.Project) -> list[Step]:
    return [Step("bounds")]


def test_an_error_of_the_callback_is_raised():
    def callback(_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        sl.solve(PROBLEM, "auto", on_incumbent=callback)
