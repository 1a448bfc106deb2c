"""Accounts, users and QOS: the dump of sacctmgr, its tables, scripts of its commands, events of nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from schedlab.instances.sites import SiteError, read_site, site_text
from schedlab.models import Limits, NodeEvent, Site
from shared_data import DATA

Writer = Callable[[str, str], Path]
LOGS, LAB = DATA / "slurm_logs", DATA / "slurm_lab"
CONF = "ClusterName=lab\nNodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL\n"
DUMP = """# To edit this file start with a cluster line for the new cluster
# Cluster - 'cluster_name':MaxTRESPerJob=node=50
Cluster - 'lab':Fairshare=1:QOS='normal':MaxWallDurationPerJob=60
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'Chem':Description='the chemists: all':Organization='chem':Fairshare=40:GrpTRES=cpu=112,gres/gpu:a100=4:GrpJobs=7
Parent - 'chem'
Account - 'theory':Description='t':Fairshare=3:GrpTRESRunMins=cpu=600
User - 'eva':DefaultAccount='chem':DefaultQOS='normal':Fairshare=parent:QOS='high,normal':MaxJobs=3:MaxSubmitJobs=9
Parent - 'theory'
User - 'eva':Partition='p':Fairshare=2:Priority=5
"""


def site_of(file: Writer, name: str, text: str) -> Site:
    return read_site(file("slurm.conf", CONF), file(name, text))


def test_a_dump(file: Writer) -> None:
    site = site_of(file, "dump.cfg", DUMP)
    assert [(a.label, a.parent, a.shares) for a in site.associations] == [
        ("account root", "", 1),
        ("user root of account root", "", 1),
        ("account chem", "root", 40),
        ("account theory", "chem", 3),
        ("user eva of account chem", "", "parent"),
        ("user eva of account theory in partition p", "", 2),
    ]
    chem, eva = site.association("chem"), site.association("chem", "eva")
    assert chem is not None and chem.limits == Limits(grp_tres={"cpu": 112, "gres/gpu:a100": 4}, grp_jobs=7)
    assert eva is not None and eva.limits == Limits(max_jobs=3, max_submit=9)
    assert (eva.default_qos, eva.qos) == ("normal", ("high", "normal"))
    other = site.effective("theory", "eva", "p")
    assert other is not None and (other.priority, other.qos, other.limits.max_wall) == (5, ("normal",), 3600)
    assert [a.account for a in site.ancestors("theory", "eva", "p")] == ["theory", "theory", "chem", "root"]


def test_qos_without_a_definition_are_said(file: Writer) -> None:
    """A dump names the QOS; what they are is in ``sacctmgr show qos``."""
    site = site_of(file, "dump.cfg", DUMP)
    assert [q.name for q in site.qos] == ["normal", "high"]
    assert site.not_modelled == ("priorities and limits of the QOS normal, high (no file has them: sacctmgr show qos)",)


def test_a_table_of_qos(file: Writer) -> None:
    head = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageThres|UsageFactor|GrpTRES|GrpWall|MaxWall|MaxTRESPU|MaxJobsPU|MaxTRESPA|MinTRES|GrpJobsAccrue"
    rows = [
        "high|100|00:02:00|low,normal|cluster|DenyOnLimit,NoReserve|0.5|2.000000|cpu=64|1-00:00:00|02:00:00|cpu=32,mem=64G|3|gres/gpu=4|node=2|7",
        "normal|10|00:00:00|||||1.000000||||||||",
    ]
    site = site_of(file, "qos.txt", "\n".join([head, *rows]))
    high, normal = site.qos
    assert (high.priority, high.grace_time, high.preempt, high.preempt_mode) == (100, 120, ("low", "normal"), None)
    assert (high.flags, high.usage_threshold, high.usage_factor) == (("denyonlimit", "noreserve"), 0.5, 2.0)
    assert high.limits == Limits(
        grp_tres={"cpu": 64},
        grp_wall=86_400,
        max_wall=7200,
        max_tres_per_user={"cpu": 32, "mem": 65_536},
        max_jobs_per_user=3,
        max_tres_per_account={"gres/gpu": 4},
        min_tres={"node": 2},
    )
    assert normal.limits == Limits() and normal.usage_factor == 1.0
    assert site.not_modelled == ("GrpJobsAccrue of QOS",)
    assert site.faults() == ["QOS high: there is no QOS 'low'; known are high, normal"]


def test_a_table_of_associations_with_and_without_parents(file: Writer) -> None:
    head = "Cluster|Account|User|Partition|Share|MaxJobs|QOS|Def QOS|ParentName"
    rows = ["lab|root|||1||normal||", "lab|a|||4||||root", "lab|b|||6||||a", "lab|b|u||parent|5|high,normal|high|"]
    text = "\n".join([head, *rows])
    site = site_of(file, "assoc.txt", text)
    assert [(a.label, a.parent, a.shares) for a in site.associations] == [
        ("account root", "", 1),
        ("account a", "root", 4),
        ("account b", "a", 6),
        ("user u of account b", "", "parent"),
    ]
    flat = "\n".join(line.rpartition("|")[0] for line in text.splitlines())
    without = site_of(file, "assoc.txt", flat)
    assert [a.parent for a in without.associations] == ["", "root", "root", ""]
    assert any("the tree of the accounts" in what for what in without.not_modelled)
    assert not any("the tree of the accounts" in what for what in site.not_modelled)


HEAD_OF_TABLE = "Cluster|Account|User|Share|QOS|ParentName"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "dump.cfg",
            "Cluster - 'lab':Fairshare=1\nParent - 'root'\nAccount - 'physics'\nParent - 'phsyics'\nUser - 'ana':Fairshare=1\n",
            "dump.cfg, line 4: Parent: there is no account 'phsyics'; did you mean physics?",
        ),
        (
            "assoc.txt",
            f"{HEAD_OF_TABLE}\nlab|root||1||\nlab|physics||6||root\nlab|astro||3||phsyics\n",
            "assoc.txt, line 4: ParentName of account astro: there is no account 'phsyics'; did you mean physics?",
        ),
        (
            "sacctmgr.script",
            "add account physics\nadd account astro parent=phsyics\n",
            "sacctmgr.script, line 2: parent of account astro: there is no account 'phsyics'; did you mean physics?",
        ),
        (
            "sacctmgr.script",
            "add account physics\nadd user ana Account=phsyics\n",
            "sacctmgr.script, line 2: Account of user ana: there is no account 'phsyics'; did you mean physics?",
        ),
        (
            "sacctmgr.script",
            "add account physics\nmodify account physics set parent=rot\n",
            "sacctmgr.script, line 2: parent: there is no account 'rot'; did you mean root?",
        ),
    ],
)
def test_an_account_above_that_does_not_exist_is_a_fault(file: Writer, name: str, text: str, told: str) -> None:
    with pytest.raises(SiteError) as error:
        site_of(file, name, text)
    assert str(error.value).endswith(told)
    assert len(error.value.faults) == 1 and error.value.faults[0].field.lower() in told.lower()


def test_accounts_may_come_before_those_above_them(file: Writer) -> None:
    rows = ["lab|astro||3||physics", "lab|physics||6||root", "lab|root||1||"]
    site = site_of(file, "assoc.txt", "\n".join([HEAD_OF_TABLE, *rows]))
    assert {a.account: a.parent for a in site.associations} == {"astro": "physics", "physics": "root", "root": ""}


def test_a_table_of_reservations_without_nodes_says_how_to_get_them(file: Writer) -> None:
    text = (
        "Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall\nlab|maint1|cpu=8|2026-11-27T18:07:17|2026-11-27T18:11:17|0.0\n"
    )
    site = site_of(file, "res.txt", text)
    assert site.reservations[0].nodes == () and site.reservations[0].core_count == 8
    (told,) = site.not_modelled
    assert told.startswith(
        "the nodes of the reservation maint1 (not in the table; sacctmgr -P show reservation format=Name,"
    )


def test_past_reservations_with_their_nodes_and_flags(file: Writer) -> None:
    """``sacctmgr -P show reservation Start=... format=Name,Start,End,NodeNames,Flags``, with the header of Slurm 22.05."""
    text = """Name|TimeStart|TimeEnd|NodeName|Flags
