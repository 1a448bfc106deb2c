"""Verification of a whole replay from its data; it shares no code with the simulator, dispatchers and allocators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from ..instances.workload import Workload
from ..models.array_types import Bools, Floats, Ints
from ..models.desired_profile import DesiredProfile
from ..models.dispatch.arrays import read_features
from ..models.dispatch.check import excesses
from ..models.dispatch.jobs import DAY
from ..models.language import Violation
from ..models.platform import Platform
from ..models.words import how_many
from .records import NEVER, ReplayData, Runs, chunk_requests, chunk_rows, runs_of
from .verify_features import (
    PreemptionRules,
    as_started,
    attempt_faults,
    limit_faults,
    limits_of_killed,
    may_write_until,
    power_faults,
    preemption_faults,
    production_faults,
    rest_of,
    rows_of,
    state_faults,
)

MOST = 20  # violations of one kind that are listed one by one


def violations(
    replay: ReplayData,
    *,
    partial: bool = False,
    within: Sequence[DesiredProfile] = (),
    on_each_node: bool = False,
    stops: Iterable[tuple[str, int]] = (),
    limits_of: Callable[[Workload, Platform], Sequence[NamedLimit]] | None = None,
    of_whole_nodes: Callable[[str], bool] | None = None,
    reserved_of: Callable[[Workload, Platform], SiteReserved] | None = None,
    preempted: PreemptionRules | None = None,
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
    8. The attempts of a job follow each other; those that end early do so when one of their nodes stops, or for a waiting job
       that may preempt them (``PreemptionRules``). The first attempt of a job that ran at the begin is the run that was given.
    9. Reservations and events of the server (see ``verify_features``): no job uses reserved amounts; jobs of private
       queues run inside of their reservations, by their walltimes, and their users are eligible; no job of a stopped
       queue starts; jobs are changed and leave for a reason.
    10. After each start, the use of the node, or the number of nodes in use where they can be counted, and the power of
        all running jobs are at most those of the profiles ``within`` at that time.
    11. Evictions (see ``verify_features``): the work that attempts keep, the times and the bandwidth of checkpoints, the
        eviction problems and plans, the starts of on-demand jobs, reserved nodes.
    12. Nodes that are switched off and on (see ``verify_features``): their states follow each other and last as long as they
        must, and no job runs on a node that is not on.

    13. Each job is on nodes that it may use (``Queue.nodes``, ``Job.nodes``, ``features``), with at most ``per_node`` units on
        each, and alone on them with ``whole_nodes``. Running jobs hold at most the licences of the platform, and what the
        limits allow that ``limits_of`` returns.
    14. No job could run, by its walltime, into a reservation of the site (``reserved_of``) on one of its nodes; jobs that ask
        for one start in it, on its nodes, or after its end.

    2, 3, 5, 6, 7, 9, 13 and 14 hold for all attempts; 2, 3 and 14 not for those that began before the replay.

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
    of_whole_nodes : callable, optional
        Whether a limit, by its name, counts all cores of the nodes on which jobs with whole nodes run. None: none does; their
        amounts are those that the limit says.
    reserved_of : callable, optional
        Returns the reservations of the site; None: there are none.
    preempted : PreemptionRules, optional
        The rules by which jobs preempt others; None: none does.

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
    missing_jobs = []
    if not partial:
        missing_jobs = _listed(missing, replay.workload.ids, lambda k: (1, "never started"))
    missing_jobs += _durations(replay, started)
    missing_jobs += _predecessors(replay, started)
    runs = runs_of(replay)
    if replay.production is not None:
        runs = as_started(runs, rows_of(replay))
    for check in (_releases, _daily, _windows):
        missing_jobs += check(runs, runs.own)
    missing_jobs += _units(runs, runs.started)
    missing_jobs += _fits(runs, runs.started)
    if limits_of is not None:
        limits = limits_of(runs.workload, replay.platform)
    else:
        limits = ()
    of_places = [node_faults(runs), licence_faults(runs), running_limit_faults(runs, limits, of_whole_nodes)]
    if reserved_of is not None:
        of_places.append(reservation_faults(runs, rows_of(replay), reserved_of(runs.workload, replay.platform)))
    for faults in (*of_places, *_of_features(replay, runs, within, on_each_node, listed_stops, preempted)):
        listed = list(faults)
        missing_jobs += listed[:MOST] + _more(len(listed), listed[:MOST])
    return [*missing_jobs, *_nodes(runs), *_running(replay), *_capacity(runs, runs.started)]


def _of_features(
    replay: ReplayData,
    runs: Runs,
    within: Sequence[DesiredProfile],
    on_each_node: bool,
    stops: Sequence[tuple[str, int]],
    preempted: PreemptionRules | None,
) -> Iterator[Iterator[Violation]]:
    """Yield the checks 7 to 12, of those features alone that the replay has."""
    if replay.history is not None:
        yield attempt_faults(replay, stops, preempted)
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
    if steps:
        return ""
    return (
        f"the arrays of the placement do not fit together: 'first' has {how_many(len(p.first), 'entry')}, the ranges have "
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
    if left > 0:
        return [Violation("and more", left, f"and {how_many(left, 'more violation')} like: {listed[-1].message}")]
    return []


def _releases(replay: ReplayData, started: Bools) -> list[Violation]:
    w, start = replay.workload, replay.start

    def describe(k: int) -> tuple[float, str]:
        limit = int(earliest[k])
        what = "its earliest start"
        if limit == w.submit[k]:
            what = "its submit time"
        if limit == w.begin and limit > w.submit[k]:
            what = "the begin of the replay"
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
        why = "its runtime"
        if replay.killed[k]:
            why = f"killed at its walltime, {w.walltime[k]} s"
        if due[k] not in (w.runtime[k], w.walltime[k]):
            why += ", less the work of its earlier attempts"
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
        at = "never started"
        if started[job[k]]:
            at = f"starts at {replay.start[job[k]]}"
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
                    amount = 0
                    if resource in column:
                        amount = int(p.units[j] * column[resource][k])
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
            if unknown:
                on = f"on {unknown[0]!r}, which is no node of the platform"
            else:
                on = f"with {how_many(placed, 'unit')} on nodes"
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
    if foreign:
        requested = np.logical_or.reduce([column[r] > 0 for r in foreign])
    else:
        requested = missing > 0
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
    each = w.on_each_node(platform.resources)
    rows_of_jobs = np.flatnonzero(each.any(axis=1))
    if rows_of_jobs.size:
        ranges = [np.arange(p.first[k], p.first[k + 1]) for k in rows_of_jobs.tolist()]
        again = np.concatenate(ranges)
        first = np.append(first, first[-1] + np.cumsum([len(listed) for listed in ranges]))
        low, high, units = (
            np.append(low, p.low[again]),
            np.append(high, p.high[again]),
            np.append(units, np.ones_like(again)),
        )
        start = np.append(start, replay.start[rows_of_jobs])
        end = np.append(end, np.where(started, replay.end, replay.start)[rows_of_jobs])
        request = np.vstack([request, each[rows_of_jobs]])
        ids = [*ids, *(w.ids[k] for k in rows_of_jobs.tolist())]
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


# --- Verification of where jobs ran, and of what they held together: nodes that they may use, whole nodes, licences, limits.
#
# It reads the runs alone, and shares no code with the simulator.


MOST_PARTS = 2**40  # of a node: a job with whole nodes takes all of them, any other job one


class LimitInMinutes(Protocol):
    """How a limit in minutes changes with time."""

    @property
    def rates(self) -> Floats:
        """What each job takes per second of its time limit, shape (entries,)."""
        ...

    @property
    def used(self) -> Floats:
        """What each job adds to the usage per second that it runs, shape (entries,)."""
        ...

    @property
    def plans(self) -> bool:
        """Whether a start needs room for the whole time limit."""
        ...

    @property
    def half_life(self) -> int:
        """Half-life of usage in s; 0: it does not decay."""
        ...


class NamedLimit(Protocol):
    """A limit on what some jobs hold together while they run."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def most(self) -> int:
        """The greatest sum of the amounts."""
        ...

    @property
    def rows(self) -> Ints:
        """The rows of the jobs that it is for, shape (entries,)."""
        ...

    @property
    def amounts(self) -> Ints:
        """What each of them holds, shape (entries,)."""
        ...

    @property
    def checks(self) -> Bools:
        """Whether each of them must have room to start; the others only count, shape (entries,)."""
        ...

    @property
    def minutes(self) -> LimitInMinutes | None:
        """Of a limit in minutes, how it changes with time."""
        ...


