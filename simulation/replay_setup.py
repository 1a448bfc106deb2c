"""The rows, arrays and options with which an engine begins, and the result that it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from ..heuristics.kernels.events.state import NOW, STARTED, UNSTARTED, State, TraceArrays, new_state
from ..instances.workload import Workload
from ..models import Platform, Running
from ..models.array_types import Ints
from ..models.dispatch.arrays import NodeSets
from .dispatchers.policy import BEST_FIT, Allocator, Chosen, rank_of
from .features.feature import Feature, Options, Replay
from .features.running import ending_at
from .predictors import TimedPredictor
from .records import Decisions, History, NodeRanges
from .result import Simulation

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
    if workload.begin is None:
        state.clock[NOW] = state.clock[NOW]
    else:
        state.clock[NOW] = workload.begin
    state.clock[STARTED] = 0  # counts the starts of the replay


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
