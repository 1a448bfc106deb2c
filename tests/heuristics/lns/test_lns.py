"""Large-neighbourhood search: never worse than its first orders, verified, reproducible, optimal on small problems."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab import Incumbent, lns, solve
from schedlab.heuristics import ListScheduler, NothingFound, order_by
from schedlab.heuristics.kernels import profit
from schedlab.heuristics.lns import LnsSearch
from schedlab.heuristics.lns.state import WEIGHTED, bulk_of, drawn, features, keys_of
from schedlab.models import Cooling, Dispatch, Job, NodeGroup, Platform, Profit, Queue, Running, StepFunction

QUEUES = [Queue("day", 600), Queue("night", 7200, ((64800, 72000),))]
AIMS = ("waiting", "weighted-wait", "makespan", "late-jobs", "slowdown", "weighted-tardiness")


def machine(nodes: int = 3) -> Platform:
    return Platform([NodeGroup("n", nodes, {"cores": 4, "gpus": 1})])


@st.composite
def batches(draw: st.DrawFn, most: int = 12) -> list[Job]:
    return [
        Job(
            f"j{k}",
            draw(st.integers(0, 300)),
            draw(st.integers(1, 200)),
            draw(st.integers(1, 3)),
            {"cores": draw(st.integers(1, 4)), "gpus": draw(st.sampled_from((0, 0, 1)))},
            "day",
            power=float(draw(st.integers(0, 80))),
        )
        for k in range(draw(st.integers(1, most)))
    ]


def plant() -> Cooling:
    return Cooling("plant", (0, 20, 40), (0, 150, 1000), ((0, 10, 60), (0, 40, 200), (0, 80, 1000)))


def earning(jobs: list[Job], price: float = 0.5, horizon_end: int = 400, energy: StepFunction | float = 3.0) -> Profit:
    temperatures = StepFunction([0, 100, 200, 300], [5.0, 15.0, 28.0, 12.0], 5000)
    return Profit(Dispatch(machine(), jobs, QUEUES), temperatures, plant(), price, energy, horizon_end=horizon_end)


@settings(max_examples=25, deadline=None)
@given(batches(), st.sampled_from(AIMS), st.integers(0, 5))
def test_schedules_of_dispatch_problems_hold_and_are_no_worse_than_usual_orders(
    jobs: list[Job], aim: str, seed: int
) -> None:
    p = Dispatch(machine(), jobs, QUEUES, aim)
    found = lns(p, seed=seed, rounds=6)
    assert p.verify(found.schedule) == []
    assert found.objective == pytest.approx(p.value(found.schedule))
    scheduler = ListScheduler(p)
    usual = min(scheduler.evaluate(scheduler.order(order))[0] for order in ("est", "-area", "-request", "duration"))
    assert found.objective <= usual + 1e-9
    assert [i.objective for i in found.incumbents] == sorted((i.objective for i in found.incumbents), reverse=True)


@settings(max_examples=25, deadline=None)
@given(batches(), st.integers(0, 5), st.sampled_from((3.0, -2.0, 4000.0)))
def test_schedules_of_profit_problems_hold_and_their_value_is_the_problems(
    jobs: list[Job], seed: int, energy: float
) -> None:
    p = earning(jobs, energy=energy)
    found = lns(p, seed=seed, rounds=8)
    assert p.verify(found.schedule) == []
    assert found.objective == pytest.approx(p.value(found.schedule), abs=1e-9)
    assert found.incumbents[-1].objective == pytest.approx(found.objective, abs=1e-9)
    values = [i.objective for i in found.incumbents]
    assert values == sorted(values)


def test_what_starts_when_nothing_is_earned_any_more_has_a_place_all_the_same() -> None:
    jobs = [Job(f"j{k}", 0, 100, 3, {"cores": 4}, "day", power=10.0 + k) for k in range(6)]
    found = lns(earning(jobs, horizon_end=150), rounds=6)
    assert sorted(found.schedule.start.values()) == [0, 100, 200, 300, 400, 500]
    assert {j for j, s in found.schedule.start.items() if s < 150} == {"j0", "j1"}  # the jobs with the least power


def test_the_same_seed_gives_the_same_schedule_and_another_may_not() -> None:
    rng = np.random.default_rng(3)
    jobs = [
        Job(f"j{k}", int(rng.integers(300)), int(rng.integers(20, 200)), int(rng.integers(1, 4)), {"cores": 3}, "day")
        for k in range(25)
    ]
    p = Dispatch(machine(), jobs, QUEUES, "weighted-wait")
    assert lns(p, seed=1, rounds=9).schedule == lns(p, seed=1, rounds=9).schedule


@pytest.mark.parametrize("seed", range(4))
def test_it_finds_the_best_of_all_orders_of_five_jobs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    jobs = [
        Job(
            f"j{k}",
            int(rng.integers(60)),
            int(rng.integers(5, 90)),
            int(rng.integers(1, 4)),
            {"cores": int(rng.integers(1, 5))},
            "day",
        )
        for k in range(5)
    ]
    p = Dispatch(machine(), jobs, QUEUES, "slowdown")
    scheduler = ListScheduler(p)
    best = min(scheduler.evaluate(np.array(order))[0] for order in permutations(range(5)))
    assert lns(p, seed=seed, rounds=30).objective <= best + 1e-9


def test_calendars_deadlines_and_running_jobs_are_kept() -> None:
    jobs = [
        Job("late", 0, 100, 3, {"cores": 4}, "night"),
        Job("due", 0, 50, 3, {"cores": 4}, "day", deadline=300),
        Job("long", 0, 900, 3, {"cores": 4}, "day"),
    ]
    held = Running(Job("r", 0, 100, 3, {"cores": 4}, "day"), 0, {"n-1": 1, "n-2": 1, "n-3": 1}, 100)
    p = Dispatch(machine(), jobs, QUEUES, "waiting", running=[held])
    found = lns(p, rounds=5)
    assert p.verify(found.schedule) == []
    assert found.schedule.start["due"] == 100
    assert found.schedule.start["late"] == 64800


def test_a_job_that_must_end_before_the_last_moment_is_not_put_off() -> None:
    jobs = [
        Job("rich", 0, 100, 3, {"cores": 4}, "day", power=1.0),
        Job("poor", 0, 100, 3, {"cores": 4}, "day", power=900.0 / 9, deadline=150),
    ]
    p = earning(jobs, horizon_end=120, energy=1000.0)
    found = lns(p, rounds=6)
    assert p.verify(found.schedule) == []
    assert found.schedule.start["poor"] <= 50


def test_where_no_order_fits_it_says_so() -> None:
    jobs = [Job(n, 0, 50, 3, {"cores": 4}, "day", deadline=60) for n in "ab"]
    with pytest.raises(NothingFound, match="no order of the jobs"):
        lns(Dispatch(machine(), jobs, QUEUES), rounds=3)


def test_the_callback_can_stop_it() -> None:
    jobs = [Job(f"j{k}", 0, 10 + k, 1, {"cores": 4}, "day") for k in range(9)]
    p = Dispatch(machine(1), jobs, QUEUES, "waiting")
    reported: list[float] = []

    def stop(news: Incumbent) -> bool:
        reported.append(news.objective)
        return False

    assert lns(p, rounds=9, on_incumbent=stop).objective == reported[0]
    assert len(reported) == 1


def test_the_limit_on_the_clock_is_kept_and_no_job_is_no_problem() -> None:
    p = Dispatch(machine(), [Job("a", 0, 5, 1, {"cores": 1}, "day")], QUEUES, "waiting")
    assert lns(p, time_limit=0.05).objective == 0
    assert lns(p.replace(jobs=[]), rounds=2).schedule.start == {}


def test_a_solver_takes_turns_and_what_it_finds_holds() -> None:
    rng = np.random.default_rng(5)
    jobs = [
        Job(f"j{k}", int(rng.integers(200)), int(rng.integers(20, 150)), int(rng.integers(1, 4)), {"cores": 3}, "day",
            power=float(rng.integers(5, 60)))
        for k in range(14)
    ]  # fmt: skip
    for p in (earning(jobs), Dispatch(machine(), jobs, QUEUES, "weighted-wait")):
        found = lns(p, rounds=10, backend="cpsat", threads=1)
        assert found.details["operators"]["solver"].turns >= 1
        assert p.verify(found.schedule) == []
        assert found.objective == pytest.approx(p.value(found.schedule))


def test_as_a_method_it_takes_a_seed_and_a_backend() -> None:
    jobs = [Job(f"j{k}", 0, 10 + k, 1, {"cores": 4}, "day", power=10.0) for k in range(6)]
    result = solve(earning(jobs), method="lns@cpsat", rounds=6, seed=3, threads=1)
    assert result.status == "feasible"
    assert result.objective == pytest.approx(earning(jobs).value(result.schedule))
    assert "solver" in result.message


def test_the_ledger_is_the_account() -> None:
    rng = np.random.default_rng(8)
    jobs = [
        Job(f"j{k}", 0, int(rng.integers(1, 300)), 1, {"cores": 2}, "day", power=float(rng.integers(90)))
        for k in range(9)
    ]
    prices = StepFunction([0, 150], [2.0, -1.0], 5000)
    p = earning(jobs, energy=prices)
    a = ListScheduler(p).arrays
    for _ in range(20):
        starts = rng.integers(0, 600, len(jobs))
        from schedlab.models import Schedule

        meant = p.value(Schedule({j.id: int(s) for j, s in zip(jobs, starts, strict=True)}))
        joules = np.empty(len(p.segments))
        assert profit(a.costs.ledger, a.jobs.duration, starts, joules) == pytest.approx(meant, rel=1e-9)


def test_features_keep_what_jobs_differ_in_and_keys_give_orders_back() -> None:
    jobs = [Job(f"j{k}", 0, 10 + 5 * k, 1 + k % 3, {"cores": 2}, "day", power=4.0) for k in range(8)]
    a = ListScheduler(Dispatch(machine(), jobs, QUEUES)).arrays
    known = features(a)
    assert set(known.names) == {"duration", "units", "power"}
    order = np.array([3, 1, 7, 0, 2, 6, 5, 4])
    keys = known.keys({"duration": -1, "units": 0.5})
    again = keys_of(order, keys)
    assert np.argsort(again, kind="stable").tolist() == order.tolist()
    assert sorted(again) == sorted(keys)


def test_large_jobs_are_drawn_more_often() -> None:
    jobs = [
        Job("large", 0, 10_000, 3, {"cores": 4}, "day"),
        *(Job(f"j{k}", 0, 1, 1, {"cores": 1}, "day") for k in range(9)),
    ]
    a = ListScheduler(Dispatch(machine(), jobs, QUEUES)).arrays
    some = drawn(2000, bulk_of(a), np.random.default_rng(1))
    assert (some == 0).mean() > 0.4
    assert set(some.tolist()) == set(range(10))


def test_a_profit_search_begins_with_orders_of_low_power_and_a_dispatch_search_with_the_cost_of_waiting() -> None:
    """The jobs differ in their power only: the order is that of their powers."""
    jobs = [Job(f"j{k}", 0, 100, 3, {"cores": 4}, "day", power=float(p)) for k, p in enumerate((80, 20, 50, 35))]
    search = LnsSearch(earning(jobs, horizon_end=200))
    first = [np.argsort(keys, kind="stable").tolist() for keys in search._presets()]
    assert first[0] == [1, 3, 2, 0]
    assert first[: len(first) - len(WEIGHTED)] == [
        np.argsort(k, kind="stable").tolist() for k in search.features.presets(True)
    ]
    p = Dispatch(machine(), [*jobs[1:], Job("short", 0, 5, 1, {"cores": 1}, "day", power=1.0)], QUEUES, "waiting")
    dispatch = LnsSearch(p)
    by_area = [np.argsort(keys, kind="stable").tolist() for keys in dispatch._presets()][: len(WEIGHTED)]
    assert by_area == [
        dispatch_order.tolist() for dispatch_order in (order_by(dispatch.arrays, name) for name in WEIGHTED)
    ]


def test_presets_of_profit_problems_are_added_to_those_of_all_problems() -> None:
    rng = np.random.default_rng(2)
    jobs = [
        Job(f"j{k}", k, int(rng.integers(9, 99)), int(rng.integers(1, 4)), {"cores": 1 + k % 4}, "day", power=9.0 + k)
        for k in range(8)
    ]
    known = features(ListScheduler(earning(jobs)).arrays)
    usual, more = ({tuple(keys.tolist()) for keys in known.presets(profits)} for profits in (False, True))
    assert usual < more
