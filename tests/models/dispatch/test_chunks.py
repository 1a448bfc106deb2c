"""Heterogeneous jobs: chunks with different requests that start and end together; declaration, checks, models."""

import itertools
import random

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import Limits, run
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Profit, Queue, Running, Schedule
from schedlab.models.dispatch import impossible

QUEUES = [Queue("q", 60)]
TWO_KINDS = Platform([NodeGroup("gpu", 1, {"cores": 4, "gpus": 2}), NodeGroup("cpu", 1, {"cores": 4})])


def small(seed, count=4, running=False):
    rng = random.Random(seed)
    jobs = []
    for k in range(count):
        chunks = [
            (rng.randint(1, 2), {"cores": rng.randint(1, 3), "gpus": rng.choice([0, 0, 1])})
            for _ in range(rng.choice([1, 2, 2, 3]))
        ]
        job = Job.of_chunks(f"j{k}", rng.randint(0, 3), rng.randint(1, 4), chunks, "q")
        if not impossible(TWO_KINDS, [job]):
            jobs.append(job)
    held = [Running(Job("r", 0, 4, 1, {"cores": 2, "gpus": 1}, "q"), 0, {"gpu-1": 1}, 3)] if running else []
    return Dispatch(TWO_KINDS, jobs, QUEUES, "waiting", running=held)


def places(problem, job):
    """All ways to put the units of all chunks of a job on the two nodes: {part: {node: units}}."""
    names = problem.platform.nodes
    each = [
        [{n: u for n, u in zip(names, (k, part.units - k), strict=True) if u} for k in range(part.units + 1)]
        for part in job.parts
    ]
    for combination in itertools.product(*each):
        yield {part.id: on for part, on in zip(job.parts, combination, strict=True)}


def best_by_enumeration(problem, latest=16):
    """The least objective: in every order of the jobs and on all places, each as early as its places allow."""
    return min(
        value for order in itertools.permutations(problem.jobs) for value in _least(problem.replace(jobs=order), latest)
    )


def _least(problem, latest):
    """The objectives of the schedules that place the jobs in this order, each as early as its places allow."""

    def extend(k, start, nodes):
        if k == len(problem.jobs):
            yield problem.value(Schedule(start, nodes))
            return
        job, part = problem.jobs[k], problem.replace(jobs=problem.jobs[: k + 1])
        for on in places(problem, job):
            for t in range(problem.earliest(job), latest):
                made = Schedule({**start, job.id: t}, {**nodes, **on})
                if not part.verify(made):
                    yield from extend(k + 1, made.start, made.nodes)
                    break

    return extend(0, {}, {})


def test_the_parts_of_a_job_have_the_names_of_slurm():
    job = Job.of_chunks("h", 0, 60, [(2, {"cores": 4}), (1, {"cores": 1}), (3, {})], "q", user="ann")
    assert [(p.id, p.units, dict(p.request), p.user) for p in job.parts] == [
        ("h", 2, {"cores": 4}, "ann"),
        ("h+1", 1, {"cores": 1}, "ann"),
        ("h+2", 3, {}, "ann"),
    ]
    plain = Job.of_chunks("p", 0, 60, [(2, {"cores": 4})], "q")
    assert plain.chunks == () and plain.parts == (plain,)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([(1, {"cores": 1}), (0, {"cores": 1})], r"job 'h\+1': 0 units; at least 1 is expected"),
        ([(1, {"cores": 1}), (1, {"cores": -1})], r"job 'h\+1': requests -1 cores"),
        ([(1, {"cores": 1}), (1, {"fpgas": 1})], r"job 'h\+1': requests 1 fpgas; the platform has "),
        ([(1, {"cores": 1}), (1.5, {"cores": 1})], r"job 'h': chunk 1: units is 1.5; a whole number is expected"),
        ([(1, {"cores": 1}), (1, {"cores": 0.5})], r"job 'h': chunk 1: request of 'cores' is 0.5"),
        ([(2, {"cores": 3}), (1, {"cores": 2})], "job 'h': its chunks do not fit the empty platform together"),
        ([(1, {"cores": 4}), (2, {"cores": 3})], "job 'h': its chunks need 10 cores together, the platform has 8"),
        (
            [(1, {"cores": 1}), (3, {"gpus": 1})],
            "asks for 3 units of 1 gpu, but the empty platform has gpus for only 2 of them",
        ),
        ([], "job 'h' has no chunks; at least one"),
    ],
)
def test_wrong_chunks_are_refused_with_job_and_reason(chunks, message):
    with pytest.raises(ProblemError, match=message):
        Dispatch(TWO_KINDS, [Job.of_chunks("h", 0, 60, chunks, "q")], QUEUES)


