"""Jobs start under ``slurm`` as with Slurm's exact requests on sites of nodes of several sizes, however the log divides them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import schedlab as sl
from draws import some_now
from schedlab.models import (
    QOS,
    Association,
    Dispatch,
    Gres,
    Job,
    Limits,
    Partition,
    Queue,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.simulation import Feature, SlurmAttempt, SlurmJob, violations
from simulation.slurm.slurm_second_by_second import first_starts

ROOM = (4, 4, 8, 8, 16, 16)  # CPUs of the nodes


class Watching(Feature):
    """It is told of all that happens, so that the replay does not run in compiled code."""

    watches = True


def place(parts: list[Partition], machine: list[SiteNode] | None = None, qos: Any = (), **others: Any) -> Site:
    """Return a site of nodes of three sizes, each of a weight of its own."""
    nodes = [
        SiteNode(f"n{k}", cpus, memory=1000 * cpus, weight=cpus, features=("new",) if cpus > 4 else ("old",))
        for k, cpus in enumerate(ROOM)
    ]
    settings = {
        "select_parameters": ("cr_cpu",), "bf_interval": 3, "bf_resolution": 1, "priority_type": "basic",
        "accounting_enforce": ("limits",), **others,
    }  # fmt: skip
    accounts = [Association("root"), *(Association("chem", user, parent="root") for user in ("", "ana", "bob"))]
    accounts[1] = Association("chem", parent="root")
    return Site("sizes", machine or nodes, parts, qos, accounts, scheduler=SchedulerSettings(**settings))


def row(
    number: int, rng: random.Random, asked: SiteRequest, units: int, cores: int, submit: int, **amounts: int
) -> Job:
    """Return a job of a log, in which it has units as large as its nodes gave it."""
    runtime = rng.randint(1, 60)
    return Job(
        str(number), submit, runtime + rng.choice((0, 10, 50)), units, {"cores": cores, **amounts}, asked.partitions[0],
        runtime=runtime, user=rng.choice(("ana", "bob")), asked=asked,
    )  # fmt: skip


def starts_by_slurm(site: Site, jobs: list[Job]) -> dict[str, int]:
    """Return the starts under ``slurm``, which are the same in compiled code and beside a feature that watches."""
    queues = [Queue(p.name, 60) for p in site.partitions]
    dispatch = Dispatch(site.platform(), jobs, queues, durations="runtime")
    run = sl.simulate(dispatch, "slurm", site=site)
    watched = sl.simulate(dispatch, "slurm", site=site, features=[Watching()])
    assert run.violations == watched.violations == []
    assert run.start.tolist() == watched.start.tolist()
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


def starts_by_requests(site: Site, jobs: list[Job]) -> dict[str, int]:
    """Return the starts second by second, with the requests as they were made."""
    exact = [
        SlurmJob(
            j.id, j.user, j.submit, j.walltime, j.asked, number=int(j.id),
            attempts=(SlurmAttempt(j.submit, j.submit + (j.runtime or 1), ("n0",)),),
        )
        for j in jobs
    ]  # fmt: skip
    return first_starts(site, sorted(exact, key=lambda j: (j.submit, j.number)))


def whole_and_others(seed: int) -> list[Job]:
    """Return jobs, of which some have whole nodes, and all the CPUs of these in the log."""
    rng = random.Random(seed)
    jobs = []
    submit = 0
    for k in range(rng.randint(8, 30)):
        kind = rng.choice(("whole", "number", "partition", "shared", "shared", "shared"))
        cpus = rng.choice((1, 2, 4, 6, 12, 20))
        if kind == "number":
            nodes = rng.choice((1, 2, 3))
            asked = SiteRequest(
                "chem", "normal", ("p",), min_nodes=nodes, max_nodes=nodes, cpus=nodes, exclusive="node"
            )  # fmt: skip
            jobs.append(row(k, rng, asked, nodes, rng.choice((4, 8)), submit))
        elif kind == "shared":
            asked = SiteRequest(
                "chem", "normal", ("p",), min_nodes=1, cpus=cpus, tasks=cpus, features=rng.choice(("", "new"))
            )
            jobs.append(row(k, rng, asked, cpus, 1, submit))
        else:
            part = "w" if kind == "partition" else "p"
            exclusive = "node" if kind == "whole" else ""
            asked = SiteRequest("chem", "normal", (part,), min_nodes=1, cpus=cpus, tasks=cpus, exclusive=exclusive)
            jobs.append(row(k, rng, asked, 2 if cpus > 16 else 1, 16, submit))
        submit += rng.choice((0, 1, 5, 20))
    return jobs


@pytest.mark.parametrize("priority_type", ["basic", "multifactor"])
@pytest.mark.parametrize("seed", some_now(range(20), 8))
def test_jobs_with_whole_nodes(seed: int, priority_type: str) -> None:
    names = [f"n{k}" for k in range(len(ROOM))]
    parts = [Partition("p", tuple(names)), Partition("w", tuple(names[2:]), oversubscribe="exclusive")]
    weights = {"weight_age": 1000, "weight_fairshare": 5000, "weight_job_size": 300, "calc_period": 30}
    site = place(parts, priority_type=priority_type, **(weights if priority_type == "multifactor" else {}))
    jobs = whole_and_others(seed)
    assert starts_by_slurm(site, jobs) == starts_by_requests(site, jobs)


@pytest.mark.parametrize("stop", [(), ("assoc_limit_stop",)])
@pytest.mark.parametrize("seed", some_now(range(20), 8))
def test_whole_nodes_count_in_limits_with_all_their_cpus(seed: int, stop: tuple[str, ...]) -> None:
    names = tuple(f"n{k}" for k in range(len(ROOM)))
    parts = [Partition("p", names, qos="few"), Partition("w", names[2:], oversubscribe="exclusive")]
    few = QOS("few", limits=Limits(grp_tres={"cpu": 40}, max_tres_per_user={"cpu": 30}))
    site = place(parts, qos=(QOS("normal"), few), assoc_limit_stop=bool(stop))
    jobs = [job for job in whole_and_others(seed) if job.asked and (job.asked.min_nodes or 1) < 3]
    starts = starts_by_slurm(site, jobs)
    taken = [job for job in jobs if job.id in starts]  # without those that are beyond a limit on the largest nodes
    assert starts == starts_by_requests(site, taken)


@pytest.mark.parametrize("options", [{}, {"weight_fairshare": 5000, "priority_type": "multifactor", "calc_period": 30}])
def test_memory_that_is_not_given_to_jobs_holds_none(options: dict[str, Any]) -> None:
    """With CR_CPU, a log may still say that a job had all memory of its node."""
    machine = [SiteNode(f"n{k}", 8, memory=8000, gpus={"": 2}) for k in range(2)]
    site = place([Partition("p", ("n0", "n1"))], machine, **options)
    rng = random.Random(1)
    asked = SiteRequest("chem", "normal", ("p",), min_nodes=1, cpus=2, tasks=2, gres=(Gres("gpu", "", 1, "node"),))
    jobs = [row(k, rng, asked, 1, 2, k, memory=8000, gpus=1) for k in range(4)]
    starts = starts_by_slurm(site, jobs)
    assert starts == starts_by_requests(site, jobs)
    assert max(starts.values()) < 10


def test_a_job_with_gpus_that_ran_on_two_nodes_may_start_on_one() -> None:
    machine = [SiteNode(f"n{k}", 8, memory=8000, gpus={"": 2}) for k in range(2)]
    site = place([Partition("p", ("n0", "n1"))], machine)
    rng = random.Random(1)
    full = SiteRequest("chem", "normal", ("p",), min_nodes=1, cpus=8, tasks=8)
    asked = SiteRequest("chem", "normal", ("p",), min_nodes=1, cpus=4, tasks=4, gres=(Gres("gpu", "", 1, "node"),))
    jobs = [row(0, rng, full, 8, 1, 0), row(1, rng, asked, 2, 2, 1, gpus=1)]  # on two nodes, with a GPU on each
    starts = starts_by_slurm(site, jobs)
    assert starts["1"] < jobs[0].runtime  # n0 is full, and n1 has room for all of it
    assert starts == starts_by_requests(site, jobs)


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_jobs_with_gpus_on_each_node_start_as_with_the_requests(seed: int) -> None:
    """Slurm divides their CPUs over as many nodes as it likes, with the GPUs on each of them."""
    rng = random.Random(seed)
    machine = [SiteNode(f"n{k}", 8, memory=16_000, gpus={"": 2}) for k in range(3)]
    site = place([Partition("p", ("n0", "n1", "n2"))], machine, select_parameters=("cr_cpu_memory",))
    jobs = []
    for k in range(30):
        nodes = rng.choice((1, 1, 2))
        cpus = nodes * rng.choice((1, 2, 3, 6, 8))
        gres = rng.choice(((), (Gres("gpu", "", 1, "node"),), (Gres("gpu", "", 2, "node"),)))
        asked = SiteRequest(
            "chem", "normal", ("p",), min_nodes=nodes, cpus=cpus, tasks=cpus, memory_per_cpu=1000, gres=gres
        )
        gpus = {"gpus": gres[0].number} if gres else {}
        each = cpus // nodes
        jobs.append(row(k, rng, asked, nodes, each, 5 * k, memory=1000 * each, **gpus))
    starts = starts_by_slurm(site, jobs)
    assert starts == starts_by_requests(site, jobs)


def test_gpus_on_each_node_are_verified() -> None:
    machine = [SiteNode(f"n{k}", 8, memory=8000, gpus={"": 2}) for k in range(2)]
    site = place([Partition("p", ("n0", "n1"))], machine)
    rng = random.Random(1)
    asked = SiteRequest("chem", "normal", ("p",), min_nodes=2, cpus=4, tasks=4, gres=(Gres("gpu", "", 2, "node"),))
    jobs = [row(k, rng, asked, 2, 2, k, gpus=2) for k in range(2)]
    problem = Dispatch(site.platform(), jobs, [Queue("p", 60)])
    run = sl.simulate(problem, dispatcher="slurm", site=site)
    assert run.violations == []
    assert run.start[1] >= run.end[0]
    together = replace(run, start=run.start * 0, end=run.end - run.start)
    assert any("gpus in use, it has 2" in fault.message for fault in violations(together))
