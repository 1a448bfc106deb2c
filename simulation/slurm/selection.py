"""Which nodes, and how many CPUs on each, a job gets: the rules of Slurm's ``select/cons_tres``.

The nodes that can take a part of the job are grouped into runs of consecutive nodes of one weight. The best run is the one
of the lowest weight; among equal weights the smallest that is large enough, else the largest; runs are used until the job
has its CPUs and nodes. In a run, one node with enough CPUs is preferred, the fullest one. If that fails, nodes with few
CPUs are left out, more each time. The CPUs are then dealt to the nodes in turns [SlurmDoc, cons_tres].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.by_address import by_address
from ...models.array_types import Ints
from ...models.compiled import internal, native
from .columns import (
    ALLOWED,
    CONTIGUOUS,
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
    MEMORY_COUNTS,
    MEMORY_PER_CPU,
    MEMORY_PER_NODE,
    MIN_CPUS,
    MIN_NODES,
    PART_MAX_NODES,
    PART_MIN_NODES,
    PER_NODE,
    REQUIRED,
    SERIAL_AT_END,
    TASKS,
    TASKS_PER_NODE,
    WHOLE,
    WHOLE_ON,
    Marks,
)

NOW_FREE = 0  # what is free now counts
EMPTY = 1  # the nodes count as if nothing ran on them
MANY = 500_000  # nodes: no limit


@by_address
class Machine(NamedTuple):
    """All that the kernels read and write; the columns are those of ``columns``.

    Parameters
    ----------
    jobs
        The requests, shape (jobs, JOB_COLUMNS).
    parts, member
        The partitions, shape (partitions, PART_COLUMNS), and their nodes, shape (partitions, nodes), 0 or 1.
    masks
        Sets of nodes that jobs and reservations refer to, shape (sets, nodes), 0 or 1.
    weight, threads
        Weight of each node, and the CPUs of the unit that is allocated (a core); both of shape (nodes,).
    total, free
        What each node has and what of it is free, shape (nodes, 2 + types of GPU).
    use
        Shape (nodes, USE_COLUMNS).
    up
        1 where jobs may start, shape (nodes,).
    reservations
        Shape (reservations, RESERVATION_COLUMNS).
    runs, pieces, counts
        The running jobs, their pieces, and the numbers of rows in use of both.
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
    request
        Where jobs are counted in units (``IN_UNITS``): what a unit takes of each amount of a node, shape (jobs, amounts of a
        node). The CPUs and tasks of ``jobs`` are then units, a row of ``groups`` is a limit and what the job holds of it,
        and the amounts of a node have no fixed order. Else of shape (0, 0).
    fits_empty
        Where jobs are counted in units: 1 + the partition of which all nodes that are up can hold the job if they are empty,
        where that is known, else 0; shape (jobs,). Else of shape (0,).
    reason, planned
        Output: why each job that was looked at did not start, and the start that the backfill scheduler plans; shape (jobs,).
    """

    jobs: Ints
    parts: Ints
    member: Marks
    masks: Marks
    weight: Ints
    threads: Ints
    total: Ints
    free: Ints
    use: Ints
    up: Marks
    reservations: Ints
    runs: Ints
    pieces: Ints
    counts: Ints
    arrays: Ints
    used: Ints
    caps: Ints
    kind: Ints
    first_group: Ints
    groups: Ints
    need: Ints
    parameters: Ints
    request: Ints
    fits_empty: Ints
    reason: Ints
    planned: Ints


@internal
def _gpus_free(job: Ints, row: Ints) -> int:
    """Return how many GPUs of the job's type a node with these amounts has."""
    if job[GPU_TYPE] >= 0:
        return int(row[FIRST_GPU + job[GPU_TYPE]])
    number = 0
    for t in range(FIRST_GPU, row.size):
        number += row[t]
    return number


@internal
def _least_cpus(job: Ints) -> int:
    """Return the CPUs that each node of a job must have."""
    if job[TASKS] > 1:
        return int(job[CPUS_PER_TASK] * max(1, job[TASKS_PER_NODE]))
    return int(job[CPUS_PER_TASK])


