"""The two passes of Slurm over its queue: the main scheduler and the backfill scheduler.

Both take the queue in order and start jobs in the tables of ``Machine``. The main pass stops the partition of the first job
that does not fit, and takes its nodes from the other partitions, up to the end of the pass. The backfill pass keeps a map of
the nodes over time; a job that cannot start now holds the nodes of its earliest start in the map, whole, so that a later job
may use them only if it ends before [SlurmDoc, sched_config].
"""

from __future__ import annotations

import numpy as np

from ...models.array_types import Ints
from ...models.compiled import compiled, internal, native
from .columns import (
    ALLOWED,
    ARRAY,
    ARRAY_LIMIT,
    ARRAY_RESERVES,
    ASSOCIATION,
    BAD_CONSTRAINTS,
    DEPTH,
    ELIGIBLE,
    FLEX,
    FROM,
    IN_UNITS,
    JOBS,
    JOBS_ON,
    KILL_WAIT,
    LIMIT,
    LIMIT_CPUS,
    LIMIT_GPUS,
    LIMIT_MEMORY,
    LIMIT_NODES,
    LIMIT_STOP,
    LIMITS,
    MAINT,
    MAX_NODES,
    MIN_AGE,
    MIN_CPUS,
    MIN_NODES,
    MIN_PRIORITY,
    MOST_STARTS,
    MOST_TASKS,
    NO_RESERVE,
    NODE_NOT_AVAILABLE,
    NONE,
    NOW,
    ON,
    ONE_RESERVE,
    OVER_LIMIT,
    PART_MAX_NODES,
    PART_MIN_NODES,
    PARTITION_RESERVES,
    PER_ASSOCIATION,
    PER_PARTITION,
    PER_USER,
    PER_USER_PARTITION,
    PIECE_FREE,
    PIECE_NODE,
    PRIORITY,
    REQUIRED,
    RESERVATION,
    RESERVED,
    RESOLUTION,
    RESOURCES,
    RUN_COUNT,
    RUN_CPU_SECONDS,
    RUN_END,
    RUN_FIRST,
    RUN_JOB,
    RUN_PARTITION,
    RUN_START,
    RUNNING_RESERVE,
    RUNNING_TASKS,
    SPACE,
    TO,
    UNLIMITED,
    USER,
    WHOLE,
    WHOLE_ON,
    WINDOW,
    Marks,
)
from .selection import EMPTY, NOW_FREE, Machine, pick_nodes, take, take_units, units_on

STARTED = -1  # the reason of a job that a pass has started
FIRST_WINDOW = 30  # seconds: jobs that end this close together are taken off together
MOST_AT_ONCE = 200  # jobs that are taken off before the next test
ALL_NODES = 2  # of MAINT: a reservation of all nodes


@internal
def _shared_limit_reached(j: int, machine: Machine, early: bool) -> int:
    """As ``_limit_reached``, of the limits that all dispatchers share: what a job holds of them is known before its nodes are."""
    if early and machine.parameters[LIMIT_STOP] > 0:
        return NONE
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        g = machine.groups[i, 0]
        if machine.used[g, 0] + machine.groups[i, 1] > machine.caps[g, 0]:
            return LIMITS
    return NONE


@internal
def _limit_reached(j: int, machine: Machine, amounts: Ints, jobs_only: bool) -> int:
    """Return the reason if a limit forbids the start of a job that counts these amounts, else NONE."""
    if machine.parameters[IN_UNITS] > 0:
        return _shared_limit_reached(j, machine, jobs_only)
    columns = machine.caps.shape[1]
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        g = machine.groups[i, 0]
        limits = machine.groups[i, 1]
        for c in range(columns):
            cap = machine.caps[limits, c]
            if cap >= UNLIMITED or (jobs_only and c != JOBS):
                continue
            if amounts[c] > 0 and machine.used[g, c] + amounts[c] > cap:
                return int(LIMITS + 100 * machine.kind[limits] + c)
    return NONE


