"""Policies that keep to a desired profile: small cases by hand, random ones checked at every second."""

import random
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.models.profiles import Wish, daily, flat, power_cap, profile_of
from schedlab.models.reservations import Reservation
from schedlab.simulation import (
    POLICIES,
    WITHIN_PROFILE,
    Decision,
    OnDemandJob,
    Preemption,
    SimulationError,
    parse_dispatcher,
    violations,
)

from simulation import toy_dispatchers

MACHINE = Platform([NodeGroup("a", 2, {"cores": 4, "gpus": 1}), NodeGroup("b", 1, {"cores": 8})])
EQUAL = Platform([NodeGroup("n", 4, {"cores": 16})])
JOBS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, 3), st.integers(1, 2), st.integers(0, 1)),
    min_size=1,
    max_size=8,
)


def _problem(rows):
    jobs = [
        Job(
            f"j{k}",
            submit,
            runtime + 5,
            units,
            {"cores": cores, "gpus": gpus if units < 3 else 0},
            "q",
            runtime=runtime,
        )
        for k, (submit, runtime, units, cores, gpus) in enumerate(rows)
    ]
    return Dispatch(MACHINE, jobs, [Queue("q", 60)])


def _use(run):
    """Return the cores in use on each node in each second."""
    use = {n: np.zeros(1000) for n in run.platform.nodes}
    for k, (job, nodes) in enumerate(run.schedule().nodes.items()):
        row = run.workload.ids.index(job)
        for node, units in nodes.items():
            use[node][run.start[row] : run.end[row]] += units * run.workload.request[row, 0]
        assert k >= 0
    return use


@pytest.mark.parametrize("name", list(POLICIES))
def test_with_the_profile_at_capacity_the_starts_are_those_of_the_plain_policy(name):
    plain = sl.simulate("eurora_99", dispatcher=name)
    for profile in (
        flat(plain.platform, 1.0),
        daily(plain.platform, {"00:00": 1.0, "12:00": 1.0}, plain.platform.resources),
    ):
        within = sl.simulate("eurora_99", dispatcher=f"{name}-profile", desired=profile)
        assert (within.start == plain.start).all()
        assert within.violations == [] and within.metrics.desired["over"]["cores"] == 0


def test_no_unit_starts_where_the_profile_is_full():
    """4 cores until 10 s, then 2: the second job of 2 cores starts when the first has ended."""
    one = Platform([NodeGroup("n", 1, {"cores": 4})])
    profile = profile_of(one, [Wish(0, "cores", 1.0), Wish(10, "cores", 0.5)])
    jobs = [Job("a", 0, 20, 1, {"cores": 2}, "q", runtime=20), Job("b", 10, 5, 1, {"cores": 2}, "q", runtime=5)]
    problem = Dispatch(one, jobs, [Queue("q", 60)])
    assert sl.simulate(problem, dispatcher="rule:est").start.tolist() == [0, 10]
    assert sl.simulate(problem, dispatcher="rule:est-profile", desired=profile).start.tolist() == [0, 20]


def test_a_profile_that_rises_lets_waiting_jobs_start():
    night = daily(EQUAL, {"08:00": 0.5, "20:00": 1.0})
    jobs = [Job(f"j{k}", 9 * 3600, 60, 1, {"cores": 10}, "q", runtime=60) for k in range(2)]
    problem = Dispatch(EQUAL.__class__([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)])
    night = daily(problem.platform, {"08:00": 0.5, "20:00": 1.0})
    run = sl.simulate(problem, dispatcher="easy-profile", desired=night)
    assert run.violations == [] and run.start.tolist() == [20 * 3600, 20 * 3600 + 60]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    JOBS,
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3),
    st.sampled_from(["rule:est", "rule:lst", "rule:wt", "fcfs", "easy", "easy:lst", "conservative", "easy++"]),
)
def test_each_start_keeps_to_the_profile_at_its_second(rows, shares, name):
    profile = profile_of(
        MACHINE, [Wish(t, "cores", s) for t, s in zip((0, 5, 12), (*shares[:2], 1.0), strict=True)], 17
    )
    run = sl.simulate(_problem(rows), dispatcher=f"{name}-profile", desired=profile)
    assert run.violations == []
    use, nodes = _use(run), run.schedule().nodes
    for k, job in enumerate(run.workload.ids):
        t = int(run.start[k])
        for node in nodes[job]:
            assert use[node][t] <= profile.amount(node.partition("-")[0], "cores", t) + 1e-9


