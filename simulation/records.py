"""What happened in a replay as data: attempts, what features did, model sizes; read and written without the engine.

``Runs`` are the attempts that ended early, and the last attempt of each job: what is verified is read from these alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ..instances.workload import Workload
from ..models import DesiredProfile, Eviction, EvictionPlan, Platform, Running, Schedule
from ..models.array_types import Bools, Floats, Ints
from ..models.comparing import compared_by_identity, hashable
from ..models.dispatch.arrays import offsets
from ..models.dispatch.jobs import Queue
from ..models.dispatch.problem import Dispatch
from ..models.node_states import NodeStates
from ..models.problem import part_name
from ..models.reservations import Reservation
from ..models.server_events import ServerEvent
from ..models.words import with_short_repr
from .dispatcher import Decision
from .node_policies import ON, STATE_NAMES, Switching
from .preemption import RESTART, Preemption, Requeue

# --- Attempts: the runs of a job, of which only the last one finishes its work.

COMPLETED, KILLED = "completed", "walltime"
PREEMPTED_BY = "preempted by "  # then the id of the job
REQUEUED = "requeued"  # by an event of the batch server


@with_short_repr
@hashable
@dataclass(frozen=True)
class Attempt:
    """One run of a job.

    Parameters
    ----------
    job : str
        The id of the job.
    number : int
        1 for the first attempt of the job.
    start, end : int
        Seconds.
    nodes : mapping of str to int
        Node name -> number of units.
    why : str
        Why the attempt ended: ``"completed"``, ``"walltime"`` (killed), ``"preempted by"`` and the id of the job for which Slurm
        ended it, or the state and the name of the node that ended it, such as ``"down: n-3"``.
    work_done : int
        Seconds of work of this attempt that count; ``end - start - work_done`` seconds are lost.
    further : tuple of mapping, optional
        The nodes of each further chunk of a heterogeneous job.
    """

    job: str
    number: int
    start: int
    end: int
    nodes: Mapping[str, int]
    why: str
    work_done: int
    further: tuple[Mapping[str, int], ...] = ()

    @property
    def all_nodes(self) -> frozenset[str]:
        """The names of the nodes of all chunks."""
        return frozenset(self.nodes).union(*self.further)

    @property
    def lost(self) -> int:
        """Seconds of the attempt whose work was lost."""
        return self.end - self.start - self.work_done


@with_short_repr
@dataclass(frozen=True, eq=False)
class History:
    """The attempts of a replay that ended before the work of their jobs was done.

    Parameters
    ----------
    early : tuple of Attempt
        The attempts after which the job came back, in the order of their ends.
    rows : ndarray of int64, shape (len(early),)
        The row of the job of each of these attempts in the workload.
    dropped : mapping of int to str
        Row of a job that did not come back -> why its last attempt ended.
    ran_before : ndarray of int64, shape (jobs,)
        Seconds that each job ran in the attempts of ``early``.
    saved : ndarray of int64, shape (jobs,)
        Seconds of work that these attempts have done.
    begun : mapping of int to tuple of Running
        Row of a job that came back after it had run at the begin of the replay -> how it ran then, chunk after chunk.
        Its first attempt began before the replay.
    gone : tuple of Attempt
        The attempts of the other jobs of ``workload.running`` that failed; these jobs did not come back.
    restarted : ndarray of int64, shape (jobs,), optional
        Seconds without progress at the begin of the last attempt of each job; None: there are none.
    """

    early: tuple[Attempt, ...]
    rows: Ints
    dropped: Mapping[int, str]
    ran_before: Ints
    saved: Ints
    begun: Mapping[int, tuple[Running, ...]] = field(default_factory=dict)
    gone: tuple[Attempt, ...] = ()
    restarted: Ints | None = None

    @classmethod
    def of(
        cls,
        early: Sequence[Attempt],
        rows: Sequence[int],
        dropped: Mapping[int, str],
        jobs: int,
        begun: Mapping[int, tuple[Running, ...]],
        gone: Sequence[Attempt],
    ) -> History | None:
        """Return the history of some attempts of a workload of ``jobs`` jobs; None if no attempt ended early."""
        if not early and not dropped and not gone:
            return None
        order = sorted(range(len(early)), key=lambda i: early[i].end)
        early = [early[i] for i in order]
        rows = [rows[i] for i in order]
        ran = np.zeros(jobs, np.int64)
        saved = np.zeros(jobs, np.int64)
        np.add.at(ran, rows, [a.end - a.start for a in early])
        np.add.at(saved, rows, [a.work_done for a in early])
        return cls(tuple(early), np.array(rows, np.int64), dict(dropped), ran, saved, dict(begun), tuple(gone))

    def with_restarts(self, seconds: int, without: Iterable[int]) -> History:
        """Return the history with ``seconds`` of restart in later attempts, but for the jobs of the rows ``without``."""
        restarted = np.zeros(self.saved.size, np.int64)
        restarted[self.rows] = seconds
        restarted[list(without)] = 0
        return replace(self, restarted=restarted)

    @property
    def less(self) -> Ints:
        """The seconds by which the last attempt of each job is shorter than the whole job, shape (jobs,)."""
        if self.restarted is None:
            return self.saved
        return self.saved - self.restarted

    @property
    def start(self) -> Ints:
        """The starts of ``early`` in seconds."""
        return np.array([a.start for a in self.early], np.int64)

    @property
    def end(self) -> Ints:
        """The ends of ``early`` in seconds."""
        return np.array([a.end for a in self.early], np.int64)


class AttemptLog:
    """The attempts of a running replay that ended early; ``begun`` and ``gone`` as in ``History``.

    ``saved`` is the work in seconds that the earlier attempts of each job have done, shape (jobs,). ``restart``: seconds
    without progress at the begin of each later attempt.
    """

    def __init__(self, jobs: int, restart: int = 0) -> None:
        self.restart = restart
        self.early: list[Attempt] = []
        self.rows: list[int] = []
        self.dropped: dict[int, str] = {}
        self.saved = np.zeros(jobs, np.int64)
        self.counts: Counter[int] = Counter()
        self.begun: dict[int, tuple[Running, ...]] = {}
        self.gone: list[Attempt] = []

    def add(self, row: int, attempt: Attempt) -> None:
        """Add an attempt after which the job comes back."""
        self.early.append(attempt)
        self.rows.append(row)
        self.saved[row] += attempt.work_done
        self.counts[row] += 1

    def less(self, row: int) -> int:
        """Return the seconds by which the next attempt of a job is shorter than the whole job."""
        return int(self.saved[row]) - (self.restart if self.counts[row] else 0)

    def history(self) -> History | None:
        """Return the attempts so far."""
        return History.of(self.early, self.rows, self.dropped, self.saved.size, self.begun, self.gone)


def schedule_of(replay: ReplayData) -> Schedule:
    """Return starts and nodes in the form that offline problems use; jobs that never started are left out."""
    # lazy: it imports numba, which reading a result needs not
    from ..heuristics.kernels.events.machine import by_name, named_parts

    at = replay.placement
    ranges = (at.first, at.low, at.high, at.units)
    ids = replay.workload.ids
    nodes = by_name(ranges, replay.platform.nodes)
    started = np.flatnonzero(replay.start >= 0).tolist()
    several = [(k, ids[k], [c.units for c in cs]) for k, cs in replay.workload.chunks.items() if replay.start[k] >= 0]
    parts = named_parts(ranges, several, replay.platform.nodes)
    return Schedule({ids[k]: int(replay.start[k]) for k in started}, {ids[k]: nodes[k] for k in started} | parts)


def attempts_of(replay: ReplayData) -> list[Attempt]:
    """Return all attempts of a replay, ordered by start; jobs that never started have none.

    Parameters
    ----------
    replay : ReplayData

    Returns
    -------
    list of Attempt
    """
    schedule = schedule_of(replay)
    ids = replay.workload.ids
    history = replay.history
    nodes, chunks = schedule.nodes, replay.workload.chunks
    if history is not None:
        counts = Counter(history.rows.tolist())
    else:
        counts = Counter[int]()
    dropped = history.dropped if history is not None else {}
    if history is None:
        listed = []
    else:
        listed = [*history.early, *history.gone]
    for k in np.flatnonzero(replay.start >= 0).tolist():
        start = int(replay.start[k])
        end = int(replay.end[k])
        why = dropped.get(k, KILLED if replay.killed[k] else COMPLETED)
        if history is None or history.restarted is None:
            restart = 0
        else:
            restart = int(history.restarted[k])
        done = 0
        if k not in dropped:
            done = max(0, end - start - restart)
        if k in chunks:
            further = tuple(schedule.further_chunks(ids[k]))
        else:
            further = ()
        listed.append(Attempt(ids[k], counts[k] + 1, start, end, nodes[ids[k]], why, done, further))
    return sorted(listed, key=lambda attempt: (attempt.start, attempt.job, attempt.number))


# --- The sizes of the models that a dispatcher solves: intervals, requested and available amounts [Galleguillos2019, table 2].

MEMORY, GB = "memory", 1024  # memory is in MB


@with_short_repr
@hashable
@dataclass(frozen=True)
class ModelSizes:
    """Mean sizes of the models of a replay; None if the dispatcher built no model or does not report the sizes.

    Parameters
    ----------
    built : int or None
        Number of models with a known size.
    intervals : float or None
        Mean number of intervals: jobs in the model and running jobs.
    requested : mapping of str to float
        For each resource, the mean over the models of (sum over the waiting jobs in the model of units * request).
    available : mapping of str to float
        For each resource, the mean free amount on the machine at these decisions.
    requested_total, available_total : float or None
        Sums of ``requested`` and of ``available`` over the resources, memory counted in GB (1,024 MB).
    """

    built: int | None = None
    intervals: float | None = None
    requested: Mapping[str, float] = field(default_factory=dict)
    available: Mapping[str, float] = field(default_factory=dict)
    requested_total: float | None = None
    available_total: float | None = None


class SizeCount:
    """The sums of the sizes of models, for a machine with these resources."""

    def __init__(self, resources: Sequence[str]) -> None:
        self.resources = tuple(resources)
        self.built, self.intervals = 0, 0
        self.requested = dict.fromkeys(resources, 0)
        self.available = np.zeros(len(self.resources), np.int64)

    def add(self, decision: Decision, running: int, free: Ints) -> None:
        """Add the model of a decision, if its size is known; ``free``: free amounts, shape (nodes, resources)."""
        if not decision.requested:
            return
        self.built += 1
        self.intervals += decision.jobs + running
        self.available += free.sum(axis=0)
        for name in self.resources:
            self.requested[name] += int(decision.requested.get(name, 0))

    def means(self) -> ModelSizes:
        """Return the means over the models."""
        if not self.built:
            return ModelSizes()
        requested = {name: amount / self.built for name, amount in self.requested.items()}
        available = dict(zip(self.resources, (self.available / self.built).tolist(), strict=True))
        return ModelSizes(
            self.built, self.intervals / self.built, requested, available, _total(requested), _total(available)
        )


def _total(amounts: Mapping[str, float]) -> float:
    return sum(amount / (GB if name == MEMORY else 1) for name, amount in amounts.items())


# --- What features did in a replay: parts of a ``Simulation``, read and written without the engine.

Outcome = Literal["requested", "accepted", "refused", "started", "over", "cancelled"]


@with_short_repr
@dataclass
class Booking:
    """One repetition of a reservation in a replay.

    Parameters
    ----------
    label : str
        The name, with the number of the repetition, such as ``"course#2"``.
    reservation : Reservation
        The reservation.
    start, end : int
        Seconds.
    outcome : str
        ``"requested"`` (not examined yet), ``"accepted"``, ``"refused"``, ``"started"``, ``"over"`` or ``"cancelled"``.
    nodes : mapping of str to int
        Node name -> reserved units; empty if it was not accepted.
    why : str
        Why it was refused or cancelled.
    accepted : int, optional
        The time at which it was accepted; None if it was not.
    ended : int, optional
        The time at which its nodes were given back; before ``end`` if it was cancelled.
    """

    label: str
    reservation: Reservation
    start: int
    end: int
    outcome: Outcome = "requested"
    nodes: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    accepted: int | None = None
    ended: int | None = None

    @property
    def pending(self) -> bool:
        """Whether jobs may still run in it, now or later."""
        return self.outcome in ("requested", "accepted", "started")

    @property
    def holds(self) -> bool:
        """Whether it holds amounts, now or later."""
        return self.outcome in ("accepted", "started")


def bookings_of(reservations: Iterable[Reservation]) -> list[Booking]:
    """Return the repetitions of reservations, none of them examined."""
    return [Booking(o.label, r, o.start, o.end) for r in reservations for o in r.occurrences()]


class JobChange(NamedTuple):
    """A changed job: the time in seconds, the row of the job, and the value (walltime or queue) before and after."""

    time: int
    row: int
    before: int
    after: int


class RefusedEvent(NamedTuple):
    """A server event that was not possible, and why."""

    event: ServerEvent
    why: str


class PrivateRun(NamedTuple):
    """An attempt of a job inside a reservation: row of the job, start in seconds, index of the booking."""

    row: int
    start: int
    booking: int


@with_short_repr
@hashable
@dataclass(frozen=True)
class ProductionRecord:
    """The reservations, server events and their effects in a replay.

    Parameters
    ----------
    bookings : tuple of Booking
        The repetitions of all reservations.
    events : tuple of ServerEvent
        The server events, sorted by time.
    left : mapping of int to str
        Row of a job that left the queue without a start -> why.
    left_at : mapping of int to int
        Row of such a job -> the second in which it left; empty in records that do not tell it.
    refused : tuple of RefusedEvent
        The events that were not possible.
    moves, walltimes : tuple of JobChange
        The queues (indices into ``Workload.queues``) and walltimes that were changed. The workload of the result has the
        last ones.
    private : tuple of PrivateRun
        The attempts of jobs inside of reservations.
    """

    bookings: tuple[Booking, ...]
    events: tuple[ServerEvent, ...]
    left: Mapping[int, str]
    refused: tuple[RefusedEvent, ...]
    moves: tuple[JobChange, ...]
    walltimes: tuple[JobChange, ...]
    private: tuple[PrivateRun, ...]
    left_at: Mapping[int, int] = field(default_factory=dict)

    def renumbered(self, new: Ints) -> ProductionRecord:
        """Return the record with other rows of the jobs; ``new``: of each row, shape (jobs,)."""
        return replace(
            self,
            left={int(new[row]): why for row, why in self.left.items()},
            moves=tuple(c._replace(row=int(new[c.row])) for c in self.moves),
            walltimes=tuple(c._replace(row=int(new[c.row])) for c in self.walltimes),
            private=tuple(p._replace(row=int(new[p.row])) for p in self.private),
            left_at={int(new[row]): time for row, time in self.left_at.items()},
        )


@with_short_repr
@dataclass(frozen=True)
class EvictionDecision:
    """One decision of an evictor.

    Parameters
    ----------
    job : str
        The id of the on-demand job.
    time : int
        The time in seconds.
    busy : int
        Seconds for which the file system still writes earlier checkpoints; the times and the deadline of the problem
        count from then on, its losses from ``time``.
    problem : Eviction or None
        The eviction problem of the moment. None: the running batch jobs have too few nodes.
    plan : EvictionPlan or None
        What the evictor decided. None: no job leaves.
    seconds : float
        Wall time of the decision.
    """

    job: str
    time: int
    busy: int
    problem: Eviction | None
    plan: EvictionPlan | None
    seconds: float = 0.0


class Departure(NamedTuple):
    """A batch job that left its nodes for an on-demand job.

    Attributes
    ----------
    row : int
        The row of the job in the workload.
    attempt : int
        The number of the attempt that ended.
    cause : str
        The id of the on-demand job.
    strategy : str
        ``"kill"``, ``"app"`` or ``"sys"``.
    decided : int
        The time of the decision in seconds.
    stop : int
        The time in seconds from which on it makes no progress.
    write : int
        The time in seconds at which it begins to write its checkpoint; that of the end if it was killed.
    end : int
        The time in seconds at which it left.
    """

    row: int
    attempt: int
    cause: str
    strategy: str
    decided: int
    stop: int
    write: int
    end: int


@with_short_repr
@hashable
@dataclass(frozen=True)
class PreemptionRecord:
    """The decisions and departures of a replay.

    Parameters
    ----------
    settings : Preemption
        The settings of the replay.
    rows : tuple of int
        The rows of the on-demand jobs in the workload, in the order of ``settings.jobs``.
    decisions : tuple of EvictionDecision
        The decisions, by time.
    departures : tuple of Departure
        The jobs that left, in the order of their ends. Checkpoints that were planned, but not begun when the on-demand
        job had its nodes, are not among them.
    first_start : mapping of int to int
        Row of an on-demand job -> its first start in seconds.
    requeue : Requeue
        What a job keeps whose node fails, if that is more than its last checkpoint.
    """

    settings: Preemption
    rows: tuple[int, ...] = ()
    decisions: tuple[EvictionDecision, ...] = ()
    departures: tuple[Departure, ...] = ()
    first_start: Mapping[int, int] = field(default_factory=dict)
    requeue: Requeue = RESTART

    def renumbered(self, new: Ints) -> PreemptionRecord:
        """Return the record with other rows of the jobs; ``new``: of each row, shape (jobs,)."""
        return replace(
            self,
            rows=tuple(int(new[row]) for row in self.rows),
            departures=tuple(d._replace(row=int(new[d.row])) for d in self.departures),
            first_start={int(new[row]): start for row, start in self.first_start.items()},
        )


@dataclass(frozen=True, eq=False)
class OffIntervals:
    """Intervals in which nodes are not on; arrays of shape (intervals,). At all other times a node is on.

    Parameters
    ----------
    node : array of int
        The index of the node in ``platform.nodes``.
    state : array of int
        ``OFF``, ``BOOTING`` or ``SHUTTING_DOWN``.
    begin, end : array of int
        The interval [begin, end) in seconds.
    """

    node: Ints
    state: Ints
    begin: Ints
    end: Ints

    @classmethod
    def always_on(cls) -> OffIntervals:
        """Return the states of nodes that are always on."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none, none)