def test_contradictions_between_chunks_and_the_rest_are_refused():
    job = Job.of_chunks("h", 0, 60, [(1, {"cores": 2}), (1, {"cores": 1})], "q")
    other = Job("h+1", 0, 60, 1, {"cores": 1}, "q")
    with pytest.raises(ProblemError, match=r"'h\+1': this is the name of a chunk of job 'h'; rename one of them"):
        Dispatch(TWO_KINDS, [job, other], QUEUES)
    wrong = Job("h", 0, 60, 2, {"cores": 2}, "q", chunks=job.chunks)
    with pytest.raises(ProblemError, match="units and request must be those of its first chunk"):
        Dispatch(TWO_KINDS, [wrong], QUEUES)
    with pytest.raises(ProblemError, match="running job 'h' has chunks; each of its parts"):
        Dispatch(TWO_KINDS, [], QUEUES, running=[Running(job, 0, {"gpu-1": 1}, 9)])


def test_the_check_counts_each_chunk_and_its_own_request():
    job = Job.of_chunks("h", 0, 5, [(1, {"cores": 3, "gpus": 1}), (2, {"cores": 1})], "q")
    p = Dispatch(TWO_KINDS, [job, Job("a", 0, 5, 1, {"cores": 3}, "q")], QUEUES, "waiting")
    good = Schedule({"h": 0, "a": 0}, {"h": {"gpu-1": 1}, "h+1": {"gpu-1": 1, "cpu-1": 1}, "a": {"cpu-1": 1}})
    assert p.verify(good) == []
    full = Schedule({"h": 0, "a": 0}, {**good.nodes, "h+1": {"gpu-1": 2}})
    assert [v.message for v in p.verify(full)] == ["node 'gpu-1' at 0: 5 cores in use, it has 4 (job 'h+1' starts)"]
    few = Schedule({"h": 0, "a": 0}, {**good.nodes, "h+1": {"gpu-1": 1}})
    assert [v.message for v in p.verify(few)] == ["job 'h+1' has 1 unit on nodes, not 2"]
    missing = Schedule(good.start, {k: v for k, v in good.nodes.items() if k != "h+1"})
    assert [v.message for v in p.verify(missing)] == ["job 'h+1' has 0 units on nodes, not 2"]


def test_schedules_keep_the_chunks_in_json_and_in_tables():
    found = Schedule({"h": 3, "a": 0}, {"h": {"n": 1}, "h+1": {"m": 2}, "a": {"n": 1}})
    assert found.as_json()["h"] == {"start": 3, "nodes": {"n": 1}, "further_chunks": [{"m": 2}]}
    assert Schedule.from_json(found.as_json()) == found
    assert [row["job"] for row in found.rows()] == ["h", "h+1", "a"]
    with pytest.raises(ValueError, match="further_chunks must be a list"):
        Schedule.from_json({"h": {"start": 0, "nodes": {}, "further_chunks": 3}})


@pytest.mark.parametrize("seed", some_now(range(12), 4))
def test_all_formulations_agree_with_enumeration(seed):
    problem = small(seed, count=3, running=seed % 2 == 0)
    expected = best_by_enumeration(problem)
    for name in ("units", "counts"):
        answer = sl.solve(problem, f"cpsat:{name}", time_limit=20)
        assert (answer.status, answer.objective) == ("optimal", expected)
        assert problem.verify(answer.schedule) == []
    for name in ("classes", "pool"):
        encoding = problem.formulations[name]()
        relaxed = run(encoding.model, "cpsat", Limits(20))
        assert relaxed.status == "optimal" and relaxed.objective <= expected


@pytest.mark.parametrize("backend", ["highs", "highs-grid", "cpo"])
@pytest.mark.parametrize("seed", [1, 3])
def test_backends_agree_on_heterogeneous_jobs(seed, backend):
    problem = small(seed, count=3)
    expected = sl.solve(problem, "cpsat:counts", time_limit=20).objective
    for name in ("units", "counts"):
        method = f"{backend}:{name}"
        if backend == "highs-grid":
            method = sl.methods.Highs(formulation=name, lowering="time-indexed", grid=1)
        answer = sl.solve(problem, method, time_limit=30)
        assert answer.status in ("optimal", "feasible") and answer.objective == pytest.approx(expected)
        assert problem.verify(answer.schedule) == []


@pytest.mark.parametrize("name", ["units", "counts", "classes", "pool"])
def test_formulations_write_what_they_read(name):
    problem = small(3, running=True)
    answer = sl.solve(problem, "cpsat:counts", time_limit=20).schedule
    encoding = problem.formulations[name]()
    assignment = encoding.write(answer)
    assert encoding.model.check(assignment) == []
    back = encoding.read(assignment)
    assert back.start == answer.start
    assert back.nodes in ({}, answer.nodes)


def test_profit_problems_refuse_chunks():
    from schedlab.models import Cooling, StepFunction

    job = Job.of_chunks("h", 0, 60, [(1, {"cores": 2}), (1, {"cores": 1})], "q", power=9.0)
    flat = Cooling("flat", (0, 40), (0, 1000), ((0, 500), (0, 500)))
    with pytest.raises(ProblemError, match="job 'h' has several chunks; a profit problem takes jobs of equal units"):
        Profit(Dispatch(TWO_KINDS, [job], QUEUES), StepFunction.constant(20, 0, 100), flat, 0.1, 0.1, 100)
