"""Priorities: fair shares, decay, and the factors of a job."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab.models import QOS, Association, Gres, Partition, SiteNode
from schedlab.simulation.slurm import JobPriorities, SlurmState
from schedlab.simulation.slurm.priority import FairShare, TreeNode
from simulation.slurm.small_slurm import job, settings, site


def tree(usage: dict[int, float], fair_tree: bool = True) -> FairShare:
    """Return a tree of root, A (60: ana 10, ben 30) and B (40: cem 10, dia 10), with usage by index of the user."""
    nodes = [
        TreeNode(-1, 1, False), TreeNode(0, 60, False), TreeNode(0, 40, False), TreeNode(1, 10, True), TreeNode(1, 30, True),
        TreeNode(2, 10, True), TreeNode(2, 10, True),
    ]  # fmt: skip
    shares = FairShare(nodes, half_life=100, fair_tree=fair_tree)
    for k, amount in usage.items():
        shares.use(k, amount)
    shares.rank()
    return shares


def test_fair_tree_ranks_the_children_of_the_better_account_first() -> None:
    # A has 60 % of the shares and 50 % of the usage, B 40 % and 50 %: all of A come before all of B.
    # In A, ana: 1/4 of the shares, 40 % of the usage; ben: 3/4 and 60 %. In B, cem used less than dia.
    factor = tree({3: 20, 4: 30, 5: 10, 6: 40}).factor
    assert factor[3:].tolist() == [0.75, 1.0, 0.5, 0.25]


def test_fair_tree_users_with_equal_level_have_equal_ranks() -> None:
    factor = tree({3: 10, 4: 30, 5: 5, 6: 5}).factor  # A is over-served: 40 of 50 with 60 %
    assert factor[3:].tolist() == [0.5, 0.5, 1.0, 1.0]


def test_without_usage_all_are_first() -> None:
    assert tree({}).factor[3:].tolist() == [1.0] * 4


def test_classic_fair_share() -> None:
    # The share of ana is 0.6 * 0.25. A's usage is 0.5, ana's 0.2; effective 0.2 + (0.5 - 0.2) * 0.25.
    factor = tree({3: 20, 4: 30, 5: 10, 6: 40}, fair_tree=False).factor
    assert factor[3] == pytest.approx(2 ** -((0.2 + 0.3 * 0.25) / 0.15))


@given(st.lists(st.floats(0, 1e6), min_size=4, max_size=4))
def test_ranks_are_shares_of_the_number_of_users(usage: list[float]) -> None:
    factor = tree(dict(zip(range(3, 7), usage, strict=True))).factor[3:]
    assert set(factor) <= {0.25, 0.5, 0.75, 1.0}
    assert factor.max() == 1


def test_usage_is_half_after_the_half_life() -> None:
    shares = FairShare([TreeNode(-1, 1, False), TreeNode(0, 1, True)], half_life=1000, fair_tree=True)
    shares.use(1, 80.0)
    shares.decay(1000)
    assert shares.usage[1] == pytest.approx(40, rel=1e-3)
    assert shares.usage[0] == shares.usage[1]


def priorities(**others: Any) -> JobPriorities:
    """Return the priorities of one job of 8 CPUs on a site of 4 x 4 CPUs."""
    place = site(
        parts=[Partition("p", ("n1",), job_factor=5), Partition("q", ("n1",), job_factor=10)],
        qos=[QOS("normal", 10), QOS("high", 40)],
        associations=[Association("root"), Association("chem", parent="root"), Association("chem", "ana")],
        scheduler=settings(
            priority_type="multifactor", weight_age=1000, weight_fairshare=10_000, weight_job_size=400, weight_partition=100,
            weight_qos=2000, max_age=100, calc_period=60, decay_half_life=600, **others,
        ),
    )  # fmt: skip
    one = job(1, 8, account="chem", qos="normal", partitions=("p", "q"), nice=7)
    return JobPriorities(place, [one], np.array([8]), np.array([2]), begin=0)


def test_multifactor() -> None:
    p = priorities()
    p.eligible(0, 10)
    p.submitted(0, 60)
    assert p.parts["age"][0] == 500  # 50 of 100 s
    assert p.parts["fairshare"][0] == 10_000  # the only user
    assert p.parts["size"][0] == 400 * (2 / 4 + 8 / 16) / 2
    assert p.parts["qos"][0] == 500  # 10 of the greatest, 40
    assert p.priority[0].tolist() == [500 + 10_000 + 200 + 500 + 50 - 7, 500 + 10_000 + 200 + 500 + 100 - 7]


def test_small_jobs_may_be_favoured() -> None:
    p = priorities(favor_small=True)
    assert p.size_factor(0) == 1 - (2 / 4 + 8 / 16) / 2


def test_the_age_has_a_greatest_value() -> None:
    p = priorities()
    p.eligible(0, 0)
    assert [p.age_factor(0, now) for now in (0, 50, 100, 1000)] == [0, 0.5, 1, 1]
    p.eligible(0, None)
    assert p.age_factor(0, 1000) == 0


def test_usage_of_running_jobs_is_counted_at_updates_and_at_the_end() -> None:
    p = priorities()
    p.started(0, 30, 8.0)
    p.update(60, [])
    assert p.shares.usage[2] == pytest.approx(30 * 8 * p.shares.per_second**30)
    before = float(p.shares.usage[2])
    p.ended(0, 70)
    assert p.shares.usage[2] == pytest.approx(before + 10 * 8 * p.shares.per_second**10)
    assert p.next_update == 120


def test_the_classic_fair_share_has_the_usage_of_accounts_from_before_an_update() -> None:
    """Of the users it has the usage when they are first needed: ben's job stands before the running one in the list of jobs."""
    place = site(
        associations=[
            Association("root"), Association("a", parent="root"), Association("b", parent="root"), Association("a", "ana"),
            Association("a", "ben"), Association("b", "cem"),
        ],
        scheduler=settings(
            priority_type="multifactor", weight_fairshare=1000, calc_period=60, priority_flags=("no_fair_tree",)
        ),
    )  # fmt: skip
    owners = [("ben", "a"), ("ana", "a"), ("ben", "a"), ("cem", "b")]
    jobs = [job(k, user=user, account=account) for k, (user, account) in enumerate(owners)]
    p = JobPriorities(place, jobs, np.ones(4, np.int64), np.ones(4, np.int64), begin=0)
    p.started(1, 0, 1.0)
    p.update(60, [0, 2, 3])
    assert p.priority[:, 0].tolist()[0] == 1000  # no usage was known
    p.update(120, [0, 2, 3])  # before it, account a has used all; ben nothing: half of what a has used counts for him
    assert p.priority[[0, 2], 0].tolist() == [int(1000 * 2 ** -(0.5 / 0.25))] * 2
    assert p.priority[3, 0] == 1000
    late = JobPriorities(place, jobs, np.ones(4, np.int64), np.ones(4, np.int64), begin=0)
    late.started(1, 0, 1.0)
    late.update(60, [2, 3])  # ben is needed after the running job was counted; a's usage is still that from before
    assert late.priority[2, 0] == 1000