@with_short_repr
@dataclass(frozen=True, eq=False)
class PowerRecord:
    """The states of the nodes during a replay; all nodes are on before their first change.

    Parameters
    ----------
    policy : str
        The name of the node policy.
    switching : Switching
        The times of boot, shut-down, and the least time off.
    node : ndarray of int64, shape (changes,)
        The index of the node in ``platform.nodes``.
    time : ndarray of int64, shape (changes,)
        The time in seconds, ascending.
    state : ndarray of int64, shape (changes,)
        The state from then on: ``OFF``, ``BOOTING``, ``SHUTTING_DOWN`` or ``ON``.
    """

    policy: str
    switching: Switching
    node: Ints
    time: Ints
    state: Ints

    def named(self, platform: Platform) -> list[tuple[str, int, str]]:
        """Return the changes as (node, time, state), by time."""
        rows = zip(self.node.tolist(), self.time.tolist(), self.state.tolist(), strict=True)
        return [(platform.nodes[n], t, STATE_NAMES[s]) for n, t, s in rows]

    def intervals(self, end: int) -> OffIntervals:
        """Return the intervals in which nodes are not on, cut at ``end`` in seconds: what the energy accounts take."""
        order = np.lexsort((np.arange(self.time.size), self.node))
        node = self.node[order]
        begin = self.time[order]
        state = self.state[order]
        until = np.append(begin[1:], end)
        last = np.append(node[1:] != node[:-1], True)[: node.size]
        until = np.minimum(np.where(last, end, until[: node.size]), end)
        kept = (state != ON) & (begin < until)
        return OffIntervals(node[kept], state[kept], begin[kept], until[kept])


