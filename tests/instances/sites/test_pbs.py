"""Sites of PBS: queues and limits from qmgr, nodes from pbsnodes as text and JSON, options of the scheduler.

The inputs are written after the reference guide of PBS Professional; the nodes of Torque after its administrator's guide.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from schedlab.instances.sites import SiteError, read_site, write_site
from schedlab.models import Limits, NamedLimit, PBSSettings, ProblemError

Writer = Callable[[str, str], Path]
NODES = """n01
     Mom = n01.cluster
     ntype = PBS
     state = free
     pcpus = 64
     resources_available.arch = linux
     resources_available.host = n01
     resources_available.mem = 131072000kb
     resources_available.ncpus = 32
     resources_available.ngpus = 2
     resources_available.scratch = 7
     resources_available.vnode = n01
     resources_available.Qlist = workq,
\tlong
     resources_assigned.ncpus = 0
     sharing = default_shared

n02
     Mom = n02.cluster
     state = offline,job-busy
     resources_available.mem = 128gb
     resources_available.ncpus = 32
     resources_available.Qlist = workq

n03
     state = state-unknown,down
     resources_available.ncpus = 8
     resources_available.mem = 64gb
     queue = special

"""
QMGR = """#
# Create queues and set their attributes.
#
create queue workq
set queue workq queue_type = Execution
set queue workq Priority = 10
set queue workq resources_max.walltime = 24:00:00
set queue workq resources_default.walltime = 01:00:00
set queue workq resources_max.ncpus = 64
set queue workq resources_min.mem = 100mb
set queue workq resources_max.nodect = 2
set queue workq resources_available.ncpus = 48
set queue workq max_run = [u:PBS_GENERIC=10], [u:bob=20]
set queue workq max_run += [o:PBS_ALL=30]
set queue workq max_run_res.ngpus = [p:PBS_GENERIC=4]
set queue workq default_chunk.Qlist = workq
set queue workq enabled = True
set queue workq started = True
create queue long
set queue long queue_type = Execution
set queue long Priority = -5
set queue long default_chunk.Qlist = long
set queue long acl_group_enable = True
set queue long acl_groups = big
set queue long acl_groups += small@cluster
set queue long enabled = True
create queue special
set queue special queue_type = Execution
set queue special max_running = 3
set queue special max_user_run = 1
set queue special enabled = False
set queue special started = True
create queue route
set queue route queue_type = Route
set queue route route_destinations = workq
#
# Set server attributes.
#
set server scheduling = True
set server default_queue = workq
set server managers = root@*
set server max_queued = [u:PBS_GENERIC=200]
set server max_group_run = 5
set server backfill_depth = 5
set server eligible_time_enable = True
set server node_group_key = switch,rack
set server job_sort_formula = "10 * queue_priority + eligible_time"
set server resources_max.walltime = 72:00:00
set server resources_available.matlab = 4
create hook check
"""


def test_nodes_as_text(file: Writer) -> None:
    site = read_site(file("pbsnodes.txt", NODES))
    first, second, third = site.nodes
    assert (first.cpus, first.memory, first.gpus, first.gres) == (32, 128_000, {"": 2}, {"scratch": 7})
    assert (first.features, second.features) == (("Qlist=workq,long",), ("Qlist=workq",))
    assert (second.memory, second.state, third.state) == (131_072, "draining", "down")
    assert site.kind == "pbs" and [(p.name, p.nodes) for p in site.partitions] == [("default", ("n01", "n02", "n03"))]


def test_nodes_as_json_are_those_of_the_text(file: Writer) -> None:
    nodes: dict[str, dict[str, object]] = {}
    for paragraph in NODES.replace("\n\t", "").strip().split("\n\n"):
        name, *lines = paragraph.splitlines()
        entry: dict[str, object] = {}
        for key, _, text in (line.strip().partition(" = ") for line in lines):
            group, _, resource = key.partition(".")
            if resource:
                inner = entry.setdefault(group, {})
                assert isinstance(inner, dict)
                inner[resource] = int(text) if text.isdecimal() else text
            else:
                entry[key] = text
        nodes[name] = entry
    content = json.dumps({"timestamp": 1, "pbs_version": "20.0.1", "pbs_server": "pbs", "nodes": nodes}, indent=4)
    assert read_site(file("nodes.json", content), name="x") == read_site(file("nodes.txt", NODES), name="x")


def test_nodes_of_torque(file: Writer) -> None:
    text = """node1
     state = job-exclusive
     power_state = Running
     np = 8
     properties = ib,fast
     ntype = cluster
     status = rectime=1,ncpus=16,physmem=32768000kb,availmem=1kb
     gpus = 1
