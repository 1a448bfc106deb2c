"""Limits of associations and QOS, and what holds a job."""

from __future__ import annotations

from typing import Any

import pytest
from schedlab.models import QOS, Association, Dependency, Licence, Limits, Partition, Site
from simulation.slurm.small_slurm import job, ran, settings, site, started, state_with

ENFORCED = settings(accounting_enforce=("associations", "limits", "qos"))


def limited(
    account: Limits | None = None, user: Limits | None = None, qos: Limits | None = None, **others: Any
) -> Site:
    """Return a site of 4 x 4 CPUs in which ana, of chem below science, and the QOS normal are limited."""
    tree = [
        Association("root"), Association("science", parent="root", limits=account or Limits()),
        Association("chem", parent="science"), Association("chem", "ana", limits=user or Limits()), Association("chem", "ben"),
    ]  # fmt: skip
    return site(associations=tree, qos=[QOS("normal", 1, qos or Limits())], scheduler=ENFORCED, **others)


def ask(place: Site) -> tuple[dict[str, tuple[str, ...]], str]:
    """Return what starts of three jobs of ana with 3 CPUs and one of ben, and why the third one waits."""
    of_chem = {"account": "chem", "qos": "normal"}
    waiting = [job(k, 3, **of_chem) for k in (1, 2, 3)] + [job(4, 3, user="ben", **of_chem)]
    state = state_with(place, waiting)
    return started(state), state.reason(2)


@pytest.mark.parametrize(
    ("limits", "starts", "reason"),
    [
        ({"account": Limits(grp_tres={"cpu": 6})}, "12", "AssocGrpCpuLimit"),
        ({"account": Limits(grp_jobs=2)}, "12", "AssocGrpJobsLimit"),
        ({"account": Limits(grp_tres={"node": 2})}, "12", "AssocGrpNodeLimit"),
        ({"account": Limits(grp_tres_run_mins={"cpu": 6})}, "12", "AssocGrpCPURunMinutesLimit"),
        ({"user": Limits(grp_tres={"cpu": 7})}, "124", "AssocGrpCpuLimit"),
        ({"user": Limits(max_jobs=2)}, "124", "AssocMaxJobsLimit"),
        ({"qos": Limits(max_jobs_per_user=2)}, "124", "QOSMaxJobsPerUserLimit"),
        ({"qos": Limits(max_tres_per_user={"cpu": 6})}, "124", "QOSMaxCpuPerUserLimit"),
        ({"qos": Limits(max_jobs_per_account=2)}, "12", "MaxJobsPerAccount"),
        ({"qos": Limits(grp_tres={"cpu": 6})}, "12", "QOSGrpCpuLimit"),
        ({"qos": Limits(max_tres_per_job={"cpu": 2})}, "", "QOSMaxCpuPerJobLimit"),
        ({"user": Limits(max_wall=30)}, "4", "AssocMaxWallDurationPerJobLimit"),
        ({}, "1234", "None"),
    ],
)
def test_each_limit(limits: dict[str, Limits], starts: str, reason: str) -> None:
    begun, why = ask(limited(**limits))
    assert "".join(begun) == starts
    assert why == reason


def test_a_limit_of_the_qos_takes_the_place_of_that_of_the_account() -> None:
    begun, _ = ask(limited(account=Limits(grp_tres={"cpu": 3}), qos=Limits(grp_tres={"cpu": 9})))
    assert "".join(begun) == "123"


def test_limits_that_are_not_enforced_do_not_hold() -> None:
    tree = [Association("root"), Association("chem", parent="root", limits=Limits(grp_jobs=0))]
    place = site(associations=tree)
    assert list(started(state_with(place, [job(1, account="chem")]))) == ["1"]


def test_a_job_at_its_limit_does_not_stop_lower_ones_and_holds_no_reservation() -> None:
    of_chem = {"account": "chem", "qos": "normal"}
    running = [(job(1, 4, user="ben", **of_chem), -10, ["n1"])]
    waiting = [job(2, 13, **of_chem), job(3, 12, user="ben", limit=10_000, **of_chem)]
    state = state_with(limited(user=Limits(grp_tres={"cpu": 4})), waiting, running)
    assert list(started(state, backfill=True)) == ["3"]


def test_ends_free_what_a_job_counted() -> None:
    of_chem = {"account": "chem", "qos": "normal"}
    running = [(job(1, 3, **of_chem), -10, ["n1"])]
    state = state_with(limited(account=Limits(grp_tres={"cpu": 5})), [job(2, 3, **of_chem)], running)
    assert started(state) == {}
    state.end(0, 0)
    assert list(started(state)) == ["2"]
    state.end(1, 1)
    assert not state.tables.limits.used.any()


