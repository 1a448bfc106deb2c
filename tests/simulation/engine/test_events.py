"""Node events during a replay, with busy beginnings, dependencies, planned starts and decisions that take time."""

import time
from dataclasses import replace

import numpy as np
import pytest
from schedlab.instances import Workload
from schedlab.instances.workload import NEVER
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.simulation import (
    Decision,
    FailedStart,
    PlannedStart,
    SimulationError,
    Start,
    read_attempts,
    read_jobs,
    simulate,
    violations,
    write_attempts,
    write_jobs,
)
from schedlab.simulation.curves import running as running_jobs

QUEUES = (Queue("any", 60),)
POLICIES = ["fcfs", "rule:wt", "rule:slowdown", "easy", "easy++", "conservative"]


def machine(nodes=1):
    return Platform([NodeGroup("n", nodes, {"cores": 1})])


def job(name, submit=0, runtime=10, units=1, walltime=None, **fields):
    request = fields.pop("request", {"cores": 1})
    return Job(name, submit, walltime or max(1, runtime), units, request, "any", runtime=runtime, **fields)


def day(*jobs, running=(), now=0, nodes=1, after=None):
    w = Workload.of(Dispatch(machine(nodes), jobs, QUEUES, "waiting", now, running, durations="runtime"))
    row = {name: k for k, name in enumerate(w.ids)}
    return replace(w, after={row[j]: (row[before], think) for j, (before, think) in (after or {}).items()})


def down(*times, node="n-1"):
    """The node is down from the first time to the second, from the third to the fourth, ..."""
    return [NodeEvent(t, ("node-down", "node-up")[k % 2], [node]) for k, t in enumerate(times)]


class Scripted:
    """A dispatcher that answers as told, and keeps its moments."""

    name, needs = "scripted", {"always"}

    def __init__(self, answer):
        self.answer, self.moments = answer, []

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        self.moments.append(moment)
        found = self.answer(moment)
        return found if isinstance(found, Decision) else Decision(found)


def by_row(run):
    return {name: (s, e) for name, s, e in zip(run.workload.ids, run.start.tolist(), run.end.tolist(), strict=True)}


# starts on nodes that take none


@pytest.mark.parametrize("kind", ["node-down", "node-drain", "node-reserve"])
def test_a_start_on_a_node_that_takes_none_is_refused(kind):
    state = {"node-down": "down", "node-drain": "draining", "node-reserve": "reserved"}[kind]
    dispatcher = Scripted(lambda m: [Start("a", {"n-1": 1})] if m.waiting else [])
    with pytest.raises(SimulationError, match=rf"job 'a' cannot start on node 'n-1', which is {state}") as caught:
        simulate(day(job("a", 3), nodes=2), machine(2), dispatcher, events=[NodeEvent(1, kind, ["n-1"])])
    assert (caught.value.job, caught.value.node, caught.value.time) == ("a", "n-1", 3)


def test_a_job_that_requests_nothing_is_refused_there_too():
    dispatcher = Scripted(lambda m: [Start("a", {"n-1": 1})] if m.waiting else [])
    with pytest.raises(SimulationError, match="cannot start on node 'n-1', which is down"):
        simulate(day(job("a", 3, request={}), nodes=2), machine(2), dispatcher, events=down(1))


@pytest.mark.parametrize("name", ["hcp3@cpsat", "pcp3@cpsat", "pcp@cpsat", "easy", "conservative"])
def test_a_job_that_requests_nothing_starts_on_a_node_that_takes_starts(name):
    run = simulate(day(job("a", 3, request={}), job("b", 3), nodes=2), machine(2), name, events=down(1))
    assert {j: dict(on) for j, on in run.schedule().nodes.items()} == {"a": {"n-2": 1}, "b": {"n-2": 1}}