maint1|2026-11-27T18:07:17|2026-11-27T18:11:17|n[1-2]|MAINT,SPEC_NODES
course|2026-11-27T20:00:00|2026-11-27T21:00:00|n2|DAILY
"""
    site = site_of(file, "res.txt", text)
    maint, course = site.reservations
    assert (maint.name, maint.nodes, maint.duration, maint.flags) == ("maint1", ("n1", "n2"), 240, ("maint",))
    assert (course.nodes, course.flags) == (("n2",), ("daily",))
    assert site.not_modelled == ("who may use the reservation course (sacctmgr does not print it)",)
    assert site.faults() == []


def test_what_a_site_does_not_have_any_more_is_left_out_of_its_reservations_and_told(file: Writer) -> None:
    """So that the site.toml that is written of them is one that is read."""
    text = """Name|TimeStart|TimeEnd|NodeNames|Flags
some|2026-11-27T18:07:17|2026-11-27T18:11:17|n[1-2,7-9]|MAINT,NEW_FLAG,PURGE_COMP=00:05:00
none|2026-11-27T20:00:00|2026-11-27T21:00:00|n9|MAINT
"""
    site = site_of(file, "res.txt", text)
    [some] = site.reservations
    assert (some.nodes, some.flags) == (("n1", "n2"), ("maint", "purge_comp=00:05:00"))
    assert set(site.not_modelled) == {
        "the flag NEW_FLAG of the reservation some",
        "nodes of the reservation some that the site does not have: n7, n8, n9",
        "the reservation none (it was on n9, which the site does not have)",
    }
    path = file("site.toml", site_text(site))
    assert read_site(path) == site


def test_commands_of_a_script(file: Writer) -> None:
    site = site_of(
        file,
        "sacctmgr.script",
        """# QOS
