"""``slurm.conf`` and ``gres.conf``: lines, defaults, ranges, sets of nodes, units, keys that are not modelled, faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from schedlab.instances.sites import SiteError, read_site
from schedlab.models import SchedulerSettings, Site
from shared_data import DATA

Writer = Callable[[str, str], Path]
LOGS, LAB = DATA / "slurm_logs", DATA / "slurm_lab"


def settings(site: Site) -> SchedulerSettings:
    assert isinstance(site.scheduler, SchedulerSettings)
    return site.scheduler


def test_defaults_ranges_continuation_and_comments(file: Writer) -> None:
    """Each DEFAULT line adds to the defaults before; keys are read in any case; a later line of one partition wins."""
    site = read_site(
        file(
            "slurm.conf",
            """# a comment
clustername = lab   # the name
NODENAME=DEFAULT RealMemory=1000 Sockets=2 CoresPerSocket=8 Feature=ib
NodeName=a[1-2]x[1-2] Weight=5
NodeName=DEFAULT ThreadsPerCore=2 \\
    State=UNKNOWN
nodename=b01,b[03-04] RealMemory=2000 Gres=gpu:v100:2,shard:4 Feature="ib,big"
PartitionName=DEFAULT MaxTime=1-0 State=UP
PartitionName=p Nodes=ALL Default=YES
PartitionName=q Nodes=b[03-04],a1x1 MaxTime=INFINITE OverSubscribe=EXCLUSIVE
PartitionName=q MaxNodes=2
KillWait=10
KillWait=20
""",
        )
    )
    assert site.name == "lab" and site.not_modelled == () and site.faults() == []
    assert [n.name for n in site.nodes] == ["a1x1", "a1x2", "a2x1", "a2x2", "b01", "b03", "b04"]
    first, last = site.nodes[0], site.nodes[-1]
    assert (first.cores, first.threads, first.cpus, first.memory, first.weight) == (16, 1, 16, 1000, 5)
    assert (last.cores, last.threads, last.cpus, last.memory, last.features) == (16, 2, 32, 2000, ("ib", "big"))
    assert (last.gpus, last.gres) == ({"v100": 2}, {"shard": 4})
    p, q = site.partitions
    assert (p.default, p.max_time, len(p.nodes)) == (True, 86_400, 7)
    assert (q.exclusive, q.max_time, q.max_nodes, q.nodes) == (True, None, 2, ("b03", "b04", "a1x1"))
    assert settings(site).kill_wait == 20


@pytest.mark.parametrize(
    ("keys", "cores", "threads", "cpus"),
    [
        ("", 1, 1, 1),
        ("CPUs=16", 16, 1, 16),
        ("Procs=12 Sockets=2 CoresPerSocket=6 ThreadsPerCore=1", 12, 1, 12),
        ("Sockets=2 CoresPerSocket=20 ThreadsPerCore=2", 40, 2, 80),
        ("CPUs=40 Sockets=2 CoresPerSocket=20 ThreadsPerCore=2", 40, 2, 40),  # CPUs may be the cores
        ("CPUs=7 Sockets=2 CoresPerSocket=2", 4, 1, 4),  # Slurm sets wrong ones to those of the threads
        ("CPUs=2 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 16, 2, 2),  # or the sockets
        ("CPUs=16 ThreadsPerCore=2", 8, 2, 16),
        ("CPUs=16 CoresPerSocket=4", 16, 1, 16),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16, 1, 16),
        ("CPUs=16 CoreSpecCount=2", 14, 1, 14),
        ("CPUs=16 ThreadsPerCore=2 CoreSpecCount=2", 6, 2, 12),
    ],
)
def test_cores_of_a_node(file: Writer, keys: str, cores: int, threads: int, cpus: int) -> None:
    node = read_site(file("slurm.conf", f"ClusterName=c\nNodeName=n1 {keys}\n")).nodes[0]
    assert (node.cores, node.threads, node.cpus) == (cores, threads, cpus)


def test_units_of_limits_and_settings(file: Writer) -> None:
    site = read_site(
        file(
            "slurm.conf",
            """NodeName=n1 RealMemory=8000 MemSpecLimit=1000 CPUs=4
