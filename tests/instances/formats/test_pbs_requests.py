"""What jobs of PBS and Torque asked of their server, and what it recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from schedlab.instances import read_trace
from schedlab.models import Dependency, Gres, RecordedAttempt, SiteRequest

Writer = Callable[[str, str], Path]
TIMES = "queue=work ctime=1000 qtime=1000 etime=1040 start=1100 end=1160 Exit_status=0"


def record(values: str, kind: str = "E", job: str = "1.server", stamp: str = "07/13/2012 00:10:01") -> str:
    return f"{stamp};{kind};{job};{values}\n"


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ("Resource_List.nodes=2:ppn=8:gpus=1", {"min_nodes": 2, "max_nodes": 2, "cpus": 16, "tasks": 16, "gres": (Gres("gpu", "", 1, "node"),)}),
        ("Resource_List.nodes=2:ppn=4:avx:ib", {"min_nodes": 2, "max_nodes": 2, "cpus": 8, "tasks": 8, "features": "avx&ib"}),
        ("Resource_List.nodes=n7:ppn=4+n8:ppn=4", {"min_nodes": 2, "max_nodes": 2, "cpus": 8, "tasks": 8, "nodes": "n7,n8"}),
        ("Resource_List.procs=12", {"cpus": 12, "tasks": 12}),
        ("Resource_List.select=4:ncpus=8:mpiprocs=2", {"cpus": 32, "tasks": 8}),
        ("Resource_List.select=4:ncpus=8:mem=2gb Resource_List.place=scatter", {"min_nodes": 4, "max_nodes": 4, "cpus": 32, "memory_per_node": 2048}),
        ("Resource_List.select=4:ncpus=8 Resource_List.place=pack", {"min_nodes": 1, "max_nodes": 1, "cpus": 32}),
        ("Resource_List.select=4:ncpus=8 Resource_List.place=scatter:excl", {"min_nodes": 4, "max_nodes": 4, "cpus": 32, "exclusive": "node"}),
        ("Resource_List.select=1:ncpus=8 Resource_List.place=free:exclhost", {"cpus": 8, "exclusive": "node"}),
        ("Resource_List.select=1:ncpus=1 depend=afterok:7.server:8.server account=chem", {"cpus": 1, "account": "chem", "dependencies": (Dependency("afterok", ("7.server", "8.server")),)}),
        ("Resource_List.select=1:ncpus=1 depend=when:moon resvID=R7.server", {"cpus": 1, "reservation": "R7.server"}),
    ],
)  # fmt: skip
def test_what_a_job_asked(file: Writer, values: str, fields: dict[str, Any]) -> None:
    trace = read_trace(file("log", record(f"{TIMES} {values}")))
    assert trace.site is not None
    assert trace.site.asked(0) == SiteRequest(partitions=("work",), **fields)


def test_dependencies_in_the_record_of_the_submission_are_those_of_the_job(file: Writer) -> None:
    text = record("queue=work depend=afterany:7.server", "Q") + record(f"{TIMES} Resource_List.select=1:ncpus=2")
    job = read_trace(file("log", text)).workload.job(0)
    assert job.asked is not None
    assert job.asked.dependencies == (Dependency("afterany", ("7.server",)),)


def test_hosts_state_and_eligible_time_are_recorded(file: Writer) -> None:
    hosts = "exec_host=c1/0*4+c1/1*4+c2/0*8 Resource_List.select=1:ncpus=16"
    job = read_trace(file("log", record(f"{TIMES} {hosts}"))).workload.job(0)
    assert job.recorded is not None
    assert (job.recorded.nodes, job.recorded.state) == ("c1,c2", "COMPLETED")
    assert (job.recorded.start, job.recorded.eligible, job.earliest_start) == (1100, 1040, 1040)


def test_a_job_that_ran_again_keeps_its_first_attempt(file: Writer) -> None:
    select = "Resource_List.select=1:ncpus=2"
    again = f"queue=work ctime=1000 start=1300 end=1500 Exit_status=0 {select}"
    text = record(f"{TIMES} {select}", "R") + record(again)
    job = read_trace(file("log", text)).workload.job(0)
    assert job.recorded is not None
    assert (job.recorded.start, job.runtime) == (1300, 200)
    assert job.recorded.attempts == (RecordedAttempt(1000, 1100, 1160, "REQUEUED", ""),)
