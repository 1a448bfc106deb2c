"""Which nodes are empty after the next ends is remembered within a pass; without that memory the same jobs start."""

import numpy as np
import pytest
from schedlab.instances import Workload
from schedlab.instances.workload import NodeTerms
from schedlab.models import Association, Partition, Queue, SchedulerSettings, Site, SiteNode
from schedlab.simulation import simulate
from schedlab.simulation.slurm import selection

NODES, JOBS = 24, 250
SITE = Site(
    "mixed",
    [SiteNode(f"n{n:02d}", 8) for n in range(NODES)],
    [Partition(p, tuple(f"n{n:02d}" for n in range(low, high))) for p, low, high in (("all", 0, 24), ("some", 12, 24))],
    [],
    [Association("root")],
    scheduler=SchedulerSettings(bf_resolution=1),
)


def jobs(seed: int) -> Workload:
    """Return jobs that take whole nodes, and jobs that share them, which come faster than they can be started."""
    rng = np.random.default_rng(seed)
    whole = rng.random(JOBS) < 0.4
    runtime = rng.integers(20, 900, JOBS)
    submit = np.sort(rng.integers(0, 6000, JOBS))
    zeros = np.zeros(JOBS, np.int64)
    return Workload(
        name="mixed", ids=[f"j{k}" for k in range(JOBS)], submit=submit, runtime=runtime,
        walltime=runtime + rng.integers(0, 600, JOBS), units=np.where(whole, rng.integers(1, 9, JOBS), rng.integers(1, 30, JOBS)),
        resources=("cores",), request=np.where(whole, 8, rng.integers(1, 5, JOBS))[:, None], queue=rng.integers(0, 2, JOBS),
        queues=(Queue("all", 60), Queue("some", 60)), user=zeros, users=("u",), program=zeros, programs=("",),
        release=submit.copy(), recorded_start=zeros - 1, power=np.full(JOBS, np.nan), node_term=whole.astype(np.int64),
        node_terms=(NodeTerms(), NodeTerms(per_node=1, whole_nodes=True)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_looking_ahead_changes_no_start(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = jobs(seed)
    remembered = simulate(workload, dispatcher="slurm", site=SITE)
    monkeypatch.setattr(selection, "AHEAD", 0)
    searched = simulate(workload, dispatcher="slurm", site=SITE)
    assert remembered.violations == searched.violations == []
    assert remembered.metrics.wait.mean > 60
    assert remembered.start.tolist() == searched.start.tolist()
