"""Sets of nodes as bits of 64-bit words: node n is bit ``n % 64`` of word ``n // 64``.

A set of 5,000 nodes has 79 words; two sets are intersected, or a set is counted, in some 50 ns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from ...models.array_types import Ints
from ...models.compiled import internal_borrowing

BITS = 64


def words_for(nodes: int) -> int:
    """Return how many words a set of so many nodes has.

    >>> words_for(64), words_for(65)
    (1, 2)
    """
    return -(-nodes // BITS)


def packed(marks: Any) -> Ints:
    """Return marks of nodes, 0 or 1, shape (..., nodes), as words, shape (..., words).

    >>> packed([1, 0, 1]).tolist()
    [5]
    """
    flags = np.asarray(marks).astype(np.bool_)
    missing = words_for(flags.shape[-1]) * BITS - flags.shape[-1]
    padded = np.concatenate([flags, np.zeros((*flags.shape[:-1], missing), np.bool_)], axis=-1)
    words: Ints = np.packbits(padded, axis=-1, bitorder="little").view("<i8").astype(np.int64)
    return words


def _for_compiled_code(generator: Any) -> Any:
    """Return the function of compiled code whose instructions the generator writes; its first argument is numba's."""
    return intrinsic(generator)


@_for_compiled_code
def _ones(_context: Any, word: Any) -> Any:
    """Return the number of the bits of a word that are 1."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@_for_compiled_code
def lowest(_context: Any, word: Any) -> Any:
    """Return the number of the lowest bit of a word that is 1; the word is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), generate


@internal_borrowing
def has_node(words: Ints, n: int) -> bool:
    """Return whether node n is in a set."""
    return bool(words[n >> 6] & (1 << (n & 63)))


@internal_borrowing
def add_node(words: Ints, n: int) -> None:
    """Add node n to a set."""
    words[n >> 6] |= 1 << (n & 63)


@internal_borrowing
def number_in(words: Ints) -> int:
    """Return the number of nodes in a set."""
    number = 0
    for w in range(words.size):
        number += _ones(words[w])
    return number


@internal_borrowing
def number_in_both(words: Ints, others: Ints) -> int:
    """Return the number of nodes that are in two sets."""
    number = 0
    for w in range(words.size):
        number += _ones(words[w] & others[w])
    return number


@internal_borrowing
def copy_set(words: Ints, to: Ints) -> None:
    """Write a set to the other."""
    for w in range(words.size):
        to[w] = words[w]


@internal_borrowing
def keep_both(words: Ints, others: Ints) -> None:
    """Keep in a set what is also in the other."""
    for w in range(words.size):
        words[w] &= others[w]


@internal_borrowing
def remove_all(words: Ints, others: Ints) -> None:
    """Take out of a set what is in the other."""
    for w in range(words.size):
        words[w] &= ~others[w]


@internal_borrowing
def intersection(words: Ints, others: Ints, both: Ints) -> None:
    """Write what is in two sets."""
    for w in range(words.size):
        both[w] = words[w] & others[w]


@internal_borrowing
def meets(words: Ints, others: Ints) -> bool:
    """Return whether two sets have a node in common."""
    for w in range(words.size):
        if words[w] & others[w]:
            return True
    return False


@internal_borrowing
def is_within(words: Ints, others: Ints) -> bool:
    """Return whether all nodes of a set are in the other."""
    for w in range(words.size):
        if words[w] & ~others[w]:
            return False
    return True
