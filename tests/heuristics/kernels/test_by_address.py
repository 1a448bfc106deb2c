"""Named tuples that compiled functions take by address: the same results as with their arrays, and clear refusals."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof as by_address_type
from numba.core.errors import TypingError
from schedlab.errors import SchedlabError
from schedlab.models.compiled import by_address, compiled, constant, internal


@by_address
class Weights(NamedTuple):
    weight: np.ndarray
    scale: float


@by_address
class Table(NamedTuple):
    number: int
    cells: np.ndarray
    flags: np.ndarray
    weights: Weights


@internal
def weighted(table, i):
    if table.weights.weight[i] < 0:
        raise ValueError("a weight is negative")
    total = 0.0
    for k in range(table.cells.shape[1]):
        if table.flags[k]:
            total += table.weights.scale * table.weights.weight[i] * table.cells[i, k]
    return total


@compiled
def total_of(table):
    total = float(table.number)
    for i in range(table.cells.shape[0]):
        total += weighted(table, i)
    return total


@compiled
def doubled(table):
    for i in range(table.cells.shape[0]):
        for k in range(table.cells.shape[1]):
            table.cells[i, k] *= 2


@compiled
def unknown_field(table):
    return table.price


@by_address
@constant("twice")
class Prices(NamedTuple):
    twice: bool | None
    price: np.ndarray


@compiled
def sum_of(prices):
    total = 0
    for k in range(prices.price.size):
        total += 2 * prices.price[k] if prices.twice else prices.price[k]
    return total


def test_a_function_has_a_version_for_each_value_of_a_constant():
    price = np.array([1, 5])
    assert [sum_of(Prices(twice, price)) for twice in (True, None, True)] == [12, 6, 12]
    assert len(sum_of.signatures) == 2
    with pytest.raises(SchedlabError, match=r"Prices\.twice is False; expected True or None"):
        sum_of.compile((by_address_type(Prices(False, price)),))


CELLS = np.arange(48).reshape(6, 8)


def table(cells, weight=None, **fields):
    rows, columns = np.shape(cells)
    weights = Weights(np.arange(rows) / 2 if weight is None else weight, 0.5)
    return Table(7, cells, np.arange(columns) % 3 != 1, weights)._replace(**fields)


def expected(table):
    rows = table.weights.scale * np.asarray(table.weights.weight)[:, None] * table.cells
    return table.number + rows[:, table.flags].sum()


@pytest.mark.parametrize(
    "cells",
    [
        CELLS,
        CELLS[::2, 1::3],
        CELLS[::-1, ::-1],
        CELLS.T,
        np.asfortranarray(CELLS),
        CELLS[:0],
        CELLS.astype(np.float32),
    ],
    ids=["contiguous", "steps", "backwards", "transposed", "columns first", "empty", "other numbers"],
)
def test_arrays_of_all_layouts_are_read_and_written_as_numpy_does(cells):
    given = table(cells.copy(order="K") if cells.flags.c_contiguous or cells.flags.f_contiguous else cells)
    assert total_of(given) == pytest.approx(expected(given))
    other = table(cells.copy())
    view = other._replace(cells=other.cells[::-1])
    doubled(view)
    assert (other.cells == 2 * cells).all()


def test_the_next_call_sees_other_arrays_and_numbers():
    first, second = table(CELLS), table(CELLS[:2], number=11)
    assert [total_of(t) for t in (first, second, first)] == pytest.approx([expected(t) for t in (first, second, first)])


def test_an_error_in_an_internal_function_reaches_python():
    with pytest.raises(ValueError, match="a weight is negative"):
        total_of(table(CELLS, np.array([1.0, 1, 1, -1, 1, 1])))
    assert total_of(table(CELLS)) == pytest.approx(expected(table(CELLS)))


@pytest.mark.parametrize("wrong", [[[1, 2], [3, 4]], None, "abc", np.array([["a", None]], object), (CELLS, CELLS)])
def test_fields_of_other_types_are_refused_by_name(wrong):
    with pytest.raises(TypeError, match=r"Table.cells is .* compiled functions take arrays of numbers, numbers and"):
        total_of(table(CELLS)._replace(cells=wrong))


def test_the_field_of_an_inner_tuple_is_named():
    with pytest.raises(TypeError, match=r"Weights.weight is \[1, 2\]; compiled functions take"):
        total_of(table(CELLS, [1, 2]))


def test_a_field_that_does_not_exist_is_refused():
    with pytest.raises(TypingError, match="Unknown attribute 'price' of type Table"):
        unknown_field(table(CELLS))


def test_references_to_the_arrays_are_given_back():
    given = table(CELLS.copy())
    total_of(given)
    before = sys.getrefcount(given.cells)
    failures = 0
    for _ in range(10):
        total_of(given)
        try:
            total_of(given._replace(weights=Weights(np.full(6, -1.0), 1.0)))
        except ValueError:
            failures += 1
    after = sys.getrefcount(given.cells)  # outside the assertion: pytest keeps the values of its parts
    assert failures == 10
    assert after == before


KERNELS = """
from typing import NamedTuple
import numpy as np
from schedlab.errors import SchedlabError
from schedlab.models.compiled import by_address, compiled, constant, native, watching

@by_address
class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray

@native
def product(pair):
    total = 0
    for k in range(pair.first.size):
        total += pair.first[k] * pair.second[k]
    return total

@compiled
def squared(pair):
    return product(pair) ** 2

seen = []
with watching(seen.append):
    print(squared(Pair(np.arange(5), np.arange(5)[::-1])), end=" ")
    print(squared(Pair(np.arange(3), np.ones(3, np.int64))), len(seen))
"""


@pytest.mark.slow
def test_a_second_process_loads_the_same_function_from_the_cache(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", "import kernels"]
    printed = [
        subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=120).stdout.split()
        for _ in range(2)
    ]
    assert printed == [["100", "9", "4"], ["100", "9", "0"]]
