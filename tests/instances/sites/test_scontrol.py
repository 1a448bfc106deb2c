"""What ``scontrol show`` prints: config, nodes, partitions, reservations, licences; against ``slurm.conf`` of the same site."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from schedlab.instances.sites import SiteError, read_site
from schedlab.models import SchedulerSettings, SiteReservation
from shared_data import DATA

Writer = Callable[[str, str], Path]
LAB = DATA / "slurm_lab" / "full"
NODES = """NodeName=n1 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=4 CPUEfctv=16 CPUTot=16 CPULoad=4.66
   AvailableFeatures=ib,big
   ActiveFeatures=ib
   Gres=gpu:a100:2(S:0-1)
   NodeAddr=n1 NodeHostName=n1 Version=23.02
   OS=Linux 6.1.0 #1 SMP State of the art
   RealMemory=32000 AllocMem=0 FreeMem=16615 Sockets=2 Boards=1
   State=DOWN*+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A
   Partitions=batch,debug
   Reason=fan = broken [root@2026-01-01T00:00:00]

NodeName=n2 Arch=x86_64 CoresPerSocket=8 CPUAlloc=0 CPUTot=16 Sockets=2 RealMemory=32000 State=IDLE ThreadsPerCore=1 Weight=1
"""
PARTITIONS = """PartitionName=batch
   AllowGroups=ALL AllowAccounts=chem,bio AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=big
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=60 Hidden=NO
   MaxNodes=4 MaxTime=1-00:00:00 MinNodes=0 LLN=YES MaxCPUsPerNode=UNLIMITED
   Nodes=n[1-2]
   PriorityJobFactor=10 PriorityTier=2 RootOnly=NO ReqResv=YES OverSubscribe=FORCE:2
   OverTimeLimit=NONE PreemptMode=REQUEUE
   State=UP TotalCPUs=32 TotalNodes=2 SelectTypeParameters=NONE
   JobDefaults=DefCpuPerGPU=8
   DefMemPerCPU=2000 MaxMemPerNode=UNLIMITED
   TRESBillingWeights=CPU=1.0,Mem=1G
"""


def test_nodes_and_partitions_alone_are_a_site(file: Writer) -> None:
    site = read_site(file("partitions.txt", PARTITIONS), file("nodes.txt", NODES))
    first, second = site.nodes
    assert (first.cores, first.memory, first.features, first.state) == (16, 32_000, ("ib", "big"), "down")
    assert (first.gpus, first.weight, second.gpus, second.state) == ({"a100": 2}, 10, {}, "up")
    p = site.partition("batch")
    assert (p.nodes, p.max_time, p.default_time, p.max_nodes) == (("n1", "n2"), 86_400, None, 4)
    assert (p.allow_accounts, p.allow_qos, p.qos, p.oversubscribe) == (("chem", "bio"), None, "big", "force:2")
    assert (p.jobs_per_resource, p.least_loaded, p.needs_reservation, p.preempt_mode) == (2, True, True, "requeue")
    assert (p.def_mem_per_cpu, p.max_mem_per_node, p.def_cpu_per_gpu, p.grace_time) == (2000, None, 8, 60)
    assert p.billing_weights == {"cpu": 1.0, "mem": 1 / 1024}
    assert all("not known" not in what for what in site.not_modelled)


def test_reservations_and_licences(file: Writer) -> None:
    text = """ReservationName=course StartTime=2026-06-01T10:00:00 EndTime=2026-06-01T12:00:00 Duration=02:00:00
   Nodes=n1 NodeCnt=1 CoreCnt=4 Features=ib|big PartitionName=batch Flags=DAILY,SPEC_NODES
   TRES=cpu=4
   Users=ana,-bob Groups=(null) Accounts=Chem Licenses=matlab:2 State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)

ReservationName=any StartTime=2026-06-01T10:00:00 EndTime=2026-06-01T11:00:00
   Nodes=(null) NodeCnt=2 CoreCnt=32 Flags= Users=root