class ReservedTimes(Protocol):
    """A reservation of a site on the nodes of the machine."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def nodes(self) -> Bools:
        """Its nodes, shape (nodes,)."""
        ...

    @property
    def maint(self) -> bool:
        """Whether its jobs heed no other reservation."""
        ...

    @property
    def flex(self) -> bool:
        """Whether its jobs may start before it, and on other nodes."""
        ...

    def times(self, begin: int, end: int) -> Sequence[tuple[int, int]]:
        """Return its starts and ends of all times at which it holds its nodes in [begin, end), in s."""
        ...


class OwnReservation(Protocol):
    """When a job that asks for a reservation may start in it."""

    @property
    def number(self) -> int:
        """Which of the reservations of the site it asks for."""
        ...

    @property
    def times(self) -> tuple[int, int]:
        """From when to before when it may start in it, in s."""
        ...


class SiteReserved(Protocol):
    """The reservations of a site, and for each row that asks for one when its job may start in it."""

    @property
    def reserved(self) -> Sequence[ReservedTimes]:
        """The reservations."""
        ...

    @property
    def own(self) -> Mapping[int, OwnReservation]:
        """Row -> when its job may start in its reservation."""
        ...


def reservation_faults(runs: Runs, rows: Ints, site: SiteReserved) -> Iterator[Violation]:
    """Yield the runs that could go, by their walltimes, into a reservation of the site, and those outside of their own.

    Runs inside of reservations with private queues are left out: they have their own check.

    Parameters
    ----------
    runs : Runs
        All runs.
    rows : ndarray of int64
        The row of the job of each run.
    site : SiteReserved
        The reservations.
    """
    if runs.production is None:
        private = set()
    else:
        private = {(p.row, p.start) for p in runs.production.private}
    ours = [k for k in np.flatnonzero(runs.own).tolist() if (int(rows[k]), int(runs.start[k])) not in private]
    if not ours or not site.reserved:
        return
    start = runs.start[ours]
    restart = 0
    if runs.preemption is not None:
        restart = runs.preemption.settings.restart
    most = start + np.maximum(1, runs.workload.walltime[ours] + restart)
    mine = np.full(len(ours), -1)
    for at, k in enumerate(ours):
        own = site.own.get(k)
        if own is not None and start[at] < own.times[1]:
            mine[at] = own.number
            yield from _outside(runs, k, site.reserved[own.number], own.times)
    heeds = np.array([number < 0 or not site.reserved[number].maint for number in mine.tolist()], np.bool_)
    for number, reserved in enumerate(site.reserved):
        for begin, end in reserved.times(int(start.min()), int(most.max())):
            near = np.flatnonzero((start < end) & (most > begin) & heeds & (mine != number))
            for k in (ours[at] for at in near.tolist()):
                until = int(runs.start[k]) + rest_of(runs, rows, k)
                node = None
                if until > begin:
                    node = _first_node(runs, k, reserved.nodes)
                if node is not None:
                    text = f"could run until {until} (its walltime) into reservation {reserved.name!r} of node {node!r}"
                    yield _fault(runs, k, 1, f"{text} from {begin} to {end}")


def _outside(runs: Runs, k: int, reserved: ReservedTimes, times: tuple[int, int]) -> Iterator[Violation]:
    """Yield that a run is not in the reservation that its job asks for."""
    if reserved.flex:
        return
    if runs.start[k] < times[0]:
        yield _fault(runs, k, 1, f"is before its reservation {reserved.name!r}, which begins at {times[0]}")
    node = _first_node(runs, k, ~reserved.nodes)
    if node is not None:
        yield _fault(runs, k, 1, f"is on node {node!r}, which its reservation {reserved.name!r} does not have")


def _first_node(runs: Runs, k: int, mask: Bools) -> str | None:
    """Return the first node of a run that is in a set of nodes; None if there is none."""
    p = runs.placement
    for i in range(int(p.first[k]), int(p.first[k + 1])):
        low = max(0, int(p.low[i]))
        inside = np.flatnonzero(mask[low : int(p.high[i]) + 1])
        if inside.size:
            return runs.platform.nodes[low + int(inside[0])]
    return None


def node_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the runs on nodes that the job may not use, with too many units on one, or beside a job with whole nodes."""
    w = runs.workload
    if len(w.node_terms) == 1 and not any(q.nodes for q in w.queues):
        return
    p = runs.placement
    run = np.repeat(np.arange(len(w)), np.diff(p.first))
    yield from _wrong_nodes(runs, run)
    most = np.array([t.per_node or np.iinfo(np.int64).max for t in w.node_terms], np.int64)[w.node_term[run]]
    for k in np.flatnonzero(runs.started[run] & (p.units > most)).tolist():
        text = f"has {p.units[k]} units on node {runs.platform.nodes[p.low[k]]!r}; at most {most[k]} may be on one"
        yield _fault(runs, int(run[k]), int(p.units[k] - most[k]), text)
    yield from _beside_whole_nodes(runs)


