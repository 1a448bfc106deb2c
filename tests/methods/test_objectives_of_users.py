"""Objectives of users whose value is not that of their costs: no method calls an answer feasible."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schedlab as sl
from draws import some_now
from made_heuristics import made
from schedlab.heuristics import HEURISTICS
from schedlab.models.dispatch import objectives
from schedlab.models.dispatch.objectives import Excess, LastEnd, Late, Objective

NODES = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
JOBS = [sl.Job(name, k, 10 + k, 1 + k % 2, {"cores": 3}, "q") for k, name in enumerate("abcd")]
BACKENDS = [name for name, here in sl.backends.available().items() if here.ok]
METHODS = [
    "multi-search",
    "first-solution:est",
    "rule:est",
    "delay-search",
    "lns",
    "lns@cpsat",
    "lagrangian",
    "branch-and-bound",
    "relaxation-search",
    "auto",
    *(f"{backend}:{formulation}" for backend in BACKENDS for formulation in ("counts", "pool")),
    "cpsat:counts+warm",
]


def waits(problem: sl.Dispatch, schedule: sl.Schedule) -> list[int]:
    return [schedule.start[j.id] - j.submit for j in problem.jobs]


def of_c_twice(problem: sl.Dispatch, schedule: sl.Schedule) -> float:
    return sum(w * (2 if j.id == "c" else 1) for j, w in zip(problem.jobs, waits(problem, schedule), strict=True))


WRONG = {
    "doubled": Objective("doubled", "", lambda p: Excess([1.0] * len(p.jobs), [-1] * len(p.jobs)), of_c_twice),
    "in-days": Objective(
        "in-days", "", lambda p: Excess([1 / 86_400] * len(p.jobs)), lambda p, s: 0.5 + sum(waits(p, s))
    ),
    "better": Objective("better", "", lambda p: Excess([1] * len(p.jobs), constant=[9] * len(p.jobs)), lambda p, s: -5),
    "number": Objective("number", "", lambda p: LastEnd(), lambda p, s: float("nan")),
    "none": Objective("none", "", lambda p: Late([1] * len(p.jobs)), lambda p, s: None),  # type: ignore[arg-type, return-value]
    "sense": Objective("sense", "", lambda p: Excess([1] * len(p.jobs)), lambda p, s: 7 + sum(waits(p, s)), "maximize"),
}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    for name, objective in WRONG.items():
        objectives.REGISTRY.register(name, objective)
    yield
    for name in WRONG:
        objectives.REGISTRY.unregister(name)


def rounds(method: str) -> dict[str, int]:
    """Return the option that ends ``lns``, which else searches until its time limit."""
    return {"rounds": 20} if method.startswith("lns") else {}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", some_now(["doubled", "in-days"], 1))
def test_every_method_names_the_objective_and_both_values(name: str, method: str) -> None:
    problem = sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], name)
    found = sl.solve(problem, method, time_limit=600, threads=1, **rounds(method))
    assert (found.status, found.objective, found.bound) == ("error", None, None)
    assert f"objective '{name}'" in found.message and "its costs give" in found.message
    assert "of job 'a' alone, which starts at" in found.message


@pytest.mark.parametrize("name", ["better", "sense"])
@pytest.mark.parametrize("method", ["multi-search", "cpsat:counts", "auto"])
def test_other_disagreements_end_a_method_at_once(name: str, method: str) -> None:
    """The steps of auto went on until the time limit."""
    found = sl.solve(sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], name), method, time_limit=1e6, threads=1)
    assert found.status == "error" and f"objective '{name}'" in found.message


@pytest.mark.parametrize("name", ["number", "none"])
def test_a_value_that_is_no_number_is_an_error(name: str) -> None:
    problem = sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], name)
    for method in ("multi-search", "cpsat:counts"):
        with pytest.raises(sl.SchedlabError, match=f"objective '{name}': value returned"):
            sl.solve(problem, method, time_limit=20, threads=1)
    found = sl.solve(problem, "auto", time_limit=1, threads=1)
    assert found.status == "error" and f"objective '{name}'" in found.message


def test_a_limit_on_such_an_objective_is_verified_too() -> None:
    problem = sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], "waiting", limits={"doubled": 1_000})
    for method in ("multi-search", "cpsat:counts", "lns"):
        found = sl.solve(problem, method, time_limit=20, threads=1, **rounds(method))
        assert found.status == "error" and "objective 'doubled'" in found.message


def test_the_objective_of_a_schedule_is_compared_where_it_is_computed() -> None:
    problem = sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], "waiting")
    schedule = sl.solve(problem, "multi-search").schedule
    with pytest.raises(sl.SchedlabError, match="both must be the same number for every schedule"):
        problem.replace(objective="doubled").value(schedule)


def test_the_answer_of_a_heuristic_of_users_is_verified(request: pytest.FixtureRequest) -> None:
    problem = sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], "waiting")
    right = sl.solve(problem, "multi-search").schedule
    assert right is not None

    def claims(**values: object) -> None:
        def run(*_: object) -> sl.Result:
            return sl.Result("feasible", "mine", None, **values)  # type: ignore[arg-type]

        HEURISTICS.register("mine", made(run, name="mine"))

    request.addfinalizer(lambda: HEURISTICS.unregister("mine"))
    claims(schedule=right, objective=problem.value(right))
    assert sl.solve(problem, "mine").status == "feasible"
    claims(schedule=right, objective=1)
    found = sl.solve(problem, "mine")
    assert found.status == "error" and "says 1" in found.message
    claims(schedule=sl.Schedule({j.id: 0 for j in JOBS}, right.nodes), objective=0)
    found = sl.solve(problem, "mine")
    assert found.status == "error" and "violates the problem" in found.message and found.violations