def test_depth_oblivious_fair_share() -> None:
    # A has 60 % of the shares and 75 % of the usage; ana's share is 1/4 of it, her usage 1/3 of that of A.
    nodes = [
        TreeNode(-1, 1, False), TreeNode(0, 60, False), TreeNode(0, 40, False), TreeNode(1, 10, True), TreeNode(1, 30, True),
        TreeNode(2, 10, True),
    ]  # fmt: skip
    shares = FairShare(nodes, half_life=0, fair_tree=False, depth_oblivious=True)
    for k, amount in {3: 25, 4: 50, 5: 25}.items():
        shares.use(k, amount)
    shares.rank()
    assert shares.factor[3] == pytest.approx(
        2 ** -((0.75 / 0.6) * ((0.25 / 0.15) / (0.25 / 0.6)))
    )  # ben's is not yet known
    shares.rank()
    assert shares.factor[3] == pytest.approx(2 ** -((0.75 / 0.6) * ((0.25 / 0.15) / (0.75 / 0.6))))
    below = 1 / (1 + (5 * np.log(0.75 / 0.6)) ** 2)  # ben has used less than his share of A: it counts less
    assert shares.factor[4] == pytest.approx(2 ** -((0.75 / 0.6) * ((0.5 / 0.45) / (0.75 / 0.6)) ** below))


