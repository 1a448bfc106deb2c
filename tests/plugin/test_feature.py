"""A feature that another package adds to replays: its options, its part of records, its check; and with all other features."""

import json
import random
import sys
from itertools import combinations
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.models import NodeEvent
from schedlab.models.reservations import Reservation
from schedlab.simulation import OnDemandJob, Preemption

sys.path.insert(0, str(Path(__file__).parent))
from flow_shop.maintenance import DAY, Maintenance

GROUPS = [sl.NodeGroup("a", 4, {"cores": 2}), sl.NodeGroup("b", 4, {"cores": 2})]
OTHERS = {
    "events": {"events": [NodeEvent(90_000, "node-down", ["b-1"]), NodeEvent(110_000, "node-up", ["b-1"])]},
    "kept work": {"requeue": "checkpoint:600"},
    "killed": {"kill_at_walltime": True},
    "switched": {"node_policy": "idle:10min"},
    "reservation": {"reservations": [Reservation("R", "private", 100_000, 150_000, 2, {"cores": 2})]},
    "power": {"power_cap": 90.0},
    "on demand": {"preemption": Preemption([OnDemandJob("u", 20_000, 3, 900, 3_000, power=30.0)], "kill", "none")},
    "users": {"users": "di"},
    "period": {"period": 3_600},
}


def log(seed: int) -> sl.Dispatch:
    """Jobs of four days; some in the queue of a reservation."""
    dice, jobs = random.Random(seed), []
    for k in range(120):
        runtime, queue = dice.randint(300, 15_000), "private" if k % 20 == 0 else "q"
        submit, units = dice.randint(0, 4 * DAY), dice.randint(1, 3)
        walltime = runtime + dice.randint(0, 5_000)
        jobs.append(
            sl.Job(
                f"j{k}",
                submit,
                walltime,
                units,
                {"cores": 2},
                queue,
                user=f"u{k % 5}",
                runtime=runtime,
                power=10.0 * units,
            )
        )
    return sl.Dispatch(sl.Platform(GROUPS), jobs, [sl.Queue("q", 600), sl.Queue("private", 600)], durations="runtime")


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "plan", "hcp3@cpsat"])
def test_jobs_leave_the_rack_and_come_back(dispatcher):
    problem = log(1)
    jobs = [j for j in problem.jobs if j.queue == "q"]
    problem = problem.replace(jobs=jobs[::3] if "@" in dispatcher else jobs)
    run = sl.simulate(problem, dispatcher, features=[Maintenance("a", 2)])
    assert run.violations == [] and run.history is not None
    assert {a.why for a in run.history.early} == {"maintenance"}


def test_its_check_finds_a_replay_without_it():
    run = sl.simulate(log(1).replace(jobs=[j for j in log(1).jobs if j.queue == "q"]), "easy")
    found = list(Maintenance("a", 2).check(run))
    assert found and "on the rack during its maintenance" in found[0].message


PAIRS = list(combinations(OTHERS, 2))
NAMES = list(OTHERS)
RING = {
    tuple(sorted((a, b), key=NAMES.index)) for a, b in zip(NAMES, [*NAMES[4:], *NAMES[:4]], strict=True)
}  # each twice


@pytest.mark.parametrize(
    "names", [(), *(pair if pair in RING else pytest.param(pair, marks=pytest.mark.slow) for pair in PAIRS)]
)
def test_it_goes_together_with_all_other_features(names):
    more = {key: value for name in names for key, value in OTHERS[name].items()}
    problem = log(2)
    if "reservation" not in names:
        problem = problem.replace(jobs=[j for j in problem.jobs if j.queue == "q"])
    run = sl.simulate(problem, "easy", features=[Maintenance("a", 2)], **more)
    assert run.violations == []


@pytest.mark.slow
def test_options_records_and_verification_need_no_change_of_ours(beside):
    text = beside.python("-m", "schedlab.bench.cli.app", "simulate", "--help")
    assert "--maintenance-rack" in text and "Maintenance:" in text and "the group of nodes that is maintained" in text
    run = ("simulate", "eurora_99", "--dispatchers", "easy", "--out", "r")
    _, shown, verified = beside.benches(
        run, (*run, "--maintenance-rack", "cpu-only", "--maintenance-every", "1"), ("verify", "r")
    )
    records = [json.loads(path.read_text()) for path in sorted(Path(beside.folder, "r").glob("*.json"))]
    texts = [record["replay"].get("features") for record in records]
    assert len(records) == 2 and None in texts  # the setting is part of the key
    assert ["maintenance:maintenance_rack=cpu-only:maintenance_every=1"] in texts
    assert "2 valid" in verified and shown
