"""The use beside the desired profile: worked examples, and figures against sums over each second."""

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue
from schedlab.models.profiles import Wish, daily, flat, power_cap, profile_of
from schedlab.simulation import mean_curves
from schedlab.simulation.curves import dissimilarity

MACHINE = Platform([NodeGroup("a", 2, {"cores": 4}), NodeGroup("b", 1, {"cores": 8})])


def test_the_dissimilarity_of_the_worked_example():
    """g = 4, 4, 2, 2 and f = 2, 4, 1, 0: psi is 1, R_gg 40, R_gf 26."""
    assert dissimilarity(np.array([4.0, 4, 2, 2]), np.array([2.0, 4, 1, 0]), np.ones(4)) == pytest.approx(0.35)


def test_the_dissimilarity_ignores_the_scale_and_weighs_by_length():
    wish = np.array([4.0, 2.0])
    assert dissimilarity(wish, wish / 2, np.array([10.0, 3.0])) == pytest.approx(0)
    halves = dissimilarity(np.array([4.0, 4, 2]), np.array([1.0, 1, 1]), np.ones(3))
    assert dissimilarity(wish, np.ones(2), np.array([2.0, 1.0])) == pytest.approx(halves)
    assert dissimilarity(wish, np.zeros(2), np.ones(2)) == 1.0
    assert dissimilarity(np.zeros(2), wish, np.ones(2)) is None


JOBS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=8
)


def _problem(rows, power=None):
    jobs = [
        Job(f"j{k}", submit, runtime + 5, units, {"cores": cores}, "q", runtime=runtime, power=power)
        for k, (submit, runtime, units, cores) in enumerate(rows)
    ]
    return Dispatch(MACHINE, jobs, [Queue("q", 60)])


@settings(max_examples=25, deadline=None, derandomize=True)
@given(JOBS, st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), min_size=3, max_size=3))
def test_the_figures_are_those_of_each_second(rows, shares):
    profile = profile_of(MACHINE, [Wish(t, "cores", s) for t, s in zip((0, 5, 12), shares, strict=True)], period=17)
    run = sl.simulate(_problem(rows), dispatcher="easy", desired=profile)
    nodes = run.schedule().nodes
    use = {n: np.zeros(400) for n in MACHINE.nodes}
    request = dict(zip(run.workload.ids, run.workload.request[:, 0].tolist(), strict=True))
    for k, job in enumerate(run.workload.ids):
        for node, units in nodes[job].items():
            use[node][run.start[k] : run.end[k]] += units * request[job]
    begin, finish = int(run.workload.submit.min()), int(run.end.max())
    seconds = range(begin, finish)
    wish = {n: [profile.amount(n.partition("-")[0], "cores", t) for t in seconds] for n in MACHINE.nodes}
    over = sum(np.maximum(0, use[n][begin:finish] - wish[n]).sum() for n in MACHINE.nodes) / 3600
    f = sum(use.values())[begin:finish]
    g = np.sum(list(wish.values()), axis=0)
    found = run.metrics.desired
    assert found["over"]["cores"] == pytest.approx(over)
    assert found["machine_over"]["cores"] == pytest.approx(np.maximum(0, f - g).sum() / 3600)
    assert found["squared_distance"]["cores"] == pytest.approx((((f - g) / 16) ** 2).mean())
    expected = dissimilarity(g, f, np.ones(len(f)))
    assert found["dissimilarity"]["cores"] == (None if expected is None else pytest.approx(expected))
    curves = mean_curves(run, 10)["cores"]
    width = (finish - begin) / 10
    assert sum(curves["use"]) * width == pytest.approx(f.sum())
    assert sum(curves["desired"]) * width == pytest.approx(g.sum())


def test_with_the_profile_at_capacity_nothing_is_above_it():
    run = sl.simulate("eurora_99", dispatcher="easy")
    again = sl.simulate("eurora_99", dispatcher="easy", desired=flat(run.platform, 1.0, ["cores", "memory"]))
    assert set(again.metrics.desired["over"].values()) == {0.0}
    assert (run.start == again.start).all() and run.metrics.desired == {}


def test_the_power_of_a_replay_beside_its_cap():
    problem = _problem([(0, 10, 1, 4), (0, 20, 1, 4)], power=100.0)
    run = sl.simulate(problem, dispatcher="easy", desired=power_cap(MACHINE, 150))
    assert run.metrics.power_peak == 200
    assert run.metrics.desired["over"]["power"] == pytest.approx(50 * 10 / 3600)


def test_a_profile_that_covers_nothing_of_the_replay_is_refused():
    late = profile_of(MACHINE, [Wish(10_000, "cores", 0.5)])
    with pytest.raises(ProblemError, match="covers nothing"):
        sl.simulate(_problem([(0, 10, 1, 1)]), dispatcher="easy", desired=late)


def test_a_profile_of_another_machine_is_refused():
    other = Platform([NodeGroup("a", 3, {"cores": 4})])
    with pytest.raises(sl.WrongValue, match="a profile of"):
        sl.simulate(_problem([(0, 10, 1, 1)]), dispatcher="easy", desired=daily(other, {"08:00": 0.5}))
