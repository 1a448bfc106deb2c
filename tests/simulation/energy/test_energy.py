"""Energy accounts: a case by hand, a recomputation second by second, the accounts of ``Profit`` without idle power, bad input."""

import math
import random

import numpy as np
import pytest
import schedlab as sl
from schedlab import account as profit_account
from schedlab.models import Cooling, ProblemError, StepFunction
from schedlab.models.profit import makespan
from schedlab.models.step_function import Tariff
from schedlab.simulation.energy import (
    Centre,
    Machine,
    Runs,
    account,
    at_the_end,
    daily,
    power_of,
    replay_energy,
)
from schedlab.simulation.node_policies import BOOTING, OFF, SHUTTING_DOWN
from schedlab.simulation.records import OffIntervals
from small_profits import cut

TWO = sl.Platform([sl.NodeGroup("n", 2, {"cores": 10})])
HALF = Cooling("half", (0, 40), (0, 1000), ((0, 500), (0, 500)))


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def centre(**changes: object) -> Centre:
    given = {
        "cooling": HALF,
        "temperature": StepFunction.constant(20, 0, 10**6),
        "tariff": Tariff(0.36, carbon=300),
        "price": 0.1,
    }
    return Centre(**{**given, **changes})


ONE_JOB = Runs(ints(0), ints(0), ints(100), ints(10), np.array([50.0]))
SWITCHED = OffIntervals(ints(1, 1), ints(OFF, BOOTING), ints(20, 60), ints(60, 80))


def test_a_job_beside_a_node_that_is_switched_off_and_on() -> None:
    """The job takes 50 W for 100 s. The other node idles at 2 W * 10 cores for 40 s, is off for 40 s, boots at 3 W * 10 for 20 s."""
    power = power_of(Machine(TWO, idle_watts=2, boot_watts=3), ONE_JOB, SWITCHED, 0, 100)
    assert [power.it.at(t) for t in (0, 20, 60, 80, 99)] == [70, 50, 80, 70, 70]
    a = account(centre(), power, 0, 100)
    assert [round(x * 3.6e6, 6) for x in (a.busy_kwh, a.idle_kwh, a.boot_kwh)] == [5000, 800, 600]
    assert a.cooling_kwh * 3.6e6 == pytest.approx(3200)
    assert a.pue == pytest.approx(1.5)
    assert a.core_hours == pytest.approx(1000 / 3600)
    assert a.gain == pytest.approx(0.1 * 1000 / 3600)
    assert a.cost == pytest.approx(0.36 * 9600 / 3.6e6)
    assert a.kg_co2 == pytest.approx(0.3 * 9600 / 3.6e6)
    assert a.profit == a.gain - a.cost
    booted_at_idle = power_of(Machine(TWO, idle_watts=2), ONE_JOB, SWITCHED, 0, 100)
    assert booted_at_idle.boot.at(60) == 20


def test_hourly_prices_and_carbon_weigh_the_energy_of_their_hours() -> None:
    power = power_of(Machine(TWO, idle_watts=0), ONE_JOB, OffIntervals.always_on(), 0, 100)
    prices, carbon = StepFunction([0, 40], [0.1, 0.4], 100), StepFunction([0, 50], [100, 500], 100)
    a = account(centre(tariff=Tariff(prices, carbon)), power, 0, 100)
    assert a.cost == pytest.approx(75 * (40 * 0.1 + 60 * 0.4) / 3.6e6)
    assert a.kg_co2 == pytest.approx(75 * (50 * 100 + 50 * 500) / 3.6e6 / 1000)
    assert account(centre(tariff=Tariff(0.1)), power, 0, 100).kg_co2 is None


@pytest.mark.parametrize("submit", [0, 70])
def test_a_replay_in_which_no_time_passes_takes_no_energy(submit: int) -> None:
    jobs = [sl.Job(name, submit, 5, 1, {"cores": 1}, "q", runtime=0, power=50.0) for name in "ab"]
    run = sl.simulate(sl.Dispatch(TWO, jobs, [sl.Queue("q", 60)]))
    assert run.start.tolist() == run.end.tolist() == [submit, submit]
    found = replay_energy(run, centre(), Machine(TWO, idle_watts=2))
    for a in (found.end, found.last_submission, *found.daily):
        assert (a.begin, a.end, a.it_kwh, a.cooling_kwh, a.cost, a.pue) == (submit, submit, 0, 0, 0, None)


