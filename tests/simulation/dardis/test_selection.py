"""The choice of a start and of nodes, against the definition on small cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.simulation.dispatchers.dardis import POLICIES
from schedlab.simulation.dispatchers.dardis.task_manager import NONE, choose


def chosen(offers, units, policy, most=None, key=1):
    """(start, {node: units}); ``offers``: (node, first start, last start, index)."""
    columns = [np.array(c) for c in zip(*offers, strict=True)]
    index = columns[3].astype(np.float64)
    start, nodes, on = choose(*columns[:3], index, units, most or units, POLICIES.index(policy), key)
    return (None, {}) if start == NONE else (start, dict(zip(nodes.tolist(), on.tolist(), strict=True)))


EXAMPLE = [(0, 0, 5, 1.0), (0, 6, 6, 2.0), (0, 7, 12, 1.0), (1, 0, 6, 2.0), (1, 7, 12, 1.0)]


def test_two_units_on_two_nodes_where_the_sum_of_the_indices_is_greatest_at_6():
    assert chosen(EXAMPLE, 2, "min-start", most=1) == (0, {0: 1, 1: 1})
    assert chosen(EXAMPLE, 2, "max-prob", most=1) == (6, {0: 1, 1: 1})
    assert chosen(EXAMPLE, 2, "min-prob", most=1) == (7, {0: 1, 1: 1})


def test_best_fit_for_the_earliest_start_and_the_emptiest_node_for_each_unit_with_max_prob():
    assert chosen(EXAMPLE, 2, "min-start") == (0, {0: 1, 1: 1})
    assert chosen([(3, 0, 0, 5.0), (7, 0, 0, 2.0), (9, 0, 0, 2.0)], 3, "min-start") == (0, {7: 2, 9: 1})
    assert chosen([(3, 0, 0, 5.0), (7, 0, 0, 2.5), (9, 0, 0, 1.0)], 4, "max-prob") == (0, {3: 3, 7: 1})


offered = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 12), st.integers(0, 6), st.sampled_from([1.0, 1.5, 2.0, 3.0])),
    min_size=1, max_size=8,
)  # fmt: skip


def seconds(offers):
    """start -> {node: index}; of two entries of a node for one second the first one counts."""
    found = {}
    for n, a, length, index in offers:
        for s in range(a, a + length + 1):
            found.setdefault(s, {}).setdefault(n, index)
    return found


def as_entries(table):
    return sorted((n, s, s, index) for s, own in table.items() for n, index in own.items())


@settings(max_examples=100, derandomize=True, deadline=None)
@given(offered, st.integers(1, 6), st.sampled_from(POLICIES), st.booleans(), st.integers(0, 99))
def test_the_choice_is_that_of_the_definition(offers, units, policy, one, key):
    table, most = seconds(offers), 1 if one else units
    room = {s: sum(min(int(i), most) for i in own.values()) for s, own in table.items()}
    possible = {s: sum(own.values()) for s, own in table.items() if room[s] >= units}
    start, on = chosen(as_entries(table), units, policy, most, key)
    if not possible:
        assert start is None
        return
    assert sum(on.values()) == units
    assert all(1 <= u <= min(int(table[start][n]), most) for n, u in on.items())
    if policy == "min-start":
        assert start == min(possible)
    elif policy == "max-prob":
        assert start == min(possible, key=lambda s: (-possible[s], s))
        left = {n: index - on.get(n, 0) for n, index in table[start].items()}
        free = [n for n in left if on.get(n, 0) < min(int(table[start][n]), most)]
        assert all(left[a] + 1 >= left[b] for a in on for b in free if a != b)
    elif policy == "min-prob":
        assert start == min(possible, key=lambda s: (possible[s], s))
    else:
        assert start in possible


@settings(max_examples=50, derandomize=True, deadline=None)
@given(offered, st.integers(1, 6), st.sampled_from(POLICIES), st.integers(0, 99))
def test_starts_that_are_far_apart_are_chosen_like_dense_ones(offers, units, policy, key):
    entries = as_entries(seconds(offers))
    start, on = chosen(entries, units, policy, key=key)
    apart = [(n, 1000 * a, 1000 * b, index) for n, a, b, index in entries]
    assert chosen(apart, units, policy, key=key) == (None if start is None else 1000 * start, on)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_order_of_the_offers_of_different_starts_does_not_matter(policy):
    entries = [(0, 5, 9, 1.7), (0, 20, 22, 1.1), (1, 7, 30, 1.3), (2, 0, 21, 2.9)]
    assert chosen(entries, 2, policy) == chosen([entries[1], entries[0], *entries[2:]], 2, policy)


def test_random_starts_and_nodes_are_all_equally_likely():
    entries = [(n, 0, 1, 1.0) for n in range(3)] + [(n, 5, 6, 1.0) for n in range(3)]
    found = [chosen(entries, 1, "random", key=key) for key in range(6000)]
    for s in (0, 1, 5, 6):
        for n in range(3):
            assert found.count((s, {n: 1})) == pytest.approx(500, abs=90)


def test_random_units_are_spread_over_the_nodes_before_a_second_one_comes():
    entries = [(n, 0, 0, 4.0) for n in range(4)]
    for key in range(20):
        _, on = chosen(entries, 6, "random", key=key)
        assert sorted(on.values()) == [1, 1, 2, 2]