remove QOS where Name=normal
sacctmgr -i add QOS Name=fast,slow Priority=7 MaxJobs=2 MaxSubmitJobsPerUser=20 Flags=DenyOnLimit
modify QOS set fast Priority=9
add cluster Name=lab Fairshare=1 QOS=slow
add account name=chem,bio Fairshare=100 Description="all of them"
add account lab1 parent=chem MaxWall=2:00:00
add user name=ann,bob DefaultAccount=chem Fairshare=parent
add user cal Account=lab1 Partition=p
modify user where name=ann set qos+=fast GrpTRES=cpu=8
modify account name=bio set GrpJobs=5
modify user set MaxJobs=1
delete account name=bio
list associations
""",
    )
    assert [(q.name, q.priority, q.limits, q.flags) for q in site.qos] == [
        ("fast", 9, Limits(max_jobs_per_user=2, max_submit_per_user=20), ("denyonlimit",)),
        ("slow", 7, Limits(max_jobs_per_user=2, max_submit_per_user=20), ("denyonlimit",)),
    ]
    assert [(a.label, a.parent, a.shares) for a in site.associations] == [
        ("account root", "", 1),
        ("account chem", "root", 100),
        ("account lab1", "chem", 1),
        ("user ann of account chem", "", "parent"),
        ("user bob of account chem", "", "parent"),
        ("user cal of account lab1 in partition p", "", 1),
    ]
    ann = site.association("chem", "ann")
    assert ann is not None and ann.qos == ("fast",) and ann.limits == Limits(grp_tres={"cpu": 8}, max_jobs=1)
    cal = site.effective("lab1", "cal", "p")
    assert cal is not None and (cal.qos, cal.limits.max_wall, cal.limits.max_jobs) == (("slow",), 7200, 1)


def test_events_of_nodes(file: Writer) -> None:
    """Ends of outages are before new ones of the same second; an outage without length lasts a second."""
    text = """Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