def test_licences() -> None:
    place = site(licences=[Licence("matlab", 2)])
    state = state_with(place, [job(1, licences="matlab:2"), job(2, licences="matlab"), job(3)])
    assert list(started(state)) == ["1", "3"]
    assert state.reason(1) == "Licenses"


def test_submitted_jobs_are_counted() -> None:
    state = state_with(limited(user=Limits(max_submit=1)), [job(k, account="chem", qos="normal") for k in (1, 2)])
    limits = state.tables.limits
    assert [limits.submitted(0), limits.submitted(1)] == ["", "AssocMaxSubmitJobLimit"]
    limits.left(0)
    assert limits.submitted(1) == ""


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"limit": 101}, "PartitionTimeLimit"),
        ({"min_nodes": 3}, "PartitionNodeLimit"),
        ({"min_nodes": 1, "max_nodes": 3}, "PartitionNodeLimit"),
        ({"partitions": ("wide",)}, "PartitionNodeLimit"),
        ({"qos": "low"}, "PartitionConfig"),
        ({"begin": 10}, "BeginTime"),
        ({"held": True}, "JobHeldUser"),
        ({"partitions": ("closed",)}, "PartitionDown"),
    ],
)
def test_what_holds_a_job(asked: dict[str, Any], reason: str) -> None:
    parts = [
        Partition("p", ("n1", "n2"), max_time=100, max_nodes=2, allow_qos=("high", "")),
        Partition("closed", ("n1",), state="down"),
        Partition("wide", ("n1", "n2"), min_nodes=2),
    ]
    state = state_with(site(nodes=2, parts=parts), [job(1, **asked)])
    assert started(state) == {}
    assert state.reason(0) == reason


@pytest.mark.parametrize(
    ("kind", "end", "reason"),
    [
        ("afterok", "COMPLETED", ""),
        ("afterok", "FAILED", "DependencyNeverSatisfied"),
        ("afterany", "FAILED", ""),
        ("afternotok", "COMPLETED", "DependencyNeverSatisfied"),
        ("afternotok", "TIMEOUT", ""),
    ],
)
def test_dependencies(kind: str, end: str, reason: str) -> None:
    first = job(1, attempts=ran(0, 10, "n1"))
    state = state_with(site(), [job(2, dependencies=(Dependency(kind, ("1",)),))], [(first, -10, ["n1"])])
    assert state.held[1] == "Dependency"
    state.end(0, 5, end)
    assert state.held[1] == reason


def test_singletons_run_one_after_the_other() -> None:
    single = {"dependencies": (Dependency("singleton"),), "name": "daily"}
    state = state_with(site(), [job(1, **single), job(2, **single)])
    assert list(started(state)) == ["1"]
    state.end(0, 0)
    state.cancel(1, 0)
    assert started(state) == {}


@pytest.mark.parametrize("limits", [Limits(max_jobs_per_user=3), Limits(max_jobs_per_account=3)])
def test_jobs_with_a_limit_of_their_qos_count_in_that_of_the_account(limits: Limits) -> None:
    """Slurm does not hold a job of such a QOS against MaxJobs of its association, but it is one of its running jobs."""
    place = site(
        qos=[QOS("limited", limits=limits), QOS("normal")],
        associations=[
            Association("root"),
            Association("chem", parent="root", limits=Limits(max_jobs=2)),
            Association("chem", "ana", parent="chem"),
        ],
        scheduler=settings(accounting_enforce=("limits",)),
    )
    running = [(job(k, account="chem", qos="limited"), -10, ["n1"]) for k in (1, 2)]
    waiting = [job(3, account="chem", qos="limited"), job(4, account="chem", qos="normal")]
    assert started(state_with(place, waiting, running)).keys() == {"3"}


def test_a_singleton_starts_when_the_other_job_of_its_name_has_ended() -> None:
    alone = (Dependency("singleton"),)
    waiting = [
        job(k, 1, name="solo", user=user, dependencies=alone) for k, user in ((1, "ana"), (2, "ana"), (3, "ben"))
    ]
    state = state_with(site(nodes=2), waiting)
    assert list(started(state)) == ["1", "3"]
    assert state.reason(1) == "Dependency"
    state.end(0, 10)
    assert [s.job for s in state.main(11)] == [1]


def test_a_job_takes_no_more_nodes_than_its_limits_allow() -> None:
    """Without the limit it has 1 CPU of n1 and n2, and 3 of n3; with it, the last node that it may take must be enough."""
    running = [(job(k, 3, user="ben", account="chem", qos="normal"), 0, [f"n{k}"]) for k in (1, 2)]
    for most, nodes in ((None, ("n1", "n2", "n3")), (2, ("n1", "n3"))):
        place = limited(qos=Limits(max_tres_per_user={} if most is None else {"node": most}), nodes=3)
        state = state_with(place, [job(3, 5, account="chem", qos="normal")], running)
        assert started(state) == {"3": nodes}
