"""The free amount of one place over time, in blocks of breakpoints, so that a job is added without moving all others.

It is a step function: from each breakpoint to the next one the free amount is constant; the last step has no end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import internal_borrowing
from ...by_address import by_address
from ...profile import NEVER, Ints
from .blocks import insert_block, remove_block

BLOCK = 64  # breakpoints in a full block


@by_address
class Free(NamedTuple):
    """The free amount over time.

    Two neighbouring blocks have more than BLOCK / 2 breakpoints together, so that there are few blocks.

    Parameters
    ----------
    blocks
        Number of blocks, shape (1,).
    row
        Row of each block in the other arrays, in order, then the unused rows, shape (rows,).
    length
        Number of breakpoints in each row, shape (rows,).
    least, most
        Least and most free amount in each row, shape (rows,).
    offset
        What must be added to ``amount`` in each row, shape (rows,).
    time
        Breakpoints in seconds, ascending, shape (rows, BLOCK).
    amount
        Free amount from each breakpoint to the next one, less ``offset``, shape (rows, BLOCK).
    """

    blocks: Ints
    row: Ints
    length: Ints
    least: Ints
    most: Ints
    offset: Ints
    time: Ints
    amount: Ints


def new_free(most: int) -> Free:
    """Return the arrays for at most ``most`` breakpoints; memory is taken as they are used."""
    rows = 4 * most // BLOCK + 8
    of_row = np.zeros((4, rows), np.int64)
    steps = np.empty((2, rows, BLOCK), np.int64)
    return Free(np.zeros(1, np.int64), np.arange(rows), of_row[0], of_row[1], of_row[2], of_row[3], steps[0], steps[1])


@internal_borrowing
def set_free(free: Free, now: int, amount: int) -> None:
    """Let the same amount be free from now on."""
    r = free.row[0]
    free.blocks[0], free.length[r], free.offset[r] = 1, 1, 0
    free.time[r, 0], free.amount[r, 0], free.least[r], free.most[r] = now, amount, amount, amount


@internal_borrowing
def block_at(free: Free, t: int) -> int:
    """Return the last block that begins at or before time t (0 if there is none)."""
    row, time = free.row, free.time
    lo, hi = 0, free.blocks[0]
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if time[row[middle], 0] <= t:
            lo = middle
        else:
            hi = middle
    return int(lo)


@internal_borrowing
def step_at(free: Free, r: int, t: int) -> int:
    """Return the last breakpoint of row r at or before time t (0 if there is none)."""
    time = free.time
    lo, hi = 0, free.length[r]
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if time[r, middle] <= t:
            lo = middle
        else:
            hi = middle
    return int(lo)


@internal_borrowing
def drop_past(free: Free, now: int) -> None:
    """Let the step function begin now."""
    row, time, amount, past = free.row, free.time, free.amount, block_at(free, now)
    for _ in range(past):
        remove_block(free.blocks, free.row, 0)
    r = row[0]
    i = step_at(free, r, now)
    if i > 0:
        free.length[r] -= i
        for k in range(free.length[r]):
            time[r, k], amount[r, k] = time[r, k + i], amount[r, k + i]
        _bound(free, r)
    time[r, 0] = now
    if past > 0 or i > 0:
        _join(free, 0)


@internal_borrowing
def add(free: Free, begin: int, end: int, amount: int) -> None:
    """Add an amount, or subtract a negative one, in [begin, end); both are at or after the first breakpoint."""
    if begin >= end:
        return
    _split(free, end)
    _split(free, begin)
    row, length, time, b = free.row, free.length, free.time, block_at(free, begin)
    r = row[b]
    i = step_at(free, r, begin)
    while True:
        last = b + 1 == free.blocks[0]
        if i == 0 and not last and time[row[b + 1], 0] <= end:
            free.offset[r] += amount
            free.least[r] += amount
            free.most[r] += amount
        else:
            while i < length[r] and time[r, i] < end:
                free.amount[r, i] += amount
                i += 1
            _bound(free, r)
        if last or time[row[b + 1], 0] >= end:
            break
        b, i = b + 1, 0
        r = row[b]
    _merge(free, end)
    _merge(free, begin)


@internal_borrowing
def _split(free: Free, t: int) -> None:
    """Insert a breakpoint at time t if there is none."""
    b, row, length, time, amount = block_at(free, t), free.row, free.length, free.time, free.amount
    r = row[b]
    i = step_at(free, r, t)
    if time[r, i] == t:
        return
    if length[r] == BLOCK:
        upper = _new_block(free, b + 1)
        free.offset[upper] = free.offset[r]
        half = BLOCK // 2
        for k in range(half, BLOCK):
            time[upper, k - half], amount[upper, k - half] = time[r, k], amount[r, k]
        length[r], length[upper] = half, BLOCK - half
        _bound(free, r)
        _bound(free, upper)
        if i >= half:
            r, i = upper, i - half
    for k in range(length[r], i + 1, -1):
        time[r, k], amount[r, k] = time[r, k - 1], amount[r, k - 1]
    time[r, i + 1], amount[r, i + 1] = t, amount[r, i]
    length[r] += 1


@internal_borrowing
def _merge(free: Free, t: int) -> None:
    """Remove the breakpoint at time t if the free amount does not change there."""
    b, row, length, time, amount = block_at(free, t), free.row, free.length, free.time, free.amount
    r = row[b]
    i = step_at(free, r, t)
    if i > 0:
        if amount[r, i] != amount[r, i - 1]:
            return
    else:
        if b == 0:
            return
        before = row[b - 1]
        if amount[r, 0] + free.offset[r] != amount[before, length[before] - 1] + free.offset[before]:
            return
    length[r] -= 1
    for k in range(i, length[r]):
        time[r, k], amount[r, k] = time[r, k + 1], amount[r, k + 1]
    if length[r] == 0:
        remove_block(free.blocks, free.row, b)
        b -= 1
    elif i == 0:
        _bound(free, r)
    _join(free, b)


@internal_borrowing
def _bound(free: Free, r: int) -> None:
    """Set the least and the most free amount of row r."""
    amount = free.amount
    least = most = amount[r, 0]
    for i in range(1, free.length[r]):
        least, most = min(least, amount[r, i]), max(most, amount[r, i])
    free.least[r], free.most[r] = least + free.offset[r], most + free.offset[r]


@internal_borrowing
def _new_block(free: Free, b: int) -> int:
    """Insert an empty block before block b; return its row."""
    r = insert_block(free.blocks, free.row, b)
    free.length[r], free.offset[r] = 0, 0
    return int(r)


@internal_borrowing
def _join(free: Free, b: int) -> None:
    """Join block b with a neighbour if both together are at most half a block."""
    row, length, time, amount = free.row, free.length, free.time, free.amount
    for lower in (b - 1, b):
        if lower >= 0 and lower + 1 < free.blocks[0]:
            left, right = row[lower], row[lower + 1]
            if length[left] + length[right] <= BLOCK // 2:
                at, shift = length[left], free.offset[right] - free.offset[left]
                for k in range(length[right]):
                    time[left, at + k], amount[left, at + k] = time[right, k], amount[right, k] + shift
                length[left] += length[right]
                free.least[left] = min(free.least[left], free.least[right])
                free.most[left] = max(free.most[left], free.most[right])
                remove_block(free.blocks, free.row, lower + 1)
                return


@internal_borrowing
def earliest(free: Free, amount: int, duration: int) -> int:
    """Return the first time from which on the amount is free for a duration in seconds; -1 if there is none."""
    row, length, time, found = free.row, free.length, free.time, -1
    for b in range(free.blocks[0]):
        r = row[b]
        if free.least[r] >= amount:
            if found < 0:
                found = time[r, 0]
            continue
        if found >= 0 and time[r, 0] - found >= duration:
            return int(found)
        if free.most[r] < amount:
            found = -1
            continue
        needed = amount - free.offset[r]
        for i in range(length[r]):
            if free.amount[r, i] < needed:
                if found >= 0 and time[r, i] - found >= duration:
                    return int(found)
                found = -1
            elif found < 0:
                found = time[r, i]
    return int(found)


@internal_borrowing
def earlier(free: Free, amount: int, duration: int, start: int, least: int) -> int:
    """Return the earliest start, at or after ``least``, of a reservation that begins at ``start`` and holds its own amount."""
    row, length, time, found, b = free.row, free.length, free.time, -1, block_at(free, least)
    i = step_at(free, row[b], least)
    while b < free.blocks[0]:
        r = row[b]
        if i == 0:
            if time[r, 0] >= start:
                break
            if found >= 0 and time[r, 0] - found >= duration:
                return int(found)
            if free.most[r] < amount:
                found = -1
                b += 1
                continue
            if free.least[r] >= amount:
                if found < 0:
                    found = max(least, time[r, 0])
                b += 1
                continue
        needed = amount - free.offset[r]
        while i < length[r] and time[r, i] < start:
            if free.amount[r, i] < needed:
                if found >= 0 and time[r, i] - found >= duration:
                    return int(found)
                found = -1
            elif found < 0:
                found = max(least, time[r, i])
            i += 1
        b, i = b + 1, 0
    return int(start if found < 0 else found)


@internal_borrowing
def least_free(free: Free, begin: int, end: int) -> int:
    """Return the least free amount in [begin, end), begin < end."""
    row, length, time, b = free.row, free.length, free.time, block_at(free, begin)
    r = row[b]
    i, found = step_at(free, r, begin), NEVER
    while True:
        last = b + 1 == free.blocks[0]
        if i == 0 and not last and time[row[b + 1], 0] <= end:
            found = min(found, free.least[r])
        else:
            while i < length[r] and time[r, i] < end:
                found = min(found, free.amount[r, i] + free.offset[r])
                i += 1
        if last or time[row[b + 1], 0] >= end:
            return int(found)
        b, i = b + 1, 0
        r = row[b]


@internal_borrowing
def begin_before(free: Free, amount: int, t: int) -> int:
    """Return the first time from which on the amount is free up to time t, which is not the first one; t if there is none."""
    row, time, b, found = free.row, free.time, block_at(free, t - 1), t
    r = row[b]
    i = step_at(free, r, t - 1)
    while True:
        needed = amount - free.offset[r]
        while i >= 0 and free.amount[r, i] >= needed:
            found = time[r, i]
            i -= 1
        if i >= 0:
            return int(found)
        b -= 1
        while b >= 0 and free.least[row[b]] >= amount:
            found = time[row[b], 0]
            b -= 1
        if b < 0:
            return int(found)
        r = row[b]
        i = free.length[r] - 1