@pytest.mark.parametrize("seed", range(8))
def test_power_is_that_of_a_count_second_by_second(seed: int) -> None:
    rng = random.Random(seed)
    machine = Machine(sl.Platform([sl.NodeGroup("n", 3, {"cores": 4}), sl.NodeGroup("m", 2, {"cores": 6})]), 1.5, 2.5)
    nodes = machine.platform.nodes
    off, runs = [], []
    for k in range(len(nodes)):
        t = rng.randint(0, 20)
        while t < 60:
            lengths = [rng.randint(1, 9), 3, 5]
            if k < 2:  # jobs run on the other nodes alone, which are always on
                for state, length in zip((OFF, SHUTTING_DOWN, BOOTING), lengths, strict=True):
                    off.append((k, state, t, t + length))
                    t += length
            else:
                runs.append((t, t, t + lengths[0], 4, rng.uniform(7, 40)))
                t += lengths[0]
            t += rng.randint(1, 12)
    states = OffIntervals(*(ints(*column) for column in zip(*off, strict=True)))
    *times, watts = zip(*runs, strict=True)
    jobs = Runs(*(ints(*column) for column in times), np.array(watts))
    power = power_of(machine, jobs, states, 5, 90)
    cores = [4, 4, 4, 6, 6]
    for t in range(5, 90):
        here = {k: s for k, s, a, b in off if a <= t < b}
        running = [(c, w) for _, a, b, c, w in runs if a <= t < b]
        used, on = sum(c for c, _ in running), sum(cores) - sum(cores[k] for k in here)
        assert power.cores.at(t) == used
        assert power.busy.at(t) == pytest.approx(math.fsum(w for _, w in running), abs=1e-9)
        assert power.idle.at(t) == pytest.approx(1.5 * (on - used))
        assert power.boot.at(t) == pytest.approx(2.5 * sum(cores[k] for k, s in here.items() if s != OFF))


def test_without_idle_power_the_account_is_that_of_the_profit_problem() -> None:
    p = cut(20, until=2 * 86400 - 7200)
    s = sl.first_solution(p, "est")
    start = np.array([s.start[j.id] for j in p.jobs])
    runs = Runs(ints(*(j.submit for j in p.jobs)), start, start + p.durations, p.cores, p.watts)
    end = makespan(p, s)
    here = Centre(p.cooling, p.temperature.lasting(end + 86400), Tariff(p.energy_price), p.price)
    power = power_of(Machine(p.platform, idle_watts=0), runs, OffIntervals.always_on(), 0, max(end, p.horizon_end))
    for until in (p.horizon_end, end):
        mine, theirs = account(here, power, 0, until), profit_account(p, s, until)
        for name in ("core_hours", "gain", "it_kwh", "cooling_kwh", "cost", "profit", "pue"):
            assert getattr(mine, name) == pytest.approx(getattr(theirs, name), rel=1e-9), name
    whole, days = account(here, power, 0, end), list(daily(here, power, 0, end))
    for name in ("core_hours", "busy_kwh", "idle_kwh", "cooling_kwh", "cost"):
        assert math.fsum(getattr(d, name) for d in days) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-9)
    last, final = at_the_end(here, power, runs, 0)
    assert (last.end, final.end) == (max(j.submit for j in p.jobs), end)
    assert final == whole


@pytest.mark.parametrize(
    ("machine", "states", "message"),
    [
        (
            Machine(TWO, idle_watts=6),
            OffIntervals.always_on(),
            r"idle power, 6 W per core, is above that of a running job, 5 W",
        ),
        (
            Machine(TWO, 2),
            OffIntervals(ints(0, 1), ints(OFF, OFF), ints(0, 30), ints(50, 70)),
            "at 30 s 10 cores are in use, but only 0 are on: a job runs on a node that is off",
        ),
        (
            Machine(TWO, 2),
            OffIntervals(ints(1, 1), ints(BOOTING, OFF), ints(30, 0), ints(50, 31)),
            "node n-2 has two states at 30 s: one ends at 31 s",
        ),
    ],
)
def test_contradictions_are_told(machine: Machine, states: OffIntervals, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        power_of(machine, ONE_JOB, states, 0, 100)


def test_weather_prices_and_cooling_must_cover_the_replay() -> None:
    power = power_of(Machine(TWO, 2), ONE_JOB, SWITCHED, 0, 100)
    short = StepFunction.constant(20, 0, 99)
    with pytest.raises(ProblemError, match="the temperatures go from 0 s to 99 s, which does not cover 0 s to 100 s"):
        account(centre(temperature=short), power, 0, 100)
    with pytest.raises(ProblemError, match="the energy prices go from 0 s to 99 s"):
        account(centre(tariff=Tariff(short)), power, 0, 100)
    with pytest.raises(ProblemError, match="the carbon intensities go from 0 s to 99 s"):
        account(centre(tariff=Tariff(0.1, short)), power, 0, 100)
    weak = Cooling("weak", (0, 40), (0, 60), ((0, 30), (0, 30)))
    with pytest.raises(ProblemError, match="is 62 W, but cooling 'weak' is known up to 60 W"):
        account(centre(cooling=weak), power, 0, 100)
    with pytest.raises(ProblemError, match="the idle power is -1 W per core"):
        Machine(TWO, -1)
