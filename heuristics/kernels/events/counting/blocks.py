"""The order of blocks whose contents are in rows of arrays: a block is inserted or removed without moving its contents."""

from __future__ import annotations

from .....models.compiled import internal_borrowing
from ...profile import Ints


@internal_borrowing
def insert_block(blocks: Ints, row: Ints, b: int) -> int:
    """Insert a block before block b and return its row.

    Parameters
    ----------
    blocks
        Number of blocks, shape (1,).
    row
        Row of each block, in order, then the unused rows, shape (rows,).
    b
        Index of the block.
    """
    n = blocks[0]
    r = row[n]
    for k in range(n, b, -1):
        row[k] = row[k - 1]
    row[b] = r
    blocks[0] = n + 1
    return int(r)


@internal_borrowing
def remove_block(blocks: Ints, row: Ints, b: int) -> None:
    """Remove block b; its row is unused then."""
    n = blocks[0] - 1
    r = row[b]
    for k in range(b, n):
        row[k] = row[k + 1]
    row[n] = r
    blocks[0] = n