PartitionName=p Nodes=n1 MaxTime=90 DefaultTime=10:00:00 GraceTime=120 OverTimeLimit=5 MaxMemPerCPU=2000 DefMemPerCPU=0
PartitionName=r Nodes=n1 Priority=30 TRESBillingWeights="CPU=1.0,Mem=0.5G,GRES/gpu=2" JobDefaults=DefCpuPerGPU=8 PreemptMode=REQUEUE
SchedulerParameters=bf_window=1440
SchedulerParameters=bf_window=60,bf_interval=45,bf_continue,defer,bf_busy_nodes=0,sched_interval=-1
OverTimeLimit=UNLIMITED
PriorityMaxAge=7-0
PriorityDecayHalfLife=0
PriorityCalcPeriod=10
PriorityWeightTRES=CPU=0,Mem=.5,GRES/gpu:a100=30000
PriorityFlags=NO_FAIR_TREE,MAX_TRES
PreemptType=preempt/qos
PreemptMode=SUSPEND,GANG
EnforcePartLimits=YES
JobRequeue=0
Licenses=matlab:20,ansys*5,idl
""",
        )
    )
    p, r = site.partitions
    assert (p.max_time, p.default_time, p.grace_time, p.over_time_limit) == (5400, None, 120, 300)
    assert (p.max_mem_per_cpu, p.def_mem_per_cpu) == (2000, None)
    assert (r.tier, r.job_factor, r.preempt_mode, r.def_cpu_per_gpu) == (30, 30, "requeue", 8)
    assert r.billing_weights == {"cpu": 1.0, "mem": 0.5 / 1024, "gres/gpu": 2.0}
    assert site.nodes[0].memory == 7000
    s = settings(site)
    assert (s.bf_window, s.bf_interval, s.bf_continue, s.defer, s.bf_busy_nodes) == (3600, 45, True, True, False)
    assert (s.sched_interval, s.over_time_limit, s.max_age, s.decay_half_life, s.calc_period) == (
        -1,
        None,
        604_800,
        0,
        600,
    )
    assert s.weight_tres == {"cpu": 0.0, "mem": 0.5, "gres/gpu:a100": 30_000.0}
    assert (s.priority_flags, s.preempt_type, s.preempt_mode) == (
        ("no_fair_tree", "max_tres"),
        "qos",
        ("suspend", "gang"),
    )
    assert (s.enforce_part_limits, s.job_requeue) == ("all", False)
    assert {x.name: x.total for x in site.licences} == {"matlab": 20, "ansys": 5, "idl": 1}
    assert "PreemptMode=GANG (time slices)" in site.not_modelled


def test_sets_of_nodes_down_nodes_and_included_files(file: Writer) -> None:
    file(
        "nodes.conf", "NodeName=n[1-6] CPUs=4 Feature=thin\nNodeName=g1 CPUs=8 Feature=fat\nDownNodes=n2 State=DRAIN\n"
    )
    conf = file(
        "slurm.conf",
        """ClusterName=c
