"""200 small random replays with on-demand jobs, checked second by second."""

from random import Random

import pytest
import schedlab as sl
from schedlab.instances import Workload
from schedlab.models import Checkpointing, Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue
from schedlab.simulation import OnDemandJob, Preemption
from schedlab.simulation.preemption import Fixed, Never
from simulation.second_by_second_evictions import check, least

EVICTORS = ("dp", "greedy", "kill", "dp-knee", "none", "reserve:2", "backtracking", "dp")


def world(seed):
    """Return a small workload, its machine and settings of preemption."""
    random = Random(seed)
    machine = Platform([NodeGroup("n", 8, {"cores": 1})])
    jobs = []
    for k in range(10):
        runtime = random.randint(1, 120)
        jobs.append(
            Job(
                f"b{k}", random.randint(0, 150), runtime + random.randint(0, 60), random.randint(1, 5), {"cores": 1}, "q",
                runtime=runtime,
            )
        )  # fmt: skip
    evictor = EVICTORS[seed % len(EVICTORS)]
    urgent = [
        OnDemandJob(
            f"u{k}", random.randint(5, 150), random.randint(2, 8), random.choice((0, 10, 30)), random.randint(1, 60),
            random.choice((0, 0, 20)),
        )
        for k in range(3)
    ]  # fmt: skip
    failures = []
    if seed % 3 == 0:
        failures = [NodeEvent(60, "node-down", ["n-2"]), NodeEvent(90, "node-up", ["n-2"])]
    settings = Preemption(
        urgent,
        evictor,
        random.choice((Fixed(15), Fixed(40), Never())),
        restart=random.choice((0, 4)),
        storage=Checkpointing(memory=100, file_system_mb_s=50, node_mb_s=20, seed=seed),
        shared_bandwidth=seed % 5 == 0 and evictor != "backtracking",
        step=random.choice((1, 7)),
        failures=failures,
    )
    return Workload.of(Dispatch(machine, jobs, [Queue("q", 100)])), machine, settings


@pytest.mark.parametrize("part", range(4))
def test_replays_are_right_second_by_second(part):
    plans = 0
    for seed in range(part * 50, part * 50 + 50):
        workload, machine, settings = world(seed)
        run = sl.simulate(workload, machine, ("easy", "fcfs", "conservative")[seed % 3], preemption=settings)
        assert run.violations == [], (seed, run.violations[0].message)
        assert (run.start >= 0).all()
        check(run)
        for d in run.preemption.decisions:
            if d.problem is not None and settings.evictor.name == "dp" and not settings.shared_bandwidth:
                plans += 1
                assert d.problem.value(d.plan) == least(d.problem)
    assert plans > 5
