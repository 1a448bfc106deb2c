"""The engine of a replay: it goes from event to event, lets features act, calls the dispatcher and makes its starts.

At each event, in this order: jobs end; jobs arrive; the actions of the agenda run, by rank; features act before the
decision (jobs inside reservations start, on-demand jobs start); planned starts are made; the dispatcher is called once;
features act after the decision (nodes are switched).

The rows of the ledger are in the arrays of the kernels. Where nothing needs Python at each event, a policy is replayed in
compiled code up to the next action of the agenda (``stretches``), else event by event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..heuristics.kernels.events.entries import advance, begin, compact, keep_places, release, release_later, step
from ..heuristics.kernels.events.machine import (
    ANY,
    JobNodes,
    by_name,
    counted,
    counted_nodes,
    is_everywhere,
    ranges_of,
    start_on,
    trace_of,
)
from ..heuristics.kernels.events.state import (
    DECISIONS,
    DUE,
    ENDED,
    NEXT,
    NOW,
    RUNNING,
    SORTED,
    STARTED,
    STOP,
    UNSTARTED,
    WAITING,
    WAKE,
    State,
    TraceArrays,
    new_state,
)
from ..heuristics.kernels.profile import NEVER
from ..instances.workload import Workload
from ..models import Platform, Running
from ..models.array_types import Ints
from ..models.dispatch.arrays import NodeSets
from ..models.dispatch.jobs import DAY
from ..models.plugins import is_false
from ..models.words import how_many
from .agenda import Agenda, Plans
from .decisions import CallStatistics, StartChecks, fault_of
from .dispatcher import Decision, DecisionFault, Dispatcher, FailedStart, Moment
from .dispatchers import policy_kernels as kernels
from .dispatchers.easy import correct
from .dispatchers.policy import BEST_FIT, Allocator, Chosen, Policy, rank_of
from .errors import SimulationError
from .features.feature import Feature, Options, Replay, Scheduler
from .features.running import ending_at
from .ledger import Ledger
from .predictors import TimedPredictor
from .rankers import Ranking
from .records import Decisions, History, NodeRanges
from .result import Simulation
from .timeline import Timeline, Use

# --- The rows, arrays and options of a replay, made of its jobs, its machine and its features.


@dataclass(frozen=True, eq=False)
class Setup:
    """What an engine begins with.

    Parameters
    ----------
    workload : Workload
        All rows.
    platform : Platform
    chosen : Chosen
        The dispatcher.
    predictor : TimedPredictor
    allocator : str
        How policies choose nodes.
    options : Options
    trace, state
        The arrays of the kernels.
    begun : mapping of int to tuple of Running
        Row of a job that runs at the begin -> its chunks.
    killed : ndarray of bool, shape (jobs,)
        Whether each job ends at its walltime before its work is done.
    durations : ndarray of int64 or None
        The expected durations of all rows in seconds, if they do not change as jobs end.
    whole_nodes : bool
        Whether each unit has a node of its own.
    """

    workload: Workload
    platform: Platform
    chosen: Chosen
    predictor: TimedPredictor
    allocator: str
    options: Options
    trace: TraceArrays
    state: State
    begun: Mapping[int, tuple[Running, ...]]
    killed: NDArray[np.bool_]
    durations: Ints | None
    whole_nodes: bool
    order: Mapping[str, int] = field(default_factory=dict)

    @property
    def jobs(self) -> int:
        """The number of jobs that start in the replay."""
        return len(self.workload) - len(self.begun)

    def in_order(self, running: Iterable[Running]) -> tuple[Running, ...]:
        """Return running jobs in the order in which they were given."""
        return tuple(sorted(running, key=lambda r: self.order[r.job.id]))


def set_up(
    workload: Workload,
    platform: Platform,
    features: Sequence[Feature],
    chosen: Chosen,
    predictor: TimedPredictor,
    allocator: Allocator,
    *,
    seed: int,
    period: int,
    charge: bool,
    kill: bool,
    whole_nodes: bool,
    fixed: bool,
) -> Setup:
    """Return the setup of a replay.

    Parameters
    ----------
    workload : Workload
        The jobs, as the features have made them.
    features : sequence of Feature
        The features, whose ``jobs`` have been called.
    whole_nodes : bool
        Whether each unit is known to have a node of its own.
    fixed : bool
        Whether the walltimes of jobs are known at the begin.
    """
    rank = rank_of(allocator, platform)
    counting = chosen.policy is not None and rank is None and not any(f.follows_nodes for f in features)
    where = job_nodes_of(workload, platform)
    counted_kinds = None
    free_choice = is_everywhere(where)
    by_count = counting and free_choice and counted(workload, platform)
    if counting and not free_choice and not workload.running and all(f.counts_kinds for f in features):
        counted_kinds = counted_nodes(workload, platform, where)
        by_count = counted_kinds is not None
    by_count = by_count and not any(r.nodes for r in workload.running)
    if kill:
        runtime = np.minimum(workload.runtime, workload.walltime)
    else:
        runtime = workload.runtime.copy()
    trace = trace_of(workload, platform, runtime, by_count, workload.after, where, counted_kinds)
    begun: dict[int, tuple[Running, ...]] = {}
    absent: set[int] = set()
    for feature in features:
        absent.update(feature.absent(workload))
        begun |= feature.rows_at_begin
    if absent:
        trace = trace._replace(order=trace.order[~np.isin(trace.order, sorted(absent))])
    for feature in features:
        trace = feature.arrays(trace, workload, by_count)
    if rank is not None:
        others = np.arange(rank.size, trace.capacity.shape[0])  # the place of power comes after the nodes
        trace = trace._replace(rank=np.concatenate([rank, others]))
    durations = predictor.begin(workload)
    if not fixed:
        durations = None
    if durations is None:
        expected = np.ones(len(workload), np.int64)
    else:
        expected = durations.copy()
    begun = {j: begun[j] for j in sorted(begun, key=lambda j: _place(workload, begun[j]))}
    for j, parts in begun.items():
        expected[j] = max(1, parts[0].end - parts[0].start)
        trace.runtime[j] = parts[0].true_end - parts[0].start
    state = new_state(trace, expected)
    _start(trace, state, workload, platform, begun, by_count)
    order = {r.job.id: k for k, r in enumerate(workload.running)}
    return Setup(
        workload, platform, chosen, predictor, allocator.name,
        Options(allocator.name == BEST_FIT and counted_kinds is None, seed, period, charge, kill, by_count),
        trace, state, begun, runtime < workload.runtime, durations, by_count or whole_nodes, order,
    )  # fmt: skip


def job_nodes_of(workload: Workload, platform: Platform) -> JobNodes:
    """Return which nodes the jobs may use, and how."""
    w = workload
    everywhere = JobNodes.everywhere(len(w), len(platform.nodes))
    if len(w.node_terms) == 1 and not any(q.nodes for q in w.queues):
        return everywhere
    _, sample, pair = np.unique(np.column_stack([w.queue, w.node_term]), axis=0, return_index=True, return_inverse=True)
    sets = NodeSets.of(platform, w.queues, [w.job(k) for k in sample.tolist()])
    most = np.array([t.per_node or ANY for t in w.node_terms], np.int64)
    whole = np.array([t.whole_nodes for t in w.node_terms], np.bool_)
    return JobNodes(
        node_set=sets.number[pair.ravel()],
        sets=sets.sets,
        most=most[w.node_term],
        whole=whole[w.node_term],
    )


def _place(workload: Workload, parts: tuple[Running, ...]) -> int:
    return next(k for k, r in enumerate(workload.running) if r.job.id == parts[0].job.id)


def _start(
    trace: TraceArrays, state: State, workload: Workload, platform: Platform, begun: Mapping[int, Any], by_count: bool
) -> None:
    """Put the jobs that run at the begin on their places."""
    number = {name: n for n, name in enumerate(platform.nodes)}
    for j, parts in begun.items():
        places = [(number[name], units) for r in parts for name, units in r.nodes.items()]
        if by_count:
            places = [(0, parts[0].job.units)]
        for c in (int(trace.own[j]), int(trace.daily[j])):
            if c >= 0:
                state.opened[c] += 1  # a start counts the job no longer among the waiting ones of its calendars
        start_on(trace, state, j, places, parts[0].start)
    if workload.begin is not None:
        state.clock[NOW] = workload.begin
    state.clock[STARTED] = 0  # counts the starts of the replay


# --- The engine: the loop over the events.

TELL_EVERY = 0.2  # seconds of wall time between two calls of on_progress
MOST_CALLS = 10_000  # requested calls in a row without a start while nothing runs, arrives or opens


class Engine:
    """One replay: its ledger, timeline and agenda, and the loop over its events.

    Features and dispatchers use its attributes and public methods.

    Parameters
    ----------
    setup : Setup
        The jobs, the machine and the options.
    features : sequence of Feature
        The features of the replay, in the order in which they act.
    on_progress : callable, optional
        As in ``simulate``.
    scheduler : Scheduler, optional
        One of the features, which starts the jobs itself.

    Attributes
    ----------
    ledger : Ledger
    timeline : Timeline
    agenda : Agenda
    plans : Plans
        The planned starts and the requested calls of the dispatcher.
    policy : Policy or None
        The dispatcher, if it is one that decides in compiled code.
    dispatcher : Dispatcher or None
        The dispatcher, if it is one in Python.
    kept_work : callable
        ``kept_work(row, ran)`` returns the seconds of work that are kept of a running job that fails after ``ran``
        seconds; None: it does not come back. A feature may replace it.
    owners : dict of int to Feature
        Row -> the feature that starts this job itself, and is told when it fails.
    """

    def __init__(
        self,
        setup: Setup,
        features: Sequence[Feature],
        on_progress: OnProgress | None,
        scheduler: Scheduler | None = None,
    ) -> None:
        self.setup = setup
        self.features = tuple(features)
        self.on_progress = on_progress
        self.scheduler = scheduler
        self.platform, self.options = setup.platform, setup.options
        self.policy, self.dispatcher = setup.chosen.policy, setup.chosen.dispatcher
        self.needs, self.name = setup.chosen.needs, setup.chosen.name
        self.workload, self.predictor = setup.workload, setup.predictor
        self.trace, self.state = setup.trace, setup.state
        self.agenda = Agenda()
        self.timeline = Timeline(self.platform, self.trace, self.state)
        self.ledger = Ledger(self.workload, self.platform, self.trace, self.state, setup.begun)
        self.ledger.killed, self.ledger.durations = setup.killed, setup.durations
        self.plans = Plans()
        self.checks = StartChecks(self)
        self.kept_work: Callable[[int, int], int | None] = lambda row, ran: 0
        self.owners: dict[int, Feature] = {}
        self.calls = CallStatistics(self.platform.resources)
        self.rules: Any = None
        self.ruled: Policy | None = None  # the policy of ``rules``
        self._kernel: kernels.Kernel | None = None  # of that policy
        self.ranking: Ranking | None = None
        self.debt = 0.0  # wall time of decisions, below 1 s, that has not yet passed on the simulated clock
        self.changed: dict[str, None] = {}  # ids of waiting jobs that have changed since the last call
        self._unsorted = False
        self.began = self.last_report = time.perf_counter()

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])

    @property
    def stretches(self) -> bool:
        """Whether compiled code goes from one action of the agenda to the next, instead of one event to the next."""
        if self.scheduler is not None:
            return self.scheduler.alone
        if self.policy is None or self.options.charge or self.workload.after:
            return False
        if kernels.corrects_alone(self):
            return True
        watched = any(f.watches for f in self.features)
        return not watched and self.policy.compiled and self.ledger.durations is not None

    @property
    def running(self) -> list[int]:
        """The rows of the jobs that run on nodes now, those inside of reservations apart."""
        return [int(j) for j in self.state.running[: self.state.clock[RUNNING]]]

    @property
    def jobs_to_come(self) -> bool:
        """Whether jobs still arrive by themselves."""
        clock = self.state.clock
        return bool(clock[DUE] > 0 or clock[NEXT] < self.trace.order.size - self.trace.follower.size)

    @property
    def idle(self) -> bool:
        """Whether no job runs, waits, or is to come."""
        clock = self.state.clock
        nothing = clock[RUNNING] == 0 and clock[WAITING] == 0 and not self.jobs_to_come
        return bool(nothing) and not any(f.busy for f in self.features)

    @property
    def nothing_moves(self) -> bool:
        """Whether no job runs or is to come, and nothing on the agenda can change that."""
        return not (self.state.clock[RUNNING] > 0 or self.jobs_to_come or self.agenda.once)

    def run(self) -> Simulation:
        """Replay all events and return the result. Raises SimulationError, with the replay so far."""
        try:
            return self._run()
        except SimulationError as e:
            begun = self.state.clock[NOW] > -NEVER
            if e.time is None and begun:
                e.time = self.now
            e.partial = e.partial or self.result()
            raise

    def _run(self) -> Simulation:
        self._begin()
        if self.scheduler is not None and self.scheduler.alone:
            notes = self._scheduled(self.scheduler)
        else:
            if self.stretches:
                notes = self._compiled()
            else:
                notes = self._event_by_event()
        for feature in self.features:
            feature.finish()
        result = self.result(notes)
        if not notes:
            check_all_started(self, result)
        return result

    def to_first_decision(self) -> None:
        """Let everything happen up to the first decision, which a dispatcher in Python makes in any case (``decide``)."""
        self._begin()
        self.plans.call_at(self.now)
        self._forward()
        self._settle()

    def _begin(self) -> None:
        """Begin the features, the dispatcher and the ranker."""
        for feature in self.features:
            feature.begin(self)
        if not self.stretches:
            self.ledger.begin()
        if self.dispatcher is not None:
            self._begin_dispatcher(self.dispatcher)
        if self.policy is not None and self.policy.ranker is not None:
            ranker, whole_nodes = self.policy.ranker, self.setup.whole_nodes
            self.ranking = Ranking(ranker, self.workload, self.state, self.trace.runtime, whole_nodes, self.refuse)
            self.ranking.begin(self.platform, self.workload, self.options.seed)

    def _begin_dispatcher(self, dispatcher: Any) -> None:
        try:
            if "log" in self.needs:
                dispatcher.prepare(self.workload)
            dispatcher.begin(self.platform, self.workload.queues, self.options.seed)
        except Exception as e:
            why = f"dispatcher {self.name} raised in begin, before the replay: {type(e).__name__}: {e}"
            raise SimulationError(why) from e

    def _compiled(self) -> tuple[str, ...]:
        """Replay a policy in compiled code from action to action; return notes."""
        policy, clock = self.policy, self.state.clock
        assert policy is not None
        rules = self._rules_of(policy)
        chosen = kernels.kernel_of_replay(self, rules)
        standstill = Standstill(self)
        batches = Batches(self.on_progress is not None)
        while True:
            clock[STOP] = self.agenda.next_time()
            going = chosen.replay(self.trace, self.state, rules, self.options.period, batches.events)
            batches.next()
            if not going:
                if not self._act():
                    break
                self.agenda.run(self.now)
                if clock[WAITING] > 0:
                    if self.ledger.shortened:
                        rules = self._rules_of(policy)
                        self.ledger.shortened = False
                        clock[SORTED] = 0
                    clock[DECISIONS] += 1
                    chosen.decide(self.trace, self.state, rules)
            if self._stopped(0.0):
                return (STOPPED,)
            if standstill.reached():
                break
        return ()

    def _scheduled(self, scheduler: Scheduler) -> tuple[str, ...]:
        """Replay a scheduler beside which nothing but jobs moves; return notes."""
        batches = Batches(self.on_progress is not None)
        self.state.clock[STOP] = NEVER
        while scheduler.replay(batches.events):
            batches.next()
            if self._stopped(0.0):
                return (STOPPED,)
        return ()

    def _event_by_event(self) -> tuple[str, ...]:
        """Replay in Python from event to event; return notes."""
        clock = self.state.clock
        standstill = Standstill(self)
        idle = 0
        going = self._forward()
        while going:
            self._settle()
            last_call = standstill.reached()
            started = clock[STARTED]
            moved = self.decide()
            for feature in self.features:
                feature.after_decision()
            if self._stopped(TELL_EVERY):
                return (STOPPED,)
            if clock[STARTED] != started or not self.nothing_moves:
                idle = 0
            elif last_call:
                idle += 1
            if idle and (idle > MOST_CALLS or self._nothing_is_due() or (idle == 1 and self._closed_for_good())):
                break
            going = moved or self._forward()
        return ()

    def _nothing_is_due(self) -> bool:
        """Return whether there is no planned start, requested call or action any more, those that come again apart."""
        due = min(self.plans.next_time(), int(self.state.clock[WAKE]))
        return due >= NEVER and (not self.agenda.once or self.agenda.next_time() >= NEVER)

    def _closed_for_good(self) -> bool:
        """Return whether the calendars of all waiting jobs have closed for ever, so that no further call can start one."""
        rows = self.state.waiting[: self.state.clock[WAITING]].tolist()
        return all(_calendar(self, j, self.now) for j in rows)

    def _forward(self) -> bool:
        """Go to the next event, planned start, requested call or action; return False if nothing can happen any more."""
        clock = self.state.clock
        clock[STOP] = self.agenda.next_time()
        left = clock[WAITING] + clock[RUNNING] > 0 or self.jobs_to_come
        if self.plans.pending and left:
            clock[WAKE] = min(clock[WAKE], self.plans.next_time())
        return step(self.trace, self.state, self.options.period) or self._act()

    def _act(self) -> bool:
        """Go to the time of the next action; return False if there is none that matters."""
        due = self.agenda.next_time()
        if due >= NEVER or (not self.agenda.lasting and self.idle):
            return False
        advance(self.trace, self.state, max(due, self.now))
        return True

    def _settle(self) -> None:
        """Let jobs end and arrive, run the agenda, and let features act before the decision."""
        ended = self.state.ended[: self.state.clock[ENDED]].tolist()
        own = [j for j in ended if self.ledger.began_here(j)]
        changed: set[int] = set()
        for j in ended:
            self.ledger.note_end(j)
        for j in own:
            if self.ledger.durations is None:
                changed.update(self.predictor.learn(j, int(self.trace.runtime[j]) + self.ledger.log.less(j)))
        for feature in self.features:
            feature.ended(ended)
        again = self.ledger.of_users(list(changed))
        arrived = self.state.waiting[len(self.ledger.waiting) : self.state.clock[WAITING]].tolist()
        self._take_in(arrived, again, own)
        self.agenda.run(self.now)
        for feature in self.features:
            feature.before_decision()
        if self._unsorted:
            self.ledger.sort_queue()
            self._unsorted = False

    def _take_in(self, rows: list[int], again: Sequence[int] = (), ended: Sequence[int] = ()) -> None:
        """Show jobs that have arrived, or come back, in the queue.

        ``again``: waiting jobs that are to be predicted again; ``ended``: jobs that have ended at this event.
        """
        for feature in self.features:
            feature.arriving(rows)
        for j in rows:
            self.ledger.arrive(j)
        if self.ledger.durations is None:
            self._expect([*again, *rows])
        if self.ranking is not None:
            self.ranking.learn(np.array(rows, np.int64), np.array(ended, np.int64))
        if rows:
            for feature in self.features:
                feature.arrived(rows)

    def _expect(self, rows: Iterable[int]) -> None:
        """Predict the durations of waiting jobs; if there are any, a policy sorts the queue again."""
        for j in rows:
            self.state.expected[j] = max(1, self.predictor.predict(j) - self.ledger.log.less(j))
            self.ledger.expected[self.workload.ids[j]] = int(self.state.expected[j])
            self.rules = None

    def come_back(self, rows: Sequence[int]) -> None:
        """Put jobs that wait, but were not in the queue, into it."""
        self.ledger.requeue(rows)
        self._show_again(list(rows))

    def _show_again(self, rows: list[int]) -> None:
        if not self.stretches:
            self._take_in(rows)
            self._unsorted = True
            self.rules = None

    def fail(self, j: int, why: str) -> None:
        """End a running job because it cannot go on; it comes back, or not, as ``kept_work`` says."""
        if j in self.owners:
            self.owners[j].failed(j, why)
            return
        kept = self.kept_work(j, self.now - self.ledger.start_of(j))
        if kept is None:
            self.end_for_good(j, why, at_once=True)
        else:
            self.put_back(j, why, kept)

    def put_back(self, j: int, why: str, kept: int) -> None:
        """End a running job now, and put it back into the queue with ``kept`` seconds of the work of this attempt."""
        nodes = self.ledger.places_of(j).tolist()
        self.tell_of_stop(j)
        self.ledger.put_back(j, why, kept)
        self._note_early_end(j, nodes)
        self._show_again([j])

    def end_for_good(self, j: int, why: str, at_once: bool = False) -> None:
        """End a running job now, before its work is done; jobs that wait for it arrive now (``at_once``), or at the next event."""
        nodes = self.ledger.places_of(j).tolist()
        self.tell_of_stop(j)
        self.ledger.end_for_good(j, why)
        self._note_early_end(j, nodes)
        if not self.trace.follower.size:
            return
        (release if at_once else release_later)(self.trace, self.state, j)
        if at_once and not self.stretches:
            self._take_in(self.state.waiting[len(self.ledger.waiting) : self.state.clock[WAITING]].tolist())

    def release_followers(self, j: int) -> None:
        """Let the jobs that wait for the end of a job which ends now, outside of the kernels, arrive at the next events."""
        if self.trace.follower.size:
            release_later(self.trace, self.state, j)

    def leave(self, j: int, why: str) -> None:
        """Note that a waiting job, which is in no queue any more, leaves for good without a start."""
        self.ledger.left[j], self.ledger.left_at[j] = why, self.now
        self.release_followers(j)

    def predict_again(self, j: int) -> None:
        """Predict the duration of a job anew whose walltime has changed, if durations are known from the begin."""
        if self.ledger.durations is None:
            return
        durations = self.predictor.begin(self.workload)
        if durations is not None:
            self.ledger.durations[j] = durations[j]
            self.state.expected[j] = max(1, int(durations[j]) - self.ledger.log.less(j))
            if j in self.ledger.waiting:
                self.ledger.expected[self.workload.ids[j]] = int(self.state.expected[j])

    def tell_of_stop(self, j: int) -> None:
        """Tell the ranker that a running job is about to be stopped, if it was told of its start."""
        if self.ranking is not None and self.ledger.began_here(j):
            self.ranking.stopped(np.array([j], np.int64))

    def _note_early_end(self, j: int, nodes: list[int]) -> None:
        self.ledger.note_end(j)
        for feature in self.features:
            feature.ended_early(j, nodes)

    def start(self, j: int, nodes: Sequence[Mapping[str, int]]) -> None:
        """Start a job now on nodes that have room for it.

        Parameters
        ----------
        j : int
            The row.
        nodes : sequence of mapping of str to int
            Node name -> units, of each chunk.
        """
        places = [(self.timeline.number[name], units) for on in nodes for name, units in on.items()]
        for k, (place, units) in enumerate(places):
            self.state.chosen[k], self.state.put[k] = place, units
        keep_places(self.trace, self.state, j, len(places))
        begin(self.trace, self.state, j)
        if j in self.ledger.waiting:
            job = self.ledger.dequeue(j)
        else:
            job = self.ledger.waiting_job(j)
        self.ledger.note_start(j, job, nodes)
        self.plans.remove(j)
        if self.ranking is not None:
            self.ranking.started(np.array([j], np.int64))

    def start_at(self, j: int, places: Ints, units: Ints) -> None:
        """Start a waiting job now on nodes that have room for it, given by their numbers, with so many units on each."""
        self.state.chosen[: places.size] = places
        self.state.put[: places.size] = units
        keep_places(self.trace, self.state, j, places.size)
        begin(self.trace, self.state, j)
        compact(self.state)
        self.ledger.dequeue(j)

    def running_uses(self, without: int = -1) -> Iterator[Use]:
        """Yield what running jobs use, up to their walltimes; ``without``: a row that is left out."""
        for j in self.state.running[: self.state.clock[RUNNING]].tolist():
            if j != without:
                yield from self.ledger.uses_of(j, self.ledger.start_of(j), self.ledger.walltime_end(j))

    def kept_free(self) -> Iterator[Use]:
        """Yield what features keep free beside running jobs and reservations, as uses."""
        for feature in self.features:
            yield from feature.uses()

    def fixed_reason(self, j: int) -> str:
        """Return why no server event may change a job now; an empty text if it may."""
        return next((why for feature in self.features if (why := feature.forbids_change(j))), "")

    def decide(self) -> bool:
        """Make the planned starts and one decision, unless none is due; return whether it moved the simulated clock."""
        state = self.state
        began = time.perf_counter()
        if self.policy is not None:
            if state.clock[WAITING] == 0:
                return False
            self._apply_policy(self.policy)
            took = time.perf_counter() - began
            self.calls.add_timed(took)
            return self._charge(took)
        if self.scheduler is not None:
            self.scheduler.decide()
            took = time.perf_counter() - began
            self.calls.add_timed(took)
            return self._charge(took)
        failed, called = [], "always" in self.needs
        if self.plans.pending:
            failed = self.checks.start_planned()
            called = self.plans.called(self.now) or called or bool(failed)
        if not called and not (state.clock[WAITING] > 0 and kernels.any_fits(self.trace, state)):
            self.calls.skipped += int(state.clock[WAITING] > 0)
            return False
        now = self.now
        assert self.dispatcher is not None
        decision = self._decision_of(self.dispatcher, failed)
        if decision.policy is not None:
            self._apply_delegate(decision.policy)
        took = time.perf_counter() - began
        self.calls.add(decision, took, len(self.ledger.running), self.timeline.free())
        moved = self._charge(took)
        self._apply(decision, now)
        return moved

    def _charge(self, took: float) -> bool:
        """Add the wall time of a decision to the simulated clock, in whole seconds; the rest is kept in ``debt``."""
        if not self.options.charge:
            return False
        self.debt += took
        whole = int(self.debt)
        self.debt -= whole
        if whole:
            self._pass_to(self.now + whole)
        return whole > 0

    def _pass_to(self, to: int) -> None:
        """Go to a time without a decision; what happens on the way is done."""
        while self.agenda.next_time() <= to and self._act():
            self._settle()
        advance(self.trace, self.state, to)

    def _apply_delegate(self, policy: Policy) -> None:
        """Make the decision of a policy to which a dispatcher in Python leaves it."""
        started = self._apply_policy(policy)
        for j in started:
            self.ledger.note_start(j, self.ledger.dequeue(j), self.ledger.nodes_of(j))
            self.plans.remove(j)

    def _apply_policy(self, policy: Policy) -> list[int]:
        """Make the decision of a policy; return the jobs that it starts."""
        state = self.state
        if policy is not self.ruled:
            self.rules = None
            self.ruled = policy
            self._kernel = None
        if self.rules is None or self.ledger.shortened:
            self.ledger.shortened = False
            self.rules = self._rules_of(policy)
            state.clock[SORTED] = 0
        if policy.corrections:
            correct(state, self.workload.walltime, np.array(policy.corrections, np.int64))
        if self.ranking is None:
            rules = self.rules
        else:
            rules = self.ranking.sort(self.rules)
        kept = self.timeline.kept()
        queue = state.waiting[: state.clock[WAITING]].copy()
        before = state.clock[STARTED]
        if kept is None:
            if self._kernel is None:
                self._kernel = kernels.kernel_of_decisions(self, rules, policy.shortest_first)
            self._kernel.decide(self.trace, state, rules)
        else:
            kernels.decide_beside_holds(self, rules, kept, policy.shortest_first)
        if state.clock[STARTED] == before and self.ranking is None:
            return []
        started = queue[state.start[queue] != UNSTARTED]
        if self.policy is not None:
            for j in started.tolist():
                self.ledger.dequeue(j)
        if self.ranking is not None:
            self.ranking.started(started)
        return [int(j) for j in started]

    def _rules_of(self, policy: Policy) -> Any:
        return kernels.rules_of(policy, self.workload, self.state.expected, self.options.best, self.options.seed)

    def _decision_of(self, dispatcher: Dispatcher, failed: list[FailedStart]) -> Decision:
        """Call the dispatcher and return its decision; turn an exception into a SimulationError with the time."""
        now = self.now
        moment = Moment(
            now=now,
            platform=self.platform,
            queues=self.workload.queues,
            waiting=tuple(self.ledger.waiting.values()),
            expected=self.ledger.expected,
            may_start=kernels.allowed(self.trace, self.state),
            running=tuple(self.ledger.shown_running()),
            free=self.timeline.free()[: len(self.platform.nodes), : len(self.platform.resources)],
            planned=self.plans.by_id,
            failed=failed,
            states=self.timeline.shown_states(),
            reserved=self.timeline.shown(),
            changed=self.take_changed(),
            ready=self.timeline.ready(),
        )
        try:
            answer = dispatcher.decide(moment)
            if isinstance(answer, Decision) and isinstance(answer.starts, Iterator):
                answer.starts = list(answer.starts)  # a generator may raise, too
            if isinstance(answer, Decision) and isinstance(answer.plan, Iterator):
                answer.plan = list(answer.plan)
        except SimulationError:
            raise
        except Exception as e:
            raise SimulationError(
                f"dispatcher {self.name} raised at {now}, with {how_many(len(self.ledger.waiting), 'job')} waiting: {type(e).__name__}: {e}",
                time=now,
            ) from e
        fault = fault_of(answer)
        if fault is not None:
            self.refuse_start(fault)
        return answer

    def take_changed(self) -> tuple[str, ...]:
        """Return the ids of the waiting jobs that have changed since this was last called."""
        changed = tuple(self.changed)
        self.changed = {}
        return changed

    def note_change(self, j: int, **fields: object) -> None:
        """Note that the walltime or the queue of a waiting job has changed, and show it to dispatchers."""
        self.ledger.change_waiting(j, **fields)
        self.changed[self.workload.ids[j]] = None
        self.state.reserved[j] = -1  # its place in the future may not suit it any more
        self.timeline.freed_early()
        self.ledger.shortened = True  # the order of a policy may depend on it

    def _apply(self, decision: Decision, called: int) -> None:
        """Apply a decision; jobs whose calendar has closed since it was ``called`` stay in the queue."""
        late = self.now > called
        for name in decision.withdrawn:
            if name in self.plans.by_id:
                self.plans.remove(self.ledger.row[name])
        self.checks.start_all(decision.starts, late)
        if decision.wake is not None:
            if decision.wake <= called:
                self.refuse(f"Decision.wake is {decision.wake}; expected a time after {called}")
            self.plans.call_at(int(decision.wake))
        if decision.plan is not None:
            self.checks.plan_all(decision.plan, called)

    def refuse(self, why: str) -> NoReturn:
        """End the replay: raise SimulationError with the dispatcher and the time."""
        self.refuse_start(DecisionFault(why))

    def refuse_start(self, fault: DecisionFault) -> NoReturn:
        """End the replay: raise SimulationError with the dispatcher, the time, and the job and node of a fault."""
        begun = self.now > -NEVER
        when = "before the replay"
        if begun:
            when = f"at {self.now}"
        raise SimulationError(
            f"dispatcher {self.name} {when}: {fault.why}", fault.job, fault.node, self.now if begun else None
        )

    def _stopped(self, every: float) -> bool:
        """Call ``on_progress`` if ``every`` seconds have passed; return whether it asks to stop."""
        if self.on_progress is None or time.perf_counter() - self.last_report < every:
            return False
        self.last_report = time.perf_counter()
        clock = self.state.clock
        seconds = self.last_report - self.began
        return is_false(self.on_progress(Progress(int(clock[STARTED]), self.setup.jobs, self.now, seconds)))

    def result(self, notes: tuple[str, ...] = ()) -> Simulation:
        """Return the result of the replay so far."""
        seconds = time.perf_counter() - self.began
        decisions = self.calls.result()
        if self.stretches:
            decisions = Decisions(int(self.state.clock[DECISIONS]), total_seconds=seconds)
        if self.ranking is not None:
            own = self.ranking.notes
        else:
            own = ()
        from_features = [note for feature in self.features for note in feature.notes]
        every = (*self.predictor.notes, *from_features, *own, *notes)
        return result_of(self, self.setup, decisions, seconds, every)


# --- The end of a replay in which jobs still wait: nothing can happen any more that would let one start.
#
# When nothing runs, nothing arrives (a job that waits for the end of another job does not), and the agenda has only actions
# that come again and again, then only calendars open and the desired use changes, over and over. One period of all of them
# after the last start window of a single job has opened, every job that can ever start has had the chance to start on the
# empty machine.


class Standstill:
    """Detects the end of one replay."""

    def __init__(self, engine: Replay) -> None:
        self._engine = engine
        self._started = -1
        self._end: int | None = None

    def reached(self) -> bool:
        """Return whether everything that comes again has come since the machine became empty."""
        engine, clock = self._engine, self._engine.state.clock
        if not engine.nothing_moves:
            self._end = None
            return False
        if self._end is None or clock[STARTED] != self._started:
            self._started, self._end = int(clock[STARTED]), self._last_opening()
        return bool(clock[WAKE] >= NEVER and clock[NOW] >= self._end)

    def _last_opening(self) -> int:
        """Return the time in seconds by which every window of a waiting job has opened, and each period has passed."""
        trace, state = self._engine.trace, self._engine.state
        last = int(state.clock[NOW])
        periods = list(self._engine.agenda.periods)
        for c in np.flatnonzero(state.opened > 0).tolist():
            if trace.period[c] > 0:
                periods.append(int(trace.period[c]))
            else:
                last = max(last, int(trace.lo[trace.first_window[c] : trace.first_window[c + 1]].max()))
        return last + (lcm(*periods) if periods else 0)


# --- Why jobs still wait, or have not arrived, when no event is left.

LISTED = 3  # nodes that a reason names


def reasons(engine: Replay) -> dict[str, str]:
    """Return id -> reason of each job that waits at the end of a replay, in the order of the queue.

    Then follow the jobs that have not arrived, because a job before them has not ended.
    """
    reason_of: dict[str, str] = {}
    rows = engine.state.waiting[: engine.state.clock[WAITING]].tolist()
    now = int(engine.state.clock[NOW])
    blocking = ""
    for j in rows:
        job = engine.workload.ids[j]
        why = engine.ledger.held_back.get(j) or _calendar_or_nodes(engine, j, now)
        strict = engine.policy is not None and engine.policy.strict
        if not why and strict and blocking:
            why = f"it waits behind job {blocking!r}, which blocks the queue"
        elif why and not blocking:
            blocking = job
        reason_of[job] = why or _of_dispatcher(engine, job)
    return reason_of | _held(engine, rows)


def _of_dispatcher(engine: Replay, job: str) -> str:
    """Return what the dispatcher says about a job that it could have started."""
    if engine.scheduler is not None:
        own = engine.scheduler.why_waiting(engine.ledger.row[job])
        return own or f"dispatcher {engine.name} has not started it"
    usual = f"dispatcher {engine.name} has not started it, although it fits on the idle nodes{_unless(engine)}"
    if "reasons" not in engine.needs:
        return usual
    own = engine.dispatcher.why_waiting(job)
    return own or usual


def _unless(engine: Replay) -> str:
    """Return which feature of the replay may keep a job from idle nodes, or an empty text."""
    return next((f"; {feature.keeps_waiting}" for feature in engine.features if feature.keeps_waiting), "")


def _held(engine: Replay, rows: list[int]) -> dict[str, str]:
    """Return id -> reason of the jobs that wait, directly or not, for the end of one of these jobs."""
    followers: dict[int, list[int]] = {}
    for j, (before, _) in engine.workload.after.items():
        followers.setdefault(before, []).append(j)
    held = dict[str, str]()
    left = list(rows)
    ids = engine.workload.ids
    while left:
        before = left.pop()
        for j in followers.get(before, ()):
            held[ids[j]] = f"it has not arrived: it waits for the end of job {ids[before]!r}"
            left.append(j)
    return held


def _calendar_or_nodes(engine: Replay, j: int, now: int) -> str:
    """Return that the calendars or the nodes keep job j from a start, whichever came first; or an empty text.

    The text does not depend on how long the replay went on after both.
    """
    nodes = _nodes(engine, j)
    if nodes:
        now = min(now, engine.timeline.changed)
    return _calendar(engine, j, now) or nodes


def _calendar(engine: Replay, j: int, now: int) -> str:
    """Return that the calendars of job j never open again, or an empty text."""
    queue = engine.workload.queues[int(engine.workload.queue[j])]
    walltime = int(engine.workload.walltime[j])
    windows = engine.workload.windows.get(j, ())
    daily = queue.hours(walltime)
    if queue.daily and not daily:
        return f"its walltime, {walltime} s, does not fit into a daily window of queue {queue.name!r} (whole_run)"
    if not windows:
        return ""
    last = max(hi for _, hi in windows)
    if last <= now:
        return f"its last start window has closed at {last}"
    left = [(max(lo, now), hi) for lo, hi in windows if hi > now]
    days = range(now // DAY - 1, last // DAY + 1)
    if daily and not any(
        max(lo, d * DAY + a) <= min(hi, d * DAY + b) for lo, hi in left for d in days for a, b in daily
    ):
        return f"none of its start windows from {now} on is in the daily hours of its queue"
    return ""


def _nodes(engine: Replay, j: int) -> str:
    """Return that the nodes which take starts at the end cannot hold job j, or an empty text."""
    barred = engine.timeline.closed_for_good()
    if not barred.size:
        return ""
    platform = engine.platform
    usable = engine.trace.masks[engine.trace.node_set[j]].copy()
    usable[barred] = False
    most = int(engine.trace.most[j])
    capacity = [vector for n, vector in enumerate(platform.capacity.values()) if usable[n]]
    units, fits = 0, 0
    for part in engine.workload.job(j).parts:
        units = part.units
        request = [part.request.get(r, 0) for r in platform.resources]
        fits = sum(min(units, most, platform.units_on(vector, request)) for vector in capacity)
        if fits < units:
            break
    if fits >= units:
        return ""
    listed = ", ".join(f"{platform.nodes[n]} is {engine.timeline.state_of(n)}" for n in barred.tolist()[:LISTED])
    more = ""
    if len(barred) > LISTED:
        more = f" and {len(barred) - LISTED} more"
    return f"it has {how_many(units, 'unit')}, and only {fits} fit on the nodes that take starts to the end ({listed}{more})"


# --- The progress of a replay, and the check at its end that all jobs have started.

STOPPED = "stopped before its end"
SHOWN = 10  # jobs that wait forever in a message


class Progress(NamedTuple):
    """The progress of a replay: the argument of ``on_progress``.

    Parameters
    ----------
    started : int
        Number of jobs that have started.
    jobs : int
        Number of jobs in the workload.
    now : int
        Simulated time in seconds.
    seconds : float
        Wall time since the begin of the replay, in seconds.
    """

    started: int
    jobs: int
    now: int
    seconds: float


OnProgress = Callable[[Progress], Any]  # the replay stops if it returns False

BATCH = 20_000  # the most events of compiled code between two calls of on_progress
FIRST = 50  # events before its first call; a decision of a policy that searches can take many ms
TURN = 0.2  # s between two calls of on_progress, unless the events of the least batch take longer


class Batches:
    """How many events are replayed in compiled code before the next call of ``on_progress``.

    The events decide nothing about the starts: a replay in small batches has those of a replay in one.

    Parameters
    ----------
    told : bool
        Whether there is an ``on_progress`` to call.
    """

    def __init__(self, told: bool) -> None:
        if told:
            self.events = FIRST
        else:
            self.events = BATCH
        self._told = told
        self._last = time.perf_counter()

    def next(self) -> None:
        """Choose the number of events of the next batch by the time that this one took."""
        now = time.perf_counter()
        took = now - self._last
        self._last = now
        if self._told and took > TURN:
            self.events = max(1, self.events // 2)
        elif took < TURN / 4:
            self.events = min(BATCH, 2 * self.events)


def check_all_started(engine: Replay, found: Simulation) -> None:
    """Raise SimulationError, with a reason for each job, if jobs still wait although no event is left."""
    waiting = int(engine.state.clock[WAITING])
    if not waiting:
        return
    job = engine.workload.ids[int(engine.state.waiting[0])]
    ends = [r.true_end for r in found.workload.running]
    last = int(max(found.end.max(), found.workload.release.max(), *ends))
    why = reasons(engine)
    after = len(why) - waiting
    held = ""
    if after:
        held = f", and {how_many(after, 'job', verb='wait')} for the end of another job"
    lines = [f"\n  job {name!r}: {reason}" for name, reason in why.items()]
    more = ""
    if len(lines) > SHOWN:
        more = f"\n  and {len(lines) - SHOWN} more"
    raise SimulationError(
        f"job {job!r} waits forever: after time {last} no job runs and no job arrives, and dispatcher {engine.name} "
        f"has not started {how_many(waiting, 'waiting job')}{held}:{''.join(lines[:SHOWN])}{more}",
        job=job,
        time=last,
        partial=found,
        waiting=why,
    )


# --- The result of an engine: its ledger as the arrays of a ``Simulation``.


def result_of(engine: Replay, setup: Setup, decisions: Decisions, seconds: float, notes: tuple[str, ...]) -> Simulation:
    """Return the result of a replay so far; running jobs get the end that their runtime gives.

    The rows of jobs that run at the begin, and have not come back, are left out: they are in ``workload.running``.
    """
    ledger = engine.ledger
    state = engine.state
    trace = engine.trace
    rows = np.arange(len(engine.workload))
    ranges = ranges_of(trace, state, engine.options.by_count)
    workload, log = engine.workload, ledger.log
    gone = [j for j in ledger.begun if j not in log.begun]
    if ledger.begun:
        named = None
        if not workload.chunks:
            named = by_name(ranges, engine.platform.nodes)
        left = []
        for j in gone:
            if named is None:
                on = ledger.nodes_of(j)
            else:
                on = [named[j]]
            left += [replace(r, nodes=nodes or r.nodes) for r, nodes in zip(ledger.begun[j], on, strict=True)]
        until = {r.job.id: a.end for a in log.gone for r in ledger.begun[ledger.row[a.job]]}
        workload = replace(workload, running=ending_at(setup.in_order(left), until))
    kept = np.ones(rows.size, np.bool_)
    kept[gone] = False
    started = state.start != UNSTARTED
    completed = started.copy()
    completed[list(log.dropped)] = False
    columns: dict[str, Any] = {
        "start": np.where(started, state.start, -1),
        "end": np.where(started, state.start + trace.runtime, -1),
        "killed": ledger.killed & completed,
        "expected": state.expected,
        "first_reserved": state.first_reserved,
    }
    fields: dict[str, Any] = {}
    for feature in engine.features:
        fields |= feature.result(engine.now)
    simulation = Simulation(
        workload=workload,
        platform=engine.platform,
        dispatcher=engine.name,
        predictor=engine.predictor.name,
        allocator=setup.allocator,
        seed=engine.options.seed,
        placement=NodeRanges(*ranges),
        decisions=decisions,
        seconds=seconds,
        notes=notes,
        prediction_seconds=engine.predictor.seconds,
        history=_history_of(engine),
        **columns,
        **fields,
    )
    if kept.all():
        return simulation
    return _without(simulation, kept)


def _history_of(engine: Replay) -> History | None:
    """Return the attempts that ended early, with the restarts of later ones."""
    log = engine.ledger.log
    history = log.history()
    if history is not None and log.restart:
        return history.with_restarts(log.restart, engine.owners)
    return history


def _without(found: Simulation, kept: Any) -> Simulation:
    """Return a result of some rows; the others have no attempts among ``history.early``."""
    new: Ints = np.cumsum(kept) - 1
    p = found.placement
    count = np.where(kept, np.diff(p.first), 0)
    index = np.repeat(p.first[:-1] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    first = np.concatenate([[0], np.cumsum(count[kept])])
    return replace(
        found,
        workload=found.workload.keep(kept),
        **{name: getattr(found, name)[kept] for name in ("start", "end", "killed", "expected", "first_reserved")},
        placement=NodeRanges(first, p.low[index], p.high[index], p.units[index]),
        history=None if found.history is None else _history(found.history, kept, new),
        production=None if found.production is None else found.production.renumbered(new),
        preemption=None if found.preemption is None else found.preemption.renumbered(new),
    )


def _history(history: History, kept: Any, new: Ints) -> History:
    return replace(
        history,
        rows=new[history.rows],
        dropped={int(new[row]): why for row, why in history.dropped.items()},
        ran_before=history.ran_before[kept],
        saved=history.saved[kept],
        begun={int(new[row]): parts for row, parts in history.begun.items()},
        restarted=None if history.restarted is None else history.restarted[kept],
    )