def test_a_planned_start_on_a_node_that_went_down_is_told():
    def answer(moment):
        if moment.now == 0:
            return Decision([], plan=[PlannedStart("a", {"n-1": 1}, 5), PlannedStart("b", {"n-2": 1}, 6)])
        return [Start("a", {"n-2": 1})] if moment.now >= 16 and moment.waiting else []

    dispatcher = Scripted(answer)
    run = simulate(day(job("a"), job("b"), nodes=2), machine(2), dispatcher, events=down(5, 90))
    failed = [f for m in dispatcher.moments for f in m.failed]
    assert failed == [FailedStart("a", {"n-1": 1}, 5, "node 'n-1' is down")]
    assert by_row(run) == {"a": (16, 26), "b": (6, 16)}


def test_a_planned_start_waits_while_nodes_change_and_nothing_runs():
    def answer(moment):
        return Decision([], plan=[PlannedStart("a", {"n-1": 1}, 50)]) if moment.now == 0 else []

    run = simulate(day(job("a")), machine(), Scripted(answer), events=down(10, 20, 30, 50, 60, 70))
    assert run.history is None and by_row(run) == {"a": (50, 60)}


def test_starts_on_a_node_that_went_down_during_a_decision_are_skipped(monkeypatch):
    ticks = iter(range(0, 10**6, 3))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))

    def answer(moment):
        free = [name for name, state in zip(moment.platform.nodes, moment.states, strict=True) if state == "up"]
        return [Start(j.id, {free[0]: 1}) for j in moment.waiting[:1]] if free and moment.free.max() > 0 else []

    dispatcher = Scripted(answer)
    run = simulate(day(job("a")), machine(), dispatcher, events=down(2, 20), charge_decisions=True)
    first = dispatcher.moments[0]
    assert (
        first.states == ("up",) and first.now == 0
    )  # the start of this call is skipped at 3: the node is down since 2
    assert run.history is None and run.start[0] > 20
    assert run.violations == []


# jobs that run at the begin


HELD = Running(job("r", -7, 20, walltime=30), -5, {"n-1": 1}, 25)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("requeue", "end", "wait"), [("restart", 40, 2 + 14), ("checkpoint:4", 32, 2 + 14), ("checkpoint:6", 34, 2 + 14)]
)
def test_a_job_that_runs_at_the_begin_fails_and_comes_back(policy, requeue, end, wait):
    """It has run 11 s, 5 of them before second 0, and comes back at 6."""
    run = simulate(day(job("a", 30, 3), running=[HELD]), machine(), policy, events=down(6, 20), requeue=requeue)
    assert run.violations == []
    assert by_row(run)["r"] == (20, end)
    assert dict(zip(run.workload.ids, run.wait.tolist(), strict=True))["r"] == wait
    (attempt,) = run.history.early
    kept = 40 - end
    assert (attempt.job, attempt.start, attempt.end, attempt.work_done, attempt.lost) == ("r", -5, 6, kept, 11 - kept)
    assert attempt.why == "down: n-1" and run.workload.running == ()
    assert run.metrics.started == 2 and run.metrics.jobs == 2
    times, jobs = running_jobs(run)
    assert dict(zip(times.tolist(), jobs.tolist(), strict=True))[0] == 1


@pytest.mark.parametrize("policy", [*POLICIES, "hcp3@cpsat"])
def test_a_job_that_runs_at_the_begin_fails_and_is_dropped(policy):
    run = simulate(day(job("a", 0, 3), running=[HELD]), machine(), policy, events=down(6, 20), requeue="drop")
    assert run.violations == [] and by_row(run) == {"a": (20, 23)}
    assert [(a.job, a.end, a.work_done) for a in run.history.gone] == [("r", 6, 0)]
    assert run.attempts.job.tolist() == ["r", "a"] and run.workload.running[0].true_end == 6
    assert run.metrics.started == 1  # as all jobs that run at the begin and do not come back


def test_the_place_in_the_queue_is_the_one_of_the_submission():
    def answer(moment):
        return [Start(j.id, {"n-1": 1}) for j in moment.waiting[:1]] if moment.free[0, 0] > 0 else []

    for dispatcher in ("fcfs", Scripted(answer)):
        jobs = [job("before", -9, 5), job("behind", -1, 5)]
        run = simulate(day(*jobs, running=[HELD], now=2), machine(), dispatcher, events=down(6, 20))
        assert by_row(run) == {"before": (20, 25), "r": (25, 45), "behind": (45, 50)}


