"""What whole nodes hold of a limit is at least what the nodes have on which a job fits."""

from __future__ import annotations

import pytest
import schedlab as sl
from schedlab.models import Association, Dispatch, Job, Limits, Partition, Queue, SchedulerSettings, Site, SiteNode


def started(cpus: int, nodes: list[SiteNode], job: Job) -> bool:
    """Return whether the job of an account with at most so many CPUs starts."""
    limited = Association("chem", parent="root", limits=Limits(grp_tres={"cpu": cpus}))
    accounts = (Association("root"), limited, Association("chem", user="ana"))
    rules = SchedulerSettings(accounting_enforce=("limits",))
    site = Site("s", nodes, [Partition("p", tuple(n.name for n in nodes))], associations=accounts, scheduler=rules)
    other = Job("other", 0, 9, 1, {"cores": 1}, "p", runtime=5, user="eva")
    queues = [Queue("p", 60)]
    problem = Dispatch(site.platform(), [other, job], queues, durations="runtime")
    run = sl.simulate(problem, "easy", site=site)
    assert run.violations == []
    return job.id in run.workload.ids


@pytest.mark.parametrize(
    ("units", "least"), [(1, 2), (2, 2), (3, 4), (4, 4), (5, 16), (9, 16), (16, 16), (18, 18), (20, 20)]
)
def test_whole_nodes_are_as_small_as_they_can_be(units: int, least: int) -> None:
    """5 units need the big node: two nodes with 6 CPUs would do, but Slurm takes as few nodes as it can."""
    nodes = [SiteNode("big", 16), SiteNode("middle", 4), SiteNode("small", 2)]
    job = Job("j", 0, 9, units, {"cores": 1}, "p", runtime=5, user="ana", whole_nodes=True)
    assert started(least, nodes, job)
    assert not started(least - 1, nodes, job)


def test_a_class_has_no_more_nodes_than_there_are() -> None:
    nodes = [SiteNode("n3", 4, gpus={"": 1}), SiteNode("n5", 2, gpus={"": 1}), SiteNode("n1", 2)]
    job = Job("j", 0, 9, 2, {"cores": 1, "gpus": 1}, "p", runtime=5, user="ana", whole_nodes=True)
    assert started(6, nodes, job)
    assert not started(5, nodes, job)
