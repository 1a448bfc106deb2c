"""Heterogeneous jobs in list scheduling and in the searches: all chunks at one start, never better than the optimum."""

import random

import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import first_solution
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.models.dispatch import impossible

MACHINE = Platform([NodeGroup("gpu", 2, {"cores": 8, "gpus": 2}), NodeGroup("cpu", 3, {"cores": 8})])
QUEUES = [Queue("q", 600), Queue("night", 60, daily=((50, 80), (120, 140)))]


def mixed(seed, count=12, aim="waiting"):
    """A problem with jobs of one to three chunks, and running jobs."""
    rng = random.Random(seed)
    jobs = []
    while len(jobs) < count:
        chunks = [
            (rng.randint(1, 3), {"cores": rng.randint(1, 8), "gpus": rng.choice([0, 0, 0, 1])})
            for _ in range(rng.choice([1, 1, 2, 2, 3]))
        ]
        queue, submit = rng.choice(["q", "q", "night"]), rng.randint(0, 40)
        job = Job.of_chunks(f"j{len(jobs)}", submit, rng.choice([0, 5, 10, 30]) or 1, chunks, queue)
        if not impossible(MACHINE, [job]):
            jobs.append(job)
    held = [Running(Job("r", 0, 9, 2, {"cores": 5}, "q"), 0, {"gpu-1": 1, "cpu-3": 1}, 20)]
    return Dispatch(MACHINE, jobs, QUEUES, aim, running=held)


@pytest.mark.parametrize("seed", some_now(range(25), 8))
def test_first_solutions_keep_all_rules(seed):
    problem = mixed(seed)
    for order in ("est", "area", "-duration"):
        assert problem.verify(first_solution(problem, order)) == []


def test_a_job_takes_the_earliest_time_at_which_all_its_chunks_fit():
    machine = Platform([NodeGroup("n", 2, {"cores": 4})])
    held = [
        Running(Job("x", 0, 9, 1, {"cores": 3}, "q"), 0, {"n-1": 1}, 10),
        Running(Job("y", 0, 9, 1, {"cores": 2}, "q"), 0, {"n-2": 1}, 30),
    ]
    job = Job.of_chunks("h", 0, 5, [(1, {"cores": 4}), (2, {"cores": 1})], "q")
    p = Dispatch(machine, [job], QUEUES, "waiting", running=held)
    found = first_solution(p, "est")
    assert (found.start, found.nodes) == ({"h": 10}, {"h": {"n-1": 1}, "h+1": {"n-2": 2}})


def test_chunks_share_a_node():
    machine = Platform([NodeGroup("n", 1, {"cores": 4, "gpus": 1})])
    job = Job.of_chunks("h", 0, 5, [(1, {"cores": 1, "gpus": 1}), (3, {"cores": 1})], "q")
    other = Job.of_chunks("g", 0, 5, [(2, {"cores": 1}), (1, {"cores": 2})], "q")
    found = first_solution(Dispatch(machine, [job, other], QUEUES, "waiting"), "est")
    assert sorted(found.start.values()) == [0, 5]
    assert found.nodes["h"] == {"n-1": 1} and found.nodes["h+1"] == {"n-1": 3}


def test_every_chunk_is_tried_first():
    machine = Platform([NodeGroup("a", 1, {"cores": 4}), NodeGroup("b", 1, {"cores": 3})])
    for chunks in ([(1, {"cores": 3}), (1, {"cores": 4})], [(1, {"cores": 4}), (1, {"cores": 3})]):
        p = Dispatch(machine, [Job.of_chunks("h", 0, 5, chunks, "q")], QUEUES, "waiting")
        assert p.verify(first_solution(p, "est")) == []


def test_a_job_that_occupies_nothing_starts_at_once():
    machine = Platform([NodeGroup("n", 2, {"cores": 4})])
    jobs = [
        Job("long", 0, 50, 2, {"cores": 4}, "q", runtime=50),
        Job.of_chunks("h", 0, 5, [(1, {"cores": 4}), (1, {"cores": 1})], "q", runtime=0),
    ]
    p = Dispatch(machine, jobs, QUEUES, "waiting", durations="runtime")
    found = first_solution(p, "est")
    assert found.start == {"long": 0, "h": 0} and p.verify(found) == []


@pytest.mark.parametrize("method", ["multi-search", "delay-search", "lns", "relaxation-search"])
def test_searches_find_the_optimum_of_small_problems(method):
    for seed in (2, 5):
        problem = mixed(seed, 4)
        best = sl.solve(problem, "cpsat:counts", time_limit=20)
        assert best.status == "optimal"
        found = sl.solve(problem, method, time_limit=0.7)
        assert problem.verify(found.schedule) == []
        assert best.objective <= found.objective <= 1.2 * best.objective + 5
