"""Changes of a site: each form with its result, and what cannot be changed."""

import pytest
from schedlab.instances.sites.changes import WrongChange, parse_change, with_changes
from schedlab.models import QOS, Association, Licence, Limits, NodeEvent, Partition, Site, SiteNode, SiteReservation

NODES = [SiteNode(f"n{k}", 16, memory=32_000, weight=k) for k in range(1, 11)]
ALL = tuple(node.name for node in NODES)
SITE = Site(
    "lab",
    NODES,
    [
        Partition("batch", ALL[:8], max_time=3600),
        Partition("debug", ALL[:2], allow_qos=("high",)),
        Partition("all", ALL),
    ],
    [QOS("high", 100), QOS("limited", 5, Limits(max_jobs_per_user=3, max_tres_per_user={"cpu": 32}))],
    [
        Association("root"),
        Association("chem", parent="root", limits=Limits(grp_tres={"cpu": 112, "node": 9})),
        Association("bio", parent="root"),
        Association("chem", "eva", shares=10),
        Association("bio", "eva", shares=20),
    ],
    [Licence("matlab", 20)],
    [SiteReservation("maint", 1_000_000, 3600, nodes=("n8", "n9"), flags=("maint",))],
    events=[NodeEvent(900_000, "node-down", ("n8",))],
)


def test_nodes_are_added_to_and_taken_from_a_partition():
    assert with_changes(SITE, ["partition.debug.nodes += n[3-4]"]).partition("debug").nodes == ("n1", "n2", "n3", "n4")
    moved = with_changes(SITE, ["partition.debug.nodes += n3", "partition.batch.nodes -= n3"])
    assert "n3" in moved.partition("debug").nodes and "n3" not in moved.partition("batch").nodes
    assert with_changes(SITE, ["partition.debug.nodes = ALL"]).partition("debug").nodes == ALL


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("qos.limited.MaxJobsPerUser = 6", 6),
        ("qos.limited.maxjobspu=6", 6),
        ("qos.limited.max_jobs_per_user += 2", 5),
        ("qos.limited.MaxJobsPerUser * 3", 9),
        ("qos.limited.MaxJobsPerUser -= 1", 2),
        ("qos.limited.MaxJobsPerUser =", None),
        ("qos.limited.MaxJobsPerUser = -1", None),
    ],
)
def test_a_limit_of_a_qos(text, value):
    limits = with_changes(SITE, [text]).quality("limited").limits
    assert limits.max_jobs_per_user == value and limits.max_tres_per_user == {"cpu": 32}


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("account.chem.GrpTRES = cpu=200", {"cpu": 200}),
        ("account.chem.GrpTRES += cpu=8,node=1", {"cpu": 120, "node": 10}),
        ("account.chem.GrpTRES -= cpu=100", {"cpu": 12, "node": 9}),
        ("account.chem.GrpTRES = none", {}),
    ],
)
def test_amounts_of_an_account(text, amounts):
    assert with_changes(SITE, [text]).association("chem").limits.grp_tres == amounts


def test_a_user_is_changed_in_all_accounts_or_in_one():
    shares = [a.shares for a in with_changes(SITE, ["user.eva.FairShare * 2"]).associations if a.user]
    assert shares == [20, 40]
    shares = [a.shares for a in with_changes(SITE, ["user.bio/eva.FairShare = 5"]).associations if a.user]
    assert shares == [10, 5]


def test_times_settings_licences_and_nodes():
    assert with_changes(SITE, ["partition.batch.MaxTime = 1-00:00"]).partition("batch").max_time == 86_400
    assert with_changes(SITE, ["partition.batch.MaxTime * 2"]).partition("batch").max_time == 7200
    assert with_changes(SITE, ["scheduler.bf_interval = 60"]).scheduler.bf_interval == 60
    assert with_changes(SITE, ["scheduler.bf_window = 60"]).scheduler.bf_window == 3600  # minutes, as in slurm.conf
    assert with_changes(SITE, ["scheduler.bf_continue = yes"]).scheduler.bf_continue is True
    assert with_changes(SITE, ["scheduler.PriorityWeightAge = 500"]).scheduler.weight_age == 500
    assert with_changes(SITE, ["licence.matlab += 5"]).licences == (Licence("matlab", 25),)
    changed = with_changes(SITE, ["node.n[1-2].RealMemory = 64G"])
    assert [n.memory for n in changed.nodes[:3]] == [65_536, 65_536, 32_000]
    assert with_changes(SITE, ["partition.debug.AllowQos += limited"]).partition("debug").allow_qos == (
        "high",
        "limited",
    )


