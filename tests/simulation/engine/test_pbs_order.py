"""The order of PBS under the dispatcher ``pbs``: known answers, and a plain list scheduler on random jobs of one node."""

import numpy as np
import pytest
import schedlab as sl
from schedlab import SchedlabError
from schedlab.models import Dispatch, Job, Partition, PBSSettings, Queue, Site, SiteNode, SiteRequest
from schedlab.simulation.dispatchers.pbs import formula_value

QUEUES = [Queue("low", 60), Queue("high", 60)]


def site_with(cores=4, **settings):
    """A site of one node, with a queue of priority 10 and one of priority 50."""
    queues = [Partition("low", ("n1",), tier=10), Partition("high", ("n1",), tier=50)]
    return Site(
        "s", [SiteNode("n1", cores)], queues, scheduler=PBSSettings(help_starving_jobs=False, **settings), kind="pbs"
    )


def starts(jobs, site):
    """Return the start of each job (submit, cores, runtime, queue)."""
    made = [
        Job(
            f"j{k}",
            submit,
            runtime,
            1,
            {"cores": cores},
            queue,
            runtime=runtime,
            asked=SiteRequest(partitions=(queue,)),
        )
        for k, (submit, cores, runtime, queue) in enumerate(jobs)
    ]
    run = sl.simulate(Dispatch(site.platform(), made, QUEUES), dispatcher="pbs", site=site)
    assert run.violations == []
    return run.start.tolist()


FULL = (0, 4, 10, "low")  # fills the node at first, so that the others are ordered at 10


def test_the_queue_of_the_highest_priority_goes_first_unless_all_are_one_queue():
    jobs = [FULL, (1, 4, 10, "low"), (2, 4, 10, "high")]
    assert starts(jobs, site_with()) == [0, 20, 10]
    assert starts(jobs, site_with(by_queue=False)) == [0, 10, 20]
    assert starts(jobs, site_with(by_queue=False, job_sort_formula="queue_priority")) == [0, 20, 10]


def test_formula_and_keys_order_the_jobs_of_a_queue():
    jobs = [FULL, (1, 3, 10, "low"), (2, 4, 20, "low"), (3, 2, 30, "low")]
    assert starts(jobs, site_with(job_sort_formula="ncpus")) == [0, 30, 10, 40]
    assert starts(jobs, site_with(job_sort_formula="-walltime")) == [0, 10, 20, 40]
    assert starts(jobs, site_with(job_sort_key=("ncpus LOW",))) == [0, 40, 50, 10]
    assert starts(jobs, site_with(job_sort_key=("walltime HIGH",), job_sort_formula="0")) == [0, 60, 40, 10]


def test_the_time_that_a_job_could_have_started_counts_where_it_is_enabled():
    jobs = [FULL, (1, 4, 10, "low"), (8, 4, 10, "high")]
    formula = "eligible_time + queue_priority / 10"  # 9 + 1 against 2 + 5 at 10
    assert starts(jobs, site_with(by_queue=False, job_sort_formula=formula, eligible_time=True)) == [0, 10, 20]
    assert starts(jobs, site_with(by_queue=False, job_sort_formula=formula)) == [0, 20, 10]
    assert starts(jobs, site_with(by_queue=True, job_sort_formula=formula, eligible_time=True)) == [0, 20, 10]
    with pytest.raises(SchedlabError, match="does not grow evenly with eligible_time"):
        starts(jobs, site_with(job_sort_formula="eligible_time ** 2", eligible_time=True))


def test_strict_order_reserves_for_as_many_jobs_as_are_backfilled_around():
    jobs = [(0, 2, 10, "low"), (1, 4, 10, "low"), (2, 2, 30, "low"), (3, 1, 5, "low")]
    assert starts(jobs, site_with()) == [0, 32, 2, 10]  # each job that fits starts
    assert starts(jobs, site_with(strict_ordering=True)) == [0, 10, 20, 3]  # the last one delays none
    assert starts(jobs, site_with(strict_ordering=True, backfill_depth=0)) == [0, 10, 20, 20]


@pytest.mark.parametrize("seed", range(6))
def test_random_jobs_start_as_in_a_plain_list_scheduler(seed):
    draw = np.random.default_rng(seed)
    jobs = [
        (int(k), int(draw.integers(1, 5)), int(draw.integers(1, 40)), str(draw.choice(["low", "high"])))
        for k in range(40)
    ]
    formula = "2 * ncpus + eligible_time - walltime / 7 + queue_priority"
    found = starts(jobs, site_with(by_queue=bool(seed % 2), job_sort_formula=formula, eligible_time=True))

    def priority(k, now):
        submit, cores, runtime, queue = jobs[k]
        tier = 50 if queue == "high" else 10
        value = 2 * cores + now - submit - runtime / 7 + tier
        return (-tier if seed % 2 else 0, -value, submit)

    start = {}
    for now in range(3000):
        free = 4 - sum(jobs[k][1] for k, begin in start.items() if begin <= now < begin + jobs[k][2])
        waiting = [k for k in range(len(jobs)) if jobs[k][0] <= now and k not in start]
        for k in sorted(waiting, key=lambda k: priority(k, now)):
            if jobs[k][1] <= free:
                start[k] = now
                free -= jobs[k][1]
    assert found == [start[k] for k in range(len(jobs))]


def test_what_is_no_formula_or_not_known_is_refused():
    names = {"ncpus": np.array([2.0, 3.0])}
    assert formula_value("max(ncpus, 2.5) ** 2 + unknown", names, 2).tolist() == [6.25, 9.0]
    for text in (
        "ncpus +",
        "__import__('os')",
        "ncpus.real",
        "fairshare_perc",
        "[1]",
        "'a'",
        "1 / 0",
        "sqrt()",
        "lambda: 1",
    ):
        with pytest.raises(SchedlabError, match="job_sort_formula"):
            formula_value(text, names, 2)


def test_a_site_of_pbs_is_needed():
    with pytest.raises(SchedlabError, match="dispatcher pbs follows the rules of a site; give one"):
        sl.simulate("eurora_99", dispatcher="pbs")
    slurm = Site("s", [SiteNode("n1", 4)], [Partition("low", ("n1",))])
    with pytest.raises(SchedlabError, match="is one of slurm; expected one of pbs"):
        starts([FULL], slurm)
