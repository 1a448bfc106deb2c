"""Replays with nodes that are switched off and on: cases by hand, 200 small worlds second by second, bad decisions."""

import random
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from draws import some_seeds_now
from schedlab import WrongValue
from schedlab.models import DesiredProfile, NodeEvent
from schedlab.models.profiles import Steps, daily, flat
from schedlab.models.reservations import Reservation
from schedlab.models.step_function import Tariff
from schedlab.simulation import Decision, NodeDecision, PlannedStart, SimulationError, Start, Switching, violations
from schedlab.simulation.energy import Centre, Machine, replay_energy
from schedlab.simulation.node_policies import ON
from simulation.second_by_second import faults, records
from simulation.small_worlds import SmallJob, random_world
from simulation.toy_dispatchers import FirstFit, Planner

DAY = 86400  # seconds

TWO = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
FAST = Switching(boot=7, shut_down=3, min_off=5)


def job(name: str, submit: int, runtime: int, units: int = 1) -> sl.Job:
    return sl.Job(name, submit, runtime, units, {"cores": 4}, "q", runtime=runtime)


def replayed(*jobs: sl.Job, dispatcher: object = "easy", policy: object = "idle:60s", **options: object) -> object:
    problem = sl.Dispatch(TWO, list(jobs), [sl.Queue("q", 60)])
    return sl.simulate(problem, dispatcher=dispatcher, node_policy=policy, **options)  # type: ignore[arg-type]


def test_nodes_that_are_off_when_a_reservation_is_requested_are_on_at_its_start() -> None:
    queues = [sl.Queue("q", 60), sl.Queue("course", 60)]
    inside = sl.Job("c", 9000, 400, 2, {"cores": 4}, "course", runtime=400)
    problem = sl.Dispatch(TWO, [job("a", 0, 100), inside, job("b", 20000, 10)], queues)
    course = Reservation("r", "course", 12000, 1000, 2, {"cores": 4}, submitted=1000)
    soon = replace(course, start=1200)
    run = sl.simulate(problem, dispatcher="easy", node_policy="idle:60s", reservations=[course])
    assert run.production.bookings[0].outcome == "over" and run.start.tolist() == [0, 12000, 20300]
    assert [at for name, at, state in run.power.named(TWO) if state == "booting"] == [11700, 11700, 20000]
    refused = sl.simulate(problem, dispatcher="easy", node_policy="idle:60s", reservations=[soon]).production.bookings[
        0
    ]
    assert refused.outcome == "refused" and "0 of 2 units fit" in refused.why  # a boot takes 300 s


def test_a_node_goes_off_after_its_idle_time_and_boots_for_the_next_job() -> None:
    run = replayed(job("a", 0, 10), job("b", 5000, 10))
    assert run.start.tolist() == [0, 5300]
    assert run.power.named(TWO) == [
        ("n-2", 60, "shutting down"), ("n-1", 70, "shutting down"), ("n-2", 120, "off"), ("n-1", 130, "off"),
        ("n-1", 5000, "booting"), ("n-1", 5300, "on"),
    ]  # fmt: skip
    off = run.power.intervals(5310)
    assert list(zip(off.node.tolist(), off.begin.tolist(), off.end.tolist(), strict=True)) == [
        (0, 70, 130), (0, 130, 5000), (0, 5000, 5300), (1, 60, 120), (1, 120, 5310),
    ]  # fmt: skip


@pytest.mark.parametrize("dispatcher", ["easy", "conservative", "fcfs", "dardis:throughput", "hcp3@cpsat"])
def test_nodes_boot_in_time_for_a_job_that_waits_for_another(dispatcher: str) -> None:
    """Job c needs both nodes when a ends at 4000: the other one, off since 120, boots at 3700."""
    run = replayed(job("a", 0, 4000), job("c", 2000, 10, 2), dispatcher=dispatcher)
    assert run.start.tolist() == [0, 4000]
    assert ("n-2", 3700, "booting") in run.power.named(TWO)
    assert run.violations == []


class PlansB:
    """Starts a now and plans b at 3000, on the other node."""

    name = "plans-b"

    def begin(self, platform: object, queues: object, seed: int) -> None:
        pass

    def decide(self, moment: object) -> Decision:
        return Decision([Start("a", {"n-1": 1})], plan=[PlannedStart("b", {"n-2": 1}, 3000)])


