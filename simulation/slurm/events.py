"""A replay under Slurm's rules in compiled code, from event to event, where nothing but the jobs and Slurm moves.

The tables of ``Machine`` follow the engine's state: a job that starts or ends changes both. The queue is kept in order.
Which pass is due when, in which order the queue is, and what a pass starts is said by ``pass_times`` and ``passes``.
"""

from __future__ import annotations

from typing import NamedTuple

from ...heuristics.kernels.by_address import by_address
from ...heuristics.kernels.events.rules import step
from ...heuristics.kernels.events.state import (
    DECISIONS,
    DUE,
    ENDED,
    NEXT,
    RUNNING,
    UNSTARTED,
    WAITING,
    WAKE,
    State,
    TraceArrays,
    begin,
    compact,
    keep_places,
)
from ...heuristics.kernels.events.state import NOW as CLOCK
from ...models.array_types import Bools, Ints
from ...models.compiled import compiled, internal
from .columns import (
    ARRAY,
    DEPTH,
    NONE,
    NOW,
    PIECE_FREE,
    PIECE_NODE,
    QUEUE_COLUMNS,
    QUEUE_JOB,
    QUEUE_PARTITION,
    QUEUE_PRIORITY,
    RELEASES,
    RUN_COUNT,
    RUN_END,
    RUN_FIRST,
    RUN_JOB,
    RUNNING_TASKS,
)
from .pass_times import (
    BACKFILL_DUE,
    MAIN_DUE,
    WHOLE_QUEUE,
    note_backfill,
    note_main,
    plan_passes,
)
from .passes import comes_before, last_with_room, run_backfill, run_main, set_as_now
from .selection import Machine, note_free

# Numbers of a replay.
QUEUED = 0  # rows of the queue
SEEN = 1  # waiting jobs that have been taken into the queue
RELEASED = 2  # 1: a job has ended since the last decision
CHANGED = 3  # 1: a job has ended or arrived since the last decision
SETTLED = 4  # 1: the tables and the queue follow the event that happened last
CALL = 5  # the next of the times at which the scheduler is called in any case
NEXT_BASIC = 6  # the priority of the next job, with priority/basic
NUMBERS = 7

# Why ``replay_alone`` returns.
OVER = 0  # nothing happens any more
MORE = 1  # the events that were asked for have happened
FULL = 2  # there is no room for the pieces of further jobs; make some, and go on


@by_address
class Alone(NamedTuple):
    """What a replay in compiled code has beside the tables of ``Machine``.

    Parameters
    ----------
    queue
        Job, partition and priority, in order; the first ``numbers[QUEUED]`` rows are in use.
    parts, priority
        The partitions of each job, -1: none, and its priority in each; shape (jobs, partitions of a job).
    never
        Whether a job may never start, shape (jobs,).
    nice
        What is taken off the priority of each job; used with priority/basic, else of shape (0,).
    calls
        Times at which the scheduler is called in any case, ascending.
    periods, due
        The tables of ``pass_times``.
    main, backfill
        The parameters of the two passes.
    owners
        The numbers of users and of associations.
    most_pieces
        How many nodes each job may have, shape (jobs,).
    numbers
        Shape (NUMBERS,).
    whole_depth
        How many jobs a pass over the whole queue looks at, shape (1,).
    """

    queue: Ints
    parts: Ints
    priority: Ints
    never: Bools
    nice: Ints
    calls: Ints
    periods: Ints
    due: Ints
    main: Ints
    backfill: Ints
    owners: Ints
    most_pieces: Ints
    numbers: Ints
    whole_depth: Ints


# --- The running jobs.


@internal
def _remove_run(machine: Machine, r: int) -> None:
    """Take a run off the running jobs; the others stay in order."""
    last = machine.counts[0] - 1
    for i in range(r, last):
        for k in range(machine.runs.shape[1]):
            machine.runs[i, k] = machine.runs[i + 1, k]
    kept = 0
    for i in range(last + 1):
        row = machine.order[i]
        if row != r:
            machine.order[kept] = row - 1 if row > r else row
            kept += 1
    machine.counts[0] = last


