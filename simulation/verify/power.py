"""Verification of the states of nodes that are switched off and on; it shares no code with the simulator.

- A node is on at first, and goes through on, shutting down, off, booting, on, in this order.
- It shuts down and boots for the given times, and is off for the least time or longer.
- No job runs on a node that is not on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...models.language import Violation
from ..node_policies import BOOTING, OFF, ON, SHUTTING_DOWN, STATE_NAMES
from .runs import Replay, Runs

NEXT = {ON: SHUTTING_DOWN, SHUTTING_DOWN: OFF, OFF: BOOTING, BOOTING: ON}


def power_faults(replay: Replay, runs: Runs) -> Iterator[Violation]:
    """Yield the faults of the states of nodes, and the runs on nodes that were not on."""
    if replay.power is None:
        return
    record, nodes, times = replay.power, replay.platform.nodes, replay.power.switching
    state = dict.fromkeys(range(len(nodes)), ON)
    since = dict[int, int]()
    wrong = next((n for n in record.node.tolist() if not 0 <= n < len(nodes)), None)
    if wrong is not None:
        yield Violation("nodes", 1, f"the states of nodes have node {wrong}; the platform has 0 to {len(nodes) - 1}")
        return
    least = {OFF: times.shut_down, BOOTING: times.min_off, ON: times.boot, SHUTTING_DOWN: 0}
    away: list[tuple[int, int, int]] = []
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
            away.append((n, t, np.iinfo(np.int64).max))
        elif new == ON and away:
            k = max(k for k, gone in enumerate(away) if gone[0] == n)
            away[k] = (n, away[k][1], t)
        state[n], since[n] = new, t
    yield from _runs_away(runs, away)


def _runs_away(runs: Runs, away: list[tuple[int, int, int]]) -> Iterator[Violation]:
    """Yield the runs on a node in a time [begin, until) in which it is not on; ``away``: (node, begin, until)."""
    if not away:
        return
    p, names, running = runs.placement, runs.platform.nodes, runs.workload.running
    count = np.maximum(p.high - p.low + 1, 0)
    piece = np.repeat(np.arange(count.size), count)
    node = p.low[piece] + np.arange(piece.size) - np.repeat(np.cumsum(count) - count, count)
    job = np.repeat(np.arange(len(runs.start)), np.diff(p.first))[piece]
    kept = runs.started[job]
    node, job, ids = node[kept], job[kept], list(runs.workload.ids)
    start, end = runs.start[job], runs.end[job]
    number = {name: n for n, name in enumerate(names)}
    held = [(number[name], len(ids) + k, r) for k, r in enumerate(running) for name in r.nodes if name in number]
    ids += [r.job.id for r in running]
    node, job = np.append(node, [n for n, _, _ in held]), np.append(job, [k for _, k, _ in held])
    start, end = np.append(start, [r.start for _, _, r in held]), np.append(end, [r.true_end for _, _, r in held])
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