def test_a_planned_start_is_not_delayed_by_a_boot() -> None:
    run = replayed(job("a", 0, 10), job("b", 1500, 10), dispatcher=PlansB())
    assert run.start.tolist() == [0, 3000]
    assert ("n-2", 60, "shutting down") in run.power.named(TWO)
    assert ("n-2", 2700, "booting") in run.power.named(TWO)


def test_the_profile_boots_nodes_before_it_rises() -> None:
    profile = daily(TWO, {"00:00": 0.5, "08:00": 1.0, "20:00": 0.5})
    run = replayed(job("a", 0, 10), job("b", 30000, 60, 2), policy="profile", desired=profile)
    assert run.power.named(TWO) == [
        ("n-2", 0, "shutting down"), ("n-2", 60, "off"), ("n-2", 8 * 3600 - 300, "booting"), ("n-2", 8 * 3600, "on")
    ]  # fmt: skip
    assert run.start.tolist() == [0, 30000]


@pytest.mark.parametrize("dispatcher", ["easy", "sjf", "conservative", "dardis:throughput"])
def test_always_on_changes_no_start(dispatcher: str) -> None:
    plain = sl.simulate("eurora_99", dispatcher=dispatcher)
    kept = sl.simulate("eurora_99", dispatcher=dispatcher, node_policy="always-on")
    assert (plain.start == kept.start).all() and kept.power.time.size == 0


class Mischief:
    """Switches nodes off and on at random, as far as it may."""

    name = "mischief"

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def begin(self, platform: object, switching: object, desired: object) -> None:
        pass

    def decide(self, moment: object) -> NodeDecision:
        off = [n for n in np.flatnonzero(moment.may_switch_off).tolist() if self.rng.random() < 0.6]
        on = [n for n in np.flatnonzero(moment.state != ON).tolist() if self.rng.random() < 0.1]
        return NodeDecision(off, on, moment.now + self.rng.randint(1, 20) if self.rng.random() < 0.5 else None)


ORDER = ["on", "shutting down", "off", "booting"]


def state_faults(world: object, run: object) -> list[str]:
    """What is wrong with the states of the nodes: plain lists, second by second."""
    found, times = [], run.power.switching
    first, end = min(r.start for r in records(run)), max(r.end for r in records(run)) + 1
    for node in world.capacity:
        changes = [(t, s) for n, t, s in run.power.named(run.platform) if n == node]
        for k, (time, state) in enumerate(changes):
            if state != ORDER[(k + 1) % 4]:
                found.append(f"{node} at {time}: {state} is change {k}")
            took = changes[k + 1][0] - time if k + 1 < len(changes) else None
            due = {"shutting down": times.shut_down, "booting": times.boot}.get(state)
            if took is not None and (took < times.min_off if state == "off" else due is not None and took != due):
                found.append(f"{node} is {state} for {took} s from {time}")
        on = {second for second in range(first, end) if ([s for t, s in changes if t <= second] or ["on"])[-1] == "on"}
        for r in records(run):
            if any(node in part for part in (r.nodes, *r.further)):
                found += [f"{r.job} runs on {node} at {s}" for s in range(r.start, r.end) if s not in on]
    return found


def random_profile(world: object, seed: int) -> DesiredProfile:
    """A desired use of the cores that changes every few seconds."""
    rng, everything = random.Random(seed), flat(world.platform(), 1.0)
    times = sorted({0, *(rng.randint(1, 120) for _ in range(6))})
    steps = {
        key: Steps(times, [rng.random() * s.amounts[0] for _ in times], DAY) for key, s in everything.steps.items()
    }
    return DesiredProfile(everything.platform, steps)


POLICIES = ["idle:0s", "idle:5s", "idle:30s", Mischief, "profile"]
RULES = ["fcfs", "easy", "easy++", "conservative", "pbs-fifo", "rule:slowdown"]
DISPATCHERS = [*RULES, "dardis:throughput", "dardis:balance", FirstFit, Planner]


def options_of(world: object, seed: int, policy: object) -> dict[str, object]:
    """The options of a replay of a world under a node policy, with random times of the nodes."""
    times = Switching(*(random.Random(seed).choice([0, 1, 4, 9]) for _ in range(3)))
    found = {"node_policy": policy(seed) if policy is Mischief else policy, "switching": times}
    return found | ({"desired": random_profile(world, seed)} if policy == "profile" else {})


