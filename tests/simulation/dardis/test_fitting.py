"""The fitting index: worked examples, and every second by its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.models import NodeGroup, Platform
from schedlab.models.profiles import daily
from schedlab.simulation.dispatchers.dardis import Limits, NodeManagers, Placement, Request, limits_of


def ints(*values):
    return np.array(values, np.int64)


def limits(steps, period=0, nodes=1):
    """Limits of one resource, the same on all nodes: {time: amount}."""
    times, amounts = list(steps), [[float(a)] for a in steps.values()]
    return Limits(np.zeros(nodes, np.int64), ints(0, len(times)), ints(*times), np.array(amounts), ints(period))


def indices(managers, request, duration, low, high, profile=True):
    """{node: {start: index}} of all starts with an index of at least 1."""
    wanted = Request("job", 1, 1, ints(*request), duration, np.array([[low, high]]), high - low + 1, profile, low)
    offers = managers.answer(wanted)
    found = {int(n) + managers.first: {} for n in range(managers.capacity.shape[0])}
    for n, a, b, index in zip(offers.node, offers.low, offers.high, offers.fit, strict=True):
        found[int(n)].update(dict.fromkeys(range(a, b + 1), float(index)))
    return found


def occupied(managers, name, node, start, end, amounts):
    managers.reserve(Placement(name, start, end, ints(node), ints(1), ints(*amounts), 0))


def test_two_nodes_of_four_cores_of_which_two_are_desired_from_10_on():
    managers = NodeManagers(ints(4, 4).reshape(2, 1), limits=limits({0: 4, 10: 2}, nodes=2))
    occupied(managers, "other", 0, 0, 6, [2])
    found = indices(managers, [2], 4, 0, 12)
    assert found[0] == {**dict.fromkeys(range(13), 1.0), 6: 2.0}
    assert found[1] == {**dict.fromkeys(range(7), 2.0), **dict.fromkeys(range(7, 13), 1.0)}


def test_a_share_of_the_profile_counts_up_to_the_whole_units_of_the_capacity():
    managers = NodeManagers(ints(8).reshape(1, 1), limits=limits({0: 7}))
    assert indices(managers, [2], 1, 0, 0)[0] == {0: 3.5}  # profile 3.5, capacity 4
    assert indices(managers, [3], 1, 0, 0)[0] == {0: 2.0}  # profile 2.33, capacity 2
    assert indices(managers, [8], 1, 0, 0)[0] == {}  # profile 0.875
    assert indices(managers, [8], 1, 0, 0, profile=False)[0] == {0: 1.0}


def test_a_unit_that_requests_nothing_fits_everywhere():
    managers = NodeManagers(ints(1).reshape(1, 1))
    occupied(managers, "other", 0, 0, 100, [1])
    assert min(indices(managers, [0], 10, 0, 5)[0].values()) == 1e6


def test_the_days_of_a_desired_profile_continue_over_midnight():
    platform = Platform([NodeGroup("n", 2, {"cores": 10, "gpus": 2})])
    shares = limits_of(daily(platform, {"08:00": 0.6, "20:00": 1.0}).arrays, 2)
    capacity = np.array([platform.capacity[n] for n in platform.nodes], np.int64)
    managers = NodeManagers(capacity, limits=shares)
    for day in (0, 5):
        night = day * 86400 + 20 * 3600
        found = indices(managers, [7, 1], 3600, night - 2, night + 11 * 3600 + 1)[0]
        assert sorted(found) == list(range(night, night + 11 * 3600 + 1))


steps = st.dictionaries(st.integers(1, 30), st.integers(0, 8), max_size=4).map(
    lambda d: dict(sorted({0: 5, **d}.items()))
)
runs = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12), st.integers(0, 3), st.integers(0, 2)), max_size=6)


@settings(max_examples=70, derandomize=True, deadline=None)
@given(steps, st.sampled_from([0, 31, 40]), runs, st.integers(1, 15), st.tuples(st.integers(0, 3), st.integers(0, 2)),
       st.integers(0, 20), st.integers(0, 25), st.booleans())  # fmt: skip
def test_the_index_is_that_of_the_definition_in_every_second(
    desired, period, busy, duration, request, low, length, soft
):
    cap = (8, 4)
    amounts = np.array([[float(a), np.inf] for a in desired.values()])
    wish = Limits(np.zeros(1, np.int64), ints(0, len(desired)), ints(*desired), amounts, ints(period))
    managers, used = NodeManagers(np.array([cap]), limits=wish), np.zeros((200, 2))
    for k, (start, lasting, *amount) in enumerate(busy):
        occupied(managers, f"j{k}", 0, start, start + lasting, amount)
        used[start : start + lasting] += amount

    def level(t):
        t_desired = t % period if period else t
        wished = (max((x, a) for x, a in desired.items() if x <= t_desired)[1], np.inf)
        terms = [1e6]
        for c, w, u, q in zip(cap, wished, used[t], request, strict=True):
            if q:
                terms += [(c - u) // q] + ([(w - u) / q] if soft else [])
        return min(terms)

    expected = {s: min(level(t) for t in range(s, s + duration)) for s in range(low, low + length + 1)}
    expected = {s: value for s, value in expected.items() if value >= 1}
    assert indices(managers, request, duration, low, low + length, soft)[0] == expected


def test_without_limits_the_index_counts_whole_units():
    managers = NodeManagers(ints(7, 9).reshape(2, 1), first=5)
    assert indices(managers, [2], 3, 0, 0) == {5: {0: 3.0}, 6: {0: 4.0}}