def test_a_job_that_runs_at_the_begin_longer_than_its_walltime_is_killed_in_its_next_attempt():
    held = replace(HELD, job=replace(HELD.job, walltime=15))
    run = simulate(day(job("a", 90), running=[held]), machine(), "easy", events=down(6, 20), kill_at_walltime=True)
    assert run.violations == [] and by_row(run)["r"] == (20, 35)
    assert run.attempts.why.tolist() == ["down: n-1", "walltime", "completed"]


def test_states_before_the_begin_count_as_one_at_the_begin():
    """Node 1 is up again at the begin; node 2 is down, and its job fails at once; a job without nodes gets node 3."""
    held = [
        replace(HELD, start=50),
        Running(job("s", 40, 99), 60, {"n-2": 1}, 200),
        Running(job("t", 40, 99), 61, {}, 200),
    ]
    events = [*down(60, 70), *down(80, node="n-2")]
    w = day(job("a", 90, 1), nodes=3).beginning(100, [replace(r, job=replace(r.job, runtime=99)) for r in held])
    run = simulate(w, machine(3), "fcfs", events=events)
    assert run.violations == []
    assert [(a.job, a.start, a.end, a.why) for a in run.history.early] == [("s", 60, 100, "down: n-2")]
    assert {r.job.id: dict(r.nodes) for r in run.workload.running} == {"r": {"n-1": 1}, "t": {"n-3": 1}}


def test_a_plan_for_a_job_that_runs_at_the_begin_is_refused():
    dispatcher = Scripted(lambda m: Decision([], plan=[PlannedStart("r", {"n-1": 1}, 30)]))
    with pytest.raises(SimulationError, match="job 'r' has started already, at -5"):
        simulate(day(job("a"), running=[HELD]), machine(), dispatcher, events=down(6, 20))


@pytest.mark.parametrize("requeue", ["restart", "checkpoint:4", "drop"])
def test_the_files_of_a_replay_hold_the_attempts_of_jobs_that_ran_at_the_begin(requeue, tmp_path):
    w = day(job("a", 0, 3), job("b", 1, 30), running=[HELD, Running(job("s", 0, 9), 0, {"n-2": 1}, 9)], nodes=2)
    run = simulate(w, machine(2), "easy", events=[*down(6, 20), *down(25, 33, node="n-2")], requeue=requeue)
    write_jobs(run, tmp_path / "jobs.csv")
    assert write_attempts(run, tmp_path / "attempts.csv")
    whole, history = read_attempts(tmp_path / "attempts.csv", w, run.platform)
    read = replace(read_jobs(tmp_path / "jobs.csv").replay(whole, run.platform), history=history, states=run.states)
    assert violations(read) == []
    assert (read.workload.ids, by_row(read)) == (run.workload.ids, by_row(run))
    assert (history.early, history.gone, history.dropped) == (run.history.early, run.history.gone, run.history.dropped)
    assert ("COMPLETED_FAILED" in (tmp_path / "jobs.csv").read_text()) == (requeue == "drop")