@with_short_repr
@compared_by_identity
class NodeRanges(NamedTuple):
    """The nodes of all jobs, as ranges of node numbers.

    Job k has the ranges ``first[k] .. first[k + 1] - 1``.

    Parameters
    ----------
    first : ndarray of int64, shape (jobs + 1,)
        Index of the first range of each job; ``first[0]`` is 0, the last entry is the number of ranges.
    low, high : ndarray of int64, shape (ranges,)
        First and last node of the range, both included; indices into ``platform.nodes``.
    units : ndarray of int64, shape (ranges,)
        Units of the job on each single node of the range. A heterogeneous job has the ranges of its chunks one after
        the other; their units tell where a chunk ends.
    """

    first: Ints
    low: Ints
    high: Ints
    units: Ints


@with_short_repr
@dataclass(frozen=True, eq=False)
class Decisions:
    """Statistics of the calls of a dispatcher in one replay.

    Parameters
    ----------
    made : int
        Number of calls.
    skipped : int
        Number of events without a call, because no waiting job could have started.
    ended : mapping of str to int
        How the calls ended (``moment.Ended``) -> number of calls. Empty for policies.
    seconds : mapping of str to ndarray
        Wall time of each call in seconds, for the keys ``"total"``, ``"start"``, ``"model"``, ``"solve"``, ``"allocate"``. Empty for
        compiled replays, which are timed as a whole.
    total_seconds : float
        Wall time of all calls in seconds; for compiled replays, of the whole replay.
    gains : ndarray of float
        Relative improvement over the warm start, one entry per call that reported it (``Decision.gain``).
    urgent : int
        Sum of ``Decision.urgent``: how often ``max_stretch`` put a job before all others.
    models : ModelSizes
        Mean sizes of the models of these calls.
    phases : mapping of str to float
        Wall time in seconds of all calls in each part of ``Decision.seconds`` that is not in ``seconds``.
    used : mapping of str to int
        Name of a method (``Decision.used``) -> number of calls in which the dispatcher used it.
    counts : mapping of str to int
        The sums of ``Decision.counts``.
    """

    made: int
    skipped: int = 0
    ended: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, Floats] = field(default_factory=dict)
    total_seconds: float = 0.0
    gains: Floats = field(default_factory=lambda: np.empty(0))
    urgent: int = 0
    models: ModelSizes = field(default_factory=ModelSizes)
    phases: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


