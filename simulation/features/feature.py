"""A feature of a replay: a component that puts actions on the agenda and rows into the ledger, and is told what happens.

A feature never knows another one. What one feature must respect of another (closed nodes, reserved amounts, jobs that must
not be changed) it asks the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.state import State, TraceArrays
from ...instances.workload import Workload
from ...models import Platform, Running
from ...models.array_types import Ints
from ...models.language import Violation
from ..agenda import Agenda, Plans
from ..dispatcher import DecisionFault
from ..dispatchers.policy import Policy
from ..ledger import Ledger
from ..predictors import TimedPredictor
from ..records import ReplayData
from ..timeline import Timeline, Use


class Feature:
    """What a feature may do; each method does nothing here, and a feature has those that it needs.

    Attributes
    ----------
    watches : bool
        Whether it must be told of each event. Else a policy may be replayed in compiled code between its actions.
    follows_nodes : bool
        Whether the nodes of running jobs must be known, so that nodes cannot only be counted.
    counts_kinds : bool
        Whether the nodes may also be counted kind by kind, where jobs may not use all of them.
    rows_at_begin : mapping of int to tuple of Running
        Row of a job that runs when the replay begins -> its chunks.
    keeps_waiting : str
        Why jobs may wait beside idle nodes up to the end of the replay, for messages; an empty text: they do not.
    """

    watches = False
    follows_nodes = False
    counts_kinds = False
    rows_at_begin: Mapping[int, tuple[Running, ...]] = {}
    keeps_waiting = ""

    @property
    def name(self) -> str:
        """What messages call it: the name of its class."""
        return type(self).__name__

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs of the replay; the feature may add, change or leave out rows."""
        return workload

    def absent(self, workload: Workload) -> Collection[int]:
        """Return the rows that do not arrive by themselves, as the feature starts or shows them."""
        return ()

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays of the replay, which the feature may extend; ``by_count``: nodes are only counted."""
        return trace

    def begin(self, engine: Replay) -> None:
        """Prepare for a replay: put the first actions on the agenda."""

    @property
    def busy(self) -> bool:
        """Whether it has jobs that wait, or run, without being in the queue or on nodes that the kernels know."""
        return False

    @property
    def lacking(self) -> int:
        """The number of whole nodes that it could use now and does not have."""
        return 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the result."""
        return ()

    def ended(self, rows: Sequence[int]) -> None:
        """Be told of the jobs that have ended at this event."""

    def arriving(self, rows: Sequence[int]) -> None:
        """Be told of jobs that arrive or come back, before dispatchers see them; their walltimes may be set."""

    def arrived(self, rows: Sequence[int]) -> None:
        """Be told of jobs that have arrived, or come back, in the queue."""

    def nodes_changed(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """Be told of a change of node states, after jobs have failed; ``runs``: whether jobs go on, on each node."""

    def ended_early(self, row: int, nodes: Sequence[int]) -> None:
        """Be told that a running job has ended before its work was done, and which nodes it had."""

    def failed(self, row: int, why: str) -> None:
        """Handle the failure of a running job of which the feature is the owner."""

    def before_decision(self) -> None:
        """Act before the dispatcher decides."""

    def after_decision(self) -> None:
        """Act after the dispatcher has decided."""

    def uses(self) -> Iterable[Use]:
        """Yield what the feature keeps free beside running jobs and reservations."""
        return ()

    def forbids_change(self, row: int) -> str:
        """Return why no server event may change a job now; an empty text if it may."""
        return ""

    def finish(self) -> None:
        """Do what is left at the end of the replay."""

    def result(self, now: int) -> Mapping[str, Any]:
        """Return fields of the result of the replay, which has come to ``now`` (s)."""
        return {}

    def stops(self, replay: ReplayData) -> Iterable[tuple[str, int]]:
        """Return the nodes whose jobs the feature ends early in a replay, each with the time in seconds, for the verification."""
        return ()

    def check(self, replay: ReplayData) -> Iterable[Violation]:
        """Return what in a replay contradicts the feature, read from its starts, ends and nodes alone.

        It is called for a replay that has just ended, and by ``bench verify`` for one that was read from files, on a feature
        that was made anew.
        """
        return ()


class Scheduler(Protocol):
    """A feature that is the dispatcher of its replay: it is told what happens, and starts jobs itself (``Replay.start_at``)."""

    def decide(self) -> None:
        """Start jobs; called at each event, and whenever it has asked for a call (``Plans.call_at``)."""

    def why_waiting(self, row: int) -> str:
        """Return why a job waits at the end of the replay; an empty text if it is not known."""

    @property
    def alone(self) -> bool:
        """Whether it needs no call of ``decide``, as nothing but jobs and itself moves: ``replay`` is called instead."""

    def replay(self, events: int) -> bool:
        """Replay at most so many events; return False if nothing happens any more."""


class Options(NamedTuple):
    """How a replay runs.

    Parameters
    ----------
    best : bool
        Whether policies choose nodes by best fit, else by first fit.
    seed : int
        The seed of the dispatcher.
    period : int
        While jobs wait, decide also at each multiple of this many seconds; 0: at events only.
    charge : bool
        Whether the wall time of decisions passes on the simulated clock.
    kill : bool
        Whether jobs end at their walltimes.
    by_count : bool
        Whether nodes are interchangeable and only counted.
    """

    best: bool
    seed: int
    period: int
    charge: bool
    kill: bool
    by_count: bool


class Replay(Protocol):
    """What features, and the parts of the engine, use of a running replay; ``engine.Engine`` is one.

    Attributes
    ----------
    rules
        The policy as the kernels take it; None: it is out of date.
    kept_work : callable
        ``kept_work(row, ran)`` returns the seconds of work that are kept of a running job that fails after ``ran``
        seconds; None: it does not come back. A feature may replace it.
    owners : dict of int to Feature
        Row -> the feature that starts this job itself, and is told when it fails.
    """

    name: str
    platform: Platform
    workload: Workload
    policy: Policy | None
    scheduler: Scheduler | None
    dispatcher: Any  # a Dispatcher with the attributes of its needs, or None
    needs: frozenset[str]
    predictor: TimedPredictor
    options: Options
    trace: TraceArrays
    state: State
    agenda: Agenda
    timeline: Timeline
    ledger: Ledger
    plans: Plans
    features: tuple[Feature, ...]
    rules: Any
    kept_work: Callable[[int, int], int | None]
    owners: dict[int, Feature]

    @property
    def now(self) -> int:
        """The time in seconds."""

    @property
    def running(self) -> list[int]:
        """The rows of the jobs that run on nodes now, those inside of reservations apart."""

    @property
    def jobs_to_come(self) -> bool:
        """Whether jobs still arrive by themselves."""

    @property
    def idle(self) -> bool:
        """Whether no job runs, waits, or is to come."""

    @property
    def nothing_moves(self) -> bool:
        """Whether no job runs or is to come, and nothing on the agenda can change that."""

    def fail(self, j: int, why: str) -> None:
        """End a running job because it cannot go on; it comes back, or not, as ``kept_work`` says."""

    def tell_of_stop(self, j: int) -> None:
        """Tell the ranker that a running job is about to be stopped; ``put_back`` and ``end_for_good`` do so themselves."""

    def put_back(self, j: int, why: str, kept: int) -> None:
        """End a running job now, and put it back into the queue with ``kept`` seconds of the work of this attempt."""

    def end_for_good(self, j: int, why: str, at_once: bool = False) -> None:
        """End a running job now, before its work is done; jobs that wait for it arrive now (``at_once``), or at the next event."""

    def come_back(self, rows: Sequence[int]) -> None:
        """Put jobs that wait, but were not in the queue, into it."""

    def leave(self, j: int, why: str) -> None:
        """Note that a waiting job, which is in no queue any more, leaves for good without a start."""

    def release_followers(self, j: int) -> None:
        """Let the jobs that wait for the end of a job which ends now, outside of the kernels, arrive at the next events."""

    def predict_again(self, j: int) -> None:
        """Predict the duration of a job anew whose walltime has changed, if durations are known from the begin."""

    def note_change(self, j: int, **fields: object) -> None:
        """Note that the walltime or the queue of a waiting job has changed, and show it to dispatchers."""

    def start(self, j: int, nodes: Sequence[Mapping[str, int]]) -> None:
        """Start a job now on nodes that have room for it; see ``Engine.start``."""

    def take_changed(self) -> tuple[str, ...]:
        """Return the ids of the waiting jobs that have changed since this was last called."""

    def start_at(self, j: int, places: Ints, units: Ints) -> None:
        """Start a waiting job now on nodes that have room for it, given by their numbers, with so many units on each."""

    def running_uses(self, without: int = -1) -> Iterator[Use]:
        """Yield what running jobs use, up to their walltimes; ``without``: a row that is left out."""

    def kept_free(self) -> Iterator[Use]:
        """Yield what features keep free beside running jobs and reservations, as uses."""

    def fixed_reason(self, j: int) -> str:
        """Return why no server event may change a job now; an empty text if it may."""

    def refuse_start(self, fault: DecisionFault) -> NoReturn:
        """End the replay: raise SimulationError with the dispatcher, the time, and the job and node of a fault."""
