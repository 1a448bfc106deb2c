"""Preemption by partition and by QOS."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.models import QOS, Dependency, Dispatch, Job, Partition, Queue, Running, Site, SiteNode, SiteRequest
from schedlab.simulation import PreemptionRules, SlurmJob, attempts_of, requeue_of, violations
from simulation.slurm.slurm_second_by_second import SecondBySecond
from simulation.slurm.small_slurm import job, ran, settings, site, started, state_with

NODES = ("n1", "n2")


def by_partition(mode: str = "requeue", **low: Any) -> Any:
    """Return a site of two nodes with a partition of a higher tier, and preemption by partition."""
    parts = [Partition("p", NODES, default=True, **low), Partition("urgent", NODES, tier=5)]
    return site(nodes=2, parts=parts, scheduler=settings(preempt_type="partition_prio", preempt_mode=(mode,)))


def test_a_job_of_a_lower_tier_makes_room() -> None:
    state = state_with(
        by_partition(), [job(3, 4, partitions=("urgent",))], [(job(1, 4), -20, ["n1"]), (job(2, 4), -10, ["n2"])]
    )
    assert started(state) == {}
    victims = state.preempt(0)
    assert [(v.job, v.end, v.requeued) for v in victims] == [(1, 0, True)]  # the lower priority: it was submitted later
    assert state.preempt(0) == []  # it is leaving already
    state.end(1, 0)
    assert started(state) == {"3": ("n2",)}


def test_jobs_of_the_same_tier_do_not() -> None:
    state = state_with(by_partition(), [job(2, 8)], [(job(1, 4), -20, ["n1"])])
    assert started(state) == {}
    assert state.preempt(0) == []


def test_few_jobs_make_room() -> None:
    running = [(job(1, 4), -30, ["n1"]), (job(2, 1), -20, ["n2"]), (job(3, 3), -10, ["n2"])]
    state = state_with(by_partition(), [job(4, 4, partitions=("urgent",))], running)
    assert started(state) == {}
    assert {v.job for v in state.preempt(0)} == {1, 2}  # two jobs of low priority, on one node


@pytest.mark.parametrize(("mode", "again"), [("requeue", True), ("cancel", False)])
def test_what_becomes_of_a_victim(mode: str, again: bool) -> None:
    jobs = [
        job(1, 8, limit=500, attempts=ran(0, 400, *NODES)),
        job(2, 8, submit=50, partitions=("urgent",), attempts=ran(50, 80, *NODES)),
    ]
    begun = [(s.job, s.time) for s in SecondBySecond(by_partition(mode, grace_time=10), jobs).run()]
    assert begun[1] == (1, pytest.approx(61, abs=3))  # after the grace time
    assert ([k for k, _ in begun] == [0, 1, 0]) is again


def test_by_qos() -> None:
    quality = [QOS("low", 1), QOS("high", 10, preempt=("low",))]
    place = site(nodes=2, qos=quality, scheduler=settings(preempt_type="qos", preempt_mode=("cancel",)))
    running = [(job(1, 4, qos="low"), -20, ["n1"]), (job(2, 4, qos="high"), -10, ["n2"])]
    state = state_with(place, [job(3, 4, qos="high")], running)
    assert started(state) == {}
    assert [(v.job, v.requeued) for v in state.preempt(0)] == [(0, False)]


def test_young_jobs_are_exempt() -> None:
    quality = [QOS("low", 1, preempt_exempt_time=60), QOS("high", 10, preempt=("low",))]
    place = site(nodes=1, qos=quality, scheduler=settings(preempt_type="qos", preempt_mode=("cancel",)))
    for start, victims in ((-59, []), (-60, [0])):
        state = state_with(place, [job(2, 4, qos="high")], [(job(1, 4, qos="low", limit=100), start, ["n1"])])
        started(state)
        assert [v.job for v in state.preempt(0)] == victims


# --- Under ``slurm`` of ``simulate``.

ONE = ("n1",)
AT_ONCE = {"batch_sched_delay": 0, "preempt_mode": ("requeue",)}


def qualities(**low: Any) -> list[QOS]:
    """Return a QOS that preempts another one."""
    return [QOS("low", 1, **low), QOS("high", 10, preempt=("low",))]


def asked(number: int, submit: int, cpus: int, runtime: int, limit: int, part: str = "p", **options: Any) -> Job:
    """Return a job of ``simulate``."""
    request = SiteRequest(cpus=cpus, tasks=cpus, **{"partitions": (part,)} | options)
    whole = request.exclusive == "node"
    return Job(
        str(number),
        submit,
        limit,
        cpus,
        {"cores": 1},
        part,
        runtime=runtime,
        user="ana",
        asked=request,
        whole_nodes=whole,
    )


def simulated(place: Site, jobs: list[Job], **options: Any) -> Any:
    """Return a replay under ``slurm``, which is valid."""
    queues = [Queue(p.name, 60) for p in place.partitions]
    problem = Dispatch(place.platform(), jobs, queues, durations="runtime")
    run = sl.simulate(problem, "slurm", site=place, **options)
    assert run.violations == []
    return run


def attempts(run: Any) -> list[tuple[str, int, int, str, int]]:
    """Return the attempts of a replay: job, start, end, why it ended, work done."""
    return [(a.job, a.start, a.end, a.why, a.work_done) for a in attempts_of(run)]


def two_jobs(mode: str = "requeue", **low: Any) -> tuple[Site, list[Job]]:
    """Return a node of 4 CPUs, a long job on it, and at 50 s one of a QOS that preempts it."""
    scheduler = settings(**AT_ONCE | {"preempt_type": "qos", "preempt_mode": (mode,)})
    place = site(nodes=1, qos=qualities(**low), scheduler=scheduler)
    return place, [asked(1, 0, 4, 400, 500, qos="low"), asked(2, 50, 4, 30, 60, qos="high")]


def test_a_job_of_a_higher_qos_preempts_one_that_comes_back() -> None:
    run = simulated(*two_jobs())
    assert attempts(run) == [
        ("1", 0, 50, "preempted by 2", 0),  # its work is lost
        ("2", 50, 80, "completed", 30),
        ("1", 171, 571, "completed", 400),  # its credential has expired 121 s after 50
    ]
    assert run.notes == ()


def test_a_job_ends_after_its_grace_time() -> None:
    run = simulated(*two_jobs(grace_time=20))
    assert attempts(run)[:2] == [("1", 0, 70, "preempted by 2", 0), ("2", 70, 100, "completed", 30)]


def test_a_job_that_is_cancelled_does_not_come_back() -> None:
    run = simulated(*two_jobs("cancel"))
    assert attempts(run) == [("1", 0, 50, "preempted by 2", 0), ("2", 50, 80, "completed", 30)]


@pytest.mark.parametrize(("rule", "left"), [("checkpoint:20", 360), ("drop", None)])
def test_what_is_kept_of_the_work_is_said_by_the_rule_for_jobs_that_end_early(rule: str, left: int | None) -> None:
    last = [a for a in attempts(simulated(*two_jobs(), requeue=rule)) if a[0] == "1"][-1]
    assert last[2] - last[1] == (50 if left is None else left)


def test_a_dependency_on_a_job_that_was_preempted_for_good_is_not_met() -> None:
    place, jobs = two_jobs("cancel")
    after = asked(3, 10, 1, 5, 10, dependencies=(Dependency("afterok", ("1",)),))
    with pytest.raises(sl.SimulationError, match="DependencyNeverSatisfied"):
        simulated(place, [*jobs, after])


def test_a_preemption_that_the_site_does_not_allow_is_a_fault() -> None:
    place, jobs = two_jobs()
    run = simulated(place, jobs)
    others = {
        "may not preempt it": two_jobs()[0],
        "expected none, as it leaves": two_jobs("cancel")[0],
        "before it could be preempted": two_jobs(grace_time=60)[0],
        "did not wait": two_jobs(grace_time=10)[0],
    }
    others["may not preempt it"] = replace(place, qos=[QOS("low"), QOS("high")])
    for why, other in others.items():
        (fault,) = violations(run, preempted=PreemptionRules(other, requeue_of("restart")))
        assert why in fault.message
    (fault,) = violations(run)
    assert "when none of its nodes stopped" in fault.message
    (fault,) = violations(run, preempted=PreemptionRules(place, requeue_of("checkpoint:10")))
    assert "with 0 of its work kept; expected 50 s" in fault.message


def drawn(seed: int) -> tuple[Site, list[Job]]:
    """Return a site with preemption and jobs of one-CPU units."""
    rng = random.Random(seed)
    by_qos = seed % 2 == 0
    cores = [rng.choice((2, 4, 8)) for _ in range(rng.randint(1, 4))]
    machine = [SiteNode(f"n{k}", each) for k, each in enumerate(cores, 1)]
    names = tuple(n.name for n in machine)
    low = {"grace_time": rng.choice((0, 0, 7)), "preempt_mode": rng.choice((None, None, "cancel", "requeue"))}
    parts = [Partition("p", names, default=True, **({} if by_qos else low))]
    parts += [Partition("urgent", names[: rng.randint(1, len(names))], tier=5), Partition("third", names, tier=2)]
    quality = [
        QOS("low", 1, preempt_exempt_time=rng.choice((None, 10)), **(low if by_qos else {})),
        QOS("high", 10, preempt=("low",)),
    ]
    weights = {"priority_type": "multifactor", "weight_age": 1000, "weight_qos": 500, "calc_period": 30}
    scheduler = settings(
        preempt_type="qos" if by_qos else "partition_prio", preempt_mode=(rng.choice(("requeue", "cancel")),),
        preempt_youngest_first=rng.random() < 0.3, preempt_exempt_time=rng.choice((0, 0, 5)),
        bf_interval=rng.choice((1, 3, 30)), sched_interval=rng.choice((1, 5)), batch_sched_delay=rng.choice((0, 3)),
        **(weights if rng.random() < 0.5 else {}),
    )  # fmt: skip
    jobs = []
    for k in range(1, rng.randint(6, 30)):
        part = rng.choice(("p", "p", "p", "urgent", "third"))
        room = sum(cores[: len(next(p for p in parts if p.name == part).nodes)])
        cpus = min(room, rng.choice((1, 2, 3, 4, 8)))
        runtime = rng.randint(1, 90)
        kinds = ({}, {}, {}, {}, {"requeue": False}, {"exclusive": "node"}, {"partitions": (part, "third")})
        options: dict[str, Any] = dict(rng.choice(kinds))
        submit = rng.randint(0, 150) if k > 1 else 0
        limit = runtime + rng.choice((0, 10, 50))
        jobs.append(asked(k, submit, cpus, runtime, limit, part, qos=rng.choice(("low", "low", "high")), **options))
    place = Site("drawn", machine, parts, quality, scheduler=scheduler)
    return place, sorted(jobs, key=lambda j: (j.submit, int(j.id)))


@pytest.mark.parametrize("seed", some_now([42, *range(42)], 20))
@pytest.mark.parametrize("preempts", [True, False])
def test_all_attempts_start_as_second_by_second(seed: int, preempts: bool) -> None:
    place, jobs = drawn(seed)
    if not preempts:
        place = replace(place, scheduler=replace(place.scheduler, preempt_type="none"))
    run = simulated(place, jobs)
    recorded = [
        SlurmJob(
            j.id, j.user, j.submit, j.walltime, j.asked, number=int(j.id), attempts=ran(j.submit, j.submit + j.runtime, "n1")
        )
        for j in jobs
    ]  # fmt: skip
    begun = SecondBySecond(place, recorded).run()
    assert sorted((a.start, a.job) for a in attempts_of(run)) == sorted((s.time, recorded[s.job].id) for s in begun)


def test_logs_are_drawn_in_which_jobs_are_preempted() -> None:
    whys = [a[3] for seed in range(10) for a in attempts(simulated(*drawn(seed)))]
    assert sum(why.startswith("preempted by") for why in whys) >= 10


# --- Jobs that run when the replay begins.


def begun(
    number: int, start: int, cpus: int, limit: int, runtime: int, nodes: dict[str, int], **options: Any
) -> Running:
    """Return a job that runs at the begin."""
    job_of_it = asked(number, start, cpus, runtime, limit, **options)
    return Running(job_of_it, start, nodes, start + limit)


def test_a_job_that_runs_at_the_begin_is_preempted_and_comes_back() -> None:
    place, jobs = two_jobs()
    running = [begun(9, 10, 4, 500, 400, {"n1": 4}, qos="low")]
    run = simulated(place, jobs[1:], running=running, begin=40)
    assert attempts(run) == [
        ("9", 10, 50, "preempted by 2", 0),
        ("2", 50, 80, "completed", 30),
        ("9", 171, 571, "completed", 400),
    ]


def test_a_job_that_runs_at_the_begin_is_cancelled() -> None:
    place, jobs = two_jobs("cancel", grace_time=20)
    run = simulated(place, jobs[1:], running=[begun(9, 10, 4, 500, 400, {"n1": 4}, qos="low")], begin=40)
    assert attempts(run) == [("9", 10, 70, "preempted by 2", 0), ("2", 70, 100, "completed", 30)]
    assert [r.true_end for r in run.workload.running] == [70]
    for other, why in (
        (two_jobs("cancel", grace_time=90)[0], "before it could be preempted"),
        (two_jobs(grace_time=20)[0], "with none of its work kept; expected 0 s"),
        (replace(place, qos=[QOS("low"), QOS("high")]), "may not preempt it"),
    ):
        (fault,) = violations(run, preempted=PreemptionRules(other, requeue_of("restart")))
        assert "runs at the begin and ended at 70" in fault.message and why in fault.message


def test_the_time_before_the_begin_counts_for_the_exemption() -> None:
    place, jobs = two_jobs(preempt_exempt_time=35)
    late = simulated(place, jobs[1:], running=[begun(9, 20, 4, 500, 400, {"n1": 4}, qos="low")], begin=40)
    assert attempts(late)[0][2] >= 55
    early = simulated(place, jobs[1:], running=[begun(9, 10, 4, 500, 400, {"n1": 4}, qos="low")], begin=40)
    assert attempts(early)[0][2] == 50


def test_a_job_may_depend_on_one_that_runs_at_the_begin() -> None:
    place, _ = two_jobs()
    after = asked(3, 45, 4, 5, 10, qos="low", dependencies=(Dependency("afterok", ("9",)),))
    run = simulated(place, [after], running=[begun(9, 10, 1, 500, 90, {"n1": 1}, qos="low")], begin=40)
    assert run.start.tolist() == [100]


def test_tasks_that_run_at_the_begin_count_in_the_limit_of_their_array() -> None:
    place, _ = two_jobs()
    first = Running(replace(asked(7, 0, 1, 60, 90, qos="low", array_limit=1), id="7_1"), 0, {"n1": 1}, 90)
    second = replace(asked(7, 0, 1, 60, 90, qos="low", array_limit=1), id="7_2")
    run = simulated(place, [second], running=[first], begin=40)
    assert run.start.tolist() == [60]


@pytest.mark.parametrize("seed", some_now(range(30), 15))
def test_jobs_that_run_at_the_begin_are_preempted_by_the_rules(seed: int) -> None:
    """Replays of drawn logs are cut in two: the second half begins with what runs then."""
    place, jobs = drawn(seed)
    whole = simulated(place, jobs)
    cut = int(np.median(whole.start))
    by_id = {j.id: j for j in jobs}
    p = whole.placement
    running, left = [], []
    for k, name in enumerate(whole.workload.ids):
        start, end = int(whole.start[k]), int(whole.end[k])
        if start < cut < end and start >= by_id[name].submit:
            nodes: dict[str, int] = {}
            for r in range(p.first[k], p.first[k + 1]):
                nodes |= dict.fromkeys(whole.platform.nodes[p.low[r] : p.high[r] + 1], int(p.units[r]))
            running.append(Running(by_id[name], start, nodes, start + by_id[name].walltime))
        elif start >= cut:
            left.append(by_id[name])
    if running and left:
        again = simulated(place, left, running=running, begin=cut)
        assert len(again.start) >= len(left)


def test_cut_replays_preempt_jobs_that_run_at_their_begin() -> None:
    place, _ = two_jobs()
    many = [begun(k, 0, 1, 500, 400, {"n1": 1}, qos="low") for k in (11, 12, 13, 14)]
    run = simulated(place, [asked(2, 50, 2, 30, 60, qos="high")], running=many, begin=40)
    whys = [a[3] for a in attempts(run)]
    assert whys.count("preempted by 2") == 2  # as many as it needs
