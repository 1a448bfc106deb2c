"""Verification of attempts, of node states, and of starts within a desired use; it shares no code with the simulator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.array_types import Bools, Ints
from ...models.desired_profile import DesiredProfile
from ...models.language import Violation
from ...models.node_states import Change
from ...models.platform import Platform
from ...models.problem import part_name
from ...models.words import how_many
from ..desired_use import Pieces, pieces_of, power_steps
from ..node_policies import BOOTING, OFF, ON, SHUTTING_DOWN, STATE_NAMES
from ..records import History, ReplayData
from .preemption import departed, may_write_until
from .production import ends_early
from .runs import Runs

# --- Verification of attempts and of node states; it shares no code with the simulator.

FOREVER = int(np.iinfo(np.int64).max)


def attempt_faults(replay: ReplayData, others: Iterable[tuple[str, int]] = ()) -> Iterator[Violation]:
    """Yield the faults of the attempts of each job: their numbers and order, their reasons, and the work that they save.

    ``others``: nodes that stop for reasons that the replay does not record, each with the time.
    """
    history, ids = replay.history, replay.workload.ids
    if history is None:
        return
    left = departed(replay)
    stops = Stops(replay, others)
    ended: dict[int, int] = {}
    count: dict[int, int] = {}
    for k, a in zip(history.rows.tolist(), history.early, strict=True):
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
    yield from _begun_faults(replay, history, stops, left)
    names, p = replay.platform.nodes, replay.placement
    for k in history.dropped:
        ranges = range(p.first[k], p.first[k + 1])
        nodes = dict.fromkeys((n for r in ranges for n in names[p.low[r] : p.high[r] + 1]), 1)
        if not stops.any_of(nodes, int(replay.end[k])) and not ends_early(replay, k, nodes):
            yield _fault(ids[k], 1, f"did not come back at {replay.end[k]}, when none of its nodes stopped")


def _begun_faults(
    replay: ReplayData, found: History, stops: Stops, left: Collection[tuple[int, int, int]]
) -> Iterator[Violation]:
    """Yield the faults of the attempts that began before the replay."""
    ids = replay.workload.ids
    first = {k: a for k, a in zip(found.rows.tolist(), found.early, strict=True) if a.number == 1}
    ends = {r.job.id: r.true_end for r in replay.workload.running}
    for k, parts in found.begun.items():
        a = first.get(k)
        attempted = () if a is None else (a.nodes, *a.further)
        for c, r in enumerate(parts):
            on = dict(attempted[c]) if c < len(attempted) else {}
            until = may_write_until(replay, ids[k], r.start, r.true_end)
            late = a is not None and a.end > until and (k, 1, a.end) not in left
            if a is None or a.start != r.start or late or (r.nodes and on != dict(r.nodes)):
                is_what = "has no attempt" if a is None else f"ran from {a.start} to {a.end} on {on}"
                expected = f"from {r.start}, to {r.true_end} at the latest, on {dict(r.nodes) or 'any nodes'}"
                yield _fault(r.job.id, 1, f"runs at the begin and {is_what}; expected {expected}")
    for a in found.gone:
        chunks = [part_name(a.job, c) for c in range(1 + len(a.further))]
        stopped = stops.any_of(a.all_nodes, a.end) or _reserved_from(replay, a.all_nodes, a.end)
        if any(ends.get(name) != a.end for name in chunks) or not (stopped or _deleted(replay, a.job, a.end)):
            yield _fault(a.job, 1, f"runs at the begin and failed at {a.end} ({a.why}), when none of its nodes stopped")


def _deleted(replay: ReplayData, job: str, time: int) -> bool:
    """Return whether an event deletes a job at this time."""
    events = () if replay.production is None else replay.production.events
    return any(e.kind == "delete" and (e.subject, e.time) == (job, time) for e in events)


def _reserved_from(replay: ReplayData, nodes: Collection[str], time: int) -> bool:
    """Return whether a reservation of one of the nodes has started at this time."""
    bookings = () if replay.production is None else replay.production.bookings
    return any(b.start == time and b.accepted is not None and not set(b.nodes).isdisjoint(nodes) for b in bookings)


def _changes(replay: ReplayData) -> tuple[Change, ...]:
    """Return the changes of the states of the nodes, from the begin of the replay on."""
    return () if replay.states is None else replay.states.changes_from(replay.workload.begin)


class Stops:
    """The nodes that stop at each time of a replay."""

    def __init__(self, replay: ReplayData, others: Iterable[tuple[str, int]] = ()) -> None:
        self._others = set(others)  # (node, time)
        self._change = {change.time: change for change in _changes(replay)}
        self._number = {name: n for n, name in enumerate(replay.platform.nodes)}

    def any_of(self, nodes: Collection[str], time: int) -> bool:
        """Return whether one of the nodes does not run jobs from this time on."""
        if any((name, time) in self._others for name in nodes):
            return True
        change = self._change.get(time)
        number = self._number
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
    barred = list[Barred]()
    begun = dict[int, tuple[int, str]]()
    before: Bools | None = None
    for change in changes:
        allowed: Bools = getattr(change, flag)
        before = np.ones_like(allowed) if before is None else before
        for n in np.flatnonzero(before & ~allowed).tolist():
            begun[n] = change.time, change.names[n]
        for n in np.flatnonzero(~before & allowed).tolist():
            since, name = begun.pop(n)
            barred.append(Barred(n, since, change.time, name))
        before = allowed
    return [*barred, *(Barred(n, since, FOREVER, name) for n, (since, name) in begun.items())]


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


def _on(runs: Runs, barred: Sequence[Barred], mask: Bools) -> Iterator[tuple[Barred, int]]:
    """Yield each barred time of a node with each run of a mask that uses the node."""
    if not barred or not mask.any():
        return
    nodes = np.unique([b.node for b in barred])
    p = runs.placement
    job = np.repeat(np.arange(len(mask)), np.diff(p.first))
    low = np.searchsorted(nodes, p.low)
    count = np.where(mask[job], np.maximum(0, np.searchsorted(nodes, p.high, side="right") - low), 0)
    run = np.repeat(job, count)
    at = np.repeat(low - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    order = np.argsort(at, kind="stable")
    run = run[order]
    first = np.searchsorted(at[order], np.arange(len(nodes) + 1))
    place = {n: i for i, n in enumerate(nodes.tolist())}
    for b in barred:
        i = place[b.node]
        for k in run[first[i] : first[i + 1]].tolist():
            yield b, k


# --- Verification of the states of nodes that are switched off and on; it shares no code with the simulator.
#
# - A node is on at first, and goes through on, shutting down, off, booting, on, in this order.
# - It shuts down and boots for the given times, and is off for the least time or longer.
# - No job runs on a node that is not on.

NEXT = {ON: SHUTTING_DOWN, SHUTTING_DOWN: OFF, OFF: BOOTING, BOOTING: ON}


def power_faults(replay: ReplayData, runs: Runs) -> Iterator[Violation]:
    """Yield the faults of the states of nodes, and the runs on nodes that were not on."""
    if replay.power is None:
        return
    record = replay.power
    nodes = replay.platform.nodes
    times = replay.power.switching
    state = dict.fromkeys(range(len(nodes)), ON)
    since = dict[int, int]()
    wrong = next((n for n in record.node.tolist() if not 0 <= n < len(nodes)), None)
    if wrong is not None:
        yield Violation("nodes", 1, f"the states of nodes have node {wrong}; the platform has 0 to {len(nodes) - 1}")
        return
    least = {OFF: times.shut_down, BOOTING: times.min_off, ON: times.boot, SHUTTING_DOWN: 0}
    away: list[tuple[int, int, int]] = []
    latest = dict[int, int]()  # node -> its last entry in away
    for n, t, new in zip(record.node.tolist(), record.time.tolist(), record.state.tolist(), strict=True):
        old, name = state[n], nodes[n]
        if NEXT[old] != new:
            yield Violation(name, 1, f"node {name!r} at {t}: {STATE_NAMES[new]} after {STATE_NAMES[old]}")
        took = t - since.get(n, t - least[new])
        if took < least[new] or (took > least[new] and new in (OFF, ON)):
            exactly = "at least " if new in (BOOTING, SHUTTING_DOWN) else ""
            text = f"node {name!r} at {t}: {STATE_NAMES[new]} after {took} s {STATE_NAMES[old]}; expected {exactly}{least[new]} s"
            yield Violation(name, abs(took - least[new]), text)
        if old == ON:
            latest[n] = len(away)
            away.append((n, t, np.iinfo(np.int64).max))
        elif new == ON and n in latest:
            away[latest[n]] = (n, away[latest[n]][1], t)
        state[n], since[n] = new, t
    yield from _runs_away(runs, away)


def _runs_away(runs: Runs, away: list[tuple[int, int, int]]) -> Iterator[Violation]:
    """Yield the runs on a node in a time [begin, until) in which it is not on; ``away``: (node, begin, until)."""
    if not away:
        return
    p = runs.placement
    names = runs.platform.nodes
    running = runs.workload.running
    count = np.maximum(p.high - p.low + 1, 0)
    piece = np.repeat(np.arange(count.size), count)
    node = p.low[piece] + np.arange(piece.size) - np.repeat(np.cumsum(count) - count, count)
    job = np.repeat(np.arange(len(runs.start)), np.diff(p.first))[piece]
    kept = runs.started[job]
    node = node[kept]
    job = job[kept]
    ids = list(runs.workload.ids)
    start, end = runs.start[job], runs.end[job]
    number = {name: n for n, name in enumerate(names)}
    held = [(number[name], len(ids) + k, r) for k, r in enumerate(running) for name in r.nodes if name in number]
    ids += [r.job.id for r in running]
    node = np.append(node, [n for n, _, _ in held])
    job = np.append(job, [k for _, k, _ in held])
    start = np.append(start, [r.start for _, _, r in held])
    end = np.append(end, [r.true_end for _, _, r in held])
    node, job, start, end = (a.astype(np.int64) for a in (node, job, start, end))
    listed = np.array(sorted(away), np.int64)
    # intervals of a node are disjoint: of those that begin before the end of a run, the last one ends last
    far = int(max(listed[:, 1].max(), end.max(initial=0))) + 1
    last = np.searchsorted(listed[:, 0] * far + listed[:, 1], node * far + end) - 1
    off = listed[np.maximum(last, 0)]
    for k in np.flatnonzero((last >= 0) & (off[:, 0] == node) & (off[:, 2] > start)).tolist():
        name, begin = ids[job[k]], off[k, 1]
        text = (
            f"job {name!r} runs from {start[k]} to {end[k]} on node {names[node[k]]!r}, which is not on from {begin} on"
        )
        yield Violation(name, 1, text)


# --- The check that starts keep to a desired profile; it shares no code with the simulator and the dispatchers.

TOLERANCE = 1e-6  # of an amount


def limit_faults(runs: Runs, within: Sequence[DesiredProfile], on_each_node: bool) -> Iterator[Violation]:
    """Yield the times at which jobs start although more is in use then than a profile allows, node by node.

    Where nodes can be counted (all are equal, each unit takes more than half of one), the number of nodes in use is
    compared with that of the profile: of each group the least share of a wished resource, rounded down; with ``on_each_node``
    it is not. Power is that of all
    running jobs, and all starts must keep to it, also those of on-demand jobs and inside of reservations.
    """
    if not within or not runs.own.any():
        return
    every = np.unique(runs.start[runs.own])
    runs = replace(runs, own=runs.own & ~_exempt(runs))
    begun = np.unique(runs.start[runs.own])
    pieces = pieces_of(runs)
    for profile in within:
        if profile.power is not None:
            yield from _power_faults(runs, profile, every)
        if profile.steps and not on_each_node and _can_be_counted(runs):
            yield from _count_faults(runs, profile, pieces, begun)
        elif profile.steps:
            yield from _node_faults(runs, profile, pieces)


def _exempt(runs: Runs) -> NDArray[np.bool_]:
    """Return the runs that keep to no desired use: of on-demand jobs, and of jobs inside reservations."""
    ids = runs.workload.ids
    names = set[str]()
    if runs.preemption is not None:
        names.update(job.id for job in runs.preemption.settings.jobs)
    if runs.production is not None:
        names.update(ids[run.row] for run in runs.production.private)
    return np.array([name in names for name in ids], np.bool_)


def _can_be_counted(runs: Runs) -> bool:
    vectors = set(runs.platform.capacity.values())
    w = runs.workload
    if len(vectors) > 1 or w.chunks:
        return False
    whole = dict(zip(runs.platform.resources, next(iter(vectors)), strict=True))
    rows = [dict(zip(w.resources, row, strict=True)) for row in np.unique(w.request, axis=0).tolist()]
    rows += [dict(r.job.request) for r in w.running]
    return any(all(2 * row.get(r, 0) > whole[r] for row in rows) for r in whole)


def _power_faults(runs: Runs, profile: DesiredProfile, begun: Ints) -> Iterator[Violation]:
    times, watts = power_steps(runs)
    at = watts[np.searchsorted(times, begun, side="right") - 1]
    assert profile.power is not None
    allowed = profile.power.at_each(begun)
    for k in np.flatnonzero(at > allowed + TOLERANCE * np.maximum(1.0, at)).tolist():
        text = f"jobs start at {begun[k]}, and {at[k]:,.1f} W are in use then; the profile allows {allowed[k]:,.1f} W"
        yield Violation("power", float(at[k] - allowed[k]), text)


def _count_faults(runs: Runs, profile: DesiredProfile, pieces: Pieces, begun: Ints) -> Iterator[Violation]:
    nodes = pieces.high - pieces.low + 1
    times = np.concatenate([pieces.end, pieces.start])
    order = np.argsort(times, kind="stable")
    used = np.cumsum(np.concatenate([-nodes, nodes])[order])
    at = used[np.searchsorted(times[order], begun, side="right") - 1]
    for t, in_use in zip(begun.tolist(), at.tolist(), strict=True):
        allowed = sum(
            int(g.count * min(profile.amount(g.name, r, t) / c for r, c in g.capacity.items() if c) + TOLERANCE)
            for g in runs.platform.groups
        )
        if in_use > allowed:
            text = f"jobs start at {t}, and {how_many(in_use, 'node', verb='are')} in use then; the profile allows {allowed}"
            yield Violation("nodes", in_use - allowed, text)


def _node_faults(runs: Runs, profile: DesiredProfile, pieces: Pieces) -> Iterator[Violation]:
    """Yield the nodes of which more is in use than desired when a job starts there, by events node after node."""
    size = np.maximum(pieces.high - pieces.low + 1, 0)
    of = np.repeat(np.arange(len(size)), size)
    node = pieces.low[of] + np.arange(len(of)) - np.repeat(np.cumsum(size) - size, size)
    both = np.concatenate([of, of])
    time = np.concatenate([pieces.end[of], pieces.start[of]])
    sign = np.repeat([-1, 1], len(of))
    place = np.concatenate([node, node])
    order = np.lexsort((sign, time, place))
    both = both[order]
    time = time[order]
    sign = sign[order]
    place = place[order]
    last = np.append((np.diff(place) > 0) | (np.diff(time) > 0), True)[: len(place)]
    own = np.append(runs.own, False)[pieces.row]  # row -1: one that ran at the begin
    starts = (sign > 0) & own[both] & (pieces.end > pieces.start)[both]
    moment = np.cumsum(last) - last  # events of one node at one time
    group = _group_of(runs.platform)
    for r, resource in enumerate(runs.platform.resources):
        amount = pieces.amount[both, r]
        used = np.cumsum(sign * amount)  # all that begins on a node ends there: each node adds up to 0
        taken = np.bincount(moment, weights=np.where(starts, amount, 0))  # a start that takes nothing exceeds nothing
        for k in np.flatnonzero(last & starts & (taken[moment] > 0)).tolist():
            t = int(time[k])
            name = runs.platform.groups[group[place[k]]].name
            allowed = profile.amount(name, resource, t)
            if used[k] > allowed + TOLERANCE:
                where = runs.platform.nodes[place[k]]
                text = (
                    f"node {where!r} at {t}: {used[k]} {resource} in use after a start, the profile allows {allowed:g}"
                )
                yield Violation(where, float(used[k] - allowed), text)


def _group_of(platform: Platform) -> list[int]:
    bounds = [0, *accumulate(g.count for g in platform.groups)]
    return [k for k, (a, b) in enumerate(pairwise(bounds)) for _ in range(a, b)]