def _wrong_nodes(runs: Runs, run: Ints) -> Iterator[Violation]:
    """Yield the ranges with a node that the job may not use; ``run``: the run of each range."""
    w = runs.workload
    p = runs.placement
    nodes = runs.platform.nodes
    pairs, which = np.unique(np.column_stack([w.queue, w.node_term]), axis=0, return_inverse=True)
    for pair, (queue, term) in enumerate(pairs.tolist()):
        barred = ~_may_use(runs, queue, term)
        if not barred.any():
            continue
        before = np.concatenate([[0], np.cumsum(barred)])
        low, high = np.clip(p.low, 0, len(nodes) - 1), np.clip(p.high, 0, len(nodes) - 1)
        wrong = (which.ravel()[run] == pair) & runs.started[run] & (before[high + 1] > before[low])
        for k in np.flatnonzero(wrong).tolist():
            node = next(n for n in range(low[k], high[k] + 1) if barred[n])
            terms = w.node_terms[term]
            asked = [f"queue {w.queues[queue].name!r}", *(f"{n}={v!r}" for n, v in terms._asdict().items() if v)]
            yield _fault(runs, int(run[k]), 1, f"is on node {nodes[node]!r}, which it may not use ({', '.join(asked)})")


def _may_use(runs: Runs, queue: int, term: int) -> Bools:
    """Return whether jobs of a queue with these terms may use each node, shape (nodes,)."""
    w, platform = runs.workload, runs.platform
    terms = w.node_terms[term]
    expression = None
    if terms.features:
        expression = read_features(terms.features)
    features = {name: group.features for group in platform.groups for name in group.nodes}
    own = [set(names) for names in (w.queues[queue].nodes, terms.nodes) if names]
    return np.array(
        [
            all(name in names for names in own) and (expression is None or expression.holds(features[name]))
            for name in platform.nodes
        ],
        np.bool_,
    )