@settings(max_examples=30, deadline=None, derandomize=True)
@given(JOBS, st.sampled_from([0.5, 0.75, 1.0]), st.sampled_from(["rule:est", "easy:wt", "conservative"]))
def test_under_a_constant_profile_no_second_is_above_it(rows, share, name):
    profile = flat(MACHINE, share)
    run = sl.simulate(_problem(rows), dispatcher=f"{name}-profile", desired=profile)
    for node, used in _use(run).items():
        assert used.max() <= profile.amount(node.partition("-")[0], "cores", 0) + 1e-9
    assert run.metrics.desired["over"]["cores"] == pytest.approx(0)


def test_the_check_finds_a_start_above_the_profile():
    run = sl.simulate(_problem([(0, 10, 2, 2, 0), (0, 10, 3, 2, 0)]), dispatcher="rule:est")
    assert violations(run) == []
    found = violations(run, within=[flat(MACHINE, 0.25)])
    assert found and "the profile allows" in found[0].message


def test_counted_nodes_are_limited_in_number():
    """Each job takes whole nodes: half of the cores wished means two of the four nodes, not half of each."""
    jobs = [Job(f"j{k}", 0, 60, 1, {"cores": 16}, "q", runtime=60) for k in range(4)]
    problem = Dispatch(EQUAL, jobs, [Queue("q", 60)])
    run = sl.simulate(problem, dispatcher="easy-profile", desired=flat(EQUAL, 0.5))
    assert sorted(run.start.tolist()) == [0, 0, 60, 60] and run.violations == []
    assert violations(sl.simulate(problem, dispatcher="easy"), within=[flat(EQUAL, 0.5)])


def test_a_job_that_no_time_of_the_profile_can_hold_waits_forever():
    with pytest.raises(SimulationError, match=r"waits forever(.|\n)*the desired use .* may hold it at no time"):
        sl.simulate(_problem([(0, 10, 3, 2, 0)]), dispatcher="easy-profile", desired=daily(MACHINE, {"08:00": 0.25}))


def test_profiles_and_node_states_together():
    events = [NodeEvent(0, "node-drain", ["b-1"]), NodeEvent(50, "node-up", ["b-1"])]
    rows = [(0, 10, 2, 2, 0), (0, 10, 2, 2, 0), (1, 10, 2, 2, 0)]
    run = sl.simulate(_problem(rows), dispatcher="easy-profile", desired=flat(MACHINE, 0.5), events=events)
    assert run.violations == [] and sorted(run.start.tolist()) == [0, 10, 20]


def test_without_a_profile_a_policy_that_keeps_to_one_is_refused():
    with pytest.raises(sl.WrongValue, match="keeps to a desired profile; give one"):
        sl.simulate("eurora_99", dispatcher="easy-profile")


class Planner:
    """A dispatcher that asks for the profile."""

    name = "planner"
    needs = frozenset({"profile"})
    desired = None

    def begin(self, platform, queues, seed):
        """Note that the profile is known by now."""
        self.known = self.desired

    def decide(self, moment):
        """Leave the decision to EASY."""
        return Decision([], policy=POLICIES["easy"])


def test_a_policy_that_keeps_to_a_profile_cannot_be_left_a_decision():
    planner = Planner()
    planner.decide = lambda moment: Decision([], policy=WITHIN_PROFILE["easy-profile"])
    with pytest.raises(SimulationError, match="keeps to a desired profile"):
        sl.simulate(_problem([(0, 10, 1, 1, 0)]), dispatcher=planner, desired=flat(MACHINE, 0.5))


