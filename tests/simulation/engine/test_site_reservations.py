"""Reservations of a site hold under every dispatcher: maintenance, those of some jobs, repeated ones."""

import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, Partition, Queue, Site, SiteNode, SiteRequest, SiteReservation
from simulation.second_by_second import records

DISPATCHERS = ["fcfs", "easy", "easy++", "conservative", "plan@lns", "hcp3@cpsat", "dardis", "hybrid:50", "slurm"]
NODES = ("n1", "n2")
DAY = 86_400


def site_with(*reservations, **fields):
    """Two nodes of four cores in one partition."""
    return Site(
        "s", [SiteNode(n, 4) for n in NODES], [Partition("p", NODES)], reservations=list(reservations), **fields
    )


def job(name, submit, walltime, units=4, runtime=None, reservation=""):
    """A job of units with a core each."""
    asked = SiteRequest(reservation=reservation)
    return Job(
        name, submit, walltime, units, {"cores": 1}, "p", runtime=walltime if runtime is None else runtime, asked=asked
    )


def replay(jobs, site, dispatcher="easy", **options):
    problem = Dispatch(site.platform(), jobs, [Queue("p", 60)])
    return sl.simulate(problem, dispatcher=dispatcher, site=site, **options)


def starts(run):
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


def nodes_of(run, name):
    return {node for r in records(run) if r.job == name for node in r.nodes}


MAINTENANCE = SiteReservation("maint", 100, 50, ("n1",), flags=("maint",))


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
def test_no_job_runs_into_maintenance_by_its_walltime(dispatcher):
    """Both jobs run 10 s; the second may take 200 s and only n2 is left for it."""
    jobs = [job("short", 0, 90, runtime=10), job("long", 20, 200, 4, 10), job("wide", 40, 61, 8, 10)]
    run = replay(jobs, site_with(MAINTENANCE), dispatcher)
    assert run.violations == []
    found = starts(run)
    assert found["short"] < 11 and found["long"] < 40
    assert nodes_of(run, "long") == {"n2"}
    assert 150 <= found["wide"] < 220