@internal
def _end(j: int, machine: Machine) -> None:
    """Let a running job end: its nodes are free again, and it counts in no limit any more."""
    r = 0
    while machine.runs[r, RUN_JOB] != j:
        r += 1
    first = machine.runs[r, RUN_FIRST]
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        n = machine.pieces[i, PIECE_NODE]
        for k in range(machine.free.shape[1]):
            machine.free[n, k] += machine.pieces[i, PIECE_FREE + k]
        note_free(n, machine, machine.free, machine.some)
        set_as_now(machine, n)
    for i in range(machine.first_group[j], machine.first_group[j + 1]):
        machine.used[machine.groups[i, 0], 0] -= machine.groups[i, 1]
    if machine.jobs[j, ARRAY] >= 0:
        machine.arrays[machine.jobs[j, ARRAY], RUNNING_TASKS] -= 1
    _remove_run(machine, r)


@internal
def _close_gaps(machine: Machine) -> None:
    """Move the pieces of the running jobs together."""
    at = 0
    for r in range(machine.counts[0]):
        first = machine.runs[r, RUN_FIRST]
        machine.runs[r, RUN_FIRST] = at
        for i in range(first, first + machine.runs[r, RUN_COUNT]):
            for k in range(machine.pieces.shape[1]):
                machine.pieces[at, k] = machine.pieces[i, k]
            at += 1
    machine.counts[1] = at


@internal
def _has_space(machine: Machine, alone: Alone) -> bool:
    """Return whether there is room for the pieces of all jobs in the queue; gaps are closed if there is none."""
    wanted = 0
    for q in range(alone.numbers[QUEUED]):
        wanted += alone.most_pieces[alone.queue[q, QUEUE_JOB]]
    if machine.counts[1] + wanted <= machine.pieces.shape[0]:
        return True
    _close_gaps(machine)
    return bool(machine.counts[1] + wanted <= machine.pieces.shape[0])


# --- The queue.


@internal
def _arrives(j: int, machine: Machine, alone: Alone) -> None:
    """Put a job into the queue, once for each of its partitions."""
    numbers = alone.numbers
    if alone.nice.size > 0:
        numbers[NEXT_BASIC] -= 1
        for k in range(alone.priority.shape[1]):
            alone.priority[j, k] = max(1, numbers[NEXT_BASIC] - alone.nice[j])
    if alone.never[j]:
        return
    queue = alone.queue
    for k in range(alone.parts.shape[1]):
        if alone.parts[j, k] < 0:
            continue
        i = numbers[QUEUED]
        row = queue[i]
        row[QUEUE_JOB] = j
        row[QUEUE_PARTITION] = alone.parts[j, k]
        row[QUEUE_PRIORITY] = alone.priority[j, k]
        while i > 0 and comes_before(queue[i], queue[i - 1], machine):
            for c in range(QUEUE_COLUMNS):
                queue[i, c], queue[i - 1, c] = queue[i - 1, c], queue[i, c]
            i -= 1
        numbers[QUEUED] += 1


@internal
def _remove_started(state: State, alone: Alone) -> None:
    """Take the jobs that have started out of the queue."""
    queue = alone.queue
    kept = 0
    for q in range(alone.numbers[QUEUED]):
        if state.start[queue[q, QUEUE_JOB]] != UNSTARTED:
            continue
        for c in range(QUEUE_COLUMNS):
            queue[kept, c] = queue[q, c]
        kept += 1
    alone.numbers[QUEUED] = kept


# --- What happens at an event.


@internal
def _settle(trace: TraceArrays, state: State, machine: Machine, alone: Alone) -> None:
    """Let the tables and the queue follow the jobs that have ended and arrived."""
    numbers = alone.numbers
    for i in range(state.clock[ENDED]):
        _end(state.ended[i], machine)
        numbers[RELEASED] = 1
        numbers[CHANGED] = 1
    for i in range(numbers[SEEN], state.clock[WAITING]):
        _arrives(state.waiting[i], machine, alone)
        numbers[CHANGED] = 1
    numbers[SEEN] = state.clock[WAITING]


@internal
def _begin_jobs(trace: TraceArrays, state: State, machine: Machine, alone: Alone, before: int) -> None:
    """Start in the engine what a pass has started in the tables: the runs from ``before`` on."""
    units = PIECE_FREE + machine.free.shape[1]
    for r in range(before, machine.counts[0]):
        run = machine.runs[r]
        for k in range(run[RUN_COUNT]):
            piece = machine.pieces[run[RUN_FIRST] + k]
            state.chosen[k] = piece[PIECE_NODE]
            state.put[k] = piece[units]
        keep_places(trace, state, run[RUN_JOB], run[RUN_COUNT])
        begin(trace, state, run[RUN_JOB])
    if machine.counts[0] == before:
        return
    compact(state)
    alone.numbers[SEEN] = state.clock[WAITING]
    _remove_started(state, alone)
    if state.clock[WAITING] > 0:
        plan_passes(alone.periods, alone.due, state.clock[CLOCK] + 1)