def test_age_from_the_submission_with_accrue_always() -> None:
    p = priorities(priority_flags=("accrue_always",))
    p.eligible(0, 40)
    assert p.age_factor(0, 50) == 0.5


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), 100 * 2 / 8 + 1000 * 1 / 2),
        (("no_normal_tres",), 100 * 2 + 1000 * 1),
    ],
)
def test_the_weights_of_resources(flags: tuple[str, ...], expected: float) -> None:
    machine = [SiteNode(f"n{k}", 4, gpus={"a100": 1}) for k in (1, 2)]
    place = site(
        nodes=2, machine=machine,
        scheduler=settings(
            priority_type="multifactor", weight_tres={"cpu": 100.0, "gres/gpu": 1000.0}, priority_flags=flags
        ),
    )  # fmt: skip
    state = SlurmState(place, [job(1, 2, gres=(Gres("gpu", "a100", 1, "node"),))], 0, 100)
    state.submit(0, 0)
    assert state.priorities.priority[0, 0] == expected


def test_a_job_of_whole_nodes_counts_the_cpus_that_it_asked_for_in_the_weights_of_resources() -> None:
    scheduler = settings(priority_type="multifactor", weight_tres={"cpu": 160.0}, weight_job_size=1600)
    state = SlurmState(site(scheduler=scheduler), [job(1, 2, min_nodes=2, max_nodes=2, exclusive="node")], 0, 100)
    state.submit(0, 0)
    assert state.priorities.priority[0, 0] == 160 * 2 / 16 + 1600 * (2 / 4 + 8 / 16) / 2


@pytest.mark.parametrize(("flags", "usage"), [((), 2 * 1 + 1 * 8), (("max_tres",), 8)])
def test_usage_counts_the_billing_of_the_partition(flags: tuple[str, ...], usage: float) -> None:
    parts = [Partition("p", ("n1",), default=True, billing_weights={"cpu": 1.0, "gres/gpu": 8.0})]
    place = site(
        parts=parts, machine=[SiteNode("n1", 4, gpus={"a100": 1})],
        associations=[Association("root"), Association("chem", parent="root"), Association("chem", "ana")],
        scheduler=settings(priority_type="multifactor", weight_fairshare=1, priority_flags=flags, decay_half_life=0),
    )  # fmt: skip
    state = SlurmState(place, [job(1, 2, account="chem", gres=(Gres("gpu", "", 1, "node"),))], 0, 100)
    state.submit(0, 0)
    assert len(state.main(0)) == 1
    state.end(0, 10)
    assert state.priorities.shares.usage[0] == 10 * usage
    assert state.priorities.billings(np.array([2.0])).tolist() == [usage]


def test_basic_priorities_are_in_the_order_of_submission() -> None:
    place = site()
    jobs = [job(k) for k in (1, 2, 3)]
    p = JobPriorities(place, jobs, np.ones(3, np.int64), np.ones(3, np.int64), begin=0)
    for k in (2, 0, 1):
        p.submitted(k, 0)
    assert p.priority[2, 0] > p.priority[0, 0] > p.priority[1, 0]
    before = p.priority[2, 0]
    p.submitted(2, 100)  # it comes back after a failure of its node
    assert p.priority[2, 0] == before
