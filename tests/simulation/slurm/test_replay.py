"""Free replays of small histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import Association, Chunk, Dependency, Limits, NodeEvent, Partition, Site, SiteNode
from schedlab.simulation import SlurmAttempt, SlurmJob, attempts_of, free_replay, slurm_jobs
from schedlab.simulation.dispatchers.policy import phases_of
from schedlab.simulation.slurm.replay import as_recorded, recorded_events
from simulation.slurm.small_slurm import job, log_of, ran, settings, site

LATE = 2  # s: the schedulers run once a second, and what happened since is seen a second later


def replay(place: Site, jobs: Sequence[SlurmJob], **options: Any) -> Any:
    """Return a free replay of the log of some jobs, which is valid."""
    run = free_replay(log_of(jobs, place), place, **options)
    assert run.simulation.violations == []
    return run


def starts(place: Site, jobs: Sequence[SlurmJob], **options: Any) -> list[tuple[str, int]]:
    """Return the id of each job that started, and the time in s, of each attempt in the order of the starts."""
    run = replay(place, jobs, **options)
    return sorted(((a.job, a.start) for a in attempts_of(run.simulation)), key=lambda pair: pair[1])


def test_jobs_start_one_after_the_other() -> None:
    jobs = [
        job(1, 16, attempts=ran(0, 50, "n[1-4]")),
        job(2, 16, submit=10, attempts=ran(50, 70, "n[1-4]")),
        job(3, 16, submit=20, attempts=ran(70, 80, "n[1-4]")),
    ]
    times = [time for _, time in starts(site(), jobs)]
    assert times == [pytest.approx(0, abs=LATE), pytest.approx(51, abs=LATE), pytest.approx(72, abs=2 * LATE)]


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_decides_on_seconds_alone(seed: int) -> None:
    jobs = [job(k, 4, submit=100 * k, attempts=ran(100 * k, 100 * k + 10, "n1")) for k in range(1, 6)]
    begun = starts(site(), jobs, seed=seed)
    assert begun == starts(site(), jobs, seed=seed)
    assert [(k, time // 10) for k, time in begun] == [(str(k), 10 * k) for k in range(1, 6)]


def test_submissions_and_ends_are_seen_in_their_second_or_in_the_next_one() -> None:
    place = site(scheduler=settings(scheduler_type="builtin"))
    log = log_of([job(k, submit=k, attempts=ran(k, k + 10, "n1")) for k in range(400)], place)
    drawn = [as_recorded(log, seed, phases_of(place, seed)) for seed in range(20)]
    late = np.array([rows.release - log.submit for rows in drawn])
    longer = np.array([rows.runtime - log.runtime for rows in drawn])
    assert set(late.ravel().tolist()) == set(longer.ravel().tolist()) == {0, 1}
    assert longer.mean() == pytest.approx(0.5, abs=0.03)
    shares = np.sort(late.mean(axis=1))  # one instant of each second is the same for all jobs of a replay
    assert shares == pytest.approx(np.linspace(0, 1, 20), abs=0.2)


def test_how_long_a_cancelled_job_would_have_run_is_drawn_from_the_jobs_that_ended() -> None:
    place = site(scheduler=settings(scheduler_type="builtin"))
    ended = [
        job(k, limit=100, submit=k, attempts=ran(k, k + 10 * k, "n1")) for k in range(1, 6)
    ]  # 10 to 50 % of the limit
    waited = job(7, limit=1000, submit=7, cancelled=900)
    cut_off = job(8, limit=200, submit=8, cancelled=68, attempts=ran(8, 68, "n1", state="CANCELLED"))  # after 30 %
    longest = job(9, limit=100, submit=9, cancelled=89, attempts=ran(9, 89, "n1", state="CANCELLED"))  # after 80 %
    log = log_of([*ended, waited, cut_off, longest], place)
    seeds = range(60)
    runtimes = np.array([as_recorded(log, seed, phases_of(place, seed)).runtime for seed in seeds])
    assert {round(each, -2) for each in runtimes[:, 5].tolist()} == {100, 200, 300, 400, 500}
    assert {round(each, -1) for each in runtimes[:, 6].tolist()} == {60, 80, 100}
    assert set(runtimes[:, 7].tolist()) <= {100, 101}
    assert np.abs(runtimes[:, :5] - log.runtime[:5]).max() <= 1


def test_jobs_that_are_cancelled_in_the_queue_never_start() -> None:
    jobs = [
        job(1, 16, limit=100, attempts=ran(0, 90, "n[1-4]")),
        job(2, 16, submit=5, cancelled=20),
        job(3, 16, submit=6, attempts=ran(90, 95, "n[1-4]")),
    ]
    run = replay(site(), jobs)
    assert list(run.waited) == ["1", "3"]
    assert np.isnan(run.waits(slurm_jobs(log_of(jobs, site())))).tolist() == [False, True, False]


def test_a_running_job_is_cancelled_when_it_was() -> None:
    jobs = [
        job(1, 16, limit=100, cancelled=30, attempts=ran(0, 30, "n[1-4]", state="CANCELLED")),
        job(2, 16, submit=5, attempts=ran(30, 40, "n[1-4]")),
    ]
    assert dict(starts(site(), jobs))["2"] == pytest.approx(31, abs=LATE)
    slower = [
        job(0, 16, submit=0, attempts=ran(0, 20, "n[1-4]")),
        replace(jobs[0], submit=3),
        replace(jobs[1], submit=6),
    ]
    assert dict(starts(site(), slower))["2"] == pytest.approx(31, abs=LATE)  # it started at 20, and was cancelled at 30


def test_a_node_that_fails_requeues_its_job() -> None:
    runs = (SlurmAttempt(0, 20, ("n1",), "NODE_FAIL"), SlurmAttempt(150, 180, ("n1",)))
    events = [NodeEvent(20, "node-down", ("n1",)), NodeEvent(25, "node-up", ("n1",))]
    begun = starts(site(nodes=1), [job(1, 4, attempts=runs)], events=events)
    assert [time for _, time in begun] == [pytest.approx(0, abs=LATE), pytest.approx(141, abs=LATE)]


def test_a_job_that_was_requeued_waits_two_minutes() -> None:
    runs = (SlurmAttempt(0, 20, ("n1",), "REQUEUED"), SlurmAttempt(141, 170, ("n1",)))
    log = log_of([job(1, 4, attempts=runs)], site(nodes=1))
    assert [(e.time, e.kind, e.subject) for e in recorded_events(log)] == [(20, "requeue", "1")]
    begun = starts(site(nodes=1), [job(1, 4, attempts=runs)])
    assert [time for _, time in begun] == [pytest.approx(0, abs=LATE), pytest.approx(141, abs=LATE)]
    run = replay(site(nodes=1), [job(1, 4, attempts=runs)])
    assert run.waited["1"] == pytest.approx(121, abs=LATE)  # without the first run


def test_long_periods_delay_starts() -> None:
    slow = settings(sched_interval=60, bf_interval=60, batch_sched_delay=3)
    ((_, time),) = starts(site(scheduler=slow), [job(1, 4, submit=10, attempts=ran(10, 15, "n1"))], begin=0)
    assert 10 <= time <= 14  # something happened: a short pass after batch_sched_delay at the latest


@pytest.mark.parametrize("begin", [53, 113, 173])
def test_periods_count_from_the_begin(begin: int) -> None:
    """The main scheduler looks at multiples of 60 s after the begin, and at nothing else, as it delays all other passes."""
    slow = settings(sched_interval=60, batch_sched_delay=10**6, scheduler_type="builtin", calc_period=60)
    first = job(1, 4, submit=120, attempts=ran(120, 125, "n1"))
    second = job(2, 4, submit=130, attempts=ran(130, 135, "n1"))
    place = site(scheduler=slow)
    begun = dict(starts(place, [first, second], begin=begin))
    assert (begun["2"] - phases_of(place, 0).times.main) % 60 == 53


def test_jobs_that_never_start_are_missing() -> None:
    jobs = [job(1, 4, attempts=ran(0, 10, "n1")), job(2, 4, submit=5, held=True, attempts=ran(20, 30, "n1"))]
    after = job(3, 4, submit=6, attempts=ran(30, 40, "n1"), dependencies=(Dependency("afternotok", ("1",)),))
    run = free_replay(log_of([*jobs, after], site()), site())
    assert "1" in run.waited and "3" not in run.waited


def test_what_the_site_does_not_count_holds_no_job() -> None:
    """The log has memory, the nodes of the site have none that is known."""
    log = log_of([job(1, 4, attempts=ran(0, 10, "n1"))], site())
    memory = np.full((1, 1), 64_000)
    larger = replace(log, resources=(*log.resources, "memory"), request=np.hstack([log.request, memory]))
    assert free_replay(larger, site()).waited == free_replay(log, site()).waited


def test_a_heterogeneous_job_is_its_first_component() -> None:
    log = log_of([job(1, 4, attempts=ran(0, 10, "n1"))], site())
    further = replace(log, chunks={0: (Chunk(4, {"cores": 1}), Chunk(16, {"cores": 1}))})
    assert free_replay(further, site()).waited == free_replay(log, site()).waited


def test_the_schedulers_run_at_any_time_of_their_periods() -> None:
    place = site(scheduler=settings(sched_interval=60, bf_interval=30))
    drawn = [phases_of(place, seed) for seed in range(40)]
    assert np.sort([each.times.main for each in drawn]) == pytest.approx(np.linspace(0, 59, 40), abs=5)
    assert np.sort([each.times.backfill % 30 for each in drawn]) == pytest.approx(np.linspace(0, 29, 40), abs=4)
    assert sum(each.times.backfill_first for each in drawn) == pytest.approx(20, abs=6)


def test_no_job_may_start() -> None:
    place = site(parts=[Partition("p", ("n1",), max_time=1)])
    run = free_replay(log_of([job(1, 4, attempts=ran(0, 10, "n1"))], place), place)
    assert run.simulation is None and run.waited == {}


def test_reasons_are_told_if_they_are_asked_for() -> None:
    jobs = [
        job(1, 16, limit=100, attempts=ran(0, 50, "n[1-4]")),
        job(2, 16, submit=10, attempts=ran(50, 70, "n[1-4]")),
        job(3, 16, submit=20, attempts=ran(70, 80, "n[1-4]")),
    ]
    assert replay(site(), jobs, explain=True).reasons == {"2": "Resources", "3": "Resources"}
    assert replay(site(), jobs).reasons == {}


def test_a_limit_is_named_as_the_reason() -> None:
    accounts = [Association("root"), Association("chem", parent="root", limits=Limits(grp_tres={"cpu": 8}))]
    place = site(
        associations=[*accounts, Association("chem", "ana")], scheduler=settings(accounting_enforce=("limits",))
    )
    jobs = [job(k, 8, submit=k, account="chem", attempts=ran(10 * k, 10 * k + 9, "n1", "n2")) for k in (1, 2)]
    assert replay(place, jobs, explain=True).reasons == {"2": "grp_tres cpu of account chem"}


def test_cpus_that_are_no_multiple_of_the_nodes_are_not_rounded_up() -> None:
    """5 CPUs on nodes of 1 and 4: as equal units they would be 6."""
    place = site(machine=[SiteNode("n1", 1), SiteNode("n2", 4)])
    log = log_of([job(1, 5, attempts=ran(0, 10, "n1", "n2"))], place)
    rounded = replace(log, units=np.array([2]), request=np.array([[3]]))
    assert free_replay(rounded, place).waited == free_replay(log, place).waited != {}


def test_each_draw_of_the_dispatcher_has_the_phases_of_a_free_replay() -> None:
    place = site(scheduler=settings(scheduler_type="builtin", sched_interval=60, batch_sched_delay=1000))
    jobs = [job(1, 16, attempts=ran(0, 30, "n[1-4]")), job(2, 16, submit=1, attempts=ran(60, 90, "n[1-4]"))]
    log = log_of(jobs, place)
    begun = {}
    for draw in range(4):
        run = sl.simulate(log, f"slurm:draw={draw}", site=place)
        assert run.violations == []
        begun[draw] = int(run.start[1])
        assert (begun[draw] - phases_of(place, draw).times.main) % 60 == 0
    assert len(set(begun.values())) == 4
    assert sl.simulate(log, "slurm:draw=2", site=place).start[1] == begun[2]
    with pytest.raises(sl.WrongValue, match="draw is -1; expected at least 0"):
        sl.simulate(log, "slurm:draw=-1", site=place)
