"""The dispatcher that follows a rolling offline plan with EASY: its order, its plans, what it refuses."""

from __future__ import annotations

from itertools import pairwise

import pytest
import schedlab as sl
from schedlab.instances import Workload
from schedlab.models import Cooling, Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.step_function import Tariff
from schedlab.simulation import Planned, SimulationError, parse_dispatcher
from schedlab.simulation.energy import Centre

HOUR, DAY = 3600, 86400
MACHINE = Platform([NodeGroup("n", 2, {"cores": 8})])
CENTRE = Centre(
    Cooling("flat", (-20, 45), (0, 10_000), ((0, 3000), (0, 6000))),
    sl.StepFunction.constant(20, 0, 10 * DAY),
    Tariff(0.13),
    0.05,
)


def log(*jobs: tuple[int, int, int]) -> Workload:
    """Jobs a, b, c, ... of (submit time, runtime, nodes)."""
    made = [
        Job("abcdefgh"[k], t, took, n, {"cores": 8}, "q", runtime=took, power=70.0 * n)
        for k, (t, took, n) in enumerate(jobs)
    ]
    return Workload.of(Dispatch(MACHINE, made, [Queue("q", HOUR)]))


QUEUE = log((0, 100, 2), (10, 1000, 2), (11, 20, 2))  # b and c wait for a; c is short


@pytest.mark.parametrize(
    ("method", "every", "starts"),
    [
        ("rule:wt", 1 / HOUR, [0, 120, 100]),  # a plan at each decision: the shortest job first
        ("rule:est", 1 / HOUR, [0, 100, 1100]),
        ("rule:wt", 24, [0, 100, 1100]),  # the only plan is made before b and c arrive
    ],
)
def test_jobs_start_in_the_order_of_the_plan(method: str, every: float, starts: list[int]) -> None:
    run = sl.simulate(QUEUE, MACHINE, Planned(every, method=method, centre=CENTRE))
    assert run.violations == [] and run.start.tolist() == starts


def test_later_jobs_fill_the_gaps_and_do_not_delay_the_first_one() -> None:
    """b needs both nodes and waits for a; c ends before b can start, d does not."""
    jobs = log((0, 100, 1), (10, 1000, 2), (11, 50, 1), (12, 500, 1))
    run = sl.simulate(jobs, MACHINE, Planned(24, centre=CENTRE))
    assert run.start.tolist() == [0, 100, 11, 1100]


def test_plans_are_made_at_decisions_and_have_the_forecast() -> None:
    jobs = log(*((DAY * k + HOUR, HOUR, 1) for k in range(4)), (DAY + HOUR, HOUR, 2))
    dispatcher = Planned(24, centre=CENTRE)
    run = sl.simulate(jobs, MACHINE, dispatcher, node_policy="idle:30min")
    assert run.violations == [] and run.power is not None and run.power.time.size > 0
    plans = dispatcher.plans
    assert plans[0].begin == HOUR and "no history" in plans[0].why
    assert all(b.begin - a.begin >= DAY for a, b in pairwise(plans))
    # at the second submission a node boots first; the jobs of the 24 hours before are forecast
    assert (plans[1].begin, plans[1].forecast, plans[1].expected) == (DAY + HOUR + 300, "persistence", 2)


def test_the_name_has_options() -> None:
    named = parse_dispatcher("planned:every=12:method=rule:wt:forecast=perfect-r")
    made = named.make()
    assert isinstance(made, Planned) and named.predictor == "real"
    assert named.part.given == {"every": "12", "method": "rule:wt", "forecast": "perfect"}
    assert sl.simulate(QUEUE, MACHINE, Planned(12, "perfect", "rule:wt", centre=CENTRE)).violations == []


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="hours of more than 0"):
        Planned(0)
    with pytest.raises(SimulationError, match="planned plans for profit: expected cooling, weather and prices"):
        sl.simulate(QUEUE, MACHINE, "planned")