def test_a_dispatcher_with_an_attribute_desired_gets_the_profile():
    planner, profile = Planner(), flat(MACHINE, 0.5)
    sl.simulate(_problem([(0, 10, 1, 1, 0)]), dispatcher=planner, desired=profile)
    assert planner.known is profile and planner.desired is None
    sl.simulate(_problem([(0, 10, 1, 1, 0)]), dispatcher=planner)
    assert planner.known is None


def _powered(powers, runtime=60, units=1):
    jobs = [Job(f"j{k}", 0, runtime, units, {"cores": 16}, "q", runtime=runtime, power=w) for k, w in enumerate(powers)]
    return Dispatch(EQUAL, jobs, [Queue("q", 60)])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 30), st.integers(1, 3), st.integers(1, 90)), min_size=1, max_size=8
    ),
    st.sampled_from(["rule:est", "fcfs", "easy", "easy++", "conservative", "easy:wt"]),
)
def test_the_power_in_use_is_never_above_the_cap(rows, name):
    jobs = [
        Job(f"j{k}", submit, runtime + 3, units, {"cores": 16}, "q", runtime=runtime, power=float(w))
        for k, (submit, runtime, units, w) in enumerate(rows)
    ]
    run = sl.simulate(Dispatch(EQUAL, jobs, [Queue("q", 60)]), dispatcher=name, power_cap=100)
    assert run.violations == []
    watts = np.zeros(1000)
    for k in range(len(run.workload)):
        watts[run.start[k] : run.end[k]] += run.workload.power[k]
    assert watts.max() <= 100
    free = sl.simulate(Dispatch(EQUAL, jobs, [Queue("q", 60)]), dispatcher=name)
    same = sl.simulate(Dispatch(EQUAL, jobs, [Queue("q", 60)]), dispatcher=name, power_cap=10**6)
    assert (free.start == same.start).all()


def test_a_cap_that_changes_holds_at_starts():
    cap = profile_of(EQUAL, [Wish(0, "power", amount=100), Wish(30, "power", amount=200)], end=90)
    run = sl.simulate(_powered([80.0, 80.0, 80.0, 80.0]), dispatcher="easy", power_cap=cap)
    assert sorted(run.start.tolist()) == [0, 30, 60, 90] and run.violations == []
    assert violations(sl.simulate(_powered([80.0] * 4), dispatcher="easy"), within=[power_cap(EQUAL, 100)])


def test_before_and_after_the_wishes_power_is_free():
    cap = profile_of(EQUAL, [Wish(10, "power", amount=100)], end=100)
    run = sl.simulate(_powered([300.0, 80.0, 500.0, 80.0]), dispatcher="rule:est", power_cap=cap)
    assert run.violations == [] and run.start.tolist() == [0, 0, 0, 0]
    late = _powered([300.0, 80.0]).replace(jobs=[replace(j, submit=20) for j in _powered([300.0, 80.0]).jobs])
    run = sl.simulate(late, dispatcher="rule:est", power_cap=cap)
    assert run.violations == [] and dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {
        "j0": 100,
        "j1": 20,
    }


@pytest.mark.parametrize(
    "dispatcher",
    ["easy", "conservative", "plan@lns:rounds=3", "pcp3@cpsat", "hcp3@cpsat", "hcp@cpsat", "wt@cpsat", "cpmodel@cpsat",
     "portfolio@cpsat", "dardis:throughput", "dardis:balance", toy_dispatchers.FirstFit, toy_dispatchers.Planner],
)  # fmt: skip
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_every_dispatcher_keeps_to_a_power_cap(dispatcher, seed):
    """No start exceeds the cap of the time; all jobs start, and where it is never reached, as without."""
    rng = Random(seed)
    solves = str(dispatcher).endswith("@cpsat")
    if solves:  # a limit in the solver's own unit: no decision depends on the machine
        dispatcher = parse_dispatcher(dispatcher).make(deterministic=0.02)
    jobs = _powered([rng.choice([20.0, 50.0, 90.0]) for _ in range(12)])
    cap = profile_of(
        EQUAL, [Wish(0, "power", amount=100), Wish(100, "power", amount=150), Wish(200, "power", amount=95)]
    )
    run = sl.simulate(jobs, dispatcher=dispatcher, power_cap=cap)
    watts = run.workload.power
    for k, at in enumerate(run.start.tolist()):
        there = (run.start <= at) & (run.end > at)
        assert at >= 0 and watts[there].sum() <= cap.power.at(at), run.workload.ids[k]
    assert run.violations == []
    if not solves:  # a model with a cap that never binds may have another one of several optima
        high = sl.simulate(jobs, dispatcher=dispatcher, power_cap=1e6)
        assert high.violations == []
        assert high.start.tolist() == sl.simulate(jobs, dispatcher=dispatcher).start.tolist()


