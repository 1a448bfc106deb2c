"""Replays of 300 small worlds with outages, attempts, busy beginnings, dependencies and calendars, checked by second."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest
import schedlab as sl
from schedlab.simulation import POLICIES, CPModel, Portfolio, SimulationError, violations
from schedlab.simulation.rankers import Fairshare
from simulation.second_by_second import ENDED, Record, faults, records, startable
from simulation.small_worlds import SmallJob, SmallRunning, World, random_world
from simulation.toy_dispatchers import FirstFit, Planner

DISPATCHERS = {
    "fcfs": "fcfs",
    "easy": "easy",
    "easy++": "easy++",
    "conservative": "conservative",
    "fairshare": POLICIES["easy"].with_ranker(Fairshare(half_life=50)),
    "pbs-fifo": "pbs-fifo",
    "rule:slowdown": "rule:slowdown",
    "dardis:throughput": "dardis:throughput",
    "dardis:balance": "dardis:balance",
    "first-fit": FirstFit,
    "planner": Planner,
    "hcp3@cpsat": "hcp3@cpsat",
    "cpmodel@cpsat": lambda: CPModel("cpsat", deterministic=0.1),
    "portfolio@cpsat": lambda: Portfolio("cpsat", threshold=15, deterministic=0.1),
    "plan@lns": "plan@lns:rounds=3",
}


def replay(world, dispatcher, **options):
    """The simulation (of a failed replay: as far as it went) and id -> reason of the jobs that wait at its end."""
    try:
        run = sl.simulate(
            world.workload(),
            world.platform(),
            dispatcher,
            events=world.events(),
            requeue=world.requeue,
            kill_at_walltime=world.kill,
            **options,
        )
    except SimulationError as e:
        assert e.waiting, e
        assert violations(e.partial, partial=True) == []
        return e.partial, e.waiting
    assert run.violations == []
    return run, {}


def check(name, seeds):
    """Replay these worlds under a dispatcher; return how often what happened in them."""
    seen = Counter()
    for seed in seeds:
        world = random_world(seed)
        run, left = replay(world, DISPATCHERS[name])
        assert faults(world, records(run), left) == [], f"seed {seed}"
        if name != "fcfs":  # what waits at the end can never start, and the reason is not the dispatcher
            assert not [why for why in left.values() if "dispatcher" in why], f"seed {seed}"
            assert list(startable(world, records(run), left)) == [], f"seed {seed}"
        ids, found = run.workload.ids, run.history
        seen["a job waits forever"] += bool(left)
        seen["a job waits for one that waits forever"] += any("it waits for the end of" in why for why in left.values())
        if found is not None:
            failed = {a.job for a in found.early} | {ids[k] for k in found.dropped}
            seen["a job fails"] += bool(failed)
            seen["a job that runs at the begin comes back"] += bool(found.begun)
            seen["a job that runs at the begin does not come back"] += bool(found.gone)
            seen["a job fails that another one waits for"] += any(b in failed for b, _ in world.after.values())
            dropped = {ids[k] for k in found.dropped}
            seen["a job is dropped that another one waits for"] += any(b in dropped for b, _ in world.after.values())
    return seen


@pytest.mark.parametrize("name", DISPATCHERS)
def test_replays_of_small_worlds_have_no_fault(name):
    """Each world under a third of the dispatchers; ``tests/known/small_worlds.py`` has all pairs of 300."""
    k = list(DISPATCHERS).index(name)
    check(name, range(k % 3, 12 if "@" in name else 42, 3))


def test_the_small_worlds_are_not_trivial():
    seen = check("fcfs", range(0, 300, 3))
    assert len(seen) == 7 and min(seen.values()) > 0, seen


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "rule:wt", "pbs-fifo"])
def test_compiled_replays_equal_those_of_the_loop_in_python(name):
    """``charge_decisions`` runs the same policy in the Python loop; decisions take no whole second here."""
    for seed in range(12):
        world = random_world(seed)
        compiled, left = replay(world, name)
        live, same = replay(world, name, charge_decisions=True)
        assert [compiled.start.tolist(), compiled.end.tolist(), left] == [live.start.tolist(), live.end.tolist(), same]


def test_replays_without_events_are_as_with_events_that_change_nothing():
    for seed in range(12):
        world = random_world(seed, outages=False)
        nothing = replace(world, outages=[(t, "node-up", node) for t in (5, 50) for node in world.capacity])
        for name in ("fcfs", "easy", "conservative"):
            assert replay(world, name)[0].start.tolist() == replay(nothing, name)[0].start.tolist()


def small():
    """A job that fails at 5 and comes back at 8, and a job that waits for it; in hand-written records."""
    jobs = [
        SmallJob("a", 0, 10, 12, 1, {"cores": 2}, windows=((0, 30),)),
        SmallJob("b", 1, 4, 5, 1, {"cores": 2}, queue="day"),
    ]
    daily = {"any": (), "day": ((20, 40),)}
    world = World({"n-1": {"cores": 2}}, jobs, daily, [(5, "node-down", "n-1"), (8, "node-up", "n-1")])
    found = [
        Record("a", 1, 0, 5, {"n-1": 1}, "down: n-1", 0),
        Record("a", 2, 8, 18, {"n-1": 1}, "completed", 10),
        Record("b", 1, 20, 24, {"n-1": 1}, "completed", 4),
    ]
    return world, found


def test_the_simulator_gives_the_hand_written_records():
    world, found = small()
    assert faults(world, found) == []
    for dispatcher in (made for name, made in DISPATCHERS.items() if not name.startswith("dardis")):  # draws its starts
        run, _ = replay(world, dispatcher)
        assert records(run) == found
        assert run.wait.tolist() == [3, 19]  # a waits from 5 to 8 between its attempts


PLANTED = {
    "before its submission": lambda f: setattr(f[2], "start", 0),
    "more than the node has": lambda f: (setattr(f[1], "start", 14), setattr(f[1], "end", 24)),
    "on a node that is down": lambda f: (setattr(f[1], "start", 7), setattr(f[1], "end", 17)),
    "through an outage": lambda f: (setattr(f[0], "end", 10), setattr(f[0], "why", "completed"), f.pop(1)),
    "outside of its windows": lambda f: (setattr(f[1], "start", 31), setattr(f[1], "end", 41)),
    "outside of the hours": lambda f: (setattr(f[2], "start", 18), setattr(f[2], "end", 22)),
    "too few units": lambda f: f[1].nodes.clear() or f[1].nodes.update({"n-1": 2}),
    "an attempt is missing": lambda f: f.pop(0),
    "attempts overlap": lambda f: (setattr(f[1], "start", 4), setattr(f[1], "end", 14)),
    "too short": lambda f: setattr(f[1], "end", 17),
    "too long": lambda f: setattr(f[1], "end", 19),
    "lost work counts": lambda f: setattr(f[0], "work_done", 5),
    "work is lost twice": lambda f: setattr(f[1], "work_done", 5),
    "ends without an outage": lambda f: setattr(f[0], "end", 4),
    "waits in silence": lambda f: f.pop(2),
    "does not come back": lambda f: f.pop(1),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name):
    world, found = small()
    wrong = deepcopy(found)
    PLANTED[name](wrong)
    assert faults(world, wrong) != []


def test_a_job_that_is_said_to_wait_but_has_ended_is_found():
    world, found = small()
    assert faults(world, found, ["b"]) != []


def busy():
    """Job r runs at the begin, 10, and fails at 15; b waits for the end of a, and 3 s longer; in hand-written records."""
    jobs = [SmallJob("a", 2, 4, 5, 1, {"cores": 2}), SmallJob("b", 3, 2, 2, 1, {"cores": 2})]
    running = [
        SmallRunning(SmallJob("r", -8, 20, 25, 1, {"cores": 2}), -4, {"n-1": 1}, 21),
        SmallRunning(SmallJob("s", 0, 17, 17, 1, {"cores": 2}), 0, {"m-1": 1}, 17),
    ]
    world = World(
        {"n-1": {"cores": 2}, "m-1": {"cores": 2}},
        jobs,
        outages=[(15, "node-down", "n-1"), (30, "node-up", "n-1")],
        requeue="checkpoint:6",
        after={"b": ("a", 3)},
        begin=10,
        running=running,
    )
    found = [
        Record("r", 1, -4, 15, {"n-1": 1}, "down: n-1", 18),
        Record("r", 2, 17, 19, {"m-1": 1}, "completed", 2),
        Record("a", 1, 19, 23, {"m-1": 1}, "completed", 4),
        Record("b", 1, 26, 28, {"m-1": 1}, "completed", 2),
        Record("s", 1, 0, 17, {"m-1": 1}, ENDED, 17),
    ]
    return world, found


@pytest.mark.parametrize("name", ["fcfs", "easy", "easy++", "rule:slowdown", "first-fit", "planner"])
def test_the_simulator_gives_the_hand_written_records_of_a_busy_machine(name):
    world, found = busy()
    assert faults(world, found) == []
    run, _ = replay(world, DISPATCHERS[name])
    assert sorted(records(run), key=str) == sorted(found, key=str)
    assert dict(zip(run.workload.ids, run.wait.tolist(), strict=True)) == {"r": 6, "a": 17, "b": 0}  # r: 4 s and 2 s


BUSY = {
    "a run at the begin is missing": lambda f: f.pop(4),
    "a run at the begin has other nodes": lambda f: setattr(f[4], "nodes", {"n-1": 1}),
    "a run at the begin is too long": lambda f: setattr(f[4], "end", 18),
    "a run at the begin is too short": lambda f: setattr(f[4], "end", 16),
    "a run at the begin does not fail": lambda f: (setattr(f[0], "end", 16), setattr(f[0], "why", ENDED)),
    "work before the begin is lost": lambda f: setattr(f[0], "work_done", 5),
    "the first attempt is missing": lambda f: f.pop(0),
    "the job does not come back": lambda f: f.pop(1),
    "a start before the begin": lambda f: (setattr(f[2], "start", 8), setattr(f[2], "end", 12)),
    "no think time": lambda f: (setattr(f[3], "start", 25), setattr(f[3], "end", 27)),
    "a follower waits in silence": lambda f: f.pop(3),
}


@pytest.mark.parametrize("name", BUSY)
def test_a_planted_fault_on_a_busy_machine_is_found(name):
    world, found = busy()
    BUSY[name](found)
    assert faults(world, found) != []


def test_a_job_that_waits_although_it_could_start_is_found():
    world, found = busy()
    late = [r for r in found if r.job != "b"]
    assert faults(world, late, ["b"]) == []
    assert list(startable(world, late, ["b"])) == ["b could start at 30"]
