"""Moves of items within an array are those of NumPy, also where the places overlap."""

import numpy as np
import pytest
from numba.core.errors import TypingError
from schedlab.heuristics.kernels import move_items
from schedlab.models.compiled import compiled


@compiled
def move(array, to, source, items):
    move_items(array, to, source, items)


@pytest.mark.parametrize("to, source, items", [(3, 1, 6), (1, 3, 6), (4, 4, 5), (0, 9, 3), (5, 2, 0), (5, 2, -3)])
@pytest.mark.parametrize("shape", [(12,), (3, 4), (2, 3, 2)])
def test_items_are_moved_through_all_dimensions(shape, to, source, items):
    array = np.arange(12).reshape(shape)
    expected = np.arange(12)
    if items > 0:
        expected[to : to + items] = np.arange(12)[source : source + items]
    move(array, to, source, items)
    assert array.tolist() == expected.reshape(shape).tolist()


def test_items_of_another_size_are_moved():
    array = np.array([True, False, False, True])
    move(array, 1, 0, 3)
    assert array.tolist() == [True, True, False, False]


def test_an_array_with_gaps_is_refused():
    with pytest.raises(TypingError, match="in C order"):
        move(np.arange(12)[::2], 0, 1, 2)