@internal
def _count(j: int, machine: Machine, number: int, taken: Ints, amounts: Ints) -> None:
    """Write what a job with these nodes counts in the limits."""
    if machine.parameters[IN_UNITS] > 0:
        return
    cpus = 0
    memory = 0
    gpus = 0
    for n in range(taken.shape[0]):
        if taken[n, 0] > 0:
            cpus += taken[n, 0]
            memory += taken[n, 1]
            gpus += taken[n, 2]
    for c in range(amounts.size):
        amounts[c] = machine.need[j, c]
    amounts[LIMIT_CPUS] = cpus
    amounts[LIMIT_NODES] = number
    amounts[LIMIT_MEMORY] = max(memory, amounts[LIMIT_MEMORY])
    amounts[LIMIT_GPUS] = max(gpus, amounts[LIMIT_GPUS])
    amounts[RUN_CPU_SECONDS] = cpus * machine.jobs[j, LIMIT]


@internal
def _start(j: int, p: int, machine: Machine, taken: Ints, amounts: Ints) -> int:
    """Start a job now with these amounts on the nodes; return the row of the run."""
    job = machine.jobs[j]
    now = machine.parameters[NOW]
    r = machine.counts[0]
    machine.counts[0] += 1
    run = machine.runs[r]
    run[RUN_JOB] = j
    run[RUN_START] = now
    run[RUN_END] = now + job[LIMIT]
    run[RUN_FIRST] = machine.counts[1]
    run[RUN_COUNT] = 0
    run[RUN_PARTITION] = p
    for n in range(taken.shape[0]):
        if taken[n, 0] > 0:
            i = machine.counts[1]
            machine.counts[1] += 1
            run[RUN_COUNT] += 1
            machine.pieces[i, PIECE_NODE] = n
            if machine.parameters[IN_UNITS] > 0:
                take_units(j, n, machine, taken[n, 0], machine.pieces[i, PIECE_FREE:])
                continue
            take(job, machine.free[n], machine.pieces[i, PIECE_FREE:], taken[n], job[WHOLE] > 0)
            machine.use[n, JOBS_ON] += 1
            machine.use[n, WHOLE_ON] += job[WHOLE]
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        g = machine.groups[i, 0]
        if machine.parameters[IN_UNITS] > 0:
            machine.used[g, 0] += machine.groups[i, 1]
            continue
        for c in range(amounts.size):
            machine.used[g, c] += amounts[c]
    if job[ARRAY] >= 0:
        machine.arrays[job[ARRAY], RUNNING_TASKS] += 1
    machine.reason[j] = STARTED
    return int(r)


@internal
def _array_full(job: Ints, machine: Machine) -> bool:
    a = job[ARRAY]
    return bool(a >= 0 and 0 < machine.arrays[a, MOST_TASKS] <= machine.arrays[a, RUNNING_TASKS])


@native
def reserved_mask(j: int, p: int, machine: Machine, start: int, mask: Marks) -> int:
    """Take off the mask the nodes that reservations of the machine hold from a job that starts at ``start``.

    Returns 0: no reservation matters; 1: one overlaps the job on nodes of its partition; -1: no node is left, as a
    reservation holds the whole machine or nodes that the job must have; -2: the job's own reservation is not open.
    """
    job = machine.jobs[j]
    nodes = mask.size
    end = start + job[LIMIT]
    own = job[RESERVATION]
    overlap = 0
    if own >= 0:
        mine = machine.reservations[own]
        if mine[FLEX] == 0:
            if start < mine[FROM] or start >= mine[TO]:
                return -2
            for n in range(nodes):
                if not machine.masks[mine[ON], n]:
                    mask[n] = 0
        if mine[MAINT] > 0:
            return 0
    for v in range(machine.reservations.shape[0]):
        other = machine.reservations[v]
        if v == own or other[FROM] >= end or other[TO] <= start:
            continue
        on_partition = False
        inside = True
        for n in range(nodes):
            if machine.masks[other[ON], n]:
                if machine.member[p, n]:
                    on_partition = True
            elif machine.member[p, n]:
                inside = False
        if own < 0 and (other[MAINT] >= ALL_NODES or (other[MAINT] > 0 and inside)):
            return -1
        must = job[REQUIRED]
        for n in range(nodes):
            if machine.masks[other[ON], n]:
                if own < 0 and must >= 0 and machine.masks[must, n]:
                    return -1
                mask[n] = 0
        if on_partition:
            overlap = 1
    return overlap


