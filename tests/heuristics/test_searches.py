"""Multi-search, moves in an order, and the allocation of given starts."""

import random
from dataclasses import replace

import pytest
import schedlab as sl
from schedlab.heuristics import ORDERINGS, Allocator, NoSchedule, allocate, first_solution, move_jobs, multi_search
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue

PLATFORM = Platform(
    [NodeGroup("gpu", 4, {"cores": 16, "gpus": 2, "mem": 16}), NodeGroup("mic", 4, {"cores": 16, "mics": 2, "mem": 16})]
)
QUEUES = [Queue("debug", 3600), Queue("parallel", 18000)]


def snapshot(seed, count=40, aim="weighted-wait"):
    rng = random.Random(seed)
    jobs = []
    for i in range(count):
        debug = rng.random() < 0.3
        units, cores = rng.randint(1, 2 if debug else 6), rng.randint(1, 16)
        request = {"cores": cores, "mem": rng.choice([1, 4, 4, 8, 14])}
        if rng.random() < 0.5:
            request["gpus"], units = rng.randint(1, 2), min(units, 4)
        wall = -(-(6465 if debug else 147145) // (units * cores))
        jobs.append(Job(f"j{i}", rng.randint(0, 7200), wall, units, request, "debug" if debug else "parallel"))
    return Dispatch(PLATFORM, jobs, QUEUES, aim, now=7200)


def test_multi_search_keeps_the_best_of_all_orderings():
    problem = snapshot(1)
    found = multi_search(problem)
    assert problem.verify(found.schedule) == []
    assert found.objective == problem.value(found.schedule)
    alone = {o: problem.value(first_solution(problem, o)) for o in ("est", "duration", "-duration", "area", "units")}
    assert found.objective <= min(alone.values()) + 1e-9
    assert first_solution(problem, found.details["order"]) == found.schedule
    values = [step.objective for step in found.incumbents]
    assert values == sorted(values, reverse=True)
    assert set(found.details["skipped"]) == {
        "power", "power-per-profit", "power-per-profit.duration", "power-per-profit.-duration",
    }  # fmt: skip


@pytest.mark.parametrize("aim", ["weighted-wait", "makespan", "late-jobs", "weighted-tardiness"])
def test_multi_search_is_the_best_of_all_first_solutions(aim):
    """Orders that cost too much are given up, and equal orders are placed once: the best one is the same."""
    for seed in range(5):
        problem = snapshot(seed, 30, aim)
        found = multi_search(problem)
        usable = [o for o in ORDERINGS if "power" not in o]
        assert found.objective == min(problem.value(first_solution(problem, o)) for o in usable)


def test_power_and_profit_open_the_other_criteria():
    problem = snapshot(2)
    power = {j.id: 10.0 * i for i, j in enumerate(problem.jobs)}
    found = multi_search(problem, power=power, profit=dict.fromkeys(power, 1.0))
    assert found.details["skipped"] == {}
    assert found.objective <= multi_search(problem).objective


def test_multi_search_stops_on_false_and_in_time():
    problem = snapshot(3)
    seen = []
    found = multi_search(problem, on_incumbent=lambda *step: bool(seen.append(step)))
    assert len(seen) == len(found.incumbents) == 1 and found.details["order"] == ORDERINGS[0]
    hurried = multi_search(problem, time_limit=0)
    assert hurried.details["order"] == ORDERINGS[0] and "time limit" in hurried.details["skipped"]["-est"]


def test_an_ordering_that_misses_a_deadline_is_passed_over():
    platform, queue = Platform([NodeGroup("n", 1, {"cores": 1})]), [Queue("q", 1)]
    jobs = [Job("long", 0, 100, 1, {"cores": 1}, "q"), Job("urgent", 1, 10, 1, {"cores": 1}, "q", deadline=50)]
    found = multi_search(Dispatch(platform, jobs, queue))
    assert found.schedule.start == {"urgent": 1, "long": 11}
    assert "urgent" in found.details["skipped"]["est"]
    hopeless = [*jobs, Job("too", 1, 45, 1, {"cores": 1}, "q", deadline=50)]
    with pytest.raises(NoSchedule):
        multi_search(Dispatch(platform, hopeless, queue))


@pytest.mark.parametrize("aim", ["weighted-wait", "makespan", "late-jobs", "weighted-tardiness"])
def test_moving_jobs_improves_an_order_and_tells_the_truth(aim):
    problem = snapshot(4, aim=aim)
    before = problem.value(first_solution(problem, "est"))
    found = move_jobs(problem, "est", rounds=400, seed=3)
    assert problem.verify(found.schedule) == []
    assert found.objective == problem.value(found.schedule) <= before
    assert found.incumbents[-1].objective == pytest.approx(found.objective, rel=1e-9)
    again = first_solution(problem, found.details["order"])  # removing and adding jobs again restores the profile
    assert again == found.schedule
    assert move_jobs(problem, "est", rounds=400, seed=3).details == found.details
    if aim == "weighted-wait":
        assert found.objective < 0.95 * before


def test_moving_jobs_gets_through_deadlines():
    problem = snapshot(5)
    starts = first_solution(problem, "-area").start
    jobs = [replace(j, deadline=starts[j.id] + j.walltime + 1000) for j in problem.jobs]
    problem = problem.replace(jobs=jobs)
    found = move_jobs(problem, "-area", rounds=300)
    assert problem.verify(found.schedule) == []
    assert found.objective <= problem.value(first_solution(problem, "-area"))


def test_moves_stop_on_false():
    problem = snapshot(6)
    seen = []
    move_jobs(problem, "est", rounds=10**6, on_incumbent=lambda *step: bool(seen.append(step)))
    assert len(seen) == 1


@pytest.mark.parametrize("seed", range(6))
def test_starts_of_a_relaxation_become_a_schedule(seed):
    """Starts from a machine of one big node, on which fewer jobs have to wait."""
    problem = snapshot(seed)
    big = {r: PLATFORM.total(r) for r in PLATFORM.resources}
    relaxed = problem.replace(platform=Platform([NodeGroup("all", 1, big)]))
    starts = multi_search(relaxed).schedule.start
    read = allocate(problem, starts)
    assert problem.verify(read) == []
    careless = first_solution(problem, sorted(starts, key=lambda i: starts[i]))
    assert problem.value(read) < problem.value(careless)
    assert problem.value(read) >= relaxed.value(multi_search(relaxed).schedule) * 0.9
    assert allocate(problem, starts) == read


def test_the_starts_of_a_schedule_come_back_nearly_as_good():
    """The allocator gets no nodes and packs them anew: at most 10 % worse quickly, 5 % with moves."""
    for seed in range(7, 10):
        problem = snapshot(seed)
        best = move_jobs(problem, "area", rounds=300)
        assert problem.value(allocate(problem, best.schedule.start, rounds=0)) <= 1.1 * best.objective
        assert problem.value(allocate(problem, best.schedule.start)) <= 1.05 * best.objective


def test_an_allocator_remembers_the_best_answers():
    problem = snapshot(10)
    allocator = Allocator(problem)
    quick = [
        allocator.allocate(multi_search(problem).schedule.start),
        allocator.allocate({j.id: 7200 for j in problem.jobs}),
    ]
    repaired = allocator.repair(rounds=50)
    assert problem.verify(repaired) == []
    assert problem.value(repaired) <= min(map(problem.value, quick))


def test_a_missing_start_is_an_error():
    with pytest.raises(KeyError):
        allocate(snapshot(8), {"j0": 7200})


def test_constraints_added_to_a_model_hold_for_the_schedule_of_its_starts():
    """Without the model, the jobs are also placed without the given starts as bounds, where all of them fit at 0."""
    jobs = [Job(name, 0, 100, 1, {"cores": 4}, "q") for name in "ab"]
    problem = Dispatch(Platform([NodeGroup("n", 1, {"cores": 8})]), jobs, [Queue("q", 60)], "waiting")
    encoding = problem.formulations["pool"]()
    job = {v.name: v for v in encoding.model.intervals}
    encoding.model.add(job["b"].start >= 50, "b at 50")
    starts = {"a": 0, "b": 50}
    assert allocate(problem, starts).start == {"a": 0, "b": 0}
    schedule = allocate(problem, starts, encoding=encoding)
    assert schedule.start == starts
    assert problem.verify(schedule) == []
    assert encoding.model.check(encoding.write(schedule)) == []


def test_an_allocation_that_cannot_keep_an_added_constraint_says_so():
    jobs = [Job(name, 0, 100, 1, {"cores": 8}, "q") for name in "ab"]
    problem = Dispatch(Platform([NodeGroup("n", 1, {"cores": 8})]), jobs, [Queue("q", 60)], "waiting")
    encoding = problem.formulations["pool"]()
    job = {v.name: v for v in encoding.model.intervals}
    encoding.model.add(job["b"].start >= 150, "b late")
    with pytest.raises(sl.SchedlabError, match="b late"):
        allocate(problem, {"a": 0, "b": 0}, encoding=encoding)
