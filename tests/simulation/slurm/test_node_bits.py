"""Sets of nodes as bits of words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab.models.compiled import compiled
from schedlab.simulation.slurm import (
    add_node,
    has_node,
    intersection,
    is_within,
    lowest,
    meets,
    number_in,
    number_in_both,
    packed,
    words_for,
)

Ints = np.ndarray

NODES = 130  # three words, of which the last is not full


@compiled
def listed(words: Ints, nodes: Ints) -> int:
    """Write the nodes of a set; return their number."""
    number = 0
    for w in range(words.size):
        word = words[w]
        while word != 0:
            nodes[number] = (w << 6) + lowest(word)
            word &= word - 1
            number += 1
    return number


@compiled
def compared(words: Ints, others: Ints, both: Ints) -> tuple[int, int, int, bool, bool]:
    """Return the sizes of a set and, twice, of what is in both; whether they meet, and whether one is within the other."""
    intersection(words, others, both)
    number = number_in_both(words, others)
    return number_in(words), number_in(both), number, meets(words, others), is_within(words, others)


@compiled
def changed(words: Ints, n: int) -> tuple[bool, bool, bool]:
    """Return whether a node is in a set, after it was added, and after it was removed."""
    before = has_node(words, n)
    add_node(words, n)
    return before, has_node(words, n)


def words_of(nodes: set[int]) -> Ints:
    """Return a set of nodes as words."""
    marks = np.zeros(NODES, np.uint8)
    marks[list(nodes)] = 1
    return packed(marks)


SETS = st.sets(st.integers(0, NODES - 1))


@given(SETS)
def test_the_bits_are_the_nodes_in_order(nodes: set[int]) -> None:
    found = np.zeros(NODES, np.int64)
    assert found[: listed(words_of(nodes), found)].tolist() == sorted(nodes)


@given(SETS, SETS)
def test_sets_are_compared_as_sets(nodes: set[int], others: set[int]) -> None:
    both = words_of(set())
    common = len(nodes & others)
    expected = (len(nodes), common, common, bool(nodes & others), nodes <= others)
    assert compared(words_of(nodes), words_of(others), both) == expected
    assert both.tolist() == words_of(nodes & others).tolist()


@pytest.mark.parametrize("n", [0, 63, 64, 127, 129])
def test_a_node_is_added(n: int) -> None:
    others = {1, 62, 65, 128}
    words = words_of(others)
    assert changed(words, n) == (False, True)
    assert words.tolist() == words_of({*others, n}).tolist()


def test_words() -> None:
    assert [words_for(n) for n in (0, 1, 64, 65)] == [0, 1, 1, 2]
    assert packed(np.ones((2, 64), np.uint8)).tolist() == [[-1], [-1]]
