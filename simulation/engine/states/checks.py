"""Verification of attempts and of node states; it shares no code with the simulator.

The replay is seen as runs: the attempts that ended early, and the last attempt of each job.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ....instances.workload import Workload
from ....models.language import Violation
from ....models.node_states.timeline import Change, NodeStates
from ....models.platform import Platform
from ....models.problem import part_name
from ..power.record import PowerRecord
from ..preemption.checks import departed
from ..preemption.record import PreemptionRecord
from ..production.checks import ends_early
from ..production.record import ProductionRecord
from .attempts import History

NEVER = -1  # the start of a job that was never started
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Ranges(Protocol):
    """The nodes of all jobs, see ``simulation.NodeRanges``."""

    @property
    def first(self) -> Ints:
        """Index of the first range of each job, shape (jobs + 1,)."""

    @property
    def low(self) -> Ints:
        """First node of each range."""

    @property
    def high(self) -> Ints:
        """Last node of each range, included."""

    @property
    def units(self) -> Ints:
        """Units on each node of the range."""


class Replay(Protocol):
    """The part of a replay from which its runs are read."""

    @property
    def workload(self) -> Workload:
        """The jobs."""

    @property
    def platform(self) -> Platform:
        """The machine."""

    @property
    def start(self) -> Ints:
        """Starts of the last attempts in seconds; -1: never started."""

    @property
    def end(self) -> Ints:
        """Ends of the last attempts in seconds."""

    @property
    def killed(self) -> Mask:
        """Whether each job was killed at its walltime."""

    @property
    def placement(self) -> Ranges:
        """The nodes of each job."""

    @property
    def history(self) -> History | None:
        """The attempts that ended early."""

    @property
    def states(self) -> NodeStates | None:
        """The states of the nodes."""

    @property
    def production(self) -> ProductionRecord | None:
        """What became of reservations and server events."""

    @property
    def preemption(self) -> PreemptionRecord | None:
        """Evictions for on-demand jobs."""

    @property
    def power(self) -> PowerRecord | None:
        """The states of the nodes that were switched off and on."""


@dataclass(frozen=True)
class RunRanges:
    """The nodes of runs, as ``simulation.NodeRanges``."""

    first: Ints
    low: Ints
    high: Ints
    units: Ints


@dataclass(frozen=True)
class Runs:
    """All runs of a replay, one row per run: first the last attempts of the jobs, then those that ended early."""

    workload: Workload
    platform: Platform
    start: Ints
    end: Ints
    killed: Mask
    placement: Ranges
    history: History | None
    states: NodeStates | None
    started: Mask
    own: Mask
    production: ProductionRecord | None
    preemption: PreemptionRecord | None = None
    power: PowerRecord | None = None


def runs_of(replay: Replay) -> Runs:
    """Return all runs of a replay. Unknown nodes become node -1.

    ``started`` of the result are the runs that have started, ``own`` those of them that started in the replay, and not
    before its begin.
    """
    found, started = replay.history, replay.start != NEVER
    if found is None or not found.early:
        return Runs(
            replay.workload,
            replay.platform,
            replay.start,
            replay.end,
            replay.killed,
            replay.placement,
            found,
            replay.states,
            started,
            started,
            replay.production,
            replay.preemption,
            replay.power,
        )
    begun = [a.number == 1 and k in found.begun for k, a in zip(found.rows.tolist(), found.early, strict=True)]
    rows = np.concatenate([np.arange(len(replay.workload)), found.rows])
    number = {name: n for n, name in enumerate(replay.platform.nodes)}
    pieces = [[pair for on in (a.nodes, *a.further) for pair in on.items()] for a in found.early]
    nodes = np.array([number.get(name, -1) for listed in pieces for name, _ in listed], np.int64)
    units = np.array([u for listed in pieces for _, u in listed], np.int64)
    p = replay.placement
    first = np.concatenate([p.first, p.first[-1] + np.cumsum([len(listed) for listed in pieces])])
    placement = RunRanges(
        first, np.concatenate([p.low, nodes]), np.concatenate([p.high, nodes]), np.concatenate([p.units, units])
    )
    return Runs(
        replay.workload.keep(rows),
        replay.platform,
        np.concatenate([replay.start, found.start]),
        np.concatenate([replay.end, found.end]),
        np.concatenate([replay.killed, np.zeros(len(found.early), np.bool_)]),
        placement,
        found,
        replay.states,
        np.concatenate([started, np.ones(len(begun), np.bool_)]),
        np.concatenate([started, ~np.array(begun)]),
        replay.production,
        replay.preemption,
        replay.power,
    )


def attempt_faults(replay: Replay) -> Iterator[Violation]:
    """Yield the faults of the attempts of each job: their numbers and order, their reasons, and the work that they save."""
    found, ids = replay.history, replay.workload.ids
    if found is None:
        return
    left = departed(replay)
    ended: dict[int, int] = {}
    count: dict[int, int] = {}
    for k, a in zip(found.rows.tolist(), found.early, strict=True):
        count[k] = count.get(k, 0) + 1
        if a.job != ids[k] or a.number != count[k]:
            yield _fault(a.job, 1, f"attempt {a.number} stands where attempt {count[k]} of job {ids[k]!r} is expected")
        if a.start < ended.get(k, a.start) or a.end < a.start:
            yield _fault(
                a.job, 1, f"attempt {a.number} from {a.start} to {a.end}: the one before ended at {ended.get(k)}"
            )
        if not 0 <= a.work_done <= a.end - a.start:
            yield _fault(a.job, 1, f"attempt {a.number} ran {a.end - a.start} s and has done {a.work_done} s of work")
        if (k, a.number, a.end) not in left and not _stopped(replay, a.all_nodes, a.end):
            yield _fault(a.job, 1, f"attempt {a.number} ended at {a.end} ({a.why}), when none of its nodes stopped")
        ended[k] = a.end
    for k, last in ended.items():
        if 0 <= replay.start[k] < last:
            yield _fault(ids[k], 1, f"starts at {replay.start[k]}, before the end of its attempt before, {last}")
    yield from _begun_faults(replay, found)
    names, p = replay.platform.nodes, replay.placement
    for k in found.dropped:
        ranges = range(p.first[k], p.first[k + 1])
        nodes = dict.fromkeys((n for r in ranges for n in names[p.low[r] : p.high[r] + 1]), 1)
        if not _stopped(replay, nodes, int(replay.end[k])) and not ends_early(replay, k, nodes):
            yield _fault(ids[k], 1, f"did not come back at {replay.end[k]}, when none of its nodes stopped")


def _begun_faults(replay: Replay, found: History) -> Iterator[Violation]:
    """Yield the faults of the attempts that began before the replay."""
    first = {k: a for k, a in zip(found.rows.tolist(), found.early, strict=True) if a.number == 1}
    ends = {r.job.id: r.true_end for r in replay.workload.running}
    for k, parts in found.begun.items():
        a = first.get(k)
        attempted = () if a is None else (a.nodes, *a.further)
        for c, r in enumerate(parts):
            on = dict(attempted[c]) if c < len(attempted) else {}
            if a is None or a.start != r.start or a.end > r.true_end or (r.nodes and on != dict(r.nodes)):
                is_what = "has no attempt" if a is None else f"ran from {a.start} to {a.end} on {on}"
                expected = f"from {r.start}, to {r.true_end} at the latest, on {dict(r.nodes) or 'any nodes'}"
                yield _fault(r.job.id, 1, f"runs at the begin and {is_what}; expected {expected}")
    for a in found.gone:
        chunks = [part_name(a.job, c) for c in range(1 + len(a.further))]
        if any(ends.get(name) != a.end for name in chunks) or not _stopped(replay, a.all_nodes, a.end):
            yield _fault(a.job, 1, f"runs at the begin and failed at {a.end} ({a.why}), when none of its nodes stopped")


def _changes(replay: Replay) -> tuple[Change, ...]:
    """Return the changes of the states of the nodes, from the begin of the replay on."""
    return () if replay.states is None else replay.states.changes_from(replay.workload.begin)


def _stopped(replay: Replay, nodes: Collection[str], time: int) -> bool:
    """Return whether one of the nodes does not run jobs from this time on."""
    change = next((c for c in _changes(replay) if c.time == time), None)
    return change is not None and any(
        not runs for name, runs in zip(replay.platform.nodes, change.runs.tolist(), strict=True) if name in nodes
    )


def _fault(job: str, amount: float, text: str) -> Violation:
    return Violation(job, amount, f"job {job!r}: {text}")


def state_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the runs that start on a node which takes no starts, or go on when a node stops."""
    changes = _changes(runs)
    for k, change in enumerate(changes):
        until = changes[k + 1].time if k + 1 < len(changes) else np.iinfo(np.int64).max
        here = runs.own & (runs.start >= change.time) & (runs.start < until)
        yield from _on(runs, here, ~change.starts, change, "starts")
        through = runs.started & (runs.start < change.time) & (runs.end > change.time)
        yield from _on(runs, through, ~change.runs, change, "runs on")
        stopped = {name: n for n, name in enumerate(runs.platform.nodes) if not change.runs[n]}
        for r in runs.workload.running if stopped else ():
            node = next((node for node in r.nodes if node in stopped), None)
            if node is not None and r.true_end > change.time:
                text = f"runs on node {node!r}, {change.names[stopped[node]]} since {change.time} or before"
                yield _fault(r.job.id, 1, f"from {r.start} to {r.true_end}: {text}")


def _on(runs: Runs, mask: Mask, barred: Mask, change: Change, what: str) -> Iterator[Violation]:
    """Yield the runs of a mask that use a barred node."""
    if not barred.any() or not mask.any():
        return
    p, before = runs.placement, np.concatenate([[0], np.cumsum(barred)])
    nodes = len(barred)
    low, high = np.clip(p.low, 0, nodes), np.clip(p.high + 1, 0, nodes)
    used = np.concatenate([[0], np.cumsum(before[np.maximum(low, high)] - before[low])])
    for k in np.flatnonzero(mask & (used[p.first[1:]] > used[p.first[:-1]])).tolist():
        n = next(n for r in range(p.first[k], p.first[k + 1]) for n in range(low[r], high[r]) if barred[n])
        text = f"from {runs.start[k]} to {runs.end[k]}: {what} node {runs.platform.nodes[n]!r}, {change.names[n]} since"
        yield _fault(runs.workload.ids[k], 1, f"{text} {change.time} or before")
