"""The two passes of Slurm over its queue: the main scheduler and the backfill scheduler.

Both take the queue in order and start jobs in the tables of ``Machine``. The main pass stops the partition of the first job
that does not fit, and takes its nodes from the other partitions, up to the end of the pass. The backfill pass keeps a map of
the nodes over time; a job that cannot start now holds the nodes of its earliest start in the map, whole, so that a later job
may use them only if it ends before [SlurmDoc, sched_config].
"""

from __future__ import annotations

import numpy as np

from ...models.array_types import Ints
from ...models.compiled import compiled, internal_borrowing, native
from .columns import (
    ALLOWED,
    ARRAY,
    ARRAY_LIMIT,
    ARRAY_RESERVES,
    ASSOCIATION,
    BAD_CONSTRAINTS,
    BITS_OF_PARTITIONS,
    BUSY_NODES,
    CONTIGUOUS,
    CPU_AMOUNT,
    CPUS,
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
    MIN_NODES,
    MIN_PRIORITY,
    MOST_ON,
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
    QUEUE_JOB,
    QUEUE_NUMBER,
    QUEUE_PARTITION,
    QUEUE_PRIORITY,
    RELEASES,
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
    RUN_TOUCHES,
    RUNNING_RESERVE,
    RUNNING_TASKS,
    SPACE,
    TIER,
    TO,
    TRIED_KIND,
    TRIED_PARTITION,
    TRIED_RELEASES,
    TRIED_UNITS,
    UNIT_CPUS,
    UNITS,
    UNLIMITED,
    USE_COLUMNS,
    USER,
    WHOLE,
    WHOLE_ON,
    WINDOW,
)
from .node_bits import (
    add_node,
    copy_set,
    has_node,
    intersection,
    is_within,
    keep_both,
    lowest,
    meets,
    number_in,
    number_in_both,
    remove_all,
)
from .selection import (
    BUSY_FIRST,
    EMPTY,
    MANY,
    NOW_FREE,
    TAKEN_CPUS,
    TAKEN_GPUS,
    TAKEN_MEMORY,
    TAKEN_NODE,
    Machine,
    candidates,
    note_free,
    pick_nodes,
    room_for_units,
    take,
    take_units,
    units_on,
)

STARTED = -1  # the reason of a job that a pass has started
FIRST_WINDOW = 30  # seconds: jobs that end this close together are taken off together
MOST_AT_ONCE = 200  # jobs that are taken off before the next test
OF_QOS = 0  # the kind of a limit of all jobs of a QOS together (limits.QOS_GROUP), where jobs are not counted in units
COUNTS_JOBS = 1  # the kind of a limit that all dispatchers share, and of which each job holds 1
SHARED_OF_QOS = 2  # of one that all dispatchers share, of what all jobs of a QOS together have, but not of their number
ALL_NODES = 2  # of MAINT: a reservation of all nodes


@internal_borrowing
def _count_least(j: int, machine: Machine) -> None:
    """Let a job with whole nodes count in the limits what it has at least, as its nodes are not chosen. Where units are counted."""
    if machine.parameters[IN_UNITS] > 0 and machine.jobs[j, WHOLE]:
        for i in range(machine.first_group[j], machine.first_group[j + 1]):
            machine.groups[i, 1] = machine.groups[i, 3]


@internal_borrowing
def _count_chosen(j: int, machine: Machine, size: int) -> None:
    """Let a job with whole nodes count in the limits all CPUs of the nodes that are chosen. Where units are counted."""
    column = machine.parameters[CPU_AMOUNT]
    if not machine.jobs[j, WHOLE] or column < 0:
        return
    taken = machine.work.taken
    cpus = 0
    for k in range(size):
        if taken[k, TAKEN_CPUS] > 0:
            cpus += machine.total[taken[k, TAKEN_NODE], column]
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        if machine.groups[i, 4] > 0:
            machine.groups[i, 1] = cpus


@internal_borrowing
def _shared_limit_reached(j: int, machine: Machine, early: bool) -> int:
    """As ``_limit_reached``, of the limits that all dispatchers share; ``early``: of those that count jobs, not amounts."""
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        g = machine.groups[i, 0]
        if early and machine.kind[g] != COUNTS_JOBS:
            continue
        if machine.groups[i, 2] > 0 and machine.used[g, 0] + machine.groups[i, 1] > machine.caps[g, 0]:
            return LIMITS
    return NONE


@internal_borrowing
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


@internal_borrowing
def _blocked_until(j: int, machine: Machine, blocked: Ints) -> int:
    """Return until when the QOS of a job are blocked, where the limits of all their jobs together are reached; 0: they are not."""
    until = 0
    shared = machine.parameters[IN_UNITS] > 0
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        if shared:
            of_qos = machine.kind[machine.groups[i, 0]] == SHARED_OF_QOS
        else:
            of_qos = machine.kind[machine.groups[i, 1]] == OF_QOS
        if of_qos:
            until = max(until, blocked[machine.groups[i, 0]])
    return until


