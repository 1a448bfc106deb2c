"""Calibration on small histories, and on recordings of a real Slurm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from schedlab import WrongValue
from schedlab.instances.formats import sacct_trace
from schedlab.instances.sites import read_site
from schedlab.models import QOS, Limits, Site
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
from shared_data import DATA
from simulation.slurm.small_slurm import job, ran, settings, site

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
    result = calibrate(queue_of_two(), site(), replays=2)
    assert result.verdict == "good"
    assert result.one_step.precision == result.one_step.recall == 1
    assert result.free.recorded == 245
    assert result.free.replayed == pytest.approx(245, abs=3)
    assert result.by["partition"]["p"].jobs == 2
    assert str(result).startswith("good: one step precision 1.000")


def test_agreement_of_waits() -> None:
    both = agreement(np.array([0.0, 5.0, 100.0, 1000.0]), np.array([0.0, 20.0, 130.0, 2000.0]))
    assert (both.within_10_s, both.within_1_min, both.within_10_min) == (0.25, 0.75, 0.75)
    assert both.rank_correlation == pytest.approx(1)
    assert both.mean_error == (0 + 15 + 30 + 1000) / 4
    assert np.isnan(agreement(np.array([1.0]), np.array([2.0])).rank_correlation)


def test_nothing_to_compare() -> None:
    with pytest.raises(WrongValue, match="no job of the log started"):
        calibrate([job(1, cancelled=5)], site())


# --- Recordings.


def recording(name: str) -> tuple[Site, list[SlurmJob]]:
    """Return the site and the jobs of a recording."""
    folder = LAB / name
    log = "jobcomp.txt" if name == "simple" else "sacct_duplicates.txt.gz"
    jobs = slurm_jobs(sacct_trace(folder / log).with_cancelled().workload)
    files: list[Path] = [folder / each for each in (("slurm.conf",) if name == "simple" else FULL_SITE)]
    return read_site(*files), jobs


@needs_lab
@pytest.mark.parametrize(("name", "bar", "mean"), [("simple", 0.97, 0.03), ("full", 0.93, 0.05)])
def test_recordings_of_a_real_slurm(name: str, bar: float, mean: float) -> None:
    place, jobs = recording(name)
    result: Calibration = calibrate(jobs, place, replays=4)
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
    place, jobs = recording("full")
    begin = priority_begin(jobs, place)
    assert begin is not None
    assert (begin - 1795578287) % 60 in (59, 0, 1)


def test_what_is_not_obeyed_is_named() -> None:
    limited = QOS("long", limits=Limits(grp_wall=3600, grp_jobs=3), usage_threshold=0.1)
    place = site(qos=[limited], scheduler=settings(bf_busy_nodes=True, preempt_mode=("suspend", "gang")))
    assert not_obeyed(place) == [
        "grp_wall of QOS long", "usage_threshold of QOS long", "bf_busy_nodes", "PreemptMode=suspend,gang",
    ]  # fmt: skip