@pytest.mark.parametrize(
    ("problem", "dispatcher", "cap", "words"),
    [
        (_powered([80.0, None]), "easy", 100, "job 'j1' has no power"),
        (_powered([80.0, 120.0]), "easy", 100, "job 'j1' takes 120 W, more than the power cap of 100 W"),
        (_powered([80.0]), "easy", -5, "power_cap is -5"),
        (_powered([80.0]), "easy", flat(EQUAL, 0.5), "expected power only"),
        (_problem([(0, 10, 1, 1, 0)]), "easy", 100, "job 'j0' has no power"),
    ],
)
def test_a_cap_that_cannot_be_enforced_is_refused(problem, dispatcher, cap, words):
    with pytest.raises(sl.SchedlabError, match=words):
        sl.simulate(problem, dispatcher=dispatcher, power_cap=cap)


WIDE = sl.Platform([sl.NodeGroup("n", 8, {"cores": 16, "memory": 100})])  # a unit takes most of the memory of a node
LATE = [NodeEvent(90_000, "node-down", ["n-8"])]  # after the end of all jobs


def _wide(*rows):
    jobs = [
        Job(f"j{k}", submit, 50, units, {"cores": 4, "memory": 70}, "q", runtime=40)
        for k, (submit, units) in enumerate(rows)
    ]
    return Dispatch(WIDE, jobs, [Queue("q", 60)], durations="runtime")


def test_starts_within_a_profile_do_not_depend_on_node_states():
    """A quarter of the cores of 8 nodes is wished: two nodes, whether nodes are counted or followed."""
    wish = daily(WIDE, {"00:00": 0.25, "00:10": 1.0})
    plain = sl.simulate(_wide((0, 5), (1, 2)), dispatcher="easy-profile", desired=wish)
    followed = sl.simulate(_wide((0, 5), (1, 2)), dispatcher="easy-profile", desired=wish, events=LATE)
    assert plain.start.tolist() == followed.start.tolist() == [600, 1]
    assert plain.violations == followed.violations == []


def test_random_starts_within_a_profile_do_not_depend_on_node_states():
    dice, names = random.Random(3), ["fcfs", "rule:wt", "easy", "easy++", "conservative", "pbs-fifo", "rule:slowdown"]
    for k in range(35):
        log = _wide(*sorted((dice.randrange(900), dice.randrange(1, 5)) for _ in range(14)))
        wish = daily(WIDE, {"00:00": dice.choice([0.5, 0.75]), "00:04": dice.choice([0.25, 0.6]), "00:12": 1.0})
        name = f"{names[k % len(names)]}-profile"
        plain = sl.simulate(log, dispatcher=name, desired=wish)
        followed = sl.simulate(log, dispatcher=name, desired=wish, events=LATE)
        assert plain.start.tolist() == followed.start.tolist() and plain.violations == followed.violations == []
    assert (plain.start != sl.simulate(log, dispatcher=names[k % len(names)]).start).any()


