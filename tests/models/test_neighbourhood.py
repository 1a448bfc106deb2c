"""Neighbourhoods: which jobs move and which stay, and that the model's objective is that of the whole problem."""

import itertools
import random

import numpy as np
import pytest
from draws import some_now
from neighbourhoods import neighbourhood
from schedlab.backends import Limits, run
from schedlab.heuristics import first_solution
from schedlab.models import (
    POSTPONED,
    Cooling,
    Dispatch,
    Flat,
    Job,
    Neighbourhoods,
    NodeGroup,
    Platform,
    ProblemError,
    Profit,
    Queue,
    Running,
    Schedule,
    StepFunction,
)
from schedlab.models.dispatch.objectives import OBJECTIVES

PLATFORM = Platform([NodeGroup("big", 2, {"cores": 16, "mem": 64}), NodeGroup("small", 1, {"cores": 8, "mem": 64})])
QUEUES = [Queue("fast", 600), Queue("slow", 7200)]
HOT = Cooling("hot noon", (10, 30), (0, 200, 600), ((0, 0, 60), (0, 60, 500)))
DAY_AND_NIGHT = StepFunction([0, 3000, 6000], [28.0, 12.0, 26.0], 40000)


def dispatch(seed, aim="waiting", count=7, running=True):
    rng = random.Random(seed)
    jobs = []
    for i in range(count):
        units, cores = rng.choice([1, 1, 2, 3]), rng.randint(2, 8)
        request = {"cores": cores, "mem": rng.choice([4, 30])}
        jobs.append(
            Job(
                f"j{i}",
                rng.randrange(0, 2000, 100),
                rng.randrange(300, 3000, 100),
                units,
                request,
                rng.choice(["fast", "slow"]),
            )
        )
    held = [Running(Job("r", 0, 4000, 2, {"cores": 6}, "slow"), 0, {"big-1": 1, "small-1": 1}, 3300)] if running else []
    return Dispatch(PLATFORM, jobs, QUEUES, aim, now=0, running=held)


def profit(seed, count=7):
    return Profit(
        dispatch(seed, count=count, running=False),
        DAY_AND_NIGHT,
        HOT,
        0.01,
        0.13,
        horizon_end=5000,
        watts_per_core=10.0,
    )


PROBLEMS = [("profit", profit), *((aim, lambda seed, aim=aim: dispatch(seed, aim)) for aim in OBJECTIVES)]
every_problem = pytest.mark.parametrize("make", [make for _, make in PROBLEMS], ids=[name for name, _ in PROBLEMS])


def value(encoding, assignment):
    return encoding.model.value(encoding.model.objectives[0], assignment)


@every_problem
@pytest.mark.parametrize("seed", some_now(range(5), 2))
def test_the_model_says_of_a_whole_schedule_what_the_problem_says(make, seed):
    """The assignment of the schedule satisfies the model, has its objective and is read back, for any moving jobs."""
    problem, rng = make(seed), random.Random(seed)
    ids = [j.id for j in problem.jobs]
    for order in ("est", "-area"):
        schedule = first_solution(problem, order)
        some = rng.sample(ids, 4)
        encoding = neighbourhood(problem, schedule, some[:2], keep_nodes=some[2:], nodes=["big-2"])
        written = encoding.write(schedule)
        assert encoding.model.check(written) == []
        assert value(encoding, written) == pytest.approx(problem.value(schedule), rel=1e-9)
        back = encoding.read(written)
        assert problem.verify(back) == []
        assert problem.value(back) == pytest.approx(problem.value(schedule), rel=1e-9)
        if problem.kind == "dispatch":
            assert back == schedule


@every_problem
def test_all_jobs_free_have_the_optimum_of_counts(make):
    problem = make(11)
    if problem.kind == "profit":
        problem = problem.replace(dispatch=problem.dispatch.replace(jobs=problem.jobs[:4]))
    else:
        problem = problem.replace(jobs=problem.jobs[:5])
    schedule = first_solution(problem, "-duration")
    encoding = neighbourhood(problem, schedule, [j.id for j in problem.jobs])
    found = run(encoding.model, "cpsat", Limits(20, 2), warm_start=encoding.write(schedule))
    whole = run(problem.formulations["counts"]().model, "cpsat", Limits(20, 2))
    assert found.status == whole.status == "optimal"
    assert found.objective == pytest.approx(whole.objective, rel=1e-6)
    best = encoding.read(found.assignment)
    assert problem.verify(best) == []
    assert problem.value(best) == pytest.approx(found.objective, rel=1e-6)


def by_hand(problem, schedule, job, nodes, step=100):
    """Return the best objective with one job on any of these nodes and its own, at multiples of ``step``."""
    allowed = {*nodes, *schedule.nodes[job.id]}
    best = problem.value(schedule)
    last = max(schedule.start[j.id] + problem.duration(j) for j in problem.jobs)
    last = max([last, *(r.end for r in problem.running)])
    for start in range(problem.earliest(job), last + step, step):
        for units in itertools.combinations_with_replacement(sorted(allowed), job.units):
            on = {n: units.count(n) for n in units}
            moved = Schedule({**schedule.start, job.id: start}, {**schedule.nodes, job.id: on})
            if not problem.verify(moved):
                best = min(best, problem.value(moved))
    return best


