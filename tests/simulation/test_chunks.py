"""Replays with heterogeneous jobs: checked second by second, by the verification, and through files."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from draws import some_seeds_now
from schedlab.instances import Workload, WorkloadError
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.simulation import (
    POLICIES,
    Decision,
    SimulationError,
    Start,
    read_attempts,
    read_jobs,
    violations,
    write_attempts,
    write_jobs,
)
from simulation.second_by_second import faults, records
from simulation.small_worlds import random_world
from simulation.test_small_worlds import replay
from simulation.toy_dispatchers import FirstFit

MACHINE = Platform([NodeGroup("n", 2, {"cores": 4})])
QUEUES = [Queue("q", 60)]
HET = Job.of_chunks("h", 1, 5, [(1, {"cores": 4}), (2, {"cores": 1})], "q", runtime=5)
NAMES = ["fcfs", "easy", "conservative", "pbs-fifo", "easy++", "rule:wt", FirstFit]


@pytest.mark.parametrize("seeds", some_seeds_now(20, 40))
@pytest.mark.parametrize("name", NAMES, ids=str)
def test_replays_of_small_worlds_with_chunks_have_no_fault(name, seeds):
    several = early = 0
    for seed in seeds:
        world = random_world(seed, chunks=True)
        run, left = replay(world, name)
        assert faults(world, records(run), left) == [], f"seed {seed}"
        several += sum(bool(j.further) for j in world.jobs)
        early += run.history is not None
    assert several > 15 and early > 0  # the worlds are not trivial


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "pbs-fifo"])
def test_compiled_replays_equal_those_of_the_loop_in_python(name):
    for seed in range(8):
        world = random_world(seed, chunks=True)
        compiled, left = replay(world, name)
        live, same = replay(world, name, charge_decisions=True)
        assert [compiled.start.tolist(), left] == [live.start.tolist(), same]
        assert compiled.schedule() == live.schedule()


def plan(*jobs):
    return Dispatch(MACHINE, jobs, QUEUES, "waiting")


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative"])
def test_all_chunks_wait_for_the_last_one(name):
    long = Job("long", 0, 20, 1, {"cores": 3}, "q", runtime=20)
    short = Job("short", 0, 10, 1, {"cores": 2}, "q", runtime=10)
    run = sl.simulate(plan(long, short, HET), dispatcher=name)
    assert run.start.tolist() == [0, 0, 20] or run.start.tolist() == [0, 0, 10]
    assert run.schedule().start["h"] == run.start[2]
    assert sum(run.schedule().nodes["h"].values()) == 1 and sum(run.schedule().nodes["h+1"].values()) == 2


def test_easy_reserves_nodes_for_all_chunks_of_the_head():
    """The head needs a whole node and 2 cores of the other at 10; a job of 1 core may run beside it, one of 3 may not."""
    busy = [Job(f"b{k}", 0, 10, 1, {"cores": 3}, "q", runtime=10) for k in range(2)]
    thin = Job("thin", 2, 30, 1, {"cores": 1}, "q", runtime=30)
    run = sl.simulate(plan(*busy, HET, thin), dispatcher="easy")
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"b0": 0, "b1": 0, "h": 10, "thin": 2}
    wide = replace(thin, id="wide", units=2)
    run = sl.simulate(plan(*busy, HET, wide), dispatcher="easy")
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"b0": 0, "b1": 0, "h": 10, "wide": 10}


def test_the_verification_sees_wrong_nodes_of_chunks():
    run = sl.simulate(plan(HET), dispatcher="fcfs")
    assert run.violations == []
    p = run.placement
    run.placement = p._replace(
        units=np.array([1, 1]), low=np.array([0, 1]), high=np.array([0, 1]), first=np.array([0, 2])
    )
    assert [v.message for v in violations(run)] == ["job 'h+1' starts at 1 and has 1 unit on nodes; expected 2"]
    run.placement = p._replace(
        units=np.array([1, 2]), low=np.array([0, 0]), high=np.array([0, 0]), first=np.array([0, 2])
    )
    assert [v.message for v in violations(run)] == ["node 'n-1' at 1: 6 cores in use, it has 4 (job 'h+1' starts)"]


def test_jobs_csv_keeps_the_chunks(tmp_path):
    for seed in range(15):
        world = random_world(seed, chunks=True, outages=seed % 3 > 0)
        run, _ = replay(world, "easy")
        write_jobs(run, tmp_path / "jobs.csv")
        again = read_jobs(tmp_path / "jobs.csv").replay(run.workload, run.platform)
        if write_attempts(run, tmp_path / "attempts.csv"):
            begun = [r for parts in run.history.begun.values() for r in parts]
            given = replace(world.workload(), running=(*begun, *run.workload.running))
            whole, read = read_attempts(tmp_path / "attempts.csv", given, run.platform)
            assert (read.early, read.gone, read.begun) == (run.history.early, run.history.gone, run.history.begun)
            assert (whole.ids, whole.chunks) == (run.workload.ids, run.workload.chunks)
            again = replace(again, history=read)
        again = replace(again, states=run.states)
        assert violations(again, partial=True) == []
        assert [a.tolist() for a in again.placement] == [a.tolist() for a in run.placement]


def running_at_begin():
    """A workload whose heterogeneous job runs from 0 on, on both nodes; the replay begins at 2."""
    parts = [replace(part, submit=0, array="a", runtime=20, walltime=30) for part in HET.parts]
    on = ({"n-1": 1}, {"n-2": 2})
    running = [Running(part, 0, nodes, 30) for part, nodes in zip(parts, on, strict=True)]
    others = [Job("first", 0, 5, 1, {"cores": 1}, "q", runtime=5), replace(HET, id="last", submit=7)]
    return Workload.of(plan(*others)).beginning(2, running)


DOWN = [NodeEvent(9, "node-down", ["n-2"]), NodeEvent(12, "node-up", ["n-2"])]


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "pbs-fifo", FirstFit], ids=str)
def test_the_chunks_of_a_job_that_runs_at_the_begin_fail_and_come_back_together(name, tmp_path):
    w = running_at_begin()
    run = sl.simulate(w, MACHINE, name, events=DOWN, requeue="checkpoint:5")
    assert run.violations == [] and run.workload.running == ()
    row = {job: k for k, job in enumerate(run.workload.ids)}
    assert set(row) == {"h", "first", "last"} and row["h"] in run.history.begun
    assert run.workload.job(row["h"]).chunks == HET.chunks and run.workload.job(row["h"]).array == "a"
    (attempt,) = (a for a in run.history.early if a.job == "h")
    assert (attempt.start, attempt.end, attempt.why) == (0, 9, "down: n-2")
    assert (attempt.nodes, attempt.further, attempt.work_done) == ({"n-1": 1}, ({"n-2": 2},), 5)
    assert run.start[row["h"]] >= 12 and run.end[row["h"]] - run.start[row["h"]] == 15
    assert sum(run.schedule().nodes["h+1"].values()) == 2
    assert write_attempts(run, tmp_path / "attempts.csv")
    whole, read = read_attempts(tmp_path / "attempts.csv", w, MACHINE)
    assert whole.chunks == run.workload.chunks and whole.arrays == run.workload.arrays
    assert read.early == run.history.early and set(read.begun) == set(run.history.begun)


def test_the_chunks_of_a_job_that_runs_at_the_begin_are_dropped_together(tmp_path):
    w = running_at_begin()
    run = sl.simulate(w, MACHINE, "easy", events=DOWN, requeue="drop")
    assert run.violations == []
    assert {r.job.id: r.true_end for r in run.workload.running} == {"h": 9, "h+1": 9}
    (gone,) = run.history.gone
    assert (gone.job, gone.end, gone.nodes, gone.further) == ("h", 9, {"n-1": 1}, ({"n-2": 2},))
    write_jobs(run, tmp_path / "jobs.csv")
    lines = (tmp_path / "jobs.csv").read_text().splitlines()
    failed = [line.split(",")[0] for line in lines if "COMPLETED_FAILED" in line]
    assert sorted(failed) == ["h", "h+1"]
    assert write_attempts(run, tmp_path / "attempts.csv")
    whole, read = read_attempts(tmp_path / "attempts.csv", w, MACHINE)
    assert read.gone == run.history.gone
    assert {r.job.id: r.true_end for r in whole.running} == {"h": 9, "h+1": 9}


def test_the_verification_sees_a_chunk_that_ran_elsewhere_at_the_begin():
    run = sl.simulate(running_at_begin(), MACHINE, "easy", events=DOWN, requeue="restart")
    (k,) = (k for k, a in enumerate(run.history.early) if a.job == "h")
    early = list(run.history.early)
    early[k] = replace(early[k], further=({"n-1": 2},))
    run.history = replace(run.history, early=tuple(early))
    assert any("job 'h+1': runs at the begin and ran from 0 to 9 on {'n-1': 2}" in v.message for v in violations(run))


def test_a_workload_keeps_chunks_and_arrays():
    jobs = [HET, replace(Job("a[0]", 0, 5, 1, {"cores": 1}, "q", runtime=3), array="a")]
    w = Workload.of(plan(*jobs))
    assert w.job(1).chunks == HET.chunks and w.job(0).array == "a"
    assert w.keep(np.array([1])).job(0) == w.job(1)
    assert w.job_arrays.amounts.tolist() == [[1], [6]]
    assert w.dispatch(MACHINE).jobs[1].chunks == HET.chunks
    small = Platform([NodeGroup("n", 1, {"cores": 4})])
    kept = w.on(small)
    assert kept.ids == ("a[0]",) and kept.report.dropped[0][0] == "h"


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ((), "job 'h' has 1 further chunk; its start has nodes for 0"),
        (({"n-2": 1},), r"job 'h\+1' has 2 units; the units of its start are {'n-2': 1}"),
        (({"n-1": 2},), "job 'h' needs 2 cores on node 'n-1', where 0 are free"),
        (({"n-9": 2},), "the platform has no node 'n-9', which job 'h\\+1' should use"),
        (3, "Start.further of job 'h' is 3"),
    ],
)
def test_wrong_starts_of_chunks_are_refused(further, message):
    class Wrong:
        name = "wrong"

        def begin(self, platform, queues, seed):
            """Nothing to prepare."""

        def decide(self, moment):
            return Decision([Start("h", {"n-1": 1}, further)])

    with pytest.raises(SimulationError, match=message):
        sl.simulate(plan(HET), dispatcher=Wrong())


def test_dardis_refuses_chunks_before_the_replay():
    with pytest.raises(
        WorkloadError, match="job 'h' has several chunks, which dispatcher dardis:throughput does not take"
    ):
        sl.simulate(plan(HET), dispatcher="dardis:throughput")


def test_a_policy_of_a_dispatcher_in_python_starts_all_chunks():
    class Delegates:
        name = "delegates"

        def begin(self, platform, queues, seed):
            self.running = []

        def decide(self, moment):
            self.running.append([r.job.id for r in moment.running])
            return Decision((), policy=POLICIES["easy"])

    dispatcher = Delegates()
    late = Job("late", 2, 5, 1, {"cores": 1}, "q", runtime=5)
    run = sl.simulate(plan(HET, late), dispatcher=dispatcher)
    assert run.violations == [] and ["h", "h+1"] in dispatcher.running
    assert run.schedule().nodes["h+1"].keys() == {"n-2"} or run.schedule().nodes["h+1"].keys() == {"n-1"}


def test_the_table_of_a_jobs_csv_has_a_row_for_each_chunk(tmp_path):
    run = sl.simulate(plan(HET, Job("a", 0, 9, 2, {"cores": 1}, "q", runtime=9)), dispatcher="easy")
    write_jobs(run, tmp_path / "jobs.csv")
    chunks, job = read_jobs(tmp_path / "jobs.csv").by_chunk()
    assert ([chunks.ids[k] for k in range(3)], job.tolist()) == (["a", "h", "h"], [0, 1, 1])
    assert chunks.units.tolist() == [2, 1, 2]
    assert [chunks.kinds[k].request["cores"] for k in chunks.kind.tolist()] == [1, 4, 1]
    p = chunks.placement
    nodes = p.units * (p.high - p.low + 1)
    assert [int(nodes[a:b].sum()) for a, b in zip(p.first[:-1], p.first[1:], strict=True)] == [2, 1, 2]
