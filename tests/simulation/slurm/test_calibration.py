"""Calibration on small histories, and on recordings of a real Slurm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schedlab import WrongValue
from schedlab.bench.cli.calibrate import sentence_on_chance, sentences_on_starts
from schedlab.bench.replays.case import fitted
from schedlab.instances import Workload, WorkloadError
from schedlab.instances.formats import sacct_trace
from schedlab.instances.sites import read_site
from schedlab.models import QOS, Association, Dependency, Limits, NodeEvent, Site, SiteNode
from schedlab.simulation import (
    Calibration,
    SlurmJob,
    agreement,
    calibrate,
    not_obeyed,
    one_step,
    priority_begin,
    slurm_jobs,
)
from schedlab.simulation.slurm import SlurmState
from schedlab.simulation.slurm.calibration import NodeChange, What, node_changes, recorded_history
from shared_data import DATA
from simulation.slurm.small_slurm import job, log_of, ran, settings, site

LAB = DATA / "slurm_lab"
needs_lab = pytest.mark.skipif(not LAB.exists(), reason="the recordings of a real Slurm are not here")
FULL_SITE = ("slurm.conf", "gres.conf", "dump.cfg", "qos.txt", "assoc.txt", "res_03.txt", "events.txt")


def queue_of_two() -> list[SlurmJob]:
    """Return two jobs of all nodes, the second of which waits for the first."""
    nodes = ("n1", "n2", "n3", "n4")
    return [job(1, 16, limit=600, attempts=ran(0, 500, *nodes)), job(2, 16, submit=10, attempts=ran(500, 520, *nodes))]


def test_a_history_by_the_rules_is_foreseen() -> None:
    one = one_step(queue_of_two(), site())
    assert (one.predicted, one.right, one.starts, one.foreseen, one.wrong) == (2, 2, 2, 2, ())


def test_a_start_that_no_rule_explains_is_shown() -> None:
    first, second = queue_of_two()
    third = job(3, 4, submit=20, attempts=ran(30, 40, "n1"))  # it started while the first job had all nodes
    one = one_step([first, second, third], site())
    assert [(each.time, each.job, each.predicted) for each in one.wrong] == [(30, "3", False)]
    assert one.recall == pytest.approx(2 / 3)


def test_a_start_that_came_late_is_shown() -> None:
    first = queue_of_two()[0]
    late = job(2, 16, submit=10, attempts=ran(506, 520, "n1", "n2", "n3", "n4"))
    one = one_step([first, late], site())
    assert [(each.time, each.job, each.recorded, each.predicted) for each in one.wrong] == [(500, "2", 506, True)]
    assert one_step([first, late], site(), within=6).precision == 1


def test_jobs_are_divided_over_their_nodes_as_later_starts_show() -> None:
    others = job(1, 8, limit=600, attempts=ran(0, 500, "n3", "n4"))
    leaves = job(2, 1, limit=600, attempts=ran(0, 10, "n1"))
    both = job(
        3, 5, submit=5, limit=600, attempts=ran(10, 400, "n1", "n2")
    )  # before the job left: 3 CPUs of n1, 2 of n2
    shows = job(4, 1, submit=12, limit=600, attempts=ran(12, 400, "n1"))  # n1 had a CPU left
    waits = job(5, 3, submit=20, attempts=ran(400, 410, "n1"))  # 2 CPUs are free, on n2
    one = one_step([others, leaves, both, shows, waits], site())
    assert [(each.time, each.job) for each in one.wrong if each.job == "5"] == []


def test_calibration_of_a_small_history() -> None:
    result = calibrate(log_of(queue_of_two(), site()), site(), replays=2)
    assert result.verdict == "good"
    assert result.one_step.precision == result.one_step.recall == 1
    assert result.free.recorded == 245
    assert result.free.replayed == pytest.approx(245, abs=3)
    assert result.by["partition"]["p"].jobs == 2
    low, high = sorted(each.replayed for each in result.single)
    said = sentence_on_chance(result)
    assert said.startswith(f"mean waits of the replays: {low:.1f} to {high:.1f} s, ")
    assert said.endswith(f"{(low > 245) + (high > 245)} of 2 longer than the recorded one")
    assert str(result).startswith("good: one step precision 1.000")


def test_agreement_of_waits() -> None:
    both = agreement(np.array([0.0, 5.0, 100.0, 1000.0]), np.array([0.0, 20.0, 130.0, 2000.0]))
    assert (both.within_10_s, both.within_1_min, both.within_10_min) == (0.25, 0.75, 0.75)
    assert both.rank_correlation == pytest.approx(1)
    assert both.mean_error == (0 + 15 + 30 + 1000) / 4
    assert np.isnan(agreement(np.array([1.0]), np.array([2.0])).rank_correlation)


def test_jobs_that_did_not_start_wait_until_they_were_cancelled() -> None:
    jobs = [
        *queue_of_two(),
        replace(
            job(3, 16, submit=20, attempts=ran(100, 400, "n1", state="CANCELLED")), cancelled=400
        ),  # no node is free before 500 s
        job(4, 16, submit=700, cancelled=800),  # it could have started
        job(5, 16, submit=30, cancelled=60),  # it could not
    ]
    result = calibrate(log_of(jobs, site()), site(), replays=3)
    assert [each.id for each in result.jobs] == ["1", "2", "3", "4"]
    assert result.recorded.tolist() == [0, 490, 80, 100]
    assert result.replayed[2] == 400 - 20
    assert result.replayed[3] <= 5
    assert (result.not_replayed, result.only_replayed) == (("3",), ("4",))
    assert list(sentences_on_starts(result)) == [
        "1 job started in the record and not in every replay (counted as waiting until cancelled there): 3",
        "1 job started in a replay and not in the record (counted as waiting until cancelled there): 4",
    ]


def test_a_node_that_was_empty_when_it_was_drained_took_no_job_after_its_last_one() -> None:
    jobs = [job(1, 1, attempts=ran(10, 90, "n1")), job(2, 1, attempts=ran(20, 30, "n2"))]
    events = [NodeEvent(90, "node-drain", ["n1", "n2"]), NodeEvent(95, "node-up", ["n1"])]
    assert node_changes(site(), events, jobs) == [
        NodeChange(11, 0, False),
        NodeChange(90, 1, False),
        NodeChange(95, 0, True),
    ]


def test_an_unknown_partition_is_named() -> None:
    with pytest.raises(WrongValue, match="job 1: the partition 'x' is not one of the site"):
        one_step([job(1, partitions=("x",), attempts=ran(0, 5, "n1"))], site())


def test_nothing_to_compare() -> None:
    with pytest.raises(WorkloadError, match="no job of the log started"):
        calibrate(log_of([job(1, cancelled=5)], site()), site())


# --- Recordings.


def recording(name: str) -> tuple[Site, Workload]:
    """Return the site and the log of a recording."""
    folder = LAB / name
    trace = sacct_trace(folder / ("jobcomp.txt" if name == "simple" else "sacct_duplicates.txt.gz")).with_cancelled()
    if name == "simple":
        trace = trace.without("memory", "the site has none")
    files: list[Path] = [folder / each for each in (("slurm.conf",) if name == "simple" else FULL_SITE)]
    site_of_log = read_site(*files)
    return site_of_log, fitted(trace.workload, site_of_log)


@needs_lab
@pytest.mark.parametrize(("name", "bar", "mean"), [("simple", 0.97, 0.03), ("full", 0.93, 0.05)])
def test_recordings_of_a_real_slurm(name: str, bar: float, mean: float) -> None:
    place, log = recording(name)
    result: Calibration = calibrate(log, place, replays=16)  # the mean of a single one is 5 % from that of another
    assert result.one_step.precision >= bar
    assert result.one_step.recall >= bar
    assert result.verdict == "good"
    assert abs(result.free.deviation) <= mean
    # A recording agrees with a replay as well as a replay with another one: what is left is chance.
    single = np.mean([each.rank_correlation for each in result.single])
    between = np.mean([each.rank_correlation for each in result.between])
    assert single >= between - 0.05


@needs_lab
def test_the_begin_is_found_from_recorded_priorities() -> None:
    place, log = recording("full")
    begin = priority_begin(slurm_jobs(log), place)
    assert begin is not None
    assert (begin - 1795578287) % 60 in (59, 0, 1)


def test_the_begin_is_found_from_the_priorities_at_submissions() -> None:
    """With a classic fair share, whose factors change at each update, and no age."""
    place = site(
        associations=[Association("root"), *(Association("root", user) for user in ("ana", "ben"))],
        scheduler=settings(
            priority_type="multifactor", weight_fairshare=10_000, calc_period=60, decay_half_life=600,
            priority_flags=("no_fair_tree",),
        ),
    )  # fmt: skip
    jobs = [
        job(
            k,
            4,
            submit=7 * k,
            user=("ana", "ben")[k % 3 == 0],
            account="root",
            attempts=ran(7 * k, 7 * k + 20, f"n{k % 4 + 1}"),
        )
        for k in range(1, 60)
    ]
    state = SlurmState(place, jobs, -37, 1000)
    recorded = list(jobs)
    for event in recorded_history(jobs, []):
        state.advance(event.time)
        if event.what == What.SUBMIT:
            state.submit(event.subject, event.time)
            priority = int(state.priorities.priority[event.subject, 0])
            recorded[event.subject] = replace(jobs[event.subject], priority=priority)
        elif event.what == What.START:
            nodes = [state.tables.node_index[name] for name in jobs[event.subject].attempts[0].nodes]
            state.start(event.subject, event.time, 0, nodes)
        else:
            state.end(event.subject, event.time)
    begin = priority_begin(recorded, place)
    assert begin is not None
    assert (begin + 37) % 60 in (59, 0, 1)


def test_what_is_not_obeyed_is_named() -> None:
    limited = QOS("long", limits=Limits(grp_wall=3600, grp_jobs=3), usage_threshold=0.1)
    place = site(qos=[limited], scheduler=settings(bf_licenses=True, preempt_mode=("suspend", "gang")))
    assert not_obeyed(place) == [
        "grp_wall of QOS long", "usage_threshold of QOS long", "bf_licenses", "PreemptMode=suspend,gang",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"select_type": "linear"}, "SelectType=select/linear (whole nodes are chosen as by cons_tres)"),
        ({"select_parameters": ("cr_socket",)}, "SelectTypeParameters=cr_socket"),
        ({"priority_type": "multifactor", "priority_flags": ("incr_only",)}, "PriorityFlags=incr_only"),
        ({"usage_reset_period": "daily"}, "PriorityUsageResetPeriod=daily"),
        ({"complete_wait": 5}, "CompleteWait=5"),
        ({"bf_max_time": 60}, "bf_max_time=60 (a pass takes no time)"),
        ({"preempt_type": "qos", "preempt_strict_order": True}, "preempt_strict_order"),
    ],
)
def test_settings_that_are_read_and_not_obeyed_are_named(given: dict[str, Any], named: str) -> None:
    assert named in not_obeyed(site(scheduler=settings(**given)))


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"features": "[a|b]"}, "constraints such as [a|b] and a*2 (each node has one of the features; 1 job)"),
        ({"memory_per_gpu": 1000}, "--mem-per-gpu (1 job)"),
        ({"dependencies": (Dependency("after", ("1",), 300),)}, "the delay of --dependency=after:ID+MINUTES (1 job)"),
    ],
)
def test_what_jobs_ask_for_and_do_not_get_is_named(asked: dict[str, Any], named: str) -> None:
    machine = [SiteNode(f"n{k}", 4, features=("a",)) for k in range(1, 5)]
    jobs = [job(1, attempts=ran(0, 10, "n1")), job(2, 1, attempts=ran(0, 10, "n2"), **asked)]
    place = site(machine=machine)
    result = calibrate(log_of(jobs, place), place, replays=1)
    assert named in result.not_modelled


@pytest.mark.parametrize(
    "obeyed",
    [
        {"bf_busy_nodes": True}, {"assoc_limit_stop": True}, {"bf_one_resv_per_job": True}, {"pack_serial_at_end": True},
        {"sched_min_interval": 5_000_000}, {"over_time_limit": 60}, {"priority_type": "basic"},
        {"priority_type": "multifactor", "priority_flags": ("max_tres", "no_fair_tree", "depth_oblivious")},
        {"select_parameters": ("cr_core_memory", "cr_lln")},
    ],
)  # fmt: skip
def test_settings_that_are_obeyed_are_not_named(obeyed: dict[str, Any]) -> None:
    assert not_obeyed(site(scheduler=settings(**obeyed))) == []
