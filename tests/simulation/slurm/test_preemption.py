"""Preemption by partition and by QOS."""

from __future__ import annotations

from typing import Any

import pytest
from schedlab.models import QOS, Partition
from schedlab.simulation.slurm.replay import SlurmReplay
from simulation.slurm.small_slurm import job, ran, settings, site, started, state_with

NODES = ("n1", "n2")


def by_partition(mode: str = "requeue", **low: Any) -> Any:
    """Return a site of two nodes with a partition of a higher tier, and preemption by partition."""
    parts = [Partition("p", NODES, default=True, **low), Partition("urgent", NODES, tier=5)]
    return site(nodes=2, parts=parts, scheduler=settings(preempt_type="partition_prio", preempt_mode=(mode,)))


def test_a_job_of_a_lower_tier_makes_room() -> None:
    state = state_with(
        by_partition(), [job(3, 4, partitions=("urgent",))], [(job(1, 4), -20, ["n1"]), (job(2, 4), -10, ["n2"])]
    )
    assert started(state) == {}
    victims = state.preempt(0)
    assert [(v.job, v.end, v.requeued) for v in victims] == [(1, 0, True)]  # the lower priority: it was submitted later
    assert state.preempt(0) == []  # it is leaving already
    state.end(1, 0)
    assert started(state) == {"3": ("n2",)}


def test_jobs_of_the_same_tier_do_not() -> None:
    state = state_with(by_partition(), [job(2, 8)], [(job(1, 4), -20, ["n1"])])
    assert started(state) == {}
    assert state.preempt(0) == []


def test_few_jobs_make_room() -> None:
    running = [(job(1, 4), -30, ["n1"]), (job(2, 1), -20, ["n2"]), (job(3, 3), -10, ["n2"])]
    state = state_with(by_partition(), [job(4, 4, partitions=("urgent",))], running)
    assert started(state) == {}
    assert {v.job for v in state.preempt(0)} == {1, 2}  # two jobs of low priority, on one node


@pytest.mark.parametrize(("mode", "again"), [("requeue", True), ("cancel", False)])
def test_what_becomes_of_a_victim(mode: str, again: bool) -> None:
    jobs = [
        job(1, 8, limit=500, attempts=ran(0, 400, *NODES)),
        job(2, 8, submit=50, partitions=("urgent",), attempts=ran(50, 80, *NODES)),
    ]
    begun = [(s.job, s.time) for s in SlurmReplay(by_partition(mode, grace_time=10), jobs).run()]
    assert begun[1] == (1, pytest.approx(61, abs=3))  # after the grace time
    assert ([k for k, _ in begun] == [0, 1, 0]) is again


def test_by_qos() -> None:
    quality = [QOS("low", 1), QOS("high", 10, preempt=("low",))]
    place = site(nodes=2, qos=quality, scheduler=settings(preempt_type="qos", preempt_mode=("cancel",)))
    running = [(job(1, 4, qos="low"), -20, ["n1"]), (job(2, 4, qos="high"), -10, ["n2"])]
    state = state_with(place, [job(3, 4, qos="high")], running)
    assert started(state) == {}
    assert [(v.job, v.requeued) for v in state.preempt(0)] == [(0, False)]


def test_young_jobs_are_exempt() -> None:
    quality = [QOS("low", 1, preempt_exempt_time=60), QOS("high", 10, preempt=("low",))]
    place = site(nodes=1, qos=quality, scheduler=settings(preempt_type="qos", preempt_mode=("cancel",)))
    for start, victims in ((-59, []), (-60, [0])):
        state = state_with(place, [job(2, 4, qos="high")], [(job(1, 4, qos="low", limit=100), start, ["n1"])])
        started(state)
        assert [v.job for v in state.preempt(0)] == victims
