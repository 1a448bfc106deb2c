"""The capacity sweep, compared with a count of every second, compiled and uncompiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule
from schedlab.models.dispatch import check as dispatch_sweep
from schedlab.models.dispatch import excesses

NODES, RESOURCES, LAST = 4, 2, 12


@st.composite
def runs(draw):
    """Draw a few jobs with random ranges, some outside of the platform, and with lengths from 0 on."""
    jobs = draw(st.integers(1, 8))
    ranges = [draw(st.integers(0, 3)) for _ in range(jobs)]
    total = sum(ranges)
    low = np.array([draw(st.integers(-1, NODES)) for _ in range(total)], np.int64)
    start = np.array([draw(st.integers(0, 8)) for _ in range(jobs)], np.int64)
    return (
        start,
        start + np.array([draw(st.integers(0, 4)) for _ in range(jobs)], np.int64),
        np.cumsum([0, *ranges]),
        low,
        low + np.array([draw(st.integers(-1, 2)) for _ in range(total)], np.int64),
        np.array([draw(st.integers(-1, 2)) for _ in range(total)], np.int64),
        np.array([[draw(st.integers(0, 3)) for _ in range(RESOURCES)] for _ in range(jobs)], np.int64),
        np.array([[draw(st.integers(0, 5)) for _ in range(RESOURCES)] for _ in range(NODES)], np.int64),
    )


def counted(start, end, first, low, high, units, request, capacity):
    """Return {(node, resource): first second in which the capacity is exceeded}, from a count of every second."""
    found = {}
    for t in range(LAST + 1):
        used = np.zeros_like(capacity)
        for j in range(len(start)):
            if start[j] <= t < end[j]:
                for k in range(first[j], first[j + 1]):
                    for node in range(max(low[k], 0), min(high[k], NODES - 1) + 1):
                        used[node] += max(units[k], 0) * request[j]
        for at in zip(*np.nonzero(used > capacity), strict=True):
            found.setdefault(tuple(int(i) for i in at), t)
    return found


@given(runs())
@settings(max_examples=100, deadline=None)
def test_the_sweep_finds_what_a_count_of_every_second_finds(run):
    found = excesses(*run)
    reported = {(int(n), int(r)): int(t) for n, r, t in zip(found.node, found.resource, found.time, strict=True)}
    assert reported == counted(*run)
    assert list(zip(found.node, found.time, strict=True)) == sorted(zip(found.node, found.time, strict=True))
    start, capacity = run[0], run[-1]
    assert (start[found.job.astype(int)] == found.time).all()
    assert (found.used > capacity[found.node, found.resource]).all()


@pytest.fixture
def compiled_always(monkeypatch):
    monkeypatch.setattr(dispatch_sweep, "PLAIN", -1)


def many(seed, jobs=400, nodes=50):
    """Draw jobs on a few ranges each, on a machine that is too small for them."""
    rng = np.random.default_rng(seed)
    ranges = rng.integers(1, 4, jobs)
    start, low = rng.integers(0, 5000, jobs), rng.integers(0, nodes, ranges.sum())
    high, units = np.minimum(low + rng.integers(0, 9, len(low)), nodes - 1), rng.integers(1, 3, len(low))
    request, capacity = rng.integers(0, 5, (jobs, 3)), rng.integers(5, 40, (nodes, 3))
    return start, start + rng.integers(0, 900, jobs), np.cumsum([0, *ranges]), low, high, units, request, capacity


@pytest.mark.parametrize("seed", range(3))
def test_compiled_or_not_the_answer_is_the_same(seed, monkeypatch):
    monkeypatch.setattr(dispatch_sweep, "PLAIN", 10**9)
    plain = excesses(*many(seed))
    monkeypatch.setattr(dispatch_sweep, "PLAIN", -1)
    quick = excesses(*many(seed))
    assert len(plain.node) > 20
    assert all((a == b).all() for a, b in zip(plain, quick, strict=True))


def test_columns_of_fewer_bits_are_taken_as_they_are(compiled_always):
    narrow = [a.astype(np.int32) for a in many(1)]
    assert all((a == b).all() for a, b in zip(excesses(*narrow), excesses(*many(1)), strict=True))


def test_each_resource_of_a_node_is_reported_once_with_the_job_that_broke_it(compiled_always):
    one = np.zeros(3, np.int64)
    found = excesses(
        np.array([0, 2, 4]), np.array([9, 9, 9]), np.arange(4), one, one, one + 1, one[:, None] + 4, np.array([[7]])
    )
    assert [c.tolist() for c in found] == [[0], [0], [2], [8], [1]]


def test_numbers_beyond_64_bits_are_summed_exactly():
    """Use 2 units of 2^62: the sum of two such jobs does not fit an int64."""
    request = np.array([[2**62], [2**62]])
    node = np.zeros(2, np.int64)
    found = excesses(np.array([0, 1]), np.array([5, 5]), np.arange(3), node, node, node + 2, request, np.array([[5]]))
    assert found.used.tolist() == [2**63]
    late = np.array([10**30, 10**30 + 1], object)
    found = excesses(late, late + 5, np.arange(3), node, node, node + 1, node[:, None] + 4, np.array([[7]]))
    assert found.time.tolist() == [10**30 + 1]


def test_a_schedule_with_absurd_numbers_is_reported_and_not_a_crash():
    job = Job("a", 0, 10, 1, {"cores": 4}, "q")
    problem = Dispatch(Platform([NodeGroup("n", 2, {"cores": 4})]), [job], [Queue("q", 60)])
    text = " ".join(v.message for v in problem.verify(Schedule({"a": 10**99}, {"a": {"n-1": 10**30}})))
    assert f"{4 * 10**30} cores in use" in text


def test_running_jobs_and_new_ones_are_swept_together():
    """The end of a job frees its node for a start in the same second, but not for a start one second earlier."""
    running = [Running(Job("r", 0, 10, 1, {"cores": 4}, "q"), start=-5, nodes={"n-1": 1}, end=7)]
    job = Job("a", 0, 10, 1, {"cores": 1}, "q")
    problem = Dispatch(Platform([NodeGroup("n", 1, {"cores": 4})]), [job], [Queue("q", 60)], running=running)
    assert problem.verify(Schedule({"a": 7}, {"a": {"n-1": 1}})) == []
    (fault,) = problem.verify(Schedule({"a": 6}, {"a": {"n-1": 1}}))
    assert fault == ("n-1", 1, "node 'n-1' at 6: 5 cores in use, it has 4 (job 'a' starts)")
