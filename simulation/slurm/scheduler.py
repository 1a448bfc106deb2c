"""Slurm as the scheduler of a replay: it is told what happens, and looks at its queue when Slurm does.

The engine's ledger is the truth: jobs arrive, start and end there. ``SlurmScheduler`` asks the engine for a call whenever a
pass of the main scheduler or of the backfill scheduler is due; the passes are those of ``passes``, and what they start is
started in the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.state import UNSTARTED
from ...heuristics.kernels.events.state import WAITING as WAITING_JOBS
from ...heuristics.kernels.profile import NEVER
from ...models.array_types import Bools, Ints
from ...models.site import SchedulerSettings, Site
from ..features.dependencies import Dependencies
from ..features.feature import Feature, Replay
from ..features.running import RunningAtBegin
from ..features.running_limits import RunningLimits
from .columns import LIMIT, LIMIT_CPUS, MIN_CPUS, QUEUE_COLUMNS
from .events import (
    AGES,
    COUNTS_USAGE,
    FULL,
    MORE,
    NEXT_BASIC,
    NUMBERS,
    OVER,
    PERIOD,
    RANK,
    RANKED,
    SETTLED,
    UPDATE_CALL,
    UPDATED,
    Alone,
    replay_alone,
)
from .jobs import ENDED_WELL
from .pass_times import PassTimes
from .priority import MOST
from .shared_tables import SharedTables, jobs_of
from .state import REQUEUE_DELAY, RUNNING, WAITING, WHOLE_QUEUE, SlurmStart, SlurmState

MOST_CALLS = 10_000  # events at which only priorities changed, after which nothing starts any more
RELEASING_AT_ENDS = (RunningAtBegin, RunningLimits, Dependencies)  # features that give no amounts free but as jobs end


class SlurmScheduler(Feature):
    """The scheduler of one replay.

    Parameters
    ----------
    site : Site
        The site, of kind ``"slurm"``.
    """

    watches = True
    follows_nodes = True

    def __init__(self, site: Site) -> None:
        assert isinstance(site.scheduler, SchedulerSettings)
        self.settings = site.scheduler
        self.site = site

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the site it does not obey, beyond what no dispatcher does."""
        if self.settings.preempt_type == "none":
            return ()
        return (f"not modelled: PreemptType={self.settings.preempt_type}; slurm preempts no job in a replay",)

    def begin(self, engine: Replay) -> None:
        """Make the tables of the jobs."""
        self._engine = engine
        jobs = jobs_of(engine.workload, self.site)
        first = min((job.submit for job in jobs), default=0)
        begin = first if engine.workload.begin is None else engine.workload.begin
        tables = SharedTables(engine, self.site, self.settings, jobs)
        self.tables = tables
        self.state = SlurmState(self.site, jobs, begin, begin, tables)
        self._times = PassTimes(self.settings, begin)
        self._due_main: int | None = None
        self._due_backfill: int | None = None
        self._whole_queue = False
        self._wakes: set[int] = set()
        self._changed = False
        self._released = True
        self._plain = all(isinstance(f, (*RELEASING_AT_ENDS, SlurmScheduler)) for f in engine.features)
        self._recorded_states = _states_of(engine)
        for time in tables.reservations[:, :2].ravel().tolist():
            if time >= begin:
                self._call_at(time, quiet=False)
        for row in engine.ledger.begun:
            tables.running[row] = None
        self._alone = self._alone_with(engine)

    # --- Alone, in compiled code.

    @property
    def alone(self) -> bool:
        """Whether nothing but the jobs and Slurm moves: the replay then runs in compiled code."""
        return self._alone is not None

    def _alone_with(self, engine: Replay) -> Alone | None:
        """Return the tables of a replay in compiled code; None: features must be told of each event."""
        known = all(isinstance(f, (SlurmScheduler, RunningLimits)) for f in engine.features)
        watched = any(f.watches for f in engine.features if f is not self)
        if not known or watched or engine.ledger.durations is None:
            return None
        if engine.options.charge or engine.workload.after or self.tables.calendars:
            return None
        never = self.state.never_eligible()
        if never is None:
            return None
        self.tables.job[:, LIMIT] = engine.ledger.limits(np.arange(len(never)))
        main, backfill = self.state.pass_parameters()
        self.tables.keep_all_runs()
        return self._tables_alone(never, main, backfill)

    def _tables_alone(self, never: Bools, main: Ints, backfill: Ints) -> Alone:
        """Return the tables; ``never``: which jobs are never eligible; the parameters of the two passes."""
        tables, state = self.tables, self.state
        priorities = state.priorities
        nice = np.zeros(0, np.int64)
        if priorities.multifactor:
            priorities.compute_all()
        else:
            nice = np.array([job.request.nice for job in state.jobs], np.int64)
        rows = int((state.partitions >= 0).sum())
        times = np.unique(tables.reservations[:, :2])
        cpus = tables.need[:, LIMIT_CPUS].astype(np.float64)
        return Alone(
            queue=np.zeros((rows, QUEUE_COLUMNS), np.int64),
            parts=state.partitions,
            priority=priorities.priority,
            never=never,
            nice=nice,
            calls=times[times >= state.begin],
            periods=self._times.periods,
            due=self._times.due,
            main=main,
            backfill=backfill,
            owners=np.array([tables.users, tables.associations], np.int64),
            most_pieces=np.minimum(tables.job[:, MIN_CPUS], len(tables.free)),
            numbers=self._numbers(),
            most=np.array([WHOLE_QUEUE, MOST_CALLS], np.int64),
            factors=priorities.factors,
            usage=priorities.shares.usage,
            parents=priorities.shares.parents,
            billing=cpus * np.array([priorities.usage_factor(k) for k in range(len(never))]),
            kept=np.array([priorities.shares.per_second]),
            other=np.zeros((rows, QUEUE_COLUMNS), np.int64),
        )

    def _numbers(self) -> Ints:
        """Return the numbers of a replay in compiled code at its begin."""
        numbers = np.zeros(NUMBERS, np.int64)
        numbers[NEXT_BASIC] = MOST
        numbers[AGES] = self.state.priorities.ages
        numbers[COUNTS_USAGE] = bool(self.settings.weight_fairshare)
        numbers[UPDATED] = self.state.begin
        numbers[PERIOD] = self.settings.calc_period
        numbers[UPDATE_CALL] = NEVER
        return numbers

    def replay(self, events: int) -> bool:
        """Replay at most so many events in compiled code; return False if nothing happens any more."""
        engine = self._engine
        assert self._alone is not None
        while True:
            machine = self.tables.machine()
            why = replay_alone(engine.trace, engine.state, machine, self._alone, engine.options.period, events)
            if why == RANK:
                self.state.priorities.shares.rank()
                self._alone.numbers[SETTLED] = RANKED
            elif why == FULL:
                self.tables.double_pieces()
            else:
                break
        if why == OVER:
            waiting = engine.state.waiting[: engine.state.clock[WAITING_JOBS]].tolist()
            self.state.resume(waiting, engine.running)
        return bool(why == MORE)

    # --- What happens.

    def arrived(self, rows: Sequence[int]) -> None:
        """Put jobs into the queue; one that comes back is not eligible at once."""
        self._changed = True
        now = self._engine.now
        for j in rows:
            again = bool(self._engine.ledger.log.counts[j])
            self.tables.job[j, LIMIT] = self._engine.ledger.limit(j)
            self.state.submit(j, now, now + REQUEUE_DELAY if again else None)

    def ended(self, rows: Sequence[int]) -> None:
        """Let jobs end."""
        if rows:
            self._changed = self._released = True
        for j in rows:
            self._ends(j, False)

    def ended_early(self, row: int, nodes: Sequence[int]) -> None:
        """Let a job end that comes back, or that leaves for good before its work is done."""
        self._changed = self._released = True
        self._ends(row, bool(self._engine.state.start[row] == UNSTARTED))

    def _ends(self, row: int, comes_back: bool) -> None:
        if self.state.state[row] != RUNNING:  # it began before the replay, or a feature started it
            self.tables.running.pop(row, None)
        else:
            self.state.end(row, self._engine.now, self._recorded_states.get(row, ENDED_WELL), comes_back)

    def nodes_changed(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """Look at the queue again."""
        self._changed = self._released = True

    def _note_changes(self, now: int) -> None:
        """Take over what the batch server has done to waiting jobs: other time limits, jobs that left the queue."""
        engine = self._engine
        ledger = engine.ledger
        for name in engine.take_changed():
            row = ledger.row[name]
            self.tables.job[row, LIMIT] = ledger.limit(row)
            self._changed = True
        if len(self.state.waiting) == len(ledger.waiting):
            return
        for row in [row for row in self.state.waiting if row not in ledger.waiting]:
            if row in ledger.left:
                self.state.cancel(row, now)
            else:
                self.state.withdraw(row)

    # --- The passes.

    def decide(self) -> None:
        """Run the passes that are due, and start their jobs."""
        engine = self._engine
        now = engine.now
        engine.plans.called(now)
        own_call = now in self._wakes
        self._wakes.discard(now)
        if self._released or not self._plain or not (self._changed or own_call):
            self.tables.releases += 1
            self._released = False
        self._note_changes(now)
        self.state.advance(now)
        if self._changed or not own_call:
            self._plan(now)
        self._changed = False
        if self._due_main is not None and self._due_main <= now:
            self._due_main = None
            self._times.main_runs(now)
            self._begin_jobs(self.state.main(now, self._whole_queue))
        if self._due_backfill is not None and self._due_backfill <= now:
            self._due_backfill = None
            self._times.backfill_runs()
            self._begin_jobs(self.state.backfill(now))
            if self._overdue():
                self._plan(now + 1)
        self._call_for_times()

    def _plan(self, time: int) -> None:
        """Plan the passes that follow a change, if jobs wait."""
        if not self.state.waiting:
            return
        for each in self._times.after_change(time):
            if each.backfill:
                self._due_backfill = each.time
            else:
                self._due_main = each.time
                self._whole_queue = each.whole_queue
            if each.time > self._engine.now:
                self._call_at(each.time)

    def _call_at(self, time: int, quiet: bool = True) -> None:
        """Ask the engine for a call; ``quiet``: nothing happens then beside what it was asked for."""
        self._engine.plans.call_at(time)
        if quiet:
            self._wakes.add(time)

    def _call_for_times(self) -> None:
        """Ask for calls at the next begin time of a job, and at the next update of the priorities."""
        if not self.state.waiting:
            return
        if self.state.next_begin is not None:
            self._call_at(self.state.next_begin, quiet=False)
        if self.state.priorities.ages:
            self._call_at(self.state.priorities.next_update, quiet=False)

    def _overdue(self) -> bool:
        """Whether a job runs beyond its limit, so that the end that is expected of it changes with time."""
        rows = np.array(self._engine.running, np.int64)
        ends = self._engine.state.start[rows] + self._engine.ledger.limits(rows)
        return bool((ends < self._engine.now).any())

    def _begin_jobs(self, starts: Sequence[SlurmStart]) -> None:
        for start in starts:
            pieces = self.tables.pieces_of(start.job)
            self._engine.start_at(start.job, pieces[:, 0], pieces[:, -1])
            self.tables.started(start.job, start.partition)
        if starts:
            self._plan(self._engine.now + 1)

    def why_waiting(self, row: int) -> str:
        """Return why a job waits, with Slurm's name."""
        if self.state.state[row] != WAITING:
            return ""
        if not self.tables.all_reasons:
            self.tables.all_reasons = True
            self.state.main(self._engine.now, whole_queue=True)
        return f"Slurm's reason is {self.state.reason(row)}"


def _states_of(engine: Replay) -> dict[int, str]:
    """Return the recorded states of the jobs that did not end well, by row."""
    w = engine.workload
    if w.site is None:
        return {}
    texts = np.array([state if state != ENDED_WELL else "" for state in w.site.texts])[w.site.state]
    return {int(k): str(texts[k]) for k in np.flatnonzero(texts != "")}
