"""The hybrid dispatcher: its plans, the nodes that it wishes, and what it refuses."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.backends import UnknownName
from schedlab.instances import Workload
from schedlab.models import Cooling, Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.profiles import flat, nodes_on
from schedlab.models.registry import WrongOption
from schedlab.models.step_function import Tariff
from schedlab.simulation import Hybrid, SimulationError, is_dispatcher, parse_dispatcher
from schedlab.simulation.dispatchers.dardis import NodeManagers, Request, Wish
from schedlab.simulation.dispatchers.hybrid import limits_of, wished
from schedlab.simulation.energy import Centre
from schedlab.simulation.forecasts import Persistence

HOUR, DAY = 3600, 86400
MACHINE = Platform([NodeGroup("n", 6, {"cores": 8})])
COOLING = Cooling("flat", (-20, 45), (0, 10_000), ((0, 3000), (0, 6000)))


def centre(days: float = 10) -> Centre:
    return Centre(COOLING, sl.StepFunction.constant(20, 0, int(days * DAY)), Tariff(0.13), 0.05)


def log(days: int = 3, every: int = 2, submit: int = 0) -> Workload:
    """A job of 1 to 3 nodes every few hours, of 1 to 4 hours; its walltime is twice its runtime."""
    jobs = []
    for k, t in enumerate(range(submit, submit + days * DAY, every * HOUR)):
        took = HOUR * (1 + k % 4)
        jobs.append(Job(f"j{k}", t, 2 * took, 1 + k % 3, {"cores": 8}, "q", runtime=took, power=70.0 * (1 + k % 3)))
    return Workload.of(Dispatch(MACHINE, jobs, [Queue("q", HOUR)]))


def test_with_all_nodes_on_the_starts_are_those_of_dardis() -> None:
    jobs = log()
    run = sl.simulate(jobs, MACHINE, Hybrid(100))
    assert run.violations == []
    assert run.start.tolist() == sl.simulate(jobs, MACHINE, "dardis:throughput").start.tolist()


def test_plans_begin_after_a_day_and_follow_each_other() -> None:
    dispatcher = Hybrid(70, centre=centre())
    run = sl.simulate(log(), MACHINE, dispatcher)
    assert run.violations == [] and (run.start >= 0).all()
    assert [p.begin for p in dispatcher.plans][:2] == [DAY, 2 * DAY]
    assert [p.forecast for p in dispatcher.plans][:2] == ["persistence", "persistence"]
    assert all(p.expected == 12 for p in dispatcher.plans[:2])


def test_a_profile_is_the_mean_use_of_the_day_and_a_share_of_the_rest() -> None:
    """A job of 3 of 6 nodes that runs for ever: the use is a half, the profile 0.5 + 0.5 * 0.7."""
    jobs = [Job("long", 0, 4 * DAY, 3, {"cores": 8}, "q", runtime=4 * DAY, power=200.0),
            *(Job(f"j{k}", k * DAY - 1, HOUR, 1, {"cores": 8}, "q", runtime=1, power=70.0) for k in (1, 2))]  # fmt: skip
    dispatcher = Hybrid(70, centre=centre())
    sl.simulate(Workload.of(Dispatch(MACHINE, jobs, [Queue("q", HOUR)])), MACHINE, dispatcher)
    assert dispatcher.plans[0].shares[0] == pytest.approx(0.85, abs=1e-4)
    assert dispatcher.plans[0].lasting.total("cores", 100 * DAY) == dispatcher.plans[0].shares[-1] * 48


def test_a_forecast_without_jobs_is_replaced_and_the_reason_is_kept() -> None:
    dispatcher = Hybrid(50, "weekly", centre=centre())
    sl.simulate(log(2), MACHINE, dispatcher)
    first = dispatcher.plans[0]
    assert first.forecast == "persistence" and first.expected == 12
    assert "the forecast weekly of 86400 s to 172800 s repeats" in first.why
    quiet = Hybrid(50, centre=centre())
    jobs = log(1)
    gap = replace(log(1, submit=3 * DAY), ids=tuple(f"late{k}" for k in range(12)))
    both = Workload.of(Dispatch(MACHINE, [*map(jobs.job, range(12)), *map(gap.job, range(12))], [Queue("q", HOUR)]))
    assert sl.simulate(both, MACHINE, quiet).violations == []
    empty = next(p for p in quiet.plans if p.begin == 2 * DAY)
    assert empty.forecast == "" and empty.expected == 0 and "in which no job was submitted" in empty.why


def test_the_perfect_forecast_has_the_jobs_that_come() -> None:
    jobs, dispatcher = log(), Hybrid(70, "perfect", centre=centre())
    sl.simulate(jobs, MACHINE, dispatcher)
    for plan in dispatcher.plans[:2]:
        assert plan.expected == int(((jobs.submit >= plan.begin) & (jobs.submit < plan.end)).sum())


def test_weather_that_does_not_cover_the_submissions_is_refused() -> None:
    with pytest.raises(
        SimulationError, match="temperatures go from 0 s to 86400 s, which does not cover 0 s to 252000 s"
    ):
        sl.simulate(log(), MACHINE, Hybrid(70, centre=centre(1)))


def test_prices_that_do_not_cover_the_submissions_are_refused() -> None:
    day = replace(centre(), tariff=Tariff(sl.StepFunction.hourly([0.1] * 24)))
    with pytest.raises(SimulationError, match="energy prices go from 0 s to 86400 s"):
        sl.simulate(log(), MACHINE, Hybrid(70, centre=day))


def test_without_weather_and_prices_the_message_says_what_to_give() -> None:
    with pytest.raises(SimulationError, match="expected cooling, weather and prices"):
        sl.simulate(log(), MACHINE, "hybrid:70")


def test_jobs_without_a_power_are_named() -> None:
    jobs = replace(log(), power=np.full(len(log()), np.nan))
    with pytest.raises(SimulationError, match="has no power"):
        sl.simulate(jobs, MACHINE, Hybrid(70, centre=centre()))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"percent": 101}, "0 to 100"), ({"limit": -1}, "seconds"), ({"hours": 0.5}, "whole hours")],
)
def test_wrong_values_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hybrid(**options)


def test_names_have_options() -> None:
    named = parse_dispatcher("hybrid:50:forecast=weekly:method=rule:est:hours=48-r")
    assert (named.dispatcher, named.predictor, named.part.given) == (
        "hybrid:50",
        "real",
        {"forecast": "weekly", "method": "rule:est", "hours": "48"},
    )
    made = named.make()
    assert made.percent == 50 and made._planner.hours == 48
    assert is_dispatcher("hybrid:70:hours=48") and is_dispatcher("hybrid:100")
    with pytest.raises(UnknownName, match="forecast"):
        parse_dispatcher("hybrid:70:forcast=weekly").make()
    with pytest.raises(WrongOption, match="twice"):
        parse_dispatcher("hybrid:70:hours=24:hours=48")
    with pytest.raises(UnknownName):
        parse_dispatcher("easy:depth=3").make()
    with pytest.raises(UnknownName):
        parse_dispatcher("hcp3:limit=3@cpsat")


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.floats(0, 1), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_nodes_wished_are_those_of_the_extraction(share: float, ends: list[int]) -> None:
    """Where all nodes are on, the order is that of ``nodes_on``."""
    profile, now = flat(MACHINE, share), np.zeros(6, np.int64)
    by_name = {name: end for name, end in zip(MACHINE.nodes, ends, strict=True) if end > 0}
    found = wished(profile, 0, 1, 0, np.array(ends, np.int64), now)
    assert {MACHINE.nodes[n] for n in np.flatnonzero(found[0])} == set(nodes_on(profile, 0, by_name))


def test_a_node_that_is_off_is_wished_last() -> None:
    ready = np.array([900, 0, 0, 900, 0, 0])
    found = wished(flat(MACHINE, 4 / 6), 0, 1, 0, np.zeros(6, np.int64), ready)
    assert np.flatnonzero(found[0]).tolist() == [1, 2, 4, 5]


def test_limits_are_the_capacity_of_wished_nodes() -> None:
    nodes = np.array([[True, False], [False, False], [True, True]])
    machine = Platform([NodeGroup("n", 2, {"cores": 8})])
    limits = limits_of(machine, nodes, 10 * HOUR)
    assert limits.first.tolist() == [0, 3, 6]
    assert limits.time[1:3].tolist() == [11 * HOUR, 12 * HOUR]
    assert limits.amount[:, 0].tolist() == [8, 0, 8, 0, 0, 8]


def test_nodes_are_off_and_back_in_time() -> None:
    """A machine in little use: nodes are switched off, no job runs on them, and a wide job still starts."""
    dispatcher = Hybrid(50, centre=centre())
    run = sl.simulate(log(3, every=6), MACHINE, dispatcher)
    assert run.violations == [] and run.power is not None
    away = run.power.intervals(int(run.end.max()))
    assert away.begin.size and away.begin.min() >= DAY
    for k, on in enumerate(run.schedule().nodes.values()):
        for n in on:
            mine = away.node == MACHINE.nodes.index(n)
            assert not (mine & (away.begin < run.end[k]) & (run.start[k] < away.end)).any()
    assert any(len(on) == 3 for on in run.schedule().nodes.values())


def test_node_managers_follow_a_new_wish() -> None:
    """Nodes that are not wished answer only requests that ignore the desired use."""
    managers = NodeManagers(np.full((2, 1), 8, np.int64))
    machine = Platform([NodeGroup("n", 2, {"cores": 8})])
    managers.receive(Wish(limits_of(machine, np.array([[True, False]]), 0)))
    asked = Request("a", 1, 1, np.array([8]), 60, np.array([[0, 100]]), 1, True, 0)
    assert managers.answer(asked).node.tolist() == [0]
    assert managers.answer(asked._replace(profile=False)).node.tolist() == [0, 1]


class SlowForecast(Persistence):
    """The jobs of the day before, after a second."""

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        time.sleep(1.05)
        return super().jobs(history, now, end)


def test_the_plan_may_take_time_on_the_clock_of_the_replay() -> None:
    day = log(1)
    late_job = replace(day.job(0), id="late", submit=DAY)
    jobs = Workload.of(Dispatch(MACHINE, [*map(day.job, range(12)), late_job], [Queue("q", HOUR)]))
    late = jobs.ids.index("late")
    for charged in (False, True):
        run = sl.simulate(jobs, MACHINE, Hybrid(70, SlowForecast(), centre=centre()), charge_decisions=charged)
        assert run.violations == []
        assert (run.start[late] > DAY) == charged
