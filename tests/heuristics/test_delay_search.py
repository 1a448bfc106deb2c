"""Delay search against a literal implementation of algorithm 7 [Bridi2018, 6.7.3]; time limits, orders, objectives."""

import math
import random

import numpy as np
import pytest
from schedlab.heuristics import ListScheduler, NoSchedule, delay_search, multi_search
from schedlab.models import (
    POSTPONED,
    Cooling,
    Dispatch,
    Job,
    NodeGroup,
    Platform,
    Profit,
    Queue,
    Schedule,
    StepFunction,
)

PLATFORM = Platform([NodeGroup("n", 3, {"cores": 16, "mem": 64})])
HOT = Cooling("hot noon", (10, 30), (0, 200, 600), ((0, 0, 60), (0, 60, 500)))
DAY_AND_NIGHT = StepFunction([0, 9000, 18000], [28.0, 12.0, 26.0], 40000)


def dispatch(seed, aim="waiting", count=14):
    rng = random.Random(seed)
    jobs = []
    for i in range(count):
        units, cores = rng.randint(1, 3), rng.randint(2, 16)
        submit = rng.randrange(0, 15000, 300)
        jobs.append(
            Job(f"j{i}", submit, rng.randrange(600, 9000, 60), units, {"cores": cores, "mem": rng.choice([4, 30])}, "q")
        )
    return Dispatch(PLATFORM, jobs, [Queue("q", 3600)], aim)


def profit(seed, count=14):
    return Profit(dispatch(seed, count=count), DAY_AND_NIGHT, HOT, 0.01, 0.13, horizon_end=24000, watts_per_core=10.0)


def literally(problem, delay):
    """Run algorithm 7 with all jobs placed anew for each bound; return the best starts and objective."""
    scheduler = ListScheduler(problem)
    order = scheduler.order(multi_search(problem).details["order"])
    free = -(2**62)
    bound = dict.fromkeys(order.tolist(), free)

    def evaluate(bound):
        return scheduler.evaluate(order, np.array([bound[j] for j in range(order.size)]))

    least, best = evaluate(bound)
    horizon = problem.horizon_end if isinstance(problem, Profit) else int((best + scheduler.arrays.jobs.duration).max())

    def delayed(jobs):
        nonlocal least, best, bound
        for j in jobs:
            if best[j] == POSTPONED:
                continue
            first, k, trial = int(best[j]), 0, dict(bound)
            while True:
                k += 1
                trial[j] = min(horizon, first + k * delay)
                value, starts = evaluate(trial)
                if value < least - 1e-12 * abs(least):
                    least, best, bound = value, starts, dict(trial)
                if starts[j] >= horizon or starts[j] == POSTPONED:
                    break

    delayed(order.tolist())
    before = math.inf
    while least < before:
        before = least
        delayed(order.tolist()[::-1])
    nodes = scheduler.place(order, np.array([bound[j] for j in range(order.size)]))[1]
    return scheduler.arrays.sign * least, scheduler.arrays.schedule(best, nodes).start


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "make", [profit, dispatch, lambda seed: dispatch(seed, "makespan"), lambda s: dispatch(s, "late-jobs")]
)
def test_it_is_algorithm_7(make, seed):
    problem = make(seed)
    found = delay_search(problem, delay=1800)
    objective, starts = literally(problem, 1800)
    assert found.details["complete"] and found.details["delay"] == 1800
    assert found.objective == pytest.approx(objective, rel=1e-9)
    assert found.schedule.start == starts
    assert problem.verify(found.schedule) == []


def priced(jobs, price):
    """Return a profit problem of these jobs and a last job at 24000, the end of the horizon."""
    last = Job("last", 24000, 3600, 1, {"cores": 1}, "q", power=0.0)
    return Profit(Dispatch(PLATFORM, [*jobs, last], [Queue("q", 60)]), DAY_AND_NIGHT, HOT, price, 0.13)