"""
    licences = "LicenseName=matlab\n    Total=20 Used=3 Free=17 Reserved=2 Remote=no\n"
    site = read_site(
        file("nodes.txt", NODES), file("partitions.txt", PARTITIONS), file("res.txt", text), file("lic.txt", licences),
        zone=ZoneInfo("Europe/Rome"),
    )  # fmt: skip
    at_eight = 1_780_300_800  # UTC, which is 10:00 in Rome in summer
    assert site.reservations == (
        SiteReservation(
            "course", at_eight, 7200, ("n1",), core_count=4, users=("ana", "-bob"), accounts=("chem",), partition="batch",
            features=("ib", "big"), licences={"matlab": 2}, flags=("daily",),
        ),
        SiteReservation("any", at_eight, 3600, node_count=2, core_count=32, users=("root",)),
    )  # fmt: skip
    assert [(x.name, x.total) for x in site.licences] == [("matlab", 20)]
    assert site.faults() == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.txt", PARTITIONS.replace("1-00:00:00", "a while"), "p.txt, line 1: MaxTime is 'a while'"),
        (
            "p.txt",
            PARTITIONS.replace("n[1-2]", "n[1-3]"),
            "p.txt, line 1: Nodes of partition batch: there is no node 'n3'",
        ),
        ("n.txt", "\n" + NODES.replace("RealMemory=32000 Al", "RealMemory=lots Al"), "line 2: RealMemory is 'lots'"),
        ("r.txt", "ReservationName=r StartTime=now Duration=1:00\n", "r.txt, line 1: StartTime is 'now'"),
        (
            "r.txt",
            "ReservationName=r StartTime=2026-06-01T10:00:00 Duration=UNLIMITED\n",
            "without an end is not supported",
        ),
        ("l.txt", "LicenseName=x\n    Total=all\n", "l.txt, line 1: Total is 'all'"),
        ("c.txt", "Configuration data as of 2026-01-01\nKillWait = long\n", "c.txt, line 2: KillWait is 'long'"),
    ],
)
def test_faulty_records_are_named(file: Writer, name: str, text: str, message: str) -> None:
    with pytest.raises(SiteError) as e:
        read_site(file("nodes.txt", NODES), file(name, text))
    assert message in str(e.value)


def test_partitions_without_nodes_are_refused(file: Writer) -> None:
    with pytest.raises(SiteError, match=r"expected slurm\.conf or scontrol show node beside it"):
        read_site(file("partitions.txt", PARTITIONS))


@pytest.mark.skipif(not LAB.is_dir(), reason="the data of developers are missing")
def test_slurm_says_of_the_lab_what_its_configuration_says() -> None:
    conf = read_site(LAB / "slurm.conf", LAB / "gres.conf")
    said = read_site(LAB / "nodes.txt", LAB / "partitions.txt", LAB / "config.txt")
    assert said.nodes == conf.nodes and said.scheduler == conf.scheduler and said.name == conf.name
    off = [replace(p, preempt_mode="off") for p in conf.partitions]
    assert list(said.partitions) == off
    assert [(n.name, n.cpus, n.memory, n.weight, dict(n.gpus)) for n in conf.nodes] == [
        *((f"n{k}", 16, 32_000, 10, {}) for k in range(1, 11)),
        *((f"n{k}", 16, 64_000, 50, {"a100": 2}) for k in (11, 12)),
    ]
    s = conf.scheduler
    assert isinstance(s, SchedulerSettings)
    assert (s.bf_interval, s.bf_window, s.weight_qos, s.max_age, s.counts_memory) == (2, 7200, 2000, 1800, True)
    assert [(p.name, len(p.nodes), p.max_time, p.tier, p.job_factor, p.allow_qos) for p in conf.partitions] == [
        ("batch", 10, 1800, 1, 10, None),
        ("debug", 2, 180, 5, 50, None),
        ("gpu", 2, 1800, 1, 20, None),
        ("all", 12, 600, 1, 5, ("normal", "high")),
    ]


@pytest.mark.skipif(not LAB.is_dir(), reason="the data of developers are missing")
def test_the_folder_of_the_lab_is_a_site() -> None:
    """The logs and states beside the files of the site are left out."""
    site = read_site(LAB)
    assert site.not_modelled == () and site.faults() == []
    assert site.reservations == (
        SiteReservation("maint1", site.reservations[0].start, 240, ("n9", "n10"), users=("root",), flags=("maint",)),
    )
    downs = [(e.kind, e.nodes) for e in site.events if e.time > site.reservations[0].start]
    assert downs == [
        ("node-drain", ("n8",)),
        ("node-up", ("n8",)),
        ("node-down", ("n3",)),
        ("node-up", ("n3",)),
    ]
