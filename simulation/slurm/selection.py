"""Which nodes, and how many CPUs on each, a job gets: the rules of Slurm's ``select/cons_tres``.

The nodes that can take a part of the job are grouped into runs of consecutive nodes of one weight. The best run is the one
of the lowest weight; among equal weights the smallest that is large enough, else the largest; runs are used until the job
has its CPUs and nodes. In a run, one node with enough CPUs is preferred, the fullest one. If that fails, nodes with few
CPUs are left out, more each time. The CPUs are then dealt to the nodes in turns [SlurmDoc, cons_tres].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.array_types import Ints
from ...models.compiled import by_address, internal_borrowing, native
from .columns import (
    ALLOWED,
    CONTIGUOUS,
    CPU_AMOUNT,
    CPUS,
    CPUS_PER_TASK,
    FIRST_GPU,
    GPU_TYPE,
    GPUS,
    GPUS_OF_JOB,
    IN_UNITS,
    JOBS_ON,
    LEAST_LOADED,
    LEAST_LOADED_NODES,
    MAX_CPUS_PER_NODE,
    MAX_NODES,
    MEMORY,
    MEMORY_AMOUNT,
    MEMORY_COUNTS,
    MEMORY_PER_CPU,
    MEMORY_PER_NODE,
    MIN_CPUS,
    MIN_NODES,
    NODE_LIMIT,
    PART_MAX_NODES,
    PART_MIN_NODES,
    PER_NODE,
    REQUIRED,
    SERIAL_AT_END,
    TASKS,
    TASKS_PER_NODE,
    UNIT_CPUS,
    USE_COLUMNS,
    WHOLE,
    WHOLE_ON,
)
from .node_bits import copy_set, has_node, intersection, is_within, keep_both, lowest, number_in, words_for

NOW_FREE = 0  # what is free now counts
EMPTY = 1  # the nodes count as if nothing ran on them
BUSY_FIRST = 2  # as NOW_FREE, of what will be free; nodes on which a job runs now come first (bf_busy_nodes)
MANY = 500_000  # nodes: no limit
AHEAD = 4096  # running jobs, one more than are looked ahead; with more of them it takes longer


# The columns of ``Work.taken``.
TAKEN_NODE = 0
TAKEN_CPUS = 1
TAKEN_MEMORY = 2
TAKEN_GPUS = 3
TAKEN_COLUMNS = 4

# The columns of ``Work.runs``: a run of consecutive usable nodes of one weight.
FIRST = 0  # positions in the list of usable nodes
LAST = 1
CPUS_IN = 2
NODES_IN = 3
GPUS_IN = 4
MUST = 5  # position of the first node that the job must have, -1: none
WEIGHT = 6
RUN_OF_NODES_COLUMNS = 7

# What is left to find while nodes are gathered.
CPUS_LEFT = 0
MOST_LEFT = 1  # CPUs, by which a node's part is cut
GPUS_LEFT = 2
NODES_LEFT = 3
LEAST_LEFT = 4  # nodes
LEFT_COLUMNS = 5


@by_address
class Work(NamedTuple):
    """What the kernels write while they choose nodes.

    Parameters
    ----------
    may
        Output of ``candidates``, a set of nodes.
    node, cpus, gpus, chosen, on
        The usable nodes in ascending order: their numbers, the CPUs and GPUs that the job could take, whether they are
        chosen, and how many tasks are on them; shape (nodes,).
    runs
        Runs of consecutive usable nodes, shape (nodes, RUN_OF_NODES_COLUMNS).
    taken
        The choice: node, CPUs, MB and GPUs of each chosen node, in ascending order of the nodes, shape (nodes, 4).
    free, use, some
        Copies of the tables of those names, in which jobs end. They are equal to the tables before and after each pass.
    ahead_free, after, touched, ahead
        As ``free``, on all nodes; ``after[k]`` is the set of the nodes of which nothing is taken when the first k running jobs
        have ended, in the order of their ends, for k up to ``ahead[0]``. ``touched[k]`` is the set of the nodes of which
        something is free then, for k up to ``ahead[1]``. Both numbers are 0 before and after each pass.
    mask, other
        Sets of nodes.
    left
        Shape (LEFT_COLUMNS,).
    """

    may: Ints
    node: Ints
    cpus: Ints
    gpus: Ints
    chosen: Ints
    on: Ints
    runs: Ints
    taken: Ints
    free: Ints
    use: Ints
    some: Ints
    ahead_free: Ints
    after: Ints
    touched: Ints
    ahead: Ints
    mask: Ints
    other: Ints
    left: Ints


def work_for(free: Ints, use: Ints, some: Ints) -> Work:
    """Return the arrays that the kernels write, for these tables."""
    nodes = len(free)
    words = words_for(nodes)
    node, cpus, gpus, chosen, on = np.zeros((5, nodes), np.int64)
    may, mask, other = np.zeros((3, words), np.int64)
    return Work(
        may=may,
        node=node,
        cpus=cpus,
        gpus=gpus,
        chosen=chosen,
        on=on,
        runs=np.zeros((nodes, RUN_OF_NODES_COLUMNS), np.int64),
        taken=np.zeros((nodes, TAKEN_COLUMNS), np.int64),
        free=free.copy(),
        use=use.copy(),
        some=some.copy(),
        ahead_free=free.copy(),
        after=np.zeros((AHEAD, words), np.int64),
        touched=np.zeros((AHEAD, words), np.int64),
        ahead=np.zeros(2, np.int64),
        mask=mask,
        other=other,
        left=np.zeros(LEFT_COLUMNS, np.int64),
    )


@by_address
class Machine(NamedTuple):
    """All that the kernels read and write; the columns are those of ``columns``.

    Parameters
    ----------
    jobs
        The requests, shape (jobs, JOB_COLUMNS).
    parts, member
        The partitions, shape (partitions, PART_COLUMNS), and their nodes, sets of shape (partitions, words).
    masks
        Sets of nodes that jobs and reservations refer to, shape (sets, words).
    weight, threads
        Weight of each node, and the CPUs of the unit that is allocated (a core); both of shape (nodes,).
    total, free
        What each node has and what of it is free, shape (nodes, 2 + types of GPU).
    use
        Shape (nodes, USE_COLUMNS + partitions); where jobs are counted in units, the partitions have no columns.
    some
        Where jobs are counted in units: the sets of the nodes that have some of each amount free, and then that of the nodes
        of which nothing is taken, shape (amounts of a node + 1, words). Else of shape (0, 0).
    up
        The set of the nodes on which jobs may start, shape (words,).
    reservations
        Shape (reservations, RESERVATION_COLUMNS).
    runs, pieces, counts
        The running jobs in the order of their starts, their pieces, and the numbers of rows in use of both.
    order
        The rows of ``runs``, by the ends by the time limits, and then by the starts.
    arrays
        Job arrays, shape (arrays, ARRAY_COLUMNS).
    used, caps, kind
        What the jobs of each group use, shape (groups, columns); limits, shape (sets of limits, columns), and the kind of
        each set, shape (sets of limits,).
    first_group, groups
        The rows ``first_group[j]`` to ``first_group[j + 1] - 1`` of ``groups`` are those of job j: a group, a set of limits.
    need
        What a job counts in the columns of the limits, shape (jobs, columns).
    parameters
        Shape (PARAMETERS,).
    place
        The place of each job among jobs of equal priority, shape (jobs, PLACE_COLUMNS).
    request_kind, tried
        The number of the distinct request of each job, shape (jobs,). A row of ``tried`` says that TRIED_UNITS units of a kind
        had no room in a partition after so many releases: nor have more units before the next release. The row of a kind and
        a partition is the remainder of their number, so that some take the places of others; shape (TRIED_ROWS, TRIED_COLUMNS).
    request
        Where jobs are counted in units (``IN_UNITS``): what a unit takes of each amount of a node, shape (jobs, amounts of a
        node). The CPUs and tasks of ``jobs`` are then units, a row of ``groups`` is a limit, what the job holds of it, whether it is
        checked, what the job holds at least, and whether it holds all CPUs of its nodes if they are whole; the amounts of a node have no fixed order. Else of shape (0, 0).
    each_node
        Where jobs are counted in units: what a job takes on each of its nodes beside its units, of the shape of ``request``; of
        shape (0, 0) if no job does.
    whole_fit, whole_nodes
        Jobs with one unit on each of their nodes, which are theirs alone: ``whole_nodes[whole_fit[j]]`` is the set of the nodes
        that job j may have. -1 in ``whole_fit``, shape (jobs,), for other jobs.
    reason, planned
        Output: why each job that was looked at did not start, and the start that the backfill scheduler plans; shape (jobs,).
    work
        What the kernels write on the way.
    """

    jobs: Ints
    parts: Ints
    member: Ints
    masks: Ints
    weight: Ints
    threads: Ints
    total: Ints
    free: Ints
    use: Ints
    some: Ints
    up: Ints
    reservations: Ints
    runs: Ints
    pieces: Ints
    counts: Ints
    order: Ints
    arrays: Ints
    used: Ints
    caps: Ints
    kind: Ints
    first_group: Ints
    groups: Ints
    need: Ints
    parameters: Ints
    place: Ints
    request_kind: Ints
    tried: Ints
    request: Ints
    each_node: Ints
    whole_fit: Ints
    whole_nodes: Ints
    reason: Ints
    planned: Ints
    work: Work


@internal_borrowing
def _gpus_free(job: Ints, row: Ints) -> int:
    """Return how many GPUs of the job's type a node with these amounts has."""
    if job[GPU_TYPE] >= 0:
        return int(row[FIRST_GPU + job[GPU_TYPE]])
    number = 0
    for t in range(FIRST_GPU, row.size):
        number += row[t]
    return number


