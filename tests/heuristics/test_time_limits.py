"""Searches end at their time limit, also inside a kernel; the first schedule is always finished."""

import numpy as np
import pytest
from schedlab import lns, load, solve
from schedlab.heuristics import (
    ORDERINGS,
    Allocator,
    Clock,
    KernelStopped,
    ListScheduler,
    delay_search,
    move_jobs,
    multi_search,
    warm_up_for,
)
from schedlab.models import Deadline


@pytest.fixture(scope="module", autouse=True)
def compiled(problem):
    for name in ("multi-search", "delay-search", "lns"):
        warm_up_for(problem, name)


@pytest.fixture(scope="module")
def problem():
    return load("eurora_330").problem


def test_the_clock_stops_where_its_time_is_over():
    with Clock() as clock:
        assert clock.stop[0] == 0 and not clock.over and clock.left == np.inf
    with Clock(Deadline(0.0)) as clock:
        assert clock.stop[0] == 1 and clock.over and clock.left == 0.0
    with Clock(Deadline(1000.0)) as clock:
        assert clock.stop[0] == 0 and 900 < clock.left <= 1000
        clock.reserve(400.0)
        assert clock.stop[0] == 0 and clock.left <= 600
        clock.reserve(700.0)
        assert clock.stop[0] == 1 and clock.over


def test_an_interrupted_order_gives_no_schedule(problem):
    scheduler = ListScheduler(problem)
    with Clock(Deadline(0.0)) as clock, pytest.raises(KernelStopped):
        scheduler.place(scheduler.order("est"), stop=clock.stop)


def test_a_kernel_at_work_is_stopped(problem):
    """One call with a million moves or 100,000 steps of ruin and recreate takes minutes without a clock."""
    from schedlab.heuristics.kernels import OrderResult
    from schedlab.heuristics.list_scheduling import not_worse
    from schedlab.heuristics.lns import LnsSearch, RuinAndRecreate
    from schedlab.heuristics.lns.search import OwnSchedule

    scheduler = ListScheduler(problem)
    a, order = scheduler.arrays, scheduler.order("est")
    answer = OrderResult(order, *scheduler.place(order))
    value = scheduler.objective(answer.starts)
    moves = np.random.default_rng(1).integers(0, order.size, (10**6, 2))
    with Clock(Deadline(0.3)) as clock:
        single = np.arange(len(moves) + 1)
        found, _, _ = scheduler.mover().improve(answer, moves, single, value, value, *not_worse(len(moves)), clock.stop)
    assert clock.over and found <= value and scheduler.objective(answer.starts) == pytest.approx(found)
    assert not problem.verify(a.schedule(answer.starts, answer.nodes))

    search = LnsSearch(problem, seed=1)
    search.look_around()
    ruin = OwnSchedule(RuinAndRecreate(), search)
    ruin.begin()
    steps = ruin.draw(10**5)
    with Clock(Deadline(0.3)) as search.clock:
        ruin.make(steps)
    assert search.clock.over and not problem.verify(a.schedule(ruin.places.starts, ruin.places.nodes))


def test_the_first_schedule_is_finished_and_reported_at_once(problem):
    reported = []
    found = multi_search(problem, time_limit=0.0, on_incumbent=lambda *news: reported.append(len(news)))
    assert not problem.verify(found.schedule)
    assert found.details["order"] == ORDERINGS[0] and len(found.incumbents) == len(reported) == 1
    skipped = found.details["skipped"]
    assert {"-est", "area", "-area"} <= set(skipped) and skipped["-est"] == "the time limit was reached"


def test_multi_search_tells_of_an_order_before_it_tries_the_next(problem, monkeypatch):
    calls, place = [], ListScheduler.place_within
    monkeypatch.setattr(ListScheduler, "place_within", lambda *a, **k: (calls.append("place"), place(*a, **k))[1])
    multi_search(problem, on_incumbent=lambda *news: calls.append("reported"))
    assert calls[:2] == ["place", "reported"] and calls.count("place") <= len(ORDERINGS)


@pytest.mark.parametrize("search", [delay_search, lns, multi_search])
@pytest.mark.parametrize("name", ["eurora_330", "profit_small"])
def test_a_search_without_time_gives_its_first_schedule(search, name):
    problem = load(name).problem
    found = search(problem, time_limit=0.0)
    assert not problem.verify(found.schedule)
    assert found.objective == pytest.approx(problem.value(found.schedule))


def test_delay_search_places_no_order_twice(problem, monkeypatch):
    """Regression: delay search placed the best order of multi-search anew, in spite of the time limit."""
    calls, place = [], ListScheduler.place_within
    monkeypatch.setattr(ListScheduler, "place_within", lambda *a, **k: (calls.append(1), place(*a, **k))[1])
    found = delay_search(problem, time_limit=0.0)
    assert len(calls) == 1 and found.details["trials"] <= 1 and not found.details["complete"]


def test_moves_and_the_reading_back_of_relaxations_heed_the_clock(problem):
    moved = move_jobs(problem, "est", rounds=10**9, time_limit=0.3)  # without the limit this takes days
    assert not problem.verify(moved.schedule)

    allocator = Allocator(problem, Deadline(0.0))
    first = allocator.allocate({j.id: j.submit for j in problem.jobs})
    assert first is not None and not problem.verify(first)
    assert allocator.allocate({j.id: 7200 for j in problem.jobs}) is None
    assert allocator.repair(0.0) is None
    repaired = allocator.repair(0.5)
    assert repaired is not None and problem.value(repaired) <= problem.value(first)


@pytest.mark.parametrize("method", ["multi-search", "delay-search", "lns", "relaxation-search@cpsat"])
@pytest.mark.slow
def test_methods_end_at_their_limit(method):
    problem = load("profit_medium").problem
    solve(problem, method=method, time_limit=0.1)  # compiled, imported
    result = solve(problem, method=method, time_limit=0.5)
    assert result.status == "feasible" and not result.violations


@pytest.mark.slow
def test_relaxation_search_makes_no_model_that_its_limit_leaves_no_time_for():
    """One model of all 1,000 jobs takes seconds to build, whatever the time limit is."""
    problem = load("profit_medium").problem
    short = solve(problem, method="relaxation-search", time_limit=1.5, threads=2)
    assert short.schedule is not None and not problem.verify(short.schedule)
    assert "not one model (36,734 units x nodes, more than" in short.message and "one model: " not in short.message
