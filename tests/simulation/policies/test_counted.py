"""Conservative backfilling where nodes are counted: the kernels for it decide as the general ones do."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.instances import lublin_workload
from schedlab.models import NodeEvent
from schedlab.models.profiles import daily
from schedlab.simulation import POLICIES, Policy, by_duration, by_slowdown
from schedlab.simulation.dispatchers import conservative as counted

MACHINE = sl.Platform([sl.NodeGroup("n", 64, {"cores": 1})])


def random_log(seed, jobs=400):
    """Return jobs on 64 nodes of which some run longer than expected, some take no time, some arrive together."""
    rng = np.random.default_rng(seed)
    made = lublin_workload(jobs, seed=seed, nodes=64, load=float(rng.choice([0.7, 1.0, 3.0])), longest=7200)
    made.submit[:] = made.submit // 600 * 600
    made.release[:] = made.submit
    made.runtime[rng.random(jobs) < 0.1] = 0
    late = rng.random(jobs) < rng.choice([0.0, 0.02, 0.2])
    made.runtime[late] = made.walltime[late] + rng.integers(1, 5000, late.sum())
    return made


def both(monkeypatch, log, machine, policy, **settings):
    """Replay with the kernels for counted nodes and with the general ones; return both results."""
    fast = sl.simulate(log, machine, policy, **settings)
    with monkeypatch.context() as patch:
        patch.setattr(counted, "suits", lambda *_: False)
        return fast, sl.simulate(log, machine, policy, **settings)


def assert_same(fast, plain):
    assert fast.start.tolist() == plain.start.tolist()
    assert fast.first_reserved.tolist() == plain.first_reserved.tolist()
    assert fast.decisions.made == plain.decisions.made
    assert fast.placement.low.tolist() == plain.placement.low.tolist()
    assert fast.violations == plain.violations == []


@pytest.mark.parametrize("seed", some_now(range(12), 5))
def test_starts_and_reservations_are_those_of_the_general_kernels(seed, monkeypatch):
    assert_same(*both(monkeypatch, random_log(seed), MACHINE, "conservative"))


@pytest.mark.parametrize("key", [by_duration, by_slowdown])
def test_jobs_in_another_order(key, monkeypatch):
    for seed in (1, 4):
        assert_same(*both(monkeypatch, random_log(seed), MACHINE, Policy("other", key, reservations=None)))


@pytest.mark.parametrize("settings", [{"period": 600}, {"predictor": "real"}])
def test_other_settings(settings, monkeypatch):
    assert_same(*both(monkeypatch, random_log(2), MACHINE, "conservative", **settings))


def test_a_node_that_goes_down_and_comes_back(monkeypatch):
    node = sl.Platform([sl.NodeGroup("n", 1, {"cores": 64})])
    events = [
        NodeEvent(9_000, "node-down", ["n-1"]),
        NodeEvent(30_000, "node-up", ["n-1"]),
        NodeEvent(40_000, "node-drain", ["n-1"]),
        NodeEvent(60_000, "node-up", ["n-1"]),
    ]
    for seed in (1, 4):
        fast, plain = both(monkeypatch, random_log(seed), node, "conservative", events=events, requeue="restart")
        assert fast.history is not None
        assert_same(fast, plain)


def test_a_profile_that_limits_the_starts(monkeypatch):
    profile = daily(MACHINE, {"00:00": 1.0, "08:00": 0.5, "12:00": 1.0})
    assert_same(*both(monkeypatch, random_log(4), MACHINE, "conservative-profile", desired=profile))


def test_a_long_queue(monkeypatch):
    log = lublin_workload(1500, seed=2, nodes=64, load=12.0, longest=36_000)
    log.runtime[:] = np.maximum(1, log.runtime // 3)
    fast, plain = both(monkeypatch, log, MACHINE, "conservative")
    assert fast.metrics.queue_max > 400
    assert_same(fast, plain)


def test_several_resources_or_calendars_are_left_to_the_general_kernels(monkeypatch):
    called = []
    monkeypatch.setattr(counted, "new_arrays", lambda *given: called.append(given))
    one = sl.Platform([sl.NodeGroup("n", 1, {"cores": 64, "gpus": 4})])
    sl.simulate(lublin_workload(50, seed=1, nodes=64), one, "conservative")
    hours = (sl.Queue("batch", 3600, ((0, 40_000),)),)
    sl.simulate(replace(lublin_workload(50, seed=1, nodes=64), queues=hours), MACHINE, "conservative")
    sl.simulate(lublin_workload(50, seed=1, nodes=64), MACHINE, POLICIES["pbs-fifo"])
    assert called == []