@internal_borrowing
def _block(j: int, machine: Machine, amounts: Ints, time: int, blocked: Ints) -> None:
    """Block a QOS until a time, if the first limit that a job would exceed is one of all jobs of that QOS together."""
    shared = machine.parameters[IN_UNITS] > 0
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        g = machine.groups[i, 0]
        if shared:
            if machine.groups[i, 2] > 0 and machine.used[g, 0] + machine.groups[i, 1] > machine.caps[g, 0]:
                if machine.kind[g] == SHARED_OF_QOS:
                    blocked[g] = max(blocked[g], time)
                return
            continue
        limits = machine.groups[i, 1]
        for c in range(machine.caps.shape[1]):
            cap = machine.caps[limits, c]
            if cap < UNLIMITED and amounts[c] > 0 and machine.used[g, c] + amounts[c] > cap:
                if machine.kind[limits] == OF_QOS and c != JOBS:
                    blocked[g] = max(blocked[g], time)
                return


@internal_borrowing
def _count(j: int, machine: Machine, number: int, size: int, amounts: Ints) -> None:
    """Write what a job with so many nodes, and the first ``size`` rows of the choice, counts in the limits."""
    if machine.parameters[IN_UNITS] > 0:
        _count_chosen(j, machine, size)
        return
    taken = machine.work.taken
    cpus = 0
    memory = 0
    gpus = 0
    for k in range(size):
        if taken[k, TAKEN_CPUS] > 0:
            cpus += taken[k, TAKEN_CPUS]
            memory += taken[k, TAKEN_MEMORY]
            gpus += taken[k, TAKEN_GPUS]
    for c in range(amounts.size):
        amounts[c] = machine.need[j, c]
    amounts[LIMIT_CPUS] = cpus
    amounts[LIMIT_NODES] = number
    amounts[LIMIT_MEMORY] = max(memory, amounts[LIMIT_MEMORY])
    amounts[LIMIT_GPUS] = max(gpus, amounts[LIMIT_GPUS])
    amounts[RUN_CPU_SECONDS] = cpus * machine.jobs[j, LIMIT]


# The running jobs in the order of their ends by the limits. Of equal ends, the one that came first into Slurm's list of jobs
# comes first: a job comes into it when it is submitted, a task of a job array when it is split off to start.


@internal_borrowing
def _listed(machine: Machine, r: int) -> int:
    """Return when the job of a run came into the list of jobs."""
    j = machine.runs[r, RUN_JOB]
    if machine.jobs[j, ARRAY] >= 0:
        return int(machine.runs[r, RUN_END] - machine.jobs[j, LIMIT])
    return int(machine.place[j, 0])


@internal_borrowing
def _ends_after(machine: Machine, one: int, other: int) -> bool:
    """Return whether a run comes after another one in the order of the ends."""
    if machine.runs[one, RUN_END] != machine.runs[other, RUN_END]:
        return bool(machine.runs[one, RUN_END] > machine.runs[other, RUN_END])
    first = _listed(machine, one)
    second = _listed(machine, other)
    if first != second:
        return first > second
    a = machine.runs[one, RUN_JOB]
    b = machine.runs[other, RUN_JOB]
    for k in range(1, machine.place.shape[1]):
        if machine.place[a, k] != machine.place[b, k]:
            return bool(machine.place[a, k] > machine.place[b, k])
    return False


def order_of_ends(machine: Machine) -> Ints:
    """Return the rows of the running jobs in the order of their ends, as ``_ends_after`` compares them."""
    runs = machine.runs[: machine.counts[0]]
    rows = runs[:, RUN_JOB]
    place = machine.place[rows]
    tasks = machine.jobs[rows, ARRAY] >= 0
    listed = np.where(tasks, runs[:, RUN_END] - machine.jobs[rows, LIMIT], place[:, 0])
    return np.lexsort((*place[:, :0:-1].T, listed, runs[:, RUN_END]))


@internal_borrowing
def _insert_run(machine: Machine, r: int) -> None:
    """Put the run r, which is the last one to start, into the order of the ends."""
    order = machine.order
    i = machine.counts[0]
    while i > 0 and _ends_after(machine, order[i - 1], r):
        order[i] = order[i - 1]
        i -= 1
    order[i] = r


@internal_borrowing
def look_ahead(machine: Machine, number: int) -> None:
    """Find out which nodes are empty after the first ``number`` running jobs have ended, and after fewer."""
    work = machine.work
    if work.ahead[0] == 0:
        copy_set(machine.some[machine.some.shape[0] - 1], work.after[0])
    for k in range(work.ahead[0], number):
        copy_set(work.after[k], work.after[k + 1])
        run = machine.runs[machine.order[k]]
        for i in range(run[RUN_FIRST], run[RUN_FIRST] + run[RUN_COUNT]):
            n = machine.pieces[i, PIECE_NODE]
            empty = True
            for c in range(work.ahead_free.shape[1]):
                work.ahead_free[n, c] += machine.pieces[i, PIECE_FREE + c]
                if work.ahead_free[n, c] < machine.total[n, c]:
                    empty = False
            if empty:
                add_node(work.after[k + 1], n)
        work.ahead[0] = k + 1


@internal_borrowing
def stop_looking_ahead(machine: Machine) -> None:
    """Let ``ahead_free`` be what is free now."""
    work = machine.work
    for k in range(work.ahead[0]):
        run = machine.runs[machine.order[k]]
        for i in range(run[RUN_FIRST], run[RUN_FIRST] + run[RUN_COUNT]):
            n = machine.pieces[i, PIECE_NODE]
            for c in range(work.ahead_free.shape[1]):
                work.ahead_free[n, c] = machine.free[n, c]
    work.ahead[0] = 0
    work.ahead[1] = 0