# --- The replay itself: one type for all that reads replays, in memory or from their files.


@with_short_repr
@dataclass(eq=False)
class ReplayData:
    """What a replay did, and what its metrics need: all that the checks of features, metrics and writers read.

    ``schedlab.simulation.Simulation``, the result of ``simulate`` and of reading the files of a replay, derives from it.

    Parameters
    ----------
    workload, platform, start, end, killed, placement
        The jobs, the machine, and what happened to each job: see ``Simulation``.
    history, states, production, preemption, power, desired, expected, decisions, prediction_seconds : optional
        What features did and what is known beyond: see ``Simulation``.
    """

    workload: Workload
    platform: Platform
    start: Ints
    end: Ints
    killed: Bools
    placement: NodeRanges
    history: History | None = None
    states: NodeStates | None = None
    production: ProductionRecord | None = None
    preemption: PreemptionRecord | None = None
    power: PowerRecord | None = None
    desired: DesiredProfile | None = None
    expected: Ints | None = None
    decisions: Decisions | None = None
    prediction_seconds: float | None = None


def running_as_replay(replay: ReplayData) -> ReplayData:
    """Return the jobs that run at the begin of a replay as a replay of their own."""
    w, platform = replay.workload, replay.platform
    jobs = [replace(r.job, runtime=r.true_end - r.start) for r in w.running]
    queues = [Queue(name, 1) for name in dict.fromkeys(j.queue for j in jobs)]
    own = Workload.of(Dispatch(platform, jobs, queues), w.name)
    by_id = {r.job.id: r for r in w.running}
    listed = [by_id[name] for name in own.ids]
    number = {name: n for n, name in enumerate(platform.nodes)}
    held = [(number[name], units) for r in listed for name, units in r.nodes.items()]
    node, units = np.array(held, np.int64).reshape(-1, 2).T
    placement = NodeRanges(offsets([len(r.nodes) for r in listed]), node, node, units)
    start = np.array([r.start for r in listed], np.int64)
    if replay.history is not None:
        gone = replay.history.gone
    else:
        gone = ()
    failed = {part_name(a.job, c): a.why for a in gone for c in range(1 + len(a.further))}
    dropped = {k: failed[name] for k, name in enumerate(own.ids) if name in failed}
    history = History.of([], [], dropped, len(own), {}, ())
    return ReplayData(own, platform, start, start + own.runtime, np.zeros(len(own), np.bool_), placement, history)


