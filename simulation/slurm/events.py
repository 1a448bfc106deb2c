"""A replay under Slurm's rules in compiled code, from event to event: when passes are due, and what each starts.

The tables of ``Machine`` follow the engine's state: a job that starts or ends changes both. The queue is kept in order.
In which order the queue is, and what a pass starts, is said by ``priority`` and ``passes``. The times of passes are used by
replays event by event, too (``PassTimes``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

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
from ...heuristics.kernels.profile import NEVER
from ...models.array_types import Bools, Floats, Ints
from ...models.compiled import by_address, compiled, internal, internal_borrowing
from ...models.site import SchedulerSettings
from ..dispatchers.policy import NO_PHASES, Phases
from .columns import (
    ARRAY,
    CPU_AMOUNT,
    DEPTH,
    ELIGIBLE,
    LIMIT_CPUS,
    NONE,
    NOW,
    PIECE_FREE,
    PIECE_NODE,
    QUEUE_COLUMNS,
    QUEUE_JOB,
    QUEUE_NUMBER,
    QUEUE_PARTITION,
    QUEUE_PRIORITY,
    RELEASES,
    RUN_COUNT,
    RUN_END,
    RUN_FIRST,
    RUN_JOB,
    RUN_START,
    RUNNING_TASKS,
    WHOLE,
    WHOLE_ON,
)
from .passes import comes_before, last_with_room, run_backfill, run_main, set_as_now, sort_rows
from .priority import Factors, add_usage, decay_usage, usage_of, weigh
from .selection import Machine, note_free

LONG_AGO = -(2**60)

# The periods.
BEGIN = 0  # the time from which they are counted
MAIN_PHASE = 1
BACKFILL_PHASE = 2
MAIN_INTERVAL = 3  # sched_interval; below 1: the main scheduler never runs
MAIN_DELAY = 4  # batch_sched_delay
BACKFILL_INTERVAL = 5  # 0: the backfill scheduler never runs
PERIOD_COLUMNS = 6

# What is planned.
LAST_MAIN = 0
MAIN_DUE = 1  # NEVER: it is not planned
WHOLE_QUEUE = 2  # whether that pass takes the whole queue
BACKFILL_DUE = 3
DUE_COLUMNS = 4

# What ``plan_passes`` has planned.
NEW_MAIN = 1
NEW_BACKFILL = 2


@internal_borrowing
def _on_grid(periods: Ints, time: int, phase: int, step: int) -> int:
    """Return the first time from ``time`` on that is a multiple of ``step`` after the begin and the phase."""
    return int(time + (periods[BEGIN] + phase - time) % step)


@internal_borrowing
def plan_passes(periods: Ints, due: Ints, time: int) -> int:
    """Plan the passes that become due as something has changed at a time; return which are new."""
    new = 0
    if due[MAIN_DUE] == NEVER and periods[MAIN_INTERVAL] > 0:
        interval = periods[MAIN_INTERVAL]
        whole = _on_grid(periods, time, periods[MAIN_PHASE], interval)
        last = max(due[LAST_MAIN], whole - interval)
        soon = max(time, last + periods[MAIN_DELAY])
        due[MAIN_DUE] = min(whole, soon)
        due[WHOLE_QUEUE] = whole <= soon
        new += NEW_MAIN
    if due[BACKFILL_DUE] == NEVER and periods[BACKFILL_INTERVAL] > 0:
        due[BACKFILL_DUE] = _on_grid(periods, time, periods[BACKFILL_PHASE], periods[BACKFILL_INTERVAL])
        new += NEW_BACKFILL
    return new


@internal_borrowing
def note_main(due: Ints, time: int) -> None:
    """Note that the main scheduler runs now."""
    due[MAIN_DUE] = NEVER
    due[LAST_MAIN] = time


@internal_borrowing
def note_backfill(due: Ints) -> None:
    """Note that the backfill scheduler runs now."""
    due[BACKFILL_DUE] = NEVER


@compiled
def _plan(periods: Ints, due: Ints, time: int) -> int:
    return plan_passes(periods, due, time)


class Pass(NamedTuple):
    """A pass that is due: its time, whether it is one of the backfill scheduler, and whether it takes the whole queue."""

    time: int
    backfill: bool
    whole_queue: bool = False


def main_delay(settings: SchedulerSettings) -> int:
    """Return the seconds between two passes of the main scheduler that follow something that has happened.

    >>> main_delay(SchedulerSettings(batch_sched_delay=3, sched_min_interval=5_500_000)), main_delay(SchedulerSettings())
    (6, 3)
    """
    return max(settings.batch_sched_delay, -(-settings.sched_min_interval // 1_000_000))


class PassTimes:
    """When passes are due. Nothing is planned while nothing changes: a pass would start nothing.

    The controller looks once a second whether the main scheduler is to run: over the whole queue every sched_interval, else if
    something has happened and the last pass was batch_sched_delay, and sched_min_interval, ago. The backfill scheduler runs every bf_interval.

    Parameters
    ----------
    settings : SchedulerSettings
        The periods.
    begin : int
        The time from which periods are counted.
    phases : Phases, optional
        When in their periods the two schedulers run.

    Examples
    --------
    >>> times = PassTimes(SchedulerSettings(bf_interval=30, sched_interval=60, batch_sched_delay=3), begin=0)
    >>> list(times.after_change(100))
    [Pass(time=100, backfill=False, whole_queue=False), Pass(time=120, backfill=True, whole_queue=False)]
    >>> list(times.after_change(101))  # both are planned
    []
    >>> times.main_runs(100)
    >>> list(times.after_change(101))
    [Pass(time=103, backfill=False, whole_queue=False)]
    """

    def __init__(self, settings: SchedulerSettings, begin: int, phases: Phases = NO_PHASES) -> None:
        has_backfill = settings.scheduler_type == "backfill"
        self.periods: Ints = np.zeros(PERIOD_COLUMNS, np.int64)
        self.periods[BEGIN] = begin
        self.periods[MAIN_PHASE] = phases.main
        self.periods[BACKFILL_PHASE] = phases.backfill
        self.periods[MAIN_INTERVAL] = settings.sched_interval
        self.periods[MAIN_DELAY] = main_delay(settings)
        if has_backfill:
            self.periods[BACKFILL_INTERVAL] = max(0, settings.bf_interval)
        else:
            self.periods[BACKFILL_INTERVAL] = 0
        self.due: Ints = np.zeros(DUE_COLUMNS, np.int64)
        self.due[LAST_MAIN] = LONG_AGO
        self.due[[MAIN_DUE, BACKFILL_DUE]] = NEVER

    def after_change(self, time: int) -> Iterator[Pass]:
        """Yield the passes that become due as something has changed at a time."""
        new = _plan(self.periods, self.due, time)
        if new & NEW_MAIN:
            yield Pass(int(self.due[MAIN_DUE]), False, bool(self.due[WHOLE_QUEUE]))
        if new & NEW_BACKFILL:
            yield Pass(int(self.due[BACKFILL_DUE]), True)

    def main_runs(self, time: int) -> None:
        """Note that the main scheduler runs now."""
        self.due[MAIN_DUE] = NEVER
        self.due[LAST_MAIN] = time

    def backfill_runs(self) -> None:
        """Note that the backfill scheduler runs now."""
        self.due[BACKFILL_DUE] = NEVER


# Numbers of a replay.
QUEUED = 0  # rows of the queue
QUEUED_PIECES = 13  # the most nodes of their jobs together
SEEN = 1  # waiting jobs that have been taken into the queue
RELEASED = 2  # 1: a job has ended since the last decision
CHANGED = 3  # 1: a job has ended or arrived since the last decision
SETTLED = 4  # how much of the last event is done
CALL = 5  # the next of the times at which the scheduler is called in any case
NEXT_BASIC = 6  # the priority of the next job, with priority/basic
AGES = 7  # 1: priorities change with time
COUNTS_USAGE = 8  # 1: usage counts in them
UPDATED = 9  # when they were last updated
PERIOD = 10  # of their updates
UPDATE_CALL = 11  # when the scheduler is called for an update; NEVER: it is not
IDLE = 12  # events in a row at which nothing ran or was to come
NUMBERS = 14

# The values of SETTLED.
NEW_EVENT = 0  # the next event is to come
FOLLOWED = 1  # the tables and the queue follow the last event
RANKED = 2  # and the ranks of the shares are new

# Why ``replay_alone`` returns.
OVER = 0  # nothing happens any more
MORE = 1  # the events that were asked for have happened
FULL = 2  # there is no room for the pieces of further jobs; make some, and go on
RANK = 3  # usage has changed; rank the shares, and go on


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
        The times of passes, and which are due; see ``plan_passes``.
    main, backfill
        The parameters of the two passes.
    owners
        The numbers of users and of associations.
    most_pieces
        How many nodes each job may have, shape (jobs,).
    numbers
        Shape (NUMBERS,).
    most
        How many jobs a pass over the whole queue looks at, and after how many events without a job that runs or comes the replay
        is over; shape (2,).
    factors
        What priorities are computed from.
    usage, parents
        The usage of each association, and the association above it, shape (associations,).
    billing
        What each job adds to the usage of its association per second, shape (jobs,).
    kept
        What is left of usage after a second, shape (1,).
    other
        An array of the shape of ``queue``.
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
    most: Ints
    factors: Factors
    usage: Floats
    parents: Ints
    billing: Floats
    kept: Floats
    other: Ints


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
def _billing_of(run: Ints, machine: Machine, alone: Alone) -> float:
    """Return what a run counts in its usage each second: of whole nodes, all CPUs."""
    j = run[RUN_JOB]
    column = machine.parameters[CPU_AMOUNT]
    counted = machine.need[j, LIMIT_CPUS]
    if not machine.jobs[j, WHOLE] or column < 0 or counted <= 0:
        return float(alone.billing[j])
    cpus = 0
    for i in range(run[RUN_FIRST], run[RUN_FIRST] + run[RUN_COUNT]):
        cpus += machine.total[machine.pieces[i, PIECE_NODE], column]
    return float(alone.billing[j] * cpus / counted)


@internal
def _use(r: int, now: int, machine: Machine, alone: Alone) -> None:
    """Count the usage of a run since the last update."""
    run = machine.runs[r]
    association = alone.factors.association[run[RUN_JOB]]
    if alone.numbers[COUNTS_USAGE] > 0 and association >= 0:
        seconds = max(0, now - max(run[RUN_START], alone.numbers[UPDATED]))
        used = usage_of(seconds, _billing_of(run, machine, alone), alone.kept[0])
        add_usage(alone.usage, alone.parents, association, used)


@internal
def _end(j: int, now: int, machine: Machine, alone: Alone) -> None:
    """Let a running job end: its nodes are free again, and it counts in no limit any more."""
    r = 0
    while machine.runs[r, RUN_JOB] != j:
        r += 1
    _use(r, now, machine, alone)
    first = machine.runs[r, RUN_FIRST]
    for i in range(first, first + machine.runs[r, RUN_COUNT]):
        n = machine.pieces[i, PIECE_NODE]
        for k in range(machine.free.shape[1]):
            machine.free[n, k] += machine.pieces[i, PIECE_FREE + k]
        machine.use[n, WHOLE_ON] -= machine.jobs[j, WHOLE]
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
    wanted = alone.numbers[QUEUED_PIECES]
    if machine.counts[1] + wanted <= machine.pieces.shape[0]:
        return True
    _close_gaps(machine)
    return bool(machine.counts[1] + wanted <= machine.pieces.shape[0])


# --- The queue.


@internal
def _arrives(j: int, now: int, machine: Machine, alone: Alone) -> None:
    """Put a job into the queue, once for each of its partitions; tasks of arrays are eligible a second later."""
    numbers = alone.numbers
    since = now + 1 if machine.jobs[j, ARRAY] >= 0 else now
    if not alone.never[j]:
        machine.jobs[j, ELIGIBLE] = since
        alone.factors.since[j] = since
    if numbers[AGES] > 0:
        weigh(j, now, alone.factors, alone.priority)
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
        row[QUEUE_NUMBER] = k
        while i > 0 and comes_before(queue[i], queue[i - 1], machine):
            for c in range(QUEUE_COLUMNS):
                queue[i, c], queue[i - 1, c] = queue[i - 1, c], queue[i, c]
            i -= 1
        numbers[QUEUED] += 1
        numbers[QUEUED_PIECES] += alone.most_pieces[j]


@internal
def _remove_started(state: State, alone: Alone) -> None:
    """Take the jobs that have started out of the queue."""
    queue = alone.queue
    kept = 0
    for q in range(alone.numbers[QUEUED]):
        if state.start[queue[q, QUEUE_JOB]] != UNSTARTED:
            alone.numbers[QUEUED_PIECES] -= alone.most_pieces[queue[q, QUEUE_JOB]]
            continue
        for c in range(QUEUE_COLUMNS):
            queue[kept, c] = queue[q, c]
        kept += 1
    alone.numbers[QUEUED] = kept


# --- Priorities that change with time.


@internal
def _count_usage(now: int, machine: Machine, alone: Alone) -> None:
    """Let usage decay up to now, and count that of the running jobs."""
    decay_usage(alone.usage, now - alone.numbers[UPDATED], alone.kept[0])
    for r in range(machine.counts[0]):
        _use(r, now, machine, alone)


@internal
def _weigh_queue(now: int, state: State, machine: Machine, alone: Alone) -> None:
    """Compute the priorities of the waiting jobs, and sort the queue."""
    alone.numbers[UPDATED] = now
    for i in range(state.clock[WAITING]):
        weigh(state.waiting[i], now, alone.factors, alone.priority)
    queue = alone.queue
    for q in range(alone.numbers[QUEUED]):
        queue[q, QUEUE_PRIORITY] = alone.priority[queue[q, QUEUE_JOB], queue[q, QUEUE_NUMBER]]
    sort_rows(queue, alone.numbers[QUEUED], alone.other, machine)


@internal
def _update(state: State, machine: Machine, alone: Alone) -> bool:
    """Make the updates of the priorities up to now; return False if the shares are to be ranked first."""
    numbers = alone.numbers
    while numbers[AGES] > 0 and numbers[UPDATED] + numbers[PERIOD] <= state.clock[CLOCK]:
        time = numbers[UPDATED] + numbers[PERIOD]
        if numbers[COUNTS_USAGE] > 0 and numbers[SETTLED] != RANKED:
            _count_usage(time, machine, alone)
            return False
        numbers[SETTLED] = FOLLOWED
        _weigh_queue(time, state, machine, alone)
    return True


# --- What happens at an event.


@internal
def _settle(trace: TraceArrays, state: State, machine: Machine, alone: Alone) -> None:
    """Let the tables and the queue follow the jobs that have ended and arrived."""
    numbers = alone.numbers
    now = state.clock[CLOCK]
    for i in range(state.clock[ENDED]):
        _end(state.ended[i], now, machine, alone)
        numbers[RELEASED] = 1
        numbers[CHANGED] = 1
    for i in range(numbers[SEEN], state.clock[WAITING]):
        _arrives(state.waiting[i], now, machine, alone)
        numbers[CHANGED] = 1
    numbers[SEEN] = state.clock[WAITING]


@internal
def _take_amounts(j: int, trace: TraceArrays, machine: Machine) -> None:
    """Let a job with whole nodes count in the limits of the engine what its nodes have."""
    if machine.jobs[j, WHOLE]:
        for k in range(trace.first_limit[j + 1] - trace.first_limit[j]):
            row = machine.groups[machine.first_group[j] + k]
            if row[4] > 0:
                trace.limit_amount[trace.first_limit[j] + k] = row[1]


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
        _take_amounts(run[RUN_JOB], trace, machine)
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
        machine.parameters[DEPTH] = alone.most[0]
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
        own_call = False
    if numbers[UPDATE_CALL] <= now:
        numbers[UPDATE_CALL] = NEVER
        own_call = False
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
    if numbers[AGES] > 0 and state.clock[WAITING] > 0:
        numbers[UPDATE_CALL] = numbers[UPDATED] + numbers[PERIOD]


@internal
def _wake(trace: TraceArrays, state: State, alone: Alone) -> None:
    """Let the replay come to the next pass, if a job is left."""
    clock = state.clock
    to_come = clock[DUE] > 0 or clock[NEXT] < trace.order.size - trace.follower.size
    if clock[WAITING] + clock[RUNNING] == 0 and not to_come:
        return
    clock[WAKE] = min(clock[WAKE], alone.due[MAIN_DUE], alone.due[BACKFILL_DUE], alone.numbers[UPDATE_CALL])
    if alone.numbers[CALL] < alone.calls.size:
        clock[WAKE] = min(clock[WAKE], alone.calls[alone.numbers[CALL]])


@internal
def _stands_still(trace: TraceArrays, state: State, alone: Alone) -> bool:
    """Return whether nothing runs or comes, and further updates of the priorities have started no job for long."""
    clock = state.clock
    numbers = alone.numbers
    to_come = clock[DUE] > 0 or clock[NEXT] < trace.order.size - trace.follower.size
    if clock[RUNNING] > 0 or to_come:
        numbers[IDLE] = 0
        return False
    numbers[IDLE] += 1
    return bool(numbers[IDLE] > alone.most[1])


@compiled
def replay_alone(trace: TraceArrays, state: State, machine: Machine, alone: Alone, period: int, events: int) -> int:
    """Replay at most ``events`` events; return ``OVER``, ``MORE``, ``FULL`` or ``RANK``.

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
    numbers = alone.numbers
    for _ in range(events):
        if numbers[SETTLED] == NEW_EVENT:
            _wake(trace, state, alone)
            if not step(trace, state, period):
                return OVER
            _settle(trace, state, machine, alone)
            numbers[SETTLED] = FOLLOWED
        if not _update(state, machine, alone):
            return RANK
        if not _has_space(machine, alone):
            return FULL
        numbers[SETTLED] = NEW_EVENT
        state.clock[DECISIONS] += 1
        _decide(trace, state, machine, alone)
        if numbers[AGES] > 0 and _stands_still(trace, state, alone):
            return OVER
    return MORE
