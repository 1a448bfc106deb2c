"""Every dispatcher replays beside every feature: reservations, on-demand jobs, stopped queues, changed jobs, outages."""

import random

import pytest
import schedlab as sl
from draws import some_seeds_now
from schedlab.models import NodeEvent
from schedlab.models.reservations import Reservation
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import OnDemandJob, Preemption, parse_dispatcher

PLATFORM = sl.Platform([sl.NodeGroup("n", 4, {"cores": 2})])
QUEUES = [sl.Queue("q", 60), sl.Queue("r", 60), sl.Queue("private", 60)]


def day(seed: int, whole_nodes: bool) -> sl.Dispatch:
    """Return random jobs; for on-demand jobs each unit needs a node of its own."""
    dice = random.Random(seed)
    jobs = []
    for k in range(14):
        runtime = dice.randrange(10, 60)
        request = {"cores": 2 if whole_nodes else dice.randrange(1, 3)}
        walltime, queue = runtime + dice.choice([0, 20, 90]), dice.choice(["q", "q", "r"])
        jobs.append(sl.Job(f"j{k}", 6 * k, walltime, dice.randrange(1, 4), request, queue, runtime=runtime))
    return sl.Dispatch(PLATFORM, jobs, QUEUES, durations="runtime")


def urgent(evictor: str) -> Preemption:
    return Preemption([OnDemandJob("u", 40, 2, 10, 25, notice=20), OnDemandJob("v", 95, 1, 5, 40)], evictor)


RESERVED = [
    Reservation("course", "private", start=110, duration=50, units=2, request={"cores": 2}, submitted=20),
    Reservation("later", "private", start=190, duration=30, units=3, request={"cores": 1}),
]
FEATURES = {
    "kept for on-demand jobs": {"preemption": "reserve:1"},
    "eviction": {"preemption": "dp"},
    "kill": {"preemption": "kill"},
    "no eviction": {"preemption": "none"},
    "reservations": {"reservations": RESERVED},
    "stopped queue": {"events": [ServerEvent(20, "stop-queue", "q"), ServerEvent(150, "start-queue", "q")]},
    "deleted and changed jobs": {
        "events": [
            ServerEvent(30, "delete", "j3"),
            ServerEvent(50, "delete", "j9"),
            ServerEvent(80, "walltime", "j12", 300),
            ServerEvent(82, "move", "j13", "r"),
        ]
    },
    "outage": {"events": [NodeEvent(30, "node-down", ["n-1"]), NodeEvent(90, "node-up", ["n-1"])]},
    "all but on-demand jobs": {
        "events": [
            NodeEvent(30, "node-down", ["n-1"]),
            NodeEvent(90, "node-up", ["n-1"]),
            ServerEvent(20, "stop-queue", "q"),
            ServerEvent(150, "start-queue", "q"),
            ServerEvent(50, "delete", "j9"),
        ],
        "reservations": RESERVED,
    },
}
JOINED = ("stopped queue", "outage")  # both are in "all but on-demand jobs"
DISPATCHERS = [
    "easy", "easy++", "conservative", "fcfs", "sjf", "rule:wt", "plan", "psp", "pbs-fifo", "pcp@cpsat", "pcp1@cpsat", "pcp3@cpsat",
    "hcp1@cpsat", "hcp3@cpsat", "mks@cpsat", "cpmodel@cpsat", "portfolio@cpsat", "dardis:throughput",
    "dardis:uniform/random", "dardis:exponential/max-prob", "hybrid:100",
]  # fmt: skip


PAIRS = [(d, f) for d in range(len(DISPATCHERS)) for f in range(len(FEATURES))]
NOW = {(d, f) for d, f in PAIRS if (d + f) % 2 == 0 and list(FEATURES)[f] not in JOINED}


@pytest.mark.parametrize("seeds", some_seeds_now(1, 3))
@pytest.mark.parametrize(
    ("dispatcher", "feature"),
    [
        pytest.param(DISPATCHERS[d], list(FEATURES)[f], marks=[] if (d, f) in NOW else [pytest.mark.known])
        for d, f in PAIRS
    ],
)
def test_a_replay_ends_without_a_fault(dispatcher: str, feature: str, seeds: range) -> None:
    options = dict(FEATURES[feature])
    if "preemption" in options:
        options["preemption"] = urgent(options["preemption"])
    named = parse_dispatcher(dispatcher)
    solves = named.backend is not None
    for seed in seeds:
        made = named.make(deterministic=0.02) if solves else dispatcher
        run = sl.simulate(day(seed, "preemption" in options), dispatcher=made, seed=seed, **options)
        assert run.violations == []
        left = set() if run.production is None else {run.workload.ids[j] for j in run.production.left}
        waiting = {name for name, start in zip(run.workload.ids, run.start.tolist(), strict=True) if start < 0}
        assert waiting <= left