@pytest.mark.parametrize("aim", OBJECTIVES)
@pytest.mark.parametrize("seed", some_now(range(3), 1))
def test_one_free_job_finds_the_best_place_that_the_others_leave(aim, seed):
    """All times are multiples of 100, and therefore also some best start."""
    problem = dispatch(seed, aim)
    schedule = first_solution(problem, "-area")
    job = max(problem.jobs, key=lambda j: schedule.start[j.id] - j.submit)
    for nodes in (problem.platform.nodes, ["small-1"]):
        encoding = neighbourhood(problem, schedule, [job.id], nodes=nodes)
        found = run(encoding.model, "cpsat", Limits(10, 2), warm_start=encoding.write(schedule))
        assert found.status == "optimal"
        assert found.objective == pytest.approx(by_hand(problem, schedule, job, nodes), rel=1e-6)


@pytest.mark.parametrize("backend, options", [("cpsat", {}), ("cpo", {}), ("highs", {"lowering": "pairwise"})])
@pytest.mark.parametrize("make", [profit, dispatch])
def test_what_does_not_move_stays(make, backend, options):
    problem = make(3)
    schedule = first_solution(problem, "-area")
    ids = [j.id for j in problem.jobs]
    encoding = neighbourhood(problem, schedule, ids[:2], keep_nodes=ids[2:4])
    found = run(encoding.model, backend, Limits(10, 2), warm_start=encoding.write(schedule), **options)
    assert found.assignment is not None
    read = encoding.read(found.assignment)
    assert problem.verify(read) == []
    sign = 1 if problem.sense == "minimize" else -1
    assert sign * problem.value(read) <= sign * problem.value(schedule) + 1e-9
    late = getattr(problem, "horizon_end", np.inf)
    for i in ids[4:]:
        if schedule.start[i] < late:
            assert (read.start[i], read.nodes[i]) == (schedule.start[i], schedule.nodes[i])
    for i in ids[2:4]:
        if read.start[i] < late:
            assert read.nodes[i] == schedule.nodes[i]


def test_starts_stay_within_the_span_or_where_they_are():
    problem = dispatch(5)
    schedule = first_solution(problem, "est")
    ids = [j.id for j in problem.jobs]
    model = neighbourhood(problem, schedule, ids, earliest=1000, latest=2500).model
    for v in model.intervals:
        now = schedule.start[v.name]
        assert v.windows[0][0] >= min(1000, now) and v.windows[-1][1] <= max(2500, now)
        assert any(lo <= now <= hi for lo, hi in v.windows)


def test_calendars_and_deadlines_hold_in_a_neighbourhood():
    queues = [Queue("q", 600), Queue("night", 600, daily=((64800, 86399),))]
    jobs = [Job(f"j{i}", 0, 3000, 1, {"cores": 9}, "night" if i % 2 else "q", deadline=180000) for i in range(6)]
    problem = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, queues)
    schedule = first_solution(problem, "-est")
    encoding = neighbourhood(problem, schedule, [j.id for j in jobs[:4]])
    found = run(encoding.model, "cpsat", Limits(10, 2), warm_start=encoding.write(schedule))
    assert problem.verify(encoding.read(found.assignment)) == []
    windows = {v.name: v.windows for v in encoding.model.intervals}
    assert all(64800 <= lo % 86400 <= hi % 86400 for name in ("j1", "j3") for lo, hi in windows[name])
    assert windows["j0"] == windows["j2"] == ((0, problem.horizon),)


def test_a_parked_job_takes_part_only_where_it_earns():
    problem = profit(6, count=14)
    schedule = first_solution(problem, "-area")
    around = Neighbourhoods(problem)
    placed = around.flat.placed(schedule)
    late = [k for k, j in enumerate(problem.jobs) if schedule.start[j.id] >= problem.horizon_end]
    assert late and (placed.starts[late] == POSTPONED).all()
    found = around.model(placed, range(len(problem.jobs)))
    assert all(v.windows[-1][1] < problem.horizon_end and v.optional for v in found.intervals)
    read = found.read(found.write(placed), placed)
    assert (read.starts == placed.starts).all()
    whole = around.flat.schedule(placed)
    assert problem.verify(whole) == []
    assert problem.value(whole) == pytest.approx(problem.value(schedule))


def test_a_schedule_that_overfills_a_node_is_reported_with_node_and_time():
    problem = dispatch(7, running=False)
    everyone = {j.id: {"big-1": j.units} for j in problem.jobs}
    broken = Schedule({j.id: 2000 for j in problem.jobs}, everyone)
    with pytest.raises(ProblemError, match="'big-1' at 2000"):
        neighbourhood(problem, broken, ["j0"])
    with pytest.raises(KeyError):
        neighbourhood(problem, first_solution(problem), ["unknown"])


def test_what_is_free_is_what_a_sweep_over_moments_finds():
    problem = dispatch(8, count=12)
    schedule = first_solution(problem, "est")
    flat = Flat(problem)
    placed = flat.placed(schedule)
    stays = np.array([i % 3 > 0 for i in range(12)])
    free = flat.free(placed, stays, np.arange(3))
    for n, name in enumerate(problem.platform.nodes):
        for t in range(0, 12000, 50):
            k = int(np.searchsorted(free[n].times, t, side="right"))
            amounts = free[n].amounts[k - 1] if k else flat.nodes.capacity[n]
            taken = [0, 0]
            for i, job in enumerate(problem.jobs):
                if stays[i] and schedule.start[job.id] <= t < schedule.start[job.id] + job.walltime:
                    units = schedule.nodes[job.id].get(name, 0)
                    taken = [taken[0] + units * job.request["cores"], taken[1] + units * job.request["mem"]]
            if t < 3300 and name in ("big-1", "small-1"):
                taken[0] += 6
            assert (flat.nodes.capacity[n] - taken).tolist() == amounts.tolist()