@pytest.mark.parametrize("seeds", some_seeds_now(8, 24))
@pytest.mark.parametrize("dispatcher", DISPATCHERS, ids=str)
def test_no_job_runs_on_a_node_that_is_not_on(dispatcher: object, seeds: range) -> None:
    """Worlds for each of the dispatchers; half of them have outages, but not for DARDIS."""
    switched, failed, distributed = 0, 0, str(dispatcher).startswith("dardis")
    for seed in seeds:
        world = random_world(seed, outages=seed % 2 == 1 and not distributed, chunks=dispatcher in RULES)
        if distributed:  # a unit that requests nothing fits on any node for it
            world.jobs = [j for j in world.jobs if any(j.request.values())] or [SmallJob("j", 0, 3, 5, 1, {"cores": 1})]
            world.after = {}
        if world.outages:  # in the end all is well
            world.outages += [(130, kind, node) for node in world.capacity for kind in ("node-up", "node-release")]
        policies = POLICIES[:4] if distributed else POLICIES
        usual = {"kill_at_walltime": world.kill, "events": world.events(), "requeue": world.requeue}
        options = options_of(world, seed, policies[seed % len(policies)])
        try:
            run = sl.simulate(world.workload(), world.platform(), dispatcher, **usual, **options)
        except SimulationError as e:
            with pytest.raises(SimulationError):  # it does not start all jobs on nodes that are always on either
                sl.simulate(world.workload(), world.platform(), dispatcher, **usual)
            assert e.waiting, e
            continue
        except WrongValue as e:
            assert "beyond the horizon" in str(e)
            continue
        assert run.violations == []
        assert faults(world, records(run)) == []
        assert state_faults(world, run) == []
        switched += run.power.time.size
        failed += 0 if run.history is None else len(run.history.early) + len(run.history.dropped)
    assert switched > 25 and (failed > 0 or distributed)


@pytest.mark.parametrize("dispatcher", RULES)
def test_the_power_of_the_jobs_stays_within_a_cap(dispatcher: str) -> None:
    """10 worlds for each of the dispatchers; each unit takes 10 W."""
    switched = waited = 0
    for seed in range(10):
        world = random_world(seed, outages=False, busy=False, calendars=False, dependencies=False)
        world.jobs = [j for j in world.jobs if any(j.request.values())] or [SmallJob("j", 0, 3, 5, 1, {"cores": 1})]
        jobs = world.workload()
        jobs = replace(jobs, power=10.0 * jobs.job_arrays.all_units)
        cap = float(jobs.power.max())
        options = options_of(world, seed, POLICIES[seed % len(POLICIES)])
        try:
            run = sl.simulate(jobs, world.platform(), dispatcher, power_cap=cap, **options)
        except WrongValue as e:
            assert "beyond the horizon" in str(e)
            continue
        assert run.violations == [] and state_faults(world, run) == []
        for t in run.start.tolist():
            assert jobs.power[(run.start <= t) & (t < run.end)].sum() <= cap
        switched += run.power.time.size
        waited += int((run.start > sl.simulate(jobs, world.platform(), dispatcher, **options).start).sum())
    assert switched > 5 and waited > 0


def test_an_outage_of_a_node_that_is_off() -> None:
    """n-1 and n-2 are off from 120 s on; n-1 is down when b arrives, so that n-2 boots."""
    down = [NodeEvent(2000, "node-down", ["n-1"]), NodeEvent(9000, "node-up", ["n-1"])]
    run = replayed(job("a", 0, 10), job("b", 5000, 10), job("c", 8800, 10, 2), events=down)
    assert run.start.tolist() == [0, 5300, 9300]
    named = run.power.named(TWO)
    assert ("n-2", 5000, "booting") in named and ("n-1", 9000, "booting") in named


def test_a_job_that_fails_counts_in_the_energy_of_each_attempt() -> None:
    """The job runs from 0 to 100, and again for 300 s when its node is up at 130, before it would be switched off."""
    down = [NodeEvent(100, "node-down", ["n-1"]), NodeEvent(130, "node-up", ["n-1"])]
    one = sl.Platform([sl.NodeGroup("n", 1, {"cores": 4})])
    only = replace(job("a", 0, 300), power=400.0)
    run = sl.simulate(sl.Dispatch(one, [only], [sl.Queue("q", 60)]), node_policy="idle:60s", events=down)
    assert [(a.start, a.end) for a in run.history.early] == [(0, 100)] and run.start.tolist() == [130]
    plant = sl.Cooling("none", (-90, 65), (0, 1e9), ((0, 0), (0, 0)))
    centre = Centre(plant, sl.StepFunction.constant(20, 0, 500), Tariff(0.13), 0.0)
    found = replay_energy(run, centre, Machine(run.platform, idle_watts=2)).end
    assert found.busy_kwh * 3.6e6 == pytest.approx(400 * 400)
    assert found.idle_kwh * 3.6e6 == pytest.approx(30 * 4 * 2)