NEVER = -1  # the start of a job that was never started


@dataclass(eq=False)
class Runs(ReplayData):
    """All runs of a replay, one row per run: first the last attempts of the jobs, then those that ended early.

    Parameters
    ----------
    started : ndarray of bool, shape (runs,)
        The runs that have started.
    own : ndarray of bool, shape (runs,)
        Those of them that started in the replay, and not before its begin.
    """

    started: Bools = field(kw_only=True)
    own: Bools = field(kw_only=True)


def runs_of(replay: ReplayData) -> Runs:
    """Return all runs of a replay. Unknown nodes become node -1; the runs have no expected durations."""
    history = replay.history
    started = replay.start != NEVER
    columns: dict[str, Any] = {f.name: getattr(replay, f.name) for f in fields(ReplayData)} | {"expected": None}
    if history is None or not history.early:
        return Runs(**columns, started=started, own=started)
    begun = [a.number == 1 and k in history.begun for k, a in zip(history.rows.tolist(), history.early, strict=True)]
    rows = np.concatenate([np.arange(len(replay.workload)), history.rows])
    number = {name: n for n, name in enumerate(replay.platform.nodes)}
    pieces = [[pair for on in (a.nodes, *a.further) for pair in on.items()] for a in history.early]
    nodes = np.array([number.get(name, -1) for listed in pieces for name, _ in listed], np.int64)
    units = np.array([u for listed in pieces for _, u in listed], np.int64)
    p = replay.placement
    first = np.concatenate([p.first, p.first[-1] + np.cumsum([len(listed) for listed in pieces])])
    columns |= {
        "workload": replay.workload.keep(rows),
        "start": np.concatenate([replay.start, history.start]),
        "end": np.concatenate([replay.end, history.end]),
        "killed": np.concatenate([replay.killed, np.zeros(len(history.early), np.bool_)]),
        "placement": NodeRanges(
            first, np.concatenate([p.low, nodes]), np.concatenate([p.high, nodes]), np.concatenate([p.units, units])
        ),
    }
    own = np.concatenate([started, ~np.array(begun)])
    return Runs(**columns, started=np.concatenate([started, np.ones(len(begun), np.bool_)]), own=own)