@internal
def units_on(j: int, n: int, machine: Machine, free: Ints, how: int) -> int:
    """Return how many units node n has room for, of however many the job has, as far as they may be on one node."""
    job = machine.jobs[j]
    amounts = machine.total[n] if how == EMPTY else free[n]
    if job[WHOLE]:
        for r in range(amounts.size):
            if amounts[r] < machine.total[n, r]:
                return 0
    units = job[PER_NODE]
    for r in range(machine.request.shape[1]):
        each = machine.request[j, r]
        if each > 0:
            if amounts[r] < each:
                return 0
            units = min(units, amounts[r] // each)
    return int(units)


@internal
def _cpus_on(job: Ints, part: Ints, n: int, machine: Machine, free: Ints, use: Ints, how: int) -> int:
    """Return how many CPUs of node n the job could take; 0: none."""
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
    most = part[MAX_CPUS_PER_NODE]
    if most > 0:
        cpus = min(cpus, most)
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


@internal
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


@internal
def _gather(
    job: Ints,
    least: int,
    most: int,
    wanted: int,
    machine: Machine,
    gpus: Ints,
    usable: Marks,
    cpus: Ints,
    chosen: Marks,
) -> bool:
    """Choose nodes among the usable ones; return whether they suffice. ``cpus`` becomes what the job takes."""
    nodes = usable.size
    chosen[:] = 0
    size = 0
    for n in range(nodes):
        size += usable[n]
    if size < least:
        return False
    left = job[MIN_CPUS]  # CPUs
    most_left = job[MIN_CPUS]
    gpus_left = job[GPUS_OF_JOB]
    nodes_left = max(least, wanted)
    if gpus_left > 0:
        nodes_left = min(least, wanted)
    least_left = least
    must = job[REQUIRED]
    if must >= 0:
        for n in range(nodes):
            if machine.masks[must, n] and most > 0:
                if not usable[n]:
                    return False
                cpus[n] = _cut(job, cpus[n], most_left, least_left, machine.threads[n])
                if cpus[n] == 0:
                    return False
                chosen[n] = 1
                left -= cpus[n]
                most_left -= cpus[n]
                gpus_left -= gpus[n]
                nodes_left -= 1
                least_left -= 1
                most -= 1
        if nodes_left <= 0 and left <= 0 and gpus_left <= 0:
            return True
        if most <= 0:
            return False

    # the runs of consecutive nodes of one weight
    begins = np.empty(nodes + 1, np.int64)
    ends = np.empty(nodes + 1, np.int64)
    run_cpus = np.empty(nodes + 1, np.int64)
    run_nodes = np.empty(nodes + 1, np.int64)
    run_gpus = np.empty(nodes + 1, np.int64)
    run_must = np.empty(nodes + 1, np.int64)
    weight = np.empty(nodes + 1, np.int64)
    runs = 0
    is_open = False
    for n in range(nodes):
        if not usable[n]:
            is_open = False
            continue
        if is_open and not job[CONTIGUOUS] and weight[runs - 1] != machine.weight[n]:
            is_open = False
        if not is_open:
            begins[runs] = n
            run_cpus[runs] = 0
            run_nodes[runs] = 0
            run_gpus[runs] = 0
            run_must[runs] = -1
            weight[runs] = machine.weight[n]
            runs += 1
            is_open = True
        ends[runs - 1] = n
        if chosen[n]:
            if run_must[runs - 1] < 0:
                run_must[runs - 1] = n
        else:
            run_cpus[runs - 1] += cpus[n]
            run_nodes[runs - 1] += 1
            run_gpus[runs - 1] += gpus[n]

    while most > 0:
        best = -1
        best_enough = False
        for r in range(runs):
            if run_nodes[r] == 0:
                continue
            if job[CONTIGUOUS] and must >= 0 and run_must[r] < 0:
                continue
            needed = nodes_left
            if wanted > least:
                needed = nodes_left + least - wanted
            enough = run_cpus[r] >= left and run_nodes[r] >= needed and run_gpus[r] >= gpus_left
            better = False
            if best < 0 or (run_must[best] < 0 and run_must[r] >= 0) or weight[r] < weight[best]:
                better = True
            elif weight[r] == weight[best]:
                if enough:
                    better = not best_enough or run_cpus[r] < run_cpus[best]
                else:
                    better = run_cpus[r] > run_cpus[best]
            if not better and not best_enough and job[CONTIGUOUS] and enough:
                better = True
            if better:
                best = r
                best_enough = enough
        if best < 0 or (job[CONTIGUOUS] and not best_enough):
            break
        first = begins[best]
        last = ends[best]
        single = -1
        if run_must[best] < 0 and nodes_left <= 1:
            for n in range(first, last + 1):
                if chosen[n] or cpus[n] < left or gpus[n] < gpus_left:
                    continue
                if single < 0 or cpus[n] < cpus[single]:
                    single = n
                    if cpus[n] == left:
                        break
        step = 0
        at = run_must[best] if run_must[best] >= 0 else first
        going_down = False
        while True:  # up from the first node, or from a required one and then down
            n = at + step
            step += 1
            if going_down:
                n = run_must[best] - step
                if n < first:
                    break
            elif n > last:
                if run_must[best] < 0:
                    break
                going_down = True
                step = 0
                continue
            if most == 0 or (nodes_left <= 0 and left <= 0 and gpus_left <= 0):
                break
            if chosen[n] or cpus[n] <= 0 or (single >= 0 and n != single):
                continue
            if most == 1 and run_must[best] < 0 and cpus[n] < left:
                continue
            cpus[n] = _cut(job, cpus[n], most_left, least_left, machine.threads[n])
            chosen[n] = 1
            left -= cpus[n]
            most_left -= cpus[n]
            gpus_left -= gpus[n]
            nodes_left -= 1
            least_left -= 1
            most -= 1
        if nodes_left <= 0 and left <= 0 and gpus_left <= 0:
            return True
        run_cpus[best] = 0
        run_nodes[best] = 0
    needed = nodes_left
    if wanted > least:
        needed = nodes_left + least - wanted
    return left <= 0 and gpus_left <= 0 and needed <= 0


@internal
def _gather_one_by_one(
    job: Ints,
    least: int,
    most: int,
    wanted: int,
    machine: Machine,
    gpus: Ints,
    usable: Marks,
    cpus: Ints,
    chosen: Marks,
    by_load: bool,
) -> bool:
    """As ``_gather``: the least loaded nodes first (LLN), or serial jobs on the last nodes (pack_serial_at_end)."""
    chosen[:] = 0
    left = job[MIN_CPUS]
    gpus_left = job[GPUS_OF_JOB]
    nodes_left = max(least, wanted)
    least_left = least
    while most > 0 and (nodes_left > 0 or left > 0 or gpus_left > 0):
        best = -1
        for i in range(usable.size):
            n = i if by_load else usable.size - 1 - i
            if not usable[n] or chosen[n] or cpus[n] <= 0:
                continue
            lighter = best >= 0 and machine.weight[n] < machine.weight[best]
            if best >= 0 and machine.weight[n] == machine.weight[best] and by_load:
                lighter = cpus[n] * machine.total[best, CPUS] > cpus[best] * machine.total[n, CPUS]
            if best < 0 or lighter:
                best = n
        if best < 0:
            break
        cpus[best] = _cut(job, cpus[best], left, least_left, machine.threads[best])
        chosen[best] = 1
        left -= cpus[best]
        gpus_left -= gpus[best]
        nodes_left -= 1
        least_left -= 1
        most -= 1
    return left <= 0 and gpus_left <= 0 and least_left <= 0


@internal
def _deal(job: Ints, machine: Machine, chosen: Marks, cpus: Ints, taken: Ints) -> None:
    """Deal the CPUs of the job to the chosen nodes: one task for each, then one unit for each in turns, up to ``cpus``."""
    nodes = chosen.size
    number = 0
    for n in range(nodes):
        taken[n, 0] = 0
        number += chosen[n]
    if job[WHOLE] and machine.parameters[IN_UNITS] == 0:
        for n in range(nodes):
            if chosen[n]:
                taken[n, 0] = machine.total[n, CPUS]
        return
    per_task = job[CPUS_PER_TASK]
    wanted = max(number * max(1, job[TASKS_PER_NODE] * per_task), job[MIN_CPUS])
    tasks = max(1, wanted // per_task)
    if job[TASKS_PER_NODE] > 0 and per_task > 1:
        tasks = number * job[TASKS_PER_NODE]
    listed = np.flatnonzero(chosen)
    on = np.zeros(nodes, np.int64)
    going = True
    while going and tasks > 0:
        going = False
        for k in range(listed.size):
            n = int(listed[k])
            at_once = 1
            if on[n] > 0:
                at_once = max(1, machine.threads[n] // per_task)
            for _ in range(at_once):
                if tasks <= 0 or (on[n] > 0 and cpus[n] - taken[n, 0] < per_task):
                    break
                if job[TASKS_PER_NODE] > 0 and on[n] >= job[TASKS_PER_NODE]:
                    break
                on[n] += 1
                tasks -= 1
                taken[n, 0] = min(cpus[n], taken[n, 0] + per_task)
                going = True
    for n in range(nodes):
        if chosen[n]:  # whole units
            unit = machine.threads[n]
            taken[n, 0] = -(-taken[n, 0] // unit) * unit


@native
def pick_nodes(j: int, p: int, machine: Machine, mask: Marks, free: Ints, use: Ints, how: int, taken: Ints) -> int:
    """Choose the nodes of a job; return their number, 0 if it does not fit.

    Parameters
    ----------
    j, p
        The rows of the job and of its partition.
    machine
        The tables.
    mask
        The nodes that may be chosen, shape (nodes,), 0 or 1.
    free, use
        What is free, as in the tables.
    how
        ``NOW_FREE`` or ``EMPTY``.
    taken
        Output: the CPUs, the memory and the GPUs that the job takes on each node, shape (nodes, 3); CPUs are 0 on other nodes.
    """
    nodes = mask.size
    job = machine.jobs[j]
    part = machine.parts[p]
    in_units = machine.parameters[IN_UNITS] > 0
    if in_units:
        taken[:, 0] = 0
    else:
        taken[:, :] = 0
    least = max(job[MIN_NODES], part[PART_MIN_NODES])
    most = part[PART_MAX_NODES]
    wanted = least
    if job[MAX_NODES] > 0:
        most = min(job[MAX_NODES], most)
        wanted = most
    most = min(most, MANY)
    if most < least:
        return 0
    cpus = np.zeros(nodes, np.int64)
    gpus = np.zeros(nodes, np.int64)
    usable = np.zeros(nodes, np.uint8)
    size = 0
    must = job[REQUIRED]
    units = 0
    for n in range(nodes):
        if not mask[n]:
            if must >= 0 and machine.masks[must, n]:
                return 0
            continue
        if job[ALLOWED] >= 0 and not machine.masks[job[ALLOWED], n]:
            continue
        if in_units:
            cpus[n] = units_on(j, n, machine, free, how)
            units += int(cpus[n])
        else:
            cpus[n] = _cpus_on(job, part, n, machine, free, use, how)
        if cpus[n] > 0:
            usable[n] = 1
            size += 1
            if job[GPUS_OF_JOB] > 0:
                gpus[n] = _gpus_free(job, machine.total[n] if how == EMPTY else free[n])
        elif must >= 0 and machine.masks[must, n]:
            return 0
    if size < least or (in_units and units < job[MIN_CPUS]):
        return 0
    if job[TASKS_PER_NODE] > 0 and job[TASKS] > 0:
        least = max(least, -(-job[TASKS] // job[TASKS_PER_NODE]))
    elif job[TASKS] > 0 and most > job[TASKS]:
        most = max(job[TASKS], least)
    chosen = np.zeros(nodes, np.uint8)
    one_by_one = part[LEAST_LOADED] > 0 or machine.parameters[LEAST_LOADED_NODES] > 0
    by_load = one_by_one
    if machine.parameters[SERIAL_AT_END] > 0 and job[MIN_CPUS] == 1 and wanted == 1:
        one_by_one = True
    if one_by_one and must < 0:
        if not _gather_one_by_one(job, least, most, wanted, machine, gpus, usable, cpus, chosen, by_load):
            return 0
    elif not _gather(job, least, most, wanted, machine, gpus, usable, cpus, chosen):
        if size <= least:
            if not _gather(job, least, most, wanted, machine, gpus, usable, cpus, chosen):
                return 0
        else:
            largest = 0
            for n in range(nodes):
                if usable[n]:
                    largest = max(largest, cpus[n])
            fits = False
            for few in range(1, largest):
                removed = 0
                for n in range(nodes):
                    if usable[n] and 0 < cpus[n] <= few and not (must >= 0 and machine.masks[must, n]):
                        usable[n] = 0
                        removed += 1
                        size -= 1
                        if size <= least:
                            break
                if removed == 0 and few > 1:
                    continue
                fits = _gather(job, least, most, wanted, machine, gpus, usable, cpus, chosen)
                if fits or size <= least:
                    break
            if not fits:
                return 0
    number = 0
    for n in range(nodes):
        number += chosen[n]
    if number > most and job[MAX_NODES] > 0:
        return 0
    _deal(job, machine, chosen, cpus, taken)
    if in_units:
        return number
    gpus_left = job[GPUS_OF_JOB]
    for n in range(nodes):
        if not chosen[n]:
            continue
        if machine.parameters[MEMORY_COUNTS] > 0:
            if job[MEMORY_PER_CPU] >= 0:
                taken[n, 1] = taken[n, 0] * job[MEMORY_PER_CPU]
            elif job[MEMORY_PER_NODE] > 0:
                taken[n, 1] = job[MEMORY_PER_NODE]
            else:
                taken[n, 1] = machine.total[n, MEMORY]
            if how != EMPTY and taken[n, 1] > free[n, MEMORY]:
                return 0
        taken[n, 2] = job[GPUS]
        if gpus_left > 0:
            taken[n, 2] = min(gpus[n], gpus_left)
            gpus_left -= taken[n, 2]
        if job[WHOLE] and machine.total.shape[1] > FIRST_GPU:
            for t in range(FIRST_GPU, machine.total.shape[1]):
                taken[n, 2] = max(taken[n, 2], machine.total[n, t])
    return number


@internal
def take(job: Ints, row: Ints, piece: Ints, taken: Ints, whole: bool) -> None:
    """Take the amounts of a piece of a job off the free amounts of its node, and write the piece's columns."""
    row[CPUS] -= taken[0]
    row[MEMORY] -= taken[1]
    piece[0] = taken[0]
    piece[1] = taken[1]
    left = taken[2]
    for t in range(FIRST_GPU, row.size):
        number = 0
        if whole:
            number = row[t]
        elif left > 0 and (job[GPU_TYPE] < 0 or job[GPU_TYPE] == t - FIRST_GPU):
            number = min(left, row[t])
            left -= number
        row[t] -= number
        piece[t] = number


@internal
def take_units(j: int, n: int, machine: Machine, units: int, piece: Ints) -> None:
    """Take what units of a job hold off the free amounts of node n; write the piece's columns, and then the units."""
    piece[machine.free.shape[1]] = units
    for r in range(machine.free.shape[1]):
        amount = units * machine.request[j, r]
        if machine.jobs[j, WHOLE]:
            amount = machine.free[n, r]
        machine.free[n, r] -= amount
        piece[r] = amount