FAULTS = {
    "starts at another time": lambda a: replace(a, start=-4),
    "runs on other nodes": lambda a: replace(a, nodes={"n-2": 1}),
    "ends when no node stops": lambda a: replace(a, end=7),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_verification_finds_a_wrong_attempt_from_before_the_begin(name):
    run = simulate(day(job("a", 30), running=[HELD], nodes=2), machine(2), "easy", events=down(6, 20))
    assert violations(run) == []
    run.history = replace(run.history, early=tuple(map(FAULTS[name], run.history.early)))
    assert violations(run) != []


def test_the_verification_finds_a_job_that_runs_from_the_begin_through_an_outage():
    run = simulate(day(job("a", 30), running=[HELD], nodes=2), machine(2), "easy", events=down(90))
    assert violations(run) == []
    run.states = simulate(day(job("a", 30), nodes=2), machine(2), "easy", events=down(6, 20)).states
    assert ["'r': from -5 to 15: runs on node 'n-1', down since 6" in v.message for v in violations(run)] == [True]


# jobs that wait for others


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative"])
@pytest.mark.parametrize(
    ("requeue", "starts"),
    [("restart", {"a": 20, "b": 33}), ("checkpoint:3", {"a": 20, "b": 27}), ("drop", {"a": 0, "b": 20})],
)
def test_a_job_that_waits_for_a_job_that_fails(dispatcher, requeue, starts):
    """The followers arrive 3 s after the final end; that of a job that is dropped is the end of its last attempt."""
    w = day(job("a"), job("b", 1, 5), after={"b": ("a", 3)})
    run = simulate(w, machine(), dispatcher, events=down(7, 20), requeue=requeue)
    assert run.violations == []
    assert {name: start for name, (start, _) in by_row(run).items()} == starts
    arrived = {"restart": 33, "checkpoint:3": 27, "drop": 10}[requeue]
    assert run.workload.submit.tolist() == [0, arrived]


def test_followers_of_a_dropped_job_arrive_at_once_without_a_think_time():
    w = day(job("a"), job("b", 1, 5), job("c", 2, 5), after={"b": ("a", 0), "c": ("b", 4)}, nodes=2)
    run = simulate(w, machine(2), "fcfs", events=down(7, 8), requeue="drop")
    assert by_row(run) == {"a": (0, 7), "b": (7, 12), "c": (16, 21)}


@pytest.mark.parametrize(
    "events", [down(12, 14, 16, 18), down(15, 60), [NodeEvent(t, "node-up", ["n"]) for t in (11, 30)]]
)
def test_changes_of_nodes_while_only_a_follower_is_to_come(events):
    """Nothing runs and nothing waits between the end of a at 10 and the arrival of b at 30."""
    run = simulate(day(job("a"), job("b", 1, 5), after={"b": ("a", 20)}), machine(), "fcfs", events=events)
    assert run.violations == [] and run.start.tolist() == [0, 60 if events[-1].time == 60 else 30]


def test_jobs_that_never_arrive_are_named():
    w = day(job("a", units=2), job("b"), job("c"), after={"b": ("a", 0), "c": ("b", 0)}, nodes=2)
    with pytest.raises(SimulationError, match="and 2 jobs wait for the end of another job") as caught:
        simulate(w, machine(2), "easy", events=down(0))
    assert caught.value.waiting == {
        "a": "it has 2 units, and only 1 fit on the nodes that take starts to the end (n-1 is down)",
        "b": "it has not arrived: it waits for the end of job 'a'",
        "c": "it has not arrived: it waits for the end of job 'b'",
    }


def test_the_verification_looks_at_the_first_attempt_of_a_follower():
    w = day(job("a"), job("b", 1, 30), after={"b": ("a", 3)})
    run = simulate(w, machine(), "fcfs", events=down(20, 25))
    assert by_row(run)["b"] == (25, 55) and violations(run) == []
    (attempt,) = run.history.early
    run.history = replace(run.history, early=(replace(attempt, start=12),))
    assert any("before 13: its preceding job 'a' ends at 10" in v.message for v in violations(run))


def test_rows_for_jobs_that_fail_at_the_begin_keep_partitions_and_latest_starts():
    first = Running(job("r", 0, 20, latest_start=40), 0, {"n-1": 1}, 20)
    w = day(job("a", 3, latest_start=8), job("b", 4), running=[first], now=2)
    w = replace(w, partition=np.array([0, 1]), partitions=("cpu", "gpu"))
    run = simulate(w, machine(), "fcfs", events=down(5, 30))
    rows = dict(zip(run.workload.ids, zip(run.workload.partition, run.workload.latest_start, strict=True), strict=True))
    named = {name: (run.workload.partitions[p], int(latest)) for name, (p, latest) in rows.items()}
    assert named == {"r": ("unknown", 40), "a": ("cpu", 8), "b": ("gpu", NEVER)}
    assert run.metrics.late_starts == {"jobs": 2, "count": 1, "share": 0.5, "tardiness": 42.0}
    assert run.metrics.by("partition")["unknown"].jobs == 1
