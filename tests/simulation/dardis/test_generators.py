"""The starts that nodes offer: numbers, probabilities, independence of the processes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.simulation.dispatchers.dardis import NodeManagers, Placement, Request, joined


def ints(*values):
    return np.array(values, np.int64)


def request(duration, windows, responses, key=1, amount=1, nodes=None):
    return Request("job", key, 1, ints(amount), duration, np.array(windows), responses, True, int(windows[0][0]), nodes)


def node(generator, capacity, *busy):
    """A manager of one node, with (start, end, amount) reserved."""
    managers = NodeManagers(ints(capacity).reshape(1, 1), generator)
    for k, (start, end, amount) in enumerate(busy):
        managers.reserve(Placement(f"j{k}", start, end, ints(0), ints(1), ints(amount), 0))
    return managers


def starts(offers):
    return [s for a, b in zip(offers.low, offers.high, strict=True) for s in range(a, b + 1)]


def test_first_offers_the_earliest_starts():
    managers = node("first", 2, (0, 5, 2), (8, 10, 2))
    assert starts(managers.answer(request(2, [(0, 20)], 4))) == [5, 6, 10, 11]
    assert starts(managers.answer(request(2, [(0, 6)], 4))) == [5, 6]  # no more are there
    assert starts(managers.answer(request(2, [(0, 5), (12, 20)], 3))) == [5, 12, 13]


@settings(max_examples=50, derandomize=True, deadline=None)
@given(
    st.sampled_from(["uniform", "exponential"]),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 15), st.integers(1, 3)), max_size=5),
    st.integers(1, 30), st.integers(0, 10**6),
)  # fmt: skip
def test_random_starts_are_different_and_have_room_and_none_is_missing(generator, runs, responses, key):
    managers, used = node(generator, 4, *((a, a + d, q) for a, d, q in runs)), np.zeros(100)
    for a, d, q in runs:
        used[a : a + d] += q
    room = [s for s in range(5, 41) if used[s : s + 6].max() <= 2]
    offers = managers.answer(request(6, [(5, 40)], responses, key, amount=2))
    found = starts(offers)
    assert len(found) == len(set(found)) == min(responses, len(room)) and set(found) <= set(room)
    assert found == sorted(found)
    for a, b, index in zip(offers.low, offers.high, offers.fit, strict=True):
        assert all((4 - used[s : s + 6].max()) // 2 == index for s in range(a, b + 1))


def drawn(generator, managers, window, count=4000):
    found = Counter()
    for key in range(count):
        found.update(starts(managers.answer(request(1, [window], 1, key))))
    return {s: n / count for s, n in found.items()}


def test_the_roulette_prefers_starts_with_a_greater_index():
    shares = drawn("uniform", node("uniform", 4, (0, 5, 3)), (0, 9))  # index 1 in 0..4, 4 in 5..9
    assert set(shares) == set(range(10))
    assert sum(shares[s] for s in range(5)) == pytest.approx(1 / 5, abs=0.02)
    assert shares[7] == pytest.approx(4 / 25, abs=0.02)


def test_a_draw_without_room_goes_up_to_the_next_start_and_from_the_last_to_the_first_one():
    limits = node("uniform", 2, (3, 5, 2), (9, 10, 2))  # index 0 in 3..4 and 9: never drawn
    shares = drawn("uniform", limits, (0, 9))
    assert set(shares) == {0, 1, 2, 5, 6, 7, 8} and shares[5] == pytest.approx(1 / 7, abs=0.02)


def test_exponential_starts_have_the_weights_of_the_thesis():
    shares, window = drawn("exponential", node("exponential", 1), (100, 109)), 10
    weights = np.exp(-np.arange(window) / window)
    for s, weight in enumerate(weights / weights.sum()):
        assert shares[100 + s] == pytest.approx(weight, abs=0.02)


@pytest.mark.parametrize("generator", ["first", "uniform", "exponential"])
def test_offers_do_not_depend_on_how_nodes_are_spread_over_processes(generator):
    capacity = np.arange(1, 12).reshape(11, 1)
    whole = NodeManagers(capacity, generator)
    parts = [NodeManagers(capacity[a:b], generator, first=a) for a, b in ((0, 1), (1, 6), (6, 11))]
    for job in range(20):
        asked = request(7, [(job, job + 30)], 4, key=job * 77, nodes=ints(0, 2, 3, 8, 10) if job % 3 else None)
        one = whole.answer(asked)
        many = joined([p.answer(asked) for p in reversed(parts)])
        assert one.nodes == many.nodes == (5 if job % 3 else 11)
        for a, b in zip(one[:4], many[:4], strict=True):
            assert a.tolist() == b.tolist()
        chosen = Placement(f"job {job}", job, job + 7, ints(1, 6), ints(1, 2), ints(1), job)
        for managers in (whole, *parts):
            managers.reserve(chosen)


def test_a_job_that_is_asked_again_does_not_stand_in_its_own_way():
    managers = node("first", 1, (10, 20, 1))
    asked = request(10, [(5, 10)], 9)._replace(job="j0")
    assert starts(managers.answer(asked)) == [5, 6, 7, 8, 9, 10]
    assert starts(managers.answer(asked._replace(job="other"))) == []
