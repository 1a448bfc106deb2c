"""Neighbourhoods improved by a backend, and the relaxation search [Bridi2018, 6.7.2], equation 6.5."""

import itertools
import random

import numpy as np
import pytest
from neighbourhoods import improve
from schedlab.backends import Limits, SolverUnavailable, UnknownName
from schedlab.heuristics import first_solution, improve_placed, multi_search, relaxation_search
from schedlab.models import Cooling, Dispatch, Job, Neighbourhoods, NodeGroup, Platform, Profit, Queue, StepFunction

PLATFORM = Platform([NodeGroup("n", 3, {"cores": 16, "mem": 64})])
HOT = Cooling("hot noon", (10, 30), (0, 200, 600), ((0, 0, 60), (0, 60, 500)))
DAY_AND_NIGHT = StepFunction([0, 3000, 6000], [28.0, 12.0, 26.0], 40000)
BACKENDS = [("cpsat", {}), ("cpo", {}), ("highs", {"lowering": "pairwise"})]
LIMITS = Limits(10, 2)


def dispatch(seed, aim="waiting", count=8):
    rng = random.Random(seed)
    jobs = []
    for i in range(count):
        request = {"cores": rng.randint(4, 12), "mem": rng.choice([4, 30])}
        jobs.append(
            Job(
                f"j{i}",
                rng.randrange(0, 2000, 100),
                rng.randrange(300, 3000, 100),
                rng.choice([1, 1, 2, 3]),
                request,
                "q",
            )
        )
    return Dispatch(PLATFORM, jobs, [Queue("q", 1200)], aim)


def profit(seed, count=8):
    return Profit(dispatch(seed, count=count), DAY_AND_NIGHT, HOT, 0.01, 0.13, horizon_end=5000, watts_per_core=10.0)


def better(problem, value, than):
    return value > than if problem.sense == "maximize" else value < than


def until_better(problem, than):
    """Return a callback that ends a search with the first answer that is better than a value."""
    return lambda news: not better(problem, news.objective, than)


@pytest.mark.parametrize(
    ("make", "backend", "options"),
    [
        *((profit, *solver) for solver in BACKENDS),
        (dispatch, "cpsat", {}),
        (lambda seed: dispatch(seed, "makespan"), "cpsat", {}),
        *(
            pytest.param(make, *solver, marks=pytest.mark.known)
            for make in (dispatch, lambda seed: dispatch(seed, "makespan"))
            for solver in BACKENDS[1:]
        ),
    ],
)
def test_it_keeps_the_nodes_of_wide_jobs_and_is_never_worse(make, backend, options):
    problem = make(2)
    first = multi_search(problem)
    found = relaxation_search(problem, backend=backend, time_limit=0.5, threads=2, **options)
    assert problem.verify(found.schedule) == []
    assert found.objective == pytest.approx(problem.value(found.schedule))
    assert not better(problem, first.objective, found.objective)
    assert found.incumbents[0].objective == pytest.approx(first.incumbents[0].objective)
    values = [news.objective for news in found.incumbents]
    assert values == sorted(values, reverse=problem.sense == "minimize")
    counts = getattr(problem, "horizon_end", float("inf"))
    for job in problem.jobs:
        if job.units > 1 and first.schedule.start[job.id] < counts and found.schedule.start[job.id] < counts:
            assert found.schedule.nodes[job.id] == first.schedule.nodes[job.id]


def test_it_finds_what_list_schedules_miss():
    problem = dispatch(12, count=16)
    first = multi_search(problem)
    stop = until_better(problem, first.objective)
    found = relaxation_search(problem, backend="cpsat", time_limit=30, threads=2, on_incumbent=stop)
    assert found.objective < first.objective
    assert "one model" in found.message


