"""Verification of attempts and of node states; it shares no code with the simulator."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...models.language import Violation
from ...models.node_states.timeline import Change
from ...models.problem import part_name
from ..attempts import History
from .preemption import departed
from .production import ends_early
from .runs import Mask, Replay, Runs

FOREVER = int(np.iinfo(np.int64).max)


def attempt_faults(replay: Replay) -> Iterator[Violation]:
    """Yield the faults of the attempts of each job: their numbers and order, their reasons, and the work that they save."""
    found, ids = replay.history, replay.workload.ids
    if found is None:
        return
    left, stops = departed(replay), Stops(replay)
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
        if (k, a.number, a.end) not in left and not stops.any_of(a.all_nodes, a.end):
            yield _fault(a.job, 1, f"attempt {a.number} ended at {a.end} ({a.why}), when none of its nodes stopped")
        ended[k] = a.end
    for k, last in ended.items():
        if 0 <= replay.start[k] < last:
            yield _fault(ids[k], 1, f"starts at {replay.start[k]}, before the end of its attempt before, {last}")
    yield from _begun_faults(replay, found, stops, left)
    names, p = replay.platform.nodes, replay.placement
    for k in found.dropped:
        ranges = range(p.first[k], p.first[k + 1])
        nodes = dict.fromkeys((n for r in ranges for n in names[p.low[r] : p.high[r] + 1]), 1)
        if not stops.any_of(nodes, int(replay.end[k])) and not ends_early(replay, k, nodes):
            yield _fault(ids[k], 1, f"did not come back at {replay.end[k]}, when none of its nodes stopped")


def _begun_faults(
    replay: Replay, found: History, stops: Stops, left: Collection[tuple[int, int, int]]
) -> Iterator[Violation]:
    """Yield the faults of the attempts that began before the replay."""
    first = {k: a for k, a in zip(found.rows.tolist(), found.early, strict=True) if a.number == 1}
    ends = {r.job.id: r.true_end for r in replay.workload.running}
    for k, parts in found.begun.items():
        a = first.get(k)
        attempted = () if a is None else (a.nodes, *a.further)
        for c, r in enumerate(parts):
            on = dict(attempted[c]) if c < len(attempted) else {}
            late = a is not None and a.end > r.true_end and (k, 1, a.end) not in left  # it may write a checkpoint then
            if a is None or a.start != r.start or late or (r.nodes and on != dict(r.nodes)):
                is_what = "has no attempt" if a is None else f"ran from {a.start} to {a.end} on {on}"
                expected = f"from {r.start}, to {r.true_end} at the latest, on {dict(r.nodes) or 'any nodes'}"
                yield _fault(r.job.id, 1, f"runs at the begin and {is_what}; expected {expected}")
    for a in found.gone:
        chunks = [part_name(a.job, c) for c in range(1 + len(a.further))]
        stopped = stops.any_of(a.all_nodes, a.end) or _reserved_from(replay, a.all_nodes, a.end)
        if any(ends.get(name) != a.end for name in chunks) or not stopped:
            yield _fault(a.job, 1, f"runs at the begin and failed at {a.end} ({a.why}), when none of its nodes stopped")


def _reserved_from(replay: Replay, nodes: Collection[str], time: int) -> bool:
    """Return whether a reservation of one of the nodes has started at this time."""
    bookings = () if replay.production is None else replay.production.bookings
    return any(b.start == time and b.accepted is not None and not set(b.nodes).isdisjoint(nodes) for b in bookings)


def _changes(replay: Replay) -> tuple[Change, ...]:
    """Return the changes of the states of the nodes, from the begin of the replay on."""
    return () if replay.states is None else replay.states.changes_from(replay.workload.begin)


class Stops:
    """The nodes that stop at each time of a replay."""

    def __init__(self, replay: Replay) -> None:
        self._change = {change.time: change for change in _changes(replay)}
        self._number = {name: n for n, name in enumerate(replay.platform.nodes)}

    def any_of(self, nodes: Collection[str], time: int) -> bool:
        """Return whether one of the nodes does not run jobs from this time on."""
        change, number = self._change.get(time), self._number
        return change is not None and any(not change.runs[number[name]] for name in nodes if name in number)


def _fault(job: str, amount: float, text: str) -> Violation:
    return Violation(job, amount, f"job {job!r}: {text}")


class Barred(NamedTuple):
    """A time (s) in which a node takes no starts, or runs no jobs, and the name of its state."""

    node: int
    since: int
    until: int
    name: str


def _barred(changes: Sequence[Change], flag: str) -> list[Barred]:
    """Return the times in which ``flag`` of a node, ``starts`` or ``runs``, is false."""
    found, begun = list[Barred](), dict[int, tuple[int, str]]()
    before: Mask | None = None
    for change in changes:
        allowed: Mask = getattr(change, flag)
        before = np.ones_like(allowed) if before is None else before
        for n in np.flatnonzero(before & ~allowed).tolist():
            begun[n] = change.time, change.names[n]
        for n in np.flatnonzero(~before & allowed).tolist():
            since, name = begun.pop(n)
            found.append(Barred(n, since, change.time, name))
        before = allowed
    return [*found, *(Barred(n, since, FOREVER, name) for n, (since, name) in begun.items())]


def state_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the runs that start on a node which takes no starts, or go on when a node stops."""
    changes = _changes(runs)
    for b, k in _on(runs, _barred(changes, "starts"), runs.own):
        if b.since <= runs.start[k] < b.until:
            yield _state_fault(runs, k, b, "starts")
    stops = _barred(changes, "runs")
    for b, k in _on(runs, stops, runs.started):
        if runs.start[k] < b.since < runs.end[k]:
            yield _state_fault(runs, k, b, "runs on")
    first = {runs.platform.nodes[b.node]: b for b in sorted(stops, key=lambda b: -b.since)}
    for r in runs.workload.running if first else ():
        node = next((node for node in r.nodes if node in first and r.true_end > first[node].since), None)
        if node is not None:
            text = f"runs on node {node!r}, {first[node].name} since {first[node].since} or before"
            yield _fault(r.job.id, 1, f"from {r.start} to {r.true_end}: {text}")


def _state_fault(runs: Runs, k: int, b: Barred, what: str) -> Violation:
    text = f"{what} node {runs.platform.nodes[b.node]!r}, {b.name} since {b.since} or before"
    return _fault(runs.workload.ids[k], 1, f"from {runs.start[k]} to {runs.end[k]}: {text}")


def _on(runs: Runs, barred: Sequence[Barred], mask: Mask) -> Iterator[tuple[Barred, int]]:
    """Yield each barred time of a node with each run of a mask that uses the node."""
    if not barred or not mask.any():
        return
    nodes, p = np.unique([b.node for b in barred]), runs.placement
    job = np.repeat(np.arange(len(mask)), np.diff(p.first))
    low = np.searchsorted(nodes, p.low)
    count = np.where(mask[job], np.maximum(0, np.searchsorted(nodes, p.high, side="right") - low), 0)
    run, at = np.repeat(job, count), np.repeat(low - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    order = np.argsort(at, kind="stable")
    run, first = run[order], np.searchsorted(at[order], np.arange(len(nodes) + 1))
    place = {n: i for i, n in enumerate(nodes.tolist())}
    for b in barred:
        i = place[b.node]
        for k in run[first[i] : first[i + 1]].tolist():
            yield b, k
