"""Speed of replays: logs under policies and other dispatchers, with and without features; ``python -m benchmarks.replays [NAME...]``.

Reading of the logs is not measured, the verification of the schedule is. ``python -m benchmarks.compare`` runs these
benchmarks in turns with another version of the package.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import schedlab as sl
from schedlab.instances import Workload, lublin_workload, open_trace
from schedlab.models import NodeEvent
from schedlab.models.reservations import Repeat, Reservation
from schedlab.simulation import Preemption, evictor_of
from schedlab.simulation.preemption import Stream

from .benchmark import Benchmark, Case, main
from .replay import write_trace
from .scale import LARGEST, LOAD, MONTH, NODES, SEED

DATA = Path("..", "shared", "data")
KTH = DATA / "kth_sp2_1996" / "KTH-SP2-1996-2.1-cln.swf"
THETA = DATA / "theta_2022" / "real_week_1.swf"
CURIE = DATA / "cea_curie_2011" / "curie_part4_fat_30d_2012-04-20.swf.gz"
SHARED_NODES = {"easy": 60_000, "easy++": 50_000, "plan": 10_000, "conservative": 3_000}  # targets in jobs/s
FEATURE_JOBS, POWER_CAP = 6_000, 20_000.0
DAY = 86_400


@cache
def trace(path: Path, nodes: int | None = None, cores: int | None = None) -> tuple[Workload, sl.Platform]:
    """Return the jobs of a log that its machine can hold, and the machine."""
    jobs, machine = open_trace(path, nodes=nodes, cores=cores)
    return jobs.on(machine), machine


@cache
def month() -> tuple[Workload, sl.Platform]:
    """Return a month of generated jobs, and its machine."""
    return lublin_workload(MONTH, SEED, NODES, LOAD, LARGEST), sl.Platform([sl.NodeGroup("n", NODES, {"cores": 1})])


@cache
def long_queue() -> tuple[Workload, sl.Platform]:
    """Return 5,000 random jobs at an offered load of 1.2 on 256 processors."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.swf")
        write_trace(log, 5_000, 256, 1.2)
        return trace(log)


def replay(jobs: Workload, machine: sl.Platform, dispatcher: str, most: float | None = None, **options: Any) -> Case:
    """Return the replay of jobs as a case."""

    def run() -> None:
        simulation = sl.simulate(jobs, machine, dispatcher, **options)
        assert not simulation.violations, simulation.violations[0].message

    return Case(run, len(jobs), most)


def shared_nodes(dispatcher: str) -> Case:
    """Return the replay of 30 days on 300 nodes of 32 cores, with its target."""
    jobs, machine = trace(CURIE, nodes=300, cores=32)
    return replay(jobs, machine, dispatcher, most=len(jobs) / SHARED_NODES[dispatcher])


def on_demand(evictor: str) -> Case:
    """Return the replay of a week of Theta with four on-demand jobs a day, under EASY."""
    jobs, machine = trace(THETA, nodes=4360, cores=1)
    stream = Stream(rate=4.0, seed=SEED).draw(int(jobs.submit.min()), int(jobs.submit.max()), len(machine.nodes))
    return replay(jobs, machine, "easy", preemption=Preemption(stream, evictor_of(evictor)))


def first_of_curie(dispatcher: str) -> Case:
    """Return the replay of the first 1,000 jobs on 300 nodes of 32 cores."""
    jobs, machine = trace(CURIE, nodes=300, cores=32)
    return replay(jobs.first(1_000), machine, dispatcher)


def with_feature(name: str) -> Case:
    """Return the replay of the first jobs of KTH under EASY with one feature, or none."""
    whole, machine = trace(KTH)
    return FEATURES[name](whole.first(FEATURE_JOBS), machine)


def _failures(jobs: Workload, machine: sl.Platform) -> Case:
    """Return the replay with 600 nodes that are down for two hours each."""
    rng = np.random.default_rng(SEED)
    events = list[NodeEvent]()
    for at in rng.integers(int(jobs.submit.min()), int(jobs.submit.max()), 600).tolist():
        node = machine.nodes[int(rng.integers(len(machine.nodes)))]
        events += [NodeEvent(at, "node-down", (node,)), NodeEvent(at + 7_200, "node-up", (node,))]
    return replay(jobs, machine, "easy", events=sorted(events, key=lambda event: event.time))


def _reservations(jobs: Workload, machine: sl.Platform) -> Case:
    """Return the replay with a reservation of 20 nodes for two hours a day."""
    begin = int(jobs.submit.min())
    days = int(np.ptp(jobs.submit)) // DAY
    course = Reservation(
        "course", "course", start=begin + 36_000, duration=7_200, units=20, request={machine.resources[0]: 1},
        submitted=begin, repeat=Repeat("day", count=max(1, days)),
    )  # fmt: skip
    jobs = replace(jobs, queues=(*jobs.queues, sl.Queue("course", 3_600)))
    return replay(jobs, machine, "easy", reservations=[course])


def _power(jobs: Workload, machine: sl.Platform) -> Case:
    """Return the replay under a power cap."""
    watts = jobs.units * (50.0 + np.arange(len(jobs)) % 100)
    return replay(replace(jobs, power=watts), machine, "easy", power_cap=POWER_CAP)


FEATURES: dict[str, Callable[[Workload, sl.Platform], Case]] = {
    "no feature": lambda jobs, machine: replay(jobs, machine, "easy"),
    "node events": _failures,
    "reservations": _reservations,
    "power cap": _power,
    "idle:30min": lambda jobs, machine: replay(jobs, machine, "easy", node_policy="idle:30min"),
}


BENCHMARKS = (
    Benchmark("KTH", lambda name: replay(*trace(KTH), name), ("fcfs", "easy", "conservative"), KTH, repeats=15),
    Benchmark("KTH, 6,000 jobs under easy", with_feature, tuple(FEATURES), KTH, repeats=3),
    Benchmark("long queue", lambda name: replay(*long_queue(), name), ("conservative", "plan", "plan@lns")),
    Benchmark("Curie on shared nodes", shared_nodes, tuple(SHARED_NODES), CURIE, repeats=3),
    Benchmark("Curie, 1,000 jobs", first_of_curie, ("plan@lns", "dardis:throughput"), CURIE, repeats=3),
    Benchmark("Theta, on-demand jobs", on_demand, ("kill", "dp", "reserve:512"), THETA, repeats=3),
    Benchmark("1.3 million jobs on 158,976 nodes", lambda name: replay(*month(), name), ("fcfs", "easy"), repeats=2),
)

if __name__ == "__main__":
    main(BENCHMARKS, sys.argv[1:])