@internal
def _run_pass(
    trace: TraceArrays, state: State, machine: Machine, alone: Alone, parameters: Ints, releases: int, backfill: bool
) -> None:
    """Run a pass over the part of the queue that has room, and start its jobs."""
    for k in range(parameters.size):
        machine.parameters[k] = parameters[k]
    machine.parameters[NOW] = state.clock[CLOCK]
    machine.parameters[RELEASES] = releases
    if not backfill and alone.due[WHOLE_QUEUE] > 0:
        machine.parameters[DEPTH] = alone.whole_depth[0]
    size = last_with_room(alone.queue, alone.numbers[QUEUED], machine) + 1
    if size == 0:
        return
    queue = alone.queue
    for q in range(size):
        j = queue[q, QUEUE_JOB]
        machine.reason[j] = NONE
        if backfill:
            machine.planned[j] = 0
    before = machine.counts[0]
    if backfill:
        run_backfill(queue, size, machine, alone.owners[0], alone.owners[1])
    else:
        run_main(queue, size, machine)
    _begin_jobs(trace, state, machine, alone, before)


@internal
def _decide(trace: TraceArrays, state: State, machine: Machine, alone: Alone) -> None:
    """Run the passes that are due; as ``SlurmScheduler.decide``, which also knows of what features do."""
    numbers = alone.numbers
    due = alone.due
    now = state.clock[CLOCK]
    own_call = due[MAIN_DUE] == now or due[BACKFILL_DUE] == now
    changed = numbers[CHANGED] > 0
    while numbers[CALL] < alone.calls.size and alone.calls[numbers[CALL]] <= now:
        numbers[CALL] += 1
    releases = machine.parameters[RELEASES]
    if numbers[RELEASED] > 0 or not (changed or own_call):
        releases += 1
        machine.parameters[RELEASES] = releases
    numbers[RELEASED] = 0
    numbers[CHANGED] = 0
    if (changed or not own_call) and state.clock[WAITING] > 0:
        plan_passes(alone.periods, due, now)
    if due[MAIN_DUE] <= now:
        note_main(due, now)
        _run_pass(trace, state, machine, alone, alone.main, releases, False)
    if due[BACKFILL_DUE] <= now:
        note_backfill(due)
        _run_pass(trace, state, machine, alone, alone.backfill, releases, True)
        overdue = machine.counts[0] > 0 and machine.runs[machine.order[0], RUN_END] < now
        if overdue and state.clock[WAITING] > 0:
            plan_passes(alone.periods, due, now + 1)


@internal
def _wake(trace: TraceArrays, state: State, alone: Alone) -> None:
    """Let the replay come to the next pass, if a job is left."""
    clock = state.clock
    to_come = clock[DUE] > 0 or clock[NEXT] < trace.order.size - trace.follower.size
    if clock[WAITING] + clock[RUNNING] == 0 and not to_come:
        return
    clock[WAKE] = min(clock[WAKE], alone.due[MAIN_DUE], alone.due[BACKFILL_DUE])
    if alone.numbers[CALL] < alone.calls.size:
        clock[WAKE] = min(clock[WAKE], alone.calls[alone.numbers[CALL]])


@compiled
def replay_alone(trace: TraceArrays, state: State, machine: Machine, alone: Alone, period: int, events: int) -> int:
    """Replay at most ``events`` events; return ``OVER``, ``MORE`` or ``FULL``.

    Parameters
    ----------
    trace, state
        The jobs and the state of the engine.
    machine, alone
        The tables.
    period
        Decide also at the multiples of this many seconds while jobs wait; 0: only at events.
    events
        Number of events.
    """
    for _ in range(events):
        if alone.numbers[SETTLED] == 0:
            _wake(trace, state, alone)
            if not step(trace, state, period):
                return OVER
            _settle(trace, state, machine, alone)
        alone.numbers[SETTLED] = 1
        if not _has_space(machine, alone):
            return FULL
        alone.numbers[SETTLED] = 0
        state.clock[DECISIONS] += 1
        _decide(trace, state, machine, alone)
    return MORE