def best_with_nodes(problem, nodes, step=100, last=8000):
    """Return the least sum of waiting times with fixed nodes, by a search over all starts."""
    free = {n: np.tile([16, 64], (2 * last // step, 1)) for n in problem.platform.nodes}
    best = np.inf

    def place(jobs, cost):
        nonlocal best
        if not jobs:
            best = min(best, cost)
            return
        job, *rest = jobs
        request = np.array([job.request["cores"], job.request["mem"]])
        for t in range(job.submit, last, step):
            if cost + t - job.submit >= best:
                return
            span = slice(t // step, (t + job.walltime) // step)
            taken = {n: units * request for n, units in nodes[job.id].items()}
            if all((free[n][span] >= amounts).all() for n, amounts in taken.items()):
                for n, amounts in taken.items():
                    free[n][span] -= amounts
                place(rest, cost + t - job.submit)
                for n, amounts in taken.items():
                    free[n][span] += amounts

    place(list(problem.jobs), 0)
    return best


@pytest.mark.parametrize("backend, options", BACKENDS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_with_all_nodes_kept_it_is_the_best_of_all_starts(seed, backend, options):
    """Jobs of several units only: a search over all starts agrees with every backend."""
    jobs = [j for j in dispatch(seed, count=20).jobs if j.units > 1][:4]
    problem = Dispatch(PLATFORM, jobs, [Queue("q", 1200)], "waiting")
    found = relaxation_search(problem, backend=backend, time_limit=20, threads=2, **options)
    assert found.details["complete"]
    assert found.objective == best_with_nodes(problem, multi_search(problem).schedule.nodes)


@pytest.mark.parametrize("make", [profit, dispatch])
@pytest.mark.slow
def test_what_is_too_large_for_one_model_is_improved_in_windows(make):
    problem = make(4) if make is dispatch else make(4, count=12)
    first = multi_search(problem)
    stop = until_better(problem, first.objective)
    found = relaxation_search(problem, backend="cpsat", time_limit=30, threads=2, largest=10, on_incumbent=stop)
    assert problem.verify(found.schedule) == []
    assert better(problem, found.objective, first.objective)
    assert "windows" in found.message and "more than 10" in found.message and not found.details["complete"]


@pytest.mark.slow
def test_a_model_that_the_backend_refuses_becomes_windows():
    """The community edition of CP Optimizer rejects a model of 200 jobs."""
    problem = dispatch(5, count=200)
    found = relaxation_search(problem, backend="cpo", time_limit=2, threads=2)
    assert "not one model" in found.message
    assert problem.verify(found.schedule) == [] and found.objective <= multi_search(problem).objective


def test_it_stops_on_false_and_without_time_it_is_the_first_ordering():
    problem = dispatch(6)
    seen = []
    relaxation_search(problem, on_incumbent=lambda *step: bool(seen.append(step)))
    assert len(seen) == 1
    hurried = relaxation_search(problem, time_limit=0)
    assert hurried.schedule == multi_search(problem, time_limit=0).schedule


def test_backends_that_are_missing_are_named(monkeypatch):
    with pytest.raises(UnknownName, match="cpsta"):
        relaxation_search(dispatch(1), backend="cpsta")
    from schedlab.backends import backend

    cpo = backend("cpo")
    missing = type(cpo.availability())("cpo", None, "docplex is not installed")
    monkeypatch.setattr(type(cpo), "availability", lambda self: missing)
    with pytest.raises(SolverUnavailable, match="docplex is not installed"):
        relaxation_search(dispatch(1), backend="cpo")


def test_a_neighbourhood_is_improved_or_left_alone():
    problem = dispatch(7, "weighted-wait", count=14)
    schedule = first_solution(problem, "-area")
    ids = [j.id for j in problem.jobs]
    found, steps = schedule, 0
    for some in itertools.islice(itertools.combinations(ids, 5), 0, 2000, 200):
        news = improve(problem, found, some, limits=LIMITS, keep_nodes=[i for i in ids[:3] if i not in some])
        if news is not None:
            assert problem.verify(news) == [] and problem.value(news) < problem.value(found)
            found, steps = news, steps + 1
    assert steps > 0
    assert improve(problem, found, [], limits=LIMITS) is None


def test_postponed_jobs_of_an_improved_profit_follow_after_the_horizon():
    problem = profit(8, count=16)
    schedule = first_solution(problem, "-area")
    around = Neighbourhoods(problem)
    placed = around.flat.placed(schedule)
    found = improve_placed(around, placed, range(6), limits=LIMITS)
    assert found is not None
    from schedlab.heuristics import ListScheduler

    whole = ListScheduler(problem).arrays.schedule(*found.placement)
    assert problem.verify(whole) == []
    assert problem.value(whole) > problem.value(schedule)
    assert problem.value(whole) == pytest.approx(found.objective, rel=1e-6)
