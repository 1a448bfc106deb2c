"""The check that starts keep to a desired profile; it shares no code with the simulator and the dispatchers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from ...models.language import Violation
from ...models.platform import Platform
from ...models.profiles import DesiredProfile
from ..desired.pieces import Pieces, pieces_of, power_steps
from .runs import Runs

Ints = NDArray[np.int64]
TOLERANCE = 1e-6  # of an amount


def limit_faults(runs: Runs, within: Sequence[DesiredProfile]) -> Iterator[Violation]:
    """Yield the times at which jobs start although more is in use then than a profile allows, node by node.

    Where nodes are counted (all are equal, each unit takes more than half of one), the number of nodes in use is
    compared with that of the profile: of each group the least share of a wished resource, rounded down.
    """
    if within:
        runs = replace(runs, own=runs.own & ~_exempt(runs))
    if not within or not runs.own.any():
        return
    begun = np.unique(runs.start[runs.own])
    pieces = pieces_of(runs)
    for profile in within:
        if profile.power is not None:
            yield from _power_faults(runs, profile, begun)
        if profile.steps and _is_counted(runs):
            yield from _count_faults(runs, profile, pieces, begun)
        elif profile.steps:
            yield from _node_faults(runs, profile, pieces)


def _exempt(runs: Runs) -> NDArray[np.bool_]:
    """Return the runs that keep to no desired use: of on-demand jobs, and of jobs inside reservations."""
    ids, names = runs.workload.ids, set[str]()
    if runs.preemption is not None:
        names.update(job.id for job in runs.preemption.settings.jobs)
    if runs.production is not None:
        names.update(ids[run.row] for run in runs.production.private)
    return np.array([name in names for name in ids], np.bool_)


def _is_counted(runs: Runs) -> bool:
    vectors, w = set(runs.platform.capacity.values()), runs.workload
    if len(vectors) > 1 or w.chunks or runs.states is not None or any(r.nodes == {} for r in w.running):
        return False
    whole = dict(zip(runs.platform.resources, next(iter(vectors)), strict=True))
    rows = [dict(zip(w.resources, row, strict=True)) for row in np.unique(w.request, axis=0).tolist()]
    rows += [dict(r.job.request) for r in w.running]
    return any(all(2 * row.get(r, 0) > whole[r] for row in rows) for r in whole)


def _power_faults(runs: Runs, profile: DesiredProfile, begun: Ints) -> Iterator[Violation]:
    times, watts = power_steps(runs)
    at = watts[np.searchsorted(times, begun, side="right") - 1]
    assert profile.power is not None
    for t, used in zip(begun.tolist(), at.tolist(), strict=True):
        if used > profile.power.at(t) + TOLERANCE * max(1.0, used):
            text = (
                f"jobs start at {t}, and {used:,.1f} W are in use then; the profile allows {profile.power.at(t):,.1f} W"
            )
            yield Violation("power", used - profile.power.at(t), text)


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
            text = f"jobs start at {t}, and {in_use} nodes are in use then; the profile allows {allowed}"
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
    both, time, sign, place = both[order], time[order], sign[order], place[order]
    last = np.append((np.diff(place) > 0) | (np.diff(time) > 0), True)[: len(place)]
    own = np.append(runs.own, False)[pieces.row]  # row -1: one that ran at the begin
    last &= (sign > 0) & own[both] & (pieces.end > pieces.start)[both]
    group = _group_of(runs.platform)
    for r, resource in enumerate(runs.platform.resources):
        used = np.cumsum(sign * pieces.amount[both, r])  # all that begins on a node ends there: each node adds up to 0
        for k in np.flatnonzero(last).tolist():
            t, name = int(time[k]), runs.platform.groups[group[place[k]]].name
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