@internal_borrowing
def _touch(machine: Machine, number: int) -> None:
    """Find out of which nodes something is free after the first ``number`` running jobs have ended, and after fewer.

    ``ahead[1]`` is one more than the number of jobs for which that is known.
    """
    work = machine.work
    if work.ahead[1] == 0:
        for w in range(work.touched.shape[1]):
            word = machine.some[0, w]
            for r in range(1, machine.some.shape[0] - 1):
                word |= machine.some[r, w]
            work.touched[0, w] = word
        work.ahead[1] = 1
    for k in range(work.ahead[1] - 1, number):
        copy_set(work.touched[k], work.touched[k + 1])
        run = machine.runs[machine.order[k]]
        for i in range(run[RUN_FIRST], run[RUN_FIRST] + run[RUN_COUNT]):
            add_node(work.touched[k + 1], machine.pieces[i, PIECE_NODE])
    work.ahead[1] = max(work.ahead[1], number + 1)


@internal_borrowing
def _ended_by(machine: Machine, time: int) -> int:
    """Return how many running jobs have ended by a time, by their limits; 0: all of them have."""
    number = machine.counts[0]
    if time == 0:
        return int(number)
    low = 0
    high = number
    while low < high:
        middle = (low + high) // 2
        if machine.runs[machine.order[middle], RUN_END] <= time:
            low = middle + 1
        else:
            high = middle
    return int(low)


@internal_borrowing
def may_fit_by(j: int, machine: Machine, mask: Ints, latest: int) -> bool:
    """Return False if a job cannot fit on nodes of the mask by a time, as too few of them have something free until then.

    0: no time is too late. Where units are counted; else True.
    """
    work = machine.work
    if machine.parameters[IN_UNITS] == 0 or machine.counts[0] + 1 >= work.touched.shape[0]:
        return True
    if machine.jobs[j, MOST_ON] >= MANY:  # its units may be on full nodes, too
        return True
    number = _ended_by(machine, latest)
    _touch(machine, number)
    room = number_in_both(mask, work.touched[number]) * machine.jobs[j, MOST_ON]
    return bool(room >= machine.jobs[j, UNITS])


@internal_borrowing
def set_as_now(machine: Machine, n: int) -> None:
    """Let what will be free on node n be what is free now; nobody looks ahead."""
    _take_back_on(machine, n)
    if machine.parameters[IN_UNITS] > 0:
        for c in range(machine.free.shape[1]):
            machine.work.ahead_free[n, c] = machine.free[n, c]


@internal_borrowing
def _take_back_on(machine: Machine, n: int) -> None:
    """Let what a search for an earliest start has freed on node n be what is free now; what ``look_ahead`` knows stays."""
    work = machine.work
    for c in range(work.free.shape[1]):
        work.free[n, c] = machine.free[n, c]
    if machine.parameters[IN_UNITS] > 0:
        note_free(n, machine, work.free, work.some)
    else:
        for c in range(work.use.shape[1]):
            work.use[n, c] = machine.use[n, c]


@internal_borrowing
def _partitions_touched(machine: Machine, first: int, number: int) -> int:
    """Return the partitions, as bits, that have a node of some pieces."""
    touched = 0
    for p in range(min(machine.parts.shape[0], BITS_OF_PARTITIONS)):
        for i in range(first, first + number):
            if has_node(machine.member[p], machine.pieces[i, PIECE_NODE]):
                touched |= 1 << p
                break
    return touched


@internal_borrowing
def _start(j: int, p: int, machine: Machine, size: int, amounts: Ints) -> int:
    """Start a job now on the nodes of the first ``size`` rows of the choice; return the row of the run."""
    taken = machine.work.taken
    stop_looking_ahead(machine)
    job = machine.jobs[j]
    now = machine.parameters[NOW]
    r = machine.counts[0]
    run = machine.runs[r]
    run[RUN_JOB] = j
    run[RUN_START] = now
    run[RUN_END] = now + job[LIMIT]
    run[RUN_FIRST] = machine.counts[1]
    run[RUN_COUNT] = 0
    run[RUN_PARTITION] = p
    _insert_run(machine, r)
    machine.counts[0] += 1
    for k in range(size):
        n = taken[k, TAKEN_NODE]
        if taken[k, TAKEN_CPUS] > 0:
            i = machine.counts[1]
            machine.counts[1] += 1
            run[RUN_COUNT] += 1
            machine.pieces[i, PIECE_NODE] = n
            if machine.parameters[IN_UNITS] > 0:
                units = taken[k, TAKEN_CPUS] // job[UNIT_CPUS]
                take_units(j, n, machine, units, machine.pieces[i, PIECE_FREE:])
                machine.use[n, WHOLE_ON] += job[WHOLE]
                set_as_now(machine, n)
                continue
            take(job, machine.free[n], machine.pieces[i, PIECE_FREE:], taken[k], job[WHOLE] > 0)
            machine.use[n, JOBS_ON] += 1
            machine.use[n, WHOLE_ON] += job[WHOLE]
            machine.use[n, USE_COLUMNS + p] += taken[k, TAKEN_CPUS]
            set_as_now(machine, n)
    run[RUN_TOUCHES] = _partitions_touched(machine, run[RUN_FIRST], run[RUN_COUNT])
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


@internal_borrowing
def _row_of_tried(j: int, p: int, machine: Machine) -> int:
    """Return the row of ``tried`` for a job in a partition."""
    return int((machine.request_kind[j] * machine.parts.shape[0] + p) % machine.tried.shape[0])


