"""On-demand jobs in replays: cases by hand, checkpoint models, failures, and faults that the verification finds."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab import WrongValue
from schedlab.instances import Workload
from schedlab.models import Checkpointing, Dispatch, EvictionPlan, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.simulation import (
    OnDemandJob,
    Preemption,
    SimulationError,
    checkpoints_of,
    evictor_of,
    requeue_of,
    violations,
)
from schedlab.simulation.preemption import Daly, Failure, FailureRate, Young, events_of

MACHINE = Platform([NodeGroup("n", 4, {"cores": 1})])
# 100 MB on each node: 4 s for 2 nodes by the file system (50 MB/s)
STORAGE = Checkpointing(
    memory=100, memory_share=(1, 1), application_share=(0.5, 0.5), file_system_mb_s=50, node_mb_s=50
)


def day(*rows):
    """Return a workload of jobs (submit, runtime, nodes)."""
    jobs = [
        Job(f"b{k}", submit, runtime + 100, nodes, {"cores": 1}, "q", runtime=runtime)
        for k, (submit, runtime, nodes) in enumerate(rows)
    ]
    return Workload.of(Dispatch(MACHINE, jobs, [Queue("q", 100)]))


def replay(workload, *urgent, evictor="dp", **settings):
    made = Preemption(urgent, evictor, **({"storage": STORAGE, "step": 1, "checkpoints": "fixed:30"} | settings))
    run = sl.simulate(workload, MACHINE, "easy", preemption=made)
    assert run.violations == []
    return run


def ends(run):
    return {a.job: (a.end, a.why, a.work_done) for a in run.history.early}


def test_a_killed_job_comes_back_with_the_work_of_its_last_checkpoint():
    run = replay(day((0, 100, 4)), OnDemandJob("u", 50, 2, 0, 10), evictor="kill", restart=7)
    assert ends(run) == {"b0": (50, "evicted (kill): u", 30)}
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"b0": 60, "u": 50}
    assert run.end.tolist()[0] == 60 + 7 + 70  # the restart, and what is left
    found = run.metrics.preemption
    attempts = [(a.work_done, a.lost) for a in run.attempts.itertuples() if a.job == "b0"]
    assert attempts == [(30, 20), (70, 7)]  # together the runtime, 100 s; the restart is lost time
    assert found["repeated_node_hours"] == 4 * 20 / 3600 and found["restart_node_hours"] == 4 * 7 / 3600
    # it ends 137 s after its submission, and its work takes 100 s: the restart is no part of its duration
    assert found["batch_slowdown_mean"] == 137 / 100


def test_a_system_checkpoint_keeps_all_work_up_to_its_writing():
    run = replay(day((0, 100, 2), (0, 100, 2)), OnDemandJob("u", 50, 4, 20, 10))
    # 2 nodes x 100 MB / 50 MB/s = 4 s each, one after another; application-level checkpoints come at 60, after 10 s
    kinds = {d.strategy for d in run.preemption.departures}
    assert kinds == {"sys"} and sorted(ends(run).values()) == [
        (54, "evicted (sys): u", 50),
        (58, "evicted (sys): u", 54),
    ]
    assert run.start[run.workload.ids.index("u")] == 58
    assert run.metrics.preemption["lost_node_hours"] == 2 * (4 + 4) / 3600


def test_an_application_checkpoint_is_awaited_if_it_is_faster():
    slow = replace(
        STORAGE, application_share=(0.01, 0.01), memory=1000
    )  # 40 s for a system checkpoint, 1 s for 2 nodes
    run = replay(day((0, 100, 2)), OnDemandJob("u", 55, 4, 10, 10), storage=slow)
    assert ends(run) == {"b0": (61, "evicted (app): u", 60)}


def test_nodes_that_become_free_in_time_make_an_eviction_superfluous():
    run = replay(day((0, 52, 2), (0, 100, 2)), OnDemandJob("u", 50, 2, 20, 10), checkpoints="fixed:60",
                 storage=replace(STORAGE, memory=1000, application_share=(0.01, 0.01)))  # fmt: skip
    assert run.history is None and run.start[run.workload.ids.index("u")] == 52


def test_with_notice_nodes_are_free_at_the_submission():
    run = replay(day((0, 200, 4)), OnDemandJob("u", 100, 4, 0, 10, notice=20))
    assert run.start[run.workload.ids.index("u")] == 100
    assert [d.strategy for d in run.preemption.departures] == ["sys"]
    run = replay(day((0, 200, 4)), OnDemandJob("u", 100, 4, 0, 10, notice=20), evictor="kill")
    assert ends(run)["b0"][0] == 100  # killed as late as possible


def test_reserved_nodes_are_for_on_demand_jobs_only():
    run = replay(day((0, 50, 2), (0, 50, 2), (0, 10, 3)), OnDemandJob("u", 10, 2, 0, 10), evictor="reserve:2")
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"b0": 0, "b1": 50, "u": 10}
    assert "b2" in dict(run.workload.report.dropped)


def test_without_on_demand_jobs_and_failures_a_replay_is_as_before():
    rows = [(10 * k, 30 + 7 * k % 50, 1 + k % 4) for k in range(20)]
    plain = sl.simulate(day(*rows), MACHINE, "easy")
    run = replay(day(*rows))
    assert (run.start == plain.start).all() and (run.end == plain.end).all()
    # an on-demand job after the end of all others; nodes are followed one by one, as with events
    never = [NodeEvent(10**6, "node-drain", ["n-1"])]
    followed = sl.simulate(day(*rows), MACHINE, "easy", events=never)
    run = replay(day(*rows), OnDemandJob("u", 10**6, 1, 0, 1))
    batch = [k for k, name in enumerate(run.workload.ids) if name != "u"]
    assert (run.start[batch] == followed.start).all() and run.preemption.decisions == ()


def test_a_failed_on_demand_job_waits_again_and_failures_use_the_checkpoints():
    down = events_of([Failure(55, "n-1", 20), Failure(60, "n-1", 5)])  # it fails once: at 60 it is down
    assert down == (NodeEvent(55, "node-down", ["n-1"]), NodeEvent(75, "node-up", ["n-1"]))
    run = replay(day((0, 100, 2)), OnDemandJob("u", 50, 2, 30, 10), failures=down)
    jobs = {a.job: a for a in run.history.early}
    assert run.preemption.first_start[run.workload.ids.index("u")] == 50
    (early,) = [a for a in jobs.values() if "n-1" in a.nodes]
    assert early.work_done == (30 if early.job == "b0" else 0)
    assert run.metrics.preemption["missed"] == 0


def test_plans_of_evictors_are_verified():
    class Nobody:
        name = "frees-none"

        def decide(self, problem):
            return EvictionPlan(dict.fromkeys((c.id for c in problem.candidates), "keep"))

    with pytest.raises(SimulationError, match="evictor frees-none at 50, for on-demand job 'u': 0 nodes are freed"):
        replay(day((0, 100, 4)), OnDemandJob("u", 50, 2, 0, 10), evictor=Nobody())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda p: {"departures": ()}, "when none of its nodes stopped"),
        (lambda p: {"departures": (p.departures[0]._replace(write=51), *p.departures[1:])}, "writes for"),
        (
            lambda p: {"departures": tuple(d._replace(stop=50, write=50, end=54) for d in p.departures)},
            "has no attempt",
        ),
        (lambda p: {"settings": replace(p.settings, restart=3)}, "expected"),
        (lambda p: {"settings": replace(p.settings, storage=replace(STORAGE, memory=200))}, "expected"),
    ],
)
def test_the_verification_finds_faults(changes, message):
    run = replay(day((0, 100, 2), (0, 100, 2)), OnDemandJob("u", 50, 4, 20, 10))
    run.preemption = replace(run.preemption, **changes(run.preemption))
    assert any(message in v.message for v in violations(run))


def test_the_verification_finds_checkpoints_at_one_time():
    run = replay(day((0, 100, 2), (0, 100, 2)), OnDemandJob("u", 50, 4, 20, 10), shared_bandwidth=True)
    settings = replace(run.preemption.settings, shared_bandwidth=False)
    first, second = run.preemption.departures
    run.preemption = replace(
        run.preemption, settings=settings, departures=(first, second._replace(stop=first.stop, write=first.write))
    )
    assert any("while another checkpoint is written" in v.message for v in violations(run))


def test_intervals_of_checkpoint_models():
    year = 365 * 86400
    assert Young(2.0).interval("a", 100, 50) == round(np.sqrt(2 * 50 * year / 200))
    assert Daly(2.0).interval("a", 100, 50) < Young(2.0).interval("a", 100, 50)
    assert Daly(1e9).interval("a", 100, 50) == 1  # failures come faster than checkpoints
    with pytest.raises(LookupError, match="young"):
        checkpoints_of("jung:1")
    with pytest.raises(LookupError, match="greedy"):
        evictor_of("gredy")
    with pytest.raises(WrongValue, match="expected a number of at least 0"):
        FailureRate(-1)


@pytest.mark.parametrize(
    ("checkpoints", "requeue", "kept"),
    [
        ("none", "checkpoint:30", 60),
        ("fixed:35", "checkpoint:30", 70),
        ("fixed:35", "checkpoint:50", 50),
        ("fixed:80", "restart", 0),
    ],
)
@pytest.mark.parametrize("restart", [0, 5])
def test_a_failed_job_keeps_its_newest_checkpoint(checkpoints, requeue, kept, restart):
    """Job b0 fails at 75, and again at 200: its own checkpoints and those of the rule for failed jobs both count."""
    down = [NodeEvent(t, kind, ["n-1"]) for t, kind in ((75, "node-down"), (80, "node-up"))]
    if (checkpoints, requeue) == ("fixed:35", "checkpoint:50"):
        kept = 70
    settings = Preemption([], "none", checkpoints, restart=restart, storage=STORAGE, failures=down)
    run = sl.simulate(day((0, 100, 4)), MACHINE, "easy", preemption=settings, requeue=requeue)
    assert run.violations == [] and [a.work_done for a in run.history.early] == [kept]
    assert run.end.tolist() == [80 + restart + 100 - kept]
    run.preemption = replace(run.preemption, requeue=requeue_of("checkpoint:1"))
    assert [v.message for v in violations(run)] == [
        f"job 'b0': attempt 1 keeps {kept} s of work; expected 75 s (down: n-1)"
    ]


def test_decisions_may_take_time_beside_on_demand_jobs():
    settings = Preemption([OnDemandJob("u", 5, 1, 0, 1)])
    run = sl.simulate(day((0, 10, 1), (4, 10, 1)), MACHINE, "easy", preemption=settings, charge_decisions=True)
    assert run.violations == [] and (run.start >= 0).all()


@pytest.mark.parametrize("begun", [-50, 0])
@pytest.mark.parametrize("evictor", ["kill", "dp"])
def test_a_job_that_has_run_since_before_second_0_loses_all_of_its_work(begun, evictor):
    """Three nodes, without a checkpoint: the loss is 3 * (18 - begun) node-seconds, not counted from second 0."""
    nodes = {"n-1": 1, "n-2": 1, "n-3": 1}
    running = Running(Job("b", begun, 400, 3, {"cores": 1}, "q", runtime=200), begun, nodes, begun + 200)
    log = Dispatch(MACHINE, [Job("a", 0, 60, 2, {"cores": 1}, "q", runtime=40)], [Queue("q", 60)], running=[running])
    urgent = Preemption([OnDemandJob("u", 18, 2, 0, 5)], evictor, checkpoints="none", storage=STORAGE, step=1)
    run = sl.simulate(log, preemption=urgent)
    assert run.violations == []
    assert run.preemption.decisions[0].problem.by_id["b"].loss == 3 * (18 - begun)
    (early,) = run.history.early
    assert (early.job, early.start, early.end, early.work_done) == ("b", begun, 18, 0)
    assert run.metrics.preemption["lost_node_hours"] == pytest.approx(3 * (18 - begun) / 3600)


def test_a_job_that_has_run_since_before_second_0_keeps_the_work_of_its_checkpoint():
    running = Running(Job("b", -50, 400, 4, {"cores": 1}, "q", runtime=200), -50, dict.fromkeys(MACHINE.nodes, 1), 150)
    log = Dispatch(MACHINE, [Job("a", 0, 60, 2, {"cores": 1}, "q", runtime=40)], [Queue("q", 60)], running=[running])
    made = Preemption([OnDemandJob("u", 18, 2, 0, 5)], "kill", checkpoints="fixed:30", storage=STORAGE, step=1)
    run = sl.simulate(log, preemption=made)
    assert run.violations == []
    (early,) = run.history.early
    assert (early.start, early.end, early.work_done) == (-50, 18, 60)  # of 68 s, two checkpoints


def test_a_failure_ends_a_job_that_has_run_since_before_second_0():
    running = Running(Job("b", -50, 400, 4, {"cores": 1}, "q", runtime=200), -50, dict.fromkeys(MACHINE.nodes, 1), 150)
    log = Dispatch(MACHINE, [Job("a", 0, 60, 2, {"cores": 1}, "q", runtime=40)], [Queue("q", 60)], running=[running])
    made = Preemption([OnDemandJob("u", 900, 1, 0, 5)], "kill", checkpoints="fixed:30", storage=STORAGE, step=1)
    down = [NodeEvent(18, "node-down", ["n-1"]), NodeEvent(23, "node-up", ["n-1"])]
    run = sl.simulate(log, preemption=made, events=down)
    assert run.violations == []
    (early,) = run.history.early
    assert (early.start, early.end, early.work_done) == (-50, 18, 60)
