"""The result of an engine: its ledger as the arrays of a ``Simulation``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..heuristics.kernels.events.nodes import by_name, ranges_of
from ..heuristics.kernels.events.state import UNSTARTED
from ..instances.workload import Ints
from .attempts import History
from .features.feature import Replay
from .features.running import ending_at
from .replay_setup import Setup
from .result import Decisions, NodeRanges, Simulation


def result_of(engine: Replay, setup: Setup, decisions: Decisions, seconds: float, notes: tuple[str, ...]) -> Simulation:
    """Return the result of a replay so far; running jobs get the end that their runtime gives.

    The rows of jobs that run at the begin, and have not come back, are left out: they are in ``workload.running``.
    """
    ledger, state, trace = engine.ledger, engine.state, engine.trace
    rows = np.arange(len(engine.workload))
    ranges = setup.on_nodes(ranges_of(trace, state, engine.options.by_count))
    workload, log = engine.workload, ledger.log
    gone = [j for j in ledger.begun if j not in log.begun]
    if ledger.begun:
        named = by_name(ranges, engine.platform.nodes) if not workload.chunks else None
        left = []
        for j in gone:
            on = ledger.nodes_of(j) if named is None else [named[j]]
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
    found = Simulation(
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
    return found if kept.all() else _without(found, kept)


def _history_of(engine: Replay) -> History | None:
    """Return the attempts that ended early, with the restarts of later ones."""
    log = engine.ledger.log
    history = log.history()
    return history.with_restarts(log.restart, engine.owners) if history is not None and log.restart else history


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