@internal_borrowing
def _is_tried(j: int, p: int, machine: Machine) -> bool:
    """Return whether the row of ``tried`` is about jobs like this one, and still holds."""
    row = machine.tried[_row_of_tried(j, p, machine)]
    same = row[TRIED_KIND] == machine.request_kind[j] and row[TRIED_PARTITION] == p
    return bool(same and row[TRIED_RELEASES] == machine.parameters[RELEASES])


@internal_borrowing
def _has_none(j: int, p: int, machine: Machine) -> bool:
    """Return whether a job is known to have no room now in a partition."""
    if not _is_tried(j, p, machine):
        return False
    return bool(machine.jobs[j, UNITS] >= machine.tried[_row_of_tried(j, p, machine), TRIED_UNITS])


@internal_borrowing
def has_room(j: int, p: int, machine: Machine) -> bool:
    """Return whether a job has room now, on all nodes of its partition and by its limits; else no pass starts it. In units only."""
    _count_least(j, machine)
    if _has_none(j, p, machine) or _shared_limit_reached(j, machine, False) != NONE:
        return False
    mask = machine.work.mask
    intersection(machine.up, machine.member[p], mask)
    wanted = machine.jobs[j, UNITS]
    if room_for_units(j, machine, mask, machine.free, machine.some, NOW_FREE, wanted, 1):
        return True
    row = machine.tried[_row_of_tried(j, p, machine)]
    row[TRIED_KIND] = machine.request_kind[j]
    row[TRIED_PARTITION] = p
    row[TRIED_RELEASES] = machine.parameters[RELEASES]
    row[TRIED_UNITS] = wanted
    return False


@internal_borrowing
def last_with_room(queue: Ints, size: int, machine: Machine) -> int:
    """Return the last of the first ``size`` rows of a queue whose job has room; -1: none has. A pass starts no job after that row."""
    for q in range(size - 1, -1, -1):
        if has_room(queue[q, QUEUE_JOB], queue[q, QUEUE_PARTITION], machine):
            return q
    return -1


@internal_borrowing
def _array_full(job: Ints, machine: Machine) -> bool:
    a = job[ARRAY]
    return bool(a >= 0 and 0 < machine.arrays[a, MOST_TASKS] <= machine.arrays[a, RUNNING_TASKS])


@native
def reserved_mask(j: int, p: int, machine: Machine, start: int, mask: Ints) -> int:
    """Take off the mask the nodes that reservations of the machine hold from a job that starts at ``start``.

    Returns 0: no reservation matters; 1: one overlaps the job on nodes of its partition; -1: no node is left, as a
    reservation holds the whole machine or nodes that the job must have; -2: the job's own reservation is not open.
    """
    job = machine.jobs[j]
    end = start + job[LIMIT]
    own = job[RESERVATION]
    overlap = 0
    if own >= 0:
        mine = machine.reservations[own]
        if mine[FLEX] == 0:
            if start < mine[FROM] or start >= mine[TO]:
                return -2
            keep_both(mask, machine.masks[mine[ON]])
        if mine[MAINT] > 0:
            return 0
    for v in range(machine.reservations.shape[0]):
        other = machine.reservations[v]
        if v == own or other[FROM] >= end or other[TO] <= start:
            continue
        held = machine.masks[other[ON]]
        inside = is_within(machine.member[p], held)
        if own < 0 and (other[MAINT] >= ALL_NODES or (other[MAINT] > 0 and inside)):
            return -1
        must = job[REQUIRED]
        if own < 0 and must >= 0 and meets(held, machine.masks[must]):
            return -1
        remove_all(mask, held)
        if meets(machine.member[p], held):
            overlap = 1
    return overlap


@internal_borrowing
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


@internal_borrowing
def _fits_if_empty(j: int, p: int, machine: Machine, mask: Ints) -> bool:
    """Return whether the nodes of the mask can hold a job if they are empty.

    Units of a job go to any nodes, unless it has a say in them: there is a choice if there is room.
    """
    job = machine.jobs[j]
    if machine.parameters[IN_UNITS] > 0 and job[MAX_NODES] == 0 and job[CONTIGUOUS] == 0:
        least = max(job[MIN_NODES], machine.parts[p, PART_MIN_NODES])
        if machine.parts[p, PART_MAX_NODES] >= max(job[UNITS], least):
            return room_for_units(j, machine, mask, machine.free, machine.some, EMPTY, job[UNITS], least)
    return pick_nodes(j, p, machine, mask, machine.free, machine.use, machine.some, EMPTY) > 0


@internal_borrowing
def _has_whole_job(machine: Machine, mask: Ints) -> bool:
    """Return whether a job has a whole node of the mask."""
    for n in range(machine.use.shape[0]):
        if machine.use[n, WHOLE_ON] > 0 and has_node(mask, n):
            return True
    return False


