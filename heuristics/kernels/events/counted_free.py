"""The free amount of one place over time, in blocks of breakpoints, so that a job is added without moving all others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.array_types import Ints
from ....models.compiled import by_address, internal_borrowing
from ..profile import NEVER

# --- The order of blocks whose contents are in rows of arrays: a block is inserted or removed without moving its contents.


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
    free.blocks[0] = 1
    free.length[r] = 1
    free.offset[r] = 0
    free.time[r, 0] = now
    free.amount[r, 0] = amount
    free.least[r] = amount
    free.most[r] = amount


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
    row = free.row
    time = free.time
    amount = free.amount
    past = block_at(free, now)
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
    row = free.row
    length = free.length
    time = free.time
    b = block_at(free, begin)
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
        b = b + 1
        i = 0
        r = row[b]
    _merge(free, end)
    _merge(free, begin)


@internal_borrowing
def _split(free: Free, t: int) -> None:
    """Insert a breakpoint at time t if there is none."""
    b = block_at(free, t)
    row = free.row
    length = free.length
    time = free.time
    amount = free.amount
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
        length[r] = half
        length[upper] = BLOCK - half
        _bound(free, r)
        _bound(free, upper)
        if i >= half:
            r = upper
            i = i - half
    for k in range(length[r], i + 1, -1):
        time[r, k], amount[r, k] = time[r, k - 1], amount[r, k - 1]
    time[r, i + 1], amount[r, i + 1] = t, amount[r, i]
    length[r] += 1


@internal_borrowing
def _merge(free: Free, t: int) -> None:
    """Remove the breakpoint at time t if the free amount does not change there."""
    b = block_at(free, t)
    row = free.row
    length = free.length
    time = free.time
    amount = free.amount
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
        least = min(least, amount[r, i])
        most = max(most, amount[r, i])
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
    row = free.row
    length = free.length
    time = free.time
    amount = free.amount
    for lower in (b - 1, b):
        if lower >= 0 and lower + 1 < free.blocks[0]:
            left = row[lower]
            right = row[lower + 1]
            if length[left] + length[right] <= BLOCK // 2:
                at = length[left]
                shift = free.offset[right] - free.offset[left]
                for k in range(length[right]):
                    time[left, at + k], amount[left, at + k] = time[right, k], amount[right, k] + shift
                length[left] += length[right]
                free.least[left] = min(free.least[left], free.least[right])
                free.most[left] = max(free.most[left], free.most[right])
                remove_block(free.blocks, free.row, lower + 1)
                return


@internal_borrowing
def earliest_with_room(free: Free, amount: int, duration: int) -> int:
    """Return the first time from which on the amount is free for a duration in seconds; -1 if there is none."""
    row = free.row
    length = free.length
    time = free.time
    place = -1
    for b in range(free.blocks[0]):
        r = row[b]
        if free.least[r] >= amount:
            if place < 0:
                place = time[r, 0]
            continue
        if place >= 0 and time[r, 0] - place >= duration:
            return int(place)
        if free.most[r] < amount:
            place = -1
            continue
        needed = amount - free.offset[r]
        for i in range(length[r]):
            if free.amount[r, i] < needed:
                if place >= 0 and time[r, i] - place >= duration:
                    return int(place)
                place = -1
            elif place < 0:
                place = time[r, i]
    return int(place)


@internal_borrowing
def earlier(free: Free, amount: int, duration: int, start: int, least: int) -> int:
    """Return the earliest start, at or after ``least``, of a reservation that begins at ``start`` and holds its own amount."""
    row = free.row
    length = free.length
    time = free.time
    place = -1
    b = block_at(free, least)
    i = step_at(free, row[b], least)
    while b < free.blocks[0]:
        r = row[b]
        if i == 0:
            if time[r, 0] >= start:
                break
            if place >= 0 and time[r, 0] - place >= duration:
                return int(place)
            if free.most[r] < amount:
                place = -1
                b += 1
                continue
            if free.least[r] >= amount:
                if place < 0:
                    place = max(least, time[r, 0])
                b += 1
                continue
        needed = amount - free.offset[r]
        while i < length[r] and time[r, i] < start:
            if free.amount[r, i] < needed:
                if place >= 0 and time[r, i] - place >= duration:
                    return int(place)
                place = -1
            elif place < 0:
                place = max(least, time[r, i])
            i += 1
        b = b + 1
        i = 0
    return int(start if place < 0 else place)


@internal_borrowing
def least_free(free: Free, begin: int, end: int) -> int:
    """Return the least free amount in [begin, end), begin < end."""
    row = free.row
    length = free.length
    time = free.time
    b = block_at(free, begin)
    r = row[b]
    i = step_at(free, r, begin)
    least = NEVER
    while True:
        last = b + 1 == free.blocks[0]
        if i == 0 and not last and time[row[b + 1], 0] <= end:
            least = min(least, free.least[r])
        else:
            while i < length[r] and time[r, i] < end:
                least = min(least, free.amount[r, i] + free.offset[r])
                i += 1
        if last or time[row[b + 1], 0] >= end:
            return int(least)
        b = b + 1
        i = 0
        r = row[b]


@internal_borrowing
def begin_before(free: Free, amount: int, t: int) -> int:
    """Return the first time from which on the amount is free up to time t, which is not the first one; t if there is none."""
    row = free.row
    time = free.time
    b = block_at(free, t - 1)
    begin = t
    r = row[b]
    i = step_at(free, r, t - 1)
    while True:
        needed = amount - free.offset[r]
        while i >= 0 and free.amount[r, i] >= needed:
            begin = time[r, i]
            i -= 1
        if i >= 0:
            return int(begin)
        b -= 1
        while b >= 0 and free.least[row[b]] >= amount:
            begin = time[row[b], 0]
            b -= 1
        if b < 0:
            return int(begin)
        r = row[b]
        i = free.length[r] - 1


# --- Bounds on the earliest starts of reservations, from the reservations that were looked at before; compiled.
#
# A reservation of amount ``u`` and duration ``d`` that starts at ``s`` can move to a time ``t`` before ``s`` if and only if
#
# (a) ``u`` is free in [t, s): from ``s`` on its own amount is free; or
# (b) ``u`` is free in [t, t + d).
#
# The first ``t`` of case (a) is found by going back from ``s``. For case (b), let a reservation of ``u' <= u`` and ``d' <= d``
# have had the earliest start ``s'`` when it was looked at. Then ``u'`` was not free for ``d'`` from any time before ``s'``, and
# neither was ``u`` for ``d``. Taking nodes keeps that true. Let ``f`` be the first time at which nodes have been freed since
# then, and ``m = min(s', f)``. If case (b) holds for a ``t < m``, its ``d`` seconds contain a freed time, so ``u`` is free in
# [t, m). So no ``t`` before the begin of the longest time up to ``m`` with ``u`` free needs to be tried, and if ``m >= s``, case
# (b) cannot hold at all. A reservation for which neither case holds keeps its start.

SLOTS = 32  # reservations that are stored


@by_address
class Bounds(NamedTuple):
    """The reservations that were looked at last in this decision.

    Parameters
    ----------
    number
        Number of reservations that were looked at, shape (1,).
    amount, duration, start
        Amount, duration and earliest start in seconds of the last ones, shape (SLOTS,).
    freed
        The first time in seconds at which nodes have been freed since then; NEVER: none. Shape (SLOTS,).
    """

    number: Ints
    amount: Ints
    duration: Ints
    start: Ints
    freed: Ints


def new_bounds() -> Bounds:
    """Return arrays without reservations."""
    return Bounds(np.zeros(1, np.int64), *(np.empty(SLOTS, np.int64) for _ in range(4)))


@internal_borrowing
def bound(bounds: Bounds, amount: int, duration: int, least: int) -> int:
    """Return the greatest ``m`` of the module docstring for an amount and a duration in seconds; at least ``least``."""
    amounts = bounds.amount
    durations = bounds.duration
    start = bounds.start
    freed = bounds.freed
    for i in range(min(SLOTS, bounds.number[0])):
        if amounts[i] <= amount and durations[i] <= duration:
            least = max(least, min(start[i], freed[i]))
    return int(least)


@internal_borrowing
def remember(bounds: Bounds, amount: int, duration: int, start: int) -> None:
    """Store the earliest start of a reservation in seconds, before it is moved there."""
    i = bounds.number[0] % SLOTS
    bounds.amount[i] = amount
    bounds.duration[i] = duration
    bounds.start[i] = start
    bounds.freed[i] = NEVER
    bounds.number[0] += 1


@internal_borrowing
def note_freed(bounds: Bounds, begin: int) -> None:
    """Note that nodes have been freed from ``begin`` on."""
    freed = bounds.freed
    for i in range(min(SLOTS, bounds.number[0])):
        freed[i] = min(freed[i], begin)
