"""Free replays of small histories."""

from __future__ import annotations

import pytest
from schedlab import WrongValue
from schedlab.models import NodeEvent
from schedlab.simulation import SlurmAttempt, SlurmReplay, node_changes
from simulation.slurm.small_slurm import job, ran, settings, site

LATE = 2  # s: the schedulers run once a second, at times within it that are drawn


def starts(replay: SlurmReplay) -> list[tuple[str, int]]:
    """Run a replay; return the id of each job that started, and the time in s."""
    return [(replay.jobs[s.job].id, s.time) for s in replay.run()]


def test_jobs_start_one_after_the_other() -> None:
    jobs = [
        job(1, 16, attempts=ran(0, 50, "n[1-4]")),
        job(2, 16, submit=10, attempts=ran(50, 70, "n[1-4]")),
        job(3, 16, submit=20, attempts=ran(70, 80, "n[1-4]")),
    ]
    times = [time for _, time in starts(SlurmReplay(site(), jobs))]
    assert times == [pytest.approx(0, abs=LATE), pytest.approx(51, abs=LATE), pytest.approx(72, abs=2 * LATE)]


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_decides_on_fractions_of_seconds_alone(seed: int) -> None:
    jobs = [job(k, 4, submit=100 * k, attempts=ran(100 * k, 100 * k + 10, "n1")) for k in range(1, 6)]
    begun = starts(SlurmReplay(site(), jobs, seed=seed))
    assert begun == starts(SlurmReplay(site(), jobs, seed=seed))
    assert [(k, time // 10) for k, time in begun] == [(str(k), 10 * k) for k in range(1, 6)]


def test_jobs_that_are_cancelled_in_the_queue_never_start() -> None:
    jobs = [
        job(1, 16, limit=100, attempts=ran(0, 90, "n[1-4]")),
        job(2, 16, submit=5, cancelled=20),
        job(3, 16, submit=6, attempts=ran(90, 95, "n[1-4]")),
    ]
    assert [k for k, _ in starts(SlurmReplay(site(), jobs))] == ["1", "3"]


def test_a_running_job_is_cancelled_when_it_was() -> None:
    jobs = [
        job(1, 16, limit=100, cancelled=30, attempts=ran(0, 30, "n[1-4]", state="CANCELLED")),
        job(2, 16, submit=5, attempts=ran(30, 40, "n[1-4]")),
    ]
    assert dict(starts(SlurmReplay(site(), jobs)))["2"] == pytest.approx(31, abs=LATE)


def test_a_node_that_fails_requeues_its_job() -> None:
    runs = (SlurmAttempt(0, 20, ("n1",), "NODE_FAIL"), SlurmAttempt(150, 180, ("n1",)))
    replay = SlurmReplay(
        site(nodes=1),
        [job(1, 4, attempts=runs)],
        [NodeEvent(20, "node-down", ("n1",)), NodeEvent(25, "node-up", ("n1",))],
    )
    assert [time for _, time in starts(replay)] == [pytest.approx(0, abs=LATE), pytest.approx(141, abs=LATE)]


def test_a_job_that_was_requeued_waits_two_minutes() -> None:
    runs = (SlurmAttempt(0, 20, ("n1",), "REQUEUED"), SlurmAttempt(141, 160, ("n1",)))
    replay = SlurmReplay(site(nodes=1), [job(1, 4, attempts=runs)])
    assert [time for _, time in starts(replay)] == [pytest.approx(0, abs=LATE), pytest.approx(141, abs=LATE)]


def test_long_periods_delay_starts() -> None:
    slow = settings(sched_interval=60, bf_interval=60, batch_sched_delay=3)
    jobs = [job(1, 4, submit=10, attempts=ran(10, 15, "n1"))]
    ((_, time),) = starts(SlurmReplay(site(scheduler=slow), jobs, begin=0))
    assert 10 <= time <= 14  # something happened: a short pass after batch_sched_delay at the latest


def test_an_unknown_partition_is_named() -> None:
    with pytest.raises(WrongValue, match="job 1: the partition 'x' is not one of the site"):
        SlurmReplay(site(), [job(1, partitions=("x",))])


def test_a_node_that_was_empty_when_it_was_drained_took_no_job_after_its_last_one() -> None:
    jobs = [job(1, 1, attempts=ran(10, 90, "n1")), job(2, 1, attempts=ran(20, 30, "n2"))]
    events = [NodeEvent(90, "node-drain", ["n1", "n2"]), NodeEvent(95, "node-up", ["n1"])]
    assert node_changes(site(), events, jobs) == [
        (11, 0, False, False),
        (90, 1, False, False),
        (95, 0, True, False),
    ]