Include nodes.conf
NodeSet=some Nodes=n[1-2]
NodeSet=wide Feature=fat
PartitionName=p Nodes=some,n5,wide
""",
    )
    site = read_site(conf)
    assert site.partition("p").nodes == ("n1", "n2", "n5", "g1")
    assert site.node("n2").state == "draining"
    assert read_site(conf.parent) == site  # the included file is read once


def test_gres_conf_gives_the_types_that_slurm_conf_does_not(file: Writer) -> None:
    conf = file("slurm.conf", "NodeName=n[1-2] CPUs=4 Gres=gpu:2\nNodeName=n3 CPUs=4\nPartitionName=p Nodes=ALL\n")
    gres = file("gres.conf", "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n")
    assert [dict(n.gpus) for n in read_site(conf, gres).nodes] == [{"a100": 2}, {"a100": 2}, {}]
    more = file("gres.conf", "NodeName=n3 Name=gpu Count=4\n")
    assert "GPUs that only gres.conf has" in " ".join(read_site(conf, more).not_modelled)


def test_a_type_of_gpus_that_contradicts_slurm_conf_is_told(file: Writer) -> None:
    conf = file("slurm.conf", "NodeName=n[1-3] CPUs=4 Gres=gpu:a100:2\nPartitionName=p Nodes=ALL\n")
    gres = file("gres.conf", "NodeName=n[1-2] Name=gpu Type=h100 Count=2\nNodeName=n3 Name=gpu Type=a100 Count=2\n")
    site = read_site(conf, gres)
    assert [dict(n.gpus) for n in site.nodes] == [{"a100": 2}] * 3
    told = "GPUs of type h100 that gres.conf gives to n1 and 1 further node: slurm.conf has a100 there, which counts"
    assert sum(told in what for what in site.not_modelled) == 1
    fits = file("gres.conf", "NodeName=n[1-3] Name=gpu Type=a100 Count=2\n")
    assert not any("gres.conf" in what for what in read_site(conf, fits).not_modelled)


def test_what_is_not_modelled_is_listed_and_what_is_harmless_is_not(file: Writer) -> None:
    site = read_site(
        file(
            "slurm.conf",
            """NodeName=n1 CPUs=4 Colour=red
