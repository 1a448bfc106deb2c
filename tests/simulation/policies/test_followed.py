"""Machines whose nodes are shared by jobs: the kernels with slices of time decide as the general ones do."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.heuristics.kernels.events import slices
from schedlab.instances import Workload
from schedlab.models import NodeEvent
from schedlab.simulation import POLICIES, Policy, by_duration, by_slowdown
from schedlab.simulation.dispatchers import policy_kernels

EQUAL = sl.Platform([sl.NodeGroup("n", 12, {"cores": 8})])
TWO_SIZES = sl.Platform([sl.NodeGroup("a", 8, {"cores": 8}), sl.NodeGroup("b", 5, {"cores": 16})])
MEMORY = sl.Platform(
    [sl.NodeGroup("a", 8, {"cores": 8, "mem": 64_000}), sl.NodeGroup("b", 4, {"cores": 8, "mem": 256_000})]
)
MANY = sl.Platform([sl.NodeGroup("n", 130, {"cores": 4})])
OPEN_BY_DAY = ((0, 20_000), (40_000, 70_000))


def random_log(seed, machine, jobs=220, calendar=False):
    """Return jobs on shared nodes of which some run longer than expected, some take no time, some arrive together."""
    rng = np.random.default_rng(seed)
    nodes, most = len(machine.nodes), max(vector[0] for vector in machine.capacity.values())
    listed = []
    for k in range(jobs):
        walltime = int(rng.integers(60, 7200))
        runtime = int(walltime * rng.random())
        if rng.random() < 0.1:
            runtime = int(rng.choice([0, walltime, walltime + rng.integers(1, 3000)]))
        request = {"cores": int(rng.choice([1, 1, 1, min(2, most), max(1, most // 2)]))}
        if "mem" in machine.resources:
            request["mem"] = int(rng.choice([0, 500, 20_000]))
        units = int(rng.integers(1, max(2, nodes * most // request["cores"] // 4)))
        queue = "day" if calendar and k % 3 == 0 else "q"
        submit = int(rng.integers(0, 60_000)) // 120 * 120
        listed.append(sl.Job(f"j{k}", submit, walltime, units, request, queue, user=f"u{k % 7}", runtime=runtime))
    queues = [sl.Queue("q", 3600), sl.Queue("day", 3600, OPEN_BY_DAY)]
    return Workload.of(sl.Dispatch(machine, listed, queues)).on(machine)


def assert_same(fast, plain):
    assert fast.start.tolist() == plain.start.tolist()
    assert fast.first_reserved.tolist() == plain.first_reserved.tolist()
    assert fast.expected.tolist() == plain.expected.tolist()
    assert fast.decisions.made == plain.decisions.made
    assert fast.schedule().nodes == plain.schedule().nodes
    assert fast.violations == plain.violations == []


@pytest.fixture
def both(monkeypatch):
    """Return a function that replays with the slices and with the general kernels, and compares the results."""

    def compare(log, machine, policy, **settings):
        used = []
        with monkeypatch.context() as patch:
            new = slices.new_slices
            patch.setattr(slices, "new_slices", lambda *given, **named: used.append(1) or new(*given, **named))
            fast = sl.simulate(log, machine, policy, **settings)
        with monkeypatch.context() as patch:
            patch.setattr(slices, "suits", lambda *_: False)
            assert_same(fast, sl.simulate(log, machine, policy, **settings))
        assert used
        return fast

    return compare


@pytest.mark.parametrize("machine", [EQUAL, TWO_SIZES, MEMORY, MANY], ids=["equal", "two sizes", "memory", "many"])
@pytest.mark.parametrize("policy", ["conservative", "pbs-fifo", "plan:submit", "plan@lns"])
def test_starts_and_nodes_are_those_of_the_general_kernels(machine, policy, both):
    both(random_log(1, machine), machine, policy)


@pytest.mark.parametrize("policy", ["conservative", "plan:weighted"])
@pytest.mark.parametrize(
    "settings", [{"period": 600}, {"predictor": "real"}, {"allocator": "first-fit"}, {"kill_at_walltime": True}]
)
def test_other_settings(policy, settings, both):
    both(random_log(3, EQUAL), EQUAL, policy, **settings)
    both(random_log(3, MEMORY), MEMORY, policy, **settings)


@pytest.mark.parametrize("key", [by_duration, by_slowdown])
def test_jobs_in_another_order(key, both):
    for reservations in (None, 4):
        both(random_log(4, EQUAL), EQUAL, Policy("other", key, reservations=reservations))


def test_few_candidates(both):
    both(random_log(5, TWO_SIZES), TWO_SIZES, replace(POLICIES["conservative"], candidates=6))


@pytest.mark.parametrize("policy", ["conservative", "plan"])
def test_queues_that_close(policy, both):
    both(random_log(6, EQUAL, calendar=True), EQUAL, policy)


def test_amounts_beyond_16_bits(both):
    large = sl.Platform([sl.NodeGroup("n", 6, {"mem": 100_000})])
    jobs = [sl.Job(f"j{k}", 100 * k, 900, 1 + k % 5, {"mem": 9_000 + 7 * k}, "q", runtime=100 + k) for k in range(150)]
    log = Workload.of(sl.Dispatch(large, jobs, [sl.Queue("q", 3600)]))
    both(log, large, "conservative")
    both(log, large, "plan")


def test_nodes_that_go_down_are_left_to_the_general_kernels(monkeypatch):
    """Slices know no closed nodes."""
    monkeypatch.setattr(slices, "new_slices", None)
    events = [NodeEvent(9_000, "node-down", ["n-01"]), NodeEvent(30_000, "node-up", ["n-01"])]
    few = random_log(7, sl.Platform([sl.NodeGroup("n", 9, {"cores": 8})]))
    for policy in ("conservative", "plan"):
        run = sl.simulate(few, EQUAL, policy, events=events, requeue="restart")
        assert run.history is not None and run.violations == []


def test_more_slices_than_there_is_room_for_at_first(monkeypatch, both):
    monkeypatch.setattr(slices, "LEAST_ROOM", 2)
    both(random_log(8, EQUAL), EQUAL, "conservative")
    both(random_log(8, EQUAL), EQUAL, "plan")


@pytest.mark.parametrize("policy", ["conservative", "plan"])
def test_without_memory_for_the_slices_the_general_kernels_go_on(policy, monkeypatch, both):
    monkeypatch.setattr(slices, "LEAST_ROOM", 2)
    monkeypatch.setattr(slices, "MOST_BYTES", 20_000)
    both(random_log(9, EQUAL), EQUAL, policy)


@pytest.mark.parametrize("policy", ["conservative", "plan", "easy++"])
def test_a_replay_in_small_steps(policy):
    log = random_log(10, EQUAL)
    whole = sl.simulate(log, EQUAL, policy)
    assert_same(sl.simulate(log, EQUAL, policy, on_progress=lambda progress: True), whole)


@pytest.mark.parametrize("predictor", ["last-two", "walltime", "real"])
@pytest.mark.parametrize("name", ["easy++", "first come", "corrected", "shortest"])
def test_predictions_in_compiled_code_are_those_of_the_predictor(name, predictor, monkeypatch):
    policy = {
        "easy++": POLICIES["easy++"],
        "first come": Policy(
            "first come", lambda workload, expected: workload.latest_start, reservations=1, shortest_first=True
        ),
        "corrected": Policy("corrected", reservations=1, corrections=(5, 60)),
        "shortest": Policy("shortest", by_duration, reservations=1, shortest_first=True),
    }[name]
    for seed, machine in ((11, EQUAL), (12, MEMORY), (13, sl.Platform([sl.NodeGroup("n", 20, {"cores": 1})]))):
        log = random_log(seed, machine, calendar=seed == 12)
        fast = sl.simulate(log, machine, policy, predictor=predictor)
        with monkeypatch.context() as patch:
            patch.setattr(policy_kernels, "corrects_alone", lambda engine: False)
            assert_same(fast, sl.simulate(log, machine, policy, predictor=predictor))


def test_a_predictor_of_ones_own_is_asked():
    from schedlab.simulation.predictors import LastTwo

    class Doubled(LastTwo):
        name = "doubled"

        def predict(self, job):
            return 2 * super().predict(job)

    log = random_log(14, EQUAL)
    run, usual = (sl.simulate(log, EQUAL, "easy++", predictor=p) for p in (Doubled(), "last-two"))
    assert run.expected.sum() > usual.expected.sum()
