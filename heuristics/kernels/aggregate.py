"""An upper bound over time of the units that all nodes together can hold; it excludes most starts quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...models.array_types import Ints
from ...models.compiled import borrowing, by_address, internal_borrowing
from .profile import NEVER, Machine, Profile, move_items, segment

if TYPE_CHECKING:
    from .costs import Jobs


BLOCK = 64  # most breakpoints of a block
LEVELS = 32  # most levels of a resource
COLUMNS = 128  # about the most columns: levels of all resources x groups of nodes
GROUPS = 8  # most groups of equal nodes


@by_address
class Aggregate(NamedTuple):
    """The counts as a step function of time in blocks of breakpoints.

    ``units[order[k], i, group * levels + level]`` are the units from breakpoint i of the k-th block on.

    Parameters
    ----------
    groups
        Number of groups of nodes; 0: the bound excludes nothing (``no_aggregate``).
    group
        Group of each node, shape (nodes,).
    level
        Levels (amounts), ascending, one resource after another, shape (levels,).
    first_level
        Index of the first level of each resource, shape (resources + 1,).
    column
        Level of each job (its first chunk) and resource, then of the further chunks, shape (chunks, resources); -1: no
        request.
    blocks
        Number of blocks in use, shape (1,).
    order
        The blocks in order of time, shape (blocks,).
    size
        Number of breakpoints of each block, shape (blocks,).
    time
        Breakpoints in seconds, shape (blocks, BLOCK).
    units
        The counts, shape (blocks, BLOCK, groups * levels).
    least, most
        Least and greatest counts of each block, shape (blocks, groups * levels).
    span
        Scratch: breakpoints of one job in seconds, shape (blocks * BLOCK,).
    change
        Scratch: changes of the counts at these, shape (blocks * BLOCK, groups * levels).
    """

    groups: int
    group: Ints
    level: Ints
    first_level: Ints
    column: Ints
    blocks: Ints
    order: Ints
    size: Ints
    time: Ints
    units: Ints
    least: Ints
    most: Ints
    span: Ints
    change: Ints


class Levels(NamedTuple):
    """The fields of the same names in ``Aggregate``."""

    groups: int
    group: Ints
    level: Ints
    first_level: Ints
    column: Ints


def levels(machine: Machine, jobs: Jobs, columns: int = COLUMNS) -> Levels:
    """Return the groups of equal nodes and the levels of the requests; with too many groups the last one has the rest.

    Parameters
    ----------
    machine, jobs
        The nodes and the jobs.
    columns
        About the most columns.
    """
    kinds, group = np.unique(machine.capacity, axis=0, return_inverse=True)
    groups = min(len(kinds), GROUPS)
    resources = machine.capacity.shape[1]
    most = max(2, min(LEVELS, columns // max(1, groups * resources)))
    if jobs.further_units.size:
        request = np.concatenate([jobs.request, jobs.further_request])
    else:
        request = jobs.request
    if machine.places:  # a node holds several units of a whole-node job, which takes all of its places
        request = np.column_stack([request[:, :-1], np.zeros(len(request), np.int64)])
    by_resource = [_levels(request[:, r], most) for r in range(resources)]
    first = np.cumsum([0, *(one.size for one in by_resource)]).astype(np.int64)
    column = np.full(request.shape, -1, np.int64)
    for r, one in enumerate(by_resource):
        at = np.searchsorted(one, request[:, r], side="right") - 1
        column[:, r] = np.where(at >= 0, first[r] + at, -1)
    level = np.concatenate([np.zeros(0, np.int64), *by_resource])
    return Levels(groups, np.minimum(group.reshape(-1), GROUPS - 1).astype(np.int64), level, first, column)


def _levels(request: Ints, most: int) -> Ints:
    """Return at most ``most`` levels, ascending: the least request and the most frequent ones."""
    amounts, often = np.unique(request[request > 0], return_counts=True)
    often[:1] = len(request) + 1
    return np.sort(amounts[np.argsort(-often, kind="stable")[:most]])


def new_aggregate(
    machine: Machine, jobs: Jobs, profile: Profile, known: Levels | None = None, spare: int = 0
) -> Aggregate:
    """Return the counts of a profile without jobs, with room for all jobs.

    Parameters
    ----------
    machine, jobs
        The nodes and the jobs.
    profile
        The profile.
    known
        The levels; None: ``levels(machine, jobs)``.
    spare
        More blocks, for breakpoints of jobs that are removed.
    """
    if known is None:
        known = levels(machine, jobs)
    columns = known.groups * known.level.size
    points = 2 * jobs.request.shape[0] + 2 * machine.taken_node.size + 2
    room = 2 * points // BLOCK + 2 + spare  # dividing a full block leaves two half full ones
    aggregate = Aggregate(
        *known,
        np.ones(1, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.empty((room, BLOCK), np.int64),
        np.empty((room, BLOCK, columns), np.int64),
        np.empty((room, columns), np.int64),
        np.empty((room, columns), np.int64),
        np.empty(room * BLOCK, np.int64),
        np.empty((room * BLOCK, columns), np.int64),
    )
    count_all(aggregate, profile)
    return aggregate


def no_aggregate() -> Aggregate:
    """Return the bound that excludes nothing, for schedules from which jobs are removed."""
    none = np.zeros(0, np.int64)
    table = np.zeros((0, 0), np.int64)
    return Aggregate(
        0, none, none, none, table, none, none, none, table, np.zeros((0, 0, 0), np.int64), table, table, none, table
    )


@borrowing
def count_all(a: Aggregate, profile: Profile) -> None:
    """Return ``recount`` for calls from Python."""
    recount(a, profile)


@internal_borrowing
def recount(a: Aggregate, profile: Profile) -> None:
    """Take over the breakpoints of the profile, drop all others, and set the counts at each of them."""
    if a.groups == 0:
        return
    a.blocks[0], a.order[0], a.size[0], a.time[0, 0] = 1, 0, 1, profile.time[0, 0]
    for n in range(a.group.size):
        for i in range(1, profile.length[n]):
            _insert_time(a, profile.time[n, i])
    for b in range(a.blocks[0]):  # the blocks in use are the first ones
        for i in range(a.size[b]):
            for c in range(a.units.shape[2]):
                a.units[b, i, c] = 0
    for n in range(a.group.size):
        _note_node(a, profile, n)
    holds = a.change[0]
    for c in range(a.units.shape[2]):
        holds[c] = 0
    for k in range(a.blocks[0]):
        b = a.order[k]
        for i in range(a.size[b]):
            for c in range(a.units.shape[2]):
                holds[c] += a.units[b, i, c]
                a.units[b, i, c] = holds[c]
        _sum_up(a, b, 0, a.units.shape[2])


@internal_borrowing
def _note_node(a: Aggregate, profile: Profile, n: int) -> None:
    """Add to the counts by how much the units that node n can hold change at each of its breakpoints."""
    levels = a.level.size
    offset = a.group[n] * levels
    holds = a.change[0]
    for c in range(levels):
        holds[c] = 0
    for at in range(profile.length[n]):
        k, i = find(a, profile.time[n, at])
        b = a.order[k]
        for r in range(a.first_level.size - 1):
            free = max(0, profile.free[n, at, r])
            for c in range(a.first_level[r], a.first_level[r + 1]):
                units = free // a.level[c] if a.level[c] <= free else 0
                a.units[b, i, offset + c] += units - holds[c]
                holds[c] = units


@internal_borrowing
def _sum_up(a: Aggregate, b: int, low: int, high: int) -> None:
    """Set the least and the greatest counts of block b in the columns of [low, high)."""
    for c in range(low, high):
        a.least[b, c] = a.most[b, c] = a.units[b, 0, c]
    for i in range(1, a.size[b]):
        for c in range(low, high):
            a.least[b, c] = min(a.least[b, c], a.units[b, i, c])
            a.most[b, c] = max(a.most[b, c], a.units[b, i, c])


@internal_borrowing
def find(a: Aggregate, t: int) -> tuple[int, int]:
    """Return the last breakpoint at or before t: the position of its block in ``order``, and its index in the block."""
    low, high = 0, a.blocks[0]
    while high - low > 1:
        middle = (low + high) // 2
        if a.time[a.order[middle], 0] <= t:
            low = middle
        else:
            high = middle
    b, k = a.order[low], low
    low, high = 0, a.size[b]
    while high - low > 1:
        middle = (low + high) // 2
        if a.time[b, middle] <= t:
            low = middle
        else:
            high = middle
    return k, low


@internal_borrowing
def _divide_times(a: Aggregate, k: int) -> tuple[int, int]:
    """Move the later half of the times of the k-th block to a new block; return both blocks."""
    b = a.order[k]
    new = a.blocks[0]
    half = BLOCK // 2
    for p in range(new, k + 1, -1):
        a.order[p] = a.order[p - 1]
    a.order[k + 1] = new
    a.blocks[0] += 1
    a.size[new] = a.size[b] - half
    for i in range(a.size[new]):
        a.time[new, i] = a.time[b, half + i]
    a.size[b] = half
    return b, new


@internal_borrowing
def _divide(a: Aggregate, k: int) -> None:
    """Move the later half of the k-th block to a new block."""
    b, new = _divide_times(a, k)
    for i in range(a.size[new]):
        for c in range(a.units.shape[2]):
            a.units[new, i, c] = a.units[b, BLOCK // 2 + i, c]
    _sum_up(a, b, 0, a.units.shape[2])
    _sum_up(a, new, 0, a.units.shape[2])


@internal_borrowing
def _insert_time(a: Aggregate, t: int) -> None:
    """Insert a breakpoint at t if there is none; all counts have to be set afterwards."""
    k, i = find(a, t)
    b = a.order[k]
    if a.time[b, i] == t:
        return
    if a.size[b] == BLOCK:
        _divide_times(a, k)
        k, i = find(a, t)
        b = a.order[k]
    for p in range(a.size[b], i + 1, -1):
        a.time[b, p] = a.time[b, p - 1]
    a.time[b, i + 1] = t
    a.size[b] += 1


@internal_borrowing
def _insert(a: Aggregate, t: int) -> None:
    """Insert a breakpoint at t if there is none."""
    k, i = find(a, t)
    b = a.order[k]
    if a.time[b, i] == t:
        return
    if a.size[b] == BLOCK:
        _divide(a, k)
        k, i = find(a, t)
        b = a.order[k]
    columns = a.units.shape[2]
    at = b * BLOCK + i + 1
    later = a.size[b] - i - 1
    move_items(a.time, at + 1, at, later)
    move_items(a.units, (at + 1) * columns, at * columns, later * columns)
    a.time[b, i + 1] = t
    for c in range(a.units.shape[2]):
        a.units[b, i + 1, c] = a.units[b, i, c]
    a.size[b] += 1


@internal_borrowing
def take(a: Aggregate, profile: Profile, request: Ints, start: int, end: int, chosen: Ints, sign: int) -> None:
    """Subtract a job that has just been put into the profile, or add one that is about to be removed from it.

    Parameters
    ----------
    a
        The counts; changed in place.
    profile
        The profile with the job.
    request
        Amounts of one unit of the job, shape (resources,).
    start, end
        Times in seconds.
    chosen
        Node of each unit, shape (units,); units on one node are neighbours.
    sign
        1: subtract, -1: add.
    """
    if end <= start or a.groups == 0:
        return
    _insert(a, start)
    _insert(a, end)
    low, high = _columns(a, chosen)
    size = _span(a, start, end, low, high)
    k = 0
    while k < chosen.size:
        n, units = chosen[k], 1
        while k + units < chosen.size and chosen[k + units] == n:
            units += 1
        i = segment(profile, n, start)
        first = 0
        while first < size:
            last = _at(a.span, size, profile.time[n, i + 1], first) if i + 1 < profile.length[n] else size
            _note(a, a.group[n] * a.level.size, profile.free[n, i], request, sign * units, first, last)
            i = i + 1
            first = last
        k += units
    _apply(a, start, size, low, high)


@internal_borrowing
def _columns(a: Aggregate, chosen: Ints) -> tuple[int, int]:
    """Return the first column of the groups of these nodes, and the end of their columns."""
    low, high = a.groups, 0
    for k in range(chosen.size):
        low = min(low, a.group[chosen[k]])
        high = max(high, a.group[chosen[k]] + 1)
    return low * a.level.size, high * a.level.size


@internal_borrowing
def _span(a: Aggregate, start: int, end: int, low: int, high: int) -> int:
    """Copy the breakpoints in [start, end) to ``span``, set ``change`` to 0 in [low, high); return their number."""
    k, i = find(a, start)
    size = 0
    while k < a.blocks[0] and a.time[a.order[k], i] < end:
        a.span[size] = a.time[a.order[k], i]
        for c in range(low, high):
            a.change[size, c] = 0
        size += 1
        i += 1
        if i == a.size[a.order[k]]:
            k = k + 1
            i = 0
    return size


@internal_borrowing
def _at(span: Ints, size: int, t: int, first: int) -> int:
    """Return the index of the first breakpoint of a span from ``first`` on that is not before t; fast if it is near."""
    low, step = first, 1
    while low + step < size and span[low + step] < t:
        low += step
        step *= 2
    high = min(low + step, size)
    while low < high:
        middle = (low + high) // 2
        if span[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low


@internal_borrowing
def _note(a: Aggregate, offset: int, free: Ints, request: Ints, units: int, first: int, last: int) -> None:
    """Add to ``change`` that a node holds ``units`` more units from breakpoint ``first`` to ``last``; below 0: fewer."""
    sign = 1 if units > 0 else -1
    for r in range(request.size):
        if request[r] > 0:
            before = free[r] + sign * units * request[r]
            for c in range(a.first_level[r], a.first_level[r + 1]):
                if a.level[c] > before:  # so are all following levels
                    break
                # a division of doubles is faster, and exact for amounts below 2**53 (MOST_CAPACITY)
                less = int(before / a.level[c]) - int(np.floor(free[r] / a.level[c]))
                if less > 0:
                    a.change[first, offset + c] -= sign * less
                    if last < a.change.shape[0]:
                        a.change[last, offset + c] += sign * less


@internal_borrowing
def _apply(a: Aggregate, start: int, size: int, low: int, high: int) -> None:
    """Add the changes of the columns in [low, high) to the counts along the span."""
    k, i = find(a, start)
    b = a.order[k]
    for x in range(size):
        for c in range(low, high):
            if x > 0:
                a.change[x, c] += a.change[x - 1, c]
            a.units[b, i, c] += a.change[x, c]
        i += 1
        if i == a.size[b] or x == size - 1:
            _sum_up(a, b, low, high)
            k = k + 1
            i = 0
            b = a.order[k] if k < a.blocks[0] else b


# --- The first time that the bound of the whole machine does not exclude as a start of a job.


@internal_borrowing
def _find_from(a: Aggregate, t: int, k: int, i: int) -> tuple[int, int]:
    """Return ``find(a, t)`` for a time that is not before breakpoint (k, i); fast if it is near."""
    for _ in range(8):
        following, at = (k, i + 1) if i + 1 < a.size[a.order[k]] else (k + 1, 0)
        if following == a.blocks[0] or a.time[a.order[following], at] > t:
            return k, i
        k, i = following, at
    return find(a, t)


@internal_borrowing
def _enough(a: Aggregate, column: Ints, units: int, counts: Ints) -> bool:
    """Return whether the counts may hold the units of a job."""
    total, levels = 0, a.level.size
    for g in range(a.groups):
        least = NEVER
        for r in range(column.size):
            if column[r] >= 0:
                least = min(least, counts[g * levels + column[r]])
        total += least
        if total >= units:
            return True
    return False


@internal_borrowing
def _last_lack(a: Aggregate, column: Ints, units: int, k: int, i: int, first_k: int, first_i: int) -> tuple[int, int]:
    """Return the last breakpoint from the first to (k, i) at which the units cannot fit; (-1, -1): none."""
    whole = True  # no breakpoint of this block has been tested yet
    while k > first_k or (k == first_k and i >= first_i):
        b = a.order[k]
        if i < 0 or (whole and _enough(a, column, units, a.least[b])):
            k -= 1
            i = a.size[a.order[k]] - 1 if k >= 0 else -1
            whole = True
            if k < 0:
                break
            continue
        whole = False
        if not _enough(a, column, units, a.units[b, i]):
            return k, i
        i -= 1
    return -1, -1


@internal_borrowing
def _next_enough(a: Aggregate, column: Ints, units: int, k: int, i: int) -> tuple[int, int]:
    """Return the first breakpoint from (k, i) on at which the units may fit; (number of blocks, 0) if there is none."""
    while k < a.blocks[0]:
        b = a.order[k]
        if i < a.size[b] and (i > 0 or _enough(a, column, units, a.most[b])):
            while i < a.size[b]:
                if _enough(a, column, units, a.units[b, i]):
                    return k, i
                i += 1
        k = k + 1
        i = 0
    return k, i


@internal_borrowing
def possible(a: Aggregate, j: int, units: int, duration: int, t: int) -> int:
    """Return the first time from t on that the bound does not exclude as a start of job j; NEVER if it excludes all.

    Parameters
    ----------
    a
        The counts.
    j
        Index of the job; that of further chunk c is c + the number of jobs.
    units
        Number of its units.
    duration
        Its duration in seconds, above 0.
    t
        Time in seconds.
    """
    if a.groups == 0:
        return t
    column, highest = a.column[j], -1
    for r in range(column.size):
        highest = max(highest, column[r])
    if highest < 0:
        return t
    first_k, first_i = find(a, t)
    last_k, last_i = first_k, first_i
    while True:
        last_k, last_i = _find_from(a, t + duration - 1, last_k, last_i)
        k, i = _last_lack(a, column, units, last_k, last_i, first_k, first_i)
        if k < 0:
            return t
        k, i = _next_enough(a, column, units, k, i + 1)
        if k == a.blocks[0]:
            return NEVER
        t = a.time[a.order[k], i]
        first_k = last_k  # the breakpoints before it have been tested
        first_i = last_i + 1
        if k > first_k or (k == first_k and i > first_i):
            first_k, first_i = k, i