"""
    node = read_site(file("nodes.txt", text)).nodes[0]
    assert (node.cpus, node.memory, node.features, node.gpus, node.state) == (8, 32_000, ("ib", "fast"), {"": 1}, "up")


def test_queues_limits_and_the_server(file: Writer) -> None:
    site = read_site(file("qmgr.txt", QMGR), file("pbsnodes.txt", NODES))
    workq, long, special = site.partitions
    assert (workq.nodes, long.nodes, special.nodes) == (("n01", "n02"), ("n01",), ("n03",))
    assert [p.state for p in site.partitions] == ["up", "down", "drain"]
    assert [p.tier for p in site.partitions] == [15, 0, 5]  # priorities 10, -5 and 0
    assert (workq.max_time, workq.default_time, workq.max_nodes, workq.default) == (86_400, 3600, 2, True)
    assert (long.max_time, long.allow_groups) == (259_200, ("big", "small"))
    assert site.quality("workq").limits == Limits(
        grp_jobs=30,
        grp_tres={"cpu": 48},
        max_jobs_per_user=10,
        max_tres_per_account={"gres/gpu": 4},
        max_tres_per_job={"cpu": 64},
        min_tres={"mem": 100},
    )
    assert site.quality("special").limits == Limits(grp_jobs=3, max_jobs_per_user=1)
    assert (workq.qos, long.qos, special.qos) == ("workq", None, "special")
    s = site.scheduler
    assert isinstance(s, PBSSettings)
    assert (s.backfill_depth, s.eligible_time, s.node_groups) == (5, True, ("switch", "rack"))
    assert (s.job_sort_formula, s.limits) == ("10 * queue_priority + eligible_time", Limits(max_submit_per_user=200))
    assert [(x.name, x.total) for x in site.licences] == [("matlab", 4)]
    assert s.named_limits == ("queue workq max_run = [u:bob=20]",)
    assert s.named == (NamedLimit("workq", "", "u", "bob", 20),)
    assert site.not_modelled == (
        "max_group_run of the server",
        "hooks of PBS (check)",
        "routing queue route",
    )
    assert site.faults() == []


def test_limits_by_name_are_kept_in_the_own_format(file: Writer, tmp_path: Path) -> None:
    text = """create queue a
set queue a enabled = True
set queue a started = True
set queue a max_run_res.mem = [p:astro=2gb]
set queue a max_run = [g:chem=3]
set server max_run = [u:PBS_GENERIC=4],[u:eva=9]
"""
    site = read_site(file("qmgr.txt", text), file("pbsnodes.txt", NODES), name="lab")
    assert isinstance(site.scheduler, PBSSettings)
    assert site.scheduler.named == (NamedLimit("a", "mem", "p", "astro", 2048), NamedLimit("", "", "u", "eva", 9))
    assert site.not_modelled == ("max_run of the queue a for g:chem",)
    write_site(site, tmp_path / "site.toml")
    assert read_site(tmp_path / "site.toml") == site
    with pytest.raises(
        ProblemError, match=r"named_limits has 'max_run u:eva=9'; expected a limit such as 'server max_run"
    ):
        PBSSettings(named_limits=("max_run u:eva=9",))


def test_options_of_the_scheduler(file: Writer) -> None:
    text = """# comment
round_robin: False	all
by_queue: False		prime
by_queue: True		non_prime
strict_ordering: true	ALL
help_starving_jobs:	false	ALL
max_starve: 12:00:00
job_sort_key: "job_priority HIGH"	ALL
job_sort_key: "cput LOW"	ALL
node_sort_key: "sort_priority HIGH"	ALL
preemptive_sched: true	ALL
resources: "ncpus, mem, arch"
"""
    site = read_site(file("pbsnodes.txt", NODES), file("sched_config", text))
    s = site.scheduler
    assert isinstance(s, PBSSettings)
    assert (s.by_queue, s.strict_ordering, s.help_starving_jobs, s.max_starve) == (False, True, False, 43_200)
    assert (s.job_sort_key, s.node_sort_key) == (("job_priority HIGH", "cput LOW"), ("sort_priority HIGH",))
    assert site.not_modelled == ("by_queue in non-prime time (True)", "preemptive_sched: true")


def test_nodes_of_qmgr_alone(file: Writer) -> None:
    text = "create queue q\nset queue q enabled = True\nset queue q started = True\ncreate node a Mom=a\n"
    text += "set node a resources_available.ncpus = 4\nset node a resources_available.mem = 1gb\n"
    site = read_site(file("qmgr.txt", text))
    assert [(n.name, n.cpus, n.memory) for n in site.nodes] == [("a", 4, 1024)]
    assert site.partition("q").nodes == ("a",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q", "create queue a\nset queue b started = True\n", "q, line 2: there is no queue 'b'"),
        ("q", "create queue a\nset queue a started = perhaps\n", "line 2: started is 'perhaps'; expected YES or NO"),
        ("q", "create queue a\nset queue a Priority = x\n", "line 2: Priority is 'x'"),
        ("q", "create queue a\nset queue a max_run = 5\n", "line 2: max_run is '5'; expected limits such as [u:"),
        ("q", "create queue a\nset queue a max_run = [u:PBS_GENERIC=x]\n", "line 2: max_run is 'x'"),
        ("q", "create queue a\nset queue a resources_max.walltime = long\n", "line 2: resources_max.walltime"),
        ("q", "create queue a\nset queue a resources_max.mem = 5 apples\n", "line 2: resources_max.mem"),
        ("q", "create queue a\nset queue a\n", "line 2: 'a'; expected an attribute and its value"),
        ("q", "create queue a\nstart it\n", "line 2: 'start it'; expected commands of qmgr"),
        ("n", "a\n     state = free\n     resources_available.ncpus = many\n", "n, line 1: ncpus is 'many'"),
        (
            "n",
            "a\n     state = free\n     resources_available.ncpus = 4\n     resources_available.mem = 3 gb\n",
            "line 1: mem",
        ),
        ("n", '{"nodes": {"a": {"resources_available": {"ncpus": 4}}', "n: not a JSON file"),
        ("s", "by_queue: True ALL\nnonsense\n", "s, line 2: 'nonsense'; expected an option"),
        ("s", "by_queue: perhaps ALL\n", "s, line 1: by_queue is 'perhaps'"),
    ],
)
def test_faulty_lines_are_named(file: Writer, name: str, text: str, message: str) -> None:
    with pytest.raises(SiteError) as e:
        read_site(file("pbsnodes.txt", NODES), file(name, text))
    assert message in str(e.value)