@native
def run_main(queue: Ints, size: int, machine: Machine) -> int:
    """Start jobs as the main scheduler does; return how many were started, in the last rows of ``machine.runs``.

    ``queue`` has a row for each job and partition, in order: job, partition, priority; the first ``size`` are looked at.
    """
    parameters = machine.parameters
    now = parameters[NOW]
    available = machine.up.copy()
    failed = np.zeros(machine.parts.shape[0], np.uint8)
    failed_reservation = np.zeros(machine.reservations.shape[0] + 1, np.uint8)
    looked = np.zeros(machine.parts.shape[0], np.int64)
    mask = np.empty(available.size, np.int64)
    amounts = np.zeros(machine.caps.shape[1], np.int64)
    rejected = -1
    rejected_part = -1
    started = 0
    depth = 0
    for q in range(size):
        j = queue[q, QUEUE_JOB]
        p = queue[q, QUEUE_PARTITION]
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
        _count_least(j, machine)
        why = _limit_reached(j, machine, machine.need[j], True)
        if why != NONE:
            machine.reason[j] = why
            continue
        fails = False
        intersection(available, machine.member[p], mask)
        if job[MIN_NODES] > number_in(mask):
            machine.reason[j] = RESOURCES
            fails = True
        else:
            overlap = reserved_mask(j, p, machine, now, mask)
            if overlap == -2:
                machine.reason[j] = RESERVED
                continue
            if overlap == -1:
                mask[:] = 0
            number = 0
            if not _has_none(j, p, machine):
                number = pick_nodes(j, p, machine, mask, machine.free, machine.use, machine.some, NOW_FREE)
            if number > 0:
                _count(j, machine, number, number, amounts)
                why = _limit_reached(j, machine, amounts, False)
                if why == NONE:
                    _start(j, p, machine, number, amounts)
                    started += 1
                    rejected = -1
                else:
                    machine.reason[j] = why
                    fails = parameters[LIMIT_STOP] > 0
            else:
                why = _limit_reached(j, machine, machine.need[j], False)
                if why != NONE:
                    machine.reason[j] = why
                    fails = parameters[LIMIT_STOP] > 0
                elif number_in(mask) > 0 and _fits_if_empty(j, p, machine, mask):
                    machine.reason[j] = RESOURCES
                    fails = True
                elif not _fits_if_empty(j, p, machine, machine.member[p]):
                    machine.reason[j] = RESERVED if overlap == 1 else BAD_CONSTRAINTS
                elif _has_whole_job(machine, mask):
                    machine.reason[j] = RESOURCES
                    fails = True
                else:
                    machine.reason[j] = NODE_NOT_AVAILABLE
            if machine.reason[j] != STARTED and job[REQUIRED] >= 0:
                fails = False
                remove_all(available, machine.masks[job[REQUIRED]])
            if fails and own >= 0:
                fails = False
                failed_reservation[own] = 1
            if fails and parameters[MIN_AGE] > 0 and now - job[ELIGIBLE] < parameters[MIN_AGE]:
                fails = False
            if fails and queue[q, QUEUE_PRIORITY] < parameters[MIN_PRIORITY]:
                fails = False
        if fails and not failed[p]:
            failed[p] = 1
            remove_all(available, machine.member[p])
    return started


@internal_borrowing
def _overlaps(machine: Machine, r: int, p: int, mask: Ints) -> bool:
    """Return whether a running job has a node of the mask, which is one of nodes of partition p."""
    if p < BITS_OF_PARTITIONS and machine.runs[r, RUN_TOUCHES] & (1 << p) == 0:
        return False
    first = machine.runs[r, RUN_FIRST]
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        if has_node(mask, machine.pieces[i, PIECE_NODE]):
            return True
    return False


@internal_borrowing
def _give_back(j: int, machine: Machine, r: int, mask: Ints) -> int:
    """Add what a running job has on the nodes of the mask to what will be free; return for how many more units of job j it is room."""
    work = machine.work
    in_units = machine.parameters[IN_UNITS] > 0
    whole = machine.jobs[machine.runs[r, RUN_JOB], WHOLE]
    allowed = machine.jobs[j, ALLOWED]
    more = 0
    first = machine.runs[r, RUN_FIRST]
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        n = machine.pieces[i, PIECE_NODE]
        if not has_node(mask, n):
            continue
        may = in_units and (allowed < 0 or has_node(machine.masks[allowed], n))
        if may:
            more -= units_on(j, n, machine, work.free, NOW_FREE)
        for c in range(work.free.shape[1]):
            work.free[n, c] += machine.pieces[i, PIECE_FREE + c]
        if may:
            more += units_on(j, n, machine, work.free, NOW_FREE)
        if in_units:
            note_free(n, machine, work.free, work.some)
        else:
            work.use[n, JOBS_ON] -= 1
            work.use[n, WHOLE_ON] -= whole
            work.use[n, USE_COLUMNS + machine.runs[r, RUN_PARTITION]] -= machine.pieces[i, PIECE_FREE + CPUS]
    return more


@internal_borrowing
def _take_back(machine: Machine, number: int, mask: Ints) -> None:
    """Undo ``_give_back`` of the first runs in the order of the ends."""
    for k in range(number):
        run = machine.runs[machine.order[k]]
        for i in range(run[RUN_FIRST], run[RUN_FIRST] + run[RUN_COUNT]):
            if has_node(mask, machine.pieces[i, PIECE_NODE]):
                _take_back_on(machine, machine.pieces[i, PIECE_NODE])


@internal_borrowing
def _room(j: int, machine: Machine, mask: Ints) -> int:
    """Return for how many units of job j there is room on the nodes of the mask; not more than it has."""
    wanted = machine.jobs[j, UNITS]
    may = machine.work.may
    candidates(j, machine, mask, machine.some, NOW_FREE, may)
    if machine.whole_fit[j] >= 0:
        return number_in(may)
    room = 0
    for w in range(may.size):
        word = may[w]
        while word != 0 and room < wanted:
            room += units_on(j, (w << 6) + lowest(word), machine, machine.free, NOW_FREE)
            word &= word - 1
    return room


