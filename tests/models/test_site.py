"""Sites: nodes as a platform, partitions, accounts and what they inherit, references that lead nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab.instances.formats import hosts_of
from schedlab.models import (
    QOS,
    Association,
    Licence,
    Limits,
    NodeEvent,
    Partition,
    PBSSettings,
    ProblemError,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteReservation,
    in_ranges,
)

THIN = [SiteNode(f"n{k}", 16, memory=32_000, weight=10) for k in range(1, 5)]
FAT = [SiteNode(f"g{k}", 32, 2, 64_000, gpus={"a100": 2, "": 1}, gres={"shard": 8}) for k in (1, 2)]


def test_nodes_of_one_kind_are_a_group_of_the_platform() -> None:
    site = Site("s", [*THIN, *FAT], [Partition("debug", ("n1", "n2"))])
    platform = site.platform()
    assert [(g.name, g.nodes) for g in platform.groups] == [
        ("n[1-2]", ("n1", "n2")),
        ("n[3-4]", ("n3", "n4")),
        ("g[1-2]", ("g1", "g2")),
    ]
    assert platform.groups[0].capacity == {"cores": 16, "memory": 32_000}
    assert platform.groups[2].capacity == {"cores": 64, "memory": 64_000, "gpus": 3, "gpus a100": 2, "shard": 8}


def test_memory_is_a_resource_only_if_that_of_all_nodes_is_known() -> None:
    site = Site("s", [SiteNode("a", 4, memory=8), SiteNode("b", 4)])
    assert site.platform().resources == ("cores",)
    assert site.faults() == ["1 node without memory, which others have: b"]


def test_nodes_that_do_not_exist_yet_are_no_part_of_the_platform() -> None:
    site = Site("s", [SiteNode("a", 4, state="down"), SiteNode("b", 4, state="future")])
    assert site.platform().nodes == ("a",)
    with pytest.raises(ProblemError, match="has no nodes"):
        Site("s", [SiteNode("b", 4, state="future")]).platform()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SiteNode("a", -1), "node 'a': cores is -1"),
        (lambda: SiteNode("a", None), "node 'a': cores is None"),  # type: ignore[arg-type]
        (lambda: SiteNode("a", 1, threads=0), "threads is 0; at least 1"),
        (lambda: SiteNode("a", 1, state="donw"), "did you mean down"),
        (lambda: SiteNode("a", 1, gpus={"v100": -1}), "gpus of 'v100' is -1"),
        (lambda: Partition("p", max_time=-5), "partition 'p': max_time is -5"),
        (lambda: Partition("p", state="open"), "state is 'open'"),
        (lambda: Partition("p", oversubscribe="yes:x"), "expected no, exclusive, yes:N or force:N"),
        (lambda: Limits(max_jobs=-1), "max_jobs is -1"),
        (lambda: Limits(grp_tres={"cpu": -1}), "grp_tres of 'cpu' is -1"),
        (lambda: Association("a", shares=-2), "account a: shares is -2"),
        (lambda: Licence("x", -1), "licence 'x': total is -1"),
        (lambda: QOS("q", priority=-1), "QOS 'q': priority is -1"),
        (lambda: SiteReservation("r", 0, -1), "reservation 'r': duration is -1"),
        (lambda: Site("s", [SiteNode("a", 1), SiteNode("a", 2)]), "the node 'a' is given 2 times"),
        (lambda: Site("s", associations=[Association("a")] * 2), "the association 'account a' is given 2 times"),
    ],
)
def test_wrong_values_are_named(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ProblemError, match=message):
        make()


def test_unknown_names_have_similar_ones() -> None:
    site = Site("s", THIN, [Partition("batch")], [QOS("normal")])
    for find, name, near in (
        (site.partition, "bach", "batch"),
        (site.node, "n11", "n1"),
        (site.quality, "norml", "normal"),
    ):
        with pytest.raises(LookupError, match=f"did you mean .*{near}"):
            find(name)


def test_who_may_use_a_partition() -> None:
    gpu = Partition("gpu", allow_qos=("high",), allow_accounts=("a",), deny_accounts=("b",), allow_groups=("staff",))
    assert gpu.allows("a", "high", ["staff", "users"]) == ""
    assert gpu.allows("b", "high") == "the account b is not allowed"
    assert gpu.allows("a", "low") == "the QOS low is not allowed"
    assert gpu.allows("a", "high", ["users"]) == "none of the groups users is allowed"
    assert Partition("p", deny_qos=("low",)).allows("", "low") == "the QOS low is denied"


def test_inheritance_of_limits_and_qos() -> None:
    """Slurm: limits of each job and user are inherited where they are not set, each resource alone; group limits are not."""
    site = Site(
        "s",
        associations=[
            Association("root", qos=("normal",), limits=Limits(max_wall=3600, max_tres_per_job={"cpu": 64, "node": 4})),
            Association("a", parent="root", default_qos="normal", priority=7, limits=Limits(grp_jobs=9, max_jobs=5)),
            Association("a", "u", limits=Limits(max_tres_per_job={"cpu": 16})),
            Association("a", "u", "debug", limits=Limits(max_jobs=1)),
        ],
    )
    user = site.effective("a", "u")
    assert user is not None
    assert (user.qos, user.default_qos, user.priority) == (("normal",), "normal", 7)
    assert user.limits == Limits(max_wall=3600, max_jobs=5, max_tres_per_job={"cpu": 16, "node": 4})
    in_debug = site.effective("a", "u", "debug")
    assert in_debug is not None and in_debug.limits.max_jobs == 1
    assert [a.label for a in site.ancestors("a", "u", "debug")] == [
        "user u of account a in partition debug",
        "account a",
        "account root",
    ]
    assert site.effective("b") is None and site.ancestors("b", "u") == ()


def test_faults_of_references() -> None:
    site = Site(
        "s",
        THIN,
        [
            Partition(
                "p", ("n1", "x"), qos="fast", allow_accounts=("chem",), max_time=60, default_time=90, default=True
            ),
            Partition("q", min_nodes=4, max_nodes=2, default=True),
        ],
        [QOS("normal", preempt=("low",))],
        [
            Association("root"),
            Association("phys", parent="rot"),
            Association("bio", "u", "debug", qos=("norml",)),
            Association("x", parent="y"),
            Association("y", parent="x"),
        ],
        [Licence("matlab", 1)],
        [SiteReservation("r", 0, 1, ("n9",), partition="r", licences={"matlb": 1})],
        events=[NodeEvent(0, "node-down", ("n8",))],
    )
    text = "\n".join(site.faults())
    for part in (
        "partition p: there is no node 'x'",
        "partition p: there is no QOS 'fast'",
        "partition p: there is no account 'chem'",
        "the default time of 90 s is above the greatest, 60 s",
        "partition q: the least number of nodes, 4, is above the greatest, 2",
        "p, q are default partitions",
        "account phys: there is no account 'rot', its parent; did you mean root?",
        "user u of account bio in partition debug: there is no account 'bio'",
        "there is no partition 'debug'",
        "there is no QOS 'norml'; did you mean normal?",
        "account x: it is above itself",
        "QOS normal: there is no QOS 'low'",
        "reservation r: there is no node 'n9'",
        "reservation r: there is no partition 'r'",
        "reservation r: there is no licence 'matlb'; did you mean matlab?",
        "events of nodes: there is no node 'n8'",
    ):
        assert part in text, part


def test_what_the_settings_say() -> None:
    settings = SchedulerSettings(accounting_enforce=("associations", "limits", "qos"), priority_flags=("no_fair_tree",))
    assert settings.enforces_associations and settings.enforces_limits and settings.enforces_qos
    assert not settings.fair_tree and not settings.counts_memory
    assert not SchedulerSettings(priority_flags=("depth_oblivious",)).fair_tree
    assert not SchedulerSettings().enforces_associations
    assert SchedulerSettings(select_parameters=("cr_cpu_memory",)).counts_memory
    assert PBSSettings().by_queue


@st.composite
def lists_of_names(draw: st.DrawFn) -> list[str]:
    heads = st.sampled_from(["n", "rack-1-n", "x2y", "", "b_"])
    tails = st.sampled_from(["", "-ib", ".site"])
    numbers = st.integers(0, 120).map(str) | st.integers(0, 120).map("{:03d}".format)
    plain = st.sampled_from(["login", "fe-a"])
    name = st.builds("{}{}{}".format, heads, numbers, tails) | plain
    return draw(st.lists(name, min_size=1, max_size=30))


@given(lists_of_names())
def test_ranges_have_the_names_that_they_were_made_of(names: list[str]) -> None:
    assert hosts_of(in_ranges(names)) == names


@given(st.integers(0, 200), st.integers(1, 60))
def test_a_run_of_numbers_is_one_range(first: int, length: int) -> None:
    names = [f"n{k}" for k in range(first, first + length)]
    expected = f"n{first}" if length == 1 else f"n[{first}-{first + length - 1}]"
    assert in_ranges(names) == expected


def test_limits_name_resources_and_settings_have_least_values():
    with pytest.raises(ProblemError, match="grp_tres has 'cpuu', which is no resource; did you mean cpu"):
        Limits(grp_tres={"cpuu": 1})
    with pytest.raises(ProblemError, match="bf_interval is -2; expected at least 1"):
        SchedulerSettings(bf_interval=-2)
    assert SchedulerSettings(sched_interval=-1).sched_interval == -1


def test_users_and_accounts_of_a_reservation_that_the_site_does_not_have_are_faults() -> None:
    booked = SiteReservation("r", 0, 60, users=("evaa", "-ana", "root"), accounts=("chme", "-Chem", "root"))
    people = [
        Association("root"),
        Association("chem", parent="root"),
        *(Association("chem", u) for u in ("ana", "eva")),
    ]
    assert Site("s", associations=people, reservations=[booked]).faults() == [
        "reservation r: there is no user 'evaa'; did you mean eva or ana?",
        "reservation r: there is no account 'chme'; did you mean chem?",
    ]
    assert Site("s", reservations=[booked]).faults() == []  # nobody knows them
