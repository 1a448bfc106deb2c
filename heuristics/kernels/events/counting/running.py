"""The running jobs by their expected ends, in blocks, so that a job is added or removed without moving all others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import internal_borrowing
from ...by_address import by_address
from ...profile import Ints
from .blocks import insert_block, remove_block

BLOCK = 128  # jobs in a full block


@by_address
class Running(NamedTuple):
    """The running jobs by ascending expected end.

    Two neighbouring blocks have more than BLOCK / 2 jobs together, so that there are few blocks.

    Parameters
    ----------
    blocks
        Number of blocks, shape (1,).
    row
        Row of each block in the other arrays, in order, then the unused rows, shape (rows,).
    length, units
        Number of jobs and of their units in each row, shape (rows,).
    end, job
        Expected ends in seconds and jobs, ascending, shape (rows, BLOCK).
    """

    blocks: Ints
    row: Ints
    length: Ints
    units: Ints
    end: Ints
    job: Ints


def none_running(most: int) -> Running:
    """Return the arrays for at most ``most`` running jobs."""
    rows = 4 * most // BLOCK + 8
    return Running(
        np.zeros(1, np.int64),
        np.arange(rows),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.empty((rows, BLOCK), np.int64),
        np.empty((rows, BLOCK), np.int64),
    )


@internal_borrowing
def _block_of(running: Running, end: int) -> int:
    """Return the first block whose last job ends at ``end`` or later; the number of blocks if there is none."""
    row, length, ends = running.row, running.length, running.end
    lo, hi = 0, running.blocks[0]
    while lo < hi:
        middle = (lo + hi) // 2
        r = row[middle]
        if ends[r, length[r] - 1] < end:
            lo = middle + 1
        else:
            hi = middle
    return int(lo)


@internal_borrowing
def _new_block(running: Running, b: int) -> int:
    """Insert an empty block before block b; return its row."""
    r = insert_block(running.blocks, running.row, b)
    running.length[r], running.units[r] = 0, 0
    return int(r)


@internal_borrowing
def _move(running: Running, units: Ints, source: int, first: int, target: int) -> None:
    """Append the jobs of row ``source`` from index ``first`` on to row ``target``."""
    length, at = running.length, running.length[target]
    for i in range(first, length[source]):
        j = running.job[source, i]
        running.end[target, at], running.job[target, at] = running.end[source, i], j
        running.units[source] -= units[j]
        running.units[target] += units[j]
        at += 1
    length[target], length[source] = at, first


@internal_borrowing
def add(running: Running, units: Ints, j: int, end: int) -> None:
    """Add job j with its expected end in seconds; ``units``: units of each job, shape (jobs,)."""
    b = _block_of(running, end)
    if b == running.blocks[0] and b > 0:
        b -= 1
    r = _new_block(running, 0) if running.blocks[0] == 0 else running.row[b]
    if running.length[r] == BLOCK:
        upper = _new_block(running, b + 1)
        _move(running, units, r, BLOCK // 2, upper)
        if running.end[r, BLOCK // 2 - 1] < end:
            r = upper
    i, ends, jobs = running.length[r], running.end, running.job
    while i > 0 and ends[r, i - 1] > end:
        ends[r, i], jobs[r, i] = ends[r, i - 1], jobs[r, i - 1]
        i -= 1
    ends[r, i], jobs[r, i] = end, j
    running.length[r] += 1
    running.units[r] += units[j]


@internal_borrowing
def remove(running: Running, units: Ints, j: int, end: int) -> None:
    """Remove job j, whose expected end is ``end``."""
    b, jobs, length = _block_of(running, end), running.job, running.length
    r, i = running.row[b], 0
    while jobs[r, i] != j:
        i += 1
        if i == length[r]:  # jobs with the same end may continue in the next block
            b, i = b + 1, 0
            r = running.row[b]
    length[r] -= 1
    running.units[r] -= units[j]
    for k in range(i, length[r]):
        running.end[r, k], jobs[r, k] = running.end[r, k + 1], jobs[r, k + 1]
    if length[r] == 0:
        remove_block(running.blocks, running.row, b)
        return
    for lower in (b - 1, b):
        if lower >= 0 and lower + 1 < running.blocks[0]:
            left, right = running.row[lower], running.row[lower + 1]
            if length[left] + length[right] <= BLOCK // 2:
                _move(running, units, right, 0, left)
                remove_block(running.blocks, running.row, lower + 1)
                return


@internal_borrowing
def shadow(running: Running, units: Ints, free: int, needed: int, now: int) -> tuple[int, int]:
    """Return when ``needed`` nodes are free, if all jobs end as expected, and how many are free then.

    A job that runs longer than expected is taken to end at now + 1. There must be enough nodes.

    Parameters
    ----------
    running
        The running jobs.
    units
        Units of each job, shape (jobs,).
    free
        Number of free nodes now, fewer than ``needed``.
    needed
        Number of nodes.
    now
        The time in seconds.
    """
    b = 0
    while free + running.units[running.row[b]] < needed:
        free += running.units[running.row[b]]
        b += 1
    time = now
    while b < running.blocks[0]:
        r = running.row[b]
        for i in range(running.length[r]):
            end = max(running.end[r, i], now + 1)
            if free >= needed and end > time:
                return time, free
            time = end
            free += units[running.job[r, i]]
        b += 1
    return time, free
