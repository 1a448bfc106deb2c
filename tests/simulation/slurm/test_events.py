"""A replay in compiled code from event to event is that in which Slurm is called at each event."""

from __future__ import annotations

import random
from typing import Any

import pytest
import schedlab as sl
from schedlab.models import (
    QOS,
    Association,
    Dispatch,
    Job,
    Limits,
    Partition,
    Queue,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.simulation import Feature
from schedlab.simulation.slurm import scheduler

NODES, CORES = 70, 4
OPTIONS = [
    "slurm",
    "slurm:bf_interval=1:sched_interval=1:batch_sched_delay=0:bf_resolution=1",
    "slurm:priority_type=basic:bf_min_age_reserve=20:bf_interval=3",
    "slurm:weight_age=1000:max_age=100:calc_period=7:bf_interval=5",
    "slurm:weight_age=500:max_age=100:weight_fairshare=2000:calc_period=10:bf_interval=5:decay_half_life=200",
    "slurm:assoc_limit_stop=true:weight_job_size=100:weight_partition=50:bf_interval=2:bf_resolution=3",
    "slurm:bf_max_job_test=5:default_queue_depth=4:partition_job_depth=3:bf_max_job_user=2:bf_interval=4",
    "slurm:bf_running_job_reserve=true:bf_job_part_count_reserve=1:bf_interval=2:bf_window=120",
]


class Watching(Feature):
    """A feature that does nothing, and wants to be told of each event."""

    watches = True


def drawn(seed: int) -> tuple[Site, Dispatch]:
    """Return a site of overlapping partitions, and jobs of whole nodes, of parts of nodes, and of job arrays."""
    rng = random.Random(seed)
    nodes = [SiteNode(f"n{k:02d}", CORES, weight=rng.choice((1, 1, 2))) for k in range(NODES)]
    names = tuple(n.name for n in nodes)
    parts = [
        Partition("p", names, job_factor=1),
        Partition("q", names[: NODES // 2], tier=rng.choice((1, 2)), job_factor=3),
        Partition("r", names[NODES // 4 :], max_nodes=rng.choice((None, 40))),
    ]
    accounts = [Association("root"), Association("chem", parent="root", limits=Limits(grp_tres={"cpu": 200}))]
    users = [Association("chem", user, shares=k + 1) for k, user in enumerate(("ana", "bob", "eva"))]
    quality = QOS("normal", limits=Limits(max_jobs_per_user=rng.choice((3, 8))))
    place = Site(
        "drawn", nodes, parts, [quality], [*accounts, *users], scheduler=SchedulerSettings(accounting_enforce=("limits",))
    )  # fmt: skip
    jobs = []
    for k in range(120):
        whole = rng.random() < 0.5
        units = rng.choice((1, 4, 20, 34)) if whole else rng.choice((1, 2, 3, 9))
        runtime = rng.randint(0, 80)
        array = f"{900 + k // 4}_{k % 4}" if rng.random() < 0.3 else str(k)
        asked = SiteRequest(
            account="chem",
            qos="normal",
            array_limit=2 if "_" in array else None,
            partitions=rng.choice(((), ("q", "r"))),
        )
        jobs.append(
            Job(
                array, rng.randint(0, 300), runtime + rng.choice((1, 10, 60)), units,
                {"cores": CORES if whole else rng.choice((1, 1, 3))}, rng.choice("pqr"), runtime=runtime,
                user=rng.choice(("ana", "bob", "eva")), whole_nodes=whole, per_node=1 if whole else None, asked=asked,
            )
        )  # fmt: skip
    return place, Dispatch(place.platform(), jobs, [Queue(p.name, 60) for p in parts], durations="runtime")


def replayed(seed: int, dispatcher: str, **options: Any) -> list[list[Any]]:
    """Return the start and the nodes of each job."""
    place, problem = drawn(seed)
    run = sl.simulate(problem, dispatcher, site=place, **options)
    assert run.violations == []
    return [run.start.tolist(), *(column.tolist() for column in run.placement), [run.decisions.made]]


@pytest.mark.parametrize("dispatcher", OPTIONS)
@pytest.mark.parametrize("seed", range(2))
def test_the_answers_are_those_of_calls_at_each_event(seed: int, dispatcher: str) -> None:
    alone = replayed(seed, dispatcher)
    watched = replayed(seed, dispatcher, features=[Watching()])
    assert alone == watched


@pytest.mark.parametrize("kinds", [0, 1])
def test_whole_nodes_are_found_by_sets_or_one_by_one(kinds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    by_sets = replayed(2, OPTIONS[1])
    monkeypatch.setattr(scheduler, "MOST_KINDS", kinds)
    assert replayed(2, OPTIONS[1]) == by_sets


def test_a_replay_can_be_stopped() -> None:
    place, problem = drawn(3)
    run = sl.simulate(problem, "slurm", site=place, on_progress=lambda progress: progress.started < 20)
    assert 20 <= (run.start >= 0).sum() <= len(run.start)
    assert run.violations == []