def test_jobs_on_given_nodes_count_as_nodes_in_use():
    held = Running(Job("r", 0, 100, 1, {"cores": 4, "memory": 70}, "q", runtime=100), 0, {"n-3": 1}, 100)
    run = sl.simulate(
        _wide((0, 3), (1, 1)), dispatcher="easy-profile", desired=flat(WIDE, 0.4), running=[held], begin=0
    )
    assert run.start.tolist() == [100, 1] and run.violations == []


def test_a_constraint_dispatcher_takes_a_profile_on_each_node():
    """4 of 16 cores on each of 8 nodes hold all 7 units; the check does not count nodes then."""
    wish = daily(WIDE, {"00:00": 0.25, "00:10": 1.0})
    for events in ([], LATE):
        run = sl.simulate(_wide((0, 5), (1, 2)), dispatcher="hcp3-profile@cpsat", desired=wish, events=events)
        assert run.start.tolist() == [0, 1] and run.violations == []


def test_on_demand_jobs_and_reservations_beside_a_number_of_nodes():
    """Two nodes may be in use; the on-demand job and the one in the reservation exceed that, and count for the others."""
    wish = flat(WIDE, 0.25)
    urgent = Preemption([OnDemandJob("u", 10, 3, 5, 30)], "kill", "none")
    run = sl.simulate(_wide((0, 2), (15, 1)), dispatcher="easy-profile", desired=wish, preemption=urgent)
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"j0": 0, "u": 10, "j1": 40}
    assert run.violations == []
    log = _wide((0, 1), (15, 1))
    inside = Job("p", 0, 30, 3, {"cores": 4, "memory": 70}, "private", runtime=30)
    log = log.replace(jobs=[*log.jobs, inside], queues=[Queue("q", 60), Queue("private", 60)])
    course = Reservation("R", "private", 10, 60, 3, {"cores": 16, "memory": 100})
    run = sl.simulate(log, dispatcher="easy-profile", desired=wish, reservations=[course])
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"j0": 0, "p": 10, "j1": 40}
    assert run.violations == []


def shared_nodes(seed):
    """Return a random workload on shared nodes, its machine, events of nodes, and options; some jobs outlast their walltimes."""
    rng = Random(seed)
    cores = rng.choice([2, 4])
    groups = [NodeGroup("n", rng.randint(2, 6), {"cores": cores})]
    groups += [NodeGroup("m", rng.randint(1, 3), {"cores": cores + 2})] if rng.random() < 0.4 else []
    machine = Platform(groups)
    jobs = []
    for k in range(rng.randint(15, 40)):
        runtime = rng.randint(1, 60)
        walltime = max(1, runtime + rng.choice([0, -5, -20, -60, 30]))
        units, own = rng.randint(1, groups[0].count), {"cores": rng.randint(1, cores)}
        jobs.append(Job(f"j{k}", rng.randint(0, 200), walltime, units, own, "q", runtime=runtime, power=float(k + 9)))
    events = []
    for name in machine.nodes:
        if rng.random() < 0.5:
            begin = rng.randint(1, 400)
            kind = rng.choice(["node-down", "node-drain"])
            events += [NodeEvent(begin, kind, [name]), NodeEvent(begin + rng.randint(1, 60), "node-up", [name])]
    options = {"allocator": rng.choice(["best-fit", "first-fit"]), "requeue": rng.choice(["restart", "checkpoint:10"])}
    return Workload.of(Dispatch(machine, jobs, [Queue("q", 100)])), machine, {"events": events, **options}


@pytest.mark.parametrize("dispatcher", ["easy", "easy-d", "easy++", "conservative", "conservative+aging", "plan"])
def test_a_cap_that_never_binds_changes_nothing(dispatcher):
    """Best fit chooses by what is free at the start, with a cap as without one."""
    for seed in range(12):
        workload, machine, options = shared_nodes(seed)
        free = sl.simulate(workload, machine, dispatcher, **options)
        capped = sl.simulate(workload, machine, dispatcher, power_cap=1e9, **options)
        assert free.violations == capped.violations == []
        assert (free.start == capped.start).all() and (free.end == capped.end).all(), seed
        assert free.schedule().nodes == capped.schedule().nodes, seed