@internal_borrowing
def _end_of(machine: Machine, r: int, now: int) -> int:
    """Return when a running job is gone, of which the end by its limit may be over."""
    end = int(machine.runs[r, RUN_END])
    if end <= now:
        over = machine.parts[machine.runs[r, RUN_PARTITION], OVER_LIMIT]
        end = int(end + machine.parameters[KILL_WAIT] + over)
        end = max(end, now + 1)
    return end


@native
def earliest_start(j: int, p: int, machine: Machine, mask: Ints, now_only: bool, latest: int, chosen: Ints) -> int:
    """Return when a job can start on nodes of the mask if jobs run to their limits; -1: not in sight, or after ``latest``.

    The running jobs are taken off in the order of their ends, those that end close
    together at once: within 30 s of the first, then 60 s, 120 s, ... The start is the end of the last one taken off.
    ``chosen[0]`` becomes the number of rows of the choice. No nodes are looked for once a job would be taken off that ends
    after ``latest`` (0: no time is too late).
    """
    now = int(machine.parameters[NOW])
    work = machine.work
    order = machine.order
    number = int(machine.counts[0])
    in_units = machine.parameters[IN_UNITS] > 0
    wanted = machine.jobs[j, UNITS]
    room = wanted  # units that fit at most; with too few of them no nodes need be looked for
    if in_units:
        room = _room(j, machine, mask)
    chosen[0] = 0
    if room >= wanted:
        chosen[0] = pick_nodes(j, p, machine, mask, machine.free, machine.use, machine.some, NOW_FREE)
        if chosen[0] > 0:
            return now
    if now_only:
        return -1
    busy = machine.parameters[BUSY_NODES] > 0
    ahead = machine.whole_fit[j] >= 0 and number < work.after.shape[0] and not busy
    window = FIRST_WINDOW
    aligned = 0
    i = 0
    start = -1
    more = True
    while more:
        last = -1
        removed = 0
        tests = True
        while True:
            if i >= number:
                more = False
                break
            r = order[i]
            i += 1
            if not _overlaps(machine, r, p, mask):
                continue
            end = machine.runs[r, RUN_END]
            if 0 < latest < end:
                if not ahead:
                    _take_back(machine, i - 1, mask)
                return -1
            if aligned == 0:
                aligned = end + FIRST_WINDOW - end % FIRST_WINDOW
            last = r
            if not ahead:
                room += _give_back(j, machine, r, mask)
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
            break
        if tests:
            window *= 2
            while i < number and machine.runs[order[i], RUN_END] > aligned + window:
                window *= 2
            how = BUSY_FIRST if busy else NOW_FREE
            nodes = mask
            if ahead:
                look_ahead(machine, i)
                nodes = work.other
                intersection(mask, work.after[i], nodes)
                how = EMPTY
                room = number_in_both(nodes, machine.whole_nodes[machine.whole_fit[j]])
            if room >= wanted:
                chosen[0] = pick_nodes(j, p, machine, nodes, work.free, work.use, work.some, how)
                if chosen[0] > 0:
                    start = _end_of(machine, last, now)
                    break
    if not ahead:
        _take_back(machine, i, mask)
    return start


@internal_borrowing
def _add_to_map(
    begin: int, end: int, taken: Ints, starts: Ints, ends: Ints, follows: Ints, bits: Ints, rows: int, step: int
) -> int:
    """Take nodes off the map from ``begin`` to ``end``; return the number of rows in use.

    As in Slurm, the first of the rows at this place that is equal to the next one is joined with it. When a job is next looked
    at depends on the rows: a row whose nodes are all in the row before is no reason to look again.
    """
    begin = max(begin, starts[0])
    end = max(end, begin + step)
    words = taken.size
    i = 0
    before = 0
    after = -1
    placed = False
    while True:  # the row in which it begins
        if ends[i] > begin:
            k = rows
            rows += 1
            starts[k] = begin
            ends[k] = ends[i]
            ends[i] = begin
            for w in range(words):
                bits[k, w] = bits[i, w]
            follows[k] = follows[i]
            follows[i] = k
            placed = True
            break
        if ends[i] == begin:
            placed = True
            break
        before = i
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
            for w in range(words):
                bits[k, w] = bits[i, w]
            follows[k] = follows[i]
            follows[i] = k
        remove_all(bits[i], taken)
        if end == ends[i]:
            if follows[i] != 0:
                after = follows[i]
            break
    _join_equal(before, after, ends, follows, bits)
    return rows


@internal_borrowing
def _join_equal(first: int, last: int, ends: Ints, follows: Ints, bits: Ints) -> None:
    """Join the first row of the map, from row ``first`` on and before ``last``, that has the nodes of the next one, with it."""
    i = first
    while i != last and follows[i] != 0:
        k = follows[i]
        equal = True
        for w in range(bits.shape[1]):
            if bits[i, w] != bits[k, w]:
                equal = False
        if equal:
            ends[i] = ends[k]
            follows[i] = follows[k]
            return
        i = k


@internal_borrowing
def _row_at(start: int, row: int, ends: Ints, follows: Ints) -> int:
    """Return the first row of the map that ends after ``start``, from ``row`` on; the last row if there is none."""
    while ends[row] <= start and follows[row] != 0:
        row = follows[row]
    return row


