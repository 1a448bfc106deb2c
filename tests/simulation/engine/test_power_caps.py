"""Power caps beside the other features of a replay: cases by hand, and random replays checked second by second."""

import random
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.instances import WorkloadError
from schedlab.models import NodeEvent
from schedlab.models.profiles import Wish, power_cap, profile_of
from schedlab.models.reservations import Reservation
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import violations
from simulation.frozen_replays import ON_DEMAND, PLATFORM, options_of, small_world

QUEUES = [sl.Queue("q", 600), sl.Queue("private", 600)]
FOUR = sl.Platform([sl.NodeGroup("n", 4, {"cores": 4})])


def job(name: str, submit: int, runtime: int, walltime: int, watts: float, units: int = 1, queue: str = "q") -> sl.Job:
    return sl.Job(name, submit, walltime, units, {"cores": 4}, queue, runtime=runtime, power=watts)


def replayed(*jobs: sl.Job, dispatcher: str = "easy", cap: object = 100.0, **more: object) -> sl.Simulation:
    log = sl.instances.Workload.of(sl.Dispatch(FOUR, list(jobs), QUEUES))
    return sl.simulate(log, FOUR, dispatcher, power_cap=cap, **more)  # type: ignore[arg-type]


def starts(run: sl.Simulation) -> dict[str, int]:
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


COURSE = Reservation("R", "private", 50, 150, 2, {"cores": 4})  # nodes from 50 to 200


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "plan:submit", "easy+multifactor"])
def test_a_job_inside_a_reservation_waits_for_power(dispatcher: str) -> None:
    """a takes 80 W up to 70; p, of 30 W, would start at 50 in the reservation, which has its nodes."""
    run = replayed(
        job("a", 0, 70, 70, 80), job("p", 0, 20, 20, 30, queue="private"), dispatcher=dispatcher, reservations=[COURSE]
    )
    assert starts(run) == {"a": 0, "p": 70} and run.violations == []


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "plan:submit", "easy+multifactor"])
def test_the_power_of_a_job_inside_a_reservation_counts_for_the_others(dispatcher: str) -> None:
    run = replayed(
        job("p", 0, 60, 60, 80, queue="private"), job("a", 60, 10, 10, 30), dispatcher=dispatcher, reservations=[COURSE]
    )
    assert starts(run) == {"p": 50, "a": 110} and run.violations == []


@pytest.mark.parametrize("dispatcher", ["easy", "easy++", "pbs-fifo", "conservative"])
def test_backfilling_knows_when_a_job_inside_a_reservation_gives_its_power_back(dispatcher: str) -> None:
    """big waits for the power of p up to 110; small would run beyond it and leave too little."""
    run = replayed(
        job("p", 0, 60, 60, 60, queue="private"), job("big", 60, 10, 10, 80), job("small", 61, 100, 100, 30),
        job("short", 62, 40, 40, 30), dispatcher=dispatcher, reservations=[COURSE],
    )  # fmt: skip
    assert starts(run) == {"p": 50, "big": 110, "small": 120, "short": 62} and run.violations == []


def test_a_job_inside_a_reservation_that_ends_early_lets_others_start() -> None:
    run = replayed(
        job("p", 0, 20, 60, 60, queue="private"),
        job("big", 60, 10, 10, 80),
        dispatcher="conservative",
        reservations=[COURSE],
    )
    assert starts(run) == {"p": 50, "big": 70} and run.violations == []


def test_power_comes_back_from_jobs_inside_a_reservation_however_they_end() -> None:
    """p is deleted at 60, r fails at 80 with its node, and starts again when the node is up."""
    events = [
        ServerEvent(60, "delete", "p", None), NodeEvent(80, "node-down", ["n-1", "n-2"]), NodeEvent(90, "node-up", ["n-1", "n-2"]),
    ]  # fmt: skip
    run = replayed(
        job("p", 0, 60, 60, 70, queue="private"), job("r", 55, 30, 30, 70, queue="private"), job("a", 81, 5, 5, 90),
        events=events, reservations=[COURSE],
    )  # fmt: skip
    assert starts(run) == {"p": 50, "r": 90, "a": 81} and run.violations == []
    assert sorted(run.attempts["end"].tolist()) == [60, 80, 86, 120]


def test_the_check_counts_jobs_inside_reservations() -> None:
    """Only p exceeds 100 W, when it starts inside; a check of the starts of the others alone would not see it."""
    jobs = job("a", 0, 100, 100, 80), job("p", 0, 20, 20, 30, queue="private")
    log = sl.instances.Workload.of(sl.Dispatch(FOUR, list(jobs), QUEUES))
    run = sl.simulate(log, FOUR, "easy", reservations=[COURSE])
    assert run.violations == []
    (found,) = violations(run, within=[power_cap(FOUR, 100.0)])
    assert "jobs start at 50, and 110.0 W are in use then; the profile allows 100.0 W" in found.message