# --- The chunks of all runs as rows, for the verification; it shares no code with the simulator.


class ChunkRows(NamedTuple):
    """A row for each chunk of each run, run after run.

    Parameters
    ----------
    names : sequence of str
        The name of the job; ``"job+1"`` for its second chunk.
    job : ndarray of int64, shape (chunks,)
        The row of the run.
    units : ndarray of int64, shape (chunks,)
        The number of units.
    first : ndarray of int64, shape (chunks + 1,)
        The first range of nodes, and the number of ranges.
    """

    names: Sequence[str]
    job: Ints
    units: Ints
    first: Ints


def chunk_rows(replay: ReplayData) -> ChunkRows:
    """Return the chunks of the runs.

    The ranges of a heterogeneous job are in the order of its chunks: a chunk has the ranges in which its units begin.
    """
    w, p = replay.workload, replay.placement
    jobs = len(w)
    ids = w.ids
    if not w.chunks:
        return ChunkRows(ids, np.arange(jobs), w.units, p.first)
    count = np.ones(jobs, np.int64)
    for k, chunks in w.chunks.items():
        count[k] = len(chunks)
    job = np.repeat(np.arange(jobs), count)
    due = np.repeat(w.units, count)
    first = np.repeat(p.first[:-1], count)
    names = [ids[k] for k in job.tolist()]
    row = np.cumsum(count) - count
    units = p.units * np.maximum(p.high - p.low + 1, 0)
    for k, chunks in w.chunks.items():
        begun = np.cumsum(units[p.first[k] : p.first[k + 1]]) - units[p.first[k] : p.first[k + 1]]
        before = 0
        for c, chunk in enumerate(chunks):
            at = int(row[k]) + c
            if c:
                names[at] = f"{ids[k]}+{c}"
            else:
                names[at] = ids[k]
            due[at], first[at] = chunk.units, p.first[k] + np.searchsorted(begun, before)
            before += chunk.units
    return ChunkRows(names, job, due, np.append(first, p.first[-1]))


def chunk_requests(replay: ReplayData, rows: ChunkRows) -> dict[str, Ints]:
    """Return the amount of each resource that one unit of each chunk requests; arrays of shape (chunks,)."""
    w = replay.workload
    column = {r: w.request[rows.job, k] for k, r in enumerate(w.resources)}
    if not w.chunks:
        return column
    of_job = np.arange(len(rows.job)) - np.searchsorted(rows.job, rows.job)
    for row in np.flatnonzero(of_job > 0).tolist():
        for r in w.resources:
            column[r][row] = w.chunks[int(rows.job[row])][int(of_job[row])].request.get(r, 0)
    return column