@internal_borrowing
def _later(
    machine: Machine,
    row: int,
    mask: Ints,
    start: int,
    end: int,
    least: int,
    job: int,
    starts: Ints,
    ends: Ints,
    follows: Ints,
    bits: Ints,
) -> int:
    """Take off the mask what the map holds between start and end; return when more nodes may be free, 0: never.

    ``row`` is the first row that ends after the start. Once such a time is known, it is enough to know that fewer than ``least``
    nodes are left, or that ``job`` cannot fit on them before; -1: no job.
    """
    original = machine.work.other
    copy_set(mask, original)
    later = 0
    i = row
    while True:
        k = follows[i]
        if ends[i] > start and k != 0 and later == 0:
            for w in range(mask.size):  # the next row has a node that this one does not have
                if original[w] & bits[k, w] & ~(mask[w] & bits[i, w]):
                    later = ends[i]
                    break
        if ends[i] > start:
            if starts[i] > end:
                break
            keep_both(mask, bits[i])
            if later > 0 and (number_in(mask) < least or (job >= 0 and not may_fit_by(job, machine, mask, later))):
                break
        if k == 0:
            break
        i = k
    return int(later)


@internal_borrowing
def _map_conflict(
    row: int, taken: Ints, start: int, end: int, starts: Ints, ends: Ints, follows: Ints, bits: Ints
) -> bool:
    """Return whether the map holds a node of the job between start and end; ``row``: one that does not begin after the start."""
    i = row
    while True:
        if ends[i] > start and starts[i] < end and not is_within(taken, bits[i]):
            return True
        if follows[i] == 0 or starts[i] >= end:
            return False
        i = follows[i]


@internal_borrowing
def _nodes_of_choice(machine: Machine, size: int, nodes: Ints) -> None:
    """Write the set of the nodes of the first ``size`` rows of the choice."""
    for w in range(nodes.size):
        nodes[w] = 0
    for k in range(size):
        if machine.work.taken[k, TAKEN_CPUS] > 0:
            add_node(nodes, machine.work.taken[k, TAKEN_NODE])


@native
def run_backfill(queue: Ints, size: int, machine: Machine, users: int, associations: int) -> int:
    """Start jobs as the backfill scheduler does; return how many were started, in the last rows of ``machine.runs``.

    Parameters
    ----------
    queue, size
        A row for each job and partition, in order: job, partition, priority; the first ``size`` are looked at.
    machine
        The tables; ``machine.planned`` gets the planned starts, 0: none.
    users, associations
        Their numbers.
    """
    words = machine.up.size
    parts = machine.parts.shape[0]
    parameters = machine.parameters
    now = int(parameters[NOW])
    step = int(parameters[RESOLUTION])
    space = int(parameters[SPACE])
    most_rows = 2 * size + 2  # what is taken off the map splits two of its rows
    if parameters[RUNNING_RESERVE] > 0:
        most_rows += 2 * int(machine.counts[0])
    most_rows = min(space, most_rows) + 4
    starts = np.zeros(most_rows, np.int64)
    ends = np.zeros(most_rows, np.int64)
    follows = np.zeros(most_rows, np.int64)
    bits = np.empty((most_rows, words), np.int64)
    starts[0] = now // step * step
    window_end = (now + parameters[WINDOW]) // step * step
    ends[0] = window_end
    for w in range(words):
        bits[0, w] = machine.up[w]
    rows = 1
    mask = np.empty(words, np.int64)
    own_nodes = np.zeros(words, np.int64)
    chosen = np.zeros(1, np.int64)
    amounts = np.zeros(machine.caps.shape[1], np.int64)
    per_part = np.zeros(parts, np.int64)
    per_user = np.zeros(users + 1, np.int64)
    per_user_part = np.zeros((users + 1, parts), np.int64)
    per_association = np.zeros(associations + 1, np.int64)
    reserves = np.zeros(parts, np.int64)
    stops = parameters[LIMIT_STOP] > 0
    blocked = np.zeros(machine.used.shape[0], np.int64)  # until when, of each group of jobs
    if parameters[RUNNING_RESERVE] > 0:
        for r in range(machine.counts[0]):
            if machine.jobs[machine.runs[r, RUN_JOB], WHOLE] and rows < space:
                for w in range(words):
                    own_nodes[w] = 0
                for i in range(machine.runs[r, RUN_FIRST], machine.runs[r, RUN_FIRST] + machine.runs[r, RUN_COUNT]):
                    add_node(own_nodes, machine.pieces[i, PIECE_NODE])
                rows = _add_to_map(
                    0, machine.runs[r, RUN_END] // step * step, own_nodes, starts, ends, follows, bits, rows, step
                )
    rejected = -1
    rejected_part = -1
    array_tested = -1
    array_number = 0
    started = 0
    tried = 0
    for q in range(size):
        j = queue[q, QUEUE_JOB]
        p = queue[q, QUEUE_PARTITION]
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
        _count_least(j, machine)
        why = _limit_reached(j, machine, machine.need[j], True)
        if why != NONE and parameters[LIMIT_STOP] == 0:
            machine.reason[j] = why
            continue
        now_only = queue[q, QUEUE_PRIORITY] < parameters[MIN_PRIORITY]
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
        row = 0  # of the map, at ``begin``
        following = now
        if stops:
            following = max(now, _blocked_until(j, machine, blocked))
        while following >= now:
            begin = following
            following = -1
            intersection(machine.up, machine.member[p], mask)
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
                intersection(machine.up, machine.member[p], mask)
                overlap = reserved_mask(j, p, machine, begin, mask)
                moves += 1
            if overlap < 0:
                machine.reason[j] = RESERVED
                break
            row = _row_at(begin, row, ends, follows)
            sure = j if counted else -1  # a job that is counted may be put off as soon as it is known not to fit
            later = _later(machine, row, mask, begin, begin + limit, least, sure, starts, ends, follows, bits)
            if overlap == 1:
                over = _first_end(machine, begin, step) + 1
                if over > 1 and over < window_end and (later == 0 or over < later):
                    later = over
            if job[ALLOWED] >= 0:  # jobs that end elsewhere are no reason to look for a start
                keep_both(mask, machine.masks[job[ALLOWED]])
            if number_in(mask) < least:
                if later > 0 and not now_only:
                    following = later
                    continue
                break
            if not counted:
                tried += 1
                counted = True
            start = -1
            if may_fit_by(j, machine, mask, later):
                start = earliest_start(j, p, machine, mask, now_only, later, chosen)
            if start < 0:
                if later > 0 and not now_only:
                    following = later
                    continue
                break
            start = max(start, begin)
            _nodes_of_choice(machine, chosen[0], own_nodes)
            if start <= now:
                _count(j, machine, number_in(own_nodes), chosen[0], amounts)
                why = _limit_reached(j, machine, amounts, False)
                if why == NONE:
                    _start(j, p, machine, chosen[0], amounts)
                    started += 1
                    rejected = -1
                    if job[WHOLE] and rows < space:
                        rows = _add_to_map(
                            0, (now + limit) // step * step, own_nodes, starts, ends, follows, bits, rows, step
                        )
                    break
                machine.reason[j] = why
                if parameters[LIMIT_STOP] == 0:
                    break
                start = later if later > 0 else now + 500
                if stops:
                    _block(j, machine, amounts, start, blocked)
            if now_only:
                break
            if later > 0 and start > later:
                following = later
                continue
            end = (start + limit) // step * step
            if start > now + parameters[WINDOW]:
                break
            from_ = start // step * step
            if _map_conflict(row, own_nodes, from_, end, starts, ends, follows, bits):
                following = start
                continue
            if parameters[LIMIT_STOP] == 0:
                _count(j, machine, number_in(own_nodes), chosen[0], amounts)
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
                stop_looking_ahead(machine)
                return started
            rows = _add_to_map(from_, end, own_nodes, starts, ends, follows, bits, rows, step)
            if job[ARRAY] >= 0:
                if array_tested != job[ARRAY]:
                    array_tested = job[ARRAY]
                    array_number = 0
                array_number += 1
            break
        if 0 < parameters[MOST_STARTS] <= started:
            break
    stop_looking_ahead(machine)
    return started


