"""What a log tells of a machine: nodes, sizes, partitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from schedlab.instances import WorkloadError, read_trace, shows_nodes, site_of_trace, without_nodes
from schedlab.instances.sites import PlacedJob, read_site, site_of_jobs, site_of_log
from shared_data import DATA

Writer = Callable[[str, str], Path]


def test_sizes_are_the_largest_use_at_one_time() -> None:
    """A job that begins when another ends, or some seconds before its recorded end, is not beside it."""
    jobs = [
        PlacedJob(("n1",), "p", 0, 100, {"cores": 4, "memory": 10}),
        PlacedJob(("n1",), "p", 50, 200, {"cores": 3, "memory": 5}),
        PlacedJob(("n1",), "q", 98, 300, {"cores": 5}),
        PlacedJob(("n10",), "q", 0, 10, {"cores": 2, "gpus": 3, "gpus a100": 2}),
    ]
    site = site_of_jobs(jobs, "log")
    n1, n10 = site.nodes
    assert (n1.cores, n1.memory, n10.cores, n10.gpus) == (8, 15, 2, {"a100": 2, "": 1})
    assert [(p.name, p.nodes) for p in site.partitions] == [("p", ("n1",)), ("q", ("n1", "n10"))]
    assert site.faults() == [] and len(site.not_modelled) == 2


def test_nodes_are_in_the_order_of_their_numbers() -> None:
    names = ["n10", "n9", "a2x10", "a2x9", "login", "n009"]
    site = site_of_jobs([PlacedJob((name,), "", 0, 1, {"cores": 1}) for name in names])
    assert [n.name for n in site.nodes].index("n9") < [n.name for n in site.nodes].index("n10")
    assert [n.name for n in site.nodes].index("a2x9") < [n.name for n in site.nodes].index("a2x10")
    assert site.partitions == ()


def test_a_table_of_sacct(file: Writer) -> None:
    text = """JobID|Partition|Submit|Start|End|AllocTRES|NCPUS|NodeList
1|thin|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|cpu=8,mem=16G,node=2,gres/gpu:v100=2|8|n[1-2]
1.batch||2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|cpu=900|900|n1
2|fat|2026-01-01T00:00:00|Unknown|Unknown||8|None assigned
3|fat|2026-01-01T00:00:00|2026-01-01T02:00:00|Unknown||6|f1
"""
    site = site_of_log(file("log.txt", text))
    assert [(n.name, n.cores, n.memory, dict(n.gpus)) for n in site.nodes] == [
        ("f1", 6, 0, {}),
        ("n1", 4, 8192, {"v100": 1}),
        ("n2", 4, 8192, {"v100": 1}),
    ]
    assert [(p.name, p.nodes) for p in site.partitions] == [("thin", ("n1", "n2")), ("fat", ("f1",))]


def test_a_log_without_nodes_is_refused(file: Writer) -> None:
    text = "JobID|Submit|Start|End|NCPUS\n1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|8\n"
    with pytest.raises(WorkloadError, match="no job of the log has nodes; expected a column NodeList"):
        site_of_log(file("log.txt", text))
    with pytest.raises(WorkloadError, match="the file is empty"):
        site_of_log(file("empty.txt", ""))


def test_a_log_without_a_header(file: Writer) -> None:
    text = "1|2026-01-01T00:00:00|2026-01-01T01:00:00|8|n[1-2]\n"
    site = site_of_log(file("log.txt", text), columns=("JobID", "Start", "End", "NCPUS", "NodeList"))
    assert [(n.name, n.cores) for n in site.nodes] == [("n1", 4), ("n2", 4)]


@pytest.mark.skipif(not DATA.is_dir(), reason="the data of developers are missing")
@pytest.mark.parametrize(
    ("log", "conf"), [("full/sacct_all.txt.gz", "full/slurm.conf"), ("simple/jobcomp.txt", "simple/slurm.conf")]
)
def test_the_logs_of_the_lab_show_its_machine(log: str, conf: str) -> None:
    seen, said = site_of_log(DATA / "slurm_lab" / log), read_site(DATA / "slurm_lab" / conf)
    assert [(n.name, n.cpus, n.gpus) for n in seen.nodes] == [(n.name, n.cpus, n.gpus) for n in said.nodes]
    assert {p.name: p.nodes for p in seen.partitions} == {p.name: p.nodes for p in said.partitions}
    assert all(
        a.memory is None or b.memory is None or a.memory <= b.memory
        for a, b in zip(seen.nodes, said.nodes, strict=True)
    )


@pytest.mark.skipif(not DATA.is_dir(), reason="the data of developers are missing")
def test_one_partition_of_phillips_is_one_node() -> None:
    site = site_of_log(DATA / "slurm_logs" / "phillips.sacct.gz")
    assert len(site.nodes) == 46
    assert {p.name: len(p.nodes) for p in site.partitions} == {"focaccia": 5, "crumpet": 40, "black": 1}


def test_a_log_that_was_read_shows_the_same_site(file: Writer) -> None:
    text = """JobID|Partition|Submit|Start|End|Timelimit|AllocTRES|NCPUS|NodeList
1|thin|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|120|cpu=8,mem=16G,node=2,gres/gpu:v100=2|8|n[1-2]
2|fat|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T02:30:00|120|cpu=6,mem=1G,node=1|6|f1
3|fat|2026-01-01T00:00:00|2026-01-01T02:29:58|2026-01-01T02:50:00|120|cpu=2,mem=1G,node=1|2|f1
4|fat|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T02:50:00|120|cpu=2,mem=1G,node=1|2|
"""
    path = file("log.txt", text)
    trace = read_trace(path)
    seen = site_of_trace(trace)
    assert (seen.nodes, seen.partitions) == (site_of_log(path).nodes, site_of_log(path).partitions)
    assert shows_nodes(trace) and without_nodes(trace) == 1
    assert not shows_nodes(trace.keep([3]))


def test_a_log_of_pbs_shows_its_nodes(file: Writer) -> None:
    lines = [
        f"01/02/2026 10:{20 + k}:00;E;{k}.srv;user=ana queue=work ctime=1767348000 qtime=1767348000 etime=1767348000 "
        f"start=1767348{start} exec_host={hosts} Resource_List.ncpus={cpus} Resource_List.walltime=01:00:00 "
        f"end=1767348{start + 300} Exit_status=0"
        for k, (start, hosts, cpus) in enumerate([(100, "a1/0*4", 4), (150, "a1/1*4", 4), (500, "a2/0*6", 6)])
    ]
    site = site_of_trace(read_trace(file("log.pbs", "\n".join(lines) + "\n")))
    assert [(n.name, n.cores) for n in site.nodes] == [("a1", 8), ("a2", 6)]
    assert [(p.name, p.nodes) for p in site.partitions] == [("work", ("a1", "a2"))]


@pytest.mark.skipif(not DATA.is_dir(), reason="the data of developers are missing")
def test_both_ways_to_read_a_log_show_one_machine() -> None:
    path = DATA / "slurm_logs" / "phillips.sacct.gz"
    seen = site_of_trace(read_trace(path))
    assert (seen.nodes, seen.partitions) == (site_of_log(path).nodes, site_of_log(path).partitions)