def test_more_nodes_are_copies_in_all_partitions_of_their_originals():
    more = with_changes(SITE, ["nodes.batch * 1.25"])
    assert more.partition("batch").nodes == (*ALL[:8], "batch-new1", "batch-new2")
    assert more.partition("debug").nodes[2:] == more.partition("all").nodes[10:] == ("batch-new1", "batch-new2")
    assert more.node("batch-new2").weight == 2 and more.platform().total("cores") == 12 * 16
    assert len(with_changes(more, ["nodes.batch + 1"]).nodes) == 13


def test_fewer_nodes_leave_all_that_names_them():
    fewer = with_changes(SITE, ["nodes.batch - 2"])
    assert [n.name for n in fewer.nodes] == ["n1", "n2", "n3", "n4", "n5", "n6", "n9", "n10"]
    assert fewer.partition("all").nodes[-2:] == ("n9", "n10") and fewer.reservations[0].nodes == ("n9",)
    assert fewer.events == () and fewer.faults() == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("more nodes", "expected a change such as"),
        ("partition.debg.nodes += n3", "did you mean debug"),
        ("machine.x.y = 3", "expected"),
        ("qos.limited = 3", "expected a name and a field"),
        ("qos.limited.Speed = 3", "has no field 'Speed'"),
        ("partition.debug.nodes += n99", "there is no node 'n99'"),
        ("partition.debug.nodes -= n7", "does not have 'n7'"),
        ("partition.batch.MaxTime = soon", "'soon'"),
        ("scheduler.bf_interval = x", "whole number"),
        ("scheduler.bf_interval -= 90", "cannot be taken from it"),
        ("nodes.batch - 20", "the number of nodes is 8; 20 cannot be taken from it"),
        ("scheduler.PriorityWeigthAge = 3", "did you mean PriorityWeightAge?"),
        ("scheduler.bf_intervall = 3", "did you mean bf_interval"),
        ("account.chem.GrpTRS = cpu=3", "did you mean GrpTRES?"),
        ("qos.limited.max_jobs_per_usr = 3", "did you mean max_jobs_per_user"),
        ("nodes.debug * 0", "at least 1 is expected"),
        ("nodes.debug * fast", "'fast'"),
        ("qos.high.MaxJobsPerUser += 3", "not limited"),
        ("qos.limited.MaxJobsPerUser = 3", "changes nothing"),
        ("account.chem.GrpTRES += mem=3", "does not limit mem"),
        ("user.eve.GrpTRES = cpu=3", "did you mean eva"),
        ("user.chem/ana.GrpTRES = cpu=3", "of account 'chem'"),
        ("licence.maple = 3", "there is no licence 'maple'"),
        ("partition.debug.AllowQos += fast", "there is no QOS 'fast'"),
        ("partition.debug.state * 2", "is no number"),
        ("node.n77.weight = 3", "there is no node 'n77'"),
    ],
)
def test_what_cannot_be_changed_is_told_with_the_change(text, told):
    with pytest.raises(WrongChange) as raised:
        with_changes(SITE, [text])
    assert told in str(raised.value) and repr(text) in str(raised.value)


def test_a_site_is_not_changed_itself():
    before = SITE.partition("debug").nodes
    with_changes(SITE, [parse_change("partition.debug.nodes += n[3-4]"), "nodes.batch * 2"])
    assert SITE.partition("debug").nodes == before and len(SITE.nodes) == 10


@pytest.mark.parametrize(("text", "seconds"), [("45", 45), ("0", 30), ("20000", 30), ("-1", 365 * 86_400)])
def test_intervals_of_backfilling_are_those_that_slurm_takes(text: str, seconds: int) -> None:
    assert (
        with_changes(SITE, ["scheduler.bf_interval = 60", f"scheduler.bf_interval = {text}"]).scheduler.bf_interval
        == seconds
    )