@internal
def _first_end(machine: Machine, start: int, step: int) -> int:
    """Return the first end of a reservation at or after ``start``, rounded up to ``step``; 0: none."""
    first = 0
    for v in range(machine.reservations.shape[0]):
        end = machine.reservations[v, TO]
        if start > end:
            continue
        if first == 0 or end < first:
            first = end
    return int(-(-first // step) * step)


@internal
def _fits_if_empty(j: int, p: int, machine: Machine, mask: Marks, size: int, taken: Ints) -> bool:
    """Return whether the nodes of the mask, so many, can hold a job if they are empty; noted if these are all of its partition."""
    all_of_it = False
    if machine.parameters[IN_UNITS] > 0:
        up = 0
        for n in range(mask.size):
            up += machine.up[n] & machine.member[p, n]
        all_of_it = size == up
    if all_of_it and machine.fits_empty[j] == p + 1:
        return True
    fits = pick_nodes(j, p, machine, mask, machine.free, machine.use, EMPTY, taken) > 0
    if all_of_it and fits:
        machine.fits_empty[j] = p + 1
    return fits


@compiled
def main_pass(queue: Ints, machine: Machine) -> int:
    """Start jobs as the main scheduler does; return how many were started, in the last rows of ``machine.runs``.

    ``queue`` has a row for each job and partition, in order: job, partition, priority.
    """
    nodes = machine.up.size
    parameters = machine.parameters
    now = parameters[NOW]
    available = machine.up.copy()
    failed = np.zeros(machine.parts.shape[0], np.uint8)
    failed_reservation = np.zeros(machine.reservations.shape[0] + 1, np.uint8)
    looked = np.zeros(machine.parts.shape[0], np.int64)
    mask = np.empty(nodes, np.uint8)
    taken = np.zeros((nodes, 3), np.int64)
    amounts = np.zeros(machine.caps.shape[1], np.int64)
    rejected = -1
    rejected_part = -1
    started = 0
    depth = 0
    for q in range(queue.shape[0]):
        j = queue[q, 0]
        p = queue[q, 1]
        job = machine.jobs[j]
        if machine.reason[j] == STARTED:
            continue
        if parameters[MOST_STARTS] > 0 and started >= parameters[MOST_STARTS]:
            break
        if job[ARRAY] >= 0:
            if rejected == job[ARRAY] and rejected_part == p:
                continue
            rejected = job[ARRAY]
            rejected_part = p
            if _array_full(job, machine):
                machine.reason[j] = ARRAY_LIMIT
                continue
        looked[p] += 1
        if 0 < parameters[PER_PARTITION] < looked[p]:
            machine.reason[j] = PRIORITY
            continue
        depth += 1
        if depth > parameters[DEPTH] + 1:
            break
        own = job[RESERVATION]
        if own >= 0:
            if failed_reservation[own]:
                machine.reason[j] = PRIORITY
                continue
        elif failed[p]:
            machine.reason[j] = PRIORITY
            continue
        why = _limit_reached(j, machine, machine.need[j], True)
        if why != NONE:
            machine.reason[j] = why
            continue
        fails = False
        left = 0
        for n in range(nodes):
            left += available[n] & machine.member[p, n]
        if job[MIN_NODES] > left:
            machine.reason[j] = RESOURCES
            fails = True
        else:
            for n in range(nodes):
                mask[n] = available[n] & machine.member[p, n]
            overlap = reserved_mask(j, p, machine, now, mask)
            if overlap == -2:
                machine.reason[j] = RESERVED
                continue
            if overlap == -1:
                mask[:] = 0
            number = pick_nodes(j, p, machine, mask, machine.free, machine.use, NOW_FREE, taken)
            if number > 0:
                _count(j, machine, number, taken, amounts)
                why = _limit_reached(j, machine, amounts, False)
                if why == NONE:
                    _start(j, p, machine, taken, amounts)
                    started += 1
                    rejected = -1
                else:
                    machine.reason[j] = why
                    fails = parameters[LIMIT_STOP] > 0
            else:
                why = _limit_reached(j, machine, machine.need[j], False)
                busy = False
                size = 0
                for n in range(nodes):
                    size += mask[n]
                    if mask[n] and machine.use[n, WHOLE_ON] > 0:
                        busy = True
                if why != NONE:
                    machine.reason[j] = why
                    fails = parameters[LIMIT_STOP] > 0
                elif size > 0 and _fits_if_empty(j, p, machine, mask, size, taken):
                    machine.reason[j] = RESOURCES
                    fails = True
                elif pick_nodes(j, p, machine, machine.member[p], machine.free, machine.use, EMPTY, taken) == 0:
                    machine.reason[j] = RESERVED if overlap == 1 else BAD_CONSTRAINTS
                elif busy:
                    machine.reason[j] = RESOURCES
                    fails = True
                else:
                    machine.reason[j] = NODE_NOT_AVAILABLE
            if machine.reason[j] != STARTED and job[REQUIRED] >= 0:
                fails = False
                for n in range(nodes):
                    if machine.masks[job[REQUIRED], n]:
                        available[n] = 0
            if fails and own >= 0:
                fails = False
                failed_reservation[own] = 1
            if fails and parameters[MIN_AGE] > 0 and now - job[ELIGIBLE] < parameters[MIN_AGE]:
                fails = False
            if fails and queue[q, 2] < parameters[MIN_PRIORITY]:
                fails = False
        if fails and not failed[p]:
            failed[p] = 1
            for n in range(nodes):
                if machine.member[p, n]:
                    available[n] = 0
    return started


@internal
def _sort_runs(machine: Machine, order: Ints) -> None:
    """Write the rows of the running jobs, by their ends and then their jobs."""
    number = machine.counts[0]
    keys = np.empty(number, np.int64)
    for r in range(number):
        order[r] = r
        keys[r] = machine.runs[r, RUN_END]
    # merge sort: the rows are in order of their starts, and equal ends stay in order
    width = 1
    other = np.empty(number, np.int64)
    while width < number:
        for first in range(0, number, 2 * width):
            middle = min(first + width, number)
            last = min(first + 2 * width, number)
            a = first
            b = middle
            for k in range(first, last):
                if a < middle and (b >= last or keys[order[a]] <= keys[order[b]]):
                    other[k] = order[a]
                    a += 1
                else:
                    other[k] = order[b]
                    b += 1
        for k in range(number):
            order[k] = other[k]
        width *= 2


@internal
def _insert_run(machine: Machine, order: Ints, number: int, r: int) -> None:
    """Put the run r into the first ``number`` rows that are sorted."""
    i = number
    while i > 0 and machine.runs[order[i - 1], RUN_END] > machine.runs[r, RUN_END]:
        order[i] = order[i - 1]
        i -= 1
    order[i] = r


@internal
def _overlaps(machine: Machine, r: int, mask: Marks) -> bool:
    first = machine.runs[r, RUN_FIRST]
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        if mask[machine.pieces[i, PIECE_NODE]]:
            return True
    return False


@internal
def _give_back_units(j: int, machine: Machine, r: int, mask: Marks, free: Ints) -> int:
    """Add what a running job has on the nodes of the mask to what is free; return for how many more units of job j it is room."""
    first = machine.runs[r, RUN_FIRST]
    allowed = machine.jobs[j, ALLOWED]
    more = 0
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        n = machine.pieces[i, PIECE_NODE]
        if mask[n]:
            may = allowed < 0 or machine.masks[allowed, n] > 0
            if may:
                more -= units_on(j, n, machine, free, NOW_FREE)
            for c in range(free.shape[1]):
                free[n, c] += machine.pieces[i, PIECE_FREE + c]
            if may:
                more += units_on(j, n, machine, free, NOW_FREE)
    return more


@internal
def _room(j: int, machine: Machine, mask: Marks, free: Ints) -> int:
    """Return for how many units of job j there is room on the nodes of the mask."""
    allowed = machine.jobs[j, ALLOWED]
    room = 0
    for n in range(mask.size):
        if mask[n] and (allowed < 0 or machine.masks[allowed, n]):
            room += units_on(j, n, machine, free, NOW_FREE)
    return room


@internal
def _give_back(machine: Machine, r: int, mask: Marks, free: Ints, use: Ints) -> None:
    """Add what a running job has on the nodes of the mask to what is free."""
    first = machine.runs[r, RUN_FIRST]
    whole = machine.jobs[machine.runs[r, RUN_JOB], WHOLE]
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        n = machine.pieces[i, PIECE_NODE]
        if mask[n]:
            for c in range(free.shape[1]):
                free[n, c] += machine.pieces[i, PIECE_FREE + c]
            use[n, JOBS_ON] -= 1
            use[n, WHOLE_ON] -= whole


@native
def earliest_start(
    j: int, p: int, machine: Machine, mask: Marks, order: Ints, number: int, now_only: bool, taken: Ints
) -> int:
    """Return when a job can start on nodes of the mask if jobs run to their limits; -1: not in sight.

    The running jobs (``order``, the first ``number``) are taken off in the order of their ends, those that end close
    together at once: within 30 s of the first, then 60 s, 120 s, ... The start is the end of the last one taken off.
    """
    now = int(machine.parameters[NOW])
    in_units = machine.parameters[IN_UNITS] > 0
    wanted = machine.jobs[j, MIN_CPUS]
    room = wanted  # units that fit at most; with too few of them no nodes need be looked for
    if in_units:
        room = _room(j, machine, mask, machine.free)
    if room >= wanted and pick_nodes(j, p, machine, mask, machine.free, machine.use, NOW_FREE, taken) > 0:
        return now
    if now_only:
        return -1
    free = machine.free.copy()
    use = machine.use
    if not in_units:
        use = machine.use.copy()
    window = FIRST_WINDOW
    aligned = 0
    i = 0
    while True:
        last = -1
        removed = 0
        more = True
        tests = True
        while True:
            if i >= number:
                more = False
                break
            r = order[i]
            i += 1
            if not _overlaps(machine, r, mask):
                continue
            end = machine.runs[r, RUN_END]
            if aligned == 0:
                aligned = end + FIRST_WINDOW - end % FIRST_WINDOW
            last = r
            if in_units:
                room += _give_back_units(j, machine, r, mask, free)
            else:
                _give_back(machine, r, mask, free, use)
            if i >= number:
                more = False
                break
            if machine.runs[order[i], RUN_END] > aligned + window:
                break
            removed += 1
            if removed > MOST_AT_ONCE + 1:
                tests = False
                break
        if last < 0:
            return -1
        if tests:
            window *= 2
            while i < number and machine.runs[order[i], RUN_END] > aligned + window:
                window *= 2
            if room >= wanted and pick_nodes(j, p, machine, mask, free, use, NOW_FREE, taken) > 0:
                end = int(machine.runs[last, RUN_END])
                if end <= now:
                    over = machine.parts[machine.runs[last, RUN_PARTITION], OVER_LIMIT]
                    end = int(end + machine.parameters[KILL_WAIT] + over)
                    end = max(end, now + 1)
                return end
        if not more:
            return -1


@internal
def _add_to_map(
    begin: int, end: int, taken: Marks, starts: Ints, ends: Ints, follows: Ints, bits: Marks, rows: int, step: int
) -> int:
    """Take nodes off the map from ``begin`` to ``end``; return the number of rows in use."""
    begin = max(begin, starts[0])
    end = max(end, begin + step)
    nodes = taken.size
    i = 0
    placed = False
    while True:  # the row in which it begins
        if ends[i] > begin:
            k = rows
            rows += 1
            starts[k] = begin
            ends[k] = ends[i]
            ends[i] = begin
            for n in range(nodes):
                bits[k, n] = bits[i, n]
            follows[k] = follows[i]
            follows[i] = k
            placed = True
            break
        if ends[i] == begin:
            placed = True
            break
        if follows[i] == 0:
            break
        i = follows[i]
    while placed and follows[i] != 0:
        i = follows[i]
        if end < ends[i]:
            k = rows
            rows += 1
            starts[k] = end
            ends[k] = ends[i]
            ends[i] = end
            for n in range(nodes):
                bits[k, n] = bits[i, n]
            follows[k] = follows[i]
            follows[i] = k
        for n in range(nodes):
            if taken[n]:
                bits[i, n] = 0
        if end == ends[i]:
            break
    return rows


@internal
def _later(
    machine: Machine, p: int, mask: Marks, start: int, end: int, starts: Ints, ends: Ints, follows: Ints, bits: Marks
) -> int:
    """Take off the mask what the map holds between start and end; return when more nodes may be free, 0: never."""
    nodes = mask.size
    original = mask.copy()
    later = 0
    i = 0
    while True:
        k = follows[i]
        if ends[i] > start and k != 0 and later == 0:
            for n in range(nodes):  # the next row has a node that this one does not have
                if original[n] and bits[k, n] and not (mask[n] and bits[i, n]):
                    later = ends[i]
                    break
        if ends[i] > start:
            if starts[i] > end:
                break
            for n in range(nodes):
                mask[n] &= bits[i, n]
        if k == 0:
            break
        i = k
    return int(later)


@internal
def _map_conflict(taken: Ints, start: int, end: int, starts: Ints, ends: Ints, follows: Ints, bits: Marks) -> bool:
    """Return whether the map holds a node of the job between start and end."""
    i = 0
    while True:
        if ends[i] > start and starts[i] < end:
            for n in range(taken.shape[0]):
                if taken[n, 0] > 0 and not bits[i, n]:
                    return True
        if follows[i] == 0:
            return False
        i = follows[i]


@compiled
def backfill_pass(queue: Ints, machine: Machine, users: int, associations: int) -> int:
    """Start jobs as the backfill scheduler does; return how many were started, in the last rows of ``machine.runs``.

    Parameters
    ----------
    queue
        A row for each job and partition, in order: job, partition, priority.
    machine
        The tables; ``machine.planned`` gets the planned starts, 0: none.
    users, associations
        Their numbers.
    """
    nodes = machine.up.size
    parts = machine.parts.shape[0]
    parameters = machine.parameters
    now = int(parameters[NOW])
    step = int(parameters[RESOLUTION])
    space = int(parameters[SPACE])
    most_rows = 2 * queue.shape[0] + 2  # what is taken off the map splits two of its rows
    if parameters[RUNNING_RESERVE] > 0:
        most_rows += 2 * int(machine.counts[0])
    most_rows = min(space, most_rows) + 4
    starts = np.zeros(most_rows, np.int64)
    ends = np.zeros(most_rows, np.int64)
    follows = np.zeros(most_rows, np.int64)
    bits = np.empty((most_rows, nodes), np.uint8)
    starts[0] = now // step * step
    window_end = (now + parameters[WINDOW]) // step * step
    ends[0] = window_end
    for n in range(nodes):
        bits[0, n] = machine.up[n]
    rows = 1
    order = np.empty(machine.counts[0] + queue.shape[0] + 1, np.int64)
    _sort_runs(machine, order)
    runs = int(machine.counts[0])
    mask = np.empty(nodes, np.uint8)
    own_nodes = np.zeros(nodes, np.uint8)
    taken = np.zeros((nodes, 3), np.int64)
    amounts = np.zeros(machine.caps.shape[1], np.int64)
    per_part = np.zeros(parts, np.int64)
    per_user = np.zeros(users + 1, np.int64)
    per_user_part = np.zeros((users + 1, parts), np.int64)
    per_association = np.zeros(associations + 1, np.int64)
    reserves = np.zeros(parts, np.int64)
    if parameters[RUNNING_RESERVE] > 0:
        for r in range(runs):
            if machine.jobs[machine.runs[r, RUN_JOB], WHOLE] and rows < space:
                own_nodes[:] = 0
                for i in range(machine.runs[r, RUN_FIRST], machine.runs[r, RUN_FIRST] + machine.runs[r, RUN_COUNT]):
                    own_nodes[machine.pieces[i, PIECE_NODE]] = 1
                rows = _add_to_map(
                    0, machine.runs[r, RUN_END] // step * step, own_nodes, starts, ends, follows, bits, rows, step
                )
    rejected = -1
    rejected_part = -1
    array_tested = -1
    array_number = 0
    started = 0
    tried = 0
    for q in range(queue.shape[0]):
        j = queue[q, 0]
        p = queue[q, 1]
        job = machine.jobs[j]
        part = machine.parts[p]
        if tried >= parameters[DEPTH]:
            break
        if machine.reason[j] == STARTED:
            continue
        if job[ARRAY] >= 0:
            if rejected == job[ARRAY] and rejected_part == p:
                continue
            if array_tested == job[ARRAY] and array_number >= parameters[ARRAY_RESERVES]:
                continue
            rejected = job[ARRAY]
            rejected_part = p
            if _array_full(job, machine):
                machine.reason[j] = ARRAY_LIMIT
                continue
        why = _limit_reached(j, machine, machine.need[j], True)
        if why != NONE and parameters[LIMIT_STOP] == 0:
            machine.reason[j] = why
            continue
        now_only = queue[q, 2] < parameters[MIN_PRIORITY]
        if parameters[MIN_AGE] > 0 and now - job[ELIGIBLE] < parameters[MIN_AGE]:
            now_only = True
        if parameters[ONE_RESERVE] > 0 and machine.planned[j] > 0:
            now_only = True
        if 0 < parameters[PARTITION_RESERVES] <= reserves[p]:
            now_only = True
        if 0 < parameters[PER_USER_PARTITION] <= per_user_part[job[USER], p]:
            continue
        if 0 < parameters[PER_PARTITION] <= per_part[p]:
            continue
        if 0 < parameters[PER_ASSOCIATION] <= per_association[job[ASSOCIATION]]:
            continue
        if 0 < parameters[PER_USER] <= per_user[job[USER]]:
            continue
        per_user_part[job[USER], p] += 1
        per_part[p] += 1
        per_association[job[ASSOCIATION]] += 1
        per_user[job[USER]] += 1
        least = max(job[MIN_NODES], part[PART_MIN_NODES])
        if part[PART_MAX_NODES] < least or (job[MAX_NODES] > 0 and job[MAX_NODES] < least):
            continue
        limit = int(job[LIMIT])
        before = int(machine.planned[j])
        counted = False
        following = now
        while following >= now:
            begin = following
            following = -1
            for n in range(nodes):
                mask[n] = machine.up[n] & machine.member[p, n]
            overlap = reserved_mask(j, p, machine, begin, mask)
            moves = 0
            while overlap < 0 and moves < 10:  # to the end of what is in the way
                own = job[RESERVATION]
                moved = begin
                if overlap == -2 and begin < machine.reservations[own, FROM]:
                    moved = int(machine.reservations[own, FROM])
                elif overlap == -1:
                    moved = _first_end(machine, begin + 1, 1)
                if moved <= begin or overlap == -2:
                    break
                begin = moved
                for n in range(nodes):
                    mask[n] = machine.up[n] & machine.member[p, n]
                overlap = reserved_mask(j, p, machine, begin, mask)
                moves += 1
            if overlap < 0:
                machine.reason[j] = RESERVED
                break
            later = _later(machine, p, mask, begin, begin + limit, starts, ends, follows, bits)
            if overlap == 1:
                over = _first_end(machine, begin, step) + 1
                if over > 1 and over < window_end and (later == 0 or over < later):
                    later = over
            size = 0
            for n in range(nodes):
                size += mask[n]
            if size < least:
                if later > 0 and not now_only:
                    following = later
                    continue
                break
            if not counted:
                tried += 1
                counted = True
            start = earliest_start(j, p, machine, mask, order, runs, now_only, taken)
            if start < 0:
                if later > 0 and not now_only:
                    following = later
                    continue
                break
            start = max(start, begin)
            if start <= now:
                number = 0
                for n in range(nodes):
                    number += taken[n, 0] > 0
                _count(j, machine, number, taken, amounts)
                why = _limit_reached(j, machine, amounts, False)
                if why == NONE:
                    r = _start(j, p, machine, taken, amounts)
                    _insert_run(machine, order, runs, r)
                    runs += 1
                    started += 1
                    rejected = -1
                    if job[WHOLE] and rows < space:
                        for n in range(nodes):
                            own_nodes[n] = taken[n, 0] > 0
                        rows = _add_to_map(
                            0, (now + limit) // step * step, own_nodes, starts, ends, follows, bits, rows, step
                        )
                    break
                machine.reason[j] = why
                if parameters[LIMIT_STOP] == 0:
                    break
                start = later if later > 0 else now + 500
            if now_only:
                break
            if later > 0 and start > later:
                following = later
                continue
            end = (start + limit) // step * step
            if start > now + parameters[WINDOW]:
                break
            from_ = start // step * step
            if _map_conflict(taken, from_, end, starts, ends, follows, bits):
                following = start
                continue
            if parameters[LIMIT_STOP] == 0:
                number = 0
                for n in range(nodes):
                    number += taken[n, 0] > 0
                _count(j, machine, number, taken, amounts)
                why = _limit_reached(j, machine, amounts, False)
                if why != NONE:
                    machine.reason[j] = why
                    break
            if job[NO_RESERVE] > 0:
                break
            if parameters[PARTITION_RESERVES] > 0:
                reserves[p] += 1
            rejected = -1
            if before == 0 or start < before:
                machine.planned[j] = start
            if rows >= space:
                return started
            for n in range(nodes):
                own_nodes[n] = taken[n, 0] > 0
            rows = _add_to_map(from_, end, own_nodes, starts, ends, follows, bits, rows, step)
            if job[ARRAY] >= 0:
                if array_tested != job[ARRAY]:
                    array_tested = job[ARRAY]
                    array_number = 0
                array_number += 1
            break
        if 0 < parameters[MOST_STARTS] <= started:
            break
    return started