lab||2026-01-01T00:00:00|Unknown||Cluster Registered TRES|
lab|n1|1970-01-01T00:01:00|1970-01-01T00:02:00|DOWN*|power|root(0)
lab|n1|1970-01-01T00:02:00|1970-01-01T00:02:00|DOWN|power|root(0)
lab|n2|1970-01-01T00:01:00|Unknown|DRAIN|fan|root(0)
"""
    assert site_of(file, "events.txt", text).events == (
        NodeEvent(60, "node-down", ("n1",)),
        NodeEvent(60, "node-drain", ("n2",)),
        NodeEvent(120, "node-up", ("n1",)),
        NodeEvent(120, "node-down", ("n1",)),
        NodeEvent(121, "node-up", ("n1",)),
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dump.cfg", "Cluster - 'lab'\nAcount - 'a':Fairshare=1\n", "dump.cfg, line 2: \"Acount - 'a'"),
        (
            "dump.cfg",
            "Cluster - 'lab'\nAccount - 'a':Fairshare=much\n",
            "line 2: Fairshare is 'much'; expected a whole",
        ),
        (
            "dump.cfg",
            "Cluster - 'lab'\nAccount - 'a':GrpTRES=cpu\n",
            "line 2: GrpTRES is 'cpu'; expected names and amounts",
        ),
        ("qos.txt", "Name|Priority|UsageFactor\na|1\n", "qos.txt, line 2: the row has 2 cells; expected 3"),
        ("qos.txt", "Name|Priority|UsageFactor\na|x|1\n", "line 2: Priority is 'x'"),
        ("s.txt", "add qos a\nadd user u\n", "line 2: Account is missing"),
        ("s.txt", "add qos a\nadd colour b\n", "line 2: 'add colour b'; expected add, modify or remove"),
        ("s.txt", "add qos a\nadd qos 'b\n", "line 2: \"add qos 'b"),
        ("e.txt", "NodeName|TimeStart|TimeEnd|State\nn1|noon|Unknown|DOWN\n", "line 2: TimeStart is 'noon'"),
    ],
)
def test_faulty_lines_are_named(file: Writer, name: str, text: str, message: str) -> None:
    with pytest.raises(SiteError) as e:
        site_of(file, name, text)
    assert message in str(e.value)


@pytest.mark.skipif(not LOGS.is_dir(), reason="the data of developers are missing")
def test_the_scripts_of_the_tutorials() -> None:
    site = read_site(LOGS / "medium_slurm.conf", LOGS / "medium_sacctmgr.script")
    accounts = [a for a in site.associations if not a.user]
    assert len(accounts) == 63 and len({a.user for a in site.associations if a.user}) == 96
    assert {q.name: q.priority for q in site.qos} == {
        "general-compute": 0,
        "supporters": 200,
        "priority": 200,
        "priority-supporters": 400,
        "debug": 0,
    }
    user = site.association("account048", "user065")
    assert user is not None and user.shares == "parent" and user.qos == ("priority", "debug", "general-compute")
    assert site.faults() == [] and site.not_modelled == ("TopologyPlugin=topology/tree",)


@pytest.mark.skipif(not LAB.is_dir(), reason="the data of developers are missing")
def test_the_accounts_of_the_lab() -> None:
    site = read_site(LAB / "full")
    assert [(a.account, a.user, a.parent, a.shares) for a in site.associations if a.account != "root"] == [
        ("chem", "", "root", 40),
        ("physics", "", "root", 60),
        ("chem", "dia", "", 10),
        ("chem", "eva", "", 10),
        ("chem", "fay", "", 10),
        ("astro", "", "physics", 30),
        ("solid", "", "physics", 70),
        ("astro", "ana", "", 10),
        ("solid", "ben", "", 10),
        ("solid", "cem", "", 10),
    ]
    limits = {a.label: a.limits for a in site.associations if a.limits}
    assert limits == {
        "account chem": Limits(grp_tres={"cpu": 112}),
        "user fay of account chem": Limits(grp_tres={"cpu": 48}),
    }
    assert {q.name: (q.priority, q.limits) for q in site.qos} == {
        "normal": (10, Limits()),
        "high": (100, Limits()),
        "limited": (5, Limits(max_jobs_per_user=3, max_tres_per_user={"cpu": 32})),
    }
