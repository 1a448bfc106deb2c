"""Starts and nodes of the jobs that a model or a search of the profit problem leaves out.

They start once profit no longer counts: from ``horizon_end`` on, but after the end of all jobs that must start after
``horizon_end`` (a job with a deadline, windows or a calendar cannot be left out). Running jobs keep their nodes until
their ends. From then on, at each end and each release of a job:

1. Go through the released jobs by earliest start, then submit time, then in the problem's order.
2. Start each job whose units all fit now, and skip the others.
3. Best fit: units go to the nodes with the least sum over resources of free amount / capacity, ties by the order of the
   nodes; as many units on a node as fit.

This is the rule ``est`` of the heuristics (``rule:est``) [Bridi2018, 6.3], without calendars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..dispatch.job_arrays import Ints, JobArrays, NodeArrays, column, offsets
from ..dispatch.jobs import Job
from ..problem import Schedule

if TYPE_CHECKING:
    from .problem import Profit

PLAIN = 3_000  # jobs x nodes x resources up to which numba is not loaded for the loop
LAST = 2**62  # a time after all events


class Rows(NamedTuple):
    """Jobs as arrays: first those that hold nodes at the beginning, then those to start, in order of priority.

    Parameters
    ----------
    release : array of int, shape (jobs,)
        First time at which a job may start, in seconds; increasing.
    duration, units : array of int, shape (jobs,)
        Duration in seconds; for a job that holds nodes, the time until its end. Number of units.
    request : array of int, shape (jobs, resources)
        The request of one unit.
    kind : array of int, shape (jobs,)
        The number of the job's distinct request.
    slot : array of int, shape (jobs + 1,)
        The nodes of job j are in the slots ``slot[j]`` to ``slot[j] + pieces[j] - 1``.
    pieces : array of int, shape (jobs,)
        Number of nodes of the job; set when it starts.
    node, share : array of int, shape (slots,)
        Node and number of units on it.
    """

    release: Ints
    duration: Ints
    units: Ints
    request: Ints
    kind: Ints
    slot: Ints
    pieces: Ints
    node: Ints
    share: Ints


def with_rest(problem: Profit, schedule: Schedule, *, with_nodes: bool = True) -> Schedule:
    """Return the schedule with a start for every job: jobs without a start follow once profit no longer counts.

    Parameters
    ----------
    problem : Profit
        The problem.
    schedule : Schedule
        A schedule of some jobs.
    with_nodes : bool, default True
        Whether the schedule has nodes. If not (the starts of a relaxation), the other jobs start at ``horizon_end`` or
        at their release.

    Returns
    -------
    Schedule
        A schedule of all jobs.
    """
    arrays = problem.dispatch.job_arrays
    known = np.array([j.id in schedule.start for j in problem.jobs], np.bool_)
    if known.all():
        return schedule
    rest = np.flatnonzero(~known)
    if not with_nodes:
        late = np.maximum(problem.horizon_end, arrays.release[rest])
        return Schedule({**schedule.start, **_by_id(problem, rest, late)}, {})
    start = column((schedule.start[j.id] for j, is_known in zip(problem.jobs, known, strict=True) if is_known))
    some = np.flatnonzero(known)
    end = start + arrays.duration[some]
    now = int(end[start >= problem.horizon_end].max(initial=problem.horizon_end))
    held = [
        *(_Held(problem.jobs[j], schedule.nodes[problem.jobs[j].id], e - now) for j, e in _pairs(some, end) if e > now),
        *(_Held(r.job, r.nodes, r.end - now) for r in problem.dispatch.running if r.end > now),
    ]
    rest = rest[np.lexsort((arrays.submit[rest], np.maximum(now, arrays.release[rest])))]
    rows = _rows(problem, held, rest, now)
    capacity = NodeArrays(problem.platform).capacity
    plain = rest.size * capacity.size <= PLAIN and not _is_loaded()
    begun = (_start_as_they_fit if plain else _compiled())(rows, len(held), now, capacity)
    return Schedule(
        {**schedule.start, **_by_id(problem, rest, begun[len(held) :])},
        {**schedule.nodes, **_named(rows, [problem.jobs[k].id for k in rest.tolist()], problem.platform.nodes)},
    )


def warm_up() -> None:
    """Compile the loop, or load it from numba's cache."""
    one = np.ones(1, np.int64)
    rows = Rows(one, one, one, np.ones((1, 1), np.int64), one - 1, np.array([0, 1]), one - 1, one - 1, one - 1)
    _compiled()(rows, 0, 0, np.ones((1, 1), np.int64))


def _by_id(problem: Profit, jobs: Ints, start: Ints) -> dict[str, int]:
    return {problem.jobs[k].id: at for k, at in _pairs(jobs, start)}


def _pairs(some: Ints, others: Ints) -> Iterator[tuple[int, int]]:
    return zip(some.tolist(), others.tolist(), strict=True)


class _Held(NamedTuple):
    """A job that holds nodes: its units on each node, and the seconds until its end."""

    job: Job
    nodes: Mapping[str, int]
    left: int


