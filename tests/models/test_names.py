"""Names of jobs, queues, nodes, tasks, resources and users are texts: integers are converted, all else is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import Item, Knapsack, NamedNodes, ProjectMax
from schedlab.models.reservations import Reservation

NODES = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
WRONG = [None, 7.0, math.nan, True, ("a",), b"a", np.float64(7), np.bool_(True)]


def job(name: object = "a", **more: object) -> sl.Job:
    values = {"submit": 0, "walltime": 10, "units": 1, "request": {"cores": 3}, "queue": "q"}
    return sl.Job(name, **{**values, **more})  # type: ignore[arg-type]


def dispatch(*jobs: sl.Job, nodes: sl.Platform = NODES, queue: object = "q") -> sl.Dispatch:
    return sl.Dispatch(nodes, jobs, [sl.Queue(queue, 60)])  # type: ignore[arg-type]


def task(name: object = "t", mode: object = "1", resource: object = "r") -> sl.Task:
    return sl.Task(name, (sl.Mode(mode, 2, {resource: 1}),))  # type: ignore[arg-type, dict-item]


def running(name: object) -> sl.Dispatch:
    held = sl.Running(job(name), 0, {"n-1": 1}, 5)
    return sl.Dispatch(NODES, [job("z")], [sl.Queue("q", 60)], running=[held])


MADE: dict[str, Callable[[object], object]] = {
    "job": lambda n: dispatch(job(n)).jobs[0].id,
    "queue of a job": lambda n: dispatch(job(queue=n), queue="7").jobs[0].queue,
    "user": lambda n: dispatch(job(user=n)).jobs[0].user,
    "name of a job": lambda n: (
        dispatch(job(name="a") if n is None else sl.Job("a", 0, 1, 1, {}, "q", name=n)).jobs[0].name
    ),  # type: ignore[arg-type]
    "array": lambda n: dispatch(job(array=n)).jobs[0].array,
    "resource of a job": lambda n: next(
        iter(dispatch(job(request={n: 1}), nodes=sl.Platform([sl.NodeGroup("n", 1, {"7": 9})])).jobs[0].request)
    ),  # type: ignore[dict-item]
    "running job": lambda n: running(n).running[0].job.id,
    "queue": lambda n: sl.Queue(n, 60).name,  # type: ignore[arg-type]
    "group": lambda n: sl.Platform([sl.NodeGroup(n, 1, {"cores": 1})]).nodes[0].removesuffix("-1"),  # type: ignore[arg-type]
    "resource": lambda n: sl.Platform([sl.NodeGroup("n", 1, {n: 1})]).resources[0],  # type: ignore[dict-item]
    "schedule": lambda n: next(iter(sl.Schedule({n: 0}).start)),  # type: ignore[dict-item]
    "nodes of a schedule": lambda n: next(iter(sl.Schedule({"a": 0}, {"a": {n: 1}}).nodes["a"])),  # type: ignore[dict-item]
    "task": lambda n: sl.Project([task(n)], [sl.Resource("r", 1)]).tasks[0].name,
    "mode": lambda n: sl.Project([task(mode=n)], [sl.Resource("r", 1)]).tasks[0].modes[0].name,
    "resource of a task": lambda n: next(
        iter(sl.Project([task(resource=n)], [sl.Resource("7", 1)]).tasks[0].modes[0].demands)
    ),
    "resource of a project": lambda n: sl.Project([task(resource="7")], [sl.Resource(n, 1)]).resources[0].name,  # type: ignore[arg-type]
    "precedence": lambda n: sl.Project([task("7"), task("b")], [sl.Resource("r", 1)], [(n, "b")]).precedences[0][0],  # type: ignore[list-item]
    "lag": lambda n: ProjectMax([task("7"), task("b")], [sl.Resource("r", 1)], lags=[(n, "b", 9)]).lags[0][0],  # type: ignore[list-item]
    "candidate": lambda n: sl.Eviction([sl.EvictionCandidate(n, 4, 9, 1, None)], 4, 60).candidates[0].id,  # type: ignore[arg-type]
    "plan": lambda n: next(iter(sl.EvictionPlan({n: "kill"}).strategy)),  # type: ignore[dict-item]
    "item": lambda n: Knapsack([Item(n, 1, 1)], 1).items[0].name,  # type: ignore[arg-type]
    "reservation": lambda n: Reservation(n, "q", 0, 10, 1, {"cores": 1}).name,  # type: ignore[arg-type]
    "user of a reservation": lambda n: Reservation("r", "q", 0, 10, 1, {"cores": 1}, (n,)).users[0],  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", MADE)
def test_an_integer_becomes_a_text(what: str) -> None:
    for seven in (7, np.int64(7), np.uint8(7), "7", np.str_("7")):
        name = MADE[what](seven)
        assert type(name) is str and name == "7", repr(seven)


@pytest.mark.parametrize("what", [what for what in MADE if what not in ("precedence", "lag", "name of a job")])
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_other_values_are_refused(what: str, wrong: object) -> None:
    with pytest.raises(sl.SchedlabError, match="text"):
        MADE[what](wrong)


@pytest.mark.parametrize("what", ["precedence", "lag"])
def test_a_precedence_of_no_task_is_refused(what: str) -> None:
    for wrong in (None, 7.0, True):
        with pytest.raises(sl.SchedlabError, match=r"there is no task|names of tasks|expected"):
            MADE[what](wrong)


def test_equal_names_after_the_conversion_are_refused() -> None:
    for make in (
        lambda: dispatch(job(7), job("7")),
        lambda: sl.Dispatch(NODES, [job(queue="7")], [sl.Queue(7, 60), sl.Queue("7", 9)]),  # type: ignore[arg-type]
        lambda: sl.Platform([sl.NodeGroup(7, 1, {"c": 1}), sl.NodeGroup("7", 1, {"c": 1})]),  # type: ignore[arg-type]
        lambda: sl.Platform([sl.NodeGroup("n", 1, {7: 1, "7": 2})]),  # type: ignore[dict-item]
        lambda: sl.Project([task(7), task("7")], [sl.Resource("r", 1)]),
        lambda: sl.Project([task()], [sl.Resource("r", 1), sl.Resource(7, 1), sl.Resource("7", 1)]),  # type: ignore[arg-type]
        lambda: sl.Project([sl.Task("t", (sl.Mode(7, 1), sl.Mode("7", 2)))], []),  # type: ignore[arg-type]
        lambda: Knapsack([Item(7, 1, 1), Item("7", 1, 1)], 1),  # type: ignore[arg-type]
        lambda: sl.Schedule({"a": 0}, {"a": {7: 1, "7": 2}}),  # type: ignore[dict-item]
    ):
        with pytest.raises(sl.SchedlabError, match=r"twice|2 times|same name"):
            make()


def test_the_names_of_named_nodes_are_texts() -> None:
    with pytest.raises(sl.SchedlabError, match="text is expected"):
        sl.Platform([NamedNodes("g", 2, {"cores": 1}, ("a", None))])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "method", ["cpsat:counts", "highs:pool@lp", "cpo:pool", "pyomo:counts", "auto", "lns", "rule:est"]
)
def test_jobs_with_numbers_as_names_are_solved(method: str) -> None:
    backend = method.partition(":")[0]
    known = sl.backends.available()
    if backend in known and not known[backend].ok:
        pytest.skip(f"{backend}: {known[backend].reason}")
    problem = dispatch(*(job(k) for k in range(4)))
    rounds = {"rounds": 20} if method == "lns" else {}  # else it searches until its limit
    limit = 10 if method.startswith("highs") else 60  # the repair of a relaxation's answers uses a tenth of it
    found = sl.solve(problem, method, time_limit=limit, threads=1, **rounds)
    assert found.status in ("optimal", "feasible") and set(found.schedule.start) == {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    ("instance", "near", "known"),
    [
        ("eurora_99", "count", "counts"),
        ("project_small", "mode", "modes"),
        ("profit_small", "pol", "pool"),
        ("theta_12", "seria", "serial"),
    ],
)
def test_an_unknown_formulation_names_its_neighbours(instance: str, near: str, known: str) -> None:
    formulations = sl.load(instance).problem.formulations
    with pytest.raises(KeyError, match=f"there is no formulation '{near}'; did you mean {known}"):
        formulations[near]
    with pytest.raises(sl.SchedlabError, match="known are"):
        formulations["xyz"]
    assert known in formulations and formulations.get("xyz") is None