def _beside_whole_nodes(runs: Runs) -> Iterator[Violation]:
    """Yield the nodes on which a job with whole nodes is not alone."""
    w, p = runs.workload, runs.placement
    whole = np.array([t.whole_nodes for t in w.node_terms], np.bool_)[w.node_term]
    beside = [r.job.whole_nodes for r in w.running]
    if not whole.any() and not any(beside):
        return
    names = runs.platform.nodes
    number = {name: n for n, name in enumerate(names)}
    held = [[number[name] for name in r.nodes if name in number] for r in w.running]
    flat = np.array([n for listed in held for n in listed], np.int64)
    first = np.append(p.first, p.first[-1] + np.cumsum([len(listed) for listed in held], dtype=np.int64))
    excess = excesses(
        np.append(runs.start, np.array([r.start for r in w.running], np.int64)),
        np.append(np.where(runs.started, runs.end, runs.start), np.array([r.true_end for r in w.running], np.int64)),
        first,
        np.append(p.low, flat),
        np.append(p.high, flat),
        np.ones(p.low.size + flat.size, np.int64),
        np.where(np.append(whole, np.array(beside, np.bool_)), MOST_PARTS, 1)[:, None],
        np.full((len(names), 1), MOST_PARTS),
    )
    ids = [*w.ids, *(r.job.id for r in w.running)]
    for node, time, job in zip(excess.node.tolist(), excess.time.tolist(), excess.job.tolist(), strict=True):
        text = f"node {names[node]!r} at {time}: a job that has whole nodes is not alone (job {ids[job]!r} starts)"
        yield Violation(names[node], 1, text)