def test_verification_finds_faults_of_the_states() -> None:
    run = replayed(job("a", 0, 10), job("b", 5000, 10))
    record = run.power

    def with_times(**changes: object) -> list[str]:
        return [v.message for v in violations(replace(run, power=replace(record, **changes)))]

    early = record.time.copy()
    early[-1] -= 1
    assert any("after 299 s booting; expected 300 s" in m for m in with_times(time=early))
    assert any("'b' runs from 5300 to 5310 on node 'n-1', which is not on from 70" in m for m in with_times(
        node=record.node[:-1], time=record.time[:-1], state=record.state[:-1]))  # fmt: skip
    assert any("booting after shutting down" in m for m in with_times(
        node=np.delete(record.node, 3), time=np.delete(record.time, 3), state=np.delete(record.state, 3)))  # fmt: skip


class Wrong:
    """Returns a given decision."""

    name = "wrong"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def begin(self, platform: object, switching: object, desired: object) -> None:
        pass

    def decide(self, moment: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (NodeDecision(off=[0]), "node 'n-1' cannot be switched off: it is on, runs a job or is needed"),
        (NodeDecision(off=[2]), "NodeDecision.off returned 2 at position 0; expected indices of nodes"),
        (NodeDecision(off=[1], on=[1]), "node 'n-2' is in off and in on"),
        (NodeDecision(wake=0), "wake is 0; expected a time after 0"),
        ([0], r"it returned \[0\]; expected a NodeDecision"),
        (ZeroDivisionError("so"), "node policy wrong raised at 0: ZeroDivisionError: so"),
    ],
)
def test_a_wrong_decision_ends_the_replay(answer: object, why: str) -> None:
    with pytest.raises(SimulationError, match=why):
        replayed(job("a", 0, 10), policy=Wrong(answer), switching=Switching(boot=1))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"policy": "idle:soon"}, "idle: after is 'soon'; expected whole seconds, such as 300, 30min"),
        ({"policy": "always-on:5"}, "takes no option"),
        ({"policy": "profile"}, "follows a desired profile; give one"),
        ({"policy": "idel:5s"}, "node policy"),
        ({"switching": Switching(boot=11)}, "boot is 11 s, beyond the horizon: all jobs can end 10 s after"),
        ({"policy": None, "switching": FAST}, "switching: only with node_policy"),
    ],
)
def test_bad_input(options: dict, why: str) -> None:
    with pytest.raises((WrongValue, sl.backends.UnknownName), match=why):
        replayed(job("a", 0, 10), **{"switching": FAST, **options})


def test_times_of_switching_are_whole_seconds() -> None:
    with pytest.raises(WrongValue, match=r"boot is 1.5 s; a whole number"):
        Switching(boot=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("by_queue", [False, True])
def test_a_long_boot_is_allowed_before_a_later_start_window(by_queue: bool) -> None:
    """Two short jobs, the second one in a window that opens after an hour: the nodes are off until shortly before."""
    platform = sl.Platform([sl.NodeGroup("n", 2, {"cores": 1})])
    queues = [sl.Queue("q", 60), sl.Queue("late", 60, ((3600, 7200),))]
    own = {} if by_queue else {"windows": ((0, 0), (3600, 7200))}
    late = sl.Job("late", 1, 20, 2, {"cores": 1}, "late" if by_queue else "q", runtime=10, **own)
    first = sl.Job("first", 0, 20, 2, {"cores": 1}, "q", runtime=10)
    log = sl.Dispatch(platform, [first, late], queues, durations="runtime")
    run = sl.simulate(log, node_policy="idle:60s", switching=Switching(boot=600, shut_down=5, min_off=30))
    assert run.violations == [] and run.start.tolist() == [0, 3600]
    assert run.power.node.size  # the nodes were off in between