@internal_borrowing
def _least_cpus(job: Ints) -> int:
    """Return the CPUs that each node of a job must have."""
    if job[TASKS] > 1:
        return int(job[CPUS_PER_TASK] * max(1, job[TASKS_PER_NODE]))
    return int(job[CPUS_PER_TASK])


@internal_borrowing
def units_on(j: int, n: int, machine: Machine, free: Ints, how: int) -> int:
    """Return how many units node n has room for, of however many the job has, as far as they may be on one node."""
    job = machine.jobs[j]
    amounts = machine.total[n] if how == EMPTY else free[n]
    if job[WHOLE]:
        for r in range(amounts.size):
            if amounts[r] < machine.total[n, r]:
                return 0
    units = job[PER_NODE]
    beside = machine.each_node.shape[0] > 0
    for r in range(machine.request.shape[1]):
        each = machine.request[j, r]
        left = amounts[r]
        if beside:
            left -= machine.each_node[j, r]
            if left < 0 and machine.each_node[j, r] > 0:
                return 0
        if each > 0:
            if left < each:
                return 0
            units = min(units, left // each)
    return int(units)


@internal_borrowing
def _all_cpus(n: int, machine: Machine) -> int:
    """Return the CPUs of node n; 1 if nodes have none. Where units are counted."""
    column = machine.parameters[CPU_AMOUNT]
    return int(max(1, machine.total[n, column])) if column >= 0 else 1


@internal_borrowing
def _cpus_or_units(j: int, n: int, machine: Machine, free: Ints, how: int) -> int:
    """Return the units that node n has room for; of a job with a unit on each of its nodes, the CPUs that it could take."""
    job = machine.jobs[j]
    units = units_on(j, n, machine, free, how)
    if units == 0 or job[UNIT_CPUS] == 1:
        return units
    if job[WHOLE]:
        return _all_cpus(n, machine)
    amounts = machine.total[n] if how == EMPTY else free[n]
    cpus = amounts[machine.parameters[CPU_AMOUNT]]
    memory = machine.parameters[MEMORY_AMOUNT]
    if memory >= 0 and job[MEMORY_PER_CPU] > 0:
        cpus = min(cpus, amounts[memory] // job[MEMORY_PER_CPU])
    return int(max(cpus, job[UNIT_CPUS]))


@internal_borrowing
def _cpus_on(job: Ints, p: int, n: int, machine: Machine, free: Ints, use: Ints, how: int) -> int:
    """Return how many CPUs of node n the job could take in partition p; 0: none."""
    amounts = machine.total[n] if how == EMPTY else free[n]
    counts = machine.parameters[MEMORY_COUNTS] > 0
    cpus = int(amounts[CPUS])
    cpus -= cpus % machine.threads[n]
    memory = int(amounts[MEMORY])
    per_task = job[CPUS_PER_TASK]
    if how != EMPTY and (use[n, WHOLE_ON] > 0 or (job[WHOLE] and use[n, JOBS_ON] > 0)):
        return 0
    if counts and job[MEMORY_PER_CPU] >= 0:
        if memory < job[MEMORY_PER_CPU] * max(1, job[TASKS_PER_NODE], per_task):
            return 0
    elif (counts and job[MEMORY_PER_NODE] > 0 and memory < job[MEMORY_PER_NODE]) or (
        counts and job[MEMORY_PER_NODE] == 0 and memory < machine.total[n, MEMORY]
    ):
        return 0
    if (job[GPUS] > 0 or job[GPUS_OF_JOB] > 0) and _gpus_free(job, amounts) < max(1, job[GPUS]):
        return 0
    most = machine.parts[p, MAX_CPUS_PER_NODE]
    if most > 0:
        if how != EMPTY:
            most -= use[n, USE_COLUMNS + p]
        cpus = max(0, min(cpus, most))
    tasks = 1
    if job[TASKS_PER_NODE] > 0:
        tasks = job[TASKS_PER_NODE]
    elif job[MAX_NODES] == 1 and job[TASKS] > 0:
        tasks = job[TASKS]
    if cpus < tasks * per_task:
        return 0
    if counts and job[MEMORY_PER_CPU] > 0:
        if job[WHOLE]:
            if job[MEMORY_PER_CPU] * cpus > memory:
                return 0
        else:
            unit = machine.threads[n]
            while cpus > 0 and job[MEMORY_PER_CPU] * cpus > memory:
                cpus -= unit
            cpus = max(cpus, 0)
        if per_task > 1:
            cpus -= cpus % per_task
        if cpus < job[TASKS_PER_NODE]:
            return 0
    if cpus // per_task < tasks:
        return 0
    return int(cpus)


@internal_borrowing
def _cut(job: Ints, cpus: int, left: int, nodes_left: int, unit: int) -> int:
    """Return what the job takes of the CPUs of a node: what it still needs, less one unit for each further node.

    It is not less than the tasks of one node need.
    """
    if job[WHOLE]:
        return cpus
    left -= max(nodes_left - 1, 0) * unit
    if cpus > left:
        return max(left, _least_cpus(job))
    return cpus


@internal_borrowing
def note_free(n: int, machine: Machine, free: Ints, some: Ints) -> None:
    """Note in the sets ``some`` of what node n has something free."""
    word = n >> 6
    bit = 1 << (n & 63)
    untouched = True
    for r in range(free.shape[1]):
        if free[n, r] > 0:
            some[r, word] |= bit
        else:
            some[r, word] &= ~bit
        if free[n, r] < machine.total[n, r]:
            untouched = False
    last = some.shape[0] - 1
    if untouched:
        some[last, word] |= bit
    else:
        some[last, word] &= ~bit


@internal_borrowing
def candidates(j: int, machine: Machine, mask: Ints, some: Ints, how: int, may: Ints) -> None:
    """Write the set of the nodes of a mask that a job may have; where units are counted, of those with something free for it."""
    if machine.whole_fit[j] >= 0:
        intersection(mask, machine.whole_nodes[machine.whole_fit[j]], may)
        if how != EMPTY:
            keep_both(may, some[some.shape[0] - 1])
        return
    copy_set(mask, may)
    allowed = machine.jobs[j, ALLOWED]
    if allowed >= 0:
        keep_both(may, machine.masks[allowed])
    if how == EMPTY or machine.parameters[IN_UNITS] == 0:
        return
    if machine.jobs[j, WHOLE]:
        keep_both(may, some[some.shape[0] - 1])
    for r in range(machine.request.shape[1]):
        if machine.request[j, r] > 0 or (machine.each_node.shape[0] > 0 and machine.each_node[j, r] > 0):
            keep_both(may, some[r])


@internal_borrowing
def room_for_units(
    j: int, machine: Machine, mask: Ints, free: Ints, some: Ints, how: int, wanted: int, least: int
) -> bool:
    """Return whether there is room for so many units of a job on the nodes of a mask, on at least so many nodes."""
    may = machine.work.may
    candidates(j, machine, mask, some, how, may)
    if machine.whole_fit[j] >= 0:
        return number_in(may) >= max(wanted, least)
    for w in range(may.size):
        word = may[w]
        while word != 0:
            n = (w << 6) + lowest(word)
            word &= word - 1
            units = units_on(j, n, machine, free, how)
            if units > 0:
                wanted -= units
                least -= 1
                if wanted <= 0 and least <= 0:
                    return True
    return False


@internal_borrowing
def _take_required(job: Ints, machine: Machine, size: int, left: Ints, most: int) -> int:
    """Choose the nodes that a job must have, at most ``most``; return how many may still be chosen, -1: one is missing.

    ``left``: what is left to find, as in ``_gather``.
    """
    work = machine.work
    must = machine.masks[job[REQUIRED]]
    i = 0
    for w in range(must.size):
        word = must[w]
        while word != 0 and most > 0:
            n = (w << 6) + lowest(word)
            word &= word - 1
            while i < size and work.node[i] < n:
                i += 1
            if i >= size or work.node[i] != n:
                return -1
            work.cpus[i] = _cut(job, work.cpus[i], left[MOST_LEFT], left[LEAST_LEFT], machine.threads[n])
            if work.cpus[i] == 0:
                return -1
            _choose(work, i, left)
            most -= 1
    return most


@internal_borrowing
def _choose(work: Work, i: int, left: Ints) -> None:
    """Choose the usable node at position i."""
    work.chosen[i] = 1
    left[CPUS_LEFT] -= work.cpus[i]
    left[MOST_LEFT] -= work.cpus[i]
    left[GPUS_LEFT] -= work.gpus[i]
    left[NODES_LEFT] -= 1
    left[LEAST_LEFT] -= 1


@internal_borrowing
def _complete(left: Ints) -> bool:
    """Return whether all that a job wants is found."""
    return bool(left[NODES_LEFT] <= 0 and left[CPUS_LEFT] <= 0 and left[GPUS_LEFT] <= 0)


@internal_borrowing
def _find_runs(job: Ints, machine: Machine, size: int) -> int:
    """Write the runs of consecutive usable nodes of one weight; return their number."""
    work = machine.work
    rows = work.runs
    runs = 0
    for i in range(size):
        n = work.node[i]
        begins = i == 0 or n != work.node[i - 1] + 1
        if not begins and not job[CONTIGUOUS] and rows[runs - 1, WEIGHT] != machine.weight[n]:
            begins = True
        if begins:
            row = rows[runs]
            row[FIRST] = i
            row[CPUS_IN] = 0
            row[NODES_IN] = 0
            row[GPUS_IN] = 0
            row[MUST] = -1
            row[WEIGHT] = machine.weight[n]
            runs += 1
        row = rows[runs - 1]
        row[LAST] = i
        if work.chosen[i]:
            if row[MUST] < 0:
                row[MUST] = i
        else:
            row[CPUS_IN] += work.cpus[i]
            row[NODES_IN] += 1
            row[GPUS_IN] += work.gpus[i]
    return runs


@internal_borrowing
def _is_enough(run: Ints, left: Ints, needed: int) -> bool:
    return bool(run[CPUS_IN] >= left[CPUS_LEFT] and run[NODES_IN] >= needed and run[GPUS_IN] >= left[GPUS_LEFT])


@internal_borrowing
def _best_run(job: Ints, rows: Ints, runs: int, left: Ints, needed: int) -> int:
    """Return the run that is used next; -1: none."""
    best = -1
    best_enough = False
    for r in range(runs):
        run = rows[r]
        if run[NODES_IN] == 0:
            continue
        if job[CONTIGUOUS] and job[REQUIRED] >= 0 and run[MUST] < 0:
            continue
        enough = _is_enough(run, left, needed)
        better = False
        if best < 0 or (rows[best, MUST] < 0 and run[MUST] >= 0) or run[WEIGHT] < rows[best, WEIGHT]:
            better = True
        elif run[WEIGHT] == rows[best, WEIGHT]:
            if enough:
                better = not best_enough or run[CPUS_IN] < rows[best, CPUS_IN]
            else:
                better = run[CPUS_IN] > rows[best, CPUS_IN]
        if not better and not best_enough and job[CONTIGUOUS] and enough:
            better = True
        if better:
            best = r
            best_enough = enough
    if best >= 0 and job[CONTIGUOUS] and not best_enough:
        return -1
    return best


@internal_borrowing
def _single_node(work: Work, run: Ints, left: Ints) -> int:
    """Return the position of the fullest node of a run that is enough by itself; -1: none, or more nodes are needed."""
    single = -1
    if run[MUST] >= 0 or left[NODES_LEFT] > 1:
        return single
    for i in range(run[FIRST], run[LAST] + 1):
        if work.chosen[i] or work.cpus[i] < left[CPUS_LEFT] or work.gpus[i] < left[GPUS_LEFT]:
            continue
        if single < 0 or work.cpus[i] < work.cpus[single]:
            single = i
            if work.cpus[i] == left[CPUS_LEFT]:
                break
    return single


@internal_borrowing
def _use_run(job: Ints, machine: Machine, run: Ints, left: Ints, most: int) -> int:
    """Choose nodes of a run, up from its first one, or up from a required one and then down; return how many may still be chosen."""
    work = machine.work
    single = _single_node(work, run, left)
    at = run[FIRST]
    if run[MUST] >= 0:
        at = run[MUST]
    step = 0
    going_down = False
    while True:
        i = at + step
        step += 1
        if going_down:
            i = run[MUST] - step
            if i < run[FIRST]:
                break
        elif i > run[LAST]:
            if run[MUST] < 0:
                break
            going_down = True
            step = 0
            continue
        if most == 0 or _complete(left):
            break
        if work.chosen[i] or work.cpus[i] <= 0 or (single >= 0 and i != single):
            continue
        if most == 1 and run[MUST] < 0 and work.cpus[i] < left[CPUS_LEFT]:
            continue
        unit = machine.threads[work.node[i]]
        work.cpus[i] = _cut(job, work.cpus[i], left[MOST_LEFT], left[LEAST_LEFT], unit)
        _choose(work, i, left)
        most -= 1
    return most


@internal_borrowing
def _choose_none(job: Ints, least: int, wanted: int, machine: Machine, size: int, left: Ints) -> None:
    """Begin a choice among the ``size`` usable nodes of ``machine.work``: none is chosen, and all that the job asks for is left."""
    for i in range(size):
        machine.work.chosen[i] = 0
    left[CPUS_LEFT] = job[MIN_CPUS]
    left[MOST_LEFT] = job[MIN_CPUS]
    left[GPUS_LEFT] = job[GPUS_OF_JOB]
    left[NODES_LEFT] = max(least, wanted)
    if job[GPUS_OF_JOB] > 0:
        left[NODES_LEFT] = min(least, wanted)
    left[LEAST_LEFT] = least


@internal_borrowing
def _gather(job: Ints, least: int, most: int, wanted: int, machine: Machine, size: int, left: Ints) -> bool:
    """Choose nodes among the ``size`` usable ones of ``machine.work``; return whether they suffice.

    ``work.cpus`` becomes what the job takes of the chosen ones.
    """
    work = machine.work
    _choose_none(job, least, wanted, machine, size, left)
    if size < least:
        return False
    if job[REQUIRED] >= 0:
        most = _take_required(job, machine, size, left, most)
        if most < 0:
            return False
        if _complete(left):
            return True
        if most <= 0:
            return False
    runs = _find_runs(job, machine, size)
    while most > 0:
        needed = left[NODES_LEFT]
        if wanted > least:
            needed = left[NODES_LEFT] + least - wanted
        best = _best_run(job, work.runs, runs, left, needed)
        if best < 0:
            break
        most = _use_run(job, machine, work.runs[best], left, most)
        if _complete(left):
            return True
        work.runs[best, CPUS_IN] = 0
        work.runs[best, NODES_IN] = 0
    needed = left[NODES_LEFT]
    if wanted > least:
        needed = left[NODES_LEFT] + least - wanted
    return bool(left[CPUS_LEFT] <= 0 and left[GPUS_LEFT] <= 0 and needed <= 0)


@internal_borrowing
def _gather_one_by_one(
    job: Ints, least: int, most: int, wanted: int, machine: Machine, size: int, by_load: bool, left: Ints
) -> bool:
    """As ``_gather``: the least loaded nodes first (LLN), or serial jobs on the last nodes (pack_serial_at_end)."""
    work = machine.work
    for i in range(size):
        work.chosen[i] = 0
    left[CPUS_LEFT] = job[MIN_CPUS]
    left[GPUS_LEFT] = job[GPUS_OF_JOB]
    left[NODES_LEFT] = max(least, wanted)
    left[LEAST_LEFT] = least
    while most > 0 and not _complete(left):
        best = -1
        for k in range(size):
            i = k if by_load else size - 1 - k
            if work.chosen[i] or work.cpus[i] <= 0:
                continue
            if best < 0:
                best = i
                continue
            n = work.node[i]
            other = work.node[best]
            lighter = machine.weight[n] < machine.weight[other]
            if machine.weight[n] == machine.weight[other] and by_load:
                lighter = work.cpus[i] * machine.total[other, CPUS] > work.cpus[best] * machine.total[n, CPUS]
            if lighter:
                best = i
        if best < 0:
            break
        unit = machine.threads[work.node[best]]
        work.cpus[best] = _cut(job, work.cpus[best], left[CPUS_LEFT], left[LEAST_LEFT], unit)
        _choose(work, best, left)
        most -= 1
    return bool(left[CPUS_LEFT] <= 0 and left[GPUS_LEFT] <= 0 and left[LEAST_LEFT] <= 0)


@internal_borrowing
def _is_idle(n: int, machine: Machine) -> bool:
    """Return whether nothing runs now on node n."""
    if machine.parameters[IN_UNITS] > 0:
        return has_node(machine.some[machine.some.shape[0] - 1], n)
    return bool(machine.use[n, JOBS_ON] == 0)


@internal_borrowing
def _next_weight(machine: Machine, size: int, weight: int) -> int:
    """Return the lowest weight above ``weight`` of a usable node that is not chosen; -1: none."""
    work = machine.work
    lowest = -1
    for i in range(size):
        other = machine.weight[work.node[i]]
        if not work.chosen[i] and work.cpus[i] > 0 and other > weight and (lowest < 0 or other < lowest):
            lowest = other
    return int(lowest)


@internal_borrowing
def _gather_busy(job: Ints, least: int, most: int, wanted: int, machine: Machine, size: int, left: Ints) -> bool:
    """As ``_gather``: by weight, of one weight the nodes on which a job runs now first, then in ascending order (bf_busy_nodes).

    If busy nodes suffice, Slurm 22.05 takes the first idle node of that weight, too, beyond what the job asked for.
    """
    work = machine.work
    _choose_none(job, least, wanted, machine, size, left)
    if job[REQUIRED] >= 0:
        most = _take_required(job, machine, size, left, most)
    if most < 0:
        return False
    done = most == 0 or (job[REQUIRED] >= 0 and _complete(left))
    weight = _next_weight(machine, size, -1)
    while weight >= 0 and not done:
        for idle in range(2):
            for i in range(size):
                n = work.node[i]
                if work.chosen[i] or work.cpus[i] <= 0 or machine.weight[n] != weight:
                    continue
                if _is_idle(n, machine) != (idle > 0):
                    continue
                work.cpus[i] = _cut(job, work.cpus[i], left[MOST_LEFT], left[LEAST_LEFT], machine.threads[n])
                _choose(work, i, left)
                most -= 1
                done = done or most == 0 or _complete(left)
                if done:
                    break
        weight = _next_weight(machine, size, weight)
    return bool(left[CPUS_LEFT] <= 0 and left[GPUS_LEFT] <= 0 and left[LEAST_LEFT] <= 0)


@internal_borrowing
def _without_small(job: Ints, machine: Machine, size: int, least: int, few: int) -> int:
    """Leave out usable nodes with at most ``few`` CPUs while more than ``least`` are left; return how many are."""
    work = machine.work
    must = job[REQUIRED]
    kept = 0
    left = size
    for i in range(size):
        small = 0 < work.cpus[i] <= few and left > least
        if small and not (must >= 0 and has_node(machine.masks[must], work.node[i])):
            left -= 1
            continue
        work.node[kept] = work.node[i]
        work.cpus[kept] = work.cpus[i]
        work.gpus[kept] = work.gpus[i]
        work.chosen[kept] = work.chosen[i]
        kept += 1
    return kept


@internal_borrowing
def _gather_larger(job: Ints, least: int, most: int, wanted: int, machine: Machine, size: int, left: Ints) -> int:
    """As ``_gather``, without the nodes that have few CPUs, more of them each time; return the number of usable nodes, 0: in vain."""
    if size <= least:
        return size if _gather(job, least, most, wanted, machine, size, left) else 0
    largest = 0
    for i in range(size):
        largest = max(largest, machine.work.cpus[i])
    for few in range(1, largest):
        kept = _without_small(job, machine, size, least, few)
        if kept == size and few > 1:
            continue
        size = kept
        if _gather(job, least, most, wanted, machine, size, left):
            return size
        if size <= least:
            return 0
    return 0


@internal_borrowing
def _deal(job: Ints, machine: Machine, size: int) -> int:
    """Deal the CPUs of the job to the chosen nodes; return their number.

    Each gets one task, then one unit in turns, up to the node's part.
    """
    work = machine.work
    taken = work.taken
    number = 0
    for i in range(size):
        if work.chosen[i]:
            taken[number, TAKEN_NODE] = work.node[i]
            taken[number, TAKEN_CPUS] = 0
            work.cpus[number] = work.cpus[i]  # number <= i
            work.gpus[number] = work.gpus[i]
            work.on[number] = 0
            number += 1
    if job[WHOLE] and machine.parameters[IN_UNITS] == 0:
        for k in range(number):
            taken[k, TAKEN_CPUS] = machine.total[taken[k, TAKEN_NODE], CPUS]
        return number
    per_task = job[CPUS_PER_TASK]
    wanted = max(number * max(1, job[TASKS_PER_NODE] * per_task), job[MIN_CPUS])
    tasks = max(1, wanted // per_task)
    if job[TASKS_PER_NODE] > 0 and per_task > 1:
        tasks = number * job[TASKS_PER_NODE]
    going = True
    while going and tasks > 0:
        going = False
        for k in range(number):
            at_once = 1
            if work.on[k] > 0:
                at_once = max(1, machine.threads[taken[k, TAKEN_NODE]] // per_task)
            for _ in range(at_once):
                if tasks <= 0 or (work.on[k] > 0 and work.cpus[k] - taken[k, TAKEN_CPUS] < per_task):
                    break
                if job[TASKS_PER_NODE] > 0 and work.on[k] >= job[TASKS_PER_NODE]:
                    break
                work.on[k] += 1
                tasks -= 1
                taken[k, TAKEN_CPUS] = min(work.cpus[k], taken[k, TAKEN_CPUS] + per_task)
                going = True
    for k in range(number):  # whole units
        unit = machine.threads[taken[k, TAKEN_NODE]]
        taken[k, TAKEN_CPUS] = -(-taken[k, TAKEN_CPUS] // unit) * unit
    return number


@internal_borrowing
def _usable(j: int, p: int, machine: Machine, mask: Ints, free: Ints, use: Ints, some: Ints, how: int) -> int:
    """Write the usable nodes of a mask to ``machine.work``; return their number, -1: a node that the job must have is not usable."""
    work = machine.work
    job = machine.jobs[j]
    must = job[REQUIRED]
    in_units = machine.parameters[IN_UNITS] > 0
    one_each = machine.whole_fit[j] >= 0
    if must >= 0 and not is_within(machine.masks[must], mask):
        return -1
    candidates(j, machine, mask, some, how, work.may)
    size = 0
    for w in range(work.may.size):
        word = work.may[w]
        while word != 0:
            n = (w << 6) + lowest(word)
            word &= word - 1
            if one_each:
                cpus = _all_cpus(n, machine)
            elif in_units:
                cpus = _cpus_or_units(j, n, machine, free, how)
            else:
                cpus = _cpus_on(job, p, n, machine, free, use, how)
            if cpus > 0:
                work.node[size] = n
                work.cpus[size] = cpus
                work.gpus[size] = 0
                if job[GPUS_OF_JOB] > 0:
                    work.gpus[size] = _gpus_free(job, machine.total[n] if how == EMPTY else free[n])
                size += 1
            elif must >= 0 and has_node(machine.masks[must], n):
                return -1
    return size


@internal_borrowing
def _memory_and_gpus(job: Ints, machine: Machine, number: int, free: Ints, how: int) -> bool:
    """Write the memory and the GPUs that a job takes on its chosen nodes; return whether the memory is there."""
    taken = machine.work.taken
    gpus_left = job[GPUS_OF_JOB]
    for k in range(number):
        n = taken[k, TAKEN_NODE]
        taken[k, TAKEN_MEMORY] = 0
        if machine.parameters[MEMORY_COUNTS] > 0:
            if job[MEMORY_PER_CPU] >= 0:
                taken[k, TAKEN_MEMORY] = taken[k, TAKEN_CPUS] * job[MEMORY_PER_CPU]
            elif job[MEMORY_PER_NODE] > 0:
                taken[k, TAKEN_MEMORY] = job[MEMORY_PER_NODE]
            else:
                taken[k, TAKEN_MEMORY] = machine.total[n, MEMORY]
            if how != EMPTY and taken[k, TAKEN_MEMORY] > free[n, MEMORY]:
                return False
        taken[k, TAKEN_GPUS] = job[GPUS]
        if gpus_left > 0:
            taken[k, TAKEN_GPUS] = min(machine.work.gpus[k], gpus_left)
            gpus_left -= taken[k, TAKEN_GPUS]
        if job[WHOLE]:
            for t in range(FIRST_GPU, machine.total.shape[1]):
                taken[k, TAKEN_GPUS] = max(taken[k, TAKEN_GPUS], machine.total[n, t])
    return True


@native
def pick_nodes(j: int, p: int, machine: Machine, mask: Ints, free: Ints, use: Ints, some: Ints, how: int) -> int:
    """Choose the nodes of a job; return their number, 0 if it does not fit. The choice is in ``machine.work.taken``.

    Parameters
    ----------
    j, p
        The rows of the job and of its partition.
    machine
        The tables.
    mask
        The set of the nodes that may be chosen.
    free, use, some
        What is free, as in the tables.
    how
        ``NOW_FREE``, ``EMPTY`` or ``BUSY_FIRST``.
    """
    job = machine.jobs[j]
    part = machine.parts[p]
    in_units = machine.parameters[IN_UNITS] > 0
    least = max(job[MIN_NODES], part[PART_MIN_NODES])
    most = part[PART_MAX_NODES]
    if job[NODE_LIMIT] > 0:
        most = min(most, job[NODE_LIMIT])
    wanted = least
    if job[MAX_NODES] > 0:
        most = min(job[MAX_NODES], most)
        wanted = most
    most = min(most, MANY)
    if most < least:
        return 0
    size = _usable(j, p, machine, mask, free, use, some, how)
    if size < least:
        return 0
    if in_units:
        units = 0
        for i in range(size):
            units += machine.work.cpus[i]
        if units < job[MIN_CPUS]:
            return 0
    if job[TASKS_PER_NODE] > 0 and job[TASKS] > 0:
        least = max(least, -(-job[TASKS] // job[TASKS_PER_NODE]))
    elif job[TASKS] > 0 and most > job[TASKS]:
        most = max(job[TASKS], least)
    one_by_one = part[LEAST_LOADED] > 0 or machine.parameters[LEAST_LOADED_NODES] > 0
    by_load = one_by_one
    if machine.parameters[SERIAL_AT_END] > 0 and job[MIN_CPUS] == 1 and wanted == 1:
        one_by_one = True
    left = machine.work.left
    if how == BUSY_FIRST and job[CONTIGUOUS] == 0:
        if not _gather_busy(job, least, most, wanted, machine, size, left):
            return 0
    elif one_by_one and job[REQUIRED] < 0:
        if not _gather_one_by_one(job, least, most, wanted, machine, size, by_load, left):
            return 0
    elif not _gather(job, least, most, wanted, machine, size, left):
        size = _gather_larger(job, least, most, wanted, machine, size, left)
        if size == 0:
            return 0
    number = 0
    for i in range(size):
        number += machine.work.chosen[i]
    if number > most and job[MAX_NODES] > 0 and how != BUSY_FIRST:
        return 0
    _deal(job, machine, size)
    if not in_units and not _memory_and_gpus(job, machine, number, free, how):
        return 0
    return int(number)


@internal_borrowing
def take(job: Ints, row: Ints, piece: Ints, taken: Ints, whole: bool) -> None:
    """Take the amounts of a piece of a job off the free amounts of its node, and write the piece's columns.

    ``taken``: a row of ``Work.taken``.
    """
    row[CPUS] -= taken[TAKEN_CPUS]
    row[MEMORY] -= taken[TAKEN_MEMORY]
    piece[0] = taken[TAKEN_CPUS]
    piece[1] = taken[TAKEN_MEMORY]
    left = taken[TAKEN_GPUS]
    for t in range(FIRST_GPU, row.size):
        number = 0
        if whole:
            number = row[t]
        elif left > 0 and (job[GPU_TYPE] < 0 or job[GPU_TYPE] == t - FIRST_GPU):
            number = min(left, row[t])
            left -= number
        row[t] -= number
        piece[t] = number


@internal_borrowing
def take_units(j: int, n: int, machine: Machine, units: int, piece: Ints) -> None:
    """Take what units of a job hold off the free amounts of node n; write the piece's columns, and then the units."""
    piece[machine.free.shape[1]] = units
    for r in range(machine.free.shape[1]):
        amount = units * machine.request[j, r]
        if machine.each_node.shape[0] > 0:
            amount += machine.each_node[j, r]
        if machine.jobs[j, WHOLE]:
            amount = machine.free[n, r]
        machine.free[n, r] -= amount
        piece[r] = amount
    note_free(n, machine, machine.free, machine.some)