def _rows(problem: Profit, held: Sequence[_Held], rest: Ints, now: int) -> Rows:
    """Return the jobs that hold nodes and the jobs to start."""
    before = JobArrays.of([h.job for h in held], problem.platform.resources)
    arrays, nodes = before.joined(problem.dispatch.job_arrays.some(rest)), NodeArrays(problem.platform)
    slot = offsets(np.minimum(arrays.units, len(problem.platform.nodes)))
    pieces, node, share = (np.zeros(size, np.int64) for size in (len(arrays), slot[-1], slot[-1]))
    for k, (_, on, _) in enumerate(held):
        pieces[k] = len(on)
        node[slot[k] : slot[k] + len(on)] = [nodes.index[name] for name in on]
        share[slot[k] : slot[k] + len(on)] = list(on.values())
    n = len(held)
    return Rows(
        release=np.concatenate([np.full(n, now), np.maximum(now, arrays.release[n:])]),
        duration=np.concatenate([column(h.left for h in held), arrays.duration[n:]]),
        units=arrays.units,
        request=arrays.request,
        kind=np.unique(arrays.kind, return_inverse=True)[1].astype(np.int64),  # below the number of these jobs
        slot=slot,
        pieces=pieces,
        node=node,
        share=share,
    )


def _named(rows: Rows, ids: list[str], names: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return {node: units} of each job that was started, by its id; nodes in the order of the platform."""
    found = {}
    first = rows.units.size - len(ids)
    for k, name in enumerate(ids, first):
        some = slice(int(rows.slot[k]), int(rows.slot[k] + rows.pieces[k]))
        on = sorted(zip(rows.node[some].tolist(), rows.share[some].tolist(), strict=True))
        found[name] = {names[n]: units for n, units in on}
    return found


@cache
def _compiled() -> Callable[[Rows, int, int, Ints], Ints]:
    from ..compiled import compiled

    return compiled(_start_as_they_fit)


def _is_loaded() -> bool:
    """Return whether the compiled loop is loaded: it is then always the faster one."""
    return _compiled.cache_info().currsize > 0


def _start_as_they_fit(rows: Rows, held: int, now: int, capacity: Ints) -> Ints:
    """Start all jobs after the first ``held`` ones; return the starts in seconds, and set their nodes in ``rows``."""
    jobs, nodes, resources = rows.units.size, capacity.shape[0], capacity.shape[1]
    free, start = capacity.copy(), np.empty(jobs, np.int64)
    spare = np.zeros(resources, np.int64)  # free amounts of all nodes
    for n in range(nodes):
        for r in range(resources):
            spare[r] += capacity[n, r]
    room = np.empty(jobs, np.int64)  # per kind: until a job ends, more units than that do not fit
    for k in range(jobs):
        room[k] = LAST
    waiting, count, following = np.empty(jobs, np.int64), 0, 0
    fit, score = np.empty(nodes, np.int64), np.empty(nodes, np.float64)
    active, running, t = np.empty(jobs, np.int64), 0, now
    while t < LAST:
        before, running = running, 0
        for i in range(before):
            j = active[i]
            if start[j] + rows.duration[j] > t:
                active[running] = j
                running += 1
                continue
            for k in range(jobs):
                room[k] = LAST
            for r in range(resources):
                spare[r] += rows.units[j] * rows.request[j, r]
                for k in range(rows.slot[j], rows.slot[j] + rows.pieces[j]):
                    free[rows.node[k], r] += rows.share[k] * rows.request[j, r]
        while following < jobs and rows.release[following] <= t:
            waiting[count] = following
            count, following = count + 1, following + 1
        kept = 0
        for i in range(count):
            j = waiting[i]
            left, entry, fits = rows.units[j], rows.slot[j], room[rows.kind[j]]
            for r in range(resources):
                if left * rows.request[j, r] > spare[r]:
                    fits = 0
            if j >= held and fits >= left:
                fits = 0
                for n in range(nodes):
                    fit[n], score[n] = left, 0.0
                    for r in range(resources):
                        if rows.request[j, r] > 0:
                            fit[n] = min(fit[n], free[n, r] // rows.request[j, r])
                        score[n] += free[n, r] / max(1, capacity[n, r])
                    fits += fit[n]
                if fits < left:
                    room[rows.kind[j]] = fits
            if j >= held and fits < left:
                waiting[kept] = j
                kept += 1
                continue
            if j >= held:
                while left > 0:
                    best = -1
                    for n in range(nodes):
                        if fit[n] > 0 and (best < 0 or score[n] < score[best]):
                            best = n
                    rows.node[entry], rows.share[entry] = best, min(left, fit[best])
                    left, entry, fit[best] = left - rows.share[entry], entry + 1, 0
                rows.pieces[j] = entry - rows.slot[j]
            for r in range(resources):
                spare[r] -= rows.units[j] * rows.request[j, r]
                for k in range(rows.slot[j], rows.slot[j] + rows.pieces[j]):
                    free[rows.node[k], r] -= rows.share[k] * rows.request[j, r]
            start[j], active[running] = t, j
            running += 1
        count = kept
        t = LAST if following == jobs else rows.release[following]
        for i in range(running):
            t = min(t, start[active[i]] + rows.duration[active[i]])
    return start
