"""Replays of 300 small worlds with outages, attempts and calendars, checked second by second."""

from copy import deepcopy
from dataclasses import replace

import pytest
import schedlab as sl
from schedlab.simulation.engine.simulation import SimulationError
from simulation.second_by_second import FirstFit, Record, SmallJob, World, faults, random_world, records

DISPATCHERS = {"fcfs": "fcfs", "easy": "easy", "conservative": "conservative", "first-fit": FirstFit}


def replay(world, dispatcher, **options):
    """The simulation (of a failed replay: as far as it went) and id -> reason of the jobs that wait at its end."""
    try:
        run = sl.simulate(
            world.problem(),
            dispatcher=dispatcher,
            events=world.events(),
            requeue=world.requeue,
            kill_at_walltime=world.kill,
            **options,
        )
    except SimulationError as e:
        assert e.waiting, e
        return e.partial, e.waiting
    assert run.violations == []
    return run, {}


@pytest.mark.parametrize("name", DISPATCHERS)
def test_replays_of_small_worlds_have_no_fault(name):
    early = waiting = 0
    for seed in range(300):
        world = random_world(seed)
        run, left = replay(world, DISPATCHERS[name])
        assert faults(world, records(run), left) == [], f"seed {seed}"
        early += 0 if run.history is None else len(run.history.early)
        waiting += bool(left)
        if name != "fcfs":  # what waits at the end can never start, and the reason is not the dispatcher
            assert not [why for why in left.values() if "dispatcher" in why], f"seed {seed}"
    assert early > 20 and waiting > 20  # the worlds are not trivial


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "rule:wt", "pbs-fifo"])
def test_compiled_replays_equal_those_of_the_loop_in_python(name):
    """``charge_decisions`` runs the same policy in the Python loop; decisions take no whole second here."""
    for seed in range(30):
        world = random_world(seed)
        compiled, left = replay(world, name)
        live, same = replay(world, name, charge_decisions=True)
        assert [compiled.start.tolist(), compiled.end.tolist(), left] == [live.start.tolist(), live.end.tolist(), same]


def test_replays_without_events_are_as_with_events_that_change_nothing():
    for seed in range(30):
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
    for dispatcher in DISPATCHERS.values():
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