def licence_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the starts at which more licences are in use than the platform has."""
    w = runs.workload
    for name, most in runs.platform.licences.items():
        amounts = np.array([dict(t.licences).get(name, 0) for t in w.node_terms], np.int64)[w.node_term]
        rows = np.flatnonzero(amounts)
        begun = [r for r in w.running if r.job.licences.get(name, 0)]
        yield from _beyond(
            runs,
            f"licences of {name!r}",
            most,
            [*(w.ids[k] for k in rows.tolist()), *(r.job.id for r in begun)],
            np.append(np.where(runs.started, runs.start, 0)[rows], np.array([r.start for r in begun], np.int64)),
            np.append(np.where(runs.started, runs.end, 0)[rows], np.array([r.true_end for r in begun], np.int64)),
            np.append(amounts[rows], np.array([r.job.licences[name] for r in begun], np.int64)),
        )


def _cores_of_nodes(runs: Runs) -> Ints:
    """Return how many cores the nodes of each job have, shape (jobs,)."""
    p = runs.placement
    cores = runs.platform.resources.index("cores")
    of_node = np.array([runs.platform.capacity[name][cores] for name in runs.platform.nodes], np.int64)
    before = np.concatenate([[0], np.cumsum(of_node)])
    of_range = before[p.high + 1] - before[p.low]
    until = np.concatenate([[0], np.cumsum(of_range)])
    counted: Ints = until[p.first[1:]] - until[p.first[:-1]]
    return counted


def running_limit_faults(
    runs: Runs, limits: Sequence[NamedLimit], of_whole_nodes: Callable[[str], bool] | None = None
) -> Iterator[Violation]:
    """Yield the starts at which the running jobs of a limit hold more than it allows; its rows are those of the runs."""
    w = runs.workload
    whole = np.array([t.whole_nodes for t in w.node_terms], np.bool_)[w.node_term]
    of_nodes = None
    if of_whole_nodes is not None and limits and whole.any():
        of_nodes = _cores_of_nodes(runs)
    ids = runs.workload.ids
    start = np.where(runs.started, runs.start, 0)
    end = np.where(runs.started, runs.end, 0)
    for limit in limits:
        names = [ids[k] for k in limit.rows.tolist()]
        if limit.minutes is not None:
            yield from _beyond_minutes(runs, limit, limit.minutes)
            continue
        times = (start[limit.rows], end[limit.rows])
        amounts = limit.amounts
        if of_nodes is not None and of_whole_nodes is not None and of_whole_nodes(limit.name):
            amounts = np.where(whole[limit.rows], of_nodes[limit.rows], amounts)
        yield from _beyond(runs, limit.name, limit.most, names, *times, amounts, limit.checks)


def _beyond_minutes(runs: Runs, limit: NamedLimit, minutes: LimitInMinutes) -> Iterator[Violation]:
    """Yield the starts that a limit in minutes forbids; of equal times, ends come first."""
    if runs.workload.begin is None:
        begin = -np.inf
    else:
        begin = runs.workload.begin
    ran = np.flatnonzero(runs.started[limit.rows])
    rows = limit.rows[ran]
    # times are small numbers: rates * times lose no digits
    base = 0
    if rows.size:
        base = int(runs.start[rows].min())
    start, end = (runs.start[rows] - base).tolist(), (runs.end[rows] - base).tolist()
    walltime = runs.workload.walltime[rows].tolist()
    rates, used = minutes.rates[ran].tolist(), minutes.used[ran].tolist()
    turns = np.where(limit.checks[ran], 1, 2).tolist()  # 0: ends; jobs that only count start last
    events = sorted([(end[k], 0, k) for k in range(len(rows))] + [(start[k], turns[k], k) for k in range(len(rows))])
    usage = rate = 0.0
    last = 0
    planned_rate = planned_ends = 0.0  # of running jobs within their time limits: sums of rates, and of rates * ends
    ending = [(start[k] + walltime[k], k) for k in range(len(rows)) if start[k] + walltime[k] < end[k]]
    late = sorted(ending, reverse=True)
    overrun = set[int]()
    begin -= base
    for time, turn, k in events:
        usage = _usage(usage, rate, time - last, minutes.half_life)
        last = time
        while late and late[-1][0] <= time:  # nothing is left of their limits, although they run
            due, j = late.pop()
            planned_rate, planned_ends = planned_rate - rates[j], planned_ends - rates[j] * due
            overrun.add(j)
        sign = -1
        if turn:
            sign = 1
        if start[k] == end[k]:
            sign = 0
        rate += sign * used[k]
        if k not in overrun:
            planned_rate += sign * rates[k]
            planned_ends += sign * rates[k] * (start[k] + walltime[k])
        if turn != 1 or time < begin:
            continue
        alone = 0.0
        if sign == 0:
            alone = rates[k] * walltime[k]
        planned = planned_ends - planned_rate * time + alone
        slack = 1e-6 * max(1.0, limit.most)
        if minutes.plans and usage + planned > limit.most + slack:
            told = f"{usage:,.1f} are used and {planned:,.1f} planned"
            yield _of_minutes(runs, limit, int(rows[k]), time + base, told)
        elif not minutes.plans and usage >= limit.most + slack:
            yield _of_minutes(runs, limit, int(rows[k]), time + base, f"{usage:,.1f} are used")


def _usage(usage: float, rate: float, seconds: int, half_life: int) -> float:
    """Return the usage after some seconds: what was there decays, and what comes in decays from then on."""
    if not half_life:
        return usage + rate * seconds
    left = np.exp2(-seconds / half_life)
    return float(usage * left + rate * (1 - left) * half_life / np.log(2))


def _of_minutes(runs: Runs, limit: NamedLimit, row: int, time: int, what: str) -> Violation:
    job = runs.workload.ids[row]
    text = f"{limit.name} at {time}: {what}, {limit.most:,} is the limit (job {job!r} starts)"
    return Violation(job, 1, text)


def _beyond(
    runs: Runs,
    name: str,
    most: int,
    ids: Sequence[str],
    start: Ints,
    end: Ints,
    amounts: Ints,
    checks: Bools | None = None,
) -> Iterator[Violation]:
    """Yield the starts after which jobs hold more than a limit; of equal times, ends come first, and 0 s hold nothing.

    ``checks``: whether each job must have room; of equal times, those that only count start last. None: all must.
    """
    if checks is None:
        must = np.ones(start.size, np.bool_)
    else:
        must = checks
    lasts = np.flatnonzero(end > start)
    lasts = lasts[np.argsort(~must[lasts], kind="stable")]
    time = np.concatenate([end[lasts], start[lasts]])
    change = np.concatenate([-amounts[lasts], amounts[lasts]])
    order = np.argsort(time, kind="stable")  # the ends stand first
    held = np.cumsum(change[order])
    if runs.workload.begin is None:
        begin = -np.inf
    else:
        begin = runs.workload.begin
    starting = np.concatenate([np.zeros(lasts.size, np.bool_), must[lasts]])[order]
    wrong = (held > most) & starting & (change[order] > 0) & (time[order] >= begin)
    for k in np.flatnonzero(wrong).tolist():
        job = ids[int(lasts[order[k] - lasts.size])]
        text = f"{name} at {time[order[k]]}: {held[k]:,} are held, {most:,} is the limit (job {job!r} starts)"
        yield Violation(job, int(held[k] - most), text)


def _fault(runs: Runs, run: int, amount: int, text: str) -> Violation:
    name = runs.workload.ids[run]
    return Violation(name, amount, f"job {name!r}, started at {runs.start[run]}, {text}")
