"""Replays on a site of PBS: limits of queues and of the server, of each user and project, and of some by name."""

import pytest
import schedlab as sl
from schedlab.models import QOS, Dispatch, Job, Limits, Partition, PBSSettings, Queue, Site, SiteNode, SiteRequest
from schedlab.simulation.features import not_obeyed

POLICIES = ("fcfs", "easy", "conservative", "plan")


def site_with(server=None, queue=None, named=(), **settings):
    """A site of one node with 100 CPUs, and the queues work, with limits, and free."""
    limits = server or Limits()
    return Site(
        "s",
        [SiteNode("n1", 100)],
        [Partition("work", ("n1",), qos="work"), Partition("free", ("n1",))],
        [QOS("work", limits=queue or Limits())],
        scheduler=PBSSettings(limits=limits, named_limits=named, help_starving_jobs=False, **settings),
        kind="pbs",
    )


def most_at_once(site, dispatcher, user="ana", project="chem", queue="work", cores=1):
    """How many of 12 jobs run at first."""
    jobs = [
        Job(
            f"j{k}", 0, 10, 1, {"cores": cores}, queue, runtime=10, user=user, asked=SiteRequest(account=project, partitions=(queue,))
        )
        for k in range(12)
    ]  # fmt: skip
    queues = [Queue("work", 60), Queue("free", 60)]
    run = sl.simulate(Dispatch(site.platform(), jobs, queues), dispatcher=dispatcher, site=site)
    assert run.violations == []
    return int((run.start == 0).sum())


@pytest.mark.parametrize("dispatcher", POLICIES)
def test_limits_of_the_queue_and_of_the_server_hold_together(dispatcher):
    both = site_with(Limits(max_jobs_per_user=3), Limits(max_jobs_per_user=5))
    assert most_at_once(both, dispatcher) == 3
    assert most_at_once(both, dispatcher, queue="free") == 3
    assert most_at_once(site_with(Limits(max_jobs_per_user=7), Limits(max_jobs_per_user=5)), dispatcher) == 5
    assert most_at_once(site_with(Limits(grp_jobs=4), Limits(grp_tres={"cpu": 6})), dispatcher, cores=2) == 3


@pytest.mark.parametrize("dispatcher", POLICIES)
def test_a_limit_by_name_takes_the_place_of_that_of_each_user(dispatcher):
    named = ("server max_run = [u:ana=6]", "queue work max_run_res.ncpus = [p:chem=8]")
    site = site_with(Limits(max_jobs_per_user=3), Limits(max_tres_per_account={"cpu": 2}), named)
    assert most_at_once(site, dispatcher, queue="free") == 6
    assert most_at_once(site, dispatcher) == 6
    assert most_at_once(site, dispatcher, cores=2) == 4  # the 8 CPUs of the project in the queue
    assert most_at_once(site, dispatcher, user="bob", queue="free") == 3
    assert most_at_once(site, dispatcher, user="bob", project="astro") == 2
    only_queue = site_with(Limits(max_jobs_per_user=3), named=("queue work max_run = [u:ana=6]",))
    assert most_at_once(only_queue, dispatcher) == 3  # that of the server still holds


def test_what_a_dispatcher_does_not_take_from_the_site_is_named():
    assert not_obeyed(site_with()) == ()
    site = site_with(
        Limits(max_submit_per_user=9), strict_ordering=True, fair_share=True, backfill_depth=5, job_sort_key=("cput LOW",),
        node_sort_key=("ncpus HIGH",), node_groups=("switch",),
    )  # fmt: skip
    (told,) = not_obeyed(site)
    for name in (
        "job_sort_key cput LOW (by the dispatcher pbs alone)", "strict_ordering (by the dispatcher pbs alone)", "fair_share", "backfill_depth 5", "node_sort_key (ncpus HIGH)",
        "placement sets (node_group_key switch)", "max_submit_per_user of the server",
    ):  # fmt: skip
        assert name in told
    (told,) = not_obeyed(site_with(job_sort_formula="queue_priority"))
    assert told == "not modelled: job_sort_formula queue_priority (by the dispatcher pbs alone)"