PartitionName=p Nodes=n1 SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
BurstBufferType=burst_buffer/datawarp
JobSubmitPlugins=lua
MCSPlugin=mcs/none
SlurmctldLogFile=/var/log/slurmctld.log
PrologFlags=Contain
SchedulerParameters=bf_topopt_enable,max_rpc_cnt=100
Frobnicate=1
""",
        )
    )
    assert site.not_modelled == (
        "SelectTypeParameters=CR_Core of partitions",
        "TopologyPlugin=topology/tree",
        "BurstBufferType=burst_buffer/datawarp",
        "JobSubmitPlugins=lua",
        "SchedulerParameters=bf_topopt_enable",
        "SchedulerParameters=max_rpc_cnt=100",
        "Colour of nodes (not known, slurm.conf, line 1)",
        "Frobnicate (not known, slurm.conf, line 10)",
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("NodeName=n2 CPU=4", "CPU of nodes (not known, slurm.conf, line 3; did you mean CPUs?)"),
        ("PartitionName=q MaxTimes=5", "MaxTimes of partitions (not known, slurm.conf, line 3; did you mean MaxTime?)"),
        ("PriorityWeigthAge=5", "PriorityWeigthAge (not known, slurm.conf, line 3; did you mean PriorityWeightAge?)"),
        (
            "AccountingStorageEnforse=limits",
            "AccountingStorageEnforse (not known, slurm.conf, line 3; did you mean AccountingStorageEnforce?)",
        ),
        (
            "SchedulerParameters=bf_intervall=9",
            "SchedulerParameters=bf_intervall=9 (not known, slurm.conf, line 3; did you mean bf_interval?)",
        ),
        ("Licences=matlab:4", "Licences (not known, slurm.conf, line 3; did you mean Licenses?)"),
    ],
)
def test_misspelt_keys_get_the_known_ones(file: Writer, line: str, told: str) -> None:
    site = read_site(file("slurm.conf", f"NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n{line}\n"))
    assert site.not_modelled == (told,)


def test_faults_come_with_the_misspelt_keys_that_they_may_follow_from(file: Writer) -> None:
    with pytest.raises(SiteError) as error:
        read_site(file("slurm.conf", "NodeNmae=n1 CPUs=4\nPartitionName=p Nodes=n1\nFrobnicate=1\n"))
    lines = str(error.value).splitlines()
    assert lines[1].endswith(
        "slurm.conf: no file describes nodes; expected slurm.conf, scontrol show node or pbsnodes -av among them"
    )
    assert [line.partition("line ")[2] for line in lines[2:]] == [
        "1: NodeNmae: it is not known; did you mean NodeName?",
        "2: Nodes of partition p: there is no node 'n1'",
    ]


def test_no_key_of_a_running_slurm_is_taken_for_a_misspelt_one(file: Writer) -> None:
    """All that Slurm 22.05 prints of its configuration, as lines of a slurm.conf; their units are words there."""
    printed = (LAB / "full" / "config.txt").read_text().splitlines()
    pairs = [line.split(" = ", 1) for line in printed if " = " in line]
    lines = [f"{key.strip()}={value.split()[0]}" for key, value in pairs if value.strip()]
    site = read_site(file("slurm.conf", "\n".join(["NodeName=n1 CPUs=4", *lines])))
    assert len(lines) > 150 and not [what for what in site.not_modelled if "did you mean" in what]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("NodeName=n[2-3 CPUs=4", "line 3: NodeName: the list of hosts"),
        ("NodeName=n2 CPUs=many", "line 3: CPUs is 'many'; expected a whole number"),
        ("NodeName=n2 Gres=gpu:a100:two", "line 3: Gres is 'gpu:a100:two'; expected a number after the type"),
        (
            "AccountingStorageEnforce=qos,limts",
            "line 3: AccountingStorageEnforce is 'qos,limts'; 'limts' is not known: did you",
        ),
        (
            "SchedulerType=sched/bakfill",
            "line 3: SchedulerType is 'sched/bakfill'; 'bakfill' is not known: did you mean backfill?",
        ),
        (
            "SelectType=select/const_res",
            "line 3: SelectType is 'select/const_res'; 'const_res' is not known: did you mean cons_",
        ),
        (
            "SelectTypeParameters=CR_CPUS",
            "line 3: SelectTypeParameters is 'CR_CPUS'; 'cr_cpus' is not known: did you mean cr_cpu",
        ),
        ("PreemptType=preempt/quos", "line 3: PreemptType is 'preempt/quos'; 'quos' is not known: did you mean qos?"),
        ("PreemptMode=KILL", "line 3: PreemptMode is 'KILL'; 'kill' is not known: expected off, cancel"),
        ("NodeName=n2 RealMemory=8X", "line 3: RealMemory is '8X'; expected an amount of memory"),
        ("NodeName=n2 Gres=gpu:9999999999999999", "line 3: Gres is 'gpu:9999999999999999'; expected an amount"),
        ("PartitionName=q MaxTime=soon", "line 3: MaxTime is 'soon'; expected a duration"),
        ("PartitionName=q Nodes=n[1-9]", "line 3: Nodes of partition q: there is no node 'n2', 'n3', 'n4' and 5 more"),
        ("PartitionName=q State=OPEN", "line 3: State is 'OPEN'; expected UP, DOWN, DRAIN, INACTIVE"),
        ("PartitionName=q Default=maybe", "line 3: Default is 'maybe'; expected YES or NO"),
        ("PartitionName=q OverSubscribe=often", "line 3: OverSubscribe is 'often'; expected NO, EXCLUSIVE"),
        (
            "PartitionName=q TRESBillingWeights=CPU:1",
            "line 3: TRESBillingWeights is 'CPU:1'; expected names and weights",
        ),
        ("SchedulerParameters=bf_interval=often", "line 3: bf_interval is 'often'; expected a whole number"),
        ("PriorityWeightAge=-1", "line 3: PriorityWeightAge is '-1'; expected a whole number"),
        ("KillWait=long", "line 3: KillWait is 'long'; expected a duration"),
        ("EnforcePartLimits=some", "line 3: EnforcePartLimits is 'some'; expected NO, ANY, ALL or YES"),
        ("Licenses=matlab:few", "line 3: Licenses is 'few'; expected a whole number"),
        ("DownNodes=n7", "line 3: DownNodes: there is no node 'n7'"),
        ("Include other.conf", "line 3: Include other.conf: "),
        ("Include slurm.conf", "line 3: Include slurm.conf: the file is included already"),
        ("just words", "line 3: 'just words'; expected pairs such as NodeName"),
        ("NodeName=n2 CPUs=4 and words", "line 3: 'and words'; expected pairs"),
    ],
)
def test_faulty_lines_are_named(file: Writer, line: str, message: str) -> None:
    with pytest.raises(SiteError) as e:
        read_site(file("slurm.conf", f"NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n{line}\n"))
    assert f"slurm.conf, {message}" in str(e.value)


def test_all_faults_are_counted_and_ten_are_shown(file: Writer) -> None:
    lines = [f"NodeName=n{k} CPUs=x{k}" for k in range(12)]
    with pytest.raises(SiteError) as e:
        read_site(file("slurm.conf", "\n".join(lines)))
    shown = str(e.value).splitlines()
    assert shown[0] == "the description of the site has 12 faults, the first 10 of them:"
    assert len(shown) == 11 and "line 10" in shown[10] and len(e.value.faults) == 12


@pytest.mark.skipif(not LOGS.is_dir(), reason="the data of developers are missing")
def test_the_sites_of_the_tutorials() -> None:
    """217 and 10 nodes, as the comments of the files say."""
    medium = read_site(LOGS / "medium_slurm.conf")
    assert len(medium.nodes) == 217 and medium.name == "ubhpc"
    assert sum(n.cpus for n in medium.nodes) == 89 * 32 + 128 * 40
    assert medium.node("gn001").gpus == {"tesla_p100-pcie-16gb": 2}
    assert [(p.name, len(p.nodes), p.max_time, p.qos) for p in medium.partitions] == [
        ("general-compute", 215, 259_200, "general-compute"),
        ("debug", 2, 3600, "debug"),
    ]
    s = settings(medium)
    assert (s.weight_fairshare, s.decay_half_life, s.bf_window, s.enforce_part_limits) == (
        120_000,
        2_592_000,
        259_200,
        "all",
    )
    assert medium.not_modelled[0] == "TopologyPlugin=topology/tree"
    micro = read_site(LOGS / "micro_slurm.conf")
    assert [n.name for n in micro.nodes][-2:] == ["g1", "b1"] and {n.cpus for n in micro.nodes} == {12}
    assert micro.node("b1").memory == 512_000 and micro.node("g1").gpus == {"": 2}


@pytest.mark.skipif(not LAB.is_dir(), reason="the data of developers are missing")
def test_the_simple_site_of_the_lab() -> None:
    site = read_site(LAB / "simple" / "slurm.conf")
    assert [(n.name, n.cpus, n.memory) for n in site.nodes] == [(f"n{k}", 16, None) for k in range(1, 9)]
    assert [(p.name, p.max_time, p.tier) for p in site.partitions] == [("batch", 3600, 1), ("debug", 300, 10)]
    s = settings(site)
    assert (s.bf_interval, s.bf_resolution, s.sched_min_interval, s.priority_type, s.counts_memory) == (
        1,
        1,
        0,
        "basic",
        False,
    )
    assert site.not_modelled == () and site.faults() == []


def test_times_in_minutes_are_rounded_up(file: Writer) -> None:
    site = read_site(
        file(
            "slurm.conf",
            "PriorityCalcPeriod=00:00:30\nPriorityDecayHalfLife=00:02:30\nPriorityMaxAge=7\nNodeName=n1 CPUs=4\n"
            "PartitionName=p Nodes=n1 MaxTime=00:01:01 DefaultTime=2\n",
        )
    )
    s = site.scheduler
    assert isinstance(s, SchedulerSettings)
    assert (s.calc_period, s.decay_half_life, s.max_age) == (60, 180, 420)
    assert (site.partition("p").max_time, site.partition("p").default_time) == (120, 120)