def test_a_job_waits_for_the_cold_of_the_night():
    """The hottest time ends at 9000: a later start earns the same, with less cooling cost."""
    problem = priced([Job("j", 0, 3600, 1, {"cores": 16}, "q", power=160.0)], price=0.01)
    at_once = multi_search(problem)
    assert at_once.schedule.start["j"] == 0
    found = delay_search(problem, delay=1000)
    assert found.schedule.start["j"] == 9000
    assert found.objective - at_once.objective == pytest.approx(
        0.16 * (0.27 - 0.03) * 0.13
    )  # energy in kWh * change of cooling energy per kWh * price


def test_a_job_that_costs_more_than_it_earns_goes_to_the_horizon():
    jobs = [Job("good", 0, 900, 1, {"cores": 8}, "q", power=8.0), Job("bad", 0, 900, 1, {"cores": 8}, "q", power=500.0)]
    found = delay_search(priced(jobs, price=0.001))
    assert found.schedule.start["bad"] == 24000 and found.schedule.start["good"] < 24000 - 900


@pytest.mark.parametrize("seed", range(3))
def test_it_is_never_worse_than_multi_search_and_tells_every_step(seed):
    problem = profit(seed, count=30)
    seen = []
    found = delay_search(problem, on_incumbent=lambda *step: seen.append(step[0]))
    values = [news.objective for news in found.incumbents]
    assert seen == found.incumbents
    assert values == sorted(values) and values[-1] == pytest.approx(found.objective, rel=1e-9)
    assert found.objective > multi_search(problem).objective
    assert found.details["delay"] == problem.horizon_end / 50
    assert delay_search(problem).schedule == found.schedule


def test_without_time_it_is_the_first_ordering_and_it_stops_on_false():
    problem = dispatch(5, count=30)
    hurried = delay_search(problem, time_limit=0)
    assert hurried.schedule == multi_search(problem, time_limit=0).schedule
    assert not hurried.details["complete"] and hurried.details["trials"] <= 1
    seen = []
    delay_search(problem, on_incumbent=lambda *step: bool(seen.append(step)))
    assert len(seen) == 1


def test_windows_and_deadlines_hold_for_delayed_jobs():
    queues = [Queue("q", 3600), Queue("night", 3600, daily=((64800, 86399),))]
    jobs = [
        Job(
            f"j{i}",
            0,
            3000 + 600 * i,
            1 + i % 3,
            {"cores": 9},
            "night" if i % 4 == 0 else "q",
            deadline=200000 - 8000 * i,
        )
        for i in range(12)
    ]
    problem = Dispatch(PLATFORM, jobs, queues, "weighted-wait")
    found = delay_search(problem, delay=900)
    assert found.details["complete"] and problem.verify(found.schedule) == []
    with pytest.raises(NoSchedule):
        delay_search(
            problem.replace(
                jobs=[
                    *jobs,
                    Job("late", 0, 60, 3, {"cores": 16}, "q", deadline=60),
                    Job("too", 0, 60, 3, {"cores": 16}, "q", deadline=60),
                ]
            )
        )


def test_a_problem_without_jobs_and_a_delay_of_nothing():
    assert delay_search(Dispatch(PLATFORM, [], [Queue("q", 1)])).schedule == Schedule({}, {})
    with pytest.raises(ValueError, match="at least 1 s"):
        delay_search(dispatch(1), delay=0)


def test_a_job_waits_for_cheap_energy_long_after_all_jobs_could_have_run():
    """One job of one hour, cheap energy from hour 10 on: without prices the horizon would be one hour."""
    job = Job("j", 0, 3600, 1, {"cores": 16, "mem": 4}, "q", power=1000.0)
    jobs = Dispatch(PLATFORM, [job], [Queue("q", 3600)])
    prices = StepFunction([0, 36000], [1.0, 0.1], 72000)
    never_hot = Cooling("flat", (0, 40), (0, 1000), ((0, 0), (0, 0)))
    p = Profit(jobs, StepFunction.constant(20, 0, 72000), never_hot, 1.0, prices, horizon_end=72000)
    assert multi_search(p).objective == pytest.approx(16.0 - 1.0)
    found = delay_search(p)
    assert found.objective == pytest.approx(16.0 - 0.1)
    assert 36000 <= found.schedule.start["j"] <= 72000 - 3600
