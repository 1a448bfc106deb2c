"""Verification of whole replays on the data alone: it shares nothing with what simulates, decides or allocates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Ints, Workload
from ...models.dispatch.capacity_sweep import excesses
from ...models.dispatch.jobs import DAY
from ...models.language import Violation
from ...models.platform import Platform

Mask = NDArray[np.bool_]
MOST = 20  # violations of one kind that are told one by one
NEVER = -1


class Ranges(Protocol):
    """Where jobs ran: job k on the ranges ``first[k]:first[k + 1]``; range: ``units`` on each of the nodes low..high."""

    @property
    def first(self) -> Ints: ...
    @property
    def low(self) -> Ints: ...
    @property
    def high(self) -> Ints: ...
    @property
    def units(self) -> Ints: ...


class ReplayedRun(Protocol):
    """What of a simulation is verified: one entry per job of ``workload``; a start of -1: never started."""

    @property
    def workload(self) -> Workload: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def start(self) -> Ints: ...
    @property
    def end(self) -> Ints: ...
    @property
    def killed(self) -> Mask: ...
    @property
    def placement(self) -> Ranges: ...


def violations(replay: ReplayedRun, *, partial: bool = False) -> list[Violation]:
    """Everything that a replay breaks, each with the job, node and time concerned; empty if it is right.

    Checked: every job started (unless ``partial``: the records of a replay that broke off), not before its submission and
    its release, within the windows of its queue's day and its own; it took its runtime (if it was killed: at most its
    walltime); all its units are on nodes that exist; no node's capacity is exceeded at any moment. Of each kind the first
    20 are told one by one, the rest as a number. Hundreds of thousands of jobs take a second or two.
    """
    shape = _shape(replay)
    if shape:
        return [Violation("placement", 1, shape)]
    started = replay.start != NEVER
    found = [] if partial else _told(~started, replay, lambda k: (1, "never started"))
    for check in (_releases, _daily, _windows, _durations, _units):
        found += check(replay, started)
    return [*found, *_nodes(replay), *_capacity(replay, started)]


def _shape(replay: ReplayedRun) -> str:
    """What is wrong with the lengths of the arrays; empty if nothing."""
    n, p = len(replay.workload), replay.placement
    for name in ("start", "end", "killed"):
        if len(getattr(replay, name)) != n:
            return f"{name!r} has {len(getattr(replay, name))} entries for {n} jobs"
    ranges = {len(p.low), len(p.high), len(p.units)}
    steps = len(p.first) == n + 1 and p.first[0] == 0 and {int(p.first[-1])} == ranges and (np.diff(p.first) >= 0).all()
    return (
        ""
        if steps
        else f"the placement's ranges do not fit together: {len(p.first)} firsts, {sorted(ranges)} ranges, {n} jobs"
    )


def _told(wrong: Mask, replay: ReplayedRun, say: Callable[[int], tuple[float, str]]) -> list[Violation]:
    """The jobs of a mask as violations: the first ones with what ``say`` tells of a row (amount, text), then how many more."""
    rows, ids = np.flatnonzero(wrong).tolist(), replay.workload.ids
    found = []
    for k in rows[:MOST]:
        amount, text = say(k)
        found.append(Violation(ids[k], amount, f"job {ids[k]!r} {text}"))
    return found + _more(len(rows), found)


def _more(count: int, told: list[Violation]) -> list[Violation]:
    left = count - len(told)
    return [Violation("and more", left, f"and {left} more such as: {told[-1].message}")] if left > 0 else []


def _releases(replay: ReplayedRun, started: Mask) -> list[Violation]:
    w, start = replay.workload, replay.start

    def say(k: int) -> tuple[float, str]:
        limit = int(max(w.submit[k], w.release[k]))
        what = "its submit time" if limit == w.submit[k] else "its earliest start"
        return limit - int(start[k]), f"starts at {start[k]}, before {what}, {limit}"

    return _told(started & (start < np.maximum(w.submit, w.release)), replay, say)


def _daily(replay: ReplayedRun, started: Mask) -> list[Violation]:
    w, start = replay.workload, replay.start
    second = start % DAY
    wrong = np.zeros(len(w), np.bool_)
    for k, queue in enumerate(w.queues):
        if queue.daily:
            here = [(lo <= s) & (s <= hi) for lo, hi in queue.daily for s in (second, second + DAY)]
            wrong |= (w.queue == k) & ~np.logical_or.reduce(here)

    def say(k: int) -> tuple[float, str]:
        queue = w.queues[int(w.queue[k])]
        return 1, f"starts at {start[k]}, {second[k]} s of the day; queue {queue.name!r} allows {list(queue.daily)}"

    return _told(started & wrong, replay, say)


def _windows(replay: ReplayedRun, started: Mask) -> list[Violation]:
    w, start = replay.workload, replay.start
    wrong = np.zeros(len(w), np.bool_)
    for k, windows in w.windows.items():
        wrong[k] = not any(lo <= start[k] <= hi for lo, hi in windows)
    return _told(
        started & wrong,
        replay,
        lambda k: (1, f"starts at {start[k]}, outside of its windows {list(w.windows[k])}"),
    )


def _durations(replay: ReplayedRun, started: Mask) -> list[Violation]:
    w, took = replay.workload, replay.end - replay.start
    due = np.where(replay.killed, np.minimum(w.runtime, w.walltime), w.runtime)

    def say(k: int) -> tuple[float, str]:
        why = f"killed at its walltime, {w.walltime[k]} s" if replay.killed[k] else "its runtime"
        text = f"runs from {replay.start[k]} to {replay.end[k]}, {took[k]} s; {due[k]} s are due ({why})"
        return abs(int(took[k] - due[k])), text

    return _told(started & (took != due), replay, say)


def _units(replay: ReplayedRun, started: Mask) -> list[Violation]:
    w, p = replay.workload, replay.placement
    each = np.concatenate([[0], np.cumsum(p.units * np.maximum(p.high - p.low + 1, 0))])
    placed = each[p.first[1:]] - each[p.first[:-1]]
    due = np.where(started, w.units, 0)

    def say(k: int) -> tuple[float, str]:
        at = f"starts at {replay.start[k]}" if started[k] else "never started"
        return abs(int(placed[k] - due[k])), f"{at} and has {placed[k]} units on nodes, not {due[k]}"

    return _told(placed != due, replay, say)


def _nodes(replay: ReplayedRun) -> list[Violation]:
    """Ranges that are none: nodes that do not exist, ends before begins, no units."""
    p, count = replay.placement, len(replay.platform.nodes)
    wrong = np.flatnonzero((p.low < 0) | (p.high >= count) | (p.high < p.low) | (p.units < 1))
    jobs = np.searchsorted(p.first, wrong, side="right") - 1
    found = []
    for k, job in zip(wrong.tolist()[:MOST], jobs.tolist(), strict=False):
        name = replay.workload.ids[job]
        text = (
            f"job {name!r}, started at {replay.start[job]}, has {p.units[k]} units on each of the nodes {p.low[k]} to "
            f"{p.high[k]}; the platform has nodes 0 to {count - 1}"
        )
        found.append(Violation(name, 1, text))
    return found + _more(len(wrong), found)


def _capacity(replay: ReplayedRun, started: Mask) -> Iterator[Violation]:
    w, p, platform = replay.workload, replay.placement, replay.platform
    column = {r: w.request[:, k] for k, r in enumerate(w.resources)}
    missing = np.zeros(len(w), np.int64)
    request = np.column_stack([column.get(r, missing) for r in platform.resources])
    foreign = [r for r in w.resources if r not in platform.resources]
    asked = np.logical_or.reduce([column[r] > 0 for r in foreign]) if foreign else missing > 0
    yield from _told(
        started & asked, replay, lambda k: (1, f"asks for {', '.join(foreign)}, which the platform has not")
    )
    capacity = np.array(list(platform.capacity.values()), np.int64)
    end = np.where(started, replay.end, replay.start)
    found = excesses(replay.start, end, p.first, p.low, p.high, p.units, request, capacity)
    told = []
    for node, r, time, used, job in list(zip(*(column.tolist() for column in found), strict=True))[:MOST]:
        name, limit = platform.nodes[node], int(capacity[node, r])
        text = f"node {name!r} at {time}: {used} {platform.resources[r]} in use, it has {limit} (job {w.ids[job]!r} starts)"
        told.append(Violation(name, used - limit, text))
    yield from told
    yield from _more(len(found.node), told)