def test_the_cap_may_fall_below_what_a_reservation_uses() -> None:
    """p goes on above the cap of 50 W from 60 on; nothing starts until it has ended."""
    cap = profile_of(FOUR, [Wish(0, "power", amount=100), Wish(60, "power", amount=50)], end=300)
    run = replayed(
        job("p", 0, 60, 60, 60, queue="private"), job("s", 70, 10, 10, 0, queue="private"), job("a", 70, 10, 10, 0),
        cap=cap, reservations=[COURSE],
    )  # fmt: skip
    assert starts(run) == {"p": 50, "s": 110, "a": 110} and run.violations == []


def test_a_job_inside_a_reservation_needs_a_power_within_the_cap() -> None:
    with pytest.raises(WorkloadError, match="job 'p' takes 120 W, more than the power cap of 100 W"):
        replayed(job("p", 0, 20, 20, 120, queue="private"), reservations=[COURSE])


def test_jobs_that_request_nothing_of_followed_nodes_take_power() -> None:
    jobs = [sl.Job(name, 0, 10, 1, {}, "q", runtime=10, power=60.0) for name in "ab"]
    run = replayed(*jobs, events=[NodeEvent(5, "node-drain", ["n-4"])])
    assert starts(run) == {"a": 0, "b": 10} and run.violations == []


def test_powers_are_exact_where_there_are_many() -> None:
    """Two jobs take 1000.2 W together; rounded up to three digits they would exceed the cap."""
    later = [job(f"j{k}", 100, 1, 1, 0.5 * k) for k in range(1100)]
    run = replayed(job("a", 0, 10, 10, 500.1), job("b", 0, 10, 10, 500.1), *later, cap=1000.2)
    assert (starts(run)["a"], starts(run)["b"]) == (0, 0) and run.violations == []


def test_random_reservations_and_outages_keep_to_the_cap() -> None:
    """The power of all jobs, also of those inside reservations, summed up in each second."""
    features = [{"reservations"}, {"reservations", "outage"}, {"reservations", "server"}, {"reservations", "idle-off"}]
    features += [{"reservations", "chunks"}, {"reservations", "last-two", "kill"}]
    delayed = 0
    for seed in range(24):
        chosen, dispatcher = frozenset(features[seed % 6]), ["easy", "conservative", "fcfs", "plan:submit"][seed // 6]
        log, options, cap = small_world(seed, chosen), options_of(chosen, PLATFORM, (0, 150)), 500.0 + 50 * (seed % 3)
        run = sl.simulate(log, PLATFORM, dispatcher, power_cap=cap, **options)
        assert run.violations == []
        watts = np.zeros(5000)
        for attempt in () if run.history is None else run.history.early:
            watts[attempt.start : attempt.end] += run.workload.power[run.workload.ids.index(attempt.job)]
        for row in np.flatnonzero(run.start >= 0).tolist():
            watts[run.start[row] : run.end[row]] += run.workload.power[row]
        assert watts.max() <= cap
        free = sl.simulate(log, PLATFORM, dispatcher, **options)
        before = {p.row: p.start for p in free.production.private}
        delayed += any(p.start > before.get(p.row, p.start) for p in run.production.private)
    assert delayed > 3  # a job inside a reservation has waited for power


@pytest.mark.parametrize("seed", some_now(range(32), 5))
def test_a_cap_that_is_never_reached_changes_nothing(seed: int) -> None:
    """Before, a cap made each job heterogeneous where nodes are followed, and policies chose other nodes and starts."""
    dice = random.Random(seed)
    policies = [
        "fcfs",
        "easy",
        "easy++",
        "conservative",
        "pbs-fifo",
        "plan:weighted",
        "plan:submit@lns",
        "conservative+aging",
    ]
    features = [
        "running",
        "dependencies",
        "calendars",
        "first-fit",
        "outage",
        "reservations",
        "server",
        "idle-off",
        "evict-dp",
        "reserve",
    ]
    chosen = frozenset(dice.sample(features, 2)) - ({"evict-dp"} if seed % 2 else {"reserve"})
    log, options = small_world(seed, chosen), options_of(chosen, PLATFORM, (0, 150))
    if chosen & ON_DEMAND:
        urgent = [replace(j, power=50.0) for j in options["preemption"].jobs]
        options["preemption"] = replace(options["preemption"], jobs=urgent)
    dispatcher = policies[seed % len(policies)]
    plain = sl.simulate(log, PLATFORM, dispatcher, **options)
    capped = sl.simulate(log, PLATFORM, dispatcher, power_cap=1e9, **options)
    assert capped.violations == [] and capped.start.tolist() == plain.start.tolist()
    assert capped.schedule().nodes == plain.schedule().nodes
