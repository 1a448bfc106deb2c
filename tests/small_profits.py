"""Small problems of profit for the tests: cuts of ``profit_small``, and tiny ones whose best schedule enumeration finds."""

import random
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.instances import load
from schedlab.models import Cooling, Dispatch, Job, NodeGroup, Platform, Profit, Queue, Schedule, StepFunction

SMALL = Path(__file__).resolve().parents[1] / "instances" / "profit_small"
DAY = 86400
STAND_IN_BENDS = (0, 500, 1500, 2200, 3500)


def cut(jobs: int, nodes: int = 3, until: int = DAY, scenario: str = "air,summer,cheap") -> Profit:
    """The first jobs of ``profit_small`` on fewer nodes, those that fit, with a plant of that size; a day has 3 segments."""
    whole = load(SMALL).scenario(scenario)
    dispatch, group = whole.dispatch, whole.platform.groups[0]
    kept = [j for j in dispatch.jobs[:jobs] if j.units <= nodes]
    smaller = Dispatch(
        Platform([NodeGroup(group.name, nodes, group.capacity)]), kept, dispatch.queues, durations=dispatch.durations
    )
    plant = whole.cooling.scaled(nodes / group.count)
    return whole.replace(dispatch=smaller, cooling=plant, horizon_end=until)


def half_a_day(jobs: int = 12) -> Profit:
    """Three nodes until noon, with a tariff of three prices: three segments."""
    return cut(jobs, until=DAY // 2).replace(energy_price=StepFunction([0, 25200, 36000], [0.10, 0.13, 0.16], 2 * DAY))


def stand_in(jobs: int, seed: int = 1, nodes: int = 3) -> Profit:
    """A day of random jobs of hours at a load of 1.5, three temperatures, and a plant whose cooling bends twice."""
    rng = random.Random(seed)
    drawn = [
        (rng.choice([1, 1, 1, 2, 2, 3]), rng.choice([4, 8, 16, 16, 24, 32]), int(rng.lognormvariate(0, 0.8) * 14400))
        for _ in range(jobs)
    ]
    longer = 1.5 * DAY * nodes * 32 / sum(u * c * d for u, c, d in drawn)
    submits = sorted([0, 0, *(int(rng.random() ** 1.3 * DAY * 0.9) for _ in range(jobs - 3)), DAY])
    made = [
        Job(
            f"j{k + 1}",
            submit=s // 60 * 60,
            walltime=max(60, int(d * longer) // 60 * 60),
            units=u,
            request={"cores": c, "memory": rng.choice([1000, 4000, 30000])},
            queue="q",
            power=u * c * round(rng.uniform(7.8, 11.11), 3),
        )
        for k, ((u, c, d), s) in enumerate(zip(drawn, submits, strict=True))
    ]
    slopes = [0.02 + 0.012 * t for t in (0, 10, 20, 30, 40)]
    rows = [(0, a * 500, a * 1500, a * 1500 + a * 980, a * 2480 + a * 2600) for a in slopes]
    hours = [18, 19, 20, 21, 18, 19, 20, 21, 27, 28, 30, 31, 31, 30, 29, 28, 22, 21, 20, 19, 22, 21, 20, 19, 18]
    machine = Platform([NodeGroup("n", nodes, {"cores": 32, "memory": 131072})])
    return Profit(
        Dispatch(machine, made, [Queue("q", 3600)]),
        StepFunction.hourly(hours),
        Cooling("bending", (0, 10, 20, 30, 40), STAND_IN_BENDS, rows),
        price=0.013,
        energy_price=0.13,
    )


def tiny(seed: int) -> Profit:
    """Two or three jobs (and a last one, too late) on one or two nodes for 7 s.

    Now and then with negative prices, a deadline, or cooling that is not convex.
    """
    rng = random.Random(seed)
    nodes, until = rng.randint(1, 2), 7
    jobs = []
    for k in range(rng.randint(2, 3)):
        submit, walltime = rng.randint(0, 4), rng.randint(1, 6)
        jobs.append(
            Job(
                f"j{k}",
                submit=submit,
                walltime=walltime,
                units=rng.randint(1, nodes),
                request={"cores": rng.randint(1, 4), "memory": rng.randint(0, 4)},
                queue="q",
                deadline=submit + walltime + rng.randint(2, 12) if k == 0 and rng.random() < 0.3 else None,
                power=float(rng.randint(100, 900)),
            )
        )
    jobs.append(Job("last", submit=until, walltime=2, units=1, request={"cores": 1}, queue="q", power=50.0))
    bend = rng.choice([(0, 50, 400, 1500), (0, 50, 400, 1500), (0, 300, 400, 900)])
    plant = Cooling("bending", (0, 40), (0, 400, 1000, 4000), (bend, tuple(2 * w for w in bend)))
    prices = [rng.choice([900.0, 1500.0, 2500.0, -400.0]) for _ in range(2)]
    machine = Platform([NodeGroup("n", nodes, {"cores": 4, "memory": 6})])
    return Profit(
        Dispatch(machine, jobs, [Queue("q", 60)]),
        StepFunction([0, 3, 5], [float(rng.randint(0, 40)) for _ in range(3)], 100),
        plant,
        price=rng.choice([300.0, 900.0]),
        energy_price=StepFunction([0, 4], prices, 100),
        horizon_end=until,
    )


def best_by_enumeration(p: Profit) -> float:
    """The greatest profit over all starts up to ``until`` and all nodes; what starts then follows one after another."""
    best = -float("inf")
    for schedule in _all(p):
        value = p.value(schedule)
        if value > best and not p.verify(schedule):
            best = value
    return best


def _all(p: Profit) -> Iterator[Schedule]:
    options = []
    for job in p.jobs:
        last = p.horizon_end if job.deadline is None else job.deadline - p.dispatch.duration(job)
        places = list(combinations_with_replacement(p.platform.nodes, job.units))
        starts = range(p.dispatch.earliest(job), max(last, p.dispatch.earliest(job)) + 1)
        options.append([(s, {n: on.count(n) for n in on}) for s in starts for on in places])
    for chosen in product(*options):
        start, nodes, later = {}, {}, 1000
        for job, (s, on) in zip(p.jobs, chosen, strict=True):
            start[job.id], nodes[job.id] = s, on
            if s >= p.horizon_end and job.deadline is None:
                start[job.id], later = later, later + 1000
        yield Schedule(start, nodes)


def usable(method: str) -> str:
    """Return the method; skip the test where its solver is not installed, with the reason."""
    backend = method.partition(":")[0]
    state = sl.backends.available().get(backend)
    if state is not None and not state.ok:
        pytest.skip(f"{backend}: {state.reason}")
    return method
