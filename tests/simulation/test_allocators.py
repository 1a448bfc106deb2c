"""Allocators: first fit, best fit, and those of third parties, an order of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import schedlab as sl
from schedlab.simulation.dispatchers.policy import allocator_of

PLATFORM = sl.Platform([sl.NodeGroup("big", 2, {"cores": 16}), sl.NodeGroup("small", 3, {"cores": 4})])


class Reversed:
    """The last node of the platform first."""

    name = "reversed"

    def order(self, platform: sl.Platform) -> Sequence[str]:
        return platform.nodes[::-1]


def log(units: Sequence[int] = (1, 1, 1, 1, 2, 1), cores: int = 4) -> sl.Dispatch:
    jobs = [sl.Job(f"j{k}", 10 * k, 1000, n, {"cores": cores}, "q", runtime=500 + 7 * k) for k, n in enumerate(units)]
    return sl.Dispatch(PLATFORM, jobs, [sl.Queue("q", 600)], durations="runtime")


def nodes(dispatcher: str, allocator: Any, **more: Any) -> list[list[str]]:
    run = sl.simulate(log(), dispatcher=dispatcher, allocator=allocator, **more)
    assert run.violations == []
    schedule = run.schedule()
    return [sorted(schedule.nodes[f"j{k}"]) for k in range(6)]


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "easy++", "conservative", "plan", "easy+aging"])
def test_the_nodes_are_filled_in_the_order_of_the_allocator(dispatcher: str) -> None:
    assert nodes(dispatcher, "first-fit")[:3] == [["big-1"], ["big-1"], ["big-1"]]
    assert nodes(dispatcher, Reversed())[:3] == [["small-3"], ["small-2"], ["small-1"]]
    assert nodes(dispatcher, Reversed)[3] == ["big-2"]  # a class; the small nodes are full


def test_jobs_that_run_at_the_begin_get_their_nodes_from_it_too() -> None:
    job = sl.Job("old", -100, 900, 1, {"cores": 4}, "q", runtime=400)
    running = [sl.models.Running(job, -50, {}, 400)]
    for allocator, node in (("first-fit", "big-1"), (Reversed(), "small-3")):
        run = sl.simulate(log(), dispatcher="easy", allocator=allocator, running=running, begin=0)
        assert run.violations == [] and [dict(r.nodes) for r in run.workload.running] == [{node: 1}]


def test_nodes_that_are_only_counted_otherwise_are_filled_in_the_order() -> None:
    jobs = [sl.Job(f"j{k}", k, 100, 1, {"cores": 8}, "q", runtime=50) for k in range(3)]
    alike = sl.Platform([sl.NodeGroup("n", 5, {"cores": 8})])
    run = sl.simulate(sl.Dispatch(alike, jobs, [sl.Queue("q", 60)], durations="runtime"), "easy", allocator=Reversed())
    assert [list(run.schedule().nodes[f"j{k}"]) for k in range(3)] == [["n-5"], ["n-4"], ["n-3"]]


def test_beside_a_limit_of_power() -> None:
    jobs = [sl.Job(f"j{k}", k, 100, 1, {"cores": 4}, "q", runtime=50, power=10.0) for k in range(3)]
    problem = sl.Dispatch(PLATFORM, jobs, [sl.Queue("q", 60)], durations="runtime")
    run = sl.simulate(problem, "easy", allocator=Reversed(), power_cap=25.0)
    assert run.violations == [] and list(run.schedule().nodes["j0"]) == ["small-3"]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (
            lambda self, platform: platform.nodes[1:],
            "order returned .*; expected a list of the names of all 5 nodes, each",
        ),
        (lambda self, platform: None, "order returned None; expected a list of the names"),
        (lambda self, platform: set(platform.nodes), "expected a list of the names of all 5 nodes"),
        (lambda self, platform: [*platform.nodes[1:], "small-9"], "expected a list of the names of all 5 nodes"),
        (lambda self, platform: 1 / 0, "allocator reversed: order raised ZeroDivisionError"),
    ],
)
def test_an_order_that_is_none(order: Any, words: str) -> None:
    wrong = type("Wrong", (Reversed,), {"order": order})
    with pytest.raises(sl.SchedlabError, match=words):
        sl.simulate(log(), dispatcher="easy", allocator=wrong())


def test_wrong_names() -> None:
    with pytest.raises(sl.UnknownName, match="no allocator 'bestfit'; did you mean best-fit"):
        sl.simulate(log(), dispatcher="easy", allocator="bestfit")
    with pytest.raises(sl.UnknownName, match="no option of the allocator first-fit called 'x'"):
        allocator_of("first-fit:x=3")
    with pytest.raises(sl.SchedlabError, match=r"the argument allocator .* is not an allocator: it has no order"):
        sl.simulate(log(), dispatcher="easy", allocator=type("Odd", (), {"name": "odd"})())