@compiled
def main_pass(queue: Ints, machine: Machine) -> int:
    """See ``run_main``."""
    return run_main(queue, queue.shape[0], machine)


@compiled
def backfill_pass(queue: Ints, machine: Machine, users: int, associations: int) -> int:
    """See ``run_backfill``."""
    return run_backfill(queue, queue.shape[0], machine, users, associations)


@compiled
def part_with_room(queue: Ints, machine: Machine) -> int:
    """Return how many rows of a queue a pass has to look at: up to the last one whose job has room."""
    return last_with_room(queue, queue.shape[0], machine) + 1


# --- The order of the queue.


@internal_borrowing
def comes_before(one: Ints, other: Ints, machine: Machine) -> bool:
    """Return whether a row of the queue comes before another one.

    Jobs in reservations come first; then the tier of the partition decides, then the priority, and then the submission.
    """
    a = one[QUEUE_JOB]
    b = other[QUEUE_JOB]
    a_reserved = machine.jobs[a, RESERVATION] >= 0
    b_reserved = machine.jobs[b, RESERVATION] >= 0
    if a_reserved != b_reserved:
        return bool(a_reserved)
    a_tier = machine.parts[one[QUEUE_PARTITION], TIER]
    b_tier = machine.parts[other[QUEUE_PARTITION], TIER]
    if a_tier != b_tier:
        return bool(a_tier > b_tier)
    if one[QUEUE_PRIORITY] != other[QUEUE_PRIORITY]:
        return bool(one[QUEUE_PRIORITY] > other[QUEUE_PRIORITY])
    for k in range(machine.place.shape[1]):
        if machine.place[a, k] != machine.place[b, k]:
            return bool(machine.place[a, k] < machine.place[b, k])
    if a != b:
        return bool(a < b)
    return bool(one[QUEUE_NUMBER] < other[QUEUE_NUMBER])


@internal_borrowing
def sort_rows(queue: Ints, size: int, other: Ints, machine: Machine) -> None:
    """Sort the first ``size`` rows of a queue (merge sort); ``other`` is an array of the same shape."""
    columns = queue.shape[1]
    width = 1
    while width < size:
        for first in range(0, size, 2 * width):
            middle = min(first + width, size)
            last = min(first + 2 * width, size)
            a = first
            b = middle
            for k in range(first, last):
                from_a = b >= last or (a < middle and not comes_before(queue[b], queue[a], machine))
                source = a if from_a else b
                for c in range(columns):
                    other[k, c] = queue[source, c]
                if from_a:
                    a += 1
                else:
                    b += 1
        for k in range(size):
            for c in range(columns):
                queue[k, c] = other[k, c]
        width *= 2


@compiled
def sort_queue(queue: Ints, machine: Machine) -> None:
    """Sort the rows of a queue."""
    sort_rows(queue, queue.shape[0], np.empty(queue.shape, np.int64), machine)
