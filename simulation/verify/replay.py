"""Verification of a whole replay from its data; it shares no code with the simulator, dispatchers and allocators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ...instances.workload import Workload
from ...models.array_types import Bools
from ...models.counts import how_many
from ...models.dispatch.check import excesses
from ...models.dispatch.jobs import DAY
from ...models.language import Violation
from ...models.platform import Platform
from ...models.profiles.profile import DesiredProfile
from ..records import ReplayData
from .nodes import attempt_faults, limit_faults, power_faults, state_faults
from .places import NamedLimit, licence_faults, node_faults, running_limit_faults
from .preemption import may_write_until, preemption_faults
from .production import as_started, limits_of_killed, production_faults, rows_of
from .runs import NEVER, Runs, chunk_requests, chunk_rows, runs_of

MOST = 20  # violations of one kind that are listed one by one


def violations(
    replay: ReplayData,
    *,
    partial: bool = False,
    within: Sequence[DesiredProfile] = (),
    on_each_node: bool = False,
    stops: Iterable[tuple[str, int]] = (),
    limits_of: Callable[[Workload, Platform], Sequence[NamedLimit]] | None = None,
) -> list[Violation]:
    """Return all violations of a replay, each with the job, node and time concerned.

    The checks:

    1. Every job has started (not checked if ``partial``).
    2. No job starts before its submit time or its earliest start.
       A job with a preceding job starts after the end of that job and the think time.
    3. Each start is in a daily window of the queue and in a window of the job.
    4. Each job runs for its runtime; a killed job for min(runtime, walltime); less the work of its earlier attempts.
    5. All units of a job, of each of its chunks, are on nodes that exist.
    6. At each time, the use of each resource on each node is at most its capacity; the jobs that run at the begin of
       the replay (``workload.running``) count up to their ends, and have all their units on nodes.
    7. No job starts before the begin, or on a node that takes no starts, or runs on a node that has stopped.
    8. The attempts of a job follow each other; those that end early do so when one of their nodes stops. The first
       attempt of a job that ran at the begin is the run that was given.
    9. Reservations and events of the server (see ``verify.production``): no job uses reserved amounts; jobs of private
       queues run inside of their reservations, by their walltimes, and their users are eligible; no job of a stopped
       queue starts; jobs are changed and leave for a reason.
    10. After each start, the use of the node, or the number of nodes in use where they can be counted, and the power of
        all running jobs are at most those of the profiles ``within`` at that time.
    11. Evictions (see ``verify.preemption``): the work that attempts keep, the times and the bandwidth of checkpoints, the
        eviction problems and plans, the starts of on-demand jobs, reserved nodes.
    12. Nodes that are switched off and on (see ``verify.nodes``): their states follow each other and last as long as they
        must, and no job runs on a node that is not on.

    13. Each job is on nodes that it may use (``Queue.nodes``, ``Job.nodes``, ``features``), with at most ``per_node`` units on
        each, and alone on them with ``whole_nodes``. Running jobs hold at most the licences of the platform, and what the
        limits allow that ``limits_of`` returns.

    2, 3, 5, 6, 7, 9 and 13 hold for all attempts; 2 and 3 not for those that began before the replay.

    Several hundred thousand jobs take one or two seconds.

    Parameters
    ----------
    replay : ReplayData
        A ``Simulation``, or a replay that was read from a file.
    partial : bool
        Whether the replay stopped before its end, so that jobs may be left without a start.
    within : sequence of DesiredProfile
        The profiles that limit the starts.
    on_each_node : bool
        Whether a desired use is an amount of each node also where nodes can be counted, as CP dispatchers take it.
    stops : iterable of (str, int)
        Nodes whose jobs end early for a feature of a third party, each with the time.
    limits_of : callable, optional
        Returns the limits on what running jobs of a workload hold together; None: there are none beside licences.

    Returns
    -------
    list of Violation
        Empty if the replay is valid. Of each kind the first 20 are listed one by one, the rest as a number.
    """
    listed_stops = list(stops)
    shape = _shape(replay)
    if shape:
        return [Violation("placement", 1, shape)]
    started = replay.start != NEVER
    missing = ~started
    if replay.production is not None:
        missing[list(replay.production.left)] = False
    missing_jobs = [] if partial else _listed(missing, replay.workload.ids, lambda k: (1, "never started"))
    missing_jobs += _durations(replay, started)
    missing_jobs += _predecessors(replay, started)
    runs = runs_of(replay)
    if replay.production is not None:
        runs = as_started(runs, rows_of(replay))
    for check in (_releases, _daily, _windows):
        missing_jobs += check(runs, runs.own)
    missing_jobs += _units(runs, runs.started)
    missing_jobs += _fits(runs, runs.started)
    limits = () if limits_of is None else limits_of(runs.workload, replay.platform)
    of_places = (node_faults(runs), licence_faults(runs), running_limit_faults(runs, limits))
    for faults in (*of_places, *_of_features(replay, runs, within, on_each_node, listed_stops)):
        listed = list(faults)
        missing_jobs += listed[:MOST] + _more(len(listed), listed[:MOST])
    return [*missing_jobs, *_nodes(runs), *_running(replay), *_capacity(runs, runs.started)]


def _of_features(
    replay: ReplayData,
    runs: Runs,
    within: Sequence[DesiredProfile],
    on_each_node: bool,
    stops: Sequence[tuple[str, int]],
) -> Iterator[Iterator[Violation]]:
    """Yield the checks 7 to 12, of those features alone that the replay has."""
    if replay.history is not None:
        yield attempt_faults(replay, stops)
    if replay.states is not None:
        yield state_faults(runs)
    if replay.production is not None:
        yield production_faults(runs, rows_of(replay))
    if within:
        yield limit_faults(runs, within, on_each_node)
    if replay.preemption is not None:
        yield preemption_faults(replay, runs, bool(stops))
    if replay.power is not None:
        yield power_faults(replay, runs)


def _shape(replay: ReplayData) -> str:
    """Return what is wrong with the lengths of the arrays, or an empty string."""
    n = len(replay.workload)
    p = replay.placement
    for name in ("start", "end", "killed"):
        if len(getattr(replay, name)) != n:
            return f"array {name!r} has {how_many(len(getattr(replay, name)), 'entry')}; expected {n}, one per job"
    ranges = {len(p.low), len(p.high), len(p.units)}
    steps = len(p.first) == n + 1 and p.first[0] == 0 and {int(p.first[-1])} == ranges and (np.diff(p.first) >= 0).all()
    return (
        ""
        if steps
        else f"the arrays of the placement do not fit together: 'first' has {how_many(len(p.first), 'entry')}, the ranges have "
        f"{sorted(ranges)} entries, for {how_many(n, 'job')}; expected 'first' to increase from 0 to the number of ranges"
    )


def _listed(wrong: Bools, ids: Sequence[str], describe: Callable[[int], tuple[float, str]]) -> list[Violation]:
    """Return the jobs of a mask as violations, then the number of those that are not listed.

    ``describe`` returns (amount, text) of the job in row k.
    """
    rows = np.flatnonzero(wrong).tolist()
    listed = []
    for k in rows[:MOST]:
        amount, text = describe(k)
        listed.append(Violation(ids[k], amount, f"job {ids[k]!r} {text}"))
    return listed + _more(len(rows), listed)


def _more(count: int, listed: list[Violation]) -> list[Violation]:
    left = count - len(listed)
    return (
        [Violation("and more", left, f"and {how_many(left, 'more violation')} like: {listed[-1].message}")]
        if left > 0
        else []
    )


def _releases(replay: ReplayData, started: Bools) -> list[Violation]:
    w, start = replay.workload, replay.start

    def describe(k: int) -> tuple[float, str]:
        limit = int(earliest[k])
        what = "its submit time" if limit == w.submit[k] else "its earliest start"
        what = "the begin of the replay" if limit == w.begin and limit > w.submit[k] else what
        return limit - int(start[k]), f"starts at {start[k]}, before {what}, {limit}"

    earliest = np.maximum(w.submit, w.release)
    if w.begin is not None:
        earliest = np.maximum(earliest, w.begin)
    return _listed(started & (start < earliest), w.ids, describe)


def _predecessors(replay: ReplayData, started: Bools) -> list[Violation]:
    w = replay.workload
    wrong = np.zeros(len(replay.workload), np.bool_)
    first = replay.start.copy()
    ended = replay.end.copy()
    gone = replay.start == NEVER
    if replay.production is not None:  # a job that leaves without a start has ended then
        for row, time in replay.production.left_at.items():
            ended[row], gone[row] = time, False
    if replay.history is not None:  # the first attempt of each job
        first[replay.history.rows[::-1]] = replay.history.start[::-1]
        started = started | np.isin(np.arange(len(w)), replay.history.rows)
    for k, (before, think) in w.after.items():
        wrong[k] = gone[before] or first[k] < ended[before] + think

    def describe(k: int) -> tuple[float, str]:
        before, think = w.after[k]
        if gone[before]:
            return 1, f"starts at {first[k]}; its preceding job {w.ids[before]!r} never started"
        due = int(ended[before]) + think
        text = f"its preceding job {w.ids[before]!r} ends at {ended[before]}, the think time is {think} s"
        return due - int(first[k]), f"starts at {first[k]}, before {due}: {text}"

    return _listed(started & wrong, w.ids, describe)


def _daily(replay: ReplayData, started: Bools) -> list[Violation]:
    w, start = replay.workload, replay.start
    second = start % DAY
    wrong = np.zeros(len(w), np.bool_)
    for k, queue in enumerate(w.queues):
        if queue.daily:
            rest = w.walltime if queue.whole_run else 0
            here = [(lo <= s) & (s + rest <= hi) for lo, hi in queue.daily for s in (second, second + DAY)]
            wrong |= (w.queue == k) & ~np.logical_or.reduce(here)

    def describe(k: int) -> tuple[float, str]:
        queue = w.queues[int(w.queue[k])]
        return 1, f"starts at {start[k]}, {second[k]} s of the day; queue {queue.name!r} allows {list(queue.daily)}" + (
            f" for whole runs, its walltime is {w.walltime[k]} s" if queue.whole_run else ""
        )

    return _listed(started & wrong, w.ids, describe)


def _windows(replay: ReplayData, started: Bools) -> list[Violation]:
    w, start = replay.workload, replay.start
    wrong = np.zeros(len(w), np.bool_)
    for k, windows in w.windows.items():
        wrong[k] = not any(lo <= start[k] <= hi for lo, hi in windows)
    return _listed(
        started & wrong,
        w.ids,
        lambda k: (1, f"starts at {start[k]}, outside of its windows {list(w.windows[k])}"),
    )


def _durations(replay: ReplayData, started: Bools) -> list[Violation]:
    w = replay.workload
    took = replay.end - replay.start
    due = np.where(replay.killed, np.minimum(w.runtime, w.walltime), w.runtime)
    if replay.history is not None:
        due = due - replay.history.saved
        if replay.preemption is not None:
            again = np.isin(np.arange(len(due)), replay.history.rows) & ~np.isin(
                np.arange(len(due)), replay.preemption.rows
            )
            due = due + replay.preemption.settings.restart * again
    if replay.production is not None:
        due = limits_of_killed(replay, due)
    if replay.history is not None:
        rows = list(replay.history.dropped)
        for k in rows:  # they end before their work is done, or while they write a checkpoint
            start = int(replay.start[k])
            most = may_write_until(replay, w.ids[k], start, start + int(due[k])) - start
            due[k] = np.clip(took[k], 0, most)

    def describe(k: int) -> tuple[float, str]:
        why = f"killed at its walltime, {w.walltime[k]} s" if replay.killed[k] else "its runtime"
        why += "" if due[k] in (w.runtime[k], w.walltime[k]) else ", less the work of its earlier attempts"
        text = f"runs from {replay.start[k]} to {replay.end[k]}, {took[k]} s; expected {due[k]} s ({why})"
        return abs(int(took[k] - due[k])), text

    return _listed(started & (took != due), w.ids, describe)


def _units(replay: ReplayData, started: Bools) -> list[Violation]:
    p = replay.placement
    names, job, expected, first = chunk_rows(replay)
    each = np.concatenate([[0], np.cumsum(p.units * np.maximum(p.high - p.low + 1, 0))])
    counted = each[first[1:]] - each[first[:-1]]
    due = np.where(started[job], expected, 0)

    def describe(k: int) -> tuple[float, str]:
        at = f"starts at {replay.start[job[k]]}" if started[job[k]] else "never started"
        return abs(int(counted[k] - due[k])), f"{at} and has {how_many(counted[k], 'unit')} on nodes; expected {due[k]}"

    return _listed(counted != due, names, describe)


def _fits(replay: ReplayData, started: Bools) -> list[Violation]:
    """Return the jobs of 0 s with units on nodes that cannot hold them: the sweep over time does not see them."""
    p, platform = replay.placement, replay.platform
    rows = chunk_rows(replay)
    ids, job_of, _, first = rows
    instant = np.flatnonzero((started & (replay.end == replay.start))[job_of])
    if not len(instant):
        return []
    column = chunk_requests(replay, rows)
    nodes = list(platform.capacity.items())
    violations = []
    for k in instant.tolist():
        for j in range(first[k], first[k + 1]):
            for node, capacity in nodes[max(0, p.low[j]) : p.high[j] + 1]:
                for resource, has in zip(platform.resources, capacity, strict=True):
                    amount = int(p.units[j] * column[resource][k]) if resource in column else 0
                    if amount > has:
                        text = f"job {ids[k]!r} asks for {amount} {resource} of node {node!r}, which has {has}"
                        violations.append(Violation(ids[k], amount - has, text))
    return violations[:MOST] + _more(len(violations), violations[:MOST])


def _nodes(replay: ReplayData) -> list[Violation]:
    """Return the ranges that are not valid: nodes that do not exist, low above high, fewer than 1 unit."""
    p = replay.placement
    count = len(replay.platform.nodes)
    wrong = np.flatnonzero((p.low < 0) | (p.high >= count) | (p.high < p.low) | (p.units < 1))
    jobs = np.searchsorted(p.first, wrong, side="right") - 1
    faults = []
    for k, job in zip(wrong.tolist()[:MOST], jobs.tolist(), strict=False):
        name = replay.workload.ids[job]
        text = (
            f"job {name!r}, started at {replay.start[job]}, has {how_many(p.units[k], 'unit')} on each of the nodes {p.low[k]} to "
            f"{p.high[k]}; the platform has nodes 0 to {count - 1}"
        )
        faults.append(Violation(name, 1, text))
    return faults + _more(len(wrong), faults)


def _running(replay: ReplayData) -> list[Violation]:
    """Return the jobs that run at the begin without all their units on nodes of the platform."""
    known, faults = replay.platform.capacity, []
    for r in replay.workload.running:
        unknown = [node for node in r.nodes if node not in known]
        placed = sum(units for units in r.nodes.values() if units > 0)
        if unknown or placed != r.job.units or min(r.nodes.values()) < 1:
            on = (
                f"on {unknown[0]!r}, which is no node of the platform"
                if unknown
                else f"with {how_many(placed, 'unit')} on nodes"
            )
            text = f"job {r.job.id!r} runs at the begin {on}; expected {how_many(r.job.units, 'unit')} on nodes of the platform"
            faults.append(Violation(r.job.id, 1, text))
    return faults


def _capacity(replay: ReplayData, started: Bools) -> Iterator[Violation]:
    w = replay.workload
    p = replay.placement
    platform = replay.platform
    rows = chunk_rows(replay)
    ids, job_of, _, first = rows
    column = chunk_requests(replay, rows)
    missing = np.zeros(len(job_of), np.int64)
    request = np.column_stack([column.get(r, missing) for r in platform.resources])
    foreign = [r for r in w.resources if r not in platform.resources]
    requested = np.logical_or.reduce([column[r] > 0 for r in foreign]) if foreign else missing > 0
    yield from _listed(
        started[job_of] & requested,
        ids,
        lambda k: (1, f"requests {', '.join(foreign)}, which the platform does not have"),
    )
    capacity = np.array(list(platform.capacity.values()), np.int64)
    start = replay.start[job_of]
    end = np.where(started, replay.end, replay.start)[job_of]
    low = p.low
    high = p.high
    units = p.units
    if w.running:
        number = {name: n for n, name in enumerate(platform.nodes)}
        held = [[(number[n], u) for n, u in r.nodes.items() if n in number] for r in w.running]
        flat = np.array([pair for pairs in held for pair in pairs], np.int64).reshape(-1, 2)
        first = np.append(first, first[-1] + np.cumsum([len(pairs) for pairs in held]))
        low, high, units = (np.append(a, b) for a, b in ((low, flat[:, 0]), (high, flat[:, 0]), (units, flat[:, 1])))
        start = np.append(start, [r.start for r in w.running])
        end = np.append(end, [r.true_end for r in w.running])
        request = np.vstack([request, [[r.job.request.get(n, 0) for n in platform.resources] for r in w.running]])
        ids = [*ids, *(r.job.id for r in w.running)]
    excess = excesses(start, end, first, low, high, units, request, capacity)
    listed = []
    for node, r, time, used, job in list(zip(*(column.tolist() for column in excess), strict=True))[:MOST]:
        name = platform.nodes[node]
        limit = int(capacity[node, r])
        text = (
            f"node {name!r} at {time}: {used} {platform.resources[r]} in use, it has {limit} (job {ids[job]!r} starts)"
        )
        listed.append(Violation(name, used - limit, text))
    yield from listed
    yield from _more(len(excess.node), listed)
